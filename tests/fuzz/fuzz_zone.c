/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a master file of example.com. A zone that loads must be consistent: a look-up of
 * every owner finds it, every record is well formed, nodes are in canonical order. A failed load
 * must give its reason.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "tests/lib/must.h"
#include "tests/lib/zonenode.h"
#include "zone/denial.h"
#include "dns/rdata.h"
#include "zone/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rrset(const struct zone *z, const struct zone_rrset *rrset)
{
	const uint8_t *at = zone_rrset_first(z, rrset);
	struct zone_rdata rd, before = { 0 };

	MUST(rrset->n && rrset->ttl <= DNS_TTL_MAX);
	for (unsigned i = 0; i < rrset->n; i++) {
		at = zone_rdata_next(at, &rd);
		MUST(!rdata_check(rrset->type, rd.bytes, rd.len));
		MUST(!i || rdata_cmp(rrset->type, before.bytes, before.len, rd.bytes, rd.len) < 0);
		before = rd;
	}
}

static void check_node(const struct zone *z, const struct zone_node *node, uint8_t before[256])
{
	struct zone_result r;
	struct zone_denial d;
	uint8_t owner[256];
	unsigned n = zone_node_owner(z, node, owner), n_rrsets;
	const struct zone_rrset *rrsets = zone_node_rrsets(z, node, &n_rrsets);

	MUST(name_check(owner, n) == (int)n);
	MUST(node == zone_node_at(z, 0) || name_canonical_cmp(before, owner) < 0);
	memcpy(before, owner, n);
	name_fold(owner, owner, n);
	zone_find(z, owner, n, DNS_TYPE_DS, &r);
	/* A query for the owner of an NSEC3 may find no name: RFC 5155 section 7.2.8. */
	MUST(r.node == node || r.status == ZONE_DELEGATION ||
	     zone_node_rrset(z, node, DNS_TYPE_NSEC3));
	MUST((r.status == ZONE_DELEGATION) == zone_node_is_occluded(z, node));
	zone_denial(z, owner, n, &r, &d);
	MUST(d.n <= ZONE_PROOFS_MAX);
	for (unsigned i = 0; i < n_rrsets; i++)
		check_rrset(z, &rrsets[i]);
}

static void check_zone(const struct zone *z)
{
	uint8_t before[256];

	MUST(zone_soa(z) && zone_soa(z)->n == 1);
	for (size_t i = 0; i < zone_n_names(z); i++)
		check_node(z, zone_node_at(z, i), before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("zone", MFD_CLOEXEC);
	struct zone_error err;
	struct zone *z;
	char path[64];

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (zone_load(&z, "example.com", path, NULL, &err))
		MUST(!z && err.sentence[0]);
	else
		check_zone(z);
	zone_free(z);
	close(fd);
	return 0;
}
