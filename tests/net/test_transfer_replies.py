# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies to other name servers: their extra records and options, and which server gets which
reply."""
import ssl
import struct
import time

import dns.edns
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import dns.update
import pytest

from netlab import CLIENT4, V4, remote, wait_for, write_zone, zone
from primaries import ZONE, Mood, reply, soa, whole, wire
from secondaries import Secondary, certificate
from test_primary import (BY_KEY, KEY, RING, WRONG_RING, change, comes, counters, notify,
                          nothing_came, query, receive_wire, serve, update)


# ---- OPT in replies ------------------------------------------------------------------------------

def signed_answer(lab, asked, tcp):
    if not tcp:
        return dns.message.from_wire(lab.udp_wire(asked.to_wire()), keyring=RING,
                                     request_mac=asked.mac)
    with lab.connect("c", V4) as sock:
        dns.query.send_tcp(sock, asked)
        return dns.message.from_wire(receive_wire(sock), keyring=RING, request_mac=asked.mac)


OPT_ROWS = [
    # message, rcode, extended error
    pytest.param(lambda: query("AXFR", "example.net", RING, edns=0), "REFUSED", 18, id="axfr"),
    pytest.param(lambda: query("IXFR", "example.org", RING, serial=1, edns=0), "NOTAUTH", 20,
                 id="ixfr"),
    pytest.param(lambda: query("IXFR", ring=RING, edns=0), "FORMERR", None, id="ixfr without SOA"),
    pytest.param(lambda: notify(RING), "REFUSED", 18, id="notify"),
    pytest.param(lambda: notify(RING, "strange.test"), "NOTAUTH", 20, id="strange notify"),
    pytest.param(lambda: notify(RING, "example.net"), "NOERROR", None, id="notify of a secondary"),
    pytest.param(lambda: update(), "NOERROR", None, id="update"),
    pytest.param(lambda: dns.update.Update("example.org"), "NOTAUTH", 20, id="strange update"),
]


@pytest.mark.parametrize("tcp", [False, True], ids=["udp", "tcp"])
def test_replies_have_opt_as_their_query(lab, daemon, tcp):
    """RFC 6891 section 7: a query with OPT gets one, refused or not; a query without OPT gets
    none."""
    serve(daemon, BY_KEY, allow_update=BY_KEY, others=[comes(*BY_KEY)])
    for row in OPT_ROWS:
        make, rcode, words = row.values
        for edns in (False, True):
            asked = make()
            asked.use_edns(0 if edns else False, ednsflags=dns.flags.DO)
            asked.use_tsig(RING, algorithm=KEY["algorithm"])
            got = signed_answer(lab, asked, tcp or row.id == "axfr")
            assert dns.rcode.to_text(got.rcode()) == rcode, row.id
            assert (got.edns, got.had_tsig) == (0 if edns else -1, True), row.id
            if edns:
                assert got.ednsflags & dns.flags.DO
                assert [o.code for o in got.options
                        if o.otype == 15] == ([words] if words else []), row.id


def test_a_zone_that_is_not_there_yet_has_opt_too(lab, daemon):
    serve(daemon, [], others=[zone("example.net", primaries=["nowhere"], allow_transfer=BY_KEY)])
    for edns in (-1, 0):
        got = signed_answer(lab, query(name="example.net", ring=RING, edns=edns), True)
        assert (dns.rcode.to_text(got.rcode()), got.edns) == ("SERVFAIL", edns)


def test_opt_of_a_wrong_signature(lab, daemon):
    """It does not say that it is not authoritative: the signature is what is wrong."""
    serve(daemon, BY_KEY)
    asked = query(ring=WRONG_RING, edns=0)
    with lab.connect("c", V4) as sock:
        dns.query.send_tcp(sock, asked)
        got = dns.message.from_wire(receive_wire(sock), keyring=False, ignore_trailing=True,
                                    continue_on_error=True)
    assert (dns.rcode.to_text(got.rcode()), got.edns, list(got.options)) == ("NOTAUTH", 0, [])


# ---- Who is not one of server.allow --------------------------------------------------------------

ELSEWHERE = {"server": {"allow": ["198.51.100.0/24"]}}


def rcode(lab, asked, tcp=False):
    return dns.rcode.to_text(signed_answer(lab, asked, tcp).rcode())


@pytest.mark.parametrize("rules, ring", [(BY_KEY, RING), (["192.0.2.0/24"], None)],
                         ids=["key", "prefix"])
@pytest.mark.parametrize("tcp", [False, True], ids=["udp", "tcp"])
def test_who_may_transfer_may_ask_for_the_soa(lab, daemon, rules, ring, tcp):
    """
    server.allow is for questions; rules of a zone hold whatever it says, for what they are about.
    """
    serve(daemon, rules, allow_update=BY_KEY, **ELSEWHERE,
          others=[comes(*BY_KEY), zone("example.org", write_zone(daemon.folder / "other.zone"))])
    for _ in range(2):
        assert signed_answer(lab, query("SOA", ring=ring), tcp).answer[0][0].serial == 1
        # what nobody has said anything of
        assert rcode(lab, query("A", "www.example.com", ring), tcp) == "REFUSED"
        assert rcode(lab, query("SOA", "example.org", ring), tcp) == "REFUSED"
        assert rcode(lab, query("SOA", "www.example.com", ring), tcp) == "REFUSED"
    assert len(signed_answer(lab, query("IXFR", ring=ring, serial=1), tcp).answer) == 1
    assert rcode(lab, notify(RING, "example.net"), tcp) == "NOERROR"
    changed = update()
    changed.use_tsig(RING, algorithm=KEY["algorithm"])
    assert rcode(lab, changed, tcp) == "NOERROR"


def test_strangers_are_refused_by_the_worker(lab, daemon):
    """No other thread sees their messages."""
    serve(daemon, BY_KEY, **ELSEWHERE)
    for kind in ("SOA", "A"):
        for tcp in (False, True):
            assert rcode(lab, query(kind), tcp) == "REFUSED"
    assert nothing_came(daemon)
    assert counters(daemon)["connections"] == 0


@pytest.mark.parametrize("kind", ["knotd", "nsd", "named"])
def test_secondaries_that_are_known_by_their_key_alone(lab, daemon, tmp_path, kind):
    path = serve(daemon, BY_KEY, notify="signed", **ELSEWHERE)
    with Secondary(lab, tmp_path, kind, key=KEY) as there:
        there.wait_for(1)
        change(daemon, path, 2, address="192.0.2.22")
        there.wait_for(2)


# ---- EXPIRE (RFC 7314) ---------------------------------------------------------------------------

EXPIRE = 9


def expire(lab, asked, tcp=False):
    """The reply's EXPIRE value; None: it has none."""
    asked.use_edns(0, options=[dns.edns.GenericOption(EXPIRE, b"")])
    if asked.keyring:
        asked.use_tsig(RING, algorithm=KEY["algorithm"])
    got = signed_answer(lab, asked, tcp)
    assert got.edns == 0 and got.rcode() == dns.rcode.NOERROR and got.answer
    return next((int.from_bytes(o.data, "big") for o in got.options if o.otype == EXPIRE), None)


