#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# suite.sh SUITE [STEP...]: builds and tests the commit that is checked out inside a bare Debian of
# this suite (trixie, bookworm, testing, sid). Needs root, debootstrap and a Debian mirror. Steps, by
# default all but the last three:
#   deps     installs the packages of the groups in SUITE_GROUPS (default: all of `make deps`)
#   build    all programs, tests and tools, with -Werror
#   clang    reads userspace by clang, with -Werror
#   unit     the unit tests
#   bpf      the tests of the XDP program
#   net      the network tests and the comparisons (FILES, PYTEST_ARGS, NET_JOBS as for make)
#   deb      makes the packages
#   package  installs, upgrades and purges these in a bare Debian of the suite
#   across   the machine's own volleyd (build/bin) and that of the suite take each other's state
#   demo     `make demo` in a bare Debian with make and git, and the seconds to the table
#   "make X" any command, in the tree
#
# $VOLLEY_SUITES (/var/cache/volley-suites) keeps for each suite:
#   bare   the Debian that debootstrap has made
#   root   a copy with the packages and the tree; SUITE_FRESH=1 makes it anew
#   ccache
# Each run builds a new copy of the tree, in which ccache has what was compiled before. With
# SUITE_KEEP=1 the run takes the copy of an earlier run as it is, if the commit is the same, and does
# not repeat the steps deps (of the same groups), build, clang and deb that passed there.
# Everything runs in a mount namespace of its own, whose root is the Debian. In a chroot below the
# machine's root, a process that enters the namespace (`crun exec`) would have the machine's root, and
# the kernel would refuse user namespaces. The kernel removes the mounts after the last process there.
# The script ends all processes when it ends, and a signal ends it at once. If the script is killed,
# the next run ends them. It has no PID namespace, since tests look for the kernel's NAPI threads. The
# network is the machine's, for apt; the tests make namespaces.
set -eu
umask 022 # apt in the Debian reads files as another user
cd "$(dirname "$0")/.."

suite=${1:?suite.sh SUITE [STEP...]}
shift
[ $# -gt 0 ] || set -- deps build clang unit bpf net deb package
[ "$(id -u)" -eq 0 ] || { echo 'suite: run as root' >&2; exit 1; }

groups=${SUITE_GROUPS:-all}
folder=${VOLLEY_SUITES:-/var/cache/volley-suites}/$suite
bare=$folder/bare root=$folder/root
passed=$root/srv/volley/build/passed # the commit, and a file for each step
mkdir -p "$folder/ccache"
exec 9>"$folder/lock"
flock -w 10 9 || { echo "suite: another run uses $folder" >&2; exit 1; }

# All processes of a run have the number of its folder in their environment, but for this shell. Some may
# start others while they are killed.
number=$(stat -c %d:%i "$folder")
end_all() {
	unset VOLLEY_SUITE_RUN
	for _ in 1 2 3 4 5; do
		pids=$(grep -lzsxF "VOLLEY_SUITE_RUN=$number" /proc/[0-9]*/environ | cut -d / -f 3)
		[ -n "$pids" ] || break
		# shellcheck disable=SC2086 # a list
		kill -KILL $pids 2>/dev/null || true
	done
}
end_all
trap end_all EXIT
trap 'exit 130' HUP INT TERM
export "VOLLEY_SUITE_RUN=$number"

# run COMMAND...: a signal ends the wait for it.
run() {
	"$@" 9>&- &
	wait $!
}

# in_root ROOT COMMAND...: in the tree, if ROOT has one.
# shellcheck disable=SC2016 # the inner shell's
in_root() {
	there=$1
	shift
	rm -f "$there/etc/resolv.conf"
	cp /etc/resolv.conf /etc/hosts "$there/etc/" || return
	run unshare --mount --propagation private --fork --kill-child sh -ec '
		root=$1 bare=$2 ccache=$3
		shift 3
		mount --bind "$root" "$root"
		cd "$root"
		mount --bind /proc proc
		mount --rbind /sys sys
		mount -t bpf bpf sys/fs/bpf
		mount --rbind /dev dev
		mount -t tmpfs -o mode=755 tmpfs run
		mkdir -p run/lock root/.cache/ccache srv/bare srv/volley
		mount --bind "$ccache" root/.cache/ccache
		[ "$bare" = "$root" ] || mount --bind "$bare" srv/bare
		mount --move . / # and so the root of the namespace
		status=0
		chroot . env --chdir=/srv/volley "$@" || status=$?
		exit $status' sh "$there" "$bare" "$folder/ccache" -i \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "VOLLEY_SUITE_RUN=$number" VOLLEY_BARE=/srv/bare "CI=${CI:-}" "http_proxy=${http_proxy:-}" \
		"https_proxy=${https_proxy:-}" "MIRROR=${MIRROR:-}" "$@"
}

demo() {
	there=$folder/demo
	rm -rf --one-file-system "$there"
	cp -a --reflink=auto "$bare" "$there" &&
		in_root "$there" sh -ec 'apt-get -q update; exec apt-get -q install make git' &&
		git clone --quiet . "$there/srv/volley" || return
	began_demo=$(date +%s)
	in_root "$there" CCACHE_DISABLE=1 make demo || return
	echo "suite: $suite: from a Debian with make and git to the table: $(($(date +%s) - began_demo)) s"
	rm -rf --one-file-system "$there"
}

# In the machine's own root; the other one shares its folders, and both a BPF file system.
# shellcheck disable=SC2016 # the inner shell's
across() {
	run make all tools &&
		run env VOLLEY_OTHER="$root" unshare --mount --propagation private --fork --kill-child sh -ec '
			mount -t bpf bpf /sys/fs/bpf
			mount -t tmpfs -o mode=755 tmpfs /run
			mkdir -p "$VOLLEY_OTHER/$PWD"
			for folder in /proc /sys /sys/fs/bpf /dev /run /tmp "$PWD"; do
				mount --bind "$folder" "$VOLLEY_OTHER/$folder"
			done
			status=0
			TMPDIR=/tmp make test-net FILES=tests/net/test_across_releases.py || status=$?
			exit $status'
}

# A clean copy of what is committed.
copy_tree() {
	[ -z "${SUITE_KEEP:-}" ] || [ "$(cat "$passed/commit" 2>/dev/null)" != "$(git rev-parse HEAD)" ] || return 0
	rm -rf --one-file-system "$root/srv/volley"
	find "$root/tmp" -mindepth 1 -delete
	git clone --quiet . "$root/srv/volley"
	mkdir -p "$passed"
	git rev-parse HEAD >"$passed/commit"
}

# Whether the step need not be repeated.
has_passed() {
	case $1 in
	deps) [ -n "${SUITE_KEEP:-}" ] && [ "$(cat "$passed/deps" 2>/dev/null)" = "$groups" ] ;;
	build | clang | deb) [ -n "${SUITE_KEEP:-}" ] && [ -e "$passed/$1" ] ;;
	*) false ;;
	esac
}

