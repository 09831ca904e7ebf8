# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Public attacks on the validator, rebuilt from their descriptions: test_resolver_attacks.py."""
import base64
import os
import signal
import struct
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
import dns.wire
import pytest

import hostile
from hostile import (EVIL, FALSE, LEAF, ROOT, TLD, TRUE, Signer, hostile_world, message,
                     name_and_kind, nothing, of_server, pointer, record, reply_to, rrset,
                     signed_basics, soa, wire_name)
from netlab import V4, texts, wait_for


@pytest.fixture(name="world")
def make_world(lab, daemon, tmp_path):
    with hostile_world(lab, daemon, tmp_path / "world") as made:
        yield made


@pytest.fixture(name="either", params=["volleyd", "unbound"])
def make_either(lab, daemon, tmp_path, request):
    """volleyd, or unbound of the same version as libunbound: with equal options both are alike."""
    with hostile_world(lab, daemon, tmp_path / "world", request.param) as made:
        yield made


# --- Crashes --------------------------------------------------------------------------------------

def test_a_crash_is_seen(world):
    """libunbound is not in volleyd, which outlives it: the tests look at the resolver's process."""
    world.serve("plain.lab.", LEAF, lambda query, _tcp: of_server(query, "plain.lab.", LEAF) or
                reply_to(query, [rrset(name_and_kind(query)[0], 60, "A", TRUE)]))
    world.start()
    assert texts(world.ask("www.plain.lab.")) == [TRUE]
    assert world.is_alive()
    os.kill(world.daemon.status()["recursion"]["process"], signal.SIGABRT)
    wait_for("the next process", lambda: not world.is_alive() and
             world.daemon.status()["recursion"]["process_restarts"])
    assert texts(world.ask("ftp.plain.lab.")) == [TRUE] and not world.is_alive()


def test_aliases_below_one_dname(world):
    """
    CVE-2026-42959: a chain of aliases of which two are below one DNAME, then a set without signature
    and a signed address. From libunbound 1.21.0 on, and before 1.25.1, the validator crashes.
    """
    zone, signer = "signed.lab.", Signer("signed.lab.")
    dname = signer.with_signatures(rrset(f"d.{zone}", 3600, "DNAME", f"tgt.{zone}"))
    chain = {f"a.d.{zone}": f"a.tgt.{zone}", f"a.tgt.{zone}": f"b.d.{zone}",
             f"b.d.{zone}": f"c.d.{zone}", f"c.d.{zone}": f"end.{zone}"}

    def hostile(query, _tcp):
        name, kind = name_and_kind(query)
        if name in chain and kind == "MX":
            alias = rrset(name, 3600, "CNAME", chain[name])
            return reply_to(query, {
                f"a.d.{zone}": [*dname, alias],
                f"a.tgt.{zone}": signer.with_signatures(alias)}.get(name, [alias]))
        if kind == "MX" and name == f"end.{zone}":
            return reply_to(query, signer.with_signatures(rrset(name, 3600, "MX", f"10 mail.{zone}")),
                            [rrset(f"x.{zone}", 3600, "NSEC", f"y.{zone} A RRSIG")],
                            signer.with_signatures(rrset(f"mail.{zone}", 3600, "A", "192.0.2.10")))
        return signed_basics(query, signer, zone, LEAF) or nothing(query, zone)

    world.serve(zone, LEAF, hostile)
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    assert world.ask(f"a.d.{zone}", "MX").rcode() == dns.rcode.SERVFAIL
    assert world.is_alive() and f"end.{zone}" in world.scripted[zone].seen


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


# --- Messages of which the validator makes more than fits -----------------------------------------

LONG = ".".join(["x" * 63, "y" * 63, "z" * 63, "w" * 56, "lab."])    # 255 octets


def sign_top(world, more):
    """lab. is signed, and the trust anchor; MORE has further record sets of it, by name and type."""
    signer = Signer("lab.")

    def top(query, tcp):
        known = more.get(name_and_kind(query))
        if known:
            return reply_to(query, signer.with_signatures(known))
        return signed_basics(query, signer, "lab.", TLD) or world.top(query, tcp)

    world.tld.reply = top
    return signer.anchor(world.folder)


