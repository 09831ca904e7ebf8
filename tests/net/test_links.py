# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Interfaces that come, go and change, and those on top of others: bridge, port, macvlan, tap."""
import contextlib
import fcntl
import os
import select
import struct
import time

import dns.edns
import dns.flags
import dns.message
import pytest

from netlab import (BIN, SERVER_MAC, TIMEOUT, TOOLS, V4, V6, Answered, driver_counters, iface,
                    program, query_frame, receive_frame, run, texts, wait_for, write_zone, zone)
from ports import PORTS

WWW = ["192.0.2.80", "192.0.2.81"]
TUNSETIFF, IFF_TUN, IFF_TAP, IFF_NO_PI = 0x400454ca, 1, 2, 0x1000
ABOVE_ONE_BUFFER = 3500  # and not above what a veth takes whose peer has a program
JUMBO = TOOLS.parent / "jumbo.bpf.o"
TAP_MAC = "02:00:00:00:01:53"


def driver_and_worker(lab, daemon, where=V4, name="www.example.com", data=None):
    """A miss by AF_XDP, then a hit in the driver."""
    with Answered(daemon) as two:
        for _ in range(2):
            assert texts(lab.ask(name, where=where)) == (data or WWW)
    assert two.by == {"worker": 1, "driver": 1}


# --- Coming and going -----------------------------------------------------------------------------


def test_renamed_and_back(lab, daemon):
    daemon.start()
    lab.ask()
    rename = [("down",), ("name", "t0"), ("up",)]
    for words in rename:
        lab.ip("s", "link", "set", "t0" if words == ("up",) else "s0", *words)
    wait_for("it is gone", lambda: daemon.interface()["state"] == "gone")
    assert program(lab, "t0") is None
    assert "s0: no such interface; kernel sockets answer" in daemon.degraded()
    wait_for("the link is up", lab.is_answered)
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"kernel_socket": 1}
    for words in [("down",), ("name", "s0"), ("up",)]:
        lab.ip("s", "link", "set", "s0" if words == ("up",) else "t0", *words)
    wait_for("it is back", lambda: daemon.interface()["state"] == "up")
    wait_for("the link is up", lab.is_answered)
    driver_and_worker(lab, daemon, name="mail.example.com", data=["192.0.2.25"])


def replace(lab):
    """Another veth of the same names, with other numbers."""
    lab.ip("s", "link", "del", "s0")
    lab.ip("c", "link", "add", "c0", "address", "02:00:00:00:00:01", "type", "veth", "peer", "name",
           "s0", "netns", f"{lab.name}-s", "address", "02:00:00:00:00:53")
    for end, host, other in (("c", 1, 53), ("s", 53, 1)):
        lab.exec(end, "ethtool", "-K", f"{end}0", "tx", "off", "gro", "on")
        lab.ip(end, "address", "add", f"192.0.2.{host}/24", "dev", f"{end}0")
        lab.ip(end, "link", "set", f"{end}0", "up")
        lab.ip(end, "neighbour", "replace", f"192.0.2.{other}", "lladdr",
               f"02:00:00:00:00:{other:02}", "dev", f"{end}0", "nud", "permanent")
    lab.exec("c", "ip", "link", "set", "dev", "c0", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o", "sec",
             "xdp")


def test_replaced_by_another(lab, daemon):
    """The name is the same, the number is not."""
    daemon.start()
    lab.ask()
    before = daemon.interface()
    replace(lab)
    wait_for("the new one is known", lambda: daemon.interface()["state"] == "up" and
             daemon.interface()["ifindex"] != before["ifindex"])
    wait_for("the link is up", lab.is_answered)
    with Answered(daemon) as two:
        assert texts(lab.ask()) == WWW
        assert texts(lab.ask("mail.example.com")) == ["192.0.2.25"]
    assert two.by.get("worker") == 1 and sum(two.by.values()) == 2
    lab.put_v6_back()
    wait_for("no remark", lambda: not daemon.degraded())


@contextlib.contextmanager
def other_namespace(lab):
    name = f"{lab.name}-x"
    run("ip", "netns", "add", name)
    try:
        yield name
    finally:
        run("ip", "netns", "delete", name)


def n_replies(lab, n=5):
    """How many of n questions, as frames to s0 wherever it is, bring a frame back."""
    with lab.frames() as sock:
        sock.settimeout(0.3)
        for _ in range(n):
            sock.send(query_frame(dns.message.make_query("www.example.com", "A")))
        replies = 0
        with contextlib.suppress(TimeoutError):
            while True:
                frame = sock.recv(65535)
                replies += frame[6:12] == SERVER_MAC and frame[23] == 17 and frame[
                    34:36] == b"\0\x35"
    return replies


