# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Anycast: two Volley hosts behind a router, with BIRD and scripts/anycast-health as docs/fleet.md
describes.

    client ── router ══ a, b        the router shares queries between announcing hosts (ECMP)

A client asks all the time. The tests check how many queries it loses, and when.
"""
import collections
import contextlib
import itertools
import json
import os
import pathlib
import re
import selectors
import signal
import socket
import struct
import subprocess
import threading
import time
import types

import dns.message
import pytest
import yaml

from netlab import BIN, ENV, ROOT, V4, V6, Daemon, has, inside_netns, run, wait_for, write_zone

CONFIGS = ROOT / "scripts" / "anycast"
HEALTH = ROOT / "scripts" / "anycast-health"
CLIENT4, CLIENT6 = "203.0.113.1", "2001:db8:c::1"
LOST_S = 5  # a query without an answer for so long is lost
QUERIES_PER_S = 200
_numbers = itertools.count()


# --- The lab --------------------------------------------------------------------------------------


def bird_config(name, is_patient=False, **defines):
    """
    A file of scripts/anycast, with other values of what it defines, as an operator would write
    them. With IS_PATIENT a BIRD that had no processor for some seconds is not taken for one that
    has gone.
    """
    text = (CONFIGS / name).read_text(encoding="ascii")
    if is_patient:
        assert text.count("multiplier 5;") == 1
        text = text.replace("multiplier 5;", "multiplier 25;")
    for key, value in defines.items():
        text, n = re.subn(rf"^((?:define )?{key}(?: =)?) .*;$", rf"\1 {value};", text, flags=re.M)
        assert n == 1, key
    return text


class Bird:
    """A BIRD in a namespace."""

    def __init__(self, netns, folder, config):
        self.netns, self.socket = netns, folder / "bird.ctl"
        path = folder / "bird.conf"
        path.write_text(config, encoding="ascii")
        self.log = open(folder / "bird.log", "ab")
        self.process = subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{netns}", "--", "bird", "-f", "-c", str(path), "-s",
             str(self.socket)],
            env=ENV, stdout=self.log, stderr=self.log)

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


class Host:
    """One that answers: its namespace is NAME-s, as a Daemon wants it."""

    def __init__(self, fleet, letter, net4, net6):
        self.letter, self.name = letter, f"{fleet.name}{letter}"
        self.net4, self.net6 = net4, net6  # of the link; the host has 2 more than the router
        self.folder = fleet.folder / letter
        self.folder.mkdir()
        self.fleet, self.health, self.bird = fleet, None, None
        self.daemon = Daemon(self, self.folder)

    @property
    def netns(self):
        return f"{self.name}-s"

    def start(self):
        self.bird = Bird(self.netns, self.folder, self.fleet.host_config(self))
        self.start_daemon()
        self.start_health()

    def start_daemon(self):
        zone = self.folder / "fleet.zone"
        zone.write_text(f"$TTL 60\n@ SOA ns root 1 3600 900 86400 60\n@ NS ns\nns A {V4}\n"
                        f"site TXT {self.letter}\n*.wild TXT {self.letter}\n", encoding="ascii")
        self.daemon.start(zones=[{"name": "fleet.test", "file": str(zone)}], server={"workers": 1},
                          cache={"orphan-serve": 0, "size": "8M"})

    def start_health(self, *options):
        with open(self.folder / "health.log", "ab") as log:
            self.health = subprocess.Popen(
                ["nsenter", f"--net=/run/netns/{self.netns}", "--", str(HEALTH), "-i", "0.1", "-s",
                 "3",
                 "-w", "3", "-c", str(self.daemon.socket), "-B", str(self.bird.socket), *options,
                 "bird", "anycast4", "anycast6"],
                env={**ENV, "PATH": f"{BIN}:{ENV['PATH']}"}, stdout=log, stderr=log)

    def health_log(self):
        return (self.folder / "health.log").read_text(encoding="utf-8")

    def stop_health(self):
        """As a service manager does; its status."""
        self.health.terminate()
        status = self.health.wait(20)
        self.health = None
        return status

    def close(self):
        if self.health:
            self.health.kill()
            self.health.wait()
        if self.bird:
            self.bird.close()
        return self.daemon.clean_up()


def remove_locks(netns):
    """Those of a daemon that was killed."""
    number = os.stat(f"/run/netns/{netns}").st_ino
    for lock in pathlib.Path("/run/volley").glob(f"*-{number}.lock"):
        lock.unlink()


class Fleet:
    """Client, router, two hosts; in NAME-c, NAME-r, NAMEa-s, NAMEb-s."""

    def __init__(self, folder, is_patient):
        self.name, self.folder = f"vf{os.getpid()}-{next(_numbers)}", folder
        self.is_patient = is_patient  # see bird_config()
        self.hosts = [Host(self, "a", "198.51.100.{}", "2001:db8:a::{}"),
                      Host(self, "b", "198.51.100.{}", "2001:db8:b::{}")]
        self.router = self.primary = None

    def at4(self, host, end):
        return host.net4.format({"a": 0, "b": 4}[host.letter] + end)

    def host_config(self, host):
        here4, router4 = self.at4(host, 2), self.at4(host, 1)
        return bird_config("bird-host.conf", self.is_patient, **{"router id": here4}, HERE4=here4,
                           ROUTER4=router4, HERE6=host.net6.format(2), ROUTER6=host.net6.format(1))

    def namespaces(self):
        return [f"{self.name}-c", f"{self.name}-r", *(host.netns for host in self.hosts),
                *([f"{self.name}p-s"] if self.primary else [])]

    def ip(self, netns, *words, check=True):
        return run("ip", "-n", netns, *words, check=check)

    def set_up_end(self, netns, dev, *addresses):
        run("nsenter", f"--net=/run/netns/{netns}", "--", "ethtool", "-K", dev, "tx", "off", "tso",
            "off", "gso", "off", "gro", "on")
        self.ip(netns, "link", "set", "lo", "up")
        for address in addresses:
            self.ip(netns, "address", "add", address, "dev", dev,
                    *(["nodad"] if ":" in address else []))
        self.ip(netns, "link", "set", dev, "up")

    def up(self):
        for netns in self.namespaces():
            run("ip", "netns", "add", netns)
            run("nsenter", f"--net=/run/netns/{netns}", "--", "sysctl", "-qw",
                "net.ipv6.conf.all.disable_ipv6=0", "net.ipv6.conf.default.disable_ipv6=0",
                "net.ipv6.conf.default.accept_dad=0", "net.ipv4.conf.all.rp_filter=0",
                "net.ipv4.conf.default.rp_filter=0", "net.ipv4.fib_multipath_hash_policy=1",
                "net.ipv6.fib_multipath_hash_policy=1", "net.ipv4.ip_forward=1",
                "net.ipv6.conf.all.forwarding=1")
        client, router = self.namespaces()[:2]
        self.link(client, "c0", router, "rc")
        self.set_up_end(client, "c0", f"{CLIENT4}/24", f"{CLIENT6}/64")
        self.set_up_end(router, "rc", "203.0.113.254/24", "2001:db8:c::fe/64")
        self.ip(client, "route", "add", "default", "via", "203.0.113.254")
        self.ip(client, "route", "add", "default", "via", "2001:db8:c::fe")
        for host in self.hosts:
            self.up_host(host, router)
        (self.folder / "r").mkdir()
        self.router = Bird(router, self.folder / "r",
                           bird_config("bird-router.conf", self.is_patient))
        for host in self.hosts:
            host.start()
        wait_for("both are announced", lambda: self.announced() == {"a", "b"} == self.announced(V6),
                 40)

    def link(self, left, left_dev, right, right_dev):
        self.ip(left, "link", "add", left_dev, "type", "veth", "peer", "name", right_dev, "netns",
                right)

    def up_host(self, host, router):
        dev = f"r{host.letter}"
        self.link(host.netns, "s0", router, dev)
        self.set_up_end(host.netns, "s0", f"{self.at4(host, 2)}/30", f"{host.net6.format(2)}/64")
        self.set_up_end(router, dev, f"{self.at4(host, 1)}/30", f"{host.net6.format(1)}/64")
        for address in (f"{V4}/32", f"{V6}/128"):
            self.ip(host.netns, "address", "add", address, "dev", "lo")
        self.ip(host.netns, "route", "add", "default", "via", self.at4(host, 1))
        self.ip(host.netns, "route", "add", "default", "via", host.net6.format(1))
        # as in scripts/lab.sh: what the other end sends by XDP_TX wakes this one
        run("nsenter", f"--net=/run/netns/{router}", "--", "ip", "link", "set", "dev", dev,
            "xdpdrv", "obj", BIN / "xdp_pass.bpf.o", "sec", "xdp")

    def add_primary(self, address):
        """One more host behind the router, whose address is not announced."""
        router = self.namespaces()[1]
        (self.folder / "p").mkdir()
        self.primary = Daemon(types.SimpleNamespace(name=f"{self.name}p"), self.folder / "p")
        netns = self.namespaces()[-1]
        run("ip", "netns", "add", netns)
        self.link(netns, "s0", router, "rp")
        self.set_up_end(netns, "s0", "198.51.100.10/30")
        self.set_up_end(router, "rp", "198.51.100.9/30")
        self.ip(netns, "address", "add", f"{address}/32", "dev", "lo")
        self.ip(netns, "route", "add", "default", "via", "198.51.100.9")
        self.ip(router, "route", "add", address, "via", "198.51.100.10")
        return self.primary

    def announced(self, address=V4):
        """The hosts that the router's kernel sends queries to."""
        routes = json.loads(self.ip(self.namespaces()[1], "-j", "-6" if ":" in address else "-4",
                                    "route", "show", address).stdout)
        hops = [hop for route in routes for hop in route.get("nexthops", [route])]
        return {hop["dev"][1:] for hop in hops}

    def wait_announced(self, *letters, seconds=30):
        wait_for(f"{letters} announced, not {self.announced()}",
                 lambda: self.announced() == set(letters) == self.announced(V6), seconds)

    def close(self):
        ended = [host.close() for host in self.hosts]
        if self.primary:
            ended.append(self.primary.clean_up())
        if self.router:
            self.router.close()
        for netns in self.namespaces():
            if os.path.exists(f"/run/netns/{netns}"):
                remove_locks(netns)
                run("ip", "netns", "delete", netns)
        assert all(ended), "a volleyd did not end well"


