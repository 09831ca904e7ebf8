# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of the network tests. All tests need root, namespaces and XDP; without root they are
skipped."""
import os

import pytest

import dnstree
from clock import Clock
from netlab import Daemon, Lab, run
from primaries import Scene, missing

collect_ignore = [] if os.environ.get("VOLLEY_OTHER") else ["test_across_releases.py"]


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Stores each phase's report in the test, for fixtures that clean up."""
    report = (yield).get_result()
    setattr(item, f"report_{report.when}", report)
    if report.failed:
        world = getattr(item, "funcargs", {}).get("world")
        for daemon in (*getattr(item, "daemons", []), *([world.daemon] if world else [])):
            report.sections.append((f"volleyd in {daemon.folder.name}", daemon.log()))


REFUSED = "has asked for the system call"


@pytest.fixture
def make_lab():
    if os.geteuid():
        pytest.skip("network namespaces and XDP need root")
    labs = []

    def make(**kwargs):
        labs.append(Lab(**kwargs))
        return labs[-1]
    yield make
    for one in labs:
        one.close()


@pytest.fixture
def lab(make_lab):
    return make_lab()


@pytest.fixture
def make_disk(tmp_path):
    """Makes a file system of that size ("64k") below the test's folder."""
    path = tmp_path / "disk"

    def make(size):
        path.mkdir()
        run("mount", "-t", "tmpfs", "-o", f"size={size}", "none", path)
        return path
    yield make
    if path.exists():
        run("umount", "-l", path)


@pytest.fixture
def make_daemon(request, lab, tmp_path):
    """Daemons in folders of their own; each must end well when the test did."""
    request.node.daemons = made = []

    def make(folder="a", where=lab):
        path = tmp_path / folder
        path.mkdir(exist_ok=True)
        made.append(Daemon(where, path))
        return made[-1]
    yield make
    ended = [(one.folder.name, one.clean_up()) for one in made]
    report = getattr(request.node, "report_call", None)
    if report and report.passed:
        assert all(well for _, well in ended), f"a daemon did not end with status 0: {ended}"
        refused = [line for one in made for line in one.log().splitlines() if REFUSED in line]
        assert not refused, f"a thread lacks a system call in base/sandbox_calls.c: {refused}"


@pytest.fixture
def daemon(make_daemon):
    return make_daemon()


@pytest.fixture(scope="module")
def shared_by_module(tmp_path_factory):
    """
    A lab, and in it a daemon with the usual configuration, for tests that only ask: see shared.
    """
    if os.geteuid():
        pytest.skip("network namespaces and XDP need root")
    one = Lab()
    try:
        daemon = Daemon(one, tmp_path_factory.mktemp("shared")).start()
        yield one, daemon
        assert daemon.clean_up(), f"it did not end with status 0:\n{daemon.log()}"
    finally:
        one.close()


@pytest.fixture
def shared(request, shared_by_module):
    """
    (lab, daemon) that tests of a module share: the cache is empty, as after a start; counters go
    on.
    """
    _, daemon = shared_by_module
    request.node.daemons = [daemon]
    daemon.ctl("cache", "flush", "--all")
    return shared_by_module


@pytest.fixture
def clock(daemon, tmp_path):
    """The daemon's clocks, from its next start on."""
    made = Clock(tmp_path)
    daemon.env = made.env
    return made


@pytest.fixture
def scene(tmp_path):
    """A namespace for primaries, and secondaries that are the transfer floor alone."""
    if os.geteuid():
        pytest.skip("network namespaces need root")
    assert not missing(), missing()
    made = Scene(tmp_path)
    yield made
    made.close()


@pytest.fixture
def there(lab, tmp_path):
    """The client's side of the lab, for primaries of a daemon."""
    folder = tmp_path / "there"
    folder.mkdir()
    made = Scene(folder, f"{lab.name}-c")
    yield made
    made.close()


@pytest.fixture(scope="session")
def tree_zones(tmp_path_factory):
    """The zones of the tree, made and signed once."""
    dnstree.skip_unless_possible()
    return dnstree.Zones(tmp_path_factory.mktemp("zones"))
