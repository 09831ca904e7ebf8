# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Settings of all Python tests. With CI=true a skipped test is a failure, since CI has every
privilege.

Options select the tests that run side by side (scripts/run-pytest.sh starts pytest twice):

    --alone=no     all tests but those with the mark `alone`, shared out among pytest-xdist's workers
    --alone=only   the tests with the mark, one after the other, while no worker runs
    (neither)      all tests, in one process unless -n is given

--shuffle=SEED changes the order of the tests, in the same way for the same seed: no test may depend
on an earlier one. Tests that share a fixture of their module stay together.

A test is marked `alone` if it measures, loads or stops the machine: another test beside it would
fail, or make it fail. Tests that share a fixture of their module run in the same worker, which
makes the fixture once.

Side by side, the longest tests begin first: a long test that began last would keep one worker busy
after the others have ended. SLOW lists the tests that take some seconds; scripts/times.sh --slow
prints the list after a run. It changes only the order.

VOLLEY_DURATIONS names a file that gets a line for each test: its seconds, its name, its result, and
the seconds that it used of a processor, itself and by its programs; with tabs between them.
"""
import collections
import os
import pathlib
import random
import re

import pytest

SLOW = pathlib.Path(__file__).with_name("slow.txt")
USUAL_S = 0.7  # counted for a test that is not in SLOW

STRICT = os.environ.get("CI") == "true"
DURATIONS = os.environ.get("VOLLEY_DURATIONS")

# what pytest-xdist puts behind a name; a name with an @ of its own ends with a bracket
GROUP = re.compile(r"@[\w.-]+$")

_seconds, _used, _failed = collections.Counter(), {}, set()


def pytest_addoption(parser):
    parser.addoption("--alone", choices=("no", "only"),
                     help="without the tests marked `alone`, or these only")
    parser.addoption("--shuffle", metavar="SEED", help="the tests in another order")


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: needs the machine for itself")
    # of pytest-xdist, which need not be there
    config.addinivalue_line("markers", "xdist_group(name): run by the same worker")


def _group_of(item):
    """The name of the group whose tests share a fixture of the module, or None."""
    # pylint: disable=W0212
    fixtures = [found[-1] for found in item._fixtureinfo.name2fixturedefs.values()]
    shared = sorted({one.argname: one for one in fixtures if one.scope == "module"}.items())
    if not shared:
        return None
    variants = [str(item.callspec.indices[name]) for name, one in shared if one.params]
    return "-".join([item.module.__name__, *variants])


def _shuffle(items, groups, source):
    units = [[item] for item in groups.pop(None, [])] + list(groups.values())
    source.shuffle(units)
    for unit in units:
        source.shuffle(unit)
    items[:] = [item for unit in units for item in unit]


def _longest_first(items, groups):
    """
    The same in each worker, as pytest-xdist wants it: by the seconds of SLOW, equal ones in the
    order of the files.
    """
    with open(SLOW, encoding="utf-8") as lines:
        known = {name: float(seconds)
                 for seconds, name in (line.rstrip("\n").split("\t") for line in lines)}
    units = [[item] for item in groups.pop(None, [])] + list(groups.values())
    units.sort(key=lambda unit: -sum(known.get(item.nodeid, USUAL_S) for item in unit))
    items[:] = [item for unit in units for item in unit]


# pytest-xdist puts the names of groups to those of the tests in the same hook
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("--alone")
    if wanted:
        kept, others = [], []
        for item in items:
            is_alone = item.get_closest_marker("alone") is not None
            (kept if is_alone == (wanted == "only") else others).append(item)
        items[:] = kept
        config.hook.pytest_deselected(items=others)
    groups = collections.defaultdict(list)
    for item in items:
        group = _group_of(item)
        if group:
            item.add_marker(pytest.mark.xdist_group(group))
        groups[group].append(item)
    seed = config.getoption("--shuffle")
    if seed is not None:
        _shuffle(items, groups, random.Random(seed))
    elif hasattr(config, "workerinput"):
        _longest_first(items, groups)


def pytest_collection_finish(session):
    """
    Without its group in its name a test goes to any worker, and each worker makes the module's
    fixtures again.
    """
    if hasattr(session.config, "workerinput") and session.config.getvalue("loadgroup"):
        for item in session.items:
            group = item.get_closest_marker("xdist_group")
            assert not group or item.nodeid.endswith(f"@{group.args[0]}"), f"pytest-xdist does not know the group of {item.nodeid}"


def _fail_if_skipped(report):
    """Leaves expected failures (xfail), which pytest reports as skipped too, alone."""
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CI allows no skipped test: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    item.used_before = sum(os.times()[:4])
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    if call.when == "teardown":
        item.user_properties.append(("used", sum(os.times()[:4]) - item.used_before))
    outcome = yield
    _fail_if_skipped(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    _fail_if_skipped(outcome.get_result())


def pytest_runtest_logreport(report):
    name = GROUP.sub("", report.nodeid)
    _seconds[name] += report.duration
    _used[name] = dict(report.user_properties).get("used", 0)
    if report.failed:
        _failed.add(name)


def pytest_sessionfinish(session):
    if DURATIONS and not hasattr(session.config, "workerinput"):
        with open(DURATIONS, "a", encoding="utf-8") as out:
            for name, seconds in _seconds.items():
                result = "failed" if name in _failed else "passed"
                out.write(f"{seconds:.2f}\t{name}\t{result}\t{_used[name]:.2f}\n")
