# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl health and drain: faults that keep queries away from a host, and faults that are only
reported."""
import contextlib
import ctypes
import json
import os
import signal
import socket
import threading
import time

import pytest

from netlab import BIN, CLIENT4, V4, V6, wait_for, write_zone, zone
from secondaries import Peer, certificate, knot_head
from test_metrics import fetch

MISSING = "no interface has this address: no query can reach it"
HEALTHY, NOT_HEALTHY, USAGE, NO_DAEMON = range(4)
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000  # __WALL: threads that are no children

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def health(daemon, *words, wait_s=10):
    """(status, reasons, warnings), as people read them."""
    said = daemon.ctl("-w", wait_s, "health", *words, check=False)
    lines = said.stdout.splitlines()
    reasons = [line[len("not healthy: "):] for line in lines if line.startswith("not healthy: ")]
    warnings = [line[len("warning: "):] for line in lines if line.startswith("warning: ")]
    assert ("healthy" in lines) == (said.returncode == HEALTHY), said
    assert len(lines) == len(reasons) + len(warnings) + (said.returncode == HEALTHY), said
    assert bool(reasons) == (said.returncode in (NOT_HEALTHY, NO_DAEMON)), said
    return said.returncode, "\n".join(reasons), "\n".join(warnings)


def wait_health(daemon, status, *words):
    return wait_for(f"health says {status}: {health(daemon, *words)}",
                    lambda: (lambda it: it if it[0] == status else None)(health(daemon, *words)),
                    20)


@contextlib.contextmanager
def thread_stopped(pid, name):
    """One thread of a process, and no other."""
    tid = next(int(task) for task in os.listdir(f"/proc/{pid}/task")
               if open(f"/proc/{pid}/task/{task}/comm", encoding="ascii").read() == f"{name}\n")

    def call(request):
        assert not _libc.ptrace(request, tid, None, None), os.strerror(ctypes.get_errno())
    call(PTRACE_SEIZE)
    call(PTRACE_INTERRUPT)
    os.waitpid(tid, WALL)
    try:
        yield
    finally:
        call(PTRACE_DETACH)


def test_healthy(daemon):
    daemon.start()
    assert health(daemon)[:2] == (HEALTHY, "")
    result = daemon.json("health")
    assert result["healthy"] is True and result["reasons"] == [] and result["drained"] is False
    assert result["services"] == [f"{V4}@53", f"{V6}@53"] and result["state"] == "serving"
    assert (health(daemon, "--zones", "all", "--interfaces", "any", "--ignore", "other.test")[0] ==
            HEALTHY)


@pytest.mark.parametrize("words",
                         [["--zones"], ["--zones", "two"], ["--probe"], ["--probe", "a..b"],
                                   ["--probe", "a/NOTYPE"], ["now"]])
def test_usage(daemon, words):
    daemon.start()
    said = daemon.ctl("health", *words, check=False)
    assert said.returncode == USAGE and said.stderr and not said.stdout, said


def test_no_daemon_and_one_that_hangs(daemon):
    daemon.configure()
    status, reasons, _ = health(daemon)
    assert status == NO_DAEMON and str(daemon.socket) in reasons
    daemon.start()
    daemon.signal(signal.SIGSTOP)
    status, reasons, _ = health(daemon, "--zones", "none", wait_s=2)
    assert status == NO_DAEMON and "does not reply" in reasons
    said = daemon.ctl("-w", 1, "--json", "health", check=False)
    assert said.returncode == NO_DAEMON and '"healthy": false' in said.stdout
    daemon.signal(signal.SIGCONT)
    assert health(daemon)[0] == HEALTHY, "it was stopped as a whole: no worker hangs"


def test_a_daemon_without_time(daemon):
    """The daemon is alive: its announcement need not be withdrawn at once."""
    refusal = b'{"ok":false,"error":"too many clients are connected, try again later","code":"busy"}\n'

    def refuse(listener):
        with contextlib.suppress(OSError):
            while True:
                listener.accept()[0].sendall(refusal)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(daemon.socket))
        listener.listen()
        threading.Thread(target=refuse, args=(listener,), daemon=True).start()
        status, reasons, _ = health(daemon)
        assert status == NOT_HEALTHY and "too many clients" in reasons
        listener.shutdown(socket.SHUT_RDWR)


def test_health_finds_a_place(daemon):
    """
    As many clients as there are places hold half a request each: root's next request is answered.
    """
    daemon.start()
    with contextlib.ExitStack() as clients:
        for _ in range(32):
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(daemon.socket))
            client.sendall(b"{")
        assert health(daemon)[:2] == (HEALTHY, "")


def test_a_worker_hangs(daemon):
    daemon.start()
    with thread_stopped(daemon.process.pid, "volley-w1"):
        _, reasons, _ = wait_health(daemon, NOT_HEALTHY)
        assert reasons.startswith("worker 1: hangs") and "\n" not in reasons
    wait_health(daemon, HEALTHY)


def test_watchdog_is_fed_by_the_workers(daemon, tmp_path):
    """systemd's, as long as each of them goes round; so it ends a volleyd with one that hangs."""
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(path)
        heard.settimeout(30)

        def is_fed():
            heard.setblocking(False)
            told = []
            with contextlib.suppress(BlockingIOError):
                while True:
                    told.append(heard.recv(1000))
            return b"WATCHDOG=1" in told
        daemon.configure().spawn(env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "30000000"})
        daemon.wait_ready()
        for _ in range(2):
            wait_for("it is fed", is_fed)
        with thread_stopped(daemon.process.pid, "volley-w1"):
            wait_health(daemon, NOT_HEALTHY)
            wait_for("the log says so", lambda: "error: worker 1 hangs" in daemon.log())
            is_fed()
            time.sleep(2.5)  # two ticks
            assert not is_fed()
        wait_for("it is fed again", is_fed)
        assert daemon.log().count("worker 1 hangs") == 1


