# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of lists for answers: names that aliases lead to, addresses, clients. named and unbound
give the same answers."""
import dns.flags
import dns.message
import dns.rcode
import pytest

from netlab import CLIENT4, V6, texts
from policypeers import peers_of, upstream_of, verdict, write
from test_metrics import AT, Metrics
from test_policies import ask_edns, ede
from test_recursion import ask, hits, recursion, start

UPSTREAM = """*.far A 192.0.2.10
www.far A 192.0.2.10
one.far CNAME two.far
two.far CNAME bad.far
bad.far A 192.0.2.66
*.bad.far A 192.0.2.10
empty-alias.far CNAME empty.far
drop-alias.far CNAME drop.far
tcp-alias.far CNAME tcp.far
fine-alias.far CNAME fine.bad.far
fine-two.far CNAME pass.far
pass.far CNAME bad.far
garden-alias.far CNAME garden.far
moved-alias.far CNAME moved.far
tree.far DNAME poison.far
to-ip.far CNAME ip.far
ip.far A 198.51.100.1
two-ip.far A 192.0.2.10
two-ip.far A 198.51.100.77
fine-ip.far A 198.51.100.7
drop-ip.far A 203.0.113.1
tcp-ip.far A 203.0.113.2
garden-ip.far A 203.0.113.3
moved-ip.far A 203.0.113.4
six.far AAAA 2001:db8:1::1
x.poison.far A 192.0.2.67
"""
RULES = ["bad.far CNAME .", "*.bad.far CNAME .", "fine.bad.far CNAME rpz-passthru.",
         "empty.far CNAME *.",
         "drop.far CNAME rpz-drop.", "tcp.far CNAME rpz-tcp-only.", "garden.far A 192.0.2.80",
         "moved.far CNAME www.far.", "*.wild.far CNAME *.garden.example.", "*.poison.far CNAME .",
         "pass.far CNAME rpz-passthru."]
NXDOMAIN = ("NXDOMAIN",)
# name: what is said to a question for A
BY_NAME = {
    "bad.far": NXDOMAIN, "x.bad.far": NXDOMAIN, "fine.bad.far": ("NOERROR", "192.0.2.10"),
           "empty.far": ("NOERROR",),
    "drop.far": "dropped", "tcp.far": "TC", "garden.far": ("NOERROR", "192.0.2.80"),
           "moved.far": ("NOERROR", "192.0.2.10"),
    "a.wild.far": NXDOMAIN, "www.far": ("NOERROR", "192.0.2.10"),
           "x.fine.bad.far": ("NOERROR", "192.0.2.10"),
}
BEHIND_ALIASES = {
    "one.far": NXDOMAIN, "two.far": NXDOMAIN, "empty-alias.far": ("NOERROR",),
                  "drop-alias.far": "dropped",
    "tcp-alias.far": "TC", "fine-alias.far": ("NOERROR", "192.0.2.10"),
                  "fine-two.far": ("NOERROR", "192.0.2.66"),
    "garden-alias.far": ("NOERROR", "192.0.2.80"), "moved-alias.far": ("NOERROR", "192.0.2.10"),
                  "x.tree.far": NXDOMAIN,
}


@pytest.fixture(name="upstream")
def make_upstream(lab, tmp_path):
    with upstream_of(lab, tmp_path / "upstream", UPSTREAM) as netns:
        yield netns


def check(lab, upstream, folder, lists, wanted, names=("named", "unbound"), but=()):
    """
    Volley says it twice, the second time perhaps from its cache; NAMES once, but for (server, name)
    in BUT.
    """
    for _ in range(2):
        assert {name: verdict(lab, name) for name in wanted} == wanted
    with peers_of(upstream, lab, folder, lists, names) as peers:
        for peer in peers:
            same = {name: said for name, said in wanted.items() if (peer, name) not in but}
            assert {name: verdict(lab, name, server=peer) for name in same} == same, peer


def test_actions(lab, daemon, tmp_path, upstream):
    lists = [write(tmp_path, "list.rpz", *RULES)]
    start(daemon, recursion=recursion(rpz=lists))
    check(lab, upstream, tmp_path, lists, BY_NAME)


def test_names_behind_aliases(lab, daemon, tmp_path, upstream):
    """
    The answer has the aliases up to the name that the rule is for, and then what the rule says.
    """
    lists = [write(tmp_path, "list.rpz", *RULES)]
    start(daemon, recursion=recursion(rpz=lists))
    # unbound 1.17 lets some of these pass
    check(lab, upstream, tmp_path, lists, BEHIND_ALIASES, ["named"])
    answer = ask(lab, "one.far")
    assert [rrset.name.to_text() for rrset in answer.answer] == ["one.far.", "two.far."]
    assert answer.authority
    assert ([rrset.name.to_text() for rrset in ask(lab, "garden-alias.far").answer] ==
            ["garden-alias.far.", "garden.far."])
    assert hits(daemon, lambda: ask(lab, "one.far")) == 1, "the driver says so, too"
    assert texts(ask(lab, "one.far", "CNAME")) == ["two.far."], "an alias itself is not followed"
    assert (lab.tcp(dns.message.make_query("tcp-alias.far", "A")).answer[-1][0].to_text() ==
            "192.0.2.10")
    assert ask(lab, "tcp-alias.far").flags & dns.flags.TC, "also when TCP has been answered"


def test_a_reload_looks_at_aliases_in_the_cache(lab, daemon, tmp_path, upstream):
    assert upstream
    start(daemon, recursion=recursion(rpz=[write(tmp_path, "list.rpz", "other.far CNAME .")]))
    for name in ("one.far", "www.far"):
        assert ask(lab, name).rcode() == dns.rcode.NOERROR
    write(tmp_path, "list.rpz", "bad.far CNAME .")
    daemon.ctl("zone", "reload")
    assert ask(lab, "one.far").rcode() == dns.rcode.NXDOMAIN
    assert hits(daemon, lambda: ask(lab, "www.far")) == 1, "what the list does not name stays"
    write(tmp_path, "list.rpz", "other.far CNAME .")
    daemon.ctl("zone", "reload")
    assert (texts(ask(lab, "one.far"))[-1] == "two.far."
            or ask(lab, "one.far").rcode() == dns.rcode.NOERROR)


def test_the_order_of_lists(lab, daemon, tmp_path, upstream):
    """The first list that has a rule decides; one that says nothing that is known has none."""
    lists = [write(tmp_path, "first.rpz", "fine.bad.far CNAME rpz-passthru.",
                   "www.far CNAME rpz-future."),
             write(tmp_path, "second.rpz", "*.bad.far CNAME .", "www.far A 192.0.2.81")]
    start(daemon, recursion=recursion(rpz=lists))
    check(lab, upstream, tmp_path, lists,
          {"fine.bad.far": ("NOERROR", "192.0.2.10"), "x.bad.far": NXDOMAIN,
                                           "www.far": ("NOERROR", "192.0.2.81")},
          but=[("named", "www.far"), ("unbound", "www.far")])  # to these it is the name rpz-future.


ADDRESSES = ["24.0.100.51.198.rpz-ip CNAME .", "32.7.100.51.198.rpz-ip CNAME rpz-passthru.",
             "32.1.113.0.203.rpz-ip CNAME rpz-drop.", "32.2.113.0.203.rpz-ip CNAME rpz-tcp-only.",
             "32.3.113.0.203.rpz-ip A 192.0.2.80", "32.4.113.0.203.rpz-ip CNAME www.far.",
             "48.zz.1.db8.2001.rpz-ip CNAME *."]
BY_ADDRESS = {
    "ip.far": NXDOMAIN, "to-ip.far": NXDOMAIN, "two-ip.far": NXDOMAIN,
              "fine-ip.far": ("NOERROR", "198.51.100.7"),
    "drop-ip.far": "dropped", "tcp-ip.far": "TC", "garden-ip.far": ("NOERROR", "192.0.2.80"),
    "moved-ip.far": ("NOERROR", "192.0.2.10"), "www.far": ("NOERROR", "192.0.2.10"),
}


def test_addresses(lab, daemon, tmp_path, upstream):
    lists = [write(tmp_path, "list.rpz", *ADDRESSES)]
    start(daemon, recursion=recursion(rpz=lists), metrics={"listen": AT})
    check(lab, upstream, tmp_path, lists, BY_ADDRESS, ["named"])
    assert hits(daemon, lambda: ask(lab, "ip.far")) == 1
    # one each for ip, to-ip, two-ip, garden-ip; two for what is not cached: drop-ip, tcp-ip,
    # moved-ip
    assert daemon.json("policy", "list")["policies"][0]["hits"] == 10
    assert Metrics(lab).sum("volley_policy_hits_total", policy="list.rpz.") == 10
    assert verdict(lab, "six.far", "AAAA") == ("NOERROR",)
    write(tmp_path, "list.rpz", "32.10.2.0.192.rpz-ip CNAME .")
    daemon.ctl("zone", "reload")
    assert verdict(lab, "www.far") == NXDOMAIN and verdict(lab, "two-ip.far") == NXDOMAIN
    assert verdict(lab, "ip.far") == ("NOERROR", "198.51.100.1")
    assert verdict(lab, "six.far", "AAAA") == ("NOERROR", "2001:db8:1::1")
    assert daemon.json("policy",
                       "list")["policies"][0]["hits"] == 13, "a reload begins no new count"


def test_an_address_in_the_first_list_and_a_name_in_the_second(lab, daemon, tmp_path, upstream):
    """
    The order of the lists comes before the kind of the trigger, so the name is asked for upstream
    first.
    """
    lists = [write(tmp_path, "first.rpz", "24.0.100.51.198.rpz-ip A 192.0.2.91",
                   "32.4.113.0.203.rpz-ip CNAME rpz-passthru.",
                   "first.far A 192.0.2.93"),
             write(tmp_path, "second.rpz", "ip.far A 192.0.2.92", "www.far A 192.0.2.92",
                   "moved-ip.far CNAME .",
                   "first.far CNAME .", "32.10.2.0.192.rpz-ip CNAME .", "to-ip.far A 192.0.2.92")]
    start(daemon, recursion=recursion(rpz=lists))
    # an alias stands before what it leads to
    check(lab, upstream, tmp_path, lists, {
        "ip.far": ("NOERROR", "192.0.2.91"), "www.far": ("NOERROR", "192.0.2.92"),
                                           "to-ip.far": ("NOERROR", "192.0.2.92"),
        "moved-ip.far": ("NOERROR", "203.0.113.4"), "first.far": ("NOERROR", "192.0.2.93"),
                                           "a.far": NXDOMAIN}, ["named"])


def of_client(length=32):
    """The trigger for the prefix of this length that holds CLIENT4."""
    octets = CLIENT4.split(".")
    kept = [octet if 8 * i < length else "0" for i, octet in enumerate(octets)]
    return ".".join([str(length), *reversed(kept), "rpz-client-ip"])


@pytest.mark.parametrize("action, wanted",
                         [("CNAME .", NXDOMAIN), ("CNAME *.", ("NOERROR",)),
                          ("CNAME rpz-drop.", "dropped"),
                                            ("CNAME rpz-tcp-only.", "TC"),
                          ("A 192.0.2.80", ("NOERROR", "192.0.2.80")),
                                            ("CNAME www.far.", ("NOERROR", "192.0.2.10"))])
def test_clients(lab, daemon, tmp_path, upstream, action, wanted):
    """The driver does not send the client cached answers for others, or send others the client's
    answers."""
    lists = [write(tmp_path, "list.rpz", f"{of_client()} {action}", "bad.far CNAME .")]
    start(daemon, recursion=recursion(rpz=lists))
    for _ in range(2):
        assert verdict(lab, "www.far", where=V6) == ("NOERROR", "192.0.2.10")
        assert verdict(lab, "bad.far", where=V6) == NXDOMAIN
    assert hits(daemon, lambda: verdict(lab, "www.far", where=V6)) == 1
    assert hits(daemon, lambda: verdict(lab, "www.far")) == 0
    check(lab, upstream, tmp_path, lists,
          {"www.far": wanted, "bad.far": wanted, "moved-ip.far": wanted}, ["named"])
    assert verdict(lab, "moved-ip.far", where=V6) == ("NOERROR", "203.0.113.4")
    if wanted == "TC":
        assert verdict(lab, "bad.far", tcp=True) == ("NOERROR",
                                                     "192.0.2.66"), "the list has one rule for a question"


def test_a_client_that_passes(lab, daemon, tmp_path, upstream):
    """
    Nothing of that list and those behind it holds for it: neither by the driver, nor in what others
    are told.
    """
    lists = [write(tmp_path, "first.rpz", "bad.far CNAME ."),
             write(tmp_path, "second.rpz", f"{of_client()} CNAME rpz-passthru.", "www.far CNAME .",
                   "24.0.100.51.198.rpz-ip CNAME ."),
             write(tmp_path, "third.rpz", "garden.far CNAME .")]
    start(daemon, recursion=recursion(rpz=lists))
    of_others = {"bad.far": NXDOMAIN, "www.far": NXDOMAIN, "ip.far": NXDOMAIN,
                 "garden.far": NXDOMAIN, "moved-ip.far": ("NOERROR", "203.0.113.4")}
    for _ in range(2):
        assert {name: verdict(lab, name, where=V6) for name in of_others} == of_others
        check(lab, upstream, tmp_path, lists, {
            "bad.far": NXDOMAIN, "www.far": ("NOERROR", "192.0.2.10"),
                                               "ip.far": ("NOERROR", "198.51.100.1"),
            "garden.far": ("NOERROR", "192.0.2.10"), "moved-ip.far": ("NOERROR", "203.0.113.4")},
              ["named"])


def test_clients_come_and_go(lab, daemon, tmp_path, upstream):
    """
    By a reload, by a restart that adopts the cache, and after a death; each time no hit is the
    client's while it is named.
    """
    assert upstream
    start(daemon, recursion=recursion(rpz=[write(tmp_path, "list.rpz", "bad.far CNAME .")]))
    ask(lab, "www.far")
    assert hits(daemon, lambda: ask(lab, "www.far")) == 1
    write(tmp_path, "list.rpz", f"{of_client(24)} CNAME .")
    daemon.ctl("zone", "reload")
    assert verdict(lab, "www.far") == NXDOMAIN
    assert verdict(lab, "www.far", where=V6) == ("NOERROR", "192.0.2.10")
    assert daemon.json("policy", "list")["policies"][0]["rules"] == 1
    for end in (lambda: daemon.stop("--keep"), daemon.kill):
        end()
        daemon.start()
        assert daemon.status()["cache"]["adopted"]
        assert verdict(lab, "www.far") == NXDOMAIN
        assert hits(daemon, lambda: verdict(lab, "www.far", where=V6)) == 1
    write(tmp_path, "list.rpz", "bad.far CNAME .")
    daemon.ctl("zone", "reload")
    assert hits(daemon, lambda: ask(lab, "www.far")) == 1


def test_more_clients_than_the_driver_is_told(lab, daemon, tmp_path, upstream):
    """Then workers answer all clients that recurse."""
    assert upstream
    rules = [f"32.{n % 250}.{n // 250}.0.172.rpz-client-ip CNAME ." for n in range(3000)]
    start(daemon,
          recursion=recursion(rpz=[write(tmp_path, "list.rpz", of_client() + " CNAME .", *rules)]))
    for _ in range(2):
        assert hits(daemon, lambda: verdict(lab, "www.far", where=V6)) == 0
        assert verdict(lab, "www.far") == NXDOMAIN
    write(tmp_path, "list.rpz", of_client() + " CNAME .")
    daemon.ctl("zone", "reload")
    assert hits(daemon, lambda: verdict(lab, "www.far", where=V6)) == 1


@pytest.mark.parametrize("kind, code",
                         [("blocked", 15), ("censored", 16), ("filtered", 17), ("prohibited", 18)])
def test_kinds(lab, daemon, tmp_path, upstream, kind, code):
    """Each list has its own extended error, for every trigger."""
    assert upstream
    first = write(tmp_path, "first.rpz", "bad.far CNAME .", "24.0.100.51.198.rpz-ip CNAME .",
                  "moved.far CNAME www.far.")
    second = write(tmp_path, "second.rpz", "*.poison.far CNAME *.")
    start(daemon, recursion=recursion(rpz=[{**first, "ede": kind}, second]))
    for name in ("bad.far", "one.far", "ip.far", "moved.far", "moved-alias.far"):
        assert ede(ask_edns(lab, name)) == [code], name
    assert ede(ask_edns(lab, "x.poison.far")) == [15]
