# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones that come and go: answers of other zones that depend on them change at once, the rest stays
in the driver."""
import dns.rcode
import pytest

from netlab import everywhere, in_driver, texts, write_zone, zone

ALIASES = ("alias IN CNAME www.b.test.\nto IN CNAME www.deep\ndn IN DNAME b.test.\n"
           "mx IN MX 1 www.b.test.\nwww.deep IN A 192.0.2.11\nout IN CNAME www.elsewhere.test.\n")
NAMES = [f"n{i}.a.test" for i in range(20)]


@pytest.fixture
def paths(tmp_path):
    more = ALIASES + "".join(f"n{i} IN A 192.0.2.{100 + i}\n" for i in range(20))
    made = {"a.test": write_zone(tmp_path / "a.zone", more=more),
            "b.test": write_zone(tmp_path / "b.zone", address="192.0.2.20"),
            "deep.a.test": write_zone(tmp_path / "deep.zone", address="192.0.2.30"),
            "test": write_zone(tmp_path / "test.zone", address="192.0.2.40",
                               more="a IN DS 1 8 2 " + 32 * "ab" + "\na IN NS ns.a\n")}
    return lambda *names: [zone(name, made[name]) for name in names]


def become(daemon, zones):
    daemon.configure(zones=zones)
    daemon.ctl("zone", "reload")


@pytest.mark.parametrize("name", ["alias.a.test", "www.dn.a.test"])
def test_an_alias_leads_into_a_zone_that_comes(lab, daemon, paths, name):
    daemon.start(zones=paths("a.test"))
    others = [(n,) for n in (*NAMES, "out.a.test", "nothing.a.test")] + [("mx.a.test", "MX")]
    for question in ((name,), *others):
        lab.ask(*question)
    assert in_driver(lab, daemon, [(name,), *others]) == 1 + len(others)
    become(daemon, paths("a.test", "b.test"))
    for answer in everywhere(lab, name):
        assert "192.0.2.20" in texts(answer)
    assert in_driver(lab, daemon, others) == len(others)
    become(daemon, paths("a.test"))
    for answer in everywhere(lab, name):
        assert "192.0.2.20" not in texts(answer)


def test_ds_is_the_parents_when_it_comes(lab, daemon, paths):
    daemon.start(zones=paths("a.test"))
    others = [(n,) for n in NAMES]
    for question in (("a.test", "DS"), *others):
        lab.ask(*question)
    assert in_driver(lab, daemon, [("a.test", "DS"), *others]) == 1 + len(others)
    assert not lab.ask("a.test", "DS").answer
    assert lab.ask("x.test").rcode() == dns.rcode.REFUSED
    become(daemon, paths("test", "a.test"))
    for answer in everywhere(lab, "a.test", "DS"):
        assert texts(answer) == ["1 8 2 " + 32 * "ab"]
    assert lab.ask("x.test").rcode() == dns.rcode.NXDOMAIN
    assert in_driver(lab, daemon, others) == len(others)
    become(daemon, paths("a.test"))
    for answer in everywhere(lab, "a.test", "DS"):
        assert not answer.answer


def test_a_zone_below_comes_and_goes(lab, daemon, paths):
    """The zone above had answered its names, and aliases to them, from its own records."""
    daemon.start(zones=paths("a.test"))
    others = [(n,) for n in NAMES] + [("nothing.a.test",), ("alias.a.test",)]
    for question in (("www.deep.a.test",), ("to.a.test",), *others):
        lab.ask(*question)
    assert "192.0.2.11" in texts(lab.ask("to.a.test"))
    become(daemon, paths("a.test", "deep.a.test"))
    for answer in everywhere(lab, "www.deep.a.test"):
        assert texts(answer) == ["192.0.2.30"]
    for answer in everywhere(lab, "to.a.test"):
        assert "192.0.2.30" in texts(answer)
    assert in_driver(lab, daemon, others) == len(others)
    become(daemon, paths("a.test"))
    for answer in everywhere(lab, "www.deep.a.test"):
        assert texts(answer) == ["192.0.2.11"]
    for answer in everywhere(lab, "to.a.test"):
        assert "192.0.2.11" in texts(answer)
    assert in_driver(lab, daemon, others) == len(others)


def test_an_alias_into_a_zone_that_did_not_load(lab, daemon, paths, tmp_path):
    broken = tmp_path / "b.broken"
    broken.write_text("@ IN NONSENSE\n", encoding="ascii")
    daemon.start(zones=paths("a.test") + [zone("b.test", broken)])
    lab.ask("alias.a.test")
    assert texts(lab.ask("alias.a.test")) == ["www.b.test."]
    assert lab.ask("www.b.test").rcode() == dns.rcode.SERVFAIL
    write_zone(broken, address="192.0.2.20")
    daemon.ctl("zone", "reload", "b.test")
    for answer in everywhere(lab, "alias.a.test"):
        assert "192.0.2.20" in texts(answer)
    for answer in everywhere(lab, "www.b.test"):
        assert texts(answer) == ["192.0.2.20"]


@pytest.mark.parametrize("first,asked,then", [
    (["a.test"], ("alias.a.test", "A"), "192.0.2.20"),
    (["a.test"], ("a.test", "DS"), "1 8 2 " + 32 * "ab"),
    (["a.test"], ("www.deep.a.test", "A"), "192.0.2.30"),
])
def test_the_next_daemon_has_more_zones(lab, daemon, paths, first, asked, then):
    """It takes over what still holds among its zones, and nothing else."""
    daemon.start(zones=paths(*first))
    others = [(n,) for n in NAMES]
    for question in (asked, *others):
        lab.ask(*question)
    daemon.kill()
    daemon.start(zones=paths("a.test", "b.test", "deep.a.test", "test"))
    for answer in everywhere(lab, *asked):
        assert then in texts(answer)
    assert in_driver(lab, daemon, others) == len(others)
