# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Volley's ways beside the peers, side by side in one run (part `peers`).

Each server goes up the ladder once. Then, in each round and with the servers in turns:

    at its best three rates      replies a second, loss, CPU time for one; the median decides
    at its best two clean rates  up the ladder it lost less than one in 1,000 there
    at half of its best          how long replies took
    FLOOD queries a second       what is left of the best when far more is offered
    FLOOD of new names, mixed    Volley alone: one query in ten is a warm hit

A round begins and ends with the bare reflector. Where it answers more than a tenth more at one end
than at the other, something else was at work: the round is measured again, twice at most, and the
report says so.

What was measured is kept at once: a file for each server, in a folder of the run's own. A run that
is named with --run goes on where it stopped, with the servers or rounds that are missing, and only
on the same boot, with the same programs and settings: figures of two runs are never in one table.
"""
import datetime
import hashlib
import json
import pathlib
import re
import statistics

import generators
import report
import rig
import servers
import sweep

FLOOD, LISTED_EVERY = 3000000, 10
BASE = "reflector"
SPREAD_MAX, REPEATS_MAX = 0.10, 2
LADDER = [10, 20, 30, 45, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 600, 750, 900, 1100, 1300,
          1500, 1750, 2000, 2300, 2600, 3000]
QUICK_LADDER = [20, 80, 200, 500, 1200]
NO_DRIVER = {"driver-answers": False}

# key: what makes the server, in the order of the table. The first is what ratios are to.
ROWS = {
    BASE: lambda b: servers.Reflector(b, "reflector, XDP_TX"),
    "driver": lambda b: servers.Volley(b, "Volley, driver hits", "driver"),
    "xsk": lambda b: servers.Volley(b, "Volley, AF_XDP", "worker", port="xsk", **NO_DRIVER),
    "unasked": lambda b: servers.Unasked(b, "Volley, AF_XDP, new names", "worker", port="xsk"),
    "dpdk": lambda b: servers.Dpdk(b, "Volley, DPDK", "worker", port="dpdk", **NO_DRIVER),
    "sockets": lambda b: servers.Volley(b, "Volley, sockets", "kernel_socket", xdp="off",
                                        port="socket"),
    "dpdk-echo": servers.DpdkEcho,
    "xsk-echo": servers.XskEcho,
    "udp-echo": servers.UdpEcho,
    "knotd-xdp": servers.KnotXdp,
    "knotd": servers.Knot,
    "nsd": servers.Nsd,
    "named": servers.Named,
    "unbound": servers.Unbound,
}
MIXED = ("driver", "sockets")   # where a warm hit and a new name go different ways, or none


def new_name():
    return datetime.datetime.now().strftime("%Y%m%d-%H%M%S")


def digest():
    """Of what is measured and what measures: a commit does not tell, it may be dirty."""
    made = hashlib.sha256()
    for path in (rig.BIN / "volleyd", rig.BIN / "volley.bpf.o", rig.PERF / "xdpgen"):
        made.update(path.read_bytes())
    return made.hexdigest()[:16]


class Run:
    """A named run: its folder, its settings, what is known of each server. Of another: an error."""

    def __init__(self, options):
        self.name = options.run or new_name()
        self.folder = options.out / "peers" / self.name
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        self.settings = {"boot": boot, "kernel": report.machine()["kernel"],
                         "programs": digest(), "generator": options.generator,
                         "seconds": options.peer_seconds, "names": options.names,
                         "quick": options.quick}
        self.all()

    def path(self, key):
        return self.folder / f"{key}.json"

    def read(self, key):
        """What this very run has measured of a server, or nothing yet."""
        if not self.path(key).exists():
            return {"key": key, "settings": self.settings, "rounds": []}
        record = json.loads(self.path(key).read_text(encoding="ascii"))
        differs = [name for name, value in self.settings.items()
                   if record["settings"].get(name) != value]
        if differs:
            raise RuntimeError(f"run {self.name}: {key} was measured with another "
                               f"{', '.join(differs)}: begin a new run")
        return record

    def write(self, record):
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, indent=1)
        self.path(record["key"]).write_text(text, encoding="ascii")

    def all(self):
        return [self.read(key) for key in ROWS if self.path(key).exists()]


def mixed(server, seconds):
    """A flood of new names with warm hits among them: which share of either was answered."""
    one = sweep.sample(server, FLOOD, seconds, source=server.fresh("--listed-every", LISTED_EVERY))
    new_sent = one["sent"] - one["listed_sent"]
    new_replies = one["replies"] - one["listed_replies"]
    return {**one, "hits": one["listed_replies"] / max(1, one["listed_sent"]),
            "misses": new_replies / max(1, new_sent),
            "misses_per_s": one["replies_per_s"] * new_replies / max(1, one["replies"])}


def measure_round(server, record, seconds):
    """What is done with a server while it is up. The ladder may have been disturbed: half is of the
    first round's best, too."""
    can = server.generator.can
    made = {"best": [sweep.sample(server, rate, seconds) for rate in record["rates"]]}
    if not record["rounds"]:
        top = max(one["replies_per_s"] for one in made["best"])
        record["half"] = max(record["half"], int(top / 2))
    made["half"] = sweep.sample(server, record["half"], seconds,
                                **({"latency": True} if "latency" in can else {}))
    made["flood"] = sweep.sample(server, FLOOD, seconds)
    made["clean"] = [sweep.sample(server, rate, seconds) for rate in record["clean_rates"]]
    if record["key"] in MIXED and "fresh" in can:
        made["mixed"] = mixed(server, seconds)
    return made


