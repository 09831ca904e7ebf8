# SPDX-License-Identifier: GPL-2.0-only
"""Plain forwarding by our own code (userspace/resolver/forward.h), to upstreams that are scripted."""
import contextlib
import functools
import os
import random
import socket
import threading
import time

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from netlab import SO_RCVBUFFORCE, inside_netns, wait_for
from upstreams import Netns, Resolve, address_answer

A, B, C, NOBODY, ELSEWHERE = "127.0.2.1", "127.0.2.2", "127.0.2.3", "127.0.2.9", "127.0.2.66"
NO_REACHABLE_AUTHORITY, NETWORK_ERROR, BOGUS, NONE = 22, 23, 6, -1
TRUE, FORGED = "192.0.2.80", "192.0.2.66"


@pytest.fixture(name="netns", scope="module")
def make_netns(tmp_path_factory):
    if os.geteuid():
        pytest.skip("needs root")
    netns = Netns(tmp_path_factory.mktemp("forward"))
    yield netns
    netns.close()


@pytest.fixture(name="upstream")
def make_upstream(netns):
    made = []

    def make(reply=None, address=A, **kwargs):
        made.append(Upstream(netns, address, reply or true_answer, **kwargs))
        return made[-1]
    yield make
    for one in made:
        one.close()


@pytest.fixture(name="resolve")
def make_resolve(netns):
    made = []

    def make(*options, to=(A,)):
        words = [word for address in to for word in ("-f", address)]
        made.append(Resolve(netns, *words, *options))
        return made[-1]
    yield make
    for one in made:
        if one.process.poll() is None:
            one.close()


class Seen:
    """A query as it came."""

    def __init__(self, wire, peer, tcp):
        self.wire, self.id = wire, int.from_bytes(wire[:2], "big")
        self.port, self.tcp, self.at = peer[1], tcp, time.monotonic()

    @functools.cached_property
    def message(self):
        return dns.message.from_wire(self.wire)

    @property
    def name(self):
        return self.message.question[0].name.to_text()


class Upstream:
    """
    reply(query, seen, upstream) gives octets, None, or a list of octets. TCP: one thread for each
    connection. once: what is sent again, as this machine was slow, is not seen; its reply is under way.
    """

    def __init__(self, netns, address, reply, family=socket.AF_INET, tcp=True, closes=False, once=False):
        self.netns, self.reply, self.seen, self.closes = netns, reply, [], closes
        self.connections = self.n_ended = 0
        self.silent, self.once = False, once
        self.threads = []
        self.udp, self.listener = netns_sockets(netns, address, family, tcp)
        self.udp.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
        self.start(self.serve_udp)
        if tcp:
            self.start(self.serve_tcp)

    def start(self, function, *args):
        self.threads.append(threading.Thread(target=function, args=args, daemon=True))
        self.threads[-1].start()

    def replies(self, wire, peer, tcp):
        if self.silent:
            return []
        seen = Seen(wire, peer, tcp)
        if self.once and any((one.wire, one.port) == (wire, seen.port) for one in self.seen):
            return []
        self.seen.append(seen)
        if self.reply is true_answer:
            return [quick_answer(wire)]
        out = self.reply(seen.message, seen, self)
        return out if isinstance(out, list) else [out] if out else []

    def serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                wire, peer = self.udp.recvfrom(4096)
                for out in self.replies(wire, peer, False) if wire else ():
                    self.send(out, peer)

    def send(self, out, peer):
        with contextlib.suppress(OSError):
            self.udp.sendto(out, peer)

    def later(self, seconds, out, port):
        threading.Timer(seconds, self.send, (out, ("127.0.0.1", port))).start()

    def serve_tcp(self):
        with contextlib.suppress(OSError):
            while True:
                conn, peer = self.listener.accept()
                self.connections += 1
                self.start(self.serve_connection, conn, peer)

    def serve_connection(self, conn, peer):
        with conn, contextlib.suppress(OSError):
            self.serve_messages(conn, peer)
        self.n_ended += 1

    def serve_messages(self, conn, peer):
        while size := conn.recv(2, socket.MSG_WAITALL):
            wire = conn.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
            for out in self.replies(wire, peer, True):
                conn.sendall(len(out).to_bytes(2, "big") + out)
                if self.closes:
                    return

    def close(self):
        for sock in (self.udp, self.listener):
            if sock:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
                sock.close()
        self.threads[0].join(5)


