# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones made from fixed seeds: the shapes in which authoritative servers go wrong.

A zone is a list of features, each a function that adds records of one kind at names of its own, so
that features do not disturb each other and any set of them makes a zone that every server loads.
Which features zone number i has, and with which numbers, depends on i alone.
"""
import random
import string

N_ZONES = 224
SIGNINGS = ("", "", "nsec", "nsec3")  # of zone i: SIGNINGS[i % 4]
SIGNERS = ("dnssec-signzone", "ldns-signzone")
OUT = ("example.edu.", "www.example.edu.", "ns.example.edu.")  # of no server's zones


class Zone:
    """An origin and its records: (owner, ttl, type, rdata) in presentation form, absolute."""

    def __init__(self, number, origin, signing=""):
        self.number = number
        self.origin = origin
        self.signing = signing
        self.signer = SIGNERS[number // 4 % 2]
        self.opt_out = signing == "nsec3" and number // 8 % 2 == 1
        self.iterations = (0, 1, 5, 12)[number // 4 % 4]
        self.salt = ("-", "aabb", "0123456789abcdef")[number // 4 % 3]
        self.lacks = ()  # servers that refuse to load it
        self.rng = random.Random(f"volley zone {number}")
        self.records = []
        self.add("@", "SOA", f"ns1.{origin} host\\.master.{origin} {number + 1} 7200 3600 1209600 "
                 f"{self.rng.choice([60, 900, 86400])}", ttl=self.rng.choice([300, 3600]))
        self.add("@", "NS", f"ns1.{origin}")
        self.add("ns1", "A", "192.0.2.1")

    def name(self, owner):
        if owner == "@":
            return self.origin
        absolute = owner.endswith(".") and not owner.endswith("\\.")
        return owner if absolute else f"{owner}.{self.origin}"

    def add(self, owner, rtype, rdata, ttl=3600):
        self.records.append((self.name(owner), ttl, rtype, rdata))

    def alias(self, owner, target, rtype="CNAME"):
        self.add(owner, rtype, self.name(target))

    def text(self):
        return "".join(f"{o} {ttl} IN {t} {d}\n" for o, ttl, t, d in self.records)


def a(rng):
    return f"203.0.113.{rng.randrange(256)}"


def aaaa(rng):
    return f"2001:db8::{rng.randrange(65536):x}"


def hosts(z, _others):
    """What every zone has."""
    for host in ("www", "mail", "v6"):
        if host != "v6":
            z.add(host, "A", a(z.rng))
        z.add(host, "AAAA", aaaa(z.rng))
    z.add("@", "MX", f"10 mail.{z.origin}")
    z.add("@", "MX", f"20 v6.{z.origin}")
    z.add("@", "TXT", '"v=spf1 -all"')
    z.add("www", "TXT", '"a" "b" ""')
    z.add("@", "NS", f"www.{z.origin}")


def delegations(z, others):
    """Glue in the domain, of a sibling, of a sibling's child, out of the zone, and none."""
    for family in ("A", "AAAA"):
        z.add("ns.in", family, a(z.rng) if family == "A" else aaaa(z.rng))
    z.add("in", "NS", f"ns.in.{z.origin}")
    z.add("in", "NS", f"ns1.{z.origin}")
    z.add("self", "NS", f"self.{z.origin}")
    z.add("self", "A", a(z.rng))
    z.add("sib", "NS", f"ns.in.{z.origin}")
    z.add("sib2", "NS", f"ns.in.{z.origin}")
    z.add("sib2", "NS", f"self.{z.origin}")
    z.add("out", "NS", OUT[2])
    z.add("out", "NS", f"ns1.{others[0].origin}")
    z.add("held", "NS", f"www.{others[1].origin}")
    z.add("noglue", "NS", f"ns.noglue.{z.origin}")
    z.add("sibless", "NS", f"nothere.in.{z.origin}")
    z.add("deep.er", "NS", f"ns.deep.er.{z.origin}")
    z.add("ns.deep.er", "AAAA", aaaa(z.rng))


