/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/shared.h"

#include <limits.h>
#include <string.h>

#include "base/wire.h"
#include "dns/proto.h"
#include "dns/rdata.h"
#include "engine/internal.h"
#include "engine/message.h"
#include "engine/names.h"
#include "zone/set.h"
#include "zone/zone.h"

#define POINTER_BYTES   2u
#define WILDCARD_PREFIX "\001*" /* and its parent: a wildcard's name */
#define PREFIX_BYTES    (sizeof(WILDCARD_PREFIX) - 1)

/* A body in the making: that of an answer, whose pointers come to be as in one to a question for the key's name. */
struct making {
	struct message m; /* the answer; what is written goes into `body` */
	uint8_t *body;
	struct volley_shared *shared;
	const struct volley_names_state *names;
	const uint8_t *
		base; /* folded, in the question's name: what all names have that share the answer */
	uint32_t base_at; /* in the message */
	uint32_t shift;   /* what a pointer to the base and behind it grows by, modulo 2^16 */
	bool is_expanded; /* owners of the answer section may be the question's name */
};

/* --- Names in the body ---------------------------------------------------------------------------- */

/* The end of the labels at `at`: there is a pointer, or the root. 0: neither is in the message. */
static uint32_t labels_end(const struct making *m, uint32_t at)
{
	uint32_t end = message_name_end(&m->m, at), n;
	const uint8_t *p;

	if (end < at + POINTER_BYTES)
		return end;
	p = message_octets(&m->m, end - POINTER_BYTES, &n);
	return p && *p >= DNS_POINTER_BITS ? end - POINTER_BYTES : end;
}

/* Moves the pointer at `at`. False: it leads into what the question has before the base. */
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

/* Of a name below the base: no question may lie at or below its suffix that is one label longer than the base. */
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

/* The name at *at, which moves behind it. */
static bool take_name(struct making *m, uint32_t *at)
{
	uint8_t name[NAME_FOLDED_BYTES];
	uint32_t end = labels_end(m, *at), behind = message_name_end(&m->m, *at);

	if (!end || !message_read_name(&m->m, *at, name) || !note_suffix(m, name))
		return false;
	*at = behind;
	return end == behind || take_pointer(m, end);
}

/* An owner that is the question's name stays so. */
static bool take_owner(struct making *m, uint32_t *at, bool is_answer)
{
	uint32_t n;
	const uint8_t *p = message_octets(&m->m, *at, &n);

	if (!m->is_expanded || !is_answer || !p || n < POINTER_BYTES ||
	    wire_load_be16(p) != (DNS_POINTER_BITS << 8 | DNS_HEADER_BYTES))
		return take_name(m, at);
	*at += POINTER_BYTES;
	return true;
}

/* --- Records -------------------------------------------------------------------------------------- */

/* The names in RDATA that are compressed. */
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
		if (!take_owner(m, &at, i < a->ancount) || !message_read_record(&m->m, at, &r) ||
		    !take_rdata(m, &r))
			return false;
		at = r.rdata_at + r.len;
	}
	return at == m->m.end;
}

/* --- Keys ----------------------------------------------------------------------------------------- */

/* The SOA, and no proof, no alias before it. */
static bool is_bare_denial(const struct cache_answer *a)
{
	return a->nscount == 1 && !a->ancount && !a->arcount_full;
}

/* The kind of the key, and the octets of the base; 0: the answer is for its own name only. */
static uint32_t kind_of(const struct render *r, const struct cache_answer *a,
			unsigned int *base_bytes)
{
	uint8_t owner[ZONE_NAME_MAX];

	if (r->origin.is_wildcard) {
		*base_bytes = zone_node_owner(r->origin.zone, r->origin.encloser, owner);
		return r->dnssec_ok && zone_is_signed(r->origin.zone) ? 0 : VOLLEY_KEY_WILDCARD;
	}
	*base_bytes = r->first->apex_len;
	return r->origin.is_nxdomain && is_bare_denial(a) ? VOLLEY_KEY_DENIAL : 0;
}

