# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmarks' generator counts exactly the replies that came, and a run of `peers` is not mixed
with another."""
import bisect
import collections
import json
import os
import random
import re
import socket
import struct
import sys
import types

import dns.flags
import dns.message
import dns.rdatatype
import pytest

from netlab import (BIN, CLIENT4, CLIENT6, CLIENT_MAC, ROOT, SERVER_MAC, TOOLS, V4, V6, Answered,
                    checksum, family_of, write_zone, zone)

sys.path.insert(0, str(ROOT / "tests" / "perf"))

import randomnames  # noqa: E402
import report_peers  # noqa: E402
import report_random  # noqa: E402
import sidebyside  # noqa: E402
import sweep  # noqa: E402

XDPGEN = TOOLS.parent / "perf" / "xdpgen"
N_QUERIES = 250

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces and XDP need root")


def generate(lab, tmp_path, *words):
    """
    Two names that are served, asked by turns, and what xdpgen tells. They are fewer than the link
    holds: none is lost, however late those who take them run.
    """
    queries = tmp_path / "queries"
    queries.write_text(N_QUERIES // 2 * "www.example.com A\nexample.net SOA\n", encoding="ascii")
    made = json.loads(lab.exec("c", XDPGEN, "--once", *words, "c0", queries, 20, 500).stdout)
    assert made["sent"] == N_QUERIES
    return made


def test_each_reply_is_told_as_listed_or_new(lab, daemon, tmp_path):
    """The new names are not there, and each comes once: none is a hit. Those of the list are."""
    mine = write_zone(tmp_path / "bench.test.zone")
    daemon.start(zones=[zone("example.com"), zone("example.net"), zone("bench.test", mine)])
    generate(lab, tmp_path)
    with Answered(daemon) as all_of:
        made = generate(lab, tmp_path, "--fresh", 7, "--listed-every", 5)
    new = made["replies"] - made["listed_replies"]
    assert made["listed_sent"] == -(-made["sent"] // 5) > 20
    assert made["rcodes"][0] == made["listed_replies"] == all_of.by["driver"] > 0
    assert made["rcodes"][3] == new == all_of.by["worker"] > 0


@pytest.mark.alone
def test_latencies_are_told_when_wanted(lab, daemon, tmp_path):
    daemon.start()
    # below: in no time; above: more than the histogram has
    assert "p50_us" not in generate(lab, tmp_path)
    made = generate(lab, tmp_path, "--latency")
    assert made["sent"] == made["listed_sent"] and made["replies"] == made["listed_replies"] > 0
    assert 1.1 < made["p50_us"] <= made["p99_us"] < 67109


LISTED = "h0000001.bench.test A DO\nh0000002.sub.bench.test AAAA 4096\n"
N_RANDOM = 240
RANDOM_LABEL = re.compile("[a-p]{8}")


def generated(lab, tmp_path, n, to, *words):
    """The first N frames of xdpgen as they reach s0, whose program lets them pass."""
    queries = tmp_path / "queries"
    queries.write_text(LISTED, encoding="ascii")
    ends = ["--from", CLIENT6 if ":" in to else CLIENT4, "--to", to]
    found = []
    with lab.frames("s") as sock:
        run = lab.popen("c", XDPGEN, "--random", "3/4", *words, *ends, "c0", queries, 20, 500)
        try:
            while len(found) < n:
                frame = sock.recv(65535)
                if frame[:12] == SERVER_MAC + CLIENT_MAC and is_query(frame, ":" in to):
                    found.append(frame)
        finally:
            run.terminate()
            run.wait()
    return found


def is_query(frame, ipv6):
    """Whether it is UDP to port 53."""
    udp = 54 if ipv6 else 34
    return len(frame) > udp + 8 and frame[20 if ipv6 else 23] == 17 and \
        frame[udp + 2:udp + 4] == b"\0\x35"


def message_of(frame, to):
    """(source port, message) of a frame whose lengths and checksums are right."""
    ip, udp = frame[14:], frame[54 if ":" in to else 34:]
    ends = b"".join(socket.inet_pton(family_of(to), end)
                    for end in ((CLIENT6, V6) if ":" in to else (CLIENT4, V4)))
    if ":" not in to:
        assert checksum(ip[:20]) == 0 and len(ip) == struct.unpack_from("!H", ip, 2)[0]
    port, _, length, check = struct.unpack_from("!4H", udp)
    assert length == len(udp) and check
    assert checksum(ends + struct.pack("!HH", 17, length) + udp) == 0
    return port, dns.message.from_wire(udp[8:])


@pytest.mark.parametrize("to", [V4, V6])
def test_random_labels_differ_in_valid_frames(lab, tmp_path, to):
    """
    Three of four queries of the list get a label that no other has; all else is as the list says.
    """
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o", "sec",
             "xdp")
    labels, listed, changed = [], collections.Counter(), collections.Counter()
    for first in (0, N_RANDOM):
        for frame in generated(lab, tmp_path, N_RANDOM, to, "--first", first):
            port, query = message_of(frame, to)
            label, rest = query.question[0].name.to_text().split(".", 1)
            is_first = rest == "bench.test."
            assert is_first or rest == "sub.bench.test."
            assert query.question[0].rdtype == (dns.rdatatype.A if is_first else dns.rdatatype.AAAA)
            assert bool(query.ednsflags & dns.flags.DO) == is_first
            assert query.payload == (1232 if is_first else 4096)
            if port & 1:
                assert label == ("h0000001" if is_first else "h0000002")
                listed[label] += 1
            else:
                assert RANDOM_LABEL.fullmatch(label)
                labels.append(label)
                changed[rest] += 1
    assert len(set(labels)) == len(labels) == 2 * N_RANDOM * 3 // 4
    assert list(listed.values()) == 2 * [N_RANDOM // 4]
    assert list(changed.values()) == 2 * [N_RANDOM * 3 // 4]


@pytest.mark.parametrize("share", ["0/1", "2/1", "1/0", "-1/2", "1", "1/2x", "x"])
def test_no_share_that_is_none(lab, tmp_path, share):
    (tmp_path / "queries").write_text(LISTED, encoding="ascii")
    made = lab.exec("c", XDPGEN, f"--random={share}", "c0", tmp_path / "queries", 1, 500,
                    check=False)
    assert made.returncode == 2 and "usage" in made.stderr


def test_random_labels_need_eight_octets_in_each_line(lab, tmp_path):
    (tmp_path / "queries").write_text(LISTED + "www.bench.test A\n", encoding="ascii")
    made = lab.exec("c", XDPGEN, "--random", "1/1", "c0", tmp_path / "queries", 1, 500, check=False)
    assert made.returncode == 1
    assert "www.bench.test: the first label must have 8 octets" in made.stderr


def test_names_of_zones_are_spread_over_the_random_ones():
    """
    Else all queries would meet a few intervals of NSEC. None of the zone's names is a random one.
    """
    names = randomnames.names_of(4096)
    assert len(set(names)) == 4096
    for name in names:
        assert len(name) == 8 and not RANDOM_LABEL.fullmatch(name)
    owners, rng = sorted(names), random.Random(7)
    asked = ["".join(rng.choices("abcdefghijklmnop", k=8)) for _ in range(4096)]
    met = {bisect.bisect(owners, label) for label in asked}
    assert len(met) > 1024   # of as many intervals, where both are drawn evenly, half are met


def rounds_of(*numbers_and_rates):
    return {"rounds": [{"round": number, "best": {"replies_per_s": rate}}
                       for number, rate in numbers_and_rates]}


def test_ratios_are_of_one_round():
    """A round that a server could not be measured in has none."""
    one = {"servers": {"driver": rounds_of((0, 400), (1, 900)), "nsd": rounds_of((1, 300), (2, 1))}}
    assert report_random.times(one, "nsd") == "3.00"
    assert report_random.times(one, "knotd-xdp") == "-"


def peers_run(out, **differing):
    """A run of `peers` by name, with the settings of its options."""
    usual = {"run": "one", "generator": "xdpgen", "peer_seconds": 1.0, "names": 1000, "quick": True}
    return sidebyside.Run(types.SimpleNamespace(out=out, **{**usual, **differing}))


def test_a_run_goes_on_where_it_stopped(tmp_path):
    first = peers_run(tmp_path)
    record = first.read("nsd")
    assert record["rounds"] == [] and first.all() == []
    first.write({**record, "rounds": [{"best": []}]})
    assert [one["rounds"] for one in peers_run(tmp_path).all()] == [[{"best": []}]]
    assert peers_run(tmp_path, run="two").all() == []


@pytest.mark.parametrize("name, value", [("generator", "trafgen"), ("peer_seconds", 2.0),
                                         ("names", 2000), ("quick", False)])
def test_figures_of_other_runs_are_refused(tmp_path, name, value):
    first = peers_run(tmp_path)
    first.write(first.read("nsd"))
    with pytest.raises(RuntimeError, match="nsd was measured with another"):
        peers_run(tmp_path, **{name: value})


def test_other_programs_are_another_run(tmp_path, monkeypatch):
    first = peers_run(tmp_path)
    first.write(first.read("nsd"))
    monkeypatch.setattr(sidebyside, "digest", lambda: "of another build")
    with pytest.raises(RuntimeError, match="another programs"):
        peers_run(tmp_path)


def at(rate, replies, loss):
    figures = dict.fromkeys(sweep.FIGURES, 0)
    return {**figures, "offered_per_s": rate, "replies_per_s": replies, "loss": loss}


def test_clean_is_the_highest_rate_without_loss():
    assert (sweep.clean_rates([at(1, 1, 0), at(2, 2, 0.0009), at(3, 3, 0), at(4, 3.9, 0.001)]) ==
            [2, 3])
    assert sweep.clean_rates([at(1, 0.9, 0.1)]) == []
    rounds = [{"clean": [at(2, 2, 0), at(3, 2.9, loss)]} for loss in (0, 0.03, 0.03)]
    assert sidebyside.clean_rate({"rounds": rounds}) == 2
    assert sidebyside.clean_rate({"rounds": rounds[:1]}) == 2.9
    assert sidebyside.clean_rate({"rounds": rounds[1:]}) == 2
    assert sidebyside.clean_rate({"rounds": [{"clean": [at(3, 2.9, 0.03)]}]}) is None


class Disturbed:
    """A server with these rates of answers, one after the other; the last one stays."""

    name, echo = "any", True
    generator = types.SimpleNamespace(can=())

    def __init__(self, *rates):
        self.rates = list(rates)

    def next(self):
        return self.rates.pop(0) if len(self.rates) > 1 else self.rates[0]


def disturbed_run(tmp_path, monkeypatch, rates):
    """
    What two rounds of the reflector and another server come to. The ladder takes the reflector's
    first rate.
    """
    reflector, other = Disturbed(*rates), Disturbed(50)
    monkeypatch.setattr(sidebyside, "ROWS",
                        {"reflector": lambda _: reflector, "nsd": lambda _: other})
    monkeypatch.setattr(sweep, "at_work", lambda server, work: (work(), ""))
    monkeypatch.setattr(sweep, "climb", lambda server, ladder, seconds: [at(100, server.next(), 0)])
    monkeypatch.setattr(sweep, "sample", lambda server, rate, seconds, **how: at(
        rate, server.next() if rate == 100 and server is reflector else 50, 0))
    monkeypatch.setattr(sweep, "best_rates", lambda samples: [100])
    monkeypatch.setattr(sweep, "clean_rates", lambda samples: [])
    run = peers_run(tmp_path)
    options = types.SimpleNamespace(servers=["reflector", "nsd"], peer_rounds=2, peer_seconds=1,
                                    quick=True)
    sidebyside.measure_all(run, options, None)
    return sidebyside.results(run, types.SimpleNamespace(title="none", burst=1))


@pytest.mark.parametrize("rates, told", [
    ([100, 100, 95, 100], []),
    ([100, 100, 80, 100], [{"round": 1, "again": 1, "spread": 0}]),
    ([100, 100, 95, 80, 100, 90, 91], [{"round": 2, "again": 1, "spread": pytest.approx(1 / 91)}]),
    ([100, 100, 50, 100, 50, 100, 80, 70],
     [{"round": 1, "again": 2, "spread": pytest.approx(0.2)}]),
])
def test_a_disturbed_round_is_measured_again(tmp_path, monkeypatch, rates, told):
    """
    Where the reflector's best at both ends of a round differ by more than a tenth; twice at most,
    and it is told.
    """
    found = disturbed_run(tmp_path, monkeypatch, rates)
    assert [row["rounds"] for row in found["rows"]] == [2, 2]
    assert found["disturbed"] == told
    text = "\n".join(report_peers.sections(found))
    assert text.count("was measured again") == len(told)
