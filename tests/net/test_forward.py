# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain forwarding by our own code (userspace/resolver/forward.h) to scripted upstreams."""
import random
import socket
import time

import dns.flags
import dns.message
import dns.rcode
import pytest

import scripted
from netlab import wait_for
from scripted import (A, B, C, FORGED, NETWORK_ERROR, NOBODY, TRUE, Upstream, failing, large_answer,
                      quick_answer, silent, true_answer)
from upstreams import address_answer

NO_REACHABLE_AUTHORITY, BOGUS, NONE = 22, 6, -1

make_netns, make_upstream, make_resolve = scripted.make_netns, scripted.make_upstream, scripted.make_resolve  # fixtures


# --- What goes up and what comes back -------------------------------------------------------------


def test_an_answer(resolve, upstream):
    """DO, RD, CD as it came, lower case; back as the header says, whatever the upstream claims."""
    def reply(query, _seen, _upstream):
        out = address_answer(query, TRUE)
        out.flags |= dns.flags.AD | dns.flags.RA
        wire = out.to_wire()
        return wire[:12] + wire[12:28].upper() + wire[28:]
    server = upstream(reply, once=True)
    it = resolve()
    got = it.ask("WWW.Example.LAB.")
    assert got.brief() == ("NOERROR", "insecure", NONE) and got.texts("A") == [TRUE]
    assert got.message.flags == dns.flags.QR | dns.flags.RD | dns.flags.RA
    assert got.message.question[0].name.to_text() == "www.example.lab."
    query = server.seen[0].message
    assert query.flags == dns.flags.RD and query.edns == 0 and query.payload == 1232
    assert query.ednsflags & dns.flags.DO
    assert server.seen[0].name == "www.example.lab."
    assert it.ask("www.example.lab.", "A", "cd").rcode == "NOERROR"
    assert server.seen[1].message.flags == dns.flags.RD | dns.flags.CD


@pytest.mark.parametrize("rcode", ["NXDOMAIN", "YXDOMAIN"])
def test_an_rcode_that_is_an_answer(resolve, upstream, rcode):
    upstream(failing(dns.rcode.from_text(rcode)))
    got = resolve().ask("www.lab.")
    assert got.brief() == (rcode, "insecure", NONE)


def test_ipv6(resolve, upstream):
    upstream(address="::1", family=socket.AF_INET6)
    assert resolve(to=["::1"]).ask("www.lab.").texts("A") == [TRUE]


def test_the_same_question_goes_up_once_but_for_cd(resolve, upstream):
    server = upstream(silent)
    it = resolve("-w", "20000")
    it.say("same 500 www.lab.")
    it.say("www.lab. A cd")
    wait_for("all are asked", lambda: it.counters()["asked"] == 501)
    server.reply = true_answer
    assert sorted((it.line()[:8], it.line()[:8])) == ["answer\tw", "flooded "]
    assert it.counters()["upstream"] == 2
    assert len({(seen.id, seen.port) for seen in server.seen}) == 2


# --- Upstreams that are dead, late, or fail -------------------------------------------------------


@pytest.mark.parametrize("dead", ["silent", "refusing", "both"])
def test_one_of_the_upstreams_is_dead(resolve, upstream, dead):
    """Each question is answered by the other; the dead one is asked now and then."""
    to = [B] + [A] * (dead != "refusing") + [NOBODY] * (dead != "silent")
    mute = upstream(silent) if A in to else None
    upstream(address=B)
    it = resolve(to=to)
    assert it.ask("first.lab.").texts("A") == [TRUE]
    start = time.monotonic()
    for n in range(200):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    assert time.monotonic() - start < 10  # 40, if each second one waited for the dead one
    if mute:
        assert 1 <= len(mute.seen) < 20
        mute.reply, before = true_answer, len(mute.seen)
        wait_for("it is asked again",
                 lambda: it.ask("back.lab.").texts("A") and len(mute.seen) > before, 5)


def test_no_upstream_can_be_reached(resolve):
    it = resolve("-w", "20000", to=[NOBODY])
    start = time.monotonic()
    assert it.ask("www.lab.").brief() == ("SERVFAIL", "insecure", NETWORK_ERROR)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("rcode", ["SERVFAIL", "REFUSED", "NOTAUTH", "BADVERS"])
