/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an image: nodes in canonical order, and the RRsets of each by type; the rdata stay where
 * they are. Then, after the builder's own memory is freed, the hash table.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/builder.h"
#include "zone/building.h"
#include "zone/denial.h"
#include "zone/image.h"
#include "zone/nsec3_chain.h"
#include "zone/sums.h"
#include "zone/version.h"

/* Names per bucket on average: 75 % full. A search without a match reads 1.1 cache lines. */
#define BUCKET_LOAD 9
#define FETCH_NAMES 16

/* Of a name. */
struct hashed {
	uint32_t bucket;
	uint8_t tag;
};

struct freeze {
	struct zone_builder *b;
	struct zone *z;
	struct zone_error *err;
	uint32_t *place; /* builder's node number -> index in canonical order */
	uint32_t *first; /* canonical index -> its first part in order; n_nodes + 1 */
};

/* --- Filling the arrays --- */

/* A record of a transfer has no line, so the owner is named. */
static void warn_ttl(const struct freeze *f, const struct zone_node *node,
		     const struct build_origin *last, const struct zone_rrset *set)
{
	char type[PROTO_TEXT_MAX], owner[NAME_TEXT_MAX];
	uint8_t name[ZONE_NAME_MAX];

	zone_node_owner(f->z, node, name);
	name_to_text(owner, sizeof(owner), name);
	proto_type_to_text(type, set->type);
	zone_error_warn(f->err, builder_file_name(f->b, last->file), last->line,
			"the TTLs of the %s records of %.160s differ; the lowest, %u, is used",
			type, owner, set->ttl);
}

/*
 * Joins the parts of @node from @at on that have one type to the next RRset, whose index is at
 * most @at. *@next becomes the first part of another type.
 */
static int fill_rrset(struct freeze *f, const struct zone_node *node, uint32_t at, uint32_t end,
		      uint32_t *next)
{
	struct zone_builder *b = f->b;
	struct zone *z = f->z;
	struct zone_rrset *part = &b->parts[at];
	int rc;

	for (*next = at + 1; *next < end && b->parts[*next].type == part->type;)
		++*next;
	rc = *next - at > 1 ? gather_join(b, at, *next - at) : 0;
	if (rc)
		return rc;
	/* RRSIGs have the TTLs of the RRsets that they cover: RFC 4034 section 3. */
	if (b->origins[at].ttls_differ && part->type != DNS_TYPE_RRSIG)
		warn_ttl(f, node, &b->origins[at], part);
	b->origins[z->n_rrsets] = b->origins[at];
	b->parts[z->n_rrsets++] = *part;
	return 0;
}

uint8_t zone_type_flag(uint16_t type, bool is_apex)
{
	switch (type) {
	case DNS_TYPE_NS:
		return is_apex ? 0 : NODE_CUT;
	case DNS_TYPE_CNAME:
		return NODE_CNAME;
	case DNS_TYPE_DNAME:
		return NODE_DNAME;
	default:
		return 0;
	}
}

static int fill_node(struct freeze *f, uint32_t index)
{
	struct zone_node *node = &f->z->nodes[index];
	uint32_t end = f->first[index + 1];
	int rc = 0;

	node->rrsets = f->z->n_rrsets;
	for (uint32_t at = f->first[index]; at < end && !rc;) {
		node->flags |= zone_type_flag(f->b->parts[at].type, index == 0);
		rc = fill_rrset(f, node, at, end, &at);
	}
	return rc;
}

/* Parents come before their children, so their depth and flags are set. */
static void link_node(struct zone *z, uint32_t index)
{
	struct zone_node *node = &z->nodes[index], *parent = &z->nodes[node->parent];
	const uint8_t *label;

	if (!index)
		return;
	label = z->labels + node->label;
	node->depth = (uint8_t)(parent->depth + 1);
	if (parent->flags & (NODE_CUT | NODE_OCCLUDED))
		node->flags |= NODE_OCCLUDED;
	if (label[0] == 1 && label[1] == '*')
		parent->flags |= NODE_WILD;
	for (unsigned i = 1; i <= *label; i++)
		if (fold(label[i]) != label[i])
			node->flags |= NODE_UPPERCASE;
}

/* Copies labels and parents from the builder's order to the zone's. */
static void place_nodes(struct freeze *f)
{
	const struct build_node *nodes = f->b->nodes;

	for (uint32_t i = 0; i < f->z->n_nodes; i++) {
		struct zone_node *node = &f->z->nodes[f->place[i]];

		node->label = nodes[i].label;
		node->parent = f->place[nodes[i].parent];
	}
}

