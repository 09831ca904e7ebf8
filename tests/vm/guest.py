# SPDX-License-Identifier: GPL-2.0-only
"""In the machine: guest.py CARD. The lab of the network tests, with the card as s0 in place of a veth, and the steps
of a cell, one after the other. Prints a line for each; ends with 1 if one failed.

A step is a function of lab and daemon: it gives a few words on what it saw, raises Absent where this card or kernel
cannot have it, and any other exception where it is wrong. A step begins with a daemon that is stopped.
"""
import json
import os
import pathlib
import sys
import tempfile
import time
import traceback

import dns.message

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "net"))

from netlab import BIN, TOOLS, V4, V6, Answered, Daemon, Lab, driver_counters, iface, program, run, texts, wait_for  # noqa: E402
from test_ports_corpus import captured  # noqa: E402

WWW = ["192.0.2.80", "192.0.2.81"]
OBJECT = BIN / "volley.bpf.o"
ENDS = (("c", "02:00:00:00:00:01", 1, 53, "02:00:00:00:00:53"),
        ("s", "02:00:00:00:00:53", 53, 1, "02:00:00:00:00:01"))
SILENCE = 3  # seconds without a frame, after which none comes any more
BURST = 60  # queries; a machine by emulation answers some thousand a second


class Absent(Exception):
    """Not to be had here, for the reason that it says."""


class CardLab(Lab):
    """The card in card-s and the client in card-c."""

    def __init__(self):
        self.name = "card"
        for end, mac, host, peer, peer_mac in ENDS:
            run("ip", "netns", "add", f"card-{end}")
            run("ip", "link", "set", self.find(mac), "netns", f"card-{end}", "name", f"{end}0")
            self.ip(end, "link", "set", "lo", "up")
            self.ip(end, "link", "set", f"{end}0", "mtu", "1500", "up")
            self.address(end, host, peer, peer_mac)
        self.exec("c", "ethtool", "-K", "c0", "tx", "off", "txvlan", "off", "rxvlan", "off", check=False)

    @staticmethod
    def find(mac):
        for path in pathlib.Path("/sys/class/net").iterdir():
            if (path / "address").read_text().strip() == mac:
                return path.name
        raise AssertionError(f"no interface has {mac}")

    def address(self, end, host, peer, peer_mac):
        self.ip(end, "address", "add", f"192.0.2.{host}/24", "dev", f"{end}0")
        self.ip(end, "address", "add", f"2001:db8::{host}/64", "dev", f"{end}0", "nodad")
        self.ip(end, "neighbour", "replace", f"192.0.2.{peer}", "lladdr", peer_mac, "dev", f"{end}0")
        self.ip(end, "neighbour", "replace", f"2001:db8::{peer}", "lladdr", peer_mac, "dev", f"{end}0")


def start(daemon, **keys):
    return daemon.start(interfaces=[iface(xdp="auto", **keys)], server={"workers": 2})


def warm(lab, daemon, name="www.example.com"):
    """Until the driver answers: a worker publishes an answer a moment after it has given it."""
    def is_hit():
        with Answered(daemon) as one:
            assert texts(lab.ask(name))
        return one.by == {"driver": 1}
    wait_for(f"the driver answers {name}", is_hit)


# --- Steps ------------------------------------------------------------------------------------------


def step_attach(lab, daemon):
    """By volleyd: what it makes of the card, and who answers over IPv4 and IPv6."""
    start(daemon)
    found = daemon.interface()
    for where, name in ((V4, "www.example.com"), (V6, "mail.example.com")):
        with Answered(daemon) as one:
            assert lab.ask(name, where=where).answer
        assert one.by == {"worker": 1}, (one.by, found)
        warm(lab, daemon, name)
    assert not daemon.degraded(), daemon.degraded()
    copy = "zero-copy" if found.get("zero_copy") else "copy"
    return f"{found['xdp']}, {found.get('queues')} queues, {copy}"


def step_true_counters(lab, daemon):
    """Each hit and each miss that is counted as answered has arrived at the client."""
    start(daemon)
    warm(lab, daemon)
    names = ["www.example.com"] * BURST + [f"none{n}.example.com" for n in range(BURST)]
    arrived = 0
    with Answered(daemon) as all_of_them:
        for name in names:
            arrived += bool(lab.ask(name))
    assert all_of_them.by == {"driver": BURST, "worker": BURST}, all_of_them.by
    return f"{arrived} of {2 * BURST} counted, {arrived} arrived"


def step_edns(lab, daemon):
    """Sizes and truncation, by driver and by worker: the same octets."""
    start(daemon)
    for size in (512, 1232):
        query = dns.message.make_query("example.com", "NS", use_edns=0, payload=size, id=7)
        first, second = (lab.udp_wire(query.to_wire()) for _ in range(2))
        assert first == second, size
    return "the same octets"


def by_hand(lab, daemon, load, unload):
    load()
    found = program(lab)
    try:
        start(daemon)
        seen = daemon.interface()
        assert seen["origin"] == "adopted", seen
        with Answered(daemon) as one:
            assert texts(lab.ask()) == WWW
        assert one.by == {"worker": 1}, one.by
        warm(lab, daemon)
        assert daemon.stop() == 0
        assert program(lab) == found
        assert not lab.is_answered()
        assert driver_counters(found["id"])["UP_ORPHANED"] >= 1
    finally:
        unload()
    return f"{seen['xdp']}, adopted"


