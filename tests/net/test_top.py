# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl top: the first entries in a flood and in a Zipf mix, the output for scripts, and the
terminal, which is restored."""
import collections
import contextlib
import fcntl
import ipaddress
import json
import os
import pty
import random
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import threading
import time

import dns.message
import pytest

from netlab import BIN, CLIENT_MAC, ENV, SERVER_MAC, V4, V6, checksum, iface, wait_for

WAYS = {"driver": [iface()], "worker": [iface(**{"driver-answers": False})]}


def frame(client, name, kind="A", **options):
    """A query's frame from any client."""
    payload = dns.message.make_query(name, kind, id=7, **options).to_wire()
    ipv6 = ":" in client
    where = V6 if ipv6 else V4
    ends = ipaddress.ip_address(client).packed + ipaddress.ip_address(where).packed
    length = 8 + len(payload)
    udp = struct.pack("!HHHH", 40000, 53, length, 0)
    pseudo = ends + struct.pack("!IxxxB" if ipv6 else "!xBH",
                                *((length, 17) if ipv6 else (17, length)))
    udp = udp[:6] + struct.pack("!H", checksum(pseudo + udp + payload) or 0xffff) + payload
    if ipv6:
        packet = struct.pack("!IHBB", 6 << 28, length, 17, 64) + ends + udp
    else:
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 1, 0, 64, 17, 0)
        packet = head[:10] + struct.pack("!H", checksum(head + ends)) + ends + udp
    return SERVER_MAC + CLIENT_MAC + struct.pack("!H", 0x86dd if ipv6 else 0x0800) + packet


class Load(threading.Thread):
    """Sends frames over and over, so many in a second at most."""

    def __init__(self, lab, frames, per_second):
        super().__init__(daemon=True)
        self.sock, self.frames, self.per_second, self.over = lab.frames(), frames, per_second, threading.Event()

    def run(self):
        began, n = time.monotonic(), 0
        while not self.over.is_set():
            for octets in self.frames[n % len(self.frames):][:50]:
                self.sock.send(octets)
                n += 1
            time.sleep(max(0, began + n / self.per_second - time.monotonic()))
            # it stood still: what was missed is not made up for
            if time.monotonic() - began > n / self.per_second + 1:
                began, n = time.monotonic(), n % len(self.frames)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.over.set()
        self.join()
        self.sock.close()


def top(daemon, n=20):
    """The daemon's output, from a single call."""
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(10)
        control.connect(str(daemon.socket))
        control.sendall(json.dumps({"v": 1, "command": "top", "args": ["-n", str(n)]}).encode() +
                        b"\n")
        with control.makefile("rb") as replies:
            said = json.loads(replies.readline())
    assert said["ok"], said
    return said["result"]


@pytest.mark.parametrize("way", WAYS)
def test_a_flood_is_first_within_five_seconds(lab, daemon, way):
    daemon.start(interfaces=WAYS[way])
    quiet = [frame(f"198.18.{i}.7", f"www.example.{'com' if i % 3 else 'net'}") for i in range(40)]
    flood = [frame(f"198.51.100.{i}", "www.example.com") for i in range(200)]
    with Load(lab, quiet, 1000):
        wait_for("the quiet ones", lambda: len(top(daemon, 100)["clients"]) == 40)
        began = top(daemon)["time_ms"]
        with Load(lab, flood, 2000):
            said = wait_for("the flood",
                            lambda: (said := top(daemon))["clients"][0]["prefix"] ==
                            "198.51.100.0/24" and said)
            assert said["time_ms"] - began < 5000
            assert said["names"][0]["name"] == "www.example.com."
            more = wait_for("half of it",
                            lambda: (said := top(daemon))["clients"][0]["share_percent"] > 50
                            and said)
    assert more["clients"][0]["error_percent"] < 20 and more["one_in"] == 1


def test_ipv6_prefixes(lab, daemon):
    daemon.start()
    frames = [frame(f"2001:db8:{i % 4:x}:{i:x}::{i:x}", "www.example.com", "AAAA")
              for i in range(1, 41)]
    with Load(lab, frames, 500):
        wait_for("four prefixes", lambda: {row["prefix"] for row in top(daemon)["clients"]} ==
                 {"2001:db8::/48", "2001:db8:1::/48", "2001:db8:2::/48", "2001:db8:3::/48"})