def test_one_that_fails_is_not_the_last(resolve, upstream, rcode):
    bad = upstream(failing(dns.rcode.from_text(rcode)))
    upstream(address=B)
    it = resolve(to=[A, B])
    for n in range(60):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    assert 1 <= len(bad.seen) < 60  # which is learnt


def test_all_fail(resolve, upstream):
    upstream(failing(dns.rcode.SERVFAIL))
    upstream(failing(dns.rcode.REFUSED), address=B)
    it = resolve("-w", "20000", to=[A, B])
    start = time.monotonic()
    assert it.ask("www.lab.").brief() == ("SERVFAIL", "insecure", NO_REACHABLE_AUTHORITY)
    assert time.monotonic() - start < 15, "it has waited for the 20 s that a question may take"
    assert it.counters()["failed"] == 1


def test_why_an_upstream_fails_is_passed_on(resolve, upstream):
    upstream(failing(dns.rcode.SERVFAIL, ede=BOGUS))
    assert resolve().ask("www.lab.").brief() == ("SERVFAIL", "insecure", BOGUS)


def test_one_fails_and_the_other_is_silent(resolve, upstream):
    """The failure does not wait for the silent one to its deadline."""
    upstream(failing(dns.rcode.SERVFAIL))
    upstream(silent, address=B)
    it = resolve("-w", "20000", to=[A, B])
    start = time.monotonic()
    assert it.ask("www.lab.").rcode == "SERVFAIL"
    assert time.monotonic() - start < 10


def test_one_fails_and_the_other_takes_its_time(resolve, upstream):
    """It is quick with what it knows, and has to look for the rest."""
    def fails(query, _seen, _upstream):
        out = address_answer(query, TRUE)
        if query.question[0].name.to_text() == "cold.lab.":
            out = dns.message.make_response(query)
            out.set_rcode(dns.rcode.SERVFAIL)
        return out.to_wire()

    def looks(query, seen, server):
        out = address_answer(query, TRUE).to_wire()
        if seen.name != "cold.lab.":
            return out
        if [one.name for one in server.seen].count("cold.lab.") == 1:
            server.later(0.8, out, seen.port)
        return None
    bad, good = upstream(fails), upstream(looks, address=B)
    it = resolve(to=[A, B])
    for n in range(60):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    assert it.ask("cold.lab.").texts("A") == [TRUE]
    assert all("cold.lab." in [one.name for one in server.seen] for server in (bad, good))


def test_a_server_that_does_not_recurse_has_not_answered(resolve, upstream):
    def referral(query, _seen, _upstream):
        out = dns.message.make_response(query)
        out.authority.append(dns.rrset.from_text("lab.", 300, "IN", "NS", "ns.lab."))
        return out.to_wire()
    upstream(referral)
    assert resolve().ask("www.lab.").brief() == ("SERVFAIL", "insecure", NO_REACHABLE_AUTHORITY)


def test_a_late_answer_is_taken(resolve, upstream):
    """A query is sent again, with the same ID and port, and the reply to the first is good."""
    def late(query, seen, server):
        if len(server.seen) == 1:
            server.later(2.5, true_answer(query, seen, server), seen.port)
    server = upstream(late)
    it = resolve("-w", "20000")
    start = time.monotonic()
    assert it.ask("www.lab.").texts("A") == [TRUE]
    wait_for("all is seen", lambda: it.counters()["resent"] == len(server.seen) - 1)
    assert len(server.seen) >= 3
    assert len({(seen.id, seen.port) for seen in server.seen}) == 1
    # Each wait is twice the one before. Seen from the start: what comes here late makes none
    # shorter.
    for seen, at in zip(server.seen, (0, 0.4, 1.2, 2.8)):
        assert seen.at - start >= at


def test_a_server_that_stops_and_returns(resolve, upstream):
    server = upstream()
    it = resolve("-w", "3000")
    assert it.ask("www.lab.").texts("A") == [TRUE]
    server.silent = True
    it.say("flood 5000 dead.lab.")
    assert it.line() == "flooded 5000 0 5000"
    assert it.counters()["timed_out"] == 5000
    server.silent = False
    wait_for("it is back", lambda: it.ask("back.lab.").rcode == "NOERROR", 8)
    it.say("flood 5000 alive.lab.")
    assert int(it.line().split()[2]) > 4000


