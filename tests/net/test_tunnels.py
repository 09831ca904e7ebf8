# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Queries that a balancer forwards in a tunnel, and answers that go directly to the client.

The balancer is the client's end of the lab, with frames made here. Not every kernel has tunnel
devices: so a raw socket receives the packets that such a device would, and a tun device returns
them in the same way.
"""
import fcntl
import os
import select
import socket
import struct
import threading

import dns.message
import pytest

from netlab import (CLIENT4, CLIENT_MAC, SERVER_MAC, V4, V6, Answered, checksum, iface, query_frame,
                    receive_frame, texts, udp_packet, wait_for)

WWW = ["192.0.2.80", "192.0.2.81"]
GUE_PORT = 6080
END4, END6 = V4, V6  # the host's own addresses, which are services here, too
BALANCER4, BALANCER6 = "10.0.0.9", "100::9"
TAGS = {"plain": (), "802.1Q": ((0x8100, 5),), "QinQ": ((0x88a8, 7), (0x8100, 5))}
KINDS = ["ipip", "gue0", "gue1"]


def outer(payload, proto, to):
    """An IPv4 or IPv6 header from the balancer before a payload."""
    if ":" in to:
        ends = b"".join(socket.inet_pton(socket.AF_INET6, end) for end in (BALANCER6, to))
        return struct.pack("!IHBB", 6 << 28, len(payload), proto, 61) + ends + payload
    ends = b"".join(socket.inet_aton(end) for end in (BALANCER4, to))
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 9, 0x4000, 61, proto, 0)
    return head[:10] + struct.pack("!H", checksum(head + ends)) + ends + payload


def tunnel(packet, kind, to, port=GUE_PORT):
    proto = 41 if packet[0] >> 4 == 6 else 4
    if kind == "ipip":
        return outer(packet, proto, to)
    gue = struct.pack("!BBH", 0, proto, 0) if kind == "gue0" else b""
    udp = struct.pack("!HHHH", 50000, port, 8 + len(gue) + len(packet), 0)
    return outer(udp + gue + packet, 17, to)


def frame_of(packet, tags=()):
    ether = SERVER_MAC + CLIENT_MAC + b"".join(struct.pack("!HH", *tag) for tag in tags)
    return ether + struct.pack("!H", 0x86dd if packet[0] >> 4 == 6 else 0x0800) + packet


def start(daemon, tunnels=("ipip", "gue"), **keys):
    return daemon.start(interfaces=[iface(tunnels=list(tunnels), **keys)])


def reply_to(sock, query, where, kind, to, tags=()):
    """The frame that comes back for a query in a tunnel."""
    sock.send(frame_of(tunnel(udp_packet(query.to_wire(), where), kind, to), tags))
    return receive_frame(sock)


@pytest.mark.parametrize("tags", TAGS.values(), ids=TAGS)
@pytest.mark.parametrize("kind", KINDS)
def test_worker_and_driver_answer_directly(lab, daemon, kind, tags):
    """Each inner in each outer family: by the worker, by the driver, and as without a tunnel."""
    start(daemon)
    with lab.frames() as sock:
        for i, where in enumerate((V4, V6)):
            for to in (END4, END6):
                query = dns.message.make_query(f"www.example.{'com' if to == END4 else 'net'}", "A",
                                               id=100 + i)
                with Answered(daemon) as three:
                    by_worker = reply_to(sock, query, where, kind, to, tags)
                    by_driver = reply_to(sock, query, where, kind, to, tags)
                    sock.send(query_frame(query, where, tags))
                    plain = receive_frame(sock)
                assert by_worker == by_driver == plain
                assert three.by == ({"worker": 1, "driver": 2} if i == 0 else {"driver": 3})
                headers = 14 + 4 * len(tags) + (40 if where == V6 else 20) + 8
                assert dns.message.from_wire(plain[headers:]).answer
        assert "pass-tunnel" not in daemon.reasons()


@pytest.mark.parametrize("kind", KINDS)
def test_worker_alone(lab, daemon, kind):
    """Where the driver answers nothing all goes through the worker."""
    start(daemon, **{"driver-answers": False})
    with lab.frames() as sock, Answered(daemon) as both:
        query = dns.message.make_query("www.example.com", "A")
        for where in (V4, V6):
            for to in (END4, END6):
                in_tunnel = reply_to(sock, query, where, kind, to)
                sock.send(query_frame(query, where))
                assert in_tunnel == receive_frame(sock)
    assert both.by == {"worker": 8}


def test_large_answers(lab, daemon):
    """Whether they find room in the frame or go up: the answer is that without a tunnel."""
    start(daemon)
    with lab.frames() as sock:
        for kind in ("TXT", "DNSKEY", "MX", "ANY"):
            query = dns.message.make_query("example.com", kind, use_edns=0, payload=1232,
                                           want_dnssec=True)
            sock.send(query_frame(query))
            plain = receive_frame(sock)
            for way in KINDS:
                for to in (END4, END6):
                    assert reply_to(sock, query, V4, way, to) == plain


class KernelDevice:
    """
    What an ipip device does in the server's namespace: protocol 4 in, its packet to the stack.
    """

    def __init__(self, lab):
        with lab.inside("s"):
            self.tun = os.open("/dev/net/tun", os.O_RDWR)
            fcntl.ioctl(self.tun, 0x400454ca, struct.pack("16sH22x", b"tunl9", 0x1001))
            self.raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 4)
        lab.ip("s", "link", "set", "tunl9", "up")
        lab.exec("s", "sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0",
                 "net.ipv4.conf.tunl9.rp_filter=0")
        self.packets, (self.stop, self.stopped) = [], os.pipe()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            ready = select.select([self.raw, self.stop], [], [])[0]
            if self.stop in ready:
                return
            packet = self.raw.recv(65535)[20:]
            self.packets.append(packet)
            os.write(self.tun, packet)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.write(self.stopped, b".")
        self.thread.join()
        self.raw.close()
        for fd in (self.tun, self.stop, self.stopped):
            os.close(fd)


def tcp_syn(port=40001):
    """IPv4 and TCP: a SYN of the lab's client to the service."""
    ends = socket.inet_aton(CLIENT4) + socket.inet_aton(V4)
    tcp = struct.pack("!HHIIBBHHH", port, 53, 7, 0, 5 << 4, 2, 8192, 0, 0)
    sum_ = checksum(ends + struct.pack("!xBH", 6, len(tcp)) + tcp)
    tcp = tcp[:16] + struct.pack("!H", sum_) + tcp[18:]
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0)
    return head[:10] + struct.pack("!H", checksum(head + ends)) + ends + tcp


