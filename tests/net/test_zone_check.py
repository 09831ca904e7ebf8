# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl zone check: it reads no file that the caller may not read."""
import json
import os
import pathlib
import shutil
import socket
import subprocess

import pytest

from netlab import BIN, open_to_all, write_zone, zone

NOBODY = 65534
SECRET = "the-word-that-only-root-may-read"


@pytest.fixture
def running(daemon, tmp_path):
    """A daemon whose control socket is open to all, and a private file."""
    daemon.start(control={"mode": "0666"}, zones=[zone("z.test", write_zone(tmp_path / "z.zone"))])
    open_to_all(tmp_path)
    private = tmp_path / "private"
    private.write_text(f"${SECRET}\n", encoding="ascii")
    private.chmod(0o600)
    return daemon


def as_nobody(daemon, tmp_path, *words):
    tool = pathlib.Path(shutil.copy(BIN / "volleyctl", tmp_path / "volleyctl"))
    return subprocess.run([tool, "--socket", daemon.socket, *words], user=NOBODY, group=NOBODY,
                          extra_groups=[], capture_output=True, text=True, timeout=30, check=False)


def said(done):
    return done.stdout + done.stderr


def test_by_volleyctl(running, tmp_path):
    private = tmp_path / "private"
    assert as_nobody(running, tmp_path, "zone", "list").returncode == 0, "he may ask the daemon"
    refused = as_nobody(running, tmp_path, "zone", "check", "z.test", private)
    assert refused.returncode == 1 and SECRET not in said(refused)
    assert f"{private}: " in refused.stderr and "Permission denied" in refused.stderr
    outer = tmp_path / "outer"
    outer.write_text(f"$INCLUDE {private}\n", encoding="ascii")
    refused = as_nobody(running, tmp_path, "zone", "check", "z.test", outer)
    assert refused.returncode == 1 and SECRET not in said(refused)
    assert "Permission denied" in refused.stderr
    os.chmod(private, 0o644)
    shown = as_nobody(running, tmp_path, "zone", "check", "z.test", private)
    assert shown.returncode == 1 and f"{private}:1: " in shown.stderr, "now he may"


def test_by_the_control_socket(running, tmp_path):
    """Other programs that speak the protocol get nothing, either."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(10)
        sock.connect(str(running.socket))
        sock.sendall(json.dumps({"v": 1, "command": "zone check",
                                 "args": ["z.test", str(tmp_path / "private")]}).encode() + b"\n")
        reply = json.loads(sock.recv(65536))
    assert not reply["ok"] and SECRET not in json.dumps(reply)


def test_without_a_daemon(tmp_path):
    good = write_zone(tmp_path / "z.zone", 12)
    check = [BIN / "volleyctl", "--socket", tmp_path / "none", "--json", "zone", "check", "z.test",
             "z.zone"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, timeout=30,
                          check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["valid"] and result["serial"] == 12 and result["warnings"] == 0
    good.write_text(good.read_text() + "broken IN A 192.0.2.300\n", encoding="ascii")
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, timeout=30,
                          check=False)
    error = json.loads(done.stdout)["error"]
    assert done.returncode == 1 and "z.zone:" in error and not done.stderr
