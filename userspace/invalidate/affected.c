/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "invalidate/affected.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "engine/render_state.h"
#include "cache/message.h"

/* Signatures of one answer that are compared; an answer with more is affected. */
#define SIGNATURES_MAX 16

#define SEEN_MAX 16u /* a power of two */

/* RFC 4034 section 3.1. */
struct signature {
	uint16_t covered, key_tag;
	uint8_t algorithm;
	uint32_t expires;
};

#define SIGNATURE_FIXED_BYTES 18

/* An entry that is checked. */
struct subject {
	struct message message;
	const struct changes *changes;
	uint16_t qtype;
	struct signature soa[SIGNATURES_MAX], proofs[SIGNATURES_MAX];
	unsigned n_soa, n_proofs;
	/* Names that were looked up, by where they begin: most recur as pointers. */
	struct seen {
		uint32_t at; /* 0: free */
		enum changes_verdict verdict;
		const struct changed_name *name;
	} seen[SEEN_MAX];
};

/* Moves *at behind the name there. Returns where the name begins: there, or the target of its
 * pointer. 0: no name. */
static uint32_t name_begin(const struct message *m, uint32_t *at)
{
	uint32_t begin = *at, n;
	const uint8_t *p = message_octets(m, begin, &n);

	*at = message_name_end(m, begin);
	if (!*at)
		return 0;
	if (*p >= DNS_POINTER_BITS)
		begin = wire_load_be16(p) & DNS_POINTER_MAX;
	return begin >= DNS_HEADER_BYTES && begin < *at ? begin : 0;
}

/* Moves *at behind the name there. Returns what changed for the name; NULL: there is no name. */
static const struct seen *look_affected(struct subject *s, uint32_t *at)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	uint32_t begin = name_begin(&s->message, at);
	struct seen *seen;

	if (!begin)
		return NULL;
	seen = &s->seen[begin % SEEN_MAX];
	if (seen->at == begin)
		return seen;
	if (!message_read_name(&s->message, begin, folded))
		return NULL;
	seen->at = begin;
	seen->verdict = changes_look(s->changes, folded, &seen->name);
	return seen;
}

/* --- What changed ----------------------------------------------------------------------------- */

/* True if a type changed that is looked for at the name: that of the question, and for any question
 * those of aliases, cuts and additional records. */
static bool is_looked_for(const struct subject *s, const struct changed_name *name)
{
	static const uint16_t always[] = { DNS_TYPE_CNAME, DNS_TYPE_DNAME, DNS_TYPE_NS,
					   DNS_TYPE_DS,    DNS_TYPE_A,     DNS_TYPE_AAAA,
					   DNS_TYPE_SVCB,  DNS_TYPE_HTTPS };

	if (s->qtype == DNS_TYPE_ANY || s->qtype == DNS_TYPE_RRSIG ||
	    changed_has(name, s->changes, s->qtype))
		return true;
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (changed_has(name, s->changes, always[i]))
			return true;
	return false;
}

/* True if the change affects a name that the rendering looked up. */
static bool is_found_other(const struct subject *s, const struct seen *seen)
{
	switch (seen->verdict) {
	case CHANGES_NONE:
		return false;
	case CHANGES_SELF:
		return is_looked_for(s, seen->name);
	case CHANGES_BELOW:
		break;
	}
	return true;
}

/* The offset in RDATA of a name that was followed, or whose addresses were looked for; or -1. */
static int followed_at(uint16_t type)
{
	return type == DNS_TYPE_CNAME || type == DNS_TYPE_DNAME ? 0 :
								  additional_target_offset(type);
}

static bool has_other_target(struct subject *s, const struct message_record *r)
{
	int offset = followed_at(r->type);
	const struct seen *target;
	uint32_t at;

	if (offset < 0)
		return false;
	if (r->len <= offset)
		return true;
	at = r->rdata_at + (uint32_t)offset;
	target = look_affected(s, &at);
	return !target || is_found_other(s, target);
}

/* --- Signatures ------------------------------------------------------------------------------- */

static uint16_t covered_type(const struct message_record *r)
{
	return r->type == DNS_TYPE_RRSIG && r->len >= 2 ? wire_load_be16(r->rdata) : r->type;
}