def test_tcp_goes_to_the_kernels_device(lab, daemon):
    """Packets that are not queries pass unchanged, and the kernel's SYN/ACK goes directly to the
    client."""
    start(daemon)
    with KernelDevice(lab) as device, lab.frames() as sock:
        syn = tcp_syn()
        sock.send(frame_of(tunnel(syn, "ipip", END4)))
        reply = receive_frame(sock)
        assert device.packets == [syn]
        ip, tcp = reply[14:34], reply[34:]
        assert (ip[9], ip[12:16], ip[16:20]) == (6, socket.inet_aton(V4), socket.inet_aton(CLIENT4))
        assert tcp[13] == 0x12 and struct.unpack("!I", tcp[8:12]) == (8,)


def test_without_a_worker_the_kernels_device_takes_it(lab, daemon):
    """With kernel sockets a miss goes the kernel's way whole, and the driver answers the next."""
    start(daemon, port="socket")
    query = dns.message.make_query("www.example.com", "A")
    with KernelDevice(lab) as device, lab.frames() as sock, Answered(daemon) as two:
        first = reply_to(sock, query, V4, "ipip", END4)
        second = reply_to(sock, query, V4, "ipip", END4)
        assert len(device.packets) == 1
        assert texts(dns.message.from_wire(first[42:])) == WWW
        assert first[42:] == second[42:]
    assert two.by == {"kernel_socket": 1, "driver": 1}


