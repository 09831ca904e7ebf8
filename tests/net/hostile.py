# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile servers for the resolver: a root, lab. and the zones below it that a test scripts.

BROKEN_BEFORE says from which version of libunbound on an attack fails, if not on all. With an older
one its test asserts that it works: so docs/libraries.md, which has the table, is true of both. A
distribution that mends an old version under its number makes such a test fail: then the table and
the row here have to say so.
"""
import contextlib
import struct
import time

import dns.dnssec
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

from netlab import CLIENT4, V4, has_ended, wait_for
from upstreams import Netns, unbound_version

ROOT, TLD, LEAF, EVIL = "127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.66"
TRUE, FALSE = "192.0.2.80", "192.0.2.66"

# The first version of libunbound that withstands; attacks that are not here fail on all.
BROKEN_BEFORE = {
    "poison by glue of MX": (1, 25, 1),    # CVE-2026-42960
    "ghost domain": (1, 25, 1),            # CVE-2026-40622
    "ghost address": (1, 25, 2),           # CVE-2026-42955
    "freed proof": (1, 25, 1),             # CVE-2026-33278
    "island denied by its parent": (1, 26, 2),    # CVE-2026-50106
    "island denied by an NSEC": (1, 26, 2),       # CVE-2026-35501
}


def rrset(name, ttl_s, kind, *data):
    return dns.rrset.from_text(name, ttl_s, "IN", kind, *data)


def name_and_kind(query):
    question = query.question[0]
    return question.name.to_text().lower(), dns.rdatatype.to_text(question.rdtype)


def reply_to(query, answer=(), authority=(), additional=(), rcode=dns.rcode.NOERROR, aa=True,
             flags=0):
    reply = dns.message.make_response(query)
    reply.flags |= flags
    if aa:
        reply.flags |= dns.flags.AA
    reply.set_rcode(rcode)
    reply.answer += answer
    reply.authority += authority
    reply.additional += additional
    return reply.to_wire(max_size=65535)


def soa(zone):
    return rrset(zone, 60, "SOA", f"ns.{zone} host.{zone} 1 7200 3600 1209600 60".replace("..", "."))


def refer(query, zone, server, ttl_s=3600):
    return reply_to(query, authority=[rrset(zone, ttl_s, "NS", f"ns.{zone}")],
                    additional=[rrset(f"ns.{zone}", ttl_s, "A", server)], aa=False)


def nothing(query, zone, rcode=dns.rcode.NOERROR):
    return reply_to(query, authority=[soa(zone)], rcode=rcode)


def root(query, _tcp):
    name, kind = name_and_kind(query)
    if name.endswith("lab."):
        return refer(query, "lab.", TLD)
    known = {(".", "NS"): "ns.", ("ns.", "A"): ROOT}.get((name, kind))
    return reply_to(query, [rrset(name, 3600, kind, known)]) if known else nothing(query, ".")


def by_size(reply):
    """Large replies go over TCP."""
    def cut(query, tcp):
        wire = reply(query, tcp)
        return wire if tcp or len(wire) <= 1232 else reply_to(query, flags=dns.flags.TC)
    return cut


class World(Netns):
    """The daemon's namespace with a root, lab. and the zones below it that a test scripts."""

    def __init__(self, lab, daemon, folder, by):
        super().__init__(folder, f"{lab.name}-s")
        self.lab, self.daemon, self.by = lab, daemon, by
        self.zones = {}    # below lab.: (address, TTL of the delegation)
        (self.folder / "hints").write_text(f". 3600 IN NS ns.\nns. 3600 IN A {ROOT}\n")
        self.script(".", root, ROOT)
        self.tld = self.script("lab.", self.top, TLD)

    def top(self, query, _tcp):
        name, kind = name_and_kind(query)
        for zone, (address, ttl_s) in self.zones.items():
            if name == zone or name.endswith("." + zone):
                return refer(query, zone, address, ttl_s)
        if (name, kind) == ("ns.lab.", "A"):
            return reply_to(query, [rrset(name, 3600, "A", TLD)])
        return nothing(query, "lab.", dns.rcode.NOERROR if name == "lab." else dns.rcode.NXDOMAIN)

    def serve(self, zone, address, reply, ttl_s=3600):
        self.zones[zone] = address, ttl_s
        return self.script(zone, by_size(reply), address)

    def configure(self, **keys):
        self.daemon.configure(recursion={
            "allow": [CLIENT4], "root-hints": str(self.folder / "hints"), "query-localhost": True,
            "prefetch": False, "threads": 1, **keys})

    def start_unbound(self, **keys):
        """unbound in place of volleyd, with the options of its own that are given."""
        self.popen_unbound(
            f"interface: {V4}", f"access-control: {CLIENT4}/32 allow", f"root-hints: {self.folder}/hints",
            "do-not-query-localhost: no",
            *(f'{"trust-anchor-file" if key == "trust-anchor" else key}: "{value}"'
              for key, value in keys.items()))
        wait_for("unbound", lambda: self.lab.is_answered(".", "SOA"), 10)

    def start(self, **keys):
        if self.by == "unbound":    # it is of the same version
            self.version = tuple(map(int, unbound_version().split(".")))
            self.start_unbound(**keys)
            return
        self.configure(**keys)
        self.daemon.start()
        version = self.daemon.status()["recursion"]["libunbound"]
        self.version = tuple(map(int, version.split(".")))

    def withstands(self, attack):
        return self.version >= BROKEN_BEFORE[attack]

    def ask(self, name, kind="A", timeout=12):
        return self.lab.ask(name, kind, timeout=timeout)

    def is_alive(self):
        """Neither volleyd nor the resolver's process has ended; volleyd would start another one."""
        asks = self.daemon.status()["recursion"]
        return not asks["process_restarts"] and not has_ended(asks["process"])

    def cpu_s(self):
        """The processor time of volleyd and of the resolver's process, in seconds."""
        return self.daemon.cpu_s() + self.daemon.cpu_s(self.daemon.status()["recursion"]["process"])


