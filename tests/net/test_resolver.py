# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The resolver floor beside real name servers (upstreams.py), driven by tests/net/resolve.c."""
import os
import shutil
import signal
import time

import dns.flags
import dns.message
import dns.rrset
import pytest

from netlab import TOOLS, run, wait_for
from upstreams import HEAD, SCRIPTED, Netns, Resolve, Tree, address_answer, family, missing

BOGUS, NO_REACHABLE_AUTHORITY, OTHER, NONE = 6, 22, 0, -1
BY_LIBUNBOUND = "-o", "outgoing-num-tcp=10"  # any option of it
HEADER = dns.flags.QR | dns.flags.AA | dns.flags.TC | dns.flags.RD | dns.flags.RA | dns.flags.AD


@pytest.fixture(name="tree", scope="module")
def make_tree(tmp_path_factory):
    if os.geteuid() or missing():
        pytest.skip(f"not installed: {missing()}" if missing() else "needs root")
    tree = Tree(tmp_path_factory.mktemp("tree"))
    try:
        for zone in SCRIPTED:
            tree.script(zone, REPLIES.get(zone, answer))
        tree.scripted["late.lab."].delay_s = 0.6
        yield tree
    finally:
        tree.close()


def answer(query, _tcp):
    return address_answer(query).to_wire()


def truncated(query, tcp):
    reply = address_answer(query)
    if not tcp:
        reply.flags |= dns.flags.TC
        reply.answer = []
    else:
        reply.answer.append(dns.rrset.from_text_list(query.question[0].name, 300, "IN", "TXT",
                                                     [f'"{n:0200}"' for n in range(60)]))
    return reply.to_wire(max_size=65535)


def wrong_id(query, _tcp):
    wire = address_answer(query, "192.0.2.66").to_wire()
    return bytes((wire[0] ^ 0x55, wire[1])) + wire[2:]


def other_question(query, _tcp):
    reply = address_answer(query, "192.0.2.66")
    reply.question = dns.message.make_query("spoofed.lab.", "A").question
    return reply.to_wire()


REPLIES = {"trunc.lab.": truncated, "wrongid.lab.": wrong_id,
           "other.lab.": other_question, "silent.lab.": lambda query, tcp: None}


@pytest.fixture(name="resolve")
def make_resolve(tree):
    made = []

    def make(*options, where=tree, **kwargs):
        made.append(Resolve(where, *options, **kwargs))
        return made[-1]
    yield make
    for one in made:
        if one.process.poll() is None:
            one.close()


# name, type, then rcode, security and extended error, and records of the answer: all with their
# type
KINDS = [
    ("www.good.lab.", "A", "NOERROR", "secure", NONE, ["192.0.2.80"]),
    ("nothere.good.lab.", "A", "NXDOMAIN", "secure", NONE, []),
    ("www.good.lab.", "TXT", "NOERROR", "secure", NONE, []),
    ("alias.good.lab.", "A", "NOERROR", "secure", NONE, ["192.0.2.80"]),
    ("one.good.lab.", "A", "NOERROR", "secure", NONE, ["192.0.2.80"]),
    ("www.tree.good.lab.", "A", "NOERROR", "secure", NONE, ["192.0.2.80"]),
    ("x.wild.good.lab.", "A", "NOERROR", "secure", NONE, ["192.0.2.9"]),
    ("www.plain.lab.", "A", "NOERROR", "insecure", NONE, ["192.0.2.80"]),
    ("nothere.plain.lab.", "A", "NXDOMAIN", "insecure", NONE, []),
    ("far.good.lab.", "A", "NOERROR", "insecure", NONE, ["192.0.2.80"]),
    ("www.halflame.lab.", "A", "NOERROR", "insecure", NONE, ["192.0.2.80"]),
    ("www.trunc.lab.", "A", "NOERROR", "insecure", NONE, ["192.0.2.80"]),
    ("nothere.lab.", "A", "NXDOMAIN", "secure", NONE, []),
    ("www.bogus.lab.", "A", "SERVFAIL", "bogus", BOGUS, None),
    ("www.lame.lab.", "A", "SERVFAIL", "insecure", NO_REACHABLE_AUTHORITY, None),
]


