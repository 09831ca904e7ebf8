#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command in virtual machines with other kernels: inside.py [--kernels "6.1 newest"]
[--seconds N] COMMAND

The machine has this one's files, read-only below a layer of memory, and no network; the command
runs as root in the project's folder, by sh -c. What it prints is shown as it ends; the status is 1
if it fails anywhere.

    inside.py --kernels 6.1 "QUERIES=1000000 build/release/tests/bpf/test_truth"
    inside.py --kernels "6.1 newest" scripts/demo.sh
"""
import argparse
import sys

import fetch
import machine

MODULES = ("veth", "af_packet", "8021q", "bridge", "dummy", "xsk_diag", "cls_bpf", "sch_ingress")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default="6.1 newest", help=f"of {', '.join(fetch.SERIES)}")
    parser.add_argument("--seconds", type=int, default=600, help="at most, in each")
    parser.add_argument("command")
    args = parser.parse_args()
    kernels = args.kernels.split()
    fetch.fetch_or_exit(kernels, "inside")
    failed = False
    for kernel in kernels:
        print(f"Linux {fetch.release_of(kernel)}", flush=True)
        try:
            print(machine.boot_here(kernel, args.command, args.seconds, MODULES, memory_mb=3072,
                                    cpus=2), end="", flush=True)
        except machine.Failed as err:
            failed = True
            print(f"inside: FAILED: {err}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
