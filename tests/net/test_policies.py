# SPDX-License-Identifier: GPL-2.0-only
"""Local data and block lists, end to end: behind the cache and our zones, before upstream."""
import dns.edns
import dns.flags
import dns.message
import dns.rcode
import pytest

from netlab import CLIENT4, V4, V6, texts
from test_recursion import FIRST, ask, hits, make_upstream, recursion, start

__all__ = ["make_upstream"]

LOCAL = ["router.lan. A 192.0.2.1", "www.example.com. A 192.0.2.66", "held.far. 60 A 192.0.2.2"]
HEAD = "$TTL 60\n@ SOA localhost. root. 1 3600 600 86400 30\n@ NS localhost.\n"


def write(tmp_path, *rules):
    path = tmp_path / "list.zone"
    path.write_text(HEAD + "".join(f"{rule}\n" for rule in rules), encoding="ascii")
    return [{"name": "list.rpz", "file": str(path)}]


def ede(answer):
    return [int(option.code) for option in answer.options if option.otype == dns.edns.OptionType.EDE]


def ask_edns(lab, name):
    return lab.udp(dns.message.make_query(name, "A", use_edns=0), timeout=6)


@pytest.mark.usefixtures("upstream")
def test_local_data(lab, daemon):
    start(daemon, recursion=recursion(**{"local-data": LOCAL}))
    for _ in range(2):
        assert texts(ask(lab, "Router.lan")) == ["192.0.2.1"]
    assert hits(daemon, lambda: ask(lab, "router.lan")) == 1
    assert not ask(lab, "router.lan", "AAAA").answer
    assert texts(ask(lab, "held.far")) == ["192.0.2.2"] and texts(ask(lab, "a.far")) == [FIRST]
    assert texts(ask(lab, "www.example.com")) != ["192.0.2.66"], "our zones come first"


@pytest.mark.usefixtures("upstream")
def test_a_list(lab, daemon, tmp_path):
    rules = write(tmp_path, "bad.far CNAME .", "*.bad.far CNAME .", "good.bad.far CNAME rpz-passthru.",
                  "empty.far CNAME *.", "drop.far CNAME rpz-drop.", "tcp.far CNAME rpz-tcp-only.",
                  "garden.far A 192.0.2.80")
    start(daemon, recursion=recursion(rpz=rules))
    for name in ("bad.far", "x.bad.far"):
        assert ask(lab, name).rcode() == dns.rcode.NXDOMAIN
        assert hits(daemon, lambda name=name: ask(lab, name)) == 1
    first = ask_edns(lab, "y.bad.far")
    assert first.rcode() == dns.rcode.NXDOMAIN and ede(first) == [15]
    assert texts(ask(lab, "good.bad.far")) == [FIRST]
    nodata = ask(lab, "empty.far")
    assert nodata.rcode() == dns.rcode.NOERROR and not nodata.answer and nodata.authority
    assert texts(ask(lab, "garden.far")) == ["192.0.2.80"]
    with pytest.raises(OSError):
        lab.ask("drop.far", timeout=0.5)
    assert ask(lab, "tcp.far").flags & dns.flags.TC
    assert texts(lab.tcp(dns.message.make_query("tcp.far", "A"))) == [FIRST]
    assert ask(lab, "tcp.far").flags & dns.flags.TC, "also when TCP has been answered"


@pytest.mark.usefixtures("upstream")
def test_who_may_not_recurse_is_told_nothing(lab, daemon, tmp_path):
    rules = write(tmp_path, "bad.far CNAME .")
    start(daemon, recursion=recursion(**{"allow": [CLIENT4], "local-data": LOCAL, "rpz": rules}))
    for name in ("router.lan", "bad.far"):
        for _ in range(2):
            assert ask(lab, name, where=V4).rcode() != dns.rcode.REFUSED
            assert ask(lab, name, where=V6).rcode() == dns.rcode.REFUSED


@pytest.mark.usefixtures("upstream")
def test_a_reload_takes_names_out_of_the_cache(lab, daemon, tmp_path):
    rules = write(tmp_path, "other.far CNAME .")
    start(daemon, recursion=recursion(rpz=rules))
    for name in ("bad.far", "fine.far", "other.far"):
        ask(lab, name)
    write(tmp_path, "bad.far CNAME .")
    daemon.ctl("zone", "reload")
    assert ask(lab, "bad.far").rcode() == dns.rcode.NXDOMAIN
    assert hits(daemon, lambda: ask(lab, "fine.far")) == 1, "what the list does not name stays"
    assert texts(ask(lab, "other.far")) == [FIRST]
    write(tmp_path, "bad.far CNAME")
    refused = daemon.ctl("zone", "reload", check=False)
    assert refused.returncode == 1 and "list.zone:4" in refused.stderr, refused.stderr
    assert ask(lab, "bad.far").rcode() == dns.rcode.NXDOMAIN, "what was there before stays"


@pytest.mark.usefixtures("upstream")
def test_rules_outlive_a_restart(lab, daemon, tmp_path):
    rules = write(tmp_path, "bad.far CNAME .")
    start(daemon, recursion=recursion(rpz=rules))
    ask(lab, "bad.far")
    assert daemon.stop("--keep") == 0
    daemon.start()
    assert hits(daemon, lambda: ask(lab, "bad.far")) == 1
    assert daemon.stop("--keep") == 0
    write(tmp_path, "other.far CNAME .")
    daemon.start()
    assert texts(ask(lab, "bad.far")) == [FIRST]


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize("end", ["kill", "keep"])
def test_rules_that_a_restart_has_no_more(lab, daemon, tmp_path, end):
    """The last list and the local data go: what they said is not in the cache that the next daemon adopts."""
    rules = write(tmp_path, "bad.far CNAME .")
    start(daemon, recursion=recursion(**{"local-data": LOCAL, "rpz": rules}))
    for name in ("bad.far", "held.far", "fine.far"):
        for _ in range(2):
            ask(lab, name)
    daemon.kill() if end == "kill" else daemon.stop("--keep")
    start(daemon, recursion=recursion())
    assert daemon.status()["cache"]["adopted"]
    assert hits(daemon, lambda: ask(lab, "fine.far")) == 1
    for name in ("bad.far", "held.far"):
        assert texts(ask(lab, name)) == [FIRST]