/* Notes a signature of the authority section. False: no room, or no signature. */
static bool note_signature(struct subject *s, const struct message_record *r)
{
	struct signature *to;

	if (r->type != DNS_TYPE_RRSIG)
		return true;
	if (r->len < SIGNATURE_FIXED_BYTES || s->n_soa == SIGNATURES_MAX ||
	    s->n_proofs == SIGNATURES_MAX)
		return false;
	to = covered_type(r) == DNS_TYPE_SOA ? &s->soa[s->n_soa++] : &s->proofs[s->n_proofs++];
	*to = (struct signature){
		.covered = covered_type(r),
		.algorithm = r->rdata[2],
		.expires = wire_load_be32(r->rdata + 8),
		.key_tag = wire_load_be16(r->rdata + 16),
	};
	return true;
}

/* Times are compared as serial numbers: RFC 4034 section 3.1.5. */
static bool is_outlived(const struct subject *s, const struct signature *soa)
{
	for (unsigned i = 0; i < s->n_proofs; i++) {
		const struct signature *proof = &s->proofs[i];

		if ((proof->covered == DNS_TYPE_NSEC || proof->covered == DNS_TYPE_NSEC3) &&
		    proof->algorithm == soa->algorithm && proof->key_tag == soa->key_tag &&
		    (int32_t)(soa->expires - proof->expires) >= 0)
			return true;
	}
	return false;
}

static bool soa_may_stay(const struct subject *s)
{
	for (unsigned i = 0; i < s->n_soa; i++)
		if (!is_outlived(s, &s->soa[i]))
			return false;
	return true;
}

/* --- Records ---------------------------------------------------------------------------------- */

/* True if the record's RRset changed. A SOA that may stay older does not count. */
static bool is_other_rrset(const struct subject *s, const struct message_record *r,
			   const struct seen *owner, bool in_authority)
{
	uint16_t type = covered_type(r);

	if (owner->verdict == CHANGES_BELOW)
		return true;
	if (owner->verdict == CHANGES_NONE || !changed_has(owner->name, s->changes, type))
		return false;
	return !(type == DNS_TYPE_SOA && in_authority && changes_keep_soa(s->changes));
}

/* Reads the record at *at and moves *at behind it. True: it is affected, or cannot be read. */
static bool is_record_affected(struct subject *s, uint32_t *at, bool in_authority)
{
	const struct seen *owner = look_affected(s, at);
	struct message_record r;

	if (!owner || !message_read_record(&s->message, *at, &r))
		return true;
	*at = r.rdata_at + r.len;
	return is_other_rrset(s, &r, owner, in_authority) || has_other_target(s, &r) ||
	       (in_authority && !note_signature(s, &r));
}

bool affected_by(const struct changes *changes, const struct volley_entry *entry)
{
	uint32_t n_answer = ntohs(entry->ancount), n_authority = ntohs(entry->nscount);
	uint32_t n = n_answer + n_authority + ntohs(entry->arcount_full), at;
	const struct seen *asked;
	struct subject s = {
		.message = message_of_entry(entry),
		.changes = changes,
		.qtype = ntohs(entry->key.qtype),
	};

	at = DNS_HEADER_BYTES;
	asked = look_affected(&s, &at);
	if (!asked || is_found_other(&s, asked))
		return true;
	/* The NS RRset was omitted for want of room: with its new size it may fit. */
	if (entry->partial && changes_have_servers(changes))
		return true;
	at = s.message.body_at;
	for (uint32_t i = 0; i < n; i++)
		if (is_record_affected(&s, &at, i >= n_answer && i < n_answer + n_authority))
			return true;
	if (at != s.message.end)
		return true;
	return changes_have_soa(changes) && !soa_may_stay(&s);
}

/* --- Dependencies ----------------------------------------------------------------------------- */

enum dependency {
	DEPENDENCY_ANY = 1,
	DEPENDENCY_SERVERS,
	DEPENDENCY_SIGNED_SOA,
	DEPENDENCY_NAME,
	DEPENDENCY_BELOW,
	DEPENDENCY_OLD_SOA,
	DEPENDENCY_TYPE, /* the types begin here: plus the type */
};

/* A hash of all bits of both, never 0: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t dependency_of(uint64_t hash, uint32_t dependency)
{
	uint64_t x = hash + dependency * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return x ? x : 1;
}

static uint64_t dependency_of_type(uint64_t name, uint16_t type)
{
	return dependency_of(name, DEPENDENCY_TYPE + type);
}

/* FNV-1a over a label with its length octet, continued from the hash of the name above. */
static uint64_t hash_affected_below(uint64_t above, const uint8_t *label)
{
	uint64_t hash = above;

	for (unsigned i = 0; i <= *label; i++)
		hash = (hash ^ label[i]) * 1099511628211u;
	return hash;
}

