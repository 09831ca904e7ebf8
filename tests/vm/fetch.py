# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels for virtual machines, and QEMU: fetched by apt, unpacked into a cache, never installed as
kernels.

    fetch.py KERNEL...     5.10, 6.1, 6.12, 6.19, newest: the last of Debian's in that series; with -rt the real-time one,
                           with -arm64 that of arm64, with -arm64-16k that with pages of 16 KiB

A kernel is a folder of the cache ($VOLLEY_VM, /var/cache/volley-vm unless said):

    KERNEL/vmlinuz, KERNEL/release, KERNEL/modules/*.ko, KERNEL/modules/order
    arm64-root/            the files of a guest of that architecture: packages, unpacked and not configured

`order` has the modules in the order in which they have to be loaded. Packages of other suites and
architectures come through lists of apt's own in the cache, from the mirror that the machine uses
already: apt of the machine sees none of it. QEMU is installed, from backports where the release's own
is too old to know igb, as in Debian 12.
"""
import fcntl
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CACHE = Path(os.environ.get("VOLLEY_VM", "/var/cache/volley-vm"))
MIRROR = Path(__file__).resolve().parents[2] / "scripts/mirror.sh"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
TOOLS = ("cpio", "busybox-static", "xz-utils")
QEMU_OLDEST = 8  # the first with igb
FRESH_S = 1800  # so long the lists of packages are not asked for again
NATIVE = "amd64"
# The packages with QEMU for a guest of an architecture, and the program.
QEMU = {NATIVE: ("qemu-system-x86", "qemu-system-x86_64"),
        "arm64": ("qemu-system-arm", "qemu-system-aarch64")}
# What a kernel's name ends with, and Debian's word for that build.
FLAVOURS = {"": "amd64", "rt": "rt-amd64", "arm64": "arm64", "arm64-16k": "arm64-16k",
            "arm64-rt": "rt-arm64"}
# For a guest that cannot run this machine's files: what the steps of a cell call. The libraries of
# volleyd are those of the group "run" of scripts/deps.sh.
ROOT_PACKAGES = """base-files coreutils dash bash grep sed mawk findutils procps util-linux hostname iproute2
    ethtool libc-bin xdp-tools bpftool python3 python3-dnspython python3-pytest busybox-static libcmocka0""".split()
DEPS = Path(__file__).resolve().parents[2] / "scripts/deps.sh"

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


def own_suite(arch=None):
    """The machine's release; for a guest of another architecture that of scripts/cross.sh."""
    if arch not in (None, NATIVE):
        return "bookworm"
    return platform.freedesktop_os_release().get("VERSION_CODENAME", "sid")


def arch_of(kernel):
    return "arm64" if "-arm64" in kernel else NATIVE


def apt_folder(arch):
    return CACHE / ("apt" if arch == NATIVE else f"apt-{arch}")


def apt_options(arch):
    """For apt-get and apt-cache, after the lists have been made."""
    apt = apt_folder(arch)
    return ["-q", "-o", f"APT::Architecture={arch}", "-o", f"APT::Architectures={arch}",
            "-o", f"Dir::Etc::sourcelist={apt}/sources.list", "-o",
            f"Dir::Etc::sourceparts={apt}/parts",
            "-o", f"Dir::State::lists={apt}/lists", "-o", f"Dir::Cache={apt}/cache",
            "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]


def series_of(kernel):
    """Suite, pattern and flavour."""
    series, _, ending = kernel.partition("-")
    if series not in SERIES or ending not in FLAVOURS:
        raise Error(f"{kernel}: no such kernel here; there are {', '.join(SERIES)}, each alone or with "
                    f"{', '.join('-' + one for one in FLAVOURS if one)}")
    return *SERIES[series], FLAVOURS[ending]


def apt_update(suites, arch):
    apt = apt_folder(arch)
    for folder in ("parts", "lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    mirror, own = run(MIRROR).strip(), own_suite(arch)
    wanted = {own, *suites, *{f"{own}-backports"} & {suite for suite, _ in SERIES.values()}}
    lines = [f"deb {mirror} {suite} main" for suite in wanted]
    # Not of a later release than the machine's: apt would install from there.
    for suite in {own, "bookworm"}:
        lines += [line for line in run(MIRROR, suite).splitlines() if "-security main" in line]
    words = f"deb [arch={arch} signed-by={KEYRING}] "
    lines = sorted(line.replace("deb ", words) for line in lines)
    text, mark = "\n".join(lines) + "\n", apt / "updated"  # the sources of the last update
    if mark.exists() and time.time() - mark.stat().st_mtime < FRESH_S and mark.read_text() == text:
        return
    mark.unlink(missing_ok=True)
    (apt / "sources.list").write_text(text)
    # Without Error-Mode apt-get succeeds also where the mirror is silent.
    run("apt-get", *apt_options(arch), "-o", "APT::Update::Error-Mode=any", "update")
    mark.write_text(text)


def version_key(name):
    return [int(number) for number in re.findall(r"\d+", name)]


def find_release(kernel):
    """"6.12.95+deb12-amd64" for "6.12"; with -rt at its end that of the real-time kernel."""
    _, pattern, flavour = series_of(kernel)
    names = run("apt-cache", *apt_options(arch_of(kernel)), "pkgnames", "linux-")
    found = re.findall(rf"^linux-(?:image|binary)-({pattern}-{flavour})$", names, re.MULTILINE)
    if not found:
        raise Error(f"{kernel}: the mirror has no such kernel")
    return max(found, key=version_key)


def packages_of(release, arch):
    """
    A kernel is one package, or since 6.19 one with the image and one with the modules, if the
    mirror still has it.
    """
    names = run("apt-cache", *apt_options(arch), "pkgnames", "linux-").split()
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
        arch = arch_of(kernel)
        run("apt-get", *apt_options(arch), "download", *packages_of(release, arch), cwd=tmp)
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


def qemu_major(arch):
    try:
        return int(re.search(r"version (\d+)", run(QEMU[arch][1], "--version")).group(1))
    except (OSError, AttributeError, subprocess.CalledProcessError):
        return 0


def qemu_on_offer(arch):
    """The version in the machine's own suite."""
    said = run("apt-cache", *apt_options(NATIVE), "policy", QEMU[arch][0])
    found = re.search(r"Candidate: (?:\d+:)?(\d+)", said)
    return int(found[1]) if found else 0


def install_tools(architectures):
    """`architectures`: of the guests."""
    present = run("dpkg-query", "-W", "-f", "${Package}\n").split()
    missing = [name for name in TOOLS if name not in present]
    suite = []
    for arch in architectures:
        if qemu_major(arch) < QEMU_OLDEST:
            missing += [QEMU[arch][0], "qemu-system-common"]
            if qemu_on_offer(arch) < QEMU_OLDEST:
                suite = ["-t", f"{own_suite()}-backports"]
    if missing:
        print("  INSTALL  ", *missing, flush=True)
        run("apt-get", *apt_options(NATIVE), "-y", "--no-install-recommends", *suite, "install",
            *missing, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


# --- Files of a guest of another architecture ------------------------------------------------------


def root_of(arch):
    """The folder with the files of a guest."""
    return Path("/") if arch == NATIVE else CACHE / f"{arch}-root"


def download_root(arch, packages, to):
    """These packages and those that they depend on, none of which counts as installed."""
    state = to / "status"
    state.touch()
    archives = to / "archives"
    (archives / "partial").mkdir(parents=True)
    run("apt-get", *apt_options(arch), "-o", f"Dir::State::status={state}", "-o",
        f"Dir::Cache::archives={archives}", "-o", "Debug::NoLocking=1", "-y",
        "--no-install-recommends", "--download-only", "install", *packages)
    return sorted(archives.glob("*.deb"))


def fetch_root(arch):
    """Unpacked beside its place, then put there in one step. Made anew when the list has changed."""
    libraries = run(DEPS, "--list", "run").split()  # by the names of this machine's release
    packages = [*ROOT_PACKAGES, *(name.removesuffix("t64") for name in libraries)]
    root = root_of(arch)
    mark = root / "packages"
    if mark.exists() and mark.read_text() == "\n".join(packages):
        return
    print(f"  FETCH     files of a guest of {arch}", flush=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as tmp:
        new = Path(tmp) / "root"
        for folder in ("bin", "sbin", "lib"):
            (new / "usr" / folder).mkdir(parents=True)
            (new / folder).symlink_to(f"usr/{folder}")
        for deb in download_root(arch, packages, Path(tmp)):
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as tar:
                run("tar", "-x", "--keep-directory-symlink", "-C", new, stdin=tar.stdout)
        (new / "usr/bin/awk").symlink_to("mawk")  # the packages' scripts are not run
        (new / "packages").write_text("\n".join(packages))
        shutil.rmtree(root, ignore_errors=True)
        new.rename(root)


def fetch(kernels):
    """All that virtual machines with these kernels need. One process at a time does this."""
    kernels = list(dict.fromkeys(kernels))
    architectures = {arch_of(kernel) for kernel in kernels}
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            for arch in {NATIVE, *architectures}:
                apt_update([series_of(kernel)[0] for kernel in kernels if arch_of(kernel) == arch],
                           arch)
            install_tools(architectures)
            for arch in architectures - {NATIVE}:
                fetch_root(arch)
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
    return all(qemu_major(arch_of(kernel)) >= QEMU_OLDEST and root_of(arch_of(kernel)).exists() and
               (CACHE / kernel / "release").exists() for kernel in kernels)


if __name__ == "__main__":
    try:
        fetch(sys.argv[1:] or list(SERIES))
    except Error as error:
        sys.exit(f"fetch: {error}")
