#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""lint-lengths.py FILE...: checks that files have under 800 lines, function bodies at most 50, and
lines of comments at most 100 columns (clang-format breaks the lines of code).

A longer function says why, in a comment directly above it that begins with /* long: reason.
Relies on the format that `make lint` enforces: a function's braces stand in the first column.
"""
import re
import sys

FILE_MAX = 799
FUNCTION_MAX = 50
COLUMNS_MAX = 100
COMMENT = re.compile(r"\s*(/\*|\*[ \t])")
NAME = re.compile(r"(\w+)\(")


def head_of(lines: list[str], brace: int) -> list[str]:
    """The lines without a gap above the brace: the signature and the comment on it."""
    top = brace
    while top > 0 and lines[top - 1].strip() and not lines[top - 1].startswith("}"):
        top -= 1
    return lines[top:brace]


def functions(lines: list[str]):
    """Yields (index of the opening brace, length of the body) for each function."""
    start = None
    for i, line in enumerate(lines):
        if line == "{":
            start = i
        elif line.startswith("}") and start is not None:
            yield start, i - start - 1
            start = None


def check(name: str) -> int:
    with open(name, encoding="utf-8") as f:
        lines = f.read().split("\n")
    faults = 0
    if len(lines) - 1 > FILE_MAX:
        print(f"{name}: {len(lines) - 1} lines, {FILE_MAX} are allowed: split it")
        faults += 1
    for number, line in enumerate(lines, 1):
        columns = len(line.expandtabs(8))
        if columns > COLUMNS_MAX and COMMENT.match(line):
            print(f"{name}:{number}: {columns} columns, {COLUMNS_MAX} are allowed: break it")
            faults += 1
    for brace, length in functions(lines):
        head = head_of(lines, brace)
        if length <= FUNCTION_MAX or any("/* long:" in line for line in head):
            continue
        found = NAME.search(" ".join(line for line in head if not line.startswith((" *", "/*"))))
        print(f"{name}:{brace + 1}: {found[1] if found else 'function'} has {length} lines, "
              f"{FUNCTION_MAX} are allowed: split it, or say why above it (/* long: reason */)")
        faults += 1
    return faults


if __name__ == "__main__":
    sys.exit(1 if sum(check(name) for name in sys.argv[1:]) else 0)
