# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The receive queues of an interface: their sockets, workers and cores, and changes while they
run."""
import ctypes
import mmap
import os
import pathlib
import re
import socket
import struct
import threading

import dns.message
import dns.rcode
import pytest

from netlab import TIMEOUT, V4, Answered, iface, program, texts, wait_for

WWW, WILD = ["192.0.2.80", "192.0.2.81"], ["192.0.2.200"]
AF_XDP, SOL_XDP = 44, 283
XDP_RX_RING, XDP_UMEM_REG, XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING = 2, 4, 5, 6


def channels(lab, n):
    """ethtool -L at both ends, in the order in which a veth with XDP programs allows it."""
    now = 2 if n == 1 else 1
    steps = [("c", "tx"), ("s", "rx tx"), ("c", "rx")] if n < now else \
        [("c", "rx"), ("s", "rx tx"), ("c", "tx")]
    for end, words in steps:
        pairs = [word for kind in words.split() for word in (kind, n)]
        lab.exec(end, "ethtool", "-L", f"{end}0", *pairs)


def xsk_ports(daemon):
    """{queue: port} of s0, by queue."""
    ports = {port["queue"]: port for port in daemon.json("port", "status")["ports"]
             if port.get("interface") == "s0"}
    return dict(sorted(ports.items()))


def workers_cores(daemon):
    """{worker: processors that its thread may run on}."""
    found = {}
    for task in pathlib.Path(f"/proc/{daemon.process.pid}/task").iterdir():
        name = re.fullmatch(r"volley-w(\d+)", (task / "comm").read_text().strip())
        if name:
            found[int(name[1])] = os.sched_getaffinity(int(task.name))
    return found


class Taken:
    """Another program's AF_XDP socket on a queue of s0, during a `with`."""

    def __init__(self, lab, queue):
        self.area = mmap.mmap(-1, 64 * 4096)
        at = ctypes.addressof(ctypes.c_char.from_buffer(self.area))
        self.sock = lab.socket("s", AF_XDP, socket.SOCK_RAW)
        self.sock.setsockopt(SOL_XDP, XDP_UMEM_REG,
                             struct.pack("=QQIIII", at, 64 * 4096, 4096, 0, 0, 0))
        for ring in (XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING):
            self.sock.setsockopt(SOL_XDP, ring, 64)
        with lab.inside("s"):
            index = socket.if_nametoindex("s0")
        address = struct.pack("=HHIII", AF_XDP, 0, index, queue, 0)
        libc = ctypes.CDLL(None, use_errno=True)
        assert not libc.bind(self.sock.fileno(), address, len(address)), \
            os.strerror(ctypes.get_errno())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.sock.close()


@pytest.fixture
def wide(make_lab):
    return make_lab(queues=2)


@pytest.fixture
def there(make_daemon, wide):
    return make_daemon("wide", wide)


class Load:
    """Over a `with`: questions, each over a new flow, for a hit and a name never asked before in
    turn.

    A veth is without carrier for a moment while ethtool -L works on it: then a question may be
    TRIED again.
    """

    def __init__(self, lab, n_threads=3, tries=1):
        self.n, self.tries, self.wrong, self.stops = 0, tries, [], False
        self.threads = [threading.Thread(target=self.run, args=(lab, i), daemon=True)
                        for i in range(n_threads)]

    def run(self, lab, number):
        i = 0
        while not self.stops:
            i += 1
            for name, data in (("www.example.com", WWW), (f"n{number}-{i}.wild.example.com", WILD)):
                answer = self.ask(lab, name)
                if answer != data:
                    self.wrong.append((name, answer))
                self.n += 1

    def ask(self, lab, name):
        for _ in range(self.tries):
            try:
                return texts(lab.ask(name, timeout=1 if self.tries > 1 else TIMEOUT))
            except OSError as error:
                said = str(error)
        return said

    def goes_on(self):
        """Until some more has been asked."""
        limit = self.n + 100
        wait_for("more load", lambda: self.n > limit)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *exception):
        self.stops = True
        for thread in self.threads:
            thread.join(30)
        assert exception[0] or not self.wrong, self.wrong


# --- Queues that come and go ----------------------------------------------------------------------


def test_a_queue_that_comes_loses_nothing(wide, there):
    """ethtool -L under load: the new queue gets a socket and a worker, and no query is lost."""
    channels(wide, 1)
    there.start()
    assert list(xsk_ports(there)) == [0]
    with Load(wide, tries=3) as load:
        load.goes_on()
        channels(wide, 2)
        wait_for("the socket", lambda: list(xsk_ports(there)) == [0, 1])
        wait_for("its frames", lambda: xsk_ports(there)[1]["rx"] > 50)
    ports = xsk_ports(there)
    assert [ports[queue]["worker"] for queue in ports] == [0, 1]
    for port in ports.values():
        assert port["rx"] == port["tx"], ports
    assert there.stats()["driver"]["to_worker"] == sum(port["rx"] for port in ports.values())
    assert there.interface()["queues"] == 2 and there.interface()["state"] == "up"
    assert there.answered()["driver"] > 100


