# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""README.md walked as a new user would, by the commands that it shows: from an empty Debian to
an answer.

One Debian builds the packages; another one gets them and nothing else, and is started in a virtual
machine, where systemd starts volleyd. PLAN says of each command where it is run, or why it is not:
a command that is new in README.md, or gone, fails.
"""
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess

import pytest

import booted
import readme
from bare import Debian
from netlab import ROOT, Lab, run, wait_for

BUILDER, HOST = "builder", "host"
LONG = "takes long: it is what a developer calls"
IMAGE = "tests/image"
UNIT = "tests/deb/unit.sh"
CARD = "tests/net/test_ways_in.py and tests/vm"

PLAN = {
    "make demo": LONG,
    "make test": LONG,
    "make deps-build && make run CONFIG=my.yaml": BUILDER,
    "dig @127.0.0.1 -p 5300 www.example.com A": BUILDER,
    "build/bin/volleyctl -s control.sock stats": BUILDER,
    "build/bin/volleyctl -s control.sock top": BUILDER,
    "build/bin/volleyctl -s control.sock cache top": BUILDER,
    "build/bin/volleyctl -s control.sock stop": BUILDER,
    "make deps-build && make install": BUILDER,
    "editor /etc/volley/volley.yaml": HOST,
    "volleyd --check -c /etc/volley/volley.yaml": HOST,
    "volleyctl doctor": HOST,
    "systemctl daemon-reload": HOST,
    "systemctl enable --now volleyd": HOST,
    "volleyctl status": HOST,
    "make install": BUILDER,
    "volleyctl stop --keep && systemctl start volleyd": HOST,
    "make deps-build deps-deb && make deb": BUILDER,
    "apt-get install ./build/deb/volley_*.deb": "before the machine is started",
    "cp /usr/share/doc/volley/examples/example.com.zone /etc/volley/": HOST,
    "systemctl reload volleyd": HOST,
    "dig @127.0.0.1 www.example.com A": HOST,
    "mkdir -p /etc/systemd/system/volleyd.service.d": UNIT,
    "ln -s /dev/null /etc/systemd/system/volleyd.service.d/zz-units.conf": UNIT,
    "systemctl daemon-reload && systemctl restart volleyd": UNIT,
    "make image": IMAGE,
    "make test-image": IMAGE,
    "podman load -i build/image/volley-0.1.0.oci.tar": IMAGE,
    "podman run --network host --cap-drop ALL --cap-add "
    "NET_ADMIN,NET_RAW,BPF,PERFMON,NET_BIND_SERVICE,IPC_LOCK,"
    "DAC_READ_SEARCH -v /etc/volley:/etc/volley:ro -v volley-state:/var/lib/volley "
    "localhost/volley:0.1.0": IMAGE,
    "volleyd -c /etc/volley/volley.yaml": CARD,
    "ip link set dev eth0 xdp obj /usr/local/lib/volley/volley.bpf.o sec xdp": CARD,
    "xdp-loader load eth0 /usr/local/lib/volley/volley.bpf.o": CARD,
    "volleyctl zone list --state failed": HOST,
    "volleyctl stats": HOST,
    "journalctl -u volleyd": HOST,
    "make check": LONG,
    "make test-diff FULL=1": LONG,
    "make verify": LONG,
    "make test-vm": LONG,
    "make bench": LONG,
    'make bench BENCH_ARGS="--parts random"': LONG,
    "scripts/loadtest --steps 1000,10000,flat": LONG,
}
COMMANDS = readme.read()
PACKAGES_FROM = "make deps-build deps-deb && make deb"


def test_each_command_has_a_plan():
    assert set(COMMANDS) == set(PLAN)


def test_each_target_is_there():
    """Also of the commands that are not run, and of those in its sentences."""
    targets = set(re.findall(r"(?m)^([a-z-]+):",
                             (ROOT / "Makefile").read_text("utf-8"))) | {"deps-build", "deps-deb",
                                                                         "deps-run", "deps-test"}
    lines = [command.split() for command in " && ".join(COMMANDS).split(" && ")] + readme.in_prose()
    asked = {word for line in lines if line[0] == "make" for word in line[1:]
             if re.fullmatch(r"[a-z-]+", word)}
    assert len(asked) > 10 and asked <= targets


def test_each_command_of_volleyctl_is_there():
    names = set(re.findall(r"(?m)^  ([a-z]+)", run(ROOT / "build/bin/volleyctl", "--help").stdout))
    asked = {line[1] for line in readme.in_prose() if line[0] == "volleyctl" and line[1].isalpha()}
    assert len(asked) > 8 and asked <= names


# --- The host that builds -------------------------------------------------------------------------

class Builder(Debian):
    """
    With the sources, and a network of its own for what is started there. What was compiled before
    by this machine is taken from its ccache, for which the sources are at the same place.
    """

    def __init__(self, bare, root):
        super().__init__(bare, root)
        self.home = self.root / str(ROOT)[1:]
        run("git", "clone", "--quiet", ROOT, self.home)
        self.lab = Lab()
        self.lab.ip("s", "link", "set", "lo", "up")

    def __enter__(self):
        known = run("ccache", "-k", "cache_dir", check=False) if shutil.which("ccache") else None
        if known and os.path.isdir(known.stdout.strip()):
            (self.root / "root/.cache/ccache").mkdir(parents=True)
            self.mounts += ((known.stdout.strip(), "/root/.cache/ccache"),)
        return super().__enter__()

    def __exit__(self, *failed):
        self.lab.close()
        super().__exit__(*failed)

    def shell(self, command):
        """To build and to install is for this machine's network, where the mirror is."""
        script = f"cd {ROOT}; PATH=/usr/lib/ccache:$PATH; export HOME=/root; {command}"
        inside = [] if command.startswith("make ") and "run" not in command else ["nsenter",
                                                                                  f"--net=/run/netns/{self.lab.name}-s"]
        return [*inside, *self.words("sh", "-ec", script)]

    def walk(self, command):
        """As long as compiling takes on a machine that has other work, too."""
        return run(*self.shell(command), timeout=3600).stdout

    @contextlib.contextmanager
    def in_background(self, command, is_ready):
        *before, command = command.split(" && ")
        for one in before:
            self.walk(one)
        process = subprocess.Popen([str(word) for word in self.shell(command)],
                                   start_new_session=True)
        try:
            wait_for(f"{command}: ready",
                     lambda: process.poll() is not None
                     or run(*self.shell(is_ready), check=False).returncode == 0, 3600)
            assert process.poll() is None
            yield
            assert process.wait(30) == 0
        finally:
            # its shell, make and volleyd, where something failed
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def builders():
    return [command for command in COMMANDS if PLAN[command] == BUILDER]


