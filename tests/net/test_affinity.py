# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The processors of threads: workers have their own, all other threads use the rest, if there is
one."""
import contextlib
import os

import pytest

from netlab import wait_for, write_zone, zone

CPUS = sorted(os.sched_getaffinity(0))
needs_two = pytest.mark.skipif(len(CPUS) < 2, reason="there is one processor")


def places(daemon, pid=None):
    """
    {name of a thread: processors}, of volleyd or of this process; those of a resolver that is no
    longer needed end meanwhile.
    """
    pid = pid or daemon.process.pid
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{pid}/task/{task}/comm", encoding="ascii") as f:
                found[f"{f.read().strip()}/{task}"] = os.sched_getaffinity(int(task))
    return found


def is_worker(name):
    return name.startswith("volley-w")


@needs_two
def test_all_others_run_where_no_worker_does(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone")
    recursion = {"allow": ["192.0.2.0/24"], "forward": ["192.0.2.99"]}
    daemon.start(server={"workers": 1}, zones=[zone("z.test", path)], recursion=recursion)
    assert not daemon.status()["control_cores_shared"]
    threads = places(daemon)
    workers = set().union(*(cpus for name, cpus in threads.items() if is_worker(name)))
    assert len(workers) == 1 and len(threads) > 6
    assert {tuple(cpus) for name, cpus in threads.items() if not is_worker(name)} == \
        {tuple(set(CPUS) - workers)}
    resolver = daemon.status()["recursion"]["process"]
    wait_for("the resolver's process is beside it", lambda: {
        tuple(cpus) for cpus in places(daemon, resolver).values()} == {tuple(set(CPUS) - workers)})
    # those of another resolver, too
    daemon.configure(server={"workers": 1}, zones=[zone("z.test", path)],
                     recursion={**recursion, "forward": ["192.0.2.98"]})
    daemon.ctl("zone", "reload")
    wait_for("they are all there", lambda: set(places(daemon)) - set(threads))
    assert {tuple(cpus) for name, cpus in places(daemon).items() if not is_worker(name)} == \
        {tuple(set(CPUS) - workers)}


@needs_two
def test_workers_keep_off_what_is_given_to_control(daemon):
    daemon.start(server={"workers": "auto", "control-cores": [CPUS[0]]})
    status = daemon.status()
    assert status["workers"] == len(CPUS) - 1 and status["control_cores"] == str(CPUS[0])
    for name, cpus in places(daemon).items():
        assert (CPUS[0] in cpus) != is_worker(name), (name, cpus)


def test_a_worker_on_each_leaves_none(daemon):
    daemon.start(server={"workers": "auto"})
    assert daemon.status()["control_cores_shared"]
    assert {tuple(cpus) for name, cpus in places(daemon).items() if not is_worker(name)} == \
        {tuple(CPUS)}


def test_a_processor_that_is_not_there(daemon):
    status, said = daemon.configure(server={"control-cores": [1023]}).run_failing()
    assert status == 1
    assert "server.control-cores: volleyd may not use processor 1023" in said
