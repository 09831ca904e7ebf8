# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl import of a thousand zones of a hoster that uses PowerDNS with SQLite: both servers get
the same questions, and each answer of volleyd must be that of PowerDNS."""
import collections
import os
import random

import pytest

from pdnspeer import compare, imported, new_key, question, running, serve, settings

ZONES = int(os.environ.get("ZONES", 1000))
QUESTIONS = 6  # of each zone
NAMES = ("www", "mail", "ftp", "shop", "blog", "dev", "api", "cdn", "ns1", "ns2", "autodiscover",
         "_dmarc", "*", "*.app", "a.b.c", "old", "sub", "x1", "vpn", "intranet")
KINDS = ("A", "A", "AAAA", "MX", "TXT", "NS", "SOA", "CNAME", "SRV", "CAA", "DS")


@pytest.fixture(name="peer")
def make_peer(daemon, tmp_path):
    with running(daemon, tmp_path, "dname-processing=yes\n") as made:
        yield made


def content_of(chance, kind):
    host = f"{chance.choice(NAMES[:10])}.customer{chance.randrange(ZONES)}.lab"
    number = chance.randrange(1, 255)
    return {
        "A": f"192.0.2.{number}",
        "AAAA": f"2001:db8::{number:x}",
        "CNAME": host,
        "MX": host,
        "TXT": f'"v=spf1 include:{host} ~all" "{"k" * chance.randrange(200)}"',
        "SRV": f"5 443 {host}",
        "CAA": f'0 issue "{host}"',
        "NS": host
    }[kind]


def records_of(chance, zone):
    """As customers and web pages of a hoster make them: of each name some types, or an alias."""
    found = [
        ("", "SOA",
         f"ns1.hoster.lab hostmaster.hoster.lab {chance.randrange(1, 2**31)} 10800 3600 604800 "
         f"{chance.choice((60, 300, 3600, 86400))}"), ("", "NS", "ns1.hoster.lab"),
        ("", "NS", "ns2.hoster.lab"), ("", "A", content_of(chance, "A")),
        ("", "MX", f"mail.{zone}", 10), ("mail", "A", content_of(chance, "A"))
    ]
    for name in chance.sample(NAMES, chance.randrange(3, 12)):
        if name == "mail":
            continue
        if name == "sub":
            found += [(name, "NS", f"ns.{name}.{zone}"),
                      (f"ns.{name}", "A", content_of(chance, "A"))]
        elif name == "old":
            found.append((name, "DNAME", f"new.{zone}"))
        elif chance.random() < 0.3:
            found.append(
                (name, "CNAME", chance.choice((zone, f"www.{zone}", content_of(chance, "CNAME")))))
        else:
            for kind in chance.sample(("A", "AAAA", "MX", "TXT", "SRV", "CAA"),
                                      chance.randrange(1, 4)):
                prio = [chance.randrange(100)] if kind in ("MX", "SRV") else []
                found += [(name, kind, content_of(chance, kind), *prio)
                          for _ in range(chance.choice((1, 1, 2)))]
    return list(dict.fromkeys(found))


def asked_of(chance, zone, records):
    """Names of the zone, names below them, and names that it does not have."""
    owners = [owner for owner, *_rest in records]
    for _ in range(QUESTIONS):
        name = chance.choice([*owners, *NAMES,
                              "none"]).replace("*", chance.choice(("*", "any", "any.way")))
        name = ".".join(filter(None, (chance.choice(("", "", "", "below")), name, zone)))
        yield question(name, chance.choice(KINDS), chance.random() < 0.3)


def test_thousand(peer):
    chance, queries, n_signed = random.Random(37), [], 0
    for i in range(ZONES):
        zone = f"customer{i}.lab" if i % 10 else f"{i % 256}.{i // 256}.10.in-addr.arpa"
        records = records_of(chance, zone)
        signed = i % 8 == 1
        n_signed += signed
        peer.zone(zone,
                  records,
                  keys=[(257, 1, 1, new_key())] if signed else (),
                  meta=[("NSEC3PARAM", "1 0 0 -")] if i % 16 == 1 else ())
        queries += asked_of(chance, zone, records)
    peer.db.commit()
    status, config, said = imported(peer)
    assert status == 0, said[:20]
    assert len(config["zones"]) == ZONES and \
        sum("signing" in zone for zone in settings(config).values()) == n_signed
    serve(peer, config)
    explained = collections.Counter()
    assert compare(peer, queries, explained) == ZONES * QUESTIONS
    assert 0 < sum(explained.values()) < len(queries) / 50, explained
