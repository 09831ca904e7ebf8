# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences between the versions of a server or a tool that tests compare Volley with. Tests ask the
program for its version and do not compare names of releases."""
import functools
import os
import re
import subprocess

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


@functools.cache
def version(program, *words):
    """The numbers that a program says first of itself: (9, 18, 41)."""
    said = subprocess.run([program, *words], env={**os.environ, "PATH": PATH}, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    return tuple(map(int, re.search(r"\d+(?:\.\d+)+", said)[0].split(".")))


def named_alone():
    """An option of named: it starts beside another named. named 9.20 has neither the lock nor the option."""
    return "lock-file none;" if version("named", "-v") < (9, 19) else ""
