# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A reload of server.listen: addresses come and go, the others lose no query, and an address that
cannot be opened changes nothing."""
import itertools
import json
import socket
import threading

import dns.message
import pytest

from netlab import ROOT, V4, V6, Answered, family_of, texts, wait_for
from test_start import without

WWW = ["192.0.2.80", "192.0.2.81"]
VIP, SECOND = "198.51.100.53", "198.51.100.54"
WWW_QUERY = dns.message.make_query("www.example.com", "A")
AT_A_TIME = 16  # queries of the load that wait for their answers: no buffer on the way overflows


@pytest.fixture
def vips(lab):
    """The host has them, and the client sends to them."""
    for vip in (VIP, SECOND):
        lab.ip("s", "address", "add", f"{vip}/32", "dev", "lo")
        lab.ip("c", "route", "add", vip, "via", V4)


def listen(daemon, *addresses, **sections):
    """The configuration says so."""
    server = {"listen": list(addresses), **sections.pop("server", {})}
    return daemon.configure(server=server, **sections)


def reload(daemon):
    """It does all that the file says."""
    assert "warnings" not in daemon.json("zone", "reload")
    assert daemon.degraded() == ""


def refused(daemon):
    """The message of a reload that fails."""
    reply = daemon.ctl("zone", "reload", check=False)
    assert reply.returncode == 1
    return reply.stderr


class Load:
    """
    A client that asks one address all the time, over one socket; in .lost what was not answered at
    the end.
    """

    def __init__(self, lab, where):
        self.sock = lab.socket("c", family_of(where))
        self.sock.connect((where, 53))
        self.lost, self.n, self.ends = set(), 0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def ask(self, number):
        # each second one is a name that nobody has asked for: workers answer it
        name = f"n{number}.example.com" if number % 2 else "www.example.com"
        query = dns.message.make_query(name, "A")
        query.id = number % 65536
        self.sock.send(query.to_wire())
        self.lost.add(query.id)

    def hear(self):
        self.lost.remove(int.from_bytes(self.sock.recv(65535)[:2], "big"))

    def run(self):
        for self.n in itertools.count():
            if self.ends.is_set():
                break
            self.ask(self.n)
            if len(self.lost) == AT_A_TIME:
                self.hear()
        while self.lost:
            self.hear()

    def __enter__(self):
        self.thread.start()
        return self

    def wait_more(self, n=100):
        """Until so many more have been asked."""
        first = self.n
        wait_for("queries", lambda: self.n >= first + n or not self.thread.is_alive())

    def __exit__(self, *exception):
        self.ends.set()
        self.thread.join()
        self.sock.close()


def test_an_address_comes_and_goes(lab, daemon, vips):
    """
    When the reload has ended the driver answers at the new address; of one that is gone it knows
    nothing.
    """
    daemon.start()
    assert texts(lab.ask()) == WWW
    assert not lab.is_answered(where=VIP)
    listen(daemon, V4, V6, VIP)
    reload(daemon)
    status = daemon.status()
    assert status["listen"] == [f"{V4}@53", f"{V6}@53", f"{VIP}@53"] and status["services"] == 3
    with Answered(daemon) as three:
        assert texts(lab.ask(where=VIP)) == WWW
        assert texts(lab.ask("mail.example.com", where=VIP)) == ["192.0.2.25"]
        assert texts(lab.tcp(WWW_QUERY, VIP)) == WWW
    assert three.by == {"driver": 1, "worker": 1, "tcp": 1}
    listen(daemon, V4, V6)
    reload(daemon)
    assert daemon.status()["services"] == 2
    passed = daemon.stats()["driver"]["passed"]
    with Answered(daemon) as none:
        assert not lab.is_answered(where=VIP)
        with pytest.raises(ConnectionRefusedError):
            lab.connect("c", VIP)
    assert none.by == {}
    wait_for("the driver leaves it to the kernel",
             lambda: daemon.stats()["driver"]["passed"] > passed)
    assert texts(lab.ask()) == texts(lab.tcp(WWW_QUERY)) == WWW


@pytest.mark.parametrize("where", [V4, V6])
@pytest.mark.parametrize("sections", [{}, {"interfaces": None}], ids=["driver", "kernel-sockets"])
def test_others_lose_no_query(lab, daemon, vips, sections, where):
    """
    One address is asked all the time while others come and go; a new one answers the first query.
    """
    daemon.start(**sections)
    with Load(lab, where) as load:
        for i in range(8):
            listen(daemon, V4, V6, VIP, **sections)
            reload(daemon)
            assert texts(lab.ask(where=VIP)) == WWW
            assert texts(lab.tcp(WWW_QUERY, VIP)) == WWW
            listen(daemon, *([V4, V6, SECOND] if i % 2 else [V6, V4]), **sections)
            reload(daemon)
            assert not lab.is_answered(where=VIP, timeout=0.01)
            load.wait_more()
    assert load.n >= 800 and not load.lost


def test_a_connection_outlives_its_address(lab, daemon, vips):
    listen(daemon, V4, V6, VIP).start()
    query = WWW_QUERY.to_wire()
    with lab.connect("c", VIP) as client, client.makefile("rb") as replies:
        for addresses in ((V4, V6, VIP), (V4, V6), (V4, V6, SECOND)):
            listen(daemon, *addresses)
            reload(daemon)
            client.sendall(len(query).to_bytes(2, "big") + query)
            answer = replies.read(int.from_bytes(replies.read(2), "big"))
            assert texts(dns.message.from_wire(answer)) == WWW


def test_wildcards_and_addresses(lab, daemon, vips):
    """Ours may overlap: an address beside a wildcard, and in its place."""
    daemon.start()
    for addresses in (["0.0.0.0", "::"], ["0.0.0.0", "::", VIP], [VIP, V4, V6], ["::", V4],
                      [V4, V6]):
        listen(daemon, *addresses)
        reload(daemon)
        for where in (V4, V6, *([VIP] if VIP in addresses or "0.0.0.0" in addresses else [])):
            assert texts(lab.ask(where=where)) == WWW
            assert texts(lab.tcp(WWW_QUERY, where)) == WWW
    assert not lab.is_answered(where=VIP)


@pytest.mark.parametrize("where, wildcards", [(V4, ["0.0.0.0", V6]), (V6, ["::", V4])])
def test_a_wildcard_takes_the_place_of_an_address(lab, daemon, where, wildcards):
    """And gives it back: clients of this address by kernel sockets lose nothing."""
    daemon.start(interfaces=None)
    with Load(lab, where) as load:
        for _ in range(5):
            listen(daemon, *wildcards, interfaces=None)
            reload(daemon)
            load.wait_more(300)
            listen(daemon, V4, V6, interfaces=None)
            reload(daemon)
            load.wait_more(300)
    assert load.n >= 3000 and not load.lost


@pytest.mark.parametrize("kind, word", [(socket.SOCK_DGRAM, "UDP"), (socket.SOCK_STREAM, "TCP")])
def test_an_address_that_another_server_has(lab, daemon, vips, kind, word):
    """The reload fails and says why; nothing is changed, not even what could have been."""
    daemon.start()
    assert texts(lab.ask()) == WWW
    before = daemon.status()["listen"]
    with lab.socket("s", kind=kind) as other:
        other.bind((VIP, 53))
        if kind == socket.SOCK_STREAM:
            other.listen()
        listen(daemon, SECOND, V6, VIP, zones=[])
        says = f"{VIP}@53: cannot listen ({word}): Address already in use: another server has this address and port"
        assert says in refused(daemon)
        assert daemon.status()["listen"] == before and daemon.status()["services"] == 2
        assert not lab.is_answered(where=SECOND)
        with pytest.raises(ConnectionRefusedError):
            lab.connect("c", SECOND)
        assert texts(lab.ask()) == texts(lab.tcp(WWW_QUERY)) == WWW
    listen(daemon, SECOND, V6, VIP)
    reload(daemon)
    assert texts(lab.ask(where=SECOND)) == texts(lab.ask(where=VIP)) == WWW
    assert not lab.is_answered()


def test_what_is_refused_behind_it_takes_it_back(lab, daemon, vips):
    """The addresses are opened before the rest of the configuration is accepted."""
    daemon.start()
    listen(daemon, V4, V6, VIP, recursion={"allow": ["192.0.2.0/24"], "root-hints": "/nothing"})
    assert "root-hints: /nothing: No such file" in refused(daemon)
    assert daemon.status()["services"] == 2 and not lab.is_answered(where=VIP)
    with pytest.raises(ConnectionRefusedError):
        lab.connect("c", VIP)


def test_a_port_that_it_may_not_have(lab, daemon):
    listen(daemon, f"{V4}@5300").spawn(before=without("net_bind_service"))
    daemon.wait_ready()
    listen(daemon, f"{V4}@5300", V4)
    assert f"{V4}@53: cannot listen (UDP): Permission denied: ports below 1024 need CAP_NET_BIND_SERVICE" in refused(daemon)
    assert texts(lab.ask(port=5300)) == WWW


@pytest.mark.parametrize("address", [V6, "::", "::1"])
def test_a_kernel_without_ipv6(lab, daemon, address):
    """The addresses of IPv6, one of which the package's configuration has, are not on this host."""
    prefix = [ROOT / "tests/net/without_ipv6.py"]
    listen(daemon, V4, address).spawn(before=prefix)
    daemon.wait_ready()
    assert texts(lab.ask()) == texts(lab.tcp(WWW_QUERY)) == WWW
    missing = f"service address {address}: no interface has this address"
    assert missing in daemon.degraded() and missing in daemon.log()
    listen(daemon, V4)
    reload(daemon)
    listen(daemon, V4, address)
    daemon.ctl("zone", "reload")
    assert missing in daemon.degraded()
    daemon.stop()
    listen(daemon, address).spawn(before=prefix)
    assert daemon.reap() == 1
    assert f"{address}@53: cannot listen (UDP): Address family not supported by protocol" in daemon.log()


def test_apply_and_diff(lab, daemon, vips, tmp_path):
    """
    config diff says that no start is needed; apply with an address that cannot be had leaves the
    file as it is.
    """
    daemon.start()
    before = daemon.path.read_text(encoding="utf-8")
    config = json.loads(before)
    config["server"]["listen"].append(VIP)
    other = tmp_path / "other.yaml"
    other.write_text(json.dumps(config), encoding="utf-8")
    (change,) = daemon.json("config", "diff", other)["changes"]
    assert (change ==
            {"key": "server.listen", "change": "added", "becomes": VIP, "needs_start": False})
    with lab.socket("s") as taken:
        taken.bind((VIP, 53))
        reply = daemon.ctl("config", "apply", other, check=False)
        assert reply.returncode == 1 and "cannot listen" in reply.stderr
        assert daemon.path.read_text(encoding="utf-8") == before
    daemon.ctl("config", "apply", other)
    assert texts(lab.ask(where=VIP)) == WWW
    assert daemon.path.read_text(encoding="utf-8") == other.read_text(encoding="utf-8")
