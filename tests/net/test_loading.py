# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones load in the background: the reports meanwhile, the commands that wait, and the end of a
load.

A load stops in its zones[].verify, a command that waits until the test lets it go on. So these
tests see one event after the other and measure no time.
"""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import dns.message
import dns.rcode
import pytest

from netlab import BIN, ENV, V4, V6, Answered, has_ended, iface, texts, wait_for, write_zone, zone

NAME = "www.z.test"


class Gate:
    """
    A command for zones[].verify that notes that it runs, and waits for its exit status, each run at
    a FIFO of its own.
    """

    def __init__(self, folder, name="gate"):
        self.seen, self.path = (folder / (name + end) for end in (".seen", ""))
        self.seen.touch()
        self.path.write_text(f"#!/bin/sh\nmkfifo {self.path}.$$\necho $VOLLEY_SERIAL $$ "
                             f">>{self.seen}\n"
                             f"read status said <{self.path}.$$\n"
                             'test -z "$said" || echo "$said" >&2\nexit $status\n',
                             encoding="ascii")
        self.path.chmod(0o755)

    def serials(self):
        return [int(line.split()[0]) for line in self.seen.read_text("ascii").splitlines()]

    def pids(self):
        return [int(line.split()[1]) for line in self.seen.read_text("ascii").splitlines()]

    def wait(self, n):
        """Until it has been run N times, the last one still going on."""
        wait_for(f"run {n} of {self.path.name}", lambda: len(self.serials()) >= n, 30)
        assert len(self.serials()) == n

    def waiting(self):
        """The FIFOs of the runs that go on and were not let go, the oldest first."""
        fifos = [(pid, self.path.with_name(f"{self.path.name}.{pid}")) for pid in self.pids()]
        return [fifo for pid, fifo in fifos if fifo.exists() and os.path.exists(f"/proc/{pid}")]

    def open(self, status=0, said=""):
        """Lets the command that waits, or the next one, go."""
        wait_for(f"a run of {self.path.name}", self.waiting, 30)
        fifo = self.waiting()[0]
        fifo.write_text(f"{status} {said}\n", encoding="ascii")
        fifo.unlink()


def gated(name, path, gate):
    return {**zone(name, path), "verify": [str(gate.path)], "verify-timeout": 60}


def status_of(daemon, name="z.test"):
    (status,) = daemon.json("zone", "status", name)["zones"]
    return status


@contextlib.contextmanager
def asking(daemon, *words, **kwargs):
    """volleyctl, as a process that is waited for by who asks. Shells start what is in the
    background with SIGINT ignored; a user's volleyctl is in the foreground."""
    process = subprocess.Popen([str(BIN / "volleyctl"), "-s", str(daemon.socket), *words], env=ENV,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                               **kwargs)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ends(process, status=0):
    """Its last message on standard error."""
    said = process.communicate(timeout=30)[1]
    assert process.returncode == status, said
    return said


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path)


@pytest.fixture
def served(lab, daemon, gate, tmp_path):
    """z.test behind the gate, version 1, beside example.com."""
    path = write_zone(tmp_path / "z.zone")
    daemon.configure(zones=[gated("z.test", path, gate), zone("example.com")]).spawn()
    gate.wait(1)
    gate.open()
    daemon.wait_ready()
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    return path


def test_the_start_is_told(lab, daemon, gate, tmp_path):
    """The control socket answers, systemd gets the progress, and no query is answered."""
    path = write_zone(tmp_path / "z.zone", 7)
    heard_at = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(heard_at)
        heard.settimeout(30)
        daemon.configure(zones=[gated("z.test", path, gate), zone("example.com")])
        daemon.spawn(env={"NOTIFY_SOCKET": heard_at})
        gate.wait(1)
        status = daemon.status()
        assert status["state"] == "starting" and status["ready"] is False
        assert status["zones"]["loading"] == 2 and "z.test." in status["progress"]
        listed = {z["name"]: z for z in daemon.json("zone", "list")["zones"]}
        assert listed["z.test."]["state"] == "loading" and not listed["z.test."]["serves"]
        assert listed["z.test."]["stage"] == "verifying"
        assert "verifying" in daemon.ctl("zone", "list").stdout
        for words in (("stats",), ("port", "status"), ("attach", "s0"), ("detach", "s0")):
            refusal = daemon.ctl(*words, check=False)
            assert refusal.returncode == 1 and "is starting" in refusal.stderr
        assert daemon.json("cache", "stats")["entries"] == 0
        assert not lab.is_answered()
        told = heard.recv(1000).decode()
        assert told.startswith("STATUS=1 zone to load, z.test.: verifying, 4 records, ")
        assert "\nEXTEND_TIMEOUT_USEC=" in told
        gate.open()
        while told != "READY=1":
            assert told.startswith("STATUS=")
            told = heard.recv(1000).decode()
        status = daemon.status()
        assert status["state"] == "serving" and status["ready"] and "progress" not in status
        assert texts(lab.ask(NAME)) == ["192.0.2.10"]
        told = heard.recv(1000).decode()
        assert told == "STATUS=2 zones"


