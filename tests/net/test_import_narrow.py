# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl import: no client gets more rights than before, even if a list has an exception or
cannot be carried over.

Without a daemon or a peer: the configurations are read, and volleyd checks the results.
"""
import pytest

from netlab import BIN, run, write_zone
from secondaries import certificate
from test_import import SECRET, imported

NOBODY = ["0.0.0.0"]


def made_of(tmp_path, kind, text):
    """(the imported configuration, which volleyd accepts; the messages)."""
    write_zone(tmp_path / "a.zone")
    path = tmp_path / f"{kind}.conf"
    path.write_text(text.replace("%FOLDER", str(tmp_path)).replace("%SECRET", SECRET),
                    encoding="utf-8")
    _status, config, said = imported(path)
    assert config, said
    made = tmp_path / "made.yaml"
    run(BIN / "volleyctl", "import", path, "-o", made, check=False)
    checked = run(BIN / "volleyd", "--check", "-c", made, check=False)
    assert checked.returncode == 0, f"{checked.stdout}{checked.stderr}\n{made.read_text()}"
    return config, "\n".join(said)


NAMED = """
acl inside { 10.0.0.0/8; 2001:db8::/32; };
key k.lab { algorithm hmac-sha256; secret "%SECRET"; };
options { directory "%FOLDER"; %OPTIONS };
%REST
"""
ZONE = 'zone "a.lab" { type primary; file "a.zone"; };'


def named(tmp_path, options, rest=ZONE):
    return made_of(tmp_path, "named", NAMED.replace("%OPTIONS", options).replace("%REST", rest))


@pytest.mark.parametrize("options, allow", [
    ("allow-query { any; };", None),
    ("allow-query { inside; };", ["10.0.0.0/8", "2001:db8::/32"]),
    ("allow-query { none; };", NOBODY),
    ("allow-query { };", NOBODY),
    ("allow-query { key k.lab; };", NOBODY),
    ("allow-query { !10.0.0.1; any; };", NOBODY),
    ("allow-query { unknown; 192.0.2.0/24; };", ["192.0.2.0/24"]),
])
def test_named_who_may_ask(tmp_path, options, allow):
    config, said = named(tmp_path, "recursion no; " + options)
    assert config["server"].get("allow") == allow and "recursion" not in config, said
    assert (allow == NOBODY) == ("no client may ask" in said), said


def test_named_a_block_without_a_name(tmp_path):
    config, said = named(tmp_path, "recursion no; { 10.0.0.0/8; };")
    assert "Volley does not know this option" in said and config["zones"]


@pytest.mark.parametrize("rules, allow", [
    ("key k.lab;", ["key k.lab."]),
    ("!192.0.2.7; key k.lab;", None),
    ("10.0.0.0/8; !192.0.2.7; key k.lab; 198.51.100.0/24;", ["10.0.0.0/8", "198.51.100.0/24"]),
    ("!{ !10.0.0.0/8; any; }; key k.lab;", None),
    ("!none; key k.lab;", ["any", "key k.lab."]),
])
def test_named_keys_behind_an_exception(tmp_path, rules, allow):
    """A client at an address that was taken out may not come in by a key."""
    config, said = named(tmp_path, f"recursion no; allow-transfer {{ {rules} }};")
    assert config["zones"][0].get("allow-transfer") == allow, said


def test_named_the_options_of_the_one_view(tmp_path):
    """They take the place of those of all views."""
    view = f"""view v {{
        match-clients {{ any; }};
        recursion yes; allow-query {{ 10.1.0.0/16; }}; allow-recursion {{ 10.1.2.0/24; }};
        allow-transfer {{ 10.1.2.3; }}; forward only; forwarders {{ 192.0.2.1; }};
        dnssec-validation no;
        {ZONE}
    }};"""
    config, said = named(tmp_path, "recursion no; allow-query { any; }; allow-transfer { any; };",
                         view)
    assert config["server"]["allow"] == ["10.1.0.0/16"], said
    assert config["recursion"] == {"allow": ["10.1.2.0/24"], "forward": ["192.0.2.1"]}, said
    assert (config["zones"] ==
            [{"name": "a.lab.", "file": f"{tmp_path}/a.zone", "allow-transfer": ["10.1.2.3"]}])


@pytest.mark.parametrize("clients, options, allow, recursion", [
    ("10.1.0.0/16;", "allow-query { inside; }; allow-recursion { inside; };", ["10.1.0.0/16"],
     ["10.1.0.0/16"]),
    ("inside;", "allow-query { 10.1.0.0/16; 192.0.2.0/24; }; allow-recursion { 10.1.0.0/16; };",
     ["10.1.0.0/16"], ["10.1.0.0/16"]),
    ("192.0.2.0/24;", "allow-query { 10.1.0.0/16; }; recursion no;", NOBODY, None),
    ("10.1.0.0/16;", "allow-recursion { any; };", ["10.1.0.0/16"], ["10.1.0.0/16"]),
    ("key k.lab;", "recursion no;", NOBODY, None),
])
def test_named_clients_of_the_one_view(tmp_path, clients, options, allow, recursion):
    """Only they may ask, and only if the other lists let them, too."""
    config, said = named(tmp_path, options, f"view v {{ match-clients {{ {clients} }}; {ZONE} }};")
    assert config["server"]["allow"] == allow and config.get("recursion",
                                                             {}).get("allow") == recursion, said


def test_named_forwarders_of_a_zone(tmp_path):
    """None is asked at another port or without TLS, and that a zone is not forwarded is told."""
    config, said = named(tmp_path, "forwarders port 5300 { 192.0.2.9; }; forward only;", """
        zone "b.lab" { type forward; forward only; forwarders port 5301 { 192.0.2.1; 192.0.2.2 port 5302; }; };
        zone "c.lab" { type forward; forwarders { 192.0.2.1 tls ephemeral; }; };
        zone "d.lab" { type forward; forwarders { }; };
        zone "e.lab" { type forward; forwarders { 192.0.2.1 port 99999; }; };
    """)
    assert config["recursion"]["forward"] == ["192.0.2.9@5300"]
    assert config["recursion"]["forward-zones"] == [{"zone": "b.lab", "address": "192.0.2.1@5301"},
                                                    {"zone": "b.lab", "address": "192.0.2.2@5302"}]
    assert all(f"named.conf:{line}: " in said for line in (7, 8, 9)), said


NSD = """
server:
    zonesdir: "%FOLDER"
