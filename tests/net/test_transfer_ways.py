# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways between name servers: IPv6, source addresses, several addresses, TLS resumption."""
import contextlib
import socket
import ssl
import threading

import dns.message
import dns.opcode
import dns.query
import dns.rcode
import dns.update
import pytest

from netlab import CLIENT4, CLIENT6, V4, V6, remote, run, texts, wait_for, write_zone, zone
from primaries import KINDS, SECRETS, ZONE, Mood
from rivals import knotd_signs_refusals
from secondaries import Secondary, certificate
from test_primary import KEY, RING, change, counters, query, receive_wire, records, serve, transfer

A, A6, B6, DEAD = "127.0.7.1", "fd00:7::1", "fd00:7::2", "127.0.7.3"


# ---- IPv6 ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", KINDS)
def test_from_a_primary_over_ipv6(scene, kind):
    primary = scene.start(kind, A6, algorithm="sha256")
    secondary = scene.secondary({"main": {"address": [A6], "key": "k1"}},
                                [("sha256", SECRETS["sha256"])])
    assert secondary.expect("zone", ZONE, "1", "5")[4] == f"main {A6}@53"
    primary.change(2, "new", "192.0.2.2")
    secondary.refresh()
    secondary.expect("changes", ZONE, "2", "1")


@pytest.mark.parametrize("kind", ["knotd", "nsd", "named"])
def test_to_secondaries_over_ipv6(lab, daemon, tmp_path, kind):
    path = write_zone(daemon.folder / "example.com.zone")
    daemon.start(server={"storage": str(daemon.folder / "state")}, keys=[KEY],
                 remotes=[remote("there", CLIENT6, key=KEY["name"])],
                 zones=[zone("example.com", path, notify=["there"],
                             allow_transfer=[f"2001:db8::/32 key {KEY['name']}"])])
    with Secondary(lab, tmp_path, kind, key=KEY, ends=(CLIENT6, V6)) as there:
        there.wait_for(1)
        change(daemon, path, 2, address="192.0.2.22")
        there.wait_for(2)
    assert counters(daemon)["ixfr_out"] == 1


def test_ipv6_behind_the_prefix_of_another_family(lab, daemon):
    """An address of IPv4 in the clothes of IPv6 is none: rules for one say nothing of the other."""
    serve(daemon, ["192.0.2.0/24"])
    asked = query()
    assert len(records(transfer(lab, asked))) == 5
    assert lab.tcp(asked, V6).rcode() == dns.rcode.REFUSED


# ---- Addresses -----------------------------------------------------------------------------------

@pytest.mark.parametrize("address, source", [(A, "127.0.7.9"), (A6, B6)], ids=["ipv4", "ipv6"])
def test_asked_from_an_address_of_ours(scene, address, source):
    primary = Mood(scene, address)
    scene.has_address(source)
    secondary = scene.secondary({"main": {"address": [address], "source": [source]}})
    secondary.expect("zone", ZONE, "1")
    secondary.refresh()
    secondary.expect("checked", ZONE, "1")
    assert set(primary.server.peers) == {("tcp", source), ("udp", source)}


def test_a_source_for_each_family(scene):
    """The first address is dead; the second one is of the other family, and has its own source."""
    primary = Mood(scene, A6)
    scene.has_address(B6)
    secondary = scene.secondary({"main": {"address": [DEAD, A6], "source": ["127.0.7.9", B6]}})
    assert secondary.expect("zone", ZONE, "1")[4] == f"main {A6}@53"
    assert {peer for _, peer in primary.server.peers} == {B6}


def test_a_source_that_is_not_ours(scene):
    Mood(scene, A)
    secondary = scene.secondary({"main": {"address": [A], "source": ["198.51.100.9"]}})
    assert "Cannot assign requested address" in secondary.error()
    assert secondary.is_quiet()


