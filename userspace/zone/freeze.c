/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Laying out a snapshot: nodes by canonical order, under each its records by type and rdata, joined
 * to RRsets; then the hash table.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/building.h"
#include "zone/denial.h"
#include "zone/image.h"
#include "zone/nsec3.h"
#include "zone/rdata.h"
#include "zone/zonemd.h"

/* Names per bucket, on average: 75 % full. A search that misses then reads 1.1 lines. */
#define BUCKET_LOAD 9

struct freeze {
	const struct zone_builder *b;
	struct zone *z;
	struct zone_error *err;
	uint32_t *place;        /* builder's node number -> index in canonical order */
	uint32_t *first;        /* canonical index -> first in by_node; n_nodes + 1 */
	uint32_t *by_node;      /* record numbers */
	uint32_t *rrset_record; /* last record of each RRset */
	uint32_t *shared;       /* hash table over rdata already stored: offset + 1 */
	size_t shared_cap;      /* a power of two */
};

/* --- Order of the nodes --- */

static int cmp_siblings(const void *pa, const void *pb, void *arg)
{
	const struct zone_builder *b = arg;
	const struct build_node *x = &b->nodes[*(const uint32_t *)pa];
	const struct build_node *y = &b->nodes[*(const uint32_t *)pb];
	const uint8_t *lx = b->labels + x->label, *ly = b->labels + y->label;
	unsigned n = *lx < *ly ? *lx : *ly;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	for (unsigned i = 1; i <= n; i++)
		if (fold(lx[i]) != fold(ly[i]))
			return fold(lx[i]) - fold(ly[i]);
	return *lx - *ly;
}

/*
 * Preorder without recursion: the size of each subtree, then places handed out from parent to
 * children. Parents have lower numbers than their children, so one pass down and one up are enough.
 */
static int place_nodes(struct freeze *f)
{
	const struct zone_builder *b = f->b;
	uint32_t n = (uint32_t)b->n_nodes;
	uint32_t *size = calloc(n, sizeof(*size)), *next = calloc(n, sizeof(*next));
	uint32_t *sorted = calloc(n, sizeof(*sorted));
	int rc = -ENOMEM;

	if (!size || !next || !sorted)
		goto out;
	for (uint32_t i = n; i-- > 0;) {
		sorted[i] = i;
		size[i]++;
		if (i)
			size[b->nodes[i].parent] += size[i];
	}
	qsort_r(sorted + 1, n - 1, sizeof(*sorted), cmp_siblings, (void *)b);
	f->place[0] = 0;
	next[0] = 1;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t node = sorted[i], parent = b->nodes[node].parent;

		f->place[node] = next[parent];
		next[node] = next[parent] + 1;
		next[parent] += size[node];
	}
	rc = 0;
out:
	free(size);
	free(next);
	free(sorted);
	return rc;
}

/* --- Order of the records --- */

static const uint8_t *record_rdata(const struct zone_builder *b, uint32_t record, unsigned *len)
{
	const uint8_t *p = b->rdata + b->records[record].rdata;

	*len = wire_load_be16(p);
	return p + 2;
}

static int cmp_content(const struct zone_builder *b, uint32_t x, uint32_t y)
{
	const struct build_record *rx = &b->records[x], *ry = &b->records[y];
	unsigned nx, ny;
	const uint8_t *dx = record_rdata(b, x, &nx), *dy = record_rdata(b, y, &ny);

	return rx->type != ry->type ? rx->type - ry->type : rdata_cmp(rx->type, dx, nx, dy, ny);
}

static int cmp_records(const void *px, const void *py, void *arg)
{
	uint32_t x = *(const uint32_t *)px, y = *(const uint32_t *)py;
	int diff = cmp_content(arg, x, y);

	/* Of duplicates the first in the file is kept, letter case and all. */
	return diff ? diff : x < y ? -1 : 1;
}

