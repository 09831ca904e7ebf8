#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmarks (make bench BENCH_ARGS="..."). docs/benchmarks-method.md says what each figure means.

    cost    ns per packet by test run: empty program, reflector, miss, hit (xdpcost)
    cache   replies per second from the driver, and CPU for each, against the answers in the cache
    peers   Volley's ways beside reflector, echoes, knotd, nsd, named, unbound: replies per second,
            CPU time for each, latencies at half load, and what a flood leaves
    zones   start to the first right answer of large zones, and memory: volleyd, knotd, nsd
    reload  replies per second while a large zone is loaded again, against those before
    many    many small zones: start, memory, a reload, one zone more; volleyd, knotd, nsd
    random  names that nobody has asked before: Volley, knotd, nsd and the reflector, for zones without
            signatures, with a wildcard, with NSEC and with NSEC3
    fill    resolvers' caches filled past their limits: volleyd, unbound, named; takes hours, so it
            is run only when it is named
    curve   CPU time of volleyd and unbound against the load, one name from upstream

Results go to build/bench/: a JSON file for each part, PNGs, and bench.md, which is printed. Needs
root and two CPUs that have nothing else to do; compare figures of one run only.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

import caches
import curve
import generators
import manyzones
import randomnames
import sidebyside
import reloads
import report
import report_peers
import rig
import servers
import sweep
import zones

PARTS = ("cost", "cache", "peers", "zones", "reload", "curve", "random", "many", "fill")
ENTRIES = [1000, 10000, 100000, 1000000, 4000000]
RECORDS = [1000000, 5000000]
QUICK_RECORDS = 100000
ZONES = [100000]
QUICK_ZONES = 2000


class Bench:
    """What the servers of a run share."""

    def __init__(self, lab, folder, data):
        self.rig, self.folder, self.data = lab, folder, data
        self.generator = generators.Xdpgen(self)


def numbers(text):
    made = [int(word) for word in text.split(",")]
    if not made or min(made) < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be numbers from 1, with commas between")
    return sorted(made)


def parts_of(text):
    made = text.split(",")
    if not set(made) <= set(PARTS):
        raise argparse.ArgumentTypeError(f"{text}: must be of {', '.join(PARTS)}")
    return made


def servers_of(text):
    made = text.split(",")
    if not set(made) <= set(sidebyside.ROWS):
        raise argparse.ArgumentTypeError(f"{text}: must be of {', '.join(sidebyside.ROWS)}")
    return made


def kinds_of(text):
    made = text.split(",")
    if not set(made) <= set(randomnames.KINDS):
        raise argparse.ArgumentTypeError(f"{text}: must be of {', '.join(randomnames.KINDS)}")
    return made


def run_of(text):
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", text) or text.startswith("."):
        raise argparse.ArgumentTypeError(f"{text}: letters, digits, _ . - only")
    return text


def limits_of(text):
    made = tuple(text.split(","))
    if not set(made) <= set(caches.LIMITS):
        raise argparse.ArgumentTypeError(f"{text}: must be of {', '.join(caches.LIMITS)}")
    return made


def parse_options(argv):
    head, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=head, epilog=rest,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--parts", type=parts_of, default=PARTS[:-1], metavar="PART,...",
        help="default: all but fill")
    add("--quick", action="store_true",
        help="some minutes: shows that everything works, not how fast")
    add("--servers", type=servers_of, default=list(sidebyside.ROWS), metavar="NAME,...",
        help=f"rows of `peers`: {', '.join(sidebyside.ROWS)}; of `random`: "
        f"{', '.join(randomnames.ROWS)}; default: all that are here")
    add("--kinds", type=kinds_of, default=list(randomnames.KINDS), metavar="KIND,...",
        help=f"of names in `random`: {', '.join(randomnames.KINDS)}; default: all")
    add("--run", type=run_of, metavar="NAME",
        help="of `peers`: go on with this run, where it stopped (default: a new one)")
    add("--generator", choices=generators.KINDS, default="xdpgen", help="of `peers` (xdpgen)")
    add("--entries", type=numbers, metavar="N,...", help="sizes of the cache (1k 10k 100k 1M 4M)")
    add("--names", type=int, metavar="N",
        help="names in the zones of `peers` and `random` (100000)")
    add("--records", type=numbers, metavar="N,...",
        help="sizes of the zones (1M 5M); `reload` has the smallest")
    add("--zones", type=numbers, metavar="N,...", help="numbers of zones of `many` (100k)")
    add("--fill-names", type=int, metavar="N", help="names that fill asks for (3M)")
    add("--fill-seconds", type=int, default=900, metavar="S", help="at most for each phase (900)")
    add("--limits", type=limits_of, default=tuple(caches.LIMITS), metavar="WORDS,...",
        help=f"of the caches: {', '.join(caches.LIMITS)}; default: all")
    add("--rounds", type=int, metavar="N",
        help="after the one up the ladder (3; `peers`: 5; `random`: 2)")
    add("--seconds", type=float, metavar="S", help="of each run (1.5; `peers`: 1; `random`: 2.5)")
    add("--out", type=pathlib.Path, default=rig.BIN.parent / "bench", metavar="FOLDER",
        help="default: build/bench")
    add("--markdown", type=pathlib.Path, metavar="FILE", help="write the tables there too")
    add("--strict", action="store_true", help="status 1 when something that must hold does not")
    options = parser.parse_args(argv)
    options.entries = options.entries or (ENTRIES[:3] if options.quick else ENTRIES)
    options.names = options.names or (10000 if options.quick else 100000)
    options.records = options.records or ([QUICK_RECORDS] if options.quick else RECORDS)
    options.zones = options.zones or ([QUICK_ZONES] if options.quick else ZONES)
    options.fill_names = options.fill_names or (30000 if options.quick else 3000000)
    options.peer_rounds = options.rounds or (1 if options.quick else 5)
    options.peer_seconds = options.seconds or (0.3 if options.quick else 1.0)
    options.random_rounds = options.rounds or (1 if options.quick else 2)
    options.random_seconds = options.seconds or (0.3 if options.quick else 2.5)
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.seconds = options.seconds or (0.3 if options.quick else 1.5)
    options.ladder = sweep.QUICK_LADDER if options.quick else sweep.LADDER
    return options


