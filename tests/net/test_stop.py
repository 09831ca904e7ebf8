# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""At a stop volleyd tells systemd that it may take as long as a snapshot of the cache needs."""
import signal
import socket

import pytest


def told_at_a_stop(daemon, path, **sections):
    """All messages from the first of the stop on."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(path))
        heard.settimeout(30)
        daemon.configure(**sections).spawn(env={"NOTIFY_SOCKET": str(path)})
        while heard.recv(1000) != b"READY=1":
            pass
        daemon.signal(signal.SIGTERM)
        assert daemon.reap() == 0
        heard.setblocking(False)
        told = []
        with pytest.raises(BlockingIOError):
            while True:
                told.append(heard.recv(1000).decode())
    return told[told.index("STOPPING=1"):]


def test_time_for_the_snapshot(daemon, tmp_path):
    cache = {"snapshot": str(tmp_path / "cache.snapshot")}
    _, more = told_at_a_stop(daemon, tmp_path / "notify", cache=cache)
    key, value = more.split("=")
    assert key == "EXTEND_TIMEOUT_USEC" and int(value) >= 60_000_000


def test_no_time_without_one(daemon, tmp_path):
    assert told_at_a_stop(daemon, tmp_path / "notify") == ["STOPPING=1"]
