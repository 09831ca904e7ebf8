# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Address match lists and lists of servers of named.conf(5)."""
import values

DEPTH_MAX = 16
LISTS = ("primaries", "masters", "remote-servers")


def block(top, name, word):
    """The statement NAME WORD { } of the file, or None."""
    return next((node for node in top.all(name) if node.word().lower() == word.lower() and
                 node.is_block), None)


class MatchList:
    """The elements of an address match list, after the acls are resolved: in such a list the first
    element that matches decides. A prefix that overlaps with an earlier one with ! is reported and
    not carried over, so that no list becomes wider. Elements are (prefix, None) or ("", key); a
    prefix may be "any"."""

    def __init__(self, result, top, node):
        self.result, self.top = result, top
        self.out, self.found, self.seen = [], [], set()
        self.is_closed = False  # a key or a list has !, so no later element can be carried over
        self.walk([child for child in node.children if child.block == 0], 0)

    def give(self, node, prefix, key=None):
        # a key may come from any address
        if self.is_closed or (self.out if key else
                              any(values.common(out, prefix) for out in self.out)):
            self.result.hole(node, f"the addresses after ! cannot be excluded from {key or prefix}: "
                                   "write the prefixes of the clients that may")
        else:
            self.found.append((prefix, key))

    def walk(self, nodes, depth):
        for i, node in enumerate(nodes):
            acl = block(self.top, "acl", node.name)
            if node.name == "none":  # "!any": no element behind it is looked at
                for one in nodes[i + 1:]:
                    self.result.idle(one, "it stands behind none, so named does not look at it")
                return
            if node.name == "!":
                self.take_out(node)
            elif node.name == "key" and node.words:
                self.give(node, "", node.word())
            elif node.is_block and depth < DEPTH_MAX:
                self.walk(node.children, depth + 1)
            elif acl:  # a second time it has no element that the first time has not
                if id(acl) not in self.seen:
                    self.seen.add(id(acl))
                    self.walk(acl.children, depth + 1)
            elif node.name == "localhost":
                self.result.note(node, "all addresses of the host, for named: add those that ask")
                self.give(node, "127.0.0.0/8")
                self.give(node, "::1")
            elif node.name == "localnets":
                self.result.hole(node, "give the prefixes of your networks")
            elif values.prefix(node.name):
                self.give(node, values.prefix(node.name))
            else:
                self.result.hole(node, f"\"{node.name}\" is neither a prefix nor an acl")

    def take_out(self, node):
        reduced = values.prefix(node.word())
        if reduced:
            self.out.append(reduced)
        elif node.word().lower() == "none":
            self.give(node, "any")
        else:
            self.is_closed = True

    def prefixes(self, node):
        """Those of a list of clients, "any" written out; keys are reported."""
        found = []
        for prefix, key in self.found:
            if key:
                self.result.hole(node, f"clients are known by their addresses, not by the key {key}")
            else:
                found += values.EVERYONE if prefix == "any" else [prefix]
        return found


def is_any(node):
    return [child.name for child in node.children] == ["any"]


def servers(top, node, seen=None):
    """(statement, {"port": ..., "key": ..., "tls": ...}) for each server of a list, the lists in it
    resolved. What a server does not say is said by its list."""
    seen = set() if seen is None else seen
    names = ("port", "key", "tls", "source", "source-v6")
    given = {name: node.after(name) for name in names}
    for one in node.children:
        own = {name: one.after(name) or given[name] for name in names}
        more = next(filter(None, (block(top, name, one.name) for name in LISTS)), None)
        if more is not None:
            known = (id(more), *own.values())
            if known in seen:
                continue
            seen.add(known)
            for server, words in servers(top, more, seen):
                yield server, {name: words[name] or own[name] for name in names}
        else:
            yield one, own
