# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""dnstap: a collector's messages for answers by each way, for upstreams and updates; and the fate
of messages without a collector."""
import contextlib
import os
import pathlib
import socket
import struct
import tempfile
import time

import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.update
import pytest

from dnstaps import CONTENT_TYPE, Collector, messages
from dnstree import receive_wire
from netlab import CLIENT4, CLIENT6, V4, V6, iface, wait_for, write_zone, zone
from scripted import Upstream, true_answer
from secondaries import certificate
from test_dot import connect, receive, send
from test_forward_tls import NAME, Certificates, TlsUpstream
from test_primary import BY_KEY, KEY, RING, notify, query as ask_for, receive as receive_transfer, update
from upstreams import Netns

N = 50
BOTH = {"auth-query", "auth-response"}


@pytest.fixture(name="folder")
def make_folder():
    """Short enough for a Unix socket."""
    with tempfile.TemporaryDirectory(prefix="volley") as path:
        yield pathlib.Path(path)


@pytest.fixture(name="collector")
def make_collector(lab, folder):
    one = Collector(lab, folder)
    yield one
    one.end()


def tap(daemon):
    return daemon.stats()["tap"]


def start(daemon, collector, **keys):
    """volleyd with a collector that it has found."""
    if not collector.process:
        collector.start()
    sections = keys.pop("sections", {})
    daemon.start(dnstap={**collector.keys, **keys}, **sections)
    wait_for("the collector", lambda: tap(daemon)["dnstap_connected"])


def told(daemon, n):
    """Until so many messages were written or lost; how many were lost."""
    wait_for(f"{n} messages",
             lambda: (lambda t: t["dnstap_written"] + t["dnstap_lost"] >= n)(tap(daemon)))
    return tap(daemon)["dnstap_lost"]


WAYS = {"driver": [iface()], "worker": [iface(**{"driver-answers": False})], "kernel_socket": []}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", [V4, V6])
def test_each_way(lab, daemon, collector, way, where):
    """
    Client, name, type, rcode and times are those of the query; both messages of each answer come.
    """
    start(daemon, collector, **{"client-prefix": "32/128", "identity": "ns1"},
          sections={"interfaces": WAYS[way]})
    lab.ask("www.example.com", where=where)
    before = told(daemon, 2), daemon.answered().get(way, 0)
    began = time.time()
    answers = [lab.udp(dns.message.make_query("www.example.com", "A"), where) for _ in range(N)]
    ended = time.time()
    assert daemon.answered()[way] - before[1] >= N
    assert told(daemon, 2 * N + 2) == 0
    found = collector_messages(daemon, collector)[2:]
    found.sort(key=lambda m: m.asked)  # workers are not in order among each other
    responses = [m for m in found if m.type == "AUTH_RESPONSE"]
    queries = [m for m in found if m.type == "AUTH_QUERY"]
    assert len(responses) == len(queries) == N
    assert [m.response for m in responses] == answers
    client = CLIENT4 if where == V4 else CLIENT6
    for m in found:
        assert ((m.client, m.server, m.protocol, m.name) ==
                (client, where, "udp", "www.example.com."))
        assert m.identity == b"ns1" and m.port
        assert began - 0.05 <= m.asked <= ended + 0.05
    for query, answer in zip(queries, answers):
        assert query.query.id == answer.id and query.query.question == answer.question


def collector_messages(daemon, collector):
    """All that came, when the daemon has ended."""
    daemon.stop()
    return collector.stop()


def test_every_answer_or_counted(lab, daemon, collector):
    """Of a burst by the driver 99 % come, and what does not is counted."""
    start(daemon, collector, messages=["auth-response"])
    lab.ask("www.example.com")
    n, lost = 5000, 0
    wire = dns.message.make_query("www.example.com", "A").to_wire()
    with lab.socket("c") as sock:
        sock.connect((V4, 53))
        for _ in range(n):
            sock.send(wire)
            sock.recv(4096)
    lost = told(daemon, n + 1)
    stats = daemon.stats()
    lost += stats["driver"]["taps_lost"] + stats["tap"]["lost"]
    assert stats["answered"]["driver"] >= n
    found = collector_messages(daemon, collector)
    assert len(found) + lost == n + 1 and len(found) >= 0.99 * n


def test_streams(lab, daemon, collector, tmp_path):
    """TCP and TLS say so."""
    start(daemon, collector,
          sections={"server": {"tls": {**certificate(tmp_path)["server"], "listen": [V4]}}})
    query = dns.message.make_query("www.example.com", "A")
    lab.tcp(query)
    with connect(lab, "tls") as stream:
        send(stream, query)
        receive(stream)
    told(daemon, 4)
    found = collector_messages(daemon, collector)
    assert [(m.type, m.protocol) for m in found] == [("AUTH_QUERY", "tcp"),
                                                     ("AUTH_RESPONSE", "tcp"),
                                                    ("AUTH_QUERY", "dot"), ("AUTH_RESPONSE", "dot")]
    assert found[0].query == query

# --- Upstreams ------------------------------------------------------------------------------------

UPSTREAM = "127.0.3.1"
FORWARDED = ["forwarder-query", "forwarder-response"]


@pytest.fixture(name="netns")
def make_netns(lab, tmp_path):
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(tmp_path, f"{lab.name}-s")
    yield netns
    netns.close()


def recursion(**keys):
    return {"allow": [CLIENT4], "forward": [UPSTREAM], "query-localhost": True, **keys}


def upstream_messages(daemon, collector, protocol, port, n):
    """Of the query and reply that the upstream at this port has seen, over the protocol."""
    assert told(daemon, n) == 0
    found = collector_messages(daemon, collector)
    assert [m.type for m in found] == ["FORWARDER_QUERY", "FORWARDER_RESPONSE"] * (n // 2)
    asked, answered = found[-2:]
    for m in asked, answered:
        assert ((m.protocol, m.server, m.server_port, m.client) ==
                (protocol, UPSTREAM, port, "127.0.0.1"))
    assert asked.query.id == answered.response.id and asked.port == answered.port
    assert asked.query.question == answered.response.question and answered.response.answer
    assert asked.answered is None and answered.asked - 0.05 <= asked.asked + 0.05
    assert answered.asked <= answered.answered
    return asked


def test_queries_to_an_upstream(lab, daemon, collector, netns):
    """
    Both addresses, ports and times, and the octets that the upstream has seen; a client's prefix is
    not for these.
    """
    server = Upstream(netns, UPSTREAM, true_answer, once=True)
    start(daemon, collector, messages=FORWARDED, sections={"recursion": recursion()})
    lab.ask("www.all.")
    lab.ask("www.all.")  # from the cache
    asked = upstream_messages(daemon, collector, "udp", 53, 2)
    assert asked.query == server.seen[0].message and asked.port == server.seen[0].port
    server.close()


def test_a_truncated_reply_and_the_query_over_tcp(lab, daemon, collector, netns):
    def truncated(message, seen, server):
        if seen.tcp:
            return true_answer(message, seen, server)
        reply = dns.message.make_response(message)
        reply.flags |= dns.flags.TC
        return reply.to_wire()
    server = Upstream(netns, UPSTREAM, truncated, once=True)
    start(daemon, collector, messages=FORWARDED, sections={"recursion": recursion()})
    lab.ask("www.all.")
    asked = upstream_messages(daemon, collector, "tcp", 53, 4)
    assert asked.port == server.seen[-1].port
    server.close()


@pytest.mark.parametrize("by", ["forwarder", "libunbound"])
def test_upstreams_over_tls(lab, daemon, collector, netns, tmp_path, by):
    """
    Where libunbound validates, its queries over TLS go through a relay of ours, which sees them.
    """
    certificates = Certificates(tmp_path)
    server = TlsUpstream(netns, UPSTREAM, true_answer, certificates.good)
    keys = {"transport": "tls", "tls-bundle": str(certificates.bundle),
            "forward": [f"{UPSTREAM}@853#{NAME}"]}
    if by == "libunbound":
        (tmp_path / "anchor").write_text(". DS 20326 8 2 "
                                         "E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D\n")
        keys |= {"trust-anchor": str(tmp_path / "anchor"), "domain-insecure": ["all."]}
    start(daemon, collector, messages=FORWARDED, sections={"recursion": recursion(**keys)})
    lab.ask("www.all.")
    asked = upstream_messages(daemon, collector, "dot", 853, 2)
    assert asked.query == server.seen[0].message and asked.port == server.seen[0].port
    server.close()


def test_an_upstream_that_says_nothing(lab, daemon, collector, netns):
    """Its query is told all the same."""
    server = Upstream(netns, UPSTREAM, true_answer)
    server.silent = True
    start(daemon, collector, messages=FORWARDED,
          sections={"recursion": recursion(**{"query-timeout": "200ms"})})
    assert lab.ask("www.all.").rcode() == dns.rcode.SERVFAIL
    told(daemon, 1)
    assert {m.type for m in collector_messages(daemon, collector)} == {"FORWARDER_QUERY"}
    server.close()


# --- The transfer thread --------------------------------------------------------------------------

def serve(daemon, collector, tmp_path, **keys):
    """example.com, which a key may have whole and change, and which is asked for over TLS, too."""
    path = write_zone(tmp_path / "zone")
    tls = {**certificate(tmp_path)["server"], "listen": [V4]}
    start(daemon, collector, **{"client-prefix": "32/128", **keys},
          sections={"server": {"storage": str(tmp_path / "state"), "tls": tls}, "keys": [KEY],
                    "zones": [zone("example.com", path,
                                   **{"allow-transfer": BY_KEY, "allow-update": BY_KEY})]})


def signed(message):
    message.use_tsig(RING, algorithm=KEY["algorithm"])
    return message


@pytest.mark.parametrize("way", ["udp", "tcp", "tls"])
def test_updates(lab, daemon, collector, tmp_path, way):
    """The query with its signature, the reply with its own; one that is refused, as well."""
    serve(daemon, collector, tmp_path, messages=["update-query", "update-response"])
    wires = [signed(message).to_wire() for message in (update(), dns.update.Update("example.org"))]
    if way == "udp":
        assert all(lab.udp_wire(wire) for wire in wires)
    else:
        with connect(lab, way) as stream:
            for wire in wires:
                stream.sendall(struct.pack("!H", len(wire)) + wire)
                receive_wire(stream)
    lab.ask("www.example.com")
    assert told(daemon, 4) == 0
    found = collector_messages(daemon, collector)
    assert [m.type for m in found] == ["UPDATE_QUERY", "UPDATE_RESPONSE"] * 2
    assert {(m.protocol, m.client, m.server, m.server_port) for m in found} == {
        ({"tls": "dot"}.get(way, way), CLIENT4, V4, 853 if way == "tls" else 53)}
    assert [found[0].wire, found[2].wire] == wires
    assert found[1].wire[3] & 15 == dns.rcode.NOERROR and found[3].wire[3] & 15 == dns.rcode.NOTAUTH
    assert int.from_bytes(found[1].wire[10:12], "big") == 1  # its TSIG
    assert found[1].asked <= found[1].answered


def test_an_update_that_a_worker_refuses(lab, daemon, collector):
    start(daemon, collector, messages=["update-query", "update-response"])
    assert lab.udp(update()).rcode() == dns.rcode.REFUSED
    assert lab.ask().rcode() == dns.rcode.NOERROR
    assert told(daemon, 2) == 0
    assert ([m.type for m in collector_messages(daemon, collector)] ==
            ["UPDATE_QUERY", "UPDATE_RESPONSE"])


@pytest.mark.parametrize("way", ["tcp", "tls"])
def test_transfers_and_what_follows_on_their_connection(lab, daemon, collector, tmp_path, way):
    """
    Of a transfer its first message. Questions behind it are told as the connection is: TCP or TLS,
    and the server's address.
    """
    serve(daemon, collector, tmp_path)
    asked = ask_for(ring=RING)
    with connect(lab, way) as stream:
        send(stream, asked)
        receive_transfer(stream, asked)
        for _ in range(2):
            send(stream, dns.message.make_query("www.example.com", "A"))
            receive(stream)
        send(stream, notify(RING))
        receive_wire(stream)
    assert told(daemon, 8) == 0
    answered = daemon.stats()["answered"]
    found = collector_messages(daemon, collector)
    assert {m.type for m in found} == {"AUTH_QUERY", "AUTH_RESPONSE"} and len(found) == 8
    assert {(m.protocol, m.client, m.server, m.server_port) for m in found} == {
        ({"tls": "dot"}.get(way, way), CLIENT4, V4, 853 if way == "tls" else 53)}
    assert answered[way] == 4 and answered["tls" if way == "tcp" else "tcp"] == 0


def test_shortened(lab, daemon, collector):
    """By default a client is its /24 or /48."""
    start(daemon, collector)
    lab.ask("www.example.com")
    lab.ask("www.example.com", where=V6)
    told(daemon, 4)
    clients = {m.client for m in collector_messages(daemon, collector)}
    assert clients == {CLIENT4.rsplit(".", 1)[0] + ".0", short6(CLIENT6)}


def short6(address):
    octets = socket.inet_pton(socket.AF_INET6, address)[:6] + bytes(10)
    return socket.inet_ntop(socket.AF_INET6, octets)


def test_sampled(lab, daemon, collector):
    """One in four: of 2,000 some 500. Six standard deviations are 200."""
    start(daemon, collector, sample=4, messages=["auth-response"])
    for _ in range(2000):
        lab.ask("www.example.com")
    daemon.stop()
    assert 300 <= len(collector.stop()) <= 700


def test_a_collector_that_comes_and_goes(lab, daemon, collector):
    """Without a collector queries are answered, and their messages counted as lost; the next
    collector gets the later ones."""
    daemon.start(dnstap={**collector.keys})
    lab.ask("www.example.com")
    assert told(daemon, 2) == 2
    collector.start()
    wait_for("the collector", lambda: tap(daemon)["dnstap_connected"])
    lab.ask("www.example.com")
    wait_for("two messages", lambda: tap(daemon)["dnstap_written"] == 2)
    assert len(collector.stop()) == 2
    for _ in range(5):
        assert lab.ask("www.example.com").rcode() == dns.rcode.NOERROR
    wait_for("ten messages",
             lambda: tap(daemon)["dnstap_written"] + tap(daemon)["dnstap_lost"] == 14)
    collector.path.unlink()
    collector.start()
    wait_for("the collector", lambda: tap(daemon)["dnstap_connected"])
    lab.ask("www.example.net")
    wait_for("the last two",
             lambda: tap(daemon)["dnstap_written"] + tap(daemon)["dnstap_lost"] == 16)
    assert [m.name for m in collector_messages(daemon, collector)] == ["www.example.net."] * 2


@contextlib.contextmanager
def silent_collector(lab, path):
    """It shakes hands, and reads nothing more."""
    with lab.socket("s", socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        yield listener


def test_a_collector_that_reads_nothing(lab, daemon, folder):
    """Answers go on, messages are lost and counted, and volleyd ends in time."""
    path = folder / "silent.sock"
    with silent_collector(lab, path) as listener:
        daemon.start(dnstap={"socket": str(path)})
        conn, _ = listener.accept()
        conn.settimeout(10)
        conn.recv(4096)  # READY
        body = struct.pack("!I", 1) + struct.pack("!II", 1, len(CONTENT_TYPE)) + CONTENT_TYPE
        conn.sendall(struct.pack("!II", 0, len(body)) + body)
        wire = dns.message.make_query("www.example.com", "A").to_wire()
        with lab.socket("c") as sock:
            sock.connect((V4, 53))
            for _ in range(40):
                for _ in range(1000):
                    sock.send(wire)
                    sock.recv(4096)
                if tap(daemon)["dnstap_lost"]:
                    break
        assert tap(daemon)["dnstap_lost"]
        daemon.stop()
        conn.close()


def test_a_pipe_that_nobody_reads(lab, daemon, folder):
    """Neither a reload nor the end waits for a reader; one that comes gets what follows."""
    path = folder / "pipe"
    os.mkfifo(path)
    daemon.start(dnstap={"file": str(path)})
    assert lab.ask().rcode() == dns.rcode.NOERROR
    assert told(daemon, 2) == 2
    daemon.ctl("zone", "reload")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        wait_for("the pipe", lambda: tap(daemon)["dnstap_connected"])
        lab.ask()
        wait_for("two messages", lambda: tap(daemon)["dnstap_written"] == 2)
        assert CONTENT_TYPE in os.read(reader, 65536)
    finally:
        os.close(reader)
    assert lab.ask().rcode() == dns.rcode.NOERROR
    wait_for("two more are lost", lambda: tap(daemon)["dnstap_lost"] == 4)
    assert daemon.stop() == 0


def test_a_disk_that_has_room_again(lab, daemon, make_disk):
    """The frames that were written before stay, whole, and the same stream goes on behind them: a
    file has only one stream."""
    small_disk = make_disk("64k")
    path, ballast = small_disk / "dnstap.fstrm", small_disk / "ballast"
    daemon.start(dnstap={"file": str(path)})
    wait_for("the file", lambda: tap(daemon)["dnstap_connected"])
    ballast.write_bytes(bytes(60 << 10))
    for _ in range(100):
        lab.ask()
    assert told(daemon, 200)
    before = tap(daemon)["dnstap_written"]
    assert before and tap(daemon)["dnstap_written"] + tap(daemon)["dnstap_lost"] == 200
    assert path.stat().st_size <= 4096
    assert len(messages(path)) == before
    ballast.unlink()
    for _ in range(5):
        lab.ask("www.example.net")
    wait_for("ten more", lambda: tap(daemon)["dnstap_written"] == before + 10)
    assert daemon.stop() == 0
    names = [m.name for m in messages(path)]
    assert names[:before] == ["www.example.com."] * before
    assert names[before:] == ["www.example.net."] * 10
    data = path.read_bytes()
    # START, and STOP
    assert data.count(CONTENT_TYPE) == 1 and data.endswith(struct.pack("!III", 0, 4, 3))
