/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * namescost ORIGIN FILE [EDITS]: the cost of the filter of names and of the intervals
 * (shield/name_filter.h) for control.
 *
 *      load FILE ──► names_add_zone() of all of it
 *              beside each other: seconds of the processor, and their ratio
 *      edit a name in ──► names_add_zone() of the difference
 *              beside each other: microseconds, medians of 2,000
 *
 * Each edit adds a name with an address, and a new serial number. In a zone with NSEC the new name
 * is put into the chain, so the chain stays closed; a zone with NSEC3 gets no edits. The filter has
 * 2 octets for each name. Prints one line of JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "shield/name_filter.h"
#include "tests/lib/must.h"
#include "tests/lib/zonenode.h"
#include "tests/perf/median.h"
#include "zone/edit.h"
#include "zone/zone.h"

#define N_EDITS       2000u
#define NAMES_IN_LINE 32u   /* 2 octets for each */
#define FAR           7919u /* a prime */
/* Lines for intervals, for each name: more than any zone takes, with its edits. */
#define POINTS_BYTES 64u

static const uint8_t address[] = { 192, 0, 2, 1 };

struct bench {
	struct names names;
	struct volley_names_state state;
	struct volley_names_line *lines;
	uint32_t n_lines; /* of the filter */
	struct zone *zone;
	double load_s, add_s;
	uint32_t n_edits;
	double *edit_us, *more_us;
};

static double now_us(void)
{
	return (double)clock_ns() / 1e3;
}

/* Processor time, so that other work on the machine counts less. */
static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int no_grace(void *user)
{
	(void)user;
	return 0;
}

/* --- All of a zone ---------------------------------------------------------------------------- */

static void open_names(struct bench *b)
{
	size_t n = zone_n_names(b->zone);
	uint32_t more = (uint32_t)(n * POINTS_BYTES / VOLLEY_NAMES_LINE_BYTES + 64);

	b->n_lines = (uint32_t)(n / NAMES_IN_LINE + 1);
	b->lines = aligned_alloc(VOLLEY_NAMES_LINE_BYTES,
				 ((size_t)b->n_lines + more) * sizeof(*b->lines));
	MUST(b->lines);
	/* Touches all pages before the measurement. */
	memset(b->lines, 0, ((size_t)b->n_lines + more) * sizeof(*b->lines));
	names_init(&b->names, b->lines, b->n_lines, &b->state);
	names_init_intervals(&b->names, more);
	MUST(!names_begin(&b->names, no_grace, NULL));
}

static int load(struct bench *b, const char *origin, const char *file)
{
	struct zone_error err;
	double start = cpu_s();

	if (zone_load(&b->zone, origin, file, NULL, &err)) {
		fprintf(stderr, "namescost: %s:%u: %s\n", err.file, err.line, err.sentence);
		return -1;
	}
	b->load_s = cpu_s() - start;
	return 0;
}

static void add_all(struct bench *b)
{
	unsigned int n;
	const uint8_t *apex = zone_apex(b->zone, &n);
	double start;

	open_names(b);
	start = cpu_s();
	names_add_apex(&b->names, apex, n);
	names_add_zone(&b->names, b->zone, NULL);
	b->add_s = cpu_s() - start;
}

/* --- Edits ------------------------------------------------------------------------------------ */

/* The next version's SOA: its serial number is one more. */
static void put_serial(struct zone_edit *e, const struct zone *z)
{
	const struct zone_node *node = zone_apex_node(z);
	const struct zone_rrset *soa = zone_node_rrset(z, node, DNS_TYPE_SOA);
	struct zone_rdata rd;
	uint8_t rdata[1024], owner[DNS_NAME_MAX];

	(void)zone_rdata_next(zone_rrset_first(z, soa), &rd);
	MUST(rd.len <= sizeof(rdata));
	memcpy(rdata, rd.bytes, rd.len);
	wire_store_be32(rdata + rd.len - 20, zone_serial(z) + 1);
	zone_node_owner(z, node, owner);
	MUST(!zone_edit_remove_rrset(e, owner, DNS_TYPE_SOA));
	MUST(!zone_edit_add(e, owner, DNS_TYPE_SOA, soa->ttl, rdata, rd.len));
}

/* The next name after `owner` on its level: an octet 0 is added to its first label. False: it is
 * too long. */
static bool next_name(uint8_t *to, const uint8_t *owner)
{
	unsigned int n = (unsigned int)name_bytes(owner), label = owner[0];

	if (n + 1 > DNS_NAME_MAX || label == 0 || label == 63)
		return false;
	memcpy(to, owner, 1 + label);
	to[0]++;
	to[1 + label] = 0;
	memcpy(to + 2 + label, owner + 1 + label, n - 1 - label);
	return true;
}

/* Whether an edit can add a name after node i of the image: *owner is its name, *next the next name
 * of its NSEC. */
