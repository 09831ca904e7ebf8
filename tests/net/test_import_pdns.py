# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl import of PowerDNS: zones of a SQLite database, answers compared one by one."""
import os
import sqlite3
import sys

import dns.dnssec
import dns.name
import dns.rdatatype
import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import (Encoding, NoEncryption, PrivateFormat,
                                                          PublicFormat)

from netlab import BIN, ROOT, V4, run, wait_for
from pdnspeer import (PORT, SCHEMA, ask_all, compare, imported, new_key, question, running, serve,
                      settings)
from test_import import SECRET

sys.path.insert(0, str(ROOT / "scripts" / "import"))

import pdns_keys  # noqa: E402
import pdns_records  # noqa: E402

KINDS = ("A", "AAAA", "MX", "NS", "SOA", "TXT", "CNAME", "SRV", "CAA", "HTTPS")
RECORDS = [("", "SOA", "ns1.%s hostmaster.%s 2026010101 10800 3600 604800 60"),
           ("", "NS", "ns1.%s"), ("", "NS", "ns.away.lab"), ("", "MX", "mail.%s", 10),
           ("", "TXT", '"v=spf1 mx -all"'), ("", "CAA", '0 issue "ca.lab; account=1"'),
           ("", "A", "192.0.2.1"), ("", "AAAA", "2001:db8::1"), ("ns1", "A", "192.0.2.2"),
           ("mail", "A", "192.0.2.3"), ("www", "CNAME", "%s"), ("far", "CNAME", "www.away.lab"),
           ("gone", "CNAME", "missing.%s"), ("*.wild", "A", "192.0.2.4"),
           ("*.wild", "TXT", '"a \\"wild\\" one; with ( marks"'), ("here.wild", "TXT", '"x" "y"'),
           ("*.alias", "CNAME", "mail.%s"), ("a.b.c", "A", "192.0.2.5"),
           ("_sip._tcp", "SRV", "20 5060 mail.%s", 10), ("sub", "NS", "ns.sub.%s"),
           ("ns.sub", "A", "192.0.2.6"), ("safe", "NS", "ns.away.lab"),
           ("safe", "DS", "12345 13 2 " + "ab" * 32), ("none", "MX", ".", 0),
           ("sp\\032ace", "A", "192.0.2.7"), ("a\\.b", "A", "192.0.2.8"),
           ("svc", "HTTPS", "1 . alpn=h2"), ("under_score", "TXT", '"tab\\009 and \\200"'),
           ("5", "PTR", "host.%s"), ("cased", "TXT", '"MiXed"'), ("off", "A", "192.0.2.9", 0, True)]
NAMES = ("", "ns1", "mail", "www", "far", "gone", "x.wild", "x.y.wild", "here.wild", "x.here.wild",
         "wild", "x.alias", "a.b.c", "b.c", "c", "x.b.c", "_sip._tcp", "_tcp", "sub", "x.sub",
         "ns.sub", "safe", "x.safe", "none", "sp\\032ace", "a\\.b", "svc", "under_score", "5",
         "cased", "CaSeD", "off", "missing", "x.mail", "x.www")


def records(name):
    return [(owner, kind, content.replace("%s", name), *more)
            for owner, kind, content, *more in RECORDS]


@pytest.fixture(name="peer")
def make_peer(daemon, tmp_path, request):
    with running(daemon, tmp_path, getattr(request, "param", "")) as made:
        yield made


def questions(zones, names=NAMES, kinds=KINDS, has_do=False):
    return [
        question(f"{owner}.{zone}" if owner else zone, kind, has_do) for zone in zones
        for owner in names for kind in kinds
    ]


def test_unsigned(peer):
    zones = [
        peer.zone(name, records(name), meta=meta)
        for name, meta in (("one.lab", ()), ("2.0.192.in-addr.arpa", [("SOA-EDIT",
                                                                       "INCREMENT-WEEKS")]),
                           ("xn--bcher-kva.lab", ()))
    ]
    peer.db.commit()
    status, config, said = imported(peer)
    assert status == 0, said
    assert config["server"]["listen"] == [f"{V4}@{PORT}"]
    serve(peer, config)
    assert compare(peer, questions(zones)) == 3 * len(NAMES) * len(KINDS)


