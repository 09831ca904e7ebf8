# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A local copy of the root (RFC 8806): it is transferred, checked and stored as any zone, and only
the resolver asks it; without it the resolver asks the root servers. The root here is signed, its
server counts its queries, and a named transfers it."""
import re
import signal
import socket

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import pytest

from dnstree import query
from netlab import CLIENT4, V4, has, iface, remote, run, texts, wait_for, zone
from secondaries import Peer, named_head
from test_forward_tls import make_certificates
from upstreams import Netns, missing, sign

__all__ = ["make_certificates"]

ROOT, HIDDEN_ROOT, TLD, LEAF, PEER = "10.53.0.1", "10.53.0.9", "10.53.0.2", "10.53.0.3", "127.0.0.53"
HEAD = "$TTL 300\n@ SOA ns hostmaster {} {} 60\n@ NS ns\nns A {}\n"
TIMES = "3600 600 86400"
FAST = {"refresh-min": "1s", "retry-min": "1s", "expire-min": "1s"}
PATIENCE_S = 12


class Root:
    """The zone: its versions have one key, a ZONEMD record, and the delegations of NAMES."""

    def __init__(self, folder, ds):
        self.folder, self.ds, self.key = folder, ds, None

    def text(self, serial, times, names):
        return HEAD.format(serial, times, ROOT) + "".join(
            f"{name} NS ns.{name}\nns.{name} A {TLD}\n{self.ds.get(name, '')}" for name in names)

    def make(self, serial, names=("lab",), times=TIMES, zonemd=True):
        """The file of a version."""
        text = self.text(serial, times, names)
        if not self.key:
            _, self.key = sign(self.folder, ".", text)
        (self.folder / ".zone").write_text(text, encoding="ascii")
        run("ldns-signzone", *(["-z", "1:1"] if zonemd else []), "-o", ".", "-f", ".signed",
            ".zone", self.key.with_suffix(""), cwd=self.folder)
        return self.folder / ".signed"


class Tree(Netns):
    """
    The servers behind addresses of the daemon's namespace: signed lab. and good.lab., and later.,
    which is not.
    """

    def __init__(self, lab, folder):
        super().__init__(folder, f"{lab.name}-s")
        self.lab = lab
        lab.ip("s", "link", "set", "lo", "up")
        lab.ip("s", "address", "add", f"{ROOT}/16", "dev", "lo")
        good, _ = sign(folder, "good.lab.", HEAD.format(1, TIMES, LEAF) + "www A 192.0.2.80\n")
        lab_ds, _ = sign(folder, "lab.",
                         HEAD.format(1, TIMES, TLD) + f"good NS ns.good\nns.good A {LEAF}\n{good}")
        (folder / "later.zone").write_text(HEAD.format(1, TIMES, TLD) + "www A 192.0.2.81\n",
                                           encoding="ascii")
        self.version = Root(folder, {"lab": lab_ds})
        (folder / "hints").write_text(f". 3600 IN NS ns.\nns. 3600 IN A {ROOT}\n", encoding="ascii")
        (folder / "root").write_text(self.version.make(1).read_text(encoding="ascii"),
                                     encoding="ascii")
        try:
            self.nsd(HIDDEN_ROOT, {".": "root"})
            self.nsd(TLD, {"lab.": "lab.signed", "later.": "later.zone"})
            self.nsd(LEAF, {"good.lab.": "good.lab.signed"})
            self.root = self.script(".", self.pass_on, ROOT)
        except BaseException:
            self.close()
            raise

    def pass_on(self, asked, _tcp):
        with self.socket(socket.SOCK_DGRAM) as sock:
            sock.settimeout(2)
            sock.sendto(asked.to_wire(), (HIDDEN_ROOT, 53))
            return sock.recv(65535)

    def recursion(self, **keys):
        return {"allow": [CLIENT4], "root-hints": str(self.folder / "hints"),
                "trust-anchor": str(self.version.key), "prefetch": False, "root-copy": True, **keys}

    def unbound(self):
        self.popen_unbound(
            f"interface: {PEER}", f"root-hints: {self.folder}/hints",
            f"trust-anchor-file: {self.version.key}", "do-not-query-localhost: no",
            clauses=f"""auth-zone:
  name: "."
  primary: {CLIENT4}
  for-upstream: yes
  for-downstream: no
  fallback-enabled: yes
  zonefile: {self.folder}/unbound.root