def test_what_is_not_ours_passes(lab, daemon):
    """Another end, another port, no tunnels at all: the kernel gets each packet whole."""
    daemon.start(interfaces=[iface(tunnels=["gue"], **{"gue-port": 7000})])
    query = udp_packet(dns.message.make_query("www.example.com", "A").to_wire(), V4)
    lab.ip("s", "address", "add", "198.51.100.7/32", "dev", "lo")
    with lab.socket("s", kind=socket.SOCK_DGRAM) as other, lab.frames() as sock, \
            KernelDevice(lab) as device:
        other.bind((V4, 6080))
        sock.send(frame_of(tunnel(query, "ipip", END4)))
        sock.send(frame_of(tunnel(query, "gue0", END4, 6080)))
        assert other.recv(2000)[4:] == query
        assert receive_frame(sock)[42:]  # by the device and a kernel socket
        assert device.packets == [query]
        sock.send(frame_of(tunnel(query, "gue1", END4, 7000)))
        assert receive_frame(sock)[42:]
    with Answered(daemon) as one, lab.frames() as sock:
        sock.send(frame_of(tunnel(query, "gue1", "203.0.113.77", 7000)))
        sock.send(frame_of(tunnel(b"\x55" + query[1:], "gue0", END4, 7000)[:-9]))
        sock.send(frame_of(query))
        assert receive_frame(sock)[42:]
    assert one.by == {"driver": 1}
    assert "pass-ip-length" in daemon.reasons()


def test_ends_follow_the_host(lab, daemon):
    """An address that comes and goes while volleyd runs is an end as long as it is there."""
    start(daemon)
    query = dns.message.make_query("www.example.com", "A")
    lab.ask()
    lab.ip("s", "address", "add", "198.51.100.7/32", "dev", "lo")

    def is_answered():
        with lab.frames() as sock:
            sock.settimeout(0.1)
            try:
                return bool(reply_to(sock, query, V4, "gue1", "198.51.100.7"))
            except TimeoutError:
                return False
    for is_there in (True, False):
        if not is_there:
            lab.ip("s", "address", "del", "198.51.100.7/32", "dev", "lo")
        wait_for("it is an end" if is_there else "it is none",
                 lambda expected=is_there: is_answered() == expected)


def test_only_balancers_are_believed(lab, daemon):
    """Those in the prefixes of tunnel-sources, of either family; packets of others reach the kernel
    unchanged."""
    start(daemon, **{"tunnel-sources": ["10.0.0.0/24", "100::/64"]})
    query = dns.message.make_query("www.example.com", "A")
    packet = udp_packet(query.to_wire(), V4)
    with lab.frames() as sock, Answered(daemon) as four:
        for kind, to in (("ipip", END4), ("gue0", END6), ("gue1", END4), ("ipip", END6)):
            assert texts(dns.message.from_wire(reply_to(sock, query, V4, kind, to)[42:])) == WWW
            frame = bytearray(frame_of(tunnel(packet, kind, to)))
            frame[24 if ":" in to else 28] ^= 1  # 101::9 or 10.0.1.9
            sock.send(bytes(frame))
    assert sum(four.by.values()) == 4
    wait_for("strangers have passed", lambda: daemon.reasons()["pass-tunnel-source"] == 4)


@pytest.mark.parametrize("keys, word", [
    ({"tunnels": ["gre"]}, "tunnels"), ({"tunnels": ["ipip", "ipip"]}, "tunnels"),
    ({"tunnels": ["gue"], "gue-port": 53}, "server.listen"), ({"gue-port": 0}, "gue-port"),
    ({"tunnel-sources": ["10.0.0.0/8"]}, "say tunnels, too"),
    ({"tunnels": ["ipip"], "tunnel-sources": []}, "has no prefix"),
    ({"tunnels": ["ipip"], "tunnel-sources": ["10.0.0.1/8"]}, "tunnel-sources[0]"),
    ({"tunnels": ["ipip"], "tunnel-sources": [f"10.{i}.0.0/16" for i in range(17)]},
     "16 is the most"),
    ({"return-path": "ecmp"}, "return-path")])
def test_wrong_configurations(lab, daemon, keys, word):
    daemon.configure(interfaces=[iface(**keys)])
    status, said = daemon.run_failing()
    assert status == 2 and word in said
