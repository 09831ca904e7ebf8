# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The format of the scenarios in scenarios/, read and run.

A file has groups, each a YAML document:

    group       its name
    about       what it is about, in a sentence
    servers     letters for addresses of its own: $a, $b ... stand for them everywhere in the group
    forwarders  those of them that answer for all zones, as resolvers do
    volley      keys below recursion
    unbound     the same for unbound.conf; lines before the first clause are of its server clause
    anchors     zones with a trust anchor; default: the root alone. []: nothing is validated
    files       {name: text} in the folder $dir
    scenarios   list of:

    name, about
    zones       {origin: {at: "$a $b", has: list of records, sign: see authorities.Zone, delegated: no, raw: {question: reply}}}
    steps       list of one pair each, in this order:

    ask NAME TYPE [WORD...]: VERDICT      WORD: do, cd, ad, no-rd, tcp, no-edns
    becomes NAME TYPE [WORD...]: VERDICT  the same, soon: what is fetched behind an answer takes a moment
    pass: SECONDS                         so much time passes, for both
    walk: SECONDS                         the same, second by second: what is still asked upstream goes on meanwhile
    server ADDRESS: MODE                  of authorities.MODES, until the end of the scenario
    change ZONE: [RECORD...]              these are the zone's records now
    asked [ADDRESS] NAME TYPE: N          so often was this asked upstream since the last such step; "N+": so often or more

A verdict is RCODE [ad] [tc] [aa] [ede=N] [ttl=N] [soa] [extra] followed by "; TYPE DATA" for each
record of the answer. extra: there is more than the answer was asked for. Where ede is not written,
it is not compared; ttl=N allows for five seconds that have passed meanwhile. A step whose answers
differ has {volley: VERDICT, unbound: VERDICT, because: the name of a rule in explained.py}.
"""
import collections
import pathlib
import re
import string

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import yaml

FOLDER = pathlib.Path(__file__).parent / "scenarios"
DEFAULTS = {"servers": "", "forwarders": "", "volley": {}, "unbound": "", "anchors": ["."],
            "files": {}}
SLOW_S = 5
PROOFS = [dns.rdatatype.from_text(one) for one in ("NSEC", "NSEC3", "RRSIG")]

Group = collections.namedtuple("Group",
                               "name servers forwarders volley unbound anchors files scenarios")


def read_groups():
    """All groups, each with addresses of its own."""
    groups = []
    for path in sorted(FOLDER.glob("*.yaml")):
        for raw in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            net = len(groups) + 1
            names = dict({**DEFAULTS, **raw}["servers"] and
                         {word: f"10.53.{net}.{n}"
                          for n, word in enumerate(raw["servers"].split(), 1)})
            filled = fill({**DEFAULTS, **raw}, names)
            groups.append(Group(raw["group"], names, *(filled[key] for key in Group._fields[2:])))
    return groups


def fill(value, names):
    """With addresses for letters; $dir stays."""
    if isinstance(value, dict):
        return {fill(key, names): fill(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [fill(one, names) for one in value]
    return string.Template(value).safe_substitute(names) if isinstance(value, str) else value


# --- Questions and verdicts -----------------------------------------------------------------------


def query_of(name, kind, *words):
    made = dns.message.make_query(name, kind)
    made.flags = dns.flags.Flag(0) if "no-rd" in words else dns.flags.RD
    made.flags |= (dns.flags.CD if "cd" in words else 0) | (dns.flags.AD if "ad" in words else 0)
    assert set(words) <= {"do", "cd", "ad", "no-rd", "tcp", "no-edns"}, words
    if "no-edns" not in words:
        made.use_edns(0, dns.flags.DO if "do" in words else 0, 1232)
    return made


class Verdict:
    """As it is written."""

    def __init__(self, text):
        head, *records = [part.strip() for part in str(text).split(";")]
        self.text, (self.rcode, *words) = text, head.split()
        self.records = sorted(normal(one) for one in records)
        self.flags = {word for word in words if "=" not in word}
        self.numbers = dict(word.split("=") for word in words if "=" in word)
        assert self.flags <= {"ad", "tc", "soa", "aa",
                              "extra"} and set(self.numbers) <= {"ede", "ttl"}, text

    def fault_of(self, reply):
        """What of a reply is not so, or None."""
        if reply is None:
            return None if self.rcode == "NOTHING" else "no reply"
        said = dns.rcode.to_text(reply.rcode())
        found = {word
                 for word, flag in (("ad", dns.flags.AD), ("tc", dns.flags.TC),
                                    ("aa", dns.flags.AA)) if reply.flags & flag}
        if any(rrset.rdtype == dns.rdatatype.SOA for rrset in reply.authority):
            found.add("soa")
        elif reply.additional or any(rrset.rdtype not in PROOFS for rrset in reply.authority):
            found.add("extra")
        if (said, records_of(reply), found) != (self.rcode, self.records, self.flags):
            return f"{said} {' '.join(sorted(found))} {records_of(reply)}"
        return self.fault_of_numbers(reply)

    def fault_of_numbers(self, reply):
        codes = [str(int(one.code)) for one in reply.options
                 if one.otype == dns.edns.OptionType.EDE]
        if "ede" in self.numbers and self.numbers["ede"] not in (codes or ["none"]):
            return f"extended errors {codes}"
        lives = [rrset.ttl for rrset in reply.answer + reply.authority]
        want = int(self.numbers.get("ttl", -1))
        if want >= 0 and not (lives and want - SLOW_S <= min(lives) <= want):
            return f"TTLs {lives}"
        return None


def normal(record):
    """A name of an answer in small letters."""
    return re.sub(r"\s+", " ", record).lower()


def records_of(reply):
    return sorted(normal(f"{dns.rdatatype.to_text(rrset.rdtype)} {data}") for rrset in reply.answer
                  for data in rrset
                  if rrset.rdtype != dns.rdatatype.RRSIG)
