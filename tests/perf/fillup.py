#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""fillup: does a cache that is too small, or just large enough, make the server slow, or grow?

What made resolvers slow in 2007 was the cleaning of a full cache. So a volleyd with a zone of N
names (3,000,000; TTL 2 hours) is asked, by dnsperf over loopback:

    all      every name once, in order of the zone
    third    every third name once
    one      one name over and over

for three limits: the default, 140 MB, and one that holds all. Each second of it has a rate of
replies, and one for each second of CPU time that volleyd has had meanwhile, which other work on the
machine disturbs less. Memory is what is resident, less what is so with a cache of 8 MiB before the
first query: zone, code and buffers.
"""
import argparse
import json
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import report
import rig
import zones

ORIGIN, SERIAL, TTL = zones.ORIGIN, zones.SERIAL, 7200
SMALLEST = 8 << 20  # the least that is accepted
LIMITS = (("256 MB, the default", 256 << 20), ("140 MB", 140000000), ("640 MB: holds all", 640 << 20))
ONE_SECONDS, OUTSTANDING, BLOCK = 15, 100, 5
CONFIG = """server: {{ listen: ["127.0.0.1@{port}"], workers: 1 }}
cache: {{ size: {size} }}
control: {{ socket: {folder}/control.sock }}
zones: [ {{ name: {origin}, file: {folder}/zone }} ]
"""


def write_inputs(folder, names):
    """The zone, and the names in dnsperf's form for each phase: {phase: path}"""
    with open(folder / "zone", "w", encoding="ascii") as out:
        out.write(f"$ORIGIN {ORIGIN}\n$TTL {TTL}\n@ SOA ns1 root {SERIAL} 2 3 4 60\n@ NS ns1\n"
                  "ns1 A 192.0.2.1\n")
        out.writelines(f"n{i} A 192.0.2.{i % 250}\n" for i in range(names))
    lists = {"all": range(names), "third": range(0, names, 3), "one": [names // 2]}
    for phase, numbers in lists.items():
        with open(folder / phase, "w", encoding="ascii") as out:
            out.writelines(f"n{i}.{ORIGIN} A\n" for i in numbers)
    return {phase: folder / phase for phase in lists}


class Server:
    """A volleyd of its own with this limit, ready to be asked."""

    def __init__(self, folder, size):
        self.port, self.folder = zones.free_port(), folder
        config = folder / "volley.yaml"
        config.write_text(CONFIG.format(port=self.port, size=size, folder=folder, origin=ORIGIN))
        with open(folder / "log", "ab") as log:
            self.process = subprocess.Popen([rig.BIN / "volleyd", "-c", config], stderr=log)
        try:
            zones.wait_for_answer(self.port, lambda: self.process.poll() is not None)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def cache(self):
        made = subprocess.run([rig.BIN / "volleyctl", "-s", self.folder / "control.sock", "--json",
                               "cache", "stats"], stdout=subprocess.PIPE, check=True)
        return json.loads(made.stdout)

    def resident(self):
        """Octets, of the whole process."""
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text(encoding="ascii")
        return int(re.search(r"^Rss:\s+(\d+)", text, re.M).group(1)) << 10

    def cpu_s(self):
        """Of all its threads."""
        return rig.cpu_ns([self.process.pid]) / 1e9


class Sampler(threading.Thread):
    """Once a second (time, CPU time, resident memory), until it is stopped."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.samples, self.stopped = server, [], threading.Event()
        self.start()

    def run(self):
        while not self.stopped.wait(1):
            self.samples.append((time.time(), self.server.cpu_s(), self.server.resident()))

    def stop(self):
        self.stopped.set()
        self.join()


def ask(server, path, seconds=None):
    """[(seconds since the epoch, replies per second of the second before)] and how many were lost.
    A run must last some seconds; those in which it begins and ends are not whole: they do not count."""
    rounds = ["-l", str(seconds)] if seconds else ["-n", "1"]
    made = subprocess.run(["dnsperf", "-s", "127.0.0.1", "-p", str(server.port), "-d", path, "-S",
                           "1", "-q", str(OUTSTANDING), "-t", "1", *rounds],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    rates = [(float(at), float(rate)) for at, rate in
             re.findall(r"^(\d+\.\d+): (\d+\.\d+)$", made.stdout, re.M)]
    lost = int(re.search(r"Queries lost:\s+(\d+)", made.stdout).group(1))
    noerror = re.search(r"NOERROR (\d+) \(100\.00%\)", made.stdout)
    if not noerror or not rates:
        raise RuntimeError(f"dnsperf: not all replies are NOERROR:\n{made.stdout}")
    return rates[1:], lost  # the first is printed as it begins


def by_cpu(rates, samples):
    """Replies for each second of the server's CPU time, over BLOCK seconds each: dnsperf counts by
    seconds that are not the sampler's."""
    made = []
    for (t0, cpu0, _), (t1, cpu1, _) in zip(samples[::BLOCK], samples[BLOCK::BLOCK]):
        n = sum(rate for at, rate in rates if t0 < at <= t1)
        if n and cpu1 > cpu0:
            made.append((t1, n / (cpu1 - cpu0)))
    return made


def bare_bytes(folder):
    """What is resident but for the cache."""
    server = Server(folder, SMALLEST)
    bare = server.resident() - SMALLEST
    server.stop()
    return bare


def run_limit(folder, inputs, name, size, bare):
    server = Server(folder, size)
    sampler = Sampler(server)
    phases = {}
    try:
        for phase, path in inputs.items():
            begun = time.time()
            rates, lost = ask(server, path, ONE_SECONDS if phase == "one" else None)
            phases[phase] = {"rates": rates, "lost": lost, "begun": begun, "ended": time.time()}
        after = server.cache()
    finally:
        sampler.stop()
        server.stop()
    for one in phases.values():
        inside = [s for s in sampler.samples if one["begun"] <= s[0] <= one["ended"]]
        one["by_cpu"] = by_cpu(one["rates"], inside)
    return {"name": name, "limit": size, "bare": bare, "samples": sampler.samples,
            "phases": phases, "cache": after}


def row(result, phase):
    one = result["phases"][phase]
    wall = [rate for _, rate in one["rates"]]
    cpu = [rate for _, rate in one["by_cpu"]]
    return {"limit": result["name"], "phase": phase, "seconds": len(wall), "lost": one["lost"],
            "median": statistics.median(wall), "least": min(wall) / statistics.median(wall),
            "cpu_median": statistics.median(cpu), "cpu_least": min(cpu) / statistics.median(cpu)}


def print_rows(results):
    print("| limit | phase | s | lost | replies/s, median | least second | per CPU s, median "
          "| least |\n| :-- | :-- | --: | --: | --: | --: | --: | --: |")
    for result in results:
        for phase in result["phases"]:
            one = row(result, phase)
            print(f"| {one['limit']} | {phase} | {one['seconds']} | {one['lost']} "
                  f"| {one['median']:,.0f} | {one['least']:.2f} | {one['cpu_median']:,.0f} "
                  f"| {one['cpu_least']:.2f} |")
    print("\n| limit | cache of the limit, MB | all maps and lists, MB | most that was resident, MB "
          "| answers at the end | skipped |\n| :-- | --: | --: | --: | --: | --: |")
    for result in results:
        cache = result["cache"]
        grew = max(s[2] for s in result["samples"]) - result["bare"]
        print(f"| {result['name']} | {result['limit'] / 1e6:.1f} "
              f"| {cache['total_bytes'] / 1e6:.1f} | {grew / 1e6:.1f} "
              f"| {cache['entries']:,} | {cache['no_room']:,} |")


def plot(path, results):
    plt = report.pyplot()
    figure, (top, bottom) = plt.subplots(2, figsize=(9, 7), sharex=True)
    for result in results:
        zero = result["phases"]["all"]["begun"]
        points = [p for one in result["phases"].values() for p in one["by_cpu"]]
        top.plot([at - zero for at, _ in points], [rate / 1e3 for _, rate in points],
                 label=result["name"])
        bottom.plot([at - zero for at, _, _ in result["samples"]],
                    [(rss - result["bare"]) / 1e6 for _, _, rss in result["samples"]])
    top.set(ylabel="thousand replies per second of CPU time", title="Filling and cleaning the cache")
    bottom.set(xlabel="seconds", ylabel="resident memory of the cache, MB")
    top.set_ylim(bottom=0)
    bottom.set_ylim(bottom=0)
    top.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=3000000, metavar="N")
    parser.add_argument("--png", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="volley-fillup-") as made:
        folder = pathlib.Path(made)
        inputs = write_inputs(folder, options.names)
        bare = bare_bytes(folder)
        results = [run_limit(folder, inputs, name, size, bare) for name, size in LIMITS]
    print_rows(results)
    if options.png:
        plot(options.png, results)
    if options.json:
        options.json.write_text(json.dumps(results), encoding="ascii")


if __name__ == "__main__":
    main(sys.argv[1:])