@pytest.mark.parametrize("rules, ring", [(BY_KEY, RING), (["192.0.2.0/24"], None)],
                         ids=["key", "prefix"])
def test_a_primary_says_what_its_soa_says(lab, daemon, rules, ring):
    serve(daemon, rules, others=[zone("example.org", write_zone(daemon.folder / "other.zone"))])
    for _ in range(3):  # the driver has the answer to who does not ask for it
        assert lab.ask("example.com", "SOA").answer
    for tcp in (False, True):
        assert expire(lab, query("SOA", ring=ring), tcp) == 86400
        assert expire(lab, query("IXFR", ring=ring, serial=1), tcp) == 86400
    assert expire(lab, query("AXFR", ring=ring), True) == 86400
    # who may not transfer it is told what everyone is told
    assert expire(lab, query("SOA", "example.org", ring)) is None
    assert not signed_answer(lab, query("SOA", ring=ring, edns=0), False).options


def test_expire_in_padded_replies(lab, daemon, tmp_path):
    """Beside padding, over TLS."""
    tls = certificate(tmp_path)
    serve(daemon, ["192.0.2.0/24 tls"], tls=tls)
    context = ssl.create_default_context(cafile=tls["bundle"])
    for asked in (query(), query("IXFR", serial=1), query("SOA")):
        asked.use_edns(0,
                       options=[dns.edns.GenericOption(EXPIRE, b""),
                                dns.edns.GenericOption(12, b"")])
        with lab.connect("c", V4, 853) as plain, \
                context.wrap_socket(plain, server_hostname=tls["name"]) as sock:
            dns.query.send_tcp(sock, asked)
            octets = receive_wire(sock)
        options = {o.otype: o.data for o in dns.message.from_wire(octets, xfr=True).options}
        assert options[EXPIRE] == (86400).to_bytes(4, "big")
        assert (asked.question[0].rdtype == dns.rdatatype.SOA
                or (12 in options and len(octets) % 468 == 0))


