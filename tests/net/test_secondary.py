# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Volley as a secondary of knotd, nsd and named, and of primaries that break the rules."""
import base64
import hashlib
import math
import threading
import time

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.renderer
import dns.rrset
import dns.tsig
import dns.tsigkeyring
import pytest

from netlab import CLIENT4, V4, run, texts, wait_for
from primaries import KINDS, SECRETS, ZONE, Mood, Scripted, records, reply, soa, whole, wire, zone_text
from test_forward_tls import Authority

A, B, DEAD = "127.0.7.1", "127.0.7.2", "127.0.7.3"
NAME = "primary.example"


@pytest.fixture(name="certificates", scope="module")
def make_certificates(tmp_path_factory):
    """(bundle, certificate with its key, its pin, another bundle)"""
    folder = tmp_path_factory.mktemp("certificates")
    authority = Authority(folder, "authority")
    good = authority.certificate("good", f"DNS:{NAME}")
    key = run("openssl", "pkey", "-in", good, "-pubout", "-outform", "DER", "-out", folder / "der")
    assert not key.stderr
    pin = hashlib.sha256((folder / "der").read_bytes()).digest()
    return authority.bundle, good, pin, Authority(folder, "stranger").bundle


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_zone_then_its_changes(scene, kind):
    primary = scene.start(kind, A, algorithm="sha256")
    secondary = scene.secondary({"main": {"address": [A], "key": "k1"}},
                                [("sha256", SECRETS["sha256"])])
    assert secondary.expect("zone", ZONE, "1", "5")[4] == f"main {A}@53"
    assert secondary.has(primary.file)
    secondary.refresh()
    secondary.expect("checked", ZONE, "1")
    for serial in (2, 3):
        primary.change(serial, f"new{serial}", f"192.0.2.{serial}")
        secondary.refresh()
        secondary.expect("changes", ZONE, str(serial), "1")
    secondary.refresh("whole")
    secondary.expect("zone", ZONE, "3", "7")


def strings(name, numbers):
    return "".join(f'{name} IN TXT "{i:0240}"\n' for i in numbers)


def test_changes_of_an_rrset_that_fits_no_message(scene):
    """
    72 KiB of strings, of which half are exchanged, and then all go. knotd transfers no such RRset.
    """
    others = strings("a", range(200)) + strings("b", range(200)) + strings("c", range(200))
    primary = scene.start("nsd", A, text=zone_text(1, others + strings("large", range(300))))
    secondary = scene.secondary({"main": A})
    secondary.expect("zone", ZONE, "1", "905")
    for serial, more in ((2, strings("large", range(150, 450))), (3, "")):
        primary.file.write_text(zone_text(serial, others + more), encoding="ascii")
        primary.reload(serial)
        secondary.refresh()
        secondary.expect("changes", ZONE, str(serial), "1")
        assert secondary.has(primary.file)


@pytest.mark.parametrize("algorithm", ("sha384", "sha512", "sha224", "sha1", "md5"))
@pytest.mark.parametrize("kind", KINDS)
def test_other_algorithms(scene, kind, algorithm):
    scene.start(kind, A, algorithm=algorithm)
    scene.secondary({"main": {"address": [A], "key": "k1"}},
                    [(algorithm, SECRETS[algorithm])]).expect("zone", ZONE, "1")


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_key_and_none(scene, kind):
    scene.start(kind, A, algorithm="sha256")
    wrong = scene.secondary({"main": {"address": [A], "key": "k1"}}, [("sha256", bytes(32))])
    assert wrong.error()
    none = scene.secondary({"main": A})
    assert none.error()
    assert wrong.is_quiet() and none.is_quiet()


@pytest.mark.parametrize("kind", KINDS)
def test_without_keys(scene, kind):
    scene.start(kind, A)
    scene.secondary({"main": A}).expect("zone", ZONE, "1")


@pytest.mark.parametrize("kind", KINDS)
def test_without_ixfr(scene, kind):
    primary = scene.start(kind, A)
    secondary = scene.secondary({"main": A}, ixfr=False)
    secondary.expect("zone", ZONE, "1")
    primary.change(2, "new", "192.0.2.77")
    secondary.refresh()
    secondary.expect("zone", ZONE, "2", "6")


