/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cache as its own sources see it: its state, and the steps on segments, index words and
 * entries. */
#ifndef VOLLEY_CACHE_CACHE_STATE_H
#define VOLLEY_CACHE_CACHE_STATE_H

#include <pthread.h>
#include <string.h>

#include "cache/cache.h"
#include "xdp/key.h"

/*
 * Queues of segments, oldest first. Denials (NXDOMAIN) are on probation too, and that is what their
 * segments say of themselves: who adopts them finds one queue.
 */
enum queue { QUEUE_PROBATION, QUEUE_MAIN, QUEUE_DENIAL, N_QUEUES };

/* A bounded FIFO of segment numbers; no segment is in two. */
struct fifo {
	uint32_t *items;
	uint32_t cap;
	uint32_t first;
	uint32_t n;
};

#define N_FIFOS     (1u + N_QUEUES) /* that may hold all segments: free, queues */
#define EMPTIED_MAX 64u             /* segments that wait for one grace period */

/*
 * Fingerprints of what left the probation queue unasked, 4 to a set, oldest overwritten: half as
 * many as the index has slots. More do not help: measured on traces like those of test_hitratio.c,
 * 8 or 16 ways let so much into the main queue that the hit ratio falls by 0.7 or 1.2 points.
 */
#define GHOST_WAYS 4u
struct ghost {
	uint16_t *tags;
	uint32_t n_sets;
};

/*
 * A place to append. Writers share them, so that no number of writers holds all segments of a small
 * cache open. Who publishes holds one from the first octet of the entry until its word is in the
 * index: the keeper, which walks sealed segments only, thus sees no entry that has a word to come.
 */
struct appender {
	bool held; /* tried, never waited for */
	struct volley_segment *open[N_QUEUES];
} __attribute__((aligned(64)));

#define APPENDERS_MAX         64u
#define SEGMENTS_PER_APPENDER 16u

struct cache_writer {
	struct cache *cache;
	struct cache_writer *next;
	uint32_t home;                  /* the appender to try first */
	struct cache_counters counters; /* of this thread alone; others read them */
};

struct cache_filter;

struct cache {
	struct cache_memory memory;
	struct ghost ghost;
	struct appender appenders[APPENDERS_MAX];
	uint32_t n_appenders;
	struct appender keeper; /* may take the last free segments */
	struct cache_writer *keeper_writer;
	uint8_t *changed_zones; /* by slot, while somebody watches (generations.h); else NULL */

	pthread_mutex_t next; /* in line for the turn, and */
	pthread_mutex_t turn; /* the turn: entries are moved, and segments freed, by who has it */

	pthread_mutex_t lock; /* all below: taken when a segment changes hands, not before */
	pthread_cond_t room_wanted;
	bool wanted;
	struct fifo free;
	struct fifo emptied; /* no word leads into these: free after a grace period */
	struct fifo queues[N_QUEUES];
	struct cache_writer *writers;
	struct cache_filter *filter; /* or NULL; its pointer is changed in a turn, too */
	bool filter_hurried;         /* the keeper brings in all that there is, at once */
	struct cache *from;          /* whose place this one takes, and */
	struct cache *into;          /* which takes this one's: copy.h; NULL: none */
	uint32_t n_writers;          /* ever made */
	struct cache_counters past;  /* of writers that are gone */
};

/* Adds to a counter of this thread's own writer. */
#define COUNT(writer, name, n)                                                              \
	__atomic_store_n(&(writer)->counters.name, (writer)->counters.name + (uint64_t)(n), \
			 __ATOMIC_RELAXED)

/*
 * The turn: the keeper takes one for each segment that it empties, and one to free what it has
 * emptied; an invalidation (dependency_filter.h) takes one. Who waits comes before who has just had
 * it. The lock may be taken in it.
 */
void cache_turn_take(struct cache *cache);
void cache_turn_release(struct cache *cache);

