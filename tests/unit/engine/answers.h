/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of what a reload withdraws: zones from text, signed, and answers as the cache has
 * them. */
#ifndef VOLLEY_TESTS_ENGINE_ANSWERS_H
#define VOLLEY_TESTS_ENGINE_ANSWERS_H

#include "tests/unit/zone/zone_text.h"

#include <arpa/inet.h>

#include "invalidate/affected.h"
#include "engine/render.h"
#include "tests/unit/engine/signing.h"
#include "zone/set.h"

#define DEPENDENCIES_SEED 0x5eedu

static inline bool is_among(uint64_t dependency, const uint64_t *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (items[i] == dependency)
			return true;
	return false;
}

/* Has one of them been listed for the changes? */
static inline bool is_touched(const struct dependencies *dependencies,
			      const struct dependency_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (is_among(list->items[i], dependencies->items, dependencies->n))
			return true;
	return false;
}

/* The zone "z" of this text, with what signing adds; NULL: it is none. */
static inline struct zone *load_signed(const char *text, enum zone_chain chain, bool opt_out,
				       unsigned key)
{
	struct signing s = { .chain = chain, .opt_out = opt_out, .key = key };
	struct zone *plain, *z;
	struct zone_error err;
	size_t bytes;
	char *whole;

	if (load_text(&plain, "z", text, &err))
		return NULL;
	s.z = plain;
	s.f = open_memstream(&whole, &bytes);
	fputs(text, s.f);
	signing_write(&s);
	fclose(s.f);
	z = zone_of("z", whole);
	if (chain != ZONE_CHAIN_NONE)
		assert_int_equal(zone_chain(z), chain);
	zone_free(plain);
	free(whole);
	return z;
}

#define BODY_MAX 65535

struct answer {
	struct query q;
	bool is_there;
	uint8_t *entry; /* struct volley_entry, as cache/publish.c writes it */
};

static inline const struct volley_entry *entry_of(const struct answer *a)
{
	return (const struct volley_entry *)a->entry;
}

static inline void make_entry(uint8_t *to, const struct query *q, const struct cache_answer *a)
{
	struct volley_entry *e = (struct volley_entry *)to;
	unsigned padded = (q->qname_bytes + 7u) & ~7u;

	*e = (struct volley_entry){
		.flags = htons(a->flags),
		.partial = a->partial,
		.ancount = htons(a->ancount),
		.nscount = htons(a->nscount),
		.arcount_full = htons(a->arcount_full),
		.arcount_short = htons(a->arcount_short),
		.full_bytes = a->full_bytes,
		.short_bytes = a->short_bytes,
		.body_offset = (uint16_t)(sizeof(*e) + padded),
		.key = { .qtype = htons(q->qtype),
			 .qclass = htons(DNS_CLASS_IN),
			 .flags = q->edns.dnssec_ok ? VOLLEY_KEY_DO : 0,
			 .name_bytes = (uint8_t)q->qname_bytes },
	};
	memcpy(e->name, q->folded, padded);
	memcpy(to + e->body_offset, a->body, a->full_bytes);
}

static inline void ask_for(struct answer *a, const char *name, uint16_t type, bool dnssec_ok)
{
	a->q = (struct query){ .qtype = type, .qclass = DNS_CLASS_IN, .has_question = true };
	a->q.qname_bytes = (uint16_t)wire_of(a->q.folded, name);
	a->q.question_end = (uint16_t)(DNS_HEADER_BYTES + a->q.qname_bytes + 4);
	a->q.edns.present = dnssec_ok;
	a->q.edns.dnssec_ok = dnssec_ok;
	a->is_there = false;
	a->entry = malloc(sizeof(struct volley_entry) + 256 + BODY_MAX);
}

/* The answer to q from z, as an entry in `to`; false when it is none for the cache. */
static inline bool render(const struct engine_config *config, struct zone *z, const struct query *q,
			  uint8_t *to)
{
	static struct render r;
	struct zone_member member = { .apex = (const uint8_t *)"\1z",
				      .apex_len = 3,
				      .zone = z,
				      .cache_slot = 1,
				      .cache_gen = 1 };
	struct cache_answer a;
	struct zone_set *set;
	bool is_cached;

	assert_int_equal(zone_set_new(&set, &member, 1), 0);
	is_cached = !render_answer(&r, config, set, q, false, &a) && a.zone_slot;
	if (is_cached)
		make_entry(to, q, &a);
	zone_set_free(set);
	return is_cached;
}

#endif
