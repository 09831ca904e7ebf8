# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dead upstreams: cached answers go on, memory is bounded, and their return is noticed."""
import os
import signal
import socket
import threading
import time

import dns.rcode
import pytest

from dnstree import answers, ask, by, has, query, records, world_of
from netlab import CLIENT4, V4, V6, status_of, wait_for
from upstreams import family, unbound_version

MANY = 100000
TRUE = ["A 192.0.2.80"]


@pytest.fixture(name="world", scope="module", params=["native", "off"])
def make_world(request, tmp_path_factory, tree_zones):
    with world_of(tmp_path_factory.mktemp("world"), tree_zones) as world:
        world.driver = request.param == "native"
        with_settings(world, {})
        yield world


def with_settings(world, keys):
    """volleyd anew, with these of the recursion section."""
    if world.daemon.process:
        world.daemon.stop()
    world.start("native" if world.driver else "off", {"query-timeout": "4s", **keys})


def resident_kib(daemon):
    """Of volleyd and of the resolver's process."""
    pids = daemon.process.pid, daemon.status()["recursion"]["process"]
    return sum(int(status_of(pid)["VmRSS"].split()[0]) for pid in pids)


class Flood:
    """
    New questions, as fast as this process sends; replies are discarded. It sends COUNT, and then
    more until is_enough(): a busy machine does not receive all.
    """

    def __init__(self, world, zone, count, is_enough=lambda: True):
        self.sock = world.lab.socket("c")
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sock.bind((CLIENT4, 0))
        self.sock.connect((V4, 53))
        self.template = query("n0000000." + zone, edns=False).to_wire()
        self.count, self.is_enough = count, is_enough
        self.thread = threading.Thread(target=self.send)
        self.thread.start()

    def send(self):
        head, tail = self.template[:14], self.template[21:]
        for n in range(10 * self.count):
            try:
                self.sock.send(head + b"%07d" % n + tail)
            except OSError:
                pass
            if n % 64 == 63:
                if n >= self.count and self.is_enough():
                    return
                time.sleep(0.001)

    def end(self):
        self.thread.join()
        self.sock.close()


def send_signal(process, number):
    for pid in family(process.pid):
        os.kill(pid, number)


class Hits:
    """Known names, asked one after the other: how many, how many without a reply."""

    def __init__(self, lab):
        self.lab, self.n, self.lost, self.slowest = lab, 0, 0, 0

    def ask(self):
        for name, expected in (("www.good.lab.", TRUE),
                               ("www.example.com.", [*TRUE, "A 192.0.2.81"])):
            self.n += 1
            start = time.monotonic()
            try:
                assert records(ask(self.lab, query(name), timeout=0.5)) == expected
            except TimeoutError:
                self.lost += 1
            self.slowest = max(self.slowest, time.monotonic() - start)


@pytest.mark.alone  # floods
def test_a_hundred_thousand_questions_to_dead_servers(world):
    """Hits are answered all the while, memory is bounded, and the servers' return is noticed."""
    lab, daemon = world.lab, world.daemon
    for _ in range(3):
        ask(lab, query("www.good.lab."))
        ask(lab, query("www.example.com."))
    before_kib, before = resident_kib(daemon), daemon.stats()

    def n_taken():
        return daemon.stats()["engine"]["queries"] - before["engine"]["queries"]
    send_signal(world.tree.leaf, signal.SIGSTOP)
    try:
        flood, hits = Flood(world, "wild.plain.lab.", MANY,
                            lambda: n_taken() > 0.9 * MANY), Hits(lab)
        while flood.thread.is_alive():
            hits.ask()
            time.sleep(0.003)
        flood.end()
        more_kib = resident_kib(daemon) - before_kib
        print(f"{hits.n} hits beside, {hits.lost} without a reply, the slowest after "
              f"{hits.slowest * 1000:.0f} ms; {more_kib >> 10} MiB more")
    finally:
        send_signal(world.tree.leaf, signal.SIGCONT)
    after = daemon.stats()
    # a burst of late replies can be more than the client's end of the veth takes
    assert hits.n > 100 and hits.lost <= hits.n / 50
    if world.driver:
        hit = sum(after["driver"]["reasons"].get(name, 0) - before["driver"]["reasons"].get(name, 0)
                  for name in ("hit-full", "hit-short"))
        assert hit >= hits.n - hits.lost  # which may be lost on the way there, too
    assert n_taken() > 0.9 * MANY
    assert more_kib < 400 << 10
    number = iter(range(1000))
    wait_for("questions are answered again",
             lambda: answers(lab, query(f"b{next(number)}.wild.nsec3.lab.")) == ["A 192.0.2.9"], 20)
    who, _ = by(daemon, lambda: ask(lab, query("www.good.lab.")))
    assert who == {"driver" if world.driver else "kernel_socket": 1}


