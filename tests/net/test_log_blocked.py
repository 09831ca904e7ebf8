# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A log without a reader or without room: control goes on, and as many messages as possible are
kept."""
import fcntl
import os
import signal
import subprocess

from netlab import BIN, ENV, texts, wait_for, write_zone, zone

N_RELOADS = 60


def spawn(daemon, log):
    """With LOG as its stderr."""
    daemon.process = subprocess.Popen(
        ["nsenter", f"--net=/run/netns/{daemon.lab.name}-s", "--", str(BIN / "volleyd"), "-c",
         str(daemon.path)],
        env=ENV, stdout=subprocess.DEVNULL, stderr=log)
    daemon.wait_ready()


def fail_to_reload(daemon, path):
    """Lines of an error's length."""
    path.write_text("broken", encoding="ascii")
    for _ in range(N_RELOADS):
        assert "z.zone" in daemon.ctl("zone", "reload", "z.test", check=False, timeout=20).stderr


def test_pipe_that_nobody_reads(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone")
    daemon.configure(zones=[zone("z.test", path)])
    reader, writer = os.pipe()
    fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
    spawn(daemon, writer)
    os.close(writer)
    fail_to_reload(daemon, path)
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]
    text = b""
    os.set_blocking(reader, False)

    def has_all():
        nonlocal text
        try:
            text += os.read(reader, 65536)
        except BlockingIOError:
            pass
        return text.count(b"the earlier version keeps serving") == N_RELOADS
    wait_for("all lines have come", has_all, 30)
    fail_to_reload(daemon, path)
    daemon.signal(signal.SIGTERM)
    assert daemon.reap() == 0, "nobody reads, and it ends"
    os.close(reader)


def test_full_disk(lab, daemon, tmp_path, make_disk):
    disk = make_disk("64k")
    path = write_zone(tmp_path / "z.zone")
    daemon.configure(zones=[zone("z.test", path)])
    with open(disk / "log", "ab") as log:
        spawn(daemon, log)
    with open(disk / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 4096)
        except OSError:
            pass
    fail_to_reload(daemon, path)
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]
    (disk / "filler").unlink()
    wait_for("all lines have come",
             lambda: (disk / "log").read_text().count("keeps serving") == N_RELOADS, 20)
    assert daemon.stop() == 0


def test_without_stderr(daemon):
    """Nothing else takes its place, and the log goes nowhere."""
    daemon.configure()
    daemon.process = subprocess.Popen(
        ["nsenter", f"--net=/run/netns/{daemon.lab.name}-s", "--", "sh", "-c",
         'exec "$0" -c "$1" 2>&-',
         str(BIN / "volleyd"), str(daemon.path)], env=ENV, stdout=subprocess.DEVNULL)
    daemon.wait_ready()
    assert os.readlink(f"/proc/{daemon.process.pid}/fd/2") == "/dev/null"
    assert daemon.stop() == 0
