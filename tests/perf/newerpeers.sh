#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
# newerpeers.sh FOLDER [SUITE]: unpacks knot, nsd and unbound of another release of Debian
# (default: trixie), with the libraries of that release, and writes a command for each server into
# FOLDER/bin. Nothing is installed. To measure beside them:
#
#     tests/perf/newerpeers.sh /var/tmp/trixie
#     PATH=/var/tmp/trixie/bin:$PATH tests/perf/bench.py --parts peers --run trixie
set -eu
folder=$(realpath -m "${1:?newerpeers.sh: name a folder}")
suite=${2:-trixie}
root=$folder/root
if [ -e "$root" ]; then
	echo "newerpeers.sh: $root is there already: name another folder" >&2
	exit 1
fi
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/bin" "$root"
: >"$folder/status"
mirror=$(apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" \
	>"$folder/sources.list"

apt() {
	apt-get -q -y --no-install-recommends -o Dir::State::lists="$folder/lists" \
		-o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
		-o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Debug::NoLocking=1 "$@"
}

apt update
apt --download-only install knot nsd unbound
for package in "$folder"/cache/archives/*.deb; do
	dpkg-deb --extract "$package" "$root"
done

loader=$(find "$root" -name 'ld-linux*.so.*' | head -n 1)
libraries=$(find "$root" -name 'libc.so.6' -exec dirname {} \;)
for server in knotd nsd unbound; do
	printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' \
		"$loader" "$libraries" "$root/usr/sbin/$server" >"$folder/bin/$server"
	chmod +x "$folder/bin/$server"
done
for command in 'knotd --version' 'nsd -v' 'unbound -V'; do
	"$folder/bin/${command% *}" "${command#* }" 2>&1 | head -n 1
done
