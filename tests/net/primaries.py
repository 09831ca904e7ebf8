# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Primaries in their own namespace: knotd, nsd and named, each with a zone that a test can change,
and a scripted one that breaks the rules. The secondary that asks them is tests/net/transferin.c.
"""
import base64
import contextlib
import json
import queue
import shutil
import socket
import subprocess
import threading

import dns.flags
import dns.message
import dns.rdatatype
import dns.renderer
import dns.rrset

from netlab import ENV, TOOLS, family_of, run, wait_for
from rivals import named_alone
from upstreams import Netns

ZONE = "example.test."
SECRETS = {"sha256": bytes(range(32)), "sha384": bytes(range(48)), "sha512": bytes(range(64)),
           "sha224": bytes(range(28)), "sha1": bytes(range(20)), "md5": bytes(range(16))}
NEEDED = ("ip", "knotd", "knotc", "nsd", "nsd-control", "named", "nsupdate", "openssl")


def missing():
    return [tool for tool in NEEDED if not shutil.which(tool, path=ENV["PATH"])]


def zone_text(serial, more="", refresh=3600, retry=900, expire=86400):
    return (f"$TTL 300\n@ IN SOA ns hostmaster {serial} {refresh} {retry} {expire} 60\n@ IN NS ns\n"
            f"ns IN A 192.0.2.53\nwww IN A 192.0.2.10\n*.w IN TXT \"Hello\" \"World\"\n{more}")


def secret(algorithm):
    return base64.b64encode(SECRETS[algorithm]).decode()


class Primary:
    """One of the three, with the zone in FOLDER/kind.zone."""
    kind, has_tls = None, False

    def __init__(self, netns, address, algorithm=None, tls=None, text=None, notify=None):
        self.netns, self.address, self.algorithm, self.tls = netns, address, algorithm, tls
        self.notify = notify
        self.is6 = ":" in address
        self.folder = netns.folder / f"{self.kind}-{address.replace(':', '-')}"
        self.folder.mkdir()
        # named listens on addresses that an interface has only
        if self.is6 or self.kind == "named":
            netns.has_address(address)
        self.file = self.folder / "zone"
        self.file.write_text(text or zone_text(1), encoding="ascii")
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = self.netns.popen(*self.configure(), stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        wait_for(f"{self.kind} answers", self.serial, 30)

    def serial(self):
        """The serial number that it answers with; 0: it does not answer."""
        assert self.process.poll() is None, (self.folder / "log").read_text(encoding="utf-8")
        with self.netns.socket(socket.SOCK_DGRAM, family_of(self.address)) as sock:
            sock.settimeout(0.2)
            try:
                sock.sendto(dns.message.make_query(ZONE, "SOA").to_wire(), (self.address, 53))
                answer = dns.message.from_wire(sock.recv(512)).answer
            except OSError:
                return 0
            return answer[0][0].serial if answer else 0

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def configure(self):
        raise NotImplementedError

    def add(self, serial, name, address):
        raise NotImplementedError

    def change(self, serial, name, address):
        """One more address; the serial number has to be the next one."""
        self.add(serial, name, address)
        self.wait_serial(serial)

    def wait_serial(self, serial):
        wait_for(f"{self.kind} has {serial}", lambda: self.serial() == serial, 20)

    def reload(self, serial):
        """The file has been changed: how knotd and nsd are told."""
        self.run(*self.to_reload, ZONE)
        self.wait_serial(serial)

    def run(self, *words, **kwargs):
        return run("nsenter", f"--net=/run/netns/{self.netns.name}", "--", *words, **kwargs)


class Knot(Primary):
    kind = "knotd"

    def configure(self):
        key = f"key:\n  - id: k1\n    algorithm: hmac-{self.algorithm}\n" \
              f"    secret: {secret(self.algorithm)}\n" if self.algorithm else ""
        allow = "key: k1" if self.algorithm else 'address: [0.0.0.0/0, "::/0"]'
        to = f"remote:\n  - id: there\n    address: {self.notify}@53\n" \
             f"{'    key: k1' if self.algorithm else ''}\n" if self.notify else ""
        self.conf = self.folder / "knot.conf"
        self.to_reload = ("knotc", "-c", self.conf, "zone-reload")
        self.conf.write_text(f"""server:
    rundir: {self.folder}
    listen: {self.address}@53
    tcp-workers: 1
    udp-workers: 1
    background-workers: 1
{key}{to}acl:
  - id: them
    {allow}
    action: transfer
