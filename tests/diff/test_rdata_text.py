# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random record data as Volley writes it is, to named, nsd, knotd and ldns, the octets that it was.

rdatatext makes two zones for each type: as text, and the same octets as RFC 3597 has them. What a
peer makes of one it has to make of the other. Records that it refuses as octets have content that
it does not allow; they are left out of both. RDATA_ROUNDS=10000 asks as many of each type.
"""

import os
import pathlib
import re
import subprocess

import dns.message
import pytest

import peers
from rivals import nsd_reads_otherwise

TESTS = pathlib.Path(os.environ.get("VOLLEY_TESTS", "build/release/tests"))
ROUNDS = int(os.environ.get("RDATA_ROUNDS", "40"))
SEED = os.environ.get("RDATA_SEED", "1")
ORIGIN = 1  # the line of it

NAMED = ("named-compilezone -q -i none -k ignore -n ignore -m ignore -r ignore -s full -o - example").split()
PEERS = {
    "named": (NAMED, r":(\d+): "),
    "nsd": (["nsd-checkzone", "-p", "example"], r":(\d+): "),
    "ldns": (["ldns-read-zone", "-c"], r"at line (\d+)"),
    "knot": (["kzonecheck", "-d", "off", "-o", "example"], r"line (\d+)"),
}


@pytest.fixture(scope="module")
def zones(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rdata")
    done = subprocess.run([TESTS / "diff/rdatatext", folder, str(ROUNDS), SEED], check=True,
                          capture_output=True, text=True)
    return folder, [word for word in done.stdout.split() if word != "SOA"]


def read(peer, file):
    """Whether it loads, the zone as the peer writes it, and the lines that it complains of."""
    command, pattern = PEERS[peer]
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, errors="replace",
                          timeout=300)
    bad = {int(n)
           for n in re.findall(pattern, done.stderr + done.stdout)} if done.returncode else set()
    return done.returncode == 0, re.sub(r"[ \t]+|(?m:^;.*\n)", " ",
                                        done.stdout), bad, done.stderr[-600:]


def without(file, lines, to):
    text = file.read_text().splitlines(keepends=True)
    to.write_text("".join(line for i, line in enumerate(text, 1) if i not in lines))
    return to


def acceptable(peer, folder, name):
    """The numbers of lines that the peer refuses as octets; None: it cannot say which."""
    octets, left_out = folder / f"{name}.octets", set()
    for _ in range(ROUNDS):
        ok, _, bad, _ = read(peer, without(octets, left_out, folder / "octets"))
        if ok:
            return left_out
        if not bad:
            return None
        kept = [i for i in range(1, len(octets.read_text().splitlines()) + 1) if i not in left_out]
        left_out |= {kept[i - 1] for i in bad if i <= len(kept)}
    return None


def both_ways(peer, folder, name):
    """None, or what is wrong."""
    left_out = acceptable(peer, folder, name)
    if left_out is None:
        return None
    _, expected, _, _ = read(peer, without(folder / f"{name}.octets", left_out, folder / "octets"))
    ok, got, _, said = read(peer, without(folder / f"{name}.text", left_out, folder / "text"))
    if not ok:
        return f"{name} is refused: {said}"
    return difference(name, expected.splitlines(), got.splitlines())


def difference(name, expected, got):
    if got == expected:
        return None
    differ = [pair for pair in zip(expected, got) if pair[0] != pair[1]]
    return f"{name}: {len(expected)} and {len(got)} records, {len(differ)} differ: {differ[:1]}"


@pytest.mark.parametrize("peer", PEERS)
def test_reads_what_is_written(zones, peer):
    folder, names = zones
    assert len(names) > 30
    wrong = [both_ways(peer, folder, name) for name in names
             if peer != "nsd" or not nsd_reads_otherwise(name)]
    assert [w for w in wrong if w] == []


def transferred(server, zone):
    """(owner, type, octets) of the records that rdatatext drew."""
    server.wait(dns.message.make_query(zone, "SOA").to_wire(), 300)
    done = subprocess.run(["kdig", "@127.0.0.1", "-p", str(server.port), zone, "AXFR", "+generic"],
                          check=True, text=True, capture_output=True, timeout=300)
    fields = (line.split() for line in done.stdout.splitlines() if re.match(r"r[0-9]", line))
    return sorted((f[0].split(".")[0], *f[3:]) for f in fields)


def test_knotd_serves_what_is_written(own_loopback, zones, tmp_path):
    """
    kzonecheck shows no octets, so knotd loads each zone in both forms and transfers it. (It folds
    names in data.)
    """
    folder, names = zones
    known = {name: acceptable("knot", folder, name) for name in names}
    files = {f"{name}.{form}.": str(without(folder / f"{name}.{form}", {ORIGIN} | left_out,
                                            tmp_path / f"{name}.{form}"))
             for name, left_out in known.items() if left_out is not None
             for form in ("octets", "text")}
    server = peers.Server("knotd", tmp_path, files, transfers=True)
    try:
        got = {zone: transferred(server, zone) for zone in files}
    finally:
        server.stop()
    wrong = [difference(name, got[f"{name}.octets."], got[f"{name}.text."]) for name in names
             if f"{name}.text." in got]
    assert [w for w in wrong if w] == []
    assert len(wrong) > 30 and all(got.values()), {zone: len(records)
                                                   for zone, records in got.items()}
