# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmarks and load tests make nothing real-time but the NAPI threads of their lab (rig.py)."""
import os
import struct
import subprocess
import sys

import pytest

from netlab import ROOT

sys.path.insert(0, str(ROOT / "tests" / "perf"))
import rig  # noqa: E402


def policy_of(pid):
    return os.sched_getscheduler(pid)


def napi(pid):
    return {rig.NETDEV_A_NAPI_PID: struct.pack("I", pid)}


def test_napi_threads_are_put_first_and_back(lab):
    threads = rig.napi_threads(lab, "c")
    assert threads and all(rig.name_of(pid).startswith("napi/c0-") for pid in threads)
    rig.put_first(threads)
    assert {policy_of(pid) for pid in threads} == {os.SCHED_FIFO}
    assert {policy_of(pid) for pid in rig.napi_threads(lab, "s")} == {os.SCHED_OTHER}
    rig.put_first(threads, False)
    assert {policy_of(pid) for pid in threads} == {os.SCHED_OTHER}


@pytest.mark.parametrize("stranger", ["zero", "own", "child"])
def test_no_other_thread_is_put_first(stranger):
    with subprocess.Popen(["sleep", "60"]) as child:
        pid = {"zero": 0, "own": os.getpid(), "child": child.pid}[stranger]
        try:
            with pytest.raises(ValueError, match="is no NAPI thread"):
                rig.put_first([pid])
            assert policy_of(0) == policy_of(child.pid) == os.SCHED_OTHER
        finally:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            child.kill()


def test_a_thread_that_has_ended_is_passed_over():
    with subprocess.Popen(["true"]) as child:
        child.wait()
    rig.put_first([child.pid])


@pytest.mark.parametrize("wrong", [0, os.getpid()], ids=["zero", "this"])
def test_a_pid_that_is_not_yet_the_threads_is_not_taken(monkeypatch, wrong):
    """The kernel tells PID 0, or a number that another process has got, for a moment."""
    thread = 4711
    monkeypatch.setattr(rig, "name_of", lambda pid: "napi/c0-77" if pid == thread else "python3")
    told = iter([[napi(wrong)], [napi(wrong)], [napi(thread)]])
    monkeypatch.setattr(rig, "netdev_dump", lambda *_: next(told))
    assert rig.napi_threads(None, "c") == [thread]
