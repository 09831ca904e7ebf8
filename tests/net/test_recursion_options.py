# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys below recursion that unbound has, too: each row asks volleyd and unbound the same, with the
same option."""
import re

import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from dnstree import OUTSIDE4, ask, query, world_of
from netlab import wait_for
from optionpeers import (EVIL, FORWARDED, PEER, PEER6, RESOLVERS, SOURCE, Growing, Pair, chain,
                         fails, hides_above,
                         leads_away, says, tells_case, ttl_of, until_expired, verdict)
from rivals import unbound_stale_ttl

TRUE = "A 192.0.2.80"
OK, NOTHING, FAILED, NO_NAME = ("NOERROR", [TRUE]), ("NOERROR", []), ("SERVFAIL",
                                                                      []), ("NXDOMAIN", [])
ELSEWHERE = ("NOERROR", [f"A {FORWARDED}"])
FIRST, SECOND = RESOLVERS["first"], RESOLVERS["second"]


@pytest.fixture(name="world", scope="module")
def make_world(tmp_path_factory, tree_zones):
    with world_of(tmp_path_factory.mktemp("world"), tree_zones) as world:
        world.lab.ip("s", "address", "add", f"{PEER6}/128", "dev", "lo", "nodad")
        yield world


@pytest.fixture(name="pair")
def make_pair(world):
    pair = Pair(world)
    yield pair
    pair.end()


def zone_clause(kind, zone, *addresses, **more):
    lines = [f"{kind}-addr: {address}" for address in addresses]
    lines += [f"{kind}-{word.replace('_', '-')}: {value}" for word, value in more.items()]
    return f'{kind}-zone:\n  name: "{zone}"\n' + "".join(f"  {line}\n" for line in lines)


def zones_key(zone, *addresses, **more):
    return [{"zone": zone, "address": address, **more} for address in addresses]


FILL, COUNT = "fill.lab.", "count.lab."
UNSIGNED = {"fill.lab.": says("192.0.2.80")}
def says_mapped(made, _tcp):
    """An IPv4-mapped address, which a client takes for the IPv4 address in it."""
    out = dns.message.make_response(made)
    out.flags |= dns.flags.AA
    if made.question[0].rdtype == dns.rdatatype.AAAA:
        out.answer = [dns.rrset.from_text(made.question[0].name, 300, "IN", "AAAA",
                                          "::ffff:192.0.2.80")]
    return out.to_wire()


PRIVATE = {"private-address": ["192.0.2.0/24", "2001:db8::/32"]}
PRIVATE_LINES = ["private-address: 192.0.2.0/24", "private-address: 2001:db8::/32"]
DNS64_LINES = ['module-config: "dns64 validator iterator"']
CASE = ["use-caps-for-id: yes"]

# Name: (keys of volleyd, lines of unbound's server clause, its other clauses, servers, {question:
# verdict})
ROWS = {
    "do-ip6": ({"do-ip6": True}, [], "", {}, {("www.six.lab.", "A"): OK}),
    "do-ip6 off": ({"do-ip6": False}, ["do-ip6: no"], "", {},
                   {("www.six.lab.", "A"): FAILED, ("www.good.lab.", "A"): OK}),
    "do-ip4 off": ({"do-ip4": False}, ["do-ip4: no"], "", {}, {("www.good.lab.", "A"): FAILED}),
    "a forward zone": (
        {"forward-zones": zones_key(FILL, FIRST)}, [], zone_clause("forward", FILL, FIRST),
        {**UNSIGNED, "first": says(FORWARDED)},
        {("www.fill.lab.", "A"): ELSEWHERE, ("www.plain.lab.", "A"): OK}),
    "a forward zone of two": (
        {"forward-zones": zones_key(FILL, FIRST, SECOND)}, [],
                              zone_clause("forward", FILL, FIRST, SECOND),
        {**UNSIGNED, "first": fails, "second": says(FORWARDED)},
                              {("www.fill.lab.", "A"): ELSEWHERE}),
    "a forward zone that fails": (
        {"forward-zones": zones_key(FILL, FIRST)}, [], zone_clause("forward", FILL, FIRST),
        {**UNSIGNED, "first": fails}, {("www.fill.lab.", "A"): FAILED}),
    "a forward zone, first": (
        {"forward-zones": zones_key(FILL, FIRST, first=True)}, [],
                              zone_clause("forward", FILL, FIRST, first="yes"),
        {**UNSIGNED, "first": fails}, {("www.fill.lab.", "A"): OK}),
    "a forward zone over TCP": (
        {"forward-zones": zones_key(FILL, FIRST, transport="tcp")}, [],
        zone_clause("forward", FILL, FIRST, tcp_upstream="yes"),
        {"first": says(FORWARDED, only_tcp=True)}, {("www.fill.lab.", "A"): ELSEWHERE}),
    "forwarders that fail": (
        {"forward": [FIRST], "trust-anchor": None}, [], zone_clause("forward", ".", FIRST),
        {"first": fails}, {("www.plain.lab.", "A"): FAILED}),
    "forward-first": (
        {"forward": [FIRST], "forward-first": True, "trust-anchor": None}, [],
        zone_clause("forward", ".", FIRST, first="yes"), {"first": fails},
                      {("www.plain.lab.", "A"): OK}),
    "a stub that fails": (
        {"stubs": zones_key(FILL, FIRST)}, [], zone_clause("stub", FILL, FIRST),
                          {**UNSIGNED, "first": fails},
        {("www.fill.lab.", "A"): FAILED}),
    "a stub, first": (
        {"stubs": zones_key(FILL, FIRST, first=True)}, [],
                      zone_clause("stub", FILL, FIRST, first="yes"),
        {**UNSIGNED, "first": fails}, {("www.fill.lab.", "A"): OK}),
    "a stub of two": (
        {"stubs": zones_key(FILL, FIRST, SECOND)}, [], zone_clause("stub", FILL, FIRST, SECOND),
        {"first": fails, "second": says(FORWARDED)}, {("www.fill.lab.", "A"): ELSEWHERE}),
    "a stub over TCP": (
        {"stubs": zones_key(FILL, FIRST, transport="tcp")}, [],
                        zone_clause("stub", FILL, FIRST, tcp_upstream="yes"),
        {"first": says(FORWARDED, only_tcp=True)}, {("www.fill.lab.", "A"): ELSEWHERE}),
    "private-address": (PRIVATE, PRIVATE_LINES, "", {}, {("www.plain.lab.", "A"): NOTHING,
                                                         ("deep.er.leaf.raw.", "A"): NOTHING}),
    "private-address of a mapped address": (
        PRIVATE, [*PRIVATE_LINES, "private-address: ::ffff:192.0.2.0/120"], "",
        {FILL: says_mapped}, {("www.fill.lab.", "AAAA"): NOTHING}),
    "private-address of all mapped addresses": (
        {"private-address": ["::ffff:0:0/96"]}, ["private-address: ::ffff:0:0/96"], "",
        {FILL: says_mapped}, {("www.fill.lab.", "AAAA"): NOTHING}),
    "private-domain": (
        {**PRIVATE, "private-domain": ["plain.lab"]}, [*PRIVATE_LINES, "private-domain: plain.lab"],
                       "", {},
        {("www.plain.lab.", "A"): OK, ("www.leaf.raw.", "A"): NOTHING}),
    "harden-glue": ({}, [], "", {FILL: leads_away, "evil": says(EVIL)},
                    {("www.cut.fill.lab.", "A"): FAILED}),
    "harden-glue off": (
        {"harden-glue": False}, ["harden-glue: no"], "", {FILL: leads_away, "evil": says(EVIL)},
        {("www.cut.fill.lab.", "A"): ("NOERROR", [f"A {EVIL}"])}),
    "qname-minimisation": ({}, ["qname-minimisation: yes"], "", {FILL: hides_above(FILL)},
                           {("www.cut.fill.lab.", "A"): OK}),
    "qname-minimisation-strict": (
        {"qname-minimisation-strict": True},
                                  ["qname-minimisation: yes", "qname-minimisation-strict: yes"], "",
        {FILL: hides_above(FILL)}, {("www.cut.fill.lab.", "A"): NO_NAME}),
    "caps-exempt": (
        {"caps-for-id": True, "caps-exempt": [FILL], "qname-minimisation": False},
        [*CASE, f"caps-exempt: {FILL}", "qname-minimisation: no"], "", {FILL: tells_case},
        {("letters-of-a-long-name.fill.lab.", "A"): ("NOERROR", ["A 192.0.2.1"])}),
    "max-query-restarts": (
        {"max-query-restarts": 5}, ["max-query-restarts: 5"], "",
        {FILL: chain((FILL, COUNT), 9), COUNT: chain((FILL, COUNT), 9)},
        {("a8.fill.lab.", "A"): FAILED}),
    "target-fetch-policy": (
        {"target-fetch-policy": "0 0 0"}, ['target-fetch-policy: "0 0 0"'], "", {},
                            {("www.good.lab.", "A"): OK}),
    "no DNS64": ({}, [], "", {}, {("x.wild.plain.lab.", "AAAA"): NOTHING}),
    "DNS64": (
        {"dns64": True}, DNS64_LINES, "", {},
        {("x.wild.plain.lab.", "AAAA"): ("NOERROR", ["AAAA 64:ff9b::c000:209"]),
         ("www.good.lab.", "AAAA"): ("NOERROR", ["AAAA 2001:db8::80"]),
         ("x.wild.good.lab.", "AAAA"): ("NOERROR", ["AAAA 64:ff9b::c000:209"]),
         ("x.wild.nsec3.lab.", "AAAA"): ("NOERROR", ["AAAA 64:ff9b::c000:209"]),
         ("y.wild.nsec3.lab.", "AAAA"): ("NOERROR", ["AAAA 64:ff9b::c000:209"]),
         ("nothere.good.lab.", "AAAA"): NO_NAME, ("x.wild.broken.lab.", "TXT"): NOTHING}),
    "dns64-prefix": (
        {"dns64": True, "dns64-prefix": "2001:db8:64::/64"},
                     [*DNS64_LINES, "dns64-prefix: 2001:db8:64::/64"], "", {},
        {("x.wild.plain.lab.", "AAAA"): ("NOERROR", ["AAAA 2001:db8:64:0:c0:2:900:0"])}),
    "dns64-synthall": (
        {"dns64": True, "dns64-synthall": True}, [*DNS64_LINES, "dns64-synthall: yes"], "", {},
        {("www.plain.lab.", "AAAA"): ("NOERROR", ["AAAA 64:ff9b::c000:250"])}),
}


@pytest.mark.parametrize("row", ROWS)
def test_an_option(pair, row):
    keys, lines, clauses, servers, questions = ROWS[row]
    for where, reply in servers.items():
        pair.script(where, reply)
    anchor = "trust-anchor" not in keys
    pair.start({"query-timeout": "9s", **keys}, lines, clauses, anchor)
    for (name, kind), expected in questions.items():
        ours, theirs = pair.ask(query(name, kind))
        assert (verdict(ours), verdict(theirs)) == (expected,
                                                    expected), f"{name} {kind}\n{ours}\n{theirs}"
    assert (pair.world.daemon.status()["recursion"]["mode"] ==
            ("forward" if "forward" in keys else "iterate"))


# --- DNSSEC ---------------------------------------------------------------------------------------


def anchors(world, *more):
    """A file of the root's key and more records."""
    path = world.folder / "anchors"
    path.write_text(world.tree.zones.anchor.read_text(encoding="ascii") + "".join(more),
                    encoding="ascii")
    return path


