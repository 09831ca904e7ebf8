# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The broker: which process has which capabilities, and what dies with it."""
import json
import os
import signal
import socket

import dns.message
import dns.query
import pytest

from dnstree import anyone
from netlab import (V4, V6, Answered, driver_counters, has_ended, iface, map_ids, process_of, program, run,
                    status_of, texts, threads_of, wait_for)
from secondaries import certificate

WWW = ["192.0.2.80", "192.0.2.81"]
BIT = {"dac_read_search": 2, "net_bind_service": 10, "net_admin": 12, "net_raw": 13, "ipc_lock": 14,
       "sys_admin": 21, "perfmon": 38, "bpf": 39}
DAEMON = ()
BROKER = tuple(BIT)


def parent_of(daemon):
    """The process that starts the others."""
    return process_of(daemon, "volley-parent")


def broker_of(daemon):
    """The process that loads programs."""
    return wait_for("a broker", lambda: process_of(daemon, "volley-parent", "volley-broker"))


def kill_broker(daemon):
    before = broker_of(daemon)
    os.kill(before, signal.SIGKILL)
    return wait_for("the next broker",
                    lambda: broker_of(daemon) if broker_of(daemon) != before else None)


def caps(*names):
    return sum(1 << BIT[name] for name in names)


def test_who_has_which_capabilities(lab, daemon):
    """Each thread of each process: what reads packets can load nothing, open no raw socket and bind
    no port below 1024."""
    assert int(status_of("self")["CapEff"], 16) & ~caps(*BIT), "else this shows nothing"
    daemon.start()
    pids = {"volleyd": (daemon.process.pid, caps(*DAEMON)),
            "parent": (parent_of(daemon), caps(*BROKER)),
            "broker": (broker_of(daemon), caps(*BROKER))}
    for name, (pid, all_of_them) in pids.items():
        assert int(status_of(pid)["CapEff"], 16) == all_of_them, name
        for fields in threads_of(pid):
            has = {key: int(value, 16) for key, value in fields.items()
                   if key in ("CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd", "NoNewPrivs")}
            assert (has["CapPrm"] | has["CapEff"] | has["CapBnd"]) & ~all_of_them == 0, (name, fields)
            assert has["CapInh"] == has["CapAmb"] == 0 and has["NoNewPrivs"] == 1, (name, fields)


def test_every_way_of_answering_without_a_capability(lab, daemon, tmp_path):
    """XDP, AF_XDP, kernel sockets, TCP and TLS at their usual ports, while no thread has one."""
    lab.ip("s", "link", "set", "lo", "up")
    tls = {**certificate(tmp_path)["server"], "listen": [V4]}
    daemon.start(server={"listen": [V4, V6], "workers": 2, "tls": tls})
    query = dns.message.make_query("www.example.com", "A")
    with Answered(daemon) as all_of_them:
        assert texts(lab.ask()) == texts(lab.ask()) == WWW
        assert texts(lab.ask("mail.example.com", end="s")) == ["192.0.2.25"]
        assert texts(lab.tcp(query)) == WWW
        with anyone().wrap_socket(lab.connect("c", V4, 853)) as stream:
            dns.query.send_tcp(stream, query)
            assert texts(dns.query.receive_tcp(stream)[0]) == WWW
    assert all_of_them.by == {"worker": 1, "driver": 1, "kernel_socket": 1, "tcp": 1,
                               "tls": 1}
    kinds = {"CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd"}
    for fields in threads_of(daemon.process.pid):
        assert {int(fields[kind], 16) for kind in kinds} == {0}, fields


def test_memory_that_is_limited(lab, daemon):
    """The limit is for what has no CAP_IPC_LOCK: the broker has it, and each AF_XDP socket gets all
    of its frames."""
    daemon.configure().spawn(before=["prlimit", "--memlock=65536:65536", "--", "setpriv",
                                     "--bounding-set=-sys_resource", "--inh-caps=-sys_resource"])
    daemon.wait_ready()
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"worker": 1}
    assert "no more may be locked" not in daemon.log()