/* A counting sort by node, then a small sort within each. */
static void order_records(struct freeze *f)
{
	const struct zone_builder *b = f->b;
	uint32_t n_nodes = (uint32_t)b->n_nodes;

	for (size_t i = 0; i < b->n_records; i++)
		f->first[f->place[b->records[i].node]]++;
	for (uint32_t i = 0, sum = 0; i <= n_nodes; i++) {
		sum += f->first[i];
		f->first[i] = sum;
	}
	for (size_t i = b->n_records; i-- > 0;)
		f->by_node[--f->first[f->place[b->records[i].node]]] = (uint32_t)i;
	for (uint32_t i = 0; i < n_nodes; i++)
		if (f->first[i + 1] - f->first[i] > 1)
			qsort_r(f->by_node + f->first[i], f->first[i + 1] - f->first[i],
				sizeof(*f->by_node), cmp_records, (void *)b);
}

/* --- Filling the arrays --- */

/* The rdata just stored, from @start to the end: if the same stands there already, take that. */
static uint32_t share_rdata(struct freeze *f, uint32_t start)
{
	struct zone *z = f->z;
	uint32_t n = z->n_rdata_bytes - start;
	uint64_t h = hash_label(z->seed, 0, z->rdata + start, n);
	size_t at = h & (f->shared_cap - 1);

	for (; f->shared[at]; at = (at + 1) & (f->shared_cap - 1)) {
		uint32_t there = f->shared[at] - 1;

		/* Each record states its length, so equal octets are equal records. */
		if (start - there >= n && !memcmp(z->rdata + there, z->rdata + start, n)) {
			z->n_rdata_bytes = start;
			return there;
		}
	}
	f->shared[at] = start + 1;
	return start;
}

static void warn_ttl(const struct freeze *f, const struct build_record *r,
		     const struct zone_rrset *set)
{
	char type[PROTO_TEXT_MAX];

	proto_type_to_text(type, r->type);
	zone_error_warn(f->err, builder_file_name(f->b, r->file), r->line,
			"the TTLs of the %s records of this owner differ; the lowest, %u, is used",
			type, set->ttl);
}

static void store_record(struct zone *z, const struct zone_builder *b, uint32_t record)
{
	unsigned len;
	const uint8_t *rdata = record_rdata(b, record, &len);

	memcpy(z->rdata + z->n_rdata_bytes, rdata - 2, len + 2);
	z->n_rdata_bytes += len + 2;
	z->n_records++;
}

/*
 * Joins the records from @at on that are of one type; returns the first that is not. Too many for n
 * wait for zone_check().
 */
static uint32_t fill_rrset(struct freeze *f, uint32_t at, uint32_t end)
{
	const struct zone_builder *b = f->b;
	struct zone *z = f->z;
	const struct build_record *r = &b->records[f->by_node[at]];
	struct zone_rrset set = { .rdata = z->n_rdata_bytes, .ttl = r->ttl, .type = r->type };
	uint32_t last = f->by_node[at], prev = last;
	bool ttls_differ = false;

	for (; at < end && b->records[f->by_node[at]].type == set.type; at++) {
		uint32_t record = f->by_node[at];

		last = record > last ? record : last;
		ttls_differ |= b->records[record].ttl != set.ttl;
		if (b->records[record].ttl < set.ttl)
			set.ttl = b->records[record].ttl;
		if ((set.n && !cmp_content(b, prev, record)) || set.n == UINT16_MAX)
			continue;
		store_record(z, b, record);
		prev = record;
		set.n++;
	}
	/* Those of RRSIGs follow the sets that they cover: RFC 4034 section 3. */
	if (ttls_differ && set.type != DNS_TYPE_RRSIG)
		warn_ttl(f, &b->records[last], &set);
	set.rdata = share_rdata(f, set.rdata);
	f->rrset_record[z->n_rrsets] = last;
	z->rrsets[z->n_rrsets++] = set;
	return at;
}

static uint8_t type_flag(uint16_t type, uint32_t index)
{
	switch (type) {
	case DNS_TYPE_NS:
		return index ? NODE_CUT : 0;
	case DNS_TYPE_CNAME:
		return NODE_CNAME;
	case DNS_TYPE_DNAME:
		return NODE_DNAME;
	default:
		return 0;
	}
}

