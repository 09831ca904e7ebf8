# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who asks. A generator offers a server a rate for some seconds and tells what came of it.

    title, burst     as they are told in the table: how many queries are let go at once
    can              what more it tells: "latency", "fresh" (names that nobody has asked before)
    ask(...)         what SOURCE says: {sent, replies, sent_per_s, replies_per_s} and what else it knows
"""
import importlib.machinery
import importlib.util
import itertools
import json
import signal
import subprocess
import time
import types

import rig

TRAFGEN_FLAT = 1000000   # far above its peak: as fast as it can
BURST = 32   # in the table, whatever the rate: half of a NAPI's budget


class Xdpgen:
    """
    In the kernel, by test runs on live frames. Without a burst of its own it goes by the rate.
    """
    title, can = "xdpgen", ("latency", "fresh")

    def __init__(self, bench, burst=None):
        self.rig, self.burst = bench.rig, burst

    def ask(self, seconds, rate, source, echo=False, latency=False):
        words = ["--burst", self.burst] if self.burst else []
        words += ["--echo"] * echo + ["--latency"] * latency
        return self.rig.generate(*words, *source, seconds=seconds, rate=rate)


def load_loadtest():
    """scripts/loadtest has no suffix, and is a module all the same."""
    loader = importlib.machinery.SourceFileLoader("loadtest", str(rig.ROOT / "scripts/loadtest"))
    spec = importlib.util.spec_from_loader("loadtest", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


LOADTEST = load_loadtest()


class Trafgen(LOADTEST.LoadTest):
    """
    That of scripts/loadtest. It holds a rate roughly; above its own peak every rate is the same.
    """
    title, burst, can = "trafgen", 1, ()

    def __init__(self, bench, burst=None):
        """In a lab that is there, with a server that is none of its business."""
        self.rig, self.conf = bench.rig, bench.folder / "trafgen.cfg"
        self.queries = bench.data.queries
        self.options = types.SimpleNamespace(dev="c0")
        with open(self.queries, encoding="ascii") as f:
            lines = itertools.islice(f, LOADTEST.PACKETS_MAX)
            queries = [LOADTEST.parse_query(line, i + 1, f.name, None)
                       for i, line in enumerate(lines)]
        LOADTEST.write_trafgen(self.conf, queries, False)

    def ask(self, seconds, rate, source, echo=False, latency=False):
        """xdpgen counts the replies."""
        assert source == ("c0", self.queries) and not latency, "this is more than trafgen can"
        counter = self.rig.popen("c", rig.PERF / "xdpgen", *["--echo"] * echo, "--count", "c0",
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            counter.stderr.readline()  # "ready"
            self.rig.settle()
            link = LOADTEST.Link(counter.pid, "c0")
            before, _ = link.sent()
            took = self.run_trafgen(rate if rate < TRAFGEN_FLAT else 0, seconds)
            time.sleep(LOADTEST.SETTLE_S)
            sent = link.sent()[0] - before
        finally:
            counter.send_signal(signal.SIGINT)
            output = counter.communicate(timeout=10)[0]
        made = json.loads(output)
        return {**made, "seconds": took, "sent": sent, "sent_per_s": sent / took,
                "replies_per_s": made["replies"] / took}


KINDS = {kind.title: kind for kind in (Xdpgen, Trafgen)}
