# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Rate limits by every way in: the replies to a client over its limit, its ways to an answer all the
same, and the operator's view. The limit is one answer a second here, so that a few queries exceed
it on a machine of any speed.
"""
import sys
import time

import dns.edns
import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rrset
import dns.tsigkeyring
import pytest

from netlab import CLIENT4, ROOT, V4, Answered, iface, wait_for, zone
from test_metrics import AT, Metrics

sys.path.insert(0, str(ROOT / "tests" / "perf"))

from rig import SERVER_CPU, napi_threads, pin  # noqa: E402

TIGHT = {"answers": 1, "slip": 1}
WAYS = {"driver": [iface()], "worker": [iface(**{"driver-answers": False})], "kernel_socket": []}


def question(cookie=None, name="www.example.com"):
    options = [dns.edns.GenericOption(10, cookie)] if cookie else []
    return dns.message.make_query(name, "A", use_edns=0 if cookie else False, options=options)


def cookie_in(answer):
    (option,) = [o for o in answer.options if o.otype == 10]
    return bytes(option.to_wire())


def until_limited(lab, cookie=None):
    """The first answer that is not whole: with TC=1, or BADCOOKIE."""
    def limited():
        answer = lab.udp(question(cookie), timeout=5)
        return None if answer.answer else answer
    return wait_for("an answer over the limit", limited)


@pytest.fixture(params=WAYS)
def way(request, daemon):
    daemon.start(interfaces=WAYS[request.param], rrl=TIGHT)
    return request.param


def test_tc_and_then_tcp(lab, daemon, way):
    """TC=1 without records; the same over TCP is whole."""
    lab.ask()
    with Answered(daemon) as both:
        answer = until_limited(lab)
        assert answer.flags & dns.flags.TC and answer.rcode() == dns.rcode.NOERROR
        assert not answer.answer and not answer.authority and not answer.additional
        for _ in range(5):
            assert lab.tcp(question()).answer
    assert both.by.get(way, 0) >= 1 and both.by["tcp"] == 5


def test_badcookie_and_then_all(lab, daemon, way):
    """
    With a client's cookie: BADCOOKIE and a whole one, by which nothing is limited (RFC 7873 section
    5.2.3).
    """
    lab.ask()
    answer = until_limited(lab, bytes(range(8)))
    assert answer.rcode() == dns.rcode.BADCOOKIE and not answer.flags & dns.flags.TC
    cookie = cookie_in(answer)
    assert cookie[:8] == bytes(range(8)) and len(cookie) == 24
    for _ in range(20):
        assert lab.udp(question(cookie), timeout=5).answer
    stats = daemon.stats()
    assert stats["engine"]["rrl_exempt"] + stats["driver"]["rrl_exempt"] >= 20


def test_what_driver_and_worker_give_counts_together(lab, daemon):
    """
    Names that only a worker can answer use up what the driver may give, and the other way round.
    """
    daemon.start(rrl=TIGHT)
    lab.ask()
    until_limited(lab)
    before = daemon.stats()["engine"]

    def limited_by_a_worker():
        lab.udp(question(name=f"n{time.monotonic_ns()}.wild.example.com"), timeout=5)
        return daemon.stats()["engine"]["slipped"] > before["slipped"]
    wait_for("a name that is not in the cache is over the limit, too", limited_by_a_worker)


def test_reloads(lab, daemon):
    """
    Exempt, dry run, other limits, off: each by a reload, and at once. The first stage counts for
    each CPU, in costs of the limits at that time. If the thread moved between CPUs, as no interrupt
    of a card does, loads of a tighter limit would come to the table after a reload.
    """
    daemon.start(rrl=TIGHT)
    pin(napi_threads(lab, "s"), SERVER_CPU)
    lab.ask()
    until_limited(lab)
    for rrl in ({**TIGHT, "exempt": [f"{CLIENT4}/32"]}, {**TIGHT, "dry-run": True},
                {"answers": 1000000, "octets": 0}, {"answers": 0, "octets": 0}):
        daemon.configure(rrl=rrl)
        daemon.ctl("zone", "reload")
        for _ in range(10):
            assert lab.udp(question(), timeout=5).answer, rrl
    daemon.configure(rrl=TIGHT)
    daemon.ctl("zone", "reload")
    until_limited(lab)
    driver = daemon.stats()["driver"]
    assert driver["rrl_exempt"] >= 9 and driver["rrl_dry"] >= 9


def test_nothing_is_sent_without_slip(lab, daemon):
    daemon.start(rrl={"answers": 1, "slip": 0})
    lab.ask()

    def dropped():
        try:
            lab.udp(question(), timeout=0.2)
        except TimeoutError:
            pass
        return daemon.stats()["driver"]["reasons"].get("drop-limited")
    wait_for("the driver drops", dropped)


def test_what_the_operator_sees(lab, daemon):
    daemon.start(rrl=TIGHT, metrics={"listen": AT})
    assert daemon.json("rrl", "top") == {"prefixes_over": 0, "top": []}
    lab.ask()
    until_limited(lab)
    for _ in range(5):
        lab.udp(question(), timeout=5)
    (row,) = daemon.json("rrl", "top", "-n", "5")["top"]
    assert row["prefix"] == f"{CLIENT4}/32" and row["slipped"] >= 5 and row["dropped"] == 0
    status = daemon.json("rrl", "status")
    assert status["answers_per_second"] == 1 and status["slip"] == 1
    assert status["prefixes_over"] == 1
    wait_for("it is logged", lambda: f"rrl: {CLIENT4}/32 is over its limit" in daemon.log())
    wait_for("its end is logged",
             lambda: f"rrl: {CLIENT4}/32 is within its limit again" in daemon.log(), 60)
    assert daemon.json("rrl", "top")["top"] == []
    driver = daemon.stats()["driver"]
    metrics = Metrics(lab)
    assert (metrics.sum("volley_driver_packets_total", reason="hit-slipped") ==
            driver["reasons"]["hit-slipped"])
    assert metrics.sum("volley_driver_rrl_judged_total") == driver["rrl_judged"] > 0
    refused = daemon.ctl("rrl", "top", "-n", "0", check=False)
    assert refused.returncode and "from 1 to 1024" in refused.stderr


def test_limits_are_on_by_default(lab, daemon):
    daemon.configure(rrl=None).start()
    status = daemon.json("rrl", "status")
    assert (status["answers_per_second"], status["octets_per_second"]) == (1000, 256 << 10)
    assert (status["slip"], status["dry_run"]) == (2, False)
    assert lab.ask(where=V4).answer


def test_what_was_sent_outlives_a_daemon(lab, daemon):
    """
    The table is the program's: after a death it limits as before, and the next daemon finds it.
    """
    daemon.start(rrl=TIGHT)
    lab.ask()
    until_limited(lab)
    daemon.kill()
    until_limited(lab)
    daemon.start()
    until_limited(lab)
    assert daemon.json("rrl", "top")["top"][0]["prefix"] == f"{CLIENT4}/32"


SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
RIGHT, WRONG = (dns.tsigkeyring.from_text({"k1.": s}) for s in (SECRET, SECRET[::-1][1:] + "="))
SOA = dns.rrset.from_text("example.com.", 0, "IN", "SOA", "ns. h. 1 1 1 1 1")


def opcode(number, name="example.com"):
    query = dns.message.make_query(name, "SOA")
    query.set_opcode(number)
    return query


def ixfr():
    query = dns.message.make_query("example.com", "IXFR", use_edns=0, payload=1232)
    query.authority.append(SOA)
    return query


def signed(query, ring):
    query.use_tsig(ring, "k1.")
    return query


TO_TRANSFER_THREAD = {
    "IXFR": ixfr, "NOTIFY": lambda: opcode(dns.opcode.NOTIFY, "told.test"),
    "UPDATE": lambda: opcode(dns.opcode.UPDATE),
    "AXFR": lambda: dns.message.make_query("example.com", "AXFR"),
    "a wrong signature": lambda: signed(dns.message.make_query("example.com", "A"), WRONG),
}


def whole_answers(lab, make, n=40):
    """How many of N queries get another answer than one with TC=1, within a moment."""
    with lab.socket("c") as sock:
        sock.connect((V4, 53))
        for _ in range(n):
            sock.send(make().to_wire())
        # with slip 1 none is dropped: as many replies as queries
        return sum(not sock.recv(4096)[2] & 2 for _ in range(n))


def start_with_peers(daemon, rrl):
    daemon.start(interfaces=[iface()], rrl=rrl,
                 server={"storage": str(daemon.folder / "state")},
                 keys=[{"name": "k1", "algorithm": "hmac-sha256", "secret": SECRET}],
                 remotes=[{"name": "p", "address": ["192.0.2.1"]}],
                 zones=[zone("example.com", allow_transfer=["any"],
                             allow_update=["0.0.0.0/1", "128.0.0.0/1"]),
                        zone("told.test", primaries=["p"], allow_notify=["any"])])


def use_up(lab, daemon):
    """Until nothing is sent to this client any more."""
    with lab.socket("c") as sock:
        sock.connect((V4, 53))

        def is_dropped():
            sock.send(question().to_wire())
            return daemon.stats()["driver"]["reasons"].get("drop-limited")
        wait_for("the driver drops", is_dropped)


@pytest.mark.parametrize("what", TO_TRANSFER_THREAD)
def test_replies_of_the_transfer_thread_are_limited(lab, daemon, what):
    """They count in the same table as all others, so little is left after answers of the
    driver. Messages that are signed well are not limited."""
    start_with_peers(daemon, {"answers": 1, "slip": 0})
    use_up(lab, daemon)
    with lab.socket("c") as sock:
        sock.connect((V4, 53))
        for _ in range(40):
            sock.send(TO_TRANSFER_THREAD[what]().to_wire())
        last = signed(ixfr(), RIGHT)
        sock.send(last.to_wire())
        n = 0
        while sock.recv(4096)[:2] != last.id.to_bytes(2, "big"):
            n += 1
    assert n <= 10
    assert whole_answers(lab, lambda: signed(ixfr(), RIGHT)) == 40


@pytest.mark.parametrize("what", TO_TRANSFER_THREAD)
def test_slips_of_the_transfer_thread(lab, daemon, what):
    """TC=1 for questions only: nobody sends a NOTIFY or an UPDATE again by TCP, and their replies
    are no longer than one with TC=1."""
    start_with_peers(daemon, TIGHT)
    until_limited(lab)
    n = whole_answers(lab, TO_TRANSFER_THREAD[what])
    assert n == 40 if what in ("NOTIFY", "UPDATE") else n <= 10


@pytest.mark.parametrize("number", [dns.opcode.NOTIFY, dns.opcode.UPDATE, dns.opcode.STATUS])
def test_slips_of_other_opcodes_by_a_worker(lab, daemon, number):
    """A refusal stays one."""
    daemon.start(rrl=TIGHT)
    until_limited(lab)
    with lab.socket("c") as sock:
        sock.connect((V4, 53))
        for _ in range(40):
            sock.send(opcode(number).to_wire())
        replies = [dns.message.from_wire(sock.recv(4096)) for _ in range(40)]
    assert {r.rcode() for r in replies} == {
        dns.rcode.NOTIMP if number == dns.opcode.STATUS else dns.rcode.REFUSED}
    assert not any(r.flags & dns.flags.TC for r in replies)
