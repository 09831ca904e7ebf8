# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured at the server's end of the rig: one class for each kind of server.

    start()      it answers, is warm, and runs on the server's CPU alone; NotHere: it cannot, and why
    source       what xdpgen is to ask: its arguments before SECONDS RATE
    echo         it sends queries back and does not set QR
    daemon_pid   whose CPU time counts beside the NAPI thread's, or None
    note()       a dict that goes with a result: who answered, memory
    stop()       nothing of it is left

A peer is added by a class below Peer: its configuration, its command; and a line in sidebyside.py.
"""
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile

import rig

from rivals import named_alone  # rig has set the path
from upstreams import Netns, family

ORIGIN = "bench.test"
WARM_RATE, WARM_PASSES, WARM_SHARE = 100000, 12, 0.995
UPSTREAM, UNBOUND_RATE = "127.0.1.9", 25000


class NotHere(Exception):
    """A sentence: why this server cannot be measured on this machine."""


class Data:
    """A zone of N names with an address each, and a shuffled list of all of them."""

    def __init__(self, folder, n_names):
        self.n_names = n_names
        self.zone, self.queries = folder / f"{ORIGIN}.zone", folder / "queries"
        names = [f"h{i:06d}" for i in range(n_names)]
        with open(self.zone, "w", encoding="ascii") as f:
            f.write(f"$ORIGIN {ORIGIN}.\n$TTL 3600\n@ SOA ns1 hostmaster 1 7200 900 1209600 300\n"
                    "@ NS ns1\nns1 A 192.0.2.53\n")
            f.writelines(f"{name} A 10.{i >> 16}.{i >> 8 & 255}.{i & 255}\n"
                         for i, name in enumerate(names))
        random.Random(1).shuffle(names)
        with open(self.queries, "w", encoding="ascii") as f:
            f.writelines(f"{name}.{ORIGIN} A\n" for name in names)


class Server:
    """Nothing but the rig."""
    daemon_pid, echo = None, False

    def __init__(self, bench, name):
        self.rig, self.data, self.name = bench.rig, bench.data, name
        self.generator, self.source = bench.generator, ("c0", self.data.queries)

    def start(self):
        raise NotImplementedError

    def stop(self):
        self.rig.detach()

    def note(self):
        return {}

    def load(self, seconds, rate, **how):
        """What was asked and what came back, as the generator tells it."""
        return self.generator.ask(seconds, rate,
                                  **{"source": self.source, "echo": self.echo, **how})

    def ask_all(self, rate):
        """Each name of the list, and some twice."""
        return self.rig.generate("c0", self.data.queries, seconds=1.1 * self.data.n_names / rate,
                                 rate=rate)


class Reflector(Server):
    """The least that a program can do: the query goes back."""

    def start(self):
        self.rig.attach(rig.PROGRAMS / "reflect.bpf.o")
        self.rig.settle()


class Filled(Server):
    """The XDP program over a cache of N answers, without a daemon; names are drawn from all N."""

    def __init__(self, bench, n_entries):
        super().__init__(bench, f"{n_entries:,} answers")
        self.n_entries, self.filled = n_entries, {}
        self.source = ("--draw", n_entries, "c0")

    def start(self):
        self.filled = rig.json_of(self.rig.exec("s", rig.PERF / "fill", "s0", self.n_entries,
                                                timeout=120))
        if self.filled["entries"] < 0.99 * self.n_entries:
            raise RuntimeError(f"{self.name}: only {self.filled['entries']} are in the cache")
        self.rig.settle()

    def note(self):
        return self.filled


class Volley(Server):
    """volleyd with the zone. `who` is to answer nearly all, once warm."""
    cache = {"size": "256M"}
    control_cpu = None   # of all threads but the worker; None: the worker's

    def __init__(self, bench, name, who, **interface):
        super().__init__(bench, name)
        self.who, self.interface, self.daemon = who, interface, None
        self.n_fresh = 0

    def fresh(self, *words):
        """A source of names that nobody has asked before, with what else xdpgen is to be told."""
        return ("--fresh", self.n_fresh, *words, "c0", self.data.queries)

    def load(self, seconds, rate, **how):
        made = super().load(seconds, rate, **how)
        self.n_fresh += made["sent"] - made.get("listed_sent", 0)
        return made

    @property
    def daemon_pid(self):
        return self.daemon.process.pid

    def start(self):
        self.folder = tempfile.TemporaryDirectory(prefix="volley-bench-")
        self.daemon = rig.PinnedDaemon(self.rig, self.folder.name)
        self.daemon.control_cpu = self.control_cpu
        self.daemon.start(interfaces=[rig.iface(**self.interface)], cache=self.cache,
                          zones=[rig.zone(ORIGIN, self.data.zone)])
        self.warm()

    def warm(self):
        """Asks for each name until its usual answerer gives nearly all answers."""
        for _ in range(WARM_PASSES):
            before = self.daemon.answered()
            self.ask_all(WARM_RATE)
            share = self.share(before)
            if share >= WARM_SHARE:
                return
        raise RuntimeError(f"{self.name}: warm, the {self.who} gives {share:.0%} of the answers")

    def share(self, before):
        given = {who: n - before[who] for who, n in self.daemon.answered().items()}
        return given[self.who] / max(1, sum(given.values()))

    def note(self):
        return {"answered": self.daemon.answered()}

    def stop(self):
        if self.daemon:
            if not self.daemon.clean_up():
                raise RuntimeError(f"{self.name}: volleyd did not end well:\n{self.daemon.log()}")
            self.folder.cleanup()


class Unasked(Volley):
    """The same, asked for names that nobody has asked before: each is a miss for everybody."""

    def load(self, seconds, rate, **how):
        return super().load(seconds, rate, **{"source": self.fresh(), **how})

    def start(self):
        if "fresh" not in self.generator.can:
            raise NotHere(f"{self.generator.title} has only the names of its list")
        super().start()

    def warm(self):
        """There is nothing to warm."""


class Dpdk(Volley):
    """On a port that a volleyd may have been built without."""

    def warm(self):
        kinds = {port["kind"] for port in self.daemon.json("port", "status")["ports"]}
        if "dpdk" not in kinds:
            raise NotHere("; ".join(self.daemon.status()["degraded"]) or "volleyd has no DPDK port")
        super().warm()


class Peer(Server):
    """Another program, in the foreground, with one worker."""
    program = None

    @classmethod
    def is_there(cls):
        return shutil.which(cls.program, path=rig.ENV["PATH"]) is not None

    def __init__(self, bench, name=None):
        super().__init__(bench, name or self.title)
        self.process = None

    def configure(self, folder):
        """Writes its files; returns the words of its command."""
        raise NotImplementedError

    @property
    def daemon_pid(self):
        return self.process.process.pid

    def start(self):
        if not self.is_there():
            raise NotHere(f"{self.program} is not installed")
        self.folder = tempfile.TemporaryDirectory(prefix="volley-bench-")
        folder = pathlib.Path(self.folder.name)
        words = self.configure(folder)
        with open(folder / "log", "wb") as log:
            self.process = rig.Group(["nsenter", f"--net=/run/netns/{self.rig.name}-s", "--",
                                      "taskset", "-c", rig.SERVER_CPU, *words], cwd=folder,
                                     stdin=subprocess.PIPE, stdout=log, stderr=log)
        rig.wait_for(f"{self.name} answers", self.is_ready, 30)
        # Some pin their threads themselves, to the load's CPU.
        rig.pin(rig.group_of(self.daemon_pid), rig.SERVER_CPU)
        self.rig.settle()
        self.warm()

    def warm(self):
        self.ask_all(WARM_RATE)

    def check_running(self):
        if self.process.process.poll() is not None:
            log = pathlib.Path(self.folder.name, "log").read_text(encoding="utf-8")
            raise RuntimeError(f"{self.name} ended:\n{log}")

    def is_ready(self):
        self.check_running()
        return self.rig.is_answered(ORIGIN, "SOA")

    def stop(self):
        if self.process:
            self.process.stop(signal.SIGTERM)
            self.folder.cleanup()
        self.rig.detach()


class Knot(Peer):
    title, program = "knotd, sockets", "knotd"
    xdp = ""

    def configure(self, folder):
        (folder / "knot.conf").write_text(f"""
