# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers from upstream survive kill -9, a clock that is set, and a cache full of large answers."""
import itertools
import json
import re
import struct
import time

import dns.message
import dns.rrset
import pytest

from dnstree import ask, by, has, query, records, ttls, world_of
from netlab import ROOT, V4, V6, program, run, wait_for

TTL = 60
CLOCK_MONOTONIC_COARSE = 6
HOUR = 3600

_numbers = itertools.count()


@pytest.fixture(name="world")
def make_world(tmp_path, tree_zones):
    with world_of(tmp_path, tree_zones) as world:
        world.upstream = world.tree.script("aging.lab.", lasting)
        yield world


def lasting(made, _tcp):
    """A minute for all; names that begin with "to" are aliases of the same one."""
    reply = dns.message.make_response(made)
    reply.flags |= 0x0400
    owner = made.question[0].name
    if str(owner).lower().startswith("to"):
        reply.answer.append(dns.rrset.from_text(owner, TTL, "IN", "CNAME", "end.aging.lab."))
        owner = "end.aging.lab."
    if made.question[0].rdtype == 1:
        reply.answer.append(dns.rrset.from_text(owner, TTL, "IN", "A", "192.0.2.80"))
    return reply.to_wire()


def coarse():
    return int(time.clock_gettime(CLOCK_MONOTONIC_COARSE))


class Watched:
    """
    A name, and what the TTL of each of its records must be: the first one less the seconds since.
    """

    def __init__(self, world, name):
        self.world, self.name = world, name
        self.ttls, self.since = self.look()
        self.ttl = min(self.ttls.values())

    def look(self):
        while True:
            now = coarse()
            both = [ask(self.world.lab, query(self.name, edns=False), where) for where in (V4, V6)]
            if coarse() == now:
                break
        # The records of one reply may differ: an alias and its end are fetched one after the other.
        found = ttls(both[0])
        assert found == ttls(both[1]), both
        return found, now

    def check(self):
        found, now = self.look()
        assert found == {name: ttl - (now - self.since) for name, ttl in self.ttls.items()}

    def check_driver(self):
        who, _ = by(self.world.daemon, self.check)
        assert set(who) == {"driver"}


def test_another_volleyd_adopts_them_with_their_age(world):
    """kill -9: the driver goes on answering, and the next one knows how old each is."""
    world.start()
    names = [Watched(world, f"n{n}.aging.lab.") for n in range(5)]
    names += [Watched(world, "to1.aging.lab.")]
    time.sleep(1.2)
    for one in names:
        one.check_driver()
    world.daemon.kill()
    n_upstream = len(world.upstream.seen)
    for _ in range(2):
        time.sleep(1.1)
        for one in names:
            one.check()
    world.daemon.start()
    assert world.daemon.status()["cache"]["adopted"]
    for one in names:
        one.check_driver()
        one.check()
        before = min(one.look()[0].values())
        reply = ask(world.lab, query(one.name), tcp=True)
        assert has(reply, "RA")
        assert before >= min(ttls(reply).values()) >= min(one.look()[0].values())
    assert len(world.upstream.seen) == n_upstream
    assert records(ask(world.lab, query("www.good.lab."))) == ["A 192.0.2.80"]
    assert ask(world.lab, query(names[0].name), source="192.0.2.2").rcode() == 5


def test_while_it_is_dead_clients_are_still_told_apart(world):
    """The driver checks the client also without a daemon."""
    world.start()
    one = Watched(world, "n.aging.lab.")
    one.check_driver()
    world.daemon.kill()
    one.check()
    with world.lab.socket("c") as sock:
        sock.bind(("192.0.2.2", 0))
        sock.connect((V4, 53))
        sock.send(query(one.name).to_wire())
        with pytest.raises(ConnectionRefusedError):
            sock.recv(4096)
    world.daemon.start()


def test_another_configuration_adopts_nothing_that_is_not_its_own(world):
    """Without recursion the answers from upstream are dead, and with it they are as before."""
    world.start()
    one = Watched(world, "n.aging.lab.")
    world.daemon.kill()
    world.daemon.configure()
    world.daemon.start()
    reply = ask(world.lab, query(one.name))
    assert reply.rcode() == 5 and not reply.answer
    assert program(world.lab)


