# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers that forward to the upstreams of oddupstreams.py, and what they serve of them."""
import contextlib
import socket
import struct
import time

import dns.message

import peers
from oddupstreams import A, FORGED_DATA, TRUE, WANTED, address_of, behaviour_of, zone_of
from rivals import named_alone


def behind_name(wire, at):
    while wire[at] and wire[at] < 0xc0:
        at += 1 + wire[at]
    return at + (1 if not wire[at] else 2)


def answers_of(wire):
    """[(type, data)], of data that no library may like"""
    at, found = behind_name(wire, 12) + 4, []
    for _ in range(int.from_bytes(wire[6:8], "big")):
        at = behind_name(wire, at)
        kind, _, _, size = struct.unpack("!HHIH", wire[at:at + 10])
        found.append((kind, wire[at + 10:at + 10 + size]))
        at += 10 + size
    return found


def is_wanted(found, types):
    """All of the types, no forged address, the true one with A, and nothing if nothing is wanted."""
    data = [data for _, data in found]
    return (types <= {kind for kind, _ in found} and FORGED_DATA not in data and
            (A not in types or TRUE in data) and bool(types) == bool(found))


def volley_conf(folder, address, recursion):
    (folder / "volley.yaml").write_text(f"""
server: {{listen: ["{address}"], workers: 1}}
cache: {{size: 8M, names: 0}}
control: {{socket: {folder}/control.sock}}
rrl: {{answers: 0, octets: 0}}
recursion:
  allow: [127.0.0.0/8]
  query-localhost: true
  threads: 1
{recursion}""")
    return ["volleyd", "-c", "volley.yaml"]


def volleyd(folder, address, upstream, rows):
    """Volley's own forwarder: it has the same upstream for all names."""
    return volley_conf(folder, address, f'  forward: ["{address_of(rows[0])}@{upstream}"]\n')


def libunbound(folder, address, upstream, rows):
    """Volley that forwards by libunbound."""
    return volley_conf(folder, address, "  forward-zones:\n" + "".join(
        f'    - {{zone: {zone_of(r)}, address: "{address_of(r)}@{upstream}"}}\n' for r in rows))


def named(folder, address, upstream, rows):
    zones = "".join(f'zone "{zone_of(r)}" {{ type forward; forward only; '
                    f'forwarders port {upstream} {{ {address_of(r)}; }}; }};\n' for r in rows)
    (folder / "named.conf").write_text(f"""
options {{
  directory "{folder}"; listen-on {{ {address}; }}; listen-on-v6 {{ none; }};
  pid-file "{folder}/named.pid"; session-keyfile "{folder}/session.key"; {named_alone()}
  recursion yes; allow-recursion {{ any; }}; dnssec-validation no; empty-zones-enable no;
}};
controls {{ }};
{zones}""")
    return ["named", "-g", "-n", "1", "-c", "named.conf"]


def unbound(folder, address, upstream, rows):
    zones = "".join(f"forward-zone:\n  name: {zone_of(r)}\n"
                    f"  forward-addr: {address_of(r)}@{upstream}\n" for r in rows)
    (folder / "unbound.conf").write_text(f"""
remote-control:
  control-enable: no
server:
  interface: {address}
  use-syslog: no
  username: ""
  chroot: ""
  directory: {folder}
  pidfile: ""
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  discard-timeout: 0
  incoming-num-tcp: 200
  module-config: "iterator"
{zones}""")
    return ["unbound", "-d", "-c", "unbound.conf"]


class Forwarder(peers.Process):
    """A server with the upstreams of these rows, at an address of its own."""

    def __init__(self, make, folder, number, upstream, rows):
        self.number = number
        # named listens only on addresses that an interface has
        self.address = "127.0.0.1" if make == named else f"127.2.{number >> 8}.{number & 255}"
        folder.mkdir()
        self.begin(make(folder, self.address, upstream, rows), folder)
        try:
            self.wait()
        except BaseException:
            self.stop()
            raise

    def wait(self):
        end = time.monotonic() + 60
        while not self.ask("localhost.", A, seconds=0.2):
            assert self.process.poll() is None and time.monotonic() < end, self.log()
            time.sleep(0.02)

    def ask(self, owner, kind, seconds, do=False):
        """The reply over TCP, or None."""
        query = dns.message.make_query(owner, kind, want_dnssec=do).to_wire()
        with contextlib.suppress(OSError), socket.create_connection(
                (self.address, 53), seconds) as sock:
            sock.sendall(len(query).to_bytes(2, "big") + query)
            size = sock.recv(2, socket.MSG_WAITALL)
            return sock.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        return None

    def serves(self, row, seconds):
        """Of two names, one of them twice."""
        kind, _ = behaviour_of(row)
        rcode, types = WANTED.get(row, (0, {kind}))
        for label, do in (("a", False), ("b", True), ("a", False)):
            # upstreams tell forwarders by the number
            wire = self.ask(f"{label}-{self.number}.d.{zone_of(row)}", kind, seconds, do)
            if not wire or wire[3] & 15 != rcode or not is_wanted(answers_of(wire), types):
                return False
        return True


FORWARDERS = (volleyd, libunbound, named, unbound)
