#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks the verifiers of several kernels: verify.py [--max N] [--kernels "6.1 newest"] PROGRAM
OBJECT...

PROGRAM is tests/bpf/verify.c, built. Each kernel runs it in a virtual machine of its own, on the
same object files; two machines run at once. Prints what each says; ends with 1 if an object is
refused anywhere.
"""
import argparse
import concurrent.futures
import os
import sys
from pathlib import Path

import fetch
import machine

SECONDS = 150
TRIES = 2  # a boot by emulation hangs now and then


def verify(kernel, program, objects, limit):
    """The text of one kernel."""
    with machine.Initramfs() as initramfs:
        initramfs.add_program("/verify", program)
        for path in objects:
            initramfs.add(f"/{path.name}", path)
        commands = f"/verify --max {limit} " + " ".join(f"/{path.name}" for path in objects)
        archive = initramfs.write(commands)
        for attempt in range(TRIES):
            try:
                return machine.boot(kernel, archive, SECONDS)
            except machine.Failed as err:
                if machine.BEGIN in str(err) or attempt + 1 == TRIES:
                    raise
    raise AssertionError("not reached: the last try returns or raises")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max", default="100000", help="instructions that may be verified")
    parser.add_argument("--kernels", default="6.1 6.12 newest",
                        help=f"of {', '.join(fetch.SERIES)}")
    parser.add_argument("program", type=Path)
    parser.add_argument("objects", type=Path, nargs="+")
    args = parser.parse_args()
    kernels = args.kernels.split()
    fetch.fetch_or_exit(kernels, "verify")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        runs = [pool.submit(verify, kernel, args.program, args.objects, args.max)
                for kernel in kernels]
        for kernel, done in zip(kernels, runs):
            print(f"Linux {fetch.release_of(kernel)}", flush=True)
            try:
                print(done.result(), end="", flush=True)
            except machine.Failed as err:
                failed += 1
                print(f"verify: FAILED: {err}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