def test_a_key_longer_than_the_buffer(world):
    """
    CVE-2026-81642: the name of a key lies in its own data, by compression, so name and data
    together are longer than any message.
    """
    zone = "x" * 63 + ".lab."
    name_at = 12 + 6 + 12 + 4
    data = b"\x01\x01\x03\x0d" + wire_name(zone)
    data += bytes(65535 - 12 - 6 - 12 - len(data))
    tag = dns.dnssec.key_id(dns.rdata.from_wire("IN", "DNSKEY", data, 0, len(data)))

    def hostile(query, tcp):
        name, kind = name_and_kind(query)
        if kind != "DNSKEY":
            return of_server(query, zone, LEAF) or reply_to(query, [rrset(name, 3600, "A", TRUE)])
        if not tcp:
            return reply_to(query, flags=dns.flags.TC)
        question = pointer(name_at) + struct.pack("!HH", 48, 1)
        return message(query, question, [record(pointer(name_at), "DNSKEY", 3600, data)])

    world.serve(zone, LEAF, hostile)
    world.start(**{"trust-anchor": sign_top(world, {
        (zone, "DS"): rrset(zone, 3600, "DS", f"{tag} 13 2 {'00' * 32}")})})
    assert world.ask(zone).rcode() == dns.rcode.SERVFAIL
    assert world.is_alive() and "DS hash mismatches key" in world.daemon.log()


def test_an_owner_longer_than_the_rest_of_the_buffer(world):
    """CVE-2026-81634: a record of a name of 255 octets fills a message."""
    zone, signer = "lab.", Signer("lab.")
    name_at = 12 + 6 + 12 + 1
    sig = struct.pack("!HBBIIIH", 16, 13, 5, 3600, 0x7fffffff, 1, dns.dnssec.key_id(signer.key)) + \
        wire_name(zone) + bytes(64)
    size = 65535 - 12 - 6 - 12 - 12 - len(sig)
    data = b"\xff" + wire_name(LONG)
    data = data.ljust(256, b"x")
    while len(data) < size:
        n = min(255, size - len(data) - 1)
        data += bytes([n]) + b"x" * n
    assert len(data) == size

    def top(query, tcp):
        name, kind = name_and_kind(query)
        if kind == "TXT" and name == LONG:
            if not tcp:
                return reply_to(query, flags=dns.flags.TC)
            question = pointer(name_at) + struct.pack("!HH", 16, 1)
            return message(query, question, [record(pointer(name_at), "TXT", 3600, data),
                                             record(pointer(name_at), "RRSIG", 3600, sig)])
        return signed_basics(query, signer, zone, TLD) or nothing(query, zone)

    world.tld.reply = top
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    assert world.ask(LONG, "TXT").rcode() == dns.rcode.SERVFAIL
    assert world.is_alive() and LONG in world.tld.seen