class Asker:
    """
    Asks for the name of the site, QUERIES_PER_S times a second, from many ports: every second
    question is one that the driver knows, every second of IPv6.
    """

    def __init__(self, fleet):
        self.sent, self.answered = [], {}  # times by number; (time, site) by number
        self.ending = False
        self.sockets = []
        with inside_netns(fleet.namespaces()[0]):
            for i in range(64):
                family, source = ((socket.AF_INET, CLIENT4), (socket.AF_INET6, CLIENT6))[i % 2]
                self.sockets.append(socket.socket(family, socket.SOCK_DGRAM))
                self.sockets[-1].bind((source, 0))
                self.sockets[-1].setblocking(False)
        self.thread = threading.Thread(target=self.run)

    def ask(self, n):
        name = f"n{n}.wild.fleet.test" if n // 2 % 2 else "site.fleet.test"
        query = dns.message.make_query(name, "TXT")
        query.id = n % 65536
        sock = self.sockets[n % len(self.sockets)]
        with contextlib.suppress(OSError):  # a router may say that there is no route
            sock.sendto(query.to_wire(), (V6 if n % 2 else V4, 53))

    def take(self, sock):
        try:
            wire = sock.recv(4096)
        except OSError:
            return
        number = struct.unpack("!H", wire[:2])[0]
        message = dns.message.from_wire(wire)
        (site,) = message.answer[0][0].strings
        self.answered[number] = (time.monotonic(), site.decode())

    def run(self):
        selector = selectors.DefaultSelector()
        for sock in self.sockets:
            selector.register(sock, selectors.EVENT_READ)
        begin = time.monotonic()
        while not self.ending or time.monotonic() < self.sent[-1] + LOST_S:
            due = begin + len(self.sent) / QUERIES_PER_S
            now = time.monotonic()
            if now >= due and not self.ending:
                self.sent.append(now)
                self.ask(len(self.sent) - 1)
                continue
            for key, _ in selector.select(max(0, min(due - now, 0.05)) if not self.ending
                                          else 0.05):
                self.take(key.fileobj)
            if self.ending and len(self.answered) == len(self.sent):
                return

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.ending = True
        self.thread.join()
        for sock in self.sockets:
            sock.close()
        assert len(self.sent) < 65536
        if not exception[0]:
            assert len(self.answered) > len(self.sent) / 4

    def lost(self, since=0.0, only4=False):
        """Numbers of those without an answer, asked since then. After the end."""
        return [n for n, at in enumerate(self.sent)
                if at >= since and n not in self.answered and not (only4 and n % 2)]

    def sites(self, since=0.0, until=1e18):
        """The hosts that answered queries in that time."""
        return {self.answered[n][1] for n, at in enumerate(self.sent) if since <= at < until
                and n in self.answered}

    def ask_more(self, n):
        """Waits until so many more have been asked."""
        end = len(self.sent) + n
        wait_for("questions", lambda: len(self.sent) >= end, 10 + n / QUERIES_PER_S)
        return self

    def now(self):
        return time.monotonic()


