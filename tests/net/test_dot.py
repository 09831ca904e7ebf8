# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
DNS over TLS for clients (RFC 7858): it serves what TCP serves, by the same workers and counters.
"""
import contextlib
import socket
import ssl
import struct
import subprocess
import time

import dns.edns
import dns.message
import dns.rcode
import dns.rdatatype
import dns.tsigkeyring
import pytest

from dnstree import TlsInMemory, anyone, receive, receive_wire
from netlab import CLIENT4, CLIENT6, V4, V6, family_of, run, texts, tsig_key, wait_for, write_zone, zone
from secondaries import certificate
from upstreams import Netns, address_answer

UPSTREAM = "127.0.1.1"
WAYS = ["tcp", "tls"]
PADDING = dns.edns.GenericOption(12, b"\0" * 16)
AT_A_TIME = 64  # questions of a connection: TCP_DEFERRED_MAX
KEEPALIVE = dns.edns.GenericOption(11, b"")


@pytest.fixture(name="upstream")
def make_upstream(lab, tmp_path):
    """A scripted server in the daemon's namespace."""
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(tmp_path, f"{lab.name}-s")
    yield netns.script("all.", lambda query, tcp: address_answer(query).to_wire(), UPSTREAM)
    netns.close()


@pytest.fixture(name="tls")
def make_tls(tmp_path):
    return {**certificate(tmp_path)["server"], "listen": [V4, V6]}


def start(daemon, tls, recursion=None, **sections):
    return daemon.start(server={"tls": tls}, **{
        "zones": [zone("example.com")],
        "recursion": {"allow": [CLIENT4, CLIENT6], "forward": [UPSTREAM], "query-localhost": True,
                      **(recursion or {})}, **sections})


@contextlib.contextmanager
def connect(lab, way, where=V4):
    with lab.socket("c", family_of(where), socket.SOCK_STREAM) as sock:
        sock.settimeout(8)
        sock.connect((where, 853 if way == "tls" else 53))
        if way == "tls":
            with anyone().wrap_socket(sock) as stream:
                yield stream
        else:
            yield sock


def send(stream, *queries):
    wires = [query.to_wire() for query in queries]
    stream.sendall(b"".join(struct.pack("!H", len(wire)) + wire for wire in wires))


def ask(lab, name, way="tls", where=V4, kind="A", **kwargs):
    query = dns.message.make_query(name, kind, use_edns=0, **kwargs)
    with connect(lab, way, where) as stream:
        send(stream, query)
        reply = receive(stream)
    assert query.is_response(reply)
    return reply


def delta(daemon, section, before):
    after = daemon.stats()[section]
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


@pytest.mark.parametrize("where", [V4, V6])
@pytest.mark.parametrize("way", WAYS)
def test_an_answer_from_upstream_and_then_from_the_cache(lab, daemon, upstream, tls, way, where):
    start(daemon, tls)
    before = daemon.stats()
    for _ in range(3):
        assert texts(ask(lab, "www.far.", way, where)) == ["192.0.2.80"]
    assert len(upstream.seen) == 1
    wait_for("it is released", lambda: daemon.stats()["responder"]["released"] == 1)
    engine = delta(daemon, "engine", before["engine"])
    assert {name: engine[name]
            for name in ("queries", "noerror", "cache_hit", "deferred", "finished",
                                            "published")} == \
        {"queries": 3, "noerror": 3, "cache_hit": 2, "deferred": 1, "finished": 1, "published": 1}
    assert delta(daemon, "answered", before["answered"]) == {way: 3}


@pytest.mark.parametrize("way", WAYS)
def test_what_udp_has_put_into_the_cache(lab, daemon, upstream, tls, way):
    start(daemon, tls)
    assert texts(lab.ask("www.far.")) == ["192.0.2.80"]
    upstream.silent = True
    assert texts(ask(lab, "www.far.", way)) == ["192.0.2.80"]
    assert texts(ask(lab, "www.example.com.", way)) == texts(lab.ask())


@pytest.mark.parametrize("way", WAYS)
def test_policies_and_local_data(lab, daemon, upstream, tls, way, tmp_path):
    (tmp_path / "rpz.zone").write_text("$TTL 60\n@ SOA ns host 1 60 60 60 60\n@ NS ns\n"
                                       "blocked.far CNAME .\n", encoding="ascii")
    start(daemon, tls, {"local-data": ["router.lan. A 10.0.0.1"],
                        "rpz": [{"name": "rpz.", "file": str(tmp_path / "rpz.zone")}]})
    assert texts(ask(lab, "router.lan.", way)) == ["10.0.0.1"]
    assert ask(lab, "blocked.far.", way).rcode() == dns.rcode.NXDOMAIN
    assert not upstream.seen


