# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upgrades under load: to another build of the XDP program, and to another ABI. No hit is lost, and
with another build no answer at all. With another ABI misses are lost only while no volleyd runs,
and none if the host was drained."""
import json
import re
import subprocess
import sys
import time

import pytest

import otherbuild
from netlab import (BIN, ROOT, V4, Answered, driver_counters, iface, in_driver, map_ids, program,
                    run, texts, wait_for)

sys.path.insert(0, str(ROOT / "tests" / "perf"))

from rig import napi_threads, put_first  # noqa: E402

ORPHAN_S = 8  # s: the next volleyd has to begin within that, also on a busy machine
WWW = ["192.0.2.80", "192.0.2.81"]
HOT = ["www.example.com A", "www.example.com AAAA", "example.com MX", "mail.example.com A",
       "www.example.net A"]
HITS, MISSES = 3000, 1000  # a second


class Load:
    """
    dnsperf with these lines, TIMES over, and no more of them a second than RATE: later, not fewer,
    where it has to wait.
    """

    def __init__(self, lab, folder, name, lines, rate, times=1):
        data = folder / name
        data.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        self.started = time.monotonic()
        self.process = lab.popen("c", "dnsperf", "-s", V4, "-d", data, "-n", times, "-Q", rate,
                                 "-t", 3,
                                 "-q", 20000, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True)

    def end(self):
        out = self.process.communicate(timeout=60)[0]
        return {word: int(re.search(rf"Queries {word}:\s+(\d+)", out)[1])
                for word in ("sent", "lost")}


def hits(lab, folder, seconds=6):
    return Load(lab, folder, "hits", HOT, HITS, HITS * seconds // len(HOT))


def misses(lab, folder, seconds=6, first=0):
    names = (f"n{n}.wild.example.com A" for n in range(first, first + MISSES * seconds))
    return Load(lab, folder, f"misses{first}", names, MISSES)


def lost_on_the_way(lab):
    """Packets that the link and the client's socket have dropped while other work had the
    processors: 0 on an idle machine."""
    links = [json.loads(lab.ip(end, "-j", "-s", "link", "show", "dev", end + "0").stdout)[0]
             for end in "cs"]
    at_the_socket = lab.exec("c", "nstat", "-asz",
                             "UdpRcvbufErrors").stdout.split("UdpRcvbufErrors")[1].split()[0]
    return sum(link["stats64"]["tx"]["dropped"] for link in links) + int(at_the_socket)


@pytest.fixture(autouse=True)
def link_first(lab):
    """Frames are taken in time, as by a card's interrupts."""
    put_first(napi_threads(lab, "s"))
    put_first(napi_threads(lab, "c"))


def warm(lab):
    for line in HOT:
        for _ in range(2):
            lab.ask(*line.split())


def tag_of(number):
    return run("bpftool", "prog", "show", "id", number).stdout.split("tag ")[1].split()[0]


def upgrade(daemon, how):
    """The old daemon goes, ours comes; returns the seconds without a daemon."""
    begun = time.monotonic()
    if how == "kill":
        daemon.kill()
    else:
        assert daemon.stop("--keep") == 0
    daemon.binary = BIN / "volleyd"
    daemon.start()
    return time.monotonic() - begun


@pytest.mark.alone  # what may be lost depends on how long nobody is there
@pytest.mark.parametrize("how", ["kill", "keep"])
@pytest.mark.parametrize("make", [otherbuild.with_another_tag, otherbuild.with_another_abi],
                         ids=["tag", "abi"])