def delegations_odd(z, others):
    """Names below a cut, a cut below a cut, many name servers, DS, glue that is an alias."""
    for i in range(z.rng.choice([5, 9, 13])):
        z.add("many", "NS", f"{chr(97 + i)}.ns.many.{z.origin}")
        z.add(f"{chr(97 + i)}.ns.many", "A", a(z.rng))
        z.add(f"{chr(97 + i)}.ns.many", "AAAA", aaaa(z.rng))
    z.add("ds", "NS", f"ns.ds.{z.origin}")
    z.add("ns.ds", "A", a(z.rng))
    for algorithm, digest in (("1", "00" * 20), ("2", "11" * 32)):
        z.add("ds", "DS", f"{z.rng.randrange(65536)} 13 {algorithm} {digest}")
    z.add("ds2", "NS", f"mail.{z.origin}")
    z.add("ds2", "DS", f"1 13 2 {'ab' * 32}")
    z.add("nods", "NS", f"ns.ds.{z.origin}")
    z.add("occl", "NS", f"ns.occl.{z.origin}")
    z.add("ns.occl", "A", a(z.rng))
    z.add("www.occl", "A", a(z.rng))
    z.add("low.occl", "NS", f"ns.low.occl.{z.origin}")
    z.add("ns.low.occl", "A", a(z.rng))
    z.add("v6only", "NS", f"v6.{z.origin}")
    z.add("towild", "NS", f"ns.wildns.{z.origin}")
    z.add("*.wildns", "A", a(z.rng))
    z.add("only6", "NS", f"ns.only6.{z.origin}")
    z.add("ns.only6", "AAAA", aaaa(z.rng))
    z.add("ent.mid.cut", "NS", f"ns1.{others[0].origin}")


def wildcards(z, _others):
    """Nested, blocked by names and by empty non-terminals, in the middle of a name (RFC 4592)."""
    z.add("*.w", "A", a(z.rng))
    z.add("*.w", "TXT", '"w"')
    z.add("b.w", "AAAA", aaaa(z.rng))
    z.add("*.b.w", "MX", f"5 www.{z.origin}")
    z.add("*.deep.b.w", "A", a(z.rng))
    z.add("x.ent.w", "A", a(z.rng))
    z.add("*.*.star", "A", a(z.rng))
    z.add("sub.*.w2", "TXT", '"below an asterisk"')
    z.add("*.w2", "TXT", '"beside it"')
    z.add("*.ent2", "AAAA", aaaa(z.rng))
    z.add("*x.w", "A", a(z.rng))
    z.add("cut.w", "NS", f"ns.cut.w.{z.origin}")
    z.add("ns.cut.w", "A", a(z.rng))


def wildcard_apex(z, _others):
    z.add("*", "A", a(z.rng))
    z.add("*", "MX", f"10 nosuch.{z.origin}")


def wildcard_aliases(z, others):
    z.alias("*.wc", "www")
    z.alias("*.wc2", "x.wc")
    z.alias("*.wc3", "x.y.wc3")  # to itself
    z.alias("*.wc4", "nothere.held.none")
    z.alias("*.wc5", f"www.{others[0].origin}")
    z.alias("*.wc6", "in")
    z.alias("to-wc", "anything.wc")
    z.alias("*.wc7", OUT[1])


def wildcard_odd(z, others):
    """NS and DNAME at a wildcard: RFC 4592 sections 4.2 and 4.4. BIND refuses the NS."""
    z.lacks, z.signer = ("named",), "ldns-signzone"
    z.add("*.wns", "NS", f"ns1.{others[0].origin}")
    if z.number % 16 >= 8:
        z.alias("*.wdn", "dnt", "DNAME")
        z.add("a.dnt", "A", a(z.rng))


