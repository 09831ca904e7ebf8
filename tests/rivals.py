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


def knotd_signs_refusals():
    """Whether knotd puts BADKEY into a TSIG record. knotd 3.4 sends NOTAUTH without such a record."""
    return version("knotd", "-V") < (3, 4)


def nsd_loads(kinds):
    """
    Without the types whose RDATA nsd reads field by field, also in the form of RFC 3597. Those tests
    have RDATA that ends too early for them. nsd does this since it has simdzone (4.10).
    """
    strict = {"TLSA", "LOC", "IPSECKEY", "SSHFP"} if version("nsd", "-v") >= (4, 10) else set()
    return {kind: octets for kind, octets in kinds.items() if kind not in strict}


def unbound_stale_ttl(configured, of_the_answer):
    """
    The TTL of an expired answer. unbound 1.26.2 gives no longer one than the answer had; 1.17.1 gives
    the configured one. Of the versions between nothing is known here.
    """
    return min(configured, of_the_answer) if version("unbound", "-V") >= (1, 26) else configured


def is_later_unbound():
    """
    The differences that the scenarios name are those of unbound 1.17. A later one may answer as
    Volley does: 1.26.2 does so for a CNAME below a DNAME, and gives stale answers without RD.
    """
    return version("unbound", "-V") >= (1, 18)


def nsd_reads_otherwise(kind):
    """
    Whether nsd reads text of this type in another way than the other servers. nsd 4.12.0 refuses
    no-default-alpn without alpn in SVCB and HTTPS, but not as octets, and it gives some prefixes of
    an APL another length.
    """
    return version("nsd", "-v") >= (4, 10) and kind in ("APL", "HTTPS", "SVCB")