def test_they_are_in_a_snapshot_with_their_age(world, tmp_path):
    path = tmp_path / "cache.snapshot"
    world.start()
    names = [Watched(world, f"n{n}.aging.lab.") for n in range(3)]
    world.daemon.json("cache", "dump", path)
    n_upstream = len(world.upstream.seen)
    time.sleep(1.2)
    world.daemon.stop()
    world.daemon.start()
    world.daemon.json("cache", "load", path)
    for one in names:
        found, now = one.look()
        ttl = min(found.values())
        assert ttl <= one.ttl - (now - one.since), "the time between counts"
        assert ttl >= one.ttl - (now - one.since) - 2
    assert len(world.upstream.seen) == n_upstream


# --- The wall clock -------------------------------------------------------------------------------


@pytest.fixture(name="wall")
def make_wall(world, tmp_path):
    """Sets volleyd's wall clock off by seconds. That of the machine is never touched."""
    library, path = tmp_path / "wallclock.so", tmp_path / "offset"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/wallclock.c")
    path.write_bytes(struct.pack("=q", 0))
    world.daemon.configure(recursion=world.recursion())
    world.daemon.spawn(env={"LD_PRELOAD": str(library), "WALLCLOCK_FILE": str(path)})
    world.daemon.wait_ready()

    def set_off(seconds):
        with open(path, "r+b") as file:
            file.write(struct.pack("=q", seconds))
    return set_off


def test_ages_do_not_follow_the_wall_clock(world, wall):
    """An hour on and back, a day back: cached answers age by a second a second, and new answers
    live no longer than their TTLs."""
    names = [Watched(world, "first.aging.lab.")]
    for step in (HOUR, -HOUR, -24 * HOUR, 0):
        wall(step)
        time.sleep(1.1)
        for one in names:
            one.check_driver()
        names.append(Watched(world, f"new{step}.aging.lab."))
        assert 0 < names[-1].ttl <= TTL, f"after a step of {step} s"
        reply = ask(world.lab, query(f"n{next(_numbers)}.wild.good.lab.", do=True))
        assert has(reply, "AD"), f"signatures hold after a step of {step} s\n{reply}"
    assert world.daemon.status()["degraded"] == []


def test_what_the_resolver_knows_does_not_follow_it_either(world, wall):
    """Aliases of a name that it knows, after steps back."""
    names = [Watched(world, "to0.aging.lab.")]
    for n, step in enumerate((-HOUR, -24 * HOUR)):
        wall(step)
        wait_for("volleyd sees it",
                 lambda n=n: world.daemon.log().count("the wall clock was set") > n)
        world.daemon.status()  # by then the resolver is made anew
        names.append(Watched(world, f"to{step}.aging.lab."))
        assert 0 < names[-1].ttl <= TTL, f"after a step of {step} s"
        for one in names:
            one.check_driver()


# --- Large and many -------------------------------------------------------------------------------


def test_a_cache_full_of_the_largest_answers(world, tmp_path):
    """As large as fit into a datagram, more than the cache holds: nothing fails."""
    world.start(cache={"size": "8M"})
    data = tmp_path / "fat"
    data.write_text("".join(f"n{n}.fat.plain.lab TXT\n" for n in range(20000)), encoding="ascii")
    out = world.lab.exec("c", "dnsperf", "-s", V4, "-d", data, "-n", 1, "-q", 300, "-b", 1232, "-D",
                         "-l", 15, "-t", 5, timeout=40).stdout
    completed = int(re.search(r"Queries completed:\s+(\d+)", out)[1])
    noerror = int(re.search(r"NOERROR (\d+)", out)[1])
    assert noerror == completed > 5000, out
    cache = world.daemon.json("cache", "stats")
    assert cache["total_bytes"] <= 8 << 20
    for n in range(completed - 20, completed):
        reply = ask(world.lab, query(f"n{n}.fat.plain.lab.", "TXT"))
        assert len(reply.to_wire()) > 1150 and not has(reply, "TC")
    before = world.daemon.reasons()
    ask(world.lab, query(f"n{completed - 1}.fat.plain.lab.", "TXT"))
    after = world.daemon.reasons()
    # cached, but for the room that a frame of a veth does not have
    assert after["up-no-room"] > before.get("up-no-room", 0)
    assert after["up-miss"] == before["up-miss"]
    assert cache["evicted"] > 0 or completed < 10000, json.dumps(cache)
    wait_for("it is as it was", lambda: records(ask(world.lab, query("www.good.lab."))), 5)
