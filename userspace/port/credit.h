/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's side of struct volley_queue: it says how many of the frames that the driver has
 * handed to its queue it has taken, so that the driver drops what it would not come to
 * (xdp/shed.h).
 *
 *      driver: handed++ ─► kernel ─► RX ring ─► worker: credit_take()
 *                             └─ lost: never taken ─► credit_settle(), when the ring is empty
 *
 * For the ports of a queue, on the worker's thread. A NULL queue is none, and nothing is done.
 */
#ifndef VOLLEY_PORT_CREDIT_H
#define VOLLEY_PORT_CREDIT_H

#include <stdint.h>

#include "xdp/abi.h"

/* How many the driver has handed over; to be read before the ring is looked at. */
static inline uint64_t credit_handed(const struct volley_queue *queue)
{
	return queue ? __atomic_load_n(&queue->handed, __ATOMIC_ACQUIRE) : 0;
}

#define CREDIT_LIMIT_MIN 8u

/*
 * From now on at most `limit` are on their way, a power of two: as many as the worker may be
 * behind, at most what the ring holds. Nothing is on its way yet.
 */
static inline void credit_start(struct volley_queue *queue, uint32_t limit)
{
	if (!queue)
		return;
	if (limit < CREDIT_LIMIT_MIN)
		limit = CREDIT_LIMIT_MIN;
	__atomic_store_n(&queue->taken, credit_handed(queue), __ATOMIC_RELAXED);
	queue->turn_bits = (uint32_t)__builtin_ctz(VOLLEY_TURN * limit);
	__atomic_store_n(&queue->limit, limit, __ATOMIC_RELEASE);
}

/* From now on nobody works here, and nothing is shed. */
static inline void credit_stop(struct volley_queue *queue)
{
	if (queue)
		__atomic_store_n(&queue->limit, 0, __ATOMIC_RELEASE);
}

/* n frames have left the ring. */
static inline void credit_take(struct volley_queue *queue, uint32_t n)
{
	if (queue && n)
		__atomic_store_n(&queue->taken, queue->taken + n, __ATOMIC_RELEASE);
}

/*
 * The ring was empty after credit_handed() had said so much: what is not there was lost. A few may
 * be between redirect and ring; they count as taken twice, and so until the ring is empty the next
 * time as many more are let through.
 */
static inline void credit_settle(struct volley_queue *queue, uint64_t handed)
{
	if (queue && queue->taken != handed)
		__atomic_store_n(&queue->taken, handed, __ATOMIC_RELEASE);
}

#endif
