# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A volleyd that asks upstream, end to end: it forwards to an nsd; and control's part in it.

test_tree.py and its neighbours test all kinds of questions and answers, over a whole tree.
"""
import json
import re
import signal

import dns.flags
import dns.message
import dns.rcode
import pytest

from dnstree import ask as ask_world, query, world_of
from netlab import CLIENT4, CLIENT6, V4, V6, texts, wait_for, zone
from upstreams import Netns, address_answer, missing, unbound_version

FIRST, SECOND = "127.0.1.1", "127.0.1.2"
HEAD = "$TTL 300\n@ SOA ns hostmaster 1 7200 3600 1209600 60\n@ NS ns\nns A {}\n"


def write(folder, name, address):
    """A root zone with records below far., which tell its server."""
    path = folder / name
    path.write_text(HEAD.format(address) + f"*.far A {address}\nwww.far TXT \"{address}\"\n"
                    f"www.far A {address}\nwww.example.com A {address}\n", encoding="ascii")
    return path.name


@pytest.fixture(name="upstream")
def make_upstream(lab, tmp_path):
    """Two servers of other roots in the daemon's namespace."""
    if "nsd" in missing():
        pytest.skip("nsd is not installed")
    folder = tmp_path / "upstream"
    folder.mkdir()
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(folder, f"{lab.name}-s")
    try:
        netns.processes_of = {address: netns.nsd(address,
                                                 {".": write(folder, f"root-{address}", address)})
                              for address in (FIRST, SECOND)}
        yield netns
    finally:
        netns.close()


def recursion(**keys):
    return {"allow": [CLIENT4, CLIENT6], "forward": [FIRST], "query-localhost": True, **keys}


def start(daemon, **sections):
    return daemon.start(**{"zones": [zone("example.com")], "recursion": recursion(), **sections})


def ask(lab, name, kind="A", where=V4, **kwargs):
    return lab.ask(name, kind, where, timeout=6, **kwargs)


@pytest.mark.usefixtures("upstream")
def test_an_answer_from_upstream_and_then_from_the_driver(lab, daemon):
    start(daemon)
    first = ask(lab, "www.far")
    assert texts(first) == [FIRST]
    assert first.flags & dns.flags.RA and not first.flags & dns.flags.AA
    before = daemon.answered()
    for where in (V4, V6):
        assert texts(ask(lab, "WWW.far", where=where)) == [FIRST]
    after = daemon.answered()
    assert after["driver"] == before["driver"] + 2
    assert texts(lab.tcp(dns.message.make_query("www.far", "A"))) == [FIRST]


@pytest.mark.usefixtures("upstream")
def test_without_the_driver(lab, daemon):
    start(daemon, interfaces=[])
    for name in ("a.far", "a.far", "b.far"):
        assert texts(ask(lab, name)) == [FIRST]
    assert texts(lab.tcp(dns.message.make_query("c.far", "A"))) == [FIRST]


def hits(daemon, ask_again):
    """How many of what is asked the driver answers."""
    before = daemon.answered()["driver"]
    ask_again()
    return daemon.answered()["driver"] - before


@pytest.mark.usefixtures("upstream")
def test_what_is_told(lab, daemon):
    start(daemon)
    for name in ("www.far", "nothere"):
        ask(lab, name)
    told = daemon.status()["recursion"]
    assert told["mode"] == "forward" and told["upstreams"] == [FIRST] and told["by"] == "forwarder"
    assert not told["validates"] and told["zones_for_everyone"] and told["outstanding"] == 0
    # after the reply is sent
    wait_for("both are released", lambda: daemon.stats()["responder"]["released"] == 2)
    stats = daemon.stats()
    assert stats["resolver"]["asked"] == stats["resolver"]["answered"] == 2
    assert stats["responder"]["taken"] == 2
    assert stats["engine"]["deferred"] == stats["engine"]["finished"] == 2
    zones = {row["zone"]: row["entries"] for row in daemon.json("cache", "stats")["by_zone"]}
    assert zones == {"(upstream)": 2}
    views = {row["view"]: row["entries"] for row in daemon.json("cache", "stats")["by_variant"]}
    assert views == {"recursive": 2}
    assert "forward" in daemon.ctl("status").stdout


