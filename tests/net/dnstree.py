# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A small DNS for a volleyd that asks upstream, on loopback addresses of its namespace.

    .  signed          10.53.0.1   nsd
    lab.  signed       10.53.0.2   nsd
    raw.  not signed   10.53.0.2   nsd
    leaves             10.53.0.3   nsd: zones of every kind that there is (ZONES)
    SCRIPTED leaves    10.53.1.N   servers that a test scripts; without a script none listens

Zones are made and signed once in a run of the tests (Zones): that takes longer than the start of
all servers (Tree). World is a lab with the tree and a volleyd.
"""
import contextlib
import itertools
import os
import pathlib
import re
import socket
import ssl
import struct
import time

import dns.edns
import dns.flags
import dns.message
import dns.query
import dns.rdatatype
import pytest

from netlab import (CLIENT4, CLIENT6, TIMEOUT, V4, V6, Answered, Daemon, Lab, family_of, iface,
                    wait_for)
from netlab import has as installed
from upstreams import Netns, Scripted, address_answer, alter, missing, sign

ROOT_NS, TLD_NS, LEAF_NS, LEAF6_NS = "10.53.0.1", "10.53.0.2", "10.53.0.3", "fd53::3"
CLOSED, SILENT, UNREACHABLE, LAME = "10.53.8.1", "10.53.8.2", "10.99.0.1", "10.53.8.4"
OUTSIDE4, OUTSIDE6 = "192.0.2.2", "2001:db8::2"  # clients that may not recurse
ALLOW = [f"{CLIENT4}/32", f"{CLIENT6}/128"]

HEAD = "$TTL {ttl}\n@ SOA ns hostmaster 1 7200 3600 1209600 60\n@ NS ns\n"
LEAF = """www A 192.0.2.80
www AAAA 2001:db8::80
mail MX 10 www
alias CNAME www
one CNAME two
two CNAME three
three CNAME four
four CNAME five
five CNAME www
loop CNAME pool
pool CNAME loop
near CNAME www.nsec3.lab.
far CNAME www.plain.lab.
back CNAME www.good.lab.
abroad CNAME www.leaf.raw.
dangling CNAME nothere.nsec3.lab.
tobroken CNAME www.broken.lab.
tree DNAME nsec3.lab.
wood DNAME plain.lab.
*.wild A 192.0.2.9
*.fat TXT {fat}
deep.er A 192.0.2.7
sub NS ns.sub
ns.sub A 10.53.8.1
big TXT {big}
huge TXT {huge}
many TXT {many}
"""
STRINGS = {"big": " ".join(f'"{n:0200}"' for n in range(9)),    # above what one asks for over UDP
           "huge": " ".join(f'"{n:0250}"' for n in range(120)),
           "fat": " ".join(f'"{n:0220}"' for n in range(5)),    # just within
           "many": "x\n" + "".join(f'many TXT "{n}"\n' for n in range(40))}

# How each is signed: options of ldns-signzone; None: it is not. And what is wrong with it.
PLAIN, NSEC, NSEC3, OPT_OUT = None, (), ("-n", "-t", "0"), ("-n", "-t", "0", "-p")
LONG_AGO = ("-i", "20190101", "-e", "20200101")
WINDOW = ("-i", str(int(time.time()) - 5 * 86400), "-e", str(int(time.time()) + 20 * 86400))
ZONES = {
    "good.lab.": (NSEC, None), "nsec3.lab.": (NSEC3, None), "optout.lab.": (OPT_OUT, None),
    "plain.lab.": (PLAIN, None), "leaf.raw.": (PLAIN, None),
    "island.raw.": (NSEC, "no DS"),  # signed below a zone that is not
    "expired.lab.": (LONG_AGO, None), "broken.lab.": (NSEC, "broken"),
    "wrongds.lab.": (NSEC, "wrong DS"), "unsigned.lab.": (NSEC, "unsigned"),
    "six.lab.": (PLAIN, None), "halfclosed.lab.": (PLAIN, None), "halfsilent.lab.": (PLAIN, None),
    "halfunreachable.lab.": (PLAIN, None), "halflame.lab.": (PLAIN, None),
}
BAD_SERVERS = {"closed": CLOSED, "silent": SILENT, "unreachable": UNREACHABLE, "lame": LAME}

# Scripted leaves, of no signatures: N for 10.53.1.N
SCRIPTED = {f"{name}.lab.": f"10.53.1.{n}" for n, name in enumerate(
    ("trunc", "late", "wrongid", "wrongport", "wrongaddress", "question", "case", "garbage",
     "poison", "aging", "stale", "dead", "fill", "count", "signs"), 1)}

_numbers = itertools.count()


class Zones:
    """The files of all zones, hints and anchor, in a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ds = {}
        for name, (how, fault) in ZONES.items():
            self.make_leaf(name, how, fault)
        self.raw = self.write("raw.", HEAD.format(ttl=300) + f"ns A {TLD_NS}\n" +
                              self.delegations("raw."))
        self.lab = self.make_signed("lab.", HEAD.format(ttl=300) + f"ns A {TLD_NS}\n" +
                                    self.delegations("lab.") + self.bad_delegations())
        self.root = self.make_signed(".", HEAD.format(ttl=300) + f"ns A {ROOT_NS}\n" + "".join(
            f"{tld} NS ns.{tld}\nns.{tld} A {TLD_NS}\n{self.ds.get(tld + '.', '')}"
            for tld in ("lab", "raw")))
        self.hints = self.write("hints", f". 3600 IN NS ns.\nns. 3600 IN A {ROOT_NS}\n")

    def write(self, name, text):
        path = self.folder / name.lstrip(".")
        path.write_text(text, encoding="ascii")
        return path

    def make_signed(self, name, text, how=NSEC):
        self.ds[name], key = sign(self.folder, name, text, *(() if how == LONG_AGO else WINDOW),
                                  *how)
        if name == ".":
            self.anchor = key
        return self.folder / f"{name}signed"

    def make_leaf(self, name, how, fault):
        address = f"AAAA {LEAF6_NS}" if name == "six.lab." else f"A {LEAF_NS}"
        text = HEAD.format(ttl=300) + f"ns {address}\n" + LEAF.format(**STRINGS)
        if name.startswith("half"):
            bad = BAD_SERVERS[name.split(".", maxsplit=1)[0].removeprefix("half")]
            text += f"@ NS ns1\n@ NS ns2\nns1 A {bad}\nns2 {address}\n"
            text = text.replace("@ NS ns\n", "")
        if how is PLAIN:
            self.write(name, text)
            return
        path = self.make_signed(name, text, how)
        if fault == "broken":
            alter(path, "www." + name, "A")
        elif fault == "wrong DS":
            ds = self.ds[name].split()
            ds[-1] = ds[-1].translate(str.maketrans("0123456789ABCDEF", "123456789ABCDEF0"))
            self.ds[name] = " ".join(ds) + "\n"
        elif fault == "unsigned":
            path = self.folder / f"{name}zone"
        elif fault == "no DS":
            del self.ds[name]
        path.rename(self.folder / name)

    def delegations(self, tld):
        text = ""
        for name in (*ZONES, *SCRIPTED):
            label, above = name.split(".", 1)
            if above != tld or label.startswith("half"):
                continue
            glue = f"AAAA {LEAF6_NS}" if label == "six" else f"A {SCRIPTED.get(name, LEAF_NS)}"
            text += f"{label} NS ns.{label}\nns.{label} {glue}\n{self.ds.get(name, '')}"
        return text

    @staticmethod
    def bad_delegations():
        return "".join(f"half{how} NS ns1.half{how}\nhalf{how} NS ns2.half{how}\n"
                       f"ns1.half{how} A {address}\nns2.half{how} A {LEAF_NS}\n"
                       f"{how} NS ns.{how}\nns.{how} A {address}\n"
                       for how, address in BAD_SERVERS.items())


