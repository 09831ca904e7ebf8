#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# mirror.sh [SUITE]: prints the Debian mirror that this machine's apt uses, or with SUITE the lines of
# a sources.list for this suite, its updates and its security updates. Environment: MIRROR, another
# mirror; MIRROR_SECURITY, its archive of security updates (MIRROR-security).
set -eu

# An URI of "mirror+file:PATH" is a file with a mirror on each line.
# shellcheck disable=SC2016 # a field for apt-get
uris() {
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u | while read -r uri; do
		case $uri in
		mirror+file:*)
			file=${uri#mirror+file:}
			sed -nE 's,^((https?|file):[^[:space:]]+).*,\1,p' "${file%/}" | head -n 1
			;;
		*) echo "$uri" ;;
		esac
	done | sed 's,/*$,,'
}

mirror=${MIRROR:-$(uris | grep '/debian$' | head -n 1)}
if [ -z "$mirror" ]; then
	echo 'mirror: apt has no source that ends in /debian: name a Debian mirror in MIRROR=URI' >&2
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
security=${MIRROR_SECURITY:-$([ -n "${MIRROR:-}" ] || uris | grep '/debian-security$' | head -n 1)}
echo "deb $mirror $1-updates main"
echo "deb ${security:-$mirror-security} $1-security main"
