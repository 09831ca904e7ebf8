# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyd's own files, cut or changed while it is down: it notices this and never serves them."""
import dns.message
import dns.rcode
import pytest

from catalogpeers import CATALOG
from netlab import CLIENT4, V4, V6, texts, wait_for, write_zone, zone
from primaries import ZONE, zone_text
from rivals import nsd_loads
from test_primary import ODD
from test_secondary import begin, serial as asked_serial
from test_signing import configure, serial, stop, transferred, verify

NAMES = "".join(f"n{i} IN A 10.0.0.{i}\n" for i in range(50))


@pytest.fixture
def content(tmp_path):
    return write_zone(tmp_path / "z.zone", 7, more=NAMES)


def cut(path):
    """The first half of its lines: a master file all the same."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:len(lines) // 2]), encoding="ascii")


def cut_in_line(path):
    text = path.read_text()
    path.write_text(text[:len(text) // 2], encoding="ascii")


def change(path):
    before = path.read_text()
    path.write_text(before.replace("192.0.2.10", "192.0.2.66"), encoding="ascii")
    assert path.read_text() != before


def remove(path):
    path.unlink()


def status(daemon, name, key):
    return daemon.json("zone", "status", name)["zones"][0].get(key, "")


@pytest.mark.parametrize("harm", [cut, cut_in_line, change, remove])
def test_signed_file_that_is_harmed(lab, daemon, tmp_path, content, harm):
    """The operator's file is signed anew, above the serial number that was served."""
    stored = tmp_path / "store/signed/z.test.zone"
    configure(daemon, tmp_path, content).spawn().wait_ready()
    before = serial(daemon)
    whole = verify(lab, tmp_path)
    stop(daemon)
    harm(stored)
    daemon.spawn().wait_ready()
    assert serial(daemon) > before
    assert sorted(line for line in verify(lab, tmp_path).splitlines() if "\tA\t" in line) == \
        sorted(line for line in whole.splitlines() if "\tA\t" in line)
    assert texts(lab.ask("n49.z.test")) == ["10.0.0.49"]
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]
    assert str(stored) in status(daemon, "z.test", "warning") and "signed anew" in daemon.log()
    before = serial(daemon)
    stop(daemon)
    daemon.spawn().wait_ready()
    assert serial(daemon) == before and not status(daemon, "z.test",
                                                   "warning"), "the file is whole again"


def test_harmed_signed_file_and_changes(lab, daemon, tmp_path, content):
    """The journal's later changes are discarded, and that is reported."""
    configure(daemon, tmp_path, content).spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    last = serial(daemon)
    stop(daemon)
    cut(tmp_path / "store/signed/z.test.zone")
    daemon.spawn().wait_ready()
    assert serial(daemon) > last
    assert "192.0.2.1\n" not in verify(lab, tmp_path)
    assert f"serial {last}" in status(daemon, "z.test", "warning")
    daemon.ctl("zone", "edit", "z.test", "add f 60 A 192.0.2.2")
    stop(daemon)
    daemon.spawn().wait_ready()
    assert "192.0.2.2\n" in verify(lab, tmp_path)


def test_harmed_signed_file_without_the_operators(lab, daemon, tmp_path, content):
    """Nothing is left that could be served, and the reason is said."""
    configure(daemon, tmp_path, content).spawn().wait_ready()
    good = content.read_text()
    stop(daemon)
    cut(tmp_path / "store/signed/z.test.zone")
    content.unlink()
    daemon.spawn().wait_ready()
    assert lab.ask("n49.z.test").rcode() == dns.rcode.SERVFAIL
    content.write_text(good, encoding="ascii")
    daemon.ctl("zone", "reload", "z.test")
    verify(lab, tmp_path)


