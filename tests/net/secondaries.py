# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""knotd, nsd and named as secondaries of a volleyd, on the client's side of the lab, port 53."""
import json
import subprocess

import dns.exception
import dns.message

from netlab import CLIENT4, V4, has, run, texts, wait_for
from rivals import named_alone


def certificate(folder, name="volley.test", days=2):
    """For Secondary's TLS: a certificate that is its own authority, and server.tls of a volleyd."""
    crt, key = folder / "tls.crt", folder / "tls.key"
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-keyout", key, "-out", crt, "-days", days, "-subj", f"/CN={name}",
        "-addext", f"subjectAltName=DNS:{name}")
    return {"bundle": crt, "name": name,
            "server": {"listen": [V4], "certificate": str(crt), "key": str(key)}}


def knot_head(folder, key=None, action="notify", ends=(CLIENT4, V4)):
    """Of a knotd's configuration all but its zones: those may be of the remote and the ACL
    "volley".
    ENDS: its address and ours."""
    here, there = ends
    key_lines = f"""
key:
  - id: {key['name']}
    algorithm: {key['algorithm']}
    secret: {key['secret']}""" if key else ""
    of_key = f"\n    key: {key['name']}" if key else ""
    return f"""
server:
    rundir: {folder}
    listen: {here}@53
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: {folder}
log:
  - target: stderr
    any: info{key_lines}
remote:
  - id: volley
    address: {there}@53{of_key}
acl:
  - id: volley
    address: {there}
    action: {action}{of_key}
"""


def knotd(folder, zone, key, tls, here, there):
    (folder / "knot.conf").write_text(f"""{knot_head(folder, key, ends=(here, there))}zone:
  - domain: {zone}
    storage: {folder}
    file: zone
    zonefile-sync: -1
    master: volley
    acl: volley
    semantic-checks: off
""", encoding="ascii")
    return ["knotd", "-c", folder / "knot.conf"]


def nsd(folder, zone, key, tls, here, there):
    name = key["name"] if key else "NOKEY"
    key_lines = f"""
key:
  name: {key['name']}
  algorithm: {key['algorithm']}
  secret: "{key['secret']}"
""" if key else ""
    tls_lines = f"""
tls-auth:
  name: volley
  auth-domain-name: {tls['name']}
""" if tls else ""
    ask = f"AXFR {there}@853 {name} volley" if tls else f"{there}@53 {name}"
    (folder / "nsd.conf").write_text(f"""
server:
  ip-address: {here}
  port: 53
  database: ""
  pidfile: {folder}/nsd.pid
  username: ""
  zonesdir: {folder}
  xfrdfile: {folder}/xfrd.state
  xfrdir: {folder}
  zonelistfile: {folder}/zone.list
  server-count: 1
  verbosity: 2
  tls-cert-bundle: "{tls['bundle'] if tls else ''}"
remote-control:
  control-enable: no
{key_lines}{tls_lines}
zone:
  name: {zone}
  zonefile: {folder}/zone
  request-xfr: {ask}
  allow-notify: {there} {name}
""", encoding="ascii")
    return ["nsd", "-d", "-c", folder / "nsd.conf"]


def named_head(folder, key=None, options="notify no;", ends=(CLIENT4, V4)):
    """Of a named's configuration all but its zones. What it says to Volley has the key."""
    here, there = ends
    key_lines = f"""
key "{key['name']}" {{ algorithm {key['algorithm']}; secret "{key['secret']}"; }};
server {there} {{ keys "{key['name']}"; }};""" if key else ""
    return f"""
options {{
  directory "{folder}";
  listen-on {{ {"none" if ":" in here else here}; }};
  listen-on-v6 {{ {here if ":" in here else "none"}; }};
  pid-file "{folder}/named.pid";
  session-keyfile "{folder}/session.key"; {named_alone()}
  recursion no;
  dnssec-validation no;
  empty-zones-enable no;
  {options}
}};
controls {{ }};
logging {{ category default {{ default_stderr; }}; }};{key_lines}
"""


def named(folder, zone, key, tls, here, there):
    tls_lines = f"""tls volley {{ ca-file "{tls['bundle']}"; remote-hostname "{tls['name']}"; }};
""" if tls else ""
    ask = f"{there} port 853 tls volley" if tls else there
    (folder / "named.conf").write_text(f"""{named_head(folder, key, ends=(here, there))}{tls_lines}zone "{zone}" {{
  type secondary;
  primaries {{ {ask}; }};
  file "zone";
}};
""", encoding="ascii")
    return ["named", "-f", "-n", "1", "-c", folder / "named.conf"]


KINDS = {"knotd": knotd, "nsd": nsd, "named": named}


class Peer:
    """
    A name server that WORDS start, in a folder of its own on the client's side, over a `with`.
    """

    def __init__(self, lab, folder, words, here=CLIENT4):
        self.lab, self.folder, self.words, self.here = lab, folder, words, here
        self.process = None

    def __enter__(self):
        with open(self.folder / "log", "ab") as log:
            self.process = self.lab.popen("c", *self.words, stdout=log, stderr=log,
                                          cwd=self.folder)
        return self

    def __exit__(self, *exception):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def ask(self, name, kind):
        """The answer, or None where it does not answer."""
        query = dns.message.make_query(name, kind)
        try:
            return self.lab.udp(query, self.here, end="s", timeout=0.5)
        except (OSError, dns.exception.DNSException):
            return None


class Secondary(Peer):
    """One of them. KEY is a netlab.tsig_key(), TLS {"bundle": file, "name": name};
    ENDS its address and ours."""

    def __init__(self, lab, folder, kind, zone="example.com", key=None, tls=None,
                 ends=(CLIENT4, V4)):
        assert has(kind), f"{kind} is not installed"
        folder = folder / kind
        folder.mkdir(exist_ok=True)
        super().__init__(lab, folder, KINDS[kind](folder, zone, key, tls, *ends), ends[0])
        self.zone = zone

    def serial(self):
        """That it serves, or None."""
        answer = self.ask(self.zone, "SOA")
        return answer.answer[0][0].serial if answer and answer.answer else None

    def wait_for(self, serial, seconds=30):
        wait_for(f"serial {serial} of {self.zone}: {json.dumps(self.log()[-3000:])}",
                 lambda: self.serial() == serial, seconds)

    def wait_address(self, name, address):
        """It may have a process with the version before for a moment (nsd)."""
        wait_for(f"{name} is {address}",
                 lambda: (it := self.ask(name, "A")) and texts(it) == [address])
