# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstream servers that send false, malformed, truncated or late replies, or answer for the zones
of others."""
import random
import threading
import time

import dns.message
import dns.rrset
import pytest

from dnstree import answer, ask, by, has, query, records, world_of
from netlab import V4, V6, everywhere, texts, wait_for, write_zone, zone
from upstreams import address_answer

FORGED, TRUE = "192.0.2.66", ["A 192.0.2.80"]


@pytest.fixture(name="world", scope="module")
def make_world(tmp_path_factory, tree_zones):
    with world_of(tmp_path_factory.mktemp("world"), tree_zones) as world:
        world.start(keys={"query-timeout": "4s"})
        yield world


def forged(made):
    return address_answer(made, FORGED).to_wire()


# --- Not from whom it should be, or not to what was asked, and the true one behind ----------------


def wrong_id(made, _tcp):
    wire = forged(made)
    others = [bytes((wire[0] ^ one, wire[1] ^ 1)) + wire[2:] for one in range(20)]
    return [(one, None) for one in others] + [(answer(made, False), None)]


def wrong_port(made, _tcp):
    return [(forged(made), "port"), (answer(made, False), None)]


def wrong_address(made, _tcp):
    return [(forged(made), "address"), (answer(made, False), None)]


def other_question(made, _tcp):
    """Of another name, of another type, with no question at all."""
    out = []
    for question in (dns.message.make_query("spoofed.lab.", "A").question,
                     dns.message.make_query(made.question[0].name, "TXT").question, []):
        reply = address_answer(made, FORGED)
        reply.question = question
        out.append((reply.to_wire(), None))
    return [*out, (answer(made, False), None)]


@pytest.mark.parametrize("zone, reply, is_answered", [
    ("wrongid.lab.", wrong_id, True), ("wrongport.lab.", wrong_port, True),
    ("wrongaddress.lab.", wrong_address, True), ("question.lab.", other_question, False)])
def test_what_is_forged_is_not_taken(world, zone, reply, is_answered):
    server = world.tree.script(zone, reply)
    for n in range(3):
        for _ in range(2):
            got = ask(world.lab, query(f"n{n}.{zone}"))
            assert records(got) in (TRUE, []) and FORGED not in str(got)
            assert got.rcode() in (0, 2)
            if is_answered:
                assert records(got) == TRUE
    assert server.seen


@pytest.fixture(name="caps")
def make_caps(world):
    world.daemon.stop()
    world.start(keys={"caps-for-id": True})
    yield world
    world.daemon.stop()
    world.start(keys={"query-timeout": "4s"})


def test_letters_that_are_not_those_of_the_question(caps):
    """caps-for-id: an answer with the name in other letters is not taken for one. That of a server
    which knows no letters is, when it says the same each time."""
    def other_letters(made, _tcp):
        text = str(made.question[0].name).swapcase()
        reply = forged(made)
        end = 12 + len(made.question[0].name.to_wire())
        return [(reply[:12] + dns.name.from_text(text).to_wire() + reply[end:], None),
                (answer(made, False), None)]

    server = caps.tree.script("case.lab.", other_letters)
    got = ask(caps.lab, query("a.long.name.with.letters.case.lab."))
    assert FORGED not in str(got)
    assert any(name != name.lower() for name in server.seen)

    def no_letters(made, _tcp):
        reply = address_answer(made).to_wire()
        return reply[:12] + reply[12:].replace(made.question[0].name.to_wire(),
                                               made.question[0].name.canonicalize().to_wire())
    caps.tree.script("case.lab.", no_letters)
    got = ask(caps.lab, query("another.long.name.case.lab."))
    assert records(got) == TRUE


# --- Nonsense -------------------------------------------------------------------------------------


def nonsense(made, number):
    """Octets for a question; each number another kind."""
    wire, draw = bytearray(answer(made, False)), random.Random(number)
    end = 12 + len(made.question[0].name.to_wire()) + 4
    kinds = [
        lambda: draw.randbytes(number),                         # of any length
        lambda: wire[:2] + draw.randbytes(50 + number),         # with the right ID
        lambda: wire[:draw.randrange(12, len(wire))],           # cut off
        lambda: wire[:12],                                      # the header alone
        lambda: wire[:6] + b"\xff\xff" + wire[8:],              # more records than there are
        lambda: wire[:end] + b"\xc0" + bytes([end]) + wire[end + 2:],  # a pointer to itself
        lambda: wire[:end] + b"\xff\xff" + wire[end + 2:],      # a pointer out of the message
        lambda: wire[:-6] + b"\xff\xff" + wire[-4:],            # data longer than the message
        lambda: wire + draw.randbytes(number),                  # octets behind the end
        lambda: wire[:2] + made.to_wire()[2:],                  # the question itself
        lambda: wire[:2] + b"\x28\x00" + wire[4:],              # another opcode
        lambda: bytes(one ^ (1 << draw.randrange(8)) if draw.random() < 0.03 else one
                      for one in wire),                         # bits that toppled over
        lambda: b"",
    ]
    return bytes(kinds[number % len(kinds)]())


N_NONSENSE = 130


@pytest.mark.parametrize("then", ["nothing", "the answer"])
def test_nonsense(world, then):
    """For anything that it sends: SERVFAIL or its answer, a well-formed message, in time. Other
    clients are served."""
    def reply(made, tcp):
        label = str(made.question[0].name).split(".", maxsplit=1)[0].lower()
        if not label[1:].isdigit():
            return answer(made, tcp)
        out = nonsense(made, int(label[1:]))
        if tcp or then == "nothing":
            return out
        return [(out, None), (answer(made, False), None)]

    world.tree.script("garbage.lab.", reply)
    ask(world.lab, query("start.garbage.lab."))
    got = {}

    def one_by_one(numbers):
        for n in numbers:
            got[n] = ask(world.lab, query(f"{then[0]}{n}.garbage.lab."), timeout=8)
    threads = [threading.Thread(target=one_by_one, args=(range(n, N_NONSENSE, 65),))
               for n in range(65)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert records(ask(world.lab, query("www.good.lab."))) == TRUE
        time.sleep(0.1)
    assert len(got) == N_NONSENSE
    for n, reply in got.items():
        assert reply.rcode() in (0, 2, 3), f"{n}\n{reply}"
    assert texts(world.lab.ask()) == ["192.0.2.80", "192.0.2.81"]


# --- Truncated, late, gone ------------------------------------------------------------------------


def test_truncated_over_udp_is_asked_again_over_tcp(world):
    ways = []

    def truncating(made, tcp):
        ways.append(tcp)
        reply = address_answer(made)
        if not tcp:
            reply.flags |= 0x0200
            reply.answer = []
        return reply.to_wire()

    world.tree.script("trunc.lab.", truncating)
    got = ask(world.lab, query("www.trunc.lab."))
    assert records(got) == TRUE and not has(got, "TC")
    assert set(ways) == {False, True}


def test_a_late_answer_is_for_those_that_come_later(world):
    """
    In time for the client; then one that is too late for the first client, and not for the next.
    """
    late = world.tree.script("late.lab.", answer)
    late.delay_s = 0.5
    start = time.monotonic()
    assert records(ask(world.lab, query("a.late.lab."))) == TRUE
    assert 0.45 < time.monotonic() - start < 4
    late.delay_s = 0
    late.silent = True
    start = time.monotonic()
    assert ask(world.lab, query("b.late.lab.")).rcode() == 2
    assert time.monotonic() - start < 9, "query-timeout, or libunbound gives up before"
    late.silent = False
    wait_for("it answers again", lambda: records(ask(world.lab, query("b.late.lab."))) == TRUE, 30)


def test_the_same_question_of_many_goes_up_once(world):
    """100 clients, one name, a server that takes its time."""
    late = world.tree.script("count.lab.", answer)
    late.delay_s = 0.3  # of which the resolver knows when it waits
    assert records(ask(world.lab, query("start.count.lab."))) == TRUE
    before = world.daemon.stats()["resolver"]
    made = [query("same.count.lab.") for _ in range(100)]
    socks = [world.lab.socket("c") for _ in made]
    try:
        for one, sock in zip(made, socks):
            sock.bind(("192.0.2.1", 0))
            sock.sendto(one.to_wire(), (V4, 53))
        for one, sock in zip(made, socks):
            reply = dns.message.from_wire(sock.recv(4096))
            assert one.is_response(reply) and records(reply) == TRUE
    finally:
        for sock in socks:
            sock.close()
    after = world.daemon.stats()["resolver"]
    # though libunbound may have to send it again
    assert after["upstream"] == before["upstream"] + 1
    assert "same.count.lab." in [name.lower() for name in late.seen]


def test_many_questions_of_one_connection(world):
    """RFC 7766 section 6.2.1.1: over one connection, answered as they come, the late ones last."""
    late = world.tree.script("late.lab.", answer)
    ask(world.lab, query("start.late.lab."))
    late.silent = True
    slow = [query(f"s{n}.late.lab.", id=n) for n in range(1, 21)]
    quick = [query(f"q{n}.wild.good.lab.", id=100 + n) for n in range(20)]
    with world.lab.connect("c", V4) as sock:
        sock.settimeout(8)
        for one in slow + quick:
            dns.query.send_tcp(sock, one)
        first = [dns.query.receive_tcp(sock, time.time() + 8)[0].id for _ in quick]
        late.silent = False
        last = [dns.query.receive_tcp(sock, time.time() + 8)[0].id for _ in slow]
    assert sorted(first) == [one.id for one in quick] and sorted(last) == [one.id for one in slow]
    assert records(ask(world.lab, query("s1.late.lab."))) == TRUE


@pytest.mark.alone  # the server has half a second for each of 20 questions
def test_a_client_that_goes_before_its_answer(world):
    """Its connection is gone, the answer is not: the next one has it from the cache."""
    late = world.tree.script("late.lab.", answer)
    ask(world.lab, query("start2.late.lab."))
    late.delay_s = 0.5
    before = world.daemon.stats()["engine"]["finished"]
    for n in range(20):
        with world.lab.connect("c", V4) as sock:
            dns.query.send_tcp(sock, query(f"gone{n}.late.lab."))
    wait_for("the answers", lambda: world.daemon.stats()["engine"]["finished"] == before + 20)
    asked = world.daemon.stats()["resolver"]["asked"]
    for n in range(20):
        assert records(ask(world.lab, query(f"gone{n}.late.lab."))) == TRUE
    assert world.daemon.stats()["resolver"]["asked"] == asked


# --- What is not theirs to say --------------------------------------------------------------------

OURS = [("www.example.com", "A"), ("www.example.com", "AAAA"), ("example.com", "NS"),
        ("example.com", "SOA"), ("nothere.example.com", "A")]


def everything(lab):
    return [(texts(reply), texts(reply, "authority"), reply.rcode())
            for name, kind in OURS for reply in everywhere(lab, name, kind)]


def poison(made, _tcp):
    """An answer with records for names of our zones, and of others', in all sections."""
    reply = address_answer(made)
    for owner in ("www.example.com.", "nothere.example.com.", "example.com.", "www.good.lab.",
                  "www.plain.lab."):
        for section in (reply.answer, reply.authority, reply.additional):
            section.append(dns.rrset.from_text(owner, 3600, "IN", "A", FORGED))
            section.append(dns.rrset.from_text(owner, 3600, "IN", "NS", "ns.poison.lab."))
    reply.authority.append(dns.rrset.from_text(".", 3600, "IN", "NS", "ns.poison.lab."))
    reply.authority.append(dns.rrset.from_text("lab.", 3600, "IN", "NS", "ns.poison.lab."))
    reply.additional.append(dns.rrset.from_text("ns.poison.lab.", 3600, "IN", "A", "10.53.1.9"))
    return reply.to_wire()


