#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the seeds of the fuzz targets for names, queries and what comes from upstream:
tests/fuzz/corpus/TARGET/NAME.

The seeds are committed; run this again after a change here. Inputs that a fuzzer has found lie
beside them, named after what they showed, and are left alone.
"""
import pathlib
import re
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus"


def name(text):
    labels = [label.encode("latin-1") for label in text.split(".") if label]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def question(text="wWw.Example", qtype=1, qclass=1):
    return name(text) + struct.pack(">HH", qtype, qclass)


def message(body, flags=0x0100, qd=1, an=0, ns=0, ar=0):
    return struct.pack(">6H", 0x1234, flags, qd, an, ns, ar) + body


def record(rdata, rtype=1, rclass=1, ttl=0, owner=b"\xc0\x0c"):
    return owner + struct.pack(">HHIH", rtype, rclass, ttl, len(rdata)) + rdata


def option(code, value=b""):
    return struct.pack(">HH", code, len(value)) + value


def opt(*options, size=1232, ttl=0):
    return record(b"".join(options), 41, size, ttl, b"\0")


A = record(b"\x01\x02\x03\x04")
TSIG = record(b"\x08hmac-md5\0" + bytes(8) + b"\0\x04abcd" + bytes(6), 250, 255, 0, name("key"))
CLIENT = b"abcdefgh"
LONGEST = ".".join(["x" * 63] * 3 + ["X" * 61])

QUERIES = {
    "plain": message(question()),
    "root-ns": message(question("", 2)),
    "chaos-txt": message(question("version.bind", 16, 3)),
    "longest-name": message(question(LONGEST)),
    "most-labels": message(question(".".join("a" * 127))),
    "opt": message(question() + opt(), ar=1),
    "opt-do": message(question() + opt(ttl=0x8000, size=4096), ar=1),
    "opt-version-1": message(question() + opt(ttl=0x10000), ar=1),
    "two-opts": message(question() + opt() + opt(), ar=2),
    "cookie-client": message(question() + opt(option(10, CLIENT)), ar=1),
    "cookie-both": message(question() + opt(option(10, CLIENT * 3)), ar=1),
    "cookie-bad": message(question() + opt(option(10, CLIENT + b"x")), ar=1),
    "cookie-only": message(opt(option(10, CLIENT)), qd=0, ar=1),
    "options": message(question() + opt(option(3), option(8, b"\0\1\x18\0\xc0\0\2"), option(11),
                                        option(12, bytes(16)), option(0xFFF0, b"x")), ar=1),
    "tsig": message(question() + TSIG, ar=1),
    "opt-tsig": message(question() + opt() + TSIG, ar=2),
    "tsig-opt": message(question() + TSIG + opt(), ar=2),
    "records": message(question() + A + A + A + opt(), an=1, ns=1, ar=2),
    "pointer-loop": message(question() + record(b"", owner=b"\xc0\x1d"), an=1),
    "pointer-chain": message(question() + record(b"", owner=b"\1a\xc0\x0c")
                             + record(b"", owner=b"\1b\xc0\x1d"), an=2),
    "ixfr": message(question(qtype=251) + record(bytes(22), 6), ns=1),
    "trailing": message(question() + b"behind"),
    "two-questions": message(question() * 2, qd=2),
    "notify": message(question(qtype=6), flags=0x2400),
    "update": message(question(qtype=6) + A + opt(), flags=0x2800, ns=1, ar=1),
    "response": message(question() + A, flags=0x8400, an=1),
    "header": message(b"", qd=0),
}

NAMES = {
    "root": b"\0",
    "two": name("www.example") + name("example"),
    "case": name("WwW.eXample") + name("www.EXAMPLE"),
    "longest": name(LONGEST) + name("x." + LONGEST[2:]),
    "most-labels": name(".".join("a" * 127)) + name(".".join("a" * 126)),
    "special": name('a b@$();"\\\0\xff') + name("*.\1"),
    "pointer": b"\1a\xc0\0",
    "straddle": b"\6abc\2de\0" + name("de"),
    "text": b"www.example.",
    "text-root": b".",
    "text-escapes": b"a\\.b\\\\c\\032\\000\\255.\\@",
    "text-bad-escape": b"a\\25",
    "text-empty-label": b"a..b",
    "text-longest": LONGEST.encode(),
}

WHO = name("x")
SOA = name("ns.x") + name("root.x") + struct.pack(">5I", 1, 2, 3, 4, 60)


def answer(*answers, authority=(), qtype=1, text="a.b.x", rcode=0):
    return message(question(text, qtype) + b"".join(answers) + b"".join(authority),
                   0x8180 | rcode, an=len(answers), ns=len(authority))


def signature(covered, owner=b"\xc0\x0c", signer=WHO):
    return record(struct.pack(">HBBIIIH", covered, 13, 2, 60, 2**31, 2**30, 7) + signer + b"sign",
                  46, ttl=60, owner=owner)


A_X = record(b"\x01\x02\x03\x04", ttl=60)
SOA_X = record(SOA, 6, ttl=300, owner=WHO)
NSEC_X = record(name("z.x") + b"\0\1\x40", 47, ttl=60, owner=WHO)
ALIAS = record(b"\1c\xc0\x10", 5, ttl=30)
OTHERS = [(2, b"\2ns\xc0\x0c"), (12, b"\xc0\x0c"), (15, b"\0\1\xc0\x0e"),
          (33, bytes(6) + b"\xc0\x0c"), (35, bytes(4) + b"\1s\1t\0\xc0\x0c"),
          (17, b"\xc0\x0c\xc0\x10"), (16, b"\4text"), (28, bytes(16)), (6, SOA)]

# DO, then the message.
ANSWERS = {
    "plain": b"\0" + answer(A_X, A_X),
    "signed": b"\1" + answer(A_X, signature(1)),
    "signed-without-do": b"\0" + answer(A_X, signature(1)),
    "alias": b"\0" + answer(ALIAS, record(b"\1\2\3\4", ttl=9, owner=name("c.x"))),
    "alias-loop": b"\0" + answer(record(b"\xc0\x0c", 5, ttl=9)),
    "dname": b"\1" +
           answer(record(name("y"), 39, ttl=9, owner=b"\xc0\x0e"), signature(39, b"\xc0\x0e"),
                            record(name("a.y"), 5, ttl=9),
                  record(b"\1\2\3\4", ttl=8, owner=name("a.y"))),
    "nxdomain": b"\1" + answer(authority=(SOA_X, signature(6, WHO), NSEC_X, signature(47, WHO)),
                               rcode=3),
    "nodata": b"\0" + answer(authority=(SOA_X,)),
    "any": b"\1" +
           answer(*(record(rdata, t, ttl=60 + t) for t, rdata in OTHERS), signature(15), qtype=255),
    "rrsig": b"\0" + answer(signature(1), signature(15), A_X, qtype=46),
    "ttl-top-bit": b"\0" + answer(record(b"\1\2\3\4", ttl=2**31 + 5)),
    "other-name": b"\0" + answer(record(b"\1\2\3\4", ttl=9, owner=name("evil.x")), A_X),
    "root": b"\0" + answer(record(name("a"), 2, ttl=9, owner=b"\0"), qtype=2, text=""),
    "bad-soa": b"\0" + answer(authority=(record(SOA[:-3], 6, ttl=9, owner=WHO),)),
}

NS_X = record(b"\2ns\xc0\x0c", 2, ttl=60)

# To the query of fuzz_forward: its header has the ID as it likes.
REPLIES = {
    "plain": answer(A_X, text="example") + opt(),
    "counted": message(question("Example") + A_X + opt(option(15, b"\0\6bogus")), 0x8582, an=1,
                       ar=1),
    "nxdomain": answer(authority=(SOA_X,), text="example", rcode=3),
    "referral": message(question("example") + NS_X, 0x8000, ns=1),
    "truncated": message(question("example") + A_X[:-3], 0x8380, an=1),
    "header-alone": message(b"", 0x8181, qd=0),
    "pointers": answer(record(b"", owner=b"\1a\xc0\x0c"), record(b"", owner=b"\1b\xc0\x19"),
                       text="example"),
    "pointer-to-itself": answer(record(b"", owner=b"\xc0\x19"), text="example"),
    "rcode-of-12-bits": message(question("example") + opt(ttl=1 << 24), 0x8187, ar=1),
    "two-opt": message(question("example") + opt() + opt(), 0x8180, ar=2),
}


def record_data():
    """Type and octets of each row of the unit tests' table, by the name of its type."""
    root = pathlib.Path(__file__).parents[2]
    types = dict((mnemonic, int(number)) for number, mnemonic in re.findall(
        r'X\((\d+), \w+, "([^"]+)"', (root / "userspace/dns/rdtypes.h").read_text()))
    rows = re.findall(r'{ ".*?(?<!\\)", "([^"]+)", ".*(?<!\\)", "([0-9a-f]*)" },',
                      (root / "tests/unit/zone/rdata_rows.h").read_text())
    seeds = {}
    for mnemonic, octets in rows:
        number = types.get(mnemonic) or int(mnemonic[4:])
        name = mnemonic.lower()
        while name in seeds:
            name += "+"
        seeds[name] = struct.pack(">H", number) + bytes.fromhex(octets)
    return seeds