@pytest.fixture(name="builder", scope="module")
def make_builder(bare_debian, tmp_path_factory):
    with Builder(bare_debian, tmp_path_factory.mktemp("builder") / "root") as builder:
        builder.run("apt-get", "-q", "update")
        for words in ("apt-get install make git", "apt-get install bind9-dnsutils"):
            assert f"`{words}`" in (ROOT / "README.md").read_text("utf-8")
            builder.run(*words.split())
        yield builder


@pytest.fixture(name="packages", scope="module")
def walk_builder(builder):
    """The folder with what it has built; all its commands have been run by then."""
    first, *others = builders()
    assert "make run" in first
    (builder.home / "my.yaml").write_text(readme.configuration("# my.yaml"), "utf-8")
    stop = next(command for command in others if command.endswith(" stop"))
    live = others[:others.index(stop)]
    with builder.in_background(first, "build/bin/volleyctl -s control.sock status | grep -q 'ready: *yes'"):
        for command in live:
            said = builder.walk(command + (" --once" if command.endswith("sock top") else ""))
            assert command.split()[0] != "dig" or "192.0.2.80" in said, said
        builder.walk(stop)
    for command in others[others.index(stop) + 1:]:
        builder.walk(command)
    return builder.home / "build/deb"


def test_what_is_built_there(builder, packages):
    assert (len(list(packages.glob("volley_*.deb"))) ==
            len(list(packages.glob("volley-doc_*.deb"))) == 1)
    assert "volleyd" in builder.run("/usr/local/sbin/volleyd", "--help").stdout
    builder.run("test", "-e", "/usr/local/lib/systemd/system/volleyd.service")


# --- The host that only installs ------------------------------------------------------------------

# `editor` there: puts the words of the comment at the end of the file; where README gives none,
# nothing.
EDITOR = '#!/bin/sh\ncase $WORDS in *:*) echo "$WORDS" >>"$1" ;; esac\n'

HEAD = """
set -e
export SYSTEMD_PAGER=
walk() {
	echo "+ $1"
	WORDS=$2 sh -ec "$1"
}
"""


def script():
    """
    What the machine does: README's commands for the package first, then those for any service, then
    what the unit promises.
    """
    at = COMMANDS.index(PACKAGES_FROM)
    lines = [f"walk {shlex.quote(command)} {shlex.quote(command.comment)}\n"
             for command in COMMANDS[at:] + COMMANDS[:at]
             if PLAN[command] == HOST]
    return HEAD + "".join(lines) + (ROOT / "tests/deb/unit.sh").read_text("ascii")


@pytest.fixture(name="host", scope="module")
def make_host(bare_debian, packages, tmp_path_factory):
    with Debian(bare_debian, tmp_path_factory.mktemp("host") / "root") as host:
        folder = host.root / "root/build/deb"
        shutil.copytree(packages, folder)
        host.run("apt-get", "-q", "update")
        install = next(command for command in COMMANDS if command.startswith("apt-get install ./"))
        host.run("sh", "-ec", f"cd /root; {install}")
        host.run("apt-get", "install", "bind9-dnsutils", "apparmor", "fstrm-bin", "iproute2",
                 "logrotate", "systemd-sysv")
        editor = host.root / "usr/local/bin/editor"
        editor.write_text(EDITOR, "ascii")
        editor.chmod(0o755)
        yield host


def test_a_host_with_systemd(host):
    said = booted.boot(host.root, script(), 1500)
    print(said)
    assert re.search(r"(?m)^www\.example\.com\.\s+\d+\s+IN\s+A\s+192\.0\.2\.80$", said), said
    assert "unit: done" in said


def test_what_autopkgtest_runs(host):
    """scripts/debian/tests, with loopback alone, and without a right."""
    shutil.copy(ROOT / "scripts/debian/tests/answers", host.root / "usr/local/bin/answers")
    lab = Lab()
    try:
        lab.ip("s", "link", "set", "lo", "up")
        host.run("install", "-d", "-o", "nobody", "/tmp/answers")
        run("nsenter", f"--net=/run/netns/{lab.name}-s", *host.words(
            "AUTOPKGTEST_TMP=/tmp/answers", "setpriv", "--reuid=nobody", "--regid=nogroup",
                                                                     "--clear-groups",
                                                                     "--inh-caps=-all", "answers"),
            timeout=120)
    finally:
        lab.close()
