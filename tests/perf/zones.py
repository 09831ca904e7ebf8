# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a server takes to load a large zone, and in how much memory: Volley, knotd, nsd in
turns.

Each is started with the zone and, but for places and ports, its own defaults; it is asked for the
SOA until the first right answer. That is the wall time; CPU time is that of all its threads and
processes until then. Memory is what is resident a moment later, less what the same server has with
a zone of a hundred records; of processes that share their pages, the largest stands for all.
"""
import json
import pathlib
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

import dns.flags
import dns.message

ORIGIN, SERIAL = "big.example.", 1
SMALL = 100
KINDS = {"plain": "plain", "nsec": "NSEC", "nsec3": "NSEC3, opt-out"}
LOAD_SECONDS, POLL_SECONDS, SETTLE_SECONDS = 600, 0.02, 0.5
FIGURES = ("wall_s", "cpu_s", "bytes", "peak_bytes")
JUDGED = ("wall_s", "cpu_s", "bytes")


def make_zone(path, kind, records, origin=ORIGIN):
    """Writes a zone of about so many records, names not in order; returns how many it has."""
    with open(path, "wb") as out:
        made = subprocess.run([rig.PERF / "zonegen", origin, str(records), "1", kind],
                              stdout=out, stderr=subprocess.PIPE, check=True)
    return int(made.stderr.split()[0])


def free_port():
    """A port that nobody has on loopback, by UDP or TCP."""
    with socket.socket(type=socket.SOCK_DGRAM) as udp, socket.socket() as tcp:
        udp.bind(("127.0.0.1", 0))
        tcp.bind(udp.getsockname())
        return udp.getsockname()[1]


def is_right(wire):
    """Is it an authoritative answer with the SOA of the zone?"""
    answer = dns.message.from_wire(wire)
    return bool(answer.flags & dns.flags.AA) and \
        any(getattr(data, "serial", None) == SERIAL for rrset in answer.answer for data in rrset)


def wait_for_answer(port, has_ended):
    """Asks until the first right answer."""
    query = dns.message.make_query(ORIGIN, "SOA").to_wire()
    end = time.monotonic() + LOAD_SECONDS
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.settimeout(POLL_SECONDS)
        sock.connect(("127.0.0.1", port))
        while time.monotonic() < end:
            if has_ended():
                raise RuntimeError("it ended")
            try:
                sock.send(query)
                if is_right(sock.recv(4096)):
                    return
                time.sleep(POLL_SECONDS)
            except ConnectionRefusedError:
                time.sleep(POLL_SECONDS)
            except TimeoutError:
                pass
    raise RuntimeError(f"no right answer in {LOAD_SECONDS} s")


def status_bytes(pid, field):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(rf"^{field}:\s+(\d+) kB", text, re.M)
    return int(found[1]) * 1024 if found else 0


class Loader:
    """A server that is to load one zone."""
    title, program = None, None

    @classmethod
    def is_there(cls):
        return shutil.which(cls.program, path=rig.ENV["PATH"]) is not None

    def configure(self, folder, zone, port):
        """Writes its files; returns the words of its command."""
        raise NotImplementedError

    def measure(self, zone):
        """Starts it with the zone, until it answers, and ends it."""
        with tempfile.TemporaryDirectory(prefix="volley-zones-") as name:
            folder, port = pathlib.Path(name), free_port()
            words = self.configure(folder, zone, port)
            with open(folder / "log", "wb") as log:
                start = time.monotonic()
                group = rig.Group(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=log)
            try:
                return self.watch(group.process, port, start)
            except RuntimeError as err:
                log = (folder / "log").read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"{self.title}: {err}\n{log}") from err
            finally:
                group.stop(signal.SIGTERM, 60)

    def watch(self, process, port, start):
        wait_for_answer(port, lambda: process.poll() is not None)
        found = {"wall_s": time.monotonic() - start}
        pids = rig.group_of(process.pid)
        found["cpu_s"] = sum(rig.cpu_seconds(pids))
        time.sleep(SETTLE_SECONDS)
        pids = rig.group_of(process.pid)
        found["bytes"] = max(status_bytes(pid, "VmRSS") for pid in pids)
        found["peak_bytes"] = max(status_bytes(pid, "VmHWM") for pid in pids)
        return found


class Volley(Loader):
    title, program = "volleyd", "volleyd"

    @classmethod
    def is_there(cls):
        return True

    def configure(self, folder, zone, port):
        config = {"server": {"listen": [f"127.0.0.1@{port}"]},
                  "zones": [rig.zone(ORIGIN, zone)],
                  "rrl": {"answers": 0, "octets": 0},
                  "control": {"socket": str(folder / "control.sock")}}
        (folder / "volley.yaml").write_text(json.dumps(config), encoding="ascii")
        return [rig.BIN / "volleyd", "-c", folder / "volley.yaml"]


class Knot(Loader):
    title, program = "knotd", "knotd"

    def configure(self, folder, zone, port):
        (folder / "knot.conf").write_text(f"""
