# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The sample zones are zones to others too, and the signed ones hold for two validators."""

import pathlib
import subprocess

import pytest

ZONES = pathlib.Path(__file__).resolve().parents[2] / "zones"
FILES = sorted(ZONES.glob("*.zone"))
SIGNED = [f for f in FILES if f.name.startswith("signed-")]


def origin(file):
    return "." if file.stem == "root" else file.stem + "."


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def ids(files):
    return {"argvalues": files, "ids": [f.stem for f in files]}


@pytest.mark.parametrize("file", **ids(FILES))
def test_named_takes_it(file):
    run("named-checkzone", "-i", "local", "-k", "ignore", origin(file), str(file))


@pytest.mark.parametrize("file", **ids(SIGNED))
def test_ldns_validates_it(file):
    run("ldns-verify-zone", "-V", "1", str(file))


@pytest.mark.parametrize("file", **ids(SIGNED))
def test_bind_validates_it(file):
    run("dnssec-verify", "-q", "-o", origin(file), str(file))
