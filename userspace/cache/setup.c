/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the cache over given memory, or adopts the content of the memory. */
#include "cache/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/kernel.h"
#include "cache/copy.h"
#include "cache/cache_state.h"

static int make_fifo(struct fifo *fifo, uint32_t cap)
{
	fifo->cap = cap;
	fifo->items = calloc(cap, sizeof(uint32_t));
	return fifo->items ? 0 : -ENOMEM;
}

static int make_fifos(struct cache *cache)
{
	uint32_t n = cache->memory.sizes.n_segments;
	unsigned int i;

	for (i = 0; i < N_QUEUES; i++)
		if (make_fifo(&cache->queues[i], n))
			return -ENOMEM;
	if (make_fifo(&cache->free, n) || make_fifo(&cache->emptied, EMPTIED_MAX))
		return -ENOMEM;
	cache->ghost.n_sets = cache->memory.sizes.n_buckets;
	cache->ghost.tags = calloc((size_t)cache->ghost.n_sets * GHOST_WAYS, sizeof(uint16_t));
	return cache->ghost.tags ? 0 : -ENOMEM;
}

/* Empties index and segments, as in new maps. */
static void empty(struct cache *cache)
{
	const struct cache_sizes *sizes = &cache->memory.sizes;
	uint32_t i;

	memset(cache->memory.index, 0, (size_t)sizes->n_buckets * VOLLEY_BUCKET_SLOTS * 8);
	for (i = 0; i < sizes->n_segments; i++) {
		memset(segment_at(cache, i), 0, sizeof(struct volley_segment));
		fifo_push(&cache->free, i);
	}
}

/* Writes the members that differ from cache to cache; magic is written last. */
static void describe_cache(struct cache *cache)
{
	const struct cache_sizes *sizes = &cache->memory.sizes;
	struct volley_state *state = cache->memory.state;

	state->n_buckets = sizes->n_buckets;
	state->n_segments = sizes->n_segments;
	state->n_zones = sizes->n_zones;
	state->cache_kib = (uint32_t)(sizes->bytes >> 10);
	state->next_seq = 1;
	__atomic_store_n(&state->magic, VOLLEY_MAGIC, __ATOMIC_RELEASE);
}

/* Sets up new memory, or memory of a daemon that died before it had set up everything. */
static int set_up_cache(struct cache *cache)
{
	struct volley_state *state = cache->memory.state;

	memset(state, 0, sizeof(*state));
	memset(cache->memory.zones, 0,
	       (size_t)cache->memory.sizes.n_zones * sizeof(struct volley_zone));
	if (getrandom(state->hash_keys, sizeof(state->hash_keys), 0) !=
	    (ssize_t)sizeof(state->hash_keys))
		return -errno;
	empty(cache);
	state->abi = VOLLEY_ABI;
	state->realtime = kernel_is_realtime();
	state->max_udp_bytes = 512;
	describe_cache(cache);
	return 0;
}

/* The same for a cache that shares the zones of `from`. */
static void set_up_beside(struct cache *cache, const struct cache *from)
{
	struct volley_state *state = cache->memory.state;

	empty(cache);
	*state = *from->memory.state;
	state->magic = 0;
	state->n_resizes++;
	describe_cache(cache);
}

static int start_cache(struct cache *cache, bool *adopted)
{
	const struct cache_sizes *sizes = &cache->memory.sizes;
	struct volley_state *state = cache->memory.state;

	*adopted = __atomic_load_n(&state->magic, __ATOMIC_ACQUIRE) == VOLLEY_MAGIC;
	if (!*adopted)
		return set_up_cache(cache);
	if (state->abi != VOLLEY_ABI || state->n_buckets != sizes->n_buckets ||
	    state->n_segments != sizes->n_segments || state->n_zones != sizes->n_zones)
		return -EPROTO;
	state->realtime = kernel_is_realtime();
	return cache_adopt(cache);
}

static uint32_t n_appenders(uint32_t n_segments)
{
	uint32_t n = n_segments / SEGMENTS_PER_APPENDER;

	if (n > APPENDERS_MAX)
		return APPENDERS_MAX;
	return n ? n : 1;
}

static void make_locks(struct cache *cache)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&cache->next, NULL);
	pthread_mutex_init(&cache->turn, NULL);
	pthread_mutex_init(&cache->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&cache->room_wanted, &attr);
	pthread_condattr_destroy(&attr);
}

/* Makes everything outside of the memory. */
static struct cache *make_cache(const struct cache_memory *memory)
{
	struct cache *cache = aligned_alloc(64, sizeof(*cache));

	if (!cache)
		return NULL;
	memset(cache, 0, sizeof(*cache));
	cache->memory = *memory;
	cache->n_appenders = n_appenders(memory->sizes.n_segments);
	make_locks(cache);
	if (!make_fifos(cache) && !cache_writer_new(&cache->keeper_writer, cache))
		return cache;
	cache_free(cache);
	return NULL;
}

int cache_new(struct cache **out, const struct cache_memory *memory, bool *adopted)
{
	struct cache *cache = make_cache(memory);
	int err;

	if (!cache)
		return -ENOMEM;
	err = start_cache(cache, adopted);
	if (err) {
		cache_free(cache);
		return err;
	}
	*out = cache;
	return 0;
}

int cache_new_beside(struct cache **out, const struct cache_memory *memory, struct cache *from)
{
	struct cache *cache = make_cache(memory);

	if (!cache)
		return -ENOMEM;
	set_up_beside(cache, from);
	cache->from = from;
	*out = cache;
	return 0;
}

void cache_free(struct cache *cache)
{
	unsigned int i;

	if (!cache)
		return;
	filter_free(cache->filter);
	cache_writer_free(cache->keeper_writer);
	free(cache->free.items);
	free(cache->emptied.items);
	for (i = 0; i < N_QUEUES; i++)
		free(cache->queues[i].items);
	free(cache->ghost.tags);
	pthread_cond_destroy(&cache->room_wanted);
	pthread_mutex_destroy(&cache->lock);
	pthread_mutex_destroy(&cache->turn);
	pthread_mutex_destroy(&cache->next);
	free(cache);
}

struct volley_state *cache_state(struct cache *cache)
{
	return cache->memory.state;
}