NO_KEY = f"plain.lab. IN DS 12345 13 2 {'AB' * 32}\n"  # of a zone that is not signed


def other_algorithm(zones):
    """The zone's own DS, and one for a key that it has not, of another algorithm."""
    tag = zones.ds["good.lab."].split()[-4]
    return zones.ds["good.lab."] + f"good.lab. IN DS {tag} 8 2 {'AB' * 32}\n"


@pytest.mark.parametrize("option,default,name,record", [
    ("harden-dnssec-stripped", True, "www.plain.lab.", lambda zones: NO_KEY),
    ("harden-algo-downgrade", False, "www.good.lab.", other_algorithm)],
                         ids=["stripped", "algorithm"])
@pytest.mark.parametrize("is_on", [None, True, False], ids=["default", "on", "off"])
def test_hardening_of_signatures(pair, option, default, name, record, is_on):
    path = anchors(pair.world, record(pair.world.tree.zones))
    keys = {} if is_on is None else {option: is_on}
    pair.start({**keys, "trust-anchor": str(path)},
               [] if is_on is None else [f"{option}: {'yes' if is_on else 'no'}"])
    expected = FAILED if (default if is_on is None else is_on) else OK
    ours, theirs = pair.ask(query(name))
    assert (verdict(ours), verdict(theirs)) == (expected, expected), f"{ours}\n{theirs}"


