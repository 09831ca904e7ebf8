#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# times.sh --stage FILE NAME COMMAND...   runs the command and adds a line to FILE: its seconds, those of the
#                                         processors, and NAME
# times.sh --show FOLDER                  prints FOLDER/stages, and the ten slowest of FOLDER/tests
# times.sh --slow FOLDER                  prints tests/slow.txt: Python tests that took 3 s or more
set -u

case ${1-} in
--stage)
	file=$2 name=$3
	shift 3
	began=$(date +%s)
	"$@"
	status=$?
	times >"$file.used" # in a pipe it would tell those of a child
	used=$(awk -F '[ms ]+' 'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }' "$file.used")
	printf '%d\t%d\t%s\n' $(($(date +%s) - began)) "$used" "$name" >>"$file"
	exit "$status"
	;;
--show)
	echo 'the ten slowest tests (a line for each program in C):'
	sort -rn "$2/tests" | head -n 10 | awk -F '\t' '{ printf "  %6.1f s  %s\n", $1, $2 }'
	echo 'stages, and the time of processors:'
	awk -F '\t' '
		{ printf "  %3d:%02d  %3d:%02d     %s\n", $1 / 60, $1 % 60, $2 / 60, $2 % 60, $3; sum += $1; used += $2 }
		END { printf "  %3d:%02d  %3d:%02d     in all\n", sum / 60, sum % 60, used / 60, used % 60 }' "$2/stages"
	;;
--slow)
	awk -F '\t' -v OFS='\t' '$2 ~ /[.]py::/ && $1 >= 3 { print $1, $2 }' "$2/tests" | LC_ALL=C sort -k 2
	;;
*)
	sed -n '/^# times.sh/s/^# //p' "$0" >&2
	exit 2
	;;
esac
