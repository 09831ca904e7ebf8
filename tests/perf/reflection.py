#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""reflection: what a victim is sent, and what honest resolvers lose, while their server is used for
reflection.

volleyd (driver; sockets only), knotd, nsd and named take turns in a lab of one queue, with response
rate limits as alike as each has them, and are asked by floodgen:

    honest     1,000 resolvers, each in a /24 of its own, 20 queries a second each, names in the zone with EDNS and
               DO; every second one with a good server cookie: these alone, so that what the link
               loses is known
    reflected  beside them 500,000 queries a second with sources in one /24 by chance, for a TXT record set of 1,100 octets
    slower     the same with 40,000 a second, which sockets come to read
    spread     beside them 1,000,000 queries, each with a source of its own, in two seconds

    octets     DNS and IP: octets sent to the sources of the flood, to each octet of theirs that came
    lost       queries of the honest, without a cookie and with one, that got nothing: no answer, no TC=1, no BADCOOKIE
    TC         share of their replies with TC=1, after which a resolver asks over TCP
    link       share of all queries that did not come to the server's end of the link
    buffer     share that its kernel dropped before the server read them
    CPU        CPU seconds a second: NAPI thread, the server's threads

Ends with status 1 where volleyd does not reach its goals. Run it on a machine that does nothing
else.
"""
import argparse
import collections
import json
import pathlib
import re
import sys
import tempfile
import types

import floodframes
import rig
import servers

from netlab import has, wait_for

N_HONEST, HONEST_RATE, FLOOD_RATE, SLOWER_RATE = 1000, 20, 500000, 40000
VICTIM = ("--net", "198.51.100.0", "--bits", 24)
MANY = ("--net", "16.0.0.0", "--bits", 4, "--in-turn")
BIG = "big." + servers.ORIGIN
RATE = 7500     # answers of 1,100 octets that the default of rrl.octets gives to a /24 in a second
NAMED_RATE = 1000    # the most that named takes
RATIO_MAX, LOST_MAX, LOST_COOKIE_MAX, TRUNCATED_MAX = 1.0, 0.001, 0, 0.01
SECRET = floodframes.SECRET.hex()


class Data(servers.Data):
    """The zone of the honest, and a large record set."""

    def __init__(self, folder):
        super().__init__(folder, N_HONEST)
        with open(self.zone, "a", encoding="ascii") as f:
            f.writelines(f'big TXT "{c * 200}"\n' for c in "abcde")
        self.frames = folder / "frames"
        floodframes.write(self.frames, (BIG, "TXT"), N_HONEST,
                          lambda i: f"h{i:06d}.{servers.ORIGIN}")


# ---- The servers ---------------------------------------------------------------------------------

class Volley(servers.Volley):
    """With its own limits, unless --octets says otherwise."""

    def start(self):
        self.folder = tempfile.TemporaryDirectory(prefix="volley-bench-")
        self.daemon = rig.PinnedDaemon(self.rig, self.folder.name)
        self.daemon.start(interfaces=self.interface["interfaces"], rrl=self.interface["rrl"],
                          zones=[rig.zone(servers.ORIGIN, self.data.zone)],
                          server={"workers": 1, "listen": [rig.V4], "cookies": {"secret": SECRET}})

    def counted(self):
        """What it withheld, by reason; how many queries the driver had."""
        stats = self.daemon.json("stats")
        found = collections.Counter({r: n for r, n in stats["driver"]["reasons"].items()
                                     if r in ("hit-slipped", "hit-badcookie")
                                     or r.startswith("drop-")})
        found.update({key: stats["engine"][key] for key in ("slipped", "limited")})
        found["good cookies"] = stats["driver"]["cookies_good"] + stats["engine"]["cookies_good"]
        found["received"] = stats["driver"]["received"]
        return found

    def over_limit(self):
        """The prefixes that are listed as over their limit, but for the victim's."""
        top = self.daemon.json("rrl", "top", "-n", 1024)["top"]
        return [row["prefix"] for row in top if not row["prefix"].startswith("198.51.")]

    def table_bytes(self):
        """Memory of the table of loads, as the kernel tells it."""
        for path in pathlib.Path(f"/proc/{self.daemon_pid}/fdinfo").iterdir():
            text = path.read_text(encoding="ascii")
            fields = dict(re.findall(r"^(\w+):\s+(\S+)$", text, re.M))
            if (fields.get("value_size"), fields.get("max_entries")) == ("64", "65536"):
                return int(fields["memlock"])
        return 0


