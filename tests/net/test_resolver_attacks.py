# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Public attacks on resolvers, rebuilt from their descriptions: what hostile servers send, and what
volleyd makes of it with the libunbound that it runs with.

BROKEN_BEFORE says from which version of libunbound on an attack fails. With an older one its test
asserts that it works: so docs/libraries.md, which has the table, is true of both. A
distribution that mends an old version under its number makes such a test fail: then the table and
the row here have to say so.
"""
import base64
import time

import dns.dnssec
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from netlab import CLIENT4, texts, wait_for
from upstreams import Netns

ROOT, TLD, LEAF, EVIL = "127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.66"
TRUE, FALSE = "192.0.2.80", "192.0.2.66"

# The first version of libunbound that withstands; attacks that are not here fail on all.
BROKEN_BEFORE = {
    "poison by glue of MX": (1, 25, 1),    # CVE-2026-42960
    "a place that is not filled": (1, 25, 1),    # CVE-2026-42959
    "ghost domain": (1, 25, 1),            # CVE-2026-40622
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

    def __init__(self, lab, daemon, folder):
        super().__init__(folder, f"{lab.name}-s")
        self.lab, self.daemon = lab, daemon
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

    def start(self, **keys):
        self.daemon.start(recursion={
            "allow": [CLIENT4], "root-hints": str(self.folder / "hints"), "query-localhost": True,
            "prefetch": False, "threads": 1, **keys})
        version = self.daemon.status()["recursion"]["libunbound"]
        self.version = tuple(map(int, version.split(".")))

    def withstands(self, attack):
        return self.version >= BROKEN_BEFORE[attack]

    def ask(self, name, kind="A", timeout=12):
        return self.lab.ask(name, kind, timeout=timeout)

    def is_alive(self):
        return self.daemon.process.poll() is None


@pytest.fixture(name="world")
def make_world(lab, daemon, tmp_path):
    folder = tmp_path / "world"
    folder.mkdir()
    lab.ip("s", "link", "set", "lo", "up")
    made = World(lab, daemon, folder)
    try:
        yield made
    finally:
        made.close()


def of_server(query, zone, address):
    """The zone's own records, or None."""
    name, kind = name_and_kind(query)
    if (name, kind) == (zone, "NS"):
        return reply_to(query, [rrset(zone, 3600, "NS", f"ns.{zone}")])
    if (name, kind) == (f"ns.{zone}", "A"):
        return reply_to(query, [rrset(name, 3600, "A", address)])
    return None


# --- False records in the cache -------------------------------------------------------------------

def test_poison_by_glue_of_mx(world):
    """CVE-2026-42960: an MX in the authority section brings an address for the zone's server."""
    def victim(query, _tcp):
        name, kind = name_and_kind(query)
        if (name, kind) == ("trigger.victim.lab.", "A"):
            return reply_to(query, [rrset(name, 3600, "A", "192.0.2.1")],
                            [rrset(name, 86400, "MX", "20 ns.victim.lab.")],
                            [rrset("ns.victim.lab.", 86400, "A", EVIL)])
        if kind == "A" and name != "ns.victim.lab.":
            return reply_to(query, [rrset(name, 60, "A", TRUE)])
        return of_server(query, "victim.lab.", LEAF) or nothing(query, "victim.lab.")

    world.serve("victim.lab.", LEAF, victim)
    evil = world.script("evil", lambda query, _tcp: reply_to(
        query, [rrset(name_and_kind(query)[0], 60, "A", FALSE)]), EVIL)
    # With the default the server's address is asked for at once, which hides the fault.
    world.start(**{"target-fetch-policy": "0 0 0 0 0"})
    assert texts(world.ask("trigger.victim.lab.")) == ["192.0.2.1"]
    got = texts(world.ask("check.victim.lab."))
    assert (got == [TRUE]) == world.withstands("poison by glue of MX"), got
    assert bool(evil.seen) != world.withstands("poison by glue of MX")


