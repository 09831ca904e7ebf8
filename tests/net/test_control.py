# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl: every command for people and as JSON, exit codes, the socket, and messages to
systemd."""
import json
import os
import random
import re
import signal
import socket
import stat

import dns.message
import pytest

from netlab import BIN, ENV, ROOT, V4, V6, ZONES, open_to_all, program, run, texts, wait_for
from upstreams import unbound_version

# Command, and keys that its JSON has (those of userspace/client/result_text.h); of lists, of each
# item.
COMMANDS = {
    "status": {"version", "pid", "uptime_s", "abi", "state", "ready", "degraded", "interfaces",
               "workers", "listen", "tls_listen", "services", "zones", "recursion", "cache"},
    "stats": {"answered", "driver", "engine", "ports"},
    "zone list": {"zones"},
    "zone status": {"zones"},
    "zone status example.com": {"zones"},
    "zone reload": {"zones"},
    "zone reload example.com": {"zones"},
    f"zone check example.net {ZONES}/example.net.zone": {"valid", "serial", "records", "warnings"},
    "cache stats": {"size_bytes", "used_bytes", "index_bytes", "store_bytes", "total_bytes",
                    "entries", "capacity_entries", "segments", "segments_free", "published",
                    "replaced", "evicted", "expired", "grace_periods", "rss_bytes",
                    "within_budget", "answers_bytes", "hits_by", "age", "by_type", "by_kind",
                    "by_zone", "by_variant", "driver_share_percent"},
    "cache stats -n 1": {"by_zone"},
    "cache lookup www.example.com": {"found", "entries"},
    "cache lookup www.example.com A": {"found", "entries"},
    "resolver lookup www.example.com": {"name", "answered_by", "before_upstream", "cache"},
    "resolver lookup www.example.com A": {"type"},
    "resolver infra": {"by"},
    "cache flush --all": {"withdrawn"},
    "cache flush --zone example.com": {"withdrawn"},
    "cache flush www.example.com": {"withdrawn"},
    "names": {"in_use"},
    "cache top": {"figures", "answers", "samples", "half_life_s", "top"},
    "cache top -n 1 --by zone": {"top"},
    "top --once --by types": {"answers", "clients", "names", "limited", "per_second"},
    "port status": {"ports"},
    "config show": {"file", "config", "warnings"},
    "config show --effective": {"config", "origins"},
    "log reopen": set(),
    "detach s0": set(),
    "attach s0": {"interfaces"},
}
ITEMS = {
    ("status", "interfaces"): {"name", "ifindex", "xdp", "origin", "program_id", "port",
                               "zero_copy", "queues", "driver_answers", "state"},
    ("stats", "ports"): {"name", "kind", "rx", "tx"},
    ("zone list", "zones"): {"name", "state", "serves", "serial", "records", "names",
                             "memory_bytes", "load_ms", "loaded_at", "file"},
    ("cache lookup www.example.com A", "entries"): {"do", "cd", "full_bytes", "short_bytes", "used",
                                                    "zone", "rcode", "valid", "type", "view",
                                                    "kind", "state", "queue", "generation", "age_s",
                                                    "entry_bytes", "answer_records"},
    ("port status", "ports"): {"name", "kind", "worker", "core", "rx", "tx"},
}


def test_every_command(lab, daemon):
    """In one daemon, one after the other: for people, then as JSON."""
    daemon.start()
    for command, keys in COMMANDS.items():
        lab.ask()
        shown = daemon.ctl(*command.split())
        assert shown.stdout.strip() and not shown.stderr, command
        assert "{" not in shown.stdout, f"{command}: JSON shows through:\n{shown.stdout}"
        if command == "detach s0":
            daemon.ctl("attach", "s0")
        lab.ask()
        result = daemon.json(*command.split())
        assert keys <= result.keys(), (command, keys - result.keys())
        for (whose, name), item_keys in ITEMS.items():
            for item in result[name] if whose == command else []:
                assert item_keys <= item.keys(), (command, name, item_keys - item.keys())
    assert daemon.json("status")["ready"] is True
    daemon.ctl("stop")
    assert daemon.reap() == 0


def test_numbers_agree_with_what_was_asked(lab, daemon):
    daemon.start()
    for _ in range(5):
        lab.ask()
    lab.ask("nothing.example.com")
    lab.ask("www.example.org")
    stats = daemon.stats()
    assert stats["answered"] == {"driver": 4, "worker": 3, "kernel_socket": 0, "tcp": 0, "tls": 0}
    engine = stats["engine"]
    assert (engine["queries"], engine["noerror"], engine["nxdomain"], engine["refused"]) == \
        (3, 1, 1, 1)
    (entry,) = daemon.json("cache", "lookup", "WWW.Example.COM", "a")["entries"]
    assert entry["zone"] == "example.com." and entry["valid"] and entry["rcode"] == "NOERROR"
    assert daemon.json("cache", "lookup", "www.example.com", "TYPE257")["found"] is False
    cache = daemon.json("cache", "stats")
    assert cache["entries"] == 2 and cache["within_budget"]
    assert cache["total_bytes"] <= cache["size_bytes"] == 16 << 20
    (zone,) = daemon.json("zone", "status", "EXAMPLE.com")["zones"]
    assert zone["serial"] == 2024010101 and zone["state"] == "serving"


@pytest.mark.parametrize("words, status, sentence", [
    (["nonsense"], 2, "no command"),
    ([], 2, "which command"),
    (["zone"], 2, "zone is the first word of these commands:\n  zone list "),
    (["zone", "lost"], 2,
     'no command "zone lost", did you mean "zone list"?\nvolleyctl: zone is the first word of'),
    (["zone", "check", "example.com"], 2, "usage"),
    (["attach"], 2, "usage"),
    (["help", "nonsense"], 2, "no command"),
    (["stop", "--fast"], 2, "--keep"),
    (["zone", "status", "other.test"], 1, "other.test: no such zone"),
    (["zone", "check", "a..b", "/dev/null"], 1, "a..b"),
    (["zone", "check", "a.test", "/no/such/file"], 1, "/no/such/file"),
    (["zone", "notify", "example.com"], 1,
     "example.com.: zones[].notify names no server to notify"),
    (["cache", "lookup", "www.example.com", "NOTYPE"], 2, "NOTYPE"),
    (["cache", "lookup", "a..b", "A"], 2, "a..b"),
    (["resolver"], 2, "resolver is the first word of these commands:\n  resolver lookup "),
    (["resolver", "lookup"], 2, "usage: volleyctl resolver lookup NAME [TYPE]"),
    (["resolver", "lookup", "a..b"], 2, "a..b"),
    (["resolver", "lookup", "www.example.com", "NOTYPE"], 2, "NOTYPE"),
    (["resolver", "infra", "now"], 2, "usage: volleyctl resolver infra"),
    (["cache", "flush"], 2, "--all"),
    (["cache", "flush", "--zone"], 2, "--zone ZONE"),
    (["cache", "flush", "--zone", "other.test"], 1, "no such zone"),
    (["cache", "flush", "--everything"], 2, "--all"),
    (["cache", "flush", "--all", "now"], 2, "--all"),
    (["cache", "flush", "--type", "NOTYPE"], 2, "NOTYPE"),
    (["cache", "stats", "-n", "0"], 2, "-n"),
    (["cache", "top", "--by", "client"], 2, "--by name, type or zone"),
    (["cache", "top", "-n"], 2, "-n"),
    (["attach", "nothere0"], 1, "no such interface"),
    (["attach", "a-name-that-is-too-long"], 1, "no such interface"),
    (["detach", "lo"], 1, "lo: volleyd has no XDP program there"),
])
def test_refusals(lab, daemon, words, status, sentence):
    daemon.start(interfaces=None)
    refusal = daemon.ctl(*words, check=False)
    assert refusal.returncode == status, refusal.stderr
    assert sentence in refusal.stderr and refusal.stderr.startswith(("volleyctl: ", "usage: "))
    assert not refusal.stdout
    told = refusal.stderr.removeprefix("volleyctl: ").rstrip("\n")
    refusal = daemon.ctl("--json", *words, check=False)
    assert refusal.returncode == status and not refusal.stderr
    assert json.loads(refusal.stdout)["error"] == told
    daemon.status()


def test_status_has_the_addresses(lab, daemon):
    daemon.start()
    status = daemon.status()
    assert status["listen"] == [f"{V4}@53", f"{V6}@53"] and status["tls_listen"] == []
    assert re.search(rf"^listen: +{re.escape(V4)}@53, {re.escape(V6)}@53$",
                     daemon.ctl("status").stdout, re.M)


def test_a_refusal_as_json_has_the_code(lab, daemon, tmp_path):
    daemon.start()
    refusal = daemon.ctl("zone", "status", "other.test", "--json", check=False)
    assert json.loads(refusal.stdout)["code"] == "ERR_NOT_FOUND"
    refusal = run(BIN / "volleyctl", "--json", "-s", tmp_path / "none", "status", check=False)
    assert refusal.returncode == 3 and not refusal.stderr
    assert str(tmp_path / "none") in json.loads(refusal.stdout)["error"]


def test_what_is_asked_most(lab, daemon):
    """A Zipf mix, most of it answered by the driver. While there is little to answer, each answer
    is
    noted: then the order is the true one, and so are the shares to the tenth."""
    names = [f"n{i}.example.com" for i in range(30)] + ["n30.example.org"]
    counts = [int(600 / (i + 1)) for i in range(31)]
    queries = [name for name, n in zip(names, counts) for _ in range(n)]
    random.Random(7).shuffle(queries)
    daemon.start()
    daemon.ctl("cache", "top")  # the next hits are all noted
    with lab.socket("c") as sock:
        for i, name in enumerate(queries):
            query = dns.message.make_query(name, "AAAA" if i % 4 == 0 else "A")
            sock.sendto(query.to_wire(), (V4, 53))
            sock.recv(65535)
            if i % 100 == 0:
                daemon.ctl("cache", "top")
    assert daemon.answered()["driver"] > 0.9 * len(queries)
    shown = daemon.json("cache", "top")
    assert shown["answers"] == len(queries)
    assert [row["name"] for row in shown["top"]] == [name + "." for name in names[:10]]
    for row, n in zip(shown["top"], counts):
        share = 100 * n / len(queries)
        assert row["answers"] == n
        assert abs(row["share_percent"] - share) <= 0.051 < row["error_percent"]
    by_type = daemon.json("cache", "top", "--by", "type", "-n", "5")["top"]
    n_aaaa = (len(queries) + 3) // 4
    assert [(row["type"], row["answers"]) for row in by_type] == \
        [("A", len(queries) - n_aaaa), ("AAAA", n_aaaa)]
    by_zone = daemon.json("cache", "top", "--by", "zone")["top"]
    assert [(row["zone"], row["answers"]) for row in by_zone] == \
        [("example.com.", len(queries) - counts[30]), ("none", counts[30])]


def test_no_daemon(tmp_path):
    for path in (tmp_path / "none", tmp_path / "stale"):
        if path.name == "stale":
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(str(path))
        refusal = run(BIN / "volleyctl", "-s", path, "status", check=False)
        assert refusal.returncode == 3 and str(path) in refusal.stderr


def test_the_socket_of_the_environment(lab, daemon, monkeypatch):
    daemon.start(interfaces=None)
    monkeypatch.setitem(ENV, "VOLLEY_CONTROL", str(daemon.socket))
    shown = run(BIN / "volleyctl", "--json", "status")
    assert json.loads(shown.stdout)["pid"] == daemon.process.pid


def test_the_sockets_mode(lab, daemon):
    daemon.start(interfaces=None, control={"mode": "0600"})
    assert stat.S_IMODE(os.stat(daemon.socket).st_mode) == 0o600
    open_to_all(daemon.folder, 0o755)
    refusal = run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--",
                  BIN / "volleyctl", "-s", daemon.socket, "status", check=False)
    assert refusal.returncode == 3 and "permission" in refusal.stderr


def test_systemd_is_told(lab, daemon, tmp_path):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(path)
        heard.settimeout(30)
        daemon.configure().spawn(env={"NOTIFY_SOCKET": path})
        assert heard.recv(1000) == b"READY=1"
        assert texts(lab.ask()) and program(lab)  # it is
        daemon.ctl("status")
        daemon.signal(signal.SIGHUP)
        assert b"RELOADING=1" in heard.recv(1000)
        assert heard.recv(1000) == b"READY=1"
        daemon.signal(signal.SIGTERM)
        assert heard.recv(1000) == b"STOPPING=1"
        assert daemon.reap() == 0


def test_the_log_goes_to_standard_error(lab, daemon):
    daemon.start()
    assert "notice: ready" in daemon.log() and "s0: XDP program" in daemon.log()


def test_verbose_says_more(lab, daemon):
    daemon.configure().spawn("--verbose")
    daemon.wait_ready()
    assert "debug: " in daemon.log()


def test_help_and_version():
    for name in ("volleyd", "volleyctl"):
        assert run(BIN / name, "--version").stdout.startswith(name + " ")
        assert "usage: " in run(BIN / name, "--help").stdout.lower()
    words = run(BIN / "volleyctl", "--help").stdout
    assert run(BIN / "volleyctl", "-h").stdout == run(BIN / "volleyctl", "help").stdout == words
    assert "usage: volleyctl zone reload" in run(BIN / "volleyctl", "help", "zone", "reload").stdout
    assert "  zone reload" in run(BIN / "volleyctl", "help", "zone").stdout
    for command in COMMANDS:
        assert " ".join(command.split()[:2 if command.split()[0] in ("zone", "cache", "port")
                                        else 1]) \
            in words


def test_version_lists_the_libraries():
    lines = run(BIN / "volleyd", "--version").stdout.splitlines()
    assert lines[1].split() == ["library", "built", "with", "running", "with"]
    rows = {words[0]: words[1:] for words in (line.split(maxsplit=2) for line in lines[2:])}
    needs = {match.group(1) for match in re.finditer(
        r"\(NEEDED\).*\[(.*)\.so", run("readelf", "-d", BIN / "volleyd").stdout)}
    other_names = {"libyaml-0": "yaml-0.1", "libjansson": "jansson", "liblmdb": "lmdb",
                   "libldns": "ldns", "libevent_core-2.1": "libevent_core"}
    for name in sorted(needs):
        if name not in ("libc", "libm") and not name.startswith(("ld-", "librte_")):
            assert other_names.get(name, name) in rows
    for name, (built, running) in rows.items():
        assert re.match(r"\d+(\.\d+)*", built), name
        assert re.match(r"\d+\.\d+|lib.*\.so\.\d", running), name
    assert rows["libunbound"][1] == unbound_version()


def test_stop_waits_until_it_is_gone(lab, daemon, tmp_path):
    """
    When `stop` returns neither program, socket nor lock is there, also where files are removed
    slowly.
    """
    library = tmp_path / "slowunlink.so"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/slowunlink.c")
    daemon.configure().spawn(env={"LD_PRELOAD": str(library)}).wait_ready()
    lock = daemon.socket.with_name(daemon.socket.name + ".lock")
    assert lock.exists()
    daemon.ctl("stop")
    assert not daemon.socket.exists() and not lock.exists() and program(lab) is None
    wait_for("its end", lambda: daemon.process.poll() is not None)
    assert daemon.reap() == 0
    assert not lab.is_answered(where=V4)