def empty_nonterminals(z, _others):
    z.add("a.b.c.d.e", "A", a(z.rng))
    z.add("x.c.d.e", "TXT", '"x"')
    z.add("_sip._tcp", "SRV", f"1 2 5060 www.{z.origin}")
    z.add("_sip._tcp", "SRV", f"1 3 5060 in.{z.origin}")
    z.add("_443._tcp.www", "TLSA", "3 1 1 " + "5a" * 32)
    z.add("cut.under.ent", "NS", OUT[2])
    z.alias("alias.under2.ent", "www")


def chains(z, others):
    """Webs of CNAMEs: within the zone, between zones, to what is not there, loops."""
    last = "www"
    for i in range(z.rng.choice([2, 5, 7])):
        z.alias(f"c{i}", last)
        last = f"c{i}"
    for owner, target in (("to-apex", "@"), ("to-ent", "ent.web"), ("to-none", "none.web"),
                          ("to-cut", "cut.web"), ("to-below", "x.cut.web"),
                          ("to-wild", "q.wild.web"), ("to-out", OUT[1]),
                          ("to-self", "to-self"), ("loop1", "loop2"), ("loop2", "loop1"),
                          ("loop-in", "loop1"), ("UP.Case", "C0"),
                          ("to-next", f"www.{others[0].origin}"),
                          ("web", f"web.{others[0].origin}"),
                          ("to-none-next", f"none.none.{others[0].origin}"),
                          ("to-apex-next", others[1].origin),
                          ("to-next-c", f"to-next.{others[1].origin}")):
        z.alias(owner, target)
    z.add("x.ent.web2", "A", a(z.rng))
    z.add("*.wild.web", "A", a(z.rng))
    z.add("ent.ent.web", "A", a(z.rng))
    z.add("cut.web", "NS", f"ns.cut.web.{z.origin}")
    z.add("ns.cut.web", "A", a(z.rng))
    z.add("mx", "MX", f"1 to-apex.{z.origin}")


def long_chain(z, _others):
    for i in range(z.rng.choice([9, 12, 20, 40])):
        z.alias(f"l{i}", f"l{i + 1}")


def dnames(z, others):
    """Webs of DNAMEs (RFC 6672): inside, across, to a wildcard, in a ring, too long."""
    z.alias("dn", "dnx", "DNAME")
    z.add("a.dnx", "A", a(z.rng))
    z.add("*.w.dnx", "TXT", '"w"')
    z.add("cut.dnx", "NS", f"ns.cut.dnx.{z.origin}")
    z.add("ns.cut.dnx", "A", a(z.rng))
    z.alias("al.dnx", "a.dnx")
    z.alias("dn2", "dn", "DNAME")
    z.alias("dn-out", OUT[0], "DNAME")
    z.alias("dn-next", others[0].origin, "DNAME")
    z.alias("dn-none", "none.none", "DNAME")
    z.alias("ring1", "ring2", "DNAME")
    z.alias("ring2", "ring1", "DNAME")
    z.alias("grow", "x.grow", "DNAME")
    z.alias("long", ".".join(["l" * 40] * 4), "DNAME")
    z.alias("to-dn", "a.dn")
    z.alias("to-dn-owner", "dn")
    z.alias("to-dn-next", "www.dn-next")
    z.add("dn", "A", a(z.rng))
    z.add("dn", "TXT", '"at the owner"')