def broker_requests():
    """struct broker_request of userspace/broker/request.h behind the octet of fuzz_broker.c: the
    number of descriptors, 64 for the channel of maps, 128 for DPDK."""
    root = pathlib.Path(__file__).parents[2]
    operations = re.findall(r"\bX\(([A-Z_]+), (?:HOOK|MAP)",
                            (root / "userspace/broker/request.h").read_text())
    shared = (1 << 12) - 1

    def request(operation, mask=0, sizes=False, name=b"", program=0, flags=0, n=0, mac=bytes(6), head=0,
                address=bytes(24), xsk=bytes(16)):
        return (bytes([head | mask.bit_count()]) +
                struct.pack("<IIQ", operations.index(operation), 7, mask) +
                (struct.pack("<QQIIII", 16 << 20, 0, 64, 256, 16, 0) if sizes else bytes(32)) +
                name.ljust(16, b"\0") + struct.pack("<III", program, flags, n) + address + xsk + mac +
                bytes([6, 0, 0, 0, 0, 0]))

    def at(family, port, octets, scope=0):
        return struct.pack("<H", family) + struct.pack(">H", port) + struct.pack("<I", scope) + \
            octets.ljust(16, b"\0")

    socket, memory = 1 << 18, 1 << 19
    switch = request("SWITCH", shared, name=b"eth0", program=12)
    return {
        "open-first": request("OPEN", sizes=True, name=b"eth0", flags=15),
        "open-second": request("OPEN", shared, sizes=True, name=b"eth0", flags=8),
        "is-attached": request("IS_ATTACHED", name=b"eth0", program=12),
        "close": request("CLOSE", name=b"eth0", program=12, flags=16),
        "switch": switch,
        "fewer-descriptors": bytes([switch[0] - 1]) + switch[1:],
        "use-sockets": request("USE_SOCKETS", shared | 1 << 14, name=b"eth0", program=12, head=128),
        "wake-veth": request("WAKE_VETH", name=b"s0", mac=b"\2\0\0\0\0\1"),
        "make-beside": request("MAKE_BESIDE", shared, sizes=True, head=64),
        "make-blocks": request("MAKE_BLOCKS", n=9, head=64),
        "make-rings": request("MAKE_RINGS", n=16, head=64),
        "make-grace": request("MAKE_GRACE", head=64),
        "bind-v4": request("BIND", socket, address=at(2, 53, bytes([192, 0, 2, 53]))),
        "bind-v6": request("BIND", socket, address=at(10, 853, bytes([0xfe, 0x80]), scope=3)),
        "xsk": request("XSK_SOCKET", memory, xsk=struct.pack("<IIII", 4096, 2048, 0, 0)),
        "xsk-busy": request("XSK_SOCKET", memory, xsk=struct.pack("<IIII", 64, 4096, 20, 64)),
        "neighbour": request("USE_NEIGHBOUR", name=b"s0", address=at(2, 0, bytes([192, 0, 2, 1]))),
        "read-text": request("READ_TEXT", 1 << 20),
        "buffer": request("BUFFER", socket, n=256 << 10),
        "bind-no-port": request("BIND", socket, address=at(10, 0, b"")),
        "name-without-end": request("FIND", name=b"0123456789abcdef"),
        "short": request("FIND", name=b"s0")[:-3],
    }


