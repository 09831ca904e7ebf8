# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The main job: driver, worker, kernel sockets and TCP answer the queries that they should, over
every way in."""
import socket
import struct

import dns.edns
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import pytest

from netlab import (CLIENT4, CLIENT6, TIMEOUT, V4, V6, Answered, iface, query_frame, receive_frame,
                    texts, wait_for, write_zone, zone)

WWW = {"A": ["192.0.2.80", "192.0.2.81"], "AAAA": ["2001:db8::80"]}


@pytest.mark.parametrize("where", [V4, V6])
def test_first_by_the_worker_then_by_the_driver(shared, where):
    lab, daemon = shared
    with Answered(daemon) as first:
        assert texts(lab.ask("www.example.com", "A", where)) == WWW["A"]
    assert first.by == {"worker": 1}
    with Answered(daemon) as later:
        for _ in range(3):
            assert texts(lab.ask("www.example.com", "A", where)) == WWW["A"]
    assert later.by == {"driver": 3}


def test_answers_over_ipv4_are_hits_over_ipv6(shared):
    lab, daemon = shared
    lab.ask("www.example.com", "AAAA", V4)
    with Answered(daemon) as later:
        assert texts(lab.ask("www.example.com", "AAAA", V6)) == WWW["AAAA"]
    assert later.by == {"driver": 1}


def test_counters_balance_over_odd_traffic(lab, daemon):
    daemon.start()
    lab.ask()
    lab.ask()
    lab.ping(V4)
    query = dns.message.make_query("www.example.com", "A")
    query.use_edns(1)
    assert lab.udp(query).rcode() == dns.rcode.BADVERS
    with lab.socket("c") as sock:
        for junk in (b"", b"x", b"\0" * 12, b"\0" * 600, bytes(range(256))):
            sock.sendto(junk, (V4, 53))
    wait_for("all were seen", lambda: daemon.reasons().get("up-counts") == 3)
    stats = daemon.stats()["driver"]  # which checks the sum
    assert stats["hit"] == 1
    assert stats["reasons"]["pass-dns-short"] == 2
    assert stats["passed"] > 2 and stats["up"] > 2


def test_the_querys_own_case_is_kept(shared):
    lab, daemon = shared
    for name, who in (("www.example.com", "worker"), ("wWw.ExAmPlE.cOm", "driver"),
                      ("WWW.EXAMPLE.COM", "driver")):
        with Answered(daemon) as one:
            answer = lab.ask(name)
        assert str(answer.question[0].name) == name + "."
        assert texts(answer) == WWW["A"]
        assert one.by == {who: 1}


@pytest.mark.parametrize("size, is_whole", [(512, False), (1100, False), (1232, False),
                                            (4096, False)])
def test_large_answers_are_truncated_at_our_maximum(shared, size, is_whole):
    lab, _ = shared
    for _ in range(2):
        query = dns.message.make_query("large.example.com", "TXT", use_edns=0, payload=size)
        answer = lab.udp(query)
        assert bool(answer.flags & dns.flags.TC) is not is_whole
        assert answer.edns == 0 and answer.payload == 1232
        assert not answer.answer


def test_the_clients_edns_size_decides(lab, daemon, tmp_path):
    more = "big IN TXT " + " ".join('"' + "x" * 200 + '"' for _ in range(4)) + "\n"
    path = write_zone(tmp_path / "z.zone", more=more)
    daemon.start(zones=[zone("z.test", path)])
    lab.ask("big.z.test", "TXT")
    for size, is_whole in ((None, False), (512, False), (800, False), (900, True), (1232, True),
                           (4096, True)):
        query = dns.message.make_query("big.z.test", "TXT", use_edns=0 if size else False,
                                       payload=size or 0)
        with Answered(daemon) as one:
            answer = lab.udp(query)
        assert bool(answer.flags & dns.flags.TC) is not is_whole, size
        assert len(answer.answer) == is_whole
        assert (answer.edns == 0) is (size is not None)
        # a frame from a socket over veth has no room behind it for a large answer
        assert one.by == {"worker" if is_whole else "driver": 1}
    assert daemon.reasons()["up-no-room"] == 3


def test_dig_with_cookies(shared):
    """
    dig sends a cookie: the worker answers, and then the driver, which takes the worker's cookie for
    good.
    """
    lab, daemon = shared
    client = bytes(range(8))

    def ask(data):
        query = dns.message.make_query("www.example.com", "A", use_edns=0, payload=1232,
                                       options=[dns.edns.GenericOption(10, data)])
        answer = lab.udp(query)
        (option,) = [o for o in answer.options if o.otype == 10]
        assert texts(answer) == WWW["A"] and answer.rcode() == dns.rcode.NOERROR
        return option.to_wire()
    with Answered(daemon) as two:
        cookie = ask(client)
        assert cookie[:8] == client and len(cookie) == 24
        assert ask(cookie) == cookie
    assert two.by == {"worker": 1, "driver": 1}
    with Answered(daemon) as dug_twice:
        lab.exec("c", "dig", "+tries=1", f"+time={TIMEOUT}", f"@{V4}", "mail.example.com", "A")
        again = lab.exec("c", "dig", "+tries=1", f"+time={TIMEOUT}", f"@{V4}", "mail.example.com",
                         "A").stdout
    assert "COOKIE: " in again and "NOERROR" in again
    assert dug_twice.by == {"worker": 1, "driver": 1}
    dug = lab.exec("c", "dig", "+tries=1", f"+time={TIMEOUT}", f"@{V4}", "www.example.com",
                   "A").stdout
    assert "(good)" in dug and "192.0.2.80" in dug


def test_truncated_then_tcp(shared):
    lab, daemon = shared
    query = dns.message.make_query("large.example.com", "TXT")
    assert lab.udp(query).flags & dns.flags.TC
    with Answered(daemon) as one:
        whole = lab.tcp(query)
    assert len(texts(whole)) == 8 and not whole.flags & dns.flags.TC
    assert one.by == {"tcp": 1}
    assert "192.0.2.80" in lab.exec("c", "kdig", "+tcp", f"@{V6}", "www.example.com").stdout


@pytest.mark.parametrize("where", [V4, V6])
def test_tcp_pipelined(shared, where):
    lab, _ = shared
    names = ["www.example.com", "mail.example.com", "nothing.example.com", "large.example.com"]
    queries = [dns.message.make_query(name, "A", id=i) for i, name in enumerate(names)]
    wire = b"".join(struct.pack("!H", len(q.to_wire())) + q.to_wire() for q in queries)
    with lab.connect("c", where) as sock:
        sock.sendall(wire[:7])
        sock.sendall(wire[7:])
        answers = [dns.query.receive_tcp(sock, None)[0] for _ in queries]
    assert {a.id: a.rcode() for a in answers} == {0: 0, 1: 0, 2: 3, 3: 0}


def test_kernel_sockets_alone(lab, daemon):
    daemon.start(interfaces=[iface(xdp="off")])
    with Answered(daemon) as all_of:
        for where in (V4, V6, V4):
            assert texts(lab.ask("www.example.com", "A", where)) == WWW["A"]
    assert all_of.by == {"kernel_socket": 3}
    assert daemon.interface()["xdp"] == "off"


def test_without_interfaces(lab, daemon):
    daemon.start(interfaces=None)
    assert texts(lab.ask()) == WWW["A"]


def test_generic_mode(lab, daemon):
    daemon.start(interfaces=[iface(xdp="generic")])
    assert daemon.interface()["xdp"] == "generic"
    for where in (V4, V6):
        with Answered(daemon) as two:
            assert texts(lab.ask("www.example.com", "A", where)) == WWW["A"]
            assert texts(lab.ask("www.example.com", "A", where)) == WWW["A"]
        assert two.by["driver"] == (1 if where == V4 else 2)


def test_port_socket_keeps_driver_hits(lab, daemon):
    daemon.start(interfaces=[iface(port="socket")])
    with Answered(daemon) as two:
        lab.ask()
        lab.ask()
    assert two.by == {"kernel_socket": 1, "driver": 1}


def test_driver_answers_switched_off(lab, daemon):
    daemon.start(interfaces=[iface(**{"driver-answers": False})])
    with Answered(daemon) as two:
        lab.ask()
        lab.ask()
    assert two.by == {"worker": 2}
    assert daemon.reasons()["up-switched-off"] == 2


@pytest.mark.parametrize("where", [V4, V6])
@pytest.mark.parametrize("tags", [((0x8100, 5),), ((0x88a8, 7), (0x8100, 5))],
                         ids=["802.1Q", "QinQ"])
def test_vlan(shared, tags, where):
    """Tags come back as they came, from the worker and from the driver."""
    lab, daemon = shared
    with lab.frames() as sock, Answered(daemon) as two:
        for i in range(2):
            query = dns.message.make_query("www.example.com", "A", id=100 + i)
            frame = query_frame(query, where, tags)
            sock.send(frame)
            reply = receive_frame(sock)
            headers = 14 + 4 * len(tags) + (40 if where == V6 else 20) + 8
            assert reply[12:14 + 4 * len(tags)] == frame[12:14 + 4 * len(tags)]
            answer = dns.message.from_wire(reply[headers:])
            assert answer.id == 100 + i and texts(answer) == WWW["A"]
    assert two.by == {"worker": 1, "driver": 1}


def test_answers_leave_from_the_address_asked(lab, daemon):
    """dnspython takes no answer from another address. By worker, driver and socket."""
    own = ["192.0.2.54", "192.0.2.55", "2001:db8::54"]
    vips = ["203.0.113.1", "2001:db8:ff::1"]
    for one in own:
        lab.ip("s", "address", "add", f"{one}/{24 if '.' in one else 64}", "dev", "s0",
               *(["nodad"] if ":" in one else []))
    for one in vips:
        lab.ip("s", "address", "add", f"{one}/{32 if '.' in one else 128}", "dev", "lo")
        lab.ip("c", "route", "add", one, "via", V6 if ":" in one else V4)
    daemon.start(server={"listen": [*own, *vips]})
    for where in own + vips:
        lab.ask("www.example.com", "A", where)
        with Answered(daemon) as one:
            assert texts(lab.ask("www.example.com", "A", where)) == WWW["A"]
        assert one.by == {"driver": 1}
        assert texts(lab.tcp(dns.message.make_query("www.example.com", "A"), where)) == WWW["A"]
    assert not lab.is_answered(where=V4)


@pytest.mark.parametrize("xdp", ["native", "off"])
def test_wildcard_listen(lab, daemon, xdp):
    own = ["192.0.2.54", "2001:db8::54", "203.0.113.1", "2001:db8:ff::1"]
    for one in own[:2]:
        lab.ip("s", "address", "add", f"{one}/{24 if '.' in one else 64}", "dev", "s0",
               *(["nodad"] if ":" in one else []))
    for one in own[2:]:
        lab.ip("s", "address", "add", f"{one}/{32 if '.' in one else 128}", "dev", "lo")
        lab.ip("c", "route", "add", one, "via", V6 if ":" in one else V4)
    daemon.start(server={"listen": ["0.0.0.0", "::"]}, interfaces=[iface(xdp=xdp)])
    for where in [V4, V6, *own]:
        lab.ask("www.example.com", "A", where)
        with Answered(daemon) as one:
            assert texts(lab.ask("www.example.com", "A", where)) == WWW["A"]
        assert one.by == {"driver" if xdp == "native" else "kernel_socket": 1}


def test_wildcard_follows_addresses(lab, daemon):
    """Addresses that come are answered by the driver, those that go are not."""
    daemon.start(server={"listen": ["0.0.0.0", "::"]})
    before = daemon.status()["services"]
    lab.ask()
    lab.ip("s", "address", "add", "192.0.2.77/24", "dev", "s0")
    lab.ip("s", "address", "add", "2001:db8::77/64", "dev", "s0", "nodad")
    wait_for("two more services", lambda: daemon.status()["services"] == before + 2)
    for where in ("192.0.2.77", "2001:db8::77"):
        with Answered(daemon) as one:
            assert texts(lab.ask("www.example.com", "A", where)) == WWW["A"]
        assert one.by == {"driver": 1}
    lab.ip("s", "address", "del", "192.0.2.77/24", "dev", "s0")
    lab.ip("s", "address", "del", "2001:db8::77/64", "dev", "s0")
    wait_for("the services are gone", lambda: daemon.status()["services"] == before)
    # somebody else's now: a frame to it that still arrives passes
    with lab.frames() as sock:
        sock.send(query_frame(dns.message.make_query("www.example.com", "A"), "192.0.2.77"))
    wait_for("it passed", lambda: daemon.reasons().get("pass-service"))


def test_a_service_address_that_comes_later(lab, daemon):
    """Named in the configuration, not there at the start (IP_FREEBIND)."""
    daemon.start(server={"listen": [V4, "192.0.2.78"]})
    assert not lab.is_answered(where="192.0.2.78")
    lab.ip("s", "address", "add", "192.0.2.78/24", "dev", "s0")
    lab.forget("192.0.2.78")
    assert texts(lab.ask(where="192.0.2.78")) == WWW["A"]
    with Answered(daemon) as one:
        lab.ask(where="192.0.2.78")
    assert one.by == {"driver": 1}


def test_another_port(lab, daemon):
    daemon.start(server={"listen": [f"{V4}@5353", f"{V6}@5353"]})
    for where in (V4, V6):
        lab.ask("www.example.com", "A", where, port=5353)
        with Answered(daemon) as one:
            assert texts(lab.ask("www.example.com", "A", where, port=5353)) == WWW["A"]
        assert one.by == {"driver": 1}
        assert not lab.is_answered("www.example.com", "A", where)


def test_other_traffic_lives(lab, daemon):
    """ping, ARP, ND, and TCP to another port, with the program on the interface."""
    daemon.start()
    for where in (V4, V6):
        lab.forget(where)
        lab.ping(where)
        with lab.socket("s", socket.AF_INET6 if ":" in where else socket.AF_INET,
                        socket.SOCK_STREAM) as listening:
            listening.bind((where, 22))
            listening.listen(1)
            with lab.connect("c", where, 22) as client:
                server, peer = listening.accept()
                with server:
                    server.sendall(b"SSH-2.0-x\r\n" * 1000)
                    got = b""
                    while len(got) < 11000:
                        got += client.recv(65536)
                    assert got == b"SSH-2.0-x\r\n" * 1000
                    assert peer[0] == (CLIENT4 if where == V4 else CLIENT6)
    assert daemon.stats()["driver"]["dropped"] == 0


def test_another_mac_address(lab, daemon):
    """The driver knows its frames by it."""
    daemon.start()
    lab.ask()
    lab.ip("s", "link", "set", "s0", "address", "02:00:00:00:00:77")
    lab.ip("c", "neighbour", "replace", V4, "lladdr", "02:00:00:00:00:77", "dev", "c0", "nud",
           "permanent")
    wait_for("an answer by the driver",
             lambda: lab.ask() and daemon.reasons().get("hit-full", 0) > 0)
    with Answered(daemon) as one:
        lab.ask("mail.example.com", "A")
    assert one.by == {"worker": 1}
    # a frame to the old one is another host's now
    with lab.frames() as sock:
        sock.send(query_frame(dns.message.make_query("www.example.com", "A")))
    wait_for("it passed", lambda: daemon.reasons().get("pass-other-host"))


@pytest.mark.parametrize("where", [V4, V6])
def test_a_query_in_fragments(shared, where):
    """The driver passes fragments; the kernel's socket gets the whole."""
    lab, daemon = shared
    padding = dns.edns.GenericOption(12, bytes(2000))
    query = dns.message.make_query("www.example.com", "A", use_edns=0, options=[padding])
    with Answered(daemon) as one:
        answer = lab.udp_wire(query.to_wire(max_size=4096), where)
        assert texts(dns.message.from_wire(answer)) == WWW["A"]
    assert one.by == {"kernel_socket": 1}


