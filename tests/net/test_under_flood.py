# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""While port 53 is flooded with queries that no cache can answer, the host's other traffic goes on,
on each port: a TCP session, ICMP, ARP and ND."""
import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading

import pytest

from netlab import CLIENT4, CLIENT6, ROOT, TIMEOUT, TOOLS, V4, V6, wait_for
from ports import each_port

sys.path.insert(0, str(ROOT / "tests" / "perf"))

from rig import napi_threads, put_first  # noqa: E402

pytestmark = pytest.mark.alone

XDPGEN = TOOLS.parent / "perf" / "xdpgen"
RATE = 300000       # about what a worker answers where it has nothing else to do
FLOOD_SECONDS = 90  # at most: it is ended when all was asked
SEEN = 100000       # packets, until it counts as a flood
ROUND_TRIPS = 300
SSH = 22
PINGS = 10


def received(daemon):
    return daemon.json("stats")["driver"]["received"]


@contextlib.contextmanager
def flood(lab, daemon, folder):
    """Queries of names that are answered by a worker each time, where it comes to that."""
    queries = folder / "queries"
    queries.write_text("".join(f"n{i}.example.com A\n" for i in range(20000)), encoding="ascii")
    # a veth end that had a program of its own once takes frames from XDP only after this
    for state in ("off", "on"):
        lab.exec("s", "ethtool", "-K", "s0", "gro", state)
    # as an interrupt on a card: else the link loses what this thread, waiting for its turn, does
    # not take
    put_first(napi_threads(lab, "s"))
    process = lab.popen("c", XDPGEN, "c0", queries, FLOOD_SECONDS, RATE, stdout=subprocess.PIPE,
                        text=True)
    try:
        wait_for("the flood", lambda: received(daemon) > SEEN, 30)
        yield
        assert process.poll() is None, "the flood was over before all was asked"
    finally:
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=30)[0]
    assert json.loads(out)["sent"] > SEEN


def echo(listener):
    """Gives one connection back what it sends."""
    listener.settimeout(4 * TIMEOUT)
    sock, _ = listener.accept()
    with sock:
        sock.settimeout(4 * TIMEOUT)
        while data := sock.recv(4096):
            sock.sendall(data)


def check_session(lab):
    """Round trips of a terminal: a key is sent and its echo awaited."""
    with lab.socket("s", kind=socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((V4, SSH))
        listener.listen()
        server = threading.Thread(target=echo, args=(listener,))
        server.start()
        try:
            with lab.socket("c", kind=socket.SOCK_STREAM) as sock:
                sock.settimeout(4 * TIMEOUT)
                sock.connect((V4, SSH))
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for i in range(ROUND_TRIPS):
                    key = i.to_bytes(48, "big")
                    sock.sendall(key)
                    assert sock.recv(48, socket.MSG_WAITALL) == key
        finally:
            server.join()


def n_pings(lab, where):
    """How many of PINGS are answered. A few more are sent, since a link that is full loses some."""
    n = 0
    for _ in range(3 * PINGS):
        with contextlib.suppress(OSError):
            lab.ping(where, timeout=0.5)
            n += 1
        if n == PINGS:
            break
    return n


def check_neighbours(lab):
    """Each end forgets the other, and finds it again."""
    for end, peers in (("c", (V4, V6)), ("s", (CLIENT4, CLIENT6))):
        for peer in peers:
            lab.ip(end, "neighbour", "del", peer, "dev", end + "0")
        for where in (V4, V6):
            assert n_pings(lab, where) == PINGS
    for end in "cs":
        known = lab.ip(end, "neighbour", "show", "dev", end + "0").stdout
        assert known.count("lladdr") >= 2, known


@each_port
def test_the_host_lives_under_a_flood(lab, daemon, tmp_path, port):
    port.start(daemon, driver_answers=False)
    with flood(lab, daemon, tmp_path):
        check_session(lab)
        check_neighbours(lab)
    wait_for("what is left of it is answered", lab.is_answered)
    assert lab.ask().answer
    stats = daemon.stats()
    assert stats["answered"][port.kind] > 1000
    assert daemon.status()["ready"]
