/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/affected.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#include "base/wire.h"
#include "cache/cache.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "engine/additional.h"

#define POINTER_BITS 0xc0 /* RFC 1035 section 4.1.4 */

/* Signatures of one answer that are compared; with more it counts as affected. */
#define SIGNATURES_MAX 16

#define SEEN_MAX 16u /* a power of two */

/* RFC 4034 section 3.1. */
struct signature {
	uint16_t covered, key_tag;
	uint8_t algorithm;
	uint32_t expires;
};

#define SIGNATURE_FIXED_BYTES 18

/* An entry, as the message that it was made for: offsets are those of the message. */
struct message {
	const struct changes *changes;
	const uint8_t *name; /* of the question, at DNS_HEADER_BYTES */
	const uint8_t *body;
	uint32_t name_end, body_at, end;
	uint16_t qtype;
	struct signature soa[SIGNATURES_MAX], proofs[SIGNATURES_MAX];
	unsigned n_soa, n_proofs;
	/* Names that were looked up, by where they begin: most come again, by a pointer. */
	struct seen {
		uint32_t at; /* 0: free */
		enum changes_verdict verdict;
		const struct changed_name *name;
	} seen[SEEN_MAX];
};

struct record {
	uint16_t type, len;
	uint32_t rdata_at;
	bool in_authority;
	const uint8_t *rdata;
};

/* The octets from @at on, and how many: of the question's name, or of the body. NULL: of neither. */
static const uint8_t *octets_at(const struct message *m, uint32_t at, uint32_t *n)
{
	if (at >= m->body_at && at < m->end) {
		*n = m->end - at;
		return m->body + (at - m->body_at);
	}
	if (at >= DNS_HEADER_BYTES && at < m->name_end) {
		*n = m->name_end - at;
		return m->name + (at - DNS_HEADER_BYTES);
	}
	return NULL;
}

/* The offset behind the name at `at`, or 0 where it does not end. A pointer ends it. */
static uint32_t name_end(const struct message *m, uint32_t at)
{
	uint32_t n, i = 0;
	const uint8_t *p = octets_at(m, at, &n);

	while (p && i < n) {
		if (p[i] >= POINTER_BITS)
			return i + 2 <= n ? at + i + 2 : 0;
		if (!p[i])
			return at + i + 1;
		i += p[i] + 1u;
	}
	return 0;
}

/*
 * The name at `at`, uncompressed and folded. Pointers lead back, each further than the last, so
 * there is an end. False when there is no name.
 */
static bool read_name(const struct message *m, uint32_t at, uint8_t folded[NAME_FOLDED_BYTES])
{
	uint32_t lowest = at, out = 0, n;

	for (;;) {
		const uint8_t *p = octets_at(m, at, &n);

		if (!p)
			return false;
		if ((*p & POINTER_BITS) == POINTER_BITS) {
			if (n < 2)
				return false;
			at = wire_load_be16(p) & DNS_POINTER_MAX;
			if (at >= lowest)
				return false;
			lowest = at;
			continue;
		}
		if (*p > DNS_LABEL_MAX || *p >= n || out + *p + 1u > DNS_NAME_MAX)
			return false;
		memcpy(folded + out, p, *p + 1u);
		out += *p + 1u;
		at += *p + 1u;
		if (!*p)
			break;
	}
	name_fold(folded, folded, out);
	return true;
}

/* What changed for the name at *at, which moves behind it; NULL when there is no name. */
static const struct seen *look(struct message *m, uint32_t *at)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	uint32_t begin = *at, n;
	const uint8_t *p = octets_at(m, begin, &n);
	struct seen *seen;

	*at = name_end(m, begin);
	if (!*at)
		return NULL;
	if (*p >= POINTER_BITS)
		begin = wire_load_be16(p) & DNS_POINTER_MAX;
	if (begin >= *at)
		return NULL;
	seen = &m->seen[begin % SEEN_MAX];
	if (seen->at == begin)
		return seen;
	if (!read_name(m, begin, folded))
		return NULL;
	seen->at = begin;
	seen->verdict = changes_look(m->changes, folded, &seen->name);
	return seen;
}

/* --- What changed -------------------------------------------------------------------------------- */

/* Types that are looked for at a name whatever is asked: aliases, cuts, what goes as additional. */
static bool is_looked_for(const struct message *m, const struct changed_name *name)
{
	static const uint16_t always[] = { DNS_TYPE_CNAME, DNS_TYPE_DNAME, DNS_TYPE_NS,
					   DNS_TYPE_DS,    DNS_TYPE_A,     DNS_TYPE_AAAA,
					   DNS_TYPE_SVCB,  DNS_TYPE_HTTPS };

	if (m->qtype == DNS_TYPE_ANY || m->qtype == DNS_TYPE_RRSIG ||
	    changed_has(name, m->changes, m->qtype))
		return true;
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (changed_has(name, m->changes, always[i]))
			return true;
	return false;
}

/* A name that the rendering has looked up. */
static bool is_found_other(const struct message *m, const struct seen *seen)
{
	switch (seen->verdict) {
	case CHANGES_NONE:
		return false;
	case CHANGES_SELF:
		return is_looked_for(m, seen->name);
	case CHANGES_BELOW:
		break;
	}
	return true;
}

/* Where a name that was followed, or whose addresses were looked for, stands in the RDATA; or -1. */
static int followed_at(uint16_t type)
{
	return type == DNS_TYPE_CNAME || type == DNS_TYPE_DNAME ? 0 :
								  additional_target_offset(type);
}

