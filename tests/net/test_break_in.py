# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Somebody runs code in a thread of a volleyd that serves, or of its resolver: what he gets.

A library (preload/breakin.c) makes threads of each kind try what a break-in would try, in the
processes of the unit's user with the unit's capabilities. MAY lists what is not refused, and why.
"""
import ctypes
import os
import re
import signal
import struct
from pathlib import Path

import pytest

from netlab import (BIN, CLIENT4, ROOT, V4, Answered, Daemon, open_to_all, run, texts, wait_for,
                    write_zone, zone)
from secondaries import certificate

SIGNAL = signal.SIGRTMIN + 7
NOBODY = 65534
REFUSED = {"EPERM", "EACCES", "ENOSYS"}

WRITES_FILES = {"write a file outside", "remove a file outside"}
# Where the kernel has no Landlock, threads that open files may also do these.
OUTSIDE = {"read a file outside", *WRITES_FILES}
WITHOUT_LANDLOCK = {
    **dict.fromkeys(("control", "watcher", "transfer", "files", "reporter"),
                    {*OUTSIDE, "write another process's memory"}),
    "resolver": {*OUTSIDE, "connect by TCP"},
}
PLACES = {"processors of another process", "priority of another process"}
CONNECTS = {"connect by TCP", "connect by TCP Fast Open"}

CONTROLS = {*PLACES, *CONNECTS, "connect by UDP", "netlink socket", "make code"}

# Each kind: its threads, and the attempts that succeed. The watcher is of the kind control.
MAY = {
    "control": ("volleyd", CONTROLS),
    "watcher": ("volley-querier", CONTROLS),
    "worker": (r"volley-w\d+", set()),
    "listener": (r"volley-tls\d+|volley-metrics", set()),
    "transfer": ("volley-xfr", {*CONNECTS, "connect by UDP"}),
    "files": (r"volley-load\d+|background", set()),
    "reporter": ("volley-dnstap", CONNECTS),
    "quiet": ("volley-tap|keeper or heartbeat", set()),
    # By TCP it may only go to ports of name servers.
    "resolver": (r"volley-resolver|volley-r\d+", {"connect by TCP Fast Open", "connect by UDP"}),
}


@pytest.fixture(name="elsewhere")
def make_elsewhere(tmp_path):
    """A folder that no configuration names."""
    folder = tmp_path / "elsewhere"
    (folder / "open").mkdir(parents=True)
    (folder / "open").chmod(0o777)
    (folder / "secret").write_text("secret", "ascii")
    (folder / "secret").chmod(0o600)
    (folder / "foreign").write_text("foreign", "ascii")
    return folder


@pytest.fixture(name="taken")
def make_taken(lab, tmp_path, elsewhere):
    """A daemon with the hook in its processes."""
    library, folder = tmp_path / "breakin.so", tmp_path / "a"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/breakin.c", "-ldl")
    folder.mkdir()
    open_to_all(folder)
    lab.ip("s", "link", "set", "lo", "up")
    daemon = Daemon(lab, folder)
    daemon.env = {"LD_PRELOAD": str(library), "BREAKIN_FOLDER": str(elsewhere)}
    yield daemon
    assert daemon.clean_up()


def start(daemon, caps, listen=V4, **sections):
    """By a user who is not root, with these capabilities alone."""
    folder, caps = daemon.folder, ",".join(["-all", *(f"+{cap}" for cap in caps)])
    daemon.configure(
        **{"server": {"listen": [listen], "workers": 2}, **sections},
        recursion={"allow": [CLIENT4], "forward": ["127.0.0.9"], "query-localhost": True},
        zones=[zone("z.test", write_zone(folder / "z.zone"))])
    daemon.path.chmod(0o644)
    daemon.spawn(before=["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                         f"--bounding-set={caps}", f"--inh-caps={caps}", f"--ambient-caps={caps}"])
    daemon.wait_ready()
    return daemon.process.pid, daemon.status()["recursion"]["process"]


def caps_of_the_unit():
    unit = (ROOT / "scripts/volleyd.service").read_text("ascii")
    names = " ".join(re.findall("^CapabilityBoundingSet=(.*)$", unit, re.M)).split()
    return [name.removeprefix("CAP_").lower() for name in names]


def start_with_all(daemon):
    """As the unit does, with threads of each kind."""
    folder = daemon.folder
    (folder / "store").mkdir()
    (folder / "store").chmod(0o777)
    tls = certificate(folder)["server"]
    for key in ("certificate", "key"):
        Path(tls[key]).chmod(0o644)
    return start(daemon, caps_of_the_unit(), metrics={"listen": f"{V4}@9253"},
                 dnstap={"file": str(folder / "tap")},
                 server={"listen": [V4], "workers": 2, "storage": str(folder / "store"),
                         "tls": {**tls, "listen": [V4]}})


def signal_thread(pid, tid, value):
    """rt_tgsigqueueinfo(2): a struct siginfo with a value."""
    number = {"x86_64": 297, "aarch64": 240}[os.uname().machine]
    info = struct.pack("6iq", SIGNAL, 0, -1, 0, os.getpid(), 0, value).ljust(128, b"\0")
    assert not ctypes.CDLL(None).syscall(number, pid, tid, SIGNAL, info)


def break_into(daemon, pid, tid, victim):
    """{attempt: (result, the number of the system call that the filter refused)}"""
    signal_thread(pid, tid, victim)
    wait_for(f"the attempts of {tid}", lambda: f"BREAK-IN {tid} end\n" in daemon.log())
    said = re.findall(rf"^BREAK-IN {tid} (.+): (\w+)(?: filter (\d+))?$", daemon.log(), re.M)
    return {attempt: (result, int(number or -1)) for attempt, result, number in said}


def threads(pid):
    """(thread, kind): two of a kind are enough."""
    left = {kind: 2 for kind in MAY}
    for tid in map(int, os.listdir(f"/proc/{pid}/task")):
        name = Path(f"/proc/{pid}/task/{tid}/comm").read_text("ascii").strip()
        if name == "volleyd" and tid != pid:
            name = "keeper or heartbeat"
        (kind,) = [kind for kind, (names, _) in MAY.items() if re.fullmatch(names, name)]
        left[kind] -= 1
        if left[kind] >= 0:
            yield tid, kind


def test_what_a_break_in_gets(lab, taken, elsewhere):
    server, resolver = start_with_all(taken)
    with Answered(taken) as two:
        for _ in range(2):
            assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]
    assert two.by == {"worker": 1, "driver": 1} and taken.interface()["port"] == "xsk"
    assert not taken.degraded()
    seen, counted = set(), set()
    is_confined = "Landlock: " not in taken.log()
    for pid, victim in ((server, resolver), (resolver, server)):
        for tid, kind in threads(pid):
            (elsewhere / "open/theirs").touch()
            said = break_into(taken, pid, tid, victim)
            gets = {attempt for attempt, (result, _) in said.items() if result not in REFUSED}
            more = set() if is_confined else WITHOUT_LANDLOCK.get(kind, set())
            assert gets - more == MAY[kind][1], (kind, said)
            assert len(said) == 46
            filtered = {number for _, number in said.values() if number >= 0}
            assert sum(number >= 0 for _, number in said.values()) >= 20, (kind, said)
            seen.add(kind)
            counted |= {("control" if kind == "watcher" else kind, number) for number in filtered}
    assert seen == set(MAY)

    def all_are_told():
        return len(re.findall("a thread of kind .* has asked for the system call",
                              taken.log())) == len(counted)
    wait_for("each refused call of each kind is counted and logged once", all_are_told)
    assert "sandbox: a thread of kind" in taken.degraded()
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]


def test_no_capability_keeps_two_processes_apart(taken):
    """Both are the same user's, so only volleyd itself can keep its memory and its files closed."""
    server, resolver = start(taken, [], f"{V4}@5300", interfaces=None)
    for tid, kind in threads(resolver):
        said = break_into(taken, resolver, tid, server)
        assert said["write another process's memory"][0] == "EACCES", kind
        assert said["open another process's file"][0] == "EACCES", kind


@pytest.mark.parametrize("program", ["volleyd", "volley-resolver", "volleyctl"])
def test_no_program_has_the_hook(program):
    assert b"BREAK-IN" not in (BIN / program).read_bytes()
