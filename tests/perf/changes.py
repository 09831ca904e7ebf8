#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a stream of small changes costs a secondary, and how soon each is served, the driver
included.

    tests/perf/changes.py --records 5000000 --rate 1000 --seconds 60

A volleyd on the client's side of the lab is the primary: its zone is changed record by record. The
one on the server's side, with XDP, is told by NOTIFY and asks for each change by IXFR.

latency: the name of each change is asked before, so that the driver has its denial, and then until
the answer
         is there; from the end of the primary's command on. NOTIFY, IXFR and the poll are in it.
stream:  dnsperf asks for names that do not change, in turn while the secondary follows the stream and while the
         stream is of a zone that it does not have; the primary and its client work in both.

Needs root, dnsperf, two idle CPUs.
"""
import argparse
import json
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "net"))
from netlab import BIN, CLIENT4, TOOLS, V4, Daemon, Lab, wait_for, write_zone  # noqa: E402

import dns.message  # noqa: E402

ZONE, ASIDE = "big.test", "aside.test"  # the secondary has the first one


class Client:
    """A connection to a control socket."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(path))
        self.file = self.sock.makefile("rw")

    def close(self):
        self.file.close()
        self.sock.close()

    def run(self, *words):
        self.file.write(json.dumps({"v": 1, "command": " ".join(words[:2]),
                                    "args": list(words[2:])}) + "\n")
        self.file.flush()
        said = json.loads(self.file.readline())
        if not said["ok"]:
            raise RuntimeError(said["error"])

    def add(self, name, zone=ZONE):
        self.run("zone", "edit", zone, f"add {name} 60 A 192.0.2.1")


def start_primary(lab, folder, file):
    aside = write_zone(folder / "aside")
    conf = folder / "primary.yaml"
    conf.write_text(json.dumps({
        "server": {"listen": [CLIENT4], "workers": 1, "storage": str(folder / "primary"),
                   "pid-file": str(folder / "primary.pid")},
        "cache": {"size": "8M"}, "remotes": [{"name": "there", "address": [V4]}],
        "zones": [{"name": ZONE, "file": str(file), "allow-transfer": ["any"], "notify": ["there"]},
                  {"name": ASIDE, "file": str(aside)}],
        "control": {"socket": str(folder / "primary.sock")}}), encoding="ascii")
    log = open(folder / "primary.log", "ab")
    return lab.popen("c", BIN / "volleyd", "-c", conf, stdout=log, stderr=log)


def wait_ready(path):
    def is_ready():
        said = subprocess.run([BIN / "volleyctl", "--socket", path, "--json", "status"],
                              capture_output=True, text=True, check=False)
        return said.returncode == 0 and json.loads(said.stdout)["ready"]
    wait_for("the primary is ready", is_ready, 120)