def test_poison_by_name_servers_in_an_answer(world):
    """CVE-2025-11411: a positive answer brings name servers of the zone that nobody asked for."""
    def victim(query, _tcp):
        name, kind = name_and_kind(query)
        if (name, kind) == ("trigger.victim.lab.", "A"):
            return reply_to(query, [rrset(name, 3600, "A", "192.0.2.1")],
                            [rrset("victim.lab.", 86400, "NS", "ns.evil.victim.lab.")],
                            [rrset("ns.evil.victim.lab.", 86400, "A", EVIL)])
        if kind == "A" and name != "ns.victim.lab.":
            return reply_to(query, [rrset(name, 60, "A", TRUE)])
        return of_server(query, "victim.lab.", LEAF) or nothing(query, "victim.lab.")

    world.serve("victim.lab.", LEAF, victim)
    evil = world.script("evil", lambda query, _tcp: reply_to(
        query, [rrset(name_and_kind(query)[0], 60, "A", FALSE)]), EVIL)
    world.start()
    assert texts(world.ask("trigger.victim.lab.")) == ["192.0.2.1"]
    assert texts(world.ask("check.victim.lab.")) == [TRUE] and not evil.seen


def test_ghost_domain(world):
    """CVE-2026-40622: the child's own NS set, asked for, renews a delegation that has ended."""
    def middle(query, _tcp):
        name, kind = name_and_kind(query)
        if (name, kind) == ("ghost.lab.", "NS"):
            return reply_to(query, [rrset(name, 86400, "NS", "ns.ghost.lab.")],
                            additional=[rrset("ns.ghost.lab.", 86400, "A", LEAF)])
        if kind == "A" and name != "ns.ghost.lab.":
            return reply_to(query, [rrset(name, 1, "A", TRUE)])
        return of_server(query, "ghost.lab.", LEAF) or nothing(query, "ghost.lab.")

    world.serve("ghost.lab.", LEAF, middle, ttl_s=3)
    world.start()
    began = time.monotonic()
    assert texts(world.ask("a.ghost.lab.")) == [TRUE]
    world.ask("ghost.lab.", "NS")
    del world.zones["ghost.lab."]
    numbers = iter(range(1000))

    def outcome():
        if world.ask(f"n{next(numbers)}.ghost.lab.").rcode() == dns.rcode.NXDOMAIN:
            return "gone"
        return "lives on" if time.monotonic() - began > 6 else None

    seen = wait_for("the delegation has ended, or never ends", outcome, 30)
    assert (seen == "gone") == world.withstands("ghost domain"), seen


# --- Crashes of the validator ---------------------------------------------------------------------

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

    def with_signatures(self, *sets):
        return [one for records in sets for one in (records, self.signature(records))]

    def anchor(self, folder):
        path = folder / "anchor"
        path.write_text(self.ds().to_text() + "\n")
        return str(path)


def signed_basics(query, signer, zone, address):
    """Keys, NS and addresses of a signed zone, or None."""
    name, kind = name_and_kind(query)
    known = {(zone, "DNSKEY"): signer.keys, (zone, "NS"): rrset(zone, 3600, "NS", f"ns.{zone}"),
             (f"ns.{zone}", "A"): rrset(f"ns.{zone}", 3600, "A", address)}.get((name, kind))
    return reply_to(query, signer.with_signatures(known)) if known else None


def test_an_alias_and_a_set_without_signature(world):
    """
    CVE-2026-42959: behind an alias, an authority section without signature and a signed address.
    libunbound before 1.25.1 then validates a place that it has not filled. It may crash, or not.
    """
    zone, signer = "signed.lab.", Signer("signed.lab.")

    def hostile(query, _tcp):
        name, kind = name_and_kind(query)
        if kind == "MX" and name.startswith("a."):
            return reply_to(query, signer.with_signatures(rrset(name, 3600, "CNAME", f"end.{zone}")))
        if kind == "MX" and name != zone:
            return reply_to(query, signer.with_signatures(rrset(name, 3600, "MX", f"10 mail.{zone}")),
                            [rrset(f"x.{zone}", 3600, "NSEC", f"y.{zone} A RRSIG")],
                            signer.with_signatures(rrset(f"mail.{zone}", 3600, "A", "192.0.2.10")))
        return signed_basics(query, signer, zone, LEAF) or nothing(query, zone)

    world.serve(zone, LEAF, hostile)
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    if not world.withstands("a place that is not filled"):
        world.ask(f"end.{zone}", "MX")    # what comes of the alias is not defined
        return
    assert world.ask(f"a.{zone}", "MX").rcode() == dns.rcode.SERVFAIL
    assert world.is_alive()


