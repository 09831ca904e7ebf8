#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""stores.py VERIFY OBJECT: lists each store of the XDP program to memory that CPUs share.

The verifier follows every path of the program, and its log names the memory behind each register.
So the list is complete: it does not depend on a reader who follows the code. Stores to memory that
a CPU has for itself are only counted: the stack, the packet, maps with a value for each CPU, and
records that the CPU has reserved in a ring buffer. A store to other memory, or a helper that may
write, is an error if KNOWN does not have it. So is a row of KNOWN that the program does not have.

VERIFY is the program of tests/bpf/verify.c, which prints the log. Needs root. The logs of older
kernels do not name maps; then nothing is checked, and a line says so.
"""
import collections
import re
import subprocess
import sys

OF_ONE_CPU = {"the stack", "the packet", "a record of a ring buffer", "volley_cpu", "volley_near",
              "volley_shares", "volley_cookies", "volley_blocked"}

# Sizes of arguments of global functions that are on the caller's stack.
ON_THE_STACK = {40: "struct volley_try"}

# {(map, beginning of the statement): when it is stored}. "" is every statement.
KNOWN = {
    ("volley_store", "e->freq++"): "a hit, until the entry has VOLLEY_FREQ_MAX (3)",
    ("volley_store", "e->refreshing = 1"): "a hit, once before the answer expires",
    ("volley_link", "*hop = 1"): "once for a next hop, with return-path: fib",
    ("volley_loads", ""): "a hit of a client near its rate limit",
    ("volley_rrl", ""): "a query of a client over its rate limit",
    ("volley_queues", ""): "a query that is no hit",
    ("an inner map", ""): "a query that matches a block",
    ("a helper", "bpf_ringbuf_output"): "a hit, once before the answer expires",
    ("a helper", "bpf_ringbuf_reserve"): "a hit that is drawn for a tap",
    ("a helper", "bpf_ringbuf_submit"): "a hit that is drawn for a tap",
}
# Helpers that write nothing but the packet and the caller's memory.
READERS = {"bpf_fib_lookup", "bpf_get_prandom_u32", "bpf_get_smp_processor_id", "bpf_jiffies64",
           "bpf_ktime_get_coarse_ns", "bpf_ktime_get_ns", "bpf_loop", "bpf_map_lookup_elem",
           "bpf_redirect_map", "bpf_xdp_adjust_head", "bpf_xdp_adjust_tail",
           "bpf_xdp_get_buff_len", "bpf_xdp_load_bytes", "bpf_xdp_store_bytes"}

STORES = {"62", "63", "6a", "6b", "72", "73", "7a", "7b", "c3", "db"}  # opcodes; the last: atomic
STEP = re.compile(r"\d+: \(([0-9a-f]{2})\) ([^;]*)(.*)")
TARGET = re.compile(r"\(u\d+ \*\)\((r\d+) [+-]\d+\)")
HELPER = re.compile(r"call (bpf_\w+)#")
STATE = re.compile(r"\b(R\d+)(?:_\w+)?=([a-z_]+)(\S*)")
SOURCE = re.compile(r"; (.*) @ (\S+):(\d+)$")
MAP, MAP_SIZE, SIZE = re.compile(r"map=(\w+)"), re.compile(r"vs=(\d+)"), re.compile(r"\bsz=(\d+)")


class Log:
    """Reads a log line by line. It knows what each register points to, and the line of source."""

    def __init__(self):
        self.registers, self.source = {}, ("", "", 0)
        self.maps_of_size = collections.defaultdict(set)
        self.found = set()

    def note(self, state):
        """
        An argument of a global function is known only by its size; so it is a map's value if a
        map has values of this size. If two maps have, the store is one that KNOWN does not have.
        """
        for register, kind, rest in STATE.findall(state):
            of_map, size = MAP.search(rest), SIZE.search(rest)
            if of_map:
                kind = of_map[1]
                if value_size := MAP_SIZE.search(rest):
                    self.maps_of_size[int(value_size[1])].add(kind)
            elif kind == "mem" and size:
                kind = int(size[1])
            self.registers[register] = kind

    def read(self, line):
        if source := SOURCE.match(line):
            self.source = source.groups()
        elif step := STEP.match(line):
            opcode, code, state = step.groups()
            self.note(state)
            if opcode in STORES and (target := TARGET.search(code)):
                self.found.add((self.registers.get(target[1].upper()), *self.source))
            elif (helper := HELPER.match(code)) and helper[1] not in READERS:
                self.found.add(("a helper", helper[1], *self.source[1:]))
        else:
            self.note(line)

    def what(self, target):
        """The name of the memory."""
        if isinstance(target, int):
            maps = " or ".join(sorted(self.maps_of_size[target]))
            return "the stack" if target in ON_THE_STACK else maps or f"{target} octets"
        return {"fp": "the stack", "pkt": "the packet", "ringbuf_mem": "a record of a ring buffer",
                "map_value": "an inner map"}.get(target, target)

    def stores(self):
        """{(memory, statement, "file:line")}"""
        return {(self.what(target), text, f"{file}:{line}")
                for target, text, file, line in self.found}


def known(memory, statement):
    return next((key for key in KNOWN if key[0] == memory and statement.startswith(key[1])), None)


def read_log(verify, path):
    log = Log()
    with subprocess.Popen([verify, "--log", path], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            log.read(line.rstrip("\n"))
    if process.returncode:
        sys.exit(f"stores: {path}: no log")
    return log


def main(argv):
    log = read_log(*argv[1:])
    if not log.maps_of_size:
        print("stores: this kernel's log does not name maps: nothing is checked")
        return 0
    stores, counts, faults = log.stores(), collections.Counter(), []
    missing = set(KNOWN)
    for memory, statement, where in sorted(stores, key=str):
        if memory in OF_ONE_CPU:
            counts[memory] += 1
            continue
        key = known(memory, statement)
        missing.discard(key)
        if not key:
            faults.append(f"{where}: stores to {memory}, which CPUs share: {statement}")
        print(f"{memory:14} {KNOWN.get(key, '?'):47} {where:17} {statement}")
    print("memory of one CPU: " + ", ".join(f"{name}: {n}" for name, n in counts.most_common()))
    faults += [f"no store to {memory}: {text}" for memory, text in sorted(missing)]
    for fault in faults:
        print(f"stores: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
