#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# testnames.sh [TREE]: prints the name of each test of a built tree (make all tools test-unit
# test-bpf), sorted. It runs the unit and BPF tests, collects the Python tests, and lists the fuzz
# inputs. Two trees have the same tests if it prints the same for both.
set -eu

cd "${1:-$(dirname "$0")/..}"
VOLLEY_BIN=$PWD/build/bin VOLLEY_TESTS=$PWD/build/release/tests PYTHONDONTWRITEBYTECODE=1
export VOLLEY_BIN VOLLEY_TESTS PYTHONDONTWRITEBYTECODE

{
	# shellcheck disable=SC2016 # the inner shell's
	find tests/unit tests/bpf -name 'test_*.c' | sed 's/\.c$//' |
		xargs -P "$(nproc)" -I {} sh -c '
			[ -x "build/release/$1" ] || { echo "testnames: $1 is not built" >&2; exit 1; }
			"build/release/$1" 2>&1 | sed -n "s|^\[ RUN      \] |$1 |p"' sh {}
	find tests/fuzz/corpus -type f | sed 's/^/replay /'
	/usr/bin/python3 -m pytest --collect-only -q -p no:cacheprovider tests/net tests/diff | grep '::'
} | LC_ALL=C sort
