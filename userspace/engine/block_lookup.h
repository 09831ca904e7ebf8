/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks as an engine asks for them: the table that the driver looks into (xdp/block.h), looked at
 * alike.
 *
 *      the client's longest prefix ─► the longest suffix of the name ─► the type
 *
 * The first of these three that does not say `allow` decides. What has expired is as if it were not
 * there.
 */
#ifndef VOLLEY_ENGINE_BLOCK_LOOKUP_H
#define VOLLEY_ENGINE_BLOCK_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "dns/query.h"
#include "xdp/block.h"

struct blocks {
	void *table;    /* of a struct block_table */
	uint32_t kinds; /* VOLLEY_BLOCKS_* */
	struct blocks_met {
		__u64 of[VOLLEY_BLOCK_LISTS]; /* packets that each list has met; atomic */
	} * met;
};

/* What decided; NULL where nothing did. */
struct blocks_verdict {
	enum volley_block_action action;
	struct volley_block *block;
	bool is_client; /* its prefix did, not what it asks */
};

/* For a client (4 or 16 octets in network order). Any thread, under RCU, as the others. */
struct blocks_verdict blocks_client(const struct blocks *b, uint8_t family, const uint8_t *address,
				    uint32_t now_s);

/* For a question: its folded name with the root label, and its type. */
struct blocks_verdict blocks_question(const struct blocks *b, const uint8_t *folded,
				      unsigned int bytes, uint16_t qtype, uint32_t now_s);

/*
 * Both, for a message: q is what it asks, or NULL where that is not understood. `allow` of a prefix
 * allows no name.
 */
struct blocks_verdict blocks_judge(const struct blocks *b, uint8_t family, const uint8_t *address,
				   const struct query *q, uint32_t now_s);

/* Whether the verdict is that it may be answered, with whatever its answer is. */
static inline bool blocks_lets_through(const struct blocks_verdict *v)
{
	return v->action == VOLLEY_BLOCK_NONE || v->action == VOLLEY_BLOCK_ALLOW;
}

/* The block has met a packet. Whoever acts on a verdict counts it, so that none is counted by
 * driver and worker. */
void blocks_count(const struct blocks *b, struct volley_block *block);

#endif
