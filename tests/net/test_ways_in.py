# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Three ways to load the program: by volleyd, by `ip link`, by `xdp-loader`; and what remains
afterwards."""
import os
import re
import time

import pytest

from netlab import (BIN, V4, Answered, driver_counters, iface, in_driver, map_ids, program, run,
                    texts, wait_for)

OBJECT = BIN / "volley.bpf.o"
WWW = ["192.0.2.80", "192.0.2.81"]


def by_ip_link(lab, path=OBJECT, dev="s0", mode="xdpdrv"):
    lab.exec("s", "ip", "link", "set", "dev", dev, mode, "obj", path, "sec", "xdp")


def by_xdp_loader(lab, path=OBJECT, dev="s0"):
    lab.exec("s", "xdp-loader", "load", "-m", "native", dev, path)


def second_interface(lab):
    """A veth pair c1, s1 beside the first."""
    lab.ip("c", "link", "add", "c1", "type", "veth", "peer", "name", "s1",
           "netns", f"{lab.name}-s")
    for end, host in (("c", 1), ("s", 53)):
        name = end + "1"
        lab.exec(end, "ethtool", "-K", name, "tx", "off", "gro", "on")
        lab.ip(end, "link", "set", name, "up")
        lab.ip(end, "address", "add", f"198.51.100.{host}/24", "dev", name)
    lab.exec("c", "ip", "link", "set", "dev", "c1", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o",
             "sec", "xdp")
    lab.ip("s", "address", "add", f"{V4}/32", "dev", "lo", check=False)
    return "198.51.100.53"


def check_worker_then_driver(lab, daemon, where=V4, name="www.example.com"):
    with Answered(daemon) as two:
        for _ in range(2):
            assert lab.ask(name, where=where).answer
    assert two.by == {"worker": 1, "driver": 1}


def test_loaded_by_volleyd_goes_with_it(lab, daemon):
    daemon.start()
    found = program(lab)
    assert found["mode"] == "native"
    seen = daemon.interface()
    assert seen["origin"] == "loaded" and seen["program_id"] == found["id"]
    check_worker_then_driver(lab, daemon)
    assert daemon.stop() == 0
    assert program(lab) is None


@pytest.mark.parametrize("load", [by_ip_link, by_xdp_loader])
def test_adopted_stays(lab, daemon, load):
    load(lab)
    found = program(lab)
    daemon.start()
    seen = daemon.interface()
    assert seen["origin"] == "adopted" and seen["program_id"] == found["id"]
    check_worker_then_driver(lab, daemon)
    assert daemon.stop() == 0
    assert program(lab) == found
    # it answers nothing now, and all is passed to a kernel that has no server
    assert not lab.is_answered()
    assert driver_counters(found["id"])["UP_ORPHANED"] == 1


def test_adopted_again_with_its_answers(lab, daemon):
    by_ip_link(lab)
    daemon.start()
    lab.ask()
    daemon.stop()
    daemon.start()
    assert daemon.status()["cache"]["adopted"]
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}


def test_adopted_in_generic_mode(lab, daemon):
    by_ip_link(lab, mode="xdpgeneric")
    daemon.start(interfaces=[iface(xdp="auto")])
    seen = daemon.interface()
    assert (seen["origin"], seen["xdp"]) == ("adopted", "generic")
    with Answered(daemon) as two:
        lab.ask()
        lab.ask()
    assert two.by["driver"] == 1


def test_stop_keep_goes_on_answering(lab, daemon):
    daemon.start()
    lab.ask()
    assert daemon.stop("--keep") == 0
    found = program(lab)
    before = driver_counters(found["id"])
    for _ in range(3):
        assert texts(lab.ask()) == WWW
    after = driver_counters(found["id"])
    assert after["hit"] - before["hit"] == 3
    daemon.start()
    assert daemon.interface()["origin"] == "adopted"
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}
    # volleyd loaded it, an earlier one though: so it goes with volleyd
    assert daemon.stop() == 0
    assert program(lab) is None


def test_started_with_keep(lab, daemon):
    daemon.start("--keep")
    lab.ask()
    daemon.clean_up()
    assert texts(lab.ask()) == WWW
    run("nsenter", f"--net=/run/netns/{lab.name}-s", "--", "ip", "link", "set", "s0", "xdp", "off")


def test_attach_and_detach(lab, daemon):
    daemon.start(interfaces=[iface(xdp="off")])
    assert program(lab) is None
    daemon.ctl("attach", "s0")
    assert program(lab)
    check_worker_then_driver(lab, daemon)
    daemon.ctl("attach", "s0")  # twice is well
    daemon.ctl("detach", "s0")
    assert program(lab) is None
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"kernel_socket": 1}
    refused = daemon.ctl("detach", "s0", check=False)
    assert refused.returncode == 1 and "s0" in refused.stderr
    daemon.ctl("attach", "s0")
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}  # the cache is still the same


def test_detached_stays_detached(lab, daemon):
    daemon.start()
    daemon.ctl("detach", "s0")
    time.sleep(1.2)  # a tick
    assert program(lab) is None
    assert daemon.interface()["state"] == "down"


def test_attach_an_interface_that_is_not_configured(lab, daemon):
    daemon.start(interfaces=None)
    daemon.ctl("attach", "s0")
    check_worker_then_driver(lab, daemon)
    refused = daemon.ctl("attach", "nothere0", check=False)
    assert refused.returncode == 1 and "nothere0: no such interface" in refused.stderr


def test_taken_off_by_somebody_comes_back(lab, daemon):
    daemon.start()
    lab.ask()
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "off")
    wait_for("the program is back", lambda: program(lab))
    wait_for("the interface is up", lambda: daemon.interface()["state"] == "up")
    with Answered(daemon) as one:
        lab.ask()
    assert one.by == {"driver": 1}
    with Answered(daemon) as one:
        lab.ask("mail.example.com")
    assert one.by == {"worker": 1}


def test_second_interface_shares_the_cache(lab, daemon):
    where = second_interface(lab)
    daemon.start(server={"listen": [V4, where]}, interfaces=[iface("s0"), iface("s1")])
    lab.ask()
    with Answered(daemon) as one:
        assert texts(lab.ask(where=where)) == WWW
    assert one.by == {"driver": 1}
    assert map_ids(program(lab, "s0")["id"])["volley_store"] == \
        map_ids(program(lab, "s1")["id"])["volley_store"]


def test_second_program_with_maps_of_its_own_is_replaced(lab, daemon):
    where = second_interface(lab)
    by_ip_link(lab)
    by_ip_link(lab, dev="s1")
    assert map_ids(program(lab, "s0")["id"])["volley_store"] != \
        map_ids(program(lab, "s1")["id"])["volley_store"]
    daemon.start(server={"listen": [V4, where]}, interfaces=[iface("s0"), iface("s1")])
    assert daemon.interface("s0")["origin"] == "adopted"
    assert daemon.interface("s1")["origin"] == "replaced"
    assert map_ids(program(lab, "s0")["id"])["volley_store"] == \
        map_ids(program(lab, "s1")["id"])["volley_store"]
    check_worker_then_driver(lab, daemon)
    with Answered(daemon) as one:
        assert texts(lab.ask(where=where)) == WWW
    assert one.by == {"driver": 1}


def test_a_cache_of_another_size_is_resized(lab, daemon):
    """Only for volleyd's own program: a program that was loaded otherwise keeps its maps."""
    daemon.start()
    lab.ask()
    daemon.stop("--keep")
    daemon.configure(cache={"size": "24M"})
    daemon.start()
    wait_for("the size", lambda: daemon.json("cache", "stats")["size_bytes"] == 24 << 20)
    assert in_driver(lab, daemon, ["www.example.com"]) == 1


