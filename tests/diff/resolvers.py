# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
volleyd and unbound with the options of a group of scenarios, beside the authorities of all, and
both clocks in one hand.
"""
import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import time

import dns.message
import dns.name
import dns.rrset

import peers
from authorities import Authorities, Zone
from rivals import is_later_unbound
from scenario import Verdict, query_of

HERE = "10.53.0.53"        # both listen here
PORTS = {"volley": 5301, "unbound": 5302}
# where they ask from; volleyd where the kernel says
SOURCES = {"volley": "10.53.0.1", "unbound": "10.53.0.9"}
ROOT_NS, TLD_NS = "10.53.0.2", "10.53.0.3"
TICK_MS = 20
WAIT_S = 30
SETTLE_S = 5
SILENCE_S = 0.4
QUIET_S = 0.08


class Clock:
    """Time for both programs, by tests/net/preload/wallclock.c."""

    def __init__(self, folder):
        self.path, self.ahead = folder / "clocks", 0
        self.path.write_bytes(bytes(24))
        library = folder / "wallclock.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library,
                        peers.ROOT / "tests/net/preload/wallclock.c"], check=True)
        self.env = {**os.environ, "LD_PRELOAD": str(library), "WALLCLOCK_FILE": str(self.path),
                    "WALLCLOCK_TICK_MS": str(TICK_MS)}

    def leap(self, seconds):
        self.ahead += seconds
        with open(self.path, "r+b") as out:
            out.seek(16)
            out.write(struct.pack("=q", self.ahead))
        time.sleep(2 * TICK_MS / 1000)  # those that sleep see it


def lines(records):
    return "".join(f"{record}\n" for record in records or ())


def make_zones(groups):
    """
    The root, lab. (signed), raw. (not signed) and all zones of the scenarios, each below its
    parent.
    """
    leaves, options = {}, {}
    for group in groups:
        for one in group.scenarios:
            for origin, how in one.get("zones", {}).items():
                assert origin not in leaves, f"{origin} is in two scenarios"
                leaves[origin] = Zone(origin, how["at"].split(), lines(how.get("has")),
                                      how.get("sign", "no"))
                leaves[origin].raw = {name.lower(): reply
                                      for name, reply in how.get("raw", {}).items()}
                options[origin] = how
    above = {".": Zone(".", [ROOT_NS], "", "yes"), "lab.": Zone("lab.", [TLD_NS], "", "yes"),
             "raw.": Zone("raw.", [TLD_NS], "")}
    zones = {**above, **leaves}
    for origin, zone in zones.items():
        if origin != "." and options.get(origin, {}).get("delegated", True):
            delegate(next(one for one in parents(origin, zones)), zone)
    return zones


def parents(origin, zones):
    while origin != ".":
        origin = origin.split(".", 1)[1] or "."
        if origin in zones:
            yield zones[origin]


def delegate(parent, zone):
    """NS, glue and DS, once for all: a change of the parent's records would lose them."""
    name = dns.name.from_text("ns", zone.origin)
    parent.add(dns.rrset.from_text(zone.origin, 300, "IN", "NS", str(name)))
    for address in zone.addresses:
        parent.add(dns.rrset.from_text(name, 300, "IN", "A", address))
    if zone.sign not in ("no", "island"):
        parent.add(zone.ds())


class World:
    """The authorities, the clock, and a pair of resolvers at a time."""

    def __init__(self, folder, groups):
        self.folder = folder
        subprocess.run([shutil.which("ip", path=peers.PATH), "address", "add", "10.53.0.1/16",
                        "dev", "lo"], check=True)
        self.zones, self.clock, self.pair = make_zones(groups), Clock(folder), None
        self.authorities = Authorities(self.zones.values(),
                                       {one for group in groups
                                        for one in group.forwarders.split()})
        (folder / "hints").write_text(f". 3600 IN NS ns.\nns. 3600 IN A {ROOT_NS}\n",
                                      encoding="ascii")

    def pair_for(self, group):
        if not self.pair or self.pair.group.name != group.name:
            self.end_pair()
            self.pair = Pair(self, group)
        return self.pair

    def end_pair(self):
        pair, self.pair = self.pair, None
        if pair:
            pair.end()

    def close(self):
        try:
            self.end_pair()
        finally:
            self.authorities.close()


