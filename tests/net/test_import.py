# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl import: configurations that the other servers' own checkers accept, imported and
served.

Each configuration has %-words for its folder, the service address and so on. First the peer answers
in the lab, then volleyd with the imported configuration answers the same questions.
"""
import os
import re
import stat
import subprocess
import types

import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.tsigkeyring
import pytest
import yaml

from netlab import BIN, CLIENT4, V4, has, run, texts, wait_for, write_zone
from scripted import Upstream
from upstreams import address_answer

SECRET = "YSBzZWNyZXQgZm9yIHRlc3RzIHRoYXQgYWxsIGtub3c="
ZONE = "auth.import.lab"


def imported(path, *options):
    """(status, configuration, lines of standard error)."""
    done = run(BIN / "volleyctl", "import", path, *options, check=False)
    return done.returncode, yaml.safe_load(done.stdout) if done.stdout else None, done.stderr.splitlines()


class Lab:
    """The lab with a folder in which a peer's configuration is written."""

    def __init__(self, daemon, folder):
        self.daemon, self.lab, self.folder = daemon, daemon.lab, folder
        folder.chmod(0o755)
        write_zone(folder / f"{ZONE}.zone", 7, "192.0.2.77",
                   f"txt TXT \"of {ZONE}\"\nalias CNAME www\n")

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text.replace("%FOLDER",
                                     str(self.folder)).replace("%V4", V4).replace("%ZONE", ZONE)
                        .replace("%SECRET", SECRET), encoding="utf-8")
        return path

    def peer(self, *command):
        """Starts a peer on the server's side; it ends with end()."""
        with open(self.folder / "peer.log", "ab") as log:
            return self.lab.popen("s", *command, stdout=log, stderr=log)

    def end(self, process):
        process.terminate()
        process.wait(20)

    def answers(self, questions):
        def one(name, kind):
            said = self.lab.ask(name, kind)
            return dns.rcode.to_text(said.rcode()), texts(said)
        return {question: one(*question.split()) for question in questions}

    def serve(self, config):
        """volleyd with this configuration; only what belongs to the lab is changed."""
        config["control"] = {"socket": str(self.daemon.socket)}
        config["server"]["storage"] = str(self.folder / "storage")
        config["server"]["workers"] = "1"
        config["cache"] = {"size": "16M"}
        (self.folder / "storage").mkdir(exist_ok=True)
        self.daemon.path.write_text(yaml.safe_dump(config), encoding="utf-8")
        checked = run(BIN / "volleyd", "--check", "-c", self.daemon.path, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        self.daemon.spawn()
        self.daemon.wait_ready()

    def compare(self, command, config, questions):
        """The peer's answers are volleyd's; the former are returned."""
        process = self.peer(*command)
        try:
            wait_for("the peer answers",
                     lambda: self.lab.is_answered(questions[0].split()[0], timeout=0.5))
            theirs = self.answers(questions)
        finally:
            self.end(process)
        self.serve(config)
        assert self.answers(questions) == theirs
        return theirs

    def transfer(self, key=None, name=ZONE):
        """The names of the zone, or None where it is refused."""
        ring = dns.tsigkeyring.from_text({key: SECRET}) if key else None
        query = dns.message.make_query(name, "AXFR")
        if ring:
            query.use_tsig(ring, key)
        with self.lab.connect("c", V4) as sock:
            dns.query.send_tcp(sock, query)
            answer = dns.query.receive_tcp(sock, keyring=ring, request_mac=query.mac)[0]
        return sorted(str(rrset.name) for rrset in answer.answer) if answer.rcode() == 0 else None


@pytest.fixture(name="world")
def make_world(daemon, tmp_path):
    return Lab(daemon, tmp_path)


@pytest.fixture(name="forwarder")
def make_forwarder(world):
    """On the client's side: one address for all names."""
    def reply(query, _seen, _upstream):
        out = address_answer(query, "192.0.2.88")
        out.flags |= dns.flags.RA
        return out.to_wire()
    made = Upstream(types.SimpleNamespace(name=f"{world.lab.name}-c"), CLIENT4, reply)
    yield made
    made.close()


def needs(*programs):
    for program in programs:
        if not has(program):
            pytest.skip(f"{program} is not installed")


def accepted_by_volleyd(path, tmp_path):
    """Whether volleyd takes what import prints, as it is."""
    made = tmp_path / "made.yaml"
    run(BIN / "volleyctl", "import", path, "-o", made, check=False)
    checked = run(BIN / "volleyd", "--check", "-c", made, check=False)
    assert checked.returncode == 0, f"{checked.stdout}{checked.stderr}\n{made.read_text()}"


AUTH_QUESTIONS = [f"www.{ZONE} A", f"txt.{ZONE} TXT", f"alias.{ZONE} A", f"none.{ZONE} A",
                  f"{ZONE} SOA", f"{ZONE} NS"]

NSD = """
server:
    ip-address: %V4
    port: 53
    server-count: 2
    zonesdir: "%FOLDER"
    database: ""
    username: ""
    chroot: ""
    pidfile: "%FOLDER/nsd.pid"
    xfrdfile: "%FOLDER/xfrd.state"
    zonelistfile: "%FOLDER/zones.list"
    xfrdir: "%FOLDER"
    logfile: "%FOLDER/nsd.log"
    identity: "ns-of-lab"
    nsid: "ascii_ns1"
    version: "none of yours"
    tcp-count: 200
    tcp-timeout: 20
    tcp-query-count: 50
    ipv4-edns-size: 1232
    minimal-responses: yes
    refuse-any: yes
remote-control:
    control-enable: no
include: "%FOLDER/keys.d/*.conf"
pattern:
    name: "outside"
    provide-xfr: 0.0.0.0/0 xfr.lab
    notify: 192.0.2.1 xfr.lab
pattern:
    name: "all"
    zonefile: "%s.zone"
    include-pattern: "outside"
zone:
    name: "%ZONE"
    include-pattern: "all"
zone:
    name: second.lab
    zonefile: secondary/%s
    request-xfr: AXFR 192.0.2.1@5399 xfr.lab
    request-xfr: 192.0.2.1 NOKEY
    allow-notify: 192.0.2.1 NOKEY
    size-limit-xfr: 1000000
    max-refresh-time: 7200
"""
NSD_KEYS = """
key:
    name: "xfr.lab"
    algorithm: hmac-sha256
    secret: "%SECRET"
"""


def nsd_files(world):
    (world.folder / "keys.d").mkdir()
    (world.folder / "secondary").mkdir()
    world.write("keys.d/keys.conf", NSD_KEYS)
    return world.write("nsd.conf", NSD)


def test_nsd(world):
    needs("nsd", "nsd-checkconf")
    path = nsd_files(world)
    run("nsd-checkconf", path)
    status, config, said = imported(path)
    assert status == 0, said
    assert config["server"]["listen"] == [V4] and config["server"]["tcp"] == \
        {"max-connections": 200, "idle-timeout": "20s", "max-queries": 50}
    assert config["keys"] == [{"name": "xfr.lab.", "algorithm": "hmac-sha256", "secret": SECRET}]
    zones = {zone["name"]: zone for zone in config["zones"]}
    assert zones[ZONE + "."] == {"name": ZONE + ".", "file": f"{world.folder}/{ZONE}.zone",
                                 "notify": ["192.0.2.1"],
                                 "allow-transfer": ["0.0.0.0/0 key xfr.lab."]}
    assert len(zones["second.lab."]["primaries"]) == 2
    assert zones["second.lab."]["refresh-max"] == "2h"
    assert any("control-enable: without meaning here" in line for line in said)
    theirs = world.compare(["nsd", "-d", "-c", path], config, AUTH_QUESTIONS)
    assert theirs[f"www.{ZONE} A"] == ("NOERROR", ["192.0.2.77"])
    assert world.transfer() is None
    assert f"www.{ZONE}." in world.transfer("xfr.lab.")
    chaos = dns.message.make_query("id.server", "TXT", "CH")
    assert texts(world.lab.udp(chaos)) == ['"ns-of-lab"']
    accepted_by_volleyd(path, world.folder)


NSD_LOST = """
server:
    zonesdir: "%FOLDER"
    ip-address: eth7
    tls-service-ocsp: "%FOLDER/ocsp"
    unheard-of: 1
    tcp-count: many
dnstap:
    dnstap-enable: no
key:
    name: old.lab
    algorithm: hmac-sha3
    secret: "%SECRET"
zone:
    name: a.lab
    zonefile: a.zone
    provide-xfr: 192.0.2.1 BLOCKED
    provide-xfr: 192.0.2.1-192.0.2.7 NOKEY
    provide-xfr: 0.0.0.0/0 old.lab
    allow-query: 192.0.2.1 NOKEY
    rrl-whitelist: all
    zonestats: a
zone:
    name: b.lab
    zonefile: b.zone
    request-xfr: 192.0.2.1 old.lab
zone:
    name: c.lab
    zonefile: c.zone
    include-pattern: missing
"""


def lines_about(said, path):
    """{line: text} of what is not carried over, or left out."""
    found = {}
    for line in said:
        match = re.fullmatch(rf"{re.escape(str(path))}:(\d+): ([^:]+): "
                             "(?:not carried over|left out): (.*)",
                             line)
        if match:
            found[int(match[1])] = found.get(int(match[1]), "") + f"{match[2]}: {match[3]}"
    return found


UNBOUND = """
server:
    interface: %V4
    port: 53
    num-threads: 1
    directory: "%FOLDER"
    username: ""
    chroot: ""
    pidfile: "%FOLDER/unbound.pid"
    use-syslog: no
    logfile: ""
    identity: "resolver"
    access-control: 192.0.2.0/24 allow
    access-control: 0.0.0.0/0 refuse
    access-control: 2001:db8::1/32 allow
    rrset-cache-size: 16m
    msg-cache-size: 8m
    cache-max-ttl: 7200
    cache-min-ttl: 5
    cache-max-negative-ttl: 60
    serve-expired: yes
    serve-expired-ttl: 3600
    serve-expired-client-timeout: 1500
    prefetch: no
    qname-minimisation: yes
    do-not-query-localhost: no
    module-config: "iterator"
    private-address: 10.0.0.0/8
    private-domain: "inner.lab"
    domain-insecure: "inner.lab"
    unblock-lan-zones: no
    local-zone: "lan.lab" transparent
    local-data: "host.lan.lab. IN A 192.0.2.201"
    local-data: 'host.lan.lab 600 IN TXT "two words"'
    local-data-ptr: "192.0.2.201 host.lan.lab"
    local-zone: "ads.lab" redirect
    local-data: "ads.lab. A 192.0.2.202"
    include: "%FOLDER/unbound.d/*.conf"
remote-control:
    control-enable: no
auth-zone:
    name: "%ZONE"
    zonefile: "%FOLDER/%ZONE.zone"
    for-downstream: yes
    for-upstream: no
rpz:
    name: rpz.lab
    zonefile: "%FOLDER/rpz.zone"
"""
UNBOUND_PART = """
forward-zone:
    name: "."
    forward-addr: 192.0.2.1
stub-zone:
    name: "stub.lab"
    stub-addr: 192.0.2.1@5354
    stub-first: yes
"""


def test_unbound(world, forwarder):
    needs("unbound", "unbound-checkconf")
    (world.folder / "unbound.d").mkdir()
    world.write("unbound.d/zones.conf", UNBOUND_PART)
    world.write("rpz.zone", "$TTL 60\n@ SOA . . 1 1 1 1 1\n NS .\nbad.lab CNAME .\n")
    path = world.write("unbound.conf",
                       UNBOUND.replace("module-config: \"iterator\"",
                                       "module-config: \"respip iterator\""))
    run("unbound-checkconf", path)
    status, config, said = imported(path)
    assert status == 0, said
    recursion = config["recursion"]
    assert recursion["allow"] == ["127.0.0.0/8", "::1", "192.0.2.0/24", "2001:db8::/32"]
    assert recursion["forward"] == ["192.0.2.1"] and recursion["serve-stale"] == "1h"
    assert recursion["stubs"] == [{"zone": "stub.lab", "address": "192.0.2.1@5354", "first": True}]
    assert config["server"]["allow"] == recursion["allow"], "who is refused there gets no zone either"
    accepted_by_volleyd(path, world.folder)
    questions = ["host.lan.lab A", "host.lan.lab TXT", "host.lan.lab AAAA",
                 "201.2.0.192.in-addr.arpa PTR", "ads.lab A",
                 "deep.ads.lab A", f"www.{ZONE} A", f"none.{ZONE} A", "bad.lab A", "localhost A",
                 "away.lab.example A"]
    theirs = world.compare(["unbound", "-d", "-c", path], config, questions)
    assert theirs["away.lab.example A"] == ("NOERROR", ["192.0.2.88"]) and forwarder.seen


UNBOUND_LOST = """
server:
    directory: "%FOLDER"
    interface: 127.0.0.1
    access-control: 192.0.2.0/24 allow
    access-control: 192.0.2.66/32 deny
    access-control: 198.51.100.0/24 refuse_non_local
    local-zone: "a.lab" static
    local-zone: "b.lab" always_nxdomain
    local-data: "c.lab. IN A 300.0.0.1"
    https-port: 443
    ratelimit: 100
    define-tag: "x"
    trust-anchor: "lab. DS 1 8 2 00"
    module-config: "python validator iterator"
    do-not-query-address: 192.0.2.9
    tls-session-ticket-keys: "x"
    unheard-of: 1
forward-zone:
    name: x.lab
    forward-host: ns.x.lab
    forward-tls-upstream: yes
    forward-addr: 192.0.2.1
stub-zone:
    name: y.lab
    stub-addr: 192.0.2.1
    stub-tls-upstream: yes
auth-zone:
    name: z.lab
    url: "https://z.lab/zone"
view:
    name: v
"""


def test_what_unbound_has_and_volley_not(world):
    path = world.write("unbound.conf", UNBOUND_LOST)
    status, config, said = imported(path)
    assert status == 1 and config
    assert set(lines_about(said, path)) == {6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 21, 23,
                                            27, 28, 30, 32}, \
        "\n".join(said)
    accepted_by_volleyd(path, world.folder)


KNOT = """
server:
    rundir: "%FOLDER"
    listen: [ %V4@53 ]
    identity: "knot of lab"
    nsid: ns1
    tcp-max-clients: 100
    tcp-idle-timeout: 15
    udp-max-payload: 1232
    automatic-acl: on
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: info
database:
    storage: "%FOLDER/db"
control:
    listen: knot.sock
include: "keys.d/*.conf"
remote:
  - id: hidden_1
    address: [192.0.2.1@5399, 2001:db8::1@5399]
    key: xfr.lab
  - id: second
    address: 192.0.2.1
remotes:
  - id: all
    remote: [hidden_1, second]
acl:
  - id: out
    address: [192.0.2.0/24, 2001:db8::/32]
    key: xfr.lab
    action: [transfer]
  - id: in
    remote: all
    action: [notify]
mod-cookies:
  - id: default
    secret: 0x000102030405060708090a0b0c0d0e0f
mod-rrl:
  - id: default
    rate-limit: 1000
    slip: 2
    whitelist: 192.0.2.1
policy:
  - id: daily
    algorithm: ed25519
    single-type-signing: on
    rrsig-lifetime: 10d
    rrsig-refresh: 4d
    nsec3: on
    cds-cdnskey-publish: none
template:
  - id: default
    storage: "%FOLDER"
    file: "%s.zone"
    acl: out
    global-module: mod-rrl/default
  - id: far
    storage: "%FOLDER/far"
    refresh-max-interval: 2h
zone:
  - domain: %ZONE
    zonefile-sync: -1
    semantic-checks: soft
    notify: all
  - domain: far.lab
    template: far
    master: all
    acl: [in]
  - domain: catalog.lab
    master: hidden_1
    catalog-role: interpret
    catalog-template: [far, default]
zone:
  - domain: signed.lab
    dnssec-signing: on
    dnssec-policy: daily
"""
KNOT_KEYS = """
key:
  - id: xfr.lab
    algorithm: hmac-sha256
    secret: %SECRET
"""


def test_knot(world):
    needs("knotd", "knotc")
    for name in ("keys.d", "db", "far"):
        (world.folder / name).mkdir()
    write_zone(world.folder / "signed.lab.zone")
    world.write("keys.d/keys.conf", KNOT_KEYS)
    path = world.write("knot.conf", KNOT)
    run("knotc", "-c", path, "conf-check")
    status, config, said = imported(path)
    assert status == 1 and list(lines_about(said, path)) == [78], "the keys of the signed zone"
    zones = {zone["name"]: zone for zone in config["zones"]}
    assert zones[ZONE + "."]["allow-transfer"] == ["192.0.2.0/24 key xfr.lab.",
                                                   "2001:db8::/32 key xfr.lab.",
                                                   "192.0.2.1 key xfr.lab.",
                                                   "2001:db8::1 key xfr.lab.", "192.0.2.1"]
    assert run(BIN / "volleyctl", "import", path, check=False).stdout.count(
        "secret: 000102030405060708090a0b0c0d0e0f\n") == 1
    assert zones["far.lab."]["primaries"] == ["hidden_1", "second"]
    assert zones["far.lab."]["refresh-max"] == "2h"
    assert "file" not in zones["far.lab."], "the files of secondaries stay knotd's"
    assert (zones["catalog.lab."]["groups"] ==
            [{"template": "far"}, {"group": "default", "template": "knot-default"}])
    assert config["signing"][0] == {"name": "daily", "keys": "csk", "algorithm": "ed25519",
                                    "signature-lifetime": "10d",
                                    "refresh": "4d", "denial": "nsec3", "cds": False}
    assert zones["signed.lab."]["signing"] == "daily" and config["rrl"]["exempt"] == ["192.0.2.1"]
    accepted_by_volleyd(path, world.folder)
    world.compare(["knotd", "-c", path], config, AUTH_QUESTIONS)
    assert f"www.{ZONE}." in world.transfer("xfr.lab.")
    assert (texts(world.lab.udp(dns.message.make_query("id.server", "TXT", "CH"))) ==
            ['"knot of lab"'])
    assert world.lab.tcp(dns.message.make_query("signed.lab", "DNSKEY")).answer


KNOT_LOST = """
server:
    listen: 127.0.0.1@53
    proxy-allowlist: 192.0.2.1
    listen-quic: 127.0.0.1@853
mod-geoip:
  - id: x
key:
  - id: old.lab
    algorithm: hmac-sha3
    secret: %SECRET
remote:
  - id: r
    address: 192.0.2.1
    key: old.lab
acl:
  - id: no
    deny: on
    action: transfer
  - id: few
    action: update
    update-type: A
policy:
  - id: p
    ksk-submission: s
    manual: on
submission:
  - id: s
zone:
  - domain: a.lab
    acl: [no, few]
    notify: r
    module: mod-geoip/x
    ddns-master: r
    dnssec-signing: on
    dnssec-policy: p
  - domain: b.lab
    master: r
"""


def test_what_knot_has_and_volley_not(world):
    path = world.write("knot.conf", KNOT_LOST)
    status, config, said = imported(path)
    assert status == 1
    assert set(lines_about(said, path)) == {4, 5, 6, 9, 14, 17, 22, 25, 26, 30, 32, 33, 34, 37,
                                            38}, "\n".join(said)
    assert [zone["name"] for zone in config["zones"]] == ["a.lab."]
    assert "allow-update" not in config["zones"][0]
    accepted_by_volleyd(path, world.folder)


NAMED = """
// options
options {
    directory "%FOLDER";
    pid-file none; session-keyfile none;
    listen-on port 53 { %V4; };
    listen-on-v6 { none; };
    version "named of lab";
    server-id "ns1";
    recursion yes;
    allow-recursion { inside; };
    allow-query { any; };
    forwarders { 192.0.2.1; };
    forward only;
    dnssec-validation no;
    minimal-responses yes;
    tcp-clients 120;
    tcp-idle-timeout 150;
    max-cache-ttl 7200;
    max-cache-size 64m;
    allow-transfer { key xfr.lab; };
    rate-limit { responses-per-second 500; slip 3; exempt-clients { inside; }; };
    response-policy { zone "rpz.lab"; };
    /* all zones */
    notify explicit;
};
acl inside { 192.0.2/24; 2001:db8::/32; };
key xfr.lab { algorithm hmac-sha256; secret "%SECRET"; };
primaries hidden { 192.0.2.1 port 5399 key xfr.lab; };
controls { };
dnssec-policy weekly { keys { csk lifetime unlimited algorithm ecdsap256sha256; }; signatures-validity P20D; };
include "zones.d/*.conf";
"""
NAMED_ZONES = """
zone "%ZONE" { type primary; file "%ZONE.zone"; also-notify { 192.0.2.1; }; };
zone "rpz.lab" IN { type master; file "rpz.zone"; };
zone "second.lab" { type secondary; file "second.zone"; primaries { hidden; }; };
zone "fwd.lab" { type forward; forward first; forwarders { 192.0.2.1 port 5356; }; };
zone "signed.lab" { type primary; file "signed.zone"; dnssec-policy weekly; inline-signing yes; };
"""


def test_named(world, forwarder):
    needs("named", "named-checkconf")
    (world.folder / "zones.d").mkdir()
    write_zone(world.folder / "signed.zone")
    world.write("rpz.zone", "$TTL 60\n@ SOA . . 1 1 1 1 1\n NS .\nbad.lab CNAME .\n")
    world.write("zones.d/zones.conf", NAMED_ZONES)
    path = world.write("named.conf", NAMED)
    subprocess.run(["/usr/bin/named-checkconf", path], cwd=world.folder, check=True)
    status, config, said = imported(path)
    parts = world.folder / "zones.d" / "zones.conf"
    assert status == 1 and not lines_about(said, path), said
    assert list(lines_about(said, parts)) == [6], "the keys of the signed zone"
    assert config["server"]["listen"] == [V4] and config["server"]["tcp"] == \
        {"max-connections": 120, "idle-timeout": "15s"}
    assert (config["recursion"]["allow"] == ["192.0.2.0/24", "2001:db8::/32"] ==
            config["rrl"]["exempt"])
    assert config["recursion"]["forward"] == ["192.0.2.1"]
    assert "forward-first" not in config["recursion"]
    zones = {zone["name"]: zone for zone in config["zones"]}
    assert zones[ZONE + "."]["allow-transfer"] == ["key xfr.lab."]
    assert zones["second.lab."]["primaries"] == [config["remotes"][1]["name"]]
    assert zones["signed.lab."]["signing"] == "weekly"
    assert (config["signing"] ==
            [{"name": "weekly", "algorithm": "ecdsap256sha256", "ksk-lifetime": "0s", "keys": "csk",
              "signature-lifetime": "20d", "key-folder": str(world.folder)}])
    accepted_by_volleyd(path, world.folder)
    command = ["sh", "-c", f"cd {world.folder} && exec named -g -c {path}"]
    theirs = world.compare(command, config, [*AUTH_QUESTIONS, "bad.lab A", "away.lab.example A"])
    assert theirs["away.lab.example A"] == ("NOERROR", ["192.0.2.88"]) and forwarder.seen
    assert world.transfer() is None
    assert f"www.{ZONE}." in world.transfer("xfr.lab.")


NAMED_LOST = """
options {
    directory "%FOLDER";
    recursion no;
    dnssec-validation auto;
    blackhole { 192.0.2.9; };
    allow-transfer { !192.0.2.7; 192.0.2.0/24; 198.51.100.0/24; };
    catalog-zones { zone "c.lab"; };
    unheard-of yes;
    listen-on port 443 tls none http default { 127.0.0.1; };
};
key old.lab { algorithm hmac-sha3; secret "%SECRET"; };
view one { zone "v.lab" { type primary; file "v"; }; };
view two { };
zone "a.lab" {
    type primary; file "a";
    update-policy { grant k zonesub any; };
    allow-query { 192.0.2.1; };
    allow-update { key old.lab; };
};
zone "b.lab" { type redirect; file "b"; };
zone "c.lab" { type secondary; file "c"; primaries { 192.0.2.1 key old.lab; }; };
trust-anchors { };
zone "d.lab" { type primary; file "d"; dnssec-policy none; notify yes; };
"""


def test_what_named_has_and_volley_not(world):
    path = world.write("named.conf", NAMED_LOST)
    status, config, said = imported(path)
    assert status == 1
    assert set(lines_about(said, path)) == {6, 7, 8, 9, 10, 12, 13, 14, 15, 17, 18, 19, 21, 22, 23,
                                            24}, "\n".join(said)
    assert [zone["name"] for zone in config["zones"]] == ["d.lab."], "neither of the views"
    assert config["zones"][0]["allow-transfer"] == ["198.51.100.0/24"] and "recursion" not in config
    accepted_by_volleyd(path, world.folder)


# --- The command itself ---------------------------------------------------------------------------


def test_output_is_private(world):
    path = nsd_files(world)
    made = world.folder / "made.yaml"
    os.umask(0o022)
    done = run(BIN / "volleyctl", "import", path, "-o", made)
    assert not done.stdout and stat.S_IMODE(made.stat().st_mode) == 0o600
    assert (made.read_text() == run(BIN / "volleyctl", "import", "-o", made, path).stdout +
            made.read_text())
    assert SECRET in made.read_text() and "It has secrets" in made.read_text()


def test_output_replaces_files_only(tmp_path):
    """A FIFO stands for a device: -o /dev/null once made /dev/null a regular file."""
    path, pipe, link = tmp_path / "nsd.conf", tmp_path / "pipe", tmp_path / "link"
    path.write_text("zone:\n  name: a\n  zonefile: a\n", encoding="ascii")
    os.mkfifo(pipe)
    done = run(BIN / "volleyctl", "import", path, "-o", pipe, check=False)
    assert done.returncode == 1 and not done.stdout
    assert f"{pipe}: it is not a regular file: without -o" in done.stderr
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    for folder in ("new/", "./"):
        done = run(BIN / "volleyctl", "import", path, "-o", f"{tmp_path}/{folder}", check=False)
        assert done.returncode == 1 and "it is the name of a folder" in done.stderr
    link.symlink_to("led.to")  # a name that is not there yet
    for _ in range(2):
        run(BIN / "volleyctl", "import", path, "-o", link, check=False)
        assert link.is_symlink() and "name: a." in (tmp_path / "led.to").read_text("ascii")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["led.to", "link", "nsd.conf", "pipe"]


@pytest.mark.parametrize("name,text,wanted", [
    ("a.conf", "server:\n  zonesdir: \"/x\"\nzone:\n  name: a\n  zonefile: a\n", "nsd"),
    ("b.conf", "# x\nserver:\n  access-control: 192.0.2.0/24 allow\n", "unbound"),
    ("c.conf", "// x\noptions {\n  recursion no;\n};\n", "named"),
    ("d.conf", "server:\n    listen: 127.0.0.1@53\nzone:\n  - domain: a\n    file: /a\n", "knot"),
    ("my-nsd.conf", "server:\n", "nsd"),
])
def test_kind_is_found(tmp_path, name, text, wanted):
    (tmp_path / name).write_text(text)
    done = run(BIN / "volleyctl", "import", tmp_path / name, check=False)
    assert f"the configuration of {wanted}," in done.stdout, done.stderr
    assert (done.stdout ==
            run(BIN / "volleyctl", "import", "--from", wanted, tmp_path / name, check=False).stdout)


def test_faults(tmp_path):
    path = tmp_path / "x"
    path.write_text("something else\n")
    done = run(BIN / "volleyctl", "import", path, check=False)
    assert done.returncode == 2 and "--from" in done.stderr and not done.stdout
    for kind in ("nsd", "unbound", "knot", "named"):
        path.write_text("\n\"open\n")
        done = run(BIN / "volleyctl", "import", path, "--from", kind, check=False)
        assert done.returncode == 1 and f"{path}:2: " in done.stderr and not done.stdout
    for words in ((), (path, path), (path, "--from"), (path, "-x"), (path, "--from", "djbdns")):
        assert run(BIN / "volleyctl", "import", *words, check=False).returncode == 2
    done = subprocess.run([BIN / "volleyctl", "import", tmp_path / "nsd.conf"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and "No such file" in done.stderr
