/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How an engine looks for blocks: in the table that the driver uses (xdp/block.h), in the same way.
 *
 *      the client's longest prefix ─► the longest suffix of the name ─► the type
 *
 * The first of these three that does not say `allow` decides. Expired blocks do not count.
 */
#ifndef VOLLEY_LIMITS_BLOCK_LOOKUP_H
#define VOLLEY_LIMITS_BLOCK_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "dns/query.h"
#include "xdp/block.h"

struct blocks {
	void *table;    /* the memory of a struct block_table */
	uint32_t kinds; /* VOLLEY_BLOCKS_* */
	struct blocks_met {
		__u64 of[VOLLEY_BLOCK_LISTS]; /* packets that met each list; atomic */
	} * met;
};

/* What decided. action is VOLLEY_BLOCK_NONE if no block did. */
struct blocks_verdict {
	enum volley_block_action action;
	struct volley_block *block;
	bool is_client; /* a block of the client's prefix decided, not one of the question */
};

/* For a client (4 or 16 octets in network order). Any thread, under RCU, as all of these. */
struct blocks_verdict blocks_client(const struct blocks *b, uint8_t family, const uint8_t *address,
				    uint32_t now_s);

/* For a question: its folded name with the root label, and its type. */
struct blocks_verdict blocks_question(const struct blocks *b, const uint8_t *folded,
				      unsigned int bytes, uint16_t qtype, uint32_t now_s);

/*
 * Both, for a message: q is the question, or NULL if the message is not understood. An `allow` of a
 * prefix does not allow a name.
 */
struct blocks_verdict blocks_judge(const struct blocks *b, uint8_t family, const uint8_t *address,
				   const struct query *q, uint32_t now_s);

/* True if the message may be answered. */
static inline bool blocks_lets_through(const struct blocks_verdict *v)
{
	return v->action == VOLLEY_BLOCK_NONE || v->action == VOLLEY_BLOCK_ALLOW;
}

/* Counts a packet that met the block. The side that acts on the verdict counts it, driver or
 * worker, so that a packet counts once. */
void blocks_count(const struct blocks *b, struct volley_block *block);

#endif
