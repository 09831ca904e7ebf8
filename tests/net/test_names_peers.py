# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver's answers for new names equal those of knotd, nsd and named with the same zone, and
unbound validates them."""
import itertools
import shutil
import sys

import dns.flags
import dns.message
import dns.name
import dns.rcode
import pytest

from netlab import ROOT, V4, wait_for, write_zone, zone

sys.path.insert(0, str(ROOT / "tests" / "diff"))

import compare  # noqa: E402
import peers  # noqa: E402
import signing  # noqa: E402

ORIGIN, APEX = "z.test", dns.name.from_text("z.test").to_wire()
SIGNED = {"nsec": [], "nsec3": ["-n", "-t", "0"], "opt-out": ["-n", "-t", "0", "-s", "beef", "-p"]}
BELOW = {"": dns.rcode.NXDOMAIN, ".y.c": dns.rcode.NXDOMAIN, ".wild": dns.rcode.NOERROR}
N_ASKED = 40
UNBOUND_PORT = 5300


def make_zone(folder, chain):
    more = "".join(f"n{i} IN A 10.0.0.{i}\n" for i in range(8)) + \
        "*.wild IN A 192.0.2.9\na.b.c IN A 192.0.2.7\nsub IN NS ns.sub\nns.sub IN A 192.0.2.8\n"
    write_zone(folder / "zone", 7, more=more)
    if chain == "plain":
        return folder / "zone", None
    key = signing.run(folder, "ldns-keygen", "-a", "ECDSAP256SHA256", "-k", ORIGIN)
    signing.run(folder, "ldns-signzone", *SIGNED[chain], "-o", ORIGIN, "-f", "signed", "zone", key)
    return folder / "signed", (folder / f"{key}.key").read_text(encoding="ascii").split(";")[
        0].strip()


def query(name, has_do):
    return dns.message.make_query(f"{name}.{ORIGIN}", "A", want_dnssec=has_do,
                                  payload=1232).to_wire()


def start(daemon, path):
    """Without the servers of the zone in answers: frames of a veth have little room for them."""
    daemon.start(server={"listen": [V4], "workers": 2, "minimal-responses": True},
                 cache={"size": "16M", "names": "1M", "intervals": "1M"},
                 zones=[zone(ORIGIN, path)])


def learn(lab, below, has_do):
    """Asks for so many names that most intervals are known."""
    for i in range(150):
        lab.udp_wire(query(f"first{i}{below}", has_do))


def given(daemon):
    """
    What the driver had a shared answer for; some have no room in the frame of a veth, and a worker
    says the same.
    """
    reasons = daemon.reasons()
    return reasons["hit-denied"] + reasons["hit-wildcard"] + reasons["up-no-room"]


def replies_of_peers(folder, path, queries):
    """[{server: reply}] of each query."""
    with peers.own_loopback():
        servers = [peers.Server(kind, folder / kind, {ORIGIN: str(path)}) for kind in peers.PEERS]
        try:
            for server in servers:
                server.wait(dns.message.make_query(ORIGIN, "SOA").to_wire())
            return [{server.kind: server.ask(wire) for server in servers} for wire in queries]
        finally:
            for server in servers:
                server.process.terminate()
                server.process.wait(30)


def check(wire, ours, theirs):
    """In each part in which all peers say the same."""
    ours = compare.parts(ours, {APEX})[0]
    theirs = {kind: compare.parts(reply, {APEX})[0] for kind, reply in theirs.items()}
    assert ours["reply"] == "sent" and not ours["tc"]
    for part in compare.PARTS:
        agree, value = compare.peers_agree(part, theirs)
        assert not agree or ours.get(part) == value, (part, dns.message.from_wire(wire).question)
    return all(compare.peers_agree(part, theirs)[0] for part in ("rcode", "answer", "authority"))


@pytest.mark.parametrize("chain", ["plain", *SIGNED])
def test_the_peers_say_the_same(lab, daemon, tmp_path, chain):
    path, _ = make_zone(tmp_path, chain)
    start(daemon, path)
    queries, ours = [], []
    for below, has_do in itertools.product(BELOW, (False, True)):
        learn(lab, below, has_do)
        before = given(daemon)
        asked = [query(f"x{i}{below}", has_do) for i in range(N_ASKED)]
        ours += [lab.udp_wire(wire) for wire in asked]
        queries += asked
        assert given(daemon) >= before + N_ASKED * 3 // 4, (below, has_do)
    theirs = replies_of_peers(tmp_path, path, queries)
    same = [check(*one) for one in zip(queries, ours, theirs)]
    # else the peers do not agree, and nothing was compared
    assert sum(same) >= len(same) * 9 // 10


@pytest.mark.parametrize("chain", SIGNED)
def test_unbound_validates(lab, daemon, tmp_path, chain):
    path, key = make_zone(tmp_path, chain)
    start(daemon, path)
    for below in BELOW:
        learn(lab, below, True)
    (tmp_path / "unbound.conf").write_text(f"""
server:
  interface: 127.0.0.1@{UNBOUND_PORT}
  chroot: ""
  username: ""
  directory: "{tmp_path}"
  pidfile: "{tmp_path}/unbound.pid"
  use-syslog: no
  module-config: "validator iterator"
  trust-anchor: "{key}"
  aggressive-nsec: no
  local-zone: "test." nodefault
stub-zone:
  name: {ORIGIN}
  stub-addr: {V4}
""", encoding="ascii")
    log = open(tmp_path / "unbound.log", "wb")
    unbound = lab.popen("c", shutil.which("unbound", path=signing.PATH), "-d", "-c",
                        tmp_path / "unbound.conf", stdout=log, stderr=log)
    try:
        wait_for("unbound answers",
                 lambda: (tmp_path / "unbound.log").read_text().count("start of service"))
        before = given(daemon)
        for below, rcode in BELOW.items():
            for i in range(N_ASKED):
                reply = lab.udp(dns.message.make_query(f"x{i}{below}.{ORIGIN}", "A",
                                                       want_dnssec=True), "127.0.0.1", UNBOUND_PORT)
                assert reply.rcode() == rcode, reply   # SERVFAIL where the proof is bad
                # RFC 5155 section 9.2
                assert chain == "opt-out" or reply.flags & dns.flags.AD, reply
        assert given(daemon) > before + N_ASKED
    finally:
        unbound.terminate()
        unbound.wait(30)
