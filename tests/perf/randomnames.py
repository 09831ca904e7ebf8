# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that nobody has asked before, beside knotd and nsd (part `random`).

Each query's first label is made by the generator and comes once (xdpgen --random), so no server can
have its answer ready. Each kind of names has its zone, which is one file for all servers:

    plain      NXDOMAIN, no signatures
    wildcard   a wildcard stands for each name
    nsec       NXDOMAIN with the proofs of NSEC, asked with DO
    nsec3      the same of NSEC3, without salt and iterations
    mix        nine in ten as `plain`, one a name of the zone that has been asked before: a warm hit

In each round the servers take turns. Each is started anew, goes up a ladder of rates, and is
offered its two best rates once more; the better one of these counts. Of `mix` there are also the
losses at the rates of OVERLOAD.
"""
import collections
import random
import shutil
import subprocess

import generators
import rig
import servers
import sidebyside
import sweep

import dns.message  # rig has set the path
import dns.rcode
import dns.rdatatype

Kind = collections.namedtuple("Kind", "name zone share below rcode do")
ALL, NINE_IN_TEN = "1/1", "9/10"
KINDS = {
    "plain": Kind("NXDOMAIN, no signatures", "plain", ALL, "", dns.rcode.NXDOMAIN, False),
    "wildcard": Kind("below a wildcard", "wildcard", ALL, "wild.", dns.rcode.NOERROR, False),
    "nsec": Kind("NXDOMAIN, NSEC, DO", "nsec", ALL, "", dns.rcode.NXDOMAIN, True),
    "nsec3": Kind("NXDOMAIN, NSEC3, DO", "nsec3", ALL, "", dns.rcode.NXDOMAIN, True),
    "mix": Kind("nine in ten NXDOMAIN, one a warm hit", "plain", NINE_IN_TEN, "",
                dns.rcode.NXDOMAIN, False),
}
SIGNING = {"nsec": (), "nsec3": ("-n", "-t", 0)}   # options of ldns-signzone
NEEDED = ("ldns-keygen", "ldns-signzone")
SIGNING_S = 1800

LADDER = [50, 100, 150, 200, 300, 450, 650, 850, 1100, 1500, sidebyside.FLOOD // 1000]
QUICK_LADDER = [50, 150, 500, sidebyside.FLOOD // 1000]
STEP_S, BEST = 1.0, 2
OVERLOAD = (1000000, sidebyside.FLOOD)
STEADY_RUNS, STEADY_MOST, STEADY_SHARE = 3, 20, 0.002   # shares of so many runs that differ by less
RIGHT_SHARE = 0.999   # a reply may be of a run before


# --- Zones ----------------------------------------------------------------------------------------


def sign(path, *options):
    """The signed zone's file, made by a new key of ECDSA P-256. NotHere without the tools."""
    missing = [tool for tool in NEEDED if not shutil.which(tool, path=rig.ENV["PATH"])]
    if missing:
        raise servers.NotHere(f"{', '.join(missing)}: not installed (ldnsutils)")
    key = rig.run("ldns-keygen", "-a", "ECDSAP256SHA256", servers.ORIGIN,
                  cwd=path.parent).stdout.strip()
    signed = path.with_suffix(".signed")
    rig.run("ldns-signzone", *options, "-o", servers.ORIGIN, "-f", signed, path, key,
            cwd=path.parent, timeout=SIGNING_S)
    return signed


def names_of(n):
    """
    N labels of eight octets, in no order. They lie among those that the generator makes, so that
    each interval of NSEC is met alike, but end in a letter that none of these has.
    """
    return ["".join(chr(ord("a") + (number >> 4 * i & 15)) for i in range(7)) + "q"
            for number in random.Random(1).sample(range(1 << 28), n)]


