# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Signed zones of PowerDNS: their keys become files, and their metadata a policy of signing[]."""
import functools
import os
import stat
import tempfile

import pdns_keys
import pdns_records
import values
from result import LEFT, NOTE

ALGORITHMS = {8: "rsasha256", 13: "ecdsap256sha256", 14: "ecdsap384sha384", 15: "ed25519"}
ALWAYS = "20200101000000"  # a time of a key that has passed


class Signer:
    """ZONES is the one of pdns_zones.py that it belongs to."""
    def __init__(self, zones):
        self.zones, self.server, self.result = zones, zones.server, zones.result
        self.folder, self.policies = zones.folder, {}

    def keys_of(self, given):
        return given.keys if self.server.has_dnssec(given) and not given.is_set("PRESIGNED") else []

    def sign(self, given, zone):
        """False, with a note, if the zone would be bogus."""
        result, node = self.result, given.node("keys")
        if given.is_set("PRESIGNED") and given.kind not in ("secondary", "consumer"):
            result.drop_zone(
                given.node("PRESIGNED"), zone, "another signer has signed it, and its NSEC records "
                "are not in the database: transfer it from there, or from PowerDNS, as a file")
            return False
        if given.keys and not self.server.has_dnssec(given):
            result.gather(
                LEFT, node, "PowerDNS does not use the zone's keys, because the setting -dnssec of "
                "its back end is off")
        rows = self.keys_of(given)
        if not any(active for _id, _flags, active, *_rest in rows):
            if rows:
                result.left(node, "no key of the zone is active, so PowerDNS does not sign it")
            return True
        if given.kind in ("secondary", "consumer", "producer"):
            result.drop_zone(
                node, zone, "Volley does not sign a zone that has primaries: sign it on the "
                "primary" if given.kind != "producer" else "Volley does not sign a catalog")
            return False
        try:
            keys = [
                pdns_keys.Key(number, flags, active, 1 if published is None else published, text or
                              "") for number, flags, active, published, text in rows
            ]
            self.bring(given, zone, [key for key in keys if key.is_published])
        except (pdns_keys.Fault, OSError, TypeError) as fault:
            result.drop_zone(node, zone, f"it is signed, and a key cannot be used: {fault}")
            return False
        except pdns_records.Fault as fault:
            result.drop_zone(given.node("zone"), zone, str(fault))
            return False
        for key in keys:
            if not key.is_published:
                (result.hole if key.is_active else result.left)(
                    node, f"the key {key.number} is not published" +
                    (", but signs" if key.is_active else ""))
        return True

    def bring(self, given, zone, keys):
        """Writes the keys, and gives the zone a policy. Raises pdns_keys.Fault."""
        active = [key for key in keys if key.is_active]
        algorithms = {key.algorithm for key in active}
        if len(algorithms) != 1:
            raise pdns_keys.Fault(
                "the zone has keys of several algorithms: end the change in PowerDNS first"
                if algorithms else "no active key is published")
        algorithm = ALGORITHMS.get(active[0].algorithm)
        if algorithm not in self.result.keys["signing[].algorithm"]["enum"]:
            raise pdns_keys.Fault(f"Volley has no algorithm {active[0].algorithm}")
        if not any(key.flags == 257 for key in active):
            raise pdns_keys.Fault("none has the flags 257")
        policy = {
            "algorithm": algorithm,
            "keys": "ksk-zsk" if any(key.flags == 256 for key in active) else "csk",
            **self.denial(given),
            **self.cds(given), "dnskey-ttl": self.dnskey_ttl(given),
            "ksk-lifetime": "0s"
        }
        if policy["keys"] == "ksk-zsk":
            policy["zsk-lifetime"] = "0s"
        self.write_keys(given, zone["name"], [key for key in keys if key.algorithm in algorithms],
                        policy["cds"] == "true")
        for key in keys:
            if not key.is_active:
                self.result.note(
                    given.node("keys"), f"the key {key.number} is published, and does not sign: "
                    "volleyd goes on with this change of a key")
        zone["signing"] = self.policy(given, {
            name: value
            for name, value in policy.items() if value
        })

    def denial(self, given):
        words = given.text("NSEC3PARAM").split()
        if not words:
            return {"denial": "nsec"}
        node, found = given.node("NSEC3PARAM"), {}
        flags, iterations, salt = (words[1:] + ["0", "0", "-"][len(words) - 1:])[:3]
        self.result.set(node, "signing[].nsec3-iterations", iterations, found)
        self.result.set(node, "signing[].nsec3-salt-length",
                        str(0 if salt == "-" else len(salt) // 2), found)
        if salt != "-":
            self.result.gather(NOTE, node, "volleyd draws another salt of the same length")
        if given.is_set("NSEC3NARROW"):
            self.result.gather(
                NOTE, given.node("NSEC3NARROW"),
                "a denial names the next name that exists, and not one "
                "made for the question")
        return {"denial": "nsec3", **found, "nsec3-opt-out": "true" if flags == "1" else "false"}

    def cds(self, given):
        cds = given.text("PUBLISH-CDS") or self.server.text("default-publish-cds")
        cdnskey = given.text("PUBLISH-CDNSKEY") or self.server.text("default-publish-cdnskey")
        node = given.node("PUBLISH-CDS")
        if "0" in (cds, cdnskey):
            self.result.hole(node, "volleyd does not ask the parent to remove its DS records")
            return {"cds": "false"}
        if bool(cds) != bool(cdnskey):
            self.result.gather(NOTE, node, "volleyd publishes both CDS and CDNSKEY records")
        return {"cds": "true" if cds or cdnskey else "false"}

    def dnskey_ttl(self, given):
        if given.file:
            return None
        longest = 7 * 86400  # of signing[].dnskey-ttl
        return values.with_unit(min(self.zones.soa(given)[1].minimum, longest), values.TIMES)

    def policy(self, given, wanted):
        known = tuple(sorted(wanted.items()))
        if known not in self.policies:
            name = "pdns" + (f"-{len(self.policies) + 1}" if self.policies else "")
            self.result.item(given.node("keys"),
                             self.result.config,
                             "signing",
                             name=name,
                             **wanted,
                             **{"key-folder": os.path.join(self.folder, "keys")})
            self.policies[known] = name
        return self.policies[known]

    def write_keys(self, given, name, keys, is_in_cds):
        """The times give each key the state that it has; volleyd would begin with a key without
        times. PowerDNS tells the parent of all keys with the flags 257, if of any. A key that volleyd has
        used since an import before this one has a state of its own, which stays."""
        folder, node = os.path.join(self.folder, "keys"), given.node("keys")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        names = {f"{key.file_name(name)}.private" for key in keys}
        for other in sorted(self.older(folder).get(zone_of(min(names)), set()) - names):
            self.result.hole(
                node, f"{folder}/{other}: PowerDNS does not have this key: remove it, or "
                "volleyd uses it")
        for key in keys:
            if is_used(os.path.join(folder, f"{key.file_name(name)}.private")):
                self.result.gather(
                    NOTE, node, "volleyd has used a key since an import before this "
                    "one: its file stays as it is")
                continue
            words = ["Created", "Publish"] + ["Activate"] * bool(key.is_active) + \
                ["SyncPublish"] * (is_in_cds and key.flags == 257)
            path = os.path.join(folder, key.file_name(name))
            write(path + ".key", key.public_text(name), 0o644)
            write(path + ".private", key.private_text(f"{word}: {ALWAYS}" for word in words), 0o600)

    @functools.lru_cache(None)
    def older(self, folder):
        """{zone: the names of files of private keys that are in the folder before this import}"""
        found = {}
        for name in os.listdir(folder):
            if name.endswith(".private"):
                found.setdefault(zone_of(name), set()).add(name)
        return found


def zone_of(name):
    """The first part of the name of a key's file: of Kexample.com.+013+12345.private."""
    return name.rsplit("+", 2)[0].lower()


def is_used(path):
    """volleyd writes the role of a key into its file."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return b"\nRole: " in file.read(1 << 16)


def write(path, text, mode):
    """A new file, or one that replaces another of this name, whatever kind that is. A file that is
    the same stays: to replace it takes as long as a disk needs to write it. Raises OSError."""
    data = text.encode("utf-8", "surrogateescape")
    if is_same(path, data, mode):
        return
    fd, new = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with open(fd, "wb") as file:
            file.write(data)
        os.chmod(new, mode)
        os.rename(new, path)
    except BaseException:
        os.unlink(new)
        raise


def is_same(path, data, mode):
    try:
        known = os.lstat(path)
        if not stat.S_ISREG(known.st_mode) or known.st_size != len(data) or \
                stat.S_IMODE(known.st_mode) != mode:
            return False
        with open(path, "rb") as file:
            return file.read() == data
    except FileNotFoundError:
        return False
