# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl import of configurations that try to get more than the original gives, to lose a setting
without a line that makes the status 1, to end the program, to be slow or to write to a terminal.

Without a daemon or a peer: the configurations are read, and volleyd checks the results.
"""
import os

import pytest
import yaml

from netlab import BIN, run
from test_import import SECRET

NOBODY = ["0.0.0.0"]
NAMED = "options { directory \"/x\"; listen-on { 127.0.0.1; }; listen-on-v6 { none; }; " \
        "notify no; allow-transfer { none; }; %s };\n"
NSD = "server:\n  ip-address: 127.0.0.1\n"
KNOT = "server:\n    listen: 127.0.0.1@53\n"
UNBOUND = "server:\n  interface: 127.0.0.1\n"
OTHER = "b3RoZXIgc2VjcmV0IGZvciB0ZXN0cyBvZiB0d28ga2V5cw=="
MAPPED = "::ffff:10.0.0.0/104"


def ran(tmp_path, server, text, *words):
    path = tmp_path / "conf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run(BIN / "volleyctl", "import", path, "--from", server, *words, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def made(tmp_path, server, text):
    """(status, the configuration, the notes)."""
    done = ran(tmp_path, server, text)
    return done.returncode, yaml.load(done.stdout, yaml.BaseLoader) or {}, done.stderr


def at(config, *path):
    """The value at the path of keys and numbers; None: there is none."""
    for key in path:
        try:
            config = config[key]
        except (KeyError, IndexError, TypeError):
            return None
    return config


def zone(options):
    return f'zone "a.lab" {{ type primary; file "a"; {options} }};\n'


KEY = f'key k {{ algorithm hmac-sha256; secret "{SECRET}"; }};\n'
VIEWS = 'view "in" { match-clients { 10.0.0.0/8; }; };\nview "out" { recursion no; };\n'
# the server and its file: the path of a key, and its value, or None if the key must not be there
NO_MORE = {
    "the only client is refused by volleyd": (
        "named", NAMED % f"recursion no; allow-query {{ {MAPPED}; }};" + zone(""),
        ("server", "allow"), NOBODY),
    "the only client of unbound is refused by volleyd": (
        "unbound", f"{UNBOUND}  access-control: {MAPPED} allow\n  access-control: 127.0.0.0/8 refuse\n"
        "  access-control: ::1 refuse\nauth-zone:\n  name: a.lab\n  zonefile: /x/a\n",
        ("server", "allow"), NOBODY),
    "recursion of two views": (
        "named", NAMED % "allow-recursion { any; };" + VIEWS, ("recursion", "allow"), None),
    "recursion on some addresses": (
        "named", NAMED % "allow-recursion { any; }; allow-recursion-on { 127.0.0.1; };",
        ("recursion", "allow"), None),
    "the cache on some addresses": (
        "named", NAMED % "allow-recursion { any; }; allow-query-cache-on { 127.0.0.1; };",
        ("recursion", "allow"), None),
    "queries on some addresses": (
        "named", NAMED % "recursion no; allow-query-on { 127.0.0.1; };" + zone(""),
        ("server", "allow"), NOBODY),
    "the addresses of the only view": (
        "named", NAMED % "recursion no;" + 'view "a" { match-destinations { 127.0.0.1; }; ' +
        zone("") + "};", ("server", "allow"), NOBODY),
    "two catalogs with one template that limits queries": (
        "knot", KNOT + "mod-queryacl:\n  - id: q\n    address: 10.0.0.0/8\nremote:\n  - id: p\n"
        "    address: 192.0.2.1\ntemplate:\n  - id: m\n    module: mod-queryacl/q\nzone:\n" +
        "".join(f"  - domain: c{i}.lab\n    master: p\n    catalog-role: interpret\n"
                "    catalog-template: m\n" for i in range(2)), ("zones", ), None),
    "a rule in capital letters": (
        "nsd", NSD + "zone:\n  name: a.lab\n  zonefile: /x/a\n  provide-xfr: 10.0.0.0/8 NOKEY\n"
        "  Provide-XFR: 10.1.0.0/16 BLOCKED\n", ("zones", 0, "allow-transfer"), None),
    "clients that may ask for zones only, in a network that may recurse": (
        "unbound", f"{UNBOUND}  access-control: 0.0.0.0/0 allow\n"
        "  access-control: 10.0.0.0/8 refuse_non_local\n", ("recursion", "allow"),
        ["127.0.0.0/8", "::1"]),
    "updates of clients that may not ask": (
        "named", NAMED % "recursion no; allow-query { 10.0.0.0/8; };" + KEY +
        zone("allow-update { key k; 192.0.2.1; };"), ("zones", 0, "allow-update"),
        ["10.0.0.0/8 key k."]),
    "transfers of clients that are not in the view": (
        "named", NAMED % "recursion no;" + KEY + "view \"v\" { match-clients { 10.0.0.0/8; }; " +
        zone("allow-transfer { key k; any; 192.0.2.1; };") + "};", ("zones", 0, "allow-transfer"),
        ["10.0.0.0/8 key k.", "10.0.0.0/8"]),
    "clients behind none": (
        "named", NAMED % "recursion no;" + zone("allow-transfer { 10.0.0.1; none; 10.0.0.2; };"),
        ("zones", 0, "allow-transfer"), ["10.0.0.1"]),
    "clients behind none of a list in a list": (
        "named", NAMED % "recursion no;" +
        zone("allow-transfer { { none; 10.0.0.1; }; 10.0.0.2; };"),
        ("zones", 0, "allow-transfer"), ["10.0.0.2"]),
    "clients that are not none": (
        "named", NAMED % "recursion no;" + zone("allow-transfer { !none; };"),
        ("zones", 0, "allow-transfer"), ["any"]),
    "two keys of one name": (
        "nsd", f"{NSD}key:\n  name: k\n  algorithm: hmac-sha256\n  secret: {SECRET}\nkey:\n  name: K.\n"
        f"  algorithm: hmac-sha256\n  secret: {OTHER}\nzone:\n  name: a.lab\n  zonefile: /x/a\n"
        "  provide-xfr: 10.0.0.0/8 K.\n", ("zones", 0, "allow-transfer"), None),
}


# the result is the same as the original
SAME = ("updates of clients that may not ask", "transfers of clients that are not in the view",
        "clients behind none", "clients behind none of a list in a list", "clients that are not none")


@pytest.mark.parametrize("name", NO_MORE)
def test_no_more_than_the_original(tmp_path, name):
    server, text, path, value = NO_MORE[name]
    code, config, notes = made(tmp_path, server, text)
    assert at(config, *path) == value, f"{config}\n{notes}"
    assert (code == 1) == (name not in SAME), notes


RPZ = "rpz:\n  name: rpz.lab\n  primary: 192.0.2.1\n"
ASKED = "  access-control: 10.0.0.0/8 allow\n"
# the server and its file: the status, and what a note has
HOLES = {
    "a zone for more clients": (
        "named", NAMED % "recursion no; allow-query { 10.0.0.0/8; };" + zone("allow-query { any; };"),
        1, "allow-query: not carried over: a.lab. is for the clients of server.allow only"),
    "the same clients": (
        "named", NAMED % "recursion no; allow-query { 10.0.0.0/8; };" +
        zone("allow-query { 10.0.0.0/8; };"), 0, ""),
    "must be secure": ("named", NAMED % 'recursion no; dnssec-must-be-secure "a.lab" yes;', 1,
                       "dnssec-must-be-secure: not carried over"),
    "need not be secure": ("named", NAMED % 'recursion no; dnssec-must-be-secure "a.lab" no;', 0, ""),
    "cookies are demanded": ("named", NAMED % "recursion no; require-server-cookie yes;", 1,
                             "require-server-cookie: not carried over"),
    "AAAA records are left out": ("named", NAMED % "recursion no; filter-aaaa-on-v4 yes;", 1,
                                  "filter-aaaa-on-v4: not carried over"),
    "a service of policies": ("named", NAMED % "recursion no; dnsrps-enable yes;", 1,
                              "dnsrps-enable: not carried over"),
    "dns64 for some": (
        "named", NAMED % "allow-recursion { 10.0.0.0/8; }; dnssec-validation no; "
        "dns64 64:ff9b::/96 { clients { 10.1.0.0/16; }; };", 1, "clients: not carried over"),
    "dns64 for all": (
        "named", NAMED % "allow-recursion { 10.0.0.0/8; }; dnssec-validation no; "
        "dns64 64:ff9b::/96 { clients { any; }; };", 3, "clients: left out"),
    "updates that are forwarded": (
        "named", NAMED % "recursion no;" + 'zone "a.lab" { type secondary; primaries { 192.0.2.1; }; '
        "allow-update-forwarding { any; }; };", 1, "allow-update-forwarding: not carried over"),
    "updates that are not": (
        "named", NAMED % "recursion no;" + 'zone "a.lab" { type secondary; primaries { 192.0.2.1; }; '
        "allow-update-forwarding { none; }; };", 0, ""),
    "lists that no client may ask for": ("unbound", UNBOUND + ASKED + RPZ, 1,
                                         "rpz: not carried over: clients of server.allow"),
    "lists that clients may ask for": ("unbound", UNBOUND + ASKED + RPZ + "  for-downstream: yes\n", 0,
                                       "rpz: note: clients of server.allow"),
    "CD does nothing": ("unbound", UNBOUND + "  ignore-cd-flag: yes\n", 1,
                        "ignore-cd-flag: not carried over"),
    "no UDP": ("unbound", UNBOUND + "  do-udp: no\n", 1, "do-udp: not carried over"),
    "all addresses": ("unbound", "server:\n  interface-automatic: yes\n", 1,
                      "interface-automatic: not carried over"),
    "two keys": (
        "nsd", f"{NSD}key:\n  name: k\n  algorithm: sha256\n  secret: {SECRET}\nkey:\n  name: K.\n"
        f"  algorithm: sha512\n  secret: {SECRET}\n", 1, "key: not carried over: the file has two"),
    "one key twice": (
        "nsd", NSD + f"key:\n  name: k\n  algorithm: sha256\n  secret: {SECRET}\n" * 2, 0, ""),
    "a number that is none": ("nsd", f"{NSD}  tcp-count: ²\n", 1, "tcp-count: not carried over"),
    "a port that is none": ("nsd", "server:\n  ip-address: 127.0.0.1@²\n", 1, "ip-address: not carried"),
    "a time that is none": ("unbound", f"{UNBOUND}  tcp-idle-timeout: ²\n", 1, "tcp-idle-timeout: not"),
    "a number of 5,000 digits": ("nsd", f"{NSD}  tcp-count: {'9' * 5000}\n", 0, "which is set to 1000000"),
    "a time of 5,000 digits": ("named", NAMED % f"recursion no; max-cache-ttl {'9' * 5000}w;", 0,
                               "is out of bounds"),
    "patterns that include each other": (
        "nsd", NSD + "".join(f"pattern:\n  name: p{i}\n" + f"  include-pattern: p{i + 1}\n" * 2
                             for i in range(60)) + "pattern:\n  name: p60\n  zonefile: /x/a\nzone:\n"
        "  name: a.lab\n  include-pattern: p0\n", 0, ""),
}


@pytest.mark.parametrize("name", HOLES)
def test_status(tmp_path, name):
    server, text, status, note = HOLES[name]
    code, config, notes = made(tmp_path, server, text)
    assert code == status and note in notes, f"{config}\n{notes}"


MEMBERS = "remote:\n  - id: p\n    address: 192.0.2.1\npolicy:\n  - id: pol\ntemplate:\n  - id: m\n" \
          "    dnssec-policy: pol\n%szone:\n  - domain: c.lab\n    master: p\n" \
          "    catalog-role: interpret\n    catalog-template: m\n"
# the server and its file: the path of a key, and its value
MEANT = {
    "a template that does not sign": ("knot", KNOT + MEMBERS % "", ("templates", 0, "signing"), None),
    "a template that signs": ("knot", KNOT + MEMBERS % "    dnssec-signing: on\n",
                              ("templates", 0, "signing"), "pol"),
    "a template that signs by itself": (
        "knot", KNOT + (MEMBERS % "    dnssec-signing: on\n").replace("    dnssec-policy: pol\n", ""),
        ("templates", 0, "signing"), "default"),
    "a template with primaries that signs": (
        "knot", KNOT + MEMBERS % "    dnssec-signing: on\n    master: p\n",
        ("templates", 0, "signing"), None),
    "a slash in the name of a file": (
        "knot", f"{KNOT}zone:\n  - domain: 0/25.2.0.192.in-addr.arpa\n    storage: /x\n",
        ("zones", 0, "file"), "/x/0_25.2.0.192.in-addr.arpa.zone"),
    "the letters of a name": (
        "nsd", f"{NSD}zone:\n  name: A.Lab.\n  zonefile: /x/%s-%1-%z\n",
        ("zones", 0, "file"), "/x/A.Lab.-A-lab"),
    "a value on the next line": (
        "nsd", f"{NSD}zone:\n  name: a.lab\n  zonefile:\n    # there\n    /x/a\n",
        ("zones", 0, "file"), "/x/a"),
    "options in capitals": (
        "nsd", "Server:\n  IP-Address: 127.0.0.1\nZONE:\n  Name: a.lab\n  ZoneFile: /x/a\n",
        ("zones", 0, "file"), "/x/a"),
    "minutes": (
        "named", NAMED % "recursion no; max-transfer-time-in 90;" +
        'zone "a.lab" { type secondary; primaries { 192.0.2.1; }; };',
        ("zones", 0, "max-transfer-time"), "90m"),
    "the networks of a LAN": (
        "unbound", f"{UNBOUND}  local-zone: 110.in-addr.arpa. transparent\n"
        "  local-zone: 10.in-addr.arpa. transparent\n",
        ("recursion", "special-names-off"), ["10.in-addr.arpa."]),
    "no validation in a LAN": (
        "unbound", f"{UNBOUND}  insecure-lan-zones: yes\n", ("recursion", "domain-insecure", 0),
        "10.in-addr.arpa"),
    "TLS for all upstreams": (
        "unbound", f"{UNBOUND}  tls-upstream: yes\n  tls-cert-bundle: /etc/ssl/certs/x.pem\n"
        "forward-zone:\n  name: c.lab\n  forward-addr: 192.0.2.1@853#a.lab\n"
        "  forward-tls-upstream: no\n", ("recursion", "forward-zones", 0, "transport"), "tls"),
    "the size that is told upstream": (
        "unbound", f"{UNBOUND}  edns-buffer-size: 4096\n", ("server", "max-udp-size"), None),
}


@pytest.mark.parametrize("name", MEANT)
def test_meaning(tmp_path, name):
    server, text, path, value = MEANT[name]
    _code, config, notes = made(tmp_path, server, text)
    assert at(config, *path) == value, f"{config}\n{notes}"


@pytest.mark.parametrize("text", [
    "server:\n  foo\x1b[31m\u009b1m\u202e: x\n  x\n", "server:\n  hide\x1b\u2028-version: no\n",
    b"server:\n  foo\x9b1m bar\n"])
def test_terminals_get_no_commands(tmp_path, text):
    done = ran(tmp_path, "unbound", text)
    assert done.returncode == 1
    lines = done.stderr.splitlines(keepends=True)
    assert all(line[:-1].isprintable() for line in lines), repr(done.stderr)


def test_the_name_of_the_file_adds_no_key(tmp_path):
    """U+0085 ends a comment of YAML, and octets that are not UTF-8 end the reading."""
    for name in (b"a\xc2\x85metrics: {listen: 127.0.0.1@9}", b"a\xff"):
        path = os.fsdecode(os.path.join(os.fsencode(tmp_path), name))
        with open(path, "w", encoding="utf-8") as file:
            file.write(UNBOUND)
        done = run(BIN / "volleyctl", "import", path, "--from", "unbound", "-o", tmp_path / "made",
                   check=False)
        assert done.returncode == 0, done.stderr
        config = yaml.load((tmp_path / "made").read_bytes(), yaml.BaseLoader)
        assert "metrics" not in config
        run(BIN / "volleyd", "--check", "-c", tmp_path / "made")


def test_a_file_that_is_read_is_not_written(tmp_path):
    (tmp_path / "part").write_text(UNBOUND)
    (tmp_path / "link").symlink_to("part")
    text = f'include: "{tmp_path}/part"\n'
    for output in ("conf", "part", "link"):
        done = ran(tmp_path, "unbound", text, "-o", tmp_path / output)
        assert done.returncode == 1 and "is a file of the configuration" in done.stderr
        assert (tmp_path / "part").read_text() == UNBOUND
        assert (tmp_path / "conf").read_text() == text


STEPS = """
import sys
sys.path.insert(0, sys.argv[1])
import command
n = 0
def step(frame, event, _arg):
    global n
    if not frame.f_code.co_filename.startswith(sys.argv[1]):  # subprocess counts by time
        return None
    frame.f_trace_opcodes, frame.f_trace_lines = True, False
    n += event == "opcode"
    return step
