# SPDX-License-Identifier: GPL-2.0-only
"""The same queries to the engine and to knotd, nsd and named, all on loopback.

Each part of an answer (rcode, AA, TC and the sections) is compared by itself. Where the three peers
agree on a part, the engine must agree with them, or EXPLAINED says why not.
"""
import os
import pathlib
import random
import shutil
import socket
import subprocess
import time

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rdatatype
import dns.zone
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZONES = ["example.com", "example.net", "example2.jp", "2.0.192.in-addr.arpa", "odd.test"]
TYPES = ["A", "AAAA", "NS", "SOA", "MX", "TXT", "CNAME", "SRV", "DS", "CAA", "PTR", "HTTPS", "SVCB",
         "TYPE65280", "TYPE65281", "NAPTR"]
N_QUERIES = 3000
SEED = 20080801
PARTS = ("rcode", "flags", "answer", "authority", "additional")


def explained(_query, _part, _ours, _theirs):
    """The reason why the peers do something else, or None. Nothing at present."""
    return None


def zone_file(origin):
    own = pathlib.Path(__file__).parent / f"{origin}.zone"
    return str(own if own.exists() else ROOT / "zones" / own.name)


def free_port():
    """A port that was free for UDP and TCP a moment ago."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind(("127.0.0.1", 0))
            port = udp.getsockname()[1]
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
                try:
                    tcp.bind(("127.0.0.1", port))
                except OSError:
                    continue
                return port


def knotd(folder, port):
    zones = "".join(f"  - domain: {z}\n    file: {zone_file(z)}\n" for z in ZONES)
    (folder / "knot.conf").write_text(f"""