""")
        wait_for("unbound", lambda: self.lab.is_answered(".", "NS", PEER, end="s"), 10)
        wait_for("its copy", (self.folder / "unbound.root").exists, 10)


class Primary(Peer):
    """A named that has the root and gives transfers of it, on the client's side."""

    def __init__(self, lab, folder, path):
        folder.mkdir()
        self.write(folder, path)
        (folder / "conf").write_text(
            named_head(folder, None,
                       f"notify explicit; also-notify {{ {V4}; }}; notify-delay 0; allow-transfer "
                       f"{{ any; }};") +
            'zone "." { type primary; file "root"; };\n', encoding="ascii")
        super().__init__(lab, folder, ["named", "-f", "-n", "1", "-c", folder / "conf"])

    @staticmethod
    def write(folder, path):
        (folder / "root").write_text(path.read_text(encoding="ascii"), encoding="ascii")

    def change(self, path):
        self.write(self.folder, path)
        self.process.send_signal(signal.SIGHUP)


@pytest.fixture(name="tree")
def make_tree(lab, tmp_path):
    lacking = missing() + [tool for tool in ("named", "unbound") if not has(tool)]
    if lacking:
        pytest.skip(f"not installed: {lacking}")
    folder = tmp_path / "tree"
    folder.mkdir()
    made = Tree(lab, folder)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(name="primary")
def make_primary(lab, tmp_path, tree):
    with Primary(lab, tmp_path / "primary", tree.folder / "root") as made:
        wait_for("named answers", lambda: made.ask(".", "SOA"))
        yield made


def sections(daemon, tree, keys=None, zone_keys=None):
    return {"server": {"storage": str(daemon.folder / "state")}, "interfaces": [iface()],
            "remotes": [remote("main", CLIENT4)],
            "zones": [zone("example.com"),
                      zone(".", primaries=["main"], allow_notify=[CLIENT4], **(zone_keys or {}))],
            "recursion": tree.recursion(**(keys or {}))}


def start(daemon, tree, **keys):
    daemon.start(**sections(daemon, tree, **keys))


def said(daemon):
    return daemon.status()["recursion"]["root_copy"]


def wait_for_copy(daemon, serial=1):
    wait_for(f"the copy of serial {serial}: {said(daemon)}",
             lambda: said(daemon).startswith(f"serial {serial}, asked at "),
             PATIENCE_S)


def ask(tree, name, kind="A", where=V4, **more):
    return tree.lab.udp(query(name, kind, do=True, **more), where, end="c" if where == V4 else "s",
                        timeout=PATIENCE_S)


def is_secure(reply):
    return reply.rcode() == dns.rcode.NOERROR and bool(reply.flags & dns.flags.AD)


def zone_line(daemon):
    return next(one for one in daemon.json("zone", "list")["zones"] if one["name"] == ".")


@pytest.mark.parametrize("threads", [1, 8])
def test_the_root_is_asked_nothing(tree, primary, daemon, threads):
    """
    By no thread, for names of all kinds: each is validated from the copy, and a denial is with its
    proof.
    """
    assert primary
    start(daemon, tree, keys={"threads": threads})
    wait_for_copy(daemon)
    tree.root.seen.clear()
    for n in range(12):
        assert is_secure(reply := ask(tree,
                                      "www.good.lab.")) and "192.0.2.80" in texts(reply), reply
        denied = ask(tree, f"www.nothere{n}.")
        assert denied.rcode() == dns.rcode.NXDOMAIN and denied.flags & dns.flags.AD, denied
        assert any(rrset.rdtype == dns.rdatatype.NSEC for rrset in denied.authority), denied
    for name, kind in (".", "NS"), (".", "DNSKEY"), (".",
                                                     "ZONEMD"), ("lab.",
                                                                 "DS"), ("lab.",
                                                                         "SOA"), ("ns.", "A"):
        assert is_secure(reply := ask(tree, name, kind)) and reply.answer, reply
    assert tree.root.seen == []
    infra = daemon.json("resolver", "infra")
    assert re.search(r"127\.88\.0\.6@\d+", str(infra)), infra
    assert zone_line(daemon)["state"] == "serving"


