# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Many small zones: Volley, knotd and nsd in turns (part `many`).

Each server is started with N zones of eight records, each in a file of its own, and asked until
1,000 of them, drawn at random, with the first and the last, have given the right address: that is
the start. Memory is the proportional set size (PSS) of all processes of the server, so that shared
pages count once, less what the same server has with one zone. Then, with CPU time of all its
processes: a reload with nothing changed; one more zone in the configuration, and a reload, until it
answers; one more zone by command, until it answers.
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

import rig
import sweep
import zones

import dns.flags
import dns.message

N_ASKED, SEED, CACHE = 1000, 1, "64M"
PER_FOLDER = 1000
AGE_SECONDS = 4  # SETTLED_S, of userspace/zonemgr/zonefile.c, and a part of a second
START_SECONDS, COMMAND_SECONDS, QUIET_SECONDS = 1800, 600, 0.5
ASK_SECONDS, PAUSE_SECONDS = 0.2, 0.001
FIGURES = ("start_s", "start_cpu_s", "bytes", "reload_cpu_s", "file_s", "file_cpu_s", "command_s")
JUDGED = ("start_s", "start_cpu_s", "bytes")


def origin(n):
    return f"z{n:07d}.example"


def address(n):
    return f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}"


class Files:
    """The zone files: a folder for each thousand."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, n):
        return self.folder / f"{n // PER_FOLDER:05d}" / f"{origin(n)}.zone"

    def write(self, n):
        path = self.path(n)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"""$ORIGIN {origin(n)}.