def test_upgrade_under_load(lab, daemon, tmp_path, make, how):
    daemon.binary = make(tmp_path)
    daemon.start()
    warm(lab)
    old = program(lab)["id"]
    many, few = hits(lab, tmp_path), misses(lab, tmp_path)
    time.sleep(1)
    away_s = upgrade(daemon, how)
    new = program(lab)["id"]
    assert new != old and tag_of(new) == tag_of_ours(lab)
    seen = daemon.interface()
    assert (seen["origin"], seen["program_id"], seen["state"]) == ("replaced", new, "up")
    many, few = many.end(), few.end()
    print(f"{how}: away for {away_s:.2f} s, {many['lost']} of {many['sent']} hits lost, "
          f"{few['lost']} of {few['sent']} misses")
    assert many["sent"] == 6 * HITS and many["lost"] <= lost_on_the_way(lab)
    assert few["sent"] == 6 * MISSES and few["lost"] <= MISSES * away_s + lost_on_the_way(lab)
    wait_for("the driver answers what is hot",
             lambda: in_driver(lab, daemon, ["www.example.com"]) == 1)
    assert not daemon.degraded()


def tag_of_ours(lab):
    """As the kernel makes it."""
    lab.exec("c", "ip", "link", "set", "dev", "lo", "xdpgeneric", "obj", otherbuild.OBJECT, "sec",
             "xdp")
    try:
        return tag_of(program(lab, "lo", "c")["id"])
    finally:
        lab.exec("c", "ip", "link", "set", "dev", "lo", "xdpgeneric", "off")


@pytest.mark.parametrize("make", [otherbuild.with_another_tag, otherbuild.with_another_abi],
                         ids=["tag", "abi"])
def test_upgrade_of_a_drained_host(lab, daemon, tmp_path, make):
    """A balancer that checks health sends queries of new names elsewhere; those that still come are
    hits. None is lost."""
    daemon.binary = make(tmp_path)
    daemon.start()
    warm(lab)
    many, before = hits(lab, tmp_path), misses(lab, tmp_path, 2)
    before = before.end()
    daemon.ctl("drain", "on")
    assert daemon.ctl("health", check=False).returncode == 1
    upgrade(daemon, "keep")
    daemon.ctl("drain", "off")
    assert daemon.ctl("health", check=False).returncode == 0
    after = misses(lab, tmp_path, 2, first=100000).end()
    many = many.end()
    assert many["lost"] + before["lost"] + after["lost"] <= lost_on_the_way(lab)
    assert many["sent"] == 6 * HITS and before["sent"] == after["sent"] == 2 * MISSES


def test_another_build_keeps_every_answer(lab, daemon, tmp_path):
    """Only the program is replaced: cache, counters and sockets' map are those of before."""
    daemon.binary = otherbuild.with_another_tag(tmp_path)
    daemon.start()
    warm(lab)
    old = program(lab)["id"]
    maps, before = map_ids(old), driver_counters(old)
    upgrade(daemon, "kill")
    new = program(lab)["id"]
    assert new != old and map_ids(new) == maps
    assert daemon.status()["cache"]["adopted"]
    assert driver_counters(new)["hit"] == before["hit"]
    assert in_driver(lab, daemon, [tuple(line.split()) for line in HOT]) == len(HOT)
    assert f"tag {tag_of(new)}" in daemon.log() and daemon.interface()["program_tag"] == tag_of(new)


def test_the_same_build_is_left_alone(lab, daemon):
    daemon.start()
    warm(lab)
    old = program(lab)
    daemon.kill()
    daemon.start()
    assert program(lab) == old and daemon.interface()["origin"] == "adopted"


def test_what_others_loaded_stays(lab, daemon, tmp_path):
    """Another build that ip-link loaded: it serves, and status says what to do about it."""
    path = tmp_path / "other.bpf.o"
    path.write_bytes(otherbuild.other_instructions(otherbuild.OBJECT.read_bytes()))
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "obj", path, "sec", "xdp")
    found = program(lab)
    daemon.start()
    assert program(lab) == found
    seen = daemon.interface()
    assert ((seen["origin"], seen["state"], seen["program_tag"]) ==
            ("adopted", "up", tag_of(found["id"])))
    assert re.search("of another build.*ip link set dev s0 xdp off", seen["note"])
    warm(lab)
    assert in_driver(lab, daemon, ["www.example.com"]) == 1