class Zone:
    """
    N names of eight octets with an address each. queries: a list of all; below_of(): another list.
    """

    def __init__(self, folder, title, n_names):
        self.n_names, self.queries = n_names, folder / f"random-{title}.queries"
        self.zone = folder / f"random-{title}.zone"
        self.do = title in SIGNING
        names = names_of(n_names)
        with open(self.zone, "w", encoding="ascii") as f:
            f.write(f"$ORIGIN {servers.ORIGIN}.\n$TTL 3600\n"
                    "@ SOA ns1 hostmaster 1 7200 900 1209600 300\n@ NS ns1\n@ NS ns2\n"
                    "ns1 A 192.0.2.53\nns2 A 192.0.2.54\n")
            f.write("*.wild A 192.0.2.9\n" if title == "wildcard" else "")
            f.writelines(f"{name} A 10.{i >> 16}.{i >> 8 & 255}.{i & 255}\n"
                         for i, name in enumerate(names))
        if self.do:
            self.zone = sign(self.zone, *SIGNING[title])
        random.Random(2).shuffle(names)
        self.write_list(self.queries, names)

    def write_list(self, path, names):
        with open(path, "w", encoding="ascii") as f:
            f.writelines(f"{name}.{servers.ORIGIN} A{' DO' * self.do}\n" for name in names)

    def source(self, kind):
        """
        The list whose first labels the generator replaces: where some stay, that of all names.
        """
        if kind.share != ALL:
            return self.queries
        path = self.queries.with_suffix(f".below-{kind.below}list")
        if not path.exists():
            self.write_list(path, [f"aaaaaaaa.{kind.below}".rstrip(".")])
        return path


class Zones:
    """Those that are wanted, each made once."""

    def __init__(self, folder, n_names):
        self.folder, self.n_names, self.made = folder, n_names, {}

    def __getitem__(self, title):
        if title not in self.made:
            sweep.say(f"  zone {title}: {self.n_names:,} names")
            self.made[title] = Zone(self.folder, title, self.n_names)
        return self.made[title]


# --- Servers --------------------------------------------------------------------------------------


class Asked:
    """Before a class of servers.py: asked for names of a kind that have not been asked before."""

    def __init__(self, bench, *words, **more):
        super().__init__(bench, *words, **more)
        self.kind, self.list, self.first = bench.kind, bench.data.source(bench.kind), 0

    def load(self, seconds, rate, **how):
        words = ("--random", self.kind.share, "--first", self.first, "c0", self.list)
        made = super().load(seconds, rate, **{"source": words, **how})
        self.first += made["sent"]
        self.check_replies(made)
        return made

    def check_replies(self, made):
        """Nothing but right answers is counted."""
        new = made["replies"] - made["listed_replies"]
        right = made["rcodes"][self.kind.rcode]
        if self.kind.rcode == dns.rcode.NOERROR:
            right -= made["listed_replies"]
        if right < RIGHT_SHARE * new or made["truncated"]:
            raise RuntimeError(f"{self.name}: of {new} replies {right} are "
                               f"{dns.rcode.to_text(self.kind.rcode)}, {made['truncated']} "
                               f"truncated; "
                               f"all by rcode: {made['rcodes']}")

    def check_answer(self):
        """One answer as a client reads it, with the proofs that it asked for."""
        name = f"zzzzzzzz.{self.kind.below}{servers.ORIGIN}"   # the generator has letters up to p
        answer = self.rig.udp(dns.message.make_query(name, "A", want_dnssec=self.kind.do))
        kinds = {rrset.rdtype for rrset in answer.authority + answer.answer}
        wanted = {dns.rdatatype.A if self.kind.rcode == dns.rcode.NOERROR else dns.rdatatype.SOA}
        if self.kind.do:
            wanted |= {dns.rdatatype.RRSIG, dns.rdatatype.from_text(self.kind.zone)}
        if answer.rcode() != self.kind.rcode or not wanted <= kinds:
            raise RuntimeError(f"{self.name}: not the answer that was expected:\n{answer}")

    def warm(self):
        self.check_answer()
        super().warm()

    def counts(self):
        """(received, answered) by a program in the driver that counts; None without one."""
        return None


class Reflector(Asked, servers.Reflector):
    """It knows no rcode."""

    def check_replies(self, made):
        """What comes back is the query."""


class Driver(Asked, servers.Volley):
    """Signed zones begin cold: an interval's first query goes to the worker."""
    cache = {"size": "512M", "names": "4M", "intervals": "32M"}

    def __init__(self, bench):
        super().__init__(bench, "Volley, driver", "driver", port="xsk")
        self.run_s, self.warming = bench.warm_s, []

    def counts(self):
        driver = self.daemon.stats()["driver"]
        return driver["received"], driver["hit"]

    def warm(self):
        if self.kind.share == ALL:
            self.check_answer()
        else:
            super().warm()
        self.warming = []
        for _ in range(STEADY_MOST):
            self.warming.append(measure(self, servers.WARM_RATE, self.run_s)["by_driver"])
            last = self.warming[-STEADY_RUNS:]
            if len(last) == STEADY_RUNS and max(last) - min(last) < STEADY_SHARE:
                return

    def note(self):
        return {**super().note(), "warming": self.warming}


