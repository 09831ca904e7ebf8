/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's side of struct volley_queue. The driver counts the frames that it hands to the
 * queue, and the worker counts the frames that it takes. From the difference the driver sees which
 * frames the worker would not answer in time, and drops them (xdp/shed.h).
 *
 *      driver: handed++ ─► kernel ─► RX ring ─► worker: credit_take()
 *                             └─ lost: never taken ─► credit_settle(), when the ring is empty
 *
 * For the ports of a queue, on the worker's thread. If queue is NULL, these functions do nothing.
 */
#ifndef VOLLEY_PORT_CREDIT_H
#define VOLLEY_PORT_CREDIT_H

#include <stdint.h>

#include "xdp/abi.h"

/* The number of frames that the driver has handed over. Read it before the ring. */
static inline uint64_t credit_handed(const struct volley_queue *queue)
{
	return queue ? __atomic_load_n(&queue->handed, __ATOMIC_ACQUIRE) : 0;
}

#define CREDIT_LIMIT_MIN 8u

/*
 * From now on the driver lets at most `limit` frames wait for the worker: a power of two, and not
 * more than the ring holds. No frame may be on its way yet.
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

/* From now on no worker reads this queue, and the driver drops nothing for it. */
static inline void credit_stop(struct volley_queue *queue)
{
	if (queue)
		__atomic_store_n(&queue->limit, 0, __ATOMIC_RELEASE);
}

/* The worker has taken n frames from the ring. */
static inline void credit_take(struct volley_queue *queue, uint32_t n)
{
	if (queue && n)
		__atomic_store_n(&queue->taken, queue->taken + n, __ATOMIC_RELEASE);
}

/*
 * The ring was empty after credit_handed() returned `handed`: frames that were handed over and not
 * taken are lost. A few of them may still be between redirect and ring. These are counted as taken
 * twice, so the driver lets as many more through until the ring is empty again.
 */
static inline void credit_settle(struct volley_queue *queue, uint64_t handed)
{
	if (queue && queue->taken != handed)
		__atomic_store_n(&queue->taken, handed, __ATOMIC_RELEASE);
}

#endif
