# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A veth pair like that of a container: its other end has no XDP program, which native answers
need."""
import os
import re
import signal
import subprocess
import sys
import time

import dns.message
import pytest

from netlab import BIN, ROOT, V4, Answered, iface, program, run, texts, wait_for

sys.path.insert(0, str(ROOT / "tests" / "perf"))
from rig import napi_threads  # noqa: E402

WWW = ["192.0.2.80", "192.0.2.81"]
NAMES = ("www.example.com A", "www.example.com AAAA", "example.com MX", "mail.example.com A",
         "www.example.net A")
BARE = "the other end of the veth pair has no XDP program"
LOST = "the other end of the veth pair has lost its XDP program"


def make_plain(lab):
    """Removes the lab's settings that a new pair does not have."""
    lose_program(lab)
    for end in "cs":
        lab.exec(end, "ethtool", "-K", end + "0", "gro", "off", "tx", "on")


def lose_program(lab):
    lab.exec("c", "ip", "link", "set", "dev", "c0", "xdpdrv", "off")


def give_program(lab):
    lab.exec("c", "ip", "link", "set", "dev", "c0", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o", "sec",
             "xdp")


def dnsperf(lab, folder, *words):
    data = folder / "names"
    data.write_text("".join(f"{name}\n" for name in NAMES), encoding="ascii")
    return lab.popen("c", "dnsperf", "-s", V4, "-d", data, *words, stdout=subprocess.PIPE,
                     stderr=subprocess.STDOUT, text=True)


def ended(process):
    """(queries that were sent, those without an answer)"""
    out = process.communicate(timeout=60)[0]
    return tuple(int(re.search(rf"Queries {word}:\s+(\d+)", out)[1]) for word in ("sent", "lost"))


def counted(lab, name):
    """The sum of a statistic of s0 over its queues."""
    out = lab.exec("s", "ethtool", "-S", "s0").stdout
    return sum(int(n) for n in re.findall(rf"_{name}: (\d+)", out))


def fill_ring(lab):
    """
    Asks for the answer that the driver has until the ring in which its answers wait for the other
    end (256 frames) is full.
    """
    query = dns.message.make_query("www.example.com", "A").to_wire()
    dropped = counted(lab, "xdp_tx_errors")

    def is_full():
        with lab.socket("c") as sock:
            for _ in range(50):
                sock.sendto(query, (V4, 53))
        return counted(lab, "xdp_tx_errors") > dropped
    wait_for("the ring is full", is_full)


def auto(**keys):
    return [iface(xdp="auto", **keys)]


def test_all_is_answered_with_the_defaults(lab, daemon, tmp_path):
    """10,000 queries, none lost, by the driver: in generic mode, and that is as it should be."""
    make_plain(lab)
    daemon.start(interfaces=[{"name": "s0"}])
    seen = daemon.interface()
    assert (seen["xdp"], seen["state"]) == ("generic", "up") and BARE in seen["note"]
    with Answered(daemon) as many:
        sent, lost = ended(dnsperf(lab, tmp_path, "-n", 10000 // len(NAMES), "-q", 20))
    assert (sent, lost) == (10000, 0)
    assert many.by["driver"] > 9900
    assert not daemon.degraded()


def test_native_that_would_lose_its_answers(lab, daemon, tmp_path):
    """`xdp: native` stays native: workers answer from the first query on, and status says why."""
    make_plain(lab)
    daemon.start()
    seen = daemon.interface()
    assert (seen["xdp"], seen["state"], seen["driver_answers"]) == ("native", "degraded", False)
    assert BARE in daemon.degraded() and "xdp: auto" in daemon.degraded()
    sent, lost = ended(dnsperf(lab, tmp_path, "-n", 100, "-q", 20))
    assert (sent, lost) == (100 * len(NAMES), 0)
    give_program(lab)
    wait_for("the driver answers",
             lambda: daemon.interface()["driver_answers"] and not daemon.degraded())
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}


@pytest.mark.parametrize("gro", ["on", "off"])
def test_a_program_of_somebody_else_that_runs_natively(lab, daemon, gro):
    """A program that ip-link loaded stays: it answers nothing while its answers would not be
    sent."""
    lose_program(lab)
    lab.exec("c", "ethtool", "-K", "c0", "gro", gro)
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "volley.bpf.o", "sec",
             "xdp")
    found = program(lab)
    daemon.start(interfaces=auto())
    assert program(lab) == found
    assert BARE in daemon.degraded() and "ip link set dev s0 xdp off" in daemon.degraded()
    with Answered(daemon) as many:
        for _ in range(20):
            assert texts(lab.ask()) == WWW
    assert many.by == {"worker": 20}