def test_a_broker_that_dies(lab, daemon):
    """Hits and misses go on, the next one finds the program by the kernel's state, and what needs a
    broker works again."""
    daemon.start()
    lab.ask()
    number = program(lab)["id"]
    kill_broker(daemon)
    with Answered(daemon) as two:
        assert texts(lab.ask()) == WWW
        assert texts(lab.ask("mail.example.com")) == ["192.0.2.25"]
    assert two.by == {"driver": 1, "worker": 1}
    daemon.ctl("cache", "resize", "32M")  # another program takes its place
    assert program(lab)["id"] != number
    kill_broker(daemon)
    assert texts(lab.ask()) == WWW
    daemon.ctl("detach", "s0")
    assert program(lab) is None
    kill_broker(daemon)
    daemon.ctl("attach", "s0")
    assert program(lab) and daemon.interface()["origin"] == "loaded"
    assert daemon.degraded() == ""
    assert daemon.log().count("volley-broker: it has ended by signal 9: the next one starts") == 3
    kill_broker(daemon)
    assert daemon.stop() == 0
    assert program(lab) is None


def test_ends_of_children_are_ignored(lab, daemon):
    """By the process that starts volleyd: the parent hears of its broker's end all the same."""
    daemon.configure().spawn(before=["env", "--ignore-signal=CHLD"]).wait_ready()
    kill_broker(daemon)
    daemon.ctl("cache", "resize", "32M")
    assert texts(lab.ask()) == WWW
    assert daemon.degraded() == ""


def test_no_broker_any_more(lab, daemon):
    """The daemon answers, and says what it cannot do; nothing of it is left."""
    daemon.start()
    lab.ask()
    parent, broker = parent_of(daemon), broker_of(daemon)
    os.kill(parent, signal.SIGKILL)
    wait_for("it has ended", lambda: "the broker has ended" in daemon.degraded())
    wait_for("its broker has ended, too", lambda: has_ended(broker))
    with Answered(daemon) as two:
        assert texts(lab.ask()) == WWW
        assert texts(lab.ask("mail.example.com")) == ["192.0.2.25"]
    assert two.by == {"driver": 1, "worker": 1}
    refused = daemon.ctl("cache", "resize", "32M", check=False)
    assert refused.returncode and "the broker has ended" in refused.stdout + refused.stderr
    assert daemon.interface()["origin"] == "loaded", "the program is still there"
    assert daemon.stop() == 0
    hits = driver_counters(program(lab)["id"])["hit"]
    assert not lab.is_answered()
    assert driver_counters(program(lab)["id"])["hit"] == hits, "it is silent"
    daemon.start()
    assert daemon.interface()["origin"] == "adopted" and daemon.degraded() == ""


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_it_ends_with_the_daemon(lab, daemon, end):
    daemon.start()
    pids = [parent_of(daemon), broker_of(daemon)]
    if end == "kill":
        daemon.kill()
    else:
        assert daemon.stop() == 0
    wait_for("they have ended", lambda: all(map(has_ended, pids)))
    daemon.start()  # nothing holds the lock of the interface
    assert daemon.interface()["origin"] == ("adopted" if end == "kill" else "loaded")


def test_the_lock_names_the_daemon(lab, daemon, make_daemon):
    """While both run, and while the broker is dead."""
    daemon.start()
    kill_broker(daemon)
    other = make_daemon("b")
    status, said = other.configure(server={"listen": [f"{V4}@5300"]}).run_failing()
    assert status and f"another volleyd (pid {daemon.process.pid}) holds" in said


def test_nothing_leaks(lab, daemon):
    """Descriptors of daemon and broker after many programs."""
    def n_files(pid):
        return len(os.listdir(f"/proc/{pid}/fd"))

    def turn():
        daemon.ctl("detach", "s0")
        daemon.ctl("attach", "s0")
        daemon.ctl("cache", "resize", "24M")
        daemon.ctl("cache", "resize", "16M")

    daemon.start()
    turn()
    before = {pid: n_files(pid) for pid in (daemon.process.pid, parent_of(daemon),
                                            broker_of(daemon))}
    for _ in range(5):
        turn()
    wait_for("no more than before", lambda: all(n_files(pid) <= n for pid, n in before.items()))


