# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of signed zones as validators see them.

delv takes each kind of answer by itself, with the zone's key as its trust anchor. unbound resolves
names behind delegations: it needs the proofs that come with referrals. All run in a network
namespace of their own: the parent zones on 127.0.0.1, their children on 127.0.0.2.
"""
import os
import pathlib
import shutil
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("VOLLEY_BIN", ROOT / "build" / "bin"))
PATH = f"{BIN}:{os.environ['PATH']}:/usr/sbin:/sbin"
TOOLS = ["ip", "delv", "dig", "unbound", "dnssec-keygen", "dnssec-signzone", "ldns-keygen",
         "ldns-signzone"]

# zone: how it is signed
BIND, LDNS = "dnssec-signzone", "ldns-signzone"
ZONES = {
    "nsec.test.": (BIND, []),
    "nsec3.test.": (BIND, ["-3", "aabb", "-H", "2"]),
    "optout.test.": (BIND, ["-3", "-", "-H", "0", "-A"]),
    "lnsec.test.": (LDNS, []),
    "lnsec3.test.": (LDNS, ["-n", "-t", "1", "-s", "beef"]),
    "loptout.test.": (LDNS, ["-n", "-p"]),
}

PARENT = """$TTL 300
@ SOA ns hostmaster 1 7200 3600 1209600 60
@ NS ns
@ MX 10 mail
ns A 127.0.0.1
mail A 192.0.2.25
www A 192.0.2.80
www AAAA 2001:db8::80
*.wild A 192.0.2.9
explicit.wild TXT "here"
alias CNAME www
towild CNAME x.wild
tonothing CNAME nothere
tonodata CNAME explicit.wild
*.wc CNAME www
*.wcnone CNAME nothere
dn DNAME tree
x.tree A 192.0.2.5
a.b.ent A 192.0.2.4
_svc._tcp SRV 1 1 80 www
svc HTTPS 1 . alpn=h2
plain NS ns.plain
ns.plain A 127.0.0.2
plain2 NS ns.plain
secure NS ns.secure
ns.secure A 127.0.0.2
"""

CHILD = """$TTL 300
@ SOA ns hostmaster 1 7200 3600 1209600 60
@ NS ns
ns A 127.0.0.2
www A 192.0.2.81
"""

POSITIVE = "; fully validated"
NEGATIVE = "; negative response, fully validated"
ALIAS_NEGATIVE = "; fully validated, and negative"  # our word for an alias and then a denial
UNSIGNED = "; unsigned answer"

# what, name (below the zone), type, what delv says
KINDS = [
    ("positive", "www", "A", POSITIVE),
    ("apex", "", "SOA", POSITIVE),
    ("apex NS", "", "NS", POSITIVE),
    ("keys", "", "DNSKEY", POSITIVE),
    ("MX with addresses", "", "MX", POSITIVE),
    ("SRV", "_svc._tcp", "SRV", POSITIVE),
    ("HTTPS", "svc", "HTTPS", POSITIVE),
    ("letter case", "WwW", "A", POSITIVE),
    ("wildcard", "x.wild", "A", POSITIVE),
    ("wildcard, deeper", "y.x.wild", "A", POSITIVE),
    ("the wildcard itself", "*.wild", "A", POSITIVE),
    ("CNAME", "alias", "A", POSITIVE),
    ("CNAME to a wildcard", "towild", "A", POSITIVE),
    ("wildcard CNAME", "x.wc", "A", POSITIVE),
    ("DNAME", "x.dn", "A", POSITIVE),
    ("the DNAME itself", "dn", "DNAME", POSITIVE),
    ("DS at a signed cut", "secure", "DS", POSITIVE),
    ("NODATA", "www", "TXT", NEGATIVE),
    ("NODATA at the apex", "", "TXT", NEGATIVE),
    ("NODATA at an alias's target", "tonodata", "A", ALIAS_NEGATIVE),
    ("NODATA from a wildcard", "x.wild", "TXT", NEGATIVE),
    ("NODATA beside a wildcard", "explicit.wild", "A", NEGATIVE),
    ("NODATA at an empty non-terminal", "ent", "A", NEGATIVE),
    ("NODATA at a deeper one", "b.ent", "A", NEGATIVE),
    ("NODATA above a wildcard", "wild", "A", NEGATIVE),
    ("NXDOMAIN", "nothere", "A", NEGATIVE),
    ("NXDOMAIN, before all", "0", "A", NEGATIVE),
    ("NXDOMAIN, behind all", "zzz", "A", NEGATIVE),
    ("NXDOMAIN, labels deep", "a.b.c.nothere", "A", NEGATIVE),
    ("NXDOMAIN below a leaf", "x.www", "A", NEGATIVE),
    ("NXDOMAIN below an empty non-terminal", "x.ent", "A", NEGATIVE),
    ("NXDOMAIN behind a CNAME", "tonothing", "A", ALIAS_NEGATIVE),
    ("NXDOMAIN behind a wildcard CNAME", "x.wcnone", "A", ALIAS_NEGATIVE),
    ("NXDOMAIN behind a DNAME", "nothere.dn", "A", ALIAS_NEGATIVE),
    ("DS at an unsigned cut", "plain", "DS", NEGATIVE),
]

# An opt-out span does not prove that the name itself is not there, so what stands for it is
# "unsigned" (RFC 5155 section 9.2).
OPT_OUT = {"wildcard", "wildcard, deeper", "CNAME to a wildcard", "wildcard CNAME",
           "NXDOMAIN behind a wildcard CNAME"}


def run(folder, *words):
    done = subprocess.run([shutil.which(words[0], path=PATH) or words[0], *words[1:]], cwd=folder,
                          capture_output=True, text=True, check=False, timeout=60)
    assert not done.returncode, f"{' '.join(words)}: {done.stderr[-1500:]}"
    return done.stdout.strip()


def sign(folder, origin, how, text):
    """Signs the zone into FOLDER/ORIGIN.signed. Its DS record and its key, as text."""
    signer, options = how
    (folder / origin).write_text(text)
    if signer == BIND:
        key = run(folder, "dnssec-keygen", "-q", "-a", "ECDSAP256SHA256", "-f", "KSK", origin)
        run(folder, signer, "-S", "-z", "-P", "-q", "-K", ".", "-d", ".", *options, "-o", origin,
            "-f", origin + "signed", origin, key)
    else:
        key = run(folder, "ldns-keygen", "-k", "-a", "ECDSAP256SHA256", origin)
        run(folder, signer, "-A", *options, "-o", origin, "-f", origin + "signed", origin, key)
    return (run(folder, "dnssec-dsfromkey", "-2", key + ".key"),
            (folder / f"{key}.key").read_text())


def anchor(key):
    """A key file's record as delv wants it."""
    record = [line.split(";")[0] for line in key.splitlines() if not line.startswith(";")][0]
    fields = record.split()
    at = fields.index("DNSKEY") + 1
    return f'"{fields[0]}" static-key {" ".join(fields[at:at + 3])} "{"".join(fields[at + 3:])}";'


