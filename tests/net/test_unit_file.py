# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The systemd units: the rights that they leave, and all of volleyd's work within them."""
import re
import sys

import pytest

from netlab import BIN, ROOT, V4, Answered, run, texts, wait_for, write_zone, zone

UNIT = ROOT / "scripts/volleyd.service"
UNITS = ("broker", "runner", "resolver")  # of volleyd's processes


def filled(path):
    """A unit as it is installed, for a user that each host has."""
    text = (ROOT / "scripts" / path).read_text("ascii")
    for key, value in (("PREFIX", "/usr/local"), ("SYSCONFDIR", "/etc"), ("USER", "daemon")):
        text = text.replace(f"@{key}@", value)
    return text


def exposure(unit):
    said = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit).stdout
    return float(re.search(r"exposure level for .*: ([0-9.]+) ", said)[1])


@pytest.mark.parametrize("path, most",
                         [("volleyd.service", 2.8), ("anycast/volley-anycast.service", 2.5),
                          ("volley-broker@.service", 2.2), ("volley-runner@.service", 2.0),
                          ("volley-resolver@.service", 1.5)])
def test_exposure(tmp_path, path, most):
    """systemd's own score. volleyd's remaining rights: root, CAP_SYS_ADMIN (to adopt), the network,
    bpf()."""
    unit = tmp_path / path.rpartition("/")[2]
    unit.write_text(filled(path), "ascii")
    assert exposure(unit) <= most


def test_exposure_with_units(tmp_path):
    """volleyd where the others have units of their own. Offline, systemd-analyze reads no drop-in, so
    its keys replace those of the unit here."""
    drop_in = filled("volleyd-units.conf")
    keys = "|".join(set(re.findall(r"^(\w+)=", drop_in, re.M)) - {"Environment"})
    rest = re.sub(rf"^({keys})=.*\n", "", filled("volleyd.service"), flags=re.M)
    unit = tmp_path / "volleyd.service"
    unit.write_text(rest.replace("[Service]\n", drop_in.partition("[Unit]")[0] + "[Service]\n"
                                 + drop_in.partition("[Service]\n")[2], 1), "ascii")
    assert exposure(unit) <= 1.5


def test_units_are_well_formed(tmp_path):
    for name in UNITS:
        for kind in ("@.service", ".socket"):
            text = filled(f"volley-{name}{kind}").replace("/usr/local/libexec/volley", str(BIN))
            (tmp_path / f"volley-{name}{kind}").write_text(re.sub("Documentation=.*", "", text), "ascii")
    said = run("systemd-analyze", "verify", *sorted(tmp_path.iterdir()))
    assert not said.stdout + said.stderr


def test_the_broker_has_the_capabilities_of_its_unit():
    kept = re.search(r"of_broker\[\] = \{(.*?)\}",
                     (ROOT / "userspace/base/privilege.c").read_text("ascii"), re.S)[1]
    text = filled("volley-broker@.service")
    for key in ("CapabilityBoundingSet", "AmbientCapabilities"):
        unit = re.findall(rf"^{key}=(.*)$", text, re.M)
        assert sorted(" ".join(unit).split()) == sorted(re.findall(r"CAP_\w+", kept))


def test_capabilities_are_those_that_volleyd_keeps():
    kept = re.search(r"of_broker\[\] = \{(.*?)\}",
                     (ROOT / "userspace/base/privilege.c").read_text("ascii"), re.S)[1]
    unit = re.findall(r"^CapabilityBoundingSet=(.*)$", UNIT.read_text("ascii"), re.M)
    assert sorted(" ".join(unit).split()) == sorted(re.findall(r"CAP_\w+", kept))


@pytest.mark.parametrize("key, folder",
                         [("StateDirectory", "/var/lib/volley"),
                          ("LogsDirectory", "/var/log/volley")])
def test_the_folders_of_the_manual_are_there(key, folder):
    """
    query-log.file, dnstap.file, cache.snapshot and server.storage: where volleyd may write, by the
    unit and by volleyd(8).
    """
    assert re.search(rf"^{key}={folder.rpartition('/')[2]}$", UNIT.read_text("ascii"), re.M)
    assert f".Pa {folder}" in (ROOT / "docs/man/volleyd.8.in").read_text("ascii")


def test_a_reload_of_the_unit_fails_where_a_file_is_broken(lab, daemon, tmp_path):
    """
    systemctl reload is ExecReload and its status: it fails where the configuration or a zone file
    is refused.
    """
    words = re.search(r"^ExecReload=@PREFIX@/sbin/(.*)$", UNIT.read_text("ascii"), re.M)[1].split()
    path = write_zone(tmp_path / "z.zone")

    def reload():
        return lab.exec("s", "env", f"VOLLEY_CONTROL={daemon.socket}",
                        ROOT / "build/bin" / words[0], *words[1:], check=False)

    daemon.start(zones=[zone("z.test", path)])
    assert reload().returncode == 0
    good = daemon.path.read_text("utf-8")
    daemon.path.write_text(good[:-1] + ", \"nonsense\": 1}", encoding="utf-8")
    told = reload()
    assert told.returncode == 1 and "nonsense: unknown key" in told.stderr
    daemon.path.write_text(good, encoding="utf-8")
    path.write_text(path.read_text("ascii") + "www A 192.0.2\n", encoding="ascii")
    told = reload()
    assert told.returncode == 1 and f"{path}:" in told.stderr
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]


def test_volleyd_works_within_its_system_calls(lab, daemon, tmp_path):
    """A system call that the unit does not allow would end it here: a start, the driver, changes,
    files, recursion, a stop."""
    path, other = (write_zone(tmp_path / name) for name in ("z.zone", "s.zone"))
    verify = {"verify": ["/bin/sh", "-c", "cat >/dev/null"]}
    daemon.configure(
        server={"listen": [V4], "workers": 2, "storage": str(tmp_path / "store")},
        cache={"size": "16M", "snapshot": str(tmp_path / "snapshot")}, signing=[{"name": "p"}],
        recursion={"allow": ["192.0.2.0/24"]}, metrics={"listen": f"{V4}@9253"},
        zones=[{**zone("z.test", path), **verify}, zone("s.test", other, signing="p")],
        **{"query-log": {"file": str(tmp_path / "queries")},
           "dnstap": {"file": str(tmp_path / "answers")}})
    before = [sys.executable, str(ROOT / "tests/net/sandboxed.py"), str(UNIT)]
    daemon.spawn(before=before).wait_ready()
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
        assert "Seccomp:\t2\n" in file.read()
    with Answered(daemon) as two:
        for _ in range(2):
            assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]
    assert two.by == {"worker": 1, "driver": 1}
    assert daemon.interface()["port"] == "xsk" and not daemon.degraded()
    lab.ask("www.nobody.example")
    wait_for("lines",
             lambda: "nobody.example" in (tmp_path / "queries").read_text("ascii")
             and (tmp_path / "answers").stat().st_size)
    daemon.ctl("zone", "edit", "z.test", "add new 60 A 192.0.2.1")
    daemon.ctl("zone", "flush", "z.test")
    wait_for("its file has it", lambda: "192.0.2.1\n" in path.read_text("ascii"))
    daemon.ctl("zone", "reload")
    daemon.ctl("cache", "resize", "24M")
    daemon.ctl("detach", "s0")
    daemon.ctl("attach", "s0")
    wait_for("an answer", lambda: texts(lab.ask("new.z.test")) == ["192.0.2.1"])
    daemon.ctl("stop")
    assert daemon.reap() == 0
    daemon.spawn(before=before).wait_ready()
    assert texts(lab.ask("new.z.test")) == ["192.0.2.1"]
