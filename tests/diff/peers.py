# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Volley and its peers with the same zones, each on a port of 127.0.0.1, with folders of their own.

One worker each, so that a server answers in the order in which it was asked.
"""
import contextlib
import ctypes
import os
import pathlib
import shutil
import socket
import subprocess
import time

from rivals import named_alone

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("VOLLEY_BIN", ROOT / "build" / "bin"))
PATH = f"{BIN}:{os.environ['PATH']}:/usr/sbin:/sbin"
CLONE_NEWNET = 0x40000000  # unshare(2)


def volleyd(folder, port, zones, server="any: full"):
    lines = "".join(f'  - name: "{z}"\n    file: {file}\n' for z, file in zones.items())
    (folder / "volley.yaml").write_text(f"""
server:
  listen: ["127.0.0.1@{port}"]
  workers: 1
  {server}
cache:
  size: 64M
rrl:
  answers: 0
  octets: 0
control:
  socket: {folder}/control.sock
zones:
{lines}""")
    return ["volleyd", "-c", "volley.yaml"]


def knotd(folder, port, zones, transfers=False):
    lines = "".join(f"  - domain: {z}\n    file: {file}\n" for z, file in zones.items())
    (folder / "knot.conf").write_text(f"""
server:
    rundir: {folder}
    listen: 127.0.0.1@{port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    tcp-idle-timeout: 600
database:
    storage: {folder}
acl:
  - id: all
    address: 127.0.0.0/8
    action: transfer
template:
  - id: default
{"    acl: all" if transfers else ""}
    zonefile-sync: -1
    journal-content: none
    semantic-checks: off
zone:
{lines}""")
    return ["knotd", "-c", "knot.conf"]


def nsd(folder, port, zones):
    lines = "".join(f"zone:\n  name: {z}\n  zonefile: {file}\n" for z, file in zones.items())
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
  tcp-timeout: 600
remote-control:
  control-enable: no
{lines}""")
    return ["nsd", "-d", "-c", "nsd.conf"]


def named(folder, port, zones):
    lines = "".join(f'zone "{z}" {{ type primary; file "{file}"; }};\n'
                    for z, file in zones.items())
    (folder / "named.conf").write_text(f"""
options {{
  directory "{folder}";
  listen-on port {port} {{ 127.0.0.1; }};
  listen-on-v6 {{ none; }};
  pid-file "{folder}/named.pid";
  session-keyfile "{folder}/session.key"; {named_alone()}
  recursion no;
  dnssec-validation no;
  minimal-responses no;
  answer-cookie no;
  check-names primary ignore;
  check-integrity no;
  notify no;
  allow-transfer {{ none; }};
  empty-zones-enable no;
  max-records-per-type 0;
  max-types-per-name 0;
  tcp-idle-timeout 1200;
}};
controls {{ }};
logging {{
  category default {{ null; }};
  category general {{ default_stderr; }};
  category zoneload {{ default_stderr; }};
}};
{lines}""")
    return ["named", "-f", "-n", "1", "-c", "named.conf"]


PEERS = {"knotd": knotd, "nsd": nsd, "named": named}
ALL = {"volleyd": volleyd, **PEERS}


def missing():
    """The peers that are not installed."""
    return [p for p in PEERS if not shutil.which(p, path=PATH)]


@contextlib.contextmanager
def own_loopback():
    """
    This thread and what it starts, over a `with`, in a network namespace that has a loopback and
    nothing else: no other program takes the port that a server is about to get. Without root it
    stays where it is.
    """
    if os.geteuid():
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net", encoding="ascii") as home:
        assert not libc.unshare(CLONE_NEWNET), os.strerror(ctypes.get_errno())
        try:
            subprocess.run([shutil.which("ip", path=PATH), "link", "set", "lo", "up"], check=True)
            yield
        finally:
            assert not libc.setns(home.fileno(), 0), os.strerror(ctypes.get_errno())


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


class Process:
    """A server that runs in a folder of its own, where its log is."""

    def begin(self, argv, folder):
        self.folder = folder
        with open(folder / "log", "ab") as log:
            self.process = subprocess.Popen([shutil.which(argv[0], path=PATH), *argv[1:]],
                                            stdout=log, stderr=log, cwd=folder)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Server(Process):
    """A running server. ZONES: {origin: file}."""

    def __init__(self, kind, folder, zones, **options):
        self.kind, self.folder, self.port = kind, pathlib.Path(folder), free_port()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "log").unlink(missing_ok=True)
        self.begin(ALL[kind](self.folder, self.port, zones, **options), self.folder)

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    def ask(self, wire, timeout=10.0, source="127.0.0.1"):
        """The reply over UDP; None if there is none."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(timeout)
            sock.bind((source, 0))
            sock.connect(self.address)
            try:
                sock.send(wire)
                return sock.recv(65535)
            except (TimeoutError, ConnectionRefusedError):
                return None

    def wait(self, wire, seconds=60):
        """Until it answers WIRE as one who has the zone."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            reply = self.ask(wire, 0.5)
            if reply and not reply[3] & 15:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"{self.kind} does not answer for a zone: {self.log()[-3000:]}")