def test_harmed_signed_file_when_signing_ends(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    before = serial(daemon)
    stop(daemon)
    cut(tmp_path / "store/signed/z.test.zone")
    daemon.configure(server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
                     zones=[zone("z.test", content, allow_transfer=["any"])])
    for _ in range(2):
        daemon.spawn().wait_ready()
        assert serial(daemon) == before + 1, "above what was served"
        assert texts(lab.ask("n49.z.test")) == ["10.0.0.49"]
        assert "RRSIG" not in transferred(lab, tmp_path / "axfr").read_text()
        stop(daemon)


def fetch(lab, there, daemon):
    """A secondary's file, and its primary."""
    primary = there.start("knotd", CLIENT4, algorithm="sha256", text=zone_text(1, NAMES))
    begin(daemon, CLIENT4)
    wait_for("the zone is there", lambda: asked_serial(lab) == 1)
    wait_for("its file is written", lambda: daemon.log().count("serial 1 written to") == 1)
    return primary, next((daemon.folder / "state").glob("zones/*.zone"))


@pytest.mark.parametrize("harm", [cut, cut_in_line, change])
def test_harmed_file_of_a_secondary(lab, there, daemon, harm):
    """It is not served; the primaries are asked at once."""
    primary, stored = fetch(lab, there, daemon)
    assert daemon.stop() == 0
    primary.stop()
    harm(stored)
    daemon.start()
    for name in (f"n49.{ZONE}", f"www.{ZONE}"):
        assert lab.ask(name).rcode() == dns.rcode.SERVFAIL
    said = daemon.ctl("-w", "2", "health", check=False)
    assert said.returncode and str(stored) in said.stdout and str(stored) in daemon.log()
    primary.start()
    daemon.ctl("zone", "refresh", ZONE, check=False)
    wait_for("it is there again", lambda: asked_serial(lab) == 1, 30)
    assert texts(lab.ask(f"n49.{ZONE}")) == ["10.0.0.49"]
    assert texts(lab.ask(f"www.{ZONE}")) == ["192.0.2.10"]
    wait_for("its file is written", lambda: daemon.log().count("serial 1 written to") == 2)
    assert daemon.stop() == 0
    primary.stop()
    daemon.start()
    assert texts(lab.ask(f"n49.{ZONE}")) == ["10.0.0.49"], "by its file"


def test_odd_records_of_a_secondary_outlive_its_primary(lab, there, daemon):
    """
    Those that have no text, or none that is easily read back: the stored file gives each octet
    again.
    """
    odd = nsd_loads(ODD)
    lines = "".join(f"odd-{kind} {kind} \\# {len(octets) // 2} {octets}\n"
                    for kind, octets in odd.items())
    primary = there.start("nsd", CLIENT4, algorithm="sha256", text=zone_text(1, lines))
    begin(daemon, CLIENT4)
    wait_for("the zone is there", lambda: asked_serial(lab) == 1)
    wait_for("its file is written", lambda: "serial 1 written to" in daemon.log())

    def answers():  # as octets: dnspython does not read all of them
        asked = [dns.message.make_query(f"odd-{kind}.{ZONE}", kind, id=1) for kind in odd]
        return [lab.udp_wire(query.to_wire()) for query in asked]

    before = answers()
    assert all(wire[6:8] == b"\0\1" for wire in before)
    assert daemon.stop() == 0
    primary.stop()
    daemon.start()
    assert answers() == before


@pytest.mark.parametrize("harm", [cut, cut_in_line])
def test_harmed_file_of_a_produced_catalog(daemon, tmp_path, harm):
    """Its members are known; secondaries see a newer serial number."""
    zones = [zone(f"{c}.test", write_zone(tmp_path / f"{c}.zone"), member_of=CATALOG)
             for c in "abcdef"]
    daemon.start(server={"listen": [V4, V6], "workers": 1, "storage": str(tmp_path / "store")},
                 zones=[zone(CATALOG, tmp_path / "catalog.zone", catalog="produce"), *zones])
    daemon.ctl("zone", "flush", CATALOG)
    path = tmp_path / "catalog.zone"
    before, records = status(daemon, CATALOG, "serial"), status(daemon, CATALOG, "records")
    assert daemon.stop() == 0
    harm(path)
    daemon.start()
    wait_for("all members", lambda: status(daemon, CATALOG, "records") == records)
    assert status(daemon, CATALOG, "serial") > before
    assert f"{path}:" in daemon.log() and "made anew" in daemon.log()
