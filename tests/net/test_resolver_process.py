# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The resolver's process may crash, hang, grow or write nonsense: this costs the question that is the
reason, and nothing else.
"""
import itertools
import os
import shutil
import signal
import socket
import threading

import dns.rcode
import pytest

from dnstree import ALLOW, ask, codes, query, records
from netlab import (BIN, CLIENT4, ROOT, TOOLS, V4, has_ended, process_of, run, status_of, texts,
                    threads_of, wait_for)
from upstreams import Netns, Scripted, address_answer

UPSTREAM = "127.0.0.9"
FORWARDING = {"allow": ALLOW, "forward": [UPSTREAM], "query-localhost": True}
ANSWER = ["A 192.0.2.80"]
TWICE = (2, 3)  # ends for one question; three where the machine is too busy for a trial of it alone
WWW = ["192.0.2.80", "192.0.2.81"]


@pytest.fixture(name="upstream")
def make_upstream(lab, tmp_path):
    upstream = Scripted(Netns(tmp_path, f"{lab.name}-s"), UPSTREAM,
                        lambda made, tcp: address_answer(made).to_wire())
    yield upstream
    upstream.close()


@pytest.fixture(name="poisoned")
def make_poisoned(daemon, tmp_path):
    """A volleyd beside which lies a resolver with faults: poisoned.c."""
    folder = tmp_path / "poisoned"
    folder.mkdir()
    shutil.copy(TOOLS / "poisoned", folder / "volley-resolver")
    daemon.binary = shutil.copy(BIN / "volleyd", folder)
    return daemon


def state(daemon):
    return daemon.status()["recursion"]


def resolver(daemon):
    """The resolver's process; 0: there is none now."""
    return state(daemon)["process"]


def counters(daemon):
    return daemon.result("stats")["resolver"]


def answered(lab, name):
    return records(ask(lab, query(name))) == ANSWER


def rcode(lab, name):
    return dns.rcode.to_text(ask(lab, query(name)).rcode())


def test_it_has_no_right(lab, daemon, upstream):
    daemon.start(recursion=FORWARDING)
    pid = resolver(daemon)
    assert answered(lab, "www.other.lab.") and upstream.seen
    for fields in threads_of(pid):
        for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            assert int(fields[kind], 16) == 0
        assert fields["NoNewPrivs"] == "1"
    assert process_of(daemon, "volley-parent", "volley-starter", "volley-resolver") == pid
    assert not process_of(daemon, "volley-resolver")
    assert status_of(pid)["Name"] == "volley-resolver"
    with open(f"/proc/{daemon.process.pid}/maps", encoding="ascii") as f:
        assert "libunbound" not in f.read()


def test_it_ends_with_the_daemon(daemon, upstream):
    del upstream
    for how in (signal.SIGKILL, signal.SIGTERM):
        daemon.start(recursion=FORWARDING)
        pid = resolver(daemon)
        daemon.process.send_signal(how)
        daemon.process.wait(30)
        daemon.process = None
        wait_for("its end", lambda pid=pid: has_ended(pid))


@pytest.mark.parametrize("names", [("volley-parent",), ("volley-parent", "volley-starter")])
def test_it_ends_with_the_processes_above(lab, daemon, upstream, names):
    """A starter is replaced with its program; without the parent, nothing can be asked upstream."""
    del upstream
    daemon.start(recursion=FORWARDING)
    pid = resolver(daemon)
    os.kill(process_of(daemon, *names), signal.SIGKILL)
    wait_for("its end", lambda: has_ended(pid))
    wait_for("degraded", lambda: "the resolver's process" in daemon.degraded()
             or "does not start" in daemon.degraded())
    if len(names) > 1:
        wait_for("the next one", lambda: resolver(daemon) not in (0, pid))
        assert answered(lab, "www.other.lab.")
    assert ask(lab, query("www.example.com.")).answer
    assert daemon.stop() == 0


class Loop(threading.Thread):
    """Asks until it is stopped or has no answer, and keeps what came."""

    def __init__(self, lab, names):
        super().__init__(daemon=True)
        self.lab, self.names, self.ends, self.came = lab, names, threading.Event(), []
        self.start()

    def run(self):
        for name in self.names:
            if self.ends.is_set():
                return
            try:
                self.came.append(ask(self.lab, query(name)))
            except Exception as fault:  # pylint: disable=broad-exception-caught
                self.came.append(fault)
                return

    def stop(self):
        self.ends.set()
        self.join()
        assert self.came and all(hasattr(one, "rcode") for one in self.came), self.came[-1:]
        return self.came


def test_killed_in_a_loop(lab, daemon, upstream):
    """All is answered: the next process is asked what the last one had."""
    del upstream
    daemon.start(recursion=FORWARDING)
    hits = Loop(lab, itertools.repeat("www.example.com."))
    misses = Loop(lab, (f"n{n}.other.lab." for n in itertools.count()))
    for n in range(20):
        pid = resolver(daemon)
        os.kill(pid, signal.SIGKILL)
        wait_for("the next one", lambda pid=pid: resolver(daemon) not in (0, pid))
        assert answered(lab, f"after{n}.lab.")
    assert all(one.rcode() == 0 and one.answer for one in hits.stop())
    assert all(records(one) == ANSWER for one in misses.stop())
    assert state(daemon)["process_restarts"] == 20 and counters(daemon)["lost"] == 0
    assert any("ended after" in text for text in daemon.status()["degraded"])


