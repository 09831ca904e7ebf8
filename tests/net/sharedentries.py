# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds shared answers in the cache of a running volleyd (xdp/shared.h), and damages them in their
map."""
import ctypes
import mmap
import os
import re
import struct

SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
MAP_GET_FD_BY_ID = 14
KEY_AT = 56     # in struct volley_entry
BODY_AT = 48    # where body_offset lies in it
SHORT_AT = 42   # and short_bytes
TTL_LOW_AT = 8  # in a body whose first owner is a pointer: the low half of the first TTL
HEAD_BYTES = 16 + 256 * 8  # struct volley_names_state
KINDS = {"denial": 1, "wildcard": 2, "interval": 3}


def map_memory(map_id):
    """An array map with BPF_F_MMAPABLE, as bytes that can be written."""
    attr = ctypes.create_string_buffer(struct.pack("=3I", map_id, 0, 0), 128)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(SYS_BPF, MAP_GET_FD_BY_ID, attr, len(attr))
    if fd < 0:
        raise OSError(ctypes.get_errno(), "BPF_MAP_GET_FD_BY_ID")
    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as info:
        fields = dict(line.split(":", 1) for line in info if ":" in line)
    try:
        return mmap.mmap(fd, int(fields["value_size"]) * int(fields["max_entries"]))
    finally:
        os.close(fd)


def filter_id(maps):
    """
    The id of the filter of names, by {map name: id} of a program: its head is the end of the first
    map.
    """
    memory = map_memory(next(number for name, number in maps.items()
                             if name.startswith("volley_abi_")))
    return struct.unpack_from("=I", memory, len(memory) - HEAD_BYTES)[0]


def bodies(store, number, kind, zone):
    """
    (begin, end) of the answer in each entry of this kind, with this filter's id, whose name ends
    with the wire form of `zone`; also in invalid entries.
    """
    tail = struct.pack(">H", number & 0xffff), bytes([KINDS[kind] | number >> 16 << 2])
    pattern = b".." + re.escape(tail[0]) + b"..(.)" + re.escape(tail[1])
    for match in re.finditer(pattern, store, re.DOTALL):
        at, n = match.start() - KEY_AT, match.group(1)[0]
        name = store[match.end():match.end() + n]
        if at % 16 or not name.endswith(zone):
            continue
        body, = struct.unpack_from("=H", store, at + BODY_AT)
        short, = struct.unpack_from("=H", store, at + SHORT_AT)
        if short:
            yield at + body, at + body + short


def damage(store, begin, end):
    """
    The first TTL grows by 1, and the last 16 bits that can shrink by 1 do so: the sums of the body
    hold.
    """
    def word(at):
        return struct.unpack_from(">H", store, at)[0]
    first = begin + TTL_LOW_AT
    last = next(at for at in range(end - 2 - (end - begin) % 2, first, -2) if word(at) > 1)
    struct.pack_into(">H", store, first, word(first) + 1)
    struct.pack_into(">H", store, last, word(last) - 1)
