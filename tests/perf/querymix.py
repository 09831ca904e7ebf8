#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""What resolvers ask authoritative servers, as lists of queries about three zones made for it.

    zones      plain.mix.test, nsec.mix.test, nsec3.mix.test (opt-out): 40, 30, 30 %
    names      of one zone drawn by Zipf's law (exponent 1): hosts, aliases, names from a wildcard,
               names below delegations with DS and without, RRsets above 512 and above 1232 octets
    types      A 70 %, AAAA 15 %, then HTTPS, MX, TXT, DS, NS, SOA
    NXDOMAIN   10 %: three quarters of names that are asked again (Zipf), one quarter of names
               that nobody has asked before and nobody asks again
    EDNS       DO=1 20 %; OPT with 1232 octets most often, then 4096, 512; 10 % without
    letters    in 10 % of the names in mixed case

Everything comes from a seed. As a program it writes the zones and a list, for scripts/loadtest and
xdpgen:

    tests/perf/querymix.py /tmp/mix --queries 20000
"""
import argparse
import itertools
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "diff"))

import signing  # noqa: E402
import zonegen  # noqa: E402

# How they are signed, and how often each is asked.
ZONES = {"plain.mix.test.": ("", 40), "nsec.mix.test.": ("nsec", 30),
         "nsec3.mix.test.": ("nsec3", 30)}
N_NAMES, N_GONE = 500, 100  # of each zone: names there, and names often asked for and not there
TYPES = {"A": 70, "AAAA": 15, "HTTPS": 5, "MX": 3, "TXT": 2, "DS": 2, "NS": 2, "SOA": 1}
OF_APEX = ("MX", "TXT", "NS", "SOA")  # every second of these asks about the zone itself
SHARE_NXDOMAIN, SHARE_NEW = 0.10, 0.25  # the second: of the first
SHARE_DO, SHARE_MIXED_CASE = 0.20, 0.10
SIZES_DO = {1232: 60, 4096: 40}
SIZES = {1232: 55, 4096: 20, 512: 12, None: 13}  # None: no OPT

# What the name of rank k is: KINDS[k % len(KINDS)].
KINDS = ("host",) * 12 + ("alias", "alias", "wildcard", "secure", "insecure", "large", "medium",
                          "v6")
CUTS = ("secure", "insecure")
N_LARGE, N_MEDIUM = 80, 32  # addresses: 1,280 octets and more, 512 and more


class Query:
    """One question of one client. KIND is what its name is, "nxdomain" or "new" where it is not."""

    __slots__ = ("name", "qtype", "do", "size", "kind", "zone")

    def __init__(self, name, qtype, do, size, kind, zone):
        self.name, self.qtype, self.do, self.size = name, qtype, do, size
        self.kind, self.zone = kind, zone

    def key(self):
        """What an answer in the cache is found by."""
        return self.name.lower(), self.qtype, self.do

    def line(self):
        """As tests/perf/querylist.h and scripts/loadtest read it."""
        words = [self.name, self.qtype, "no-EDNS" if self.size is None else str(self.size)]
        return " ".join(words + ["DO"] * self.do)


class Table:
    """Things with weights, to draw from."""

    def __init__(self, weights):
        self.items, self.sums = list(weights), list(itertools.accumulate(weights.values()))

    def draw(self, rng):
        return rng.choices(self.items, cum_weights=self.sums)[0]


def zipf(ranks):
    return Table({k: 1 / (k + 1) for k in ranks})


def kind_of(k):
    return KINDS[k % len(KINDS)]


def add_name(z, k):
    """The records of the name of rank k; those of a wildcard's are the wildcard's."""
    kind, last = kind_of(k), k % 250
    if kind == "host":
        z.add(f"host{k}", "A", f"203.0.113.{last}")
        if k % 2 == 0:
            z.add(f"host{k}", "AAAA", f"2001:db8::{k:x}")
        if k % 5 == 0:
            z.add(f"host{k}", "MX", f"10 host{k + 1}.{z.origin}")
            z.add(f"host{k}", "TXT", f'"v=spf1 a:host{k} -all"')
            z.add(f"host{k}", "HTTPS", "1 . alpn=h2,h3")
    elif kind == "alias":
        z.alias(f"alias{k}", f"host{k - k % len(KINDS)}")
    elif kind in CUTS:
        for family, address in (("A", f"198.51.100.{last}"), ("AAAA", f"2001:db8:1::{k:x}")):
            z.add(f"ns.{kind}{k}", family, address)
        z.add(f"{kind}{k}", "NS", f"ns.{kind}{k}.{z.origin}")
        z.add(f"{kind}{k}", "NS", f"ns1.{z.origin}")
        if kind == "secure":
            z.add(f"{kind}{k}", "DS", f"{k} 13 2 {'5a' * 32}")
    elif kind in ("large", "medium"):
        for i in range(N_LARGE if kind == "large" else N_MEDIUM):
            z.add(f"{kind}{k}", "A", f"10.{k // 250}.{last}.{i}")
    elif kind == "v6":
        z.add(f"v6{k}", "AAAA", f"2001:db8:2::{k:x}")


def make_zone(number, origin, signed):
    z = zonegen.Zone(number, origin, signed)
    z.signer, z.iterations, z.salt, z.opt_out = zonegen.SIGNERS[0], 0, "-", signed == "nsec3"
    z.add("@", "NS", f"host0.{origin}")
    z.add("@", "MX", f"10 host0.{origin}")
    z.add("@", "TXT", '"v=spf1 mx -all"')
    z.add("*.wildcard", "A", "203.0.113.77")
    z.add("*.wildcard", "TXT", '"any"')
    for k in range(N_NAMES):
        add_name(z, k)
    return z


def write_zones(folder):
    """{name: file} of the zones, written and signed below FOLDER."""
    zones = [make_zone(i, origin, signed) for i, (origin, (signed, _)) in enumerate(ZONES.items())]
    return {origin.rstrip("."): path for origin, path in signing.write_all(zones, folder).items()}


class Mix:
    """Queries without end. Two of different seeds ask for the same names and share no new one."""

    def __init__(self, seed):
        self.rng = random.Random(f"volley mix {seed}")
        self.ranks, self.gone = zipf(range(N_NAMES)), zipf(range(N_GONE))
        self.cuts = zipf(k for k in range(N_NAMES) if kind_of(k) in CUTS)
        self.zones = Table({origin: weight for origin, (_, weight) in ZONES.items()})
        self.types, self.sizes, self.sizes_do = Table(TYPES), Table(SIZES), Table(SIZES_DO)

    def new_label(self):
        return f"x{self.rng.getrandbits(64):016x}"

    def draw_name(self, qtype):
        """(the name in its zone, what it is)"""
        if self.rng.random() < SHARE_NXDOMAIN:
            if self.rng.random() < SHARE_NEW:
                return self.new_label(), "new"
            return f"gone{self.gone.draw(self.rng)}", "nxdomain"
        if qtype == "DS":
            k = self.cuts.draw(self.rng)
            return f"{kind_of(k)}{k}", "ds"
        if qtype in OF_APEX and self.rng.random() < 0.5:
            return "", "apex"
        k = self.ranks.draw(self.rng)
        if kind_of(k) == "wildcard":
            return f"x{k}.wildcard", "wildcard"
        return ("www." if kind_of(k) in CUTS else "") + f"{kind_of(k)}{k}", kind_of(k)

    def mix_case(self, name):
        if self.rng.random() >= SHARE_MIXED_CASE:
            return name
        return "".join(self.rng.choice((c, c.upper())) for c in name)

    def draw(self):
        origin, qtype = self.zones.draw(self.rng), self.types.draw(self.rng)
        name, kind = self.draw_name(qtype)
        do = self.rng.random() < SHARE_DO
        size = (self.sizes_do if do else self.sizes).draw(self.rng)
        name = self.mix_case(f"{name}.{origin}" if name else origin)
        return Query(name.rstrip("."), qtype, do, size, kind, origin)

    def list(self, n):
        return [self.draw() for _ in range(n)]

    def again(self, queries):
        """The same list as clients would ask it once more: names that are new are new again."""
        return [self.renew(q) if q.kind == "new" else q for q in queries]

    def renew(self, q):
        return Query(f"{self.new_label()}.{q.zone}".rstrip("."), q.qtype, q.do, q.size, q.kind,
                     q.zone)


def write_list(path, queries):
    pathlib.Path(path).write_text("".join(q.line() + "\n" for q in queries), encoding="ascii")


def main(argv):
    head, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=head, epilog=rest,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="is made; must not be there")
    parser.add_argument("--queries", type=int, default=20000, metavar="N",
                        help="in the list (20000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N",
                        help="another one, another list")
    options = parser.parse_args(argv)
    options.folder.mkdir(parents=True)
    zones = write_zones(options.folder)
    write_list(options.folder / "queries", Mix(options.seed).list(options.queries))
    print("scripts/loadtest", "--queries", options.folder / "queries",
          *(f"--zone {name}={path}" for name, path in zones.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
