# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Name servers for the scenarios: one thread answers for all zones, each from addresses of its own,
and logs each question.

A zone is text in the format of a master file. It is signed as it is asked, where its definition
says so, with NSEC records. What a server does wrong is one of MODES, which a step of a scenario may
change at any time.
"""
import contextlib
import selectors
import socket
import struct
import threading
import time

import dns.dnssec
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset
import dns.zone
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from dns.rdtypes.ANY.RRSIG import RRSIG as RRSIG_DATA

A, CNAME, DNAME, DS, NS, NSEC, RRSIG, SOA, DNSKEY = (dns.rdatatype.from_text(one) for one in (
    "A", "CNAME", "DNAME", "DS", "NS", "NSEC", "RRSIG", "SOA", "DNSKEY"))
IN = dns.rdataclass.IN
DAY_S = 86400
HEAD = "$TTL 300\n@ SOA ns hostmaster 1 7200 3600 1209600 60\n@ NS ns\n"


class Zone:
    """
    Records below an origin. SIGN: no; yes; island (signed, and the parent has no DS); broken
    (signatures of A records do not hold); stripped (the parent has a DS, and there are no
    signatures); expired.
    """

    def __init__(self, origin, addresses, text, sign="no"):
        self.origin, self.addresses, self.sign = dns.name.from_text(origin), addresses, sign
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.key = dns.dnssec.make_dnskey(self.private.public_key(),
                                          dns.dnssec.Algorithm.ECDSAP256SHA256, flags=257)
        self.raw, self.chain, self.signatures = {}, None, {}
        self.load(text)

    def load(self, text):
        """Other records from now on."""
        glue = "".join(f"ns A {address}\n" for address in self.addresses)
        self.zone = dns.zone.from_text(HEAD + glue + text, self.origin, relativize=False,
                                       check_origin=False)
        if self.is_signed:
            self.add(dns.rrset.from_rdata(self.origin, 300, self.key))
        self.chain = None

    def add(self, rrset):
        for data in rrset:
            self.zone.find_rdataset(rrset.name, rrset.rdtype, create=True).add(data, rrset.ttl)
        self.chain = None

    @property
    def is_signed(self):
        return self.sign not in ("no", "stripped")

    def ds(self):
        return dns.rrset.from_rdata(self.origin, 300,
                                    dns.dnssec.make_ds(self.origin, self.key, "SHA256"))

    def get(self, name, rdtype):
        found = self.zone.get_rdataset(name, rdtype)
        return dns.rrset.from_rdata_list(name, found.ttl, list(found)) if found else None

    def exists(self, name):
        """Also where it is but part of longer names."""
        return any(one.is_subdomain(name) for one in self.zone.nodes)

    def cut_above(self, name, rdtype):
        """The name of the delegation that it is at or below, or None."""
        for n in range(len(self.origin) + 1, len(name) + 1):
            above = name.split(n)[1]
            if self.zone.get_rdataset(above, NS) and not (above == name and rdtype == DS):
                return above
        return None

    def link(self):
        """The names of the NSEC chain in its order."""
        cuts = [one for one in self.zone.nodes if one != self.origin
                and self.zone.get_rdataset(one, NS)]
        return sorted(one for one in self.zone.nodes
                      if not any(one != cut and one.is_subdomain(cut) for cut in cuts))

    def nsec(self, name):
        """The record at a name, or the one whose gap has it."""
        self.chain = self.chain or self.link()
        at = max(n for n, one in enumerate(self.chain) if one <= name)
        owner, after = self.chain[at], self.chain[(at + 1) % len(self.chain)]
        is_cut = owner != self.origin and self.zone.get_rdataset(owner, NS)
        types = {one.rdtype for one in self.zone.nodes[owner]} & ({NS, DS} if is_cut
                                                                  else set(range(65536)))
        words = " ".join(dns.rdatatype.to_text(one) for one in sorted(types | {NSEC, RRSIG}))
        return dns.rrset.from_text(owner, 60, "IN", "NSEC", f"{after} {words}")

    def signature(self, rrset):
        """Made once. It holds long, since the clocks of the resolvers run ahead."""
        text = rrset.to_text()
        if text not in self.signatures:
            made = self.sign_data(rrset)
            if self.sign == "broken" and rrset.rdtype == A:
                made = made.replace(signature=bytes(reversed(made.signature)))
            self.signatures[text] = made
        return self.signatures[text]

    def sign_data(self, rrset):
        """
        dns.dnssec.sign() of dnspython 2.3 counts the * of a wildcard as a label, against RFC 4034
        section 3.1.3.
        """
        begin, end = (int(time.time()) + n * DAY_S
                      for n in ((-60, -30) if self.sign == "expired" else (-30, 900)))
        made = RRSIG_DATA(IN, RRSIG, rrset.rdtype, self.key.algorithm,
                          len(rrset.name) - 1 - rrset.name.is_wild(), rrset.ttl,
                          end, begin, dns.dnssec.key_id(self.key), self.origin, b"")
        # pylint: disable=protected-access
        data = dns.dnssec._make_rrsig_signature_data(rrset, made)
        numbers = utils.decode_dss_signature(self.private.sign(data, ec.ECDSA(hashes.SHA256())))
        return made.replace(signature=b"".join(one.to_bytes(32, "big") for one in numbers))

    def put(self, section, rrset, do, owner=None):
        """
        Adds records and, where they are asked for, the signature. OWNER: the name that a wildcard
        stands for.
        """
        name = owner or rrset.name
        section.append(dns.rrset.from_rdata_list(name, rrset.ttl, list(rrset)))
        if do and self.is_signed:
            section.append(dns.rrset.from_rdata(name, rrset.ttl, self.signature(rrset)))

    def prove(self, reply, do, *names):
        if not (do and self.is_signed):
            return
        for owner, one in {one.name: one for one in map(self.nsec, names)}.items():
            if not any(there.name == owner and there.rdtype == NSEC for there in reply.authority):
                self.put(reply.authority, one, do)

    # --- Answers

    def answer(self, reply, name, rdtype, do):
        raw = self.raw.get(f"{name} {dns.rdatatype.to_text(rdtype)}".lower())
        cut = self.cut_above(name, rdtype)
        if raw is not None:
            put_raw(reply, raw)
        elif cut:
            self.refer(reply, cut, do)
        elif not self.redirect(reply, name, do):
            self.find(reply, name, rdtype, do)

    def refer(self, reply, cut, do):
        reply.flags &= ~dns.flags.AA
        servers, signer = self.get(cut, NS), self.get(cut, DS)
        reply.authority.append(servers)
        if signer:
            self.put(reply.authority, signer, do)
        else:
            self.prove(reply, do, cut)
        for one in servers:
            glue = self.get(one.target, A)
            reply.additional += [glue] if glue else []

    def redirect(self, reply, name, do):
        for n in range(len(self.origin), len(name)):
            above = name.split(n)[1]
            found = self.get(above, DNAME)
            if found:
                self.put(reply.answer, found, do)
                target = name.relativize(above).derelativize(found[0].target)
                reply.answer.append(dns.rrset.from_text(name, found.ttl, "IN", "CNAME",
                                                        str(target)))
                return True
        return False

    def find(self, reply, name, rdtype, do):
        owner = name
        if not self.exists(name):
            closest = next(name.split(n)[1] for n in range(len(name) - 1, 0, -1)
                           if self.exists(name.split(n)[1]))
            owner = dns.name.Name((b"*", *closest.labels))
            if not self.exists(owner):
                reply.set_rcode(dns.rcode.NXDOMAIN)
                self.deny(reply, do, name, owner)
                return
        found = self.get(owner, rdtype) or self.get(owner, CNAME)
        if not found:
            self.deny(reply, do, owner, name)
            return
        self.put(reply.answer, found, do, name)
        if owner != name:
            self.prove(reply, do, name)

    def deny(self, reply, do, *names):
        self.put(reply.authority, self.get(self.origin, SOA), do)
        self.prove(reply, do, *names)


def put_raw(reply, raw):
    """
    A reply that is written out: {rcode, flags, answer, authority, additional}, the sections as
    lines.
    """
    reply.set_rcode(dns.rcode.from_text(raw.get("rcode", "NOERROR")))
    reply.flags = dns.flags.from_text(f"QR {raw.get('flags', 'AA')}")
    for part in ("answer", "authority", "additional"):
        for line in raw.get(part, ()):
            owner, ttl, kind, data = line.split(None, 3)
            getattr(reply, part).append(dns.rrset.from_text(owner, int(ttl), "IN", kind, data))


# --- Servers --------------------------------------------------------------------------------------


def empty(reply, rcode=dns.rcode.NOERROR):
    reply.answer, reply.authority, reply.additional = [], [], []
    reply.set_rcode(rcode)
    return reply


def failing(word):
    return lambda asked, reply, tcp: empty(reply, dns.rcode.from_text(word))


def without_edns(asked, reply, _tcp):
    """A server from before RFC 2671."""
    if asked.edns >= 0:
        reply.use_edns(-1)
        return empty(reply, dns.rcode.FORMERR)
    return reply


def truncated(_asked, reply, tcp):
    if not tcp:
        empty(reply).flags |= dns.flags.TC
    return reply


def denies_empty_names(asked, reply, _tcp):
    """NXDOMAIN for a name that has no records, whatever is below it."""
    if not reply.answer and not reply.rcode():
        reply.set_rcode(dns.rcode.NXDOMAIN)
    return reply


def in_lower_case(asked, reply, _tcp):
    name = dns.name.from_text(str(asked.question[0].name).lower())
    reply.question = [dns.rrset.RRset(name, asked.question[0].rdclass, asked.question[0].rdtype)]
    for rrset in reply.answer:
        rrset.name = dns.name.from_text(str(rrset.name).lower())
    return reply


def lame(_asked, reply, _tcp):
    """It sends everybody back to the root."""
    empty(reply).flags &= ~dns.flags.AA
    reply.authority.append(dns.rrset.from_text(".", 300, "IN", "NS", "ns."))
    return reply


MODES = {
    "well": lambda asked, reply, tcp: reply, "silent": lambda *_: None,
    "servfail": failing("SERVFAIL"), "refused": failing("REFUSED"), "notimp": failing("NOTIMP"),
    "formerr": without_edns, "truncates": truncated, "ent-nxdomain": denies_empty_names,
    "drops-edns": lambda asked, reply, tcp: None if asked.edns >= 0 else reply,
    "only-tcp": lambda asked, reply, tcp: reply if tcp else None,
    "lowers": in_lower_case, "lame": lame,
}


TIMESTAMP = 35  # SO_TIMESTAMPNS, which the socket module does not have
REPEAT_S = 0.05  # no resolver asks again sooner because of the time alone


def receive(sock):
    """The datagram, its sender, and when it came: it may have waited in the socket's buffer."""
    wire, words, _, peer = sock.recvmsg(4096, socket.CMSG_SPACE(struct.calcsize("@ll")))
    seconds, ns = next(struct.unpack("@ll", data) for _, kind, data in words if kind == TIMESTAMP)
    return wire, peer, seconds + ns / 1e9


