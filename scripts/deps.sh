#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# deps.sh [GROUP...]: installs the Debian packages of these groups; if all are installed, it quickly
# does nothing. Needs root to install. Groups:
#   run    the libraries of programs that were built elsewhere without DPDK (DPDK=0)
#   core   packages to compile and install without DPDK
#   lab    further packages for "make demo"
#   dpdk   further packages to compile DPDK in
#   build  core and dpdk
#   deb    further packages for "make deb"
#   unit   further packages for the unit tests and those of the XDP program
#   net    further packages for the network tests, but for the few that need routers or Prometheus
#   test   further packages for all tests, lint and benchmarks
#   package  further packages for the tests of the packages and of the image's base
#   cross  packages to build and test for another architecture, ARCH (arm64): core, with that
#          architecture's libraries in place of this one's. In a Debian of its own (scripts/cross.sh):
#          libevent-dev of one architecture removes that of another
# Without a group: build, lab, deb, unit, net, test and package. The script neither starts nor enables a packaged daemon:
# the tests start the name servers that they compare with, in their own namespaces.
# deps.sh --list [GROUP...] prints the packages. Environment: ARCH, for cross.
#
# A release of Debian has one of the names in "a/b/c", and apt says which: the first that is
# installed, else the first that can be installed, else the last. "a?" is left out where apt does not
# know it. apt is asked only for names in whose place none is installed, since that takes seconds. clang:
# make takes the first installed one of the row here.
set -eu

# group | what | packages
# shellcheck disable=SC2086 # a list
packages() {
	sed -nE "s/^($(echo $groups | tr ' ' '|')) *\|[^|]*\|//p" <<'END'
run   | libraries          | libbpf1 libcap-ng0 libevent-core-2.1-7t64/libevent-core-2.1-7
run   | libraries          | libjansson4 libldns3t64/libldns3 liblmdb0
run   | libraries          | libfstrm0 libmicrohttpd12t64/libmicrohttpd12 libmnl0 libprotobuf-c1 libssl3t64/libssl3
run   | libraries          | libseccomp2 libsystemd0 libunbound8 liburcu8t64/liburcu8 libxdp1 libyaml-0-2
core  | C                  | gcc make ccache pkg-config libc6-dev linux-libc-dev
core  | the XDP program    | clang-14/clang-19/clang-18/clang-17/clang-20/clang-21/clang-22/clang-16/clang-15
core  | the XDP program    | llvm-14/llvm-19/llvm-18/llvm-17/llvm-20/llvm-21/llvm-22/llvm-16/llvm-15
core  | the XDP program    | bpftool libbpf-dev libxdp-dev libelf-dev zlib1g-dev
core  | zones, TSIG, TLS   | libldns-dev libssl-dev
core  | journal            | liblmdb-dev
core  | resolution         | libunbound-dev libevent-dev
core  | RCU                | liburcu-dev
core  | configuration      | libyaml-dev libjansson-dev
core  | the daemon         | libsystemd-dev libcap-ng-dev libseccomp-dev libmicrohttpd-dev libmnl-dev
core  | dnstap             | libfstrm-dev libprotobuf-c-dev protobuf-c-compiler
dpdk  | DPDK               | dpdk-dev librte-net-af-xdp26/librte-net-af-xdp25/librte-net-af-xdp23
dpdk  | DPDK               | librte-net-tap26/librte-net-tap25/librte-net-tap23
dpdk  | DPDK               | librte-mempool-ring26/librte-mempool-ring25/librte-mempool-ring23
deb   | packages           | build-essential debhelper dpkg-dev fakeroot apparmor dh-apparmor python3
unit  | DPDK, for tests    | librte-net-ring26/librte-net-ring25/librte-net-ring23 librte-net-null26/librte-net-null25/librte-net-null23
test  | other kernels      | clang-16? clang-19? cpio busybox-static xz-utils
unit  | tests in C         | libcmocka-dev libclang-rt-14-dev/libclang-rt-19-dev/libclang-rt-18-dev/libclang-rt-17-dev/libclang-rt-20-dev/libclang-rt-21-dev/libclang-rt-22-dev
unit  | tests in Python    | python3 python3-pytest python3-pytest-xdist python3-dnspython python3-cryptography python3-jsonschema python3-yaml
unit  | the units, tests   | systemd libseccomp2
lab   | labs               | iproute2 ethtool procps util-linux python3
unit  | shells, completion  | bash zsh
net   | loading by hand    | xdp-tools
lab   | clients            | knot-dnsutils bind9-dnsutils
net   | clients            | dnsperf netsniff-ng tcpdump
net   | dnstap, for tests  | fstrm-bin
net   | servers to compare | knot knot-dnssecutils nsd bind9 unbound
net   | import, for tests  | pdns-server pdns-backend-sqlite3
test  | routers, for tests | bird2 python3-exabgp
test  | checks of metrics  | prometheus
unit  | validators         | ldnsutils bind9-utils
package | their tests      | lintian debootstrap
test  | the image          | buildah netavark crun
test  | benchmark plots    | python3-matplotlib
test  | profiles           | linux-perf
test  | lint               | clang-format-14? shellcheck python3-pyflakes
cross | the compiler       | crossbuild-essential-@ARCH@ qemu-user
cross | packages           | build-essential debhelper fakeroot apparmor dh-apparmor python3
cross | tests in C         | libcmocka-dev
cross | tools of tests     | ldnsutils bind9-utils bind9-dnsutils knot-dnsutils knot-dnssecutils iproute2 procps util-linux openssl
cross | tests in Python    | python3-pytest python3-dnspython python3-cryptography
END
}

