# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones of PowerDNS: a row of the table "domains", or a zone of the back end bind, with its
metadata and keys. Records of the database become a master file.

A note about a zone names the database as its file, and the zone as its line.
"""
import contextlib
import json
import os
import re
import time

import pdns_records
import source
import table
import values
from pdns_signing import Signer, write
from result import LEFT, NOTE

KINDS = {
    "": "native",
    "NATIVE": "native",
    "MASTER": "primary",
    "PRIMARY": "primary",
    "SLAVE": "secondary",
    "SECONDARY": "secondary",
    "PRODUCER": "producer",
    "CONSUMER": "consumer"
}
# records that PowerDNS makes of the keys itself
MADE = ("RRSIG", "NSEC", "NSEC3", "NSEC3PARAM")
KEY_TYPES = ("DNSKEY", "CDS", "CDNSKEY")


class Given:
    """A zone as PowerDNS has it. `records` is None if they are in `file`."""
    def __init__(self, place, name, kind, masters, meta, keys):
        self.place, self.name, self.masters, self.keys = place, name, masters, keys
        self.kind = KINDS.get((kind or "").upper())
        self.raw_kind, self.meta = kind, {}
        self.records = self.file = self.catalog = None
        self.options, self.servers = {}, {}
        for word, content in meta:
            self.meta.setdefault(word, []).append(content)

    def node(self, name):
        return source.Node(name, self.place[0], self.place[1])

    def words(self, name):
        return [
            word for content in self.meta.get(name, ()) for word in re.split(r"[,\s]+", content)
            if word
        ]

    def text(self, name):
        return (self.meta.get(name) or [""])[0]

    def is_set(self, name):
        return self.text(name) == "1"


class Zones:
    """SERVER is the whole: settings, result and tables."""
    def __init__(self, server):
        self.server, self.result, self.folder = server, server.result, server.result.zones_folder
        self.signer, self.consumers, self.now = Signer(self), set(), int(time.time())

    # --- A zone -----------------------------------------------------------------------------------

    def carry(self, given):
        result, node = self.result, given.node("zone")
        if given.kind is None:
            result.hole(node, f"Volley has no zones of type {given.raw_kind}")
            return
        if given.kind == "secondary" and given.catalog in self.consumers:
            result.idle(node, "it comes through its catalog")
            return
        try:
            name = pdns_records.canonical(given.name)
        except pdns_records.Fault as fault:
            result.hole(node, str(fault))
            return
        zone = result.zone(node, name)
        if zone is None:
            return
        self.carry_meta(given, zone)
        is_secondary = given.kind in ("secondary", "consumer")
        if is_secondary:
            self.add_primaries(given, zone)
        if given.kind == "producer":
            zone["catalog"] = "produce"
            result.note(
                node, "consumers of the catalog take its members for new ones, because their "
                "unique names differ (RFC 9432 section 5.4)")
        elif given.kind == "consumer":
            self.add_consumer(given, zone)
        self.add_member(given, zone)
        self.add_transfers(given, zone)
        self.add_notify(given, zone)
        self.add_updates(given, zone)
        if self.signer.sign(given, zone) and (is_secondary or given.kind == "producer" or
                                              self.put_file(given, zone)):
            result.end_zone(node, zone, is_secondary)

    def carry_meta(self, given, zone):
        rows = self.server.tables["metadata"]
        for kind, contents in given.meta.items():
            node = given.node(kind)
            node.words = contents
            if kind.startswith("X-"):
                self.result.idle(node, "names with X- are the operator's own")
            elif contents != [""]:
                table.carry(self.result, node, rows, {}, zone)

    def add_primaries(self, given, zone):
        node = given.node("master")
        own = given.words("AXFR-SOURCE") or self.server.sources()
        key = given.words("AXFR-MASTER-TSIG")[:1]
        for address in re.split(r"[,\s]+", given.masters or ""):
            if address:
                name = self.result.remote(node,
                                          self.server.address(address),
                                          source=own,
                                          key=key[0] if key else None)
                if name:
                    self.result.append(node, zone, "primaries", name)
        for prefix in self.server.words("trusted-notification-proxy"):
            self.result.rule(node, zone, "allow-notify", prefix)
        if self.server.text("xfr-max-received-mbytes"):
            size = self.server.text("xfr-max-received-mbytes")
            self.result.set(self.server.node("xfr-max-received-mbytes"),
                            "zones[].max-transfer-size", size if size == "0" else size + "m", zone)

    def add_consumer(self, given, zone):
        """Its members come from the same primaries."""
        self.consumers.add(given.name.lower())
        zone["catalog"] = "consume"
        if "primaries" not in zone:
            return
        name = "pdns-members-" + str(len(self.consumers))
        self.result.item(given.node("zone"),
                         self.result.config,
                         "templates",
                         name=name,
                         primaries=list(zone["primaries"]))
        zone["groups"] = [{"template": name}]

    def add_member(self, given, zone):
        if not given.catalog or given.kind == "consumer":
            return
        node = given.node("catalog")
        try:
            self.result.put(node, zone, "member-of", pdns_records.canonical(given.catalog))
        except pdns_records.Fault as fault:
            self.result.hole(node, str(fault))
            return
        part = given.options.get("producer", {})
        groups = part.get("group", []) if isinstance(part, dict) else []
        for i, group in enumerate(groups if isinstance(groups, list) else [groups]):
            if i == 0:
                self.result.set(node, "zones[].group", str(group), zone)
            else:
                self.result.hole(node, f"a member has one group: not {group}")
        if isinstance(part, dict) and part.get("coo"):
            self.result.hole(
                node, f"coo: Volley does not move a member to another catalog ({part['coo']})")

    def add_transfers(self, given, zone):
        result, server = self.result, self.server
        if server.is_on("disable-axfr"):
            return
        node, rules = given.node("ALLOW-AXFR-FROM"), server.words("allow-axfr-ips")
        for word in (*rules, *given.words("ALLOW-AXFR-FROM")):
            where = server.node("allow-axfr-ips") or node if word in rules else node
            if word.upper() == "AUTO-NS":
                self.add_auto_ns(given, zone)
            elif not word.startswith("!"):
                result.rule(where, zone, "allow-transfer", word)
        for word in (*rules, *given.words("ALLOW-AXFR-FROM")):
            if word.startswith("!"):
                result.deny(node, zone, "allow-transfer", word[1:])
        for name in given.words("TSIG-ALLOW-AXFR"):
            result.rule(given.node("TSIG-ALLOW-AXFR"), zone, "allow-transfer", "", name)

    def add_auto_ns(self, given, zone):
        """The addresses of the zone's name servers, as far as the database has them."""
        node, names = given.node("ALLOW-AXFR-FROM"), self.server_names(given)
        if not names:
            self.result.hole(node, "AUTO-NS: the database has no NS records of the zone")
        for name in names:
            for address in given.servers.get(name, ()):
                self.result.rule(node, zone, "allow-transfer", address)
            if name not in given.servers:
                self.result.hole(
                    node, f"AUTO-NS: give the addresses of {name} to zones[].allow-transfer")

    def server_names(self, given):
        """The names in the zone's own NS records, without their last dots."""
        return sorted({
            record.content.lower().rstrip(".")
            for record in self.records(given) if record.type == "NS" and
            record.name.lower() == given.name.lower() and not record.is_disabled
        })

    def records(self, given):
        if callable(given.records):
            given.records = [pdns_records.Record(*row) for row in given.records()]
        return given.records or ()

    def add_notify(self, given, zone):
        server, own = self.server, given.words("ALSO-NOTIFY")
        if given.kind in ("primary", "producer"):
            notifies = server.is_on("primary")
        else:
            notifies = given.kind == "secondary" and (given.is_set("SLAVE-RENOTIFY") if given.text(
                "SLAVE-RENOTIFY") else server.is_on("secondary-do-renotify"))
        if not notifies:
            if own:
                self.result.idle(given.node("ALSO-NOTIFY"),
                                 "PowerDNS does not notify for this zone")
            return
        keys = given.words("TSIG-ALLOW-AXFR")[:1] if server.is_on("send-signed-notify") else []
        for address in (*server.words("also-notify"), *own, *self.servers(given)):
            node = given.node("ALSO-NOTIFY" if address in own else "NS")
            if address in server.words("also-notify"):
                node = server.node("also-notify")
            name = self.result.remote(node,
                                      server.address(address),
                                      source=server.sources(),
                                      key=keys[0] if keys else None)
            if name:
                self.result.append(node, zone, "notify", name)
                self.allow_notified(given, zone, server.address(address).partition("@")[0])

    def servers(self, given):
        """The addresses of the NS records that PowerDNS notifies, except its own."""
        if not self.server.text("only-notify"):
            return []
        if given.records is None:
            self.server.tell_notify(given)
        for name in self.server_names(given):
            if name not in given.servers:
                self.result.gather(
                    LEFT, given.node("NS"), f"PowerDNS looks up the address of {name}, and "
                    "notifies it: give zones[].notify a remote for it")
        found = [
            address for name in self.server_names(given) for address in given.servers.get(name, ())
            if self.is_notified(address)
        ]
        if found and {"0.0.0.0", "::"} & set(self.server.words("local-address")):
            self.result.gather(
                NOTE, given.node("NS"), "one of the servers of the NS records may be this host: "
                "then take its address out of remotes")
        return found

    def is_notified(self, address):
        server = self.server
        masks = [word for word in server.words("only-notify") if not word.startswith("!")]
        out = [word[1:] for word in server.words("only-notify") if word.startswith("!")]
        own = [server.address(word).partition("@")[0] for word in server.words("local-address")]
        prefixes = [list(filter(values.prefix, words)) for words in (masks, out)]
        return bool(values.address(address)) and address not in own and \
            values.is_within(address, prefixes[0]) and not values.is_within(address, prefixes[1])

    def allow_notified(self, given, zone, address):
        """PowerDNS lets a server that it has just notified transfer the zone."""
        rules = [rule for rule in zone.get("allow-transfer", ()) if " " not in rule]
        if self.server.is_on("disable-axfr") or values.is_within(address, rules):
            return
        self.result.rule(given.node("notify"), zone, "allow-transfer", address)
        self.result.gather(
            NOTE, given.node("notify"), "servers that are notified may transfer the "
            "zone, as PowerDNS allows it for some time after each NOTIFY")

    def add_updates(self, given, zone):
        server = self.server
        if not server.is_on("dnsupdate") or given.kind in ("secondary", "consumer", "producer") or \
                server.text("lua-dnsupdate-policy-script"):
            return
        own, keys = given.words("ALLOW-DNSUPDATE-FROM"), given.words("TSIG-ALLOW-DNSUPDATE")
        for prefix in (*server.words("allow-dnsupdate-from"), *own):
            node = given.node("ALLOW-DNSUPDATE-FROM")
            for key in keys or [None]:
                if not prefix.startswith("!"):
                    self.result.rule(node, zone, "allow-update", prefix, key)
        for prefix in (*server.words("allow-dnsupdate-from"), *own):
            if prefix.startswith("!"):
                self.result.deny(given.node("ALLOW-DNSUPDATE-FROM"), zone, "allow-update",
                                 prefix[1:])

    # --- Its file ---------------------------------------------------------------------------------

    def put_file(self, given, zone):
        """False, with a note, if the zone cannot be served."""
        if given.file:
            return self.result.set(given.node("file"), "zones[].file", given.file, zone)
        try:
            text = self.master_file(given)
            name = re.sub("[^A-Za-z0-9._-]", lambda c: f"%{ord(c[0]):02X}", zone["name"][:-1] or
                          ".")
            path = os.path.join(self.folder, name + ".zone")
            write(path, text, 0o644)
        except (pdns_records.Fault, OSError, UnicodeError) as fault:
            self.result.drop_zone(given.node("zone"), zone,
                                  getattr(fault, "strerror", None) or str(fault))
            return False
        self.result.put(given.node("zone"), zone, "file", path)
        return True

    def soa(self, given):
        found = [
            record for record in self.records(given) if record.type == "SOA" and
            record.name.lower() == given.name.lower() and not record.is_disabled
        ]
        if not found:
            raise pdns_records.Fault("it has no SOA record, so PowerDNS does not serve it either")
        return found[0], pdns_records.Soa(found[0].content)

    def master_file(self, given):
        """Raises pdns_records.Fault if there is no SOA record."""
        first, soa = self.soa(given)
        first.content = soa.content(self.serial(given, soa))
        ttl = values.number(self.server.text("default-ttl") or "3600")
        if ttl is None:
            raise pdns_records.Fault("default-ttl is not a number")
        lines, asides = [first.line(ttl)], []
        suffix = "." + given.name.lower()
        for record in self.records(given):
            name = record.name.lower()
            if record.type == "SOA" and not record.is_disabled:
                continue
            if name != suffix[1:] and not name.endswith(suffix) and given.name not in ("", "."):
                self.result.left(given.node(record.type or "record"),
                                 f"{record.name} is outside of the zone")
            elif record.type and self.is_carried(given, record, asides):
                with self.noted(given, record):
                    lines.append(record.line(ttl))
        self.tell_empty(given)
        return "$ORIGIN .\n" + "".join(lines + asides)

    @contextlib.contextmanager
    def noted(self, given, record):
        try:
            yield
        except pdns_records.Fault as fault:
            self.result.hole(given.node(record.type), f"{record.name}: {fault}")

    def is_carried(self, given, record, asides):
        """False, with a note, for a record that Volley cannot serve, or PowerDNS does not."""
        result, node, kind = self.result, given.node(record.type), record.type
        aside = f"; {record.name} {record.type} {record.data}"
        if record.is_disabled:
            result.gather(NOTE, given.node("disabled"),
                          "disabled records are comments at the end of the zone's file")
        elif kind == "ALIAS" and self.server.is_on("expand-alias"):
            result.hole(
                node, f"{record.name} has the addresses of {record.data}: Volley has no ALIAS "
                "records: write its A and AAAA records into the zone's file")
        elif kind == "LUA" and self.is_lua(given):
            result.hole(
                node, f"{record.name}: Volley runs no Lua: write the records themselves into "
                f"the zone's file in place of {record.data}")
        elif kind in ("ALIAS", "LUA"):
            setting = "expand-alias" if kind == "ALIAS" else "enable-lua-records"
            result.gather(LEFT, node, f"PowerDNS does not answer with it, because {setting} is off")
        elif kind in self.server.tables["records"]:
            result.gather(LEFT, node, self.server.tables["records"][kind].text)
        elif kind in MADE or (kind in KEY_TYPES and not self.server.is_on("direct-dnskey")):
            result.idle(node, "PowerDNS makes these records itself, and so does volleyd")
        elif kind in KEY_TYPES:
            result.hole(
                node, "direct-dnskey: keys of other signers are not possible: volleyd publishes "
                "its own")
        else:
            if kind == "DNAME" and not self.server.is_on("dname-processing"):
                result.gather(
                    NOTE, node, "volleyd redirects the names below it; PowerDNS does so only "
                    "with dname-processing")
            return True
        asides.append(re.sub(r"[\x00-\x1f\x7f]", "?", aside) + "\n")
        return False

    def is_lua(self, given):
        return self.server.is_on("enable-lua-records") or given.is_set("ENABLE-LUA-RECORDS")

    def tell_empty(self, given):
        """A record without a type makes its name exist. Names below it do so by themselves."""
        empty = {record.name.lower() for record in self.records(given) if not record.type}
        if not empty:
            return
        known = set()
        for record in self.records(given):
            name = record.name.lower() if record.type and not record.is_disabled else ""
            while name and name not in known:
                known.add(name)
                name = name.partition(".")[2]
        for name in sorted(empty - known):
            self.result.left(
                given.node("record"), f"{name} has no records, and none below it: PowerDNS "
                "answers NOERROR, volleyd NXDOMAIN")

    def serial(self, given, soa):
        """The serial that secondaries have."""
        kind = given.text("SOA-EDIT")
        if not kind and self.signer.keys_of(given):
            kind = self.server.text("default-soa-edit-signed")
        kind = kind or self.server.text("default-soa-edit")
        serial = pdns_records.edited(soa.serial, kind, self.now)
        if serial is None:
            self.result.hole(
                given.node("SOA-EDIT"), f"{kind} is not known: see that the serial in the zone's "
                "file is not below that of the secondaries")
            return soa.serial
        if serial != soa.serial:
            self.result.gather(
                NOTE, given.node("SOA-EDIT"), "the zone's file has the serial that PowerDNS tells, "
                "and not the one that is stored")
        return serial


def options_of(text):
    """The column "options" of PowerDNS 4.7, which is JSON."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
