# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones that change while they are served: no gap, and no old answer after the command returns."""
import os
import re
import signal
import socket
import threading
import time
from pathlib import Path

import dns.message
import dns.rcode
import pytest

from netlab import (ROOT, V4, V6, ZONES, Answered, family_of, open_to_all, texts, wait_for,
                    write_zone, zone)

NAME = "www.z.test"
# header, question, then an answer whose owner is a pointer: where its address lies
ADDRESS = slice(12 + len(NAME) + 2 + 4 + 12, 12 + len(NAME) + 2 + 4 + 16)
LARGE = "".join(f"n{i} IN A 10.0.{i // 256}.{i % 256}\n" for i in range(20000))


class Hammer:
    """Asks for one name without a pause, in a thread, and keeps when each answer was asked for."""

    def __init__(self, lab, where):
        self.where, self.stopping, self.seen = where, False, []
        self.sock = lab.socket("c", family_of(where))
        self.wire = dns.message.make_query(NAME, "A").to_wire()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopping:
            asked = time.monotonic()
            self.sock.sendto(self.wire, (self.where, 53))
            try:
                self.seen.append((asked, self.sock.recv(2000)[ADDRESS]))
            except TimeoutError:
                self.seen.append((asked, None))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.thread.join()
        self.sock.close()


