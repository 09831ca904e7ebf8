# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The ports by which a query may come in, for tests that must hold on each of them."""
import pytest

from netlab import BIN, iface, run


class Port:
    """One way into a worker."""

    def __init__(self, name, kind, **keys):
        self.name = name      # of the test
        self.kind = kind      # as `stats` calls the answers: worker or kernel_socket
        self.keys = keys      # of the interface

    def start(self, daemon, driver_answers=True, **sections):
        """A daemon with this port alone, and none below it on the ladder."""
        daemon.start(interfaces=[iface(**self.keys, **{"driver-answers": driver_answers})],
                     **sections)
        found = daemon.interface()
        assert found["state"] == "up" and found["port"] == self.keys["port"], found
        assert found["xdp"] == self.keys["xdp"], found


PORTS = [
    Port("xsk-native", "worker", xdp="native", port="xsk"),
    Port("xsk-generic", "worker", xdp="generic", port="xsk"),
    Port("socket", "kernel_socket", xdp="native", port="socket"),
]
if "librte_eal" in run("ldd", BIN / "volleyd").stdout:  # it can be built without
    PORTS.append(Port("dpdk", "worker", xdp="native", port="dpdk"))

each_port = pytest.mark.parametrize("port", PORTS, ids=lambda port: port.name)
