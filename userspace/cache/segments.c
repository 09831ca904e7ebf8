/* SPDX-License-Identifier: GPL-2.0-only */
/* Segments: who appends to which, and in which order they were filled. */
#include "cache/internal.h"

#define RESERVE_SHARE 32u /* one of so many segments is kept free */
#define RESERVE_MAX   64u

bool fifo_push(struct fifo *fifo, uint32_t item)
{
	if (fifo->n == fifo->cap)
		return false;
	fifo->items[(fifo->first + fifo->n++) % fifo->cap] = item;
	return true;
}

bool fifo_pop(struct fifo *fifo, uint32_t *item)
{
	if (!fifo->n)
		return false;
	*item = fifo->items[fifo->first];
	fifo->first = (fifo->first + 1) % fifo->cap;
	fifo->n--;
	return true;
}

uint32_t segments_reserve(const struct cache *cache)
{
	uint32_t n = cache->memory.sizes.n_segments / RESERVE_SHARE;

	if (n > RESERVE_MAX)
		n = RESERVE_MAX;
	return n + KEEPER_SEGMENTS + 1;
}

/* Under the lock. */
static void want_room(struct cache *cache)
{
	if (cache->free.n >= segments_reserve(cache) || cache->wanted)
		return;
	cache->wanted = true;
	pthread_cond_signal(&cache->room_wanted);
}

static struct volley_segment *take_free(struct cache_writer *writer)
{
	struct cache *cache = writer->cache;
	struct volley_segment *segment = NULL;
	uint32_t number;

	pthread_mutex_lock(&cache->lock);
	if (writer->is_keeper || cache->free.n > KEEPER_SEGMENTS) {
		if (fifo_pop(&cache->free, &number))
			segment = segment_at(cache, number);
	}
	if (segment)
		segment->seq = cache->memory.state->next_seq++;
	want_room(cache);
	pthread_mutex_unlock(&cache->lock);
	return segment;
}

static struct volley_segment *open_segment(struct cache_writer *writer, enum queue queue)
{
	struct volley_segment *segment = take_free(writer);

	if (!segment)
		return NULL;
	segment->queue = queue;
	segment->used_bytes = sizeof(*segment);
	segment->expires_s = 0;
	segment->n_entries = 0;
	__atomic_store_n(&segment->state, VOLLEY_SEGMENT_OPEN, __ATOMIC_RELEASE);
	writer->open[queue] = segment;
	return segment;
}

void segment_seal(struct cache_writer *writer, enum queue queue)
{
	struct cache *cache = writer->cache;
	struct volley_segment *segment = writer->open[queue];

	if (!segment)
		return;
	writer->open[queue] = NULL;
	pthread_mutex_lock(&cache->lock);
	__atomic_store_n(&segment->state, VOLLEY_SEGMENT_SEALED, __ATOMIC_RELEASE);
	fifo_push(&cache->queues[queue], segment_number(cache, segment));
	pthread_mutex_unlock(&cache->lock);
}

static bool has_room(const struct volley_segment *segment, uint32_t bytes)
{
	return segment->used_bytes <= VOLLEY_START_MAX &&
	       segment->used_bytes + bytes <= VOLLEY_SEGMENT_BYTES;
}

struct volley_entry *segment_reserve(struct cache_writer *writer, enum queue queue, uint32_t bytes)
{
	struct volley_segment *segment = writer->open[queue];

	if (segment && !has_room(segment, bytes)) {
		segment_seal(writer, queue);
		segment = NULL;
	}
	if (!segment)
		segment = open_segment(writer, queue);
	if (!segment)
		return NULL;
	return (struct volley_entry *)((uint8_t *)segment + segment->used_bytes);
}

void segment_commit(struct cache_writer *writer, enum queue queue, const struct volley_entry *e)
{
	struct volley_segment *segment = writer->open[queue];

	if (e->expires_s > segment->expires_s)
		segment->expires_s = e->expires_s;
	segment->n_entries++;
	__atomic_store_n(&segment->used_bytes, segment->used_bytes + e->bytes, __ATOMIC_RELEASE);
}
