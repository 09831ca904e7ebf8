# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration at run time: it is shown, compared with a file, replaced by it; secrets are
never shown."""
import json
import os
import re
import signal
import socket
import stat
import subprocess
import threading

import pytest

from netlab import BIN, ENV, V4, V6, remote, run, texts, tsig_key, write_zone, zone
from secondaries import certificate

COOKIES = "000102030405060708090a0b0c0d0e0f"


def with_secrets():
    key = tsig_key()
    return {"keys": [key], "remotes": [remote("hub", "192.0.2.9", key=key["name"])],
            "server": {"listen": [V4, V6], "workers": 2,
                       "cookies": {"secret": COOKIES}}}, [key["secret"], COOKIES]


def config_of(daemon):
    return json.loads(daemon.path.read_text("utf-8"))


def write(path, config):
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def changes(result):
    return {(c["key"], c["change"], c.get("was"), c.get("becomes"), c["needs_start"])
            for c in result["changes"]}


def test_show(lab, daemon):
    sections, _ = with_secrets()
    daemon.start(**sections)
    shown = daemon.json("config", "show")
    want = config_of(daemon)
    assert shown["file"] == str(daemon.path) and not shown["warnings"] and "origins" not in shown
    assert shown["config"]["zones"] == want["zones"]
    assert shown["config"]["server"]["listen"] == [V4, V6]
    assert shown["config"]["keys"][0] == {**want["keys"][0], "secret": "(secret)"}
    text = daemon.ctl("config", "show").stdout
    assert text.startswith(f"# {daemon.path}\n") and "\n    secret: (secret)\n" in text
    assert "# default" not in text
    full = daemon.json("config", "show", "--effective")
    assert full["config"]["server"]["any"] == "minimal"
    assert full["origins"]["server.any"] == "default"
    assert full["config"]["zones"][1]["ixfr"] == "true" and "zones[1].file" not in full["origins"]
    assert "\n  any: minimal # default\n" in daemon.ctl("config", "show", "--effective").stdout
    assert daemon.ctl("config", "show", "--all", check=False).returncode == 2


def test_what_is_shown_is_what_was_read(lab, daemon):
    """Not the present file. Settings that need a restart are named; and the output is a
    configuration."""
    daemon.start()
    text = daemon.ctl("config", "show").stdout
    daemon.configure(server={"workers": 3})
    assert daemon.ctl("config", "show").stdout == text
    daemon.ctl("zone", "reload")
    told = daemon.ctl("config", "show").stdout
    assert "# server.workers: changed: restart volleyd to use the new value\n" in told
    assert "\n  workers: 3\n" in told
    daemon.path.write_text(text, encoding="utf-8")
    daemon.ctl("zone", "reload")
    assert daemon.ctl("config", "show").stdout == text and not daemon.degraded()


def test_secrets_are_never_shown(lab, daemon, tmp_path):
    sections, secrets = with_secrets()
    daemon.start(**sections)
    other = config_of(daemon)
    other["keys"][0]["secret"] = tsig_key(secret=b"another secret for tests that nobody knows")[
        "secret"]
    other["server"]["cookies"]["secret"] = COOKIES[::-1]
    secrets += [other["keys"][0]["secret"], COOKIES[::-1]]
    path = write(tmp_path / "other.yaml", other)
    said = ""
    for words in (["config", "show"], ["config", "show", "--effective"], ["config", "diff", path],
                  ["config", "apply", path], ["config", "show"], ["config", "show", "--effective"]):
        said += daemon.ctl(*words).stdout + daemon.ctl("--json", *words).stdout
    for broken in secrets[2:]:
        text = json.dumps(other).replace(broken, broken[1:])
        path.write_text(text, encoding="utf-8")
        told = daemon.ctl("config", "diff", path, check=False)
        assert told.returncode != 0
        said += told.stderr + daemon.ctl("config", "apply", path, check=False).stderr
        secrets.append(broken[1:])
    said += daemon.log()
    assert "(secret)" in said
    for secret in secrets:
        assert secret not in said


def test_diff(lab, daemon, tmp_path):
    daemon.start()
    before = daemon.path.read_bytes()
    path = write(tmp_path / "other.yaml", config_of(daemon))
    assert daemon.json("config", "diff", path)["changes"] == []
    assert daemon.ctl("config", "diff", path).stdout == "no key would change\n"
    other = config_of(daemon)
    other["server"].update({"listen": [V4, V6, "127.0.0.1@5301"], "any": "full"})
    other["zones"] = [zone("example.com"), zone("new.test", tmp_path / "none")]
    write(path, other)
    result = daemon.json("config", "diff", path)
    assert changes(result) == {
        ("server.listen", "added", None, "127.0.0.1@5301", False),
                               ("server.any", "changed", "minimal", "full", True),
        ("zones[example.net.]", "removed", None, None, False),
                               ("zones[new.test.]", "added", None, None, False)}
    assert (result["warnings"] ==
            [f"zone new.test.: {tmp_path}/none: cannot read the file: No such file or directory"])
    assert "zones[new.test.]" in daemon.ctl("config", "diff", path).stdout
    assert daemon.path.read_bytes() == before and len(daemon.json("zone", "list")["zones"]) == 2


def test_a_broken_file_is_refused_by_diff_and_apply(lab, daemon, tmp_path):
    daemon.start()
    before, names = daemon.path.read_bytes(), sorted(os.listdir(daemon.folder))
    path = tmp_path / "other.yaml"
    for text, says in (("server:\n  listn: [192.0.2.53]\n", f"{path}:2: server.listn: unknown key"),
                       (json.dumps({**config_of(daemon), "recursion": {"allow": ["any"]}}),
                        "recursion.allow[0]"),
                       (json.dumps({**config_of(daemon),
                                    "recursion": {"allow": ["192.0.2.0/24"],
                                                  "root-hints": "/nothing"}}),
                        "root-hints: /nothing: No such file"),
                       (json.dumps({**config_of(daemon), "remotes": [remote("hub", "192.0.2.9")],
                                    "zones": [{"name": "kept.test", "primaries": ["hub"]}]}),
                        "needs server.storage")):
        path.write_text(text, encoding="utf-8")
        for command in ("diff", "apply"):
            told = daemon.ctl("config", command, path, check=False)
            assert told.returncode in (1,
                                       2) and says in told.stderr and f"config {command}: " in told.stderr, told.stderr
    assert daemon.ctl("config", "apply", tmp_path / "nothing", check=False).returncode == 1
    assert daemon.path.read_bytes() == before and sorted(os.listdir(daemon.folder)) == names
    assert len(daemon.json("zone", "list")["zones"]) == 2 and texts(lab.ask())


def test_apply(lab, daemon, tmp_path):
    daemon.start()
    os.chmod(daemon.path, 0o640)
    other = config_of(daemon)
    other["zones"].append(zone("new.test", write_zone(daemon.folder / "new.zone")))
    # relative to the configuration, not to the file that is applied
    other["zones"][-1]["file"] = "new.zone"
    path = write(tmp_path / "other.yaml", other)
    names = sorted(os.listdir(daemon.folder))
    result = daemon.json("config", "apply", path)
    assert changes(result) == {("zones[new.test.]", "added", None, None, False)}
    assert daemon.path.read_bytes() == path.read_bytes()
    assert stat.S_IMODE(daemon.path.stat().st_mode) == 0o640
    assert sorted(os.listdir(daemon.folder)) == names
    daemon.ctl("zone", "reload")  # of the file that is there now
    assert texts(lab.ask("www.new.test")) == ["192.0.2.10"]
    assert daemon.ctl("config", "diff", path).stdout == "no key would change\n"
    daemon.stop()
    daemon.start()
    assert texts(lab.ask("www.new.test")) == ["192.0.2.10"]


BROKEN = {
    "a zone": ({"zones": [zone("example.com"), {"name": "z.test", "file": "{folder}/bad"}]},
               "zone z.test.: {folder}/bad:1: 'is' is not a record type"),
    "a list": ({"recursion": {"allow": ["127.0.0.1/32"], "forward": ["127.0.0.9@9"],
                              "query-localhost": True,
                              "rpz": [{"name": "r.test", "file": "{folder}/bad"}]}},
               "{folder}/bad:1: 'is' is not a record type"),
    "the query log": ({"query-log": {"file": "{own}"}}, "query-log: {own}: Is a directory"),
    "dnstap": ({"dnstap": {"file": "{own}"}}, "dnstap: {own}: Is a directory"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_part_that_fails_is_told(lab, daemon, tmp_path, name):
    """config apply, a later one without a change, and zone reload: all else is in force."""
    own = daemon.folder / "own"  # beside the control socket, so volleyd may write there
    own.mkdir()
    sections, sentence = json.loads(json.dumps(BROKEN[name]).replace(
        "{folder}", str(tmp_path)).replace("{own}", str(own)))
    (tmp_path / "bad").write_text("this is no zone\n", encoding="ascii")
    daemon.start(interfaces=None)
    before = daemon.path.read_text(encoding="utf-8")
    daemon.configure(interfaces=None, log={"level": "notice"}, **sections)
    new = write(tmp_path / "new.yaml", json.loads(daemon.path.read_text(encoding="utf-8")))
    after = new.read_text(encoding="utf-8")
    daemon.path.write_text(before, encoding="utf-8")
    for _ in range(2):
        told = daemon.ctl("config", "apply", new, check=False)
        assert told.returncode == 1 and sentence in told.stdout, told.stdout
        assert "the new configuration is in force" in told.stderr
        assert daemon.path.read_text(encoding="utf-8") == after
    told = daemon.ctl("config", "apply", new, "--json", check=False)
    assert told.returncode == 1 and not told.stderr
    assert sentence in "".join(json.loads(told.stdout)["failed"])
    told = daemon.ctl("zone", "reload", check=False)
    assert told.returncode == 1 and "all but this is in force: " in told.stderr
    assert sentence in told.stderr
    assert daemon.json("log", "level")["level"] == "notice"
    daemon.ctl("config", "apply", write(new, json.loads(before)))


class Scripted(threading.Thread):
    """
    In the place of volleyd: accepts what config diff asks, and says to config apply what it is told
    to. The text comes as a descriptor; its copy is already beside the configuration.
    """

    def __init__(self, path, file, reply):
        super().__init__(daemon=True)
        self.file, self.reply, self.staged = file, reply, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()

    def answer(self, request, descriptors):
        reply = {"ok": True, "result": {"file": str(self.file), "changes": [], "warnings": []}}
        if request["args"] == ["--await"]:
            return {"ok": True, "result": {"failed": ["this one"]}}
        with open(descriptors[0], "rb") as text:
            text.seek(0)
            assert text.read() == b"behind\n"
        if request["command"] == "config apply":
            self.staged = [path.read_text("ascii") for path in self.file.parent.iterdir()]
            reply.update(self.reply)
        return reply

    def run(self):
        for _ in range(3 if self.reply.get("ok", True) else 2):
            connection = self.listener.accept()[0]
            with connection:
                line, descriptors = b"", []
                while not line.endswith(b"\n"):
                    octets, more, _, _ = socket.recv_fds(connection, 65536, 1)
                    line, descriptors = line + octets, descriptors + more
                reply = self.answer(json.loads(line), descriptors)
                connection.sendall(json.dumps(reply).encode() + b"\n")
        self.listener.close()


@pytest.mark.parametrize("reply, status, holds", [
    ({"ok": False, "error": "no memory", "code": "ENOMEM"}, 1, "before\n"), ({}, 1, "behind\n")],
                         ids=["refused", "accepted"])
def test_the_file_is_replaced_when_the_reload_is_accepted(tmp_path, reply, status, holds):
    folder = tmp_path / "etc"
    folder.mkdir()
    file, new = folder / "volley.yaml", tmp_path / "new.yaml"
    file.write_text("before\n", encoding="ascii")
    new.write_text("behind\n", encoding="ascii")
    scripted = Scripted(tmp_path / "socket", file, reply)
    scripted.start()
    told = run(BIN / "volleyctl", "-s", tmp_path / "socket", "config", "apply", new, check=False)
    scripted.join(30)
    assert told.returncode == status, told.stderr
    assert ("no memory" in told.stderr) == (not reply.get("ok", True)), told.stderr
    assert ("this one" in told.stdout) == reply.get("ok", True), told.stdout
    assert file.read_text("ascii") == holds and list(folder.iterdir()) == [file]
    assert sorted(scripted.staged) == ["before\n", "behind\n"]


class Slow(threading.Thread):
    """
    In the place of volleyd: says nothing to config apply before go is set. Any number of clients.
    """

    def __init__(self, path, file):
        super().__init__(daemon=True)
        self.path, self.file, self.go, self.asked, self.applied = path, file, threading.Event(), threading.Event(), 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()

    def serve(self, connection):
        with connection, connection.makefile("rb") as requests:
            request = json.loads(requests.readline())
            if request["command"] == "config apply":
                self.applied += 1
                self.asked.set()
                self.go.wait(30)
            reply = {"ok": True, "result": {"file": str(self.file), "changes": [], "warnings": []}}
            connection.sendall(json.dumps(reply).encode() + b"\n")

    def run(self):
        while True:
            threading.Thread(target=self.serve, args=[self.listener.accept()[0]],
                             daemon=True).start()


@pytest.fixture(name="slow")
def make_slow(tmp_path):
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "volley.yaml").write_text("before\n", encoding="ascii")
    (tmp_path / "new.yaml").write_text("behind\n", encoding="ascii")
    one = Slow(tmp_path / "socket", folder / "volley.yaml")
    one.start()
    return one


def apply_beside(slow, name="new.yaml"):
    return subprocess.Popen([BIN / "volleyctl", "-s", slow.path, "config", "apply",
                             slow.path.parent / name], env=ENV,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_two_that_apply_at_once(slow, tmp_path):
    """Else the file could be that of the one, and the configuration that of the other."""
    (tmp_path / "other.yaml").write_text("other\n", encoding="ascii")
    with apply_beside(slow) as first:
        assert slow.asked.wait(30)
        with apply_beside(slow, "other.yaml") as second:
            said = second.communicate(timeout=30)[1]
            assert second.returncode == 1 and b"another config apply" in said
        assert list(slow.file.parent.glob("*.new.*")) and slow.applied == 1
        slow.go.set()
        first.communicate(timeout=30)
        assert first.returncode == 0
    assert slow.file.read_text("ascii") == "behind\n"
    assert list(slow.file.parent.iterdir()) == [slow.file]
    with apply_beside(slow, "other.yaml") as third:
        third.communicate(timeout=30)
    assert slow.file.read_text("ascii") == "other\n"


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_volleyd_reads_the_new_file(slow, number):
    """What volleyd has accepted by then is in the file, and no copy with secrets is left behind."""
    with apply_beside(slow) as process:
        assert slow.asked.wait(30)
        process.send_signal(getattr(signal, number))
        slow.go.set()
        process.communicate(timeout=30)
    assert slow.file.read_text("ascii") == "behind\n"
    assert list(slow.file.parent.iterdir()) == [slow.file]


def test_apply_behind_a_symbolic_link(lab, daemon, tmp_path):
    """The file is replaced, the link to it stays."""
    daemon.configure()
    real = daemon.folder / "real.yaml"
    daemon.path.rename(real)
    daemon.path.symlink_to("real.yaml")
    daemon.start()
    other = {**config_of(daemon), "log": {"level": "notice"}}
    daemon.ctl("config", "apply", write(tmp_path / "other.yaml", other))
    assert daemon.path.is_symlink() and json.loads(real.read_text("utf-8")) == other


def test_include(lab, daemon, tmp_path):
    """Checked, started, reloaded, shown and compared as one configuration; a fault is reported with
    its file."""
    parts = daemon.folder / "conf.d"
    parts.mkdir()
    daemon.configure(include="conf.d/*.yaml")
    one = write(parts / "1.yaml", {"zones": [zone("one.test", write_zone(tmp_path / "one.zone"))]})
    assert daemon.run_failing("--check")[0] == 0
    daemon.start()
    assert texts(lab.ask("www.one.test")) == ["192.0.2.10"]
    two = write(parts / "2.yaml", {"zones": [zone("two.test", write_zone(tmp_path / "two.zone"))]})
    assert (changes(daemon.json("config", "diff", daemon.path)) ==
            {("zones[two.test.]", "added", None, None, False)})
    daemon.ctl("zone", "reload")
    assert texts(lab.ask("www.two.test")) == ["192.0.2.10"]
    shown = daemon.json("config", "show")["config"]
    assert ([z["name"] for z in shown["zones"]] ==
            ["example.com", "example.net", "one.test", "two.test"] and "include" not in shown)
    two.write_text("zones:\n- name: two.test\n  file: x\n  ixfr: 7\n", encoding="ascii")
    says = f'{two}:4: zones[3].ixfr: "7" is not accepted'
    told = daemon.ctl("zone", "reload", check=False)
    assert told.returncode == 1 and says in told.stderr and texts(lab.ask("www.two.test"))
    two.write_text("\ncache:\n  size: 17M\n", encoding="ascii")
    says_twice = f"{two}:3: cache.size: is given twice, first in {daemon.path}:"
    assert says_twice in daemon.ctl("config", "diff", daemon.path, check=False).stderr
    two.unlink()
    # From elsewhere it includes what is beside the configuration, and only the first file is
    # replaced.
    before = one.read_bytes()
    other = write(tmp_path / "other.yaml", {**config_of(daemon), "log": {"level": "notice"}})
    assert changes(daemon.json("config", "apply", other)) == {
        ("log.level", "changed", "info", "notice", False), ("zones[two.test.]", "removed", None,
                                                            None, False)}
    assert one.read_bytes() == before and config_of(daemon)["include"] == "conf.d/*.yaml"
    two.write_text("nonsense: 1\n", encoding="ascii")
    process, daemon.process = daemon.process, None
    status, said = daemon.run_failing("--check")
    daemon.process = process
    assert status == 2 and f"{two}:1: nonsense: unknown key" in said


def test_check_tells_of_secrets_that_everyone_can_read(lab, daemon):
    """
    Of the configuration, of each included file by itself, and of the key of TLS; where there is
    none, the mode does not matter.
    """
    sections, secrets = with_secrets()
    keys = sections.pop("keys")
    (daemon.folder / "conf.d").mkdir()
    part = write(daemon.folder / "conf.d/keys.yaml", {"keys": keys})
    certificate(daemon.folder)
    sections["server"]["tls"] = {"certificate": "tls.crt", "key": "tls.key"}
    tls_key = daemon.folder / "tls.key"

    def warnings(*modes, strict):
        for path, mode in zip((daemon.path, part, tls_key), modes):
            path.chmod(mode)
        status, said = daemon.run_failing("--check", *["--strict"] * strict)
        assert not any(secret in said
                       for secret in secrets) and (status == 1) == (strict
                                                                    and "warning" in said), said
        return re.findall(r"warning: (.*)", said)

    def of(path):
        return f"{path} has secrets, and everyone can read or write it: chmod o-rw it, and make new secrets"

    daemon.configure(include="conf.d/*", **sections)
    for strict in (False, True):
        assert warnings(0o640, 0o640, 0o640, strict=strict) == []
        assert warnings(0o644, 0o600, 0o600, strict=strict) == [of(daemon.path)]
        assert warnings(0o600, 0o644, 0o600, strict=strict) == [of(part)]
        assert (warnings(0o600, 0o600, 0o644, strict=strict) ==
                [f"server.tls.key: everyone can read {tls_key}: chmod o-r it"])
    daemon.configure()
    assert warnings(0o644, 0o644, 0o644, strict=True) == []


def test_check_loads_all_zones(lab, daemon, tmp_path):
    good = [zone(f"z{i}.test", write_zone(tmp_path / f"{i}.zone")) for i in range(40)]
    daemon.configure(server={"storage": "state"}, remotes=[remote("hub", "192.0.2.9")],
                     zones=good + [{"name": "late.test", "primaries": ["hub"]}])
    status, said = daemon.run_failing("--check", "--zones", "--strict")
    assert status == 0 and "the configuration is right" in said and not (
        daemon.folder / "state").exists(), said
    bad = write_zone(tmp_path / "bad.zone", more="a A 192.0.2\nb AAAA 192.0.2.1\n")
    daemon.configure(zones=good +
                     [zone("bad.test", bad), zone("none.test", tmp_path / "none.zone"),
                      *good_as(good, "other")])
    assert daemon.run_failing("--check")[0] == 0
    status, said = daemon.run_failing("--check", "--zones")
    errors = re.findall(r"error: (.*)", said)
    lines = len(bad.read_text("ascii").splitlines())
    assert status == 1 and len(errors) == 4 and errors[-1] == "2 of 82 zone files are refused", said
    assert sum(f"zone bad.test.: {bad}:{lines - back}: " in said for back in (0, 1)) == 2
    assert f"zone none.test.: {tmp_path}/none.zone: " in said
    assert daemon.run_failing("--zones")[0] == 2


def good_as(zones, word):
    return [{**one, "name": f"{word}-{one['name']}"} for one in zones]
