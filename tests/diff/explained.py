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
    return (part == "tc" and ours["tc"] and not theirs["tc"] and not query.tcp
            and 512 < query.limit < 1232)


def fits_better(query, part, ours, theirs):
    return part == "tc" and theirs["tc"] and not ours["tc"] and \
        query.limit - 64 <= ours["size"] <= query.limit


RULES = [
    Rule("cd-copied", "RFC 4035 section 3.1.6",
         "A name server must copy the CD bit of a query into its response. Volley always copies "
         "it. "
         "named copies it except into REFUSED. knotd and nsd never do.", cd_copied),
    Rule("any-in-full", "RFC 8482 section 4.1",
         "For ANY, knotd and nsd send one RRset, and named sends all of them. Volley's "
         "configuration "
         "decides: by default one RRset (any: minimal), in this comparison all (any: full).",
         any_in_full),
    Rule("ns-beside", "RFC 2181 section 9",
         "Volley makes an answer once for all clients. It adds the NS RRset if the whole then fits "
         "512 "
         "octets with an OPT record or, if the answer alone does not fit 512, 1232 octets. A "
         "client that offers "
         "more than 512 and less than 1232 octets by EDNS may then get TC, where the peers leave "
         "out the NS "
         "RRset. This client gets the whole answer over TCP. From 1204 octets on there is room, "
         "and few "
         "resolvers offer less.",
         ns_beside),
    Rule("fits-better", "RFC 2181 section 9",
         "TC says that an answer does not fit. Volley compresses names a little better than the "
         "peers, "
         "so some of its answers just fit, and theirs do not.", fits_better),
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
                 "If a question has no RD and its answer is not in the cache, Volley answers "
                 "REFUSED. unbound, with allow_snoop, "
                 "gives the closest delegation in its cache. Volley's answer cache holds only "
                 "answers."),
    ResolverRule("stale-without-rd", "RFC 8767 section 5",
                 "If upstream is silent, Volley gives a stale answer to a question without RD, "
                 "too. unbound, with allow_snoop, gives the closest delegation in its cache."),
    ResolverRule("no-answer-is-explained", "RFC 8914 section 4.23",
                 "If no server gives a usable answer, Volley adds the extended error 22; unbound "
                 "1.17 adds none."),
    ResolverRule("stale-without-ad", "RFC 4035 section 3.2.3, RFC 8767 section 10",
                 "A stale answer of Volley never has the AD bit: its signatures may have expired "
                 "since they were validated. unbound "
                 "leaves the bit as it was."),
    ResolverRule("stale-nxdomain", "RFC 8914 section 4.20",
                 "A stale NXDOMAIN has an extended error of its own, 19. Volley gives it; unbound "
                 "1.17 gives 3 with all stale "
                 "answers."),
    ResolverRule("local-data-is-no-zone", "RFC 1035 section 4.1.1",
                 "Volley answers with records of local-data without AA, since it is no authority "
                 "for names of others; unbound "
                 "sets AA. Both set AA for special names, as RFC 6303 says."),
    ResolverRule("policies-as-upstream", "RFC 2308 section 3, draft-vixie-dnsop-dns-rpz-00",
                 "If a policy zone denies a name, Volley's answer has the SOA record of that zone, "
                 "so that clients may cache it, "
                 "and no AA. unbound 1.17 sets AA and gives no SOA record."),
    ResolverRule("loops-fail", "RFC 1034 section 3.6.2",
                 "If a DNAME record leads to itself or to a name below itself, Volley as a resolver "
                 "answers SERVFAIL, as both do for CNAME records that form a loop. unbound gives "
                 "the records that it has found."),
    ResolverRule("the-alias-exists", "RFC 6604 section 3",
                 "If the CNAME record that a DNAME record makes was asked for, and its target does "
                 "not exist, Volley answers NOERROR, since the CNAME record exists. unbound looks "
                 "for the target all the same and gives its NXDOMAIN."),
    ResolverRule("mapped-is-ipv4", "RFC 4291 section 2.5.5.2",
                 "A prefix of IPv4 in private-address also applies to IPv4-mapped IPv6 addresses, "
                 "as in dnsmasq, since hosts send packets for them to the IPv4 address. In unbound "
                 "::ffff:0:0/96 has to be given as well. Other IPv6 addresses with an IPv4 address "
                 "in them (64:ff9b::/96, 2002::/16, ::/96) need prefixes of their own in both."),
    ResolverRule("gaps-need-a-sound-library", "RFC 8198",
                 "With libunbound before 1.26.2 Volley turns aggressive-nsec off, since a hostile "
                 "zone could use it for false records (docs/libraries.md), so each name in a gap "
                 "of NSEC records is asked for. unbound asks for the first one."),
    ResolverRule("below-an-alias", "RFC 8020 section 2",
                 "In a signed zone, an alias leads to a name that does not exist, and there are "
                 "names below the alias. While the "
                 "alias is in its cache, unbound 1.17 answers that these names do not exist. "
                 "Volley answers them."),
    ResolverRule("empty-zones-name-themselves", "RFC 6303 section 3",
                 "In the NS and SOA records of a special name, Volley gives this name itself as "
                 "the name server, as the RFC "
                 "does; unbound gives localhost."),
]