def test_watchdog_that_is_not_there(daemon, tmp_path):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(path)
        daemon.configure().spawn(env={"NOTIFY_SOCKET": path})
        daemon.wait_ready()
        time.sleep(1.5)  # a tick
        daemon.signal(signal.SIGTERM)
        assert daemon.reap() == 0
        heard.setblocking(False)
        told = [heard.recv(1000) for _ in range(2)]
        assert told == [b"READY=1", b"STOPPING=1"]


def test_starting(daemon, tmp_path):
    gate = tmp_path / "gate"
    slow = {**zone("example.com"),
            "verify": ["/bin/sh", "-c", f"until [ -e {gate} ]; do sleep 0.05; done"]}
    daemon.configure(zones=[slow]).spawn()
    wait_for("the control socket", daemon.socket.exists)
    _, reasons, _ = wait_health(daemon, NOT_HEALTHY)  # its file is there before it listens
    assert "volleyd is starting" in reasons
    gate.touch()
    daemon.wait_ready()
    assert health(daemon)[0] == HEALTHY


def test_zones(daemon, tmp_path):
    """One that is not served, one that is not the newest, and who is to mind."""
    good, stale = write_zone(tmp_path / "good.zone"), write_zone(tmp_path / "stale.zone")
    daemon.start(zones=[zone("good.test", good), zone("stale.test", stale),
                        zone("none.test", tmp_path / "none.zone")])
    status, reasons, _ = health(daemon)
    assert status == NOT_HEALTHY and reasons.startswith("zone none.test.: not served")
    assert "none.zone" in reasons
    assert health(daemon, "--ignore", "None.Test")[0] == HEALTHY
    assert health(daemon, "--zones", "any")[0] == HEALTHY
    assert "none.test" in health(daemon, "--zones", "none")[2]
    stale.write_text("@ IN nonsense\n", encoding="ascii")
    assert daemon.ctl("zone", "reload", "stale.test", check=False).returncode == 1
    status, _, warnings = health(daemon, "--ignore", "none.test")
    assert status == HEALTHY and "stale.test.: an earlier version is served" in warnings
    status, reasons, _ = health(daemon, "--ignore", "none.test", "--strict")
    assert status == NOT_HEALTHY and "stale.test" in reasons
    write_zone(tmp_path / "none.zone")
    write_zone(stale, serial=2)
    daemon.ctl("zone", "reload")
    assert not any("zone" in said for said in health(daemon)[1:])
    assert health(daemon)[0] == HEALTHY