@pytest.mark.parametrize("way", WAYS)
def test_many_questions_at_once(lab, daemon, upstream, tls, way):
    """The replies come in any order, more of them than a connection may wait for at a time."""
    start(daemon, tls)
    upstream.delay_s = 0.05
    queries = [dns.message.make_query(f"w{n}.far.", "A") for n in range(300)]
    for query, number in zip(queries, range(300)):
        query.id = number
    with connect(lab, way) as stream:
        send(stream, *queries)
        replies = [receive(stream) for _ in queries]
    assert sorted(reply.id for reply in replies) == list(range(300))
    for reply in replies:
        assert queries[reply.id].is_response(reply) and texts(reply) == ["192.0.2.80"]


@pytest.mark.parametrize("way", WAYS)
def test_a_slow_answer_does_not_hold_up_the_others(lab, daemon, upstream, tls, way):
    start(daemon, tls)
    ask(lab, "known.far.")
    upstream.silent = True
    with connect(lab, way) as stream:
        send(stream, dns.message.make_query("slow.far.", "A"),
             dns.message.make_query("known.far.", "A"))
        assert str(receive(stream).question[0].name) == "known.far."
        upstream.silent = False
        assert texts(receive(stream)) == ["192.0.2.80"]


def test_a_connection_that_ends_while_questions_wait(lab, daemon, upstream, tls):
    """
    They wait on, for the cache, until upstream answers: by then their connection has long gone.
    """
    start(daemon, tls, {"query-timeout": "60s"})
    upstream.silent = True

    def n_waiting():
        counted = daemon.stats()["responder"]
        return counted["taken"] - counted["released"]
    for number in range(1, 4):
        with connect(lab, "tls") as stream:
            send(stream, *[dns.message.make_query(f"w{n}.far.", "A") for n in range(20)])
            # pylint: disable=cell-var-from-loop
            wait_for("all wait", lambda: n_waiting() == 20 * number)
    upstream.silent = False
    wait_for("all are released", lambda: n_waiting() == 0)
    wait_for("it is seen that upstream lives",
             lambda: texts(ask(lab, "alive.far.")) == ["192.0.2.80"])


def test_a_stop_while_questions_wait(lab, daemon, upstream, tls):
    start(daemon, tls)
    upstream.silent = True
    with connect(lab, "tls") as stream:
        send(stream, *[dns.message.make_query(f"w{n}.far.", "A") for n in range(20)])
        wait_for("all wait", lambda: daemon.stats()["responder"]["taken"] == 20)
        assert daemon.stop() == 0


@pytest.mark.parametrize("way", WAYS)
def test_after_a_transfer_too(lab, daemon, upstream, tls, way):
    """The connection is the transfer thread's by then."""
    assert upstream
    start(daemon, tls, zones=[zone("example.com", **{"allow-transfer": [CLIENT4]})])
    with connect(lab, way) as stream:
        send(stream, dns.message.make_query("example.com.", "AXFR"))
        assert receive(stream).answer
        send(stream, dns.message.make_query("www.far.", "A"))
        assert texts(receive(stream)) == ["192.0.2.80"]


