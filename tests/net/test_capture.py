# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl capture: answers of driver and workers as a pcap file with right checksums; filters,
bounds, losses."""
import json
import os
import re
import signal
import socket
import stat
import struct
import subprocess
import time

import dns.message
import dns.rdatatype
import pytest

from netlab import BIN, CLIENT4, CLIENT6, ENV, V4, V6, checksum, iface, wait_for, write_zone, zone
from test_top import Load, frame

WAYS = {"driver": [iface()], "worker": [iface(**{"driver-answers": False})], "kernel_socket": []}


def packets(octets):
    """[(time, source, port, destination, port, message)] of a pcap file; each sum is checked."""
    magic, major, minor, _zone, _accuracy, snap, link = struct.unpack_from("=IHHIIII", octets)
    assert (magic, major, minor, snap, link) == (0xa1b23c4d, 2, 4, 65535, 101)
    found, at = [], 24
    while at < len(octets):
        seconds, nanoseconds, kept, whole = struct.unpack_from("=IIII", octets, at)
        packet = octets[at + 16:at + 16 + kept]
        assert kept == whole == len(packet) and nanoseconds < 10 ** 9
        ipv6 = packet[0] >> 4 == 6
        head, ends = (40, packet[8:40]) if ipv6 else (20, packet[12:20])
        udp = packet[head:]
        if ipv6:
            assert struct.unpack("!H", packet[4:6])[0] == len(udp) and packet[6] == 17
        else:
            assert packet[0] == 0x45 and struct.unpack("!H", packet[2:4])[0] == kept
            assert packet[9] == 17
            assert checksum(packet[:20]) == 0
        source_port, port, length, udp_sum = struct.unpack("!HHHH", udp[:8])
        assert length == len(udp) and udp_sum
        pseudo = ends + struct.pack("!IxxxB" if ipv6 else "!xBH",
                                    *((length, 17) if ipv6 else (17, length)))
        assert checksum(pseudo + udp) == 0
        family, n = (socket.AF_INET6, 16) if ipv6 else (socket.AF_INET, 4)
        found.append((seconds + nanoseconds / 1e9, socket.inet_ntop(family, ends[:n]), source_port,
                      socket.inet_ntop(family, ends[n:]), port, dns.message.from_wire(udp[8:])))
        at += 16 + kept
    return found


class Capture:
    """Runs beside the test, from when the daemon tells all answers on."""

    def __init__(self, daemon, path, *words):
        self.path, before = path, os.path.exists(path)
        assert not before
        self.process = subprocess.Popen([BIN / "volleyctl", "-s", daemon.socket, "capture", *words,
                                         "-w", path], env=ENV,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for("a file", lambda: os.path.exists(path) and os.path.getsize(path) >= 24)

    def end(self, number=None):
        """Packets, and what was said."""
        if number:
            self.process.send_signal(number)
        out, said = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, said
        return packets(self.path.read_bytes()), out.decode() + said.decode()


@pytest.mark.parametrize("way", WAYS)
def test_queries_and_answers(lab, daemon, tmp_path, way):
    daemon.start(interfaces=WAYS[way])
    lab.ask()
    began = time.time()
    it = Capture(daemon, tmp_path / "pcap")
    answers = [lab.ask(), lab.ask(), lab.ask("no.example.com", "TXT", where=V6)]
    wait_for("all packets", lambda: len(packets(it.path.read_bytes())) == 6)
    found, said = it.end(signal.SIGINT)
    # driver and workers stand in the file by turns of some milliseconds
    found.sort(key=lambda packet: packet[0])
    assert said.startswith("6 packets\n0 lost")
    for i, answer in enumerate(answers):
        server, client = (V6, CLIENT6) if i == 2 else (V4, CLIENT4)
        (asked_at, *ends, query), (answered_at, *back, reply) = found[2 * i:2 * i + 2]
        assert ends[0::2] == [client, server] and back[0::2] == [server, client]
        assert ends[3] == back[1] == 53 and ends[1] == back[3]
        assert query.id == answer.id and query.question == answer.question and not query.answer
        assert reply == answer and reply.answer == answer.answer
        assert began - 1 <= asked_at <= answered_at <= time.time() + 1
    assert stat.S_IMODE(os.stat(it.path).st_mode) == 0o600
    wait_for("nothing is drawn", lambda: daemon.stats()["tap"]["one_in"] == 0)


def test_tcpdump_reads_it(lab, daemon, tmp_path):
    """Queries and answers, of the driver and over IPv6 as well, and all of their sums are right."""
    daemon.start()
    lab.ask()
    it = Capture(daemon, tmp_path / "pcap")
    answers = [lab.ask(), lab.ask("no.example.com", "TXT", where=V6)]
    wait_for("all packets", lambda: len(packets(it.path.read_bytes())) == 4)
    it.end(signal.SIGINT)
    with open(it.path, "rb") as file:
        read = subprocess.run(["tcpdump", "-nn", "-vv", "-r", "-"], stdin=file, capture_output=True,
                              check=True, env=ENV, text=True)
    text = " ".join(read.stdout.split())
    assert text.count("[udp sum ok]") == 4 and text.count("IP6 ") == 2, read.stdout
    for answer, client, server, asks, says in ((answers[0], CLIENT4, V4, "A? www.example.com.",
                                                "A 192.0.2.80"),
                                               (answers[1], CLIENT6, V6, "TXT? no.example.com.",
                                                "NXDomain")):
        assert re.search(rf"{client}\.\d+ > {server}\.53: \[udp sum ok\] {answer.id}\+ "
                         rf"{re.escape(asks)}", text), text
        assert re.search(rf"{server}\.53 > {client}\.\d+: \[udp sum ok\] {answer.id}[^>]* "
                         rf"{re.escape(says)}", text), text


FILTERS = {
    "name": (("name", "example.net"), {("www.example.net.", "A")}),
    "type": (("type", "TXT"), {("no.example.com.", "TXT")}),
    "rcode": (("rcode", "nxdomain"), {("no.example.com.", "TXT")}),
    "client": (("client", "2001:db8::/32"), {("www.example.com.", "AAAA")}),
    "all": (("client", "192.0.2.0/24", "type", "A", "name", "example.com", "rcode", "NOERROR"),
            {("www.example.com.", "A")}),
    "none": (("client", "198.51.100.0/24"), set()),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters(lab, daemon, tmp_path, name):
    words, wanted = FILTERS[name]
    daemon.start()
    it = Capture(daemon, tmp_path / "pcap", *words)
    for _ in range(2):
        lab.ask()
        lab.ask("www.example.net")
        lab.ask("no.example.com", "TXT")
        lab.ask("www.example.com", "AAAA", where=V6)
    found, _said = it.end(signal.SIGTERM)
    asked = [(str(message.question[0].name), dns.rdatatype.to_text(message.question[0].rdtype))
             for *_, message in found]
    assert set(asked) == wanted and len(asked) == 4 * len(wanted)


def test_bounds(lab, daemon, tmp_path):
    daemon.start()
    it = Capture(daemon, tmp_path / "count", "-n", "3")
    for _ in range(5):
        lab.ask()
    found, said = it.end()
    assert len(found) == 3 and said.startswith("3 packets\n")
    found, said = Capture(daemon, tmp_path / "time", "-t", "1").end()
    assert not found and said.startswith("0 packets\n")


def test_losses_are_told(lab, daemon, tmp_path):
    """volleyctl stands still, and what comes meanwhile is more than there is room for."""
    texts = "".join(f'big IN TXT "{chr(97 + i) * 250}"\n' for i in range(2))
    daemon.start(zones=[zone("example.com", write_zone(tmp_path / "zone", more=texts))])
    with Load(lab, [frame(CLIENT4, "big.example.com", "TXT", use_edns=0)], 5000):
        wait_for("answers", lambda: sum(daemon.answered().values()) > 100)
        it = Capture(daemon, tmp_path / "pcap", "-n", "1000000")
        it.process.send_signal(signal.SIGSTOP)
        before = sum(daemon.answered().values())
        wait_for("more than there is room for",
                 lambda: sum(daemon.answered().values()) - before > 7000)
        it.process.send_signal(signal.SIGCONT)
    found, said = it.end(signal.SIGINT)
    n, lost = (int(line.split()[0]) for line in said.splitlines()[:2])
    assert n == len(found) and lost > 0


def test_tcp_is_counted(lab, daemon, tmp_path):
    daemon.start()
    it = Capture(daemon, tmp_path / "pcap")
    lab.tcp(dns.message.make_query("www.example.com", "A"))
    found, said = it.end(signal.SIGINT)
    assert not found and "1 answers over TCP or TLS left out" in said


def test_one_at_a_time_and_the_end_of_one_that_was_killed(lab, daemon, tmp_path):
    daemon.start()
    it = Capture(daemon, tmp_path / "one")
    other = daemon.ctl("capture", "-w", tmp_path / "two", check=False)
    assert other.returncode == 1 and "another capture is running" in other.stderr
    assert not (tmp_path / "two").exists()
    it.process.kill()
    it.process.communicate()
    wait_for("its end", lambda: daemon.stats()["tap"]["one_in"] == 0)
    found, _said = Capture(daemon, tmp_path / "three", "-t", "1").end()
    assert not found


def test_standard_output_and_json(lab, daemon, tmp_path):
    daemon.start()
    lab.ask()
    with subprocess.Popen([BIN / "volleyctl", "-s", daemon.socket, "capture", "-n", "2", "-w", "-"],
                          env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        head = process.stdout.read(24)
        lab.ask()
        octets, said = process.communicate(timeout=30)
    assert len(packets(head + octets)) == 2 and said.startswith(b"2 packets\n")
    result = json.loads(daemon.ctl("--json", "capture", "-t", "1", "-w", tmp_path / "pcap").stdout)
    assert result == {"packets": 0, "lost": 0, "not_udp": 0}


@pytest.mark.parametrize("words",
                         [[], ["-n", "5"], ["-w"], ["-n", "0", "-w", "/dev/null"],
                          ["-t", "0", "-w", "/dev/null"],
                                   ["type", "NOTYPE", "-w", "/dev/null"],
                          ["client", "300.0.0.0/8", "-w", "/dev/null"],
                                   ["name", "a..b", "-w", "/dev/null"],
                          ["rcode", "FINE", "-w", "/dev/null"],
                                   ["port", "53", "-w", "/dev/null"],
                                   ["client", "192.0.2.0/24", "client", "198.51.100.0/24", "-w",
                                    "/dev/null"],
                                   ["name", "a.", "name", "b.", "-w", "/dev/null"],
                          ["type", "A", "type", "A", "-w", "/dev/null"],
                                   ["rcode", "NOERROR", "rcode", "REFUSED", "-w", "/dev/null"]])
def test_refusals(lab, daemon, words):
    daemon.start(interfaces=None)
    refusal = daemon.ctl("capture", *words, check=False)
    assert refusal.returncode == 2 and refusal.stderr and not refusal.stdout


def test_a_file_that_cannot_be_written(lab, daemon, tmp_path):
    daemon.start(interfaces=None)
    for path in (tmp_path / "none" / "pcap", "/dev/full"):
        refusal = daemon.ctl("capture", "-w", path, check=False)
        assert refusal.returncode == 1 and str(path) in refusal.stderr
        assert refusal.stderr.count("\n") == 1
        assert daemon.stats()["tap"]["one_in"] == 0, "at once: the next capture need not wait"
    found, _said = Capture(daemon, tmp_path / "pcap", "-t", "1").end()
    assert not found


def test_a_pipe_whose_reader_goes(lab, daemon):
    daemon.start(interfaces=None)
    with subprocess.Popen([BIN / "volleyctl", "-s", daemon.socket, "capture", "-w", "-"], env=ENV,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(24)
        process.stdout.close()
        lab.ask()
        said = process.stderr.read().decode()
        assert process.wait(30) == 1 and said == "volleyctl: capture: -: Broken pipe\n"
    assert daemon.stats()["tap"]["one_in"] == 0


def test_a_file_that_was_there_is_for_its_owner_alone(lab, daemon, tmp_path):
    daemon.start(interfaces=None)
    path = tmp_path / "pcap"
    path.write_bytes(b"x" * 100)
    path.chmod(0o666)
    daemon.ctl("capture", "-t", "1", "-w", path)
    assert packets(path.read_bytes()) == [] and stat.S_IMODE(path.stat().st_mode) == 0o600
