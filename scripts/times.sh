#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# times.sh --stage FILE NAME COMMAND...   runs the command and adds a line to FILE: its seconds and NAME
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
	printf '%d\t%s\n' $(($(date +%s) - began)) "$name" >>"$file"
	exit "$status"
	;;
--show)
	echo 'the ten slowest tests (a line for each program in C):'
	sort -rn "$2/tests" | head -n 10 | awk -F '\t' '{ printf "  %6.1f s  %s\n", $1, $2 }'
	echo 'stages:'
	awk -F '\t' '
		{ printf "  %3d:%02d     %s\n", $1 / 60, $1 % 60, $2; sum += $1 }
		END { printf "  %3d:%02d     in all\n", sum / 60, sum % 60 }' "$2/stages"
	;;
--slow)
	awk -F '\t' -v OFS='\t' '$2 ~ /[.]py::/ && $1 >= 3 { print $1, $2 }' "$2/tests" | LC_ALL=C sort -k 2
	;;
*)
	sed -n '/^# times.sh/s/^# //p' "$0" >&2
	exit 2
	;;
esac
