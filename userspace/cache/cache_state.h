/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a cache, and its internal functions on segments, index words and entries. */
#ifndef VOLLEY_CACHE_CACHE_STATE_H
#define VOLLEY_CACHE_CACHE_STATE_H

#include <pthread.h>
#include <string.h>

#include "cache/cache.h"
#include "xdp/key.h"

/*
 * Queues of segments, oldest first. The segments of denials (NXDOMAIN) are marked as probation too,
 * so an adopting daemon puts them in the one probation queue.
 */
enum queue { QUEUE_PROBATION, QUEUE_MAIN, QUEUE_DENIAL, N_QUEUES };

/* A bounded FIFO of segment numbers. A segment is in one FIFO at most. */
struct fifo {
	uint32_t *items;
	uint32_t cap;
	uint32_t first;
	uint32_t n;
};

#define N_FIFOS     (1u + N_QUEUES) /* the FIFOs that may hold all segments: free, queues */
#define EMPTIED_MAX 64u             /* segments that wait for one grace period */

/*
 * Fingerprints of entries that left the probation queue without a hit: 4 to a set, the oldest is
 * overwritten, half as many as the index has slots. More do not help: on traces like those of
 * test_hitratio.c, 8 or 16 ways let so many entries into the main queue that the hit ratio falls by
 * 0.7 or 1.2 points.
 */
#define GHOST_WAYS 4u
struct ghost {
	uint16_t *tags;
	uint32_t n_sets;
};

/*
 * A place to append. Writers share appenders, so that many writers do not hold all segments of a
 * small cache open. A publishing thread holds an appender from the first octet of the entry until
 * its word is in the index. The keeper walks only sealed segments, so it never sees an entry whose
 * word is still to come.
 */
struct appender {
	bool held; /* a writer tries to get it and never waits */
	struct volley_segment *open[N_QUEUES];
} __attribute__((aligned(64)));

#define APPENDERS_MAX         64u
#define SEGMENTS_PER_APPENDER 16u

struct cache_writer {
	struct cache *cache;
	struct cache_writer *next;
	uint32_t home;                  /* the appender to try first */
	struct cache_counters counters; /* only this thread writes them; others read them */
};

struct cache_filter;

struct cache {
	struct cache_memory memory;
	struct ghost ghost;
	struct appender appenders[APPENDERS_MAX];
	uint32_t n_appenders;
	struct appender keeper; /* it may take the last free segments */
	struct cache_writer *keeper_writer;
	uint8_t *changed_zones; /* by slot, during a watch (generations.h); else NULL */
	/* Of the places in volley_answers.by_zone, those that a zone has, a bit for each; found in
	 * the slots when a place that was given back is first wanted. */
	uint64_t places_taken[VOLLEY_COUNT_ZONES / 64];
	bool are_places_known;

	pthread_mutex_t next; /* see cache_turn_take() */
	pthread_mutex_t turn; /* only its holder moves entries and frees segments */

	/* of all members below; taken when a segment changes its queue or owner */
	pthread_mutex_t lock;
	pthread_cond_t room_wanted;
	bool wanted;
	struct fifo free;
	struct fifo emptied; /* no index word leads into these: free after a grace period */
	struct fifo queues[N_QUEUES];
	struct cache_writer *writers;
	struct cache_filter *filter; /* or NULL; the pointer changes in a turn, too */
	bool filter_hurried;         /* the keeper adds all missing entries at once */
	struct cache *from;          /* the cache that this one replaces (copy.h); NULL: none */
	struct cache *into;          /* the cache that replaces this one; NULL: none */
	uint32_t n_writers;          /* all writers ever made */
	struct cache_counters past;  /* of writers that were freed */
};

/* Adds to a counter of this thread's own writer. */
#define COUNT(writer, name, n)                                                              \
	__atomic_store_n(&(writer)->counters.name, (writer)->counters.name + (uint64_t)(n), \
			 __ATOMIC_RELAXED)

/*
 * The turn: the keeper takes one for each segment that it empties, and one to free the emptied
 * segments; an invalidation (dependency_filter.h) takes one. `next` keeps a thread that has just
 * released the turn from overtaking a waiting one. A thread with the turn may take the lock.
 */
void cache_turn_take(struct cache *cache);
void cache_turn_release(struct cache *cache);

/*
 * A writer has taken the segment (under the lock); it has no reader any more (in a turn). The
 * filter may be NULL.
 */
void filter_opened(struct cache_filter *filter, uint32_t segment);
void filter_freed(struct cache_filter *filter, uint32_t segment);
void filter_free(struct cache_filter *filter);

/* Free segments that only the keeper may take, so that it can always copy. */
#define KEEPER_SEGMENTS 2u

/* The number of free segments that the keeper aims at. */
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

/* The entry that a word read from the index leads to. */
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

