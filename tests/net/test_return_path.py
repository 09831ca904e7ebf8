# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""return-path: fib: answers leave by the interface and next hop of the routing table, or the kernel
answers.

    c0 02:..:01 ── s0   192.0.2.0/24, 2001:db8::/64
    c1 02:..:02 ── s1   198.51.100.0/24, 2001:db8:1::/64
"""
import socket
import struct

import dns.message
import pytest

from netlab import (CLIENT4, CLIENT6, CLIENT_MAC, SERVER_MAC, V4, V6, Answered, checksum, iface,
                    query_frame, receive_frame, udp_packet, wait_for)
from test_tunnels import END4, frame_of, tunnel

BALANCER_MAC = bytes.fromhex("020000000099")
FAR_MAC = bytes.fromhex("020000000002")
FAR = {V4: "198.51.100.1", V6: "2001:db8:1::1"}


def query_of(number=7):
    return dns.message.make_query("www.example.com", "A", id=number)


def frame_from(client, where=V4, mac=CLIENT_MAC, number=7):
    """A query with this client's address, from a host that forwards it."""
    packet = bytearray(udp_packet(query_of(number).to_wire(), where))
    if ":" in where:
        packet[8:24] = socket.inet_pton(socket.AF_INET6, client)
    else:
        packet[12:16] = socket.inet_aton(client)
    frame = bytearray(frame_of(bytes(packet)))
    frame[6:12] = mac
    return bytes(mended(frame))


def mended(frame):
    """With the checksums of an IPv4 or IPv6 packet with UDP in it."""
    ip = frame[14:]
    ipv6 = ip[0] >> 4 == 6
    at = 40 if ipv6 else 20
    if not ipv6:
        ip[10:12] = bytes(2)
        ip[10:12] = struct.pack("!H", checksum(bytes(ip[:20])))
    ip[at + 6:at + 8] = bytes(2)
    ends = bytes(ip[8:40] if ipv6 else ip[12:20])
    pseudo = ends + struct.pack("!IHBB", len(ip) - at, 0, 0, 17)
    ip[at + 6:at + 8] = struct.pack("!H", checksum(pseudo + bytes(ip[at:])) or 0xffff)
    return frame[:14] + ip


@pytest.fixture
def routed(lab):
    """The second link, and forwarding on lo alone."""
    lab.ip("c", "link", "add", "c1", "address", "02:00:00:00:00:02", "type", "veth",
           "peer", "name", "s1", "address", "02:00:00:00:00:54", "netns", f"{lab.name}-s")
    for end, host, mac in (("c", 1, "02:00:00:00:00:54"), ("s", 53, "02:00:00:00:00:02")):
        dev, peer = end + "1", 54 - host
        lab.exec(end, "sysctl", "-qw", f"net.ipv6.conf.{dev}.accept_dad=0",
                 f"net.ipv4.conf.{dev}.rp_filter=0", "net.ipv4.conf.all.rp_filter=0",
                 f"net.ipv4.conf.{end}0.rp_filter=0")
        lab.exec(end, "ethtool", "-K", dev, "tx", "off")
        lab.ip(end, "address", "add", f"198.51.100.{host}/24", "dev", dev)
        lab.ip(end, "address", "add", f"2001:db8:1::{host}/64", "dev", dev, "nodad")
        lab.ip(end, "link", "set", dev, "up")
        for where in (f"198.51.100.{peer}", f"2001:db8:1::{peer}"):
            lab.ip(end, "neighbour", "replace", where, "lladdr", mac, "dev", dev, "nud",
                   "permanent")
    forward(lab, 1)
    return lab


def forward(lab, is_on):
    lab.exec("s", "sysctl", "-qw", f"net.ipv4.conf.lo.forwarding={is_on}",
             f"net.ipv6.conf.lo.forwarding={is_on}")


def start(daemon, **keys):
    return daemon.start(interfaces=[iface(**{"return-path": "fib", **keys})])


