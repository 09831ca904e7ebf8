# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstreams that deviate, each at an address of its own, and forwarders that ask them. An upstream
has one deviation: in how it is asked (ASKED), in its replies' headers and OPT records (FORMED), in
what an answer has (SAID). Replies that nobody may believe are FORGED."""
import contextlib
import socket
import struct
import threading
import time

from oddprimaries import name, rr

QR, AA, TC, RD, RA, Z, AD, CD = 0x8000, 0x400, 0x200, 0x100, 0x80, 0x40, 0x20, 0x10
A, NS, CNAME, SOA, TXT, SRV, DNAME, OPT, RRSIG, NSEC, SVCB = 1, 2, 5, 6, 16, 33, 39, 41, 46, 47, 64
FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED, YXDOMAIN, BADVERS, BADCOOKIE = 1, 2, 3, 4, 5, 6, 16, 23
COOKIE = 10
TRUE, FORGED_DATA = b"\xc0\0\2\1", b"\xc0\0\2\x42"
Q = b"\xc0\x0c"  # the question's name, compressed
ANOTHER = b"another1"  # the cookie of another client


def record(owner, kind, data, ttl=300, klass=1):
    return owner + struct.pack("!HHIH", kind, klass, ttl, len(data)) + data


def option(code, data=b""):
    return struct.pack("!HH", code, len(data)) + data


def opt(*options, rcode=0, version=0, size=1232, owner=b"\0", do=0x8000):
    data = b"".join(options)
    return owner + struct.pack("!HHBBHH", OPT, size, rcode >> 4, version, do, len(data)) + data


class Query:
    def __init__(self, wire):
        self.wire = wire
        self.id, self.flags, _, _, _, n_more = struct.unpack("!6H", wire[:12])
        at = 12
        while wire[at]:
            at += 1 + wire[at]
        self.name, self.kind = wire[12:at + 1], int.from_bytes(wire[at + 1:at + 3], "big")
        self.question = wire[12:at + 5]
        self.has_opt, self.cookie = bool(n_more), None
        at += 16
        while self.has_opt and at + 4 <= len(wire):
            code, size = struct.unpack("!HH", wire[at:at + 4])
            if code == COOKIE:
                self.cookie = wire[at + 4:at + 4 + size]
            at += 4 + size

    @property
    def labels(self):
        return self.name.lower()

    def reply(self, answers=None, authority=(), additional=(), rcode=0, flags=RD | RA, ident=None,
              question=None, counts=None, own_opt=True, tail=b""):
        """The right reply, unless it is told otherwise: an address, and OPT to OPT."""
        if answers is None:
            answers = [record(Q, A, TRUE)]
        if own_opt and self.has_opt:
            additional = [*additional, opt(rcode=rcode)]
        question = self.question if question is None else question
        counts = counts or (bool(question), len(answers), len(authority), len(additional))
        return struct.pack("!6H", self.id if ident is None else ident, QR | flags | rcode & 15,
                           *counts) + question + b"".join([*answers, *authority, *additional]) + tail


def query_of(wire):
    """
    None if it has no question. unbound 1.17 now and then leaves the flags out of a query over TCP.
    """
    with contextlib.suppress(IndexError):
        return Query(wire) if wire[4:6] == b"\0\1" else None
    return None


# --- Each behaviour gives a list of what is sent: messages, seconds to wait, and the words below ---

CLOSE, ELSEWHERE, OTHER_PORT, SLOWLY = "close", "from another address", "from another port", "slowly"


def right(q, _tcp):
    return [q.reply()]


def each(**different):
    return lambda q, _tcp: [q.reply(**different)]


def made(make):
    return lambda q, _tcp: [make(q)]


def over_udp(udp, tcp=right):
    return lambda q, is_tcp: (tcp if is_tcp else udp)(q, is_tcp)


def with_opt(otherwise):
    return lambda q, tcp: otherwise(q, tcp) if q.has_opt else right(q, tcp)


def with_cookie(otherwise):
    return lambda q, tcp: otherwise(q, tcp) if q.cookie else right(q, tcp)


def code(rcode, **more):
    return each(answers=[], rcode=rcode, **more)


def header_only(rcode):
    return each(answers=[], rcode=rcode, question=b"", own_opt=False)


def echoed(rcode):
    """The query with QR and an rcode."""
    return made(lambda q: q.wire[:2] + struct.pack("!H", QR | RD | rcode) + q.wire[4:])


def then_right(*before):
    return lambda q, _tcp: [*(b(q) for b in before), q.reply()]


def with_options(*options, **more):
    return with_opt(lambda q, _tcp: [q.reply(own_opt=False, additional=[opt(*options, **more)])])


def server_cookie(make, where=lambda q: True):
    """MAKE(client part): the option's octets."""
    return with_cookie(lambda q, _tcp: [q.reply(own_opt=False, additional=[
        opt(option(COOKIE, make(q.cookie[:8])))])] if where(q) else [q.reply()])


