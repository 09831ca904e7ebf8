# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The acl of knot.conf(5): the first rule that matches decides, so a rule that denies restricts the
rules after it. A rule that cannot be carried over whole is left out, since the rest would allow
more."""
import values

LISTS = {"transfer": "allow-transfer", "notify": "allow-notify", "update": "allow-update"}
PROTOCOLS = {"udp", "tcp"}


class Acls:
    """Those of one zone. ITEM(section, id) finds an item; REMOTES(words) resolves groups."""

    def __init__(self, result, item, remotes):
        self.result, self.item, self.remotes = result, item, remotes

    def carry(self, node, zone, at=0):
        for at, word in enumerate(node.words[at:], at):
            acl = self.item("acl", word)
            if acl is None:
                self.result.hole(node, f"the file has no acl {word}")
            elif values.is_yes(acl.text("deny")):
                break
            else:
                self.allow(acl, zone)
        else:
            return
        self.result.hole(acl, f"a rule of Volley cannot deny ({what(acl)}): write rules for the clients "
                              "that may, and see policy.block for queries")
        n = {key: len(zone.get(key, ())) for key in LISTS.values()}
        self.carry(node, zone, at + 1)
        actions = acl.find("action")
        for action, key in LISTS.items():
            if not actions or not actions.words or action in actions.words:
                for prefix in self.denied(acl):
                    self.result.deny(acl, zone, key, prefix, n[key])

    def denied(self, acl):
        """The addresses that the rule is about; "" for all."""
        remotes, addresses = acl.find("remote"), acl.find("address")
        if not remotes:
            return addresses.words if addresses else [""]
        found = [self.item("remote", name) for name in self.remotes(remotes.words)]
        words = [remote.find("address").words if remote and remote.find("address") else [""]
                 for remote in found]
        return [word.partition("@")[0] for some in words for word in some]

    def allow(self, acl, zone):
        protocol = acl.find("protocol")
        is_tls = protocol is not None and "tls" in protocol.words and not PROTOCOLS & set(protocol.words)
        for node in acl.children:
            is_free = node is protocol and (is_tls or PROTOCOLS <= set(node.words))
            if node.name.startswith(("update-", "cert-")) or (node is protocol and not is_free):
                self.result.hole(node, "a rule without this would allow more, so the whole rule "
                                       f"({what(acl)}) is not carried over")
                return
        actions = acl.find("action")
        for action in actions.words if actions else ():
            if action not in LISTS:
                self.result.hole(actions, f"{action}: see server.allow, for all zones")
            elif acl.find("remote"):
                for name in self.remotes(acl.find("remote").words):
                    self.remote(acl.find("remote"), zone, name, LISTS[action], is_tls)
            else:
                self.rules(acl, zone, LISTS[action], is_tls)
        if not actions or not actions.words:
            self.result.idle(acl, "a rule without an action allows nothing")

    def rules(self, acl, zone, key, is_tls):
        addresses, keys = acl.find("address"), acl.find("key")
        for prefix in addresses.words if addresses else [""]:
            for name in keys.words if keys else [None]:
                self.result.rule(acl, zone, key, prefix, name, is_tls)

    def remote(self, node, zone, name, key, is_tls=False):
        """Allows what KEY is about to a remote: its addresses with its TSIG key."""
        remote = self.item("remote", name)
        addresses = remote.find("address") if remote else None
        if not addresses:
            self.result.hole(node, f"the remote {name} has no address" if remote else
                             f"the file has no remote {name}")
        if remote and key != "allow-notify" and remote.find("cert-key", "cert-hostname"):
            self.result.hole(node, f"knotd asks {name} for a certificate, which a rule of Volley "
                                   "cannot: decide on a rule with a key, or with the word tls")
            return
        for address in addresses.words if addresses else ():
            self.result.rule(node, zone, key, address.partition("@")[0], remote.text("key") or None,
                             is_tls)


def what(acl):
    """The rule in short, for notes: "transfer: 10.0.0.0/8 xfr.lab"."""
    def words(*names):
        return " ".join(word for name in names for node in acl.all(name) for word in node.words)
    return f"{words('action') or 'all'}: {words('address', 'remote', 'key') or 'everybody'}"
