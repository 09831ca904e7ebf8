# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line, the kind of a file, and the output."""
import importlib
import os
import re
import stat
import subprocess
import sys
import tempfile

import check
import result
import source
import values

DONE, HOLES, USAGE, LEFT = 0, 1, 2, 3
USAGE_TEXT = """usage: volleyctl import FILE [--from nsd|knot|named|unbound|pdns] [-o OUTPUT] [--zones FOLDER]

Reads the configuration of another name server, with the files that it includes, and prints a
volley.yaml. It asks no daemon, and reads nothing but these files and, for PowerDNS, its database.

  --from SERVER  whose configuration it is. Without it the name of FILE tells, or the first words
                 that only one server has.
  -o OUTPUT      writes the result there, readable for its owner alone, and not to standard output.
                 An existing file is replaced. The result has the secrets of TSIG keys and cookies.
  --zones FOLDER for the database of PowerDNS: writes a file for each zone into this folder, and the
                 private keys into its folder keys, which only its owner may read.

Standard error has a line "FILE:LINE: option: ..." for each option that is not carried over as it is,
those of most weight first:

  not carried over       clients, peers or answers would differ: decide before volleyd starts
  left out               no client notices
  note                   carried over, with a difference
  without meaning here   Volley does this by itself, or has no need of it

Exit status: 0 all is carried over; 1 something has to be decided first, or volleyd would not start
with the result, or FILE cannot be read; 3 nothing of weight was left out; 2 wrong use.
"""

# words that only the files of one server have
SIGNS = {"nsd": "request-xfr: provide-xfr: zonesdir: allow-notify: zonefile: ip-address: "
                "server-count:",
         "knot": "domain: id: rundir: automatic-acl: target:",
         "named": "options acl zone view controls logging",
         "unbound": "access-control: forward-zone: stub-zone: auth-zone: local-zone: local-data: "
                    "interface: include-toplevel: auto-trust-anchor-file:",
         "pdns": ""}  # each line has the form name=value
SYNTAX = {"nsd": source.Flat, "knot": source.Knot, "named": source.Named, "unbound": source.Flat,
          "pdns": source.Pdns}


def kind_of(path):
    """The server of a file, by its name or its words; None if it is not clear."""
    for server in SIGNS:
        if server in os.path.basename(path):
            return server
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # to open a FIFO waits for its writer
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(1 << 20).splitlines()
    except OSError:
        return None
    for line in lines:
        if re.match(r"[a-z0-9-]+[ \t]*\+?=", line):
            return "pdns"
        word = re.split(r"[ \t\r{]", line.lstrip(" \t-"), maxsplit=1)[0]
        for server, signs in SIGNS.items():
            if word and word in signs.split() and ("{" in line) == (server == "named"):
                return server
    return None


def make(path, server, volleyd, output=None, folder=None):
    """(the text of the new configuration or None, lines of notes, exit status). FOLDER is for files
    of zones."""
    tree = SYNTAX[server]()
    try:
        tree.read(path)
    except source.Fault as fault:
        return None, [values.shown(str(fault))], HOLES
    if output and tree.has_read(output):
        return None, [values.shown(f"{output}: it is a file of the configuration that is read: give "
                                   "another name")], HOLES
    made = result.Result(check.schema_of(volleyd))
    made.zones_folder = folder and os.path.abspath(folder)
    if not tree.top.children:
        source.Node("", path, 1, tree.top).is_block = True
    try:
        getattr(importlib.import_module(server), server.title())(made, tree.top).run()
        made.finish_zones()
        text = check.to_yaml(made.config)
    except UnicodeError:
        text = "\udc80"
    if not result.is_utf8(text):
        return None, [values.shown(f"{path}: a name in it is not UTF-8")], HOLES
    check.judge(made, volleyd, source.Node("the result", path, 1))
    if made.zones_folder:
        check.judge_zones(made, volleyd)
    head = f"# Made by \"volleyctl import\" of the configuration of {server}, "
    head += values.shown(path)
    head += ".\n# It has secrets: do not let others read it.\n" if "keys" in made.config else ".\n"
    if "interfaces" not in made.config:
        head += "# To answer in the driver, name the interfaces: interfaces: [{name: eth0}]\n"
    status = HOLES if made.count(result.HOLE) else LEFT if made.count(result.LEFT) else DONE
    return head + check.to_yaml(made.config), made.notes(), status


def write(path, text):
    """Writes TEXT to a regular file or a new name, for its owner alone. A symbolic link is followed
    first. Raises OSError."""
    if not os.path.basename(path):
        raise OSError(0, "it is the name of a folder: give the name of a file")
    path = os.path.realpath(path)
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(0, "it is not a regular file: without -o the configuration goes to the standard "
                         "output")
    fd, new = tempfile.mkstemp(prefix=os.path.basename(path) + ".", dir=os.path.dirname(path))
    try:
        with open(fd, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(new, path)
    except BaseException:
        os.unlink(new)
        raise


def options_of(words):
    """{"file", "from", "output", "zones", "volleyd"}; None for wrong use."""
    found, words = {"volleyd": "volleyd"}, list(words)
    names = {"--from": "from", "-o": "output", "--zones": "zones", "--volleyd": "volleyd"}
    while words:
        word = words.pop(0)
        if word in names and words:
            found[names[word]] = words.pop(0)
        elif word.startswith("-") or "file" in found:
            return None
        else:
            found["file"] = word
    return found if "file" in found and found.get("from", "nsd") in SIGNS else None


def main(words):
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    if "--help" in words or "-h" in words:
        sys.stdout.write(USAGE_TEXT)
        return DONE
    options = options_of(words)
    if not options:
        sys.stderr.write(USAGE_TEXT.partition("\n\n")[0] + "\nvolleyctl import --help says more\n")
        return USAGE
    path = options["file"]
    server = options.get("from") or kind_of(path)
    if not server:
        sys.stderr.write(f"volleyctl: import: {values.shown(path)}: it is not clear of which server it is: give "
                         "--from nsd, knot, named, unbound or pdns\n")
        return USAGE
    if "zones" in options and server != "pdns":
        sys.stderr.write(f"volleyctl: import: --zones is for the database of PowerDNS, not for {server}\n")
        return USAGE
    try:
        text, notes, status = make(path, server, options["volleyd"], options.get("output"),
                                   options.get("zones"))
        if text is not None and "output" in options:
            write(options["output"], text)
        elif text is not None:
            sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, subprocess.CalledProcessError) as err:
        where = options.get("output", getattr(err, "filename", None) or path)
        said = f"volleyctl: {where}: {getattr(err, 'strerror', None) or err}"
        sys.stderr.write(values.shown(said) + "\n")
        return HOLES
    except RecursionError:
        sys.stderr.write(f"volleyctl: import: {values.shown(path)}: its parts include each other too "
                         "deeply\n")
        return HOLES
    sys.stderr.write("".join(line + "\n" for line in notes))
    return status
