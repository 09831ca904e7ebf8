# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of 2008: a large ANY in full, and queries for zones that are not held."""
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import pytest

import peers

ZONE = str(peers.ROOT / "zones" / "example2.jp.zone")
ROOT_ZONE = """\
. 86400 IN SOA a.root-servers.test. host.root-servers.test. 1 1800 900 604800 86400
. 86400 IN NS a.root-servers.test.
a.root-servers.test. 86400 IN A 192.0.2.4
jp. 86400 IN NS a.dns.jp.
jp. 86400 IN NS b.dns.jp.
a.dns.jp. 86400 IN A 192.0.2.100
b.dns.jp. 86400 IN AAAA 2001:db8::100
com. 86400 IN NS ns.example.org.
"""
CLIENTS = ["127.0.0.1", "127.1.2.3"]


@pytest.fixture(scope="module", params=["no root zone", "root zone"])
def server(request, own_loopback, tmp_path_factory):
    """volleyd with example2.jp, and with the root zone or not; .has_root says which."""
    folder = tmp_path_factory.mktemp("not-ours")
    zones = {"example2.jp.": ZONE}
    if request.param == "root zone":
        (folder / "root.zone").write_text(ROOT_ZONE)
        zones["."] = str(folder / "root.zone")
    running = peers.Server("volleyd", folder, zones)
    running.has_root = len(zones) == 2
    try:
        running.wait(dns.message.make_query("example2.jp.", "SOA").to_wire())
        yield running
    finally:
        running.stop()


def ask(server, name, rtype, client=CLIENTS[0], rd=False, **options):
    query = dns.message.make_query(name, rtype, **options)
    query.flags = dns.flags.RD if rd else 0
    wire = server.ask(query.to_wire(), source=client)
    assert wire, "no reply"
    return dns.message.from_wire(wire), len(wire)


def rows(section):
    return sorted((rr.name.to_text(), dns.rdatatype.to_text(rr.rdtype), rdata.to_text())
                  for rr in section for rdata in rr)


@pytest.mark.parametrize("edns, octets", [(True, 500), (False, 489)])
def test_any_in_full(server, edns, octets):
    """With the NS RRset it would have 506 octets, and a client of 512 no room for OPT."""
    for _ in range(2):  # from the zone, and from the cache
        options = {"use_edns": 0, "payload": 4096} if edns else {}
        reply, n = ask(server, "www.example2.jp.", "ANY", **options)
        assert n == octets
        assert reply.rcode() == dns.rcode.NOERROR and reply.flags & dns.flags.AA
        assert not reply.flags & dns.flags.TC
        assert sorted(len(rr) for rr in reply.answer) == [10, 11]
        assert not reply.authority and not reply.additional


@pytest.mark.parametrize("rd", [False, True])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", ["www.example.jp.", "example.com.", "jp.", "nothere.", "."])
def test_zone_that_is_not_held(server, name, client, rd):
    """Recursion is for nobody here: whoever asks, and with RD or not, gets the same."""
    reply, _ = ask(server, name, "A", client, rd)
    assert not reply.flags & dns.flags.RA
    assert bool(reply.flags & dns.flags.RD) == rd
    assert not reply.answer
    if not server.has_root:
        assert reply.rcode() == dns.rcode.REFUSED
        assert not reply.authority and not reply.additional and not reply.flags & dns.flags.AA
    elif name in ("nothere.", "."):
        assert reply.rcode() == (dns.rcode.NXDOMAIN if name == "nothere." else dns.rcode.NOERROR)
        assert reply.flags & dns.flags.AA
        assert [rr.to_text().split()[::3][:2] for rr in reply.authority] == [[".", "SOA"]]
    else:
        assert_referral(reply, name)


def assert_referral(reply, name):
    """From the root to the name's top domain, with the glue that there is: RFC 9471."""
    assert reply.rcode() == dns.rcode.NOERROR and not reply.flags & dns.flags.AA
    if name.endswith("jp."):
        assert rows(reply.authority) == [("jp.", "NS", "a.dns.jp."), ("jp.", "NS", "b.dns.jp.")]
        assert rows(reply.additional) == [("a.dns.jp.", "A", "192.0.2.100"),
                                          ("b.dns.jp.", "AAAA", "2001:db8::100")]
    else:
        assert rows(reply.authority) == [("com.", "NS", "ns.example.org.")]
        assert not reply.additional


def test_own_zone_below_the_root(server):
    """What is held is answered from the closest zone, root zone or not."""
    reply, _ = ask(server, "ns.example2.jp.", "A")
    assert reply.flags & dns.flags.AA
    assert rows(reply.answer) == [("ns.example2.jp.", "A", "192.0.2.153")]
    reply, _ = ask(server, "example2.jp.", "DS")  # at the parent, if that is held
    assert [rr.rdtype for rr in reply.authority] == \
        [dns.rdatatype.NS if server.has_root else dns.rdatatype.SOA]
