# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The base of the network tests: a lab of two namespaces, a daemon in it, and queries to it.

A socket belongs to the namespace in which it was made. So a test enters a namespace for a moment to
make a socket, and then uses it from outside.
"""
import base64
import collections
import contextlib
import ctypes
import itertools
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import dns.flags
import dns.message
import dns.query
import dns.rcode

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))  # rivals: for programs that are no tests
BIN = pathlib.Path(os.environ.get("VOLLEY_BIN", ROOT / "build" / "bin"))
TOOLS = pathlib.Path(os.environ.get("VOLLEY_TESTS", ROOT / "build/release/tests")) / "net"
LAB = ROOT / "scripts" / "lab.sh"
ZONES = ROOT / "zones"
ENV = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "VOLLEY_BIN": str(BIN)}

V4, V6 = "192.0.2.53", "2001:db8::53"
CLIENT4, CLIENT6 = "192.0.2.1", "2001:db8::1"
CLIENT_MAC, SERVER_MAC = bytes.fromhex("020000000001"), bytes.fromhex("020000000053")
TIMEOUT = 10  # seconds: where others work, too, all stands still for some now and then
SOL_PACKET, PACKET_AUXDATA, TP_STATUS_VLAN_VALID = 263, 8, 0x10
# Commands that change nothing, and to whose result volleyctl adds nothing.
LOOKS = ("status", "stats", "names", "zone status", "zone list", "port status", "cache stats",
         "policy list", "block list", "resolver infra", "rrl status")
SO_RCVBUFFORCE = 33  # socket(7); the module does not have it

_libc = ctypes.CDLL(None, use_errno=True)
_numbers = itertools.count()


def run(*command, check=True, timeout=30, **kwargs):
    """A command's result, with its output as text; an error contains the output."""
    result = subprocess.run([str(word) for word in command], env=ENV, text=True, timeout=timeout,
                            capture_output=True, check=False, **kwargs)
    assert not check or result.returncode == 0, \
        f"{command}: status {result.returncode}\n{result.stdout}{result.stderr}"
    return result


