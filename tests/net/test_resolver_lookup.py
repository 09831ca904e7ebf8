# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl resolver lookup and infra: the source of a name's answer, the upstream servers for it,
and the cause of a failure.

One daemon iterates and validates (world), one forwards by itself (forwarder); each test asks one of
them.
"""
import json

import dns.rcode
import pytest

from dnstree import SCRIPTED, ask, query, world_of
from netlab import wait_for
from optionpeers import fails, says

STUB_NS, FORWARD_NS, GOOD_NS, BAD_NS = SCRIPTED["fill.lab."], "10.53.7.1", "10.53.7.2", "10.53.7.3"
LIST = """$TTL 60
@ SOA ns h 1 2 3 4 5
@ NS ns
www.listed.lab CNAME .
*.passed.lab CNAME rpz-passthru.
24.0.100.51.198.rpz-ip CNAME rpz-drop.
data.lab A 192.0.2.44
data.lab A 192.0.2.45
"""


def start_iterating(world):
    path = world.folder / "list.zone"
    path.write_text(LIST, encoding="ascii")
    world.tree.script("fill.lab.", says("192.0.3.70"))
    world.tree.script("forward", says("192.0.3.71"), FORWARD_NS)
    world.start(keys={
        "stubs": [{"zone": "fill.lab", "address": STUB_NS}],
        "forward-zones": [{"zone": "count.lab", "address": FORWARD_NS, "transport": "tcp"},
                          {"zone": "count.lab", "address": f"{FORWARD_NS}@54", "transport": "tcp"}],
        "domain-insecure": ["expired.lab"],
        "local-data": ["local.lab. A 192.0.2.97"],
        "rpz": [{"name": "list.rpz", "file": str(path)}],
        "query-timeout": "1s", "serve-stale": "1h"})
    wait_for("the list",
             lambda: world.daemon.json("policy", "list")["policies"][1]["state"] == "serving")


@pytest.fixture(name="world", scope="module")
def make_world(tmp_path_factory, tree_zones):
    with world_of(tmp_path_factory.mktemp("world"), tree_zones) as world:
        start_iterating(world)
        yield world


@pytest.fixture(name="forwarder", scope="module")
def make_forwarder(tmp_path_factory, tree_zones):
    """One of its upstreams answers, but fails names below bad.; the other has no server."""
    def reply(made, tcp):
        return (fails if "bad." in str(made.question[0].name).lower()
                else says("192.0.3.72"))(made, tcp)

    with world_of(tmp_path_factory.mktemp("forwarder"), tree_zones) as world:
        world.tree.script("good", reply, GOOD_NS)
        world.start(keys={"trust_anchor": None, "root_hints": None, "forward": [GOOD_NS, BAD_NS],
                          "query-timeout": "2s"})
        yield world


def lookup(world, *words):
    return world.daemon.json("resolver", "lookup", *words)


def before(found):
    return [(row["by"], row.get("what"), row["does"]) for row in found["before_upstream"]]


def rcode(world, name, kind="A", flags="rd"):
    return dns.rcode.to_text(ask(world.lab, query(name, kind, flags)).rcode())


def target(world, zone):
    return next(row for row in world.daemon.json("resolver", "infra")["targets"]
                if row["zone"] == zone)


# --- Before upstream ------------------------------------------------------------------------------


def test_a_zone_of_ours(world):
    found = lookup(world, "www.Example.COM", "A")
    assert (found["name"], found["type"], found["answered_by"]) == ("www.example.com.", "A", "zone")
    assert before(found) == [("zone", "example.com.", "answers")]
    assert rcode(world, "www.example.com.") == "NOERROR"
    (entry,) = lookup(world, "www.example.com", "A")["cache"]
    assert entry["zone"] == "example.com." and entry["state"] == "valid"


def test_the_ds_of_a_zone_of_ours_is_asked_upstream(world):
    found = lookup(world, "example.com", "DS")
    assert found["answered_by"] == "upstream" and not found["before_upstream"]


def test_local_data(world):
    found = lookup(world, "local.lab")
    assert found["answered_by"] == "local-data" and "type" not in found
    (row,) = found["before_upstream"]
    assert row["rule"] == ["local.lab. A 192.0.2.97"]


def test_a_policy_with_its_rule(world):
    found = lookup(world, "www.listed.lab", "A")
    assert found["answered_by"] == "policy"
    assert before(found) == [("policy", "list.rpz.", "answers")]
    assert found["before_upstream"][0]["rule"] == ["www.listed.lab.list.rpz. CNAME ."]
    assert lookup(world, "data.lab")["before_upstream"][0]["rule"] == [
        "data.lab.list.rpz. A 192.0.2.44", "data.lab.list.rpz. A 192.0.2.45"]
    (policy,) = [row for row in world.daemon.json("policy", "list")["policies"]
                 if row["name"] == "list.rpz."]
    assert policy["hits"] == 0


def test_a_policy_that_passes(world):
    found = lookup(world, "www.passed.lab")
    assert found["answered_by"] == "upstream"
    assert before(found) == [("policy", "list.rpz.", "passes")]
    assert found["before_upstream"][0]["rule"] == ["*.passed.lab.list.rpz. CNAME rpz-passthru."]


def test_a_special_name(world):
    found = lookup(world, "www.Host.ONION", "AAAA")
    assert found["answered_by"] == "special name"
    assert before(found) == [("special name", "onion.", "answers")]
    validation = found["validation"]
    assert not validation["validates"]
    assert (validation["negative_anchor"], validation["negative_by"]) == ("onion.", "special name")


# --- Whom upstream is asked -----------------------------------------------------------------------


def test_from_the_root_down(world):
    asks = lookup(world, "www.good.lab", "A")["asks"]
    assert (asks["by"], asks["way"], asks["zone"]) == ("libunbound", "from the root down", ".")
    assert asks["root_hints"] == str(world.tree.zones.hints)


def test_a_stub(world):
    assert rcode(world, "www.fill.lab.") == "NOERROR"
    found = lookup(world, "www.fill.lab", "A")
    assert (found["asks"]["way"], found["asks"]["zone"]) == ("stub", "fill.lab.")
    assert found["asks"]["addresses"] == [STUB_NS] and found["answered_by"] == "upstream"
    (row,) = found["targets"]
    assert row["zone"] == "fill.lab." and row["asked"] == row["answered"] >= 1
    assert row["mean_ns"] > 0
    assert lookup(world, "fill.lab", "DS")["asks"]["zone"] == "."


def test_a_forward_zone(world):
    found = lookup(world, "a.b.count.lab")
    assert ((found["asks"]["way"], found["asks"]["zone"], found["asks"]["transport"]) ==
            ("forward zone", "count.lab.", "tcp"))
    assert found["asks"]["addresses"] == [FORWARD_NS, f"{FORWARD_NS}@54"]
    rows = world.daemon.json("resolver", "infra")["targets"]
    assert sorted(row["zone"] for row in rows) == [".", "count.lab.", "fill.lab."]


# --- Validation -----------------------------------------------------------------------------------


def test_a_trust_anchor(world):
    validation = lookup(world, "www.good.lab")["validation"]
    assert validation["validates"] and "negative_anchor" not in validation
    (anchor,) = validation["trust_anchors"]
    assert anchor.startswith(". DNSKEY ") and anchor.endswith(" 13")
    assert validation["file"] == str(world.tree.zones.anchor)


def test_a_negative_anchor(world):
    validation = lookup(world, "www.expired.lab")["validation"]
    assert not validation["validates"]
    assert ((validation["negative_anchor"], validation["negative_by"]) ==
            ("expired.lab.", "recursion.domain-insecure"))
    assert rcode(world, "www.expired.lab.") == "NOERROR"


# --- Failures and the cache -----------------------------------------------------------------------


def test_a_bogus_name_has_the_validators_reason(world):
    assert lookup(world, "www.broken.lab")["failures"] == []
    assert [rcode(world, "www.broken.lab.") for _ in range(2)] == ["SERVFAIL"] * 2
    (failure,) = lookup(world, "www.broken.lab", "A")["failures"]
    assert failure["reason"].startswith("validation failure <www.broken.lab. A IN>: ")
    assert (failure["type"], failure["ede"], failure["ede_code"]) == ("A", "DNSSEC Bogus", 6)
    assert failure["times"] >= 1 and 0 <= failure["ago_s"] <= failure["first_ago_s"] < 60
    assert lookup(world, "www.broken.lab", "AAAA")["failures"] == []
    assert target(world, ".")["bogus"] >= 1
    shown = world.daemon.ctl("resolver", "lookup", "www.broken.lab").stdout
    assert "DNSSEC Bogus" in shown and "validation failure <www.broken.lab. A IN>: " in shown


def test_a_timeout(world):
    before_it = target(world, ".")["timed_out"]
    assert rcode(world, "www.silent.lab.") == "SERVFAIL"
    (failure,) = lookup(world, "www.silent.lab")["failures"]
    assert failure["reason"] == "no answer from upstream in time"
    assert (failure["ede"], failure["ede_code"]) == ("No Reachable Authority", 22)
    assert target(world, ".")["timed_out"] == before_it + 1


def test_what_is_cached_of_it(world):
    for flags in ("rd", "rd cd"):
        assert rcode(world, "mail.good.lab.", "MX", flags) == "NOERROR"
    entries = lookup(world, "mail.good.lab", "MX")["cache"]
    assert sorted(entry["cd"] for entry in entries) == [False, True]
    assert all(entry["view"] == "recursive" and 0 < entry["expires_s"] <= 300 for entry in entries)
    assert lookup(world, "mail.good.lab", "A")["cache"] == []


def test_a_stale_answer_is_told(world):
    world.tree.script("fill.lab.", says("192.0.3.70", ttl=1))
    assert rcode(world, "short.fill.lab.") == "NOERROR"

    def states():
        return [entry["state"] for entry in lookup(world, "short.fill.lab", "A")["cache"]]
    wait_for("it expires", lambda: states() == ["expired: given while upstreams do not answer"])


# --- The forwarder --------------------------------------------------------------------------------


def test_upstreams_of_the_forwarder(forwarder):
    for i in range(12):
        assert rcode(forwarder, f"n{i}.far.") == "NOERROR"
    found = lookup(forwarder, "n1.far")
    assert (found["asks"]["by"], found["asks"]["way"]) == ("forwarder", "forward")
    assert found["asks"]["addresses"] == [GOOD_NS, BAD_NS]
    assert found["validation"]["why"] == "the forwarder passes on what upstreams say"
    infra = forwarder.daemon.json("resolver", "infra")
    assert infra["by"] == "forwarder"
    assert found["upstreams"][0].keys() == infra["upstreams"][0].keys()
    good, bad = infra["upstreams"]
    assert ((good["address"], good["state"], good["transport"], good["thread"]) ==
            (f"{GOOD_NS}@53", "well", "udp", 0))
    assert good["answers"] >= 12 and good["sent"] >= good["answers"] and good["rtt_ns"] > 0
    assert good["heard_s"] < 60
    assert ((good["edns"], good["cookie"], good["caps"], good["tcp"]) ==
            (True, "none", "kept", "closed"))
    assert (bad["address"], bad["answers"]) == (f"{BAD_NS}@53", 0) and "rtt_ns" not in bad
    assert not {"heard_s", "edns", "cookie"} & bad.keys()
    assert bad["timeouts"] >= 1 and bad["state"] in ("silent", "down")
    assert good["under_way"] == 0
    shown = forwarder.daemon.ctl("resolver", "infra").stdout
    assert f"{GOOD_NS}@53" in shown and "{" not in shown


def test_upstreams_that_fail(forwarder):
    failures = forwarder.daemon.json("resolver", "infra")["upstreams"][0]["failures"]
    assert rcode(forwarder, "www.bad.") == "SERVFAIL"
    (failure,) = lookup(forwarder, "www.bad")["failures"]
    assert failure["type"] == "A" and failure["ede_code"] in (22, 23) and failure["reason"]
    assert forwarder.daemon.json("resolver", "infra")["upstreams"][0]["failures"] > failures


def test_recursion_is_off(forwarder):
    path = forwarder.daemon.path
    text = path.read_text(encoding="utf-8")
    section = json.loads(text)
    del section["recursion"]
    path.write_text(json.dumps(section), encoding="utf-8")
    try:
        forwarder.daemon.ctl("zone", "reload")
        found = lookup(forwarder, "www.far")
        assert found["answered_by"] == "nobody: recursion is off" and "asks" not in found
        assert lookup(forwarder, "www.example.com")["answered_by"] == "zone"
        assert forwarder.daemon.json("resolver", "infra") == {"by": "nobody: recursion is off"}
    finally:
        path.write_text(text, encoding="utf-8")
        forwarder.daemon.ctl("zone", "reload")
