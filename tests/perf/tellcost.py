#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
tellcost.py [ROUNDS [SECONDS]]: answers per second that dnsperf gets, with nobody told, with a full query log, and with dnstap to a file,
in turns by a reload of one volleyd. Workers answer at kernel sockets. Printed: medians, the range, and the ratio of each round.
dnsperf, volleyd and its writers share the processors of this machine.
"""
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "net"))

from netlab import V4, Daemon, Lab, run  # pylint: disable=wrong-import-position


def rate(lab, queries, seconds):
    said = run("nsenter", f"--net=/run/netns/{lab.name}-c", "--", "dnsperf", "-s", V4, "-d", queries, "-l", str(seconds),
               "-q", "500", "-c", "8").stdout
    return float(re.search(r"Queries per second:\s+([\d.]+)", said).group(1))


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
                     "dnstap": {"dnstap": {"file": str(folder / "tap"), "messages": ["auth-response"]}}}
            found = {kind: [] for kind in kinds}
            rate(lab, queries, 1)
            for _ in range(rounds):
                for kind, sections in kinds.items():
                    daemon.configure(interfaces=[], **sections)
                    daemon.ctl("zone", "reload")
                    found[kind].append(rate(lab, queries, seconds))
                    for written in (folder / "log", folder / "tap"):
                        if written.exists():
                            written.unlink()
            for kind, values in found.items():
                ratios = [value / off for value, off in zip(values, found["off"])]
                print(f"{kind:8} {statistics.median(values):9.0f} a second ({min(values):.0f} to {max(values):.0f}), "
                      f"of those with nobody told {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
            print(daemon.stats()["tap"])
            daemon.stop()
    finally:
        lab.close()


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"tellcost: {error}")
