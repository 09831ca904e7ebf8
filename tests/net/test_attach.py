# SPDX-License-Identifier: GPL-2.0-only
"""
The program is attached whatever refuses it on the way: libxdp's dispatcher, the driver, the verifier, an
older kernel. What is tried next, and what is said. tests/net/preload/otherkernel.c refuses.
"""
import os
import time

import pytest

from netlab import ROOT, iface, run, texts

WWW = ["192.0.2.80", "192.0.2.81"]


@pytest.fixture
def start(daemon, tmp_path):
    """start(interfaces=..., NO_PWAIT2=1, ...) with what otherkernel.c reads, in capitals."""
    library = tmp_path / "otherkernel.so"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/otherkernel.c", "-ldl")

    def start(*options, **words):
        env = {name: str(value) for name, value in words.items() if name.isupper()}
        sections = {name: value for name, value in words.items() if not name.isupper()}
        daemon.configure(**sections).spawn(*options, env={"LD_PRELOAD": str(library), **env})
        return daemon.wait_ready()
    return start


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("xdp", ["off", "native"])
def test_without_epoll_pwait2(lab, daemon, start, xdp):
    """Linux 5.10: volleyd gets ready, answers, and its workers sleep."""
    start(interfaces=[iface(xdp=xdp)], NO_PWAIT2=1)
    assert texts(lab.ask()) == WWW
    before = cpu_s(daemon.process.pid)
    time.sleep(2)
    assert cpu_s(daemon.process.pid) - before < 1  # two workers that spin: up to 4
