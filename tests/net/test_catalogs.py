# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Catalog zones (RFC 9432): a catalog adds and removes zones, from knotd and named and for them."""
import json
import signal
import subprocess

import dns.message
import dns.rcode
import pytest

from catalogpeers import CATALOG, Consumer, Producer, member, write_catalog
from netlab import BIN, CLIENT4, V4, V6, remote, texts, tsig_key, wait_for, write_zone, zone


def listed(daemon):
    return {z["name"].rstrip("."): z["state"] for z in daemon.json("zone", "list")["zones"]}


def is_served(lab, name):
    return lab.ask(f"www.{name}").rcode() == dns.rcode.NOERROR


def wait_served(lab, *names, seconds=20):
    for name in names:
        wait_for(f"{name} is served", lambda n=name: is_served(lab, n), seconds)


def wait_gone(lab, *names, seconds=20):
    for name in names:
        wait_for(f"{name} is not served",
                 lambda n=name: lab.ask(f"www.{n}").rcode() == dns.rcode.REFUSED, seconds)


@pytest.fixture
def consumer(lab, daemon, tmp_path):
    """A catalog in a file, whose members have files of their own."""
    for i, name in enumerate("abcd"):
        write_zone(tmp_path / f"{name}.test.zone", i + 1, f"192.0.2.{i + 1}")
    path = write_catalog(tmp_path / "catalog.zone", 1, member("m1", "a.test"),
                         member("m2", "b.test", "gold"))
    daemon.start(
        server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
        templates=[{"name": "plain", "file": str(tmp_path / "%s.zone")},
                   {"name": "gold", "file": str(tmp_path / "%s.zone"), "allow-transfer": ["any"]}],
        zones=[zone(CATALOG, path, catalog="consume",
                    groups=[{"group": "gold", "template": "gold"}, {"template": "plain"}]),
               zone("d.test", tmp_path / "d.test.zone")])
    wait_served(lab, "a.test", "b.test")
    return path


def reload(daemon, path, serial, *members):
    write_catalog(path, serial, *members)
    daemon.ctl("zone", "reload", CATALOG)


def test_members_come_and_go(lab, daemon, consumer):
    assert lab.ask("www.c.test").rcode() == dns.rcode.REFUSED
    reload(daemon, consumer, 2, member("m1", "a.test"), member("m3", "c.test"))
    wait_served(lab, "c.test")
    wait_gone(lab, "b.test")
    assert texts(lab.ask("www.a.test")) == ["192.0.2.1"]
    assert set(listed(daemon)) == {CATALOG, "a.test", "c.test", "d.test"}


def test_broken_catalog_changes_nothing(lab, daemon, consumer):
    for serial, lines in ((2, ["version 0 IN TXT \"7\"\n"]),
                          (3, [member("m1", "a.test"), member("m2", "a.test")])):
        reload(daemon, consumer, serial, *lines)
        wait_for("it is refused",
                 lambda s=serial: f"serial {s} is not a valid catalog" in daemon.log())
        assert is_served(lab, "a.test") and is_served(lab, "b.test")
    reload(daemon, consumer, 4, member("m1", "a.test"))
    wait_gone(lab, "b.test")


def test_what_the_configuration_names_stays_its_own(lab, daemon, consumer):
    reload(daemon, consumer, 2, member("m1", "a.test"), member("m4", "d.test"))
    wait_gone(lab, "b.test")
    assert is_served(lab, "d.test") and "d.test.: it is in a catalog, too" in daemon.log()
    reload(daemon, consumer, 3, member("m1", "a.test"))
    assert is_served(lab, "d.test")


def test_members_are_served_after_a_restart_without_the_catalog(lab, daemon, consumer):
    daemon.ctl("zone", "edit", CATALOG, "add m3.zones 0 PTR c.test.")
    wait_served(lab, "c.test")
    daemon.ctl("stop")
    daemon.process.wait(20)
    daemon.process = None
    consumer.unlink()
    daemon.spawn().wait_ready()
    wait_served(lab, "a.test", "b.test", "c.test")


def test_reload_of_the_configuration_keeps_members(lab, daemon, consumer):
    daemon.ctl("zone", "reload")
    for _ in range(3):
        daemon.ctl("zone", "reload")
        assert is_served(lab, "a.test") and is_served(lab, "b.test")


def may_transfer(lab, name):
    """By the template of its group, gold."""
    query = dns.message.make_query(name, "AXFR")
    return lab.tcp(query).rcode() == dns.rcode.NOERROR


