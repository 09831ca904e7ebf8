#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lab.sh: two network namespaces with a veth pair between them, for demo, tests and load.
#
#   NAME-c (client)                             NAME-s (server)
#   c0  192.0.2.1    2001:db8::1    ── veth ──  s0  192.0.2.53   2001:db8::53
#       02:00:00:00:00:01                           02:00:00:00:00:53
#
#   lab.sh up NAME [QUEUES]        makes it anew, one queue unless said
#   lab.sh down NAME               removes it; all right if it is not there
#   lab.sh exec NAME c|s CMD...    runs CMD at one end, in place of this shell
#
# The reasons for this setup:
# - GRO gives a veth end its NAPI; without it, frames that XDP redirects there are dropped.
# - An end without an XDP program is not woken for frames that the other sends by XDP_TX, so the
#   client runs XDP_PASS (build/bin/xdp_pass.bpf.o).
# - The sender writes checksums, and VLAN tags are in the frame, as in a frame from a NIC. No
#   segmentation offload, since an XDP program gets no frame above a page.
# - Fixed addresses and permanent neighbours: no ARP or ND packets, and no tentative IPv6 address.
# - Threaded NAPI: each end receives in its own kernel thread (napi/c0-*, napi/s0-*).
# - exec enters only the network namespace. `ip netns exec` would mount /sys anew, and hide a bpffs
#   under /sys/fs/bpf. So /sys/class/net is the caller's, but /proc/net the namespace's.
set -eu

bin=${VOLLEY_BIN:-$(dirname "$0")/../build/bin}
PATH=$PATH:/usr/sbin:/sbin

die() {
	echo "lab: $*" >&2
	exit 1
}

usage() {
	sed -n '/^#   lab.sh/s/^#   //p' "$0" >&2
	exit 2
}

in_netns() {
	netns=$1
	shift
	nsenter --net="/run/netns/$netns" -- "$@"
}

make_pair() {
	ip netns add "$1-c"
	ip netns add "$1-s"
	ip link add c0 netns "$1-c" address 02:00:00:00:00:01 numrxqueues "$2" numtxqueues "$2" \
		type veth peer name s0 netns "$1-s" address 02:00:00:00:00:53 \
		numrxqueues "$2" numtxqueues "$2"
}

# set_up_end NETNS DEVICE HOST PEER_HOST PEER_MAC: enters the namespace once, with its /sys, in a
# mount namespace that ends with the shell.
set_up_end() {
	ip netns exec "$1" sh -eu -s "$2" "$3" "$4" "$5" <<'END'
cd /proc/sys/net/ipv6/conf
echo 0 >all/disable_ipv6
echo 0 >default/disable_ipv6
for key in disable_ipv6 accept_ra router_solicitations accept_dad; do
	echo 0 >"$1/$key"
done
echo 1 >"$1/addr_gen_mode"
ethtool -K "$1" tx off tso off gso off gro on >/dev/null
ethtool -K "$1" txvlan off tx-vlan-stag-hw-insert off >/dev/null
ip -batch - <<BATCH
link set lo up
address add 192.0.2.$2/24 dev $1
address add 2001:db8::$2/64 dev $1 nodad
link set $1 up
neighbour replace 192.0.2.$3 lladdr $4 dev $1 nud permanent
neighbour replace 2001:db8::$3 lladdr $4 dev $1 nud permanent
BATCH
echo 1 >"/sys/class/net/$1/threaded"
END
}

pass_at_client() {
	[ -e "$bin/xdp_pass.bpf.o" ] || die "$bin/xdp_pass.bpf.o is not there: run make first"
	in_netns "$1-c" ip link set dev c0 xdpdrv obj "$bin/xdp_pass.bpf.o" sec xdp
}

has_link() {
	case $(ip -n "$1" link show "$2") in *LOWER_UP*) ;; *) return 1 ;; esac
}

# Waits for both ends, at most two seconds.
wait_for_link() {
	tries=100
	until has_link "$1-c" c0 && has_link "$1-s" s0; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die "the link of $1 does not come up"
		sleep 0.02
	done
}

down() {
	for netns in "$1-c" "$1-s"; do
		if [ -e "/run/netns/$netns" ]; then
			ip netns delete "$netns"
		fi
	done
}

up() {
	case $2 in
	'' | *[!0-9]* | 0) die "queues: $2: must be a number from 1" ;;
	esac
	[ "$(id -u)" -eq 0 ] || die 'network namespaces need root'
	[ -e /proc/sys/net/ipv6/conf ] || die 'this kernel was started without IPv6 (ipv6.disable=1), and the lab needs it'
	down "$1"
	trap 'down "$name"' EXIT
	trap 'exit 130' INT TERM
	make_pair "$1" "$2"
	set_up_end "$1-c" c0 1 53 02:00:00:00:00:53
	set_up_end "$1-s" s0 53 1 02:00:00:00:00:01
	pass_at_client "$1"
	wait_for_link "$1"
	trap - EXIT INT TERM
}

[ $# -ge 2 ] || usage
command=$1
name=$2
case $name in
'' | *[!A-Za-z0-9_.-]* | -*) die "name $name: letters, digits, _ . - only" ;;
esac

case $command in
up)
	up "$name" "${3:-1}"
	;;
down)
	down "$name"
	;;
exec)
	[ $# -ge 4 ] || usage
	case $3 in c | s) ;; *) usage ;; esac
	netns=$name-$3
	[ -e "/run/netns/$netns" ] || die "there is no lab $name: lab.sh up $name"
	shift 3
	exec nsenter --net="/run/netns/$netns" -- "$@"
	;;
*)
	usage
	;;
esac
