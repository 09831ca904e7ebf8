# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The part `peers`: tables, what must hold, plot. Ratios are between figures of one run."""
from tables import pyplot, save, table

HITS_RATIO, HITS_CPU = 0.90, 320 / 200      # driver hits to the reflector
HITS_TIMES = 7.0                            # driver hits to knotd's AF_XDP
XSK_TIMES, XSK_CPU = 2.0, 0.5               # AF_XDP and DPDK to the same
ECHO_RATIO = 1.0                            # AF_XDP to DPDK with nothing behind it
# sockets to the better of nsd and knotd; to the bare echo
SOCKET_TIMES, SOCKET_ECHO = 1.15, 0.95
FLOOD_SHARE, FLOOD_HITS = 0.80, 0.95
OURS = ("driver", "xsk", "unasked", "dpdk", "sockets")
BEHIND_XDP = ("driver", "xsk", "unasked", "dpdk")   # what the driver can protect from a flood


def cpu_ns(row):
    """For a reply: the driver's and the process's."""
    return row["napi_ns"] + row["daemon_ns"]


def by_key(found):
    return {row["key"]: row for row in found["rows"]}


def rate_table(rows):
    first = rows[0]["replies_per_s"]
    lines = []
    for row in rows:
        p50, p99 = ("-" if row[key] is None else f"{row[key]:,.0f}" for key in ("p50_us", "p99_us"))
        lines.append([row["name"], f"{row['replies_per_s']:,.0f}",
                      f"{row['replies_per_s'] / max(1, first):.3f}", f"{row['offered_per_s']:,.0f}",
                      f"{row['loss']:.1%}",
                      "-" if row["clean_per_s"] is None else f"{row['clean_per_s']:,.0f}",
                      f"{row['spread']:.0%}", f"{row['napi_ns']:,.0f}",
                      f"{row['daemon_ns']:,.0f}", p50, p99,
                      f"{row['flood']['replies_per_s']:,.0f}", f"{row['flood']['share']:.0%}",
                      f"{row['other']:.0%}", row["rounds"]])
    return table(["side by side", "replies/s", "ratio", "at offered/s", "lost",
                  "replies/s with less than 0.1 % lost",
                         "spread",
                         "CPU ns/reply: NAPI", "process", "half load: p50 µs", "p99 µs",
                         "flood: replies/s", "of its best", "others on the CPU", "rounds"], lines)


def ratio_table(rows):
    """Replies a second of each of Volley's ways against every peer."""
    ours = [row for row in rows if row["key"] in OURS]
    peers = [row for row in rows if row["key"] not in OURS]
    if not ours or not peers:
        return None
    return table(["replies/s, times those of", *(one["name"] for one in ours)],
                        [[peer["name"],
                          *(f"{one['replies_per_s'] / max(1, peer['replies_per_s']):.2f}"
                                          for one in ours)] for peer in peers])


def mixed_table(rows):
    mixes = [row for row in rows if row["mixed"]]
    if not mixes:
        return None
    return table(["flood of new names, one in ten a warm hit", "sent/s", "hits answered",
                         "new names answered/s", "share"],
                        [[row["name"], f"{row['mixed']['sent_per_s']:,.0f}",
                          f"{row['mixed']['hits']:.1%}", f"{row['mixed']['misses_per_s']:,.0f}",
                          f"{row['mixed']['misses']:.1%}"] for row in mixes])


def disturbed_text(one):
    """A round whose reflector did not answer alike at its begin and at its end."""
    again = f"was measured again ({one['again']}x)" if one["again"] else "was disturbed"
    kept = ("" if one["spread"] is None
            else f"; of the one that counts the reflector's best differ by {one['spread']:.0%}")
    return f"Round {one['round']} {again}{kept}."


def sections(found):
    rows = found["rows"]
    if not rows:
        return ["`peers`: nothing was measured."]
    offered = max(row["flood"]["sent_per_s"] for row in rows)
    burst = f"bursts of {found['burst']}" if found["burst"] > 1 else "no bursts"
    made = [f"Run {found['run']}: generator {found['generator']}, {burst}, runs of "
            f"{found['seconds']:g} s; flood: {found['flood']:,}/s asked for, up to "
            f"{offered:,.0f}/s "
            "sent.", rate_table(rows), ratio_table(rows), mixed_table(rows)]
    made += [f"Left out: {one['name']}: {one['why']}." for one in found["left_out"]]
    made += [disturbed_text(one) for one in found["disturbed"]]
    return [one for one in made if one]


# --- What must hold -------------------------------------------------------------------------------


