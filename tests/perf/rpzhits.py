#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""What rules of policies cost hits: answers from upstream that the driver gives to 600 clients,
with a list of 1,000,000 rules and without.

    tests/perf/rpzhits.py --pairs 20 --seconds 1 --rules 1000000 --clients 600

Two volleyd on one CPU, each in a lab of its own, with recursion for so many clients; an nsd beside
each is its upstream. One has a list of rules for names that nobody asks for. xdpgen asks one of
them as fast as it can, then the other, in turns: the second pair begins with the rules. Printed are
medians and quartiles over the pairs, and the memory of volleyd for each rule:

    replies     replies per second with the rules, of those without
    driver      CPU time of the driver for each reply with the rules, of that without
"""
import argparse
import pathlib
import statistics
import subprocess
import tempfile

import bench
import rig
import servers
from tables import table

UPSTREAM = "127.0.1.3"
N_NAMES = 1000


def clients(n):
    """The one that asks, and others."""
    return [rig.CLIENT4 + "/32"] + [f"10.9.{i >> 8}.{i & 255}/32" for i in range(n - 1)]


def write_rules(path, n):
    with open(path, "w", encoding="ascii") as f:
        f.write("$TTL 300\n@ SOA . . 1 3600 600 86400 300\n@ NS localhost.\n")
        f.writelines(f"r{i:07d}.nobody-asks.test CNAME .\n" for i in range(n))
    return path


class Resolver(servers.Volley):
    """volleyd that asks an nsd, with a list of rules or without."""

    def __init__(self, made, n_clients, rules):
        super().__init__(made, "volleyd", "driver")
        self.n_clients, self.rules, self.upstream = n_clients, rules, None

    def start_upstream(self, folder):
        (folder / "nsd.conf").write_text(
            f"server:\n  ip-address: {UPSTREAM}\n  port: 53\n  username: \"\"\n  zonesdir: "
            f"{folder}\n  pidfile: {folder}/nsd.pid\n"
            f"  zonelistfile: {folder}/zone.list\n  xfrdfile: {folder}/xfrd.state\n  database: "
            f"\"\"\n  verbosity: 0\nremote-control:\n"
            f"  control-enable: no\nzone:\n  name: {servers.ORIGIN}\n  zonefile: {self.data.zone}\n", encoding="ascii")
        self.upstream = self.rig.popen("s", "nsd", "-d", "-c", str(folder / "nsd.conf"),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        self.folder = tempfile.TemporaryDirectory(prefix="volley-rpzhits-")
        self.start_upstream(pathlib.Path(self.folder.name))
        self.daemon = rig.PinnedDaemon(self.rig, self.folder.name)
        recursion = {"allow": clients(self.n_clients), "query-localhost": True, "threads": 1,
                     "stubs": [{"zone": servers.ORIGIN, "address": UPSTREAM}]}
        if self.rules:
            recursion["rpz"] = [{"name": "many", "file": str(self.rules)}]
        self.daemon.start(interfaces=[rig.iface()], cache=self.cache, zones=[], recursion=recursion)
        self.warm()

    def memory(self):
        """Octets of volleyd that are in memory."""
        for line in pathlib.Path(f"/proc/{self.daemon_pid}/status").read_text(
            encoding="ascii").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("no RssAnon")

    def stop(self):
        super().stop()
        if self.upstream:
            self.upstream.terminate()
            self.upstream.wait(10)


def run(server, seconds):
    with rig.Meter(server.rig, server.daemon_pid) as meter:
        load = server.load(seconds, 0)
    return load["replies_per_s"], meter.napi_ns / load["replies"]


def measure(without, with_rules, options):
    pairs = []
    for i in range(options.pairs):
        order = (without, with_rules) if i % 2 == 0 else (with_rules, without)
        first, second = (run(server, options.seconds) for server in order)
        pairs.append((first, second) if i % 2 == 0 else (second, first))
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=20, metavar="N", help="of runs (20)")
    parser.add_argument("--seconds", type=int, default=1, metavar="N", help="of each run (1)")
    parser.add_argument("--rules", type=int, default=1000000, metavar="N",
                        help="of the list (1,000,000)")
    parser.add_argument("--clients", type=int, default=600, metavar="N",
                        help="that may recurse (600)")
    options = parser.parse_args()
    rig.end_on_signals()
    labs, started = [rig.Rig(), rig.Rig()], []
    try:
        with tempfile.TemporaryDirectory(prefix="volley-rpzhits-") as folder:
            folder = pathlib.Path(folder)
            rules = write_rules(folder / "many.rpz", options.rules)
            try:
                for lab, its_rules in zip(labs, (None, rules)):
                    lab.ip("s", "link", "set", "lo", "up")
                    made = bench.Bench(lab, folder, servers.Data(folder, N_NAMES))
                    started.append(Resolver(made, options.clients, its_rules))
                    started[-1].start()
                memory = [server.memory() for server in started]
                pairs = measure(*started, options)
            finally:
                for server in started:
                    server.stop()
    finally:
        for lab in labs:
            lab.close()
    quartiles = [[f"{q:.3f}" for q in statistics.quantiles([b[i] / a[i] for a, b in pairs], n=4)]
                 for i in (0, 1)]
    print(f"{len(pairs)} pairs; {statistics.median(a[0] for a, _ in pairs):.0f} replies a second "
          f"without rules; "
          f"{(memory[1] - memory[0]) / options.rules:.1f} octets of memory for each rule\n")
    print(table(("with rules", "lower quartile", "median", "upper quartile"),
                [("replies", *quartiles[0]), ("driver", *quartiles[1])]))


if __name__ == "__main__":
    main()
