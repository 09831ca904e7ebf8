# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What the steps of a cell stand on: the lab of the network tests with a card as s0, in place of a
veth, and who answers.
"""
import pathlib
import platform
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "net"))

from netlab import Answered, Daemon, Lab, iface, run, texts, wait_for  # noqa: E402

WWW = ["192.0.2.80", "192.0.2.81"]
CLIENT_MAC, SERVER_MAC = "02:00:00:00:00:01", "02:00:00:00:00:53"
# An arm64 guest executes 500 million instructions in a second of its clock (machine.py).
SLOWER = 1 if platform.machine() == "x86_64" else 6
SECONDS = 30 * SLOWER  # until a machine by emulation has noticed
TIMEOUT = 5 * SLOWER
# in use, where that is not what the driver begins with
QUEUES = {"virtio-many": 6, "virtio-all": 4}
ENDS = (("c", CLIENT_MAC, 1, 53, SERVER_MAC), ("s", SERVER_MAC, 53, 1, CLIENT_MAC))


class Absent(Exception):
    """Not to be had here, for the reason that it says."""


class CardLab(Lab):
    """The card in card-s and the client in card-c."""

    def __init__(self, card=""):
        self.name = "card"
        self.card = card
        for end, mac, host, peer, peer_mac in ENDS:
            run("ip", "netns", "add", f"card-{end}")
            run("ip", "link", "set", self.find(mac), "netns", f"card-{end}", "name", f"{end}0")
            self.ip(end, "link", "set", "lo", "up")
            self.ip(end, "link", "set", f"{end}0", "mtu", "1500", "up")
            self.address(end, host, peer, peer_mac)
        self.exec("c", "ethtool", "-K", "c0", "tx", "off", "txvlan", "off", "rxvlan", "off",
                  check=False)
        if card in QUEUES:
            self.exec("s", "ethtool", "-L", "s0", "combined", QUEUES[card])

    @staticmethod
    def find(mac):
        for path in pathlib.Path("/sys/class/net").iterdir():
            if (path / "address").read_text().strip() == mac:
                return path.name
        raise AssertionError(f"no interface has {mac}")

    def address(self, end, host, peer, peer_mac):
        self.ip(end, "address", "add", f"192.0.2.{host}/24", "dev", f"{end}0")
        self.ip(end, "address", "add", f"2001:db8::{host}/64", "dev", f"{end}0", "nodad")
        self.ip(end, "neighbour", "replace", f"192.0.2.{peer}", "lladdr", peer_mac, "dev",
                f"{end}0")
        self.ip(end, "neighbour", "replace", f"2001:db8::{peer}", "lladdr", peer_mac, "dev",
                f"{end}0")


class CardDaemon(Daemon):
    """A daemon that may take its time."""

    def wait_ready(self, seconds=SECONDS):
        return super().wait_ready(seconds)


def start(daemon, **keys):
    return daemon.start(interfaces=[iface(xdp="auto", **keys)], server={"workers": 2})


_names = iter(range(10000))


def fresh():
    """A name that nobody has asked for: its first answer is a worker's."""
    return f"n{next(_names)}.wild.example.com"


def answers(lab, name="www.example.com", timeout=TIMEOUT):
    """Whether the answer is right; False: none came."""
    try:
        found = texts(lab.ask(name, timeout=timeout))
    except TimeoutError:
        return False
    assert found == (WWW if name == "www.example.com" else ["192.0.2.200"]), found
    return True


def who_answers(lab, daemon, name="www.example.com"):
    """{"driver": 1} and the like; {}: nobody in time."""
    with Answered(daemon) as one:
        answers(lab, name, timeout=1)
    return one.by


def by_driver(answered):
    """
    (driver, others) of an Answered: what the driver does not answer is a worker's, or on a queue
    that has no AF_XDP socket a kernel socket's (virtio_net receives on XDP's own queues, too).
    """
    driver = answered.by.get("driver", 0)
    return driver, sum(answered.by.values()) - driver


def who_answers_wire(lab, daemon, wire):
    """The same of a query in octets, to which any answer will do."""
    with Answered(daemon) as one:
        lab.udp_wire(wire)
    return one.by


def both_answer(lab, daemon):
    """By and by: the driver what it knows, a worker by AF_XDP what it does not."""
    wait_for("the driver answers", lambda: who_answers(lab, daemon) == {"driver": 1}, SECONDS)
    wait_for("a worker answers", lambda: who_answers(lab, daemon, fresh()) == {"worker": 1},
             SECONDS)
