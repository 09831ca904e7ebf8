# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The frames that floodgen sends: the flood's query, and those of honest clients, half of them with a
good server cookie.
"""
import ipaddress
import struct
import time

from rig import CLIENT_MAC, SERVER_MAC, V4  # it sets the path
from netlab import checksum

import dns.edns
import dns.message

FORGED, PLAIN, COOKIE = range(3)    # enum flood_class in flood.h
SECRET = bytes(range(16))
UDP_SIZE = 1232
WORD = (1 << 64) - 1


def siphash24(key, data):
    """SipHash-2-4, as the octets of its little-endian number."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
         k1 ^ 0x7465646279746573]

    def turn(x, n):
        return (x << n | x >> 64 - n) & WORD

    def rounds(n):
        for _ in range(n):
            for a, b, c, d, left, right in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
                v[a], v[c] = (v[a] + v[b]) & WORD, (v[c] + v[d]) & WORD
                v[b], v[d] = turn(v[b], left) ^ v[a], turn(v[d], right) ^ v[c]
                v[a] = turn(v[a], 32)
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return struct.pack("<Q", v[0] ^ v[1] ^ v[2] ^ v[3])


def good_cookie(client_cookie, address, now_s):
    """As a server with SECRET makes it (RFC 9018 section 4)."""
    head = client_cookie + struct.pack("!BxxxI", 1, now_s)
    return head + siphash24(SECRET, head + ipaddress.ip_address(address).packed)


def query(name, kind, cookie=None):
    """As a validating resolver asks: EDNS with DO; id 0."""
    options = [dns.edns.GenericOption(10, cookie)] if cookie else []
    return dns.message.make_query(name, kind, id=0, use_edns=0, want_dnssec=True, payload=UDP_SIZE,
                                  options=options).to_wire()


def frame(source, payload):
    """Source port 0, whole checksums."""
    ends = ipaddress.ip_address(source).packed + ipaddress.ip_address(V4).packed
    length = 8 + len(payload)
    udp = struct.pack("!HHHH", 0, 53, length, 0)
    total = checksum(ends + struct.pack("!xBH", 17, length) + udp + payload)
    udp = udp[:6] + struct.pack("!H", total or 0xffff)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0x4000, 64, 17, 0)
    head = head[:10] + struct.pack("!H", checksum(head + ends))
    return SERVER_MAC + CLIENT_MAC + b"\x08\x00" + head + ends + udp + payload


def honest_address(i):
    """The i-th of the honest: each in a /24 of its own, spread over 48.0.0.0/4."""
    return str(ipaddress.ip_address(0x30000000 | (i * 0x9e3779b1 & 0x0fffff00) | 7))


def honest_frames(n, name_of):
    """[(class, frame)]: they take turns, every second one has a cookie."""
    now_s = int(time.time())
    for i in range(n):
        address = honest_address(i)
        cookie = good_cookie(struct.pack("!Q", i + 1), address, now_s) if i % 2 else None
        yield COOKIE if cookie else PLAIN, frame(address, query(name_of(i), "A", cookie))


def write(path, flood_question, n_honest, name_of):
    """The file that floodgen reads. Cookies are good for an hour."""
    records = [(FORGED, frame("0.0.0.0", query(*flood_question))),
               *honest_frames(n_honest, name_of)]
    path.write_bytes(b"".join(struct.pack("=II128s", len(octets), kind, octets)
                              for kind, octets in records))