def check_with_dnsperf(server):
    """That a client behind a socket gets answers. No figure of the table: it is a closed loop."""
    made = server.rig.exec("c", "taskset", "-c", rig.LOAD_CPU, "dnsperf", "-s", rig.V4, "-d",
                           server.data.queries, "-l", 1, "-q", 200, "-c", 8, "-T", 1, timeout=60)
    told = {key: float(re.search(rf"{label}:?\s+([\d.]+)", made.stdout + "NOERROR 0")[1])
            for key, label in (("completed", "Queries completed"), ("lost", "Queries lost"),
                               ("per_s", "Queries per second"), ("noerror", "NOERROR"))}
    if not told["completed"] or told["noerror"] < 0.99 * told["completed"]:
        raise RuntimeError(f"{server.name}: dnsperf gets no right answers:\n{made.stdout}")
    return told


def climb(server, record, ladder, seconds):
    def work():
        if not server.echo:
            record["dnsperf"] = check_with_dnsperf(server)
        return sweep.climb(server, ladder, seconds)
    samples, note = sweep.at_work(server, work)
    top = max(one["replies_per_s"] for one in samples)
    record.update(name=server.name, climb=samples, note=note, rates=sweep.best_rates(samples),
                  clean_rates=sweep.clean_rates(samples), half=max(1000, int(top / 2)))
    sweep.say(f"  {server.name}: {top:,.0f}/s up the ladder")


def attempt(server, work):
    """
    WORK(), twice if need be: what fails once does not end a run of half an hour. The last error.
    """
    for left in (1, 0):
        try:
            work()
            return None
        except servers.NotHere as why:
            return str(why)
        except (AssertionError, RuntimeError, OSError) as err:
            failed = str(err)
            sweep.say(f"  {server.name}: {'again, for' if left else 'given up:'} {failed}")
    return failed.splitlines()[0]


def climb_all(run, chosen, options):
    """[(server, its record)] of those that can be measured here."""
    there = []
    ladder = QUICK_LADDER if options.quick else LADDER
    for key, server in chosen.items():
        record = run.read(key)
        why = None
        if "climb" not in record:
            why = attempt(server, lambda s=server, r=record: climb(s, r, ladder,
                                                                   options.peer_seconds))
            run.write({**record, "name": server.name, "left_out": why} if why else record)
        if why:
            sweep.say(f"  {server.name}: left out: {why}")
        else:
            there.append((server, record))
    return there


def one_round(run, server, record, seconds):
    made, record["note"] = sweep.at_work(server, lambda: measure_round(server, record, seconds))
    record["rounds"].append(made)
    run.write(record)


def round_of_all(run, there, i, seconds):
    """Each server that has not had round I has it."""
    for server, record in there:
        if len(record["rounds"]) <= i:
            attempt(server, lambda s=server, r=record: one_round(run, s, r, seconds))


def spread_of(made):
    """
    By how much the reflector's best at the begin of a round and at its end differ, a share of the
    larger. None: not known.
    """
    ends = [max(one["replies_per_s"] for one in made[key]) for key in ("best", "again")
            if key in made]
    return 1 - min(ends) / max(1, max(ends)) if len(ends) == 2 else None