/* An entry whose dependencies are collected. */
struct collector {
	struct subject s; /* without changes */
	struct dependencies *to;
	uint64_t seed;
	bool is_full;
	struct noted {
		uint32_t at; /* 0: free */
		uint64_t hash;
	} noted[SEEN_MAX];
};

static void collect_affected(struct collector *c, uint64_t dependency)
{
	c->is_full |= !dependencies_add(c->to, dependency);
}

/* Collects the dependencies `below` of a folded name: one on each name above it, up to the root.
 * Returns the hash of the name. */
static uint64_t collect_above(struct collector *c, const uint8_t *folded)
{
	uint8_t label[DNS_LABELS_MAX + 1];
	uint64_t hash = c->seed;
	unsigned n = 0;

	for (unsigned at = 0; folded[at]; at += 1u + folded[at])
		label[n++] = (uint8_t)at;
	while (n--) {
		collect_affected(c, dependency_of(hash, DEPENDENCY_BELOW));
		hash = hash_affected_below(hash, folded + label[n]);
	}
	return hash;
}

/* Notes the name at *at and those above it; moves *at behind it. False: there is no name. */
static bool collect_name(struct collector *c, uint32_t *at, uint64_t *hash)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	uint32_t begin = name_begin(&c->s.message, at);
	struct noted *noted = &c->noted[begin % SEEN_MAX];

	if (!begin)
		return false;
	if (noted->at != begin) {
		if (!message_read_name(&c->s.message, begin, folded))
			return false;
		noted->hash = collect_above(c, folded);
		noted->at = begin;
	}
	*hash = noted->hash;
	return true;
}

/* A name that the rendering has looked up: is_looked_for(). */
static bool collect_looked_up(struct collector *c, uint32_t *at)
{
	uint64_t hash;

	if (!collect_name(c, at, &hash))
		return false;
	collect_affected(c, dependency_of(hash, DEPENDENCY_NAME));
	if (c->s.qtype == DNS_TYPE_SOA || c->s.qtype == DNS_TYPE_ANY ||
	    c->s.qtype == DNS_TYPE_RRSIG)
		collect_affected(c, dependency_of_type(hash, DNS_TYPE_SOA));
	return true;
}

/* Types in the authority section whose owners many answers have there. */
static bool is_of_authority(uint16_t type)
{
	return type == DNS_TYPE_NS || type == DNS_TYPE_DS || type == DNS_TYPE_NSEC ||
	       type == DNS_TYPE_NSEC3;
}

/* As is_other_rrset(). An owner without the dependency `name` has `below` on itself. */
static void collect_rrset(struct collector *c, uint64_t owner, uint16_t type, bool in_authority)
{
	bool is_soa = type == DNS_TYPE_SOA;

	if (!is_soa && !(in_authority && is_of_authority(type))) {
		collect_affected(c, dependency_of(owner, DEPENDENCY_NAME));
		return;
	}
	collect_affected(c, dependency_of(owner, DEPENDENCY_BELOW));
	if (is_soa && in_authority)
		collect_affected(c, dependency_of(owner, DEPENDENCY_OLD_SOA));
	else
		collect_affected(c, dependency_of_type(owner, type));
}

/* As has_other_target(). */
static bool collect_target(struct collector *c, const struct message_record *r)
{
	int offset = followed_at(r->type);
	uint32_t at = r->rdata_at + (uint32_t)offset;

	return offset < 0 || (r->len > offset && collect_looked_up(c, &at));
}

/* As is_record_affected(). */
static bool collect_record(struct collector *c, uint32_t *at, bool in_authority)
{
	struct message_record r;
	uint64_t owner;

	if (!collect_name(c, at, &owner) || !message_read_record(&c->s.message, *at, &r))
		return false;
	*at = r.rdata_at + r.len;
	collect_rrset(c, owner, covered_type(&r), in_authority);
	return collect_target(c, &r) && (!in_authority || note_signature(&c->s, &r));
}