def fewer(lab):
    """ethtool -L s0 rx 1; the kernel's reason where it refuses."""
    said = lab.exec("s", "ethtool", "-L", "s0", "rx", 1, check=False)
    return said.stderr if said.returncode else None


def test_a_queue_that_goes_loses_nothing(wide, there):
    """The kernel does not remove a queue that has a socket: so the socket is closed before."""
    there.start()
    with Load(wide, tries=3) as load:
        wait_for("both queues", lambda: all(port["rx"] > 50 for port in xsk_ports(there).values()))
        wide.exec("c", "ethtool", "-L", "c0", "tx", 1)
        assert "existing zerocopy AF_XDP sockets" in fewer(wide)
        there.ctl("port", "queues", "s0", 1)
        assert list(xsk_ports(there)) == [0]
        assert "AF_XDP on 1 of 2 queues" in there.interface()["note"]
        wait_for("the kernel lets go of it", lambda: not fewer(wide))
        there.ctl("port", "queues", "s0", "auto")
        load.goes_on()
    wait_for("one socket, and no complaint",
             lambda: list(xsk_ports(there)) == [0] and not there.degraded())


def test_a_socket_that_goes_while_its_queue_has_traffic(wide, there):
    """Packets that have arrived are answered, later ones go to the kernel's sockets; and back."""
    there.start()
    with Load(wide) as load:
        for n in [1, "auto"] * 5:
            there.ctl("port", "queues", "s0", n)
            assert len(xsk_ports(there)) == (1 if n == 1 else 2)
            load.goes_on()
    assert there.answered()["kernel_socket"] > 0


@pytest.mark.parametrize("words, status, sentence", [
    (("s0", "none"), 2, "none: give "),
    (("s0", 65), 2, "65: give "),
    (("s9", 1), 1, "s9: volleyd does not serve it"),
])
def test_numbers_of_queues_that_are_none(lab, daemon, words, status, sentence):
    daemon.start()
    refused = daemon.ctl("port", "queues", *words, check=False)
    assert refused.returncode == status and sentence in refused.stderr


# --- One of several fails -------------------------------------------------------------------------


def test_a_queue_that_somebody_has(wide, there):
    """The other queue keeps its socket; this one's queries go to the kernel's. Said once."""
    with Taken(wide, 0):
        there.start()
        assert list(xsk_ports(there)) == [1]
        assert "s0: queue 0: no AF_XDP socket (another program has the queue)" in there.degraded()
        assert there.interface()["queues"] == 1 and there.interface()["port"] == "xsk"
        with Answered(there) as many:
            for i in range(60):
                assert texts(wide.ask(f"n{i}.wild.example.com")) == WILD
        assert many.by["worker"] > 0 and many.by["kernel_socket"] > 0
        wait_for("some seconds", lambda: there.status()["uptime_s"] > 2, 10)
        assert there.log().count("no AF_XDP socket") == 1
    wait_for("the queue's socket", lambda: list(xsk_ports(there)) == [0, 1], 10)
    assert not there.degraded()


# --- Two workers, two queues ----------------------------------------------------------------------


def steer(lab):
    """A processor's packets leave by the queue of its number, and arrive on it."""
    lab.ip("c", "link", "show", "c0")
    for queue in (0, 1):
        lab.exec("c", "ip", "netns", "exec", f"{lab.name}-c", "sh", "-c",
                 f"echo {1 << queue} >/sys/class/net/c0/queues/tx-{queue}/xps_cpus")


# name with a number in it, rcode, data; the answer is in the cache from the second time on
QUESTIONS = [
    ("www.example.com", dns.rcode.NOERROR, WWW),
    ("n{}.wild.example.com", dns.rcode.NOERROR, WILD),
    ("ftp.example.com", dns.rcode.NOERROR, None),
    ("n{}.nothing.example.com", dns.rcode.NXDOMAIN, []),
]


