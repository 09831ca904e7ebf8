# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers from upstream age in the same way in the driver, in the worker and over TCP, to the
second."""
import threading
import time
import zlib

import dns.message
import dns.rrset
import pytest

from dnstree import EXPIRE, SCRIPTED, ask, by, query, records, ttls, world_of
from netlab import V6, wait_for

SECONDS = 8
CLOCK_MONOTONIC_COARSE = 6
DAY = 86400

# first label of the question: [(label of the owner, TTL, type, data)]; "@" is the name of the
# question
ANSWERS = {
    "single": [("@", SECONDS, "A", "192.0.2.1")],
    "chain": [("@", 3 * SECONDS, "CNAME", "end.aging.lab."), ("end", SECONDS, "A", "192.0.2.2")],
    "late": [("@", SECONDS, "CNAME", "last.aging.lab."), ("last", 2 * SECONDS, "A", "192.0.2.3")],
    "two": [("@", SECONDS, "A", "192.0.2.4"), ("@", SECONDS, "A", "192.0.2.5")],
    "zero": [("@", 0, "A", "192.0.2.6")],
    "long": [("@", 7 * DAY, "A", "192.0.2.7")],
    "hot": [("@", 8, "A", "192.0.2.8")],
    "many": [("@", SECONDS, "TXT", str(n)) for n in range(40)],
    "soon": [("@", 2, "A", "192.0.2.9")],
}


def aging(made, _tcp):
    """ANSWERS; and to other questions NXDOMAIN, with the SOA of so many seconds. Each name has
    another
    one: an equal SOA would be as old in libunbound as the first."""
    question = made.question[0]
    reply = dns.message.make_response(made)
    reply.flags |= 0x0400
    label = question.name.labels[0].decode().lower().split("-")[0]
    for owner, ttl, kind, data in ANSWERS.get(label, ()):
        owner = question.name if owner == "@" else f"{owner}.aging.lab."
        if kind == "CNAME" or dns.rdatatype.from_text(kind) == question.rdtype:
            reply.find_rrset(reply.answer, dns.name.from_text(str(owner)), 1,
                             dns.rdatatype.from_text(kind), create=True)
            reply.answer[-1].update(dns.rrset.from_text(str(owner), ttl, "IN", kind, data))
            reply.answer[-1].ttl = ttl
    if not reply.answer:
        reply.authority.append(dns.rrset.from_text("aging.lab.", 3 * SECONDS, "IN", "SOA",
                                                   f"ns. host. {zlib.crc32(label.encode())} 7200 "
                                                   f"3600 1209600 {SECONDS}"))
        reply.set_rcode(0 if label in ANSWERS else 3)
    return reply.to_wire(max_size=65535)


@pytest.fixture(name="world", scope="module")
def make_world(tmp_path_factory, tree_zones):
    with world_of(tmp_path_factory.mktemp("world"), tree_zones) as world:
        world.start(keys={"qname-minimisation": False})
        world.upstream = world.tree.script("aging.lab.", aging)
        yield world


def coarse():
    return int(time.clock_gettime(CLOCK_MONOTONIC_COARSE))


def within_a_second(asks):
    """(The coarse second, the result of each of ASKS in it)."""
    for _ in range(20):
        second = coarse()
        replies = [one() for one in asks]
        if coarse() == second:
            return second, replies
    raise AssertionError("the machine is too slow to ask within a second")


def ways(world, name, kind="A"):
    """By the driver over IPv4 and IPv6; by the worker, which a query with EXPIRE reaches; over
    TCP."""
    return [lambda: ask(world.lab, query(name, kind, do=True)),
            lambda: ask(world.lab, query(name, kind, do=True), V6),
            lambda: ask(world.lab, query(name, kind, do=True, options=[EXPIRE])),
            lambda: ask(world.lab, query(name, kind, do=True), tcp=True)]


class Aged:
    """A question whose answer is checked once a second."""

    def __init__(self, world, label, kind="A"):
        self.world, self.name, self.kind = world, f"{label}.aging.lab.", kind
        self.first = self.lives = 0

    def n_upstream(self):
        """Questions for it, or for the end of its alias."""
        ends = {data for _, _, kind, data in ANSWERS.get(self.name.split(".")[0], ())
                if kind == "CNAME"}
        return sum(name.lower() in {self.name, *ends} for name in self.world.upstream.seen)

    def start(self):
        """A new answer: what it says of its age is measured against the first look."""
        self.born, replies = within_a_second(ways(self.world, self.name, self.kind))
        self.first = ttls(replies[0])
        self.lives = min(self.first.values())
        self.asked = self.n_upstream()

    def look(self):
        """False when it has expired meanwhile."""
        second, replies = within_a_second(ways(self.world, self.name, self.kind))
        age = second - self.born
        if age >= self.lives:
            return False
        expected = {key: ttl - age for key, ttl in self.first.items()}
        assert min(expected.values()) > 0
        for reply in replies:
            assert ttls(reply) == expected, f"after {age} s\n{reply}"
        assert self.n_upstream() == self.asked
        return True


@pytest.mark.alone  # in every second
def test_all_ways_say_the_same_in_every_second(world):
    """Until all have expired, and been fetched anew."""
    aged = [Aged(world, label) for label in ("single", "chain", "late", "two", "nothere")]
    aged.append(Aged(world, "many", "TXT"))
    for one in aged:
        one.start()
    assert aged[1].first["chain.aging.lab. CNAME"] > 2 * SECONDS
    assert [one.lives in (SECONDS - 1, SECONDS) for one in aged] == [True] * len(aged)
    before = world.daemon.stats()
    looks = dict.fromkeys(aged, 0)
    over = set()
    end = time.monotonic() + SECONDS + 4
    while len(over) < len(aged):
        assert time.monotonic() < end, "not all have expired"
        for one in aged:
            if one not in over and not one.look():
                over.add(one)
                check_fresh(one)
            looks[one] += 1
        time.sleep(max(0, coarse() + 1.05 - time.monotonic()))
    assert min(looks.values()) >= SECONDS - 3, "looked at nearly every second"
    after = world.daemon.stats()
    assert after["answered"]["driver"] - before["answered"]["driver"] > 2 * 4 * (SECONDS - 4)
    assert after["driver"]["reasons"]["up-many-ttls"] > before["driver"]["reasons"]["up-many-ttls"]


def check_fresh(one):
    """
    It is fetched again, at the latest when the resolver has lost it too; and begins as it did.
    """
    asked = one.asked

    def is_fetched():
        one.start()
        return one.asked > asked and one.lives >= SECONDS - 2
    wait_for(f"{one.name} is fetched", is_fetched, 3)
    assert one.lives <= SECONDS


def test_ttl_0_is_for_one_answer(world):
    for n in range(3):
        for way in ways(world, "zero.aging.lab."):
            who, reply = by(world.daemon, way)
            assert "driver" not in who and set(ttls(reply).values()) == {0}, reply
        assert [name.lower() for name in world.upstream.seen].count("zero.aging.lab.") > n


def test_a_week_is_cut_to_max_ttl(world):
    _, replies = within_a_second(ways(world, "long.aging.lab."))
    for reply in replies:
        assert DAY - 10 < max(ttls(reply).values()) <= DAY


def test_denials_live_as_long_as_the_soa_says(world):
    """RFC 2308 section 5: the smaller one of its TTL and its MINIMUM."""
    for name, kind in (("never.aging.lab.", "A"), ("single.aging.lab.", "AAAA")):
        for reply in within_a_second(ways(world, name, kind))[1]:
            assert not reply.answer
            assert SECONDS - 2 < reply.authority[0].ttl <= SECONDS


def test_letters_and_sizes_have_one_age(world):
    """A query with other letters' case, or with a smaller size, gets the same entry."""
    ask(world.lab, query("Single-a.aging.lab.", edns=False))
    asks = [lambda w=w: ask(world.lab, query(w, edns=False)) for w in
            ("single-a.aging.lab.", "SINGLE-A.AGING.lab.", "sInGlE-a.AgInG.LaB.")]
    who, (_, replies) = by(world.daemon, lambda: within_a_second(asks))
    assert set(who) == {"driver"}
    assert len({tuple(ttls(reply).values()) for reply in replies}) == 1