server:
    rundir: {folder}
    listen: 127.0.0.1@{port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: {folder}
template:
  - id: default
    zonefile-sync: -1
    journal-content: none
    semantic-checks: off
zone:
{zones}""")
    return ["knotd", "-c", str(folder / "knot.conf")]


def nsd(folder, port):
    zones = "".join(f"zone:\n  name: {z}\n  zonefile: {zone_file(z)}\n" for z in ZONES)
    (folder / "nsd.conf").write_text(f"""
server:
  ip-address: 127.0.0.1@{port}
  database: ""
  pidfile: {folder}/nsd.pid
  username: ""
  xfrdfile: {folder}/xfrd.state
  zonelistfile: {folder}/zone.list
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
{zones}""")
    return ["nsd", "-d", "-c", str(folder / "nsd.conf")]


def named(folder, port):
    zones = "".join(f'zone "{z}" {{ type primary; file "{zone_file(z)}"; }};\n' for z in ZONES)
    (folder / "named.conf").write_text(f"""
options {{
  directory "{folder}";
  listen-on port {port} {{ 127.0.0.1; }};
  listen-on-v6 {{ none; }};
  pid-file "{folder}/named.pid";
  session-keyfile "{folder}/session.key";
  recursion no;
  dnssec-validation no;
  minimal-responses no;
  check-names primary ignore;
  check-integrity no;
  notify no;
}};
controls {{ }};
{zones}""")
    return ["named", "-g", "-n", "1", "-c", str(folder / "named.conf")]


PEERS = {"knotd": knotd, "nsd": nsd, "named": named}


class Server:
    """A process that answers on a UDP port of 127.0.0.1."""

    def __init__(self, argv, folder, port=None):
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(argv, stderr=log,
                                            stdout=subprocess.PIPE if port is None else log)
        if port is None:
            port = int(self.process.stdout.readline())
        self.folder = folder
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))

    def ask(self, wire, timeout=2.0):
        """The reply with the query's id; None if there is none."""
        self.socket.settimeout(timeout)
        try:
            self.socket.send(wire)
            while True:
                reply = self.socket.recv(65535)
                if reply[:2] == wire[:2]:
                    return reply
        except (TimeoutError, ConnectionRefusedError):
            return None

    def wait(self, wire, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            reply = self.ask(wire, 0.2)
            if reply and not reply[3] & 15:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        pytest.fail(f"{self.process.args[0]} does not answer: "
                    + (self.folder / "log").read_text(errors="replace")[-2000:])

    def stop(self):
        self.socket.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    tests = pathlib.Path(os.environ.get("VOLLEY_TESTS", ROOT / "build" / "release" / "tests"))
    missing = [p for p in PEERS if not shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (make deps)")
    folder = tmp_path_factory.mktemp("engine")
    running = {"engine": Server([str(tests / "diff" / "engine_udp"),
                                 *(f"{z}={zone_file(z)}" for z in ZONES)], folder)}
    try:
        for name, configure in PEERS.items():
            folder, port = tmp_path_factory.mktemp(name), free_port()
            argv = configure(folder, port)
            argv[0] = shutil.which(argv[0], path=os.environ["PATH"] + ":/usr/sbin")
            running[name] = Server(argv, folder, port)
        for server in running.values():
            for zone in ZONES:
                server.wait(dns.message.make_query(zone, "SOA").to_wire())
        yield running
    finally:
        for server in running.values():
            server.stop()


def names():
    """Every owner, what lies right above and below it, and names of no zone."""
    found = {dns.name.from_text(n) for n in ("example.org", "com", ".", "www.example.org")}
    for z in ZONES:
        origin = dns.name.from_text(z)
        for owner in dns.zone.from_file(zone_file(z), origin, relativize=False):
            found.update({owner, dns.name.Name((b"nothere",) + owner.labels),
                          dns.name.Name((b"a", b"b") + owner.labels)})
            if owner != origin:
                found.add(owner.parent())
    return sorted(found)


def mix_case(rng, name):
    return dns.name.Name([bytes(c ^ 0x20 if chr(c).isascii() and chr(c).isalpha() and rng.random() < 0.5
                                else c for c in label) for label in name.labels])


def make_queries():
    """(text, wire) of N_QUERIES queries, always the same ones."""
    rng = random.Random(SEED)
    owners = names()
    for _ in range(N_QUERIES):
        name = rng.choice(owners)
        if rng.random() < 0.3:
            name = mix_case(rng, name)
        size = rng.choice([None, 512, 700, 1232, 4096])
        query = dns.message.make_query(name, rng.choice(TYPES), use_edns=-1 if size is None else 0,
                                       payload=size or 0, want_dnssec=False)
        query.id = rng.randrange(65536)
        query.flags = rng.choice([0, dns.flags.RD, dns.flags.CD])
        if size and rng.random() < 0.3:
            query.use_edns(0, dns.flags.DO if rng.random() < 0.5 else 0, size,
                           options=[dns.edns.GenericOption(65001, b"unknown")])
        yield f"{name} {dns.rdatatype.to_text(query.question[0].rdtype)} udp={size}", query.to_wire()


def section(rrsets):
    return sorted(f"{rr.name.to_text().lower()} {rr.ttl} {dns.rdatatype.to_text(rr.rdtype)} "
                  f"{rdata.to_text().lower()}" for rr in rrsets for rdata in rr)


def parts(wire):
    """An answer taken apart; the order of records and letter case do not count."""
    if wire is None:
        return dict.fromkeys(PARTS, "no reply")
    reply = dns.message.from_wire(wire, ignore_trailing=False)
    kept = dns.flags.QR | dns.flags.AA | dns.flags.TC | dns.flags.RD | dns.flags.CD
    return {
        "rcode": reply.rcode(),
        "flags": dns.flags.to_text(reply.flags & kept),
        "answer": section(reply.answer),
        "authority": section(reply.authority),
        "additional": section(reply.additional),
    }


def differences(text, ours, theirs):
    """Where all peers say the same and we do not."""
    first, *others = theirs.values()
    for part in PARTS:
        if any(other[part] != first[part] for other in others) or ours[part] == first[part]:
            continue
        if not explained(text, part, ours, first):
            yield f"{text}: {part}: {ours[part]}, but the peers say {first[part]}"


def test_engine_agrees_with_peers(servers):
    found, n_agreed = [], 0
    for text, wire in make_queries():
        replies = {name: parts(server.ask(wire)) for name, server in servers.items()}
        ours = replies.pop("engine")
        found += differences(text, ours, replies)
        n_agreed += len({str(r["answer"]) + str(r["rcode"]) for r in replies.values()}) == 1
    assert n_agreed > N_QUERIES * 0.9, "the peers themselves disagree: is one of them set up wrongly?"
    assert not found, "\n".join(found[:50])


def test_question_is_sent_back_untouched(servers):
    for text, wire in make_queries():
        reply = servers["engine"].ask(wire)
        end = wire.index(b"\0", 12) + 5 if b"\0" not in wire[12:13] else 17
        assert reply and reply[:2] == wire[:2] and reply[12:end] == wire[12:end], text