def test_zones_none_of_them(daemon, tmp_path):
    daemon.start(zones=[zone("none.test", tmp_path / "none.zone")])
    assert health(daemon, "--zones", "any")[:2] == (NOT_HEALTHY, "none of 1 zones is served")
    assert health(daemon, "--zones", "none", "--strict", "--interfaces", "none")[0] == HEALTHY


def knotd(lab, folder, zone_name):
    """A primary at the client's end, whose zone expires soon."""
    path = folder / f"{zone_name}.zone"
    path.write_text("@ 60 SOA ns root 1 1 1 3 60\n@ NS ns\nns A 192.0.2.1\n", encoding="ascii")
    (folder / "knot.conf").write_text(f"""{knot_head(folder, action="transfer")}zone:
  - domain: {zone_name}
    file: {path}
    zonefile-sync: -1
    acl: volley
    semantic-checks: off
""", encoding="ascii")
    return Peer(lab, folder, ["knotd", "-c", folder / "knot.conf"])


def test_a_zone_from_a_primary(lab, daemon, tmp_path):
    """It has not come, comes, expires."""
    there = {"name": "there.test", "primaries": ["p"], "retry-max": "1s", "refresh-max": "2s",
             "expire-max": "3s"}
    daemon.start(server={"storage": str(tmp_path)}, remotes=[{"name": "p", "address": [CLIENT4]}],
                 zones=[there, zone("example.com")])
    status, reasons, _ = health(daemon)
    assert ((status, reasons) ==
            (NOT_HEALTHY, "zone there.test.: not yet transferred from a primary"))
    assert health(daemon, "--zones", "any")[0] == HEALTHY
    with knotd(lab, tmp_path, "there.test") as primary:
        wait_for("knotd answers", lambda: (it := primary.ask("there.test", "SOA")) and it.answer,
                 20)
        daemon.ctl("zone", "refresh", "there.test")
        wait_health(daemon, HEALTHY)
        later = {**there, "name": "later.test"}
        daemon.configure(server={"storage": str(tmp_path)},
                         remotes=[{"name": "p", "address": [CLIENT4]}],
                         zones=[there, later, zone("example.com")])
        daemon.ctl("zone", "reload", check=False)
        _, _, warnings = wait_health(daemon, HEALTHY)
        assert "zone later.test.: not yet transferred from a primary" in warnings
    _, reasons, _ = wait_health(daemon, NOT_HEALTHY)
    assert reasons == "zone there.test.: expired"


def test_another_program(lab, daemon):
    """In place of ours; and when it goes, ours comes back."""
    daemon.start()
    lab.exec("s", "ip", "-force", "link", "set", "dev", "s0", "xdpdrv", "obj",
             BIN / "xdp_pass.bpf.o", "sec", "xdp")
    _, reasons, _ = wait_health(daemon, NOT_HEALTHY)
    assert reasons.startswith("s0: ")
    assert health(daemon, "--interfaces", "none")[0] == HEALTHY
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "off")
    wait_health(daemon, HEALTHY)


def test_detached_and_gone(lab, daemon):
    daemon.start()
    daemon.ctl("detach", "s0")
    assert health(daemon)[:2] == (NOT_HEALTHY, "s0: detached by volleyctl")
    daemon.ctl("attach", "s0")
    assert health(daemon)[0] == HEALTHY
    lab.ip("s", "link", "del", "dev", "s0")
    _, reasons, _ = wait_health(daemon, NOT_HEALTHY)
    assert "s0: " in reasons and f"service address {V4}: {MISSING}" in reasons


