#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""What Prometheus costs: hits of the driver while metrics.listen is scraped each second, beside
hits while nobody scrapes.

    tests/perf/scrapes.py --pairs 100 --seconds 1 --zones 1000

One volleyd on one CPU, with the driver; xdpgen asks as fast as it can from another one. A pair is a
run without scrapes and one with them, in
turns: the second pair begins with scrapes. Printed are medians and quartiles over the pairs:

    replies     replies per second with scrapes, of those without
    driver      CPU time of the driver for each reply with scrapes, of that without: what remains when the scrapes' own CPU time is elsewhere
    volleyd     CPU time of volleyd for each scrape, all threads

The scraper is a thread of this program in the server's namespace, on the CPU of the load. Other
work on the machine makes the quartiles wider: take more pairs.
"""
import argparse
import http.client
import os
import pathlib
import statistics
import tempfile
import threading
import time

import bench
import rig
import servers
from netlab import write_zone
from tables import table

PORT = 9253
N_NAMES = 10000


class Told(servers.Volley):
    """volleyd with metrics, and so many small zones beside the one that is asked."""

    def __init__(self, made, n_zones):
        super().__init__(made, "volleyd", "driver")
        self.n_zones = n_zones

    def start(self):
        self.folder = tempfile.TemporaryDirectory(prefix="volley-scrapes-")
        small = write_zone(pathlib.Path(self.folder.name) / "small.zone")
        self.daemon = rig.PinnedDaemon(self.rig, self.folder.name)
        self.daemon.start(interfaces=[rig.iface()], cache=self.cache,
                          metrics={"listen": f"{rig.V4}@{PORT}"},
                          zones=[rig.zone(servers.ORIGIN, self.data.zone),
                                 *(rig.zone(f"z{i}.test", small) for i in range(self.n_zones))])
        self.warm()


class Scraper(threading.Thread):
    """GET /metrics every so many seconds, over a `with`."""

    def __init__(self, lab, every_s):
        super().__init__()
        self.lab, self.every_s, self.ended = lab, every_s, threading.Event()
        self.n, self.octets, self.took_s = 0, 0, []

    def scrape(self):
        connection = http.client.HTTPConnection(rig.V4, PORT, timeout=10)
        begun = time.monotonic()
        try:
            connection.sock = self.lab.connect("s", rig.V4, PORT)
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            self.octets = len(answer.read())
            if answer.status != 200:
                raise RuntimeError(f"/metrics: status {answer.status}")
        finally:
            connection.close()
        self.n += 1
        self.took_s.append(time.monotonic() - begun)

    def run(self):
        os.sched_setaffinity(threading.get_native_id(), {rig.LOAD_CPU})
        wait_s = self.every_s / 2  # a run of one second has one scrape in its middle
        while not self.ended.wait(wait_s):
            self.scrape()
            wait_s = self.every_s

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.ended.set()
        self.join()


class Run:
    """Some seconds of load, with scrapes or without."""

    def __init__(self, server, seconds, every_s):
        with rig.Meter(server.rig, server.daemon_pid) as meter:
            if every_s:
                with Scraper(server.rig, every_s) as scraper:
                    self.load = server.load(seconds, 0)
                self.n_scrapes, self.octets, self.took_s = scraper.n, scraper.octets, scraper.took_s
            else:
                self.load, self.n_scrapes = server.load(seconds, 0), 0
        self.replies_per_s = self.load["replies_per_s"]
        self.driver_ns = meter.napi_ns / self.load["replies"]
        self.daemon_ns = meter.daemon_ns


def quartiles(values, unit="", scale=1.0, digits=3):
    low, middle, high = (f"{value * scale:.{digits}f}{unit}"
                         for value in statistics.quantiles(values, n=4))
    return low, middle, high


def measure(server, options):
    """(without, with) of each pair."""
    pairs = []
    for i in range(options.pairs):
        order = (0, options.every) if i % 2 == 0 else (options.every, 0)
        first, second = (Run(server, options.seconds, every_s) for every_s in order)
        pairs.append((first, second) if i % 2 == 0 else (second, first))
    return pairs


def report(pairs):
    scraped = [run for _, run in pairs]
    per_scrape = [(run.daemon_ns - quiet.daemon_ns) / run.n_scrapes for quiet, run in pairs]
    rows = [("replies",
             *quartiles([run.replies_per_s / quiet.replies_per_s for quiet, run in pairs])),
            ("driver", *quartiles([run.driver_ns / quiet.driver_ns for quiet, run in pairs])),
            ("volleyd, ms for each scrape", *quartiles(per_scrape, scale=1e-6, digits=2)),
            ("scrape took, ms",
             *quartiles([s for run in scraped for s in run.took_s], scale=1e3, digits=1))]
    print(f"{len(pairs)} pairs; {statistics.median(quiet.replies_per_s for quiet, _ in pairs):.0f} "
          f"replies a second without scrapes; "
          f"{sum(run.n_scrapes for run in scraped)} scrapes of {scraped[0].octets} octets\n")
    print(table(("with scrapes", "lower quartile", "median", "upper quartile"), rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=100, metavar="N", help="of runs (100)")
    parser.add_argument("--seconds", type=int, default=1, metavar="N", help="of each run (1)")
    parser.add_argument("--every", type=float, default=1, metavar="SECONDS",
                        help="between two scrapes (1)")
    parser.add_argument("--zones", type=int, default=10, metavar="N",
                        help="beside the one that is asked (10)")
    options = parser.parse_args()
    rig.end_on_signals()
    lab = rig.Rig()
    try:
        lab.ip("s", "link", "set", "lo", "up")
        with tempfile.TemporaryDirectory(prefix="volley-scrapes-") as folder:
            made = bench.Bench(lab, pathlib.Path(folder),
                               servers.Data(pathlib.Path(folder), N_NAMES))
            server = Told(made, options.zones)
            try:
                server.start()
                report(measure(server, options))
            finally:
                server.stop()
    finally:
        lab.close()


if __name__ == "__main__":
    main()
