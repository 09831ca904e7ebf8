# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""How many replies a second: servers in turns, each at its own best rate.

A flood is no capacity: past its peak a server answers less. So the first round offers each server
the rates of a ladder; the further rounds, with the servers in turns so that what else the machine
does meets all of them, offer each the three rates at which it answered most. Of these the rate with
the highest median counts, and the run's other figures are the medians at that rate.
"""
import statistics
import sys

import rig

LADDER = [10, 20, 30, 50, 75, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900, 1000,
          1150, 1300, 1500, 1700, 2000, 2300, 2600, 3000]
QUICK_LADDER = [20, 50, 100, 200, 400, 800, 1600]
GIVE_UP = 0.7   # of the best so far, twice in a row: the peak lies behind
BEST = 3
# the highest rates at which no more than this is lost, as RFC 2544 section 26.1 has it with 0
CLEAN, CLEAN_LOSS = 2, 0.001
TOLD = ("p50_us", "p99_us", "burst", "sent", "replies", "listed_sent", "listed_replies", "seconds",
        "truncated")
FIGURES = ("offered_per_s", "sent_per_s", "replies_per_s", "loss", "napi_ns", "daemon_ns", "other")


def say(text):
    print(text, file=sys.stderr, flush=True)


def sample(server, rate, seconds, **how):
    """
    One run: rates, share lost, CPU time for one reply, share of the CPU that NAPI thread, daemon
    and others had; what else was told.
    """
    with rig.Meter(server.rig, server.daemon_pid) as meter:
        run = server.load(seconds, rate, **how)
    replies = max(1, run["replies"])
    return {
        **{key: run[key] for key in TOLD if key in run},
        "offered_per_s": rate,
        "sent_per_s": run["sent_per_s"],
        "replies_per_s": run["replies_per_s"],
        "reply_octets": run.get("reply_bytes", 0) / replies,
        "loss": 1 - run["replies"] / max(1, run["sent"]),
        "napi_ns": meter.napi_ns / replies,
        "daemon_ns": meter.daemon_ns / replies,
        "napi_cpu": meter.napi_ns / 1e9 / meter.seconds,
        "daemon_cpu": meter.daemon_ns / 1e9 / meter.seconds,
        "other": meter.other_ns / 1e9 / meter.seconds,
    }


def climb(server, ladder, seconds):
    """Samples up the ladder, until more load has twice brought less, or could not be made."""
    samples, behind = [], 0
    for rate in ladder:
        samples.append(sample(server, rate * 1000, seconds))
        best = max(one["replies_per_s"] for one in samples)
        is_behind = samples[-1]["replies_per_s"] < GIVE_UP * best or \
            samples[-1]["sent_per_s"] < GIVE_UP * rate * 1000
        behind = behind + 1 if is_behind else 0
        if behind == 2 and len(samples) >= BEST:
            break
    return samples


def best_rates(samples, n=BEST):
    ranked = sorted(samples, key=lambda one: -one["replies_per_s"])[:n]
    return sorted(one["offered_per_s"] for one in ranked)


def clean_rates(samples, n=CLEAN):
    """The highest rates up the ladder at which next to nothing was lost."""
    return sorted(one["offered_per_s"] for one in samples if one["loss"] < CLEAN_LOSS)[-n:]


def at_work(server, work):
    """WORK() with the server up; its note with it."""
    try:
        server.start()
        return work(), server.note()
    finally:
        server.stop()
        server.rig.vacate()


def median_of(samples):
    middle = {key: statistics.median(one[key] for one in samples) for key in FIGURES}
    rates = [one["replies_per_s"] for one in samples]
    middle["spread"] = (max(rates) - min(rates)) / max(1, middle["replies_per_s"])
    return middle


def best_of(repeats, rates):
    """The medians at that of the rates where most was answered."""
    medians = [median_of([one for one in repeats if one["offered_per_s"] == rate])
               for rate in rates]
    return max(medians, key=lambda one: one["replies_per_s"])


def summary(server, climbed, repeats, note):
    """The server's result; the samples stay with it."""
    best = best_of(repeats, best_rates(climbed))
    return {"name": server.name, **best, "note": note, "climb": climbed, "repeats": repeats}


def compare(servers, options):
    """Results in the servers' order; "ratio" is to the first."""
    climbed, repeats, notes = {}, {server: [] for server in servers}, {}
    for server in servers:
        climbed[server], notes[server] = at_work(
            server, lambda s=server: climb(s, options.ladder, options.seconds))
        top = max(one["replies_per_s"] for one in climbed[server])
        say(f"  {server.name}: {top:,.0f}/s up the ladder")
    for i in range(options.rounds):
        for server in servers:
            rates = best_rates(climbed[server])
            made, notes[server] = at_work(
                server, lambda s=server, r=rates: [sample(s, rate, options.seconds) for rate in r])
            repeats[server] += made
        say(f"  round {i + 1} of {options.rounds}")
    results = [summary(server, climbed[server], repeats[server], notes[server])
               for server in servers]
    for one in results:
        one["ratio"] = one["replies_per_s"] / max(1, results[0]["replies_per_s"])
    return results