static bool has_other_target(struct message *m, const struct record *r)
{
	int offset = followed_at(r->type);
	const struct seen *target;
	uint32_t at;

	if (offset < 0)
		return false;
	if (r->len <= offset)
		return true;
	at = r->rdata_at + (uint32_t)offset;
	target = look(m, &at);
	return !target || is_found_other(m, target);
}

/* --- Signatures ---------------------------------------------------------------------------------- */

static uint16_t covered_type(const struct record *r)
{
	return r->type == DNS_TYPE_RRSIG && r->len >= 2 ? wire_load_be16(r->rdata) : r->type;
}

/* False: no room, or no signature. */
static bool note_signature(struct message *m, const struct record *r)
{
	struct signature *to;

	if (r->type != DNS_TYPE_RRSIG || !r->in_authority)
		return true;
	if (r->len < SIGNATURE_FIXED_BYTES || m->n_soa == SIGNATURES_MAX ||
	    m->n_proofs == SIGNATURES_MAX)
		return false;
	to = covered_type(r) == DNS_TYPE_SOA ? &m->soa[m->n_soa++] : &m->proofs[m->n_proofs++];
	*to = (struct signature){
		.covered = covered_type(r),
		.algorithm = r->rdata[2],
		.expires = wire_load_be32(r->rdata + 8),
		.key_tag = wire_load_be16(r->rdata + 16),
	};
	return true;
}

/* Times are compared as serial numbers: RFC 4034 section 3.1.5. */
static bool is_outlived(const struct message *m, const struct signature *soa)
{
	for (unsigned i = 0; i < m->n_proofs; i++) {
		const struct signature *proof = &m->proofs[i];

		if ((proof->covered == DNS_TYPE_NSEC || proof->covered == DNS_TYPE_NSEC3) &&
		    proof->algorithm == soa->algorithm && proof->key_tag == soa->key_tag &&
		    (int32_t)(soa->expires - proof->expires) >= 0)
			return true;
	}
	return false;
}

static bool soa_may_stay(const struct message *m)
{
	for (unsigned i = 0; i < m->n_soa; i++)
		if (!is_outlived(m, &m->soa[i]))
			return false;
	return true;
}

/* --- Records ------------------------------------------------------------------------------------- */

/* Is the RRset that the record is of another now? Not so with a SOA that may stay older. */
static bool is_other_rrset(const struct message *m, const struct record *r,
			   const struct seen *owner)
{
	uint16_t type = covered_type(r);

	if (owner->verdict == CHANGES_BELOW)
		return true;
	if (owner->verdict == CHANGES_NONE || !changed_has(owner->name, m->changes, type))
		return false;
	return !(type == DNS_TYPE_SOA && r->in_authority && changes_keep_soa(m->changes));
}

/* Reads the record at *at, which moves behind it. True: it is affected, or cannot be read. */
static bool is_record_affected(struct message *m, uint32_t *at, bool in_authority)
{
	const struct seen *owner = look(m, at);
	struct record r = { .in_authority = in_authority };
	const uint8_t *p;
	uint32_t n;

	if (!owner)
		return true;
	p = octets_at(m, *at, &n);
	if (!p || n < DNS_RR_FIXED_BYTES)
		return true;
	r.type = wire_load_be16(p);
	r.len = wire_load_be16(p + 8);
	r.rdata = p + DNS_RR_FIXED_BYTES;
	r.rdata_at = *at + DNS_RR_FIXED_BYTES;
	if (r.len > n - DNS_RR_FIXED_BYTES)
		return true;
	*at = r.rdata_at + r.len;
	return is_other_rrset(m, &r, owner) || has_other_target(m, &r) || !note_signature(m, &r);
}

/* The apex with a SOA that is not the zone's any more: is that one in the answer? */
static bool keeps_old_soa(const struct message *m)
{
	const struct changed_name *apex;
	unsigned len;

	return changes_look(m->changes, changes_apex(m->changes, &len), &apex) == CHANGES_SELF &&
	       changed_has(apex, m->changes, DNS_TYPE_SOA);
}

bool affected_by(const struct changes *changes, const struct volley_entry *entry)
{
	uint32_t n_answer = ntohs(entry->ancount), n_authority = ntohs(entry->nscount);
	uint32_t n = n_answer + n_authority + ntohs(entry->arcount_full), at;
	const struct seen *asked;
	struct message m = {
		.changes = changes,
		.name = entry->name,
		.body = cache_entry_body(entry),
		.name_end = DNS_HEADER_BYTES + (uint32_t)entry->key.name_bytes,
		.qtype = ntohs(entry->key.qtype),
	};

	m.body_at = m.name_end + DNS_QUESTION_FIXED_BYTES;
	m.end = m.body_at + entry->full_bytes;
	at = DNS_HEADER_BYTES;
	asked = look(&m, &at);
	if (!asked || is_found_other(&m, asked))
		return true;
	/* With room for it, the NS RRset would be there: only its new size can tell. */
	if (entry->partial && changes_have_servers(changes))
		return true;
	at = m.body_at;
	for (uint32_t i = 0; i < n; i++)
		if (is_record_affected(&m, &at, i >= n_answer && i < n_answer + n_authority))
			return true;
	if (at != m.end)
		return true;
	return m.n_soa && keeps_old_soa(&m) && !soa_may_stay(&m);
}
