# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The part `random`: tables. A figure for each round, or the median where a column says so."""
import statistics

from tables import table

PEERS = {"knotd-xdp": "knotd's", "nsd": "nsd's"}


def rounds_of(one, key):
    """Of a server of a kind, or none."""
    return one["servers"].get(key, {"rounds": []})["rounds"]


def joined(values, form):
    return "; ".join(form.format(value) for value in values) or "-"


def times(one, peer):
    """Volley's replies a second to the peer's, of the rounds that both have."""
    rates = {made["round"]: made["best"]["replies_per_s"] for made in rounds_of(one, peer)}
    return joined((made["best"]["replies_per_s"] / max(1, rates[made["round"]])
                   for made in rounds_of(one, "driver") if made["round"] in rates), "{:.2f}")


def rate_table(found):
    keys = list(found["kinds"][0]["servers"])
    peers = [key for key in PEERS if key in keys and "driver" in keys]
    lines = []
    for one in found["kinds"]:
        line = [one["name"]]
        line += [joined((r["best"]["replies_per_s"] for r in rounds_of(one, key)), "{:,.0f}")
                 for key in keys]
        line += [times(one, peer) for peer in peers]
        if "driver" in keys:
            line.append(joined((r["best"]["by_driver"] for r in rounds_of(one, "driver")),
                               "{:.1%}"))
        lines.append(line)
    head = ["names, replies/s in each round",
            *(found["kinds"][0]["servers"][key]["name"] for key in keys),
            *(f"Volley's, times {PEERS[peer]}" for peer in peers)]
    return table(head + ["by the driver"] * ("driver" in keys), lines)


def median(samples, figure):
    return statistics.median(figure(one) for one in samples)


def cost_table(found):
    """
    What is behind the rates: of each round; medians over the rounds; of others on the CPU the most.
    """
    lines = []
    for one in found["kinds"]:
        for server in one["servers"].values():
            best = [r["best"] for r in server["rounds"]]
            if not best:
                continue
            lines.append([one["name"], server["name"],
                          *(joined((b[key] for b in best), form) for key, form in (
                              ("offered_per_s", "{:,}"), ("sent_per_s", "{:,.0f}"),
                              ("loss", "{:.1%}"))),
                          *(f"{median(best, lambda b, k=key: b[k]):,.0f}" for key in (
                              "reply_octets", "napi_ns", "daemon_ns")),
                          f"{max(b['other'] for b in best):.0%}", len(best)])
    return table(["at the best rate", "server", "offered/s", "sent/s", "lost",
                  "octets of a reply's frame",
                  "CPU ns/reply: NAPI", "process", "others on the CPU", "rounds"], lines)


def answered(sample):
    """(share of the warm hits, share of the new names) that was answered."""
    new_sent = sample["sent"] - sample["listed_sent"]
    new_replies = sample["replies"] - sample["listed_replies"]
    return sample["listed_replies"] / max(1, sample["listed_sent"]), new_replies / max(1, new_sent)


def overload_table(found):
    """What is lost of the mix at rates that nobody may be able to answer."""
    lines = []
    for one in found["kinds"]:
        for server in one["servers"].values():
            by_rate = zip(*(r["overload"] for r in server["rounds"] if "overload" in r))
            for samples in by_rate:
                hits, new = zip(*map(answered, samples))
                lines.append([server["name"], f"{samples[0]['offered_per_s']:,}",
                              joined((s["sent_per_s"] for s in samples), "{:,.0f}"),
                              joined((s["loss"] for s in samples), "{:.1%}"),
                              joined(hits, "{:.1%}"), joined(new, "{:.1%}")])
    return lines and table(["the mix under overload, each round", "offered/s", "sent/s", "lost",
                            "warm hits answered", "new names answered"], lines)


def warming_table(found):
    """How the driver's share grew from the start of volleyd, in runs at one rate."""
    lines = [[one["name"], i + 1, ", ".join(f"{100 * share:.1f}" for share in r["note"]["warming"])]
             for one in found["kinds"] for i, r in enumerate(rounds_of(one, "driver"))]
    return lines and table(["warming", "round",
                            f"answered by the driver, %, in runs of {found['warm_s']:g} s "
                            f"at {found['warm_rate']:,}/s"], lines)


def sections(found):
    made = [f"Names that nobody has asked before: zones of {found['names']:,} names; "
            f"{found['rounds']} rounds, the best rates tried again for {found['seconds']:g} s"
            + "".join(f"; {said}" for said in found["versions"].values()) + "."]
    if any(one["servers"] for one in found["kinds"]):
        made += [rate_table(found), cost_table(found), overload_table(found), warming_table(found)]
    made += [f"Left out: {one['name']}: {one['why']}." for one in found["left_out"]]
    made += [f"Left out: {one['name']}: {server['name']}: {server['left_out']}."
             for one in found["kinds"] for server in one["servers"].values()
             if "left_out" in server]
    return [one for one in made if one]
