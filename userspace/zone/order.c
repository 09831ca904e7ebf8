/* SPDX-License-Identifier: GPL-2.0-only */
#include "zone/order.h"

#include <errno.h>
#include <stdlib.h>

#include "zone/image.h"

/* Below this a sort by comparison is quicker than the passes of a radix sort. */
#define RADIX_MIN 256

struct keyed {
	uint64_t key; /* the first octets of the folded label, first one highest */
	uint32_t node;
};

struct order {
	const struct zone_builder *b;
	uint32_t *first;      /* node -> first of its children in sorted; n_nodes + 1 */
	uint32_t *sorted;     /* all nodes but the apex, by parent */
	struct keyed *keys;   /* for the largest family */
	struct keyed *keys_2; /* the other side of a radix pass */
};

static const uint8_t *label_of(const struct zone_builder *b, uint32_t node)
{
	return b->labels + b->nodes[node].label;
}

static int cmp_labels(const uint8_t *x, const uint8_t *y)
{
	unsigned n = *x < *y ? *x : *y;

	for (unsigned i = 1; i <= n; i++)
		if (fold(x[i]) != fold(y[i]))
			return fold(x[i]) - fold(y[i]);
	return *x - *y;
}

static int cmp_siblings(const void *px, const void *py, void *arg)
{
	return cmp_labels(label_of(arg, *(const uint32_t *)px),
			  label_of(arg, *(const uint32_t *)py));
}

/* --- One family --- */

static uint64_t key_of(const uint8_t *label)
{
	uint64_t key = 0;

	for (unsigned i = 1; i <= 8; i++)
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

/* By key; returns which of the two arrays holds the result. */
static struct keyed *radix_sort(struct order *o, uint32_t n)
{
	struct keyed *from = o->keys, *to = o->keys_2;

	for (unsigned shift = 0; shift < 64; shift += 8) {
		uint32_t counts[256] = { 0 };
		struct keyed *swap;

		for (uint32_t i = 0; i < n; i++)
			counts[from[i].key >> shift & 255]++;
		if (counts[from[0].key >> shift & 255] == n)
			continue; /* all the same here */
		radix_pass(from, to, n, shift, counts);
		swap = from;
		from = to;
		to = swap;
	}
	return from;
}

/* Runs of one key differ behind its octets, or in length. */
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
		if (cmp_labels(label_of(b, family[i - 1]), label_of(b, family[i])) > 0)
			return false;
	return true;
}

static void sort_family(struct order *o, uint32_t *family, uint32_t n)
{
	const struct keyed *keys;

	if (is_sorted(o->b, family, n))
		return;
	if (n < RADIX_MIN) {
		qsort_r(family, n, sizeof(*family), cmp_siblings, (void *)o->b);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		o->keys[i] = (struct keyed){ key_of(label_of(o->b, family[i])), family[i] };
	keys = radix_sort(o, n);
	for (uint32_t i = 0; i < n; i++)
		family[i] = keys[i].node;
	sort_runs(o, keys, family, n);
}

/* --- All of them --- */

/* Counting by parent keeps the order of making, which is that of a sorted file. */
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

static int sort_families(struct order *o)
{
	uint32_t n = (uint32_t)o->b->n_nodes, largest = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = o->first[i + 1] - o->first[i];

		largest = size > largest ? size : largest;
	}
	if (largest >= RADIX_MIN) {
		o->keys = malloc(largest * sizeof(*o->keys));
		o->keys_2 = malloc(largest * sizeof(*o->keys_2));
		if (!o->keys || !o->keys_2)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		if (o->first[i + 1] - o->first[i] > 1)
			sort_family(o, o->sorted + o->first[i], o->first[i + 1] - o->first[i]);
	return 0;
}

/*
 * Preorder without recursion: the size of each subtree, then places handed out from parent to
 * children. Parents have lower numbers than their children, so one pass up and one down are enough.
 */
static int hand_out(const struct order *o, uint32_t *place)
{
	const struct zone_builder *b = o->b;
	uint32_t n = (uint32_t)b->n_nodes;
	uint32_t *size = calloc(n, sizeof(*size));

	if (!size)
		return -ENOMEM;
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

int order_nodes(const struct zone_builder *b, uint32_t *place)
{
	struct order o = { .b = b };
	int rc = -ENOMEM;

	o.first = calloc(b->n_nodes + 1, sizeof(*o.first));
	o.sorted = malloc(b->n_nodes * sizeof(*o.sorted));
	if (o.first && o.sorted) {
		sort_by_parent(&o);
		rc = sort_families(&o);
	}
	free(o.keys);
	free(o.keys_2);
	if (!rc)
		rc = hand_out(&o, place);
	free(o.first);
	free(o.sorted);
	return rc;
}
