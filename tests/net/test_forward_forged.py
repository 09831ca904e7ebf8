# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Forged replies have no effect on our own forwarder (userspace/resolver/forward.h)."""
import os
import socket

import dns.edns
import dns.message
import dns.rrset
import pytest

import scripted
from netlab import inside_netns, wait_for
from scripted import A, B, FORGED, TRUE, true_answer
from upstreams import address_answer

ELSEWHERE = "127.0.2.66"

make_netns, make_upstream, make_resolve = scripted.make_netns, scripted.make_upstream, scripted.make_resolve  # fixtures


# --- Lies -----------------------------------------------------------------------------------------


def changed(change):
    """A forged answer, of which CHANGE changes something, and a moment later the true one."""
    def reply(query, seen, server):
        forged = address_answer(query, FORGED)
        out = change(forged, seen, server)
        server.later(0.02, address_answer(query, TRUE).to_wire(), seen.port)
        return out
    return reply


def other_question(name=None, rdtype=None, rdclass="IN"):
    def change(forged, _seen, _server):
        question = forged.question[0]
        forged.question = [dns.rrset.RRset(
            dns.name.from_text(name) if name else question.name,
            dns.rdataclass.from_text(rdclass), rdtype or question.rdtype)]
        return forged.to_wire()
    return change


def other_octet(at, mask):
    def change(forged, _seen, _server):
        wire = bytearray(forged.to_wire())
        wire[at] ^= mask
        return bytes(wire)
    return change


def two_questions(forged, _seen, _server):
    forged.question.append(dns.rrset.RRset(dns.name.from_text("more.lab."), 1, 1))
    return forged.to_wire()


def no_question(forged, _seen, _server):
    forged.question = []
    return forged.to_wire()


def from_elsewhere(address, port):
    def change(forged, seen, server):
        with server.netns.socket(socket.SOCK_DGRAM) as sock:
            sock.bind((address, port))
            sock.sendto(forged.to_wire(), ("127.0.0.1", seen.port))
    return change


def to_other_port(forged, seen, server):
    server.send(forged.to_wire(), ("127.0.0.1", seen.port ^ 1))


@pytest.mark.parametrize("change, n_unmatched", [
    pytest.param(other_octet(0, 0x80), 1, id="ID"),
    pytest.param(other_octet(1, 1), 1, id="ID, one bit"),
    pytest.param(other_octet(2, 0x80), 1, id="a query"),
    pytest.param(other_octet(2, 0x20), 1, id="opcode"),
    pytest.param(other_question("other.lab."), 1, id="name"),
    pytest.param(other_question("www9.lab."), 1, id="name of the same length"),
    pytest.param(other_question(rdtype=28), 1, id="type"),
    pytest.param(other_question(rdclass="CH"), 1, id="class"),
    pytest.param(two_questions, 1, id="two questions"),
    pytest.param(no_question, 1, id="no question"),
    pytest.param(lambda *_: b"\0" * 11, 1, id="too short"),
    pytest.param(from_elsewhere(A, 5353), 0, id="from another port"),
    pytest.param(from_elsewhere(ELSEWHERE, 53), 0, id="from another address"),
    pytest.param(to_other_port, 0, id="to another port"),
])
def test_what_is_forged_is_not_taken(resolve, upstream, change, n_unmatched):
    """
    What is not from the upstream's address and port never comes out of the socket. Two questions: a
    third wrong reply to one socket moves its question to TCP, and which of 8 sockets a question
    takes is drawn.
    """
    upstream(changed(change), once=True)
    it = resolve()
    for n in range(2):
        got = it.ask(f"www{n}.lab.")
        assert got.texts("A") == [TRUE], str(got.message)
    counters = it.counters()
    assert counters["unmatched"] == 2 * n_unmatched and counters["answered"] == 2


def test_a_reply_comes_once(resolve, upstream):
    """The second, different reply belongs to no question."""
    upstream(lambda query, *_: [address_answer(query, TRUE).to_wire(),
                                address_answer(query, FORGED).to_wire()], once=True)
    it = resolve()
    assert it.ask("www.lab.").texts("A") == [TRUE]
    wait_for("the second one", lambda: it.counters()["unmatched"] == 1)


