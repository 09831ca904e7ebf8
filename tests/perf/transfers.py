#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a whole zone takes to be transferred: Volley beside knotd and nsd, in rounds in turn.

    tests/perf/transfers.py --records 1000000 --rounds 5

out: the server has the zone; a client that only counts records asks for it by AXFR and reads to the
end.
in:  knotd gives the zone; the secondary starts with nothing, and is done when it answers with its SOA.
     A start includes what the server does before it asks.

All servers are on loopback addresses of a network namespace of their own. Needs root, knotd and
nsd.
"""
import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "net"))
from netlab import BIN, TOOLS, run  # noqa: E402

import dns.message  # noqa: E402

from tables import table  # noqa: E402

ZONE = "big.test"
PRIMARY = "127.0.8.1"


class Space:
    """A network namespace in which this process and its children are."""

    def __init__(self):
        self.name = f"vx{os.getpid()}"
        run("ip", "netns", "add", self.name)
        run("ip", "-n", self.name, "link", "set", "lo", "up")
        with open(f"/run/netns/{self.name}", "rb") as f:
            if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), 0):
                raise OSError(ctypes.get_errno(), "setns")

    def close(self):
        run("ip", "netns", "del", self.name)


def volley(folder, address, file=None):
    zone = {"name": ZONE, "allow-transfer": ["any"]}
    zone.update({"file": str(file)} if file else {"primaries": ["primary"]})
    (folder / "conf").write_text(json.dumps({
        "server": {"listen": [f"{address}@53"], "workers": 1, "storage": str(folder / "store"),
                   "pid-file": str(folder / "pid")},
        "cache": {"size": "16M"},
        "remotes": [{"name": "primary", "address": [PRIMARY]}],
        "zones": [zone], "control": {"socket": str(folder / "sock")}}), encoding="ascii")
    return [BIN / "volleyd", "-c", folder / "conf"]


def knotd(folder, address, file=None):
    source = f"file: {file}" if file else "master: primary"
    (folder / "conf").write_text(f"""
server:
    rundir: {folder}
    listen: {address}@53
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: {folder}
remote:
  - id: primary
    address: {PRIMARY}@53
acl:
  - id: all
    action: transfer
zone:
  - domain: {ZONE}
    storage: {folder}
    {source}
    zonefile-sync: -1
    journal-content: none
    semantic-checks: off
    acl: all
""", encoding="ascii")
    return ["knotd", "-c", folder / "conf"]


def nsd(folder, address, file=None):
    source = f"zonefile: {file}\n  provide-xfr: 0.0.0.0/0 NOKEY" if file else \
        f"zonefile: {folder}/zone\n  request-xfr: AXFR {PRIMARY}@53 NOKEY"
    (folder / "conf").write_text(f"""
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
remote-control:
  control-enable: no
zone:
  name: {ZONE}
  {source}
""", encoding="ascii")
    return ["nsd", "-d", "-c", folder / "conf"]


SERVERS = {"Volley": volley, "knotd": knotd, "nsd": nsd}


@contextlib.contextmanager
def started(kind, address, file=None):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"transfers-{kind}-"))
    begun = time.monotonic()
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([str(w) for w in SERVERS[kind](folder, address, file)],
                                   stdout=log, stderr=log)
    try:
        yield begun
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(folder)


def serves(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.02)
        try:
            sock.sendto(dns.message.make_query(ZONE, "SOA").to_wire(), (address, 53))
            return bool(dns.message.from_wire(sock.recv(1500)).answer)
        except OSError:
            return False


def wait_served(address, seconds=300):
    end = time.monotonic() + seconds
    while not serves(address):
        if time.monotonic() > end:
            raise RuntimeError(f"{address} does not serve {ZONE}")
        time.sleep(0.005)


def read_exactly(sock, n):
    data = bytearray()
    while len(data) < n:
        more = sock.recv(n - len(data))
        if not more:
            raise RuntimeError("the transfer broke off")
        data += more
    return data


def transfer(address, n_records):
    """(seconds, octets) until the second SOA has come: one record more than the zone has."""
    begun, n, octets = time.monotonic(), 0, 0
    wire = dns.message.make_query(ZONE, "AXFR").to_wire()
    with socket.create_connection((address, 53), 30) as sock:
        sock.sendall(struct.pack("!H", len(wire)) + wire)
        while n < n_records + 1:
            length = struct.unpack("!H", read_exactly(sock, 2))[0]
            message = read_exactly(sock, length)
            if message[3] & 15:
                raise RuntimeError(f"rcode {message[3] & 15}")
            n += struct.unpack("!H", message[6:8])[0]
            octets += length
    return time.monotonic() - begun, octets


def out_round(kinds, file, n_records, times):
    for kind in kinds:
        with started(kind, "127.0.8.2", file):
            wait_served("127.0.8.2")
            for _ in range(2):
                seconds, octets = transfer("127.0.8.2", n_records)
            times[kind].append(seconds)
            print(f"out {kind}: {seconds:.3f} s, {octets} octets", file=sys.stderr)


def in_round(kinds, times):
    for kind in kinds:
        with started(kind, "127.0.8.3") as begun:
            wait_served("127.0.8.3")
            times[kind].append(time.monotonic() - begun)
        print(f"in {kind}: {times[kind][-1]:.3f} s", file=sys.stderr)


def rows(times):
    medians = {kind: statistics.median(t) for kind, t in times.items()}
    return [[kind, f"{medians[kind]:.2f}", f"{min(t):.2f}", f"{max(t):.2f}",
             f"{medians[kind] / medians['Volley']:.2f}"] for kind, t in times.items()]


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(argv)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="transfers-"))
    space = Space()
    try:
        file = folder / "zone"
        with open(file, "wb") as f:
            made = subprocess.run([TOOLS.parent / "perf" / "zonegen", ZONE + ".",
                                   str(options.records), "1"],
                                  stdout=f, stderr=subprocess.PIPE, check=True)
        n_records = int(made.stderr.split()[0])
        out = {kind: [] for kind in SERVERS}
        into = {kind: [] for kind in SERVERS}
        for _ in range(options.rounds):
            out_round(SERVERS, file, n_records, out)
        with started("knotd", PRIMARY, file):
            wait_served(PRIMARY)
            for _ in range(options.rounds):
                in_round(SERVERS, into)
        head = ["s, median", "least", "most", "times Volley's"]
        print(table([f"AXFR out, {n_records} records", *head], rows(out)))
        print()
        print(table([f"AXFR in, {n_records} records", *head], rows(into)))
    finally:
        space.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