def first_way(*ways):
    """The first command that the card takes: native, else generic."""
    said = ""
    for command in ways:
        done = command()
        if done.returncode == 0:
            return
        said += done.stderr
    raise AssertionError(said)


def step_ip_link(lab, daemon):
    def load(mode):
        return lambda: lab.exec("s", "ip", "link", "set", "dev", "s0", mode, "obj", OBJECT, "sec", "xdp",
                                check=False)

    def unload():
        for mode in ("xdpdrv", "xdpgeneric"):
            lab.exec("s", "ip", "link", "set", "dev", "s0", mode, "off", check=False)
    return by_hand(lab, daemon, lambda: first_way(load("xdpdrv"), load("xdpgeneric")), unload)


def step_xdp_loader(lab, daemon):
    """Debian 12's xdp-loader cannot use its dispatcher on newer kernels, and says so: without it, it loads."""
    def load(mode):
        return lambda: lab.exec("s", "env", "LIBXDP_SKIP_DISPATCHER=1", "xdp-loader", "load", "-m", mode, "s0", OBJECT,
                                check=False)
    return by_hand(lab, daemon, lambda: first_way(load("native"), load("skb")),
                   lambda: lab.exec("s", "xdp-loader", "unload", "-a", "s0", check=False))


def step_kill(lab, daemon):
    """kill -9: hits go on, the next volleyd adopts."""
    start(daemon)
    warm(lab, daemon)
    before = daemon.interface()["program_id"]
    daemon.kill()
    assert texts(lab.ask()) == WWW  # by the driver: there is nobody else
    start(daemon)
    seen = daemon.interface()
    assert (seen["origin"], seen["program_id"]) == ("adopted", before), seen
    with Answered(daemon) as two:
        for name in ("www.example.com", "ftp.example.com"):
            lab.ask(name)
    assert two.by == {"driver": 1, "worker": 1}, two.by
    return "hits went on, adopted"


def step_upgrade(lab, daemon):
    """stop --keep and a new volleyd: no hit is lost in between."""
    start(daemon)
    warm(lab, daemon)
    daemon.stop("--keep")
    assert texts(lab.ask()) == WWW
    start(daemon)
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}, one.by
    return "no hit lost"


def step_corpus(lab, daemon):
    """What is not ours reaches the kernel as it came. A card drops some frames itself: those it also drops without us."""
    lines = run(TOOLS / "corpus").stdout.splitlines()
    frames = [(name, bytes.fromhex(text)) for name, text in (line.split("\t") for line in lines)]
    alone = reached(lab, [frame for _, frame in frames])
    start(daemon)
    beside = reached(lab, [frame for _, frame in frames])
    lost = [name for name, frame in frames if frame in alone and frame not in beside]
    assert alone and not lost, lost
    return f"{len(beside)} of {len(alone)} frames"


def reached(lab, frames):
    """Those that the kernel at the server's end gets."""
    seen = set()
    with lab.frames("s") as kernel, lab.frames("c") as wire:
        kernel.settimeout(SILENCE)
        for frame in frames:
            wire.send(frame)
        try:
            while True:
                frame = captured(kernel)
                if frame in frames:
                    seen.add(frame)
        except TimeoutError:
            return seen


def step_doctor(lab, daemon):
    """Nothing that doctor calls a failure where all works."""
    start(daemon)
    said = lab.exec("s", BIN / "volleyctl", "--json", "doctor", "--config", daemon.path, "s0", check=False)
    checks = json.loads(said.stdout)["checks"]
    failed = [check for check in checks if check.get("result") == "fail"]
    assert checks and not failed, said.stdout
    return f"{len(checks)} checks"


STEPS = [step_attach, step_true_counters, step_edns, step_ip_link, step_xdp_loader, step_kill, step_upgrade,
         step_corpus, step_doctor]


# --- Running them -----------------------------------------------------------------------------------


def one_step(step, lab, folder):
    """(result, words)"""
    daemon = Daemon(lab, folder)
    try:
        return "PASS", step(lab, daemon)
    except Absent as why:
        return "NONE", str(why)
    except Exception as err:  # pylint: disable=broad-except
        traceback.print_exc(limit=-3, file=sys.stdout)
        print("\n".join(daemon.log().splitlines()[-12:]))
        return "FAIL", f"{type(err).__name__}: {err}".replace("\n", " ")[:600]
    finally:
        daemon.clean_up()


def complaints():
    """What the kernel says that it must not."""
    lines = run("dmesg").stdout.splitlines()
    return [line for line in lines if any(word in line for word in ("BUG:", "Oops", "WARNING:", "Call Trace", "UBSAN"))]


def main():
    wanted = os.environ.get("STEPS", "").split()
    failed = 0
    lab = CardLab()
    for number, step in enumerate(STEPS):
        name = step.__name__.removeprefix("step_")
        if wanted and name not in wanted:
            continue
        began = time.monotonic()
        folder = tempfile.mkdtemp(prefix=f"{number}-")
        result, words = one_step(step, lab, folder)
        failed += result == "FAIL"
        print(f"{result} {name}: {words} [{time.monotonic() - began:.1f} s]", flush=True)
    said = complaints()
    if said:
        print("FAIL kernel:", said[0])
    sys.exit(1 if failed or said else 0)


if __name__ == "__main__":
    main()
