#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""tcpflood: who is still answered over TCP while one address holds 2,000 connections with half
messages.

volleyd, nsd, knotd and named serve the same zone, one after the other, in a lab of two namespaces,
each with its own defaults. In each run

    attack   N connections from one address send half a message; `hold`: each is opened once; `reopen`: one
             that is closed is opened anew, 2,000 a second at most
    honest   connects, asks and reads the answer, RATE times a second: from another prefix, from the attacker's
             prefix, and from its very address

    server   attack  from          asked   answered   median ms   p99 ms   opened by the attack
    volleyd  hold    elsewhere       120    100.0 %        0.35     1.20                   2000

Ends with status 1 where volleyd answers fewer than 99 % of the honest queries, or takes longer at
the median than nsd beside it. It measures time: run it on a machine that does nothing else.
"""
import argparse
import concurrent.futures
import contextlib
import itertools
import math
import multiprocessing
import pathlib
import select
import socket
import statistics
import struct
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "net")]

# noqa: E402
from netlab import CLIENT4, V4, Daemon, Lab, has, inside_netns, wait_for, write_zone, zone

import dns.message  # noqa: E402

NEAR, FAR = "192.0.2.77", "198.51.100.9"
FROM = {"elsewhere": FAR, "its prefix": NEAR, "its address": CLIENT4}
HALF = b"\0\x40half"
REOPEN_RATE = 2000    # connections a second, of the attack
TIMEOUT_S = 2
QUERY = dns.message.make_query("www.example.com", "A", id=1).to_wire()


# ---- The two kinds of clients --------------------------------------------------------------------

class Attack:
    """
    N connections from one address, each with half a message, for as long as `stop` is not set.
    """

    def __init__(self, n, reopens, stop, opened):
        self.n, self.reopens, self.stop, self.opened = n, reopens, stop, opened
        self.poll, self.socks = select.epoll(), {}

    def open_one(self):
        sock = socket.socket()
        sock.setblocking(False)
        sock.bind((CLIENT4, 0))
        sock.connect_ex((V4, 53))
        self.poll.register(sock, select.EPOLLOUT)
        self.socks[sock.fileno()] = sock
        self.opened.value += 1

    def on_event(self, fd, events):
        try:
            if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
                raise ConnectionError
            self.socks[fd].send(HALF)
            self.poll.modify(fd, select.EPOLLIN)
        except OSError:
            self.poll.unregister(fd)
            self.socks.pop(fd).close()

    def run(self):
        due = time.monotonic()
        while not self.stop.is_set():
            now = time.monotonic()
            while due <= now and len(self.socks) < self.n and \
                    (self.reopens or self.opened.value < self.n):
                self.open_one()
                due = max(due, now - 0.1) + 1 / REOPEN_RATE
            for fd, events in self.poll.poll(0.005, 256):
                self.on_event(fd, events)


def attack(netns, *words):
    with inside_netns(netns):
        Attack(*words).run()


def ask_once(source):
    """Milliseconds until the answer was there, or None."""
    started = time.monotonic()
    try:
        with socket.create_connection((V4, 53), TIMEOUT_S, (source, 0)) as sock:
            sock.settimeout(TIMEOUT_S)
            sock.sendall(struct.pack("!H", len(QUERY)) + QUERY)
            length = struct.unpack("!H", sock.recv(2, socket.MSG_WAITALL))[0]
            answer = sock.recv(length, socket.MSG_WAITALL)
    except (OSError, struct.error):
        return None
    return 1000 * (time.monotonic() - started) if answer[:2] == QUERY[:2] else None


def honest(netns, source, n, rate):
    """[milliseconds or None]; one that waits holds up no other."""
    def ask_at(at):
        time.sleep(max(0, at - time.monotonic()))
        with inside_netns(netns):
            return ask_once(source)

    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(int(rate * TIMEOUT_S) + 1) as pool:
        return list(pool.map(ask_at, [started + i / rate for i in range(n)]))


# ---- The servers ---------------------------------------------------------------------------------

def nsd(folder):
    (folder / "nsd.conf").write_text(f"""
server:
  ip-address: {V4}
  port: 53
  database: ""
  pidfile: {folder}/nsd.pid
  username: ""
  zonesdir: {folder}
  xfrdfile: {folder}/xfrd.state
  xfrdir: {folder}
  zonelistfile: {folder}/zone.list
remote-control:
  control-enable: no