TLS_KINDS = [kind for kind, of in KINDS.items() if of.has_tls]


@pytest.mark.parametrize("kind", TLS_KINDS)
def test_over_tls(scene, certificates, kind):
    bundle, certificate, pin, _ = certificates
    primary = scene.start(kind, A, algorithm="sha256", tls=certificate)
    strict = {"address": [A], "key": "k1", "tls": "strict", "tls-name": NAME,
              "tls-bundle": str(bundle)}
    pinned = {"address": [A], "key": "k1", "tls": "strict", "tls-pin": pin_text(pin)}
    opportunistic = {"address": [A], "key": "k1", "tls": "opportunistic"}
    for remote in (strict, pinned, opportunistic):
        secondary = scene.secondary({"main": remote}, [("sha256", SECRETS["sha256"])])
        assert secondary.expect("zone", ZONE, "1")[4] == f"main {A}@853"
    primary.change(2, "new", "192.0.2.2")
    secondary.refresh()
    secondary.expect("changes", ZONE, "2", "1")


@pytest.mark.parametrize("kind", TLS_KINDS)
def test_whoever_cannot_prove_who_it_is_gets_no_question(scene, certificates, kind):
    bundle, certificate, pin, stranger = certificates
    scene.start(kind, A, tls=certificate)
    for wrong in ({"tls-name": NAME, "tls-bundle": str(stranger)},
                  {"tls-name": "other.example", "tls-bundle": str(bundle)},
                  {"tls-pin": pin_text(bytes(32))},
                  {"tls-name": NAME, "tls-bundle": str(bundle), "tls-pin": pin_text(pin[::-1])}):
        secondary = scene.secondary({"main": {"address": [A], "tls": "strict", **wrong}})
        assert "TLS: " in secondary.error()
        assert secondary.is_quiet()


def pin_text(pin):
    return base64.b64encode(pin).decode()


def test_the_first_is_dead(scene):
    primary = scene.start("knotd", A)
    secondary = scene.secondary({"dead": DEAD, "main": A})
    assert secondary.expect("zone", ZONE, "1")[4] == f"main {A}@53"
    primary.change(2, "new", "192.0.2.2")
    secondary.refresh()
    assert secondary.expect("changes", ZONE, "2")[4] == f"main {A}@53"


def test_all_addresses_of_a_primary(scene):
    scene.start("knotd", A)
    secondary = scene.secondary({"main": {"address": [DEAD, A]}})
    assert secondary.expect("zone", ZONE, "1")[4] == f"main {A}@53"


def test_silent_primary_costs_no_more_than_its_timeouts(scene):
    Scripted(scene, B)
    scene.start("knotd", A)
    secondary = scene.secondary({"silent": B, "main": A})
    secondary.expect("zone", ZONE, "1", seconds=60)


# Primaries that are scripted


def dies(query, _connection):
    yield wire(reply(query, soa(2), *records()))
    raise OSError("it dies")


def garbage(query, _connection):
    return query.wire[:2] + bytes(range(200))


def other_id(query, _connection):
    out = whole(query, 2)
    return bytes((out[0] ^ 1,)) + out[1:]


def refuses(query, _connection):
    message = reply(query)
    message.set_rcode(dns.rcode.REFUSED)
    return message.to_wire()


def other_zone(query, _connection):
    return wire(reply(query, dns.rrset.from_text("elsewhere.", 300, "IN", "A", "192.0.2.1"),
                      soa(2), *records(), soa(2)))


def bad_zone(query, _connection):
    return wire(reply(query, soa(2), dns.rrset.from_text(f"www.{ZONE}", 300, "IN", "CNAME", "a."),
                      dns.rrset.from_text(f"www.{ZONE}", 300, "IN", "A", "192.0.2.1"), soa(2)))


def endless(query, _connection):
    yield wire(reply(query, soa(2), *records()))
    n = 0
    while True:
        message = reply(query,
                        *(dns.rrset.from_text(f"n{n + i}.{ZONE}", 300, "IN", "A", "192.0.2.1")
                                 for i in range(400)))
        n += 400
        yield wire(message)


