# SPDX-License-Identifier: GPL-2.0-only
"""Where Volley differs from peers that all agree, and why. docs/differences.md is made from this:

    python3 tests/diff/explained.py >docs/differences.md
"""
import collections

REFUSED, NOTAUTH = 5, 9
IXFR, AXFR = 251, 252

Rule = collections.namedtuple("Rule", "name source sentence matches")


def qtype_of(query):
    """The type asked for; None where there is no whole question."""
    wire, at = query.wire, 12
    while at < len(wire) and wire[at]:
        at += wire[at] + 1
    return int.from_bytes(wire[at + 1:at + 3], "big") if at + 5 <= len(wire) else None


def is_type(query, *types):
    return qtype_of(query) in types


def cd_copied(query, part, ours, theirs):
    return part == "bits" and query.wire[3] & 0x10 and ours["bits"] == theirs["bits"] | 0x10


def no_transfers(query, part, ours, theirs):
    return part == "rcode" and is_type(query, AXFR, IXFR) and ours["rcode"] == REFUSED and \
        theirs["rcode"] == NOTAUTH


RULES = [
    Rule("cd-copied", "RFC 4035 section 3.1.6",
         "A name server must copy the CD bit of a query into its response: Volley does so always, and "
         "so does named, but where it refuses; knotd and nsd never do.", cd_copied),
    Rule("no-transfers", "RFC 5936 section 2.2.1",
         "Asked to transfer a zone that they do not have, the peers say NOTAUTH. Volley transfers no "
         "zone to anybody yet, and says REFUSED to each such query without looking for the zone.",
         no_transfers),
]


def explain(query, part, ours, theirs):
    """The name of the rule that explains why OURS is not what THEIRS are in this PART; or None."""
    for rule in RULES:
        if rule.matches(query, part, ours, next(iter(theirs.values()))):
            return rule.name
    return None