@pytest.mark.parametrize("load", ["volleyd", "ip-link"])
def test_moved_to_another_namespace(lab, daemon, load):
    """It is no longer ours until it returns: no host there expects our answers, and no volleyd
    could stop them."""
    if load == "ip-link":
        lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "volley.bpf.o",
                 "sec", "xdp")
    daemon.start()
    for _ in range(2):
        lab.ask()
    number = program(lab)["id"]
    with other_namespace(lab) as there:
        lab.ip("s", "link", "set", "dev", "s0", "netns", there)
        wait_for("it is gone", lambda: daemon.interface()["state"] == "gone")
        run("ip", "-n", there, "link", "set", "dev", "s0", "up")
        wait_for("its link", lambda: "LOWER_UP" in lab.ip("c", "link", "show", "dev", "c0").stdout)
        hits = driver_counters(number)
        assert n_replies(lab) == 0
        after = driver_counters(number)
        assert after["received"] > hits["received"] and after["hit"] == hits["hit"]
        run("ip", "-n", there, "link", "set", "dev", "s0", "netns", f"{lab.name}-s")
    lab.ip("s", "link", "set", "dev", "s0", "up")
    wait_for("it is back", lambda: daemon.interface()["state"] == "up")
    assert daemon.interface()["driver_answers"]
    wait_for("it answers", lambda: n_replies(lab) == 5)


def test_down_at_the_start(lab, daemon):
    lab.ip("s", "link", "set", "s0", "down")
    daemon.start()
    assert not lab.is_answered()
    lab.ip("s", "link", "set", "s0", "up")
    wait_for("the link is up", lab.is_answered)
    wait_for("all is as configured", lambda: daemon.interface()["state"] == "up")
    driver_and_worker(lab, daemon, name="mail.example.com", data=["192.0.2.25"])


def test_another_mtu(lab, daemon):
    """The room for a reply goes by the MTU: sockets are made anew, and nothing else changes."""
    daemon.start()
    lab.ask()
    for end in ("s", "c"):
        lab.ip(end, "link", "set", f"{end}0", "mtu", 1400)
    wait_for("a new socket", lambda: daemon.log().count("AF_XDP on 1 queue(s)") == 2)
    driver_and_worker(lab, daemon, name="mail.example.com", data=["192.0.2.25"])


def packet_of(wire, where):
    """
    The packet that answers a query whose frame is padded, so that the driver has room for 1420
    octets.
    """
    query = dns.message.make_query("large.z.test", "TXT", use_edns=0, payload=4096)
    wire.send(query_frame(query, where) + bytes(1200))
    return receive_frame(wire)[14:]


ANSWERERS = [("driver", PORTS[0])] + [("worker", port) for port in PORTS if port.kind == "worker"]