def test_each_kind_of_answer(resolve):
    it = resolve("-n", "2", "-w", "20000")
    for name, kind, *expected, records in KINDS:
        got = it.ask(name, kind)
        assert [*got.brief()] == expected, f"{name} {kind}: {got.brief()} {got.why}"
        assert (got.message is None) == (records is None)
        if records is not None:
            assert got.texts(kind) == records, f"{name} {kind}: {got.message}"
            assert str(got.message.question[0].name) == name
            assert got.message.flags & HEADER == dns.flags.QR | dns.flags.RD | dns.flags.RA | \
                (got.security == "secure" and dns.flags.AD), f"{name}: {got.message}"
            signed = {rrset.covers for rrset in got.message.answer + got.message.authority}
            assert got.security != "secure" or len(signed) > 1, f"{name}: {got.message}"
    counters = it.counters()
    assert counters["asked"] == len(KINDS) == counters["upstream"]
    assert counters["bogus"] == 1 and counters["failed"] == 1
    assert counters["answered"] == len(KINDS) - 2 and counters["outstanding"] == 0


def test_bogus_says_why_and_checking_disabled_gets_it_all_the_same(resolve):
    it = resolve()
    got = it.ask("www.bogus.lab.")
    assert "www.bogus.lab" in got.why
    got = it.ask("www.bogus.lab.", "A", "cd")
    assert got.brief() == ("NOERROR", "bogus", BOGUS) and got.texts("A") == ["192.0.2.80"]
    assert it.ask("www.good.lab.", "A", "cd").brief() == ("NOERROR", "secure", NONE)


def test_without_an_anchor_nothing_is_validated(resolve):
    it = resolve(anchor=False)
    for name in ("www.good.lab.", "www.bogus.lab."):
        assert it.ask(name).brief() == ("NOERROR", "insecure", NONE)


def test_an_anchor_that_is_followed(resolve, tree, tmp_path):
    anchor = tmp_path / "anchor"
    shutil.copy(tree.anchor, anchor)
    it = resolve("-A", anchor, anchor=False)
    assert it.ask("www.good.lab.").security == "secure"
    assert it.ask("www.bogus.lab.").ede == BOGUS
    assert ";;state=" in anchor.read_text()


def test_a_late_answer_serves_who_asks_again(resolve):
    it = resolve("-w", "250")
    start = time.monotonic()
    got = it.ask("www.late.lab.")
    assert got.brief() == ("SERVFAIL", "insecure", NO_REACHABLE_AUTHORITY) and got.message is None
    assert 0.24 < time.monotonic() - start < 5
    assert wait_for("the late answer", lambda: it.ask("www.late.lab.").rcode == "NOERROR", 10)
    counters = it.counters()
    assert counters["timed_out"] >= 1 and counters["answered"] == 1
    assert counters["upstream"] + counters["coalesced"] == counters["asked"]


def test_a_deadline_soon_after_an_answer(resolve, tree):
    """A thread that has just answered from its cache does not sleep over the next deadline."""
    late = tree.scripted["late.lab."]
    before, late.delay_s = late.delay_s, 0.2
    try:
        it = resolve("-f", SCRIPTED["late.lab."], "-w", "20", *BY_LIBUNBOUND, anchor=False)
        wait_for("an answer", lambda: it.ask("first.late.lab.").rcode == "NOERROR")
        for n in range(3):
            time.sleep(0.3)  # until it has nothing to wait for
            # Where it was not run for 20 ms, the deadline came first.
            wait_for("an answer", lambda: it.ask("first.late.lab.").rcode == "NOERROR")
            if it.ask(f"n{n}.late.lab.").rcode == "SERVFAIL":
                return
        pytest.fail("answered, long after the deadline")
    finally:
        late.delay_s = before


@pytest.mark.parametrize("zone", ["wrongid.lab.", "other.lab."])
def test_what_was_not_asked_is_not_taken(resolve, tree, zone):
    it = resolve("-w", "1500")
    got = it.ask("www." + zone)
    assert got.rcode == "SERVFAIL" and got.message is None
    assert tree.scripted[zone].seen


def test_the_same_question_goes_up_once(resolve):
    it = resolve("-n", "2")
    it.say("same 1000 same.late.lab.")
    assert it.line() == "flooded 1000 1000 0"
    counters = it.counters()
    assert counters["coalesced"] == 999 and counters["upstream"] == 1


