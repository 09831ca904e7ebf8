/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/ring.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>

int tap_ring_open(struct tap_ring *ring, size_t cap)
{
	void *memory = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert(!(cap & (cap - 1)));
	if (memory == MAP_FAILED)
		return -ENOMEM;
	ring->cap = cap;
	__atomic_store_n(&ring->memory, memory, __ATOMIC_RELEASE);
	return 0;
}

void tap_ring_close(struct tap_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, ring->cap);
	ring->memory = NULL;
}

void tap_ring_lose(struct tap_ring *ring, uint64_t n)
{
	__atomic_store_n(&ring->lost, ring->lost + n, __ATOMIC_RELAXED);
}

static uint64_t *word_at(const struct tap_ring *ring, uint64_t at)
{
	return (uint64_t *)(void *)(ring->memory + (at & (ring->cap - 1)));
}

static int has_ring_room(struct tap_ring *ring, uint64_t end)
{
	if (end - ring->tail_seen <= ring->cap)
		return 1;
	ring->tail_seen = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	return end - ring->tail_seen <= ring->cap;
}

void *tap_ring_reserve(struct tap_ring *ring, size_t most)
{
	uint8_t *memory = __atomic_load_n(&ring->memory, __ATOMIC_ACQUIRE);
	uint64_t at = ring->head, need = tap_ring_room(most), left;

	if (!memory) {
		tap_ring_lose(ring, 1);
		return NULL;
	}
	left = ring->cap - (at & (ring->cap - 1));
	if (need > left)
		at += left;
	if (need > ring->cap || !has_ring_room(ring, at + need)) {
		tap_ring_lose(ring, 1);
		return NULL;
	}
	if (at != ring->head)
		*word_at(ring, ring->head) = TAP_RING_SKIP;
	ring->at = at;
	return memory + (at & (ring->cap - 1)) + TAP_RING_HEAD_BYTES;
}

void tap_ring_commit(struct tap_ring *ring, size_t bytes)
{
	*word_at(ring, ring->at) = bytes;
	__atomic_store_n(&ring->head, ring->at + tap_ring_room(bytes), __ATOMIC_RELEASE);
}

void *tap_ring_next(struct tap_ring *ring, uint64_t *at, size_t *bytes)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), here = *at;
	uint64_t n;

	if (here == head)
		return NULL;
	n = *word_at(ring, here);
	if (n == TAP_RING_SKIP) {
		here += ring->cap - (here & (ring->cap - 1));
		n = *word_at(ring, here);
	}
	*bytes = (size_t)n;
	*at = here + tap_ring_room(n);
	return (uint8_t *)word_at(ring, here) + TAP_RING_HEAD_BYTES;
}

void tap_ring_release(struct tap_ring *ring, uint64_t at)
{
	__atomic_store_n(&ring->tail, at, __ATOMIC_RELEASE);
}
