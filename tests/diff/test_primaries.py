# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Primaries that deviate, and Volley, named, knotd and nsd as their secondaries. The table of who
serves which zone is docs/primaries.md. To write it anew, which takes a minute:

    PRIMARIES_TABLE=write make test-diff FILES=tests/diff/test_primaries.py

All zones are fetched at once, so the test takes as long as the slowest of them. The column of
Volley has to be true; those of the others are only read in the new table, since their versions
differ: but no zone may be served by all of them and not by Volley.
"""
import os
import time

import pytest

import oddprimaries
import peers

PAGE = peers.ROOT / "docs" / "primaries.md"
WRITES = os.environ.get("PRIMARIES_TABLE") == "write"
KINDS = [make.__name__ for make in oddprimaries.SECONDARIES]
FIRST_LAST_S = 60
TEXT = """# Primaries that deviate

Each row is a zone whose primary deviates in one way, and says whether Volley, named 9.18, knotd 3.2 and nsd 4.6 serve
it as its secondaries: the new version in the first table, the zone in the second one. tests/diff/test_primaries.py
makes this page and checks it: do not edit it. [Decision 0056](decisions/0056-ladder-of-a-secondary.md) says how Volley
asks, what it accepts, and why.

## How questions are answered

{asked}

## What a transfer has

{sent}
"""


def wants(row):
    return 9 if row in oddprimaries.ASKED else 1


def served_by(secondaries):
    found = {one.kind: one.serials() for one in secondaries}
    return {row: [found[kind].get(row) == wants(row) for kind in KINDS]
            for row in oddprimaries.ROWS}


def column(row):
    return "| " + " | ".join(row) + " |\n"


def table(rows, served):
    head = column(["", "Volley", *KINDS[1:]]) + column(["---"] * 5)
    return head + "".join(column([row, *("yes" if s else "no" for s in served[row])])
                          for row in rows)


def page_of(served):
    return TEXT.format(asked=table(oddprimaries.ASKED, served).rstrip(),
                       sent=table(oddprimaries.SENT, served).rstrip())


def read_page():
    """{row: [yes or no of each]}"""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]]
             for line in PAGE.read_text().split("\n") if line.startswith("|")]
    return {c[0]: [word == "yes" for word in c[1:]] for c in cells if c[0] in oddprimaries.ROWS}


@pytest.fixture(name="primary")
def make_primary(own_loopback):
    made = oddprimaries.Primary(peers.free_port())
    yield made
    made.close()


def wait_until(true, seconds):
    end = time.monotonic() + seconds
    while not (result := true()) and time.monotonic() < end:
        time.sleep(0.2)
    return result


def wait_for_first(secondaries):
    """Until each has the first version of all zones whose deviations begin later."""
    assert wait_until(lambda: all(set(oddprimaries.ASKED) <= set(one.serials())
                                  for one in secondaries), FIRST_LAST_S), \
        "\n".join(f"{one.kind}: {len(one.serials())} zones\n{one.log()[-2000:]}"
                  for one in secondaries)


def wait_for_volley(volley, expected):
    """Until it serves what the table says."""
    def wrong():
        found = volley.serials()
        return [row for row in oddprimaries.ROWS if (found.get(row) == wants(row)) != expected[row]]
    wait_until(lambda: not wrong(), FIRST_LAST_S)
    assert not wrong(), f"the table is not true of Volley: {wrong()}\n{volley.log()[-5000:]}"


def test_table(primary, tmp_path):
    if peers.missing():
        pytest.skip(f"not installed: {peers.missing()}")
    secondaries = [oddprimaries.Secondary(make, tmp_path / make.__name__, primary.port)
                   for make in oddprimaries.SECONDARIES]
    try:
        wait_for_first(secondaries)
        primary.serial = 9
        if WRITES:
            time.sleep(60)
            PAGE.write_text(page_of(served_by(secondaries)))
        before = read_page()
        assert list(before) == oddprimaries.ROWS, "rows are missing: PRIMARIES_TABLE=write"
        wait_for_volley(secondaries[0], {row: yes[0] for row, yes in before.items()})
        now = served_by(secondaries)
        assert not [row for row in oddprimaries.ROWS
                    if all(now[row][1:]) and not now[row][0]], "all peers serve these"
        assert not [row for row, yes in before.items() if all(yes[1:]) and not yes[0]]
    finally:
        for one in secondaries:
            one.stop()


def test_odd_data_outlives_a_restart(primary, tmp_path):
    """Of its own files and journal, while the primary is down."""
    volley = oddprimaries.Secondary(oddprimaries.volleyd, tmp_path / "volleyd", primary.port)
    kept = {row: yes[0] for row, yes in read_page().items() if row in oddprimaries.SENT}
    try:
        assert wait_until(lambda: all(row in volley.serials() for row in kept if kept[row]), 60)
        wait_until(lambda: len(list(tmp_path.glob("volleyd/storage/zones/*.zone"))) >=
                   len(volley.serials()), 60)
        volley.stop()
        primary.close()
        volley.start()

        def lost():
            found = volley.serials()
            return [row for row in kept if kept[row] and found.get(row) != 1]
        wait_until(lambda: not lost(), 60)
        assert not lost(), f"{lost()}\n{volley.log()[-5000:]}"
    finally:
        volley.stop()
