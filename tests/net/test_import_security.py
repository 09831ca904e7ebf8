# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl import: settings of security are carried over, or named in a line that makes the status
1; lesser ones make it 3. Without a daemon, except that volleyd judges each result.
"""
import os
import re
import subprocess

import pytest

from netlab import BIN, run
from test_import import SECRET

HEADS = {
    "nsd": "server:\n  ip-address: 127.0.0.1\nkey:\n  name: k\n  algorithm: sha256\n"
           f"  secret: {SECRET}\n",
    "knot": "server:\n    listen: 127.0.0.1@53\n",
    "named": "options { directory \"/x\"; listen-on { 127.0.0.1; }; listen-on-v6 { none; }; "
             "recursion no; allow-transfer { none; }; notify no; %s };\n"
             f"key k {{ algorithm hmac-sha256; secret \"{SECRET}\"; }};\n",
    "unbound": "server:\n  interface: 127.0.0.1\n",
}
ZONE = 'zone "a.lab" { type primary; file "a"; %s };\n'
SECONDARY = 'zone "a.lab" { type secondary; file "a"; primaries { 192.0.2.1; }; };\n'


def made(tmp_path, server, text, option=""):
    """(status, the result, the notes)."""
    path, out = tmp_path / "conf", tmp_path / "made.yaml"
    head = HEADS[server].replace("%s", option)
    path.write_text(head + text, encoding="utf-8")
    done = run(BIN / "volleyctl", "import", path, "--from", server, "-o", out, check=False)
    text = out.read_text(encoding="utf-8")
    assert not re.search("Traceback", done.stderr), done.stderr
    assert "does not start" not in done.stderr, done.stderr
    return done.returncode, text, done.stderr


# option, text: status, what the result has, what it has not, what a note has
ROWS = {
    "the TSIG key of server { }": (
        "named", "", 'server 192.0.2.1 { keys { "k"; }; };\n' + SECONDARY,
        0, "key: k.", None, None),
    "the key of a server in a prefix": (
        "named", "", "server 192.0.2.0/24 { keys k; };\n" + SECONDARY, 0, "key: k.", None, None),
    "other options of server { }": (
        "named", "", "server 192.0.2.1 { bogus yes; transfer-source 192.0.2.9; };\n" + SECONDARY,
        1, "source: [192.0.2.9]", None, "bogus: not carried over"),
    "the port of transfer-source": (
        "named", "transfer-source 192.0.2.9 port 5300;", SECONDARY, 3, "source: [192.0.2.9]", None,
        "transfer-source: left out: port 5300: volleyd lets the kernel choose"),
    "any port of transfer-source": (
        "named", "transfer-source 192.0.2.9 port *;", SECONDARY, 0, "source: [192.0.2.9]", "port",
        None),
    "a server that nobody asks": (
        "named", "", "server 192.0.2.7 { keys k; };\n" + SECONDARY, 3, None, "key: k.",
        "no zone of this file asks or notifies 192.0.2.7"),
    "transport tls": (
        "named", "", ZONE % "allow-transfer port 853 transport tls { 192.0.2.0/24; };",
        0, '"192.0.2.0/24 tls"', None, "note: a rule with tls holds"),
    "transport tls for all zones": (
        "named", "", (ZONE % "").replace("a.lab", "b.lab") + ZONE %
        "allow-transfer transport tls { key k; };", 0, '"key k. tls"', None, None),
    "a transport that Volley has not": (
        "named", "", ZONE % "allow-transfer transport http { 192.0.2.0/24; };",
        1, None, "192.0.2.0/24", "allow-transfer: not carried over"),
    "transfers at one port": (
        "named", "", ZONE % "allow-transfer port 5300 { 192.0.2.0/24; };",
        1, None, "192.0.2.0/24", "allow-transfer: not carried over"),
    "updates in a journal": (
        "named", "", ZONE % "allow-update { key k; };", 0, "allow-update: [\"key k.\"]", None,
        "rndc sync -clean"),
    "updates of everybody": (
        "named", "", ZONE % "allow-update { any; };", 1, None, "allow-update",
        "everybody may change the zone"),
    "clients of one zone": (
        "named", "", ZONE % "allow-query { 10.0.0.0/8; };", 1, None, "a.lab",
        "zone a.lab. is left out: it has clients of its own"),
    "clients of one zone, in a nested list": (
        "named", "", "acl in { !10.9.0.0/16; { 10.0.0.0/8; }; };\n" + ZONE % "allow-query { in; };",
        1, None, "a.lab", "zone a.lab. is left out"),
    "a zone for more clients than all": (
        "named", "allow-query { 10.1.0.0/16; };", ZONE % "allow-query { 10.0.0.0/8; };",
        1, "allow: [10.1.0.0/16]", None, "a.lab. is for the clients of server.allow only"),
    "an address of the host for one zone": (
        "named", "", ZONE % "allow-query-on { 127.0.0.1; };", 1, None, "a.lab", "is left out"),
    "keys of dnssec-policy": (
        "named", "", ZONE % "dnssec-policy default;", 1, "key-folder: /x", None,
        "its private keys are in /x: bring them"),
    "the folder of keys": (
        "named", 'key-directory "/keys";', ZONE % "dnssec-policy default;", 1, "key-folder: /keys",
        None, "its private keys are in /keys: bring them"),
    "two folders of keys": (
        "named", "", ZONE % 'dnssec-policy default; key-directory "/a";' +
        (ZONE % 'dnssec-policy default; key-directory "/b";').replace("a.lab", "b.lab"), 1,
        "name: default-2", None, "its private keys are in /b"),
    "life times of keys": (
        "named", "", 'dnssec-policy p { keys { ksk lifetime P1Y algorithm 13; zsk lifetime 60d '
        "algorithm ecdsap256sha256; }; };\n" + ZONE % "dnssec-policy p;", 1, "zsk-lifetime: 60d",
        None, "bring them"),
    "a zone that named signs without a policy": (
        "named", "", ZONE % "auto-dnssec maintain; inline-signing yes;", 1, None, "a.lab",
        "zone a.lab. is left out: named signs it"),
    "a raw file": (
        "named", "", ZONE % "masterfile-format raw;", 1, None, None,
        "named-compilezone -f raw -F text -o NEW a.lab. /x/a"),
    "the file of a secondary": (
        "named", "", SECONDARY, 0, "primaries", "file:", "leaves the files of the other server alone"),
    "TLS of a primary": (
        "named", "", 'tls t { ca-file "/etc/ssl/certs/ca-certificates.crt"; remote-hostname '
        '"ns.lab"; };\n' + SECONDARY.replace("192.0.2.1;", "192.0.2.1 tls t;"),
        0, "tls: strict", None, None),
    "TLS of a primary that cannot be checked": (
        "named", "", 'tls t { ca-file "/ca"; };\n' + SECONDARY.replace("192.0.2.1;",
                                                                      "192.0.2.1 tls t;"),
        1, None, "a.lab", "none of its primaries can be used"),
    "notify no": (
        "named", "also-notify { 192.0.2.7; };", ZONE % "notify no;", 0, None, "192.0.2.7", None),
    "a policy zone that is closed": (
        "named", 'response-policy { zone "a.lab"; };', ZONE % "allow-query { none; };", 0,
        "file: /x/a", "zones:", "is read from its file, and not served"),
    "a policy zone for the clients of all zones": (
        "named", 'allow-query { 10.0.0.0/8; }; response-policy { zone "a.lab"; };', SECONDARY, 0,
        "rpz:", None, None),
    "a policy zone that is closed and transferred": (
        "named", 'response-policy { zone "a.lab"; };',
        SECONDARY.replace('file "a";', "allow-query { none; };"), 1, None, "a.lab",
        "the list a.lab. is left out"),
    "rates": (
        "named", "rate-limit { responses-per-second 5; };", "", 0, "answers: 5", None,
        "responses-per-second: note: "),
    "views": (
        "named", "", "view a { match-clients { any; }; };\nview b { " + ZONE % "" + "};\n", 1, None,
        "a.lab", "Volley has no views"),
    "catalogs": (
        "named", 'catalog-zones { zone "c.lab"; };', "", 1, None, None, "catalog-zones: not carried"),
    "the certificate of a client": (
        "nsd", "", "tls-auth:\n  name: t\n  auth-domain-name: x.lab\nzone:\n  name: a\n  zonefile: a\n"
        "  provide-xfr: 10.0.0.0/8 NOKEY t\n", 1, None, "10.0.0.0/8",
        "provide-xfr: not carried over: nsd asks the client for a certificate"),
    "two sources": (
        "nsd", "", "zone:\n  name: a\n  request-xfr: 192.0.2.1 k\n  outgoing-interface: 192.0.2.9\n"
        "  outgoing-interface: 2001:db8::9\n", 0, "source: [192.0.2.9]", None, None),
    "the source of a pattern": (
        "nsd", "", "pattern:\n  name: p\n  outgoing-interface: 192.0.2.9\nzone:\n  name: a\n"
        "  include-pattern: p\n  request-xfr: 192.0.2.1 k\n", 0, "source: [192.0.2.9]", None, None),
    "allow-notify of a primary": (
        "nsd", "", "zone:\n  name: a\n  zonefile: a\n  allow-notify: 192.0.2.1 k\n", 3, "name: a.",
        "allow-notify", "has no primaries"),
    "clients of one zone of nsd": (
        "nsd", "", "zone:\n  name: a\n  zonefile: a\n  allow-query: 10.0.0.0/8 NOKEY\n", 1, None,
        "name: a.", "zone a. is left out"),
    "addresses that cannot be carried over": (
        "nsd", "", "server:\n  ip-address: eth7\n", 1, "listen: [127.0.0.1]", "0.0.0.0", "eth7"),
    "keys of knotd": (
        "knot", "", "zone:\n  - domain: a\n    dnssec-signing: on\n", 1, "signing: default", None,
        "in knotd's KASP database: bring them"),
    "a rule for TLS": (
        "knot", "", "acl:\n  - id: x\n    address: 10.0.0.0/8\n    action: transfer\n"
        "    protocol: tls\nzone:\n  - domain: a\n    acl: x\n", 0, '"10.0.0.0/8 tls"', None, None),
    "a rule for QUIC or a certificate": (
        "knot", "", "acl:\n  - id: x\n    address: 10.0.0.0/8\n    action: transfer\n"
        "    protocol: quic\nzone:\n  - domain: a\n    acl: x\n", 1, None, "10.0.0.0/8",
        "the whole rule (transfer: 10.0.0.0/8) is not carried over"),
    "owners of updates": (
        "knot", "", "acl:\n  - id: x\n    address: 10.0.0.0/8\n    action: update\n"
        "    update-owner: name\nzone:\n  - domain: a\n    acl: x\n", 1, None, "allow-update",
        "update-owner: not carried over"),
    "clients of one zone of knotd": (
        "knot", "", "mod-queryacl:\n  - id: x\n    address: 10.0.0.0/8\nzone:\n  - domain: a\n"
        "    module: mod-queryacl/x\n", 1, None, "name: a.", "without mod-queryacl it must not be"),
    "no address of knotd": (
        "knot", "", "server:\n    identity: x\n", 0, "identity: x", None, None),
    "a cookie that is demanded": (
        "unbound", "", "  access-control: 10.0.0.0/8 allow_cookie\n", 1, None, "10.0.0.0/8",
        "access-control: not carried over: unbound answers over UDP only"),
    "a copy of the root": (
        "unbound", "", "auth-zone:\n  name: .\n  primary: 192.0.32.132\n  for-downstream: no\n"
        "  fallback-enabled: yes\n  zonefile: root.zone\n", 0, "root-copy: true", "root.zone", None),
    "a zone that no client may ask": (
        "unbound", "", "auth-zone:\n  name: a\n  zonefile: a\n  for-downstream: no\n", 1, None,
        "zones:", "unbound asks it, but no client can"),
    "a list that changes nothing": (
        "unbound", "", "rpz:\n  name: a\n  zonefile: a\n  rpz-action-override: disabled\n", 1, None,
        "rpz:", "the list a changes no answers"),
    "forwarders over TLS": (
        "unbound", "", "  tls-cert-bundle: /etc/ssl/certs/ca-certificates.crt\nforward-zone:\n"
        "  name: .\n  forward-tls-upstream: yes\n  forward-addr: 192.0.2.1@853#dns.lab # x\n", 0,
        '"192.0.2.1@853#dns.lab"', None, None),
    "a trifle": ("unbound", "", "  log-queries: yes\n", 3, None, None, "log-queries: left out"),
}


@pytest.mark.parametrize("name", ROWS)
def test_setting(tmp_path, name):
    server, option, text, status, has, has_not, note = ROWS[name]
    code, config, notes = made(tmp_path, server, text, option)
    shown = f"{config}\n{notes}"
    assert code == status, shown
    assert has is None or has in config, shown
    assert has_not is None or has_not not in config.partition("\nserver:")[2], shown
    assert note is None or note in notes, shown


def test_notes_come_by_weight(tmp_path):
    _code, _config, notes = made(tmp_path, "unbound", "  pidfile: x\n  ip-ratelimit: 3\n"
                                 "  log-queries: yes\n  pidfile: x\n  https-port: 443\n")
    kinds = [line.split(": ")[2] for line in notes.splitlines()]
    assert kinds == ["not carried over", "left out", "note", "without meaning here"]
    assert "(also 6: 2 in all)" in notes


def test_knotd_without_an_address(tmp_path):
    """The line of the note is that of the section."""
    path = tmp_path / "knot.conf"
    path.write_text("# x\nserver:\n    identity: x\n", encoding="utf-8")
    done = run(BIN / "volleyctl", "import", path, check=False)
    assert done.returncode == 1 and f"{path}:2: listen: not carried over: " in done.stderr
    assert "volleyd does not start with the result: server.listen" in done.stderr


def test_a_value_that_volleyd_refuses(tmp_path):
    """Its line is that of the other server's file; the rest of a list stays."""
    code, config, notes = made(tmp_path, "unbound", "  local-data: \"a.lab. A 192.0.2.1\"\n"
                               "  local-data: \"b.lab. A 300.0.0.1\"\n")
    assert code == 1 and "a.lab." in config and "b.lab." not in config
    assert f"{tmp_path}/conf:4: local-data: not carried over: " in notes


def test_help_and_python(tmp_path):
    done = run(BIN / "volleyctl", "import", "--help")
    assert all(word in done.stdout for word in ("--from", "-o OUTPUT", "Exit status", "left out"))
    # without its folder, as if it were not installed
    alone = tmp_path / "volleyctl"
    alone.write_bytes((BIN / "volleyctl").read_bytes())
    os.chmod(alone, 0o755)
    done = subprocess.run([alone, "import", "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "volley-import is not beside volleyctl" in done.stderr