def test_memories_know_nothing_of_each_other(resolve, tree):
    """What one has fetched is fetched by the other, too; and then both know it."""
    def n_seen():
        return [one.lower() for one in tree.scripted["case.lab."].seen].count("memories.case.lab.")
    it = resolve()
    for memory, is_fetched in (((), True), (("other",), True), ((), False), (("other",), False)):
        before = n_seen()
        assert it.ask("memories.case.lab.", "A", *memory).rcode == "NOERROR"
        assert (n_seen() > before) == is_fetched


def test_the_same_question_to_each_memory_is_two(resolve):
    """The one that has to begin at the root does not delay questions to the other."""
    it = resolve()
    for memory in "other", "other", "", "":
        it.say(f"joined.late.lab. A {memory}")
    assert {it.answer().rcode for _ in range(4)} == {"NOERROR"}
    counters = it.counters()
    assert counters["coalesced"] == 2 == counters["upstream"]


def test_nsec3_records_that_are_known_deny_other_names(resolve):
    """
    RFC 8198: all intervals of the zone are learnt; then no random name goes upstream, but to be
    fetched anew.
    """
    it = resolve()
    for n in range(100):
        assert it.ask(f"learn{n}.hashed.lab.").brief() == ("NXDOMAIN", "secure", NONE)
    before = it.counters()
    for n in range(100):
        got = it.ask(f"n{n}.hashed.lab.", "A", *(("cd",) if n % 2 else ()))
        assert got.brief() == ("NXDOMAIN", "secure", NONE)
        assert (got.message.flags & HEADER == dns.flags.QR | dns.flags.RD | dns.flags.RA |
                dns.flags.AD)
    assert it.ask("www.hashed.lab.", "TXT").brief() == ("NOERROR", "secure", NONE)
    assert it.ask("x.wild.hashed.lab.", "TXT").brief() == ("NOERROR", "secure", NONE)
    after = it.counters()
    assert after["upstream"] == before["upstream"]
    assert after["denied"] == before["denied"] + 102
    for name, kind, *_, records in KINDS:  # none that exists is denied
        if records and name.endswith(".good.lab."):
            assert it.ask(name.replace("good", "hashed"), kind).texts(kind) == records
    assert it.ask("n0.hashed.lab.", "A", "refresh").rcode == "NXDOMAIN"
    assert it.ask("*.wild.hashed.lab.").texts("A") == ["192.0.2.9"]
    assert it.counters()["denied"] == after["denied"]
    assert it.counters()["upstream"] > after["upstream"] + 1
    assert it.close()[1]["outstanding"] == 0


@pytest.mark.parametrize("options", [("-o", "aggressive-nsec=no"), ("-o", "domain-insecure=x.")])
def test_nsec3_records_deny_nothing(resolve, options):
    it = resolve(*options)
    for n in range(100):
        assert it.ask(f"learn{n}.hashed.lab.").rcode == "NXDOMAIN"
    counters = it.counters()
    assert counters["upstream"] == 100 and counters["denied"] == 0


def test_nsec3_records_deny_no_name_that_is_not_validated(resolve):
    """
    RFC 7646: a zone of one's own that its signed parent does not know. Upstream is asked, which
    does not know it either here.
    """
    it = resolve("-i", "inside.hashed.lab.")
    for n in range(100):
        assert it.ask(f"learn{n}.hashed.lab.").security == "secure"
    before = it.counters()
    for name in ("inside.hashed.lab.", "a.b.inside.hashed.lab."):
        assert it.ask(name).rcode == "NXDOMAIN"
    assert it.counters()["upstream"] == before["upstream"] + 2
    assert it.ask("other.hashed.lab.").security == "secure"
    assert it.counters()["denied"] == before["denied"] + 1


def test_special_names_are_asked_upstream(resolve, tree):
    """libunbound's own answers for them would hide stub zones, and no chain of trust leads to
    them."""
    names = ("10.in-addr.arpa.", "home.arpa.", "corp.test.", "localhost.", "a.onion.",
             "1.0.0.127.in-addr.arpa.")
    it = resolve(*(word for name in names for word in ("-s", f"{name}={SCRIPTED['case.lab.']}")))
    for name in names:
        got = it.ask(f"www.{name}")
        assert got.brief() == ("NOERROR", "insecure",
                               NONE) and got.texts("A") == ["192.0.2.80"], name
    assert it.ask("www.good.lab.").security == "secure"
    assert it.ask("b.onion.").rcode == "NXDOMAIN"


