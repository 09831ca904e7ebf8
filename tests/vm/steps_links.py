# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of a cell that change the card's link: down and up, queues, MTU, VLAN tags, a daemon that
is killed.

As in guest.py: a step is a function of lab and daemon that begins with a daemon that is stopped and
the card as CardLab leaves it, and leaves the card so. It gives a few words on what it saw.
"""
import contextlib
import json
import re
import time

import dns.message

from card import CLIENT_MAC, SECONDS, TIMEOUT, Absent, answers, both_answer, fresh, start
from netlab import V4, Answered, program, query_frame, receive_frame, texts, wait_for

VLAN = 10
TAG = f"8100{VLAN:04x}"
BURST = 24


def repair(lab):
    """A link that was down has lost its IPv6 address and its neighbours."""
    lab.ip("s", "address", "replace", "2001:db8::53/64", "dev", "s0", "nodad")
    for client in ("192.0.2.1", "2001:db8::1"):
        lab.ip("s", "neighbour", "replace", client, "lladdr", CLIENT_MAC, "dev", "s0")


def ethtool(lab, *words):
    return lab.exec("s", "ethtool", *words, check=False)


def mode(daemon):
    return daemon.interface()["xdp"]


# --- Down and up ----------------------------------------------------------------------------------


def step_link_down_up(lab, daemon):
    """Twice: the driver answers again, also where it loses the program with the link (vmxnet3)."""
    start(daemon)
    both_answer(lab, daemon)
    before, waited = mode(daemon), []
    for _ in range(2):
        lab.ip("s", "link", "set", "s0", "down")
        time.sleep(1)
        lab.ip("s", "link", "set", "s0", "up")
        repair(lab)
        wait_for("the link is up", lambda: answers(lab, timeout=1), SECONDS)
        began = time.monotonic()
        both_answer(lab, daemon)
        waited.append(time.monotonic() - began)
    assert mode(daemon) == before
    assert not daemon.degraded(), daemon.degraded()
    times = daemon.log().count("it is attached anew")
    return f"answers again after {max(waited):.1f} s, attached anew {times} times"


# --- Queues ---------------------------------------------------------------------------------------


def n_queues(lab):
    """(in use, at most), of combined channels."""
    said = ethtool(lab, "-l", "s0").stdout
    found = re.findall(r"^Combined:\s*(\d+)", said, re.M)
    if len(found) != 2:
        raise Absent("ethtool -l does not tell its queues")
    return int(found[1]), int(found[0])


def xsk_ports(daemon):
    """{queue: counters}"""
    return {port["queue"]: port for port in daemon.json("port", "status")["ports"]
            if port["kind"] == "xsk"}


def set_queues(lab, daemon, n):
    """
    As the man page says to: True with AF_XDP sockets alone out of the way, False with the program
    as well.
    """
    daemon.ctl("port", "queues", "s0", n)
    if ethtool(lab, "-L", "s0", "combined", n).returncode == 0:
        return True
    daemon.ctl("detach", "s0")
    done = ethtool(lab, "-L", "s0", "combined", n)
    daemon.ctl("attach", "s0")
    assert done.returncode == 0, done.stderr
    return False


def step_ethtool_fewer_queues(lab, daemon):
    """
    The kernel refuses it while there are AF_XDP sockets; what the man page says to type works, and
    back.
    """
    before, _ = n_queues(lab)
    if before < 2:
        raise Absent("one queue")
    start(daemon)
    both_answer(lab, daemon)
    refused = ethtool(lab, "-L", "s0", "combined", "1")
    if "not supported" in refused.stderr:
        raise Absent("the driver has no ethtool -L")
    assert refused.returncode, "a queue was taken away from an AF_XDP socket"
    both_answer(lab, daemon)
    is_enough = set_queues(lab, daemon, 1)
    try:
        wait_for("one socket", lambda: list(xsk_ports(daemon)) == [0], SECONDS)
        both_answer(lab, daemon)
    finally:
        set_queues(lab, daemon, before)
        daemon.ctl("port", "queues", "s0", "auto")
    wait_for("sockets as before", lambda: len(xsk_ports(daemon)) >= 2, SECONDS)
    both_answer(lab, daemon)
    said = refused.stderr.strip().splitlines()[0]
    return f"{before} queues: {said}; after {'port queues' if is_enough else 'detach'}, and {before} again"


def spreads(lab):
    """QEMU's vmxnet3 gives all to its first queue."""
    return "driver: vmxnet3" not in ethtool(lab, "-i", "s0").stdout


