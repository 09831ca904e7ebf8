#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write vectors.h: messages that dnspython signed, for the unit tests of xfr/. The header is
committed.

The gaps of a stream (RFC 8945 section 5.3.1) dnspython does not make: those MACs are computed here.
"""
import hmac
import pathlib
import struct

import dns.message
import dns.rdataclass
import dns.rdatatype
import dns.rrset
import dns.tsig
from dns.rdtypes.ANY.TSIG import TSIG

NOW = 1700000000
SECRET = bytes(range(32))
DIGESTS = {"hmac-sha256": "sha256", "hmac-sha384": "sha384", "hmac-sha512": "sha512"}
OUT = []


def emit(name, data):
    rows = [", ".join(f"0x{b:02x}" for b in data[i:i + 12]) for i in range(0, len(data), 12)]
    OUT.append(f"static const uint8_t {name}[] = {{\n\t" + ",\n\t".join(rows) + ",\n};\n")


def tsig_of(key, time=NOW, original_id=0x1234, other=b""):
    return TSIG(dns.rdataclass.ANY, dns.rdatatype.TSIG, key.algorithm, time, 300, b"", original_id,
                0, other)


def append(wire, key, rdata):
    body = rdata.to_wire()
    owner = key.name.to_wire()
    count = struct.unpack(">H", wire[10:12])[0] + 1
    return (wire[:10] + struct.pack(">H", count) + wire[12:] + owner
            + struct.pack(">HHIH", 250, 255, 0, len(body)) + body)


def signed(wire, key, request_mac=b"", time=NOW):
    rdata, _ = dns.tsig.sign(wire, key, tsig_of(key, time), time, request_mac)
    return append(wire, key, rdata), rdata.mac


def stream_signed(wires, key, prior, time=NOW):
    """The last of wires gets a MAC that covers all of them, as a later one of a stream."""
    digest = hmac.new(key.secret, digestmod=DIGESTS[key.algorithm.to_text(True)])
    digest.update(struct.pack(">H", len(prior)) + prior)
    for wire in wires:
        digest.update(wire)
    digest.update(struct.pack(">HIH", time >> 32, time & 0xFFFFFFFF, 300))
    mac = digest.digest()
    rdata = tsig_of(key, time).replace(mac=mac)
    return append(wires[-1], key, rdata), mac


def message(question, *records, flags=0):
    m = dns.message.make_query(question, "AXFR", flags=flags)
    m.id = 0x1234
    for record in records:
        m.answer.append(dns.rrset.from_text(*record))
    return m.to_wire()


SOA = ("example.", 300, "IN", "SOA", "ns.example. host.example. 7 2 3 4 60")
REPLIES = [
    message("example.", SOA, ("example.", 300, "IN", "NS", "ns.example."), flags=0x8400),
    message("example.", ("ns.example.", 300, "IN", "A", "192.0.2.1"), flags=0x8400),
    message("example.", ("www.example.", 300, "IN", "MX", "10 ns.example."), flags=0x8400),
    message("example.", SOA, flags=0x8400),
]


def main():
    emit("vector_secret", SECRET)
    emit("vector_query", message("example."))
    for i, reply in enumerate(REPLIES):
        emit(f"vector_reply{i}", reply)
    for algorithm in DIGESTS:
        key = dns.tsig.Key("key.test.", SECRET, algorithm)
        short = algorithm[5:]
        wire, mac = signed(message("example."), key)
        emit(f"vector_query_{short}", wire)
        first, mac = signed(REPLIES[0], key, mac)
        emit(f"vector_reply0_{short}", first)
        second, mac2 = stream_signed([REPLIES[1]], key, mac)
        emit(f"vector_reply1_{short}", second)
        last, _ = stream_signed([REPLIES[2], REPLIES[3]], key, mac2)
        emit(f"vector_reply3_{short}", last)
    head = ("/* SPDX-FileCopyrightText: The Volley authors */\n/* SPDX-License-Identifier: "
            "GPL-2.0-or-later */\n/*\n * Made by mkvectors.py with dnspython: "
            "the messages of one AXFR, plain, and signed at VECTOR_NOW\n"
            " * with the key \"key.test\". Reply 2 is not signed; the signature of reply 3 covers "
            "it.\n */\n#ifndef VOLLEY_TESTS_XFR_VECTORS_H\n#define "
            "VOLLEY_TESTS_XFR_VECTORS_H\n\n#include <stdint.h>\n\n"
            f"#define VECTOR_NOW {NOW}\n\n/* clang-format off */\n")
    path = pathlib.Path(__file__).parent / "vectors.h"
    path.write_text(head + "\n".join(OUT) + "/* clang-format on */\n\n#endif\n")


if __name__ == "__main__":
    main()