def test_the_driver_answers_during_the_start(lab, daemon, gate, served):
    """From the adopted cache; other queries wait for the zones."""
    lab.ask(NAME)
    daemon.kill()
    daemon.spawn()
    gate.wait(2)
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    assert not lab.is_answered()
    gate.open()
    daemon.wait_ready()
    assert len(texts(lab.ask())) == 2


def test_a_reload_during_the_start(lab, daemon, gate, tmp_path):
    """Its addresses and interfaces are those that count when the zones are there."""
    zones = [gated("z.test", write_zone(tmp_path / "z.zone"), gate), zone("example.com")]
    daemon.configure(zones=zones).spawn()
    gate.wait(1)
    daemon.configure(zones=zones, server={"listen": ["127.0.0.1", V6]},
                     interfaces=[iface(**{"driver-answers": False})])
    daemon.signal(signal.SIGHUP)
    wait_for("it is read", lambda: daemon.status()["listen"] == ["127.0.0.1@53", f"{V6}@53"])
    gate.open()
    gate.wait(2)
    gate.open()
    daemon.wait_ready()
    with Answered(daemon) as two:
        assert texts(lab.ask(NAME, where=V6)) == texts(lab.ask(NAME, where=V6)) == ["192.0.2.10"]
    assert two.by == {"worker": 2} and daemon.status()["services"] == 2
    assert not lab.is_answered(where=V4) and lab.tcp(dns.message.make_query(NAME, "A"), V6).answer


def test_the_start_is_ended(lab, daemon, gate, tmp_path):
    daemon.configure(zones=[gated("z.test", write_zone(tmp_path / "z.zone"), gate)]).spawn()
    gate.wait(1)
    daemon.ctl("stop")
    assert daemon.reap() == 0
    assert not os.path.exists(f"/proc/{gate.pids()[0]}")
    assert "ready" not in daemon.log()


def test_others_do_not_wait(lab, daemon, gate, served):
    write_zone(served, 2, "192.0.2.20")
    with asking(daemon, "--progress", "zone", "reload", "z.test") as reload:
        gate.wait(2)
        assert texts(lab.ask(NAME)) == ["192.0.2.10"]
        assert lab.ask("mail.example.com").rcode() == dns.rcode.NOERROR
        status = status_of(daemon)
        assert ((status["state"], status["stage"], status["serves"]) ==
                ("loading", "verifying", True))
        assert status["serial"] == 1 and status["read_records"] == 4 and status["read_bytes"] > 50
        assert (daemon.status()["zones"] ==
                {"serving": 2, "stale": 0, "failed": 0, "awaited": 0, "expired": 0, "loading": 1})
        daemon.ctl("zone", "reload", "example.com")
        daemon.ctl("cache", "flush", "--all")
        daemon.ctl("zone", "check", "z.test", served)
        assert reload.poll() is None
        while not (line := reload.stderr.readline()).startswith("z.test.: verifying, 4 records, "):
            assert line.startswith("z.test.: ")  # a loader that had no processor before
        assert texts(lab.ask(NAME)) == ["192.0.2.10"]
        gate.open()
        ends(reload)
        assert texts(lab.ask(NAME)) == ["192.0.2.20"]
    assert status_of(daemon)["state"] == "serving"