static inline uint8_t entry_freq(const struct volley_entry *e)
{
	uint8_t freq = __atomic_load_n(&e->freq, __ATOMIC_RELAXED);

	return freq < VOLLEY_FREQ_MAX ? freq : VOLLEY_FREQ_MAX;
}

static inline bool entry_is_of(const struct volley_entry *e, const struct cache_key *key)
{
	return !memcmp(&e->key, key->words, key->n_words * 8);
}

/* CACHE_HIT for an entry that is valid now, else CACHE_STALE or CACHE_EXPIRED. */
enum cache_verdict entry_verdict(const struct cache *cache, const struct volley_entry *e,
				 uint32_t now_s);

/* Copies an entry without freq. Meanwhile readers may change freq and refreshing of `e`. */
static inline void entry_copy(struct volley_entry *to, const struct volley_entry *e)
{
	const size_t freq = offsetof(struct volley_entry, freq);
	const size_t refreshing = offsetof(struct volley_entry, refreshing);
	const uint8_t *octets = (const uint8_t *)e;

	memcpy(to, octets, freq);
	memcpy((uint8_t *)to + freq + 1, octets + freq + 1, refreshing - freq - 1);
	memcpy((uint8_t *)to + refreshing + 1, octets + refreshing + 1, e->bytes - refreshing - 1);
	to->refreshing = __atomic_load_n(&e->refreshing, __ATOMIC_RELAXED);
}

/*
 * True if an untrusted entry is consistent: its lengths with each other and with room_bytes, its
 * list of TTLs with its lengths, its body with its sums, and the view in its key. The caller checks
 * the zone, the times, and the rest of the key.
 */
bool entry_is_sound(const struct volley_entry *e, size_t room_bytes);

/* True if the TTLs ascend, lie apart and in the body, and none lies across the short form's end. */
bool entry_ttls_are_sound(const uint16_t *ttls, uint32_t n, uint32_t full_bytes,
			  uint32_t short_bytes);

/*
 * The one's complement sum of `n` octets of a body that begins at `offset` of a message. The TTLs
 * at the given offsets count as 0.
 */
uint16_t entry_body_sum(const uint8_t *body, uint32_t n, uint32_t offset, const uint16_t *ttls,
			uint32_t n_ttls);

/* The offset of the body in a message. */
static inline uint32_t entry_body_at(const struct volley_key *key)
{
	return 12u + key->name_bytes + 4u;
}

/* The hash of a key of `n_words` with this cache's secrets. It is the same in all views. */
uint64_t key_hash(const struct cache *cache, const uint64_t *words, uint32_t n_words);

/* The slot whose word leads to this entry, or NULL. */
uint64_t *entry_word_slot(const struct cache *cache, const struct volley_entry *e);

/*
 * Makes the key's index word lead to `e`. The entry is complete and committed; the caller still
 * holds the appender. If `yields`, a valid entry of the key stays: -EEXIST. Other errors as
 * cache_publish().
 */
int publish_word(struct cache_writer *writer, const struct cache_key *key,
		 const struct volley_entry *e, bool yields, uint32_t now_s);

/* Takes a free appender, and releases it. NULL: all are held now. */
struct appender *appender_take(struct cache_writer *writer);
void appender_release(struct appender *appender);

/*
 * Room for `bytes` at the end of `queue`, or NULL. segment_commit() advances the segment's lengths
 * when the entry is complete. The caller holds the appender, or it is the keeper's.
 */
struct volley_entry *segment_reserve(struct cache *cache, struct appender *appender,
				     enum queue queue, uint32_t bytes);
/* The queue of a new entry with these flags (host order). */
enum queue entry_queue(const struct volley_key *key, uint16_t flags);
void segment_commit(struct appender *appender, enum queue queue, const struct volley_entry *e);

/* Seals open segments that are older than all sealed segments of their queue. Keeper only. */
void segments_seal_idle(struct cache *cache);

/* The next entry of a segment, or NULL at its end. For the first entry, e is NULL. */
static inline struct volley_entry *segment_next(struct volley_segment *segment,
						struct volley_entry *e)
{
	uint8_t *at = e ? (uint8_t *)e + e->bytes : (uint8_t *)segment + sizeof(*segment);

	return at < (uint8_t *)segment + segment->used_bytes ? (struct volley_entry *)at : NULL;
}

void fifo_push(struct fifo *fifo, uint32_t item);
bool fifo_pop(struct fifo *fifo, uint32_t *item);

void ghost_remember(struct ghost *ghost, uint64_t hash);
bool ghost_recall(struct ghost *ghost, uint64_t hash); /* and forgets the hash */

/* The slot of this id among n zones (slot 0 counts), else a free slot, else 0. */
uint32_t zone_find_slot(const struct volley_zone *zones, uint32_t n, const uint64_t id[2]);

/* Adopts segments and words of an earlier daemon; drops those that contradict themselves. */
int cache_adopt(struct cache *cache);

#endif
