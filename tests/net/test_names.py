# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The filter of names that exist: when a daemon begins a new one or goes on with the old one, and
which names stay in it."""
import itertools
import json
import os
import struct
import sys

import dns.message
import dns.name
import dns.rcode
import pytest

import sharedentries
from netlab import ROOT, V4, map_ids, program, run, texts, wait_for, write_zone, zone

sys.path.insert(0, str(ROOT / "tests" / "perf"))
import denialchange  # noqa: E402

LINE_BYTES = 64
HEAD = "=4I256Q"  # struct volley_names_state


@pytest.fixture
def zones(tmp_path):
    return [zone("z.test", write_zone(tmp_path / "z.zone", 1, more="a.b IN A 192.0.2.1\n")),
            zone("example.com")]


def state(lab):
    """The filter's head, which is the end of the first map."""
    number = next(n for name, n in map_ids(program(lab)["id"]).items()
                  if name.startswith("volley_abi_"))
    shown = json.loads(run("bpftool", "-j", "map", "lookup", "id", number, "key", 0, 0, 0,
                           0).stdout)
    raw = bytes(int(octet, 16) for octet in shown["value"])
    filter_id, n_lines, labels, _, *keys = struct.unpack(HEAD, raw[-struct.calcsize(HEAD):])
    return {"id": filter_id, "n_lines": n_lines, "labels": labels, "keys": keys}


def lines(lab):
    """(entries of the map, those of them in which something is)"""
    with sharedentries.map_memory(map_ids(program(lab)["id"])["volley_names"]) as memory:
        octets = memory[:]
    starts = range(0, len(octets), LINE_BYTES)
    return len(starts), sum(any(octets[at:at + LINE_BYTES]) for at in starts)


def test_begun_and_adopted(lab, daemon, zones):
    """A daemon that adopts the program goes on with its filter, after a stop and after a kill, with
    any configured size."""
    daemon.start(cache={"size": "8M", "names": "128K"}, zones=zones)
    begun = state(lab)
    assert begun["id"] and begun["n_lines"] == (128 << 10) / LINE_BYTES
    assert begun["labels"] == 2 and len(set(begun["keys"])) > 200
    n, used = lines(lab)
    assert n == begun["n_lines"] + (4 << 20) / LINE_BYTES and used > 5  # intervals lie behind them
    daemon.stop("--keep")
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    assert "cache.names: the XDP program that was adopted keeps a filter of 128K" in daemon.log()
    assert state(lab) == begun and lines(lab) == (n, used)
    daemon.kill()
    daemon.start(cache={"size": "8M", "names": "128K"}, zones=zones)
    assert state(lab) == begun and lines(lab) == (n, used)


def test_none(lab, daemon, zones):
    """
    Without cache.names there is none, and an adopted one ends; the next one has another id, and is
    empty at first.
    """
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    begun, before = state(lab), lines(lab)
    daemon.stop("--keep")
    daemon.start(cache={"size": "8M"}, zones=zones)
    assert state(lab)["id"] == 0
    daemon.stop("--keep")
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    assert state(lab)["id"] not in (0, begun["id"]) and state(lab)["keys"] != begun["keys"]
    assert lines(lab)[0] == before[0]


def test_denied_by_the_driver(lab, daemon, zones, tmp_path):
    """
    The driver denies names that no zone has, after a worker has published the zone's denial; not
    below a zone with driver-denials: off. A name that is added is answered.
    """
    zones[1]["driver-denials"] = "off"
    daemon.start(server={"storage": str(tmp_path / "state")}, cache={"size": "8M", "names": "64K"},
                 zones=zones)
    lab.ask("no.z.test")

    def denied():
        return daemon.reasons()["hit-denied"]
    before = denied()
    for i in range(20):
        answer = lab.ask(f"n{i}.a.z.test")
        assert answer.rcode() == dns.rcode.NXDOMAIN
        assert answer.authority[0].name.to_text() == "z.test."
    assert denied() == before + 20
    for i in range(20):
        assert lab.ask(f"n{i}.example.com").rcode() == dns.rcode.NXDOMAIN
    assert denied() == before + 20
    daemon.ctl("zone", "edit", "z.test", "add n1.a 300 A 192.0.2.7")
    assert texts(lab.ask("n1.a.z.test")) == ["192.0.2.7"]
    assert lab.ask("n2.a.z.test").rcode() == dns.rcode.NXDOMAIN