zone:
  name: example.com
  zonefile: {folder}/zone
""", encoding="ascii")
    return ["nsd", "-d", "-c", folder / "nsd.conf"]


def knotd(folder):
    (folder / "knot.conf").write_text(f"""
server:
  listen: {V4}@53
  rundir: {folder}
database:
  storage: {folder}
zone:
  - domain: example.com
    file: {folder}/zone
""", encoding="ascii")
    return ["knotd", "-c", folder / "knot.conf"]


def named(folder):
    (folder / "named.conf").write_text(f"""
options {{ directory "{folder}"; pid-file "{folder}/named.pid"; listen-on port 53 {{ {V4}; }};
  listen-on-v6 {{ none; }}; recursion no; session-keyfile "{folder}/session.key"; }};
controls {{ }};
zone "example.com" {{ type primary; file "{folder}/zone"; }};
""", encoding="ascii")
    return ["named", "-f", "-c", folder / "named.conf"]


@contextlib.contextmanager
def peer(lab, folder, words):
    with open(folder / "log", "ab") as log:
        process = lab.popen("s", *words, stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def volleyd(lab, folder):
    daemon = Daemon(lab, folder)
    try:
        daemon.start(server={"listen": [V4]}, zones=[zone("example.com", folder / "zone")])
        yield
    finally:
        daemon.clean_up()


def serving(lab, name, folder):
    if name == "volleyd":
        return volleyd(lab, folder)
    return peer(lab, folder, {"nsd": nsd, "knotd": knotd, "named": named}[name](folder))


# ---- Runs ----------------------------------------------------------------------------------------

def answers(lab):
    with lab.inside("c"):
        return ask_once(FAR) is not None


def measure(lab, options):
    """{(attack, from): (asked, milliseconds of the answered, opened by the attack)}"""
    results = {}
    wait_for("it answers", lambda: answers(lab), 30)
    for how, (where, source) in itertools.product(("hold", "reopen"), FROM.items()):
        stop, opened = multiprocessing.Event(), multiprocessing.Value("L", 0)
        attacker = multiprocessing.Process(target=attack,
                                           args=(lab.name + "-c", options.connections,
                                                                how == "reopen", stop, opened))
        attacker.start()
        wait_for("the attack has its connections", lambda: opened.value >= options.connections)
        time.sleep(1)
        took = honest(lab.name + "-c", source, options.queries, options.rate)
        stop.set()
        attacker.join()
        results[how, where] = len(took), [ms for ms in took if ms is not None], opened.value
    return results


def p99(values):
    return sorted(values)[math.ceil(0.99 * (len(values) - 1))]


def show(name, results):
    for (how, where), (asked, took, opened) in results.items():
        times = (f"{statistics.median(took):11.2f} {p99(took):8.2f}" if took else
                 f"{'-':>11} {'-':>8}")
        print(f"{name:8s} {how:7s} {where:12s} {asked:6d} {100 * len(took) / asked:8.1f} % {times} "
              f"{opened:22d}", flush=True)


def verdict(results):
    """What is not as it should be."""
    for where, (asked, took, _) in results["volleyd"].items():
        if len(took) < 0.99 * asked:
            yield f"volleyd: only {len(took)} of {asked} answered: {', '.join(where)}"
        beside = results.get("nsd", {}).get(where, (0, [], 0))[1]
        if took and beside and statistics.median(took) > statistics.median(beside):
            yield f"volleyd takes longer than nsd: {', '.join(where)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=120)
    parser.add_argument("--rate", type=float, default=25)
    parser.add_argument("--servers", default="volleyd,nsd,knotd,named")
    options = parser.parse_args()
    results = {}
    print("server   attack  from          asked   answered   median ms   p99 ms   opened by the "
          "attack")
    for name in options.servers.split(","):
        if name != "volleyd" and not has(name):
            print(f"{name:9s} is not installed")
            continue
        lab = Lab()
        with tempfile.TemporaryDirectory() as folder, contextlib.closing(lab):
            folder = pathlib.Path(folder)
            for address in (f"{NEAR}/24", f"{FAR}/24"):
                lab.ip("c", "address", "add", address, "dev", "c0")
            lab.ip("s", "route", "add", "198.51.100.0/24", "via", CLIENT4)
            write_zone(folder / "zone")
            with serving(lab, name, folder):
                results[name] = measure(lab, options)
        show(name, results[name])
    faults = list(verdict(results)) if "volleyd" in results else []
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
