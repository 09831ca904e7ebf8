#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the unit of the package promises, in a machine with systemd and AppArmor: test_readme.py puts it behind the commands of
# README.md. volleyd writes where the manual says that it may, and nowhere is it refused anything. Its processes have units of
# their own, and it has no capability; an operator may have one unit instead.

fail() {
	echo "failed: $1"
	journalctl -b -u volleyd -u 'volley-*' --no-pager | tail -n 60
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
  - {name: example.net, file: zones/example.net.zone, verify: [/bin/true]}
$1
END
	systemctl restart volleyd || fail "$1"
}

# net_zone SERIAL
net_zone() {
	printf '%s\n' "@ 300 SOA ns hostmaster $1 60 60 60 60" '@ 300 NS ns.example.org.' 'www 300 A 192.0.2.80' \
		>/etc/volley/zones/example.net.zone
}

# The file of a zone, with ReadWritePaths= as in SYSTEMD of volleyd(8).
zones() {
	cp /usr/share/doc/volley/examples/example.com.zone /etc/volley/
	install -d -o volley -g volley /etc/volley/zones
	net_zone 1
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
	is_in_profile volley-server volleyd
	systemctl stop volleyd
	[ -s /var/lib/volley/cache ] || fail 'no snapshot'
}

main_of() {
	systemctl show -P MainPID "$1" | grep -x '[1-9][0-9]*' | head -n 1
}

is_in_profile() {
	[ "$(cat "/proc/$(main_of "$2")/attr/current")" = "$1 (enforce)" ] || fail "$2: not in the profile $1"
}

# The driver's answers so far.
n_driver() {
	volleyctl --json stats | tr -d ' \n' | sed -E 's/.*"answered":\{[^}]*"driver":([0-9]+).*/\1/'
}

ask_driver() {
	ask "$1" # the answer is in the cache, at the latest now
	before=$(n_driver)
	ask "$1"
	[ "$(n_driver)" -gt "$before" ] || fail "$1: not answered by the driver"
}

# In the client's namespace, for names that volleyd asks upstream: another volleyd.
upstream() {
	mkdir /srv/up
	printf '%s\n' '@ 300 SOA ns hostmaster 1 60 60 60 60' '@ 300 NS ns.example.org.' '* 300 A 192.0.2.80' >/srv/up/up.lab.zone
	cat >/srv/up/volley.yaml <<END
server: {listen: [192.0.2.1]}
control: {socket: /srv/up/control.sock}
interfaces: []
zones: [{name: up.lab, file: /srv/up/up.lab.zone}]
END
	ip netns exec c volleyd -c /srv/up/volley.yaml &
	up=$!
	until_it_holds 'volleyctl -s /srv/up/control.sock --json status | grep -q "\"ready\": *true"'
}

# kill_one NAME: the next process of the unit is there when this returns.
kill_one() {
	was=$(main_of "volley-$1@*")
	kill -9 "$was"
	tries=0
	until now=$(main_of "volley-$1@*") && [ "$now" != "$was" ]; do
		tries=$((tries + 1))
		[ $tries -le 300 ] || fail "no other $1"
		sleep 0.1
	done
}

# max_exposure UNIT TENTHS
max_exposure() {
	systemd-analyze security --no-pager --threshold="$2" "$1" | tail -n 1
	systemd-analyze security --no-pager --threshold="$2" "$1" >/dev/null || fail "the exposure of $1"
}

# volleyd without any capability, broker, runner and resolver in units and profiles of their own; each is killed.
try_units() {
	configure 'recursion: {allow: [192.0.2.0/24], forward: [192.0.2.1]}'
	grep -Eqx 'CapPrm:[[:space:]]*0+' "/proc/$(main_of volleyd)/status" || fail 'volleyd has a capability'
	is_in_profile volley-server volleyd
	max_exposure volleyd.service 15
	for one in broker runner resolver; do
		until_it_holds "systemctl show -P MainPID 'volley-$one@*' | grep -qx '[1-9][0-9]*'"
		is_in_profile "volley-$one" "volley-$one@*"
		grep -q "volley-$one@" "/proc/$(main_of "volley-$one@*")/cgroup" || fail "the cgroup of $one"
	done
	max_exposure "$(systemctl list-units --plain --no-legend 'volley-broker@*' | cut -d ' ' -f 1)" 22
	max_exposure "$(systemctl list-units --plain --no-legend 'volley-resolver@*' | cut -d ' ' -f 1)" 15
	serial=1
	for one in none broker runner resolver; do
		[ "$one" = none ] || kill_one "$one"
		serial=$((serial + 1))
		net_zone $serial
		ask_driver example.com
		ask "$one.up.lab"
		volleyctl zone reload example.net || fail 'a reload, with a command of zones[].verify'
		until_it_holds 'volleyctl detach s0 && volleyctl attach s0'
	done
	volleyctl status
}

# installing.md: one unit for all, and back.
try_one_unit() {
	mkdir -p /etc/systemd/system/volleyd.service.d
	ln -s /dev/null /etc/systemd/system/volleyd.service.d/zz-units.conf
	systemctl daemon-reload
	systemctl restart volleyd || fail 'one unit'
	is_in_profile volleyd volleyd
	[ -z "$(systemctl list-units --plain --no-legend 'volley-*@*')" ] || fail 'a unit is left'
	ask_driver example.com
	ask one.up.lab
	rm /etc/systemd/system/volleyd.service.d/zz-units.conf
	systemctl daemon-reload
	systemctl restart volleyd || fail 'units again'
	is_in_profile volley-server volleyd
	ask_driver example.com
}

# The driver answers while the package is replaced; its sockets and processes are those of the new one then.
try_upgrade() {
	rm -f /usr/sbin/policy-rc.d # of debootstrap.sh: it lets no package start anything
	broker=$(main_of 'volley-broker@*')
	while [ ! -e /root/upgraded ]; do
		ip netns exec c dig @192.0.2.53 +short +tries=1 www.example.com A
	done >/root/during 2>&1 &
	asker=$!
	dpkg -i /root/build/deb/volley_*.deb || fail 'the upgrade'
	touch /root/upgraded
	wait $asker
	sort /root/during | uniq -c
	if ! [ -s /root/during ] || grep -v '^192[.]0[.]2[.]8[01]$' /root/during; then
		fail 'an answer is missing during the upgrade'
	fi
	until_it_holds 'volleyctl --json status | grep -q "\"ready\": *true"'
	[ "$(main_of 'volley-broker@*')" != "$broker" ] || fail 'the broker of before'
	systemctl is-active volley-broker.socket volley-runner.socket volley-resolver.socket || fail 'the sockets'
	ask_driver example.com
	ask upgraded.up.lab
}

try_remove() {
	dpkg -r volley || fail 'dpkg -r'
	if systemctl is-active volleyd volley-broker.socket volley-runner.socket volley-resolver.socket; then
		fail 'something is active'
	fi
	until_it_holds "! systemctl list-units --plain --no-legend 'volley-*@*' | grep ."
	dpkg --purge volley || fail 'dpkg --purge'
	[ ! -e /run/volley-units ] || fail 'the sockets are left'
	[ ! -e /var/lib/volley ] || fail 'the state is left'
}

network
zones
upstream
try_units
try_one_unit
try_upgrade
try_logs
try_zone
try_sockets
try_tools
if dmesg | grep 'apparmor="DENIED"'; then
	fail 'volleyd was refused something'
fi
kill $up
try_remove
echo 'unit: done'
