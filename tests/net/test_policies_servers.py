# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of lists for name servers: rpz-nsdname and rpz-nsip. named gives the same answers."""
import shutil

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from netlab import texts, wait_for, zone
from policypeers import PORTS, UPSTREAM, peers_of, verdict, write
from test_recursion import ask, hits, recursion, send, start
from upstreams import Netns

ROOT = f"""$TTL 300
@ SOA ns hostmaster 1 7200 3600 1209600 60
@ NS ns
ns A {UPSTREAM}
www.far A 192.0.2.10
to-hosted.far CNAME www.hosted.far.
ns.hoster.far A 198.51.100.53
ns.tidy.far A 192.0.2.53
ns.tidy.far AAAA 2001:db8:53::1
ns.bane.far A 203.0.113.53
ns.sixth.far AAAA 2001:db8:66::1
ns.near.far A 198.51.100.54
*.many.far A 192.0.2.54
"""
# zone: its name servers
ZONES = {"hosted.far.": ("ns.hoster.far.",), "clean.far.": ("ns.tidy.far.",),
         "sub.clean.far.": ("ns.hoster.far.",),
         "six.far.": ("ns.tidy.far.", "ns.sixth.far."),
         "two.far.": ("ns.hoster.far.", "ns.bane.far."),
         "both.far.": ("ns.near.far.", "ns.hoster.far."), "evil.far.": ("ns.bane.far.",),
         "own.far.": ("ns.own.far.",)}
ZONE = """$TTL 300
@ SOA ns hostmaster 1 7200 3600 1209600 60
{servers}
www A 192.0.2.10
a.b.c A 192.0.2.10
bad A 198.51.100.1
ns A 192.0.2.55
"""
# of several servers the draft and the manual of named choose the smallest name, named 9.18 the
# largest
NAMED_LAST = ("www.two.far",)
NXDOMAIN, NODATA, PASSED = ("NXDOMAIN",), ("NOERROR",), ("NOERROR", "192.0.2.10")


@pytest.fixture(name="upstream")
def make_upstream(lab, tmp_path):
    if not shutil.which("nsd", path="/usr/sbin:/usr/bin"):
        pytest.skip("nsd is not installed")
    folder = tmp_path / "upstream"
    folder.mkdir()
    zones = {".": "root"}
    for origin, servers in ZONES.items():
        records = "".join(f"@ NS {server}\n" for server in servers)
        (folder / origin).write_text(ZONE.format(servers=records), encoding="ascii")
        zones[origin] = origin
    (folder / "root").write_text(ROOT, encoding="ascii")
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(folder, f"{lab.name}-s")
    try:
        netns.nsd(UPSTREAM, zones)
        yield netns
    finally:
        netns.close()


def check(lab, upstream, folder, lists, wanted, but=()):
    """Volley says it twice, the second time perhaps from its cache; named once."""
    for _ in range(2):
        assert {name: verdict(lab, name) for name in wanted} == wanted
    with peers_of(upstream, lab, folder, lists, ["named"], servers=True) as peers:
        for peer in peers:
            # named looks for servers below a zone cut that it knows, and a forwarding one knows not
            # even the root's
            lab.udp(dns.message.make_query(".", "NS"), port=PORTS[peer])
            same = {name: said for name, said in wanted.items() if name not in but}
            assert {name: verdict(lab, name, server=peer) for name in same} == same, peer


def test_names_of_servers(lab, daemon, tmp_path, upstream):
    lists = [write(tmp_path, "list.rpz", "ns.hoster.far.rpz-nsdname CNAME .",
                   "*.bane.far.rpz-nsdname CNAME *.", "ns.own.far.rpz-nsdname A 192.0.2.80")]
    start(daemon, recursion=recursion(rpz=lists))
    check(lab, upstream, tmp_path, lists, {
        "www.hosted.far": NXDOMAIN, "a.b.c.hosted.far": NXDOMAIN, "hosted.far": NXDOMAIN,
                                           "nothere.hosted.far": NXDOMAIN,
        "to-hosted.far": NXDOMAIN, "www.clean.far": PASSED, "www.sub.clean.far": NXDOMAIN,
                                           "www.evil.far": NODATA,
        "www.own.far": ("NOERROR", "192.0.2.80"), "www.far": PASSED, "www.two.far": NODATA},
          NAMED_LAST)
    assert hits(daemon, lambda: ask(lab, "www.hosted.far")) == 1, "the driver says so, too"
    assert hits(daemon, lambda: ask(lab, "www.clean.far")) == 1
    one = daemon.json("policy", "list")["policies"][0]
    assert (one["rules"], one["ignored"]) == (3, 0) and one["hits"] == 9
    assert texts(ask(lab,
                     "ns.hoster.far")) == ["198.51.100.53"], "the server itself is not named by a rule"
    assert ask(lab, "hosted.far", "NS").rcode() == dns.rcode.NXDOMAIN


