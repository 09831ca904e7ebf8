# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones that are changed record by record while they are served, and their state after a
restart."""
import os
import signal
import subprocess
import threading

import dns.rcode
import pytest

from netlab import BIN, ROOT, V4, V6, run, texts, wait_for, write_zone, zone

MANY = "".join(f"n{i} IN A 10.0.{i // 256}.{i % 256}\n" for i in range(2000))


@pytest.fixture
def served(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone", 7,
                      more="txt IN TXT \"old\"\nalias IN CNAME www\n" + MANY)
    daemon.configure(server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
                     zones=[zone("z.test", path), zone("example.com")])
    daemon.start()
    return path


def serial(daemon, name="z.test"):
    return daemon.json("zone", "status", name)["zones"][0]["serial"]


def edit(daemon, *words):
    return daemon.ctl("zone", "edit", "z.test", *words)


def test_change_is_served_at_once_and_others_stay_cached(lab, daemon, served):
    for name in ("www", "n1", "n2", "alias"):
        for _ in range(2):
            lab.ask(f"{name}.z.test")
    before = daemon.answered()["driver"]
    edit(daemon, "add", "new", "300", "A", "192.0.2.77")
    edit(daemon, "remove", "www", "A", "192.0.2.10")
    edit(daemon, "add", "www", "A", "192.0.2.11")
    assert serial(daemon) == 10
    assert texts(lab.ask("new.z.test")) == ["192.0.2.77"]
    assert texts(lab.ask("www.z.test")) == ["192.0.2.11"]
    assert texts(lab.ask("alias.z.test"))[-1] == "www.z.test."
    assert "192.0.2.11" in texts(lab.ask("alias.z.test"))
    assert texts(lab.ask("z.test", "SOA"))[0].split()[2] == "10"
    hits = daemon.answered()["driver"]
    lab.ask("n1.z.test")
    lab.ask("n2.z.test")
    assert daemon.answered()["driver"] == hits + 2, "what did not change is still the driver's"
    assert hits >= before


def test_name_that_was_denied_comes_and_goes(lab, daemon, served):
    for where in (V4, V6):
        for _ in range(2):
            assert lab.ask("later.z.test", where=where).rcode() == dns.rcode.NXDOMAIN
    edit(daemon, "add", "later", "60", "A", "192.0.2.1")
    for where in (V4, V6):
        assert texts(lab.ask("later.z.test", where=where)) == ["192.0.2.1"]
    edit(daemon, "remove", "later")
    for where in (V4, V6):
        assert lab.ask("later.z.test", where=where).rcode() == dns.rcode.NXDOMAIN


def test_lines_are_made_together_or_not_at_all(lab, daemon, served):
    edit(daemon, "remove txt TXT", "add txt 60 TXT \"a b\" c", "add @ MX 10 www")
    assert serial(daemon) == 8
    assert texts(lab.ask("txt.z.test", "TXT")) == ['"a b" "c"']
    assert texts(lab.ask("z.test", "MX")) == ["10 www.z.test."]
    refused = daemon.ctl("zone", "edit", "z.test", "add ok 60 A 192.0.2.1", "remove gone A",
                         check=False)
    assert refused.returncode != 0 and "line 2" in refused.stderr
    assert serial(daemon) == 8
    assert lab.ask("ok.z.test").rcode() == dns.rcode.NXDOMAIN


@pytest.mark.parametrize("words, sentence", [
    (("add", "www", "CNAME", "other"), "CNAME"),
    (("add", "www", "A", "nonsense"), "line 1"),
    (("add", "x.elsewhere.test.", "A", "192.0.2.1"), "line 1"),
    (("remove", "@", "SOA"), ""),
    (("remove", "@", "NS"), ""),
    (("put", "www", "A"), "add or remove"),
])
def test_what_breaks_the_zone_is_refused(lab, daemon, served, words, sentence):
    refused = daemon.ctl("zone", "edit", "z.test", *words, check=False)
    assert refused.returncode != 0 and sentence in refused.stderr
    assert serial(daemon) == 7
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]


def test_without_storage_nothing_can_be_changed(daemon, tmp_path):
    daemon.start(zones=[zone("z.test", write_zone(tmp_path / "z.zone"))])
    refused = daemon.ctl("zone", "edit", "z.test", "add", "a", "A", "192.0.2.1", check=False)
    assert refused.returncode != 0 and "server.storage" in refused.stderr


def restart(daemon, how=signal.SIGKILL):
    daemon.process.send_signal(how)
    daemon.process.wait(20)
    daemon.process = None
    daemon.spawn()
    daemon.wait_ready()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_changes_outlive_the_daemon(lab, daemon, served, how):
    for i in range(20):
        edit(daemon, "add", f"e{i}", "60", "A", f"192.0.2.{i}")
    restart(daemon, how)
    assert serial(daemon) == 27
    assert texts(lab.ask("e19.z.test")) == ["192.0.2.19"]
    assert "e19" not in served.read_text(encoding="ascii"), "the operator's file is his"
    edit(daemon, "remove", "e0")
    daemon.ctl("zone", "flush", "z.test")
    wait_for("the file has the changes",
             lambda: not daemon.json("zone", "status", "z.test")["zones"][0]["is_file_behind"])
    wait_for("it is written", lambda: "e19" in served.read_text(encoding="ascii"))
    restart(daemon, how)
    assert serial(daemon) == 28
    assert lab.ask("e0.z.test").rcode() == dns.rcode.NXDOMAIN
    assert texts(lab.ask("e19.z.test")) == ["192.0.2.19"]


def test_killed_in_a_stream_of_changes_all_that_were_acknowledged_are_there(lab, daemon, served):
    acknowledged = []

    def stream():
        for i in range(10000):
            if daemon.ctl("zone", "edit", "z.test", "add", f"s{i}", "60", "A", "192.0.2.1",
                          check=False).returncode:
                return
            acknowledged.append(i)

    thread = threading.Thread(target=stream)
    thread.start()
    # each waits for the disk
    wait_for("some changes are made", lambda: len(acknowledged) >= 20, 30)
    os.kill(daemon.process.pid, signal.SIGKILL)
    thread.join()
    daemon.process.wait(20)
    daemon.process = None
    daemon.spawn()
    daemon.wait_ready()
    assert serial(daemon) - 7 in (len(acknowledged), len(acknowledged) + 1)
    for i in (0, acknowledged[-1]):
        assert texts(lab.ask(f"s{i}.z.test")) == ["192.0.2.1"]


def test_reload_of_the_file_takes_the_place_of_changes(lab, daemon, served):
    edit(daemon, "add", "mine", "60", "A", "192.0.2.1")
    assert serial(daemon) == 8
    write_zone(served, 8, "192.0.2.99")
    refused = daemon.ctl("zone", "reload", "z.test", check=False)
    assert refused.returncode != 0 and "serial" in refused.stderr
    assert texts(lab.ask("mine.z.test")) == ["192.0.2.1"]
    write_zone(served, 20, "192.0.2.99")
    daemon.ctl("zone", "reload", "z.test")
    assert lab.ask("mine.z.test").rcode() == dns.rcode.NXDOMAIN
    assert texts(lab.ask("www.z.test")) == ["192.0.2.99"]
    edit(daemon, "add", "again", "60", "A", "192.0.2.2")
    restart(daemon)
    assert serial(daemon) == 21
    assert texts(lab.ask("again.z.test")) == ["192.0.2.2"]


def test_killed_between_the_file_and_the_note_of_it(lab, daemon, served, tmp_path):
    """A change that was acknowledged while the file was written is not in it, and not lost."""
    library, go = tmp_path / "die.so", tmp_path / "go"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/dieonrename.c")
    daemon.ctl("stop")
    daemon.process.wait(20)
    daemon.spawn(env={"LD_PRELOAD": str(library), "DIEONRENAME_PATH": str(served),
                      "DIEONRENAME_GO": str(go)}).wait_ready()
    edit(daemon, "add", "before", "60", "A", "192.0.2.1")
    flush = subprocess.Popen([BIN / "volleyctl", "--socket", daemon.socket, "zone", "flush",
                              "z.test"])
    wait_for("the file is in place", lambda: "before" in served.read_text(encoding="ascii"))
    edit(daemon, "add", "behind", "60", "A", "192.0.2.2")
    go.touch()
    daemon.process.wait(20)
    assert flush.wait(20) != 0
    daemon.process = None
    daemon.spawn().wait_ready()
    assert serial(daemon) == 9
    assert texts(lab.ask("before.z.test")) == ["192.0.2.1"]
    assert texts(lab.ask("behind.z.test")) == ["192.0.2.2"]


@pytest.fixture
def synced(daemon, tmp_path):
    """A zone whose file is written a second after a change."""
    path = write_zone(tmp_path / "z.zone", 7)
    daemon.start(server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
                 templates=[{"name": "t", "zonefile-sync": 1, "journal-size": 0}],
                 zones=[zone("z.test", path, template="t"),
                        zone("other.test", write_zone(tmp_path / "o.zone", 7))])
    return path


def status(daemon, key):
    return daemon.json("zone", "status", "z.test")["zones"][0].get(key, "")


def test_file_follows_the_changes(lab, daemon, synced, tmp_path):
    edit(daemon, "add", "a", "60", "A", "192.0.2.201")
    daemon.ctl("zone", "edit", "other.test", "add", "a", "60", "A", "192.0.2.201")
    wait_for("the file has it", lambda: "192.0.2.201" in synced.read_text(encoding="ascii"), 20)
    assert not status(daemon, "is_file_behind")
    assert "192.0.2.201" not in (tmp_path / "o.zone").read_text(
        encoding="ascii"), "only where it is asked for"
    restart(daemon)
    assert serial(daemon) == 8 and texts(lab.ask("a.z.test")) == ["192.0.2.201"]
    assert "zone z.test.: serial 8" in daemon.log()
    assert "zone z.test.: serial 7 from" not in daemon.log()
    assert "zone other.test.: serial 7 from" in daemon.log(), "the journal has what the file has not"
    edit(daemon, "add", "b", "60", "A", "192.0.2.202")
    restart(daemon)
    assert texts(lab.ask("b.z.test")) == ["192.0.2.202"], "written or not yet"
    wait_for("the file has it", lambda: "192.0.2.202" in synced.read_text(encoding="ascii"), 20)


def test_file_that_the_operator_is_about_to_load_is_not_written_over(lab, daemon, synced):
    write_zone(synced, 20, "192.0.2.99")
    edit(daemon, "add", "mine", "60", "A", "192.0.2.1")
    wait_for("a word of it", lambda: "somebody has changed it" in status(daemon, "storage_error"),
             20)
    assert "somebody has changed it" in daemon.ctl("-w", "2", "health", check=False).stdout
    assert "192.0.2.99" in synced.read_text(encoding="ascii")
    assert texts(lab.ask("mine.z.test")) == ["192.0.2.1"]
    daemon.ctl("zone", "reload", "z.test")
    assert texts(lab.ask("www.z.test")) == ["192.0.2.99"] and not status(daemon, "storage_error")
    edit(daemon, "add", "again", "60", "A", "192.0.2.3")
    wait_for("the file has it", lambda: "serial 21 written" in daemon.log(), 20)
    assert "192.0.2.3" in synced.read_text(encoding="ascii")
    write_zone(synced, 20, "192.0.2.98")
    edit(daemon, "add", "more", "60", "A", "192.0.2.4")
    wait_for("a word of it", lambda: "somebody has changed it" in status(daemon, "storage_error"),
             20)
    daemon.ctl("zone", "flush", "z.test")
    wait_for("the file has it", lambda: "192.0.2.4" in synced.read_text(encoding="ascii"), 20)
    wait_for("no word of trouble", lambda: not status(daemon, "storage_error"), 20)


def test_file_that_says_nothing_new_leaves_changes_alone(lab, daemon, served):
    edit(daemon, "add", "mine", "60", "A", "192.0.2.1")
    daemon.ctl("zone", "reload", "z.test")
    daemon.ctl("zone", "reload")
    assert status(daemon, "state") == "serving" and serial(daemon) == 8
    assert texts(lab.ask("mine.z.test")) == ["192.0.2.1"]
