# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmarks found, as plots and as tables: markdown that a terminal shows well too."""
import datetime
import os
import platform
import subprocess

import caches
import curve
import report_peers
import report_random
import rig
from tables import pyplot, save, table

HIT_ABOVE_NS, CACHE_RATIO = 100, 0.60   # what Volley must show
OPTION_NS = (("cookie", "with a cookie", 60), ("far", "far below its rate limit", 15),
             ("near", "near its rate limit", 120))
LARGE = 4000000
# Many zones: against the better peer, and seconds at so many zones.
MANY_MEMORY_RATIO, MANY_START_RATIO = 1.0, 1.2
MANY, MANY_RELOAD_CPU_S, MANY_FILE_S, MANY_COMMAND_S = 100000, 0.2, 0.5, 0.005
LOAD_RATIO, MEMORY_RATIO, PEAK_RATIO = 1.0, 0.8, 1.5   # loading zones, against the better peer
RELOAD_RATIO = 0.95
LEAST_SECOND, FILL_RATIO, FORWARD_RATIO, HITS_TIMES = 0.5, 1.0, 2.0, 5.0   # caches of resolvers
BASE_BYTES = 96 << 20   # of volleyd beside its cache: docs/benchmarks-method.md


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        models = [line.partition(":")[2].strip() for line in f if line.startswith("model name")]
    commit = subprocess.run(["git", "-C", str(rig.ROOT), "describe", "--always", "--dirty"],
                            capture_output=True, text=True, check=False).stdout.strip()
    return {"cpu": (models or [platform.machine()])[0], "cpus": os.cpu_count(),
            "kernel": platform.release(), "commit": commit or "unknown",
            "date": datetime.date.today().isoformat()}


def cost_table(rows):
    """At the smallest and the largest size, and at a million; cost.json has them all."""
    sizes = {one["entries"] for one in rows}
    shown = {min(sizes), max(sizes), 1000000}
    rows = [one for one in rows if one["entries"] in shown]
    return table(["ns per packet", "answers", "IP", "OPT", "empty", "reflector", "miss", "hit",
                  "hit above reflector", "least", "for options", "least"],
                 [[one["kind"], f"{one['entries']:,}", "v6" if one["ipv6"] else "v4",
                   one["tail"],
                   *(f"{one[key]:.0f}" if key in one else ""
                     for key in ("empty_ns", "reflect_ns", "miss_ns", "hit_ns",
                                                   "hit_above_reflect_ns",
                                                   "hit_above_reflect_least_ns", "options_ns",
                                                   "options_least_ns"))]
                  for one in rows])


def small_rows(rows):
    """Of the first kind, which is measured at every size; without options."""
    return [one for one in rows if one["kind"] == rows[0]["kind"] and "options_ns" not in one]


def test_run_ns(rows):
    """{answers: mean ns of a hit over the kinds of query}."""
    found = {}
    for one in small_rows(rows):
        found.setdefault(one["entries"], []).append(one["hit_ns"])
    return {entries: sum(all_ns) / len(all_ns) for entries, all_ns in found.items()}


def cache_table(results, rows):
    """Rate against size: over veth and by test run."""
    hits = test_run_ns(rows) if rows else {}
    first = next(iter(hits.values()), 0)
    lines = []
    for one in results:
        entries = int(one["name"].split()[0].replace(",", ""))
        ns = hits.get(entries)
        lines.append([f"{entries:,}", f"{one['replies_per_s']:,.0f}", f"{one['ratio']:.2f}",
                      f"{one['napi_ns']:.0f}", f"{one['spread']:.0%}", f"{ns:.0f}" if ns else "-",
                      f"{first / ns:.2f}" if ns else "-",
                      f"{one['note']['maps_bytes'] / 2**20:,.0f} MiB"])
    return table(["answers in the cache", "replies/s", "ratio", "CPU ns/reply", "spread",
                  "test run: ns/hit", "ratio", "memory of the maps"], lines)


def zones_table(rows):
    """Each ratio is to the better of the peers."""
    return table(["zone", "records", "server", "s to first answer", "ratio", "CPU s", "ratio",
                  "octets/record", "ratio", "peak/record"],
                 [[one["kind"], f"{one['records']:,}", one["server"], f"{one['wall_s']:.2f}",
                   f"{one['wall_s_ratio']:.2f}", f"{one['cpu_s']:.2f}",
                   f"{one['cpu_s_ratio']:.2f}", f"{one['bytes'] / one['records']:.0f}",
                   f"{one['bytes_ratio']:.2f}", f"{one['peak_bytes'] / one['records']:.0f}"]
                  for one in rows])