def test_group_is_another(lab, daemon, consumer, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    write_zone(other / "a.test.zone", 9, "192.0.2.99")
    config = json.loads(daemon.path.read_text())
    config["templates"].append({"name": "far", "file": str(other / "%s.zone")})
    config["zones"][0]["groups"].append({"group": "far", "template": "far"})
    daemon.path.write_text(json.dumps(config))
    daemon.ctl("zone", "reload")
    assert not may_transfer(lab, "a.test")
    reload(daemon, consumer, 2, member("m1", "a.test", "gold"), member("m2", "b.test", "gold"))
    wait_for("the template is another", lambda: may_transfer(lab, "a.test"))
    reload(daemon, consumer, 3, member("m1", "a.test", "far"), member("m2", "b.test", "gold"))
    wait_for("its file is another", lambda: texts(lab.ask("www.a.test")) == ["192.0.2.99"])
    assert not may_transfer(lab, "a.test") and may_transfer(lab, "b.test")


def test_template_is_another_after_a_reload(lab, daemon, consumer):
    assert not may_transfer(lab, "a.test")
    config = json.loads(daemon.path.read_text())
    config["templates"][0]["allow-transfer"] = ["any"]
    daemon.path.write_text(json.dumps(config))
    daemon.ctl("zone", "reload")
    wait_for("the template holds", lambda: may_transfer(lab, "a.test"))


def test_group_that_gets_its_template_later(lab, daemon, consumer, tmp_path):
    config = json.loads(daemon.path.read_text())
    config["zones"][0]["groups"].pop()
    daemon.path.write_text(json.dumps(config))
    daemon.ctl("zone", "reload")
    reload(daemon, consumer, 2, member("m1", "a.test"), member("m3", "c.test"))
    wait_for("it is told", lambda: 'c.test.: there is no template for group ""' in daemon.log())
    assert is_served(lab, "a.test")
    config["zones"][0]["groups"].append({"template": "plain"})
    daemon.path.write_text(json.dumps(config))
    daemon.ctl("zone", "reload")
    wait_served(lab, "c.test")


def test_catalog_leaves_the_configuration(lab, daemon, consumer):
    config = json.loads(daemon.path.read_text())
    config["zones"] = config["zones"][1:]
    daemon.path.write_text(json.dumps(config))
    daemon.ctl("zone", "reload")
    wait_gone(lab, "a.test", "b.test")
    assert is_served(lab, "d.test") and set(listed(daemon)) == {"d.test"}


def test_member_that_goes_and_comes_back_at_once(lab, daemon, consumer):
    for _ in range(5):
        daemon.ctl("zone", "edit", CATALOG, "remove m1.zones")
        daemon.ctl("zone", "edit", CATALOG, "add m1.zones 0 PTR a.test.")
        wait_for("it is back", lambda: listed(daemon).get("a.test") == "serving")
    wait_served(lab, "a.test")


def test_member_leaves_the_configuration_and_stays(lab, daemon, consumer):
    """What it said is its own is a member as soon as it says nothing."""
    reload(daemon, consumer, 2, member("m1", "a.test"), member("m4", "d.test"))
    wait_gone(lab, "b.test")
    config = json.loads(daemon.path.read_text())
    config["zones"].pop()
    daemon.path.write_text(json.dumps(config))
    daemon.ctl("zone", "reload")
    wait_for("a catalog has it", lambda: "zone d.test.: added by its catalog" in daemon.log())
    wait_served(lab, "d.test")


def test_member_whose_file_does_not_load(lab, daemon, consumer, tmp_path):
    path = tmp_path / "c.test.zone"
    path.write_text("nonsense\n")
    reload(daemon, consumer, 2, member("m1", "a.test"), member("m3", "c.test"))
    wait_for("it fails", lambda: listed(daemon).get("c.test") == "failed")
    assert lab.ask("www.c.test").rcode() == dns.rcode.SERVFAIL and is_served(lab, "a.test")
    assert daemon.ctl("zone", "reload", "c.test", check=False).returncode != 0
    daemon.ctl("zone", "reload")  # the configuration is well
    own = tmp_path / "d.test.zone"
    own.write_text("nonsense\n")
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode == 1 and "zone d.test.:" in said.stderr
    write_zone(own, 4)
    daemon.ctl("zone", "reload")
    assert "error" in daemon.json("zone", "status", "c.test")["zones"][0]
    write_zone(path, 2)
    daemon.ctl("zone", "reload", "c.test")
    assert is_served(lab, "c.test")
    reload(daemon, consumer, 3, member("m1", "a.test"))
    wait_gone(lab, "c.test")


def test_member_that_goes_while_it_is_read(lab, daemon, consumer, tmp_path):
    """Its load waits for a file, a command waits for the load, and a configuration comes
    meanwhile."""
    go = tmp_path / "go"
    config = json.loads(daemon.path.read_text())
    config["templates"].append({
        "name": "slow", "file": str(tmp_path / "%s.zone"),
        "verify": ["/bin/sh", "-c", f"until [ -e {go} ]; do sleep 0.02; done"]})
    config["zones"][0]["groups"].append({"group": "slow", "template": "slow"})
    daemon.path.write_text(json.dumps(config))
    daemon.ctl("zone", "reload")
    reload(daemon, consumer, 2, member("m1", "a.test"), member("m3", "c.test", "slow"))
    wait_for("it comes", lambda: listed(daemon).get("c.test") == "loading")
    words = [BIN / "volleyctl", "--socket", daemon.socket, "zone", "reload", "c.test"]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as waiter:
        daemon.ctl("zone", "reload")
        assert listed(daemon)["c.test"] == "loading"
        reload(daemon, consumer, 3, member("m1", "a.test"))
        wait_for("it goes", lambda: "c.test" not in listed(daemon))
        assert waiter.wait(10) != 0
    reload(daemon, consumer, 4, member("m1", "a.test"), member("m3", "c.test", "slow"))
    wait_for("it comes again", lambda: listed(daemon).get("c.test") == "loading")
    daemon.ctl("zone", "reload")
    go.touch()
    wait_served(lab, "a.test", "c.test")


@pytest.fixture
def two_catalogs(lab, daemon, consumer, tmp_path):
    """Another catalog beside that of the consumer, whose members may be transferred."""
    path = write_catalog(tmp_path / "second.zone", 1, member("n1", "c.test"))
    config = json.loads(daemon.path.read_text())
    config["zones"].append(zone("second.test", path, catalog="consume",
                                groups=[{"template": "gold"}]))
    daemon.path.write_text(json.dumps(config))
    daemon.ctl("zone", "reload")
    wait_served(lab, "c.test")

    def reload_second(serial, *members):
        write_catalog(path, serial, *members)
        daemon.ctl("zone", "reload", "second.test")
    return reload_second


COO = "coo.m1.zones 0 IN PTR second.test.\n"


@pytest.mark.parametrize("order", ["coo-first", "coo-last"])
def test_member_moves_to_another_catalog(lab, daemon, consumer, two_catalogs, order):
    there = [member("n1", "c.test"), member("m1", "a.test")]
    if order == "coo-first":
        reload(daemon, consumer, 2, member("m1", "a.test"), COO)
        two_catalogs(2, *there)
    else:
        two_catalogs(2, *there)
        wait_for("it stays", lambda: "a.test.: it is in two catalogs" in daemon.log())
        assert not may_transfer(lab, "a.test")
        reload(daemon, consumer, 2, member("m1", "a.test"), COO)
    wait_for("the other's template holds", lambda: may_transfer(lab, "a.test"))
    reload(daemon, consumer, 3, member("m2", "b.test"))
    assert is_served(lab, "a.test") and "moves to another catalog" in daemon.log()
    two_catalogs(3, member("n1", "c.test"))
    wait_gone(lab, "a.test")


def test_other_catalog_has_what_the_first_drops(lab, daemon, consumer, two_catalogs):
    two_catalogs(2, member("n1", "c.test"), member("n2", "a.test"))
    wait_for("it stays", lambda: "a.test.: it is in two catalogs" in daemon.log())
    reload(daemon, consumer, 2, member("m2", "b.test"))
    wait_for("the other's template holds", lambda: may_transfer(lab, "a.test"))


def test_first_catalog_keeps_its_member_after_a_restart(lab, daemon, two_catalogs):
    two_catalogs(2, member("n1", "c.test"), member("n2", "a.test"))
    wait_for("it stays", lambda: "a.test.: it is in two catalogs" in daemon.log())
    assert daemon.stop() == 0
    daemon.spawn().wait_ready()
    wait_served(lab, "a.test", "c.test")
    assert not may_transfer(lab, "a.test") and may_transfer(lab, "c.test")


def test_reset_member_is_read_by_its_new_label(lab, daemon, consumer):
    reload(daemon, consumer, 2, member("other", "a.test"), member("m2", "b.test", "gold"))
    wait_for("it is reset", lambda: "a.test.: its catalog resets it" in daemon.log())
    assert is_served(lab, "a.test")
    daemon.ctl("zone", "edit", CATALOG, "remove other.zones")
    wait_gone(lab, "a.test")


def produce(daemon, tmp_path, names, key=None):
    """NAMES: those of group gold begin with g."""
    ours = {"allow_transfer": [f"any key {key['name']}" if key else "any"], "notify": ["consumer"]}
    zones = [zone(CATALOG, catalog="produce", **ours)]
    zones += [zone(name, write_zone(tmp_path / f"{name}.zone"), member_of=CATALOG,
                   **({"group": "gold"} if name[0] == "g" else {}), **ours)
              for name in names]
    return daemon.configure(
        server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
        remotes=[remote("consumer", CLIENT4, **({"key": key["name"]} if key else {}))],
        keys=[key] if key else [], zones=zones)


KINDS = pytest.mark.parametrize("kind", ["knotd", "named"])
KEYS = pytest.mark.parametrize("key", [None, tsig_key()], ids=["open", "tsig"])


@KINDS
@KEYS
def test_catalog_is_taken_by(lab, daemon, tmp_path, kind, key):
    produce(daemon, tmp_path, ["a.test", "b.test"], key)
    daemon.spawn().wait_ready()
    with Consumer(lab, tmp_path, kind, key) as consumer:
        for name in ("a.test", "b.test"):
            wait_for(f"{kind} has {name}", lambda n=name: consumer.has(n), 20)
        produce(daemon, tmp_path, ["b.test", "g.test"], key)
        daemon.ctl("zone", "reload")
        wait_for(f"{kind} has g.test", lambda: consumer.has("g.test"), 20)
        wait_for(f"{kind} has a.test no more", lambda: not consumer.has("a.test"), 20)
        wait_for(f"{kind} still has b.test", lambda: consumer.has("b.test"))
        if kind == "knotd":
            wait_for("g.test is of its group",
                     lambda: list(consumer.folder.glob("gold-g.test*")), 20)
            assert not list(consumer.folder.glob("gold-b.test*"))


@KINDS
@KEYS
def test_catalog_is_taken_from(lab, daemon, tmp_path, kind, key):
    """Members come by transfers from the same server, by the template of their group."""
    signs = {"key": key["name"]} if key else {}
    with Producer(lab, tmp_path, kind, {"a.test": None, "b.test": "gold"}, key) as producer:
        wait_for(f"{kind} answers", lambda: (it := producer.ask("b.test", "SOA")) and it.answer, 20)
        daemon.start(
            server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
            remotes=[remote("producer", CLIENT4, **signs)], keys=[key] if key else [],
            templates=[{"name": "member", "primaries": ["producer"]},
                       {"name": "gold", "primaries": ["producer"], "allow-transfer": ["any"]}],
            zones=[zone(CATALOG, primaries=["producer"], catalog="consume",
                        groups=[{"template": "member"}, {"group": "gold", "template": "gold"}])])
        wait_served(lab, "a.test", "b.test", seconds=20)
        assert may_transfer(lab, "b.test") and not may_transfer(lab, "a.test")
        producer.change({"b.test": None, "c.test": "gold"})
        wait_served(lab, "c.test", seconds=20)
        wait_gone(lab, "a.test", seconds=20)
        wait_for("the groups are others", lambda: not may_transfer(lab, "b.test"), 20)
        assert is_served(lab, "b.test") and may_transfer(lab, "c.test")


def test_produced_catalog_outlives_the_daemon(lab, daemon, tmp_path):
    produce(daemon, tmp_path, ["a.test", "b.test"])
    daemon.spawn().wait_ready()

    def serial():
        return daemon.json("zone", "status", CATALOG)["zones"][0].get("serial", 0)
    wait_for("the members are in it", lambda: serial() > 1)
    before = serial()
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait(20)
    daemon.process = None
    daemon.spawn().wait_ready()
    assert serial() == before


def test_ten_thousand_members(lab, daemon, tmp_path):
    (tmp_path / "same").mkdir()
    same = write_zone(tmp_path / "same" / "zone")
    path = write_catalog(tmp_path / "catalog.zone", 1,
                         *[member(f"m{i}", f"z{i}.many.test") for i in range(10000)])
    for i in range(10000):
        (tmp_path / "same" / f"z{i}.many.test").symlink_to(same)
    daemon.start(
        server={"listen": [V4], "workers": 1, "storage": str(tmp_path / "store")},
        templates=[{"name": "plain", "file": str(tmp_path / "same" / "%s")}],
        zones=[zone(CATALOG, path, catalog="consume", groups=[{"template": "plain"}])])
    wait_for("all are served",
             lambda: daemon.status()["zones"]["serving"] == 10001, 60)
    assert is_served(lab, "z0.many.test") and is_served(lab, "z9999.many.test")
