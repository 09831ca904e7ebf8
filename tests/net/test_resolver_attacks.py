# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Public attacks on resolvers, rebuilt from their descriptions: what hostile servers send, and what
volleyd makes of it with the libunbound that it runs with. test_resolver_validator.py has those that
need signatures. hostile.py says when an attack is expected to work.
"""
import time

import dns.rcode
import pytest

from hostile import (EVIL, FALSE, LEAF, TRUE, hostile_world, long_chains, many_names, many_options,
                     name_and_kind, nothing, of_server, own_name, reply_to, rrset)
from netlab import CLIENT4, texts, wait_for
from upstreams import unbound_version


@pytest.fixture(name="world")
def make_world(lab, daemon, tmp_path):
    with hostile_world(lab, daemon, tmp_path / "world") as made:
        yield made


@pytest.fixture(name="either", params=["volleyd", "unbound"])
def make_either(lab, daemon, tmp_path, request):
    """volleyd, or unbound of the same version as libunbound: with equal options both are alike."""
    with hostile_world(lab, daemon, tmp_path / "world", request.param) as made:
        yield made


# --- False records in the cache -------------------------------------------------------------------

def test_poison_by_glue_of_mx(either):
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

    either.serve("victim.lab.", LEAF, victim)
    evil = either.script("evil", lambda query, _tcp: reply_to(
        query, [rrset(name_and_kind(query)[0], 60, "A", FALSE)]), EVIL)
    # With the default the server's address is asked for at once, which hides the fault.
    either.start(**{"target-fetch-policy": "0 0 0 0 0"})
    assert texts(either.ask("trigger.victim.lab.")) == ["192.0.2.1"]
    got = texts(either.ask("check.victim.lab."))
    assert (got == [TRUE]) == either.withstands("poison by glue of MX"), got
    assert bool(evil.seen) != either.withstands("poison by glue of MX")


def test_poison_by_name_servers_in_an_answer(either):
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

    either.serve("victim.lab.", LEAF, victim)
    evil = either.script("evil", lambda query, _tcp: reply_to(
        query, [rrset(name_and_kind(query)[0], 60, "A", FALSE)]), EVIL)
    either.start()
    assert texts(either.ask("trigger.victim.lab.")) == ["192.0.2.1"]
    assert texts(either.ask("check.victim.lab.")) == [TRUE] and not evil.seen


def test_ghost_domain(either):
    """CVE-2026-40622: the child's own NS set, asked for, renews a delegation that has ended."""
    def middle(query, _tcp):
        name, kind = name_and_kind(query)
        if (name, kind) == ("ghost.lab.", "NS"):
            return reply_to(query, [rrset(name, 86400, "NS", "ns.ghost.lab.")],
                            additional=[rrset("ns.ghost.lab.", 86400, "A", LEAF)])
        if kind == "A" and name != "ns.ghost.lab.":
            return reply_to(query, [rrset(name, 1, "A", TRUE)])
        return of_server(query, "ghost.lab.", LEAF) or nothing(query, "ghost.lab.")

    either.serve("ghost.lab.", LEAF, middle, ttl_s=3)
    either.start()
    began = time.monotonic()
    assert texts(either.ask("a.ghost.lab.")) == [TRUE]
    either.ask("ghost.lab.", "NS")
    del either.zones["ghost.lab."]
    numbers = iter(range(1000))

    def outcome():
        if either.ask(f"n{next(numbers)}.ghost.lab.").rcode() == dns.rcode.NXDOMAIN:
            return "gone"
        return "lives on" if time.monotonic() - began > 6 else None

    seen = wait_for("the delegation has ended, or never ends", outcome, 30)
    assert (seen == "gone") == either.withstands("ghost domain"), seen


def test_ghost_address(world):
    """CVE-2026-42955: the old server's address, asked for, outlives a delegation to a new address."""
    def server(address, answer):
        def reply(query, _tcp):
            name, kind = name_and_kind(query)
            if (name, kind) == ("ns.ghost.lab.", "A"):
                return reply_to(query, [rrset(name, 86400, "A", address)])
            if kind == "A":
                return reply_to(query, [rrset(name, 1, "A", answer)])
            return of_server(query, "ghost.lab.", address) or nothing(query, "ghost.lab.")
        return reply

    world.serve("ghost.lab.", EVIL, server(EVIL, FALSE), ttl_s=3)
    world.script("new", server(LEAF, TRUE), LEAF)
    world.start(**{"target-fetch-policy": "0 0 0 0 0"})
    began = time.monotonic()
    assert texts(world.ask("a.ghost.lab.")) == [FALSE]
    world.ask("ns.ghost.lab.")
    world.zones["ghost.lab."] = LEAF, 3
    numbers = iter(range(1000))

    def ask():
        return texts(world.ask(f"n{next(numbers)}.ghost.lab."))

    wait_for("the parent is asked again", lambda: ask() == [TRUE] or time.monotonic() - began > 6, 30)
    got = [ask() for _ in range(3)]    # by what the cache has
    assert (got == [[TRUE]] * 3) == world.withstands("ghost address"), got