def test_a_question_waits_for_the_return(resolve, upstream):
    server = upstream(silent)
    it = resolve("-w", "9000")
    it.say("flood 3000 lab.")
    wait_for("silence", lambda: it.counters()["resent"] > 0)
    time.sleep(1.5)
    server.reply = true_answer
    assert it.line() == "flooded 3000 3000 0"


# --- EDNS -----------------------------------------------------------------------------------------


def no_edns(rcode, bare):
    def reply(query, seen, server):
        if query.edns < 0:
            return true_answer(query, seen, server)
        if bare:
            return query.id.to_bytes(2, "big") + bytes((0x81, rcode)) + b"\0" * 8
        out = dns.message.make_response(query)
        out.use_edns(-1)
        out.set_rcode(rcode)
        return out.to_wire()
    return reply


@pytest.mark.parametrize("rcode, bare", [(dns.rcode.FORMERR, False), (dns.rcode.FORMERR, True),
                                         (dns.rcode.NOTIMP, False)])
def test_an_upstream_without_edns(resolve, upstream, rcode, bare):
    server = upstream(no_edns(rcode, bare), once=True)
    it = resolve()
    for n in range(3):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    # It is remembered: only the first question was asked with it.
    assert [seen.message.edns for seen in server.seen] == [0, -1, -1, -1]
    assert it.counters()["plain"] == 1


def test_formerr_for_another_reason_changes_nothing(resolve, upstream):
    def reply(query, seen, server):
        if "bad" in seen.name:
            out = dns.message.make_response(query)
            out.use_edns(-1 if "plain" in seen.name else 0)
            out.set_rcode(dns.rcode.FORMERR)
            return out.to_wire()
        return true_answer(query, seen, server)
    server = upstream(reply, once=True)
    it = resolve()
    assert it.ask("bad.lab.").rcode == "SERVFAIL"  # with OPT: it knows it, but perhaps no cookies
    assert [len(seen.message.options) for seen in server.seen] == [1, 0, 0]
    assert it.ask("plainbad.lab.").rcode == "SERVFAIL"
    assert it.ask("good.lab.").rcode == "NOERROR"
    assert [seen.message.edns for seen in server.seen] == [0, 0, -1, 0, -1, 0]
    assert len(server.seen[-1].message.options) == 1


# --- TCP ------------------------------------------------------------------------------------------


def truncating(query, seen, _server):
    if seen.tcp:
        return large_answer(query)
    out = dns.message.make_response(query)
    out.flags |= dns.flags.TC
    return out.to_wire()[:-5]  # in the middle of a record, as old servers do


def test_truncated_answers_come_whole(resolve, upstream):
    """Over one connection to the same upstream, however many."""
    server = upstream(truncating)
    it = resolve("-w", "20000")
    got = it.ask("www.lab.")
    assert len(got.texts("TXT")) == 280
    assert got.message.flags == dns.flags.QR | dns.flags.RD | dns.flags.RA
    it.say("flood 40 lab.")
    assert it.line() == "flooded 40 40 0"
    assert server.connections == 1
    counters = it.counters()
    assert counters["truncated"] == counters["queries_tcp"] == 41


def test_truncation_where_there_is_no_tcp(resolve, upstream):
    upstream(truncating, tcp=False)
    it = resolve()
    assert it.ask("www.lab.").brief() == ("SERVFAIL", "insecure", NETWORK_ERROR)
    upstream(address=B)
    it = resolve(to=[A, B])
    for n in range(5):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]


def test_tcp_alone(resolve, upstream):
    """All in one connection, replies in any order."""
    kept = []

    def swapping(query, _seen, _server):
        kept.append(address_answer(query, TRUE).to_wire())
        if len(kept) < 50:
            return None
        out, kept[:] = list(reversed(kept)), []
        return out
    server = upstream(swapping)
    it = resolve("-t", "tcp", "-w", "20000")
    it.say("flood 2000 lab.")
    assert it.line() == "flooded 2000 2000 0"
    assert server.connections == 1 and all(seen.tcp for seen in server.seen)
    assert it.counters()["queries"] == 0


