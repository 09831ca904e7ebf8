# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
DNS cookies between servers with the same secret: named, knotd, the worker, the driver (RFC 9018);
and secrets that change while clients ask.
"""
import itertools
import re
import signal
import threading

import dns.edns
import dns.message
import dns.rcode
import pytest

from netlab import V4, Answered, wait_for
from rivals import named_alone
from test_metrics import AT, Metrics

SECRET, NEXT = "e5e973e5a6b2a43f48e7dc849e37bfcf", "445536bcd2513298075a5d379663c962"
CLIENT = bytes(range(8))
PORT = 5300

ZONE = "$ORIGIN example.com.\n$TTL 300\n@ SOA ns1 root 1 3600 600 86400 300\n@ NS ns1\n" \
       "ns1 A 192.0.2.53\nwww A 192.0.2.80\n"


def named(folder, secrets=(SECRET,)):
    secrets = " ".join(f'cookie-secret "{secret}";' for secret in secrets)
    (folder / "named.conf").write_text(f"""
options {{
  directory "{folder}";
  listen-on port {PORT} {{ {V4}; }};
  listen-on-v6 {{ none; }};
  pid-file "{folder}/named.pid"; session-keyfile "{folder}/session.key"; {named_alone()}
  recursion no; dnssec-validation no; empty-zones-enable no;
  cookie-algorithm siphash24; {secrets} require-server-cookie yes;
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


def cookie_of(lab, value, port, name="www.example.com"):
    query = dns.message.make_query(name, "A", use_edns=0, payload=1232,
                                   options=[dns.edns.GenericOption(10, value)])
    answer = lab.udp(query, port=port, timeout=5)
    (option,) = [o for o in answer.options if o.otype == 10]
    return answer.rcode(), bytes(option.to_wire())


KINDS = ["cookies_new", "cookies_good", "cookies_bad"]


def test_cookies_are_counted(lab, daemon):
    """
    By the engine for the first query, by the driver for those that are hits; metrics say the same.
    """
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


# --- Secrets that change --------------------------------------------------------------------------


class Client(threading.Thread):
    """
    Asks servers in turn, each of LAB and PORT, with the cookie that the last one gave: for a name
    that drivers have, and for one that no cache has.
    """

    def __init__(self, servers):
        super().__init__()
        self.servers, self.cookie = servers, CLIENT
        self.n, self.rcodes, self.stops, self.error = 0, set(), False, None

    def run(self):
        try:
            for number, (lab, port) in zip(itertools.count(), itertools.cycle(self.servers)):
                if self.stops:
                    return
                name = f"n{number}.example.com" if number // len(
                    self.servers) % 2 else "www.example.com"
                rcode, self.cookie = cookie_of(lab, self.cookie, port, name)
                self.rcodes.add(rcode)
                self.n += 1
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.error = error

    def __enter__(self):
        self.start()
        self.asks(1)
        return self

    def __exit__(self, *exception):
        self.stops = True
        self.join()
        assert exception[0] or not self.error, self.error

    def asks(self, n):
        """Waits until it has had so many answers more."""
        until = self.n + n
        wait_for(f"{n} answers", lambda: self.n >= until or self.error)
        assert not self.error, self.error


def counted(daemon):
    """The cookies of engine and driver, by kind."""
    stats = daemon.stats()
    return {kind: stats["engine"][kind] + stats["driver"][kind] for kind in KINDS}


def secrets(daemon):
    return [(one["state"], one["digest"]) for one in daemon.json("cookies")["secrets"]]


def write_secret(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def test_a_fleet_rolls_its_secret(lab, make_lab, make_daemon, tmp_path):
    """
    Two hosts and named: NEXT is accepted by all, then makes cookies, then SECRET goes. A client
    that comes to all of them is never refused, and no host sees a cookie that it does not know.
    """
    (tmp_path / "peer.zone").write_text(ZONE)
    files = {secret: write_secret(tmp_path / secret[:4], secret) for secret in (SECRET, NEXT)}
    hosts = [make_daemon("one"), make_daemon("two", make_lab())]
    process = lab.popen("s", *named(tmp_path, [SECRET]))
    try:
        for host in hosts:
            host.start(server={"cookies": {"secret-files": [files[SECRET]]}})
        wait_for("named answers", lambda: cookie_of(lab, CLIENT, PORT))
        assert secrets(hosts[0]) == secrets(hosts[1])
        before = [counted(host) for host in hosts]
        with Client([(hosts[0].lab, 53), (lab, PORT), (hosts[1].lab, 53)]) as client:
            for step in ([SECRET, NEXT], [NEXT, SECRET]):
                named(tmp_path, step)
                for host in hosts:
                    host.configure(server={"cookies": {"secret-files": [files[one]
                                                                        for one in step]}})
                    host.ctl("zone", "reload")
                    client.asks(12)
                process.send_signal(signal.SIGHUP)
                client.asks(30)
        for host, old in zip(hosts, before):
            new = counted(host)
            assert new["cookies_bad"] == old["cookies_bad"]
            assert new["cookies_good"] > old["cookies_good"] + 10
        assert client.rcodes <= {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}
        theirs = cookie_of(lab, CLIENT, PORT)[1]
        # theirs are of NEXT by now, ours too, and the old ones are accepted as yet
        for host in hosts:
            assert cookie_of(host.lab, theirs, 53)[1] == theirs
            host.configure(server={"cookies": {"secret-files": [files[NEXT]]}})
            host.ctl("zone", "reload")
            assert cookie_of(host.lab, theirs, 53)[1] == theirs
            assert [state for state, _ in secrets(host)] == ["active"]
        assert secrets(hosts[0]) == secrets(hosts[1])
    finally:
        process.terminate()
        process.wait(10)


def test_rotation_of_own_secrets(lab, daemon):
    """By command, under load: each cookie of ours is accepted all the time."""
    storage = daemon.folder / "storage"
    daemon.start(server={"storage": str(storage)})
    wait_for("kept", (storage / "cookies").exists)
    with Client([(lab, 53)]) as client:
        for n in range(1, 4):
            client.asks(5)
            digest = secrets(daemon)[0][1]
            daemon.ctl("cookies", "rotate")
            assert secrets(daemon)[1] == ("accepted", digest)
            assert secrets(daemon)[0][0] == "active" and len(secrets(daemon)) == n + 1
        client.asks(5)
    assert counted(daemon)["cookies_bad"] == 0 and counted(daemon)["cookies_new"] == 1
    kept = re.findall(r"^([0-9a-f]{32}) [0-9]+$", (storage / "cookies").read_text(), re.M)
    assert len(kept) == 4
    told = daemon.ctl("cookies").stdout + daemon.ctl("--json", "cookies").stdout + daemon.log()
    assert not [secret for secret in kept if secret in told]
    daemon.ctl("cache", "resize", "32M")  # another map, with the secrets of now
    with Answered(daemon) as one:
        assert cookie_of(lab, client.cookie, 53)[1] == client.cookie
    assert one.by == {"driver": 1}
    daemon.ctl("cookies", "rotate")
    assert cookie_of(lab, client.cookie, 53)[1] != client.cookie
    assert counted(daemon)["cookies_bad"] == 0
    before = secrets(daemon)
    daemon.stop()
    daemon.start()
    assert secrets(daemon) == before
    cookie_of(lab, client.cookie, 53)
    assert counted(daemon) == {"cookies_new": 0, "cookies_good": 1, "cookies_bad": 0}


def test_who_gives_the_secrets(lab, daemon, tmp_path):
    """
    Files that change are read by a reload, those at fault change nothing, and `rotate` is for
    secrets of ours.
    """
    path = tmp_path / "secret"
    write_secret(path, SECRET)
    daemon.start(server={"cookies": {"secret-files": [str(path)]}})
    before, ours = secrets(daemon), cookie_of(lab, CLIENT, 53)[1]
    refused = daemon.ctl("cookies", "rotate", check=False)
    assert refused.returncode == 1 and "volleyctl zone reload" in refused.stderr
    path.chmod(0o604)
    refused = daemon.ctl("zone", "reload", check=False)
    assert "everyone can read or write" in refused.stderr and secrets(daemon) == before
    assert cookie_of(lab, ours, 53)[1] == ours
    write_secret(path, f"0x{NEXT}\n")
    daemon.process.send_signal(signal.SIGHUP)
    wait_for("another secret", lambda: secrets(daemon) != before)
    assert cookie_of(lab, ours, 53)[1] != ours
    daemon.configure(server={"cookies": {"secret": SECRET}})
    daemon.ctl("zone", "reload")
    assert secrets(daemon) == before and cookie_of(lab, ours, 53)[1] == ours
    daemon.configure()
    daemon.ctl("zone", "reload")  # from now on volleyd makes its own, and accepts that for an hour
    assert secrets(daemon)[1] == ("accepted", before[0][1])
    assert daemon.json("cookies")["source"] == "volleyd"
