# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Bounds of the traffic with other name servers: slow readers, idle connections, bursts of NOTIFY
and checks."""
import contextlib
import resource
import socket
import ssl
import threading
import time

import dns.message
import dns.query
import dns.rrset
import pytest

from netlab import CLIENT4, TIMEOUT, V4, remote, wait_for, write_zone, zone
from primaries import Scripted, reply, wire
from secondaries import certificate
from test_primary import count_records, counters, pass_time, query, receive, serve

SERVER_CONNS = 1024    # TCP_PEERS_DEFAULT, of userspace/port/tcp_peers.h
NOTIFY_RUNNING = 64    # NOTIFY_RUNNING_MAX, of userspace/transfer/primary_state.h
CHECKS = 256           # of SECONDARY_CHECKS, of userspace/transfer/secondary.h


@pytest.fixture(name="files")
def more_files():
    """Room for some thousand sockets, here and in the daemon."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, max(8192, before[1])))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def small_window(lab, port=53):
    """A connection whose kernel buffers little, so that unread data stays with the sender."""
    sock = lab.socket("c", kind=socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect((V4, port))
    return sock


def is_closed(sock):
    """Whether the other side has closed; its data is read."""
    sock.setblocking(False)
    try:
        while sock.recv(65536):
            pass
        return True
    except ConnectionResetError:
        return True
    except BlockingIOError:
        return False
    finally:
        sock.settimeout(TIMEOUT)


class Reader:
    """
    A socket that is read a little now and then, so that it is not given up, and in the end whole.
    """

    def __init__(self, sock):
        self.sock, self.got = sock, bytearray()

    def read_some(self):
        self.got += self.sock.recv(65536)

    def recv(self, n):
        out = bytes(self.got[:n]) or self.sock.recv(n)
        del self.got[:n]
        return out


# ---- Connections ---------------------------------------------------------------------------------

def test_who_reads_slowly_gets_all_of_it(lab, daemon, clock):
    """A transfer that waits for its slow reader is not idle, even if all of it was made long
    ago."""
    more = "".join(f"n{i} TXT \"{'x' * 250}\"\n" for i in range(600))
    serve(daemon, ["any"], more=more, server={"tcp": {"idle-timeout": "1s"}})
    with small_window(lab) as sock:
        dns.query.send_tcp(sock, query())
        wait_for("the transfer is made", lambda: counters(daemon)["axfr_out"] == 1)
        for _ in range(3):
            pass_time(daemon, clock, 1)
        assert count_records(sock, 605) == 605
        pass_time(daemon, clock, 1)
        wait_for("it is idle now", lambda: is_closed(sock))


def test_who_takes_too_little_is_given_up(lab, daemon):
    """
    Nothing, or an octet now and then, which opens no window, in 30 s. The next in line is served
    before.
    """
    more = "".join(f"n{i} TXT \"{'x' * 250}\"\n" for i in range(20000))
    serve(daemon, ["any"], more=more, server={"transfers-out": 2})
    with contextlib.ExitStack() as stack:
        stuck, trickling = (stack.enter_context(small_window(lab)) for _ in range(2))
        for sock in (stuck, trickling):
            dns.query.send_tcp(sock, query())
            sock.recv(1, socket.MSG_PEEK)
        for _ in range(2):
            with lab.connect("c", V4) as sock:
                dns.query.send_tcp(sock, query())
                assert count_records(sock, 20005) == 20005
        assert counters(daemon)["out_failed"] == 0, "they still stand"

        def given_up():
            with contextlib.suppress(ConnectionResetError, BlockingIOError):
                trickling.setblocking(False)
                trickling.recv(1)
            return counters(daemon)["out_failed"] == 2
        wait_for("both are given up", given_up, 120)


def read_all(lab, source, n):
    """A transfer over a connection from this address."""
    with lab.socket("c", kind=socket.SOCK_STREAM) as sock:
        sock.bind((source, 0))
        sock.connect((V4, 53))
        dns.query.send_tcp(sock, query())
        assert count_records(sock, n) == n


def test_readers_that_stand_still_keep_nobody_waiting(lab, daemon):
    """70 of them, and 64 places: another client is served at once, and so is one of the same
    address. None has been given up by then."""
    lab.ip("c", "address", "add", "198.51.100.9/24", "dev", "c0")
    lab.ip("s", "route", "add", "198.51.100.0/24", "via", CLIENT4)
    more = "".join(f"n{i} TXT \"{'x' * 250}\"\n" for i in range(20000))
    serve(daemon, ["any"], more=more)
    with contextlib.ExitStack() as stack:
        for _ in range(70):
            dns.query.send_tcp(stack.enter_context(small_window(lab)), query())
        for _ in range(3):
            read_all(lab, "198.51.100.9", 20005)
        for _ in range(3):
            read_all(lab, CLIENT4, 20005)
        assert counters(daemon)["out_failed"] == 0, "they still stand"


def test_readers_that_stand_still_take_not_every_connection(lab, daemon, tmp_path, files):
    """All connections wait for their readers: one more is served all the same, over TLS here."""
    more = "".join(f"n{i} TXT \"{'x' * 250}\"\n" for i in range(20000))
    tls = certificate(tmp_path)
    serve(daemon, ["any"], more=more, tls=tls, server={"tcp": {"max-connections": 2000}})
    with contextlib.ExitStack() as stack:
        for _ in range(SERVER_CONNS):
            dns.query.send_tcp(stack.enter_context(small_window(lab)), query())
        wait_for("all have come", lambda: counters(daemon)["connections"] >= SERVER_CONNS)
        time.sleep(1.5)    # until the first have lent their places
        context = ssl.create_default_context(cafile=tls["bundle"])
        with context.wrap_socket(lab.connect("c", V4, 853), server_hostname=tls["name"]) as sock:
            dns.query.send_tcp(sock, query("SOA"))
            assert dns.query.receive_tcp(sock)[0].answer


def test_the_longest_idle_connection_gives_way(lab, daemon, files):
    """However many are opened: those that are busy stay, and a new one is always served."""
    more = "".join(f"n{i} TXT \"{'x' * 250}\"\n" for i in range(20000))
    small = write_zone(daemon.folder / "small.zone")
    serve(daemon, ["any"], more=more, others=[zone("small.test", small, allow_transfer=["any"])],
          server={"tcp": {"idle-timeout": "300s"}})
    with contextlib.ExitStack() as stack:
        busy = stack.enter_context(small_window(lab))
        asked = query()
        dns.query.send_tcp(busy, asked)
        reader, conns = Reader(busy), []
        for i in range(SERVER_CONNS + 50):
            if not i % 50:
                reader.read_some()
            sock = stack.enter_context(lab.connect("c", V4))
            ask = query(name="small.test")
            dns.query.send_tcp(sock, ask)
            assert receive(sock, ask)
            conns.append(sock)
        # the busy one is one of them
        wait_for("the oldest are closed", lambda: all(map(is_closed, conns[:51])), 30)
        assert not any(map(is_closed, conns[51:]))
        assert count_records(reader, 20005) == 20005
    assert counters(daemon)["out_failed"] == 0


def test_who_opens_and_says_nothing(lab, daemon, clock, tmp_path):
    """Over TLS there is little time to shake hands."""
    serve(daemon, ["any"], tls=certificate(tmp_path))
    with lab.connect("c", V4, 853) as sock:
        wait_for("it is closed", lambda: clock.leap(1) or is_closed(sock), 30)
    assert counters(daemon)["tls_failed"] == 1


# ---- NOTIFY --------------------------------------------------------------------------------------

def test_notify_is_paced(lab, daemon):
    """All zones at start: so many are outstanding at a time, and all are told in the end."""
    names = [f"z{i}.test" for i in range(400)]
    path = write_zone(daemon.folder / "zone", serial=3)
    with lab.socket("c") as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        sock.bind((CLIENT4, 53))
        daemon.start(server={"storage": str(daemon.folder / "state")},
                     remotes=[remote("there", CLIENT4)],
                     zones=[zone(n, path, notify=["there"]) for n in names])
        told, waiting = set(), []
        sock.settimeout(5)
        with contextlib.suppress(socket.timeout):
            while True:
                octets, peer = sock.recvfrom(4096)
                sock.settimeout(0.4)
                waiting.append((octets, peer))
        names_of = [dns.message.from_wire(octets).question[0].name.to_text(True)
                    for octets, _ in waiting]
        assert 1 <= len(set(names_of)) <= NOTIFY_RUNNING

        def answer(octets, peer):
            message = dns.message.from_wire(octets)
            told.add(message.question[0].name.to_text(True))
            sock.sendto(dns.message.make_response(message).to_wire(), peer)
        for one in waiting:
            answer(*one)

        def all_told():
            with contextlib.suppress(socket.timeout):
                while len(told) < len(names):
                    answer(*sock.recvfrom(4096))
            return told == set(names)
        wait_for("all are told", all_told, 60)
    assert counters(daemon)["notify_failed"] == 0


# ---- Checks --------------------------------------------------------------------------------------

def test_checks_are_few_at_a_time(scene):
    """
    All zones are due at once: a primary that is slow to answer is asked for no more of them
    meanwhile.
    """
    names, asked, answers = [f"z{i}.test." for i in range(300)], [], threading.Event()

    def soa(q):
        name = q.question[0].name.to_text()
        return dns.rrset.from_text(name, 300, "IN", "SOA", "ns. h. 1 3600 900 86400 60")

    def check(q):
        asked.append((time.monotonic(), q.question[0].name.to_text()))
        return wire(reply(q, soa(q))) if answers.is_set() else None

    def transfer(q, _connection):
        return wire(reply(q, soa(q), dns.rrset.from_text(soa(q).name, 300, "IN", "NS", "ns."),
                          soa(q)))
    Scripted(scene, "127.0.7.1", check, transfer)
    secondary = scene.secondary({"main": "127.0.7.1"},
                                zones=[{"name": n, "primaries": ["main"]} for n in names])
    assert {secondary.expect("zone", seconds=60)[1] for _ in names} == set(names)
    for name in names:
        secondary.say("refresh", name)
    for _ in names:
        secondary.expect("asked", "Success")
    wait_for("as many as may are asked for", lambda: len({n for _, n in asked}) >= CHECKS, 30)
    time.sleep(0.5)
    first = asked[0][0]  # none is given up within 5 s
    assert len({n for at, n in asked if at < first + 4}) == CHECKS
    answers.set()
    assert {secondary.expect("checked", seconds=60)[1] for _ in names} == set(names)


@pytest.mark.parametrize("small", [True, False], ids=["small", "large"])
def test_what_waits_to_be_served(scene, small):
    """
    Small zones do not keep others from being fetched until they are; large ones do, for their
    memory.
    """
    names, serial = [f"z{i}.test." for i in range(12)], 1

    def records(q):
        name = q.question[0].name.to_text()
        soa = dns.rrset.from_text(name, 300, "IN", "SOA", f"ns. h. {serial} 3600 900 86400 60")
        text = dns.rrset.from_text(name, 300, "IN", "TXT",
                                   *(f'"{i} {"x" * 200}"' for i in range(200)))
        return soa, dns.rrset.from_text(name, 300, "IN", "NS", "ns."), text

    def transfer(q, _connection):
        soa, ns, text = records(q)
        if small:
            return wire(reply(q, soa, ns, soa))
        return [wire(reply(q, soa, ns, text)), wire(reply(q, text)), wire(reply(q, soa))]
    Scripted(scene, "127.0.7.1", lambda q: wire(reply(q, records(q)[0])), transfer)
    secondary = scene.secondary({"main": "127.0.7.1"}, server={"transfers-in": 2},
                                zones=[{"name": n, "primaries": ["main"]} for n in names])
    assert {secondary.expect("zone", seconds=60)[1] for _ in names} == set(names)
    serial = 2
    secondary.say("hold", names[0])
    for name in names:
        secondary.say("notified", name, "2")
    came = [secondary.expect("zone", seconds=30)[1] for _ in range(12 if small else 2)]
    time.sleep(0.5)
    assert secondary.is_quiet()
    for name in came:
        secondary.say("settle", name)
    if not small:
        assert secondary.expect("zone", seconds=30)[1] not in came