def key_tag(zones):
    return int(re.search(r"id = (\d+)|keytag.*?(\d+)", zones.anchor.read_text(encoding="ascii"))[1])


@pytest.mark.parametrize("is_on", [True, False], ids=["on", "off"])
def test_root_key_sentinel(pair, is_on):
    """
    RFC 8509 section 3.3: of a key that is trusted "is" resolves and "not" fails; of another one the
    other way.
    """
    pair.start({"root-key-sentinel": is_on}, [f"root-key-sentinel: {'yes' if is_on else 'no'}"])
    tag = key_tag(pair.world.tree.zones)
    found = ("NOERROR", ["A 192.0.2.9"])
    for word, number, is_found in (("is", tag, True), ("is", tag ^ 1, False), ("not", tag, False),
                                   ("not", tag ^ 1, True)):
        name = f"root-key-sentinel-{word}-ta-{number:05}.wild.good.lab."
        expected = found if is_found or not is_on else FAILED
        ours, theirs = pair.ask(query(name))
        assert (verdict(ours), verdict(theirs)) == (expected, expected), f"{name}\n{ours}\n{theirs}"


@pytest.mark.parametrize("is_on", [True, False], ids=["on", "off"])
def test_harden_below_nxdomain(pair, is_on):
    """
    A name was proved not to exist, and has names below it since: RFC 8020 says that they are not
    there either.
    """
    zone = "growing.example."
    growing = Growing(pair.world, zone, SECOND)
    try:
        pair.start({"harden-below-nxdomain": is_on, "aggressive-nsec": False,
                    "stubs": zones_key(zone, SECOND),
                    "trust-anchor": str(anchors(pair.world, growing.ds))},
                   ["aggressive-nsec: no", f"harden-below-nxdomain: {'yes' if is_on else 'no'}"],
                   zone_clause("stub", zone, SECOND))
        for reply in pair.ask(query(f"late.{zone}")):
            assert verdict(reply) == NO_NAME
        growing.serve("www.late A 192.0.2.80\n")
        for reply in pair.ask(query(f"www.late.{zone}")):
            assert verdict(reply) == (NO_NAME if is_on else OK), reply
    finally:
        growing.end()


