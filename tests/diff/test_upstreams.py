# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstreams that deviate, and Volley, named and unbound that forward to them. The table of who gets
an answer from which upstream is docs/upstreams.md. To write it anew:

    UPSTREAMS_TABLE=write make test-diff FILES=tests/diff/test_upstreams.py

Each upstream has an address of its own, since forwarders remember how a server has to be asked.
Volley's own forwarder has the same upstreams for all names, so it is started anew for each row.
The columns of Volley have to be true; those of the others are only read in the new table, since
their versions differ: but no row may be served by both of them and not by Volley.
"""
import concurrent.futures
import itertools
import os
import shutil
import socket

import dns.message
import pytest

import oddforwarders
import oddupstreams
import peers
from oddforwarders import libunbound, volleyd
from oddupstreams import address_of, zone_of

PAGE = peers.ROOT / "docs" / "upstreams.md"
WRITES = os.environ.get("UPSTREAMS_TABLE") == "write"
KINDS = [make.__name__ for make in oddforwarders.FORWARDERS]
THEIRS = KINDS[2:]
PATIENCE_S = 15
TRIES = 3  # a busy machine may lose time
TEXT = """# Upstreams that deviate

Each row is an upstream that deviates in one way, and says whether a client gets its answer through Volley's own
forwarder, Volley that forwards by libunbound 1.17, named 9.18 and unbound 1.17. Each is asked for two names, and for
the first one again. tests/diff/test_upstreams.py makes this page and checks it: do not edit it.
[Decision 0057](decisions/0057-the-ladder-of-attempts.md) says how Volley asks, what it accepts, and why.

## How upstreams are asked

{asked}

## How replies are made

{formed}

## What answers say

{said}

## Replies that nobody may believe

Over UDP and TCP alike, so the upstream has no other answer. None of them may be served.

{forged}
"""


def column(cells):
    return "| " + " | ".join(cells) + " |\n"


def table(rows, served):
    head = column(["", "Volley", "by libunbound", *THEIRS]) + column(["---"] * 5)
    return (head + "".join(column([row, *("yes" if s else "no" for s in served[row])])
                           for row in rows)).rstrip()


def page_of(served):
    return TEXT.format(**{section: table(rows, served)
                          for section, rows in oddupstreams.SECTIONS.items()})


def read_page():
    """{row: [yes or no of each]}"""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]]
             for line in PAGE.read_text().split("\n") if line.startswith("|")]
    return {c[0]: [word == "yes" for word in c[1:]] for c in cells if c[0] in oddupstreams.ROWS}


@pytest.fixture(name="port")
def make_upstreams(own_loopback):
    port = peers.free_port()
    made = [oddupstreams.Upstream(row, port) for row in oddupstreams.ROWS]
    yield port
    for one in made:
        one.close()


class Lab:
    """The forwarders, asked in pools of threads."""

    def __init__(self, folder, port):
        self.folder, self.port, self.numbers = folder, port, itertools.count(1)

    def serves(self, make, rows):
        """{row: is it served?}, by a server that is started for it."""
        number = next(self.numbers)
        server = oddforwarders.Forwarder(make, self.folder / f"{make.__name__}{number}", number,
                                         self.port, rows)
        try:
            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                return dict(zip(rows, pool.map(lambda row: server.serves(row, PATIENCE_S), rows)))
        finally:
            server.stop()

    def measure(self, make, rows):
        if make != volleyd and rows:
            return self.serves(make, rows)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            each = pool.map(lambda row: self.serves(make, [row]), rows)
            return {row: yes for one in each for row, yes in one.items()}

    def measure_all(self):
        """{row: [yes or no of each]}"""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda make: self.measure(make, oddupstreams.ROWS),
                                  oddforwarders.FORWARDERS))
        return {row: [one[row] for one in found] for row in oddupstreams.ROWS}


def wrong_rows(found, expected, kind):
    at = KINDS.index(kind)
    return [row for row in oddupstreams.ROWS if found[row][at] != expected[row][at]]


@pytest.mark.parametrize("cut", [lambda wire: wire[:2] + wire[4:], lambda wire: wire[:-6],
                                 lambda wire: wire[:12], lambda wire: wire[:5]],
                         ids=["without flags", "a name's part", "a header", "five octets"])
@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_cut_query(port, kind, cut):
    """Its upstream closes the connection, and answers the next query."""
    row, is_tcp = oddupstreams.ROWS[0], kind == socket.SOCK_STREAM
    query = dns.message.make_query(f"a.{zone_of(row)}", "A").to_wire()
    for wire in (cut(query), query):
        with socket.socket(socket.AF_INET, kind) as sock:
            sock.settimeout(PATIENCE_S)
            sock.connect((address_of(row), port))
            sock.sendall((len(wire).to_bytes(2, "big") if is_tcp else b"") + wire)
            if is_tcp and wire != query:
                assert sock.recv(1) == b""
            elif wire == query:
                assert query[:2] in sock.recv(65535)[:4]


def test_table(port, tmp_path):
    missing = [p for p in ("named", "unbound") if not shutil.which(p, path=peers.PATH)]
    if missing:
        pytest.skip(f"not installed: {missing}")
    lab = Lab(tmp_path, port)
    found = lab.measure_all()
    if WRITES:
        PAGE.write_text(page_of(found))
    expected = read_page()
    assert list(expected) == oddupstreams.ROWS, "rows are missing: UPSTREAMS_TABLE=write"
    for make in (volleyd, libunbound):
        for _ in range(TRIES - 1):
            for row, yes in lab.measure(make, wrong_rows(found, expected, make.__name__)).items():
                found[row][KINDS.index(make.__name__)] = yes
        assert not wrong_rows(found, expected, make.__name__), f"the table is not true of {make}"
    for served in (found, expected):
        assert not [row for row, yes in served.items() if all(yes[2:]) and not all(yes[:2])], \
            "both peers serve these"
        assert not [row for row in oddupstreams.FORGED if any(served[row][:2])]