@pytest.mark.parametrize("left", [3600, 0], ids=["fresh", "expired"])
def test_a_secondary_says_what_is_left(lab, there, daemon, left):
    """
    It is good for an hour here, whatever its SOA says; its own secondaries must not take it for
    longer.
    """
    primary = Mood(there, CLIENT4, refresh=1, retry=1)
    daemon.start(server={"storage": str(daemon.folder / "state")},
                 remotes=[remote("main", CLIENT4)],
                 zones=[zone(ZONE, primaries=["main"], allow_transfer=["any"], expire_min="1s",
                             refresh_min="1s", retry_min="1s", retry_max="1s",
                             expire_max=f"{left or 20}s")])
    wait_for("the zone is there", lambda: lab.ask(ZONE, "SOA").answer)
    if left:
        assert left - 60 <= expire(lab, query("SOA", ZONE)) <= left
        assert left - 60 <= expire(lab, query("AXFR", ZONE), True) <= left
        return
    primary.udp = primary.tcp = lambda *_: None
    first = expire(lab, query("SOA", ZONE))
    wait_for("it becomes less", lambda: expire(lab, query("SOA", ZONE)) < first, 10)


def with_expire(octets, seconds):
    """A reply without OPT, with one that has it."""
    opt = b"\0" + struct.pack("!HHIHHHI", dns.rdatatype.OPT, 1232, 0, 8, EXPIRE, 4, seconds)
    return octets[:10] + struct.pack("!H", 1) + octets[12:] + opt


@pytest.mark.parametrize("how", ["AXFR", "IXFR"])
def test_what_a_primary_says_of_expiry_holds(scene, how):
    """It is a secondary itself, and has little time left: so have we, whatever the SOA says."""
    primary = Mood(scene, "127.0.7.1")
    secondary = scene.secondary({"main": "127.0.7.1"})
    secondary.expect("zone", ZONE, "1")
    primary.serial = 2
    primary.tcp = lambda query, _: with_expire(whole(query, 2), 2)
    secondary.refresh(*(["whole"] if how == "AXFR" else []))
    secondary.expect("zone", ZONE, "2")
    assert [kind for kind in primary.server.seen if kind != "SOA"][-1] == how
    secondary.expect("expired", ZONE, seconds=30)


def test_a_check_makes_no_expiry_sooner(scene):
    """RFC 7314 section 4: a zone that was valid for longer stays so."""
    primary = Mood(scene, "127.0.7.1")
    primary.udp = lambda query: with_expire(wire(reply(query, soa(1))), 1)
    secondary = scene.secondary({"main": "127.0.7.1"})
    secondary.expect("zone", ZONE, "1")
    secondary.refresh()
    secondary.expect("checked", ZONE, "1")
    time.sleep(2)
    assert secondary.is_quiet()


def test_a_primary_that_does_not_know_opt(scene):
    """FORMERR: asked once more without it, by AXFR and IXFR."""
    primary = Mood(scene, "127.0.7.1")
    seen = []

    def knows_none(query, _connection):
        seen.append((dns.rdatatype.to_text(query.question[0].rdtype), query.edns))
        if query.edns < 0:
            return whole(query, primary.serial)
        message = reply(query)
        message.set_rcode(dns.rcode.FORMERR)
        return message.to_wire()
    primary.tcp = knows_none
    secondary = scene.secondary({"main": "127.0.7.1"})
    secondary.expect("zone", ZONE, "1")
    primary.serial = 2
    secondary.refresh()
    secondary.expect("zone", ZONE, "2")
    assert seen == [("AXFR", 0), ("AXFR", -1), ("IXFR", 0), ("IXFR", -1)]
