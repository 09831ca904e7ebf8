/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/denials_zone.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/wire.h"

#define OPT_OUT         1  /* flags: RFC 5155 section 3.1.2.1 */
#define ALLOCATED_BYTES 16 /* malloc()'s overhead */
#define SORTED_MIN      8

/* --- Memory --- */

static size_t soa_bytes(const struct denials_soa *soa)
{
	return sizeof(*soa) + soa->n_bytes + ALLOCATED_BYTES;
}

static size_t interval_bytes(const struct denials_interval *i)
{
	return sizeof(*i) + i->n_bytes + ALLOCATED_BYTES;
}

struct denials_zone *denials_zone_new(const uint8_t *apex, const struct nsec3_params *params)
{
	struct denials_zone *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	CDS_INIT_LIST_HEAD(&z->chain);
	memcpy(z->apex, apex, name_bytes(apex));
	z->params = *params;
	z->n_bytes = sizeof(*z) + ALLOCATED_BYTES;
	nsec3_hash_octets(params, apex, z->apex_hash);
	return z;
}

void denials_zone_free(struct denials_zone *z)
{
	while (z->n)
		denials_zone_drop(z, z->sorted[z->n - 1]);
	cds_list_del(&z->chain);
	free(z->sorted);
	free(z->soa);
	free(z);
}

static bool is_denials_zone_same(const struct denials_draft *draft, const uint8_t *bytes, size_t n)
{
	return draft->n_bytes == n && !memcmp(draft->bytes, bytes, n);
}

int denials_zone_set_soa(struct denials_zone *z, const struct denials_draft *draft, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + CLOCK_NS_PER_S * draft->life_s;
	struct denials_soa *soa = z->soa;

	if (soa && soa->until_ns >= until_ns &&
	    is_denials_zone_same(draft, soa->bytes, soa->n_bytes))
		return 0;
	soa = malloc(sizeof(*soa) + draft->n_bytes);
	if (!soa)
		return -ENOMEM;
	soa->until_ns = until_ns;
	soa->n_bytes = draft->n_bytes;
	memcpy(soa->bytes, draft->bytes, draft->n_bytes);
	if (z->soa)
		z->n_bytes -= soa_bytes(z->soa);
	free(z->soa);
	z->soa = soa;
	z->n_bytes += soa_bytes(soa);
	return 0;
}

/* --- The order --- */