def test_no_progress_where_no_terminal_is(daemon, gate, served):
    with asking(daemon, "zone", "reload", "z.test") as reload:
        gate.wait(2)
        with asking(daemon, "--progress", "zone", "reload", "z.test") as second:
            second.stderr.readline()
        gate.open()
        gate.open()
        assert ends(reload) == ""


def test_progress_on_a_terminal(daemon, gate, served):
    master, slave = os.openpty()
    with subprocess.Popen([str(BIN / "volleyctl"), "-s", str(daemon.socket), "zone", "reload"],
                          env=ENV, stdout=subprocess.DEVNULL, stderr=slave) as reload:
        gate.wait(2)
        said = b""
        while not said.startswith(b"\r1 zone to load, z.test.: verifying, "):
            said = os.read(master, 1000)
            assert said.startswith(b"\r") and said.endswith(b"\x1b[K")
        gate.open()
        assert reload.wait(30) == 0
    os.close(slave)
    os.close(master)


def test_who_asks_may_go(lab, daemon, gate, served):
    """Ctrl-C ends volleyctl and not the load."""
    write_zone(served, 2, "192.0.2.20")
    with asking(daemon, "zone", "reload", "z.test") as reload:
        gate.wait(2)
        reload.send_signal(signal.SIGINT)
        reload.wait(30)
    assert status_of(daemon)["state"] == "loading"
    gate.open()
    wait_for("the new zone", lambda: texts(lab.ask(NAME)) == ["192.0.2.20"])


def test_who_shuts_its_side_still_gets_the_reply(daemon, gate, served):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(30)
        client.connect(str(daemon.socket))
        client.sendall(b'{"v":1,"command":"zone reload","args":["z.test"]}\n')
        client.shutdown(socket.SHUT_WR)
        gate.wait(2)
        gate.open()
        assert json.loads(client.makefile().read())["ok"] is True


def test_a_reload_sees_what_was_there_when_it_was_asked_for(lab, daemon, gate, served):
    """If the file has been read before, it is read again. All that wait share that load."""
    write_zone(served, 2, "192.0.2.20")
    with asking(daemon, "zone", "reload", "z.test") as first:
        gate.wait(2)
        write_zone(served, 3, "192.0.2.30")
        with asking(daemon, "--progress", "zone", "reload", "z.test") as second, \
                asking(daemon, "--progress", "zone", "reload", "Z.test.") as third:
            for waiting in (second, third):
                waiting.stderr.readline()
            gate.open()
            ends(first)
            assert texts(lab.ask(NAME)) == ["192.0.2.20"]
            gate.wait(3)
            assert second.poll() is None and third.poll() is None
            gate.open()
            ends(second)
            ends(third)
            assert texts(lab.ask(NAME)) == ["192.0.2.30"]
    assert gate.serials() == [1, 2, 3]


def test_zones_load_side_by_side(lab, daemon, tmp_path):
    gates = [Gate(tmp_path, f"gate{i}") for i in range(2)]
    zones = [gated(f"z{i}.test", write_zone(tmp_path / f"z{i}.zone"), gate)
             for i, gate in enumerate(gates)]
    daemon.configure(zones=zones).spawn()
    for when in (1, 2):
        for gate in gates:
            gate.wait(when)  # while the other one waits
        for gate in reversed(gates):
            gate.open()
        if when == 1:
            daemon.wait_ready()
            daemon.signal(signal.SIGHUP)
    wait_for("both", lambda: daemon.status()["zones"]["loading"] == 0)