server:
    rundir: {folder}
    listen: {rig.V4}@53
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
{self.xdp}
log:
  - target: stderr
    any: warning
database:
    storage: {folder}
zone:
  - domain: {ORIGIN}
    file: {self.data.zone}
    zonefile-sync: -1
    journal-content: none
    semantic-checks: off
""", encoding="ascii")
        return ["knotd", "-c", folder / "knot.conf"]


class KnotXdp(Knot):
    title = "knotd, AF_XDP"
    xdp = "xdp:\n    listen: s0\n    udp: on"


class Nsd(Peer):
    title, program = "nsd, sockets", "nsd"
    more = ""   # lines of its section `server`

    def configure(self, folder):
        (folder / "nsd.conf").write_text(f"""
server:
  ip-address: {rig.V4}@53
  database: ""
  pidfile: {folder}/nsd.pid
  username: ""
  xfrdfile: {folder}/xfrd.state
  zonelistfile: {folder}/zone.list
  server-count: 1
  rrl-ratelimit: 0
{self.more}remote-control:
  control-enable: no
zone:
  name: {ORIGIN}
  zonefile: {self.data.zone}
""", encoding="ascii")
        return ["nsd", "-d", "-c", folder / "nsd.conf"]


class Named(Peer):
    title, program = "named, sockets", "named"

    def configure(self, folder):
        (folder / "named.conf").write_text(f"""options {{
  directory "{folder}"; pid-file "{folder}/pid"; session-keyfile "{folder}/key"; {named_alone()}
  listen-on {{ {rig.V4}; }}; listen-on-v6 {{ none; }};
  recursion no; allow-query {{ any; }}; dnssec-validation no; querylog no; minimal-responses yes;
}};
controls {{ }};
zone "{ORIGIN}" {{ type primary; file "{self.data.zone}"; }};
""", encoding="ascii")
        return ["named", "-f", "-n", "1", "-4", "-c", folder / "named.conf"]


class Unbound(Peer):
    """A resolver that has each answer in its cache. It has them from an nsd on the load's CPU."""
    title, program = "unbound, sockets, all hits", "unbound"
    upstream = None

    @classmethod
    def is_there(cls):
        return super().is_there() and Nsd.is_there()

    def configure(self, folder):
        """test. is one of its built-in empty zones."""
        self.upstream = Netns(folder, f"{self.rig.name}-s")
        process = self.upstream.nsd(UPSTREAM, {ORIGIN: self.data.zone})
        rig.pin(family(process.pid), rig.LOAD_CPU)
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
  msg-cache-size: 256m
  rrset-cache-size: 512m
  so-rcvbuf: 4m
  so-sndbuf: 4m
  minimal-responses: yes
  outgoing-range: 4096
  num-queries-per-thread: 2048
  local-zone: "test." nodefault
