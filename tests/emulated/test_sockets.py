# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyd with kernel sockets only, run by the emulator in RUN, if there is one: `make test-cross`.

An emulator of programs has neither BPF nor AF_XDP, so no interface is configured. The server's
addresses are on the loopback interface of a namespace, from which the client asks, too.
"""
import os
import pathlib
import shutil
import stat

import dns.message
import dns.rcode
import pytest

import netlab
import test_signing
from netlab import V4, V6, Daemon, Lab, run, texts, zone
from test_signing import POLICIES, configure, restart, serial, verify

content = test_signing.content  # a fixture

NAMES = {
    ("www.example.com", "A"): ["192.0.2.80", "192.0.2.81"],
    ("n1.wild.example.com", "A"): ["192.0.2.200"],
    ("nothing.example.com", "A"): [],
}
POLICIES_HERE = ("csk", "ksk-zsk", "ed25519", "nsec3")


class Alone(Lab):
    """Both ends of the lab are one namespace."""

    def __init__(self):
        self.name = f"vte{os.getpid()}"
        self.client = pathlib.Path(f"/run/netns/{self.name}-c")
        run("ip", "netns", "add", f"{self.name}-s")
        self.client.symlink_to(f"{self.name}-s")
        self.ip("s", "link", "set", "lo", "up")
        self.ip("s", "address", "add", f"{V4}/32", "dev", "lo")
        self.ip("s", "address", "add", f"{V6}/128", "dev", "lo", "nodad")

    def close(self):
        self.client.unlink()
        run("ip", "netns", "delete", f"{self.name}-s")


class Sockets(Daemon):
    """Without interfaces."""

    def configure(self, **sections):
        return super().configure(**{"interfaces": [], **sections})


@pytest.fixture(name="lab")
def make_alone():
    lab = Alone()
    yield lab
    lab.close()


@pytest.fixture(name="programs", autouse=True)
def make_programs(tmp_path, monkeypatch):
    """volleyd and volleyctl as scripts that call the emulator."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("volleyd", "volleyctl"):
        path = folder / name
        path.write_text(f"#!/bin/sh\nexec {os.environ.get('RUN', '')} {netlab.BIN / name} \"$@\"\n",
                        encoding="ascii")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    shutil.copy(netlab.BIN / "volley.bpf.o", folder)
    monkeypatch.setattr(netlab, "BIN", folder)


@pytest.fixture(name="daemon")
def make_daemon(lab, tmp_path, programs):
    one = Sockets(lab, tmp_path)
    yield one
    assert one.clean_up(), one.log()


def ask_each_way(lab, name, kind):
    query = dns.message.make_query(name, kind)
    for where in (V4, V6):
        yield lab.udp(query, where)
        yield lab.tcp(query, where)


def test_answers(lab, daemon):
    daemon.start()
    for (name, kind), expected in NAMES.items():
        for answer in ask_each_way(lab, name, kind):
            assert texts(answer) == expected, (name, answer)
            assert answer.rcode() == (dns.rcode.NOERROR if expected else dns.rcode.NXDOMAIN)
    answered = daemon.answered()
    assert answered["kernel_socket"] == answered["tcp"] == 2 * len(NAMES), answered
    # without interfaces no BPF maps are missing; an emulator has no filters of system calls
    faults = daemon.degraded().splitlines()
    assert [fault.split(":")[0] for fault in faults] == (["sandbox"] if os.environ.get("RUN")
                                                         else []), faults
    assert daemon.stop() == 0


def test_cached_answers_are_the_same(lab, daemon):
    """The first answer is made, the second comes from the cache."""
    daemon.start()
    for name, kind in NAMES:
        query = dns.message.make_query(name, kind, use_edns=0, id=7).to_wire()
        assert len({lab.udp_wire(query, where) for _ in range(3) for where in (V4, V6)}) == 1


@pytest.mark.parametrize("policy", POLICIES_HERE)
def test_signs(lab, daemon, tmp_path, content, policy):
    """Zones are signed, edited and started again after kill -9; two other programs verify them."""
    configure(daemon, tmp_path, content, **POLICIES[policy])
    daemon.spawn().wait_ready(120)
    verify(lab, tmp_path)
    before = serial(daemon)
    daemon.ctl("zone", "edit", "z.test", "add new 60 A 192.0.2.1")
    assert serial(daemon) == before + 1
    verify(lab, tmp_path)
    before = verify(lab, tmp_path)
    restart(daemon)
    assert verify(lab, tmp_path) == before, "nothing is signed anew"
    assert texts(lab.ask("new.z.test")) == ["192.0.2.1"]


def test_a_primary_and_its_secondary(lab, daemon, tmp_path, programs):
    """By AXFR and NOTIFY, from one emulated server to another."""
    daemon.start(zones=[zone("example.com", allow_transfer=["any"])])
    folder = tmp_path / "second"
    folder.mkdir()
    second = Sockets(lab, folder)
    try:
        second.start(server={"listen": ["192.0.2.53@5353"],
                             "storage": str(folder / "store")},
                     remotes=[netlab.remote("first", V4)],
                     zones=[zone("example.com", primaries=["first"])])
        netlab.wait_for("the zone has come", lambda: texts(lab.udp(
            dns.message.make_query("www.example.com", "A"), port=5353)) ==
            NAMES["www.example.com", "A"])
    finally:
        assert second.clean_up(), second.log()
