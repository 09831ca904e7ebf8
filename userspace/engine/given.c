/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/shared_answer.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "shield/alike.h"
#include "engine/engine_state.h"
#include "shield/interval_regions.h"
#include "shield/name_filter.h"
#include "shield/shield.h"
#include "xdp/key.h"
#include "zone/set.h"

#define POINTER_BYTES 2u

/* A query and the state of the search for its entry. */
struct finding {
	struct engine *e;
	const struct query *q;
	const struct volley_names_state *names;
	const struct zone_member *member; /* the zone from which the driver would answer */
	struct names_walk walk;
	uint32_t id, now_s;
	struct volley_shared tail; /* of the entry that was found last */
};

/* Reads the octets behind the body. False: the entry does not have the shape of a shared answer. As
 * shared_of() of xdp/shared.h. */
static bool read_tail(struct finding *f, const struct volley_entry *entry)
{
	if (entry->full_bytes != entry->short_bytes + sizeof(f->tail) ||
	    entry->body_offset + (uint32_t)entry->full_bytes > VOLLEY_READ_MAX)
		return false;
	memcpy(&f->tail, cache_entry_body(entry) + entry->short_bytes, sizeof(f->tail));
	return true;
}

/* As find_shared() of the driver. NULL: no valid entry. */
static const struct volley_entry *look_given(struct finding *f, uint32_t kind, bool is_expanded,
					     uint64_t start)
{
	struct engine *e = f->e;
	struct shared *s = &e->shared;
	const struct volley_entry *entry;
	struct cache_key key;

	s->kind = kind;
	s->is_expanded = is_expanded;
	s->base_at = kind == VOLLEY_KEY_DENIAL ? f->walk.apex : f->walk.encloser;
	if (!shared_put_key(s, f->q, &e->now.key->first, start, f->id))
		return NULL;
	cache_key_from(&key, e->cache, &s->first, s->name);
	if (cache_lookup(e->cache, &key, f->now_s, false, &entry) != CACHE_HIT ||
	    !read_tail(f, entry))
		return NULL;
	return entry;
}

/* As find_interval() of the driver. `denial` is the result of look_given(). */
static const struct volley_entry *
look_behind_given(struct finding *f, const struct volley_entry *denial, bool is_expanded)
{
	const struct shield *shield = f->e->data->shield;
	uint64_t point, start;

	if (!denial)
		return NULL;
	if (!f->tail.intervals_id)
		return is_expanded ? NULL : denial;
	if (!__atomic_load_n(&f->names->intervals_id, __ATOMIC_ACQUIRE) ||
	    !intervals_point(zone_set_zone(f->member), f->q->folded + f->walk.unknown, &point) ||
	    intervals_find(shield->lines, shield->n_lines, f->tail.intervals_at,
			   f->tail.intervals_id, point, &start))
		return NULL;
	return look_given(f, VOLLEY_KEY_INTERVAL, is_expanded, start);
}

/* As find_for_name() of the driver, after the walk. */
static const struct volley_entry *find_given(struct finding *f, bool is_expanded)
{
	bool has_do = f->e->now.key->first.flags & VOLLEY_KEY_DO;
	const struct volley_entry *entry =
		is_expanded ? look_given(f, VOLLEY_KEY_WILDCARD, true, 0) : NULL;

	if (entry || (is_expanded && !has_do))
		return entry;
	entry = look_given(f, VOLLEY_KEY_DENIAL, false, 0);
	return has_do ? look_behind_given(f, entry, is_expanded) : entry;
}

/* True if the zone is in the set, and all of its names are in this filter. */
static bool has_member(struct finding *f)
{
	const uint8_t *apex = f->q->folded + f->walk.apex;

	f->member = zone_set_get(f->e->render.set, apex, f->q->qname_bytes - f->walk.apex);
	return f->member && zone_set_zone(f->member) && f->member->names_id == f->id;
}

/* The hash of the name's suffix that is one label longer than the base. */
static uint64_t hash_given_below(const struct finding *f, unsigned int base_at)
{
	const uint8_t *name = f->q->folded;
	unsigned int at = 0;

	while (at + 1u + name[at] < base_at)
		at += 1u + name[at];
	return names_hash_of(f->names->keys, name + at, f->q->qname_bytes - at);
}

