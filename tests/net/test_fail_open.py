# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fail open: if a daemon dies, stops or hangs, no hit is lost, and misses go to the
kernel's stack."""
import random
import re
import signal
import socket
import subprocess
import time

import dns.message
import pytest

from netlab import (BIN, TIMEOUT, TOOLS, V4, Answered, driver_counters, iface, program, texts,
                    wait_for, write_zone, zone)

WWW = ["192.0.2.80", "192.0.2.81"]
HOT = [("www.example.com", "A"), ("www.example.com", "AAAA"), ("example.com", "MX"),
       ("mail.example.com", "A"), ("www.example.net", "A"), ("nothing.example.com", "A")]


class Load:
    """dnsperf with hot names, at some thousand queries a second."""

    def __init__(self, lab, folder, seconds, rate=5000):
        data = folder / "hot"
        data.write_text("".join(f"{name} {kind}\n" for name, kind in HOT), encoding="ascii")
        self.process = lab.popen("c", "dnsperf", "-s", V4, "-d", data, "-l", seconds, "-Q", rate,
                                 "-t", 10, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True)

    def end(self):
        """{"sent", "completed", "lost"}."""
        out = self.process.communicate(timeout=30)[0]
        return {word: int(re.search(rf"Queries {word}:\s+(\d+)", out)[1])
                for word in ("sent", "completed", "lost")}


def warm(lab):
    for name, kind in HOT:
        lab.ask(name, kind)
        lab.ask(name, kind)


def is_unreachable(lab, name):
    """Whether the kernel says by ICMP that there is no server: so the query was in no hole."""
    with lab.socket("c") as sock:
        sock.connect((V4, 53))
        sock.send(dns.message.make_query(name, "A").to_wire())
        try:
            sock.recv(1000)
        except ConnectionRefusedError:
            return True
        return False


@pytest.mark.parametrize("end", ["kill", "keep"])
def test_no_hit_is_lost_under_load(lab, daemon, tmp_path, end):
    """The daemon dies (or is upgraded) and another comes; by the driver's own counters."""
    daemon.start()
    warm(lab)
    number = program(lab)["id"]
    before = driver_counters(number)
    load = Load(lab, tmp_path, 5)
    wait_for("some hits", lambda: driver_counters(number)["hit"] > before["hit"] + 1000)
    if end == "kill":
        daemon.kill()
    else:
        daemon.stop("--keep")
    alone = driver_counters(number)
    assert is_unreachable(lab, "never.asked.example.com")
    wait_for("hits by the driver alone",
             lambda: driver_counters(number)["hit"] > alone["hit"] + 1000)
    daemon.start()
    assert daemon.interface()["origin"] == "adopted" and daemon.status()["cache"]["adopted"]
    result = load.end()
    after = driver_counters(number)
    assert result["sent"] > 5000 and result["lost"] == 0
    assert after["hit"] - before["hit"] == result["sent"], (before, after)
    assert after["dropped"] == 0


def test_misses_while_nobody_is_there(lab, daemon):
    daemon.start()
    lab.ask()
    daemon.kill()
    assert is_unreachable(lab, "mail.example.com")
    assert texts(lab.ask()) == WWW
    daemon.start()
    with Answered(daemon) as two:
        lab.ask()
        assert texts(lab.ask("mail.example.com", "A")) == ["192.0.2.25"]
    assert two.by == {"driver": 1, "worker": 1}


def test_what_was_left_is_cleaned(lab, daemon):
    """Program, socket, lock: found by the next one, and gone with it."""
    daemon.start()
    daemon.kill()
    assert program(lab) and daemon.socket.exists()
    daemon.start()
    assert daemon.stop() == 0
    assert program(lab) is None
    assert {path.name for path in daemon.folder.iterdir()} == {"volley.yaml", "volleyd.log"}


@pytest.mark.parametrize("interfaces", [[iface(xdp="off")], None], ids=["off", "not-configured"])
def test_what_was_left_on_an_interface_that_is_no_longer_ours(lab, daemon, tmp_path, interfaces):
    """It would go on answering from what was true when its daemon died."""
    path = write_zone(tmp_path / "z.zone")
    daemon.start(zones=[zone("z.test", path)])
    lab.ask("www.z.test")
    daemon.kill()
    write_zone(path, 2, "192.0.2.11")
    daemon.start(zones=[zone("z.test", path)], interfaces=interfaces)
    assert program(lab) is None
    assert texts(lab.ask("www.z.test")) == ["192.0.2.11"]


def test_what_somebody_loaded_is_silenced_and_stays(lab, daemon):
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "volley.bpf.o",
             "sec", "xdp")
    daemon.start()
    lab.ask()
    daemon.kill()
    assert texts(lab.ask()) == WWW
    daemon.start(interfaces=None)
    hits = driver_counters(program(lab)["id"])["hit"]
    assert texts(lab.ask()) == WWW
    assert driver_counters(program(lab)["id"])["hit"] == hits


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_well(lab, daemon, number):
    daemon.start()
    lab.ask()
    daemon.signal(number)
    assert daemon.reap() == 0
    assert program(lab) is None
    assert {path.name for path in daemon.folder.iterdir()} == {"volley.yaml", "volleyd.log"}


