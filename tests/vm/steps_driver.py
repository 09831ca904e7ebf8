# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of a cell with the driver alone, as tests/bpf/ tests it. On another kernel its verifier is
another one; on another architecture also its just-in-time compiler and the size of pages.
"""
import os
import pathlib
import platform
import re

from netlab import BIN, TOOLS, run

PROGRAMS = TOOLS.parent / "bpf"
QUERIES = 100000
SECONDS = 1200  # for one program
# On an emulated processor each takes minutes: their work is a large set of queries, or a time. A cell
# runs them if STEPS names long_driver_tests.
LONG = ("test_concurrent", "test_shed_fair", "test_truth", "test_truth_aged", "test_truth_blocks",
        "test_truth_denials", "test_xdp_age", "test_xdp_answer", "test_xdp_cache", "test_xdp_limit",
        "test_xdp_preempt", "test_xdp_services", "test_xdp_sweep", "test_xdp_tunnel", "test_xdp_up")
# Fewer queries than `make test-bpf` has: an emulated processor takes some twenty times as long.
FEWER = {"test_truth": QUERIES, "test_truth_aged": 20000, "test_truth_blocks": 6000,
         "test_truth_denials": 20000}
# No frame of these tests needs a second buffer there.
NOT_WITH_LARGE_PAGES = ("test_padding_in_more_buffers", "test_long_packets", "test_no_redirect")
HAS_LARGE_PAGES = os.sysconf("SC_PAGESIZE") > 4096


def step_verifier(_lab, _daemon):
    """The verifier takes the program, within the limit of `make verify`."""
    said = run(PROGRAMS / "verify", "--max", 200000, BIN / "volley.bpf.o", timeout=SECONDS).stdout
    pages = os.sysconf("SC_PAGESIZE")
    return f"{' '.join(said.split())}; {platform.machine()}, pages of {pages} octets"


def run_program(name, **environment):
    """How many tests passed. Each has to, except those that this size of pages cannot run."""
    words = [f"{key}={value}" for key, value in environment.items()]
    said = run("env", "CI=true", *words, PROGRAMS / name, timeout=SECONDS, check=False)
    text = said.stdout + said.stderr
    failed, skipped = (set(re.findall(rf"^\[  {word} \] ([a-z]\w+)$", text, re.MULTILINE))
                       for word in ("FAILED ", "SKIPPED"))
    allowed = NOT_WITH_LARGE_PAGES if HAS_LARGE_PAGES else ()
    assert failed | skipped <= set(allowed) and said.returncode == len(failed), f"{name}: {text}"
    return len(re.findall(r"^\[       OK \]", text, re.MULTILINE))


def run_programs(are_long):
    passed, failed = [], []
    for path in sorted(pathlib.Path("tests/bpf").glob("test_*.c")):
        if (path.stem in LONG) != are_long:
            continue
        try:
            fewer = {"QUERIES": FEWER[path.stem]} if path.stem in FEWER else {}
            passed.append(run_program(path.stem, **fewer))
            print(f"{path.stem}: {passed[-1]} tests", flush=True)
        except AssertionError as err:
            print(err, flush=True)
            failed.append(path.stem)
    assert not failed, failed
    return f"{len(passed)} programs, {sum(passed)} tests"


def step_driver_tests(_lab, _daemon):
    """The tests of tests/bpf/, without those that take long."""
    return run_programs(False)


def step_long_driver_tests(_lab, _daemon):
    """Those that take long."""
    return run_programs(True)


def step_truth(_lab, _daemon):
    """Driver and engine get the same queries: no answer differs in an octet."""
    passed = run_program("test_truth", QUERIES=QUERIES)
    return f"{QUERIES} queries through two answerers, 0 differences ({passed} tests)"


def step_shared_answers(_lab, _daemon):
    """
    From wildcards and denials. Here a verifier showed that it removes code of loops: the driver
    handed all these queries up, and no answer was wrong.
    """
    return f"{run_program('test_xdp_names')} tests"


STEPS, ON_REQUEST = [step_verifier, step_driver_tests, step_truth], [step_long_driver_tests]
if platform.machine() == "x86_64":  # `make verify` has the verifiers
    STEPS, ON_REQUEST = [step_shared_answers], [step_driver_tests, step_long_driver_tests]