def many_table(rows):
    """Each ratio is to the better of the peers."""
    return table(["zones", "server", "s to the last answer", "ratio", "CPU s", "ratio",
                  "memory, MiB", "octets/zone", "ratio", "reload: CPU s",
                  "one more by file, s", "CPU s", "by command, ms"],
                 [[f"{one['zones']:,}", one["server"], f"{one['start_s']:.2f}",
                   f"{one['start_s_ratio']:.2f}", f"{one['start_cpu_s']:.2f}",
                   f"{one['start_cpu_s_ratio']:.2f}", f"{one['all_bytes'] / 2**20:.0f}",
                   f"{one['bytes'] / one['zones']:,.0f}", f"{one['bytes_ratio']:.2f}",
                   f"{one['reload_cpu_s']:.2f}", f"{one['file_s']:.2f}",
                   f"{one['file_cpu_s']:.2f}", f"{1000 * one['command_s']:.1f}"] for one in rows])


def reload_table(rows):
    """Ratios are to the replies before; how many queries came during it is there to compare."""
    return table(["reload under load", "load", "offered/s", "replies/s before", "during", "ratio",
                  "queries' ratio", "worst 0.1 s", "second after", "NAPI ns/reply before",
                  "during", "reload took", "others on the CPU"],
                 [[one["name"], one["load"], f"{one['offered_per_s']:,.0f}",
                   f"{one['before']:,.0f}",
                   f"{one['during']:,.0f}", *(f"{one[key]:.2f}" for key in (
                       "during_ratio", "queries_ratio", "worst_ratio", "after_ratio")),
                   f"{one['napi_before_ns']:.0f}", f"{one['napi_during_ns']:.0f}",
                   f"{one['reload_s']:.1f} s", f"{one['other']:.0%}"] for one in rows])


def fill_table(rows):
    """A row for each phase; memory beside the first of a server."""
    lines = []
    for one in rows:
        for phase, made in one["phases"].items():
            grown = (one["peak"] - one["base"]) / 1e6
            lines.append([one["limit"], one["name"], phase, f"{made['mean']:,.0f}",
                          f"{caches.least_second(made):.2f}",
                          f"{1 - made['noerror'] / max(1, made['queries'] + made['lost']):.2%}",
                          f"{one['base'] / 1e6:,.0f}", f"{grown:,.0f}",
                          f"{one['hits']['replies_per_s']:,.0f}"])
    return table(["limit", "resolver", "phase", "replies/s", "least second/median", "not NOERROR",
                  "MB at the start", "MB grown", "hits/s, one name"], lines)


def curve_table(results):
    """CPUs busy at each offered rate."""
    head = ["offered/s"]
    for one in results:
        head += [f"{one['name']}: replies/s", "CPU: driver", "process"]
    lines = []
    for row in zip(*(one["samples"] for one in results)):
        line = [f"{row[0]['offered_per_s']:,}"]
        for sample in row:
            line += [f"{sample['replies_per_s']:,.0f}", *(f"{x:.2f}" for x in curve.cpus(sample))]
        lines.append(line)
    return table(head, lines)


def fill_claims(rows):
    made = []
    for limit in dict.fromkeys(one["limit"] for one in rows):
        of_limit = {one["name"]: one for one in rows if one["limit"] == limit}
        ours = {name: one for name, one in of_limit.items() if name.startswith("Volley")}
        peers = {name: one for name, one in of_limit.items() if name not in ours}
        for name, one in ours.items():
            how = name.rpartition(" ")[2]
            least = min(caches.least_second(phase) for phase in one["phases"].values())
            made.append((f"{name}, {limit}: no second below {LEAST_SECOND:.2f} of the median",
                         f"{least:.2f}", least >= LEAST_SECOND))
            alike = [peer for title, peer in peers.items() if title.endswith(how)]
            if not alike:
                continue
            fills = one["phases"]["all"]["mean"] / max(p["phases"]["all"]["mean"] for p in alike)
            wanted = FORWARD_RATIO if how == "forwarding" else FILL_RATIO
            made.append((f"{name}, {limit}: fills {wanted:.1f} times as fast as the better peer",
                         f"{fills:.2f}", fills >= wanted))
            hits = one["hits"]["replies_per_s"] / max(p["hits"]["replies_per_s"]
                                                      for p in peers.values())
            made.append((f"{name}, {limit}: hits {HITS_TIMES:.1f} times as fast as the better peer",
                         f"{hits:.1f}", hits >= HITS_TIMES))
            size = one["note"]["cache"]["size_bytes"]
            made.append((f"{name}, {limit}: MB at the most, at most the limit and a base: "
                         f"{(size + BASE_BYTES) / 1e6:.0f}", f"{one['peak'] / 1e6:.0f}",
                         one["peak"] <= size + BASE_BYTES))
    return made