def large(z, _others):
    """RRsets around 512 and 1232 octets, and of several KB."""
    rng = z.rng
    for n in (27, 29, 30, 70, 75, 300):
        for i in range(n):
            z.add(f"a{n}", "A", f"198.51.{i // 250}.{i % 250}")
    for i in range(40):
        z.add("aaaa40", "AAAA", f"2001:db8:1::{i:x}")
    for n in (300, 430, 480, 1000, 1150, 1190, 4000, 15000):
        words = [rng.choice(string.ascii_letters) * min(200, n - at) for at in range(0, n, 200)]
        z.add(f"t{n}", "TXT", " ".join(f'"{w}"' for w in words))
    for i in range(60):
        z.add("txts", "TXT", f'"{i}{"x" * 60}"')
        z.add("mxs", "MX", f"{i} h{i}.{z.origin}")
        if i < 20:
            z.add(f"h{i}", "A", a(rng))
    for i in range(12):
        z.add("ns12", "NS", f"{'n' * 50}{i}.ns12.{z.origin}")
        z.add(f"{'n' * 50}{i}.ns12", "AAAA", aaaa(rng))
    z.alias("to-a75", "a75")
    z.add("*.big", "TXT", " ".join(f'"{"w" * 250}"' for _ in range(8)))


def huge(z, _others):
    for i in range(240):
        z.add("huge", "TXT", f'"{i:03}{"h" * 240}"')


