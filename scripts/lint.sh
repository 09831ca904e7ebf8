#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lint.sh [--fix] [FILE...]: checks format, floors, lengths, white space, shell and Python, of all
# files or of FILEs. Runs every check, prints its findings, and fails if one failed. --fix only
# reformats the C files.
# lint.sh --changed STAMP: checks the files that are newer than STAMP, and renews STAMP if all
# checks pass.
#
# shellcheck disable=SC2046,SC2086 # lists of file names
# shellcheck disable=SC2317 # called through check
set -u
cd "$(dirname "$0")/.." || exit 1

fix=
if [ "${1:-}" = --fix ]; then
	fix=yes
	shift
fi
roots=${*:-.}

# The files that are newer than $1; all files, if $1 does not exist or the rules are newer.
changed_files() {
	if [ ! -e "$1" ] || [ -n "$(find .clang-format scripts/lint* -newer "$1")" ]; then
		echo .
		return
	fi
	# shellcheck disable=SC2016 # the inner shell's
	git ls-files -coz --exclude-standard |
		xargs -0 sh -c 'stamp=$1; shift; find "$@" -maxdepth 0 -newer "$stamp" 2>/dev/null' sh "$1"
}

stamp=
if [ "${1:-}" = --changed ]; then
	stamp=$2
	touch "$stamp.new"
	roots=$(changed_files "$stamp")
	if [ -z "$roots" ]; then
		printf '  %-9s %s\n' LINT 'no file has changed'
		exit 0
	fi
fi

find_files() {
	find $roots \( -path ./.git -o -path ./build -o -path '*/corpus/*' \) -prune -o -type f "$@" -print | sort
}

c_files=$(find_files -name '*.[ch]')
py_files=$(find_files -name '*.py')
text_files=$(find_files \( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' -o -name '*.md' \
	-o -name '*.yaml*' -o -name '*.service' -o -name '*.[58]' -o -name Makefile \))
sh_files=$(grep -lE '^#!/bin/(ba)?sh' $(find_files -perm -100) /dev/null)
failed=0

# check NAME COMMAND...
check() {
	name=$1
	shift
	if "$@"; then
		printf '  %-9s %s\n' LINT "$name: ok"
	else
		printf '  %-9s %s\n' LINT "$name: FAILED"
		failed=1
	fi
}

no_trailing_space() {
	! grep -nE '[[:blank:]]+$' "$@"
}

# Each file has its copyright and licence; xdp/ has two licences.
licences() {
	bad=0
	for file in "$@"; do
		case ${file#./} in
		xdp/*) licence='GPL-2.0-only OR BSD-2-Clause' ;;
		*) licence='GPL-2.0-or-later' ;;
		esac
		tags=$(head -n 4 "$file" | grep -cE "SPDX-(FileCopyrightText: The Volley authors|License-Identifier: $licence)( \\*/)?\$")
		if [ "$tags" -ne 2 ]; then
			echo "$file: does not begin with the SPDX tags of $licence"
			bad=1
		fi
	done
	return $bad
}

# Each decision has a row in the index.
indexed() {
	for page in docs/decisions/0*.md; do
		grep -qF "(${page##*/})" docs/decisions/README.md || { echo "$page: docs/decisions/README.md has no row for it"; bad=1; }
	done
	return ${bad:-0}
}

# Each version of clang-format breaks some lines at other places, and the tree has one format. CI has
# to have this version.
check_format() {
	if command -v clang-format-14 >/dev/null || [ "${CI:-}" = true ]; then
		check format clang-format-14 --dry-run -Werror $c_files
	else
		printf '  %-9s %s\n' LINT 'format: NOT CHECKED: clang-format-14, which Debian 12 has, is not installed'
	fi
}

if [ -n "$fix" ]; then
	[ -z "$c_files" ] || clang-format-14 -i $c_files
	exit
fi

[ -z "$c_files" ] || check_format
check floors scripts/lint-floors.py $c_files
check lengths scripts/lint-lengths.py $c_files
check structure scripts/counts.py --bound
check 'trailing space' no_trailing_space $text_files
check decisions indexed
check licences licences $c_files $py_files $sh_files
[ -z "$sh_files" ] || check shell shellcheck -x $sh_files
[ -z "$py_files" ] || check python /usr/bin/python3 -m pyflakes $py_files
[ -z "$stamp" ] || [ "$failed" -ne 0 ] || mv "$stamp.new" "$stamp"
exit $failed