static int fill_nodes(struct freeze *f)
{
	struct zone *z = f->z;
	int rc = 0;

	for (uint32_t i = 0; i < z->n_nodes && !rc; i++) {
		rc = fill_node(f, i);
		link_node(z, i);
	}
	z->nodes[z->n_nodes].rrsets = z->n_rrsets;
	return rc;
}

static struct hashed hash_freeze_node(const struct zone *z, uint32_t index)
{
	const uint8_t *label = z->labels + z->nodes[index].label;
	uint8_t folded[256];
	uint64_t hash;

	name_fold(folded, label, 1u + *label);
	hash = hash_label(z->seed, z->nodes[index].parent, folded + 1, *folded);
	return (struct hashed){ hash_bucket(hash, z->n_buckets), (uint8_t)hash };
}

static void put_in_bucket(struct zone *z, uint32_t index, struct hashed hashed)
{
	struct zone_bucket *bucket = &z->buckets[hashed.bucket];

	while (bucket->n == BUCKET_NODES)
		bucket = bucket + 1 == z->buckets + z->n_buckets ? z->buckets : bucket + 1;
	bucket->tag[bucket->n] = hashed.tag;
	bucket->node[bucket->n++] = index;
}

/* Buckets are accessed at random, so the buckets of a few names are prefetched together. */
static int fill_buckets(struct zone *z)
{
	size_t bytes = (z->n_nodes / BUCKET_LOAD + 1) * sizeof(*z->buckets);
	struct hashed hashed[FETCH_NAMES];
	uint32_t n;

	z->n_buckets = z->n_nodes / BUCKET_LOAD + 1;
	z->buckets = aligned_alloc(sizeof(*z->buckets), bytes);
	if (!z->buckets)
		return -ENOMEM;
	memset(z->buckets, 0, bytes);
	for (uint32_t i = 1; i < z->n_nodes; i += n) {
		n = z->n_nodes - i < FETCH_NAMES ? z->n_nodes - i : FETCH_NAMES;
		for (uint32_t k = 0; k < n; k++) {
			hashed[k] = hash_freeze_node(z, i + k);
			__builtin_prefetch(&z->buckets[hashed[k].bucket], 1);
		}
		for (uint32_t k = 0; k < n; k++)
			put_in_bucket(z, i + k, hashed[k]);
	}
	return 0;
}

/* --- Memory --- */

static struct zone *zone_alloc(const struct zone_builder *b)
{
	struct zone *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->refs = 1;
	z->seed = b->seed;
	z->n_nodes = (uint32_t)b->n_nodes;
	z->apex_bytes = (uint16_t)b->apex_bytes;
	z->apex_labels = (uint8_t)b->apex_labels;
	z->nsec3_params = &nsec3_no_params;
	z->apex = malloc(b->apex_bytes);
	z->nodes = calloc(b->n_nodes + 1, sizeof(*z->nodes));
	if (!z->apex || !z->nodes) {
		zone_free(z);
		return NULL;
	}
	memcpy(z->apex, b->apex, b->apex_bytes);
	z->apex_node = z->nodes;
	return z;
}

/* Cuts @array to @n elements. If realloc fails, it stays as large as it was. */
static void *shrink_freeze(void *array, size_t n, size_t element_bytes)
{
	void *p = reallocarray(array, n + 1, element_bytes);

	return p ? p : array;
}

/* The builder's labels, its joined parts and its arenas become the zone's. */
static void take_labels(struct zone *z, struct zone_builder *b)
{
	z->labels = b->labels;
	z->n_label_bytes = (uint32_t)b->n_label_bytes;
	b->labels = NULL;
}

static void take_rrsets(struct zone *z, struct zone_builder *b)
{
	z->rrsets = b->parts;
	b->parts = NULL;
}

static void take_arenas(struct zone *z, struct zone_builder *b)
{
	z->n_rdata_bytes = (uint32_t)b->arenas[ARENA_DATA].n;
	z->n_rrsig_bytes = (uint32_t)b->arenas[ARENA_RRSIG].n;
	z->rdata = b->arenas[ARENA_DATA].bytes;
	z->rrsigs = b->arenas[ARENA_RRSIG].bytes;
	b->arenas[ARENA_DATA].bytes = NULL;
	b->arenas[ARENA_RRSIG].bytes = NULL;
}