# --- Signed zones ---------------------------------------------------------------------------------

SIGNED = {
    "csk.lab": ([("SOA-EDIT", "INCREMENT-WEEKS")], (257, )),
    "two.lab": ([("SOA-EDIT", "INCEPTION-INCREMENT")], (257, 256)),
    "three.lab": ([("NSEC3PARAM", "1 0 0 -")], (257, )),
    "salt.lab": ([("NSEC3PARAM", "1 1 3 abcd")], (257, 256)),
    "narrow.lab": ([("NSEC3PARAM", "1 0 0 -"), ("NSEC3NARROW", "1")], (257, )),
    "0/25.2.0.192.in-addr.arpa": ((), (257, ))
}


def ds_of(peer, zone):
    """{(tag, digest of SHA-256)} that PowerDNS tells for the parent."""
    words = [line.split() for line in peer.util("export-zone-ds", zone).stdout.splitlines()]
    return {(int(line[3]), line[6].upper()) for line in words if line[5] == "2"}


def dnskeys(lab, zone, port=53):
    answer = lab.tcp(question(zone, "DNSKEY", True), V4, port)
    name = dns.name.from_text(zone)
    found, signatures = (answer.find_rrset(answer.answer, name, 1, *kinds)
                         for kinds in ((dns.rdatatype.DNSKEY, ), (dns.rdatatype.RRSIG,
                                                                  dns.rdatatype.DNSKEY)))
    dns.dnssec.validate(found, signatures, {name: found})
    return found


def validate(answer, keys):
    """Each signature of the answer and of its authority section is good."""
    n = 0
    for rrsets in (answer.answer, answer.authority):
        for rrset in rrsets:
            if rrset.rdtype == dns.rdatatype.RRSIG:
                n += 1
                signed = next(one for one in rrsets
                              if one.name == rrset.name and one.rdtype == rrset.covers)
                dns.dnssec.validate(signed, rrset, {keys.name: keys})
    assert n or not answer.answer, answer


def test_signed(peer):
    for zone, (meta, flags) in SIGNED.items():
        peer.zone(zone, records(zone), meta=meta, keys=[(one, 1, 1, new_key()) for one in flags])
    peer.db.commit()
    status, config, said = imported(peer)
    assert status == 0, said
    policies = {policy["name"]: policy for policy in config["signing"]}
    of = {name: policies[zone["signing"]] for name, zone in settings(config).items()}
    assert [of[zone]["keys"]
            for zone in SIGNED] == ["csk", "ksk-zsk", "csk", "ksk-zsk", "csk", "csk"]
    assert of["salt.lab"]["nsec3-salt-length"] == 2 and of["salt.lab"]["nsec3-iterations"] == 3
    serve(peer, config)
    lab = peer.world.lab
    for zone, (_meta, flags) in SIGNED.items():
        queries = questions([zone], kinds=("A", "NS", "DS", "TXT"), has_do=True)
        queries += questions([zone], ("", ), ("SOA", "DNSKEY", "CDS", "CAA"), True)
        assert compare(peer, queries) == 4 * len(NAMES) + 4
        keys = dnskeys(lab, zone)
        assert sorted(map(str, keys)) == sorted(map(str, dnskeys(lab, zone,
                                                                 PORT))) and len(keys) == len(flags)
        ours = {(dns.dnssec.key_id(key), dns.dnssec.make_ds(keys.name, key,
                                                            "SHA256").digest.hex().upper())
                for key in keys if key.flags == 257}
        assert ours == ds_of(peer, zone)
        for answer in ask_all(lab, 53, queries[::7]):
            validate(answer, keys)


KEY_STATES = {  # (flags, is active, is published), and the roles and states that volleyd shows
    "spare-zsk.lab": ([(257, 1, 1), (256, 1, 1), (256, 0, 1)], ["ksk active", "zsk active", "zsk"]),
    "spare-csk.lab": ([(257, 1, 1), (257, 0, 1)], ["csk active", "csk"]),
    "two-csk.lab": ([(257, 1, 1), (257, 1, 1)], ["csk active", "csk active"]),
    "hidden.lab": ([(257, 1, 1), (257, 0, 0)], ["csk active"]),
}


