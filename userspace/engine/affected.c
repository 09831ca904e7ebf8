/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/affected.h"

#include <arpa/inet.h>
#include <stddef.h>

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "engine/additional.h"
#include "engine/message.h"

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

/* An entry that is judged. */
struct subject {
	struct message message;
	const struct changes *changes;
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

/* What changed for the name at *at, which moves behind it; NULL when there is no name. */
static const struct seen *look(struct subject *s, uint32_t *at)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	uint32_t begin = *at, n;
	const uint8_t *p = message_octets(&s->message, begin, &n);
	struct seen *seen;

	*at = message_name_end(&s->message, begin);
	if (!*at)
		return NULL;
	if (*p >= DNS_POINTER_BITS)
		begin = wire_load_be16(p) & DNS_POINTER_MAX;
	if (begin < DNS_HEADER_BYTES || begin >= *at)
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

/* --- What changed -------------------------------------------------------------------------------- */

/* Types that are looked for at a name whatever is asked: aliases, cuts, what goes as additional. */
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

/* A name that the rendering has looked up. */
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

/* Where a name that was followed, or whose addresses were looked for, stands in the RDATA; or -1. */
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
	target = look(s, &at);
	return !target || is_found_other(s, target);
}

/* --- Signatures ---------------------------------------------------------------------------------- */

static uint16_t covered_type(const struct message_record *r)
{
	return r->type == DNS_TYPE_RRSIG && r->len >= 2 ? wire_load_be16(r->rdata) : r->type;
}

/* Of the authority section. False: no room, or no signature. */
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

/* --- Records ------------------------------------------------------------------------------------- */

/* Is the RRset that the record is of another now? Not so with a SOA that may stay older. */
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

/* Reads the record at *at, which moves behind it. True: it is affected, or cannot be read. */
static bool is_record_affected(struct subject *s, uint32_t *at, bool in_authority)
{
	const struct seen *owner = look(s, at);
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
	asked = look(&s, &at);
	if (!asked || is_found_other(&s, asked))
		return true;
	/* With room for it, the NS RRset would be there: only its new size can tell. */
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
