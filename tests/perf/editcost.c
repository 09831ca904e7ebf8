/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * editcost [RECORDS]: the cost of a change of a large zone, and of its overlay for lookups. It
 * makes a zone of RECORDS records (5,000,000), and times lookups of random names in it, and edits
 * of one record, with 0, 1,000 and 100,000 names in the overlay. It prints a line of JSON for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "tests/lib/must.h"
#include "zone/builder.h"
#include "zone/changeset.h"
#include "zone/edit.h"

#define N_LOOKUPS 2000000u
#define N_EDITS   2000u
#define N_FEW     1000u

static const uint8_t apex[] = "\7example";
static const uint8_t address[] = { 192, 0, 2, 1 };
static uint64_t state = 1;

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % below);
}

/* host-0001234.example: returns its length. */
static unsigned host(uint8_t *to, uint32_t i, bool is_new)
{
	memcpy(to, is_new ? "\14new--" : "\14host-", 6);
	for (unsigned at = 12; at > 5; at--, i /= 10)
		to[at] = (uint8_t)('0' + i % 10);
	memcpy(to + 13, apex, sizeof(apex));
	return 13 + sizeof(apex);
}

static void put_soa(uint8_t soa[static 64], unsigned *n, uint32_t serial)
{
	memcpy(soa, apex, sizeof(apex));
	memcpy(soa + sizeof(apex), apex, sizeof(apex));
	*n = 2 * sizeof(apex) + 20;
	for (unsigned i = 0; i < 5; i++)
		wire_store_be32(soa + *n - 20 + 4 * i, i ? 300 : serial);
}

static struct zone *make_zone(uint32_t n_records)
{
	struct zone_error err = { 0 };
	struct zone_builder *b;
	uint8_t owner[64], soa[64];
	struct zone_builder_record r = { .owner = apex, .owner_bytes = sizeof(apex), .ttl = 300 };
	struct zone *z;
	unsigned n;

	MUST(!zone_builder_new(&b, apex));
	put_soa(soa, &n, 1);
	r.rdata = soa;
	r.rdata_bytes = (uint16_t)n;
	r.type = DNS_TYPE_SOA;
	MUST(!zone_builder_add(b, &r, &err));
	r.rdata = apex;
	r.rdata_bytes = sizeof(apex);
	r.type = DNS_TYPE_NS;
	MUST(!zone_builder_add(b, &r, &err));
	r.type = DNS_TYPE_A;
	r.rdata = address;
	r.rdata_bytes = 4;
	for (uint32_t i = 2; i < n_records; i++) {
		r.owner = owner;
		r.owner_bytes = host(owner, i, false);
		MUST(!zone_builder_add(b, &r, &err));
	}
	MUST(!zone_builder_finish(b, &z, &err));
	zone_builder_free(b);
	return z;
}

/* Sets a new serial number and adds @n_hosts addresses, of old or new hosts; releases @z. */
static struct zone *edit(struct zone *z, uint32_t n_hosts, uint32_t n_records)
{
	uint8_t owner[64], soa[64], rdata[4];
	struct changeset net = { 0 };
	struct zone_error err;
	struct zone_edit *e;
	struct zone *out;
	unsigned n;

	MUST(!zone_edit_begin(&e, z));
	MUST(!zone_edit_remove_rrset(e, apex, DNS_TYPE_SOA));
	put_soa(soa, &n, zone_serial(z) + 1);
	MUST(!zone_edit_add(e, apex, DNS_TYPE_SOA, 300, soa, (uint16_t)n));
	for (uint32_t i = 0; i < n_hosts; i++) {
		host(owner, 2 + draw(n_records - 2), draw(2));
		wire_store_be32(rdata, draw(UINT32_MAX));
		MUST(zone_edit_add(e, owner, DNS_TYPE_A, 300, rdata, 4) >= 0);
	}
	MUST(!zone_edit_finish(e, &out, &net, &err));
	changeset_fini(&net);
	zone_unref(z);
	return out;
}

/* For names that exist. They are few, so all memory that is read is in the processor's caches. */
static double lookups_ns(const struct zone *z, uint32_t n_records)
{
	double start = now_ns();
	struct zone_result r;
	uint8_t name[64];

	for (uint32_t i = 0; i < N_LOOKUPS; i++) {
		unsigned n = host(name, 2 + draw(n_records - 2), false);

		zone_find(z, name, n, DNS_TYPE_A, &r);
		MUST(r.status == ZONE_ANSWER);
	}
	return (now_ns() - start) / N_LOOKUPS;
}

/* The cost to draw and write a name, which is not part of a lookup. */
static double names_ns(uint32_t n_records)
{
	double start = now_ns();
	uint8_t name[64];

	for (uint32_t i = 0; i < N_LOOKUPS; i++)
		MUST(host(name, 2 + draw(n_records - 2), false));
	return (now_ns() - start) / N_LOOKUPS;
}

int main(int argc, char **argv)
{
	uint32_t n_records = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 5000000;
	static const uint32_t n_overlay[] = { 0, 1000, 100000 };
	struct zone *z = make_zone(n_records);

	for (unsigned i = 0; i < sizeof(n_overlay) / sizeof(n_overlay[0]); i++) {
		double lookup, few, start;
		size_t bytes, names;

		if (n_overlay[i])
			z = edit(z, n_overlay[i], n_records);
		names = zone_overlay_names(z);
		bytes = zone_overlay_bytes(z);
		lookup = lookups_ns(z, n_records) - names_ns(n_records);
		few = lookups_ns(z, N_FEW) - names_ns(N_FEW);
		start = now_ns();
		for (unsigned k = 0; n_overlay[i] && k < N_EDITS; k++)
			z = edit(z, 1, n_records);
		printf("{\"records\": %zu, \"overlay_names\": %zu, \"overlay_bytes\": %zu, "
		       "\"lookup_ns\": %.0f, \"lookup_few_ns\": %.0f, \"edit_ns\": %.0f, "
		       "\"bytes_per_edit\": %.0f}\n",
		       zone_n_records(z), names, bytes, lookup, few,
		       n_overlay[i] ? (now_ns() - start) / N_EDITS : 0.0,
		       (double)(zone_overlay_bytes(z) - bytes) / N_EDITS);
	}
	zone_unref(z);
	return 0;
}
