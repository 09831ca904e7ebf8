# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of many zones: in pages, for every reader, and with little for those who ask for little."""
import json
import os
import re
import socket
import subprocess

import pytest

from netlab import BIN, ENV, has, run, wait_for, write_zone, zone

N_ZONES = 700  # more than a page, and more than volleyctl gathers before it writes a table
NAMES = [f"z{i:03}.test." for i in range(N_ZONES)] + ["broken.example."]
COMPLETIONS = BIN.parent / "completion"


@pytest.fixture(name="many", scope="module")
def make_many(shared_by_module, tmp_path_factory):
    """A daemon with NAMES, of which the last one does not load; the order in the file is another."""
    daemon = shared_by_module[1]
    folder = tmp_path_factory.mktemp("many")
    path = write_zone(folder / "z.zone")
    bad = folder / "bad.zone"
    bad.write_text("@ SOA nothing\n", encoding="ascii")
    zones = [zone(name, bad if name == "broken.example." else path) for name in reversed(NAMES)]
    daemon.configure(zones=zones)
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode == 1 and "broken.example" in said.stderr
    return daemon


def names_of(text):
    """The first words of a table without its titles."""
    return [line.split()[0] for line in text.splitlines() if not line.startswith("NAME ")]


def test_all_zones_once_in_the_order_of_their_names(many):
    ordered = ["broken.example."] + NAMES[:-1]
    assert names_of(many.ctl("zone", "list").stdout) == ordered
    assert many.ctl("zone", "list", "--names").stdout.split() == ordered
    rows = many.ctl("--json-lines", "zone", "list").stdout.splitlines()
    assert [json.loads(row)["name"] for row in rows] == ordered
    document = json.loads(many.ctl("zone", "list", "--json").stdout)
    assert document == {"zones": [json.loads(row) for row in rows]}
    assert many.ctl("zone", "status").stdout.count("name:") == N_ZONES + 1


def test_what_is_asked_for(many):
    def listed(*words):
        return many.ctl("zone", "list", "--names", *words).stdout.split()
    assert listed("--state", "failed") == ["broken.example."]
    assert listed("z00?.TEST") == NAMES[:10]
    assert listed("*.example") == ["broken.example."]
    assert listed("z*", "--limit", "300") == NAMES[:300]
    assert listed("z*", "--after", "z690.test", "--limit", "3") == NAMES[691:694]
    assert listed("--after", "z699.test") == []
    assert json.loads(many.ctl("--json", "zone", "list", "--limit", "2",
                               "--names").stdout) == {
        "zones": [{"name": "broken.example."}, {"name": "z000.test."}], "next": "z000.test."}
    row, = json.loads(many.ctl("--json", "zone", "list", "--state", "failed").stdout)["zones"]
    assert "bad.zone:1" in row["error"]


@pytest.mark.parametrize("words, sentence", [
    (["--state", "fine"], "a zone has no such state; give loading, failed, serving"),
    (["--limit", "none"], "give a number"),
    (["one", "two"], "give at most one pattern"),
], ids=["state", "limit", "patterns"])
def test_what_is_refused(many, words, sentence):
    said = many.ctl("zone", "list", *words, check=False)
    assert said.returncode == 2 and sentence in said.stderr and not said.stdout
    said = many.ctl("--json", "zone", "list", *words, check=False)
    assert said.returncode == 2 and sentence in json.loads(said.stdout)["error"]
    said = many.ctl("--json-lines", "zone", "list", *words, check=False)
    assert sentence in json.loads(said.stdout)["error"] and said.stdout.count("\n") == 1


def test_a_reader_that_goes_is_no_error(many):
    said = run("bash", "-c", f"set -o pipefail; {BIN}/volleyctl -s {many.socket} zone list | head -2")
    assert len(said.stdout.splitlines()) == 2 and not said.stderr
    ended = run("sh", "-c", f"{BIN}/volleyctl -s {many.socket} zone list >/dev/full", check=False)
    assert ended.returncode == 1 and "No space left" in ended.stderr


def test_a_reader_that_stops_holds_up_nobody(many):
    """Its list goes on where it was, also if the daemon has closed the connection meanwhile."""
    readers = [subprocess.Popen([BIN / "volleyctl", "-s", many.socket, "--json-lines", "zone", "list"],
                                stdout=subprocess.PIPE, env=ENV) for _ in range(3)]
    try:
        for reader in readers:
            assert json.loads(reader.stdout.readline())["name"] == "broken.example."
        assert many.ctl("zone", "list", "--limit", "1", "--names").stdout == "broken.example.\n"
        crowd = [socket.socket(socket.AF_UNIX) for _ in range(32)]  # each takes a reader's place
        for one in crowd:
            one.connect(str(many.socket))
        assert many.ctl("status").stdout
        for one in crowd:
            one.close()
        for reader in readers:
            assert [json.loads(row)["name"] for row in reader.stdout] == NAMES[:-1]
            assert reader.wait(30) == 0
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()
            reader.stdout.close()


def test_a_page_is_bounded_and_says_where_it_ends(many):
    page = many.result("zone list")
    assert 1 <= len(page["zones"]) <= 64 and page["next"] == page["zones"][-1]["name"]
    assert many.result("zone list", "--limit", "700")["next"]


def test_status_and_reload_say_counts(lab, daemon, tmp_path):
    """And no list of zones."""
    path = write_zone(tmp_path / "z.zone")
    zones = [zone(f"z{i}.test", path) for i in range(20)]
    daemon.start(zones=zones)
    counts = {"serving": 20, "stale": 0, "awaited": 0, "expired": 0, "failed": 0, "loading": 0}
    assert daemon.status()["zones"] == counts
    assert daemon.json("zone", "reload") == {"zones": counts}
    path.write_text("@ SOA nothing\n", encoding="ascii")
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode == 1 and "these 20" in said.stderr
    assert said.stderr.count("z.zone:1") + int(re.search(r"and (\d+) more", said.stderr)[1]) == 20
    degraded = daemon.status()["degraded"]
    assert len(degraded) == 11 and "and 10 more zones" in degraded[-1], degraded
    assert lab.ask("www.z1.test").answer


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_names_of_zones_are_completed(many, shell):
    if not has(shell):
        pytest.skip(f"{shell} is not installed")
    ask = '_volleyctl_zones "$@"'
    options = ["-f"] if shell == "zsh" else []

    def completed(begun, *words):
        path = f"{BIN}{os.pathsep}{ENV['PATH']}"
        return run("env", f"PATH={path}", shell, *options, "-c",
                   f". {COMPLETIONS}/volleyctl.{shell}; {ask}", shell, begun, "-s", many.socket,
                   *words).stdout.split()

    def names(*words):
        """A completion ends without names after 2 s, which a busy machine may take."""
        return wait_for(f"names for {words}", lambda: completed(*words))
    assert names("z69", "zone", "status") == NAMES[690:700]
    assert names("z", "--json", "zone", "reload") == NAMES[:100]
    assert names("bro", "zone", "keys") == ["broken.example."]
    assert completed("bro", "zone", "list") == []
    assert completed("bro", "cache", "lookup") == []
    assert completed("bro") == []
