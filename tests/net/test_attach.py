# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The program is attached even if libxdp's dispatcher, the driver, the verifier or an older kernel
refuses it: the tests check the next attempt and the message. tests/net/preload/otherkernel.c
refuses.
"""
import errno
import os
import re
import time

import pytest

from netlab import BIN, ROOT, TOOLS, Answered, iface, program, run, texts, wait_for

WWW = ["192.0.2.80", "192.0.2.81"]
VERDICT = "invalid access to packet, off=2 size=2, R1(id=5,off=2,r=0)\nR1 offset is outside of the packet"
SAID = VERDICT.replace("\n", "; ")
CAPS = "CAP_BPF"


@pytest.fixture
def start(daemon, tmp_path):
    """start(interfaces=..., NO_PWAIT2=1, ...) with what otherkernel.c reads, in capitals."""
    library = tmp_path / "otherkernel.so"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/otherkernel.c", "-ldl")

    def start(*options, **words):
        env = {name: str(value) for name, value in words.items() if name.isupper()}
        sections = {name: value for name, value in words.items() if not name.isupper()}
        daemon.configure(**sections).spawn(*options, env={"LD_PRELOAD": str(library), **env})
        return daemon.wait_ready()
    return start


def check_worker_then_driver(lab, daemon, name="www.example.com"):
    with Answered(daemon) as two:
        for _ in range(2):
            assert lab.ask(name).answer
    assert two.by == {"worker": 1, "driver": 1}


@pytest.mark.parametrize("xdp", ["off", "native"])
def test_without_epoll_pwait2(lab, daemon, start, xdp):
    """Linux 5.10: volleyd gets ready, answers, and its workers sleep."""
    start(interfaces=[iface(xdp=xdp)], NO_PWAIT2=1)
    assert texts(lab.ask()) == WWW
    before = daemon.cpu_s()
    time.sleep(2)
    assert daemon.cpu_s() - before < 1  # two workers that spin: up to 4


@pytest.mark.parametrize("refusal",
                         ["EINVAL", "EPERM", "EACCES", "E2BIG", "ENOENT", "EBUSY", "EEXIST"])
def test_dispatcher_is_refused(lab, daemon, start, refusal):
    """For any reason: the program is attached natively without it."""
    start(interfaces=[iface(xdp="auto")], DISPATCHER_SAYS=getattr(errno, refusal))
    seen = daemon.interface()
    assert (seen["state"], seen["origin"], seen["xdp"]) == ("up", "loaded", "native")
    assert program(lab)["id"] == seen["program_id"]
    said = os.strerror(getattr(errno, refusal))
    assert f"s0: XDP program, native, by libxdp's dispatcher: {said}" in daemon.log()
    check_worker_then_driver(lab, daemon)
    assert daemon.stop() == 0
    assert program(lab) is None


@pytest.mark.parametrize("dispatcher", [0, errno.EINVAL])
def test_life_without_dispatcher(lab, daemon, start, dispatcher):
    """Detached, attached, resized, killed, adopted, removed by another program: for both ways of
    attaching."""
    def again(**words):
        return start(interfaces=[iface(xdp="auto")], DISPATCHER_SAYS=dispatcher, **words)
    again()
    lab.ask()
    daemon.ctl("detach", "s0")
    assert program(lab) is None
    daemon.ctl("attach", "s0")
    before = daemon.interface()["program_id"]  # a dispatcher, where there is one, has another
    daemon.ctl("cache", "resize", "24M")
    wait_for("another program", lambda: daemon.interface()["program_id"] != before)
    assert daemon.interface()["state"] == "up"
    check_worker_then_driver(lab, daemon, "mail.example.com")
    left = daemon.interface()["program_id"]
    daemon.kill()
    assert program(lab)
    again(cache={"size": "24M"})
    assert (daemon.interface()["origin"], daemon.interface()["program_id"]) == ("adopted", left)
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "off")
    wait_for("the program is back", lambda: program(lab))
    wait_for("the interface is up", lambda: daemon.interface()["state"] == "up")
    daemon.kill()  # what is adopted goes as well, by the way in which it was attached
    again(cache={"size": "24M"})
    assert daemon.interface()["origin"] == "adopted"
    assert daemon.stop() == 0
    assert program(lab) is None


@pytest.mark.parametrize("dispatcher", [0, errno.EINVAL])
def test_descriptors(lab, daemon, start, dispatcher):
    """The interface is looked at once a second, and none is left open."""
    start(DISPATCHER_SAYS=dispatcher)
    lab.ask()
    folder = f"/proc/{daemon.process.pid}/fd"
    before = len(os.listdir(folder))
    time.sleep(5)
    wait_for("what a look had opened is closed", lambda: len(os.listdir(folder)) <= before)


@pytest.mark.parametrize("dispatcher", [0, errno.EINVAL])
def test_driver_refuses_native(lab, daemon, start, dispatcher):
    start(interfaces=[iface(xdp="auto")], NATIVE_SAYS=errno.ENOMEM, DISPATCHER_SAYS=dispatcher)
    seen = daemon.interface()
    assert (seen["state"], seen["xdp"]) == ("up", "generic")
    assert seen["note"].startswith("no native XDP (Cannot allocate memory): generic")
    check_worker_then_driver(lab, daemon)
    assert daemon.stop() == 0
    assert program(lab) is None


@pytest.mark.parametrize("dispatcher", [0, errno.EINVAL])
def test_native_alone_is_wanted_and_refused(lab, daemon, start, dispatcher):
    start(NATIVE_SAYS=errno.ENOMEM, DISPATCHER_SAYS=dispatcher)
    assert (daemon.interface()["note"] ==
            "XDP program: Cannot allocate memory; kernel sockets answer")
    assert program(lab) is None
    assert texts(lab.ask()) == WWW


def test_driver_is_busy(lab, daemon, start):
    """With no program in the way there is none to wait for: it is not tried again every second."""
    start(NATIVE_SAYS=errno.EBUSY)
    assert (daemon.interface()["note"] ==
            "XDP program: Device or resource busy; kernel sockets answer")
    before = daemon.log().count("XDP program, native")
    time.sleep(2.5)  # two ticks
    assert daemon.log().count("XDP program, native") == before
    assert texts(lab.ask()) == WWW


def large_frames(lab):
    """
    An MTU with which a driver wants a program for frames in several buffers, which not every kernel
    knows.
    """
    lab.ip("c", "link", "set", "c0", "xdp", "off")
    for end in ("c", "s"):
        lab.ip(end, "link", "set", f"{end}0", "mtu", "9000")
    lab.ip("c", "link", "set", "dev", "c0", "xdpdrv", "obj", TOOLS.parent / "jumbo.bpf.o", "sec",
           "xdp.frags")


@pytest.mark.parametrize("dispatcher", [0, errno.EINVAL])
def test_large_frames_on_an_older_kernel(lab, daemon, start, dispatcher):
    """The kernel's own words say why it is generic; AF_XDP copies there, too."""
    large_frames(lab)
    start(interfaces=[iface(xdp="auto")], NO_FRAGS=1, DISPATCHER_SAYS=dispatcher)
    seen = daemon.interface()
    assert (seen["state"], seen["xdp"], seen["port"], seen["zero_copy"]) == \
        ("up", "generic", "xsk", False)
    assert re.search(r"no native XDP \(.*Peer MTU is too large to set XDP\): generic", seen["note"])
    check_worker_then_driver(lab, daemon)
    assert program(lab)["mode"] == "generic"