def far_frames(lab):
    sock = lab.socket("c", socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.bind(("c1", 3))
    return sock


def answer_at_c1(sock):
    """The next answer that comes by the second link."""
    while True:
        frame = sock.recv(2000)
        if frame[12:14] in (b"\x08\x00", b"\x86\xdd") and frame[23 if frame[12] == 8 else 20] == 17:
            return frame


@pytest.mark.parametrize("where", [V4, V6])
def test_the_same_way_is_answered_by_worker_and_driver(routed, daemon, where):
    start(daemon)
    with Answered(daemon) as two, routed.frames() as sock:
        replies = []
        for _ in range(2):
            sock.send(query_frame(query_of(), where))
            replies.append(receive_frame(sock))
    assert replies[0] == replies[1]
    assert two.by == {"worker": 1, "driver": 1}


@pytest.mark.parametrize("where", [V4, V6])
def test_another_way_is_the_kernels(routed, daemon, where):
    """It comes by s0, and the answer leaves by s1; with swap it goes back by s0."""
    start(daemon)
    with Answered(daemon) as two, routed.frames() as near, far_frames(routed) as far:
        for _ in range(2):
            near.send(frame_from(FAR[where], where))
            answer = answer_at_c1(far)
            assert answer[:6] == FAR_MAC
            assert dns.message.from_wire(answer[(62 if where == V6 else 42):]).answer
    assert two.by == {"kernel_socket": 2}
    assert daemon.reasons()["pass-return"] == 2


def test_swap_is_the_default(routed, daemon):
    daemon.start()
    with Answered(daemon) as two, routed.frames() as near:
        for _ in range(2):
            near.send(frame_from(FAR[V4]))
            assert receive_frame(near)[30:34] == socket.inet_aton(FAR[V4])
    assert two.by == {"worker": 1, "driver": 1}


@pytest.mark.parametrize("where", [V4, V6])
@pytest.mark.parametrize("tunnels", [[], ["ipip"]], ids=["plain", "ipip"])
def test_the_next_hop_gets_it(routed, daemon, tunnels, where):
    """The next hop is the client itself or its gateway, not the router or balancer that forwarded
    the query."""
    start(daemon, tunnels=tunnels)
    gateway, prefix, beyond = ("2001:db8::1", "2001:db8:9::/48", "2001:db8:9::9") \
        if where == V6 else (CLIENT4, "203.0.113.0/24", "203.0.113.9")
    routed.ip("s", "route", "add", prefix, "via", gateway)
    with Answered(daemon) as four, routed.frames() as sock:
        for client in (gateway, beyond):
            for _ in range(2):
                frame = frame_from(client, where, BALANCER_MAC)
                if tunnels:
                    wrapped = frame_of(tunnel(frame[14:], "ipip", END4))
                    frame = wrapped[:6] + BALANCER_MAC + wrapped[12:]
                sock.send(frame)
                reply = receive_frame(sock)
                assert (reply[:6], reply[6:12]) == (CLIENT_MAC, SERVER_MAC)
                at, n = (38, 16) if where == V6 else (30, 4)
                assert reply[at:at + n] == socket.inet_pton(
                    socket.AF_INET6 if where == V6 else socket.AF_INET, client)
    assert four.by == {"worker": 1, "driver": 3}


def test_rules_are_those_for_the_hosts_own(routed, daemon):
    """
    Of policy routing: from the service's address, and what only packets of the host itself meet.
    """
    start(daemon)
    routed.ip("s", "route", "add", "192.0.2.0/24", "via", FAR[V4], "dev", "s1", "table", "77")
    with routed.frames() as near, far_frames(routed) as far:
        near.send(query_frame(query_of()))
        receive_frame(near)
        for rule in (["from", V4], ["iif", "lo", "to", CLIENT4]):
            routed.ip("s", "rule", "add", *rule, "table", "77", "priority", "10")
            with Answered(daemon) as one:
                near.send(query_frame(query_of()))
                assert answer_at_c1(far)
            assert one.by == {"kernel_socket": 1}
            routed.ip("s", "rule", "del", "priority", "10")
        with Answered(daemon) as one:
            near.send(query_frame(query_of()))
            receive_frame(near)
        assert one.by == {"driver": 1}


def passed(routed, daemon, frame):
    """How many of this frame, sent once, pass for the way back."""
    before = daemon.reasons().get("pass-return", 0)
    with routed.frames() as sock:
        sock.send(frame)
        sock.send(query_frame(query_of()))
        receive_frame(sock)
    return daemon.reasons().get("pass-return", 0) - before


def test_what_the_table_cannot_tell_passes(routed, daemon):
    """A neighbour that is not known, no route, a blackhole, a VLAN tag."""
    start(daemon)
    routed.ip("s", "route", "add", "blackhole", "203.0.113.0/24")
    for client in ("192.0.2.77", "100.64.0.1", "203.0.113.1"):
        assert passed(routed, daemon, frame_from(client)) == 1
    assert passed(routed, daemon, query_frame(query_of(), V4, ((0x8100, 5),))) == 1
    assert passed(routed, daemon, query_frame(query_of())) == 0


def test_without_forwarding_kernel_sockets_answer(routed, daemon):
    """And volleyd says what to do."""
    forward(routed, 0)
    start(daemon)
    assert "net.ipv4.conf.lo.forwarding" in daemon.degraded()
    with Answered(daemon) as two:
        for where in (V4, V6):
            assert routed.ask(where=where).answer
    assert two.by == {"kernel_socket": 2}


@pytest.mark.parametrize("where, client, other", [(V4, CLIENT4, "192.0.2.99"),
                                                  (V6, CLIENT6, "2001:db8::99")])
def test_a_next_hop_whose_mac_has_changed(routed, daemon, where, client, other):
    """The kernel probes the next hops that the driver uses, like those that it uses itself, and no
    others."""
    family = "ipv6" if where == V6 else "ipv4"
    routed.exec("s", "sysctl", "-qw", f"net.{family}.neigh.s0.delay_first_probe_time=1",
                f"net.{family}.neigh.s0.retrans_time_ms=100")
    start(daemon)
    with Answered(daemon) as two:
        for _ in range(2):
            assert routed.ask(where=where).answer
    assert two.by == {"worker": 1, "driver": 1}
    for neighbour, mac in ((client, BALANCER_MAC), (other, SERVER_MAC)):
        routed.ip("s", "neighbour", "replace", neighbour, "lladdr", mac.hex(":"), "dev", "s0",
                  "nud", "stale")
    assert not routed.is_answered(where=where)
    wait_for("the next hop's new address", lambda: routed.is_answered(where=where), 30)
    with Answered(daemon) as one:
        assert routed.ask(where=where).answer
    assert one.by == {"driver": 1}
    assert "STALE" in routed.ip("s", "neighbour", "show", other).stdout
