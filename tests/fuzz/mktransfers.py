#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the seeds of the fuzz targets for transfers, UPDATE, NOTIFY, TSIG, catalogs and the store:
tests/fuzz/corpus/TARGET/NAME.

The seeds are committed; run this again after a change here. Inputs that a fuzzer has found lie
beside them.
"""
import hashlib
import hmac
import struct

from mkcorpus import message, name, option, opt, question, record, write

ZONE = name("z")
NOW = 1700000000


def soa(serial, owner=ZONE):
    rdata = name("n.z") + name("h.z") + struct.pack(">5I", serial, 1, 1, 1, 1)
    return record(rdata, 6, ttl=60, owner=owner)


def a(owner="n.z", last=4):
    return record(bytes([1, 2, 3, last]), ttl=60, owner=name(owner))


NS = record(b"\1n\xc0\x0c", 2, ttl=60)  # compressed: only behind a question
MX = record(b"\0\1\xc0\x0c", 15, ttl=60)
OTHERS = [record(rdata, t, ttl=60) for t, rdata in (
    (16, b"\4text"), (33, bytes(6) + b"\1s\xc0\x0c"), (35, bytes(4) + b"\1s\1t\0\xc0\x0c"),
    (65280, b"\xc0\x0c"), (46, struct.pack(">HBBIIIH", 1, 13, 1, 60, 2, 1, 7) + ZONE + b"sign"),
    (47, name("n.z") + b"\0\1\x40"), (17, b"\xc0\x0c\xc0\x0c"), (39, name("y")))]


def reply(*records, qtype=252, asked=True, flags=0x8400):
    body = (question("z", qtype) if asked else b"") + b"".join(records)
    return message(body, flags, qd=int(asked), an=len(records))


def stream(choice, *messages):
    return bytes([choice]) + b"".join(struct.pack(">H", len(m)) + m for m in messages)


# Bit 0: IXFR from serial 5; 1: over UDP; 2: there is a version of ours; 3: any other is taken.
TRANSFERS = {
    "axfr": stream(0, reply(soa(7), NS, a(), soa(7))),
    "axfr-messages": stream(4, reply(soa(7), NS), reply(a(), asked=False),
                            reply(a("b.z"), soa(7), asked=False)),
    "axfr-types": stream(0, reply(soa(7), MX, *OTHERS, soa(7))),
    "axfr-older": stream(12, reply(soa(3), NS, soa(3))),
    "axfr-behind": stream(0, reply(soa(7), soa(7), a())),
    "refused": stream(0, reply(flags=0x8405)),
    "ixfr": stream(1, reply(soa(7), soa(5), a(), soa(7), a("b.z"), soa(7), qtype=251)),
    "ixfr-sequences": stream(1, reply(soa(7), soa(5), a(), soa(6), qtype=251),
                             reply(a("b.z"), soa(6), soa(7), a(), soa(7), asked=False)),
    "ixfr-whole": stream(1, reply(soa(7), NS, a(), soa(7), qtype=251)),
    "ixfr-current": stream(3, reply(soa(5), qtype=251)),
    "ixfr-udp": stream(3, reply(soa(7), soa(5), soa(7), soa(7), qtype=251)),
    "ixfr-retry": stream(3, reply(soa(7), qtype=251)),
    "ixfr-hole": stream(1, reply(soa(7), soa(6), soa(7), soa(7), qtype=251)),
}


def update(*records, prerequisites=(), choice=0, ar=b""):
    body = question("z", 6) + b"".join(prerequisites) + b"".join(records)
    return (bytes([choice]) +
            message(body + ar, 0x2800, an=len(prerequisites), ns=len(records), ar=int(bool(ar))))


def form(owner, rtype, rclass, rdata=b"", ttl=0):
    return record(rdata, rtype, rclass, ttl, name(owner))


ANY, NONE = 255, 254
ADDRESS = bytes([1, 2, 3, 4])
UPDATES = {
    "nothing": update(),
    "add": update(a("new.z"), choice=1),
    "add-any-case": update(form("N.Z", 1, 1, ADDRESS, 61)),
    "prerequisites": update(a("new.z"), prerequisites=[
        form("n.z", ANY, ANY), form("x.z", ANY, NONE), form("n.z", 1, ANY), form("n.z", 28, NONE),
        form("n.z", 1, 1, ADDRESS), form("n.z", 1, 1, ADDRESS[:3] + b"\5")]),
    "prerequisite-fails": update(a("new.z"), prerequisites=[form("n.z", 1, 1, ADDRESS)]),
    "clear": update(form("n.z", 1, ANY), form("s.z", ANY, ANY), form("z", ANY, ANY),
                    form("z", 2, ANY)),
    "del": update(form("n.z", 1, NONE, ADDRESS), form("z", 2, NONE, name("n.z")),
                  form("z", 2, NONE, name("m.z"))),
    "cname": update(form("c.z", 5, 1, name("m.z"), 60), form("n.z", 5, 1, name("m.z"), 60),
                    form("c.z", 1, 1, ADDRESS, 60), form("e.z", 5, 1, name("m.z"), 60)),
    "dname": update(form("d.z", 39, 1, name("x"), 60), form("z", 39, 1, name("x"), 60)),
    "soa": update(soa(9), soa(8), soa(2**31 + 20)),
    "wks": update(form("w.z", 11, 1, ADDRESS + b"\6\1"), form("w.z", 11, 1, ADDRESS + b"\6\2")),
    "signer": update(form("z", 46, ANY), form("z", 51, 1, b"\1\0\0\0\0"), choice=4),
    "keys": update(form("z", 48, 1, b"\1\1\3\15abcd", 60), form("z", ANY, ANY), choice=6),
    "nsec": update(form("z", 47, 1, name("z") + b"\0\1\x40", 60), choice=2),
    "outside": update(a("n.y")),
    "compressed": update(record(b"\0\1\1n\xc0\x0c", 15, ttl=60), ar=opt()),
    "cut": update(form("n.z", 2, 1, name("x.y"), 60), a("g.n.z"), form("n.z", 2, ANY)),
}

NOTIFIES = {
    "plain": message(question("z", 6), 0x2400),
    "soa": message(question("z", 6) + soa(7), 0x2400, an=1),
    "others-soa": message(question("z", 6) + soa(7, name("y")), 0x2400, an=1),
    "type-a": message(question("z"), 0x2400),
    "reply": message(question("z", 6), 0xA400),
    "reply-alone": message(b"", 0xA401, qd=0),
    "soa-reply": message(question("z", 6) + soa(7, b"\xc0\x0c") + opt(option(9, b"\0\0\1\0")),
                         0x8400, an=1, ar=1),
    "truncated": message(question("z", 6), 0x8600),
}


def tsig(body, n=32, key="key.test", algorithm="hmac-sha256", time=NOW, error=0, other=b""):
    """The message, of which message() made the counts without it, with a TSIG."""
    owner, alg = name(key), name(algorithm)
    times = struct.pack(">HIH", time >> 32, time & 0xFFFFFFFF, 300)
    variables = owner + struct.pack(">HI", 255,
                                    0) + alg + times + struct.pack(">HH", error, len(other)) + other
    # The target's key is another one: no seed, and no input, is signed as it asks for.
    mac = hmac.new(b"not the secret", body + variables, hashlib.sha256).digest()[:n]
    rdata = (alg + times + struct.pack(">H", len(mac)) + mac + body[:2]
             + struct.pack(">HH", error, len(other)) + other)
    counts = body[:10] + struct.pack(">H", struct.unpack(">H", body[10:12])[0] + 1)
    return counts + body[12:] + record(rdata, 250, 255, 0, owner)


QUERY = message(question("z", 252), 0)
SIGNED = {
    "unsigned": QUERY,
    "signed": tsig(QUERY),
    "cut": tsig(QUERY, 16),
    "cut-short": tsig(QUERY, 9),
    "no-mac": tsig(QUERY, 0),
    "other-key": tsig(QUERY, key="nix"),
    "other-algorithm": tsig(QUERY, algorithm="hmac-sha512"),
    "old": tsig(QUERY, time=1),
    "error": tsig(QUERY, 0, error=17),
    "bad-time": tsig(QUERY, error=18, other=bytes(6)),
    "twice": tsig(tsig(QUERY)),
    "reply": tsig(reply(soa(7), NS, a(), soa(7))),
    "update": tsig(update(a("new.z"))[1:]),
    "behind": tsig(QUERY) + b"x",
}

VERSION, MEMBER, GROUP, COO, LABEL, TWO_LABELS = range(6)
PTR, TXT = range(2)


def listed(form, rtype, rdata, *labels):
    """A record of a catalog, as fuzz_catalog.c reads it."""
    return (bytes([form + 6 * rtype]) +
            b"".join(bytes([len(label) - 1]) + label for label in labels)
            + bytes([len(rdata)]) + rdata)


def catalog(*records):
    return b"\1" + b"".join(records)


ONE = listed(MEMBER, PTR, name("A.b"), b"one")
CATALOGS = {
    "no-head": b"\0" + ONE,
    "no-members": catalog(),
    "one": catalog(ONE),
    "properties": catalog(ONE, listed(GROUP, TXT, b"\4long\1x", b"ONE"),
                          listed(GROUP, TXT, b"\1a", b"one"), listed(COO, PTR, name("d"), b"one")),
    "others": catalog(ONE, listed(TWO_LABELS, TXT, b"\1x", b"ext", b"one"),
                      listed(LABEL, TXT, b"\1x", b"zones")),
    "two-ptrs": catalog(ONE, listed(MEMBER, PTR, name("c"), b"one")),
    "twice": catalog(ONE, listed(MEMBER, PTR, name("a.b"), b"two")),
    "two": catalog(ONE, listed(MEMBER, PTR, name("c"), b"two"), listed(GROUP, TXT, b"\0", b"two")),
    "two-versions": catalog(listed(VERSION, TXT, b"\0013")),
    "nobodys": catalog(listed(GROUP, TXT, b"\1g", b"one")),
}

ZONES, VALUES, JOURNAL, SERIALS = range(4)
OCTET, CUT, REPLACED, KEY = range(4)


def damage(db, kind, entry, at=0, octet=0, data=b"", has_sum=False):
    """As fuzz_store.c reads it."""
    return struct.pack(">BBHB", db | kind << 2 | has_sum << 4, entry, at, octet) + data


DAMAGES = {
    "none": b"",
    "head-length": damage(JOURNAL, OCTET, 0, 16, 255),
    "head-cut": damage(JOURNAL, CUT, 0, 5),
    "set-cut": damage(JOURNAL, CUT, 0, 60, has_sum=True),
    "set-octet": damage(JOURNAL, OCTET, 0, 40, 255, has_sum=True),
    "set-replaced": damage(JOURNAL, REPLACED, 2, 0, 52, bytes(52), has_sum=True),
    "piece-of-another": damage(JOURNAL, KEY, 2, 14, 9),
    "serial-cut": damage(SERIALS, CUT, 0, 3),
    "serial-leads-on": damage(SERIALS, OCTET, 0, 7, 200),
    "zone-cut": damage(ZONES, CUT, 0, 30),
    "zone-catalog": damage(ZONES, OCTET, 0, 51, 64),
    "zone-member": damage(ZONES, OCTET, 0, 55, 255),
    "zone-key": damage(ZONES, KEY, 0, 0, 255),
    "value-empty": damage(VALUES, CUT, 0),
}

if __name__ == "__main__":
    write("fuzz_xfr", TRANSFERS)
    write("fuzz_update", UPDATES)
    write("fuzz_notify", NOTIFIES)
    write("fuzz_tsig", SIGNED)
    write("fuzz_catalog", CATALOGS)
    write("fuzz_store", DAMAGES)
