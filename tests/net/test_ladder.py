# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The ladder by which a secondary asks a primary that does not answer as it should (decision
0056): each primary here refuses, drops or spoils one kind of question, and gives the zone to the
next one."""
import contextlib
import socket

import dns.flags
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from primaries import ZONE, Mood, reply, soa, whole, wire

A, B, OTHER = "127.0.7.1", "127.0.7.2", "127.0.7.9"


def rcode(number, question=True, edns=True):
    """An error, as a function of a primary."""
    def answer(query, *_):
        message = reply(query)
        if not question:
            message.question = []
        message.set_rcode(number)
        if not edns and number < 16:
            message.use_edns(False)
        return message.to_wire()
    return answer


def closes(_query, _connection):
    return None


def empty(query, _connection):
    return wire(reply(query))


def garbage(query, _connection):
    return query.wire[:2] + bytes(range(200))


def only(kinds, otherwise, serial=2):
    """Answers these kinds of questions with the zone, and the rest as OTHERWISE does."""
    def answer(query, connection):
        kind = dns.rdatatype.to_text(query.question[0].rdtype)
        if kind not in kinds:
            return otherwise(query, connection)
        if kind == "SOA":
            return wire(reply(query, soa(serial)))
        return whole(query, serial)
    return answer


def begin(scene, **zone):
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A}, **zone)
    secondary.expect("zone", ZONE, "1")
    primary.serial = 2
    return primary, secondary


def gets_2(primary, secondary, seconds=10):
    del primary.server.seen[:]
    secondary.refresh()
    secondary.expect("zone", ZONE, "2", seconds=seconds)
    return primary.server.seen


IXFR_FAILS = {**{f"rcode {n}": rcode(n) for n in range(1, 11)},
              "rcode 5 without a question": rcode(5, question=False),
              "BADVERS": rcode(16), "closes": closes, "empty": empty, "garbage": garbage}


@pytest.mark.parametrize("how", IXFR_FAILS)
def test_an_ixfr_that_fails_is_followed_by_an_axfr(scene, how):
    primary, secondary = begin(scene)
    primary.tcp = only(("AXFR",), IXFR_FAILS[how])
    asked = gets_2(primary, secondary)
    assert asked[-1] == "AXFR" and asked.count("AXFR") == 1, asked


def test_more_changes_than_the_zone_has_records(scene):
    """The whole zone takes less work than its changes."""
    primary, secondary = begin(scene)

    def many(query, _connection):
        yield wire(reply(query, soa(2), soa(1), soa(2)))
        for start in range(0, 11000, 1000):
            yield wire(reply(query, dns.rrset.from_text(
                f"many.{ZONE}", 300, "IN", "A",
                *(f"10.0.{i >> 8}.{i & 255}" for i in range(start, start + 1000)))))
        yield wire(reply(query, soa(2)))
    primary.tcp = lambda query, connection: (
        many(query, connection) if query.question[0].rdtype == dns.rdatatype.IXFR
        else whole(query, 2))
    asked = gets_2(primary, secondary)
    assert asked[-2:] == ["IXFR", "AXFR"], asked


def test_the_next_primary_is_asked_for_changes_again(scene):
    """The first primary fails with everything: this is no reason to fetch the whole zone from the
    second one."""
    first, second = Mood(scene, A), Mood(scene, B)
    secondary = scene.secondary({"first": A, "second": B})
    secondary.expect("zone", ZONE, "1")
    first.serial = second.serial = 2
    first.tcp = rcode(5)
    del second.server.seen[:]
    secondary.refresh()
    assert secondary.expect("zone", ZONE, "2")[4] == f"second {B}@53"
    assert second.server.seen == ["IXFR"]


NO_OPT = {"FORMERR": rcode(1), "NOTIMP": rcode(4), "BADVERS": rcode(16), "closes": closes}


@pytest.mark.parametrize("how", NO_OPT)
def test_a_primary_that_does_not_know_opt(scene, how):
    """It spoils all questions with OPT, over UDP and TCP."""
    primary, secondary = begin(scene)
    spoil = NO_OPT[how]

    def by_udp(query):
        if query.edns >= 0:
            return None if how == "closes" else spoil(query, None)
        return wire(reply(query, soa(2)))
    primary.udp = by_udp
    primary.tcp = lambda query, connection: (
        spoil(query, connection) if query.edns >= 0 else whole(query, 2))
    gets_2(primary, secondary, 20)


SOA_FAILS = {**{f"rcode {n}": rcode(n) for n in range(1, 11)},
             "empty": lambda query: wire(reply(query)),
             "rcode 5 without a question": rcode(5, question=False)}


@pytest.mark.parametrize("how", SOA_FAILS)
def test_a_soa_query_that_fails_is_followed_by_a_transfer(scene, how):
    primary, secondary = begin(scene)
    primary.udp = SOA_FAILS[how]
    primary.tcp = only(("IXFR",), rcode(5))
    gets_2(primary, secondary)


def test_a_reply_without_aa(scene):
    primary, secondary = begin(scene)

    def without_aa(query):
        message = reply(query, soa(2))
        message.flags &= ~dns.flags.AA
        return wire(message)
    primary.udp = without_aa
    gets_2(primary, secondary)


def test_a_truncated_reply(scene):
    primary, secondary = begin(scene)

    def truncated(query):
        message = reply(query)
        message.flags |= dns.flags.TC
        return wire(message)
    primary.udp = truncated
    primary.tcp = only(("SOA", "IXFR"), rcode(5))
    assert gets_2(primary, secondary) == ["SOA", "SOA", "IXFR"]


def test_a_primary_that_is_reached_by_tcp_only(scene):
    """The first round finds out, after all tries over UDP; the next ones ask by TCP at once."""
    primary, secondary = begin(scene)
    primary.udp = lambda query: None
    primary.tcp = only(("SOA", "IXFR"), rcode(5))
    gets_2(primary, secondary, 20)
    primary.tcp = only(("SOA", "IXFR"), rcode(5), 3)
    del primary.server.peers[:]
    secondary.refresh()
    secondary.expect("zone", ZONE, "3")
    assert {kind for kind, _ in primary.server.peers} <= {"tcp"}


def test_a_primary_whose_udp_port_is_closed(scene):
    """The answer is an ICMP message, so TCP is tried without a delay."""
    primary, secondary = begin(scene)
    with contextlib.suppress(OSError):  # it says that there is no connection, and ends recvfrom()
        primary.server.udp.shutdown(socket.SHUT_RDWR)
    primary.server.udp.close()
    primary.tcp = only(("SOA", "IXFR"), rcode(5))
    gets_2(primary, secondary, 4)


def test_replies_from_another_address_are_no_replies(scene):
    """They are not believed, but the zone comes over TCP."""
    primary, secondary = begin(scene)
    scene.has_address(OTHER)
    other = scene.socket(socket.SOCK_DGRAM, socket.AF_INET)
    other.bind((OTHER, 53))

    def from_another(query):
        other.sendto(wire(reply(query, soa(2))), primary.server.asked_from)
    primary.udp = from_another
    gets_2(primary, secondary, 20)
    other.close()


@pytest.mark.parametrize("kind", ("SOA", "IXFR", "AXFR"))
def test_a_primary_that_is_dead_is_asked_no_more_than_a_few_times(scene, kind):
    """Each question is refused: a round asks each of them once, or twice (with and without
    OPT)."""
    primary, secondary = begin(scene)
    primary.udp = primary.tcp = rcode(5)
    del primary.server.seen[:]
    secondary.refresh()
    assert "REFUSED" in secondary.error()
    assert primary.server.seen.count(kind) <= 2, primary.server.seen
