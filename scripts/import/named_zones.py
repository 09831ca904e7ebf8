# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones of named.conf(5)."""
import source
import values
from named_lists import MatchList, block, is_any, servers

ROOT_COPY = ("192.0.32.132", "192.0.47.132")  # of IANA, named's own for a mirror of the root


class Zones:
    """SERVER is the whole: result, top, options, tables and calls."""

    def __init__(self, server):
        self.server, self.result, self.top = server, server.result, server.top
        self.options, self.used_servers, self.noted = server.options, set(), set()
        self.told = set()
        self.policies = {}  # (name, folder): the name of the policy in the configuration

    def carry(self, node):
        kind, name = node.text("type").lower(), node.word()
        if node.find("in-view"):
            self.result.hole(node, "Volley has no views, and so no zones of another view")
        elif not name or not kind:
            self.result.hole(node, "a zone needs a name and a type")
        elif len(node.words) > 1 and node.word(1).upper() != "IN":
            self.result.hole(node, f"Volley has zones of class IN only, not {node.word(1)}")
        elif kind in ("primary", "master"):
            self.carry_served(node, False)
        elif kind in ("secondary", "slave", "mirror"):
            self.carry_served(node, True)
        elif kind == "hint":
            self.result.set(node, "recursion.root-hints", node.text("file"))
            self.rest(node)
        elif kind in ("forward", "static-stub", "stub"):
            self.carry_upstreams(node, name, kind)
            self.rest(node)
        else:
            self.result.hole(node, f"Volley has no zones of type {kind}")

    def rest(self, node):
        """Names the options that a zone without records has no use for."""
        known = ("type", "file", "forward", "forwarders", "server-addresses", "primaries", "masters")
        part = source.Node(node.name, node.file, node.line)
        part.children = [child for child in node.children if child.name not in known]
        self.server.carry(part, "zone", {})

    # --- Forward zones, stubs ---------------------------------------------------------------------

    def carry_upstreams(self, node, name, kind):
        result = self.result
        items = "forward-zones" if kind == "forward" else "stubs"
        option = {"forward": ("forwarders", ), "static-stub": ("server-addresses", ),
                  "stub": ("primaries", "masters")}[kind]
        addresses = node.find(*option)
        if not addresses or not addresses.children:
            result.hole(node, f"{name} has no servers: its names are resolved like all others")
            return
        for one, words in servers(self.top, addresses):
            item = {"zone": name}
            if words["tls"] and kind == "forward":
                tls = block(self.top, "tls", words["tls"])
                if tls is None or not tls.text("remote-hostname"):
                    result.hole(one, "give it transport: tls, with @853# and the name of the "
                                     "certificate")
                    continue
                text = f"{one.name}@{words['port'] or 853}#{tls.text('remote-hostname')}"
                item["transport"] = "tls"
            elif words["tls"]:
                result.hole(one, "volleyd asks stubs over UDP and TCP only")
                continue
            else:
                text = one.name + (f"@{words['port']}" if words["port"] else "")
            if result.set(one, f"recursion.{items}[].address", text, item):
                if kind == "forward" and node.text("forward") != "only":
                    item["first"] = "true"
                ordered = {key: item[key] for key in ("zone", "address", "first", "transport")
                           if key in item}
                result.object("recursion").setdefault(items, []).append(ordered)

    # --- Zones that are served --------------------------------------------------------------------

    def inherited(self, node):
        """The options that the zone has from options { }, and the tables have a row for."""
        own = {child.name for child in node.children}
        same = {"masters": "primaries", "primaries": "masters"}
        return [child for child in self.options.children
                if child.name in self.server.tables["zone"] and child.name not in own and
                same.get(child.name) not in own and child.name not in self.server.tables["options"]]

    def of(self, node, name):
        """The option of the zone, or else the one for all zones."""
        return node.find(name) or self.options.find(name)

    def carry_served(self, node, is_secondary):
        result, is_mirror = self.result, node.text("type") == "mirror"
        zone = result.zone(node, node.word())
        if zone is None:
            return
        listed = values.domain(node.word()) in self.server.policy_zones
        query = node.find("allow-query")
        if listed and query and not is_any(query):
            result.forget("zones", zone)
            self.carry_list(node, query, is_secondary)
            return
        if node.find("file"):
            result.set(node.find("file"), "zones[].file", node.text("file"), zone)
        part = source.Node(node.name, node.file, node.line)
        part.children = node.children + self.inherited(node)
        self.node, self.is_dropped = node, False
        self.server.carry(part, "zone", zone)
        self.tell_defaults(node, is_secondary)
        if self.is_closed(node, zone):
            return
        if is_mirror:
            self.mirror(node, zone)
        if is_secondary:
            zone.pop("signing", None)
        if self.is_dropped:
            return
        if result.end_zone(node, zone, is_secondary) and is_mirror and zone["name"] == ".":
            result.set(node, "recursion.root-copy", "true")
        if zone.get("signing"):
            self.sign(node, zone)

    def tell_defaults(self, node, is_secondary):
        """What named does for a zone that says nothing; once for the whole file."""
        if not self.of(node, "allow-transfer") and "transfer" not in self.told:
            self.told.add("transfer")
            self.result.left(node, "named up to 9.18 lets everybody transfer a zone without "
                                   "allow-transfer; volleyd lets nobody: see zones[].allow-transfer")
        if not is_secondary and not self.of(node, "notify") and "notify" not in self.told:
            self.told.add("notify")
            self.result.left(node, "named notifies the servers of the NS records by itself; volleyd "
                                   "notifies those of zones[].notify only")

    def carry_list(self, node, query, is_secondary):
        """A policy zone for which no client, or not all, may ask: read from its file, not served."""
        name = values.domain(node.word())
        lists = self.result.config["recursion"]["rpz"]
        at = [i for i, one in enumerate(lists) if one.get("zone") == name]
        if is_secondary or not node.text("file"):
            self.result.hole(query, f"the list {name} is left out: volleyd serves a list that it "
                                    "transfers, to the clients of server.allow")
            for i in reversed(at):
                del lists[i]
            if not lists:
                del self.result.config["recursion"]["rpz"]
            return
        for i in at:
            lists[i] = {"name": name, "file": self.result.path(node.text("file"))}
        self.result.note(node, f"the list {name} is read from its file, and not served")
        self.rest(node)

    def is_closed(self, node, zone):
        """True if the zone has fewer clients than server.allow: it is left out."""
        own, all_clients = node.find("allow-query"), self.result.config.get("server", {}).get("allow")
        on = node.find("allow-query-on")
        if on and not is_any(on):
            self.result.drop_zone(on, zone, "it is answered on some addresses of the host only")
            return True
        if own is None:
            return False
        prefixes = MatchList(self.result, self.top, own).prefixes(own)
        lost = next((one for one in prefixes if all_clients and not values.is_within(one, all_clients)),
                    None)
        missing = [one for one in all_clients or values.EVERYONE
                   if not values.is_within(one, prefixes)]
        if missing:
            self.result.drop_zone(own, zone, "it has clients of its own, and Volley has one list for "
                                  f"all zones, server.allow, which would let {missing[0]} ask")
        elif lost:
            self.result.hole(own, f"{zone['name']} is for the clients of server.allow only, and named "
                                  f"answers {lost}: server.allow is for all zones")
        return bool(missing)

    def mirror(self, node, zone):
        if zone["name"] == "." and "primaries" not in zone:
            for address in ROOT_COPY:
                self.result.append(node, zone, "primaries", self.result.remote(node, address))
        elif zone["name"] != ".":
            self.result.hole(node, "named validates a mirror: volleyd serves it as it comes from its "
                                   "primaries")

    def sign(self, node, zone):
        """The keys stay where named has them, and the policy names their folder."""
        place = self.of(node, "key-directory")
        folder = self.result.path(place.word()) if place else self.result.folder
        name = zone["signing"]
        if folder and folder.startswith("/"):
            first = self.result.named("signing", name)
            if (name, folder) not in self.policies and "key-folder" in first:
                n = sum(known == name for known, _folder in self.policies) + 1
                made = self.result.item(node, self.result.config, "signing",
                                        **{**first, "name": f"{name:.56}-{n}"})
            else:
                made = first
            if (name, folder) not in self.policies:
                made["key-folder"] = folder
                self.policies[name, folder] = made["name"]
            zone["signing"] = self.policies[name, folder]
        self.result.keys_wanted(node, zone, f"in {folder or 'the working directory of named'}")

    # --- Options of a zone ------------------------------------------------------------------------

    def server_of(self, address):
        """The statement server { } with the longest prefix that has the address; or None."""
        fits = [(values.network(node.word()).prefixlen, i, node) for i, node in
                enumerate(self.top.all("server")) if values.network(node.word()) is not None and
                values.common(node.word(), address)] if values.address(address) else []
        return max(fits)[2] if fits else None

    def sources(self, node, words, server, kind):
        """The addresses of this host for transfers or, if KIND is notify, for notifications."""
        found = []
        for suffix in ("", "-v6"):
            name = f"{kind}-source{suffix}"
            places = [place.find(name) for place in (server, self.node, self.options) if place]
            here = next((one for one in places if one), None)
            given = words["source" + suffix] or (here.word() if here else None)
            if here and not words["source" + suffix]:
                self.note_port(here)
            found += [given] if given and given != "*" else []
        return found

    def note_port(self, source):
        """Once for each option, however many servers it is for."""
        if source.after("port") not in (None, "*", "0") and id(source) not in self.noted:
            self.noted.add(id(source))
            self.result.left(source, f"port {source.after('port')}: volleyd lets the kernel choose "
                                     "the port; a packet filter that wants this one has to be "
                                     "changed")

    def tls_of(self, one, name):
        """The values of a remote; None, with a note, if TLS would be weaker than named's."""
        if name in (None, "none"):
            return {}
        tls = block(self.top, "tls", name)
        if tls is not None and tls.find("cert-file"):
            self.result.hole(tls, "Volley shows no certificate of its own to another server")
        if name == "ephemeral" or (tls is not None and not tls.find("ca-file", "remote-hostname")):
            return {"tls": "opportunistic"}  # named does not ask who answers, either
        if tls is None or not tls.text("remote-hostname"):
            self.result.hole(one, "give remotes[].tls, tls-name and tls-bundle")
            return None
        bundle = tls.text("ca-file")
        return {"tls": "strict", "tls_name": tls.text("remote-hostname"),
                "tls_bundle": bundle and self.result.path(bundle)}

    def add_servers(self, node, zone, key):
        for one, words in servers(self.top, node):
            server = self.server_of(one.name)
            tls = self.tls_of(one, words["tls"])
            if server is not None:
                self.used_servers.add(server)
            if tls is None:
                continue
            keys = server.find("keys") if server else None
            own_key = keys.word() or (keys.children and keys.children[0].name) if keys else None
            address = one.name + (f"@{words['port']}" if words["port"] else "")
            kind = "notify" if key == "notify" else "transfer"
            name = self.result.remote(one, address, key=words["key"] or own_key or None,
                                      source=self.sources(node, words, server, kind), **tls)
            if name:
                self.result.append(one, zone, key, name)

    def do_primaries(self, node, zone):
        self.add_servers(node, zone, "primaries")

    do_masters = do_primaries

    def do_also_notify(self, node, zone):
        notify = self.of(self.node, "notify")
        if notify and notify.word() in ("no", "false", "0"):
            self.result.idle(node, f"notify is {notify.word()}")
        else:
            self.add_servers(node, zone, "notify")

    def do_notify(self, node, _zone):
        if values.is_yes(node.word()):
            self.result.left(node, "named notifies the servers of the NS records, too: volleyd "
                                   "notifies those of zones[].notify only")
        else:
            self.result.idle(node, "volleyd notifies the servers of zones[].notify")

    def do_allow_transfer(self, node, zone):
        transport, port = node.after("transport"), node.after("port")
        if transport not in (None, "tls", "tcp") or (port not in (None, "53") and transport != "tls"):
            self.result.hole(node, "Volley has no rules for a port, and no transport but TCP and TLS")
            return
        if port and transport == "tls":
            self.result.note(node, f"a rule with tls holds at all ports of server.tls.listen, not "
                                   f"only at {port}")
        limits = self.limits(node)
        for prefix, key in MatchList(self.result, self.top, node).found:
            found = [prefix] if limits is None else \
                list(filter(None, (values.common(prefix or "any", one) for one in limits)))
            for one in found:
                self.result.rule(node, zone, node.name, one, key, transport == "tls")
            if not found:
                self.result.idle(node, f"named lets no client ask that is in {prefix or key}")

    def limits(self, node):
        """The clients that named lets ask at all: those of the only view and, for updates, those of
        allow-query. None: all."""
        lists = [self.options.find("match-clients")]
        lists += [self.of(self.node, "allow-query")] if node.name == "allow-update" else []
        found = None
        for one in filter(None, lists):
            if not is_any(one):
                own = MatchList(self.result, self.top, one).prefixes(one)
                found = own if found is None else \
                    list(filter(None, (values.common(a, b) for a in found for b in own)))
        return found

    do_allow_notify = do_allow_transfer

    def do_allow_update(self, node, zone):
        if self.node.find("update-policy"):
            say = self.result.hole if node.parent is self.node else self.result.idle
            say(node, "the zone has an update-policy, which counts instead")
            return
        if node.children and not node.find("none"):
            self.tell_journal(node)
        self.do_allow_transfer(node, zone)

    def tell_journal(self, node):
        self.result.note(node, "changes that named has not written to the file are in its journal: "
                               "'rndc sync -clean' before the switch")

    def do_allow_update_forwarding(self, node, _zone):
        if [child.name for child in node.children] == ["none"]:
            self.result.idle(node, "volleyd forwards no updates")
        else:
            self.result.hole(node, "volleyd forwards no updates: send them to the primary")

    def do_max_transfer_time_in(self, node, zone):
        minutes = values.number(node.word())
        self.result.set(node, "zones[].max-transfer-time",
                        node.word() if minutes is None else str(60 * minutes), zone)

    def do_update_policy(self, node, _zone):
        self.tell_journal(node)
        for rule in node.children:
            self.result.hole(rule, f"{' '.join([rule.name, *rule.words])}: write rules with keys for "
                                   "zones[].allow-update; they hold for the whole zone")
        if not node.children:
            self.result.hole(node, "give zones[].allow-update a key of TSIG")

    def do_masterfile_format(self, node, zone):
        if node.word() == "text" or self.node.text("type") not in ("primary", "master"):
            self.result.idle(node, "volleyd reads and writes zone files as text")
            return
        self.result.hole(node, f"volleyd reads zone files in text form only: 'named-compilezone -f "
                               f"{node.word()} -F text -o NEW {zone['name']} {zone.get('file')}'")

    def do_dnssec_policy(self, node, zone):
        name = node.word()
        if name in ("", "none"):
            self.result.idle(node, "the zone is served as its file has it")
        elif name == "insecure":
            self.result.hole(node, "named is ending the zone's signatures: let it finish, or the zone "
                                   "may be bogus")
        elif block(self.top, "dnssec-policy", name):
            zone["signing"] = name
        elif name == "default":
            zone["signing"] = name
            if not self.result.named("signing", name):
                self.result.item(node, self.result.config, "signing", name=name, keys="csk",
                                 algorithm="ecdsap256sha256", **{"ksk-lifetime": "0s"})
        else:
            self.result.hole(node, f"the file has no dnssec-policy {name}")

    def do_auto_dnssec(self, node, zone):
        """Unsigned, the zone would be bogus."""
        if node.word() in ("maintain", "allow") and self.node.text("type") in ("primary", "master"):
            self.result.drop_zone(node, zone, "named signs it without a policy: give it "
                                  "zones[].signing with the algorithm of its keys, and "
                                  "signing[].key-folder")
            self.is_dropped = True
        else:
            self.result.idle(node, "named does not sign the zone")

    def do_key_directory(self, node, _zone):
        if node.parent is self.node and not self.of(node.parent, "dnssec-policy"):
            self.result.idle(node, "it is signing[].key-folder for zones with a dnssec-policy")

    def do_inline_signing(self, node, zone):
        if values.is_yes(node.word()) and not self.of(self.node, "dnssec-policy") and \
                self.node.text("type") not in ("primary", "master"):
            self.result.hole(node, f"Volley does not sign {zone['name']}, which has primaries: sign "
                                   "it on the primary")
        else:
            self.result.idle(node, "volleyd keeps the signed zone apart from its file")
