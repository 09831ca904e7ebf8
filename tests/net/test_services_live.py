# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Service addresses follow the host's addresses: VIPs on lo, on the interface, on another one."""
import dns.message
import pytest

from netlab import V4, Answered, texts, wait_for

WWW = ["192.0.2.80", "192.0.2.81"]
VIPS = {"v4": ("198.51.100.53", "0.0.0.0", 32), "v6": ("2001:db8:ffff::53", "::", 128)}


def services(daemon):
    return daemon.status()["services"]


def reach(lab, vip):
    """The client sends to a VIP by the server's own address, whether the server has it or not."""
    via = "2001:db8::53" if ":" in vip else V4
    lab.ip("c", "route", "add", vip, "via", via)


@pytest.mark.parametrize("dev", ["lo", "s0", "other"])
@pytest.mark.parametrize("vip, wildcard, bits", VIPS.values(), ids=VIPS)
def test_a_wildcard_follows(lab, daemon, vip, wildcard, bits, dev):
    """An address that comes is the driver's at once; one that goes is the kernel's."""
    if dev == "other":
        lab.ip("s", "link", "add", dev, "type", "bridge")
        lab.ip("s", "link", "set", dev, "up")
    daemon.start(server={"listen": [wildcard]})
    lab.ask(where="2001:db8::53" if ":" in vip else V4)  # the answer is in the cache
    reach(lab, vip)
    before = services(daemon)
    lab.ip("s", "address", "add", f"{vip}/{bits}", "dev", dev,
           *(["nodad"] if ":" in vip else []))
    wait_for("the driver knows it", lambda: services(daemon) == before + 1)
    with Answered(daemon) as two:
        assert texts(lab.ask(where=vip)) == WWW
        assert texts(lab.ask("mail.example.com", where=vip)) == ["192.0.2.25"]
    assert two.by == {"driver": 1, "worker": 1}
    lab.ip("s", "address", "del", f"{vip}/{bits}", "dev", dev)
    wait_for("the driver has forgotten it", lambda: services(daemon) == before)
    passed = daemon.stats()["driver"]["passed"]
    with Answered(daemon) as none:
        assert not lab.is_answered(where=vip)
    assert none.by == {}
    wait_for("it has passed", lambda: daemon.stats()["driver"]["passed"] > passed)


def test_an_address_on_two_interfaces(lab, daemon):
    """Anycast by the book: it is ours until the last has gone."""
    vip = VIPS["v4"][0]
    daemon.start(server={"listen": ["0.0.0.0"]})
    reach(lab, vip)
    before = services(daemon)
    for dev in ("lo", "s0"):
        lab.ip("s", "address", "add", f"{vip}/32", "dev", dev)
    wait_for("the driver knows it", lambda: services(daemon) == before + 1)
    lab.ip("s", "address", "del", f"{vip}/32", "dev", "lo")
    assert texts(lab.ask(where=vip)) == WWW
    lab.ip("s", "address", "del", f"{vip}/32", "dev", "s0")
    wait_for("the driver has forgotten it", lambda: services(daemon) == before)


def test_an_address_that_is_named_need_not_be_there(lab, daemon):
    """Named, it is a service from the start; the kernel's sockets have it when the host has it."""
    vip = VIPS["v4"][0]
    daemon.start(server={"listen": [V4, vip]})
    reach(lab, vip)
    with Answered(daemon) as two:
        assert texts(lab.ask(where=vip)) == WWW
        assert texts(lab.ask(where=vip)) == WWW
    assert two.by == {"worker": 1, "driver": 1}
    lab.ip("s", "address", "add", f"{vip}/32", "dev", "lo")
    assert lab.tcp(dns.message.make_query("www.example.com", "A"), vip).answer
