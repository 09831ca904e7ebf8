# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The OCI image (scripts/image.sh), as a container of crun in the lab's server: with the
capabilities of its label and no others.

`make test-image` builds it before. The container has the image's entrypoint, a read-only root, a
volume and the network namespace that the test gives it; whose veth has a program at its other end,
so native XDP can answer.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tarfile

import pytest

from netlab import ROOT, V4, Lab, iface, run, texts, wait_for, write_zone, zone

IMAGE = pathlib.Path(os.environ.get("VOLLEY_IMAGE", ROOT / "build/image/volley-0.1.0.oci.tar"))

# crun wants cgroups of version 2 alone; a mount namespace has them, whatever the machine has.
CRUN = 'mount -t cgroup2 none /sys/fs/cgroup && exec crun "$@"'


def unpack(archive, folder):
    """All as it is in the archive: Python 3.14 would leave out owners, modes and absolute links."""
    with tarfile.open(archive) as tar:
        tar.extraction_filter = lambda member, _folder: member
        tar.extractall(folder, numeric_owner=True)


class Image:
    """
    What a runtime does: the index leads to the manifest, this to the configuration and to the
    layers; each is named by its sum.
    """

    def __init__(self, folder):
        unpack(IMAGE, folder / "oci")
        self.blobs = folder / "oci/blobs/sha256"
        index = json.loads((folder / "oci/index.json").read_text("utf-8"))
        manifest = json.loads(self.blob(index["manifests"][0]))
        self.config = json.loads(self.blob(manifest["config"]))["config"]
        self.root = folder / "rootfs"
        self.root.mkdir()
        for layer in manifest["layers"]:
            unpack(self.path(layer), self.root)

    def path(self, descriptor):
        return self.blobs / descriptor["digest"].partition(":")[2]

    def blob(self, descriptor):
        data = self.path(descriptor).read_bytes()
        assert descriptor["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()
        return data


@pytest.fixture(name="image", scope="module")
def unpacked(tmp_path_factory):
    return Image(tmp_path_factory.mktemp("image"))


def usual(image):
    return image.config["Labels"]["volley.capabilities"].split()


def adopting(image):
    return image.config["Labels"]["volley.capabilities.adopt"].split()


def bundle(folder, image, lab, etc, state, also=()):
    """
    crun's configuration: the image's, and what `--cap-add`, `--volume` and `--network` would add to
    it. `also`: capabilities beside the usual ones.
    """
    capabilities = [f"CAP_{word}" for word in (*usual(image), *also)]
    bind = lambda source, to, *more: {"destination": to, "type": "bind", "source": str(source),
                                      "options": ["rbind", *more]}
    (folder / "config.json").write_text(json.dumps({
        "ociVersion": "1.0.2", "root": {"path": str(image.root), "readonly": True},
                                                    "hostname": "volley",
        "process": {"args": image.config["Entrypoint"], "env": image.config["Env"], "cwd": "/",
                    "user": {"uid": 0, "gid": 0}, "noNewPrivileges": True,
                    "capabilities": {name: capabilities
                                     for name in ("bounding", "effective", "permitted")}},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                   {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
                    "options": ["mode=755"]},
                   {"destination": "/run", "type": "tmpfs", "source": "tmpfs",
                    "options": ["mode=755"]},
                   {"destination": "/run/volley", "type": "tmpfs", "source": "tmpfs",
                    "options": ["mode=755"]},
                   {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]},
                   {"destination": "/sys/fs/bpf", "type": "bpf", "source": "bpf"},
                   bind(etc, "/etc/volley", "ro"), bind(state, image_volume(image))],
        "linux": {"namespaces": [{"type": "pid"}, {"type": "ipc"}, {"type": "uts"},
                                 {"type": "mount"},
                                 {"type": "network", "path": f"/run/netns/{lab.name}-s"}]}}),
                                        "ascii")
    return folder


def image_volume(image):
    (volume,) = image.config["Volumes"]
    return volume


class Container:
    def __init__(self, folder, name):
        self.name, self.crun = name, ["unshare", "-m", "sh", "-c", CRUN, "sh",
                                      "--cgroup-manager=disabled", f"--root={folder / 'crun'}"]
        self.process = subprocess.Popen([*self.crun, "run", "--no-pivot", "--bundle", str(folder),
                                         name])

    def ctl(self, *words, check=True):
        return run(*self.crun, "exec", self.name, "volleyctl", *words, check=check).stdout

    def json(self, *words):
        return json.loads(self.ctl("--json", *words))

    def wait_ready(self):
        wait_for("volleyd is ready",
                 lambda: self.process.poll() is not None
                 or '"ready": true' in self.ctl("--json", "status", check=False))
        assert self.process.poll() is None

    def stop(self, image):
        run(*self.crun, "kill", self.name, image.config["StopSignal"])
        assert self.process.wait(30) == 0

    def clean_up(self):
        if self.process.poll() is None:
            run(*self.crun, "kill", self.name, "KILL", check=False)
            self.process.wait(30)
        run(*self.crun, "delete", "--force", self.name, check=False)