def run_fleet(folder, is_patient):
    if os.geteuid():
        pytest.skip("network namespaces and XDP need root")
    if not has("bird"):
        pytest.skip("bird2 is not installed")
    one = Fleet(folder, is_patient)
    try:
        one.up()
        yield one
    finally:
        one.close()


@pytest.fixture
def fleet(tmp_path):
    yield from run_fleet(tmp_path, True)


@pytest.fixture
def quick_fleet(tmp_path):
    """Where it is BIRD that has to see that another one has gone."""
    yield from run_fleet(tmp_path, False)


# --- The fleet ------------------------------------------------------------------------------------


def test_drained_and_upgraded_without_a_lost_query(fleet):
    """Both answer. Each in turn is drained, stopped, started and brought back, and no query is
    lost."""
    with Asker(fleet) as asker:
        asker.ask_more(100)
        for host, other in (fleet.hosts, fleet.hosts[::-1]):
            host.daemon.ctl("drain", "on", "upgrade")
            fleet.wait_announced(other.letter)
            gone = asker.now()
            asker.ask_more(50)
            assert host.daemon.stop() == 0
            host.start_daemon()
            asker.ask_more(50)
            assert fleet.announced() == {other.letter}, "it is still drained"
            back = asker.now()
            host.daemon.ctl("drain", "off")
            fleet.wait_announced("a", "b")
            asker.ask_more(100)
            assert asker.sites(gone, back - 0.1) == {other.letter}
    assert asker.sites(asker.sent[-80]) == {"a", "b"}
    # Of IPv6 BIRD takes the route away for a moment when it changes next hops.
    assert not asker.lost(only4=True)
    for host in fleet.hosts:
        assert "drained: upgrade" in host.health_log()


