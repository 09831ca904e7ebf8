# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstreams for the resolver, in their own network namespace, on its loopback addresses.

nsd serves a signed root, a signed top level domain "lab." and leaf zones, each level from its own
address, so a resolver has to follow referrals. Scripted servers, in threads of this process, break
the rules.
"""
import contextlib
import ctypes
import itertools
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset

from netlab import ENV, TOOLS, inside_netns, run, wait_for

_numbers = itertools.count()

ROOT_NS, TLD_NS, LEAF_NS, LAME_NS = "127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.4"
NEEDED = ("ip", "nsd", "ldns-keygen", "ldns-signzone", "dnssec-dsfromkey")

HEAD = "$TTL 300\n@ SOA ns hostmaster 1 7200 3600 1209600 60\n@ NS ns\nns A {}\n"

# leaf: (the address of its server, options of ldns-signzone; None: not signed)
LEAVES = {"good.lab.": (LEAF_NS, ()), "bogus.lab.": (LEAF_NS, ()), "plain.lab.": (LEAF_NS, None),
          "hashed.lab.": (LEAF_NS, ("-n", "-t", "0"))}
LEAF = HEAD + """www A 192.0.2.80
alias CNAME www
far CNAME www.plain.lab.
one CNAME two
two CNAME three
three CNAME www
tree DNAME good.lab.
*.wild A 192.0.2.9
private A 10.1.2.3
"""

# scripted leaves, and those whose servers are of no use
SCRIPTED = {"trunc.lab.": "127.0.1.10", "late.lab.": "127.0.1.11", "wrongid.lab.": "127.0.1.12",
            "silent.lab.": "127.0.1.13", "case.lab.": "127.0.1.14", "qps.lab.": "127.0.1.15",
            "other.lab.": "127.0.1.16"}
LAME = """halflame NS ns1.halflame
halflame NS ns2.halflame
ns1.halflame A 127.0.1.4
ns2.halflame A 127.0.1.14
lame NS ns.lame
ns.lame A 127.0.1.4
"""


def missing():
    return [tool for tool in NEEDED if not shutil.which(tool, path=ENV["PATH"])]


def unbound_version():
    """Of the libunbound that volleyd is linked with: "1.17.1"."""
    library = ctypes.CDLL("libunbound.so.8")
    library.ub_version.restype = ctypes.c_char_p
    return library.ub_version().decode()


def sign(folder, origin, text, *options):
    """FOLDER/ORIGINsigned; (its DS record, the file of its key)."""
    (folder / f"{origin}zone").write_text(text)
    key = run("ldns-keygen", "-k", "-a", "ECDSAP256SHA256", origin, cwd=folder).stdout.strip()
    run("ldns-signzone", "-A", *options, "-o", origin, "-f", origin + "signed", origin + "zone",
        key, cwd=folder)
    return (run("dnssec-dsfromkey", "-2", key + ".key", cwd=folder).stdout, folder / (key + ".key"))


def alter(path, owner, kind):
    """Changes one letter of the signature of a record set."""
    text, n = re.subn(rf"({re.escape(owner)}\t\d+\tIN\tRRSIG\t{kind} .* )(.)(\S+)",
                      lambda m: m[1] + ("B" if m[2] == "A" else "A") + m[3], path.read_text())
    assert n == 1, n
    path.write_text(text)


def address_answer(query, address="192.0.2.80"):
    """An authoritative answer with one address to a question for A; to others NODATA."""
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.AA
    question = query.question[0]
    if question.rdtype == 1:
        reply.answer.append(dns.rrset.from_text(question.name, 300, "IN", "A", address))
    else:
        reply.authority.append(dns.rrset.from_text(
            ".".join(str(question.name).rsplit(".", 3)[1:]), 300, "IN", "SOA",
            "ns. hostmaster. 1 7200 3600 1209600 60"))
    return reply


class Scripted:
    """A server of which a function says what it does: reply(query, tcp) gives octets or None."""

    def __init__(self, netns, address, reply, port=53):
        self.reply, self.seen, self.silent, self.delay_s = reply, [], False, 0
        self.ports = []    # the source ports of the datagrams
        self.udp = netns.socket(socket.SOCK_DGRAM)
        self.tcp = netns.socket(socket.SOCK_STREAM)
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.udp.bind((address, port))
        self.tcp.bind((address, port))
        self.tcp.listen(16)
        self.threads = [threading.Thread(target=one, daemon=True)
                        for one in (self.serve_udp, self.serve_tcp)]
        for thread in self.threads:
            thread.start()

    def answer(self, wire, tcp):
        if self.silent:
            return None
        query = dns.message.from_wire(wire)
        self.seen.append(str(query.question[0].name))
        return self.reply(query, tcp)

    def serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                wire, peer = self.udp.recvfrom(4096)
                if wire:
                    self.ports.append(peer[1])
                out = self.answer(wire, False) if wire else None
                if out and self.delay_s:
                    threading.Timer(self.delay_s, self.send_udp, (out, peer)).start()
                elif out:
                    self.send_udp(out, peer)

    def send_udp(self, out, peer):
        with contextlib.suppress(OSError):  # a late answer may come after close()
            self.udp.sendto(out, peer)

    def serve_tcp(self):
        with contextlib.suppress(OSError):
            while True:
                conn, _ = self.tcp.accept()
                with conn, contextlib.suppress(OSError):
                    conn.settimeout(2)
                    while size := conn.recv(2):
                        out = self.answer(conn.recv(int.from_bytes(size, "big")), True)
                        if out:
                            conn.sendall(len(out).to_bytes(2, "big") + out)

    def close(self):
        for sock in (self.udp, self.tcp):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


class Netns:
    """A network namespace with its loopback up: one of its own, or one that is there and stays."""

    def __init__(self, folder, name=None):
        self.folder = pathlib.Path(folder)
        self.name, self.is_own = name or f"vtr{os.getpid()}-{next(_numbers)}", not name
        self.processes, self.scripted = [], {}
        if self.is_own:
            run("ip", "netns", "add", self.name)
            run("ip", "-n", self.name, "link", "set", "lo", "up")

    def socket(self, kind, domain=socket.AF_INET):
        with inside_netns(self.name):
            return socket.socket(domain, kind)

    def popen(self, *command, **kwargs):
        words = ["nsenter", f"--net=/run/netns/{self.name}", "--", *map(str, command)]
        self.processes.append(subprocess.Popen(words, env=ENV, cwd=self.folder, **kwargs))
        return self.processes[-1]

    def run(self, *command):
        """In the namespace, to its end."""
        return run("nsenter", f"--net=/run/netns/{self.name}", "--", *command, check=False,
                   stdin=subprocess.DEVNULL)

    def script(self, zone, reply, address=None):
        self.scripted[zone] = Scripted(self, address or SCRIPTED[zone], reply)
        return self.scripted[zone]

    def nsd(self, address, zones, *more_addresses):
        """ZONES: {origin: file}."""
        listen = "".join(f"  ip-address: {one}@53\n" for one in (address, *more_addresses))
        lines = "".join(f'zone:\n  name: "{z}"\n  zonefile: {f}\n' for z, f in zones.items())
        (self.folder / f"nsd-{address}.conf").write_text(f"""server:
{listen}  database: ""
  pidfile: {self.folder}/nsd-{address}.pid
  username: ""
  zonesdir: {self.folder}
  xfrdfile: {self.folder}/xfrd-{address}
  zonelistfile: {self.folder}/zonelist-{address}
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
{lines}""")
        with open(self.folder / f"nsd-{address}.log", "wb") as log:
            process = self.popen("nsd", "-d", "-c", f"nsd-{address}.conf", stdout=log, stderr=log)
        wait_for(f"nsd answers on {address}", lambda: self.is_answering(address), 10)
        return process

    def popen_unbound(self, *options, clauses="", name="unbound"):
        """
        An unbound that logs to NAME.log and takes no commands. OPTIONS are lines of its section "server",
        CLAUSES are other sections. The caller waits until it answers.
        """
        lines = "".join(f"  {option}\n" for option in options)
        (self.folder / f"{name}.conf").write_text(f"""server:
  use-syslog: no
  username: ""
  chroot: ""
  directory: {self.folder}
  pidfile: {self.folder}/{name}.pid
{lines}remote-control:
  control-enable: no
{clauses}""", encoding="ascii")
        with open(self.folder / f"{name}.log", "wb") as log:
            return self.popen("unbound", "-d", "-c", f"{name}.conf", stdout=log, stderr=log)

    def is_answering(self, address):
        with self.socket(socket.SOCK_DGRAM) as sock:
            sock.settimeout(0.2)
            try:
                sock.sendto(dns.message.make_query(".", "SOA").to_wire(), (address, 53))
                return sock.recv(512)
            except OSError:
                return None

    def close(self):
        for scripted in self.scripted.values():
            scripted.close()
        for process in self.processes:
            for pid in family(process.pid) if process.poll() is None else ():
                os.kill(pid, signal.SIGCONT)
            process.terminate()
        for process in self.processes:
            process.wait(20)
        if self.is_own:
            run("ip", "netns", "del", self.name)


class Tree(Netns):
    """The namespace with the tree of zones in it."""

    def __init__(self, folder):
        super().__init__(folder)
        try:
            self.make_zones()
            self.nsd(ROOT_NS, {".": ".signed"})
            self.nsd(TLD_NS, {"lab.": "lab.signed"})
            self.nsd(LEAF_NS, {z: z + ("zone" if how is None else "signed")
                               for z, (_, how) in LEAVES.items()})
            self.nsd(LAME_NS, {"elsewhere.": "plain.lab.zone"})
        except BaseException:
            self.close()
            raise

    def make_zones(self):
        tld = HEAD.format(TLD_NS) + LAME
        for zone, (address, how) in LEAVES.items():
            text = LEAF.format(address)
            name = zone.split(".")[0]
            tld += f"{name} NS ns.{name}\nns.{name} A {address}\n"
            if how is None:
                (self.folder / f"{zone}zone").write_text(text)
            else:
                tld += sign(self.folder, zone, text, *how)[0]
        alter(self.folder / "bogus.lab.signed", "www.bogus.lab.", "A")
        for zone, address in SCRIPTED.items():
            name = zone.split(".")[0]
            tld += f"{name} NS ns.{name}\nns.{name} A {address}\n"
        ds, _ = sign(self.folder, "lab.", tld)
        root = f"{HEAD.format(ROOT_NS)}lab NS ns.lab\nns.lab A {TLD_NS}\n{ds}"
        _, self.anchor = sign(self.folder, ".", root)
        self.hints = self.folder / "hints"
        self.hints.write_text(f". 3600 IN NS ns.\nns. 3600 IN A {ROOT_NS}\n")


def family(pid):
    """A process and all below it."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [pid] + [one for child in children.split() for one in family(int(child))]


