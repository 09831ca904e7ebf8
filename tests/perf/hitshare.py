#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""hitshare: which share of a mix of queries the driver answers, and why the rest goes up.

A volleyd in a lab of its own serves the zones of querymix.py and is asked, in this order:

    cold     a list of the mix for the first time
    again    the same list, but the names that are new in it are other new ones
    more     another list of the same mix, a longer one
    fresh    and another
    sockets  the first list from UDP sockets, whose frames have little room over veth

All but the last as xdpgen sends them: frames with room behind the data, as network cards hand
them over. `could` is what could be a hit at best: its name, type and DO were asked before.

    run       asked   hits    share    could   up, by reason
    again     60000  58510   97.5 %   97.5 %   up-miss 1490

It counts and measures no speed, so other work on the machine does not matter.
"""
import argparse
import collections
import json
import pathlib
import struct
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "net"), str(ROOT / "tests" / "diff")]

import querygen  # noqa: E402
import querymix  # noqa: E402
from netlab import TOOLS, V4, Daemon, Lab, wait_for, zone  # noqa: E402

import dns.rdatatype  # noqa: E402

XDPGEN = TOOLS.parent / "perf" / "xdpgen"
N_LIST, N_MORE, N_FRESH, N_SOCKETS = 60000, 200000, 40000, 10000
RATE, LIMIT_S = 20000, 120
SOCKETS_BATCH, SOCKETS_PAUSE_S = 32, 0.002


class Run:
    """What a list became: driver's hits, its reasons, the replies as xdpgen counted them."""

    def __init__(self, name, queries, could):
        self.name, self.queries, self.could = name, queries, could
        self.reasons, self.replies = collections.Counter(), {}

    def up(self):
        """{reason: how many}"""
        return {reason: n for reason, n in self.reasons.most_common() if reason.startswith("up-")}

    @property
    def n_hits(self):
        return sum(n for reason, n in self.reasons.items() if reason.startswith("hit-"))

    @property
    def asked(self):
        return self.n_hits + sum(self.up().values())

    @property
    def share(self):
        return self.n_hits / self.asked


def wire(q, number):
    """The octets of a query."""
    tail = b"" if q.size is None else querygen.opt(q.size, q.do)
    message = querygen.message(querygen.wire_name(q.name), dns.rdatatype.from_text(q.qtype),
                               counts=(1, 0, 0, q.size is not None), tail=tail)
    return struct.pack("!H", number & 0xffff) + message[2:]


class HitShare:
    """The lab, its volleyd, and what it was asked so far."""

    def __init__(self, lab, daemon, folder):
        self.lab, self.daemon, self.folder = lab, daemon, pathlib.Path(folder)
        self.known = set()

    def start(self):
        self.zones = querymix.write_zones(self.folder)
        self.daemon.start(server={"workers": 1}, cache={"size": "64M"},
                          zones=[zone(name, path) for name, path in self.zones.items()])

    def by_xdpgen(self, queries):
        path = self.folder / "queries"
        querymix.write_list(path, queries)
        # The limit is for a machine that is busy: usually the list ends the run.
        done = self.lab.exec("c", XDPGEN, "--once", "c0", path, LIMIT_S, RATE,
                             timeout=LIMIT_S + 60)
        return json.loads(done.stdout)

    def by_sockets(self, queries):
        with self.lab.socket("c") as sock:
            sock.connect((V4, 53))
            for i, q in enumerate(queries):
                sock.send(wire(q, i))
                if i % SOCKETS_BATCH == 0:
                    time.sleep(SOCKETS_PAUSE_S)
        return {}

    def reasons(self):
        return collections.Counter(self.daemon.json("stats")["driver"]["reasons"])

    def settled(self):
        """The reasons, once the driver has seen all that was sent."""
        seen = [self.reasons()]

        def still():
            seen.append(self.reasons())
            return seen[-1] == seen[-2]
        wait_for("the counters stand still", still)
        return seen[-1]

    def run(self, name, queries, send):
        could = 0
        for q in queries:
            could += q.key() in self.known
            self.known.add(q.key())
        run = Run(name, queries, could)
        before = self.reasons()
        run.replies = send(queries)
        run.reasons = self.settled() - before
        return run

    def runs(self, seed=1):
        """All of them, one after the other."""
        mix = querymix.Mix(seed)
        cold = mix.list(N_LIST)
        yield self.run("cold", cold, self.by_xdpgen)
        yield self.run("again", mix.again(cold), self.by_xdpgen)
        yield self.run("more", mix.list(N_MORE), self.by_xdpgen)
        yield self.run("fresh", mix.list(N_FRESH), self.by_xdpgen)
        yield self.run("sockets", mix.again(cold[:N_SOCKETS]), self.by_sockets)


def row(run):
    up = ", ".join(f"{reason} {n}" for reason, n in run.up().items())
    return (f"{run.name:8} {run.asked:6} {run.n_hits:6} {100 * run.share:6.1f} % "
            f"{100 * run.could / len(run.queries):6.1f} %   {up}")


def main(argv):
    head, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=head, epilog=rest,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the mix (1)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="volley-hits-") as folder:
        lab = Lab()
        daemon = Daemon(lab, folder)
        try:
            share = HitShare(lab, daemon, folder)
            share.start()
            print("run       asked   hits    share    could   up, by reason")
            for run in share.runs(options.seed):
                print(row(run), flush=True)
        finally:
            daemon.clean_up()
            lab.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
