# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A mix of queries like that of resolvers: the driver answers at least 95 % once it is warm.

tests/perf/querymix.py defines the mix, tests/perf/hitshare.py asks it. A daemon is warm after the
same list (without its new names), or after so many queries that a new list has few new names. A
tenth of the queries get NXDOMAIN, a quarter of these for new names. Those cannot be hits, so no
cache could exceed 97.5 %.
"""
import collections
import sys

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import pytest

from netlab import ROOT, V4

sys.path.insert(0, str(ROOT / "tests" / "perf"))

import hitshare  # noqa: E402
import querymix  # noqa: E402
import signing  # noqa: E402

SHARE_WARM = 0.95
WARM = ("again", "fresh")
SLACK = 0.01  # of a list: the same question once more while the worker is at it

pytestmark = pytest.mark.skipif(not all(map(signing.which, signing.TOOLS)),
                                reason="no tools to sign zones here")


@pytest.fixture
def asked(lab, daemon, tmp_path):
    share = hitshare.HitShare(lab, daemon, tmp_path)
    share.start()
    return share


@pytest.mark.alone
def test_warm_driver_answers_95_percent(asked):
    unanswered = 0
    for run in asked.runs():
        print(hitshare.row(run))
        n = len(run.queries)
        assert run.n_hits <= run.could, "what was asked is the list, DO and all"
        if run.name == "sockets":
            assert set(run.up()) <= {"up-miss", "up-no-room"}, run.reasons
            continue
        assert set(run.up()) == {"up-miss"}, run.reasons
        lost = n - run.replies["replies"]
        assert run.replies["sent"] == n and lost < n / 5, "the lab keeps up"
        unanswered += lost
        # All that can be a hit is one: what was asked before, but for what went lost on the way.
        assert run.n_hits >= run.could - unanswered - SLACK * n, run.reasons
        if run.name in WARM:
            assert run.share >= SHARE_WARM, run.reasons
            assert run.reasons["hit-truncated"] > 0.01 * n
            check_replies(run)


def check_replies(run):
    rcodes, answered = run.replies["rcodes"], run.replies["replies"]
    assert sum(rcodes) == rcodes[0] + rcodes[3] == answered
    assert 0.08 < rcodes[3] / answered < 0.12
    assert run.replies["truncated"] > 0.01 * answered


# --- The mix is what it says ----------------------------------------------------------------------


def test_shares_of_the_mix():
    queries = querymix.Mix(7).list(20000)

    def share(condition):
        return sum(map(condition, queries)) / len(queries)
    assert 0.68 < share(lambda q: q.qtype == "A") < 0.72
    assert 0.13 < share(lambda q: q.qtype == "AAAA") < 0.17
    assert 0.18 < share(lambda q: q.do) < 0.22
    assert 0.09 < share(lambda q: q.kind in ("nxdomain", "new")) < 0.11
    assert 0.02 < share(lambda q: q.kind == "new") < 0.03
    assert share(lambda q: q.size in (1232, 4096)) > 0.7
    for size in (None, 512):
        assert 0.05 < share(lambda q, size=size: q.size == size) < 0.15
    for origin in querymix.ZONES:
        assert share(lambda q, origin=origin: q.zone == origin) > 0.25
    for kind in set(querymix.KINDS) - {"host"} | {"ds", "apex"}:
        assert share(lambda q, kind=kind: q.kind == kind) > 0.01
    new = collections.Counter(q.name for q in queries if q.kind == "new")
    assert max(new.values()) == 1
    again = querymix.Mix(7).again([q for q in queries if q.kind == "new"])
    assert {q.kind for q in again} == {"new"}


def is_referral(answer):
    return not answer.answer and not answer.flags & dns.flags.AA and \
        answer.authority[0].rdtype == dns.rdatatype.NS


def check_kind(q, answer):
    """An answer of the kind that the query was drawn as."""
    tc = bool(answer.flags & dns.flags.TC)
    signatures = [rrset for part in answer.sections[1:] for rrset in part
                  if rrset.rdtype == dns.rdatatype.RRSIG]
    # An insecure delegation in an opt-out zone has its NSEC3 signed, a plain zone nothing.
    assert bool(signatures) == (q.do and q.zone != "plain.mix.test." and not tc)
    assert answer.rcode() == (3 if q.kind in ("nxdomain", "new") else 0)
    if q.kind in querymix.CUTS:
        assert is_referral(answer)
    if q.kind == "large" and q.qtype == "A":
        assert tc
    if q.kind == "medium" and q.qtype == "A":
        assert tc == (q.size in (None, 512)) and tc == (not answer.answer)
    if q.kind == "wildcard" and q.qtype == "A" or q.kind in ("alias", "apex"):
        assert tc or answer.answer or q.qtype not in ("A", "SOA", "NS")


def test_kinds_are_what_they_say(asked):
    """One of each kind, in each zone, with and without DO."""
    samples = {(q.kind, q.zone, q.do, q.size): q for q in querymix.Mix(3).list(20000)
               if q.qtype == "A" or q.kind in ("apex", "ds")}
    assert len(samples) > 12 * 3 * 5
    for number, q in enumerate(samples.values()):
        answer = dns.message.from_wire(asked.lab.udp_wire(hitshare.wire(q, number), V4))
        try:
            check_kind(q, answer)
        except AssertionError as err:
            raise AssertionError(f"{q.line()} ({q.kind})\n{answer}") from err
