#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of kernels x cards: cells.py [--kernels "6.1 newest"] [--cards "igb virtio"]
[--markdown FILE]

Each cell is a virtual machine with that kernel and that card, in which guest.py takes its steps.
Two run at once. Prints each step, and at the end a line for each cell; ends with 1 if a step failed
anywhere.
"""
import argparse
import concurrent.futures
import datetime
import os
import re
import sys
import time

import cell
import fetch
import machine

KERNELS = "6.1 6.12 newest"
CARDS = "virtio virtio-many virtio-all igb vmxnet3 e1000e"


class Result:
    """
    Of a cell: {step: (PASS, FAIL or NONE, words)}, all that was printed, and how long it took.
    """

    def __init__(self, kernel, card):
        self.kernel, self.card = kernel, card
        began = time.monotonic()
        self.ended_well, self.text = self.run()
        self.seconds = time.monotonic() - began
        self.steps = {name: (result, words) for result, name, words in
                      re.findall(r"^(PASS|FAIL|NONE) (\w+): (.*?)(?: \[[\d.]+ s\])?$", self.text,
                                 re.MULTILINE)}

    def run(self):
        """
        A boot by emulation hangs now and then: the one that did not come to its steps is tried
        again.
        """
        for _ in range(2):
            try:
                return True, cell.run(self.kernel, self.card)
            except machine.Failed as err:
                text = str(err)
                if machine.BEGIN in text:
                    break
        return False, text

    def count(self, result):
        return sum(one == result for one, _ in self.steps.values())

    def line(self):
        seen = self.steps.get("attach", ("FAIL", "did not come so far"))[1]
        return f"{fetch.release_of(self.kernel):24} {self.card:12} {seen:32} {self.count('PASS'):2} passed, " \
            f"{self.count('FAIL'):2} failed, {self.count('NONE'):2} not to be had, {self.seconds:4.0f} s"


def words_of(result, step):
    state, words = result.steps.get(step, ("FAIL", "not reached"))
    return (words if state == "PASS" else f"none: {words}" if state == "NONE"
            else f"**fails**: {words}")


def markdown(results):
    """
    For docs/kernels.md: a table for each kernel, with a row for each step and a column for each
    card.
    """
    lines = []
    for kernel in dict.fromkeys(result.kernel for result in results):
        cells = [result for result in results if result.kernel == kernel]
        names = list(dict.fromkeys(name for result in cells for name in result.steps))
        lines += [f"### Linux {fetch.release_of(kernel)}, {datetime.date.today()}", "",
                  "| step | " + " | ".join(result.card for result in cells) + " |",
                  "| --- |" + " --- |" * len(cells)]
        for name in names:
            said = " | ".join(words_of(result, name) for result in cells)
            lines.append(f"| {name.replace('_', ' ')} | {said} |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default=KERNELS, help=f"of {', '.join(fetch.SERIES)}")
    parser.add_argument("--cards", default=CARDS, help=f"of {', '.join(cell.CARDS)}")
    parser.add_argument("--cells", help='in their place: "6.1:igb newest:virtio"')
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1),
                        help="machines at once")
    parser.add_argument("--markdown", help="also write the table to this file")
    args = parser.parse_args()
    cells = [one.split(":") for one in args.cells.split()] if args.cells else \
        [(kernel, card) for kernel in args.kernels.split() for card in args.cards.split()]
    fetch.fetch_or_exit(dict.fromkeys(kernel for kernel, _ in cells), "cells")
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for result in pool.map(lambda one: Result(*one), cells):
            print(f"--- {result.line()}\n{result.text}", flush=True)
            results.append(result)
    print("\n".join(result.line() for result in results))
    passed = sum(result.count("PASS") for result in results)
    failed = sum(max(result.count("FAIL"), not result.ended_well) for result in results)
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as file:
            file.write(markdown(results))
    print(f"test-vm: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