static bool find_owner(const struct zone *z, size_t i, uint8_t *owner, uint8_t *next)
{
	const struct zone_node *node = zone_node_at(z, i);
	const struct zone_rrset *nsec = zone_node_rrset(z, node, DNS_TYPE_NSEC);
	struct zone_rdata rd;

	zone_node_owner(z, node, owner);
	if (zone_chain(z) == ZONE_CHAIN_NONE)
		return owner[0] != 0;
	if (!nsec)
		return false;
	(void)zone_rdata_next(zone_rrset_first(z, nsec), &rd);
	memcpy(next, rd.bytes, name_bytes(rd.bytes));
	return !name_is_under(next, owner);
}

static void put_nsec(struct zone_edit *e, const uint8_t *owner, const uint8_t *next)
{
	static const uint8_t types[] = { 0, 6, 0x40, 0, 0, 0, 0, 3 }; /* A RRSIG NSEC */
	uint8_t rdata[DNS_NAME_MAX + sizeof(types)];
	unsigned int n = (unsigned int)name_bytes(next);

	memcpy(rdata, next, n);
	memcpy(rdata + n, types, sizeof(types));
	MUST(!zone_edit_add(e, owner, DNS_TYPE_NSEC, 300, rdata, (uint16_t)(n + sizeof(types))));
}

/* Adds a name after node i of the image, at most once for each node. False: not possible there. */
static bool edit(struct bench *b, const struct zone *image, size_t i, struct zone **out)
{
	uint8_t owner[DNS_NAME_MAX], next[DNS_NAME_MAX], new[DNS_NAME_MAX];
	struct zone_error err;
	struct zone_edit *e;

	if (!find_owner(image, i, owner, next) || !next_name(new, owner))
		return false;
	MUST(!zone_edit_begin(&e, b->zone));
	put_serial(e, b->zone);
	MUST(zone_edit_add(e, new, DNS_TYPE_A, 300, address, sizeof(address)) >= 0);
	if (zone_chain(b->zone) == ZONE_CHAIN_NSEC) {
		MUST(!zone_edit_remove_rrset(e, owner, DNS_TYPE_NSEC));
		put_nsec(e, owner, new);
		put_nsec(e, new, next);
	}
	return !zone_edit_finish(e, out, NULL, &err);
}

/* Edits at nodes that lie far from each other, one after the other. */
static void edit_all(struct bench *b, uint32_t n)
{
	const struct zone *image = zone_ref(b->zone);
	const size_t n_tries = 2 * n + 1, step = (zone_n_names(image) - 1) / n_tries;

	b->edit_us = calloc(n + 1, sizeof(*b->edit_us));
	b->more_us = calloc(n + 1, sizeof(*b->more_us));
	MUST(b->edit_us && b->more_us);
	for (size_t k = 0; step && zone_chain(image) != ZONE_CHAIN_NSEC3 && k < n_tries; k++) {
		double start = now_us(), edited;
		struct zone *new;

		if (b->n_edits == n || !edit(b, image, 1 + k * FAR % n_tries * step, &new))
			continue;
		edited = now_us();
		names_add_zone(&b->names, new, b->zone);
		b->edit_us[b->n_edits] = edited - start;
		b->more_us[b->n_edits++] = now_us() - edited;
		zone_unref(b->zone);
		b->zone = new;
	}
	zone_unref((struct zone *)image);
}

/* --- Output ----------------------------------------------------------------------------------- */

static double mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return n ? sum / (double)n : 0;
}

/* Sorts the times of the edits. */
static void report(struct bench *b, size_t n_names, uint32_t used)
{
	const double lines = (double)used * sizeof(*b->lines);
	double more = mean(b->more_us, b->n_edits), half = median(b->more_us, b->n_edits);

	printf("{\"names\": %zu, \"load_s\": %.3f, \"add_s\": %.3f, \"add_to_load\": %.4f, "
	       "\"filter_bytes_per_name\": %.2f, \"region_bytes_per_name\": %.2f, \"refused\": "
	       "%llu, "
	       "\"edits\": %u, \"edit_us\": %.2f, \"more_us\": %.2f, \"more_mean_us\": %.2f, "
	       "\"more_99_us\": %.1f, \"more_most_us\": %.1f}\n",
	       n_names, b->load_s, b->add_s, b->add_s / b->load_s,
	       (double)b->n_lines * sizeof(*b->lines) / (double)n_names, lines / (double)n_names,
	       (unsigned long long)b->names.intervals.n_refused, b->n_edits,
	       median(b->edit_us, b->n_edits), half, more,
	       b->n_edits ? b->more_us[b->n_edits * 99 / 100] : 0,
	       b->n_edits ? b->more_us[b->n_edits - 1] : 0);
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	size_t n_names;
	uint32_t used;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: namescost ORIGIN FILE [EDITS]\n");
		return 2;
	}
	if (load(&b, argv[1], argv[2]))
		return 1;
	add_all(&b);
	n_names = zone_n_names(b.zone);
	used = b.names.intervals.used;
	edit_all(&b, argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : N_EDITS);
	report(&b, n_names, used);
	zone_unref(b.zone);
	names_fini(&b.names);
	free(b.lines);
	free(b.edit_us);
	free(b.more_us);
	return 0;
}