def test_letter_case_is_random_and_must_come_back(resolve, upstream):
    def reply(query, seen, server):
        forged = address_answer(query, FORGED).to_wire()
        if seen.tcp:
            return address_answer(query, TRUE).to_wire()
        if "right" in seen.name.lower():
            return address_answer(query, TRUE).to_wire()
        return forged[:12] + forged[12:].replace(forged[12:25], forged[12:25].lower())
    server = upstream(reply, once=True)
    it = resolve("-x")
    got = it.ask("abcdefghijkl.right.lab.")
    assert got.texts("A") == [TRUE] and got.message.question[0].name.to_text()[:5] == "abcde"
    assert it.ask("abcdefghijkl.right.lab.").texts("A") == [TRUE]
    first, second = [seen.name for seen in server.seen]
    assert first != second and first.lower() == second.lower() and first != first.lower()
    # One that lies is asked again over TCP.
    assert it.ask("ABCDEFGHIJKL.wrong.lab.").texts("A") == [TRUE]
    assert [seen.tcp for seen in server.seen[2:]] == [False, True]
    assert it.counters()["unmatched"] == it.counters()["miscased"] == 1
    # Without 0x20 the case means nothing.
    assert resolve().ask("abcdefghijkl.wrong.lab.").texts("A") == [FORGED]


@pytest.mark.parametrize("damage", [
    pytest.param(lambda wire: wire[:-3], id="cut"),
    pytest.param(lambda wire: wire[:7] + b"\x09" + wire[8:], id="count"),
    pytest.param(lambda wire: wire.replace(b"\xc0\x0c", b"\xc0\xff"), id="pointer"),
])
def test_what_cannot_be_read_is_as_if_lost(resolve, upstream, damage):
    upstream(lambda query, seen, server: damage(address_answer(query, FORGED).to_wire()))
    upstream(address=B)
    it = resolve(to=[A, B])
    for n in range(4):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    # Where B was asked first, A is only asked besides: nobody waits for what it says.
    wait_for("A is heard", lambda: it.counters()["malformed"] >= 1)


def test_ports_and_ids_are_not_known_before(resolve, upstream):
    server = upstream()
    it = resolve("-w", "30000")
    it.say("flood 20000 lab.")
    assert it.line() == "flooded 20000 20000 0"
    ports = {seen.port for seen in server.seen}
    counters = it.counters()
    assert 20 <= len(ports) <= counters["sockets"] <= 20000 // 100
    assert min(ports) > 1023 and max(ports) - min(ports) > 32768
    ids = [seen.id for seen in server.seen]
    assert len(set(ids)) > 15000  # 65536 of which 20000 are drawn: 17,200 in the mean
    ascending = sum(b > a for a, b in zip(ids, ids[1:]))
    assert 0.45 < ascending / len(ids) < 0.55


def test_ports_of_a_range(resolve, upstream):
    server = upstream()
    it = resolve("-P", "40000-40015")
    it.say("flood 2000 lab.")
    assert it.line() == "flooded 2000 2000 0"
    ports = {seen.port for seen in server.seen}
    assert ports <= set(range(40000, 40016)) and len(ports) >= 4


def test_a_server_that_keeps_no_case_is_asked_without(resolve, upstream):
    """Once it has shown that over TCP too."""
    def reply(query, seen, server):
        wire = true_answer(query, seen, server)
        return wire[:12] + wire[12:40].lower() + wire[40:]
    server = upstream(reply, once=True)
    it = resolve("-x")
    for n in range(10):
        assert it.ask(f"abcdefghijklmnopqrstuvwxyz{n}.lab.").texts("A") == [TRUE]
    assert [seen.tcp for seen in server.seen] == [False, True] + [False] * 9
    assert all(seen.name == seen.name.lower() for seen in server.seen[2:])


class Spoofer:
    """
    Sends forged answers to a port of the resolver from the upstream's address, which it does not
    own.
    """

    def __init__(self, netns, address):
        with inside_netns(netns.name):
            self.raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.address = socket.inet_aton(address)

    def send(self, wire, port):
        udp = b"\0\x35" + port.to_bytes(2, "big") + (8 + len(wire)).to_bytes(2, "big") + b"\0\0"
        size = 28 + len(wire)
        ip = (b"\x45\0" + size.to_bytes(2, "big") + b"\0\0\0\0\x40\x11\0\0" + self.address +
              socket.inet_aton("127.0.0.1"))
        self.raw.sendto(ip + udp + wire, ("127.0.0.1", 0))

    def guess(self, query, seen, ids):
        forged = address_answer(query, FORGED).to_wire()
        for guess in ids:
            self.send(guess.to_bytes(2, "big") + forged[2:], seen.port)