class Repeats:
    """
    Tells a question that was sent again from a new one. Where processors are busy, an answer may
    take longer than a resolver waits. Then the resolver asks again before it has the answer, not
    sooner than REPEAT_S later. Whatever comes after the answer, or at once, is a question of its
    own.
    """

    def __init__(self):
        self.last = {}

    def has(self, key, came_s):
        last_s, answered_s = self.last.get(key, (came_s, came_s))
        return last_s + REPEAT_S <= came_s < answered_s

    def answered(self, key, came_s, now_s):
        self.last[key] = (came_s, now_s)


class Asked:
    """One question as it came."""

    def __init__(self, client, server, asked, tcp):
        self.client, self.server, self.tcp, self.is_repeat = client, server, tcp, False
        self.question = f"{asked.question[0].name} {dns.rdatatype.to_text(asked.question[0].rdtype)}".lower()


class Authorities:
    """
    All servers of some zones, in the namespace of the thread that makes this. Forwarders know all
    zones and follow aliases. Any thread may set `modes` and change zones.
    """

    def __init__(self, zones, forwarders=()):
        self.forwarders = forwarders
        self.zones = sorted(zones, key=lambda zone: -len(zone.origin))
        self.modes, self.log, self.selector = {}, [], selectors.DefaultSelector()
        self.repeats = Repeats()
        self.wake, wait = socket.socketpair()
        self.selector.register(wait, selectors.EVENT_READ)
        for address in sorted({*forwarders, *(one for zone in zones for one in zone.addresses)}):
            self.listen(address)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def listen(self, address):
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            sock = socket.socket(socket.AF_INET, kind)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((address, 53))
            if kind == socket.SOCK_STREAM:
                sock.listen(16)
            else:
                sock.setsockopt(socket.SOL_SOCKET, TIMESTAMP, 1)
            self.selector.register(sock, selectors.EVENT_READ, address)

    def serve(self):
        while True:
            for key, _ in self.selector.select():
                if key.data is None:
                    return
                if key.fileobj.type == socket.SOCK_STREAM:
                    threading.Thread(target=self.serve_tcp,
                                     args=(key.fileobj.accept()[0], key.data), daemon=True).start()
                    continue
                self.serve_udp(key.fileobj, key.data)

    def serve_udp(self, sock, address):
        wire, peer, came_s = receive(sock)
        asked = dns.message.from_wire(wire)
        one = Asked(peer[0], address, asked, False)
        key = (one.client, one.server, one.question)
        one.is_repeat = self.repeats.has(key, came_s)
        out = self.reply(asked, one)
        if out:
            sock.sendto(out, peer)
            self.repeats.answered(key, came_s, time.time())

    def serve_tcp(self, conn, address):
        with conn, contextlib.suppress(OSError):
            conn.settimeout(5)
            peer = conn.getpeername()[0]
            while size := conn.recv(2, socket.MSG_WAITALL):
                asked = dns.message.from_wire(conn.recv(int.from_bytes(size, "big"),
                                                        socket.MSG_WAITALL))
                out = self.reply(asked, Asked(peer, address, asked, True))
                if out:
                    conn.sendall(len(out).to_bytes(2, "big") + out)

    def reply(self, asked, one):
        self.log.append(one)
        question, address, tcp = asked.question[0], one.server, one.tcp
        out = dns.message.make_response(asked, recursion_available=bool(asked.flags & dns.flags.RD))
        out.flags |= dns.flags.AA
        self.resolve(out, question.name, question.rdtype, bool(asked.ednsflags & dns.flags.DO),
                     address)
        out = MODES[self.modes.get(address, "well")](asked, out, tcp)
        return out.to_wire(max_size=65535 if tcp else 4096) if out else None

    def resolve(self, out, name, rdtype, do, address):
        zone = self.zone_for(name, rdtype, address)
        if not zone:
            empty(out, dns.rcode.REFUSED)
            return
        zone.answer(out, name, rdtype, do)
        alias = [one for one in out.answer if one.rdtype == CNAME and one.name == name]
        if address in self.forwarders and alias and rdtype != CNAME and len(out.answer) < 40:
            self.resolve(out, alias[0][0].target, rdtype, do, address)

    def zone_for(self, name, rdtype, address):
        """A DS record is the parent's, where that is here."""
        here = [one for one in self.zones
                if (address in one.addresses or address in self.forwarders)
                and name.is_subdomain(one.origin)]
        above = [one for one in here if one.origin != name]
        return (above if rdtype == DS and above else here or [None])[0]

    def close(self):
        self.wake.send(b"x")
        self.thread.join(5)
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()
        self.wake.close()
