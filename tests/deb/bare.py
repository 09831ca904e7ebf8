# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian of the release of this machine in a folder, with nothing but what every Debian has."""
import os
import pathlib
import platform
import shutil

from netlab import ROOT, run

DEBS = pathlib.Path(os.environ.get("VOLLEY_DEBS", ROOT / "build" / "deb"))
SUITE = platform.freedesktop_os_release().get("VERSION_CODENAME")
GIVEN = os.environ.get("VOLLEY_BARE")  # by scripts/suite.sh
MOUNTS = tuple((folder, folder) for folder in ("/proc", "/sys", "/sys/fs/bpf", "/dev", "/dev/pts"))


def deb(name):
    found = sorted(DEBS.glob(f"{name}_*.deb"))
    assert len(found) == 1, f"make deb: {found}"
    return found[0]


def units(tree):
    """The folder of units in an unpacked package: below /lib in Debian 12, below /usr/lib in Debian 13."""
    return next(tree.rglob("systemd/system/volleyd.service")).parent


def bootstrap(root):
    """
    With the security updates, as Debian's own installer has them. Daemons are not started there,
    and apt asks nothing.
    """
    if GIVEN:
        run("cp", "-a", GIVEN, root, timeout=300)
    else:
        run(ROOT / "scripts/debootstrap.sh", SUITE, root, timeout=900)


class Debian:
    """A copy of one, with this machine's kernel file systems while the context lasts."""

    def __init__(self, bare, root):
        run("cp", "-a", bare, root, timeout=300)
        self.root, self.mounts = root, MOUNTS

    def __enter__(self):
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        for folder, where in self.mounts:
            run("mount", "--bind", folder, self.root / where[1:])
        return self

    def __exit__(self, *_):
        for _, where in reversed(self.mounts):
            run("umount", self.root / where[1:])

    def words(self, *command):
        return ("chroot", self.root, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8",
                *command)

    def run(self, *command, timeout=600, **kwargs):
        return run(*self.words(*command), timeout=timeout, **kwargs)

    def install(self, path):
        shutil.copy(path, self.root / "root")
        return self.run("apt-get", "-q", "install", f"/root/{path.name}")

    def packages(self):
        return set(self.run("dpkg-query", "-W", "-f", "${Package}\n").stdout.split())