class Knot(Asked, servers.KnotXdp):
    """As in `peers`."""


class Nsd(Asked, servers.Nsd):
    """As in `peers`, with short answers as Volley's and knotd's."""
    more = "  minimal-responses: yes\n"


# By the same names as in `peers`, in the order of their turns.
ROWS = {"reflector": lambda b: Reflector(b, "reflector, XDP_TX"), "driver": Driver,
        "knotd-xdp": Knot, "nsd": Nsd}


# --- Rounds ---------------------------------------------------------------------------------------


def measure(server, rate, seconds):
    """A sample; by_driver: the share of what the program received that it answered."""
    before = server.counts()
    made = sweep.sample(server, rate, seconds)
    if before:
        received, hits = (b - a for a, b in zip(before, server.counts()))
        made["by_driver"] = hits / max(1, received)
    return made


def measure_round(server, options):
    """All that is done with a server while it is up."""
    seconds = options.random_seconds
    climbed = sweep.climb(server, QUICK_LADDER if options.quick else LADDER, min(STEP_S, seconds))
    again = [measure(server, rate, seconds) for rate in sweep.best_rates(climbed, BEST)]
    made = {"climb": climbed, "again": again,
            "best": max(again, key=lambda one: one["replies_per_s"])}
    if server.kind.share != ALL:
        made["overload"] = [measure(server, rate, seconds) for rate in OVERLOAD]
    return made


def one_round(server, number, found, options):
    made, note = sweep.at_work(server, lambda: measure_round(server, options))
    found["rounds"].append({"round": number, **made, "note": note})
    sweep.say(f"  {server.kind.name}: {server.name}: {made['best']['replies_per_s']:,.0f}/s")


def warm_s(options):
    """Of each run that warms the driver: short ones would not warm a zone of 100,000 names."""
    return options.random_seconds if options.quick else STEP_S


class KindBench:
    """What the servers of one kind share."""

    def __init__(self, bench, kind, data, options):
        self.rig, self.folder, self.kind, self.data = bench.rig, bench.folder, kind, data
        self.generator = generators.Xdpgen(self, generators.BURST)
        self.warm_s = warm_s(options)


def compare_kind(key, bench, options):
    """{kind, name, servers: {key: {name, rounds, left_out}}}, servers in turns."""
    chosen = {row: ROWS[row](bench) for row in ROWS if row in options.servers}
    found = {row: {"name": server.name, "rounds": []} for row, server in chosen.items()}
    for i in range(options.random_rounds):
        for row, server in chosen.items():
            why = sidebyside.attempt(
                server, lambda s=server, i=i, f=found[row]: one_round(s, i, f, options))
            if why:
                sweep.say(f"  {bench.kind.name}: {server.name}: left out: {why}")
                found[row]["left_out"] = why
    return {"kind": key, "name": bench.kind.name, "servers": found}


def versions():
    """What knotd and nsd say of themselves, as far as they are here."""
    found = {}
    for program, option in (("knotd", "--version"), ("nsd", "-v")):
        if shutil.which(program, path=rig.ENV["PATH"]):
            said = subprocess.run([program, option], env=rig.ENV, capture_output=True, text=True,
                                  check=False)
            found[program] = (said.stdout + said.stderr).splitlines()[0].strip()
    return found


def compare(options, bench):
    zones, found, left_out = Zones(bench.folder, options.names), [], []
    for key in options.kinds:
        kind = KINDS[key]
        try:
            data = zones[kind.zone]
        except servers.NotHere as why:
            left_out.append({"name": kind.name, "why": str(why)})
            sweep.say(f"  {kind.name}: left out: {why}")
            continue
        found.append(compare_kind(key, KindBench(bench, kind, data, options), options))
    return {"names": options.names, "rounds": options.random_rounds,
            "seconds": options.random_seconds, "warm_rate": servers.WARM_RATE,
            "warm_s": warm_s(options), "versions": versions(),
            "kinds": found, "left_out": left_out}
