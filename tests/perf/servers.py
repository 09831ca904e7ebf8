# SPDX-License-Identifier: GPL-2.0-only
"""What is measured at the server's end of the rig: one class for each kind of server.

    start()      it answers, is warm, and runs on the server's CPU alone
    source       what xdpgen is to ask: its arguments before SECONDS RATE
    daemon_pid   whose CPU time counts beside the NAPI thread's, or None
    note()       a dict that goes with a result: who answered, memory
    stop()       nothing of it is left

A peer is added by a class below Peer: its configuration, its command.
"""
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile

import rig

ORIGIN = "bench.test"
WARM_RATE, WARM_PASSES, WARM_SHARE = 100000, 12, 0.995


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
    daemon_pid = None

    def __init__(self, bench, name):
        self.rig, self.data, self.name = bench.rig, bench.data, name
        self.source = ("c0", self.data.queries)

    def start(self):
        raise NotImplementedError

    def stop(self):
        self.rig.detach()

    def note(self):
        return {}

    def load(self, seconds, rate):
        return self.rig.generate(*self.source, seconds=seconds, rate=rate)


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

    def __init__(self, bench, name, who, **interface):
        super().__init__(bench, name)
        self.who, self.interface, self.daemon = who, interface, None

    @property
    def daemon_pid(self):
        return self.daemon.process.pid

    def start(self):
        self.folder = tempfile.TemporaryDirectory(prefix="volley-bench-")
        self.daemon = rig.PinnedDaemon(self.rig, self.folder.name)
        self.daemon.start(interfaces=[rig.iface(**self.interface)], cache={"size": "256M"},
                          zones=[rig.zone(ORIGIN, self.data.zone)])
        self.warm()

    def warm(self):
        """Asks for each name until its usual answerer gives nearly all answers."""
        for _ in range(WARM_PASSES):
            before = self.daemon.answered()
            self.load(1.1 * self.data.n_names / WARM_RATE, WARM_RATE)
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


class Peer(Server):
    """Another name server, in the foreground, with one worker."""
    program = None

    @classmethod
    def is_there(cls):
        return shutil.which(cls.program, path=rig.ENV["PATH"]) is not None

    def __init__(self, bench):
        super().__init__(bench, self.title)
        self.process = None

    def configure(self, folder):
        """Writes its files; returns the words of its command."""
        raise NotImplementedError

    @property
    def daemon_pid(self):
        return self.process.process.pid

    def start(self):
        self.folder = tempfile.TemporaryDirectory(prefix="volley-bench-")
        folder = pathlib.Path(self.folder.name)
        words = self.configure(folder)
        with open(folder / "log", "wb") as log:
            self.process = rig.Group(["nsenter", f"--net=/run/netns/{self.rig.name}-s", "--",
                                      "taskset", "-c", rig.SERVER_CPU, *words], cwd=folder,
                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        rig.wait_for(f"{self.name} answers", self.is_ready, 30)
        # Some pin their threads themselves, to the load's CPU.
        rig.pin(rig.group_of(self.daemon_pid), rig.SERVER_CPU)
        self.rig.settle()
        self.warm()

    def warm(self):
        self.load(1.1 * self.data.n_names / WARM_RATE, WARM_RATE)

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
remote-control:
  control-enable: no
zone:
  name: {ORIGIN}
  zonefile: {self.data.zone}
""", encoding="ascii")
        return ["nsd", "-d", "-c", folder / "nsd.conf"]


PEERS = (Knot, KnotXdp, Nsd)


def ways(bench):
    """The ways that a query can take, the peer of all first."""
    return [
        Reflector(bench, "reflector"),
        Volley(bench, "driver hits", "driver"),
        Volley(bench, "AF_XDP (driver only hands up)", "worker", port="xsk",
               **{"driver-answers": False}),
        Volley(bench, "kernel sockets", "kernel_socket", xdp="off", port="socket"),
    ]
