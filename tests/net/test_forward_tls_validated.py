# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Validation with forwarding over TLS: libunbound validates, and userspace/resolver/tls_relay.h
carries its queries.

Two resolvers behind TLS ask the tree of zones (dnstree.py). They do not validate, so they return
all answers unchanged. Debian's unbound with forward-tls-upstream must give the same verdicts as
volleyd.
"""
import contextlib
import re
import socket

import dns.rcode
import pytest

from dnstree import ask, codes, has, query, records, world_of
from netlab import CLIENT4, V4, V6, wait_for
from scripted import true_answer
from test_forward_tls import Certificates, NAME, TlsUpstream
from test_tree import BOGUS, BOGUS_CODES, KINDS, WWW
from upstreams import Netns

ONE, TWO, THREE = "10.53.20.1", "10.53.20.2", "10.53.20.3"
NETWORK_ERROR = 23
# What fails for a resolver that is asked, and not for who asks all servers of a zone.
TWO_SERVERS = {"www.halfunreachable.lab.", "www.halflame.lab."}
TABLE = [row for row in KINDS if row[0] not in TWO_SERVERS]


@pytest.fixture(name="certificates", scope="module")
def make_certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


def resolver(world, address, certificate):
    """unbound without a validator, over TLS at the address."""
    process = world.tree.popen_unbound(
        f"interface: {address}@853", f"tls-service-key: {certificate}",
        f"tls-service-pem: {certificate}", f"root-hints: {world.tree.zones.hints}",
        "module-config: iterator", "access-control: 10.53.0.0/16 allow",
        "access-control: 127.0.0.0/8 allow", "ede: yes", name=f"dot-{address}")
    wait_for("unbound over TLS", lambda: is_listening(world, address), 10)
    return process


def is_listening(world, address):
    with world.tree.socket(socket.SOCK_STREAM) as sock:
        return not sock.connect_ex((address, 853))


def validating_unbound(world, bundle):
    """In place of volleyd: how the same is for unbound."""
    forwards = "".join(f"  forward-addr: {one}@853#{NAME}\n" for one in (ONE, TWO))
    world.tree.popen_unbound(
        f"interface: {V4}", f"interface: {V6}", f"trust-anchor-file: {world.tree.zones.anchor}",
        f"tls-cert-bundle: {bundle}", "access-control: 0.0.0.0/0 allow",
        "access-control: ::/0 allow", "ede: yes",
        clauses=f'forward-zone:\n  name: "."\n  forward-tls-upstream: yes\n{forwards}')
    wait_for("unbound", lambda: world.lab.is_answered(".", "SOA"), 10)


def keys_of(certificates, to=(ONE, TWO), **more):
    return {"transport": "tls", "tls_bundle": str(certificates.bundle),
            "forward": [f"{one}@853#{NAME}" for one in to], "root_hints": None, **more}


@pytest.fixture(name="world", scope="module", params=["unbound", "volleyd"])
def make_world(request, tmp_path_factory, tree_zones, certificates):
    with world_of(tmp_path_factory.mktemp("world"), tree_zones) as world:
        for address in (ONE, TWO):
            resolver(world, address, certificates.good)
        if request.param == "unbound":
            validating_unbound(world, certificates.bundle)
        else:
            world.start(keys=keys_of(certificates))
        world.kind = request.param
        yield world


@pytest.fixture(name="place")
def make_place(tmp_path, tree_zones):
    """A world of one test's own, without resolvers."""
    with world_of(tmp_path, tree_zones) as world:
        yield world


# --- Verdicts, beside unbound ---------------------------------------------------------------------


@pytest.mark.parametrize("name, kind, rcode, secure, expected", TABLE,
                         ids=[f"{row[0]}{row[1]}" for row in TABLE])
def test_each_kind_of_answer(world, name, kind, rcode, secure, expected):
    reply = ask(world.lab, query(name, kind, do=True))
    assert dns.rcode.to_text(reply.rcode()) == rcode, reply
    assert records(reply) == expected and has(reply, "AD") == secure, reply
    proofs = {rrset.rdtype for part in (reply.answer, reply.authority)
              for rrset in part} & {46, 47, 50}
    assert bool(proofs) >= secure, reply


