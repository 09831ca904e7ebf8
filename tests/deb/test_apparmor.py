# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The AppArmor profile of the package: right by its parser, with the capabilities of the unit, and
wide enough for volleyd's work.

The last is tried in a virtual machine with a kernel of Debian (tests/vm), where AppArmor is in
force, whatever this machine's kernel has.
"""
import re
import sys

import pytest

from bare import deb, units
from netlab import ROOT, run

sys.path.insert(0, str(ROOT / "tests/vm"))
import fetch  # noqa: E402
import machine  # noqa: E402

KERNEL = "6.1"


@pytest.fixture(name="tree", scope="module")
def unpacked(tmp_path_factory):
    tree = tmp_path_factory.mktemp("package")
    run("dpkg-deb", "-x", deb("volley"), tree)
    return tree


def test_the_parser_takes_it(tree):
    run("apparmor_parser", "--skip-kernel-load", "--skip-cache", tree / "etc/apparmor.d/volleyd")


def test_its_capabilities_are_those_of_the_unit(tree):
    profile = (tree / "etc/apparmor.d/volleyd").read_text("ascii")
    unit = (units(tree) / "volleyd.service.d/user.conf").read_text("ascii")
    named = {f"CAP_{word.upper()}" for word in re.findall(r"(?m)^  capability (\w+),$", profile)}
    assert named == set(re.findall(r"CAP_\w+", unit))
    assert (re.search(r"(?m)^profile (\w+) ", profile)[1] ==
            re.search(r"(?m)^AppArmorProfile=-(\w+)$", unit)[1])


def test_it_lets_volleyd_write_where_the_unit_does(tree):
    profile = (tree / "etc/apparmor.d/volleyd").read_text("ascii")
    unit = (units(tree) / "volleyd.service").read_text("ascii")
    folders = re.findall(r"(?m)^(State|Logs|Runtime)Directory=(\w+)$", unit)
    assert len(folders) == 3
    for kind, name in folders:
        folder = {"State": "/var/lib", "Logs": "/var/log", "Runtime": "@{run}"}[kind]
        assert re.search(rf"(?m)^  (owner )?{folder}/{name}/\*\* rw", profile), folder


def test_volleyd_works_within_it(monkeypatch):
    """confined.py; nothing that volleyd asks for is refused, and what is not in the profile is."""
    fetch.fetch_or_exit([KERNEL], "test_apparmor")
    words = f"cd {ROOT} && PYTHONPATH=tests/net PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/deb/confined.py {deb('volley').resolve()}"
    monkeypatch.setattr(machine, "HOST_ROOT",
                        machine.HOST_ROOT.replace("chroot /new env",
                                                  "cd /new && mount --move . / && exec chroot . env"))
    said = machine.boot_here(KERNEL, f"{words} 2>&1", 400,
                             ("veth", "af_packet", "8021q", "xsk_diag"), memory_mb=3072, cpus=2)
    assert "confined: done" in said and "denied:" not in said, said
