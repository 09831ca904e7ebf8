# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/monitoring: the dashboard and the alert rules alone, against volleyd's metrics, and in a
Prometheus.

Each alert has a row in ALERTS: series with which it must fire, and series with which it must not.
"""
import contextlib
import http.client
import json
import re
import shutil
import subprocess
import sys
import urllib.parse

import pytest
import yaml

from netlab import ENV, ROOT, V4, wait_for, write_zone, zone
from test_metrics import PORT, fetch, parse
from test_metrics_names import OPEN, start

FOLDER = ROOT / "scripts" / "monitoring"
RULES, DASHBOARD = FOLDER / "alerts.yml", FOLDER / "grafana-dashboard.json"
DAY = 86400
# between two samples of the rows below, which end in xN: as many samples as are looked at
STEP_S = 15
EVERYWHERE = {"job", "instance"}  # labels that Prometheus adds


def is_at(value, **labels):
    """A gauge that stays at a value."""
    return labels, f"{value}+0xN"


def grows(per_s, **labels):
    """A counter."""
    return labels, f"0+{per_s * STEP_S}xN"


def ways(driver, xdp):
    return [grows(driver, transport="udp", way="driver"), grows(xdp, transport="udp", way="xdp")]


def took(fast, slow, kind="xsk"):
    """A histogram: answers in a millisecond, answers in 50."""
    return [grows(fast, kind=kind, le="0.001"), grows(fast + slow, kind=kind, le="0.05"),
            grows(fast + slow, kind=kind, le="+Inf")]


def states(name, state, n=1):
    return {name: [is_at(n, state=state)]}, {name: [is_at(0, state=state),
                                                    is_at(n, state="serving")]}


def both(name, bad, good):
    return {name: [bad]}, {name: [good]}


def limits(per_s):
    return {f"volley_resolver_limited_{what}_total": [grows(per_s)]
            for what in ("outstanding", "client", "share", "upstream")}


def upstream(failed, timed_out):
    return {"volley_resolver_failed_total": [grows(failed)],
            "volley_resolver_timed_out_total": [grows(timed_out)],
            "volley_resolver_asked_total": [grows(100)]}


# alert: (the series with which it fires, those with which it does not, after so many minutes)
ALERTS = {
    "VolleyDown": (*both("up", is_at(0), is_at(1)), 2),
    "VolleyNotHealthy": ({"volley_healthy": [is_at(0)], "volley_drained": [is_at(0)]},
                         {"volley_healthy": [is_at(0)], "volley_drained": [is_at(1)]}, 2),
    "VolleyDrainForgotten": (*both("volley_drained", is_at(1), is_at(0)), 13 * 60),
    "VolleyRestarts": (*both("process_start_time_seconds", ({}, "1x10 2x10 3x10 4x100"),
                             ({}, "1x100 2x100")), 30),
    "VolleyDescriptors": ({"process_open_fds": [is_at(95)], "process_max_fds": [is_at(100)]},
                          {"process_open_fds": [is_at(50)], "process_max_fds": [is_at(100)]}, 10),
    "VolleyLogDropped": (*both("volley_log_dropped_total", grows(1), grows(0)), 5),
    "VolleyNotInDriver": (*both("volley_interface_xdp", is_at(1, interface="s0", mode="off"),
                                is_at(0, interface="s0", mode="off")), 5),
    "VolleyGenericMode": (*both("volley_interface_xdp", is_at(1, interface="s0", mode="generic"),
                                is_at(1, interface="s0", mode="native")), 20),
    "VolleyInterfaceDegraded": (*both("volley_interface_state",
                                      is_at(1, interface="s0", state="degraded"),
                                      is_at(1, interface="s0", state="up")), 5),
    "VolleyFewHits": ({"volley_answers_transport_total": ways(600, 1400)},
                      {"volley_answers_transport_total": ways(1400, 600)}, 40),
    "VolleyShed": (*both("volley_driver_packets_total",
                         grows(1, interface="s0", **{"class": "dropped"}, reason="drop-share"),
                         grows(9, interface="s0", **{"class": "dropped"}, reason="drop-limited")),
                   12),
    "VolleyReflection": (*both("volley_rrl_prefixes_over", is_at(3), is_at(0)), 12),
    "VolleyWorkerHangs": (*both("volley_worker_rounds_total", grows(0, worker="1"),
                                grows(4, worker="1")), 5),
    "VolleyRepliesLost": (*both("volley_port_tx_dropped_total", grows(5, kind="xsk", worker="0"),
                                grows(0.1, kind="xsk", worker="0")), 15),
    "VolleyConnectionsRefused": (*both("volley_port_conns_refused_total",
                                       grows(5, kind="tcp", worker="0"),
                                       grows(0.1, kind="tcp", worker="0")), 20),
    "VolleyWorkersSlow": ({"volley_worker_answer_seconds_bucket": took(90, 10)},
                          {"volley_worker_answer_seconds_bucket": took(1000, 1)}, 25),
    "VolleyCacheChurn": ({"volley_cache_evicted_total": [grows(900)],
                          "volley_cache_published_total": [grows(1000)]},
                         {"volley_cache_evicted_total": [grows(90)],
                          "volley_cache_published_total": [grows(1000)]}, 60),
    "VolleyCacheNoRoom": (*both("volley_cache_no_room_total", grows(20), grows(1)), 20),
    "VolleyServfail": ({"volley_answers_rcode_total": [grows(10, rcode="SERVFAIL"),
                                                       grows(90, rcode="NOERROR")]},
                       {"volley_answers_rcode_total": [grows(1, rcode="SERVFAIL"),
                                                       grows(99, rcode="NOERROR")]}, 20),
    "VolleyUpstreamFails": (upstream(5, 15), upstream(2, 3), 20),
    "VolleyUpstreamTls": (*both("volley_resolver_tls_failed_total", grows(1), grows(0)), 20),
    "VolleyBogus": (*both("volley_resolver_bogus_total", grows(20), grows(1)), 20),
    "VolleyQuestionsRefused": (limits(5), limits(1), 20),
    "VolleyZoneFailed": (*states("volley_zones", "failed"), 10),
    "VolleyZoneStale": (*states("volley_zones", "stale"), 20),
    "VolleyZoneExpired": (*states("volley_zones", "expired"), 1),
    "VolleyZoneAwaited": (*states("volley_zones", "awaited"), 20),
    "VolleyZoneExpiresSoon": (*both("volley_zones_expires_timestamp_seconds", is_at(2 * DAY),
                                    is_at(30 * DAY)), 20),
    "VolleySerialsDiffer": ({"volley_zone_serial": [is_at(1, zone="bad.", instance="one"),
                                                    is_at(2, zone="bad.", instance="two")]},
                            {"volley_zone_serial": [is_at(1, zone="good.", instance="one"),
                                                    is_at(1, zone="good.", instance="two")]}, 70),
    "VolleySignaturesEnd": (*both("volley_zones_signature_expires_timestamp_seconds",
                                  is_at(5 * DAY), is_at(10 * DAY)), 20),
    "VolleySignaturesInvalid": (*both("volley_zones_signatures_invalid", is_at(1), is_at(0)), 5),
    "VolleyZoneStorage": ({"volley_zones_storage_error": [is_at(0)],
                           "volley_storage_error": [is_at(1)]},
                          {"volley_zones_storage_error": [is_at(0)],
                           "volley_storage_error": [is_at(0)]}, 10),
    "VolleyJournalFull": (*both("volley_zones_storage_warning", is_at(1), is_at(0)), 20),
    "VolleyPolicyFailed": (*states("volley_policies", "stale"), 10),
    "VolleyPolicyNotInPlace": (*both("volley_policies_error", is_at(1), is_at(0)), 10),
    "VolleyBlocksError": (*both("volley_blocks_error", is_at(1), is_at(0)), 10),
    "VolleyTransferFails": (*both("volley_transfer_in_failed_total", grows(0.1), grows(0.001)), 20),
    "VolleyNotifyFails": (*both("volley_transfer_notify_failed_total", grows(0.1), grows(0.001)),
                          20),
    "VolleyTsigBad": (*both("volley_transfer_tsig_bad_total", grows(0.1), grows(0.001)), 20),
    "VolleyCertificateEnds": (*both("volley_tls_certificate_expiry_timestamp_seconds",
                                    is_at(13 * DAY), is_at(60 * DAY)), 20),
    "VolleyTransferTls": (*both("volley_transfer_tls_failed_total", grows(0.1), grows(0.001)), 20),
}


def need(program):
    found = shutil.which(program, path=ENV["PATH"])
    if not found:
        pytest.skip(f"no {program}: package prometheus")
    return found


def promtool(*words):
    said = subprocess.run([need("promtool"), *map(str, words)], text=True, capture_output=True,
                          check=False, timeout=60)
    assert said.returncode == 0, said.stdout + said.stderr


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
            for rule in group["rules"]]


def panels():
    return [panel for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
            if panel["type"] != "row"]


def queries():
    """
    (where it stands, expression) of all panels, with the dashboard's variables in place, and of all
    rules.
    """
    found = [(f"{panel['title']}: {target['legendFormat']}", target["expr"]) for panel in panels()
             for target in panel["targets"]]
    texts = {"$job": ".*", "$instance": ".*", "$__rate_interval": "5s"}
    for variable, text in texts.items():
        found = [(where, query.replace(variable, text)) for where, query in found]
    return found + [(rule["alert"], rule["expr"]) for rule in rules()]


def test_rules_are_well_formed():
    promtool("check", "rules", RULES)
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names) and set(names) == set(ALERTS)
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "warning"), rule["alert"]
        assert len(rule["annotations"]["summary"]) > 20 and len(
            rule["annotations"]["description"]) > 40, rule["alert"]


def rows_of(series, minutes, instance):
    """As promtool reads them, all of one host where they name none."""
    rows = []
    for name, samples in series.items():
        for labels, values in samples:
            texts = ",".join(f'{label}="{text}"'
                             for label, text in {"job": "volley", "instance": instance,
                                                 **labels}.items())
            rows.append({"series": f"{name}{{{texts}}}",
                         "values": values.replace("xN", f"x{minutes * 60 // STEP_S + 1}")})
    return rows


def asked_of(alert, minutes, labels, n):
    """So many alerts with these labels fire then."""
    return {"expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing",{labels}}})',
            "eval_time": f"{minutes}m", "exp_samples": [{"labels": "{}", "value": n}] if n else []}


def test_each_alert_fires_and_is_silent(tmp_path):
    """Each on a host of its own, beside another one that is well."""
    rows, asked = [], []
    for alert, (bad, good, minutes) in ALERTS.items():
        rows += rows_of(bad, minutes, f"{alert} bad") + rows_of(good, minutes, f"{alert} good")
        fires, silent = ('zone="bad."', 'zone="good."') if alert == "VolleySerialsDiffer" else \
            (f'instance="{alert} bad"', f'instance="{alert} good"')
        asked += [asked_of(alert, minutes, fires, 1), asked_of(alert, minutes, silent, 0)]
    path = tmp_path / "alerts_test.json"  # which is YAML, too
    path.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [
        {"interval": f"{STEP_S}s", "input_series": rows, "promql_expr_test": asked}]}),
                    encoding="utf-8")
    promtool("test", "rules", path)


def test_the_dashboard_is_what_its_program_writes():
    written = subprocess.run([sys.executable, FOLDER / "dashboard.py"], text=True,
                             capture_output=True, check=True).stdout
    assert DASHBOARD.read_text(encoding="utf-8") == written, "run scripts/monitoring/dashboard.py"
    all_panels = json.loads(written)["panels"]
    assert len({panel["id"] for panel in all_panels}) == len(all_panels)
    taken = set()
    for panel in all_panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                 for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken and at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells


# --- Names ----------------------------------------------------------------------------------------

METRIC = re.compile(r"\b(?:volley|process)_[a-z0-9_]+|\bup\b")
SELECTOR = re.compile(r"\b((?:volley|process)_[a-z0-9_]+)\{([^}]*)\}")
MATCHER = re.compile(r'([a-z]+)(=~|!~|!=|=)"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")


def unknown_in(query, families):
    """Metrics, labels and texts of labels that volleyd does not tell. families: parse()"""
    metrics = set(METRIC.findall(GROUPED.sub("", query))) - {"up"}
    wrong = [name for name in metrics if name not in families]
    texts = {name: {} for name in metrics}
    for name in metrics - set(wrong):
        for key in families[name][1]:
            for label, text in key:
                texts[name].setdefault(label, set()).add(text)
    for name, matchers in SELECTOR.findall(query):
        for label, operator, wanted in MATCHER.findall(matchers):
            if label in EVERYWHERE:
                continue
            known = texts.get(name, {}).get(label)
            words = wanted.split("|") if "~" in operator else [wanted]
            if known is None or (label not in OPEN and not set(words) <= known):
                wrong.append(f"{name}{{{label}{operator}{wanted}}}")
    for labels in GROUPED.findall(query):
        wrong += [f"by {label}" for label in re.split(", *", labels)
                  if label not in EVERYWHERE and not any(label in of for of in texts.values())]
    return wrong


def test_each_metric_and_label_is_told(lab, daemon, tmp_path):
    start(daemon, tmp_path)
    families = parse(fetch(lab)[2])
    assert len(queries()) > 150
    wrong = {where: found for where, query in queries() if (found := unknown_in(query, families))}
    assert not wrong
    for query in ('volley_no_total', 'volley_zones{state="no"}', 'volley_zones{no="a"}',
                  'sum by (no) (volley_zones)'):
        assert unknown_in(query, families), query
    for panel in panels():
        for target in panel["targets"]:
            labels = set(re.findall(r"{{([a-z]+)}}", target["legendFormat"]))
            for label in labels - EVERYWHERE:
                assert any(label in dict(key) for name in METRIC.findall(target["expr"])
                           if name in families
                           for key in families[name][1]), f"{panel['title']}: {label}"


# --- A Prometheus ---------------------------------------------------------------------------------

class Prometheus:
    """In the client's namespace of the lab; it scrapes volleyd once a second."""

    AT = ("127.0.0.1", 9090)

    def __init__(self, lab, folder):
        self.lab, self.folder = lab, folder
        folder.mkdir()
        config = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s",
                             "evaluation_interval": "1s"},
                  "rule_files": [str(self.write_rules())],
                  "scrape_configs": [{"job_name": "volley",
                                      "static_configs": [{"targets": [f"{V4}:{PORT}"]}]}]}
        (folder / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
        lab.ip("c", "link", "set", "lo", "up")
        with open(folder / "log", "wb") as log:
            self.process = lab.popen(
                "c", need("prometheus"), f"--config.file={folder}/prometheus.yml",
                                     f"--storage.tsdb.path={folder}/data",
                "--storage.tsdb.retention.time=1h", "--log.level=warn",
                                     "--web.listen-address={}:{}".format(*self.AT),
                stdout=log, stderr=log)

    def write_rules(self):
        """The rules, with alerts that do not wait."""
        path = self.folder / "alerts.yml"
        path.write_text(re.sub(r"(?m)^ +for: .*\n", "", RULES.read_text(encoding="utf-8")),
                        encoding="utf-8")
        return path

    def ask(self, path, **parameters):
        """The reply of the HTTP API: (status, data)."""
        connection = http.client.HTTPConnection(*self.AT, timeout=10)
        try:
            with contextlib.suppress(ConnectionRefusedError):
                connection.sock = self.lab.connect("c", *self.AT)
                connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
                said = json.loads(connection.getresponse().read())
                return said["status"], said.get("data", said)
        finally:
            connection.close()
        assert self.process.poll() is None, (self.folder / "log").read_text(encoding="utf-8")
        return "nobody listens", {}

    def query(self, expression):
        status, data = self.ask("query", query=expression)
        assert status == "success", f"{expression}: {data}"
        return data["result"]

    def firing(self):
        status, data = self.ask("alerts")
        return {alert["labels"]["alertname"]: alert for alert in data["alerts"]
                if alert["state"] == "firing"} \
            if status == "success" else {}

    def close(self):
        self.process.terminate()
        self.process.wait(30)


@pytest.fixture
def prometheus(lab, tmp_path):
    need("prometheus")
    with contextlib.closing(Prometheus(lab, tmp_path / "prometheus")) as made:
        yield made


def test_a_prometheus_reads_it(lab, daemon, tmp_path, prometheus):
    """
    Each query of dashboard and rules is answered without an error, and a zone whose file is broken
    fires its alert.
    """
    broken = tmp_path / "broken.zone"
    broken.write_text("@ SOA what\n", encoding="ascii")
    start(daemon, tmp_path, zones=[zone("example.com"), zone("broken.test", broken)])

    def has_rates():
        lab.ask()
        lab.ask("broken.test")
        return prometheus.ask("query", query="up")[0] == "success" and \
            prometheus.query('sum(rate(volley_answers_transport_total{way="driver"}[5s])) > 0')
    wait_for("two scrapes", has_rates)
    found = {where: prometheus.query(query) for where, query in queries()}
    for where in ("Answers by way: {{transport}} {{way}}", "Response codes: {{rcode}}",
                  "Types: {{qtype}}", "Packets by class: {{class}}",
                  "Workers: 99 % {{kind}}", "By state: {{state}}", "Fill: memory {{instance}}",
                  "Memory: {{instance}}",
                  "Not served as configured: {{instance}} {{zone}} {{state}}", "VolleyZoneFailed"):
        assert found[where], where
    firing = wait_for("the alert fires", lambda: prometheus.firing().get("VolleyZoneFailed"))
    assert firing["annotations"]["summary"].startswith(f"1 zones on {V4}:{PORT} did not load")
    write_zone(broken)
    daemon.ctl("zone", "reload", "broken.test")
    wait_for("the alert ends", lambda: "VolleyZoneFailed" not in prometheus.firing())
    assert "VolleyDown" not in prometheus.firing()
