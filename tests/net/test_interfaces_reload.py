# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A reload of interfaces: it adds and removes them, and attaches those with changed settings anew;
the others are not disturbed."""
import dns.message
import pytest

from netlab import BIN, V4, V6, Answered, Daemon, iface, program, texts, wait_for
from test_listen import WWW, Load, listen, refused, reload
from test_tunnels import BALANCER4, END4, reply_to

THERE, HERE = "198.18.0.1", "198.18.0.53"  # the ends of a second pair


def make_pair(lab):
    """c1 and s1 beside c0 and s0."""
    lab.ip("c", "link", "add", "c1", "type", "veth", "peer", "name", "s1", "netns", f"{lab.name}-s")
    for end, dev, address in (("c", "c1", THERE), ("s", "s1", HERE)):
        lab.exec(end, "ethtool", "-K", dev, "gro", "on", "tx", "off")
        lab.ip(end, "address", "add", f"{address}/24", "dev", dev)
        lab.ip(end, "link", "set", dev, "up")
    lab.exec("c", "ip", "link", "set", "dev", "c1", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o", "sec",
             "xdp")
    lab.ping(HERE)


@pytest.fixture
def pair(lab):
    make_pair(lab)


def interfaces(daemon):
    """{name: state} of those that volleyd serves."""
    return {one["name"]: one["state"] for one in daemon.status()["interfaces"]}


def by(lab, daemon, where, n=1):
    """The sources of the answers to N questions for a cached name."""
    assert texts(lab.ask()) == WWW  # since then, if it had not
    with Answered(daemon) as some:
        for _ in range(n):
            assert texts(lab.ask(where=where)) == WWW
    return some.by


def test_one_comes_and_goes(lab, daemon, pair):
    """
    The driver answers there as long as the configuration names it, then kernel sockets; the first
    one loses nothing.
    """
    listen(daemon, V4, V6, HERE).start()
    assert by(lab, daemon, HERE) == {"kernel_socket": 1}
    first = program(lab)
    with Load(lab, V4) as load:
        for _ in range(3):
            listen(daemon, V4, V6, HERE, interfaces=[iface("s1"), iface()])
            reload(daemon)
            assert interfaces(daemon) == {"s0": "up", "s1": "up"} and program(lab, "s1")
            load.wait_more()
            listen(daemon, V4, V6, HERE)
            reload(daemon)
            assert interfaces(daemon) == {"s0": "up"} and program(lab, "s1") is None
            load.wait_more()
    assert load.n >= 600 and not load.lost
    assert program(lab) == first, "it was let be"
    assert by(lab, daemon, HERE) == {"kernel_socket": 1}
    listen(daemon, V4, V6, HERE, interfaces=[iface("s1"), iface()])
    reload(daemon)
    assert by(lab, daemon, HERE) == {"driver": 1}
    with Answered(daemon) as one:
        assert texts(lab.ask("mail.example.com", where=HERE)) == ["192.0.2.25"]
    assert one.by == {"worker": 1}


def test_one_that_is_to_come(lab, daemon):
    """It is attached when it appears; one that is no longer configured is not."""
    daemon.start()
    listen(daemon, V4, V6, HERE, interfaces=[iface(), iface("s1")])
    daemon.ctl("zone", "reload")
    assert interfaces(daemon) == {"s0": "up", "s1": "gone"}
    make_pair(lab)
    wait_for("it is attached", lambda: interfaces(daemon)["s1"] == "up")
    assert by(lab, daemon, HERE) == {"driver": 1}
    lab.ip("s", "link", "del", "s1")
    wait_for("it has gone", lambda: interfaces(daemon)["s1"] == "gone")
    daemon.configure()
    reload(daemon)
    assert interfaces(daemon) == {"s0": "up"}
    make_pair(lab)
    assert by(lab, daemon, V4) == {"driver": 1}
    assert program(lab, "s1") is None


@pytest.mark.parametrize("keys, expected", [
    ({"driver-answers": False}, {"worker": 1}),
    ({"driver-answers": False, "port": "socket"}, {"kernel_socket": 1}),
    ({"xdp": "generic"}, {"driver": 1}),
    ({"xdp": "off"}, {"kernel_socket": 1}),
])
def test_something_else_is_said_of_one(lab, daemon, keys, expected):
    daemon.start()
    assert by(lab, daemon, V4) == {"driver": 1}
    daemon.configure(interfaces=[iface(**keys)])
    reload(daemon)
    wait_for("the link is up", lab.is_answered)
    assert by(lab, daemon, V4) == expected
    assert (program(lab) is None) == (keys.get("xdp") == "off")
    daemon.configure()
    reload(daemon)
    wait_for("the link is up", lab.is_answered)
    assert by(lab, daemon, V4) == {"driver": 1}


def test_lists_outlive_their_configuration(lab, daemon):
    """
    Of an interface that stays as it is, and is attached again after some reloads: balancers are
    still known.
    """
    ways = {"tunnels": ["ipip"], "tunnel-sources": [f"{BALANCER4}/32"]}
    query = dns.message.make_query("www.example.com", "A")
    daemon.env = {"MALLOC_PERTURB_": "165"}  # what is freed is overwritten
    daemon.start()
    for level in ("error", "info", "error"):
        daemon.configure(interfaces=[iface(**ways)], log={"level": level})
        reload(daemon)
    first = program(lab)
    daemon.ctl("detach", "s0")
    daemon.ctl("attach", "s0")
    assert program(lab) != first
    wait_for("the link is up", lab.is_answered)
    with lab.frames() as sock:
        assert texts(dns.message.from_wire(reply_to(sock, query, V4, "ipip", END4)[42:])) == WWW


def test_what_a_command_has_said(lab, daemon, pair):
    """
    A reload lets be what came by attach and went by detach, until the configuration says something
    of it.
    """
    daemon.start()
    daemon.ctl("attach", "s1")
    daemon.ctl("detach", "s0")
    reload(daemon)
    assert interfaces(daemon) == {"s0": "down", "s1": "up"}
    listen(daemon, V4, V6, HERE, interfaces=[iface(), iface("s1")])
    reload(daemon)
    assert interfaces(daemon) == {"s0": "down", "s1": "up"}
    assert by(lab, daemon, HERE) == {"driver": 1}
    listen(daemon, V4, V6, HERE, interfaces=[iface()])
    reload(daemon)
    assert interfaces(daemon) == {"s0": "down"} and program(lab, "s1") is None


def test_one_that_another_volleyd_has(lab, daemon, pair, tmp_path):
    """
    As at a start, it is refused to answer beside it; and nothing else of the configuration is put
    in place.
    """
    other = tmp_path / "other"
    other.mkdir()
    with_it = Daemon(lab, other).start(server={"listen": ["127.0.0.1@5301"]},
                                       interfaces=[iface("s1")])
    try:
        daemon.start()
        listen(daemon, V4, V6, HERE, interfaces=[iface(), iface("s1")])
        assert "s1: another volleyd (pid" in refused(daemon)
        assert interfaces(daemon) == {"s0": "up"} and daemon.status()["services"] == 2
        assert not lab.is_answered(where=HERE) and program(lab, "s1")
    finally:
        with_it.stop()
    reload(daemon)
    assert by(lab, daemon, HERE) == {"driver": 1}


def test_dpdk_needs_a_new_start(lab, daemon, pair):
    daemon.start()
    daemon.configure(interfaces=[iface(), iface("s1", port="dpdk")])
    assert ("interfaces: s1: no reload can change an interface with port: dpdk: restart volleyd" in
            refused(daemon))
    assert interfaces(daemon) == {"s0": "up"}