def test_a_configuration_is_put_in_place_as_a_whole(lab, daemon, gate, served, tmp_path):
    """
    Names that go from one file to another are there all the time; a single zone need not wait.
    """
    write_zone(served, 2, "192.0.2.20", more="www.child IN A 192.0.2.31\n")
    child = write_zone(tmp_path / "child.zone", address="192.0.2.30")
    other = write_zone(tmp_path / "other.zone", address="192.0.2.40")
    daemon.configure(zones=[gated("z.test", served, gate), zone("other.test", other),
                            zone("child.z.test", child)])
    with asking(daemon, "zone", "reload") as reload:
        gate.wait(2)
        wait_for("the others", lambda: status_of(daemon, "child.z.test")["stage"] == "loaded" and
                 status_of(daemon, "other.test")["stage"] == "loaded")
        assert lab.ask("www.child.z.test").rcode() == dns.rcode.NXDOMAIN
        assert lab.ask("www.other.test").rcode() == dns.rcode.REFUSED
        assert len(texts(lab.ask())) == 2  # example.com, which will go
        assert status_of(daemon, "example.com")["state"] == "serving"
        refusal = daemon.ctl("zone", "reload", "example.com", check=False)
        assert "no such zone is configured" in refusal.stderr
        write_zone(other, 2, address="192.0.2.41")
        daemon.ctl("zone", "reload", "other.test")
        assert texts(lab.ask("www.other.test")) == ["192.0.2.41"]
        assert reload.poll() is None
        gate.open()
        ends(reload)
    assert texts(lab.ask("www.child.z.test")) == ["192.0.2.30"]
    assert texts(lab.ask("www.other.test")) == ["192.0.2.41"]
    assert texts(lab.ask(NAME)) == ["192.0.2.20"]
    assert lab.ask().rcode() == dns.rcode.REFUSED
    assert (daemon.status()["zones"] ==
            {"serving": 3, "stale": 0, "failed": 0, "awaited": 0, "expired": 0, "loading": 0})


def test_a_reload_of_all_behind_another(lab, daemon, gate, served, tmp_path):
    """The second waits; a third takes its place, and both are told when that is done."""
    with asking(daemon, "zone", "reload") as first:
        gate.wait(2)
        daemon.configure(zones=[gated("z.test", served, gate), zone("gone.test", tmp_path / "no")])
        with asking(daemon, "--progress", "zone", "reload") as second:
            second.stderr.readline()
            write_zone(served, 3, "192.0.2.30")
            daemon.configure(zones=[gated("z.test", served, gate)])
            with asking(daemon, "--progress", "zone", "reload") as third:
                third.stderr.readline()
                gate.open()
                ends(first)
                assert len(texts(lab.ask())) == 2
                gate.wait(3)
                gate.open()
                ends(second)
                ends(third)
    assert gate.serials() == [1, 1, 3]
    assert texts(lab.ask(NAME)) == ["192.0.2.30"]
    assert lab.ask().rcode() == dns.rcode.REFUSED
    assert "gone.test" not in daemon.log()


def test_a_zone_that_goes_while_it_is_loaded(lab, daemon, gate, served):
    with asking(daemon, "zone", "reload", "z.test") as reload:
        gate.wait(2)
        daemon.configure(zones=[zone("example.com")])
        daemon.ctl("zone", "reload")
        assert "the zone was removed from the configuration before it was loaded" in ends(reload, 1)
    wait_for("the command has ended", lambda: not os.path.exists(f"/proc/{gate.pids()[1]}"))
    assert lab.ask(NAME).rcode() == dns.rcode.REFUSED
    assert len(daemon.json("zone", "list")["zones"]) == 1


def test_a_zone_that_changes_its_file_while_it_is_loaded(lab, daemon, gate, served, tmp_path):
    other = write_zone(tmp_path / "other.zone", 5, "192.0.2.50")
    with asking(daemon, "zone", "reload", "z.test") as single:
        gate.wait(2)
        daemon.configure(zones=[zone("z.test", other)])
        with asking(daemon, "--progress", "zone", "reload") as reload:
            reload.stderr.readline()
            gate.open()
            ends(single)
            ends(reload)
    assert texts(lab.ask(NAME)) == ["192.0.2.50"]


@pytest.mark.parametrize("how", ["stop", "SIGTERM"])
def test_a_stop_while_a_zone_is_loaded(lab, daemon, gate, served, how):
    write_zone(served, 2, "192.0.2.20")
    with asking(daemon, "zone", "reload", "z.test") as reload:
        gate.wait(2)
        if how == "stop":
            daemon.ctl("stop")
        else:
            daemon.signal(signal.SIGTERM)
        assert daemon.reap() == 0
        assert "volleyd stops" in ends(reload, 1)
    assert not os.path.exists(f"/proc/{gate.pids()[1]}")


