# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones that commands add and remove: they are answered for when the command returns, and stay."""
import json
import os
import subprocess

import dns.message
import dns.rcode
import pytest

from netlab import BIN, V4, V6, texts, wait_for, write_zone, zone


@pytest.fixture
def host(lab, daemon, tmp_path):
    """Files for zones, templates, and one zone of the configuration."""
    for i, name in enumerate("abcd"):
        write_zone(tmp_path / f"{name}.test.zone", i + 1, f"192.0.2.{i + 1}")
    daemon.start(
        server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
        templates=[{"name": "default", "file": str(tmp_path / "%s.zone")},
                   {"name": "open", "file": str(tmp_path / "%s.zone"), "allow-transfer": ["any"]}],
        zones=[zone("d.test", tmp_path / "d.test.zone")])
    return daemon


def rcode(lab, name):
    return lab.ask(f"www.{name}").rcode()


def is_served(lab, name):
    return rcode(lab, name) == dns.rcode.NOERROR


def is_refused(lab, name):
    return rcode(lab, name) == dns.rcode.REFUSED


def may_transfer(lab, name):
    return lab.tcp(dns.message.make_query(name, "AXFR")).rcode() == dns.rcode.NOERROR


def origins(daemon):
    return {z["name"].rstrip("."): z["origin"] for z in daemon.json("zone", "list")["zones"]}


def restart(daemon):
    daemon.ctl("stop")
    daemon.process.wait(20)
    daemon.process = None
    daemon.spawn().wait_ready()


def test_zone_comes_stays_and_goes(lab, host):
    assert is_refused(lab, "a.test")
    assert host.json("zone", "add", "A.test") == {"added": ["A.test"]}
    assert texts(lab.ask("www.a.test")) == ["192.0.2.1"]
    assert origins(host) == {"d.test": "configuration", "a.test": "command"}
    host.ctl("zone", "reload")
    assert is_served(lab, "a.test")
    restart(host)
    assert is_served(lab, "a.test") and origins(host)["a.test"] == "command"
    assert host.json("zone", "remove", "a.test.") == {"removed": ["a.test."]}
    assert is_refused(lab, "a.test")
    restart(host)
    assert is_refused(lab, "a.test") and origins(host) == {"d.test": "configuration"}


def test_template_decides(lab, host, tmp_path):
    host.ctl("zone", "add", "a.test", "--template", "open")
    host.ctl("zone", "add", "b.test")
    shown = {z["name"]: z.get("template") for z in host.json("zone", "list")["zones"]}
    assert shown == {"a.test.": "open", "b.test.": "default", "d.test.": "default"}
    assert may_transfer(lab, "a.test") and not may_transfer(lab, "b.test")
    config = json.loads(host.path.read_text())
    config["templates"][0]["allow-transfer"] = ["any"]
    host.path.write_text(json.dumps(config))
    host.ctl("zone", "reload")
    wait_for("the template holds", lambda: may_transfer(lab, "b.test"))


@pytest.mark.parametrize("words, sentence", [
    (["d.test"], "d.test.: volleyd has this zone already, by the configuration"),
    (["a..b"], "a..b: "),
    (["a.test", "--template", "other"], "the configuration has no template other"),
    (["a.test", "--file", "a.zone"], "--file takes an absolute path"),
    (["a.test", "--file"], "--file: give NAME"),
    (["a.test", "--serial", "1"], "--serial: give NAME"),
    (["missing.test"], "missing.test.zone: "),
    (["broken.test"], "broken.test.zone:1: "),
])
def test_refused(lab, host, tmp_path, words, sentence):
    (tmp_path / "broken.test.zone").write_text("nonsense\n")
    said = host.ctl("zone", "add", *words, check=False)
    assert said.returncode in (1, 2) and sentence in said.stderr, said.stderr
    assert set(origins(host)) == {"d.test"}
    restart(host)
    assert set(origins(host)) == {"d.test"} and is_served(lab, "d.test")


def test_refused_file_is_mended(lab, host, tmp_path):
    assert host.ctl("zone", "add", "e.test", check=False).returncode == 1
    write_zone(tmp_path / "e.test.zone", 7)
    host.ctl("zone", "add", "e.test")
    assert is_served(lab, "e.test")


def test_others_cannot_be_removed(lab, host):
    for name, sentence in (("d.test", "the configuration names this zone"),
                           ("x.test", "no such zone"),
                           ("--file", "zone remove: it takes names only")):
        said = host.ctl("zone", "remove", name, check=False)
        assert said.returncode == 1 + name.startswith("--") and sentence in said.stderr
    assert is_served(lab, "d.test")


def test_own_file_and_several_names(lab, host, tmp_path):
    other = tmp_path / "other"
    write_zone(other, 5, "192.0.2.55")
    host.ctl("zone", "add", "e.test", "--file", str(other))
    assert texts(lab.ask("www.e.test")) == ["192.0.2.55"]
    said = host.ctl("--json", "zone", "add", "a.test", "lost.test", "b.test", check=False)
    assert said.returncode == 1
    result = json.loads(said.stdout)
    assert result["added"] == ["a.test", "b.test"]
    (failed,) = result["failed"]
    assert failed["zone"] == "lost.test" and "lost.test.zone" in failed["error"]
    restart(host)
    assert texts(lab.ask("www.e.test")) == ["192.0.2.55"]
    assert is_served(lab, "a.test") and is_served(lab, "b.test")
    host.ctl("zone", "remove", "e.test", "a.test", "b.test")
    assert set(origins(host)) == {"d.test"} and other.exists()


