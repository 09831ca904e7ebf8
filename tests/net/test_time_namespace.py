# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyd in a time namespace: its clock differs from that of the XDP program."""
import pathlib
import subprocess

import pytest

from netlab import Answered, wait_for

pytestmark = pytest.mark.skipif(not pathlib.Path("/proc/self/ns/time").exists(),
                                reason="this kernel has no time namespaces")


@pytest.fixture(params=[86400, -15], ids=["ahead", "behind"])
def shifted(request, daemon, monkeypatch):
    """A daemon whose CLOCK_MONOTONIC is so many seconds off. Its process is that of unshare."""
    offset = str(request.param)
    shift = ("unshare", "--time", "--monotonic", offset, "--boottime", offset, "--fork",
             "--kill-child")
    if subprocess.run([*shift, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no time namespace with this offset can be made here")
    spawn = daemon.spawn
    monkeypatch.setattr(daemon, "spawn", lambda *options: spawn(*options, before=shift))
    return daemon


def test_the_driver_answers_as_long_as_it_should(lab, shifted):
    """
    No query goes up as up-orphaned, and without a daemon no cache lives longer than it should.
    """
    shifted.start(cache={"orphan-serve": "8s"})
    with Answered(shifted) as ten:
        for _ in range(10):
            assert lab.ask().answer
    assert ten.by == {"worker": 1, "driver": 9}
    assert shifted.reasons()["up-orphaned"] == 0
    assert "time namespace" in shifted.log()
    shifted.kill()
    assert lab.is_answered(timeout=2)
    wait_for("the driver has given up", lambda: not lab.is_answered(), 30)
