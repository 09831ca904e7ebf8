# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The DPDK port: net_af_xdp with our program before it, and a NIC that DPDK owns, with a tap beside
it.

The NIC is net_af_xdp, too, with a program that hands everything to its sockets (nic.bpf.c), so the
kernel sees no packets, as with a card that is bound to vfio-pci.
"""
import collections
import contextlib
import pathlib

import dns.edns
import dns.message
import dns.rcode
import pytest

import test_tunnels
from netlab import (BIN, CLIENT4, TOOLS, V4, V6, Answered, driver_counters, iface, map_ids, program,
                    query_frame, receive_frame, run, status_of, texts, wait_for)

pytestmark = pytest.mark.alone

WWW = ["192.0.2.80", "192.0.2.81"]
FOLDER = pathlib.Path("/var/run/dpdk")


IS_BUILT = "librte_eal" in run("ldd", BIN / "volleyd").stdout


def built(test):
    """A test of this volleyd if it has DPDK, and none else."""
    return test if IS_BUILT else None


def not_built(test):
    return None if IS_BUILT else test


def books(daemon):
    """
    The counters of the DPDK ports, summed; every message is in one place, once it is counted there.
    """
    def balanced():
        ports = [one for one in daemon.json("port", "status")["ports"] if one["kind"] == "dpdk"]
        sums = collections.Counter()  # what is 0 is not told
        for port in ports:
            sums.update({key: value for key, value in port.items() if isinstance(value, int)})
        return [sums] if sums["rx"] == sums["malformed"] + sums["truncated_in"] + sums[
            "no_reply"] + \
            sums["tx"] + sums["tx_dropped"] + sums["deferred"] - sums["late"] + sums[
                "to_kernel"] + \
            sums["to_kernel_lost"] else None
    return wait_for("all that was received is somewhere", balanced)[0]


def folders_of(pid):
    return list(FOLDER.glob(f"volley-{pid}*")) if FOLDER.exists() else []


def check_miss_then_hit(lab, daemon, where=V4, name="www.example.com"):
    with Answered(daemon) as two:
        for _ in range(2):
            assert lab.ask(name, where=where).answer
    assert two.by == {"worker": 1, "driver": 1}


# --- net_af_xdp, our program before it ------------------------------------------------------------


@built
def test_misses_by_dpdk_and_hits_by_the_driver(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    seen = daemon.interface()
    assert (seen["port"], seen["state"], seen["queues"]) == ("dpdk", "up", 1), seen
    check_miss_then_hit(lab, daemon)
    check_miss_then_hit(lab, daemon, V6, "mail.example.com")
    assert books(daemon)["tx"] == 2


@built
def test_a_driver_that_tells_no_channels(make_lab, make_daemon):
    """veth: DPDK reads the first queue, and kernel sockets answer what comes by the others."""
    lab = make_lab(queues=2)
    daemon = make_daemon(where=lab)
    daemon.start(interfaces=[iface(port="dpdk")])
    assert daemon.interface()["queues"] == 1
    with Answered(daemon) as all_of_them:
        for i in range(64):
            lab.ask(f"n{i}.example.com")
    assert set(all_of_them.by) == {"worker", "kernel_socket"} and sum(all_of_them.by.values()) == 64


@built
def test_it_says_that_it_is_privileged(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    assert "privileged: with port: dpdk the process that reads packets keeps" in daemon.degraded()
    assert int(status_of(daemon.process.pid)["CapEff"], 16) & 1 << 12, "CAP_NET_ADMIN"


@built
def test_all_else_is_the_kernels(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    for where in (V4, V6):
        lab.forget(where)
        lab.ping(where)
        assert texts(lab.tcp(dns.message.make_query("www.example.com", "A"), where=where)) == WWW
    assert books(daemon)["rx"] == 0


@built
def test_tags_come_back(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    query = dns.message.make_query("www.example.com", "A")
    with lab.frames() as sock, Answered(daemon) as one:
        sock.send(query_frame(query, tags=[(0x88a8, 7), (0x8100, 9)]))
        frame = receive_frame(sock)
    assert frame[12:20] == bytes.fromhex("88a8000781000009") and one.by == {"worker": 1}


@built
def test_tunnels_are_taken_off(lab, daemon):
    test_tunnels.start(daemon, port="dpdk")
    query = dns.message.make_query("www.example.com", "A")
    with lab.frames() as sock:
        for kind in test_tunnels.KINDS:
            daemon.ctl("cache", "flush", "--all")
            with Answered(daemon) as two:
                by_worker = test_tunnels.reply_to(sock, query, V6, kind, V4)
                by_driver = test_tunnels.reply_to(sock, query, V6, kind, V4)
            assert by_worker == by_driver and two.by == {"worker": 1, "driver": 1}
    books(daemon)


@built
def test_replies_that_come_late(lab, daemon):
    """There is no server upstream, so they are SERVFAIL."""
    daemon.start(interfaces=[iface(port="dpdk")],
                 recursion={"allow": ["192.0.2.0/24"], "forward": [CLIENT4],
                            "query-timeout": "300ms"})
    for i in range(3):
        assert lab.ask(f"n{i}.elsewhere.example").rcode() == dns.rcode.SERVFAIL
    assert books(daemon)["late"] == 3


@built
def test_stop_leaves_nothing(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    pid = daemon.process.pid
    lab.ask()
    assert not folders_of(pid)
    assert daemon.stop() == 0
    assert program(lab) is None and not folders_of(pid)


@built
def test_stop_keep_goes_on_answering(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    lab.ask()
    assert daemon.stop("--keep") == 0
    before = driver_counters(program(lab)["id"])
    assert texts(lab.ask()) == WWW
    assert driver_counters(program(lab)["id"])["hit"] - before["hit"] == 1


@built
def test_killed_and_started_again_with_its_answers(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    lab.ask()
    store = map_ids(program(lab)["id"])["volley_store"]
    pid = daemon.process.pid
    daemon.kill()
    assert texts(lab.ask()) == WWW  # by the driver alone
    daemon.start()
    assert daemon.status()["cache"]["adopted"]
    assert map_ids(program(lab)["id"])["volley_store"] == store
    assert daemon.interface()["port"] == "dpdk"
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}
    check_miss_then_hit(lab, daemon, name="mail.example.com")
    assert not folders_of(pid)


@built
def test_detach_and_attach(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    daemon.ctl("detach", "s0")
    assert program(lab) is None
    with Answered(daemon) as one:
        lab.ask()
    assert one.by == {"kernel_socket": 1}
    daemon.ctl("attach", "s0")
    assert daemon.interface()["port"] == "dpdk"
    check_miss_then_hit(lab, daemon, name="mail.example.com")


@built
def test_interface_gone(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    lab.ask()
    lab.ip("s", "link", "del", "s0")
    wait_for("it is seen", lambda: daemon.interface()["state"] == "gone")
    assert daemon.stop() == 0


@built
def test_another_cache_size(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    lab.ask()
    daemon.ctl("cache", "resize", "24M")
    with Answered(daemon) as one:
        lab.ask()
    assert one.by == {"driver": 1}
    check_miss_then_hit(lab, daemon, name="mail.example.com")


# --- A device of DPDK's own -----------------------------------------------------------------------


@contextlib.contextmanager
def owned(lab, daemon, **sections):
    """s0 belongs to DPDK; the kernel has n0 in its place, with the addresses."""
    for address in (f"{V4}/24", f"{V6}/64"):
        lab.ip("s", "address", "del", address, "dev", "s0")
    lab.ip("s", "tuntap", "add", "dev", "n0", "mode", "tap", "multi_queue")
    lab.exec("s", "sysctl", "-q", "net.ipv6.conf.n0.accept_dad=0")
    lab.ip("s", "link", "set", "n0", "up")
    for address in (f"{V4}/24", f"{V6}/64"):
        lab.ip("s", "address", "add", address, "dev", "n0")
    lab.exec("s", "ethtool", "-K", "s0", "rx", "off", check=False)
    device = f"net_af_xdp_own,iface=s0,xdp_prog={TOOLS.parent / 'nic.bpf.o'}"
    yield daemon.start(interfaces=[{"name": "n0", "port": "dpdk", "device": device}], **sections)


@built
def test_own_device_answers_by_the_worker(lab, daemon):
    with owned(lab, daemon):
        seen = daemon.interface("n0")
        assert (seen["port"], seen["state"], seen["xdp"]) == ("dpdk", "up", "off"), seen
        for where in (V4, V6):
            with Answered(daemon) as two:
                for _ in range(2):
                    assert texts(lab.ask(where=where)) == WWW
            assert two.by == {"worker": 2}
        assert books(daemon)["tx"] == 4


@built
def test_own_device_leaves_the_rest_to_the_kernel(lab, daemon):
    with owned(lab, daemon):
        for where in (V4, V6):
            lab.forget(where)  # ARP and ND go by the tap, too
            lab.ping(where)
            assert (texts(lab.tcp(dns.message.make_query("www.example.com", "A"), where=where)) ==
                    WWW)
        wait_for("the last ones are counted", lambda: books(daemon)["from_kernel"] >= 10)
        sums = books(daemon)
        assert sums["tx"] == 0 and sums["to_kernel"] >= 10
        assert not sums["malformed"]


def padded(octets):
    query = dns.message.make_query("www.example.com", "A", use_edns=0, payload=1232)
    empty = len(query.to_wire()) + 4
    query.use_edns(0, payload=1232,
                   options=[dns.edns.GenericOption(dns.edns.OptionType.PADDING,
                                                   bytes(octets - empty))])
    return query.to_wire(max_size=65535)


@built
def test_own_device_and_queries_of_any_length(lab, daemon):
    """In one frame they are the worker's, in fragments the kernel's, which gets them by the tap."""
    with owned(lab, daemon):
        for octets, who in ((1400, "worker"), (5000, "kernel_socket"), (65000, "kernel_socket")):
            for where in (V4, V6):
                with Answered(daemon) as one:
                    answer = dns.message.from_wire(lab.udp_wire(padded(octets), where))
                assert texts(answer) == WWW and one.by == {who: 1}, (octets, where)


@built
def test_own_device_goes_with_its_daemon(lab, daemon):
    with owned(lab, daemon):
        assert texts(lab.ask()) == WWW
        assert daemon.stop() == 0
        assert program(lab) is None
        daemon.start()
        assert texts(lab.ask()) == WWW


# --- Where it cannot be ---------------------------------------------------------------------------


@built
def test_a_device_that_is_not_there(lab, daemon):
    daemon.start(interfaces=[{"name": "n0", "port": "dpdk", "device": "net_nonsense0"}])
    assert "net_nonsense0" in daemon.degraded()
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"kernel_socket": 1}


@built
def test_a_fault_of_dpdk_leaves_the_program(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk", device="net_af_xdp0,iface=s0,nonsense=1")])
    assert "kernel sockets answer" in daemon.degraded()
    with Answered(daemon) as two:
        lab.ask()
        lab.ask()
    assert two.by == {"kernel_socket": 1, "driver": 1}


@not_built
def test_built_without(lab, daemon):
    daemon.start(interfaces=[iface(port="dpdk")])
    assert "this volleyd was built without DPDK; kernel sockets answer" in daemon.degraded()
    assert texts(lab.ask()) == WWW