@pytest.mark.parametrize("name", BOGUS)
@pytest.mark.parametrize("flags", [("rd", "rd cd", "rd"), ("rd cd", "rd")])
def test_bogus(world, name, flags):
    """In either order: a query with CD=1 gets the data, and the others never do."""
    if len(flags) == 2:
        name = name.replace("www", "one")
    for one in flags:
        reply = ask(world.lab, query(name, "A", one, do=True))
        assert not has(reply, "AD"), reply
        if "cd" in one:
            assert reply.rcode() == 0 and records(reply)[-1] == WWW[0], reply
        else:
            assert reply.rcode() == 2 and not records(reply), reply
            assert codes(reply) and set(codes(reply)) <= BOGUS_CODES, reply


def test_large_answers(world):
    for name, octets in (("big.good.lab.", 1500), ("huge.good.lab.", 30000)):
        reply = ask(world.lab, query(name, "TXT", do=True), tcp=True)
        assert has(reply, "AD") and len(reply.to_wire(max_size=65535)) > octets


def test_a_validating_client_believes_it(world):
    assert world.delv("www.good.lab.", "A") == ["fully validated"]
    assert world.delv("nothere.nsec3.lab.", "A") == ["negative response, fully validated"]


# --- By the relay ---------------------------------------------------------------------------------


def upstreams_of(world):
    """{address: row}, the counts of all threads."""
    told = world.daemon.json("resolver", "infra")
    assert told["by"] == "libunbound"
    rows = {}
    for row in told["upstreams"]:
        rows.setdefault(row["address"].partition("@")[0], []).append(row)
    return rows


def ask_many(world, n, zone):
    """The rcodes of n names that are asked for at once."""
    with world.lab.socket("c", socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        sock.bind((CLIENT4, 0))
        sock.connect((V4, 53))
        for i in range(n):
            sock.send(query(f"n{i}.wild.{zone}", do=True, id=i).to_wire())
        sock.settimeout(10)
        seen = {}
        with contextlib.suppress(TimeoutError):
            while len(seen) < n:
                wire = sock.recv(65535)
                seen[int.from_bytes(wire[:2], "big")] = wire[3] & 15, bool(wire[3] & 0x20)
        return seen


def test_a_thousand_names_at_once_few_connections(place, certificates):
    for address in (ONE, TWO):
        resolver(place, address, certificates.good)
    place.start(keys=keys_of(certificates, aggressive_nsec=False))
    assert ask(place.lab, query("www.good.lab.")).rcode() == 0
    seen = ask_many(place, 1000, "good.lab.")
    assert len(seen) == 1000 and set(seen.values()) == {(0, True)}
    rows = upstreams_of(place)
    assert set(rows) == {ONE, TWO}
    for address in (ONE, TWO):
        assert {row["transport"] for row in rows[address]} == {"tls"}
        assert sum(row["answers"] for row in rows[address]) > 0
    stats = place.daemon.stats()["resolver"]
    assert stats["tls_failed"] == 0 and stats["queries_tcp"] >= 1000


@pytest.mark.parametrize("what", ["another name", "expired", "of a stranger", "of itself"])
def test_who_has_no_certificate_gets_no_question(place, certificates, what):
    server = TlsUpstream(Netns(place.folder, place.tree.name), ONE, true_answer,
                         certificates.bad[what])
    place.start(keys=keys_of(certificates, (ONE,)))
    reply = ask(place.lab, query("www.good.lab."))
    assert reply.rcode() == 2 and codes(reply) == [NETWORK_ERROR], reply
    assert not server.seen and place.daemon.stats()["resolver"]["tls_failed"] > 0
    assert re.search(rf"no upstream over TLS can be reached: {NAME}: TLS: ", place.daemon.log())
    server.close()


def test_one_dies_and_the_other_takes_over_and_it_returns(place, certificates):
    processes = {address: resolver(place, address, certificates.good) for address in (ONE, TWO)}
    place.start(keys=keys_of(certificates))
    assert has(ask(place.lab, query("www.good.lab.", do=True)), "AD")
    end(processes[ONE])
    for n in range(20):
        reply = ask(place.lab, query(f"a{n}.wild.nsec3.lab.", do=True))
        assert reply.rcode() == 0 and has(reply, "AD"), reply
    end(processes[TWO])
    reply = ask(place.lab, query("gone.wild.nsec3.lab."))
    assert reply.rcode() == 2 and set(codes(reply)) <= {22, NETWORK_ERROR} and codes(reply)
    resolver(place, TWO, certificates.good)
    wait_for("it is back", lambda: ask(place.lab, query("back.wild.nsec3.lab.")).rcode() == 0, 15)


def end(process):
    process.terminate()
    process.wait(20)


def test_a_silent_upstream_is_not_the_other_s_fault(place, certificates):
    server = TlsUpstream(Netns(place.folder, place.tree.name), ONE,
                         lambda *_: None, certificates.good)
    resolver(place, TWO, certificates.good)
    place.start(keys=keys_of(certificates, upstream_timeout="400ms"))
    for n in range(10):
        reply = ask(place.lab, query(f"s{n}.wild.good.lab.", do=True))
        assert reply.rcode() == 0 and has(reply, "AD"), reply
    rows = upstreams_of(place)
    assert sum(row["timeouts"] for row in rows[TWO]) == 0
    server.close()


def test_an_upstream_that_closes_after_each_answer(place, certificates):
    """Its open questions are asked again on another connection."""
    answers = TlsUpstream(Netns(place.folder, place.tree.name), THREE, true_answer,
                          certificates.good, closes=True)
    place.start(keys=keys_of(certificates, (THREE,), domain_insecure=["far."]))
    for n in range(20):
        assert ask(place.lab, query(f"x{n}.far.")).rcode() == 0
    assert answers.connections >= 20
    answers.close()


def test_a_zone_over_tls_and_all_else_from_the_root(place, certificates):
    """And first: where no upstream of the zone answers, the servers of the zone are asked."""
    resolver(place, ONE, certificates.good)
    zones = [{"zone": "good.lab.", "address": f"{ONE}@853#{NAME}", "transport": "tls"},
             {"zone": "nsec3.lab.", "address": f"{THREE}@853#{NAME}", "transport": "tls",
              "first": True}]
    place.start(keys={"tls_bundle": str(certificates.bundle), "forward_zones": zones})
    for name in ("www.good.lab.", "www.nsec3.lab.", "www.optout.lab."):
        reply = ask(place.lab, query(name, do=True))
        assert records(reply) == WWW and has(reply, "AD"), reply
    rows = upstreams_of(place)
    assert (sum(row["answers"] for row in rows[ONE]) > 0 ==
            sum(row["answers"] for row in rows[THREE]))


def test_this_machine_is_not_asked(place, certificates):
    """
    Without query-localhost a delegation to 127.0.0.1 leads nowhere, though the relay is on the
    loopback.
    """
    resolver(place, ONE, certificates.good)
    zones = [{"zone": "good.lab.", "address": f"{ONE}@853#{NAME}", "transport": "tls"}]
    place.start(keys={"tls_bundle": str(certificates.bundle), "forward_zones": zones,
                      "stubs": [{"zone": "local.lab.", "address": "127.0.0.1@5399"}],
                      "domain_insecure": ["local.lab."]})
    asked = []
    with place.tree.socket(socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 5399))
        sock.settimeout(0.1)
        assert has(ask(place.lab, query("www.good.lab.", do=True)), "AD")
        assert ask(place.lab, query("www.local.lab.")).rcode() == 2
        with contextlib.suppress(TimeoutError):
            asked.append(sock.recv(512))
    assert not asked


