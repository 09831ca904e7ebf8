# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A start with a storage folder that cannot be written to, or with unusable keys: the stored zones
are served."""
import dns.rcode
import pytest

from netlab import CLIENT4, V4, V6, run, texts, wait_for, write_zone, zone
from primaries import ZONE, Scene
from test_signing import DAY, configure, restart, serial, stop, transferred, verify
from test_storage import fill


@pytest.fixture
def disk(make_disk):
    """A small one of its own."""
    return make_disk("1M")


def make_read_only(disk):
    run("mount", "-o", "remount,ro", disk)
    return "ead-only"


def make_full(disk):
    fill(disk)
    return "No space left"


def use(daemon, tmp_path, disk, **keys):
    return daemon.configure(server={"listen": [V4, V6], "workers": 2,
                                    "storage": str(disk / "store")},
                            zones=[zone("z.test", tmp_path / "z.zone", **keys)])


def health(daemon):
    return daemon.ctl("-w", "5", "health", check=False)


def says(daemon, disk, word):
    """That the folder cannot be used, in health, status and log, and that the host goes on."""
    now = health(daemon)
    assert now.returncode == 0, now.stdout
    for text in (now.stdout, daemon.degraded(), daemon.log()):
        assert any(str(disk) in line and word in line for line in text.splitlines()), text


@pytest.mark.parametrize("harm", [make_read_only, make_full])
def test_new_folder(lab, daemon, tmp_path, disk, harm):
    write_zone(tmp_path / "z.zone", 7)
    word = harm(disk)
    use(daemon, tmp_path, disk).spawn().wait_ready()
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]
    says(daemon, disk, word)
    refused = daemon.ctl("zone", "edit", "z.test", "add", "a", "60", "A", "192.0.2.1", check=False)
    assert refused.returncode and lab.ask("a.z.test").rcode() == dns.rcode.NXDOMAIN
    write_zone(tmp_path / "z.zone", 8, "192.0.2.20")
    daemon.ctl("zone", "reload")
    assert texts(lab.ask("www.z.test")) == ["192.0.2.20"]
    assert daemon.stop() == 0


def test_read_only_folder_with_a_journal(lab, daemon, tmp_path, disk):
    """Acknowledged changes are served, and new ones are refused."""
    write_zone(tmp_path / "z.zone", 7)
    use(daemon, tmp_path, disk).spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add", "a", "60", "A", "192.0.2.1")
    assert daemon.stop() == 0
    word = make_read_only(disk)
    daemon.spawn().wait_ready()
    assert texts(lab.ask("a.z.test")) == ["192.0.2.1"] and serial(daemon) == 8
    says(daemon, disk, word)
    refused = daemon.ctl("zone", "edit", "z.test", "add", "b", "60", "A", "192.0.2.2", check=False)
    assert refused.returncode and word in refused.stderr
    assert texts(lab.ask("a.z.test")) == ["192.0.2.1"]
    assert lab.ask("b.z.test").rcode() == dns.rcode.NXDOMAIN
    assert daemon.stop() == 0
    run("mount", "-o", "remount,rw", disk)
    daemon.spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add", "b", "60", "A", "192.0.2.2")
    assert texts(lab.ask("a.z.test")) == ["192.0.2.1"]
    assert texts(lab.ask("b.z.test")) == ["192.0.2.2"]


def test_full_folder_with_a_journal(lab, daemon, tmp_path, disk):
    write_zone(tmp_path / "z.zone", 7)
    use(daemon, tmp_path, disk).spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add", "a", "60", "A", "192.0.2.1")
    assert daemon.stop() == 0
    fill(disk)
    daemon.spawn().wait_ready()
    assert texts(lab.ask("a.z.test")) == ["192.0.2.1"]
    for i in range(20):
        daemon.ctl("zone", "edit", "z.test", "add", f"t{i}", "60", "TXT", *["x" * 250] * 30,
                   check=False)
    wait_for("health says it", lambda: "No space left" in health(daemon).stdout)
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]


@pytest.mark.parametrize("harm", [make_read_only, make_full])
def test_signed_zone(lab, daemon, tmp_path, disk, harm):
    """As it was signed; other content cannot be kept, and so is not served yet."""
    write_zone(tmp_path / "z.zone", 7)
    configure(daemon, tmp_path, tmp_path / "z.zone")
    use_signed(daemon, tmp_path, disk)
    daemon.spawn().wait_ready()
    before = verify(lab, tmp_path)
    stop(daemon)
    write_zone(tmp_path / "other", 9, "192.0.2.20").rename(tmp_path / "z.zone")
    word = harm(disk)
    daemon.spawn().wait_ready()
    assert verify(lab, tmp_path) == before
    assert word in daemon.degraded() and word in health(daemon).stdout
    assert daemon.ctl("zone", "reload", check=False).returncode
    stop(daemon)
    run("mount", "-o", "remount,rw", disk)
    (disk / "filler").unlink(missing_ok=True)
    daemon.spawn().wait_ready()
    assert "192.0.2.20" in verify(lab, tmp_path) and serial(daemon) >= 9


def use_signed(daemon, tmp_path, disk):
    daemon.configure(server={"listen": [V4, V6], "workers": 2, "storage": str(disk / "store")},
                     signing=[{"name": "p"}],
                     zones=[zone("z.test", tmp_path / "z.zone", signing="p",
                                 allow_transfer=["any"])])


def test_secondary_on_a_full_disk(lab, there, daemon, disk):
    """A transferred version is served, even if it cannot be stored."""
    there.start("knotd", CLIENT4)
    fill(disk)
    daemon.configure(server={"storage": str(disk / "store")},
                     remotes=[{"name": "p0", "address": [CLIENT4]}],
                     zones=[{"name": ZONE, "primaries": ["p0"]}])
    daemon.spawn().wait_ready()
    wait_for("it is served", lambda: texts(lab.ask(f"www.{ZONE}")) == ["192.0.2.10"], 20)
    says(daemon, disk, "No space left")
    assert isinstance(there, Scene) and daemon.stop() == 0


def open_to_others(path):
    path.chmod(0o644)


def empty(path):
    path.write_text("", encoding="ascii")


@pytest.mark.parametrize("harm", [open_to_others, empty])
def test_key_that_cannot_be_used(lab, daemon, tmp_path, clock, harm):
    """The stored signed zone is served, nothing is signed, and no new key is made."""
    content = write_zone(tmp_path / "z.zone", 7)
    configure(daemon, tmp_path, content)
    daemon.spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    before = verify(lab, tmp_path)
    folder = tmp_path / "store/keys"
    [path] = folder.glob("*.private")
    good, files = path.read_text(), sorted(folder.iterdir())
    harm(path)
    for _ in range(2):
        restart(daemon)
        assert verify(lab, tmp_path) == before
        assert str(path) in daemon.degraded() and str(path) in health(daemon).stdout
        refused = daemon.ctl("zone", "edit", "z.test", "add f 60 A 192.0.2.2", check=False)
        assert refused.returncode
        assert transferred(lab, tmp_path / "axfr").read_text(encoding="ascii") == before
        assert daemon.ctl("zone", "reload", check=False).returncode
        assert verify(lab, tmp_path) == before and sorted(folder.iterdir()) == files
        daemon.ctl("zone", "flush", "z.test")
    assert "RRSIG" not in content.read_text(), "that file is the operator's"
    clock.set(40 * DAY)
    wait_for("signatures have ended", lambda: "not valid now" in health(daemon).stdout, 20)
    assert health(daemon).returncode == 1
    path.write_text(good, encoding="ascii")
    path.chmod(0o600)
    daemon.ctl("zone", "reload")
    wait_for("it is well again", lambda: health(daemon).returncode == 0 and not daemon.degraded(),
             20)
    assert "192.0.2.1\n" in verify(lab, tmp_path, clock)


def test_key_that_cannot_be_used_when_signing_ends(lab, daemon, tmp_path):
    """The way out of it that needs no key."""
    content = write_zone(tmp_path / "z.zone", 7)
    configure(daemon, tmp_path, content)
    daemon.spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    [path] = (tmp_path / "store/keys").glob("*.private")
    empty(path)
    restart(daemon)
    daemon.configure(server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
                     zones=[zone("z.test", content, allow_transfer=["any"])])
    daemon.ctl("zone", "reload")
    assert "RRSIG" not in transferred(lab, tmp_path / "axfr").read_text()
    assert texts(lab.ask("e.z.test")) == ["192.0.2.1"] and not daemon.degraded()
    daemon.ctl("zone", "edit", "z.test", "add f 60 A 192.0.2.2")


def test_key_that_cannot_be_used_at_the_first_start(lab, daemon, tmp_path):
    configure(daemon, tmp_path, write_zone(tmp_path / "z.zone", 7))
    folder = tmp_path / "store/keys"
    folder.mkdir(parents=True)
    (folder / "Kz.test.+013+00001.private").touch(mode=0o600)
    daemon.spawn().wait_ready()
    assert lab.ask("www.z.test").rcode() == dns.rcode.SERVFAIL, "never without signatures"
    assert "Kz.test.+013+00001.private" in health(daemon).stdout
