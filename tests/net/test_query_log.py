# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The query log: formats, filters, shortened client addresses, a file that is moved away, and a
full disk."""
import datetime
import json
import os
import re
import signal
import time

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import pytest

from netlab import CLIENT4, CLIENT6, V6, iface, wait_for, zone
from test_dnstap import short6
from test_policies import write
from test_recursion import FIRST, ask, make_upstream, recursion

__all__ = ["make_upstream"]

WAYS = {"driver": [iface()], "worker": [iface(**{"driver-answers": False})]}


def lines(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def wait_lines(path, n):
    wait_for(f"{n} lines", lambda: len(lines(path)) >= n)
    return lines(path)


def start(daemon, path, sections=None, **keys):
    daemon.start(**{"query-log": {"file": str(path), **keys}}, **(sections or {}))


@pytest.mark.parametrize("way", WAYS)
def test_json(lab, daemon, tmp_path, way):
    """A line has the client, the source of the answer, the question, the answer's code, flags and
    size, and the time."""
    path = tmp_path / "queries"
    start(daemon, path, {"interfaces": WAYS[way]}, **{"client-prefix": "32/128"})
    lab.ask()
    began = time.time()
    query = dns.message.make_query("www.example.com", "AAAA", want_dnssec=True)
    lab.udp(query)
    wire = lab.udp_wire(query.to_wire())
    ended = time.time()
    line = json.loads(wait_lines(path, 3)[2])
    at = datetime.datetime.fromisoformat(line.pop("time").replace("Z", "+00:00")).timestamp()
    assert began - 0.05 <= at <= ended + 0.05
    assert line.pop("port")
    assert line.pop("query_bytes", 0) == (0 if way == "driver" else len(query.to_wire()))
    assert ("latency_us" in line) == (way == "worker")
    line.pop("latency_us", 0)
    assert line == {"client": CLIENT4, "transport": "udp", "way": way, "name": "www.example.com.",
                    "type": "AAAA",
                    "rcode": "NOERROR", "flags": "aa rd do", "reply_bytes": len(wire)}


def test_text(lab, daemon, tmp_path):
    path = tmp_path / "queries"
    start(daemon, path, format="text")
    lab.tcp(dns.message.make_query("no.example.com", "TXT"))
    line = wait_lines(path, 1)[0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \S+/24 \d+ tcp worker "
                        r"no\.example\.com\. TXT NXDOMAIN "
                        r"\[aa rd\] \d+ \d+ \d+us - -", line), line


RULES = {"bad.far": ("CNAME .", "nxdomain"), "empty.far": ("CNAME *.", "nodata"),
         "garden.far": ("A 192.0.2.80", "data"),
         "alias.far": ("CNAME www.far.", "cname"), "tcp.far": ("CNAME rpz-tcp-only.", "tcp-only"),
         "pass.far": ("CNAME rpz-passthru.", None), "www.example.com": ("CNAME .", None)}
BY_ADDRESS = f"32.{'.'.join(reversed(FIRST.split('.')))}.rpz-ip CNAME *."


@pytest.mark.usefixtures("upstream")
def test_policies(lab, daemon, tmp_path):
    """
    The list and the action, of a fresh answer and of those from the cache and the driver; none
    where our zone or upstream says it.
    """
    path = tmp_path / "queries"
    rules = write(tmp_path, *(f"{name} {rule}" for name, (rule, _) in RULES.items()), BY_ADDRESS)
    start(daemon, path, {"zones": [zone("example.com")],
                         "recursion": recursion(rpz=rules,
                                                **{"local-data": ["router.lan. A 192.0.2.1"]})})
    want = {f"{name}.": ("list.rpz.", action) if action else (None, None)
            for name, (_, action) in RULES.items()}
    want |= {"other.far.": ("list.rpz.", "nodata"), "router.lan.": ("local-data", "data")}
    for name in want:
        for _ in range(3):
            ask(lab, name)
    found = [json.loads(line) for line in wait_lines(path, 3 * len(want))]
    assert len(found) == 3 * len(want)
    for line in found:
        assert (line.get("policy"), line.get("action")) == want[line["name"]], line
    ways = {name: {line["way"] for line in found if line["name"] == name} for name in want}
    assert all("driver" in ways[name]
               for name in ("bad.far.", "garden.far.", "www.example.com.")), ways


def test_shortened(lab, daemon, tmp_path):
    path = tmp_path / "queries"
    start(daemon, path)
    lab.ask()
    lab.ask(where=V6)
    assert [json.loads(line)["client"] for line in wait_lines(path, 2)] == [
        CLIENT4.rsplit(".", 1)[0] + ".0/24", short6(CLIENT6) + "/48"]


def test_a_name_that_is_not_text(lab, daemon, tmp_path):
    """With any octets in a name, the output is JSON, in one line."""
    path = tmp_path / "queries"
    start(daemon, path)
    name = dns.name.Name([b'a"\\\n\x00\xff', b"example", b"com", b""])
    lab.udp(dns.message.make_query(name, "A"))
    (line,) = wait_lines(path, 1)
    assert dns.name.from_text(json.loads(line)["name"]) == name


FILTERS = {
    "zones": ({"zones": ["example.net"]}, {"www.example.net."}),
    "rcodes": ({"rcodes": ["nxdomain", "servfail"]}, {"no.example.com."}),
    "clients": ({"clients": [CLIENT4]},
                {"www.example.com.", "www.example.net.", "no.example.com."}),
    "no client": ({"clients": ["203.0.113.0/24"]}, set()),
    "both": ({"zones": ["example.net"], "rcodes": ["nxdomain"]}, set()),
}


@pytest.mark.parametrize("which", FILTERS)
def test_filters(lab, daemon, tmp_path, which):
    keys, names = FILTERS[which]
    path = tmp_path / "queries"
    start(daemon, path, **keys)
    for name in ("www.example.com", "www.example.net", "no.example.com"):
        lab.ask(name)
        lab.ask(name)
    wait_for("six events", lambda: daemon.stats()["tap"]["events"] == 6)
    daemon.stop()
    found = [json.loads(line)["name"] for line in lines(path)]
    assert set(found) == names and len(found) == 2 * len(names)


def test_rotation(lab, daemon, tmp_path):
    """
    A file that was renamed is written until a reload; behind that the new one is, and no line is
    lost.
    """
    path = tmp_path / "queries"
    start(daemon, path)
    lab.ask("www.example.com")
    wait_lines(path, 1)
    os.rename(path, tmp_path / "queries.1")
    lab.ask("www.example.com")
    wait_lines(tmp_path / "queries.1", 2)
    daemon.signal(signal.SIGHUP)
    wait_for("a new file", path.exists)
    lab.ask("www.example.net")
    assert json.loads(wait_lines(path, 1)[0])["name"] == "www.example.net."
    assert len(lines(tmp_path / "queries.1")) == 2
    assert daemon.stats()["tap"]["log_lost"] == 0


def test_a_reload_turns_it_on_and_off(lab, daemon):
    path = daemon.folder / "queries"  # a folder that volleyd may write to since its start
    daemon.start()
    lab.ask()
    daemon.configure(**{"query-log": {"file": str(path)}})
    daemon.ctl("zone", "reload")
    lab.ask()
    wait_lines(path, 1)
    daemon.configure()
    daemon.ctl("zone", "reload")
    lab.ask()
    assert daemon.stats()["tap"]["events"] == 1 and len(lines(path)) == 1


def test_full_disk(lab, daemon):
    """Nothing waits for the disk; lost lines are counted."""
    start(daemon, "/dev/full")
    for _ in range(5):
        assert lab.ask().rcode() == dns.rcode.NOERROR
    wait_for("five lost lines", lambda: daemon.stats()["tap"]["log_lost"] == 5)


def test_a_file_that_cannot_be_opened(lab, daemon):
    """volleyd serves, and says what is off."""
    start(daemon, "/nonexistent/queries")
    assert lab.ask().rcode() == dns.rcode.NOERROR
    assert "query-log: " in str(daemon.degraded())


def test_a_disk_that_has_room_again(lab, daemon, make_disk):
    """
    A part of a line that had no room for the rest ends there: all that follows are whole lines.
    """
    small_disk = make_disk("64k")
    path, ballast = small_disk / "queries", small_disk / "ballast"
    start(daemon, path)
    ballast.write_bytes(bytes(60 << 10))
    for _ in range(100):
        lab.ask()
    wait_for("a full disk", lambda: daemon.stats()["tap"]["log_lost"])
    wait_for("all lines",
             lambda: (lambda t: t["log_lost"] + t["log_written"] == 100)(daemon.stats()["tap"]))
    cut = path.read_bytes()
    assert len(cut) == 4096
    ballast.unlink()
    for _ in range(5):
        lab.ask("www.example.net")
    whole, parts = cut.count(b"\n"), not cut.endswith(b"\n")  # one of 200 times there is none
    found = wait_lines(path, whole + parts + 5)
    assert [json.loads(line)["name"] for line in found[whole + parts:]] == ["www.example.net."] * 5
    assert all(json.loads(line) for line in found[:whole])
    assert daemon.stats()["tap"]["log_written"] == whole + 5


@pytest.mark.parametrize("how", ["USR1", "HUP", "command"])
def test_a_renamed_file_is_opened_anew(lab, daemon, tmp_path, how):
    """While volley.yaml has a mistake; lines before are in the old file, lines after in the new."""
    log, old = tmp_path / "q.log", tmp_path / "q.log.1"
    daemon.start(interfaces=None, **{"query-log": {"file": str(log)}})
    lab.ask("www.example.com")
    wait_for("the first line", lambda: log.exists() and log.stat().st_size)
    daemon.path.write_text("oops: 1\n", encoding="ascii")
    log.rename(old)
    before = old.stat().st_size
    if how == "command":
        daemon.ctl("log", "reopen")
    else:
        daemon.signal(getattr(signal, "SIG" + how))
    wait_for("a new file", log.exists)
    lab.ask("www.example.net")
    wait_for("its first line", lambda: log.stat().st_size)
    assert old.stat().st_size == before
    assert ("oops" in daemon.log()) == (how == "HUP"), "only SIGHUP reads the configuration"


def test_a_file_that_cannot_be_opened_anew(lab, daemon, tmp_path):
    """Lines go on to the file that is open, and it is told; later it is opened."""
    log, old = tmp_path / "q.log", tmp_path / "q.log.1"
    daemon.start(interfaces=None, **{"query-log": {"file": str(log)}})
    log.rename(old)
    log.mkdir()
    refused = daemon.ctl("log", "reopen", check=False)
    assert refused.returncode == 1 and "Is a directory" in refused.stderr
    assert "lines go on" in daemon.degraded()
    lab.ask("www.example.com")
    wait_for("a line in the open file", lambda: old.stat().st_size)
    log.rmdir()
    daemon.ctl("log", "reopen")
    lab.ask("www.example.com")
    wait_for("a line in the new file", lambda: log.stat().st_size)
    assert not daemon.degraded()


@pytest.mark.parametrize("how", ["HUP", "USR1"])
def test_dnstap_file_is_not_emptied(lab, daemon, tmp_path, how):
    """A file that keeps its name goes on; a renamed one is ended, and another is begun."""
    tap, old = tmp_path / "x.tap", tmp_path / "x.tap.1"
    daemon.start(interfaces=None, dnstap={"file": str(tap)})
    lab.ask("www.example.com")
    wait_for("frames", lambda: tap.exists() and tap.stat().st_size > 100)
    inode, size = tap.stat().st_ino, tap.stat().st_size
    daemon.signal(getattr(signal, "SIG" + how))
    wait_for("the signal", lambda: f"signal={how}" in daemon.log())
    daemon.status()
    assert (tap.stat().st_ino, tap.stat().st_size >= size) == (inode, True)
    tap.rename(old)
    daemon.signal(getattr(signal, "SIG" + how))
    wait_for("another file", tap.exists)
    wait_for("the end of the first", lambda: old.read_bytes().endswith(bytes.fromhex(
        "00000000000000040000000" + "3")))
