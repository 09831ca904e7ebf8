# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl doctor: in a healthy lab no check fails; then each fault is reported, with a command to
type."""
import json
import os
import socket

import pytest

from netlab import BIN, ROOT, TOOLS, V4, V6, Daemon, iface, program, run

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]


class Doctor:
    """doctor in the server's namespace, with a configuration in a folder of its own."""

    def __init__(self, lab, folder):
        self.lab = lab
        self.daemon = Daemon(lab, folder).configure(server={"workers": 1})

    def run(self, *words, before=(), config=True, as_json=True):
        named = ["--config", self.daemon.path] if config else []
        return self.lab.exec("s", *before, BIN / "volleyctl", "-s", self.daemon.socket,
                             *(["--json"] if as_json else []), "doctor", *named, *words,
                             check=False)

    def look(self, *words, **kwargs):
        """{(where, check): row}, and the status as "status"."""
        said = self.run(*words, **kwargs)
        result = json.loads(said.stdout)
        rows = {(row["where"], row["check"]): row for row in result["checks"]}
        assert len(rows) == len(result["checks"]) and not said.stderr
        assert (said.returncode == 1) == (result["failures"] > 0), result
        for state, total in ("ok", "ok"), ("warn",
                                           "warnings"), ("fail",
                                                         "failures"), ("unknown", "unknown"):
            assert sum(row["state"] == state for row in rows.values()) == result[total]
        return rows

    def state(self, where, check, **kwargs):
        row = self.look(**kwargs).get((where, check))
        return row and row["state"]

    def row(self, where, check, **kwargs):
        return self.look(**kwargs)[where, check]


@pytest.fixture
def doctor(lab, tmp_path):
    return Doctor(lab, tmp_path)


def bad(rows):
    return {key: row["state"] for key, row in rows.items() if row["state"] in ("warn", "fail")}


def ethtool(lab, *words):
    return lab.exec("s", "ethtool", *words)


def test_healthy_lab(doctor):
    """
    No failure, and no warning that speaks of the lab; the machine's own processors are as they are.
    """
    rows = doctor.look()
    assert {where for where, _ in rows} == {"host", f"{V4}@53", f"{V6}@53", "s0"}
    assert not [key for key, row in rows.items() if row["state"] == "fail"], bad(rows)
    assert not [key for key in bad(rows) if key[0] != "host"], bad(rows)
    for check in "kernel", "program-load", "af-xdp", "capabilities", "memlock", "memory", "configuration":
        assert rows["host", check]["state"] == "ok", rows["host", check]
    for check in "link", "native-xdp", "xdp-program", "mtu", "veth-gro", "veth-peer", "threaded-napi", "queues":
        assert rows["s0", check]["state"] == "ok", rows["s0", check]


def test_for_people(doctor):
    """A block for each place, no line too wide but those to copy, no control characters."""
    said = doctor.run(as_json=False)
    lines = said.stdout.splitlines()
    assert said.returncode == 0 and "s0" in lines and lines[-1].endswith("not checked")
    assert not [line for line in lines if len(line) > 80 and "->" not in line and "/" not in line]
    assert (said.stdout.isprintable()
            or set(said.stdout) - set("\n") <= set(map(chr, range(32, 127))))


def test_gro(doctor, lab):
    """The command that it suggests repairs the fault."""
    ethtool(lab, "-K", "s0", "gro", "off")
    row = doctor.row("s0", "veth-gro")
    assert (row["state"], row["do"]) == ("warn", "ethtool -K s0 gro on")
    lab.exec("s", *row["do"].split())
    assert doctor.state("s0", "veth-gro") == "ok"


def test_threaded_napi(doctor, lab):
    set_to = "echo {} >/sys/class/net/s0/threaded"
    run("ip", "netns", "exec", f"{lab.name}-s", "sh", "-c", set_to.format(0))
    row = doctor.row("s0", "threaded-napi")
    assert row["state"] == "warn"
    run("ip", "netns", "exec", f"{lab.name}-s", "sh", "-c", row["do"])
    assert doctor.state("s0", "threaded-napi") == "ok"


def test_more_workers_than_queues(doctor, make_lab):
    lab = make_lab(queues=2)
    doctor = Doctor(lab, doctor.daemon.folder)
    doctor.daemon.configure(server={"workers": 2})
    ethtool(lab, "-L", "s0", "rx", "1", "tx", "1")
    row = doctor.row("s0", "queues")
    assert row["state"] == "warn" and "1 queue(s) and 2 workers" in row["text"]
    ethtool(lab, "-L", "s0", "rx", "2", "tx", "2")
    assert doctor.state("s0", "queues") == "ok"