def test_a_server_that_closes_after_each_answer(resolve, upstream):
    """It is learnt that one query at a time is what it takes."""
    server = upstream(closes=True)
    it = resolve("-t", "tcp")
    for n in range(20):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
        # A question in between would be sent in vain, 30 at once as well.
        wait_for("its end", lambda n=n: server.n_ended == n + 1)
    assert server.connections == 20
    it.say("flood 30 lab.")
    assert it.line() == "flooded 30 30 0"
    assert server.connections == 50
    # All at once, then each once or, where the end of the connection comes after it was sent,
    # twice.
    assert it.counters()["queries_tcp"] <= 20 + 30 + 2 * 30


def test_a_connection_on_which_nothing_comes(resolve, upstream):
    """Another upstream is asked meanwhile; a server that does not speak DNS is abandoned."""
    upstream(silent)
    upstream(address=B)
    upstream(lambda *_: b"\1", address=C)
    it = resolve("-t", "tcp", to=[A, B, C])
    for n in range(10):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]


def octet_by_octet(conn, _query):
    conn.sendall(b"\xff\xff")
    while True:
        conn.sendall(b"\0")
        time.sleep(0.02)


def replies_to_nothing(conn, query):
    wire = quick_answer(bytes([query[0] ^ 1]) + query[1:])
    while True:
        conn.sendall(len(wire).to_bytes(2, "big") + wire)
        time.sleep(0.02)


@pytest.mark.parametrize("noise", [octet_by_octet, replies_to_nothing])
def test_a_connection_that_brings_no_reply(netns, resolve, noise):
    """It is never silent: the question goes over another one."""
    class FirstIsNoise(Upstream):
        def serve_messages(self, conn, peer):
            if self.connections > 1:
                super().serve_messages(conn, peer)
                return
            size = conn.recv(2, socket.MSG_WAITALL)
            noise(conn, conn.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
    server = FirstIsNoise(netns, A, true_answer)
    it = resolve("-t", "tcp", "-W", "100", "-w", "20000")
    assert it.ask("www.lab.").texts("A") == [TRUE]
    assert server.connections == 2
    server.close()


def test_a_truncated_answer_over_tcp_is_none(resolve, upstream):
    def reply(query, _seen, _server):
        out = address_answer(query, FORGED)
        out.flags |= dns.flags.TC
        return out.to_wire()
    upstream(reply)
    it = resolve("-w", "3000")
    assert it.ask("www.lab.").rcode == "SERVFAIL"
    assert it.counters()["malformed"] == 1


# --- All at once ----------------------------------------------------------------------------------


def at_random(rng):
    def wrong_id(seen):
        return bytes((seen.wire[0] ^ 1,)) + quick_answer(seen.wire)[1:]

    def reply(query, seen, server):
        good = quick_answer(seen.wire)
        flags = seen.wire[:2] + b"\x81\x80"
        return rng.choice([
            lambda: good, lambda: good, lambda: good, lambda: None,
            lambda: [good, good, wrong_id(seen)],
            lambda: server.later(rng.random(), good, seen.port),
            lambda: good[:-2],
            lambda: true_answer(query, seen, server) if seen.tcp else good[:2] + b"\x87" + good[3:],
            lambda: flags[:3] + bytes((0x80 | rng.choice((1, 2, 4, 5)),)) + good[4:],
            lambda: flags[:3] + b"\x81" + b"\0" * 8,
            lambda: None if seen.tcp else b"junk"])()
    return reply


@pytest.mark.parametrize("options", [(), ("-x",), ("-t", "tcp")], ids=" ".join)
def test_servers_that_do_anything(resolve, upstream, options):
    """Every question ends once, and nothing stays behind that the next ones would need."""
    rng = random.Random(7)
    servers = [upstream(at_random(rng), address=A),
               upstream(at_random(rng), address=B, closes=True),
               upstream(at_random(rng), address=C, tcp=False)]
    it = resolve(*options, "-n", "2", "-w", "4000", "-u", "200", to=[A, B, C, NOBODY])
    it.say("flood 3000 chaos.lab.")
    _, n, noerror, servfail = it.line().split()
    assert int(noerror) + int(servfail) == int(n) == 3000 and int(noerror) > 30
    for server in servers:
        server.reply = true_answer
    wait_for("order", lambda: it.ask("order.lab.").rcode == "NOERROR", 10)
    it.say("flood 1000 order.lab.")
    assert it.line() == "flooded 1000 1000 0"
    counters = it.counters()
    assert counters["outstanding"] == 0
    assert counters["asked"] == sum(counters[name] for name in ("answered", "failed", "timed_out"))