def odd_labels(z, _others):
    rng = z.rng
    z.signer = "dnssec-signzone"  # the other one writes some of them as no server reads them
    for label in (r"\000", r"\255\254", r"a\.b", r"\@", r"\"q\"", r"a\032b", r"sl\\ash", r"\;c",
                  "1-", "_", "-x", "*a", r"\(p\)", r"\$", "xn--bcher-kva", r"\009", r"\195\188",
                  "a*"):
        z.add(f"{label}.odd", "A", a(rng))
    z.add("UPPER.odd", "AAAA", aaaa(rng))
    z.add("MiXeD.Case.odd", "TXT", '"CaSe"')
    z.add("l" * 63, "A", a(rng))
    z.alias("to-case", "mixed.CASE.odd")
    z.add("mx.odd", "MX", f"1 UPPER.OdD.{z.origin}")
    room = (253 if z.signing else 255) - len(z.origin) - 1  # the signer puts "*" before each
    labels = ["y" * min(63, room - 1)]
    room -= len(labels[0]) + 1
    while room > 1:
        labels.append("y" * min(63, room - 1))
        room -= len(labels[-1]) + 1
    z.add(".".join(labels), "A", a(rng))
    z.add(".".join(["1"] * min(100, (250 - len(z.origin)) // 2)), "TXT", '"many labels"')
    z.add("*." + ".".join(["k" * 60] * 2), "A", a(rng))


TYPES = {
    "PTR": "Host.@", "HINFO": '"PC" "Linux"', "RP": "a.@ b.@", "AFSDB": "1 www.@", "RT": "1 www.@",
    "KX": "1 www.@", "LOC": "52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m", "NAPTR":
    '1 1 "s" "SIP+D2U" "" _sip._tcp.@', "CERT": "PGP 0 0 AQIDBA==", "SSHFP": "1 1 " + "12" * 20,
    "TLSA": "3 0 1 " + "ab" * 32, "SMIMEA": "3 0 1 " + "cd" * 32, "OPENPGPKEY": "AQIDBAUG",
    "CAA": '0 issue "ca.example.net"', "URI": '10 1 "https://www.example.com/"', "EUI48":
    "00-00-5e-00-53-2a", "EUI64": "00-00-5e-ef-10-00-00-2a",
    "L32": "1 10.1.2.0", "LP": "1 l64.@", "SPF": '"v=spf1 -all"',
    "DHCID": "AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=",
    "APL": "1:192.168.32.0/21 !1:192.168.38.0/28",
    "SRV": "0 0 80 www.@", "HTTPS": "1 . alpn=h2,h3 ipv4hint=192.0.2.1",
    "SVCB": "1 svc.@ port=8443",
    "CDS": "1 13 2 " + "77" * 32, "CDNSKEY": "257 3 13 " + "A" * 86 + "==",
    "CSYNC": "66 3 A NS AAAA",
    "IPSECKEY": "\\# 12 0a0102c00002260103515379",
    "TYPE65280": "\\# 4 0a000001", "TYPE65534": "\\# 0", "TYPE300": "\\# 3 616263",
    "TYPE1": "\\# 4 c0000263", "MINFO": "a.@ b.@", "MX": "0 .",
}
# Those that knotd knows by number only, names in them included.
NUMBERS = {
    "TYPE7": "{www}", "TYPE19": "0c333131303631373030393536", "TYPE20": "0331353003303034",
    "TYPE22": "47000580005a0000000001e133ffffff00016200", "TYPE26": "0001{www}{www}",
    "TYPE104": "000100144fffff20ee64", "TYPE106": "000120010db811401000",
}


def all_types(z, _others):
    for rtype, rdata in TYPES.items():
        z.add("all" if rtype not in ("TYPE1", "MX") else f"{rtype.lower()}.t", rtype,
              rdata.replace("@", z.origin))
    if not z.signing:
        www = "".join(f"{len(w):02x}{w.encode().hex()}" for w in f"www.{z.origin}".split("."))
        for rtype, rdata in NUMBERS.items():
            rdata = rdata.format(www=www)
            z.add("numbers", rtype, f"\\# {len(rdata) // 2} {rdata}")
    for rtype in z.rng.sample(sorted(TYPES), 12):
        z.add(f"{rtype.lower()}.t", rtype, TYPES[rtype].replace("@", z.origin))
    z.add("https", "HTTPS", f"0 www.{z.origin}")
    z.add("https2", "HTTPS", f"1 www.{z.origin} alpn=h2")
    z.add("svcb", "SVCB", f"1 in.{z.origin} port=53")


FEATURES = (delegations, delegations_odd, wildcards, wildcard_apex, wildcard_aliases, wildcard_odd,
            empty_nonterminals, chains, long_chain, dnames, large, huge, odd_labels, all_types)


def origins(n):
    """Plain ones, long ones, families (a zone and its child, both held), and one of one label."""
    found = []
    for i in range(n):
        if i % 16 == 9:
            found.append(f"kid.{found[-1]}")  # the parent, held too, delegates it
        elif i % 16 == 12:
            found.append(f"a.b.c.d{i}.example.")
        elif i % 32 == 5:
            found.append("o" * 63 + f".x{i}.test.")
        elif i == 7:
            found.append("onelabel.")
        else:
            found.append(f"z{i}.test.")
    return found


def apex_dname(z, others):
    """A DNAME at the apex, and so nothing below it."""
    z.records = [r for r in z.records if r[0] == z.origin and r[2] == "SOA"]
    z.add("@", "NS", f"ns1.{others[0].origin}")
    z.add("@", "MX", f"1 mail.{others[0].origin}")
    z.alias("@", others[1].origin, "DNAME")


def make_zones(n=N_ZONES):
    """The zones 0 to n - 1; always the same."""
    names = origins(n)
    zones = [Zone(i, name, SIGNINGS[i % 4]) for i, name in enumerate(names)]
    for i, z in enumerate(zones):
        others = (zones[(i + 1) % n], zones[(i + 37) % n])
        if i % 32 == 19:
            apex_dname(z, others)
            continue
        hosts(z, others)
        chosen = {FEATURES[i % len(FEATURES)], FEATURES[(i // 3) % len(FEATURES)]}
        chosen.update(z.rng.sample(FEATURES, 2))
        if huge in chosen and i % 3:
            chosen.remove(huge)
        if wildcard_odd in chosen and z.signing:
            chosen.discard(odd_labels)  # no signer takes both
        for feature in FEATURES:  # in this order: a set has none
            if feature in chosen:
                feature(z, others)
        if i + 1 < n and names[i + 1].startswith("kid."):
            z.add("kid", "NS", f"ns1.kid.{z.origin}")
            z.add("ns1.kid", "A", "192.0.2.1")
            z.add("kid", "DS", f"7 13 2 {'7a' * 32}")
    return zones
