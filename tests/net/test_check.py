# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
volleyd --check, a start and a reload read one configuration in the same way: each row is given to
all three.
"""
import dataclasses
import os
import re

import pytest
import yaml

from netlab import V4, wait_for, zone
from secondaries import certificate
from test_policies import HEAD

REFUSED, USAGE, DEGRADED, WELL = "refused", "usage", "degraded", "well"
STATUS = {REFUSED: 1, USAGE: 2, DEGRADED: 0, WELL: 0}


@dataclasses.dataclass
class Row:
    id: str
    says: str
    sections: dict  # {} in a text is the folder of the test
    outcome: str = REFUSED
    reloads: bool = True  # False: what it changes needs a start


def recursion(**keys):
    return {"recursion": {"allow": ["192.0.2.0/24"],
                          **{key.replace("_", "-"): value for key, value in keys.items()}}}


def tls(certificate_file, key):
    return {"server": {"listen": [V4],
                       "tls": {"listen": [V4], "certificate": certificate_file, "key": key}}}


def upstream_tls(bundle):
    return recursion(forward=["192.0.2.7@853#a.test"], transport="tls", tls_bundle=bundle)


def rpz(file):
    return recursion(rpz=[{"name": "list.rpz", "file": file}])


def strict(bundle):
    return {"remotes": [{"name": "a", "address": ["192.0.2.7"], "tls": "strict",
                         "tls-name": "a.test", "tls-bundle": bundle}]}


MEMORY_GIB = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") >> 30
ROWS = [
    Row("a copy of the root, no zone", 'recursion.root-copy: needs the zone "." in zones',
        recursion(root_copy=True), USAGE),
    Row("root hints, missing", "root-hints: {}/nothing: No such file",
        recursion(root_hints="{}/nothing")),
    Row("root hints, a folder", "root-hints: {}: Is a directory", recursion(root_hints="{}")),
    Row("root hints, no records", "recursion: ", recursion(root_hints="{}/text")),
    Row("trust anchor, missing", "trust-anchor: {}/nothing: No such file",
        recursion(trust_anchor="{}/nothing")),
    Row("trust anchor, a folder", "trust-anchor: {}: Is a directory", recursion(trust_anchor="{}")),
    Row("trust anchor, no records", "recursion.trust-anchor: {}/text: ",
        recursion(trust_anchor="{}/text")),
    Row("auto trust anchor, missing", "trust-anchor: {}/nothing: No such file",
        recursion(auto_trust_anchor="{}/nothing")),
    Row("certificates of forwarders, missing", "{}/nothing: No such file",
        upstream_tls("{}/nothing")),
    Row("certificates of forwarders, none in it", "{}/text", upstream_tls("{}/text")),
    Row("forwarder, volleyd itself", "recursion.forward[0]: volleyd itself listens",
        recursion(forward=[V4]), USAGE),
    Row("local data", "recursion.local-data[1]: ",
        recursion(local_data=["a.lan. A 192.0.2.1", "b.lan. A 192.0.2"]), USAGE),
    Row("certificate, missing", "server.tls.certificate: {}/nothing: No such file",
        tls("{}/nothing", "{}/a/tls.key")),
    Row("certificate, none in it", "server.tls.certificate: {}/text: ",
        tls("{}/text", "{}/a/tls.key")),
    Row("key, missing", "server.tls.key: {}/nothing: No such file",
        tls("{}/a/tls.crt", "{}/nothing")),
    Row("key, of another certificate", "server.tls.key: {}/b/tls.key is not the key of {}/a/tls.crt",
        tls("{}/a/tls.crt", "{}/b/tls.key")),
    Row("certificate and key", "", tls("{}/a/tls.crt", "{}/a/tls.key"), WELL),
    Row("certificates for a remote, missing", "remote a: ", strict("{}/nothing")),
    Row("certificates for a remote, none in it", "remote a: ", strict("{}/text")),
    Row("policy, missing", "policy list.rpz.: not in force: {}/nothing: ", rpz("{}/nothing"),
        DEGRADED),
    Row("policy, broken", "policy list.rpz.: not in force: {}/broken:4: ", rpz("{}/broken"),
        DEGRADED),
    Row("policy, a folder", "policy list.rpz.: not in force: {}: ", rpz("{}"), DEGRADED),
    Row("policy", "", rpz("{}/rules"), WELL),
    Row("blocks, missing", "policy.block: {}/nothing: No such file",
        {"policy": {"block": [{"file": "{}/nothing"}]}}, DEGRADED),
    Row("blocks, a folder", "policy.block: {}: Is a directory",
        {"policy": {"block": [{"file": "{}"}]}}, DEGRADED),
    Row("query log, no folder", "query-log: {}/no/log: No such file or directory: it is off",
        {"query-log": {"file": "{}/no/log"}}, DEGRADED),
    Row("query log, a folder", "query-log: {}: Is a directory: it is off",
        {"query-log": {"file": "{}"}}, DEGRADED),
    Row("query log, below a file", "query-log: {}/text/log: Not a directory: it is off",
        {"query-log": {"file": "{}/text/log"}}, DEGRADED),
    Row("query log", "", {"query-log": {"file": "{own}/queries"}}, WELL),
    Row("dnstap, no folder", "dnstap: {}/no/tap: No such file or directory: messages are lost",
        {"dnstap": {"file": "{}/no/tap"}}, DEGRADED),
    Row("dnstap, a folder", "dnstap: {}: Is a directory: messages are lost",
        {"dnstap": {"file": "{}"}}, DEGRADED),
    Row("dnstap", "", {"dnstap": {"file": "{own}/tap"}}, WELL),
    Row("dnstap, a collector that is not there yet", "", {"dnstap": {"socket": "{}/socket"}}, WELL),
    Row("zone, missing", "zone a.test.: {}/nothing: cannot read the file: No such file",
        {"zones": [zone("a.test", "{}/nothing")]}, DEGRADED),
    Row("zone, a folder", "zone a.test.: {}: cannot read the file: Is a directory",
        {"zones": [zone("a.test", "{}")]}, DEGRADED),
    Row("storage, no folder above it", "server.storage: {}/no/store: cannot be made: No such file",
        {"server": {"listen": [V4], "storage": "{}/no/store"}}, reloads=False),
    Row("storage, a file", "server.storage: {}/text: Not a directory",
        {"server": {"listen": [V4], "storage": "{}/text"}},
        reloads=False),
    Row("cores that are not there", "server.control-cores",
        {"server": {"listen": [V4], "control-cores": [1000]}},
        reloads=False),
    *([Row("cache, more than the memory",
           f"cache.size: {MEMORY_GIB + 1}G is more than the memory of this host",
           {"cache": {"size": f"{MEMORY_GIB + 1}G"}}, reloads=False)] if MEMORY_GIB < 69 else []),
]


def put(value, folder, own=""):
    """Names the folder of the row, or @own, to which volleyd may write since its start."""
    if isinstance(value, dict):
        return {key: put(one, folder, own) for key, one in value.items()}
    if isinstance(value, list):
        return [put(one, folder, own) for one in value]
    if not isinstance(value, str):
        return value
    return value.replace("{}", str(folder)).replace("{own}", str(own))


@pytest.fixture(name="folder", scope="module")
def make_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    for name in "ab":
        (folder / name).mkdir()
        certificate(folder / name)
    (folder / "text").write_text("nothing that is of use\n", encoding="ascii")
    (folder / "broken").write_text(HEAD + "bad.example CNAME\n", encoding="ascii")
    (folder / "rules").write_text(HEAD + "bad.example CNAME .\n", encoding="ascii")
    return folder


def errors(said):
    return re.findall(r"volleyd\[\d+\]: error: (.*)", said)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_check_start_and_reload(daemon, folder, row):
    plain = {"interfaces": [], "zones": [zone("example.com")]}
    sections, says = {**plain, **put(row.sections, folder, daemon.folder)}, row.says.replace("{}", str(folder))
    daemon.configure(**sections)
    status, checked = daemon.run_failing("--check")
    assert status == STATUS[row.outcome] and says in checked, checked
    assert (daemon.run_failing("--check", "--strict")[0] ==
            (1 if row.outcome == DEGRADED else STATUS[row.outcome]))
    assert ("warning: " in checked) == (row.outcome == DEGRADED), checked
    if row.outcome in (REFUSED, USAGE):
        started = daemon.run_failing()
        assert started[0] == status and errors(started[1]) == errors(checked)
        assert len(errors(checked)) == 1
    else:
        daemon.start()
        assert says in daemon.degraded() and bool(daemon.degraded()) == (row.outcome == DEGRADED)
        assert daemon.stop() == 0
    if not row.reloads:
        return
    daemon.start(**plain, recursion={"allow": ["192.0.2.0/24"]})
    daemon.configure(**sections)
    told = daemon.ctl("zone", "reload", check=False)
    assert (told.returncode == 0) == (row.outcome == WELL) and says in told.stderr, told.stderr


PLACED = {  # key: what else is below its map, and a file that is refused
    "server.tls.certificate": ("key: {}/a/tls.key", "{}/text"),
    "server.tls.key": ("certificate: {}/a/tls.crt", "{}/nothing"),
    "server.tls.ticket-keys": ("certificate: {}/a/tls.crt\n    key: {}/a/tls.key", "{}/text"),
    "recursion.root-hints": ("prefetch: false", "{}"),
    "recursion.trust-anchor": ("prefetch: false", "{}/text"),
    "recursion.auto-trust-anchor": ("prefetch: false", "{}/nothing"),
    "recursion.tls-bundle": ("forward: [192.0.2.7@853#a.test]\n  transport: tls", "{}/text"),
}


@pytest.mark.parametrize("included", [False, True], ids=["file", "included"])
@pytest.mark.parametrize("key", PLACED)
def test_the_place_of_a_file_that_is_refused(daemon, folder, key, included):
    """The file, the line and the key of the configuration, as for all other faults."""
    beside, wrong = (text.replace("{}", str(folder)) for text in PLACED[key])
    part = (f"recursion:\n  allow: [192.0.2.0/24]\n  {beside}\n  {key.split('.')[-1]}: {wrong}\n"
            if key.startswith("recursion") else
            f"server:\n  listen: [{V4}]\n  tls:\n    listen: [{V4}]\n    {beside}\n"
            f"    {key.split('.')[-1]}: {wrong}\n")
    daemon.configure(interfaces=[], zones=[zone("example.com")])
    rest = yaml.safe_load(daemon.path.read_text(encoding="utf-8"))
    rest.pop("recursion", None)
    if key.startswith("server"):
        del rest["server"]
    place = daemon.path
    if included:
        place = daemon.folder / "more.yaml"
        rest["include"] = "more.yaml"
        place.write_text(part, encoding="utf-8")
        daemon.path.write_text(yaml.safe_dump(rest), encoding="utf-8")
    else:
        daemon.path.write_text(part + yaml.safe_dump(rest), encoding="utf-8")
    said = f"{place}:{len(part.splitlines())}: {key}: "
    for words in (["--check"], []):
        status, told = daemon.run_failing(*words)
        assert status == 1 and errors(told)[0].startswith(said) and wrong in told, told


@pytest.mark.parametrize("file, reason", [
    ("no/cache", "No such file or directory"), ("text/cache", "Not a directory"),
    (".", "Is a directory"), ("cache", "")])
def test_a_snapshot_that_cannot_be_written(daemon, folder, file, reason):
    """A start finds out only when it first writes the file."""
    path = f"{folder}/{file}"
    daemon.configure(interfaces=[], zones=[zone("example.com")], cache={"snapshot": path})
    status, said = daemon.run_failing("--check", "--strict")
    assert status == (1 if reason else 0)
    if reason:
        assert f"cache.snapshot: {path}: cannot be written: {reason}" in said
    assert not (folder / "cache").exists()


def test_a_check_beside_a_daemon(daemon, folder):
    """It opens no socket and no lock of a daemon, and leaves nothing behind."""
    sections = {"interfaces": [],
                "query-log": {"file": str(daemon.folder / "queries")},
                "dnstap": {"file": str(daemon.folder / "tap")},
                "server": {"listen": [V4], "storage": str(daemon.folder / "store"), **tls(
        str(folder / "a/tls.crt"), str(folder / "a/tls.key"))["server"]}}
    daemon.configure(**sections)
    assert daemon.run_failing("--check")[0] == 0
    assert not any((daemon.folder / name).exists() for name in ("store", "queries", "tap"))
    daemon.start()
    wait_for("the stream", lambda: (daemon.folder / "tap").stat().st_size)
    stream = (daemon.folder / "tap").stat().st_size
    process, daemon.process = daemon.process, None
    assert daemon.run_failing("--check")[0] == 0
    daemon.process = process
    assert daemon.status()["ready"]
    assert (daemon.folder / "tap").stat().st_size == stream