remote-control:
  control-enable: no
stub-zone:
  name: {ORIGIN}
  stub-addr: {UPSTREAM}
""", encoding="ascii")
        return ["unbound", "-d", "-c", folder / "unbound.conf"]

    def warm(self):
        """dnsperf waits for the upstream, as a generator in the kernel would not let it work."""
        self.rig.exec("c", "taskset", "-c", rig.LOAD_CPU, "dnsperf", "-s", rig.V4, "-d",
                      self.data.queries, "-n", 1, "-q", 300, "-c", 8, "-T", 1, timeout=120)
        for _ in range(WARM_PASSES):
            made = self.ask_all(UNBOUND_RATE)
            share = made["rcodes"][0] / made["sent"]
            if share >= WARM_SHARE:
                return
        raise RuntimeError(f"{self.name}: warm, it answers {share:.0%}")

    def stop(self):
        if self.upstream:
            self.upstream.close()
            self.upstream = None
        super().stop()


class UdpEcho(Peer):
    title, program = "recvmmsg/sendmmsg echo", str(rig.PERF / "udpecho")

    def configure(self, folder):
        return [self.program, rig.V4, 53]

    def warm(self):
        """It knows nothing."""


class XskEcho(UdpEcho):
    title, program = "AF_XDP echo", str(rig.PERF / "xskecho")

    def configure(self, folder):
        return [self.program, "s0"]


class DpdkEcho(UdpEcho):
    """
    testpmd on net_af_xdp; it has no huge pages and no PCI, and ends when its standard input does.
    """
    title, program, echo = "DPDK echo, net_af_xdp", "dpdk-testpmd", True

    def configure(self, folder):
        return [self.program, "--lcores", f"(0,1)@{rig.SERVER_CPU}", "--no-huge", "--no-pci",
                "--no-shconf", "-m", 512, "--vdev", "net_af_xdp0,iface=s0", "--",
                "--forward-mode=5tswap", "--auto-start", "--total-num-mbufs=16384"]
