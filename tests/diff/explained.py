# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where Volley differs from peers that all agree, and why. docs/differences.md is made from this:

    python3 tests/diff/explained.py >docs/differences.md
"""
import collections
import textwrap

ANY = 255

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


def any_in_full(query, part, ours, theirs):
    if not is_type(query, ANY):
        return False
    return part == "tc" and ours["tc"] or \
        part == "answer" and set(theirs["answer"]) < set(ours["answer"])


def ns_beside(query, part, ours, theirs):
    """compare.Tally.check_truncated() asks over TCP whether that is the cause."""
    return part == "tc" and ours["tc"] and not theirs["tc"] and not query.tcp and 512 < query.limit < 1232


def fits_better(query, part, ours, theirs):
    return part == "tc" and theirs["tc"] and not ours["tc"] and \
        query.limit - 64 <= ours["size"] <= query.limit


RULES = [
    Rule("cd-copied", "RFC 4035 section 3.1.6",
         "A name server must copy the CD bit of a query into its response: Volley does so "
         "always, and so does named, but where it refuses; knotd and nsd never do.", cd_copied),
    Rule("any-in-full", "RFC 8482 section 4.1",
         "Asked for ANY, knotd and nsd send one RRset, named all. Volley does either: by default "
         "one RRset (any: minimal), in this comparison all of them (any: full).", any_in_full),
    Rule("ns-beside", "RFC 2181 section 9",
         "An answer is made once for all clients, and the NS RRset may stand beside it if that "
         "fits 512 octets with an OPT record or, where the answer alone does not fit 512, 1232. A client "
         "that offers more than 512 and less than 1232 by EDNS may then get TC where the peers leave the NS "
         "RRset out for it. It gets all over TCP. Few resolvers offer less than 1204, from which on there is room.",
         ns_beside),
    Rule("fits-better", "RFC 2181 section 9",
         "TC is for what does not fit. Volley compresses names a little better than the peers, "
         "so some answers just fit which theirs do not.", fits_better),
]


def explain(query, part, ours, theirs):
    """The name of the rule that explains why OURS is not what THEIRS are in this PART; or None."""
    for rule in RULES:
        if rule.matches(query, part, ours, next(iter(theirs.values()))):
            return rule.name
    return None


# Where Volley differs from unbound with the same options, by the scenarios of scenarios/.
ResolverRule = collections.namedtuple("ResolverRule", "name source sentence")
RESOLVER_RULES = [
    ResolverRule("no-referrals", "RFC 1034 section 4.3.1",
                 "A question without RD for what is not in the cache is REFUSED by Volley. unbound, with allow_snoop, gives the "
                 "closest delegation that it has in its cache. Volley's answer cache has answers alone."),
    ResolverRule("no-answer-is-explained", "RFC 8914 section 4.23",
                 "Where no server gives a usable answer, Volley says so by the extended error 22; unbound 1.17 gives none."),
    ResolverRule("stale-without-ad", "RFC 4035 section 3.2.3, RFC 8767 section 10",
                 "A stale answer of Volley never has the AD bit: its signatures may have ended since they were validated. unbound "
                 "leaves the bit as it was."),
    ResolverRule("stale-nxdomain", "RFC 8914 section 4.20",
                 "A stale NXDOMAIN has an extended error of its own, 19, which Volley gives; unbound 1.17 gives 3 to all stale "
                 "answers."),
    ResolverRule("local-data-is-no-zone", "RFC 1035 section 4.1.1",
                 "Records of local-data are answered without AA by Volley, which is no authority for names of others; with AA by "
                 "unbound. Special names have AA from both, as RFC 6303 says."),
    ResolverRule("policies-as-upstream", "RFC 2308 section 3, draft-vixie-dnsop-dns-rpz-00",
                 "What a policy zone denies has the SOA record of that zone in the answer of Volley, so that clients may keep it, "
                 "and no AA. unbound 1.17 sets AA and gives no SOA record."),
    ResolverRule("below-an-alias", "RFC 8020 section 2",
                 "In a signed zone, an alias leads to a name that does not exist, and there are names below the alias. As long as "
                 "the alias is in its memory, unbound 1.17 says of these, too, that they do not exist. Volley answers them."),
    ResolverRule("empty-zones-name-themselves", "RFC 6303 section 3",
                 "The name server in the NS and SOA records of a special name is this name itself for Volley, as the RFC has it, and "
                 "localhost for unbound."),
]

# No comparison meets it: there, zones do not change.
OLDER_SOA = """
## After a reload

RFC 2308 section 5. A negative answer that a reload did not change stays in the cache with the SOA
record that it has, whose serial number may then be smaller than the zone's. It stays only if nothing
else of that record changed, and its signature outlives the proofs beside it. Answers to a question
for the SOA record have the zone's. Decision 0010 says more.
"""

RESOLVERS = """
## As a resolver

tests/diff/test_scenarios.py asks Volley and unbound 1.17 of Debian 12 the same, with the same options, while servers fail and time
passes. Both answer alike, but for what follows. Of both, what is in a cache and why a question failed is compared as well.
"""


def page():
    """docs/differences.md."""
    text = """# Where Volley differs from its peers

`make test-diff` asks Volley, knotd 3.2, nsd 4.6 and named 9.18 the same questions. Where the three
peers agree, Volley agrees with them, but for what is on this page. It is made from
tests/diff/explained.py, which recognises each difference in the test too: do not edit it here.
"""
    for rule in RULES:
        lines = textwrap.fill(f"{rule.source}. {rule.sentence}", 100, break_on_hyphens=False)
        text += f"\n## {rule.name}\n\n{lines}\n"
    text += OLDER_SOA + RESOLVERS
    for rule in RESOLVER_RULES:
        lines = textwrap.fill(f"{rule.source}. {rule.sentence}", 100, break_on_hyphens=False)
        text += f"\n### {rule.name}\n\n{lines}\n"
    return text


if __name__ == "__main__":
    print(page(), end="")
