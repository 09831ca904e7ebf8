# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recursion in a tree of zones (dnstree.py): valid and invalid signatures, chains, denials, dead
servers.

The same tables hold for unbound, which shows that the tree is right; for volleyd with the program
on its interface; and for volleyd with only the kernel's sockets.
"""
import itertools
import re
import time

import dns.rcode
import pytest

from dnstree import SILENT, TLD_NS, answers, ask, by, codes, has, query, records, ttls, world_of
from netlab import V4, V6, wait_for

NEGATIVE_TTL = 60  # of the zones: MINIMUM of their SOA, below its TTL (RFC 2308 section 5)
WWW = ["A 192.0.2.80"]


@pytest.fixture(name="world", scope="module", params=["unbound", "native", "off"])
def make_world(request, tmp_path_factory, tree_zones):
    with world_of(tmp_path_factory.mktemp("world"), tree_zones) as world:
        if request.param == "unbound":
            world.unbound()
        else:
            world.start(request.param, {"query-timeout": "2s"})
        world.kind = request.param
        yield world


# name, type, rcode, secure, and the records of the answer section in order
KINDS = [
    ("www.good.lab.", "A", "NOERROR", True, WWW),
    ("www.good.lab.", "AAAA", "NOERROR", True, ["AAAA 2001:db8::80"]),
    ("mail.good.lab.", "MX", "NOERROR", True, ["MX 10 www.good.lab."]),
    ("good.lab.", "NS", "NOERROR", True, ["NS ns.good.lab."]),
    ("www.nsec3.lab.", "A", "NOERROR", True, WWW),
    ("www.optout.lab.", "A", "NOERROR", True, WWW),
    ("lab.", "NS", "NOERROR", True, ["NS ns.lab."]),
    ("www.plain.lab.", "A", "NOERROR", False, WWW),
    ("www.leaf.raw.", "A", "NOERROR", False, WWW),
    ("www.island.raw.", "A", "NOERROR", False, WWW),
    ("www.six.lab.", "A", "NOERROR", False, WWW),
    # denials
    ("nothere.good.lab.", "A", "NXDOMAIN", True, []),
    ("www.good.lab.", "TXT", "NOERROR", True, []),
    ("er.good.lab.", "A", "NOERROR", True, []),
    ("nothere.nsec3.lab.", "A", "NXDOMAIN", True, []),
    ("www.nsec3.lab.", "TXT", "NOERROR", True, []),
    ("er.nsec3.lab.", "A", "NOERROR", True, []),
    ("nothere.optout.lab.", "A", "NXDOMAIN", False, []),
    ("nothere.plain.lab.", "A", "NXDOMAIN", False, []),
    ("www.plain.lab.", "TXT", "NOERROR", False, []),
    ("nothere.lab.", "A", "NXDOMAIN", True, []),
    ("plain.lab.", "DS", "NOERROR", True, []),
    ("nothere.", "A", "NXDOMAIN", True, []),
    # chains, in a zone and over zones
    ("alias.good.lab.", "A", "NOERROR", True, ["CNAME www.good.lab.", *WWW]),
    ("alias.good.lab.", "CNAME", "NOERROR", True, ["CNAME www.good.lab."]),
    ("one.good.lab.", "A", "NOERROR", True,
     [f"CNAME {name}.good.lab." for name in ("two", "three", "four", "five", "www")] + WWW),
    ("near.good.lab.", "A", "NOERROR", True, ["CNAME www.nsec3.lab.", *WWW]),
    ("far.good.lab.", "A", "NOERROR", False, ["CNAME www.plain.lab.", *WWW]),
    ("back.plain.lab.", "A", "NOERROR", False, ["CNAME www.good.lab.", *WWW]),
    ("abroad.good.lab.", "A", "NOERROR", False, ["CNAME www.leaf.raw.", *WWW]),
    ("dangling.good.lab.", "A", "NXDOMAIN", True, ["CNAME nothere.nsec3.lab."]),
    ("alias.good.lab.", "TXT", "NOERROR", True, ["CNAME www.good.lab."]),
    ("www.tree.good.lab.", "A", "NOERROR", True,
     ["DNAME nsec3.lab.", "CNAME www.nsec3.lab.", *WWW]),
    ("www.wood.good.lab.", "A", "NOERROR", False,
     ["DNAME plain.lab.", "CNAME www.plain.lab.", *WWW]),
    ("x.wild.good.lab.", "A", "NOERROR", True, ["A 192.0.2.9"]),
    ("x.wild.nsec3.lab.", "A", "NOERROR", True, ["A 192.0.2.9"]),
    ("x.wild.plain.lab.", "A", "NOERROR", False, ["A 192.0.2.9"]),
    # the other server answers
    ("www.halfunreachable.lab.", "A", "NOERROR", False, WWW),
    ("www.halflame.lab.", "A", "NOERROR", False, WWW),
]
# what the query says: keywords of query(); then whether AD and signatures may come
CLIENTS = [
    ({"do": True}, True, True),
    ({"do": True, "flags": "rd ad"}, True, True),
    ({"flags": "rd ad"}, True, False),
    ({"flags": "rd ad", "edns": False}, True, False),
    ({}, False, False),
    ({"edns": False}, False, False),
]
WAYS = [{}, {"where": V6}, {"tcp": True}]


def proofs(reply):
    """Types of signatures and denials that are in it."""
    return {rrset.rdtype for part in (reply.answer, reply.authority) for rrset in part
            if rrset.rdtype in (46, 47, 50)}


@pytest.mark.parametrize("name, kind, rcode, secure, expected", KINDS,
                         ids=[f"{row[0]}{row[1]}" for row in KINDS])
def test_each_kind_of_answer(world, name, kind, rcode, secure, expected):
    for number, (words, understands_ad, with_proofs) in enumerate(CLIENTS):
        for way in WAYS if number in (0, 4) else WAYS[number % 3:][:1]:
            reply = ask(world.lab, query(name, kind, **words), **way)
            what = f"{words} {way}\n{reply}"
            assert dns.rcode.to_text(reply.rcode()) == rcode, what
            assert records(reply) == expected, what
            assert has(reply, "RA") and not has(reply, "AA") and not has(reply, "TC"), what
            assert has(reply, "AD") == (secure and understands_ad), what
            assert bool(proofs(reply)) >= secure if with_proofs else not proofs(reply), what
            assert (reply.edns == 0) == words.get("edns", True) and not codes(reply), what
            if kind != "CNAME" and not [one for one in expected
                                        if not one.startswith(("CNAME", "DNAME"))]:
                check_denial(reply, what)


def check_denial(reply, what):
    (soa,) = [rrset for rrset in reply.authority if rrset.rdtype == 6]
    assert 0 < soa.ttl <= NEGATIVE_TTL, what


GOOD, NONE, UNSIGNED = "fully validated", "negative response, fully validated", "unsigned answer"
VALIDATED = [
    ("www.good.lab.", "A", GOOD), ("www.good.lab.", "TXT", NONE), ("n.good.lab.", "A", NONE),
    ("er.good.lab.", "A", NONE), ("y.wild.good.lab.", "A", GOOD), ("one.good.lab.", "A", GOOD),
    ("www.nsec3.lab.", "A", GOOD), ("www.nsec3.lab.", "TXT", NONE), ("n.nsec3.lab.", "A", NONE),
    ("er.nsec3.lab.", "A", NONE), ("y.wild.nsec3.lab.", "A", GOOD), ("n.optout.lab.", "A", NONE),
    ("www.tree.good.lab.", "A", GOOD), ("www.wood.good.lab.", "A", GOOD, UNSIGNED),
    ("plain.lab.", "DS", NONE), ("n.lab.", "A", NONE), ("huge.good.lab.", "TXT", GOOD),
    ("www.plain.lab.", "A", UNSIGNED), ("www.leaf.raw.", "A", UNSIGNED),
    ("alias.broken.lab.", "A", "resolution failed: failure")]


def test_answers_hold_for_a_validating_client(world):
    """
    delv asks with CD=1 and believes the signatures and proofs alone. The second ones are cached.
    """
    for _ in range(2 if world.kind == "native" else 1):
        for name, kind, *said in VALIDATED:
            assert world.delv(name, kind) == said, f"{name} {kind}"


# --- What does not validate -----------------------------------------------------------------------

BOGUS = {"www.expired.lab.": 7, "www.broken.lab.": 6, "www.wrongds.lab.": 9,
         "www.unsigned.lab.": 9}    # with the code of RFC 8914
BOGUS_CODES = {*BOGUS.values()}


@pytest.mark.parametrize("name", BOGUS)
@pytest.mark.parametrize("first", ["checking", "not checking"])
def test_bogus(world, name, first):
    """In either order: a query with CD=1 gets the data, and the others never do. Each reply has the
    cause, also from the cache."""
    if first == "checking":
        name = name.replace("www", "one")  # ends at the same name
    steps = ["rd", "rd cd", "rd", "rd cd"][first != "checking":]
    for flags in steps:
        for way in WAYS:
            reply = ask(world.lab, query(name, "A", flags, do=True), **way)
            assert not has(reply, "AD"), reply
            if "cd" in flags:
                assert reply.rcode() == 0 and records(reply)[-1] == WWW[0] and has(reply, "CD")
                continue
            assert reply.rcode() == 2 and not records(reply), reply
            code = BOGUS[name.replace("one.", "www.")]    # unbound forgets the cause, or never knew
            assert codes(reply) in ([[code], [6]] if world.kind == "unbound" else [[code]]), reply
            assert ask(world.lab, query(name, edns=False), **way).rcode() == 2


def test_a_chain_that_ends_in_a_bogus_zone(world):
    reply = ask(world.lab, query("tobroken.good.lab."))
    assert reply.rcode() == 2 and not reply.answer and 6 in codes(reply)
    reply = ask(world.lab, query("tobroken.good.lab.", "A", "rd cd"))
    assert records(reply) == ["CNAME www.broken.lab.", *WWW]


def test_the_log_says_why(world):
    """
    The first bogus answer's reason, which is the validator's; others within ten seconds are counted
    only.
    """
    assert ask(world.lab, query("www.broken.lab.")).rcode() == 2
    if world.kind != "unbound":
        assert re.search(r"recursion: \S+\.lab\. \S+ failed: validation failure <\S+ \S+ IN>: ",
                         world.daemon.log())


def test_a_secure_name_with_checking_disabled(world):
    reply = ask(world.lab, query("www.good.lab.", "A", "rd cd", do=True))
    assert records(reply) == WWW and has(reply, "CD") and proofs(reply) == {46}


def test_a_loop_ends(world):
    reply = ask(world.lab, query("loop.good.lab."))
    assert reply.rcode() == 2


# --- Servers of no use ----------------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["lame.lab.", "unreachable.lab.", "closed.lab.", "silent.lab."])
def test_no_server_answers(world, zone):
    if world.kind == "unbound" and zone in ("closed.lab.", "silent.lab."):
        return  # the client may wait for longer there
    start = time.monotonic()
    reply = ask(world.lab, query("www." + zone))
    assert reply.rcode() == 2 and not reply.answer
    assert time.monotonic() - start < 9
    if world.kind != "unbound":
        assert {22, 23, 3} & set(codes(reply)), reply


@pytest.mark.parametrize("zone", ["halfclosed.lab.", "halfsilent.lab."])
def test_one_of_two_servers_is_dead(world, zone):
    """It costs time only once: later questions are answered at the first attempt."""
    names = (f"n{n}.wild.{zone}" for n in itertools.count())
    wait_for("an answer", lambda: answers(world.lab, query(f"www.{zone}"), 2) == WWW, 30)
    for _ in range(3):
        wait_for("another", lambda: answers(world.lab, query(next(names)), 2) == ["A 192.0.2.9"],
                 30)


# --- Large answers --------------------------------------------------------------------------------


def test_what_is_too_large_for_udp(world):
    """nsd truncates for the resolver, that asks again over TCP; and so does the client."""
    for name, octets in (("big.good.lab.", 1500), ("huge.good.lab.", 30000)):
        for _ in range(2):
            reply = ask(world.lab, query(name, "TXT", do=True))
            assert has(reply, "TC") and not reply.answer
        for _ in range(2):
            reply = ask(world.lab, query(name, "TXT", do=True), tcp=True)
            assert not has(reply, "TC") and has(reply, "AD")
            assert len(reply.to_wire(max_size=65535)) > octets
    small = ask(world.lab, query("big.good.lab.", "TXT", edns=False))
    assert has(small, "TC") and not small.answer


# --- From the cache -------------------------------------------------------------------------------


def ask_lasting(world, made):
    """An answer that will not expire just now: a denial may be as old as what it is made of."""
    def is_lasting():
        reply = ask(world.lab, made)
        return reply if min(ttls(reply).values()) > 10 else None
    return wait_for("an answer with some life before it", is_lasting, 30)


def check_from_cache(world, call):
    """
    The answer, from the cache: by the driver, but for what has no room in the frame of a veth.
    """
    if world.kind != "native":
        who, reply = by(world.daemon, call)
        assert who == {"kernel_socket": 1}, reply
        return reply
    before = world.daemon.reasons()
    who, reply = by(world.daemon, call)
    if who == {"worker": 1} and len(reply.to_wire()) > 250:
        after = world.daemon.reasons()
        assert after["up-no-room"] == before.get("up-no-room", 0) + 1, reply
        assert after["up-miss"] == before["up-miss"]
    else:
        assert who == {"driver": 1}, f"{reply}\n{before}\n{world.daemon.reasons()}"
    return reply


@pytest.mark.parametrize("name, kind", [
    ("www.good.lab.", "A"), ("nothere.nsec3.lab.", "A"), ("one.good.lab.", "A"),
                                        ("www.plain.lab.", "A"),
    ("www.wood.good.lab.", "A"), ("www.nsec3.lab.", "TXT")])
def test_the_second_asking_is_answered_from_the_cache(world, name, kind):
    """For every client's flags and options; by the driver if there is one."""
    if world.kind == "unbound":
        return  # of volleyd alone
    for words, _, _ in CLIENTS:
        ask_lasting(world, query(name, kind, **words))
    for words, _, _ in CLIENTS:
        for where in (V4, V6):
            check_from_cache(world,
                             lambda w=words, a=where: ask(world.lab, query(name, kind, **w), a))
    who, _ = by(world.daemon, lambda: ask(world.lab, query(name, kind), tcp=True))
    assert who == {"tcp": 1}


def test_the_driver_s_answer_is_the_worker_s(world):
    """The same records and flags, but for their age."""
    if world.kind != "native":
        return
    for n, (name, kind, *_rest) in enumerate(KINDS[:30]):
        name = name.replace("nothere", f"nothere{n}")
        for words, _, _ in CLIENTS:
            made = query(name, kind, **words)
            ask_lasting(world, made)
            start = time.monotonic()
            first = ask(world.lab, made, tcp=True)
            second = check_from_cache(world, lambda q=made: ask(world.lab, q))
            assert records(first) == records(second) and first.flags == second.flags
            assert records(first, "authority") == records(second, "authority")
            ages = [ttls(first)[key] - ttls(second)[key] for key in ttls(second)]
            assert 0 <= min(ages) and max(ages) <= time.monotonic() - start + 1, (first, second)


def test_the_tree_is_as_it_says(world):
    """The floors are on addresses of their own: none answers for the next."""
    reply = world.tree.ask_server(TLD_NS, "www.good.lab.")
    assert not reply.answer and reply.authority[0].rdtype == 2
    assert world.tree.ask_server(SILENT, "www.silent.lab.", timeout=0.5) is None
