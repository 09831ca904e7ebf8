# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages (scripts/debian), installed in a Debian that has nothing but what every
Debian has.

`make test-deb` builds them before, and needs a Debian mirror. There is no systemd in the chroot, so
the tests start the daemon where the unit would.
"""
import json
import re
import signal
import socket
import threading

import dns.message
import pytest

from bare import Debian, deb
from netlab import ROOT, V4, Lab, iface, run, wait_for, write_zone, zone

# What apt, dpkg and the packages that Volley depends on keep for themselves.
KEPT = re.compile(r"/(etc/(mtab|machine-id|vconsole\.conf$|default/locale$|(g?shadow|passwd|group)-)$|var/(cache|log|lib/(apt|dpkg|systemd|ucf|pam))|tmp|root|run|proc|sys|dev)(/|$)|.*\.pyc$")


@pytest.fixture(name="debian", scope="module")
def make_debian(bare_debian, tmp_path_factory):
    with Host(bare_debian, tmp_path_factory.mktemp("debian") / "root") as host:
        yield host


class Host(Debian):
    def files(self):
        found = self.run("find", "/", "-xdev", "(", "-type", "f", "-o", "-type", "l",
                         ")").stdout.split("\n")
        return {path for path in found if path and not KEPT.match(path)}

    def ctl(self, *words):
        return self.run("volleyctl", *words).stdout

    def start(self, lab):
        """
        volleyd as the unit calls it, in the lab's server: as its user, with these capabilities
        alone. Ready when this returns.
        """
        unit = (self.root / "lib/systemd/system/volleyd.service.d/user.conf").read_text("ascii")
        caps = re.findall(r"CAP_(\w+)", unit)
        some = ",".join(f"+{cap.lower()}" for cap in caps)
        for folder in ("/run/volley", "/var/lib/volley", "/var/log/volley"):
            self.run("install", "-d", "-o", "volley", "-g", "volley", folder)
        process = lab.popen("s", "chroot", self.root, "setpriv", "--reuid=volley", "--regid=volley",
                            "--clear-groups",
                            "--no-new-privs", f"--bounding-set=-all,{some}",
                            f"--inh-caps=-all,{some}",
                            f"--ambient-caps=-all,{some}", "volleyd", "-c",
                            "/etc/volley/volley.yaml")
        wait_for("volleyd is ready", lambda: '"ready": true' in self.run(
            "volleyctl", "--json", "status", check=False).stdout)
        return process


def newer(path, folder, version):
    """The same package with another version."""
    tree = folder / "tree"
    run("dpkg-deb", "-R", path, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*", f"Version: {version}",
                              control.read_text("utf-8")), "utf-8")
    made = folder / f"volley_{version}_amd64.deb"
    run("dpkg-deb", "--root-owner-group", "-b", tree, made)
    return made


class Asker(threading.Thread):
    """Asks one name, 500 times a second, until it is told to end."""

    def __init__(self, lab):
        super().__init__()
        self.sock = lab.socket("c", socket.AF_INET)
        self.sock.settimeout(1)
        self.asked = self.answered = 0
        self.ends = threading.Event()
        self.start()

    def run(self):
        query = dns.message.make_query("www.example.com", "A")
        while not self.ends.wait(0.002):
            query.id = self.asked % 65536
            self.asked += 1
            self.sock.sendto(query.to_wire(), (V4, 53))
            try:
                self.answered += self.sock.recvfrom(4096)[0][:2] == query.id.to_bytes(2, "big")
            except TimeoutError:
                pass

    def end(self):
        self.ends.set()
        self.join()
        self.sock.close()


def test_lintian_has_no_objection():
    said = run("lintian", "--fail-on", "error,warning", deb("volley"), deb("volley-doc"),
               check=False, timeout=120)
    assert said.returncode == 0, said.stdout


def test_the_group_run_is_what_the_package_needs():
    """scripts/deps.sh run: for who copies programs without a package."""
    needed = re.search(r" Depends: (.*)", run("dpkg-deb", "-I", deb("volley")).stdout).group(1)
    names = {re.split(r"[ (|]", one)[0] for one in needed.split(", ")} - {"libc6", "systemd"}
    assert names == set(run(ROOT / "scripts/deps.sh", "--list", "run").stdout.split())


def test_life(debian, tmp_path):
    """Installed, started, upgraded under load, removed, purged."""
    before, had = debian.files(), debian.packages()
    debian.install(deb("volley"))
    came = debian.packages() - had
    print(f"volley brings {len(came)} packages:", *sorted(came))
    assert len(came) <= 35, came  # libraries; no compiler, no DPDK, no other name server
    assert not [name for name in came
                if name.startswith(("librte", "dpdk", "gcc", "clang", "knot", "bind9"))]
    debian.run("volleyd", "--check", "-c", "/etc/volley/volley.yaml")
    etc = debian.root / "etc/volley"
    assert (etc / "volley.yaml").stat().st_mode & 0o777 == 0o640
    assert debian.run("stat", "-c", "%U %G", "/etc/volley/volley.yaml").stdout == "root volley\n"

    write_zone(etc / "example.com.zone")
    daemon = {"server": {"listen": [V4]}, "interfaces": [iface()],
              "zones": [zone("example.com", "/etc/volley/example.com.zone")],
              "query-log": {"file": "/var/log/volley/queries.log"},
              "rrl": {"answers": 0, "octets": 0}, "control": {"socket": "/run/volley/control.sock"}}
    (etc / "volley.yaml").write_text(json.dumps(daemon), encoding="utf-8")
    lab = Lab()
    process = None
    try:
        process = debian.start(lab)
        lab.ask()
        asker = Asker(lab)
        wait_for("the driver answers", lambda: asker.answered > 100)
        debian.install(newer(deb("volley"), tmp_path, "99.0"))
        assert process.wait(30) == 0  # stopped by the package; the driver goes on
        process = debian.start(lab)
        seen = asker.answered
        wait_for("the new daemon is asked", lambda: asker.answered > seen + 100)
        asker.end()
        assert asker.asked == asker.answered > 500
        assert json.loads(debian.ctl("--json", "status"))["ready"]
        assert "99.0" in debian.run("dpkg-query", "-W", "volley").stdout
        debian.ctl("stop")
        assert process.wait(30) == 0
        process = None
    finally:
        if process:
            process.send_signal(signal.SIGKILL)
            process.wait()
        lab.close()

    # apt keeps a library that another package recommends, as libc6 of Debian 13 does with libidn2-0
    debian.run("apt-get", "-q", "-y", "-o", "APT::AutoRemove::RecommendsImportant=false", "-o",
               "APT::AutoRemove::SuggestsImportant=false", "purge", "--auto-remove", "volley")
    (etc / "example.com.zone").unlink(missing_ok=True)
    assert debian.packages() == had
    assert debian.files() - before == set()
    assert not [folder for folder in ("lib", "log")
                if (debian.root / "var" / folder / "volley").exists()]
