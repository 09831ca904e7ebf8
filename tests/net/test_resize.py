# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A new size for a cache in use: each query gets its answer, and none an old one, with any event
meanwhile."""
import contextlib
import mmap
import pathlib
import random
import re
import signal
import socket
import struct
import threading
import time

import dns.flags
import dns.message
import dns.rrset
import pytest

from dnstree import ask, by, query, world_of
from netlab import (BIN, CLIENT4, ROOT, TOOLS, V4, iface, in_driver, map_ids, program, run, texts,
                    wait_for, write_zone, zone)

MIB = 1 << 20
N_NAMES = 400
NAMES = [f"n{i}.z.test" for i in range(N_NAMES)]
N_PRIMED = 200000  # some 25 MiB


def address(i, version=0):
    return f"10.{version}.{i >> 8}.{i & 255}"


def records(n=N_NAMES, version=0):
    return "".join(f"n{i} IN A {address(i, version)}\n" for i in range(n))


@pytest.fixture
def path(tmp_path):
    return write_zone(tmp_path / "z.zone", 1, more=records())


def zones(path):
    return [zone("z.test", path), zone("example.com")]


def stats(daemon):
    return daemon.json("cache", "stats")


def resize(daemon, mib):
    return daemon.json("cache", "resize", f"{mib}M")


def begin_resize(daemon, mib):
    """The command, under way, which is not waited for."""
    thread = threading.Thread(target=daemon.ctl, args=("cache", "resize", f"{mib}M"),
                              kwargs={"check": False})
    thread.start()
    return thread


def warm(lab, **kwargs):
    """All names into the cache."""
    for name in NAMES:
        lab.ask(name, **kwargs)


class Pace:
    """The words of preload/slowcopy.c."""

    def __init__(self, folder):
        self.library = folder / "slowcopy.so"
        run("gcc", "-shared", "-fPIC", "-o", self.library, ROOT / "tests/net/preload/slowcopy.c")
        self.path = folder / "slowcopy"
        self.path.write_bytes(bytes(32))
        with open(self.path, "r+b") as file:
            self.words = mmap.mmap(file.fileno(), 32)

    def set(self, pause_us=0, stands=0, parts=0):
        self.words[:24] = struct.pack("=qqq", pause_us, stands, parts)

    def hold(self):
        """The next walk stands still behind its first part."""
        self.set(parts=1)

    def go_until(self, what, reached):
        """
        Lets the walk go on, some parts at a time, and returns while it stands, as soon as REACHED()
        is true.
        """
        parts = 1

        def done():
            return struct.unpack("=q", self.words[24:])[0] >= parts
        for _ in range(200):
            wait_for("parts of the walk", done, 20)
            if reached():
                return
            parts += 4
            self.set(parts=parts)
        pytest.fail(f"the walk has ended: {what}")

    def env(self):
        return {"LD_PRELOAD": str(self.library), "SLOWCOPY_FILE": str(self.path)}

    def start(self, daemon, **sections):
        daemon.configure(**sections).spawn(env=self.env())
        return daemon.wait_ready()


@pytest.fixture
def pace(tmp_path):
    return Pace(tmp_path)


def begin_copying(daemon, pace, mib, percent=75):
    """
    Begins to resize, until the copy stands this far: counting takes the first half. The thread that
    waits for it.
    """
    def far():
        now = stats(daemon)
        return now.get("resizing_stage") == "copying" and now["resizing_percent"] >= percent
    pace.hold()
    resizing = begin_resize(daemon, mib)
    pace.go_until("the copy", far)
    return resizing


@contextlib.contextmanager
def asking(lab, names, right, port=53):
    """
    A client that asks one question after the other, and wants the right answer to each at once.
    """
    failures, asked, stop = [], [0], threading.Event()
    sock = lab.socket("c")

    def go_on():
        draw = random.Random(1)
        while not stop.is_set():
            i = draw.randrange(len(names))
            query = dns.message.make_query(names[i], "A")
            sock.sendto(query.to_wire(), (V4, port))
            try:
                answer = dns.message.from_wire(sock.recv(4096))
            except socket.timeout:
                failures.append(f"{names[i]}: none")
                continue
            if answer.id != query.id or set(texts(answer)) != right(i):
                failures.append(f"{names[i]}: {answer}")
            asked[0] += 1
    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield asked
        wait_for("questions enough", lambda: asked[0] > 20 or failures)
    finally:
        stop.set()
        thread.join()
        sock.close()
    assert not failures, failures[:3]


def memlock_bytes(daemon):
    """Of the maps that the process has descriptors of, each once."""
    maps = {}
    for path in pathlib.Path(f"/proc/{daemon.process.pid}/fdinfo").iterdir():
        try:
            info = path.read_text(encoding="ascii")
        except FileNotFoundError:
            continue
        words = dict(line.split(":", 1) for line in info.splitlines())
        if "map_id" in words:
            maps[words["map_id"]] = int(words["memlock"])
    return sum(maps.values())


def is_gone(map_id):
    return run("bpftool", "map", "show", "id", map_id, check=False).returncode != 0


def fill(lab, daemon, mib, path):
    """A cache of so many MiB with N_PRIMED answers of the zone, of which a daemon adopts it."""
    daemon.start(cache={"size": f"{mib}M"}, zones=zones(path))
    daemon.stop("--keep")
    lab.exec("s", TOOLS / "prime", "s0", N_PRIMED)


# --- Under load ----------------------------------------------------------------------------------


@pytest.mark.parametrize("port", ["auto", "socket"])
def test_up_and_down(lab, daemon, path, port):
    """Every answer comes and is right; hits go on in the driver; the memory is given back."""
    daemon.start(cache={"size": "32M"}, zones=zones(path), interfaces=[iface(port=port)])
    warm(lab)
    before = stats(daemon)
    with asking(lab, NAMES, lambda i: {address(i)}) as asked:
        for mib in (128, 16, 64, 32):
            store = map_ids(program(lab)["id"])["volley_store"]
            told = resize(daemon, mib)
            wait_for("the old map is freed", lambda: is_gone(store))  # pylint: disable=W0640
            assert told["size_bytes"] == mib * MIB
            assert told["copied"] >= N_NAMES and told["no_room"] == 0
            now = stats(daemon)
            assert mib * MIB * 0.95 < now["total_bytes"] <= now["size_bytes"] == mib * MIB
            assert memlock_bytes(daemon) < (mib + 5) * MIB  # 4 are the rate limit's
            assert now["entries"] == before["entries"]
            assert now["published"] == before["published"]
            assert "resizing_stage" not in now
            since = asked[0]
            wait_for("some questions", lambda: asked[0] > since + 50)
    assert in_driver(lab, daemon, NAMES) == N_NAMES
    assert daemon.status()["degraded"] == []
    daemon.stats()  # received is hit, up, passed and dropped


def test_the_hot_half_stays(lab, daemon, path):
    """
    Of many answers, and room for a third of them, those that are asked are in the driver
    afterwards.
    """
    fill(lab, daemon, 32, path)
    daemon.start()
    assert stats(daemon)["entries"] >= N_PRIMED * 0.99
    warm(lab)
    warm(lab)  # now each is a hit: a full bucket of the index may have lost its primed answer
    with asking(lab, NAMES, lambda i: {address(i)}):
        told = resize(daemon, 8)
    assert told["no_room"] > N_PRIMED / 2
    assert told["copied"] + told["no_room"] == told["entries"] >= N_PRIMED * 0.99
    assert in_driver(lab, daemon, NAMES) == N_NAMES
    now = stats(daemon)
    assert now["total_bytes"] <= 8 * MIB
    assert now["segments_free"] >= 3  # room for what comes now


def test_answers_for_some_clients(lab, daemon, path):
    """The driver's table of clients is the same for both caches."""
    daemon.start(cache={"size": "32M"}, zones=zones(path),
                 server={"allow": [f"{CLIENT4}/32"]})
    warm(lab)
    assert in_driver(lab, daemon, NAMES) == N_NAMES
    with asking(lab, NAMES, lambda i: {address(i)}):
        resize(daemon, 16)
    assert in_driver(lab, daemon, NAMES) == N_NAMES
    assert {row["view"] for row in stats(daemon)["by_variant"]} != {0}


