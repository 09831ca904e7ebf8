# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual machine: an initramfs made of this machine's own programs, and QEMU by emulation (no
KVM wanted).

    with machine.Initramfs() as initramfs:
        initramfs.add_program("/verify", Path("build/.../verify"))
        console = machine.boot("6.1", initramfs.write("/verify /volley.bpf.o"), seconds=60)

The guest runs the shell commands that it is given and powers off; what they print is on the console
between two marks, and their status is in the second one. Nothing of a guest leaves this machine: it
has the network devices alone that the caller adds.
"""
import contextlib
import dataclasses
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import fetch

ROOT = Path(__file__).resolve().parents[2]
BOOT_SECONDS = 60
BEGIN, END = "volley-vm: begin", "volley-vm: end"

INIT = """#!/bin/busybox sh
export PATH=/bin:/usr/sbin:/usr/bin:/sbin HOME=/root
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /tmp /run /root
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
mkdir -p /dev/pts /sys/fs/bpf; mount -t bpf bpf /sys/fs/bpf
ulimit -l unlimited
while read -r module; do insmod /modules/$module.ko; done </modules/order
echo '{begin}'
(
set -e
{commands}
)
echo '{end}' $?
poweroff -f
"""

# The host's files, or those of another architecture, read-only, with a layer of memory above: so a
# guest runs what was built here. Its /run and /tmp are empty, but for the project's folder if it lies
# there.
HOST_ROOT = """
mkdir -p /low /up /new
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro root /low
mount -t tmpfs up /up; mkdir /up/upper /up/work
mount -t overlay -o lowerdir=/low,upperdir=/up/upper,workdir=/up/work overlay /new
for folder in proc sys dev; do mount --rbind /$folder /new/$folder; done
mkdir /project; mount {mount_project} /project
for folder in run tmp; do mount -t tmpfs $folder /new/$folder; done
mkdir -p /new{project}; mount --bind /project /new{project}
mkdir -p /new/dev/shm /new/run/netns /new/run/volley; mount -t tmpfs shm /new/dev/shm
ip link set lo up; hostname vm
chroot /new env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 {command}
"""
# To be loaded before, and to be given to boot().
HOST_ROOT_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
SHARE = "local,path={},mount_tag={},security_model=none,readonly=on,multidevs=remap"


@dataclasses.dataclass(frozen=True)
class Arch:
    """
    Machines of an architecture. `slower`: how many times as long as x86-64 they may take.
    `patience`: how many of the host's seconds a second of the guest may take.
    """
    qemu: str
    words: str  # for the kernel
    bin: str
    tests: str
    mount_project: str = "--bind /new{project}"
    slower: int = 1
    patience: int = 1


# Without KVM. qemu64 lacks instructions that Debian's DPDK wants; without no_timer_check a boot
# hangs now and then. Of QEMU's processors for arm64, neoverse-n1 is the first that has pages of 16
# KiB and the atomic instructions that the JIT uses where it finds them.
#
# An emulated arm64 is so slow that a busy host would make each time limit in the guest expire. So its
# clock counts instructions (2 ns each) while it has work, and follows the host's clock while it waits.
# Its two processors take turns then.
ARCHS = {
    "amd64": Arch("qemu-system-x86_64 -M q35 -cpu Nehalem -accel tcg,thread=multi",
                  "console=ttyS0 mitigations=off nokaslr no_timer_check",
                  "build/bin", "build/release/tests"),
    "arm64": Arch("qemu-system-aarch64 -M virt -cpu neoverse-n1 -accel tcg,thread=single -icount shift=1",
                  "console=ttyAMA0 mitigations=off nokaslr",
                  "build/aarch64-linux-gnu/bin", "build/aarch64-linux-gnu/release-nodpdk/tests",
                  "-t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro project",
                  slower=6, patience=10),
}
QEMU = "-nodefaults -no-user-config -display none -no-reboot".split()
CMDLINE = "quiet panic=-1"
_machines = itertools.count()


def arch_of(kernel):
    return ARCHS[fetch.arch_of(kernel)]


class Failed(Exception):
    """
    The machine did not get to its end, or its commands failed; the text says which and has the
    console.
    """


def libraries(program):
    """What ldd(1) finds, and the loader."""
    out = subprocess.run(["ldd", program], text=True, capture_output=True, check=False).stdout
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", out)]


class Initramfs(contextlib.AbstractContextManager):
    """A folder that becomes an archive; it goes away with the object."""

    def __init__(self, arch=fetch.NATIVE):
        self.folder = tempfile.TemporaryDirectory(prefix="volley-vm-")
        self.root = Path(self.folder.name) / "root"
        self.add("/bin/busybox", fetch.root_of(arch) / "usr/bin/busybox")
        self.add_modules(None)

    def __exit__(self, *_):
        self.folder.cleanup()

    def add(self, to, source):
        path = self.root / to.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, path)

    def add_program(self, to, program):
        """With the libraries that it is linked with, at their own paths."""
        self.add(to, program)
        for library in libraries(program):
            self.add(str(library), library)

    def add_modules(self, kernel, wanted=()):
        """The modules `wanted` of `kernel`, and what they need; loaded before the commands."""
        order = [] if kernel is None else modules_for(kernel, wanted)
        for name in order:
            self.add(f"/modules/{name}.ko", fetch.CACHE / kernel / "modules" / f"{name}.ko")
        (self.root / "modules").mkdir(exist_ok=True)
        (self.root / "modules/order").write_text("".join(f"{name}\n" for name in order))

    def write(self, commands):
        """The archive, of what is there by now. Its path."""
        init = self.root / "init"
        init.write_text(INIT.format(begin=BEGIN, end=END, commands=commands))
        init.chmod(0o755)
        names = "\n".join(str(path.relative_to(self.root)) for path in sorted(self.root.rglob("*")))
        out = self.root.parent / "initramfs"
        with open(out, "wb") as file:
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=self.root,
                           input=names.encode(), stdout=file, check=True)
        return out


def modules_for(kernel, wanted):
    """In the order of the cache, which is that of loading."""
    folder = fetch.CACHE / kernel / "modules"
    order = (folder / "order").read_text().split()
    found = set()

    def take(name):
        if name in order and name not in found:
            found.add(name)
            for other in fetch.needs(folder / f"{name}.ko"):
                take(other)

    for name in wanted:
        take(name)
    return [name for name in order if name in found]


def built(kernel):
    """Where the programs of the kernel's architecture are: the environment of make's tests."""
    arch = arch_of(kernel)
    paths = {"VOLLEY_BIN": ROOT / arch.bin, "VOLLEY_TESTS": ROOT / arch.tests}
    if fetch.arch_of(kernel) == fetch.NATIVE:
        paths = {name: os.environ.get(name, path) for name, path in paths.items()}
    return " ".join(f"{name}={path}" for name, path in paths.items())


def boot_here(kernel, command, seconds, modules=(), options=(), **kwargs):
    """
    Runs a command with the host's files, and the environment of make's tests, from the folder of
    the project. A guest of another architecture has files of its own.
    """
    arch, name = arch_of(kernel), fetch.arch_of(kernel)
    shares = ["-virtfs", SHARE.format(fetch.root_of(name), "root")]
    if name != fetch.NATIVE:
        shares += ["-virtfs", SHARE.format(ROOT, "project")]
    seconds *= arch.slower
    with Initramfs(name) as initramfs:
        initramfs.add_modules(kernel, [*HOST_ROOT_MODULES, *modules])
        words = f"{built(kernel)} timeout -k 5 {seconds} sh -c 'cd {ROOT} && {command}'"
        archive = initramfs.write(HOST_ROOT.format(
            project=ROOT, command=words, mount_project=arch.mount_project.format(project=ROOT)))
        return boot(kernel, archive, (seconds + BOOT_SECONDS * arch.slower) * arch.patience,
                    [*shares, *options], **kwargs)


def console_of(kernel):
    """
    The guest's console is QEMU's output, and also a file in the folder $VOLLEY_VM_CONSOLE if that is
    set.
    """
    folder = os.environ.get("VOLLEY_VM_CONSOLE")
    copy = f",logfile={folder}/{kernel}-{os.getpid()}-{next(_machines)}.log" if folder else ""
    return ["-chardev", f"stdio,id=console{copy}", "-serial", "chardev:console"]


def boot(kernel, initramfs, seconds, options=(), words="", memory_mb=1024, cpus=1, before=()):
    """
    Runs the machine to its end, at most `seconds` of the host; `before` are words before QEMU's. What
    its commands printed; Failed where they did not end with 0.
    """
    folder, arch = fetch.CACHE / kernel, arch_of(kernel)
    command = [*before, *arch.qemu.split(), *QEMU, "-smp", str(cpus), "-m", str(memory_mb), "-kernel",
               folder / "vmlinuz", "-initrd", initramfs,
               "-append", f"{CMDLINE} {arch.words} {words}", *console_of(kernel), "-monitor", "none", *options]
    try:
        out = subprocess.run(command, capture_output=True, timeout=seconds, check=False,
                             stdin=subprocess.DEVNULL)
        console, errors = out.stdout, out.stderr
    except subprocess.TimeoutExpired as err:
        console, errors = err.stdout or b"", f"no end after {seconds} s".encode()
    text = console.decode(errors="replace").replace("\r", "")
    found = re.search(rf"{BEGIN}\n(.*?){END} (\d+)", text, re.DOTALL)
    if not found or found.group(2) != "0":
        raise Failed(f"Linux {fetch.release_of(kernel)}: {errors.decode(errors='replace')}\n{text}")
    return found.group(1)
