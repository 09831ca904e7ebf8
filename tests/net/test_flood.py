# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""With more misses than the worker of a queue answers, the driver drops some, fairly; hits go on.

The speed of a worker depends on the machine. So the test stops it (SIGSTOP) during the flood: then
any flood is more than it answers.
"""
import collections
import contextlib
import signal
import socket
import struct
import sys
import time

import dns.flags
import dns.message
import pytest

from netlab import (CLIENT_MAC, ROOT, SERVER_MAC, V4, checksum, driver_counters, iface, map_ids,
                    receive_frame, wait_for)

sys.path.insert(0, str(ROOT / "tests" / "perf"))

from rig import SERVER_CPU, napi_threads, pin, put_first  # noqa: E402

pytestmark = pytest.mark.alone

LIMIT = 512  # of what is on its way: the frames that the kernel has where it copies
FLOODS, BEHAVE = "203.0.113.7", ("198.51.100.9", "198.51.101.9")
BEHAVE_EACH = 5  # so many find room, though the flood begins anew when slots change
TOO_MANY = LIMIT + 512
PERIOD_S = 1  # at least; see SHED_PERIOD_BITS of xdp/shed.h
CHUNK = 128  # frames that the link takes at once


def frame(name, source, number):
    """A query without EDNS, from another address than the lab's client."""
    query = dns.message.make_query(name, "A")
    query.id = number
    wire = query.to_wire()
    ends = socket.inet_aton(source) + socket.inet_aton(V4)
    udp = struct.pack("!HHHH", 1024 + number, 53, 8 + len(wire), 0)
    check = checksum(ends + struct.pack("!HH", 17, 8 + len(wire)) + udp + wire) or 0xffff
    udp = udp[:6] + struct.pack("!H", check)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(wire), 0, 0, 64, 17, 0) + ends
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return SERVER_MAC + CLIENT_MAC + b"\x08\x00" + ip + udp + wire


class Wire:
    """Frames of many clients on c0, and what the program on s0 makes of them."""

    def __init__(self, lab, program_id):
        self.program_id, self.map_id = program_id, map_ids(program_id)["volley_cpu"]
        self.sock = lab.frames()

    def counters(self):
        return driver_counters(self.program_id, self.map_id)

    def queries(self):
        """Queries that came, without the packets that the kernels of both ends exchange, which
        pass."""
        counters = self.counters()
        return counters["hit"] + counters["up"] + counters["dropped"]

    def send(self, frames):
        """Sends all of them, without loss on the link; returns their reasons as a Counter."""
        before = collections.Counter(self.counters())
        for start in range(0, len(frames), CHUNK):
            seen = self.queries()
            chunk = frames[start:start + CHUNK]
            for one in chunk:
                self.sock.send(one)
            wait_for("the driver has seen them",
                     lambda n=seen + len(chunk): self.queries() >= n)
        return collections.Counter(self.counters()) - before

    def replies(self, n, to):
        """So many replies to the addresses in `to`: a Counter by address, of all that came."""
        found = collections.Counter()
        while sum(found[address] for address in to) < n:
            reply = receive_frame(self.sock)
            if reply[12:14] == b"\x08\x00" and reply[23] == 17 and reply[44] & 0x80:
                found[socket.inet_ntoa(reply[30:34])] += 1
        return found


def misses(source, n, tag):
    return [frame(f"{tag}{i}.wild.example.com", source, i) for i in range(n)]


@contextlib.contextmanager
def stopped(daemon):
    daemon.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        daemon.signal(signal.SIGCONT)


def start(lab, daemon):
    """With one queue, its socket, and an answer in the driver."""
    daemon.start(server={"workers": 1}, interfaces=[iface(port="xsk")])
    for _ in range(3):
        lab.ask()
    # as an interrupt on a card: else the link loses what a worker that goes on sends at once
    put_first(napi_threads(lab, "c"))
    # else the thread may move in the flood, and on the other CPU the driver counts from zero
    pin(napi_threads(lab, "s"), SERVER_CPU)
    return Wire(lab, daemon.interface()["program_id"])


