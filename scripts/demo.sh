#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# demo.sh: what Volley does, in half a minute. Makes a lab of two network namespaces, starts volleyd at
# the server's end with the zones of zones/, asks real queries over UDP and TCP, IPv4 and IPv6, each
# twice, shows the answers and who gave them, and cleans up. Fails if an answer is missing, or
# if the driver answered nothing over IPv4 or IPv6. Needs root and a build.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=${VOLLEY_BIN:-build/bin}
export VOLLEY_BIN=$bin
lab=volley-demo-$$
work=$(mktemp -d)
ctl=("$bin/volleyctl" --socket "$work/control.sock")
daemon=

at_client() {
	scripts/lab.sh exec "$lab" c "$@"
}

at_server() {
	scripts/lab.sh exec "$lab" s "$@"
}

title() {
	printf '\n== %s\n\n' "$*"
}

die() {
	printf 'demo: %s\n' "$*" >&2
	[ ! -s "$work/volleyd.log" ] || sed 's/^/  volleyd: /' "$work/volleyd.log" >&2
	exit 1
}

clean_up() {
	local status=$?

	trap - EXIT INT TERM
	if [ -n "$daemon" ] && kill -0 "$daemon" 2>/dev/null; then
		kill -TERM "$daemon"
		wait "$daemon" || true
	fi
	scripts/lab.sh down "$lab"
	rm -rf "$work"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# On loopback too, so that the table has answers of kernel sockets: the lab's driver never sees lo.
write_config() {
	cat <<END
server:
  listen: [192.0.2.53, "2001:db8::53", "127.0.0.1@5300"]
  pid-file: $work/volleyd.pid
interfaces:
  - name: s0
    xdp: native
    port: auto
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

# Until the daemon says that it serves, ten seconds at most.
wait_for_daemon() {
	local tries

	for ((tries = 100; tries > 0; tries--)); do
		kill -0 "$daemon" 2>/dev/null || die 'volleyd ended'
		if "${ctl[@]}" status >"$work/status" 2>&1; then
			return
		fi
		sleep 0.1
	done
	die "volleyd does not answer on its control socket: $(cat "$work/status")"
}

# ask END TITLE KDIG-ARGUMENTS...: twice; the first answer is rendered, the second often a hit
ask() {
	local end=$1 what=$2 answer
	shift 2
	title "$what: kdig $*"
	for _ in 1 2; do
		answer=$("at_$end" kdig +timeout=2 +retry=0 +nocrypto "$@") || die "no answer: kdig $*"
		grep -q 'status: ' <<<"$answer" || die "no answer: kdig $*"
	done
	grep -vE '^$' <<<"$answer"
}

# driver_hits: what the XDP program has answered so far
driver_hits() {
	"${ctl[@]}" --json stats | /usr/bin/python3 -c '
import json, sys

def hits(node):
    """Sums the driver'"'"'s hits, wherever the tree keeps them."""
    if not isinstance(node, dict):
        return 0
    if isinstance(node.get("hit"), int):
        return node["hit"]
    return sum(hits(child) for child in node.values())

print(hits(json.load(sys.stdin).get("driver", {})))'
}

# must_hit FAMILY BEFORE: fails if the driver has answered nothing since
must_hit() {
	local now
	now=$(driver_hits)
	[ "$now" -gt "$2" ] || die "the driver gave no answer over $1"
}

for file in volleyd volleyctl volley.bpf.o xdp_pass.bpf.o; do
	[ -e "$bin/$file" ] || die "$bin/$file is not there: run make first"
done
[ "$(id -u)" -eq 0 ] || die 'network namespaces and XDP need root'

scripts/lab.sh up "$lab"
write_config >"$work/volley.yaml"
title 'The configuration'
cat "$work/volley.yaml"

at_server "$bin/volleyd" -c "$work/volley.yaml" >"$work/volleyd.log" 2>&1 &
daemon=$!
wait_for_daemon
title 'volleyctl status'
cat "$work/status"

hits=$(driver_hits)
ask client 'UDP over IPv4' @192.0.2.53 www.example.com A
ask client 'UDP over IPv4, no such name' @192.0.2.53 nosuchname.example.com A
must_hit IPv4 "$hits"
hits=$(driver_hits)
ask client 'UDP over IPv6' @2001:db8::53 www.example.com AAAA
ask client 'UDP over IPv6, with EDNS' @2001:db8::53 +bufsize=1232 example.net MX
must_hit IPv6 "$hits"
ask client 'TCP over IPv4' @192.0.2.53 +tcp example.com SOA
ask client 'TCP over IPv6' @2001:db8::53 +tcp -x 192.0.2.53
ask server 'UDP on loopback, through a kernel socket' @127.0.0.1 -p 5300 www.example.com A

title 'Who gave the answers: volleyctl stats'
"${ctl[@]}" stats
title 'The end'
"${ctl[@]}" stop
wait "$daemon" || die "volleyd ended with status $?"
daemon=
echo 'demo: all queries were answered'