def test_addresses_of_servers(lab, daemon, tmp_path, upstream):
    lists = [write(tmp_path, "list.rpz", "24.0.100.51.198.rpz-nsip CNAME .",
                   "32.53.100.51.198.rpz-nsip CNAME *.",
                   "32.zz.66.db8.2001.rpz-nsip CNAME .", "48.zz.66.db8.2001.rpz-nsip A 192.0.2.80",
                   "32.53.113.0.203.rpz-nsip CNAME rpz-drop.",
                   "32.55.2.0.192.rpz-nsip CNAME www.far.")]
    start(daemon, recursion=recursion(rpz=lists))
    check(lab, upstream, tmp_path, lists, {
        "www.hosted.far": NODATA, "www.both.far": NODATA, "www.six.far": ("NOERROR", "192.0.2.80"),
                                           "www.clean.far": PASSED,
        "www.evil.far": "dropped", "a.b.c.own.far": PASSED, "www.sub.clean.far": NODATA,
                                           "to-hosted.far": NODATA})
    assert daemon.json("policy",
                       "list")["policies"][0]["ignored"] == 1, "a prefix with bits behind its length"


def test_the_order_of_triggers(lab, daemon, tmp_path, upstream):
    """
    In one list name, address, server's name, server's address; but the earlier list before all.
    """
    first = ["32.53.2.0.192.rpz-nsip CNAME rpz-passthru."]
    second = ["www.hosted.far A 192.0.2.81", "32.1.100.51.198.rpz-ip A 192.0.2.82",
              "ns.hoster.far.rpz-nsdname A 192.0.2.83",
              "32.53.100.51.198.rpz-nsip A 192.0.2.84", "32.54.100.51.198.rpz-nsip A 192.0.2.85",
              "www.clean.far CNAME .", "32.55.2.0.192.rpz-nsip A 192.0.2.86"]
    third = ["www.both.far CNAME .", "www.far CNAME ."]
    lists = [write(tmp_path, f"{name}.rpz", *rules)
             for name, rules in (("first", first), ("second", second), ("third", third))]
    start(daemon, recursion=recursion(rpz=lists))
    check(lab, upstream, tmp_path, lists, {
        "www.hosted.far": ("NOERROR", "192.0.2.81"), "bad.hosted.far": ("NOERROR", "192.0.2.82"),
        "a.b.c.hosted.far": ("NOERROR", "192.0.2.83"), "www.both.far": ("NOERROR", "192.0.2.83"),
                                           "www.clean.far": PASSED,
        "www.sub.clean.far": PASSED, "www.own.far": ("NOERROR", "192.0.2.86"), "www.far": NXDOMAIN,
        "to-hosted.far": ("NOERROR", "192.0.2.81")})


def test_servers_of_one_kind(lab, daemon, tmp_path, upstream):
    """
    Of two names the first in the canonical order, of two addresses the longest prefix, then the
    lowest.
    """
    lists = [write(tmp_path, "list.rpz", "ns.hoster.far.rpz-nsdname CNAME .",
                   "ns.bane.far.rpz-nsdname A 192.0.2.80",
                   "32.53.100.51.198.rpz-nsip A 192.0.2.81",
                   "32.54.100.51.198.rpz-nsip A 192.0.2.82")]
    start(daemon, recursion=recursion(rpz=lists))
    check(lab, upstream, tmp_path, lists,
          {"www.two.far": ("NOERROR", "192.0.2.80"), "www.both.far": NXDOMAIN},
          NAMED_LAST)


def test_a_reload_withdraws_what_came_before(lab, daemon, tmp_path, upstream):
    """No answer says which servers its name has, so all of them are asked for once more."""
    assert upstream
    first, second = (write(tmp_path, f"{name}.rpz", "other.far CNAME .")
                     for name in ("first", "second"))
    start(daemon, recursion=recursion(rpz=[first, second]))
    names = ("www.hosted.far", "www.clean.far", "to-hosted.far")
    for name in names:
        ask(lab, name)
        assert hits(daemon, lambda name=name: ask(lab, name)) == 1
    write(tmp_path, "first.rpz", "ns.hoster.far.rpz-nsdname CNAME .")
    daemon.ctl("zone", "reload")
    assert [verdict(lab, name) for name in names] == [NXDOMAIN, PASSED, NXDOMAIN]
    assert hits(daemon, lambda: ask(lab, "www.clean.far")) == 1
    for again in (lambda: daemon.ctl("zone", "reload"),
                  lambda: (daemon.stop("--keep"), daemon.start())):
        again()
        assert hits(daemon, lambda: ask(lab, "www.clean.far")) == 1, "the same lists"
    write(tmp_path, "second.rpz", "another.far CNAME .")
    daemon.ctl("zone", "reload")
    assert hits(daemon,
                lambda: ask(lab, "www.clean.far")) == 1, "a list behind those with such rules"
    daemon.stop("--keep")
    write(tmp_path, "first.rpz", "ns.tidy.far.rpz-nsdname CNAME .")
    daemon.start()
    assert [verdict(lab, name) for name in names] == [PASSED, NXDOMAIN, PASSED]
    write(tmp_path, "first.rpz", "ns.hoster.far.rpz-nsdname CNAME .")
    daemon.ctl("zone", "reload")
    ask(lab, "www.clean.far")
    write(tmp_path, "first.rpz", "other.far CNAME .")
    daemon.ctl("zone", "reload")
    assert hits(daemon, lambda: ask(lab, "www.clean.far")) == 1
    assert [verdict(lab, name) for name in names] == [PASSED] * 3


