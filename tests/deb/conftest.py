# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""One debootstrap for all tests of the packages: each copies it."""
import pytest

import bare


@pytest.fixture(name="bare_debian", scope="session")
def make_bare_debian(tmp_path_factory):
    root = tmp_path_factory.mktemp("bare_debian") / "root"
    bare.bootstrap(root)
    return root
