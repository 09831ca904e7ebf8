# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of the comparisons."""
import pytest

import peers


@pytest.fixture(scope="module")
def own_loopback():
    """The servers of a module are alone on their loopback."""
    with peers.own_loopback():
        yield