def test_several_addresses_without_a_source(scene):
    """Each is asked in turn; a NOTIFY from any of them is heard."""
    primary = Mood(scene, A6)
    Mood(scene, A).tcp = lambda *_: None
    secondary = scene.secondary({"main": {"address": [DEAD, A, A6]}})
    assert secondary.expect("zone", ZONE, "1")[4] == f"main {A6}@53"
    primary.serial = 2
    secondary.say("notified", ZONE, "2")
    secondary.expect("zone", ZONE, "2")


@pytest.mark.parametrize("own, here", [(CLIENT4, V4), (CLIENT6, V6)], ids=["ipv4", "ipv6"])
def test_notify_from_any_address_of_a_primary(lab, there, daemon, own, here):
    primary = Mood(there, CLIENT4)
    daemon.start(server={"storage": str(daemon.folder / "state")},
                 remotes=[remote("main", CLIENT4, CLIENT6)], zones=[zone(ZONE, primaries=["main"])])
    wait_for("the zone is there", lambda: texts(lab.ask(ZONE, "NS")))
    primary.serial = 2
    told = dns.message.make_query(ZONE, "SOA")
    told.set_opcode(dns.opcode.NOTIFY)
    with lab.socket("c", socket.AF_INET6 if ":" in own else socket.AF_INET) as sock:
        sock.bind((own, 0))
        sock.sendto(told.to_wire(), (here, 53))
        assert dns.message.from_wire(sock.recv(512)).rcode() == dns.rcode.NOERROR
    wait_for("it is fetched", lambda: lab.ask(ZONE, "SOA").answer[0][0].serial == 2)


def test_the_log_says_which_zone(daemon):
    daemon.start(server={"storage": str(daemon.folder / "state")},
                 remotes=[remote("main", CLIENT4)], zones=[zone(ZONE, primaries=["main"])])
    wait_for("a warning is written", lambda: f"zone {ZONE}: main {CLIENT4}@53: " in daemon.log())


# ---- Keys ----------------------------------------------------------------------------------------

WORDS = {"secret": "the other side has another secret or algorithm for our key",
         "algorithm": "the other side does not know our key, or has another algorithm for it",
         "none": "the message is not signed"}


def words(kind, wrong):
    """nsd says BADSIG to both. knotd 3.4 signs no refusal of another algorithm."""
    if kind == "nsd":
        return WORDS["secret"]
    if (kind, wrong) == ("knotd", "algorithm") and not knotd_signs_refusals():
        return WORDS["none"]
    return WORDS[wrong]


