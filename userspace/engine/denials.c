/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/denials.h"

#include <string.h>

#include "base/wire.h"
#include "dns/name.h"
#include "engine/names.h"
#include "zone/zone.h"

#define SOA_NUMBERS_BYTES 20 /* behind the two names of SOA: RFC 1035 section 3.3.13 */
#define POINTER_BYTES     2

/* A body in the making: that of an answer, whose pointers come to be as in one to a question for the apex. */
struct making {
	uint8_t *body;
	size_t n, at;
	struct volley_denial *denial;
	uint32_t longer; /* octets that the question's name has more than the apex */
};

/* Moves the pointer at `at`. False: it leads into what the question has before the apex. */
static bool take_pointer(struct making *m)
{
	uint32_t target = wire_load_be16(m->body + m->at) & DNS_POINTER_MAX;
	struct volley_denial *d = m->denial;

	if (target < DNS_HEADER_BYTES + m->longer || d->n_pointers == VOLLEY_DENIAL_POINTERS)
		return false;
	wire_store_be16(m->body + m->at, (uint16_t)(DNS_POINTER_BITS << 8 | (target - m->longer)));
	d->pointers[d->n_pointers++] = (uint16_t)m->at;
	m->at += POINTER_BYTES;
	return true;
}

/* A name that is compressed, or not. */
static bool take_name(struct making *m)
{
	while (m->at + POINTER_BYTES <= m->n) {
		uint8_t label = m->body[m->at];

		if (label >= DNS_POINTER_BITS)
			return take_pointer(m);
		m->at += 1u + label;
		if (!label)
			return true;
	}
	return false;
}

/* One SOA record and nothing behind it. */
static bool take_soa(struct making *m)
{
	if (!take_name(m) || m->at + DNS_RR_FIXED_BYTES > m->n ||
	    wire_load_be16(m->body + m->at) != DNS_TYPE_SOA)
		return false;
	m->at += DNS_RR_FIXED_BYTES;
	return take_name(m) && take_name(m) && m->at + SOA_NUMBERS_BYTES == m->n;
}

/* For a name below the apex, the hash of its suffix that is one label longer than that. Else 0. */
static uint64_t suffix_below(const struct volley_names_state *names, const uint8_t *name,
			     const uint8_t *apex)
{
	unsigned int n = name_n_labels(name), n_apex = name_n_labels(apex), bytes;
	uint8_t folded[NAME_FOLDED_BYTES];

	if (n <= n_apex || !name_is_under(name, apex))
		return 0;
	name = name_skip_labels(name, n - n_apex - 1);
	bytes = (unsigned int)name_bytes(name);
	name_fold(folded, name, bytes);
	return names_hash_of(names->keys, folded, bytes);
}

static void note_suffixes(struct volley_denial *d, const struct volley_names_state *names,
			  const struct zone *zone, const uint8_t *apex)
{
	struct zone_rdata rd;

	zone_rdata_next(zone_rrset_first(zone, zone_soa(zone)), &rd);
	d->suffixes[0] = suffix_below(names, rd.bytes, apex);
	d->suffixes[1] = suffix_below(names, rd.bytes + name_bytes(rd.bytes), apex);
}

bool denial_make(struct denial *out, const struct cache_answer *a, const struct query *q,
		 const struct zone *zone, const struct volley_names_state *names)
{
	struct volley_denial denial = { 0 };
	struct making m = { .body = out->body, .n = a->full_bytes, .denial = &denial };
	unsigned int apex_bytes;
	const uint8_t *apex = zone_apex(zone, &apex_bytes);

	if (apex_bytes == 1 || a->full_bytes + sizeof(denial) > sizeof(out->body))
		return false;
	m.longer = q->qname_bytes - apex_bytes;
	memcpy(out->body, a->body, a->full_bytes);
	if (!take_soa(&m))
		return false;
	note_suffixes(&denial, names, zone, apex);
	memcpy(out->body + a->full_bytes, &denial, sizeof(denial));
	out->answer = *a;
	out->answer.body = out->body;
	out->answer.full_bytes = (uint16_t)(a->full_bytes + sizeof(denial));
	return true;
}

void denial_key(struct cache_key *key, const struct cache *cache, const struct zone_member *member,
		uint32_t names_id, uint8_t key_flags, uint8_t view)
{
	cache_key_init(key, cache, member->apex, member->apex_len, VOLLEY_DENIAL_TYPE(names_id),
		       VOLLEY_DENIAL_CLASS(names_id), key_flags, view);
}
