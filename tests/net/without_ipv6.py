#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""without_ipv6.py COMMAND [ARG...]: runs the command as on a kernel that was booted with
ipv6.disable=1: there is no socket of that family."""
import ctypes
import errno
import os
import socket
import sys

from sandboxed import ALLOW, CMP_EQ, Compare

ERRNO, CTL_NNP = 0x50000, 3


def main(*command):
    """Does not return."""
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.seccomp_init(ctypes.c_uint32(ALLOW)))
    rules = (Compare * 1)(Compare(0, CMP_EQ, socket.AF_INET6, 0))
    assert not lib.seccomp_attr_set(context, CTL_NNP, ctypes.c_uint32(0))
    assert not lib.seccomp_rule_add_array(
        context, ctypes.c_uint32(ERRNO | errno.EAFNOSUPPORT),
        lib.seccomp_syscall_resolve_name(b"socket"), 1, rules)
    assert not lib.seccomp_load(context)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