@pytest.mark.alone  # floods
def test_a_client_cannot_take_all(world):
    """
    max-per-client: beside all that one may ask of a dead server, the others are served as ever.
    """
    with_settings(world, {"max-per-client": 300})
    Flood(world, "silent.lab.", 3000).end()
    for n in range(5):
        start = time.monotonic()
        reply = ask(world.lab, query(f"c{n}.wild.good.lab."), V6)
        assert records(reply) == ["A 192.0.2.9"]
        assert time.monotonic() - start < 4
    with_settings(world, {})


def test_a_denial_serves_for_other_names(world):
    """
    Its servers are silent, and names that were never asked for are denied by the NSEC records of
    another (RFC 8198). With a libunbound that this would harm, they are not (docs/libraries.md).
    """
    lab = world.lab
    is_sound = tuple(map(int, unbound_version().split("."))) >= (1, 26, 2)
    assert ask(lab, query("zz.good.lab.", do=True)).rcode() == dns.rcode.NXDOMAIN
    send_signal(world.tree.leaf, signal.SIGSTOP)
    try:
        for n in range(10 if is_sound else 1):
            reply = ask(lab, query(f"zz{n}.good.lab.", do=True))
            assert reply.rcode() == (dns.rcode.NXDOMAIN if is_sound else dns.rcode.SERVFAIL), reply
            assert has(reply, "AD") == is_sound
    finally:
        send_signal(world.tree.leaf, signal.SIGCONT)


def learn(lab, zone):
    """Enough names that do not exist to learn all of the zone's chain of NSEC3 records."""
    for n in range(300):
        assert ask(lab, query(f"learn{n}.{zone}")).rcode() == dns.rcode.NXDOMAIN


def n_denied(world):
    return world.daemon.stats()["resolver"]["denied"]


def test_nsec3_denies_other_names(world):
    """
    The same with NSEC3: names that were never asked for, types of names, and a client can prove it.
    """
    lab = world.lab
    learn(lab, "nsec3.lab.")
    # has its keys cached
    assert world.delv("other.nsec3.lab.", "A") == ["negative response, fully validated"]
    before = n_denied(world)
    send_signal(world.tree.leaf, signal.SIGSTOP)
    try:
        for n in range(20):
            reply = ask(lab, query(f"zz{n}.nsec3.lab.", do=True))
            assert reply.rcode() == dns.rcode.NXDOMAIN and has(reply, "AD"), reply
            ttls = {rrset.ttl for rrset in reply.authority}
            assert len(ttls) == 1 and 0 < ttls.pop() <= 60, reply
        reply = ask(lab, query("www.nsec3.lab.", "HINFO", do=True))
        assert reply.rcode() == dns.rcode.NOERROR and has(reply, "AD") and not reply.answer, reply
        assert n_denied(world) == before + 21
        for name, kind in (("proved.nsec3.lab.", "A"), ("www.nsec3.lab.", "LOC"),
                           ("er.nsec3.lab.", "A"), ("x.wild.nsec3.lab.", "TXT")):
            assert world.delv(name, kind) == ["negative response, fully validated"], name
        assert n_denied(world) >= before + 25
    finally:
        send_signal(world.tree.leaf, signal.SIGCONT)


def test_opt_out_denies_no_names(world):
    """Its intervals may have delegations between their names (RFC 5155 section 6)."""
    lab = world.lab
    learn(lab, "optout.lab.")
    before = n_denied(world)
    send_signal(world.tree.leaf, signal.SIGSTOP)
    try:
        for n in range(3):
            assert answers(lab, query(f"zz{n}.optout.lab.")) is None
    finally:
        send_signal(world.tree.leaf, signal.SIGCONT)
    assert n_denied(world) == before


@pytest.mark.alone  # floods
def test_it_stops_with_questions_outstanding(world):
    """Unanswered questions do not delay a stop; the clients are told."""
    flood = Flood(world, "silent.lab.", 5000)
    flood.end()
    with world.lab.socket("c") as sock:
        sock.bind((CLIENT4, 0))
        sock.sendto(query("waits.silent.lab.").to_wire(), (V4, 53))
        time.sleep(0.2)
        start = time.monotonic()
        assert world.daemon.stop() == 0
        assert time.monotonic() - start < 5
    world.daemon.start()
    assert records(ask(world.lab, query("www.good.lab."))) == TRUE
