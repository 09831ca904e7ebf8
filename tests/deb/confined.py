#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""confined.py VOLLEY.deb: volleyd of the package at work within its AppArmor profile; for a machine
whose kernel has AppArmor.

test_apparmor.py starts it in a virtual machine, where the package may be unpacked over all else. It
prints what volleyd was refused, line by line, and then what it did. The profile is in force as by
the unit: by its name, for the user volley.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

from netlab import V4, Lab, iface, run, texts, wait_for, write_zone, zone

ETC, STATE, RUN = (pathlib.Path(path) for path in ("/etc/volley", "/var/lib/volley", "/run/volley"))
UNIT = pathlib.Path("/lib/systemd/system/volleyd.service.d/user.conf")
HUGE_PAGES = 64
DENIED = re.compile(r'apparmor="DENIED".* profile="volleyd".*')


def unpack(package):
    """Not by dpkg -x, which puts a folder in the place of the link /lib."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as files:
        subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", "/"], stdin=files.stdout,
                       check=True)
    run("systemd-sysusers", "/usr/lib/sysusers.d/volley.conf")
    run("mountpoint", "-q", "/sys/kernel/security", check=False).returncode and \
        run("mount", "-t", "securityfs", "none", "/sys/kernel/security")
    run("apparmor_parser", "--replace", "--skip-cache", "/etc/apparmor.d/volleyd")
    run("sysctl", "-q", "-w", "kernel.printk_ratelimit=0", f"vm.nr_hugepages={HUGE_PAGES}")
    for folder in (STATE, RUN, ETC / "zones"):
        run("install", "-d", "-o", "volley", "-g", "volley", folder)
    run("chgrp", "volley", ETC, ETC / "volley.yaml")


def command(*words):
    """The words as the unit calls them."""
    some = ",".join(f"+{cap.lower()}" for cap in re.findall(r"CAP_(\w+)", UNIT.read_text("ascii")))
    profile = re.search(r"(?m)^AppArmorProfile=-(.*)$", UNIT.read_text("ascii"))[1]
    return ["setpriv", "--reuid=volley", "--regid=volley", "--clear-groups", "--no-new-privs",
            f"--bounding-set=-all,{some}",
            f"--inh-caps=-all,{some}", f"--ambient-caps=-all,{some}", "aa-exec", "-p", profile,
            "--", *words]


def denied():
    return DENIED.findall(run("dmesg").stdout)


def free_huge_pages():
    return int(re.search(r"HugePages_Free: +(\d+)",
                         pathlib.Path("/proc/meminfo").read_text("ascii"))[1])


def configure():
    for name in ("plain", "signed"):
        write_zone(ETC / f"zones/{name}.zone")
        run("chown", "volley:", ETC / f"zones/{name}.zone")
    (ETC / "rpz.zone").write_text("$TTL 60\n@ SOA . . 1 1 1 1 1\n@ NS .\nbad.example CNAME .\n",
                                  "ascii")
    (ETC / "secret").write_text("00112233445566778899aabbccddeeff\n", "ascii")
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-subj", "/CN=x", "-keyout", ETC / "tls.key", "-out", ETC / "tls.pem")
    run("chgrp", "-R", "volley", ETC)
    run("chmod", "-R", "g+rX,o-rwx", ETC)
    verify = {"verify": ["/bin/sh", "-c", "cat >/dev/null"]}
    recursion = {"allow": ["192.0.2.0/24"],
                 "rpz": [{"name": "rpz.test", "file": str(ETC / "rpz.zone")}]}
    if os.path.exists("/usr/share/dns/root.key"):
        recursion["trust-anchor"] = "/usr/share/dns/root.key"
    (ETC / "volley.yaml").write_text(json.dumps({
        "server": {"listen": [V4], "workers": 2, "storage": str(STATE),
                   "cookies": {"secret-files": [str(ETC / "secret")]},
                   "tls": {"listen": [V4], "certificate": str(ETC / "tls.pem"),
                           "key": str(ETC / "tls.key")}},
        "interfaces": [iface()], "cache": {"size": "16M", "snapshot": str(STATE / "cache")},
                                                 "signing": [{"name": "usual"}],
        "recursion": recursion, "metrics": {"listen": f"{V4}@9253"},
                                                 "rrl": {"answers": 0, "octets": 0},
        "zones": [{**zone("z.test", ETC / "zones/plain.zone"), **verify},
                  zone("s.test", ETC / "zones/signed.zone", signing="usual")]}), "ascii")


def start(lab):
    process = lab.popen("s", *command("volleyd"))
    wait_for("volleyd is ready", lambda: process.poll() is not None or '"ready": true' in run(
        "volleyctl", "--json", "status", check=False).stdout, 120)
    assert process.poll() is None
    with open(f"/proc/{process.pid}/attr/current", encoding="ascii") as file:
        assert file.read().strip() == "volleyd (enforce)"
    return process


def work(lab):
    """
    A start, the driver, changes, files, TLS, recursion, metrics, a stop, and a start with what was
    left.
    """
    process = start(lab)
    assert free_huge_pages() < HUGE_PAGES, "the frames of AF_XDP are in huge pages"
    for name in ("www.z.test", "www.z.test", "www.s.test"):
        assert texts(lab.ask(name)) == ["192.0.2.10"]
    lab.ask("www.nobody.example")
    run("nsenter", f"--net=/run/netns/{lab.name}-c", "bash", "-c",
        f"exec 3<>/dev/tcp/{V4}/9253; printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3")
    run("nsenter", f"--net=/run/netns/{lab.name}-c", "kdig", "+tls", "+timeout=60", f"@{V4}",
        "www.z.test", "A")
    ctl = lambda *words: run("volleyctl", *words, timeout=60).stdout
    ctl("zone", "edit", "z.test", "add new 60 A 192.0.2.1")
    ctl("zone", "flush", "z.test")
    wait_for("the zone's file has the change",
             lambda: "192.0.2.1\n" in (ETC / "zones/plain.zone").read_text("ascii"))
    for words in (("zone", "reload"), ("cache", "resize", "24M"), ("detach", "s0"),
                  ("attach", "s0"), ("cookies",),
                  ("block", "add", "198.51.100.0/24"), ("drain", "on"), ("drain", "off")):
        ctl(*words)
    print("status:", json.dumps(json.loads(ctl("--json", "status")).get("interfaces")))
    ctl("stop", "--keep")
    assert process.wait(60) == 0
    process = start(lab)
    wait_for("an answer", lambda: texts(lab.ask("new.z.test")) == ["192.0.2.1"])
    run(*command("kill", "-HUP", process.pid))  # ExecReload=
    ctl("stop")
    assert process.wait(60) == 0


def main(package):
    unpack(package)
    configure()
    run(*command("volleyd", "--check"))  # ExecStartPre=
    lab = Lab()
    try:
        work(lab)
    finally:
        for line in denied():
            print("denied:", line)
        lab.close()
    n_denied = len(denied())
    outside = pathlib.Path("/srv/volley.yaml")
    outside.write_text((ETC / "volley.yaml").read_text("ascii"), "ascii")
    refused = run(*command("volleyd", "--check", "-c", outside), check=False)
    assert refused.returncode and len(denied()) > n_denied, refused.stderr
    print("confined: done")


if __name__ == "__main__":
    main(*sys.argv[1:])