@contextlib.contextmanager
def hostile_world(lab, daemon, folder, by="volleyd"):
    folder.mkdir()
    lab.ip("s", "link", "set", "lo", "up")
    world = World(lab, daemon, folder, by)
    try:
        yield world
    finally:
        world.close()


def of_server(query, zone, address):
    """The zone's own records, or None."""
    name, kind = name_and_kind(query)
    if (name, kind) == (zone, "NS"):
        return reply_to(query, [rrset(zone, 3600, "NS", f"ns.{zone}")])
    if (name, kind) == (f"ns.{zone}", "A"):
        return reply_to(query, [rrset(name, 3600, "A", address)])
    return None


class Signer:
    """A zone's key, and signatures by it."""

    def __init__(self, zone):
        self.zone = dns.name.from_text(zone)
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.key = dns.dnssec.make_dnskey(self.private.public_key(),
                                          dns.dnssec.Algorithm.ECDSAP256SHA256, flags=257)
        self.keys = dns.rrset.from_rdata(self.zone, 3600, self.key)

    def ds(self):
        return dns.rrset.from_rdata(self.zone, 3600, dns.dnssec.make_ds(self.zone, self.key, "SHA256"))

    def signature(self, records):
        now = int(time.time())
        return dns.rrset.from_rdata(records.name, records.ttl, dns.dnssec.sign(
            records, self.private, self.zone, self.key, inception=now - 3600, expiration=now + 3600))

    def raw_signature(self, kind, labels, owner, datas):
        """
        The data of an RRSIG record, all as octets: for records of that type and of a TTL of 3600 s
        that the canonical form gives this owner.
        """
        now = int(time.time())
        head = struct.pack("!HBBIIIH", kind, 13, labels, 3600, now + 3600, now - 3600,
                           dns.dnssec.key_id(self.key)) + self.zone.to_wire()
        signed = head + b"".join(owner + struct.pack("!HHIH", kind, 1, 3600, len(one)) + one
                                 for one in sorted(datas))
        r, s = utils.decode_dss_signature(self.private.sign(signed, ec.ECDSA(hashes.SHA256())))
        return head + r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def with_signatures(self, *sets):
        return [one for records in sets for one in (records, self.signature(records))]

    def anchor(self, folder):
        path = folder / "anchor"
        path.write_text(self.ds().to_text() + "\n")
        return str(path)


