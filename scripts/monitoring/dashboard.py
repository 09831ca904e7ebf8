#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the dashboard for Grafana: each row of ROWS is a row of panels, each Panel one panel.

    scripts/monitoring/dashboard.py >scripts/monitoring/grafana-dashboard.json

The dashboard has three variables: the data source, the job of Prometheus and the instances. With
one instance it shows a host, with several or all a fleet. In the queries below, HOSTS is the
selector of these variables and EVERY the interval of rates.
"""
import dataclasses
import json
import sys

HOSTS = 'job=~"$job",instance=~"$instance"'
EVERY = "$__rate_interval"
COLUMNS = 24


@dataclasses.dataclass
class Panel:
    title: str
    queries: dict  # {legend: expression}
    unit: str = "short"
    about: str = ""
    kind: str = "timeseries"
    width: int = 8
    is_stacked: bool = False


def select(metric, *labels):
    return f"{metric}{{{','.join((HOSTS, *labels))}}}"


def rate(metric, *labels, by=""):
    total = f"rate({select(metric, *labels)}[{EVERY}])"
    return f"sum by ({by}) ({total})" if by else f"sum({total})"


def rates(title, metric, by, *labels, **keys):
    """A panel of the rates of a counter, a line for each text of a label."""
    legend = " ".join(f"{{{{{label.strip()}}}}}" for label in by.split(","))
    return Panel(title, {legend: rate(metric, *labels, by=by)}, **{"unit": "ops", **keys})


def counters(title, prefix, *names, **keys):
    """A panel of the rates of several counters, a line for each."""
    return Panel(title, {name.replace("_", " "): rate(f"{prefix}_{name}_total") for name in names},
                 **{"unit": "ops", **keys})


def share(part, whole):
    """A part of a rate; no value if the rate is 0."""
    return f"{part} / ({whole} > 0)"


def quantiles(title, metric, by, about):
    legend = f" {{{{{by}}}}}" if by else ""
    buckets = rate(f"{metric}_bucket", by=f"le, {by}" if by else "le")
    return Panel(title,
                 {f"{percent} %{legend}": f"histogram_quantile({percent / 100}, {buckets})"
                  for percent in (50, 90, 99)},
                 unit="s", about=about, width=12)


def stat(title, expression, unit="short", about=""):
    return Panel(title, {"": expression}, unit, about, "stat", 4)


NOT_SERVED = 'state=~"failed|expired|stale|awaited"'
NOT_GONE = 'zone!="gone"'
ANSWERS = rate("volley_answers_rcode_total")
ALL_WAYS = rate("volley_answers_transport_total")

ROWS = {
    "Overview": [
        stat("Hosts that tell", f"count({select('volley_build_info')})"),
        stat("Hosts not healthy", f"count({select('volley_healthy')} == 0) or vector(0)",
             about="volleyctl health says why. A drained host is not healthy, either."),
        stat("Answers per second", ANSWERS, "ops"),
        stat("Answered by the driver",
             share(rate("volley_answers_transport_total", 'way="driver"'), ALL_WAYS),
             "percentunit"),
        stat("SERVFAIL", share(rate("volley_answers_rcode_total", 'rcode="SERVFAIL"'), ANSWERS),
             "percentunit"),
        stat("Zones not served as configured", f"sum({select('volley_zones', NOT_SERVED)})"),
        rates("Answers by way", "volley_answers_transport_total", "transport, way", is_stacked=True,
              about="driver: by the XDP program. xdp, dpdk and socket: by a worker."),
        rates("Answers by host", "volley_answers_rcode_total", "instance", is_stacked=True),
        Panel("Share of the driver by host",
              {"{{instance}}": share(rate("volley_answers_transport_total", 'way="driver"',
                                          by="instance"),
                                     rate("volley_answers_transport_total", by="instance"))},
              "percentunit"),
        Panel("Hosts",
              {"healthy {{instance}}": select("volley_healthy"),
               "drained {{instance}}": select("volley_drained"),
                        "ready {{instance}}": select("volley_ready")}, about="1 or 0.", width=12),
        Panel("Versions",
              {"{{version}}, ABI {{abi}}": f"count by (version, abi) "
                                           f"({select('volley_build_info')})"}, width=6),
        Panel("Uptime", {"{{instance}}": select("volley_uptime_seconds")}, "s", width=6),
    ],
    "Answers": [
        rates("Response codes", "volley_answers_rcode_total", "rcode", is_stacked=True),
        rates("Types", "volley_answers_qtype_total", "qtype", is_stacked=True),
        rates("Opcodes", "volley_answers_opcode_total", "opcode"),
        rates("Families", "volley_answers_family_total", "family"),
        rates("Transports", "volley_answers_transport_total", "transport"),
        Panel("Busiest zones",
              {"{{zone}}": f"topk(10, {rate('volley_zone_answers_total', NOT_GONE, by='zone')})"},
              "ops",
              "other: zones without a counter of their own. none: answers of no zone, as those "
              "from upstream."),
    ],
    "Driver": [
        rates("Packets by class", "volley_driver_packets_total", "class", is_stacked=True),
        rates("Why the driver did not answer", "volley_driver_packets_total", "reason",
              'class="up"', is_stacked=True, about="These packets went to a worker."),
        rates("Passed to the kernel", "volley_driver_packets_total", "reason", 'class="passed"'),
        rates("Shed", "volley_driver_packets_total", "reason", 'reason=~"drop-overload|drop-share"',
              about="More came than the workers answer. drop-share: of prefixes that sent more "
                    "than their share."),
        Panel("Over the rate limit",
              {"driver: {{reason}}": rate("volley_driver_packets_total",
                                          'reason=~"drop-limited|hit-slipped|hit-badcookie"',
                                          by="reason"),
               "worker: limited": rate("volley_engine_limited_total"),
               "worker: slipped": rate("volley_engine_slipped_total"),
               "worker: badcookie": rate("volley_engine_badcookie_total")}, "ops",
              "Dropped, or answered with TC=1 or BADCOOKIE."),
        Panel("Prefixes over their limit", {"{{instance}}": select("volley_rrl_prefixes_over")}),
        Panel("Blocked",
              {"driver: {{reason}}": rate("volley_driver_packets_total",
                                          'reason=~"drop-blocked|up-blocked|hit-refused|hit-block-truncated"', by="reason"),
               "worker: dropped": rate("volley_engine_blocked_total"),
               "worker: refused": rate("volley_engine_block_refused_total"),
               "worker: truncated": rate("volley_engine_block_truncated_total")}, "ops"),
        counters("Cookies in workers", "volley_engine", "cookies_new", "cookies_good",
                 "cookies_bad"),
        Panel("Interfaces",
              {"{{instance}} {{interface}}: {{state}}": f"{select('volley_interface_state')} == 1",
                             "{{instance}} {{interface}}: xdp {{mode}}": f"{select('volley_interface_xdp')} == 1"},
              about="up: all is as configured. xdp off: no program answers in the driver."),
    ],
    "Time of answers": [
        quantiles("Workers", "volley_worker_answer_seconds", "kind",
                  "From the receive of a burst to its send, by kind of port."),
        quantiles("Upstreams", "volley_resolver_answer_seconds", "",
                  "How long servers upstream take to answer."),
    ],
    "Recursion": [
        counters("Questions", "volley_resolver", "asked", "coalesced", "upstream", "answered",
                 "denied"),
        counters("Without an answer", "volley_resolver", "failed", "timed_out", "bogus", "stopped",
                 "displaced"),
        counters("Refused by limits", "volley_resolver", "limited_outstanding", "limited_client",
                 "limited_share", "limited_upstream"),
        Panel("Outstanding", {"{{instance}}": select("volley_resolver_outstanding")},
              about="Questions that wait for upstreams."),
        counters("Forwarder", "volley_resolver", "queries", "queries_tcp", "resent", "probes",
                 "truncated", "tls_failed"),
        counters("Replies refused", "volley_resolver", "malformed", "miscased", "unmatched",
                 "forged", "no_cookie", "too_long"),
        Panel("Stale answers",
              {"stale": rate("volley_engine_stale_total"), "cut": rate("volley_engine_cut_total")},
              "ops"),
        Panel("Policies", {"{{state}}": f"sum by (state) ({select('volley_policies')})"}),
        rates("Hits of policies", "volley_policy_hits_total", "policy"),
    ],
    "Zones": [
        Panel("By state", {"{{state}}": f"sum by (state) ({select('volley_zones')})"}),
        Panel("Not served as configured",
              {"{{instance}} {{zone}} {{state}}": f"{select('volley_zone_state', NOT_SERVED)} == 1"},
              about="volleyctl zone list says why."),
        Panel("Serials that differ between hosts",
              {"{{zone}}": f"max by (zone) ({select('volley_zone_serial')}) - min by (zone) "
                           f"({select('volley_zone_serial')}) > 0"}),
        Panel("Until the first zone expires",
              {"{{instance}}": f"{select('volley_zones_expires_timestamp_seconds')} - time()"},
              "s"),
        Panel("Until the first signature ends",
              {"{{instance}}": f"{select('volley_zones_signature_expires_timestamp_seconds')} - "
                               f"time()"}, "s"),
        Panel("Faults", {"signatures {{instance}}": select("volley_zones_signatures_invalid"),
                         "storage {{instance}}": select("volley_zones_storage_error"),
                         "journal nearly full {{instance}}": select("volley_zones_storage_warning"),
                         "server.storage {{instance}}": select("volley_storage_error")}),
    ],
    "Transfers": [
        counters("From primaries", "volley_transfer", "soa_asked", "axfr_in", "ixfr_in",
                 "in_failed", "notify_in"),
        counters("To secondaries", "volley_transfer", "axfr_out", "ixfr_out", "out_failed",
                 "notify_sent", "notify_failed"),
        counters("Refused", "volley_transfer", "out_refused", "notify_refused", "update_refused",
                 "tsig_bad", "tls_failed"),
    ],
    "Cache": [
        Panel("Fill",
              {"memory {{instance}}": f"{select('volley_cache_used_bytes')} / "
                                      f"{select('volley_cache_size_bytes')}",
                       "places {{instance}}": f"{select('volley_cache_entries')} / "
                                              f"{select('volley_cache_capacity_entries')}"},
              "percentunit"),
        counters("Turnover", "volley_cache", "published", "replaced", "evicted", "expired", "kept",
                 "readmitted"),
        counters("No place found", "volley_cache", "displaced", "no_room", "raced", "refused"),
        Panel("Entries", {"{{instance}}": select("volley_cache_entries")}),
        Panel("Segments", {"{{use}}": f"sum by (use) ({select('volley_cache_segments')})"},
              is_stacked=True),
        Panel("Filter of names", {"fill {{instance}}": f"{select('volley_names_fill_ppm')} / 1e6",
                                  "mistakes {{instance}}": f"{select('volley_names_false_positives_ppm')} / 1e6"}, "percentunit"),
    ],
    "Workers": [
        rates("Messages by worker", "volley_worker_queries_total", "instance, worker"),
        rates("Messages by kind of port", "volley_worker_queries_total", "kind"),
        rates("Rounds", "volley_worker_rounds_total", "instance, worker",
              about="A worker that lives has 4 a second at least."),
        counters("Engine", "volley_engine", "cache_hit", "cache_miss", "published", "not_published",
                 "deferred", "refused"),
        rates("Replies that were not sent", "volley_port_tx_dropped_total", "instance, kind"),
        Panel("Frames lost", {"fill ring empty": rate("volley_port_fill_starved_total"),
                              "to the kernel": rate("volley_port_to_kernel_lost_total"),
                              "from the kernel": rate("volley_port_from_kernel_lost_total")},
              "ops"),
        rates("Connections opened", "volley_port_conns_opened_total", "kind"),
        Panel("Connections ended by us",
              {"refused {{kind}}": rate("volley_port_conns_refused_total", by="kind"),
                                          "closed for room {{kind}}": rate(
                                              "volley_port_conns_evicted_total", by="kind"),
                                          "timed out {{kind}}": rate(
                                              "volley_port_conns_timed_out_total", by="kind")},
              "ops"),
        Panel("Connections open",
              {"{{kind}}": f"sum by (kind) ({select('volley_port_conns_opened_total')})"
                                               f" - sum by (kind) "
                                               f"({select('volley_port_conns_closed_total')})"}),
    ],
    "Process": [
        Panel("Processor time", {"{{instance}}": rate("process_cpu_seconds_total", by="instance")},
              "percentunit",
              "Of one processor: workers and all other threads. What the driver needs is the "
              "kernel's."),
        Panel("Memory", {"{{instance}}": select("process_resident_memory_bytes")}, "bytes"),
        Panel("File descriptors",
              {"{{instance}}": f"{select('process_open_fds')} / {select('process_max_fds')}"},
              "percentunit"),
        Panel("Lines of the log that were dropped",
              {"{{instance}}": rate("volley_log_dropped_total", by="instance")}, "ops"),
    ],
}


def draw(panel, number, x, y, height):
    options = {"legend": {"displayMode": "list", "placement": "bottom"},
               "tooltip": {"mode": "multi", "sort": "desc"}}
    custom = {"fillOpacity": 10, "stacking": {"mode": "normal" if panel.is_stacked else "none"}}
    if panel.kind == "stat":
        options, custom = {"reduceOptions": {"calcs": ["lastNotNull"]}}, {}
    source = {"type": "prometheus", "uid": "$source"}
    return {
        "id": number, "type": panel.kind, "title": panel.title, "description": panel.about,
            "datasource": source,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": height},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, "custom": custom},
                        "overrides": []},
        "options": options,
        "targets": [{"refId": chr(ord("A") + i), "datasource": source, "expr": expression,
                     "legendFormat": legend}
                    for i, (legend, expression) in enumerate(panel.queries.items())],
    }


def place():
    """All panels, from left to right and from top to bottom."""
    drawn, y = [], 0
    for title, panels in ROWS.items():
        drawn.append({"id": len(drawn) + 1, "type": "row", "title": title, "collapsed": False,
                      "panels": [], "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1}})
        y, x, height = y + 1, 0, 0
        for panel in panels:
            if x + panel.width > COLUMNS:
                x, y = 0, y + height
            height = 4 if panel.kind == "stat" else 8
            drawn.append(draw(panel, len(drawn) + 1, x, y, height))
            x += panel.width
        y += height
    return drawn


def variable(name, label, query):
    return {"name": name, "label": label, "type": "query",
            "datasource": {"type": "prometheus", "uid": "$source"},
            "query": {"query": query, "refId": name}, "definition": query, "refresh": 2, "sort": 1,
            "multi": True, "includeAll": True, "allValue": ".*",
            "current": {"text": ["All"], "value": ["$__all"]}}


def dashboard():
    return {
        "title": "Volley", "uid": "volley", "tags": ["dns", "volley"], "schemaVersion": 37,
            "version": 1, "editable": True,
        "time": {"from": "now-3h", "to": "now"}, "refresh": "30s", "graphTooltip": 1,
        "templating": {"list": [
            {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"},
            variable("job", "Job", "label_values(volley_build_info, job)"),
            variable("instance", "Host", 'label_values(volley_build_info{job=~"$job"}, instance)'),
        ]},
        "panels": place(),
    }


if __name__ == "__main__":
    json.dump(dashboard(), sys.stdout, indent=1)
    sys.stdout.write("\n")
