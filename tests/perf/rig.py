# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""What benchmarks and load tests share: a lab whose threads have their places, and CPU time.

    CPU 0   the load, and the client's NAPI thread above it (SCHED_FIFO): or replies are lost there
    CPU 1   the server's NAPI thread, where the XDP program runs, and the daemon

CPU time is read from schedstat, which is exact, of the threads named and nobody else: the NAPI
thread of s0 is all that a program in the driver costs, the daemon's threads all that volleyd costs.
"""
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "net"))

from netlab import (BIN, CLIENT4, CLIENT6, CLIENT_MAC, ENV, SERVER_MAC, TOOLS, V4, V6,  # noqa: E402
                    Daemon, Lab, family_of, iface, run, wait_for, zone)

PERF = TOOLS.parent / "perf"
PROGRAMS = TOOLS.parent
LOAD_CPU, SERVER_CPU = 0, min(1, os.cpu_count() - 1)

# linux/netlink.h, genetlink.h, netdev.h
NETLINK_GENERIC = 16
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
NETDEV_CMD_NAPI_GET, NETDEV_A_NAPI_IFINDEX, NETDEV_A_NAPI_PID = 11, 1, 4
NETDEV_CMD_QUEUE_GET, NETDEV_A_QUEUE_IFINDEX, NETDEV_A_QUEUE_XSK = 10, 2, 7
NLM_F_REQUEST, NLM_F_DUMP, NLMSG_ERROR, NLMSG_DONE = 1, 0x300, 2, 3


__all__ = ["BIN", "CLIENT4", "CLIENT6", "CLIENT_MAC", "ENV", "SERVER_MAC", "V4", "V6", "iface",
           "run", "wait_for", "zone"]


def json_of(result):
    """What a command printed."""
    return json.loads(result.stdout)


def address(text):
    """As on the wire."""
    return socket.inet_pton(family_of(text), text)


def attribute(kind, data):
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def attributes(data):
    """{kind: octets}"""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        found[kind & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


def netlink(sock, family, command, payload, dump):
    """Asks generic netlink; the attributes of each message that comes back."""
    flags = NLM_F_REQUEST | (NLM_F_DUMP if dump else 0)
    body = struct.pack("BBH", command, 1, 0) + payload
    sock.send(struct.pack("IHHII", 16 + len(body), family, flags, 1, 0) + body)
    while True:
        data = sock.recv(65536)
        while data:
            length, kind = struct.unpack_from("IH", data)
            if kind == NLMSG_DONE:
                return
            if kind == NLMSG_ERROR:
                raise OSError(-struct.unpack_from("i", data, 16)[0], "netlink refused")
            yield attributes(data[20:length])
            if not dump:
                return
            data = data[(length + 3) & ~3:]


def netdev_dump(lab, end, command, by_ifindex):
    """What the kernel says of c0 or s0, asked inside the namespace (Linux 6.8)."""
    with lab.socket(end, socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC) as sock:
        sock.bind((0, 0))
        asked = netlink(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                        attribute(CTRL_ATTR_FAMILY_NAME, b"netdev\0"), False)
        family = struct.unpack("H", next(asked)[CTRL_ATTR_FAMILY_ID])[0]
        with lab.inside(end):
            ifindex = socket.if_nametoindex(f"{end}0")
        return list(netlink(sock, family, command,
                            attribute(by_ifindex, struct.pack("I", ifindex)), True))


def name_of(pid):
    """The name of a thread; of one that has ended, and of PID 0, none."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").rstrip("\n")
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_napi(pid, interface):
    """
    Whether a thread receives for this interface. The number in its name is that of the NAPI, or of
    the one before it when the kernel has made the NAPI anew.
    """
    return re.fullmatch(rf"napi/{interface}-\d+", name_of(pid) or "") is not None


def napi_threads(lab, end):
    """
    The NAPI threads of c0 or s0. While the kernel makes a NAPI anew, it tells PID 0 or that of
    a stranger: this waits until each PID is that of a NAPI thread.
    """
    def told():
        pids = sorted(struct.unpack("I", napi[NETDEV_A_NAPI_PID])[0]
                      for napi in netdev_dump(lab, end, NETDEV_CMD_NAPI_GET, NETDEV_A_NAPI_IFINDEX)
                      if NETDEV_A_NAPI_PID in napi)
        return all(is_napi(pid, f"{end}0") for pid in pids) and [pids]

    return wait_for(f"each NAPI of {end}0 has its thread", told)[0]


def has_xsk(lab, end):
    """Whether a queue of c0 or s0 belongs to an AF_XDP socket (told by Linux 6.14)."""
    return any(NETDEV_A_QUEUE_XSK in queue
               for queue in netdev_dump(lab, end, NETDEV_CMD_QUEUE_GET, NETDEV_A_QUEUE_IFINDEX))


def tasks(pid):
    """The threads of a process; of one that has ended, none."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except FileNotFoundError:
        return []


def group_of(pid):
    """All processes of a process group."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getpgid(int(name)) == pid:
                found.append(int(name))
        except ProcessLookupError:
            pass
    return found


def cpu_ns(pids):
    """CPU time that these processes have had, over all their threads."""
    total = 0
    for pid in pids:
        for task in tasks(pid):
            try:
                with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as f:
                    total += int(f.read().split()[0])
            except (FileNotFoundError, ProcessLookupError):
                pass
    return total