# --- Time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys,lines,life_s,name,least,most", [
    ({"max-ttl": 60}, ["cache-max-ttl: 60"], 300, "www.fill.lab.", 55, 60),
    ({"min-ttl": 100}, ["cache-min-ttl: 100"], 2, "www.fill.lab.", 95, 100),
    ({"max-negative-ttl": 10}, ["cache-max-negative-ttl: 10"], 300, "nothere.plain.lab.", 5, 10),
    ({}, [], 300, "www.fill.lab.", 295, 300)], ids=["max", "min", "negative", "none"])
@pytest.mark.parametrize("forward", [False, True], ids=["libunbound", "forwarder"])
def test_bounds_of_ttls(pair, forward, keys, lines, life_s, name, least, most):
    """Also of what is asked for again, out of the caches."""
    pair.script(FILL, says("192.0.2.80", life_s))
    pair.start_peer(lines, "", None)
    more = {"forward": [PEER], "trust-anchor": None, "root-hints": None} if forward else {}
    pair.start_ours({**keys, **more})
    assert (pair.world.daemon.status()["recursion"]["by"] ==
            ("forwarder" if forward else "libunbound"))
    for _ in range(2):
        for reply in pair.ask(query(name)):
            assert least <= ttl_of(reply) <= most, reply


def test_an_answer_that_was_kept_long_enough_is_fetched_anew(pair):
    """max-ttl is libunbound's as well: it does not answer with what its first memory still has."""
    server = pair.script(FILL, says("192.0.2.80", 300))
    pair.start_ours({"max-ttl": 1, "qname-minimisation": False})
    server.seen.clear()
    for n in range(3):
        until_expired(2.1 * bool(n))
        assert verdict(ask(pair.world.lab, query("kept.fill.lab."))) == OK
    assert [name.lower() for name in server.seen].count("kept.fill.lab.") == 3


