# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""pdns.conf of PowerDNS Authoritative Server: settings and back ends. Zones are in pdns_zones.py.

    launch=gsqlite3 -> pdns_database.py -> pdns_zones.py -> zones, --zones FOLDER/*.zone and keys/
    launch=bind     -> its named.conf, and the database of its keys

Other back ends have a command of PowerDNS that copies all of them to a SQLite file.
"""
import itertools
import os
import re

import named_lists
import pdns_database
import pdns_zones
import source
import table
from flat import Server, listen

# the settings to which += adds, if the file does not set them
DEFAULTS = {
    "local-address": "0.0.0.0, ::",
    "allow-axfr-ips": "127.0.0.0/8,::1",
    "allow-dnsupdate-from": "127.0.0.0/8,::1",
    "allow-notify-from": "0.0.0.0/0,::/0",
    "only-notify": "0.0.0.0/0,::/0",
    "send-signed-notify": "yes",
    "gsqlite3-database": "powerdns.sqlite"
}
NEW_NAMES = {
    "master": "primary",
    "slave": "secondary",
    "slave-renotify": "secondary-do-renotify",
    "superslave": "autosecondary",
    "slave-cycle-interval": "xfr-cycle-interval",
    "allow-unsigned-supermaster": "allow-unsigned-autoprimary"
}
BACKENDS = ("gsqlite3", "bind", "gmysql", "gpgsql", "godbc", "lmdb", "ldap", "lua2", "pipe",
            "remote", "geoip", "tinydns", "random", "opendbx", "mydns", "oracle")
NAME_MAX = 200  # characters of a name in the file of a template, see volley.yaml(5)
TEXTS = ("full", "anonymous", "powerdns", "")


class Pdns(Server):
    def __init__(self, result, top):
        super().__init__("pdns", result, top)
        self.nodes, self.texts, self.told = {}, {}, set()
        for node in top.children:
            self.read(node)
        self.backends = [word for word in self.words("launch")]
        self.zones = pdns_zones.Zones(self)

    def read(self, node):
        """The last of equal settings counts."""
        name = NEW_NAMES.get(node.name, node.name)
        before = self.nodes.get(name)
        if before is not None and not getattr(node, "is_added", False):
            self.result.idle(before, "a later line sets it again")
            before.is_over = True
        text = node.word()
        if getattr(node, "is_added", False):
            text = ", ".join(filter(None, (self.texts.get(name, DEFAULTS.get(name, "")), text)))
        self.nodes[name], self.texts[name] = node, text

    # --- Settings ---------------------------------------------------------------------------------

    def node(self, name):
        return self.nodes.get(name) or next(iter(self.top.children))

    def text(self, name):
        return self.texts.get(name, DEFAULTS.get(name, ""))

    def words(self, name):
        return [word for word in re.split(r"[,\s]+", self.text(name)) if word]

    def is_on(self, name):
        """A switch: "no" and "off" are the only words for off, and a name alone is on."""
        return name in self.texts and self.text(name) not in ("no", "off") or \
            (name not in self.texts and DEFAULTS.get(name) == "yes")

    @staticmethod
    def address(text):
        """ADDRESS@PORT of "192.0.2.1:53" or "[2001:db8::1]:53"."""
        match = re.fullmatch(r"\[([^\]]*)\](?::(\d+))?|([^:]*):(\d+)", text)
        if not match:
            return text
        port = match[2] or match[4]
        return (match[1] or match[3] or "") + (f"@{port}" if port else "")

    def sources(self):
        return [word for word in self.words("query-local-address") if word not in ("0.0.0.0", "::")]

    def run(self):
        self.do_local_address(self.node("local-address"), None)
        for node in self.top.children:
            if not getattr(node, "is_over", False):
                self.carry_setting(node)
        for backend in self.backends:
            self.carry_backend(backend)
        if not self.backends:
            self.result.hole(self.node("launch"), "launch names no back end, so there are no zones")
        self.leave_catalogs()
        self.result.finish_zones()
        self.make_templates()

    def carry_setting(self, node):
        kind, name = node.name.partition("-")[0], node.name
        if kind in BACKENDS and "-" in name:
            self.carry_backend_setting(node, kind)
            return
        row = self.tables["server"].get(name)
        if row and row.default in ("yes", "no"):
            node.words = ["no" if node.word() in ("no", "off") else "yes"]
        elif row and row.action in ("set", "hole", "left") and not node.word():
            self.result.idle(node, "it has no value")
            return
        table.carry(self.result, node, self.tables["server"], self.calls)

    def carry_backend_setting(self, node, kind):
        launched = [backend for backend in self.backends if backend.partition(":")[0] == kind]
        rows = self.tables.get(kind)
        if not launched:
            self.result.idle(node, f"launch does not name the back end {kind}")
        elif rows is None:
            self.result.idle(node, "see launch")
        else:
            names = [backend.partition(":")[2] for backend in launched]
            rest = node.name.partition("-")[2]
            rest = next((rest[len(name) + 1:]
                         for name in names if name and rest.startswith(name + "-")), rest)
            row = rows.get(rest) or rows.get("*")
            if row and row.default in ("yes", "no"):
                node.words = ["no" if node.word() in ("no", "off") else "yes"]
            table.carry(self.result, node, {node.name: row} if row else {}, self.calls)

    def do_local_address(self, node, _at):
        if "local-address" in self.told:
            return
        self.told.add("local-address")
        port = self.text("local-port") or "53"
        for word in itertools.chain(self.words("local-address"), self.words("local-ipv6")):
            listen(self.result, node, self.address(word), port)

    do_local_ipv6 = do_local_address

    def do_version_string(self, node, _at):
        if node.word() in TEXTS:
            self.result.idle(node, "volleyd tells no version by itself")
        else:
            self.result.set(node, "server.version", node.word())

    def do_server_id(self, node, _at):
        if node.word() in ("", "disabled"):
            self.result.idle(node, "volleyd tells no name by itself")
        else:
            self.result.set(node, "server.identity", node.word())
            self.result.set(node, "server.nsid", node.word())

    def do_max_tcp_connections_per_client(self, node, _at):
        if node.word() != "0":
            self.result.set(node, "server.tcp.max-connections-per-client", node.word())

    def do_also_notify(self, node, _at):
        if not self.is_on("primary") and not self.is_on("secondary-do-renotify"):
            self.result.idle(node, "PowerDNS notifies nobody, since primary is off")

    def do_allow_axfr_ips(self, node, _at):
        if self.is_on("disable-axfr"):
            self.result.idle(node, "disable-axfr is on")

    def do_allow_dnsupdate_from(self, node, _at):
        if not self.is_on("dnsupdate"):
            self.result.idle(node, "dnsupdate is off")

    def do_only_notify(self, node, _at):
        if self.text("only-notify") != DEFAULTS["only-notify"]:
            self.result.idle(node, "volleyd notifies the servers of zones[].notify only")

    def do_allow_notify_from(self, node, _at):
        if self.text("allow-notify-from") != DEFAULTS["allow-notify-from"]:
            self.result.left(
                node, "the primaries of a zone may notify it from everywhere they are; others may "
                "only by zones[].allow-notify")

    def do_trusted_notification_proxy(self, node, _at):
        if not self.is_on("secondary"):
            self.result.idle(node, "PowerDNS is no secondary")

    def do_secondary(self, node, _at):
        if not self.is_on("secondary"):
            self.result.note(
                node, "PowerDNS does not ask primaries; volleyd does for each zone that has them")

    do_slave = do_secondary

    def do_gsqlite3_dnssec(self, node, _at):
        if not self.result.zones_folder:
            self.result.idle(node, "the database is read with --zones")

    def do_forward_dnsupdate(self, node, _at):
        if self.is_on("dnsupdate") and self.is_on("forward-dnsupdate"):
            self.result.hole(node, "volleyd forwards no updates: send them to the primary")
        else:
            self.result.idle(node, "volleyd forwards no updates")

    def do_lua_dnsupdate_policy_script(self, node, _at):
        if node.word() and self.is_on("dnsupdate"):
            self.result.hole(
                node, "Volley runs no Lua, and without it the rules would allow more: no zone "
                "gets allow-update")
        elif node.word():
            self.result.idle(node, "dnsupdate is off")

    def tell_notify(self, given):
        """PowerDNS looks up the addresses of the NS records; once for the whole file."""
        if "notify" not in self.told:
            self.told.add("notify")
            self.result.left(
                given.node("zone"), "PowerDNS notifies the servers of the NS records by itself; "
                "volleyd notifies those of zones[].notify only")

    # --- Back ends --------------------------------------------------------------------------------

    def carry_backend(self, backend):
        kind, _colon, name = backend.partition(":")
        prefix = f"{kind}-{name}-" if name else f"{kind}-"
        if kind == "gsqlite3":
            self.carry_database(prefix)
        elif kind == "bind":
            self.carry_bind()
        else:
            self.result.hole(
                self.node("launch"), f"the zones of {backend}: copy them by 'pdnsutil b2b-migrate "
                f"{kind} gsqlite3', in a pdns.conf with launch={kind},gsqlite3, and import one "
                "with launch=gsqlite3")

    def has_dnssec(self, given):
        return given.has_dnssec

    def database(self, name, first):
        """The database in this setting; None, with a note, if it cannot be read."""
        path = self.text(name)
        if not self.result.zones_folder:
            self.result.hole(
                self.node(name), "give --zones FOLDER for the zones of the database, which become "
                "files")
            return None
        try:
            if not path.startswith("/"):
                raise pdns_database.Fault("give it an absolute name")
            found = pdns_database.Database(path, first)
            found.read_rest()
            keys = found.tsig_keys()
            os.makedirs(self.result.zones_folder, exist_ok=True)
        except (pdns_database.Fault, OSError) as fault:
            self.result.hole(self.node(name), f"{path}: {fault}")
            return None
        for key, algorithm, secret in keys:
            node = source.Node("TSIG", path, key or "")
            self.result.tsig_key(node, key or "", algorithm or "", secret or "")
        return found

    def carry_database(self, prefix):
        database = self.database(prefix + "database", "domains")
        try:
            for given in self.zones_of(database, prefix) if database else ():
                self.zones.carry(given)
            if database and database.count("comments"):
                self.result.left(source.Node("comments", database.path, 0),
                                 "comments stay in the database")
            if database and database.count("supermasters") and self.is_on("autosecondary"):
                self.result.hole(
                    source.Node("supermasters", database.path, 0), "volleyd adds no zones by "
                    "NOTIFY: consume a catalog, or add zones by 'volleyctl zone add'")
        except pdns_database.Fault as fault:
            self.result.hole(self.node(prefix + "database"), f"{database.path}: {fault}")

    def zones_of(self, database, prefix):
        """Catalogs that are consumed come first: their members are known by them."""
        for domain in sorted(database.domains(), key=lambda one: one.kind != "CONSUMER"):
            at = database.key(domain.id)
            given = pdns_zones.Given((database.path, domain.name), domain.name or "", domain.kind,
                                     domain.masters, database.meta.get(at, ()),
                                     database.keys.get(at, ()))
            given.records = lambda domain=domain: database.records(domain)
            given.catalog = (domain.catalog or "").lower().rstrip(".")
            given.servers = database.servers
            given.options = pdns_zones.options_of(domain.options)
            given.has_dnssec = self.is_on(prefix + "dnssec")
            yield given

    def carry_bind(self):
        """PowerDNS reads only zones of named.conf, and of these only what is below."""
        keys = self.database("bind-dnssec-db",
                             "cryptokeys") if self.text("bind-dnssec-db") else None
        tree, path = source.Named(), self.text("bind-config")
        try:
            if not path:
                raise source.Fault("bind-config is missing")
            tree.read(path)
        except source.Fault as fault:
            self.result.hole(self.node("bind-config"), str(fault))
            return
        options = tree.top.find("options")
        self.result.folder = (options.text("directory") if options else "") or None
        for node in tree.top.all("zone"):
            name = node.word().lower().rstrip(".")
            lists = [node.find(*words) for words in (("primaries", "masters"), ("also-notify", ))]
            masters, notify = (" ".join(
                named_address(one, words)
                for one, words in named_lists.servers(tree.top, lst)) if lst else ""
                               for lst in lists)
            kind = {"hint": "", "forward": ""}.get(node.text("type"), node.text("type"))
            if not kind:
                self.result.idle(node, "PowerDNS does not serve it")
                continue
            given = pdns_zones.Given((node.file, node.line), name, kind, masters, [
                *(keys.meta.get(name, ()) if keys else
                  ()), *([("ALSO-NOTIFY", notify)] if notify else ())
            ],
                                     keys.keys.get(name, ()) if keys else ())
            given.file, given.has_dnssec = node.text("file"), keys is not None
            self.zones.carry(given)

    def leave_catalogs(self):
        """A zone may name a catalog that is none, or that could not be carried over."""
        zones = self.result.config.get("zones", ())
        made = {zone["name"] for zone in zones if zone.get("catalog") == "produce"}
        for zone in zones:
            if zone.get("member-of", "") and zone["member-of"] not in made:
                self.result.hole(self.result.origins[id(zone), "member-of", None],
                                 f"there is no catalog {zone['member-of']}")
                del zone["member-of"]
                zone.pop("group", None)

    # --- Templates --------------------------------------------------------------------------------

    def make_templates(self):
        """Zones with the same settings get a template, so that a zone is a line or two."""
        groups = {}
        for zone in self.result.config.get("zones", ()):
            groups.setdefault(self.shape(zone), []).append(zone)
        used = {item["name"] for item in self.result.config.get("templates", ())}
        for (shape, file), zones in groups.items():
            if len(zones) < 2 or len(shape) + bool(file) < 2:
                continue
            first, n = zones[0], len(used) + 1
            used.add(f"pdns-{n}")
            template = self.result.item(self.result.origins[id(first), None, None],
                                        self.result.config,
                                        "templates",
                                        name=f"pdns-{n}")
            if file:
                template["file"] = file
            for key in shape:
                template[key[0]] = first[key[0]]
            for zone in zones:
                for key in list(zone):
                    if key != "name":
                        del zone[key]
                zone["template"] = template["name"]

    def shape(self, zone):
        """(the settings, the file with %s in place of the name); volleyd shortens longer names"""
        file, name = zone.get("file", ""), zone["name"].rstrip(".")
        folder = self.result.zones_folder or ""
        is_usual = file == f"{folder}/{name}.zone" and "%" not in folder and len(name) <= NAME_MAX
        own = () if is_usual or not file else (("file", file), )
        return (tuple((key, repr(value))
                      for key, value in sorted(zone.items()) if key not in ("name", "file")) + own,
                f"{folder}/%s.zone" if is_usual else "")


def named_address(one, words):
    return (f"[{one.name}]" if ":" in one.name else one.name) + (f":{words['port']}"
                                                                 if words["port"] else "")
