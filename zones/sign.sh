#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sign.sh: makes the signed samples of this folder anew from source/, with new keys, which it throws
# away; signatures hold until the end of 2037. One is signed by ldns-signzone with NSEC, one by
# dnssec-signzone with NSEC3 and opt-out, as registries do.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

begin=20260101000000
end=20371231000000

# with_ldns ZONE SOURCE FILE
with_ldns() {
	ksk=$(ldns-keygen -a ECDSAP256SHA256 -k "$1")
	zsk=$(ldns-keygen -a ECDSAP256SHA256 "$1")
	ldns-signzone -z 1:1 -i $begin -e $end -o "$1" -f "$3" "$here/source/$2" "$zsk" "$ksk"
}

# with_bind ZONE SOURCE FILE OPTIONS
with_bind() {
	zone=$1 source=$2 file=$3
	shift 3
	dnssec-keygen -q -a ECDSAP256SHA256 -f KSK "$zone" >/dev/null
	dnssec-keygen -q -a ECDSAP256SHA256 "$zone" >/dev/null
	cat "$here/source/$source" K"$zone"+*.key >unsigned
	dnssec-signzone -q -x -s $begin -e $end -o "$zone" -f "$file" "$@" unsigned >/dev/null
	rm -f K"$zone"+*
}

# finish FILE SENTENCE
finish() {
	{ echo "; $2"; echo '; Made by sign.sh: not to be edited.'; cat "$1"; } >"$here/$1"
}

with_ldns signed-nsec.example. signed.example signed-nsec.example.zone
finish signed-nsec.example.zone 'Signed with NSEC by ldns-signzone, with a ZONEMD.'
with_bind signed-nsec3.example. signed.example signed-nsec3.example.zone -3 aabbccdd -H 5 -A
finish signed-nsec3.example.zone 'Signed with NSEC3 and opt-out by dnssec-signzone.'
