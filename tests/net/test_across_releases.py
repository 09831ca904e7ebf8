# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A volleyd built on one release of Debian takes what a volleyd built on another one has left: state
folder, snapshot, program and maps; and back.

scripts/suite.sh runs these tests (step `across`). VOLLEY_OTHER is the folder of the other release,
with its volleyd. Both share this machine's folders, namespaces and BPF file system. Without
VOLLEY_OTHER pytest does not collect this file (conftest.py).
"""
import os
import pathlib

import pytest

from netlab import (BIN, V4, V6, in_driver, map_ids, program, run, texts, wait_for, write_zone,
                    zone)
from test_signing import keys, serial, verify

OTHER = pathlib.Path(os.environ.get("VOLLEY_OTHER", "/nonexistent"))
VOLLEYD = "/srv/volley/build/bin/volleyd"
NAMES = [f"n{i}.z.test" for i in range(20)]
MORE = "".join(f"n{i} IN A 192.0.2.{100 + i}\n" for i in range(20))


@pytest.fixture(name="other", scope="module")
def make_other(tmp_path_factory):
    """A program that is the other release's volleyd, in its own root."""
    path = tmp_path_factory.mktemp("other") / "volleyd"
    path.write_text(f'#!/bin/sh\nexec chroot {OTHER} /usr/bin/env --chdir="$PWD" {VOLLEYD} "$@"\n',
                    encoding="ascii")
    path.chmod(0o755)
    ours, others = (run(one, "--version").stdout for one in (BIN / "volleyd", path))
    assert ours != others, "the libraries of two releases"
    return path


@pytest.fixture(name="builds", params=["ours first", "other first"])
def order(request, other):
    """Two programs; the test goes from the first to the second, and back."""
    builds = [BIN / "volleyd", other]
    return builds if request.param == "ours first" else builds[::-1]


@pytest.fixture(name="path")
def zone_file(tmp_path):
    return write_zone(tmp_path / "z.zone", 1, more=MORE)


def change_to(daemon, build, *options):
    assert daemon.stop(*options) == 0
    daemon.binary = build
    daemon.start()


def test_state_folder(lab, daemon, tmp_path, path, builds):
    """The keys, the journal, and each change of a signed zone."""
    first, second = builds
    daemon.binary = first
    daemon.start(server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
                 signing=[{"name": "p", "denial": "nsec3"}],
                 zones=[zone("z.test", path, signing="p", allow_transfer=["any"])])
    daemon.ctl("zone", "edit", "z.test", "add a0 60 A 192.0.2.200")
    at, had = serial(daemon), keys(daemon)
    for number, build in enumerate((second, first, second), 1):
        change_to(daemon, build)
        assert (serial(daemon), keys(daemon)) == (at, had), "nothing is lost or made anew"
        assert texts(lab.ask("a0.z.test")) == ["192.0.2.200"]
        daemon.ctl("zone", "edit", "z.test", f"add a{number} 60 A 192.0.2.{200 + number}",
                   f"remove n{number}")
        at += 1
        assert serial(daemon) == at
        verify(lab, tmp_path)
    for number in range(1, 4):
        assert texts(lab.ask(f"a{number}.z.test")) == [f"192.0.2.{200 + number}"]
        assert not lab.ask(f"n{number}.z.test").answer


def test_snapshot(lab, daemon, tmp_path, path, builds):
    first, second = builds
    daemon.binary = first
    daemon.start(zones=[zone("z.test", path)], cache={"snapshot": str(tmp_path / "cache.snapshot")})
    for name in NAMES:
        lab.ask(name)
    for build in (second, first):
        seen = len(daemon.log())
        change_to(daemon, build)
        wait_for("the snapshot is loaded",
                 lambda: f"{len(NAMES)} of {len(NAMES)} answers of " in daemon.log()[seen:])
        assert in_driver(lab, daemon, NAMES) == len(NAMES)


def test_adopted_program(lab, daemon, path, builds):
    """The driver answers while no volleyd runs; the next one takes the maps with their answers."""
    first, second = builds
    daemon.binary = first
    daemon.start(zones=[zone("z.test", path)])
    for name in NAMES:
        lab.ask(name)
    maps = map_ids(program(lab)["id"])
    for build in (second, first, second):
        assert daemon.stop("--keep") == 0
        assert texts(lab.ask(NAMES[0])) == ["192.0.2.100"], "by the driver alone"
        daemon.binary = build
        daemon.start()
        assert map_ids(program(lab)["id"])["volley_cpu"] == maps["volley_cpu"]
        assert in_driver(lab, daemon, NAMES) == len(NAMES)
        assert not daemon.degraded()
