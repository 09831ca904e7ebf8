# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Overload is counted, uses bounded memory, and leaves no trace afterwards."""
import re
import socket
import struct
import threading
import time

import dns.message
import dns.query
import pytest

from netlab import TIMEOUT, V4, V6, Answered, iface, query_frame, texts, wait_for

WWW = ["192.0.2.80", "192.0.2.81"]


def resident_kib(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
        return int(re.search(r"^VmRSS:\s+(\d+)", status.read(), re.M)[1])


def flood(lab, folder, seconds, where=V4, mark=""):
    """Names that were never asked, as fast as dnsperf can. They have the mark, to be other ones."""
    data = folder / f"flood{mark}"
    if not data.exists():
        data.write_text("".join(f"n{mark}{i}.wild.example.com A\nx{mark}{i}.example.com A\n"
                                for i in range(150000)), encoding="ascii")
    out = lab.exec("c", "dnsperf", "-s", where, "-d", data, "-l", seconds, "-q", 2000,
                   "-t", 1).stdout
    return int(re.search(r"Queries completed:\s+(\d+)", out)[1])


@pytest.mark.alone
@pytest.mark.parametrize("xdp", ["native", "off"])
def test_a_flood_of_misses(lab, daemon, tmp_path, xdp):
    daemon.start(cache={"size": "8M"}, interfaces=[iface(xdp=xdp)])
    for _ in range(3):
        lab.ask()
    before_kib = resident_kib(daemon)
    with Answered(daemon) as all_of:
        n = flood(lab, tmp_path, 2)
    assert all_of.by["worker" if xdp == "native" else "kernel_socket"] >= n > 5000
    assert resident_kib(daemon) < before_kib + (8 << 10) + 4096
    for where in (V4, V6):
        assert texts(lab.ask("www.example.com", "A", where)) == WWW
        assert lab.ask("x1.example.com", "A", where).rcode() == 3
        assert texts(lab.ask("n1.wild.example.com", "A", where)) == ["192.0.2.200"]
    cache = daemon.json("cache", "stats")
    assert cache["total_bytes"] <= 8 << 20
    assert cache["evicted"] > 0 or n < 100000  # a slow machine does not fill it


@pytest.mark.alone
def test_hot_names_outlive_a_flood(lab, daemon, tmp_path):
    daemon.start(cache={"size": "8M"})
    hot = [f"hot{i}.wild.example.com" for i in range(30)]
    for name in hot * 3:
        lab.ask(name)
    for turn in "ab":
        flood(lab, tmp_path, 1, mark=turn)
        before = daemon.reasons()
        with Answered(daemon) as all_of:
            for name in hot:
                lab.ask(name)
        assert all_of.by.get("driver", 0) >= 28, (all_of.by, daemon.reasons() - before)


@pytest.mark.alone
def test_small_rings_lose_nothing_uncounted(lab, daemon, tmp_path):
    """Each query that reached a port was answered, not to be answered, or counted as lost."""
    daemon.start(interfaces=[iface(**{"ring-size": 32, "umem-frames": 64})])
    flood(lab, tmp_path, 1)

    def is_balanced():
        (port,) = [p for p in daemon.json("port", "status")["ports"] if p["kind"] == "xsk"]
        lost = sum(port.get(name, 0) for name in ("tx_dropped", "no_reply", "malformed"))
        to_come = port.get("deferred", 0) - port.get("late", 0)
        return port["rx"] > 1000 and port["rx"] == port["tx"] + lost + to_come
    wait_for("received = sent + lost", is_balanced)
    assert texts(lab.ask()) == WWW
    daemon.stats()


def test_a_burst_of_frames(lab, daemon):
    """Without a pause, by an AF_PACKET socket: hits and misses mixed."""
    daemon.start()
    lab.ask()
    queries = [dns.message.make_query("www.example.com", "A", id=0)]
    queries += [dns.message.make_query(f"n{i}.wild.example.com", "A", id=i) for i in range(1, 8)]
    frames = [query_frame(query) for query in queries]
    with lab.frames() as sock, Answered(daemon) as all_of:
        def are_enough_seen():  # the link loses what the driver's thread does not come to
            for frame in 500 * frames:
                sock.send(frame)
            driver = daemon.stats()["driver"]
            return driver["hit"] + driver["up"] + driver["dropped"] >= 4000
        wait_for("4000 were seen, those among them that were too many", are_enough_seen)
    assert all_of.by["driver"] > 500
    assert texts(lab.ask()) == WWW


def test_tcp_clients_that_are_gone_before_accept(lab, daemon):
    """They reset at once: no other client waits (a listening socket never blocks)."""
    daemon.start(server={"listen": [V4], "workers": 1})
    for _ in range(200):
        sock = lab.connect("c", V4)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    query = dns.message.make_query("www.example.com", "A")
    assert texts(lab.tcp(query)) == WWW
    assert texts(lab.ask()) == WWW


def test_idle_tcp_clients_make_room(lab, daemon):
    """Past the limit the one longest idle is closed; new ones are served all the time."""
    daemon.start(server={"listen": [V4], "workers": 1,
                         "tcp": {"max-connections": 8, "idle-timeout": "1s"}})
    idle = [lab.connect("c", V4) for _ in range(20)]
    try:
        query = dns.message.make_query("www.example.com", "A")
        for _ in range(3):
            assert texts(lab.tcp(query)) == WWW
        started = time.monotonic()
        assert idle[-1].recv(10) == b""
        assert time.monotonic() - started < 8, "as configured, and not after 10 s"
    finally:
        for sock in idle:
            sock.close()


def test_tcp_pipelining_of_many(lab, daemon):
    """More than fit into the server's buffers at once: all are answered, in any order."""
    daemon.start(server={"listen": [V4], "workers": 1})
    queries = [dns.message.make_query(f"n{i}.wild.example.com", "A", id=i) for i in range(3000)]
    wire = b"".join(struct.pack("!H", len(q.to_wire())) + q.to_wire() for q in queries)
    with lab.connect("c", V4) as sock:
        sender = threading.Thread(target=sock.sendall, args=(wire,))
        sender.start()
        seen = {dns.query.receive_tcp(sock, time.time() + TIMEOUT)[0].id for _ in queries}
        sender.join()
    assert seen == set(range(3000))


def test_tcp_queries_of_one_connection_are_limited(lab, daemon):
    daemon.start(server={"listen": [V4], "tcp": {"max-queries": 3}})
    query = dns.message.make_query("www.example.com", "A")
    with lab.connect("c", V4) as sock:
        for _ in range(3):
            dns.query.send_tcp(sock, query)
            assert texts(dns.query.receive_tcp(sock)[0]) == WWW
        assert sock.recv(10) == b""
    assert texts(lab.tcp(query)) == WWW