@pytest.mark.alone
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_daemon_dies_or_hangs(fleet, number):
    a, b = fleet.hosts
    with Asker(fleet) as asker:
        asker.ask_more(100)
        a.daemon.signal(number)
        fleet.wait_announced("b")
        gone = asker.now()
        asker.ask_more(200)
    assert asker.sites(0, gone) == {"a", "b"}
    assert asker.sites(gone) == {"b"} and not asker.lost(gone)
    if number == signal.SIGKILL:
        a.daemon.reap()
        # A look that was under way has its connection closed; a later one finds nobody.
        assert re.search("no volleyd answers|does not reply on .*: the other side has closed",
                         a.health_log())
        a.start_daemon()
    else:
        a.daemon.signal(signal.SIGCONT)
        assert "does not reply" in a.health_log()
        assert asker.lost(0), "it took seconds to see, and nobody answered"
    fleet.wait_announced("a", "b")
    assert b.daemon.status()["ready"]


def check_a_is_left(fleet, cut):
    """Behind cut() the routers find out within seconds, and no answer is lost from then on."""
    with Asker(fleet) as asker:
        asker.ask_more(50)
        cut()
        fleet.wait_announced("b", seconds=5)
        gone = asker.now()
        asker.ask_more(100)
    assert asker.sites(gone) == {"b"} and not asker.lost(gone)


@pytest.mark.alone
def test_a_host_falls_silent(quick_fleet):
    """
    Its BIRD speaks no more, though the link is up: BFD tells the router, before BGP's hold time.
    """
    check_a_is_left(quick_fleet,
                    lambda: quick_fleet.hosts[0].bird.process.send_signal(signal.SIGSTOP))


@pytest.mark.alone
def test_the_cable_is_pulled(quick_fleet):
    host = quick_fleet.hosts[0]
    check_a_is_left(quick_fleet,
                    lambda: quick_fleet.ip(host.netns, "link", "set", "dev", "s0", "down"))