static void fill_node(struct freeze *f, uint32_t index)
{
	struct zone_node *node = &f->z->nodes[index];

	node->rrsets = f->z->n_rrsets;
	for (uint32_t at = f->first[index]; at < f->first[index + 1];) {
		node->flags |= type_flag(f->b->records[f->by_node[at]].type, index);
		at = fill_rrset(f, at, f->first[index + 1]);
	}
}

/* Parents come before their children, so their depth and flags are there. */
static void link_node(struct zone *z, uint32_t index)
{
	struct zone_node *node = &z->nodes[index], *parent = &z->nodes[node->parent];
	const uint8_t *label = z->labels + node->label;

	if (!index)
		return;
	node->depth = (uint8_t)(parent->depth + 1);
	if (parent->flags & (NODE_CUT | NODE_OCCLUDED))
		node->flags |= NODE_OCCLUDED;
	if (label[0] == 1 && label[1] == '*')
		parent->flags |= NODE_WILD;
	for (unsigned i = 1; i <= *label; i++)
		if (fold(label[i]) != label[i])
			node->flags |= NODE_UPPERCASE;
}

static void fill_nodes(struct freeze *f)
{
	const struct zone_builder *b = f->b;
	struct zone *z = f->z;

	for (uint32_t i = 0; i < z->n_nodes; i++) {
		struct zone_node *node = &z->nodes[f->place[i]];

		node->label = b->nodes[i].label;
		node->parent = f->place[b->nodes[i].parent];
	}
	for (uint32_t i = 0; i < z->n_nodes; i++) {
		fill_node(f, i);
		link_node(z, i);
	}
	z->nodes[z->n_nodes].rrsets = z->n_rrsets;
}

static void fill_buckets(struct zone *z)
{
	uint8_t folded[256];

	for (uint32_t i = 1; i < z->n_nodes; i++) {
		const uint8_t *label = z->labels + z->nodes[i].label;
		struct zone_bucket *bucket;
		uint64_t hash;
		uint32_t at;

		name_fold(folded, label, 1u + *label);
		hash = hash_label(z->seed, z->nodes[i].parent, folded + 1, *folded);
		at = hash_bucket(hash, z->n_buckets);
		while (z->buckets[at].n == BUCKET_NODES)
			at = at + 1 == z->n_buckets ? 0 : at + 1;
		bucket = &z->buckets[at];
		bucket->tag[bucket->n] = (uint8_t)hash;
		bucket->node[bucket->n++] = i;
	}
}

/* --- Memory --- */

static struct zone *zone_alloc(struct zone_builder *b)
{
	struct zone *z = calloc(1, sizeof(*z));
	size_t bucket_bytes;

	if (!z)
		return NULL;
	z->seed = b->seed;
	z->n_nodes = (uint32_t)b->n_nodes;
	z->n_label_bytes = (uint32_t)b->n_label_bytes;
	z->n_buckets = z->n_nodes / BUCKET_LOAD + 1;
	z->apex_bytes = (uint16_t)b->apex_bytes;
	z->apex_labels = (uint8_t)b->apex_labels;
	memcpy(z->apex, b->apex, sizeof(z->apex));
	bucket_bytes = z->n_buckets * sizeof(*z->buckets);
	z->nodes = calloc(b->n_nodes + 1, sizeof(*z->nodes));
	z->rrsets = malloc((b->n_records + 1) * sizeof(*z->rrsets));
	z->buckets = aligned_alloc(sizeof(*z->buckets), bucket_bytes);
	z->labels = malloc(b->n_label_bytes + 1);
	z->rdata = malloc(b->n_rdata_bytes + 1);
	if (!z->nodes || !z->rrsets || !z->buckets || !z->labels || !z->rdata) {
		zone_free(z);
		return NULL;
	}
	memset(z->buckets, 0, bucket_bytes);
	if (b->n_label_bytes)
		memcpy(z->labels, b->labels, b->n_label_bytes);
	return z;
}

