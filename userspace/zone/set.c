/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of zones: open addressing over a hash of the apex. The hash is made label by label from
 * the root, so that one pass over a name gives the hashes of all its suffixes.
 */
#include "zone/set.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "zone/image.h"

struct zone_set {
	size_t n;
	size_t cap; /* slots, a power of two, at least twice n */
	uint64_t seed;
	unsigned max_labels; /* of the deepest apex */
	uint8_t *names;
	uint32_t *slots; /* index of the member + 1, 0 for empty */
	struct zone_member members[];
};

/* Makes the hash of a name from that of its parent. */
static uint64_t hash_step(uint64_t above, const uint8_t *label)
{
	return hash_label(above, 0, label + 1, *label);
}

static uint64_t hash_set_name(uint64_t seed, const uint8_t *name)
{
	unsigned n = name_n_labels(name);
	uint64_t h = seed;

	while (n--)
		h = hash_step(h, name_skip_labels(name, n));
	return h;
}

static const struct zone_member *slot_find(const struct zone_set *set, uint64_t hash,
					   const uint8_t *apex, unsigned len)
{
	for (size_t at = hash & (set->cap - 1); set->slots[at]; at = (at + 1) & (set->cap - 1)) {
		const struct zone_member *m = &set->members[set->slots[at] - 1];

		if (m->apex_len == len && !memcmp(m->apex, apex, len))
			return m;
	}
	return NULL;
}

static int set_add(struct zone_set *set, const struct zone_member *m, uint8_t *name)
{
	uint64_t hash = hash_set_name(set->seed, m->apex);
	unsigned n_labels = name_n_labels(m->apex);
	size_t at = hash & (set->cap - 1);

	if (slot_find(set, hash, m->apex, m->apex_len))
		return -EEXIST;
	while (set->slots[at])
		at = (at + 1) & (set->cap - 1);
	memcpy(name, m->apex, m->apex_len);
	set->members[set->n] = *m;
	set->members[set->n].apex = name;
	set->slots[at] = (uint32_t)++set->n;
	if (n_labels > set->max_labels)
		set->max_labels = n_labels;
	return 0;
}

static struct zone_set *set_alloc(size_t n, size_t name_bytes_sum)
{
	struct zone_set *set = calloc(1, sizeof(*set) + n * sizeof(set->members[0]));

	if (!set)
		return NULL;
	set->cap = 4;
	while (set->cap < 2 * n)
		set->cap *= 2;
	set->slots = calloc(set->cap, sizeof(*set->slots));
	set->names = malloc(name_bytes_sum + 1);
	/* Without entropy the hash still works, but an attacker can guess it. */
	if (getrandom(&set->seed, sizeof(set->seed), GRND_NONBLOCK) != sizeof(set->seed))
		set->seed = (uintptr_t)set;
	if (!set->slots || !set->names) {
		zone_set_free(set);
		return NULL;
	}
	return set;
}

int zone_set_new(struct zone_set **out, const struct zone_member *members, size_t n)
{
	struct zone_set *set;
	size_t bytes = 0;
	uint8_t *name;
	int rc = 0;

	*out = NULL;
	for (size_t i = 0; i < n; i++) {
		if (name_check(members[i].apex, members[i].apex_len) != (int)members[i].apex_len)
			return -EINVAL;
		bytes += members[i].apex_len;
	}
	set = set_alloc(n, bytes);
	if (!set)
		return -ENOMEM;
	name = set->names;
	for (size_t i = 0; i < n && !rc; i++) {
		rc = set_add(set, &members[i], name);
		name += members[i].apex_len;
	}
	if (rc)
		zone_set_free(set);
	else
		*out = set;
	return rc;
}

void zone_set_free(struct zone_set *set)
{
	if (!set)
		return;
	free(set->names);
	free(set->slots);
	free(set);
}

const struct zone_member *zone_set_find(const struct zone_set *set, const uint8_t *qname,
					unsigned qname_len, uint16_t qtype)
{
	const struct zone_member *found = NULL, *above = NULL, *m;
	uint8_t label[DNS_LABELS_MAX + 1];
	uint64_t hash = set->seed;
	unsigned n = 0, at;

	for (at = 0; qname[at] && n < DNS_LABELS_MAX; at += qname[at] + 1u)
		label[n++] = (uint8_t)at;
	label[n] = (uint8_t)at;
	/* From the root down: the suffix without the first i labels. */
	for (unsigned i = n, depth = 0; depth <= set->max_labels; depth++) {
		m = slot_find(set, hash, qname + label[i], qname_len - label[i]);
		if (m) {
			above = found;
			found = m;
		}
		if (!i--)
			break;
		hash = hash_step(hash, qname + label[i]);
	}
	if (found && above && qtype == DNS_TYPE_DS && found->apex_len == qname_len)
		return above;
	return found;
}

bool zone_set_delegates(const struct zone_set *set, const uint8_t *qname, unsigned qname_len,
			uint16_t qtype)
{
	const struct zone_member *member = zone_set_find(set, qname, qname_len, qtype);
	const struct zone *zone = member ? zone_set_zone(member) : NULL;
	struct zone_result found;

	if (!zone)
		return false;
	zone_find(zone, qname, qname_len, qtype, &found);
	return found.status == ZONE_DELEGATION;
}

const struct zone_member *zone_set_get(const struct zone_set *set, const uint8_t *apex,
				       unsigned apex_len)
{
	return slot_find(set, hash_set_name(set->seed, apex), apex, apex_len);
}

void zone_set_swap(struct zone_set *set, const uint8_t *apex, unsigned apex_len, struct zone *zone)
{
	const struct zone_member *m = zone_set_get(set, apex, apex_len);

	if (m)
		__atomic_store_n(&set->members[m - set->members].zone, zone, __ATOMIC_RELEASE);
}

size_t zone_set_n(const struct zone_set *set)
{
	return set->n;
}

const struct zone_member *zone_set_at(const struct zone_set *set, size_t i)
{
	return &set->members[i];
}
