/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of octets between two threads: one writes records, one reads them, and neither ever waits.
 *
 *      tail ─► │ length │ record │ length │ record │ SKIP ... end │ ... start again ─► head
 *
 * A record lies in one piece, aligned to 8 octets. What finds no room is lost, and counted.
 */
#ifndef VOLLEY_TAP_RING_H
#define VOLLEY_TAP_RING_H

#include <stddef.h>
#include <stdint.h>

struct tap_ring {
	uint8_t *memory; /* atomic: it may come later than the writer, who then has no room */
	size_t cap;      /* a power of two */
	/* The writer's. */
	__attribute__((aligned(64))) uint64_t head; /* atomic; octets ever written */
	uint64_t at;                                /* where the record in hand is going to lie */
	uint64_t tail_seen;
	uint64_t lost; /* atomic: records that found no room */
	/* The reader's. */
	__attribute__((aligned(64))) uint64_t tail; /* atomic */
};

/* Gives a zeroed ring its memory: cap octets, a power of two. 0 or -ENOMEM. Any thread, once. */
int tap_ring_open(struct tap_ring *ring, size_t cap) __attribute__((warn_unused_result));
void tap_ring_close(
	struct tap_ring *ring); /* when nobody writes or reads; a zeroed ring is allowed */

/*
 * Room for a record of at most `most` octets, or NULL: it is counted as lost. The record is nothing
 * until tap_ring_commit(); without that it is forgotten. The writer's thread.
 */
void *tap_ring_reserve(struct tap_ring *ring, size_t most);
/* The record that was reserved last is whole, and has so many octets. */
void tap_ring_commit(struct tap_ring *ring, size_t bytes);
/* The writer counts n records as lost that were never reserved, or could not be made whole. */
void tap_ring_lose(struct tap_ring *ring, uint64_t n);

/*
 * The next record from *at on, its length in *bytes; NULL: there are no more. *at goes behind it.
 * The first time *at is tap_ring_begin(). Records stay until tap_ring_release(). The reader's
 * thread.
 */
static inline uint64_t tap_ring_begin(const struct tap_ring *ring)
{
	return ring->tail;
}
void *tap_ring_next(struct tap_ring *ring, uint64_t *at, size_t *bytes);
/* What lies before `at` is read. */
void tap_ring_release(struct tap_ring *ring, uint64_t at);

/* Any thread. */
static inline uint64_t tap_ring_lost(const struct tap_ring *ring)
{
	return __atomic_load_n(&ring->lost, __ATOMIC_RELAXED);
}

#endif
