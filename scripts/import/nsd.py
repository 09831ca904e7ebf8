# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""nsd.conf(5): server, keys, and zones with their patterns."""
import functools

import source
import values
from flat import Server

FOLDER = "/etc/nsd"


class Nsd(Server):
    def __init__(self, result, top):
        super().__init__("nsd", result, top)
        self.zone = None
        self.flat = {}  # {zone or pattern: with_patterns()}

    def run(self):
        self.result.folder = self.server_text("zonesdir") or FOLDER
        self.addresses(("ip-address", "interface"), ("tls-service-pem", ), ("tls-service-key", ),
                       ("0.0.0.0", "::"), {"proxy-protocol-port": "", "tls-auth-port": ""})
        for key in self.sections("key"):
            self.carry(key, "key")
            self.result.tsig_key(key, key.text("name"), key.text("algorithm"), key.text("secret"))
        for section in self.top.children:
            if section.name == "zone":
                self.carry_zone(section)
            elif section.name in ("server", "remote-control", "dnstap", "verify", "tls-auth"):
                self.carry(section, section.name)
            elif section.name == "pattern":
                self.check_pattern(section)
            elif section.name != "key":
                self.result.hole(section, "nsd has no such section")
        self.result.end_folder(self.server_option("zonesdir"))

    @functools.cache
    def by_name(self, section):
        return {node.text("name"): node for node in reversed(self.sections(section))}

    def named(self, section, name):
        return self.by_name(section).get(name)

    # --- Zones ------------------------------------------------------------------------------------

    def with_patterns(self, part):
        """All options of a zone or a pattern and of its patterns, in the order in which nsd reads
        them; of an option that comes more than once the last place."""
        if part not in self.flat:
            found = {}
            self.flat[part] = ()  # it includes itself: do_include_pattern() says so
            for node in part.children:
                pattern = self.named("pattern", node.word()) if node.name == "include-pattern" else None
                for one in (*(self.with_patterns(pattern) if pattern else ()), node):
                    found.pop(one, None)
                    found[one] = None
            self.flat[part] = tuple(found)
        return self.flat[part]

    @functools.cache
    def patterns_of_zones(self):
        return {node.word() for section in self.sections("zone", "pattern")
                for node in section.all("include-pattern")}

    def check_pattern(self, pattern):
        """A pattern that no zone has is for zones that nsd-control adds."""
        name = pattern.text("name")
        if name not in self.patterns_of_zones():
            self.result.left(pattern, f"no zone of this file has the pattern {name}: see templates "
                                      "and catalogs for zones that are added while volleyd runs")

    def carry_zone(self, section):
        result = self.result
        zone = result.zone(section, section.text("name"))
        if zone is None:
            return
        options = self.with_patterns(section)
        self.zone = options
        self.put_file(section, zone, options)
        part = source.Node(section.name, section.file, section.line)
        part.children = options
        self.carry(part, "zone", zone)
        for node in options:  # BLOCKED counts at any place
            if node.word(1) == "BLOCKED" and node.name in ("provide-xfr", "allow-notify"):
                key = "allow-transfer" if node.name == "provide-xfr" else "allow-notify"
                result.deny(node, zone, key, node.word())
        if self.is_closed(section, zone, options):
            return
        result.end_zone(section, zone, any(node.name == "request-xfr" for node in options))

    def is_closed(self, section, zone, options):
        """True if the zone has clients of its own: it is left out."""
        rules = [node for node in options if node.name == "allow-query"]
        open_to = {values.prefix(node.word()) for node in rules if node.word(1) == "NOKEY"}
        if not rules or (open_to >= set(values.EVERYONE) and
                         not any(node.word(1) == "BLOCKED" for node in rules)):
            return False
        for node in rules[1:]:
            self.result.hole(node, "see the line above about this zone")
        self.result.drop_zone(rules[0], zone, f"{section.text('name')} has clients of its own, and "
                              "Volley has one list for all zones, server.allow")
        return True

    def put_file(self, section, zone, options):
        """%s is the zone's name as the file has it, %1 to %3 are its first letters, %z, %y and %x its
        last labels."""
        nodes = [node for node in options if node.name == "zonefile"]
        if not nodes or not nodes[-1].word():
            return
        name = section.text("name")
        labels = ["."] * 3 + (zone["name"].rstrip(".") or ".").split(".")
        codes = {"s": name, "z": labels[-1], "y": labels[-2], "x": labels[-3],
                 **{str(i + 1): (name + "...")[i] for i in range(3)}}
        text, parts = nodes[-1].word(), []
        while text:
            before, mark, text = text.partition("%")
            parts.append(before)
            if mark and text[:1] not in codes:
                self.result.hole(nodes[-1], "Volley does not know this %: give the zone its file")
                return
            parts.append(codes[text[0]] if mark else "")
            text = text[1:]
        self.result.set(section if not parts else nodes[-1], "zones[].file", "".join(parts), zone)

    def do_include_pattern(self, node, _zone):
        pattern = self.named("pattern", node.word())
        if not pattern:
            self.result.hole(node, f"the file has no pattern \"{node.word()}\"")
        elif node in self.with_patterns(pattern):
            self.result.hole(node, f"the pattern \"{node.word()}\" includes itself")

    def tls_of(self, node, name):
        """The values of a remote for a tls-auth; None, with a note, if it is missing."""
        auth = self.named("tls-auth", name)
        if not auth or not auth.text("auth-domain-name"):
            self.result.hole(node, f"the file has no tls-auth {name} with an auth-domain-name")
            return None
        if auth.find("client-cert"):
            self.result.hole(auth, "Volley shows no certificate of its own to a primary")
        bundle = self.server_text("tls-cert-bundle")
        return {"tls": "strict", "tls_name": auth.text("auth-domain-name"),
                "tls_bundle": bundle and self.result.path(bundle)}

    def do_request_xfr(self, node, zone):
        """[AXFR|UDP] ADDRESS KEY [TLS-AUTH]"""
        words = node.words[1:] if node.word() in ("AXFR", "UDP") else node.words
        key = "notify" if node.name == "notify" else "primaries"
        if len(words) < 2:
            self.result.hole(node, "an address and a key or NOKEY are expected")
            return
        if words is not node.words:
            self.result.idle(node, f"{node.word()}: volleyd finds out by itself what a primary can")
        tls = self.tls_of(node, words[2]) if words[2:] else {}
        if tls is None:
            return
        source = [one.word() for one in self.zone if one.name == "outgoing-interface"]
        name = self.result.remote(node, words[0], key=None if words[1] == "NOKEY" else words[1],
                                  source=source, **tls)
        if name:
            self.result.append(node, zone, key, name)

    do_notify = do_request_xfr

    def do_outgoing_interface(self, node, _zone):
        servers = [one.words[-2 - (len(one.words) > 2 and one.words[0] not in ("AXFR", "UDP"))]
                   for one in self.zone if one.name in ("request-xfr", "notify") and one.word(1)]
        if not any((":" in server) == (":" in node.word()) for server in servers):
            self.result.idle(node, "no server of this family is asked or notified")

    def do_provide_xfr(self, node, zone):
        key = "allow-transfer" if node.name == "provide-xfr" else "allow-notify"
        prefix, who = node.word(), node.word(1)
        if not who:
            self.result.hole(node, "an address and a key, NOKEY or BLOCKED are expected")
        elif who == "BLOCKED":
            self.result.hole(node, f"a rule of Volley cannot exclude {prefix}: write rules for the "
                                   "clients that may")
        elif key == "allow-transfer" and values.is_yes(self.server_text("tls-auth-xfr-only")):
            self.result.hole(node, "tls-auth-xfr-only asks each client for a certificate, which a rule "
                                   "of Volley cannot: decide on a rule with a key and the word tls")
        elif "-" in prefix or "@" in prefix:
            self.result.hole(node, f"\"{prefix}\": Volley has no ranges and no ports in rules: "
                                   "write ADDRESS/LENGTH")
        elif node.word(2):
            self.result.hole(node, f"nsd asks the client for a certificate, see tls-auth "
                                   f"{node.word(2)}; a rule of Volley asks for a key or, with the "
                                   "word tls, for TLS: decide on such a rule")
        else:
            self.result.rule(node, zone, key, prefix, None if who == "NOKEY" else who)

    do_allow_notify = do_provide_xfr

    def do_min_expire_time(self, node, zone):
        if node.word() != "refresh+retry+1":
            self.result.set(node, "zones[].expire-min", node.word(), zone)

    def do_catalog(self, node, zone):
        if node.word() == "producer":
            self.result.put(node, zone, "catalog", "produce")
        else:
            self.result.hole(node, "give zones[].catalog: consume, and groups with templates for "
                                   "the patterns of its members")

    def do_catalog_member_pattern(self, node, zone):
        if any(one.name == "catalog-producer-zone" for one in self.zone):
            self.result.set(node, "zones[].group", node.word(), zone)

    # --- server -----------------------------------------------------------------------------------

    def do_xdp_interface(self, node, _at):
        item = self.result.item(node, self.result.config, "interfaces")
        self.result.set(node, "interfaces[].name", node.word(), item)

    def do_chroot(self, node, _at):
        if node.word():
            self.result.left(node, "names of files are taken as they stand in the file")
        else:
            self.result.idle(node, "systemd has this")