static bool collect_all_affected(struct collector *c, const struct volley_entry *entry)
{
	uint32_t n_answer = ntohs(entry->ancount), n_authority = ntohs(entry->nscount);
	uint32_t n = n_answer + n_authority + ntohs(entry->arcount_full), at = DNS_HEADER_BYTES;

	if (!collect_looked_up(c, &at))
		return false;
	if (entry->partial)
		collect_affected(c, dependency_of(c->seed, DEPENDENCY_SERVERS));
	at = c->s.message.body_at;
	for (uint32_t i = 0; i < n; i++)
		if (!collect_record(c, &at, i >= n_answer && i < n_answer + n_authority))
			return false;
	if (!soa_may_stay(&c->s))
		collect_affected(c, dependency_of(c->seed, DEPENDENCY_SIGNED_SOA));
	return at == c->s.message.end;
}

void affected_dependencies(uint64_t seed, const struct volley_entry *entry,
			   struct dependencies *dependencies)
{
	uint64_t any = dependency_of(seed, DEPENDENCY_ANY);
	struct collector c = {
		.s = { .message = message_of_entry(entry), .qtype = ntohs(entry->key.qtype) },
		.to = dependencies,
		.seed = seed,
	};

	if (entry->key.view == VOLLEY_VIEW_RECURSIVE)
		return;
	if (collect_all_affected(&c, entry) && !c.is_full)
		return;
	dependencies_clear(dependencies);
	dependencies_add(dependencies, any); /* this alone is enough */
}

/* --- What changes touch ----------------------------------------------------------------------- */

static int list_dependency(struct dependency_list *list, uint64_t dependency)
{
	size_t cap = list->cap ? 2 * list->cap : 64;
	uint64_t *items;

	if (list->n == list->cap) {
		items = reallocarray(list->items, cap, sizeof(*items));
		if (!items)
			return -ENOMEM;
		list->items = items;
		list->cap = cap;
	}
	list->items[list->n++] = dependency;
	return 0;
}

static uint64_t hash_of_affected(uint64_t seed, const uint8_t *name)
{
	uint64_t hash = seed;

	for (unsigned n = name_n_labels(name); n--;)
		hash = hash_affected_below(hash, name_skip_labels(name, n));
	return hash;
}

/* At an apex, usually the SOA alone changes. It does not touch `name`, because many answers look
 * the apex up as a target. */
static int list_rrsets(struct dependency_list *list, const struct changes *changes, uint64_t hash,
		       const struct changed_entry *e)
{
	bool is_soa_alone = e->n_types == 1 && e->types[0] == DNS_TYPE_SOA;
	int err = is_soa_alone ? 0 : list_dependency(list, dependency_of(hash, DEPENDENCY_NAME));

	for (unsigned i = 0; !err && i < e->n_types; i++) {
		bool is_soa = e->types[i] == DNS_TYPE_SOA;

		if (is_soa || is_of_authority(e->types[i]))
			err = list_dependency(list, dependency_of_type(hash, e->types[i]));
		if (!err && is_soa && !changes_keep_soa(changes))
			err = list_dependency(list, dependency_of(hash, DEPENDENCY_OLD_SOA));
	}
	return err;
}

static int list_name(struct dependency_list *list, const struct changes *changes, uint64_t seed,
		     const struct changed_entry *e)
{
	uint64_t hash = hash_of_affected(seed, e->name);
	int err = e->has_rrsets ? list_rrsets(list, changes, hash, e) : 0;

	if (!err && e->is_below)
		err = list_dependency(list, dependency_of(hash, DEPENDENCY_NAME));
	if (!err && (e->is_below || e->is_wild))
		err = list_dependency(list, dependency_of(hash, DEPENDENCY_BELOW));
	return err;
}

int affected_list_below(uint64_t seed, const uint8_t *name, struct dependency_list *list)
{
	uint64_t hash = hash_of_affected(seed, name);
	int err = list_dependency(list, dependency_of(seed, DEPENDENCY_ANY));

	if (!err)
		err = list_dependency(list, dependency_of(hash, DEPENDENCY_NAME));
	return err ? err : list_dependency(list, dependency_of(hash, DEPENDENCY_BELOW));
}

int affected_list(uint64_t seed, const struct changes *changes, struct dependency_list *list)
{
	int err = list_dependency(list, dependency_of(seed, DEPENDENCY_ANY));
	struct changed_entry entry;
	size_t at = 0;

	if (!err && changes_have_servers(changes))
		err = list_dependency(list, dependency_of(seed, DEPENDENCY_SERVERS));
	if (!err && changes_have_soa(changes))
		err = list_dependency(list, dependency_of(seed, DEPENDENCY_SIGNED_SOA));
	while (!err && changes_next(changes, &at, &entry))
		err = list_name(list, changes, seed, &entry);
	return err;
}
