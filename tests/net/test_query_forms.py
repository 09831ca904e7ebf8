# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Queries for random names, in each form that an attacker may choose: which of them the driver
answers, and which go to workers. docs/abuse.md has the same table ("Forms of queries")."""
import random
import struct

from netlab import V4, zone

N = 20
LABELS = random.Random(1)
COOKIE = struct.pack("!HH", 10, 8) + b"12345678"
SOA, TYPE128, IXFR = 6, 128, 251
DO, RECORD = 0x8000, b"\0" + struct.pack("!HHIH", 1, 1, 0, 4) + b"\xc0\0\2\1"


def message(apex="example.com", *, qtype=1, qclass=1, flags=0, edns=(1232, 0), options=b"",
            record=b"", rest=b""):
    """A query for a random name. edns: size, and TTL of OPT; record: one before OPT."""
    label = "".join(LABELS.choices("bcdfghjklmnp", k=12))
    name = b"".join(bytes([len(part)]) + part.encode() for part in f"{label}.{apex}".split("."))
    opt = b"\0" + struct.pack("!HHIH", 41, *edns, len(options)) + options
    return (struct.pack("!6H", LABELS.randrange(65536), flags, 1, 0, 0, 1 + bool(record)) + name +
            b"\0" + struct.pack("!HH", qtype, qclass) + record + opt + rest)


DRIVER = {
    "plain": {},
    "DO, a size of 512": {"apex": "signed-nsec.example", "edns": (512, DO)},
    "type 128": {"qtype": TYPE128},
    "type MAILB": {"qtype": 253},
    "the Z bit": {"flags": 0x0040},
    "AA, TC, RA and a response code": {"flags": 0x0687},
    "upper bits of a response code": {"edns": (1232, 0xff << 24)},
    "nine options": {"options": struct.pack("!HH", 65001, 0) * 9},
    "300 options": {"options": struct.pack("!HH", 65001, 0) * 300},
    "two cookies": {"options": COOKIE * 2},
    "a cookie, and a malformed one": {"options": COOKIE + struct.pack("!HHB", 10, 1, 0)},
    "EXPIRE": {"options": struct.pack("!HH", 9, 0)},
    "EXPIRE, type SOA": {"options": struct.pack("!HH", 9, 0), "qtype": SOA},
    "600 octets of padding": {"options": struct.pack("!HH", 12, 600) + bytes(600)},
    "octets behind the message": {"rest": b"x" * 30},
}
WORKERS = {
    "one more record": {"record": RECORD},
    "class CH": {"qclass": 3},
    "IXFR": {"qtype": IXFR},
    "a malformed cookie": {"options": struct.pack("!HHB", 10, 1, 0)},
    "EDNS version 1": {"edns": (1232, 1 << 16)},
    "opcode STATUS": {"flags": 2 << 11},
}


def by_driver(lab, daemon, form):
    """How many of N such queries the driver answers. Each gets an answer."""
    before = daemon.stats()["driver"]["hit"]
    with lab.socket("c") as sock:
        for _ in range(N):
            sock.sendto(message(**form), (V4, 53))
            sock.recv(4096)
    return daemon.stats()["driver"]["hit"] - before


def test_random_names(lab, daemon):
    """All but one in 1,024, which is handed up to be compared, and the first of a zone or an
    interval, which workers answer."""
    daemon.start(cache={"size": "8M", "names": "128K", "intervals": "128K"},
                 zones=[zone("example.com"), zone("signed-nsec.example")],
                 rrl={"answers": 0, "octets": 0})
    for form in (DRIVER["plain"], {**DRIVER["plain"], "apex": "signed-nsec.example",
                                   "edns": (1232, DO)}):
        for _ in range(4):
            by_driver(lab, daemon, form)
    for name, form in DRIVER.items():
        assert by_driver(lab, daemon, form) >= N - 4, (name, daemon.reasons())
    for name, form in WORKERS.items():
        assert by_driver(lab, daemon, form) == 0, name