@pytest.mark.parametrize("wrong", ["secret", "algorithm"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_with_our_key(scene, kind, wrong):
    scene.start(kind, A, algorithm="sha256")
    key = ("sha384", SECRETS["sha384"]) if wrong == "algorithm" else ("sha256", bytes(32))
    secondary = scene.secondary({"main": {"address": [A], "key": "k1"}}, [key])
    assert secondary.error().endswith(words(kind, wrong))


def test_what_is_wrong_with_our_key_by_udp(scene):
    primary = scene.start("knotd", A, algorithm="sha256")
    secondary = scene.secondary({"main": {"address": [A], "key": "k1"}},
                                [("sha256", SECRETS["sha256"])])
    secondary.expect("zone", ZONE, "1")
    primary.stop()
    primary.algorithm = "sha384"
    primary.start()
    secondary.refresh()
    assert secondary.error().endswith(words("knotd", "algorithm"))


# ---- TLS -----------------------------------------------------------------------------------------

class TlsListener:
    """A server on the client's side that gets NOTIFY over TLS, and closes the connection after each
    message."""

    def __init__(self, lab, tls, address=CLIENT4):
        self.resumed, self.messages = [], []
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(tls["server"]["certificate"], tls["server"]["key"])
        self.context.set_alpn_protocols(["dot"])
        self.listener = lab.socket("c", kind=socket.SOCK_STREAM)
        self.listener.settimeout(None)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, 853))
        self.listener.listen(16)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                plain, _ = self.listener.accept()
                with contextlib.suppress(OSError), plain:
                    plain.settimeout(5)
                    self.answer(self.context.wrap_socket(plain, server_side=True))

    def answer(self, sock):
        with sock:
            wire = self.exactly(sock, int.from_bytes(self.exactly(sock, 2), "big"))
            message = dns.message.from_wire(wire, keyring=RING)
            out = dns.message.make_response(message)
            if message.had_tsig:
                out.use_tsig(RING, algorithm=KEY["algorithm"])
                out.request_mac = message.mac
            wire = out.to_wire()
            sock.sendall(len(wire).to_bytes(2, "big") + wire)
            self.resumed.append(sock.session_reused)
            self.messages.append(message)
            with contextlib.suppress(OSError):
                sock.unwrap()

    @staticmethod
    def exactly(sock, n):
        got = b""
        while len(got) < n:
            more = sock.recv(n - len(got))
            if not more:
                raise OSError("closed")
            got += more
        return got

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def start_telling(daemon, tls, **strict):
    path = write_zone(daemon.folder / "example.com.zone")
    daemon.start(server={"storage": str(daemon.folder / "state")}, keys=[KEY],
                 remotes=[remote("there", CLIENT4, key=KEY["name"], tls="strict",
                                 tls_bundle=str(tls["bundle"]), **strict)],
                 zones=[zone("example.com", path, notify=["there"])])
    return path


def test_notify_over_tls_and_resumed(lab, daemon, tmp_path):
    """
    RFC 9103: secondaries with tls are told over TLS; the second connection takes up the first
    session.
    """
    tls = certificate(tmp_path)
    listener = TlsListener(lab, tls)
    path = start_telling(daemon, tls, tls_name=tls["name"])
    for serial in (1, 2, 3):
        wait_for(f"it is told of {serial}", lambda n=serial: len(listener.messages) == n, 10)
        told = listener.messages[-1]
        assert told.opcode() == dns.opcode.NOTIFY and told.had_tsig
        assert told.answer[0][0].serial == serial
        wait_for("that is known", lambda: counters(daemon)["notify_sent"] >= serial)
        change(daemon, path, serial + 1)
    assert listener.resumed[:3] == [False, True, True]
    assert counters(daemon)["notify_failed"] == 0
    listener.close()


def test_notify_over_tls_is_not_for_another(lab, daemon, tmp_path):
    tls = certificate(tmp_path)
    listener = TlsListener(lab, tls)
    start_telling(daemon, tls, tls_name="other.test")
    wait_for("it was tried", lambda: counters(daemon)["tls_failed"] >= 1)
    assert not listener.messages
    listener.close()


def test_our_sessions_are_resumed(lab, daemon, clock, tmp_path):
    tls = certificate(tmp_path)
    serve(daemon, ["any"], tls=tls, server={"tcp": {"idle-timeout": "3s"}})
    words = ["openssl", "s_client", "-connect", f"{V4}:853", "-alpn", "dot", "-CAfile",
             tls["bundle"], "-ign_eof"]
    asked = query().to_wire()
    said = []
    for more in (["-sess_out", tmp_path / "session"], ["-sess_in", tmp_path / "session"]):
        process = lab.popen("c", *words, *more, stdin=-1, stdout=-1, stderr=-2)
        process.stdin.write(len(asked).to_bytes(2, "big") + asked)
        process.stdin.flush()
        wait_for("the zone is given", lambda n=len(said): counters(daemon)["axfr_out"] == n + 1)
        # it ends when the connection, idle for long, is closed
        wait_for("it has ended", lambda p=process: clock.leap(1) or p.poll() is not None, 40)
        said.append(process.communicate()[0])
    assert b"New, TLSv1.3" in said[0] and b"Reused, TLSv1.3" in said[1], said
    assert counters(daemon)["axfr_out"] == 2