@pytest.mark.usefixtures("upstream")
def test_without_recursion_nothing_is_asked(lab, daemon):
    start(daemon, recursion=recursion(allow=[]))
    assert ask(lab, "www.far").rcode() == dns.rcode.REFUSED
    assert daemon.status()["recursion"] == {"mode": "off", "zones_for_everyone": True,
                                             "libunbound": unbound_version()}
    assert "resolver" not in daemon.stats()


@pytest.mark.usefixtures("upstream")
def test_flush(lab, daemon):
    start(daemon)
    for flush, names in (("www.far",), ["www.far"]), (("--all",), ["www.far", "nothere"]), \
            (("--negative",), ["nothere"]), (("--subtree", "far"), ["www.far", "a.far"]):
        for name in names:
            ask(lab, name)
        assert hits(daemon, lambda names=names: [ask(lab, name) for name in names]) == len(names)
        assert daemon.json("cache", "flush", *flush)["withdrawn"] >= len(names)
        assert hits(daemon, lambda names=names: [ask(lab, name) for name in names]) == 0
        assert hits(daemon, lambda names=names: [ask(lab, name) for name in names]) == len(names)


def test_the_library_is_told(lab, daemon, upstream):
    """The log and doctor warn of an old libunbound if questions go by it, and only then."""
    upstream.script("stub.", lambda query, tcp: address_answer(query).to_wire(), "127.0.1.50")
    number, sound = unbound_version(), tuple(map(int, unbound_version().split("."))) >= (1, 26, 2)
    for by, keys in ("forwarder", {}), ("libunbound", {"stubs": [{"zone": "stub.",
                                                                  "address": "127.0.1.50"}]}):
        start(daemon, recursion=recursion(**keys))
        told = daemon.status()["recursion"]
        assert told["by"] == by and told["libunbound"] == number
        old = by == "libunbound" and not sound
        assert (f"libunbound {number} is older than 1.26.2: " in daemon.log()) == old
        found = json.loads(daemon.ctl("--json", "doctor", "--config", daemon.path, check=False).stdout)
        (row,) = [row for row in found["checks"] if row["check"] == "libunbound"]
        assert row["state"] == ("warn" if old else "ok") and f"libunbound {number}" in row["text"]
        daemon.stop()


def test_what_is_flushed_is_asked_upstream_again(lab, daemon, upstream):
    """By libunbound, too, which has a cache of its own."""
    server = upstream.script("stub.", lambda query, tcp: address_answer(query).to_wire(),
                             "127.0.1.50")
    start(daemon, recursion=recursion(stubs=[{"zone": "stub.", "address": "127.0.1.50"}]))
    assert daemon.status()["recursion"]["by"] == "libunbound"
    for flush in (None, "www.stub", "--all", "--negative"):
        if flush:
            daemon.ctl("cache", "flush", flush)
        before = server.seen.count("www.stub.")
        for name in ("www.stub.", "other.stub."):
            assert texts(ask(lab, name)) == ["192.0.2.80"]
        assert (server.seen.count("www.stub.") > before) == (flush != "--negative"), server.seen


@pytest.mark.usefixtures("upstream")
def test_a_reload_asks_others(lab, daemon):
    start(daemon)
    for name in ("www.far", "www.example.com"):
        ask(lab, name)
        ask(lab, name)
    pid = daemon.status()["pid"]
    daemon.configure(zones=[zone("example.com")], recursion=recursion(forward=[SECOND]))
    daemon.ctl("zone", "reload")
    assert texts(ask(lab, "www.far")) == [SECOND], "what was cached is of other settings"
    assert hits(daemon, lambda: ask(lab, "www.example.com")) == 1
    assert daemon.status()["pid"] == pid and daemon.status()["recursion"]["upstreams"] == [SECOND]
    daemon.ctl("zone", "reload")
    assert hits(daemon, lambda: ask(lab, "www.far")) == 1, "nothing has changed"


@pytest.mark.usefixtures("upstream")
def test_a_reload_that_cannot_be_changes_nothing(lab, daemon):
    start(daemon)
    ask(lab, "www.far")
    daemon.configure(zones=[zone("example.com")],
                     recursion=recursion(**{"trust-anchor": "nowhere", "allow": [CLIENT6]}))
    refused = daemon.ctl("zone", "reload", check=False)
    assert refused.returncode == 1 and "nowhere: No such file" in refused.stderr, refused.stderr
    assert hits(daemon, lambda: ask(lab, "www.far")) == 1
    assert texts(ask(lab, "b.far")) == [FIRST]


