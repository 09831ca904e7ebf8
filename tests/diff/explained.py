# SPDX-License-Identifier: GPL-2.0-only
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


# No comparison meets it: there, zones do not change.
OLDER_SOA = """
## After a reload

RFC 2308 section 5. A negative answer that a reload did not change stays in the cache with the SOA
record that it has, whose serial number may then be smaller than the zone's. It stays only if nothing
else of that record changed, and its signature outlives the proofs beside it. Answers to a question
for the SOA record have the zone's. Decision 0010 says more.
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
    return text + OLDER_SOA


if __name__ == "__main__":
    print(page(), end="")