/* Gives back what duplicates and shared rdata did not need. A refusal leaves the larger block. */
static void zone_shrink(struct zone *z)
{
	void *p = realloc(z->rrsets, (z->n_rrsets + 1u) * sizeof(*z->rrsets));

	if (p)
		z->rrsets = p;
	p = realloc(z->rdata, (size_t)z->n_rdata_bytes + 1);
	if (p)
		z->rdata = p;
}

static int freeze_alloc(struct freeze *f, struct zone_builder *b)
{
	f->shared_cap = 64;
	while (f->shared_cap < b->n_records * 3 / 2)
		f->shared_cap *= 2;
	f->place = calloc(b->n_nodes, sizeof(*f->place));
	f->first = calloc(b->n_nodes + 1, sizeof(*f->first));
	f->by_node = calloc(b->n_records + 1, sizeof(*f->by_node));
	f->rrset_record = calloc(b->n_records + 1, sizeof(*f->rrset_record));
	f->shared = calloc(f->shared_cap, sizeof(*f->shared));
	f->z = zone_alloc(b);
	return f->place && f->first && f->by_node && f->rrset_record && f->shared && f->z ? 0 :
											    -ENOMEM;
}

static void freeze_free(struct freeze *f)
{
	free(f->place);
	free(f->first);
	free(f->by_node);
	free(f->rrset_record);
	free(f->shared);
	zone_free(f->z);
}

/* RFC 2308 section 5: the SOA's own TTL or its last field, whichever is less. */
static void read_soa(struct zone *z)
{
	const struct zone_rrset *soa = zone_soa(z);
	struct zone_rdata rd;
	uint32_t minimum;

	zone_rdata_next(zone_rrset_first(z, soa), &rd);
	z->serial = wire_load_be32(rd.bytes + rd.len - 20);
	minimum = wire_load_be32(rd.bytes + rd.len - 4);
	z->negative_ttl = minimum < soa->ttl ? minimum : soa->ttl;
	z->is_signed = zone_node_rrset(z, z->nodes, DNS_TYPE_DNSKEY) != NULL;
}

static int find_chain(const struct zone_builder *b, struct zone *z, struct zone_error *err)
{
	const char *file = builder_file_name(b, 0);
	int rc = zone_find_chain(z);

	if (rc == ERR_LIMIT)
		return zone_error_set(err, file, 0,
				      "its NSEC3 chain has %u iterations, more than %u",
				      z->nsec3_iterations, ZONE_NSEC3_ITERATIONS_MAX);
	if (rc)
		return rc;
	if (z->chain == ZONE_CHAIN_NSEC3 && z->nsec3_iterations > ZONE_NSEC3_ITERATIONS_WARN)
		zone_error_warn(err, file, 0,
				"validators take a zone with %u iterations of NSEC3 as unsigned",
				z->nsec3_iterations);
	if (z->is_signed && z->chain == ZONE_CHAIN_NONE)
		zone_error_warn(err, file, 0,
				"there is a DNSKEY, but no NSEC or NSEC3 chain from the apex on");
	return 0;
}

int zone_builder_finish(struct zone_builder *b, struct zone **out, struct zone_error *err)
{
	struct freeze f = { .b = b, .err = err };
	int rc = freeze_alloc(&f, b);

	*out = NULL;
	if (!rc)
		rc = place_nodes(&f);
	if (rc)
		goto out;
	order_records(&f);
	fill_nodes(&f);
	fill_buckets(f.z);
	rc = zone_check(b, f.z, f.rrset_record, err);
	if (rc)
		goto out;
	zone_shrink(f.z);
	read_soa(f.z);
	rc = find_chain(b, f.z, err);
	if (!rc)
		rc = zonemd_check(f.z, builder_file_name(b, 0), err);
	if (!rc)
		rc = zone_compute_digest(f.z);
	if (rc)
		goto out;
	*out = f.z;
	f.z = NULL;
out:
	freeze_free(&f);
	return rc;
}
