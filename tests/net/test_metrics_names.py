# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The names and labels of metrics.listen: metrics_names.txt has all of them, and they stay.

A line is `type name label...`; a label with few values is `label=text|text`. A name that is missing
in the file or in the metrics is a failure. METRICS_NAMES=write in the environment writes the file
anew.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from netlab import CLIENT4, V4, wait_for, write_zone, zone
from test_metrics import AT, Metrics, fetch, parse

FILE = pathlib.Path(__file__).parent / "metrics_names.txt"
# labels with any text
OPEN = {"zone", "interface", "policy", "worker", "queue", "le", "version", "abi",
        "libunbound", "list"}


def described(text):
    """The lines of the file, of a text."""
    lines = []
    for name, (kind, samples) in sorted(parse(text).items()):
        labels = {}
        for key in samples:
            for label, value in key:
                labels.setdefault(label, set()).add(value)
        lines.append(" ".join([kind, name] +
                              [label if label in OPEN else f"{label}={'|'.join(sorted(texts))}"
                                              for label, texts in sorted(labels.items())]))
    return lines


def start(daemon, tmp_path, **sections):
    """With all that has names of its own."""
    rpz = tmp_path / "list.rpz"
    rpz.write_text("@ SOA . . 1 1 1 1 1\nbad.test CNAME .\n")
    (tmp_path / "blocks").write_text("198.51.100.0/24\n")
    return daemon.start(**{
        "metrics": {"listen": AT}, "cache": {"size": "16M", "names": "64K"},
                           "policy": {"block": [{"file": str(tmp_path / "blocks")}]},
        "recursion": {"allow": [CLIENT4], "forward": ["192.0.2.99"],
                      "rpz": [{"name": "list.rpz", "file": str(rpz)}]},
        **sections})


def test_names_stay(lab, daemon, tmp_path):
    start(daemon, tmp_path)
    lines = described(Metrics(lab).text)
    if os.environ.get("METRICS_NAMES") == "write":
        FILE.write_text("".join(line + "\n" for line in lines), encoding="ascii")
    assert lines == FILE.read_text(encoding="ascii").splitlines()
    assert not [line for line in lines if "_total_total" in line]


def test_many_addresses_and_workers(lab, daemon):
    """Of 8 workers and 50 addresses no more than 2,000 lines are told, zones aside."""
    addresses = [f"192.0.2.{n}" for n in range(100, 150)]
    for address in addresses:
        lab.ip("s", "address", "add", f"{address}/24", "dev", "s0")
    daemon.start(metrics={"listen": AT}, server={"listen": [V4, *addresses], "workers": 8})
    metrics = Metrics(lab)
    lines = [line for line in metrics.text.splitlines() if not line.startswith("#")
             and 'zone="' not in line]
    assert len(daemon.stats()["ports"]) > 400
    assert 300 < len(lines) <= 2000
    assert metrics.sum("volley_ports", kind="socket") >= 8 * 50


def test_more_zones_than_are_told(lab, daemon, tmp_path):
    """1,022 of 1,100 zones have their own counters and metrics; the answers of the others are
    counted as "other"."""
    path = tmp_path / "z.zone"
    path.write_text("@ 60 SOA ns. host. 1 60 60 60 60\n@ 60 NS ns.\nwww 60 A 192.0.2.1\n")
    names = [f"z{n}.test" for n in range(1100)]
    daemon.start(metrics={"listen": AT}, zones=[zone(name, path) for name in names])
    for name in names:
        lab.ask(f"www.{name}")

    def is_told():
        metrics = Metrics(lab)
        told = {dict(key)["zone"]: n for key, n in metrics["volley_zone_answers_total"].items()}
        others = told.pop("other")
        return sum(told.values()) + others == 1100 and 78 <= others <= 100 and told.pop(
            "none") == told.pop("gone") == 0 and \
            set(told.values()) == {1} and len(metrics["volley_zone_serial"]) == 1022
    wait_for("all answers are told", is_told)


def test_the_busiest_zones_are_told(lab, daemon, clock, tmp_path):
    """
    A busy zone that came too late for a counter of its own gets that of a quiet one. No answer is
    lost, told twice or of another zone.
    """
    path = write_zone(tmp_path / "z.zone")
    names = [f"z{n}.test" for n in range(1100)]
    daemon.start(metrics={"listen": AT}, zones=[zone(name, path) for name in names])

    def told():
        return {name: int(n)
                for name, n in re.findall(r'(?m)^volley_zone_answers_total\{zone="(.*)"\} (\d+)$',
                                          fetch(lab)[2])}
    counted = told()
    late = next(name for name in names if f"{name}." not in counted)
    first = [name for name in names if f"{name}." in counted]
    clock.wait_ticks()
    for name in [*first, *[late] * 100]:
        lab.ask(f"www.{name}")
    clock.wait_ticks()
    clock.leap(30)
    wait_for("it has a counter", lambda: told().get(f"{late}.") == 0)
    for _ in range(7):
        lab.ask(f"www.{late}")
    wait_for("it is told", lambda: told()[f"{late}."] == 7)
    counted = told()
    assert counted["other"] == 100 and counted["gone"] == 1 and counted["none"] == 0
    assert sum(counted.values()) == len(first) + 107
    (lost,) = [name for name in first if f"{name}." not in counted]
    assert f'volley_zone_serial{{zone="{late}."}}' in fetch(lab)[2]
    lab.ask(f"www.{lost}")
    wait_for("it is told as other", lambda: told()["other"] == 101)
    clock.wait_ticks()
    clock.leap(30)
    clock.wait_ticks(12)
    assert f"{lost}." not in told() and told()[f"{late}."] == 7  # nothing goes to and fro


def test_promtool_reads_it(lab, daemon, tmp_path):
    if not shutil.which("promtool"):
        pytest.skip("no promtool: package prometheus")
    start(daemon, tmp_path)
    said = subprocess.run(["promtool", "check", "metrics"], input=fetch(lab)[2], text=True,
                          capture_output=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
