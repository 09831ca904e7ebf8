# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A PowerDNS Authoritative Server with a SQLite database, for tests of volleyctl import.

Zones are written into the tables of the package's schema, as tools of hosters do. pdns_server then
answers from them, and compare() asks it and volleyd the same questions.
"""
import base64
import contextlib
import pathlib
import socket
import sqlite3

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import yaml
from cryptography.hazmat.primitives.asymmetric import ec

from netlab import BIN, TIMEOUT, V4, run, wait_for
from test_import import Lab, needs

PORT = 5300
SCHEMA = pathlib.Path("/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql")
BATCH = 100  # questions that are on their way at the same time
CONFIG = f"""
launch=gsqlite3
gsqlite3-database=%FOLDER/pdns.sqlite3
gsqlite3-dnssec=yes
local-address={V4}
local-port={PORT}
socket-dir=%FOLDER
module-dir=%MODULES
any-to-tcp=no
version-string=anonymous
server-id=ns1.lab
no-shuffle=yes
gsqlite3-pragma-synchronous=0
"""


def new_key():
    """The text of a private key of algorithm 13, as cryptokeys.content has it."""
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    text = base64.b64encode(number.to_bytes(32, "big")).decode()
    return f"Private-key-format: v1.2\nAlgorithm: 13 (ECDSAP256SHA256)\nPrivateKey: {text}\n"


class Peer:
    """Its folder, database and process; `world` is the Lab of test_import.py."""
    def __init__(self, world, more=""):
        self.world, self.process = world, None
        modules = next(pathlib.Path("/usr/lib").glob("*/pdns"), "/usr/lib/pdns")
        self.path = world.write("pdns.conf", CONFIG.replace("%MODULES", str(modules)) + more)
        self.db = sqlite3.connect(world.folder / "pdns.sqlite3")
        self.db.executescript("PRAGMA synchronous = OFF;\n" + SCHEMA.read_text(encoding="ascii"))

    def zone(self, name, records, kind="NATIVE", meta=(), keys=(), **columns):
        """RECORDS are (name, type, content[, number of MX and SRV[, anything: it is disabled]])
        with names relative to the zone, "" for the zone itself; META is (kind, content); KEYS are
        (flags, active, published, text)."""
        row = {"name": name, "type": kind, **columns}
        at = self.db.execute(
            f"INSERT INTO domains ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            list(row.values())).lastrowid
        self.db.executemany(
            "INSERT INTO records (domain_id, name, type, content, ttl, prio, disabled) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(at, f"{owner}.{name}" if owner else name, kind, content, 300,
              (more or (0, ))[0], len(more) > 1) for owner, kind, content, *more in records])
        self.db.executemany(
            "INSERT INTO domainmetadata (domain_id, kind, content) VALUES (?, ?, ?)",
            [(at, *one) for one in meta])
        self.db.executemany(
            "INSERT INTO cryptokeys (domain_id, flags, active, published, content) "
            "VALUES (?, ?, ?, ?, ?)", [(at, *one) for one in keys])
        return name

    def util(self, *words):
        return run("pdnsutil", f"--config-dir={self.world.folder}", *words)

    def start(self):
        """Also fills the columns that PowerDNS makes of the others."""
        self.db.commit()
        self.util("rectify-all-zones", "quiet")
        self.process = self.world.peer("pdns_server", f"--config-dir={self.world.folder}",
                                       "--daemon=no", "--guardian=no", "--loglevel=4",
                                       "--disable-syslog=yes")

    def end(self):
        self.world.end(self.process)


def question(name, kind, has_do=False):
    return dns.message.make_query(name, kind, want_dnssec=has_do, payload=1232)


def ask_all(lab, port, queries):
    """The answers to queries, in their order."""
    answers = [None] * len(queries)
    with lab.socket("c") as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        sock.connect((V4, port))
        sock.settimeout(TIMEOUT)
        for first in range(0, len(queries), BATCH):
            part = queries[first:first + BATCH]
            for i, query in enumerate(part, first):
                query.id = i
                sock.send(query.to_wire())
            for _ in part:
                answer = dns.message.from_wire(sock.recv(65535))
                answers[answer.id] = answer
    return [
        answer if not answer.flags & dns.flags.TC else lab.tcp(query, V4, port)
        for query, answer in zip(queries, answers)
    ]


def section(rrsets, kinds=None):
    return sorted(f"{rrset.name} {rrset.ttl} {dns.rdatatype.to_text(rrset.rdtype)} {data}".lower()
                  for rrset in rrsets for data in rrset if kinds is None or rrset.rdtype in kinds)


NS, SOA, DS = (dns.rdatatype.from_text(word) for word in ("NS", "SOA", "DS"))
SIGNED = [dns.rdatatype.from_text(word) for word in ("RRSIG", "NSEC", "NSEC3")]


def view(answer):
    """What a resolver does with the answer, without signatures: the code, AA, the answer; of the
    authority section the SOA record of a denial or the NS and DS records of a referral."""
    is_answer = bool(answer.answer)
    plain = [rrset for rrset in answer.answer if rrset.rdtype not in SIGNED]
    return (dns.rcode.to_text(answer.rcode()), bool(answer.flags & dns.flags.AA), section(plain),
            [] if is_answer else section(answer.authority, (NS, SOA, DS)))


# --- Import, and both servers side by side --------------------------------------------------------


@contextlib.contextmanager
def running(daemon, folder, more=""):
    """A Peer in this folder, over a `with`; MORE are lines of its pdns.conf."""
    needs("pdns_server", "pdnsutil")
    made = Peer(Lab(daemon, folder), more)
    try:
        yield made
    finally:
        if made.process:
            made.end()


def imported(peer, *options):
    """(status, configuration, lines of standard error) with the zones in the folder zones."""
    done = run(BIN / "volleyctl",
               "import",
               peer.path,
               "--zones",
               peer.world.folder / "zones",
               *options,
               check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, yaml.safe_load(done.stdout), done.stderr.splitlines()


def settings(config):
    """{zone without its last dot: its settings with those of its template}."""
    templates = {item["name"]: item for item in config.get("templates", ())}
    return {
        zone["name"][:-1]: {
            **templates.get(zone.get("template"), {}),
            **zone
        }
        for zone in config["zones"]
    }


def serve(peer, config):
    """Both servers answer then, volleyd at the usual port."""
    peer.start()
    config["server"]["listen"] = [V4]
    config["rrl"] = {"answers": 0, "octets": 0}
    peer.world.serve(config)
    name = next(iter(config["zones"]))["name"]
    wait_for("pdns_server answers",
             lambda: peer.world.lab.is_answered(name, "SOA", port=PORT, timeout=0.5))


def loops(answer):
    """True if an alias of the answer leads back to one before it."""
    targets = {
        rrset.name: rrset[0].target
        for rrset in answer.answer if rrset.rdtype == dns.rdatatype.CNAME
    }
    name, seen = answer.question[0].name, set()
    while name in targets and name not in seen:
        seen.add(name)
        name = targets[name]
    return name in seen


def reason(query, theirs, ours):
    """Why the answers differ by design; None if they should not."""
    code, answer, own = view(theirs)[0], view(theirs)[2], view(ours)[2]
    if query.question[0].rdtype == dns.rdatatype.CNAME and own and \
            (set(own) <= set(answer) or code == "SERVFAIL"):
        return "PowerDNS follows an alias that was asked for"
    return "a loop of aliases" if code == "SERVFAIL" and loops(ours) else None


def compare(peer, queries, explained=None):
    """Asks both, and returns the number of questions after it has found no difference without a
    reason. Reasons are counted in EXPLAINED, if it is given; else there must be no difference."""
    theirs = ask_all(peer.world.lab, PORT, queries)
    ours = ask_all(peer.world.lab, 53, queries)
    wrong = []
    for query, a, b in zip(queries, theirs, ours):
        if view(a) != view(b):
            why = reason(query, a, b) if explained is not None else None
            if why:
                explained[why] += 1
            else:
                wrong.append(f"{query.question[0]}\n  pdns:   {view(a)}\n  volley: {view(b)}")
    assert not wrong, f"{len(wrong)} of {len(queries)} differ:\n" + "\n".join(wrong[:40])
    return len(queries)
