# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Queries per second while a large zone is loaded again, against those before.

volleyd has one CPU for everything: driver, worker, and what reads the zone. In the rows "zone read
on the other CPU" the threads that read it have the load's CPU (server.control-cores). The driver
goes before all threads of ordinary priority, as it does on a card without threaded NAPI. volleyd is
warm and under constant load when `volleyctl zone reload` is called; the file has another serial and
a record more, so it is read, built and swapped in. Replies are counted on the client's interface
ten times a second: before, from the call to its return, and in the second after that, when the
cache may have to fill again.
"""
import contextlib
import itertools
import json
import os
import random
import signal
import statistics
import subprocess
import threading
import time

import rig
import servers
import sweep
import zones

ORIGIN = servers.ORIGIN + "."
N_NAMES = 100000
BEFORE_SECONDS, AFTER_SECONDS, SETTLE_SECONDS, STEP_SECONDS = 3, 1, 1, 0.1
RELOAD_SECONDS = 300     # the thread that reads gets what is left of the CPU
LOADS = {"half of capacity": 0.5, "90 % of capacity": 0.9}
FIGURES = ("offered_per_s", "before", "during", "during_ratio", "queries_ratio", "after_ratio",
           "worst_ratio", "napi_before_ns", "napi_during_ns", "other", "reload_s")


class Data:
    """A zone of N records in two versions, and queries for addresses in it."""

    def __init__(self, folder, records):
        self.zone, self.queries = folder / "reloaded.zone", folder / "reloaded.queries"
        self.versions = [folder / f"reloaded-{serial}.zone" for serial in (1, 2)]
        self.n_records = zones.make_zone(self.versions[0], "plain", records, ORIGIN)
        names = self.write_second()
        random.Random(1).shuffle(names)
        names = names[:N_NAMES]
        self.n_names = len(names)
        with open(self.queries, "w", encoding="ascii") as f:
            f.writelines(f"{name}.{ORIGIN} A\n" for name in names)
        self.turns = itertools.cycle((1, 2))
        self.serial = None
        self.turn()

    def write_second(self):
        """The same with another serial and a record more; returns the names that have addresses."""
        names = []
        with open(self.versions[0], encoding="ascii") as old, \
                open(self.versions[1], "w", encoding="ascii") as new:
            for line in old:
                fields = line.split()
                if fields[1:2] == ["SOA"]:
                    line = line.replace(" 1 ", " 2 ", 1)
                elif fields[1:2] == ["A"] and "." not in fields[0]:
                    names.append(fields[0])
                new.write(line)
            new.write("one-more\tTXT\t\"second\"\n")
        return names

    def turn(self):
        """The file becomes the other version."""
        self.serial = next(self.turns)
        link = self.zone.with_suffix(".new")
        link.symlink_to(self.versions[self.serial - 1])
        os.replace(link, self.zone)


class Reloaded(servers.Volley):
    """volleyd with the large zone."""

    def serial(self):
        """By the daemon's word: under load the client's interface keeps every reply for itself."""
        return self.daemon.json("zone", "status")["zones"][0].get("serial")

    def warm(self):
        rig.wait_for("the zone is loaded", lambda: self.serial() == self.data.serial,
                     zones.LOAD_SECONDS)
        super().warm()
        rig.put_first(self.rig.server_napi)

    def stop(self):
        rig.put_first(self.rig.server_napi, False)
        super().stop()

    def reload(self):
        """With the other version of the file; returns when that is served."""
        self.data.turn()
        try:
            self.daemon.ctl("zone", "reload", ORIGIN, timeout=RELOAD_SECONDS)
        except subprocess.TimeoutExpired as err:
            raise RuntimeError(f"{self.name}: no reload within {RELOAD_SECONDS} s") from err
        if self.serial() != self.data.serial:
            raise RuntimeError(f"{self.name}: the zone that was loaded is not served")


class ReadElsewhere(Reloaded):
    """The thread that reads the zone works on the CPU of the load."""
    control_cpu = rig.LOAD_CPU


class Counter:
    """Packets that an end of the link has received, by its interface's own count."""

    def __init__(self, lab, end):
        self.name = f"{end}0:"
        with lab.inside(end):   # the file stays one of this namespace
            self.file = open("/proc/thread-self/net/dev", encoding="ascii")

    def read(self):
        self.file.seek(0)
        line = next(line for line in self.file if line.strip().startswith(self.name))
        return int(line.partition(":")[2].split()[1])