def test_a_stop_runs_nothing_that_was_asked_behind_a_load(daemon, gate, served):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(30)
        client.connect(str(daemon.socket))
        client.sendall(b'{"v":1,"command":"zone reload","args":["z.test"]}\n'
                       b'{"v":1,"command":"status"}\n')
        gate.wait(2)
        daemon.signal(signal.SIGTERM)
        (reply,) = client.makefile().read().splitlines()
        assert "volleyd stops" in reply
    assert daemon.reap() == 0


def test_sighup_tells_systemd_when_it_is_done(daemon, gate, tmp_path):
    heard_at = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(heard_at)
        heard.settimeout(30)
        daemon.configure(zones=[gated("z.test", write_zone(tmp_path / "z.zone"), gate)])
        daemon.spawn(env={"NOTIFY_SOCKET": heard_at})

        def told():
            """The next message, but for what is told of a load that takes seconds."""
            while (message := heard.recv(1000)).startswith(b"STATUS="):
                pass
            return message
        gate.wait(1)
        daemon.signal(signal.SIGHUP)  # during the start: behind it
        gate.open()
        assert told() == b"READY=1"
        gate.wait(2)
        gate.open()
        assert told() == b"READY=1"
        daemon.signal(signal.SIGHUP)
        assert told() == b"RELOADING=1"
        gate.wait(3)
        heard.setblocking(False)
        with pytest.raises(BlockingIOError):
            told()
        heard.settimeout(30)
        gate.open()
        assert told() == b"READY=1"


def test_a_large_zone(lab, daemon, gate, tmp_path):
    """300,000 records: how far it is only grows, and others are served until the very end."""
    path = write_zone(tmp_path / "z.zone")
    small = write_zone(tmp_path / "small.zone")
    daemon.configure(zones=[gated("z.test", path, gate), zone("small.test", small)]).spawn()
    gate.wait(1)
    gate.open()
    daemon.wait_ready()
    write_zone(path, 2, "192.0.2.20", "".join(f"n{i} IN A 10.{i >> 16}.{i >> 8 & 255}.{i & 255}\n"
                                              for i in range(300000)))
    write_zone(small, 2, "192.0.2.21")
    seen = []
    with socket.socket(socket.AF_UNIX) as control, asking(daemon, "zone", "reload",
                                                          "z.test") as reload:
        control.settimeout(30)
        control.connect(str(daemon.socket))
        replies = control.makefile()
        while not seen or seen[-1]["stage"] != "verifying":
            control.sendall(b'{"v":1,"command":"zone status","args":["z.test"]}\n')
            (status,) = json.loads(replies.readline())["result"]["zones"]
            assert status["serial"] == 1
            if status["state"] == "loading":
                seen.append(status)
        gate.wait(2)
        daemon.ctl("zone", "reload", "small.test")
        assert texts(lab.ask("www.small.test")) == ["192.0.2.21"]
        assert texts(lab.ask(NAME)) == ["192.0.2.10"]
        assert reload.poll() is None
        gate.open()
        ends(reload)
    assert seen[-1]["read_records"] == 300004 and seen[-1]["read_bytes"] == path.stat().st_size
    for key in ("read_records", "read_bytes", "percent", "loading_s"):
        values = [status[key] for status in seen if key in status]
        assert values == sorted(values), key
    assert texts(lab.ask("n299999.z.test")) == ["10.4.147.223"]


def test_loaders_stand_behind_workers(daemon):
    """
    Off the workers' processors where there are others, with less priority, and few privileges.
    """
    daemon.start(server={"workers": 1})

    def threads_of(name):
        found = []
        for task in Path(f"/proc/{daemon.process.pid}/task").iterdir():
            if (task / "comm").read_text("ascii").startswith(name):
                fields = (task / "stat").read_text("ascii").rpartition(")")[2].split()
                found.append((task, int(fields[16]), int(fields[38])))
        return found

    def standing_behind():  # a thread says itself what it is, as soon as it runs
        found = threads_of("volley-load")
        return found if len(found) >= 2 and all(nice for _, nice, _ in found) else None
    loaders = wait_for("the loaders stand behind", standing_behind)
    ((worker, _, _),) = threads_of("volley-w")
    cpus = os.sched_getaffinity(int(worker.name))
    for task, nice, policy in loaders:
        assert nice == 10 and policy == os.SCHED_BATCH
        mine = os.sched_getaffinity(int(task.name))
        assert not mine & cpus or mine == os.sched_getaffinity(daemon.process.pid)
        caps = re.search(r"CapPrm:\t(\w+)", (task / "status").read_text("ascii"))[1]
        assert int(caps, 16) & ~(1 << 2) == 0


