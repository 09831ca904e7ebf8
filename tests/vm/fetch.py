# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels for virtual machines, and QEMU: fetched by apt, unpacked into a cache, never installed as
kernels.

    fetch.py KERNEL...     5.10, 6.1, 6.12, 6.19, newest: the last of Debian's in that series; with -rt the real-time one

A kernel is a folder of the cache ($VOLLEY_VM, /var/cache/volley-vm unless said):

    KERNEL/vmlinuz, KERNEL/release, KERNEL/modules/*.ko, KERNEL/modules/order

`order` has the modules in the order in which they have to be loaded. Packages of other suites come
through lists of apt's own in the cache, from the mirror that the machine uses already: apt of the
machine sees none of it. QEMU is installed, from backports where the release's own is too old to know
igb, as in Debian 12.
"""
import fcntl
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CACHE = Path(os.environ.get("VOLLEY_VM", "/var/cache/volley-vm"))
MIRROR = Path(__file__).resolve().parents[2] / "scripts/mirror.sh"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
TOOLS = ("cpio", "busybox-static", "xz-utils")
QEMU_OLDEST = 8  # the first with igb

# What the guests use, and all that these need.
MODULES = """virtio_pci virtio_net igb e1000e vmxnet3 9pnet_virtio 9p overlay veth 8021q bridge dummy tun
    af_packet xsk_diag sch_ingress cls_bpf""".split()

# Where a series is, and how its packages name it.
SERIES = {
    "5.10": ("bullseye", r"5\.10\.0-\d+"),
    "6.1": ("bookworm", r"6\.1\.0-\d+"),
    "6.12": ("bookworm-backports", r"6\.12\.[\d.]+\+deb12"),
    "6.19": ("trixie-backports", r"6\.19\.[\d.]+\+deb13"),
    "newest": ("trixie-backports", r"\d+\.\d+\.\d+\+deb13"),
}


class Error(Exception):
    """A sentence for whoever called."""


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, capture_output=True, **options).stdout


# --- apt ------------------------------------------------------------------------------------------


def own_suite():
    return platform.freedesktop_os_release().get("VERSION_CODENAME", "sid")


def apt_options():
    """For apt-get and apt-cache, after the lists have been made."""
    apt = CACHE / "apt"
    return ["-q", "-o", f"Dir::Etc::sourcelist={apt}/sources.list", "-o",
            f"Dir::Etc::sourceparts={apt}/parts",
            "-o", f"Dir::State::lists={apt}/lists", "-o", f"Dir::Cache={apt}/cache",
            "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]


def series_of(kernel):
    """Suite, pattern and flavour."""
    series, flavour = (kernel[:-3], "rt-amd64") if kernel.endswith("-rt") else (kernel, "amd64")
    if series not in SERIES:
        raise Error(f"{kernel}: no such kernel here; there are {', '.join(SERIES)}, each with -rt "
                    f"or without")
    return *SERIES[series], flavour


def apt_update(suites):
    apt = CACHE / "apt"
    for folder in ("parts", "lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    mirror, own = run(MIRROR).strip(), own_suite()
    wanted = {own, *suites, *{f"{own}-backports"} & {suite for suite, _ in SERIES.values()}}
    lines = [f"deb {mirror} {suite} main" for suite in wanted]
    # Not of a later release than the machine's: apt would install from there.
    for suite in {own, "bookworm"}:
        lines += [line for line in run(MIRROR, suite).splitlines() if "-security main" in line]
    lines = sorted(line.replace("deb ", f"deb [signed-by={KEYRING}] ") for line in lines)
    (apt / "sources.list").write_text("\n".join(lines) + "\n")
    run("apt-get", *apt_options(), "update")


def version_key(name):
    return [int(number) for number in re.findall(r"\d+", name)]


def find_release(kernel):
    """"6.12.95+deb12-amd64" for "6.12"; with -rt at its end that of the real-time kernel."""
    _, pattern, flavour = series_of(kernel)
    names = run("apt-cache", *apt_options(), "pkgnames", "linux-")
    found = re.findall(rf"^linux-(?:image|binary)-({pattern}-{flavour})$", names, re.MULTILINE)
    if not found:
        raise Error(f"{kernel}: the mirror has no such kernel")
    return max(found, key=version_key)


def packages_of(release):
    """
    A kernel is one package, or since 6.19 one with the image and one with the modules, if the
    mirror still has it.
    """
    names = run("apt-cache", *apt_options(), "pkgnames", "linux-").split()
    split = [name for name in (f"linux-binary-{release}", f"linux-modules-{release}")
             if name in names]
    return split or [f"linux-image-{release}"]


# --- Unpacking ------------------------------------------------------------------------------------


def read_dependencies(folder):
    """{"igb": (path, [names of what it needs])}; what is built in is not there."""
    known = {}
    for path in folder.rglob("*.ko*"):
        known[path.name.split(".ko")[0].replace("-", "_")] = path
    return known


def needs(path):
    """What modinfo(8) prints as "depends": read from the section .modinfo, which is plain text."""
    data = path.read_bytes()
    found = re.search(rb"\0depends=([^\0]*)\0", data)
    return ([name.replace("-", "_") for name in found.group(1).decode().split(",") if name]
            if found else [])


def unpack_modules(tree, to):
    """MODULES and what they need, decompressed, into one folder; their order into `order`."""
    known, order = read_dependencies(tree), []
    to.mkdir()

    def take(name):
        if name in order or name not in known:
            return
        path = to / f"{name}.ko"
        source = known[name]
        if source.suffix == ".xz":
            path.write_bytes(subprocess.run(["xz", "-dc", source], check=True,
                                            capture_output=True).stdout)
        else:
            shutil.copyfile(source, path)
        for other in needs(path):
            take(other)
        order.append(name)

    for name in MODULES:
        take(name)
    (to / "order").write_text("\n".join(order) + "\n")


def unpack(kernel, release):
    """
    Downloads and unpacks a kernel beside its folder in the cache, then puts it there in one step.
    """
    with tempfile.TemporaryDirectory(dir=CACHE) as tmp:
        tmp = Path(tmp)
        run("apt-get", *apt_options(), "download", *packages_of(release), cwd=tmp)
        for deb in tmp.glob("*.deb"):
            run("dpkg-deb", "-x", deb, tmp / "tree")
        new = tmp / "new"
        new.mkdir()
        shutil.copyfile(next((tmp / "tree").rglob("vmlinuz*")), new / "vmlinuz")
        unpack_modules(tmp / "tree", new / "modules")
        (new / "release").write_text(stamp(release))
        shutil.rmtree(CACHE / kernel, ignore_errors=True)
        new.rename(CACHE / kernel)


def stamp(release):
    return f"{release}\n{' '.join(MODULES)}\n"


def release_of(kernel):
    return (CACHE / kernel / "release").read_text().splitlines()[0]


def fetch_kernel(kernel):
    release = find_release(kernel)
    path = CACHE / kernel / "release"
    if path.exists() and path.read_text() == stamp(release):
        return
    print(f"  FETCH     Linux {release}", flush=True)
    unpack(kernel, release)


# --- QEMU -----------------------------------------------------------------------------------------


def qemu_major():
    try:
        return int(re.search(r"version (\d+)", run("qemu-system-x86_64", "--version")).group(1))
    except (OSError, AttributeError, subprocess.CalledProcessError):
        return 0


def qemu_on_offer():
    """The version in the machine's own suite."""
    said = run("apt-cache", *apt_options(), "policy", "qemu-system-x86")
    found = re.search(r"Candidate: (?:\d+:)?(\d+)", said)
    return int(found[1]) if found else 0


def install_tools():
    present = run("dpkg-query", "-W", "-f", "${Package}\n").split()
    missing = [name for name in TOOLS if name not in present]
    suite = []
    if qemu_major() < QEMU_OLDEST:
        missing += ["qemu-system-x86", "qemu-system-common"]
        if qemu_on_offer() < QEMU_OLDEST:
            suite = ["-t", f"{own_suite()}-backports"]
    if missing:
        print("  INSTALL  ", *missing, flush=True)
        run("apt-get", *apt_options(), "-y", "--no-install-recommends", *suite, "install", *missing,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def fetch(kernels):
    """All that virtual machines with these kernels need. One process at a time does this."""
    kernels = list(dict.fromkeys(kernels))
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            apt_update([series_of(kernel)[0] for kernel in kernels])
            install_tools()
            for kernel in kernels:
                fetch_kernel(kernel)
        except subprocess.CalledProcessError as err:
            words = f"{' '.join(map(str, err.cmd[:1]))}: {err.stderr.strip()[-600:]}"
            if not is_complete(kernels):
                raise Error(words) from err
            print(f"  FETCH     not refreshed, the cache has all: {words.splitlines()[-1]}",
                  flush=True)


def fetch_or_exit(kernels, who):
    """As fetch(); ends the program WHO with a sentence where it fails."""
    try:
        fetch(kernels)
    except Error as err:
        sys.exit(f"{who}: {err}")


def is_complete(kernels):
    """Whether machines can run without the mirror."""
    return (qemu_major() >= QEMU_OLDEST
            and all((CACHE / kernel / "release").exists() for kernel in kernels))


if __name__ == "__main__":
    try:
        fetch(sys.argv[1:] or list(SERIES))
    except Error as error:
        sys.exit(f"fetch: {error}")
