# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A reply taken apart so that what does not matter is gone: compression, order and letter case.

A record is (owner, type, class, ttl, rdata), with names in lower case wire form. dnspython does the
same twenty times slower, which counts at a million replies.
"""
import struct

A, NS, CNAME, SOA, AAAA, DNAME, OPT, DS, RRSIG, NSEC, NSEC3, ANY = (1, 2, 5, 6, 28, 39, 41, 43, 46,
                                                                    47, 50, 255)
QR, AA, TC, RD, RA, AD, CD = 0x8000, 0x400, 0x200, 0x100, 0x80, 0x20, 0x10

# Where names stand in the rdata of the types that may be compressed or compare without case
# (RFC 1035, 3597 section 4, 6840 section 5.1): octets before, number of names, rest.
NAMES = {NS: (0, 1), CNAME: (0, 1), SOA: (0, 2), 12: (0, 1), 15: (2, 1), DNAME: (0, 1), 17: (0, 2),
         18: (2, 1), 21: (2, 1), 26: (2, 2), 33: (6, 1), 36: (2, 1), 7: (0, 1), 8: (0, 1),
         9: (0, 1), 14: (0, 2), 3: (0, 1), 4: (0, 1), RRSIG: (18, 1)}


class Malformed(Exception):
    """A reply that is no DNS message."""


def name_at(msg, at, seen):
    """(name in lower case, offset behind it). SEEN: {offset: name} of what pointers led to."""
    start, labels, end = at, [], 0
    while True:
        n = msg[at]
        if n >= 0xc0:
            target = (n & 0x3f) << 8 | msg[at + 1]
            end = end or at + 2
            if target >= start:
                raise Malformed("a pointer that does not lead back")
            if target not in seen:
                seen[target] = name_at(msg, target, seen)[0]
            labels.append(seen[target])
            break
        if n > 63:
            raise Malformed("a label of a type that does not exist")
        labels.append(msg[at:at + n + 1])
        at += n + 1
        if not n:
            break
    name = b"".join(labels).lower()  # no length of a label is a letter
    if len(name) > 255:
        raise Malformed("a name of more than 255 octets")
    return name, end or at


def rdata_at(msg, at, n, rtype, seen):
    place = NAMES.get(rtype)
    if not place or n == 0:
        return msg[at:at + n]
    end = at + n
    found, at = [msg[at:at + place[0]]], at + place[0]
    for _ in range(place[1]):
        name, at = name_at(msg, at, seen)
        found.append(name)
    if at > end:
        raise Malformed("rdata that is longer than it says")
    found.append(msg[at:end])
    return b"".join(found)


class Answer:
    """A reply's parts."""

    __slots__ = ("wire", "rcode", "flags", "question", "sections", "opt", "n_records")

    def __init__(self, wire):
        self.wire = wire
        try:
            self.read(wire)
        except (IndexError, struct.error) as error:
            raise Malformed("it ends too soon") from error

    def read(self, msg):
        _, self.flags, n_questions, *self.n_records = struct.unpack_from("!6H", msg)
        self.rcode = self.flags & 15
        self.flags &= ~15
        at, seen = 12, {}
        for _ in range(n_questions):
            _, at = name_at(msg, at, seen)
            at += 4
        self.question = msg[12:at]
        self.opt, self.sections = None, []
        for n in self.n_records:
            rrs = []
            for _ in range(n):
                owner, at = name_at(msg, at, seen)
                rtype, rclass, ttl, length = struct.unpack_from("!HHIH", msg, at)
                at += 10
                if at + length > len(msg):
                    raise Malformed("a record that ends behind the message")
                if rtype == OPT:
                    if self.opt:
                        raise Malformed("two OPT records")
                    self.opt = (rclass, ttl, msg[at:at + length])
                    self.rcode |= ttl >> 24 << 4
                else:
                    rrs.append((owner, rtype, rclass, ttl, rdata_at(msg, at, length, rtype, seen)))
                at += length
            self.sections.append(tuple(sorted(rrs)))
        if at != len(msg):
            raise Malformed("octets behind the last record")

    answer = property(lambda self: self.sections[0])
    authority = property(lambda self: self.sections[1])
    additional = property(lambda self: self.sections[2])


def name_text(name):
    """Of a name in wire form."""
    at, found = 0, ""
    while name[at]:
        found += "".join(chr(c) if 33 <= c < 127 and c not in b'.\\"' else f"\\{c:03}"
                         for c in name[at + 1:at + 1 + name[at]]) + "."
        at += name[at] + 1
    return found or "."


def rr_text(rr):
    owner, rtype, _, ttl, rdata = rr
    text = rdata.hex()
    if rtype in (NS, CNAME, DNAME):
        text = name_text(rdata)
    return f"{name_text(owner)} {ttl} TYPE{rtype} {text if len(text) < 100 else text[:97] + '...'}"
