# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A primary with a zone for each way in which primaries deviate, and servers that are its
secondaries. Each zone has one deviation: in how questions are answered (ASKED, from the second
version of the zone on), or in what a transfer has (SENT, from the first on)."""
import contextlib
import socket
import struct
import threading

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdatatype

import peers
from rivals import named_alone

ADDRESS, OTHER = "127.0.0.2", "127.0.0.3"
C = b"\xc0\x0c"  # the zone's name, compressed
QR, AA, TC = 0x8000, 0x0400, 0x0200
SOA, IXFR, AXFR, OPT = 6, 251, 252, 41


def name(text):
    return dns.name.from_text(text).to_wire()


def rr(owner, kind, data, ttl=300, klass=1):
    """A record: text or octets as its data."""
    if isinstance(data, str):
        kind = dns.rdatatype.from_text(kind)
        data = dns.rdata.from_text("IN", kind, data, origin=dns.name.root,
                                   relativize=False).to_wire()
    return name(owner) + struct.pack("!HHIH", kind, klass, ttl, len(data)) + data


def soa(zone, serial, ttl=300, mname="ns"):
    return rr(zone, "SOA", f"{mname}.{zone} host.{zone} {serial} 1 1 86400 60", ttl)


def version(zone, serial):
    return rr(f"v.{zone}", "TXT", f"s{serial}")


def body(zone, serial):
    return [rr(zone, "NS", f"ns.{zone}"), rr(f"ns.{zone}", "A", "192.0.2.53"),
            version(zone, serial)]


class Query:
    def __init__(self, wire):
        message = dns.message.from_wire(wire, ignore_trailing=True)
        self.id, self.has_opt = message.id, message.edns >= 0
        self.zone = message.question[0].name.to_text().lower()
        self.kind = message.question[0].rdtype
        self.opcode = message.opcode()

    def message(self, answers, question=True, rcode=0, flags=AA, additional=(), ident=None,
                zone=None):
        out = struct.pack("!6H", self.id if ident is None else ident, QR | flags | rcode,
                          bool(question), len(answers), 0, len(additional))
        if question:
            out += name(zone or self.zone) + struct.pack("!HH", self.kind, 1)
        return out + b"".join(answers) + b"".join(additional)


def whole(query, serial, more=()):
    return [soa(query.zone, serial), *body(query.zone, serial), *more, soa(query.zone, serial)]


# --- How questions are answered. Each gives a list of messages, None (silence) or CLOSE ---

CLOSE = "close"


def right(query, serial, _tcp):
    if query.kind == SOA or (query.kind == IXFR and not _tcp):
        return [query.message([soa(query.zone, serial)])]
    return [query.message(whole(query, serial))] if _tcp else [query.message([], rcode=5)]


def for_kind(kind, otherwise):
    """Only questions of this type get another answer."""
    return lambda q, n, tcp: otherwise(q, n, tcp) if q.kind == kind and (
        tcp or kind != IXFR) else right(q, n, tcp)


def code(number):
    return lambda q, n, tcp: [q.message([], rcode=number, flags=0)]


def over_udp(otherwise):
    return lambda q, n, tcp: right(q, n, tcp) if tcp else otherwise(q, n, tcp)


def with_opt(otherwise):
    return lambda q, n, tcp: otherwise(q, n, tcp) if q.has_opt else right(q, n, tcp)


def badvers(query, _serial, _tcp):
    opt = b"\0" + struct.pack("!HHIH", OPT, 1232, 1 << 24, 0)
    return [query.message([], flags=0, additional=[opt])]


def deltas(*steps, per=0):
    """IXFR as changes: STEPS gives (removed, added) of each, from the version before; PER records
    in each message."""
    def answer(q, n, tcp):
        z = q.zone
        records = [soa(z, n)]
        for i, (removed, added) in enumerate(steps):
            last = i + 1 == len(steps)
            records += [soa(z, 1 if not i else 1 + i), *removed(z)]
            records += [soa(z, n if last else 2 + i), *added(z)]
        records.append(soa(z, n))
        size = per or len(records)
        return [q.message(records[i:i + size], question=not i)
                for i in range(0, len(records), size)]
    return for_kind(IXFR, answer)


def texts(*serials):
    return lambda z: [version(z, s) for s in serials]


ASKED = {
    "IXFR is answered REFUSED": for_kind(IXFR, code(5)),
    "IXFR is answered NOTAUTH": for_kind(IXFR, code(9)),
    "IXFR is answered NXDOMAIN": for_kind(IXFR, code(3)),
    "IXFR is answered NOTIMP": for_kind(IXFR, code(4)),
    "IXFR is answered FORMERR": for_kind(IXFR, code(1)),
    "IXFR is answered SERVFAIL": for_kind(IXFR, code(2)),
    "IXFR closes the connection": for_kind(IXFR, lambda *_: CLOSE),
    "IXFR is answered without a record": for_kind(IXFR, lambda q, n, tcp: [q.message([])]),
    "IXFR is answered by the whole zone": right,
    "IXFR gives changes": deltas((texts(1), texts(9))),
    "IXFR gives two changes": deltas((texts(1), texts(2)), (texts(2), texts(9))),
    "IXFR, one record in each message": deltas((texts(1), texts(9)), per=1),
    "IXFR removes what is not there": deltas((texts(1, 7), texts(9))),
    "IXFR adds what is there": deltas((texts(1), lambda z: [
        *texts(9)(z), rr(f"ns.{z}", "A", "192.0.2.53")])),
    "IXFR begins at another version": for_kind(IXFR, lambda q, n, tcp: [q.message([
        soa(q.zone, n), soa(q.zone, 7), soa(q.zone, n), version(q.zone, n), soa(q.zone, n)])]),
    "UDP is dropped": over_udp(lambda *_: None),
    "UDP is answered from another address": over_udp(lambda q, n, _tcp: [
        OTHER, *right(q, n, False)]),
    "the SOA over UDP is truncated": over_udp(lambda q, n, _tcp: [q.message([], flags=AA | TC)]),
    "the SOA is answered REFUSED": for_kind(SOA, code(5)),
    "the SOA is answered NOTIMP": for_kind(SOA, code(4)),
    "the SOA comes without AA": for_kind(SOA, lambda q, n, tcp: [
        q.message([soa(q.zone, n)], flags=0)]),
    "OPT is answered FORMERR": with_opt(code(1)),
    "OPT is answered NOTIMP": with_opt(code(4)),
    "OPT is answered BADVERS": with_opt(badvers),
    "the serial number is lower": lambda q, n, tcp: right(q, n and 4294967290, tcp),
}


# --- What a transfer has ---


def sent(records=None, make=None):
    """RECORDS(zone): more records; MAKE(query, serial): all messages."""
    def answer(q, n, tcp):
        if not tcp or q.kind == SOA:
            return right(q, n, tcp)
        return make(q, n) if make else [q.message(whole(q, n, records(q.zone)))]
    return answer


def pieces(**later):
    """In three messages, the later ones made in another way."""
    def make(q, n):
        z = q.zone
        return [q.message([soa(z, n)], **{k: v for k, v in later.items() if k != "question"}),
                q.message(body(z, n), **{"question": False, **later}),
                q.message([soa(z, n)], **{"question": False, **later})]
    return sent(make=make)


def ends(last_soa):
    return sent(make=lambda q, n: [q.message([soa(q.zone, n), *body(q.zone, n),
                                              *last_soa(q.zone, n)])])


def svcb(*params):
    return b"\0\1\0" + b"".join(struct.pack("!HH", k, len(v)) + v for k, v in params)


def at_n(*kinds):
    """Records of the name n: (type, data) each, beside an address."""
    return lambda z: [rr(f"n.{z}", 1, b"\1\2\3\4"), *(rr(f"n.{z}", k, d) for k, d in kinds)]


V = b"\x01v" + C
OPT_RECORD = b"\0" + struct.pack("!HHIH", OPT, 1232, 0, 0)
PADDED = b"\0" + struct.pack("!HHIHHH", OPT, 1232, 0, 44, 12, 40) + bytes(40)

SENT = {
    "names compressed in KX, PX, RP, AFSDB, RT": sent(at_n(
        (36, b"\0\1" + V), (26, b"\0\1" + V + C), (17, V + C), (18, b"\0\1" + V),
        (21, b"\0\1" + V))),
    "names compressed in SRV and NAPTR": sent(at_n(
        (33, bytes(6) + V), (35, b"\0\1\0\1\1s\7SIP+D2U\0" + V))),
    "a name compressed in DNAME": sent(lambda z: [rr(f"d.{z}", 39, V)]),
    "a name compressed in NSEC": sent(at_n((47, C + b"\0\1\x40"))),
    "a name compressed in RRSIG": sent(at_n(
        (46, struct.pack("!HBBIIIH", 1, 13, 3, 300, 4000000000, 1700000000, 1) + C + bytes(64)))),
    "a name compressed in SVCB": sent(at_n((64, b"\0\1" + V))),
    "a name compressed in LP": sent(at_n((107, b"\0\1" + V))),
    "a name compressed in NXT and SIG": sent(at_n((30, C + b"\x40"), (24, struct.pack(
        "!HBBIIIH", 1, 5, 3, 300, 4000000000, 1700000000, 1) + C + bytes(64)))),
    "a name compressed in NSAP-PTR and TALINK": sent(at_n((23, V), (58, V + C))),
    "a record outside of the zone": sent(lambda z: [rr("other.invalid.", "A", "192.0.2.9")]),
    "a SOA and data of a child zone": sent(lambda z: [
        soa(f"sub.{z}", 9), rr(f"sub.{z}", "NS", f"ns.{z}"), rr(f"a.sub.{z}", "A", "192.0.2.8")]),
    "a record of class CH": sent(lambda z: [rr(f"u.{z}", 16, b"\1x", klass=3)]),
    "a record of type OPT": sent(lambda z: [rr(f"u.{z}", OPT, b"")]),
    "a record of type 0": sent(lambda z: [rr(f"u.{z}", 0, b"")]),
    "SVCB with keys out of order": sent(at_n((64, svcb((3, b"\0\x35"), (1, b"\2h2"))))),
    "SVCB with a key twice": sent(at_n((64, svcb((3, b"\0\x35"), (3, b"\0\x35"))))),
    "SVCB with key65535": sent(at_n((64, svcb((65535, b"x"))))),
    "SVCB with an empty dohpath": sent(at_n((64, svcb((1, b"\2h2"), (7, b""))))),
    "SVCB with a port of one octet": sent(at_n((64, svcb((3, b"\1"))))),
    "SVCB with a mandatory key that is missing": sent(at_n((64, svcb((0, b"\0\1"))))),
    "SVCB that ends within a key": sent(at_n((64, svcb() + b"\0\3\0\2\1"))),
    "CAA with a tag of other characters": sent(at_n((257, b"\0\5iss-ue;"))),
    "CAA with an empty tag": sent(at_n((257, b"\0\0x"))),
    "LOC out of range": sent(at_n((29, bytes(4) + b"\xff" * 12))),
    "APL with a prefix of 33": sent(at_n((42, b"\0\1\x21\0"))),
    "NSEC with zeros at the end of its types": sent(at_n((47, V + b"\0\2\x40\0"))),
    "NSEC3 with an empty hash": sent(at_n((50, b"\1\0\0\0\0\0"))),
    "DS and TLSA with an empty digest": sent(at_n((43, b"\0\1\x0d\2"), (52, b"\3\1\1"))),
    "DNSKEY without a key": sent(at_n((48, b"\1\1\3\x0d"))),
    "TXT without a string": sent(at_n((16, b""))),
    "TXT whose string is cut": sent(at_n((16, b"\5ab"))),
    "A of five octets": sent(at_n((1, b"\1\2\3\4\5"))),
    "X25 whose string is cut": sent(at_n((19, b"\3311"[:1] + b"1"))),
    "a CNAME beside a TXT": sent(lambda z: [rr(f"c.{z}", "CNAME", f"v.{z}"),
                                            rr(f"c.{z}", "TXT", "x")]),
    "two CNAMEs": sent(lambda z: [rr(f"c.{z}", "CNAME", f"v.{z}"),
                                  rr(f"c.{z}", "CNAME", f"ns.{z}")]),
    "two DNAMEs": sent(lambda z: [rr(f"d.{z}", "DNAME", "a."), rr(f"d.{z}", "DNAME", "b.")]),
    "a record below a DNAME": sent(lambda z: [rr(f"d.{z}", "DNAME", "example."),
                                              rr(f"a.d.{z}", "A", "192.0.2.1")]),
    "a DNAME beside NS": sent(lambda z: [rr(f"d.{z}", "DNAME", "a."), rr(f"d.{z}", "NS", "b.")]),
    "data below a delegation": sent(lambda z: [rr(f"sub.{z}", "NS", "ns.example."),
                                               rr(f"sub.{z}", "MX", "1 a."),
                                               rr(f"a.sub.{z}", "TXT", "x")]),
    "a wildcard with NS": sent(lambda z: [rr(f"*.w.{z}", "NS", "ns.example.")]),
    "an RRset of 3,000": sent(make=lambda q, n: [
        q.message([soa(q.zone, n), *body(q.zone, n)]),
        *(q.message([rr(f"b.{q.zone}", 1, struct.pack("!I", i + j)) for j in range(1000)],
                    question=False) for i in range(0, 3000, 1000)),
        q.message([soa(q.zone, n)], question=False)]),
    "no NS at the apex": sent(make=lambda q, n: [q.message([
        soa(q.zone, n), version(q.zone, n), soa(q.zone, n)])]),
    "a record twice": sent(lambda z: [rr(f"t.{z}", "A", "192.0.2.1")] * 2),
    "TTLs that differ": sent(lambda z: [rr(f"t.{z}", "A", "192.0.2.1"),
                                        rr(f"t.{z}", "A", "192.0.2.2", 60)]),
    "a TTL above 2^31": sent(lambda z: [rr(f"t.{z}", "A", "192.0.2.1", 0x80000001)]),
    "letters of another case": sent(lambda z: [rr(f"T.{z.upper()}", "A", "192.0.2.1"),
                                               rr(f"t.{z}", "A", "192.0.2.2")]),
    "no question": sent(make=lambda q, n: [q.message(whole(q, n), question=False)]),
    "a question in each message": pieces(question=True),
    "OPT in each message": pieces(additional=[OPT_RECORD]),
    "padding in each message": pieces(additional=[PADDED]),
    "no AA": pieces(flags=0),
    "a record of others in the additional section": pieces(
        additional=[rr("elsewhere.example.", "A", "192.0.2.1")]),
    "the question in capitals": sent(make=lambda q, n: [
        q.message(whole(q, n), zone=q.zone.upper())]),
    "another question": sent(make=lambda q, n: [q.message(whole(q, n), zone="other.test.")]),
    "one record in each message": sent(make=lambda q, n: [
        q.message([r], question=not i) for i, r in enumerate(whole(q, n))]),
    "a message without records in between": sent(make=lambda q, n: [
        q.message([soa(q.zone, n), *body(q.zone, n)]), q.message([], question=False),
        q.message([soa(q.zone, n)], question=False)]),
    "another ID in a later message": sent(make=lambda q, n: [
        q.message([soa(q.zone, n), *body(q.zone, n)]),
        q.message([soa(q.zone, n)], question=False, ident=q.id ^ 1)]),
    "TC over TCP": sent(make=lambda q, n: [q.message(whole(q, n), flags=AA | TC)]),
    "the SOA twice at the end": ends(lambda z, n: [soa(z, n)] * 2),
    "records behind the last SOA": ends(lambda z, n: [
        soa(z, n), rr(f"t.{z}", "A", "192.0.2.1")]),
    "the last SOA with another TTL": ends(lambda z, n: [soa(z, n, 60)]),
    "the last SOA with letters of another case": ends(lambda z, n: [soa(z, n, mname="NS")]),
    "the last SOA with another serial number": ends(lambda z, n: [soa(z, n + 1)]),
    "no SOA at the end, and the connection closed": sent(make=lambda q, n: [
        q.message([soa(q.zone, n), *body(q.zone, n)]), CLOSE]),
}

ROWS = [*ASKED, *SENT]
ZONES = {f"z{i}.test.": row for i, row in enumerate(ROWS)}
BEHAVIOUR = {**ASKED, **SENT}


class Primary:
    """All zones; ASKED ones are as they should be until `serial` is 9."""

    def __init__(self, port):
        self.port, self.serial, self.seen = port, 1, []
        self.udp, self.other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "12")
        self.tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.udp.bind((ADDRESS, port))
        self.other.bind((OTHER, port))
        self.tcp.bind((ADDRESS, port))
        self.tcp.listen(512)
        for one in (self.serve_udp, self.serve_tcp):
            threading.Thread(target=one, daemon=True).start()

    def answer(self, wire, tcp):
        query = Query(wire)
        row = ZONES.get(query.zone)
        if not row or query.opcode:
            return None
        self.seen.append((row, query.kind, tcp))
        if row in SENT:
            return BEHAVIOUR[row](query, 1, tcp)
        return (BEHAVIOUR[row] if self.serial == 9 else right)(query, self.serial, tcp)

    def serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                wire, peer = self.udp.recvfrom(65535)
                if not wire:  # of shutdown()
                    return
                out = self.answer(wire, False) or []
                if out == CLOSE:
                    continue
                sock = self.udp
                for one in out:
                    if one == OTHER:
                        sock = self.other
                    else:
                        sock.sendto(one, peer)

    def serve_tcp(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.tcp.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            while size := connection.recv(2, socket.MSG_WAITALL):
                wire = connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
                out = self.answer(wire, True)
                if out is None:
                    continue
                for one in out if isinstance(out, list) else [out]:
                    if one == CLOSE:
                        return
                    connection.sendall(len(one).to_bytes(2, "big") + one)

    def close(self):
        for sock in (self.udp, self.other, self.tcp):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


# --- Secondaries ---


def volleyd(folder, port, primary):
    zones = "".join(f'  - {{name: {z}, primaries: [p], refresh-min: 1s, retry-min: 1s}}\n'
                    for z in ZONES)
    (folder / "volley.yaml").write_text(f"""
