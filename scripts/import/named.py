# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""named.conf(5): options, the only view, keys and policies. Zones are in named_zones.py."""
import collections
import functools
import os

import source
import table
import values
from flat import listen
from named_lists import MatchList, block, is_any, servers
from named_zones import Zones

ROOT_KEY = "/usr/share/dns/root.key"  # of the package dns-root-data
# statements that are allowed both inside and outside of a view
STATEMENTS = ("zone", "key", "server", "trust-anchors", "trusted-keys", "managed-keys", "dlz",
              "dyndb", "plugin")
ALGORITHMS = {"8": "rsasha256", "13": "ecdsap256sha256", "14": "ecdsap384sha384", "15": "ed25519"}


class Named:
    def __init__(self, result, top):
        self.result, self.top, self.tables = result, top, table.read("named")
        self.options = top.find("options") or source.Node(
            "options", top.children[0].file, 1, top)
        self.policy_zones = set()
        self.zones = Zones(self)
        self.calls = {name[3:].replace("_", "-"): getattr(place, name)
                      for place in (self.zones, self) for name in dir(place)
                      if name.startswith("do_")}

    def carry(self, section, rows, at=None):
        table.carry_all(self.result, section, self.tables[rows], self.calls, at)

    def run(self):
        self.open_view()
        self.result.folder = self.options.text("directory") or None
        for node in self.top.children:
            if node.name == "key":
                self.carry(node, "key")
                self.result.tsig_key(node, node.word(), node.text("algorithm"), node.text("secret"))
            elif node.name == "dnssec-policy":
                self.carry_policy(node)
        self.carry_access()
        self.carry_options()
        for node in self.top.all("zone"):
            self.zones.carry(node)
        for node in self.top.children:
            self.carry_rest(node)
        place = self.options.find("key-directory")
        if place and self.result.path(place.word()) not in {at for _, at in self.zones.policies}:
            self.result.idle(place, "no zone of the file is signed with keys that are there")
        self.result.end_folder(self.options.find("directory"))

    def carry_options(self):
        options, port = self.options, self.options.text("port")
        for node in options.children:
            if node.name in self.tables["options"] or node.name not in self.tables["zone"]:
                table.carry(self.result, node, self.tables["options"], self.calls)
            elif not self.top.find("zone"):
                self.result.idle(node, "it is for zones, and the file has none")
        if not options.find("listen-on"):
            listen(self.result, options, "0.0.0.0", port)
        if not options.find("listen-on-v6"):
            listen(self.result, options, "::", port)
        if "allow" in self.result.config.get("recursion", {}) and \
                not options.find("dnssec-validation"):
            self.validate(options)

    def open_view(self):
        """The options of the only view replace the options for all views."""
        views = self.top.all("view")
        self.is_split = len(views) > 1
        for view in views if self.is_split else ():
            self.result.hole(view, f"Volley has no views: make a configuration and run a volleyd for "
                                   f"each of the {len(views)}")
        for view in views if len(views) == 1 else ():
            own = {node.name for node in view.children if node.name not in STATEMENTS}
            self.options.children = [node for node in self.options.children if node.name not in own]
            for node in view.children:
                place = self.top if node.name in STATEMENTS else self.options
                node.parent = place
                place.children.append(node)
            view.children = []

    def carry_rest(self, node):
        """Statements outside of options and zones."""
        name = node.name
        if name in ("options", "key", "zone", "view", "include", "dnssec-policy"):
            return
        if name == "server":
            self.carry(node, "server")
            if node not in self.zones.used_servers:
                self.result.left(node, f"no zone of this file asks or notifies {node.word()}")
        elif name == "tls":
            self.carry(node, "tls")
        elif name in ("acl", "primaries", "masters", "remote-servers"):
            name = node.word().lower()
            if self.count_words()[name] == sum(word == name for word in words_of(node)):
                self.result.idle(node, f"nothing in this file names {node.word()}")
        elif name in self.tables["top"]:
            table.carry(self.result, node, self.tables["top"], self.calls)
            for child in node.children if name in ("controls", "logging", "http") else ():
                self.result.idle(child, self.tables["top"][name].text)
        else:
            self.result.hole(node, "Volley has nothing like it")

    @functools.cache
    def count_words(self):
        """How often each list could be named."""
        return collections.Counter(word for part in self.top.children for word in words_of(part))

    # --- Clients ----------------------------------------------------------------------------------

    def clients(self, node):
        return MatchList(self.result, self.top, node).prefixes(node) if node else values.EVERYONE

    def put_common(self, node, key, some, others):
        """Sets KEY to the clients that are in both lists. False if there are none."""
        both = [values.common(a, b) for a in some for b in others]
        for one in filter(None, both):
            self.result.set(node, key, one)
        return any(both)

    def carry_access(self):
        """Clients that may ask: those of the view that are in allow-query; without a list all. And
        clients that may recurse."""
        query, match = self.options.find("allow-query"), self.options.find("match-clients")
        view = self.clients(match)
        if query and is_any(query):
            self.result.idle(query, "without it all clients may ask")
        closed = self.closed_on("allow-query-on", "match-destinations")
        if closed:
            self.result.allow_nobody(closed)
        elif (query and not is_any(query)) or (match and not is_any(match)):
            some = query if query and not is_any(query) else None
            if not self.put_common(some or match, "server.allow", self.clients(some), view):
                self.result.allow_nobody(some or match)
        self.carry_recursion(view)

    def closed_on(self, *names):
        """The option by which only some addresses of the host answer: Volley has clients, and no
        addresses, so none may ask. None: there is no such option."""
        return next((node for node in map(self.options.find, names) if node and not is_any(node)),
                    None)

    def carry_recursion(self, view):
        """allow-recursion and allow-query-cache, which default to each other, or else allow-query,
        or else this host and its networks."""
        options, recursion = self.options, self.options.find("recursion")
        closed = self.closed_on("allow-recursion-on", "allow-query-cache-on", "allow-query-on",
                                "match-destinations")
        if closed:
            self.result.note(closed, "no client is in recursion.allow, because this is not carried "
                                     "over")
            return
        if recursion and not values.is_yes(recursion.word()):
            self.result.idle(recursion, "no client is in recursion.allow")
            return
        if self.is_split:
            for node in options.all("recursion", "allow-recursion", "allow-query-cache"):
                self.result.hole(node, "no client may recurse, because the views are not carried over")
            return
        lists = [options.find(name) for name in ("allow-recursion", "allow-query-cache")]
        lists = [node for node in lists if node] or list(filter(None, [options.find("allow-query")]))
        clients = self.clients(lists[0]) if lists else ["127.0.0.0/8", "::1"]
        if len(lists) > 1:
            clients = [one for a in clients for b in self.clients(lists[1])
                       for one in [values.common(a, b)] if one]
        self.put_common(lists[0] if lists else options, "recursion.allow", clients, view)
        if not lists:
            self.result.note(recursion or options, "named lets the networks of the host recurse: add "
                                                   "their prefixes to recursion.allow")
        elif recursion:
            self.result.idle(recursion, "the clients of recursion.allow may recurse")

    def do_exempt_clients(self, node, _at):
        for one in self.clients(node):
            self.result.set(node, "rrl.exempt", one)

    def do_deny_answer_addresses(self, node, _at):
        for one in self.clients(node):
            self.result.set(node, "recursion.private-address", one)
        for child in node.children:
            if child.block:
                self.result.set(child, "recursion.private-domain", child.name)

    # --- Addresses to listen on -------------------------------------------------------------------

    def do_listen_on(self, node, _at):
        name, port, options = node.after("tls"), node.after("port"), self.options
        tls = block(self.top, "tls", name) if name else None
        if node.after("http"):
            self.result.hole(node, "Volley has no DNS over HTTPS")
            return
        if node.after("proxy"):
            self.result.hole(node, "Volley has no PROXY protocol")
            return
        if name and name != "none" and tls is None:
            self.result.hole(node, f"tls {name} names no files with a certificate and a key: give "
                                   "server.tls")
            return
        port = port or options.text("tls-port" if tls else "port")
        for prefix, key in MatchList(self.result, self.top, node).found:
            if key or "/" in prefix:
                self.result.hole(node, f"server.listen accepts addresses, not {key or prefix}")
                continue
            wild = "::" if node.name == "listen-on-v6" else "0.0.0.0"
            listen(self.result, node, wild if prefix == "any" else prefix, port, tls is not None)
        if tls is not None:
            self.result.set(node, "server.tls.certificate", tls.text("cert-file"))
            self.result.set(node, "server.tls.key", tls.text("key-file"))
            protocols = tls.find("protocols")
            if protocols and {one.name for one in protocols.children} == {"tlsv1.3"}:
                self.result.put(protocols, self.result.object("server", "tls"), "min-version",
                                "TLSv1.3")
            if tls.find("ca-file"):
                self.result.hole(tls.find("ca-file"), "named asks clients for a certificate, which "
                                                      "Volley cannot: give rules with keys")

    do_listen_on_v6 = do_listen_on

    # --- options ----------------------------------------------------------------------------------

    def do_version(self, node, _at):
        if node.word() == "none":
            self.result.idle(node, "volleyd tells nothing of it by itself")
        elif node.name == "version":
            self.result.set(node, "server.version", node.word())
        elif node.word() == "hostname":
            self.result.note(node, "set server.identity and server.nsid to the name of the host")
        else:
            self.result.set(node, "server.identity", node.word())
            if node.name == "server-id":
                self.result.set(node, "server.nsid", node.word())

    do_hostname = do_server_id = do_version

    def do_forwarders(self, node, _at):
        if node.parent is not self.options:
            self.result.idle(node, "names below a zone that is served are resolved like all others")
            return
        n_before = len(self.result.object("recursion").get("forward", ()))
        found = list(servers(self.top, node))
        all_tls = all(words["tls"] not in (None, "none") for _one, words in found)
        for one, words in found:
            tls = block(self.top, "tls", words["tls"]) if words["tls"] else None
            if words["tls"] in (None, "none"):
                text = one.name + (f"@{words['port']}" if words["port"] else "")
            elif all_tls and tls is not None and tls.text("remote-hostname") and tls.text("ca-file"):
                text = f"{one.name}@{words['port'] or 853}#{tls.text('remote-hostname')}"
                self.result.set(node, "recursion.transport", "tls")
                self.result.set(node, "recursion.tls-bundle", tls.text("ca-file"))
            else:
                self.result.hole(one, "give recursion.transport: tls, with @853# and the name of the "
                                      "certificate")
                continue
            self.result.set(one, "recursion.forward", text)
        if found and len(self.result.object("recursion").get("forward", ())) == n_before:
            self.result.hole(node, "no forwarder is carried over: volleyd would ask from the root on")
        if found and self.options.text("forward") != "only":
            self.result.set(node, "recursion.forward-first", "true")
        if not self.result.config["recursion"]:
            del self.result.config["recursion"]

    def do_tcp_idle_timeout(self, node, _at):
        tenths = values.seconds(node.word())
        self.result.set(node, "server.tcp.idle-timeout",
                        node.word() if tenths is None else str((tenths + 9) // 10))

    def do_cookie_secret(self, node, _at):
        if "secret" in self.result.object("server").get("cookies", {}):
            self.result.left(node, "more than one secret: give server.cookies.secret-files")
        else:
            self.result.set(node, "server.cookies.secret", node.word())

    def do_minimal_responses(self, node, _at):
        self.result.set(node, "server.minimal-responses", "yes" if values.is_yes(node.word()) else "no")
        if node.word().startswith("no-auth"):
            self.result.left(node, f"{node.word()}: server.minimal-responses is true or false")

    def do_max_cache_size(self, node, _at):
        if node.word() in ("unlimited", "default", "0") or node.word().endswith("%"):
            self.result.left(node, "give cache.size a size")
        else:
            self.result.set(node, "cache.size", node.word())

    def do_rate_limit(self, node, _at):
        self.carry(node, "rate-limit")

    def do_responses_per_second(self, node, _at):
        self.result.set(node, "rrl.answers", node.word())
        self.result.note(node, "rrl.answers counts all answers to one address, for all names and "
                               "types; named counts equal ones")

    def do_response_policy(self, node, _at):
        own = {"recursive-only", "log", "add-soa", "max-policy-ttl", "min-update-interval",
               "nsip-enable", "nsdname-enable", "min-ns-dots", "nsip-wait-recurse",
               "nsdname-wait-recurse", "qname-wait-recurse", "break-dnssec"}
        for place in [node, *node.children]:
            for word in place.words:
                if word in own:
                    self.result.idle(place, f"{word} {place.after(word)}: volleyd has one way, see "
                                            "RESPONSE POLICY ZONES in volley.yaml(5)")
        for one in node.children:
            action, name = one.after("policy") or "given", values.domain(one.word())
            if action in ("disabled", "passthru", "no-op"):
                self.result.hole(one, f"the list {one.word()} changes no answers: it is not carried "
                                      "over")
                continue
            if action != "given":
                self.result.hole(one, f"policy {action}: Volley cannot change the action of a list's "
                                      "rules")
            self.result.item(one, self.result.object("recursion"), "rpz", zone=name or one.word())
            self.policy_zones.add(name)

    def do_stale_answer_enable(self, node, _at):
        if values.is_yes(node.word()):
            self.result.set(node, "recursion.serve-stale", self.options.text("max-stale-ttl") or "1d")

    def do_dnssec_validation(self, node, _at):
        if node.word() in ("no", "false", "0") or \
                "allow" not in self.result.config.get("recursion", {}):
            self.result.idle(node, "without a trust anchor volleyd validates nothing")
        else:
            self.validate(node)

    def validate(self, node):
        """named has the key of the root in itself."""
        if os.path.exists(ROOT_KEY):
            self.result.set(node, "recursion.trust-anchor", ROOT_KEY)
            self.result.note(node, "answers are validated with the key of the root in " + ROOT_KEY)
        else:
            self.result.hole(node, "named validates with a key of the root that it has in itself: "
                                   "install dns-root-data, and give recursion.trust-anchor: " + ROOT_KEY)

    def do_dns64(self, node, _at):
        self.result.set(node, "recursion.dns64", "yes")
        self.result.set(node, "recursion.dns64-prefix", node.word())
        for child in node.children:
            is_rule = child.name in ("clients", "mapped") and not is_any(child)
            (self.result.hole if is_rule else self.result.left)(
                child, "recursion.dns64 is for all clients, and for all addresses")

    def do_dnssec_must_be_secure(self, node, _at):
        if values.is_yes(node.word(1)):
            self.result.hole(node, "volleyd answers for an unsigned name, too: it cannot demand that "
                                   f"{node.word()} is signed")
        else:
            self.result.idle(node, "volleyd demands it of no name")

    def do_validate_except(self, node, _at):
        for one in node.children:
            self.result.set(one, "recursion.domain-insecure", one.name)

    # --- Policies of signing ----------------------------------------------------------------------

    def carry_policy(self, node):
        policy = {}
        if self.result.named("signing", node.word()):
            self.result.hole(node, f"the file has two policies {node.word()}")
        elif self.result.set(node, "signing[].name", node.word(), policy):
            self.result.config.setdefault("signing", []).append(policy)
            self.carry(node, "dnssec-policy", policy)

    def do_keys(self, node, at):
        if node.parent.name == "server":
            return
        kinds, first = [key.name for key in node.children], None
        for key in node.children:
            algorithm = (key.after("algorithm") or "").lower()
            algorithm = ALGORITHMS.get(algorithm, algorithm)
            lifetime = key.after("lifetime") or "unlimited"
            if first not in (None, algorithm):
                self.result.hole(key, "the keys of a policy have one algorithm")
            elif first is None:
                self.result.set(key, "signing[].algorithm", algorithm, at)
            first = first or algorithm
            self.result.set(key, f"signing[].{'zsk' if key.name == 'zsk' else 'ksk'}-lifetime",
                            "0" if lifetime == "unlimited" else lifetime, at)
            if key.after("key-store") not in (None, "key-directory"):
                self.result.hole(key, "Volley has no key stores: see signing[].key-folder")
            if "tag-range" in key.words:
                self.result.hole(key, "the tags of keys are by chance: let no other server make keys "
                                      "for this zone")
        self.result.put(node, at, "keys", "csk" if kinds[:1] in ([], ["csk"]) else "ksk-zsk")

    def do_nsec3param(self, node, at):
        self.result.put(node, at, "denial", "nsec3")
        for word, key in (("iterations", "nsec3-iterations"), ("optout", "nsec3-opt-out"),
                          ("salt-length", "nsec3-salt-length")):
            if node.after(word):
                self.result.set(node, "signing[]." + key, node.after(word), at)


def walk(node):
    yield node
    for child in node.children:
        yield from walk(child)


def words_of(part):
    """The names in a statement that may be those of lists, in small letters."""
    return ((child.word() if child.name == "!" else child.name).lower() for child in walk(part))
