# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of options: nsd.options, knot.options, named.options, unbound.options,
pdns.options.

Each has a row for each option that its server knows, in the sections of its configuration:

    @workers = volleyd has a worker for each processor      a text with a name
    [server]                                                a section
    version        set   server.version                     carried over to this key
    ip-address     code  server.listen                      carried over by code, to these keys
    server-count   idle  @workers                           without meaning here, and why
    cookie-foo     left  text                               not carried over, of little weight
    tls-auth       hole  text                               not carried over: has to be decided on
    drop-updates   hole:yes text                            the same, unless it has this value
    server-N-cpu   idle  text                               N stands for any number

The section "zone < options" also has the rows of "options" that it does not have itself. An option
without a row is unknown and a hole, so an option of a newer version is named, too.
"""
import os
import re

import values

FOLDER = os.path.dirname(os.path.abspath(__file__))
ACTIONS = ("set", "code", "idle", "left", "hole")


class Row:
    def __init__(self, action, text):
        self.action, _colon, self.default = action.partition(":")
        self.text = text


def read(server):
    """{section: {option: Row}}"""
    texts, sections, section = {}, {}, None
    with open(os.path.join(FOLDER, server + ".options"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            if line.startswith("@"):
                name, text = line.split(" = ", 1)
                texts[name] = text
            elif line.startswith("["):
                name, _mark, base = re.fullmatch(r"\[([^ ]+)( < (.+))?\]", line).groups()
                section = sections.setdefault(name, dict(sections[base]) if base else {})
            else:
                option, action, *text = line.split(None, 2)
                section[option] = Row(action, texts.get(text[0], text[0]) if text else "")
                if section[option].action not in ACTIONS:
                    raise ValueError(f"{server}.options:{number}: {action} is no action")
    return sections


def carry(result, node, rows, calls, at=None):
    """Carries over one option. CALLS has the functions of rows with "code": {option: function(node,
    at)}; an option without a function is read together with another one. AT is as for set()."""
    row = rows.get(node.name) or rows.get(re.sub(r"\d+", "N", node.name)) or rows.get("*")
    if row is None:
        result.hole(node, "Volley does not know this option")
    elif row.action == "set":
        result.set(node, row.text, node.word(), at)
    elif row.action == "code":
        if node.name in calls:
            calls[node.name](node, at)
    elif row.default and values.is_same(node.word(), row.default):
        result.idle(node, "Volley does the same")
    else:
        getattr(result, row.action)(node, row.text)


def carry_all(result, section, rows, calls, at=None):
    for node in section.children:
        carry(result, node, rows, calls, at)
