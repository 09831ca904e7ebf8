# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rights of clients: recursion.allow and server.allow, for cached names and others, by driver
and worker."""
import itertools
import signal

import pytest

from dnstree import ALLOW, EXPIRE, OUTSIDE4, OUTSIDE6, anyone, ask, by, codes, has, query, records, world_of
from netlab import CLIENT4, CLIENT6, V4, V6, driver_counters, program, wait_for, zone
from secondaries import certificate

PROHIBITED, NOT_AUTHORITATIVE = 18, 20
INSIDE, OUTSIDE = {V4: CLIENT4, V6: CLIENT6}, {V4: OUTSIDE4, V6: OUTSIDE6}
WWW = ["A 192.0.2.80"]
OWN = ["A 192.0.2.80", "A 192.0.2.81"]

_numbers = itertools.count()
WAYS = {"udp": False, "tcp": True, "tls": anyone()}


def tls_at_both(folder):
    return {**certificate(folder)["server"], "listen": [V4, V6]}


@pytest.fixture(name="world", scope="module", params=["native", "off"])
def make_world(request, tmp_path_factory, tree_zones):
    with world_of(tmp_path_factory.mktemp("world"), tree_zones) as world:
        world.start(request.param, server={"tls": tls_at_both(world.folder)})
        world.driver = request.param == "native"
        yield world


@pytest.fixture(name="closed", scope="module", params=["native", "off"])
def make_closed(request, tmp_path_factory, tree_zones):
    """Our own zones are for those of ALLOW, too."""
    with world_of(tmp_path_factory.mktemp("closed"), tree_zones) as world:
        world.server = {"allow": ALLOW, "tls": tls_at_both(world.folder)}
        world.start(request.param, server=world.server)
        world.driver = request.param == "native"
        yield world


def names(hot, world, ways):
    """A name that was never asked, or one that the driver has."""
    if not hot:
        return f"n{next(_numbers)}.wild.good.lab.", ["A 192.0.2.9"]
    for words in ways:
        for _ in range(2):
            ask(world.lab, query("www.good.lab.", **words))
    return "www.good.lab.", WWW


WORDS = [{"edns": False}, {}, {"do": True}, {"flags": "rd cd", "do": True}, {"options": [EXPIRE]}]


@pytest.mark.parametrize("hot", [True, False], ids=["hot", "cold"])
@pytest.mark.parametrize("tcp", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("where", [V4, V6])
def test_recursion_is_for_those_that_are_allowed(world, hot, tcp, where):
    for words in WORDS:
        name, expected = names(hot, world, [words])
        for _ in range(2):
            check_refused(world, name, words, where, tcp)
        reply = ask(world.lab, query(name, **words), where, INSIDE[where], tcp)
        assert reply.rcode() == 0 and records(reply) == expected and has(reply, "RA")
        check_refused(world, name, words, where, tcp)


def check_refused(world, name, words, where, tcp=False, code=PROHIBITED):
    who, reply = by(world.daemon,
                    lambda: ask(world.lab, query(name, **words), where, OUTSIDE[where], tcp))
    assert "driver" not in who
    assert reply.rcode() == 5 and not has(reply, "AD"), reply
    assert not reply.answer and not reply.authority and not reply.additional, reply
    if words.get("edns", True):
        assert codes(reply) == [code], reply


def test_the_driver_looks_at_the_client_of_each(world):
    """A hot answer, asked by turns: each way the right one."""
    name, _ = names(True, world, [{}])
    before = world.daemon.reasons()

    def both():
        for _ in range(50):
            for where in (V4, V6):
                assert records(ask(world.lab, query(name), where, INSIDE[where])) == WWW
                assert ask(world.lab, query(name), where, OUTSIDE[where]).rcode() == 5
    who, _ = by(world.daemon, both)
    if world.driver:
        assert who == {"driver": 100, "worker": 100}
        assert world.daemon.reasons()["up-view"] - before["up-view"] == 100


@pytest.mark.parametrize("where", [V4, V6])
@pytest.mark.parametrize("tcp", WAYS.values(), ids=WAYS)
def test_without_recursion_desired(world, where, tcp):
    """RFC 1034 section 4.3.1: cached data is returned, no upstream is asked."""
    cold = f"n{next(_numbers)}.wild.good.lab."
    reply = ask(world.lab, query(cold, "A", ""), where, INSIDE[where], tcp)
    assert reply.rcode() == 5 and codes(reply) == [NOT_AUTHORITATIVE] and not reply.answer
    assert not has(reply, "RD")
    hot, _ = names(True, world, [{}])
    reply = ask(world.lab, query(hot, "A", ""), where, INSIDE[where], tcp)
    assert records(reply) == WWW and not has(reply, "RD")
    for name in (cold, hot):
        reply = ask(world.lab, query(name, "A", ""), where, OUTSIDE[where], tcp)
        assert reply.rcode() == 5 and not reply.answer


@pytest.mark.parametrize("where", [V4, V6])
def test_our_own_zones_are_for_everyone(world, where):
    for source in (INSIDE[where], OUTSIDE[where]):
        for flags in ("rd", ""):
            reply = ask(world.lab, query("www.example.com.", "A", flags), where, source)
            assert records(reply) == OWN and has(reply, "AA")
    who, _ = by(world.daemon,
                lambda: ask(world.lab, query("www.example.com."), where, OUTSIDE[where]))
    assert who == {"driver" if world.driver else "kernel_socket": 1}


# --- server.allow ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["www.example.com.", "nothing.example.com.", "www.good.lab."])
@pytest.mark.parametrize("where", [V4, V6])
def test_a_server_that_is_not_for_everyone(closed, name, where):
    for n in range(3):
        for tcp in WAYS.values():
            for words in WORDS if n else WORDS[:1]:
                check_refused(closed, name, words, where, tcp)
        reply = ask(closed.lab, query(name), where, INSIDE[where])
        assert reply.rcode() == (3 if "nothing" in name else 0)
        assert bool(records(reply)) == ("nothing" not in name)
    who, _ = by(closed.daemon, lambda: ask(closed.lab, query(name), where, INSIDE[where]))
    assert who == {"driver" if closed.driver else "kernel_socket": 1}


def test_a_reload_changes_who_may(closed):
    """SIGHUP with other prefixes: at once for hot answers, too."""
    daemon = closed.daemon

    def is_for(source, name):
        return bool(ask(closed.lab, query(name), V4, source).answer)

    def are_swapped(yes, no):
        return all(is_for(yes, name) and not is_for(no, name)
                   for name in ("www.example.com.", "www.good.lab."))
    for name in ("www.example.com.", "www.good.lab."):
        for _ in range(3):
            assert ask(closed.lab, query(name), V4, CLIENT4).answer
    swapped = [f"{OUTSIDE4}/32", f"{OUTSIDE6}/128"]
    daemon.configure(recursion=closed.recursion(allow=swapped), interfaces=closed.interfaces,
                     server={**closed.server, "allow": swapped})
    daemon.signal(signal.SIGHUP)
    wait_for("the others may", lambda: are_swapped(OUTSIDE4, CLIENT4))
    daemon.configure(recursion=closed.recursion(), interfaces=closed.interfaces,
                     server=closed.server)
    daemon.signal(signal.SIGHUP)
    wait_for("it is as before", lambda: are_swapped(CLIENT4, OUTSIDE4))


# --- What was for everyone ------------------------------------------------------------------------


def gated_zone(folder):
    """(example.com as a configuration has it, the file that lets it be loaded)."""
    gate = folder / "go"
    return {**zone("example.com"),
            "verify": ["sh", "-c", f"while [ ! -e {gate} ]; do sleep 0.05; done"]}, gate


def hits_of(number):
    return driver_counters(number)["hit"]


@pytest.mark.parametrize("end", ["kill", "keep"])
def test_a_restart_with_server_allow(lab, daemon, tmp_path, end):
    """From the start on public answers are sent to no client, however long the zones take to
    load."""
    slow, gate = gated_zone(tmp_path)
    gate.touch()
    daemon.start(zones=[slow])
    for _ in range(2):
        lab.ask()
    number = program(lab)["id"]
    daemon.kill() if end == "kill" else daemon.stop("--keep")
    gate.unlink()
    daemon.configure(zones=[slow], server={"allow": ["203.0.113.0/24"]}).spawn()
    wait_for("it has begun", lambda: daemon.ctl("status", check=False).returncode == 0)
    before = hits_of(number)
    assert not lab.is_answered(timeout=1) and hits_of(number) == before
    gate.touch()
    daemon.wait_ready()
    assert lab.ask().rcode() == 5


def test_a_reload_with_server_allow(lab, daemon, tmp_path):
    """The same while the zones are loaded again: a client that may not ask is refused at once."""
    slow, gate = gated_zone(tmp_path)
    gate.touch()
    daemon.start(zones=[slow])
    for _ in range(2):
        lab.ask()
    gate.unlink()
    daemon.configure(zones=[slow], server={"allow": ["203.0.113.0/24"]})
    daemon.signal(signal.SIGHUP)
    wait_for("it is for some", lambda: not daemon.status()["recursion"]["zones_for_everyone"])
    try:
        assert lab.ask().rcode() == 5
    finally:
        gate.touch()
    wait_for("it is loaded", lambda: not daemon.status()["zones"]["loading"])
    assert lab.ask().rcode() == 5
