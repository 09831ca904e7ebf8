# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recursion that a reload turns on, off and on again, in a daemon that was started without it."""
import contextlib
import itertools

import dns.flags
import dns.message
import dns.rcode
import pytest

from netlab import CLIENT4, V4, V6, Answered, texts, wait_for, zone
from test_identity import make_clients
from test_recursion import FIRST, SECOND, ask, hits, make_upstream, recursion, send, wait_outstanding
from upstreams import address_answer, unbound_version

__all__ = ["make_clients", "make_upstream"]

OWN = "$TTL 300\n@ SOA ns hostmaster 1 7200 3600 1209600 60\n@ NS ns\nns A 192.0.2.1\nout CNAME www.far.\n*.w A 192.0.2.9\n"


@pytest.fixture(name="zones")
def make_zones(tmp_path, upstream):
    assert upstream
    path = tmp_path / "own.zone"
    path.write_text(OWN, encoding="ascii")
    return [zone("example.com"), zone("own.test", path)]


def turn(daemon, zones, **keys):
    """Recursion as KEYS say; none: off."""
    daemon.configure(zones=zones, recursion=recursion(**keys) if keys else {})
    daemon.ctl("zone", "reload")


def test_it_begins_by_a_reload(lab, daemon, zones):
    """By worker, driver and TCP, for clients that may recurse; also for targets of our zones'
    aliases, of which the driver had only the alias."""
    daemon.start(zones=zones)
    for where in (V4, V6):
        assert ask(lab, "www.far", where=where).rcode() == dns.rcode.REFUSED
        assert texts(ask(lab, "out.own.test", where=where)) == ["www.far."]
    assert hits(daemon, lambda: ask(lab, "out.own.test")) == 1
    assert daemon.status()["recursion"] == {"mode": "off", "zones_for_everyone": True,
                                             "libunbound": unbound_version()}
    turn(daemon, zones, allow=[CLIENT4], **{"max-outstanding": 64})
    assert daemon.status()["recursion"]["max_outstanding"] == 64 and not daemon.degraded()
    first = ask(lab, "www.far")
    assert texts(first) == [FIRST] and first.flags & dns.flags.RA
    with Answered(daemon) as asked:
        assert texts(ask(lab, "www.far")) == [FIRST]
    assert asked.by == {"driver": 1}
    assert texts(lab.tcp(dns.message.make_query("tcp.far", "A"))) == [FIRST]
    assert texts(ask(lab, "out.own.test")) == [FIRST, "www.far."]
    assert ask(lab, "www.far", where=V6).rcode() == dns.rcode.REFUSED
    assert texts(ask(lab, "out.own.test", where=V6)) == ["www.far."]
    wait_for("all are released",
             lambda: daemon.stats()["responder"]["released"] ==
             daemon.stats()["responder"]["taken"])


@pytest.mark.parametrize("more", [{}, {"stubs": [{"zone": "stub.", "address": FIRST}]}],
                         ids=["forwarder", "libunbound"])
def test_off_and_on_again(lab, daemon, zones, more):
    daemon.start(zones=zones)
    for forward in (FIRST, SECOND, FIRST):
        turn(daemon, zones, forward=[forward], **more)
        assert daemon.status()["recursion"]["by"] == ("libunbound" if more else "forwarder")
        assert texts(ask(lab, "www.far")) == [forward]
        assert hits(daemon, lambda: ask(lab, "www.far")) == 1
        turn(daemon, zones)
        assert ask(lab, "www.far").rcode() == dns.rcode.REFUSED
        assert texts(ask(lab, "out.own.test")) == ["www.far."]
        assert daemon.status()["recursion"]["mode"] == "off"


def test_it_begins_with_policies(lab, daemon, zones, tmp_path):
    """
    Lists and local data of the reload that turns it on hold when that has ended, and go with it.
    """
    path = tmp_path / "block.zone"
    path.write_text("$TTL 60\n@ SOA ns hostmaster 1 7200 3600 1209600 60\n@ NS ns\nbad.far CNAME "
                    ".\n", encoding="ascii")
    daemon.start(zones=zones)
    for _ in range(2):
        turn(daemon, zones, rpz=[{"name": "block.rpz", "file": str(path)}],
             **{"local-data": ["printer.far. 300 IN A 192.0.2.9"]})
        for _ in range(2):
            assert ask(lab, "bad.far").rcode() == dns.rcode.NXDOMAIN
            assert texts(ask(lab, "printer.far")) == ["192.0.2.9"]
            assert texts(ask(lab, "www.far")) == [FIRST]
        turn(daemon, zones)
        for name in ("bad.far", "printer.far", "www.far"):
            assert ask(lab, name).rcode() == dns.rcode.REFUSED