def test_the_loop_withdraws_before_it_ends(fleet):
    a, _ = fleet.hosts
    with Asker(fleet) as asker:
        asker.ask_more(50)
        assert a.stop_health() == 0
        assert fleet.announced() == {"b"}, "it has waited until the routers knew"
        assert a.daemon.stop() == 0
        asker.ask_more(100)
    assert not asker.lost(only4=True)


@pytest.mark.alone
def test_exabgp(fleet):
    """In BIRD's place on one host: it starts anycast-health itself."""
    a, _ = fleet.hosts
    with Asker(fleet) as asker:
        assert a.stop_health() == 0
        a.bird.close()
        a.bird = None
        wait_for("b alone", lambda: fleet.announced() == {"b"}, 20)
        text = (CONFIGS / "exabgp.conf").read_text(encoding="ascii")
        before = "/usr/local/lib/volley/anycast-health"
        assert before in text
        path = a.folder / "exabgp.conf"
        path.write_text(text.replace(before, f"{HEALTH} -i 0.1 -c {a.daemon.socket}"),
                        encoding="ascii")
        with running_exabgp(a, path):
            wait_for("a again", lambda: fleet.announced() == {"a", "b"}, 30)
            both = asker.now()
            asker.ask_more(100)
            a.daemon.ctl("drain", "on")
            wait_for("b alone", lambda: fleet.announced() == {"b"}, 20)
            gone = asker.now()
            asker.ask_more(50)
            a.daemon.ctl("drain", "off")
            wait_for("a again", lambda: fleet.announced() == {"a", "b"}, 20)
    assert asker.sites(both, gone) == {"a", "b"}
    assert not asker.lost(only4=True)


@contextlib.contextmanager
def running_exabgp(host, path):
    with open(host.folder / "exabgp.log", "wb") as log, subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{host.netns}", "--", "exabgp", str(path)],
            env={**ENV, "exabgp_daemon_drop": "false", "VOLLEYCTL": str(BIN / "volleyctl")},
            stdout=log, stderr=log) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(20)
            wait_for("its anycast-health has ended", lambda: not runs_there(host, HEALTH), 20)


def runs_there(host, program):
    """True if a process of the host has PROGRAM in its command."""
    for pid in run("ip", "netns", "pids", host.netns).stdout.split():
        with contextlib.suppress(OSError):
            if os.fsencode(program) in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
    return False


# --- The page -------------------------------------------------------------------------------------


def blocks():
    """
    The indented blocks of docs/fleet.md whose first line names a file: (that line, file, text).
    """
    page = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")
    for block in re.findall(r"(?:^(?: {4}.*)?\n)+", page, re.M):
        lines = [line[4:] for line in block.strip("\n").split("\n")]
        name = re.match(r"# (\S+\.(?:yaml|conf))", lines[0])
        if name:
            yield lines[0], pathlib.Path(name[1]).name, "\n".join(lines[1:])


def configure(daemon, what, addresses=None):
    """
    As the page has it, but for folders, the interface's name, and other addresses of the host.
    """
    (text,) = [text for line, _, text in blocks() if line == f"# /etc/volley/volley.yaml: {what}"]
    for old, new in (addresses or {}).items():
        text = text.replace(old, new)
    config = yaml.safe_load(text)
    config["server"]["storage"] = str(daemon.folder / "state")
    config["interfaces"] = [{"name": "s0"}]
    config["cache"] = {"size": "8M"}
    config["control"] = {"socket": str(daemon.socket)}
    (daemon.folder / "state").mkdir(exist_ok=True)
    daemon.path.write_text(yaml.safe_dump(config), encoding="utf-8")


def serials(fleet, name, *addresses):
    """The serial number that each host answers with at its own address; None: no good answer."""
    found = []
    with inside_netns(fleet.namespaces()[0]), socket.socket(socket.AF_INET,
                                                            socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.5)
        for address in addresses:
            try:
                sock.sendto(dns.message.make_query(name, "SOA").to_wire(), (address, 53))
                answer = dns.message.from_wire(sock.recv(4096)).answer
            except OSError:
                answer = None
            found.append(answer[0][0].serial if answer else None)
    return found


