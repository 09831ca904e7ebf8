# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Caches of resolvers, filled past their limits: Volley, unbound and named over the rig (part
`fill`).

What made resolvers slow in 2007 was the cleaning of a full cache. So an nsd on the load's CPU
serves N names (3,000,000, an address each, TTL 2 hours), and each resolver, for each limit, is
asked by dnsperf, which keeps OUTSTANDING questions under way

    all      every name once, in order
    third    every third name once
    one      one name over and over

Volley and unbound are measured iterating and forwarding, named forwards. Then xdpgen asks for the
one name as fast as each resolver can answer: rates up a ladder. Memory is the most that was
resident of the process, which with Volley has the maps in it where the answers lie.
"""
import pathlib
import re
import statistics
import tempfile

import rig
import servers
import sweep

from upstreams import Netns, family  # rig has set the path

ORIGIN, TTL = "fill.bench", 7200
ROOT_NS, LEAF_NS = "127.0.1.1", "127.0.1.3"
HEAD = f"$TTL {TTL}\n@ SOA ns root 1 7200 3600 1209600 60\n@ NS ns\n"
PHASES = ("all", "third", "one")
OUTSTANDING, ONE_SECONDS = 300, 12
LIMITS = {"default": None, "140 MB": 140 * 10**6, "holds all": 1536 << 20}
VOLLEY_DEFAULT = 256 << 20
LADDER = [20, 50, 100, 150, 200, 300, 500, 800, 1200, 1600, 2000, 2500]


def resident_bytes(pid):
    """The most that ever was; the maps of volleyd's cache are in it, whole from the start."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) << 10


