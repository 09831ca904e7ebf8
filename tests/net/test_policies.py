# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Local data and block lists, end to end: after the cache and our zones, before upstream."""
import dns.edns
import dns.flags
import dns.message
import dns.rcode
import pytest

from netlab import CLIENT4, V4, V6, texts
from test_metrics import AT, Metrics
from test_recursion import FIRST, ask, hits, make_upstream, recursion, start

__all__ = ["make_upstream"]

LOCAL = ["router.lan. A 192.0.2.1", "www.example.com. A 192.0.2.66", "held.far. 60 A 192.0.2.2"]
HEAD = "$TTL 60\n@ SOA localhost. root. 1 3600 600 86400 30\n@ NS localhost.\n"


def write(tmp_path, *rules):
    path = tmp_path / "list.zone"
    path.write_text(HEAD + "".join(f"{rule}\n" for rule in rules), encoding="ascii")
    return [{"name": "list.rpz", "file": str(path)}]


def ede(answer):
    return [int(option.code) for option in answer.options
            if option.otype == dns.edns.OptionType.EDE]


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
    rules = write(tmp_path, "bad.far CNAME .", "*.bad.far CNAME .",
                  "good.bad.far CNAME rpz-passthru.",
                  "empty.far CNAME *.", "drop.far CNAME rpz-drop.", "tcp.far CNAME rpz-tcp-only.",
                  "garden.far A 192.0.2.80", "out.example. CNAME .")
    start(daemon, recursion=recursion(rpz=rules))
    says = "this owner is outside the zone, so the record is left out: 'out.example. CNAME'"
    assert says in daemon.degraded() and says in daemon.log()
    assert says in daemon.ctl("health", check=False).stdout
    daemon.ctl("zone", "reload")  # the list is in force, so this is no failure
    for name in ("bad.far", "x.bad.far"):
        assert ask(lab, name).rcode() == dns.rcode.NXDOMAIN
        assert hits(daemon, lambda name=name: ask(lab, name)) == 1
    for name in ("y.bad.far", "Y.bad.far", "x.bad.far", "bad.far"):
        blocked = ask_edns(lab, name)
        assert blocked.rcode() == dns.rcode.NXDOMAIN and ede(blocked) == [
            15], "also when it is known"
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
def test_aliases(lab, daemon, tmp_path):
    """A CNAME to another name: its target is looked up upstream, in our zones and in local data."""
    rules = write(tmp_path, "alias.far CNAME www.far.", "*.wild.far 30 CNAME *.far.",
                  "ours.far CNAME ns1.example.com.",
                  "gate.far CNAME router.lan.", "www.far CNAME .", "itself.far CNAME itself.far.")
    start(daemon, recursion=recursion(**{"rpz": rules, "local-data": LOCAL}))
    ours = texts(lab.ask("ns1.example.com"))
    for _ in range(2):
        for ask_for in (lambda name: ask(lab, name),
                        lambda name: lab.tcp(dns.message.make_query(name, "A"))):
            for name, target, wanted in (("alias.far", "www.far.", [FIRST]),
                                         ("A.wild.far", "a.wild.far.far.", [FIRST]),
                                         ("ours.far", "ns1.example.com.", ours),
                                         ("gate.far", "router.lan.", ["192.0.2.1"])):
                answer = ask_for(name)
                assert answer.answer[0].to_text().split()[3:] == ["CNAME", target], answer
                assert sorted(record.to_text() for record in answer.answer[1]) == wanted
                assert len(answer.answer) == 2
                assert answer.flags & dns.flags.RA
                assert not answer.flags & (dns.flags.AA | dns.flags.AD)
    assert texts(ask(lab, "itself.far")) == [FIRST]
    assert ask(lab,
               "www.far").rcode() == dns.rcode.NXDOMAIN, "the target by itself has its own rule"
    write(tmp_path, "alias.far CNAME .")
    daemon.ctl("zone", "reload")
    assert ask(lab, "alias.far").rcode() == dns.rcode.NXDOMAIN
    assert texts(ask(lab, "gate.far")) == [FIRST]


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


def policies(daemon):
    return {row["name"]: row for row in daemon.json("policy", "list")["policies"]}


