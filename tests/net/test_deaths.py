# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Each process of Volley dies again and again, at 3,000 hits and 1,000 misses a second: no hit is lost,
nothing is wrong, each is started again, and no file descriptor stays open.

DEATHS=1000 plays so many rounds, one in more than a second, and prints what it has counted:

    DEATHS=1000 make test-net FILES=tests/net/test_deaths.py PYTEST_ARGS=-s
"""
import os
import re
import signal
import subprocess
import threading
import time

import dns.rcode
from netlab import (CLIENT4, V4, driver_counters, process_of, program, status_of, texts, wait_for, write_zone,
                    zone)
from upstreams import Netns

LONG = int(os.environ.get("DEATHS", "0"))
ROUNDS = LONG or 3
UPSTREAM = "127.0.0.9"
HITS = ["www.z.test", "ns.z.test"]
PROCESSES = {"broker": ("volley-parent", "volley-broker"),
             "runner": ("volley-parent", "volley-runner"),
             "resolver": ("volley-parent", "volley-starter", "volley-resolver")}
LIVES_S = 1.02  # a process that lived for less than a second is started after a pause that grows


class Load:
    """dnsperf with these names, until end()."""

    def __init__(self, lab, path, names, rate):
        path.write_text("".join(f"{name} A\n" for name in names), "ascii")
        self.process = lab.popen("c", "dnsperf", "-s", V4, "-d", path, "-l", 7200, "-Q", rate,
                                 "-t", 5, "-q", 20000, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)

    def end(self):
        """{"sent", "completed", "lost", "NOERROR", ...}; those under way at the end count as none."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=60)[0]
        found = {word: int(re.search(rf"Queries {word}:\s+(\d+)", said)[1])
                 for word in ("sent", "completed", "lost")}
        codes = re.search(r"Response codes:(.*)", said)
        found.update((code, int(n)) for code, n in re.findall(r"([A-Z]+) (\d+)", codes[1]))
        return found


class Checks(threading.Thread):
    """
    Asks for names, one after the other, and compares the answers. A question that is lost on its
    way, in a burst of dnsperf, is counted.
    """

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab, self.ends, self.n, self.lost, self.wrong = lab, threading.Event(), 0, 0, []
        self.start()

    def run(self):
        while not self.ends.wait(0.01):
            try:
                self.compare(self.lab.ask("www.z.test", timeout=1))
            except TimeoutError:
                self.lost += 1
            except Exception as fault:  # pylint: disable=broad-exception-caught
                self.wrong.append(repr(fault))

    def compare(self, said):
        self.n += 1
        if said.rcode() or texts(said) != ["192.0.2.10"]:
            self.wrong.append(said.to_text())

    def end(self):
        """The numbers of answers and of lost questions. After the loads: then none is lost."""
        wait_for("a check is answered", lambda: self.n or self.wrong)
        self.ends.set()
        self.join()
        assert not self.wrong, self.wrong
        return self.n, self.lost


def start(lab, daemon, tmp_path):
    """Names below lab. come from an nsd, each other name of z.test from its wildcard."""
    netns = Netns(tmp_path, f"{lab.name}-s")
    (tmp_path / "root").write_text("$TTL 86400\n. IN SOA ns.lab. h.lab. 1 3600 900 86400 60\n"
                                   ". IN NS ns.lab.\nns.lab. IN A 127.0.0.9\n"
                                   "*.lab. IN A 192.0.2.80\n", "ascii")
    nsd = netns.nsd(UPSTREAM, {".": tmp_path / "root"})
    daemon.start(
        server={"listen": [V4], "workers": 2}, cache={"size": "64M", "names": 0},
        recursion={"allow": [CLIENT4], "forward": [UPSTREAM], "query-localhost": True},
        zones=[{**zone("z.test", write_zone(tmp_path / "z.zone", ttl=86400,
                                            more="* IN A 192.0.2.11\n")), "verify": ["true"]}])
    return netns, nsd


def warm(lab):
    for name in HITS:
        for _ in range(2):
            assert lab.ask(name).rcode() == dns.rcode.NOERROR


def n_files(daemon):
    """Of volleyd and its parent: the others are new after each round."""
    pids = [daemon.process.pid, process_of(daemon, "volley-parent")]
    return [len(os.listdir(f"/proc/{pid}/fd")) for pid in pids]


def memory_kib(daemon):
    """Resident memory of volleyd and its parent, without maps of the kernel and files."""
    pids = [daemon.process.pid, process_of(daemon, "volley-parent")]
    return [int(status_of(pid)["RssAnon"].split()[0]) for pid in pids]


