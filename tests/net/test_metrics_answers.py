# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters of answers by rcode, type, zone and so on: each breakdown equals, label by label, the
answers that the client has received.

ANSWERS=N in the environment sets the number of queries in all, 5,000 by default.
"""
import collections
import contextlib
import os
import random
import socket
import struct

import dns.message
import dns.opcode
import dns.rcode
import dns.rdatatype
import pytest

from dnstree import anyone
from netlab import CLIENT4, V4, V6, family_of, iface, wait_for, write_zone, zone
from secondaries import certificate
from test_metrics import AT, Metrics
from test_primary import BY_KEY, KEY, RING, notify, query as ask_for, update
from upstreams import Netns, address_answer

QUERIES = int(os.environ.get("ANSWERS", "5000"))
BURST = 16
QTYPES = ["A", "AAAA", "NS", "SOA", "MX", "TXT", "HTTPS", "SVCB", "CAA", "DS", "SPF", "ANY"]
NAMES = ["www.example.com", "example.com", "none.example.com", "www.example.net", "example.net",
         "x.none.example.net", "elsewhere.test"]
FAMILIES = ("rcode", "qtype", "opcode", "family", "transport")
LISTED = {"A", "NS", "CNAME", "SOA", "PTR", "HINFO", "MX", "TXT", "AAAA", "SRV", "NAPTR", "DS",
          "SSHFP", "RRSIG", "NSEC",
          "DNSKEY", "TLSA", "CDS", "CDNSKEY", "SVCB", "HTTPS", "IXFR", "AXFR", "ANY", "URI", "CAA"}


def zone_of(name):
    for apex in ("example.com.", "example.net."):
        if name.endswith(apex[:-1]):
            return apex
    return "none"


class Received(dict):
    """{breakdown: Counter of labels} of what came back to the client."""

    def __init__(self):
        super().__init__({what: collections.Counter() for what in (*FAMILIES, "zone")})

    def add(self, wire, where, transport, apex):
        opcode = wire[2] >> 3 & 15
        # read as an answer to a query: dnspython wants other sections of an UPDATE
        answer = dns.message.from_wire(wire[:2] + bytes([wire[2] & 0x87]) + wire[3:], keyring=False,
                                       continue_on_error=True)
        kind = dns.rdatatype.to_text(answer.question[0].rdtype)
        # RFC 6895 names 16 BADVERS
        self["rcode"]["BADVERS" if answer.rcode() == 16 else dns.rcode.to_text(answer.rcode())] += 1
        self["qtype"][kind if kind in LISTED else "other"] += 1
        self["opcode"][dns.opcode.to_text(opcode)] += 1
        self["family"]["ipv6" if family_of(where) == socket.AF_INET6 else "ipv4"] += 1
        self["transport"][transport] += 1
        self["zone"][apex] += 1


def draw(seed):
    """(query, the zone that answers) of any kind."""
    name, kind = seed.choice(NAMES), seed.choice(QTYPES)
    odd = seed.random()
    query = dns.message.make_query(name, kind, use_edns=seed.choice([False, 0]),
                                   want_dnssec=seed.random() < 0.2)
    query.id = seed.randrange(65536)
    # the headers of opcodes are written by hand: no reply of ours needs more than the question
    if odd < 0.03:
        query.flags = dns.opcode.to_flags(seed.choice([dns.opcode.NOTIFY, dns.opcode.UPDATE,
                                                       dns.opcode.STATUS]))
        return query, "none"
    if odd < 0.05:
        query.use_edns(1)
        return query, "none"
    return query, zone_of(name)


def send_udp(lab, queries, where, received, transport):
    with lab.socket("c", family_of(where)) as sock:
        sock.settimeout(10)
        sock.connect((where, 53))
        for at in range(0, len(queries), BURST):
            burst = queries[at:at + BURST]
            for query, _ in burst:
                sock.send(query.to_wire())
            waiting = collections.defaultdict(list)
            for query, apex in burst:
                waiting[query.id].append(apex)
            for _ in burst:
                wire = sock.recv(4096)
                received.add(wire, where, transport,
                             waiting[struct.unpack_from("!H", wire)[0]].pop())


def exactly(stream, n):
    data = b""
    while len(data) < n:
        part = stream.recv(n - len(data))
        assert part, "closed"
        data += part
    return data


def send_stream(lab, queries, where, received, transport):
    with lab.socket("c", family_of(where), socket.SOCK_STREAM) as sock:
        sock.settimeout(10)
        sock.connect((where, 853 if transport == "tls" else 53))
        stream = anyone().wrap_socket(sock) if transport == "tls" else sock
        for query, apex in queries:
            wire = query.to_wire()
            stream.sendall(struct.pack("!H", len(wire)) + wire)
            received.add(exactly(stream, struct.unpack("!H", exactly(stream, 2))[0]), where,
                         transport, apex)
        stream.close()


def told(metrics, what):
    """{label: number} of a family, without zeros."""
    family = "volley_zone_answers_total" if what == "zone" else f"volley_answers_{what}_total"
    labels = {dict(key)[what] for key in metrics[family]}
    return collections.Counter({label: n for label in labels
                                if (n := metrics.sum(family, **{what: label}))})


def wait_told(lab, what, expected):
    """A text is given for 200 ms."""
    seen = []

    def is_told():
        seen[:] = [told(Metrics(lab), what)]
        return seen[0] == expected
    try:
        wait_for("it is told", is_told, 5)
    except AssertionError as error:
        raise AssertionError(f"{seen[0]}, not {expected}") from error


def check(metrics, received):
    """Each breakdown, label by label; and the sum of each."""
    for what, counter in received.items():
        assert told(metrics, what) == counter, what
        assert sum(told(metrics, what).values()) == sum(received["rcode"].values())


@pytest.mark.parametrize("xdp", ["auto", "off"])
def test_each_breakdown_is_what_was_received(lab, daemon, tmp_path, xdp):
    """
    By driver and worker, or by sockets; by TCP; by TLS. IPv4 and IPv6, many rcodes, types and
    opcodes.
    """
    seed = random.Random(21)
    tls = {**certificate(tmp_path)["server"], "listen": [V4, V6]}
    daemon.start(interfaces=[iface(xdp=xdp)] if xdp == "off" else [iface()], metrics={"listen": AT},
                 server={"tls": tls})
    received = Received()
    for where in (V4, V6):
        send_udp(lab, [draw(seed) for _ in range(QUERIES * 3 // 10)], where, received, "udp")
        send_stream(lab, [draw(seed) for _ in range(QUERIES // 10)], where, received, "tcp")
        send_stream(lab, [draw(seed) for _ in range(QUERIES // 10)], where, received, "tls")
    metrics = Metrics(lab)
    check(metrics, received)
    assert {"NOERROR", "NXDOMAIN", "REFUSED", "NOTIMP", "BADVERS"} <= set(received["rcode"])
    by_way = {dict(key)["way"]: n for key, n in metrics["volley_answers_transport_total"].items()
              if dict(key)["transport"] == "udp" and n}
    assert set(by_way) == ({"socket"} if xdp == "off" else {"driver", "xdp"})
    if xdp != "off":
        assert by_way["driver"] == daemon.stats()["answered"]["driver"] > by_way["xdp"]


@pytest.mark.parametrize("way", ["udp", "tcp", "tls"])
def test_what_the_transfer_thread_answers(lab, daemon, tmp_path, way):
    """
    Transfers (one answer each), NOTIFY, UPDATE and signed questions, and what follows on their
    connections: each is counted once. A worker answers a signed question over TCP, and refuses an
    UPDATE that no rule allows.
    """
    tls = {**certificate(tmp_path)["server"], "listen": [V4]}
    daemon.start(metrics={"listen": AT}, server={"tls": tls, "storage": str(tmp_path / "state")},
                 keys=[KEY], zones=[zone("example.com", write_zone(tmp_path / "zone"),
                             **{"allow-transfer": BY_KEY, "allow-update": BY_KEY})])
    queries = [(signed(dns.message.make_query("www.example.com", "A")),
                "none" if way == "udp" else "example.com."),
               (signed(notify()), "none"), (signed(update()), "none"),
               (signed(ask_for("SOA")), "none"), (signed(ask_for("IXFR", serial=1)), "none")]
    if way != "udp":
        queries.insert(1, (signed(ask_for()), "none"))
        queries += [(dns.message.make_query("www.example.com", "A"), "example.com."),
                    (update(), "none")]
    received = Received()
    (send_udp if way == "udp" else send_stream)(lab, queries, V4, received, way)
    metrics = Metrics(lab)
    check(metrics, received)
    ways = {dict(key)["way"]: n for key, n in metrics["volley_answers_transport_total"].items()
            if n}
    assert ways == ({"transfer": 5} if way == "udp" else {"transfer": 5, "socket": 3})


def signed(message):
    message.use_tsig(RING, algorithm=KEY["algorithm"])
    return message


def test_stats_tells_the_same(lab, daemon):
    daemon.start(metrics={"listen": AT})
    for name in ("www.example.com", "www.example.com", "none.example.net", "elsewhere.test"):
        lab.ask(name)
    answers = daemon.stats()["answers"]
    assert answers["total"] == 4
    assert answers["by_rcode"] == {"NOERROR": 2, "NXDOMAIN": 1, "REFUSED": 1}
    assert answers["by_qtype"] == {"A": 4} and answers["by_opcode"] == {"QUERY": 4}
    assert answers["by_family"] == {"ipv4": 4}
    assert answers["by_way"] == [{"transport": "udp", "way": "driver", "answers": 1},
                                 {"transport": "udp", "way": "xdp", "answers": 3}]
    assert answers["by_zone"] == [{"zone": "example.com.", "answers": 2},
                                  {"zone": "example.net.", "answers": 1},
                                  {"zone": "none", "answers": 1}]
    text = daemon.ctl("stats").stdout
    assert "by rcode" in text and "NXDOMAIN:" in text and "example.com." in text


def test_a_blocked_name(lab, daemon):
    """Queries that the driver refuses for a block are counted in each breakdown, too."""
    daemon.start(metrics={"listen": AT})
    lab.ask()
    lab.ask()
    daemon.ctl("block", "add", "www.example.com", "--action", "refuse")
    answer = lab.ask()
    metrics = Metrics(lab)
    assert answer.rcode() == dns.rcode.REFUSED
    assert told(metrics, "rcode") == {"NOERROR": 2, "REFUSED": 1}
    assert told(metrics, "zone") == {"example.com.": 2, "none": 1}


def test_nothing_falls_when_a_program_goes(lab, daemon):
    """After a detach and a new attach the counters of answers go on; those of an earlier daemon are
    not included."""
    daemon.start(metrics={"listen": AT})
    for _ in range(3):
        lab.ask()
    wait_told(lab, "rcode", {"NOERROR": 3})
    daemon.ctl("detach", "s0")
    wait_told(lab, "rcode", {"NOERROR": 3})
    daemon.ctl("attach", "s0")
    lab.ask()
    wait_told(lab, "rcode", {"NOERROR": 4})
    daemon.kill()
    lab.ask()
    daemon.start()
    wait_told(lab, "rcode", {})
    lab.ask()
    wait_told(lab, "rcode", {"NOERROR": 1})


def test_a_zone_that_goes(lab, daemon):
    """Its answers become those of zones that have gone, and another zone begins at 0."""
    daemon.start(metrics={"listen": AT})
    for _ in range(3):
        lab.ask("www.example.net")
    wait_told(lab, "zone", {"example.net.": 3})
    daemon.configure(metrics={"listen": AT}, zones=[zone("example.com")])
    daemon.ctl("zone", "reload")
    wait_for("it is gone", lambda: "example.net." not in told(Metrics(lab), "zone"))
    wait_told(lab, "zone", {"gone": 3})
    daemon.configure(metrics={"listen": AT})
    daemon.ctl("zone", "reload")
    lab.ask("www.example.net")
    wait_told(lab, "zone", {"gone": 3, "example.net.": 1})


def test_answers_from_upstream(lab, daemon, tmp_path):
    """
    They are of no zone of ours, whether they come late or from the cache; how long upstream took is
    told once.
    """
    lab.ip("s", "link", "set", "lo", "up")
    with contextlib.closing(Netns(tmp_path, f"{lab.name}-s")) as netns:
        netns.script("all.", lambda query, tcp: address_answer(query).to_wire(), "127.0.1.1")
        daemon.start(metrics={"listen": AT},
                     recursion={"allow": [CLIENT4], "forward": ["127.0.1.1"],
                                "query-localhost": True})
        for _ in range(3):
            assert lab.ask("www.all.").rcode() == dns.rcode.NOERROR
        wait_told(lab, "zone", {"none": 3})
        metrics = Metrics(lab)
    assert told(metrics, "rcode") == {"NOERROR": 3} and told(metrics, "transport") == {"udp": 3}
    assert metrics.sum("volley_resolver_answer_seconds_count") == 1
    assert 0 < metrics.sum("volley_resolver_answer_seconds_sum") < 5
