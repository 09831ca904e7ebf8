# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""unbound.conf(5): clients, local data, forward zones, stubs, served zones and policies."""
import functools
import ipaddress
import re

import values
from flat import Server

FOLDER = "/etc/unbound"
TTL = "3600"  # the default of unbound for local data
LANS = ("10.in-addr.arpa", "172.in-addr.arpa", "168.192.in-addr.arpa", "254.169.in-addr.arpa",
        "d.f.ip6.arpa")


class Unbound(Server):
    def __init__(self, result, top):
        super().__init__("unbound", result, top)
        self.records = set()  # lists have a hundred thousand: a search for each takes minutes

    def run(self):
        self.result.folder = self.server_text("directory") or FOLDER
        self.addresses(("interface", "ip-address"), ("tls-service-pem", "ssl-service-pem"),
                       ("tls-service-key", "ssl-service-key"), ("127.0.0.1", "::1"),
                       {"proxy-protocol-port": "", "https-port": "443", "quic-port": ""})
        self.carry_clients()
        for section in self.top.children:
            how = {"forward-zone": self.carry_upstreams, "stub-zone": self.carry_upstreams,
                   "auth-zone": self.carry_auth, "rpz": self.carry_rpz}.get(section.name)
            if how:
                how(section)
            elif section.name in self.tables:
                self.carry(section, section.name)
            else:
                self.result.hole(section, "Volley has nothing like this section")
        self.finish()
        self.result.end_folder(self.server_option("directory"))

    def finish(self):
        """Only clients that may recurse may ask for zones, like with auth-zones of unbound."""
        allow = self.result.config.get("recursion", {}).get("allow")
        if not self.result.config.get("zones"):
            return
        if allow:
            self.result.object("server")["allow"] = list(allow)
        else:  # the section "server" has reported these prefixes
            self.result.allow_nobody(self.sections("server")[0])

    # --- Clients ----------------------------------------------------------------------------------

    def carry_clients(self):
        """The longest prefix decides, so a prefix with a refused part is not carried over."""
        result = self.result
        nodes = [node for section in self.sections("server") for node in section.all("access-control")]
        for prefix in ("127.0.0.0/8", "::1"):
            result.allow(self.sections("server")[0] if self.sections("server") else
                         self.top.children[0], "recursion.allow", prefix)
        for node in nodes:
            action = node.word(1)
            if not action:
                result.hole(node, "a prefix and an action are expected")
            elif action in ("allow", "allow_snoop", "allow_setrd"):
                result.allow(node, "recursion.allow", node.word())
                if action == "allow_setrd":
                    result.left(node, "volleyd recurses for queries with RD only")
            elif action == "allow_cookie":
                result.hole(node, "unbound answers over UDP only if the query has a valid cookie: add "
                                  f"{node.word()} to recursion.allow if the limits of rrl, which "
                                  "spare queries with a cookie, are enough")
            elif action not in ("deny", "refuse", "deny_non_local", "refuse_non_local"):
                result.hole(node, f"Volley has no action {action}")
        for node in nodes:
            if node.word(1) in ("deny_non_local", "refuse_non_local"):
                result.hole(node, f"{node.word(1)}: add the clients that may ask only for zones to "
                                  "server.allow")
            if node.word(1) not in ("allow", "allow_snoop", "allow_setrd"):
                self.refuse(node)

    def refuse(self, node):
        allow = self.result.config["recursion"].get("allow", [])
        out = values.prefix(node.word())
        taken = [one for one in allow if out and values.common(one, out) and
                 (one == out or values.common(one, out) != one)]
        for one in taken:
            self.result.hole(node, f"recursion.allow cannot exclude {node.word()} from {one}, which is "
                                   "not carried over: give it the prefixes of the clients that may, "
                                   "or add the refused prefix to policy.block")
            allow.remove(one)
        if not taken and node.word(1) in ("deny", "refuse"):
            self.result.idle(node, "clients outside of recursion.allow are refused")

    # --- Local data -------------------------------------------------------------------------------

    def put_record(self, node, owner, rest):
        """Adds "OWNER TTL REST", with the default TTL if REST has none. Names are absolute."""
        owner += "" if owner.endswith(".") else "."
        ttl = "" if re.match(r"(?i)(in\s+)?\d", rest) else TTL + " "
        record = f"{owner} {ttl}{rest}"
        if record not in self.records:
            self.records.add(record)
            self.result.add(node, self.result.object("recursion"), "local-data", record)

    @functools.cache
    def kinds_of_zones(self):
        """{name of a local-zone: its type}"""
        return {values.domain(zone.word()): zone.word(1) for section in self.sections("server")
                for zone in section.all("local-zone")}

    @functools.cache
    def owners_of_data(self):
        return {values.domain((data.word().split(None, 1) + [""])[0])
                for section in self.sections("server") for data in section.all("local-data")}

    def do_local_data(self, node, _at):
        owner, rest = (node.word().split(None, 1) + ["", ""])[:2]
        self.put_record(node, owner, rest.strip())
        # Its data is for all names below it.
        if self.kinds_of_zones().get(values.domain(owner)) == "redirect":
            self.put_record(node, "*." + owner, rest.strip())

    def do_local_data_ptr(self, node, _at):
        """ADDRESS [TTL] NAME"""
        words = node.word().split()
        if len(words) < 2 or not values.address(words[0]):
            self.result.hole(node, "an address and a name are expected")
            return
        owner = ipaddress.ip_address(words[0]).reverse_pointer
        ttl = f"{words[1]} " if len(words) > 2 else ""
        self.put_record(node, owner, f"{ttl}PTR {words[-1]}")

    def do_local_zone(self, node, _at):
        zone, kind = node.word(), node.word(1)
        if not kind:
            self.result.hole(node, "a name and a type are expected")
        elif kind in ("transparent", "typetransparent") and \
                ("." + (values.domain(zone) or "")).endswith(tuple(f".{name}." for name in LANS)):
            self.result.set(node, "recursion.special-names-off", zone)
        elif kind == "redirect" and values.domain(zone) not in self.owners_of_data():
            self.result.hole(node, f"{zone} redirect has no local data, so it is denied: write a list "
                                   f"for recursion.rpz (\"{zone} CNAME *.\" and \"*.{zone} CNAME *.\")")
        elif kind in ("transparent", "redirect"):
            self.result.idle(node, f"{kind}: local data of Volley is like this")
        elif kind == "nodefault":
            self.result.set(node, "recursion.special-names-off", zone)
        elif kind == "typetransparent":
            self.result.note(node, "a name with local data has no records of other types from "
                                   "upstream")
        elif kind == "static":
            self.result.hole(node, f"names below {zone} without local data would be asked upstream: "
                                   "serve it as a zone of zones, or deny it in a list of recursion.rpz")
        else:
            self.result.hole(node, f"{zone} {kind}: write a list for recursion.rpz (\"{zone} CNAME "
                                   ".\") or policy.block")

    def do_unblock_lan_zones(self, node, _at):
        for name in LANS if values.is_yes(node.word()) else ():
            self.result.set(node, "recursion.special-names-off", name)
        if not values.is_yes(node.word()):
            self.result.idle(node, "Volley does the same")

    def do_insecure_lan_zones(self, node, _at):
        for name in LANS if values.is_yes(node.word()) else ():
            self.result.set(node, "recursion.domain-insecure", name)
        if not values.is_yes(node.word()):
            self.result.idle(node, "Volley does the same")

    # --- Other options of the section server ------------------------------------------------------

    def do_do_not_query_localhost(self, node, _at):
        self.result.set(node, "recursion.query-localhost",
                        "no" if values.is_yes(node.word()) else "yes")

    def do_tcp_idle_timeout(self, node, _at):
        text = node.word()
        self.result.set(node, "server.tcp.idle-timeout",
                        text if values.number(text) is None else
                        str((values.number(text) + 999) // 1000))

    def do_serve_expired(self, node, _at):
        if values.is_yes(node.word()):
            ttl = self.server_text("serve-expired-ttl") or "0"
            self.result.set(node, "recursion.serve-stale", ttl if ttl != "0" else "1d")

    def do_module_config(self, node, _at):
        for word in " ".join(node.words).split():
            if word == "dns64":
                self.result.set(node, "recursion.dns64", "true")
            elif word not in ("validator", "iterator", "respip"):
                self.result.hole(node, f"Volley has no module {word}")
        if "validator" not in " ".join(node.words):
            self.result.idle(node, "volleyd validates if there is a trust anchor")

    def do_private_address(self, node, _at):
        self.result.allow(node, "recursion.private-address", node.word())

    def do_root_hints(self, node, _at):
        if node.word():
            self.result.set(node, "recursion.root-hints", node.word())

    def do_trust_anchor_file(self, node, _at):
        leaf = "auto-trust-anchor" if node.name.startswith("auto") else "trust-anchor"
        if not node.word():
            return
        if leaf in self.result.config.get("recursion", {}):
            self.result.hole(node, "Volley has one file of trust anchors: join the files")
        else:
            self.result.set(node, "recursion." + leaf, node.word())

    do_auto_trust_anchor_file = do_trust_anchor_file

    def do_tls_protocols(self, node, _at):
        versions = set(" ".join(node.words).split())
        if versions == {"TLSv1.3"} and any(self.server_text(f"{word}-service-key")
                                           for word in ("tls", "ssl")):
            self.result.put(node, self.result.object("server", "tls"), "min-version", "TLSv1.3")
        elif versions == {"TLSv1.2"}:
            self.result.note(node, "Volley offers TLS 1.3, too")
        else:
            self.result.idle(node, "volleyd offers TLS 1.2 and 1.3")

    def do_tcp_upstream(self, node, _at):
        if values.is_yes(node.word()):
            self.result.set(node, "recursion.transport", "tcp")

    # --- Forwarders and stubs ---------------------------------------------------------------------

    def carry_upstreams(self, section):
        """forward-zone and stub-zone: an entry for each address."""
        kind = section.name.partition("-")[0]
        name = section.text("name")
        self.carry(section, section.name)
        if not name:
            self.result.hole(section, "the section has no name")
            return
        is_tls = any(values.is_yes(text) for word in ("tls", "ssl") for text in
                     (section.text(f"{kind}-{word}-upstream"), self.server_text(f"{word}-upstream")))
        if is_tls and kind == "stub":
            self.result.hole(section.find("stub-tls-upstream", "stub-ssl-upstream") or section,
                             f"{name} is left out: volleyd would ask "
                             f"{', '.join(one.word() for one in section.all('stub-addr'))} without TLS")
            return
        is_tcp = values.is_yes(section.text(f"{kind}-tcp-upstream"))
        extra = {"first": "true"} if values.is_yes(section.text(f"{kind}-first")) else {}
        extra |= {"transport": "tls" if is_tls else "tcp"} if is_tls or is_tcp else {}
        recursion = self.result.object("recursion")
        is_forward = kind == "forward" and values.domain(name) == "."
        if is_forward and extra.get("transport"):
            self.result.set(section, "recursion.transport", extra["transport"])
        if is_forward and extra.get("first"):
            self.result.set(section, "recursion.forward-first", "true")
        nodes = section.all(f"{kind}-addr")
        for node in nodes:
            address = self.upstream(node, is_tls)
            if address and is_forward:
                self.result.set(node, "recursion.forward", address)
            elif address:
                items = "stubs" if kind == "stub" else "forward-zones"
                item = {"zone": name}
                if self.result.set(node, f"recursion.{items}[].address", address, item):
                    recursion.setdefault(items, []).append({**item, **extra})
        if not nodes:
            self.result.hole(section, f"{name} has no addresses of servers: its names are resolved "
                                      "like all others")

    def upstream(self, node, is_tls):
        """"192.0.2.1@853#name". The name counts only for TLS, which has another default port."""
        address, _hash, name = node.word().partition("#")
        if not address or (is_tls and not name):
            self.result.hole(node, "an address" + " with # and the name of the certificate" * is_tls +
                             " is needed")
            return None
        if not is_tls:
            return address
        return f"{address}{'' if '@' in address else '@853'}#{name}"

    # --- Zones that are served, and policies ------------------------------------------------------

    def do_primary(self, node, zone):
        name = self.result.remote(node, node.word())
        if name:
            self.result.append(node, zone, "primaries", name)

    do_master = do_primary

    def do_allow_notify(self, node, zone):
        self.result.rule(node, zone, "allow-notify", node.word())

    def carry_auth(self, section):
        result, name = self.result, values.domain(section.text("name"))
        is_private = section.find("for-downstream") and \
            not values.is_yes(section.text("for-downstream"))
        zone = result.zone(section, section.text("name"))
        if zone is None:
            return
        self.carry(section, "auth-zone", zone)
        is_secondary = section.find("primary", "master", "url") is not None
        if is_private and name != ".":
            result.drop_zone(section.find("for-downstream"), zone, "unbound asks it, but no client "
                             "can: Volley would serve it. Let zones serve it, or give recursion.stubs")
        elif result.end_zone(section, zone, is_secondary) and is_private:
            if self.root_is_asked_elsewhere():
                result.drop_zone(section, zone, "a copy of the root is of no use beside forwarders "
                                 "or stubs for .")
            else:
                result.set(section.find("for-downstream"), "recursion.root-copy", "true")
                zone.pop("allow-notify", None)

    def root_is_asked_elsewhere(self):
        return any(section.text("name") == "." for section in
                   self.sections("forward-zone", "stub-zone"))

    def do_for_downstream(self, node, _at):
        if values.is_yes(node.word()):
            self.result.idle(node, "a zone that volleyd serves is for all clients of server.allow")

    def do_fallback_enabled(self, node, _at):
        if not values.is_yes(node.word()) and node.parent.text("name") == ".":
            self.result.left(node, "without its copy volleyd asks the root servers")
        else:
            self.result.idle(node, "volleyd answers from a zone that it serves")

    def carry_rpz(self, section):
        """A transferred list becomes an entry of zones; a list in a file is read from that file."""
        result, name = self.result, section.text("name")
        action = section.text("rpz-action-override")
        if action in ("disabled", "passthru"):
            result.hole(section.find("rpz-action-override"), f"the list {name} changes no answers: it "
                                                             "is not carried over")
            return
        if section.find("primary", "master", "url"):
            zone = result.zone(section, name)
            if zone is None:
                return
            self.carry(section, "rpz", zone)
            if not result.end_zone(section, zone, True):
                return
            item = {"zone": zone["name"]}
            say = result.note if values.is_yes(section.text("for-downstream")) else result.hole
            say(section, f"clients of server.allow can ask for the list {zone['name']} itself")
        elif not name or not section.text("zonefile"):
            result.hole(section, "the list has no name or no zonefile")
            return
        else:
            item = {"name": name}
            self.carry(section, "rpz", item)
        result.object("recursion").setdefault("rpz", []).append(item)
