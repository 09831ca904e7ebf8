/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/byte_ring.h"

#include <assert.h>
#include <string.h>

#define LENGTH_BYTES 8u

static uint64_t round_record(uint64_t n)
{
	return (n + 7) & ~7ull;
}

void byte_ring_writer_init(struct byte_ring_writer *w, void *shared, size_t cap)
{
	assert(cap >= 64 && !(cap & (cap - 1)));
	*w = (struct byte_ring_writer){ .shared = shared, .cap = cap };
}

void byte_ring_reader_init(struct byte_ring_reader *r, void *shared, size_t cap)
{
	assert(cap >= 64 && !(cap & (cap - 1)));
	*r = (struct byte_ring_reader){ .shared = shared, .cap = cap };
}

static void write_octets(struct byte_ring_writer *w, uint64_t at, const void *from, size_t n)
{
	size_t start = (size_t)(at & (w->cap - 1)), first = w->cap - start;

	if (!n)
		return;
	first = n < first ? n : first;
	memcpy(w->shared->octets + start, from, first);
	memcpy(w->shared->octets, (const uint8_t *)from + first, n - first);
}

/* A reader that has gone beyond the head has no right to any room. */
static bool has_byte_room(struct byte_ring_writer *w, uint64_t need)
{
	uint64_t tail;

	if (w->head + need - w->tail <= w->cap)
		return true;
	tail = __atomic_load_n(&w->shared->tail, __ATOMIC_ACQUIRE);
	if (w->head - tail > w->cap)
		return false;
	w->tail = tail;
	return w->head + need - tail <= w->cap;
}

bool byte_ring_put(struct byte_ring_writer *w, const struct iovec *parts, int n)
{
	uint64_t length = 0, at = w->head + LENGTH_BYTES;

	for (int i = 0; i < n; i++)
		length += parts[i].iov_len;
	assert(length);
	if (!has_byte_room(w, LENGTH_BYTES + round_record(length)))
		return false;
	write_octets(w, w->head, &length, sizeof(length));
	for (int i = 0; i < n; i++) {
		write_octets(w, at, parts[i].iov_base, parts[i].iov_len);
		at += parts[i].iov_len;
	}
	w->head += LENGTH_BYTES + round_record(length);
	return true;
}

bool byte_ring_publish(struct byte_ring_writer *w)
{
	__atomic_store_n(&w->shared->head, w->head, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&w->shared->is_waiting, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&w->shared->is_waiting, 0, __ATOMIC_RELAXED);
	return true;
}

int64_t byte_ring_next(struct byte_ring_reader *r)
{
	uint64_t length, used;

	if (r->head == r->tail)
		r->head = __atomic_load_n(&r->shared->head, __ATOMIC_ACQUIRE);
	used = r->head - r->tail;
	if (!used)
		return BYTE_RING_EMPTY;
	if (used > r->cap || used < LENGTH_BYTES || used % 8)
		return BYTE_RING_NONSENSE;
	byte_ring_copy(r, -(uint64_t)LENGTH_BYTES, &length, sizeof(length));
	if (!length || length > used - LENGTH_BYTES || round_record(length) > used - LENGTH_BYTES)
		return BYTE_RING_NONSENSE;
	return (int64_t)length;
}

void byte_ring_copy(const struct byte_ring_reader *r, uint64_t at, void *out, size_t n)
{
	size_t start = (size_t)((r->tail + LENGTH_BYTES + at) & (r->cap - 1));
	size_t first = r->cap - start;

	first = n < first ? n : first;
	memcpy(out, r->shared->octets + start, first);
	memcpy((uint8_t *)out + first, r->shared->octets, n - first);
}

void byte_ring_pop(struct byte_ring_reader *r, int64_t bytes)
{
	r->tail += LENGTH_BYTES + round_record((uint64_t)bytes);
	__atomic_store_n(&r->shared->tail, r->tail, __ATOMIC_RELEASE);
}

bool byte_ring_wait(struct byte_ring_reader *r)
{
	__atomic_store_n(&r->shared->is_waiting, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	r->head = __atomic_load_n(&r->shared->head, __ATOMIC_ACQUIRE);
	if (r->head == r->tail)
		return true;
	__atomic_store_n(&r->shared->is_waiting, 0, __ATOMIC_RELAXED);
	return false;
}
