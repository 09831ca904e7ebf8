#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Many small zones from one primary: Volley beside knotd and nsd as secondaries, in turns.

    tests/perf/manysecondaries.py --zones 10000 --rounds 3

first:   the secondary starts with nothing; the time ends when it has answered with each zone's SOA.
refresh: all zones are checked again and again (the SOA's refresh time is --refresh seconds).
notify:  --changes zones have another serial number at the primary. It sends no NOTIFY: this program
         sends one for each zone, as fast as they are answered, and notes when the secondary has the
         new serial number. The times are from the first NOTIFY on; zones that have not come after
         20 s are missing.

The secondary keeps its defaults, except for paths, ports and users. Processor time is that of all
its processes. Connections are those that the namespace has opened (ActiveOpens): only the secondary
opens any. Needs root, knotd and nsd.
"""
import argparse
import contextlib
import json
import pathlib
import random
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import rig
import zones
from tables import table
from transfers import PRIMARY, Space

SECONDARY = "127.0.8.3"
SECONDS, NOTIFY_SECONDS = 300, 20
BURST, NOTIFY_WINDOW, PAUSE_SECONDS, REPLY_SECONDS = 128, 100, 0.01, 0.2
AA_NOERROR, NOTIFY = 0x8400, 0x2400
FIGURES = {"first_s": "first: s", "first_cpu_s": "CPU s", "first_opens": "TCP opened",
           "first_datagrams": "UDP sent", "checks_per_s": "refresh: checks/s",
           "check_us": "CPU µs a check", "check_opens": "TCP opened a check",
           "notify_median_s": "notify: median s", "notify_last_s": "last s",
           "notify_cpu_s": "CPU s", "notify_opens": "TCP opened",
           "notify_missing": "missing", "rss_bytes": "KiB a zone"}


def name_of(i):
    return f"z{i:06}.test"


def wire_name(i):
    return b"\x07" + f"z{i:06}".encode() + b"\x04test\0"


class Zones:
    """The files of the primary's zones."""

    def __init__(self, folder, n, refresh):
        self.folder, self.n, self.refresh = folder / "zones", n, refresh
        self.serials = [1] * n
        self.folder.mkdir()
        for i in range(n):
            self.write(i)

    def write(self, i):
        serial, name = self.serials[i], name_of(i)
        (self.folder / f"{name}.zone").write_text(
            f"$ORIGIN {name}.\n$TTL 3600\n"
            f"@ SOA ns1 hostmaster {serial} {self.refresh} {self.refresh} 86400 300\n"
            f"@ NS ns1\n@ NS ns2\n@ A 192.0.2.1\n@ MX 10 mail\n"
            f"ns1 A 192.0.2.2\nns2 A 192.0.2.3\nmail A 192.0.2.{serial % 250 + 1}\n",
            encoding="ascii")

    def change(self, numbers):
        for i in numbers:
            self.serials[i] += 1
            self.write(i)


def volley(folder, n):
    names = [{"name": name_of(i), "primaries": ["primary"]} for i in range(n)]
    (folder / "conf").write_text(json.dumps({
        "server": {"listen": [f"{SECONDARY}@53"], "workers": 1, "storage": str(folder / "store"),
                   "pid-file": str(folder / "pid")},
        "cache": {"size": "64M"}, "rrl": {"answers": 0, "octets": 0},
        "remotes": [{"name": "primary", "address": [PRIMARY]}],
        "zones": names, "control": {"socket": str(folder / "sock")}}), encoding="ascii")
    return [rig.BIN / "volleyd", "-c", folder / "conf"]


def knot_text(folder, address, n, source):
    return f"""
server:
    rundir: {folder}
    listen: {address}@53
database:
    storage: {folder}
control:
    listen: {folder}/sock
remote:
  - id: primary
    address: {PRIMARY}@53
acl:
  - id: all
    action: [transfer, notify]
template:
  - id: default
    acl: all
    {source}
zone:
""" + "".join(f"  - domain: {name_of(i)}\n" for i in range(n))


def knotd(folder, n):
    (folder / "conf").write_text(knot_text(
        folder, SECONDARY, n, f"storage: {folder}\n    master: primary"), encoding="ascii")
    return ["knotd", "-c", folder / "conf"]


def nsd_text(folder, address, n, pattern):
    return f"""
server:
  ip-address: {address}
  port: 53
  database: ""
  username: ""
  pidfile: {folder}/pid
  zonesdir: {folder}
  xfrdfile: {folder}/xfrd
  xfrdir: {folder}
  zonelistfile: {folder}/list
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: yes
  control-interface: {folder}/sock
pattern:
  name: all
{pattern}
""" + "".join(f"zone:\n  name: {name_of(i)}\n  include-pattern: all\n" for i in range(n))


def nsd(folder, n):
    (folder / "conf").write_text(nsd_text(
        folder, SECONDARY, n, f"  zonefile: {folder}/%s.zone\n"
        f"  request-xfr: {PRIMARY}@53 NOKEY\n  allow-notify: {PRIMARY} NOKEY"), encoding="ascii")
    return ["nsd", "-d", "-c", folder / "conf"]


SERVERS = {"Volley": volley, "knotd": knotd, "nsd": nsd}


class Started:
    """A server, and what it and its namespace have used since the last mark()."""

    def __init__(self, command, folder):
        self.folder = folder
        self.log = (folder / "log").open("wb")
        self.group = rig.Group(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=self.log,
                               stderr=self.log)
        self.marked = 0, 0, 0, 0

    def cpu(self):
        return sum(rig.cpu_seconds(rig.group_of(self.group.process.pid)))

    def rss(self):
        return max(zones.status_bytes(pid, "VmRSS")
                   for pid in rig.group_of(self.group.process.pid))

    def now(self):
        tcp, udp = snmp("Tcp"), snmp("Udp")
        return time.monotonic(), self.cpu(), tcp["ActiveOpens"], udp["OutDatagrams"]

    def mark(self):
        self.marked = self.now()

    def used(self):
        """Seconds, CPU seconds, connections opened, datagrams sent since mark()."""
        return tuple(b - a for a, b in zip(self.marked, self.now()))

    def stop(self):
        self.group.stop(signal.SIGTERM, 120)
        self.log.close()


def snmp(protocol):
    lines = [line.split() for line in
             pathlib.Path("/proc/thread-self/net/snmp").read_text(encoding="ascii").splitlines()
             if line.startswith(protocol + ":")]
    return dict(zip(lines[0][1:], map(int, lines[1][1:])))


@contextlib.contextmanager
def started(command):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="manysecondaries-"))
    server = Started([str(word) for word in command(folder)], folder)
    try:
        yield server
    except RuntimeError as err:
        raise RuntimeError(f"{err}\n{(folder / 'log').read_bytes()[-2000:].decode()}") from err
    finally:
        server.stop()
        shutil.rmtree(folder)


