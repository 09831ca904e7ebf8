# SPDX-License-Identifier: GPL-2.0-only
"""In the machine: guest.py CARD. The lab of the network tests, with the card as s0 in place of a veth, and the steps
that a cell consists of. Prints a line for each step; ends with 1 if one failed.

A step that cannot be on this card says why (Absent); all others pass or fail.
"""
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/net"))

import netlab  # noqa: E402
from netlab import BIN, V4, V6, Answered, Daemon, Lab, iface, run, wait_for  # noqa: E402


class CardLab(Lab):
    """The card in NAME-s and the client in NAME-c."""

    def __init__(self):
        self.name = "card"
        for end, mac, host, peer, peer_mac in (("c", "02:00:00:00:00:01", 1, 53, "02:00:00:00:00:53"),
                                               ("s", "02:00:00:00:00:53", 53, 1, "02:00:00:00:00:01")):
            run("ip", "netns", "add", f"card-{end}")
            run("ip", "link", "set", self.find(mac), "netns", f"card-{end}", "name", f"{end}0")
            self.ip(end, "link", "set", "lo", "up")
            self.ip(end, "link", "set", f"{end}0", "mtu", "1500", "up")
            self.address(end, host, peer, peer_mac)
        self.exec("c", "ethtool", "-K", "c0", "tx", "off", "txvlan", "off", "rxvlan", "off", check=False)

    @staticmethod
    def find(mac):
        for path in pathlib.Path("/sys/class/net").iterdir():
            if (path / "address").read_text().strip() == mac:
                return path.name
        raise AssertionError(f"no interface has {mac}")

    def address(self, end, host, peer, peer_mac):
        self.ip(end, "address", "add", f"192.0.2.{host}/24", "dev", f"{end}0")
        self.ip(end, "address", "add", f"2001:db8::{host}/64", "dev", f"{end}0", "nodad")
        self.ip(end, "neighbour", "replace", f"192.0.2.{peer}", "lladdr", peer_mac, "dev", f"{end}0")
        self.ip(end, "neighbour", "replace", f"2001:db8::{peer}", "lladdr", peer_mac, "dev", f"{end}0")