def test_states_of_keys(peer):
    for zone, (keys, _wanted) in KEY_STATES.items():
        peer.zone(zone,
                  records(zone),
                  keys=[(*key, new_key()) for key in keys],
                  meta=[("PUBLISH-CDS", "2"), ("PUBLISH-CDNSKEY", "1")])
    peer.db.commit()
    status, config, said = imported(peer)
    assert status == 3 and [
        line for line in said if "left out" in line and "not published" in line
    ], "\n".join(said)
    serve(peer, config)
    lab = peer.world.lab
    for zone, (_keys, wanted) in KEY_STATES.items():
        assert sorted(map(str, dnskeys(lab, zone))) == sorted(map(str, dnskeys(lab, zone, PORT)))
        shown = peer.world.daemon.json("zone", "keys", zone)["keys"]
        assert sorted(key["role"] + " active" * bool(key.get("active_at"))
                      for key in shown) == sorted(wanted)
        compare(peer, [question(zone, kind) for kind in ("CDS", "CDNSKEY")])


# --- Metadata, primaries, keys of TSIG ------------------------------------------------------------

MORE = """
primary=yes
secondary
also-notify=192.0.2.99
also-notify+=192.0.2.98:5301
allow-axfr-ips=192.0.2.128/25
dnsupdate=yes
allow-dnsupdate-from=
default-soa-edit-signed=EPOCH
max-tcp-connections=100
only-notify=0.0.0.0/0, !192.0.2.77
"""


@pytest.mark.parametrize("peer", [MORE], indirect=True)
def test_metadata(peer):
    peer.db.execute(
        "INSERT INTO tsigkeys (name, algorithm, secret) VALUES ('xfr.lab', 'hmac-sha256', ?)",
        (SECRET, ))
    zone = [("", "SOA", "ns1 hostmaster 7 3600 600 86400 60"), ("", "NS", "ns1.p.lab"),
            ("ns1", "A", "192.0.2.3")]
    more = [("", "NS", "ns7.p.lab"), ("ns7", "A", "192.0.2.77"), ("", "NS", "own.p.lab"),
            ("own", "A", V4)]
    peer.zone("q.lab", [zone[0], ("", "NS", "ns.away.lab")], "MASTER")
    peer.zone("p.lab", zone + more, "MASTER", [("ALLOW-AXFR-FROM", "AUTO-NS"),
                                               ("ALLOW-AXFR-FROM", "2001:db8::/32"),
                                               ("TSIG-ALLOW-AXFR", "xfr.lab"),
                                               ("ALSO-NOTIFY", "[2001:db8::9]:5302")])
    peer.zone("n.lab", zone, "NATIVE", [("ALLOW-DNSUPDATE-FROM", "10.0.0.0/8"),
                                        ("TSIG-ALLOW-DNSUPDATE", "xfr.lab"),
                                        ("SOA-EDIT", "INCREMENT-WEEKS"), ("X-OWNER", "me")])
    peer.zone("s.lab", [],
              "SLAVE", [("AXFR-MASTER-TSIG", "xfr.lab"), ("AXFR-SOURCE", "192.0.2.53")],
              master="192.0.2.7,192.0.2.8:5399")
    peer.zone("producer.lab", zone, "PRODUCER")
    peer.zone("m.lab", zone, catalog="producer.lab", options='{"producer": {"group": ["gold"]}}')
    peer.zone("consumer.lab", [], "CONSUMER", master="192.0.2.7")
    peer.zone("c.lab", [], "SLAVE", master="192.0.2.7", catalog="consumer.lab")
    peer.db.commit()
    status, config, said = imported(peer)
    assert status == 3, said
    zones, remotes = settings(config), {one["name"]: one for one in config["remotes"]}
    assert sorted(zones) == [
        "consumer.lab", "m.lab", "n.lab", "p.lab", "producer.lab", "q.lab", "s.lab"
    ]
    assert zones["p.lab"]["allow-transfer"] == [
        "192.0.2.128/25", "192.0.2.3", "192.0.2.77", "192.0.2.53", "2001:db8::/32", "key xfr.lab.",
        "192.0.2.99", "192.0.2.98"
    ], "those of AUTO-NS, and those that are notified"
    assert len(zones["q.lab"]["notify"]) == 2 and zones["q.lab"]["allow-transfer"] == [
        "192.0.2.128/25", "192.0.2.99", "192.0.2.98"
    ]
    assert any("q.lab: NS: left out: PowerDNS looks up the address of ns.away.lab" in line
               for line in said)
    assert [remotes[name]["address"][0] for name in zones["p.lab"]["notify"]] == \
        ["192.0.2.99", "192.0.2.98@5301", "2001:db8::9@5302", "192.0.2.3"]
    assert all(remotes[name]["key"] == "xfr.lab." for name in zones["p.lab"]["notify"])
    assert zones["n.lab"]["allow-update"] == ["10.0.0.0/8 key xfr.lab."
                                              ] and "notify" not in zones["n.lab"]
    assert [remotes[name]
            for name in zones["s.lab"]["primaries"]][1]["address"] == ["192.0.2.8@5399"]
    assert remotes[zones["s.lab"]["primaries"][0]]["source"] == ["192.0.2.53"]
    assert "file" not in zones["s.lab"] and zones["producer.lab"]["catalog"] == "produce"
    assert (zones["m.lab"]["member-of"], zones["m.lab"]["group"]) == ("producer.lab.", "gold")
    [template] = [
        one for one in config["templates"]
        if one["name"] == zones["consumer.lab"]["groups"][0]["template"]
    ]
    assert template["primaries"] == zones["consumer.lab"]["primaries"]
    assert config["server"]["tcp"]["max-connections"] == 100
    assert any("n.lab: SOA-EDIT: note: the zone's file has the serial" in line for line in said)


