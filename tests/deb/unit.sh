#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the unit of the package promises, in a machine with systemd and AppArmor: test_readme.py puts it behind the commands of
# README.md. volleyd writes where the manual says that it may, and nowhere is it refused anything.

fail() {
	echo "failed: $1"
	journalctl -b -u volleyd --no-pager | tail -n 40
	dmesg | grep DENIED || true
	exit 1
}

until_it_holds() {
	tries=0
	until sh -ec "$1"; do
		tries=$((tries + 1))
		[ $tries -le 150 ] || fail "$1"
		sleep 0.1
	done
}

ask() {
	answer=$(ip netns exec c dig @192.0.2.53 +short "www.$1" A | grep -x 192.0.2.80 || true)
	[ "$answer" = 192.0.2.80 ] || fail "www.$1"
}

network() {
	ip link add s0 type veth peer name c0
	ip netns add c
	ip link set c0 netns c
	ip address add 192.0.2.53/24 dev s0
	ip link set s0 up
	ip netns exec c ip address add 192.0.2.1/24 dev c0
	ip netns exec c ip link set c0 up
}

# configure KEYS: and a start with them.
configure() {
	cat >/etc/volley/volley.yaml <<END
server: {listen: [192.0.2.53], storage: /var/lib/volley}
interfaces: [{name: s0}]
cache: {size: 16M, snapshot: /var/lib/volley/cache}
zones:
  - {name: example.com, file: example.com.zone}
  - {name: example.net, file: zones/example.net.zone}
$1
END
	systemctl restart volleyd || fail "$1"
}

# The file of a zone, with ReadWritePaths= as in SYSTEMD of volleyd(8).
zones() {
	cp /usr/share/doc/volley/examples/example.com.zone /etc/volley/
	install -d -o volley -g volley /etc/volley/zones
	printf '%s\n' '@ 300 SOA ns hostmaster 1 60 60 60 60' '@ 300 NS ns.example.org.' 'www 300 A 192.0.2.80' \
		>/etc/volley/zones/example.net.zone
	chown volley: /etc/volley/zones/example.net.zone
	mkdir -p /etc/systemd/system/volleyd.service.d
	printf '[Service]\nReadWritePaths=/etc/volley/zones\n' >/etc/systemd/system/volleyd.service.d/zones.conf
	systemctl daemon-reload
}

try_zone() {
	volleyctl zone edit example.net add new 60 A 192.0.2.1
	volleyctl zone flush example.net
	until_it_holds 'grep -q "^new" /etc/volley/zones/example.net.zone'
}

# Files below /var/log/volley, and a rotation.
try_logs() {
	configure 'query-log: {file: /var/log/volley/queries.log, format: text}
dnstap: {file: /var/log/volley/answers}'
	volleyctl status
	profile=$(cat "/proc/$(systemctl show -P MainPID volleyd)/attr/current")
	[ "$profile" = 'volleyd (enforce)' ] || fail "the profile is $profile"
	ask example.com
	until_it_holds 'grep -q " www.example.com. A " /var/log/volley/queries.log && [ -s /var/log/volley/answers ]'
	stat -c '%n %U:%G %a' /var/log/volley /var/log/volley/queries.log
	logrotate -f /etc/logrotate.d/volley
	until_it_holds '[ -e /var/log/volley/queries.log ] && [ -e /var/log/volley/queries.log.1 ]'
	ask example.net
	until_it_holds 'grep -q " www.example.net. A " /var/log/volley/queries.log'
}

# The journal, and the socket of a collector.
try_sockets() {
	(umask 0; exec fstrm_capture -t protobuf:dnstap.Dnstap -u /run/dnstap.sock -w /root/answers) &
	collector=$!
	until_it_holds '[ -S /run/dnstap.sock ]'
	configure 'query-log: {journal: true}
dnstap: {socket: /run/dnstap.sock}'
	ask example.com
	until_it_holds 'journalctl -t volleyd-queries --no-pager | grep -q www.example.com'
	until_it_holds 'volleyctl --json stats | grep -q "\"dnstap_written\": *[1-9]"'
	kill $collector
}

try_tools() {
	volleyctl capture -n 1 -w /root/one.pcap &
	capture=$!
	while kill -0 $capture 2>/dev/null; do
		ask example.com
	done
	[ -s /root/one.pcap ] || fail 'no capture'
	sed 's/journal: true/file: \/var\/log\/volley\/other.log/' /etc/volley/volley.yaml >/etc/volley/other.yaml
	volleyctl config apply /etc/volley/other.yaml
	cmp /etc/volley/other.yaml /etc/volley/volley.yaml
	[ -e /var/log/volley/other.log ] || fail 'no other.log'
	systemctl reload volleyd
	systemctl stop volleyd
	[ -s /var/lib/volley/cache ] || fail 'no snapshot'
}

network
zones
try_logs
try_zone
try_sockets
try_tools
if dmesg | grep 'apparmor="DENIED"'; then
	fail 'volleyd was refused something'
fi
echo 'unit: done'
