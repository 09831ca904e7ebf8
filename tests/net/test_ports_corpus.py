# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames on the wire, on each port: frames that are not ours reach the kernel unchanged, and the
kernel handles them as always. Our queries are answered, with the same VLAN tags."""
import socket
import struct

import dns.message
import pytest

from netlab import (CLIENT4, CLIENT6, CLIENT_MAC, SERVER_MAC, SOL_PACKET, TOOLS,
                    TP_STATUS_VLAN_VALID, V4, V6, Answered, checksum, family_of, query_frame,
                    receive_frame, run, texts, wait_for)
from ports import each_port

WWW = ["192.0.2.80", "192.0.2.81"]
MARK = SERVER_MAC + CLIENT_MAC + struct.pack("!H", 0x88b5) + b"the last"
Q, AD = 0x8100, 0x88a8

# tags, and where to
PLACES = {
    "untagged": ((), V4),
    "untagged-v6": ((), V6),
    "802.1Q": (((Q, 5),), V4),
    "802.1Q-v6": (((Q, 5),), V6),
    "802.1ad": (((AD, 4094),), V4),
    "QinQ": (((AD, 7), (Q, 6)), V4),
    "QinQ-v6": (((AD, 7), (Q, 6)), V6),
    "Q in Q": (((Q, 7), (Q, 0x6006)), V4),
}
each_answerer = pytest.mark.parametrize("driver_answers", [True, False], ids=["driver", "worker"])


def corpus():
    """[(name, frame)]"""
    lines = run(TOOLS / "corpus").stdout.splitlines()
    return [(name, bytes.fromhex(text)) for name, text in (line.split("\t") for line in lines)]


def captured(kernel):
    """The next frame from outside that the server's kernel gets."""
    while True:
        frame, control, _, _ = kernel.recvmsg(65535, socket.CMSG_SPACE(20))
        for level, _, data in control:
            status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", data)
            if level == SOL_PACKET and status & TP_STATUS_VLAN_VALID:
                frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
        if frame[6:12] != SERVER_MAC:
            return frame


def captured_of(kernel, wire, sent):
    """Those of SENT that reach the kernel, sorted. A mark is sent behind them, so that none is
    missed that comes twice. GRO may change their order, and the client's kernel sends frames of its
    own."""
    frames = []
    try:
        while len(frames) < len(sent):
            frame = captured(kernel)
            frames += [frame] if frame in sent else []
        wire.send(MARK)
        while MARK not in frames:
            frame = captured(kernel)
            frames += [frame] if frame in sent or frame == MARK else []
    except TimeoutError:
        pass
    return sorted(frame for frame in frames if frame != MARK)


@each_port
@each_answerer
def test_what_is_not_ours_reaches_the_kernel_as_it_came(lab, daemon, port, driver_answers):
    port.start(daemon, driver_answers)
    frames = corpus()
    assert len(frames) == 95
    with lab.frames("s") as kernel, lab.frames("c") as wire:
        for _, frame in frames:
            wire.send(frame)
        seen = captured_of(kernel, wire, [frame for _, frame in frames])
    assert not [name for name, frame in frames if frame not in seen]
    assert seen == sorted(frame for _, frame in frames)
    assert daemon.stats()["driver"]["passed"] >= len(frames)
    assert lab.ask().answer


def malformed(daemon):
    """How many messages the kernel's sockets have thrown away."""
    return sum(port.get("malformed", 0) for port in daemon.stats()["ports"]
               if port["kind"] == "socket")


@each_port
@each_answerer
def test_ports_at_which_a_reply_is_an_attack(lab, daemon, port, driver_answers):
    """Echo, daytime, quote of the day, chargen, time: no way in answers them."""
    port.start(daemon, driver_answers)
    lab.ask()
    before, n = malformed(daemon), 0
    with lab.frames("c") as wire, Answered(daemon) as answered:
        for where in (V4, V6):
            for source_port in (7, 13, 17, 19, 37):
                wire.send(query_frame(dns.message.make_query("www.example.com", "A"), where,
                                      source_port=source_port))
                n += 1
        wait_for("kernel sockets have seen all",
                 lambda: malformed(daemon) - before + sum(
                     count - answered.before[by] for by, count in daemon.answered().items()) >= n)
    assert not answered.by
    assert malformed(daemon) - before == n