def runner_requests():
    """Behind the two octets of fuzz_runner.c: descriptors, and the short layout."""
    def request(kind, path, including=b"", descriptors=1):
        return bytes([descriptors, 0, kind]) + path + b"\0" + including

    return {
        "zone": request(3, b"@zone"),
        "secret": request(3, b"@secret"),
        "included": request(3, b"@included", b"@zone"),
        "not-included": request(3, b"@secret", b"@zone"),
        "member": request(3, b"@members/a.zone"),
        "member-above": request(3, b"@members/../secret.zone"),
        "key": request(3, b"@keys/key"),
        "key-above": request(3, b"@keys/../secret"),
        "keys": request(4, b"@keys"),
        "folder": request(4, b"@"),
        "verify": request(0, b"@zone", descriptors=3),
        "read": request(1, b"", descriptors=0),
        "whole": bytes([1, 1]) + struct.pack("<IIQ", 3, 0, 0) + bytes(1280) + b"/etc/shadow",
    }


def write(target, seeds):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    for seed, data in seeds.items():
        (folder / seed).write_bytes(data)


if __name__ == "__main__":
    write("fuzz_query", QUERIES)
    write("fuzz_name", NAMES)
    write("fuzz_convert", ANSWERS)
    write("fuzz_forward", REPLIES)
    write("fuzz_rdround", record_data())
    write("fuzz_broker", broker_requests())
    write("fuzz_runner", runner_requests())
