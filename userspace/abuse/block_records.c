/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "abuse/block_records.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_block_record(const void *a, const void *b)
{
	const struct volley_block_key *x = a, *y = b; /* a record begins with its key */
	int order = compare_numbers(x->kind_bits & 0xff, y->kind_bits & 0xff);

	if (!order)
		order = compare_numbers(x->high, y->high);
	if (!order)
		order = compare_numbers(x->low, y->low);
	return order ? order : compare_numbers(x->kind_bits, y->kind_bits);
}

static void forget_block_record(void *record)
{
	free(record);
}

void block_records_fini(struct block_records *r)
{
	tdestroy(r->tree, forget_block_record);
	free(r->heap);
	*r = (struct block_records){ 0 };
}

struct block_record *block_records_find(const struct block_records *r,
					const struct volley_block_key *key)
{
	void *at = tfind(key, &r->tree, compare_block_record);

	return at ? *(struct block_record **)at : NULL;
}

struct block_record *block_records_add(struct block_records *r, const struct volley_block_key *key,
				       const char *what, const char *why)
{
	size_t n_what = strlen(what) + 1, n_why = strlen(why) + 1;
	struct block_record *record = calloc(1, sizeof(*record) + n_what + n_why);

	if (!record)
		return NULL;
	record->key = *key;
	memcpy(record->what, what, n_what);
	record->why = record->what + n_what;
	memcpy(record->why, why, n_why);
	record->expires_s = VOLLEY_NEVER;
	if (!tsearch(record, &r->tree, compare_block_record)) {
		free(record);
		return NULL;
	}
	r->n++;
	return record;
}

void block_records_remove(struct block_records *r, struct block_record *record)
{
	tdelete(record, &r->tree, compare_block_record);
	free(record);
	r->n--;
}

/* ---- The heap -------------------------------------------------------------------------------- */

static void exchange_block_record(struct block_expiry *a, struct block_expiry *b)
{
	struct block_expiry c = *a;

	*a = *b;
	*b = c;
}

static void sink(struct block_records *r)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < r->n_heap) {
		if (child + 1 < r->n_heap &&
		    r->heap[child + 1].expires_s < r->heap[child].expires_s)
			child++;
		if (r->heap[at].expires_s <= r->heap[child].expires_s)
			return;
		exchange_block_record(&r->heap[at], &r->heap[child]);
		at = child;
	}
}

static int grow_block_record(struct block_records *r)
{
	size_t cap = r->heap_cap ? 2 * r->heap_cap : 64;
	struct block_expiry *heap = reallocarray(r->heap, cap, sizeof(*heap));

	if (!heap)
		return -ENOMEM;
	r->heap = heap;
	r->heap_cap = cap;
	return 0;
}

int block_records_expire(struct block_records *r, struct block_record *record, uint32_t expires_s)
{
	size_t at = r->n_heap;

	record->expires_s = expires_s;
	if (expires_s == VOLLEY_NEVER)
		return 0;
	if (r->n_heap == r->heap_cap && grow_block_record(r))
		return -ENOMEM;
	r->heap[r->n_heap++] = (struct block_expiry){ expires_s, record->key };
	for (; at && r->heap[(at - 1) / 2].expires_s > expires_s; at = (at - 1) / 2)
		exchange_block_record(&r->heap[at], &r->heap[(at - 1) / 2]);
	return 0;
}

struct block_record *block_records_expired(struct block_records *r, uint32_t now_s)
{
	while (r->n_heap && r->heap[0].expires_s <= now_s) {
		struct block_record *record = block_records_find(r, &r->heap[0].key);

		r->heap[0] = r->heap[--r->n_heap];
		sink(r);
		if (record && record->expires_s <= now_s)
			return record;
	}
	return NULL;
}

/* ---- All of them ----------------------------------------------------------------------------- */

struct walk {
	block_record_fn *fn;
	void *user;
};

static void visit_block_record(const void *node, VISIT which, void *closure)
{
	struct walk *walk = closure;

	if (which == postorder || which == leaf)
		walk->fn(walk->user, *(struct block_record *const *)node);
}

void block_records_each(const struct block_records *r, block_record_fn *fn, void *user)
{
	struct walk walk = { fn, user };

	twalk_r(r->tree, visit_block_record, &walk);
}
