# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that volleyd's user may not read: volley-runner opens those that the configuration names,
and no others."""
import os
import pathlib
import shutil
import socket
import ssl

import pytest

from netlab import (BIN, V4, V6, open_to_all, run, status_of, texts, wait_for, write_zone, zone)

NOBODY = 65534
CAPS = "+net_admin,+net_bind_service,+net_raw,+dac_read_search,+bpf,+perfmon,+sys_admin"
AS_NOBODY = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
             "--inh-caps", CAPS, "--ambient-caps", CAPS, "--")
DAC_READ_SEARCH = 1 << 2


@pytest.fixture
def roots(daemon, tmp_path):
    """A folder of root. The daemon's folder belongs to its user."""
    open_to_all(tmp_path, 0o755)
    os.chown(daemon.folder, NOBODY, NOBODY)
    open_to_all(daemon.folder, 0o755)
    folder = tmp_path / "roots"
    folder.mkdir(0o700)
    daemon.path = folder / "volley.yaml"
    return folder


def private(path):
    path.chmod(0o600)
    return path


def private_new(path):
    path.touch(0o600)
    return path


def start(daemon, **sections):
    sections.setdefault("interfaces", None)
    daemon.configure(**sections)
    private(daemon.path)
    daemon.spawn(before=AS_NOBODY)
    return daemon.wait_ready()


def has_served(lab, name, address):
    return texts(lab.ask(f"www.{name}")) == [address]


def subject(where, name=""):
    """The octets of the certificate at WHERE."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(where, timeout=10) as sock, \
            context.wrap_socket(sock, server_hostname=name or None) as tls:
        return tls.getpeercert(binary_form=True)


def make_certificate(folder, name):
    for kind in ("key", "cert"):
        (folder / f"{name}.{kind}").touch(0o600)
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key", "-out",
        folder / f"{name}.cert")
    return {"certificate": str(private(folder / f"{name}.cert")),
            "key": str(private(folder / f"{name}.key"))}


def test_zone_files(lab, daemon, roots):
    """At the start and at each reload; also included files, and files behind links of root."""
    files = {name: private(write_zone(roots / f"{name}.zone")) for name in ("a.test", "b.test")}
    (roots / "b.inc").write_text("$INCLUDE c.inc\n", encoding="ascii")
    (roots / "c.inc").write_text("deep IN A 192.0.2.77\n", encoding="ascii")
    for name in ("b.inc", "c.inc"):
        private(roots / name)
    write_zone(files["b.test"], more="$INCLUDE b.inc\n")
    (roots / "current").symlink_to("b.test.zone")
    start(daemon, zones=[zone("a.test", files["a.test"]), zone("b.test", roots / "current")])
    assert int(status_of(daemon.process.pid)["CapPrm"], 16) & DAC_READ_SEARCH == 0
    assert has_served(lab, "a.test", "192.0.2.10") and has_served(lab, "b.test", "192.0.2.10")
    assert texts(lab.ask("deep.b.test")) == ["192.0.2.77"]
    private(write_zone(files["a.test"], 2, "192.0.2.20"))
    daemon.ctl("zone", "reload", "a.test")
    assert has_served(lab, "a.test", "192.0.2.20")
    third = private(write_zone(roots / "d.test.zone"))
    daemon.configure(interfaces=None, zones=[zone("a.test", files["a.test"]),
                                             zone("d.test", third)])
    private(daemon.path)
    daemon.ctl("zone", "reload")
    assert has_served(lab, "d.test", "192.0.2.10")
    assert daemon.degraded() == ""


@pytest.mark.parametrize("of", ["file", "folder", "included"])
def test_a_configuration_of_the_daemons_user(lab, daemon, roots, tmp_path, of):
    """A volleyd that was broken into could have a new one name any file: it counts for none that
    its user may not read. The configuration of the start did."""
    files = {name: private(write_zone(roots / f"{name}.zone")) for name in ("a.test", "b.test")}
    more = tmp_path / "own" if of == "included" else roots / "more"
    more.mkdir()
    (more / "z.yaml").write_text("{}", encoding="ascii")
    if of == "included":
        os.chown(more, NOBODY, NOBODY)
    if of == "folder":
        daemon.path = daemon.folder / "volley.yaml"
    sections = {"include": str(more / "*.yaml")}
    start(daemon, zones=[zone("a.test", files["a.test"])], **sections)
    assert has_served(lab, "a.test", "192.0.2.10")
    daemon.configure(interfaces=None, zones=[zone("b.test", files["b.test"])], **sections)
    private(daemon.path)
    if of == "file":
        os.chown(daemon.path, NOBODY, NOBODY)
    assert daemon.ctl("zone", "reload", check=False).returncode
    assert "volleyd's user could have written it" in daemon.log()
    assert has_served(lab, "a.test", "192.0.2.10") and not texts(lab.ask("www.b.test"))


def test_what_no_configuration_names(lab, daemon, roots, tmp_path):
    """A zone file of the daemon's user includes a file of root, and a link there leads to one."""
    secret, named = private(write_zone(roots / "secret")), private(write_zone(roots / "named"))
    own = tmp_path / "own"
    own.mkdir()
    write_zone(own / "a.zone", more=f"$INCLUDE {secret}\n")
    (own / "b.zone").symlink_to(secret)
    for path in (own, own / "a.zone"):
        os.chown(path, NOBODY, NOBODY)
    start(daemon, zones=[zone("a.test", own / "a.zone"), zone("b.test", own / "b.zone"),
                         zone("c.test", named)])
    assert has_served(lab, "c.test", "192.0.2.10")
    why = daemon.degraded()
    assert f"cannot read '{secret}': Permission denied" in why
    assert f"{own}/b.zone: cannot read the file: the user of volleyd may not read it, but could" in why