@each_port
def test_the_kernel_goes_on_with_its_own(lab, daemon, port):
    """ICMP, fragments, TCP to open and closed ports, UDP to closed ones, ARP, ND."""
    port.start(daemon)
    query = dns.message.make_query("www.example.com", "A")
    for where in (V4, V6):
        lab.ping(where)
        lab.ping(where, bytes(4000))  # in fragments
        assert texts(lab.tcp(query, where)) == WWW
        with pytest.raises(ConnectionRefusedError):
            lab.connect("c", where, 22)
        with lab.socket("c", family_of(where)) as sock:
            sock.connect((where, 54))
            sock.send(query.to_wire())
            with pytest.raises(ConnectionRefusedError):
                sock.recv(1000)
    for end, peers in (("c", (V4, V6)), ("s", (CLIENT4, CLIENT6))):
        for peer in peers:
            lab.ip(end, "neighbour", "del", peer, "dev", end + "0")
        for where in (V4, V6):
            lab.ping(where)  # the one asks the other, and its reply is for one host alone
            assert texts(lab.ask(where=where)) == WWW
    for end, mac in (("c", SERVER_MAC), ("s", CLIENT_MAC)):
        known = lab.ip(end, "neighbour", "show", "dev", end + "0").stdout
        assert known.count(mac.hex(":")) >= 2, known


def frame_of(query, place, pad=0, **kwargs):
    tags, where = place
    return query_frame(query, where, tags, **kwargs) + bytes(pad)


def read_reply(reply, place, source_port):
    """The payload of a reply to this place; all before it is checked, its sums too."""
    tags, where = place
    ipv6 = ":" in where
    at = 14 + 4 * len(tags)
    assert reply[:at] == CLIENT_MAC + SERVER_MAC + frame_tags(tags) + \
        (b"\x86\xdd" if ipv6 else b"\x08\0")
    ip, family = reply[at:], family_of(where)
    ends = socket.inet_pton(family, where) + \
        socket.inet_pton(family, CLIENT6 if ipv6 else CLIENT4)
    if ipv6:
        length, kind, hops = struct.unpack_from("!HBB", ip, 4)
        assert kind == 17 and hops >= 64 and len(ip) >= 40 + length and ip[8:40] == ends
        udp = ip[40:40 + length]
        pseudo = ends + struct.pack("!IxxxB", length, 17)
    else:
        length = struct.unpack_from("!H", ip, 2)[0] - 20
        assert ip[0] == 0x45 and ip[9] == 17 and ip[12:20] == ends and not checksum(ip[:20])
        udp = ip[20:20 + length]
        pseudo = ends + struct.pack("!xBH", 17, length)
    assert struct.unpack_from("!HHH", udp) == (53, source_port, len(udp))
    if ipv6 or udp[6:8] != b"\0\0":
        assert not checksum(pseudo + udp)
    return udp[8:]


def frame_tags(tags):
    return b"".join(struct.pack("!HH", *tag) for tag in tags)


# What a query may differ in without being another: short frames are padded; over IPv4 no sum is
# needed.
CHANGES = [{}, {"pad": 30}, {"has_sum": False}]


def check_place(lab, port, driver_answers, place, expected):
    """Asks there; how many were answered."""
    tags, where = place
    changes = CHANGES[:2] if where == V6 else CHANGES
    goes_up = tags and port.kind == "kernel_socket" and not driver_answers
    sent = []
    with lab.frames("s") as kernel, lab.frames() as wire:
        for i, change in enumerate(changes):
            query = dns.message.make_query("www.example.com", "A", id=700 + i)
            sent.append(frame_of(query, place, source_port=41000 + i, **change))
            wire.send(sent[-1])
            if not goes_up:
                payload = read_reply(receive_frame(wire), place, 41000 + i)
                assert payload == struct.pack("!H", 700 + i) + expected
        if goes_up:
            assert captured_of(kernel, wire, sent) == sorted(sent)
    return 0 if goes_up else len(changes)


@each_port
@each_answerer
def test_what_is_ours_is_answered(lab, daemon, port, driver_answers):
    """In the tags that it came in, by the driver or by a worker. Kernel sockets have no tags: there
    the frame goes to the kernel as it came, whose VLAN interface it would be."""
    port.start(daemon, driver_answers)
    expected = lab.udp_wire(dns.message.make_query("www.example.com", "A").to_wire())[2:]
    for name, place in PLACES.items():
        print(name)
        with Answered(daemon) as answered:
            n = check_place(lab, port, driver_answers, place, expected)
        assert answered.by == ({"driver" if driver_answers else port.kind: n} if n else {})