def test_attached_and_detached_by_hand(lab, daemon):
    """Of an interface that the configuration does not name nothing stays, once it is detached."""
    daemon.start(interfaces=None)
    assert health(daemon)[0] == HEALTHY
    for _ in range(3):
        daemon.ctl("attach", "s0")
        assert health(daemon)[0] == HEALTHY and len(daemon.status()["interfaces"]) == 1
        daemon.ctl("detach", "s0")
        assert health(daemon)[0] == HEALTHY and not daemon.status()["interfaces"]
        assert not daemon.degraded() and lab.ask().answer


def test_detached_where_nothing_could_be_attached(lab, daemon):
    """An `attach` that failed stays wanted, until `detach` takes it back."""
    lab.exec("s", "ip", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o", "sec",
             "xdp")
    daemon.start(interfaces=None)
    assert daemon.ctl("attach", "s0", check=False).returncode == 1
    assert health(daemon)[0] == NOT_HEALTHY
    daemon.ctl("detach", "s0")
    assert health(daemon)[0] == HEALTHY and not daemon.degraded()


def test_detached_when_it_has_gone(lab, daemon):
    """A container's interface, attached by hand, goes with the container."""
    daemon.start(interfaces=None, server={"listen": ["0.0.0.0"]})
    daemon.ctl("attach", "s0")
    lab.ip("s", "link", "del", "dev", "s0")
    wait_health(daemon, NOT_HEALTHY)
    daemon.ctl("detach", "s0")
    assert health(daemon)[0] == HEALTHY


def test_detached_where_the_configuration_says_off(daemon):
    """It is as the configuration says again."""
    daemon.start(interfaces=[{"name": "s0", "xdp": "off"}])
    assert health(daemon)[0] == HEALTHY
    daemon.ctl("attach", "s0")
    assert health(daemon)[0] == HEALTHY
    daemon.ctl("detach", "s0")
    assert health(daemon)[:2] == (HEALTHY, "")
    assert daemon.interface()["xdp"] == "off"


def test_steps_down(lab, daemon):
    """A generic program and copied frames answer, too."""
    daemon.start(interfaces=[{"name": "s0", "xdp": "auto", "port": "xsk"}])
    status, _, warnings = health(daemon)
    assert status == HEALTHY and "s0: no zero-copy" in warnings
    assert health(daemon, "--strict")[0] == NOT_HEALTHY
    lab.ip("s", "link", "set", "dev", "s0", "down")
    _, reasons, _ = wait_health(daemon, NOT_HEALTHY)
    assert "no AF_XDP socket" in reasons or "service address" in reasons


def is_missing(lab, daemon, where):
    """Whether health, status, metrics and doctor say that the host lacks the address: all agree."""
    sentence = f"service address {where}: {MISSING}"
    checks = lab.exec("s", BIN / "volleyctl", "--json", "-s", daemon.socket, "doctor", "--config",
                      daemon.path, check=False).stdout
    row = next(row for row in json.loads(checks)["checks"]
               if (row["where"], row["check"]) == (f"{where}@53", "address"))
    told = sentence in health(daemon)[1], sentence in daemon.degraded(), row["text"] == MISSING
    assert len(set(told)) == 1, told
    wait_for("the metric agrees", lambda: f"\nvolley_services_missing {int(told[0])}\n" in fetch(lab)[2])
    return told[0]