/* As shared_fits() of xdp/shared.h, for a client that accepts our largest reply. */
static bool fits_given(const struct finding *f, const struct volley_entry *entry)
{
	const struct volley_shared *tail = &f->tail;
	uint32_t n = f->q->qname_bytes;
	uint64_t below = hash_given_below(f, f->e->shared.base_at);

	if (tail->intervals_id || tail->n_pointers > VOLLEY_SHARED_POINTERS ||
	    DNS_HEADER_BYTES + n + DNS_QUESTION_FIXED_BYTES + entry->short_bytes >
		    f->e->config.max_udp_bytes ||
	    n < tail->name_min || n > tail->name_max)
		return false;
	for (unsigned int i = 0; i < VOLLEY_SHARED_SUFFIXES; i++)
		if (tail->suffixes[i] == below)
			return false;
	for (unsigned int i = 0; i < tail->n_pointers; i++)
		if (tail->pointers[i] + POINTER_BYTES > entry->short_bytes)
			return false;
	return true;
}

/* As shared_write() of xdp/shared.h: writes the driver's body to e->shared.body. */
static void write_given_body(const struct finding *f, const struct volley_entry *entry)
{
	uint32_t longer = f->q->qname_bytes - (uint32_t)entry->key.name_bytes;
	uint8_t *body = f->e->shared.body;

	memcpy(body, cache_entry_body(entry), entry->short_bytes);
	for (unsigned int i = 0; i < f->tail.n_pointers; i++) {
		uint8_t *pointer = body + f->tail.pointers[i];

		wire_store_be16(pointer, (uint16_t)(wire_load_be16(pointer) + longer));
	}
}

static struct message message_to(const struct query *q, const uint8_t *body, uint32_t n)
{
	struct message m = {
		.name = q->folded,
		.body = body,
		.name_end = DNS_HEADER_BYTES + q->qname_bytes,
	};

	m.body_at = m.name_end + DNS_QUESTION_FIXED_BYTES;
	m.end = m.body_at + n;
	return m;
}

/* An entry with wrong checksums is ALIKE_OTHER: the client would discard the packet. */
static enum alike compare_given(const struct finding *f, const struct volley_entry *entry,
				const struct cache_answer *a)
{
	struct alike_answer cached = {
		.m = message_to(f->q, f->e->shared.body, entry->short_bytes),
		.flags = ntohs(entry->flags),
		.ancount = ntohs(entry->ancount),
		.nscount = ntohs(entry->nscount),
		.arcount = ntohs(entry->arcount_short),
	};
	const struct alike_answer rendered = {
		.m = message_to(f->q, a->body, a->full_bytes),
		.flags = a->flags,
		.ancount = a->ancount,
		.nscount = a->nscount,
		.arcount = a->arcount_full,
	};

	if (entry->n_ttls || !cache_entry_is_sound(entry, VOLLEY_READ_MAX))
		return ALIKE_OTHER;
	write_given_body(f, entry);
	return alike_compare(&cached, &rendered);
}

/* The whole check, but for the edition. */
static enum given check_given(struct finding *f, const struct cache_answer *a)
{
	const struct shield *shield = f->e->data->shield;
	enum names_verdict verdict;
	const struct volley_entry *entry;

	f->id = __atomic_load_n(&f->names->id, __ATOMIC_ACQUIRE);
	if (!f->id)
		return GIVEN_NONE;
	verdict = names_walk(&f->walk, shield->lines, f->names, f->q->folded, f->q->qname_bytes);
	if ((verdict != NAMES_DENIED && verdict != NAMES_EXPANDED) || !has_member(f))
		return GIVEN_NONE;
	entry = find_given(f, verdict == NAMES_EXPANDED);
	if (!entry || !fits_given(f, entry))
		return GIVEN_NONE;
	switch (compare_given(f, entry, a)) {
	case ALIKE_SAME:
		return GIVEN_SAME;
	case ALIKE_OTHER:
		return GIVEN_OTHER;
	case ALIKE_UNSURE:
		break;
	}
	return GIVEN_UNSURE;
}

enum given given_check(struct engine *e, const struct query *q, const struct cache_answer *a,
		       uint32_t now_s)
{
	struct finding f = {
		.e = e, .q = q, .names = &cache_state(e->cache)->names, .now_s = now_s
	};
	struct shield *shield = e->data->shield;
	uint32_t edition = __atomic_load_n(&shield->edition, __ATOMIC_ACQUIRE);
	enum given given;

	if (!volley_is_cached_type(q->qtype) || !e->render.set)
		return GIVEN_NONE;
	given = check_given(&f, a);
	if (given == GIVEN_NONE)
		return given;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (edition & 1 || __atomic_load_n(&shield->edition, __ATOMIC_RELAXED) != edition)
		return GIVEN_UNSURE;
	if (given == GIVEN_OTHER)
		shield_note(shield, q, &f.walk, SHIELD_OCTETS);
	return given;
}