@pytest.mark.parametrize("dispatcher", [0, errno.EINVAL])
def test_large_frames_on_this_kernel(lab, daemon, start, dispatcher):
    large_frames(lab)
    start(interfaces=[iface(xdp="native")], DISPATCHER_SAYS=dispatcher)
    seen = daemon.interface()
    assert (seen["state"], seen["xdp"], seen["port"]) == ("up", "native", "xsk")


def test_native_is_wished_and_cannot_be(lab, daemon, start):
    large_frames(lab)
    start(NO_FRAGS=1)
    assert re.search(r"s0: .*MTU is too large.*kernel sockets answer", daemon.degraded())
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"kernel_socket": 1}


@pytest.mark.parametrize("dispatcher", [0, errno.EINVAL])
@pytest.mark.parametrize("xdp", ["auto", "native", "generic"])
def test_verifier_refuses(lab, daemon, start, xdp, dispatcher):
    """
    Kernel sockets answer; the reason is the verifier's, and has nothing to do with capabilities.
    """
    start("-v", interfaces=[iface(xdp=xdp)], VERIFIER_SAYS=VERDICT, DISPATCHER_SAYS=dispatcher)
    assert daemon.interface()["note"] == \
        f"XDP program: the kernel's verifier refuses the program: {SAID}; kernel sockets answer"
    assert "verifier: R1 offset is outside of the packet" in daemon.log()
    assert "verifier: processed 17 insns" in daemon.log()
    assert "PROG LOAD LOG" not in daemon.log()
    assert CAPS not in daemon.log() + daemon.degraded()
    assert program(lab) is None
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"kernel_socket": 1}
    refused = daemon.ctl("attach", "s0", check=False)
    assert refused.returncode == 1 and SAID in refused.stderr and CAPS not in refused.stderr


@pytest.mark.parametrize("helper, words", [
    (190, "bpf_xdp_store_bytes(): take Linux 5.18 or later"),
    (160, "bpf_ktime_get_coarse_ns(): take Linux 5.11 or later"),
    ("160,190", "bpf_xdp_store_bytes(): take Linux 5.18 or later"),  # of several the newest
])
def test_helper_that_the_kernel_lacks(lab, daemon, start, helper, words):
    start(NO_HELPER=helper)
    assert daemon.interface()["note"] == \
        f"XDP program: this kernel has no {words}; kernel sockets answer"
    assert texts(lab.ask()) == WWW


def test_foreign_program_without_dispatcher(lab, daemon, start):
    """The program that occupies the interface stays."""
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o",
             "sec", "xdp")
    found = program(lab)
    start(DISPATCHER_SAYS=errno.EINVAL)
    assert re.search(rf"another XDP program.*id {found['id']}.*kernel sockets answer",
                     daemon.degraded())
    assert program(lab) == found
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "off")
    wait_for("volleyd has taken the place", lambda: not daemon.degraded())
    check_worker_then_driver(lab, daemon)