key:
    name: k.lab
    algorithm: hmac-sha256
    secret: "%SECRET"
pattern:
    name: few
    provide-xfr: 10.9.0.0/16 BLOCKED
zone:
    name: a.lab
    zonefile: a.zone
%RULES
"""


@pytest.mark.parametrize("rules, allow", [
    (["10.0.0.0/8 NOKEY", "10.1.0.0/16 BLOCKED"], None),
    (["10.1.0.0/16 BLOCKED", "10.0.0.0/8 k.lab", "192.0.2.0/24 NOKEY"], ["192.0.2.0/24"]),
    (["10.0.0.0/8 NOKEY", "10.0.0.1-10.0.0.9 BLOCKED", "192.0.2.0/24 NOKEY"], None),
    (["10.0.0.0/8 NOKEY", "192.0.2.0/24 BLOCKED"], ["10.0.0.0/8"]),
])
def test_nsd_blocked_addresses(tmp_path, rules, allow):
    """NSD blocks them wherever the rule stands."""
    config, said = made_of(tmp_path, "nsd",
                           NSD.replace("%RULES",
                                       "".join(f"    provide-xfr: {rule}\n" for rule in rules)))
    assert config["zones"][0].get("allow-transfer") == allow, said


def test_nsd_blocked_by_a_pattern(tmp_path):
    config, said = made_of(tmp_path, "nsd", NSD.replace(
        "%RULES", "    provide-xfr: 10.0.0.0/8 NOKEY\n    provide-xfr: 192.0.2.0/24 NOKEY\n    "
                  "include-pattern: few\n"))
    assert config["zones"][0]["allow-transfer"] == ["192.0.2.0/24"], said


KNOT = """
server:
    listen: 127.0.0.1@53