def wait_for(what, condition, seconds=30):
    """Returns what CONDITION returns, as soon as that is true; fails when it never is."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def status_of(pid):
    """The fields of /proc/PID/status, also of the thread "PID/task/TID"; none where it has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text("ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def threads_of(pid):
    """The fields of each thread of a process."""
    found = (status_of(f"{pid}/task/{tid}") for tid in os.listdir(f"/proc/{pid}/task"))
    return [fields for fields in found if fields]


def children(pid):
    """Processes, by number, that PID has started and that have not ended."""
    try:
        found = [int(number) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                 for number in (task / "children").read_text("ascii").split()]
    except OSError:
        return []
    return [number for number in found if not has_ended(number)]


def process_of(daemon, *names):
    """The daemon's process with the last of these names, below those before it; None: it is gone."""
    pid = daemon.process.pid
    for name in names:
        pid = next((child for child in children(pid) if status_of(child).get("Name") == name), None)
        if pid is None:
            break
    return pid


def has_ended(pid):
    """Whether a process has. The first process of a container may leave zombies."""
    return status_of(pid).get("State", "Z")[0] in "ZX"


@contextlib.contextmanager
def inside_netns(name):
    """This thread, in the namespace."""
    with open("/proc/thread-self/ns/net", encoding="ascii") as home, \
            open(f"/run/netns/{name}", encoding="ascii") as there:
        assert not _libc.setns(there.fileno(), 0), os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            assert not _libc.setns(home.fileno(), 0)


class Lab:
    """scripts/lab.sh: c0 in the namespace NAME-c, s0 in NAME-s."""

    def __init__(self, queues=1):
        self.name = f"vt{os.getpid()}-{next(_numbers)}"
        run(LAB, "up", self.name, queues)

    def close(self):
        # a daemon that was killed leaves its locks
        number = os.stat(f"/run/netns/{self.name}-s").st_ino
        for lock in pathlib.Path("/run/volley").glob(f"*-{number}.lock"):
            lock.unlink()
        run(LAB, "down", self.name)

    def ip(self, end, *words, check=True):
        return run("ip", "-n", f"{self.name}-{end}", *words, check=check)

    def put_v6_back(self):
        """The kernel removes the IPv6 addresses of a link that goes down, or away."""
        self.ip("s", "address", "add", f"{V6}/64", "dev", "s0", "nodad")

    def exec(self, end, *command, **kwargs):
        return run("nsenter", f"--net=/run/netns/{self.name}-{end}", "--", *command, **kwargs)

    def popen(self, end, *command, **kwargs):
        words = ["nsenter", f"--net=/run/netns/{self.name}-{end}", "--", *map(str, command)]
        return subprocess.Popen(words, env=ENV, **kwargs)

    def inside(self, end):
        """This thread, in the namespace, over a `with`."""
        return inside_netns(f"{self.name}-{end}")

    def socket(self, end, family=socket.AF_INET, kind=socket.SOCK_DGRAM, proto=0):
        with self.inside(end):
            made = socket.socket(family, kind, proto)
        made.settimeout(TIMEOUT)
        return made

    def connect(self, end, where, port=53):
        """A TCP connection."""
        made = self.socket(end, family_of(where), socket.SOCK_STREAM)
        try:
            made.connect((where, port))
        except OSError:
            made.close()
            raise
        return made

    def udp(self, query, where=V4, port=53, end="c", timeout=TIMEOUT):
        """The answer to a message; it must be to this query and from the address asked."""
        return dns.message.from_wire(self.udp_wire(query.to_wire(), where, port, end, timeout))

    def udp_wire(self, wire, where=V4, port=53, end="c", timeout=TIMEOUT):
        """The same with octets."""
        with self.socket(end, family_of(where)) as sock:
            sock.settimeout(timeout)
            sock.sendto(wire, (where, port))
            answer, peer = sock.recvfrom(65535)
            assert peer[:2] == (where, port), f"{where} was asked and {peer} answered"
            assert answer[:2] == wire[:2]
            return answer

    def tcp(self, query, where=V4, port=53, end="c"):
        with self.connect(end, where, port) as sock:
            dns.query.send_tcp(sock, query)
            return dns.query.receive_tcp(sock)[0]

    def ask(self, name="www.example.com", kind="A", where=V4, **kwargs):
        """One question without EDNS over UDP."""
        return self.udp(dns.message.make_query(name, kind), where, **kwargs)

    def is_answered(self, *args, timeout=0.2, **kwargs):
        """Whether there is any answer."""
        try:
            self.ask(*args, timeout=timeout, **kwargs)
        except OSError:
            return False
        return True

    def ping(self, where, payload=b"volley", timeout=TIMEOUT):
        """An ICMP echo, answered by the server's kernel."""
        ipv6 = ":" in where
        with self.socket("c", family_of(where), socket.SOCK_RAW, 58 if ipv6 else 1) as sock:
            sock.settimeout(timeout)
            kind, reply = (128, 129) if ipv6 else (8, 0)
            echo = struct.pack("!BBHHH", kind, 0, 0, 7, 7) + payload
            if not ipv6:  # for ICMPv6 the kernel does it
                echo = echo[:2] + struct.pack("!H", checksum(echo)) + echo[4:]
            sock.sendto(echo, (where, 0))
            while True:
                got = sock.recv(65535)[0 if ipv6 else 20:]
                if got[0] == reply:
                    assert got[4:] == echo[4:]
                    return

    def forget(self, where):
        """Takes the client's knowledge of a neighbour away, the failure to find it above all."""
        self.ip("c", "neighbour", "del", where, "dev", "c0", check=False)

    def frames(self, end="c"):
        """
        A socket for whole frames on c0 or s0, with room for those of a test, however late it reads.
        """
        made = self.socket(end, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        made.bind((end + "0", 3))
        made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        return made


def checksum(data):
    """RFC 1071."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def udp_packet(payload, where, port=53, source_port=40000, has_sum=True):
    """An IPv4 or IPv6 packet of the lab's client."""
    ipv6 = ":" in where
    family = family_of(where)
    ends = socket.inet_pton(family, CLIENT6 if ipv6 else CLIENT4) + socket.inet_pton(family, where)
    length = 8 + len(payload)
    pseudo = ends + struct.pack("!IxxxB" if ipv6 else "!xBH",
                                *((length, 17) if ipv6 else (17, length)))
    udp = struct.pack("!HHHH", source_port, port, length, 0)
    udp_sum = (checksum(pseudo + udp + payload) or 0xffff) if has_sum else 0
    udp = udp[:6] + struct.pack("!H", udp_sum) + payload
    if ipv6:
        return struct.pack("!IHBB", 6 << 28, length, 17, 64) + ends + udp
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 1, 0, 64, 17, 0)
    return head[:10] + struct.pack("!H", checksum(head + ends)) + ends + udp


def query_frame(query, where=V4, tags=(), **kwargs):
    """A frame of the lab's client; tags are (protocol, number), the outer one first."""
    ether = SERVER_MAC + CLIENT_MAC + b"".join(struct.pack("!HH", *tag) for tag in tags)
    kind = 0x86dd if ":" in where else 0x0800
    return ether + struct.pack("!H", kind) + udp_packet(query.to_wire(), where, **kwargs)


def receive_frame(sock):
    """The next frame from the server, with the outer tag that the kernel took out put back."""
    while True:
        frame, control, _flags, _address = sock.recvmsg(65535, socket.CMSG_SPACE(20))
        if frame[6:12] != SERVER_MAC or frame[:6] != CLIENT_MAC:
            continue
        for level, kind, data in control:
            if (level, kind) != (SOL_PACKET, PACKET_AUXDATA):
                continue
            status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", data)
            if status & TP_STATUS_VLAN_VALID:
                frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
        return frame


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def texts(answer, section="answer"):
    """The data of a section's records, as text, in an order that does not change."""
    return sorted(str(data) for rrset in getattr(answer, section) for data in rrset)


def iface(name="s0", **keys):
    return {"name": name, "xdp": "native", "port": "auto", **keys}


def hyphens(keys):
    """allow_transfer=["any"] as the configuration writes it."""
    return {name.replace("_", "-"): value for name, value in keys.items()}


def zone(name, path=None, **keys):
    """Its file is that of zones/, or PATH; one that comes or is a catalog needs none."""
    if not path and ("primaries" in keys or "catalog" in keys or "template" in keys):
        return {"name": name, **hyphens(keys)}
    return {"name": name, "file": str(path or ZONES / f"{name}.zone"), **hyphens(keys)}


def remote(name, *addresses, **keys):
    """
    Another name server: remote("hidden", "192.0.2.7@5353", key="xfr.test.", tls_name="a.test").
    """
    return {"name": name, "address": list(addresses), **hyphens(keys)}


def tsig_key(name="xfr.test.", algorithm="hmac-sha256", secret=b"a secret for tests that all know"):
    """A key as the configuration has it; what signs in Python takes the same two."""
    return {"name": name, "algorithm": algorithm, "secret": base64.b64encode(secret).decode()}


def write_zone(path, serial=1, address="192.0.2.10", more="", ttl=300):
    """A small zone of one address that tells its version."""
    path.write_text(f"$TTL {ttl}\n@ IN SOA ns hostmaster {serial} 3600 900 86400 60\n"
                    f"@ IN NS ns\nns IN A 192.0.2.53\nwww IN A {address}\n{more}", encoding="ascii")
    return path


class Daemon:
    """A volleyd with a folder of its own: configuration, control socket, log."""

    def __init__(self, lab, folder):
        self.lab, self.folder = lab, pathlib.Path(folder)
        self.socket = self.folder / "control.sock"
        self.path = self.folder / "volley.yaml"
        self.log_path = self.folder / "volleyd.log"
        self.process = None
        self.env = {}  # of every start
        self.binary = BIN / "volleyd"

    def configure(self, **sections):
        """Writes the configuration: these sections in place of the usual ones. JSON is YAML."""
        config = {
            "server": {"listen": [V4, V6], "workers": 2},
            "interfaces": [iface()],
            "cache": {"size": "16M", "names": 0},  # names that nobody has asked for are misses here
            "zones": [zone("example.com"), zone("example.net")],
            "control": {"socket": str(self.socket)},
            "rrl": {"answers": 0, "octets": 0},  # all load comes from one address here
        }
        for name, section in sections.items():
            if isinstance(section, dict):
                config[name] = {**config.get(name, {}), **section}
            elif section is None:
                del config[name]
            else:
                config[name] = section
        self.path.write_text(json.dumps(config, indent=1), encoding="utf-8")
        return self

    def spawn(self, *options, env=None, before=()):
        """Starts it, and does not wait."""
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                ["nsenter", f"--net=/run/netns/{self.lab.name}-s", "--", *before,
                 str(self.binary), "-c", str(self.path), *options],
                env={**ENV, **self.env, **(env or {})}, stdout=log, stderr=log)
        return self

    def start(self, *options, **sections):
        if sections or not self.path.exists():
            self.configure(**sections)
        self.spawn(*options)
        return self.wait_ready()

    def run_failing(self, *options):
        """Starts it, waits for its end, and returns (status, output)."""
        seen = len(self.log())
        self.spawn(*options)
        status = self.process.wait(30)
        self.process = None
        return status, self.log()[seen:]

    def wait_ready(self, seconds=30):
        def has_come():
            assert self.process.poll() is None, f"volleyd ended:\n{self.log()}"
            return self.is_ready()
        wait_for(f"volleyd is ready:\n{self.log()}", has_come, seconds)
        return self

    def is_ready(self):
        said = self.result("status")
        return said is not None and said["ready"]

    def result(self, command, *args):
        """What volleyctl --json prints, without a process for it; None where it fails."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(TIMEOUT)
            try:
                control.connect(str(self.socket))
                request = {"v": 1, "command": command, "args": [str(arg) for arg in args]}
                control.sendall(json.dumps(request).encode() + b"\n")
                with control.makefile("rb") as replies:
                    said = json.loads(replies.readline() or b"{}")
            except (OSError, ValueError):  # nobody listens, or it has ended meanwhile
                return None
        return said["result"] if said.get("ok") else None

    def log(self):
        return self.log_path.read_text(encoding="utf-8") if self.log_path.exists() else ""

    def ctl(self, *words, check=True, timeout=60):
        return run(BIN / "volleyctl", "--socket", self.socket, *words, check=check, timeout=timeout)

    def json(self, *words):
        """
        A command's result. LOOKS are asked for thousands of times, so they do without volleyctl
        where they succeed.
        """
        command, args = " ".join(words[:2]), words[2:]
        said = self.result(command, *args) if command in LOOKS else None
        if said is not None and "next" not in said:  # a long list comes in pages
            return said
        return json.loads(self.ctl("--json", *words).stdout)

    def status(self):
        return self.json("status")

    def interface(self, name="s0"):
        return next(i for i in self.status()["interfaces"] if i["name"] == name)

    def degraded(self):
        return "\n".join(self.status()["degraded"])

    def stats(self):
        def balanced():  # a frame that the driver has before it is received, and nothing else yet
            stats = self.json("stats")
            driver = stats["driver"]
            return stats if driver["received"] == driver["hit"] + driver["up"] + \
                driver["passed"] + driver["dropped"] else None
        return wait_for("received is hit, up, passed and dropped", balanced)

    def answered(self):
        """How many answers each gave: driver, worker, kernel_socket, tcp."""
        return self.stats()["answered"]

    def reasons(self):
        """{reason: queries}; `stats` leaves out those that have none, here they are 0."""
        return collections.Counter(self.stats()["driver"]["reasons"])

    def stop(self, *options):
        """By volleyctl; its exit status."""
        self.ctl("stop", *options)
        return self.reap()

    def signal(self, number):
        """
        After SIGSTOP all its threads stand still; the signal reaches one of them, which may have to
        wait for a processor.
        """
        self.process.send_signal(number)
        if number == signal.SIGSTOP:
            wait_for("all threads stand still", lambda: set(self.thread_states()) == {"T"})

    def thread_states(self):
        """The letters of proc(5)."""
        for stat in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            # it has ended meanwhile
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                yield stat.read_text(encoding="utf-8",
                                     errors="replace").rpartition(")")[2].split()[0]

    def cpu_s(self, pid=None):
        """The processor time of all its threads, or of those of a process of its own, in seconds."""
        stat = pathlib.Path(f"/proc/{pid or self.process.pid}/stat").read_text(encoding="ascii")
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self):
        self.signal(signal.SIGKILL)
        return self.reap()

    def reap(self, seconds=30):
        status = self.process.wait(seconds)
        self.process = None
        return status

    def clean_up(self):
        """Ends it in any state; True if it ended as it should."""
        if not self.process:
            return True
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            return self.reap() == 0
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False


class Answered:
    """Counts the sources of the answers to queries in a `with`: a Counter-like dict of differences,
    in .by."""

    def __init__(self, daemon):
        self.daemon, self.by = daemon, {}

    def __enter__(self):
        self.before = self.daemon.answered()
        return self

    def __exit__(self, *exception):
        if exception[0]:
            return

        def differ():
            after = self.daemon.answered()
            self.by = {key: after[key] - self.before[key] for key in after
                       if after[key] != self.before[key]}
            return True
        differ()


def in_driver(lab, daemon, questions):
    """How many of these the driver answers: each a name, or a tuple of name and type."""
    with Answered(daemon) as one:
        for question in questions:
            lab.ask(*([question] if isinstance(question, str) else question))
    assert sum(one.by.values()) == len(questions)
    return one.by.get("driver", 0)


def everywhere(lab, name, kind="A"):
    """The answer over each way. Each is asked twice, so that cached answers are asked for, too."""
    query = dns.message.make_query(name, kind)
    return [ask(query, where) for where in (V4, V6) for ask in (lab.udp, lab.tcp, lab.udp, lab.tcp)]


# --- The XDP program, as seen without a daemon ----------------------------------------------------


def abi_reasons():
    """[(name, class)] in the order of the counters."""
    text = (ROOT / "xdp" / "abi.h").read_text(encoding="utf-8")
    return re.findall(r"^\tV\((\w+), (\w+), ", text, re.M)


def abi_rooms():
    """How many rooms a CPU has in volley_cpu; an ordinary kernel uses the first."""
    return int(re.search(r"VOLLEY_ROOMS (\d+)",
                         (ROOT / "xdp" / "abi.h").read_text(encoding="utf-8")).group(1))


def program(lab, dev="s0", end="s"):
    """{"id", "mode", "name"} of the XDP program on an interface, or None."""
    link = json.loads(lab.ip(end, "-j", "-d", "link", "show", "dev", dev).stdout)[0]
    xdp = link.get("xdp")
    if not xdp or not xdp.get("prog"):
        return None
    return {"id": xdp["prog"]["id"], "mode": {1: "native", 2: "generic"}.get(xdp["mode"]),
            "name": xdp["prog"].get("name")}


def map_ids(program_id):
    """{map name: id} of a program."""
    shown = json.loads(run("bpftool", "-j", "prog", "show", "id", program_id).stdout)
    named = {}
    for number in shown["map_ids"]:
        info = json.loads(run("bpftool", "-j", "map", "show", "id", number).stdout)
        named[info["name"]] = number
    return named


def driver_counters(program_id, number=None):
    """
    The program's own counters, summed: {"received", "to_worker", "HIT_FULL", ..., "hit", ...}.
    `number`: of its map volley_cpu, for who asks often.
    """
    number = number or map_ids(program_id)["volley_cpu"]
    values = []
    for room in range(abi_rooms() if "PREEMPT_RT" in platform.version() else 1):
        found = run("bpftool", "-j", "map", "lookup", "id", number, "key", room, 0, 0, 0).stdout
        values += json.loads(found)["values"]
    names = ["received", "to_worker"] + [name for name, _ in abi_reasons()]
    sums = dict.fromkeys(names, 0)
    for cpu in values:
        value = bytes(int(octet, 16) for octet in cpu["value"][:8 * len(names)])
        for name, n in zip(names, struct.unpack(f"={len(names)}Q", value)):
            sums[name] += n
    for kind in ("HIT", "UP", "PASSED", "DROPPED"):
        sums[kind.lower()] = sum(sums[name] for name, its in abi_reasons() if its == kind)
    return sums


def open_to_all(folder, mode=0o777):
    """
    Others than root reach the folder, wherever pytest has put it, and may do there what MODE says.
    """
    os.chmod(folder, mode)
    for parent in folder.parents:
        now = os.stat(parent).st_mode
        if now & 0o005 == 0o005:
            break
        os.chmod(parent, now | 0o005)


def has(command):
    return shutil.which(command, path=ENV["PATH"]) is not None