def test_what_others_loaded_keeps_its_size(lab, daemon):
    by_ip_link(lab)
    daemon.start(cache={"size": "24M"})
    check_worker_then_driver(lab, daemon)
    assert "cache.size is not used" in daemon.log()
    time.sleep(1.5)  # a tick
    assert daemon.interface()["origin"] == "adopted"
    assert daemon.json("cache", "stats")["total_bytes"] >= 60 << 20


def test_no_descriptor_is_lost(lab, daemon):
    """The interfaces are looked at once a second; programs come and go."""
    daemon.start()
    lab.ask()
    folder = f"/proc/{daemon.process.pid}/fd"
    before = len(os.listdir(folder))
    time.sleep(3.5)
    wait_for("what a look had opened is closed", lambda: len(os.listdir(folder)) <= before)
    for _ in range(3):
        daemon.ctl("detach", "s0")
        daemon.ctl("attach", "s0")
        daemon.ctl("cache", "resize", "24M")
        daemon.ctl("cache", "resize", "16M")
    wait_for("clients have gone", lambda: len(os.listdir(folder)) <= before)


@pytest.fixture
def other_abi(tmp_path):
    """The object, as if it were of ABI 11."""
    path = tmp_path / "other.bpf.o"
    data = OBJECT.read_bytes()
    assert data.count(b"volley_abi_10\0") >= 1
    path.write_bytes(data.replace(b"volley_abi_10\0", b"volley_abi_11\0"))
    return path


def test_another_abi_is_refused(lab, daemon, other_abi):
    by_ip_link(lab, other_abi)
    found = program(lab)
    status, said = daemon.configure().run_failing()
    assert status == 1
    assert re.search(r"s0: .*ABI 11.*ABI 10.*ip link set dev s0 xdp off", said), said
    assert program(lab) == found


def test_another_abi_at_run_time(lab, daemon, other_abi):
    where = second_interface(lab)
    daemon.start(server={"listen": [V4, where]})
    by_ip_link(lab, other_abi, dev="s1")
    refused = daemon.ctl("attach", "s1", check=False)
    assert refused.returncode == 1 and "ABI 11" in refused.stderr
    assert texts(lab.ask()) == WWW
    assert "ABI 11" in daemon.degraded()


def test_a_foreign_program(lab, daemon):
    """It stays; volleyd says so, and its sockets answer. When it goes, ours comes."""
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o",
             "sec", "xdp")
    found = program(lab)
    daemon.start()
    assert daemon.interface()["state"] == "degraded"
    assert re.search(rf"s0: .*another XDP program.*id {found['id']}.*kernel sockets answer",
                     daemon.degraded())
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"kernel_socket": 1}
    assert program(lab) == found
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "off")
    wait_for("volleyd has taken the place", lambda: not daemon.degraded())
    check_worker_then_driver(lab, daemon, name="mail.example.com")