def test_a_name_at_the_end_of_the_buffer(world):
    """CVE-2026-56416: the data of a record ends before its second name, at the end of the buffer."""
    zone, signer = "lab.", Signer("lab.")
    room = 65552 - 18 - len(wire_name(zone))
    each = 255 + 8 + 2 + 3
    n = room // each - 1
    first = room - n * each - 255 - 8 - 2
    datas = [b"\0\0" + b"\x01a" * ((first - 3) // 2) + bytes(1 + (first - 3) % 2)]
    datas[0] = datas[0].ljust(first, b"\0")
    datas += [struct.pack("!H", i + 1) + b"\0" for i in range(n)]
    sig = struct.pack("!HBBIIIH", 26, 13, 5, 3600, 0x7fffffff, 1, dns.dnssec.key_id(signer.key)) + \
        wire_name(zone) + bytes(64)
    question = wire_name(LONG) + struct.pack("!HH", 26, 1)

    def top(query, tcp):
        name, kind = name_and_kind(query)
        if kind == "PX" and name == LONG:
            if not tcp:
                return reply_to(query, flags=dns.flags.TC)
            return message(query, question, [record(pointer(12), "PX", 3600, one) for one in datas]
                           + [record(pointer(12), "RRSIG", 3600, sig)])
        return signed_basics(query, signer, zone, TLD) or nothing(query, zone)

    world.tld.reply = top
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    assert world.ask(LONG, "PX").rcode() == dns.rcode.SERVFAIL
    assert world.is_alive() and LONG in world.tld.seen


def test_a_proof_that_is_continued_later(world):
    """
    CVE-2026-33278: the denial of a DS whose NSEC3 records have different salts. The validator pauses
    after a few hashes, and before 1.25.1 goes on in memory that it has freed.
    """
    zone, signer = "signed.lab.", Signer("signed.lab.")
    denial = signer.with_signatures(soa(zone), *(
        rrset(f"{n:032d}.{zone}", 3600, "NSEC3", f"1 0 0 {n:04x} {n + 1:032d} A")
        for n in range(300)))

    def hostile(query, _tcp):
        name, kind = name_and_kind(query)
        if kind == "DS":
            return reply_to(query, authority=denial)
        return signed_basics(query, signer, zone, LEAF) or reply_to(
            query, [rrset(name, 3600, "A", TRUE)])

    world.serve(zone, LEAF, hostile)
    world.serve("plain.lab.", EVIL, lambda query, _tcp: of_server(query, "plain.lab.", EVIL) or
                reply_to(query, [rrset(name_and_kind(query)[0], 60, "TXT", *(
                    f"{n}" * 40 for n in range(20)))]))
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    world.ask("plain.lab.", "NS")
    with world.lab.socket("c") as sock:
        for n in range(4):
            sock.sendto(dns.message.make_query(f"www.sub{n}.{zone}", "A").to_wire(), (V4, 53))
        for n in range(200):
            sock.sendto(dns.message.make_query(f"n{n}.plain.lab.", "TXT").to_wire(), (V4, 53))
            time.sleep(0.003)
    if world.withstands("freed proof"):
        assert world.ask(f"www.sub9.{zone}").rcode() == dns.rcode.SERVFAIL
        assert world.is_alive()
    else:    # with 1.17.1 it ended in each of our runs
        world.daemon.kill()


# --- False answers --------------------------------------------------------------------------------

def test_a_wildcard_of_the_parent(world):
    """
    CVE-2026-44690: a zone signs a record with fewer labels than its own name has, as the expansion
    of a wildcard of its parent. Then names that do not exist there have this record.
    """
    zone, evil = "signed.lab.", "evil.signed.lab."
    signer, evil_signer = Signer(zone), Signer(evil)
    false = dns.rdata.from_text("IN", "A", FALSE)
    false_signature = dns.rdata.from_wire_parser("IN", "RRSIG", dns.wire.Parser(
        evil_signer.raw_signature(1, 2, wire_name(f"*.{zone}"), [false.to_wire()])))
    denial = signer.with_signatures(soa(zone), rrset(zone, 3600, "NSEC", f"{evil} NS SOA RRSIG NSEC"),
                                    rrset(evil, 3600, "NSEC", f"zz.{zone} NS DS RRSIG NSEC"))

    def parent(query, _tcp):
        name, kind = name_and_kind(query)
        if (name, kind) == (evil, "DS"):
            return reply_to(query, signer.with_signatures(evil_signer.ds()))
        if name.endswith(evil):
            return reply_to(query, authority=[rrset(evil, 3600, "NS", f"ns.{evil}"),
                                              *signer.with_signatures(evil_signer.ds())],
                            additional=[rrset(f"ns.{evil}", 3600, "A", EVIL)], aa=False)
        return signed_basics(query, signer, zone, LEAF) or reply_to(
            query, authority=denial, rcode=dns.rcode.NXDOMAIN)

    def hostile(query, _tcp):
        name, kind = name_and_kind(query)
        if (name, kind) == (f"www.{evil}", "A"):
            return reply_to(query, [dns.rrset.from_rdata(name, 3600, one)
                                    for one in (false, false_signature)])
        return signed_basics(query, evil_signer, evil, EVIL) or nothing(query, evil)

    world.serve(zone, LEAF, parent)
    world.script("evil", hostile, EVIL)
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    assert world.ask(f"www.{evil}").rcode() == dns.rcode.SERVFAIL
    for n in range(4):
        got = world.ask(f"n{n}.{zone}")
        assert got.rcode() == dns.rcode.NXDOMAIN and not got.answer, got


def island(world, reply):
    """Anchors for the signed root and for island.lab., with lab. between them not signed."""
    top, inner = Signer("."), Signer("island.lab.")
    no_ds = top.with_signatures(soa("."), rrset("lab.", 3600, "NSEC", "ns. NS RRSIG NSEC"))

    def root(query, tcp):
        if name_and_kind(query) == ("lab.", "DS"):
            return reply_to(query, authority=no_ds)
        return signed_basics(query, top, ".", ROOT) or hostile.root(query, tcp)

    world.scripted["."].reply = root
    world.serve("island.lab.", LEAF, lambda query, tcp: reply(query, inner) or signed_basics(
        query, inner, "island.lab.", LEAF) or nothing(query, "island.lab."))
    anchors = world.folder / "anchors"
    anchors.write_text(f"{top.ds()}\n{inner.ds()}\n")
    world.start(**{"trust-anchor": str(anchors)})


def test_a_denial_signed_by_the_parent_of_an_island(either):
    """CVE-2026-50106: the signer of a false denial in an island of trust is its insecure parent."""
    parent = Signer("lab.")

    def forged(query, _signer):
        if name_and_kind(query)[0] != "www.island.lab.":
            return None
        return reply_to(query, authority=parent.with_signatures(
            soa("island.lab."), rrset("island.lab.", 3600, "NSEC", "x.island.lab. NS SOA NSEC RRSIG")),
                        rcode=dns.rcode.NXDOMAIN)

    island(either, forged)
    got = either.ask("www.island.lab.").rcode()
    assert got == (dns.rcode.SERVFAIL if either.withstands("island denied by its parent") else
                   dns.rcode.NXDOMAIN)


def test_an_nsec_record_at_the_top_of_an_island(either):
    """CVE-2026-35501: an NSEC record without the bit of SOA seems to be of the insecure parent."""
    def forged(query, _signer):
        if name_and_kind(query) != ("island.lab.", "NSEC"):
            return None
        return reply_to(query, [rrset("island.lab.", 3600, "NSEC", "x.island.lab. NS RRSIG NSEC")])

    island(either, forged)
    got = either.ask("island.lab.", "NSEC").rcode()
    assert got == (dns.rcode.SERVFAIL if either.withstands("island denied by an NSEC") else
                   dns.rcode.NOERROR)


# --- Work -----------------------------------------------------------------------------------------

def test_a_name_of_many_labels_below_hashed_names(world):
    """
    CVE-2026-42923: for a DS question the cache of denials hashes each of 110 names above it, with
    the longest salt and the most iterations that count.
    """
    zone, signer, salt = "signed.lab.", Signer("signed.lab."), "ab" * 255
    top = dns.dnssec.nsec3_hash(zone, salt, 150, "SHA1")
    denial = signer.with_signatures(soa(zone), rrset(
        f"{top}.{zone}", 3600, "NSEC3", f"1 1 150 {salt} {top} NS SOA RRSIG DNSKEY"))
    world.serve(zone, LEAF, lambda query, _tcp: signed_basics(query, signer, zone, LEAF) or reply_to(
        query, authority=denial, rcode=dns.rcode.NXDOMAIN))
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    assert world.ask(f"x.{zone}").rcode() == dns.rcode.NXDOMAIN
    world.ask("a." * 110 + zone, "DS")
    assert world.cpu_s() < 5 and world.is_alive()


def test_questions_of_a_validator_that_starts_again(world):
    """CVE-2026-50045: how many questions does one of a client bring about?"""
    zone, signer = "signed.lab.", Signer("signed.lab.")
    labels = 20

    def hostile(query, _tcp):
        name, kind = name_and_kind(query)
        basics = signed_basics(query, signer, zone, LEAF)
        if basics:
            return basics
        if kind == "DS" and name.count(".") < labels + 2:
            return reply_to(query, authority=signer.with_signatures(
                soa(zone), rrset(name, 3600, "NSEC", f"\\000.{name} RRSIG NSEC TYPE128")))
        if kind == "A" and name.count(".") == labels + 2:
            return reply_to(query, [rrset(name, 3600, "A", TRUE)])
        return reply_to(query, authority=[soa(zone)])

    server = world.serve(zone, LEAF, hostile)
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    world.ask(zone, "NS")
    before = len(server.seen)
    assert world.ask("a." * labels + zone, timeout=30).rcode() == dns.rcode.SERVFAIL
    # 78 to 81; on a busy machine, where a server may be late, 206 in some runs
    assert labels < len(server.seen) - before < 20 * labels


def test_many_signatures_in_the_additional_section(world):
    """CVE-2026-85501 (ReTrap): 300 additional record sets, each with its signature."""
    zone, signer = "signed.lab.", Signer("signed.lab.")

    def hostile(query, tcp):
        name, kind = name_and_kind(query)
        if kind == "MX":
            if not tcp:
                return reply_to(query, flags=dns.flags.TC)
            mails = [f"m{n}.{zone}" for n in range(300)]
            extra = [rrset(one, 3600, "A", TRUE) for one in mails]
            return reply_to(query, signer.with_signatures(rrset(name, 3600, "MX", *(
                f"10 {one}" for one in mails))), additional=signer.with_signatures(*extra))
        return signed_basics(query, signer, zone, LEAF) or nothing(query, zone)

    world.serve(zone, LEAF, hostile)
    world.start(**{"trust-anchor": signer.anchor(world.folder)})
    world.ask(f"n.{zone}", "MX")    # SERVFAIL, or the answer without this section
    assert world.cpu_s() < 5 and world.scripted[zone].seen.count(f"n.{zone}") > 1
