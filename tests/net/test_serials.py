# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The serial number of a zone file that was changed without a newer one: secondaries do not fetch it,
so volleyd says it, or gives the zone a newer serial.
"""
import time

import dns.message
import dns.query
import dns.rdataset
import dns.rrset
import dns.update
import dns.zone
import pytest

from netlab import CLIENT4, V4, texts, write_zone, zone

NAME = "s.test"


def start(daemon, tmp_path, storage=True, **keys):
    """NAME from the file s.zone."""
    server = {"listen": [V4], "workers": 2}
    if storage:
        server["storage"] = str(tmp_path / "store")
    path = write_zone(tmp_path / "s.zone", 5)
    daemon.start(server=server, zones=[zone(NAME, path, **{"allow-transfer": [CLIENT4], **keys})])
    return path


def serial(lab):
    return lab.udp(dns.message.make_query(NAME, "SOA")).answer[0][0].serial


def warnings(daemon):
    return [z.get("warning", "") for z in daemon.json("zone", "list")["zones"]][0]


def test_a_file_that_is_not_newer_is_told(lab, daemon, tmp_path):
    path = start(daemon, tmp_path, storage=False)
    write_zone(path, 5, more="; a comment\n")
    daemon.ctl("zone", "reload", NAME)
    assert not warnings(daemon) and daemon.ctl("health").returncode == 0
    for number, address in ((5, "192.0.2.11"), (4, "192.0.2.12")):
        write_zone(path, number, address)
        says = f"serial {number} is not newer than 5, which was served"
        for _ in range(2):  # it stays true
            told = daemon.ctl("zone", "reload", NAME)
            assert says in told.stdout
            assert texts(lab.ask(f"www.{NAME}")) == [address] and serial(lab) == number
        assert says in daemon.log() and says in daemon.ctl("zone", "list").stdout
        assert any(says in line for line in daemon.json("status")["degraded"])
        assert says in daemon.ctl("health", check=False).stdout
    assert "serial 4 is not newer than 5" in daemon.ctl("zone", "reload").stdout
    write_zone(path, 6, "192.0.2.13")
    daemon.ctl("zone", "reload", NAME)
    assert not warnings(daemon) and not daemon.json("status")["degraded"]


def test_a_file_that_was_changed_meanwhile(lab, daemon, tmp_path):
    """With server.storage also a start knows what was served."""
    path = start(daemon, tmp_path)
    daemon.stop()
    write_zone(path, 5, "192.0.2.11")
    daemon.spawn()
    daemon.wait_ready()
    assert "serial 5 is not newer than 5" in warnings(daemon)
    assert texts(lab.ask(f"www.{NAME}")) == ["192.0.2.11"]


@pytest.mark.parametrize("change", ["update", "edit"])
def test_a_change_with_a_newer_serial_ends_the_warning(lab, daemon, tmp_path, change):
    path = start(daemon, tmp_path, **{"allow-update": [CLIENT4]})
    write_zone(path, 4, "192.0.2.11")
    daemon.ctl("zone", "reload", NAME)
    assert "serial 4 is not newer than 5" in warnings(daemon)
    add_record(lab, daemon, change, "one")  # serial 5: still not newer
    assert serial(lab) == 5 and "serial 4 is not newer than 5" in warnings(daemon)
    add_record(lab, daemon, change, "two")
    assert serial(lab) == 6 and not warnings(daemon)
    assert not daemon.json("status")["degraded"] and daemon.ctl("health").returncode == 0
    assert "is not newer" not in daemon.ctl("zone", "reload", NAME).stdout
    assert not warnings(daemon)


def add_record(lab, daemon, change, owner):
    if change == "edit":
        daemon.ctl("zone", "edit", NAME, f"add {owner} 60 A 192.0.2.99")
        return
    made = dns.update.Update(NAME)
    made.add(owner, 60, "A", "192.0.2.99")
    assert lab.udp(made).rcode() == 0


def is_due(policy, number, before):
    now_s = int(time.time())
    return {"increment": number == before + 1,
            "unixtime": number == before + 1 or now_s - 60 <= number <= now_s,
            "date": number // 100 in {int(time.strftime("%Y%m%d", time.gmtime(now_s - back)))
                                      for back in (0, 60)}}[policy]


@pytest.mark.parametrize("policy", ["increment", "unixtime", "date"])
def test_an_edited_file_needs_no_edited_serial(lab, daemon, tmp_path, policy):
    path = start(daemon, tmp_path, serial=policy)
    number = serial(lab)
    assert number == 5 if policy == "increment" else is_due(policy, number, 4)
    for i, is_stopped in enumerate((False, False, True)):
        before, address = number, f"192.0.2.{20 + i}"
        if is_stopped:
            daemon.stop()
        write_zone(path, 5, address)
        if is_stopped:
            daemon.spawn()
            daemon.wait_ready()
        else:
            daemon.ctl("zone", "reload", NAME)
        number = serial(lab)
        assert number > before and is_due(policy, number, before)
        assert texts(lab.ask(f"www.{NAME}")) == [address] and not warnings(daemon)
        daemon.ctl("zone", "reload", NAME)  # nothing new
        assert serial(lab) == number
        if not is_stopped:  # the change is one for IXFR, too
            changes = ixfr(lab, before)
            assert changes[0] == number and address in changes[1] and changes[2] == 6
    assert "IN SOA ns hostmaster 5 " in path.read_text("ascii")
    daemon.kill()
    daemon.spawn()
    daemon.wait_ready()
    assert serial(lab) == number
    write_zone(path, number + 10)  # a newer one counts
    daemon.ctl("zone", "reload", NAME)
    assert serial(lab) == number + 10


def ixfr(lab, number):
    """The serial, the rdata, and the number of records of an IXFR's answer."""
    query = dns.message.make_query(NAME, "IXFR")
    query.authority.append(dns.rrset.from_text(f"{NAME}.", 0, "IN", "SOA", f". . {number} 0 0 0 0"))
    with lab.connect("c", V4) as sock:
        dns.query.send_tcp(sock, query)
        reply = dns.query.receive_tcp(sock, one_rr_per_rrset=True)[0]
    records = [rdata for rrset in reply.answer for rdata in rrset]
    return records[0].serial, [str(rdata) for rdata in records], len(records)


