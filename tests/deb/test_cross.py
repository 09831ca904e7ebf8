# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The package for arm64, made on this machine: `make test-deb ARCH=arm64`.

apt installs it in the Debian of scripts/cross.sh, with its dependencies of arm64. The scripts of the
package are of shell, and qemu-aarch64 runs its programs.
"""
import json
import re

from bare import deb
from netlab import ROOT, run

AARCH64 = 183  # e_machine, System V ABI
EBPF = 247
LIFE = """set -e
apt-get -q -y --no-install-recommends install "$0" >/dev/null
dpkg-query -W -f 'package ${db:Status-Status} ${Architecture}\\n' volley:arm64
echo "user $(id -un volley)"
echo "configuration $(stat -c '%a %U %G' /etc/volley/volley.yaml)"
qemu-aarch64 /usr/sbin/volleyd --check -c /etc/volley/volley.yaml
echo "version $(qemu-aarch64 /usr/sbin/volleyctl --version)"
apt-get -q -y purge volley:arm64 >/dev/null
ls -d /etc/volley /var/lib/volley /usr/lib/volley 2>/dev/null | sed 's/^/left /'
"""


def machine(path):
    """The processor that an ELF file is for."""
    with open(path, "rb") as file:
        head = file.read(20)
    assert head[:6] == b"\x7fELF\x02\x01", path
    return int.from_bytes(head[18:20], "little")


def test_files(tmp_path):
    run("dpkg-deb", "-x", deb("volley"), tmp_path)
    for name in ("volleyd", "volleyctl"):
        assert machine(tmp_path / "usr/sbin" / name) == AARCH64, name
    objects = sorted((tmp_path / "usr/lib/volley").glob("*.bpf.o"))
    assert objects and all(machine(path) == EBPF for path in objects)
    assert (tmp_path / "usr/share/man/man8/volleyd.8.gz").stat().st_size > 5000
    assert json.loads((tmp_path / "usr/share/volley/volley.schema.json").read_text("utf-8"))


def test_dependencies():
    """Those of the package for x86-64: the group "run" of scripts/deps.sh."""
    control = run("dpkg-deb", "-f", deb("volley")).stdout
    assert re.search(r"^Architecture: arm64$", control, re.MULTILINE)
    needed = re.search(r"^Depends: (.*)", control, re.MULTILINE).group(1)
    names = {re.split(r"[ (|]", one)[0] for one in needed.split(", ")} - {"libc6", "systemd"}
    assert names == set(run(ROOT / "scripts/deps.sh", "--list", "run").stdout.split())


def test_bill_of_materials(tmp_path):
    """It names the libraries of arm64, with their versions."""
    run("dpkg-deb", "-x", deb("volley"), tmp_path)
    bill = json.loads((tmp_path / "usr/share/doc/volley/volley.spdx.json").read_text("utf-8"))
    found = {one["name"]: one["externalRefs"][0]["referenceLocator"] for one in bill["packages"]
             if "externalRefs" in one}
    assert found["libunbound8"].endswith("arch=arm64"), found["libunbound8"]


def test_life():
    """Installed, its configuration checked, purged."""
    said = run(ROOT / "scripts/cross.sh", "arm64", "sh", "-c", LIFE, deb("volley"),
               timeout=600).stdout
    assert "package installed arm64\n" in said, said
    assert "user volley\n" in said, said
    assert "configuration 640 root volley\n" in said, said
    assert re.search(r"^version volleyctl \d", said, re.MULTILINE), said
    assert "left" not in said, said