class Sampler(threading.Thread):
    """Counts queries and replies every 100 ms until close()."""

    def __init__(self, lab):
        super().__init__()
        self.counters, self.ended = (Counter(lab, "s"), Counter(lab, "c")), threading.Event()
        self.points = [self.sample()]

    def sample(self):
        return (time.monotonic(), *(counter.read() for counter in self.counters))

    def run(self):
        while not self.ended.wait(STEP_SECONDS):
            self.points.append(self.sample())

    def close(self):
        self.ended.set()
        self.join()
        for counter in self.counters:
            counter.file.close()

    def between(self, start, end):
        """Means and steps of the replies a second, and the mean of the queries."""
        inside = [point for point in self.points if start <= point[0] <= end]
        if not inside:
            raise RuntimeError(f"all over within {STEP_SECONDS} s: take a larger zone")
        steps = [(c - d) / (b - a) for (a, _, d), (b, _, c) in itertools.pairwise(inside)]
        (t0, q0, r0), (t1, q1, r1) = inside[0], inside[-1]
        seconds = max(STEP_SECONDS, t1 - t0)
        return {"queries": (q1 - q0) / seconds, "replies": (r1 - r0) / seconds, "steps": steps}


@contextlib.contextmanager
def load(server, rate):
    """
    Queries at a constant rate over a `with`; yields a dict that has xdpgen's report afterwards.
    """
    lab, found = server.rig, {}
    seconds = SETTLE_SECONDS + BEFORE_SECONDS + RELOAD_SECONDS + AFTER_SECONDS
    process = lab.popen("c", rig.PERF / "xdpgen", "--cpu", rig.LOAD_CPU, *server.source, seconds,
                        rate, stdout=subprocess.PIPE, text=True)
    try:
        yield found
    finally:
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=30)[0]
    found.update(json.loads(out))


def reload_under(server, rate):
    """One reload under load: rates before, during, after."""
    with contextlib.closing(Sampler(server.rig)) as sampler, load(server, rate) as report:
        sampler.start()
        rig.wait_for("replies", lambda: sampler.points[-1][2] > sampler.points[0][2])
        time.sleep(SETTLE_SECONDS)
        with rig.Meter(server.rig, server.daemon_pid) as quiet:
            start = time.monotonic()
            time.sleep(BEFORE_SECONDS)
        with rig.Meter(server.rig, server.daemon_pid) as busy:
            called = time.monotonic()
            server.reload()
            returned = time.monotonic()
        time.sleep(AFTER_SECONDS + STEP_SECONDS)
    if report["rcodes"][0] != report["replies"]:
        raise RuntimeError(f"{server.name}: not all replies are NOERROR: {report['rcodes']}")
    before, during = sampler.between(start, called), sampler.between(called, returned)
    after = sampler.between(returned, returned + AFTER_SECONDS + STEP_SECONDS)
    return {"offered_per_s": rate, "before": before["replies"], "during": during["replies"],
            "during_ratio": during["replies"] / before["replies"],
            "queries_ratio": during["queries"] / before["queries"],
            "after_ratio": after["replies"] / before["replies"],
            "worst_ratio": min(during["steps"], default=0) / before["replies"],
            "napi_before_ns": quiet.napi_ns / quiet.seconds / before["replies"],
            "napi_during_ns": busy.napi_ns / busy.seconds / during["replies"],
            "other": max(meter.other_ns / 1e9 / meter.seconds for meter in (quiet, busy)),
            "reload_s": returned - called,
            "steps": [before["steps"], during["steps"], after["steps"]]}


def capacity(server, options):
    """The most replies a second on the way up the ladder."""
    climbed = sweep.climb(server, options.ladder, options.seconds)
    return max(one["replies_per_s"] for one in climbed)


def compare(options, bench):
    """A row for each way of answering and each load; the zone has the smallest of the sizes."""
    bench = type(bench)(bench.rig, bench.folder, Data(bench.folder, min(options.records)))
    rows = []
    for server in (Reloaded(bench, "driver hits", "driver"),
                   ReadElsewhere(bench, "driver hits, zone read on the other CPU", "driver"),
                   Reloaded(bench, "kernel sockets", "kernel_socket", xdp="off", port="socket")):
        try:
            server.start()
            limit = capacity(server, options)
            sweep.say(f"  {server.name}: {limit:,.0f}/s up the ladder")
            for title, share in LOADS.items():
                runs = [reload_under(server, int(share * limit)) for _ in range(options.rounds)]
                rows.append({"name": server.name, "load": title, "records": bench.data.n_records,
                             "runs": runs,
                             **{key: statistics.median(one[key] for one in runs)
                                for key in FIGURES}})
                sweep.say(f"  {server.name}, {title}: {rows[-1]['during_ratio']:.2f} of before")
        finally:
            server.stop()
    return rows
