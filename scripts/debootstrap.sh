#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# debootstrap.sh SUITE FOLDER: makes the smallest Debian of this suite in FOLDER, which appears when it
# is whole. Its apt reaches the mirror as that of this machine does (mirror.sh), with the updates and the
# security updates, asks nothing and installs no recommended packages. No daemon starts there. These
# settings are in its files *90volley* and /usr/sbin/policy-rc.d. Makes three attempts. Needs
# root, debootstrap and a Debian mirror.
#
# The mounts are in a namespace of their own, and its processes too: none outlives this script, however
# it ends.
set -eu
umask 022 # apt in the Debian reads files as another user
cd "$(dirname "$0")/.."

suite=$1 folder=$2
[ "$(id -u)" -eq 0 ] || { echo 'debootstrap: run as root' >&2; exit 1; }
command -v debootstrap >/dev/null || { echo 'debootstrap: debootstrap is not installed (make deps)' >&2; exit 1; }
mirror=$(scripts/mirror.sh)

mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
made=$work/root child=
end() {
	[ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true
	wait
	rm -rf --one-file-system "$work"
}
trap end EXIT
trap 'exit 130' HUP INT TERM

# A signal ends the wait at once, and then the child.
await_child() {
	child=$! status=0
	wait "$child" || status=$?
	child=
	return "$status"
}

# The value of a setting of apt: "apt SETTING".
apt_value() {
	apt-config dump | sed -nE "s/^$1 \"(.*)\";\$/\1/p"
}

# The settings by which this machine's apt reaches its mirror; and three attempts for each file.
apt_settings() {
	apt-config dump | grep -E '^Acquire::(Check-|http|ForceIP|Proxy|BrokenProxy)' || true
	printf 'Acquire::Retries "3";\nAcquire::http::Timeout "60";\nAPT::Get::Assume-Yes "true";\n'
	printf 'APT::Install-Recommends "false";\nAcquire::Languages "none";\n'
}

# debootstrap's wget knows nothing of apt's proxy. It would wait for a mirror that is silent for 15 minutes,
# twenty times.
printf 'timeout = 30\ntries = 3\n' >"$work/wgetrc"
proxy=${http_proxy:-$(apt_value Acquire::http::Proxy)}
[ "$proxy" != DIRECT ] || proxy=

# A suite that the machine's debootstrap does not know is made like sid. Packages that an attempt has
# loaded are not loaded again.
mkdir "$work/packages"
known=$suite
[ -e "/usr/share/debootstrap/scripts/$suite" ] || known=sid
attempt_once() {
	rm -rf --one-file-system "$made"
	env WGETRC="$work/wgetrc" ${proxy:+"http_proxy=$proxy"} unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
		debootstrap --variant=minbase --cache-dir="$work/packages" "$suite" "$made" "$mirror" \
		"/usr/share/debootstrap/scripts/$known" >"$work/log" 2>&1 &
	await_child
}

for attempt in 1 2 3; do
	attempt_once && break
	echo "debootstrap: attempt $attempt: $suite from $mirror:" >&2
	tail -n 3 "$work/log" >&2
	if [ "$attempt" -eq 3 ]; then
		echo "debootstrap: no Debian $suite can be made here" >&2
		exit 1
	fi
	sleep $((attempt * 5)) &
	await_child
done
scripts/mirror.sh "$suite" >"$made/etc/apt/sources.list"
apt_settings >"$made/etc/apt/apt.conf.d/90volley"
echo force-unsafe-io >"$made/etc/dpkg/dpkg.cfg.d/90volley"
printf '#!/bin/sh\nexit 101\n' >"$made/usr/sbin/policy-rc.d"
chmod 755 "$made/usr/sbin/policy-rc.d"
mv "$made" "$folder"
