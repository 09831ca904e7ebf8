#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Load time and memory of large zones: Volley's loader, knotd and nsd in one run.

    zonebench.py ZONEGEN ZONELOAD [RECORDS ...]        (default 1000000)

For each size a plain zone (names mixed), one with NSEC and one with NSEC3 and opt-out. Time is CPU
time from start to the first answer (for Volley: of the load), memory what is resident, both beyond
those of the same program with a zone of a few records. Prints JSON: ratios to the better of the two
peers (below 1: ours is better); absolute numbers for orientation only.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import dns.exception
import dns.message
import dns.query

ORIGIN = "big.example."
PORT = 5990
TIMEOUT = 300
TICKS = os.sysconf("SC_CLK_TCK")

KNOT = """
server:
    listen: 127.0.0.1@{port}
    rundir: {dir}
database:
    storage: {dir}/db
zone:
  - domain: {origin}
    file: {zone}
    zonefile-sync: -1
    journal-content: none
"""

NSD = """
server:
  ip-address: 127.0.0.1@{port}
  pidfile: {dir}/nsd.pid
  zonelistfile: {dir}/zone.list
  xfrdfile: {dir}/xfrd.state
  xfrdir: {dir}
  database: ""
  username: ""
  server-count: 1
zone:
  name: {origin}
  zonefile: {zone}
remote-control:
  control-enable: no
"""

PEERS = {"knotd": (KNOT, ["knotd", "-c"]), "nsd": (NSD, ["nsd", "-d", "-c"])}


def answers(port):
    query = dns.message.make_query(ORIGIN, "SOA")
    try:
        return bool(dns.query.udp(query, "127.0.0.1", timeout=0.2, port=port).answer)
    except (dns.exception.DNSException, OSError):
        return False


def family(pid):
    """pid and what it has forked."""
    pids = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            pids += family(int(child))
    return pids


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def measure_peer(name, zone):
    template, command = PEERS[name]
    with tempfile.TemporaryDirectory() as where:
        os.mkdir(f"{where}/db")
        config = pathlib.Path(where, "config")
        config.write_text(template.format(port=PORT, dir=where, origin=ORIGIN, zone=zone))
        process = subprocess.Popen(command + [str(config)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            start = time.monotonic()
            while not answers(PORT):
                if process.poll() is not None or time.monotonic() > start + TIMEOUT:
                    raise RuntimeError(f"{name} does not answer")
                time.sleep(0.05)
            pids = family(process.pid)
            # Forked processes share their pages: the largest one stands for all.
            return {"cpu_s": sum(map(cpu_seconds, pids)), "bytes": max(map(resident, pids))}
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            if process.poll() is None:
                process.kill()
                process.wait()


def measure_volley(zoneload, zone):
    before = os.times()
    out = subprocess.run([zoneload, ORIGIN, str(zone)], capture_output=True, text=True, check=True)
    after = os.times()
    loaded = json.loads(out.stdout)
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return {"cpu_s": cpu, "bytes": loaded["resident"], "records": loaded["records"],
            "image": loaded["image"], "peak": loaded["peak"]}


def beyond(big, small):
    return {key: max(big[key] - small[key], 1e-9) for key in ("cpu_s", "bytes")}


def compare(zonegen, zoneload, kind, records, where):
    zones = {}
    for size in (100, records):
        zones[size] = pathlib.Path(where, f"{kind}-{size}.zone")
        with open(zones[size], "wb") as out:
            subprocess.run([zonegen, ORIGIN, str(size), "1", kind], stdout=out,
                           stderr=subprocess.DEVNULL, check=True)
    peers = {name: beyond(measure_peer(name, zones[records]), measure_peer(name, zones[100]))
             for name in PEERS if shutil.which(name)}
    ours = measure_volley(zoneload, zones[records])
    net = beyond(ours, measure_volley(zoneload, zones[100]))
    for zone in zones.values():
        zone.unlink()
    row = {"kind": kind, "records": ours["records"], "peak_to_image": ours["peak"] / ours["image"],
           "bytes_per_record": net["bytes"] / ours["records"], "cpu_s": net["cpu_s"],
           "peers": peers}
    if peers:
        row["time_ratio"] = net["cpu_s"] / min(p["cpu_s"] for p in peers.values())
        row["memory_ratio"] = net["bytes"] / min(p["bytes"] for p in peers.values())
    return row


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    zonegen, zoneload = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as where:
        for records in [int(n) for n in sys.argv[3:]] or [1000000]:
            for kind in ("plain", "nsec", "nsec3"):
                row = compare(zonegen, zoneload, kind, records, where)
                print(json.dumps(row, default=float), flush=True)


if __name__ == "__main__":
    main()
