# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver sends proofs of signed zones for new names: the same octets as a worker, also after
edits."""
import itertools
import struct

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import pytest

import sharedentries
from netlab import V4, map_ids, program, texts, wait_for, write_zone, zone

POLICIES = {
    "nsec": {"denial": "nsec"},
    "nsec3": {"denial": "nsec3"},
    "opt-out": {"denial": "nsec3", "nsec3-opt-out": True, "nsec3-salt-length": 8},
}
PROOFS = (dns.rdatatype.NSEC, dns.rdatatype.NSEC3)


def configure(daemon, tmp_path, **policy):
    more = "".join(f"n{i} IN A 10.0.0.{i}\n" for i in range(8)) + \
        "*.wild IN A 192.0.2.9\na.b.c IN A 192.0.2.7\nsub IN NS ns.sub\nns.sub IN A 192.0.2.8\n"
    path = tmp_path / "z.zone"
    if not path.exists():
        write_zone(path, 7, more=more)
    return daemon.configure(
        server={"listen": [V4], "workers": 2, "storage": str(tmp_path / "store")},
                            signing=[{"name": "p", **policy}],
        cache={"size": "16M", "names": "1M", "intervals": "1M"},
                            zones=[zone("z.test", path, signing="p")])


@pytest.fixture
def number():
    return itertools.count()


def query(name, flags=0):
    made = dns.message.make_query(f"{name}.z.test", "A", want_dnssec=True, payload=1232)
    made.flags |= flags
    return made.to_wire()


def receive(sock, n):
    octets = b""
    while len(octets) < n:
        octets += sock.recv(n - len(octets)) or pytest.fail("the connection has ended")
    return octets


def by_tcp(lab, wire):
    """A worker's answer: the driver gives none over TCP."""
    with lab.connect("c", V4) as sock:
        sock.sendall(struct.pack(">H", len(wire)) + wire)
        return receive(sock, struct.unpack(">H", receive(sock, 2))[0])


def learn(lab, number, below="", n=120):
    """Asks for so many new names, so that the driver has the proofs of most intervals."""
    for i in itertools.islice(number, n):
        lab.udp_wire(query(f"x{i}{below}"))


def found(daemon):
    """
    (what the driver has given, what it had an answer for), which may have no room in the frame of a
    veth.
    """
    reasons = daemon.reasons()
    given = reasons["hit-denied"] + reasons["hit-wildcard"]
    return given, given + reasons["up-no-room"]


def by_driver(lab, daemon, number, rcode, below="", n=40):
    """Of n new names: by UDP and by TCP the same octets, most of them known to the driver."""
    known = found(daemon)[1]
    for i in itertools.islice(number, n):
        wire = query(f"x{i}{below}")
        octets = lab.udp_wire(wire)
        assert dns.message.from_wire(octets).rcode() == rcode
        assert octets == by_tcp(lab, wire), f"x{i}{below}"
    assert found(daemon)[1] >= known + n * 3 // 4


def proofs(octets):
    """The proofs of an answer, without the SOA, whose serial number may be older."""
    message = dns.message.from_wire(octets)
    return message.rcode(), texts(message), sorted(
        rrset.to_text() for rrset in message.authority if rrset.rdtype in PROOFS
                                                   or rrset.covers in PROOFS)


def same(lab, number, n=16, names=()):
    """The present zone proves the answer of the driver or a worker over UDP."""
    for name in (*names, *(f"x{i}" for i in itertools.islice(number, n)),
                 *(f"x{i}.wild" for i in itertools.islice(number, 4))):
        wire = query(name)
        assert proofs(lab.udp_wire(wire)) == proofs(by_tcp(lab, wire)), name


@pytest.mark.parametrize("policy", POLICIES)
def test_proofs_by_the_driver(lab, daemon, tmp_path, number, policy):
    """
    Once an interval is known, names in it are denied, or answered from a wildcard, by the driver,
    as a worker would.
    """
    configure(daemon, tmp_path, **POLICIES[policy]).spawn()
    daemon.wait_ready()
    learn(lab, number)
    by_driver(lab, daemon, number, dns.rcode.NXDOMAIN)
    learn(lab, number, below=".y.c", n=40)
    by_driver(lab, daemon, number, dns.rcode.NXDOMAIN, below=".y.c")
    learn(lab, number, below=".wild")
    by_driver(lab, daemon, number, dns.rcode.NOERROR, below=".wild")
    before = found(daemon)[0]
    assert before >= 3
    assert (lab.udp(dns.message.make_query("new.sub.z.test", "A", want_dnssec=True)).rcode() ==
            dns.rcode.NOERROR)
    assert texts(dns.message.from_wire(lab.udp_wire(query("a.b.c")))) != []
    assert dns.message.from_wire(lab.udp_wire(query("b.c"))).rcode() == dns.rcode.NOERROR
    assert found(daemon)[0] == before