class Pair:
    def __init__(self, world, group):
        self.world, self.group, self.processes = world, group, {}
        self.folder = world.folder / group.name
        self.folder.mkdir(exist_ok=True)
        for name, text in group.files.items():
            (self.folder / name).write_text(text, encoding="ascii")
        self.anchors = self.write_anchors() if group.anchors else None
        self.start("volley", "volleyd", self.write_volley())
        self.start("unbound", "unbound", self.write_unbound(), "-d")
        try:
            for who in PORTS:
                self.wait(who)
        except BaseException:
            self.end()
            raise

    def write_anchors(self):
        records = [self.world.zones[origin].ds().to_text() for origin in self.group.anchors]
        path = self.folder / "anchors"
        path.write_text("\n".join(records) + "\n", encoding="ascii")
        return path

    def here(self, text):
        return text.replace("$dir", str(self.folder))

    def write_volley(self):
        recursion = {"allow": ["10.53.0.0/16"], "root-hints": str(self.world.folder / "hints"),
                     "prefetch": False, "query-timeout": "60s",
                     **({"trust-anchor": str(self.anchors)} if self.anchors else {}),
                     **self.group.volley}
        path = self.folder / "volley.yaml"
        path.write_text(self.here(json.dumps({  # JSON is YAML
            "server": {"listen": [f"{HERE}@{PORTS['volley']}"], "workers": 1},
                                              "cache": {"size": "8M", "names": 0},
            "rrl": {"answers": 0, "octets": 0}, "control": {"socket": str(self.folder / "control")},
            "recursion": {key: value for key, value in recursion.items() if value is not None}},
                                             indent=1)), encoding="ascii")
        return path

    def write_unbound(self):
        anchors = f"trust-anchor-file: {self.anchors}" if self.anchors else ""
        path = self.folder / "unbound.conf"
        path.write_text(self.here(f"""remote-control:
  control-enable: no
server:
  interface: {HERE}@{PORTS['unbound']}
  outgoing-interface: {SOURCES['unbound']}
  use-syslog: no
  username: ""
  chroot: ""
  directory: {self.folder}
  pidfile: ""
  root-hints: {self.world.folder}/hints
  access-control: 10.53.0.0/16 allow_snoop
  ede: yes
  ede-serve-expired: yes
  module-config: "{'validator ' if anchors else ''}iterator"
  infra-cache-max-rtt: 2000
  infra-host-ttl: 5
  infra-keep-probing: yes
  discard-timeout: 0
  aggressive-nsec: yes
  {anchors}
""") + self.here(self.group.unbound), encoding="ascii")
        return path

    def start(self, who, program, conf, *options):
        with open(self.folder / f"{who}.log", "wb") as log:
            self.processes[who] = subprocess.Popen([shutil.which(program, path=peers.PATH),
                                                    *options, "-c", str(conf)],
                                                   stdout=log, stderr=log, cwd=self.folder,
                                                   env=self.world.clock.env)

    def log(self, who):
        return (self.folder / f"{who}.log").read_text(errors="replace")

    def wait(self, who):
        end = time.monotonic() + WAIT_S
        while not self.once(who, query_of("localhost.", "A"), 0.2):
            assert self.processes[who].poll() is None and time.monotonic() < end, f"{who} does not answer:\n{self.log(who)}"
            time.sleep(0.02)

    @staticmethod
    def once(who, query, seconds):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(seconds)
            sock.connect((HERE, PORTS[who]))
            with contextlib.suppress(OSError):
                sock.send(query.to_wire())
                return sock.recv(65535)
        return None

    # --- Steps

    def ask(self, name, kind, *words):
        """
        {who: reply}. Both are asked at a time. Where a server is not well and one has no answer
        yet, time passes quickly.
        """
        query, replies = query_of(name, kind, *words), {}
        with contextlib.ExitStack() as stack:
            waiting = {}
            for who, port in PORTS.items():
                sock = socket.socket(socket.AF_INET,
                                     socket.SOCK_STREAM if "tcp" in words else socket.SOCK_DGRAM)
                stack.enter_context(sock).connect((HERE, port))
                wire = query.to_wire()
                sock.sendall(len(wire).to_bytes(2, "big") + wire if "tcp" in words else wire)
                sock.settimeout(0.02)
                waiting[who] = sock
            begin = time.monotonic()
            while waiting and time.monotonic() < begin + WAIT_S:
                for who, sock in list(waiting.items()):
                    with contextlib.suppress(TimeoutError):
                        wire = sock.recv(65535)
                        replies[who] = dns.message.from_wire(wire[2:] if "tcp" in words else wire)
                        del waiting[who]
                if waiting and self.world.authorities.modes and time.monotonic() > begin + SILENCE_S:
                    self.world.clock.leap(1)
        return {who: replies.get(who) for who in PORTS}

    def n_asked(self, who, since, question, server):
        return sum(one.client == SOURCES[who] and one.question == question
                   and server in (None, one.server) and not one.is_repeat
                   for one in self.world.authorities.log[since:])

    def end(self):
        for process in self.processes.values():
            process.terminate()
        codes = {who: process.wait(20) for who, process in self.processes.items()}
        assert codes["volley"] == 0, f"volleyd ended with status {codes['volley']}:\n{self.log('volley')}"