class Server(Scripted):
    """
    reply() gives octets, None, or a list of (octets, the socket to send from): all are sent at
    once.
    """

    def __init__(self, netns, address, reply):
        self.others = {}
        for name, where in {"port": (address, 0), "address": ("10.53.9.9", 53)}.items():
            self.others[name] = netns.socket(socket.SOCK_DGRAM)
            self.others[name].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.others[name].bind(where)
        self.address = address
        super().__init__(netns, address, reply)

    def answer(self, wire, tcp):
        """Its own name is where it is, whatever it says of others."""
        made = dns.message.from_wire(wire)
        if made.question[0].name.labels[0].lower() == b"ns":
            return address_answer(made, self.address).to_wire()
        return super().answer(wire, tcp)

    def send_udp(self, out, peer):
        for wire, sock in out if isinstance(out, list) else [(out, None)]:
            with contextlib.suppress(OSError):
                self.others.get(sock, self.udp).sendto(wire, peer)

    def close(self):
        super().close()
        for sock in self.others.values():
            sock.close()
        for thread in self.threads:
            thread.join(3)  # its address is free then


def refuse(query, _tcp):
    """A lame server."""
    reply = dns.message.make_response(query)
    reply.set_rcode(5)
    return reply.to_wire()


def answer(query, _tcp):
    return address_answer(query).to_wire()


