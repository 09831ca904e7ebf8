# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that do not belong in the public DNS, and the operator's own zones below zones of others.

The upstream is a script that answers any name with an address, so a leaked query is seen. With
stubs or a trust anchor libunbound asks it, else the forwarder.
"""
import dns.flags
import dns.message
import dns.rcode
import dns.reversename
import pytest

from dnstree import ask as ask_world, query, world_of
from netlab import CLIENT4, CLIENT6, V4, V6, texts, wait_for, zone
from upstreams import Netns, address_answer

UPSTREAM, INSIDE = "127.0.1.1", "127.0.1.50"
STUB = {"zone": "stub.", "address": INSIDE}
WAYS = pytest.mark.parametrize("more", [{}, {"stubs": [STUB]}], ids=["forwarder", "libunbound"])

DENIED = ["a.onion", "host.test", "www.invalid", "router.home.arpa", "x.service.arpa",
          *(dns.reversename.from_address(address).to_text() for address in (
              "10.1.2.3", "172.16.0.1", "172.31.9.9", "192.168.1.1", "100.64.0.1", "100.127.0.1",
                                                                            "169.254.1.1",
              "192.0.2.7", "127.9.9.9", "0.1.2.3", "fd00::1", "fe80::1", "2001:db8::1"))]


def address_reply(text):
    return lambda asked, _tcp: address_answer(asked, text).to_wire()


@pytest.fixture(name="upstream")
def make_upstream(lab, tmp_path):
    folder = tmp_path / "upstream"
    folder.mkdir()
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(folder, f"{lab.name}-s")
    try:
        netns.inside = netns.script("inside", address_reply(INSIDE), INSIDE)
        yield netns.script("all", address_reply(UPSTREAM), UPSTREAM)
    finally:
        netns.close()


def recursion(**keys):
    return {"allow": [CLIENT4, CLIENT6], "forward": [UPSTREAM], "query-localhost": True, **keys}


def start(daemon, **keys):
    return daemon.start(zones=[zone("example.com")], recursion=recursion(**keys))


def ask(lab, name, kind="A", where=V4):
    return lab.ask(name, kind, where, timeout=6)


def soa_of(reply):
    return [str(rrset.name) for rrset in reply.authority if rrset.rdtype == 6]


@WAYS
def test_they_are_answered_here(lab, daemon, upstream, more):
    start(daemon, **more)
    for name in DENIED:
        for where in (V4, V6):
            reply = ask(lab, name, where=where)
            assert reply.rcode() == dns.rcode.NXDOMAIN, reply
            assert reply.flags & dns.flags.RA and soa_of(reply), reply
    assert lab.tcp(dns.message.make_query("b.onion", "A")).rcode() == dns.rcode.NXDOMAIN
    for name in ("localhost", "a.localhost"):
        assert texts(ask(lab, name)) == ["127.0.0.1"]
        assert texts(ask(lab, name, "AAAA")) == ["::1"]
    for address in ("127.0.0.1", "::1"):
        assert (texts(ask(lab, dns.reversename.from_address(address).to_text(), "PTR")) ==
                ["localhost."])
    assert soa_of(ask(lab, "10.in-addr.arpa")) == ["10.in-addr.arpa."]
    assert texts(ask(lab, "10.in-addr.arpa", "NS")) == ["10.in-addr.arpa."]
    assert upstream.seen == []
    assert texts(ask(lab, "www.far")) == [UPSTREAM]
    assert texts(ask(lab, "9.172.in-addr.arpa")) == [UPSTREAM]
    assert upstream.seen[0].lower().endswith("far.")


@pytest.mark.usefixtures("upstream")
def test_the_driver_has_them_then(lab, daemon):
    start(daemon)
    ask(lab, "a.onion")
    ask(lab, "localhost")
    before = daemon.answered()["driver"]
    assert ask(lab, "A.onion").rcode() == dns.rcode.NXDOMAIN
    assert texts(ask(lab, "localhost", where=V6)) == ["127.0.0.1"]
    assert daemon.answered()["driver"] == before + 2


@WAYS
def test_names_that_are_off(lab, daemon, upstream, more):
    off = ["test", "172.in-addr.arpa", "localhost"]
    start(daemon, **{"special-names-off": off, **more})
    for name in ("host.test", "1.16.172.in-addr.arpa", "localhost"):
        assert texts(ask(lab, name)) == [UPSTREAM], name
    assert ask(lab, "1.10.in-addr.arpa").rcode() == dns.rcode.NXDOMAIN
    n_seen = len(upstream.seen)
    daemon.configure(zones=[zone("example.com")],
                     recursion=recursion(**{"special-names": False, **more}))
    daemon.ctl("zone", "reload")
    for name in ("1.10.in-addr.arpa", "a.onion", "host.home.arpa"):
        assert texts(ask(lab, name)) == [UPSTREAM], name
    assert len(upstream.seen) > n_seen
    daemon.configure(zones=[zone("example.com")], recursion=recursion(**more))
    daemon.ctl("zone", "reload")
    assert ask(lab, "a.onion").rcode() == dns.rcode.NXDOMAIN
    assert ask(lab, "host.test").rcode() == dns.rcode.NXDOMAIN


@pytest.mark.usefixtures("upstream")
def test_what_is_configured_for_such_a_name_comes_first(lab, daemon, tmp_path):
    own = tmp_path / "own"
    own.write_text("$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nwww A 192.0.2.99\n", encoding="ascii")
    (tmp_path / "list").write_text("$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nlisted.test A "
                                   "192.0.2.98\n"
                                   "alias.far CNAME localhost.\nother.far CNAME x.y.test.\n",
                                   encoding="ascii")
    stubs = [{"zone": name, "address": INSIDE}
             for name in ("10.in-addr.arpa", "home.arpa", "a.corp.test")]
    daemon.start(zones=[{"name": "own.test", "file": str(own)}],
                 recursion=recursion(**{"stubs": stubs, "local-data": ["data.test. A 192.0.2.97"],
                                        "rpz": [{"name": "rpz.", "file": str(tmp_path / "list")}]}))
    for name in ("1.2.10.in-addr.arpa", "10.in-addr.arpa", "host.home.arpa", "x.a.corp.test"):
        assert texts(ask(lab, name)) == [INSIDE], name
    wait_for("the list", lambda: texts(ask(lab, "listed.test")) == ["192.0.2.98"])
    assert texts(ask(lab, "data.test")) == ["192.0.2.97"]
    assert texts(ask(lab, "www.own.test")) == ["192.0.2.99"]
    assert sorted(texts(ask(lab, "alias.far"))) == ["127.0.0.1", "localhost."]
    assert ask(lab, "other.far").rcode() == dns.rcode.NXDOMAIN
    for name, rcode in (("other.test", dns.rcode.NXDOMAIN), ("corp.test", dns.rcode.NOERROR)):
        reply = ask(lab, name)
        assert reply.rcode() == rcode and soa_of(reply) == ["test."], reply
    reply = ask(lab, "own.test", "DS")
    assert reply.rcode() == dns.rcode.NOERROR and soa_of(reply) == ["test."], reply


@pytest.mark.usefixtures("upstream")
def test_what_a_reload_adds_for_such_a_name_is_seen_at_once(lab, daemon, tmp_path):
    """The denials in the cache, from which the driver answers, end."""
    names = ("www.own.test", "data.test", "listed.test", "x.stub.test")
    start(daemon)
    for name in (*names, *names, "localhost"):
        assert ask(lab, name).rcode() == (0 if name == "localhost" else dns.rcode.NXDOMAIN)
    for path, record in (("own", "www A 192.0.2.1"), ("list", "listed.test A 192.0.2.1")):
        (tmp_path / path).write_text(f"$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\n{record}\n",
                                     encoding="ascii")
    more = {"local-data": ["data.test. A 192.0.2.1"],
            "rpz": [{"name": "rpz.", "file": str(tmp_path / "list")}]}
    zones = [{"name": "own.test", "file": str(tmp_path / "own")}]
    for stubs in ([], [{"zone": "stub.test", "address": INSIDE}]):
        daemon.configure(zones=zones, recursion=recursion(stubs=stubs, **more))
        daemon.ctl("zone", "reload")
        for name in names[:3]:
            wait_for(name, lambda name=name: texts(ask(lab, name)) == ["192.0.2.1"])
        assert texts(ask(lab, "x.stub.test")) == ([INSIDE] if stubs else [])
        assert ask(lab, "other.test").rcode() == dns.rcode.NXDOMAIN


# --- With validation ------------------------------------------------------------------------------


@pytest.fixture(name="tree_world", scope="module")
def make_tree_world(tmp_path_factory, tree_zones):
    with world_of(tmp_path_factory.mktemp("special"), tree_zones) as world:
        world.tree.script("inside", address_reply("192.0.2.50"), "10.53.7.1")
        yield world


@pytest.fixture(name="world")
def make_world(tree_world):
    yield tree_world
    tree_world.daemon.stop()


def stubs_of(*names):
    return [{"zone": name, "address": "10.53.7.1"} for name in names]


def test_a_stub_for_a_special_name_is_not_validated(world):
    names = ("10.in-addr.arpa", "home.arpa", "corp.test")
    world.start(keys={"stubs": stubs_of(*names)})
    assert ask_world(world.lab, query("www.good.lab.", flags="rd ad")).flags & dns.flags.AD
    for name in names:
        assert texts(ask_world(world.lab, query(f"x.{name}"))) == ["192.0.2.50"], name
    assert ask_world(world.lab, query("x.test")).rcode() == dns.rcode.NXDOMAIN


@pytest.mark.parametrize("name", ["inside.lab.", "inside.nsec3.lab.", "a.b.nothere.nsec3.lab."])
def test_a_negative_trust_anchor(world, name):
    """A zone that its signed parent denies. Cached answers of the parent, and of names between, do
    not hide it."""
    world.start(keys={"stubs": stubs_of(name)})
    assert ask_world(world.lab, query(f"x.{name}")).rcode() == dns.rcode.SERVFAIL
    world.daemon.configure(recursion=world.recursion(stubs=stubs_of(name),
                                                     **{"domain-insecure": [name]}))
    world.daemon.ctl("zone", "reload")
    parent = name.split(".", 1)[1]
    for denied in (parent, "nothere." + parent.split("nothere.")[-1], "q.nsec3.lab.",
                   "nothere.lab."):
        assert ask_world(world.lab, query(denied, flags="rd ad")).flags & dns.flags.AD, denied
    for n in range(3):
        reply = ask_world(world.lab, query(f"x{n}.{name}", flags="rd ad"))
        assert texts(reply) == ["192.0.2.50"] and not reply.flags & dns.flags.AD, reply
    assert ask_world(world.lab, query("www.broken.lab.")).rcode() == dns.rcode.SERVFAIL