@pytest.mark.alone
def test_killed_again_and_again(lab, daemon, tmp_path):
    """At any moment of a publish and of a reload; all later answers are right."""
    path = write_zone(tmp_path / "z.zone", 1, "192.0.2.1", "* IN A 192.0.2.1\n")
    data = tmp_path / "names"
    data.write_text("".join(f"n{i}.z.test A\n" for i in range(200000)), encoding="ascii")
    daemon.start(cache={"size": "8M"}, zones=[zone("z.test", path)])
    load = lab.popen("c", "dnsperf", "-s", V4, "-d", data, "-l", 4, "-t", 0.1,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for version in range(2, 10):
            address = f"192.0.2.{version}"
            write_zone(path, version, address, f"* IN A {address}\n")
            daemon.signal(signal.SIGHUP)
            time.sleep(random.Random(version).uniform(0, 0.1))
            daemon.kill()
            daemon.start()
            assert daemon.status()["cache"]["adopted"]
            for name in ["www"] + [f"n{i}" for i in range(0, 3000, 60)]:
                assert texts(lab.ask(f"{name}.z.test")) == [address]
    finally:
        load.terminate()
        load.wait()
    cache = daemon.json("cache", "stats")
    assert cache["total_bytes"] <= 8 << 20
    daemon.stats()


def test_orphan_serve_bounds_how_long(lab, daemon):
    daemon.start(cache={"orphan-serve": "3s"})
    lab.ask()
    number = program(lab)["id"]
    alive = time.monotonic()
    daemon.kill()
    assert texts(lab.ask()) == WWW
    wait_for("the driver falls silent", lambda: is_unreachable(lab, "www.example.com"))
    assert time.monotonic() - alive > 1  # from its last sign of life on, which is of before
    assert driver_counters(number)["UP_ORPHANED"] >= 1
    daemon.start()
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}


def test_a_daemon_that_stands_still(lab, daemon):
    """Hits go on; the worker answers the queries in its queue when it continues."""
    daemon.start()
    lab.ask()
    daemon.signal(signal.SIGSTOP)
    try:
        for _ in range(3):
            assert texts(lab.ask()) == WWW
        with lab.socket("c") as sock:
            sock.sendto(dns.message.make_query("mail.example.com", "A").to_wire(), (V4, 53))
            sock.settimeout(0.2)
            with pytest.raises(socket.timeout):
                sock.recv(1000)
            daemon.signal(signal.SIGCONT)
            sock.settimeout(TIMEOUT)
            assert texts(dns.message.from_wire(sock.recv(1000))) == ["192.0.2.25"]
    finally:
        daemon.signal(signal.SIGCONT)


def test_a_zone_that_changed_meanwhile(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone")
    daemon.start(zones=[zone("z.test", path), zone("example.com")])
    lab.ask("www.z.test")
    lab.ask()
    daemon.kill()
    write_zone(path, 2, "192.0.2.11")
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]  # nobody knows yet
    daemon.start()
    with Answered(daemon) as two:
        assert texts(lab.ask("www.z.test")) == ["192.0.2.11"]
        assert texts(lab.ask()) == WWW
    assert two.by == {"worker": 1, "driver": 1}


def test_a_zone_that_is_gone_after_the_restart(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone")
    daemon.start(zones=[zone("z.test", path), zone("example.com")])
    lab.ask("www.z.test")
    daemon.kill()
    daemon.configure(zones=[zone("example.com")])
    daemon.start()
    assert lab.ask("www.z.test").rcode() == 5


def test_settings_that_change_answers(lab, daemon):
    """Other settings, other octets: answers cached under the old settings are not sent."""
    daemon.start()
    assert lab.ask("example.com", "MX").additional
    daemon.kill()
    daemon.configure(server={"listen": [V4], "workers": 2, "minimal-responses": True})
    daemon.start()
    assert not lab.ask("example.com", "MX").additional


def test_a_million_entries_are_adopted_within_a_second(lab, daemon, tmp_path):
    """A second of processor time, which does not depend on what else the machine does."""
    million = 1000000
    path = write_zone(tmp_path / "z.zone")
    daemon.start(cache={"size": "256M"}, zones=[zone("z.test", path)])
    lab.ask("www.z.test")
    daemon.kill()
    lab.exec("s", TOOLS / "prime", "s0", million)
    daemon.start()
    took_s = daemon.cpu_s()
    # A full bucket of the index pushes one of some million out.
    assert million - 10 <= daemon.json("cache", "stats")["entries"] <= million + 1
    with Answered(daemon) as many:
        for i in range(0, million, million // 200):
            answer = lab.ask(f"n{i}.z.test")
            assert texts(answer) == [f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}"]
    assert many.by == {"driver": 200}
    assert took_s < 1