static void make_key(struct shared *out, uint32_t kind, const uint8_t *base,
		     unsigned int base_bytes, const struct volley_key *asked, uint32_t id)
{
	bool is_wildcard = kind == VOLLEY_KEY_WILDCARD;
	unsigned int n = is_wildcard ? PREFIX_BYTES : 0;

	memcpy(out->name, WILDCARD_PREFIX, n);
	memcpy(out->name + n, base, base_bytes);
	out->first = *asked;
	if (!is_wildcard)
		out->first.qtype = 0;
	out->first.qclass = __builtin_bswap16(VOLLEY_SHARED_CLASS(id));
	out->first.name_bytes = (uint8_t)(n + base_bytes);
	out->first.kind = VOLLEY_SHARED_KIND(kind, id);
}

/* For which names the same records have room. False: for this one alone, at most. */
static bool note_lengths(struct volley_shared *s, const struct render *r, const struct query *q)
{
	uint32_t n = q->qname_bytes;

	s->name_min = (uint8_t)(r->shorter < n ? n - r->shorter : 1);
	s->name_max = (uint8_t)(r->longer < DNS_NAME_MAX - n ? n + r->longer : DNS_NAME_MAX);
	return !r->is_exact;
}

bool shared_make_key(struct shared *out, const struct render *r, const struct cache_answer *a,
		     const struct query *q, const struct volley_key *asked, uint32_t names_id)
{
	unsigned int base_bytes;

	out->kind = kind_of(r, a, &base_bytes);
	out->base_at = q->qname_bytes - base_bytes;
	if (!out->kind || base_bytes == 1 || base_bytes + PREFIX_BYTES > DNS_NAME_MAX)
		return false;
	make_key(out, out->kind, q->folded + out->base_at, base_bytes, asked, names_id);
	return true;
}

bool shared_make_body(struct shared *out, const struct render *r, const struct cache_answer *a,
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
		.is_expanded = out->kind == VOLLEY_KEY_WILDCARD,
	};

	if (a->full_bytes > VOLLEY_UDP_MAX || !note_lengths(&shared, r, q))
		return false;
	m.m.name_end = DNS_HEADER_BYTES + q->qname_bytes;
	m.m.body_at = m.m.name_end + DNS_QUESTION_FIXED_BYTES;
	m.m.end = m.m.body_at + a->full_bytes;
	memcpy(out->body, a->body, a->full_bytes);
	if (!take_records(&m, a))
		return false;
	memcpy(out->body + a->full_bytes, &shared, sizeof(shared));
	out->answer = *a;
	out->answer.body = out->body;
	out->answer.short_bytes = a->full_bytes;
	out->answer.arcount_short = a->arcount_full;
	out->answer.full_bytes = (uint16_t)(a->full_bytes + sizeof(shared));
	return true;
}

/* --- Publishing ----------------------------------------------------------------------------------- */

void shared_publish(struct engine *e, const struct query *q, const struct cache_answer *a,
		    uint32_t now_s)
{
	const struct volley_names_state *names = &cache_state(e->cache)->names;
	const struct render *r = &e->render;
	uint32_t id = __atomic_load_n(&names->id, __ATOMIC_ACQUIRE);
	const struct volley_entry *entry;
	struct cache_key key;

	if (!id || !r->first || r->first->names_id != id ||
	    !shared_make_key(&e->shared, r, a, q, (const void *)e->key->words, id))
		return;
	cache_key_from(&key, e->cache, &e->shared.first, e->shared.name);
	if (cache_lookup(e->cache, &key, now_s, false, &entry) == CACHE_HIT ||
	    !shared_make_body(&e->shared, r, a, q, names) ||
	    cache_publish(e->writer, &key, &e->shared.answer, now_s))
		return;
	engine_count(e->shared.kind == VOLLEY_KEY_WILDCARD ? &e->counters.wildcards :
							     &e->counters.denials);
}