server:
    rundir: {folder}
    listen: 127.0.0.1@{port}
database:
    storage: {folder}
zone:
  - domain: {ORIGIN}
    file: {zone}
""", encoding="ascii")
        return ["knotd", "-c", folder / "knot.conf"]


class Nsd(Loader):
    """Without its database on disk, which later versions do not have: loading is quicker so."""
    title, program = "nsd", "nsd"

    def configure(self, folder, zone, port):
        (folder / "nsd.conf").write_text(f"""
server:
  ip-address: 127.0.0.1@{port}
  database: ""
  username: ""
  pidfile: {folder}/nsd.pid
  xfrdfile: {folder}/xfrd.state
  zonelistfile: {folder}/zone.list
  xfrdir: {folder}
remote-control:
  control-enable: no
zone:
  name: {ORIGIN}
  zonefile: {zone}
""", encoding="ascii")
        return ["nsd", "-d", "-c", folder / "nsd.conf"]


def measured_beyond(loader, small, zone):
    """Memory without that of the same server with next to no zone."""
    base, found = loader.measure(small), loader.measure(zone)
    for key in ("bytes", "peak_bytes"):
        found[key] = max(1, found[key] - base["bytes"])
    return found


def better_peer(one_round, key):
    """The least of the peers; of Volley where there are none."""
    peers = [found[key] for title, found in one_round.items() if title != Volley.title]
    return min(peers) if peers else one_round[Volley.title][key]


def peak_to_image(small, zone):
    """
    The most that Volley's loader alone ever takes of a zone's memory. In volleyd it may be hidden:
    the cache takes its memory at the same time.
    """
    base, found = (rig.json_of(rig.run(rig.PERF / "zoneload", ORIGIN, path, timeout=LOAD_SECONDS))
                   for path in (small, zone))
    return (found["peak"] - base["peak"]) / found["image"]


def row(kind, records, rounds, title):
    """Medians over the rounds; ratios are to the better peer of the same round."""
    made = {"kind": kind, "records": records, "server": title,
            "runs": [one[title] for one in rounds]}
    for key in FIGURES:
        made[key] = statistics.median(one[title][key] for one in rounds)
    for key in JUDGED:
        made[f"{key}_ratio"] = statistics.median(one[title][key] / max(1e-9, better_peer(one, key))
                                                 for one in rounds)
    made["n_peers"] = len(rounds[0]) - 1
    return made


def compare(options, folder):
    """A row for each zone and server."""
    loaders = [kind() for kind in (Volley, Knot, Nsd) if kind.is_there()]
    rows = []
    for records in options.records:
        for kind, title in KINDS.items():
            large, small = folder / "large.zone", folder / "small.zone"
            n = make_zone(large, kind, records)
            make_zone(small, kind, SMALL)
            rounds = []
            for i in range(options.rounds):
                rounds.append({loader.title: measured_beyond(loader, small, large)
                               for loader in loaders})
                sweep.say(f"  {title}, {n:,} records: round {i + 1} of {options.rounds}")
            made = [row(title, n, rounds, loader.title) for loader in loaders]
            made[0]["peak_to_image"] = peak_to_image(small, large)
            rows += made
            large.unlink()
    return rows