# --- zones[].verify -------------------------------------------------------------------------------


def verified(path, *command, **keys):
    return [{**zone("z.test", path), "verify": list(map(str, command)), **keys},
            zone("example.com")]


def test_what_the_command_gets(lab, daemon, tmp_path):
    """
    The zone as it was loaded, twice if it likes; the names; nothing that it could do harm with.
    """
    path = write_zone(tmp_path / "z.zone", 4294967295,
                      more="text IN TXT \"a;b\" \"\\\"c\"\n*.w IN TYPE65280 \\# 3 010203\n"
                      "$INCLUDE more\n")
    (tmp_path / "more").write_text("here IN A 192.0.2.99\n", encoding="ascii")
    out = tmp_path / "out"
    script = tmp_path / "verify"
    script.write_text(f"#!/bin/sh\ncat >{out}.1; cat /dev/stdin >{out}.2; env >{out}.env\n"
                      f"cp /proc/self/status {out}.status; ls /proc/self/fd >{out}.fd\n"
                      f"printf '%s\\n' \"$@\" >{out}.args; echo unread; exit 0\n", encoding="ascii")
    script.chmod(0o755)
    daemon.start(zones=verified(path, script, "two words", "$HOME"))
    one, two, env, status, fds, args = ((tmp_path / f"out.{end}").read_text("ascii")
                                        for end in ("1", "2", "env", "status", "fd", "args"))
    assert one == two
    lines = [line.split("\t") for line in one.splitlines()]
    assert sorted(line[3] for line in lines) == ["A", "A", "A", "NS", "SOA", "TXT", "TYPE65280"]
    assert lines[0][3] == "SOA" and "here.z.test.\t300\tIN\tA\t192.0.2.99" in one
    assert {line.split("=")[0] for line in env.splitlines()} - {"PWD", "_", "SHLVL", "OLDPWD"} == \
        {"PATH", "VOLLEY_ZONE", "VOLLEY_SERIAL", "VOLLEY_FILE"}
    assert "VOLLEY_ZONE=z.test.\n" in env and "VOLLEY_SERIAL=4294967295\n" in env
    assert f"VOLLEY_FILE={path}\n" in env
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    for kind in ("CapPrm", "CapEff"):
        assert int(fields[kind], 16) == 0, kind
    for kind in ("SigBlk", "SigIgn"):
        assert int(fields[kind], 16) & 0x7fffffff == 0  # those above are the C library's own
    assert set(fds.split()) <= {"0", "1", "2", "3"}  # 3 is the folder that ls reads
    assert args == "two words\n$HOME\n"
    loaded = write_zone(tmp_path / "again.zone")
    loaded.write_text(one, encoding="ascii")
    assert daemon.json("zone", "check", "z.test", str(loaded))["records"] == 7
    assert texts(lab.ask("here.z.test")) == ["192.0.2.99"]


@pytest.mark.parametrize("how", ["written", "replaced", "removed"])
def test_what_is_served_is_what_was_verified(lab, daemon, gate, served, tmp_path, how):
    """The file is another one when the command says yes."""
    write_zone(served, 2, "192.0.2.20")
    with asking(daemon, "zone", "reload", "z.test") as reload:
        gate.wait(2)
        if how == "written":
            write_zone(served, 3, "192.0.2.30")
        elif how == "replaced":
            write_zone(tmp_path / "new", 3, "192.0.2.30").replace(served)
        else:
            served.unlink()
        gate.open()
        ends(reload)
    assert texts(lab.ask(NAME)) == ["192.0.2.20"]
    assert status_of(daemon)["serial"] == 2


