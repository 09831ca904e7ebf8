#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Where a server's CPU goes at full load: the functions that most samples fell into.

    tests/perf/hotspots.py --servers driver,xsk,sockets
    tests/perf/hotspots.py --servers xsk --rate 500000 --seconds 5 --top 20

Each server of the part `peers` (bench.py --help names them) is started in the rig and offered a rate, its
best up a short ladder unless --rate says otherwise, while `perf record` samples the server's CPU by
its clock: that needs no hardware counters, so it works in a virtual machine too. XDP program, kernel
and process are told apart by name. Needs root and perf (linux-perf), two idle CPUs, and names of kernel
functions: kernel.kptr_restrict must not hide them from root.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import sys
import tempfile
import threading

import bench
import peers
import rig
import servers
import sweep
from tables import table

HERTZ, TOP = 1999, 10
START_S = 0.8       # until xdpgen sends
LADDER_S = 0.5
IDLE = "swapper"
SAMPLE = re.compile(r"^\s*(.+?)\s+[0-9a-f]+\s+(\S.*?)\s+\((.*)\)$")


def parse_options(argv):
    head, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=head, epilog=rest,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--servers", type=bench.servers_of, default=["driver", "xsk", "dpdk", "sockets"],
        metavar="NAME,...", help="rows of `peers` (Volley's ways)")
    add("--rate", type=int, metavar="N", help="queries per second (default: the best one)")
    add("--seconds", type=float, default=3, metavar="S", help="of sampling (3)")
    add("--top", type=int, default=TOP, metavar="N", help=f"functions to show ({TOP})")
    add("--names", type=int, default=100000, metavar="N", help="names in the zone (100000)")
    return parser.parse_args(argv)


def best_rate(server):
    climbed = sweep.climb(server, peers.LADDER[::2], LADDER_S)
    return max(climbed, key=lambda one: one["replies_per_s"])["offered_per_s"]


def record(server, rate, seconds, path):
    """What the load brought; samples of the server's CPU meanwhile go to the file."""
    made = {}
    load = threading.Thread(target=lambda: made.update(server.load(seconds + 2 * START_S, rate)))
    load.start()
    try:
        threading.Event().wait(START_S)
        rig.run("perf", "record", "-q", "-e", "cpu-clock", "-F", HERTZ, "-C", rig.SERVER_CPU, "-o",
                path, "--", "sleep", seconds, timeout=seconds + 60)
    finally:
        load.join()
    if not made:
        raise RuntimeError(f"{server.name}: the load did not run")
    return made


def where(dso):
    """A word for what a function lies in."""
    if "kernel" in dso:
        return "kernel"
    if "bpf_prog" in dso or "bpf_trampoline" in dso:
        return "XDP program"
    return pathlib.Path(dso).name


def count(path):
    """(samples, {(function, where): samples}, {thread's name: samples}), without idle ones."""
    functions, threads = collections.Counter(), collections.Counter()
    text = rig.run("perf", "script", "-i", path, "-F", "comm,ip,sym,dso", timeout=120).stdout
    for sample in filter(None, map(SAMPLE.match, text.splitlines())):
        comm, function, dso = sample.groups()
        threads[comm] += 1
        if comm != IDLE:
            functions[function, where(dso)] += 1
    return sum(threads.values()), functions, threads


def show(server, rate, made, counted, top):
    n_samples, functions, threads = counted
    busy = max(1, sum(functions.values()))
    shares = ", ".join(f"{name} {n / n_samples:.0%}" for name, n in threads.most_common(4))
    print(f"\n{server.name}: {rate:,}/s offered, {made['replies_per_s']:,.0f}/s answered; "
          f"{n_samples} samples: {shares}\n")
    print(table(["function", "in", "share"],
                [[function, place, f"{n / busy:.1%}"]
                 for (function, place), n in functions.most_common(top)]), flush=True)


def profile(server, options, folder):
    def work():
        rate = options.rate or best_rate(server)
        path = folder / "perf.data"
        made = record(server, rate, options.seconds, path)
        return rate, made, count(path)
    (rate, made, counted), _note = sweep.at_work(server, work)
    show(server, rate, made, counted, options.top)


def main(argv):
    options = parse_options(argv)
    rig.end_on_signals()
    if os.geteuid() or not shutil.which("perf", path=rig.ENV["PATH"]):
        print("hotspots: needs root, and perf (make deps: linux-perf)", file=sys.stderr)
        return 1
    lab = rig.Rig()
    try:
        with tempfile.TemporaryDirectory(prefix="volley-bench-") as name:
            folder = pathlib.Path(name)
            shared = bench.Bench(lab, folder, servers.Data(folder, options.names))
            for key in options.servers:
                server = peers.ROWS[key](shared)
                try:
                    profile(server, options, folder)
                except servers.NotHere as why:
                    print(f"\n{server.name}: left out: {why}", flush=True)
    except (AssertionError, RuntimeError, OSError) as err:
        print(f"hotspots: {err}", file=sys.stderr)
        return 1
    finally:
        lab.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
