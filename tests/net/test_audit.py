# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The audit log of clients that ask for zones, change them or command volleyd: as text and as JSON,
and its bounds."""
import json
import os
import re
import signal
import subprocess

import dns.message
import dns.name
import dns.rcode
import dns.tsig
import dns.update
import pytest

from netlab import BIN, CLIENT4, wait_for
from test_primary import (BY_KEY, KEY, RING, STRANGE_RING, WRONG_RING, comes, notify, query, serve,
                          transfer, update)


def events(daemon, kind):
    """The events of that kind, each with its fields."""
    found = []
    for line in daemon.log().splitlines():
        if line.startswith("{"):
            said = json.loads(line)
            if said.get("event") == kind:
                found.append(said)
        elif match := re.fullmatch(rf"volleyd\[\d+\]: \w+: {kind}((?: "
                                   rf"[a-z_-]+=(?:\"(?:[^\"\\]|\\.)*\"|\S*))*)", line):
            found.append({name: quoted.replace('\\"', '"') if plain is None or plain == ""
                          else plain
                          for name, quoted, plain in re.findall(
                              r" ([a-z_-]+)=(?:\"((?:[^\"\\]|\\.)*)\"|(\S*))", match[1])})
    return found


def the_one(daemon, kind):
    wait_for(f"the log tells of {kind}", lambda: events(daemon, kind))
    found = events(daemon, kind)
    assert len(found) == 1, found
    return found[0]


def holds(event, **fields):
    got = {name: event.get(name) for name in fields}
    assert got == fields
    return event


@pytest.fixture(params=["text", "json"])
def form(request):
    return request.param


def serve_with_log(daemon, form, rules, **keys):
    configure = daemon.configure
    daemon.configure = lambda **sections: configure(**sections, log={"format": form})
    try:
        return serve(daemon, rules, **keys)
    finally:
        daemon.configure = configure


def test_transfers(lab, daemon, form):
    serve_with_log(daemon, form, BY_KEY)
    transfer(lab, query(ring=RING))
    given = holds(the_one(daemon, "transfer-given"), client=CLIENT4, transport="tcp",
                  key=KEY["name"], zone="example.com.", type="AXFR", serial="1", messages="1")
    assert int(given["records"]) >= 4 and int(given["octets"]) > 100
    assert 0 < int(given["port"]) < 65536
    answers = transfer(lab, query())
    assert answers[0].rcode() == dns.rcode.REFUSED
    holds(the_one(daemon, "transfer-refused"), client=CLIENT4, transport="tcp", key=None,
          zone="example.com.", type="AXFR", rcode="REFUSED", reason="no rule allows this address")


def test_transfer_by_another_key_of_ours(lab, daemon, form):
    """
    The rule of the zone asks for a prefix that is not the client's: the transfer thread refuses.
    """
    serve_with_log(daemon, form, [f"198.51.100.0/24 key {KEY['name']}"])
    answers = transfer(lab, query(ring=RING))
    assert answers[0].rcode() == dns.rcode.REFUSED
    holds(the_one(daemon, "transfer-refused"), client=CLIENT4, transport="tcp", key=KEY["name"],
          zone="example.com.", type="AXFR", rcode="REFUSED", reason="not in allow-transfer")


@pytest.mark.parametrize("ring, key, reason", [
    pytest.param(WRONG_RING, KEY["name"], "the signature does not hold", id="wrong secret"),
    pytest.param(STRANGE_RING, "strange.test.", "the key is not known",
                 id="a key that is not ours"),
])
def test_bad_signatures(lab, daemon, form, ring, key, reason):
    serve_with_log(daemon, form, BY_KEY)
    # which of dnspython's: the reply's signature is not the keyring's
    with pytest.raises(Exception):
        transfer(lab, query(ring=ring))
    holds(the_one(daemon, "tsig-refused"), client=CLIENT4, transport="tcp", key=key,
          zone="example.com.", type="AXFR", rcode="NOTAUTH", reason=reason)
    assert not events(daemon, "transfer-refused")


def test_notify(lab, daemon, form):
    serve_with_log(daemon, form, BY_KEY, others=[comes(*BY_KEY)])
    lab.udp_wire(notify(None, "example.net").to_wire())
    holds(the_one(daemon, "notify-refused"), client=CLIENT4, transport="udp", zone="example.net.",
          rcode="REFUSED", reason="no rule allows this address")
    lab.udp_wire(notify(RING).to_wire())
    wait_for("both are told", lambda: len(events(daemon, "notify-refused")) == 2)
    holds(events(daemon, "notify-refused")[1], client=CLIENT4, key=KEY["name"], zone="example.com.",
          rcode="REFUSED", reason="neither a primary nor in allow-notify")


def test_updates(lab, daemon, form):
    serve_with_log(daemon, form, BY_KEY, allow_update=BY_KEY)
    asked = update()
    asked.use_tsig(RING, algorithm=KEY["algorithm"])
    lab.udp_wire(asked.to_wire())
    holds(the_one(daemon, "update-done"), client=CLIENT4, transport="udp", key=KEY["name"],
          zone="example.com.")
    lab.udp_wire(dns.update.Update("example.com").to_wire())
    holds(the_one(daemon, "update-refused"), client=CLIENT4, transport="udp", key=None,
          zone="example.com.", rcode="REFUSED", reason="no rule allows this address")
    asked = update()
    asked.present("nobody-has-this-name")
    asked.use_tsig(RING, algorithm=KEY["algorithm"])
    lab.udp_wire(asked.to_wire())
    wait_for("both are told", lambda: len(events(daemon, "update-refused")) == 2)
    holds(events(daemon, "update-refused")[1], key=KEY["name"], zone="example.com.",
          rcode="NXDOMAIN")


def test_commands(daemon, form):
    daemon.start(log={"format": form})
    daemon.ctl("cache", "flush", "www.example.com")
    daemon.ctl("zone", "reload", "example.com")  # its reply comes later
    daemon.ctl("zone", "reload", "nobody.has.it", check=False)
    daemon.ctl("zone", "list")
    told = {event["command"]: event for event in events(daemon, "command")}
    for command, result in [("cache flush www.example.com", "ok"),
                            ("zone reload example.com", "ok"),
                            ("zone reload nobody.has.it", "ERR_NOT_FOUND")]:
        holds(told[command], result=result, uid=str(os.getuid()))
        assert int(told[command]["peer_pid"]) > 1
        assert told[command].get("pid") in (None, daemon.process.pid)
    assert "zone list" in {event["command"] for event in events(daemon, "command-read")}
    assert "zone list" not in told


@pytest.mark.parametrize("may", [True, False])
def test_another_user(daemon, form, may):
    daemon.start(log={"format": form}, control={"mode": "0666", "change": ["65534"] * may})
    daemon.folder.chmod(0o755)
    for parent in daemon.folder.parents:
        parent.chmod(parent.stat().st_mode | 0o111)
    said = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                           str(BIN / "volleyctl"), "--socket", str(daemon.socket), "cache", "flush",
                           "--all"],
                          capture_output=True, text=True, timeout=30, check=False)
    assert said.returncode == (0 if may else 1), said.stderr
    holds(the_one(daemon, "command" if may else "command-refused"), command="cache flush --all",
          uid="65534", result="ok" if may else "EACCES")


def test_start_signals_and_end(daemon, form):
    daemon.start(log={"format": form})
    holds(the_one(daemon, "start"), configuration=str(daemon.path))
    daemon.signal(signal.SIGHUP)
    holds(the_one(daemon, "reload"), result="ok")
    daemon.path.write_text("server: {listen: []}\n", encoding="ascii")
    daemon.signal(signal.SIGHUP)
    wait_for("the second reload is told", lambda: len(events(daemon, "reload")) == 2)
    holds(events(daemon, "reload")[1], result="ERR_CONFIG")
    daemon.signal(signal.SIGTERM)
    daemon.reap()
    assert [event["signal"] for event in events(daemon, "signal")] == ["HUP", "HUP", "TERM"]
    for event in events(daemon, "signal"):
        holds(event, uid=str(os.getuid()), peer_pid=str(os.getpid()))
    stop = holds(the_one(daemon, "stop"), programs="detached")
    assert 0 <= int(stop["uptime_s"]) < 600


def test_each_line_is_an_object(lab, daemon):
    """Also lines that are not events."""
    daemon.start(log={"format": "json"})
    lab.ask()
    daemon.ctl("zone", "reload")
    daemon.stop()
    lines = daemon.log().splitlines()
    assert len(lines) >= 4
    for line in lines:
        said = json.loads(line)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", said["time"])
        assert said["level"] in ("error", "warning", "notice", "info")
        assert said["program"] == "volleyd"
        assert ("message" in said) != ("event" in said)


def test_names_that_fill_a_line(lab, daemon):
    """
    Of octets that are escaped in the name and in JSON: each line is an object, and has all its
    fields.
    """
    serve_with_log(daemon, "json", [CLIENT4])
    octets = b"\x01" * 62 + b'"'
    name = dns.name.Name([octets, octets, octets, b"\x02" * 47 + b"\n", b"example", b"com", b""])
    asked = dns.message.make_query(name, "AXFR")
    asked.use_tsig(dns.tsig.Key(name, b"a secret that nobody has", "hmac-sha256."))
    with pytest.raises(Exception):
        transfer(lab, asked)
    told = the_one(daemon, "tsig-refused")
    assert told["rcode"] == "NOTAUTH" and told["reason"] and len(told["key"]) > 250
    assert len(told["zone"]) > 250
    for line in daemon.log().splitlines():
        assert "time" in json.loads(line)


def test_flood_of_refused_transfers(lab, daemon):
    """20 lines in ten seconds, and one that says how many there would have been."""
    serve(daemon, BY_KEY)
    asked = query("IXFR", serial=1)
    for _ in range(500):
        lab.udp_wire(asked.to_wire())
    wait_for("what was left out is told",
             lambda: [e for e in events(daemon, "transfer-refused") if "omitted" in e])
    told = events(daemon, "transfer-refused")
    omitted = sum(int(event["omitted"]) for event in told if "omitted" in event)
    lines = sum("omitted" not in event for event in told)
    assert 20 <= lines <= 40 and lines + omitted == 500


def test_level(lab, daemon):
    daemon.start(log={"level": "warning"})
    assert daemon.json("log", "level") == {"level": "warning", "format": "text"}
    daemon.ctl("cache", "flush", "--all")
    assert not events(daemon, "command") and not events(daemon, "start")
    assert daemon.json("log", "level", "notice")["level"] == "notice"
    daemon.ctl("cache", "flush", "--all")
    assert ([event["command"] for event in events(daemon, "command")] ==
            ["log level notice", "cache flush --all"])
    said = daemon.ctl("log", "level", "loud", check=False)
    assert said.returncode and "give error, warning, notice, info or debug" in said.stderr
    daemon.ctl("zone", "reload")  # the configuration says what it said
    assert daemon.json("log", "level")["level"] == "notice"
    daemon.configure(log={"level": "error", "format": "json"})
    daemon.ctl("zone", "reload")
    assert daemon.json("log", "level") == {"level": "error", "format": "json"}