def test_a_second_interface_in_the_same_cache(lab, daemon):
    """Its program uses the maps of the first one, also if another broker has made them."""
    run("ip", "-n", f"{lab.name}-s", "link", "add", "d0", "type", "veth", "peer", "name", "d1")
    run("ip", "-n", f"{lab.name}-s", "link", "set", "d0", "up")
    daemon.start()
    kill_broker(daemon)
    daemon.ctl("attach", "d0")
    first, second = (map_ids(program(lab, dev)["id"]) for dev in ("s0", "d0"))
    shared = {name for name in first if first[name] == second[name]}
    assert {"volley_index", "volley_store", "volley_clients"} <= shared
    assert "volley_cpu" not in shared
    assert daemon.stop() == 0


def listen_at(daemon, *ports):
    """The file says so; the usual addresses stay."""
    return daemon.configure(server={"listen": [V4, V6, *(f"{V4}@{port}" for port in ports)]})


def is_answered_at(lab, port):
    query = dns.message.make_query("www.example.com", "A")
    return texts(lab.udp(query, port=port)) == texts(lab.tcp(query, port=port)) == WWW


def test_ports_that_the_configuration_names(lab, daemon, tmp_path):
    """The broker binds them, at the start and at a reload, also one that was started meanwhile; it
    binds no other port below 1024."""
    listen_at(daemon, 54).start()
    assert is_answered_at(lab, 53) and is_answered_at(lab, 54)
    listen_at(daemon, 54, 55)
    daemon.ctl("zone", "reload")
    assert is_answered_at(lab, 55)
    kill_broker(daemon)
    listen_at(daemon, 56)
    daemon.ctl("zone", "reload")
    assert is_answered_at(lab, 56) and is_answered_at(lab, 53)
    text = tmp_path / "other.yaml"
    text.write_text(daemon.path.read_text("utf-8").replace(f"{V4}@56", f"{V4}@57"), "utf-8")
    daemon.ctl("config", "apply", text)
    assert is_answered_at(lab, 57)
    kill_broker(daemon)  # the next one gets the text again
    text.write_text(text.read_text("utf-8").replace(f"{V4}@57", f"{V4}@59"), "utf-8")
    daemon.ctl("config", "apply", text)
    assert is_answered_at(lab, 59)
    os.kill(parent_of(daemon), signal.SIGKILL)
    listen_at(daemon, 59, 58)
    refused = daemon.ctl("zone", "reload", check=False)
    assert refused.returncode and "the broker has ended" in refused.stderr
    assert is_answered_at(lab, 59) and is_answered_at(lab, 53)


def ask_without_a_text(daemon, command, *args):
    """As a client that passes no descriptor, or a volleyd that was broken into."""
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(str(daemon.socket))
        control.sendall(json.dumps({"v": 1, "command": command, "args": args}).encode() + b"\n")
        return json.loads(control.makefile().readline())


def test_interfaces_that_the_operator_names(lab, daemon, tmp_path):
    """The broker works on those that the file names, also if it has changed, and those that root
    names by a command; on no other. The next broker learns them again."""
    for dev in ("d0", "e0", "f0"):
        run("ip", "-n", f"{lab.name}-s", "link", "add", dev, "type", "veth", "peer", "name",
            f"{dev}p")
        run("ip", "-n", f"{lab.name}-s", "link", "set", dev, "up")
    daemon.start()
    for _ in range(2):
        refused = ask_without_a_text(daemon, "attach", "d0")
        assert not refused["ok"] and "does not name this interface" in json.dumps(refused)
        assert not program(lab, "d0")
        daemon.ctl("attach", "d0")
        assert program(lab, "d0")
        daemon.ctl("detach", "d0")
        kill_broker(daemon)
    daemon.ctl("attach", "d0")
    kill_broker(daemon)
    run("ip", "-n", f"{lab.name}-s", "link", "set", "dev", "d0", "xdp", "off")
    wait_for("volleyd attaches it again", lambda: program(lab, "d0"))
    daemon.configure(interfaces=[iface(), iface("e0", xdp="auto")])
    daemon.ctl("zone", "reload")
    assert program(lab, "e0")
    text = tmp_path / "other.yaml"
    text.write_text(daemon.path.read_text("utf-8").replace('"e0"', '"f0"'), "utf-8")
    daemon.ctl("config", "apply", text)
    assert program(lab, "f0") and not program(lab, "e0")
    assert not daemon.degraded()
