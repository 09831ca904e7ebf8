# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A reload withdraws the answers that it changes, at once and everywhere; the others stay in the
driver."""
import dns.flags
import dns.rcode
import pytest

from netlab import everywhere, in_driver, texts, write_zone, zone

NAMES = [f"n{i}.z.test" for i in range(40)]
DENIED = [f"no{i}.z.test" for i in range(20)]
WILD = [f"x{i}.w.z.test" for i in range(5)]
MORE = ("".join(f"n{i} IN A 192.0.2.{100 + i}\n" for i in range(40)) +
        "*.w IN A 192.0.2.200\nhost.w IN TXT here\nalias IN CNAME n3\nmx IN MX 1 n4\n")


@pytest.fixture
def served(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone", 1, more=MORE)
    daemon.start(zones=[zone("z.test", path), zone("example.com")])
    return path


def warm(lab, *more):
    for name in (*NAMES, *DENIED, *WILD, *more):
        lab.ask(name)


def reload(daemon, path, serial, more, **kwargs):
    write_zone(path, serial, more=more, **kwargs)
    return daemon.json("zone", "reload", "z.test")["zones"][0]


def test_one_address_changes(lab, daemon, served):
    warm(lab, "example.com", "alias.z.test", "mx.z.test")
    told = reload(daemon, served, 2, MORE.replace("192.0.2.103", "192.0.2.9"))
    assert (told["names_changed"], told["answers_withdrawn"]) == (2, 2)  # n3, and its alias
    assert "all_answers_withdrawn" not in told
    others = [name for name in NAMES if name != "n3.z.test"] + DENIED + WILD + ["www.example.com"]
    lab.ask("www.example.com")
    assert in_driver(lab, daemon, others) == len(others)
    for answer in everywhere(lab, "n3.z.test"):
        assert texts(answer) == ["192.0.2.9"]
    for answer in everywhere(lab, "alias.z.test"):
        assert "192.0.2.9" in texts(answer)
    for answer in everywhere(lab, "z.test", "SOA"):
        assert texts(answer)[0].split()[2] == "2"
    shown = daemon.ctl("zone", "status", "z.test").stdout
    assert "names changed" in shown and "answers withdrawn" in shown


def test_the_soa_changes(lab, daemon, served):
    warm(lab)
    reload(daemon, served, 2, MORE)
    assert in_driver(lab, daemon, DENIED) == len(DENIED)  # with the serial number of before
    assert lab.ask(DENIED[0]).authority[0][0].serial == 1
    told = reload(daemon, served, 3, MORE, ttl=299)  # and with it every record
    assert told["names_changed"] > 40
    assert lab.ask(DENIED[0]).authority[0][0].serial == 3


def test_names_come_and_go(lab, daemon, served):
    warm(lab, "a.new.z.test")
    told = reload(daemon, served, 2, MORE.replace("n5 IN A 192.0.2.105\n", "new IN A 192.0.2.10\n"))
    assert told["names_changed"] == 3 and told["answers_withdrawn"] == 2
    for answer in everywhere(lab, "n5.z.test"):
        assert answer.rcode() == dns.rcode.NXDOMAIN
    for answer in everywhere(lab, "new.z.test"):
        assert texts(answer) == ["192.0.2.10"]
    assert in_driver(lab, daemon, DENIED + WILD) == len(DENIED + WILD)
    reload(daemon, served, 3, MORE)
    for answer in everywhere(lab, "new.z.test"):
        assert answer.rcode() == dns.rcode.NXDOMAIN
    for answer in everywhere(lab, "n5.z.test"):
        assert texts(answer) == ["192.0.2.105"]


def test_a_wildcard(lab, daemon, served):
    warm(lab)
    told = reload(daemon, served, 2, MORE.replace("192.0.2.200", "192.0.2.201"))
    assert told["answers_withdrawn"] == len(WILD)
    for answer in everywhere(lab, WILD[1]):
        assert texts(answer) == ["192.0.2.201"]
    assert in_driver(lab, daemon, NAMES + DENIED) == len(NAMES + DENIED)
    reload(daemon, served, 3, MORE.replace("*.w IN", "*.v IN"))
    for answer in everywhere(lab, WILD[0]):
        assert answer.rcode() == dns.rcode.NXDOMAIN
    reload(daemon, served, 4, MORE + "* IN A 192.0.2.202\n")
    for name in (*DENIED, *DENIED):
        assert texts(lab.ask(name)) == ["192.0.2.202"]


def test_a_delegation(lab, daemon, served):
    warm(lab, "host.w.z.test")
    reload(daemon, served, 2, MORE.replace("*.w IN A 192.0.2.200\nhost.w IN TXT here\n",
                                           "w IN NS ns.w\nns.w IN A 192.0.2.50\n"))
    for name in (WILD[0], "host.w.z.test", "w.z.test"):
        for answer in everywhere(lab, name):
            assert not answer.answer and not answer.flags & dns.flags.AA
            assert texts(answer, "additional") == ["192.0.2.50"]
    assert in_driver(lab, daemon, NAMES + DENIED) == len(NAMES + DENIED)


def test_too_many_changes(lab, daemon, served):
    warm(lab)
    many = "".join(f"m{i} IN A 192.0.2.1\n" for i in range(1100))
    told = reload(daemon, served, 2, MORE + many)
    assert told["all_answers_withdrawn"] == "too many names changed"
    assert "answers_withdrawn" not in told
    assert in_driver(lab, daemon, NAMES + DENIED) == 0
    assert texts(lab.ask(NAMES[3])) == ["192.0.2.103"]


@pytest.mark.parametrize("changed", [False, True])
def test_adopted_after_a_change(lab, daemon, served, changed):
    """The next daemon adopts the answers that a reload left, if the file is still the same."""
    warm(lab)
    reload(daemon, served, 2, MORE.replace("192.0.2.103", "192.0.2.9"))
    lab.ask("n3.z.test")
    daemon.kill()
    if changed:
        write_zone(served, 1, more=MORE)
    daemon.start()
    assert in_driver(lab, daemon, NAMES + DENIED) == (0 if changed else len(NAMES + DENIED))
    assert texts(lab.ask("n3.z.test")) == ["192.0.2.103" if changed else "192.0.2.9"]