def test_transfers(peer):
    """volleyd gets a zone from PowerDNS with its key, and gives others a zone with the same key."""
    peer.db.execute(
        "INSERT INTO tsigkeys (name, algorithm, secret) VALUES ('xfr.lab', 'hmac-sha256', ?)",
        (SECRET, ))
    peer.zone("second.lab",
              records("second.lab"),
              "SLAVE", [("AXFR-MASTER-TSIG", "xfr.lab"), ("TSIG-ALLOW-AXFR", "xfr.lab")],
              master=f"{V4}:{PORT}")
    peer.zone("first.lab", records("first.lab"), "MASTER", [("TSIG-ALLOW-AXFR", "xfr.lab")])
    peer.db.commit()
    status, config, said = imported(peer)
    assert status == 0, said
    serve(peer, config)
    world = peer.world
    wait_for("the zone comes", lambda: world.lab.ask("second.lab", "SOA").answer)
    compare(peer, questions(["second.lab", "first.lab"]))
    for zone in ("first.lab", "second.lab"):
        assert world.transfer(None, zone) is None and f"mail.{zone}." in world.transfer(
            "xfr.lab.", zone)


# --- What PowerDNS has and Volley not -------------------------------------------------------------

LOST = """
expand-alias=yes
enable-lua-records=yes
api=yes
autosecondary=yes
gsqlite3-info-zone-query=select 1
launch+=gmysql
"""


