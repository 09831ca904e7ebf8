#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run-pytest.sh ARGUMENT...: runs pytest, NET_JOBS tests at a time (default: two per core, up to 16,
# since tests wait most of the time). First it runs the tests without the mark `alone` side by side,
# then the marked ones one after the other. With NET_JOBS=1, or without pytest-xdist, one process
# runs all tests in the order of the files. tests/conftest.py has the other half. NET_PART=together
# runs only the tests without the mark, NET_PART=alone only the others.
#
# Each run has its own folders, which stay if a test failed: other runs close pytest's usual folder
# to other users. The path is short, since a control socket's path has at most 107 octets.
set -u

python=${PYTHON:-/usr/bin/python3}
jobs=${NET_JOBS:-$(($(nproc) > 8 ? 16 : $(nproc) * 2))}

folders=$(mktemp -d "${TMPDIR:-/tmp}/vnet-XXXXXX")
chmod 755 "$folders"

# pytest PART ARGUMENT...
pytest() {
	part=$1
	shift
	"$python" -m pytest -q -ra -p no:cacheprovider --basetemp="$folders/$part" "$@"
}

end() {
	case $1 in
	0 | 5) rm -rf "$folders" ;;
	*) echo "run-pytest: the folders of the tests are in $folders" ;;
	esac
	exit "$1"
}
trap 'end 130' INT TERM

if [ "$jobs" -gt 1 ] && ! "$python" -c 'import xdist' 2>/dev/null; then
	echo 'run-pytest: python3-pytest-xdist is not installed (make deps): one test after the other'
	jobs=1
fi
if [ "$jobs" -eq 1 ]; then
	case ${NET_PART:-} in
	together) set -- --alone=no "$@" ;;
	alone) set -- --alone=only "$@" ;;
	esac
	pytest a "$@"
	end $?
fi

# 5: no test was chosen
together=5
if [ "${NET_PART:-together}" = together ]; then
	pytest a --alone=no -n "$jobs" --dist loadgroup "$@"
	together=$?
fi
case $together in
0 | 5) ;;
1) case " $* " in *' -x '* | *' --exitfirst '* | *' --maxfail'*) end 1 ;; esac ;;
*) end "$together" ;;
esac
[ "${NET_PART:-}" != together ] || end "$together"
pytest b --alone=only "$@"
alone=$?
[ "$alone" -eq 5 ] && alone=$together
[ "$together" -eq 0 ] || [ "$together" -eq 5 ] || alone=$together
end "$alone"