def test_the_top_100_of_a_zipf_mix(lab, daemon):
    """
    The truth is what is sent, over and over in the same order; where the hundredth has equals, each
    of these is right.
    """
    daemon.start()
    draw = random.Random(21)
    weights = [1 / (i + 1) for i in range(2000)]
    names = [f"n{i}.wild.example.com" for i in draw.choices(range(2000), weights, k=6000)]
    nets = [f"10.{i // 250}.{i % 250}" for i in draw.choices(range(2000), weights, k=6000)]
    frames = [frame(f"{net}.{draw.randrange(1, 255)}", name) for net, name in zip(nets, names)]
    with Load(lab, frames, 3000):
        top(daemon)
        before = wait_for("the load", lambda: (said := top(daemon))["samples"] > 1000 and said)
        wait_for("some rounds",
                 lambda: top(daemon)["answers"]["total"] > before["answers"]["total"] +
                 5 * len(frames), 120)
        said = top(daemon, 100)
    assert said["one_in"] == 1
    for found, sent in (([row["name"][:-1] for row in said["names"]], names),
                        ([row["prefix"].removesuffix(".0/24") for row in said["clients"]], nets)):
        truth = collections.Counter(sent)
        hundredth = truth.most_common(100)[-1][1]
        assert len(set(found)) == 100
        assert sum(truth[key] >= hundredth for key in found) >= 95


def test_json_for_scripts(lab, daemon):
    daemon.start(rrl={"answers": 10, "slip": 1})
    frames = [frame(f"198.51.100.{i}", "www.example.com")
              for i in range(100)] + [frame("2001:db8:7::1", "no.example.net")]
    with Load(lab, frames, 1000):
        wait_for("a limited prefix", lambda: top(daemon)["limited"])
        said = daemon.json("top", "--once", "-n", "5")
    assert {"time_ms", "answers", "one_in", "samples", "half_life_s", "clients", "names", "limited",
            "limited_prefixes", "shed", "per_second"} == said.keys()
    assert said["clients"][0].keys() == {"prefix", "share_percent", "error_percent", "per_second"}
    assert said["clients"][0]["prefix"] == "198.51.100.0/24"
    assert said["names"][0]["name"] == "www.example.com."
    assert (said["limited"][0].keys() ==
            {"prefix", "over_s", "over_per_second", "slipped", "dropped"})
    assert said["per_second"].keys() == said["answers"].keys() | {"shed"}
    assert said["per_second"]["total"] > 0 and said["per_second"]["by_rcode"]["NOERROR"] > 0
    assert {row["zone"] for row in said["per_second"]["by_zone"]} >= {"example.com.",
                                                                      "example.net."}
    assert (sum(row["per_second"] for row in said["per_second"]["by_way"]) ==
            pytest.approx(said["per_second"]["total"]))
    assert daemon.json("top").keys() == said.keys()  # --json alone is once


def test_text(lab, daemon):
    daemon.start()
    with Load(lab,
              [frame("198.51.100.1", "www.example.com"),
               frame("198.51.100.1", "no.example.net", "TXT")], 500):
        for view, words in {"clients": ("198.51.100.0/24",),
                            "names": ("www.example.com.", "no.example.net."),
                            "types": ("A ", "TXT"), "rcodes": ("NOERROR", "NXDOMAIN"),
                            "zones": ("example.com.", "example.net."),
                            "limited": ("PREFIX",)}.items():
            said = daemon.ctl("top", "--once", "--by", view).stdout
            assert all(word in said for word in words + ("answers/s",)), said
            assert "\033" not in said and max(map(len, said.splitlines())) <= 80, said


def test_a_look_is_told_once_by_the_log(lab, daemon):
    daemon.start(interfaces=None)
    daemon.ctl("top", "--once")
    daemon.ctl("top", "--once")
    assert len(re.findall(r"command-read command=\"top ", daemon.log())) == 2, daemon.log()


@pytest.mark.parametrize("words", [["-n"], ["-n", "0"], ["--by", "nothing"], ["--fast"]])
def test_refusals(lab, daemon, words):
    daemon.start(interfaces=None)
    refusal = daemon.ctl("top", *words, check=False)
    assert refusal.returncode == 2 and "top takes --once" in refusal.stderr and not refusal.stdout


def test_no_daemon(tmp_path):
    refusal = subprocess.run([BIN / "volleyctl", "-s", tmp_path / "none", "top"], env=ENV,
                             capture_output=True, text=True, check=False)
    assert refusal.returncode == 3 and str(tmp_path / "none") in refusal.stderr


def test_it_ends_by_itself(lab, daemon):
    """Without a reader driver and workers draw no samples."""
    daemon.start()
    top(daemon)
    assert daemon.stats()["tap"]["one_in"] > 0
    lab.ask()
    lab.ask()
    wait_for("its end", lambda: daemon.stats()["tap"]["one_in"] == 0)
    before = daemon.stats()["tap"]["events"]
    lab.ask()
    lab.ask()
    assert daemon.stats()["tap"]["events"] == before
    assert not top(daemon)["clients"]  # begun anew


