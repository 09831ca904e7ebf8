#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""tlsflood: how long queries and transfers take while clients send 2,800 ClientHellos a second.

A volleyd in a lab of its own serves a zone over UDP, TCP and TLS. Beside a flood of ClientHellos,
whose clients go as soon as the ServerHello is there, each of these is asked PER_S times a second,
before and during the flood:

             before: median   p99   max ms     during: median   p99   max ms
    udp               0.2    0.4    1.1                0.4    6.0   12.3

It measures time: run it on a machine that does nothing else. Ends with status 1 where the 99th of a
hundred takes 50 ms longer in the flood than before it.
"""
import argparse
import contextlib
import math
import multiprocessing
import pathlib
import ssl
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "net")]

from netlab import V4, Daemon, Lab, write_zone, zone  # noqa: E402
from secondaries import certificate  # noqa: E402

import dns.message  # noqa: E402
import dns.query  # noqa: E402

PER_S, SECONDS, WORSE_MS = 40, 6, 50
QUERY, AXFR = (dns.message.make_query(*words) for words in
               (("www.example.com", "A"), ("example.com", "AXFR")))


def hello_of(context):
    out = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="volley.test").do_handshake()
    return out.read()


def flood(lab, hello, rate, stop, sent):
    due = time.monotonic()
    while not stop.is_set():
        with contextlib.suppress(OSError), lab.connect("c", V4, 853) as sock:
            sock.sendall(hello)
            sock.recv(5)
            with sent.get_lock():
                sent.value += 1
        due += 1 / rate
        time.sleep(max(0, due - time.monotonic()))


def udp(lab):
    lab.udp(QUERY)


def tcp(lab):
    lab.tcp(QUERY)


def transfer(lab):
    with lab.connect("c", V4) as sock:
        dns.query.send_tcp(sock, AXFR)
        dns.query.receive_tcp(sock)


KINDS = {"udp": udp, "tcp": tcp, "transfer": transfer}


def measure(lab):
    """{kind: [ms]}"""
    took = {kind: [] for kind in KINDS}
    for i in range(PER_S * SECONDS):
        end = time.monotonic() + 1 / PER_S
        for kind, ask in KINDS.items():
            started = time.monotonic()
            ask(lab)
            took[kind].append(1000 * (time.monotonic() - started))
        time.sleep(max(0, end - time.monotonic()))
    return took


def p99(values):
    return sorted(values)[math.ceil(0.99 * (len(values) - 1))]


def words_of(values):
    return f"{statistics.median(values):14.1f} {p99(values):6.1f} {max(values):6.1f}"


def run(lab, folder, options):
    daemon, tls = Daemon(lab, folder), certificate(folder)
    daemon.start(server={"listen": [V4], "tls": tls["server"]},
                 zones=[zone("example.com", write_zone(folder / "zone"), allow_transfer=["any"])])
    stop, sent = multiprocessing.Event(), multiprocessing.Value("L", 0)
    hello = hello_of(ssl.create_default_context(cafile=tls["bundle"]))
    before = measure(lab)
    floods = [multiprocessing.Process(target=flood,
                                      args=(lab, hello, options.rate / options.clients,
                                                         stop, sent))
              for _ in range(options.clients)]
    for process in floods:
        process.start()
    started = time.monotonic()
    during = measure(lab)
    seconds = time.monotonic() - started
    stop.set()
    for process in floods:
        process.join()
    daemon.clean_up()
    print(f"{sent.value / seconds:.0f} ClientHellos a second")
    return before, during


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rate", type=float, default=2800)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    lab = Lab()
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(lab):
        before, during = run(lab, pathlib.Path(folder), options)
    print("           before: median    p99  max ms    during: median    p99  max ms")
    for kind in KINDS:
        print(f"{kind:9s} {words_of(before[kind])}    {words_of(during[kind])}")
    return int(any(p99(during[kind]) > p99(before[kind]) + WORSE_MS for kind in KINDS))


if __name__ == "__main__":
    sys.exit(main())