def test_foreign_program(doctor, lab):
    lab.ip("s", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o", "sec", "xdp")
    row = doctor.row("s0", "xdp-program")
    assert row["state"] == "fail" and str(program(lab)["id"]) in row["text"]
    lab.ip("s", "link", "set", "dev", "s0", "xdp", "off")
    assert doctor.state("s0", "xdp-program") == "ok"


def test_program_of_ours(doctor, lab):
    lab.ip("s", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "volley.bpf.o", "sec", "xdp")
    row = doctor.row("s0", "xdp-program")
    assert row["state"] == "ok" and "Volley, id" in row["text"]
    lab.ip("s", "link", "set", "dev", "s0", "xdp", "off")


@pytest.mark.parametrize("mtu", [3506, 3507, 9000])
def test_mtu_of_the_other_end(doctor, lab, mtu):
    """
    As the kernel does: with an octet more than one buffer has, it takes a program for several ones.
    """
    lab.ip("c", "link", "set", "dev", "c0", "xdpdrv", "off")
    lab.ip("c", "link", "set", "dev", "c0", "mtu", mtu)
    assert doctor.state("s0", "mtu") == "ok"
    attached = lab.ip("s", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o",
                      "sec", "xdp", check=False)
    assert (attached.returncode == 0) == (mtu == 3506), attached.stderr
    if attached.returncode:
        lab.ip("s", "link", "set", "dev", "s0", "xdpdrv", "obj", TOOLS.parent / "jumbo.bpf.o",
               "sec", "xdp.frags")


def test_other_end_without_program(doctor, lab):
    lab.ip("c", "link", "set", "dev", "c0", "xdpdrv", "off")
    assert doctor.state("s0", "veth-peer") == "warn"


def test_link(doctor, lab):
    lab.ip("s", "link", "set", "dev", "s0", "down")
    row = doctor.row("s0", "link")
    assert (row["state"], row["do"]) == ("fail", "ip link set dev s0 up")
    rows = doctor.look("nothere0")
    assert rows["nothere0", "link"]["state"] == "fail"
    assert [key for key in rows if key[0] == "nothere0"] == [("nothere0", "link")]


def test_address_missing(doctor, lab):
    lab.ip("s", "address", "del", f"{V4}/24", "dev", "s0")
    row = doctor.row(f"{V4}@53", "address")
    assert row["state"] == "fail" and f"ip address add {V4}" in row["do"]
    assert doctor.state(f"{V6}@53", "address") == "ok"
    lab.ip("s", "address", "add", V4, "dev", "lo")
    assert doctor.state(f"{V4}@53", "address") == "ok"


@pytest.mark.parametrize("kind, name, where", [
    (socket.SOCK_DGRAM, "UDP", V4), (socket.SOCK_STREAM, "TCP", V4),
                                               (socket.SOCK_DGRAM, "UDP", "")])
def test_port_taken(doctor, lab, kind, name, where):
    with lab.socket("s", kind=kind) as taken:
        taken.bind((where, 53))
        if name == "TCP":
            taken.listen()
        row = doctor.row(f"{V4}@53", "port")
        assert row["state"] == "fail" and f"has the {name} port" in row["text"]
        with open("/proc/self/comm", encoding="utf-8") as comm:
            assert comm.read().strip() in row["text"]
        # of the socket on V4 IPv6 is not concerned
        assert doctor.state(f"{V6}@53", "port") == "ok"
        rows = doctor.look(before=NOBODY, config=False)
        assert ("host", "kernel") in rows
    assert doctor.state(f"{V4}@53", "port") == "ok"


def test_return_path(doctor, lab):
    doctor.daemon.configure(server={"workers": 1}, interfaces=[iface(**{"return-path": "fib"})])
    lab.exec("s", "sysctl", "-qw", "net.ipv4.conf.lo.forwarding=0", "net.ipv6.conf.lo.forwarding=0")
    row = doctor.row("s0", "return-path")
    assert row["state"] == "fail"
    lab.exec("s", *row["do"].split())
    assert doctor.state("s0", "return-path") == "ok"


@pytest.mark.parametrize("refusal, check, words", [
    ("VERIFIER_SAYS=invalid access to packet\nR1 offset is outside of the packet", "program-load",
     "does not load: the kernel's verifier refuses the program: invalid access to packet; R1 offset"),
    ("NO_HELPER=190", "program-load", "this kernel has no bpf_xdp_store_bytes(): take Linux 5.18"),
    ("NO_HELPER=160", "kernel", "has no bpf_ktime_get_coarse_ns(): take Linux 5.11 or later"),
])
def test_program_that_does_not_load(doctor, tmp_path, refusal, check, words):
    """
    As on a kernel whose verifier or whose helpers are not enough: volleyctl attach is no way out.
    """
    library = tmp_path / "otherkernel.so"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/otherkernel.c", "-ldl")
    rows = doctor.look(before=["env", f"LD_PRELOAD={library}", refusal])
    assert rows["host", check]["state"] == "fail" and words in rows["host", check]["text"]
    for row in rows["s0", "native-xdp"], rows["s0", "xdp-program"]:
        assert row["state"] == "warn" and "does not load" in row["text"]
        assert "attach" not in row["do"]
    assert rows["host", "capabilities"]["state"] == "ok"


def test_locked_memory(doctor):
    """Without CAP_IPC_LOCK the limit counts: 4096 frames of 2048 octets."""
    before = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "--",
              "prlimit", "--memlock=1048576:1048576", "--"]
    row = doctor.row("host", "memlock", before=before)
    assert row["state"] == "warn" and "wants 8 MiB" in row["text"]
    assert "allows 1.0 MiB" in row["text"]
    before[-2] = "--memlock=8388608:8388608"
    assert doctor.state("host", "memlock", before=before) == "ok"