WRONG = {"dies": dies, "garbage": garbage, "other id": other_id, "refuses": refuses,
         "other zone": other_zone, "endless": endless, "bad zone": bad_zone}


@pytest.mark.parametrize("how", WRONG)
def test_what_goes_wrong_changes_nothing(scene, how):
    primary = Mood(scene, A, retry=900)
    secondary = scene.secondary({"main": A}, **{"max-transfer-size": "50K"})
    secondary.expect("zone", ZONE, "1")
    primary.serial, primary.tcp = 2, WRONG[how]
    secondary.refresh()
    if how == "bad zone":
        secondary.expect("refused", ZONE)
    assert secondary.error()
    assert secondary.is_quiet()
    primary.tcp = None
    secondary.refresh()
    secondary.expect("zone", ZONE, "2")


def test_a_slow_transfer_ends(scene):
    """It goes on for ever, but not longer than it may."""
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A}, **{"max-transfer-time": "1s"})
    secondary.expect("zone", ZONE, "1")
    primary.serial = 2
    primary.tcp = lambda query, _: iter((wire(reply(query, soa(2), *records())), hold()))
    secondary.refresh()
    assert "longer than 1 s" in secondary.error()


def hold():
    threading.Event().wait(5)
    raise OSError("enough")


def test_a_liar_is_not_asked_over_and_over(scene):
    """It tells of a newer zone and gives the old one."""
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A})
    secondary.expect("zone", ZONE, "1")
    primary.udp = lambda query: wire(reply(query, soa(9)))
    before = len(primary.server.seen)
    secondary.refresh()
    secondary.expect("checked", ZONE, "1")
    # that is repeated, by UDP
    asked = [kind for kind in primary.server.seen[before:] if kind != "SOA"]
    assert len(asked) <= 2


def test_a_notify_that_lies(scene):
    """Each leads to less: while they come, the primary has peace."""
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A})
    secondary.expect("zone", ZONE, "1")
    before, begun = len(primary.server.seen), time.monotonic()
    for serial in range(100, 400):
        secondary.say("notified", ZONE, str(serial))
        secondary.say("status", ZONE)
        while secondary.next()[0] != "status":
            pass
    asked = len(primary.server.seen) - before
    # two for each round; the rounds are 250 ms apart, and then twice as long each time
    n_rounds = 2 + int(math.log2(1 + (time.monotonic() - begun) / 0.225))
    assert asked <= 2 * n_rounds
    primary.serial = 500
    secondary.say("notified", ZONE, "500")
    while (line := secondary.next(60))[0] == "checked":
        pass
    assert line[:3] == ("zone", ZONE, "500")


def test_a_notify_during_a_transfer(scene):
    """A version that was published during the transfer is fetched after it."""
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A})
    secondary.expect("zone", ZONE, "1")

    def changes(query, _connection):
        primary.tcp = None
        out = whole(query, 2)
        primary.serial = 3
        secondary.say("notified", ZONE, "3")
        return out
    primary.serial, primary.tcp = 2, changes
    secondary.say("notified", ZONE, "2")
    secondary.expect("zone", ZONE, "2")
    secondary.expect("zone", ZONE, "3")


def test_what_a_notify_told_is_there_already(scene):
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A})
    secondary.expect("zone", ZONE, "1")
    before = list(primary.server.seen)
    secondary.say("notified", ZONE, "1")
    secondary.status()
    assert primary.server.seen == before


def test_changes_that_do_not_fit(scene):
    """The whole zone is asked for when control cannot take the changes."""
    primary = scene.start("knotd", A)
    secondary = scene.secondary({"main": A})
    secondary.expect("zone", ZONE, "1")
    primary.change(2, "new", "192.0.2.2")
    secondary.say("refuse", ZONE)
    secondary.refresh()
    secondary.expect("refused", ZONE)
    secondary.expect("zone", ZONE, "2", "6")