def zones_claims(rows):
    ours = [one for one in rows if one["server"] == "volleyd"]
    made = []
    for records in sorted({round(one["records"], -5) for one in ours if one["n_peers"]}):
        of_size = [one for one in ours if round(one["records"], -5) == records]
        for key, what, limit in (("wall_s_ratio", "time to the first answer", LOAD_RATIO),
                                 ("cpu_s_ratio", "CPU time of loading", LOAD_RATIO),
                                 ("bytes_ratio", "memory per record", MEMORY_RATIO)):
            worst = max(one[key] for one in of_size)
            made.append((f"{what}, {records:,} records, at most {limit:.2f} of the better peer",
                         f"{worst:.2f}", worst <= limit))
    peak = max(one["peak_to_image"] for one in ours)
    made.append((f"peak of memory while a zone is read at most {PEAK_RATIO:.2f} of the zone",
                 f"{peak:.2f}", peak <= PEAK_RATIO))
    return made


def many_claims(rows):
    made = []
    for one in rows:
        if one["server"] != "volleyd":
            continue
        n = one["zones"]
        limits = (("memory of the better peer's", "bytes_ratio", MANY_MEMORY_RATIO),
                  ("time to the last answer of the better peer's", "start_s_ratio",
                   MANY_START_RATIO),
                  ("CPU s of a reload with nothing changed", "reload_cpu_s",
                   MANY_RELOAD_CPU_S * n / MANY),
                  ("s for one zone more by file", "file_s", MANY_FILE_S * max(1, n / MANY)),
                  ("s for one zone more by command", "command_s", MANY_COMMAND_S))
        made += [(f"{n:,} zones: {what}, at most {limit:.3g}", f"{one[key]:.3f}",
                  one[key] <= limit) for what, key, limit in limits]
    return made


def reload_claims(rows):
    worst = min(one["during_ratio"] for one in rows)
    return [(f"replies during a reload at least {RELOAD_RATIO:.2f} of those before",
             f"{worst:.2f}", worst >= RELOAD_RATIO)]


def claims(found):
    """[(what must hold, what was measured, whether it holds)]"""
    made = []
    cost, sizes = (found.get(part) for part in ("cost", "cache"))
    if cost:
        warm = min(one["entries"] for one in cost)
        above = max(one["hit_above_reflect_least_ns"] for one in small_rows(cost)
                    if one["entries"] == warm)
        made.append((f"a warm hit costs at most {HIT_ABOVE_NS} ns above the reflector, least of "
                     f"the rounds",
                     f"{above:.0f} ns", above <= HIT_ABOVE_NS))
        for tail, what, most in OPTION_NS:
            least = max(one["options_least_ns"] for one in cost if one["entries"] == warm
                        and one["tail"] == tail)
            made.append((f"a hit {what} costs at most {most} ns over one without, least of the "
                         f"rounds",
                         f"{least:.0f} ns", least <= most))
        hits = test_run_ns(cost)
        if LARGE in hits:
            ratio = hits[warm] / hits[LARGE]
            made.append((f"rate at 4 M answers, by test run, at least {CACHE_RATIO:.2f} of that at "
                         f"{warm:,}", f"{ratio:.2f}", ratio >= CACHE_RATIO))
    if sizes and sizes[-1]["note"]["entries"] > 0.99 * LARGE:
        ratio = sizes[-1]["ratio"]
        made.append((f"rate at 4 M answers, over veth, at least {CACHE_RATIO:.2f} of that at "
                     f"{sizes[0]['name']}", f"{ratio:.2f}", ratio >= CACHE_RATIO))
    if "peers" in found:
        made += report_peers.claims(found["peers"])
    if "zones" in found:
        made += zones_claims(found["zones"])
    if "many" in found:
        made += many_claims(found["many"])
    if "reload" in found:
        made += reload_claims(found["reload"])
    if "fill" in found:
        made += fill_claims(found["fill"])
    return made