class Lab:
    def __init__(self, folder):
        self.folder = folder
        self.name = f"volley-val-{os.getpid()}"
        self.processes = []
        run(folder, "ip", "netns", "add", self.name)
        run(folder, "ip", "-n", self.name, "link", "set", "lo", "up")

    def inside(self, *words):
        return [shutil.which("ip", path=PATH), "netns", "exec", self.name,
                shutil.which(words[0], path=PATH), *words[1:]]

    def start(self, name, *words):
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes.append(subprocess.Popen(self.inside(*words), cwd=self.folder, stdout=log,
                                                   stderr=log))

    def ask(self, *words):
        return subprocess.run(self.inside(*words), cwd=self.folder, capture_output=True, text=True,
                              check=False, timeout=60).stdout

    def wait(self, *words):
        end = time.monotonic() + 20
        while "NOERROR" not in self.ask("dig", "+tries=1", "+time=1", *words):
            assert time.monotonic() < end, [p.read_text() for p in self.folder.glob("*.log")]
            time.sleep(0.1)

    def volleyd(self, address, zones):
        lines = "".join(f'  - {{name: "{z}", file: {file}}}\n' for z, file in zones.items())
        (self.folder / f"{address}.yaml").write_text(
            f'server:\n  listen: ["{address}"]\n  workers: 1\ncache:\n  size: 16M\n'
            f"rrl:\n  answers: 0\n  octets: 0\n"
            f"control:\n  socket: {self.folder}/{address}.sock\nzones:\n{lines}")
        self.start(address, "volleyd", "-c", f"{address}.yaml")
        self.wait(f"@{address}", next(iter(zones)), "SOA")

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(20)
        subprocess.run([shutil.which("ip", path=PATH), "netns", "del", self.name], check=False)