def netns_sockets(netns, address, family, tcp):
    with inside_netns(netns.name):
        udp = socket.socket(family, socket.SOCK_DGRAM)
        udp.bind((address, 53))
        if not tcp:
            return udp, None
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, 53))
        listener.listen(64)
        return udp, listener


def true_answer(query, _seen, _upstream):
    return address_answer(query, TRUE).to_wire()


def quick_answer(wire):
    """The same, for many: without its OPT."""
    end = wire.index(b"\0", 12) + 5
    return (wire[:2] + b"\x85\x80\0\1\0\1\0\0\0\0" + wire[12:end] +
            b"\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4" + socket.inet_aton(TRUE))


def silent(_query, _seen, _upstream):
    return None


def failing(rcode, ede=None):
    def reply(query, _seen, _upstream):
        out = dns.message.make_response(query)
        out.set_rcode(rcode)
        if ede is not None:
            out.use_edns(0, 0, 1232, options=[dns.edns.GenericOption(15, ede.to_bytes(2, "big"))])
        return out.to_wire()
    return reply


# --- What goes up and what comes back --------------------------------------------------------------


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


# --- Lies ------------------------------------------------------------------------------------------


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
    """What is not from the upstream's address and port never comes out of the socket."""
    upstream(changed(change), once=True)
    it = resolve()
    for n in range(3):
        got = it.ask(f"www{n}.lab.")
        assert got.texts("A") == [TRUE], str(got.message)
    counters = it.counters()
    assert counters["unmatched"] == 3 * n_unmatched and counters["answered"] == 3


def test_a_reply_comes_once(resolve, upstream):
    """The second, other one is nobody's."""
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
    """Sends forged answers to a port of the resolver from the upstream's address, which it does not own."""

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
    """Many wrong IDs and then the right one, before the upstream answers: the question goes to TCP."""
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


# --- Cookies ---------------------------------------------------------------------------------------


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
    """BADCOOKIE for who has none of ours, as in RFC 7873 section 5.2.3."""
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




# --- Upstreams that are dead, late, or fail --------------------------------------------------------


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
    # Each wait is twice the one before. Seen from the start: what comes here late makes none shorter.
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


# --- EDNS ------------------------------------------------------------------------------------------


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
    assert [len(seen.message.options) for seen in server.seen] == [1, 0]
    assert it.ask("plainbad.lab.").rcode == "SERVFAIL"
    assert it.ask("good.lab.").rcode == "NOERROR"
    assert [seen.message.edns for seen in server.seen] == [0, 0, 0, -1, 0]
    assert len(server.seen[-1].message.options) == 1


# --- TCP -------------------------------------------------------------------------------------------


def large(query):
    out = address_answer(query, TRUE)
    out.answer.append(dns.rrset.from_text_list(
        query.question[0].name, 300, "IN", "TXT", [f'"{n:0200}"' for n in range(280)]))
    return out.to_wire(max_size=65535)


def truncating(query, seen, _server):
    if seen.tcp:
        return large(query)
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
    # All at once, then each once or, where the end of the connection comes after it was sent, twice.
    assert it.counters()["queries_tcp"] <= 20 + 30 + 2 * 30


def test_a_connection_on_which_nothing_comes(resolve, upstream):
    """Another upstream is asked meanwhile; what speaks no DNS is left."""
    upstream(silent)
    upstream(address=B)
    upstream(lambda *_: b"\1", address=C)
    it = resolve("-t", "tcp", to=[A, B, C])
    for n in range(10):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]


def test_a_truncated_answer_over_tcp_is_none(resolve, upstream):
    def reply(query, _seen, _server):
        out = address_answer(query, FORGED)
        out.flags |= dns.flags.TC
        return out.to_wire()
    upstream(reply)
    it = resolve("-w", "3000")
    assert it.ask("www.lab.").rcode == "SERVFAIL"
    assert it.counters()["malformed"] == 1


# --- All at once -----------------------------------------------------------------------------------


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
    servers = [upstream(at_random(rng), address=A), upstream(at_random(rng), address=B, closes=True),
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