def how_long(found, options):
    """`peers` tells of itself, and `random`."""
    if set(found) == {"machine", "random"}:
        return f"{options.random_rounds} rounds of {options.random_seconds:g} s"
    if set(found) <= {"machine", "peers"}:
        return f"{options.peer_rounds} rounds of {options.peer_seconds:g} s"
    return f"{options.rounds} rounds of {options.seconds:g} s"


def markdown(found, options):
    m = found["machine"]
    parts = [f"{m['cpu']}, {m['cpus']} CPUs, Linux {m['kernel']}; commit {m['commit']}, "
             f"{m['date']}; " + how_long(found, options)
             + ("; --quick: shows that it works, not how fast" if options.quick else "") + "."]
    if "peers" in found:
        parts += report_peers.sections(found["peers"])
    if "cache" in found:
        parts.append(cache_table(found["cache"], found.get("cost")))
    if "cost" in found:
        parts.append(cost_table(found["cost"]))
    if "zones" in found:
        parts.append(zones_table(found["zones"]))
    if "many" in found:
        parts.append(many_table(found["many"]))
    if "reload" in found:
        parts.append(reload_table(found["reload"]))
    if "curve" in found:
        parts.append(curve_table(found["curve"]))
    if "random" in found:
        parts += report_random.sections(found["random"])
    if "fill" in found:
        parts.append(fill_table(found["fill"]))
    checked = claims(found)
    if checked:
        parts.append(table(["must hold", "measured", ""],
                           [[what, value, "holds" if holds else "DOES NOT HOLD"]
                            for what, value, holds in checked]))
    return "\n\n".join(parts) + "\n"


def plot_cache(path, results, rows):
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(8, 5))
    sizes = [one["note"]["entries"] for one in results]
    axes.plot(sizes, [one["replies_per_s"] / 1e6 for one in results], "o-", label="over veth")
    if rows:
        hits = test_run_ns(rows)
        axes.plot(list(hits), [1e3 / ns for ns in hits.values()], "s--",
                  label="by test run (with drawing the name)")
    axes.axhline(CACHE_RATIO * results[0]["replies_per_s"] / 1e6, color="grey", linestyle=":",
                 label=f"{CACHE_RATIO:.0%} of the smallest, over veth")
    axes.set(xscale="log", xlabel="answers in the cache, asked for at random",
             ylabel="million answers per second and core", title="Rate against cache size")
    axes.set_ylim(bottom=0)
    axes.legend()
    save(figure, path)


def plot_fill(path, rows):
    """Replies per second over time: a plot for each limit."""
    plt = pyplot()
    limits = list(dict.fromkeys(one["limit"] for one in rows))
    figure, axes = plt.subplots(len(limits), figsize=(9, 4 * len(limits)), squeeze=False)
    for axis, limit in zip(axes[:, 0], limits):
        for one in (row for row in rows if row["limit"] == limit):
            points = [p for phase in one["phases"].values() for p in phase["rates"]]
            zero = points[0][0]
            axis.plot([at - zero for at, _ in points], [rate for _, rate in points],
                      label=one["name"])
        axis.set(yscale="log", xlabel="seconds", ylabel="replies/s", title=f"Limit: {limit}")
    # Below the last plot, where it covers no line.
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncol=3)
    save(figure, path)


def plot_curve(path, results):
    """Against the offered rate: replies may fall while it grows, and a line would lead back."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(8, 5))
    for one in results:
        rates = [sample["offered_per_s"] / 1e3 for sample in one["samples"]]
        driver, process = zip(*(curve.cpus(sample) for sample in one["samples"]))
        line = axes.plot(rates, [a + b for a, b in zip(driver, process)], "o-",
                         label=f"{one['name']}: driver and process")
        axes.plot(rates, process, ":", color=line[0].get_color(), label=f"{one['name']}: process")
    axes.set(xscale="log", xlabel="offered queries, 1000/s", ylabel="CPUs busy",
             title="CPU time against the load, all hits")
    axes.legend()
    save(figure, path)
