# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""knot.conf(5): server, keys, remotes, policies, modules, and zones with their templates."""
import functools
import re

import source
import values
from flat import Server, listen
from knot_acl import Acls

STORAGE = "/var/lib/knot"
# modules that decide who gets an answer, or sign it: without them the zone must not be served
WEIGHTY = {"mod-queryacl": "it limits who may ask, and Volley has one list for all zones",
           "mod-onlinesign": "it signs answers: give zones[].signing, and bring the keys"}
HARMLESS = ("mod-rrl", "mod-cookies", "mod-stats")


class Knot(Server):
    def __init__(self, result, top):
        super().__init__("knot", result, top)
        self.acls = Acls(result, self.item, self.remotes)
        self.modules, self.of_templates = set(), {}  # weighty ones of a zone, and of templates

    def run(self):
        for key in self.items("key"):
            self.carry(key, "key")
            self.result.tsig_key(key, key.text("id"), key.text("algorithm"), key.text("secret"))
        for remote in self.items("remote"):
            self.carry_remote(remote)
        for policy in self.items("policy"):
            self.carry_policy(policy)
        for section in self.top.children:
            self.carry_section(section)
        for zone in self.items("zone"):
            self.carry_zone(zone)
        if "listen" not in self.result.config.get("server", {}):
            place = (self.sections("server") or self.top.children)[0]
            self.result.hole(source.Node("listen", place.file, place.line),
                             "knotd listens on no address: give server.listen")

    @functools.cache
    def items(self, section):
        return [item for node in self.sections(section) for item in node.children
                if item.name == "item"]

    @functools.cache
    def by_name(self, section):
        return {item.text("id"): item for item in reversed(self.items(section))}

    def item(self, section, name):
        return self.by_name(section).get(name)

    def remotes(self, words):
        """The names of remotes, with those of groups resolved."""
        groups = [(word, self.item("remotes", word)) for word in words]
        return [name for word, group in groups
                for name in (group.find("remote").words if group and group.find("remote") else [word])]

    def carry_section(self, section):
        name = section.name
        if name in ("key", "remote", "policy", "zone"):
            return
        if name == "xdp":
            self.carry_xdp(section)
        elif name in ("acl", "remotes", "template"):
            for item in section.all("item"):
                if not self.is_named(item):
                    self.result.left(item, f"no zone of this file needs {item.text('id')}")
                elif name != "template":
                    self.carry(item, name)
        elif name in self.tables:
            for node in section.children:
                if node.name == "item":
                    self.carry(node, name)
            self.carry_plain(section, name)
        else:
            self.result.hole(section, "Volley has no such module" if name.startswith("mod-") else
                             "Volley has nothing like this section")

    def is_named(self, item):
        name = item.text("id")
        if item.parent.name == "template" and name == "default" and \
                any(not zone.find("template") for zone in self.items("zone")):
            return True
        return any(name in node.words for section in self.top.children for part in section.children
                   for node in part.children if part is not item)

    def carry_plain(self, section, rows):
        part = source.Node(section.name, section.file, section.line)
        part.children = [node for node in section.children if node.name != "item"]
        self.carry(part, rows)

    # --- server, xdp ------------------------------------------------------------------------------

    def do_listen(self, node, _at):
        for word in node.words:
            listen(self.result, node, word, "", node.name == "listen-tls")

    do_listen_tls = do_listen

    def do_version(self, node, _at):
        if node.word():
            self.result.set(node, "server.version", node.word())

    def do_identity(self, node, _at):
        if node.word():
            self.result.set(node, "server.identity", node.word())

    def do_nsid(self, node, _at):
        if node.word():
            self.result.set(node, "server.nsid", node.word())
        else:
            self.result.note(node, "knotd uses the name of the host: give server.nsid")

    def do_cert_file(self, node, _at):
        leaf = "key" if node.name == "key-file" else "certificate"
        if node.parent.find("listen-tls"):
            self.result.set(node, "server.tls." + leaf, node.word())
        else:
            self.result.idle(node, "the file has no listen-tls")

    do_key_file = do_cert_file

    def carry_xdp(self, section):
        for word in section.find("listen").words if section.find("listen") else ():
            name = word.partition("@")[0]
            if "." in name or ":" in name:
                self.result.hole(section.find("listen"),
                                 f"{word}: Volley knows interfaces by their names")
            else:
                item = self.result.item(section, self.result.config, "interfaces")
                self.result.set(section.find("listen"), "interfaces[].name", name, item)
        self.carry(section, "xdp")

    # --- remotes, policies ------------------------------------------------------------------------

    def carry_remote(self, item):
        result, tls = self.result, {}
        self.carry(item, "remote")
        if values.is_yes(item.text("quic")):
            result.hole(item, "Volley has no transfer over QUIC")
            return
        if values.is_yes(item.text("tls")):
            pins = item.find("cert-key")
            bundle = self.server_text("ca-file")
            tls = {"tls": "strict", "tls_name": item.text("cert-hostname"),
                   "tls_pin": pins.word() if pins else "",
                   "tls_bundle": bundle if item.find("cert-hostname") and bundle != "system" else ""}
            if pins:
                for word in pins.words[1:]:
                    result.left(pins, f"remotes[].tls-pin is one digest: not {word}")
            if not tls["tls_name"] and not tls["tls_pin"]:
                result.hole(item, "TLS without cert-key and cert-hostname trusts any server: give "
                                  "tls-name")
                return
        addresses, via = item.find("address"), item.find("via")
        for word in addresses.words if addresses else ():
            result.remote(addresses, word, name=item.text("id"), key=item.text("key"),
                          source=via.words if via else (), **tls)

    def carry_policy(self, item):
        result, name = self.result, item.text("id")
        policy = {}
        if name and self.item("policy", name) is not item:
            result.hole(item, f"the file has two policies {name}")
        elif result.set(item, "signing[].name", name, policy):
            result.config.setdefault("signing", []).append(policy)
            policy["keys"] = "ksk-zsk"  # the default of Knot
            self.carry(item, "policy", policy)

    def do_single_type_signing(self, node, at):
        self.result.put(node, at, "keys", "csk" if values.is_yes(node.word()) else "ksk-zsk")

    def do_nsec3(self, node, at):
        self.result.put(node, at, "denial", "nsec3" if values.is_yes(node.word()) else "nsec")

    def do_cds_cdnskey_publish(self, node, at):
        is_off = node.word() in ("none", "delete-dnssec")
        self.result.put(node, at, "cds", "false" if is_off else "true")

    # --- modules ----------------------------------------------------------------------------------

    def do_whitelist(self, node, _at):
        for word in node.words:
            self.result.allow(node, "rrl.exempt", word)

    def do_rate_limit(self, node, _at):
        self.result.set(node, "rrl.answers", node.word())
        self.result.note(node, "rrl.answers counts the answers of all zones to one address")

    def do_secret(self, node, _at):
        if node.parent.parent.name == "mod-cookies":  # "0x" and 32 digits
            self.result.set(node, "server.cookies.secret", node.word().removeprefix("0x"))

    def do_module(self, node, zone):
        for word in node.words:
            name = word.partition("/")[0]
            if name in WEIGHTY:
                self.result.hole(node, f"{word}: {WEIGHTY[name]}")
                self.modules.add(name)
            elif name not in HARMLESS:
                self.result.hole(node, f"Volley has no module {word}")
            else:
                self.result.idle(node, f"{name} of Volley is for all zones")
        del zone

    do_global_module = do_module

    # --- zones ------------------------------------------------------------------------------------

    def template_of(self, item):
        return self.item("template", item.text("template") or "default")

    def find(self, item, name):
        """The option of the zone, or else of its template."""
        found, template = item.find(name), self.template_of(item)
        return found or (template.find(name) if template else None)

    def text(self, item, name):
        node = self.find(item, name)
        return node.word() if node else ""

    def carry_zone(self, item):
        result = self.result
        zone = result.zone(item, item.text("domain"))
        if zone is None:
            return
        self.modules.clear()
        self.put_file(item, zone, zone["name"].rstrip(".") or ".", self.text(item, "storage"),
                      self.text(item, "file"))
        self.carry(item, "zone", zone)
        part = source.Node("template", item.file, item.line)
        template = self.template_of(item)
        if item.text("template") and not template:
            result.hole(item.find("template"), f"the file has no template {item.text('template')}")
        part.children = [node for node in template.children
                         if not item.find(node.name)] if template else []
        self.carry(part, "zone", zone)
        default = self.item("template", "default")
        for node in default.all("global-module") if default and default is not template else ():
            self.do_module(node, zone)
        if values.is_yes(self.server_text("automatic-acl")):
            notify = self.find(item, "notify")
            for name in self.remotes(notify.words) if notify else ():
                remote = self.item("remote", name)
                if not remote or values.is_yes(remote.text("automatic-acl") or "on"):
                    self.acls.remote(notify, zone, name, "allow-transfer")
        self.sign(item, zone, self.text(item, "dnssec-signing"))
        self.carry_groups(self.find(item, "catalog-template"), zone)
        if self.modules:
            result.drop_zone(item, zone, f"without {' and '.join(sorted(self.modules))} it must not "
                                         "be served")
        else:
            result.end_zone(item, zone, self.find(item, "master") is not None)

    def sign(self, item, zone, word):
        """WORD is dnssec-signing of the zone, or of the template of members of a catalog."""
        result = self.result
        if not values.is_yes(word):
            zone.pop("signing", None)
        elif "primaries" in zone:
            result.hole(item, "Volley does not sign a zone that has primaries: sign it on the primary")
            zone.pop("signing", None)
        else:
            if "signing" not in zone:  # Knot's policy for zones that name none
                zone["signing"] = "default"
                if not result.named("signing", "default"):
                    result.item(item, result.config, "signing", name="default", keys="ksk-zsk")
            name = zone["name"] if item.find("domain") else f"of template {item.text('id')}"
            result.keys_wanted(item, {"name": name}, "in knotd's KASP database")

    def do_dnssec_policy(self, node, zone):
        name = node.word()
        if self.result.named("signing", name):
            self.result.set(node, "zones[].signing", name, zone)
        elif name != "default":
            self.result.hole(node, f"the policy {name} is not carried over"
                             if self.item("policy", name) else f"the file has no policy {name}")

    def do_master(self, node, zone):
        key = "primaries" if node.name == "master" else "notify"
        for name in self.remotes(node.words):
            made = re.sub(r"[^A-Za-z0-9._-]", "-", name[:63])
            if self.result.named("remotes", made):
                self.result.append(node, zone, key, made)
            else:
                self.result.hole(node, f"the remote {name} is not carried over"
                                 if self.item("remote", name) else f"the file has no remote {name}")

    do_notify = do_master

    def do_acl(self, node, zone):
        self.acls.carry(node, zone)

    def do_zonefile_sync(self, node, zone):
        word = node.word()
        if word in ("", "-1"):
            self.result.put(node, zone, "zonefile-sync", "0")
            self.result.note(node, "changes that knotd has not written to the file are in its journal: "
                                   "'knotc zone-flush +force' before the switch")
        else:
            self.result.set(node, "zones[].zonefile-sync", "1" if word == "0" else word, zone)

    def do_zonefile_load(self, node, _zone):
        if node.word() == "none":
            self.result.hole(node, "the zone is in knotd's journal alone: write it to its file by 'knotc "
                                   "zone-flush +force' before the switch")
        else:
            self.result.idle(node, "volleyd finds the changes in a zone's file by itself")

    def do_catalog_role(self, node, zone):
        roles = {"generate": "produce", "interpret": "consume"}
        if node.word() in roles:
            self.result.put(node, zone, "catalog", roles[node.word()])
        elif node.word() == "member":
            self.result.idle(node, "zones[].member-of says so")

    def put_file(self, node, at, name, storage, file):
        """Joins the folder and the file. NAME replaces %s, except in a template: NAME is None."""
        file = file or "%s.zone"
        if not re.fullmatch(r"(%%|%s|[^%])*", file):
            self.result.hole(node, "Volley knows only %s: give the file its name")
            return
        whole = file if file.startswith("/") else f"{storage or STORAGE}/{file}"
        if name is not None:
            name = name.replace("/", "_")  # as knotd does, for 0/25.2.0.192.in-addr.arpa
            whole = re.sub("%([%s])", lambda m: name if m[1] == "s" else "%", whole)
        self.result.set(node, "zones[].file", whole, at)

    # --- Templates of members of catalogs ---------------------------------------------------------

    def carry_groups(self, node, zone):
        """The first template is for all members, and each other one is for the group of its name."""
        for i, word in enumerate(node.words if node else ()):
            item = self.item("template", word)
            if item is None:
                self.result.hole(node, f"the file has no template {word}")
                continue
            name = "knot-default" if word == "default" else word  # "default" would be for all zones
            if not self.result.named("templates", name):
                made = self.result.item(item, self.result.config, "templates")
                self.result.set(item, "templates[].name", name, made)
                if not item.find("master"):
                    self.put_file(item, made, None, item.text("storage"), item.text("file"))
                self.carry_template(item, made)
            self.modules |= self.of_templates.get(word, set())
            group = {"group": word} if i else {}
            zone.setdefault("groups", []).append({**group, "template": name})

    def carry_template(self, item, made):
        """What members need, each zone that names the template for its members must have."""
        kept, self.modules = self.modules, set()
        self.carry(item, "zone", made)
        self.sign(item, made, item.text("dnssec-signing"))
        if "primaries" in made and made.pop("allow-update", None):
            self.result.hole(item, "Volley does not forward updates of a zone with primaries")
        self.of_templates[item.text("id")], self.modules = self.modules, kept