def badcookie(n_octets=16):
    return lambda q, _tcp: [q.reply(answers=[], own_opt=False, rcode=BADCOOKIE & 15, additional=[
        opt(option(COOKIE, q.cookie[:8] + bytes(n_octets)), rcode=BADCOOKIE)])]


def once(otherwise):
    """Until it has been done, for each name."""
    seen = set()

    def answer(q, tcp):
        if q.labels in seen:
            return right(q, tcp)
        seen.add(q.labels)
        return otherwise(q, tcp)
    return answer


def forged(**more):
    return lambda q: q.reply([record(Q, A, FORGED_DATA)], **more)


def swapped(q):
    return name("another.example.") + q.question[-4:]


def in_case(change):
    return made(lambda q: q.reply(question=change(q.name) + q.question[-4:]))


def padded(n_octets):
    """A reply of so many octets and some, most of them in the additional section."""
    return lambda q, _tcp: [q.reply(additional=[
        record(b"\3%03d" % i + Q, TXT, b"\x80" + bytes(128)) for i in range(n_octets // 145 + 1)])]


ASKED = {
    "all is as it should be": right,
    "EDNS is dropped": with_opt(lambda *_: []),
    "EDNS is answered FORMERR, without OPT": with_opt(code(FORMERR, own_opt=False)),
    "EDNS is answered FORMERR, with a header alone": with_opt(header_only(FORMERR)),
    "EDNS is answered FORMERR, with its OPT": with_opt(echoed(FORMERR)),
    "EDNS is answered NOTIMP, without OPT": with_opt(code(NOTIMP, own_opt=False)),
    "EDNS is answered NOTIMP, with a header alone": with_opt(header_only(NOTIMP)),
    "EDNS is answered NOTIMP, with its OPT": with_opt(echoed(NOTIMP)),
    "EDNS is answered SERVFAIL, without OPT": with_opt(code(SERVFAIL, own_opt=False)),
    "EDNS is answered SERVFAIL, with its OPT": with_opt(echoed(SERVFAIL)),
    "EDNS is answered REFUSED, without OPT": with_opt(code(REFUSED, own_opt=False)),
    "EDNS is answered BADVERS": with_opt(each(answers=[], own_opt=False,
                                              additional=[opt(rcode=BADVERS)])),
    "the COOKIE option is answered FORMERR": with_cookie(code(FORMERR)),
    "the COOKIE option is dropped": with_cookie(lambda *_: []),
    "BADCOOKIE once, then an answer": once(with_cookie(badcookie())),
    "BADCOOKIE always": with_cookie(badcookie()),
    "UDP is dropped": over_udp(lambda *_: []),
    "the first query is dropped": once(lambda *_: []),
    "the reply comes after 1.2 s": lambda q, _tcp: [1.2, q.reply()],
    "the reply comes twice": lambda q, _tcp: [q.reply()] * 2,
    "TC without records": over_udp(each(answers=[], flags=RD | RA | TC)),
    "TC with a part of the answer": over_udp(each(flags=RD | RA | TC, answers=[
        record(Q, A, FORGED_DATA)])),
    "TC, and OPT with a size of 512": over_udp(each(answers=[], flags=RD | RA | TC, own_opt=False,
                                                    additional=[opt(size=512)])),
    "TC, and over TCP octet by octet": over_udp(each(answers=[], flags=RD | RA | TC),
                                                lambda q, _tcp: [SLOWLY, q.reply()]),
    "TC, and over TCP a wrong ID before": over_udp(
        each(answers=[], flags=RD | RA | TC), then_right(lambda q: forged(ident=q.id ^ 1)(q))),
    "TC, and over TCP an empty message before": over_udp(
        each(answers=[], flags=RD | RA | TC), then_right(lambda q: b"")),
    "TC, and over TCP the reply twice": over_udp(
        each(answers=[], flags=RD | RA | TC), lambda q, _tcp: [q.reply()] * 2),
    "TC, and over TCP EDNS is answered FORMERR": over_udp(
        each(answers=[], flags=RD | RA | TC), with_opt(code(FORMERR, own_opt=False))),
    "TC, and over TCP one reply for each connection": over_udp(
        each(answers=[], flags=RD | RA | TC), lambda q, _tcp: [q.reply(), CLOSE]),
    "TC, and the first connection closed": over_udp(
        each(answers=[], flags=RD | RA | TC), once(lambda *_: [CLOSE])),
    "TC, and the answer of 60,000 octets": over_udp(each(answers=[], flags=RD | RA | TC),
                                                    padded(60000)),
    "TC over TCP, too": each(flags=RD | RA | TC),
    "TC, and no TCP": over_udp(each(answers=[], flags=RD | RA | TC), None),
    "1,400 octets": padded(1400),
    "1,400 octets, and no TCP": over_udp(padded(1400), None),
    "4,090 octets": padded(4000),
    "no TCP": over_udp(right, None),
}

FORMED = {
    "OPT of version 1": with_options(version=1),
    "OPT with a size of 0": with_options(size=0),
    "OPT without DO": with_options(do=0),
    "OPT with unknown flags": with_options(do=0x7fff),
    "OPT with an unknown option": with_options(option(65001, b"any"), option(0, b"")),
    "OPT with client subnet, padding, NSID and EDE": with_options(
        option(8, b"\0\1\x18\0\xc0\0\2"), option(12, bytes(40)), option(3, b"name"),
        option(15, b"\0\3stale")),
    "OPT with an EDE of one octet": with_options(option(15, b"\0")),
    "a TSIG record behind OPT": with_opt(lambda q, _tcp: [q.reply(own_opt=False, additional=[
        opt(), record(name("key.example."), 250, name("hmac-sha256.") + bytes(6) + b"\1\x2c\0\0"
                      + q.wire[:2] + bytes(4), 0, 255)])]),
    "OPT with edns-tcp-keepalive over UDP": with_options(option(11, b"\0\x64")),
    "OPT with an option that is cut": with_opt(lambda q, _tcp: [q.reply(
        own_opt=False, additional=[record(b"\0", OPT, b"\0\x0a\0\x20abc", 0, 1232)])]),
    "OPT with another owner": with_options(owner=name("opt.example.")),
    "OPT in the answer section": with_opt(lambda q, _tcp: [q.reply(
        [record(Q, A, TRUE), opt()], own_opt=False)]),
    "OPT in the authority section": with_opt(lambda q, _tcp: [q.reply(
        authority=[opt()], own_opt=False)]),
    "two OPT": with_opt(each(additional=[opt()])),
    "no OPT to a query with one": each(own_opt=False),
    "OPT to a query without one": each(own_opt=False, additional=[opt()]),
    "a cookie of another client": server_cookie(lambda mine: ANOTHER + bytes(8)),
    "a cookie of 7 octets": server_cookie(lambda mine: mine[:7]),
    "a cookie of 8 octets": server_cookie(lambda mine: mine),
    "a cookie of 12 octets": server_cookie(lambda mine: mine + bytes(4)),
    "a cookie of 41 octets": server_cookie(lambda mine: mine + bytes(33)),
    "a cookie of 0 octets": server_cookie(lambda mine: b""),
    "the cookie of the query": server_cookie(lambda mine: mine),
    "another cookie in each reply": server_cookie(
        lambda mine: mine + struct.pack("!Q", time.monotonic_ns())),
    "a cookie for the first name only": server_cookie(
        lambda mine: mine + bytes(8), lambda q: q.labels[1:2] == b"a"),
    "the question in lower case": in_case(bytes.lower),
    "the question in capitals": in_case(bytes.upper),
    "no question": made(lambda q: q.reply([record(q.name, A, TRUE)], question=b"")),
    "the question twice": made(lambda q: q.reply(question=q.question * 2, counts=(
        2, 1, 0, int(q.has_opt)))),
    "no RA": each(flags=RD),
    "no RD": each(flags=RA),
    "AA": each(flags=RD | RA | AA),
    "AA and no RA": each(flags=RD | AA),
    "AD": each(flags=RD | RA | AD),
    "the Z bit": each(flags=RD | RA | Z),
    "CD": each(flags=RD | RA | CD),
    "octets behind the message": each(tail=b"\0" * 7),
    "octets behind the message over TCP": over_udp(each(answers=[], flags=RD | RA | TC),
                                                   each(tail=b"any")),
    "more records announced than sent": made(lambda q: q.reply(counts=(1, 2, 0, int(q.has_opt)))),
    "the message is cut over UDP": over_udp(made(lambda q: q.reply(own_opt=False)[:-2])),
    "a header alone, NOERROR": header_only(0),
    "a header alone, NOERROR, over UDP": over_udp(header_only(0)),
    "a header alone, SERVFAIL, the first time": once(header_only(SERVFAIL)),
    "SERVFAIL the first time": once(code(SERVFAIL)),
    "REFUSED the first time": once(code(REFUSED)),
    "FORMERR the first time": once(code(FORMERR)),
    "the rcode 11": code(11),
    "the rcode 15": code(15),
    "the rcode 11 with the answer": each(rcode=11),
    "the rcode 3841 with the answer": with_options(rcode=3841),
    "SERVFAIL with the answer": each(rcode=SERVFAIL),
    "an empty datagram before": over_udp(then_right(lambda q: b"")),
    "seven octets before": over_udp(then_right(lambda q: q.wire[:7])),
    "the query itself before": over_udp(then_right(lambda q: q.wire)),
    "a wrong ID before": over_udp(then_right(lambda q: forged(ident=q.id ^ 1)(q))),
    "another question before": over_udp(then_right(
        lambda q: forged(question=swapped(q))(q))),
    "another type in the question before": over_udp(then_right(
        lambda q: forged(question=q.name + b"\0\x1c\0\1")(q))),
}

SOA_DATA = name("ns.example.") + name("host.example.") + struct.pack("!5I", 1, 2, 3, 4, 60)


def leaves(first, target):
    """FIRST for the name that was asked for, and TARGET for all others."""
    return lambda q, tcp: (target if q.labels.startswith(b"\1t") else first)(q, tcp)


def t_of(q):
    """t.NAME, as the target of an alias."""
    return b"\1t" + q.name.lower()


def chain(n, backwards=False):
    """N aliases and the address: from the name itself, or from the rest of the chain."""
    def make(q):
        first, base = (int(q.name[1:3]) + 1, q.name[3:]) if q.name[0] == 2 else (0, q.name)
        names = [base, *(b"\2%02d" % i + base.lower() for i in range(n))]
        links = [record(names[i], CNAME, names[i + 1]) for i in range(first, n)]
        links.append(record(names[n], A, TRUE))
        return q.reply(links[::-1] if backwards else links)
    return made(make)


def parent(q):
    return q.name[1 + q.name[0]:].lower()


def zone(q):
    return parent(q)[2:]  # behind "d"


def moved_name(q):
    return q.name[:1 + q.name[0]] + b"\1m" + zone(q)


def typed(kind, data, kind_of_record=None, **more):
    """Another type is asked for."""
    return kind, made(lambda q: q.reply([record(Q, kind_of_record or kind, data(q) if callable(data) else data,
                                                **more)]))


def signed_by(signer):
    return struct.pack("!HBBIIIH", A, 13, 3, 300, 4000000000, 1700000000, 1) + signer + bytes(64)


def signed(_query):
    return signed_by(Q)


def svcb(*params):
    return b"\0\1\0" + b"".join(struct.pack("!HH", k, len(v)) + v for k, v in params)


def long_name(end):
    """Of 253 octets: with another label it is too long."""
    last = 253 - 3 * 64 - len(end) - 1
    return 3 * (b"\x3f" + b"x" * 63) + bytes([last]) + b"x" * last + end


def dname(q):
    """From the parent, d, to m."""
    return record(parent(q), DNAME, b"\1m" + zone(q))


def moves(make):
    """MAKE gives the answers for names below d; other names have an address."""
    return lambda q, tcp: [q.reply(make(q))] if q.name[2:4] == b"\1d" else right(q, tcp)


SAID = {
    "a record of class CH beside the answer": each(answers=[
        record(Q, A, TRUE), record(Q, A, FORGED_DATA, klass=3)]),
    "the answer in class CH": each(answers=[record(Q, A, TRUE, klass=3)]),
    "a foreign record in the answer": each(answers=[
        record(Q, A, TRUE), rr("foreign.invalid.", "A", "192.0.2.66")]),
    "foreign records in authority and additional": each(
        authority=[rr("invalid.", "NS", "ns.invalid.")],
        additional=[rr("ns.invalid.", "A", "192.0.2.66")]),
    "foreign records alone": each(answers=[rr("foreign.invalid.", "A", "192.0.2.66")]),
    "the answer with another type before": each(answers=[
        record(Q, TXT, b"\1x"), record(Q, A, TRUE)]),
    "another type alone": each(answers=[record(Q, TXT, b"\1x")]),
    "letters of another case": made(lambda q: q.reply([record(q.name.swapcase(), A, TRUE)])),
    "a record twice": each(answers=[record(Q, A, TRUE)] * 2),
    "TTLs that differ": each(answers=[record(Q, A, TRUE), record(Q, A, b"\xc0\0\2\2", 60)]),
    "signatures that nobody asked for": each(answers=[
        record(Q, A, TRUE), record(Q, RRSIG, signed_by(name("example.")))]),
    "a signature of another type alone": each(answers=[
        record(Q, A, TRUE), record(Q, RRSIG, b"\0\x10" + signed_by(name("example."))[2:])]),
    "a name compressed in the additional section that leads nowhere": each(
        additional=[record(b"\1x\xff\xff", A, TRUE)]),
    "owners by a pointer to a pointer": made(lambda q: q.reply([
        record(Q, A, TRUE), record(b"\xc0" + bytes([12 + len(q.question)]), A, b"\xc0\0\2\2")])),
    "a TTL of 0": each(answers=[record(Q, A, TRUE, 0)]),
    "a TTL above 2^31": each(answers=[record(Q, A, TRUE, 0x80000005)]),
    "a CNAME that leads to itself": each(answers=[record(Q, CNAME, Q)]),
    "two CNAMEs that lead to each other": leaves(made(lambda q: q.reply([
        record(Q, CNAME, t_of(q)), record(t_of(q), CNAME, Q)])), made(lambda q: q.reply([
            record(Q, CNAME, q.name[2:]), record(q.name[2:], CNAME, Q)]))),
    "the same CNAME twice": leaves(made(lambda q: q.reply([
        *[record(Q, CNAME, t_of(q))] * 2, record(t_of(q), A, TRUE)])), right),
    "two CNAMEs": leaves(made(lambda q: q.reply([
        record(Q, CNAME, t_of(q)), record(Q, CNAME, b"\1u" + q.name),
        record(t_of(q), A, TRUE)])), right),
    "a CNAME and the address at one name": leaves(made(lambda q: q.reply([
        record(Q, CNAME, t_of(q)), record(Q, A, TRUE)])), right),
    "a CNAME, and its target left out": leaves(made(lambda q: q.reply([
        record(Q, CNAME, t_of(q))])), right),
    "a CNAME, its target left out, and NS of the parent": leaves(made(lambda q: q.reply(
        [record(Q, CNAME, t_of(q))], [record(parent(q), NS, name("ns.example."))])), right),
    "the address before its CNAME": chain(1, True),
    "five CNAMEs, backwards": chain(5, True),
    "eleven CNAMEs": chain(11),
    "fourteen CNAMEs": chain(14),
    "a CNAME to a name that does not exist": leaves(made(lambda q: q.reply(
        [record(Q, CNAME, t_of(q))], [record(zone(q), SOA, SOA_DATA)], rcode=NXDOMAIN)),
        made(lambda q: q.reply([], [record(zone(q), SOA, SOA_DATA)], rcode=NXDOMAIN))),
    "a CNAME to a name that has no address": leaves(made(lambda q: q.reply(
        [record(Q, CNAME, t_of(q))], [record(zone(q), SOA, SOA_DATA)])),
        made(lambda q: q.reply([], [record(zone(q), SOA, SOA_DATA)]))),
    "NXDOMAIN with the CNAME and the address": leaves(made(lambda q: q.reply(
        [record(Q, CNAME, t_of(q)), record(t_of(q), A, TRUE)], rcode=NXDOMAIN)), right),
    "NXDOMAIN with the address": each(rcode=NXDOMAIN),
    "a DNAME without its CNAME": moves(lambda q: [dname(q)]),
    "a DNAME behind its CNAME": moves(lambda q: [
        record(Q, CNAME, moved_name(q)), dname(q), record(moved_name(q), A, TRUE)]),
    "a DNAME, and its CNAME with a TTL of 0": moves(lambda q: [
        dname(q), record(Q, CNAME, moved_name(q), 0), record(moved_name(q), A, TRUE)]),
    "a DNAME, and a CNAME that leads elsewhere": moves(lambda q: [
        dname(q), record(Q, CNAME, t_of(q)), record(t_of(q), A, TRUE)]),
    "no data, without SOA": code(0),
    "no data, with the SOA in the answer section": made(lambda q: q.reply(
        [record(zone(q), SOA, SOA_DATA)])),
    "no such name, with the SOA in the answer section": made(lambda q: q.reply(
        [record(zone(q), SOA, SOA_DATA)], rcode=NXDOMAIN)),
    "no data, with the address in the additional section": each(
        answers=[], additional=[record(Q, A, TRUE)]),
    "no data, with the SOA and NS of the zone": made(lambda q: q.reply(
        [], [record(zone(q), SOA, SOA_DATA), record(zone(q), NS, name("ns.example."))])),
    "no data, with the SOA below the name": made(lambda q: q.reply(
        [], [record(b"\1x" + q.name, SOA, SOA_DATA)])),
    "no data, with two SOAs": made(lambda q: q.reply(
        [], [record(zone(q), SOA, SOA_DATA), record(parent(q), SOA, SOA_DATA)])),
    "no data, with NS of the parent": made(lambda q: q.reply(
        [], [record(parent(q), NS, name("ns.example."))])),
    "no data, with NS of the parent, no RA": made(lambda q: q.reply(
        [], [record(parent(q), NS, name("ns.example."))], flags=RD)),
    "no data, with the SOA of another name": each(
        answers=[], authority=[record(name("other.invalid."), SOA, SOA_DATA)]),
    "no data, with the SOA in the additional section": made(lambda q: q.reply(
        [], additional=[record(parent(q), SOA, SOA_DATA)])),
    "no such name, without SOA": code(NXDOMAIN),
    "no such name, with AA": code(NXDOMAIN, flags=RD | RA | AA),
    "YXDOMAIN with a DNAME whose target is long": made(lambda q: q.reply(
        [record(parent(q), DNAME, long_name(zone(q)))], rcode=YXDOMAIN)),
    "an address of 5 octets": each(answers=[record(Q, A, TRUE + b"\0")]),
    "an address of 0 octets": each(answers=[record(Q, A, b"")]),
    "an address of 5 octets beside the answer": each(
        answers=[record(Q, A, TRUE)], additional=[record(name("ns.example."), A, TRUE + b"\0")]),
    "TXT without a string": typed(TXT, b""),
    "TXT whose string is cut": typed(TXT, b"\5ab"),
    "a name compressed in SRV": typed(SRV, b"\0\0\0\1\x01\x85" + Q),
    "a name compressed in NAPTR": typed(35, b"\0\1\0\1\1s\7SIP+D2U\0" + Q),
    "a name compressed in KX": typed(36, b"\0\1" + Q),
    "a name compressed in RP": typed(17, Q + Q),
    "a name compressed in DNAME": typed(DNAME, b"\1v" + Q),
    "a name compressed in NSEC": typed(NSEC, b"\1v" + Q + b"\0\1\x40"),
    "a name compressed in RRSIG": typed(RRSIG, signed),
    "a name compressed in SVCB": typed(SVCB, b"\0\1" + Q),
    "a name compressed in LP": typed(107, b"\0\1" + Q),
    "two octets like a pointer in an unknown type": typed(65400, Q),
    "SVCB with keys out of order": typed(SVCB, svcb((3, b"\0\x35"), (1, b"\2h2"))),
    "SVCB with a key twice": typed(SVCB, svcb((3, b"\0\x35"), (3, b"\0\x35"))),
    "SVCB with a port of one octet": typed(SVCB, svcb((3, b"\1"))),
    "CAA with a tag of other characters": typed(257, b"\0\5iss-ue;"),
    "NSEC with zeros at the end of its types": typed(NSEC, name("v.example.") + b"\0\2\x40\0"),
    "ANY with HINFO": typed(255, b"\7RFC8482\0", kind_of_record=13),
    "MX with an empty name": typed(15, b"\0\x0a\0"),
    "NULL": typed(10, b"anything"),
    "TLSA": typed(52, b"\3\1\1" + bytes(32)),
    "URI": typed(256, b"\0\1\0\1https://example/"),
    "DS with an empty digest": typed(43, b"\0\1\x0d\2"),
}

FORGED = {
    "the reply from another address": over_udp(
        lambda q, _tcp: [ELSEWHERE, q.reply()], lambda *_: []),
    "the reply from another port": over_udp(
        lambda q, _tcp: [OTHER_PORT, q.reply()], lambda *_: []),
    "a wrong ID": made(lambda q: q.reply(ident=q.id ^ 1)),
    "another question": made(lambda q: q.reply(question=swapped(q))),
    "another type in the question": made(lambda q: q.reply(question=q.name + b"\0\x1c\0\1")),
    "another class in the question": made(lambda q: q.reply(question=q.question[:-1] + b"\3")),
    "QR is clear": made(lambda q: q.reply()[:2] + b"\1\x80" + q.reply()[4:]),
    "the opcode NOTIFY": each(flags=RD | RA | 4 << 11),
}

SECTIONS = {"asked": ASKED, "formed": FORMED, "said": SAID, "forged": FORGED}
ROWS = [row for section in SECTIONS.values() for row in section]

# What serves a row, if not an address with NOERROR: (rcode, types of records in the answer)
WANTED = {
    "a CNAME to a name that does not exist": (NXDOMAIN, {CNAME}),
    "a CNAME to a name that has no address": (0, {CNAME}),
    "a CNAME that leads to itself": (0, {CNAME}),
    "two CNAMEs that lead to each other": (0, {CNAME}),
    "no such name, without SOA": (NXDOMAIN, set()),
    "no such name, with AA": (NXDOMAIN, set()),
    "no such name, with the SOA in the answer section": (NXDOMAIN, set()),
    "ANY with HINFO": (0, {13}),
    "YXDOMAIN with a DNAME whose target is long": (YXDOMAIN, {DNAME}),
    **{row: (0, set()) for row in [*SAID, *FORMED]
       if row.startswith("no data") or row in (
           "foreign records alone", "another type alone", "a header alone, NOERROR",
           "the answer in class CH")},
}


def behaviour_of(row):
    """(the type that is asked for, the behaviour)"""
    found = next(section[row] for section in SECTIONS.values() if row in section)
    return found if isinstance(found, tuple) else (A, found)


def address_of(row):
    return f"127.1.1.{ROWS.index(row) + 1}"


def zone_of(row):
    return f"r{ROWS.index(row)}.example."


class Upstream:
    """The upstream of a row."""

    def __init__(self, row, port):
        self.address, self.port, self.answer = address_of(row), port, behaviour_of(row)[1]
        self.udp, self.port_socket, self.elsewhere = (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3))
        self.udp.bind((self.address, port))
        self.port_socket.bind((self.address, 0))
        self.elsewhere.bind(("127.1.2.1", 0))
        self.tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.tcp.bind((self.address, port))
        if not self.refuses_tcp():
            self.tcp.listen(64)
        for one in (self.serve_udp, self.serve_tcp):
            threading.Thread(target=one, daemon=True).start()

    def refuses_tcp(self):
        cells = self.answer.__closure__ or ()
        return self.answer.__qualname__.startswith("over_udp") and any(
            cell.cell_contents is None for cell in cells)

    def serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                wire, peer = self.udp.recvfrom(65535)
                if not wire:  # of shutdown()
                    return
                query = query_of(wire)
                if not query:
                    continue
                sock, out = self.udp, self.answer(query, False)
                if any(isinstance(one, float) for one in out):
                    threading.Thread(target=self.send_late, args=(out, peer), daemon=True).start()
                    continue
                for one in out:
                    if isinstance(one, bytes):
                        sock.sendto(one, peer)
                    else:
                        sock = {OTHER_PORT: self.port_socket, ELSEWHERE: self.elsewhere}[one]

    def send_late(self, out, peer):
        with contextlib.suppress(OSError):
            for one in out:
                if isinstance(one, float):
                    time.sleep(one)
                else:
                    self.udp.sendto(one, peer)

    def serve_tcp(self):
        with contextlib.suppress(OSError):
            while not self.refuses_tcp():
                connection, _ = self.tcp.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        slowly = False
        with connection, contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while size := connection.recv(2, socket.MSG_WAITALL):
                wire = connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
                query = query_of(wire)  # cut if the forwarder has ended
                if not query or len(wire) < int.from_bytes(size, "big"):
                    return
                for one in self.answer(query, True):
                    if one == CLOSE:
                        return
                    if isinstance(one, float):
                        time.sleep(one)
                    elif one == SLOWLY:
                        slowly = True
                    else:
                        one = len(one).to_bytes(2, "big") + one
                        for i in range(0, len(one), 1 if slowly else len(one)):
                            connection.sendall(one[i:i + 1 if slowly else None])

    def close(self):
        for sock in (self.udp, self.tcp, self.port_socket, self.elsewhere):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