def test_capabilities(doctor):
    before = ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin", "--"]
    row = doctor.row("host", "capabilities", before=before)
    assert row["state"] == "fail" and "CAP_NET_ADMIN" in row["text"]


def test_without_root(doctor, lab):
    """Says what it could not look at, and everything else."""
    lab.ip("s", "link", "set", "dev", "s0", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o", "sec", "xdp")
    rows = doctor.look("s0", before=NOBODY, config=False)
    assert rows["host", "capabilities"]["state"] == "unknown"
    assert rows["host", "program-load"]["state"] == "unknown"
    assert rows["s0", "xdp-program"]["state"] == "unknown"
    assert "root" in rows["s0", "xdp-program"]["text"]
    for check in "link", "native-xdp", "mtu", "veth-gro", "queues":
        assert rows["s0", check]["state"] in ("ok", "warn"), rows["s0", check]


def test_configuration(doctor):
    doctor.daemon.path.write_text("server: {listen: [192.0.2.53]}\nnonsense: 1\n", encoding="utf-8")
    row = doctor.row("host", "configuration")
    assert row["state"] == "fail" and f"{doctor.daemon.path}:2" in row["text"]
    assert "volleyd --check" in row["do"]
    doctor.daemon.path.unlink()
    assert doctor.row("host", "configuration")["state"] == "fail"
    assert ("host", "configuration") not in doctor.look("s0", config=False)


def test_cores_that_are_not_there(doctor):
    doctor.daemon.configure(server={"workers": 1}, interfaces=[iface(queues=1, cores=[1000])])
    row = doctor.row("host", "cores")
    assert row["state"] == "fail" and "1000" in row["text"]


@pytest.mark.parametrize("words", [["--config"], ["--all"], ["a-name-that-is-too-long"]])
def test_wrong_words(doctor, words):
    said = doctor.run(*words, config=False)
    assert said.returncode == 2 and not said.stderr
    assert "usage: volleyctl doctor" in json.loads(said.stdout)["error"]


def test_beside_a_daemon(lab, daemon):
    """
    What only it knows: that the program and the ports are its own, and what is not as configured.
    """
    daemon.start(server={"workers": 1})
    doctor = Doctor.__new__(Doctor)
    doctor.lab, doctor.daemon = lab, daemon
    rows = doctor.look()
    assert rows["host", "daemon"]["state"] == "ok"
    assert str(daemon.process.pid) in rows["host", "daemon"]["text"]
    for key in (f"{V4}@53", "port"), (f"{V6}@53", "port"), ("s0",
                                                            "xdp-program"), ("host",
                                                                             "capabilities"):
        assert rows[key]["state"] == "ok", rows[key]
    assert "volleyd listens" in rows[f"{V4}@53", "port"]["text"]
    assert not [key for key, row in rows.items() if row["state"] == "fail"], bad(rows)
    # without a configuration, the daemon names its interfaces
    assert doctor.look(config=False)["s0", "xdp-program"]["state"] == "ok"
    daemon.ctl("detach", "s0")
    row = doctor.row("s0", "xdp-program")
    assert row["state"] == "warn" and row["do"] == "volleyctl attach s0"
    # a stranger may not ask it, and is told so
    os.chmod(daemon.folder, 0o755)
    rows = doctor.look("s0", before=NOBODY, config=False)
    assert rows["host", "daemon"]["state"] == "unknown"


def test_degraded_daemon(lab, daemon):
    daemon.start(server={"workers": 1}, interfaces=[iface(), iface("nothere0")])
    doctor = Doctor.__new__(Doctor)
    doctor.lab, doctor.daemon = lab, daemon
    rows = doctor.look()
    assert rows["host", "daemon"]["state"] == "warn"
    assert "nothere0" in rows["host", "daemon"]["text"]
    assert rows["nothere0", "link"]["state"] == "fail"
