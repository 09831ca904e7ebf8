# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Signatures after a wrong clock: they are made anew at once when the clock is right, and reported
while they are not valid."""
import subprocess
import time

import pytest

from netlab import V4, V6, run, wait_for, write_zone, zone
from test_signing import DAY, configure, serial, stop, transferred, verify


def is_valid(lab, tmp_path):
    """By the machine's own clock, which is right."""
    path = transferred(lab, tmp_path / "axfr")
    return run("ldns-verify-zone", path, check=False).returncode == 0


def health(daemon):
    return daemon.ctl("-w", "5", "health", check=False)


@pytest.mark.parametrize("n_names, start_again", [(5, False), (5, True), (3000, False)])
def test_clock_that_was_ahead(lab, daemon, tmp_path, clock, n_names, start_again):
    """
    First start, keys included, ten days ahead; many names are signed side by side, not some in each
    second.
    """
    names = "".join(f"n{i} IN A 10.0.{i // 250}.{i % 250}\n" for i in range(n_names))
    content = write_zone(tmp_path / "z.zone", 7, more=names)
    clock.set(10 * DAY)
    configure(daemon, tmp_path, content)
    daemon.spawn(env=clock.env).wait_ready()
    verify(lab, tmp_path, clock)
    assert not is_valid(lab, tmp_path)
    before = serial(daemon)
    if start_again:
        stop(daemon)
    clock.set(0)
    if start_again:
        daemon.spawn(env=clock.env).wait_ready()
    wait_for("signatures are valid now", lambda: is_valid(lab, tmp_path), 30)
    verify(lab, tmp_path)
    assert serial(daemon) - before <= 3, "all at once"
    wait_for("it is healthy", lambda: health(daemon).returncode == 0, 20)
    daemon.ctl("zone", "edit", "z.test", "add new 60 A 192.0.2.1")
    verify(lab, tmp_path)


def test_clock_that_is_ahead_for_a_while(lab, daemon, tmp_path, clock):
    """Keys and most signatures are from before; a few are from the time that was not."""
    configure(daemon, tmp_path, write_zone(tmp_path / "z.zone", 7))
    daemon.spawn(env=clock.env).wait_ready()
    clock.set(3 * DAY)
    daemon.ctl("zone", "edit", "z.test", "add new 60 A 192.0.2.1")
    assert not is_valid(lab, tmp_path)
    clock.set(0)
    wait_for("signatures are valid now", lambda: is_valid(lab, tmp_path), 20)
    verify(lab, tmp_path)


@pytest.mark.parametrize("begin_d, end_d, said", [(5, 15, "begin at"), (-15, -5, "ended at")])
def test_zone_that_another_has_signed(daemon, tmp_path, begin_d, end_d, said):
    """A warning; the zone is served unchanged."""
    plain = write_zone(tmp_path / "z.zone", 7)
    base = run("ldns-keygen", "-a", "ECDSAP256SHA256", "z.test", cwd=tmp_path).stdout.strip()
    begin, end = (time.strftime("%Y%m%d%H%M%S", time.gmtime(time.time() + d * DAY))
                  for d in (begin_d, end_d))
    subprocess.run(["ldns-signzone", "-o", "z.test", "-i", begin, "-e", end, "-f",
                    tmp_path / "signed.zone", plain, tmp_path / base], check=True)
    daemon.start(server={"listen": [V4, V6], "workers": 1},
                 zones=[zone("z.test", tmp_path / "signed.zone")])
    now = health(daemon)
    assert now.returncode == 0 and "z.test" in now.stdout and said in now.stdout, now
    assert any("z.test" in line and said in line for line in daemon.json("status")["degraded"])
    assert health(daemon).stdout == now.stdout
