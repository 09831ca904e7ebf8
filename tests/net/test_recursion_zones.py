# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of our zones that lead out of them: a client that may recurse gets the rest from upstream,
another client does not.

One client may recurse (IPv4), the other may not (IPv6); the driver has the answers of both.
"""
import dns.flags
import dns.message
import dns.rcode
import pytest

from netlab import CLIENT4, V4, V6, texts, zone
from test_recursion import FIRST, ask, hits, make_upstream, recursion, start

__all__ = ["make_upstream"]

RECORDS = """$TTL 300
@ SOA ns hostmaster {} 7200 3600 1209600 60
@ NS ns
ns A 192.0.2.1
out CNAME www.far.
*.wild CNAME www.far.
d DNAME far.
loop CNAME loop
{}
"""
CUT = "sub NS ns.sub\nns.sub A 192.0.2.53\ndown CNAME a.sub\n"


@pytest.fixture(name="corp")
def make_corp(tmp_path, upstream):
    """The zone corp.far in a file, below a wildcard of the root that upstream has."""
    assert upstream
    path = tmp_path / "corp.zone"
    path.write_text(RECORDS.format(1, CUT), encoding="ascii")
    return path


def begin(daemon, path, **keys):
    start(daemon, zones=[zone("corp.far", path)], recursion=recursion(allow=[CLIENT4], **keys))


def chain(answer):
    """Of each RRset of the answer section its type, and what it says."""
    return [(rrset.to_text().split()[3], [record.to_text() for record in rrset])
            for rrset in answer.answer]


ALIASES = {
    "out.corp.far": [("CNAME", ["www.far."])],
    "q.wild.corp.far": [("CNAME", ["www.far."])],
    "www.d.corp.far": [("DNAME", ["far."]), ("CNAME", ["www.far."])],
}


def test_aliases_are_followed_for_who_may_recurse(lab, daemon, corp):
    begin(daemon, corp)
    for name, alias in ALIASES.items():
        bare = ask(lab, name, where=V6)
        assert chain(bare) == alias and bare.flags & dns.flags.AA and not bare.flags & dns.flags.RA
        for _ in range(3):
            whole = ask(lab, name)
            assert chain(whole) == alias + [("A", [FIRST])], "also when the driver has the alias"
            assert whole.flags & dns.flags.AA and whole.flags & dns.flags.RA
            again = ask(lab, name, where=V6)
            again.id = bare.id
            assert again.to_wire() == bare.to_wire()
        assert hits(daemon, lambda name=name: ask(lab, name, where=V6)) == 1
        assert chain(lab.tcp(dns.message.make_query(name, "A"))) == alias + [("A", [FIRST])]
        without = dns.message.make_query(name, "A", flags=0)
        assert chain(lab.udp(without, timeout=6)) == alias


def test_what_is_below_a_cut_is_asked_for(lab, daemon, corp):
    begin(daemon, corp)
    for _ in range(2):
        referral = ask(lab, "a.sub.corp.far", where=V6)
        assert not referral.answer and texts(referral, "authority") == ["ns.sub.corp.far."]
        assert not referral.flags & (dns.flags.AA | dns.flags.RA)
        answer = ask(lab, "a.sub.corp.far")
        assert texts(answer) == [FIRST] and answer.flags & dns.flags.RA
        assert not answer.flags & dns.flags.AA
    assert chain(ask(lab, "down.corp.far")) == [("CNAME", ["a.sub.corp.far."]), ("A", [FIRST])]
    ask(lab, "b.sub.corp.far")
    assert hits(daemon, lambda: ask(lab, "b.sub.corp.far")) == 1, "as any answer from upstream"


def change(daemon, corp, serial, records):
    corp.write_text(RECORDS.format(serial, records), encoding="ascii")
    daemon.ctl("zone", "reload", "corp.far")


def test_a_change_of_the_zone_holds_at_once(lab, daemon, corp):
    begin(daemon, corp)
    for name in ("a.sub.corp.far", "b.sub.corp.far", "down.corp.far"):
        assert FIRST in ask(lab, name).to_text()
    change(daemon, corp, 2, "a.sub A 192.0.2.7\ndown CNAME ns\n")
    for where in (V4, V6):
        assert texts(ask(lab, "a.sub.corp.far", where=where)) == ["192.0.2.7"]
        assert ask(lab, "b.sub.corp.far", where=where).rcode() == dns.rcode.NXDOMAIN
        assert (chain(ask(lab, "down.corp.far", where=where)) ==
                [("CNAME", ["ns.corp.far."]), ("A", ["192.0.2.1"])])
    change(daemon, corp, 3, CUT)
    for name in ("a.sub.corp.far", "b.sub.corp.far", "down.corp.far"):
        assert FIRST in ask(lab, name).to_text(), "the driver has no answer of the zone before"
        assert FIRST not in ask(lab, name, where=V6).to_text()


def test_local_data_is_followed(lab, daemon, corp):
    begin(daemon, corp,
          **{"local-data": ["lan. CNAME out.corp.far.", "a.loop. CNAME b.loop.",
                            "b.loop. CNAME a.loop."]})
    for _ in range(2):
        answer = ask(lab, "lan")
        assert (chain(answer) ==
                [("CNAME", ["out.corp.far."]), ("CNAME", ["www.far."]), ("A", [FIRST])])
        assert answer.flags & dns.flags.RA and not answer.flags & dns.flags.AA
    assert ask(lab, "a.loop").rcode() == dns.rcode.SERVFAIL
    assert chain(ask(lab, "loop.corp.far")) == [("CNAME", ["loop.corp.far."])]
    assert ask(lab, "lan", where=V6).rcode() == dns.rcode.REFUSED
