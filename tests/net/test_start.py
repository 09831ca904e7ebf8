# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A start that lacks something names it and the remedy, and never ends without a message."""
import pytest

from netlab import Answered, Daemon, iface, program, wait_for

CAPS = "needs CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN"


def without(*caps):
    words = ",".join(f"-{cap}" for cap in caps)
    return ("setpriv", "--bounding-set", words, "--inh-caps", words)


@pytest.mark.parametrize("caps", [
    ("bpf", "perfmon", "net_admin", "sys_admin"),
    ("bpf", "perfmon", "sys_admin"),
    ("perfmon", "sys_admin"),
    ("net_admin", "sys_admin"),
])
def test_capabilities_that_are_missing(lab, daemon, caps):
    daemon.configure(interfaces=[iface(xdp="auto")]).spawn(before=without(*caps))
    daemon.wait_ready()
    (word,) = daemon.interface()["note"].split(": ")[1:2]
    assert word in ("Operation not permitted", "Permission denied")
    assert f"s0: XDP program: {word}: {CAPS}; kernel sockets answer" in daemon.log()
    assert CAPS in daemon.degraded()
    if "no BPF maps" in daemon.degraded():
        assert f"the driver answers nothing: start with {CAPS.removeprefix('needs ')}" in \
            daemon.log()


def test_without_the_capability_to_adopt(lab, daemon):
    """As in a container without CAP_SYS_ADMIN: all works but what a killed volleyd has left, until it is
    detached."""
    before = without("sys_admin")
    daemon.configure().spawn(before=before).wait_ready()
    assert daemon.interface()["xdp"] == "native" and not daemon.degraded()
    with Answered(daemon) as two:
        for _ in range(2):
            lab.ask("www.example.com")
    assert two.by == {"worker": 1, "driver": 1}
    daemon.ctl("cache", "resize", "24M")
    with Answered(daemon) as two:
        for _ in range(2):
            lab.ask("www.example.com")
    assert two.by.get("driver") and not daemon.degraded()
    daemon.kill()
    daemon.spawn(before=before).wait_ready()
    assert "s0: an XDP program is attached, which cannot be opened without CAP_SYS_ADMIN" in daemon.degraded()
    assert lab.ask("www.example.com").answer
    lab.ip("s", "link", "set", "s0", "xdp", "off")
    wait_for("it is attached anew", lambda: not daemon.degraded())
    assert daemon.interface()["xdp"] == "native"
    daemon.stop()
    assert program(lab) is None


@pytest.mark.parametrize("mode", [None, "0600", "0666"])
def test_who_may_command(lab, daemon, mode):
    """Every process that may write to the control socket may: so no other user may, unless
    control.mode allows it."""
    control = {"socket": str(daemon.socket), **({"mode": mode} if mode else {})}
    daemon.start(interfaces=None, control=control)
    assert daemon.socket.stat().st_mode & 0o7777 == int(mode or "0660", 8)


def test_files_that_are_too_few(lab, daemon):
    """With too few file descriptors a start fails with an error."""
    daemon.configure(interfaces=None, cache={"size": "8M"})
    for n in range(5, 14):
        before = len(daemon.log())
        daemon.spawn(before=("prlimit", f"--nofile={n}"))
        assert daemon.reap() and "error: " in daemon.log()[before:], n


@pytest.mark.parametrize("size, code, sentence", [
    ("900G", 2, "cache.size: \"900G\" is not accepted, give a size from 8M to 69G"),
    ("8M", 1, "error: cache.size: 8M is too small for 100000 zones: give at least "),
])
def test_a_cache_of_no_size_that_can_be(lab, daemon, size, code, sentence):
    zones = [{"name": f"z{i}.test", "file": "/dev/null"} for i in range(100000)]
    daemon.configure(interfaces=None, cache={"size": size}, zones=zones if size == "8M" else [])
    status, said = daemon.run_failing()
    assert status == code and sentence in said
    assert code == 2 or said.rstrip()[-1] in "MG"


def test_a_private_key_that_everyone_can_read(lab, daemon):
    key = daemon.folder / "key.pem"
    key.write_text("none", encoding="ascii")
    daemon.configure(interfaces=None, server={"tls": {"certificate": "cert.pem", "key": "key.pem"}})
    for mode, is_told in ((0o644, True), (0o640, False)):
        key.chmod(mode)
        status, said = daemon.run_failing("--check")
        assert status == 0 and is_told == \
            (f"warning: server.tls.key: everyone can read {key}: chmod o-r it" in said)


def test_a_second_daemon_on_an_interface(lab, daemon):
    daemon.start()
    (daemon.folder / "second").mkdir()
    second = Daemon(lab, daemon.folder / "second")
    second.configure(server={"listen": ["127.0.0.1@5301"]}, interfaces=[iface()])
    status, said = second.run_failing()
    assert status == 1 and said.count("another volleyd (pid ") == 1
    assert "error: s0: volleyd cannot run beside the XDP program that is there" in said


def test_a_trust_anchor_that_is_not_there(lab, daemon):
    daemon.configure(interfaces=None, recursion={"allow": ["127.0.0.0/8"],
                                                 "trust-anchor": "/nowhere/root.key"})
    status, said = daemon.run_failing()
    assert status == 1
    assert ("recursion.trust-anchor: /nowhere/root.key: No such file or directory: "
            "copy /usr/share/dns/root.key there") in said