class Tree(Netns):
    """The servers, in the namespace of a lab's server."""

    def __init__(self, lab, zones, folder):
        super().__init__(folder, f"{lab.name}-s")
        self.lab, self.zones = lab, zones
        lab.ip("s", "address", "add", f"{ROOT_NS}/16", "dev", "lo")
        lab.ip("s", "address", "add", f"{LEAF6_NS}/128", "dev", "lo", "nodad")
        try:
            self.root = self.nsd(ROOT_NS, {".": zones.root})
            self.tld = self.nsd(TLD_NS, {"lab.": zones.lab, "raw.": zones.raw})
            self.leaf = self.nsd(LEAF_NS, {z: zones.folder / z for z in ZONES}, LEAF6_NS)
            self.script("lame.lab.", refuse, LAME)
            self.script("silent.lab.", lambda query, tcp: None, SILENT)
        except BaseException:
            self.close()
            raise

    def ask_server(self, address, name, kind="A", timeout=TIMEOUT):
        """An answer of one of the servers, None without one."""
        with self.socket(socket.SOCK_DGRAM) as sock:
            sock.settimeout(timeout)
            sock.sendto(query(name, kind, do=True).to_wire(), (address, 53))
            try:
                return dns.message.from_wire(sock.recv(4096))
            except OSError:
                return None

    def script(self, zone, reply=answer, address=None):
        """A test's server in place of the one before."""
        if zone in self.scripted:
            self.scripted[zone].close()
        self.scripted[zone] = Server(self, address or SCRIPTED[zone], reply)
        return self.scripted[zone]


class World:
    """A lab, the tree in it, and volleyd that recurses for the clients of ALLOW."""

    def __init__(self, folder, zones):
        self.folder = pathlib.Path(folder)
        self.lab = Lab()
        try:
            self.add_outsiders()
            self.tree = Tree(self.lab, zones, self.folder)
        except BaseException:
            self.lab.close()
            raise
        self.daemon = Daemon(self.lab, self.folder)

    def add_outsiders(self):
        for address, bits in ((OUTSIDE4, 24), (OUTSIDE6, 64)):
            self.lab.ip("c", "address", "add", f"{address}/{bits}", "dev", "c0",
                        *(["nodad"] if ":" in address else []))
            self.lab.ip("s", "neighbour", "replace", address, "lladdr", "02:00:00:00:00:01",
                        "dev", "s0", "nud", "permanent")

    def recursion(self, **keys):
        """The section of the configuration; a _ of a key is a -, None takes a key out."""
        section = {"allow": ALLOW, "root-hints": str(self.tree.zones.hints),
                   "trust-anchor": str(self.tree.zones.anchor), "prefetch": False,
                   **{key.replace("_", "-"): value for key, value in keys.items()}}
        return {key: value for key, value in section.items() if value is not None}

    def start(self, xdp="native", keys=None, **sections):
        """KEYS are of the recursion section. Sets self.interfaces."""
        self.interfaces = sections.setdefault("interfaces", [iface(xdp=xdp)])
        return self.daemon.start(recursion=self.recursion(**(keys or {})), **sections)

    def unbound(self):
        """unbound in place of volleyd: shows the tree as a known resolver sees it."""
        zones = self.tree.zones
        self.tree.popen_unbound(
            f"interface: {V4}", f"interface: {V6}", f"root-hints: {zones.hints}",
            f"trust-anchor-file: {zones.anchor}", f"access-control: {CLIENT4}/32 allow",
            f"access-control: {CLIENT6}/128 allow", "ede: yes", "val-log-level: 2",
            "outbound-msg-retry: 2")
        wait_for("unbound", lambda: self.lab.is_answered(".", "SOA"), 10)

    def delv(self, name, kind):
        """The verdict of a validating client that asks us: a word for each part of the answer."""
        key = re.search(r"DNSKEY\s+(\d+ \d+ \d+) (\S+)",
                        self.tree.zones.anchor.read_text(encoding="ascii"))
        path = self.folder / "delv.conf"
        path.write_text(f'trust-anchors {{ . static-key {key[1]} "{key[2]}"; }};\n',
                        encoding="ascii")
        said = self.lab.exec("c", "delv", f"@{V4}", "-b", CLIENT4, "-a", path, "+root=.", name,
                             kind)
        return re.findall(r"^;+ (.*validated|unsigned answer|resolution failed: failure)$",
                          said.stdout + said.stderr, re.M)

    def close(self):
        """True if volleyd ended well, or was not there."""
        try:
            return self.daemon.clean_up()
        finally:
            self.tree.close()
            self.lab.close()