def test_zones_of_the_page_from_the_primary_to_all(fleet):
    """A zone that changes there changes on every host."""
    a, b = fleet.hosts
    primary = fleet.add_primary("203.0.113.10")
    configure(primary, "the hidden primary")
    for name in ("example.com", "example.net"):
        write_zone(primary.folder / f"{name}.zone")
    primary.start()
    for host, own in ((a, "198.51.100.2"), (b, "198.51.100.6")):
        assert host.daemon.stop() == 0
        configure(host.daemon, "a host of the fleet", {"198.51.100.2": own})
        host.daemon.start()
    hosts = ("198.51.100.2", "198.51.100.6")
    for name in ("example.com", "example.net"):
        wait_for(f"{name} is everywhere", lambda name=name: serials(fleet, name, *hosts) == [1, 1],
                 30)
    write_zone(primary.folder / "example.com.zone", serial=2)
    primary.ctl("zone", "reload", "example.com")
    wait_for("the change is everywhere", lambda: serials(fleet, "example.com", *hosts) == [2, 2],
             30)
    fleet.wait_announced("a", "b")


def test_the_page_shows_what_is_tested(tmp_path):
    """Its configurations are valid, its pieces of BIRD's are those of the tests."""
    seen = collections.Counter()
    for _, name, text in blocks():
        seen[name] += 1
        if name != "volley.yaml":
            assert text in (CONFIGS / name).read_text(encoding="ascii"), text
            continue
        path = tmp_path / f"{seen[name]}.yaml"
        path.write_text(text, encoding="utf-8")
        run(BIN / "volleyd", "--check", "-c", path)
    assert seen == {"volley.yaml": 6, "bird-host.conf": 2}


# --- The loop alone -------------------------------------------------------------------------------


class Loop:
    """anycast-health with a volleyctl that exits with what is in a file."""

    def __init__(self, folder, *words):
        self.status, self.looks = folder / "status", folder / "looks"
        stub = folder / "volleyctl"
        stub.write_text(f"#!/bin/sh\necho \"$*\" >>{self.looks}\necho 'not healthy: so'\nexit "
                        f"$(cat {self.status})\n",
                        encoding="ascii")
        stub.chmod(0o755)
        self.looks.touch()
        self.set(0)
        self.command = [str(HEALTH), "-s", "0", *map(str, words)]
        self.env = {**ENV, "VOLLEYCTL": str(stub)}

    def set(self, status):
        new = self.status.with_suffix(".new")
        new.write_text(f"{status}\n", encoding="ascii")
        new.replace(self.status)

    def n_looks(self):
        return len(self.looks.read_text(encoding="ascii").splitlines())

    def look_more(self, n):
        end = self.n_looks() + n
        wait_for("looks", lambda: self.n_looks() >= end, 20)

    def start(self, out, **kwargs):
        return subprocess.Popen(self.command, env=self.env, stdout=out, stderr=subprocess.PIPE,
                                text=True, **kwargs)


@contextlib.contextmanager
def running(loop, path):
    with open(path, "wb") as out, loop.start(out) as process:
        try:
            yield process
        finally:
            process.kill()


def test_hysteresis(tmp_path):
    """Three good looks announce, two bad ones withdraw, and one does when there is no daemon."""
    loop = Loop(tmp_path, "-i", 0.02, "-g", 3, "-b", 2, "-o", "--zones any", "exabgp",
                "192.0.2.53/32", "192.0.2.54/32")
    out = tmp_path / "out"
    up = [f"announce route 192.0.2.{n}/32 next-hop self" for n in (53, 54)]
    down = [f"withdraw route 192.0.2.{n}/32 next-hop self" for n in (53, 54)]

    def said():
        return out.read_text(encoding="ascii").splitlines()
    with running(loop, out) as process:
        wait_for("announced", lambda: said() == up)
        assert loop.n_looks() >= 3
        loop.set(1)
        wait_for("withdrawn", lambda: said() == up + down)
        loop.set(0)
        wait_for("announced again", lambda: said() == up + down + up)
        loop.look_more(5)
        loop.set(3)
        wait_for("withdrawn", lambda: said() == up + down + up + down)
        loop.set(0)
        wait_for("announced again", lambda: said() == (up + down) * 2 + up)
        process.terminate()
        assert process.wait(20) == 0
        assert said() == (up + down) * 3
        log = process.stderr.read()
    assert log.count("healthy: announced") == 3 and log.count("withdrawn: not healthy: so") == 2
    assert "health --zones any" in loop.looks.read_text(encoding="ascii")


