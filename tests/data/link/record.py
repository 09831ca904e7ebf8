#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""record.py XDP_OBJECT: writes messages.inc: what the kernel says of some links, octet for octet.

It makes the links, so run it by hand, as root, in network and mount namespaces of its own:

    unshare -n -m tests/data/link/record.py build/bin/xdp_pass.bpf.o > tests/data/link/messages.inc

The links: `lo`; v0, a veth whose other end v1 is in another network namespace and has a native XDP
program; v2 and v3, a veth pair, v3 a port of the bridge br0.
"""
import os
import socket
import struct
import subprocess
import sys

ROUTE, GENERIC = 0, 16
NEWLINK_ASK, STATS_ASK, CTRL = 18, 94, 16
REQUEST_ACK, DUMP = 1 | 4, 0x300
SKIP_STATS = 8
HOST = "volley-record"
COLUMNS = 22
FIRST_INDEX = 2    # of the first link after lo in a new namespace


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def attr(number, data):
    length = 4 + len(data)
    return struct.pack("=HH", length, number) + data + b"\0" * (-length % 4)


def number(value):
    return struct.pack("=I", value)


def ask(bus, kind, body, flags=0):
    """The kernel's messages, without its acknowledgement."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, bus) as sock:
        sock.bind((0, 0))
        sock.send(struct.pack("=IHHII", 16 + len(body), kind, REQUEST_ACK | flags, 1, 0) + body)
        messages = []
        while True:
            octets = sock.recv(65536)
            while octets:
                length, got = struct.unpack_from("=IH", octets)
                if got in (2, 3):
                    return messages
                messages.append(octets[:length])
                octets = octets[(length + 3) & ~3:]


def link(index, netnsid=None):
    body = struct.pack("=BxHiII", 0, 0, index, 0, 0) + attr(29, number(SKIP_STATS))
    return ask(ROUTE, NEWLINK_ASK, body + (attr(46, number(netnsid)) if netnsid is not None else b""))


def stats(index):
    return ask(ROUTE, STATS_ASK, struct.pack("=BBHII", 0, 0, 0, index, 1))


def netdev(command, attribute, index, flags=0):
    family = ask(GENERIC, CTRL, struct.pack("=BBH", 3, 1, 0) + attr(2, b"netdev\0"))[0]
    octets, at = family[20:], 0
    while struct.unpack_from("=HH", octets, at)[1] != 1:
        at += (struct.unpack_from("=H", octets, at)[0] + 3) & ~3
    number_of_family = struct.unpack_from("=H", octets, at + 4)[0]
    body = struct.pack("=BBH", command, 1, 0) + attr(attribute, number(index))
    return ask(GENERIC, number_of_family, body, flags)


def show(name, message):
    print(f'\t{{ "{name}",')
    for at in range(0, len(message), COLUMNS):
        octets = "".join(f"\\x{octet:02x}" for octet in message[at:at + COLUMNS])
        print(f'\t  "{octets}"' + ("," if at + COLUMNS >= len(message) else ""))
    print(f"\t  {len(message)} }},")


def main(xdp_object):
    ip("link", "set", "lo", "up")
    ip("netns", "add", HOST)
    try:
        ip("link", "add", "v0", "numtxqueues", "2", "numrxqueues", "2", "type", "veth", "peer", "name", "v1",
           "netns", HOST)
        ip("link", "set", "v0", "up")
        ip("-n", HOST, "link", "set", "v1", "mtu", "1400", "up")
        ip("-n", HOST, "link", "set", "v1", "xdpdrv", "obj", xdp_object, "sec", "xdp")
        ip("link", "add", "v2", "type", "veth", "peer", "name", "v3")
        ip("link", "add", "br0", "type", "bridge")
        ip("link", "set", "v3", "master", "br0")
        index = {name: socket.if_nametoindex(name) for name in ("lo", "v0", "v2", "v3", "br0")}
        print("/* SPDX-FileCopyrightText: The Volley authors */")
        print("/* SPDX-License-Identifier: GPL-2.0-or-later */")
        release = ".".join(os.uname().release.split(".")[:2])
        print(f"/* Written by record.py, with Linux {release}, not by hand. */")
        for name, at in index.items():
            show(name, link(at)[0])
        show("v1", link(FIRST_INDEX, 0)[0])
        show("stats", stats(index["lo"])[0])
        show("features", netdev(1, 1, index["v0"])[0])
        for at, message in enumerate(netdev(10, 2, index["v0"], DUMP)):
            show(f"queue {at}", message)
    finally:
        ip("netns", "del", HOST)


if __name__ == "__main__":
    main(*sys.argv[1:])