@pytest.mark.usefixtures("upstream")
def test_clients_come_and_go_by_a_reload(lab, daemon):
    start(daemon)
    allowed = {V4: [CLIENT4], V6: [CLIENT6]}
    for mine, other in ((V4, V6), (V6, V4), (V4, V6)):
        daemon.configure(zones=[zone("example.com")], recursion=recursion(allow=allowed[mine]))
        daemon.ctl("zone", "reload")
        for name in ("www.far", "www.far", "www.far"):
            assert texts(ask(lab, name, where=mine)) == [FIRST]
            assert ask(lab, name, where=other).rcode() == dns.rcode.REFUSED
        assert hits(daemon, lambda mine=mine: ask(lab, "www.far", where=mine)) == 1
        assert ask(lab, "www.example.com", where=other).rcode() == dns.rcode.NOERROR


def test_who_may_ask_for_the_zones_changes_by_a_reload(lab, daemon):
    zones = [zone("example.com")]
    daemon.start(zones=zones)
    for allow in ([CLIENT4], None, [CLIENT4]):
        for _ in range(2):
            ask(lab, "www.example.com", where=V6)
        server = {"allow": allow} if allow else {}
        daemon.configure(zones=zones, server=server)
        daemon.ctl("zone", "reload")
        for _ in range(3):
            assert ask(lab, "www.example.com", where=V4).rcode() == dns.rcode.NOERROR
            assert ask(lab, "www.example.com", where=V6).rcode() == \
                (dns.rcode.REFUSED if allow else dns.rcode.NOERROR)
        assert hits(daemon, lambda: ask(lab, "www.example.com")) == 1
        assert daemon.status()["recursion"]["zones_for_everyone"] == (not allow)


def zone_of(folder, name, address):
    path = folder / f"{name}.zone"
    path.write_text(f"$TTL 60\n@ SOA ns hostmaster 1 3600 900 86400 60\n@ NS ns\nns A {address}\n"
                    f"www A {address}\n", encoding="ascii")
    return zone(name, path)


@pytest.mark.usefixtures("upstream")
def test_a_zone_that_comes_wins(lab, daemon, tmp_path):
    start(daemon)
    for name in ("www.far", "nothere.far", "www.far"):
        ask(lab, name)
    daemon.configure(zones=[zone("example.com"), zone_of(tmp_path, "far", "192.0.2.77")],
                     recursion=recursion())
    daemon.ctl("zone", "reload")
    answer = ask(lab, "www.far")
    assert texts(answer) == ["192.0.2.77"] and answer.flags & dns.flags.AA
    assert ask(lab, "nothere.far").rcode() == dns.rcode.NXDOMAIN
    daemon.configure(zones=[zone("example.com")], recursion=recursion())
    daemon.ctl("zone", "reload")
    assert texts(ask(lab, "www.far")) == [FIRST]


@pytest.mark.usefixtures("upstream")
def test_answers_outlive_a_restart_with_the_same_settings(lab, daemon):
    start(daemon)
    ask(lab, "www.far")
    assert daemon.stop("--keep") == 0
    daemon.start()
    assert hits(daemon, lambda: ask(lab, "www.far")) == 1
    assert daemon.stop("--keep") == 0
    start(daemon, recursion=recursion(forward=[SECOND]))
    assert texts(ask(lab, "www.far")) == [SECOND]


@pytest.mark.usefixtures("upstream")
def test_answers_outlive_a_reboot(lab, daemon):
    kept = {"cache": {"size": "16M", "snapshot": str(daemon.folder / "answers")}}
    start(daemon, **kept)
    ask(lab, "www.far")
    assert daemon.stop() == 0
    start(daemon, **kept)
    wait_for("the answers", lambda: daemon.status()["cache"]["entries"])
    assert hits(daemon, lambda: ask(lab, "www.far")) == 1


def wait_outstanding(daemon, n):
    wait_for(f"{n} questions wait", lambda: daemon.status()["recursion"]["outstanding"] == n)