def serial_in(wire):
    """(number of the zone, serial) of an answer with a SOA; None: it is another one."""
    if len(wire) < 60 or struct.unpack("!H", wire[2:4])[0] & 0x840f != AA_NOERROR or \
            wire[6:8] != b"\0\1":
        return None
    # the question ends at 12 + 14 + 4; the owner is a pointer; the SOA ends with five numbers
    at = 30 + 2 + 8
    end = at + 2 + struct.unpack("!H", wire[at:at + 2])[0]
    return int(wire[14:20]), struct.unpack("!I", wire[end - 20:end - 16])[0]


class Poll:
    """Asks the server for zones that are awaited, until each has the serial number that it should.
    Goes on at once as long as answers are right, so its last answer is hardly late."""

    def __init__(self, address, wanted):
        self.address, self.wanted, self.found = address, dict(wanted), {}
        self.n_sent = 0
        self.sock = socket.socket(type=socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.sock.settimeout(REPLY_SECONDS)

    def ask(self, numbers):
        for i in numbers:
            self.sock.sendto(struct.pack("!6H", i & 0xffff, 0, 1, 0, 0, 0) + wire_name(i) +
                             b"\0\x06\0\1", (self.address, 53))
        self.n_sent += len(numbers)

    def read(self, n):
        """How many of n replies were right."""
        n_right = 0
        for _ in range(n):
            try:
                answer = serial_in(self.sock.recv(4096))
            except OSError:
                break
            if answer and self.wanted.get(answer[0]) == answer[1]:
                del self.wanted[answer[0]]
                self.found[answer[0]] = time.monotonic()
                n_right += 1
        return n_right

    def run(self, seconds=SECONDS, may_miss=False):
        """When each came. With may_miss those that have not come in time are left out."""
        end = time.monotonic() + seconds
        order = list(self.wanted)
        random.Random(1).shuffle(order)
        while self.wanted:
            if time.monotonic() > end:
                if may_miss:
                    break
                raise RuntimeError(f"{self.address}: {len(self.wanted)} zones do not come, as "
                                   f"{name_of(next(iter(self.wanted)))}")
            batch, rest = order[:BURST], order[BURST:]
            self.ask(batch)
            n_right = self.read(len(batch))
            order = rest + [i for i in batch if i in self.wanted]
            if n_right < len(batch) / 2:
                time.sleep(PAUSE_SECONDS)
        self.sock.close()
        return self.found


def wait_all(address, serials):
    return Poll(address, enumerate(serials)).run()


def send_notifies(numbers):
    """From the primary's address, NOTIFY_WINDOW unanswered at a time; again what is not answered, as
    a primary does."""
    waiting = dict.fromkeys(numbers)
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.bind((PRIMARY, 0))
        sock.settimeout(REPLY_SECONDS)
        while waiting:
            order = list(waiting)
            for batch in (order[k:k + NOTIFY_WINDOW] for k in range(0, len(order), NOTIFY_WINDOW)):
                for i in batch:
                    sock.sendto(struct.pack("!6H", i & 0xffff, NOTIFY, 1, 0, 0, 0) +
                                wire_name(i) + b"\0\x06\0\1", (SECONDARY, 53))
                with contextlib.suppress(TimeoutError):
                    for _ in batch:
                        waiting.pop(int(sock.recv(4096)[14:20]), None)


class Primary:
    """A knotd or nsd with all zones."""

    def __init__(self, kind, files):
        self.kind, self.files = kind, files

    def command(self, folder):
        if self.kind == "nsd":
            pattern = f"  zonefile: {self.files.folder}/%s.zone\n  provide-xfr: 0.0.0.0/0 NOKEY"
            text = nsd_text(folder, PRIMARY, self.files.n, pattern)
        else:
            # a change must not wait for a free thread, and its history is for IXFR
            text = knot_text(folder, PRIMARY, self.files.n,
                             f"storage: {self.files.folder}\n    file: \"%s.zone\"\n"
                             "    zonefile-sync: -1\n    zonefile-load: difference")
        (folder / "conf").write_text(text, encoding="ascii")
        return [self.kind, *(["-d"] if self.kind == "nsd" else []), "-c", str(folder / "conf")]

    def change(self, server, numbers):
        """Returns when it serves them all."""
        self.files.change(numbers)
        names = [name_of(i) for i in numbers]
        if self.kind == "nsd":
            rig.run("nsd-control", "-c", server.folder / "conf", "reload", timeout=SECONDS)
        else:
            rig.run("knotc", "-c", server.folder / "conf", "zone-reload", *names, timeout=SECONDS)
        Poll(PRIMARY, ((i, self.files.serials[i]) for i in numbers)).run()


def measure_first(server, files):
    server.marked = server.marked[0], 0, *server.marked[2:]
    poll = Poll(SECONDARY, enumerate(files.serials))
    poll.run()
    seconds, cpu, opens, datagrams = server.used()
    # the other datagrams: this program's queries, the server's replies, the primary's replies
    return {"first_s": seconds, "first_cpu_s": cpu, "first_opens": opens,
            "first_datagrams": max(0, (datagrams - 2 * poll.n_sent) // 2),
            "rss_bytes": server.rss()}


def measure_refresh(server, files):
    """After one refresh time all zones are in their rhythm; measured is the next one."""
    time.sleep(files.refresh)
    server.mark()
    time.sleep(files.refresh)
    seconds, cpu, opens, datagrams = server.used()
    checks = max(opens, datagrams // 2, 1)   # over TCP on connections of their own, or over UDP
    return {"checks_per_s": checks / seconds, "check_us": cpu / checks * 1e6,
            "check_opens": opens / checks}


def measure_notify(server, primary, primary_server, numbers):
    files = primary.files
    primary.change(primary_server, numbers)
    server.mark()
    begun = time.monotonic()
    send_notifies(numbers)
    found = Poll(SECONDARY, ((i, files.serials[i]) for i in numbers)).run(NOTIFY_SECONDS, True)
    times = [at - begun for at in found.values()]
    _, cpu, opens, _ = server.used()
    return {"notify_median_s": statistics.median(times), "notify_last_s": max(times),
            "notify_cpu_s": cpu, "notify_opens": opens,
            "notify_missing": len(numbers) - len(times)}


def measure(kind, options, primary, primary_server):
    before = snmp("Tcp")["ActiveOpens"], snmp("Udp")["OutDatagrams"]
    with started(lambda folder: SERVERS[kind](folder, options.zones)) as server:
        server.marked = time.monotonic(), 0, *before
        found = measure_first(server, primary.files)
        print(f"{kind}: first {found['first_s']:.2f} s, {found['first_cpu_s']:.2f} s of CPU",
              file=sys.stderr)
        if options.refresh < 300:
            found |= measure_refresh(server, primary.files)
        numbers = random.Random(options.zones).sample(range(options.zones), options.changes)
        if numbers:
            found |= measure_notify(server, primary, primary_server, numbers)
        print(f"{kind}: {json.dumps(found)}", file=sys.stderr)
        if options.wait:
            input(f"{kind} is process {server.group.process.pid}; Return goes on")
        return found


def shown(key, values, n):
    value = statistics.median(values)
    if key == "rss_bytes":
        return f"{value / 1024 / n:.1f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zones", type=int, default=10000)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--refresh", type=int, default=3600,
                        help="of the SOA, in seconds; below 300 the checks are measured")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--primary", choices=("knotd", "nsd"), default="knotd")
    parser.add_argument("--servers", default=",".join(SERVERS))
    parser.add_argument("--wait", action="store_true", help="before a server ends")
    options = parser.parse_args(argv)
    options.changes = min(options.changes, options.zones)
    kinds = options.servers.split(",")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="manysecondaries-"))
    space = Space()
    try:
        primary = Primary(options.primary, Zones(folder, options.zones, options.refresh))
        found = {kind: [] for kind in kinds}
        with started(primary.command) as server:
            wait_all(PRIMARY, primary.files.serials)
            for _ in range(options.rounds):
                for kind in kinds:
                    found[kind].append(measure(kind, options, primary, server))
        columns = [key for key in FIGURES if key in found[kinds[0]][0]]
        print(table([f"{options.zones} zones from {options.primary}",
                     *(FIGURES[key] for key in columns)],
                    [[kind, *(shown(key, [one[key] for one in runs], options.zones)
                              for key in columns)] for kind, runs in found.items()]))
    finally:
        space.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    rig.end_on_signals()
    main(sys.argv[1:])
