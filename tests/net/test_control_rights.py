# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rights of other users at the control socket: which commands run for them, and that volleyd
reads, writes and runs nothing for them that they could not themselves."""
import json
import os
import socket

import pytest

from netlab import BIN, V4, open_to_all, run, wait_for, write_zone, zone

NOBODY = 65534
AS_NOBODY = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
AS_GROUP = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--groups", "4711"]


@pytest.fixture
def shared(daemon, tmp_path):
    """volleyd's folder, which all may enter, and a folder of user 65534."""
    open_to_all(daemon.folder, 0o755)
    own = tmp_path / "own"
    own.mkdir()
    os.chown(own, NOBODY, NOBODY)
    open_to_all(tmp_path, 0o755)
    return own


def start(daemon, sections=None, **control):
    daemon.start(interfaces=None, control={"mode": "0666", **control}, **(sections or {}))


def ctl(daemon, *words, who=AS_NOBODY):
    """As another user."""
    return run(*who, BIN / "volleyctl", "-s", daemon.socket, *words, check=False)


def ask(daemon, command, *args):
    """The reply to a request of another user that volleyctl would not send."""
    text = json.dumps({"v": 1, "command": command, "args": [str(arg) for arg in args]})
    with socket.socket(socket.AF_UNIX) as asker:
        groups = os.getgroups()
        os.setgroups([])
        os.setegid(NOBODY)
        os.seteuid(NOBODY)  # the kernel notes these at connect()
        try:
            asker.connect(str(daemon.socket))
        finally:
            os.seteuid(0)
            os.setegid(0)
            os.setgroups(groups)
        asker.sendall(text.encode() + b"\n")
        return json.loads(asker.makefile().readline())


READS = ["status", "stats", "zone list", "zone status", "cache stats", "cache lookup a.test",
         "cache top", "top --once", "names", "rrl status", "rrl top", "policy list",
         "resolver lookup a.test", "block list", "cookies", "port status"]
CHANGES = ["zone reload", "zone flush", "cache flush --all", "cache resize 32M", "cookies rotate",
           "block add 192.0.2.1", "block remove 192.0.2.1", "drain on", "drain off",
           "log level info", "config show", "capture -n 1 -t 1 -w {own}/capture.pcap",
           "cache dump {own}/dump"]
OWNS = ["config diff {own}/new.yaml", "config apply {own}/new.yaml"]


@pytest.mark.parametrize("control, who, runs", [
    pytest.param({}, AS_NOBODY, [*READS, "health"], id="no keys"),
    pytest.param({"read": ["root"]}, AS_NOBODY, ["health"], id="not a reader"),
    pytest.param({"read": ["root", "65534"]}, AS_NOBODY, [*READS, "health"], id="a reader"),
    pytest.param({"read": ["root"], "change": ["group:4711"]}, AS_GROUP,
                 [*READS, *CHANGES, "health"], id="changes by group"),
    pytest.param({"read": ["root"], "change": ["group:4711"]}, AS_NOBODY, ["health"],
                 id="not in the group"),
])
def test_commands(daemon, shared, control, who, runs):
    (shared / "new.yaml").write_text("server: {listen: [127.0.0.1]}\n", encoding="utf-8")
    start(daemon, **control)
    for command in [*READS, *CHANGES, *OWNS, "health"]:
        said = ctl(daemon, *command.format(own=shared).split(), who=who)
        refused = "needs the right to" in said.stderr or "only root and the user of" in said.stderr
        assert refused == (command not in runs), f"{command}: {said.stdout}{said.stderr}"
        assert said.returncode == (1 if refused else 0), f"{command}: {said.stdout}{said.stderr}"


def test_rights_change_with_a_reload(daemon, shared):
    start(daemon)
    assert ctl(daemon, "drain", "on").returncode == 1
    daemon.configure(interfaces=None, control={"mode": "0666", "change": ["65534"]})
    daemon.ctl("zone", "reload")
    assert ctl(daemon, "drain", "off").returncode == 0
    daemon.configure(interfaces=None, control={"mode": "0666", "change": ["no-such-user"]})
    daemon.ctl("zone", "reload")
    assert ctl(daemon, "drain", "off").returncode == 1
    assert "control.change: no-such-user" in daemon.degraded()


def test_no_file_by_its_name(daemon, shared):
    """A request with the name of a file, and without its descriptor, opens nothing."""
    start(daemon, change=[str(NOBODY)])
    for command, name in [("cache dump", shared / "dump"), ("cache load", daemon.path),
                          ("config diff", daemon.path), ("config apply", daemon.path)]:
        reply = ask(daemon, command, name)
        assert not reply["ok"], (command, reply)
        assert str(name) not in reply["error"], (command, reply)
    assert not (shared / "dump").exists()