class Sender(threading.Thread):
    """Asks all of QUESTIONS n times from one processor; keeps what was answered wrongly."""

    def __init__(self, lab, cpu, n):
        super().__init__()
        self.cpu, self.n, self.wrong, self.fresh = cpu, n, [], 0
        self.sock = lab.socket("c")
        self.sock.connect((V4, 53))

    def run(self):
        os.sched_setaffinity(0, {self.cpu})
        for i in range(self.n):
            for name, rcode, data in QUESTIONS:
                self.fresh += "{}" in name
                query = dns.message.make_query(name.format(f"{self.cpu}-{i}"), "A")
                self.sock.send(query.to_wire())
                answer = dns.message.from_wire(self.sock.recv(4096))
                if answer.id != query.id or answer.rcode() != rcode or \
                        (data is not None and texts(answer) != data):
                    self.wrong.append(str(answer))
        self.sock.close()


@pytest.mark.parametrize("cores", [None, [1, 0]], ids=["auto", "given"])
def test_two_workers_on_two_queues(wide, there, cores):
    """Mixed load from two processors: each queue's flow is answered by its worker, on its core."""
    there.start(interfaces=[iface(**({"cores": cores} if cores else {}))])
    expected = cores or [0, 1]
    ports = xsk_ports(there)
    assert [ports[queue]["core"] for queue in (0, 1)] == expected
    affinity = workers_cores(there)
    assert [affinity[ports[queue]["worker"]] for queue in (0, 1)] == [{core} for core in expected]
    for name, _, _ in QUESTIONS:  # what both will ask is in the cache
        if "{}" not in name:
            wide.ask(name)
    steer(wide)
    before = xsk_ports(there)
    with Answered(there) as all_of:
        senders = [Sender(wide, cpu, 150) for cpu in (0, 1)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join(60)
    after = xsk_ports(there)
    assert not senders[0].wrong + senders[1].wrong
    for queue, sender in enumerate(senders):
        for counter in ("rx", "tx"):
            assert after[queue][counter] - before[queue][counter] == sender.fresh, (before, after)
    assert all_of.by == {"driver": 600, "worker": 600}


def test_more_queues_than_workers(wide, there):
    there.start(server={"workers": 1})
    assert [port["worker"] for port in xsk_ports(there).values()] == [0, 0]
    assert ("2 queues share 1 worker(s): volleyctl port queues s0 1 and then ethtool -L s0" in
            there.interface()["note"])
    assert not there.degraded()


def test_cores_without_a_worker(wide, there):
    there.start(server={"workers": 1}, interfaces=[iface(cores=[0, 1])])
    assert "no worker is on processor 1 of queue 1" in there.interface()["note"]
    assert not there.degraded()


def test_queues_that_there_could_be(wide, there):
    channels(wide, 1)
    there.start()
    assert "there could be 2 (ethtool -L s0)" in there.interface()["note"]
    channels(wide, 2)
    wait_for("the note", lambda: "could be" not in there.interface().get("note", ""))


# --- The ladder -----------------------------------------------------------------------------------


def test_a_step_is_said_once(lab, daemon):
    """A veth has no zero-copy: that is no fault with zero-copy: auto, and is told all the same."""
    daemon.start()
    said = "no zero-copy (the driver has none): frames are copied"
    assert said in daemon.interface()["note"]
    assert daemon.interface()["state"] == "up" and not daemon.degraded()
    wait_for("some seconds", lambda: daemon.status()["uptime_s"] > 2, 10)
    assert daemon.log().count(said) == 1


def test_no_copy_is_wished(lab, daemon):
    daemon.start(interfaces=[iface(**{"zero-copy": "off"})])
    assert "note" not in daemon.interface()


def large_frames(lab):
    """An MTU that native XDP cannot take."""
    lab.exec("c", "ip", "link", "set", "dev", "c0", "xdpdrv", "off")
    for end in ("c", "s"):
        lab.ip(end, "link", "set", f"{end}0", "mtu", 9000)


def test_generic_with_af_xdp(lab, daemon):
    """Large frames need the other end without its program; AF_XDP copies there, too."""
    large_frames(lab)
    daemon.start(interfaces=[iface(xdp="auto")])
    seen = daemon.interface()
    assert (seen["state"], seen["xdp"], seen["port"], seen["zero_copy"]) == \
        ("up", "generic", "xsk", False)
    assert re.search(r"the other end .* has no XDP program.*: generic", seen["note"])
    with Answered(daemon) as two:
        lab.ask()
        assert texts(lab.ask()) == WWW
    assert two.by == {"worker": 1, "driver": 1}
    assert program(lab)["mode"] == "generic"


def test_zero_copy_is_wished_and_generic(lab, daemon):
    daemon.start(interfaces=[iface(xdp="generic", **{"zero-copy": "on"})])
    assert "s0: queue 0: no AF_XDP socket (zero-copy: on needs native XDP)" in daemon.degraded()
    with Answered(daemon) as two:
        lab.ask()
        assert texts(lab.ask()) == WWW
    assert two.by == {"kernel_socket": 1, "driver": 1}