def stopped_in_a_flood(wire, daemon):
    """A context with the worker stopped and its queue full, and what came of the flood.

    Where the machine was so slow that slots changed more than once, the flood has taken others'
    room, too: then it is begun anew.
    """
    for n in range(10):
        context = contextlib.ExitStack()
        context.enter_context(stopped(daemon))
        begin = time.monotonic()
        flood = wire.send(misses(FLOODS, TOO_MANY, f"f{n}x"))
        if time.monotonic() - begin < PERIOD_S:
            return context, flood
        context.close()
        wait_for("the worker has come through",
                 lambda: wire.send(misses("192.0.2.200", 1, "late"))["to_worker"] == 1)
    pytest.fail(f"the link never takes {TOO_MANY} frames within {PERIOD_S} s")


def test_prefixes_that_behave_are_served(lab, daemon):
    wire = start(lab, daemon)
    context, flood = stopped_in_a_flood(wire, daemon)
    with context:
        assert LIMIT // 2 < flood["to_worker"] < LIMIT
        assert flood["to_worker"] + flood["DROP_SHARE"] == TOO_MANY
        for i, source in enumerate(BEHAVE):
            came = wire.send(misses(source, BEHAVE_EACH, f"b{i}x"))
            assert came["to_worker"] == BEHAVE_EACH and not came["dropped"]
        # the driver needs no worker, and asks for nobody's share
        hits = wire.send([frame("www.example.com", FLOODS, i) for i in range(CHUNK)])
        assert hits["hit"] == CHUNK == wire.replies(CHUNK, [FLOODS])[FLOODS]
    found = wire.replies(len(BEHAVE) * BEHAVE_EACH, BEHAVE)
    assert [found[source] for source in BEHAVE] == [BEHAVE_EACH] * len(BEHAVE)
    wait_for("status says so", lambda: "s0: queue 0: overload: " in daemon.degraded())
    assert "s0: overload: more queries come than workers answer" in daemon.log()
    stats = daemon.stats()
    assert stats["driver"]["dropped"] == stats["driver"]["reasons"]["drop-share"]
    assert [port["shed"] for port in stats["ports"] if "shed" in port] == \
        [stats["driver"]["dropped"]]
    # and all is as before
    wait_for("status is silent", lambda: "overload" not in daemon.degraded())
    after = wire.send(misses(FLOODS, CHUNK, "after"))
    assert after["to_worker"] == CHUNK and not after["dropped"]


def test_all_prefixes_flood(lab, daemon):
    """
    Each has sent no more than its share, and together they are too many: nothing more goes up.
    """
    wire = start(lab, daemon)
    with stopped(daemon):
        came = wire.send([frame(f"m{i}.wild.example.com", f"10.{i >> 8}.{i & 255}.1", i)
                          for i in range(TOO_MANY)])
        assert LIMIT * 9 // 10 <= came["to_worker"] <= LIMIT
        assert came["dropped"] + came["to_worker"] == TOO_MANY
        assert came["DROP_OVERLOAD"] > 0
    wait_for("the worker has come through",
             lambda: wire.send(misses(BEHAVE[0], 1, "late"))["to_worker"] == 1)


def test_a_worker_that_is_killed_is_no_hole(lab, daemon):
    """Its limit is left in the map, and its socket is not: the kernel gets what goes up."""
    wire = start(lab, daemon)
    daemon.signal(signal.SIGSTOP)
    assert wire.send(misses(FLOODS, TOO_MANY, "f"))["DROP_SHARE"] > 0
    daemon.kill()

    def passes():
        came = wire.send(misses(FLOODS, 1, "k"))
        return came["UP_MISS"] == 1 and not came["to_worker"]
    wait_for("the kernel has closed the socket", passes)
    assert wire.send([frame("www.example.com", FLOODS, 1)])["hit"] == 1
    daemon.start()
    assert daemon.interface()["origin"] == "adopted"
    came = wire.send(misses(FLOODS, CHUNK, "new"))
    assert came["to_worker"] == CHUNK and not came["dropped"]
    assert wire.replies(CHUNK, [FLOODS])[FLOODS] >= CHUNK
    assert "overload" not in daemon.degraded()
