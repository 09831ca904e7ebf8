#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""lint-floors.py FILE...: checks that each floor includes only floors below it.

A quoted include is either root-relative with the floor first ("dns/name.h", "xdp/abi.h"), or a
generated skeleton ("volley.skel.h", for bpf and iface). Tests may include everything.
"""
import re
import sys
from pathlib import PurePath

BELOW = {
    "xdp": set(),
    "base": {"xdp"},
    "dns": {"xdp", "base"},
    "tap": {"xdp", "base", "dns"},    # what is told of answers; producers stand above it
    "cache": {"xdp", "base", "dns"},
    "zone": {"xdp", "base", "dns"},
    "store": {"xdp", "base", "dns", "zone"},
    "xfr": {"xdp", "base", "dns", "zone"},    # wire formats; knows no sockets
    "sign": {"xdp", "base", "dns", "zone"},
    "resolver": {"xdp", "base", "dns", "tap", "cache", "zone"},
    "engine": {"xdp", "base", "dns", "cache", "zone", "resolver"},
    "census": {"xdp", "base", "dns", "cache", "engine"},    # what the cache holds, counted and matched
    "port": {"xdp", "base"},    # packets in and out; knows no DNS
    "worker": {"xdp", "base", "dns", "tap", "cache", "zone", "resolver", "engine", "port"},
}
BELOW["config"] = BELOW["worker"] | {"worker"}
BELOW["bpf"] = BELOW["config"] | {"config"}
BELOW["iface"] = BELOW["bpf"] | {"bpf"}
BELOW["client"] = {"xdp", "base", "dns", "port", "config"}    # asks the daemon; knows nothing of it
BELOW["import"] = {"xdp", "base", "dns", "zone", "config"}    # configurations of other name servers
BELOW["doctor"] = BELOW["iface"] | {"iface", "client"}
BELOW["transfer"] = BELOW["config"] | {"config", "store", "xfr", "sign"}
BELOW["zonemgr"] = BELOW["transfer"] | {"transfer"}
BELOW["control"] = {"base", "config", "port"}    # sockets for commands and metrics; knows no daemon
BELOW["policy"] = {"xdp", "base", "dns", "cache", "engine", "config", "bpf", "zonemgr", "control"}
BELOW["recursion"] = {"base", "cache", "zone", "resolver", "engine", "port", "worker", "config", "bpf"}
BELOW["report"] = {"xdp", "base", "dns", "tap", "cache", "zone", "resolver", "engine", "census", "port", "config",
                   "iface", "zonemgr", "control", "policy", "recursion"}    # reads, through a const view
BELOW["daemon"] = {"xdp", "base", "dns", "tap", "cache", "zone", "store", "engine", "census", "config", "bpf", "iface",
                   "transfer", "zonemgr", "control", "policy", "recursion", "report"}
BELOW["cmd"] = {"base", "zone", "config", "client", "import", "doctor", "daemon"}
SKELETONS = {"bpf", "iface"}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def floor_of(path: PurePath) -> str | None:
    """None for a path that is not in a floor, such as a test."""
    parts = path.parts
    if parts[0] == "xdp":
        return "xdp"
    if parts[0] == "userspace" and len(parts) == 3:
        return parts[1]
    return None


def fault(floor: str, target: str) -> str | None:
    """The fault of this include on this floor, or None."""
    if target == "dnstap.pb-c.h" or target == "dnstap.pb-c.c":
        return None if floor == "tap" else "messages of dnstap are for tap"
    if target.endswith(".skel.h"):
        return None if floor in SKELETONS else f"skeletons are for {' and '.join(sorted(SKELETONS))}"
    if "/" not in target or target.startswith("."):
        return "includes are root-relative (\"dns/name.h\")"
    there = target.split("/")[0]
    if there not in BELOW:
        return f"{there} is no floor"
    if there != floor and there not in BELOW[floor]:
        return f"{floor} does not stand on {there}"
    return None


def main(argv: list[str]) -> int:
    faults = 0
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
                if wrong:
                    print(f"{path}:{number}: \"{match[1]}\": {wrong}")
                    faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
