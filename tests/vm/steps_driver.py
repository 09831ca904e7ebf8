# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of a cell of another architecture: the driver as tests/bpf/ tests it in this machine's
kernel. Here its just-in-time compiler, verifier and size of pages are others.
"""
import os
import pathlib
import platform
import re

from netlab import BIN, TOOLS, run

PROGRAMS = TOOLS.parent / "bpf"
QUERIES = 100000
SECONDS = 1200  # for one program
# Their work is a set number of queries, of which the same step has enough, or a time.
LONG = ("test_truth", "test_truth_aged", "test_truth_blocks", "test_truth_denials",
        "test_concurrent", "test_xdp_sweep")
# On x86-64, too: before 6.12 the kernel gives frames of sockets other rooms, and counts the memory of
# maps in another way.
NOT_ON_OLD = ("test_every_tail_room", "test_head_full", "test_socket", "test_maps_keep_the_budget")
IS_OLD = tuple(map(int, re.findall(r"\d+", platform.release())[:2])) < (6, 12)


def step_verifier(_lab, _daemon):
    """The verifier takes the program, within the limit of `make verify`."""
    said = run(PROGRAMS / "verify", "--max", 200000, BIN / "volley.bpf.o", timeout=SECONDS).stdout
    pages = os.sysconf("SC_PAGESIZE")
    return f"{' '.join(said.split())}; {platform.machine()}, pages of {pages} octets"


def run_program(name, **environment):
    """How many tests passed. Each has to, except those for which the kernel is too old."""
    words = [f"{key}={value}" for key, value in environment.items()]
    said = run("env", "CI=true", *words, PROGRAMS / name, timeout=SECONDS, check=False)
    text = said.stdout + said.stderr
    lacking = set(re.findall(r"^\[  (?:SKIPPED|FAILED ) \] (\w+)$", text, re.MULTILINE))
    allowed = set(NOT_ON_OLD) if IS_OLD else set()
    assert lacking <= allowed and said.returncode == len(lacking), f"{name}: {lacking}\n{text}"
    return len(re.findall(r"^\[       OK \]", text, re.MULTILINE))


def step_driver_tests(_lab, _daemon):
    """The tests of tests/bpf/ that end by themselves within seconds."""
    names = [path.stem for path in sorted(pathlib.Path("tests/bpf").glob("test_*.c"))
             if path.stem not in LONG]
    passed, failed = 0, []
    for name in names:
        try:
            passed += run_program(name)
        except AssertionError as err:
            print(err)
            failed.append(name)
    assert not failed, failed
    return f"{len(names)} programs, {passed} tests"


def step_truth(_lab, _daemon):
    """Driver and engine get the same queries: no answer differs in an octet."""
    passed = run_program("test_truth", QUERIES=QUERIES)
    return f"{QUERIES} queries through two answerers, 0 differences ({passed} tests)"


def step_concurrent(_lab, _daemon):
    """Answers stay whole while writers publish and the keeper evicts, on two processors."""
    passed = run_program("test_concurrent")
    return f"{passed} tests"


STEPS = [step_verifier, step_driver_tests, step_truth, step_concurrent]
if platform.machine() == "x86_64":
    STEPS = []  # `make test-bpf` and `make verify`