def test_names_that_end_early(world):
    """CVE-2026-56416: a record with fewer names than its type has (PX), in a signed zone."""
    zone, signer = "signed.lab.", Signer("signed.lab.")

    def hostile(query, _tcp):
        name, kind = name_and_kind(query)
        if kind == "PX" and name != zone:
            good = rrset(name, 3600, "PX", f"10 a.{zone} b.{zone}")
            signature = signer.signature(good)
            short = dns.rdata.GenericRdata(dns.rdataclass.IN, dns.rdatatype.PX,
                                           b"\0\x0a" + dns.name.from_text(f"a.{zone}").to_wire())
            bad = dns.rrset.RRset(dns.name.from_text(name), dns.rdataclass.IN, dns.rdatatype.PX)
            bad.update_ttl(3600)
            bad.items[short] = None
            return reply_to(query, [bad, signature])
        return signed_basics(query, signer, zone, LEAF) or nothing(query, zone)

    world.serve(zone, LEAF, hostile)
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    for n in range(20):
        assert world.ask(f"n{n}.{zone}", "PX").rcode() == dns.rcode.SERVFAIL
    assert world.is_alive() and f"n19.{zone}" in world.scripted[zone].seen


# --- Work without bounds --------------------------------------------------------------------------

def tag_of(octets):
    return dns.dnssec.key_id(dns.rdata.from_wire("IN", "DNSKEY", octets, 0, len(octets)))


def with_tag(octets, tag):
    """A DNSKEY that has this key tag: its last octets are chosen for it."""
    at_zero = tag_of(octets[:-2] + bytes(2))
    for carry in range(2):
        made = octets[:-2] + ((tag - at_zero - carry) % 0x10000).to_bytes(2, "big")
        if tag_of(made) == tag:
            return made
    raise AssertionError("no such key")


def test_many_keys_with_one_tag(world):
    """CVE-2023-50387 (KeyTrap): each of many signatures may be by each of many keys."""
    zone, signer = "signed.lab.", Signer("signed.lab.")
    tag = dns.dnssec.key_id(signer.key)
    for n in range(60):    # points that are on no curve cost nothing, so these are of RSA's kind
        modulus = bytes([0xc1, n]) + bytes((n * 7 + i * 13) % 256 for i in range(254))
        octets = b"\x01\x01\x03\x08\x03\x01\x00\x01" + modulus
        made = with_tag(octets, tag)
        signer.keys.add(dns.rdata.from_wire("IN", "DNSKEY", made, 0, len(made)))
    assert len(signer.keys) == 61

    def hostile(query, _tcp):
        name, kind = name_and_kind(query)
        if kind == "A" and not name.startswith("ns."):
            records = rrset(name, 3600, "A", TRUE)
            signatures = dns.rrset.from_text(name, 3600, "IN", "RRSIG", *(
                f"A 8 3 3600 20380101000000 20200101000000 {tag} {zone} "
                + base64.b64encode(bytes([n]) * 256).decode() for n in range(60)))
            return reply_to(query, [records, signatures])
        return signed_basics(query, signer, zone, LEAF) or nothing(query, zone)

    world.serve(zone, LEAF, hostile)
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    assert world.ask(f"www.{zone}").rcode() == dns.rcode.SERVFAIL
    assert world.is_alive() and "too many RRSIG validations" in world.daemon.log()


def test_a_delegation_to_many_names(world):
    """CVE-2022-3204 and NXNSAttack (CVE-2020-12662): name servers whose names all lead nowhere."""
    servers = [f"n.nowhere{n}.lab." for n in range(300)]

    def hostile(query, _tcp):
        name, kind = name_and_kind(query)
        if name.endswith(".wide.evil.lab.") or name == "wide.evil.lab.":
            return reply_to(query, authority=[rrset("wide.evil.lab.", 3600, "NS", *servers)], aa=False)
        return of_server(query, "evil.lab.", LEAF) or nothing(query, "evil.lab.")

    world.serve("evil.lab.", LEAF, hostile)
    world.start()
    assert world.ask("www.wide.evil.lab.", timeout=30).rcode() == dns.rcode.SERVFAIL
    asked = {name.lower() for name in world.tld.seen if "nowhere" in name.lower()}
    assert 0 < len(asked) < 50, len(asked)


def test_glue_that_leads_to_this_host(world):
    """CVE-2026-50251: name servers at 0.0.0.0, which is this host, get no question."""
    here = world.script("here", lambda query, _tcp: reply_to(
        query, [rrset(name_and_kind(query)[0], 60, "A", FALSE)]), "127.0.0.1")
    world.zones["evil.lab."] = "0.0.0.0", 3600
    world.start()
    assert world.ask("www.evil.lab.", timeout=30).rcode() == dns.rcode.SERVFAIL
    assert not here.seen
