# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Link-local addresses with their interface (RFC 4007), wherever the configuration has an address."""
import json
import socket

import dns.flags
import dns.message
import dns.opcode
import pytest

from netlab import BIN, TIMEOUT, V4, texts, zone

OURS, CLIENT = "fe80::53", "fe80::1"
WWW = ["192.0.2.80", "192.0.2.81"]


@pytest.fixture(autouse=True)
def addresses(lab):
    """The lab's interfaces have none."""
    for end, where in ("s", OURS), ("c", CLIENT):
        lab.ip(end, "address", "add", f"{where}/64", "dev", f"{end}0", "nodad")


def with_scope(lab, where, port, end="c"):
    with lab.inside(end):
        return where, port, 0, socket.if_nametoindex(f"{end}0")


def ask(lab, kind, where=OURS, port=53):
    query = dns.message.make_query("www.example.com", "A")
    with lab.socket("c", socket.AF_INET6, kind) as sock:
        sock.connect(with_scope(lab, where, port))
        if kind == socket.SOCK_STREAM:
            dns.query.send_tcp(sock, query)
            return dns.query.receive_tcp(sock)[0]
        sock.send(query.to_wire())
        return dns.message.from_wire(sock.recv(4096))


@pytest.mark.parametrize("xdp", ["auto", "off"])
def test_queries_are_answered(lab, daemon, xdp):
    where = f"{OURS}%s0"
    daemon.start(server={"listen": [V4, where]}, interfaces=[{"name": "s0", "xdp": xdp}])
    assert f"{where}@53" in daemon.status()["listen"]
    for kind in 2 * (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        assert texts(ask(lab, kind)) == WWW
    assert not daemon.degraded() and daemon.ctl("health").returncode == 0
    rows = json.loads(lab.exec("s", BIN / "volleyctl", "--json", "-s", daemon.socket, "doctor",
                               "--config", daemon.path, check=False).stdout)["checks"]
    assert {row["state"] for row in rows if row["where"] == f"{where}@53"} == {"ok"}
    assert lab.exec("s", BIN / "volleyctl", "-s", daemon.socket, "health", "--probe",
                    "www.example.com/A").returncode == 0


def test_an_address_that_goes(lab, daemon):
    where = f"{OURS}%s0"
    daemon.start(server={"listen": [V4, where]})
    lab.ip("s", "address", "del", f"{OURS}/64", "dev", "s0")
    assert f"service address {where}: no interface has this address" in daemon.degraded()


def test_a_reload_beside_a_link_local_address(lab, daemon):
    """A worker opens the listener. It may not ask for the interface's name (base/sandbox.h)."""
    where = f"{OURS}%s0"
    daemon.start(server={"listen": [where]})
    for listen in ([where, f"{V4}@5353"], [where]):
        daemon.configure(server={"listen": listen})
        assert daemon.ctl("zone", "reload").returncode == 0
        name = f"tcp {where}@53" + " +1" * (len(listen) - 1)
        assert {name} == {port["name"] for port in daemon.json("port", "status")["ports"]
                          if port["kind"] == "tcp"}
    assert not daemon.degraded()


def test_a_reload_takes_the_number_of_the_interface(lab, daemon):
    number = with_scope(lab, OURS, 53, "s")[3]
    daemon.start(server={"listen": [V4]})
    daemon.configure(server={"listen": [V4, f"{OURS}%{number}@5353"]})
    daemon.ctl("zone", "reload")
    assert texts(ask(lab, socket.SOCK_DGRAM, port=5353)) == WWW


@pytest.mark.parametrize("section", [
    {"server": {"listen": [V4, "fe80::53%nosuch0"]}},
    {"metrics": {"listen": "fe80::53%nosuch0@9253"}},
    {"remotes": [{"name": "peer", "address": ["fe80::1%nosuch0"]}]},
    {"recursion": {"allow": ["192.0.2.0/24"], "forward": ["fe80::1%nosuch0"]}},
], ids=["listen", "metrics", "remote", "forward"])
def test_an_interface_that_is_not_there(daemon, section):
    daemon.configure(**section)
    status, said = daemon.run_failing()
    assert status == 2 and "this host has no such interface, or not yet" in said


def test_notify_and_metrics(lab, daemon):
    with lab.socket("c", socket.AF_INET6) as secondary, \
            lab.socket("c", socket.AF_INET6, socket.SOCK_STREAM) as scraper:
        secondary.bind(with_scope(lab, CLIENT, 53))
        daemon.start(remotes=[{"name": "peer", "address": [f"{CLIENT}%s0"]}],
                     zones=[{**zone("example.com"), "notify": ["peer"]}],
                     metrics={"listen": f"{OURS}%s0@9253"})
        wire, sender = secondary.recvfrom(4096)
        assert dns.message.from_wire(wire).opcode() == dns.opcode.NOTIFY
        assert sender[0].partition("%")[0] == OURS
        scraper.connect(with_scope(lab, OURS, 9253))
        scraper.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert b"volley_ready 1" in scraper.makefile("rb").read()


def test_a_forwarder(lab, daemon):
    """The upstream answers from the address that was asked, on that interface."""
    with lab.socket("c", socket.AF_INET6) as upstream:
        upstream.bind(with_scope(lab, CLIENT, 53))
        daemon.start(recursion={"allow": ["192.0.2.0/24"], "forward": [f"{CLIENT}%s0"]})
        query = dns.message.make_query("www.elsewhere.com", "A")
        with lab.socket("c") as client:
            client.sendto(query.to_wire(), (V4, 53))
            upstream.settimeout(TIMEOUT)
            wire, sender = upstream.recvfrom(4096)
            reply = dns.message.make_response(dns.message.from_wire(wire))
            reply.flags |= dns.flags.RA
            reply.answer.append(dns.rrset.from_text("www.elsewhere.com.", 60, "IN", "A",
                                                    "192.0.2.99"))
            upstream.sendto(reply.to_wire(), sender)
            assert texts(dns.message.from_wire(client.recv(4096))) == ["192.0.2.99"]