# Of RFC 2544's network, with many bits that differ: some cards spread by addresses alone, with a
# key of chance.
SOURCES = [f"198.{18 + n % 2}.{n * 73 % 256}.{n * 151 % 255 + 1}" for n in range(16)]


def miss_from(lab, source):
    """A miss from an address of the client's: cards spread by addresses, few by ports as well."""
    query = dns.message.make_query(fresh(), "A")
    with lab.socket("c") as sock:
        sock.settimeout(TIMEOUT)
        sock.bind((source, 0))
        sock.sendto(query.to_wire(), (V4, 53))
        try:
            answer, _ = sock.recvfrom(65535)
        except TimeoutError:
            return False
    return texts(dns.message.from_wire(answer)) == ["192.0.2.200"]


@contextlib.contextmanager
def sources(lab):
    lab.ip("s", "route", "replace", "198.18.0.0/15", "dev", "s0")
    for source in SOURCES:
        lab.ip("c", "address", "add", f"{source}/32", "dev", "c0")
        lab.ip("s", "neighbour", "replace", source, "lladdr", CLIENT_MAC, "dev", "s0")
    try:
        yield
    finally:
        for source in SOURCES:
            lab.ip("c", "address", "del", f"{source}/32", "dev", "c0", check=False)
            lab.ip("s", "neighbour", "del", source, "dev", "s0", check=False)
        lab.ip("s", "route", "del", "198.18.0.0/15", "dev", "s0", check=False)


def step_misses_on_every_queue(lab, daemon):
    """
    Misses from many addresses and ports: each is answered, each queue with a socket gets some and
    sends as many.
    """
    with sources(lab):
        return misses_on_every_queue(lab, daemon)


def misses_on_every_queue(lab, daemon):
    start(daemon)
    both_answer(lab, daemon)
    before = xsk_ports(daemon)
    gained = dict.fromkeys(before, 0)
    n = 0
    with Answered(daemon) as all_of_them:
        while n < BURST or (n < 10 * BURST and spreads(lab) and not all(gained.values())):
            assert miss_from(lab,
                             SOURCES[n % len(SOURCES)]), f"query {n} was not answered; {gained}"
            n += 1
            if n % BURST == 0:
                after = xsk_ports(daemon)
                gained = {queue: after[queue]["rx"] - before[queue]["rx"] for queue in before}
    after = xsk_ports(daemon)
    gained = {queue: after[queue]["rx"] - before[queue]["rx"] for queue in before}
    sent = {queue: after[queue]["tx"] - before[queue]["tx"] for queue in before}
    assert sent == gained, (gained, sent)
    assert all(gained.values()) or not spreads(lab), f"queues without a query: {gained}"
    assert sum(all_of_them.by.values()) == n
    assert all_of_them.by.get("worker") == sum(gained.values())
    assert not daemon.degraded(), daemon.degraded()
    modes = {port["mode"] for port in after.values()}
    kernel = all_of_them.by.get("kernel_socket", 0)
    return f"{n} of {n} misses, {'/'.join(modes)}, by queue {list(gained.values())}, kernel sockets {kernel}"


# --- MTU ------------------------------------------------------------------------------------------


def pings(lab, octets):
    try:
        lab.ping(V4, bytes(octets), timeout=1)
    except TimeoutError:
        return False
    return True


