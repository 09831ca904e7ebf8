# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The process that starts the commands of zones[].verify: it knows each configuration that is in
force, ends with volleyd, and its end is told."""
import json
import os
import signal

from netlab import has_ended, process_of, texts, wait_for, write_zone, zone


def runner_of(daemon):
    """The process id of the daemon's runner."""
    return wait_for("a runner", lambda: process_of(daemon, "volley-parent", "volley-runner"))


def kill_runner(daemon):
    before = runner_of(daemon)
    os.kill(before, signal.SIGKILL)
    wait_for("the next runner", lambda: runner_of(daemon) != before)


def test_commands_of_each_configuration(lab, daemon, tmp_path):
    """Of the start, of a reload, of `config apply`; and still those in force after a refused reload."""
    path, noted = write_zone(tmp_path / "z.zone"), tmp_path / "noted"

    def with_command(word):
        return [{**zone("z.test", path),
                 "verify": ["/bin/sh", "-c", f"echo {word} >>{noted}"]}]
    daemon.start(zones=with_command("start"))
    assert noted.read_text("ascii") == "start\n"
    daemon.configure(zones=with_command("reload"))
    daemon.ctl("zone", "reload")
    assert noted.read_text("ascii").split()[1:] == ["reload"]
    applied = tmp_path / "applied.yaml"
    daemon.configure(zones=with_command("apply"))
    applied.write_bytes(daemon.path.read_bytes())
    daemon.configure(zones=with_command("reload"))
    daemon.ctl("config", "apply", applied)
    wait_for("the applied command", lambda: noted.read_text("ascii").split()[2:] == ["apply"])
    for _ in range(2):
        daemon.path.write_text(json.dumps({"nonsense": 1}), "ascii")
        assert daemon.ctl("zone", "reload", check=False).returncode == 1
    write_zone(path, 2, "192.0.2.20")
    daemon.ctl("zone", "reload", "z.test")
    assert noted.read_text("ascii").split()[3:] == ["apply"]
    assert texts(lab.ask("www.z.test")) == ["192.0.2.20"]
    kill_runner(daemon)
    write_zone(path, 3, "192.0.2.30")
    daemon.ctl("zone", "reload", "z.test")
    assert noted.read_text("ascii").split()[4:] == ["apply"]
    assert texts(lab.ask("www.z.test")) == ["192.0.2.30"]


def test_one_that_dies_is_followed_by_the_next(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone")
    daemon.start(zones=[{**zone("z.test", path), "verify": ["true"]}])
    for n in range(1, 4):
        kill_runner(daemon)
        write_zone(path, 1 + n, f"192.0.2.2{n}")
        daemon.ctl("zone", "reload", "z.test")
        assert texts(lab.ask("www.z.test")) == [f"192.0.2.2{n}"]
    assert not daemon.degraded()


def test_its_end_is_told(lab, daemon, tmp_path):
    """If its parent has ended as well, there is no next one."""
    path = write_zone(tmp_path / "z.zone")
    daemon.start(zones=[{**zone("z.test", path), "verify": ["true"]}])
    assert not daemon.degraded()
    os.kill(process_of(daemon, "volley-parent"), signal.SIGKILL)
    wait_for("degraded", lambda: "zones[].verify: the process volley-runner" in daemon.degraded())
    write_zone(path, 2, "192.0.2.20")
    told = daemon.ctl("zone", "reload", "z.test", check=False)
    assert "true cannot be run: the process volley-runner" in told.stderr
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]


def test_ends_of_children_are_ignored(lab, daemon, tmp_path):
    """By the process that starts volleyd: a command that refuses is heard all the same."""
    path = write_zone(tmp_path / "z.zone")
    daemon.configure(zones=[{**zone("z.test", path), "verify": ["false"]}])
    daemon.spawn(before=["env", "--ignore-signal=CHLD"]).wait_ready()
    assert lab.ask("www.z.test").rcode() != 0
    daemon.configure(zones=[{**zone("z.test", path), "verify": ["true"]}])
    daemon.ctl("zone", "reload")
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]


def test_it_ends_with_volleyd(daemon, tmp_path):
    """Also while a command runs, and if volleyd is killed."""
    pid = tmp_path / "pid"
    slow = f"echo $$ >{pid}.new && mv {pid}.new {pid} && sleep 1000"
    path = write_zone(tmp_path / "z.zone")
    daemon.configure(zones=[{**zone("z.test", path), "verify": ["/bin/sh", "-c", slow]}])
    daemon.spawn()
    wait_for("the command", pid.exists)
    runner = runner_of(daemon)
    daemon.kill()
    for process in (runner, int(pid.read_text("ascii"))):
        wait_for("its end", lambda process=process: has_ended(process))