def test_the_other_end_cannot_be_seen(lab, daemon, tmp_path):
    """So volleyd cannot know whether it has a program: generic mode always works, native mode is
    the operator's choice."""
    library = tmp_path / "hidden.so"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/hidden.c", "-lmnl")
    daemon.configure(interfaces=auto()).spawn(env={"LD_PRELOAD": str(library)}).wait_ready()
    seen = daemon.interface()
    assert (seen["xdp"], seen["state"]) == ("generic", "up")
    assert "cannot be seen from here" in seen["note"] and "xdp: native for s0" in seen["note"]
    assert lab.ask().answer and texts(lab.ask()) == WWW


@pytest.mark.parametrize("mode", ["auto", "native"])
@pytest.mark.parametrize("cpu", sorted(os.sched_getaffinity(0))[:2])
def test_its_ring_is_full_when_that_is_seen(make_lab, make_daemon, mode, cpu):
    """
    What waited there leaves, and all after it: from then on the kernel would drop every frame for
    the other end, those of kernel sockets, too. Each CPU that sends has its ring.
    """
    lab = make_lab(queues=2)
    for thread in napi_threads(lab, "s"):
        os.sched_setaffinity(thread, {cpu})
    daemon = make_daemon(where=lab).start(interfaces=[iface(xdp=mode)])
    for _ in range(2):
        lab.ask()
    daemon.signal(signal.SIGSTOP)
    lose_program(lab)
    fill_ring(lab)
    daemon.signal(signal.SIGCONT)
    wait_for("it is seen", lambda: (LOST if mode == "auto" else BARE) in daemon.degraded())
    wait_for("the ring is empty", lab.is_answered)  # until its thread has run, it drops answers
    for name in ("www.example.com", "mail.example.com"):
        assert lab.ask(name).answer
    lab.ping(V4)
    assert lab.tcp(dns.message.make_query("www.example.com", "A")).answer


def test_its_ring_is_full_when_volleyd_begins(lab, daemon):
    """The program has answered without a volleyd."""
    daemon.start(interfaces=auto())
    for _ in range(2):
        lab.ask()
    daemon.kill()
    lose_program(lab)
    fill_ring(lab)
    assert not lab.is_answered()
    daemon.start()
    wait_for("the ring is empty", lab.is_answered)
    assert texts(lab.ask()) == WWW
    lab.ping(V4)


@pytest.mark.alone
@pytest.mark.parametrize("mode", ["auto", "native"])
@pytest.mark.parametrize("gro", ["on", "off"])
def test_the_other_end_loses_its_program(lab, daemon, tmp_path, mode, gro):
    """
    Under 3,000 queries a second: queries are lost until the daemon has seen it, and none
    afterwards. Native again when the program is back.
    """
    lab.exec("c", "ethtool", "-K", "c0", "gro", gro)
    daemon.start(interfaces=[iface(xdp=mode)])
    for _ in range(2):
        assert ended(dnsperf(lab, tmp_path, "-n", 20))[1] == 0
    assert daemon.interface()["xdp"] == "native" and not daemon.degraded()
    load = dnsperf(lab, tmp_path, "-Q", 3000, "-l", 6, "-t", 2, "-q", 20000)
    time.sleep(1)
    lose_program(lab)
    start = time.monotonic()
    wait_for("it is seen", lambda: (LOST if mode == "auto" else BARE) in daemon.degraded())
    if mode == "auto":
        wait_for("generic mode", lambda: daemon.interface()["xdp"] == "generic")
    until_seen_s = time.monotonic() - start
    sent, lost = ended(load)
    assert sent > 10000 and lost < 3000 * (until_seen_s + 1), (sent, lost, until_seen_s)
    assert "s0" in daemon.degraded()
    with Answered(daemon) as many:
        sent, lost = ended(dnsperf(lab, tmp_path, "-Q", 3000, "-l", 1))
    assert sent > 2000 and lost == 0
    assert set(many.by) == {"driver" if mode == "auto" else "worker"}
    assert daemon.log().count(LOST if mode == "auto" else BARE) == 1
    give_program(lab)
    wait_for("native, and as it was",
             lambda: daemon.interface()["xdp"] == "native" and not daemon.degraded(), 30)
    lab.ask()
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}
