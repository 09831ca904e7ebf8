/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The boards of a resolver: all that its threads count and show. They lie in memory that the server
 * has mapped too (resolver/shared_memory.h), so reports need no answer of the process, and a
 * process that hangs still shows its last state.
 *
 *	board of thread 0: heartbeat, counters, upstreams, failures, rows of targets
 *	board of thread 1: ...
 *
 * A thread writes its own board, without a lock; each value is whole. The server believes nothing:
 * querier/inspect.h checks what it copies.
 */
#ifndef VOLLEY_RESOLVER_BOARD_H
#define VOLLEY_RESOLVER_BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/failure_table.h"
#include "resolver/forward_board.h"
#include "resolver/resolver_counters.h"
#include "resolver/targets.h"

struct resolver_board {
	uint64_t heartbeat_ns; /* CLOCK_MONOTONIC: the thread's last round */
	struct resolver_counters counters;
	struct forward_board forward; /* of the forwarder or the TLS relay; no upstreams: none */
	struct failure_table failures;
	struct target_counters targets[]; /* of libunbound: targets_n_rows() */
};

/* Counted by all submitters, with atomic additions. */
struct resolver_totals {
	uint64_t limited_outstanding;
	uint64_t limited_client;
	uint64_t limited_share;
};

/* Zeroed memory for all boards, aligned to 64 octets. */
struct resolver_boards {
	struct resolver_totals *totals;
	uint8_t *first;
	size_t stride; /* octets from one board to the next: board_stride() */
};

/* The room of a board with so many rows of targets. */
static inline size_t board_stride(size_t n_targets)
{
	size_t n = sizeof(struct resolver_board) + n_targets * sizeof(struct target_counters);

	return (n + 63) & ~(size_t)63;
}

static inline struct resolver_board *board_at(const struct resolver_boards *boards, unsigned int i)
{
	return (struct resolver_board *)(void *)(boards->first + i * boards->stride);
}

/* Sums the counters of n boards; outstanding is 0. Each value is whole, but the values are not of
 * one instant. Any thread. */
void board_counters(const struct resolver_boards *boards, unsigned int n,
		    struct resolver_counters *out);

#endif
