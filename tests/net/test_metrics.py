# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""metrics.listen: the metrics are well formed and true, and a client that reads them cannot disturb
the daemon."""
import contextlib
import datetime
import http.client
import re
import shutil
import socket
import time

import dns.rdatatype
import dns.zone
import pytest

from netlab import CLIENT4, V4, V6, iface, remote, run, wait_for, write_zone, zone
from primaries import ZONE, Mood
from secondaries import certificate
from test_signing import transferred

PORT = 9253
AT = f"{V4}@{PORT}"
NAME = re.compile(r"[a-z][a-z0-9_]*")
SAMPLE = re.compile(r'([a-z0-9_]+)(?:\{(.*)\})? (\d+(?:\.\d+)?)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)')


class Connection(http.client.HTTPConnection):
    """From the lab's client."""

    def __init__(self, lab, where=V4):
        super().__init__(where, PORT, timeout=5)
        self.lab = lab

    def connect(self):
        self.sock = self.lab.connect("c", self.host, self.port)


def fetch(lab, path="/metrics", method="GET", where=V4):
    """Status, header and text."""
    connection = Connection(lab, where)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def labels_of(text):
    found, at = {}, 0
    while at < len(text):
        label = LABEL.match(text, at)
        assert label, text
        assert label[1] not in found, text
        found[label[1]] = label[2]
        at = label.end()
    return found


def check_histogram(name, families):
    """
    Buckets by ascending bound, each with those before it; the last one, without a bound, is the
    count.
    """
    rows = {}
    for key, value in families[f"{name}_bucket"][1].items():
        labels = dict(key)
        bound = labels.pop("le")
        rows.setdefault(tuple(sorted(labels.items())), []).append((float(bound), value))
    assert rows.keys() == families[f"{name}_count"][1].keys() == families[f"{name}_sum"][
        1].keys(), name
    for key, row in rows.items():
        assert row == sorted(row) and [n for _, n in row] == sorted(n for _, n in row), name
        assert row[-1] == (float("inf"), families[f"{name}_count"][1][key]), name


def parse(text):
    """
    {family: (type, {labels: value})}, after the rules of the format: HELP and TYPE once and before
    the samples of the family, which stand together, none twice; counters end in _total, gauges do
    not. A histogram is three families.
    """
    assert text.endswith("\n")
    families, current, heads = {}, None, {}
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("# HELP "):
            current, words = line[7:].split(" ", 1)
            assert NAME.fullmatch(current) and current.startswith(("volley_",
                                                                   "process_")) and words, line
            assert current not in heads, f"{current}: twice"
            kind = next(lines)
            assert kind in [f"# TYPE {current} {one}"
                            for one in ("counter", "gauge", "histogram")], kind
            assert current.endswith("_total") == kind.endswith("counter"), kind
            heads[current] = kind.rsplit(" ", 1)[1]
            ends = ("_bucket", "_count", "_sum") if heads[current] == "histogram" else ("",)
            families.update({current + end: (heads[current], {}) for end in ends})
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample and sample[1] in families and sample[1].startswith(current), line
        key = tuple(sorted(labels_of(sample[2] or "").items()))
        assert key not in families[sample[1]][1], f"{line}: twice"
        families[sample[1]][1][key] = float(sample[3]) if "." in sample[3] else int(sample[3])
    for name, kind in heads.items():
        if kind == "histogram":
            check_histogram(name, families)
    return families