def cpu_seconds(pids):
    """
    User and system time of these processes, with that of threads that have ended. The two are
    estimates, by ticks; their sum is the kernel's own.
    """
    user = system = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        user, system = user + int(fields[11]), system + int(fields[12])
    ticks = os.sysconf("SC_CLK_TCK")
    return user / ticks, system / ticks


def cpu_busy_ns(cpu):
    """Time that a CPU was not idle, for whomever; in ticks of 10 ms."""
    with open("/proc/stat", encoding="ascii") as f:
        fields = next(line.split() for line in f if line.startswith(f"cpu{cpu} "))[1:]
    ticks = sum(map(int, fields[:8])) - int(fields[3]) - int(fields[4])
    return ticks * 10**9 // os.sysconf("SC_CLK_TCK")


def pin(pids, cpu):
    for pid in pids:
        for task in tasks(pid):
            try:
                os.sched_setaffinity(task, {cpu})
            except ProcessLookupError:
                pass


def put_first(pids, first=True):
    """
    NAPI threads, before all threads of ordinary priority, or among them again. Another thread is
    refused: PID 0 is the caller, and its children would inherit the priority. A shell that waits
    for the kernel at this priority keeps the kernel's own threads from their work.
    """
    policy, priority = (os.SCHED_FIFO, 50) if first else (os.SCHED_OTHER, 0)
    for pid in pids:
        name = name_of(pid)
        if not pid or (name or "napi/").partition("/")[0] != "napi":
            raise ValueError(f"PID {pid} ({name}) is no NAPI thread: its priority stays")
        try:
            os.sched_setscheduler(pid, policy, os.sched_param(priority))
        except ProcessLookupError:
            pass


class Rig(Lab):
    """A lab of one queue with its NAPI threads in their places."""

    def __init__(self):
        super().__init__(queues=1)
        try:
            self.settle()
        except BaseException:
            self.close()
            raise

    def take_redirects(self):
        """
        Told again with both ends up, GRO makes s0 take what xdpgen redirects to it while no program
        is there.
        """
        for word in ("off", "on"):
            self.exec("s", "ethtool", "-K", "s0", "gro", word)
        self.settle()

    def settle(self):
        """Again after each change of a program: the kernel may make a NAPI anew."""
        self.server_napi = napi_threads(self, "s")
        self.client_napi = napi_threads(self, "c")
        if not self.server_napi or not self.client_napi:
            raise RuntimeError("this kernel names no NAPI threads (Linux 6.8 does)")
        pin(self.server_napi, SERVER_CPU)
        pin(self.client_napi, LOAD_CPU)
        put_first(self.client_napi)

    def attach(self, program):
        """One of our test programs on s0."""
        self.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "obj", program, "sec", "xdp")

    def detach(self):
        self.ip("s", "link", "set", "dev", "s0", "xdp", "off")

    def vacate(self):
        """
        Nothing of the server that ended is left: the kernel frees its AF_XDP sockets in its own
        time.
        """
        self.detach()
        self.ip("s", "link", "set", "dev", "s0", "promisc", "off")
        wait_for("the queues of s0 are free", lambda: not has_xsk(self, "s"))

    def generate(self, *words, seconds, rate):
        """A run of xdpgen, as it reports it."""
        command = (PERF / "xdpgen", "--cpu", LOAD_CPU, *words, seconds, rate)
        return json_of(self.exec("c", *command, timeout=seconds + 30))


class Meter:
    """CPU time over a `with`: of the server's NAPI thread, of the daemon, of others on their CPU.

    A daemon that forked is measured with its process group, when it leads one.
    """

    def __init__(self, rig, daemon_pid=None):
        self.rig, self.daemon = rig, []
        if daemon_pid:
            self.daemon = group_of(daemon_pid) or [daemon_pid]

    def read(self):
        return cpu_ns(self.rig.server_napi), cpu_ns(self.daemon), cpu_busy_ns(SERVER_CPU)

    def __enter__(self):
        self.start, self.before = time.monotonic(), self.read()
        return self

    def __exit__(self, *exception):
        self.seconds = time.monotonic() - self.start
        self.napi_ns, self.daemon_ns, busy = (b - a for a, b in zip(self.before, self.read()))
        self.other_ns = max(0, busy - self.napi_ns - self.daemon_ns)


class PinnedDaemon(Daemon):
    """
    A volleyd of one worker on the server's CPU. Its other threads are there too, or on CONTROL_CPU
    (server.control-cores).
    """
    control_cpu = None

    def start(self, **sections):
        server, cpus = {"workers": 1}, [SERVER_CPU]
        if self.control_cpu is not None:
            server["control-cores"] = [self.control_cpu]
            cpus.append(self.control_cpu)
        self.configure(**{"server": server, **sections})
        self.spawn(before=("taskset", "-c", ",".join(map(str, cpus))))
        self.wait_ready(60)
        if self.control_cpu is None:
            pin([self.process.pid], SERVER_CPU)
        self.lab.settle()
        return self


class Group:
    """A process that forks, in a group of its own: signals go to all of them."""

    def __init__(self, command, **kwargs):
        self.process = subprocess.Popen([str(word) for word in command], env=ENV,
                                        start_new_session=True, **kwargs)

    def send(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def stop(self, number=signal.SIGINT, seconds=5):
        """Its output, once all of them are gone."""
        self.send(number)
        try:
            return self.process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            return self.process.communicate()[0]
        finally:
            self.send(signal.SIGKILL)


def end_on_signals():
    """SIGTERM and SIGHUP end a run as an exception does, so that it cleans up."""
    def leave(number, _frame):
        sys.exit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