LONG, SHORT = 600, 2  # s


def lasting(made, _tcp):
    """An address for LONG seconds, or for SHORT if the name begins with "short"."""
    name = made.question[0].name
    reply = dns.message.make_response(made)
    reply.flags |= dns.flags.AA
    reply.answer.append(dns.rrset.from_text(name, SHORT if name.labels[0] == b"short" else LONG,
                                            "IN", "A", "192.0.2.1"))
    return reply.to_wire()


def test_answers_from_upstream(tmp_path, tree_zones):
    """They go on ageing in the driver, are for the same clients, and end when they are to."""
    with world_of(tmp_path, tree_zones) as world:
        world.start(keys={"qname-minimisation": False})
        upstream = world.tree.script("aging.lab.", lasting)
        question, ends = (query(f"{word}.aging.lab.", do=True) for word in ("long", "short"))
        before = time.monotonic()
        ask(world.lab, question)
        ask(world.lab, ends)
        since = time.monotonic()
        for mib in (32, 16):
            world.daemon.json("cache", "resize", f"{mib}M")
            reasons = world.daemon.reasons()
            who, reply = by(world.daemon, lambda: ask(world.lab, question))
            assert who == {"driver": 1}, world.daemon.reasons() - reasons
            passed = time.monotonic() - before
            assert LONG - passed - 1 <= reply.answer[0].ttl <= LONG
        n_asked = len(upstream.seen)
        time.sleep(max(0, since + SHORT + 1 - time.monotonic()))
        who, reply = by(world.daemon, lambda: ask(world.lab, ends))
        assert who == {"worker": 1} and reply.answer[0].ttl >= SHORT - 1
        assert len(upstream.seen) > n_asked