server: {{listen: ["127.0.0.1@{port}"], workers: 1, storage: {folder}/storage}}
cache: {{size: 64M}}
control: {{socket: {folder}/control.sock}}
rrl: {{answers: 0, octets: 0}}
remotes:
  - {{name: p, address: ["{ADDRESS}@{primary}"]}}
zones:
{zones}""")
    return ["volleyd", "-c", "volley.yaml"]


def named(folder, port, primary):
    zones = "".join(f'zone "{z}" {{ type secondary; primaries {{ {ADDRESS} port {primary}; }}; }};\n'
                    for z in ZONES)
    (folder / "named.conf").write_text(f"""
options {{
  directory "{folder}"; listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
  pid-file "{folder}/named.pid"; session-keyfile "{folder}/session.key"; {named_alone()}
  recursion no; dnssec-validation no; notify no; transfers-in 200; transfers-per-ns 200;
  serial-query-rate 1000; min-refresh-time 1; min-retry-time 1; max-refresh-time 1;
  max-retry-time 1; empty-zones-enable no;
}};
controls {{ }};
{zones}""")
    return ["named", "-g", "-n", "1", "-c", "named.conf"]


def knotd(folder, port, primary):
    zones = "".join(f"  - domain: {z}\n" for z in ZONES)
    (folder / "knot.conf").write_text(f"""
