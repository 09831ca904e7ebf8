# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The scenarios of scenarios/, asked of volleyd and of unbound with the same options: see scenario.py
for their format.
"""
import os
import shutil

import pytest

import explained
import peers
from authorities import Repeats
from resolvers import Run, World
from scenario import read_groups

GROUPS = read_groups()
ROWS = [(group, one) for group in GROUPS for one in group.scenarios]


@pytest.fixture(name="world", scope="module")
def make_world(own_loopback, tmp_path_factory):  # pylint: disable=unused-argument
    if os.geteuid() or not shutil.which("unbound", path=peers.PATH):
        pytest.skip("needs root and unbound")
    world = World(tmp_path_factory.mktemp("scenarios"), GROUPS)
    yield world
    world.close()


@pytest.mark.parametrize("group,scenario", ROWS,
                         ids=[f"{group.name}-{one['name']}".replace(" ", "-")
                              for group, one in ROWS])
def test_a_scenario(world, group, scenario):
    run = Run(world.pair_for(group), scenario["steps"])
    run.run()
    assert run.rules <= {rule.name for rule in explained.RESOLVER_RULES}


@pytest.mark.parametrize("came,is_repeat", [
    (10.01, False),  # two at once
    (10.376, True),  # sent again, as the answer took half a second
    (10.5, False),   # after the answer
    (12, False)])
def test_a_question_that_is_sent_again(came, is_repeat):
    repeats = Repeats()
    assert not repeats.has("question", 10)
    repeats.answered("question", 10, 10.5)
    assert repeats.has("question", came) == is_repeat
    assert not repeats.has("another", came)


def test_each_difference_is_of_a_scenario():
    """A rule that no scenario needs any more goes from explained.py."""
    named = {value["because"] for _, one in ROWS for step in one["steps"] for value in step.values()
             if isinstance(value, dict)}
    assert named == {rule.name for rule in explained.RESOLVER_RULES}
