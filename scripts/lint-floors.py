#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""lint-floors.py FILE...: a part includes only what stands below it, and of that no more than BELOW
says. A floor in BELOW that no file of the part includes is wrong, too, whatever the FILEs are.

A quoted include is either root-relative with the floor first ("dns/name.h", "xdp/abi.h"), or a
generated skeleton ("volley.skel.h", for bpf and iface). Tests may include everything.

A comment that names a file of a floor ("port/tcp.h") names one that there is.
"""
import re
import sys
from pathlib import Path, PurePath

# The floors in their order, from the ground up, in groups by subject: a floor
# with those below it that it includes, none that no file of it includes.
FLOORS = {
    "ground": {
        "xdp": "",
        "base": "",
        "dns": "xdp base",
        "link": "",    # what the kernel says of the host's network links
    },
    "wire": {
        "port": "xdp base link",    # packets in and out; knows no DNS
        "tap": "base dns",    # reports of answers; their producers stand above it
    },
    "data": {
        "cache": "xdp base dns",
        "zone": "base dns",
        "store": "base dns zone",
        "xfr": "base dns zone",    # wire formats; knows no sockets
        "sign": "base dns zone",
    },
    "answer": {
        "resolver": "base dns tap zone",
        "querier": "base dns tap resolver",    # the server's side of the resolver's process
        "limits": "xdp base dns",    # of clients: rights, rates, blocks
        "shield": "xdp base dns cache zone",    # names and intervals for the driver, and their check
        "rpz": "base dns cache zone limits",    # which rule of a response policy zone decides
        "engine": "xdp base dns cache zone resolver limits shield rpz",
        "invalidate": "xdp base dns cache zone engine",    # cached answers that a change affects
        "census": "xdp base dns cache shield engine",    # what the cache holds, counted and matched
        "worker": "base dns port tap resolver querier engine",
    },
    "host": {
        "config": "xdp base dns port zone xfr resolver limits shield engine worker",
        "bpf": "xdp base dns link tap cache limits config",
        "broker": "xdp base link port cache config bpf",    # asked for programs and maps; the process that makes them
        "iface": "xdp base link port tap cache querier engine worker config bpf broker",
    },
    "zones": {
        "transfer": "xdp base dns port tap zone store xfr resolver engine worker config",
        "zonemgr": "base dns port cache zone store xfr sign shield engine invalidate "
                   "config transfer",
    },
    "operator": {
        "control": "base port config",    # sockets for commands and metrics; knows no daemon
        "abuse": "xdp base dns cache limits config bpf broker engine control",
        "recursion": "base dns port cache zone resolver querier limits rpz engine worker config bpf "
                     "zonemgr control",
        "report": "xdp base dns port tap cache zone resolver querier shield rpz engine census "
                  "config iface zonemgr control abuse recursion",
        "daemon": "xdp base dns link port tap cache store shield rpz engine invalidate census "
                  "config bpf broker iface transfer zonemgr control abuse recursion report",
    },
    "tools": {
        "client": "base dns port config",    # asks the daemon; knows nothing of it
        "doctor": "xdp base link port resolver config bpf iface client",
        "cmd": "base cache broker zone resolver config daemon client doctor",
    },
}
BELOW = {floor: below.split() for floors in FLOORS.values() for floor, below in floors.items()}
SKELETONS = {"bpf", "iface"}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
FILE = re.compile(r"(?<![\w/.<-])([a-z]+)(/\w+\.[ch])\b")
ROOTS = ("userspace/", "", "tests/unit/")


def floor_of(path: PurePath) -> str | None:
    """None for what is no floor: tests and the like."""
    parts = path.parts
    if parts[0] == "xdp":
        return "xdp"
    if parts[0] == "userspace" and len(parts) == 3:
        return parts[1]
    return None


def fault(floor: str, target: str) -> str | None:
    """What is wrong with this include on this floor, if anything."""
    if target == "dnstap.pb-c.h" or target == "dnstap.pb-c.c":
        return None if floor == "tap" else "messages of dnstap are for tap"
    if target.endswith(".skel.h"):
        return (None if floor in SKELETONS
                else f"skeletons are for {' and '.join(sorted(SKELETONS))}")
    if "/" not in target or target.startswith("."):
        return "includes are root-relative (\"dns/name.h\")"
    there = target.split("/")[0]
    if there not in BELOW:
        return f"{there} is no floor"
    if there != floor and there not in BELOW[floor]:
        return f"{floor} does not stand on {there}"
    return None


def gone(line: str) -> str | None:
    """A file of a floor that the line names, and that is not there."""
    for there, rest in FILE.findall(line):
        if there in BELOW and not any(Path(root + there + rest).exists() for root in ROOTS):
            return f"there is no file {there}{rest}"
    return None


def unused() -> list[str]:
    """Floors that BELOW allows and no file includes, and floors that do not stand below."""
    used: dict[str, set[str]] = {floor: set() for floor in BELOW}
    for path in Path().glob("userspace/*/*.[ch]"):
        with open(path, encoding="utf-8") as lines:
            targets = [match[1] for match in map(INCLUDE.match, lines) if match]
        used.setdefault(path.parts[1], set()).update(target.split("/")[0] for target in targets)
    order = list(BELOW)
    faults = [f"{floor} does not include {below}: take it out of BELOW"
              for floor in BELOW for below in BELOW[floor] if below not in used[floor]]
    return faults + [f"{floor} stands on {below}, which is not below it" for floor in BELOW
                     for below in BELOW[floor] if below not in order[:order.index(floor)]]


def main(argv: list[str]) -> int:
    faults = 0
    for fault_of_table in unused():
        print(f"scripts/lint-floors.py: {fault_of_table}")
        faults += 1
    for name in argv:
        path = PurePath(name)
        floor = floor_of(path)
        if floor is None:
            continue
        if floor not in BELOW:
            print(f"{path}: {floor} is no floor: say in scripts/lint-floors.py what it stands on")
            faults += 1
            continue
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                wrong = match and fault(floor, match[1])
                wrong = f"\"{match[1]}\": {wrong}" if wrong else gone(line)
                if wrong:
                    print(f"{path}:{number}: {wrong}")
                    faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