def bench_cost(options, folder):
    """The rows that xdpcost writes."""
    words = ["--entries", ",".join(map(str, options.entries)), "--cpu", rig.SERVER_CPU,
             "--json", folder / "cost.json"]
    if options.quick:
        words += ["--rounds", 3]
    rig.run(rig.PERF / "xdpcost", *words, timeout=1800)
    return json.loads((folder / "cost.json").read_text(encoding="ascii"))


def bench_cache(options, bench):
    sizes = [servers.Filled(bench, n) for n in options.entries]
    return sweep.compare(sizes, options)


LAB_PARTS = {"cache": bench_cache, "peers": sidebyside.compare, "reload": reloads.compare,
             "curve": curve.compare, "random": randomnames.compare,
             "fill": caches.compare}


def run_lab_parts(options, folder, found):
    """Those that ask over veth."""
    parts = [part for part in LAB_PARTS if part in options.parts]
    lab = rig.Rig()
    try:
        lab.take_redirects()
        bench = Bench(lab, folder, servers.Data(folder, options.names))
        for part in parts:
            sweep.say(f"{part}: replies per second over veth")
            found[part] = LAB_PARTS[part](options, bench)
    finally:
        lab.close()


def run_parts(options, folder):
    """{part: results}"""
    found = {"machine": report.machine()}
    if "cost" in options.parts:
        sweep.say("cost: ns per packet by test run")
        found["cost"] = bench_cost(options, folder)
    if "zones" in options.parts:
        sweep.say("zones: time and memory of loading")
        found["zones"] = zones.compare(options, folder)
    if "many" in options.parts:
        sweep.say("many: time and memory of many small zones")
        found["many"] = manyzones.compare(options, folder)
    if set(options.parts) & set(LAB_PARTS):
        run_lab_parts(options, folder, found)
    return found


def write(options, found):
    options.out.mkdir(parents=True, exist_ok=True)
    text = report.markdown(found, options)
    how = {"machine": found["machine"], "rounds": options.rounds, "seconds": options.seconds,
           "quick": options.quick}
    own = {"peers": {"rounds": options.peer_rounds, "seconds": options.peer_seconds},
           "random": {"rounds": options.random_rounds, "seconds": options.random_seconds}}
    for part in options.parts:
        all_of_it = {**how, **own.get(part, {}), "results": found[part]}
        text_of_part = json.dumps(all_of_it, indent=1)
        (options.out / f"{part}.json").write_text(text_of_part, encoding="ascii")
    for path in filter(None, (options.out / "bench.md", options.markdown)):
        path.write_text(text, encoding="utf-8")
    if "cache" in found:
        report.plot_cache(options.out / "cache.png", found["cache"], found.get("cost"))
    if "fill" in found:
        report.plot_fill(options.out / "fill.png", found["fill"])
    if "curve" in found:
        report.plot_curve(options.out / "curve.png", found["curve"])
    if "peers" in found:
        report_peers.plot(options.out / "peers.png", found["peers"])
    print(text)
    print(f"bench: {options.out}/: bench.md, JSON and plots")


def main(argv):
    options = parse_options(argv)
    rig.end_on_signals()
    if os.geteuid():
        print("bench: network namespaces and XDP need root", file=sys.stderr)
        return 1
    if os.cpu_count() < 2:
        sweep.say("bench: one CPU: load and server share it, so the figures say little")
    try:
        with tempfile.TemporaryDirectory(prefix="volley-bench-") as folder:
            found = run_parts(options, pathlib.Path(folder))
    except (AssertionError, RuntimeError, OSError) as err:
        print(f"bench: {err}", file=sys.stderr)
        return 1
    write(options, found)
    return 1 if options.strict and not all(holds for *_, holds in report.claims(found)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
