# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a SQLite file of PowerDNS, in the forms of its releases 3.4 to 5.0. The file is
opened for reading only; its views and triggers are not run."""
import collections
import functools
import os
import sqlite3
import stat

import values

TABLES = ("domains", "records", "domainmetadata", "cryptokeys", "tsigkeys", "comments",
          "supermasters")
NUMBERS = ("id", "domain_id", "ttl", "prio", "disabled", "flags", "active", "published")
Domain = collections.namedtuple("Domain", "id name kind masters options catalog")


class Fault(Exception):
    """The file cannot be read; the text is a sentence."""


class Database:
    """`names` is true for the file of the back end bind, whose tables have names of zones in place
    of their numbers. FIRST is a table without which it is not PowerDNS's."""
    def __init__(self, path, first):
        self.path = path
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # to open a FIFO waits for its writer
                raise Fault("it is not a regular file")
            quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
            self.db = sqlite3.connect(f"file:{quoted}?mode=ro", uri=True)
            self.db.text_factory = lambda octets: octets.decode("utf-8", "surrogateescape")
            found = self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            self.tables = {name: self.columns(name) for (name, ) in found if name in TABLES}
        except OSError as err:
            raise Fault(err.strerror) from None
        except sqlite3.Error as err:
            raise Fault(str(err)) from None
        if first not in self.tables:
            raise Fault(f"it has no table {first}")
        self.names = "domain" in self.tables.get("domainmetadata", ())
        self.meta, self.keys = collections.defaultdict(list), collections.defaultdict(list)

    def columns(self, table):
        return [row[1] for row in self.db.execute(f"PRAGMA table_info({table})")]

    def rows(self, table, *wanted, where="", values=()):
        """A column that an old release does not have is None. A table that is missing is empty."""
        if table not in self.tables:
            return
        known = self.tables[table]
        names = ", ".join(name if name in known else "NULL" for name in wanted)
        try:
            for row in self.db.execute(f"SELECT {names} FROM {table} {where}", values):
                yield [known_as(name, value) for name, value in zip(wanted, row)]
        except sqlite3.Error as err:
            raise Fault(str(err)) from None

    def read_rest(self):
        """Fills `meta` {zone: [(kind, content)]} and `keys` {zone: [(id, flags, active, published,
        text)]}; a zone is its number or, for the back end bind, its name."""
        zone = "domain" if self.names else "domain_id"
        for at, kind, content in self.rows("domainmetadata",
                                           zone,
                                           "kind",
                                           "content",
                                           where="ORDER BY id"):
            self.meta[self.key(at)].append(((kind or "").upper(), (content or "").strip()))
        for at, *key in self.rows("cryptokeys",
                                  zone,
                                  "id",
                                  "flags",
                                  "active",
                                  "published",
                                  "content",
                                  where="ORDER BY id"):
            self.keys[self.key(at)].append(key)

    def key(self, at):
        return at.lower().rstrip(".") if isinstance(at, str) else at

    def domains(self):
        """PowerDNS 4.7 has `options` and `catalog`."""
        return [
            Domain(*row) for row in self.rows("domains",
                                              "id",
                                              "name",
                                              "type",
                                              "master",
                                              "options",
                                              "catalog",
                                              where="ORDER BY name")
        ]

    def records(self, domain):
        return list(
            self.rows("records",
                      "name",
                      "type",
                      "content",
                      "ttl",
                      "prio",
                      "disabled",
                      where="WHERE domain_id = ? ORDER BY id",
                      values=(domain.id, )))

    @functools.cached_property
    def servers(self):
        """{name of a name server, without its last dot: [its addresses]}, of all zones."""
        found = {}
        for name, address in self.rows(
                "records",
                "name",
                "content",
                where="WHERE type IN ('A', 'AAAA') AND name IN "
                "(SELECT content FROM records WHERE type = 'NS') ORDER BY name, content"):
            found.setdefault((name or "").lower(), []).append(address or "")
        return found

    def tsig_keys(self):
        return list(self.rows("tsigkeys", "name", "algorithm", "secret", where="ORDER BY name"))

    def count(self, table):
        """The number of rows."""
        return sum(1 for _ in self.rows(table, "NULL"))


def known_as(name, value):
    """A column of SQLite may have values of any type, whatever its own is."""
    if value is None or isinstance(value, int if name in NUMBERS else str):
        return value
    if name in NUMBERS:
        return values.number(value) if isinstance(value, str) else None
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