database:
    storage: {self.folder}
log:
  - target: stderr
    any: info
zone:
  - domain: {ZONE}
    file: {self.file}
    zonefile-sync: -1
    zonefile-load: difference
    acl: them
{"    notify: there" if self.notify else ""}
""", encoding="ascii")
        return ["knotd", "-c", self.conf]

    def add(self, _serial, name, address):
        for words in (("zone-begin", ZONE), ("zone-set", ZONE, name, 60, "A", address),
                      ("zone-commit", ZONE)):
            self.run("knotc", "-c", self.conf, *words)


class Nsd(Primary):
    kind, has_tls = "nsd", True

    def start(self):
        super().start()
        self.n_processes = self.count_processes()

    def count_processes(self):
        n = 0
        for pid in run("ip", "netns", "pids", self.netns.name).stdout.split():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="ascii") as comm:
                n += comm.read().startswith("nsd")
        return n

    def wait_serial(self, serial):
        """
        It goes on with other processes; as long as the ones before are there, they answer, too.
        """
        super().wait_serial(serial)
        wait_for("the processes before have gone",
                 lambda: self.count_processes() <= self.n_processes, 20)

    def configure(self):
        key = f"key:\n  name: k1\n  algorithm: hmac-{self.algorithm}\n" \
              f"  secret: \"{secret(self.algorithm)}\"\n" if self.algorithm else ""
        tls = f"  ip-address: {self.address}@853\n  tls-port: 853\n  tls-service-key: {self.tls}\n" \
              f"  tls-service-pem: {self.tls}\n" if self.tls else ""
        to = (f"  notify: {self.notify} {'k1' if self.algorithm else 'NOKEY'}\n" if self.notify
              else "")
        self.conf = self.folder / "nsd.conf"
        self.to_reload = ("nsd-control", "-c", self.conf, "reload")
        self.conf.write_text(f"""server:
  ip-address: {self.address}@53
{tls}  database: ""
  pidfile: {self.folder}/pid
  username: ""
  zonesdir: {self.folder}
  xfrdfile: {self.folder}/xfrd
  zonelistfile: {self.folder}/zonelist
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: yes
  control-interface: {self.folder}/control
{key}zone:
  name: {ZONE}
  zonefile: {self.file}
  provide-xfr: {"::/0" if self.is6 else "0.0.0.0/0"} {"k1" if self.algorithm else "NOKEY"}
{to}  store-ixfr: yes
  create-ixfr: yes
