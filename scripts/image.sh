#!/bin/sh
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# image.sh VERSION DEBS FOLDER: makes an OCI image of the package volley in DEBS: FOLDER/volley-VERSION.oci.tar.
# Needs root, debootstrap, buildah and a Debian mirror, but no registry of images. The base is the
# smallest Debian (debootstrap.sh), of the release of this machine, whose libraries the package
# needs. Environment: MIRROR, a Debian mirror.
set -eu
umask 022 # apt in the Debian reads files as another user

version=$1
debs=$(cd "$2" && pwd)
mkdir -p "$3"
folder=$(cd "$3" && pwd)
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
[ "$(id -u)" -eq 0 ] || { echo 'image: run as root' >&2; exit 1; }

work=$(mktemp -d "$folder/work.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM
root=$work/root

# shellcheck disable=SC2016 # the inner shell's
in_root() {
	unshare --mount --propagation private sh -c 'mount -t proc proc "$1/proc" && shift 1 && exec chroot "$@"' sh "$root" "$root" \
		env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

# A container's root may not write to files of other users, so all files and folders that volleyd
# writes belong to root.
package() {
	cp "$debs/volley_${version}_"*.deb "$root/root/"
	rm -f "$root"/etc/resolv.conf
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	in_root apt-get -q update
	in_root apt-get -q -y upgrade
	in_root sh -c 'apt-get -q -y install --no-install-recommends dns-root-data /root/volley_*.deb'
	in_root apt-get clean
	in_root install -d -o root -g root -m 0700 /var/lib/volley
	in_root install -d -o root -g root -m 0755 /run/volley
	in_root chgrp root /etc/volley /etc/volley/volley.yaml
	rm -rf "$root"/root/volley_*.deb "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/var/cache/debconf/*-old \
		"$root/usr/sbin/policy-rc.d" "$root"/etc/*/*.d/90volley "$root"/usr/share/man/* "$root/etc/machine-id" "$root"/tmp/* "$root/etc/resolv.conf"
	# The folder of query-log.file and dnstap.file, which the units make.
	in_root install -d -o root -g root -m 0750 /var/log/volley
}

store() {
	buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"
}

# Settings for a container, whose user may not have read the README. SYS_ADMIN would do no more than
# adopt what a container that was killed has left in the network of the host.
capabilities='NET_ADMIN NET_RAW BPF PERFMON NET_BIND_SERVICE IPC_LOCK DAC_READ_SEARCH'

image() {
	container=$(store from scratch) || return
	store add --quiet "$container" "$root" /
	store config --entrypoint '["/usr/sbin/volleyd", "-c", "/etc/volley/volley.yaml"]' --cmd '' --stop-signal SIGTERM \
		--volume /var/lib/volley --port 53/udp --port 53/tcp --port 853/tcp --env PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		--label org.opencontainers.image.title=volley --label "org.opencontainers.image.version=$version" \
		--label org.opencontainers.image.licenses='GPL-2.0-or-later AND (GPL-2.0-only OR BSD-2-Clause)' \
		--label org.opencontainers.image.description='DNS server that answers in the network driver' \
		--label "volley.capabilities=$capabilities" --label volley.capabilities.adopt=SYS_ADMIN --label volley.bill=/usr/share/doc/volley/volley.spdx.json "$container"
	rm -f "$folder/volley-$version.oci.tar"
	store commit --quiet --timestamp "$(git log -1 --format=%ct)" "$container" "oci-archive:$folder/volley-$version.oci.tar:volley:$version"
}

scripts/debootstrap.sh "$suite" "$root"
package >"$work/package.log" 2>&1 || { tail -n 40 "$work/package.log" >&2; exit 1; }
image >"$work/image.log" 2>&1 || { tail -n 40 "$work/image.log" >&2; exit 1; }
ls -l "$folder/volley-$version.oci.tar"