def test_a_stub_below_a_name_that_does_not_exist(world):
    """CVE-2026-44687: the parent's NXDOMAIN hides a zone that is configured below it."""
    world.script("inside", lambda query, _tcp: of_server(query, "inside.gone.lab.", LEAF) or reply_to(
        query, [rrset(name_and_kind(query)[0], 60, "A", TRUE)]), LEAF)
    world.start(**{"stubs": [{"zone": "inside.gone.lab.", "address": LEAF}]})
    assert world.ask("gone.lab.").rcode() == dns.rcode.NXDOMAIN
    assert texts(world.ask("www.inside.gone.lab.")) == [TRUE]


# --- Work without bounds --------------------------------------------------------------------------

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


def test_source_ports_of_one_thread(world):
    """CVE-2026-50252: a thread uses ports of the whole range, not a share that strangers can learn."""
    server = world.serve("ports.lab.", LEAF, lambda query, _tcp: of_server(
        query, "ports.lab.", LEAF) or reply_to(query, [rrset(name_and_kind(query)[0], 0, "A", TRUE)]))
    world.start(threads=4)
    for _ in range(60):    # one name, so one thread
        assert texts(world.ask("www.ports.lab.")) == [TRUE]
    ports = set(server.ports)
    assert len(ports) > 50 and min(ports) < 18000 and max(ports) > 49000, sorted(ports)


@pytest.mark.parametrize("kind, work", [("MX", many_names), ("MX", long_chains),
                                        ("A", many_options)])
def test_a_reply_of_much_work(world, kind, work):
    """The functions in hostile.py have the numbers of CVE. 1.26 refuses to read some of them."""
    world.serve("work.lab.", LEAF, lambda query, tcp: (
        work(query, tcp) if name_and_kind(query) == ("www.work.lab.", kind) else
        of_server(query, "work.lab.", LEAF) or nothing(query, "work.lab.")))
    world.start()
    got = world.ask("www.work.lab.", kind)
    assert got.rcode() in (dns.rcode.NOERROR, dns.rcode.SERVFAIL)
    assert kind == "MX" or texts(got) == [TRUE]
    assert world.cpu_s() < 5 and world.scripted["work.lab."].seen.count("www.work.lab.") > 1


@pytest.mark.parametrize("kind, work", [("MX", many_names), ("MX", long_chains),
                                        ("A", many_options), ("TXT", own_name)])
def test_the_forwarder_gets_a_reply_of_much_work(world, kind, work):
    """Volley's own forwarder reads the same replies."""
    up = world.script("up", work, LEAF)
    world.daemon.start(recursion={"allow": [CLIENT4], "forward": [LEAF], "query-localhost": True})
    assert world.daemon.status()["recursion"]["by"] == "forwarder"
    got = world.ask("www.work.lab.", kind)
    assert got.rcode() == (dns.rcode.SERVFAIL if work is own_name else dns.rcode.NOERROR)
    assert kind != "A" or texts(got) == [TRUE]
    assert world.cpu_s() < 5 and world.is_alive() and len(up.seen) > 1


# --- Options that 1.17 lacks ----------------------------------------------------------------------

@pytest.mark.parametrize("key, since, value", [
    ("harden-unknown-additional", (1, 18), True), ("harden-unverified-glue", (1, 22), True),
    ("max-global-quota", (1, 22), 2), ("max-global-quota", (1, 22), 50)])
def test_an_option_of_a_newer_library(world, key, since, value):
    """An older library refuses it with a sentence; with a newer one it has its effect."""
    world.serve("leaf.lab.", LEAF, lambda query, _tcp: of_server(query, "leaf.lab.", LEAF) or reply_to(
        query, [rrset(name_and_kind(query)[0], 60, "A", TRUE)]))
    version = unbound_version()
    if tuple(map(int, version.split(".")[:2])) < since:
        world.configure(**{key: value})
        status, log = world.daemon.run_failing()
        assert status and f"{key}: libunbound {version} does not have this option" in log, log
        return
    world.start(**{key: value})
    got = world.ask("www.leaf.lab.")
    assert (got.rcode() == dns.rcode.SERVFAIL) == (value == 2) and got.rcode() in (0, 2)
