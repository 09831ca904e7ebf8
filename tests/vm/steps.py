# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of a cell: ways in, who answers, counters that are true, upgrades, what is not ours, what
doctor says.

A step is a function of lab and daemon that begins with a daemon that is stopped and the card as
CardLab leaves it, and leaves the card so. It gives a few words on what it saw, and raises Absent
where this card or kernel cannot have it.
"""
import json

import dns.message

from card import WWW, both_answer, by_driver, fresh, start, who_answers_wire
from netlab import BIN, TOOLS, V4, V6, Answered, driver_counters, program, run, texts, wait_for
from test_ports_corpus import captured

OBJECT = BIN / "volley.bpf.o"
NOT_NATIVE = ("virtio-all",)  # the kernel would crash: volleyd knows that, a command does not
SILENCE = 3  # seconds without a frame, after which none comes any more
BURST = 60  # queries; a machine by emulation answers some thousand a second


def step_attach(lab, daemon):
    """By volleyd: what it makes of the card, and who answers over IPv4 and IPv6."""
    start(daemon)
    found = daemon.interface()
    both_answer(lab, daemon)
    for where in (V4, V6):
        for expected, name in (((0, 1), fresh()), ((1, 0), "www.example.com")):
            with Answered(daemon) as one:
                assert lab.ask(name, where=where).answer
            assert by_driver(one) == expected, (where, one.by, found)
    assert not daemon.degraded(), daemon.degraded()
    copy = "zero-copy" if found.get("zero_copy") else "copy"
    return f"{found['xdp']}, {found.get('queues')} queues, {copy}"


def step_true_counters(lab, daemon):
    """Each hit and each miss that is counted as answered has arrived at the client."""
    start(daemon)
    both_answer(lab, daemon)
    names = ["www.example.com"] * BURST + [fresh() for _ in range(BURST)]
    arrived = 0
    with Answered(daemon) as all_of_them:
        for name in names:
            arrived += bool(lab.ask(name))
    assert by_driver(all_of_them) == (BURST, BURST), all_of_them.by
    return f"{sum(all_of_them.by.values())} counted, {arrived} arrived: {all_of_them.by}"


def step_edns(lab, daemon):
    """Sizes and truncation, by driver and by worker: the same octets."""
    start(daemon)
    both_answer(lab, daemon)
    for size in (512, 1232):
        query = dns.message.make_query("example.com", "NS", use_edns=0, payload=size,
                                       id=7).to_wire()
        first = lab.udp_wire(query)
        wait_for("the driver has it", lambda: who_answers_wire(lab, daemon, query) == {"driver": 1})
        assert lab.udp_wire(query) == first, size
    return "the same octets"


def by_hand(lab, daemon, load, unload):
    how = load()
    found = program(lab)
    try:
        start(daemon)
        seen = daemon.interface()
        assert seen["origin"] == "adopted", seen
        both_answer(lab, daemon)
        assert daemon.stop() == 0
        assert program(lab) == found
        assert not lab.is_answered()
        assert driver_counters(seen["program_id"])["UP_ORPHANED"] >= 1
    finally:
        unload()
    return f"{seen['xdp']}{how}, adopted"


def first_way(ways):
    """Of (words, command) the words of the first that the card and the kernel take."""
    said = ""
    for words, command in ways:
        done = command()
        if done.returncode == 0:
            return words
        said += done.stderr
    raise AssertionError(said)


def step_ip_link(lab, daemon):
    def load(mode):
        return lambda: lab.exec("s", "ip", "link", "set", "dev", "s0", mode, "obj", OBJECT, "sec",
                                "xdp", check=False)

    modes = ("xdpgeneric",) if lab.card in NOT_NATIVE else ("xdpdrv", "xdpgeneric")

    def unload():
        for mode in ("xdpdrv", "xdpgeneric"):
            lab.exec("s", "ip", "link", "set", "dev", "s0", mode, "off", check=False)
    return by_hand(lab, daemon, lambda: first_way([("", load(mode)) for mode in modes]), unload)


def step_xdp_loader(lab, daemon):
    """
    By libxdp's dispatcher where the kernel takes it: from 6.12 on it refuses that of Debian 12's
    libxdp.
    """
    def load(mode, *before):
        return lambda: lab.exec("s", *before, "xdp-loader", "load", "-m", mode, "s0", OBJECT,
                                check=False)
    alone = ("env", "LIBXDP_SKIP_DISPATCHER=1")
    ways = [(words, load(mode, *before))
            for mode in (("skb",) if lab.card in NOT_NATIVE else ("native", "skb"))
            for words, before in ((" by the dispatcher", ()), (" without the dispatcher", alone))]
    return by_hand(lab, daemon, lambda: first_way(ways),
                   lambda: lab.exec("s", "xdp-loader", "unload", "-a", "s0", check=False))


def step_upgrade(lab, daemon):
    """stop --keep and a new volleyd: no hit is lost in between."""
    start(daemon)
    both_answer(lab, daemon)
    daemon.stop("--keep")
    assert texts(lab.ask()) == WWW
    start(daemon)
    with Answered(daemon) as one:
        assert texts(lab.ask()) == WWW
    assert one.by == {"driver": 1}, one.by
    return "no hit lost"


def step_corpus(lab, daemon):
    """
    What is not ours reaches the kernel as it came. A card drops some frames itself: those it also
    drops without us.
    """
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
    both_answer(lab, daemon)
    said = lab.exec("s", BIN / "volleyctl", "--socket", daemon.socket, "--json", "doctor", "s0",
                    check=False)
    checks = json.loads(said.stdout)["checks"]
    failed = [check for check in checks if check["state"] == "fail"]
    assert checks and not failed, failed
    return f"{len(checks)} checks, no failure"


STEPS = [step_attach, step_true_counters, step_edns, step_ip_link, step_xdp_loader, step_upgrade,
         step_corpus, step_doctor]
