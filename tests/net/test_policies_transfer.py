# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists that are zones of ours: from a primary, with TSIG and NOTIFY; edited; over restarts; while
the zone is not served."""
import contextlib
import signal

import pytest

from catalogpeers import CATALOG, member, write_catalog
from netlab import CLIENT4, V4, remote, tsig_key, wait_for, zone
from policypeers import upstream_of, verdict
from secondaries import Peer, named_head
from test_recursion import hits, recursion, start

LIST = "rpz.example"
HEAD = "$TTL 60\n@ SOA localhost. root. {} 3600 600 86400 30\n@ NS localhost.\n"
NXDOMAIN, FINE = ("NXDOMAIN",), ("NOERROR", "192.0.2.10")
KEY = tsig_key()


@pytest.fixture(name="upstream")
def make_upstream(lab, tmp_path):
    with upstream_of(lab, tmp_path / "upstream",
                     "*.far A 192.0.2.10\nto.far CNAME bad.far\n") as netns:
        yield netns


class Primary(Peer):
    """A named with the list, on the client's side."""

    def __init__(self, lab, folder):
        folder.mkdir()
        self.write(folder, 1, "bad.far CNAME .")
        (folder / "conf").write_text(
            named_head(folder, KEY, f'notify explicit; also-notify {{ {V4}; }}; notify-delay 0; '
                       f'allow-transfer {{ key "{KEY["name"]}"; }};') +
            f'zone "{LIST}" {{ type primary; file "list"; ixfr-from-differences yes; }};\n',
                                     encoding="ascii")
        super().__init__(lab, folder, ["named", "-f", "-n", "1", "-c", folder / "conf"])

    @staticmethod
    def write(folder, serial, *rules):
        (folder / "list").write_text(HEAD.format(serial) + "".join(f"{rule}\n" for rule in rules),
                                     encoding="ascii")

    def change(self, serial, *rules):
        self.write(self.folder, serial, *rules)
        self.process.send_signal(signal.SIGHUP)


def begin(daemon, **more):
    start(daemon, server={"storage": str(daemon.folder / "state")}, keys=[KEY],
          remotes=[remote("main", CLIENT4, key=KEY["name"])],
          zones=[zone("example.com"), zone(LIST, primaries=["main"], allow_notify=[CLIENT4])],
          recursion=recursion(rpz=[{"zone": LIST}]), **more)


def told(daemon):
    return daemon.json("policy", "list")["policies"][0]


def is_stored(daemon, text):
    """In the list's file. One that is being written still has another name."""
    return any(text in path.read_text(encoding="utf-8", errors="replace")
               for path in (daemon.folder / "state").glob(f"zones/*{LIST}*.zone"))


@contextlib.contextmanager
def primary_of(lab, folder):
    with Primary(lab, folder) as primary:
        wait_for("named answers", lambda: primary.ask(LIST, "SOA"))
        yield primary


def test_a_list_from_a_primary(lab, daemon, tmp_path, upstream):
    """
    Its changes are in force when NOTIFY has brought them, what is cached follows, and the last
    version outlives the primary.
    """
    assert upstream
    with primary_of(lab, tmp_path / "primary") as primary:
        begin(daemon)
        wait_for("the list is in force", lambda: verdict(lab, "bad.far") == NXDOMAIN)
        assert told(daemon)["state"] == "serving" and told(daemon)["rules"] == 1
        assert told(daemon)["zone"]
        assert verdict(lab, "to.far") == NXDOMAIN and verdict(lab, "other.far") == FINE
        assert hits(daemon, lambda: verdict(lab, "bad.far")) == 1
        primary.change(2, "other.far CNAME .",
                       f"32.{'.'.join(reversed(CLIENT4.split('.')))}.rpz-client-ip CNAME *.")
        wait_for("the change is in force", lambda: verdict(lab, "bad.far") == ("NOERROR",))
        primary.change(3, "other.far CNAME .")
        wait_for("and the next one", lambda: verdict(lab, "bad.far") == FINE)
        assert verdict(lab, "other.far") == NXDOMAIN and verdict(lab, "to.far") == FINE
        assert told(daemon)["rules"] == 1
        wait_for("it is stored", lambda: is_stored(daemon, "other.far"))
    daemon.kill()
    daemon.start()
    assert verdict(lab, "other.far") == NXDOMAIN, "it is in force from the first answer on"
    daemon.ctl("zone", "reload")
    assert verdict(lab, "other.far") == NXDOMAIN and told(daemon)["state"] == "serving"


