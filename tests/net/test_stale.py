# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""recursion.serve-stale (RFC 8767): an expired answer is sent only while its servers are dead."""
import time

import dns.message
import pytest

from dnstree import answer, ask, codes, query, records, ttls, world_of
from netlab import V6, wait_for

TRUE = ["A 192.0.2.80"]
STALE, STALE_TTL = 3, 30
LIFE_S = 2
EXPIRED_S = LIFE_S + 1.2  # gone, also where the resolver keeps it to the next second
RECHECK_S = 30            # how long nobody is asked again who has failed


@pytest.fixture(name="world", scope="module")
def make_world(tmp_path_factory, tree_zones):
    with world_of(tmp_path_factory.mktemp("world"), tree_zones) as world:
        world.start(keys={"serve-stale": "1h", "query-timeout": "3s", "stale-client-timeout": "1s"})
        yield world


def short(made, tcp):
    reply = dns.message.from_wire(answer(made, tcp))
    for rrset in reply.answer + reply.authority:
        rrset.ttl = LIFE_S
    return reply.to_wire()


@pytest.fixture(name="upstream")
def make_upstream(world, request):
    """Servers that die are of one test each: the resolver remembers their failures for a while."""
    return world.tree.script(request.param, short)


def check_stale(world, name, **way):
    start = time.monotonic()
    reply = ask(world.lab, query(name), **way)
    assert reply.rcode() == 0 and records(reply) == TRUE and codes(reply) == [STALE], reply
    assert set(ttls(reply).values()) == {STALE_TTL}
    return time.monotonic() - start


@pytest.mark.parametrize("upstream", ["stale.lab."], indirect=True)
def test_stale_answers_while_the_upstream_is_dead(world, upstream):
    """TTL 30 and extended error 3, soon enough for the client; fresh when the server is back."""
    name = "www.stale.lab."
    assert set(ttls(ask(world.lab, query(name))).values()) <= {1, LIFE_S}
    upstream.silent = True
    time.sleep(EXPIRED_S)
    assert 0.8 < check_stale(world, name) < 2.9, "stale-client-timeout, not query-timeout"
    for way in ({}, {"tcp": True}, {"where": V6}, {}):
        # that it has failed is known now: nobody waits again
        assert check_stale(world, name, **way) < 2
    reply = ask(world.lab, query(name, edns=False))
    assert records(reply) == TRUE and set(ttls(reply).values()) == {STALE_TTL}
    # what was never known is no better than without
    assert ask(world.lab, query("never.stale.lab.")).rcode() == 2


@pytest.mark.parametrize("upstream", ["signs.lab."], indirect=True)
def test_what_was_asked_with_do_is_given_without_it(world, upstream):
    ask(world.lab, query("www.signs.lab.", do=True))
    upstream.silent = True
    time.sleep(EXPIRED_S)
    for _ in range(2):
        check_stale(world, "www.signs.lab.")
    assert codes(ask(world.lab, query("www.signs.lab.", do=True))) == [STALE]


@pytest.mark.parametrize("upstream", ["fill.lab."], indirect=True)
def test_fresh_answers_are_preferred_to_stale_ones(world, upstream):
    """The servers answer in time: nothing stale is said."""
    n_seen = 0
    for n in range(2):
        time.sleep(EXPIRED_S * n)
        reply = ask(world.lab, query("www.fill.lab."))
        assert records(reply) == TRUE and not codes(reply)
        before, n_seen = n_seen, [name.lower() for name in upstream.seen].count("www.fill.lab.")
        assert n_seen > before


@pytest.mark.parametrize("upstream", ["dead.lab."], indirect=True)
def test_who_may_not_ask_gets_no_stale_answer(world, upstream):
    ask(world.lab, query("www.dead.lab."))
    upstream.silent = True
    time.sleep(EXPIRED_S)
    assert ask(world.lab, query("www.dead.lab."), source="192.0.2.2").rcode() == 5
    check_stale(world, "www.dead.lab.")
    assert ask(world.lab, query("www.dead.lab."), source="192.0.2.2").rcode() == 5


@pytest.mark.parametrize("upstream", ["aging.lab."], indirect=True)
def test_the_return_of_the_upstream_is_noticed(world, upstream):
    """Failed names are asked again after a while, and are fresh from then on."""
    name = "www.aging.lab."
    assert records(ask(world.lab, query(name))) == TRUE
    upstream.silent = True
    time.sleep(EXPIRED_S)
    check_stale(world, name)
    upstream.silent = False

    def is_fresh():
        reply = ask(world.lab, query(name))
        assert records(reply) == TRUE
        time.sleep(0.5)
        return not codes(reply) and set(ttls(reply).values()) <= {1, LIFE_S}
    wait_for("a fresh answer", is_fresh, RECHECK_S + 10)


def test_without_serve_stale_there_is_none(tmp_path, tree_zones):
    with world_of(tmp_path, tree_zones) as world:
        world.start(keys={"query-timeout": "2s"})
        upstream = world.tree.script("count.lab.", short)
        assert records(ask(world.lab, query("www.count.lab."))) == TRUE
        upstream.silent = True
        time.sleep(EXPIRED_S)
        assert ask(world.lab, query("www.count.lab.")).rcode() == 2
