# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time of a resolver against the load that is offered: Volley beside unbound (part `curve`).

In 2013 unbound was offered one name at set rates, all hits, to see what looking for local data
before the cache costs it. Here xdpgen offers each server a rate after the other; what the
interface's NAPI thread takes (with Volley, the answers of the driver) and what the process takes
are read apart.
"""
import tempfile

import caches
import sweep

RATES = [10, 25, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1000, 1250, 1500]
QUICK_RATES = [10, 50, 100]


def compare(options, bench):
    """[{name, samples}] with a sample for each rate, in turns over the rounds."""
    rates = QUICK_RATES if options.quick else RATES
    made = {}
    with tempfile.TemporaryDirectory(prefix="volley-curve-") as folder:
        bench.upstream = caches.Upstream(bench.rig, folder, 1000)
        try:
            kinds = [kind for kind in (caches.Volley, caches.Unbound)
                     if kind is caches.Volley or kind.is_there()]
            for _ in range(options.rounds):
                for kind in kinds:
                    server = kind(bench, None, True)
                    found, _note = sweep.at_work(server, lambda s=server: [
                        sweep.sample(s, rate * 1000, options.seconds) for rate in rates])
                    made.setdefault(server.name, []).append(found)
                sweep.say("  curve: a round")
        finally:
            bench.upstream.close()
    return [{"name": name, "samples": [sweep.median_of(list(at_rate)) for at_rate in zip(*rounds)]}
            for name, rounds in made.items()]


def cpus(sample):
    """CPUs busy with it: (in the driver, in the process)."""
    return tuple(sample[key] * sample["replies_per_s"] / 1e9 for key in ("napi_ns", "daemon_ns"))