static void zone_shrink(struct zone *z)
{
	z->rrsets = shrink_freeze(z->rrsets, z->n_rrsets, sizeof(*z->rrsets));
	z->labels = shrink_freeze(z->labels, z->n_label_bytes, 1);
	z->rdata = shrink_freeze(z->rdata, z->n_rdata_bytes, 1);
	if (z->rrsigs)
		z->rrsigs = shrink_freeze(z->rrsigs, z->n_rrsig_bytes, 1);
}

static void give_back_freeze(void *array)
{
	void **p = array;

	free(*p);
	*p = NULL;
}

static void freeze_free(struct freeze *f)
{
	give_back_freeze(&f->place);
	give_back_freeze(&f->first);
}

void zone_builder_watch(struct zone_builder *b, const bool *cancel)
{
	b->cancel = cancel;
}

/* Called between steps, each a small part of the work: -ECANCELED after a cancel, else @rc. */
static int unless_cancelled(const struct freeze *f, int rc)
{
	return !rc && f->b->cancel && __atomic_load_n(f->b->cancel, __ATOMIC_RELAXED) ? -ECANCELED :
											rc;
}

/* Sorts names and parts. The builder's hash table is freed before. */
static int order_all(struct freeze *f)
{
	struct zone_builder *b = f->b;
	int rc;

	give_back_freeze(&b->table);
	rc = unless_cancelled(f, order_nodes(b, &f->place));
	return rc ? rc : unless_cancelled(f, order_parts(b, f->place, &f->first));
}

static int find_freeze_chain(const struct zone_builder *b, struct zone *z, struct zone_error *err)
{
	const char *file = builder_file_name(b, 0);
	int rc = zone_find_chain(z);

	if (rc == ERR_LIMIT)
		return zone_error_set(err, file, 0,
				      "its NSEC3 chain has %u iterations, more than %u",
				      z->nsec3_params->iterations, ZONE_NSEC3_ITERATIONS_MAX);
	if (rc)
		return rc;
	if (z->chain == ZONE_CHAIN_NSEC3 &&
	    z->nsec3_params->iterations > ZONE_NSEC3_ITERATIONS_WARN)
		zone_error_warn(err, file, 0,
				"validators take a zone with %u iterations of NSEC3 as unsigned",
				z->nsec3_params->iterations);
	if (z->is_signed && z->chain == ZONE_CHAIN_NONE)
		zone_error_warn(err, file, 0,
				"there is a DNSKEY, but no NSEC or NSEC3 chain from the apex on");
	return 0;
}

/*
 * Makes all but the hash table; then the zone needs no memory of the builder. Memory that is not
 * needed any more is freed at once, since the peak is here.
 */
static int lay_out(struct freeze *f)
{
	struct zone_builder *b = f->b;
	int rc = unless_cancelled(f, gather_end(b));

	if (!rc)
		rc = order_all(f);
	if (rc)
		return rc;
	f->z = zone_alloc(b);
	if (!f->z)
		return -ENOMEM;
	place_nodes(f);
	give_back_freeze(&f->place);
	give_back_freeze(&b->nodes);
	take_labels(f->z, b);
	rc = fill_nodes(f);
	take_rrsets(f->z, b);
	take_arenas(f->z, b);
	rc = unless_cancelled(f, rc);
	if (!rc)
		rc = zone_check(b, f->z, f->err);
	freeze_free(f);
	give_back_freeze(&b->origins);
	give_back_freeze(&b->shared);
	return unless_cancelled(f, rc);
}

/* Makes the parts that need the finished arrays. */
static int complete_freeze(struct freeze *f)
{
	struct zone *z = f->z;
	int rc;

	zone_shrink(z);
	rc = unless_cancelled(f, fill_buckets(z));
	if (rc)
		return rc;
	zone_read_apex(z);
	rc = unless_cancelled(f, find_freeze_chain(f->b, z, f->err));
	if (!rc && !f->b->is_known)
		rc = unless_cancelled(f, zonemd_check(z, builder_file_name(f->b, 0), f->err));
	if (rc)
		return rc;
	sums_of_image(z);
	rc = unless_cancelled(f, 0);
	return rc ? rc : version_found(z);
}

int zone_builder_finish(struct zone_builder *b, struct zone **out, struct zone_error *err)
{
	struct freeze f = { .b = b, .err = err };
	int rc = lay_out(&f);

	if (!rc)
		rc = complete_freeze(&f);
	freeze_free(&f);
	if (rc)
		zone_free(f.z);
	*out = rc ? NULL : f.z;
	return rc == ERR_LIMIT ? zone_error_set(err, builder_file_name(b, 0), 0,
						"the zone is larger than 4 GiB") :
				 rc;
}