def test_a_new_version(tree, primary, daemon):
    """
    NOTIFY brings it, and what the resolver knows stays: the leaf's answer is known, and no server
    above is asked.
    """
    start(daemon, tree)
    wait_for_copy(daemon)
    assert is_secure(ask(tree, "www.good.lab."))
    asked = daemon.stats()["resolver"]["asked"]
    primary.change(tree.version.make(2, ("lab", "later")))
    wait_for_copy(daemon, 2)
    tree.root.seen.clear()
    assert "192.0.2.81" in texts(ask(tree, "www.later."))
    assert ask(tree, ".", "SOA").answer[0][0].serial == 2
    assert daemon.stats()["resolver"]["asked"] > asked > 0, "the same resolver goes on counting"
    assert daemon.log().count("the resolver asks the copy") == 1
    assert tree.root.seen == []


def test_a_copy_that_does_not_verify(tree, primary, daemon):
    """Is refused, and the old one stays; likewise one without ZONEMD where that is required."""
    start(daemon, tree, zone_keys={"zonemd": "require"})
    wait_for_copy(daemon)
    path = tree.version.make(2, ("lab", "later"))
    text = path.read_text(encoding="ascii")
    wrong, n = re.subn(r"(\tZONEMD\t2 1 1 )(\w)", lambda m: m[1] + ("0" if m[2] != "0" else "1"),
                       text)
    assert n == 1, text
    path.write_text(wrong, encoding="ascii")
    primary.change(path)
    wait_for("the fault is told", lambda: "ZONEMD does not hold" in str(zone_line(daemon)),
             PATIENCE_S)
    primary.change(tree.version.make(3, ("lab", "later"), zonemd=False))
    wait_for("the lack is told", lambda: "no ZONEMD record" in str(zone_line(daemon)), PATIENCE_S)
    assert said(daemon).startswith("serial 1,")
    assert "zone .: transfer: it has no ZONEMD" in daemon.degraded()
    tree.root.seen.clear()
    assert ask(tree, "www.later.").rcode() == dns.rcode.NXDOMAIN and tree.root.seen == []
    primary.change(tree.version.make(4, ("lab", "later")))
    wait_for_copy(daemon, 4)
    assert texts(ask(tree, "www.good.lab."))


def test_a_copy_that_expires(tree, primary, daemon):
    """
    The root servers are asked, no question fails, and the copy is asked again when it is back.
    """
    primary.change(tree.version.make(2, times="1 1 3"))
    wait_for("the version",
             lambda: (reply := primary.ask(".", "SOA")) and reply.answer[0][0].serial == 2)
    start(daemon, tree, zone_keys=FAST)
    wait_for_copy(daemon, 2)
    primary.process.send_signal(signal.SIGSTOP)
    wait_for("it expires", lambda: said(daemon) == "the root servers are asked: there is no copy",
             30)
    tree.root.seen.clear()
    assert is_secure(ask(tree, "www.good.lab."))
    denied = ask(tree, "www.nothere.")
    assert denied.rcode() == dns.rcode.NXDOMAIN and denied.flags & dns.flags.AD
    assert tree.root.seen
    health = daemon.json("health")
    assert "zone .: expired: the root servers are asked" in health["warnings"] and not health[
        "reasons"], health
    primary.process.send_signal(signal.SIGCONT)
    wait_for_copy(daemon, 2)


def test_before_there_is_a_copy(tree, daemon):
    """Questions are answered by way of the root servers."""
    start(daemon, tree)
    assert is_secure(ask(tree, "www.good.lab.")) and tree.root.seen
    assert said(daemon) == "the root servers are asked: there is no copy"


def test_the_stored_copy(tree, primary, daemon):
    """Is asked from the first question after a start on, without its primary."""
    start(daemon, tree)
    wait_for_copy(daemon)
    wait_for("it is stored", lambda: list((daemon.folder / "state").rglob("@.zone")), 30)
    daemon.kill()
    primary.process.send_signal(signal.SIGSTOP)
    tree.root.seen.clear()
    daemon.start()
    assert said(daemon).startswith("serial 1,")
    assert is_secure(ask(tree, "www.good.lab.")) and tree.root.seen == []
    primary.process.send_signal(signal.SIGCONT)