def test_stale_at_once(pair):
    """
    The client does not wait, the TTL is the one that is configured, and the fresh answer comes
    behind.
    """
    server = pair.script(FILL, says("192.0.2.80", 1))
    pair.start({"serve-stale": "1h", "stale-client-timeout": 0, "stale-reply-ttl": 7},
               ["serve-expired: yes", "serve-expired-ttl: 3600", "serve-expired-client-timeout: 0",
                "serve-expired-reply-ttl: 7"])
    pair.ask(query("stale.fill.lab."))
    server.reply = says(FORWARDED)
    until_expired(2.2)
    ours, theirs = pair.ask(query("stale.fill.lab."))
    assert verdict(ours) == verdict(theirs) == OK
    assert (ttl_of(ours), ttl_of(theirs)) == (7, unbound_stale_ttl(7, 1))
    wait_for("fresh answers",
             lambda: all(verdict(reply) == ELSEWHERE
                         for reply in pair.ask(query("stale.fill.lab."))), 5)


# --- Who may, and from where ----------------------------------------------------------------------


def test_answers_of_the_cache_without_recursion(pair):
    """RD=0 gets what is known, as with unbound's allow_snoop, and is no question for upstream."""
    pair.start({}, [])
    pair.ask(query("www.good.lab."))
    ours, theirs = pair.ask(query("www.good.lab.", flags=""))
    assert verdict(ours) == verdict(theirs) == OK
    assert verdict(ask(pair.world.lab, query("www.plain.lab.", flags=""))) == ("REFUSED", [])
    assert (verdict(ask(pair.world.lab, query("www.good.lab.", flags=""), source=OUTSIDE4)) ==
            ("REFUSED", []))


def test_answers_are_minimal(pair):
    pair.start({}, [])
    for reply in pair.ask(query("mail.good.lab.", "MX")):
        assert verdict(reply) == ("NOERROR", ["MX 10 www.good.lab."])
        assert not reply.additional and not reply.authority, reply


def test_outgoing_interface(pair):
    server = pair.script("first", says(FORWARDED))
    for address in (SOURCE, None):
        pair.start({"stubs": zones_key(FILL, FIRST),
                    **({"outgoing-interface": [address]} if address else {})},
                   [f"outgoing-interface: {address}"] if address else [],
                   zone_clause("stub", FILL, FIRST))
        server.seen.clear()
        for reply in pair.ask(query("www.fill.lab.")):
            assert verdict(reply) == ELSEWHERE
        assert server.seen and all((one.address == SOURCE) == bool(address) for one in server.seen)


def test_harden_referral_path(pair):
    """The zone's server is asked for its own NS records as well."""
    asked = []

    def reply(made, _tcp):
        asked.append(made.question[0].rdtype)
        return says("192.0.2.80")(made, _tcp)
    pair.script(FILL, reply)
    for is_on in (True, False):
        pair.start_ours({"harden-referral-path": is_on, "qname-minimisation": False})
        asked.clear()
        assert verdict(ask(pair.world.lab, query("www.fill.lab."))) == OK
        wait_for("what is behind it", lambda is_on=is_on: (dns.rdatatype.NS in asked) == is_on, 5)


# --- By the own forwarder -------------------------------------------------------------------------


def forwarding(**keys):
    return {"forward": [FIRST], "trust-anchor": None, "root-hints": None,
            **{key.replace("_", "-"): value for key, value in keys.items()}}


def test_what_the_forwarder_takes(pair):
    """
    Options of libunbound change nothing there, and letters are not changed in names that are
    exempt.
    """
    pair.script("first", tells_case)
    pair.start_ours(forwarding(caps_exempt=["exempt.example"], harden_glue=False,
                               harden_referral_path=True,
                               qname_minimisation_strict=True, max_query_restarts=3))
    assert pair.world.daemon.status()["recursion"]["by"] == "forwarder"
    label = "letters-of-a-long-name"
    assert (verdict(ask(pair.world.lab, query(f"{label}.exempt.example."))) ==
            ("NOERROR", ["A 192.0.2.1"]))
    assert (verdict(ask(pair.world.lab, query(f"{label}.other.example."))) ==
            ("NOERROR", ["A 192.0.2.2"]))


def test_how_often_the_forwarder_asks(pair):
    server = pair.script("first", lambda made, tcp: None)
    pair.start_ours(forwarding(outbound_msg_retry=1, query_timeout="30s", caps_for_id=False))
    assert verdict(ask(pair.world.lab, query("www.example."), timeout=20)) == FAILED
    assert len(server.seen) == 2
