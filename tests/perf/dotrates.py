#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""dotrates.py [--seconds S] [--rounds N] [--connections N,...] [SERVER...]: DNS over TLS beside
unbound, named and nsd.

dnsperf asks 1,000 names of one zone over so many TLS connections, which stay open, with 100 queries
at a time and with one for each connection; then connections come and go, so many at a time: each
resumes the session of one before and asks once (dotreuse.c). The servers have one worker, on CPU 1,
and the load is on CPU 0. The servers take turns. Printed are the medians of the replies per second,
what was lost, and Volley's rate beside that of the best peer.

Run it as root after `make tools`, with nothing else at work.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import tempfile

from rig import LOAD_CPU, PERF, SERVER_CPU  # it sets the path

from netlab import Daemon, Lab, V4, run, wait_for, zone
from secondaries import certificate

N_NAMES, PORT = 1000, 853


def write_data(folder):
    lines = [f"h{n:04d} A 10.0.{n >> 8}.{n & 255}" for n in range(N_NAMES)]
    (folder / "bench.test.zone").write_text("$ORIGIN bench.test.\n$TTL 3600\n@ SOA ns1 hostmaster "
                                            "1 7200 900 1209600 300\n@ NS ns1\n"
                                            "ns1 A 192.0.2.53\n" + "\n".join(lines) + "\n",
                                            encoding="ascii")
    (folder / "queries").write_text("".join(f"h{n * 7 % N_NAMES:04d}.bench.test A\n"
                                            for n in range(N_NAMES)), encoding="ascii")


class Volley:
    def __init__(self, lab, folder, tls):
        self.daemon = Daemon(lab, folder)
        self.tls = tls

    def start(self):
        self.daemon.configure(server={"listen": [V4], "workers": 1, "tls": self.tls["server"],
                                      "tcp": {"max-connections": 8192,
                                              "max-connections-per-client": 8192}},
                              interfaces=None,
                              zones=[zone("bench.test", self.daemon.folder / "bench.test.zone")])
        self.daemon.spawn(before=("taskset", "-c", str(SERVER_CPU)))
        self.daemon.wait_ready()

    def stop(self):
        assert self.daemon.clean_up()


class Peer:
    """A server that runs in the foreground."""

    def __init__(self, lab, folder, tls):
        self.lab, self.folder, self.tls, self.process = lab, folder, tls, None

    def command(self):
        raise NotImplementedError

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = self.lab.popen("s", "taskset", "-c", SERVER_CPU, *self.command(),
                                          stdout=log, stderr=log)
        wait_for("it answers", lambda: not run(
            "nsenter", f"--net=/run/netns/{self.lab.name}-c", "kdig", "+tls", f"@{V4}",
                                               "h0001.bench.test", "+short",
            check=False).stdout.startswith(";") and self.process.poll() is None)

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class Unbound(Peer):
    def command(self):
        (self.folder / "unbound.conf").write_text(f"""server:
  interface: {V4}@{PORT}
  tls-port: {PORT}
  tls-service-key: {self.tls['server']['key']}
  tls-service-pem: {self.tls['server']['certificate']}
  use-syslog: no
  username: ""
  chroot: ""
  directory: {self.folder}
  pidfile: {self.folder}/unbound.pid
  access-control: 0.0.0.0/0 allow
  incoming-num-tcp: 4096
  num-threads: 1
  module-config: iterator
remote-control:
  control-enable: no
auth-zone:
  name: bench.test
  zonefile: {self.folder}/bench.test.zone
  for-downstream: yes
""", encoding="ascii")
        return "unbound", "-d", "-c", self.folder / "unbound.conf"


class Named(Peer):
    def command(self):
        (self.folder / "named.conf").write_text(f"""tls local {{ cert-file "{self.tls['server']['certificate']}"; key-file "{self.tls['server']['key']}"; }};
options {{ directory "{self.folder}"; listen-on port {PORT} tls local {{ {V4}; }}; listen-on-v6 {{ none; }}; recursion no;
  pid-file "{self.folder}/named.pid"; session-keyfile "{self.folder}/session.key"; tcp-clients 8192; minimal-responses yes; }};
controls {{ }};
zone "bench.test" {{ type primary; file "{self.folder}/bench.test.zone"; }};
""", encoding="ascii")
        return "named", "-f", "-n", "1", "-c", self.folder / "named.conf"


