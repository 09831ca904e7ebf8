# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""One cell of the table kernels x cards: a machine with the card and a client, on which guest.py
runs.

    host     ts ── bridge ── tc        in a network namespace of its own
              │               │
    guest    card           virtio     guest.py moves both into namespaces, as s0 and c0
"""
import contextlib
import itertools
import os
import subprocess
from pathlib import Path

import machine

HERE = Path(__file__).resolve().parent
SECONDS = 420
LONG_SECONDS = 3600  # with the steps that are taken on request: all programs of tests/bpf/
MTU = 9000
CARD_MAC, CLIENT_MAC = "02:00:00:00:00:53", "02:00:00:00:00:01"
MODULES = ("virtio_net", "af_packet", "8021q", "xsk_diag", "veth", "cls_bpf", "sch_ingress")
CPUS = 2

_numbers = itertools.count()


class Card:
    """A network card of QEMU. `queues`: of its tap, for virtio-net; `options` of the device."""

    def __init__(self, device, module, queues=1, options=""):
        self.device, self.module, self.queues, self.options = device, module, queues, options

    def arguments(self, tap):
        queues = f",queues={self.queues}" if self.queues > 1 else ""
        return ["-netdev", f"tap,id=card,ifname={tap},script=no,downscript=no,vhost=off{queues}",
                "-device", f"{self.device},netdev=card,mac={CARD_MAC}{self.options}"]


def virtio(queues, options=""):
    many = f",mq=on,vectors={2 * queues + 2}" if queues > 1 else ""
    return Card("virtio-net-pci", "virtio_net", queues, f"{many},host_mtu={MTU}{options}")


# virtio_net begins with a queue for each CPU, and takes one more for each with XDP. card.py says
# how many are in use.
CARDS = {
    "virtio": virtio(2 * CPUS),
    "virtio-many": virtio(4 * CPUS),  # more than CPUs, and there are enough for XDP
    "virtio-all": virtio(2 * CPUS),   # all in use: none is left for XDP
    "virtio-one": virtio(1),
    "virtio-zc": virtio(2 * CPUS, ",iommu_platform=on,disable-legacy=on"),
    "igb": Card("igb", "igb"),
    "vmxnet3": Card("vmxnet3", "vmxnet3"),
    "e1000e": Card("e1000e", "e1000e"),
}


class Network(contextlib.AbstractContextManager):
    """The host's side: two taps on a bridge, in a namespace that nothing leaves."""

    def __init__(self, card):
        self.name = f"volley-vm{os.getpid()}-{next(_numbers)}"
        many = "multi_queue" if card.queues > 1 else ""
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        lines = ["link add name bridge0 type bridge", f"link set bridge0 mtu {MTU + 100}",
                 f"tuntap add ts mode tap vnet_hdr {many}", "tuntap add tc mode tap vnet_hdr"]
        for tap in ("ts", "tc"):
            lines += [f"link set {tap} mtu {MTU + 100} master bridge0 up"]
        lines += ["link set bridge0 up", "link set lo up"]
        no_ipv6 = ["nsenter", f"--net=/run/netns/{self.name}", "--", "sysctl", "-qw",
                   "net.ipv6.conf.default.disable_ipv6=1", "net.ipv6.conf.all.disable_ipv6=1"]
        subprocess.run(no_ipv6, check=True)
        subprocess.run(["ip", "-n", self.name, "-batch", "-"], input="\n".join(lines), text=True,
                       check=True)

    def __exit__(self, *_):
        subprocess.run(["ip", "netns", "delete", self.name], check=False)


def run(kernel, card_name, script=HERE / "guest.py"):
    """What the script printed in the guest; machine.Failed if it failed."""
    card, steps = CARDS[card_name], os.environ.get("STEPS", "")
    seconds = LONG_SECONDS if "driver_tests" in steps else SECONDS
    client = ["-netdev", "tap,id=client,ifname=tc,script=no,downscript=no,vhost=off",
              "-device", f"virtio-net-pci,netdev=client,mac={CLIENT_MAC},host_mtu={MTU}"]
    with Network(card) as network:
        return machine.boot_here(kernel,
                                 f"PYTHONDONTWRITEBYTECODE=1 STEPS=\"{steps}\" /usr/bin/python3 -u {script} "
                                 f"{card_name}", seconds,
                                 modules=[*MODULES, card.module],
                                 options=[*card.arguments("ts"), *client],
                                 memory_mb=2048, cpus=CPUS,
                                 before=("nsenter", f"--net=/run/netns/{network.name}", "--"))
