#!/bin/bash
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# demo.sh: shows Volley in half a minute. It makes a lab of two network namespaces, starts volleyd
# at the server's end with the zones of zones/, sends real queries over UDP and TCP, IPv4 and IPv6,
# each twice, shows the answers and their sources, and cleans up. It fails if an answer is missing,
# or if the driver did not answer a query that it must, over IPv4 and IPv6. Needs root and a build.
#
# The daemon's counters, read before and after each query, tell the source of an answer.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=${VOLLEY_BIN:-build/bin}
export VOLLEY_BIN=$bin
lab=volley-demo-$$
work=$(mktemp -d)
ctl=("$bin/volleyctl" --socket "$work/control.sock")
daemon=
rows=()

title() {
	printf '\n== %s\n' "$*"
}

# A block of lines below a title
show() {
	echo
	sed 's/^./  &/'
}

die() {
	printf 'demo: %s\n' "$*" >&2
	[ ! -s "$work/volleyd.log" ] || sed 's/^/  /' "$work/volleyd.log" >&2
	exit 1
}

# The daemon gets five seconds to end by itself; $daemon is its process, see start_daemon.
stop_daemon() {
	local tries

	kill -TERM "$daemon" 2>/dev/null || return 0
	for ((tries = 50; tries > 0; tries--)); do
		kill -0 "$daemon" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$daemon" 2>/dev/null || true
	wait "$daemon" || true
}