/* A writer has taken a segment; under the lock. No reader holds it any more; in a turn. NULL is
 * allowed. */
void filter_opened(struct cache_filter *filter, uint32_t segment);
void filter_freed(struct cache_filter *filter, uint32_t segment);
void filter_free(struct cache_filter *filter);

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

/* All octets of an entry but freq, which readers go on counting in `e`, as they may set
 * refreshing. */
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
 * Whether an entry that nobody vouches for agrees with itself: its lengths with each other and with
 * the room that it lies in, its list of TTLs with its lengths, its body with its sums. Zone and
 * times are the caller's to judge, and so is the key, but for its view.
 */
bool entry_is_sound(const struct volley_entry *e, size_t room_bytes);

/* Offsets of 4 octets each that ascend, lie apart and in the body, none on both sides of its short
 * form's end. */
bool entry_ttls_are_sound(const uint16_t *ttls, uint32_t n, uint32_t full_bytes,
			  uint32_t short_bytes);

/*
 * The one's complement sum of `n` octets that lie at `offset` of a message, with the TTLs among
 * them, at these offsets, taken as 0.
 */
uint16_t entry_body_sum(const uint8_t *body, uint32_t n, uint32_t offset, const uint16_t *ttls,
			uint32_t n_ttls);

/* What lies before the body in a message. */
static inline uint32_t entry_body_at(const struct volley_key *key)
{
	return 12u + key->name_bytes + 4u;
}

/* The hash of a key of `n_words` under this cache's secrets: the same in all views. */
uint64_t key_hash(const struct cache *cache, const uint64_t *words, uint32_t n_words);

/* The slot whose word leads to this entry, or NULL. */
uint64_t *entry_word_slot(const struct cache *cache, const struct volley_entry *e);

/*
 * Turns the key's word to `e`, which is whole and committed; the appender is still held. `yields`:
 * a valid entry of the key stays, -EEXIST. Other errors as those of cache_publish().
 */
int publish_word(struct cache_writer *writer, const struct cache_key *key,
		 const struct volley_entry *e, bool yields, uint32_t now_s);

/* An appender that nobody holds, and its release. NULL: all are held just now. */
struct appender *appender_take(struct cache_writer *writer);
void appender_release(struct appender *appender);

/*
 * Room for `bytes` at the end of `queue`, or NULL. The segment's lengths are moved on by
 * segment_commit, when the entry is whole. The appender is held, or the keeper's.
 */
struct volley_entry *segment_reserve(struct cache *cache, struct appender *appender,
				     enum queue queue, uint32_t bytes);
/* The queue of a new entry with these flags (host order). */
enum queue entry_queue(const struct volley_key *key, uint16_t flags);
void segment_commit(struct appender *appender, enum queue queue, const struct volley_entry *e);

/* Seals open segments that are older than all sealed ones of their queue. Keeper. */
void segments_seal_idle(struct cache *cache);

/* The next entry of a segment, or NULL at its end. Begins with e = NULL. */
static inline struct volley_entry *segment_next(struct volley_segment *segment,
						struct volley_entry *e)
{
	uint8_t *at = e ? (uint8_t *)e + e->bytes : (uint8_t *)segment + sizeof(*segment);

	return at < (uint8_t *)segment + segment->used_bytes ? (struct volley_entry *)at : NULL;
}

void fifo_push(struct fifo *fifo, uint32_t item);
bool fifo_pop(struct fifo *fifo, uint32_t *item);

void ghost_remember(struct ghost *ghost, uint64_t hash);
bool ghost_recall(struct ghost *ghost, uint64_t hash); /* and forgets it */

/* Among n zones with slot 0 the slot of this id, else a free one, else 0. */
uint32_t zone_find_slot(const struct volley_zone *zones, uint32_t n, const uint64_t id[2]);

/* Takes over the segments and words of an earlier daemon; drops what contradicts itself. */
int cache_adopt(struct cache *cache);

#endif