@pytest.mark.parametrize("how", ["gone", "taken off"])
def test_interface_lost_while_copied(lab, daemon, path, pace, how):
    """The other one gets the new cache; this one too, when it is there again."""
    where = second_interface(lab)
    pace.start(daemon, cache={"size": "32M"}, zones=zones(path), server={"listen": [V4, where]},
               interfaces=[iface("s0"), iface("s1")])
    warm(lab)
    resizing = begin_copying(daemon, pace, 16)
    if how == "gone":
        lab.ip("s", "link", "del", "s1")
    else:
        lab.ip("s", "link", "set", "dev", "s1", "xdp", "off")
    pace.set()
    resizing.join()
    assert stats(daemon)["size_bytes"] == 16 * MIB
    assert in_driver(lab, daemon, NAMES) == N_NAMES
    if how == "gone":
        second_interface(lab)
    wait_for("the program", lambda: program(lab, "s1"))
    assert map_ids(program(lab, "s1")["id"])["volley_store"] == \
        map_ids(program(lab)["id"])["volley_store"]
    assert texts(lab.ask(NAMES[1], where=where)) == [address(1)]


def test_by_configuration(lab, daemon, path):
    """SIGHUP with another cache.size; the command's size stays while cache.size in the file is
    unchanged."""
    daemon.start(cache={"size": "32M"}, zones=zones(path))
    warm(lab)
    daemon.configure(cache={"size": "16M"}, zones=zones(path))
    daemon.signal(signal.SIGHUP)
    wait_for("the size", lambda: stats(daemon)["size_bytes"] == 16 * MIB)
    assert in_driver(lab, daemon, NAMES) == N_NAMES
    # the old one is freed last
    wait_for("the end of it", lambda: "resizing_stage" not in stats(daemon))
    resize(daemon, 24)
    daemon.ctl("zone", "reload")
    time.sleep(1.5)  # a tick
    assert stats(daemon)["size_bytes"] == 24 * MIB


