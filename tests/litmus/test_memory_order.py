# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of xdp/memory_order.h on a processor that orders as little as arm64 does.

Each test shows that a rule holds, and that it breaks without each of its parts: so an exploration
that finds nothing is no accident.
"""
import dataclasses

from weakmemory import FENCE, GRACE, load, run, store, swap


def ends(writer, reader, memory=None):
    return [(registers[1], memory) for registers, memory in run([writer, reader], memory or {})]


# --- Published places: index words and the words of block tables ----------------------------------

def published(order="release", needs=("word",)):
    """Whether a reader that has found the word can read an entry that is not filled."""
    writer = [store("entry 1", 7), store("word", 1, order=order)]
    reader = [load("word", "word"),
              load("value", lambda r: f"entry {r['word']}" if needs else "entry 1", needs=needs)]
    return any(r["word"] == 1 and r["value"] != 7 for r, _ in ends(writer, reader))


def test_published_places():
    assert not published()
    assert published(order="")
    assert published(needs=())


def test_memory_that_is_used_again():
    """An entry is withdrawn, and its octets are another's: no reader mistakes one for the other."""
    def mistaken(*waits):
        writer = [store("word", 0), *waits, store("entry 1", 8)]
        reader = [load("word", "word"), load("value", lambda r: f"entry {r['word']}", ("word",))]
        return any(r["word"] == 1 and r["value"] != 7
                   for r, _ in ends(writer, reader, {"word": 1, "entry 1": 7}))

    assert not mistaken(GRACE)
    assert mistaken(FENCE)
    assert mistaken()


def test_chosen_tables():
    def is_unfilled(order):
        writer = [store("table 1", 7), store("at", 1, order=order)]
        reader = [load("at", "at"), load("value", lambda r: f"table {r['at']}", ("at",))]
        return any(r["value"] != 7 for r, _ in ends(writer, reader, {"table 0": 7}))

    assert not is_unfilled("release")
    assert is_unfilled("")


# --- A second look: denials with proofs -----------------------------------------------------------

def looked(fence=True, order="release", second=True):
    """
    Version 2 of a zone adds two points to a leaf, then its entry is published under the start of
    an interval that has neither. Whether a reader takes this entry without having seen them.
    """
    writer = [store("leaf 0", 1, order=order), store("leaf 1", 1, order=order),
              store("entry 1", 2), store("word", 1, order=order)]
    looks = [load("b1", "leaf 1"), load("b0", "leaf 0")] if second else []
    reader = [load("a1", "leaf 1"), load("a0", "leaf 0"), load("word", "word"),
              load("version", lambda r: f"entry {r['word']}", ("word",)),
              *([FENCE] if fence else []), *looks]
    last = "b" if second else "a"
    return any(r["version"] == 2 and not (r[last + "0"] and r[last + "1"])
               for r, _ in ends(writer, reader))


def test_a_second_look():
    assert not looked()
    assert looked(fence=False)
    assert looked(order="")
    assert looked(second=False)


def test_the_order_within_a_look_does_not_matter():
    """The loads of the reader above are not ordered among themselves: this shows that they are not."""
    writer = [store("leaf 0", 1, order="release"), store("leaf 1", 1, order="release")]
    reader = [load("b1", "leaf 1"), load("b0", "leaf 0")]
    assert any(r["b1"] and not r["b0"] for r, _ in ends(writer, reader))


# --- Taken places: prefixes that are over their rate limit ----------------------------------------

OLD, NEW = 1, 2


def taken(clears="swap", sets="swap", looks_again=True):
    """Whether a reader can take half of an address, or one with the length of another."""
    def put(register, expect, value, how):
        return (swap(register, "bits", expect, value) if how == "swap"
                else store("bits", value))

    driver = [*([put("b", OLD, 0, clears)] if clears else []), swap("k", "key", OLD, NEW),
              store("address 0", NEW), store("address 1", NEW), put("c", 0, NEW, sets)]
    again = [FENCE, load("bits again", "bits"), load("key again", "key")]
    reader = [load("key", "key", order="acquire"), load("bits", "bits", order="acquire"),
              load("high", "address 0"), load("low", "address 1"), *(again if looks_again else [])]
    places = {"key": OLD, "bits": OLD, "address 0": OLD, "address 1": OLD}

    def is_accepted(r):
        return r["bits"] and (not looks_again or
                              (r["bits"] == r["bits again"] and r["key"] == r["key again"]))

    return any(is_accepted(r) and len({r["bits"], r["high"], r["low"]}) > 1
               for r, _ in ends(driver, reader, places))


def test_taken_places():
    assert not taken()
    assert taken(clears=None)
    assert taken(sets="store")
    assert taken(looks_again=False)


# Two packets of other prefixes take the place at once. `bits` is the same for all prefixes here.
BITS = 24


def taking(new, claims_bits):
    """
    Steps of a taker. It may take from any prefix: `last_s` is still that of the old one. A place
    whose `bits` are 0 is being written by another one.
    """
    def has_bits(r):
        return r["bits"] and r.get("was") == r["bits"]

    def has_key(r):
        return r.get("had") == r["key"]

    def has_both(r):
        return r.get("was") == r["bits"] and has_key(r)

    names = ("was", "bits", "had", "key")
    read = [load("key", "key"), load("bits", "bits")]
    wanted = [store("address 0", new, (), has_both, names),
              store("address 1", new, (), has_both, names),
              swap("end", "bits", 0, BITS, (), has_both, names)]
    if not claims_bits:
        return [*read, swap("had", "key", lambda r: r["key"], new, ("key",)),
                swap("was", "bits", lambda r: r["bits"], 0, ("bits",), has_key, ("had", "key")),
                *wanted]
    return [*read, swap("was", "bits", lambda r: r["bits"], 0, ("bits",), lambda r: r["bits"], ("bits",)),
            swap("had", "key", lambda r: r["key"], new, ("key",), has_bits, ("was", "bits")),
            swap("back", "bits", 0, lambda r: r["bits"], names,
                 lambda r: has_bits(r) and not has_key(r), names),
            *[dataclasses.replace(step, guard=lambda r: has_bits(r) and has_key(r)) for step in wanted]]


def taken_by_two(claims_bits=True):
    """Whether the place can end with the address of another prefix than that of its key."""
    places = {"key": 1, "bits": BITS, "address 0": 1, "address 1": 1}
    return any(m["bits"] != BITS or not m["key"] == m["address 0"] == m["address 1"]
               for _, m in run([taking(2, claims_bits), taking(3, claims_bits)], places))


def test_a_place_that_two_take():
    assert not taken_by_two()
    assert taken_by_two(claims_bits=False)


# --- Places of questions that are refused: querier/suspects.h -------------------------------------

def refused_for_another(release="release", acquire="acquire"):
    """Whether question 2, which takes the place of question 1, can be refused for its sake."""
    writer = [store("refused", 0), store("hash", 2, order=release)]
    reader = [load("hash", "hash", order=acquire), load("refused", "refused")]
    return any(r["hash"] == 2 and r["refused"]
               for r, _ in ends(writer, reader, {"hash": 1, "refused": 1}))


def test_a_place_of_a_suspect():
    assert not refused_for_another()
    assert refused_for_another(release="")
    assert refused_for_another(acquire="")
