#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The AF_XDP worker with and without busy polling, at low and at high load.

    tests/perf/busypoll.py                          # as root, two idle CPUs: some four minutes
    tests/perf/busypoll.py --rates 10000,100000 --rounds 3

    woken              the NAPI thread receives, and wakes the worker: the default
    busy-poll          busy-poll: true; the NAPI thread receives whenever a frame comes
    busy-poll, alone   the same, and napi_defer_hard_irqs and gro_flush_timeout of the interface
                       let the worker alone receive while it polls

Worker and NAPI thread share one CPU. Queries are for 100,000 names that the worker has in the cache
(the driver does not answer), and then for names that nobody has asked before. In each round the
ways take turns, and each is started anew; the figures are medians.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

import bench
import generators
import rig
import servers
import sidebyside
import sweep
from tables import table

RATES = [1000, 10000, 100000, 300000, 600000, 3000000]
DEFER_IRQS, FLUSH_NS = 2, 200000   # as volleyctl doctor advises
FIGURES = ("replies_per_s", "loss", "p50_us", "p99_us", "napi_cpu", "daemon_cpu")


class Polled:
    """What a server with busy polling does before and after: a part of the classes below."""

    def start(self):
        self.defer(DEFER_IRQS, FLUSH_NS)
        super().start()

    def stop(self):
        try:
            super().stop()
        finally:
            self.defer(0, 0)

    def defer(self, irqs, flush_ns):
        """Settings of the server's end; its namespace has its own /sys."""
        for name, value in (("napi_defer_hard_irqs", irqs), ("gro_flush_timeout", flush_ns)):
            rig.run("ip", "netns", "exec", f"{self.rig.name}-s", "sh", "-c",
                    f"echo {value} >/sys/class/net/s0/{name}")


class PolledAlone(Polled, servers.Volley):
    """The worker alone receives, cached names."""


class PolledAloneUnasked(Polled, servers.Unasked):
    """The same, new names."""


def ways(shared):
    """[(way, names, server)]"""
    cached = {"who": "worker", "port": "xsk", **sidebyside.NO_DRIVER}
    fresh = {"who": "worker", "port": "xsk"}
    polled = {"busy-poll": True}
    made = []
    for names, how, plain, alone in (("cached", cached, servers.Volley, PolledAlone),
                                     ("new", fresh, servers.Unasked, PolledAloneUnasked)):
        made += [("woken", names, plain(shared, f"woken, {names}", **how)),
                 ("busy-poll", names, plain(shared, f"busy-poll, {names}", **how, **polled)),
                 ("busy-poll, alone", names,
                  alone(shared, f"busy-poll, alone, {names}", **how, **polled))]
    return made


def measure(server, options):
    """[a sample for each rate]"""
    return [sweep.sample(server, rate, options.seconds, latency=True) for rate in options.rates]


def rows(found, options):
    """A line for each kind of names, rate and way."""
    lines = []
    for names in ("cached", "new"):
        for i, rate in enumerate(options.rates):
            for (way, of), rounds in found.items():
                if of != names:
                    continue
                figures = {key: statistics.median(one[i][key] for one in rounds)
                           for key in FIGURES}
                lines.append([names, f"{rate:,}", way, f"{figures['replies_per_s']:,.0f}",
                              f"{figures['loss']:.2%}", f"{figures['p50_us']:.0f}",
                              f"{figures['p99_us']:.0f}", f"{figures['napi_cpu']:.0%}",
                              f"{figures['daemon_cpu']:.0%}"])
    return lines


def parse_options(argv):
    head, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=head, epilog=rest,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--rates", type=bench.numbers, default=RATES, metavar="N,...", help="queries a second")
    add("--rounds", type=int, default=3, metavar="N", help="how often each is measured (3)")
    add("--seconds", type=float, default=2, metavar="S", help="of each run (2)")
    add("--names", type=int, default=100000, metavar="N", help="names in the zone (100000)")
    return parser.parse_args(argv)


def compare(lab, folder, options):
    shared = bench.Bench(lab, folder, servers.Data(folder, options.names))
    shared.generator = generators.Xdpgen(shared)
    found = {}
    for i in range(options.rounds):
        for way, names, server in ways(shared):
            made, _note = sweep.at_work(server, lambda s=server: measure(s, options))
            found.setdefault((way, names), []).append(made)
        sweep.say(f"  round {i + 1} of {options.rounds}")
    return found


def main(argv):
    options = parse_options(argv)
    rig.end_on_signals()
    if os.geteuid():
        print("busypoll: needs root", file=sys.stderr)
        return 1
    lab = rig.Rig()
    try:
        lab.take_redirects()
        with tempfile.TemporaryDirectory(prefix="volley-bench-") as name:
            found = compare(lab, pathlib.Path(name), options)
    except (AssertionError, RuntimeError, OSError) as err:
        print(f"busypoll: {err}", file=sys.stderr)
        return 1
    finally:
        lab.close()
    print(table(["names", "offered/s", "way", "replies/s", "lost", "p50, µs", "p99, µs",
                 "CPU: NAPI", "volleyd"], rows(found, options)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
