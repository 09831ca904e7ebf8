# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A client that asks for names without an answer leaves upstream places to other clients, with both
resolvers."""
import os
import shutil

import pytest

from netlab import wait_for
from upstreams import Netns, Resolve, address_answer

LIVING, DEAD = "127.0.1.3", "127.0.1.4"
BUSY, QUIET = "192.0.2.66", ("198.51.100.1", "2001:db8::1")
WAYS = {"forwarder": (), "libunbound": ("-s", f"dead.={DEAD}")}
UPSTREAM_MAX, N_DEAD = 20, 400


def reply(query, _tcp):
    """
    Of the dead names one in ten is answered: a server that never replies is soon asked no more.
    """
    name = str(query.question[0].name).lower()
    return (None if name.endswith(".dead.") and not name.startswith("d7")
            else address_answer(query).to_wire())


@pytest.fixture(name="netns")
def make_netns(tmp_path):
    if os.geteuid() or not shutil.which("ip"):
        pytest.skip("needs root and ip")
    netns = Netns(tmp_path)
    try:
        netns.script("living", reply, LIVING)
        netns.script("dead", reply, DEAD)
        yield netns
    finally:
        netns.close()


@pytest.fixture(name="resolve", params=WAYS)
def make_resolve(request, netns):
    started = []

    def start(*options):
        started.append(Resolve(netns, "-f", LIVING, *WAYS[request.param], *options))
        return started[-1]
    yield start
    for it in started:
        if it.process.poll() is None:
            it.process.kill()
            it.process.wait()


def begin_dead(it, n=N_DEAD):
    """The busy client's questions are under way, and all that wait."""
    before = it.counters()["asked"]
    it.say("\n".join(f"d{before + i}.dead. A from {BUSY}" for i in range(n)))
    wait_for_counters(it, lambda c: c["asked"] == before + n)


def wait_for_counters(it, is_right):
    """Counters come between answers, which are thrown away."""
    def look():
        it.say("counters")
        while (line := it.line()).startswith("answer"):
            pass
        return is_right({name: int(value)
                         for name, value in (word.split("=") for word in line.split()[1:])})
    wait_for("the counters", look, 20)


def ask_beside(it, name, client):
    """The answer to this question, whatever comes before it."""
    it.say(f"{name} A from {client}")
    while (got := it.answer()).name != name:
        pass
    return got


def test_others_are_answered(resolve):
    it = resolve("-u", UPSTREAM_MAX, "-w", 6000)
    assert it.ask("first.", "A", "from", QUIET[0]).rcode == "NOERROR"
    begin_dead(it)
    for i in range(20):
        for client in QUIET:
            got = ask_beside(it, f"l{i}{client[0]}.", client)
            assert (got.rcode, got.texts("A")) == ("NOERROR", ["192.0.2.80"]), (i, got.why)
    wait_for_counters(it, lambda c: not c["outstanding"])
    _, counters, _ = it.close()
    assert counters["answered"] >= 1 + 2 * 20
    assert counters["asked"] == sum(counters[name] for name in (
        "answered", "failed", "timed_out", "displaced"))


def test_others_are_answered_where_all_places_are_taken(resolve):
    """As few places as one client may have in any case: who comes then takes one of them."""
    it = resolve("-u", 6, "-w", 6000)
    assert it.ask("first.", "A", "from", QUIET[0]).rcode == "NOERROR"
    begin_dead(it, 40)
    for client in QUIET:
        got = ask_beside(it, f"l{client[0]}.", client)
        assert (got.rcode, got.texts("A")) == ("NOERROR", ["192.0.2.80"]), got.why
    wait_for_counters(it, lambda c: not c["outstanding"] and (c["displaced"] or c["overtaken"]))


def test_the_share_of_all_questions(resolve):
    """max_outstanding: one client is refused for its share, and others are not."""
    it = resolve("-m", 100, "-w", 60000)
    it.say("\n".join(f"d1{i}.dead. A from {BUSY}" for i in range(100)))
    for _ in range(20):
        got = it.answer()
        assert got.rcode == "SERVFAIL" and "share" in got.why
    assert ask_beside(it, "l.", QUIET[0]).rcode == "NOERROR"
    stopped, counters, _ = it.close()
    assert stopped + counters["failed"] == 80 and counters["limited_share"] == 20
