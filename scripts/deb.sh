#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# deb.sh VERSION FOLDER [ARCH]: makes the Debian packages of the commit that is checked out, in
# FOLDER, with the bill of materials (sbom.py). It does not need root. scripts/debian/control lists
# the packages for the build; `make deps-build deps-deb` installs them. For another architecture it
# needs root: the build runs in a Debian of its own (cross.sh), and makes no package of documentation.
set -eu
cd "$(dirname "$0")/.."

version=$1
arch=${3:-$(dpkg --print-architecture)}
mkdir -p "$2"
folder=$(cd "$2" && pwd)
tree=$folder/volley-$version

rm -rf "$tree"
mkdir "$tree"
git archive HEAD | tar -x -C "$tree"
mv "$tree/scripts/debian" "$tree/debian"
seconds=$(git log -1 --format=%ct)
{
	printf 'volley (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n' "$version"
	printf ' -- The Volley authors <volley@packages.invalid>  %s\n' "$(date -uR -d "@$seconds")"
} >"$tree/debian/changelog"
set -- env "SOURCE_DATE_EPOCH=$seconds" dpkg-buildpackage -us -uc "-j$(nproc)"
if [ "$arch" = "$(dpkg --print-architecture)" ]; then
	(cd "$tree" && "$@" -b)
else
	# shellcheck disable=SC2016 # the inner shell's
	scripts/cross.sh "$arch" sh -c 'cd "$0" && exec "$@"' "$tree" "$@" -B -a "$arch"
fi
cp "$tree/debian/volley.spdx.json" "$folder/volley_${version}_$arch.spdx.json"
rm -rf "$tree"
