# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings that a reload cannot apply are reported: in its reply, in the log, and in status."""
import signal

import dns.edns
import dns.message
import dns.rcode
import pytest

from netlab import CLIENT4, ROOT, V4, iface, remote, run, texts, wait_for, zone

WORKERS = "server.workers: changed: restart volleyd to use the new value"
CORES = "interfaces[].cores: changed: restart volleyd to use the new value"


def test_keys_that_need_a_new_start(lab, daemon):
    daemon.start()
    assert "warnings" not in daemon.json("zone", "reload") and daemon.degraded() == ""
    daemon.configure(server={"workers": 3}, interfaces=[iface(cores=[0])])
    reply = daemon.json("zone", "reload")
    assert reply["warnings"] == [WORKERS, CORES] and reply["zones"]["serving"] == 2
    assert f"  - {WORKERS}\n" in daemon.ctl("zone", "reload").stdout
    assert daemon.log().count(f"warning: {WORKERS}") == 2
    assert daemon.status()["degraded"] == [WORKERS, CORES]
    assert "warnings" not in daemon.json("zone", "reload", "example.com")
    daemon.configure()  # what runs
    daemon.signal(signal.SIGHUP)
    wait_for("nothing to be told", lambda: daemon.status()["degraded"] == [])
    assert "warnings" not in daemon.json("zone", "reload")
    daemon.configure(server={"workers": 3})
    daemon.ctl("zone", "reload")
    daemon.stop()
    daemon.start()  # anew, with what it says
    assert daemon.degraded() == ""


def test_a_zone_to_be_kept_needs_storage_that_is_open(lab, daemon):
    daemon.start()
    daemon.configure(server={"storage": "state"}, remotes=[remote("hub", "192.0.2.9")],
                     zones=[zone("example.com"), zone("example.net"),
                            {"name": "kept.test", "primaries": ["hub"]}])
    refusal = daemon.ctl("zone", "reload", check=False)
    assert refusal.returncode == 1
    assert ("zone kept.test.: primaries needs server.storage, which no reload can open" in
            refusal.stderr)
    assert len(daemon.json("zone", "list")["zones"]) == 2 and texts(lab.ask())
    daemon.stop()
    daemon.start()
    assert len(daemon.json("zone", "list")["zones"]) == 3


SECRET = "e5e973e5a6b2a43f48e7dc849e37bfcf"
CLIENT, NOBODY = f"{CLIENT4}/32", "198.51.100.0/24"
RRL_OFF, RRL_TIGHT = {"answers": 0, "octets": 0}, {"answers": 1, "octets": 0, "slip": 1}


def cookie_of(lab):
    query = dns.message.make_query("www.example.com", "A", use_edns=0,
                                   options=[dns.edns.GenericOption(10, bytes(8))])
    (option,) = [o for o in lab.udp(query, timeout=5).options if o.otype == 10]
    return bytes(option.to_wire())


@pytest.mark.parametrize("before, after", [(CLIENT, NOBODY), (NOBODY, CLIENT), (CLIENT, None)])
def test_what_was_in_force_is_put_back(lab, daemon, tmp_path, before, after):
    """If the new secret of cookies cannot be made, the clients that may recurse, rate limits and
    the old secret stay as before."""
    # volleyd removes it, which Landlock allows in this folder
    library, broken = tmp_path / "norandom.so", daemon.folder / "broken"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/norandom.c", "-ldl")

    def recursion(prefix):
        return {"allow": [prefix], "forward": [f"{V4}@5399"], "query-localhost": True,
                "local-data": ["printer.far. 300 IN A 192.0.2.9"]} if prefix else {}

    def may_recurse():
        answer = lab.ask("printer.far")
        assert answer.rcode() == (dns.rcode.NOERROR if answer.answer else dns.rcode.REFUSED)
        return bool(answer.answer)

    daemon.configure(server={"cookies": {"secret": SECRET}}, recursion=recursion(before),
                     rrl=RRL_OFF)
    daemon.spawn(env={"LD_PRELOAD": str(library), "NORANDOM_FILE": str(broken)}).wait_ready()
    cookie, mode = cookie_of(lab), daemon.status()["recursion"]["mode"]
    assert may_recurse() == (before == CLIENT)
    daemon.configure(recursion=recursion(after), rrl=RRL_TIGHT)
    broken.touch()
    refusal = daemon.ctl("zone", "reload", check=False)
    assert refusal.returncode == 1 and "secrets of DNS cookies: " in refusal.stderr
    assert not broken.exists()
    assert daemon.status()["recursion"]["mode"] == mode
    for _ in range(5):
        assert may_recurse() == (before == CLIENT) and cookie_of(lab)[:8] == cookie[:8]
        assert texts(lab.ask())
    assert daemon.json("rrl", "status")["answers_per_second"] == 0
    daemon.ctl("zone", "reload")  # now it can be made
    assert may_recurse() == (after == CLIENT)
