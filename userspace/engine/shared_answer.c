/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/shared_answer.h"

#include <string.h>

#include "base/wire.h"
#include "dns/proto.h"
#include "dns/rdata.h"
#include "engine/engine_state.h"
#include "shield/interval_regions.h"
#include "cache/message.h"
#include "shield/name_filter.h"
#include "shield/shield.h"
#include "zone/set.h"
#include "zone/zone.h"

#define POINTER_BYTES 2u

/* A shared body while it is made from the body of an answer. Its pointers become those of an answer
 * to a question for the key's name. */
struct making {
	struct message m; /* the answer; the result goes into `body` */
	uint8_t *body;
	struct volley_shared *shared;
	const struct volley_names_state *names;
	/* folded, in the question's name: all names that share the answer end with it */
	const uint8_t *base;
	uint32_t base_at; /* in the message */
	uint32_t shift;   /* added to a pointer to the base or a later octet; may wrap */
	bool is_expanded; /* an owner in the answer section may be the question's name */
};

/* --- Names in the body ------------------------------------------------------------------------ */

/* Where the labels at `at` end: before a pointer, or after the root. 0: not in the message. */
static uint32_t labels_end(const struct making *m, uint32_t at)
{
	uint32_t end = message_name_end(&m->m, at), n;
	const uint8_t *p;

	if (end < at + POINTER_BYTES)
		return end;
	p = message_octets(&m->m, end - POINTER_BYTES, &n);
	return p && *p >= DNS_POINTER_BITS ? end - POINTER_BYTES : end;
}

/* Moves the target of the pointer at `at`. False: it lies in the question before the base, or there
 * are too many pointers. */
static bool take_pointer(struct making *m, uint32_t at)
{
	struct volley_shared *s = m->shared;
	uint32_t n, target;
	const uint8_t *p = message_octets(&m->m, at, &n);

	if (!p || n < POINTER_BYTES || s->n_pointers == VOLLEY_SHARED_POINTERS)
		return false;
	target = wire_load_be16(p) & DNS_POINTER_MAX;
	if (target < m->base_at)
		return false;
	target = (target + m->shift) & DNS_POINTER_MAX;
	s->pointers[s->n_pointers++] = (uint16_t)(at - m->m.body_at);
	wire_store_be16(m->body + (at - m->m.body_at), (uint16_t)(DNS_POINTER_BITS << 8 | target));
	return true;
}

/* For a name below the base: notes its suffix that is one label longer than the base. No question
 * for the shared answer may lie at or below it. False: there are too many suffixes. */
static bool note_suffix(struct making *m, const uint8_t *name)
{
	unsigned int n = name_n_labels(name), n_base = name_n_labels(m->base), i = 0;
	const uint8_t *suffix;
	uint64_t hash;

	if (n <= n_base || !name_is_under(name, m->base))
		return true;
	suffix = name_skip_labels(name, n - n_base - 1);
	hash = names_hash_of(m->names->keys, suffix, (unsigned int)name_bytes(suffix));
	while (i < VOLLEY_SHARED_SUFFIXES && m->shared->suffixes[i] &&
	       m->shared->suffixes[i] != hash)
		i++;
	if (i == VOLLEY_SHARED_SUFFIXES)
		return false;
	m->shared->suffixes[i] = hash;
	return true;
}

/* Converts the name at *at, and moves *at to the octet after it. */
static bool take_name(struct making *m, uint32_t *at)
{
	uint8_t name[NAME_FOLDED_BYTES];
	uint32_t end = labels_end(m, *at), behind = message_name_end(&m->m, *at);

	if (!end || !message_read_name(&m->m, *at, name) || !note_suffix(m, name))
		return false;
	*at = behind;
	return end == behind || take_pointer(m, end);
}

/* An owner that is a pointer to the question's name stays as it is. */
static bool take_shared_owner(struct making *m, uint32_t *at, bool is_answer)
{
	uint32_t n;
	const uint8_t *p = message_octets(&m->m, *at, &n);

	if (!m->is_expanded || !is_answer || !p || n < POINTER_BYTES ||
	    wire_load_be16(p) != (DNS_POINTER_BITS << 8 | DNS_HEADER_BYTES))
		return take_name(m, at);
	*at += POINTER_BYTES;
	return true;
}

/* --- Records ---------------------------------------------------------------------------------- */

/* Converts the names in RDATA that may be compressed. */
static bool take_rdata(struct making *m, const struct message_record *r)
{
	struct rdata_layout l = rdata_layout(r->type, RD_SEND);
	uint32_t at = r->rdata_at + l.front_bytes, n;

	if (!l.n_names)
		return true;
	while (l.n_strings--) {
		const uint8_t *string = message_octets(&m->m, at, &n);

		if (!string)
			return false;
		at += 1u + *string;
	}
	while (l.n_names--)
		if (at >= r->rdata_at + r->len || !take_name(m, &at))
			return false;
	return at + l.tail_bytes == r->rdata_at + r->len;
}