class Knot(servers.Knot):
    title = "knotd"

    def configure(self, folder):
        words = super().configure(folder)
        path = folder / "knot.conf"
        modules = (f"mod-cookies:\n  - id: c\n    secret: 0x{SECRET}\n"
                   f"mod-rrl:\n  - id: r\n    rate-limit: {RATE}\n    slip: 2\n"
                   "template:\n  - id: default\n    global-module: [mod-cookies/c, "
                   "mod-rrl/r]\nzone:\n")
        path.write_text(path.read_text(encoding="ascii").replace("zone:\n", modules),
                        encoding="ascii")
        return words


class Nsd(servers.Nsd):
    title = "nsd"

    def configure(self, folder):
        words = super().configure(folder)
        path = folder / "nsd.conf"
        limits = (f"  rrl-ratelimit: {RATE}\n  rrl-slip: 2\n  answer-cookie: yes\n"
                  f"  cookie-secret: \"{SECRET}\"\n  minimal-responses: yes\n")
        path.write_text(path.read_text(encoding="ascii").replace("  rrl-ratelimit: 0\n", limits),
                        encoding="ascii")
        return words


class Named(servers.Named):
    title = "named"

    def configure(self, folder):
        words = super().configure(folder)
        path = folder / "named.conf"
        limits = (f"rate-limit {{ responses-per-second {NAMED_RATE}; slip 2; }};\n"
                  f"  cookie-algorithm siphash24; cookie-secret \"{SECRET}\";\n  recursion no;")
        path.write_text(path.read_text(encoding="ascii").replace("recursion no;", limits),
                        encoding="ascii")
        return words


def make_server(name, bench, rrl):
    if name == "driver":
        return Volley(bench, "volleyd, driver", "driver", interfaces=[rig.iface()], rrl=rrl)
    if name == "sockets":
        return Volley(bench, "volleyd, sockets", "kernel_socket", interfaces=[], rrl=rrl)
    return {"knotd": Knot, "nsd": Nsd, "named": Named}[name](bench)


# ---- A run ---------------------------------------------------------------------------------------

def kernel_counters(lab):
    """Packets of the server's namespace: received, dropped at a UDP socket."""
    lines = lab.exec("s", "cat", "/proc/net/snmp").stdout.splitlines()
    rows = {}
    for names, values in zip(lines[::2], lines[1::2]):
        kind, names = names.split(":")
        rows[kind] = dict(zip(names.split(), map(int, values.split(":")[1].split())))
    return rows["Ip"]["InReceives"], rows["Udp"]["RcvbufErrors"]


def rss_kib(pid):
    """The largest of a server's processes: what they share counts once."""
    texts = (pathlib.Path(f"/proc/{p}/status").read_text(encoding="ascii")
             for p in rig.group_of(pid) or [pid])
    return max(int(re.search(r"VmRSS:\s+(\d+)", text)[1]) for text in texts if "VmRSS" in text)