sys.settrace(step)
command.make(sys.argv[2], sys.argv[3], sys.argv[4])
sys.settrace(None)
print(n)
"""
LARGE = {
    "nsd": lambda n: NSD + "pattern:\n  name: p\n  zonefile: /x/%s\n" + "".join(
        f"zone:\n  name: z{i}.lab\n  include-pattern: p\n" for i in range(n)),
    "knot": lambda n: f"{KNOT}zone:\n" + "".join(f"  - domain: z{i}.lab\n" for i in range(n)),
    "named": lambda n: NAMED % "recursion no; " + "".join(
        f'zone "z{i}.lab" {{ type primary; file "a"; allow-update {{ 10.0.0.1; }}; }};\n'
        for i in range(n)),
}


@pytest.mark.parametrize("server", LARGE)
def test_many_zones(tmp_path, server):
    """A zone needs as many steps of Python beside 160 others as beside 80 others."""
    steps = []
    for n in (80, 160, 240):
        path = tmp_path / f"conf{n}"
        path.write_text(LARGE[server](n), encoding="utf-8")
        done = run("env", "PYTHONHASHSEED=0", "python3", "-c", STEPS, BIN.parent / "import", path,
                   server, BIN / "volleyd")
        steps.append(int(done.stdout))
    few, many = steps[1] - steps[0], steps[2] - steps[1]
    assert 1000 < many < 1.03 * few, steps