$TTL 3600
@ SOA ns1 hostmaster 1 7200 900 1209600 300
@ NS ns1
@ NS ns2
@ MX 10 mail
ns1 A 192.0.2.53
ns2 A 198.51.100.53
mail A 192.0.2.25
www A {address(n)}
""", encoding="ascii")


class Client:
    """Asks for the address of zones."""

    def __init__(self, port):
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.settimeout(ASK_SECONDS)

    def is_answered(self, n):
        """With the right address; a wrong one ends the run."""
        query = dns.message.make_query(f"www.{origin(n)}", "A")
        try:
            self.socket.send(query.to_wire())
            answer = dns.message.from_wire(self.socket.recv(4096))
            while answer.id != query.id:  # a late reply to a query before
                answer = dns.message.from_wire(self.socket.recv(4096))
        except (ConnectionRefusedError, TimeoutError):
            return False
        if answer.rcode() or not answer.flags & dns.flags.AA:
            return False
        got = [str(data) for rrset in answer.answer for data in rrset]
        if got != [address(n)]:
            raise RuntimeError(f"{origin(n)}: wrong answer {got}")
        return True

    def wait_for(self, n, has_ended, seconds):
        end = time.monotonic() + seconds
        while not self.is_answered(n):
            if has_ended() or time.monotonic() > end:
                raise RuntimeError(f"{origin(n)}: no right answer")
            time.sleep(PAUSE_SECONDS)


def cpu_s(pids):
    """With the time of their children that have ended: nsd forks at each reload."""
    ticks = 0
    for pid in pids:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
        ticks += sum(map(int, text.rsplit(")", 1)[1].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def pss_bytes(pids):
    """The answer cache and other BPF maps are no pages of a process."""
    total = 0
    for pid in pids:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        total += int(re.search(r"^Pss:\s+(\d+) kB", text, re.M)[1]) * 1024
    return total


class Server:
    """A server in the foreground, in a folder of its own."""
    title, program = None, None

    @classmethod
    def is_there(cls):
        return shutil.which(cls.program, path=rig.ENV["PATH"]) is not None

    def __init__(self, folder, files):
        self.folder, self.files, self.port = folder, files, zones.free_port()
        self.group = self.client = None

    def configure(self, n_zones):
        """Writes its files for zones 0 to n_zones - 1; returns the words of its command."""
        raise NotImplementedError

    def reload(self):
        """Has the configuration and the zone files read again."""
        raise NotImplementedError

    def add(self, n):
        """One more zone, by command."""
        raise NotImplementedError

    def start(self, words):
        with open(self.folder / "log", "wb") as log:
            self.group = rig.Group(words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log)
        self.client = Client(self.port)

    def stop(self):
        self.group.stop(signal.SIGTERM, 60)

    def has_ended(self):
        return self.group.process.poll() is not None

    def pids(self):
        return rig.group_of(self.group.process.pid)

    def cpu_s(self):
        return cpu_s(self.pids())

    def settle(self):
        """Until it has had next to no CPU time for a moment."""
        before = -1
        while self.cpu_s() - before > 0.02:
            before = self.cpu_s()
            time.sleep(QUIET_SECONDS)

    def ask_all(self, asked):
        for n in asked:
            self.client.wait_for(n, self.has_ended, START_SECONDS)

    def timed(self, work):
        """Seconds of the clock, and of CPU until it is quiet again."""
        self.settle()
        cpu_s, start = self.cpu_s(), time.monotonic()
        work()
        wall_s = time.monotonic() - start
        self.settle()
        return wall_s, self.cpu_s() - cpu_s

    def add_by_file(self, n):
        """With a configuration that has it already."""
        self.reload()
        self.client.wait_for(n, self.has_ended, COMMAND_SECONDS)

    def add_by_command(self, n):
        self.add(n)
        self.client.wait_for(n, self.has_ended, COMMAND_SECONDS)

    def measure(self, n_zones, asked):
        """Zones n_zones and n_zones + 1 are the ones that come."""
        words = self.configure(n_zones)
        time.sleep(AGE_SECONDS)  # volleyd reads a file again that was younger when it was read
        found, begun = {}, time.monotonic()
        self.start(words)
        try:
            self.ask_all(asked)
            found["start_s"] = time.monotonic() - begun
            found["start_cpu_s"] = self.cpu_s()
            self.settle()
            found["bytes"] = pss_bytes(self.pids())
            if n_zones > 1:
                _, found["reload_cpu_s"] = self.timed(self.reload)
                self.configure(n_zones + 1)
                found["file_s"], found["file_cpu_s"] = self.timed(
                    lambda: self.add_by_file(n_zones))
                found["command_s"], _ = self.timed(lambda: self.add_by_command(n_zones + 1))
                self.ask_all(asked)
        except (RuntimeError, subprocess.SubprocessError) as err:
            log = (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-4000:]
            more = getattr(err, "stderr", None) or ""
            raise RuntimeError(f"{self.title}: {err}\n{more}\n{log}") from err
        finally:
            self.stop()
        return found


def command(*words):
    subprocess.run([str(word) for word in words], env=rig.ENV, check=True, capture_output=True,
                   text=True, timeout=COMMAND_SECONDS)


class Volley(Server):
    title, program = "volleyd", "volleyd"

    @classmethod
    def is_there(cls):
        return True

    def configure(self, n_zones):
        head = {"server": {"listen": [f"127.0.0.1@{self.port}"], "workers": 1,
                           "storage": str(self.folder / "storage")},
                "templates": [{"name": "small", "file": str(self.files.folder / "%s.zone")}],
                "rrl": {"answers": 0, "octets": 0}, "cache": {"size": CACHE},
                "control": {"socket": str(self.folder / "control.sock"), "zones-add": ["small"]}}
        with open(self.folder / "volley.yaml", "w", encoding="ascii") as out:
            out.writelines(f"{key}: {json.dumps(value)}\n" for key, value in head.items())
            out.write("zones:\n")
            out.writelines(f"- name: {origin(n)}\n  file: {self.files.path(n)}\n"
                           for n in range(n_zones))
        return [rig.BIN / "volleyd", "-c", self.folder / "volley.yaml"]

    def ctl(self, *words):
        command(rig.BIN / "volleyctl", "-s", self.folder / "control.sock", *words)

    def reload(self):
        self.ctl("zone", "reload")

    def add(self, n):
        shutil.copy(self.files.path(n), self.files.folder / f"{origin(n)}.zone")
        self.ctl("zone", "add", origin(n), "--template", "small")


class Knot(Server):
    """Its configuration is a database, as it has to be for commands that add zones."""
    title, program = "knotd", "knotd"

    def configure(self, n_zones):
        with open(self.folder / "knot.conf", "w", encoding="ascii") as out:
            out.write(f"""server:
    rundir: {self.folder}
    listen: 127.0.0.1@{self.port}
    udp-workers: 1
    tcp-workers: 1