def takes_large_frames(lab):
    """
    Without a program, but as the kernel sets the card up for one: LRO off. vmxnet3 drops then what
    does not fit one buffer (it offers more to the device with LRO alone).
    """
    had_lro = "large-receive-offload: on" in ethtool(lab, "-k", "s0").stdout
    ethtool(lab, "-K", "s0", "lro", "off")
    lab.ip("c", "link", "set", "c0", "mtu", 9000)
    taken = lab.ip("s", "link", "set", "s0", "mtu", 9000, check=False).returncode == 0
    try:
        repair(lab)
        return taken and any(pings(lab, 8000) for _ in range(5))
    finally:
        lab.ip("s", "link", "set", "s0", "mtu", 1500)
        if had_lro:
            ethtool(lab, "-K", "s0", "lro", "on")


def step_mtu_9000_and_back(lab, daemon):
    """
    Refused by the driver, or large frames arrive; with 9000 the program can be taken off, and the
    MTU stays.
    """
    is_large = takes_large_frames(lab)
    start(daemon)
    both_answer(lab, daemon)
    before = mode(daemon)
    try:
        set_mtu = lab.ip("s", "link", "set", "s0", "mtu", 9000, check=False)
        if set_mtu.returncode:
            both_answer(lab, daemon)
            return f"{before}; 9000 refused: {set_mtu.stderr.strip().splitlines()[0]}"
        repair(lab)
        wait_for("frames arrive", lambda: pings(lab, 8000 if is_large else 1000), SECONDS)
        both_answer(lab, daemon)
        with_9000 = mode(daemon)
        assert daemon.stop() == 0
        assert program(lab) is None, "the program stays"
        assert mtu(lab) == 9000, mtu(lab)
        start(daemon)
        both_answer(lab, daemon)
        lab.ip("s", "link", "set", "s0", "mtu", 1500)
        repair(lab)
        wait_for("all as before", lambda: mode(daemon) == before, SECONDS)
        both_answer(lab, daemon)
        assert not daemon.degraded(), daemon.degraded()
        return f"{before}, {with_9000} with 9000{'' if is_large else ' (no large frames without LRO)'}, {before} again"
    finally:
        lab.ip("s", "link", "set", "s0", "mtu", 1500)
        lab.ip("c", "link", "set", "c0", "mtu", 1500)
        repair(lab)


def mtu(lab, dev="s0"):
    return json.loads(lab.ip("s", "-j", "link", "show", "dev", dev).stdout)[0]["mtu"]


# --- VLANs ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def vlan(lab):
    """
    A VLAN on the card, through which the kernel reaches the client. The card's offload is as before
    at the end.
    """
    try:
        lab.ip("s", "link", "add", "link", "s0", "name", "s0.10", "type", "vlan", "id", VLAN)
    except AssertionError as err:
        raise Absent("no VLANs in this kernel") from err
    was_on = offload(lab)
    try:
        lab.ip("s", "link", "set", "s0.10", "up")
        lab.ip("s", "route", "replace", "192.0.2.1/32", "dev", "s0.10", "src", V4)
        lab.ip("s", "neighbour", "replace", "192.0.2.1", "lladdr", CLIENT_MAC, "dev", "s0.10")
        yield
    finally:
        lab.ip("s", "link", "del", "s0.10", check=False)
        ethtool(lab, "-K", "s0", "rxvlan", "on" if was_on else "off")
        repair(lab)


def offload(lab):
    return "rx-vlan-offload: on" in ethtool(lab, "-k", "s0").stdout


def set_offload(lab, wanted):
    """A card may take the link down for a moment."""
    ethtool(lab, "-K", "s0", "rxvlan", "on" if wanted else "off")
    if offload(lab) != wanted:
        raise Absent(f"the VLAN offload cannot be switched {'on' if wanted else 'off'}")
    lab.ip("s", "neighbour", "replace", "192.0.2.1", "lladdr", CLIENT_MAC, "dev", "s0.10")


def ask_tagged(lab, name, seconds=TIMEOUT):
    """
    What stands behind the addresses of the reply to a tagged query: "8100000a"; "": there is none.
    """
    with lab.frames("c") as wire:
        wire.settimeout(seconds)
        wire.send(query_frame(dns.message.make_query(name, "A"), tags=((0x8100, VLAN),)))
        try:
            while True:
                frame = receive_frame(wire)
                if b"\xc0\x00\x02\x35" in frame:  # from 192.0.2.53: neither ARP nor IPv6
                    return frame[12:16].hex()
        except TimeoutError:
            return ""


