/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of records between two processes, in memory that both have mapped. One thread of one
 * process writes and one thread of the other process reads. Neither takes a lock or waits.
 *
 *	tail ─► │ length │ record ... │ length │ record ... │ ─► head	(multiples of 8)
 *
 * Positions only grow; an octet is at its position modulo the size, and a record may wrap round the
 * end. The writer puts records and then publishes them together. The reader says that it waits
 * before it sleeps, and only then the writer has to wake it: a burst costs one wake-up.
 *
 * Each side keeps its own position and the sizes in memory of its own, and reads the other side's
 * position once for each look. So whatever the other process writes into the shared memory, a side
 * never reads or writes outside of the ring. The reader learns of positions and lengths that cannot
 * be right (BYTE_RING_NONSENSE). The octets of a record may change while it is read, so the reader
 * copies them first and checks the copy.
 *
 * The order is as in xdp/memory_order.h: records, then the head with release; the reader loads the
 * head with acquire. "Waiting" and head are ordered by a full fence on both sides, so that a record
 * that was published before the reader slept is seen or wakes it.
 */
#ifndef VOLLEY_BASE_BYTE_RING_H
#define VOLLEY_BASE_BYTE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* In shared memory, aligned to 64 octets, zeroed; the octets follow. */
struct byte_ring_shared {
	__attribute__((aligned(64))) uint64_t head; /* written by the writer */
	__attribute__((aligned(64))) uint64_t tail; /* written by the reader */
	uint32_t is_waiting;                        /* the reader wants to be woken */
	__attribute__((aligned(64))) uint8_t octets[];
};

struct byte_ring_writer {
	struct byte_ring_shared *shared;
	uint64_t cap;
	uint64_t head; /* behind the records that were put */
	uint64_t tail; /* as seen last */
};

struct byte_ring_reader {
	struct byte_ring_shared *shared;
	uint64_t cap;
	uint64_t tail;
	uint64_t head; /* as seen last */
};

#define BYTE_RING_EMPTY    0
#define BYTE_RING_NONSENSE (-1) /* positions or a length that no writer of ours would write */

/* Memory of a ring whose octets are cap, a power of two of at least 64. */
static inline size_t byte_ring_bytes(size_t cap)
{
	return sizeof(struct byte_ring_shared) + cap;
}

void byte_ring_writer_init(struct byte_ring_writer *w, void *shared, size_t cap);
void byte_ring_reader_init(struct byte_ring_reader *r, void *shared, size_t cap);

/* Puts a record of n parts, of at least one octet. False: there is no room for it now, or the
 * reader's position cannot be right. */
bool byte_ring_put(struct byte_ring_writer *w, const struct iovec *parts, int n)
	__attribute__((warn_unused_result));

/* Shows the records to the reader. True: it waits, so wake it. */
bool byte_ring_publish(struct byte_ring_writer *w);

/* The length of the next record; BYTE_RING_EMPTY; or BYTE_RING_NONSENSE. */
int64_t byte_ring_next(struct byte_ring_reader *r);

/* Copies n octets from offset `at` of the next record, which has them (byte_ring_next()). */
void byte_ring_copy(const struct byte_ring_reader *r, uint64_t at, void *out, size_t n);

/* Gives the room of the next record back. bytes: what byte_ring_next() returned. */
void byte_ring_pop(struct byte_ring_reader *r, int64_t bytes);

/*
 * Call it when the ring is empty and before the reader sleeps. True: it may sleep, and will be
 * woken. False: a record came in between, and byte_ring_next() finds it, or nonsense, even if the
 * writer takes its position back. So a writer cannot keep the reader in a loop.
 */
bool byte_ring_wait(struct byte_ring_reader *r) __attribute__((warn_unused_result));

#endif