@pytest.mark.parametrize("policy", POLICIES)
def test_proofs_validate(lab, daemon, tmp_path, number, policy):
    """delv believes what the driver says."""
    configure(daemon, tmp_path, **POLICIES[policy]).spawn()
    daemon.wait_ready()
    for below in ("", ".wild"):
        for i in itertools.islice(number, 120):
            lab.udp_wire(query(f"x{i}{below}", dns.flags.CD))
    key = next(r for r in lab.tcp(dns.message.make_query("z.test", "DNSKEY")).answer[0]
               if r.flags & 1)
    fields = key.to_text().split()
    (tmp_path / "anchors").write_text(
        f'trust-anchors '
        f'{{ "z.test." static-key {" ".join(fields[:3])} "{"".join(fields[3:])}"; }};\n')
    before = found(daemon)[1]
    for below, said in (("", "; negative response, fully validated"),
                        (".wild", "; fully validated")):
        for i in itertools.islice(number, 6):
            out = lab.exec("c", "delv", f"@{V4}", "-a", tmp_path / "anchors", "+root=z.test",
                           f"x{i}{below}.z.test", "A").stdout
            insecure = policy == "opt-out" and "; unsigned answer" in out  # RFC 5155 section 9.2
            assert said in out.splitlines() or insecure, out
    assert found(daemon)[1] > before


@pytest.mark.parametrize("policy", POLICIES)
def test_proofs_through_edits(lab, daemon, tmp_path, number, policy):
    """
    From the end of an edit on no proof is given that was of the zone before, and a name that came
    is answered.
    """
    configure(daemon, tmp_path, **POLICIES[policy]).spawn()
    daemon.wait_ready()
    learn(lab, number)
    for lines, names in ((["add xnew 60 A 192.0.2.66"], ["xnew"]),
                         (["add a.b.xent 60 A 192.0.2.67"], ["xent", "b.xent", "a.b.xent"]),
                         (["add *.xwild 60 A 192.0.2.68"], ["xwild", "q.xwild"]),
                         (["add q.wild 60 A 192.0.2.69"], ["q.wild"]),
                         (["add xcut 60 NS ns.other.test."], ["q.xcut"])):
        for name in names:
            assert proofs(lab.udp_wire(query(name)))[1] in ([], ["192.0.2.9"]) or name == "q.wild"
        daemon.ctl("zone", "edit", "z.test", *lines)
        for name in names:
            assert dns.message.from_wire(lab.udp_wire(query(name))).rcode() == dns.rcode.NOERROR, name
        same(lab, number, names=names)
    for owner in ("xnew", "a.b.xent", "*.xwild", "q.wild", "xcut"):
        daemon.ctl("zone", "edit", "z.test", f"remove {owner}")
        same(lab, number, names=["xnew", "xent", "a.b.xent", "q.xwild", "q.wild", "q.xcut"])
    assert lab.udp(dns.message.make_query("xnew.z.test", "A")).rcode() == dns.rcode.NXDOMAIN


@pytest.mark.parametrize("policy", POLICIES)
def test_proofs_with_other_octets(lab, daemon, tmp_path, number, policy):
    """
    Proofs in the cache of which an octet has changed are found by a worker, through edits no other
    is: the zone's denials end.
    """
    configure(daemon, tmp_path, **POLICIES[policy]).spawn()
    daemon.wait_ready()
    learn(lab, number)
    daemon.ctl("zone", "edit", "z.test", "add xnew 60 A 192.0.2.66")
    learn(lab, number, n=40)
    told = daemon.json("names")
    assert told["zones_not_denied"] == [] and told["answers_wrong"] == 0
    maps = map_ids(program(lab)["id"])
    store = sharedentries.map_memory(maps["volley_store"])
    damaged = list(sharedentries.bodies(store, sharedentries.filter_id(maps), "interval",
                                        b"\1z\4test\0"))
    assert damaged
    for begin, end in damaged:
        sharedentries.damage(store, begin, end)

    def is_found():
        learn(lab, number, n=200)
        return daemon.json("names")["zones_not_denied"]
    wait_for("the zone's denials end", is_found)
    assert "octets differ from the zone's" in daemon.log()
    learn(lab, number, n=10)
    before = found(daemon)[1]
    learn(lab, number, n=40)
    assert found(daemon)[1] == before


def kind_of(lab, number):
    """Of the proofs to one more name."""
    message = dns.message.from_wire(lab.udp_wire(query(f"x{next(number)}")))
    return {rrset.rdtype for rrset in message.authority if rrset.rdtype in PROOFS}


def test_proofs_of_another_chain(lab, daemon, tmp_path, number):
    """
    The zone changes from NSEC to NSEC3 and back: no proof of the other chain is given behind that.
    """
    configure(daemon, tmp_path, denial="nsec").spawn()
    daemon.wait_ready()
    for denial, kind in (("nsec3", dns.rdatatype.NSEC3), ("nsec", dns.rdatatype.NSEC)):
        learn(lab, number)
        configure(daemon, tmp_path, denial=denial)
        daemon.ctl("zone", "reload")
        wait_for("the chain is another", lambda k=kind: kind_of(lab, number) == {k})
        before = found(daemon)[1]
        for i in range(150):
            assert kind_of(lab, number) == {kind}, i
        assert found(daemon)[1] > before
        same(lab, number)
