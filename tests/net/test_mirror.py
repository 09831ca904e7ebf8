# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/mirror.sh: which Debian mirror this machine's apt uses, before "apt-get update" as well; and
what tests/vm/fetch.py does where that mirror is silent."""
import os
import platform
import subprocess
import sys

import pytest

from netlab import ROOT

OWN = platform.freedesktop_os_release()["VERSION_CODENAME"]
DOCKER = f"deb http://docker.example/linux/debian {OWN} stable"
ANSWERS = {
    "a mirror": (
        [f"deb http://a.example/debian {OWN} main", f"deb http://a.example/debian {OWN}-updates main"],
        "http://a.example/debian"),
    "its name ends in another word": (
        [f"deb http://a.example/proxied/d12/ {OWN} main"], "http://a.example/proxied/d12"),
    "behind the archive of others": (
        [DOCKER, f"deb [arch=amd64] http://a.example/debian {OWN} contrib main"],
        "http://a.example/debian"),
    "the release has its other name": (
        [DOCKER, "deb http://other.example/apt stable main", "deb http://a.example/debian stable main"],
        "http://a.example/debian"),
    "a list of mirrors": (
        [f"deb mirror+file:LIST {OWN} main"], "http://first.example/debian"),
    "that of archives of others": ([DOCKER], None),
    "none": ([], None),
}


@pytest.fixture(name="apt")
def make_apt(tmp_path):
    """apt with these sources, and nothing that it has fetched."""
    def make(lines):
        sources, mirrors = tmp_path / "sources.list", tmp_path / "mirrors"
        sources.write_text("\n".join(lines).replace("LIST", str(mirrors)) + "\n", "ascii")
        mirrors.write_text("http://first.example/debian/\tpriority:1\nhttp://b.example/debian\n", "ascii")
        config = tmp_path / "apt.conf"
        (tmp_path / "lists/partial").mkdir(parents=True)
        config.write_text(f'Dir::Etc::SourceList "{sources}";\nDir::Etc::SourceParts "/dev/null";\n'
                          f'Dir::State::Lists "{tmp_path}/lists";\n', "ascii")
        return {name: value for name, value in os.environ.items() if not name.startswith("MIRROR")} | {
            "APT_CONFIG": str(config)}
    return make


def mirror(env, *words):
    return subprocess.run([ROOT / "scripts/mirror.sh", *words], env=env, text=True, timeout=60,
                          capture_output=True, check=False)


@pytest.mark.parametrize("lines, uri", ANSWERS.values(), ids=ANSWERS)
def test_the_mirror_of_apt(apt, lines, uri):
    said = mirror(apt(lines))
    if uri:
        assert (said.returncode, said.stdout) == (0, uri + "\n")
    else:
        assert said.returncode == 1 and not said.stdout
        assert "name one in MIRROR=URI" in said.stderr


def test_the_sources_of_a_suite(apt):
    lines = [f"deb http://a.example/debian {OWN} main",
             f"deb http://s.example/debian-security {OWN}-security main"]
    env = apt(lines)
    assert mirror(env, "trixie").stdout.split("\n") == [
        "deb http://a.example/debian trixie main", "deb http://a.example/debian trixie-updates main",
        "deb http://s.example/debian-security trixie-security main", ""]
    assert mirror(env, "sid").stdout == "deb http://a.example/debian sid main\n"
    own = env | {"MIRROR": "http://c.example/debian/"}
    assert mirror(own, "trixie").stdout.endswith(
        "deb http://c.example/debian-security trixie-security main\n")


def test_lists_that_did_not_come_are_not_fresh(tmp_path):
    """For half an hour the lists of packages are not asked for again, but only if they have come."""
    config = tmp_path / "apt.conf"
    config.write_text('Acquire::Retries::Delay "false";\n', "ascii")
    env = os.environ | {"VOLLEY_VM": str(tmp_path), "APT_CONFIG": str(config),
                        "PYTHONPATH": str(ROOT / "tests/vm"), "MIRROR": "http://127.0.0.1:1/debian"}
    said = subprocess.run([sys.executable, "-c", 'import fetch; fetch.apt_update(["bookworm"], "amd64")'],
                          env=env, text=True, timeout=60, capture_output=True, check=False)
    assert said.returncode and "CalledProcessError" in said.stderr, said
    assert not (tmp_path / "apt/updated").exists()