def signed_basics(query, signer, zone, address):
    """Keys, NS and addresses of a signed zone, or None."""
    server = f"ns.{zone}".replace("..", ".")
    known = {(zone, "DNSKEY"): signer.keys, (zone, "NS"): rrset(zone, 3600, "NS", server),
             (server, "A"): rrset(server, 3600, "A", address)}.get(name_and_kind(query))
    return reply_to(query, signer.with_signatures(known)) if known else None


# --- Replies that are much work, in wire format ---------------------------------------------------

def wire_name(text):
    return dns.name.from_text(text).to_wire()


def record(owner, kind, ttl_s, rdata):
    """A record in wire format; OWNER may be a compression pointer."""
    return (owner + struct.pack("!HHIH", dns.rdatatype.from_text(kind), 1, ttl_s, len(rdata))
            + rdata)


def pointer(at):
    return struct.pack("!H", 0xc000 | at)


def message(query, question, answers):
    """A reply whose question and answers are octets."""
    return struct.pack("!HHHHHH", query.id, 0x8580, 1, len(answers), 0, 0) + question + b"".join(
        answers)


def many_names(query, tcp):
    """CVE-2026-44390: 3000 names in one record set, in the order of a tree, without a common end."""
    if not tcp:
        return reply_to(query, flags=dns.flags.TC)
    names = [f"{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}." for n in range(3000)]
    question = wire_name(name_and_kind(query)[0]) + struct.pack("!HH", dns.rdatatype.MX, 1)
    return message(query, question, [
        record(pointer(12), "MX", 3600, b"\0\1" + wire_name(one)) for one in names])


def long_chains(query, tcp):
    """CVE-2026-96405: each of 3500 names is read by way of 120 pointers."""
    if not tcp:
        return reply_to(query, flags=dns.flags.TC)
    question = wire_name(name_and_kind(query)[0]) + struct.pack("!HH", dns.rdatatype.MX, 1)
    at = 12 + len(question) + 2 + 10 + 1    # of the text in the first record: the chain
    links = pointer(12) + b"".join(pointer(at + 2 * n) for n in range(119))
    last = pointer(at + 2 * 119)
    return message(query, question, [record(pointer(12), "TXT", 3600, bytes([len(links)]) + links),
                                     *(record(last, "MX", 3600, struct.pack("!H", n) + last)
                                       for n in range(3500))])


def many_options(query, tcp):
    """CVE-2026-41292: a good answer with 15000 EDNS options."""
    if not tcp:
        return reply_to(query, flags=dns.flags.TC)
    name = name_and_kind(query)[0]
    plain = dns.message.make_response(query)
    plain.flags |= dns.flags.AA
    plain.answer.append(rrset(name, 60, "A", TRUE))
    plain.use_edns(-1)
    options = struct.pack("!HH", 65001, 0) * 15000
    wire = plain.to_wire()
    return (wire[:10] + b"\0\1" + wire[12:] + b"\0"
            + struct.pack("!HHIH", dns.rdatatype.OPT, 1232, 0, len(options)) + options)


def own_name(query, tcp):
    """CVE-2026-81642: the name of a record lies in its own data, and both are too long together."""
    if not tcp:
        return reply_to(query, flags=dns.flags.TC)
    at, size = 12 + 6 + 12 + 1, 65535 - 12 - 6 - 12
    data = (b"\xff" + wire_name(name_and_kind(query)[0])).ljust(256, b"x")
    while len(data) < size:
        n = min(255, size - len(data) - 1)
        data += bytes([n]) + b"x" * n
    question = pointer(at) + struct.pack("!HH", dns.rdatatype.TXT, 1)
    return message(query, question, [record(pointer(at), "TXT", 3600, data)])
