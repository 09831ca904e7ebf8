# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Queries about generated zones, from fixed seeds: sound ones, odd ones, broken ones."""
import random
import struct

import dns.name
import dns.rdatatype

TYPES = [1, 28, 2, 6, 15, 16, 5, 33, 43, 257, 12, 65, 64, 35, 39, 48, 47, 50, 51, 46, 255, 65280,
         99]
META = [0, 41, 249, 250, 251, 252, 253, 254, 255, 128, 65535]
SIZES = [None, None, 0, 512, 513, 700, 1232, 1232, 1400, 4096, 65535]
QUERY_BATCH = 100


class Query:
    """WIRE to be asked over UDP or TCP; ZONE is where the question comes from."""

    __slots__ = ("zone", "wire", "tcp", "limit", "broken")

    def __init__(self, zone, wire, tcp, limit, broken=""):
        self.zone, self.wire, self.tcp, self.limit, self.broken = zone, wire, tcp, limit, broken


def wire_name(text):
    return dns.name.from_text(text).to_wire()


def opt(size, do=False, version=0, options=b"", ext=0, owner=b"\0"):
    return owner + struct.pack("!HHBBHH", 41, size, ext, version, 0x8000 * do,
                               len(options)) + options


def message(qname, qtype, flags=0, counts=(1, 0, 0, 0), qclass=1, tail=b""):
    return struct.pack("!6H", 0, flags, *counts) + qname + struct.pack("!HH", qtype, qclass) + tail


def mix_case(rng, name):
    """0x20: labels' letters only."""
    out, at = bytearray(name), 0
    while name[at]:
        for i in range(at + 1, at + 1 + name[at]):
            if chr(name[i]).isascii() and chr(name[i]).isalpha() and rng.random() < 0.5:
                out[i] ^= 0x20
        at += name[at] + 1
    return bytes(out)


def label(text):
    return bytes([len(text)]) + text


def around(rng, owner, origin):
    """Names next to an owner: above, below, beside, and the wildcards there."""
    yield owner
    found = [label(b"nothere") + owner, label(b"*") + owner, label(b"a") + label(b"b") + owner,
             label(b"Z" * rng.randrange(1, 64)) + owner]
    if owner != origin:
        parent = owner[owner[0] + 1:]
        first = owner[1:owner[0] + 1]
        found += [parent, label(b"nothere") + parent, label(b"*") + parent,
                  label((first + b"0")[:63]) + parent, label(first[:-1] + b"\0") + parent]
    for name in found:
        if len(name) <= 255:
            yield name


def owners(z, signed_names=()):
    """[(name, types there)] in the order of the zone file."""
    types = {}
    for owner, _, rtype, _ in z.records:
        types.setdefault(owner.lower(), set()).add(dns.rdatatype.from_text(rtype))
    return [(wire_name(o), sorted(t)) for o, t in types.items()] + \
        [(wire_name(n), [50]) for n in signed_names]


def sound(rng, z, qname, types):
    """A query that is right, with what a resolver may set."""
    qtype = rng.choice(types) if types and rng.random() < 0.45 else rng.choice(TYPES)
    if rng.random() < 0.01:
        qtype = rng.choice(META)
    size = rng.choice(SIZES)
    flags = rng.choice([0, 0, 0, 0x100, 0x100, 0x10, 0x20, 0x110])
    if rng.random() < 0.3:
        qname = mix_case(rng, qname)
    tail = b""
    if size is not None:
        options = struct.pack("!HH", 65001, 4) + b"what" if rng.random() < 0.1 else b""
        tail = opt(size, rng.random() < (0.6 if z.signing else 0.25), options=options)
    wire = message(qname, qtype, flags, (1, 0, 0, size is not None), 1, tail)
    return Query(z, wire, rng.random() < 0.22, max(512, min(size or 0, 1232)))


def pointer_names(rng):
    return rng.choice([b"\xc0\x0c", b"\xc0\x00", b"\x01a\xc0\x0c", b"\xc0\xff", b"\x40abc\0",
                       b"\x80a\0", b"\x01a\x3f", label(b"x" * 63) * 4 + b"\0"])


