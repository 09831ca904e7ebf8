# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Primaries that never end an answer: they keep out no zone of another primary, and their own zones
are fetched from the next primary."""
import contextlib
import socket
import threading
import time

import dns.rrset
import pytest

from clock import Clock
from netlab import wait_for
from primaries import ZONE, Mood, Scripted, reply, soa, wire

A, B = "127.0.7.1", "127.0.7.2"
CHECKS = 64          # of SECONDARY_STREAM_CHECKS, of userspace/transfer/secondary.h, for one remote
CONNECT_S = 5        # STREAM_CONNECT_S, of userspace/transfer/exchange.h
SILENCE_S = 30       # STREAM_SILENCE_S, of userspace/transfer/exchange.h
WATCH_S = 60         # SECONDARY_WATCH_S, of userspace/transfer/secondary.h
TRANSFERS = 8        # from here on one primary has three quarters of the slots


class Drip:
    """Answers with the length of a message, and then its octets, one at a time."""
    begin = b"\xff\xff"

    def __init__(self):
        self.n_asked = self.n_open = self.n_octets = 0

    def __call__(self, _query, connection):
        self.n_asked += 1
        self.n_open += 1
        try:
            connection.sendall(self.begin)
            while True:
                connection.sendall(b"\0")
                self.n_octets += 1
                time.sleep(0.02)
        finally:
            self.n_open -= 1

    def let_time_pass(self, clock, step=SILENCE_S // 2 + 1):
        """More than an answer may take, in steps that are shorter than a silence may be."""
        for _ in range(SILENCE_S // step + 1):
            n = self.n_octets
            wait_for("more comes, or it has ended",
                     lambda n=n: self.n_octets > n + 2 or self.n_asked and not self.n_open, 20)
            clock.leap(step)


class DripRecord(Drip):
    """The record of TLS with which a server begins, as long as one may be."""
    begin = b"\x16\x03\x03\x40\x00"


def own_soa(query):
    return dns.rrset.from_text(query.question[0].name, 300, "IN", "SOA", "ns. h. 1 3600 900 99 60")


def own_ns(query):
    return dns.rrset.from_text(query.question[0].name, 300, "IN", "NS", "ns.")


@pytest.mark.parametrize("what, most", [("SOA", CHECKS), ("AXFR", TRANSFERS * 3 // 4)])
def test_a_primary_that_never_ends_keeps_out_no_other(scene, what, most):
    """It has more zones than there are slots."""
    names, drip, drips = [f"z{i}.test." for i in range(most + 6)], Drip(), what == "AXFR"

    def by_tcp(query, connection):
        if drips:
            return drip(query, connection)
        return wire(reply(query, own_soa(query), own_ns(query), own_soa(query)))
    slow = Scripted(scene, A, lambda query: wire(reply(query, own_soa(query))), by_tcp)
    main = Mood(scene, B)
    secondary = scene.secondary({"slow": A, "main": B}, server={"transfers-in": TRANSFERS},
                                zones=[*({"name": name, "primaries": ["slow"]} for name in names),
                                       {"name": ZONE, "primaries": ["main"]}])
    for _ in range(1 if drips else most + 7):
        secondary.expect("zone", seconds=20)
    if not drips:
        drips, slow.on_udp = True, None
        for name in names:
            secondary.say("refresh", name)
            secondary.expect("asked")
    wait_for("it has as many slots as it may", lambda: drip.n_asked == most, 20)
    main.serial = 2
    secondary.refresh()
    secondary.expect("zone", ZONE, "2")
    assert drip.n_asked == most


# After a transfer without end the whole zone is asked for, at the same address.
@pytest.mark.parametrize("what, n", [("SOA", 1), ("transfer", 2)])
def test_a_message_that_does_not_end(scene, tmp_path, what, n):
    """Each octet comes soon after the one before."""
    clock, drip = Clock(tmp_path), Drip()
    first, second = Mood(scene, A), Mood(scene, B)
    secondary = scene.secondary({"first": A, "second": B}, clock=clock)
    secondary.expect("zone", ZONE, "1")
    first.serial = second.serial = 2
    first.tcp = drip
    if what == "SOA":
        first.udp = lambda query: None
    secondary.refresh()
    for i in range(n):
        wait_for("it is asked", lambda n=i + 1: drip.n_asked == n, 20)
        drip.let_time_pass(clock)
    line = secondary.expect("zone", ZONE, "2", seconds=20)
    assert line[4] == f"second {B}@53", line


def test_a_handshake_that_does_not_end(scene, tmp_path):
    clock, drip = Clock(tmp_path), DripRecord()
    listener = scene.socket(socket.SOCK_STREAM)
    listener.bind((A, 853))
    listener.listen(4)

    def serve():
        with contextlib.suppress(OSError):
            drip(None, listener.accept()[0])
    threading.Thread(target=serve, daemon=True).start()
    Mood(scene, B)
    secondary = scene.secondary({"first": {"address": [A], "tls": "opportunistic"}, "second": B},
                                clock=clock)
    drip.let_time_pass(clock, CONNECT_S - 1)
    line = secondary.expect("zone", ZONE, "1", seconds=20)
    assert line[4] == f"second {B}@53", line


def test_a_transfer_that_brings_too_little(scene, tmp_path):
    """Each of its messages comes to its end, and soon after the one before."""
    clock, sent = Clock(tmp_path), []
    first, second = Mood(scene, A), Mood(scene, B)

    def small_messages(query, _connection):
        yield wire(reply(query, soa(2)))
        for i in range(1 << 20):
            yield wire(reply(query, dns.rrset.from_text(f"r{i}.{ZONE}", 300, "IN", "A", "192.0.2.1")))
            sent.append(i)
            time.sleep(0.02)
    secondary = scene.secondary({"first": A, "second": B}, clock=clock)
    secondary.expect("zone", ZONE, "1")
    first.serial = second.serial = 2
    first.tcp = small_messages
    secondary.refresh()
    for _ in range(3):  # in steps that are shorter than SILENCE_S
        n = len(sent)
        wait_for("more comes", lambda n=n: len(sent) > n + 2, 20)
        assert secondary.is_quiet()
        clock.leap(WATCH_S // 3 + 1)
    line = secondary.expect("zone", ZONE, "2", seconds=20)
    assert line[4] == f"second {B}@53", line
    assert "AXFR" not in first.server.seen[1:]