def test_a_certificate_or_key_that_is_not_there_or_not_right(daemon, tmp_path):
    """Another key of the same algorithm is seen at another place than one of another algorithm."""
    right = certificate(tmp_path)["server"]
    keys = {"same": ["EC", "-pkeyopt", "ec_paramgen_curve:prime256v1"], "another": ["ED25519"]}
    for name, options in keys.items():
        run("openssl", "genpkey", "-out", tmp_path / name, "-algorithm", *options)

    def said(**wrong):
        daemon.configure(server={"tls": {**right, **wrong}})
        status, text = daemon.run_failing()
        assert status
        return text

    missing = tmp_path / "missing.pem"
    for word in ("certificate", "key"):
        assert f"server.tls.{word}: {missing}: No such file or directory" in said(
            **{word: str(missing)})
    for name in keys:
        key = str(tmp_path / name)
        assert f"server.tls.key: {key} is not the key of {right['certificate']}" in said(key=key)


# ---- What a secondary is asked for ---------------------------------------------------------------

def test_a_primary_that_has_gone_back(lab, there, daemon):
    """A lower serial number is not taken but on demand; then it holds, after a restart, too."""
    primary = Mood(there, CLIENT4, serial=5)

    def begin():
        daemon.start(server={"storage": str(daemon.folder / "state")},
                     remotes=[remote("main", CLIENT4)],
                     zones=[zone(ZONE, primaries=["main"], allow_transfer=["any"])])

    def serial():
        answer = lab.ask(ZONE, "SOA").answer
        return answer[0][0].serial if answer else None

    begin()
    wait_for("the zone is there", lambda: serial() == 5)
    primary.serial = 1
    daemon.ctl("zone", "refresh", ZONE)
    wait_for("it says why not", lambda: "its serial number 1 is lower than ours, 5" in
             daemon.ctl("zone", "status", ZONE).stdout)
    assert serial() == 5
    daemon.ctl("zone", "retransfer", ZONE)
    wait_for("the older one is served", lambda: serial() == 1)
    wait_for("it is in its file", lambda: "serial 1 written to" in daemon.log(), 10)
    assert daemon.stop() == 0
    begin()
    assert serial() == 1
    primary.serial = 2
    daemon.ctl("zone", "refresh", ZONE)
    wait_for("it goes on from there", lambda: serial() == 2)


def by_tcp(lab, message):
    with lab.connect("c", V4) as sock:
        dns.query.send_tcp(sock, message)
        return receive_wire(sock)


@pytest.mark.parametrize("tcp", [False, True], ids=["udp", "tcp"])
@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
def test_a_secondary_takes_no_updates(lab, there, daemon, tcp, signed):
    """RFC 2136 section 6: they are its primary's to make, and are not forwarded."""
    primary = Mood(there, CLIENT4)
    path = write_zone(daemon.folder / "example.com.zone")
    daemon.start(server={"storage": str(daemon.folder / "state")}, keys=[KEY],
                 remotes=[remote("main", CLIENT4)],
                 zones=[zone(ZONE, primaries=["main"]),
                        zone("example.com", path, allow_update=["192.0.2.0/24"])])
    wait_for("the zone is there", lambda: texts(lab.ask(ZONE, "NS")))
    update = dns.update.Update(ZONE)
    update.add("new", 300, "A", "192.0.2.77")
    if signed:
        update.use_tsig(RING, algorithm=KEY["algorithm"])
    seen = len(primary.server.seen)
    wire = by_tcp(lab, update) if tcp else lab.udp_wire(update.to_wire())
    got = dns.message.from_wire(wire, keyring=RING, request_mac=update.mac)
    assert got.rcode() == dns.rcode.NOTIMP
    assert counters(daemon)["update_refused"] == 1
    assert len(primary.server.seen) == seen
    assert lab.ask(f"new.{ZONE}").rcode() == dns.rcode.NXDOMAIN
