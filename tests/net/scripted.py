# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripted upstreams, and the forwarder (userspace/resolver/forward.h) in front of them. A module
of tests imports the fixtures make_netns, make_upstream and make_resolve."""
import contextlib
import functools
import os
import socket
import threading
import time

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from netlab import SO_RCVBUFFORCE, inside_netns
from upstreams import Netns, Resolve, address_answer

A, B, C, NOBODY = "127.0.2.1", "127.0.2.2", "127.0.2.3", "127.0.2.9"
TRUE, FORGED = "192.0.2.80", "192.0.2.66"
NETWORK_ERROR = 23


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
        self.address, self.port, self.tcp, self.at = peer[0], peer[1], tcp, time.monotonic()

    @functools.cached_property
    def message(self):
        return dns.message.from_wire(self.wire)

    @property
    def name(self):
        return self.message.question[0].name.to_text()


class Upstream:
    """
    reply(query, seen, upstream) gives octets, None, or a list of octets. TCP: one thread for each
    connection. once: what is sent again, as this machine was slow, is not seen; its reply is under
    way.
    """

    def __init__(self, netns, address, reply, family=socket.AF_INET, tcp=True, closes=False,
                 once=False):
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


def large_answer(query):
    out = address_answer(query, TRUE)
    out.answer.append(dns.rrset.from_text_list(
        query.question[0].name, 300, "IN", "TXT", [f'"{n:0200}"' for n in range(280)]))
    return out.to_wire(max_size=65535)


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
