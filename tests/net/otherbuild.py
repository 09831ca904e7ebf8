# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A volleyd of another build, for upgrades: copies of ours with another XDP program, or with
another ABI.

The file of volleyd contains the object of the XDP program unchanged, so the copy is changed there.
"""
import os
import re
import struct

from netlab import BIN, ROOT

OBJECT = BIN / "volley.bpf.o"
ABI = int(re.search(r"define VOLLEY_ABI +(\d+)",
                    (ROOT / "xdp/abi.h").read_text(encoding="utf-8"))[1])
OTHER_ABI = ABI + 1  # as many digits, so that no offset changes
BPF_JGT_K, BPF_JGE_K = 0x25, 0x35  # jump if a register > a number, if >= one


def section(data, name):
    """(offset, size) of a section of an ELF file of 64 bits, little-endian."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, n, names = struct.unpack_from("<HHH", data, 0x3a)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(n)]
    strings = heads[names][4]
    for head in heads:
        start = strings + head[0]
        if data[start:data.index(b"\0", start)] == name:
            return head[4], head[5]
    raise AssertionError(f"no section {name}")


def other_instructions(data):
    """
    The object with another program that does the same: `> n` is `>= n + 1`. So its tag is another.
    """
    start, size = section(data, b"xdp")
    for at in range(start, start + size, 8):
        code, registers, off, number = struct.unpack_from("<BBhi", data, at)
        if code == BPF_JGT_K and 0 < number < 1 << 20:
            return (data[:at] + struct.pack("<BBhi", BPF_JGE_K, registers, off, number + 1) +
                    data[at + 8:])
    raise AssertionError("no such jump")


def other_abi(data):
    ours, others = (f"volley_abi_{n}\0".encode() for n in (ABI, OTHER_ABI))
    assert ours in data
    return data.replace(ours, others)


def write(path, data):
    """volleyd looks for the program of the resolver's process in its own folder."""
    path.write_bytes(data)
    os.chmod(path, 0o755)
    resolver = path.with_name("volley-resolver")
    if not resolver.exists():
        resolver.symlink_to(BIN / "volley-resolver")
    return path


def with_another_tag(folder):
    """A volleyd whose XDP program has another tag."""
    data, ours = (BIN / "volleyd").read_bytes(), OBJECT.read_bytes()
    assert ours in data
    return write(folder / "volleyd.tag", data.replace(ours, other_instructions(ours)))


def with_another_abi(folder):
    """A volleyd that says of its maps that they are of another ABI."""
    return write(folder / "volleyd.abi", other_abi((BIN / "volleyd").read_bytes()))
