# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""With a disk that is full or read-only there is a clear error, and the service goes on."""
import os

import pytest

from catalogpeers import CATALOG, member, write_catalog
from netlab import V4, V6, texts, wait_for, write_zone, zone


@pytest.fixture
def small_disk(make_disk):
    """A folder of one megabyte."""
    return make_disk("1M")


def start(daemon, folder, path, **keys):
    return daemon.start(server={"listen": [V4, V6], "workers": 2, "storage": str(folder), **keys},
                        zones=[zone("z.test", path)])


def serial(daemon):
    return daemon.json("zone", "status", "z.test")["zones"][0]["serial"]


def fill(folder):
    with open(folder / "filler", "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 4096)
        except OSError:
            pass


def test_full_disk_refuses_changes_and_nothing_else(lab, daemon, tmp_path, small_disk):
    start(daemon, small_disk / "store", write_zone(tmp_path / "z.zone", 7))
    daemon.ctl("zone", "edit", "z.test", "add", "a", "60", "A", "192.0.2.1")
    fill(small_disk)
    text = "x" * 250
    refused = None
    for i in range(100):
        made = daemon.ctl("zone", "edit", "z.test", "add", f"t{i}", "60", "TXT", *[text] * 30,
                          check=False)
        if made.returncode:
            refused = made
            break
    assert refused is not None and "the change is not made" in refused.stderr
    last = serial(daemon)
    assert texts(lab.ask("a.z.test")) == ["192.0.2.1"]
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]
    assert "storage_error" in daemon.json("zone", "status", "z.test")["zones"][0]
    os.unlink(small_disk / "filler")
    wait_for("there is room again", lambda: daemon.ctl(
        "zone", "edit", "z.test", "add", "b", "60", "A", "192.0.2.2", check=False).returncode == 0)
    assert serial(daemon) == last + 1
    assert texts(lab.ask("b.z.test")) == ["192.0.2.2"]


def test_full_disk_leaves_the_old_file(daemon, tmp_path, small_disk):
    path = write_zone(small_disk / "z.zone", 7)
    daemon.start(server={"listen": [V4, V6], "workers": 1, "storage": str(tmp_path / "store")},
                 zones=[zone("z.test", path)])
    daemon.ctl("zone", "edit", "z.test", "add", "a", "60", "A", "192.0.2.1")
    fill(small_disk)
    before = path.read_text()

    def status(key):
        return daemon.json("zone", "status", "z.test")["zones"][0].get(key, "")

    for name in (["z.test"], []):
        refused = daemon.ctl("zone", "flush", *name, check=False)
        assert refused.returncode == 1 and str(path) in refused.stderr
        assert "No space left" in refused.stderr
    assert "No space left" in status("storage_error")
    assert str(path) in status("storage_error") and status("is_file_behind")
    assert path.read_text() == before
    assert [file.name for file in small_disk.iterdir() if file.name != "filler"] == ["z.zone"]
    os.unlink(small_disk / "filler")
    daemon.ctl("zone", "flush", "z.test")
    assert "192.0.2.1" in path.read_text() and not status("storage_error")
    assert not status("is_file_behind")


def add_text(daemon, name, number):
    """A change of some 8 KiB."""
    return daemon.ctl("zone", "edit", name, "add", f"t{number}", "60", "TXT", *["x" * 250] * 30,
                      check=False)


def test_zone_that_is_never_flushed_leaves_room_for_others(daemon, tmp_path):
    zones = [zone(name, write_zone(tmp_path / f"{name}.zone", 7)) for name in ("a.test", "b.test")]
    daemon.start(server={"listen": [V4, V6], "workers": 1, "storage": str(tmp_path / "store"),
                         "storage-size": "1M"}, zones=zones)

    def status(name, key):
        return daemon.json("zone", "status", name)["zones"][0].get(key, "")

    assert not any(add_text(daemon, "a.test", number).returncode for number in range(45))
    wait_for("a warning", lambda: "zone flush a.test" in status("a.test", "storage_warning"))
    assert any("zone flush a.test" in line for line in daemon.json("status")["degraded"])
    assert "zone flush a.test" in daemon.log()
    assert "zone flush a.test" in daemon.ctl("-w", "2", "health", check=False).stdout
    refused = next((made for made in (add_text(daemon, "a.test", n) for n in range(45, 100))
                    if made.returncode))
    assert "zone flush a.test" in refused.stderr and "the change is not made" in refused.stderr
    assert not any(add_text(daemon, "b.test", number).returncode for number in range(20))
    assert not status("b.test", "storage_error")
    daemon.ctl("zone", "flush", "a.test")
    assert add_text(daemon, "a.test", 100).returncode == 0  # done means that there is room
    assert not status("a.test", "storage_error")


def test_zone_whose_file_is_written_never_fills_the_journal(daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone", 7)
    daemon.start(server={"listen": [V4, V6], "workers": 1, "storage": str(tmp_path / "store"),
                         "storage-size": "1M"},
                 zones=[zone("z.test", path, zonefile_sync=1)])
    for number in range(150):
        wait_for("it is made", lambda n=number: add_text(daemon, "z.test", n).returncode == 0, 20)
    wait_for("the file has all", lambda: "t149" in path.read_text(), 20)
    assert "storage_warning" not in daemon.json("zone", "status", "z.test")["zones"][0]


def test_member_that_goes_takes_our_file_along(lab, daemon, tmp_path):
    store, own = tmp_path / "store", write_zone(tmp_path / "a.test.zone", 7)
    catalog = write_catalog(tmp_path / "catalog.zone", 1, member("m1", "a.test"))
    daemon.start(server={"listen": [V4, V6], "workers": 1, "storage": str(store)},
                 signing=[{"name": "usual"}],
                 templates=[{"name": "plain", "file": str(tmp_path / "%s.zone"),
                             "signing": "usual"}],
                 zones=[zone(CATALOG, catalog, catalog="consume", groups=[{"template": "plain"}])])
    wait_for("it is served", lambda: texts(lab.ask("www.a.test")) == ["192.0.2.10"])
    assert [file.name for file in (store / "signed").iterdir()] == ["a.test.zone"]
    keys = sorted((store / "keys").iterdir())
    write_catalog(catalog, 2)
    daemon.ctl("zone", "reload", CATALOG)
    wait_for("its file has gone", lambda: not list((store / "signed").iterdir()))
    assert own.exists() and keys and sorted((store / "keys").iterdir()) == keys
