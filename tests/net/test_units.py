# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Broker, runner and resolver in units of their own: systemd-socket-activate starts a process for each
connection, as systemd does, and volleyd has a user of its own and no capability.
"""
import itertools
import os
import pathlib
import re
import signal
import struct
import sys

import pytest

from dnstree import ALLOW, ask, query, records
from netlab import (BIN, ROOT, Answered, has_ended, open_to_all, process_of, program, run, status_of, texts,
                    wait_for, write_zone, zone)
from test_resolver_process import Loop, resolver, state
from upstreams import Netns, Scripted, address_answer

UPSTREAM = "127.0.0.9"
NOBODY = 65534
WWW = ["192.0.2.80", "192.0.2.81"]
NAMES = ("volley-broker", "volley-runner", "volley-resolver")
NO_RIGHT = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--bounding-set=-all",
            "--inh-caps=-all", "--no-new-privs"]


class Units:
    """The sockets of the units, in a folder of root. A system call that a unit does not allow ends its
    process."""

    def __init__(self, lab, folder, config):
        self.lab, self.folder, self.started = lab, folder, {}
        folder.mkdir()
        open_to_all(folder, 0o755)
        words = {"volley-broker": ("nobody", config), "volley-runner": ("nobody", config),
                 "volley-resolver": ("--unit", "nobody")}
        for name in NAMES:
            self.listen(name, sys.executable, ROOT / "tests/net/sandboxed.py",
                        ROOT / f"scripts/{name}@.service", BIN / name, *words[name])

    def listen(self, name, *command):
        path, made = self.folder / name, self.folder / f"{name}.made"
        with open(self.folder / f"{name}.log", "ab") as log:
            self.started[name] = self.lab.popen(
                "s", "systemd-socket-activate", "--accept", "--seqpacket", "-l", made, *command,
                stdout=log, stderr=log)
        wait_for("a socket", made.exists)
        made.chmod(0o600)
        os.chown(made, NOBODY, NOBODY)
        made.rename(path)  # volleyd may try it at any time

    def stop(self, name):
        listener = self.started.pop(name)
        listener.kill()
        listener.wait()

    def pids(self, name):
        """The processes of a unit."""
        path = pathlib.Path(f"/proc/{self.started[name].pid}/task/{self.started[name].pid}/children")
        return [int(pid) for pid in path.read_text("ascii").split() if not has_ended(int(pid))]

    def one(self, name):
        return wait_for(f"{name}", lambda: self.pids(name))[0]

    def kill(self, name):
        """Returns when the next one is there."""
        before = self.one(name)
        os.kill(before, signal.SIGKILL)
        wait_for(f"the next {name}", lambda: self.pids(name) and before not in self.pids(name))

    def log(self, name):
        return (self.folder / f"{name}.log").read_text("utf-8")


@pytest.fixture(name="units")
def make_units(lab, daemon):
    open_to_all(daemon.folder)
    made = Units(lab, daemon.folder / "units", daemon.path)
    daemon.env = {"VOLLEY_UNITS": str(made.folder)}
    yield made
    for name in list(made.started):
        made.stop(name)


@pytest.fixture(name="upstream")
def make_upstream(lab, tmp_path):
    upstream = Scripted(Netns(tmp_path, f"{lab.name}-s"), UPSTREAM,
                        lambda made, tcp: address_answer(made).to_wire())
    yield upstream
    upstream.close()


def start(daemon, **sections):
    daemon.configure(recursion={"allow": ALLOW, "forward": [UPSTREAM], "query-localhost": True},
                     **sections)
    open_to_all(daemon.folder)
    daemon.path.chmod(0o644)
    daemon.spawn(before=NO_RIGHT).wait_ready()
    return daemon


def assert_all_work(lab, daemon, names):
    """Driver, AF_XDP, upstream."""
    with Answered(daemon) as two:
        for _ in range(2):
            assert texts(lab.ask("www.example.com.")) == WWW
    assert two.by["driver"] >= 1
    assert records(ask(lab, query(next(names)))) == ["A 192.0.2.80"]


def test_each_in_its_unit(lab, daemon, units, upstream, tmp_path):
    """volleyd has no capability and starts no process; all works, also after each has died."""
    del upstream
    names, path = (f"n{n}.other.lab." for n in itertools.count()), write_zone(tmp_path / "z.zone")
    path.chmod(0o644)
    open_to_all(tmp_path)
    start(daemon, zones=[{**zone("z.test", path), "verify": ["true"]}, zone(
        "example.com", write_zone(tmp_path / "e.zone"))])
    assert int(status_of(daemon.process.pid)["CapPrm"], 16) == 0
    parent = process_of(daemon, "volley-parent")
    assert int(status_of(parent)["CapPrm"], 16) == 0
    for name in ("volley-broker", "volley-runner", "volley-starter"):
        assert not process_of(daemon, "volley-parent", name)
    assert daemon.interface()["port"] == "xsk" and not daemon.degraded()
    assert status_of(resolver(daemon))["PPid"] == str(units.one("volley-resolver"))
    for n in range(2):
        for name in NAMES:
            units.kill(name)
        write_zone(path, 2 + n, f"192.0.2.2{n}")
        path.chmod(0o644)
        wait_for("the next resolver", lambda: resolver(daemon))
        daemon.ctl("zone", "reload", "z.test")
        assert texts(lab.ask("www.z.test")) == [f"192.0.2.2{n}"]
        daemon.ctl("detach", "s0")
        assert program(lab) is None
        daemon.ctl("attach", "s0")
        with Answered(daemon) as two:
            for _ in range(2):
                assert texts(lab.ask("www.example.com")) == ["192.0.2.10"]
        assert two.by["driver"] >= 1
        assert records(ask(lab, query(next(names)))) == ["A 192.0.2.80"]
    assert daemon.log().count("volley-broker: its unit's process has ended: the next one starts") == 2
    pids = [units.one(name) for name in NAMES]
    assert daemon.stop() == 0
    wait_for("they have ended", lambda: all(map(has_ended, pids)))
    assert program(lab) is None
    assert daemon.log().count("has ended: the next one starts") == 4


def test_they_end_with_volleyd(lab, daemon, units, upstream):
    del upstream
    start(daemon)
    pids = [*(units.one(name) for name in NAMES), resolver(daemon)]
    daemon.kill()
    wait_for("they have ended", lambda: all(map(has_ended, pids)))
    start(daemon)  # nothing holds the lock of the interface
    assert daemon.interface()["origin"] == "adopted"
    assert daemon.stop() == 0


def test_the_resolver_is_killed_in_a_loop(lab, daemon, units, upstream):
    """Killed itself, or its starter."""
    del upstream
    start(daemon)
    hits = Loop(lab, itertools.repeat("www.example.com."))
    for n in range(10):
        pid = resolver(daemon)
        os.kill(pid if n % 2 else units.one("volley-resolver"), signal.SIGKILL)
        wait_for("the next one", lambda pid=pid: resolver(daemon) not in (0, pid))
        assert records(ask(lab, query(f"after{n}.lab."))) == ["A 192.0.2.80"]
    assert all(one.rcode() == 0 and one.answer for one in hits.stop())
    assert state(daemon)["process_restarts"] == 10
    assert len(units.pids("volley-resolver")) == 1, "the ones before have ended"
    assert daemon.stop() == 0


def test_no_unit_is_there(lab, daemon, units, upstream):
    """volleyd answers from the cache in the driver, fails what needs a unit at once, and ends."""
    del upstream
    start(daemon)
    assert texts(lab.ask("www.example.com.")) == WWW
    for name in NAMES:
        units.stop(name)  # and with it its processes
    wait_for("a sentence", lambda: "volley-broker: cannot be started: Connection refused" in daemon.log())
    with Answered(daemon) as one:
        assert texts(lab.ask("www.example.com.")) == WWW
    assert one.by == {"driver": 1}
    assert ask(lab, query("www.other.lab.")).rcode() == 2
    refused = daemon.ctl("cache", "resize", "32M", check=False)
    assert refused.returncode and "the broker has ended" in refused.stdout + refused.stderr
    daemon.stop()


# What a unit's process of another build says (base/activation.h).
REFUSES = """
import socket, struct
with socket.socket(fileno=3) as one:
    one.recv(100)
    one.send(struct.pack("I128s", 1, b"it is 9.9, and volleyd is another: restart volleyd"))
