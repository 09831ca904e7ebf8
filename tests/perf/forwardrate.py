#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""forwardrate.py [QUESTIONS]: what forwarding costs, every question a cache miss.

One thread of the resolver floor (tests/net/resolve.c), by its own forwarder and by libunbound,
beside unbound with one thread, all forwarding to the same nsd, which answers every name from a
wildcard; namespace and addresses as in tests/net. Prints answers per second, and the CPU time that
the forwarder itself took for each: on a busy machine the one to be compared. dnsperf asks unbound,
keeping as many questions outstanding as the resolver does. The resolver's figures have no client's
packets in them, unbound's has: their receiving and sending. So the same is asked of nsd too, as a
measure of what that costs; and nsd is what bounds the rates, where it has no core to itself.

Run it as root after `make tools`.
"""
import re
import subprocess
import sys
import tempfile
import time

import rig
from rig import run, wait_for

from upstreams import HEAD, Netns, Resolve, family  # rig has set the path

OUTSTANDING = 1000
BY_LIBUNBOUND = "-o", "outgoing-num-tcp=1"  # any option of it
UPSTREAM, FORWARDER = "127.0.1.3", "127.0.1.20"


def per_question(after, before, n):
    """Microseconds of user and of system time."""
    return [(a - b) / n * 1e6 for a, b in zip(after, before)]


def by_resolver(netns, n, word, *options):
    it = Resolve(netns, "-f", UPSTREAM, "-w", "60000", "-u", OUTSTANDING, *options)
    before, start = rig.cpu_seconds([it.process.pid]), time.monotonic()
    it.say(f"flood {n} {word}.bench.")
    noerror = int(it.line().split()[2])
    seconds, after = time.monotonic() - start, rig.cpu_seconds([it.process.pid])
    it.close()
    return noerror / seconds, per_question(after, before, n), noerror / n


def by_dnsperf(netns, process, address, n, word):
    names = netns.folder / "names"
    names.write_text("".join(f"f{i}.{word}.bench. A\n" for i in range(n)))
    pids = family(process.pid)
    before = rig.cpu_seconds(pids)
    done = netns.run("dnsperf", "-s", address, "-d", names, "-n", "1", "-q", OUTSTANDING, "-c", "8")
    after = rig.cpu_seconds(pids)
    rate = float(re.search(r"Queries per second:\s+([\d.]+)", done.stdout)[1])
    noerror = int(re.search(r"NOERROR (\d+)", done.stdout)[1])
    return rate, per_question(after, before, n), noerror / n


def start_unbound(netns):
    (netns.folder / "unbound.conf").write_text(f"""server:
  interface: {FORWARDER}@53
  num-threads: 1
  do-not-query-localhost: no
  use-syslog: no
  username: ""
  chroot: ""
  directory: {netns.folder}
  pidfile: {netns.folder}/unbound.pid
  module-config: iterator
  outgoing-range: {OUTSTANDING}
  num-queries-per-thread: {OUTSTANDING}
  msg-cache-size: 4m
  rrset-cache-size: 8m
forward-zone:
  name: .
  forward-addr: {UPSTREAM}
remote-control:
  control-enable: no
""")
    process = netns.popen("unbound", "-d", "-c", "unbound.conf", stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    wait_for("unbound", lambda: netns.is_answering(FORWARDER), 10)
    return process


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 50000
    with tempfile.TemporaryDirectory() as folder:
        netns = Netns(folder)
        try:
            (netns.folder / "zone").write_text(HEAD.format(UPSTREAM) + "* A 192.0.2.1\n")
            upstream = netns.nsd(UPSTREAM, {"bench.": "zone"})
            unbound = start_unbound(netns)
            rows = [("own forwarder", by_resolver(netns, n, "f")),
                    ("libunbound", by_resolver(netns, n, "l", *BY_LIBUNBOUND)),
                    ("unbound", by_dnsperf(netns, unbound, FORWARDER, n, "u")),
                    ("nsd, asked itself", by_dnsperf(netns, upstream, UPSTREAM, n, "n"))]
        finally:
            netns.close()
    print(f"{n} questions, {OUTSTANDING} outstanding, {run('uname', '-r').stdout.strip()}")
    for name, (rate, cpu, share) in rows:
        print(f"{name:18} {rate:8.0f} answers/s, CPU for each {cpu[0]:5.1f} us user "
              f"{cpu[1]:5.1f} us system, {share:6.1%} NOERROR")


if __name__ == "__main__":
    main()