def test_files_are_of_the_client(daemon, shared):
    """A dump belongs to the user that asked for it, and is made only where he may write."""
    start(daemon, change=[str(NOBODY)])
    assert ctl(daemon, "cache", "dump", shared / "dump").returncode == 0
    made = os.stat(shared / "dump")
    assert (made.st_uid, made.st_mode & 0o777) == (NOBODY, 0o600) and made.st_size
    assert os.listdir(shared) == ["dump"]
    said = ctl(daemon, "cache", "dump", daemon.folder / "dump")
    assert said.returncode == 1 and "Permission denied" in said.stderr
    said = ctl(daemon, "cache", "load", shared / "dump")
    assert said.returncode == 1 and "must belong to the user of volleyd" in said.stderr
    daemon.ctl("cache", "dump", daemon.folder / "dump")
    said = ctl(daemon, "cache", "load", daemon.folder / "dump")
    assert said.returncode == 1 and "Permission denied" in said.stderr
    daemon.ctl("cache", "load", daemon.folder / "dump")


def test_errors_have_no_words_of_files(daemon, shared):
    """
    The file of a zone is a link, which user 65534 has made, to a file that he cannot read.
    """
    secret = daemon.folder / "secret"
    secret.write_text("root hush-hush words\n$TTL hush-hush\n", encoding="utf-8")
    os.chmod(secret, 0o600)
    (shared / "a.zone").symlink_to(secret)
    daemon.start(interfaces=None, control={"mode": "0666", "change": [str(NOBODY)]},
                 zones=[zone("example.com"), {"name": "a.test", "file": str(shared / "a.zone")}])
    for words in (["zone", "status"], ["zone", "list"], ["status"], ["health"],
                  ["zone", "reload", "a.test"], ["zone", "reload"]):
        said = ctl(daemon, *words)
        assert "a.zone:" in said.stdout + said.stderr, words
        assert "hush" not in said.stdout + said.stderr, words
    assert "hush" in daemon.ctl("zone", "status").stdout
    wait_for("the log has the words", lambda: "hush" in daemon.log())


def test_a_reload_does_not_quote_the_configuration(daemon, shared):
    start(daemon, change=[str(NOBODY)])
    daemon.path.write_text(daemon.path.read_text(encoding="utf-8").replace(
        '"workers": 2', '"workers": "hush-hush"'), encoding="utf-8")
    said = ctl(daemon, "zone", "reload")
    assert said.returncode == 1 and "the configuration is not accepted" in said.stderr
    assert "hush" not in said.stderr
    wait_for("the log has the words", lambda: "hush" in daemon.log())
    assert "hush" in daemon.ctl("zone", "reload", check=False).stderr


def test_health_has_no_line_in_the_log(daemon, shared):
    start(daemon)
    for _ in range(3):
        assert ctl(daemon, "health").returncode == 0
    ctl(daemon, "stop")
    ctl(daemon, "zone", "list")
    wait_for("the log has the last command", lambda: "zone list" in daemon.log())
    assert "command=health" not in daemon.log()
    assert 'command-refused command=stop result=EACCES uid=65534' in daemon.log()


def test_a_file_that_volleyd_cannot_find(daemon, tmp_path):
    """
    The unit hides folders from volleyd. Here volleyd's mount namespace has an empty folder there.
    """
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    new = hidden / "new.yaml"
    daemon.configure(interfaces=None)
    new.write_text(daemon.path.read_text(encoding="utf-8"), encoding="utf-8")
    daemon.spawn(before=["unshare", "--mount", "sh", "-c",
                         f'mount -t tmpfs none {hidden} && exec "$@"', "sh"])
    daemon.wait_ready()
    assert daemon.ctl("config", "diff", new).stdout == "no key would change\n"
    daemon.ctl("config", "apply", new)


def test_zones_of_listed_templates_only(daemon, shared):
    """A user of control.change adds and removes zones of the templates that are listed for it."""
    for name in ("a.test", "b.test", "c.test"):
        write_zone(shared / f"{name}.zone")
    start(daemon, change=["nobody"], **{"zones-add": ["hosted"]},
          sections={"server": {"storage": str(daemon.folder / "store"), "listen": [V4]},
                    "templates": [{"name": name, "file": str(shared / "%s.zone")}
                                  for name in ("default", "hosted")]})
    assert ctl(daemon, "zone", "add", "a.test", "--template", "hosted").returncode == 0
    daemon.ctl("zone", "add", "b.test")
    for words, sentence in (
            (["add", "c.test"], "control.zones-add does not name the template default"),
            (["add", "c.test", "--template", "hosted", "--file", shared / "c.test.zone"],
             "--file is for root and the user of volleyd"),
            (["remove", "b.test"], "control.zones-add does not name the template default")):
        said = ctl(daemon, "zone", *words)
        assert said.returncode == 1 and sentence in said.stderr, said.stderr
    assert ctl(daemon, "zone", "remove", "a.test").returncode == 0
    names = [z["name"] for z in daemon.json("zone", "list")["zones"]]
    assert "b.test." in names and "a.test." not in names and "c.test." not in names