def configure(daemon, change):
    config = json.loads(daemon.path.read_text())
    change(config)
    daemon.path.write_text(json.dumps(config))
    daemon.ctl("zone", "reload")


def test_configuration_wins_while_it_names_the_zone(lab, host, tmp_path):
    other = tmp_path / "own.zone"
    write_zone(other, 9, "192.0.2.99")
    host.ctl("zone", "add", "a.test")
    configure(host, lambda c: c["zones"].append({"name": "a.test", "file": str(other)}))
    assert texts(lab.ask("www.a.test")) == ["192.0.2.99"]
    assert origins(host)["a.test"] == "configuration"
    restart(host)
    assert texts(lab.ask("www.a.test")) == ["192.0.2.99"]
    configure(host, lambda c: c["zones"].pop())
    wait_for("it is the command's", lambda: texts(lab.ask("www.a.test")) == ["192.0.2.1"])
    assert origins(host)["a.test"] == "command"
    host.ctl("zone", "remove", "a.test")
    assert is_refused(lab, "a.test")


def test_template_that_is_missing_is_told(lab, host):
    host.ctl("zone", "add", "a.test", "--template", "open")
    config = json.loads(host.path.read_text())
    template = config["templates"].pop()
    host.path.write_text(json.dumps(config))
    host.ctl("zone", "reload")
    assert is_served(lab, "a.test")
    restart(host)
    assert is_refused(lab, "a.test")
    assert "templates: open is missing, by which zone add has added zones, such as a.test." \
        in host.degraded()
    configure(host, lambda c: c["templates"].append(template))
    wait_for("it is served", lambda: is_served(lab, "a.test"))
    assert "templates: " not in host.degraded()


def batch(daemon, command, lines, *options):
    return subprocess.run([BIN / "volleyctl", "-s", daemon.socket, "zone", command, "--batch", "-",
                           *options], input=lines, capture_output=True, text=True, timeout=60,
                          check=False)


def test_batch(lab, host, tmp_path):
    names = [f"n{i}.test" for i in range(600)]
    for i, name in enumerate(names):
        write_zone(tmp_path / f"{name}.zone", i + 1)
    (tmp_path / "n7.test.zone").unlink()
    said = batch(host, "add", "\n".join(["", *names]))
    assert said.returncode == 1 and "n7.test.zone" in said.stderr
    there = [n for n in names if n != "n7.test"]
    assert sorted(said.stdout.split("\n")[:-1]) == sorted(f"added {n}" for n in there)
    assert all(is_served(lab, n) for n in there[::50]) and is_refused(lab, "n7.test")
    restart(host)
    assert set(origins(host)) == {"d.test", *there}
    said = batch(host, "remove", "\n".join(there) + "\n")
    assert said.returncode == 0 and said.stdout.count("removed ") == len(there), said.stderr
    assert set(origins(host)) == {"d.test"} and is_refused(lab, "n8.test")


def test_batch_tells_of_each_line(lab, host):
    """Also of one whose sentence is cut in the middle of a character."""
    long = "\u00fc" * 600
    for names in [long], ["a.test", long, "b.test"]:
        said = batch(host, "add", "\n".join(names))
        assert said.returncode == 1 and said.stderr.count("\n") == 1, (said.stdout, said.stderr)
    assert is_served(lab, "a.test") and is_served(lab, "b.test")


def test_more_zones_than_the_cache_has_places_for(lab, host, tmp_path):
    first = tmp_path / "n0.test.zone"
    write_zone(first)
    for i in range(1, 4200):
        os.link(first, tmp_path / f"n{i}.test.zone")
    said = batch(host, "add", "".join(f"n{i}.test\n" for i in range(4200)))
    assert said.returncode == 0 and said.stdout.count("added ") == 4200
    assert "raise cache.zones" in host.degraded() and is_served(lab, "n4199.test")
    config = json.loads(host.path.read_text())
    config["cache"] = {**config.get("cache", {}), "zones": 5000}
    host.path.write_text(json.dumps(config))
    restart(host)
    assert "cache.zones" not in host.degraded() and is_served(lab, "n4199.test")


def test_killed_in_a_batch(lab, host, tmp_path):
    """Each zone that was confirmed is there after the restart."""
    for i in range(2000):
        write_zone(tmp_path / f"n{i}.test.zone", i + 1)
    with subprocess.Popen([BIN / "volleyctl", "-s", host.socket, "zone", "add", "--batch", "-"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        client.stdin.write("".join(f"n{i}.test\n" for i in range(300)))
        client.stdin.flush()
        confirmed = [client.stdout.readline() for _ in range(200)]
        client.stdin.write("".join(f"n{i}.test\n" for i in range(300, 2000)))
        client.stdin.close()
        host.kill()
        confirmed += client.stdout.readlines()
        assert client.wait(30) == 1
    host.spawn().wait_ready()
    names = [line.split()[1] for line in confirmed]
    assert len(names) >= 200 and set(names) <= set(origins(host))
    assert all(is_served(lab, n) for n in names[::10])
