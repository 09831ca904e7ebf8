# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Collectors of dnstap for tests: fstrm_capture, and a decoder of its files. The decoder is written
only from the specifications of protobuf and Frame Streams."""
import dataclasses
import ipaddress
import pathlib
import shutil
import signal
import struct
import subprocess

import dns.message
import pytest

CONTENT_TYPE = b"protobuf:dnstap.Dnstap"
TYPES = {1: "AUTH_QUERY", 2: "AUTH_RESPONSE", 5: "CLIENT_QUERY", 6: "CLIENT_RESPONSE",
         7: "FORWARDER_QUERY", 8: "FORWARDER_RESPONSE", 13: "UPDATE_QUERY", 14: "UPDATE_RESPONSE"}
PROTOCOLS = {1: "udp", 2: "tcp", 3: "dot"}


def varint(data, at):
    value = shift = 0
    while True:
        octet = data[at]
        value |= (octet & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not octet & 0x80:
            return value, at


def fields(data):
    """Of a protobuf message: number to value."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 5:
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        else:
            assert key & 7 == 2
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        found[key >> 3] = value
    return found


@dataclasses.dataclass
class Message:
    """One message of dnstap."""
    type: str
    protocol: str
    client: str
    port: int
    server: str
    server_port: int
    asked: float
    answered: float
    identity: bytes
    wire: bytes

    @property
    def query(self):
        return (dns.message.from_wire(self.wire, keyring=False, continue_on_error=True)
                if self.type.endswith("QUERY") else None)

    @property
    def response(self):
        return (dns.message.from_wire(self.wire, keyring=False, continue_on_error=True)
                if self.type.endswith("RESPONSE") else None)

    @property
    def name(self):
        return (self.response or self.query).question[0].name.to_text()


def address(octets):
    return str(ipaddress.ip_address(octets)) if octets else None


def time_of(found, number):
    return found[number] + found[number + 1] / 1e9 if number in found else None


def message(frame):
    top = fields(frame)
    assert top[15] == 1
    m = fields(top[14])
    assert len(m[4]) == {1: 4, 2: 16}[m[2]]
    assert (10 in m) != (14 in m)
    return Message(TYPES[m[1]], PROTOCOLS[m[3]], address(m[4]), m.get(6), address(m.get(5)),
                   m.get(7), time_of(m, 8), time_of(m, 12), top.get(1), m.get(10) or m[14])


def messages(path):
    """Of a file of Frame Streams, whole frames only: it may still be written."""
    data, at, found = path.read_bytes() if path.exists() else b"", 0, []
    while at + 4 <= len(data):
        length = struct.unpack_from("!I", data, at)[0]
        at += 4
        if not length:
            at += 4 + struct.unpack_from("!I", data, at)[0] if at + 4 <= len(data) else 4
            continue
        if at + length <= len(data):
            found.append(message(data[at:at + length]))
        at += length
    return found


class Collector:
    """fstrm_capture at a Unix socket or a TCP port of the daemon's namespace."""

    def __init__(self, lab, folder, port=None):
        if not shutil.which("fstrm_capture"):
            pytest.skip("fstrm_capture is not installed")
        self.lab, self.port = lab, port
        self.socket, self.path = folder / "dnstap.sock", folder / "dnstap.fstrm"
        self.process = None

    @property
    def keys(self):
        return {"tcp": f"127.0.0.1@{self.port}"} if self.port else {"socket": str(self.socket)}

    def start(self):
        where = ["-a", "127.0.0.1", "-p", str(self.port)] if self.port else ["-u", str(self.socket)]
        self.process = self.lab.popen("s", "fstrm_capture", "-t", CONTENT_TYPE.decode(), *where,
                                      "-w", str(self.path), stderr=subprocess.DEVNULL)

    def stop(self):
        """Ends it; its file is complete."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(10)
        return messages(pathlib.Path(self.path))

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
