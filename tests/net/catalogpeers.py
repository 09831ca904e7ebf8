# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""knotd and named on the client's side of the lab, as consumers or producers of a catalog for
volleyd; and the text of catalogs."""
import signal

from netlab import V4, write_zone
from secondaries import Peer, knot_head, named_head

CATALOG = "catalog.test"
HEAD = ("@ 0 IN SOA invalid. invalid. {serial} 3600 600 86400 0\n@ 0 IN NS invalid.\n"
        "version 0 IN TXT \"2\"\n")


def member(label, name, group=None):
    text = f"{label}.zones 0 IN PTR {name}.\n"
    return text + (f"group.{label}.zones 0 IN TXT \"{group}\"\n" if group else "")


def write_catalog(path, serial, *members):
    path.write_text(HEAD.format(serial=serial) + "".join(members), encoding="ascii")
    return path


def knotd_takes(folder, key):
    """Members of the group gold have a file of another name."""
    def secondary(what, name, *more):
        lines = [f"{what}: {name}", f"storage: {folder}", "master: volley", "acl: volley", *more]
        return "  - " + "\n    ".join(lines) + "\n"
    (folder / "conf").write_text(
        knot_head(folder, key) + "template:\n" +
        secondary("id", "member", "zonefile-sync: -1") +
        secondary("id", "gold", "file: gold-%s", "zonefile-sync: 0") + "zone:\n" +
        secondary("domain", CATALOG, "zonefile-sync: -1", "catalog-role: interpret",
                  "catalog-template: [member, gold]"), encoding="ascii")


def named_takes(folder, key):
    (folder / "conf").write_text(
        named_head(folder, key, f'catalog-zones {{ zone "{CATALOG}" '
                   f"default-primaries {{ {V4}; }} min-update-interval 1; }};") +
        f'zone "{CATALOG}" {{ type secondary; primaries {{ {V4}; }}; file "catalog"; }};\n',
        encoding="ascii")


def knotd_gives(folder, key, _serial, members):
    """It makes the catalog itself."""
    zones = "".join(
        f"  - domain: {name}\n    catalog-role: member\n    catalog-zone: {CATALOG}\n" +
        (f"    catalog-group: {group}\n" if group else "") for name, group in members.items())
    (folder / "conf").write_text(f"""{knot_head(folder, key, "transfer")}template:
  - id: default
    storage: {folder}
    notify: volley
    acl: volley
zone:
  - domain: {CATALOG}
    catalog-role: generate
{zones}""", encoding="ascii")


def named_gives(folder, key, serial, members):
    """It has the catalog in a file."""
    write_catalog(folder / f"{CATALOG}.zone", serial,
                  *[member(f"m{ord(name[0])}", name, group) for name, group in members.items()])
    allowed = f'key "{key["name"]}";' if key else f"{V4};"
    (folder / "conf").write_text(
        named_head(folder, key, f"notify explicit; also-notify {{ {V4}; }}; notify-delay 0; "
                   f"allow-transfer {{ {allowed} }};") +
        "".join(f'zone "{name}" {{ type primary; file "{name}.zone"; }};\n'
                for name in (CATALOG, *members)), encoding="ascii")


GIVES = {"knotd": knotd_gives, "named": named_gives}
TAKES = {"knotd": knotd_takes, "named": named_takes}


def start_words(kind, folder):
    return [kind, "-c", folder / "conf"] if kind == "knotd" else \
        [kind, "-f", "-n", "1", "-c", folder / "conf"]


class Consumer(Peer):
    """It has the catalog of Volley, over a `with`. KEY is a netlab.tsig_key()."""

    def __init__(self, lab, folder, kind, key=None):
        folder = folder / kind
        folder.mkdir()
        TAKES[kind](folder, key)
        super().__init__(lab, folder, start_words(kind, folder))

    def has(self, name):
        answer = self.ask(f"www.{name}", "A")
        return answer is not None and bool(answer.answer)


class Producer(Peer):
    """It has a catalog for Volley, with zones and their groups: {name: group or None}."""

    def __init__(self, lab, folder, kind, members, key=None):
        folder = folder / kind
        folder.mkdir()
        super().__init__(lab, folder, start_words(kind, folder))
        self.kind, self.key, self.serial = kind, key, 0
        self.write(members)

    def write(self, members):
        self.serial += 1
        for name in members:
            write_zone(self.folder / f"{name}.zone", 5)
        GIVES[self.kind](self.folder, self.key, self.serial, members)

    def change(self, members):
        self.write(members)
        self.process.send_signal(signal.SIGHUP)