class Metrics(dict):
    """{family: {labels: value}}"""

    def __init__(self, lab, where=V4):
        status, header, self.text = fetch(lab, where=where)
        assert status == 200
        assert header["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        super().__init__({name: samples for name, (_, samples) in parse(self.text).items()})

    def sum(self, name, **labels):
        """Over all samples of a family that have these labels."""
        return sum(value for key, value in self[name].items()
                   if labels.items() <= dict(key).items())


@pytest.fixture
def told(lab, daemon):
    """A volleyd that tells, and has answered two in a worker and one in the driver."""
    daemon.start(metrics={"listen": AT})
    lab.ask()
    lab.ask()
    lab.ask("nothere.example.com")
    return daemon


def test_filter_of_names(lab, daemon):
    daemon.start(metrics={"listen": AT}, cache={"size": "8M", "names": "64K"})
    wait_for("it was looked at", lambda: Metrics(lab).sum("volley_names_served"))
    metrics, said = Metrics(lab), daemon.json("names")
    assert metrics.sum("volley_names_in_use") == 1
    assert metrics.sum("volley_names_rebuilds_total") == 0
    for family, key in (("size_bytes", "size_bytes"), ("served", "names_served"),
                        ("added", "names_added"), ("gone", "names_gone")):
        assert metrics.sum(f"volley_names_{family}") == said[key]
    assert metrics.sum("volley_names_fill_ppm") > 0
    assert "volley_names_false_positives_ppm" in metrics


def test_what_is_told_is_what_stats_tells(lab, told):
    metrics, stats = Metrics(lab), told.stats()
    driver = stats["driver"]
    for kind in ("hit", "up", "dropped"):
        assert metrics.sum("volley_driver_packets_total", interface="s0",
                           **{"class": kind}) == driver[kind]
    assert metrics.sum("volley_driver_packets_total", reason="hit-full") == 1
    assert metrics.sum("volley_driver_packets_total") == \
        metrics.sum("volley_driver_received_total") > 3
    for name, value in stats["engine"].items():
        assert metrics.sum(f"volley_engine_{name}_total") == value, name
    assert metrics.sum("volley_worker_answered_total", kind="xsk") == 2
    assert metrics.sum("volley_port_rx_total", kind="xsk") == 2
    # a line for each kind of port that a worker has, however many these are
    kinds = {(port["kind"], str(port["worker"])) for port in stats["ports"]}
    assert ({(dict(key)["kind"], dict(key)["worker"]) for key in metrics["volley_port_rx_total"]} ==
            kinds)
    assert metrics.sum("volley_ports") == len(stats["ports"])
    for kind, worker in kinds:
        assert metrics.sum("volley_port_rx_total", kind=kind, worker=worker) == \
            sum(port["rx"] for port in stats["ports"]
                if (port["kind"], str(port["worker"])) == (kind, worker))
    assert metrics.sum("volley_worker_answer_seconds_count", kind="xsk") == 2
    assert 0 < metrics.sum("volley_worker_answer_seconds_sum", kind="xsk") < 10
    assert metrics["volley_interface_state"] == {
        (("interface", "s0"), ("state", state)): state == "up"
                                                 for state in ("down", "up", "gone", "degraded")}
    assert metrics["volley_interface_xdp"] == {
        (("interface", "s0"), ("mode", mode)): mode == "native"
                                               for mode in ("native", "generic", "off")}
    assert metrics.sum("volley_interface_up", interface="s0") == 1
    assert metrics.sum("volley_ready") == 1
    assert metrics.sum("volley_names_in_use") == 0 and "volley_names_added" not in metrics
    assert abs(metrics.sum("process_start_time_seconds") - time.time()) < 600
    assert metrics.sum("process_cpu_seconds_total") > 0
    assert metrics.sum("process_max_fds") >= metrics.sum("process_open_fds") > 10
    assert metrics.sum("process_virtual_memory_bytes") > metrics.sum(
        "process_resident_memory_bytes") > 1 << 20
    assert metrics.sum("volley_build_info", abi=str(told.status()["abi"])) == 1


def test_cache_and_zones(lab, told):
    metrics, cache = Metrics(lab), told.json("cache", "stats")
    assert metrics.sum("volley_cache_entries") == cache["entries"] == 2
    assert metrics.sum("volley_cache_used_bytes") == cache["used_bytes"]
    assert metrics.sum("volley_cache_size_bytes") == cache["size_bytes"]
    assert metrics.sum("volley_cache_segments") == cache["segments"]
    assert metrics.sum("volley_cache_published_total") == cache["published"]
    for status in told.json("zone", "status")["zones"]:
        assert metrics.sum("volley_zone_serial", zone=status["name"]) == status["serial"]
        assert metrics.sum("volley_zone_state", zone=status["name"], state="serving") == 1
        assert metrics.sum("volley_zone_state", zone=status["name"]) == 1  # of all states
    assert metrics.sum("volley_zones", state="serving") == 2


def test_names_that_need_escapes_and_zones_that_fail(lab, daemon, tmp_path):
    path = write_zone(tmp_path / "z.zone")
    daemon.start(metrics={"listen": AT}, zones=[
        zone("back\\\\slash.test", path), zone("z.test", tmp_path / "none.zone")])
    metrics = Metrics(lab)
    assert metrics.sum("volley_zone_state", state="failed", zone="z.test.") == 1
    assert metrics.sum("volley_zone_serial") == 1
    assert any("slash" in line for line in metrics.text.splitlines())


def test_when_a_zone_expires(lab, there, daemon, tmp_path):
    """The value in zone status; zones without primaries have none."""
    Mood(there, CLIENT4)
    daemon.start(metrics={"listen": AT}, server={"storage": str(tmp_path / "store")},
                 remotes=[remote("main", CLIENT4)],
                 zones=[zone("example.com"), {"name": ZONE, "primaries": ["main"]}])

    def status():
        return daemon.json("zone", "status", ZONE)["zones"][0]

    wait_for("the zone is there", lambda: status()["state"] == "serving")

    def is_told():  # neither may be from before another look at the primary
        before = status()["expires_at"]
        metrics = Metrics(lab)
        return before == status()["expires_at"] and before and \
            metrics["volley_zone_expires_timestamp_seconds"] == {(("zone", ZONE),): before} and \
            metrics.sum("volley_zones_expires_timestamp_seconds") == before

    wait_for("it is told", is_told)


def test_when_signatures_end(lab, daemon, tmp_path):
    """Of the zone that is signed here: of all its signatures the first end."""
    day = 86400
    begun = int(time.time())
    daemon.start(metrics={"listen": AT}, server={"storage": str(tmp_path / "store")},
                 signing=[{"name": "usual", "signature-lifetime": "10d", "refresh": "4d",
                           "jitter": "1d"}],
                 zones=[zone("z.test", write_zone(tmp_path / "z.zone"), signing="usual",
                             allow_transfer=["any"]), zone("example.com")])
    family = "volley_zone_signature_expires_timestamp_seconds"
    told = wait_for("it is told", lambda: Metrics(lab)[family])
    assert list(told) == [(("zone", "z.test."),)]
    end = min(told.values())
    assert begun + 9 * day <= end <= time.time() + 10 * day
    assert Metrics(lab).sum("volley_zones_signature_expires_timestamp_seconds") == end
    text = transferred(lab, tmp_path / "axfr").read_text(encoding="ascii")
    zone_of = dns.zone.from_text(text, "z.test.", relativize=False)
    assert end == min(rdata.expiration for _, _, rdata in zone_of.iterate_rdatas()
                      if rdata.rdtype == dns.rdatatype.RRSIG)


def test_when_the_certificate_ends(lab, daemon, tmp_path):
    """
    That of the certificate in use: of a new one after a reload, of the old one where the new one is
    refused, and none without TLS.
    """
    family = "volley_tls_certificate_expiry_timestamp_seconds"
    tls = certificate(tmp_path)["server"]

    def told():
        ends = run("openssl", "x509", "-in", tls["certificate"], "-noout", "-enddate", "-dateopt",
                   "iso_8601").stdout
        date = datetime.datetime.strptime(ends.strip(),
                                          "notAfter=%Y-%m-%d %H:%M:%SZ").replace(
                                              tzinfo=datetime.timezone.utc)
        return Metrics(lab)[family].get(()), date.timestamp()

    daemon.start(server={"tls": tls}, metrics={"listen": AT})
    first, date = told()
    assert first == date
    renewed = tmp_path / "renewed"
    renewed.mkdir()
    certificate(renewed, days=90)
    for file in ("tls.key", "tls.crt"):
        shutil.copy(renewed / file, tmp_path / file)
    daemon.ctl("zone", "reload")
    wait_for("it is told", lambda: told()[0] == told()[1] > first)
    second, _ = told()
    (tmp_path / "tls.crt").write_text("no certificate", "ascii")
    assert daemon.ctl("zone", "reload", check=False).returncode == 1
    assert Metrics(lab)[family] == {(): second}
    daemon.configure(metrics={"listen": AT})
    daemon.ctl("zone", "reload")
    wait_for("nothing is told", lambda: Metrics(lab)[family] == {})


def test_a_file_that_cannot_be_written(lab, daemon, tmp_path):
    folder = daemon.folder / "files"  # may be made again: volleyd may write in the one above
    folder.mkdir()
    path = write_zone(folder / "z.zone")
    daemon.start(metrics={"listen": AT}, server={"storage": str(tmp_path / "store")},
                 zones=[zone("z.test", path), zone("example.com")])

    def told():
        metrics = Metrics(lab)
        assert (metrics.sum("volley_zone_storage_warning") ==
                metrics.sum("volley_zones_storage_warning") == 0)
        assert metrics.sum("volley_zone_storage_error", zone="example.com.") == 0
        return metrics.sum("volley_zone_storage_error",
                           zone="z.test."), metrics.sum("volley_zones_storage_error")

    assert told() == (0, 0)
    daemon.ctl("zone", "edit", "z.test", "add", "a", "60", "A", "192.0.2.1")
    shutil.rmtree(folder)
    folder.write_text("where a folder was")
    assert "Not a directory" in daemon.ctl("zone", "flush", "z.test", check=False).stderr
    wait_for("the error is told", lambda: told() == (1, 1))
    assert "storage_error" in daemon.json("zone", "status", "z.test")["zones"][0]
    folder.unlink()
    daemon.ctl("zone", "flush", "z.test")
    wait_for("its end is told", lambda: told() == (0, 0))
    assert "192.0.2.1" in path.read_text()


def test_recursion_is_told_of(lab, daemon):
    daemon.start(metrics={"listen": AT},
                 recursion={"allow": ["192.0.2.0/24"], "forward": ["192.0.2.99"]})
    metrics = Metrics(lab)
    assert metrics.sum("volley_recursion") == 1
    assert (metrics.sum("volley_resolver_asked_total") ==
            metrics.sum("volley_resolver_outstanding") == 0)
    assert "volley_responder_taken_total" in metrics


def test_no_interfaces_ipv6_and_other_requests(lab, daemon):
    daemon.start(interfaces=[iface(xdp="off")], metrics={"listen": f"{V6}@{PORT}"})
    assert Metrics(lab, V6).sum("volley_interface_up") == 0
    assert fetch(lab, "/", where=V6)[0] == 404
    assert fetch(lab, method="POST", where=V6)[0] == 405
    status, header, text = fetch(lab, method="HEAD", where=V6)
    assert status == 200 and int(header["Content-Length"]) > 1000 and not text


def test_a_port_that_is_taken(lab, daemon):
    with lab.socket("s", kind=socket.SOCK_STREAM) as taken:
        taken.bind((V4, PORT))
        taken.listen()
        status, said = daemon.configure(metrics={"listen": AT}).run_failing()
        assert status == 1
        assert f"metrics.listen: cannot listen at {AT}" in said
        assert "another server has this address and port" in said
    daemon.start()
    assert Metrics(lab)


def test_an_address_of_another_host(daemon):
    status, said = daemon.configure(metrics={"listen": f"198.51.100.1@{PORT}"}).run_failing()
    assert status == 1 and "give an address of this host" in said


def test_clients_that_stand_still_are_in_nobodys_way(lab, told):
    """Of one address 8 may be open; another one is served beside them, and so are commands."""
    lab.ip("c", "address", "add", "192.0.2.2/24", "dev", "c0")
    still = []
    try:
        for i in range(20):
            still.append(lab.connect("c", V4, PORT))
            if i % 2:
                still[-1].sendall(b"GET /metrics HTTP/1.1\r\nHost: a")
        with lab.socket("c", kind=socket.SOCK_STREAM) as other:
            other.bind(("192.0.2.2", 0))
            other.connect((V4, PORT))
            other.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            assert other.recv(1000).split(b"\r\n")[0].endswith(b" 200 OK")
        assert told.status()["ready"] and lab.ask().answer
    finally:
        for sock in still:
            sock.close()


def test_all_places_taken_by_slow_requests(lab, told):
    """
    40 connections of 5 addresses send an octet now and then: a scraper is served all the same, each
    time.
    """
    slow = []
    try:
        for i in range(5):
            source = f"192.0.2.{30 + i}"
            lab.ip("c", "address", "add", f"{source}/24", "dev", "c0")
            for _ in range(8):
                sock = lab.socket("c", kind=socket.SOCK_STREAM)
                slow.append(sock)
                sock.bind((source, 0))
                sock.connect((V4, PORT))
        for octet in b"GET /m":
            for sock in slow:
                with contextlib.suppress(OSError):
                    sock.sendall(bytes([octet]))
            assert fetch(lab)[0] == 200
    finally:
        for sock in slow:
            sock.close()


def test_a_request_has_its_time(lab, told):
    """However busily its octets come, one that is not whole in time is closed."""
    del told
    with lab.connect("c", V4, PORT) as sock:
        sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")

        def is_closed():
            time.sleep(0.2)
            try:
                sock.sendall(b"a")
            except OSError:
                return True
            return False
        wait_for("it is closed", is_closed, 60)


def test_one_that_reads_nothing(lab, told):
    """It has asked for more than sockets hold; others are answered, and the daemon ends well."""
    with lab.connect("c", V4, PORT) as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 300)
        for _ in range(3):
            assert Metrics(lab)
        assert lab.ask().answer
        assert told.stop() == 0