/* The number of owners that are not greater than the hash. */
static uint32_t count_upto(const struct denials_zone *z, const uint8_t *hash)
{
	uint32_t low = 0, high = z->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (memcmp(z->sorted[mid]->owner, hash, NSEC3_HASH_BYTES) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool matches(const struct denials_interval *i, const uint8_t *hash)
{
	return !memcmp(i->owner, hash, NSEC3_HASH_BYTES);
}

/* The last interval of a chain ends at the first owner, and a single one at its own: RFC 5155
 * section 8.3. */
static bool covers(const struct denials_interval *i, const uint8_t *hash)
{
	const uint8_t *next = denials_nsec3_of(i->bytes).next;
	bool is_behind = memcmp(i->owner, hash, NSEC3_HASH_BYTES) < 0;
	bool is_before = memcmp(hash, next, NSEC3_HASH_BYTES) < 0;
	bool wraps = memcmp(next, i->owner, NSEC3_HASH_BYTES) <= 0;

	return wraps ? !matches(i, hash) && (is_behind || is_before) : is_behind && is_before;
}

/* The only interval that may match or cover the hash; NULL: the zone has none. */
static struct denials_interval *nearest(const struct denials_zone *z, const uint8_t *hash)
{
	uint32_t n = count_upto(z, hash);

	return z->n ? z->sorted[(n ? n : z->n) - 1] : NULL;
}

void denials_zone_drop(struct denials_zone *z, struct denials_interval *interval)
{
	uint32_t at = count_upto(z, interval->owner) - 1;

	z->n--;
	memmove(z->sorted + at, z->sorted + at + 1, (z->n - at) * sizeof(*z->sorted));
	z->n_bytes -= interval_bytes(interval);
	cds_list_del(&interval->used);
	free(interval);
}

static int make_denials_zone_room(struct denials_zone *z)
{
	uint32_t cap = z->cap ? 2 * z->cap : SORTED_MIN;
	struct denials_interval **larger;

	if (z->n < z->cap)
		return 0;
	larger = realloc(z->sorted, cap * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	z->n_bytes += (cap - z->cap) * sizeof(*larger);
	z->sorted = larger;
	z->cap = cap;
	return 0;
}

/* Drops the intervals that contradict the new one, which is not in the array yet. */
static void drop_older(struct denials_zone *z, const struct denials_interval *new)
{
	struct denials_interval *other = nearest(z, new->owner);

	if (other && (matches(other, new->owner) || covers(other, new->owner)))
		denials_zone_drop(z, other);
	while (z->n) {
		uint32_t at = count_upto(z, new->owner);

		other = z->sorted[at < z->n ? at : 0];
		if (!covers(new, other->owner))
			return;
		denials_zone_drop(z, other);
	}
}

/* The same record, if it is known and lives at least as long; or NULL. */
static struct denials_interval *find_same(const struct denials_zone *z,
					  const struct denials_draft *draft, uint64_t until_ns)
{
	struct denials_interval *i = nearest(z, draft->owner);

	if (!i || i->until_ns < until_ns || !matches(i, draft->owner))
		return NULL;
	return is_denials_zone_same(draft, i->bytes, i->n_bytes) ? i : NULL;
}

int denials_zone_put(struct denials_zone *z, const struct denials_draft *draft, uint64_t now_ns,
		     struct cds_list_head *used)
{
	uint64_t until_ns = now_ns + CLOCK_NS_PER_S * draft->life_s;
	struct denials_interval *new = find_same(z, draft, until_ns);
	uint32_t at;

	if (new) {
		cds_list_move(&new->used, used);
		return 0;
	}
	new = malloc(sizeof(*new) + draft->n_bytes);
	if (!new || make_denials_zone_room(z)) {
		free(new);
		return -ENOMEM;
	}
	new->zone = z;
	new->until_ns = until_ns;
	new->n_bytes = draft->n_bytes;
	memcpy(new->owner, draft->owner, NSEC3_HASH_BYTES);
	memcpy(new->bytes, draft->bytes, draft->n_bytes);
	drop_older(z, new);
	at = count_upto(z, new->owner);
	memmove(z->sorted + at + 1, z->sorted + at, (z->n - at) * sizeof(*z->sorted));
	z->sorted[at] = new;
	z->n++;
	z->n_bytes += interval_bytes(new);
	cds_list_add(&new->used, used);
	return 0;
}

/* --- Proofs --- */

/* RFC 4034 section 4.1.2. */
static bool has_type(const struct denials_interval *i, uint16_t type)
{
	struct denials_nsec3 nsec3 = denials_nsec3_of(i->bytes);
	const uint8_t *at = nsec3.bitmap, *end = at + nsec3.bitmap_bytes;

	for (; end - at > 2; at += 2 + at[1])
		if (at[0] == type >> 8)
			return (type & 255) / 8 < at[1] &&
			       at[2 + (type & 255) / 8] & 0x80 >> (type & 7);
	return false;
}

static bool is_delegation(const struct denials_interval *i)
{
	return has_type(i, DNS_TYPE_NS) && !has_type(i, DNS_TYPE_SOA);
}

enum known { UNKNOWN, EXISTS, COVERED };

/* The arguments of a proof. */
struct proving {
	struct denials_zone *z;
	struct denials_proof *out;
};

static enum known look_up_denials_zone(const struct proving *p, const uint8_t *hash,
				       struct denials_interval **found)
{
	struct denials_interval *i = nearest(p->z, hash);

	if (!i)
		return UNKNOWN;
	*found = i;
	if (matches(i, hash))
		return EXISTS;
	/* With Opt-Out the interval may contain unsigned delegations: RFC 5155 section 6. */
	return covers(i, hash) && !(denials_nsec3_of(i->bytes).flags & OPT_OUT) ? COVERED : UNKNOWN;
}

static enum known look_up_name(const struct proving *p, const uint8_t *name,
			       struct denials_interval **found)
{
	uint8_t hash[NSEC3_HASH_BYTES];

	nsec3_hash_octets(&p->z->params, name, hash);
	return look_up_denials_zone(p, hash, found);
}

static void use_denials_zone(struct denials_proof *proof, struct denials_interval *i)
{
	for (unsigned int k = 0; k < proof->n; k++)
		if (proof->used[k] == i)
			return;
	proof->used[proof->n++] = i;
}

static bool lacks(const struct denials_interval *i, uint16_t qtype)
{
	return !has_type(i, qtype) && !has_type(i, DNS_TYPE_CNAME);
}

/* The name's own NSEC3 lists its types: RFC 5155 sections 8.5 and 8.6. */
static bool prove_nodata(const struct proving *p, struct denials_interval *own, uint16_t qtype)
{
	if (!lacks(own, qtype))
		return false;
	if (qtype == DNS_TYPE_DS ? has_type(own, DNS_TYPE_SOA) : is_delegation(own))
		return false;
	p->out->rcode = DNS_RCODE_NOERROR;
	use_denials_zone(p->out, own);
	return true;
}

/* The name does not exist below this encloser. Proves the same of the wildcard, or that it lacks
 * the type: RFC 5155 sections 8.4 and 8.7. */
static bool prove_wildcard(const struct proving *p, const uint8_t *encloser, uint16_t qtype)
{
	uint8_t name[2 + NAME_FOLDED_BYTES] = "\1*";
	size_t n = name_bytes(encloser);
	struct denials_interval *found;

	if (n + 2 > DNS_NAME_MAX)
		return false;
	memcpy(name + 2, encloser, n);
	switch (look_up_name(p, name, &found)) {
	case COVERED:
		p->out->rcode = DNS_RCODE_NXDOMAIN;
		break;
	case EXISTS:
		if (qtype == DNS_TYPE_DS || !lacks(found, qtype) || is_delegation(found))
			return false;
		p->out->rcode = DNS_RCODE_NOERROR;
		break;
	default:
		return false;
	}
	use_denials_zone(p->out, found);
	return true;
}

/*
 * Walks from the apex down. The names on the way need not be known, except the name above the first
 * covered one: otherwise the covered name could be in another zone.
 */
bool denials_zone_prove(struct denials_zone *z, const uint8_t *name, uint16_t qtype,
			struct denials_proof *out)
{
	const struct proving p = { .z = z, .out = out };
	unsigned int depth = name_n_labels(name) - name_n_labels(z->apex);
	struct denials_interval *found = NULL, *encloser = NULL;
	enum known known = look_up_denials_zone(&p, z->apex_hash, &found);

	*out = (struct denials_proof){ 0 };
	for (unsigned int i = 1; i <= depth && i <= DENIALS_HASHES_MAX; i++) {
		const uint8_t *at = name_skip_labels(name, depth - i);

		encloser = known == EXISTS ? found : NULL;
		if (encloser && (is_delegation(encloser) || has_type(encloser, DNS_TYPE_DNAME)))
			return false;
		known = look_up_name(&p, at, &found);
		if (known == COVERED) {
			if (!encloser)
				return false;
			use_denials_zone(out, encloser);
			use_denials_zone(out, found);
			return prove_wildcard(&p, name_parent(at), qtype);
		}
	}
	return known == EXISTS && depth <= DENIALS_HASHES_MAX && prove_nodata(&p, found, qtype);
}