@pytest.fixture
def served(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone")
    daemon.start(zones=[zone("z.test", path), zone("example.com")])
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    return path


def test_reload_leaves_no_old_answer(lab, daemon, served):
    write_zone(served, 1, "192.0.2.10", LARGE)
    daemon.ctl("zone", "reload", "z.test")
    done = []
    with Hammer(lab, V4) as v4, Hammer(lab, V6) as v6:
        for version in range(11, 16):
            write_zone(served, version, f"192.0.2.{version}", LARGE)
            time.sleep(0.05)
            daemon.ctl("zone", "reload", "z.test")
            done.append((time.monotonic(), version))
        wait_for("all have asked enough, and behind the last", lambda: all(
            len(one.seen) > 500 and one.seen[-1][0] > done[-1][0] for one in (v4, v6)), 20)
    for hammer in (v4, v6):
        assert len(hammer.seen) > 500
        for asked, last in hammer.seen:
            assert last is not None, "a query was not answered: there was a gap"
            newest = max([10] + [version for when, version in done if when <= asked])
            assert last[3] >= newest, f"{last[3]} after {newest}"
        versions = [last[3] for _, last in hammer.seen]
        assert versions == sorted(versions) and versions[-1] == 15


def test_reload_all(lab, daemon, served):
    lab.ask()
    write_zone(served, 2, "192.0.2.20")
    daemon.ctl("zone", "reload")
    assert texts(lab.ask(NAME)) == ["192.0.2.20"]
    with Answered(daemon) as one:  # the other zone has not changed, so its answers are good
        lab.ask()
    assert one.by == {"driver": 1}


def test_reload_of_the_same_content_keeps_the_answers(lab, daemon, served):
    daemon.ctl("zone", "reload", "z.test")
    with Answered(daemon) as one:
        lab.ask(NAME)
    assert one.by == {"driver": 1}


def test_a_broken_file_is_refused(lab, daemon, served):
    with served.open("a", encoding="ascii") as out:
        out.write("broken IN A 192.0.2.300\n")
    line = len(served.read_text(encoding="ascii").splitlines())
    refusal = daemon.ctl("zone", "reload", "z.test", check=False)
    assert refusal.returncode == 1
    assert f"{served}:{line}:" in refusal.stderr and "keeps serving" in refusal.stderr
    for _ in range(2):
        assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    (status,) = daemon.json("zone", "status", "z.test")["zones"]
    assert status["state"] == "stale" and f":{line}:" in status["error"] and status["serial"] == 1
    assert f":{line}:" in daemon.degraded()
    check = daemon.ctl("zone", "check", "z.test", served, check=False)
    assert check.returncode == 1 and f"{served}:{line}:" in check.stderr
    write_zone(served, 2, "192.0.2.20")
    assert daemon.json("zone", "check", "z.test", str(served))["serial"] == 2
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    daemon.ctl("zone", "reload", "z.test")
    assert texts(lab.ask(NAME)) == ["192.0.2.20"]
    assert not daemon.degraded()


BAD = ROOT / "tests" / "data" / "zones" / "bad"


def refuses(lab, daemon, served, what):
    """z.test is not reloaded, which is said with file, WHAT and that the old one serves."""
    for words in (("z.test",), ()):
        refusal = daemon.ctl("zone", "reload", *words, check=False)
        assert refusal.returncode == 1
        assert f"zone z.test.: {served}:{what}" in refusal.stderr, refusal.stderr
        assert refusal.stderr.endswith("; the earlier version keeps serving\n")
    (status,) = daemon.json("zone", "status", "z.test")["zones"]
    assert status["state"] == "stale" and status["serial"] == 1
    assert status["error"].startswith(f"{served}:{what}")
    with Answered(daemon) as one:  # what was cached is as good as before
        assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    assert one.by == {"driver": 1}
    assert f"zone z.test.: {served}:{what}" in daemon.degraded()


def test_every_kind_of_broken_line(lab, daemon, served, tmp_path):
    """Each file of the corpus is refused with its own name, a line where one is at fault, and a
    sentence, and nothing changes."""
    path = tmp_path / "example.com.zone"
    path.write_bytes((ZONES / "example.com.zone").read_bytes())
    daemon.configure(zones=[zone("example.com", path)])
    daemon.ctl("zone", "reload")
    answers = [texts(lab.ask()) for _ in range(2)]
    for bad in sorted(BAD.glob("*.zone")):
        daemon.configure(zones=[zone("example.com", bad)])
        refusal = daemon.ctl("zone", "reload", check=False)
        assert refusal.returncode == 1, bad.name
        said = re.fullmatch(r"volleyctl: zone reload: all but this is in force: "
                            r"zone example\.com\.: (\S+?):(\d+:)? (.*); "
                            r"the "
                            r"earlier version keeps serving\n", refusal.stderr)
        assert said, refusal.stderr
        place, line, sentence = said.groups()
        assert Path(place).parent == BAD and (Path(place) == bad or bad.name.startswith("include"))
        # without a line: what is missing, and has none
        assert line or bad.name in ("empty.zone", "no-soa.zone", "no-ns.zone"), refusal.stderr
        assert len(sentence) > 10
        with Answered(daemon) as one:
            assert texts(lab.ask()) == answers[0], bad.name
        assert one.by == {"driver": 1}, bad.name


def test_a_zone_file_that_goes(lab, daemon, served):
    served.unlink()
    refuses(lab, daemon, served, " cannot read the file: No such file or directory")


@pytest.mark.parametrize("cut, what", [
    ("www IN A", "5: the data of this A record cannot be read"),
    ("www IN TXT \"half", "5: "),
    ("www IN TXT ( one\n two", "5: "),
    ("www", "5: "),
], ids=["record", "quoted", "parentheses", "owner"])
def test_a_half_written_zone_file(lab, daemon, served, cut, what):
    text = served.read_text(encoding="ascii")
    served.write_text(text[:text.index("www")] + cut, encoding="ascii")
    refuses(lab, daemon, served, what)


def test_a_zone_file_that_may_be_cut(daemon, served):
    """It reads as a zone; that the last line has no end is all there is to see."""
    text = served.read_text(encoding="ascii")
    served.write_text(text[:-2], encoding="ascii")
    daemon.ctl("zone", "reload", "z.test")
    (status,) = daemon.json("zone", "status", "z.test")["zones"]
    assert status["warning"].startswith(
        f"{served}:5: the last line has no end: the file may have been cut off; ")
    assert "serial 1 is not newer than 1" in status["warning"]
    assert status["warning"] in daemon.log()


@pytest.mark.parametrize("lines, what", [
    (0, " the zone has no SOA record"), (1, " the zone has no SOA record"),
                                         (2, " the zone has no NS record")])
def test_a_zone_file_that_ends_early(lab, daemon, served, lines, what):
    text = served.read_text(encoding="ascii")
    served.write_text("".join(text.splitlines(keepends=True)[:lines]), encoding="ascii")
    refuses(lab, daemon, served, what)


def test_a_zone_file_of_another_zone(lab, daemon, served):
    text = "$ORIGIN example.net.\n$TTL 300\n@ IN SOA ns hostmaster 2 3600 900 86400 60\n"
    served.write_text(text, encoding="ascii")
    refuses(lab, daemon, served, "3: ")


@pytest.mark.parametrize("kind, what", [
    ("folder", "Is a directory"), ("fifo", "it is not a regular file"),
    ("socket", "it is not a regular file"), ("link", "No such file or directory"),
    ("loop", "Too many levels of symbolic links"), ("null", "it is not a regular file")])
def test_something_else_than_a_file(lab, daemon, served, kind, what):
    served.unlink()
    if kind == "folder":
        served.mkdir()
    elif kind == "fifo":
        os.mkfifo(served)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(str(served))
    else:
        served.symlink_to({"link": "nowhere", "loop": served, "null": "/dev/null"}[kind])
    refuses(lab, daemon, served, f" cannot read the file: {what}")


def test_a_zone_file_that_may_not_be_read(lab, make_daemon, tmp_path):
    """By a daemon that is not root, and has not CAP_DAC_READ_SEARCH."""
    daemon = make_daemon()
    path = write_zone(tmp_path / "z.zone")
    open_to_all(daemon.folder)
    daemon.configure(server={"listen": [f"{V4}@5300"]}, interfaces=None,
                     zones=[zone("z.test", path)])
    daemon.spawn(before=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                         "--bounding-set=-all", "--inh-caps=-all"])
    daemon.wait_ready()
    path.chmod(0o600)
    refusal = daemon.ctl("zone", "reload", "z.test", check=False)
    assert f"{path}: cannot read the file: Permission denied; the earlier" in refusal.stderr
    assert texts(lab.ask(NAME, port=5300)) == ["192.0.2.10"]
    path.chmod(0o644)
    daemon.ctl("zone", "reload", "z.test")
    assert not [line for line in daemon.degraded().splitlines() if "z.test" in line]


