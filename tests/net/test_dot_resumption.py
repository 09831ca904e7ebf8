# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Resumption of DNS over TLS (RFC 8446 section 2.2); a reload reads certificates and ticket keys
again."""
import secrets
import shutil
import socket
import ssl
import subprocess
import threading

import dns.message
import pytest

from dnstree import TlsInMemory, anyone, receive
from netlab import SERVER_MAC, V4, texts, wait_for, zone
from secondaries import certificate

QUERY = dns.message.make_query("www.example.com", "A")


@pytest.fixture(name="tls")
def make_tls(tmp_path):
    return certificate(tmp_path)["server"]


def start(daemon, tls, **keys):
    return daemon.start(**sections(tls, **keys))


def sections(tls, **keys):
    return {"server": {"tls": {**tls,
                               **{name.replace("_", "-"): str(value)
                                  for name, value in keys.items()}}},
            "zones": [zone("example.com")]}


def write_keys(path, *keys, mode=0o600):
    path.write_text("# the keys of a fleet\n" + "".join(f"{key}\n" for key in keys),
                    encoding="ascii")
    path.chmod(mode)
    return path


def new_key():
    return secrets.token_hex(80)


def s_client(lab, folder, resumes):
    """openssl's report of a connection, which stores its session in the folder."""
    said, session = folder / "session.new", folder / "session"
    said.unlink(missing_ok=True)
    words = ["openssl", "s_client", "-connect", f"{V4}:853", "-alpn", "dot", "-sess_out", said,
             *(["-sess_in", session] if resumes else [])]
    with lab.popen("c", *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT) as process:
        wait_for("a ticket",
                 lambda: (said.exists() and said.stat().st_size) or process.poll() is not None)
        out, _ = process.communicate(timeout=20)
    assert b"Verify return code" in out, out
    said.rename(session)
    return out.decode()


def is_resumed(lab, folder):
    out = s_client(lab, folder, True)
    assert ("Reused, TLSv1.3" in out) != ("New, TLSv1.3" in out), out
    return "Reused, TLSv1.3" in out


def begin(lab, folder):
    assert "New, TLSv1.3" in s_client(lab, folder, False)


class Open:
    """A connection that stays open."""

    def __init__(self, lab):
        self.sock = lab.connect("c", V4, 853)
        self.stream = anyone().wrap_socket(self.sock)

    def ask(self):
        wire = QUERY.to_wire()
        self.stream.sendall(len(wire).to_bytes(2, "big") + wire)
        return texts(receive(self.stream))

    def close(self):
        self.stream.close()


def fingerprint(lab):
    with lab.connect("c", V4, 853) as sock, anyone().wrap_socket(sock) as stream:
        return stream.getpeercert(binary_form=True)


def test_without_a_file_until_the_next_start(lab, daemon, tls, tmp_path):
    """The process has keys of its own; a reload keeps them."""
    start(daemon, tls)
    begin(lab, tmp_path)
    assert is_resumed(lab, tmp_path)
    daemon.ctl("zone", "reload")
    assert is_resumed(lab, tmp_path)
    daemon.stop()
    daemon.start()
    assert not is_resumed(lab, tmp_path)


def test_what_was_resumed_is_answered(lab, daemon, tls):
    start(daemon, tls)
    context, session, answers = anyone(), None, []
    for _ in range(3):
        with lab.connect("c", V4, 853) as sock, context.wrap_socket(sock,
                                                                    session=session) as stream:
            wire = QUERY.to_wire()
            stream.sendall(len(wire).to_bytes(2, "big") + wire)
            answers.append((stream.session_reused, texts(receive(stream))))
            session = stream.session
    assert [reused for reused, _ in answers] == [False, True, True]
    assert len({tuple(answer) for _, answer in answers}) == 1


def test_two_hosts_with_the_same_file(make_lab, make_daemon, tls, tmp_path):
    """A client resumes at the one what it began at the other."""
    labs = [make_lab() for _ in range(2)]
    keys = write_keys(tmp_path / "keys", new_key(), new_key())
    for number, lab in enumerate(labs):
        start(make_daemon(f"host{number}", lab), tls, ticket_keys=keys)
    begin(labs[0], tmp_path)
    for lab in labs[1], labs[0], labs[1]:
        assert is_resumed(lab, tmp_path)


