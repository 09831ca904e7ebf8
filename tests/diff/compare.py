# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Volley's reply against those of its peers, part by part.

What is policy is left out: the NS RRset beside a positive answer, optional additional records, the
size said in OPT, and, where a message is truncated, what is left of it. What of it Volley does send
must be right all the same: see faults().
"""
import collections
import itertools

from answers import (A, AA, AAAA, NS, RRSIG, TC, Answer, Malformed, name_text, rr_text)
from querygen import message, opt

PARTS = ("reply", "rcode", "aa", "tc", "bits", "question", "opt", "answer", "authority", "glue")
HEADER = 12


def covered(rr):
    """The type that an RRSIG covers."""
    return int.from_bytes(rr[4][:2], "big")


def record(rr):
    """Without its TTL."""
    return rr[:3] + rr[4:]


def is_of(rr, rtype):
    return rr[1] == rtype or rr[1] == RRSIG and covered(rr) == rtype


def authority(a, apexes):
    """Without the NS RRset of a zone that is served, which may stand beside an answer."""
    if a.answer:
        return tuple(rr for rr in a.authority if not (is_of(rr, NS) and rr[0] in apexes))
    return a.authority


def is_below(name, zone):
    """Whether NAME is ZONE or below it; both in lower case wire form."""
    while len(name) > len(zone):
        name = name[name[0] + 1:]
    return name == zone


def glue(a, apexes):
    """Addresses of a referral's name servers that lie below the cut: RFC 9471."""
    cuts = {rr[0] for rr in a.authority if rr[1] == NS}
    if len(cuts) != 1 or cuts <= apexes:
        return ()
    cut = cuts.pop()
    servers = {rr[4] for rr in a.authority if rr[1] == NS}
    return tuple(rr for rr in a.additional
                 if rr[1] in (A, AAAA) and rr[0] in servers and is_below(rr[0], cut))


def parts(wire, apexes=frozenset()):
    """({part: value}, Answer), without the parts that say nothing; None when there is no answer."""
    if wire is None:
        return {"reply": "none"}, None
    try:
        a = Answer(wire)
    except Malformed as error:
        return {"reply": f"malformed: {error}"}, None
    found = {"reply": "sent", "rcode": a.rcode, "aa": a.flags & AA, "tc": a.flags & TC,
             "size": len(wire), "bits": a.flags & ~(AA | TC), "question": a.question,
             "opt": a.opt and (a.opt[1] & 0xffffff)}
    if not a.flags & TC:
        found.update(answer=a.answer, authority=authority(a, apexes), glue=glue(a, apexes))
    return found, a


def peers_agree(part, theirs):
    """(whether all peers say the same, what the first says)."""
    values = [t.get(part) for t in theirs.values()]
    return all(v == values[0] for v in values), values[0]


def faults(query, ours):
    """What is wrong with Volley's reply whatever the peers say."""
    n = len(ours.wire)
    if not query.tcp and n > query.limit:
        yield f"{n} octets where {query.limit} are allowed"
    if ours.question and ours.question != query.wire[HEADER:HEADER + len(ours.question)]:
        yield "the question is not sent back as it came"
    for section in ours.sections:
        if len(set(section)) != len(section):
            yield "a record twice in a section"


def asked_for(rr):
    """The query for a record, with DO."""
    owner, rtype, _, rdata = rr
    if rtype == RRSIG:
        rtype = int.from_bytes(rdata[:2], "big")
    return message(owner, rtype, counts=(1, 0, 0, 1), tail=opt(1232, True))


def text(value):
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return "[" + "; ".join(rr_text(rr) for rr in value[:8]) + \
            (f"; and {len(value) - 8} more]" if len(value) > 8 else "]")
    return hex(value) if isinstance(value, int) else str(value)


def query_text(query):
    wire = query.wire
    try:
        end = HEADER
        while wire[end]:
            end += wire[end] + 1
        name = name_text(wire[HEADER:end + 1])
        qtype = int.from_bytes(wire[end + 1:end + 3], "big")
        edns = " EDNS" if wire[10:12] == b"\0\1" else ""
        do = " DO" if edns and wire[end + 5 + 7:end + 5 + 8] == b"\x80" else ""
        what = f"{name} TYPE{qtype} flags {wire[2:4].hex()}{edns}{do}"
    except IndexError:
        what = "?"
    return f"{what} {'TCP' if query.tcp else f'UDP {query.limit}'} {query.broken} " \
           f"[{query.zone.signing or 'plain'} {query.zone.number}]" + \
           (f" {wire.hex()}" if query.broken else "")