database:
    storage: {self.folder}
template:
  - id: default
    zonefile-sync: -1
    journal-content: none
zone:
""")
            out.writelines(f"  - domain: {origin(n)}\n    file: {self.files.path(n)}\n"
                           for n in range(n_zones))
        return ["knotd", "-c", self.folder / "knot.conf"]

    def ctl(self, *words):
        command("knotc", "-s", self.folder / "knot.sock", "-t", COMMAND_SECONDS, *words)

    def reload(self):
        self.ctl("reload")

    def add(self, n):
        self.ctl("conf-begin")
        self.ctl("conf-set", f"zone[{origin(n)}]")
        self.ctl("conf-set", f"zone[{origin(n)}].file", self.files.path(n))
        self.ctl("conf-commit")


class Nsd(Server):
    """Without its database on disk, which later versions do not have."""
    title, program = "nsd", "nsd"

    def configure(self, n_zones):
        with open(self.folder / "nsd.conf", "w", encoding="ascii") as out:
            out.write(f"""server:
  ip-address: 127.0.0.1@{self.port}
  server-count: 1
  rrl-ratelimit: 0
  database: ""
  username: ""
  zonesdir: "{self.files.folder}"
  pidfile: {self.folder}/nsd.pid
  xfrdfile: {self.folder}/xfrd.state
  zonelistfile: {self.folder}/zone.list
  xfrdir: {self.folder}
remote-control:
  control-enable: yes
  control-interface: {self.folder}/nsd.sock
pattern:
  name: small
  zonefile: %s.zone
""")
            out.writelines(f"zone:\n  name: {origin(n)}\n  zonefile: {self.files.path(n)}\n"
                           for n in range(n_zones))
        return ["nsd", "-d", "-c", self.folder / "nsd.conf"]

    def ctl(self, *words):
        command("nsd-control", "-c", self.folder / "nsd.conf", *words)

    def reload(self):
        self.ctl("reconfig")
        self.ctl("reload")

    def add(self, n):
        shutil.copy(self.files.path(n), self.files.folder / f"{origin(n)}.zone")
        self.ctl("addzone", origin(n), "small")


def measured(kind, files, n_zones, asked):
    """Memory without that of the same server with one zone."""
    with tempfile.TemporaryDirectory(prefix="volley-many-") as folder:
        small = kind(pathlib.Path(folder), files).measure(1, [0])
    with tempfile.TemporaryDirectory(prefix="volley-many-") as folder:
        found = kind(pathlib.Path(folder), files).measure(n_zones, asked)
    found["all_bytes"], found["bytes"] = found["bytes"], max(1, found["bytes"] - small["bytes"])
    return found


def row(n_zones, rounds, title):
    """Medians over the rounds; ratios are to the better peer of the same round."""
    made = {"zones": n_zones, "server": title, "runs": [one[title] for one in rounds]}
    for key in (*FIGURES, "all_bytes"):
        made[key] = statistics.median(one[title][key] for one in rounds)
    for key in JUDGED:
        made[f"{key}_ratio"] = statistics.median(
            one[title][key] / max(1e-9, zones.better_peer(one, key)) for one in rounds)
    made["n_peers"] = len(rounds[0]) - 1
    return made


def compare(options, folder):
    """A row for each number of zones and server."""
    kinds = [kind for kind in (Volley, Knot, Nsd) if kind.is_there()]
    rows = []
    for n_zones in options.zones:
        files = Files(folder / f"many-{n_zones}")
        files.folder.mkdir()
        for n in range(n_zones + 2):
            files.write(n)
        asked = [0, *random.Random(SEED).sample(range(n_zones), min(N_ASKED, n_zones)), n_zones - 1]
        rounds = []
        for i in range(options.rounds):
            rounds.append({kind.title: measured(kind, files, n_zones, asked) for kind in kinds})
            sweep.say(f"  {n_zones:,} zones: round {i + 1} of {options.rounds}")
        rows += [row(n_zones, rounds, kind.title) for kind in kinds]
        shutil.rmtree(files.folder)
    return rows