def test_two_hosts_without(make_lab, make_daemon, tls, tmp_path):
    labs = [make_lab() for _ in range(2)]
    for number, lab in enumerate(labs):
        start(make_daemon(f"host{number}", lab), tls)
    begin(labs[0], tmp_path)
    assert not is_resumed(labs[1], tmp_path)


def test_a_key_is_changed(lab, daemon, tls, tmp_path):
    """The first key makes tickets, the others only open them; a client with an old ticket gets a
    new one."""
    path, old, new = tmp_path / "keys", new_key(), new_key()
    start(daemon, tls, ticket_keys=write_keys(path, old))
    begin(lab, tmp_path)
    shutil.copy(tmp_path / "session", tmp_path / "kept")

    def after(*keys):
        write_keys(path, *keys)
        daemon.ctl("zone", "reload")
        return is_resumed(lab, tmp_path)
    assert after(old, new)
    assert after(new, old)
    assert after(new), "the ticket was made with the new one"
    shutil.copy(tmp_path / "kept", tmp_path / "session")
    assert not is_resumed(lab, tmp_path)


@pytest.mark.parametrize("text, mode, words", [
    ("0" * 159 + "\n", 0o600, "keys:1: 160 hexadecimal digits"),
                                               ("\n# none\n", 0o600, "there is no key in it"),
    ("0" * 160 + "\n" + "x" * 160 + "\n", 0o600, "keys:2: 160 hexadecimal digits"),
    ("".join(f"{n:0160x}\n" for n in range(9)), 0o600, "keys:9: there are more than 8 keys"),
    ("0" * 160 + "\n", 0o644, "everyone can read or write"), (None, 0, "No such file")],
    ids=["short", "none", "no digits", "too many", "readable", "missing"])
def test_a_file_that_is_wrong(lab, daemon, tls, tmp_path, text, mode, words):
    """
    It is refused by a check, by a start, and by a reload, which changes nothing; its text is not
    shown.
    """
    path = write_keys(tmp_path / "keys", new_key())
    start(daemon, tls, ticket_keys=path)
    begin(lab, tmp_path)
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="ascii")
        path.chmod(mode)
    for told in daemon.ctl("zone", "reload", check=False), lab.exec(
            "s", daemon.binary, "--check", "-c", daemon.path, check=False):
        assert told.returncode == 1 and "server.tls.ticket-keys: " in told.stderr and words in told.stderr, told
        assert "0" * 100 not in told.stderr
    assert is_resumed(lab, tmp_path)
    daemon.stop()
    status, said = daemon.run_failing()
    assert status and words in said


def test_another_certificate(lab, daemon, tls, tmp_path):
    """New connections get it at once; one that is open stays open."""
    start(daemon, tls)
    before, stays = fingerprint(lab), Open(lab)
    assert stays.ask()
    certificate(tmp_path, "other.test")
    daemon.ctl("zone", "reload")
    wait_for("the new certificate", lambda: fingerprint(lab) != before, 5)
    assert all(fingerprint(lab) != before for _ in range(5))
    assert stays.ask()
    stays.close()


def test_a_pair_that_does_not_fit(lab, daemon, tls, tmp_path):
    """The reload says so, and what there is stays."""
    start(daemon, tls)
    before, stays = fingerprint(lab), Open(lab)
    (tmp_path / "tls.key").write_text((tmp_path / "tls.key").read_text(encoding="ascii").replace(
        "A", "B"),
                                      encoding="ascii")
    told = daemon.ctl("zone", "reload", check=False)
    assert told.returncode == 1 and "server.tls.key: " in told.stderr, told
    assert fingerprint(lab) == before and stays.ask()
    stays.close()
    certificate(tmp_path, "other.test")
    daemon.ctl("zone", "reload")
    wait_for("the new certificate", lambda: fingerprint(lab) != before, 5)


