# SPDX-License-Identifier: GPL-2.0-only
"""What the benchmarks' generator counts is what came, and a run of `peers` is not mixed with another."""
import json
import os
import sys
import types

import pytest

from netlab import ROOT, TOOLS, Answered, write_zone, zone

sys.path.insert(0, str(ROOT / "tests" / "perf"))

import sidebyside  # noqa: E402

XDPGEN = TOOLS.parent / "perf" / "xdpgen"
N_QUERIES = 250

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces and XDP need root")


def generate(lab, tmp_path, *words):
    """
    Two names that are served, asked by turns, and what xdpgen tells. They are fewer than the link holds: none is
    lost, however late those who take them run.
    """
    queries = tmp_path / "queries"
    queries.write_text(N_QUERIES // 2 * "www.example.com A\nexample.net SOA\n", encoding="ascii")
    made = json.loads(lab.exec("c", XDPGEN, "--once", *words, "c0", queries, 20, 500).stdout)
    assert made["sent"] == N_QUERIES
    return made


@pytest.mark.alone
def test_each_reply_is_told_as_listed_or_new(lab, daemon, tmp_path):
    """The new names are not there, and each comes once: none is a hit. Those of the list are."""
    mine = write_zone(tmp_path / "bench.test.zone")
    daemon.start(zones=[zone("example.com"), zone("example.net"), zone("bench.test", mine)])
    generate(lab, tmp_path)
    with Answered(daemon) as all_of:
        made = generate(lab, tmp_path, "--fresh", 7, "--listed-every", 5)
    new = made["replies"] - made["listed_replies"]
    assert made["listed_sent"] == -(-made["sent"] // 5) > 20
    assert made["rcodes"][0] == made["listed_replies"] == all_of.by["driver"] > 0
    assert made["rcodes"][3] == new == all_of.by["worker"] > 0


@pytest.mark.alone
def test_latencies_are_told_when_wanted(lab, daemon, tmp_path):
    daemon.start()
    # below: in no time; above: more than the histogram has
    assert "p50_us" not in generate(lab, tmp_path)
    made = generate(lab, tmp_path, "--latency")
    assert made["sent"] == made["listed_sent"] and made["replies"] == made["listed_replies"] > 0
    assert 1.1 < made["p50_us"] <= made["p99_us"] < 67109


def peers_run(out, **differing):
    """A run of `peers` by name, with the settings of its options."""
    usual = {"run": "one", "generator": "xdpgen", "peer_seconds": 1.0, "names": 1000, "quick": True}
    return sidebyside.Run(types.SimpleNamespace(out=out, **{**usual, **differing}))


def test_a_run_goes_on_where_it_stopped(tmp_path):
    first = peers_run(tmp_path)
    record = first.read("nsd")
    assert record["rounds"] == [] and first.all() == []
    first.write({**record, "rounds": [{"best": []}]})
    assert [one["rounds"] for one in peers_run(tmp_path).all()] == [[{"best": []}]]
    assert peers_run(tmp_path, run="two").all() == []


@pytest.mark.parametrize("name, value", [("generator", "trafgen"), ("peer_seconds", 2.0),
                                         ("names", 2000), ("quick", False)])
def test_figures_of_other_runs_are_refused(tmp_path, name, value):
    first = peers_run(tmp_path)
    first.write(first.read("nsd"))
    with pytest.raises(RuntimeError, match="nsd was measured with another"):
        peers_run(tmp_path, **{name: value})


def test_other_programs_are_another_run(tmp_path, monkeypatch):
    first = peers_run(tmp_path)
    first.write(first.read("nsd"))
    monkeypatch.setattr(sidebyside, "digest", lambda: "of another build")
    with pytest.raises(RuntimeError, match="another programs"):
        peers_run(tmp_path)