def test_secrets(lab, daemon, roots):
    """The key of TLS, a certificate, a TSIG key, and configurations that are included."""
    (roots / "tsig").write_text("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", encoding="ascii")
    (roots / "more").mkdir(0o700)
    (roots / "more/k.yaml").write_text(
        f'{{"keys": [{{"name": "k.", "algorithm": "hmac-sha256", "secret-file": "{roots}/tsig"}}]}}',
        encoding="ascii")
    for name in ("tsig", "more/k.yaml"):
        private(roots / name)
    tls = {"listen": [f"{V4.split('@')[0]}@853"], **make_certificate(roots, "one")}
    sections = {"server": {"listen": [V4, V6], "tls": tls}, "include": str(roots / "more/*.yaml")}
    start(daemon, **sections)
    with lab.inside("c"):
        first = subject((V4, 853))
    assert first
    make_certificate(roots, "one")
    daemon.ctl("zone", "reload")
    with lab.inside("c"):
        assert subject((V4, 853)) != first


def test_keys_that_sign(lab, daemon, roots):
    """Made by root: the folder and the keys."""
    start(daemon, server={"listen": [V4, V6], "storage": str(daemon.folder / "store")},
          signing=[{"name": "p"}],
          zones=[zone("z.test", private(write_zone(roots / "z.zone")), signing="p")])
    tags = {key["tag"] for key in daemon.json("zone", "keys", "z.test")["keys"]}
    assert daemon.stop() == 0
    keys = roots / "keys"
    os.rename(daemon.folder / "store/keys", keys)
    for path in (keys, *keys.iterdir()):
        os.chown(path, 0, 0)
    start(daemon, server={"listen": [V4, V6], "storage": str(daemon.folder / "other")},
          signing=[{"name": "p", "key-folder": str(keys)}],
          zones=[zone("z.test", roots / "z.zone", signing="p")])
    assert {key["tag"] for key in daemon.json("zone", "keys", "z.test")["keys"]} == tags
    assert texts(lab.ask("z.test", "DNSKEY"))


def test_files_of_the_resolver(lab, daemon, roots):
    """It gets copies; a reload brings the next ones."""
    for name in ("root.hints", "root.key"):
        shutil.copy(f"/usr/share/dns/{name}", private_new(roots / name))
    recursion = {"allow": ["192.0.2.0/24"], "root-hints": str(roots / "root.hints"),
                 "trust-anchor": str(roots / "root.key")}
    start(daemon, recursion=recursion)
    assert daemon.degraded() == ""
    (roots / "root.key").write_text("nonsense\n", encoding="ascii")
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode and f"recursion.trust-anchor: {roots}/root.key" in said.stderr, said
    certificates = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
    shutil.copy(certificates, private_new(roots / "bundle"))
    daemon.configure(interfaces=None, recursion={
        "allow": ["192.0.2.0/24"], "forward": ["192.0.2.1@853#x.test"], "transport": "tls",
        "tls-bundle": str(roots / "bundle")})
    daemon.ctl("zone", "reload")
    assert daemon.degraded() == ""


