/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/building.h"

#include <errno.h>
#include <stdlib.h>

#include "dns/name.h"
#include "zone/image.h"

/* Below this a sort by comparison is faster than the passes of a radix sort. */
#define RADIX_MIN 256
/* Larger families are split by one octet first, so that the arrays of keys fit into the cache. */
#define RADIX_MAX 65536

#define FEW_PARTS 32 /* up to so many parts of a node are sorted by insertion */

#define SPLITS 257 /* the end of the label, then the values of an octet */

struct keyed {
	uint64_t key; /* eight octets of the folded label, the first one highest */
	uint32_t node;
};

struct order {
	const struct zone_builder *b;
	uint32_t *first;      /* node -> index in @sorted of its first child; n_nodes + 1 */
	uint32_t *sorted;     /* all nodes but the apex, by parent */
	uint32_t *split;      /* room for a split; as large as the largest family */
	struct keyed *keys;   /* RADIX_MAX */
	struct keyed *keys_2; /* the output of a radix pass */
};

static const uint8_t *label_of(const struct zone_builder *b, uint32_t node)
{
	return b->labels + b->nodes[node].label;
}

static int cmp_siblings(const void *px, const void *py, void *arg)
{
	return name_label_cmp(label_of(arg, *(const uint32_t *)px),
			      label_of(arg, *(const uint32_t *)py));
}

/* --- One family --- */

/* The eight octets after the first @depth. */
static uint64_t key_of_order(const uint8_t *label, unsigned depth)
{
	uint64_t key = 0;

	for (unsigned i = depth + 1; i <= depth + 8; i++)
		key = key << 8 | (i <= *label ? fold(label[i]) : 0);
	return key;
}

static void radix_pass(const struct keyed *from, struct keyed *to, uint32_t n, unsigned shift,
		       const uint32_t counts[256])
{
	uint32_t at[256], sum = 0;

	for (unsigned i = 0; i < 256; i++) {
		at[i] = sum;
		sum += counts[i];
	}
	for (uint32_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & 255]++] = from[i];
}

/* Sorts by key. Returns the array with the result, @keys or @keys_2. */
static struct keyed *radix_sort(struct order *o, uint32_t n)
{
	struct keyed *from = o->keys, *to = o->keys_2;

	for (unsigned shift = 0; shift < 64; shift += 8) {
		uint32_t counts[256] = { 0 };
		struct keyed *swap;

		for (uint32_t i = 0; i < n; i++)
			counts[from[i].key >> shift & 255]++;
		if (counts[from[0].key >> shift & 255] == n)
			continue; /* all have the same octet */
		radix_pass(from, to, n, shift, counts);
		swap = from;
		from = to;
		to = swap;
	}
	return from;
}

/* Labels with the same key differ after its octets, or in length. */
static void sort_runs(const struct order *o, const struct keyed *keys, uint32_t *family, uint32_t n)
{
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && keys[end].key == keys[i].key;)
			end++;
		if (end - i > 1)
			qsort_r(family + i, end - i, sizeof(*family), cmp_siblings, (void *)o->b);
	}
}

static bool is_sorted(const struct zone_builder *b, const uint32_t *family, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (name_label_cmp(label_of(b, family[i - 1]), label_of(b, family[i])) > 0)
			return false;
	return true;
}

static void sort_by_key(struct order *o, uint32_t *family, uint32_t n, unsigned depth)
{
	const struct keyed *keys;

	for (uint32_t i = 0; i < n; i++)
		o->keys[i] =
			(struct keyed){ key_of_order(label_of(o->b, family[i]), depth), family[i] };
	keys = radix_sort(o, n);
	for (uint32_t i = 0; i < n; i++)
		family[i] = keys[i].node;
	sort_runs(o, keys, family, n);
}

static unsigned octet_of(const uint8_t *label, unsigned depth)
{
	return depth < *label ? fold(label[depth + 1]) + 1u : 0;
}