class Run:
    """One scenario of a group."""

    def __init__(self, pair, steps):
        self.pair, self.steps, self.rules = pair, steps, set()
        self.authorities, self.seen = pair.world.authorities, {}
        self.begin = len(self.authorities.log)

    def run(self):
        try:
            for n, step in enumerate(self.steps, 1):
                (words, value), = step.items()
                word, *rest = words.split()
                getattr(self, "do_" + word)(f"step {n}, {words}: {value}", value, *rest)
        finally:
            self.authorities.modes.clear()

    def wanted(self, value):
        if isinstance(value, dict):
            self.rules.add(value["because"])
            return {who: value[who] for who in PORTS}
        return dict.fromkeys(PORTS, value)

    def faults(self, where, value, words):
        """What is wrong with the two replies; empty if nothing is."""
        replies, wanted = self.pair.ask(*words), self.wanted(value)
        found = {who: Verdict(wanted[who]).fault_of(reply) for who, reply in replies.items()}
        if found["unbound"] and is_later_unbound():
            found["unbound"] = Verdict(wanted["volley"]).fault_of(replies["unbound"])
        return any(found.values()) and f"{where}\n" + "\n".join(
            f"{who}: {fault or 'as it should'}\n{replies[who]}\n" for who, fault in found.items())

    def do_ask(self, where, value, *words):
        faults = self.faults(where, value, words)
        assert not faults, faults

    def do_becomes(self, where, value, *words):
        end = time.monotonic() + SETTLE_S
        while faults := self.faults(where, value, words):
            assert time.monotonic() < end, faults
            time.sleep(0.02)

    def wait_quiet(self):
        """
        A reply that came in a leap would have taken its seconds: its server would count as one that
        is slow.
        """
        n, log = -1, self.authorities.log
        while n != len(log):
            n = len(log)
            time.sleep(QUIET_S)

    def do_pass(self, _where, value):
        self.wait_quiet()
        self.pair.world.clock.leap(value)

    def do_walk(self, _where, value):
        for _ in range(value):
            self.pair.world.clock.leap(1)

    def do_server(self, _where, value, address):
        self.authorities.modes[address] = value

    def do_change(self, _where, value, origin):
        self.pair.world.zones[origin].load(lines(value))

    def do_asked(self, where, value, *words):
        """What is asked behind an answer may come a little later."""
        *server, name, kind = words
        question, since = f"{name} {kind}".lower(), self.seen.get(words, self.begin)
        for who, text in self.wanted(value).items():
            n, more = int(str(text).rstrip("+")), str(text).endswith("+")
            end = time.monotonic() + SETTLE_S
            while (found := self.pair.n_asked(who, since, question,
                                              server[0] if server else None)) < n:
                assert time.monotonic() < end, f"{where}\n{who} asked {found} times"
                time.sleep(0.02)
            assert more or found == n, f"{where}\n{who} asked {found} times"
        self.seen[words] = len(self.authorities.log)
