# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makefile and scripts on hosts that are set up in another way."""
import os
import re
import shutil
import subprocess

import pytest

from netlab import LAB, ROOT

ENV = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def make(folder, *words, **kwargs):
    return subprocess.run(["make", "-C", str(folder), *words], env=ENV, text=True, timeout=120,
                          capture_output=True, check=False, **kwargs)


def test_a_path_with_a_space(tmp_path):
    """make says so before it installs packages and compiles."""
    folder = tmp_path / "my volley"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(ROOT / "scripts/deps.sh", folder / "scripts")
    said = make(folder, "-n", "deps")
    assert said.returncode == 2 and "has a space" in said.stderr and "deps.sh" not in said.stdout
    folder.rename(tmp_path / "my_volley")
    said = make(tmp_path / "my_volley", "-n", "deps")
    assert said.returncode == 0 and "scripts/deps.sh" in said.stdout


def test_a_umask_that_hides_files(tmp_path):
    """What is installed can be read by everybody: the units, too."""
    said = make(ROOT, "-o", "all", "install", f"DESTDIR={tmp_path}/to", "PREFIX=/usr", umask=0o077)
    assert said.returncode == 0, said.stderr
    found = sorted((tmp_path / "to").rglob("*"))
    assert any(path.name == "volleyd.service" for path in found)
    assert [str(path) for path in found if path.stat().st_mode & 0o044 != 0o044] == []
    unit = (tmp_path / "to/usr/lib/systemd/system/volley-anycast.service").read_text("utf-8")
    assert "@PREFIX@" not in unit and "/usr/" in unit


@pytest.mark.parametrize("word", ["clang", "llvm"])
def test_another_clang(word):
    """The package can be built with each compiler that scripts/deps.sh takes for enough."""
    deps, control = (ROOT / "scripts/deps.sh").read_text(), (ROOT / "scripts/debian/control").read_text()
    names = re.search(rf"^core .*\| ({word}-\S+)$", deps, re.M)[1].split("/")
    line = re.search(rf"^ +({word}-.*),$", control, re.M)[1]
    assert line.split(" | ") == [f"{name}:native" for name in names] and len(names) > 2


def test_a_compiler_without_its_own_strip():
    """Of LLVM 14, 16 and others, strip is in a package of its own, and one of them will do."""
    said = make(ROOT, "-pn", "help", "CLANG=clang-13")
    strip = re.search(r"^LLVM_STRIP := (.*)$", said.stdout, re.M)[1]
    assert shutil.which(strip)


def test_a_kernel_without_ipv6():
    said = subprocess.run(["unshare", "--mount", "sh", "-ec", 'mount -t tmpfs none /proc/sys/net/ipv6; exec "$@"',
                           "sh", LAB, "up", f"volley-test-{os.getpid()}-odd"], text=True, timeout=60,
                          capture_output=True, check=False)
    assert (said.returncode, said.stderr) == (
        1, "lab: this kernel was started without IPv6 (ipv6.disable=1), and the lab needs it\n")