@pytest.mark.parametrize("peer", [LOST], indirect=True)
def test_lost(peer):
    soa = ("", "SOA", "ns1 hostmaster 7 3600 600 86400 60")
    key = new_key()
    peer.zone(
        "alias.lab",
        [soa, ("", "NS", "ns1"), ("", "ALIAS", "www.away.lab"), ("l", "LUA", "A \"pickrandom\"")])
    peer.zone("odd.lab", [
        soa, ("", "NS", "ns1"), ("x", "TXT", '"a\n$INCLUDE /etc/passwd"'), ("y", "URL", "http://x"),
        ("z", "TXT", '"open'), ("t", "NOTYPE7", "x")
    ])
    peer.zone("empty.lab", [])
    peer.zone("zsk.lab", [soa, ("", "NS", "ns1")], keys=[(256, 1, 1, key)])
    peer.zone("old.lab", [soa, ("", "NS", "ns1")],
              keys=[(257, 1, 1, key.replace("13 (ECDSAP256SHA256)", "16 (ED448)"))])
    peer.zone("hsm.lab", [soa, ("", "NS", "ns1")], keys=[(257, 1, 1, key + "Engine: x\n")])
    peer.zone("pre.lab", [soa, ("", "NS", "ns1")], meta=[("PRESIGNED", "1")])
    peer.zone("sec.lab", [soa, ("", "NS", "ns1")],
              "SLAVE",
              master="192.0.2.1",
              keys=[(257, 1, 1, key)])
    peer.zone("lua.lab", [soa, ("", "NS", "ns1")],
              meta=[("LUA-AXFR-SCRIPT", "/x"), ("NEW-IN-2030", "1")])
    peer.zone("none.lab", [], "SLAVE")
    peer.zone("member.lab", [soa, ("", "NS", "ns1")], catalog="none.lab")
    peer.zone("\\300.lab", [soa, ("", "NS", "ns1")])
    peer.db.commit()
    status, config, said = imported(peer)
    assert status == 1
    lost = sorted(":".join(line.removeprefix(f"{peer.world.folder}/").split(":")[1:3])
                  for line in said if ": not carried over: " in line)
    conf = {
        name: str(i)
        for i, line in enumerate(peer.path.read_text().splitlines(), 1)
        for name in [line.partition("=")[0].rstrip("+")]
    }
    assert lost == sorted([
        f"{conf[name]}: {name}"
        for name in ("api", "autosecondary", "launch", "gsqlite3-info-zone-query")
    ] + [
        "alias.lab: ALIAS", "alias.lab: LUA", "odd.lab: TXT", "odd.lab: TXT", "odd.lab: zone",
        "empty.lab: zone", "zsk.lab: keys", "old.lab: keys", "hsm.lab: keys", "pre.lab: PRESIGNED",
        "sec.lab: keys", "lua.lab: LUA-AXFR-SCRIPT", "lua.lab: NEW-IN-2030", "none.lab: zone",
        "member.lab: catalog", "\\300.lab: zone"
    ]), "\n".join(said)
    assert [zone["name"]
            for zone in config["zones"]] == ["alias.lab.", "lua.lab.", "member.lab.", "odd.lab."]
    text = (peer.world.folder / "zones" / "odd.lab.zone").read_text()
    assert "\n$INCLUDE" not in text and sum("TXT" in line for line in text.splitlines()) == 0


def test_values_of_other_types(peer):
    """A column of SQLite may have values of any type."""
    for i, value in enumerate((7, 1.5, b"\xff\0", "\n", "257")):
        zone = [("", "SOA", "a b 1 2 3 4 5"), ("", "NS", "a"), (value, value, value, value)]
        peer.zone(f"{i}.lab",
                  zone,
                  "SLAVE", [(value, value), ("ALSO-NOTIFY", value)], [(value, value, value, value),
                                                                      (257, 1, 1, value)],
                  master=value,
                  options=value,
                  catalog=value)
        peer.db.execute("INSERT INTO tsigkeys (name, algorithm, secret) VALUES (?, ?, ?)",
                        [value] * 3)
    peer.db.commit()
    assert imported(peer)[0] == 1


def test_import_twice(peer):
    """A key that volleyd has used keeps its state, and a key that PowerDNS has no more is named."""
    zone, folder = "twice.lab", peer.world.folder / "zones" / "keys"
    peer.zone(zone, records(zone), keys=[(257, 1, 1, new_key())])
    peer.db.commit()
    assert imported(peer)[0] == 0
    [path] = folder.glob("*.private")
    times = path.stat().st_mtime_ns
    assert imported(
        peer)[0] == 0 and path.stat().st_mtime_ns == times, "a file that is the same stays"
    path.write_text(path.read_text(encoding="ascii") + "Role: CSK\n", encoding="ascii")
    status, _config, said = imported(peer)
    assert status == 0 and any("volleyd has used a key" in line for line in said), said
    assert "Role: CSK" in path.read_text(encoding="ascii")
    peer.db.execute("UPDATE cryptokeys SET content = ?", (new_key(), ))
    peer.db.commit()
    status, _config, said = imported(peer)
    assert status == 1 and any(f"{path}: PowerDNS does not have this key" in line for line in said)


