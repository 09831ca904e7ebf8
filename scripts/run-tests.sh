#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run-tests.sh SUITE PROGRAM...: runs cmocka programs one after the other, each for at most
# TEST_TIMEOUT seconds (300). Prints a line for each, the whole output of those that fail, and a
# closing line. With CI=true a skipped test is a failure.
set -u

suite=$1
shift
passed=0 failed=0 tests=0 skips=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

count() {
	grep -cE "$1" "$log"
}

for program in "$@"; do
	timeout -k 5 "${TEST_TIMEOUT:-300}" "$program" >"$log" 2>&1
	status=$?
	# cmocka names a skipped test twice; its closing line counts them.
	n_skip=$(awk '/^\[  SKIPPED \] [0-9]+ test/ { n += $4 } END { print n + 0 }' "$log")
	n_ok=$(count '^\[       OK \]')
	what=ok
	[ "$status" -eq 124 ] && what="FAILED (no end after ${TEST_TIMEOUT:-300} s)"
	[ "$status" -ne 0 ] && [ "$status" -ne 124 ] && what="FAILED (status $status)"
	if [ "$status" -eq 0 ] && [ "$n_ok" -eq 0 ] && [ "$n_skip" -eq 0 ]; then
		what='FAILED (ran no test)'
	fi
	[ "$what" = ok ] && [ "$n_skip" -gt 0 ] && [ "${CI:-}" = true ] &&
		what='FAILED (CI allows no skipped test)'
	tests=$((tests + n_ok))
	skips=$((skips + n_skip))
	if [ "$what" = ok ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		cat "$log"
	fi
	[ "$n_skip" -gt 0 ] && what="$what, $n_skip skipped"
	printf '  %-9s %s: %s tests, %s\n' TEST "${program##*/}" "$n_ok" "$what"
done

printf 'test-%s: %d programs passed, %d failed; %d tests passed, %d skipped\n' \
	"$suite" "$passed" "$failed" "$tests" "$skips"
[ "$failed" -eq 0 ]