def test_more_addresses_than_the_driver_can_know(lab, daemon):
    """The rest is answered by kernel sockets, and status says so."""
    batch = "".join(f"address add 10.9.{i // 200}.{i % 200 + 1}/32 dev lo\n" for i in range(300))
    lab.exec("s", "ip", "-batch", "-", input=batch)
    lab.ip("c", "route", "add", "10.9.0.0/16", "via", V4)
    daemon.start(server={"listen": ["0.0.0.0"]})
    assert "more service addresses than the driver can know" in daemon.degraded()
    with Answered(daemon) as all_of:
        for i in range(300):
            where = f"10.9.{i // 200}.{i % 200 + 1}"
            assert texts(lab.ask(where=where)) == WWW["A"]
    assert all_of.by["driver"] >= 250  # of the 256, some are the lab's own
    assert all_of.by["driver"] + all_of.by["worker"] + all_of.by["kernel_socket"] == 300


def test_fewer_queues_than_there_are(make_lab, make_daemon):
    """Packets on other queues go to the kernel's sockets."""
    wide = make_lab(queues=2)
    daemon = make_daemon("wide", wide)
    daemon.start(interfaces=[iface(queues=1)])
    assert daemon.interface()["queues"] == 1
    with Answered(daemon) as many:
        for i in range(60):
            assert texts(wide.ask(f"n{i}.wild.example.com")) == ["192.0.2.200"]
    assert many.by["worker"] + many.by["kernel_socket"] == 60
    assert many.by["worker"] > 0 and many.by["kernel_socket"] > 0


