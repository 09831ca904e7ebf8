/* SPDX-License-Identifier: GPL-2.0-only */
/* What the sources of cache/ share among themselves. */
#ifndef VOLLEY_CACHE_INTERNAL_H
#define VOLLEY_CACHE_INTERNAL_H

#include <pthread.h>
#include <string.h>

#include "cache/cache.h"
#include "xdp/key.h"

/* Queues of segments, oldest first. */
enum queue { QUEUE_PROBATION, QUEUE_MAIN, N_QUEUES };

/* A bounded FIFO of segment numbers. */
struct fifo {
	uint32_t *items;
	uint32_t cap;
	uint32_t first;
	uint32_t n;
};

/* Fingerprints of what left the probation queue unasked, 4 to a set, oldest overwritten. */
#define GHOST_WAYS 4u
struct ghost {
	uint32_t *tags;
	uint32_t n_sets;
};

struct cache_writer {
	struct cache *cache;
	struct cache_writer *next;
	struct volley_segment *open[N_QUEUES];
	bool is_keeper;                 /* may take the last free segments */
	struct cache_counters counters; /* of this thread alone */
};

struct cache {
	struct cache_memory memory;
	struct ghost ghost;

	pthread_mutex_t lock; /* all below: taken when a segment changes hands, not before */
	pthread_cond_t room_wanted;
	bool wanted;
	struct fifo free;
	struct fifo queues[N_QUEUES];
	struct cache_writer *writers;
	struct cache_counters past; /* of writers that are gone */
	struct cache_writer *keeper_writer;
};

/* Free segments that only the keeper may take, so that it can always copy. */
#define KEEPER_SEGMENTS 2u

/* How many free segments the keeper aims at. */
uint32_t segments_reserve(const struct cache *cache);

static inline uint64_t load_word(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline uint64_t *bucket_words(const struct cache *cache, uint32_t bucket)
{
	return cache->memory.index + (size_t)bucket * VOLLEY_BUCKET_SLOTS;
}

static inline struct volley_segment *segment_at(const struct cache *cache, uint32_t segment)
{
	return (struct volley_segment *)(cache->memory.store +
					 (size_t)segment * VOLLEY_SEGMENT_BYTES);
}

static inline uint32_t segment_number(const struct cache *cache, const struct volley_segment *s)
{
	return (uint32_t)((size_t)((const uint8_t *)s - cache->memory.store) /
			  VOLLEY_SEGMENT_BYTES);
}

/* The entry behind an index word that was read from the index. */
static inline struct volley_entry *word_entry(const struct cache *cache, uint64_t word)
{
	return (struct volley_entry *)(cache->memory.store +
				       (size_t)(uint32_t)word * VOLLEY_UNIT_BYTES);
}

static inline uint64_t entry_word(const struct cache *cache, const struct volley_entry *e)
{
	size_t offset = (size_t)((const uint8_t *)e - cache->memory.store);

	return e->hash >> 32 << 32 | (uint32_t)(offset / VOLLEY_UNIT_BYTES);
}

/* CACHE_HIT for an entry that is valid now, else CACHE_STALE or CACHE_EXPIRED. */
enum cache_verdict entry_verdict(const struct cache *cache, const struct volley_entry *e,
				 uint32_t now_s);

/* Room for `bytes` at the writer's end of `queue`, or NULL. The segment's lengths are moved on by
 * segment_commit, when the entry is whole. */
struct volley_entry *segment_reserve(struct cache_writer *writer, enum queue queue, uint32_t bytes);
void segment_commit(struct cache_writer *writer, enum queue queue, const struct volley_entry *e);
void segment_seal(struct cache_writer *writer, enum queue queue);

bool fifo_push(struct fifo *fifo, uint32_t item);
bool fifo_pop(struct fifo *fifo, uint32_t *item);

void ghost_remember(struct ghost *ghost, uint64_t hash);
bool ghost_recall(struct ghost *ghost, uint64_t hash); /* and forgets it */

/* Takes over the segments and words of an earlier daemon; drops what contradicts itself. */
int cache_adopt(struct cache *cache);

#endif
