# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The new configuration while it is made, and the notes about options of the other server.

    a section's options -> carry(): the rows of a table (see table.py)
        -> set(): converted to the form of the key and compared with volleyd's schema -> config
        -> hole(), left(), note(), idle() -> notes

A value is carried over only if volleyd accepts it. A number out of bounds becomes the bound, and a
note says so. At the end volleyd judges the whole, see check.py.
"""
import base64
import binascii
import re

import values

# Kinds of notes, the weightiest first.
HOLE, LEFT, NOTE, IDLE = "not carried over", "left out", "note", "without meaning here"
KINDS = (HOLE, LEFT, NOTE, IDLE)

NOBODY = "0.0.0.0"  # RFC 1122 section 3.2.1.3: never the source of a query
STORAGE = "/var/lib/volley"
PATHS = ("file", "certificate", "key", "tls-bundle", "key-folder", "root-hints", "trust-anchor",
         "auto-trust-anchor", "secret-files", "ticket-keys", "storage", "pid-file")


def keys_of(schema, path=""):
    """{"server.listen": its row in the JSON schema} for all keys of a schema of volleyd."""
    found = {}
    for name, row in schema.get("properties", {}).items():
        full = f"{path}.{name}" if path else name
        items = row.get("items", {})
        if "properties" in row:
            found |= keys_of(row, full)
        elif "properties" in items:
            found |= keys_of(items, full + "[]")
        else:
            found[full] = row
    return found


class Result:
    def __init__(self, schema):
        self.keys = keys_of(schema)
        self.config = {}
        self.folder = None  # to which names of files are relative
        self.zones_folder = None  # for files of zones of a database
        self.uses_folder = False
        self.origins = {}   # (id of the object, key, value or None): the option it comes from
        self.lost_keys = set()
        self.remotes = {}   # {(address, the other values as text): name}, of those without a name
        self.names = {}     # {section: {name: object}}, see named()
        self.lines = {kind: {} for kind in KINDS}

    # --- Notes ------------------------------------------------------------------------------------

    def say(self, kind, node, text):
        """Each line once, even if a pattern is read for many zones."""
        self.lines[kind].setdefault(f"{node.file}:{node.line}: {node.name}: {kind}: {text}")

    def hole(self, node, text):
        """An option without which clients, peers or answers differ: it has to be decided on."""
        self.say(HOLE, node, text)

    def left(self, node, text):
        """An option that is not carried over, but changes none of these."""
        self.say(LEFT, node, text)

    def note(self, node, text):
        """An option that is carried over, perhaps with a difference."""
        self.say(NOTE, node, text)

    def idle(self, node, text):
        """An option that Volley needs not."""
        self.gather(IDLE, node, text)

    def gather(self, kind, node, text):
        """One line for all options of this name with this text, with all their places."""
        self.lines[kind].setdefault((node.name, text), {})[node.file, node.line] = None

    def notes(self):
        """All lines, those of most weight first."""
        lines = [line if isinstance(line, str) else gathered(kind, *line, list(places))
                 for kind in KINDS for line, places in self.lines[kind].items()]
        return [values.shown(line) for line in lines]

    def count(self, kind):
        return len(self.lines[kind])

    # --- The configuration ------------------------------------------------------------------------

    def object(self, *path):
        """The object at a path of keys; it is made if it is missing."""
        at = self.config
        for key in path:
            at = at.setdefault(key, {})
        return at

    def item(self, node, at, key, **first):
        """A new object at the end of the list KEY of AT."""
        made = dict(first)
        at.setdefault(key, []).append(made)
        self.origins[id(made), None, None] = node
        return made

    def named(self, section, name):
        """The object of this name in a section that is a list, or None."""
        items, names = self.config.get(section, ()), self.names.setdefault(section, {})
        for item in items[len(names):]:  # names are added at the end, and taken out by forget()
            names[item["name"]] = item
        return names.get(name)

    def forget(self, section, item):
        """Takes an object with a name out of the section."""
        self.named(section, item["name"])
        items = self.config[section]
        del items[next(i for i in range(len(items) - 1, -1, -1) if items[i] is item)]
        del self.names[section][item["name"]]

    def put(self, node, at, key, value):
        """Sets a value that is known to be right."""
        at[key] = value
        self.origins[id(at), key, None] = node

    def append(self, node, at, key, value):
        """Adds a value to a list, unless the list has it."""
        if value not in at.get(key, ()):
            self.add(node, at, key, value)

    def add(self, node, at, key, value):
        """Adds a value that the list is known not to have."""
        at.setdefault(key, []).append(value)
        self.origins[id(at), key, value] = node

    def path(self, text):
        if text.startswith("/") or not self.folder:
            return text
        self.uses_folder = True
        return f"{self.folder}/{text}"

    def end_folder(self, node):
        """NODE is the option that names the folder, or None."""
        if node and not self.uses_folder:
            self.idle(node, "no name of a file that is carried over is relative")

    def set(self, node, key, text, at=None):
        """Sets KEY, as in volley.yaml(5) ("server.tcp.idle-timeout"), in the whole configuration or,
        its last part, in AT. TEXT is in the form of the other server ("yes", "4m", "P1D", a relative
        path). A list gets one more item. False, with a note, if volleyd would refuse it."""
        row = self.keys.get(key)
        if row is None:
            self.hole(node, f"Volley has no key {key}")
            return False
        *parts, leaf = key.split(".")
        value = self.convert(node, key, row.get("items", row), text)
        if value is None:
            return False
        if not is_utf8(value):
            self.hole(node, "the value is not UTF-8")
            return False
        at = self.object(*parts) if at is None else at
        if row.get("type") == "array":
            self.append(node, at, leaf, value)
        else:
            self.put(node, at, leaf, value)
        return True

    def convert(self, node, key, row, text):
        """The text in the form of our key; None, with a note, if that is impossible."""
        kind, pattern = row.get("type"), row.get("pattern", "")
        if row.get("enum", [""])[0] is True:
            return "true" if values.is_yes(text) else "false"
        if kind == ["integer", "string"]:
            return self.number(node, key, row, text)
        if key.rsplit(".", 1)[-1] in PATHS and text:
            text = self.path(text)
            if not text.startswith("/"):
                self.hole(node, f"the file does not say in which folder {text} is: give {key} an "
                                "absolute name")
        if "enum" in row and text.lower() in row["enum"]:
            return text.lower()
        octets = len(text.encode(errors="surrogateescape"))
        good = "enum" not in row and re.search(pattern, text) and \
            row.get("minLength", 0) <= octets <= row.get("maxLength", octets)
        if good and pattern.startswith("^[0-9A-Fa-f:.]+"):
            host = re.sub("[#/].*", "", text)
            good = values.split_port(host) if "@" in pattern else values.address(host)
        if good and pattern == r"^[^ \t]+$":
            good = values.domain(text)
        if not good:
            accepts = row.get("description", self.keys[key].get("description", ""))
            self.hole(node, f"\"{text}\" is not possible in {key}; accepted there: "
                            f"{accepts.partition('Accepts: ')[2] or accepts}")
        return text if good else None

    def number(self, node, key, row, text):
        pattern, low, high = row["pattern"], row["minimum"], row["maximum"]
        if "ms" in pattern:
            taken = values.number(text)
            least = re.search(r"from (\d+)ms", row["description"])
            low, high = int(least[1]) if least else low * 1000, high * 1000
        elif "smhd" in pattern:
            taken = values.seconds(text)
        elif "KMGT" in pattern:
            taken = values.size(text)
        else:
            taken = values.number(text)
        if taken is None:
            self.hole(node, f"\"{text}\" is not a number")
            return None
        bound = min(max(taken, low), high)
        if "ms" in pattern:
            done = f"{bound}ms" if bound % 1000 else values.with_unit(bound // 1000, values.TIMES)
        elif "smhd" in pattern:
            done = values.with_unit(bound, values.TIMES)
        else:
            done = values.with_unit(bound, values.SIZES) if "KMGT" in pattern else str(bound)
        if bound != taken:
            self.note(node, f"{text} is out of bounds for {key}, which is set to {done}")
        return done

    # --- Keys of TSIG, remotes --------------------------------------------------------------------

    def tsig_key(self, node, name, algorithm, secret):
        """Carries a key over. If it cannot be used, options that need it are not carried over
        either."""
        known = self.keys["keys[].algorithm"]["enum"]
        canon = values.domain(name)
        if not name or not secret or not canon:
            self.hole(node, "a key needs a name and a secret")
            return
        algorithm = algorithm.lower().rstrip(".").replace(".sig-alg.reg.int", "") or "hmac-sha256"
        if not algorithm.startswith("hmac-"):
            algorithm = "hmac-" + algorithm
        if algorithm not in known:
            self.hole(node, f"key {name}: Volley has no {algorithm}: use hmac-sha256 at both ends")
        elif not 16 <= len(octets_of(secret)) <= 1024:
            self.hole(node, f"key {name}: the secret must have at least 16 octets, in base64")
        elif canon not in self.lost_keys:
            made, known = {"name": canon, "algorithm": algorithm, "secret": secret}, \
                self.named("keys", canon)
            if known is None:
                self.item(node, self.config, "keys", **made)
            if known in (None, made):
                return
            self.hole(node, f"the file has two keys {canon}, and volleyd could not tell them apart: "
                            "neither is carried over")
            self.forget("keys", known)
        self.lost_keys.add(canon)

    def key_name(self, node, name):
        """The name of the key in the configuration; None, with a note, if it has none such."""
        canon = values.domain(name) or name
        if self.named("keys", canon):
            return canon
        self.hole(node, f"it needs the key {name}, which is not carried over"
                  if canon in self.lost_keys else f"there is no key {name}")
        return None

    def remote(self, node, address, name=None, key=None, source=(), **tls):
        """The name of a remote, or None, with a note. It is made if there is no equal one; a remote
        with the same NAME gets one more address. SOURCE has addresses of this host, of which those
        of the family of ADDRESS are used. TLS has values of tls, tls-name, tls-pin, tls-bundle."""
        split = values.split_port(address)
        if not split:
            self.hole(node, f"\"{address}\" is no address of a server")
            return None
        key = self.key_name(node, key) if key else ""
        if key is None:
            return None
        fits = [one for one in source if (":" in one) == (":" in address)]
        for one in fits[1:]:
            self.left(node, f"a remote has one source of each family: not {one}")
        wanted = {**{k.replace("_", "-"): v for k, v in tls.items() if v},
                  **({"key": key} if key else {}), **({"source": fits[:1]} if fits else {})}
        kind = (address, str(sorted(wanted.items())))
        if name is None and kind in self.remotes:
            return self.remotes[kind]
        made = name_of(name or address)
        n = 0
        while name is None and self.named("remotes", made):
            n += 1
            made = name_of(f"{address:.50}.{n}")
        item = self.named("remotes", made) or self.item(node, self.config, "remotes", name=made)
        self.append(node, item, "address", address)
        for one in fits[:1]:
            self.append(node, item, "source", one)
        item.update({k: v for k, v in wanted.items() if k != "source"})
        if name is None:
            self.remotes[kind] = made
        return made

    # --- Rules and clients ------------------------------------------------------------------------

    def rule(self, node, at, key, prefix, key_name=None, is_tls=False):
        """Adds the rule "PREFIX key NAME tls" to a list. PREFIX is "" or KEY_NAME None for none. A
        note reports a rule that cannot be made."""
        reduced = values.prefix(prefix) if prefix else ""
        if reduced is None:
            self.hole(node, f"\"{prefix}\" is no prefix: write ADDRESS/LENGTH")
            return
        name = self.key_name(node, key_name) if key_name else ""
        if name is None:
            return
        if key == "allow-update" and not name and reduced in ("", "any"):
            self.hole(node, "everybody may change the zone: give a rule with a key or a prefix")
            return
        words = [] if name and reduced in ("", "any") else [reduced or "any"]
        words += ["key", name] if name else []
        self.append(node, at, key, " ".join(words + ["tls"] * is_tls))

    def deny(self, node, at, key, prefix, start=0):
        """Removes from a list, after its first START items, each rule that would allow an address
        of PREFIX, and reports it. If PREFIX is no prefix, it means all addresses. A rule with a key
        only is for all addresses."""
        out = values.prefix(prefix) or "any"
        for rule in list(at.get(key, ())[start:]):
            first = "any" if rule.startswith("key ") else rule.split()[0]
            if values.common(first, out):
                self.hole(node, f"{rule} of {key} is not carried over, because it would allow "
                                f"{prefix or 'others'}")
                at[key].remove(rule)
        if key in at and not at[key]:
            del at[key]

    def allow(self, node, key, prefix):
        """Adds a prefix at KEY ("recursion.allow"); "any" becomes the prefixes of everyone."""
        reduced = values.prefix(prefix)
        if reduced is None:
            self.hole(node, f"\"{prefix}\" is no prefix: write ADDRESS/LENGTH")
        for one in () if reduced is None else values.EVERYONE if reduced == "any" else (reduced, ):
            self.set(node, key, one)

    def allow_nobody(self, node):
        """An empty server.allow is not possible: volleyd refuses it or lets all clients ask."""
        self.object("server")["allow"] = [NOBODY]
        self.note(node, f"no client may ask: {NOBODY} in server.allow is the address of no client")

    # --- Zones ------------------------------------------------------------------------------------

    def zone(self, node, name):
        """The object of a new zone. None, with a note, if the name is wrong or the zone exists."""
        canon = values.domain(name)
        if name and not is_utf8(name):
            raise UnicodeError
        if not name or not canon:
            self.hole(node, f"\"{name}\" is not the name of a zone")
        elif self.named("zones", canon):
            self.hole(node, f"the file has two zones {canon}")
        else:
            return self.item(node, self.config, "zones", name=canon)
        return None

    def drop_zone(self, node, zone, why):
        self.hole(node, f"zone {zone['name']} is left out: {why}")
        self.forget("zones", zone)

    def end_zone(self, node, zone, is_secondary):
        """Ends a zone, and drops it if it cannot be served. False if it was dropped."""
        if "primaries" in zone and "allow-update" in zone:
            self.hole(node, "Volley does not forward updates of a zone with primaries: send them to "
                            "a primary")
            del zone["allow-update"]
        if "primaries" not in zone and zone.get("catalog") != "consume" and \
                zone.pop("allow-notify", None):
            self.left(node, f"zone {zone['name']} has no primaries, so nobody needs to notify it")
        if "primaries" in zone or zone.get("catalog"):
            if zone.pop("file", None):
                self.note(node, "volleyd keeps what it transfers in server.storage, and leaves the "
                                "files of the other server alone")
        if "primaries" in zone or (not is_secondary and ("file" in zone or "catalog" in zone)):
            return True
        self.drop_zone(node, zone, "none of its primaries can be used" if is_secondary else
                       "it has no file")
        return False

    def keys_wanted(self, node, zone, where):
        self.hole(node, f"zone {zone['name']} is signed, and its private keys are {where}: bring "
                        "them before volleyd starts, see \"Keys of another server\" in fleet.md; "
                        "with new keys the DS records of the parent fit no more")

    def finish_zones(self):
        needs = ("primaries", "catalog", "signing", "allow-update", "zonefile-sync")
        if any(key in zone for zone in self.config.get("zones", ()) for key in needs):
            self.object("server").setdefault("storage", STORAGE)


def gathered(kind, name, text, places):
    more = ", ".join(f"{line}" if file == places[0][0] else f"{file}:{line}"
                     for file, line in places[1:20])
    more += ", ..." if len(places) > 20 else ""
    return f"{places[0][0]}:{places[0][1]}: {name}: {kind}: {text}" + \
        (f" (also {more}: {len(places)} in all)" if more else "")


def is_utf8(text):
    try:
        return bool(text.encode()) or not text
    except UnicodeEncodeError:
        return False


def octets_of(secret):
    try:
        return base64.b64decode(secret, validate=True)
    except (binascii.Error, ValueError):
        return b""


def name_of(text):
    return re.sub(r"[^A-Za-z0-9._-]", "-", text[:63])
