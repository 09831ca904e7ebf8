# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers that are too large for UDP or for one message of 64 KiB, and RRsets that fit no
message."""
import re

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import pytest

from netlab import V4, V6, Answered, texts, write_zone, zone

N_FITS, N_HALF, N_NEVER = 240, 160, 280  # strings of 240 octets: 60, 40, 70 KiB of records


def strings(name, kind, n):
    return "".join(f'{name} IN {kind} "{i:0240}"\n' for i in range(n))


FITS = strings("fits", "TXT", N_FITS) + strings("both", "TXT", N_HALF) + \
    strings("both", "SPF", N_HALF)


@pytest.fixture
def served(daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone", more=FITS)
    daemon.start(server={"any": "full"}, zones=[zone("z.test", path)])
    return path


def engine(daemon):
    return daemon.stats()["engine"]


def shows(daemon, label, number):
    """Does `volleyctl stats` say so, to people?"""
    return re.search(rf"^\s*{label}: +{number}$", daemon.ctl("stats").stdout, re.MULTILINE)


def query_for(name, kind, **options):
    return dns.message.make_query(f"{name}.z.test", kind, **options)


def test_too_large_for_udp_is_truncated_and_whole_over_tcp(lab, daemon, served):
    for size in (None, 512, 4096):
        query = query_for("fits", "TXT", use_edns=0 if size else False, payload=size or 0)
        answer = lab.udp(query)
        assert answer.flags & dns.flags.TC and answer.rcode() == dns.rcode.NOERROR
        assert not answer.answer and not answer.authority
    stats = daemon.stats()
    assert stats["engine"]["truncated"] == 1, "the worker gave the first one"
    assert stats["driver"]["reasons"]["hit-truncated"] == 2, "the driver the others"
    with Answered(daemon) as one:
        assert len(texts(lab.tcp(query_for("fits", "TXT")))) == N_FITS
    assert one.by == {"tcp": 1}
    assert engine(daemon)["truncated"] == 1
    assert shows(daemon, "truncated", 1)


@pytest.mark.parametrize("where", (V4, V6))
def test_queries_of_any_length_are_answered(lab, daemon, served, where):
    """
    Padded (RFC 7830) up to all that UDP can carry, in as many fragments as it takes: as by knotd,
    nsd and named.
    """
    longest = 65507 if where == V4 else 65527
    sizes = (1400, 4096, 4097, 9000, longest)
    with Answered(daemon) as all_of_them:
        for size in sizes:
            query = query_for("www", "A", use_edns=0, payload=1232)
            padding = size - len(query.to_wire()) - 4
            query.use_edns(0, payload=1232, options=[dns.edns.GenericOption(12, bytes(padding))])
            wire = query.to_wire(max_size=65535)
            assert len(wire) == size
            assert texts(dns.message.from_wire(lab.udp_wire(wire, where))) == ["192.0.2.10"]
    assert all_of_them.by == {"worker": 1, "kernel_socket": len(sizes) - 1}


def test_too_large_for_a_message_is_truncated_and_servfail_over_tcp(lab, daemon, served):
    """Each RRset has room, both together have not: RFC 1035 section 4.2.2 has no longer message."""
    for kind in ("TXT", "SPF"):
        assert len(texts(lab.tcp(query_for("both", kind)))) == N_HALF
    before = engine(daemon)
    query = query_for("both", "ANY", use_edns=0, payload=1232)
    with Answered(daemon) as four:
        for ask in (lab.udp, lab.udp):
            answer = ask(query)
            assert answer.rcode() == dns.rcode.NOERROR and answer.flags & dns.flags.TC
            assert not answer.answer and not answer.authority and not answer.options
        for ask in (lab.tcp, lab.tcp):
            answer = ask(query)
            assert answer.rcode() == dns.rcode.SERVFAIL and not answer.flags & dns.flags.TC
            assert not answer.answer and not answer.authority
            assert [option.otype for option in answer.options] == [dns.edns.OptionType.EDE]
    assert four.by == {"worker": 2, "tcp": 2}, "never cached"
    after = engine(daemon)
    changed = {key: after[key] - before[key] for key in after if after[key] != before[key]}
    assert (changed ==
            {"queries": 4, "noerror": 2, "truncated": 2, "servfail": 2, "too_large": 4,
             "cache_miss": 4})
    assert shows(daemon, "too large", 4)


def test_rrset_that_fits_no_message(lab, daemon, served):
    """
    RFC 2181 section 9: knotd and nsd load it, too. The zone beside it is served, and all of it is
    transferred.
    """
    write_zone(served, serial=2, more=FITS + strings("never", "TXT", N_NEVER))
    for command in (("zone", "check", "z.test", str(served)), ("zone", "reload", "z.test")):
        daemon.ctl(*command)
    answer = lab.udp(query_for("never", "TXT"))
    assert answer.flags & dns.flags.TC and answer.flags & dns.flags.AA
    assert answer.rcode() == dns.rcode.NOERROR
    assert lab.tcp(query_for("never", "TXT")).rcode() == dns.rcode.SERVFAIL
    assert lab.ask("never.z.test", "A").rcode() == dns.rcode.NOERROR
    assert len(texts(lab.tcp(query_for("fits", "TXT")))) == N_FITS


def test_more_records_than_a_message_counts_are_refused(daemon, served):
    write_zone(served, serial=2,
               more="$GENERATE 0-65535 many A 10.1.2.3\n" + "$GENERATE 1-65535 many TXT $\n")
    daemon.ctl("zone", "check", "z.test", str(served))
    served.write_text(served.read_text() + "many TXT x\n")
    refused = daemon.ctl("zone", "check", "z.test", str(served), check=False)
    assert refused.returncode == 1
    assert "the RRset has more than 65535 records" in refused.stdout + refused.stderr