@pytest.mark.parametrize("statuses, n_good, n_bad, says", [
    ([0, 0, 1, 0, 0, 1], 3, 2, []),
    ([0, 0, 0, 1, 0, 1, 0], 3, 2, ["announce"]),
    ([0, 0, 0, 1, 1, 0], 3, 2, ["announce", "withdraw"]),
    ([0, 0, 0, 3, 0], 3, 2, ["announce", "withdraw"]),
    ([1, 0], 1, 1, ["withdraw", "announce"]),
    ([127, 0, 0], 2, 5, ["withdraw", "announce"]),
    ([2, 0], 3, 5, ["withdraw"]),
])
def test_what_looks_in_a_row_lead_to(tmp_path, statuses, n_good, n_bad, says):
    """The stub takes a status from a list with each look, and the loop ends where the list does."""
    rows = tmp_path / "rows"
    rows.write_text("".join(f"{status}\n" for status in statuses), encoding="ascii")
    loop = Loop(tmp_path, "-i", 0.001, "-g", n_good, "-b", n_bad, "exabgp", "192.0.2.53/32")
    (tmp_path / "volleyctl").write_text(
        f"#!/bin/sh\nstatus=$(head -n 1 {rows})\nsed -i 1d {rows}\n"
        f"[ -n \"$status\" ] || {{ kill -KILL $PPID; exit; }}\nexit $status\n", encoding="ascii")
    out = tmp_path / "out"
    with running(loop, out) as process:
        process.wait(20)
    assert [line.split()[0] for line in out.read_text(encoding="ascii").splitlines()] == says


def test_once(tmp_path):
    loop = Loop(tmp_path, "-1", "command", "sh", "-c", f"echo $0 $1 >>{tmp_path}/told", "volley")
    for status in (0, 1, 3):
        loop.set(status)
        with loop.start(subprocess.DEVNULL) as process:
            assert process.wait(20) == status
    assert (tmp_path / "told").read_text(encoding="ascii").split() == ["volley", "up", "volley",
                                                                       "down", "volley", "down"]


def test_addresses_come_and_go(tmp_path, lab):
    """For routing daemons that announce what an interface has: the service address stays on lo."""
    # a dummy would do, where there are such
    lab.ip("s", "link", "add", "anycast0", "type", "bridge")
    lab.ip("s", "link", "set", "anycast0", "up")
    lab.ip("s", "address", "add", "203.0.113.53/32", "dev", "lo")
    lab.ip("s", "address", "add", "2001:db8:5::53/128", "dev", "lo")
    loop = Loop(tmp_path, "-1", "address", "anycast0", "203.0.113.53/32", "2001:db8:5::53/128")
    loop.command = ["nsenter", f"--net=/run/netns/{lab.name}-s", "--", *loop.command]

    def there():
        shown = json.loads(lab.ip("s", "-j", "address", "show", "dev", "anycast0", "scope",
                                  "global").stdout)
        return {info["local"] for link in shown for info in link.get("addr_info", []) if info}
    both = {"203.0.113.53", "2001:db8:5::53"}
    for status, expected in ((0, both), (0, both), (1, set()), (1, set()), (0, both)):
        loop.set(status)
        with loop.start(subprocess.DEVNULL) as process:
            assert process.wait(20) == status
            assert not re.sub("anycast-health: .*\n", "", process.stderr.read())
        assert there() == expected
        with lab.socket("s") as sock:
            sock.bind(("203.0.113.53", 0))


@pytest.mark.parametrize("words",
                         [[], ["bird"], ["-g", "0", "bird", "x"], ["-b", "two", "bird", "x"],
                          ["address", "d"],
                                   ["frr", "x"], ["-x", "bird", "x"]])
def test_usage(words):
    said = run(HEALTH, *words, check=False)
    assert said.returncode == 2 and said.stderr


def test_bird_that_does_not_listen_is_complained_of_once(tmp_path):
    loop = Loop(tmp_path, "-i", 0.02, "-g", 1, "-B", tmp_path / "none", "bird", "anycast4")
    with running(loop, tmp_path / "out") as process:
        loop.look_more(4)
        process.terminate()
        process.wait(20)
        log = process.stderr.read()
    assert log.count("birdc enable anycast4: ") == 1 and log.count(
        "birdc disable anycast4: ") == 1, log