@pytest.fixture(name="lab", scope="module")
def make_lab(tmp_path_factory):
    missing = [t for t in TOOLS if not shutil.which(t, path=PATH)]
    if missing or os.geteuid():
        pytest.skip(f"not installed: {', '.join(missing)}" if missing else "needs root")
    folder = tmp_path_factory.mktemp("validate")
    parents, children, anchors, digests = {}, {}, [], []
    for zone, how in ZONES.items():
        ds, _ = sign(folder, "secure." + zone, how, CHILD)
        (folder / ("plain." + zone)).write_text(CHILD)
        (folder / ("plain2." + zone)).write_text(CHILD.replace("@ NS ns", f"@ NS ns.plain.{zone}"))
        ds, key = sign(folder, zone, how, PARENT + ds + "\n")
        digests.append(ds)
        anchors.append(anchor(key))
        parents[zone] = zone + "signed"
        children.update({"secure." + zone: f"secure.{zone}signed", "plain." + zone: "plain." + zone,
                         "plain2." + zone: "plain2." + zone})
    (folder / "anchors").write_text("trust-anchors {\n" + "\n".join(anchors) + "\n};\n")
    (folder / "anchors.ds").write_text("\n".join(digests) + "\n")
    lab = Lab(folder)
    try:
        lab.volleyd("127.0.0.1", parents)
        lab.volleyd("127.0.0.2", children)
        unbound(lab)
        yield lab
    finally:
        lab.stop()


def unbound(lab):
    stubs = "".join(f"stub-zone:\n  name: {z}\n  stub-addr: 127.0.0.1\n" for z in ZONES)
    local = "".join(f"  local-zone: {z} transparent\n" for z in ("test.",))
    (lab.folder / "unbound.conf").write_text(f"""
server:
  interface: 127.0.0.1@5300
  do-ip6: no
  do-daemonize: no
  use-syslog: no
  verbosity: 1
  val-log-level: 2
  username: ""
  chroot: ""
  directory: "{lab.folder}"
  pidfile: "{lab.folder}/unbound.pid"
  do-not-query-localhost: no
  module-config: "validator iterator"
  trust-anchor-file: "{lab.folder}/anchors.ds"
{local}remote-control:
  control-enable: no
{stubs}""")
    lab.start("unbound", "unbound", "-d", "-c", "unbound.conf")
    lab.wait("-p", "5300", "@127.0.0.1", "www.nsec.test", "A")


def delv(lab, zone, name, qtype):
    """What delv says of the answer, and all that it prints."""
    out = lab.ask("delv", "@127.0.0.1", "-a", "anchors", "+root=" + zone,
                  f"{name}.{zone}" if name else zone, qtype)
    said = [line for line in out.splitlines() if line in (POSITIVE, NEGATIVE, UNSIGNED)]
    if said == [POSITIVE] and "\\-A" in out:
        return ALIAS_NEGATIVE, out
    if UNSIGNED in said:
        return UNSIGNED, out
    return said[0] if len(set(said)) == 1 else str(said), out


@pytest.mark.parametrize("zone", ZONES)
def test_delv_validates_each_kind(lab, zone):
    wrong = []
    for what, name, qtype, verdict in KINDS:
        said, out = delv(lab, zone, name, qtype)
        if said == verdict or (said == UNSIGNED and "optout" in zone and what in OPT_OUT):
            continue
        wrong.append(f"{what}: {name} {qtype}: {out}")
    assert not wrong, "\n".join(wrong)


# name, type, is the answer secure; opt-out leaves what it covers insecure
BEHIND = [
    ("www.secure", "A", "NOERROR", True, True),
    ("nothere.secure", "A", "NXDOMAIN", True, False),
    ("www.plain", "A", "NOERROR", False, False),
    ("nothere.plain", "A", "NXDOMAIN", False, False),
    ("www.plain2", "A", "NOERROR", False, False),
    ("www", "A", "NOERROR", True, True),
    ("nothere", "A", "NXDOMAIN", True, False),
    ("x.dn", "A", "NOERROR", True, True),
]


@pytest.mark.parametrize("zone", ZONES)
def test_unbound_follows_referrals(lab, zone):
    wrong = []
    for name, qtype, rcode, is_secure, with_opt_out in BEHIND:
        out = lab.ask("dig", "-p", "5300", "@127.0.0.1", "+dnssec", f"{name}.{zone}", qtype)
        flags = next((line for line in out.splitlines() if "flags: qr" in line), "")
        expected = with_opt_out if "optout" in zone else is_secure
        if f"status: {rcode}" not in out or (" ad" in flags) != expected:
            wrong.append(f"{name} {qtype}: {out}")
    assert not wrong, "\n".join(wrong)
