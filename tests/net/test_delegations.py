# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The resolver keeps delegations longer than answers: it asks the root and the top level domain
again only after their delegations have expired, as unbound does in its place."""
import time

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from netlab import CLIENT4, V4, has, texts, wait_for
from upstreams import Netns

ROOT, TLD, LEAF, PEER = "127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.0.53"
ADDRESS = "192.0.2.80"
LONG_S = 86400
NAMES = [f"www.zone{n}.lab." for n in range(8)]


def records(name, ttl_s, kind, data):
    return dns.rrset.from_text(name, ttl_s, "IN", kind, data)


def zone_of(name, n_labels):
    return dns.name.Name(name.labels[-n_labels - 1:]).to_text()


def referral(query, zone, server):
    reply = dns.message.make_response(query)
    reply.authority.append(records(zone, LONG_S, "NS", f"ns.{zone}"))
    reply.additional.append(records(f"ns.{zone}", LONG_S, "A", server))
    return reply.to_wire()


def authority(query, zone, server, addresses=()):
    """The zone's records of itself, of its server's name, and of ADDRESSES: (name, TTL,
    address)."""
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.AA
    question = query.question[0]
    name, kind = question.name.to_text().lower(), dns.rdatatype.to_text(question.rdtype)
    of_server = f"ns.{zone}".replace("..", ".")
    known = [(zone, LONG_S, "NS", of_server), (of_server, LONG_S, "A", server),
             *((owner, ttl_s, "A", address) for owner, ttl_s, address in addresses)]
    reply.answer += [records(*one) for one in known if (one[0], one[2]) == (name, kind)]
    if not reply.answer:
        reply.authority.append(records(zone, LONG_S, "SOA",
                                       f"{of_server} hostmaster. 1 7200 3600 1209600 {LONG_S}"))
    return reply.to_wire()


def root(query, _tcp):
    name = query.question[0].name
    if zone_of(name, 1) == "lab.":
        return referral(query, "lab.", TLD)
    return authority(query, ".", ROOT)


def top(query, _tcp):
    name = query.question[0].name
    if len(name.labels) > 2 and name.labels[-3] != b"ns":
        return referral(query, zone_of(name, 2), LEAF)
    return authority(query, "lab.", TLD)


def leaf_of(ttl_s):
    def leaf(query, _tcp):
        zone = zone_of(query.question[0].name, 2)
        return authority(query, zone, LEAF, [(f"www.{zone}", ttl_s, ADDRESS)])
    return leaf


class Tree(Netns):
    """
    The three servers, and the resolvers that are asked: volleyd by a client, unbound from beside
    it.
    """

    def __init__(self, lab, folder):
        super().__init__(folder, f"{lab.name}-s")
        self.lab = lab
        (self.folder / "hints").write_text(f". 3600 IN NS ns.\nns. 3600 IN A {ROOT}\n")
        self.root, self.tld = self.script(".", root, ROOT), self.script("lab.", top, TLD)

    def recursion(self, **keys):
        return {"allow": [CLIENT4], "root-hints": str(self.folder / "hints"),
                "query-localhost": True, "prefetch": False, **keys}

    def unbound(self, threads):
        self.popen_unbound(f"interface: {PEER}", f"root-hints: {self.folder}/hints",
                           "module-config: iterator", "do-not-query-localhost: no",
                           f"num-threads: {threads}")
        wait_for("unbound", lambda: self.lab.is_answered(".", "NS", PEER, end="s"), 10)

    def ask(self, name, where=V4):
        return self.lab.ask(name, "A", where, end="c" if where == V4 else "s", timeout=12)

    def n_above(self):
        """Queries that the servers above the leaf have had."""
        return len(self.root.seen) + len(self.tld.seen)


@pytest.fixture(name="tree")
def make_tree(lab, tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    lab.ip("s", "link", "set", "lo", "up")
    made = Tree(lab, folder)
    try:
        yield made
    finally:
        made.close()


def check_answers(tree, names=tuple(NAMES), where=V4):
    for name in names:
        reply = tree.ask(name, where)
        assert reply.rcode() == dns.rcode.NOERROR and texts(reply) == [ADDRESS], reply


@pytest.mark.parametrize("threads", [1, 8])
def test_what_has_ended_is_asked_of_the_leaf_alone(tree, daemon, threads):
    """No resolver asks the servers above it, and of their silence neither sees anything."""
    if not has("unbound"):
        pytest.skip("unbound is not installed")
    tree.script("zone.lab.", leaf_of(2), LEAF)
    daemon.start(recursion=tree.recursion(threads=threads))
    tree.unbound(threads)
    for where in V4, PEER:
        check_answers(tree, where=where)
    for silent in False, True, True, True:
        tree.root.silent = tree.tld.silent = silent
        time.sleep(3.2)  # also for who keeps them to the next second
        for where in V4, PEER:
            before = tree.n_above()
            check_answers(tree, where=where)
            assert tree.n_above() == before, (where, tree.root.seen, tree.tld.seen)


def test_a_name_that_is_asked_all_the_time(tree, daemon):
    """Also in the seconds in which its TTL ends, here and in the memory of the resolver."""
    leaf = tree.script("zone.lab.", leaf_of(1), LEAF)
    daemon.start(recursion=tree.recursion())
    check_answers(tree, NAMES[:1])
    before, tree.root.silent, tree.tld.silent = len(leaf.seen), True, True
    end = time.monotonic() + 7
    while time.monotonic() < end:
        check_answers(tree, NAMES[:1])
    assert len(leaf.seen) >= before + 2


def test_a_refresh_that_gets_no_reply_holds_up_nobody(tree, daemon):
    """
    It asks the memory that knows no servers of the zone; when the answer has ended, the other one
    is asked.
    """
    tree.script("zone.lab.", leaf_of(20), LEAF)
    daemon.start(recursion=tree.recursion(prefetch=True))
    check_answers(tree, NAMES[:1])
    tree.root.silent = tree.tld.silent = True
    time.sleep(17)

    def is_refreshed():
        check_answers(tree, NAMES[:1])
        return daemon.stats()["resolver"]["asked"] == 2
    wait_for("a refresh, in the last tenth", is_refreshed)
    time.sleep(2.2)  # it waits for 5 seconds, and the answer ends meanwhile
    assert daemon.status()["recursion"]["outstanding"] == 1
    check_answers(tree, NAMES[:1])


def test_a_refresh_is_a_fresh_answer(tree, daemon):
    """It does not come out of a memory of the resolver."""
    leaf = tree.script("zone.lab.", leaf_of(10), LEAF)
    daemon.start(recursion=tree.recursion(prefetch=True))
    check_answers(tree, NAMES[:1])
    for _ in range(3):
        before = len(leaf.seen)
        wait_for("its last second", lambda: tree.ask(NAMES[0]).answer[0].ttl <= 1)
        wait_for("a fresh answer", lambda: tree.ask(NAMES[0]).answer[0].ttl >= 9)
        assert len(leaf.seen) > before