def test_a_version_that_is_refused(lab, daemon, gate, served):
    write_zone(served, 2, "192.0.2.20")
    with asking(daemon, "zone", "reload", "z.test") as reload:
        gate.wait(2)
        gate.open(3, "the moon is wrong")
        said = ends(reload, 1)
    sentence = f"serial 2 is not accepted: {gate.path} ended with status 3: the moon is wrong"
    assert sentence in said and "keeps serving" in said
    for _ in range(2):
        assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    status = status_of(daemon)
    assert status["state"] == "stale" and status["serial"] == 1 and sentence in status["error"]
    assert sentence in daemon.degraded() and sentence in daemon.log()
    with asking(daemon, "zone", "reload") as reload:  # all of them: likewise
        gate.wait(3)
        gate.open(1)
        assert f"{gate.path} ended with status 1; the earlier version" in ends(reload, 1)
    with asking(daemon, "zone", "reload", "z.test") as reload:
        gate.wait(4)
        gate.open()
        ends(reload)
    assert texts(lab.ask(NAME)) == ["192.0.2.20"]
    assert not daemon.degraded()


def test_a_version_that_is_refused_at_the_start(lab, daemon, gate, tmp_path):
    path = write_zone(tmp_path / "z.zone")
    daemon.configure(zones=[gated("z.test", path, gate), zone("example.com")]).spawn()
    gate.wait(1)
    gate.open(1, "no")
    daemon.wait_ready()
    assert lab.ask(NAME).rcode() == dns.rcode.SERVFAIL
    assert len(texts(lab.ask())) == 2
    assert "serial 1 is not accepted" in daemon.degraded()
    assert status_of(daemon)["state"] == "failed"


@pytest.mark.parametrize("command, what", [
    (["/none/such"], "/none/such cannot be run: No such file or directory"),
    (["no-such-command-in-path"], "no-such-command-in-path cannot be run: No such file"),
    (["/etc/passwd"], "/etc/passwd cannot be run: Permission denied"),
    (["false"], "false ended with status 1"),
    (["sh", "-c", "kill -9 $$"], "sh was ended by signal 9"),
    (["sh", "-c", "echo; printf 'a\\033[31m\\377b\\nsecond\\n' >&2; exit 2"],
     "sh ended with status 2: a?[31m?b"),
    (["sh", "-c", "yes >&2"], "sh did not end within 1 s: y"),
], ids=["missing", "not-in-path", "not-executable", "false", "killed", "control-characters",
        "time"])
def test_a_command_that_fails(lab, daemon, tmp_path, command, what):
    path = write_zone(tmp_path / "z.zone")
    daemon.start(zones=verified(path, *command,
                                **{"verify-timeout": "1s" if "1 s" in what else "60s"}))
    assert what in daemon.degraded()
    assert lab.ask(NAME).rcode() == dns.rcode.SERVFAIL
    assert len(texts(lab.ask())) == 2


def test_a_command_that_does_not_end(lab, daemon, tmp_path):
    """It is killed, and what it started with it, also where that holds its standard error open."""
    path = write_zone(tmp_path / "z.zone")
    pids = tmp_path / "pids"
    script = f"trap '' TERM HUP; sleep 10000 & echo $$ $! >{pids}; wait; sleep 10000"
    daemon.start(zones=verified(path, "sh", "-c", script, **{"verify-timeout": 4}))
    assert "sh did not end within 4 s" in daemon.degraded()
    for pid in pids.read_text("ascii").split():
        wait_for("it is gone", lambda pid=pid: has_ended(pid))


def test_a_command_that_leaves_somebody_behind(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone")
    pids = tmp_path / "pids"
    daemon.start(zones=verified(path, "sh", "-c", f"sleep 10000 & echo $! >{pids}"))
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    wait_for("it is gone", lambda: has_ended(pids.read_text("ascii").strip()))


def test_another_servers_checker(lab, daemon, tmp_path):
    """It reads /dev/stdin, and refuses what Volley alone would serve."""
    path = write_zone(tmp_path / "z.zone")
    daemon.start(zones=verified(path, "named-checkzone", "-q", "-M", "fail", "z.test",
                                "/dev/stdin"))
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    write_zone(path, 2, "192.0.2.20", more="www IN MX 10 mail.z.test.\nmail IN CNAME www\n")
    refusal = daemon.ctl("zone", "reload", "z.test", check=False)
    assert "named-checkzone ended with status 1" in refusal.stderr
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
