# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""named and unbound with the same block lists as volleyd, on its address and other ports, with the
same upstream."""
import contextlib
import pathlib
import shutil

import dns.flags
import dns.message
import dns.rcode
import pytest

from netlab import V4, texts, wait_for
from rivals import named_alone
from upstreams import Netns

UPSTREAM = "127.0.1.1"
HEAD = "$TTL 60\n@ SOA localhost. root. 1 3600 600 86400 30\n@ NS localhost.\n"
MARK, MARKED = "zzz", "192.0.2.250"
PORTS = {"volley": 53, "named": 5301, "unbound": 5302}


def write(folder, name, *rules):
    """The list NAME; its entry for recursion.rpz."""
    path = folder / f"{name}.zone"
    path.write_text(HEAD + "".join(f"{rule}\n" for rule in rules), encoding="ascii")
    return {"name": name, "file": str(path)}


@contextlib.contextmanager
def upstream_of(lab, folder, text):
    """One server of a root zone with TEXT in the daemon's namespace."""
    if not shutil.which("nsd", path="/usr/sbin:/usr/bin"):
        pytest.skip("nsd is not installed")
    folder.mkdir(exist_ok=True)
    (folder / "root").write_text(f"$TTL 300\n@ SOA ns hostmaster 1 7200 3600 1209600 60\n@ NS "
                                 f"ns\nns A {UPSTREAM}\n" + text,
                                 encoding="ascii")
    lab.ip("s", "link", "set", "lo", "up")
    netns = Netns(folder, f"{lab.name}-s")
    try:
        netns.nsd(UPSTREAM, {".": "root"})
        yield netns
    finally:
        netns.close()


def named(folder, lists, servers=False):
    zones = "".join(f'zone "{one["name"]}" {{ type primary; file "{one["file"]}"; }};\n'
                    for one in lists)
    policies = " ".join(f'zone "{one["name"]}";' for one in lists)
    ns = " ".join(f"{word} {'yes' if servers else 'no'}"
                  for word in ("nsip-enable", "nsdname-enable"))
    (folder / "named.conf").write_text(f"""
options {{
  directory "{folder}"; pid-file "{folder}/named.pid"; session-keyfile "{folder}/session.key"; {named_alone()}
  listen-on port {PORTS["named"]} {{ {V4}; }}; listen-on-v6 {{ none; }};
  recursion yes; allow-recursion {{ any; }}; allow-query-cache {{ any; }}; dnssec-validation no; empty-zones-enable no;
  forward only; forwarders {{ {UPSTREAM}; }}; minimal-responses yes; qname-minimization off;
  response-policy {{ {policies} }} break-dnssec yes {ns};
}};
controls {{ }};
{zones}""", encoding="ascii")
    return ["named", "-f", "-n", "1", "-c", str(folder / "named.conf")]


def unbound(folder, lists, servers=False):
    assert not servers, "it has no such triggers"
    policies = "".join(f'rpz:\n  name: "{one["name"]}."\n  zonefile: "{one["file"]}"\n'
                       for one in lists)
    (folder / "unbound.conf").write_text(f"""
server:
  interface: {V4}@{PORTS["unbound"]}
  access-control: 0.0.0.0/0 allow
  module-config: "respip iterator"
  do-not-query-localhost: no
  directory: "{folder}"
  username: ""
  chroot: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
forward-zone:
  name: "."
  forward-addr: {UPSTREAM}
{policies}""", encoding="ascii")
    return ["unbound", "-d", "-c", str(folder / "unbound.conf")]


COMMANDS = {"named": named, "unbound": unbound}


@contextlib.contextmanager
def peers_of(netns, lab, folder, lists, names=tuple(COMMANDS), servers=False):
    """
    The NAMES of those that run now, each with LISTS in force; SERVERS: with their rules for name
    servers.
    """
    names = [name for name in names if shutil.which(name, path="/usr/sbin:/usr/bin")]
    lists = with_marks(folder, lists)
    for name in names:
        netns.popen(*COMMANDS[name](folder, lists, servers))
    for name in names:
        for i in range(len(lists)):
            wait_for(f"{name} has list {i} in force",
                     lambda name=name, i=i: is_in_force(lab, PORTS[name], i))
    yield names


def is_in_force(lab, port, i):
    """Asked from 127.0.0.1, for which no list has a rule."""
    query = dns.message.make_query(f"{MARK}{i}", "A")
    with lab.socket("s") as sock:
        sock.settimeout(0.2)
        sock.bind(("127.0.0.1", 0))
        try:
            sock.sendto(query.to_wire(), (V4, port))
            answer = dns.message.from_wire(sock.recv(4096))
        except OSError:
            return False
    return texts(answer) == [MARKED]


def with_marks(folder, lists):
    """
    Copies of LISTS with one more rule each, for MARK and the list's number. named answers before it
    has read its lists, and reads a list in canonical order: MARK is the last.
    """
    marked = []
    for i, one in enumerate(lists):
        path = folder / f"{one['name']}.marked"
        path.write_text(pathlib.Path(one["file"]).read_text(encoding="ascii") +
                        f"{MARK}{i} A {MARKED}\n", encoding="ascii")
        marked.append({**one, "file": str(path)})
    return marked


def verdict(lab, name, kind="A", server="volley", tcp=False, where=V4):
    """(rcode, addresses); "TC"; or "dropped"."""
    query = dns.message.make_query(name, kind)
    try:
        answer = lab.tcp(query, where,
                         PORTS[server]) if tcp else lab.udp(query, where, PORTS[server],
                                                            timeout=0.7)
    except OSError:
        return "dropped"
    if answer.flags & dns.flags.TC:
        return "TC"
    addresses = sorted(record.to_text() for rrset in answer.answer if rrset.rdtype in (1, 28)
                       for record in rrset)
    return (dns.rcode.to_text(answer.rcode()), *addresses)