def test_an_applied_configuration(lab, daemon, roots):
    """It may name other files; a text of volleyd's user may not."""
    start(daemon, zones=[zone("a.test", private(write_zone(roots / "a.zone")))])
    private(write_zone(roots / "b.zone"))
    (roots / "secret").write_text("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", encoding="ascii")
    private(roots / "secret")
    before = daemon.path.read_bytes()
    daemon.configure(interfaces=None, zones=[zone("b.test", roots / "b.zone")], keys=[
        {"name": "k.", "algorithm": "hmac-sha256", "secret-file": str(roots / "secret")}])
    applied = roots / "applied.yaml"
    applied.write_bytes(daemon.path.read_bytes())
    daemon.path.write_bytes(before)
    private(applied)
    daemon.ctl("config", "diff", applied)
    assert daemon.ctl("config", "apply", applied).stderr == ""
    wait_for("it is served", lambda: has_served(lab, "b.test", "192.0.2.10"))
    other = daemon.folder / "other.yaml"
    other.write_bytes(applied.read_bytes().replace(b"/roots/secret", b"/roots/other"))
    shutil.copy(roots / "secret", private_new(roots / "other"))
    said = run(*AS_NOBODY, BIN / "volleyctl", "-s", daemon.socket, "config", "diff", other,
               check=False)
    assert said.returncode and f"{roots}/other cannot be read: Permission denied" in said.stderr, said


def test_folders_to_write_to(lab, daemon, tmp_path):
    """Landlock: also as root, volleyd writes only where the configuration of its start said so."""
    new = tmp_path / "new"
    new.mkdir()
    daemon.start(interfaces=None)
    if "Landlock: " in daemon.log():
        pytest.skip("this kernel has no Landlock")
    daemon.configure(interfaces=None, **{"query-log": {"file": str(new / "queries")}})
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode and f"{new}: nothing can be written in this folder" in said.stderr, said
    assert f"{new}: nothing can be written" in daemon.degraded() and not list(new.iterdir())
    daemon.configure(interfaces=None)
    daemon.ctl("zone", "reload")
    assert daemon.degraded() == ""
    daemon.configure(interfaces=None, **{"query-log": {"file": str(new / "queries")}})
    assert daemon.stop() == 0
    daemon.start()
    lab.ask()
    wait_for("a line", lambda: (new / "queries").stat().st_size)


def test_folders_with_files_of_others(daemon, tmp_path):
    """No rule of Landlock opens /var/lib as a whole, and `degraded` says what is not written. The
    primary is not there, so nothing would be written anyway."""
    zones = [zone("example.com"), {"name": "s.test", "file": "/var/lib/volley-test-never.zone",
                                   "primaries": ["gone"]}]
    asked = {"server": {"storage": str(tmp_path / "store")}, "zones": zones,
             "remotes": [{"name": "gone", "address": ["127.0.0.9"]}]}
    daemon.start(interfaces=None, **asked)
    if "Landlock: " in daemon.log():
        pytest.skip("this kernel has no Landlock")
    assert "/var/lib: nothing is written in this folder" in daemon.degraded()
    daemon.configure(interfaces=None, **{**asked, "zones": zones[:1]})
    daemon.ctl("zone", "reload")
    assert "/var/lib" not in daemon.degraded()
    daemon.configure(interfaces=None, **asked)
    daemon.ctl("zone", "reload", check=False)
    assert "/var/lib: nothing is written in this folder" in daemon.degraded()


@pytest.mark.parametrize("of", ["STATE_DIRECTORY", "LOGS_DIRECTORY"])
def test_folders_of_the_unit(lab, daemon, tmp_path, of):
    """A reload may name a file in a folder that systemd has made for volleyd."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    daemon.env = {of: ":".join(map(str, folders))}
    daemon.start(interfaces=None)
    for folder in folders:
        daemon.configure(interfaces=None, **{"query-log": {"file": str(folder / "queries")}})
        daemon.ctl("zone", "reload")
        assert daemon.degraded() == ""
        lab.ask()
        wait_for("a line", lambda folder=folder: (folder / "queries").stat().st_size)