static bool take_records(struct making *m, const struct cache_answer *a)
{
	uint32_t n = (uint32_t)a->ancount + a->nscount + a->arcount_full;
	uint32_t at = m->m.body_at;
	struct message_record r;

	for (uint32_t i = 0; i < n; i++) {
		if (!take_shared_owner(m, &at, i < a->ancount) ||
		    !message_read_record(&m->m, at, &r) || !take_rdata(m, &r))
			return false;
		at = r.rdata_at + r.len;
	}
	return at == m->m.end;
}

/* --- Keys ------------------------------------------------------------------------------------- */

bool shared_is_possible(const struct render_origin *origin)
{
	switch (origin->status) {
	case ZONE_NXDOMAIN:
		return origin->zone;
	case ZONE_ANSWER:
	case ZONE_CNAME:
	case ZONE_NODATA:
		return origin->is_wildcard;
	case ZONE_DNAME:
	case ZONE_DELEGATION:
		break;
	}
	return false;
}

/* True if the answer is the SOA alone, or the SOA with proofs, without an alias before it. */
static bool is_denial(const struct cache_answer *a, bool has_proofs)
{
	return !a->ancount && !a->arcount_full && (has_proofs || a->nscount == 1);
}

/* Where the shortest suffix of the question's name begins that does not exist. *encloser_bytes is
 * the length of the closest encloser. */
static unsigned int unknown_at(const struct render *r, const struct query *q,
			       unsigned int *encloser_bytes)
{
	uint8_t owner[ZONE_NAME_MAX];
	unsigned int labels;

	*encloser_bytes = zone_node_owner(r->origin.zone, r->origin.encloser, owner);
	labels = name_n_labels(q->folded) - name_n_labels(owner) - 1;
	return (unsigned int)(name_skip_labels(q->folded, labels) - q->folded);
}

/* The first point of the interval of the suffix at `at`. False: not certain, or no region. */
static bool find_start(const struct engine *e, const struct query *q, unsigned int at,
		       uint64_t *start)
{
	const struct render *r = &e->render;
	const struct shield *shield = e->data->shield;
	uint64_t point;

	return shield && r->first->intervals.id &&
	       intervals_point(r->origin.zone, q->folded + at, &point) &&
	       !intervals_find(shield->lines, shield->n_lines, r->first->intervals.at,
			       r->first->intervals.id, point, start);
}

/* The octets before the base in the key's name. */
struct prefix {
	uint8_t octets[1 + sizeof(uint64_t)];
	unsigned int n;
};

static struct prefix prefix_of_shared(uint32_t kind, uint64_t start)
{
	struct prefix prefix = { 0 };

	if (kind == VOLLEY_KEY_WILDCARD) {
		memcpy(prefix.octets, SHARED_WILDCARD, SHARED_WILDCARD_BYTES);
		prefix.n = SHARED_WILDCARD_BYTES;
	} else if (kind == VOLLEY_KEY_INTERVAL) {
		prefix.octets[0] = sizeof(start);
		wire_store_be32(prefix.octets + 1, (uint32_t)(start >> 32));
		wire_store_be32(prefix.octets + 5, (uint32_t)start);
		prefix.n = sizeof(prefix.octets);
	}
	return prefix;
}

bool shared_put_key(struct shared *out, const struct query *q, const struct volley_key *asked,
		    uint64_t start, uint32_t id)
{
	const struct prefix prefix = prefix_of_shared(out->kind, start);
	unsigned int base_bytes = q->qname_bytes - out->base_at;

	if (base_bytes == 1 || prefix.n + base_bytes > DNS_NAME_MAX)
		return false;
	memcpy(out->name, prefix.octets, prefix.n);
	memcpy(out->name + prefix.n, q->folded + out->base_at, base_bytes);
	out->first = *asked;
	if (!out->is_expanded)
		out->first.qtype = 0;
	out->first.qclass = __builtin_bswap16(VOLLEY_SHARED_CLASS(id));
	out->first.name_bytes = (uint8_t)(prefix.n + base_bytes);
	out->first.kind = VOLLEY_SHARED_KIND(out->kind, id);
	return true;
}

/*
 * Makes out->first and out->name for the answer `a`, which e has just rendered for q and which may
 * be cached under e->now.key. names_id is the id of the filter that has all names of the zone.
 * False: the answer is for its own name only. Caller's QSBR read section; no allocation.
 */
static bool make_shared_key(struct shared *out, const struct engine *e,
			    const struct cache_answer *a, const struct query *q, uint32_t names_id)
{
	const struct render *r = &e->render;
	unsigned int encloser_bytes, at;
	uint64_t start = 0;
	bool has_proofs;

	if (!shared_is_possible(&r->origin))
		return false;
	out->is_expanded = r->origin.is_wildcard;
	has_proofs = r->dnssec_ok && zone_chain(r->origin.zone) != ZONE_CHAIN_NONE;
	if (!out->is_expanded && !is_denial(a, has_proofs))
		return false;
	at = unknown_at(r, q, &encloser_bytes);
	if (has_proofs && !find_start(e, q, at, &start))
		return false;
	out->kind = has_proofs       ? VOLLEY_KEY_INTERVAL :
		    out->is_expanded ? VOLLEY_KEY_WILDCARD :
				       VOLLEY_KEY_DENIAL;
	out->base_at = q->qname_bytes -
		       (out->kind == VOLLEY_KEY_DENIAL ? r->first->apex_len : encloser_bytes);
	return shared_put_key(out, q, &e->now.key->first, start, names_id);
}