def memory_kib(process_id):
    text = pathlib.Path(f"/proc/{process_id}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1])


def real_pid(daemon):
    """That of volleyd itself; it was started through nsenter, which becomes it."""
    return daemon.process.pid


def serial(daemon):
    return daemon.json("zone", "status", ZONE)["zones"][0]["serial"]


def client_status(folder):
    return subprocess.run([BIN / "volleyctl", "--socket", folder / "primary.sock", "zone", "status",
                           ZONE], capture_output=True, text=True, check=True).stdout


def latency(lab, client, n):
    """Milliseconds, of each change."""
    times = []
    with lab.socket("c") as sock:
        sock.settimeout(0.05)
        for i in range(n):
            name = f"late{i}.{ZONE}"
            wire = dns.message.make_query(name, "A").to_wire()

            def answers():
                sock.sendto(wire, (V4, 53))
                try:
                    return int.from_bytes(sock.recv(2000)[6:8], "big")
                except OSError:
                    return 0
            for _ in range(3):
                answers()
            client.add(f"late{i}")
            begun = time.monotonic()
            while not answers():
                pass
            times.append((time.monotonic() - begun) * 1000)
            time.sleep(0.05)
    return times


class Stream:
    """RATE changes a second by as many clients as that takes."""

    def __init__(self, path, rate, mark, zone):
        self.stopping, self.n, self.mark, self.zone = False, 0, mark, zone
        self.clients = [Client(path) for _ in range(20)]
        self.pause = len(self.clients) / rate
        self.threads = [threading.Thread(target=self.run, args=(i, c))
                        for i, c in enumerate(self.clients)]

    def run(self, number, client):
        due, i = time.monotonic(), 0
        while not self.stopping:
            client.add(f"{self.mark}{number}x{i}", self.zone)
            self.n += 1
            i += 1
            due += self.pause
            time.sleep(max(0, due - time.monotonic()))

    def __enter__(self):
        self.begun = time.monotonic()
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        for client in self.clients:
            client.close()
        self.rate = self.n / (time.monotonic() - self.begun)


def ask(lab, names, seconds):
    """Answers per second that dnsperf counts."""
    said = lab.exec("c", "dnsperf", "-s", V4, "-d", names, "-l", seconds, "-c", "8", "-q", "200",
                    timeout=seconds + 30).stdout
    return float(re.search(r"Queries per second:\s+([\d.]+)", said)[1])


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1000000)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--changes", type=int, default=50, help="whose latency is measured (50)")
    options = parser.parse_args(argv)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="changes-"))
    lab, processes = Lab(), []
    daemon = Daemon(lab, folder)
    try:
        file = folder / "zone"
        with open(file, "wb") as f:
            subprocess.run([TOOLS.parent / "perf" / "zonegen", ZONE + ".", str(options.records),
                            "1"],
                           stdout=f, stderr=subprocess.DEVNULL, check=True)
        processes.append(start_primary(lab, folder, file))
        wait_ready(folder / "primary.sock")
        daemon.start(server={"listen": [V4], "workers": 1, "storage": str(folder / "secondary")},
                     cache={"size": "256M"},
                     remotes=[{"name": "p", "address": [CLIENT4]}],
                     zones=[{"name": ZONE, "primaries": ["p"]}])
        wait_for("the zone is there", lambda: daemon.status()["zones"]["serving"] == 1, 300)
        wait_for("its file is written",
                 lambda: list((folder / "secondary").glob("zones/*.zone")), 120)
        time.sleep(2)
        client = Client(folder / "primary.sock")
        before = memory_kib(real_pid(daemon))
        times = latency(lab, client, options.changes)
        print(f"latency of {len(times)} changes: median {statistics.median(times):.1f} ms, "
              f"most {max(times):.1f} ms, {sum(t <= 50 for t in times)} within 50 ms; memory "
              f"{memory_kib(real_pid(daemon)) - before} KiB more")
        names = folder / "names"
        names.write_text("".join(f"ns{1 + i % 2}.{ZONE} A\n" for i in range(10)), encoding="ascii")
        ask(lab, names, 2)
        rates = {"told": [], "not told": []}
        memory = memory_kib(real_pid(daemon))
        n_told = 0
        parts = 4
        for part in range(parts):
            for told in ("told", "not told") if part % 2 else ("not told", "told"):
                with Stream(folder / "primary.sock", options.rate, f"{told[0]}{part}",
                            ZONE if told == "told" else ASIDE) as stream:
                    time.sleep(0.5)
                    rates[told].append(ask(lab, names, options.seconds // parts))
                n_told += stream.n if told == "told" else 0
                print(f"{told}: {rates[told][-1]:.0f} answers/s, {stream.rate:.0f} changes/s",
                      flush=True)
        medians = {told: statistics.median(r) for told, r in rates.items()}
        print(f"answers/s: {medians['told']:.0f} beside the stream, {medians['not told']:.0f} "
              f"without: "
              f"{medians['told'] / medians['not told']:.3f}; memory "
              f"{memory_kib(real_pid(daemon)) - memory} KiB more after {n_told} changes")
        wait_for("the secondary has all of them", lambda: serial(daemon) == int(re.search(
            r"serial:\s+(\d+)", client_status(folder))[1]), 30)
    finally:
        for process in processes:
            process.terminate()
            process.wait(60)
        if daemon.process:
            daemon.process.terminate()
            daemon.process.wait(60)
        lab.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
