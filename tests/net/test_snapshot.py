# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache in a file, by command and by configuration: over restarts, crashes, changed zones and
damaged files."""
import json
import os
import signal
import time

import dns.message
import pytest

from netlab import BIN, in_driver, texts, wait_for, write_zone, zone

NAMES = [f"n{i}.z.test" for i in range(30)] + [f"no{i}.z.test" for i in range(10)]
MORE = "".join(f"n{i} IN A 192.0.2.{100 + i}\n" for i in range(30))
HEADER_BYTES = 56


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache.snapshot"


@pytest.fixture
def zones(tmp_path):
    return [zone("z.test", write_zone(tmp_path / "z.zone", 1, more=MORE)), zone("example.com")]


def warm(lab):
    for name in (*NAMES, "www.example.com"):
        lab.ask(name)


def wait_loaded(daemon):
    """For what the last start had to load."""
    since = daemon.log().rindex("ready: ")
    wait_for("the snapshot is loaded",
             lambda: f" of {len(NAMES) + 1} answers of " in daemon.log()[since:])


def refused(daemon, *words):
    """The message of a command that fails, after the interval's own dump is over."""
    said = daemon.ctl(*words, check=False)
    while "another snapshot is being written" in said.stderr:
        said = daemon.ctl(*words, check=False)
    assert said.returncode == 1, said.stdout
    return said.stderr


def ctl(daemon, *words):
    """The command's words, for one that is to run beside others."""
    return [BIN / "volleyctl", "--socket", daemon.socket, *words]


def test_by_command(lab, daemon, path, zones):
    daemon.start(zones=zones)
    warm(lab)
    told = daemon.json("cache", "dump", path)
    assert (told["entries"], told["zones"], told["zones_left_out"]) == (len(NAMES) + 1, 2, 0)
    assert told["written_bytes"] == path.stat().st_size
    assert path.stat().st_mode & 0o777 == 0o600
    assert not path.with_name("cache.snapshot.tmp").exists()
    told = daemon.json("cache", "load", path)
    assert (told["loaded"], told["present"]) == (0, len(NAMES) + 1)
    daemon.stop()
    daemon.start()
    told = daemon.json("cache", "load", path)
    assert told["loaded"] == told["entries"] == len(NAMES) + 1
    assert in_driver(lab, daemon, NAMES) == len(NAMES)
    assert texts(lab.ask(NAMES[7])) == ["192.0.2.107"]
    assert "written" in daemon.ctl("cache", "dump", path).stdout  # again, over the first
    assert lab.tcp(dns.message.make_query(NAMES[3], "A")).answer


def test_by_configuration(lab, daemon, path, zones):
    """Without an interval it is written at the stop, and not by one that was killed."""
    daemon.start(zones=zones, cache={"snapshot": str(path)})
    wait_for("it looks", lambda: f"{path} does not exist yet" in daemon.log())
    warm(lab)
    assert daemon.stop() == 0
    assert path.stat().st_size > HEADER_BYTES
    daemon.start()
    wait_loaded(daemon)
    assert in_driver(lab, daemon, NAMES) == len(NAMES)
    assert "adopted" not in daemon.log()
    before = path.read_bytes()
    daemon.kill()
    assert path.read_bytes() == before


def test_interval(lab, daemon, path, zones):
    daemon.start(zones=zones, cache={"snapshot": str(path), "snapshot-interval": "1s"})
    warm(lab)
    wait_for("the interval", lambda: f"{len(NAMES) + 1} answers written" in daemon.log(), 10)
    daemon.kill()
    lab.ip("s", "link", "set", "dev", "s0", "xdp", "off")  # as a reboot
    daemon.start()
    wait_loaded(daemon)
    assert in_driver(lab, daemon, NAMES) == len(NAMES)


def test_adopted_maps_are_not_loaded_into(lab, daemon, path, zones):
    daemon.start(zones=zones, cache={"snapshot": str(path)})
    warm(lab)
    daemon.json("cache", "dump", path)
    daemon.kill()
    daemon.start()
    assert in_driver(lab, daemon, NAMES) == len(NAMES)
    assert "answer cache: adopted" in daemon.log() and "answers of" not in daemon.log()


