# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reload cannot put in place is told: in its reply, in the log, and in status."""
import signal

from netlab import iface, remote, texts, wait_for, zone

WORKERS = "server.workers: changed, and needs a new start"
CORES = "interfaces[].cores: changed, and needs a new start"


def test_keys_that_need_a_new_start(lab, daemon):
    daemon.start()
    assert "warnings" not in daemon.json("zone", "reload") and daemon.degraded() == ""
    daemon.configure(server={"workers": 3}, interfaces=[iface(cores=[0])])
    reply = daemon.json("zone", "reload")
    assert reply["warnings"] == [WORKERS, CORES] and len(reply["zones"]) == 2
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
    assert "zone kept.test.: primaries needs server.storage, and that a new start" in refusal.stderr
    assert len(daemon.json("zone", "list")["zones"]) == 2 and texts(lab.ask())
    daemon.stop()
    daemon.start()
    assert len(daemon.json("zone", "list")["zones"]) == 3
