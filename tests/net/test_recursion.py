# SPDX-License-Identifier: GPL-2.0-only
"""volleyd that asks upstream, end to end: an nsd to forward to, and what control makes of it.

What is asked and answered in all its kinds is in test_tree.py and its neighbours, over a whole tree.
"""
import dns.flags
import dns.message
import dns.rcode
import pytest

from netlab import CLIENT4, CLIENT6, V4, V6, texts, zone
from upstreams import Netns, missing

FIRST, SECOND = "127.0.1.1", "127.0.1.2"
HEAD = "$TTL 300\n@ SOA ns hostmaster 1 7200 3600 1209600 60\n@ NS ns\nns A {}\n"


def write(folder, name, address):
    """A root zone with records below far., that tells whose it is."""
    path = folder / name
    path.write_text(HEAD.format(address) + f"*.far A {address}\nwww.far TXT \"{address}\"\n"
                    f"www.far A {address}\nwww.example.com A {address}\n", encoding="ascii")
    return path.name


@pytest.fixture(name="upstream")
def make_upstream(lab, tmp_path):
    """Two servers of other roots in the daemon's namespace."""
    if "nsd" in missing():
        pytest.skip("nsd is not installed")
    folder = tmp_path / "upstream"
    folder.mkdir()
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(folder, f"{lab.name}-s")
    try:
        netns.processes_of = {address: netns.nsd(address, {".": write(folder, f"root-{address}", address)})
                              for address in (FIRST, SECOND)}
        yield netns
    finally:
        netns.close()


def recursion(**keys):
    return {"allow": [CLIENT4, CLIENT6], "forward": [FIRST], "query-localhost": True, **keys}


def start(daemon, **sections):
    return daemon.start(**{"zones": [zone("example.com")], "recursion": recursion(), **sections})


def ask(lab, name, kind="A", where=V4, **kwargs):
    return lab.ask(name, kind, where, timeout=6, **kwargs)


@pytest.mark.usefixtures("upstream")
def test_an_answer_from_upstream_and_then_from_the_driver(lab, daemon):
    start(daemon)
    first = ask(lab, "www.far")
    assert texts(first) == [FIRST]
    assert first.flags & dns.flags.RA and not first.flags & dns.flags.AA
    before = daemon.answered()
    for where in (V4, V6):
        assert texts(ask(lab, "WWW.far", where=where)) == [FIRST]
    after = daemon.answered()
    assert after["driver"] == before["driver"] + 2
    assert texts(lab.tcp(dns.message.make_query("www.far", "A"))) == [FIRST]


@pytest.mark.usefixtures("upstream")
def test_without_the_driver(lab, daemon):
    start(daemon, interfaces=[])
    for name in ("a.far", "a.far", "b.far"):
        assert texts(ask(lab, name)) == [FIRST]
    assert texts(lab.tcp(dns.message.make_query("c.far", "A"))) == [FIRST]