def test_limits_refuse_at_once(resolve):
    it = resolve("-m", "20", "-c", "5", "-w", "60000")
    for n in range(7):
        it.say(f"c{n}.silent.lab. A from 192.0.2.1")
    for _ in range(2):
        got = it.answer()
        assert got.brief() == ("SERVFAIL", "insecure", OTHER) and "client" in got.why
    it.say("c.silent.lab. A from 192.0.2.2")
    it.say("flood 100 silent.lab.")  # of no client: another one
    wait_for("the limits", lambda: it.counters()["limited_client"] == 2 + 95)
    for n in range(20):
        it.say(f"t{n}.silent.lab. A from 198.51.100.{n}")
    for _ in range(11):
        assert "outstanding" in it.answer().why
    assert it.counters()["outstanding"] == 20
    stopped, counters, seconds = it.close()
    assert stopped == counters["stopped"] == 20 and counters["outstanding"] == 0
    assert seconds < 30, "the stop has waited for questions that may take 60 s"


def test_a_limit_for_the_servers_of_a_zone(resolve, tree):
    it = resolve("-q", "20")
    it.say("flood 200 qps.lab.")
    assert it.line().startswith("flooded 200 ")
    assert it.counters()["limited_upstream"] > 100
    assert len(set(tree.scripted["qps.lab."].seen)) < 60  # some may be sent again
    assert it.ask("www.good.lab.").rcode == "NOERROR"


def test_names_are_minimised_and_in_mixed_case(resolve, tree):
    seen = tree.scripted["case.lab."].seen
    seen.clear()
    it = resolve("-x")
    assert it.ask("a.b.c.d.e.f.case.lab.").rcode == "NOERROR"
    assert "f.case.lab." in [name.lower() for name in seen]
    assert any(name != name.lower() for name in seen)


def test_private_addresses_are_taken_out(resolve):
    assert resolve("-p", "10.0.0.0/8").ask("private.plain.lab.").texts("A") == []
    assert resolve().ask("private.plain.lab.").texts("A") == ["10.1.2.3"]


def test_a_stub_zone(resolve):
    it = resolve("-s", f"stub.lab.={SCRIPTED['case.lab.']}", anchor=False)
    assert it.ask("www.stub.lab.").texts("A") == ["192.0.2.80"]


def test_a_server_that_stops_and_returns(resolve, tree):
    """
    Questions end by their deadline while it is dead, and soon after it is back they are answered.
    """
    case = tree.scripted["case.lab."]
    it = resolve("-w", "500")
    case.silent = True
    try:
        assert it.ask("www1.case.lab.").rcode == "SERVFAIL"
        assert it.ask("www2.case.lab.").rcode == "SERVFAIL"
    finally:
        case.silent = False
    wait_for("it answers again", lambda: it.ask("www3.case.lab.").rcode == "NOERROR", 15)


# --- Forwarding -----------------------------------------------------------------------------------

FORWARDER = "127.0.1.20"  # what forwards by our own code has its tests in test_forward.py


@pytest.fixture(name="forwarder", scope="module")
def make_forwarder(tree):
    """unbound with one name, over UDP, TCP and TLS; its certificate is for dns.example."""
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "tls.key", "-out",
        "tls.pem", "-days", "2", "-subj", "/CN=dns.example", "-addext",
        "subjectAltName=DNS:dns.example", cwd=tree.folder)
    tree.popen_unbound(
        f"interface: {FORWARDER}@53", f"interface: {FORWARDER}@853",
        f"tls-service-key: {tree.folder}/tls.key", f"tls-service-pem: {tree.folder}/tls.pem",
        "module-config: iterator", "access-control: 127.0.0.0/8 allow",
        'local-data: "www.forward.lab. A 192.0.2.53"')
    wait_for("unbound", lambda: tree.is_answering(FORWARDER), 10)
    return tree.folder / "tls.pem"