def test_no_ixfr_at_the_primary(scene):
    """NOTIMP: the whole zone instead, from the same."""
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A})
    secondary.expect("zone", ZONE, "1")

    def no_ixfr(query, _connection):
        if query.question[0].rdtype == dns.rdatatype.AXFR:
            return whole(query, 2)
        message = reply(query)
        message.set_rcode(dns.rcode.NOTIMP)
        return message.to_wire()
    primary.serial, primary.tcp = 2, no_ixfr
    secondary.refresh()
    secondary.expect("zone", ZONE, "2")
    assert primary.server.n_connections <= 2


def test_a_connection_is_used_again(scene):
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A})
    for serial in range(1, 20):
        secondary.expect("zone", ZONE, str(serial))
        primary.serial = serial + 1
        secondary.say("notified", ZONE, str(serial + 1))
    secondary.expect("zone", ZONE, "20")
    assert primary.server.n_connections == 1


def test_a_connection_that_was_closed_meanwhile(scene):
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A})
    secondary.expect("zone", ZONE, "1")
    primary.serial = 2
    n_asked = 0

    def closes_once(query, _connection):
        nonlocal n_asked
        n_asked += 1
        return whole(query, 2) if n_asked > 1 else None
    primary.tcp = closes_once
    secondary.say("notified", ZONE, "2")
    secondary.expect("zone", ZONE, "2")
    assert (n_asked, primary.server.n_connections) == (2, 2)


def test_an_old_process_behind_an_old_connection(scene):
    """As nsd does: a new connection sees the new version, a connection that was kept the old
    one."""
    primary = Mood(scene, A)
    secondary = scene.secondary({"main": A})
    secondary.expect("zone", ZONE, "1")
    first = []

    def by_connection(query, connection):
        first.append(connection)
        return whole(query, 2 if connection is not first[0] else 1)
    primary.serial, primary.tcp = 2, by_connection
    secondary.refresh()
    secondary.expect("zone", ZONE, "2")