@pytest.mark.parametrize("change", ["content", "settings", "zone gone"])
def test_other_content(lab, daemon, path, zones, tmp_path, change):
    """Of a zone that is another one nothing is taken back; the others are."""
    daemon.start(zones=zones, cache={"snapshot": str(path)})
    warm(lab)
    daemon.stop()
    if change == "content":
        write_zone(tmp_path / "z.zone", 2, more=MORE.replace("192.0.2.107", "192.0.2.77"))
    elif change == "settings":
        daemon.configure(zones=zones, server={"minimal-responses": True},
                         cache={"snapshot": str(path)})
    else:
        daemon.configure(zones=zones[1:], cache={"snapshot": str(path)})
    daemon.start()
    wait_loaded(daemon)
    told = daemon.json("cache", "load", path)
    assert told["other_content"] == told["entries"] - (0 if change == "settings" else 1)
    if change == "content":
        assert in_driver(lab, daemon, NAMES) == 0
        assert texts(lab.ask(NAMES[7])) == ["192.0.2.77"]
        assert in_driver(lab, daemon, ["www.example.com"]) == 1


def test_other_zones_have_come(lab, daemon, path, tmp_path):
    """
    What leads into a zone that was not served then is not taken back, the rest of the same zone is.
    """
    alone = zone("a.test", write_zone(tmp_path / "a.zone", more="alias IN CNAME www.b.test.\n"
                                      "www.deep IN A 192.0.2.11\nsub.deep2 IN NS ns\n"))
    others = [zone("b.test", write_zone(tmp_path / "b.zone", address="192.0.2.20")),
              zone("deep.a.test", write_zone(tmp_path / "deep.zone", address="192.0.2.30"))]
    questions = ["alias.a.test", "www.deep.a.test", "www.a.test", "no.a.test"]
    daemon.start(zones=[alone], cache={"snapshot": str(path)})
    for name in questions:
        lab.ask(name)
    daemon.stop()
    daemon.configure(zones=[alone, *others], cache={"snapshot": str(path)}).start()
    wait_for("it is loaded", lambda: " 2 of 4 answers of " in daemon.log())
    assert in_driver(lab, daemon, questions[2:]) == 2
    assert "192.0.2.20" in texts(lab.ask(questions[0]))
    assert texts(lab.ask(questions[1])) == ["192.0.2.30"]


def test_changed_zone_goes_out_of_the_next(lab, daemon, path, zones, tmp_path):
    """After a reload that kept most answers, those of the file before are of another content."""
    daemon.start(zones=zones)
    warm(lab)
    daemon.json("cache", "dump", path)
    write_zone(tmp_path / "z.zone", 2, more=MORE.replace("192.0.2.107", "192.0.2.77"))
    daemon.ctl("zone", "reload", "z.test")
    told = daemon.json("cache", "load", path)
    assert told["other_content"] == len(NAMES) and told["loaded"] == 0
    assert texts(lab.ask(NAMES[7])) == ["192.0.2.77"]
    daemon.json("cache", "dump", path)
    daemon.stop()
    daemon.start()
    assert daemon.json("cache", "load", path)["other_content"] == 0
    assert texts(lab.ask(NAMES[7])) == ["192.0.2.77"]


def test_altered_and_cut(lab, daemon, path, zones):
    """A sentence, nothing loaded, and the daemon goes on."""
    daemon.start(zones=zones)
    warm(lab)
    daemon.json("cache", "dump", path)
    good = path.read_bytes()
    daemon.stop()
    daemon.start()
    places = [0, 8, 12, 20, 40, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 4,
              HEADER_BYTES + 8, HEADER_BYTES + 20, len(good) // 2, len(good) - 100,
              len(good) - 40, len(good) - 1]
    for place in places:
        bad = bytearray(good)
        bad[place] ^= 4
        path.write_bytes(bad)
        said = refused(daemon, "cache", "load", path)
        assert str(path) in said and "nothing of it is loaded" in said, said
    for cut in (0, 1, HEADER_BYTES, HEADER_BYTES + 10, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:cut])
        assert "nothing of it is loaded" in refused(daemon, "cache", "load", path)
    path.write_bytes(good + b"more")
    assert "after its end" in refused(daemon, "cache", "load", path)
    assert in_driver(lab, daemon, NAMES[:1]) == 0
    path.write_bytes(good)
    assert daemon.json("cache", "load", path)["loaded"] == len(NAMES)


def test_broken_one_is_said_once(lab, daemon, path, zones):
    path.write_bytes(b"VLEYSN1\n" + bytes(200))
    daemon.start(zones=zones, cache={"snapshot": str(path), "snapshot-interval": "1s"})
    wait_for("the sentence", lambda: "nothing of it is loaded" in daemon.log())
    warm(lab)
    wait_for("the next one", lambda: "answers written" in daemon.log())
    assert daemon.log().count("nothing of it is loaded") == 1
    assert "cache.snapshot" not in daemon.degraded()