class Nsd(Peer):
    def command(self):
        (self.folder / "nsd.conf").write_text(f"""server:
  ip-address: {V4}@{PORT}
  tls-port: {PORT}
  tls-service-key: {self.tls['server']['key']}
  tls-service-pem: {self.tls['server']['certificate']}
  server-count: 1
  tcp-count: 4096
  username: ""
  zonesdir: {self.folder}
  database: ""
  pidfile: {self.folder}/nsd.pid
  xfrdfile: {self.folder}/xfrd.state
  zonelistfile: {self.folder}/zone.list
remote-control:
  control-enable: no
zone:
  name: bench.test
  zonefile: bench.test.zone
""", encoding="ascii")
        return "nsd", "-d", "-c", self.folder / "nsd.conf"


SERVERS = {"volley": Volley, "unbound": Unbound, "named": Named, "nsd": Nsd}


def measure(lab, folder, connections, outstanding, seconds):
    """(replies a second, share that was lost)"""
    said = run("nsenter", f"--net=/run/netns/{lab.name}-c", "taskset", "-c", LOAD_CPU, "dnsperf",
               "-m", "dot", "-s", V4, "-p", PORT,
               "-d", folder / "queries", "-c", connections, "-T", 1, "-q", outstanding, "-l",
               seconds, "-t", 5, timeout=seconds + 60).stdout
    sent, lost = (int(re.search(rf"Queries {word}: +(\d+)", said)[1]) for word in ("sent", "lost"))
    return float(re.search(r"Queries per second: +([\d.]+)", said)[1]), lost / max(sent, 1)


def resume(lab, connections, seconds):
    """
    (connections a second that were answered, share that failed); all but the first ones resume a
    session
    """
    said = run("nsenter", f"--net=/run/netns/{lab.name}-c", "taskset", "-c", LOAD_CPU,
               PERF / "dotreuse", V4, PORT, connections,
               seconds, "h0001.bench.test", timeout=seconds + 60).stdout.split()
    rate, done, resumed, failed = map(int, said)
    assert resumed >= done - 2 * connections, said
    return float(rate), failed / max(done + failed, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", default="100,1000")
    parser.add_argument("servers", nargs="*", default=list(SERVERS))
    args = parser.parse_args()
    rates = {}
    with tempfile.TemporaryDirectory(prefix="dotrates-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        write_data(folder)
        tls = certificate(folder)
        lab = Lab()
        try:
            for _ in range(args.rounds):
                for server in args.servers:
                    one = SERVERS[server](lab, folder, tls)
                    one.start()
                    try:
                        for connections in map(int, args.connections.split(",")):
                            for outstanding in 100, connections:
                                got = measure(lab, folder, connections, outstanding, args.seconds)
                                rates.setdefault((connections, str(outstanding)),
                                                 {}).setdefault(server, []).append(got)
                            got = resume(lab, connections, args.seconds)
                            rates.setdefault((connections, "resumed"),
                                             {}).setdefault(server, []).append(got)
                    finally:
                        one.stop()
        except subprocess.TimeoutExpired as late:
            print(late)
        finally:
            lab.close()
    print(f"{'connections':>11} {'at a time':>9}  " +
          "  ".join(f"{server:>16}" for server in args.servers) + "  volley by best peer")
    for (connections, outstanding), row in sorted(rates.items()):
        medians = {server: statistics.median(rate for rate, _ in got)
                   for server, got in row.items()}
        lost = {server: statistics.median(part for _, part in got) for server, got in row.items()}
        spread = {server: (min(got)[0], max(got)[0]) for server, got in row.items()}
        peers = [rate for server, rate in medians.items() if server != "volley"]
        beside = f"{medians['volley'] / max(peers):.2f}" if peers and "volley" in medians else "-"
        print(f"{connections:11} {outstanding:>9}  " +
              "  ".join(f"{medians[server]:9.0f} {lost[server]:5.1%} " for server in args.servers) +
              f"  {beside}")
        print(" " * 23 +
              "  ".join(f"{spread[server][0]:.0f}-{spread[server][1]:.0f}".rjust(16)
                        for server in args.servers))


if __name__ == "__main__":
    main()