/* Splits by the octet after the first @depth: labels with value i begin at starts[i]. */
static void split_order(struct order *o, uint32_t *family, uint32_t n, unsigned depth,
			uint32_t starts[SPLITS + 1])
{
	uint32_t at[SPLITS];

	memset(starts, 0, (SPLITS + 1) * sizeof(*starts));
	for (uint32_t i = 0; i < n; i++)
		starts[octet_of(label_of(o->b, family[i]), depth) + 1]++;
	for (unsigned i = 0; i < SPLITS; i++) {
		at[i] = starts[i];
		starts[i + 1] += starts[i];
	}
	for (uint32_t i = 0; i < n; i++)
		o->split[at[octet_of(label_of(o->b, family[i]), depth)]++] = family[i];
	memcpy(family, o->split, n * sizeof(*family));
}

/* All labels begin with the same @depth octets. They differ, so the recursion ends. */
static void sort_family(struct order *o, uint32_t *family, uint32_t n, unsigned depth)
{
	uint32_t starts[SPLITS + 1];

	if (n < RADIX_MIN) {
		qsort_r(family, n, sizeof(*family), cmp_siblings, (void *)o->b);
	} else if (n <= RADIX_MAX) {
		sort_by_key(o, family, n, depth);
	} else {
		split_order(o, family, n, depth, starts);
		for (unsigned i = 1; i < SPLITS; i++)
			if (starts[i + 1] - starts[i] > 1)
				sort_family(o, family + starts[i], starts[i + 1] - starts[i],
					    depth + 1);
	}
}

/* --- All families --- */

/* Keeps the order in which nodes were made, which is the right one for a sorted file. */
static void sort_by_parent(struct order *o)
{
	const struct zone_builder *b = o->b;
	uint32_t n = (uint32_t)b->n_nodes;

	for (uint32_t i = 1; i < n; i++)
		o->first[b->nodes[i].parent]++;
	for (uint32_t i = 0, sum = 0; i <= n; i++) {
		sum += o->first[i];
		o->first[i] = sum;
	}
	for (uint32_t i = n; i-- > 1;)
		o->sorted[--o->first[b->nodes[i].parent]] = i;
}

/* Allocates the arrays of sort_family(). */
static int order_room_for(struct order *o, uint32_t largest)
{
	if (largest < RADIX_MIN)
		return 0;
	o->keys = malloc(RADIX_MAX * sizeof(*o->keys));
	o->keys_2 = malloc(RADIX_MAX * sizeof(*o->keys_2));
	if (!o->keys || !o->keys_2)
		return -ENOMEM;
	if (largest <= RADIX_MAX)
		return 0;
	o->split = malloc(largest * sizeof(*o->split));
	return o->split ? 0 : -ENOMEM;
}

static int sort_families(struct order *o)
{
	uint32_t n = (uint32_t)o->b->n_nodes, largest = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = o->first[i + 1] - o->first[i];

		largest = size > largest ? size : largest;
	}
	if (order_room_for(o, largest))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *family = o->sorted + o->first[i], size = o->first[i + 1] - o->first[i];

		if (!is_sorted(o->b, family, size))
			sort_family(o, family, size, 0);
	}
	return 0;
}

/*
 * Preorder without recursion: finds the size of each subtree, then gives each child its place from
 * that of its parent. Parents have lower numbers than their children, so one pass up and one down
 * are enough.
 */
static int hand_out_order(const struct order *o, uint32_t **out)
{
	const struct zone_builder *b = o->b;
	uint32_t n = (uint32_t)b->n_nodes;
	uint32_t *size = calloc(n, sizeof(*size)), *place = malloc(n * sizeof(*place));

	if (!size || !place) {
		free(size);
		free(place);
		return -ENOMEM;
	}
	*out = place;
	for (uint32_t i = n; i-- > 0;) {
		size[i]++;
		if (i)
			size[b->nodes[i].parent] += size[i];
	}
	place[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t next = place[i] + 1;

		for (uint32_t k = o->first[i]; k < o->first[i + 1]; k++) {
			place[o->sorted[k]] = next;
			next += size[o->sorted[k]];
		}
	}
	free(size);
	return 0;
}