def test_a_reload_with_a_list_and_its_zone(lab, daemon, tmp_path, upstream):
    """The reload ends when the list is in force, though its zone was not served at the begin."""
    assert upstream
    path = tmp_path / "list.zone"
    path.write_text(HEAD.format(1) + "bad.far CNAME .\n", encoding="ascii")
    start(daemon, recursion=recursion())
    assert verdict(lab, "bad.far") == FINE
    daemon.configure(zones=[zone("example.com"), zone(LIST, path)],
                     recursion=recursion(rpz=[{"zone": LIST}]))
    daemon.ctl("zone", "reload")
    assert told(daemon)["state"] == "serving"
    assert verdict(lab, "bad.far") == NXDOMAIN


def test_a_list_that_no_primary_gives(lab, daemon, tmp_path, upstream):
    """
    Nothing is filtered, and status, health and the list of policies say so, until the zone is
    there.
    """
    assert upstream
    begin(daemon)
    assert verdict(lab, "bad.far") == FINE
    assert told(daemon)["state"] == "failed" and told(daemon)["error"] == "the zone is not served"
    assert f"policy {LIST}.: not in force: the zone is not served" in daemon.degraded()
    with primary_of(lab, tmp_path / "primary"):
        daemon.ctl("zone", "refresh", LIST)
        wait_for("the list is in force", lambda: verdict(lab, "bad.far") == NXDOMAIN)
    assert told(daemon)["state"] == "serving"


def test_a_list_of_a_catalog(lab, daemon, tmp_path, upstream):
    """It is obeyed when the catalog brings it. When the catalog takes it out, its last version
    stays in force, and that is told; when it is back, its content of then is."""
    assert upstream
    with primary_of(lab, tmp_path / "primary") as primary:
        catalog = write_catalog(tmp_path / "catalog.zone", 1)
        start(daemon, server={"storage": str(daemon.folder / "state")}, keys=[KEY],
              remotes=[remote("main", CLIENT4, key=KEY["name"])],
              templates=[{"name": "list", "primaries": ["main"], "allow-notify": [CLIENT4]}],
              zones=[zone("example.com"),
                     zone(CATALOG, catalog, catalog="consume", groups=[{"template": "list"}])],
              recursion=recursion(rpz=[{"zone": LIST}]))
        assert verdict(lab, "bad.far") == FINE and told(daemon)["state"] == "failed"
        write_catalog(catalog, 2, member("m1", LIST))
        daemon.ctl("zone", "reload", CATALOG)
        wait_for("the list is in force", lambda: verdict(lab, "bad.far") == NXDOMAIN)
        assert told(daemon)["state"] == "serving"
        primary.change(2, "other.far CNAME .")
        wait_for("the change is in force", lambda: verdict(lab, "other.far") == NXDOMAIN)
        write_catalog(catalog, 3)
        daemon.ctl("zone", "reload", CATALOG)
        wait_for("it is told", lambda: told(daemon)["state"] == "stale")
        assert told(daemon)["error"] == "the zone is not served" and LIST in daemon.degraded()
        assert verdict(lab, "other.far") == NXDOMAIN and verdict(lab, "bad.far") == FINE
        primary.change(3, "bad.far CNAME .")
        write_catalog(catalog, 4, member("m2", LIST))
        daemon.ctl("zone", "reload", CATALOG)
        wait_for("it is in force again", lambda: verdict(lab, "bad.far") == NXDOMAIN)
        assert told(daemon)["state"] == "serving" and verdict(lab, "other.far") == FINE