""", encoding="ascii")
        return ["nsd", "-d", "-c", self.conf]

    def add(self, serial, name, address):
        more = self.file.read_text(encoding="ascii").split("World\"\n", 1)[1]
        self.file.write_text(zone_text(serial, f"{more}{name} 60 IN A {address}\n"),
                             encoding="ascii")
        self.run(*self.to_reload, ZONE)


class Named(Primary):
    kind, has_tls = "named", True

    def configure(self):
        key = f'key "k1" {{ algorithm hmac-{self.algorithm}; secret "{secret(self.algorithm)}"; }};\n' \
            if self.algorithm else ""
        tls = (f'tls mine {{ key-file "{self.tls}"; cert-file "{self.tls}"; }};\n' if self.tls
               else "")
        mine = ("none;", f"{self.address};")
        listen = f"listen-on{'-v6' if self.is6 else ''} port 853 tls mine {{ {self.address}; }};" \
            if self.tls else ""
        allow = 'key "k1";' if self.algorithm else "any;"
        told = f"notify explicit; also-notify {{ {self.notify}{' key k1' if self.algorithm else ''}; }};" \
            if self.notify else "notify no;"
        self.conf = self.folder / "named.conf"
        self.conf.write_text(f"""{key}{tls}options {{
  directory "{self.folder}"; pid-file "{self.folder}/pid"; session-keyfile "{self.folder}/session";
  {named_alone()} {listen}
  listen-on {{ {mine[not self.is6]} }}; listen-on-v6 {{ {mine[self.is6]} }};
  recursion no; dnssec-validation no; {told} notify-delay 0; allow-transfer {{ {allow} }}; check-integrity no;
}};
controls {{ }};
zone "{ZONE}" {{ type primary; file "{self.file}"; allow-update {{ any; }}; }};
""", encoding="ascii")
        return ["named", "-f", "-n", "1", "-6" if self.is6 else "-4", "-c", self.conf]

    def add(self, _serial, name, address):
        self.run("nsupdate", input=f"server {self.address}\nlocal {self.address}\nzone {ZONE}\n"
                 f"update add {name}.{ZONE} 60 A {address}\nsend\n")


KINDS = {kind.kind: kind for kind in (Knot, Nsd, Named)}


class Scripted:
    """A primary of which functions say what it does: udp(query) and tcp(query, connection) give
    octets, or None, or (tcp) an iterable of messages. Queries come with their wire form in .wire.
    It knows from which addresses it was asked."""

    def __init__(self, netns, address, udp=None, tcp=None, keyring=None):
        self.keyring, self.on_udp, self.on_tcp = keyring, udp, tcp
        self.seen, self.peers, self.n_connections, self.asked_from = [], [], 0, None
        if ":" in address:
            netns.has_address(address)
        self.udp, self.tcp = (netns.socket(kind, family_of(address))
                              for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM))
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.udp.bind((address, 53))
        self.tcp.bind((address, 53))
        self.tcp.listen(64)
        netns.scripted[address] = self
        for one in (self.serve_udp, self.serve_tcp):
            threading.Thread(target=one, daemon=True).start()

    def read(self, wire):
        query = dns.message.from_wire(wire, keyring=self.keyring)
        query.wire = wire
        self.seen.append(dns.rdatatype.to_text(query.question[0].rdtype))
        return query

    def serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                wire, peer = self.udp.recvfrom(4096)
                if not wire:
                    continue
                self.peers.append(("udp", peer[0]))
                self.asked_from = peer
                out = self.on_udp(self.read(wire)) if self.on_udp else None
                if out:
                    self.udp.sendto(out, peer)

    def serve_tcp(self):
        with contextlib.suppress(OSError):
            while True:
                connection, peer = self.tcp.accept()
                self.peers.append(("tcp", peer[0]))
                self.n_connections += 1
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            while size := connection.recv(2, socket.MSG_WAITALL):
                wire = connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
                out = self.on_tcp(self.read(wire), connection) if self.on_tcp else None
                if out is None:
                    return
                for message in [out] if isinstance(out, bytes) else out:
                    connection.sendall(len(message).to_bytes(2, "big") + message)

    def close(self):
        for sock in (self.udp, self.tcp):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


def soa(serial, refresh=3600, retry=900, expire=86400):
    return dns.rrset.from_text(ZONE, 300, "IN", "SOA",
                               f"ns.{ZONE} hostmaster.{ZONE} {serial} {refresh} {retry} {expire} 60")


def records():
    return [dns.rrset.from_text(ZONE, 300, "IN", "NS", f"ns.{ZONE}"),
            dns.rrset.from_text(f"ns.{ZONE}", 300, "IN", "A", "192.0.2.53")]


def reply(query, *answers):
    message = dns.message.make_response(query)
    message.flags |= dns.flags.AA
    message.answer = list(answers)
    return message


def whole(query, serial, **times):
    return wire(reply(query, soa(serial, **times), *records(), soa(serial, **times)))


def wire(message):
    """As it is: the SOA at the end stays there."""
    r = dns.renderer.Renderer(message.id, message.flags, 65535)
    for question in message.question:
        r.add_question(question.name, question.rdtype, question.rdclass)
    for rrset in message.answer:
        r.add_rrset(dns.renderer.ANSWER, rrset)
    r.write_header()
    return r.get_wire()


class Mood:
    """Its present behaviour; a test can change it while the server runs."""

    def __init__(self, scene, address, serial=1, **times):
        self.serial, self.times, self.tcp, self.udp = serial, times, None, None
        self.server = Scripted(scene, address, self.answer_udp, self.answer_tcp)

    def answer_udp(self, query):
        if self.udp:
            return self.udp(query)
        return wire(reply(query, soa(self.serial, **self.times)))

    def answer_tcp(self, query, connection):
        if self.tcp:
            return self.tcp(query, connection)
        return whole(query, self.serial, **self.times)


class Scene(Netns):
    """The namespace; its primaries, and secondaries that are told of them."""

    def __init__(self, folder, name=None):
        super().__init__(folder, name)
        self.secondaries = []

    def has_address(self, address):
        """On its loopback, unless another interface has it."""
        if not run("ip", "-n", self.name, "address", "show", "to", address).stdout:
            run("ip", "-n", self.name, "address", "add",
                f"{address}/{128 if ':' in address else 32}", "dev", "lo",
                *(("nodad",) if ":" in address else ()))

    def start(self, kind, address, **kwargs):
        return KINDS[kind](self, address, **kwargs)

    def secondary(self, remotes, keys=(), zones=None, server=None, clock=None, **zone):
        """REMOTES: name: address, or a dict of what the configuration says. CLOCK: its clocks."""
        remotes = [{"name": name, **(r if isinstance(r, dict) else {"address": [r]})}
                   for name, r in remotes.items()]
        made = Secondary(self, {
            "server": {"listen": ["127.0.0.1@5300"], "storage": str(self.folder / "storage"),
                       **(server or {})},
            "control": {"socket": str(self.folder / "control.sock")},
            "keys": [{"name": "k1", "algorithm": f"hmac-{a}",
                      "secret": base64.b64encode(s).decode()}
                     for a, s in keys],
            "remotes": remotes,
            "zones": zones or [{"name": ZONE, "primaries": [r["name"] for r in remotes], **zone}],
        }, clock)
        self.secondaries.append(made)
        return made

    def close(self):
        try:
            for secondary in self.secondaries:
                secondary.close()
        finally:
            super().close()


class Secondary:
    """transferin.c, running; its lines as tuples of fields."""

    def __init__(self, netns, config, clock=None):
        path = netns.folder / "secondary.yaml"
        path.write_text(json.dumps({k: v for k, v in config.items() if v}), encoding="utf-8")
        words = ["env", *(f"{k}={v}" for k, v in clock.env.items())] if clock else []
        self.process = netns.popen(*words, TOOLS / "transferin", path, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        assert self.next(30) == ("ready",)

    def read(self):
        for line in self.process.stdout:
            self.lines.put(tuple(line.rstrip("\n").split("\t")))
        self.lines.put(None)

    def next(self, seconds=10):
        line = self.lines.get(timeout=seconds)
        assert line, f"transferin ended with status {self.process.wait(20)}"
        return line

    def expect(self, *fields, seconds=10):
        """The next line begins so."""
        line = self.next(seconds)
        assert line[:len(fields)] == fields, line
        return line

    def say(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def refresh(self, *more):
        self.say("refresh", ZONE, *more)
        self.expect("asked", "Success")

    def has(self, path):
        """Is the zone the one of this file?"""
        self.say("digest", ZONE, str(path))
        return self.expect("digest")[1] == "same"

    def status(self):
        """(running, remote, error)"""
        self.say("status", ZONE)
        line = self.expect("status")
        return line[1] == "1", line[2], line[3]

    def error(self):
        """Why it failed, as soon as it has."""
        return wait_for("an attempt fails", lambda: self.status()[2], 20)

    def is_quiet(self):
        """Nothing was said that nobody has read."""
        return self.lines.empty()

    def close(self):
        self.process.stdin.close()
        status = self.process.wait(20)
        assert status == 0, f"transferin: status {status}"
