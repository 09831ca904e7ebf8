# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A FIFO or a device in place of a file: volleyd reports it at once and does not wait for it, and
SIGTERM ends the daemon."""
import base64
import os
import signal

import dns.rcode
import pytest

from netlab import V4, V6, run, texts, wait_for, write_zone, zone
from test_signing import keys as signing_keys

SAID = "it is not a regular file"


@pytest.fixture(params=["fifo", "device"])
def make_special(request):
    def make(path):
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        if request.param == "fifo":
            os.mkfifo(path, 0o600)
        else:  # a terminal that nobody types at, by a link
            path.symlink_to("/dev/ptmx")
        return path
    return make


def ends(daemon):
    daemon.signal(signal.SIGTERM)
    assert daemon.reap() == 0


def serves_but(lab, daemon, name):
    """The other zone is served, this one is not, and it is said why."""
    daemon.spawn().wait_ready()
    assert texts(lab.ask("www.other.test")) == ["192.0.2.10"]
    assert lab.ask(f"www.{name}").rcode() == dns.rcode.SERVFAIL
    assert SAID in daemon.ctl("-w", "5", "health", check=False).stdout
    ends(daemon)


def other(tmp_path):
    return zone("other.test", write_zone(tmp_path / "other.zone"))


def test_zone_file(lab, daemon, tmp_path, make_special):
    daemon.configure(zones=[zone("z.test", make_special(tmp_path / "z.zone")), other(tmp_path)])
    serves_but(lab, daemon, "z.test")


@pytest.mark.parametrize("suffix", ["private", "key"])
def test_key_file(lab, daemon, tmp_path, make_special, suffix):
    server = {"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")}
    zones = [zone("z.test", write_zone(tmp_path / "z.zone"), signing="p"), other(tmp_path)]
    daemon.configure(server=server, signing=[{"name": "p"}], zones=zones).spawn().wait_ready()
    assert len(signing_keys(daemon)) == 1
    assert daemon.stop() == 0
    [path] = (tmp_path / "store/keys").glob(f"*.{suffix}")
    make_special(path)
    daemon.spawn().wait_ready()
    assert texts(lab.ask("www.other.test")) == ["192.0.2.10"]
    if suffix == "private":
        wait_for("it is said", lambda: f"{path}: {SAID}" in daemon.log())
    ends(daemon)


def test_configuration(daemon, tmp_path, make_special):
    good = daemon.configure().path.read_text()
    make_special(daemon.path)
    status, said = daemon.run_failing()
    assert status != 0 and SAID in said
    daemon.path.unlink()
    daemon.path.write_text(good, encoding="utf-8")
    daemon.spawn().wait_ready()
    make_special(daemon.path)
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode and SAID in said.stderr
    daemon.signal(signal.SIGHUP)
    wait_for("the reload fails", lambda: daemon.log().count(SAID) >= 2)
    ends(daemon)


def tls(tmp_path, special):
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-subj", "/CN=x", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem")
    names = {"certificate": "cert.pem", "key": "key.pem"}
    return {"listen": [V4, V6], "tls": {"listen": [f"{V4.split('@')[0]}@853"], **{
        name: str(special if name == special.name
                  else tmp_path / file) for name, file in names.items()}}}


@pytest.mark.parametrize("name", ["certificate", "key"])
def test_tls(daemon, tmp_path, make_special, name):
    special = make_special(tmp_path / name)
    daemon.configure(server=tls(tmp_path, special))
    status, said = daemon.run_failing()
    assert status and str(special) in said and SAID in said


@pytest.mark.parametrize("key", ["trust-anchor", "auto-trust-anchor", "root-hints"])
def test_files_of_the_resolver(daemon, tmp_path, make_special, key):
    special = make_special(tmp_path / "special")
    daemon.configure(recursion={"allow": ["192.0.2.0/24"], key: str(special)})
    status, said = daemon.run_failing()
    assert status and str(special) in said and SAID in said


def test_certificates_of_upstreams(daemon, tmp_path, make_special):
    special = make_special(tmp_path / "special")
    daemon.configure(recursion={"allow": ["192.0.2.0/24"], "forward": ["192.0.2.1@853#x.test"],
                                "transport": "tls", "tls-bundle": str(special)})
    status, said = daemon.run_failing()
    assert status and str(special) in said and SAID in said


def test_secret(daemon, tmp_path, make_special):
    special = make_special(tmp_path / "special")
    daemon.configure(keys=[{"name": "k", "algorithm": "hmac-sha256", "secret-file": str(special)}])
    status, said = daemon.run_failing()
    assert status == 2 and str(special) in said and SAID in said


def test_order_to_drain(daemon, make_special):
    """The file beside the control socket that keeps it over a restart."""
    daemon.start()
    make_special(daemon.folder / "control.sock.drained")
    said = daemon.ctl("drain", "on", "work", check=False)
    assert said.returncode and "control.sock.drained" in said.stderr
    ends(daemon)


def test_update_secret_is_read(daemon, tmp_path):
    """A file is still taken where it is one, also by a link."""
    path = tmp_path / "secret"
    path.write_text(base64.b64encode(bytes(32)).decode() + "\n", encoding="ascii")
    path.chmod(0o600)
    (tmp_path / "link").symlink_to(path)
    daemon.start(keys=[{"name": "k", "algorithm": "hmac-sha256",
                        "secret-file": str(tmp_path / "link")}])
    ends(daemon)