def test_reload_of_an_unknown_zone(daemon, served):
    refusal = daemon.ctl("zone", "reload", "other.test", check=False)
    assert refusal.returncode == 1
    assert "other.test: no such zone is configured" in refusal.stderr


def test_zones_come_and_go_by_sighup(lab, daemon, served, tmp_path):
    other = write_zone(tmp_path / "other.zone", address="192.0.2.90")
    assert lab.ask("www.other.test").rcode() == dns.rcode.REFUSED
    lab.ask()
    daemon.configure(zones=[zone("z.test", served), zone("other.test", other)])
    daemon.signal(signal.SIGHUP)
    wait_for("the new zone", lambda: lab.ask("www.other.test").rcode() == dns.rcode.NOERROR)
    assert texts(lab.ask("www.other.test")) == ["192.0.2.90"]
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    # example.com was in the driver's cache
    wait_for("example.com is gone", lambda: lab.ask().rcode() == dns.rcode.REFUSED)
    daemon.configure(zones=[zone("example.com")])
    daemon.signal(signal.SIGHUP)
    wait_for("the zone is gone", lambda: lab.ask(NAME).rcode() == dns.rcode.REFUSED)
    wait_for("that, too", lambda: lab.ask("www.other.test").rcode() == dns.rcode.REFUSED)
    assert len(texts(lab.ask())) == 2


def test_no_zones(lab, daemon, tmp_path):
    """From the start, then one, then none again."""
    daemon.start(zones=None)
    assert lab.ask(NAME).rcode() == dns.rcode.REFUSED
    assert daemon.json("zone", "list")["zones"] == []
    daemon.configure(zones=[zone("z.test", write_zone(tmp_path / "z.zone"))])
    daemon.ctl("zone", "reload")
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    daemon.configure(zones=None)
    daemon.ctl("zone", "reload")
    assert lab.ask(NAME).rcode() == dns.rcode.REFUSED