@contextlib.contextmanager
def world_of(folder, zones):
    world = World(folder, zones)
    try:
        yield world
    except BaseException:
        world.close()
        raise
    assert world.close(), f"volleyd did not end with status 0:\n{world.daemon.log()}"


def skip_unless_possible():
    lacking = missing() + [tool for tool in ("delv", "dnsperf", "gcc", "unbound")
                           if not installed(tool)]
    if os.geteuid() or lacking:
        pytest.skip(f"not installed: {lacking}" if lacking else "needs root")


# --- Asking ---------------------------------------------------------------------------------------


def query(name, kind="A", flags="rd", do=False, payload=1232, options=(), edns=True, **kwargs):
    """FLAGS: those that are set, as text: "rd ad"."""
    made = dns.message.make_query(name, kind, **kwargs)
    made.flags = dns.flags.from_text(flags.upper())
    if edns or do or options:
        made.use_edns(0, dns.flags.DO if do else 0, payload, options=list(options))
    return made


EXPIRE = dns.edns.GenericOption(9, b"")  # RFC 7314: the driver leaves it to the workers


def ask(lab, made, where=V4, source=None, tcp=False, timeout=TIMEOUT + 4):
    """
    The answer to a query, from a client's address, over UDP or TCP; over TLS where TCP is a context
    of it.
    """
    kind = socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM
    with lab.socket("c", family_of(where), kind) as sock:
        sock.settimeout(timeout)
        sock.bind((source or (CLIENT6 if ":" in where else CLIENT4), 0))
        sock.connect((where, 853 if isinstance(tcp, ssl.SSLContext) else 53))
        wire = made.to_wire()
        if isinstance(tcp, ssl.SSLContext):
            with tcp.wrap_socket(sock) as stream:
                stream.sendall(struct.pack("!H", len(wire)) + wire)
                reply = receive(stream)
        elif tcp:
            sock.sendall(struct.pack("!H", len(wire)) + wire)
            reply = dns.query.receive_tcp(sock, time.time() + timeout)[0]
        else:
            sock.send(wire)
            reply = dns.message.from_wire(sock.recv(65535))
    assert made.is_response(reply), f"{made}\n{reply}"
    return reply


def read(stream, n):
    """As many octets of a connection."""
    octets = b""
    while len(octets) < n:
        more = stream.recv(n - len(octets))
        if not more:
            raise EOFError
        octets += more
    return octets


def receive_wire(stream):
    """The next message of a connection, over TLS too."""
    return read(stream, int.from_bytes(read(stream, 2), "big"))


def receive(stream):
    return dns.message.from_wire(receive_wire(stream))


def anyone():
    """A TLS context that trusts any server."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class TlsInMemory:
    """TLS over a connected socket: the test decides when the records of `stream` are sent."""

    def __init__(self, sock):
        self.sock, self.inwards, self.outwards = sock, ssl.MemoryBIO(), ssl.MemoryBIO()
        self.stream = anyone().wrap_bio(self.inwards, self.outwards)

    def finish(self, step):
        """Calls STEP until it needs no more from the server, whose octets may come in parts."""
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.sock.sendall(self.outwards.read())
                octets = self.sock.recv(65536)
                assert octets, "the server has closed the connection"
                self.inwards.write(octets)


def answers(lab, made, seconds=1, **kwargs):
    """The records of the answer; None if there is no reply in time."""
    try:
        return records(ask(lab, made, timeout=seconds, **kwargs))
    except TimeoutError:
        return None


def codes(reply):
    """The extended errors of a reply."""
    return [int(option.code) for option in reply.options if option.otype == dns.edns.OptionType.EDE]


def has(reply, flag):
    return bool(reply.flags & dns.flags.from_text(flag))


def records(reply, section="answer"):
    """["TYPE data"] of a section in its order, without signatures and denials."""
    return [f"{dns.rdatatype.to_text(rrset.rdtype)} {data}" for rrset in getattr(reply, section)
            for data in rrset if rrset.rdtype not in (46, 47, 50)]


def ttls(reply):
    """{"owner type": TTL} of all sections, "owner RRSIG type" of signatures."""
    return {" ".join([str(rrset.name).lower(), dns.rdatatype.to_text(rrset.rdtype)] +
                     [dns.rdatatype.to_text(rrset.covers)] * bool(rrset.covers)): rrset.ttl
            for part in (reply.answer, reply.authority, reply.additional) for rrset in part}


def by(daemon, call):
    """(The source of the answer, the result of CALL)."""
    with Answered(daemon) as one:
        result = call()
    return one.by, result
