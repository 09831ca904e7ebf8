/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of blocks (xdp/block.h) as its one writer has it, over memory that the driver and the
 * engines read at the same time. No reader waits, and none is waited for but before a place is used
 * again:
 *
 *      remove ─► limbo ─► block_table_retire() ─► a grace period ─► block_table_reclaim() ─► free
 *
 * A table does not grow: a larger one is made beside it, filled from it, and takes its place.
 *
 * Octets for n blocks: 32 n for themselves, 16 n for their words, 4 MiB for the filters; at least 6
 * MiB. The writer has 4 n more, and one for each bit of the filters.
 *
 * One thread writes. The caller's clock is the one that the driver compares with: coarse monotonic
 * seconds.
 */
#ifndef VOLLEY_ENGINE_BLOCK_TABLE_H
#define VOLLEY_ENGINE_BLOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/block.h"

#define BLOCK_TABLE_MIN 1024u
#define BLOCK_TABLE_MAX (4u << 20)

struct block_table {
	void *memory; /* the caller's */
	struct volley_block_head *head;
	uint32_t cap; /* blocks */
	uint32_t n;
	uint32_t n_of[VOLLEY_BLOCK_TYPE + 1]; /* by kind */
	uint32_t n_in_group[2][VOLLEY_BLOCK_GROUPS6];
	uint32_t n_lines;              /* of each filter */
	uint8_t *counts[2];            /* for each bit of a filter: by how many blocks it is set */
	uint32_t first_at;             /* location of the first place */
	uint32_t n_ever;               /* places that were used at some time */
	uint32_t *next;                /* of each place, in one of these chains; 0: the end */
	uint32_t free, limbo, retired; /* number of a place and 1 */
};

/* Chunks of memory for so many blocks, at most BLOCK_TABLE_MAX. */
uint32_t block_table_chunks(uint32_t cap);

/* Secret numbers for all tables of a daemon: so a key of one is a key of all. 0 or -errno. */
int block_table_secrets(struct volley_block_head *secrets) __attribute__((warn_unused_result));

/* An empty table over zeroed memory of block_table_chunks(cap) chunks. 0 or -ENOMEM. */
int block_table_init(struct block_table *t, void *memory, uint32_t cap,
		     const struct volley_block_head *secrets) __attribute__((warn_unused_result));
/* Leaves the memory. Zeroed: nothing happens. */
void block_table_fini(struct block_table *t);

/* What is blocked, as keys. `address` in network order, 4 or 16 octets; bits behind the prefix do
 * not count. */
struct volley_block_key block_key_prefix(bool is_ipv6, const uint8_t *address, unsigned int bits);
struct volley_block_key block_key_type(uint16_t type);
struct volley_block_key block_key_name(const struct volley_block_head *secrets,
				       const uint8_t *folded, unsigned int bytes);

/*
 * Adds a block, or gives one that is there another rule; what it has met stays. -ENOSPC: no place
 * is free until block_table_reclaim(), or the table is too full.
 */
int block_table_set(struct block_table *t, const struct volley_block_key *key, uint64_t rule)
	__attribute__((warn_unused_result));
/* False: there is none. */
bool block_table_remove(struct block_table *t, const struct volley_block_key *key);

/* The block of this key, whose fields the driver changes, or NULL. */
struct volley_block *block_table_get(const struct block_table *t,
				     const struct volley_block_key *key);

/* What was removed until now is about to be free. False: nothing was, or what was before is not
 * reclaimed yet. */
bool block_table_retire(struct block_table *t);
/* A grace period has passed since. */
void block_table_reclaim(struct block_table *t);

/* Calls fn for each block. Stops at what is not 0 and returns it. */
typedef int block_table_fn(void *user, const struct volley_block_key *key,
			   const struct volley_block *block);
int block_table_each(const struct block_table *t, block_table_fn *fn, void *user);

/* VOLLEY_BLOCKS_* of what is in it. */
uint32_t block_table_kinds(const struct block_table *t);

#endif