def test_a_broken_configuration_at_sighup(lab, daemon, served):
    daemon.path.write_text("server: {listen: [1.2.3]}\n", encoding="utf-8")
    daemon.signal(signal.SIGHUP)
    wait_for("the sentence", lambda: "reload: " in daemon.log())
    assert "volley.yaml:1" in daemon.log()
    assert texts(lab.ask(NAME)) == ["192.0.2.10"]
    refusal = daemon.ctl("zone", "reload", check=False)
    assert refusal.returncode == 1 and "volley.yaml:1" in refusal.stderr


def test_a_child_zone_takes_its_names_from_the_parent(lab, daemon, served, tmp_path):
    """The parent's answers for names below are withdrawn when the child comes, and again when it
    goes."""
    write_zone(served, 2, more="www.child IN A 192.0.2.30\n")
    daemon.ctl("zone", "reload", "z.test")
    for _ in range(2):
        assert texts(lab.ask("www.child.z.test")) == ["192.0.2.30"]
    child = write_zone(tmp_path / "child.zone", address="192.0.2.31")
    daemon.configure(zones=[zone("z.test", served), zone("child.z.test", child)])
    daemon.ctl("zone", "reload")
    for _ in range(2):
        assert texts(lab.ask("www.child.z.test")) == ["192.0.2.31"]
    daemon.configure(zones=[zone("z.test", served)])
    daemon.ctl("zone", "reload")
    for _ in range(2):
        assert texts(lab.ask("www.child.z.test")) == ["192.0.2.30"]


def test_a_zone_that_moves_to_another_file(lab, daemon, served, tmp_path):
    other = write_zone(tmp_path / "moved.zone", 5, "192.0.2.50")
    daemon.configure(zones=[zone("z.test", other)])
    daemon.ctl("zone", "reload")
    assert texts(lab.ask(NAME)) == ["192.0.2.50"]
    # to one that is broken: what was served stays
    broken = tmp_path / "broken.zone"
    broken.write_text("www IN A nonsense\n", encoding="ascii")
    daemon.configure(zones=[zone("z.test", broken)])
    assert daemon.ctl("zone", "reload", check=False).returncode == 1
    for _ in range(2):
        assert texts(lab.ask(NAME)) == ["192.0.2.50"]


def test_cache_flush_is_exact(lab, daemon, served):
    """Queries for withdrawn answers go to a worker, the others stay in the driver, and the count is
    right."""
    asked = {(NAME, "A"), ("www.example.com", "A"), ("www.example.com", "AAAA"),
             ("nothing.example.com", "A")}
    example = {one for one in asked if one[0].endswith("example.com")}
    for words, gone in ((("--all",), asked), (("--zone", "z.test"), {(NAME, "A")}),
                        (("WWW.example.COM",),
                         {one for one in asked if one[0] == "www.example.com"}),
                        (("www.example.com", "AAAA"), {("www.example.com", "AAAA")}),
                        (("--subtree", "example.com"), example),
                        (("--subtree", "xample.com"), set()),
                        (("--type", "aaaa"), {("www.example.com", "AAAA")}),
                        (("--negative",), {("nothing.example.com", "A")})):
        for name, kind in asked:
            lab.ask(name, kind)
        assert daemon.json("cache", "flush", *words)["withdrawn"] == len(gone), words
        for name, kind in asked:
            with Answered(daemon) as one:
                lab.ask(name, kind)
            assert one.by == {"worker" if (name, kind) in gone else "driver": 1}, (words, name)


