# SPDX-License-Identifier: GPL-2.0-only
"""For all Python tests: with CI=true a skipped test is a failure, since CI has every privilege."""
import os

import pytest

STRICT = os.environ.get("CI") == "true"


def _fail_if_skipped(report):
    """Leaves expected failures (xfail), which pytest reports as skipped too, alone."""
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CI allows no skipped test: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    _fail_if_skipped(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    _fail_if_skipped(outcome.get_result())