def test_what_openssl_holds_when_the_connection_is_given_away(lab, daemon, upstream, tls):
    """A transfer is asked for, and at once more than a worker's buffer takes (68 KiB), while the
    worker waits for upstream: then no further octet comes, and all is answered."""
    run("nsenter", f"--net=/run/netns/{lab.name}-s", "sysctl", "-qw",
        "net.ipv4.tcp_rmem=4096 1000000 4000000")
    start(daemon, tls, zones=[zone("example.com", **{"allow-transfer": [CLIENT4]})])
    upstream.silent = True
    wires = [len(wire).to_bytes(2, "big") + wire for wire in
             [dns.message.make_query("example.com.", "AXFR").to_wire()] +
             [dns.message.make_query("www.example.com.", "A").to_wire()] * 2239]
    assert len(b"".join(wires)) > (68 + 4) << 10
    with connect(lab, "tls") as stream:
        send(stream, *[dns.message.make_query(f"w{n}.far.", "A") for n in range(AT_A_TIME)])
        wait_for("all wait", lambda: daemon.stats()["responder"]["taken"] == AT_A_TIME)
        # records of 5,000 octets, of which OpenSSL reads three at a time
        for i in range(0, len(wires), 140):
            stream.sendall(b"".join(wires[i:i + 140]))
        time.sleep(0.3)  # shorter, it tests less
        upstream.silent = False
        for _ in range(AT_A_TIME + len(wires)):
            assert receive(stream).answer


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_part_of_a_record_when_the_connection_is_given_away(lab, daemon, upstream, tls, cut):
    """The rest of it comes when another thread has the connection."""
    assert upstream
    start(daemon, tls, zones=[zone("example.com", **{"allow-transfer": [CLIENT4]})])
    with lab.connect("c", V4, 853) as sock:
        sock.settimeout(8)
        tls_here = TlsInMemory(sock)

        def read_all():
            while len(got) < 2 or len(got) < 2 + int.from_bytes(got[:2], "big"):
                got.extend(tls_here.stream.read(65536))
            message = dns.message.from_wire(bytes(got[2:2 + int.from_bytes(got[:2], "big")]))
            del got[:2 + int.from_bytes(got[:2], "big")]
            return message

        got = bytearray()
        tls_here.finish(tls_here.stream.do_handshake)
        records = []
        for kind, name in ("AXFR", "example.com."), ("A", "www.far."):
            wire = dns.message.make_query(name, kind).to_wire()
            tls_here.stream.write(struct.pack("!H", len(wire)) + wire)
            records.append(tls_here.outwards.read())
        sock.sendall(records[0] + records[1][:cut])
        assert tls_here.finish(read_all).answer[0].rdtype == dns.rdatatype.SOA
        sock.sendall(records[1][cut:])
        assert texts(tls_here.finish(read_all)) == ["192.0.2.80"]


def test_answers_longer_than_a_record_behind_a_transfer(lab, daemon, upstream, tls, tmp_path):
    """Each octet of them, though the connection was given away."""
    assert upstream
    more = "".join(f'big IN TXT "{i:03d}{"x" * 240}"\n' for i in range(240))
    start(daemon, tls,
          zones=[zone("example.com", write_zone(tmp_path / "zone", more=more),
                      **{"allow-transfer": [CLIENT4]})])
    asked = dns.message.make_query("big.example.com", "TXT")
    with connect(lab, "tls") as stream:
        send(stream, dns.message.make_query("example.com", "AXFR"), asked, asked, asked)
        n_soa = 0
        while n_soa < 2:
            n_soa += sum(rrset.rdtype == dns.rdatatype.SOA for rrset in receive(stream).answer)
        for _ in range(3):
            assert (sorted(str(data)[1:4] for data in receive(stream).answer[0]) ==
                    [f"{i:03d}" for i in range(240)])


def test_a_signed_question(lab, daemon, upstream, tls):
    """The reply is signed, from every source."""
    assert upstream
    key = tsig_key()
    start(daemon, tls, keys=[key])
    query = dns.message.make_query("www.far.", "A")
    ring = dns.tsigkeyring.from_text({key["name"]: (key["algorithm"] + ".", key["secret"])})
    query.use_tsig(ring)
    wire = query.to_wire()
    with connect(lab, "tls") as stream:
        stream.sendall(struct.pack("!H", len(wire)) + wire)
        got = receive_wire(stream)
    reply = dns.message.from_wire(got, keyring=ring, request_mac=query.mac)
    assert reply.had_tsig and texts(reply) == ["192.0.2.80"]


# --- Options --------------------------------------------------------------------------------------


def wire_of(lab, name, way, options):
    query = dns.message.make_query(name, "A", use_edns=0, options=options)
    with connect(lab, way) as stream:
        send(stream, query)
        return receive_wire(stream)


def test_padding_where_the_client_has_some(lab, daemon, upstream, tls):
    """RFC 8467 section 4.1: to a multiple of 468 octets, on encrypted connections only."""
    assert upstream
    start(daemon, tls)
    for name in ("www.far.", "www.example.com.", "nothing.example.com.", "cold.far."):
        padded = wire_of(lab, name, "tls", [PADDING])
        assert len(padded) == 468, name
        assert [int(option.otype) for option in dns.message.from_wire(padded).options] == [12]
        for way, options in (("tls", []), ("tcp", [PADDING])):
            plain = wire_of(lab, name, way, options)
            assert len(plain) < 468 and not dns.message.from_wire(plain).options, (name, way)
            assert dns.message.from_wire(plain).answer == dns.message.from_wire(padded).answer


@pytest.mark.parametrize("way", WAYS)
def test_how_long_a_connection_may_be_idle(lab, daemon, upstream, tls, way):
    """RFC 7828: a client that asks gets server.tcp.idle-timeout."""
    assert upstream
    start(daemon, tls)
    for name in ("www.far.", "www.far.", "www.example.com."):
        found = [option.to_wire() for option in ask(lab, name, way, options=[KEEPALIVE]).options]
        assert found == [(10 * 10).to_bytes(2, "big")]