def health(daemon, *options):
    said = daemon.ctl("health", *options, check=False)
    return said.returncode, said.stdout


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize("damage", ["missing", "folder", "broken"])
def test_a_start_without_a_list(lab, daemon, tmp_path, damage):
    """
    Nothing of it is in force: status, health, metrics and the list of policies say so, until it
    loads.
    """
    rules = write(tmp_path,
                  "bad.far CNAME") + [{"name": "second.rpz", "file": str(tmp_path / "second.zone")}]
    (tmp_path / "second.zone").write_text(HEAD +
                                          "second.far CNAME .\n24.1.2.0.192.rpz-nsip CNAME .\n",
                                          encoding="ascii")
    if damage != "broken":
        (tmp_path / "list.zone").unlink()
    if damage == "folder":
        (tmp_path / "list.zone").mkdir()
    start(daemon, recursion=recursion(**{"rpz": rules, "local-data": LOCAL}),
          metrics={"listen": AT})
    assert "policy list.rpz.: not in force: " in daemon.degraded()
    assert "list.zone" in daemon.degraded()
    status, said = health(daemon, "--probe", "www.example.com/A")
    assert status == 1 and "not healthy: policy list.rpz.: not in force: " in said
    for options in (["--ignore", "list.rpz"], ["--policies", "any"], ["--policies", "none"]):
        assert health(daemon, *options)[0] == 0
    told = policies(daemon)
    assert told["list.rpz."]["state"] == "failed" and told["list.rpz."]["error"]
    assert "rules" not in told["list.rpz."]
    assert told["second.rpz."]["state"] == "serving" and told["second.rpz."]["rules"] == 1
    assert told["second.rpz."]["ignored"] == 1 and told["second.rpz."]["loaded_at"] > 0
    assert told["local-data"]["rules"] == 3
    metrics = Metrics(lab)
    assert [metrics.sum("volley_policies", state=state)
            for state in ("serving", "stale", "failed")] == [2, 0, 1]
    assert metrics.sum("volley_policy_state", policy="list.rpz.", state="failed") == 1
    assert metrics.sum("volley_policy_ignored", policy="second.rpz.") == 1
    assert metrics.sum("volley_healthy") == 0
    assert ask(lab, "second.far").rcode() == dns.rcode.NXDOMAIN, "the others are in force"
    if damage == "folder":
        (tmp_path / "list.zone").rmdir()
    write(tmp_path, "bad.far CNAME .")
    daemon.ctl("zone", "reload")
    assert policies(daemon)["list.rpz."]["state"] == "serving"
    assert not daemon.degraded() and health(daemon)[0] == 0
    assert ask(lab, "bad.far").rcode() == dns.rcode.NXDOMAIN


@pytest.mark.usefixtures("upstream")
def test_a_reload_with_one_broken_list(lab, daemon, tmp_path):
    """The version before is in force, which is a warning; the other list is the new one."""
    second = tmp_path / "second.zone"
    second.write_text(HEAD + "second.far CNAME .\n", encoding="ascii")
    start(daemon, recursion=recursion(rpz=write(tmp_path, "bad.far CNAME .") +
                                      [{"name": "second.rpz", "file": str(second)}]))
    loaded_at = policies(daemon)["list.rpz."]["loaded_at"]
    (tmp_path / "list.zone").unlink()
    second.write_text(HEAD + "third.far CNAME .\n", encoding="ascii")
    refused = daemon.ctl("zone", "reload", check=False)
    assert refused.returncode == 1
    assert "policy list.rpz.: an earlier version is in force: " in refused.stderr
    told = policies(daemon)
    assert told["list.rpz."]["state"] == "stale" and told["list.rpz."]["loaded_at"] == loaded_at
    assert told["second.rpz."]["state"] == "serving"
    for name in ("bad.far", "third.far"):
        assert ask(lab, name).rcode() == dns.rcode.NXDOMAIN
    assert texts(ask(lab, "second.far")) == [FIRST]
    status, said = health(daemon)
    assert status == 0 and "warning: policy list.rpz.: an earlier version is in force" in said
    assert health(daemon, "--strict")[0] == 1
    assert "policy list.rpz.: an earlier version is in force" in daemon.degraded()


@pytest.mark.usefixtures("upstream")
def test_a_bad_record_of_local_data(lab, daemon):
    """It is told with its line; a start ends, and at a reload all stays as it was."""
    daemon.configure(recursion=recursion(**{"local-data": LOCAL + ["router.lan. A 192.0.2"]}))
    status, said = daemon.run_failing()
    assert status == 2
    assert "recursion.local-data[3]: the data of this A record cannot be read" in said
    start(daemon, recursion=recursion(**{"local-data": LOCAL}))
    daemon.configure(recursion=recursion(**{"local-data": ["router.lan. A 192.0.2.7", "x.lan. A"]}))
    refused = daemon.ctl("zone", "reload", check=False)
    assert refused.returncode == 1 and "recursion.local-data[1]" in refused.stderr
    assert texts(ask(lab, "router.lan")) == ["192.0.2.1"]


def test_a_block_list_that_is_missing(daemon, tmp_path):
    """
    At a start nothing of it is blocked, a reason; at a reload all lists are as they were, a
    warning.
    """
    blocks = tmp_path / "blocks"
    start(daemon, recursion={}, policy={"block": [{"file": str(blocks)}]})
    status, said = health(daemon)
    assert status == 1
    assert f"policy.block: {blocks}: No such file or directory: this list blocks nothing" in said
    blocks.write_text("bad.example\n", encoding="ascii")
    daemon.ctl("zone", "reload")
    assert health(daemon)[0] == 0
    blocks.unlink()
    assert daemon.ctl("zone", "reload", check=False).returncode == 1
    status, said = health(daemon)
    assert status == 0 and "warning: policy.block: " in said


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
    """The last list and the local data are removed: their answers are not in the cache that the
    next daemon adopts."""
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