class Claims:
    """Those whose rows have all been measured."""

    def __init__(self, found):
        self.rows, self.made = by_key(found), []

    def at_least(self, what, value, limit):
        self.made.append((f"{what} at least {limit:.2f}", f"{value:.2f}", value >= limit))

    def at_most(self, what, value, limit):
        self.made.append((f"{what} at most {limit:.2f}", f"{value:.2f}", value <= limit))

    def ratio(self, key, peers, figure):
        """To the best of the peers, as far as they are there; None without one."""
        there = [figure(self.rows[peer]) for peer in peers if peer in self.rows]
        if key not in self.rows or not there:
            return None
        return figure(self.rows[key]) / max(1e-9, max(there))

    def rate(self, what, key, peers, limit):
        value = self.ratio(key, peers, lambda row: row["replies_per_s"])
        if value is not None:
            self.at_least(what, value, limit)

    def cpu(self, what, key, peer, limit):
        value = self.ratio(key, [peer], cpu_ns)
        if value is not None:
            self.at_most(what, value, limit)


def latency_claims(made, key):
    peer, row = made.rows.get("knotd-xdp"), made.rows.get(key)
    for name in ("p50_us", "p99_us"):
        if peer and row and peer[name] and row[name]:
            made.at_most(f"{row['name']}: {name[:3]} at half load, to knotd's AF_XDP,",
                         row[name] / peer[name], 1.0)


def flood_claims(made):
    for key in BEHIND_XDP:
        if key in made.rows:
            row = made.rows[key]
            made.at_least(f"{row['name']}: share of its best in a flood", row["flood"]["share"],
                          FLOOD_SHARE)
    driver = made.rows.get("driver")
    if driver and driver["mixed"]:
        made.at_least("warm hits answered in a flood of new names, share",
                      driver["mixed"]["hits"], FLOOD_HITS)


def claims(found):
    """[(what must hold, what was measured, whether it holds)]"""
    made = Claims(found)
    made.rate("driver hits, to the reflector, replies/s", "driver", ["reflector"], HITS_RATIO)
    made.cpu("driver hits, to the reflector, CPU time for a reply", "driver", "reflector", HITS_CPU)
    made.rate("driver hits, to knotd's AF_XDP, replies/s", "driver", ["knotd-xdp"], HITS_TIMES)
    for key, name in (("xsk", "AF_XDP"), ("dpdk", "DPDK")):
        made.rate(f"{name}, to knotd's AF_XDP, replies/s", key, ["knotd-xdp"], XSK_TIMES)
        made.cpu(f"{name}, to knotd's AF_XDP, CPU time for a reply", key, "knotd-xdp", XSK_CPU)
    made.rate("AF_XDP, to the DPDK echo, replies/s", "xsk", ["dpdk-echo"], ECHO_RATIO)
    made.rate("sockets, to the better of nsd and knotd, replies/s", "sockets", ["nsd", "knotd"],
              SOCKET_TIMES)
    made.rate("sockets, to the bare echo, replies/s", "sockets", ["udp-echo"], SOCKET_ECHO)
    flood_claims(made)
    for key in ("driver", "xsk", "dpdk"):
        latency_claims(made, key)
    return made.made


# --- The plot -------------------------------------------------------------------------------------


def plot_rates(axes, rows, places):
    axes.barh(places, [row["replies_per_s"] for row in rows],
              color=["tab:blue" if row["key"] in OURS else "tab:grey" for row in rows])
    axes.plot([max(1, row["flood"]["replies_per_s"]) for row in rows], places, "|", color="tab:red",
              markersize=12, markeredgewidth=2, label="in a flood")
    axes.set(xscale="log", xlabel="replies/s at the best rate")
    axes.set_xlim(left=10000)
    axes.set_yticks(places, [row["name"] for row in rows])
    axes.legend(loc="lower right")


def plot_cpu(axes, rows, places):
    napi = [row["napi_ns"] for row in rows]
    axes.barh(places, napi, label="driver (NAPI)", color="tab:green")
    axes.barh(places, [row["daemon_ns"] for row in rows], left=napi, label="process",
              color="tab:orange")
    axes.set(xlabel="CPU ns for a reply")
    axes.legend(loc="upper right")


def plot_latencies(axes, rows, places):
    told = [(row, place) for row, place in zip(rows, places) if row["p50_us"]]
    for row, place in told:
        axes.plot([row["p50_us"], row["p99_us"]], [place, place], "o-", color="tab:purple")
    axes.set(xscale="log" if told else "linear", xlabel="µs at half load: p50 to p99")


def plot(path, found):
    if not found["rows"]:
        return
    rows = found["rows"][::-1]
    places = list(range(len(rows)))
    figure, axes = pyplot().subplots(1, 3, sharey=True, figsize=(14, 1.5 + 0.4 * len(rows)))
    for one, draw in zip(axes, (plot_rates, plot_cpu, plot_latencies)):
        draw(one, rows, places)
    figure.suptitle(f"Side by side on one CPU over veth; {found['generator']}, "
                    f"bursts of {found['burst']}")
    save(figure, path)