# ---- Versions of TLS ------------------------------------------------------------------------------

def old_context(version=ssl.TLSVersion.TLSv1_2, ciphers=None, alpn=None):
    context = anyone()
    context.minimum_version = context.maximum_version = version
    if ciphers:
        context.set_ciphers(ciphers)
    if alpn:
        context.set_alpn_protocols(alpn)
    return context


@contextlib.contextmanager
def connect_by(lab, context, session=None):
    with lab.connect("c", V4, 853) as sock:
        with context.wrap_socket(sock, session=session) as stream:
            yield stream


def www_of(stream):
    send(stream, dns.message.make_query("www.example.com", "A"))
    return texts(receive(stream))


@pytest.mark.parametrize("ciphers", [None, "ECDHE-ECDSA-AES128-GCM-SHA256",
                                     "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384"])
@pytest.mark.parametrize("alpn", [None, ["h2", "dot"]], ids=["", "alpn"])
def test_tls_1_2(lab, daemon, tls, ciphers, alpn):
    start(daemon, tls)
    with connect_by(lab, old_context(ciphers=ciphers, alpn=alpn)) as stream:
        assert www_of(stream) == ["192.0.2.80", "192.0.2.81"] and www_of(stream)
        assert stream.version() == "TLSv1.2"
        assert stream.selected_alpn_protocol() == (alpn and "dot")
        assert ciphers in (None, stream.cipher()[0])


def test_tls_1_2_resumes_a_session(lab, daemon, tls):
    start(daemon, tls)
    context = old_context()
    with connect_by(lab, context) as stream:
        session = stream.session
        assert www_of(stream) and not stream.session_reused
    with connect_by(lab, context, session) as stream:
        assert www_of(stream) and stream.session_reused


@pytest.mark.parametrize("wrong", [
    {"ciphers": "ECDHE-ECDSA-AES128-SHA@SECLEVEL=0"}, {"ciphers": "ECDHE-ECDSA-AES128-SHA256"},
    {"ciphers": "DHE-RSA-AES128-GCM-SHA256"},
    {"version": ssl.TLSVersion.TLSv1_1, "ciphers": "DEFAULT@SECLEVEL=0"},
    {"alpn": ["h2"]}])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_weak_tls_is_refused(lab, daemon, tls, wrong):
    """RFC 9325: no CBC, no key exchange that OpenSSL is not told to allow, no TLS 1.1."""
    start(daemon, tls)
    with pytest.raises(ssl.SSLError), connect_by(lab, old_context(**wrong)):
        pass
    with connect_by(lab, old_context()) as stream:
        assert www_of(stream)


def test_tls_1_2_is_not_renegotiated(lab, daemon, tls):
    start(daemon, tls)
    words = "openssl", "s_client", "-connect", f"{V4}:853", "-tls1_2"
    with lab.popen("c", *words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE) as client:
        client.stdin.write(b"R\n")
        client.stdin.flush()
        assert b"no renegotiation" in client.stderr.read()


def test_the_oldest_version_is_the_operators_choice(lab, daemon, tls):
    start(daemon, {**tls, "min-version": "TLSv1.3"})
    with pytest.raises(ssl.SSLError), connect_by(lab, old_context()):
        pass
    with connect_by(lab, anyone()) as stream:
        assert www_of(stream) and stream.version() == "TLSv1.3"
    daemon.configure(server={"tls": {**tls, "min-version": "TLSv1.2"}}, zones=[zone("example.com")])
    daemon.ctl("zone", "reload")
    with connect_by(lab, old_context()) as stream:
        assert www_of(stream)


@pytest.mark.parametrize("rules, codes", [(["any tls"], (dns.rcode.REFUSED, dns.rcode.NOERROR)),
                                          (["any"], (dns.rcode.NOERROR, dns.rcode.NOERROR))])
def test_transfers_by_a_rule_with_tls_need_tls_1_3(lab, daemon, tls, rules, codes):
    """RFC 9103 section 7.1. Without that word TLS 1.2 is as good as TCP without TLS."""
    start(daemon, tls, zones=[{**zone("example.com"), "allow-transfer": rules}])
    for context, code in zip((old_context(), anyone()), codes):
        with connect_by(lab, context) as stream:
            send(stream, dns.message.make_query("example.com", "AXFR"))
            assert receive(stream).rcode() == code
