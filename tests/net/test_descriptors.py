# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""File descriptors: the limit is raised at the start, few are shared out, and exhaustion is
handled. TLS handshakes, which have their own threads."""
import contextlib
import os
import pathlib
import resource
import socket
import ssl
import time

import dns.message
import dns.query
import pytest

from netlab import TIMEOUT, V4, run, texts, wait_for
from secondaries import certificate
from test_dot_many import FAR, add_far
from test_primary import counters, serve

WWW = ["192.0.2.80", "192.0.2.81"]
QUERY = dns.message.make_query("www.example.com", "A")


@pytest.fixture(name="files", autouse=True)
def more_files():
    """Room for some thousand sockets here; the daemon gets its limits by prlimit(1)."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, max(8192, before[1])))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def with_limit(soft, hard):
    return ["prlimit", f"--nofile={soft}:{hard}"]


def soft_limit(daemon):
    lines = pathlib.Path(f"/proc/{daemon.process.pid}/limits").read_text(encoding="ascii")
    return int(next(line for line in lines.splitlines() if "open files" in line).split()[3])


def cpu_ns(daemon, name):
    """CPU time that the threads of this name have had."""
    total = 0
    for task in pathlib.Path(f"/proc/{daemon.process.pid}/task").iterdir():
        with contextlib.suppress(OSError):
            if (task / "comm").read_text(encoding="ascii").startswith(name):
                total += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return total


def many(lab, port, n, stack):
    """Connections that say nothing; some may be refused."""
    for _ in range(n):
        sock = lab.socket("c", kind=socket.SOCK_STREAM)
        stack.callback(sock.close)
        sock.setblocking(False)
        sock.connect_ex((V4, port))


def by_tls(lab, context):
    """
    The answer; None while those that wait, of the same client, are more than may be under way.
    """
    with contextlib.suppress(ConnectionError, ssl.SSLZeroReturnError, ssl.SSLEOFError, EOFError), \
            context.wrap_socket(lab.connect("c", V4, 853), server_hostname="volley.test") as tls:
        tls.settimeout(TIMEOUT)
        dns.query.send_tcp(tls, QUERY)
        return texts(dns.query.receive_tcp(tls)[0])
    return None


def by_tcp(lab):
    """The same over TCP."""
    with contextlib.suppress(ConnectionError, EOFError):
        return texts(lab.tcp(QUERY))
    return None


def by_tcp_from_far(lab):
    """The answer to a client of another prefix, whose connection no flood displaces."""
    with lab.socket("c", kind=socket.SOCK_STREAM) as sock:
        sock.settimeout(TIMEOUT)
        sock.bind((FAR, 0))
        sock.connect((V4, 53))
        dns.query.send_tcp(sock, QUERY)
        return texts(dns.query.receive_tcp(sock)[0])


def start_limited(daemon, limit, **server):
    daemon.configure(server={"listen": [V4], "workers": 2, **server})
    daemon.spawn(before=with_limit(*limit))
    return daemon.wait_ready()


def test_the_limit_is_raised_at_the_start(daemon):
    """A soft limit of 256 is the shell's; the hard one allows what max-connections needs."""
    start_limited(daemon, (256, 20000), tcp={"max-connections": 5000})
    assert soft_limit(daemon) > 6000
    assert "RLIMIT_NOFILE" not in daemon.degraded()


def test_few_descriptors_are_shared_out(lab, daemon, tmp_path):
    """
    Less than configured: it is said, and floods over TCP and TLS leave enough for queries and
    volleyctl. The flood's own client may have to ask again.
    """
    add_far(lab)
    start_limited(daemon, (800, 800), tls=certificate(tmp_path)["server"])
    assert "RLIMIT_NOFILE is 800" in daemon.degraded()
    assert "connections over TCP and TLS" in daemon.degraded()
    assert "warning: RLIMIT_NOFILE is 800" in daemon.ctl("health").stdout
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            many(lab, 853, 300, stack)
            many(lab, 53, 300, stack)
            assert daemon.status()["ready"]
            assert by_tcp_from_far(lab) == WWW
            assert wait_for("an answer by TCP", lambda: by_tcp(lab)) == WWW
    assert "RLIMIT_NOFILE is 800" in daemon.log()


def test_too_few_descriptors_are_refused(daemon):
    daemon.configure()
    daemon.spawn(before=with_limit(150, 150))
    status = daemon.process.wait(30)
    daemon.process = None
    assert status == 1
    assert "file descriptors at least, and RLIMIT_NOFILE is 150" in daemon.log()


def test_out_of_descriptors_the_tls_listener_does_not_spin(lab, daemon, tmp_path):
    """The limit falls while it runs: new connections wait, the thread sleeps, and the driver's
    program stays."""
    daemon.start(server={"listen": [V4], "tls": certificate(tmp_path)["server"]})
    last = max(int(fd) for fd in os.listdir(f"/proc/{daemon.process.pid}/fd"))
    run("prlimit", f"--pid={daemon.process.pid}", f"--nofile={last + 1}:20000")
    with contextlib.ExitStack() as stack:
        many(lab, 853, 200, stack)
        time.sleep(0.5)
        before = cpu_ns(daemon, "volley-xfr")
        time.sleep(2)
        assert cpu_ns(daemon, "volley-xfr") - before < 500_000_000
    run("prlimit", f"--pid={daemon.process.pid}", "--nofile=20000:20000")
    context = ssl.create_default_context(cafile=tmp_path / "tls.crt")
    assert wait_for("an answer by TLS", lambda: by_tls(lab, context)) == WWW
    assert "is gone" not in daemon.log() and "Too many open files" not in daemon.log()


def client_hello(context):
    """The octets that a client begins with."""
    out = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="volley.test").do_handshake()
    return out.read()


def test_handshakes_have_threads_of_their_own(lab, daemon, tmp_path):
    """500 ClientHellos of clients that then leave: they cost transfers no time."""
    serve(daemon, ["any"], tls=certificate(tmp_path))
    context = ssl.create_default_context(cafile=tmp_path / "tls.crt")
    hello = client_hello(context)
    for _ in range(500):
        with lab.connect("c", V4, 853) as sock:
            sock.sendall(hello)
            assert sock.recv(5)[:1] == b"\x16", "a ServerHello"
    wait_for("all have failed",
             lambda: counters(daemon)["tls_failed"] >= 500)
    assert cpu_ns(daemon, "volley-tls") > cpu_ns(daemon, "volley-xfr")
    with context.wrap_socket(lab.connect("c", V4, 853), server_hostname="volley.test") as tls:
        dns.query.send_tcp(tls, dns.message.make_query("www.example.com", "A"))
        assert dns.query.receive_tcp(tls)[0].answer


def test_half_handshakes_of_one_client_give_way(lab, daemon, tmp_path):
    """600 clients of one address open and say nothing, and stay; one more is served."""
    serve(daemon, ["any"], tls=certificate(tmp_path))
    context = ssl.create_default_context(cafile=tmp_path / "tls.crt")
    with contextlib.ExitStack() as stack:
        many(lab, 853, 600, stack)
        assert wait_for("an answer by TLS", lambda: by_tls(lab, context))
