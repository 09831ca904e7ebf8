# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's identity, NSID and the names of class CH, and its change by a reload: by driver,
worker and TCP."""
import contextlib
import itertools
import json
import signal
import threading

import dns.edns
import dns.message
import dns.rcode
import pytest

from netlab import V4, V6, Answered, texts, wait_for

NAMES = {"version": ("version.bind", "version.server"), "identity": ("id.server", "hostname.bind")}
ONE = {"nsid": "one", "version": "Volley one", "identity": "host-one"}
# others in length, too
TWO = {"nsid": "the second, which is longer", "version": "2", "identity": "host-two"}
COOKIE = dns.edns.GenericOption(10, bytes(range(8)))


def nsid_query(name="www.example.com", *options):
    return dns.message.make_query(name, "A", use_edns=0, payload=1232,
                                  options=[dns.edns.GenericOption(dns.edns.NSID, b""), *options])


def nsid_of(answer):
    """The text of the option; None: there is none."""
    found = [option.to_wire() for option in answer.options if option.otype == dns.edns.NSID]
    assert len(found) < 2
    return found[0].decode() if found else None


def chaos(lab, name, tcp=False, where=V4):
    """The text of an answer of class CH; None: REFUSED."""
    answer = (lab.tcp if tcp else lab.udp)(dns.message.make_query(name, "TXT", "CH"), where)
    if answer.rcode() == dns.rcode.REFUSED:
        return None
    return texts(answer)[0].strip('"')


def check(lab, daemon, want):
    """Every way returns each of WANT's values, and no other ones. The first query is a hit of the
    driver."""
    with Answered(daemon) as asked:
        for where in (V4, V6):
            for options in ((), (COOKIE,)):
                answer = lab.udp(nsid_query("www.example.com", *options), where)
                assert nsid_of(answer) == want.get("nsid")
                assert texts(answer) == ["192.0.2.80", "192.0.2.81"]
    assert asked.by == {"driver": 4}
    with Answered(daemon) as asked:
        assert nsid_of(lab.udp(nsid_query("refused.test"))) == want.get("nsid")
    assert asked.by == {"worker": 1}
    assert nsid_of(lab.tcp(nsid_query())) == want.get("nsid")
    for key, names in NAMES.items():
        for name, tcp, where in itertools.product(names, (False, True), (V4, V6)):
            assert chaos(lab, name, tcp, where) == want.get(key)


def warm(lab):
    """Puts the answer into the cache before NSID is asked for."""
    for _ in range(2):
        lab.ask()


def configure(daemon, said):
    daemon.configure(server=said)
    return daemon


def test_a_reload_changes_what_is_said(lab, daemon):
    """
    It comes, changes, loses parts and goes. The cached answer stays, and the driver gives it each
    time.
    """
    configure(daemon, {}).start()
    warm(lab)
    check(lab, daemon, {})
    for said in (ONE, TWO, {"nsid": "one"}, {"identity": "alone"}, ONE, {}):
        configure(daemon, said)
        assert "warnings" not in daemon.json("zone", "reload") and not daemon.degraded()
        check(lab, daemon, said)


def test_by_a_signal_and_by_apply(lab, daemon, tmp_path):
    configure(daemon, ONE).start()
    warm(lab)
    check(lab, daemon, ONE)
    configure(daemon, TWO).signal(signal.SIGHUP)
    wait_for("another name", lambda: chaos(lab, "id.server") == TWO["identity"])
    wait_for("it is over", lambda: "reload" in daemon.log())
    check(lab, daemon, TWO)
    other = json.loads(daemon.path.read_text())
    other["server"].update(ONE)
    path = tmp_path / "other.yaml"
    path.write_text(json.dumps(other))
    told = daemon.json("config", "diff", path)["changes"]
    assert {(one["key"], one["becomes"], one["needs_start"]) for one in told} == \
        {(f"server.{key}", value, False) for key, value in ONE.items()}
    daemon.ctl("config", "apply", path)
    check(lab, daemon, ONE)
    shown = daemon.json("config", "show")
    assert not shown["warnings"] and {key: shown["config"]["server"][key] for key in ONE} == ONE


def test_a_reload_that_fails_changes_nothing(lab, daemon):
    configure(daemon, ONE).start()
    warm(lab)
    daemon.configure(server=TWO, recursion={"allow": ["192.0.2.0/24"], "root-hints": "nowhere"})
    refused = daemon.ctl("zone", "reload", check=False)
    assert refused.returncode == 1 and "nowhere: No such file" in refused.stderr
    check(lab, daemon, ONE)


def test_caches_that_come_later_say_it_too(lab, daemon):
    """A resize and a restart that adopts the cache."""
    configure(daemon, ONE).start()
    warm(lab)
    configure(daemon, TWO).ctl("zone", "reload")
    daemon.ctl("cache", "resize", "32M")
    check(lab, daemon, TWO)
    configure(daemon, ONE)
    assert daemon.stop("--keep") == 0
    daemon.start()
    warm(lab)
    check(lab, daemon, ONE)


class Client(threading.Thread):
    """
    Asks one question by one way all the time. Each answer says what was there or what is new, and
    none is lost.
    """

    def __init__(self, ask, allowed):
        super().__init__()
        self.ask, self.allowed = ask, allowed
        self.said, self.stops, self.error = [], False, None
        self.goes_on, self.rests = threading.Event(), threading.Event()
        self.goes_on.set()

    def run(self):
        try:
            while not self.stops:
                if not self.goes_on.is_set():
                    self.rests.set()
                    self.goes_on.wait()
                said = self.ask()
                assert said in self.allowed, said
                self.said.append(said)
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.error = error

    @contextlib.contextmanager
    def quiet(self):
        """No question is on its way over a `with`."""
        self.rests.clear()
        self.goes_on.clear()
        try:
            wait_for("it rests", lambda: self.rests.is_set() or self.error)
            yield
        finally:
            self.goes_on.set()

    def wait_more(self, n=5):
        until = len(self.said) + n
        wait_for("more answers", lambda: self.error or len(self.said) >= until)
        assert not self.error, self.error


def both(answer):
    """NSID and the text: of one reply."""
    return nsid_of(answer), texts(answer)[0].strip('"')


@pytest.fixture(name="clients")
def make_clients():
    made = []

    def make(ask, allowed):
        made.append(Client(ask, allowed))
        made[-1].start()
        return made[-1]
    yield make
    for one in made:
        one.stops = True
    for one in made:
        one.join()


def test_load_while_it_changes(lab, daemon, clients):
    """A reply never mixes two configurations; behind the reload's end none says what was before."""
    configure(daemon, ONE).start()
    warm(lab)
    query = dns.message.make_query("id.server", "TXT", "CH", use_edns=0,
                                   options=[dns.edns.GenericOption(dns.edns.NSID, b"")])
    nsids, pairs = [[said["nsid"] for said in (ONE, TWO)],
                    [(said["nsid"], said["identity"]) for said in (ONE, TWO)]]
    by = {"driver": clients(lambda: nsid_of(lab.udp(nsid_query())), nsids),
          "worker": clients(lambda: both(lab.udp(query)), pairs),
          "tcp": clients(lambda: both(lab.tcp(query)), pairs)}
    for said in (TWO, ONE) * 4:
        for client in by.values():
            client.wait_more()
        configure(daemon, said).ctl("zone", "reload")
        ends = {name: len(client.said) for name, client in by.items()}
        for name, client in by.items():
            client.wait_more()
            late = client.said[ends[name] + 1:]  # one answer may have been on its way
            assert set(late) == {said["nsid"] if name == "driver"
                                 else (said["nsid"], said["identity"])}, name