def broken(rng, z, qname, types):
    """One of many ways in which a message is wrong, or not a query, or not for us."""
    qtype = rng.choice(types or TYPES)
    good = message(qname, qtype)
    rr = qname + struct.pack("!HHIH", 1, 1, 60, 4) + b"abcd"
    with_opt = (1, 0, 0, 1)
    ways = {
        "opcode": lambda: message(qname, qtype, rng.randrange(1, 16) << 11),
        "class": lambda: message(qname, qtype, qclass=rng.choice([0, 2, 3, 4, 254, 255, 256,
                                                                     65535])),
        "no question": lambda: struct.pack("!6H", 0, 0, 0, 0, 0, 0),
        "no question but one": lambda: message(qname, qtype, counts=(0, 0, 0, 0)),
        "no question, OPT": lambda: struct.pack("!6H", 0, 0, 0, 0, 0, 1) + opt(1232),
        "two questions": lambda: message(qname, qtype, counts=(2, 0, 0, 0),
                                         tail=qname + struct.pack("!HH", 1, 1)),
        "second question missing": lambda: message(qname, qtype, counts=(2, 0, 0, 0)),
        "answer missing": lambda: message(qname, qtype, counts=(1, 1, 0, 0)),
        "answer in a query": lambda: message(qname, qtype, counts=(1, 1, 0, 0), tail=rr),
        "authority in a query": lambda: message(qname, qtype, counts=(1, 0, 1, 0), tail=rr),
        "additional in a query": lambda: message(qname, qtype, counts=(1, 0, 0, 1), tail=rr),
        "additional missing": lambda: message(qname, qtype, counts=(1, 0, 0, 3)),
        "cut": lambda: good[:rng.randrange(2, len(good))],
        "cut in OPT": lambda: message(qname, qtype, counts=with_opt,
                                      tail=opt(1232)[:rng.randrange(1, 11)]),
        "octets behind": lambda: good + rng.randbytes(rng.randrange(1, 20)),
        "octets behind OPT": lambda: message(qname, qtype, counts=with_opt, tail=opt(1232) + b"x"),
        "version": lambda: message(qname, qtype, counts=with_opt,
                                   tail=opt(1232, rng.random() < 0.5, rng.randrange(1, 256))),
        "extended rcode": lambda: message(qname, qtype, counts=with_opt, tail=opt(1232, ext=7)),
        "two OPTs": lambda: message(qname, qtype, counts=(1, 0, 0, 2), tail=opt(1232) + opt(512)),
        "OPT with an owner": lambda: message(qname, qtype, counts=with_opt,
                                             tail=opt(1232, owner=b"\1a\0")),
        "option too long": lambda: message(qname, qtype, counts=with_opt,
                                           tail=opt(1232, options=b"\xfe\x00\x00\x09abc")),
        "half an option": lambda: message(qname, qtype, counts=with_opt,
                                          tail=opt(1232, options=b"\xfe\x00\x00")),
        "OPT as answer": lambda: message(qname, qtype, counts=(1, 1, 0, 0), tail=opt(1232)),
        "name": lambda: message(pointer_names(rng), qtype),
        "response": lambda: message(qname, qtype, 0x8000),
        "header flags": lambda: message(qname, qtype,
                                        rng.choice([0x400, 0x200, 0x80, 0x40, 0x7f0, 3])),
        "short": lambda: rng.randbytes(2) + good[2:rng.randrange(3, 12)],
        "noise": lambda: rng.randbytes(rng.randrange(2, 60)),
    }
    way = rng.choice(list(ways))
    wire = ways[way]()
    return Query(z, wire, rng.random() < 0.1 and way not in ("short", "response"),
                 1232 if wire[10:12] == b"\0\1" else 512, way)


def queries(z, n, part=""):
    """N queries about zone Z; always the same ones."""
    rng = random.Random(f"volley queries {z.number} {part}")
    there = [(name, types) for owner, types in owners(z) for name in
             around(rng, owner, wire_name(z.origin))]
    rng.shuffle(there)
    for i in range(n):
        name, types = there[i % len(there)]
        make = broken if rng.random() < 0.04 and not z.lacks else sound
        yield make(rng, z, name, types)