def test_the_query_log_gets_what_it_gets_otherwise(lab, daemon, tmp_path):
    """One in 50, as the log's own sample says, also while top looks at all."""
    path = tmp_path / "queries"
    daemon.start(**{"query-log": {"file": str(path), "sample": 50}})
    with Load(lab, [frame("198.51.100.1", "www.example.com")], 2000):
        wait_for("all are looked at", lambda: top(daemon)["one_in"] == 1)
        began, lines = daemon.stats(), len(path.read_text(encoding="ascii").splitlines())
        wait_for("10,000 answers",
                 lambda: top(daemon)["answers"]["total"] > began["answers"]["total"] + 10000, 60)
        n = top(daemon)["answers"]["total"] - began["answers"]["total"]
    written = len(path.read_text(encoding="ascii").splitlines()) - lines
    assert n / 100 < written < n / 25


# --- A terminal -----------------------------------------------------------------------------------


class Terminal:
    """volleyctl top on a terminal of its own, with a window of this size."""

    def __init__(self, daemon, width=80, height=24, locale="C.UTF-8"):
        self.ours, theirs = pty.openpty()
        self.resize(width, height)
        self.before = termios.tcgetattr(theirs)
        self.theirs, self.seen = theirs, ""
        self.process = subprocess.Popen([BIN / "volleyctl", "-s", daemon.socket, "top"],
                                        stdin=theirs, stdout=theirs,
                                        stderr=theirs, start_new_session=True,
                                        env={**ENV, "LC_ALL": locale})

    def resize(self, width, height):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read(self):
        while select.select([self.ours], [], [], 0.05)[0]:
            self.seen += os.read(self.ours, 65536).decode()

    def screens(self):
        """The screens, each as a list of lines without control characters."""
        self.read()
        return [[re.sub(r"\033\[[?0-9;]*[A-Za-z]", "", line) for line in screen.split("\r\n")]
                for screen in self.seen.split("\033[H")[1:]]

    def shows(self, *words):
        def last():
            screens = self.screens()
            return screens and all(any(word in line for line in screens[-1]) for word in words)
        wait_for(words, last)

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def ends(self, status):
        """With that exit status, and the terminal is as it was."""
        wait_for("its end", lambda: (self.read(), self.process.poll() is not None)[1])
        self.read()
        assert self.process.returncode == status, self.seen[-500:]
        assert termios.tcgetattr(self.theirs) == self.before
        assert self.seen.rfind("\033[?1049l") > self.seen.rfind("\033[?1049h") >= 0
        assert self.seen.rfind("\033[?25h") > self.seen.rfind("\033[?25l") >= 0

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture(name="terminal")
def make_terminal(lab, daemon):
    daemon.start(rrl={"answers": 100000})
    longest = ".".join(["x" * 60] * 3 + ["wild.example.com"])
    frames = [frame(f"198.51.{i}.1", "www.example.com") for i in range(40)] + \
        [frame("2001:db8:1234::1", longest), frame("198.18.0.1", "no.example.net", "TXT")]
    with Load(lab, frames, 1000), contextlib.ExitStack() as stack:
        yield lambda **kwargs: stack.enter_context(contextlib.closing(Terminal(daemon, **kwargs)))


def test_keys_choose_the_view(terminal):
    it = terminal()
    it.shows("CLIENTS", "198.51.", "[c clients]", "driver/udp", "q quit")
    for key, words in {"n": ("NAME", "www.example.com.", "..."), "t": ("TYPE", "TXT"),
                       "r": ("RCODE", "NXDOMAIN"),
                       "z": ("ZONE", "example.net."), "l": ("PREFIX", "OVER FOR"),
                       "c": ("CLIENTS", "198.51.")}.items():
        it.type(key)
        it.shows(*words)
    it.type("?")
    it.shows("limited: prefixes over their rate limit", "this help")
    it.type("c")
    it.shows("CLIENTS", "198.51.")
    it.type(" ")
    it.shows("PAUSED")
    it.type("n ")
    it.shows("NAME", "www.example.com.")
    wait_for("no pause", lambda: not any("PAUSED" in line for line in it.screens()[-1]))
    it.type("q")
    it.ends(0)
    for screen in it.screens():
        assert len(screen) <= 24 and all(len(line) <= 80 for line in screen), screen


def test_another_size_and_characters(terminal):
    it = terminal(width=100, height=12, locale="C")
    it.shows("CLIENTS", "198.51.")
    it.resize(120, 30)
    os.kill(it.process.pid, signal.SIGWINCH)
    wait_for("more lines", lambda: len(it.screens()[-1]) > 12)
    it.type("q")
    it.ends(0)
    assert it.seen.isascii()
    assert all(len(line) <= 120 for screen in it.screens() for line in screen)


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_leaves_the_terminal_as_it_was(terminal, number):
    it = terminal()
    it.shows("CLIENTS", "198.51.")
    os.kill(it.process.pid, getattr(signal, number))
    it.ends(0)


def test_the_daemon_ends(terminal, daemon):
    it = terminal()
    it.shows("CLIENTS", "198.51.")
    daemon.stop()
    it.ends(1)
    # On the first screen: on the second one nobody would read it.
    assert "no reply from volleyd" in it.seen[it.seen.rfind("\033[?1049l"):]