@pytest.mark.parametrize("how", ("forged", "unsigned"))
def test_signatures_of_a_scripted_primary(scene, how):
    right = dns.tsigkeyring.from_text({"k1": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="})
    wrong = dns.tsigkeyring.from_text({"k1": "AAAAAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="})

    def answer(query, *_):
        message = reply(query, soa(1), *records()) if how == "unsigned" else reply(query, soa(1))
        if how == "unsigned":
            return wire(message)
        message.use_tsig(wrong, "k1.", algorithm=dns.tsig.HMAC_SHA256)
        message.request_mac = query.mac
        return message.to_wire()
    Scripted(scene, A, answer, answer, keyring=right)
    secondary = scene.secondary({"main": {"address": [A], "key": "k1"}},
                                [("sha256", SECRETS["sha256"])])
    assert secondary.error()
    assert secondary.is_quiet()


def test_expiry(scene):
    primary = Mood(scene, A, refresh=1, retry=1, expire=1)
    secondary = scene.secondary({"main": A}, **{"expire-min": "1s", "refresh-min": "1s"})
    secondary.expect("zone", ZONE, "1")
    primary.server.close()
    while (line := secondary.next())[0] in ("checked", "zone"):
        pass
    assert line == ("expired", ZONE)


def test_many_zones_few_transfers(scene):
    """2,000 zones load, and never more at a time than may."""
    names = [f"z{i}.test." for i in range(2000)]
    now, most = set(), 0

    def answer(query, connection):
        nonlocal most
        name = query.question[0].name.to_text()
        now.add(connection)
        most = max(most, len(now))
        out = wire(reply(query, *[dns.rrset.from_text(name, 300, "IN", *data) for data in (
            ("SOA", "ns. h. 1 3600 900 86400 60"), ("NS", "ns."), ("SOA",
                                                                   "ns. h. 1 3600 900 86400 60"))]))
        now.discard(connection)
        return out
    primary = Scripted(scene, A, tcp=answer)
    secondary = scene.secondary({"main": A},
                                zones=[{"name": n, "primaries": ["main"]} for n in names])
    seen = {secondary.expect("zone", seconds=60)[1] for _ in names}
    assert seen == set(names)
    assert most <= 16 and primary.n_connections <= 32, (most, primary.n_connections)


# The daemon


def begin(daemon, *addresses, signed=True, **zone):
    remotes = [{"name": f"p{i}", "address": [a], **({"key": "k1"} if signed else {})}
               for i, a in enumerate(addresses)]
    key = {"name": "k1", "algorithm": "hmac-sha256",
           "secret": base64.b64encode(SECRETS["sha256"]).decode()}
    return daemon.start(server={"storage": str(daemon.folder / "state")}, keys=[key],
                        remotes=remotes,
                        zones=[{"name": ZONE, "primaries": [r["name"] for r in remotes], **zone}])


def serial(lab):
    """The serial number that Volley answers with; None: SERVFAIL."""
    answer = lab.ask(ZONE, "SOA")
    if answer.rcode() == dns.rcode.SERVFAIL:
        return None
    return answer.answer[0][0].serial


@pytest.mark.parametrize("kind", KINDS)
def test_served_and_kept_up_to_date(lab, there, daemon, kind):
    """After NOTIFY the new version is served, also in place of old answers in the driver's
    cache."""
    primary = there.start(kind, CLIENT4, algorithm="sha256", notify=V4)
    begin(daemon, CLIENT4)
    wait_for("the zone is there", lambda: serial(lab) == 1)
    for i in range(2, 6):
        assert lab.ask(f"new{i}.{ZONE}").rcode() == dns.rcode.NXDOMAIN
        primary.change(i, f"new{i}", f"192.0.2.{i}")
        wait_for("Volley has it, too", lambda n=i: serial(lab) == n, 20)
        # of what has changed one name is withdrawn from the cache behind the other
        wait_for("the name is there",
                 lambda n=i: texts(lab.ask(f"new{n}.{ZONE}")) == [f"192.0.2.{n}"])
    assert texts(lab.ask(f"www.{ZONE}")) == ["192.0.2.10"]


def test_a_restart_serves_at_once(lab, there, daemon):
    primary = there.start("knotd", CLIENT4, algorithm="sha256", notify=V4)
    begin(daemon, CLIENT4)
    wait_for("the zone is there", lambda: serial(lab) == 1)
    wait_for("its file is written", lambda: list((daemon.folder / "state").glob("zones/*.zone")))
    primary.change(2, "new", "192.0.2.2")
    wait_for("Volley has it, too", lambda: serial(lab) == 2, 20)
    primary.stop()
    daemon.kill()
    begin(daemon, CLIENT4)
    assert serial(lab) == 2
    assert texts(lab.ask(f"new.{ZONE}")) == ["192.0.2.2"]


def test_served_until_it_expires(lab, there, daemon, clock):
    primary = Mood(there, CLIENT4, refresh=1, retry=1, expire=8)
    begin(daemon, CLIENT4, signed=False,
          **{"refresh-min": "1s", "retry-min": "1s", "expire-min": "1s"})
    wait_for("the zone is there", lambda: serial(lab) == 1)
    primary.serial, primary.tcp = 2, dies
    wait_for("a transfer dies", lambda: "AXFR" in primary.server.seen[2:] or
             primary.server.seen.count("IXFR") > 0)
    assert serial(lab) == 1
    primary.server.close()
    wait_for("it expires", lambda: clock.leap(1) or serial(lab) is None, 30)


def test_comes_back_after_it_has_expired(lab, there, daemon):
    primary = Mood(there, CLIENT4, refresh=1, retry=1, expire=2)
    begin(daemon, CLIENT4, signed=False,
          **{"refresh-min": "1s", "retry-min": "1s", "expire-min": "1s",
                                            "retry-max": "1s"})
    wait_for("the zone is there", lambda: serial(lab) == 1)
    primary.udp = primary.tcp = lambda *_: None
    wait_for("it expires", lambda: serial(lab) is None, 30)
    primary.udp = primary.tcp = None
    wait_for("it is back", lambda: serial(lab) == 1, 30)


def test_the_daemon_takes_no_wrong_signature(lab, there, daemon):
    there.start("knotd", CLIENT4, algorithm="sha512")
    begin(daemon, CLIENT4)
    wait_for("a warning is written", lambda: f"{ZONE}: p0 {CLIENT4}@53: " in daemon.log())
    assert serial(lab) is None