clean_up() {
	local status=$?

	trap - EXIT INT TERM
	[ -z "$daemon" ] || stop_daemon
	scripts/lab.sh down "$lab"
	rm -rf "$work"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Also on loopback, which has no XDP program: there a kernel socket answers.
write_config() {
	cat <<END
server:
  listen: [192.0.2.53, "2001:db8::53", "127.0.0.1@5300"]
interfaces:
  - name: s0
    xdp: native
cache:
  size: 64M
zones:
  - name: example.com
    file: $PWD/zones/example.com.zone
  - name: example.net
    file: $PWD/zones/example.net.zone
  - name: 2.0.192.in-addr.arpa
    file: $PWD/zones/2.0.192.in-addr.arpa.zone
control:
  socket: $work/control.sock
END
}

# Waits until the daemon serves, at most ten seconds. lab.sh becomes volleyd, so $! is volleyd.
start_daemon() {
	local tries

	scripts/lab.sh exec "$lab" s "$bin/volleyd" -c "$work/volley.yaml" >"$work/volleyd.log" 2>&1 &
	daemon=$!
	for ((tries = 100; tries > 0; tries--)); do
		kill -0 "$daemon" 2>/dev/null || die 'volleyd ended'
		if "${ctl[@]}" status >"$work/status" 2>&1 && grep -q '^ready: *yes' "$work/status"; then
			return
		fi
		sleep 0.1
	done
	die "volleyd does not answer on its control socket: $(cat "$work/status")"
}

# Answers given so far: "driver worker kernel_socket tcp"
counts() {
	"${ctl[@]}" --json stats | /usr/bin/python3 -c '
import json, sys
answered = json.load(sys.stdin)["answered"]
print(*(answered[who] for who in ("driver", "worker", "kernel_socket", "tcp")))'
}

# who BEFORE: the source whose counter has changed since; a worker may count after its answer has
# arrived
who() {
	local names=(driver worker 'kernel socket' tcp) before after tries i

	read -ra before <<<"$1"
	for ((tries = 20; tries > 0; tries--)); do
		read -ra after <<<"$(counts)"
		for i in 0 1 2 3; do
			if [ "${after[i]}" -gt "${before[i]}" ]; then
				echo "${names[i]}"
				return
			fi
		done
		sleep 0.05
	done
	echo nobody
}

# Options of the clients: print status and records. They are not shown with each query.
declare -A print_options=(
	[kdig]='+timeout=2 +retry=0 +noall +header +answer +authority'
	[dig]='+timeout=2 +tries=1 +noall +comments +answer +authority'
)

# ask END CLIENT ARGUMENTS...: sends one query from that end; $answer is the answer, $giver its
# source
ask() {
	local end=$1 client=$2 before
	shift 2
	before=$(counts)
	# shellcheck disable=SC2086 # a list
	answer=$(scripts/lab.sh exec "$lab" "$end" "$client" ${print_options[$client]} "$@") ||
		die "no answer: $client $*"
	grep -q 'status: ' <<<"$answer" || die "no answer: $client $*"
	giver=$(who "$before")
}

# twice END WHAT CLIENT ARGUMENTS...: asks twice and shows the answer; both sources become a row
twice() {
	local end=$1 what=$2 first
	shift 2
	ask "$end" "$@"
	first=$giver
	ask "$end" "$@"
	{
		printf '$ %s\n' "$*"
		sed -nE 's/.*status: ([A-Z]+).*/  \1/p' <<<"$answer"
		sed -nE '/^(;|$)/!s/^/  /p' <<<"$answer"
		printf '  first answered by: %s, then by: %s\n' "$first" "$giver"
	} | show
	rows+=("$what" "$first" "$giver")
}

must_be_driver() {
	[ "$giver" = driver ] || die "the driver gave no answer over $1, but: $giver"
}

for file in volleyd volleyctl volley.bpf.o xdp_pass.bpf.o; do
	[ -e "$bin/$file" ] || die "$bin/$file is not there: run make first"
done
[ "$(id -u)" -eq 0 ] || die 'network namespaces and XDP need root'

scripts/lab.sh up "$lab"
write_config >"$work/volley.yaml"
title 'The configuration (client c0: 192.0.2.1, 2001:db8::1 -- veth -- server s0)'
show <"$work/volley.yaml"
start_daemon
title 'volleyctl status'
show <"$work/status"

title 'Queries, each asked twice'
twice c 'UDP, IPv4' kdig @192.0.2.53 www.example.com A
must_be_driver IPv4
twice c 'UDP, IPv4, in another case' dig +nocookie @192.0.2.53 wWw.eXaMPle.cOm A
must_be_driver 'IPv4 with EDNS'
twice c 'UDP, IPv4, no such name' kdig @192.0.2.53 nosuchname.example.com A
twice c 'UDP, IPv6' kdig @2001:db8::53 www.example.com AAAA
must_be_driver IPv6
twice c 'UDP, IPv6, with EDNS' kdig +bufsize=1232 @2001:db8::53 example.net MX
must_be_driver 'IPv6 with EDNS'
twice c 'UDP, IPv4, with a DNS cookie' dig @192.0.2.53 www.example.com A
twice c 'UDP, IPv4, a zone not served' kdig @192.0.2.53 example.org A
twice c 'TCP, IPv4' kdig +tcp @192.0.2.53 example.com SOA
twice c 'TCP, IPv6' kdig +tcp @2001:db8::53 -x 192.0.2.53
twice s 'UDP, loopback' kdig @127.0.0.1 -p 5300 www.example.com A

title 'The counters: the first part of volleyctl stats'
"${ctl[@]}" stats | sed '/^engine:/,$d' | sed '${/^$/d}' | show

title 'Without the XDP program, and with it again'
printf '$ volleyctl detach s0\n' | show
"${ctl[@]}" detach s0 >/dev/null
twice c 'UDP, IPv4, program detached' kdig @192.0.2.53 www.example.com A
printf '$ volleyctl attach s0\n' | show
"${ctl[@]}" attach s0 >/dev/null
twice c 'UDP, IPv4, attached again' kdig @192.0.2.53 www.example.com A
must_be_driver 'IPv4 after volleyctl attach'

title 'Who answered'
{
	printf '%-32s%-16s%s\n' QUERY 'FIRST TIME' 'SECOND TIME'
	printf '%-32s%-16s%s\n' "${rows[@]}"
} | show
show <<'END'
driver         the XDP program, before the packet reached the kernel's network stack
worker         volleyd, which took the packet from an AF_XDP ring
kernel socket  volleyd, by an ordinary UDP socket
tcp            volleyd, by TCP, which is never the driver's
END

"${ctl[@]}" stop >/dev/null
wait "$daemon" || die "volleyd ended with status $?"
daemon=
printf '\ndemo: all queries were answered, by the driver over IPv4 and IPv6\n'
