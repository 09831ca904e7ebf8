# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""All the workers, queues and addresses of a large edge host at once."""
import collections

import dns.message
import dns.query

from netlab import V4, texts

WORKERS, QUEUES, ADDRESSES = 128, 64, 16
WWW = ["192.0.2.80", "192.0.2.81"]


def test_128_workers_64_queues_16_addresses(make_lab, make_daemon):
    """Each queue has its AF_XDP socket, each address is answered over UDP and TCP."""
    lab = make_lab(queues=QUEUES)
    addresses = [V4] + [f"192.0.2.{100 + i}" for i in range(ADDRESSES - 1)]
    for address in addresses[1:]:
        lab.ip("s", "address", "add", f"{address}/24", "dev", "s0")
    daemon = make_daemon(where=lab)
    daemon.start(server={"listen": addresses, "workers": WORKERS})
    found = daemon.interface()
    assert found["state"] == "up" and found["queues"] == QUEUES, found
    kinds = collections.Counter(port["kind"] for port in daemon.json("port", "status")["ports"])
    assert kinds == {"xsk": QUEUES, "socket": WORKERS * ADDRESSES, "tcp": WORKERS, "tls": WORKERS}
    query = dns.message.make_query("www.example.com", "A")
    for address in addresses:
        assert texts(lab.ask(where=address)) == WWW
        assert texts(lab.tcp(query, address)) == WWW


def test_256_addresses_with_one_worker(lab, daemon):
    """A worker has a UDP socket for each, and one TCP port for all."""
    addresses = [f"127.53.0.{i}" for i in range(256)]
    lab.ip("s", "link", "set", "lo", "up")
    daemon.start(server={"listen": addresses, "workers": 1})
    query = dns.message.make_query("www.example.com", "A")
    for address in addresses[::51]:
        assert texts(lab.udp(query, address, end="s")) == WWW
        with lab.connect("s", address) as sock:
            dns.query.send_tcp(sock, query)
            assert texts(dns.query.receive_tcp(sock)[0]) == WWW