/* --- Bodies ----------------------------------------------------------------------------------- */

/* Notes for which lengths of name the same records have room. False: at most for this one. */
static bool note_lengths(struct volley_shared *s, const struct render *r, const struct query *q)
{
	uint32_t n = q->qname_bytes;

	s->name_min = (uint8_t)(r->shorter < n ? n - r->shorter : 1);
	s->name_max = (uint8_t)(r->longer < DNS_NAME_MAX - n ? n + r->longer : DNS_NAME_MAX);
	return !r->is_exact;
}

/* Ends a body of `n` octets, all of them short. */
static void end_body(struct shared *out, uint16_t n, const struct volley_shared *shared)
{
	memcpy(out->body + n, shared, sizeof(*shared));
	out->answer.body = out->body;
	out->answer.short_bytes = n;
	out->answer.arcount_short = out->answer.arcount_full;
	out->answer.full_bytes = (uint16_t)(n + sizeof(*shared));
}

/*
 * After make_shared_key(): makes out->answer and its body. False: the answer is for its own name
 * only. It is too large, or its records depend on the name's length, or another name in it leads
 * into the question. Called as make_shared_key().
 */
static bool make_body(struct shared *out, const struct render *r, const struct cache_answer *a,
		      const struct query *q, const struct volley_names_state *names)
{
	struct volley_shared shared = { 0 };
	struct making m = {
		.m = { .name = q->folded, .body = a->body },
		.body = out->body,
		.shared = &shared,
		.names = names,
		.base = q->folded + out->base_at,
		.base_at = DNS_HEADER_BYTES + out->base_at,
		.shift = (uint32_t)out->first.name_bytes - q->qname_bytes,
		.is_expanded = out->is_expanded,
	};

	if (a->full_bytes > VOLLEY_UDP_MAX || !note_lengths(&shared, r, q))
		return false;
	m.m.name_end = DNS_HEADER_BYTES + q->qname_bytes;
	m.m.body_at = m.m.name_end + DNS_QUESTION_FIXED_BYTES;
	m.m.end = m.m.body_at + a->full_bytes;
	memcpy(out->body, a->body, a->full_bytes);
	if (!take_records(&m, a))
		return false;
	out->answer = *a;
	end_body(out, a->full_bytes, &shared);
	return true;
}

/* --- Publishing ------------------------------------------------------------------------------- */

/* Publishes the entry of kind DENIAL that tells queries with DO where the intervals of a signed
 * zone are, unless it is there. */
static void publish_intervals(struct engine *e, const struct query *q, const struct cache_answer *a,
			      uint32_t names_id, uint32_t now_s)
{
	const struct zone_member *member = e->render.first;
	const struct volley_shared shared = { .intervals_at = member->intervals.at,
					      .intervals_id = member->intervals.id };
	struct shared *s = &e->shared;
	const struct volley_entry *entry;
	struct cache_key key;

	s->kind = VOLLEY_KEY_DENIAL;
	s->is_expanded = false;
	s->base_at = q->qname_bytes - member->apex_len;
	if (!shared_put_key(s, q, &e->now.key->first, 0, names_id))
		return;
	cache_key_from(&key, e->cache, &s->first, s->name);
	if (cache_lookup(e->cache, &key, now_s, false, &entry) == CACHE_HIT &&
	    !memcmp(cache_entry_body(entry), &shared, sizeof(shared)))
		return;
	s->answer = (struct cache_answer){ .flags = a->flags,
					   .zone_slot = a->zone_slot,
					   .zone_gen = a->zone_gen,
					   .expires_s = a->expires_s };
	end_body(s, 0, &shared);
	(void)!cache_publish(e->writer, &key, &s->answer, now_s);
}

void shared_publish(struct engine *e, const struct query *q, const struct cache_answer *a,
		    uint32_t now_s)
{
	const struct volley_names_state *names = &cache_state(e->cache)->names;
	uint32_t id = __atomic_load_n(&names->id, __ATOMIC_ACQUIRE);
	struct shared *s = &e->shared;
	const struct volley_entry *entry;
	struct cache_key key;

	if (!id || !e->render.first || e->render.first->names_id != id ||
	    !make_shared_key(s, e, a, q, id))
		return;
	cache_key_from(&key, e->cache, &s->first, s->name);
	if (cache_lookup(e->cache, &key, now_s, false, &entry) != CACHE_HIT &&
	    make_body(s, &e->render, a, q, names) &&
	    !cache_publish(e->writer, &key, &s->answer, now_s))
		engine_count(s->is_expanded ? &e->counters.wildcards : &e->counters.denials);
	if (s->kind == VOLLEY_KEY_INTERVAL)
		publish_intervals(e, q, a, id, now_s);
}
