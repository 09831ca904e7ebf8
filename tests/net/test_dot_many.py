# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""DNS over TLS: one client begins more handshakes than it may have at a time
(port/handshake.h)."""
import collections
import contextlib
import os
import resource
import select
import socket
import ssl

import dns.exception
import dns.message
import pytest

from dnstree import anyone, receive
from netlab import CLIENT4, V4, texts, wait_for, zone
from secondaries import certificate
from test_primary import counters

QUERY = dns.message.make_query("www.example.com", "A")
WIRE = len(QUERY.to_wire()).to_bytes(2, "big") + QUERY.to_wire()
WWW = ["192.0.2.80", "192.0.2.81"]
FAR = "198.51.100.9"
N_BURST = 1000
N_SILENT = 400  # of the burst; more than the handshakes of one client that may run at a time


@pytest.fixture(name="files", autouse=True)
def more_files():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, max(8192, before[1])))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def add_far(lab):
    """FAR becomes an address of the client's end."""
    lab.ip("c", "address", "add", f"{FAR}/24", "dev", "c0")
    lab.ip("s", "route", "add", "198.51.100.0/24", "via", CLIENT4)


@pytest.fixture(name="server")
def start(lab, daemon, tmp_path):
    """A daemon whose workers accept all connections, and clients of another prefix."""
    add_far(lab)
    limits = {"max-connections": 4096, "max-connections-per-client": 4096}
    daemon.start(server={"listen": [V4], "tls": certificate(tmp_path)["server"], "tcp": limits},
                 zones=[zone("example.com")])
    return daemon


class Asker:
    """A connection that is opened, asks once, reads its reply and is closed."""

    def __init__(self, lab, context):
        sock = lab.connect("c", V4, 853)
        self.stream, self.has_asked = context.wrap_socket(sock,
                                                          do_handshake_on_connect=False), False
        self.stream.setblocking(False)

    def go_on(self):
        """The answer. Raises ssl.SSLWantReadError while it has to wait."""
        if not self.has_asked:
            self.stream.do_handshake()
            self.stream.sendall(WIRE)
            self.has_asked = True
        return texts(dns.message.from_wire(self.stream.recv(4096)[2:]))


@contextlib.contextmanager
def ahead_of_others():
    """
    This thread has the processor before all but the kernel: a client that is silent for 2 seconds
    may be left for others.
    """
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


class Burst:
    """
    N connections, at once. The last N_SILENT of them have sent their ClientHello and read nothing
    until step() is called. Who has waited longest goes on first: epoll tells of few at a time, in
    the order in which they came.
    """

    def __init__(self, lab, n):
        self.epoll, self.waiting, self.answers, self.failed = select.epoll(), {}, [], []
        self.silent = collections.deque()
        context = anyone()
        for i in range(n):
            asker = Asker(lab, context)
            with contextlib.suppress(ssl.SSLWantReadError):
                asker.go_on()
            self.silent.append(asker)
            if i >= N_SILENT:
                self.go_on(self.silent.popleft())
            if i % 10 == 9:
                self.read(0)

    def go_on(self, asker):
        try:
            self.answers.append(asker.go_on())
        except ssl.SSLWantReadError:
            fd = asker.stream.fileno()
            (self.epoll.modify if fd in self.waiting
             else self.epoll.register)(fd, select.EPOLLIN | select.EPOLLONESHOT)
            self.waiting[fd] = asker
            return
        except (OSError, dns.exception.DNSException) as error:
            self.failed.append(error)
        self.waiting.pop(asker.stream.fileno(), None)
        asker.stream.close()

    def step(self):
        """All that can go on does; False: they are done."""
        while self.silent:
            self.go_on(self.silent.popleft())
        self.read(1)
        return bool(self.waiting)

    def read(self, seconds):
        """Those that have something to read go on; waits for the first of them."""
        ready = self.epoll.poll(seconds, 8)
        while ready:
            for fd, _ in ready:
                self.go_on(self.waiting[fd])
            ready = self.epoll.poll(0, 8)


def ask_from(lab, source):
    with lab.socket("c", kind=socket.SOCK_STREAM) as sock:
        sock.settimeout(20)
        sock.bind((source, 0))
        sock.connect((V4, 853))
        with anyone().wrap_socket(sock) as stream:
            stream.sendall(WIRE)
            return texts(receive(stream))


def test_a_thousand_at_once_are_all_answered(lab, server):
    """Those that find no place wait in line, and another client does not wait behind them."""
    with ahead_of_others():
        burst = Burst(lab, N_BURST)
        assert ask_from(lab, FAR) == WWW
        while burst.step():
            pass
    assert not burst.failed, (len(burst.failed), burst.failed[:3])
    assert burst.answers == [WWW] * N_BURST
    assert counters(server)["tls_failed"] == 0


def test_silent_clients_hold_up_their_own_prefix_for_a_moment(lab, server):
    """
    1,500 that say nothing: some are closed, and each new connection of the same prefix has its
    turn.
    """
    with contextlib.ExitStack() as stack:
        for _ in range(1500):
            sock = stack.enter_context(lab.socket("c", kind=socket.SOCK_STREAM))
            sock.setblocking(False)
            sock.connect_ex((V4, 853))
        for _ in range(3):
            assert ask_from(lab, FAR) == WWW

        def ask_near():
            with contextlib.suppress(OSError, EOFError):
                return ask_from(lab, CLIENT4)
            return None
        for _ in range(3):
            assert wait_for("an answer beside them", ask_near) == WWW