def test_changes_by_commands_are_not_dropped(lab, daemon, tmp_path):
    """The file with other content and without them needs a newer serial, whatever the policy."""
    path = start(daemon, tmp_path, serial="unixtime")
    daemon.ctl("zone", "edit", NAME, "add new 60 A 192.0.2.99")
    write_zone(path, 5, "192.0.2.11")
    told = daemon.ctl("zone", "reload", NAME, check=False)
    assert told.returncode == 1 and "zone flush" in told.stderr
    assert texts(lab.ask(f"new.{NAME}")) == ["192.0.2.99"]
    number = serial(lab)
    daemon.kill()
    write_zone(path, 5)  # as it was served: the journal fits behind the serial that it got
    daemon.spawn()
    daemon.wait_ready()
    assert serial(lab) == number and texts(lab.ask(f"new.{NAME}")) == ["192.0.2.99"]
    daemon.ctl("zone", "flush", NAME)
    daemon.kill()
    daemon.spawn()
    daemon.wait_ready()
    assert serial(lab) == number and texts(lab.ask(f"new.{NAME}")) == ["192.0.2.99"]


def test_a_zone_whose_serial_is_signed_or_digested(lab, daemon, tmp_path):
    """Another serial would break its ZONEMD."""
    path = start(daemon, tmp_path, serial="increment")
    text = path.read_text("ascii")
    made = dns.zone.from_text(text, NAME, relativize=False)
    made.replace_rdataset(f"{NAME}.", dns.rdataset.from_rdata(
        300, made.compute_digest(dns.zone.DigestHashAlgorithm.SHA384)))
    path.write_text(made.to_text(relativize=False), encoding="ascii")
    daemon.ctl("zone", "reload", NAME)
    assert serial(lab) == 5 and "it has a ZONEMD record" in warnings(daemon)


def test_the_policy_needs_storage_and_may_go(lab, daemon, tmp_path):
    path = start(daemon, tmp_path, serial="date")
    number = serial(lab)
    daemon.configure(server={"listen": [V4], "workers": 2, "storage": str(tmp_path / "store")},
                     zones=[zone(NAME, path)])
    daemon.ctl("zone", "reload")
    assert serial(lab) == number  # secondaries have it
    daemon.stop()
    daemon.configure(server={"listen": [V4], "workers": 2},
                     zones=[zone(NAME, path, serial="date")])
    code, said = daemon.run_failing("--check")
    assert code == 2 and "zones[0].serial: needs server.storage" in said