AES128, AES256, CHACHA = "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"


@pytest.mark.parametrize("offered, chosen",
                         [([AES256, CHACHA, AES128], AES128), ([AES256], AES256),
                          ([CHACHA, AES128], CHACHA)])
def test_which_cipher_it_takes(lab, daemon, tls, offered, chosen):
    """AES-128 of a client that has hardware for AES; else what the client has."""
    start(daemon, tls)
    words = ["openssl", "s_client", "-connect", f"{V4}:853", "-ciphersuites", ":".join(offered)]
    with lab.popen("c", *words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT) as process:
        said = process.communicate(timeout=20)[0].decode()
    assert f"New, TLSv1.3, Cipher is {chosen}" in said, said


def payloads(frames):
    """The TCP payloads that have come from the server, over IPv4, and are not yet read."""
    frames.setblocking(False)
    found = []
    try:
        while True:
            frame = frames.recv(65536)
            if frame[6:12] == SERVER_MAC and frame[12:14] == b"\x08\0" and frame[23] == socket.IPPROTO_TCP:
                segment = frame[14 + 20:14 + int.from_bytes(frame[16:18], "big")]
                found.append(segment[(segment[12] >> 4) * 4:])
    except BlockingIOError:
        return [payload for payload in found if payload]


def test_tickets_come_with_the_first_reply(lab, daemon, tls):
    """
    The client's last flight and its question are one segment, and so are what the server has to say
    to both.
    """
    start(daemon, tls)
    wire = QUERY.to_wire()
    with lab.connect("c", V4, 853) as sock, lab.frames() as frames:
        sock.settimeout(8)
        tls_here = TlsInMemory(sock)
        stream = tls_here.stream
        tls_here.finish(stream.do_handshake)
        stream.write(len(wire).to_bytes(2, "big") + wire)
        payloads(frames)
        answer = tls_here.finish(lambda: stream.read(65536))
        assert texts(dns.message.from_wire(answer[2:])) == ["192.0.2.80", "192.0.2.81"]
        assert stream.session.has_ticket
        assert len(payloads(frames)) == 1


def test_nobody_is_refused_while_it_reloads(lab, daemon, tls):
    """Connections that are made in that moment, waiting or in their handshake, go on."""
    start(daemon, tls)
    stop, failed, done = threading.Event(), [], []

    def connect_on():
        while not stop.is_set():
            try:
                one = Open(lab)
                done.append(one.ask())
                one.close()
            except (OSError, ssl.SSLError, EOFError) as error:
                failed.append(error)
    threads = [threading.Thread(target=connect_on) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        daemon.ctl("zone", "reload")
    stop.set()
    for thread in threads:
        thread.join()
    assert done and not failed, failed


def test_addresses_come_and_go(lab, daemon, tls):
    start(daemon, tls)
    assert Open(lab).ask()
    daemon.configure(**sections({**tls, "listen": [f"{V4}@8853"]}))
    daemon.ctl("zone", "reload")
    with lab.connect("c", V4, 8853) as sock, anyone().wrap_socket(sock) as stream:
        assert stream.version() == "TLSv1.3"
    wait_for("the other is closed", lambda: is_refused(lab), 5)
    assert daemon.status()["tls_listen"] == [f"{V4}@8853"]
    daemon.configure(**sections(tls))
    daemon.ctl("zone", "reload")
    assert Open(lab).ask()


def test_it_begins_and_ends_with_a_reload(lab, daemon, tls):
    daemon.start()
    for _ in range(2):
        daemon.configure(**sections(tls))
        daemon.ctl("zone", "reload")
        assert Open(lab).ask() and daemon.status()["tls_listen"]
        daemon.configure()
        daemon.ctl("zone", "reload")
        wait_for("it is closed", lambda: is_refused(lab), 5)
        assert daemon.status()["tls_listen"] == []


def is_refused(lab):
    try:
        lab.connect("c", V4, 853).close()
    except ConnectionRefusedError:
        return True
    return False
