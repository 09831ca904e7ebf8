#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
tellcost.py [ROUNDS [SECONDS]]: answers per second that dnsperf gets, with nobody told, with a full
query log, with dnstap to a file, and while volleyctl top looks, in turns by a reload of one
volleyd. Workers answer at kernel sockets. Printed: medians, the range, and the ratio of each round.
dnsperf, volleyd and its writers share the processors of this machine.
"""
import json
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "net"))

from netlab import V4, Daemon, Lab, run  # pylint: disable=wrong-import-position


def rate(lab, queries, seconds):
    said = run("nsenter", f"--net=/run/netns/{lab.name}-c", "--", "dnsperf", "-s", V4, "-d",
               queries, "-l", str(seconds), "-q", "500", "-c", "8").stdout
    return float(re.search(r"Queries per second:\s+([\d.]+)", said).group(1))


class Watcher(threading.Thread):
    """Looks once a second, as volleyctl top does."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.volleyd, self.over, self.one_in = daemon, threading.Event(), []

    def run(self):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self.volleyd.socket))
            with control.makefile("rb") as replies:
                while not self.over.wait(1):
                    control.sendall(b'{"v":1,"command":"top","args":["-n","40"]}\n')
                    self.one_in.append(json.loads(replies.readline())["result"]["one_in"])


def main():
    rounds, seconds = (int(n) for n in (sys.argv[1:] + ["5", "4"][len(sys.argv) - 1:]))
    lab = Lab()
    try:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            queries = folder / "queries"
            queries.write_text("www.example.com A\nexample.net SOA\n", encoding="ascii")
            daemon = Daemon(lab, folder).start(interfaces=[])
            kinds = {"off": {}, "log": {"query-log": {"file": str(folder / "log")}},
                     "dnstap": {"dnstap": {"file": str(folder / "tap"),
                                           "messages": ["auth-response"]}}, "top": {}}
            found = {kind: [] for kind in kinds}
            rate(lab, queries, 1)
            for _ in range(rounds):
                for kind, sections in kinds.items():
                    daemon.configure(interfaces=[], **sections)
                    daemon.ctl("zone", "reload")
                    watcher = Watcher(daemon)
                    if kind == "top":
                        watcher.start()
                        time.sleep(3)  # until it knows the load
                    else:
                        while kind == "off" and daemon.stats()["tap"]["one_in"]:
                            time.sleep(0.5)
                    found[kind].append(rate(lab, queries, seconds))
                    watcher.over.set()
                    for written in (folder / "log", folder / "tap"):
                        if written.exists():
                            written.unlink()
            for kind, values in found.items():
                ratios = [value / off for value, off in zip(values, found["off"])]
                print(f"{kind:8} {statistics.median(values):9.0f} a second ({min(values):.0f} to "
                      f"{max(values):.0f}), "
                      f"of those with nobody told {statistics.median(ratios):.3f} "
                      f"({min(ratios):.3f} to {max(ratios):.3f})")
            print(daemon.stats()["tap"])
            daemon.stop()
    finally:
        lab.close()


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"tellcost: {error}")