def base_spread(run, there, i, seconds):
    """
    spread_of() round I, at the end of which the reflector is measured again. None: it is not there.
    """
    server, record = next(((s, r) for s, r in there if r["key"] == BASE), (None, None))
    if not record or len(record["rounds"]) <= i:
        return None
    made = record["rounds"][i]
    if "again" not in made:
        attempt(server, lambda: made.update(again=sweep.at_work(server, lambda: [
            sweep.sample(server, rate, seconds) for rate in record["rates"]])[0]))
        run.write(record)
    return spread_of(made)


def drop_round(run, there, i, spread):
    """Round I was disturbed; the reflector's record keeps how often, and by how much."""
    for _, record in there:
        del record["rounds"][i:]
        if record["key"] == BASE:
            record.setdefault("disturbed", []).append({"round": i, "spread": spread})
        run.write(record)


def is_disturbed(spread):
    return spread is not None and spread > SPREAD_MAX


def measure_all(run, options, bench):
    """Brings each chosen server to as many rounds as are wanted."""
    chosen = {key: ROWS[key](bench) for key in ROWS if key in options.servers}
    there = climb_all(run, chosen, options)
    for i in range(options.peer_rounds):
        for left in reversed(range(REPEATS_MAX + 1)):
            round_of_all(run, there, i, options.peer_seconds)
            spread = base_spread(run, there, i, options.peer_seconds)
            if not is_disturbed(spread) or not left:
                break
            sweep.say(f"  round {i + 1}: the reflector's best differ by {spread:.0%}: again")
            drop_round(run, there, i, spread)
        sweep.say(f"  round {i + 1} of {options.peer_rounds}")


# --- What it comes to -----------------------------------------------------------------------------


def median(samples, key):
    return statistics.median(one[key] for one in samples)


def latencies(halves):
    told = [one for one in halves if "p50_us" in one]
    return {key: median(told, key) if told else None for key in ("p50_us", "p99_us")}


def clean_rate(record):
    """
    The most replies a second, of medians, at an offered rate of which less than one in 1,000 was
    lost. None: at no rate.
    """
    samples = [one for r in record["rounds"] for one in r.get("clean", [])]
    medians = [sweep.median_of([one for one in samples if one["offered_per_s"] == rate])
               for rate in sorted({one["offered_per_s"] for one in samples})]
    return max((one["replies_per_s"] for one in medians if one["loss"] < sweep.CLEAN_LOSS),
               default=None)


def row(record):
    """A server's line of the table: each figure is the median over the rounds."""
    rounds = record["rounds"]
    made = sweep.best_of([one for r in rounds for one in r["best"]], record["rates"])
    flood = {key: median([r["flood"] for r in rounds], key)
             for key in ("sent_per_s", "replies_per_s")}
    mixes = [r["mixed"] for r in rounds if "mixed" in r]
    return {"key": record["key"], "name": record["name"], **made, "rounds": len(rounds),
            **latencies([r["half"] for r in rounds]), "half_per_s": record["half"],
            "clean_per_s": clean_rate(record),
            "flood": {**flood, "share": flood["replies_per_s"] / max(1, made["replies_per_s"])},
            "mixed": {key: median(mixes, key) for key in ("hits", "misses", "misses_per_s",
                                                          "sent_per_s")} if mixes else None,
            "climb": record["climb"], "note": record["note"]}


def told_of_base(record):
    """
    [(round, how often it was measured again, the spread that stayed)] of those that were disturbed.
    """
    made = []
    for i, one in enumerate(record["rounds"]):
        spread = spread_of(one)
        times = sum(d["round"] == i for d in record.get("disturbed", []))
        if times or is_disturbed(spread):
            made.append({"round": i + 1, "again": times, "spread": spread})
    return made


def results(run, generator):
    records = run.all()
    rows = [row(record) for record in records if record["rounds"]]
    left_out = [{"name": one["name"], "why": one["left_out"]} for one in records
                if "left_out" in one and not one["rounds"]]
    return {"run": run.name, "generator": generator.title, "burst": generator.burst,
            "seconds": run.settings["seconds"], "flood": FLOOD, "rows": rows, "left_out": left_out,
            "disturbed": [d for one in records if one["key"] == BASE for d in told_of_base(one)]}


def compare(options, bench):
    run = Run(options)
    sweep.say(f"  run {run.name}: {run.folder}")
    bench.generator = generators.KINDS[options.generator](bench, generators.BURST)
    measure_all(run, options, bench)
    return results(run, bench.generator)
