# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian in a folder, started in a virtual machine with a kernel of Debian, and systemd as its
first process.

The folder stays as it is: the machine sees it below a layer of memory. A script is run as a
service, when all others have started; what it prints is the machine's result.
"""
import sys

from netlab import ROOT

sys.path.insert(0, str(ROOT / "tests/vm"))
import fetch  # noqa: E402
import machine  # noqa: E402

KERNEL = "6.1"
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "veth", "af_packet", "xsk_diag")

INIT = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /low /up /new
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
while read -r module; do insmod /modules/$module.ko; done </modules/order
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro root /low
mount -t tmpfs up /up; mkdir /up/upper /up/work
mount -t overlay -o lowerdir=/low,upperdir=/up/upper,workdir=/up/work overlay /new
for folder in proc sys dev; do mount --move /$folder /new/$folder; done
mount -t tmpfs run /new/run
exec switch_root /new /lib/systemd/systemd
"""

SERVICE = """[Unit]
After=volleyd.service apparmor.service
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
ExecStart=/root/tried.sh
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
TimeoutStartSec=infinity
"""

SCRIPT = """#!/bin/sh
echo '{begin}'
(
{commands}
)
echo '{end}' $?
"""

# Emulation is slow: nothing here is to fail by a time limit of systemd.
WORDS = "rdinit=/systemd systemd.show_status=no systemd.wants=tried.service systemd.default_timeout_start_sec=900"


def boot(root, commands, seconds):
    """
    What the commands print; machine.Failed where they do not end with 0. `root`: with systemd,
    which the package volley needs.
    """
    fetch.fetch_or_exit([KERNEL], "tests/deb")
    (root / "etc/systemd/system/tried.service").write_text(SERVICE, "ascii")
    script = root / "root/tried.sh"
    script.write_text(SCRIPT.format(begin=machine.BEGIN, end=machine.END, commands=commands),
                      "utf-8")
    script.chmod(0o755)
    with machine.Initramfs() as initramfs:
        initramfs.add_modules(KERNEL, MODULES)
        init = initramfs.root / "systemd"
        init.write_text(INIT, "ascii")
        init.chmod(0o755)
        disk = f"local,path={root},mount_tag=root,security_model=none,readonly=on,multidevs=remap"
        return machine.boot(KERNEL, initramfs.write(""), seconds, ["-virtfs", disk], WORDS,
                            memory_mb=2048, cpus=2)