def test_libunbound(lab, daemon, tmp_path, upstream):
    """It says the servers, too, when it is asked for them."""
    assert upstream
    (tmp_path / "hints").write_text(f". 3600 IN NS ns.\nns. 3600 IN A {UPSTREAM}\n",
                                    encoding="ascii")
    lists = [write(tmp_path, "list.rpz", "ns.bane.far.rpz-nsdname CNAME .",
                   "32.54.100.51.198.rpz-nsip CNAME *.")]
    start(daemon,
          recursion=recursion(rpz=lists, forward=[], **{"root-hints": str(tmp_path / "hints")}))
    assert daemon.status()["recursion"]["by"] == "libunbound"
    # one name of each zone: it would ask the server that it has learned, which is not there
    wanted = {"a.b.c.evil.far": NXDOMAIN, "www.both.far": NODATA, "www.hosted.far": PASSED,
              "www.far": PASSED}
    for _ in range(2):
        assert {name: verdict(lab, name) for name in wanted} == wanted


def reply_but_for_servers(rcode):
    """
    To a question for servers, but the root's, the reply has RCODE; None: there is none. All else
    has an address.
    """
    def reply(query, _):
        question = query.question[0]
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.AA | dns.flags.RA
        if question.rdtype == dns.rdatatype.A:
            answer.answer.append(dns.rrset.from_text(question.name, 300, "IN", "A", "192.0.2.10"))
        elif question.name == dns.name.root:
            answer.answer.append(dns.rrset.from_text(".", 300, "IN", "NS", "ns."))
        elif rcode is None:
            return None
        else:
            answer.set_rcode(rcode)
        return answer.to_wire()
    return reply


@pytest.mark.parametrize("rcode", [None, dns.rcode.SERVFAIL, dns.rcode.REFUSED])
def test_servers_that_cannot_be_found(lab, daemon, tmp_path, rcode):
    """The answer is given in the client's time, as named gives it."""
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(tmp_path, f"{lab.name}-s")
    lists = [write(tmp_path, "list.rpz", "*.rpz-nsdname CNAME .")]
    try:
        slow = netns.script("far", reply_but_for_servers(rcode), UPSTREAM)
        start(daemon, recursion=recursion(rpz=lists, **{"query-timeout": "1s"}))
        assert texts(ask(lab, "www.slow.far")) == ["192.0.2.10"]
        assert len(slow.seen) > 1, "the servers were asked for"
        assert hits(daemon, lambda: ask(lab, "www.slow.far")) == 1
        if rcode is not None:
            check(lab, netns, tmp_path, lists, {"www.slow.far": PASSED})
    finally:
        netns.close()


def test_a_reload_while_servers_are_asked_for(lab, daemon, tmp_path):
    """
    Another resolver goes on for them, and the answer that the first one gave is given, or nothing
    is: by a stop.
    """
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(tmp_path, f"{lab.name}-s")
    lists = [write(tmp_path, "list.rpz", "*.rpz-nsdname CNAME .")]
    try:
        slow = netns.script("far", reply_but_for_servers(None), UPSTREAM)
        start(daemon, recursion=recursion(rpz=lists, **{"query-timeout": "3s"}))
        with send(lab, "www.slow.far") as sock:
            wait_for("the servers are asked for", lambda: len(slow.seen) > 1)
            daemon.configure(zones=[zone("example.com")],
                             recursion=recursion(rpz=lists,
                                                 **{"query-timeout": "3s",
                                                    "upstream-timeout": "900ms"}))
            daemon.ctl("zone", "reload")
            sock.settimeout(6)
            assert texts(dns.message.from_wire(sock.recv(4096))) == ["192.0.2.10"]
        with send(lab, "w.other.far"):
            wait_for("the servers are asked for",
                     lambda: sum("other" in name.lower() for name in slow.seen) > 1)
            assert daemon.stop() == 0
    finally:
        netns.close()