key:
  - id: k.lab
    algorithm: hmac-sha256
    secret: %SECRET
remote:
  - id: r
    address: 10.0.0.1
acl:
  - id: deny_some
    address: 10.1.0.0/16
    action: [transfer, notify]
    deny: on
  - id: deny_remote
    remote: r
    deny: on
  - id: deny_key
    key: k.lab
    deny: on
  - id: net
    address: [10.0.0.0/8, 192.0.2.0/24]
    action: [transfer, update]
zone:
  - domain: a.lab
    storage: "%FOLDER"
    file: a.zone
    acl: [%RULES]
"""


@pytest.mark.parametrize("rules, transfer, update", [
    ("deny_some, net", ["192.0.2.0/24"], ["10.0.0.0/8", "192.0.2.0/24"]),
    ("net, deny_some", ["10.0.0.0/8", "192.0.2.0/24"], ["10.0.0.0/8", "192.0.2.0/24"]),
    ("deny_remote, net", ["192.0.2.0/24"], ["192.0.2.0/24"]),
    ("deny_key, net", None, None),
])
def test_knot_denied_addresses(tmp_path, rules, transfer, update):
    """
    The first rule that fits decides: what stands behind one that denies is left out where they
    meet.
    """
    config, said = made_of(tmp_path, "knot", KNOT.replace("%RULES", rules))
    assert (config["zones"][0].get("allow-transfer"),
            config["zones"][0].get("allow-update")) == (transfer, update), said


@pytest.mark.parametrize("rules, allow", [
    (["10.0.0.0/8 allow", "10.1.0.0/16 refuse", "192.0.2.0/24 allow_snoop"], ["192.0.2.0/24"]),
    (["10.0.0.0/8 refuse", "10.1.0.0/16 allow"], ["10.1.0.0/16"]),
    (["0.0.0.0/0 refuse", "10.0.0.0/8 allow"], ["10.0.0.0/8"]),
    (["0.0.0.0/0 allow", "10.0.0.1 deny"], []),
])
def test_unbound_refused_addresses(tmp_path, rules, allow):
    """
    The longest prefix decides: a shorter one that may ask is left out where a part of it may not.
    """
    text = "server:\n    interface: 127.0.0.1\n" + "".join(f"    access-control: {rule}\n"
                                                           for rule in rules)
    config, said = made_of(tmp_path, "unbound", text)
    assert config["recursion"]["allow"] == ["127.0.0.0/8", "::1", *allow], said
    assert ("not carried over" in said) == (len(allow) +
                                            sum("allow" not in rule
                                                for rule in rules) != len(rules)), said


@pytest.mark.parametrize("rules, allow", [
    (["10.0.0.0/8 allow"], ["127.0.0.0/8", "::1", "10.0.0.0/8"]),
    (["127.0.0.0/8 refuse", "::1 refuse"], NOBODY),
    (["0.0.0.0/0 allow", "::/0 allow", "127.0.0.1 refuse", "::1 deny"], NOBODY),
])
def test_unbound_zones_where_nobody_may_ask(tmp_path, rules, allow):
    """Clients that may recurse may ask for zones; an empty list would be refused, and no list would
    let everyone ask."""
    text = "server:\n    interface: 127.0.0.1\n" + "".join(f"    access-control: {rule}\n"
                                                           for rule in rules) + \
        "auth-zone:\n    name: a.lab\n    zonefile: %FOLDER/a.zone\n"
    config, said = made_of(tmp_path, "unbound", text)
    assert config["server"]["allow"] == allow and config["zones"], said
    assert (allow == NOBODY) == ("no client may ask" in said), said


@pytest.mark.parametrize("policies, used, name", [
    ("  - algorithm: ed25519\n", "", "default"),
    ("  - id: \"two words\"\n", "    dnssec-policy: \"two words\"\n", "default"),
    ("  - id: p\n  - id: p\n", "    dnssec-policy: p\n", "p"),
])
def test_knot_policies_without_a_name_of_their_own(tmp_path, policies, used, name):
    text = KNOT.replace("acl: [%RULES]", "dnssec-signing: on") + used + "policy:\n" + policies
    config, said = made_of(tmp_path, "knot", text)
    assert [policy["name"]
            for policy in config["signing"]] == [name] and config["zones"][0][
                "signing"] == name, said


@pytest.mark.parametrize("secret",
                         ["YSBzaG9ydCBvbmU=", "YSBzZWNyZXQgZm9yIHRlc3RzIHRoYXQgYWxsIGtub3c",
                          "nonsense!"])
def test_a_key_that_cannot_be_used(tmp_path, secret):
    """It is left out with all that needs it, and the rest is a configuration."""
    config, said = made_of(tmp_path, "nsd", NSD.replace("%SECRET", secret).replace(
        "%RULES", "    provide-xfr: 10.0.0.0/8 k.lab\n    provide-xfr: 192.0.2.0/24 NOKEY\n"))
    assert "keys" not in config and config["zones"][0]["allow-transfer"] == ["192.0.2.0/24"], said
    assert "it needs the key k.lab, which is not carried over" in said


def test_a_text_that_is_not_utf8(tmp_path):
    """It is left out with a line; the rest is carried over."""
    path = tmp_path / "nsd.conf"
    path.write_bytes(b"server:\n    identity: \"Z\xfcrich\"\n    version: \"v\"\n")
    status, config, said = imported(path)
    assert status == 1 and config["server"]["version"] == "v" and "identity" not in config[
        "server"], said
    assert any(line.startswith(f"{path}:2: identity: not carried over: ") for line in said), said
    path = tmp_path / "unbound.conf"
    path.write_bytes(b"stub-zone:\n    name: \"k\xfc.lab\"\n    stub-addr: 192.0.2.1\n")
    status, config, said = imported(path)
    assert status == 1 and not config and said == [f"{path}: a name in it is not UTF-8"], said


def test_named_words_in_capitals(tmp_path):
    """named reads its words in any case, and so the names of lists."""
    config, said = made_of(tmp_path, "named", 'ACL Inside { 10.0.0.0/8; };\nOptions { Recursion No; '
                           'Allow-Query { INSIDE; }; };\nZone "a.lab" { Type Master; '
                           'File "%FOLDER/a.zone"; Allow-Transfer { NONE; }; };\n')
    assert config["server"]["allow"] == ["10.0.0.0/8"] and config["zones"], said
    assert "recursion" not in config and "allow-transfer" not in config["zones"][0], said


@pytest.mark.parametrize("policy", ["local", "{ grant k.lab zonesub A; }"])
def test_named_update_policy_beside_a_list_for_all_zones(tmp_path, policy):
    """Of the two, named asks the policy of the zone alone."""
    zone = ZONE.replace("};", f"update-policy {policy}; }};")
    config, said = named(tmp_path, "recursion no; allow-update { 10.0.0.0/8; };", zone)
    assert "allow-update" not in config["zones"][0] and "not carried over" in said, said


@pytest.mark.parametrize("kind, text", [
    ("named", "acl a { b; b; b; b; };\nacl b { a; a; a; a; 10.0.0.0/8; };\n"
              "options { recursion no; allow-query { a; }; };\n"),
    ("named", "primaries a { b; b; b; };\nprimaries b { a; a; a; 10.0.0.1; };\noptions { recursion no; };\n"
              "zone a.lab { type secondary; primaries { a; }; };\n"),
    ("nsd", "pattern:\n  name: a\n" + "  include-pattern: b\n" * 5 + "pattern:\n  name: b\n" +
     "  include-pattern: a\n" * 5 + "zone:\n  name: a.lab\n  zonefile: %FOLDER/a.zone\n"
     "  include-pattern: a\n"),
])
def test_lists_that_include_each_other(tmp_path, kind, text):
    """They end, however often one is named."""
    config, said = made_of(tmp_path, kind, text)
    assert config["server"].get("allow") == ["10.0.0.0/8"] or config["zones"], said


@pytest.mark.parametrize("kind, option", [
    ("nsd", "proxy-protocol-port"), ("nsd", "tls-auth-port"),
    ("unbound", "proxy-protocol-port"), ("unbound", "https-port"), ("unbound", "")])
def test_ports_of_other_protocols(tmp_path, kind, option):
    """Plain DNS is not answered where clients need a certificate, a proxy or HTTPS."""
    port = "443" if not option else "5353"
    more = f"  {option}: {port}\n" if option else ""
    config, said = made_of(tmp_path, kind, "server:\n  ip-address: 127.0.0.1\n"
                           f"  ip-address: 127.0.0.1@{port}\n" + more)
    assert config["server"]["listen"] == ["127.0.0.1"] and f"port {port} is the " in said, said


def test_nsd_transfers_that_need_a_certificate(tmp_path):
    config, said = made_of(tmp_path, "nsd", "server:\n  tls-auth-xfr-only: yes\nzone:\n  name: a.lab\n"
                           "  zonefile: %FOLDER/a.zone\n  provide-xfr: 0.0.0.0/0 NOKEY\n")
    assert "allow-transfer" not in config["zones"][0] and "certificate" in said, said


def test_unbound_stubs_that_are_asked_by_tls(tmp_path):
    config, said = made_of(tmp_path, "unbound", "server:\n  verbosity: 1\nstub-zone:\n  name: a.lab\n"
                           "  stub-addr: 192.0.2.1\n  stub-tls-upstream: yes\n")
    assert "stubs" not in config["recursion"] and "without TLS" in said, said


def test_unbound_names_that_are_denied(tmp_path):
    """redirect without data is the form of lists of advertisers."""
    _config, said = made_of(tmp_path, "unbound", "server:\n  local-zone: ads.lab redirect\n"
                            "  local-zone: x.lab redirect\n  local-data: \"x.lab A 192.0.2.1\"\n")
    assert "ads.lab redirect has no local data" in said and "x.lab redirect has" not in said, said


@pytest.mark.parametrize("words, wanted", [
    ("TLSv1.3", "TLSv1.3"), ("TLSv1.2 TLSv1.3", None), ("TLSv1.2", None)],
    ids=["new", "both", "old"])
def test_unbound_versions_of_tls(tmp_path, words, wanted):
    certificate(tmp_path)
    config, said = made_of(tmp_path, "unbound", "server:\n  interface: 127.0.0.1\n"
                           "  interface: 127.0.0.1@853\n"
                           "  tls-service-key: %FOLDER/tls.key\n  tls-service-pem: %FOLDER/tls.crt\n"
                           f"  tls-protocols: \"{words}\"\n")
    assert config["server"]["tls"].get("min-version") == wanted, said
    assert ("Volley offers TLS 1.3, too" in said) == (words == "TLSv1.2"), said


def test_knot_modules_for_all_zones(tmp_path):
    """Those of the default template are for zones with another template, too."""
    config, said = made_of(tmp_path, "knot", "server:\n    listen: 127.0.0.1@53\nmod-queryacl:\n  - id: q\n"
                           "    address: 10.0.0.0/8\ntemplate:\n  - id: default\n"
                           "    global-module: mod-queryacl/q\n  - id: t\n    storage: %FOLDER\n"
                           "    file: a.zone\nzone:\n  - domain: a.lab\n    template: t\n")
    assert not config.get("zones") and "without mod-queryacl" in said, said


def test_unbound_local_names(tmp_path):
    """Tabs, a zone in another section "server", and a zone of a LAN that is asked upstream."""
    config, said = made_of(tmp_path, "unbound", "server:\n  local-zone: x.lab redirect\n"
                           "  local-zone: 168.192.in-addr.arpa transparent\nserver:\n"
                           "  local-data: \"x.lab.\tA\t192.0.2.1\"\n")
    assert config["recursion"]["local-data"] == [
        "x.lab. 3600 A\t192.0.2.1", "*.x.lab. 3600 A\t192.0.2.1"], said
    assert config["recursion"]["special-names-off"] == ["168.192.in-addr.arpa"], said
