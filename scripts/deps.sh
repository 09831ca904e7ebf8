#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# deps.sh: installs the Debian 12 packages that building, tests, demo and benchmarks need; does nothing,
# quickly, when all are there. Needs root to install. No packaged daemon is started by this: the
# name servers are here to be compared with and are started by the tests, in their own namespaces.
# deps.sh --list prints the packages.
set -eu

# what | packages
packages() {
	sed -E '/^#/d; s/^[^|]*\|//' <<'END'
building           | gcc make ccache pkg-config libc6-dev linux-libc-dev
the XDP program    | clang-14 llvm-14 bpftool libbpf-dev libxdp-dev libelf-dev zlib1g-dev
zones, TSIG, TLS   | libldns-dev libssl-dev
journal            | liblmdb-dev
resolution         | libunbound-dev libevent-dev
RCU                | liburcu-dev
configuration      | libcyaml-dev libyaml-dev libjansson-dev
the daemon         | libsystemd-dev libcap-ng-dev libmicrohttpd-dev libmnl-dev
DPDK               | dpdk-dev librte-net-af-xdp23 librte-net-tap23 librte-mempool-ring23
DPDK, for tests    | librte-net-ring23 librte-net-null23
other kernels      | clang-16 clang-19 cpio busybox-static xz-utils
tests in C         | libcmocka-dev libclang-rt-14-dev
tests in Python    | python3 python3-pytest python3-pytest-xdist python3-dnspython python3-cryptography python3-yaml
the units, tests   | systemd libseccomp2
labs               | iproute2 ethtool procps util-linux
loading by hand    | xdp-tools
clients            | knot-dnsutils bind9-dnsutils dnsperf netsniff-ng
servers to compare | knot knot-dnssecutils nsd bind9 unbound
routers, for tests | bird2 python3-exabgp
validators         | ldnsutils bind9-utils
packages           | debhelper dpkg-dev fakeroot lintian debootstrap
benchmark plots    | python3-matplotlib
profiles           | linux-perf
lint               | clang-format-14 shellcheck python3-pyflakes
END
}

missing() {
	for package in $(packages); do
		echo "$package"
	done | sort >"$tmp/wanted"
	# shellcheck disable=SC2046 # a list
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' $(packages) 2>/dev/null |
		sed -n 's/^installed //p' | sort -u >"$tmp/present"
	comm -23 "$tmp/wanted" "$tmp/present"
}

# Maintainer scripts ask policy-rc.d before they start a daemon; 101 says no.
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

# Also undoes what a run that was killed left behind.
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

if [ "${1:-}" = --list ]; then
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
	list=$(missing)
	[ -z "$list" ] || { echo "deps: still missing: $list" >&2; exit 1; }
fi