# The rows of the groups. In the group "cross" a library to link is one of ARCH.
rows() {
	case $groups in
	*cross*)
		groups="core cross"
		packages | sed -E "s/@ARCH@/$arch/; s/([^ ]+-dev)( |\$)/\1:$arch\2/g"
		;;
	*) packages ;;
	esac
}

# Prints "installed NAME" for each of these packages that is: NAME:ARCH for one of another architecture.
installed_of() {
	dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' "$@" 2>/dev/null |
		sed -n "s/:$(dpkg --print-architecture)\$//; /^installed /p"
}

# Prints "candidate NAME" for each of these packages that apt can install.
candidates_of() {
	command -v apt-cache >/dev/null || return 0
	LC_ALL=C apt-cache policy "$@" | awk '
		/^[^ ]/ { sub(":$", ""); name = $0 }
		$1 == "Candidate:" && $2 != "(none)" { print "candidate", name }'
}

# The names in "a/b/c" on standard input, one a line, where none of them is in $tmp/known as installed.
lacking() {
	tr -d '?' | awk -v known="$tmp/known" '
		BEGIN { while ((getline line <known) > 0) is[line] = 1 }
		{
			n = split($0, names, "/")
			for (i = 1; i <= n; i++)
				if ("installed " names[i] in is)
					next
			for (i = 1; i <= n; i++)
				print names[i]
		}'
}

# The packages of the groups by the names that they have here, one a line.
resolve() {
	rows | tr ' ' '\n' | sed '/^$/d' >"$tmp/rows"
	# shellcheck disable=SC2046 # a list
	installed_of $(tr '/' '\n' <"$tmp/rows" | tr -d '?' | sort -u) >"$tmp/known"
	list=$(lacking <"$tmp/rows")
	# shellcheck disable=SC2086 # a list
	[ -z "$list" ] || candidates_of $list >>"$tmp/known"
	awk -v known="$tmp/known" '
		BEGIN { while ((getline line <known) > 0) is[line] = 1 }
		{
			may_lack = sub("[?]$", "")
			n = split($0, names, "/")
			best = may_lack ? "" : names[n]
			for (i = n; i > 0; i--)
				if ("candidate " names[i] in is)
					best = names[i]
			for (i = n; i > 0; i--)
				if ("installed " names[i] in is)
					best = names[i]
			if (best != "")
				print best
		}' "$tmp/rows"
}

missing() {
	resolve | sort -u >"$tmp/wanted"
	# shellcheck disable=SC2046 # a list
	installed_of $(cat "$tmp/wanted") | sed 's/^installed //' | sort -u >"$tmp/present"
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

begin_installing() {
	if ! command -v apt-get >/dev/null; then
		# shellcheck disable=SC2086 # a list
		echo "deps: no apt-get here: install what corresponds to:" $1 >&2
		exit 1
	fi
	if [ "$(id -u)" -ne 0 ]; then
		# shellcheck disable=SC2086
		echo "deps: run as root, or: apt-get install" $1 >&2
		exit 1
	fi
	exec 9>/run/volley-deps.lock
	flock 9
	trap 'guard_remove; rm -rf "$tmp"' EXIT
	guard_put
	export DEBIAN_FRONTEND=noninteractive
	case $groups in *cross*) dpkg --add-architecture "$arch" ;; esac
	apt-get -q -o DPkg::Lock::Timeout=300 update
}

install_missing() {
	apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"
}

# Packages with a name server, a router or Prometheus, and its unit. A daemon that this script
# installs does not start at boot; one that was installed before is unchanged.
units='knot:knot nsd:nsd bind9:named unbound:unbound pdns-server:pdns bird2:bird prometheus:prometheus'

disable_units() {
	command -v systemctl >/dev/null || return 0
	for pair in $units; do
		case " $* " in
		*" ${pair%:*} "*) systemctl -q disable "${pair#*:}.service" || true ;;
		esac
	done
}

arch=${ARCH:-arm64}
list_only=
if [ "${1:-}" = --list ]; then
	list_only=yes
	shift
fi
groups=
[ $# -gt 0 ] || set -- build lab deb unit net test package
for group; do
	case $group in
	build) groups="$groups core dpdk" ;;
	run | core | lab | dpdk | deb | unit | net | test | package | cross) groups="$groups $group" ;;
	*)
		echo "deps: no such group: $group (run, core, lab, dpdk, build, deb, unit, net, test, package, cross)" >&2
		exit 2
		;;
	esac
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
if [ "$list_only" ]; then
	resolve
	exit
fi
list=$(missing)
if [ -n "$list" ]; then
	begin_installing "$list"
	list=$(missing) # a fresh system has only now the names of packages
	# shellcheck disable=SC2086 # a list
	echo "deps: installing" $list
	# shellcheck disable=SC2086
	install_missing $list
	# shellcheck disable=SC2086
	disable_units $list
	list=$(missing)
	[ -z "$list" ] || { echo "deps: still missing: $list" >&2; exit 1; }
fi
