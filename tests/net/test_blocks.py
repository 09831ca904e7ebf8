# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Blocks: the same verdict by every way in, until they expire, over restarts, from commands and from
lists.
"""
import contextlib
import json
import os
import socket
import ssl
import threading

import dns.edns
import dns.flags
import dns.message
import dns.query
import dns.rcode
import pytest

from netlab import CLIENT4, CLIENT6, V4, V6, iface, wait_for
from secondaries import certificate
from test_metrics import AT, Metrics

WAYS = {"driver": [iface()], "xsk": [iface(**{"driver-answers": False})], "udp": []}


@pytest.fixture(params=WAYS)
def way(request, daemon):
    daemon.start(interfaces=WAYS[request.param])
    return request.param


def query(name="www.example.com", kind="A", edns=0):
    return dns.message.make_query(name, kind, use_edns=edns)


def ede(answer):
    return [int(option.code) for option in answer.options
            if option.otype == dns.edns.OptionType.EDE]


def is_dropped(lab, name="www.example.com", kind="A", where=V4):
    try:
        lab.udp(query(name, kind), where, timeout=0.3)
    except OSError:
        return True
    return False


def is_tcp_closed(lab, where=V4):
    """Nothing is said, and the connection ends."""
    try:
        lab.tcp(query(), where)
    except (EOFError, OSError):
        return True
    return False


def blocks(daemon):
    return {one["block"]: one for one in daemon.json("block", "list")["blocks"]}


def feed(daemon, lines):
    """Requests by one connection; all of them succeed."""
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(str(daemon.socket))
        sender = threading.Thread(target=control.sendall, args=(lines.encode(),))
        sender.start()
        with control.makefile() as replies:
            for _ in range(lines.count("\n")):
                assert json.loads(replies.readline())["ok"]
        sender.join()


@pytest.mark.parametrize("where, prefix", [(V4, f"{CLIENT4}/32"), (V6, f"{CLIENT6}/128")])
def test_each_action_by_each_way(lab, daemon, way, where, prefix):
    for _ in range(2):  # in the cache, where there is one for this way
        assert lab.udp(query(), where).answer
    daemon.ctl("block", "add", prefix, "--why", "it floods")
    assert is_dropped(lab, where=where) and is_dropped(lab, "miss.example.com", where=where)
    assert is_tcp_closed(lab, where)
    daemon.ctl("block", "add", prefix, "--action", "refuse")
    for ask in lab.udp, lab.tcp:
        answer = ask(query(), where)
        assert answer.rcode() == dns.rcode.REFUSED and ede(answer) == [18]
    answer = lab.udp(query(edns=False), where)
    assert answer.rcode() == dns.rcode.REFUSED and answer.edns < 0
    daemon.ctl("block", "add", prefix, "--action", "truncate")
    answer = lab.udp(query(), where)
    assert answer.flags & dns.flags.TC and not answer.answer and not ede(answer)
    assert lab.tcp(query(), where).answer
    daemon.ctl("block", "add", prefix, "--action", "up")
    before = daemon.answered()["driver"]
    assert lab.udp(query(), where).answer and daemon.answered()["driver"] == before
    daemon.ctl("block", "remove", prefix)
    assert lab.udp(query(), where).answer and not blocks(daemon)
    assert way


def test_malformed_is_judged_alike(lab, daemon, way):
    daemon.ctl("block", "add", CLIENT4, "--action", "refuse")
    wire = bytearray(query(edns=False).to_wire())
    wire[2] |= 0x28  # opcode UPDATE
    assert lab.udp_wire(bytes(wire))[3] & 15 == dns.rcode.REFUSED
    daemon.ctl("block", "add", CLIENT4)
    with pytest.raises(OSError):
        lab.udp_wire(bytes(wire), timeout=0.3)
    assert way


def test_names_and_types(lab, daemon, way):
    daemon.ctl("block", "add", "Example.COM", "--action", "refuse")
    for name in "example.com", "www.example.com", "a.b.c.d.example.com", "WWW.eXample.com":
        for ask in lab.udp, lab.tcp:
            answer = ask(query(name))
            assert answer.rcode() == dns.rcode.REFUSED and ede(answer) == [15]
    assert lab.udp(query("example.net", "SOA")).rcode() == dns.rcode.NOERROR
    daemon.ctl("block", "add", "www.example.com", "--action", "allow")
    assert lab.udp(query()).answer and lab.udp(query("example.com")).rcode() == dns.rcode.REFUSED
    daemon.ctl("block", "add", "ANY", "--action", "truncate")
    assert lab.udp(query("www.example.com", "ANY")).flags & dns.flags.TC
    assert lab.udp(query("example.net", "ANY")).flags & dns.flags.TC
    assert set(blocks(daemon)) == {"example.com.", "www.example.com.", "ANY"}
    assert way


def test_counts_are_exact(lab, daemon, way):
    daemon.ctl("block", "add", "www.example.com")
    daemon.ctl("block", "add", "example.com", "--action", "refuse")
    for _ in range(3):
        assert is_dropped(lab)
    for _ in range(2):
        lab.udp(query("x.example.com"))
    lab.tcp(query("x.example.com"))
    seen = blocks(daemon)
    assert seen["www.example.com."]["met"] == 3 and seen["example.com."]["met"] == 3
    assert way


def test_over_tls(lab, daemon, tmp_path):
    tls = certificate(tmp_path)
    daemon.start(server={"tls": tls["server"]})
    context = ssl.create_default_context(cafile=tls["bundle"])

    def ask():
        with lab.inside("c"):
            return dns.query.tls(query(), V4, timeout=5, ssl_context=context,
                                 server_hostname=tls["name"])
    assert ask().answer
    daemon.ctl("block", "add", CLIENT4, "--action", "refuse")
    assert ask().rcode() == dns.rcode.REFUSED
    daemon.ctl("block", "add", CLIENT4)
    with pytest.raises((EOFError, OSError)):
        ask()
    daemon.ctl("block", "add", CLIENT4, "--action", "truncate")
    assert ask().answer


def test_it_expires(lab, daemon, clock):
    daemon.configure().spawn()
    daemon.wait_ready()
    daemon.ctl("block", "add", "example.com", "--for", "10m", "--action", "refuse")
    daemon.ctl("block", "add", "example.net", "--action", "refuse")
    assert 500 < blocks(daemon)["example.com."]["left_s"] <= 600
    clock.leap(700)
    wait_for("it is gone", lambda: set(blocks(daemon)) == {"example.net."})


def test_commands_survive_a_restart(lab, make_daemon, tmp_path):
    storage = tmp_path / "storage"
    storage.mkdir()
    daemon = make_daemon()
    daemon.start(server={"storage": str(storage)})
    assert daemon.json("block", "add", "example.com", "--action", "refuse", "--why",
                       "a reason")["kept"]
    daemon.ctl("block", "add", "203.0.113.0/24", "--for", "1d")
    daemon.ctl("block", "add", "192.0.2.0/24")
    daemon.ctl("block", "remove", "192.0.2.0/24")
    daemon.kill()
    with open(storage / "blocks", "a", encoding="ascii") as file:
        file.write("+ 0 drop 198.51.100.0/24")  # what a write that was cut has left
    daemon.spawn()
    daemon.wait_ready()
    seen = blocks(daemon)
    assert set(seen) == {"example.com.", "203.0.113.0/24"}
    assert seen["example.com."]["why"] == "a reason"
    assert 86000 < seen["203.0.113.0/24"]["left_s"] <= 86400
    assert lab.udp(query()).rcode() == dns.rcode.REFUSED
    daemon.stop()
    daemon.spawn()
    daemon.wait_ready()
    assert set(blocks(daemon)) == set(seen)


def test_a_file_that_could_not_be_read_stays(daemon, tmp_path):
    """It is not written without the blocks in it, and volleyd says that new ones are not kept."""
    storage = tmp_path / "storage"
    storage.mkdir()
    text = "volley blocks 1\n+ 0 drop 203.0.113.1 x\n+ 0 explode 203.0.113.2 x\n"
    (storage / "blocks").write_text(text, encoding="ascii")
    daemon.start(server={"storage": str(storage)})
    says = f"{storage}/blocks:3: the blocks of commands could not be read"
    assert says in daemon.ctl("health", check=False).stdout
    assert any(says in line for line in daemon.json("status")["degraded"])
    assert daemon.json("block", "add", "example.com")["kept"] is False
    told = daemon.ctl("block", "remove", "example.com", check=False)
    assert told.returncode == 1 and "a restart may bring it back" in told.stderr
    assert set(blocks(daemon)) == {"203.0.113.1/32"}  # of the line before
    daemon.stop()
    assert (storage / "blocks").read_text("ascii") == text
    (storage / "blocks").write_text(text.replace("explode", "drop"), encoding="ascii")
    daemon.spawn()
    daemon.wait_ready()
    assert set(blocks(daemon)) == {"203.0.113.1/32", "203.0.113.2/32"}
    assert daemon.json("block", "add", "example.com")["kept"] is True


def test_storage_that_was_full_for_a_moment(daemon, make_disk):
    """A block that is reported as kept is there after a restart, and a removed one is not."""
    storage = make_disk("64k")
    daemon.start(server={"storage": str(storage)})
    kept = [f"203.0.113.{i}/32" for i in range(2)]
    for block in kept:
        assert daemon.json("block", "add", block)["kept"]
    with open(storage / "fill", "wb", buffering=0) as fill, contextlib.suppress(OSError):
        while fill.write(bytes(4096)):
            pass
    added = iter(f"198.51.100.{i}/32" for i in range(250))
    for block in added:  # the last page has room for some lines
        if not daemon.json("block", "add", block, "--why", "w" * 150)["kept"]:
            break
        kept.append(block)
    assert any("No space left" in line for line in daemon.json("status")["degraded"])
    told = daemon.ctl("block", "remove", kept.pop(0), check=False)
    assert told.returncode == 1 and "a restart may bring it back" in told.stderr
    os.unlink(storage / "fill")
    assert daemon.json("block", "add", next(added))["kept"]
    assert daemon.json("block", "list")["kept"]
    seen = set(blocks(daemon))
    assert seen > set(kept)
    daemon.kill()
    daemon.spawn()
    daemon.wait_ready()
    assert set(blocks(daemon)) == seen
    daemon.stop()


def test_without_storage_it_says_so(daemon):
    daemon.start()
    assert daemon.json("block", "add", "example.com")["kept"] is False


def test_lists(lab, daemon, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(f"# those\n{CLIENT6} # this one\nbad.example.com\n\nnot:a:prefix/x\nTXT\n")
    second.write_text("example.com\nbad.example.com\n")
    lists = {"block": [{"file": str(first), "why": "abuse"},
                       {"file": str(second), "action": "refuse"}]}
    daemon.start(policy=lists, metrics={"listen": AT})
    assert is_dropped(lab, where=V6) and is_dropped(lab, "bad.example.com")
    assert is_dropped(lab, "x.test", "TXT")
    assert lab.udp(query()).rcode() == dns.rcode.REFUSED
    one, two = daemon.json("block", "list")["lists"]
    assert (one["blocks"], one["other_lines"], one["met"], one["why"]) == (3, 1, 3, "abuse")
    assert (two["blocks"], two["met"]) == (2, 1)
    assert Metrics(lab).sum("volley_blocks_met", list=str(first)) == 3
    daemon.ctl("block", "add", "bad.example.com", "--action", "allow")
    assert lab.udp(query("bad.example.com")).rcode() != dns.rcode.REFUSED
    daemon.ctl("block", "remove", "bad.example.com")
    assert is_dropped(lab, "bad.example.com")
    said = daemon.ctl("block", "remove", "bad.example.com", check=False)
    assert said.returncode and str(first) in said.stderr
    first.write_text("TXT\n")
    daemon.ctl("zone", "reload")
    assert lab.udp(query(), V6).rcode() == dns.rcode.REFUSED and is_dropped(lab, "x.test", "TXT")
    assert lab.udp(query("bad.example.com")).rcode() == dns.rcode.REFUSED
    assert daemon.json("block", "list")["lists"][0]["met"] == 5, "what a file has met stays its own"


def test_a_list_that_is_missing(lab, daemon, tmp_path):
    path = tmp_path / "list"
    path.write_text("example.com\n")
    daemon.start(policy={"block": [{"file": str(path), "action": "refuse"}]})
    path.unlink()
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode and str(path) in said.stderr
    assert lab.udp(query()).rcode() == dns.rcode.REFUSED, "it is as it was"
    assert any(str(path) in sentence for sentence in daemon.status()["degraded"])
    path.write_text("")
    daemon.ctl("zone", "reload")
    assert lab.udp(query()).answer


def test_many_by_commands(lab, daemon, tmp_path):
    """The table grows in use; blocks stay in force, and a list's block that a command hid comes
    back."""
    path = tmp_path / "list"
    path.write_text("example.net\n")
    daemon.start(policy={"block": [{"file": str(path), "action": "refuse"}]})
    daemon.ctl("block", "add", "example.net", "--action", "allow")
    daemon.ctl("block", "add", "example.com", "--action", "refuse")
    lines = "".join(json.dumps({"v": 1, "command": "block add",
                                "args": [f"10.{i >> 8}.{i & 255}.0/24"]}) + "\n"
                    for i in range(9000))
    feed(daemon, lines)
    assert daemon.json("block", "list")["total"] == 9002
    assert lab.udp(query()).rcode() == dns.rcode.REFUSED
    assert lab.udp(query("example.net", "SOA")).answer
    daemon.ctl("block", "remove", "example.net")
    assert lab.udp(query("example.net", "SOA")).rcode() == dns.rcode.REFUSED


@pytest.mark.parametrize("words", [["add", "192.0.2.1/24"], ["add", "300.1.2.3/8"], ["add", "a..b"],
                                   ["add", "::ffff:192.0.2.1"], ["remove", "::ffff:0:0/96"],
                                   ["add", "example.com", "--for", "x"],
                                   ["add", "example.com", "--action", "kill"],
                                   ["add", "example.com", "example.net"],
                                   ["add", "example.com", "--why"],
                                   ["remove", "example.org"], ["list", "-n"]])
def test_what_is_refused(shared, words):
    _, daemon = shared
    said = daemon.ctl("block", *words, check=False)
    assert said.returncode and said.stderr and not blocks(daemon)


def test_a_mapped_address_is_refused_with_the_ipv4_address(shared):
    """No packet has one, so the block would meet nothing."""
    said = shared[1].ctl("block", "add", "::ffff:192.0.2.0/120", check=False)
    assert said.returncode == 2 and "IPv4 address that is mapped there, 192.0.2.0/24" in said.stderr