U64 = (1 << 64) - 1


def mix(word):
    """volley_hash_mix() of xdp/key.h"""
    for factor in (0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53):
        word = (word ^ word >> 33) * factor & U64
    return word ^ word >> 33


def forget(lab, name):
    """Clears the seven bits by which the filter knows that the name exists."""
    head, wire = state(lab), dns.name.from_text(name).to_wire()
    number = mix(sum(octet * head["keys"][len(wire) - 1 - i] for i, octet in enumerate(wire)) & U64)
    line, bits = (number >> 32) * head["n_lines"] >> 32, (number * 0x9e3779b97f4a7c15 & U64) >> 1
    key = [str(octet) for octet in struct.pack("=I", line)]
    map_id = map_ids(program(lab)["id"])["volley_names"]
    shown = json.loads(run("bpftool", "-j", "map", "lookup", "id", map_id, "key", *key).stdout)
    value = bytearray(int(octet, 16) for octet in shown["value"])
    places = {bits >> 9 * i & 511 for i in range(7)}  # some may be equal
    assert all(value[at // 8] & 1 << at % 8 for at in places), "the filter does not know it"
    for at in places:
        value[at // 8] &= ~(1 << at % 8)
    run("bpftool", "map", "update", "id", map_id, "key", *key, "value",
        *[str(octet) for octet in value])


def ask_until(lab, name, rcode, most):
    """How many queries it takes; by one socket, so that they are fast."""
    query = dns.message.make_query(name, "A").to_wire()
    with lab.socket("c") as sock:
        sock.settimeout(2)
        for n in range(1, most):
            sock.sendto(query, (V4, 53))
            if sock.recv(2000)[3] & 15 == rcode:
                return n
    return most


def test_filter_that_lacks_a_name(lab, daemon, zones):
    """
    A name that the filter has lost is denied by the driver, until a worker is shown one of its
    queries: then the zone's denials end, the log tells which, and other zones have theirs.
    """
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    for name in ("no.z.test", "no.example.com"):
        assert lab.ask(name).rcode() == dns.rcode.NXDOMAIN
    forget(lab, "b.z.test")
    assert lab.ask("a.b.z.test").rcode() == dns.rcode.NXDOMAIN, "the driver should be wrong here"
    n = ask_until(lab, "a.b.z.test", dns.rcode.NOERROR, 5000)
    assert 500 < n < 1025 * len(os.sched_getaffinity(0))
    wait_for("the log tells",
             lambda: "zone z.test.: cache.names: the filter of names does not know a.b.z.test." in
             daemon.log())
    assert daemon.stats()["engine"]["denials_wrong"] == 1 and daemon.reasons()["up-checked"] >= 1
    assert "zone z.test.: the filter of names lacked one" in daemon.degraded()
    assert {zone["name"]: zone["driver_denials"]
            for zone in daemon.json("zone", "list")["zones"]} == {
        "z.test.": "off: the filter of names lacked one", "example.com.": "on"}
    before = daemon.reasons()["hit-denied"]
    for i in range(10):
        assert lab.ask(f"n{i}.z.test").rcode() == dns.rcode.NXDOMAIN
    assert daemon.reasons()["hit-denied"] == before
    for i in range(10):
        assert lab.ask(f"n{i}.example.com").rcode() == dns.rcode.NXDOMAIN
    assert daemon.reasons()["hit-denied"] >= before + 8
    assert daemon.json("names")["zones_not_denied"] == [
        {"zone": "z.test.", "why": "the filter of names lacked one"}]
    assert daemon.json("names", "rebuild")["zones_not_denied"] == []
    assert lab.ask("no3.z.test").rcode() == lab.ask("no4.z.test").rcode() == dns.rcode.NXDOMAIN
    assert daemon.reasons()["hit-denied"] >= before + 9


def test_answer_with_other_octets(lab, daemon, zones):
    """
    An answer of the driver that has other octets than the zone's goes out, until a worker is shown
    one of its queries: then the zone's denials end, the log tells why, and other zones have theirs.
    """
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    for name in ("no.z.test", "no.example.com"):
        assert lab.ask(name).rcode() == dns.rcode.NXDOMAIN
    ttl = lab.ask("no2.z.test").authority[0].ttl
    store = sharedentries.map_memory(map_ids(program(lab)["id"])["volley_store"])
    (begin, end), = sharedentries.bodies(store, state(lab)["id"], "denial", b"\1z\4test\0")
    sharedentries.damage(store, begin, end)
    assert lab.ask("no3.z.test").authority[0].ttl == ttl + 1, "the driver should be wrong here"
    query = dns.message.make_query("no4.z.test", "A").to_wire()
    with lab.socket("c") as sock:
        sock.settimeout(2)
        for n in range(1, 5000):
            sock.sendto(query, (V4, 53))
            if dns.message.from_wire(sock.recv(2000)).authority[0].ttl == ttl:
                break
    assert 500 < n < 1025 * len(os.sched_getaffinity(0))
    wait_for("the log tells",
             lambda: "zone z.test.: cache.names: the driver has an answer to no4.z.test. A whose "
                     "octets "
             "differ from the zone's" in daemon.log())
    why = "an answer of the driver had other octets than the zone's"
    told = daemon.json("names")
    assert told["zones_not_denied"] == [{"zone": "z.test.", "why": why}]
    assert told["answers_wrong"] == 1 and told["answers_compared"] >= 1
    assert told["denials_wrong"] == 0
    assert f"zone z.test.: {why}" in daemon.degraded()
    assert why in daemon.ctl("names").stdout
    assert {zone["name"]: zone["driver_denials"]
            for zone in daemon.json("zone", "list")["zones"]} == {
        "z.test.": f"off: {why}", "example.com.": "on"}
    before = daemon.reasons()["hit-denied"]
    for i in range(10):
        assert lab.ask(f"n{i}.z.test").authority[0].ttl == ttl
    assert daemon.reasons()["hit-denied"] == before
    for i in range(10):
        assert lab.ask(f"n{i}.example.com").rcode() == dns.rcode.NXDOMAIN
    assert daemon.reasons()["hit-denied"] >= before + 8
    assert daemon.json("names", "rebuild")["zones_not_denied"] == []
    before = daemon.reasons()["hit-denied"]
    for i in range(10, 15):
        assert lab.ask(f"n{i}.z.test").authority[0].ttl == ttl
    assert daemon.reasons()["hit-denied"] >= before + 3


def test_rebuilt(lab, daemon, zones, tmp_path):
    """
    Names that went are known until the filter is rebuilt; then the driver denies them, and a
    stopped zone's names again.
    """
    many = "".join(f"n{i} IN A 192.0.2.1\n" for i in range(3000))
    few = "".join(f"n{i} IN A 192.0.2.1\n" for i in range(1000))
    zones[0] = zone("z.test", write_zone(tmp_path / "z.zone", 1, more=many))
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    before = daemon.json("names")
    assert before["in_use"] and before["names_gone"] == 0 and before["size_bytes"] == 64 << 10
    assert before["names_served"] > 3000 and before["names_added"] > 3000
    assert before["false_positives_percent"] < 5
    write_zone(tmp_path / "z.zone", 2, more=few)
    daemon.ctl("zone", "reload", "z.test")
    assert lab.ask("no.z.test").rcode() == dns.rcode.NXDOMAIN
    assert daemon.json("names")["names_gone"] == 2000

    def denied(first, n):
        at_first = daemon.reasons()["hit-denied"]
        for i in range(first, first + n):
            assert lab.ask(f"n{i}.z.test").rcode() == dns.rcode.NXDOMAIN
        return daemon.reasons()["hit-denied"] - at_first
    assert denied(1000, 40) == 0
    begun = state(lab)
    after = daemon.json("names", "rebuild")
    assert state(lab)["id"] not in (0, begun["id"])
    assert after["names_gone"] == 0 and after["rebuilds"] == 1 and after["zones_not_denied"] == []
    assert after["fill_percent"] < before["fill_percent"]
    assert "the filter of names was rebuilt" in daemon.log()
    assert lab.ask("no2.z.test").rcode() == dns.rcode.NXDOMAIN
    assert denied(1100, 40) >= 38
    assert texts(lab.ask("n999.z.test")) == ["192.0.2.1"]


def test_rebuilt_by_itself(daemon, clock, zones, tmp_path):
    """
    Once a minute the filter is looked at, and when a quarter of it has gone it is rebuilt, but not
    twice in 10 minutes.
    """
    def serve(serial, n):
        path = write_zone(tmp_path / "z.zone", serial,
                          more="".join(f"n{i} IN A 192.0.2.1\n" for i in range(n)))
        if serial > 1:
            daemon.ctl("zone", "reload", "z.test")
        return path
    zones[0] = zone("z.test", serve(1, 3000))
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    wait_for("it was looked at", lambda: daemon.json("names")["names_served"])
    clock.wait_ticks()
    serve(2, 2500)
    clock.leap(61)
    clock.wait_ticks()
    assert daemon.json("names")["names_gone"] == 500 and daemon.json("names")["rebuilds"] == 0
    serve(3, 1000)
    clock.leap(61)
    wait_for("it is rebuilt", lambda: daemon.json("names")["rebuilds"] == 1)
    assert daemon.json("names")["names_gone"] == 0
    serve(4, 3000)
    serve(5, 1000)
    clock.leap(540)
    clock.wait_ticks()
    assert daemon.json("names")["names_gone"] == 2000 and daemon.json("names")["rebuilds"] == 1
    clock.leap(61)
    wait_for("it is rebuilt once more", lambda: daemon.json("names")["rebuilds"] == 2)


def test_switched_off_by_reload(lab, daemon, zones):
    """
    The denial in the cache is given no more; nor is the old one when denials are switched on again.
    """
    config = {"cache": {"size": "8M", "names": "64K"}, "zones": zones}
    daemon.start(**config)

    def denied():
        before = daemon.reasons()["hit-denied"]
        for _ in range(3):
            assert lab.ask(f"{next(number)}.z.test").rcode() == dns.rcode.NXDOMAIN
        return daemon.reasons()["hit-denied"] - before
    number = itertools.count()
    assert denied() == 2  # and one is that by which a worker makes the denial
    for said, n in (("off", 0), ("auto", 2)):
        zones[0]["driver-denials"] = said
        daemon.configure(**config)
        daemon.ctl("zone", "reload")
        assert denied() == n


def test_restart_after_a_lost_name(lab, daemon, zones):
    """A daemon that adopts the filter adds all names to it, so one that was lost is known again."""
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    assert lab.ask("no.z.test").rcode() == dns.rcode.NXDOMAIN
    forget(lab, "b.z.test")
    begun = state(lab)
    assert lab.ask("a.b.z.test").rcode() == dns.rcode.NXDOMAIN
    daemon.stop("--keep")
    daemon.start()
    assert state(lab) == begun and texts(lab.ask("a.b.z.test")) == ["192.0.2.1"]


def test_rebuild_without_a_filter(lab, daemon):
    daemon.start(cache={"size": "8M"})
    assert daemon.json("names") == {"in_use": False}
    refused = daemon.ctl("names", "rebuild", check=False)
    assert refused.returncode and "there is no filter of names" in refused.stderr


def test_lookup_tells(lab, daemon, zones, tmp_path):
    """The driver's reply for a name without an entry, and that it is the driver's."""
    zones[0] = zone("z.test",
                    write_zone(tmp_path / "z.zone", 1,
                               more="a.b IN A 192.0.2.1\n*.w IN A 192.0.2.1\n"
                                                                      "cut IN NS ns.other.test.\n"))
    zones[1]["driver-denials"] = "off"
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)

    def told(*words):
        return daemon.json("cache", "lookup", *words)["driver"]
    up = "goes up: "
    assert told("x.y.b.z.test") == up + "no denial of zone z.test. in the cache yet"
    assert lab.ask("no.z.test").rcode() == dns.rcode.NXDOMAIN
    for name, words in (
            ("x.y.b.z.test", "the driver denies it: zone z.test., nothing at or below y.b.z.test."),
            ("a.b.z.test", up + "the filter knows the name"),
            ("x.w.z.test", up + "no answer of the wildcard *.w.z.test. in the cache yet"),
            ("x.cut.z.test", up + "it may exist, since a cut, a DNAME or a wildcard is above it"),
            ("no.example.com", up + "no names of zone example.com. are denied"),
            ("a.other", up + "it is in no zone")):
        assert told(name, "A") == told(name, "AAAA") == words
        before = daemon.reasons()["hit-denied"]
        lab.ask(name)
        assert daemon.reasons()["hit-denied"] - before == words.startswith(
            "the driver denies it"), name
    assert told("y.w.z.test", "A") == "the driver answers it: from the wildcard *.w.z.test."
    assert (told("y.w.z.test", "AAAA") == up +
            "no answer of the wildcard *.w.z.test. in the cache yet")
    before = daemon.reasons()["hit-wildcard"]
    lab.ask("y.w.z.test")
    assert daemon.reasons()["hit-wildcard"] == before + 1
    assert (told("x.y.b.z.test", "IXFR") == up +
            "the driver denies nothing to queries of this type")
    assert "driver" not in daemon.json("cache", "lookup", "a.b.z.test")
    assert "denies it: zone z.test." in daemon.ctl("cache", "lookup", "q.z.test").stdout
    daemon.ctl("cache", "flush", "--zone", "z.test")
    assert told("x.y.b.z.test") == up + "no denial of zone z.test. in the cache yet"


def test_lookup_without_a_filter(daemon):
    daemon.start(cache={"size": "8M"})
    assert (daemon.json("cache", "lookup", "no.example.com")["driver"] ==
            "goes up: the filter of names is off")


def test_resized(lab, daemon, zones, tmp_path):
    """A cache of another size has the same filter, to which names are added as before."""
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    begun, used, map_id = state(lab), lines(lab), map_ids(program(lab)["id"])["volley_names"]
    daemon.json("cache", "resize", "32M")
    assert state(lab) == begun and lines(lab) == used
    assert map_ids(program(lab)["id"])["volley_names"] == map_id
    write_zone(tmp_path / "z.zone", 2, more="".join(f"n{i} IN A 192.0.2.1\n" for i in range(100)))
    daemon.ctl("zone", "reload", "z.test")
    assert lines(lab)[1] > used[1] + 50 and state(lab) == begun


CHANGES = ("{name} 300 A 192.0.2.7", "*.{name} 300 A 192.0.2.7", "below.{name} 300 A 192.0.2.7",
           "{name} 300 NS ns.other.test.", "{name} 300 DNAME other.test.")


def test_denied_under_change(lab, daemon, zones, tmp_path):
    """
    Names, wildcards, names below empty ones, cuts and DNAMEs come and go, while clients ask: a name
    that was added is never denied from the end of its edit to the beginning of the next one.
    """
    daemon.start(server={"storage": str(tmp_path / "state")}, cache={"size": "8M", "names": "64K"},
                 zones=zones)
    assert lab.ask("no.z.test").rcode() == dns.rcode.NXDOMAIN
    before = daemon.reasons()["hit-denied"]
    for i in range(40):
        name = f"c{i % 25}"
        record = CHANGES[i % len(CHANGES)].format(name=name)
        asked = f"{'' if record.startswith(name + ' 300 A') else 'below.'}{name}.z.test"
        assert lab.ask(asked).rcode() == dns.rcode.NXDOMAIN, (i, asked)
        daemon.ctl("zone", "edit", "z.test", f"add {record}")
        for _ in range(3):
            assert lab.ask(asked).rcode() == dns.rcode.NOERROR, (i, record)
        assert lab.ask(f"d{i}.z.test").rcode() == dns.rcode.NXDOMAIN
        owner, _, kind = record.split()[:3]
        daemon.ctl("zone", "edit", "z.test", f"remove {owner} {kind}")
        assert lab.ask(asked).rcode() == dns.rcode.NXDOMAIN, (i, "removed")
    assert daemon.reasons()["hit-denied"] >= before + 40


def test_denied_under_many_changes(lab, daemon, zones, tmp_path):
    """
    Some hundred changes a second and rebuilds beside queries; tests/perf/denialchange.py runs the
    same for minutes.
    """
    daemon.start(server={"storage": str(tmp_path / "state")}, cache={"size": "8M", "names": "1M"},
                 zones=zones)
    told = denialchange.run(lab, daemon, seconds=4, rate=300, askers=1, pause=1)
    assert told["errors"] == [] and told["denied"] == [] and told["revived"] == []
    assert told["wrong"] == 0
    assert told["edits"] > 100 and told["n_there"] > 50 and told["n_not_there"] > 50
    assert told["denied_by_driver"] > 20 and told["rebuilds"] > 0
