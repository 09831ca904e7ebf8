/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All zones that are served at one time: a table from apex to zone. Readers need no lock (RCU),
 * while one writer puts zones in and takes them out. A new set may also replace an old one by a
 * pointer swap. Sets share the zones.
 */
#ifndef VOLLEY_ZONE_SET_H
#define VOLLEY_ZONE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zone;
struct zone_set;

struct zone_member {
	const uint8_t *apex; /* folded wire name; zone_set_new() copies it */
	unsigned apex_len;
	struct zone *zone;   /* NULL: not loaded, SERVFAIL. Read by zone_set_zone() */
	uint32_t cache_slot; /* the zone's place in the generation table of the answer cache */
	uint32_t cache_gen;  /* the generation of the answers of this version */
	/* The id of the filter of all its names (xdp/names.h); 0: the driver denies none. */
	uint32_t names_id;
	/* The region of its intervals (xdp/intervals.h): the line of its head; id 0: none. */
	struct {
		uint32_t at, id;
	} intervals;
};

/*
 * Makes a set of copies of @n members (0 is allowed); the zones must live as long as the set.
 * Control plane only. Returns 0, -ENOMEM, -EINVAL for an apex that is no wire name, or -EEXIST for
 * the same apex twice.
 */
int zone_set_new(struct zone_set **out, const struct zone_member *members, size_t n)
	__attribute__((warn_unused_result));

/* Frees the set, not its zones. NULL is allowed. */
void zone_set_free(struct zone_set *set);

/*
 * The member whose zone answers @qname (folded, uncompressed wire): the one with the deepest apex
 * at or above it. For DS at an apex it is the zone above that apex, if there is one (RFC 4035
 * section 3.1.4.1). NULL if no zone is responsible. Any thread; no lock, no allocation, O(labels).
 */
const struct zone_member *zone_set_find(const struct zone_set *set, const uint8_t *qname,
					unsigned qname_len, uint16_t qtype);

/*
 * The member's zone, in an RCU read section. zone_set_swap() may change it, so each call may return
 * another version, but NULL either always or never.
 */
static inline struct zone *zone_set_zone(const struct zone_member *member)
{
	return __atomic_load_n(&member->zone, __ATOMIC_CONSUME);
}

/*
 * True if a zone of the set is responsible for @qname (folded, uncompressed wire), is loaded, and
 * has a cut at or above it: then its only answer is a referral. In an RCU read section; any thread;
 * no lock, no allocation.
 */
bool zone_set_delegates(const struct zone_set *set, const uint8_t *qname, unsigned qname_len,
			uint16_t qtype);

/* The member with exactly this apex, or NULL. */
const struct zone_member *zone_set_get(const struct zone_set *set, const uint8_t *apex,
				       unsigned apex_len);

/*
 * Replaces a zone of the set by another version (RCU); neither is NULL. Slot and generation stay. A
 * reader that reads the zone twice may see both versions. One writer at a time.
 */
void zone_set_swap(struct zone_set *set, const uint8_t *apex, unsigned apex_len, struct zone *zone);

/*
 * Adds a member, or replaces the one with this apex. O(1): a bucket may be copied. Readers see the
 * old member or the new one. One writer at a time. 0, -ENOMEM or -EINVAL as above; then nothing has
 * changed.
 */
int zone_set_put(struct zone_set *set, const struct zone_member *member)
	__attribute__((warn_unused_result));
/* Takes the member out, if it is there. */
void zone_set_remove(struct zone_set *set, const uint8_t *apex, unsigned apex_len);
/* Frees the memory of replaced and removed members. To be called by the writer when a grace period
 * of all readers has passed since these changes. */
void zone_set_reclaim(struct zone_set *set);

size_t zone_set_n(const struct zone_set *set);

/* A walk over all members, in no order: the next one after the place, which begins as zeros. NULL:
 * there are no more. The set must not change meanwhile. */
struct zone_set_place {
	size_t bucket;
	unsigned slot;
};
const struct zone_member *zone_set_next(const struct zone_set *set, struct zone_set_place *place);

#endif