@pytest.mark.parametrize("kind, port", ANSWERERS, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("where, headers", [(V4, 28), (V6, 48)])
def test_no_reply_is_longer_than_the_mtu(lab, daemon, tmp_path, where, headers, kind, port):
    """Driver and workers keep to it, also when it changes: 1420 octets of DNS, and max-udp-size has
    room for them."""
    text = " ".join([f'"{"x" * 255}"'] * 5 + [f'"{"x" * 86}"'])
    path = write_zone(tmp_path / "z.zone", more=f"large IN TXT {text}\n")
    port.start(daemon, kind == "driver", server={"max-udp-size": 1432},
               zones=[zone("z.test", path)])
    with lab.frames() as wire:
        for mtu in (1500, 1400, 1420 + headers, 1419 + headers, 1300):
            lab.ip("s", "link", "set", "s0", "mtu", mtu)
            is_whole = mtu - headers >= 1420

            def is_known(wanted=is_whole):
                with Answered(daemon) as one:
                    packet = packet_of(wire, where)
                return one.by == {kind: 1} and (len(packet) == 1420 + headers) == wanted and packet

            packet = wait_for(f"the MTU of {mtu} is kept", is_known)
            reply = dns.message.from_wire(packet[headers:])
            assert bool(reply.flags & dns.flags.TC) != is_whole and len(packet) <= mtu


def test_an_mtu_above_one_buffer(lab, daemon):
    """
    The driver is asked again, once: a veth takes the program natively with any MTU of its own.
    """
    daemon.start()
    driver_and_worker(lab, daemon)
    lab.ip("s", "link", "set", "s0", "mtu", ABOVE_ONE_BUFFER)
    wait_for("attached again",
             lambda: f"s0: its MTU is {ABOVE_ONE_BUFFER}: the XDP program is attached again" in daemon.log())
    wait_for("as before", lambda: daemon.interface()["state"] == "up")
    driver_and_worker(lab, daemon, name="mail.example.com", data=["192.0.2.25"])
    lab.ip("s", "link", "set", "s0", "mtu", 1500)
    time.sleep(2.5)  # looks, which find nothing to do
    driver_and_worker(lab, daemon, name="MixedCase.example.com", data=["192.0.2.99"])
    assert daemon.log().count("the XDP program is attached again") == 1
    assert daemon.interface()["xdp"] == "native" and not daemon.degraded()


def test_an_mtu_above_one_buffer_with_a_program_by_hand(lab, daemon):
    """volleyd must not remove it, and prints the command to type instead."""
    lab.ip("s", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "volley.bpf.o", "sec", "xdp")
    daemon.start()
    driver_and_worker(lab, daemon)
    lab.ip("s", "link", "set", "s0", "mtu", ABOVE_ONE_BUFFER)
    wait_for("it is said",
             lambda: f"MTU {ABOVE_ONE_BUFFER}" in daemon.degraded()
             and "s0 xdp off" in daemon.degraded())
    lab.ip("s", "link", "set", "s0", "mtu", 1500)
    wait_for("and taken back", lambda: not daemon.degraded())


def test_jumbo_frames_natively(lab, daemon):
    """Queries that fit one buffer are answered as usual. The kernel gets a query in several
    buffers, and all larger packets."""
    lab.exec("c", "ip", "link", "set", "dev", "c0", "xdpdrv", "off")
    for end in ("c", "s"):
        lab.ip(end, "link", "set", f"{end}0", "mtu", 9000)
    lab.exec("c", "ip", "link", "set", "dev", "c0", "xdpdrv", "obj", JUMBO, "sec", "xdp.frags")
    daemon.start(interfaces=[iface(xdp="auto")])
    seen = daemon.interface()
    assert (seen["state"], seen["xdp"], seen["port"]) == ("up", "native", "xsk"), seen
    assert "note" not in seen or "no native" not in seen["note"]
    driver_and_worker(lab, daemon)
    lab.ping(V4, bytes(8000))
    with Answered(daemon) as two:
        for n_octets in (3700, 8000):
            padding = dns.edns.GenericOption(12, bytes(n_octets))
            query = dns.message.make_query("www.example.com", "A", use_edns=0, options=[padding])
            answer = lab.udp_wire(query.to_wire(max_size=9000), V4)
            assert texts(dns.message.from_wire(answer)) == WWW
    assert two.by == {"kernel_socket": 2}
    query = query_frame(dns.message.make_query("www.example.com", "A"))
    with Answered(daemon) as one, lab.frames() as wire:
        wire.send(query + bytes(6000))  # which is in one buffer, and goes on in others
        assert dns.message.from_wire(receive_frame(wire)[42:]).answer
    assert one.by == {"kernel_socket": 1}
    for size, name, data in (("24M", "mail.example.com", "192.0.2.25"),
                             ("16M", "MixedCase.example.com", "192.0.2.99")):
        before = daemon.interface()["program_id"]
        daemon.ctl("cache", "resize", size)  # puts another program in its place
        wait_for("another program", lambda known=before: daemon.interface()["program_id"] != known)
        driver_and_worker(lab, daemon, name=name, data=[data])
        assert daemon.interface()["xdp"] == "native" and not daemon.degraded()
        daemon.kill()
        daemon.start(interfaces=[iface(xdp="auto")], cache={"size": size})
        assert daemon.interface()["origin"] == "adopted"


def test_frames_are_seen(lab, daemon):
    """Packets that are not queries are seen, too: the card's driver shows all to the program, which
    stays."""
    daemon.start()
    before = program(lab)
    for _ in range(4):
        for _ in range(10):
            lab.ping(V4)
        time.sleep(0.8)
    assert program(lab) == before
    assert "attached anew" not in daemon.log()


# --- Those that stand on others -------------------------------------------------------------------


def into_bridge(lab):
    """s0 becomes a port of br0, which has the addresses and a MAC of its own."""
    lab.ip("s", "link", "add", "br0", "address", TAP_MAC, "type", "bridge", "stp_state", "0",
           "forward_delay", "0")
    lab.ip("s", "link", "set", "br0", "up")
    lab.ip("s", "address", "del", f"{V4}/24", "dev", "s0")
    lab.ip("s", "link", "set", "s0", "master", "br0")
    lab.ip("s", "address", "add", f"{V4}/24", "dev", "br0")
    lab.ip("s", "neighbour", "replace", "192.0.2.1", "lladdr", "02:00:00:00:00:01", "dev", "br0",
           "nud", "permanent")
    lab.ip("c", "neighbour", "replace", V4, "lladdr", TAP_MAC, "dev", "c0", "nud", "permanent")
    wait_for("the port forwards", lambda: "forwarding" in
             lab.exec("s", "bridge", "link", "show", "dev", "s0").stdout)


def test_a_port_of_a_bridge(lab, daemon):
    """Frames for the host are for the bridge: the driver answers those, natively."""
    into_bridge(lab)
    daemon.start()
    assert daemon.interface()["xdp"] == "native"
    driver_and_worker(lab, daemon)


def test_into_a_bridge_and_out(lab, daemon):
    """The same while it runs; and frames to the port alone are the bridge's to hand on."""
    daemon.start()
    driver_and_worker(lab, daemon)
    into_bridge(lab)
    wait_for("the driver knows the bridge's address", lambda: in_the_driver(lab, daemon))
    lab.ip("s", "link", "set", "br0", "address", "02:00:00:00:02:53")
    lab.ip("c", "neighbour", "replace", V4, "lladdr", "02:00:00:00:02:53", "dev", "c0", "nud",
           "permanent")
    wait_for("its new one", lambda: in_the_driver(lab, daemon))


def in_the_driver(lab, daemon):
    with Answered(daemon) as one:
        lab.is_answered(timeout=1)
    return one.by == {"driver": 1}


def test_a_bridge(lab, daemon):
    into_bridge(lab)
    daemon.start(interfaces=[iface("br0", xdp="auto")])
    seen = daemon.interface("br0")
    assert (seen["state"], seen["xdp"], seen["port"]) == ("up", "generic", "xsk")
    assert "is a bridge: name its ports" in seen["note"]
    driver_and_worker(lab, daemon)


def test_a_macvlan(lab, daemon):
    lab.ip("s", "link", "add", "mv0", "link", "s0", "address", TAP_MAC, "type", "macvlan", "mode",
           "bridge")
    lab.ip("s", "link", "set", "mv0", "up")
    lab.ip("s", "address", "add", "198.51.100.53/24", "dev", "mv0")
    lab.ip("c", "address", "add", "198.51.100.1/24", "dev", "c0")
    lab.ip("c", "neighbour", "replace", "198.51.100.53", "lladdr", TAP_MAC, "dev", "c0", "nud",
           "permanent")
    daemon.start(server={"listen": ["198.51.100.53"]}, interfaces=[iface("mv0", xdp="auto")])
    seen = daemon.interface("mv0")
    assert (seen["state"], seen["xdp"], seen["port"]) == ("up", "generic", "xsk")
    driver_and_worker(lab, daemon, where="198.51.100.53")


@contextlib.contextmanager
def tun(lab, name, flags):
    """
    The descriptor of a tun or tap device in the server's namespace, with an address of its own.
    """
    with lab.inside("s"):
        fd = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), flags | IFF_NO_PI))
    try:
        if flags == IFF_TAP:
            lab.ip("s", "link", "set", name, "address", TAP_MAC)
        lab.ip("s", "address", "add", "198.51.100.53/24", "dev", name)
        lab.ip("s", "link", "set", name, "up")
        yield fd
    finally:
        os.close(fd)


