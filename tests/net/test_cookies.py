# SPDX-License-Identifier: GPL-2.0-only
"""DNS cookies between servers with the same secret: named, knotd, the worker, the driver (RFC 9018)."""
import dns.edns
import dns.message
import dns.query
import dns.rcode
import pytest

from netlab import V4, Answered, wait_for
from test_metrics import AT, Metrics

SECRET = "e5e973e5a6b2a43f48e7dc849e37bfcf"
CLIENT = bytes(range(8))
PORT = 5300

ZONE = "$ORIGIN example.com.\n$TTL 300\n@ SOA ns1 root 1 3600 600 86400 300\n@ NS ns1\n" \
       "ns1 A 192.0.2.53\nwww A 192.0.2.80\n"


def named(folder):
    (folder / "named.conf").write_text(f"""
options {{
  directory "{folder}";
  listen-on port {PORT} {{ {V4}; }};
  listen-on-v6 {{ none; }};
  pid-file "{folder}/named.pid"; session-keyfile "{folder}/session.key"; lock-file none;
  recursion no; dnssec-validation no; empty-zones-enable no;
  cookie-algorithm siphash24; cookie-secret "{SECRET}"; require-server-cookie yes;
}};
controls {{ }};
zone "example.com" {{ type primary; file "{folder}/peer.zone"; }};
""")
    return ["named", "-g", "-n", "1", "-c", str(folder / "named.conf")]


def knotd(folder):
    (folder / "knot.conf").write_text(f"""
server:
  rundir: {folder}
  listen: {V4}@{PORT}
  udp-workers: 1
database:
  storage: {folder}
mod-cookies:
  - id: ours
    secret: 0x{SECRET}
template:
  - id: default
    global-module: mod-cookies/ours
zone:
  - domain: example.com
    file: {folder}/peer.zone
""")
    return ["knotd", "-c", str(folder / "knot.conf")]


def cookie_of(lab, value, port):
    query = dns.message.make_query("www.example.com", "A", use_edns=0, payload=1232,
                                   options=[dns.edns.GenericOption(10, value)])
    with lab.socket("c") as sock:
        sock.settimeout(1)
        sock.sendto(query.to_wire(), (V4, port))
        answer = dns.message.from_wire(sock.recv(4096))
    (option,) = [o for o in answer.options if o.otype == 10]
    return answer.rcode(), bytes(option.to_wire())


KINDS = ["cookies_new", "cookies_good", "cookies_bad"]


def test_cookies_are_counted(lab, daemon):
    """By the engine for the first query, by the driver for those that are hits; metrics say the same."""
    daemon.start(server={"cookies": {"secret": SECRET}}, metrics={"listen": AT})
    ours = cookie_of(lab, CLIENT, 53)[1]
    for value in (CLIENT, ours, ours, ours[:-1] + bytes([ours[-1] ^ 1])):
        cookie_of(lab, value, 53)
    stats = daemon.stats()
    assert [stats["engine"][kind] for kind in KINDS] == [1, 0, 0]
    assert [stats["driver"][kind] for kind in KINDS] == [1, 2, 1]
    metrics = Metrics(lab)
    for kind, n in zip(KINDS, (1, 2, 1)):
        assert metrics.sum(f"volley_driver_{kind}_total", interface="s0") == n


@pytest.mark.parametrize("peer", [named, knotd])
def test_cookies_of_a_peer(lab, daemon, tmp_path, peer):
    """A cookie that is accepted comes back as it is, from whomever: so it was not made anew."""
    (tmp_path / "peer.zone").write_text(ZONE)
    daemon.start(server={"cookies": {"secret": SECRET}})
    process = lab.popen("s", *peer(tmp_path))
    try:
        def learnt():
            try:
                return cookie_of(lab, CLIENT, PORT)[1]
            except OSError:
                return None
        wait_for("the peer answers", learnt)
        theirs = learnt()
        assert len(theirs) == 24 and theirs[:8] == CLIENT
        with Answered(daemon) as both:
            assert cookie_of(lab, theirs, 53) == (dns.rcode.NOERROR, theirs)
            assert cookie_of(lab, theirs, 53) == (dns.rcode.NOERROR, theirs)
        assert both.by == {"worker": 1, "driver": 1}
        with Answered(daemon) as made:
            ours = cookie_of(lab, bytes(range(8, 16)), 53)[1]
        assert made.by == {"driver": 1}
        rcode, back = cookie_of(lab, ours, PORT)
        assert rcode == dns.rcode.NOERROR and back == ours
        wrong = ours[:-1] + bytes([ours[-1] ^ 1])
        assert cookie_of(lab, wrong, PORT)[1] != wrong
        assert cookie_of(lab, wrong, 53)[1] != wrong
    finally:
        process.terminate()
        process.wait(10)