class Tally:
    """What the comparison found. APEXES: the names of all zones served, in lower case wire form."""

    def __init__(self, explain, apexes):
        self.explain, self.apexes = explain, frozenset(apexes)
        self.n_queries = self.n_agreed = self.n_peers_disagree = 0
        self.explained = collections.Counter()
        self.disagreements = collections.Counter()
        self.examples = {}
        self.unexplained = []
        self.truncated = []  # queries that rule "ns-beside" explains
        self.doubtful = {}  # optional records that no peer sent with the same answer: {rr: query}

    def fail(self, query, part, ours, theirs):
        self.unexplained.append(f"{query_text(query)}: {part}: {text(ours)}, "
                                f"but all peers: {text(theirs)}")

    def disagree(self, query, part, ours, theirs):
        """Counts who says what, in groups, Volley's first."""
        groups = {}
        for kind, value in [("volleyd", ours), *((k, t.get(part)) for k, t in theirs.items())]:
            groups.setdefault(value, []).append(kind)
        where = query.broken or query.zone.signing or "plain"
        group = where, part, " | ".join("=".join(g) for g in groups.values())
        self.disagreements[group] += 1
        self.examples.setdefault(group, query)

    def doubt(self, query, ours, theirs):
        left = {record(rr) for rr in ours.additional}
        left.update(record(rr) for rr in ours.authority if is_of(rr, NS))
        for a in theirs:
            left.difference_update(map(record, itertools.chain(*a.sections)))
        for rr in left:
            self.doubtful.setdefault(rr, query)

    def check_doubtful(self, ask):
        """Asks the peers for each optional record that none of them sent. ASK: Asker.ask_tcp."""
        doubtful = list(self.doubtful)
        for at in range(0, len(doubtful), 100):
            batch = doubtful[at:at + 100]
            for rr, replies in zip(batch, ask([asked_for(rr) for rr in batch])):
                replies.pop("volleyd")
                answers = [a for _, a in map(parts, replies.values()) if a]
                if not any(rr == record(other) for a in answers for section in a.sections
                           for other in section):
                    what = rr_text((*rr[:3], "?", rr[3]))
                    self.unexplained.append(f"{query_text(self.doubtful[rr])}: optional record, "
                                            f"which no peer knows: {what}")

    def check_truncated(self, ask):
        """Over TCP, these answers must have the NS RRset that made them too large."""
        truncated = self.truncated
        for at in range(0, len(truncated), 100):
            batch = truncated[at:at + 100]
            for query, replies in zip(batch, ask([q.wire for q in batch])):
                _, a = parts(replies["volleyd"])
                if not a or not any(rr[1] == NS and rr[0] in self.apexes for rr in a.authority):
                    self.unexplained.append(f"{query_text(query)}: tc: 0x200, though it has no NS "
                                            "RRset beside the answer")

    def add(self, query, replies):
        """REPLIES: {server: octets or None}."""
        self.n_queries += 1
        ours, our_answer = parts(replies["volleyd"], self.apexes)
        both = {k: parts(w, self.apexes) for k, w in replies.items()
                if k != "volleyd" and k not in query.zone.lacks}
        theirs = {k: p for k, (p, _) in both.items()}
        differ, split = False, False
        # Two peers only may agree on a part by chance: then they must on all. And an rcode may be
        # the same for different answers.
        sure = not query.zone.lacks or all(peers_agree(part, theirs)[0] for part in PARTS)
        same_answer = peers_agree("answer", theirs)[0]
        for part in PARTS:
            agree, value = peers_agree(part, theirs)
            if not agree:
                self.disagree(query, part, ours.get(part), theirs)
                split = True
                if part in ("reply", "rcode", "tc"):
                    break  # what follows differs with it
            elif ours.get(part) != value and sure and (same_answer or part != "rcode"):
                differ = True
                rule = self.explain(query, part, ours, theirs)
                if rule:
                    self.explained[rule] += 1
                    if rule == "ns-beside":
                        self.truncated.append(query)
                else:
                    self.fail(query, part, ours.get(part), value)
                break
        if our_answer:
            self.unexplained += [f"{query_text(query)}: {fault}"
                                 for fault in faults(query, our_answer)]
            self.doubt(query, our_answer, [a for _, a in both.values() if a])
        self.n_agreed += not differ and not split
        self.n_peers_disagree += split and not differ

    def summary(self):
        return (f"diff: {self.n_queries} queries, {self.n_agreed} agreements, "
                f"{self.n_peers_disagree} where the peers disagree, "
                f"{sum(self.explained.values())} explained, {len(self.unexplained)} unexplained")

    def table(self):
        """In which ways the peers disagree, the most frequent first, and who Volley sides with."""
        return "\n".join(f"{count:7} {': '.join(group)}; "
                         f"as {query_text(self.examples[group])[:160]}"
                         for group, count in self.disagreements.most_common())
