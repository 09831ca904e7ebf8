# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The AppArmor profiles of the package: right by their parser, with the capabilities of the units, and
wide enough for volleyd's work in one unit; unit.sh tries those of units of their own.

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


def profiles(tree):
    """Each profile's lines."""
    text = (tree / "etc/apparmor.d/volleyd").read_text("ascii")
    return dict(re.findall(r"(?ms)^profile (\S+) flags=\S+ \{$(.*?)^\}$", text))


# A profile, and the files of its unit in their order.
UNITS = {"volleyd": ("volleyd.service", "volleyd.service.d/user.conf"),
         "volley-server": ("volleyd.service", "volleyd.service.d/user.conf",
                           "volleyd.service.d/zz-units.conf"),
         **{f"volley-{name}": (f"volley-{name}@.service",) for name in ("broker", "runner", "resolver")}}


def last_of(key, tree, paths):
    """The words of a key, as systemd reads them: an empty value forgets those before."""
    found = set()
    for path in paths:
        for value in re.findall(rf"(?m)^{key}=(.*)$", (units(tree) / path).read_text("ascii")):
            found = found | set(value.split()) if value else set()
    return found


def test_each_profile_has_a_unit(tree):
    assert set(profiles(tree)) == set(UNITS)
    for name, paths in UNITS.items():
        text = (units(tree) / paths[-1]).read_text("ascii")
        assert re.findall(r"(?m)^AppArmorProfile=(.*)$", text) == [f"-{name}"]


@pytest.mark.parametrize("name", UNITS)
def test_its_capabilities_are_those_of_the_unit(tree, name):
    named = {f"CAP_{word.upper()}"
             for word in re.findall(r"(?m)^  capability (\w+),$", profiles(tree)[name])}
    for key in ("AmbientCapabilities", "CapabilityBoundingSet"):
        assert named == last_of(key, tree, UNITS[name])


@pytest.mark.parametrize("name", ["volley-server", "volley-broker", "volley-resolver"])
def test_it_lets_no_other_program_start(tree, name):
    executed = re.findall(r"(?m)^  (\S+) \w*x\w*,$", profiles(tree)[name])
    assert executed == (["/usr/libexec/volley/volley-resolver"] if name == "volley-resolver" else [])


@pytest.mark.parametrize("name", ["volleyd", "volley-server"])
def test_it_lets_volleyd_write_where_the_unit_does(tree, name):
    unit = (units(tree) / "volleyd.service").read_text("ascii")
    folders = re.findall(r"(?m)^(State|Logs|Runtime)Directory=(\w+)$", unit)
    assert len(folders) == 3
    for kind, folder in folders:
        above = {"State": "/var/lib", "Logs": "/var/log", "Runtime": "@{run}"}[kind]
        assert re.search(rf"(?m)^  (owner )?{above}/{folder}/\*\* rw", profiles(tree)[name]), folder


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