# --- Changes in the middle ------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["some", "all", "flush"])
def test_change_while_copied(lab, daemon, path, pace, change):
    """Answers that a reload or a flush withdraws during the copy do not come back with it."""
    pace.start(daemon, cache={"size": "32M"}, zones=zones(path))
    warm(lab)
    resizing = begin_copying(daemon, pace, 16)
    if change == "some":
        write_zone(path, 2, more=records(N_NAMES // 2, 9) + records()[len(records(N_NAMES // 2)):])
    elif change == "all":
        write_zone(path, 2, more=records(1500, 9))  # too many for one by one
    changed = N_NAMES // 2 if change == "some" else N_NAMES
    if change == "flush":
        assert daemon.json("cache", "flush", "--subtree", "z.test")["withdrawn"] >= N_NAMES
        version = 0
    else:
        told = daemon.json("zone", "reload", "z.test")["zones"][0]
        assert ("all_answers_withdrawn" in told) == (change == "all")
        version = 9
    assert resizing.is_alive(), "the copy was over before the change"
    if change == "flush":
        pace.set()
        resizing.join()
        assert in_driver(lab, daemon, NAMES) == 0
        return
    with asking(lab, NAMES[:changed], lambda i: {address(i, version)}):
        pace.set(pause_us=1000)
        resizing.join()
    assert stats(daemon)["size_bytes"] == 16 * MIB
    for _ in range(2):
        for i in range(0, N_NAMES, 7):
            assert texts(lab.ask(NAMES[i])) == [address(i, version if i < changed else 0)]
    assert in_driver(lab, daemon, NAMES[:N_NAMES:7]) > 0


def test_what_comes_while_copied(lab, daemon, path, pace):
    """Answers that are made while the copy goes on are in the driver when it is over."""
    pace.start(daemon, cache={"size": "32M"}, zones=zones(path))
    for name in NAMES[:10]:
        lab.ask(name)
    resizing = begin_copying(daemon, pace, 16, 95)
    warm(lab)
    assert resizing.is_alive(), "the copy was over before the questions"
    pace.set()
    resizing.join()
    assert in_driver(lab, daemon, NAMES) == N_NAMES


# --- Death in the middle --------------------------------------------------------------------------


def test_killed_while_copied(lab, daemon, path, pace):
    """The old cache answers on, and is what the next daemon adopts."""
    pace.start(daemon, cache={"size": "32M"}, zones=zones(path))
    warm(lab)
    found = program(lab)
    resizing = begin_copying(daemon, pace, 64)
    daemon.kill()
    resizing.join()
    assert program(lab) == found
    assert texts(lab.ask(NAMES[1])) == [address(1)]
    daemon.start()
    assert daemon.interface()["origin"] == "adopted"
    assert stats(daemon)["total_bytes"] <= 32 * MIB
    assert in_driver(lab, daemon, NAMES) == N_NAMES


def test_killed_in_the_late_copy(lab, daemon, path, pace):
    """
    The workers have the new cache, the driver the old one: a reload reaches both, and so does the
    end.
    """
    pace.start(daemon, cache={"size": "32M"}, zones=zones(path))
    warm(lab)
    found = program(lab)
    pace.hold()
    resizing = begin_resize(daemon, 16)
    pace.go_until("the late copy", lambda: "meanwhile" in stats(daemon).get("resizing_stage", ""))
    half = N_NAMES // 2
    write_zone(path, 2, more=records(half, 9) + records()[len(records(half)):])
    assert daemon.json("zone", "reload", "z.test")["zones"][0]["answers_withdrawn"] >= half
    assert resizing.is_alive() and program(lab) == found
    assert in_driver(lab, daemon, NAMES[half:]) == N_NAMES - half
    for _ in range(2):
        assert texts(lab.ask(NAMES[0])) == [address(0, 9)]
    daemon.kill()
    resizing.join()
    assert not lab.is_answered(NAMES[1])  # nobody there who could, and nothing old
    assert texts(lab.ask(NAMES[half])) == [address(half)]
    daemon.start()
    assert daemon.interface()["origin"] == "adopted"
    assert in_driver(lab, daemon, NAMES[half:]) == N_NAMES - half
    for i in range(0, half, 7):
        assert texts(lab.ask(NAMES[i])) == [address(i, 9)]


def second_interface(lab):
    """A veth pair c1, s1 beside the first."""
    lab.ip("c", "link", "add", "c1", "type", "veth", "peer", "name", "s1",
           "netns", f"{lab.name}-s")
    for end, host in (("c", 1), ("s", 53)):
        lab.exec(end, "ethtool", "-K", f"{end}1", "tx", "off", "gro", "on")
        lab.ip(end, "link", "set", f"{end}1", "up")
        lab.ip(end, "address", "add", f"198.51.100.{host}/24", "dev", f"{end}1")
    lab.exec("c", "ip", "link", "set", "dev", "c1", "xdpdrv", "obj", BIN / "xdp_pass.bpf.o",
             "sec", "xdp")
    return "198.51.100.53"


@pytest.mark.parametrize("order", [["s0", "s1"], ["s1", "s0"]])
def test_killed_between_two_interfaces(lab, daemon, path, pace, order):
    """
    One has the new cache, one the old: both answer; the next daemon takes the new one, and no old
    answer.
    """
    where = second_interface(lab)
    both = {"server": {"listen": [V4, where]}, "zones": zones(path),
            "interfaces": [iface(name) for name in order]}
    pace.start(daemon, cache={"size": "32M"}, **both)
    warm(lab)
    before = {name: program(lab, name)["id"] for name in order}
    pace.set(stands=1)
    resizing = begin_resize(daemon, 16)
    wait_for("the first", lambda: program(lab, order[0])["id"] != before[order[0]])
    assert program(lab, order[1])["id"] == before[order[1]]
    stores = {map_ids(program(lab, name)["id"])["volley_store"] for name in order}
    assert len(stores) == 2
    daemon.kill()
    resizing.join()
    for at in (V4, where):
        assert texts(lab.ask(NAMES[1], where=at)) == [address(1)]
    write_zone(path, 2, more=records(version=9))
    daemon.configure(cache={"size": "16M"}, **{**both, "interfaces": [iface("s0"), iface("s1")]})
    daemon.start()
    assert daemon.interface(order[0])["origin"] == "adopted"
    assert daemon.interface(order[1])["origin"] == "replaced"
    assert {map_ids(program(lab, name)["id"])["volley_store"] for name in order} < stores
    for at in (V4, where):
        for i in range(0, N_NAMES, 7):
            assert texts(lab.ask(NAMES[i], where=at)) == [address(i, 9)]
    assert in_driver(lab, daemon, NAMES[:N_NAMES:7]) == len(NAMES[:N_NAMES:7])


def test_stopped_while_copied(lab, daemon, path, pace):
    pace.start(daemon, cache={"size": "32M"}, zones=zones(path))
    lab.ask(NAMES[0])
    resizing = begin_copying(daemon, pace, 64)
    pace.set(pause_us=200000)  # the stop waits for the part that is under way
    assert daemon.stop() == 0
    resizing.join()
    assert program(lab) is None


# --- What is refused ------------------------------------------------------------------------------


def refused(daemon, *words, status=1):
    said = daemon.ctl(*words, check=False)
    assert said.returncode == status, said.stdout
    return said.stderr


def test_refusals(lab, daemon, path, pace, tmp_path):
    pace.start(daemon, cache={"size": "32M"}, zones=zones(path))
    lab.ask(NAMES[0])
    assert "give a size from" in refused(daemon, "cache", "resize", "1M", status=2)
    assert "give a size from" in refused(daemon, "cache", "resize", "much", status=2)
    assert "give a size from" in refused(daemon, "cache", "resize", "500G", status=2)
    with open("/proc/meminfo", encoding="ascii") as lines:
        available = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    if available < 50 << 20:
        much = f"{available // 1024 + 1024}M"
        assert "there is not enough memory for" in refused(daemon, "cache", "resize", much)
        daemon.configure(cache={"size": much}, zones=zones(path))
        daemon.ctl("zone", "reload")
        assert "cache.size: " in daemon.degraded()
        assert "there is not enough memory for" in daemon.degraded()
        assert stats(daemon)["size_bytes"] == 32 * MIB
    resizing = begin_copying(daemon, pace, 16)
    assert "being resized already" in refused(daemon, "cache", "resize", "24M")
    assert "being resized" in refused(daemon, "cache", "dump", tmp_path / "snapshot")
    pace.set()
    resizing.join()
    assert stats(daemon)["size_bytes"] == 16 * MIB and not daemon.degraded()
    daemon.ctl("cache", "dump", tmp_path / "snapshot")
    parts = re.search(r"resized to 16M: .*; ([0-9.]+) s: memory and copy ([0-9.]+), what came "
                      r"meanwhile ([0-9.]+), release ([0-9.]+)", daemon.log()).groups()
    total, *parts = map(float, parts)
    assert total - 0.01 < sum(parts) < total + 0.01 and parts[0] > 0
    assert resize(daemon, 16)["size_bytes"] == 16 * MIB  # as it is
    assert in_driver(lab, daemon, NAMES[:1]) == 1


def test_without_bpf(lab, daemon, path):
    """The workers alone: their earlier answers are kept, and the memory does not exceed the
    configured size."""
    daemon.configure(cache={"size": "256M"}, zones=zones(path), server={"listen": [f"{V4}@5300"]})
    daemon.spawn(before=["setpriv", "--bounding-set=-all", "--inh-caps=-all"])
    daemon.wait_ready()
    assert "no BPF maps" in daemon.degraded()
    warm(lab, port=5300)
    with asking(lab, NAMES, lambda i: {address(i)}, 5300):
        assert resize(daemon, 64)["copied"] >= N_NAMES
        assert resize(daemon, 16)["copied"] >= N_NAMES
    before = daemon.stats()["engine"]
    warm(lab, port=5300)
    after = daemon.stats()["engine"]
    assert after["cache_hit"] - before["cache_hit"] == N_NAMES
    assert stats(daemon)["rss_bytes"] < 128 * MIB