server:
    rundir: {folder}
    listen: 127.0.0.1@{port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 4
log:
  - target: stderr
    any: info
database:
    storage: {folder}
remote:
  - id: p
    address: {ADDRESS}@{primary}
template:
  - id: default
    storage: {folder}
    master: p
    refresh-min-interval: 2
    refresh-max-interval: 2
    retry-min-interval: 1
    retry-max-interval: 1
zone:
{zones}""")
    return ["knotd", "-c", "knot.conf"]


def nsd(folder, port, primary):
    zones = "".join(f"zone:\n  name: {z}\n  zonefile: {z}zone\n"
                    f"  request-xfr: {ADDRESS}@{primary} NOKEY\n  min-refresh-time: 1\n"
                    f"  max-refresh-time: 1\n  min-retry-time: 1\n  max-retry-time: 1\n"
                    for z in ZONES)
    (folder / "nsd.conf").write_text(f"""
server:
  ip-address: 127.0.0.1@{port}
  database: ""
  zonesdir: {folder}
  pidfile: {folder}/nsd.pid
  username: ""
  xfrdfile: {folder}/xfrd.state
  xfrdir: {folder}
  zonelistfile: {folder}/zone.list
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
{zones}""")
    return ["nsd", "-d", "-c", "nsd.conf"]


class Secondary(peers.Process):
    def __init__(self, make, folder, primary):
        self.kind, self.folder, self.port = make.__name__, folder, peers.free_port()
        folder.mkdir()
        self.argv = make(folder, self.port, primary)
        self.start()

    def start(self):
        self.begin(self.argv, self.folder)

    def serials(self, seconds=0.5):
        """{row: the serial number of the version that is served}; other rows are not served."""
        found = {}
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(seconds)
            sock.connect(("127.0.0.1", self.port))
            with contextlib.suppress(ConnectionRefusedError, TimeoutError):
                for ident, (zone, row) in enumerate(ZONES.items()):
                    wire = struct.pack("!6H", ident, 0, 1, 0, 0, 0) + name(f"v.{zone}") \
                        + struct.pack("!HH", 16, 1)
                    sock.send(wire)
                    reply = sock.recv(65535)
                    while int.from_bytes(reply[:2], "big") != ident:
                        reply = sock.recv(65535)
                    if reply[6:8] == b"\0\1" and b"\2s" in reply:
                        found[row] = int(reply[reply.index(b"\2s") + 2:][:1])
        return found


SECONDARIES = (volleyd, named, knotd, nsd)
