# SPDX-License-Identifier: GPL-2.0-only
"""The filter of names that exist: who begins one, who goes on with it, and what stays in it."""
import json
import struct

import dns.rcode
import pytest

from netlab import map_ids, program, run, texts, write_zone, zone

LINE_BYTES = 64
HEAD = "=4I256Q"  # struct volley_names_state


@pytest.fixture
def zones(tmp_path):
    return [zone("z.test", write_zone(tmp_path / "z.zone", 1, more="a.b IN A 192.0.2.1\n")), zone("example.com")]


def state(lab):
    """The filter's head, which is the end of the first map."""
    number = next(n for name, n in map_ids(program(lab)["id"]).items() if name.startswith("volley_abi_"))
    shown = json.loads(run("bpftool", "-j", "map", "lookup", "id", number, "key", 0, 0, 0, 0).stdout)
    raw = bytes(int(octet, 16) for octet in shown["value"])
    filter_id, n_lines, labels, _, *keys = struct.unpack(HEAD, raw[-struct.calcsize(HEAD):])
    return {"id": filter_id, "n_lines": n_lines, "labels": labels, "keys": keys}


def lines(lab):
    """(entries of the map, those of them in which something is)"""
    number = map_ids(program(lab)["id"])["volley_names"]
    info = json.loads(run("bpftool", "-j", "map", "show", "id", number).stdout)
    dump = json.loads(run("bpftool", "-j", "map", "dump", "id", number).stdout)
    return info["max_entries"], sum(any(int(octet, 16) for octet in line["value"]) for line in dump)


def test_begun_and_adopted(lab, daemon, zones):
    """A daemon that adopts the program goes on with its filter, after a stop and after its death; whatever size is said."""
    daemon.start(cache={"size": "8M", "names": "128K"}, zones=zones)
    begun = state(lab)
    assert begun["id"] and begun["n_lines"] == (128 << 10) / LINE_BYTES
    assert begun["labels"] == 2 and len(set(begun["keys"])) > 200
    n, used = lines(lab)
    assert n == begun["n_lines"] and used > 5
    daemon.stop("--keep")
    daemon.start(cache={"size": "8M", "names": "64K"}, zones=zones)
    assert "cache.names: the XDP program that was adopted has a filter of 128K" in daemon.log()
    assert state(lab) == begun and lines(lab) == (n, used)
    daemon.kill()
    daemon.start(cache={"size": "8M", "names": "128K"}, zones=zones)
    assert state(lab) == begun and lines(lab) == (n, used)


def test_none(lab, daemon, zones):
    """Without cache.names there is none, and an adopted one ends; the next one has another id, and is empty at first."""
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
    What no zone has is denied by the driver, once a worker has published the zone's denial; not below a zone with
    driver-denials: off; and a name that comes is answered.
    """
    zones[1]["driver-denials"] = "off"
    daemon.start(server={"storage": str(tmp_path / "state")}, cache={"size": "8M", "names": "64K"}, zones=zones)
    lab.ask("no.z.test")

    def denied():
        return daemon.reasons()["hit-denied"]
    before = denied()
    for i in range(20):
        answer = lab.ask(f"n{i}.a.z.test")
        assert answer.rcode() == dns.rcode.NXDOMAIN and answer.authority[0].name.to_text() == "z.test."
    assert denied() == before + 20
    for i in range(20):
        assert lab.ask(f"n{i}.example.com").rcode() == dns.rcode.NXDOMAIN
    assert denied() == before + 20
    daemon.ctl("zone", "edit", "z.test", "add n1.a 300 A 192.0.2.7")
    assert texts(lab.ask("n1.a.z.test")) == ["192.0.2.7"]
    assert lab.ask("n2.a.z.test").rcode() == dns.rcode.NXDOMAIN


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
    Names, wildcards, names below empty ones, cuts and DNAMEs come and go, while others ask: what has come is never
    denied from the end of its edit to the beginning of the next one.
    """
    daemon.start(server={"storage": str(tmp_path / "state")}, cache={"size": "8M", "names": "64K"}, zones=zones)
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
