#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run-tests.sh SUITE PROGRAM...: runs cmocka programs, TEST_JOBS at a time (default: one per core
# and one more, since some wait most of the time), each for at most TEST_TIMEOUT seconds (900: on a
# busy machine a long one takes ten times as long). Prints a line for each program, the whole output
# of each that fails, and a closing line. With CI=true a skipped test is a failure.
#
# A program that passes gets a stamp, PROGRAM.passed: a checksum of the program and of all files
# that tests read. While the checksum is the same, the program is not run again, unless AGAIN is
# set.
#
# RUN: a command that runs the programs, an emulator for those of another architecture, and also those
# that the tests start. Then exactly the tests that tests/unit/emulated names may fail or be skipped:
# each is printed with its reason. A test that is named there and passes is a failure, too.
#
# run-tests.sh --one FOLDER PROGRAM CHECKSUM: runs one program, for the pool; FOLDER gets the
# results.
set -u

# The files and settings that a stamp depends on: data, labs, BPF objects.
sum_of_surroundings() {
	{
		find tests/data zones scripts/lab.sh "${VOLLEY_BIN:-build/bin}" -type f ! -name '*.new.*' \
			! -name volleyd ! -name volleyctl -exec sha256sum {} + | sort -k 2
		uname -r
		echo "${CI:-} ${QUERIES:-} ${SEED:-} ${VOLLEY_TEST_CRASHES:-} ${ASAN_OPTIONS:-} ${UBSAN_OPTIONS:-}"
	} | sha256sum | cut -d ' ' -f 1
}

count() {
	grep -cE "$1" "$log"
}

# "TEST reason" for each test of the program that the emulator cannot run; TEST is * for all of them.
list_emulated() {
	[ -z "${RUN:-}" ] || sed -nE "s,^${1#*/tests/unit/} +([^ ]+) *\| *,\1 ,p" tests/unit/emulated
}

list_not_passed() {
	sed -nE 's/^\[  (FAILED |SKIPPED) \] ([A-Za-z0-9_]+)$/\2/p' "$log" | sort -u
}

# Ends with 0 if the tests that have not passed are those that are expected, and prints the reasons.
judge_emulated() {
	echo "$expected" | cut -d ' ' -f 1 | sort -u >"$log.expected"
	list_not_passed >"$log.seen"
	# A program that ends with another status than the number of its failures has died.
	[ "$status" -lt 100 ] && diff "$log.expected" "$log.seen" >"$log.diff" && return 0
	echo "not as tests/unit/emulated says (<: passed all the same, >: not named there):" >>"$log"
	cat "$log.diff" >>"$log"
	return 1
}

run_one() {
	program=$2
	expected=$(list_emulated "$program")
	case $expected in
	'* '*)
		printf '  %-9s %s: not run: %s\n' TEST "${program##*/}" "${expected#* }"
		echo "1 0 0 0 1" >"$1/$(echo "$program" | tr / _).result"
		return
		;;
	esac
	name=$(echo "$program" | tr / _)
	log=$1/$name.log
	began=$(date +%s%N)
	# shellcheck disable=SC2086 # an emulator with its options, or none
	timeout -k 5 "${TEST_TIMEOUT:-900}" ${RUN:-} "$program" >"$log" 2>&1 </dev/null
	status=$?
	ms=$((($(date +%s%N) - began) / 1000000))
	# cmocka names a skipped test twice; its closing line counts them.
	n_skip=$(awk '/^\[  SKIPPED \] [0-9]+ test/ { n += $4 } END { print n + 0 }' "$log")
	n_ok=$(count '^\[       OK \]')
	what=ok
	[ "$status" -eq 124 ] && what="FAILED (no end after ${TEST_TIMEOUT:-900} s)"
	[ "$status" -ne 0 ] && [ "$status" -ne 124 ] && what="FAILED (status $status)"
	if [ "$status" -eq 0 ] && [ "$n_ok" -eq 0 ] && [ "$n_skip" -eq 0 ]; then
		what='FAILED (ran no test)'
	fi
	[ "$what" = ok ] && [ "$n_skip" -gt 0 ] && [ "${CI:-}" = true ] &&
		what='FAILED (CI allows no skipped test)'
	n_lacking=0
	if [ "$expected" ] && judge_emulated; then
		what=ok
		n_lacking=$(echo "$expected" | wc -l)
		n_skip=0
	elif [ "$expected" ]; then
		what='FAILED (not as expected of the emulator)'
	fi
	passed=1
	[ "$what" = ok ] || passed=0
	rm -f "$program.passed"
	if [ "$passed" -eq 1 ] && [ "$n_skip" -eq 0 ] && [ -z "$expected" ]; then
		echo "$3 $n_ok $ms" >"$program.passed"
	fi
	echo "$passed $n_ok $n_skip $n_lacking 0" >"$1/$name.result"
	[ -z "${VOLLEY_DURATIONS:-}" ] ||
		printf '%d.%02d\t%s\t%s\n' $((ms / 1000)) $((ms % 1000 / 10)) "$program" \
			"$([ "$passed" -eq 1 ] && echo passed || echo failed)" >>"$VOLLEY_DURATIONS"
	[ "$n_skip" -gt 0 ] && what="$what, $n_skip skipped"
	# Keeps one program's output together.
	exec 9>"$1/lock"
	flock 9
	[ "$passed" -eq 1 ] || cat "$log"
	printf '  %-9s %s: %s tests, %s\n' TEST "${program##*/}" "$n_ok" "$what"
	[ "$n_lacking" -eq 0 ] || echo "$expected" | sed 's/^\([^ ]*\) /            not run: \1: /'
}

