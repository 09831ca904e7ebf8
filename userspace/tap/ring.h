/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of octets between two threads: one writes records, the other reads them, and neither
 * waits.
 *
 *      tail ─► │ length │ record │ length │ record │ SKIP ... end │ ... start again ─► head
 *
 * A record is contiguous and aligned to 8 octets. A record without room is lost and counted.
 */
#ifndef VOLLEY_TAP_RING_H
#define VOLLEY_TAP_RING_H

#include <stddef.h>
#include <stdint.h>

#define TAP_RING_HEAD_BYTES 8u
#define TAP_RING_SKIP       UINT64_MAX /* as a length: the rest of the memory is not used now */

struct tap_ring {
	uint8_t *memory; /* atomic; until it is there, the writer has no room */
	size_t cap;      /* a power of two */
	/* The writer's. */
	__attribute__((aligned(64))) uint64_t head; /* atomic; octets ever written */
	uint64_t at;                                /* offset of the reserved record */
	uint64_t tail_seen;
	uint64_t lost; /* atomic: records without room */
	/* The reader's. */
	__attribute__((aligned(64))) uint64_t tail; /* atomic */
};

/* What a record of so many octets takes from the ring. */
static inline uint64_t tap_ring_room(uint64_t bytes)
{
	return TAP_RING_HEAD_BYTES + ((bytes + 7) & ~7ull);
}

/* Gives a zeroed ring its memory: cap octets, a power of two. 0 or -ENOMEM. Any thread, once. */
int tap_ring_open(struct tap_ring *ring, size_t cap) __attribute__((warn_unused_result));
void tap_ring_close(
	struct tap_ring *ring); /* when no thread writes or reads; a zeroed ring is allowed */

/* Room for a record of at most `most` octets, or NULL: the record is counted as lost. The reader
 * sees the record after tap_ring_commit(); without that it is dropped. The writer's thread. */
void *tap_ring_reserve(struct tap_ring *ring, size_t most);
/* Completes the record that was reserved last, with this many octets. */
void tap_ring_commit(struct tap_ring *ring, size_t bytes);
/*
 * Counts n records as lost that were not reserved or could not be completed. The writer's thread.
 */
void tap_ring_lose(struct tap_ring *ring, uint64_t n);

/* The next record at *at, with its length in *bytes; NULL: there are no more. Moves *at after it.
 * Begin with *at = tap_ring_begin(). Records stay until tap_ring_release(). The reader's thread. */
static inline uint64_t tap_ring_begin(const struct tap_ring *ring)
{
	return ring->tail;
}
void *tap_ring_next(struct tap_ring *ring, uint64_t *at, size_t *bytes);
/* Releases all records before `at`. */
void tap_ring_release(struct tap_ring *ring, uint64_t at);

/* Any thread. */
static inline uint64_t tap_ring_lost(const struct tap_ring *ring)
{
	return __atomic_load_n(&ring->lost, __ATOMIC_RELAXED);
}

#endif
