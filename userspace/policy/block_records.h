/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks that commands have set: found by what they block, and in the order in which they
 * expire. Control's thread.
 */
#ifndef VOLLEY_POLICY_BLOCK_RECORDS_H
#define VOLLEY_POLICY_BLOCK_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/block_table.h"

struct block_record {
	struct volley_block_key key;
	uint32_t expires_s; /* coarse monotonic second; VOLLEY_NEVER */
	uint32_t action;
	uint64_t wall_expires_s; /* 0: never */
	uint64_t hidden;         /* the rule of a list that it hides; 0: none */
	uint64_t met_before;     /* packets, in tables that have been replaced */
	char *why;               /* "" is none; behind `what`, in one piece of memory */
	char what[];
};

struct block_expiry {
	uint32_t expires_s;
	struct volley_block_key key;
};

struct block_records {
	void *tree; /* tsearch(3) */
	size_t n;
	struct block_expiry *heap; /* the earliest first; outdated items stay until they are due */
	size_t n_heap, heap_cap;
};

/* Leaves it empty. */
void block_records_fini(struct block_records *r);

struct block_record *block_records_find(const struct block_records *r,
					const struct volley_block_key *key);
/* A new one, or NULL: no memory. There is none of this key. */
struct block_record *block_records_add(struct block_records *r, const struct volley_block_key *key,
				       const char *what, const char *why);
void block_records_remove(struct block_records *r, struct block_record *record);

/* It expires then; 0 or -ENOMEM. */
int block_records_expire(struct block_records *r, struct block_record *record, uint32_t expires_s)
	__attribute__((warn_unused_result));
/* One that has expired, or NULL. It is the caller's to remove. */
struct block_record *block_records_expired(struct block_records *r, uint32_t now_s);

/* Calls fn for each, in the order of their keys. fn removes none. */
typedef void block_record_fn(void *user, struct block_record *record);
void block_records_each(const struct block_records *r, block_record_fn *fn, void *user);

#endif