if [ "$1" = --one ]; then
	run_one "$2" "$3" "$4"
	exit 0
fi

suite=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# Puts a script in the place of each program of VOLLEY_BIN: an emulator starts no other program of its
# architecture.
emulate_programs() {
	mkdir "$folder/bin"
	for file in "$VOLLEY_BIN"/*; do
		at=$folder/bin/${file##*/}
		if [ -x "$file" ]; then
			printf '#!/bin/sh\nexec %s %s "$@"\n' "$RUN" "$file" >"$at"
			chmod 755 "$at"
		else
			ln -s "$file" "$at"
		fi
	done
	VOLLEY_BIN=$folder/bin
}

# The milliseconds that a program took in another build, if it has passed in one.
ms_elsewhere() {
	for stamp in "${1%%/tests/*}"/../*/tests/"${1#*/tests/}".passed; do
		[ ! -e "$stamp" ] || cut -d ' ' -f 3 "$stamp"
	done | sort -n | tail -n 1
}

# The programs without a valid stamp, the longest first: a long one that begins last would delay the
# end.
around=$(sum_of_surroundings)
for program in "$@"; do
	had='' n_ok=0 ms=''
	[ ! -e "$program.passed" ] || read -r had n_ok ms <"$program.passed"
	ms=${ms:-$(ms_elsewhere "$program")}
	echo "$program ${had:--} ${n_ok:-0} ${ms:-0}"
done >"$folder/stamps"
sha256sum "$@" | awk -v around="$around" -v again="${AGAIN:-}" -v folder="$folder" '
	NR == FNR { sum[$2] = $1 "-" around; next }
	again == "" && $2 == sum[$1] { kept++; kept_tests += $3; next }
	{ print $4, $1, sum[$1] }
	END { print kept + 0, kept_tests + 0 >(folder "/kept") }' - "$folder/stamps" | sort -rn >"$folder/wanted"
read -r kept kept_tests <"$folder/kept"

[ -z "${RUN:-}" ] || emulate_programs
if [ -s "$folder/wanted" ]; then
	cut -d ' ' -f 2- "$folder/wanted" | xargs -n 2 -P "${TEST_JOBS:-$(($(nproc) + 1))}" "$0" --one "$folder"
fi

# shellcheck disable=SC2046 # a list of counts
set -- $(cat "$folder"/*.result 2>/dev/null | awk '
	{ $1 ? passed++ : failed++; tests += $2; skips += $3; lacking += $4; unrun += $5 }
	END { print passed - unrun, failed + 0, tests + 0, skips + 0, NR, lacking + 0, unrun + 0 }')
lost=$(($(wc -l <"$folder/wanted") - $5))
printf 'test-%s: %d programs passed, %d failed; %d tests passed, %d skipped' \
	"$suite" "$(($1 + kept))" "$(($2 + lost))" "$(($3 + kept_tests))" "$4"
[ "$(($6 + $7))" -eq 0 ] || printf '; the emulator cannot run %d tests and %d whole programs' "$6" "$7"
[ "$kept" -eq 0 ] || printf ' (%d programs not run: they passed and have not changed)' "$kept"
echo
[ "$(($2 + lost))" -eq 0 ]
