#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the seeds of the fuzz targets that take frames: tests/fuzz/corpus/fuzz_xdp/NAME,
fuzz_frame/NAME.

Six octets of control, a frame and perhaps thirteen more of control (fuzz_xdp.c), or three
(fuzz_frame.c). The seeds are committed; run this again after a change here. What a fuzzer has found
lies beside them and is left alone.
"""
import itertools
import pathlib
import struct

from mkcorpus import QUERIES, message, opt, option, question

CORPUS = pathlib.Path(__file__).parent / "corpus"

CUT_TTL, REFRESH, NO_CLIENTS = 0x20, 0x40, 0x80
WILDCARD, INTERVAL, EXPANDED = (kind << 5 for kind in (1, 2, 3))  # with NO_ENTRY
LENGTHS, TO, NO_ANSWERS, NO_ENTRY, STALE, EXPIRED, MAC, SOCKET = (1 << i for i in range(8))
MACS = bytes.fromhex("020000000053" "020000000001")
V4 = bytes([192, 0, 2, 1]), bytes([192, 0, 2, 53])
V6 = bytes.fromhex("20010db8") + bytes(11) + b"\1", bytes.fromhex("20010db8") + bytes(11) + b"\x53"


def udp(dns, port=53, source=40000, check=0x1111):
    return struct.pack(">4H", source, port, 8 + len(dns), check) + dns


def ipv4(payload, proto=17, first=0x45, fragment=0, addresses=V4):
    head = struct.pack(">BBHHHBBH", first, 0, 20 + len(payload), 1, fragment, 64, proto, 0)
    return b"\x08\x00" + head + b"".join(addresses) + payload


def ipv6(payload, proto=17, addresses=V6):
    return (b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, len(payload), proto, 64) +
            b"".join(addresses) + payload)


def ethernet(packet, tags=(), macs=MACS):
    return macs + b"".join(struct.pack(">HH", tpid, 5) for tpid in tags) + packet


def control(switches=0, head=15, tail=15, full=20, short=128, ttls=0, view=0, age=0, more=0):
    return bytes([switches, head | tail << 4, full, short, ttls | view << 6, age | more])


ASK = message(question() + opt(), ar=1)
PLAIN = message(question())
EXTENSION = b"\x11" + bytes(7)

def inner(packet):
    """Protocol and octets of what ipv4() or ipv6() made."""
    return (41 if packet[:1] == b"\x86" else 4), packet[2:]


def ipip(packet, outside=ipv4):
    proto, octets = inner(packet)
    return outside(octets, proto)


def gue(packet, outside=ipv4, header=None):
    proto, octets = inner(packet)
    return outside(udp((bytes([0, proto, 0, 0]) if header is None else header) + octets, 6080,
                       check=0))


FRAMES = {
    "ipv4": ethernet(ipv4(udp(ASK))),
    "ipv6": ethernet(ipv6(udp(ASK))),
    "ipv4-vlan": ethernet(ipv4(udp(PLAIN)), [0x8100]),
    "ipv6-qinq": ethernet(ipv6(udp(PLAIN)), [0x88A8, 0x8100]),
    "three-tags": ethernet(ipv4(udp(PLAIN)), [0x88A8, 0x8100, 0x8100]),
    "padded": ethernet(ipv4(udp(message(question("", 2))))) + bytes(20),
    "options": ethernet(ipv4(bytes(4) + udp(PLAIN), first=0x46)),
    "fragment": ethernet(ipv4(udp(PLAIN), fragment=0x2000)),
    "fragment-later": ethernet(ipv4(udp(PLAIN), fragment=0x0001)),
    "tcp": ethernet(ipv4(bytes(20), proto=6)),
    "ipv6-hop-by-hop": ethernet(ipv6(EXTENSION + udp(PLAIN), proto=0)),
    "ipv6-no-checksum": ethernet(ipv6(udp(PLAIN, check=0))),
    "arp": ethernet(b"\x08\x06" + bytes(46)),
    "other-port": ethernet(ipv4(udp(PLAIN, port=54))),
    "loopback-source": ethernet(ipv4(udp(PLAIN), addresses=(b"\x7f\0\0\1", V4[1]))),
    "group": ethernet(ipv4(udp(PLAIN)), macs=b"\xff" * 12),
    "runt": MACS,
}
TUNNELS = {
    f"{name}-{o}-{i}{'-vlan' * bool(tags)}": ethernet(put(ip(udp(ASK)), outside), tags)
    for name, put in {"ipip": ipip, "gue0": gue, "gue1": lambda *args: gue(*args, b"")}.items()
    for o, outside in {"4": ipv4, "6": ipv6}.items() for i, ip in {"4": ipv4, "6": ipv6}.items()
    for tags in ([], [0x8100])
}
TUNNELS.update({
    "ipip-nested": ethernet(ipip(ipip(ipv4(udp(ASK))))),
                "ipip-tcp": ethernet(ipip(ipv4(bytes(20), proto=6))),
    "ipip-fragment": ethernet(ipip(ipv4(udp(ASK), fragment=0x2000))),
                "ipip-padded": ethernet(ipip(ipv4(udp(PLAIN)))) + bytes(9),
    "gue-flags": ethernet(gue(ipv4(udp(ASK)), header=b"\0\x04\x80\0")),
                "gue-extension": ethernet(gue(ipv4(udp(ASK)), header=b"\1\x04\0\0" + bytes(4))),
})


def shared(names=1, n_levels=2, kind=1, salt_bytes=0, level=0, words=5, n_pointers=3, name_min=1,
           name_max=255, at=0, damage=0, seed=7, late=0):
    """The control of a shared answer (fuzz_xdp_shared.h)."""
    return bytes([names, n_levels, kind, salt_bytes, level, words, n_pointers, name_min, name_max,
                  at, damage, seed, late])


SHARED = {
    "plain": {}, "root": {"names": 0}, "deep": {"names": 2}, "exists": {"names": 3},
          "far-wild": {"names": 5},
    "stopped": {"names": 9}, "no-apex": {"names": 0x11}, "no-filter": {"names": 0x21},
          "no-regions": {"names": 0x41},
    "other-start": {"names": 0x81}, "no-levels": {"n_levels": 0}, "eight-levels": {"n_levels": 8},
          "many-levels": {"n_levels": 255},
    "no-kind": {"kind": 0}, "nsec3": {"kind": 2}, "nsec3-salt": {"kind": 2, "salt_bytes": 8},
    "nsec3-long-salt": {"kind": 2, "salt_bytes": 9},
          "nsec3-longest-salt": {"kind": 2, "salt_bytes": 255}, "other-kind": {"kind": 3},
    "level-outside": {"level": 31 << 3}, "level-at-end": {"level": 15 << 3 | 1},
          "equal": {"words": 0x18}, "mark": {"words": 0x28},
    "any-words": {"words": 0x48}, "no-words": {"words": 0}, "other-region": {"words": 0x85},
          "all-pointers": {"n_pointers": 24},
    "too-many-pointers": {"n_pointers": 25}, "too-long": {"name_max": 16},
          "too-short": {"name_min": 18}, "at-level": {"at": 1},
    "at-outside": {"at": 255}, "has-intervals": {"damage": 1}, "suffix": {"damage": 2},
          "cut": {"damage": 4},
    "no-anchor": {"damage": 8}, "stale-anchor": {"damage": 16}, "other-key": {"damage": 32},
          "other-filter": {"damage": 64},
    "other-type": {"damage": 128}, "late-name": {"late": 1}, "late-point": {"late": 2},
          "late-mark": {"late": 3},
    "later-name": {"late": 9}, "later-point": {"late": 10}, "later-mark": {"late": 11},
          "latest-name": {"late": 13},
    "late-region": {"late": 16}, "later-region": {"late": 24},
}


def shared_seeds():
    asks = {"do": message(question() + opt(ttl=0x8000), ar=1), "plain": ASK}
    for name, args in SHARED.items():
        for kind, more in {"wildcard": WILDCARD, "interval": INTERVAL,
                           "expanded": EXPANDED}.items():
            frame = ethernet(ipv4(udp(asks["plain" if kind == "wildcard" else "do"])))
            yield f"shared-{kind}-{name}", control(switches=NO_ENTRY,
                                                   more=more) + frame + shared(**args)
    for kind, more in {"interval": INTERVAL, "expanded": EXPANDED}.items():
        yield f"shared-{kind}-no-do", control(switches=NO_ENTRY,
                                              more=more) + FRAMES["ipv4"] + shared()
        yield f"shared-{kind}-ipip", control(switches=NO_ENTRY,
                                             more=more) + ethernet(
                                                 ipip(ipv4(udp(asks["do"])))) + shared()
        yield f"shared-{kind}-ipv6", control(switches=NO_ENTRY,
                                             more=more) + ethernet(ipv6(udp(asks["do"]))) + shared()


def seeds():
    for name, frame in (FRAMES | TUNNELS).items():
        yield name, control() + frame
    for (name, dns), (family, ip) in itertools.product(QUERIES.items(),
                                                       {"4": ipv4, "6": ipv6}.items()):
        yield f"query{family}-{name}", control() + ethernet(ip(udp(dns)))
    yield "options-8", control() + ethernet(ipv4(udp(message(question() + opt(*[option(11)] * 8),
                                                             ar=1))))
    yield "options-9", control() + ethernet(ipv4(udp(message(question() + opt(*[option(11)] * 9),
                                                             ar=1))))
    for name, args in {
        "no-tail": {"tail": 0}, "no-room": {"tail": 0, "head": 0}, "large": {"full": 190},
        "large-no-tail": {"full": 60, "tail": 0}, "short": {"full": 250, "short": 80},
        "truncated": {"full": 255, "short": 255}, "switched-off": {"switches": NO_ANSWERS},
        "no-entry": {"switches": NO_ENTRY}, "stale": {"switches": STALE},
                       "expired": {"switches": EXPIRED},
        "mac": {"switches": MAC}, "socket": {"switches": SOCKET | NO_ENTRY},
        "repaired": {"switches": LENGTHS | TO}, "aged": {"ttls": 7, "age": 31},
                       "aged-short": {"full": 250, "short": 80, "ttls": 32},
        "many-ttls": {"full": 100, "ttls": 33}, "cut-ttl": {"ttls": 4, "more": CUT_TTL},
                       "view-1": {"view": 1, "ttls": 1},
        "view-2": {"view": 2}, "view-3": {"view": 3},
                       "view-nobody": {"view": 1, "more": NO_CLIENTS},
        "refresh": {"ttls": 2, "view": 1, "more": REFRESH}, "routed": {"short": 7},
                       "not-routed": {"short": 3},
    }.items():
        yield name, control(**args) + FRAMES["ipv4"]
        yield f"{name}-ipip", control(**args) + TUNNELS["ipip-6-4"]
        yield f"{name}-ipv6", control(**args) + FRAMES["ipv6"]


if __name__ == "__main__":
    for target in ("fuzz_xdp", "fuzz_frame"):
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
    for seed, data in itertools.chain(seeds(), shared_seeds()):
        (CORPUS / "fuzz_xdp" / seed).write_bytes(data)
    for seed, frame in (FRAMES | TUNNELS).items():
        (CORPUS / "fuzz_frame" / seed).write_bytes(b"\3" + (6080).to_bytes(2, "big") + frame)
