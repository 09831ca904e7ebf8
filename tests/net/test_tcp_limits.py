# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The clients that are served over TCP when one client opens more connections than there are
places."""
import contextlib
import socket
import ssl

import dns.edns
import dns.message
import dns.query

from netlab import CLIENT4, V4, texts, wait_for
from secondaries import certificate

WWW = ["192.0.2.80", "192.0.2.81"]
QUERY = dns.message.make_query("www.example.com", "A")
SECOND = "192.0.2.54"
HALF = b"\0\x40half"
FAR = "198.51.100.9"


def connect_from(lab, source, where):
    sock = lab.socket("c", kind=socket.SOCK_STREAM)
    sock.bind((source, 0))
    sock.connect((where, 53))
    return sock


def ask_from(lab, source, where=V4):
    """The answer's addresses over a new connection."""
    with connect_from(lab, source, where) as sock:
        dns.query.send_tcp(sock, QUERY)
        return texts(dns.query.receive_tcp(sock)[0])


def half_messages(lab, where, n, stack):
    for _ in range(n):
        sock = stack.enter_context(connect_from(lab, CLIENT4, where))
        sock.sendall(HALF)


def there_is_another_client(lab):
    lab.ip("c", "address", "add", f"{FAR}/24", "dev", "c0")
    lab.ip("s", "route", "add", "198.51.100.0/24", "via", CLIENT4)


def n_open(daemon):
    tcp = [port for port in daemon.json("port", "status")["ports"] if port["kind"] == "tcp"]
    return sum(port.get("conns_opened", 0) - port.get("conns_closed", 0) for port in tcp)


def test_half_messages_take_no_place_from_others(lab, daemon):
    """
    Three times as many half messages as there are places: each honest query is answered, wherever
    from.
    """
    there_is_another_client(lab)
    daemon.start(server={"listen": [V4], "tcp": {"max-connections": 60}})
    with contextlib.ExitStack() as stack:
        for _ in range(6):
            half_messages(lab, V4, 30, stack)
            for source in (FAR, CLIENT4, FAR, CLIENT4):
                assert ask_from(lab, source) == WWW


def test_all_places_are_there_for_each_address(lab, daemon):
    """2 workers and 4 addresses: max-connections is not divided by them."""
    there_is_another_client(lab)
    addresses = [V4, SECOND, "192.0.2.55", "192.0.2.56"]
    for address in addresses[1:]:
        lab.ip("s", "address", "add", f"{address}/24", "dev", "s0")
    daemon.start(server={"listen": addresses, "tcp": {"max-connections": 80}})
    with contextlib.ExitStack() as stack:
        idle = []
        for _ in range(30):
            sock = stack.enter_context(connect_from(lab, FAR, SECOND))
            dns.query.send_tcp(sock, QUERY)
            assert texts(dns.query.receive_tcp(sock)[0]) == WWW
            idle.append(sock)
        for _ in range(5):
            assert ask_from(lab, CLIENT4, SECOND) == WWW
        for sock in idle:
            dns.query.send_tcp(sock, QUERY)
            assert texts(dns.query.receive_tcp(sock)[0]) == WWW


def test_connections_are_never_more_than_allowed(lab, daemon):
    """The limit holds for both workers together: soon there are no more connections, however they
    are distributed."""
    daemon.start(server={"listen": [V4], "tcp": {"max-connections": 20,
                                                 "max-connections-per-client": 20}})
    with contextlib.ExitStack() as stack:
        half_messages(lab, V4, 60, stack)
        assert ask_from(lab, CLIENT4) == WWW
        wait_for("20 connections at most", lambda: n_open(daemon) <= 20)


# ---- How long a connection may be idle: RFC 7828 -------------------------------------------------

def keepalive(value=b"", name="www.example.com"):
    return dns.message.make_query(name, "A", use_edns=0,
                                  options=[dns.edns.GenericOption(dns.edns.OptionType(11), value)])


def timeout_of(answer):
    """Units of 100 ms, or None where nothing is said."""
    found = [option.data for option in answer.options if option.otype == 11]
    assert len(found) <= 1 and all(len(data) == 2 for data in found)
    return int.from_bytes(found[0], "big") if found else None


def test_keepalive_is_told_over_tcp_alone(lab, daemon, tmp_path):
    """A client that asks gets the idle timeout, by worker and cache and over TLS; over UDP, or
    without asking, it does not."""
    tls = certificate(tmp_path)
    daemon.start(server={"listen": [V4], "tcp": {"idle-timeout": "7s"}, "tls": tls["server"]})
    for _ in range(2):
        assert timeout_of(lab.tcp(keepalive())) == 70
        assert timeout_of(lab.udp(keepalive())) is None
    assert timeout_of(lab.tcp(keepalive(name="nothing.example.com"))) == 70
    assert timeout_of(lab.tcp(dns.message.make_query("www.example.com", "A", use_edns=0))) is None
    assert timeout_of(lab.tcp(keepalive(b"\x01\x00"))) is None, "a client gives no timeout"
    context = ssl.create_default_context(cafile=tls["bundle"])
    with context.wrap_socket(lab.connect("c", V4, 853), server_hostname=tls["name"]) as sock:
        dns.query.send_tcp(sock, keepalive())
        assert timeout_of(dns.query.receive_tcp(sock)[0]) == 70


def test_keepalive_is_less_as_places_fill(lab, daemon):
    """It is the timeout that holds now; 0 where the connection ends with this answer."""
    daemon.start(server={"listen": [V4], "tcp": {"max-connections": 20, "max-queries": 2,
                                                 "max-connections-per-client": 20}})
    with contextlib.ExitStack() as stack:
        for _ in range(15):
            sock = stack.enter_context(lab.connect("c", V4))
            dns.query.send_tcp(sock, keepalive())
            told = timeout_of(dns.query.receive_tcp(sock)[0])
        assert 0 < told < 100
        dns.query.send_tcp(sock, keepalive())
        assert timeout_of(dns.query.receive_tcp(sock)[0]) == 0
        assert sock.recv(10) == b""


def backlogs(lab):
    """What each listener at V4 has, as ss tells it in the place of octets that wait to be sent."""
    return {int(line.split()[2])
            for line in lab.exec("s", "ss", "-Hltn", "src", V4).stdout.splitlines()}


def test_backlog_is_that_of_the_configuration(lab, daemon):
    daemon.start(server={"listen": [V4], "tcp": {"backlog": 77}})
    assert backlogs(lab) == {77}
    daemon.stop()
    daemon.start(server={"listen": [V4]})
    assert backlogs(lab) == {int(lab.exec("s", "sysctl", "-n", "net.core.somaxconn").stdout)}