def test_other_processes_are_shown_the_door(place, certificates):
    """Their connection is closed before anything is read from it."""
    resolver(place, ONE, certificates.good)
    place.start(keys=keys_of(certificates, (ONE,)))
    assert has(ask(place.lab, query("www.good.lab.", do=True)), "AD")
    listening = place.tree.run("ss", "-Hltn", "src", "127.0.0.0/8").stdout
    ports = re.findall(r"(127\.\d+\.\d+\.\d+):(\d+)", listening)
    assert ports
    before = sum(row["sent"] for row in upstreams_of(place)[ONE])
    for address, port in ports:
        with place.tree.socket(socket.SOCK_STREAM) as sock:
            sock.settimeout(5)
            sock.connect((address, int(port)))
            wire = query("www.nsec3.lab.").to_wire()
            with contextlib.suppress(ConnectionError):
                sock.sendall(len(wire).to_bytes(2, "big") + wire)
                assert sock.recv(1) == b""
    assert sum(row["sent"] for row in upstreams_of(place)[ONE]) == before


def test_queries_are_padded(place, certificates):
    """To a multiple of 128 octets (RFC 8467 section 4.1)."""
    server = TlsUpstream(Netns(place.folder, place.tree.name), ONE, true_answer, certificates.good)
    place.start(keys=keys_of(certificates, (ONE,), domain_insecure=["far."]))
    assert ask(place.lab, query("www.far.")).rcode() == 0
    assert server.seen and {len(one.wire) % 128 for one in server.seen} == {0}
    server.close()