def test_what_the_cache_holds(lab, daemon, served):
    """
    Counted by what was asked; a lookup shows the records, and that a reload made an answer dead.
    """
    lab.udp(dns.message.make_query("www.example.com", "A", want_dnssec=True))
    for name, kind in (("www.example.com", "A"), ("www.example.com", "MX"),
                       ("nothing.example.com", "A")):
        lab.ask(name, kind)
    lab.ask()
    stats = daemon.json("cache", "stats")
    counts = {by: {row[by]: row["entries"] for row in stats[f"by_{by}"]}
              for by in ("type", "kind", "zone")}
    assert counts == {"type": {"A": 4, "MX": 1},
                      "kind": {"positive": 3, "nodata": 1, "nxdomain": 1},
                      "zone": {"example.com.": 4, "z.test.": 1}}
    assert [(row["do"], row["entries"]) for row in stats["by_variant"]] == [(False, 4), (True, 1)]
    assert sum(row["size_bytes"] for row in stats["by_zone"]) == stats["answers_bytes"]
    assert {row["by"]: (row["asked"], row["hits"]) for row in stats["hits_by"]} == \
        {"driver": (6, 1), "worker": (5, 0)}
    (first, rest) = daemon.json("cache", "stats", "-n", "1")["by_zone"]
    assert (first["zone"], first["entries"], rest["zone"], rest["entries"]) == \
        ("example.com.", 4, "other", 1)
    entries = daemon.json("cache", "lookup", "www.example.com")["entries"]
    assert sorted((one["type"], one["do"], one["used"]) for one in entries) == \
        [("A", False, 1), ("A", True, 0), ("MX", False, 0)]
    assert all(one["valid"] and one["queue"] == "probation" for one in entries)
    (entry,) = daemon.json("cache", "lookup", NAME, "A")["entries"]
    assert entry["answer_records"] == [f"{NAME}. 300 IN A 192.0.2.10"]


def test_large_zone_loads_while_the_driver_answers(lab, daemon, served):
    """A load of a second or two on the control thread looks like no death."""
    write_zone(served, 7, "192.0.2.17", LARGE * 1)
    with Answered(daemon) as all_of, Hammer(lab, V4) as hammer:
        daemon.ctl("zone", "reload", "z.test")
        wait_for("it has asked enough", lambda: len(hammer.seen) > 20)
    assert all_of.by.get("driver", 0) > 10
    assert set(all_of.by) <= {"driver", "worker"}


def test_many_zones(lab, daemon, tmp_path):
    """Zones are found by name, not by a walk; one below another is still told apart."""
    path = write_zone(tmp_path / "same.zone")
    names = [f"z{i}.test" for i in range(3000)] + [f"sub.z{i}.test" for i in range(0, 3000, 10)]
    daemon.start(zones=[zone(name, path) for name in names])
    assert daemon.status()["zones"] == {"serving": len(names), "stale": 0, "failed": 0,
                                         "awaited": 0, "expired": 0, "loading": 0}
    for name in ("z0.test", "z2999.test", "sub.z20.test"):
        assert texts(lab.ask("www." + name)) == ["192.0.2.10"]
    assert lab.ask("www.sub.z21.test").rcode() == dns.rcode.NXDOMAIN
    daemon.ctl("zone", "reload", "Z17.test")
    with Answered(daemon) as one:
        lab.ask("www.z0.test")
    assert one.by == {"driver": 1}


def test_files_that_stay_are_not_read_again(lab, daemon, tmp_path):
    """A reload reads only what has changed, unless it names the zone. No mark tells of $INCLUDE."""
    kept = ROOT / "zones/example.com.zone"  # older than any mark's doubt
    inner, outer = tmp_path / "inner", tmp_path / "outer.zone"
    inner.write_text("www A 192.0.2.1\n", "ascii")
    outer.write_text(f"@ SOA ns.example. h.example. 1 1 1 1 1\n@ NS ns.example.\n$INCLUDE {inner}\n",
                     "ascii")

    def n_loads(name):
        return daemon.log().count(f"zone {name}.: serial ")

    daemon.start(zones=[zone("example.com", kept), zone("i.test", outer)])
    assert (n_loads("example.com"), n_loads("i.test")) == (1, 1)
    inner.write_text("www A 192.0.2.2\n", "ascii")
    daemon.ctl("zone", "reload")
    assert texts(lab.ask("www.i.test")) == ["192.0.2.2"]
    assert (n_loads("example.com"), n_loads("i.test")) == (1, 2)
    daemon.ctl("zone", "reload", "example.com")
    assert n_loads("example.com") == 2
    daemon.configure(zones=[zone("example.com", kept) | {"zonemd": "require"}])
    assert "ZONEMD" in daemon.ctl("zone", "reload", check=False).stderr
