# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Trust anchor files without an anchor: a start is refused, and a reload changes nothing."""
import re

import dns.flags
import pytest

from dnstree import ask as ask_world, query, world_of
from netlab import CLIENT4, zone

NO_ANCHORS = {
    "empty": ("", "has no record"),
    "comment": ("; the root's key goes here\n", "has no record"),
    "hints": (". 3600 IN NS a.root.\na.root. 3600 IN A 192.0.2.1\n",
              "has 2 records, none of them DS or DNSKEY"),
    "digest": (f". IN DS 20326 8 9 {'AB' * 32}\n",
               "has 1 DS or DNSKEY records, none of them usable"),
    "algorithm": (f". IN DS 20326 200 2 {'AB' * 32}\n",
                  "has 1 DS or DNSKEY records, none of them usable"),
}


@pytest.mark.parametrize("key", ["trust-anchor", "auto-trust-anchor"])
@pytest.mark.parametrize("what", NO_ANCHORS)
def test_a_start_without_a_usable_anchor(daemon, tmp_path, key, what):
    text, said = NO_ANCHORS[what]
    path = tmp_path / "anchor"
    path.write_text(text, encoding="ascii")
    daemon.configure(zones=[zone("example.com")], recursion={"allow": [CLIENT4], key: str(path)})
    daemon.spawn()
    assert daemon.reap() == 1
    assert re.search(f"recursion.{key}: {path}: {said}.*nothing would be validated", daemon.log())
    assert path.read_text(encoding="ascii") == text


@pytest.mark.parametrize("key", ["trust_anchor", "auto_trust_anchor"])
def test_a_reload_without_a_usable_anchor(tmp_path, tree_zones, key):
    """The file is emptied, and then another one is named."""
    anchor, other = tmp_path / "anchor", tmp_path / "other"
    anchor.write_bytes(tree_zones.anchor.read_bytes())
    other.write_text("; nothing yet\n", encoding="ascii")
    with world_of(tmp_path, tree_zones) as world:
        keys = {"trust_anchor": None, key: str(anchor)}
        world.start(keys=keys)
        assert ask_world(world.lab, query("www.good.lab.", flags="rd ad")).flags & dns.flags.AD
        anchor.write_text("", encoding="ascii")
        for one in (anchor, other):
            world.daemon.configure(recursion=world.recursion(**keys | {key: str(one)}))
            refused = world.daemon.ctl("zone", "reload", check=False)
            assert refused.returncode == 1 and f"{one}: has no record" in refused.stderr, refused.stderr
            for name in ("www.good.lab.", "mail.good.lab."):
                assert ask_world(world.lab, query(name, flags="rd ad")).flags & dns.flags.AD
