# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each fault gives a message in a sentence and a status that is not 0, or a degraded mode with a
name."""
import contextlib
import socket
import time

import pytest

from netlab import (BIN, TIMEOUT, V4, Answered, iface, open_to_all, program, remote, run, texts,
                    tsig_key, wait_for, write_zone, zone)
from test_resize import Pace

WWW = ["192.0.2.80", "192.0.2.81"]


def refused(daemon, text, status=2):
    """volleyd does not start with this text as its configuration; returns what it said."""
    daemon.path.write_text(text, encoding="utf-8")
    code, said = daemon.run_failing()
    assert code == status, said
    check = run(BIN / "volleyd", "--check", "-c", daemon.path, check=False)
    assert check.returncode == status
    return said


@pytest.mark.parametrize("text, place, what", [
    ("server:\n  listen: [192.0.2.53\ncache:\n", "volley.yaml:3", ""),
    ("server: [\n", "volley.yaml:1", "server"),
    ("server:\n  listen: [192.0.2.53]\n  port: 53\n", "volley.yaml:3", "port"),
    ("server:\n  listen: [192.0.2.530]\n", "volley.yaml:2", "listen"),
    ("server:\n  listen: [192.0.2.53]\ncache:\n  size: 1K\n", "volley.yaml:4", "size"),
    ("server:\n  listen: [192.0.2.53]\ncache:\n  size: 99999T\n", "volley.yaml:4", "size"),
    ("server:\n  listen: [192.0.2.53]\nzones:\n  - name: a..b\n    file: x\n",
     "volley.yaml:4", "name"),
    ("server:\n  listen: [192.0.2.53]\nkeys:\n  - name: a\n    secret: c2hvcnQ=\n",
     "volley.yaml:5", "has 5 octets"),
    ("server:\n  listen: [192.0.2.53]\nzones:\n  - name: a\n    primaries: [b]\n",
     "volley.yaml:5", "b is none of remotes"),
    ("interfaces:\n  - name: s0\n", "volley.yaml", "listen"),
    ("", "volley.yaml", "listen"),
], ids=["broken", "shape", "unknown-key", "address", "small-cache", "large-cache", "name", "secret",
         "primary", "no-listen", "empty"])
def test_a_broken_configuration(lab, daemon, text, place, what):
    said = refused(daemon, text)
    assert f"{place}:" in said and what in said
    assert program(lab) is None


def test_a_missing_configuration(lab, daemon):
    code, said = daemon.run_failing()
    assert code != 0
    assert "volley.yaml" in said and "No such file" in said or "no such file" in said.lower()


def test_no_configuration_named():
    """Without -c it is the usual one (test_default_path.py); a word behind the options is none."""
    result = run(BIN / "volleyd", "volley.yaml", check=False)
    assert result.returncode == 2
    assert "volley.yaml: not an option: give a configuration by -c FILE" in result.stderr


def test_check_says_well(daemon):
    daemon.configure()
    assert run(BIN / "volleyd", "--check", "-c", daemon.path).stdout.endswith("right\n")


def test_check_says_well_of_a_fleet(daemon, tmp_path):
    """Keys, remotes and zones that come, as the other tests write them."""
    daemon.configure(
        server={"storage": str(tmp_path)}, keys=[tsig_key()],
        remotes=[remote("hidden", "192.0.2.7@5353", key="xfr.test.", tls="strict",
                        tls_name="a.test")],
        signing=[{"name": "fast", "algorithm": "ed25519"}],
        templates=[{"name": "member", "primaries": ["hidden"]}],
        zones=[zone("example.com", allow_transfer=["192.0.2.0/24 key xfr.test."], signing="fast"),
               zone("example.net", primaries=["hidden"], allow_notify=["any"]),
               zone("cat.test", catalog="consume", primaries=["hidden"],
                    groups=[{"template": "member"}])])
    daemon.path.chmod(0o600)  # there is a secret in it
    assert run(BIN / "volleyd", "--check", "-c", daemon.path).stdout.endswith("right\n")


def test_a_cache_too_small_for_its_zones(lab, daemon, tmp_path):
    zones = [{"name": f"z{i}.test", "file": "none"} for i in range(130000)]
    daemon.configure(cache={"size": "8M"}, zones=zones)
    code, said = daemon.run_failing()
    assert code == 1
    assert "cache.size" in said and "130000 zones" in said


def test_without_privileges(lab, daemon):
    """No BPF: kernel sockets answer, on a port that is free to all, and status says why."""
    open_to_all(daemon.folder)
    daemon.configure(server={"listen": [f"{V4}@5300"]})
    daemon.spawn(before=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                         "--bounding-set=-all", "--inh-caps=-all"])
    daemon.wait_ready()
    assert daemon.interface()["state"] == "degraded"
    degraded = daemon.degraded()
    assert "s0" in degraded and "no BPF maps" in degraded
    assert "permitted" in degraded or "CAP_" in degraded
    with Answered(daemon) as one:
        assert texts(lab.ask(port=5300)) == WWW
    assert one.by == {"kernel_socket": 1}
    assert daemon.ctl("attach", "s0", check=False).returncode == 1


def test_without_privileges_for_the_port(lab, daemon):
    open_to_all(daemon.folder)
    lab.exec("s", "sysctl", "-qw", "net.ipv4.ip_unprivileged_port_start=1024")
    daemon.configure(interfaces=None)
    daemon.spawn(before=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                         "--bounding-set=-all", "--inh-caps=-all"])
    assert daemon.reap() == 1
    assert f"{V4}" in daemon.log() and "CAP_NET_BIND_SERVICE" in daemon.log()


def add_pair(lab):
    lab.ip("c", "link", "add", "c1", "type", "veth", "peer", "name", "s1",
           "netns", f"{lab.name}-s")
    for end in "cs":
        lab.exec(end, "ethtool", "-K", end + "1", "tx", "off", "gro", "on")
        lab.ip(end, "link", "set", end + "1", "up")
        lab.ip(end, "address", "add", f"198.51.100.{1 if end == 'c' else 53}/24", "dev", end + "1")
    lab.exec("c", "ip", "link", "set", "dev", "c1", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o",
             "sec", "xdp")


@pytest.mark.parametrize("xdp", ["native", "off"])
def test_an_interface_that_comes_later(lab, daemon, xdp):
    where = "198.51.100.53"
    daemon.start(server={"listen": [V4, where]}, interfaces=[iface("s0"), iface("s1", xdp=xdp)])
    assert daemon.interface("s1")["state"] == "gone" or xdp == "off"
    if xdp == "native":
        assert "s1: no such interface" in daemon.degraded()
    assert texts(lab.ask()) == WWW
    add_pair(lab)
    wait_for("s1 is up", lambda: daemon.interface("s1")["ifindex"])
    with Answered(daemon) as two:
        wait_for("an answer", lambda: lab.is_answered(where=where, timeout=1))
        lab.ask(where=where)
    if xdp == "native":
        assert not daemon.degraded()
        assert two.by["driver"] >= 1
    else:
        assert list(two.by) == ["kernel_socket"] and two.by["kernel_socket"] >= 2


def test_an_interface_that_goes_and_comes(lab, daemon):
    where = "198.51.100.53"
    add_pair(lab)
    daemon.start(server={"listen": [V4, where]}, interfaces=[iface("s0"), iface("s1")])
    lab.ask("www.example.net", where=where)
    for _ in range(2):
        lab.ip("s", "link", "del", "s1")
        wait_for("s1 is gone", lambda: daemon.interface("s1")["state"] == "gone")
        assert "s1" in daemon.degraded()
        assert texts(lab.ask()) == WWW
        add_pair(lab)
        wait_for("s1 is up", lambda: daemon.interface("s1")["state"] == "up")
        wait_for("an answer", lambda: lab.is_answered(where=where, timeout=1))
        with Answered(daemon) as two:
            lab.ask("www.example.net", where=where)
        assert two.by == {"driver": 1}
        name = f"n{_}.wild.example.com"
        with Answered(daemon) as two:
            lab.ask(name, where=where)
            lab.ask(name, where=where)
        assert two.by == {"worker": 1, "driver": 1}
        assert daemon.interface("s1")["queues"] == 1
    assert not daemon.degraded()


@pytest.mark.parametrize("xdp", ["native", "auto"])
def test_a_driver_without_native_xdp(lab, daemon, xdp):
    """lo has none."""
    daemon.start(server={"listen": ["127.0.0.1", V4]}, interfaces=[iface("lo", xdp=xdp)])
    assert texts(lab.ask(where="127.0.0.1", end="s")) == WWW
    if xdp == "native":
        assert daemon.interface("lo")["state"] == "degraded"
        assert "lo: its driver has no native XDP: say xdp: auto" in daemon.degraded()
        assert program(lab, "lo") is None
    else:
        assert daemon.interface("lo")["xdp"] == "generic"
    lab.ask()


def test_a_second_daemon(lab, make_daemon):
    first = make_daemon("a").start()
    second = make_daemon("b").configure(control={"socket": str(first.socket)})
    code, said = second.run_failing()
    assert code == 1
    assert f"pid {first.process.pid}" in said
    assert first.status()["pid"] == first.process.pid
    assert texts(lab.ask()) == WWW and program(lab)


def test_a_second_daemon_of_another_folder(lab, make_daemon):
    """Another lock, the same interface: it must not write to the cache of the one that serves."""
    first = make_daemon("a").start()
    lab.ask()
    found = program(lab)
    code, said = make_daemon("b").configure(server={"listen": ["192.0.2.99"]}).run_failing()
    assert code == 1
    assert f"s0: another volleyd (pid {first.process.pid})" in said
    assert program(lab) == found
    with Answered(first) as two:
        assert texts(lab.ask()) == WWW
        assert texts(lab.ask("mail.example.com", "A")) == ["192.0.2.25"]
    assert two.by == {"driver": 1, "worker": 1}
    first.kill()
    make_daemon("b").start(server={"listen": [V4]})
    assert texts(lab.ask()) == WWW


def test_a_second_daemon_attaches(lab, make_daemon):
    """At run time, by hand: refused, and both go on."""
    first = make_daemon("a").start()
    second = make_daemon("b").start(server={"listen": [f"{V4}@5300"]}, interfaces=None)
    refusal = second.ctl("attach", "s0", check=False)
    assert refusal.returncode == 1 and f"pid {first.process.pid}" in refusal.stderr
    assert texts(lab.ask()) == WWW
    assert texts(lab.ask(port=5300)) == WWW


def test_a_second_daemon_on_the_same_address(lab, make_daemon):
    """SO_REUSEPORT would let both have it, and share the queries."""
    make_daemon("a").start(interfaces=None)
    code, said = make_daemon("b").configure(interfaces=None).run_failing()
    assert code == 1
    assert f"{V4}" in said and "another server has this address and port" in said


@pytest.mark.parametrize("kind, word", [(socket.SOCK_DGRAM, "UDP"), (socket.SOCK_STREAM, "TCP")])
def test_a_port_that_is_taken(lab, daemon, kind, word):
    with lab.socket("s", kind=kind) as other:
        other.bind((V4, 53))
        if word == "TCP":
            other.listen(1)
        code, said = daemon.configure().run_failing()
    assert code == 1
    assert f"{V4}" in said and word in said and "another server has this address and port" in said
    assert program(lab) is None


def test_a_stale_socket_file(lab, daemon):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(daemon.socket))
    daemon.start()
    daemon.kill()
    assert daemon.socket.exists()
    daemon.start()
    assert texts(lab.ask()) == WWW


def test_something_else_at_the_sockets_path(lab, daemon):
    daemon.socket.write_text("precious", encoding="ascii")
    code, said = daemon.configure().run_failing()
    assert code == 1 and str(daemon.socket) in said
    assert daemon.socket.read_text(encoding="ascii") == "precious"
    assert program(lab) is None


def connect(daemon):
    made = socket.socket(socket.AF_UNIX)
    made.connect(str(daemon.socket))  # with a timeout it would not wait for a place in the line
    made.settimeout(TIMEOUT)
    return made


def test_odd_clients_of_the_control_socket(lab, daemon):
    daemon.start()
    slow = [connect(daemon) for _ in range(4)]
    for one in slow:
        one.send(b'{"v":1,"comm')
    for junk in (b"\n", b"\0\xff\n", b"[]\n", b'{"v":2}\n', b'{"v":1,"command":"nope"}\n',
                 b'{"v":1,"command":"zone status","args":[1]}\n', b"x" * 100000 + b"\n",
                 b'{"v":1,"command":"stop","args":["a","b"]}\n'):
        with connect(daemon) as one:
            with contextlib.suppress(BrokenPipeError):  # a line too long is refused before its end
                one.sendall(junk)
            reply = one.recv(65536)
            assert b'"ok":false' in reply.replace(b" ", b""), junk
    gone = connect(daemon)
    gone.sendall(b'{"v":1,"command":"stats"}\n')
    gone.close()
    many = []
    for _ in range(40):  # more than may be connected at a time: the oldest give way
        many.append(connect(daemon))
        time.sleep(0.002)
    assert slow[0].recv(1000) == b""
    many[-1].sendall(b"\n")
    assert b'"ok":false' in many[-1].recv(1000)
    for one in many:
        one.close()
    daemon.status()
    for one in slow:
        one.close()
    assert texts(lab.ask()) == WWW


def test_clients_that_hang_up_leave_a_bounded_queue(daemon, tmp_path):
    """
    Their walks over the cache go on without them: new ones are refused, not queued without end.
    """
    pace = Pace(tmp_path)
    pace.start(daemon, cache={"size": "32M"})
    pace.set(pause_us=500000)
    for _ in range(30):
        with connect(daemon) as one:
            one.sendall(b'{"v":1,"command":"cache stats"}\n')
        time.sleep(0.02)  # for the daemon to accept it
    refused_stats = daemon.ctl("cache", "stats", check=False)
    assert refused_stats.returncode == 1 and "walks over the cache wait" in refused_stats.stderr
    pace.set()
    wait_for("the walks", lambda: daemon.ctl("cache", "stats", check=False).returncode == 0, 20)


def test_a_missing_zone_file(lab, daemon, tmp_path):
    """The zone is SERVFAIL, status names it, and the others serve."""
    path = tmp_path / "later.zone"
    daemon.start(zones=[zone("example.com"), zone("later.test", path)])
    assert lab.ask("www.later.test").rcode() == 2
    assert texts(lab.ask()) == WWW
    assert "later.test" in daemon.degraded() and str(path) in daemon.degraded()
    listed = {z["name"]: z["state"] for z in daemon.json("zone", "list")["zones"]}
    assert listed == {"example.com.": "serving", "later.test.": "failed"}
    write_zone(path)
    daemon.ctl("zone", "reload", "later.test")
    assert texts(lab.ask("www.later.test")) == ["192.0.2.10"]
    assert not daemon.degraded()