def test_our_own_zone_wins_and_poison_changes_nothing(world):
    before = everything(world.lab)
    server = world.tree.script("poison.lab.", poison)
    for n in range(5):
        for where in (V4, V6):
            for flags in ("rd", "rd cd"):
                reply = ask(world.lab, query(f"x{n}.poison.lab.", "A", flags), where)
                assert "example.com" not in str(reply.answer), reply
                assert reply.rcode() == 2 or records(reply) == TRUE, reply
    assert server.seen
    assert everything(world.lab) == before
    for name in ("www.good.lab.", "www.plain.lab.", "n.wild.plain.lab.", "nothere.lab."):
        assert FORGED not in str(ask(world.lab, query(name)))


def test_an_alias_into_our_own_zone(world):
    """Nothing that an upstream says about its end is about our zone."""
    def alias(made, _tcp):
        reply = dns.message.make_response(made)
        reply.flags |= 0x0400
        reply.answer.append(dns.rrset.from_text(made.question[0].name, 300, "IN", "CNAME",
                                                "www.example.com."))
        reply.answer.append(dns.rrset.from_text("www.example.com.", 300, "IN", "A", FORGED))
        return reply.to_wire()

    before = everything(world.lab)
    world.tree.script("poison.lab.", alias)
    for _ in range(3):
        assert FORGED not in str(ask(world.lab, query("alias.poison.lab.")))
    assert everything(world.lab) == before


def test_a_zone_that_becomes_ours(world, tmp_path):
    """Cached upstream answers for its names are withdrawn when it is loaded, and are back after it
    is removed."""
    for _ in range(3):
        assert records(ask(world.lab, query("www.plain.lab."))) == TRUE
    path = write_zone(tmp_path / "plain", address="192.0.2.99")
    daemon = world.daemon
    daemon.configure(recursion=world.recursion(query_timeout="4s"), zones=[zone("plain.lab", path)])
    daemon.signal(1)
    wait_for("it is ours",
             lambda: records(ask(world.lab, query("www.plain.lab."))) == ["A 192.0.2.99"])
    who, reply = by(daemon, lambda: ask(world.lab, query("www.plain.lab.")))
    assert who == {"driver": 1} and has(reply, "AA")
    daemon.configure(recursion=world.recursion(query_timeout="4s"))
    daemon.signal(1)
    wait_for("it is theirs", lambda: records(ask(world.lab, query("www.plain.lab."))) == TRUE)
