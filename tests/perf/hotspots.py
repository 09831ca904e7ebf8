#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a server's CPU goes at full load: the functions that most samples fell into.

    tests/perf/hotspots.py --servers driver,xsk,sockets
    tests/perf/hotspots.py --servers xsk --rate 500000 --seconds 5 --top 20

Each server of the part `peers` (bench.py --help names them) is started in the rig and offered a
rate, its best up a short ladder unless --rate says otherwise, while `perf record` samples the
server's CPU by its clock: that needs no hardware counters, so it works in a virtual machine too.
Only what the server's own threads did counts: the NAPI thread, the softirq thread, the process.
Needs root and perf (linux-perf), two idle CPUs, and names of kernel
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
import sidebyside
import rig
import servers
import sweep
from tables import table

HERTZ, TOP = 1999, 10
START_S = 0.8       # until xdpgen sends
LADDER_S = 0.5
ENOUGH = 0.95       # of the most replies: at a lower rate that brings as many, less is lost
SAMPLE = re.compile(r"^\s*(.+?)\s+(\d+)\s+[0-9a-f]+\s+(\S.*?)\s+\((.*)\)$")


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
    climbed = sweep.climb(server, sidebyside.LADDER[::2], LADDER_S)
    most = max(one["replies_per_s"] for one in climbed)
    return next(one["offered_per_s"] for one in climbed if one["replies_per_s"] >= ENOUGH * most)


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


def own_threads(server):
    """The numbers of those whose work the server is."""
    found = set(server.rig.server_napi)
    for pid in rig.group_of(server.daemon_pid) or [server.daemon_pid] if server.daemon_pid else ():
        found.update(rig.tasks(pid))
    for comm in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            if comm.read_text(encoding="ascii").strip() == f"ksoftirqd/{rig.SERVER_CPU}":
                found.add(int(comm.parent.name))
        except (OSError, UnicodeDecodeError):
            pass    # ended meanwhile, or none of the kernel's
    return found


def count(path, own):
    """
    ({(function, where): samples}, {thread's name: samples}) of these threads; how many of others.
    """
    functions, threads, others = collections.Counter(), collections.Counter(), 0
    text = rig.run("perf", "script", "-i", path, "-F", "comm,tid,ip,sym,dso", timeout=120).stdout
    for sample in filter(None, map(SAMPLE.match, text.splitlines())):
        comm, thread, function, dso = sample.groups()
        if int(thread) in own:
            threads[comm] += 1
            functions[function, where(dso)] += 1
        elif int(thread):
            others += 1
    return functions, threads, others


def show(server, rate, made, counted, top):
    functions, threads, others = counted
    busy = max(1, sum(functions.values()))
    shares = ", ".join(f"{name} {n / busy:.0%}" for name, n in threads.most_common(4))
    print(f"\n{server.name}: {rate:,}/s offered, {made['replies_per_s']:,.0f}/s answered; "
          f"{busy} samples: {shares}; {others} of others on the CPU\n")
    print(table(["function", "in", "share"],
                [[function, place, f"{n / busy:.1%}"]
                 for (function, place), n in functions.most_common(top)]), flush=True)


def profile(server, options, folder):
    def work():
        rate = options.rate or best_rate(server)
        path = folder / "perf.data"
        made = record(server, rate, options.seconds, path)
        return rate, made, count(path, own_threads(server))
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
        lab.take_redirects()
        with tempfile.TemporaryDirectory(prefix="volley-bench-") as name:
            folder = pathlib.Path(name)
            shared = bench.Bench(lab, folder, servers.Data(folder, options.names))
            for key in options.servers:
                server = sidebyside.ROWS[key](shared)
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
