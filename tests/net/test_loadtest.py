# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/loadtest: its account of a run is complete, and it sends load only to its own lab."""
import csv
import json
import os
import re
import shutil

import pytest

from netlab import ENV, ROOT, run

LOADTEST = ROOT / "scripts" / "loadtest"
# trafgen sends what belongs to a second in one burst: this many replies fit into the ring of c0
# (256), however
# late the thread that empties it runs.
RATE = 200

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces and XDP need root"),
    pytest.mark.skipif(not shutil.which("trafgen", path=ENV["PATH"]), reason="no trafgen here"),
]


def load(tmp_path, *words):
    """The runs of a load test."""
    path = tmp_path / "runs.json"
    run(LOADTEST, "--json", path, "--progress", "0", *words, timeout=60)
    return json.loads(path.read_text(encoding="ascii"))["runs"]


def check_account(one):
    """Each query is answered or lost, and each answer has its giver."""
    assert one["sent"] > 0 and one["lost"] >= 0
    assert one["sent"] == one["answered"] + one["lost"]
    assert one["answered"] == sum(one["by"].values()) == sum(one["rcodes"].values())
    driver = one["driver"]
    assert driver["received"] == \
        driver["hit"] + driver["up"] + driver["passed"] + driver["dropped"]
    assert driver["hit"] == one["by"]["driver"]


def namespaces():
    """
    Those of load tests that ended would be of processes that are gone; those of vtr and the like
    are of other tests.
    """
    found = {name: re.match(r"vt(\d+)-", name) for name in os.listdir("/run/netns")}
    return {name for name, lab in found.items() if lab and not os.path.exists(f"/proc/{lab[1]}")}


def test_account_of_a_run_balances(tmp_path):
    [one] = load(tmp_path, "--rate", str(RATE), "--seconds", "2", "--warmup", "1.5")
    check_account(one)
    assert one["by"]["driver"] > 0.9 * one["answered"], "warm, so the driver answers"
    # What the driver saw as queries is what was sent: no other frame is among them.
    assert one["driver"]["hit"] + one["driver"]["up"] == one["sent"]
    assert one["cpu_driver"] > 0 and one["cpu_daemon"] >= 0
    assert set(one["rcodes"]) == {"0", "3"}, "the usual queries have one name that is not there"


@pytest.mark.parametrize("way, giver", [("worker", "worker"), ("socket", "kernel_socket")])
def test_way_says_who_answers(tmp_path, way, giver):
    queries = tmp_path / "queries"
    queries.write_text("# the list\nwww.example.com A EDNS\nexample.net SOA no-EDNS\n")
    [one] = load(tmp_path, "--way", way, "--queries", queries, "--ipv6", "--rate", str(RATE),
                 "--seconds", "0.9", "--warmup", "0")
    assert one["answered"] == sum(one["by"].values()) == one["by"][giver] > 0


@pytest.mark.alone
def test_steps_make_a_curve(tmp_path):
    table, plot = tmp_path / "curve.csv", tmp_path / "curve.png"
    runs = load(tmp_path, "--steps", f"{RATE},flat", "--seconds", "0.9", "--warmup", "0",
                "--csv", table, "--png", plot)
    assert [one["offered_per_s"] for one in runs] == [RATE, "flat"]
    assert runs[1]["sent_per_s"] > 4 * runs[0]["sent_per_s"]
    with open(table, encoding="ascii") as f:
        assert [int(row["sent"]) for row in csv.DictReader(f)] == [one["sent"] for one in runs]
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("dev", ["eth0", "lo", "s0", "c1"])
def test_other_interface_is_refused(dev):
    left = namespaces()
    result = run(LOADTEST, "--dev", dev, "--rate", "1", "--seconds", "1", check=False)
    assert result.returncode == 1
    assert result.stderr.startswith(f"loadtest: {dev}: load goes only to c0")
    assert namespaces() <= left, "the lab is gone"


@pytest.mark.parametrize("words, sentence", [
    (["--rate", "0"], "must be queries per second, or flat"),
    (["--seconds", "0"], "must be above 0"),
    (["--queries", "/dev/null"], "/dev/null: no query in it"),
    (["--queries", __file__], "test_loadtest.py:3: must be NAME TYPE [EDNS|"),
    (["--zone", "example.com"], "must be NAME=FILE"),
])
def test_bad_options_are_named(words, sentence):
    result = run(LOADTEST, *words, check=False)
    assert result.returncode in (1, 2) and sentence in result.stderr, result.stderr