int order_nodes(const struct zone_builder *b, uint32_t **place)
{
	struct order o = { .b = b };
	int rc = -ENOMEM;

	*place = NULL;
	o.first = calloc(b->n_nodes + 1, sizeof(*o.first));
	o.sorted = malloc(b->n_nodes * sizeof(*o.sorted));
	if (o.first && o.sorted) {
		sort_by_parent(&o);
		rc = sort_families(&o);
	}
	free(o.split);
	free(o.keys);
	free(o.keys_2);
	if (!rc)
		rc = hand_out_order(&o, place);
	free(o.first);
	free(o.sorted);
	return rc;
}

/* --- Parts --- */

static void swap_parts(struct zone_builder *b, uint32_t i, uint32_t k)
{
	struct zone_rrset part = b->parts[i];
	struct build_origin origin = b->origins[i];

	b->parts[i] = b->parts[k];
	b->origins[i] = b->origins[k];
	b->parts[k] = part;
	b->origins[k] = origin;
}

/*
 * Puts the parts from @start to @end in order. @sources has the part for each place; afterwards
 * each place is its own source.
 */
static void move_parts(struct zone_builder *b, uint32_t *sources, uint32_t start, uint32_t end)
{
	for (uint32_t i = start; i < end; i++) {
		uint32_t at = i, from;

		/* The part from @i goes to the last place of the cycle. */
		for (; sources[at] != i; at = from) {
			from = sources[at];
			sources[at] = at;
			swap_parts(b, at, from);
		}
		sources[at] = at;
	}
}

/* A counting sort by node, which keeps the order of the parts of a node. */
static void order_by_node(struct zone_builder *b, const uint32_t *place, uint32_t *first,
			  uint32_t *sources)
{
	uint32_t n_nodes = (uint32_t)b->n_nodes, n_parts = (uint32_t)b->n_parts;

	for (uint32_t i = 0; i < n_parts; i++)
		first[place[b->origins[i].node]]++;
	for (uint32_t i = 0, sum = 0; i <= n_nodes; i++) {
		sum += first[i];
		first[i] = sum;
	}
	for (uint32_t i = n_parts; i-- > 0;) {
		sources[--first[place[b->origins[i].node]]] = i;
		b->origins[i].number = i;
	}
	move_parts(b, sources, 0, n_parts);
}

static int cmp_parts(const void *px, const void *py, void *arg)
{
	const struct zone_builder *b = arg;
	uint32_t x = *(const uint32_t *)px, y = *(const uint32_t *)py;
	int diff = b->parts[x].type - b->parts[y].type;

	return diff ? diff : x < y ? -1 : 1;
}

/* Sorts the parts of one node: nearly always few, and nearly in order. */
static void order_by_type(struct zone_builder *b, uint32_t *sources, uint32_t start, uint32_t end)
{
	if (end - start > FEW_PARTS) {
		qsort_r(sources + start, end - start, sizeof(*sources), cmp_parts, b);
		move_parts(b, sources, start, end);
		return;
	}
	for (uint32_t i = start + 1; i < end; i++)
		for (uint32_t at = i; at > start && b->parts[at - 1].type > b->parts[at].type; at--)
			swap_parts(b, at - 1, at);
}

int order_parts(struct zone_builder *b, const uint32_t *place, uint32_t **first)
{
	uint32_t *sources = malloc((b->n_parts + 1) * sizeof(*sources));

	*first = calloc(b->n_nodes + 1, sizeof(**first));
	if (!sources || !*first) {
		free(sources);
		free(*first);
		*first = NULL;
		return -ENOMEM;
	}
	order_by_node(b, place, *first, sources);
	for (uint32_t i = 0; i < b->n_nodes; i++)
		order_by_type(b, sources, (*first)[i], (*first)[i + 1]);
	free(sources);
	return 0;
}