def test_an_abort_costs_its_question_alone(lab, poisoned, upstream):
    """It is asked twice, or more often where the machine is too busy for the trials. Others, of two
    workers, are under way meanwhile."""
    del upstream
    poisoned.start(server={"listen": [V4], "workers": 2}, recursion=FORWARDING)
    others = [Loop(lab, map(f"n{{}}.other{i}.lab.".format, itertools.count())) for i in range(2)]
    for n in range(50):
        assert rcode(lab, f"crash{n}.lab.") == "SERVFAIL"
    n_others = 0
    for loop in others:
        came = loop.stop()
        assert all(records(one) == ANSWER for one in came)
        n_others += len(came)
    assert 100 <= state(poisoned)["process_restarts"] <= 150
    said = counters(poisoned)
    assert said["lost"] == 50 and said["outstanding"] == 0 and said["suspected"] == 0
    assert said["answered"] >= n_others, "one whose reply was not sent yet is asked and counted again"
    assert said["asked"] == 50 + said["answered"]


def test_a_question_that_crashed_it_twice_is_refused(lab, poisoned, upstream):
    del upstream
    poisoned.start(recursion=FORWARDING)
    assert rcode(lab, "crash.lab.") == "SERVFAIL"
    wait_for("the third one", lambda: resolver(poisoned))
    for name in ("crash.lab.", "CRASH.lab."):
        assert rcode(lab, name) == "SERVFAIL"
    assert state(poisoned)["process_restarts"] in TWICE
    assert state(poisoned)["refuses_suspects"]
    assert answered(lab, "other.lab.")


def test_nonsense_ends_it(lab, poisoned, upstream):
    del upstream
    poisoned.start(recursion=FORWARDING)
    assert rcode(lab, "lies.lab.") == "SERVFAIL"
    assert answered(lab, "other.lab.")
    assert state(poisoned)["process_restarts"] in TWICE
    assert "make no sense" in poisoned.log()


@pytest.mark.parametrize("how", ["octets", "words", "heads"])
def test_memory_that_changes_under_the_reader(lab, daemon, upstream, tmp_path, how):
    """A process that was taken over writes into the shared memory while volleyd reads it: rings,
    counters, the lists of upstreams. volleyd serves its zones, tells its numbers, and goes on."""
    library = tmp_path / "scribble.so"
    run("gcc", "-O1", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/scribble.c")
    daemon.env = {"LD_PRELOAD": str(library), "SCRIBBLE": how}
    daemon.start(recursion=FORWARDING, metrics={"listen": f"{V4}@9253"},
                 dnstap={"file": str(tmp_path / "tap")})
    with lab.socket("c", socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.bind((CLIENT4, 0))
        for i in range(250):
            for k in range(8):
                asker.sendto(query(f"n{i}-{k}.upstream.test").to_wire(), (V4, 53))
            assert texts(lab.ask("www.example.com")) == WWW
            if i % 20 == 0:
                assert daemon.result("stats") and daemon.status()
                assert daemon.result("zone list") is not None
                daemon.result("resolver infra")
    assert daemon.process.poll() is None


def test_growth_ends_it(lab, poisoned, upstream):
    del upstream
    poisoned.start(recursion={**FORWARDING, "memory-max": "100M"})
    assert answered(lab, "other0.lab.") and state(poisoned)["process_bytes"] < 100 << 20
    assert rcode(lab, "grows.lab.") in ("NOERROR", "SERVFAIL"), "it may end before the reply"
    wait_for("its end", lambda: state(poisoned)["process_restarts"] >= 1)
    assert answered(lab, "other1.lab.")
    assert "more memory than recursion.memory-max" in poisoned.log()


def test_its_memory_where_proc_hides_processes(lab, poisoned, upstream):
    """As ProtectProc=invisible does. volleyd is confined by Landlock, and may not look there."""
    del upstream
    hides = "mount -t proc -o hidepid=2,gid=12345 proc /proc && exec \"$@\""
    poisoned.configure(recursion=FORWARDING)
    poisoned.spawn(before=["unshare", "-m", "sh", "-c", hides, "sh"]).wait_ready()
    assert answered(lab, "other.lab.")
    wait_for("its memory", lambda: state(poisoned)["process_bytes"] > 1 << 20)


def test_a_hang_ends_it(lab, poisoned, upstream):
    """The client of the question itself may have gone by then."""
    del upstream
    poisoned.start(recursion=FORWARDING)
    stuck = Loop(lab, ["hang.lab."])
    wait_for("its end", lambda: state(poisoned)["process_restarts"] == 1, 30)
    assert answered(lab, "other.lab.")
    assert "no progress" in poisoned.log()
    stuck.ends.set()


def test_deadlines_hold_while_it_hangs(lab, poisoned, upstream):
    """The question comes back by its deadline, long before the process is ended, and is a suspect."""
    del upstream
    poisoned.start(recursion={**FORWARDING, "query-timeout": "500ms"})
    said = ask(lab, query("hang.lab."))
    assert said.rcode() == 2 and codes(said) == [22], "one that the process had at its end has 0"
    wait_for("its end", lambda: state(poisoned)["process_restarts"] == 1, 30)
    assert answered(lab, "other.lab.")
    said = counters(poisoned)
    assert said["lost"] == 1 and said["outstanding"] == 0


def test_deadlines_hold_while_it_starts(lab, poisoned, upstream, tmp_path):
    """A start that takes for ever delays neither an answer nor the end of the daemon."""
    del upstream
    poisoned.start(recursion={**FORWARDING, "query-timeout": "500ms"})
    stuck = tmp_path / "poisoned" / "stuck"
    stuck.touch()
    os.kill(resolver(poisoned), signal.SIGKILL)
    wait_for("its end", lambda: state(poisoned)["process_restarts"] == 1)
    assert rcode(lab, "www.other.lab.") == "SERVFAIL"
    assert counters(poisoned)["lost"] == 1
    poisoned.process.send_signal(signal.SIGTERM)
    poisoned.process.wait(20)
    poisoned.process = None
    assert "does not start" not in poisoned.log()
