# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Volley as a primary: it sends its zones and NOTIFY only to configured peers, and strangers can do
nothing."""
import contextlib
import select
import socket
import ssl

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.query
import dns.rcode
import dns.rdatatype
import dns.tsig
import dns.tsigkeyring
import dns.update
import dns.xfr
import dns.zone
import pytest

from netlab import CLIENT4, V4, query_frame, remote, texts, tsig_key, wait_for, write_zone, zone
from secondaries import Secondary, certificate

KEY = tsig_key()
RING = dns.tsigkeyring.from_text({KEY["name"]: (KEY["algorithm"], KEY["secret"])})
WRONG = tsig_key(secret=b"another secret for the tests")
WRONG_RING = dns.tsigkeyring.from_text({KEY["name"]: (KEY["algorithm"], WRONG["secret"])})
STRANGE_RING = dns.tsigkeyring.from_text({"strange.test.": (KEY["algorithm"], KEY["secret"])})
BY_KEY = [f"any key {KEY['name']}"]


def serve(daemon, rules, serial=1, more="", notify=False, others=(), tls=None, server=None,
          **keys):
    """A daemon with example.com from a file of its own."""
    path = write_zone(daemon.folder / "example.com.zone", serial=serial, more=more)
    if notify:
        keys["notify"] = ["there"]
    key = {"key": KEY["name"]} if notify == "signed" else {}
    daemon.start(server={"storage": str(daemon.folder / "state"),
                         **({"tls": tls["server"]} if tls else {}), **(server or {})},
                 zones=[zone("example.com", path, allow_transfer=rules, **keys), *others],
                 keys=[KEY], remotes=[remote("there", f"{CLIENT4}@53", **key),
                                      remote("nowhere", "198.51.100.7")])
    return path


def change(daemon, path, serial, **kwargs):
    write_zone(path, serial=serial, **kwargs)
    daemon.ctl("zone", "reload", "example.com")


def pass_time(daemon, clock, seconds):
    """The transfer thread has done what is due by then: it answers control twice after that."""
    clock.leap(seconds)
    for _ in range(2):
        daemon.ctl("zone", "status")


def query(kind="AXFR", name="example.com", ring=None, serial=None, edns=-1):
    made = dns.message.make_query(name, kind, use_edns=edns)
    if serial is not None:
        made.authority.append(dns.rrset.from_text(
            name + ".", 0, "IN", "SOA", f". . {serial} 0 0 0 0"))
    if ring:
        made.use_tsig(ring, algorithm=KEY["algorithm"])
    return made


def transfer(lab, asked, where=V4):
    """The messages of the reply, checked with the key of the query."""
    with lab.connect("c", where) as sock:
        dns.query.send_tcp(sock, asked)
        return receive(sock, asked)


def is_whole(messages):
    """
    The new SOA ends a zone as it began it; changes have it between what went and what came last,
    too.
    """
    found = [record for message in messages for record in message.answer]
    is_changes = len(found) > 1 and found[1].rdtype == dns.rdatatype.SOA and found[1] != found[0]
    return bool(found) and sum(record == found[0] for record in found) == 2 + is_changes


def receive(sock, asked):
    messages, context = [], None
    while not is_whole(messages):
        wire = receive_wire(sock)
        got = dns.message.from_wire(wire, keyring=asked.keyring, request_mac=asked.mac, xfr=True,
                                    tsig_ctx=context, multi=True, one_rr_per_rrset=True,
                                    origin=dns.name.root)
        context = got.tsig_ctx
        messages.append(got)
        if got.rcode() or not got.answer:
            break
    return messages


def receive_wire(sock):
    def exactly(n):
        octets = b""
        while len(octets) < n:
            more = sock.recv(n - len(octets))
            assert more, "the connection was closed"
            octets += more
        return octets
    return exactly(int.from_bytes(exactly(2), "big"))


def count_records(sock, n):
    """Those of messages that come, until there are n."""
    got = 0
    while got < n:
        got += int.from_bytes(receive_wire(sock)[6:8], "big")
    return got


def records(messages):
    return [f"{str(r.name).rstrip('.')} {r.ttl} {dns.rdatatype.to_text(r.rdtype)} {rd}"
            for message in messages for r in message.answer for rd in r]


def counters(daemon):
    return daemon.json("stats")["transfers"]


# ---- Transfers out -------------------------------------------------------------------------------

def test_axfr_is_the_zone(lab, daemon):
    more = "".join(f"n{i} TXT \"{'x' * 200}\"\n" for i in range(1000))
    serve(daemon, ["192.0.2.0/24"], more=more)
    messages = transfer(lab, query())
    got = records(messages)
    assert len(messages) > 3
    assert len(got) == 1004 + 1
    assert got[0] == got[-1] and " SOA " in got[0]
    assert len(set(got)) == len(got) - 1
    assert all(m.flags & dns.flags.AA for m in messages)


def test_records_too_large_for_most_messages(lab, daemon):
    """
    Messages are small, so that names in them can be pointed to; but for what needs a large one.
    """
    large = " ".join(f'"{"y" * 250}"' for _ in range(200))
    more = "".join(f'a{i} TXT "{"x" * 200}"\n' for i in range(100))
    serve(daemon, ["any"], more=f"{more}large TXT {large}\nlarge A 192.0.2.1\nz A 192.0.2.1\n")
    messages = transfer(lab, query())
    got = records(messages)
    assert len(got) == 4 + 103 + 1 and len(set(got)) == len(got) - 1
    assert sum(r.startswith("large.example.com") for r in got) == 2
    assert sum(len(m.to_wire()) > 16384 for m in messages) == 1


def test_dig_and_kdig(lab, daemon):
    serve(daemon, [*BY_KEY, "192.0.2.1/32"])
    for words in (["kdig", "+noidn"], ["dig"]):
        said = lab.exec("c", *words, f"@{V4}", "example.com", "AXFR").stdout
        assert said.count("SOA") == 2 and "192.0.2.10" in said
    sign = f"{KEY['algorithm']}:{KEY['name']}:{KEY['secret']}"
    said = lab.exec("c", "dig", "-y", sign, f"@{V4}", "example.com", "AXFR").stdout
    assert "192.0.2.10" in said and "NOERROR" in said and "verify" not in said
    said = lab.exec("c", "kdig", "-y", sign, f"@{V4}", "example.com", "AXFR").stdout
    assert "192.0.2.10" in said and "WARNING" not in said


ROWS = [
    # rules, key ring, name, rcode
    pytest.param(["192.0.2.0/24"], None, "example.com", None, id="prefix"),
    pytest.param(["198.51.100.0/24"], None, "example.com", "REFUSED", id="stranger"),
    pytest.param([], None, "example.com", "REFUSED", id="nobody"),
    pytest.param(["any"], None, "example.com", None, id="any"),
    pytest.param(["192.0.2.0/24"], None, "example.org", "NOTAUTH", id="not ours"),
    pytest.param(["192.0.2.0/24"], None, "www.example.com", "NOTAUTH", id="no apex"),
    pytest.param(BY_KEY, RING, "example.com", None, id="key"),
    pytest.param(BY_KEY, None, "example.com", "REFUSED", id="no key"),
    pytest.param(BY_KEY, WRONG_RING, "example.com", "NOTAUTH", id="wrong secret"),
    pytest.param(BY_KEY, STRANGE_RING, "example.com", "NOTAUTH", id="strange key"),
    pytest.param(["192.0.2.0/24"], WRONG_RING, "example.com", "NOTAUTH", id="prefix, wrong secret"),
    pytest.param([f"192.0.2.0/24 key {KEY['name']}"], RING, "example.com", None,
                 id="both"),
    pytest.param([f"192.0.2.0/24 key {KEY['name']}"], None, "example.com", "REFUSED",
                 id="prefix without its key"),
    pytest.param([f"198.51.100.0/24 key {KEY['name']}"], RING, "example.com",
                 "REFUSED", id="key from elsewhere"),
    pytest.param(["192.0.2.0/24 tls"], None, "example.com", "REFUSED",
                 id="without TLS"),
]


@pytest.mark.parametrize("rules, ring, name, rcode", ROWS)
def test_who_may(lab, daemon, rules, ring, name, rcode):
    serve(daemon, rules)
    asked = query(name=name, ring=ring)
    with lab.connect("c", V4) as sock:
        dns.query.send_tcp(sock, asked)
        if rcode is None:
            assert len(records(receive(sock, asked))) == 5
            return
        wire = receive_wire(sock)
        got = dns.message.from_wire(wire, keyring=False, ignore_trailing=True,
                                    continue_on_error=True)
        assert dns.rcode.to_text(got.rcode()) == rcode
        assert not got.answer


def test_ordinary_questions_on_the_same_connection(lab, daemon):
    serve(daemon, ["192.0.2.0/24"])
    www, axfr = query("A", "www.example.com"), query()
    with lab.connect("c", V4) as sock:
        # all at once: what was asked before the transfer is answered before it
        sock.sendall(b"".join(len(w).to_bytes(2, "big") + w
                              for w in (m.to_wire() for m in (www, axfr, www, axfr))))
        for _ in range(2):
            assert texts(dns.message.from_wire(receive_wire(sock))) == ["192.0.2.10"]
            assert len(records(receive(sock, axfr))) == 5


def test_signed_question_by_udp(lab, daemon):
    serve(daemon, BY_KEY)
    asked = query("SOA", ring=RING)
    wire = lab.udp_wire(asked.to_wire())
    got = dns.message.from_wire(wire, keyring=RING, request_mac=asked.mac)
    assert got.had_tsig and got.answer[0][0].serial == 1
    with pytest.raises(dns.tsig.PeerBadSignature):
        asked = query("SOA", ring=WRONG_RING)
        dns.message.from_wire(lab.udp_wire(asked.to_wire()), keyring=RING, request_mac=asked.mac)
    with pytest.raises(dns.tsig.PeerBadKey):
        asked = query("SOA", ring=STRANGE_RING)
        dns.message.from_wire(lab.udp_wire(asked.to_wire()), keyring=STRANGE_RING,
                              request_mac=asked.mac)


@pytest.mark.parametrize("ahead", [330, -330])
def test_messages_of_another_time(lab, daemon, clock, ahead):
    """
    RFC 8945 section 5.2.3: signed well, but not now. Nothing of it is done, by any way, and BADTIME
    says why.
    """
    serve(daemon, BY_KEY, allow_update=BY_KEY, others=[comes(*BY_KEY)])

    def ask(message, way, expected):
        message.use_tsig(RING, algorithm=KEY["algorithm"])
        wire = message.to_wire()
        if way == "udp":
            got = lab.udp_wire(wire)
        else:
            with lab.connect("c", V4) as sock:
                sock.sendall(len(wire).to_bytes(2, "big") + wire)
                got = receive_wire(sock)
        assert dns.rcode.from_flags(int.from_bytes(got[2:4], "big"), 0) == expected
        return dns.message.from_wire(got, keyring=RING, request_mac=message.mac)

    clock.set(ahead)
    n_bad = 0
    for message, way in ((query(), "tcp"), (query("IXFR", serial=0), "udp"), (query("SOA"), "udp"),
                         (query("SOA"), "tcp"), (update(), "udp"), (update(), "tcp"),
                         (notify(name="example.net"), "udp"), (notify(name="example.net"), "tcp")):
        with pytest.raises(dns.tsig.PeerBadTime):
            ask(message, way, dns.rcode.NOTAUTH)
        n_bad += 1
        assert counters(daemon)["tsig_bad"] == n_bad, message
    said = counters(daemon)
    assert said["axfr_out"] == said["ixfr_out"] == said["notify_in"] == said["update_in"] == 0, said
    assert lab.ask("new.example.com").rcode() == dns.rcode.NXDOMAIN
    clock.set(0)
    assert ask(update(), "udp", dns.rcode.NOERROR).had_tsig
    assert texts(lab.ask("new.example.com")) == ["192.0.2.77"]


def test_ixfr_without_changes(lab, daemon):
    serve(daemon, ["192.0.2.0/24"], serial=7)
    for serial in (7, 8):
        got = transfer_one(lab, query("IXFR", serial=serial))
        assert len(got.answer) == 1 and got.answer[0][0].serial == 7
        got = lab.udp(query("IXFR", serial=serial))
        assert len(got.answer) == 1 and got.answer[0][0].serial == 7
    # no journal: all of it by TCP, the SOA alone by UDP
    assert len(records(transfer(lab, query("IXFR", serial=6)))) == 5
    assert len(lab.udp(query("IXFR", serial=6)).answer) == 1
    got = transfer_one(lab, query("IXFR"))
    assert got.rcode() == dns.rcode.FORMERR


def transfer_one(lab, asked):
    with lab.connect("c", V4) as sock:
        dns.query.send_tcp(sock, asked)
        return dns.message.from_wire(receive_wire(sock))


def test_many_at_once_and_one_that_does_not_read(lab, daemon):
    more = "".join(f"n{i} TXT \"{'x' * 250}\"\n" for i in range(20000))
    serve(daemon, ["192.0.2.0/24"], more=more)
    with contextlib.ExitStack() as stack:
        asked = query()
        lazy = [stack.enter_context(lab.connect("c", V4)) for _ in range(3)]
        for sock in lazy:
            dns.query.send_tcp(sock, asked)
        socks = [stack.enter_context(lab.connect("c", V4)) for _ in range(5)]
        for sock in socks:
            dns.query.send_tcp(sock, asked)
        for sock in socks:
            assert count_records(sock, 20005) == 20005
        assert lab.ask("www.example.com").answer
        assert count_records(lazy[0], 20005) == 20005


def test_those_over_the_limit_wait_in_line(lab, daemon):
    more = "".join(f"n{i} TXT \"{'x' * 250}\"\n" for i in range(20000))
    path = write_zone(daemon.folder / "example.com.zone", more=more)
    daemon.start(server={"transfers-out": 1},
                 zones=[zone("example.com", path, allow_transfer=["any"])])
    asked = query()
    with lab.connect("c", V4) as lazy, lab.connect("c", V4) as second:
        dns.query.send_tcp(lazy, asked)
        lazy.recv(1, socket.MSG_PEEK)
        dns.query.send_tcp(second, asked)
        second.settimeout(0.3)
        with pytest.raises(socket.timeout):
            second.recv(1)
        # the one that is served goes: the next is served
        lazy.close()
        second.settimeout(5)
        assert count_records(second, 20005) == 20005
    assert counters(daemon)["out_failed"] == 1


def test_a_message_in_pieces_behind_a_transfer(lab, daemon):
    """The part that the worker has read moves with the connection."""
    serve(daemon, ["192.0.2.0/24"])
    www, axfr = (m.to_wire() for m in (query("A", "www.example.com"), query()))
    stream = b"".join(len(w).to_bytes(2, "big") + w for w in (axfr, www))
    with lab.connect("c", V4) as sock:
        sock.sendall(stream[:-10])
        assert count_records(sock, 5) == 5
        sock.sendall(stream[-10:])
        assert texts(dns.message.from_wire(receive_wire(sock))) == ["192.0.2.10"]
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(1) == b""


# ---- Secondaries ---------------------------------------------------------------------------------

@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
@pytest.mark.parametrize("kind", ["knotd", "nsd", "named"])
def test_secondaries(lab, daemon, tmp_path, kind, signed):
    key = KEY if signed else None
    path = serve(daemon, BY_KEY if signed else ["192.0.2.0/24"],
                 notify="signed" if signed else True)
    with Secondary(lab, tmp_path, kind, key=key) as there:
        there.wait_for(1)
        change(daemon, path, 2, address="192.0.2.22")
        there.wait_for(2)
        there.wait_address("www.example.com", "192.0.2.22")
    assert counters(daemon)["notify_sent"] >= 1
    wait_for("the NOTIFY was answered", lambda: counters(daemon)["notify_failed"] == 0)


@pytest.mark.parametrize("kind", ["knotd", "nsd", "named"])
def test_secondary_with_the_wrong_secret_gets_nothing(lab, daemon, tmp_path, kind):
    serve(daemon, BY_KEY)
    with Secondary(lab, tmp_path, kind, key=WRONG) as there:
        wait_for("it has asked", lambda: counters(daemon)["tsig_bad"] > 0, 30)
        assert there.serial() is None
    assert counters(daemon)["axfr_out"] == 0


# ---- Changes -------------------------------------------------------------------------------------

def changes(messages):
    """An IXFR as pairs of what each version has removed and added."""
    parts = []
    for record in records(messages)[1:-1]:
        if " SOA " in record:
            parts.append([])
        else:
            parts[-1].append(record)
    return list(zip(parts[::2], parts[1::2]))


def udp(lab, asked):
    """The answer, record by record."""
    return dns.message.from_wire(lab.udp_wire(asked.to_wire()), one_rr_per_rrset=True)


def test_ixfr_from_the_journal(lab, daemon):
    path = serve(daemon, ["192.0.2.0/24"])
    for serial in (2, 3):
        change(daemon, path, serial, address=f"192.0.2.{serial}")
    one, two, three = (f"www.example.com 300 A 192.0.2.{n}" for n in (10, 2, 3))
    assert changes(transfer(lab, query("IXFR", serial=1))) == [([one], [two]), ([two], [three])]
    assert changes(transfer(lab, query("IXFR", serial=2))) == [([two], [three])]
    by_udp = udp(lab, query("IXFR", serial=1))
    assert changes([by_udp]) == [([one], [two]), ([two], [three])]
    small = udp(lab, query("IXFR", serial=2, edns=False))
    assert changes([small]) == [([two], [three])]
    # a reply by UDP is on its way before it is counted
    wait_for("all are counted", lambda: counters(daemon)["ixfr_out"] == 4)
    assert counters(daemon)["axfr_out"] == 0


def test_ixfr_that_does_not_fit_a_datagram(lab, daemon):
    path = serve(daemon, ["192.0.2.0/24"],
                 more="".join(f"old{i} TXT \"{'x' * 100}\"\n" for i in range(400)))
    change(daemon, path, 2, more="".join(f"old{i} TXT \"{'x' * 100}\"\n" for i in range(380)))
    by_udp = lab.udp(query("IXFR", serial=1))
    assert len(by_udp.answer) == 1 and by_udp.answer[0][0].serial == 2
    [[gone, come]] = changes(transfer(lab, query("IXFR", serial=1)))
    assert len(gone) == 20 and not come


def test_changes_that_are_more_than_the_zone(lab, daemon):
    path = serve(daemon, ["192.0.2.0/24"],
                 more="".join(f"old{i} TXT \"{'x' * 100}\"\n" for i in range(500)))
    change(daemon, path, 2)
    assert len(records(transfer(lab, query("IXFR", serial=1)))) == 5
    assert counters(daemon)["axfr_out"] == 1


@pytest.mark.parametrize("kind", ["knotd", "nsd", "named"])
def test_secondaries_take_changes(lab, daemon, tmp_path, kind):
    path = serve(daemon, BY_KEY, notify="signed")
    with Secondary(lab, tmp_path, kind, key=KEY) as there:
        there.wait_for(1)
        for serial in (2, 3, 4):
            change(daemon, path, serial, address=f"192.0.2.{serial}")
            there.wait_for(serial)
        there.wait_address("www.example.com", "192.0.2.4")
    assert counters(daemon)["ixfr_out"] == 3
    assert counters(daemon)["axfr_out"] == 1


@pytest.mark.parametrize("kind", ["knotd", "nsd"])
def test_secondaries_take_changes_of_an_rrset_that_fits_no_message(lab, daemon, tmp_path, kind):
    """
    72 KiB of strings, of which half are exchanged: in several messages. named holds no such RRset.
    """
    def strings(name, numbers):
        return "".join(f'{name} TXT "{i:0240}"\n' for i in numbers)

    others = "".join(strings(f"other{i}", range(1000 * i, 1000 * i + 250)) for i in range(1, 5))
    path = serve(daemon, [*BY_KEY, "192.0.2.0/24"], notify="signed",
                 more=others + strings("large", range(300)))
    with Secondary(lab, tmp_path, kind, key=KEY) as there:
        there.wait_for(1)
        for serial, more in ((2, strings("large", range(150, 450))), (3, "")):
            change(daemon, path, serial, more=others + more)
            there.wait_for(serial)
    assert (counters(daemon)["ixfr_out"], counters(daemon)["axfr_out"]) == (2, 1)
    messages = transfer(lab, query("IXFR", serial=1))
    assert len(messages) > 2
    [(gone, come), (gone_then, come_then)] = changes(messages)
    assert (len(gone), len(come), len(gone_then), len(come_then)) == (150, 150, 300, 0)


# ---- TLS -----------------------------------------------------------------------------------------

def test_kdig_over_tls(lab, daemon, tmp_path):
    tls = certificate(tmp_path)
    serve(daemon, ["192.0.2.0/24 tls"], tls=tls)
    secure = [f"+tls-ca={tls['bundle']}", f"+tls-hostname={tls['name']}"]
    for words in (["+tls"], secure, [*secure, "+padding"]):
        said = lab.exec("c", "kdig", *words, f"@{V4}", "example.com", "AXFR").stdout
        assert said.count("SOA") == 2 and "192.0.2.10" in said, said
    said = lab.exec("c", "kdig", "+tls", f"@{V4}", "www.example.com", "A").stdout
    assert "192.0.2.10" in said
    assert lab.exec("c", "kdig", f"@{V4}", "example.com", "AXFR",
                    check=False).stdout.count("SOA") == 0


@pytest.mark.parametrize("kind", ["nsd", "named"])
def test_secondaries_over_tls(lab, daemon, tmp_path, kind):
    tls = certificate(tmp_path)
    path = serve(daemon, [f"192.0.2.0/24 key {KEY['name']} tls"], tls=tls, notify="signed")
    with Secondary(lab, tmp_path, kind, key=KEY, tls=tls) as there:
        there.wait_for(1)
        change(daemon, path, 2, address="192.0.2.22")
        there.wait_for(2)


def test_tls_of_another_kind_is_no_tls(lab, daemon, tmp_path):
    tls = certificate(tmp_path)
    serve(daemon, ["192.0.2.0/24 tls"], tls=tls)
    context = ssl.create_default_context(cafile=tls["bundle"])
    for version, alpn in (("TLSv1_2", ["h2"]), ("TLSv1_3", ["h2"])):
        context.maximum_version = getattr(ssl.TLSVersion, version)
        context.set_alpn_protocols(alpn)
        with lab.connect("c", V4, 853) as sock, pytest.raises(ssl.SSLError):
            context.wrap_socket(sock, server_hostname=tls["name"])
    with lab.connect("c", V4, 853) as sock:
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
    wait_for("they are counted", lambda: counters(daemon)["tls_failed"] == 3)


# ---- NOTIFY out ----------------------------------------------------------------------------------

def heard(sock, seconds=5):
    sock.settimeout(seconds)
    wire, peer = sock.recvfrom(4096)
    return wire, peer, dns.message.from_wire(wire, keyring=RING)


def test_notify_is_repeated_until_it_is_answered(lab, daemon, clock):
    with lab.socket("c") as sock:
        sock.bind((CLIENT4, 53))
        serve(daemon, [], notify="signed", serial=5)
        first, _, message = heard(sock)
        assert message.opcode() == dns.opcode.NOTIFY and message.flags & dns.flags.AA
        assert message.had_tsig
        assert message.answer[0][0].serial == 5
        for _ in range(2):  # the third may be on its way already
            again, peer, message = heard(sock)
            assert again[:2] == first[:2]
            answer = dns.message.make_response(message)
            answer.use_tsig(RING, algorithm=KEY["algorithm"])
            answer.request_mac = message.mac
            sock.sendto(answer.to_wire(), peer)
            if not select.select([sock], [], [], 2)[0]:
                break
        for _ in range(4):  # the next round would be 8 s behind it
            pass_time(daemon, clock, 3)
        assert not select.select([sock], [], [], 0.5)[0], "it is repeated, though it was answered"
    assert counters(daemon)["notify_failed"] == 0


# ---- NOTIFY and UPDATE ---------------------------------------------------------------------------

def comes(*allow_notify):
    """A zone that others may say has changed."""
    return zone("example.net", primaries=["nowhere"], allow_notify=list(allow_notify))


def notify(ring=None, name="example.com"):
    made = dns.message.make_query(name, "SOA")
    made.set_opcode(dns.opcode.NOTIFY)
    made.flags = dns.flags.AA | made.flags & ~dns.flags.RD
    if ring:
        made.use_tsig(ring, algorithm=KEY["algorithm"])
    return made


def counters_of_engine(daemon):
    return daemon.stats()["engine"]


def nothing_came(daemon):
    """That the transfer thread would have seen."""
    now = counters(daemon)
    return not any(now[name] for name in ("notify_in", "notify_refused", "update_in", "tsig_bad",
                                          "update_refused", "connections"))


def update():
    made = dns.update.Update("example.com")
    made.add("new", 300, "A", "192.0.2.77")
    return made


def test_strangers_are_refused_by_the_worker(lab, daemon):
    serve(daemon, ["198.51.100.0/24"], allow_update=BY_KEY, others=[comes("198.51.100.0/24")])
    for message, rcode in [
            (notify(), "REFUSED"), (update(), "REFUSED"), (notify(name="example.net"), "REFUSED"),
            (notify(name="strange.test"), "NOTAUTH"),
            (dns.update.Update("strange.test"), "NOTAUTH")]:
        for answer in (lab.udp(message), lab.tcp(message)):
            assert dns.rcode.to_text(answer.rcode()) == rcode
    assert nothing_came(daemon)


def test_notify_of_a_zone_that_is_no_secondary(lab, daemon):
    """The transfer thread refuses as a worker does."""
    serve(daemon, [], others=[comes("192.0.2.0/24")])
    assert lab.udp(notify(name="strange.test")).rcode() == dns.rcode.NOTAUTH
    assert counters(daemon)["notify_refused"] == 1
    assert lab.udp(notify()).rcode() == dns.rcode.REFUSED
    assert counters(daemon)["notify_refused"] == 2
    assert lab.udp(notify(name="example.net")).rcode() == dns.rcode.NOERROR
    assert counters(daemon)["notify_in"] == 1


def test_without_a_zone_neither_makes_sense(lab, daemon):
    """
    QDCOUNT 0 (RFC 1996 section 3.7, RFC 2136 section 3.1.1): FORMERR, to a primary as to a
    stranger.
    """
    serve(daemon, [], allow_update=["192.0.2.0/24"], others=[comes("192.0.2.0/24")])
    for opcode in (dns.opcode.NOTIFY, dns.opcode.UPDATE):
        for end in ("c", "s"):
            message = dns.message.Message()
            message.set_opcode(opcode)
            assert lab.udp(message, end=end).rcode() == dns.rcode.FORMERR
            assert lab.tcp(message, end=end).rcode() == dns.rcode.FORMERR
    assert nothing_came(daemon)


def sent(lab):
    """Frames that have left the client."""
    return int(lab.ip("c", "-j", "-s", "link", "show", "c0").stdout.split('"tx":')[1]
               .split('"packets":')[1].split(",")[0])


def test_flood_of_notify(lab, daemon, tmp_path):
    """As fast as trafgen sends them: only workers see them, and questions are answered."""
    serve(daemon, ["198.51.100.0/24", *BY_KEY], others=[comes("198.51.100.0/24")])
    frame = query_frame(notify(name="example.net"))
    conf = tmp_path / "notify.cfg"
    conf.write_text("{ " + ", ".join(f"0x{octet:02x}" for octet in frame) + " }", encoding="ascii")
    before = sent(lab)
    lab.exec("c", "trafgen", "--dev", "c0", "--conf", conf, "--num", "300000", "--cpus", "1", "-t",
             "0", "--notouch-irq", "--no-sock-mem", timeout=60)
    n = sent(lab) - before
    wait_for("questions are answered", lambda: lab.is_answered("www.example.com"))
    assert n >= 300000
    assert counters_of_engine(daemon)["refused"] > 1000, "workers have seen some"
    assert nothing_came(daemon)


# ---- UPDATE --------------------------------------------------------------------------------------

def nsupdate(lab, *lines, key=KEY, tcp=False):
    """nsupdate's output; its exit status is 2 if the server refuses."""
    sign = ["-y", f"{key['algorithm']}:{key['name']}:{key['secret']}"] if key else []
    script = "\n".join([f"server {V4}", "zone example.com", *lines, "send", ""])
    done = lab.exec("c", "nsupdate", *(["-v"] if tcp else []), *sign, input=script, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("tcp", [False, True], ids=["udp", "tcp"])
def test_nsupdate(lab, daemon, tcp):
    serve(daemon, ["192.0.2.0/24"], allow_update=BY_KEY)
    assert nsupdate(lab, "add new.example.com 300 A 192.0.2.77", tcp=tcp) == (0, "")
    assert texts(lab.ask("new.example.com")) == ["192.0.2.77"]
    assert changes(transfer(lab, query("IXFR", serial=1))) == \
        [([], ["new.example.com 300 A 192.0.2.77"])]
    status, said = nsupdate(lab, "prereq nxdomain new.example.com", "del new.example.com", tcp=tcp)
    assert status == 2 and "YXDOMAIN" in said
    assert nsupdate(lab, "del new.example.com", tcp=tcp) == (0, "")
    assert not lab.ask("new.example.com").answer


@pytest.mark.parametrize("key, said", [(None, "REFUSED"), (WRONG, "NOTAUTH"),
                                       (tsig_key("strange.test."), "NOTAUTH")],
                         ids=["none", "wrong", "strange"])
def test_nsupdate_of_a_stranger(lab, daemon, key, said):
    serve(daemon, [], allow_update=BY_KEY)
    status, words = nsupdate(lab, "add new.example.com 300 A 192.0.2.77", key=key)
    assert status == 2
    assert said in words or "BADKEY" in words or "BADSIG" in words, words
    assert not lab.ask("new.example.com").answer


def test_update_of_a_zone_that_is_not_ours(lab, daemon):
    """NOTAUTH before NOTZONE: RFC 2136 section 3.1.2."""
    serve(daemon, [], allow_update=["192.0.2.0/24"])
    for name, rcode in (("example.org", "NOTAUTH"), ("example.com", "NOTZONE")):
        made = dns.update.UpdateMessage(name)
        made.add("elsewhere.test.", 300, "A", "192.0.2.1")
        assert dns.rcode.to_text(udp(lab, made).rcode()) == rcode, name


# Type and octets: what has no text, or none that is easily read back.
ODD = {"CAA": "0005697373756500"[:-2], "HTTPS": "000100029b0003287829",
       "SVCB": "000100029b0003613b62",
       "TLSA": "030101", "CSYNC": "000000010001", "APL": "0009010161", "LOC": "01",
       "CERT": "ffff0001c801",
       "IPSECKEY": "0a05020102", "TYPE11": "c0000201060000004000", "RP": "0361226200013b00",
       "AFSDB": "000103612262" + "00", "SSHFP": "0101", "TYPE65280": ""}
MALFORMED = {"CAA": "0000", "LOC": "0001", "EUI48": "01", "NID": "0001", "TLSA": "0301",
             "NSEC3": "0100", "SVCB": "000100000300010100"}


def test_odd_updates_outlive_flush_and_restart(lab, daemon):
    serve(daemon, ["192.0.2.0/24"], allow_update=["192.0.2.0/24"])
    made = dns.update.UpdateMessage("example.com")
    for kind, octets in ODD.items():
        data = bytes.fromhex(octets)
        made.add(f"odd-{kind}", 300,
                 dns.rdata.GenericRdata("IN", dns.rdatatype.from_text(kind), data))
    assert udp(lab, made).rcode() == dns.rcode.NOERROR

    def answers():  # as octets: dnspython does not read all of them
        asked = [dns.message.make_query(f"odd-{kind}.example.com", kind, id=1) for kind in ODD]
        return [lab.udp_wire(query.to_wire()) for query in asked]

    before = answers()
    assert all(wire[6:8] == b"\0\1" for wire in before)
    daemon.ctl("zone", "flush", "example.com")
    wait_for("the file has the changes",
             lambda: not daemon.json("zone", "status", "example.com")["zones"][0]["is_file_behind"])
    daemon.stop()
    (daemon.folder / "state").rename(daemon.folder / "state-before")  # the file has to do
    daemon.start()
    assert answers() == before


@pytest.mark.parametrize("kind", MALFORMED)
def test_malformed_update(lab, daemon, kind):
    serve(daemon, [], allow_update=["192.0.2.0/24"])
    made = dns.update.UpdateMessage("example.com")
    data = bytes.fromhex(MALFORMED[kind])
    made.add("odd", 300, dns.rdata.GenericRdata("IN", dns.rdatatype.from_text(kind), data))
    assert udp(lab, made).rcode() == dns.rcode.FORMERR


@pytest.mark.parametrize("kind", ["knotd", "nsd", "named"])
def test_secondaries_take_updates(lab, daemon, tmp_path, kind):
    serve(daemon, BY_KEY, notify="signed", allow_update=BY_KEY)
    with Secondary(lab, tmp_path, kind, key=KEY) as there:
        there.wait_for(1)
        assert nsupdate(lab, "add new.example.com 300 A 192.0.2.77") == (0, "")
        there.wait_for(2)
        there.wait_address("new.example.com", "192.0.2.77")
    assert counters(daemon)["ixfr_out"] == 1