"""


def test_another_build(lab, daemon, units, upstream):
    """After an upgrade without a restart of volleyd: the log says it, and the driver answers on."""
    del upstream
    start(daemon)
    assert texts(lab.ask("www.example.com.")) == WWW
    units.stop("volley-broker")
    wait_for("another problem", lambda: "volley-broker: cannot be started: Connection refused"
             in daemon.log())
    units.listen("volley-broker", sys.executable, "-c", REFUSES)
    wait_for("a sentence", lambda: re.search(
        "volley-broker: it is 9.9, and volleyd is another: restart volleyd", daemon.log()))
    with Answered(daemon) as one:
        assert texts(lab.ask("www.example.com.")) == WWW
    assert one.by == {"driver": 1}
    assert daemon.log().count("restart volleyd") == 1, "it is tried again, and told once"
    refused = daemon.ctl("cache", "resize", "32M", check=False)
    assert refused.returncode and "the broker has ended" in refused.stdout + refused.stderr
    units.stop("volley-broker")
    units.listen("volley-broker", BIN / "volley-broker", "nobody", daemon.path)
    wait_for("a broker", lambda: daemon.ctl("cache", "resize", "32M", check=False).returncode == 0)
    wait_for("all is well", lambda: not daemon.degraded())
    assert daemon.stop() == 0


SEND = """
import os, socket, sys
where, user, octets, n_fds = sys.argv[1:]
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as one:
    os.setgroups([])
    os.setresgid(int(user), int(user), int(user))
    os.setresuid(int(user), int(user), int(user))
    one.connect(where)
    socket.send_fds(one, [bytes.fromhex(octets)], [0] * int(n_fds))
    try:
        one.recv(200)
    except ConnectionResetError:
        pass
"""


@pytest.mark.parametrize("user, octets, said", [
    (12345, struct.pack("32si", b"9.9", 1), "Operation not permitted"),
    (NOBODY, b"nonsense", "Protocol error"),
    (NOBODY, struct.pack("32si", b"9.9", 1), "and volleyd is 9.9: restart volleyd")],
    ids=["user", "nonsense", "build"])
def test_strangers(units, user, octets, said):
    """A process of another user is told nothing; nor is one that is not of this build."""
    for name, n_fds in (("volley-broker", 2), ("volley-runner", 1)):
        os.chown(units.folder / name, user, user)
        run("timeout", "20", sys.executable, "-c", SEND, units.folder / name, user, octets.hex(), n_fds)
        wait_for(f"{name} ends", lambda name=name: not units.pids(name))
        assert said in units.log(name)