# --- The back end bind, and files that are no database --------------------------------------------

BIND = """
options { directory "%FOLDER"; };
primaries up { 192.0.2.7 port 5399; };
zone "one.lab" { type master; file "one.zone"; also-notify { 192.0.2.9; }; };
zone "two.lab" { type secondary; primaries { up; 2001:db8::7; }; file "two.zone"; };
zone "." { type hint; file "root"; };
"""


def import_with_zones(folder):
    return run(BIN / "volleyctl",
               "import",
               folder / "pdns.conf",
               "--zones",
               folder / "new",
               check=False)


def test_bind(tmp_path):
    """Zones of named.conf stay in their files; their keys are in a database."""
    (tmp_path / "named.conf").write_text(BIND.replace("%FOLDER", str(tmp_path)))
    (tmp_path / "one.zone").write_text("$TTL 60\n@ SOA . . 1 1 1 1 1\n NS .\n")
    (tmp_path / "pdns.conf").write_text(
        f"launch=bind\nbind-config={tmp_path}/named.conf\nbind-dnssec-db={tmp_path}/keys.sqlite3\n"
        "primary=yes\n")
    with sqlite3.connect(tmp_path / "keys.sqlite3") as keys:
        keys.executescript(
            (SCHEMA.parent / "bind-dnssec.schema.sqlite3.sql").read_text(encoding="ascii"))
        keys.execute(
            "INSERT INTO cryptokeys (domain, flags, active, published, content) VALUES "
            "('one.lab', 257, 1, 1, ?)", (new_key(), ))
        keys.execute("INSERT INTO domainmetadata (domain, kind, content) "
                     "VALUES ('one.lab', 'NSEC3PARAM', '1 0 0 -')")
    done = import_with_zones(tmp_path)
    config = yaml.safe_load(done.stdout)
    assert done.returncode == 3, done.stderr
    one, two = config["zones"]
    assert one["file"] == str(tmp_path / "one.zone") and one["signing"] == "pdns" and len(
        one["notify"]) == 1
    assert config["signing"][0]["denial"] == "nsec3" and len(
        list((tmp_path / "new" / "keys").iterdir())) == 2
    assert [remote["address"] for remote in config["remotes"] if remote["name"] in two["primaries"]] == \
        [["192.0.2.7@5399"], ["2001:db8::7"]] and "file" not in two


@pytest.mark.parametrize("content",
                         [b"", b"no database, but a text of more than a page" * 100, None])
def test_no_database(tmp_path, content):
    """None: a FIFO, which must not be opened."""
    path = tmp_path / "pdns.sqlite3"
    path.write_bytes(content) if content is not None else os.mkfifo(path)
    (tmp_path / "pdns.conf"
     ).write_text(f"launch=gsqlite3\ngsqlite3-database={path}\nlocal-address=127.0.0.1\n")
    done = import_with_zones(tmp_path)
    assert done.returncode == 1 and \
        f"pdns.conf:2: gsqlite3-database: not carried over: {path}: " in done.stderr
    done = run(BIN / "volleyctl", "import", tmp_path / "pdns.conf", check=False)
    assert done.returncode == 1 and "give --zones FOLDER" in done.stderr


def imported_alone(folder, setting, zones):
    """ZONES are (name, flags of its key or None); (exit status, configuration, lines of notes)."""
    with sqlite3.connect(folder / "pdns.sqlite3") as db:
        db.executescript(SCHEMA.read_text(encoding="ascii"))
        for number, (name, flags) in enumerate(zones):
            db.execute("INSERT INTO domains (id, name, type) VALUES (?, ?, 'NATIVE')",
                       (number, name))
            db.executemany(
                "INSERT INTO records (domain_id, name, type, content, ttl) VALUES (?, ?, ?, ?, 60)",
                [(number, name, "SOA", "a b 1 2 3 4 5"), (number, name, "NS", "ns.away.lab")])
            if flags is not None:
                db.executemany(
                    "INSERT INTO cryptokeys (domain_id, flags, active, published, content) "
                    "VALUES (?, ?, 1, 1, ?)", [(number, one, new_key()) for one in (257, flags)])
    (folder / "pdns.conf").write_text(
        f"launch=gsqlite3\ngsqlite3-database={folder}/pdns.sqlite3\ngsqlite3-dnssec=yes\n"
        f"local-address=127.0.0.1\n{setting}\n")
    done = import_with_zones(folder)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, yaml.safe_load(done.stdout), done.stderr.splitlines()


