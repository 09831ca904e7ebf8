#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""fairness.py [--seconds S] [--rate QPS] [--threads N]: what one client with names that never answer does to others.

The resolver floor (tests/net/resolve.c), by its own forwarder and by libunbound, asks one upstream. The upstream
answers at once, but for names below "dead.", for which it says nothing. One client asks for QPS new dead names a second (1,500
by default); 20 other clients ask together for 50 new living names a second. Prints how many questions of the others
failed, and how long the answered ones took: median, 99th percentile, longest. The first line is without the busy client.

Run it as root after `make tools`.
"""
import argparse
import multiprocessing
import socket
import statistics
import tempfile
import threading
import time

import rig  # pylint: disable=unused-import  # sets the path

import dns.message

from upstreams import Netns, Resolve, address_answer

UPSTREAM = "127.0.1.3"
BUSY = "192.0.2.66"
OTHERS = [f"198.51.100.{i}" for i in range(1, 21)]
OTHERS_QPS = 50
WAYS = {"own forwarder": (), "libunbound": ("-o", "outgoing-num-tcp=1")}  # any option of it


def serve(sock):
    """In a process of its own: the queries of the busy client come many times each."""
    while True:
        wire, peer = sock.recvfrom(4096)
        if b"\4dead" not in wire.lower():
            sock.sendto(address_answer(dns.message.from_wire(wire)).to_wire(), peer)


class Run:
    """One resolver, the busy client and the others beside it."""

    def __init__(self, netns, options, args, rate):
        self.resolve = Resolve(netns, "-f", UPSTREAM, "-n", args.threads, *options)
        self.args, self.rate = args, rate
        self.asked, self.took, self.failed = {}, [], 0
        self.lock = threading.Lock()
        self.left = args.seconds * OTHERS_QPS
        self.reader = threading.Thread(target=self.read)

    def read(self):
        while self.left:
            words = self.resolve.line().split("\t")
            at = self.asked.pop(words[1], None)
            if at is None:
                continue
            self.left -= 1
            if words[3] == "NOERROR":
                self.took.append(time.monotonic() - at)
            else:
                self.failed += 1

    def say(self, text):
        with self.lock:
            self.resolve.say(text)

    def ask_dead(self, until):
        start, n = time.monotonic(), 0
        while time.monotonic() < until:
            due = int((time.monotonic() - start) * self.rate)
            if n < due:
                self.say("\n".join(f"d{i}.dead. A from {BUSY}" for i in range(n, due)))
                n = due
            time.sleep(0.004)

    def ask_living(self, until):
        start = time.monotonic()
        for n in range(self.args.seconds * OTHERS_QPS):
            time.sleep(max(0, start + n / OTHERS_QPS - time.monotonic()))
            name = f"l{n}.living."
            self.asked[name] = time.monotonic()
            self.say(f"{name} A from {OTHERS[n % len(OTHERS)]}")
        assert time.monotonic() < until

    def go(self):
        until = time.monotonic() + self.args.seconds + 14
        busy = threading.Thread(target=self.ask_dead, args=(until - 7,))
        self.reader.start()
        if self.rate:
            busy.start()
        time.sleep(7)  # longer than a client waits: all that can be full is full
        self.ask_living(until)
        self.reader.join()
        if self.rate:
            busy.join()
        _, counters, _ = self.resolve.close()
        return counters


def show(way, rate, run, counters):
    n = len(run.took) + run.failed
    took = sorted(run.took) or [0]
    print(f"{way:14} {rate:6} q/s dead: others {n}, failed {run.failed / n:6.2%}, "
          f"median {statistics.median(took) * 1000:8.2f} ms, p99 {took[int(len(took) * 0.99)] * 1000:8.2f} ms, "
          f"longest {took[-1] * 1000:8.2f} ms")
    print("   ", " ".join(f"{k}={v}" for k, v in counters.items() if v))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=1500)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        netns = Netns(folder)
        sock = netns.socket(socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        sock.bind((UPSTREAM, 53))
        server = multiprocessing.Process(target=serve, args=(sock,), daemon=True)
        server.start()
        try:
            for way, options in WAYS.items():
                for rate in (0, args.rate):
                    run = Run(netns, options, args, rate)
                    show(way, rate, run, run.go())
        finally:
            server.terminate()
            netns.close()


if __name__ == "__main__":
    main()