def test_a_port_that_cannot_be_had(lab, daemon):
    daemon.start(interfaces=[iface(**{"zero-copy": "on"})])
    assert "s0: queue 0: no AF_XDP socket" in daemon.degraded()
    assert "kernel sockets answer" in daemon.degraded()
    with Answered(daemon) as two:
        lab.ask()
        assert texts(lab.ask()) == WWW["A"]
    assert two.by == {"kernel_socket": 1, "driver": 1}


def test_busy_polling(lab, daemon):
    daemon.start(interfaces=[iface(**{"busy-poll": True})])
    assert not daemon.degraded()
    with Answered(daemon) as many:
        for i in range(20):
            lab.ask(f"n{i}.wild.example.com")
    assert many.by == {"worker": 20}


def test_a_link_that_goes_down_and_up(lab, daemon):
    daemon.start()
    lab.ask()
    lab.ip("s", "link", "set", "s0", "down")
    assert not lab.is_answered()
    lab.ip("s", "link", "set", "s0", "up")
    wait_for("an answer", lab.is_answered)
    with Answered(daemon) as two:
        lab.ask()
        assert texts(lab.ask("mail.example.com", "A")) == ["192.0.2.25"]
    assert two.by == {"driver": 1, "worker": 1}
    assert "2001:db8::53: no interface has this address" in daemon.degraded()
    lab.put_v6_back()
    wait_for("no remark", lambda: not daemon.degraded())