def test_long_names(tmp_path):
    """volleyd has a digest in place of a name of more than 200 characters in a template's file."""
    label = ".".join(["x" * 49] * 3)
    names = [f"{'y' * n}.{label}" for n in (49, 50, 51, 52)]
    status, config, said = imported_alone(tmp_path, "", [(name, None) for name in names])
    assert len(names[1]) == 200 and status == 0, said
    assert [one["name"] for one in config["zones"]] == [f"{name}." for name in names]


def test_numbers_out_of_range(tmp_path):
    status, config, said = imported_alone(tmp_path, "default-ttl=1h", [("one.lab", None)])
    assert status == 1 and "zones" not in config, said
    assert any("left out: default-ttl is not a number" in line for line in said), said
    (tmp_path / "pdns.sqlite3").unlink()
    status, config, said = imported_alone(
        tmp_path, "", [("one.lab", 65536), ("two.lab", "9" * 5000), ("three.lab", -1),
                       ("four.lab", 256)])
    assert status == 1 and [zone["name"] for zone in config["zones"]] == ["four.lab."], said
    assert sum("its flags are not a number of 16 bits" in line for line in said) == 3, said


def test_public_keys():
    """The public key that is computed is OpenSSL's."""
    for algorithm, private in ((13, ec.generate_private_key(ec.SECP256R1())),
                               (14, ec.generate_private_key(ec.SECP384R1()))):
        size = private.curve.key_size // 8
        numbers = private.private_numbers()
        public = numbers.public_numbers
        assert pdns_keys.ecdsa_public(algorithm, numbers.private_value.to_bytes(size, "big")) == \
            public.x.to_bytes(size, "big") + public.y.to_bytes(size, "big")
    private = ed25519.Ed25519PrivateKey.generate()
    raw = private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    assert pdns_keys.ed25519_public(raw) == private.public_key().public_bytes(
        Encoding.Raw, PublicFormat.Raw)


@pytest.mark.parametrize("algorithm", ["rsasha256", "ecdsa384", "ed25519"])
def test_keys_of_pdnsutil(peer, algorithm):
    """Keys that PowerDNS itself makes, and its own view of their tags."""
    peer.zone("made.lab", records("made.lab"))
    peer.db.commit()
    for role in ("ksk", "zsk"):
        peer.util("add-zone-key", "made.lab", role, *["2048"] * (algorithm == "rsasha256"),
                  "active", algorithm)
    status, _config, said = imported(peer)
    assert status == 0, said
    tags = {
        int(line.split()[-1])
        for line in peer.util("list-keys", "made.lab").stdout.splitlines()
        if line.startswith("made.lab")
    }
    files = {path.name for path in (peer.world.folder / "zones" / "keys").iterdir()}
    assert len(tags) == 2 and {int(name.split("+")[2].split(".")[0]) for name in files} == tags
    checked = peer.world.folder / "zones" / "keys"
    assert {oct(path.stat().st_mode & 0o777) for path in checked.glob("*.private")} == {"0o600"}


def test_serials():
    """SOA-EDIT, as PowerDNS documents it: 2026-11-26 was a Thursday."""
    now = 1795996800  # 2026-11-30 00:00 UTC, a Monday
    for serial, kind, wanted in ((7, "", 7), (7, "NONE", 7), (7, "EPOCH", now),
                                 (7, "INCREMENT-WEEKS", 7 + now // 604800), (7, "INCEPTION-EPOCH",
                                                                             1795651200),
                                 (1795651300, "INCEPTION-EPOCH",
                                  1795651300), (7, "INCEPTION-INCREMENT", 2026112601),
                                 (2026112601, "inception-increment",
                                  2026112603), (2026113001, "INCEPTION-INCREMENT",
                                                2026113001), (7, "OTHER", None)):
        assert pdns_records.edited(serial, kind, now) == wanted, kind
