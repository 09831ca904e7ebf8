# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Forwarding over TLS (userspace/base/tls_client.h) to scripted upstreams."""
import contextlib
import datetime
import os
import socket
import ssl
import time

import dns.rcode
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from netlab import CLIENT4, CLIENT6, TOOLS, V4, inside_netns, run, texts, wait_for, zone
from scripted import NETWORK_ERROR, TRUE, Upstream, large_answer, silent, true_answer
from upstreams import Netns, Resolve

A, B, C = "127.0.3.1", "127.0.3.2", "127.0.3.3"
NAME, PORT = "dns.example", 853


class Authority:
    """A certificate authority, and certificates by it: FILE.pem has the key too."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.openssl("req", "-x509", *self.new_key(name), "-out", f"{name}.crt", "-days", "2",
                     "-subj", f"/CN={name}")
        self.bundle = folder / f"{name}.crt"

    def openssl(self, *words):
        run("openssl", *words, cwd=self.folder)

    @staticmethod
    def new_key(name):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                f"{name}.key")

    def certificate(self, file, names=f"DNS:{NAME}"):
        self.openssl("req", *self.new_key(file), "-out", f"{file}.csr", "-subj", "/CN=any")
        (self.folder / f"{file}.ext").write_text(f"subjectAltName={names}\n", encoding="ascii")
        self.openssl("x509", "-req", "-in", f"{file}.csr", "-CA", f"{self.name}.crt", "-CAkey",
                     f"{self.name}.key", "-CAcreateserial", "-out", f"{file}.crt", "-days",
                     "2", "-extfile", f"{file}.ext")
        return self.join(file)

    def join(self, file):
        path = self.folder / f"{file}.pem"
        path.write_bytes(b"".join((self.folder / f"{file}.{end}").read_bytes()
                                  for end in ("key", "crt")))
        return path

    def expired(self):
        """
        A certificate that ended a day ago. `openssl x509` of 3.0 cannot name the end of a
        certificate, and that of 3.5 refuses less than 0 days, so this one is made here.
        """
        self.certificate("expired")
        made, key = ((self.folder / file).read_bytes() for file in ("expired.crt", f"{self.name}.key"))
        made = x509.load_pem_x509_certificate(made)
        day, now = datetime.timedelta(days=1), datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder(
            made.issuer, made.subject, made.public_key(), made.serial_number, now - 2 * day, now - day,
            list(made.extensions))
        made = builder.sign(serialization.load_pem_private_key(key, None), hashes.SHA256())
        (self.folder / "expired.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        return self.join("expired")


class Certificates:
    def __init__(self, folder):
        self.authority = Authority(folder, "authority")
        stranger = Authority(folder, "stranger")
        self.bundle, self.stranger = self.authority.bundle, stranger.bundle
        self.good = self.authority.certificate("good")
        self.bad = {
            "another name": self.authority.certificate("other", "DNS:other.example,IP:127.0.3.1"),
            "expired": self.authority.expired(),
            "of a stranger": stranger.certificate("strange"),
            "of itself": self.of_itself(stranger),
        }

    @staticmethod
    def of_itself(authority):
        path = authority.folder / "itself.pem"
        path.write_bytes(b"".join((authority.folder / f"stranger.{end}").read_bytes()
                                  for end in ("key", "crt")))
        return path


@pytest.fixture(name="certificates", scope="module")
def make_certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(name="netns", scope="module")
def make_netns(tmp_path_factory):
    if os.geteuid():
        pytest.skip("needs root")
    netns = Netns(tmp_path_factory.mktemp("tls"))
    yield netns
    netns.close()


@pytest.fixture(name="upstream")
def make_upstream(netns, certificates):
    made = []

    def make(reply=None, address=A, **kwargs):
        made.append(TlsUpstream(netns, address, reply or true_answer,
                                **{"certificate": certificates.good, **kwargs}))
        return made[-1]
    yield make
    for one in made:
        one.close()


@pytest.fixture(name="resolve")
def make_resolve(netns, certificates):
    made = []

    def make(*options, to=(A,), name=NAME):
        words = [word for address in to for word in ("-f", f"{address}@{PORT}#{name}")]
        made.append(Resolve(netns, "-t", "tls", "-b", certificates.bundle, *words, *options))
        return made[-1]
    yield make
    for one in made:
        if one.process.poll() is None:
            one.close()


class TlsUpstream(Upstream):
    """
    Over TLS alone; one thread for each connection. A certificate of None: what comes is not read.
    """

    def __init__(self, netns, address, reply, certificate, closes=False, newest=None, port=PORT):
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
            self.context.sni_callback = lambda sock, name, context: self.names.append(name)
            if newest:
                self.context.maximum_version = newest
        self.reply, self.seen, self.closes = reply, [], closes
        self.names, self.versions, self.n_resumed, self.n_ended = [], set(), 0, 0
        self.connections, self.threads, self.open = 0, [], set()
        self.silent = self.once = False
        self.udp = None
        with inside_netns(netns.name):
            self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, port))
        self.listener.listen(64)
        self.start(self.serve_tcp)

    def serve_connection(self, conn, peer):
        self.open.add(conn)
        with conn, contextlib.suppress(OSError):
            if not self.context:
                conn.recv(1 << 16)
                time.sleep(60)
                return
            self.serve_tls(conn, peer)

    def serve_tls(self, conn, peer):
        tls = self.context.wrap_socket(conn, server_side=True)
        self.open.add(tls)
        with tls:
            self.versions.add(tls.version())
            self.n_resumed += tls.session_reused
            while wire := read_message(tls):
                for out in self.replies(wire, peer, True):
                    tls.sendall(len(out).to_bytes(2, "big") + out)
                    if self.closes:
                        return
        self.n_ended += 1

    def close(self):
        super().close()
        for one in self.open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def read_message(tls):
    """None at the end."""
    octets, wanted = b"", 2
    while len(octets) < wanted:
        part = tls.recv(wanted - len(octets))
        if not part:
            return None
        octets += part
        if len(octets) == 2:
            wanted = 2 + int.from_bytes(octets, "big")
    return octets[2:]


# --- Answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_an_answer(resolve, upstream, newest):
    server = upstream(newest=newest)
    it = resolve()
    for n in range(3):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    assert server.connections == 1 and server.names == [NAME]
    assert server.versions == {newest.name.replace("_", ".")}
    counters = it.counters()
    assert (counters["queries"], counters["queries_tcp"], counters["tls_failed"]) == (0, 3, 0)


def test_the_name_may_be_an_address_or_end_in_a_dot(resolve, upstream, certificates):
    upstream()
    assert resolve(name=NAME + ".").ask("www.lab.").texts("A") == [TRUE]
    server = upstream(address=B, certificate=certificates.bad["another name"])
    assert resolve(to=[B], name=A).ask("www.lab.").texts("A") == [TRUE]
    assert server.names == [None]  # RFC 6066 section 3


def test_many_in_one_connection(resolve, upstream):
    """Replies in any order, several in one record."""
    kept = []

    def swapping(query, _seen, _server):
        kept.append(true_answer(query, None, None))
        if len(kept) < 50:
            return None
        out, kept[:] = list(reversed(kept)), []
        return out
    server = upstream(swapping)
    it = resolve("-w", "20000")
    it.say("flood 2000 lab.")
    assert it.line() == "flooded 2000 2000 0"
    assert server.connections == 1


def test_large_answers(resolve, upstream):
    """Of four records each; all at once, more than is taken in one turn."""
    made, kept = [], []

    def reply(query, seen, _server):
        if not made:
            made.append(large_answer(query))
            return made[0]
        kept.append(seen.wire[:2] + made[0][2:12] + question_of(seen.wire) +
                    made[0][12 + len(question_of(made[0])):])
        out = kept[:]
        return out if len(out) == 60 else None
    server = upstream(reply)
    it = resolve("-w", "20000")
    assert len(it.ask("www.lab.").texts("TXT")) == 280
    it.say("flood 60 lab.")
    assert it.line() == "flooded 60 60 0"
    assert server.connections == 1


def question_of(wire):
    return wire[12:wire.index(b"\0", 12) + 5]


@pytest.fixture(name="small_buffers")
def make_small_buffers(netns):
    words = "sysctl", "-n", "net.ipv4.tcp_wmem"
    before = netns.run(*words).stdout.strip()
    netns.run("sysctl", "-w", "net.ipv4.tcp_wmem=4096 4608 4608")
    yield
    netns.run("sysctl", "-w", f"net.ipv4.tcp_wmem={before}")


@pytest.mark.usefixtures("small_buffers")
def test_more_than_the_socket_takes(resolve, upstream):
    """A server that does not read for a while gets all of it in the end."""
    server = upstream(slow_once)
    server.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    it = resolve("-w", "20000")
    it.say("flood 2000 " + ".".join(["a" * 60] * 3) + ".lab.")
    assert it.line() == "flooded 2000 2000 0"
    assert server.connections == 1


def slow_once(query, seen, server):
    if len(server.seen) == 1:
        time.sleep(1)
    return true_answer(query, seen, server)


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_that_closes_after_each_answer(resolve, upstream, newest):
    """Then a session is resumed, so the certificate is not needed again."""
    server = upstream(closes=True, newest=newest)
    it = resolve()
    for n in range(20):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    assert server.connections == 20 and server.n_resumed == 19
    it.say("flood 30 lab.")
    assert it.line() == "flooded 30 30 0"
    assert it.counters()["tls_failed"] == 0


def test_a_connection_that_was_not_needed_for_a_while(resolve, upstream):
    """It is closed by the forwarder, and the session resumed."""
    server = upstream()
    it = resolve()
    assert it.ask("www.lab.").texts("A") == [TRUE]
    wait_for("its end", lambda: server.n_ended, 15)
    assert it.ask("again.lab.").texts("A") == [TRUE]
    assert server.connections == 2 and server.n_resumed == 1


def test_a_session_that_the_server_does_not_know_any_more(resolve, upstream):
    server = upstream()
    it = resolve()
    assert it.ask("www.lab.").texts("A") == [TRUE]
    server.close()
    server = upstream()
    wait_for("the new one", lambda: it.ask("again.lab.").rcode == "NOERROR", 5)
    assert server.n_resumed == 0 and it.counters()["tls_failed"] == 0


# --- Nobody else ----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["another name", "expired", "of a stranger", "of itself"])
def test_who_has_no_certificate_gets_no_question(resolve, upstream, certificates, what):
    server = upstream(certificate=certificates.bad[what])
    it = resolve("-w", "20000")
    start = time.monotonic()
    assert it.ask("www.lab.").brief() == ("SERVFAIL", "insecure", NETWORK_ERROR)
    assert time.monotonic() - start < 10
    assert it.counters()["tls_failed"] == server.connections == 3
    good = upstream(address=B)
    it = resolve(to=[A, B])
    for n in range(20):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]
    assert not server.seen and len(good.seen) >= 20


def test_a_server_that_is_refused_is_not_asked_by_each_question(resolve, upstream, certificates):
    server = upstream(certificate=certificates.bad["another name"])
    it = resolve("-w", "3000")
    start = time.monotonic()
    it.say("flood 2000 lab.")
    assert it.line() == "flooded 2000 0 2000"
    assert server.connections <= (time.monotonic() - start) / 0.25 + 1
    assert it.counters()["queries_tcp"] > 0 and not server.seen


def test_never_in_the_clear(resolve, netns):
    """A server without TLS, at that port."""
    plain = PlainUpstream(netns)
    it = resolve()
    assert it.ask("www.lab.").rcode == "SERVFAIL"
    assert it.counters()["tls_failed"] == plain.connections
    plain.close()


class PlainUpstream(TlsUpstream):
    def __init__(self, netns):
        super().__init__(netns, A, true_answer, None)

    def serve_connection(self, conn, peer):
        with conn, contextlib.suppress(OSError):
            conn.recv(2)
            conn.sendall(b"\0\x0c" + b"\0" * 12)


# --- Upstreams that are dead, or come back --------------------------------------------------------


def test_a_handshake_that_does_not_end(resolve, upstream):
    """Others are asked; the connection is given up."""
    mute = upstream(certificate=None)
    it = resolve("-w", "6000")
    assert it.ask("www.lab.").rcode == "SERVFAIL"
    wait_for("it is given up", lambda: it.counters()["tls_failed"])
    assert it.counters()["tls_failed"] <= mute.connections <= 3
    upstream(address=B)
    it = resolve("-w", "6000", to=[A, B])
    for n in range(10):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]


def test_a_server_that_goes_and_comes_back(resolve, upstream):
    server = upstream()
    it = resolve()
    assert it.ask("www.lab.").texts("A") == [TRUE]
    server.close()
    assert it.ask("gone.lab.").brief() == ("SERVFAIL", "insecure", NETWORK_ERROR)
    upstream()
    wait_for("it is back", lambda: it.ask("back.lab.").rcode == "NOERROR", 5)
    it.say("flood 500 lab.")
    assert it.line() == "flooded 500 500 0"


def test_a_connection_on_which_nothing_comes(resolve, upstream):
    upstream(silent)
    upstream(address=B)
    upstream(lambda *_: b"\1", address=C)
    it = resolve(to=[A, B, C])
    for n in range(10):
        assert it.ask(f"www{n}.lab.").texts("A") == [TRUE]


# --- Configurations -------------------------------------------------------------------------------


@pytest.mark.parametrize("options, words", [
    (["-f", "192.0.2.1@853"], "ADDRESS@853#NAME"),
    (["-f", "192.0.2.1#name"], "ADDRESS@853#NAME"),
    (["-f", "192.0.2.1@853#name", "-b", "/nonexistent"], "/nonexistent: No such file"),
    (["-f", "192.0.2.1@853#name", "-b", __file__], "it has no certificates in PEM"),
])
def test_what_is_wrong_is_said(certificates, options, words):
    said = run(TOOLS / "resolve", "-t", "tls", "-b", certificates.bundle, *options, check=False)
    assert said.returncode == 1 and words in said.stderr, said.stderr


# --- volleyd --------------------------------------------------------------------------------------


def test_volleyd(lab, daemon, certificates, tmp_path):
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(tmp_path, f"{lab.name}-s")
    server = TlsUpstream(netns, A, true_answer, certificates.good)
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(certificates.stranger.read_bytes())
    daemon.start(zones=[zone("example.com")], recursion={
        "allow": [CLIENT4, CLIENT6], "query-localhost": True, "transport": "tls",
        "forward": [f"{A}@{PORT}#{NAME}"], "tls-bundle": str(bundle)})
    assert lab.ask("nobody.far", "A", V4, timeout=6).rcode() == dns.rcode.SERVFAIL
    assert daemon.stats()["resolver"]["tls_failed"] == server.connections > 0 and not server.seen
    # Other certificates are trusted: at a reload.
    bundle.write_bytes(certificates.bundle.read_bytes())
    daemon.ctl("zone", "reload")
    told = daemon.status()["recursion"]
    assert (told["by"], told["transport"]) == ("forwarder", "tls")
    for _ in range(2):
        assert texts(lab.ask("www.far", "A", V4, timeout=6)) == [TRUE]
    assert len(server.seen) == 1
    stats = daemon.stats()["resolver"]
    assert (stats["answered"], stats["tls_failed"]) == (1, 0)
    server.close()
