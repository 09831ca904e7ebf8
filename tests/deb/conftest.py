# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""One debootstrap for all tests of the packages: each copies it."""
import pytest

import bare


@pytest.fixture(name="bookworm", scope="session")
def make_bookworm(tmp_path_factory):
    root = tmp_path_factory.mktemp("bookworm") / "root"
    bare.bootstrap(root)
    return root
