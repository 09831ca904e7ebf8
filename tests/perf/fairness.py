#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""fairness.py [--seconds S] [--rate QPS] [--threads N] [WAY]...: what one client with names that
never answer does to others.

The resolver floor (tests/net/resolve.c) asks an upstream that answers at once, but says nothing to
names below "dead.". One client asks for QPS new dead names a second (1,500 by default); 20 other
clients ask together for 50 new living names a second, from 2 seconds before the busy client on
(--dead-first: from 7 seconds after it on). Prints how many questions of the others failed, and how
long the answered ones took: median, 99th percentile, longest. The first line of each way is without
the busy client. The ways:

    forwarder     by the own forwarder
    libunbound    by libunbound, to the same upstream
    silent        by libunbound; "dead." has a server of its own, which never replies
    choosy        by libunbound; "dead." has a server of its own, which replies to one name of ten

Run it as root after `make tools`.
"""
import argparse
import multiprocessing
import socket
import statistics
import tempfile
import threading
import time

from rig import TOOLS  # it sets the path

import dns.message

from upstreams import Netns, Resolve, address_answer

UPSTREAM = "127.0.1.3"
BUSY = "192.0.2.66"
OTHERS = [f"198.51.100.{i}" for i in range(1, 21)]
OTHERS_QPS = 50
WARM_S, FILL_S = 2, 7  # the latter is longer than a client waits: all that can be full is full
SILENT, CHOOSY = "127.0.1.4", "127.0.1.5"
BY_LIBUNBOUND = "-o", "outgoing-num-tcp=1"  # any option of it
WAYS = {"forwarder": (), "libunbound": BY_LIBUNBOUND,
        "silent": (*BY_LIBUNBOUND, "-s", f"dead.={SILENT}"),
        "choosy": (*BY_LIBUNBOUND, "-s", f"dead.={CHOOSY}")}


def serve(sock, is_choosy):
    """In a process of its own: the queries of the busy client come many times each."""
    while True:
        wire, peer = sock.recvfrom(4096)
        at = wire.lower().find(b"\4dead")
        if at < 0 or (is_choosy and wire[at - 1:at] == b"7"):
            sock.sendto(address_answer(dns.message.from_wire(wire)).to_wire(), peer)


def start_server(netns, address):
    sock = netns.socket(socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    sock.bind((address, 53))
    server = multiprocessing.Process(target=serve, args=(sock, address == CHOOSY), daemon=True)
    server.start()
    return server


class Run:
    """One resolver, the busy client and the others beside it."""

    def __init__(self, netns, options, args, rate):
        self.resolve = Resolve(netns, "-f", UPSTREAM, "-n", args.threads, *options)
        self.args, self.rate = args, rate
        self.asked, self.took, self.failed = {}, [], 0
        self.lock, self.is_over = threading.Lock(), threading.Event()
        self.n = (args.seconds + (0 if args.dead_first else WARM_S + FILL_S)) * OTHERS_QPS
        self.reader = threading.Thread(target=self.read)

    def read(self):
        n_left = self.n
        while n_left:
            words = self.resolve.line().split("\t")
            at = self.asked.pop(words[1], None)
            if at is None:
                continue
            n_left -= 1
            if n_left >= self.args.seconds * OTHERS_QPS:
                continue
            if words[3] == "NOERROR":
                self.took.append(time.monotonic() - at)
            else:
                self.failed += 1

    def say(self, text):
        with self.lock:
            self.resolve.say(text)

    def ask_dead(self):
        n, start = 0, time.monotonic()
        while not self.is_over.wait(0.004):
            due = int((time.monotonic() - start) * self.rate)
            if n < due:
                self.say("\n".join(f"d{i}.dead. A from {BUSY}" for i in range(n, due)))
                n = due

    def ask_living(self):
        start = time.monotonic()
        for n in range(self.n):
            time.sleep(max(0, start + n / OTHERS_QPS - time.monotonic()))
            name = f"l{n}.living."
            self.asked[name] = time.monotonic()
            self.say(f"{name} A from {OTHERS[n % len(OTHERS)]}")

    def go(self):
        busy, others = (threading.Thread(target=one) for one in (self.ask_dead, self.ask_living))
        first, second = (busy, others) if self.args.dead_first else (others, busy)
        self.reader.start()
        if not self.rate:
            second = first = others
        first.start()
        time.sleep(FILL_S if self.args.dead_first else WARM_S)
        if second is not first:
            second.start()
        for one in (others, self.reader):
            one.join()
        self.is_over.set()
        if self.rate:
            busy.join()
        _, counters, _ = self.resolve.close()
        return counters


def show(way, rate, run, counters):
    n = len(run.took) + run.failed
    took = sorted(run.took) or [0]
    print(f"{way:14} {rate:6} q/s dead: others {n}, failed {run.failed / n:6.2%}, "
          f"median {statistics.median(took) * 1000:8.2f} ms, p99 "
          f"{took[int(len(took) * 0.99)] * 1000:8.2f} ms, "
          f"longest {took[-1] * 1000:8.2f} ms")
    print("   ", " ".join(f"{k}={v}" for k, v in counters.items() if v))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=1500)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dead-first", action="store_true")
    parser.add_argument("--option", action="append", default=[], help="of libunbound: NAME=VALUE")
    parser.add_argument("ways", nargs="*", metavar="WAY")
    args = parser.parse_args()
    if not (TOOLS / "resolve").exists():
        parser.error("run `make tools` first")
    with tempfile.TemporaryDirectory() as folder:
        netns = Netns(folder)
        servers = [start_server(netns, address) for address in (UPSTREAM, SILENT, CHOOSY)]
        try:
            for way in args.ways or WAYS:
                options = [*WAYS[way],
                           *(word for o in args.option if WAYS[way] for word in ("-o", o))]
                for rate in (0, args.rate):
                    run = Run(netns, options, args, rate)
                    show(way, rate, run, run.go())
        finally:
            for server in servers:
                server.terminate()
            netns.close()


if __name__ == "__main__":
    main()