def test_a_first_reload_that_cannot_be(lab, daemon, zones):
    """Nothing has changed behind it, and the next one holds what it says."""
    daemon.start(zones=zones)
    daemon.configure(zones=zones,
                     recursion=recursion(**{"trust-anchor": "nowhere", "max-outstanding": 16}))
    refused = daemon.ctl("zone", "reload", check=False)
    assert refused.returncode == 1 and "nowhere: No such file" in refused.stderr
    assert ask(lab, "www.far").rcode() == dns.rcode.REFUSED
    turn(daemon, zones, **{"max-outstanding": 1000})
    waiting = [send(lab, f"w{n}.far") for n in range(100)]  # more than 16 would have room for
    for sock in waiting:
        with sock:
            assert texts(dns.message.from_wire(sock.recv(4096))) == [FIRST]


def test_questions_that_wait_when_it_ends(lab, daemon, zones, upstream):
    """They are answered SERVFAIL, at once, and their places serve again."""
    silent = "127.0.1.99"
    upstream.script("silent.", lambda query, tcp: None, silent)
    daemon.start(zones=zones)
    for n in range(2):
        turn(daemon, zones, forward=[silent])
        waiting = [send(lab, f"w{n}-{k}.far") for k in range(20)]
        wait_outstanding(daemon, 20)
        turn(daemon, zones)
        for sock in waiting:
            with sock:
                assert dns.message.from_wire(sock.recv(4096)).rcode() == dns.rcode.SERVFAIL
    turn(daemon, zones, forward=[SECOND])
    assert texts(ask(lab, "www.far")) == [SECOND]


def test_the_driver_is_heard(lab, daemon, zones, upstream):
    """Answers that it reports as about to expire are fetched again, as in a daemon that was started
    with recursion."""
    def reply(query, _tcp):
        answer = address_answer(query)
        for rrset in answer.answer:
            rrset.ttl = 8  # the least that is fetched anew
        return answer.to_wire()
    upstream.script("short.", reply, "127.0.1.50")
    daemon.start(zones=zones)
    turn(daemon, zones, forward=["127.0.1.50"])
    ask(lab, "a.short")
    wait_for("it is fetched anew",
             lambda: ask(lab, "a.short") and daemon.stats()["engine"]["refreshed"])


def test_load_while_it_changes(lab, daemon, zones, clients):
    """
    By driver, worker and TCP: each question is answered, as before or as behind the reload, and
    none SERVFAIL.
    """
    daemon.start(zones=zones)
    lab.ask()
    numbers = itertools.count()

    def said(answer):
        return texts(answer) or dns.rcode.to_text(answer.rcode())
    upstream = [[FIRST], "REFUSED"]
    asking = [clients(lambda: said(lab.ask()), [["192.0.2.80", "192.0.2.81"]]),
              clients(lambda: said(lab.ask(f"n{next(numbers)}.w.own.test")), [["192.0.2.9"]]),
              clients(lambda: said(lab.ask("out.own.test", where=V6)), [["www.far."]]),
              clients(lambda: said(lab.ask("out.own.test")), [["www.far."], [FIRST, "www.far."]]),
              clients(lambda: said(lab.ask("www.far")), upstream),
              clients(lambda: said(lab.ask(f"n{next(numbers)}.far")), upstream),
              clients(lambda: said(lab.tcp(dns.message.make_query(f"n{next(numbers)}.far", "A"))),
                      upstream)]
    for n in range(8):
        for one in asking:
            one.wait_more()
        # what waits for upstream when recursion ends is SERVFAIL:
        # test_questions_that_wait_when_it_ends()
        if n % 2:
            with contextlib.ExitStack() as quiet:
                for one in asking[3:]:
                    quiet.enter_context(one.quiet())
                turn(daemon, zones)
        else:
            turn(daemon, zones, allow=[CLIENT4])