def check_hits(lab, before, hit, miss):
    """
    By the driver's own counters: it has answered each query that arrived and is no miss, and has
    passed only what is no query (ARP). Where processors are busy, bursts of dnsperf are lost on
    their way, and replies in its socket, and misses while the worker is far behind.
    """
    now = driver_counters(program(lab)["id"])
    delta = {word: now[word] - before[word] for word in now}
    late = delta["DROP_OVERLOAD"] + delta["DROP_SHARE"]
    tell("driver", **delta)
    assert delta["up"] + late <= miss["sent"] and delta["dropped"] == late, delta
    assert delta["passed"] <= 20 + ROUNDS and delta["hit"] > 300, delta
    assert hit["NOERROR"] == hit["completed"] > 300


def begin(lab, tmp_path):
    """The driver's counters, and hits, misses and checks, which have begun."""
    count = 200000 if LONG else 5000
    counted = driver_counters(program(lab)["id"])
    hits = Load(lab, tmp_path / "hits", HITS, 3000)
    misses = Load(lab, tmp_path / "misses", [f"n{i}.lab" if i % 2 else f"n{i}.z.test"
                                             for i in range(count)], 1000)

    def have_begun():
        now = driver_counters(program(lab)["id"])
        return now["hit"] > counted["hit"] and now["up"] > counted["up"]
    wait_for("hits and misses come", have_begun)
    return counted, hits, misses, Checks(lab)


def tell(who, **facts):
    if LONG:
        print(f"\n{who}: {facts}")


def play(kill, is_back):
    """Kills, waits until it is back, and returns how long that took, for each round."""
    took = []
    for _ in range(ROUNDS):
        kill()
        began = time.monotonic()
        wait_for("it is back", is_back)
        took.append(time.monotonic() - began)
        if LONG:
            time.sleep(LIVES_S)
    return sorted(took)


def test_processes_beside_the_server(lab, daemon, tmp_path):
    """Broker, runner and resolver, all three in each round."""
    netns, _ = start(lab, daemon, tmp_path)
    try:
        warm(lab)
        counted, hits, misses, checks = begin(lab, tmp_path)
        pids = {}

        def kill():
            pids.update((who, wait_for(who, lambda names=names: process_of(daemon, *names)))
                        for who, names in PROCESSES.items())
            for pid in pids.values():
                os.kill(pid, signal.SIGKILL)

        def is_back():
            return all(process_of(daemon, *names) not in (None, pids[who])
                       for who, names in PROCESSES.items()) \
                and daemon.status()["recursion"]["process"]
        kill()
        wait_for("all are back", is_back)
        before, memory = n_files(daemon), memory_kib(daemon)
        took = play(kill, is_back)
        hit, miss, checked = hits.end(), misses.end(), checks.end()
        tell("broker, runner, resolver", rounds=ROUNDS, hits=hit, misses=miss, checked=checked,
             median_s=took[len(took) // 2], most_s=took[-1], files=(before, n_files(daemon)),
             memory_kib=(memory, memory_kib(daemon)), resolver=daemon.result("stats")["resolver"])
        check_hits(lab, counted, hit, miss)
        assert set(miss) <= {"sent", "completed", "lost", "NOERROR"}, "SERVFAIL, or worse"
        assert daemon.result("stats")["resolver"]["lost"] == 0
        wait_for("no more files are open than before",
                 lambda: all(now <= then for now, then in zip(n_files(daemon), before)))
        assert daemon.status()["recursion"]["process_restarts"] == ROUNDS + 1
    finally:
        netns.close()


def test_server(lab, daemon, tmp_path):
    """It is killed with all its processes; the driver answers until the next one is there."""
    netns, _ = start(lab, daemon, tmp_path)
    try:
        warm(lab)
        counted, hits, misses, checks = begin(lab, tmp_path)

        def start_again():
            daemon.kill()
            daemon.spawn()
        took = play(start_again, daemon.is_ready)
        hit, miss, checked = hits.end(), misses.end(), checks.end()
        tell("server", rounds=ROUNDS, hits=hit, misses=miss, checked=checked,
             median_s=took[len(took) // 2], most_s=took[-1])
        check_hits(lab, counted, hit, miss)
        assert set(miss) <= {"sent", "completed", "lost", "NOERROR", "SERVFAIL"}
        assert daemon.interface()["origin"] == "adopted" and not daemon.degraded()
    finally:
        netns.close()
