# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl import: each option of another server is carried over or named.

tests/data/import/*.grammar have the options of the servers' own grammars, and each has a row in the
tables. And from configurations each line is removed: the result or the notes must differ. Without
a daemon, except that volleyd prints its schema.
"""
import importlib
import pathlib
import re
import sys

import pytest

from netlab import BIN
from test_import import (KNOT, KNOT_KEYS, KNOT_LOST, NAMED, NAMED_LOST, NAMED_ZONES, NSD, NSD_KEYS,
                         NSD_LOST, SECRET, UNBOUND, UNBOUND_LOST, UNBOUND_PART)

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "import"))

import check  # noqa: E402
import command  # noqa: E402
import result  # noqa: E402
import source  # noqa: E402
import table  # noqa: E402

SERVERS = ("nsd", "knot", "named", "unbound", "pdns")


@pytest.fixture(name="schema", scope="module")
def make_schema():
    return check.schema_of(BIN / "volleyd")


def grammar(server):
    """[(section, option)]"""
    lines = (ROOT / f"tests/data/import/{server}.grammar").read_text("ascii").splitlines()
    return [tuple(line.split()) for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("server", SERVERS)
def test_each_option_of_the_grammar_has_a_row(server):
    sections = table.read(server)
    if server == "named":  # zones inherit the options of options { }
        sections["options"] = {**sections["zone"], **sections["options"]}
    missing = [f"{section} {option}" for section, option in grammar(server)
               if not {option, re.sub(r"\d+", "N", option), "*"} & set(sections.get(section, ()))]
    assert len(grammar(server)) > 150 and not missing


@pytest.mark.parametrize("server", SERVERS)
def test_each_row_names_a_key_or_a_reason(server, schema):
    keys = result.keys_of(schema)
    wrong = []
    for section, rows in table.read(server).items():
        for option, row in rows.items():
            if row.action == "set" and row.text not in keys:
                wrong.append(f"{section} {option}: no key {row.text}")
            elif row.action == "code" and row.text.split()[0] != "a" and \
                    not any(key.startswith(row.text) for key in keys):
                wrong.append(f"{section} {option}: no key {row.text}")
            elif not row.text:
                wrong.append(f"{section} {option}: no text")
    assert not wrong


# --- Lines that are removed -----------------------------------------------------------------------

# what the other configurations do not have
MORE = {
    "nsd": """
server:
    ip-address: 127.0.0.1
    hide-version: yes
    version: x
    rrl-ratelimit: 200
    tls-cert-bundle: /etc/ssl/certs/ca-certificates.crt
    server-2-cpu-affinity: 1
    chroot: /srv
    drop-updates: yes
tls-auth:
    name: t
    auth-domain-name: ns.lab
    client-cert: /x
pattern:
    name: p
    outgoing-interface: 192.0.2.9
    outgoing-interface: 2001:db8::9
    notify: 2001:db8::1 NOKEY
pattern:
    name: unused
    zonefile: x
zone:
    name: a.lab
    zonefile: %1/%z.%y/%s
    include-pattern: p
    provide-xfr: 10.0.0.0/8 NOKEY t
    allow-notify: 192.0.2.1 NOKEY
    multi-primary-check: yes
zone:
    name: b.lab
    request-xfr: 192.0.2.1@853 NOKEY t
    include-pattern: p
    allow-axfr-fallback: no
    verify-zone: yes
zone:
    name: c.lab
    zonefile: c
    allow-query: 10.0.0.0/8 NOKEY
    allow-query: 11.0.0.0/8 NOKEY
""",
    "knot": """
server:
    listen: 127.0.0.1@53
    listen: 127.0.0.2@53
    ca-file: /etc/ssl/certs/ca-certificates.crt
xdp:
    listen: eth0@53
    tcp: on
remote:
  - id: r
    address: 192.0.2.1@853
    via: 192.0.2.9
    tls: on
    cert-hostname: ns.lab
    no-edns: on
  - id: q
    address: 192.0.2.2
    quic: on
acl:
  - id: tls
    address: 10.0.0.0/8
    action: transfer
    protocol: tls
  - id: owner
    address: 10.0.0.0/8
    action: update
    update-owner: name
  - id: cert
    action: transfer
    cert-key: x
  - id: unused
    action: transfer # unused
template:
  - id: unused
    file: x
policy:
  - id: p
    zsk-lifetime: 30d
    manual: on
    ds-push: r
zone:
  - domain: a.lab
    acl: [tls, owner, cert]
    notify: r
    dnssec-signing: on
    dnssec-policy: p
    serial-policy: unixtime
    module: [mod-rrl/x]
  - domain: b.lab
    master: q
  - domain: c.lab
    file: c
    module: mod-queryacl/x
  - domain: d.lab
    module: mod-onlinesign
  - domain: e.lab
    zonefile-load: none
""",
    "named": """
options {
    listen-on { 127.0.0.1; };
    listen-on-v6 { none; };
    allow-recursion { inside; };
    allow-query-cache { 10.1.0.0/16; };
    key-directory "/keys";
    transfer-source 192.0.2.9;
    dnssec-validation no;
    deny-answer-addresses { 10.0.0.0/8; } except-from { "corp.lab"; };
    response-policy { zone "rpz.lab"; zone "off.lab" policy disabled; zone "far.lab"; } qname-wait-recurse no;
    allow-transfer { none; };
    notify no;
    forwarders port 853 tls up { 192.0.2.53; };
    querylog yes;
    disable-algorithms "." { RSASHA1; };
    dnssec-loadkeys-interval 60;
};
acl inside { 10.0.0.0/8; };
acl unused { 11.0.0.0/8; };
key k { algorithm hmac-sha256; secret "%SECRET"; };
server 192.0.2.0/24 { keys { k; }; bogus no; transfers 2; };
server 198.51.100.1 { bogus yes; };
tls up { remote-hostname "dns.lab"; ca-file "/etc/ssl/certs/ca-certificates.crt"; protocols { TLSv1.3; }; };
tls mutual { remote-hostname "ns.lab"; ca-file "/ca"; cert-file "/c"; key-file "/k"; };
primaries deep { 192.0.2.7; };
primaries p port 5300 { deep; 192.0.2.8 key k; };
dnssec-policy p { keys { ksk lifetime unlimited algorithm 13; zsk lifetime P30D algorithm 13; }; cdnskey no; };
statistics-channels { inet 127.0.0.1 port 8053; };
logging { channel x { null; }; };
trust-anchors { lab. static-key 257 3 8 "AA=="; };
zone "a.lab" {
    type primary; file "a";
    dnssec-policy p;
    key-directory "/other";
    allow-transfer port 853 transport tls { 10.0.0.0/8; };
    also-notify { 192.0.2.1; };
    notify explicit;
    update-policy { grant k zonesub any; };
};
zone "b.lab" {
    type secondary; file "b";
    primaries { p; 198.51.100.9 tls mutual; 198.51.100.8 tls ephemeral; };
    masterfile-format raw;
    allow-notify { 192.0.2.1; };
};
zone "c.lab" {
    type primary; file "c";
    allow-query { 10.0.0.0/8; };
};
zone "d.lab" { type primary; file "d";
    auto-dnssec maintain;
};
zone "e.lab" { type primary; file "e";
    masterfile-format raw;
    allow-update { any; };
};
zone "rpz.lab" { type primary; file "r";
    allow-query { none; };
};
zone "far.lab" { type secondary; primaries { 192.0.2.1; };
    allow-query { none; };
};
zone "." { type mirror; };
zone "s.lab" { type static-stub;
    server-addresses { 192.0.2.1; };
};
zone "v.lab" { in-view x; };
""",
    "unbound": """
server:
    interface: 127.0.0.1
    interface: 127.0.0.1@853
    tls-service-key: /k
    tls-service-pem: /c
    identity: x
    hide-identity: yes
    access-control: 10.0.0.0/8 allow_cookie
    access-control: 11.0.0.0/8 allow_setrd
    access-control: 0.0.0.0/0 deny
    tcp-idle-timeout: 30000
    deny-any: yes
    harden-glue: no
    ip-ratelimit: 100
    response-ip: 10.0.0.0/8 deny
    val-permissive-mode: yes
    auto-trust-anchor-file: root.key
    trust-anchor-file: other.key
    tls-cert-bundle: /etc/ssl/certs/ca-certificates.crt
    serve-expired: yes
    serve-expired-ttl: 7200
    send-client-subnet: 192.0.2.1
forward-zone:
    name: corp.lab
    forward-tls-upstream: yes
    forward-first: yes
    forward-addr: 192.0.2.1@853#dns.lab
    forward-no-cache: yes
stub-zone:
    name: stub.lab
    stub-addr: 192.0.2.2
    stub-tcp-upstream: yes
    stub-prime: yes
auth-zone:
    name: .
    primary: 192.0.32.132
    fallback-enabled: yes
    for-downstream: no
    for-upstream: yes
    zonefile: root.zone
auth-zone:
    name: inner.lab
    zonefile: inner
    for-downstream: no
rpz:
    name: far.lab
    primary: 192.0.2.1
    rpz-log: yes
rpz:
    name: off.lab
    zonefile: off
    rpz-action-override: disabled
dnstap:
    dnstap-enable: yes
    dnstap-socket-path: /x
python:
    python-script: x
""",
    "pdns": """
launch=gsqlite3, gmysql
gsqlite3-database=/var/lib/powerdns/pdns.sqlite3
gsqlite3-dnssec=yes
gsqlite3-info-zone-query=select 1
gmysql-host=db.lab
lmdb-filename=/x
local-address=127.0.0.1, [::1]:54
local-address+=127.0.0.2
local-port=5300
version-string=mine
server-id=ns1.lab
edns-cookie-secret=000102030405060708090a0b0c0d0e0f
udp-truncation-threshold=1400
max-tcp-connections=50
max-tcp-connections-per-client=5
max-tcp-transactions-per-conn=7
tcp-idle-timeout=9
max-tcp-connection-duration=60
allow-notify-from=10.0.0.0/8
forward-dnsupdate=yes
lua-dnsupdate-policy-script=/x
slave=no
resolver=[::1]:5300
webserver=yes
webserver-port=8082
api
api-key=x # a comment
proxy-protocol-from=10.0.0.1
cache-ttl=60
any-to-tcp=yes
setuid=\\
pdns
new-in-2030=yes
""",
}
TEXTS = [("nsd", NSD_KEYS + NSD), ("nsd", NSD_LOST), ("nsd", MORE["nsd"]),
         ("knot", KNOT_KEYS + KNOT), ("knot", KNOT_LOST), ("knot", MORE["knot"]),
         ("named", NAMED + NAMED_ZONES), ("named", NAMED_LOST), ("named", MORE["named"]),
         ("unbound", UNBOUND + UNBOUND_PART), ("unbound", UNBOUND_LOST), ("unbound", MORE["unbound"]),
         ("pdns", MORE["pdns"])]
# Lines without which nothing changes: the server would do the same, or they go with an item that is
# named as a whole; or they only give a name or divide the file.
SILENT = {"algorithm: hmac-sha256", "file: \"%s.zone\"", "- id: default", "- id: x", "zone:",
          "file: x", "zonefile: x", "zonefile: c", "file: c", "zonefile: inner", "zonefile: off",
          "zonefile: a.zone", "zonefile: b.zone", "address: 192.0.2.2", "action: transfer # unused"}


def outcome(server, path, schema):
    """The configuration and the notes, without places; None if the file cannot be read."""
    tree = command.SYNTAX[server]()
    try:
        tree.read(str(path))
    except source.Fault:
        return None
    made = result.Result(schema)
    if not tree.top.children:
        return None
    getattr(importlib.import_module(server), server.title())(made, tree.top).run()
    made.finish_zones()
    return check.to_yaml(made.config) + re.sub(r"(?m)^[^ ]*:\d+: |\(also .*: ", "",
                                               "\n".join(made.notes()))


@pytest.mark.parametrize("server, text", TEXTS, ids=[f"{server}{i}" for i, (server, _) in
                                                     enumerate(TEXTS)])
def test_each_line_makes_a_difference(tmp_path, schema, server, text):
    path = tmp_path / "x"
    text = re.sub(r"(?m)^ *(include:? .*|//.*|/\*.*\*/)\n", "",
                  text.replace("%FOLDER", "/x").replace("%V4", "127.0.0.1").replace("%ZONE", "z.lab")
                  .replace("%SECRET", SECRET))
    lines = text.splitlines(keepends=True)
    path.write_text(text, encoding="utf-8")
    whole = outcome(server, path, schema)
    assert whole
    silent = []
    for i, line in enumerate(lines):
        if not line.strip() or line.strip() in SILENT:
            continue
        path.write_text("".join(lines[:i] + lines[i + 1:]), encoding="utf-8")
        if outcome(server, path, schema) == whole:
            silent.append(f"{i + 1}: {line.rstrip()}")
    assert not silent


def test_an_option_of_a_newer_version_is_named(tmp_path, schema):
    for server, text in (("nsd", "server:\n    new-in-2030: x\n"), ("unbound", "server:\n    new-in-2030: x\n"),
                         ("knot", "server:\n    new-in-2030: x\n"),
                         ("named", "options { new-in-2030 x; };\n"), ("pdns", "new-in-2030=x\n")):
        path = tmp_path / server
        path.write_text(text, encoding="utf-8")
        assert "new-in-2030: not carried over: Volley does not know this option" in outcome(
            server, path, schema)