# No comparison meets it: there, zones do not change.
OLDER_SOA = """
## After a reload

RFC 2308 section 5. If a reload does not change a negative answer, this answer stays in the cache with
its SOA record, whose serial number may then be smaller than the zone's. It stays only if the rest of
that record is unchanged, and if the record's signature outlives the proofs beside it. Answers to a
question for the SOA record have the zone's serial number. Decision 0010 says more.
"""

# Compared by tests/net/test_import_pdns_many.py.
ALIASES_OF_POWERDNS = """
## Aliases, beside PowerDNS

RFC 1034 section 3.6.2. Zones that come from PowerDNS 4.7 get the same answers, with two exceptions. If
CNAME records form a loop, Volley answers with them, and the resolver finds the loop; PowerDNS answers
SERVFAIL. If a CNAME record is asked for, Volley answers with this record; PowerDNS also follows it to
the next CNAME record of its zones.
"""

# No comparison meets it: there, no server both has the zone and recurses for the client.
NO_RA = """
## RA in answers of zones

RFC 1035 section 4.1.1. Answers from a zone have RA clear, also to clients that may recurse. named sets
RA for these clients. In Volley one cached answer is for all clients, and the driver does not look at
the client for it. Answers from upstream have RA set. A stub resolver does not need RA in an answer.
"""

RESOLVERS = """
## As a resolver

tests/diff/test_scenarios.py asks Volley and unbound 1.17 of Debian 12 the same questions, with the same options, while
servers fail and time passes. Their answers are the same, except for the following differences. The test also compares
the contents of the caches and the reasons why questions failed.
"""


def page():
    """docs/differences.md."""
    text = """# Where Volley differs from its peers

`make test-diff` asks Volley, knotd 3.2, nsd 4.6 and named 9.18 the same questions. Where the three
peers agree, Volley agrees with them, except for the differences on this page. tests/diff/explained.py
makes the page and recognises each difference in the test, too: do not edit the page itself.
[primaries](primaries.md) compares them as secondaries of primaries that deviate.
[upstreams](upstreams.md) compares forwarders whose upstreams deviate.
"""
    for rule in RULES:
        lines = textwrap.fill(f"{rule.source}. {rule.sentence}", 100, break_on_hyphens=False)
        text += f"\n## {rule.name}\n\n{lines}\n"
    text += OLDER_SOA + ALIASES_OF_POWERDNS + NO_RA + RESOLVERS
    for rule in RESOLVER_RULES:
        lines = textwrap.fill(f"{rule.source}. {rule.sentence}", 100, break_on_hyphens=False)
        text += f"\n### {rule.name}\n\n{lines}\n"
    return text


if __name__ == "__main__":
    print(page(), end="")