class Resolve:
    """tests/net/resolve.c, running. Lines that it prints are read as they come."""

    def __init__(self, netns, *options, anchor=True):
        words = [TOOLS / "resolve"]
        if hasattr(netns, "hints"):
            words += ["-r", netns.hints]
        if hasattr(netns, "anchor") and anchor:
            words += ["-a", netns.anchor]
        self.process = netns.popen(*words, *options, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True)
        assert self.line() == "ready"

    def line(self):
        text = self.process.stdout.readline()
        assert text, f"resolve ended with status {self.process.wait(20)}"
        return text.rstrip("\n")

    def say(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def answer(self):
        return Answer(self.line())

    def ask(self, name, kind="A", *more):
        self.say(" ".join((name, kind, *more)))
        return self.answer()

    def counters(self):
        self.say("counters")
        return as_counters(self.line())

    def rss_kib(self):
        # nsenter executes the program, so its process is this one
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def close(self):
        """Ends it. (Questions that the stop completed, the last counters, seconds.)"""
        start = time.monotonic()
        out, _ = self.process.communicate(timeout=90)
        seconds = time.monotonic() - start
        assert self.process.returncode == 0, out
        stopped, counters = out.splitlines()[-2:]
        return int(stopped.split()[1]), as_counters(counters), seconds


class Answer:
    def __init__(self, line):
        words = line.split("\t")
        assert words[0] == "answer", line
        _, self.name, self.kind, self.rcode, self.security, ede, wire, self.why = words
        self.ede = int(ede)
        self.message = dns.message.from_wire(bytes.fromhex(wire)) if wire else None

    def brief(self):
        return self.rcode, self.security, self.ede

    def texts(self, kind):
        """The data of all records of a type in the answer section."""
        return sorted(str(data) for rrset in self.message.answer for data in rrset
                      if dns.rdatatype.to_text(rrset.rdtype) == kind)


def as_counters(line):
    words = line.split()
    assert words[0] == "counters", line
    return {name: int(value) for name, value in (word.split("=") for word in words[1:])}