def test_clients_do_not_get_the_zone(tree, primary, daemon):
    """A client that may recurse gets a resolver's answer; others, and transfers, are refused."""
    assert primary
    start(daemon, tree)
    wait_for_copy(daemon)
    reply = ask(tree, ".", "SOA")
    assert is_secure(reply) and not reply.flags & dns.flags.AA and reply.flags & dns.flags.RA, reply
    assert not ask(tree, "lab.", "DS").flags & dns.flags.AA
    refused = tree.lab.tcp(dns.message.make_query(".", "AXFR"))
    assert refused.rcode() in (dns.rcode.REFUSED, dns.rcode.NOTAUTH) and not refused.answer
    changed = sections(daemon, tree)
    changed["recursion"]["allow"] = ["192.0.2.200"]
    daemon.configure(**changed)
    daemon.ctl("zone", "reload")
    for kind in "SOA", "NS":
        refused = ask(tree, ".", kind)
        assert refused.rcode() == dns.rcode.REFUSED and not refused.answer, refused


def test_reloads(tree, primary, daemon):
    """
    The key can come and go: without it the zone is served as any other, with it the resolver's
    alone.
    """
    assert primary
    start(daemon, tree)
    wait_for_copy(daemon)
    daemon.configure(**sections(daemon, tree, keys={"root-copy": False}))
    daemon.ctl("zone", "reload")
    assert ask(tree, ".", "SOA").flags & dns.flags.AA
    assert "root_copy" not in daemon.status()["recursion"]
    assert ask(tree, ".", "SOA").flags & dns.flags.AA, "from the cache, too"
    daemon.configure(**sections(daemon, tree))
    daemon.ctl("zone", "reload")
    wait_for_copy(daemon)
    for _ in range(2):
        assert not ask(tree, ".", "SOA").flags & dns.flags.AA
    tree.root.seen.clear()
    assert is_secure(ask(tree, "www.good.lab.")) and tree.root.seen == []


@pytest.mark.parametrize("keys",
                         [{"transport": "tcp"}, {"outgoing-interface": [LEAF]},
                          {"qname-minimisation": False},
                                  {"caps-for-id": True}, {"query-localhost": True}])
def test_ways_of_asking(tree, primary, daemon, keys):
    assert primary
    start(daemon, tree, keys=keys)
    wait_for_copy(daemon)
    tree.root.seen.clear()
    assert is_secure(ask(tree, "www.good.lab."))
    assert ask(tree, "a.nothere.").rcode() == dns.rcode.NXDOMAIN
    assert tree.root.seen == []


def test_beside_a_zone_over_tls(tree, primary, daemon, certificates):
    """The relay for TLS and the copy each have a loopback address, and libunbound may ask both."""
    assert primary
    start(daemon, tree, keys={"tls-bundle": str(certificates.bundle),
                              "forward-zones": [{"zone": "far.test",
                                                 "address": "10.53.0.77@853#x.test",
                                                 "transport": "tls"}]})
    wait_for_copy(daemon)
    tree.root.seen.clear()
    assert is_secure(ask(tree, "www.good.lab.")) and tree.root.seen == []


def test_without_a_loopback_interface(tree, primary, daemon):
    """The copy cannot be asked there: it is told, and the root servers are asked."""
    assert primary
    tree.lab.ip("s", "address", "add", f"{ROOT}/16", "dev", "s0")
    tree.lab.ip("s", "address", "del", "127.0.0.1/8", "dev", "lo")
    start(daemon, tree)
    wait_for("it is told",
             lambda: "the root servers are asked: " in said(daemon)
             and "no copy" not in said(daemon), PATIENCE_S)
    assert is_secure(ask(tree, "www.good.lab.")) and tree.root.seen


def summary(reply):
    return (reply.rcode(), bool(reply.flags & dns.flags.AD),
            sorted(str(record) for rrset in reply.answer for record in rrset
                   if rrset.rdtype != dns.rdatatype.RRSIG),
            sorted({str(rrset.name) for rrset in reply.authority
                    if reply.rcode() == dns.rcode.NXDOMAIN}))


def test_unbound_answers_the_same(tree, primary, daemon):
    """With an auth-zone of the same primary, and neither asks the root."""
    assert primary
    start(daemon, tree)
    wait_for_copy(daemon)
    tree.unbound()
    tree.root.seen.clear()
    for name, kind in (("www.good.lab.", "A"), ("www.nothere.", "A"), ("nothere.", "AAAA"),
                       (".", "NS"), (".", "SOA"),
                       ("lab.", "DS"), ("lab.", "NS"), (".", "DNSKEY"), ("ns.", "A"),
                       ("ns.", "TXT"), ("no.good.lab.", "A")):
        ours, theirs = ask(tree, name, kind), ask(tree, name, kind, PEER)
        assert summary(ours) == summary(theirs), (name, kind, ours, theirs)
    assert tree.root.seen == []