@pytest.mark.parametrize("name, kind, rcode, n_answer", [
    ("www.example.com", "A", "NOERROR", 2),
    ("www.example.com", "MX", "NOERROR", 0),
    ("nothing.example.com", "A", "NXDOMAIN", 0),
    ("ftp.example.com", "A", "NOERROR", 4),
    ("x.sub.example.com", "A", "NOERROR", 0),
    ("any.wild.example.com", "A", "NOERROR", 1),
    ("unknown.example.com", "TYPE65280", "NOERROR", 1),
])
def test_driver_and_worker_agree(shared, name, kind, rcode, n_answer):
    lab, daemon = shared
    query = dns.message.make_query(name, kind, use_edns=0, payload=1232, want_dnssec=True)
    with Answered(daemon) as two:
        answers = [lab.udp_wire(query.to_wire()) for _ in range(2)]
    assert two.by == {"worker": 1, "driver": 1}
    assert answers[0] == answers[1]
    answer = dns.message.from_wire(answers[0])
    assert dns.rcode.to_text(answer.rcode()) == rcode
    assert len(texts(answer)) == n_answer


def test_not_ours_is_refused(shared):
    lab, _ = shared
    assert lab.ask("www.example.org").rcode() == dns.rcode.REFUSED


def test_two_queues(make_lab, make_daemon):
    wide = make_lab(queues=2)
    daemon = make_daemon("wide", wide)
    daemon.start()
    assert daemon.interface()["queues"] == 2
    with Answered(daemon) as many:
        for i in range(40):
            wide.ask(f"n{i}.wild.example.com", "A")
            wide.ask(f"n{i}.wild.example.com", "A")
    assert many.by == {"worker": 40, "driver": 40}