step() {
	case $1 in
	deps)
		# the first two: the step may have been killed before
		in_root "$root" sh -ec 'dpkg --configure -a || true; apt-get -q update; apt-get -q --fix-broken install
			apt-get -q upgrade; exec apt-get -q install make git ca-certificates' || return
		# shellcheck disable=SC2086 # a list
		in_root "$root" scripts/deps.sh ${SUITE_GROUPS:-} && touch "$root/.has-packages"
		;;
	build) in_root "$root" make all checked tools ;;
	clang) in_root "$root" make test-clang ;;
	unit) in_root "$root" make test-unit ;;
	bpf) in_root "$root" make test-bpf ;;
	net) in_root "$root" make test-net-diff "FILES=${FILES:-}" "PYTEST_ARGS=${PYTEST_ARGS:-}" ${NET_JOBS:+"NET_JOBS=$NET_JOBS"} ;;
	deb) in_root "$root" make deb ;;
	package)
		in_root "$bare" apt-get -q update &&
			in_root "$root" make test-made-deb FILES=tests/deb/test_packages.py
		;;
	across) across ;;
	demo) demo ;;
	*) in_root "$root" sh -ec "$1" ;;
	esac
}

if [ ! -d "$bare" ]; then
	rm -rf --one-file-system "$root" "$bare".*
	run scripts/debootstrap.sh "$suite" "$bare"
fi
if [ -n "${SUITE_FRESH:-}" ] || [ ! -e "$root/.has-packages" ]; then
	rm -rf --one-file-system "$root"
	run cp -a --reflink=auto "$bare" "$root"
fi
copy_tree
for name; do
	if has_passed "$name"; then
		echo "suite: $suite: $name: passed before, for this commit"
		continue
	fi
	began=$(date +%s) status=0
	step "$name" || status=$?
	echo "suite: $suite: $name: $(($(date +%s) - began)) s, $([ "$status" -eq 0 ] && echo passed || echo FAILED)"
	[ "$status" -eq 0 ] || exit "$status"
	case $name in
	*[!a-z]*) ;;
	*) echo "$groups" >"$passed/$name" ;;
	esac
done