def test_many_at_their_end(world):
    """Asked all the time over the end of a short life: never more than it was."""
    seen, stop = [], time.monotonic() + 7

    def watch(way):
        while time.monotonic() < stop:
            seen.append(min(ttls(way()).values()))
    threads = [threading.Thread(target=watch, args=(way,))
               for way in ways(world, "soon.aging.lab.")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # never 0, which is what the memory that it came from has left in its last second
    assert len(seen) > 500 and set(seen) <= {1, 2}, set(seen)
    n = [name.lower() for name in world.upstream.seen].count("soon.aging.lab.")
    assert 3 <= n <= 8, f"{n} fetches in 7 s of an answer that lives 2 s"


# --- What is asked for is fetched before it expires -----------------------------------------------


FORWARDING = {"forward": [SCRIPTED["aging.lab."]], "root-hints": None, "trust-anchor": None}


@pytest.fixture(name="prefetching", params=[FORWARDING, {}], ids=["forwarder", "libunbound"])
def make_prefetching(world, request):
    """libunbound has a cache of its own behind ours, in which an answer is as old as here."""
    world.daemon.stop()
    world.start(keys={"prefetch": True, "qname-minimisation": False, **request.param})
    world.upstream.seen.clear()
    yield world
    world.daemon.stop()
    world.start(keys={"qname-minimisation": False})


def check_fetched(world, name, n):
    """So often it was asked for; what was slow may have been sent again."""
    assert world.daemon.stats()["resolver"]["upstream"] == n
    assert [one.lower() for one in world.upstream.seen].count(name) >= n


def test_who_asks_often_never_waits(prefetching):
    """Fetched anew while the old one still answers: the driver has no miss after the first, and
    what is fetched has its whole life before it."""
    world, name = prefetching, "hot.aging.lab."
    ask(world.lab, query(name))
    before = world.daemon.reasons()
    assert before["up-miss"] == 1
    least, jumps, last = 8, 0, 8
    end = time.monotonic() + 16.5
    while time.monotonic() < end:
        who, reply = by(world.daemon, lambda: ask(world.lab, query(name)))
        assert who == {"driver": 1}, f"{who} at TTL {last}"
        ttl = ttls(reply)[f"{name} A"]
        if ttl > last:
            jumps += 1
            assert ttl >= 7
        least, last = min(least, ttl), ttl
        time.sleep(0.05)
    assert jumps == 2 and least >= 1
    check_fetched(world, name, 3)
    after = world.daemon.reasons()
    assert after["up-miss"] == 1 and not after.get("up-expired")


def test_who_does_not_ask_costs_nothing(prefetching):
    world, name = prefetching, "soon-x.aging.lab."
    ask(world.lab, query(name))
    ask(world.lab, query(name))
    time.sleep(3.5)
    check_fetched(world, name, 1)
    assert records(ask(world.lab, query(name)))
    check_fetched(world, name, 2)