def test_questions_that_wait_when_the_resolver_is_replaced(lab, daemon, upstream):
    """The first address has no server: the second resolver asks again."""
    nobody = "127.0.1.99"
    silent = upstream.script("silent.", lambda query, tcp: None, nobody)
    start(daemon, recursion=recursion(forward=[nobody]))
    waiting = [send(lab, f"w{n}.far") for n in range(20)]
    wait_outstanding(daemon, 20)
    daemon.configure(zones=[zone("example.com")], recursion=recursion(forward=[SECOND]))
    daemon.ctl("zone", "reload")
    for sock in waiting:
        with sock:
            assert texts(dns.message.from_wire(sock.recv(4096))) == [SECOND]
    assert daemon.stats()["responder"]["resubmitted"] == 20 and silent.seen
    wait_outstanding(daemon, 0)


def test_a_stop_while_questions_wait(lab, daemon, upstream):
    upstream.script("silent.", lambda query, tcp: None, "127.0.1.99")
    start(daemon, recursion=recursion(forward=["127.0.1.99"]))
    waiting = [send(lab, f"w{n}.far") for n in range(20)]
    wait_outstanding(daemon, 20)
    assert daemon.stop() == 0
    for sock in waiting:
        with sock:
            assert dns.message.from_wire(sock.recv(4096)).rcode() == dns.rcode.SERVFAIL


def send(lab, name):
    sock = lab.socket("c")
    sock.settimeout(8)
    sock.connect((V4, 53))
    sock.send(dns.message.make_query(name, "A").to_wire())
    return sock


def test_an_anchor_that_is_followed(tmp_path, tree_zones):
    """It is written to by a daemon that has given up what makes root root."""
    anchor = tmp_path / "auto.key"
    anchor.write_bytes(tree_zones.anchor.read_bytes())
    with world_of(tmp_path, tree_zones) as world:
        world.start(keys={"trust_anchor": None, "auto_trust_anchor": str(anchor)})
        reply = ask_world(world.lab, query("www.good.lab.", do=True))
        assert reply.flags & dns.flags.AD and world.daemon.status()["recursion"]["validates"]
        wait_for("the anchor's state", lambda: ";;state=" in anchor.read_text(encoding="ascii"))


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize("more", [{}, {"stubs": [{"zone": "stub.", "address": FIRST}]}],
                         ids=["forwarder", "libunbound"])
def test_reloads_while_it_is_asked(lab, daemon, more):
    """Each question is answered, by any resolver and by either upstream."""
    both = [recursion(forward=[one], threads=2, **more) for one in (FIRST, SECOND)]
    start(daemon, recursion=both[0], interfaces=[])
    for n in range(12):
        waiting = [send(lab, f"r{n}-{k}.far") for k in range(40)]
        daemon.configure(zones=[zone("example.com")], recursion=both[n % 2], interfaces=[])
        if n % 3:
            daemon.signal(signal.SIGHUP)
        else:
            daemon.ctl("zone", "reload")
        for sock in waiting:
            with sock:
                answer = dns.message.from_wire(sock.recv(4096))
                assert texts(answer) in ([FIRST], [SECOND]), answer
    wait_outstanding(daemon, 0)

    def are_released():
        responder = daemon.stats()["responder"]
        return responder["taken"] == responder["released"]
    wait_for("all are released", are_released)


@pytest.mark.parametrize("keys, before, said", [
    ({"trust-anchor": "nowhere"}, (), "recursion.trust-anchor: .*/nowhere: No such file"),
    ({"forward": ["192.0.2.7@853#dns.example"], "transport": "tls", "tls-bundle": "nowhere"}, (),
     "recursion.tls-bundle: .*/nowhere: No such file"),
    ({"stubs": [{"zone": "stub.", "address": FIRST}]}, ("prlimit", "--nofile=500:500"),
     "recursion: .* need [0-9]+ files, and RLIMIT_NOFILE is 500"),
], ids=["anchor", "certificates", "files"])
def test_a_start_that_cannot_be(daemon, keys, before, said):
    daemon.configure(zones=[zone("example.com")], recursion=recursion(**keys))
    daemon.spawn(before=before)
    assert daemon.reap() == 1
    assert re.search(said, daemon.log()), daemon.log()
