# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies that the kernel does not send: the loss is noticed and reported, and another way
answers."""
import pathlib

import pytest

from netlab import Answered, run, texts, wait_for
from test_plain_veth import fill_ring, give_program, lose_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
WWW, WILD = ["192.0.2.80", "192.0.2.81"], ["192.0.2.200"]


def xsk_ports(daemon):
    """{queue: port} of s0."""
    return {port["queue"]: port for port in daemon.json("port", "status")["ports"]
            if port.get("interface") == "s0"}


def stop_napi(lab):
    """
    From now on the client's end takes nothing that a program of the other end answers (XDP_TX), and
    counts that.
    """
    lose_program(lab)
    lab.exec("c", "ethtool", "-K", "c0", "gro", "off")


def misses_answered(lab, first, n):
    return sum(lab.is_answered(f"n{i}.wild.example.com", timeout=2)
               for i in range(first, first + n))


# --- Queues without a transmit queue --------------------------------------------------------------


def test_a_queue_without_a_transmit_queue(make_lab, make_daemon):
    """
    Its AF_XDP socket could send nothing, and the kernel would not say so: it gets none, and nothing
    is lost.
    """
    lab = make_lab(queues=2)
    daemon = make_daemon("fewer", lab)
    lab.exec("s", "ethtool", "-L", "s0", "tx", 1)
    daemon.start()
    assert list(xsk_ports(daemon)) == [0]
    with Answered(daemon) as many:
        assert misses_answered(lab, 0, 60) == 60
    assert many.by["worker"] > 0 and many.by["kernel_socket"] > 0
    seen = daemon.interface()
    assert seen["state"] == "up" and "the others receive and have no transmit queue" in seen["note"]
    lab.exec("s", "ethtool", "-L", "s0", "tx", 2)
    wait_for("the other socket", lambda: list(xsk_ports(daemon)) == [0, 1])


# --- Sockets that send nothing --------------------------------------------------------------------


@pytest.fixture
def untold(make_lab, make_daemon, tmp_path):
    """
    Two queues receive and one sends, which the kernel does not tell: (lab, daemon that is running).
    """
    lab = make_lab(queues=2)
    daemon = make_daemon("untold", lab)
    library = tmp_path / "untold.so"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/untold.c")
    lab.exec("s", "ethtool", "-L", "s0", "tx", 1)
    daemon.configure()
    daemon.spawn(env={"LD_PRELOAD": str(library)}).wait_ready()
    assert list(xsk_ports(daemon)) == [0, 1]
    return lab, daemon


def lose_one(lab):
    """Asks until a question comes to the queue that does not send."""
    numbers = iter(range(10000))
    wait_for("a question that is lost",
             lambda: not lab.is_answered(f"l{next(numbers)}.wild.example.com", timeout=0.5))


def test_a_socket_that_sends_nothing(untold):
    """Kernel sockets answer within seconds; when the link has changed, it is tried again."""
    lab, daemon = untold
    lose_one(lab)
    wait_for("the queue is given up", lambda: list(xsk_ports(daemon)) == [0], 8)
    said = "queue 1: the kernel does not send the replies of the AF_XDP socket"
    assert said in daemon.degraded() and "run volleyctl port queues s0 1" in daemon.degraded()
    with Answered(daemon) as many:
        assert misses_answered(lab, 100, 40) == 40
    assert many.by["worker"] > 0 and many.by["kernel_socket"] > 0
    assert daemon.log().count(said) == 1
    lab.exec("s", "ethtool", "-L", "s0", "tx", 2)
    for word in ("down", "up"):
        lab.ip("s", "link", "set", "s0", word)
    lab.put_v6_back()
    wait_for("its socket", lambda: list(xsk_ports(daemon)) == [0, 1])
    wait_for("no complaint", lambda: not daemon.degraded())
    wait_for("the link", lambda: lab.is_answered("link.wild.example.com"))
    assert misses_answered(lab, 200, 40) == 40
    assert list(xsk_ports(daemon)) == [0, 1]


def test_no_storm_of_calls(untold):
    """The kernel is told to send less and less often while it takes nothing."""
    lab, daemon = untold
    kicks = []

    def is_given_up():
        port = xsk_ports(daemon).get(1)
        kicks.append(port["tx_kicks"] if port and "tx_kicks" in port else 0)
        return not port

    lose_one(lab)
    wait_for("the queue is given up", is_given_up, 8)
    assert 0 < max(kicks) < 60, kicks


# --- Hits that do not leave -----------------------------------------------------------------------


@pytest.fixture
def hidden(lab, daemon, tmp_path):
    """
    Nobody may look at the client's end, so that the driver's counters alone tell: the daemon that
    is running.
    """
    library = tmp_path / "hidden.so"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/hidden.c", "-lmnl")
    daemon.configure()
    return daemon.spawn(env={"LD_PRELOAD": str(library)}).wait_ready()


def test_hits_that_do_not_leave(lab, hidden):
    """
    A veth drops what the program answers where its other end has no NAPI: workers answer then.
    """
    daemon = hidden
    lab.ask()
    assert texts(lab.ask()) == WWW
    stop_napi(lab)
    wait_for("the driver answers no more",
             lambda: lab.is_answered(timeout=0.05) and not daemon.interface()["driver_answers"], 20)
    assert "the driver drops what the XDP program answers" in daemon.degraded()
    assert daemon.interface()["driver_answers"] is False
    with Answered(daemon) as many:
        for _ in range(20):
            assert texts(lab.ask()) == WWW
    assert many.by == {"worker": 20}


def test_hits_that_fill_a_ring(lab, hidden):
    """With a NAPI that nothing wakes: workers' answers would be dropped, too (bpf/tiny_programs.h)."""
    lab.ask()
    lose_program(lab)
    fill_ring(lab)
    wait_for("the driver answers no more",
             lambda: lab.is_answered(timeout=0.05) and not hidden.interface()["driver_answers"], 20)
    assert texts(lab.ask()) == WWW


def test_hits_again_when_it_is_attached_anew(lab, hidden):
    daemon = hidden
    lab.ask()
    stop_napi(lab)
    wait_for("the complaint", lambda: lab.is_answered(timeout=0.05) and daemon.degraded(), 20)
    give_program(lab)
    daemon.ctl("detach", "s0")
    daemon.ctl("attach", "s0")
    assert not daemon.degraded() and daemon.interface()["driver_answers"]
    lab.ask()
    with Answered(daemon) as many:
        assert texts(lab.ask()) == WWW
    assert many.by == {"driver": 1}