@contextlib.contextmanager
def container(folder, name):
    made = Container(folder, name)
    try:
        made.wait_ready()
        yield made
    finally:
        made.clean_up()


@pytest.fixture(name="lab")
def make_lab():
    lab = Lab()
    yield lab
    lab.close()


def write_configuration(etc, **keys):
    etc.mkdir()
    write_zone(etc / "example.com.zone")
    (etc / "volley.yaml").write_text(json.dumps({
        "server": {"listen": [V4], "storage": "/var/lib/volley"}, "interfaces": [iface(**keys)],
                                                 "rrl": {"answers": 0, "octets": 0},
        "zones": [zone("example.com", "/etc/volley/example.com.zone")]}), "ascii")


def test_what_it_says_of_itself(image):
    config = image.config
    assert config["Entrypoint"] == ["/usr/sbin/volleyd", "-c", "/etc/volley/volley.yaml"]
    assert not config.get("Cmd")
    assert config["StopSignal"] == "SIGTERM"
    assert set(config["ExposedPorts"]) == {"53/udp", "53/tcp", "853/tcp"}
    unit = (ROOT / "scripts/debian/user.conf").read_text("ascii")
    assert set(re.findall(r"CAP_(\w+)", unit)) == {*usual(image), *adopting(image)}
    assert adopting(image) == ["SYS_ADMIN"] and "SYS_ADMIN" not in usual(image)
    assert (image.root / config["Labels"]["volley.bill"][1:]).is_file()
    run("chroot", image.root, *config["Entrypoint"], "--check")


@pytest.mark.parametrize("xdp", ["native", "generic", "off"])
def test_it_answers(tmp_path, image, lab, xdp):
    """
    By the driver on a veth where XDP is native or generic, by sockets where it is off; `status`
    says which.
    """
    etc, state = tmp_path / "etc", tmp_path / "state"
    state.mkdir()
    write_configuration(etc, xdp=xdp)
    with container(bundle(tmp_path, image, lab, etc, state), f"{lab.name}") as one:
        (shown,) = one.json("status")["interfaces"]
        assert shown["xdp"] == xdp, shown
        for _ in range(3):
            assert texts(lab.ask("www.example.com")) == ["192.0.2.10"]
        if xdp != "off":
            wait_for("the driver answers",
                     lambda: texts(lab.ask("www.example.com")) and driver_answers(one) > 0)
        one.ctl("zone", "edit", "example.com", "add new 60 A 192.0.2.1")
        one.stop(image)
    with container(tmp_path, f"{lab.name}-again"):  # what changed lies in the volume
        wait_for("the change", lambda: texts(lab.ask("new.example.com")) == ["192.0.2.1"])


def killed(tmp_path, image, lab, also=()):
    """A container that was killed while its driver answered, in a network that outlives it; what the next
    one says of its interface."""
    etc, state = tmp_path / "etc", tmp_path / "state"
    state.mkdir()
    write_configuration(etc)
    with container(bundle(tmp_path, image, lab, etc, state, also), lab.name) as one:
        for _ in range(2):
            assert texts(lab.ask("www.example.com")) == ["192.0.2.10"]
        wait_for("the driver answers", lambda: lab.ask("www.example.com") and driver_answers(one) > 0)
        run(*one.crun, "kill", one.name, "KILL")
        one.process.wait(30)
    with container(tmp_path, f"{lab.name}-again") as one:
        assert texts(lab.ask("www.example.com")) == ["192.0.2.10"]
        return one.json("status")


def test_killed_with_the_capability_to_adopt(tmp_path, image, lab):
    (shown,) = killed(tmp_path, image, lab, adopting(image))["interfaces"]
    assert shown["origin"] == "adopted" and shown["xdp"] == "native"


def test_killed_without_it(tmp_path, image, lab):
    """Kernel sockets answer, and the reason and the remedy are said."""
    status = killed(tmp_path, image, lab)
    assert "without CAP_SYS_ADMIN: detach it" in " ".join(status["degraded"])


def driver_answers(one):
    stats = one.json("stats")
    return stats["answered"]["driver"]
