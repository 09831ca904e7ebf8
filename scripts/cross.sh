#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cross.sh ARCH COMMAND...: runs a command in this folder, in a Debian 12 that has the compiler and the
# libraries of another architecture (arm64). The first run makes this Debian and takes some
# minutes; the host gets no package of that architecture.
#
#   $VOLLEY_CROSS/ARCH    the Debian (/var/cache/volley-cross/ARCH)
#
# This folder has the same path there. The mounts are in a namespace of their own and end with the
# command. Needs root, debootstrap and a Debian mirror. Environment: VOLLEY_CROSS, MIRROR.
set -eu
umask 022 # apt in the Debian reads files as another user
cd "$(dirname "$0")/.."

arch=$1
shift
project=$(pwd -P)
cache=${VOLLEY_CROSS:-/var/cache/volley-cross}
root=$cache/$arch
case $arch in
arm64) ;;
*)
	echo "cross: $arch: no such architecture (arm64)" >&2
	exit 2
	;;
esac
[ "$(id -u)" -eq 0 ] || { echo 'cross: run as root' >&2; exit 1; }

# in_root COMMAND...
in_root() {
	rm -f "$root/etc/resolv.conf"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount --propagation private sh -ec '
		root=$1 project=$2
		shift 2
		mount --bind "$root" "$root" # so that / is a mount there, too
		for folder in proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
		mount -t tmpfs tmpfs "$root/run"
		mount -t tmpfs tmpfs "$root/tmp"
		mkdir -p "$root$project" # which may be below one of these
		mount --bind "$project" "$root$project"
		exec chroot "$root" sh -c "cd \"\$0\" && exec \"\$@\"" "$project" "$@"
	' sh "$root" "$project" env -u VOLLEY_BIN -u VOLLEY_TESTS -u MAKEFLAGS -u MAKELEVEL HOME=/root LC_ALL=C.UTF-8 "$@"
}

install_packages() {
	in_root env "ARCH=$arch" scripts/deps.sh cross >"$cache/deps.log" 2>&1
}

# Completes the packages of a run that was killed.
repair_packages() {
	in_root env DEBIAN_FRONTEND=noninteractive \
		sh -c 'dpkg --configure -a; exec apt-get -q -y --fix-broken install' >"$cache/repair.log" 2>&1
}

mkdir -p "$cache"
exec 8>"$cache/lock"
flock 8
if [ ! -d "$root" ]; then
	echo "  CROSS     a Debian 12 in $root"
	rm -rf --one-file-system "$root".*
	scripts/debootstrap.sh bookworm "$root"
fi
install_packages || { repair_packages && install_packages; } ||
	{ tail -n 20 "$cache/deps.log" >&2; exit 1; }
flock -u 8
exec 8>&-
in_root "$@"