def test_another_abi_on_an_interface_that_is_no_longer_ours(lab, daemon, tmp_path):
    """It would go on answering from what was true when its daemon died."""
    daemon.binary = otherbuild.with_another_abi(tmp_path)
    daemon.start()
    warm(lab)
    daemon.kill()
    daemon.binary = BIN / "volleyd"
    daemon.start(interfaces=[iface(xdp="off")])
    assert program(lab) is None
    assert texts(lab.ask()) == WWW


def slow_zone(folder, gate):
    """A zone that is loaded when the file GATE is there."""
    path = folder / "slow.zone"
    path.write_text("$TTL 60\n@ SOA ns h 1 60 60 60 60\n@ NS ns\nns A 192.0.2.1\n",
                    encoding="ascii")
    return {"name": "slow.test", "file": str(path),
            "verify": ["sh", "-c", f"while [ ! -e {gate} ]; do sleep 0.05; done"]}


def leave_old_program(lab, daemon, folder, orphan_s):
    """
    A program of another ABI with an answer, whose volleyd has gone. The zones; the next daemon is
    an ordinary one.
    """
    zones = [{"name": "example.com", "file": str(ROOT / "zones/example.com.zone")}]
    daemon.binary = otherbuild.with_another_abi(folder)
    daemon.start(cache={"orphan-serve": f"{orphan_s}s"}, zones=zones)
    lab.ask()
    assert daemon.stop("--keep") == 0
    daemon.binary = BIN / "volleyd"
    return zones


def test_hits_while_a_large_zone_is_loaded(lab, daemon, tmp_path):
    """
    The program of another ABI answers until there are workers, for longer than it might alone.
    """
    gate = tmp_path / "go"
    slow = slow_zone(tmp_path, gate)
    zones = leave_old_program(lab, daemon, tmp_path, ORPHAN_S)
    old = program(lab)["id"]
    daemon.configure(cache={"orphan-serve": f"{ORPHAN_S}s"}, zones=[*zones, slow]).spawn()
    end = time.monotonic() + ORPHAN_S + 2
    while time.monotonic() < end:
        assert texts(lab.ask(timeout=2)) == WWW
        time.sleep(0.05)
    assert program(lab)["id"] == old
    gate.touch()
    daemon.wait_ready()
    assert program(lab)["id"] != old
    with Answered(daemon) as two:
        for _ in range(2):
            assert texts(lab.ask()) == WWW
    assert two.by.get("driver", 0) >= 1


def is_starting(daemon):
    """Whether it says so: by then it has looked at its interfaces."""
    said = daemon.ctl("health", check=False)
    return "volleyd is starting" in said.stdout + said.stderr


def check_silent(lab):
    for _ in range(10):
        assert not lab.is_answered()


def test_who_may_ask_no_more_gets_no_hit_of_the_old_program(lab, daemon, tmp_path):
    """server.allow comes with the upgrade: public answers are sent to no client while zones are
    loaded."""
    gate = tmp_path / "go"
    zones = leave_old_program(lab, daemon, tmp_path, 60)
    old = program(lab)["id"]
    assert lab.is_answered(timeout=2)
    daemon.configure(cache={"orphan-serve": "60s"}, server={"allow": ["203.0.113.0/24"]},
                     zones=[*zones, slow_zone(tmp_path, gate)]).spawn()
    wait_for("silence", lambda: not lab.is_answered(timeout=1), 30)
    check_silent(lab)
    assert program(lab)["id"] == old
    gate.touch()
    daemon.wait_ready()
    assert lab.ask().rcode() == 5


def test_an_old_program_that_has_fallen_silent_stays_so(lab, daemon, tmp_path):
    """It had no daemon for too long, so its answers may be outdated."""
    gate = tmp_path / "go"
    zones = leave_old_program(lab, daemon, tmp_path, 3)
    old = program(lab)["id"]
    wait_for("the driver has given up", lambda: not lab.is_answered(timeout=1), 30)
    daemon.configure(zones=[*zones, slow_zone(tmp_path, gate)]).spawn()
    wait_for("it loads its zones", lambda: is_starting(daemon), 30)
    check_silent(lab)
    assert program(lab)["id"] == old
    gate.touch()
    daemon.wait_ready()
    assert texts(lab.ask()) == WWW
