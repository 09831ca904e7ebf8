#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# deps.sh [GROUP...]: installs the Debian 12 packages of these groups; if all are installed, it
# quickly does nothing. Needs root to install. Groups:
#   run    the libraries of programs that were built elsewhere without DPDK (DPDK=0)
#   build  packages to compile and install
#   deb    further packages for "make deb"
#   test   further packages for tests, demo, lint and benchmarks
# Without a group: build, deb and test. The script neither starts nor enables a packaged daemon: the
# tests start the name servers that they compare with, in their own namespaces.
# deps.sh --list [GROUP...] prints the packages.
set -eu

# group | what | packages
packages() {
	sed -nE "s/^($(echo "$groups" | tr ' ' '|')) *\|[^|]*\|//p" <<'END'
run   | libraries          | libbpf1 libcap-ng0 libevent-core-2.1-7 libevent-openssl-2.1-7 libjansson4 libldns3 liblmdb0
run   | libraries          | libfstrm0 libmicrohttpd12 libmnl0 libprotobuf-c1 libssl3 libsystemd0 libunbound8 liburcu8 libxdp1 libyaml-0-2
build | C                  | gcc make ccache pkg-config libc6-dev linux-libc-dev
build | the XDP program    | clang-14 llvm-14 bpftool libbpf-dev libxdp-dev libelf-dev zlib1g-dev
build | zones, TSIG, TLS   | libldns-dev libssl-dev
build | journal            | liblmdb-dev
build | resolution         | libunbound-dev libevent-dev
build | RCU                | liburcu-dev
build | configuration      | libyaml-dev libjansson-dev
build | the daemon         | libsystemd-dev libcap-ng-dev libmicrohttpd-dev libmnl-dev
build | dnstap             | libfstrm-dev libprotobuf-c-dev protobuf-c-compiler
build | DPDK               | dpdk-dev librte-net-af-xdp23 librte-net-tap23 librte-mempool-ring23
deb   | packages           | build-essential debhelper dpkg-dev fakeroot apparmor dh-apparmor python3
test  | DPDK, for tests    | librte-net-ring23 librte-net-null23
test  | other kernels      | clang-16 clang-19 cpio busybox-static xz-utils
test  | tests in C         | libcmocka-dev libclang-rt-14-dev
test  | tests in Python    | python3 python3-pytest python3-pytest-xdist python3-dnspython python3-cryptography python3-jsonschema python3-yaml
test  | the units, tests   | systemd libseccomp2
test  | labs               | iproute2 ethtool procps util-linux
test  | shells, completion  | bash zsh
test  | loading by hand    | xdp-tools
test  | clients            | knot-dnsutils bind9-dnsutils dnsperf netsniff-ng tcpdump
test  | dnstap, for tests  | fstrm-bin
test  | servers to compare | knot knot-dnssecutils nsd bind9 unbound
test  | routers, for tests | bird2 python3-exabgp
test  | checks of metrics  | prometheus
test  | validators         | ldnsutils bind9-utils
test  | packages, tests    | lintian debootstrap
test  | the image          | buildah crun
test  | benchmark plots    | python3-matplotlib
test  | profiles           | linux-perf
test  | lint               | clang-format-14 shellcheck python3-pyflakes
END
}

missing() {
	for package in $(packages); do
		echo "$package"
	done | sort -u >"$tmp/wanted"
	# shellcheck disable=SC2046 # a list
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' $(packages) 2>/dev/null |
		sed -n 's/^installed //p' | sort -u >"$tmp/present"
	comm -23 "$tmp/wanted" "$tmp/present"
}

# Maintainer scripts call policy-rc.d before they start a daemon; status 101 forbids it.
guard=/usr/sbin/policy-rc.d
guard_mark='# put here by volley/scripts/deps.sh, for as long as it runs'

guard_put() {
	guard_remove
	if [ -e "$guard" ]; then
		mv "$guard" "$guard.volley-saved"
	fi
	printf '#!/bin/sh\n%s\nexit 101\n' "$guard_mark" >"$guard"
	chmod 755 "$guard"
}

# Also removes the remains of a run that was killed.
guard_remove() {
	if grep -qsF "$guard_mark" "$guard"; then
		rm -f "$guard"
	fi
	if [ -e "$guard.volley-saved" ] && [ ! -e "$guard" ]; then
		mv "$guard.volley-saved" "$guard"
	fi
}

install_missing() {
	if ! command -v apt-get >/dev/null; then
		echo "deps: no apt-get here: install what corresponds to: $*" >&2
		exit 1
	fi
	if [ "$(id -u)" -ne 0 ]; then
		echo "deps: run as root, or: apt-get install $*" >&2
		exit 1
	fi
	exec 9>/run/volley-deps.lock
	flock 9
	trap 'guard_remove; rm -rf "$tmp"' EXIT
	guard_put
	export DEBIAN_FRONTEND=noninteractive
	apt-get -q -o DPkg::Lock::Timeout=300 update
	apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"
}

# Packages with a name server, a router or Prometheus, and its unit. A daemon that this script
# installs does not start at boot; one that was installed before is unchanged.
units='knot:knot nsd:nsd bind9:named unbound:unbound bird2:bird prometheus:prometheus'

disable_units() {
	command -v systemctl >/dev/null || return 0
	for pair in $units; do
		case " $* " in
		*" ${pair%:*} "*) systemctl -q disable "${pair#*:}.service" || true ;;
		esac
	done
}

list_only=
if [ "${1:-}" = --list ]; then
	list_only=yes
	shift
fi
groups=${*:-build deb test}
for group in $groups; do
	case $group in
	run | build | deb | test) ;;
	*)
		echo "deps: no such group: $group (run, build, deb, test)" >&2
		exit 2
		;;
	esac
done
if [ "$list_only" ]; then
	packages
	exit
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
list=$(missing)
if [ -n "$list" ]; then
	# shellcheck disable=SC2086 # a list
	echo "deps: installing" $list
	# shellcheck disable=SC2086
	install_missing $list
	# shellcheck disable=SC2086
	disable_units $list
	list=$(missing)
	[ -z "$list" ] || { echo "deps: still missing: $list" >&2; exit 1; }
fi