def exchange(fd, query):
    """A query's frame into a tap, and the payload of the first UDP frame that comes out."""
    os.write(fd, bytes.fromhex(TAP_MAC.replace(":", "")) + query_frame(query, "198.51.100.53")[6:])
    while True:
        assert select.select([fd], [], [], TIMEOUT)[0], "no answer"
        got = os.read(fd, 4096)
        if got[12:14] == b"\x08\x00" and got[23] == 17:
            return dns.message.from_wire(got[42:])


def test_a_tap(lab, daemon):
    """Natively, as the kernel has it since 5.0 or so, with AF_XDP copying."""
    with tun(lab, "tap0", IFF_TAP) as fd:
        daemon.start(server={"listen": ["198.51.100.53"]}, interfaces=[iface("tap0")])
        seen = daemon.interface("tap0")
        assert (seen["state"], seen["xdp"], seen["port"]) == ("up", "native", "xsk")
        with Answered(daemon) as two:
            for _ in range(2):
                assert texts(exchange(fd, dns.message.make_query("www.example.com", "A"))) == WWW
        assert two.by == {"worker": 1, "driver": 1}


@pytest.mark.parametrize("xdp", ["auto", "generic"])
def test_a_tun(lab, daemon, xdp):
    """Its packets have no Ethernet header, which the program would look for."""
    with tun(lab, "tun0", IFF_TUN):
        daemon.start(server={"listen": ["198.51.100.53", V4]},
                     interfaces=[iface("tun0", xdp=xdp), iface()])
        assert "tun0: its frames are not Ethernet; kernel sockets answer" in daemon.degraded()
        assert program(lab, "tun0") is None
        driver_and_worker(lab, daemon)