def test_other_files_are_left_alone(daemon, path, zones, tmp_path):
    """A command cannot overwrite a file that is not a snapshot."""
    other = tmp_path / "other"
    other.write_text("somebody's", encoding="ascii")
    daemon.start(zones=zones, cache={"snapshot": str(other), "snapshot-interval": "1s"})
    assert "is no snapshot, so it is not overwritten" in refused(daemon, "cache", "dump", other)
    assert "is no snapshot" in refused(daemon, "cache", "load", other)
    link = tmp_path / "link"
    link.symlink_to(other)
    refused(daemon, "cache", "dump", link)
    path.with_name(path.name + ".tmp").write_text("somebody's", encoding="ascii")
    assert ".tmp exists and is no snapshot" in refused(daemon, "cache", "dump", path)
    assert "No such file" in refused(daemon, "cache", "dump", tmp_path / "nowhere" / "file")
    assert "Is a directory" in refused(daemon, "cache", "load", tmp_path)
    wait_for("the interval", lambda: "cache.snapshot" in daemon.degraded())
    time.sleep(2.5)
    assert daemon.log().count("it is not overwritten") == 1
    assert other.read_text(encoding="ascii") == "somebody's"
    assert daemon.stop() == 0


def test_file_of_others(daemon, path, zones):
    daemon.start(zones=zones)
    daemon.json("cache", "dump", path)
    os.chmod(path, 0o620)
    assert "may have been written by others" in refused(daemon, "cache", "load", path)
    os.chmod(path, 0o644)
    os.chown(path, 12345, -1)
    assert "may have been written by others" in refused(daemon, "cache", "load", path)
    os.chown(path, 0, -1)
    daemon.json("cache", "load", path)


def test_killed_while_writing(lab, daemon, path, zones):
    """The old snapshot stays, whole; the remains of the new one do not hinder the next."""
    daemon.start(zones=zones, cache={"snapshot": str(path)})
    warm(lab)
    daemon.json("cache", "dump", path)
    good, tmp = path.read_bytes(), path.with_name(path.name + ".tmp")
    for _ in range(8):
        dump = lab.popen("s", *ctl(daemon, "cache", "dump", path))
        wait_for("it is being written",
                 lambda: tmp.exists() or dump.poll() is not None, 5)
        daemon.kill()
        dump.wait()
        assert path.stat().st_size == len(good)
        daemon.start()
        assert daemon.json("cache", "load", path)["entries"] == len(NAMES) + 1
    tmp.write_bytes(good[:-7])  # as of one that was killed
    lab.ip("s", "link", "set", "dev", "s0", "xdp", "off")
    daemon.kill()
    daemon.start()
    wait_loaded(daemon)
    assert in_driver(lab, daemon, NAMES) == len(NAMES)
    daemon.json("cache", "dump", path)
    assert not tmp.exists()


def test_stop_before_it_is_loaded(lab, daemon, path, zones):
    """A daemon that has not taken over what is on file does not overwrite it."""
    daemon.start(zones=zones, cache={"snapshot": str(path)})
    warm(lab)
    daemon.stop()
    before = path.read_bytes()
    for _ in range(5):
        daemon.spawn()
        wait_for("it listens", lambda: daemon.ctl("status", check=False).returncode == 0)
        daemon.signal(signal.SIGTERM)
        assert daemon.reap() == 0
        assert len(path.read_bytes()) == len(before)


def test_asked_while_written_and_loaded(lab, daemon, path, zones):
    """Queries are answered beside it."""
    daemon.start(zones=zones)
    warm(lab)
    for _ in range(10):
        dump = lab.popen("s", *ctl(daemon, "cache", "dump", path))
        assert in_driver(lab, daemon, NAMES) == len(NAMES)
        assert dump.wait(60) == 0
        load = lab.popen("s", *ctl(daemon, "--json", "cache", "load", path), stdout=-1, text=True)
        assert in_driver(lab, daemon, NAMES) == len(NAMES)
        assert json.loads(load.communicate()[0])["present"] == len(NAMES) + 1


def test_configuration(daemon, path, zones):
    daemon.configure(zones=zones, cache={"snapshot-interval": "1m"})
    status, said = daemon.run_failing()
    assert status == 2 and "cache.snapshot-interval" in said and "give cache.snapshot, too" in said
    daemon.configure(zones=zones, cache={"snapshot": "", "snapshot-interval": "1m"})
    assert daemon.run_failing()[0] == 2
    assert not path.exists()
