# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares volleyd and unbound with the same options over one tree of zones (dnstree).

A row of a table has the keys of volleyd, the same settings as lines of unbound.conf, and the
answers that both must give.
"""
import socket
import time

import dns.flags
import dns.message
import dns.rcode
import dns.rrset

from dnstree import HEAD, ask, query, records
from netlab import family_of, run, wait_for
from scripted import Upstream
from upstreams import address_answer

PEER, PEER6 = "10.53.9.1", "fd53::9"  # unbound's address; without IPv4
RESOLVERS = {name: f"10.53.7.{n}" for n, name in enumerate(("first", "second", "evil"), 1)}
SOURCE = "10.53.6.6"
FORWARDED, EVIL = "192.0.2.77", "192.0.2.66"


# --- Servers of a test ----------------------------------------------------------------------------


def says(address, ttl=300, only_tcp=False):
    """One address for all names, to questions for A."""
    def reply(made, tcp):
        if only_tcp and not tcp:
            return None
        out = address_answer(made, address)
        out.flags |= dns.flags.RA
        for rrset in out.answer + out.authority:
            rrset.ttl = ttl
        return out.to_wire()
    return reply


def fails(made, _tcp):
    out = dns.message.make_response(made)
    out.set_rcode(dns.rcode.SERVFAIL)
    return out.to_wire()


def tells_case(made, _tcp):
    """The address tells whether the name came in lower case."""
    name = str(made.question[0].name)
    return address_answer(made, "192.0.2.1" if name == name.lower() else "192.0.2.2").to_wire()


def hides_above(zone):
    """
    NXDOMAIN for names between the zone and those of four labels in it: servers that know no empty
    names.
    """
    def reply(made, _tcp):
        name = made.question[0].name
        out = address_answer(made)
        if len(name) < 5 and str(name).lower() != zone:
            out.answer = []
            out.set_rcode(dns.rcode.NXDOMAIN)
            out.authority = [dns.rrset.from_text(zone, 60, "IN", "SOA",
                                                 "ns. hostmaster. 1 7200 3600 1209600 60")]
        return out.to_wire()
    return reply


def leads_away(made, _tcp):
    """
    A referral for all names, with an address for its server that is none of this server's to give.
    """
    name = made.question[0].name
    if len(name) < 5:
        return address_answer(made).to_wire()
    out = dns.message.make_response(made)
    out.flags &= ~dns.flags.AA
    cut = ".".join(str(name).rsplit(".", 4)[1:])
    out.authority.append(dns.rrset.from_text(cut, 300, "IN", "NS", "ns.plain.lab."))
    out.additional.append(dns.rrset.from_text("ns.plain.lab.", 300, "IN", "A", RESOLVERS["evil"]))
    return out.to_wire()


def chain(zones, n):
    """aN.ZONE is an alias of a(N-1) in the other zone; a0 has an address."""
    def reply(made, _tcp):
        name = str(made.question[0].name).lower()
        label, zone = name.split(".", 1)
        if zone not in zones or label in ("a0", "ns") or not label.startswith("a"):
            return address_answer(made).to_wire()
        out = dns.message.make_response(made)
        out.flags |= dns.flags.AA
        to = f"a{int(label[1:]) - 1}.{zones[1 - zones.index(zone)]}"
        out.answer.append(dns.rrset.from_text(name, 300, "IN", "CNAME", to))
        return out.to_wire()
    assert n >= 0
    return reply


# --- The two that are asked -----------------------------------------------------------------------


class Pair:
    def __init__(self, world):
        self.world, self.peer, self.where, self.made = world, None, PEER, []

    def script(self, where, reply):
        """A server for a scripted leaf of the tree, or at an address."""
        if where in RESOLVERS:
            self.made.append(Upstream(self.world.tree, RESOLVERS[where],
                                      lambda made, seen, _: reply(made, seen.tcp)))
        else:
            self.made.append(self.world.tree.script(where, reply))
        return self.made[-1]

    def start(self, keys, lines, clauses="", anchor=True):
        self.start_ours(keys)
        self.start_peer(lines, clauses,
                        keys.get("trust-anchor", self.world.tree.zones.anchor) if anchor else None)

    def start_ours(self, keys):
        """By a reload, where it runs."""
        daemon = self.world.daemon
        daemon.configure(recursion=self.world.recursion(**keys), interfaces=[])
        if daemon.process:
            daemon.ctl("zone", "reload")
        else:
            daemon.start()

    def start_peer(self, lines, clauses, anchor):
        self.end_peer()
        tree = self.world.tree
        self.where = PEER6 if "do-ip4: no" in lines else PEER
        self.peer = tree.popen_unbound(
            f"interface: {self.where}", f"root-hints: {tree.zones.hints}",
            "access-control: 10.53.0.0/16 allow_snoop", "access-control: fd53::/16 allow_snoop",
            "ede: yes", 'module-config: "validator iterator"', "infra-cache-max-rtt: 2000",
            "infra-keep-probing: yes", "aggressive-nsec: yes", *lines,
            *([f"trust-anchor-file: {anchor}"] if anchor else []), clauses=clauses, name="peer")
        wait_for("unbound is there", lambda: self.ask_peer(query(".", "SOA"), 0.3), 10)

    def ask_peer(self, made, seconds=9):
        with self.world.tree.socket(socket.SOCK_DGRAM, family_of(self.where)) as sock:
            sock.bind((self.where, 0))
            sock.settimeout(seconds)
            sock.sendto(made.to_wire(), (self.where, 53))
            try:
                return dns.message.from_wire(sock.recv(65535))
            except OSError:
                return None

    def ask(self, made):
        """Both answers: volleyd's, unbound's."""
        return ask(self.world.lab, made), self.ask_peer(made)

    def end_peer(self):
        if self.peer:
            self.peer.terminate()
            self.peer.wait(20)
            self.world.tree.processes.remove(self.peer)
            self.peer = None

    def end(self):
        self.end_peer()
        for one in self.made:
            one.close()
        for name in [name for name, one in self.world.tree.scripted.items() if one in self.made]:
            del self.world.tree.scripted[name]


def verdict(reply):
    """Name of the response code, and the records of the answer in a fixed order."""
    return dns.rcode.to_text(reply.rcode()), sorted(records(reply))


def ttl_of(reply):
    return min(rrset.ttl for rrset in reply.answer + reply.authority)


def until_expired(seconds):
    """Both keep an answer by their own clocks."""
    time.sleep(seconds)


# --- A zone that grows ----------------------------------------------------------------------------


class Growing:
    """
    A signed zone at an address; serve() puts other records into it, signed by the same key, and
    nobody is told.
    """

    def __init__(self, world, zone, address):
        self.tree, self.folder, self.zone, self.address = world.tree, world.folder, zone, address
        self.key = run("ldns-keygen", "-k", "-a", "ECDSAP256SHA256", zone,
                       cwd=self.folder).stdout.strip()
        self.ds = run("dnssec-dsfromkey", "-2", self.key + ".key", cwd=self.folder).stdout
        self.process = None
        self.serve("")

    def serve(self, records):
        self.end()
        text = HEAD.format(ttl=300) + f"ns A {self.address}\n" + records
        (self.folder / "growing").write_text(text, encoding="ascii")
        run("ldns-signzone", "-o", self.zone, "-f", "growing.signed", "growing", self.key,
            cwd=self.folder)
        self.process = self.tree.nsd(self.address, {self.zone: self.folder / "growing.signed"})

    def end(self):
        if self.process:
            self.process.terminate()
            self.process.wait(20)
            self.tree.processes.remove(self.process)
            self.process = None