class Upstream(Netns):
    """A root and the zone of N names, in the server's namespace, on the load's CPU."""

    def __init__(self, lab, folder, n_names):
        super().__init__(folder, f"{lab.name}-s")
        self.n_names = n_names
        (self.folder / "root").write_text(
            f"{HEAD}ns A {ROOT_NS}\nbench NS ns.bench\nns.bench A {LEAF_NS}\n", encoding="ascii")
        self.hints = self.folder / "hints"
        self.hints.write_text(f". 3600 IN NS ns.\nns. 3600 IN A {ROOT_NS}\n", encoding="ascii")
        with open(self.folder / "leaf", "w", encoding="ascii") as out:
            out.write(f"$ORIGIN bench.\n{HEAD}ns A {LEAF_NS}\n$ORIGIN {ORIGIN}.\n")
            out.writelines(f"n{i} A 10.{i >> 16}.{i >> 8 & 255}.{i & 255}\n"
                           for i in range(n_names))
        self.lists = {}
        for phase, numbers in (("all", range(n_names)), ("third", range(0, n_names, 3)),
                               ("one", [n_names // 2])):
            self.lists[phase] = self.folder / phase
            with open(self.lists[phase], "w", encoding="ascii") as out:
                out.writelines(f"n{i}.{ORIGIN} A\n" for i in numbers)
        try:
            for address, zones in ((ROOT_NS, {".": "root"}), (LEAF_NS, {"bench.": "leaf"})):
                process = self.nsd(address, zones)
                rig.pin(family(process.pid), rig.LOAD_CPU)
        except BaseException:
            self.close()
            raise


class Volley(servers.Server):
    """volleyd that recurses, with the program on s0."""

    def __init__(self, bench, limit, forward):
        self.limit, self.forward = limit, forward
        super().__init__(bench, f"Volley, {'forwarding' if forward else 'iterating'}")
        self.daemon = None
        self.source = ("c0", bench.upstream.lists["one"])
        self.hints = bench.upstream.hints

    @property
    def daemon_pid(self):
        return self.daemon.process.pid

    def start(self):
        self.folder = tempfile.TemporaryDirectory(prefix="volley-bench-")
        recursion = {"allow": ["0.0.0.0/0", "::/0"], "query-localhost": True}
        if self.forward:
            recursion["forward"] = [LEAF_NS]
        else:
            recursion["root-hints"] = str(self.hints)
        self.daemon = rig.PinnedDaemon(self.rig, self.folder.name)
        self.daemon.start(interfaces=[rig.iface()], zones=[], recursion=recursion,
                          cache={"size": self.limit or VOLLEY_DEFAULT})
        rig.wait_for(f"{self.name} answers", lambda: self.rig.is_answered(f"ns.{ORIGIN[5:]}"), 30)

    def bytes(self):
        return resident_bytes(self.daemon_pid)

    def note(self):
        return {"answered": self.daemon.answered(), "cache": self.daemon.json("cache", "stats")}

    def stop(self):
        if self.daemon:
            if not self.daemon.clean_up():
                raise RuntimeError(f"{self.name}: volleyd did not end well:\n{self.daemon.log()}")
            self.folder.cleanup()


class Resolver(servers.Peer):
    """A peer that recurses; its memory is that of its process."""

    def __init__(self, bench, limit, forward):
        self.limit, self.forward = limit, forward
        self.title = f"{self.program}, {'forwarding' if forward else 'iterating'}"
        super().__init__(bench)
        self.source = ("c0", bench.upstream.lists["one"])
        self.hints = bench.upstream.hints

    def warm(self):
        """Nothing: it is the filling that is measured."""

    def is_ready(self):
        self.check_running()
        return self.rig.is_answered(f"ns.{ORIGIN[5:]}")

    def bytes(self):
        return resident_bytes(self.daemon_pid)


class Unbound(Resolver):
    program = "unbound"

    def configure(self, folder):
        """The limit is shared out as unbound.conf(5) advises: twice as much for the record sets."""
        limit = ""
        if self.limit:
            limit = f"  msg-cache-size: {self.limit // 3}\n  rrset-cache-size: {self.limit * 2 // 3}\n"
        upstream = f"  root-hints: {self.hints}\n"
        if self.forward:
            upstream = f"forward-zone:\n  name: .\n  forward-addr: {LEAF_NS}\n"
        (folder / "unbound.conf").write_text(f"""server:
  num-threads: 1
  interface: {rig.V4}
  access-control: 0.0.0.0/0 allow
  username: ""
  chroot: ""
  directory: {folder}
  pidfile: {folder}/pid
  use-syslog: no
  do-ip6: no
  do-not-query-localhost: no
  module-config: iterator
  so-rcvbuf: 4m
  outgoing-range: 4096
  num-queries-per-thread: 2048
{limit}{upstream}remote-control:
  control-enable: no
""", encoding="ascii")
        return ["unbound", "-d", "-c", folder / "unbound.conf"]


class Named(Resolver):
    program = "named"

    def configure(self, folder):
        limit = f"max-cache-size {self.limit};" if self.limit else ""
        (folder / "named.conf").write_text(f"""options {{
  directory "{folder}"; pid-file "{folder}/pid"; session-keyfile "{folder}/key";
  listen-on {{ {rig.V4}; }}; listen-on-v6 {{ none; }};
  recursion yes; allow-query {{ any; }}; allow-recursion {{ any; }};
  dnssec-validation no; forward only; forwarders {{ {LEAF_NS}; }};
  empty-zones-enable no; recursive-clients 10000; {limit}
}};
controls {{ }};
""", encoding="ascii")
        return ["named", "-f", "-n", "1", "-4", "-c", folder / "named.conf"]


def ask(bench, phase, seconds):
    """
    {rates: [(seconds since the epoch, replies in the second before)], mean, lost, queries}. The
    seconds in which it begins and ends are not whole and do not count.
    """
    words = ["-l", str(ONE_SECONDS)] if phase == "one" else ["-n", "1", "-l", str(seconds)]
    made = bench.rig.exec("c", "taskset", "-c", rig.LOAD_CPU, "dnsperf", "-s", rig.V4, "-d",
                          bench.upstream.lists[phase], "-S", "1", "-q", OUTSTANDING, "-c", "8",
                          "-T", "1", "-t", "5", *words, timeout=seconds + 60)
    figures = {key: float(re.search(rf"{label}:\s+([\d.]+)", made.stdout)[1]) for key, label in (
        ("queries", "Queries completed"), ("lost", "Queries lost"), ("mean", "Queries per second"))}
    rates = [(float(at), float(rate)) for at, rate in
             re.findall(r"^(\d+\.\d+): (\d+\.\d+)$", made.stdout, re.M)]
    good = re.search(r"NOERROR (\d+)", made.stdout)
    return {**figures, "noerror": int(good[1]) if good else 0, "rates": rates[1:]}


def peak(server, options):
    """The best rate of replies for the one name: a hit each time."""
    return max((sweep.sample(server, rate * 1000, options.seconds) for rate in
                (LADDER if not options.quick else LADDER[1:5])),
               key=lambda one: one["replies_per_s"])


def run_one(bench, server, options):
    try:
        server.start()
        base = server.bytes()
        phases = {phase: ask(bench, phase, options.fill_seconds) for phase in PHASES}
        best = peak(server, options)
        return {"name": server.name, "base": base, "peak": server.bytes(), "phases": phases,
                "hits": best, "note": server.note()}
    finally:
        server.stop()


def contenders():
    """(class, forwards)"""
    made = [(Volley, True), (Volley, False), (Unbound, True), (Unbound, False), (Named, True)]
    return [(kind, forward) for kind, forward in made if kind is Volley or kind.is_there()]


def compare(options, bench):
    """A result for each limit and server, in turns."""
    results = []
    with tempfile.TemporaryDirectory(prefix="volley-fill-") as folder:
        bench.upstream = Upstream(bench.rig, folder, options.fill_names)
        try:
            for words in options.limits:
                for kind, forward in contenders():
                    one = run_one(bench, kind(bench, LIMITS[words], forward), options)
                    results.append({"limit": words, "bytes": LIMITS[words], **one})
                    sweep.say(f"  {words}, {one['name']}: {one['phases']['all']['mean']:,.0f}/s "
                              f"filling, {one['hits']['replies_per_s']:,.0f}/s hits")
        finally:
            bench.upstream.close()
    return results


def least_second(phase):
    """The slowest whole second, as a share of the median."""
    rates = [rate for _, rate in phase["rates"]]
    return min(rates) / statistics.median(rates) if len(rates) > 2 else float("nan")
