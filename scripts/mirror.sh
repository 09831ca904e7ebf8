#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# mirror.sh [SUITE]: prints the Debian mirror that this machine's apt uses, or with SUITE the lines of
# a sources.list for this suite, its updates and its security updates. It reads apt's sources, so it
# needs no "apt-get update" before. Environment: MIRROR, another mirror; MIRROR_SECURITY, its archive
# of security updates (MIRROR-security).
set -eu

# Prints "URI SUITE/COMPONENT" for each source of packages.
sources() {
	apt-get update --print-uris 2>/dev/null |
		sed -nE "s,^'(.*[^/])/+dists/(.+/[^/]+)/binary-[^/]+/Packages.*,\1 \2,p"
}

# uri_of PATTERN...: the URI of the first source that fits one of these extended regular expressions; the
# first expression that fits any wins. An URI of "mirror+file:PATH" is a file with a mirror on each line.
uri_of() {
	found=$(sources)
	for pattern; do
		uri=$(echo "$found" | grep -E "$pattern" | head -n 1)
		uri=${uri%% *}
		case $uri in
		'') continue ;;
		mirror+file:*) sed -nE 's,^((https?|file):[^[:space:]]+[^/[:space:]]).*,\1,p' "${uri#mirror+file:}" | head -n 1 ;;
		*) echo "$uri" ;;
		esac
		return
	done
}

# A URI may end in any word. The archives of others, which may end in "debian", have no component
# "main" of Debian's own release.
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mirror=${MIRROR:-$(uri_of " $codename/main\$" '/debian [^ ]+/main$')}
if [ -z "$mirror" ]; then
	echo 'mirror: no source of apt here is a Debian mirror: name one in MIRROR=URI' >&2
	exit 1
fi
mirror=${mirror%/}
if [ $# -eq 0 ]; then
	echo "$mirror"
	exit
fi
echo "deb $mirror $1 main"
case $1 in
sid | unstable | experimental) exit ;;
esac
security=${MIRROR_SECURITY:-$([ -n "${MIRROR:-}" ] || uri_of " $codename-security/main\$" '/debian-security [^ ]+/main$')}
echo "deb $mirror $1-updates main"
echo "deb ${security:-$mirror-security} $1-security main"
