/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments: the appenders that fill them, and the order in which they were filled. */
#include <assert.h>

#include "cache/cache_state.h"

#define RESERVE_SHARE 32u /* one of so many segments stays free */
#define RESERVE_MAX   64u

void fifo_push(struct fifo *fifo, uint32_t item)
{
	assert(fifo->n < fifo->cap);
	fifo->items[(fifo->first + fifo->n++) % fifo->cap] = item;
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

static struct volley_segment *take_segment_free(struct cache *cache, bool for_keeper)
{
	struct volley_segment *segment = NULL;
	uint32_t number;

	pthread_mutex_lock(&cache->lock);
	if (for_keeper || cache->free.n > KEEPER_SEGMENTS) {
		if (fifo_pop(&cache->free, &number))
			segment = segment_at(cache, number);
	}
	if (segment) {
		segment->seq = cache->memory.state->next_seq++;
		filter_opened(cache->filter, number);
	}
	want_room(cache);
	pthread_mutex_unlock(&cache->lock);
	return segment;
}

static struct volley_segment *open_segment(struct cache *cache, struct appender *appender,
					   enum queue queue)
{
	struct volley_segment *segment = take_segment_free(cache, appender == &cache->keeper);

	if (!segment)
		return NULL;
	segment->queue = queue == QUEUE_MAIN ? QUEUE_MAIN : QUEUE_PROBATION;
	segment->expires_s = 0;
	segment->n_entries = 0;
	__atomic_store_n(&segment->used_bytes, (uint32_t)sizeof(*segment), __ATOMIC_RELAXED);
	__atomic_store_n(&segment->state, VOLLEY_SEGMENT_OPEN, __ATOMIC_RELEASE);
	appender->open[queue] = segment;
	return segment;
}

/* Under the lock. */
static void seal(struct cache *cache, struct appender *appender, enum queue queue)
{
	struct volley_segment *segment = appender->open[queue];

	appender->open[queue] = NULL;
	__atomic_store_n(&segment->state, VOLLEY_SEGMENT_SEALED, __ATOMIC_RELEASE);
	fifo_push(&cache->queues[queue], segment_number(cache, segment));
}

static bool is_segment_idle(const struct cache *cache, const struct appender *appender,
			    enum queue queue)
{
	const struct fifo *fifo = &cache->queues[queue];
	const struct volley_segment *segment = appender->open[queue];

	if (!segment)
		return false;
	return !fifo->n || segment->seq < segment_at(cache, fifo->items[fifo->first])->seq;
}

void segments_seal_idle(struct cache *cache)
{
	uint32_t i;
	int queue;

	for (i = 0; i < cache->n_appenders; i++) {
		struct appender *appender = &cache->appenders[i];

		if (__atomic_exchange_n(&appender->held, true, __ATOMIC_ACQUIRE))
			continue;
		pthread_mutex_lock(&cache->lock);
		for (queue = 0; queue < N_QUEUES; queue++)
			if (is_segment_idle(cache, appender, (enum queue)queue))
				seal(cache, appender, (enum queue)queue);
		pthread_mutex_unlock(&cache->lock);
		appender_release(appender);
	}
}

struct appender *appender_take(struct cache_writer *writer)
{
	struct cache *cache = writer->cache;
	uint32_t i;

	for (i = 0; i < cache->n_appenders; i++) {
		struct appender *appender =
			&cache->appenders[(writer->home + i) % cache->n_appenders];

		if (!__atomic_exchange_n(&appender->held, true, __ATOMIC_ACQUIRE))
			return appender;
	}
	return NULL;
}

void appender_release(struct appender *appender)
{
	__atomic_store_n(&appender->held, false, __ATOMIC_RELEASE);
}

static bool has_segment_room(const struct volley_segment *segment, uint32_t bytes)
{
	return segment->used_bytes <= VOLLEY_START_MAX &&
	       segment->used_bytes + bytes <= VOLLEY_SEGMENT_BYTES;
}

struct volley_entry *segment_reserve(struct cache *cache, struct appender *appender,
				     enum queue queue, uint32_t bytes)
{
	struct volley_segment *segment = appender->open[queue];

	if (segment && !has_segment_room(segment, bytes)) {
		pthread_mutex_lock(&cache->lock);
		seal(cache, appender, queue);
		pthread_mutex_unlock(&cache->lock);
		segment = NULL;
	}
	if (!segment)
		segment = open_segment(cache, appender, queue);
	if (!segment)
		return NULL;
	return (struct volley_entry *)((uint8_t *)segment + segment->used_bytes);
}

void segment_commit(struct appender *appender, enum queue queue, const struct volley_entry *e)
{
	struct volley_segment *segment = appender->open[queue];

	if (e->expires_s > segment->expires_s)
		segment->expires_s = e->expires_s;
	segment->n_entries++;
	__atomic_store_n(&segment->used_bytes, segment->used_bytes + e->bytes, __ATOMIC_RELEASE);
}
