/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of blocks (xdp/block.h) for its one writer. The driver and the engines read the same
 * memory at the same time and never wait. The writer waits for readers only before it uses a place
 * again:
 *
 *      remove ─► limbo ─► block_table_retire() ─► grace period ─► block_table_reclaim() ─► free
 *
 * A table does not grow: the owner makes a larger one, copies the blocks to it and puts it in place
 * of the old one.
 *
 * Octets for n blocks: 32 n for the blocks, 16 n for their words, 4 MiB for the filters; at least 6
 * MiB. The writer has 4 n more, and one for each bit of the filters.
 *
 * One thread writes. The caller's clock is the one that the driver uses: coarse monotonic seconds.
 */
#ifndef VOLLEY_LIMITS_BLOCK_TABLE_H
#define VOLLEY_LIMITS_BLOCK_TABLE_H

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
	uint8_t *counts[2];            /* for each bit of a filter: how many blocks set it */
	uint32_t first_at;             /* location of the first place */
	uint32_t n_ever;               /* places that were used at some time */
	uint32_t *next;                /* for each place: the next one in its chain; 0: the end */
	uint32_t free, limbo, retired; /* heads of the chains: number of a place + 1; 0: empty */
};

/* Chunks of memory for cap blocks, at most BLOCK_TABLE_MAX. */
uint32_t block_table_chunks(uint32_t cap);

/* Makes secret numbers for all tables of a daemon, so that a key is the same in all of them. 0 or
 * -errno. */
int block_table_secrets(struct volley_block_head *secrets) __attribute__((warn_unused_result));

/* An empty table over zeroed memory of block_table_chunks(cap) chunks. 0 or -ENOMEM. */
int block_table_init(struct block_table *t, void *memory, uint32_t cap,
		     const struct volley_block_head *secrets) __attribute__((warn_unused_result));
/* Does not free the caller's memory. Does nothing on a zeroed table. */
void block_table_fini(struct block_table *t);

/* Keys. `address` in network order, 4 or 16 octets; bits behind the prefix do not count. */
struct volley_block_key block_key_prefix(bool is_ipv6, const uint8_t *address, unsigned int bits);
struct volley_block_key block_key_type(uint16_t type);
struct volley_block_key block_key_name(const struct volley_block_head *secrets,
				       const uint8_t *folded, unsigned int bytes);

/*
 * Adds a block, or gives an existing one another rule; its count of packets stays. -ENOSPC: no
 * place is free until block_table_reclaim(), or the table is too full.
 */
int block_table_set(struct block_table *t, const struct volley_block_key *key, uint64_t rule)
	__attribute__((warn_unused_result));
/* False: there is no such block. */
bool block_table_remove(struct block_table *t, const struct volley_block_key *key);

/* The block of this key, or NULL. The driver changes its fields. */
struct volley_block *block_table_get(const struct block_table *t,
				     const struct volley_block_key *key);

/* Begins to free the places that were removed until now. False: there are none, or earlier ones are
 * not reclaimed yet. */
bool block_table_retire(struct block_table *t);
/* Frees these places. A grace period has passed since block_table_retire(). */
void block_table_reclaim(struct block_table *t);

/* Calls fn for each block. Stops when fn returns other than 0, and returns that. */
typedef int block_table_fn(void *user, const struct volley_block_key *key,
			   const struct volley_block *block);
int block_table_each(const struct block_table *t, block_table_fn *fn, void *user);

/* VOLLEY_BLOCKS_* of the blocks in the table. */
uint32_t block_table_kinds(const struct block_table *t);

#endif
