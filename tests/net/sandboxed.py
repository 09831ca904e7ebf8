#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""sandboxed.py UNIT COMMAND [ARG...]: runs the command with only the system calls and address
families that a unit file allows.

It uses libseccomp, as systemd does. A call that the unit refuses ends the process by SIGSYS, while
systemd returns EPERM: so a test also finds calls whose failure the process would ignore.
"""
import ctypes
import os
import re
import socket
import subprocess
import sys

KILL_PROCESS, ALLOW = 0x80000000, 0x7fff0000
CMP_EQ = 4
FAMILIES = {name: getattr(socket, name, None)
            for name in ("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK")}
FAMILIES["AF_XDP"] = 44


class Compare(ctypes.Structure):
    """struct scmp_arg_cmp"""
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64),
                ("b", ctypes.c_uint64)]


def values(text, key):
    """All words of a key that may stand on several lines."""
    return [word for line in re.findall(rf"^{key}=(.*)$", text, re.M) for word in line.split()]


def expand(words):
    """System calls by name, of names and of systemd's groups."""
    calls, groups = set(), [word for word in words if word[0] == "@"]
    calls.update(word for word in words if word[0] != "@")
    while groups:
        said = subprocess.run(["systemd-analyze", "syscall-filter", groups.pop()], check=True,
                              text=True, capture_output=True).stdout
        for word in re.findall(r"^ +([@\w-]+)$", said, re.M):
            (groups.append if word[0] == "@" else calls.add)(word)
    return calls


def allowed(text):
    """The calls that a unit allows; a line that begins with ~ takes some away again."""
    calls = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", text, re.M):
        words = expand(line.removeprefix("~").split())
        calls = calls - words if line[0] == "~" else calls | words
    return calls


def main(path, *command):
    """Does not return."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    calls = allowed(text)
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.seccomp_init(ctypes.c_uint32(KILL_PROCESS)))

    def allow(name, *compare):
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number < 0:  # another architecture's
            return
        rules = (Compare * len(compare))(*compare)
        code = lib.seccomp_rule_add_array(context, ctypes.c_uint32(ALLOW), number, len(compare),
                                          rules)
        assert not code, (name, code)
    for name in calls - {"socket"}:
        allow(name)
    for family in values(text, "RestrictAddressFamilies"):
        allow("socket", Compare(0, CMP_EQ, FAMILIES[family], 0))
    assert calls and not lib.seccomp_load(context)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
