# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The same queries about generated zones to volleyd, knotd, nsd and named, over UDP and TCP.

Where the three peers agree, Volley agrees with them, or explained.py says why not. Where they do
not, the table says who says what, Volley first. `make test-diff FULL=1` asks 230,000 queries.
"""
import os
import pathlib

import dns.message
import dns.rdatatype
import dns.zone
import pytest

import ask
import compare
import explained
import peers
import querygen
import signing
import zonegen

FULL = os.environ.get("FULL") == "1"
N_QUERIES = 1000 if FULL else 300  # for each zone
ROOT = peers.ROOT
HELD = ("example.com", "example.net", "example2.jp", "2.0.192.in-addr.arpa", "odd.test")
SHOWN = 50


class Held:
    """A zone of zones/ or of this folder, as one that was generated."""

    signing, lacks = "", ()

    def __init__(self, number, name):
        own = pathlib.Path(__file__).parent / f"{name}.zone"
        self.number, self.origin = number, f"{name}."
        self.file = str(own if own.exists() else ROOT / "zones" / own.name)
        zone = dns.zone.from_file(self.file, self.origin, relativize=False)
        self.records = [(owner.to_text(), ttl, dns.rdatatype.to_text(rdata.rdtype), "")
                        for owner, ttl, rdata in zone.iterate_rdatas()]


class Outside:
    """Names that no server is asked to hold: REFUSED."""

    signing, lacks, origin = "", (), "example.org."

    def __init__(self, number):
        self.number = number
        self.records = [(name, 0, "A", "") for name in ("example.org.", "com.", "www.example.org.",
                                                        "ample.com.", "test.", "z0.tests.")]


def all_zones(folder):
    """(zones, {origin: file})."""
    zones = zonegen.make_zones()
    files = signing.write_all(zones, folder)
    held = [Held(len(zones) + i, name) for i, name in enumerate(HELD)]
    files.update((z.origin, z.file) for z in held)
    return zones + held, files


@pytest.fixture(scope="module")
def world(own_loopback, tmp_path_factory):
    """(zones, running servers, Asker)."""
    missing = peers.missing() + [t for t in signing.TOOLS if not signing.which(t)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (make deps)")
    folder, running, asker = tmp_path_factory.mktemp("generated"), [], None
    zones, files = all_zones(folder)
    try:
        for kind in peers.ALL:
            own = {z.origin: files[z.origin] for z in zones if kind not in z.lacks}
            running.append(peers.Server(kind, folder / kind, own))
        for server in running:
            for z in zones:
                if server.kind not in z.lacks:
                    server.wait(dns.message.make_query(z.origin, "SOA").to_wire())
        asker = ask.Asker(running, HELD[0])
        yield zones, running, asker
    finally:
        if asker:
            asker.close()
        for server in running:
            server.stop()


def test_volley_agrees_with_its_peers(world, capsys, tmp_path):
    zones, _, asker = world
    tally = compare.Tally(explained.explain, [querygen.wire_name(z.origin) for z in zones])
    for z in [*zones, Outside(len(zones))]:
        queries = list(querygen.queries(z, N_QUERIES))
        for way, over_tcp in ((asker.ask_udp, False), (asker.ask_tcp, True)):
            mine = [q for q in queries if q.tcp == over_tcp]
            for at in range(0, len(mine), ask.BATCH):
                batch = mine[at:at + ask.BATCH]
                for query, replies in zip(batch, way([q.wire for q in batch])):
                    tally.add(query, replies)
    tally.check_doubtful(asker.ask_tcp)
    tally.check_truncated(asker.ask_tcp)
    (tmp_path / "disagreements").write_text(tally.table())
    with capsys.disabled():
        print(f"\n{tally.table()}\n{tally.summary()}" if FULL else f"\n{tally.summary()}")
    assert not tally.unexplained, "\n".join([tally.summary(), *tally.unexplained[:SHOWN]])
    assert tally.n_agreed > tally.n_queries * 0.6, "do the peers disagree? Is one set up wrongly?"
    idle = {rule.name for rule in explained.RULES} - set(tally.explained)
    assert not FULL or not idle, f"rules that explain nothing: {idle}"


def test_every_server_lives(world):
    for server in world[1]:
        assert server.process.poll() is None, f"{server.kind} has ended: {server.log()[-2000:]}"


def test_differences_are_documented():
    page = ROOT / "docs" / "differences.md"
    assert page.read_text() == explained.page(), \
        "docs/differences.md is old: python3 tests/diff/explained.py >docs/differences.md"