@pytest.mark.parametrize("binds_any", [0, 1], ids=["usual", "ip_nonlocal_bind"])
def test_service_address(lab, daemon, binds_any):
    """With ip_nonlocal_bind, which failover daemons set, a socket can be bound to any address."""
    for family in ("ipv4", "ipv6"):
        lab.exec("s", "sysctl", "-qw", f"net.{family}.ip_nonlocal_bind={binds_any}")
    metrics = {"listen": f"{V4}@9253"}
    daemon.start(server={"listen": [V4]}, metrics=metrics)
    assert not is_missing(lab, daemon, V4) and health(daemon)[0] == HEALTHY
    for where, bits, around in ("203.0.113.53", 32, "203.0.113.0/24"), \
            ("2001:db8:1::53", 128, "2001:db8:1::/64"):
        daemon.configure(server={"listen": [V4, where]}, metrics=metrics)
        daemon.ctl("zone", "reload")
        assert is_missing(lab, daemon, where)
        assert f"service address {where}: {MISSING}" in daemon.log()
        for kind, what in ("address", f"{where}/{bits}"), ("route", around):
            words = ["local", what] if kind == "route" else [what]
            lab.ip("s", kind, "add", *words, "dev", "lo")
            assert not is_missing(lab, daemon, where), kind
            lab.ip("s", kind, "del", *words, "dev", "lo")
            assert is_missing(lab, daemon, where)


def test_service_address_over_tls(lab, daemon, tmp_path):
    tls = {**certificate(tmp_path)["server"], "listen": ["203.0.113.53"]}
    daemon.start(server={"listen": [V4], "tls": tls})
    sentence = f"service address 203.0.113.53: {MISSING}"
    assert health(daemon)[:2] == (NOT_HEALTHY, sentence) and sentence in daemon.degraded()
    lab.ip("s", "address", "add", "203.0.113.53/32", "dev", "lo")
    assert health(daemon)[0] == HEALTHY and not daemon.degraded()


def ask_inside(lab, daemon, *words, wait_s=10):
    """As on the host itself."""
    return lab.exec("s", BIN / "volleyctl", "-s", daemon.socket, "-w", wait_s, "health", *words,
                    check=False)


def test_probe(lab, daemon):
    daemon.start()
    said = ask_inside(lab, daemon, "--probe", "example.com", "--probe", "www.example.com/A")
    assert said.returncode == HEALTHY, said
    with_engine = daemon.stats()["engine"]["queries"]
    assert with_engine == 4, "two questions to two addresses"
    for name, word in (("nothing.example.com", "NXDOMAIN"), ("example.org/A", "REFUSED"),
                       ("example.com/TYPE300", "no records")):
        said = ask_inside(lab, daemon, "--probe", name)
        assert said.returncode == NOT_HEALTHY, said
        assert f"{name}: no answer from {V4}@53: {word}" in said.stdout
        assert f"{name}: no answer from {V6}@53: {word}" in said.stdout


def test_probe_meets_silence(lab, daemon):
    """The worker hangs, and no check has noticed yet."""
    daemon.start(server={"workers": 1})
    with thread_stopped(daemon.process.pid, "volley-w0"):
        said = ask_inside(lab, daemon, "--probe", "example.com", wait_s=2)
    assert said.returncode == NOT_HEALTHY and "timed out" in said.stdout.lower(), said


def test_drain(lab, daemon):
    daemon.start()
    assert daemon.json("drain") == {"drained": False, "why": ""}
    assert daemon.ctl("drain", "perhaps", check=False).returncode == 2
    assert daemon.ctl("drain", "off", "why", check=False).returncode == 2
    daemon.ctl("drain", "on", "new kernel")
    assert health(daemon)[:2] == (NOT_HEALTHY, "drained: new kernel")
    assert daemon.status()["drained"] is True
    lab.ask()
    daemon.kill()
    daemon.start()
    assert health(daemon)[:2] == (NOT_HEALTHY, "drained: new kernel"), "the next daemon knows"
    daemon.ctl("drain", "off")
    assert health(daemon)[0] == HEALTHY
    assert daemon.stop() == 0
    daemon.start()
    assert health(daemon)[0] == HEALTHY
    assert "drain off: volleyctl health no longer says that this host is drained" in daemon.log()


def test_metrics(lab, daemon):
    daemon.start(metrics={"listen": f"{V4}@9253"})

    def are(healthy, drained):
        text = fetch(lab)[2]
        return f"\nvolley_healthy {healthy}\n" in text and f"\nvolley_drained {drained}\n" in text
    assert are(1, 0)
    daemon.ctl("drain", "on")
    wait_for("it is told", lambda: are(0, 1))