class Run:
    """One scenario against a server, and all that was counted over it."""

    def __init__(self, server, scenario, seconds, words, every):
        self.server, self.scenario = server, scenario
        lab = server.rig
        rate = N_HONEST * HONEST_RATE * every
        command = (rig.PERF / "floodgen", "--cpu", rig.LOAD_CPU, "--honest-every", every, *words,
                   "c0", server.data.frames, seconds, rate)
        before, kernel, rss = self.counted(), kernel_counters(lab), rss_kib(server.daemon_pid)
        with rig.Meter(lab, server.daemon_pid) as meter:
            self.made = json.loads(lab.exec("c", *command, timeout=seconds + 60).stdout)
        self.cpu = meter.napi_ns / 1e9 / meter.seconds, meter.daemon_ns / 1e9 / meter.seconds
        self.rss = rss, rss_kib(server.daemon_pid)
        self.reasons = self.counted() - before
        received, dropped = (b - a for a, b in zip(kernel, kernel_counters(lab)))
        self.sent = sum(self.made[kind]["sent"] for kind in ("flood", "plain", "cookie"))
        self.arrived = min(self.sent, self.reasons.pop("received", 0) or received)
        self.buffer = dropped / self.sent
        self.over = server.over_limit() if isinstance(server, Volley) else []

    def counted(self):
        return self.server.counted() if isinstance(self.server, Volley) else collections.Counter()

    def ratio(self, kind):
        flood = self.made["flood"]
        came = flood[f"sent_{kind}_octets"] * self.arrived / self.sent
        return flood[f"{kind}_octets"] / came if came else 0

    def lost(self, kind):
        """(queries, share)"""
        made = self.made[kind]
        n = made["sent"] - made["whole"] - made["truncated"] - made["badcookie"]
        return n, n / made["sent"]

    def truncated(self):
        n = self.made["plain"]["truncated"] + self.made["cookie"]["truncated"]
        return n / max(1, self.made["plain"]["replies"] + self.made["cookie"]["replies"])

    def show(self):
        plain, cookie = self.lost("plain"), self.lost("cookie")
        octets = f"{self.ratio('dns'):8.2f} {self.ratio('ip'):6.2f}" if self.made["flood"][
            "sent"] else f"{'-':>8} {'-':>6}"
        print(f"{self.server.name:17s} {self.scenario:9s} {self.sent / self.made['seconds']:9,.0f} "
              f"{octets} "
              f"{plain[0]:8d} {plain[1]:8.3%} {cookie[0]:8d} {cookie[1]:8.3%} "
              f"{self.truncated():8.3%} "
              f"{1 - self.arrived / self.sent:8.3%} {self.buffer:8.3%} {self.cpu[0]:6.2f} "
              f"{self.cpu[1]:6.2f}", flush=True)
        if self.reasons or self.over:
            print("    counted: " +
                  (", ".join(f"{k} {n}" for k, n in self.reasons.most_common()) or "nothing") +
                  f"; over a limit beside the victim: {len(self.over)}; "
                  f"resident {self.rss[0]} to {self.rss[1]} KiB", flush=True)

    def faults(self):
        """What is not as it should be. The link's losses are not the server's."""
        allowed = 1 - self.arrived / self.sent + self.buffer
        if self.scenario == "reflected" and self.ratio("dns") > RATIO_MAX:
            yield f"{self.ratio('dns'):.2f} octets for one"
        for kind, most in (("plain", LOST_MAX), ("cookie", LOST_COOKIE_MAX)):
            if self.lost(kind)[1] > most + 2 * allowed:
                yield f"{self.lost(kind)[1]:.3%} of the honest lost, {kind}; by link and buffers {allowed:.3%}"
        if self.truncated() > TRUNCATED_MAX:
            yield f"{self.truncated():.3%} of the replies to the honest have TC=1"
        if self.over:
            yield f"over their limit: {', '.join(self.over[:5])}"


def measure(server, options):
    """The runs, after one by which all is warm."""
    lab = server.rig
    wait_for("it answers", lambda: lab.is_answered(BIG, "SOA"), 30)
    seconds, honest = options.seconds, N_HONEST * HONEST_RATE
    Run(server, "warm", 2, VICTIM, 1)
    table = server.table_bytes() if isinstance(server, Volley) else None
    for scenario, took, words, flood in (("honest", seconds, VICTIM, 0),
                                         ("slower", seconds, VICTIM, SLOWER_RATE),
                                         ("reflected", seconds, VICTIM, FLOOD_RATE),
                                         ("spread", 2, MANY, FLOOD_RATE)):
        run = Run(server, scenario, took, words, 1 + flood // honest)
        run.show()
        yield run
    if table:
        print(f"    table of loads: {table} octets before, {server.table_bytes()} after",
              flush=True)


def open_link(lab, name):
    """
    Replies go to whatever address asked, by the client's end; without a program the kernel takes
    what is redirected.
    """
    lab.ip("s", "route", "replace", "default", "via", rig.CLIENT4)
    if name != "driver":
        lab.take_redirects()
    lab.settle()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--servers", default="driver,sockets,knotd,nsd,named")
    parser.add_argument("--octets", help="volleyd's rrl.octets, in place of its default")
    options = parser.parse_args()
    rrl = {"answers": 1000, "octets": options.octets} if options.octets else None
    rig.end_on_signals()
    faults = []
    print(f"{'server':17s} {'scenario':9s} {'asked/s':>9s} {'DNS':>8s} {'IP':>6s} {'lost':>8s} "
          f"{'':8s} "
          f"{'cookie':>8s} {'':8s} {'TC':>8s} {'link':>8s} {'buffer':>8s} {'NAPI':>6s} "
          f"{'server':>6s}")
    for _ in range(options.rounds):
        for name in options.servers.split(","):
            if name not in ("driver", "sockets") and not has(name):
                print(f"{name} is not installed")
                continue
            with tempfile.TemporaryDirectory() as folder:
                lab = rig.Rig()
                bench = types.SimpleNamespace(rig=lab, data=Data(pathlib.Path(folder)),
                                              generator=None)
                server = make_server(name, bench, rrl)
                try:
                    server.start()
                    open_link(lab, name)
                    for run in measure(server, options):
                        if name in ("driver", "sockets"):
                            faults += [f"{server.name}, {run.scenario}: {text}"
                                       for text in run.faults()]
                finally:
                    server.stop()
                    lab.close()
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