def test_who_guesses_ids_has_few_chances(resolve, upstream, netns):
    """
    Many wrong IDs and then the right one, before the upstream answers: the question goes to TCP.
    """
    spoofer = Spoofer(netns, A)

    def reply(query, seen, server):
        if not seen.tcp:
            spoofer.guess(query, seen, ((seen.id + n) % 65536 for n in range(1000, -1, -1)))
        return true_answer(query, seen, server)
    server = upstream(reply, once=True)
    it = resolve("-w", "60000")
    for n in range(3):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    assert [seen.tcp for seen in server.seen] == [False, True] * 3
    assert it.counters()["forged"] == 3
    # A socket on which somebody guesses is left.
    assert len({seen.port for seen in server.seen if not seen.tcp}) == 3


def test_who_guesses_seldom_has_no_effect(resolve, upstream, netns):
    spoofer = Spoofer(netns, A)

    def reply(query, seen, server):
        spoofer.guess(query, seen, [seen.id ^ 1])
        return true_answer(query, seen, server)
    server = upstream(reply, once=True)
    it = resolve()
    assert it.ask("www.lab.").texts("A") == [TRUE]
    assert [seen.tcp for seen in server.seen] == [False]


# --- Cookies --------------------------------------------------------------------------------------


def cookie_of(query):
    found = [option.to_wire() for option in query.options if option.otype == 10]
    return found[0] if found else None


def with_cookie(query, cookie, address=TRUE, rcode=0):
    out = address_answer(query, address)
    if rcode:
        out.answer = []
    out.use_edns(0, 0, 1232, options=[dns.edns.GenericOption(10, cookie)])
    out.set_rcode(rcode)
    return out.to_wire()


def keeping_cookies(query, seen, server):
    """BADCOOKIE to a client without a cookie of ours, as in RFC 7873 section 5.2.3."""
    cookie = cookie_of(query)
    good = cookie[:8] + cookie[:8][::-1]
    return with_cookie(query, good, rcode=0 if seen.tcp or cookie == good else 23)


def test_a_server_cookie_is_learnt_and_sent(resolve, upstream):
    server = upstream(keeping_cookies, once=True)
    it = resolve()
    for n in range(3):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    cookies = [cookie_of(seen.message) for seen in server.seen]
    assert [len(cookie) for cookie in cookies] == [8, 16, 16, 16]
    assert len({cookie[:8] for cookie in cookies}) == 1
    assert it.counters()["badcookie"] == 1 and it.counters()["queries_tcp"] == 0


def test_each_upstream_has_its_own_cookie(resolve, upstream):
    servers = [upstream(keeping_cookies), upstream(keeping_cookies, address=B)]
    it = resolve(to=[A, B])
    for n in range(20):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    cookies = [{cookie_of(seen.message)[:8] for seen in server.seen} for server in servers]
    assert [len(one) for one in cookies] == [1, 1] and cookies[0] != cookies[1]


def test_an_answer_without_the_cookie_is_not_taken(resolve, upstream):
    """Of a server that has given one: it is asked over TCP."""
    def reply(query, seen, server):
        if seen.tcp or seen.name != "forged.lab.":
            return keeping_cookies(query, seen, server)
        return address_answer(query, FORGED).to_wire()
    upstream(reply, once=True)
    it = resolve()
    for n in range(5):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
        assert it.ask("forged.lab.").texts("A") == [TRUE]
    assert it.counters()["no_cookie"] == 5


def test_badcookie_without_end_goes_to_tcp(resolve, upstream):
    def reply(query, seen, _server):
        cookie = cookie_of(query)[:8] + os.urandom(16)
        return with_cookie(query, cookie, rcode=0 if seen.tcp else 23)
    server = upstream(reply, once=True)
    it = resolve()
    assert it.ask("www.lab.").texts("A") == [TRUE]
    assert [seen.tcp for seen in server.seen] == [False, False, True]
