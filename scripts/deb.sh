#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# deb.sh VERSION FOLDER: makes the Debian packages of the commit that is checked out, in FOLDER,
# with the bill of materials (sbom.py). It does not need root. scripts/debian/control lists the
# packages for the build; `make deps-build deps-deb` installs them.
set -eu
cd "$(dirname "$0")/.."

version=$1
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
cd "$tree"
SOURCE_DATE_EPOCH=$seconds dpkg-buildpackage -b -us -uc "-j$(nproc)"
cp debian/volley.spdx.json "$folder/volley_${version}_$(dpkg --print-architecture).spdx.json"
rm -rf "$tree"
