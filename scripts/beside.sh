#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# beside.sh LOG BUILD COMMAND...: runs the command and, on idle processors, the shell command BUILD,
# whose output goes to LOG. Ends when both have ended, with the status of the command. The status of
# BUILD is lost: the caller runs BUILD again later, which then prints its errors. If the command
# fails, BUILD is killed.
set -u

log=$1 build=$2
shift 2

# Its own process group, so that all of it can be killed.
setsid nice -n 19 sh -c "$build" >"$log" 2>&1 </dev/null &
group=$!
end_build() {
	kill -TERM "-$group" "$group" 2>/dev/null # the second: where setsid has not begun yet
	wait "$group" 2>/dev/null
}
trap 'end_build; exit 130' INT TERM

"$@"
status=$?
[ "$status" -eq 0 ] || end_build
wait "$group"
exit "$status"