@pytest.mark.parametrize("by", [(), BY_LIBUNBOUND], ids=["our own", "libunbound"])
@pytest.mark.parametrize("transport, address", [("udp", FORWARDER), ("tcp", FORWARDER + "@53")])
def test_forwarding(resolve, forwarder, transport, address, by):
    it = resolve("-f", address, "-t", transport, "-b", forwarder, *by, anchor=False)
    assert it.ask("www.forward.lab.").texts("A") == ["192.0.2.53"]


@pytest.mark.parametrize("by", [(), BY_LIBUNBOUND], ids=["our own", "libunbound"])
def test_forwarding_over_tls_is_authenticated(resolve, forwarder, by):
    """
    Never in the clear, never to another name; libunbound's queries go by the relay
    (resolver/tls_relay.h).
    """
    tls = [*by, "-t", "tls", "-b", forwarder, "-f"]
    it = resolve(*tls, f"{FORWARDER}@853#dns.example", anchor=False)
    assert it.ask("www.forward.lab.").texts("A") == ["192.0.2.53"]
    it = resolve(*tls, f"{FORWARDER}@853#other.example", anchor=False)
    assert it.ask("www.forward.lab.").rcode == "SERVFAIL"


@pytest.mark.parametrize("options, words", [
    (["-r", "/nonexistent"], "/nonexistent: No such file"),
    (["-f", "example"], "forward example"),
    (["-f", "192.0.2.1#name", "-t", "tls", "-b", __file__], "ADDRESS@853#NAME"),
    (["-f", "192.0.2.1@853", "-t", "tls", "-b", __file__], "ADDRESS@853#NAME"),
    (["-f", "192.0.2.1@853#name", "-t", "tls"], "certificates"),
    (["-o", "no-such-option=1"], "no-such-option"),
    (["-n", "0"], "number of threads"),
    (["-n", "16", "-u", "16384"], "need 442912 files, and RLIMIT_NOFILE"),
])
def test_what_is_wrong_with_a_configuration_is_said(options, words):
    said = run("prlimit", "--nofile=4096:4096", TOOLS / "resolve", *options, check=False)
    assert said.returncode == 1 and words in said.stderr, said.stderr


# --- Many -----------------------------------------------------------------------------------------


def signal_all(process, number):
    for pid in family(process.pid):
        os.kill(pid, number)


@pytest.mark.parametrize("by", [(), BY_LIBUNBOUND], ids=["our own", "libunbound"])
def test_a_hundred_thousand_questions_to_a_dead_upstream(tmp_path, by):
    """
    Memory is bounded, all end by their deadline, the return is noticed, and the stop is quick.
    """
    netns = Netns(tmp_path)
    try:
        (tmp_path / "zone").write_text(HEAD.format("127.0.1.30") + "* A 192.0.2.1\n")
        server = netns.nsd("127.0.1.30", {"lab.": "zone"})
        it = Resolve(netns, "-n", "2", "-f", "127.0.1.30", *by, "-w", "3000")
        assert it.ask("first.lab.").rcode == "NOERROR"
        before = it.rss_kib()
        signal_all(server, signal.SIGSTOP)
        it.say("flood 100000 dead.lab.")
        assert it.line() == "flooded 100000 0 100000"
        counters = it.counters()
        assert counters["timed_out"] + (counters["failed"] if by else 0) > 0  # 1.26 gives up itself
        assert it.rss_kib() - before < 300 * 1024, it.rss_kib() - before
        signal_all(server, signal.SIGCONT)
        wait_for("it is back", lambda: it.ask("back.lab.").rcode == "NOERROR", 20 if by else 8)
        it.close()
        signal_all(server, signal.SIGSTOP)
        it = Resolve(netns, "-n", "2", "-f", "127.0.1.30", *by, "-w", "60000")
        it.say("flood 100000 again.lab.")
        it.counters()  # the line before has been obeyed: all are submitted
        stopped, counters, seconds = it.close()
        assert 0 < stopped == counters["stopped"] == 100000 - counters["failed"]
        assert counters["outstanding"] == 0
        assert seconds < 50, "the stop has waited for questions that may take 60 s"
        signal_all(server, signal.SIGCONT)
    finally:
        netns.close()