def tagged_burst(lab, daemon):
    """({who: how many}, replies by what stands in them), of hits and misses in turn."""
    seen = []
    with Answered(daemon) as all_of_them:
        for _ in range(BURST // 4):
            seen += [ask_tagged(lab, "www.example.com"), ask_tagged(lab, fresh())]
    return all_of_them.by, {tag: seen.count(tag) for tag in seen}


def step_vlan_tagged(lab, daemon):
    """With the offload off driver and worker answer, and each reply has the tag of its query."""
    with vlan(lab):
        set_offload(lab, False)
        start(daemon)
        wait_for("the driver answers", lambda: ask_tagged(lab, "www.example.com", 1) == TAG and
                 daemon.answered()["driver"], SECONDS)
        by, seen = tagged_burst(lab, daemon)
        assert seen == {TAG: BURST // 2}, (seen, by)
        assert by.get("driver") == BURST // 4 and sum(by.values()) == BURST // 2, by
        assert not daemon.degraded(), daemon.degraded()
    return f"{mode_before_stop(daemon)}: {BURST // 2} of {BURST // 2} replies tagged, {by}"


def mode_before_stop(daemon):
    return mode(daemon) if daemon.process else "stopped"


def step_vlan_offload_on(lab, daemon):
    """
    With it on, no reply leaves untagged: in native mode kernel sockets answer all, in generic mode
    what the program does not; status says what to type, and when that has been typed all is as it
    should be.
    """
    with vlan(lab):
        start(daemon)
        set_offload(lab, True)
        wait_for("it is said", lambda: "ethtool -K s0 rxvlan off" in daemon.degraded(), SECONDS)
        wait_for("the link is up", lambda: ask_tagged(lab, "www.example.com", 1) == TAG, SECONDS)
        by, seen = tagged_burst(lab, daemon)
        assert seen == {TAG: BURST // 2}, (seen, by)
        assert "worker" not in by, by
        assert mode(daemon) == "generic" or by == {"kernel_socket": BURST // 2}, by
        set_offload(lab, False)
        wait_for("all is well", lambda: not daemon.degraded(), SECONDS)
        wait_for("the driver answers", lambda: ask_tagged(lab, "www.example.com", 1) == TAG,
                 SECONDS)
        after, seen = tagged_burst(lab, daemon)
        assert seen == {TAG: BURST // 2}, (seen, after)
        assert set(after) <= {"driver", "worker"}, after
    return f"{mode_before_stop(daemon)}: on {by}, off {after}, all tagged"


# --- kill -9 --------------------------------------------------------------------------------------


def step_kill_and_adopt(lab, daemon):
    """
    Hits go on without a daemon, misses are the kernel's; the next daemon adopts, and all queues
    answer misses.
    """
    start(daemon)
    both_answer(lab, daemon)
    before, n_sockets, there = daemon.interface()["program_id"], len(xsk_ports(daemon)), program(
        lab)
    daemon.kill()
    hits = sum(answers(lab) for _ in range(BURST))
    assert hits == BURST, f"{hits} of {BURST} hits without a daemon"
    assert program(lab) == there
    start(daemon)
    seen = daemon.interface()
    assert (seen["origin"], seen["program_id"]) == ("adopted", before), seen
    wait_for("all sockets", lambda: len(xsk_ports(daemon)) == n_sockets, SECONDS)
    both_answer(lab, daemon)
    with Answered(daemon) as all_of_them:
        n_misses = sum(answers(lab, fresh()) for _ in range(BURST))
    assert n_misses == BURST, f"{n_misses} of {BURST} misses after adoption, {all_of_them.by}"
    assert not daemon.degraded(), daemon.degraded()
    return f"{hits} of {BURST} hits without a daemon, adopted, {n_misses} of {BURST} misses {all_of_them.by}"


STEPS = [step_link_down_up, step_ethtool_fewer_queues, step_misses_on_every_queue,
         step_mtu_9000_and_back, step_vlan_tagged, step_vlan_offload_on, step_kill_and_adopt]
