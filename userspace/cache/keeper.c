/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes room: withdraws the entries of the oldest segment that are not asked for.
 *
 *   queue ─► retired: entries copied to main, or withdrawn ─► emptied ─► grace ─► free
 */
#include "cache/keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/sandbox.h"
#include "cache/cache_state.h"
#include "cache/dependency_filter.h"

/*
 * Shares of the segments in use. Main gives way only if probation has at most a tenth. Denials give
 * way first if they have more than a 32nd. A tenth for denials would cost 0.5 points of the hit
 * ratio without any flood (tests/perf/hitratio), a 32nd costs 0.1.
 */
#define PROBATION_SHARE 10u
#define DENIAL_SHARE    32u
#define KEEP_BYTES_MAX  (VOLLEY_SEGMENT_BYTES / 4 * 3)

static bool is_valid(const struct cache *cache, const struct volley_entry *e, uint32_t now_s)
{
	return entry_verdict(cache, e, now_s) == CACHE_HIT;
}

/*
 * The least freq with which an entry is kept, so that the kept entries fill at most KEEP_BYTES_MAX:
 * else a cache whose entries are all much used would copy all of them again and again. The segment
 * also holds replaced entries; they are not in the index and do not count.
 */
static uint8_t keep_from(const struct cache *cache, struct volley_segment *segment, uint32_t now_s)
{
	uint32_t bytes[VOLLEY_FREQ_MAX + 1] = { 0 };
	struct volley_entry *e = NULL;
	uint32_t sum = 0;
	uint8_t freq;

	while ((e = segment_next(segment, e))) {
		freq = entry_freq(e);
		if (freq && is_valid(cache, e, now_s) && entry_word_slot(cache, e))
			bytes[freq] += e->bytes;
	}
	for (freq = VOLLEY_FREQ_MAX; freq > 0; freq--) {
		sum += bytes[freq];
		if (sum > KEEP_BYTES_MAX)
			break;
	}
	return freq < VOLLEY_FREQ_MAX ? (uint8_t)(freq + 1) : VOLLEY_FREQ_MAX;
}

/* Copies an entry to the main queue and makes its word lead to the copy. */
static bool copy_keeper_entry(struct cache *cache, const struct volley_entry *e, uint64_t *slot,
			      uint8_t freq)
{
	uint64_t word = entry_word(cache, e);
	struct volley_entry *copy = segment_reserve(cache, &cache->keeper, QUEUE_MAIN, e->bytes);

	if (!copy)
		return false;
	entry_copy(copy, e);
	copy->freq = freq;
	segment_commit(&cache->keeper, QUEUE_MAIN, copy);
	if (__atomic_compare_exchange_n(slot, &word, entry_word(cache, copy), false,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		COUNT(cache->keeper_writer, kept, 1);
	return true;
}

static void withdraw_entry(struct cache *cache, const struct volley_entry *e, uint64_t *slot,
			   enum queue queue, bool valid)
{
	uint64_t word = entry_word(cache, e);

	if (!__atomic_compare_exchange_n(slot, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	if (!valid) {
		COUNT(cache->keeper_writer, expired, 1);
		return;
	}
	COUNT(cache->keeper_writer, evicted, 1);
	if (queue == QUEUE_PROBATION)
		ghost_remember(&cache->ghost, e->hash);
}

/* Empties a sealed segment: from now on no word leads into it. */
static void retire_keeper(struct cache *cache, struct volley_segment *segment, uint32_t now_s)
{
	enum queue queue = segment->queue == QUEUE_MAIN ? QUEUE_MAIN : QUEUE_PROBATION;
	uint8_t least = keep_from(cache, segment, now_s);
	struct volley_entry *e = NULL;
	uint32_t kept_bytes = 0;

	__atomic_store_n(&segment->state, VOLLEY_SEGMENT_RETIRED, __ATOMIC_RELEASE);
	while ((e = segment_next(segment, e))) {
		uint64_t *slot = entry_word_slot(cache, e);
		bool valid = is_valid(cache, e, now_s);
		uint8_t freq = entry_freq(e);

		if (!slot)
			continue;
		if (valid && freq >= least && kept_bytes + e->bytes <= KEEP_BYTES_MAX &&
		    copy_keeper_entry(cache, e, slot,
				      queue == QUEUE_MAIN ? (uint8_t)(freq - 1) : 0))
			kept_bytes += e->bytes;
		else
			withdraw_entry(cache, e, slot, queue, valid);
	}
	COUNT(cache->keeper_writer, segments_retired, 1);
}

/* The queue that gives way: one that has segments, if any has. */
static enum queue oldest_queue(const struct cache *cache)
{
	uint32_t n_denial = cache->queues[QUEUE_DENIAL].n;
	uint32_t n_probation = cache->queues[QUEUE_PROBATION].n;
	uint32_t n_main = cache->queues[QUEUE_MAIN].n;
	uint32_t n = n_denial + n_probation + n_main;

	if (n_denial * DENIAL_SHARE > n)
		return QUEUE_DENIAL;
	if (n_main && n_probation * PROBATION_SHARE <= n)
		return QUEUE_MAIN;
	return QUEUE_PROBATION;
}

/* Under the lock. */
static bool is_room_wanted(const struct cache *cache)
{
	return cache->free.n + cache->emptied.n < segments_reserve(cache);
}

/*
 * Takes the next segment to retire, if one is wanted. Its kept entries need at most one free
 * segment, and it becomes free itself after the grace period. So a batch ends when no segment is
 * left to copy into.
 */
static bool take_oldest(struct cache *cache, uint32_t *number)
{
	uint32_t n_emptied;
	bool taken = false;

	pthread_mutex_lock(&cache->lock);
	n_emptied = cache->emptied.n;
	if (n_emptied < EMPTIED_MAX && is_room_wanted(cache) && (cache->free.n || !n_emptied))
		taken = fifo_pop(&cache->queues[oldest_queue(cache)], number);
	pthread_mutex_unlock(&cache->lock);
	return taken;
}

static void push_emptied(struct cache *cache, uint32_t number)
{
	pthread_mutex_lock(&cache->lock);
	fifo_push(&cache->emptied, number);
	pthread_mutex_unlock(&cache->lock);
}

static bool wants_room(struct cache *cache)
{
	bool wanted;

	pthread_mutex_lock(&cache->lock);
	wanted = is_room_wanted(cache);
	pthread_mutex_unlock(&cache->lock);
	return wanted;
}

static uint32_t n_emptied(struct cache *cache)
{
	uint32_t n;

	pthread_mutex_lock(&cache->lock);
	n = cache->emptied.n;
	pthread_mutex_unlock(&cache->lock);
	return n;
}

void cache_turn_take(struct cache *cache)
{
	pthread_mutex_lock(&cache->next);
	pthread_mutex_lock(&cache->turn);
	pthread_mutex_unlock(&cache->next);
}

void cache_turn_release(struct cache *cache)
{
	pthread_mutex_unlock(&cache->turn);
}

static void free_emptied(struct cache *cache)
{
	uint32_t number;

	cache_turn_take(cache);
	pthread_mutex_lock(&cache->lock);
	while (fifo_pop(&cache->emptied, &number)) {
		filter_freed(cache->filter, number);
		__atomic_store_n(&segment_at(cache, number)->state, VOLLEY_SEGMENT_FREE,
				 __ATOMIC_RELEASE);
		fifo_push(&cache->free, number);
	}
	cache->wanted = false;
	pthread_mutex_unlock(&cache->lock);
	cache_turn_release(cache);
}

uint32_t cache_keep(struct cache *cache, uint32_t now_s, cache_grace_fn *grace, void *user)
{
	uint32_t number, n;

	if (wants_room(cache))
		segments_seal_idle(cache);
	while (take_oldest(cache, &number)) {
		cache_turn_take(cache);
		retire_keeper(cache, segment_at(cache, number), now_s);
		cache_turn_release(cache);
		push_emptied(cache, number);
	}
	n = n_emptied(cache);
	if (!n)
		return 0;
	if (grace(user))
		return 0;
	COUNT(cache->keeper_writer, grace_periods, 1);
	free_emptied(cache);
	return n;
}

#define ROUND_MS 200

/*
 * Segments added to the filter in ROUND_MS. At most some 6 % of a core, for some 40 MiB of answers
 * a second. If the filter is behind in a flood, the keeper hurries when a zone changes.
 */
#define TEND_SEGMENTS  32u
#define HASTE_SEGMENTS 4u /* 2 ms in all; then the keeper checks for room again */

static bool is_hurried(struct cache *cache)
{
	bool is;

	pthread_mutex_lock(&cache->lock);
	is = cache->filter_hurried;
	pthread_mutex_unlock(&cache->lock);
	return is;
}

/* One segment in a turn, so that a change of a zone waits only for that. */
static bool tend(struct cache *cache, uint32_t n_max)
{
	uint32_t n;

	for (n = 0; n < n_max && cache_filter_tend(cache, 1); n++)
		;
	return n == n_max;
}

int cache_keep_filter(struct cache *cache, uint64_t now_ns, uint64_t *next_ns)
{
	if (is_hurried(cache))
		return tend(cache, HASTE_SEGMENTS) ? 0 : ROUND_MS;
	if (now_ns < *next_ns)
		return ROUND_MS; /* once in ROUND_MS, however often room is wanted */
	*next_ns = now_ns + ROUND_MS * 1000000ull;
	(void)tend(cache, TEND_SEGMENTS);
	return ROUND_MS;
}

void cache_keeper_wait(struct cache *cache, int timeout_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	until.tv_sec += timeout_ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&cache->lock);
	while (!cache->wanted)
		if (pthread_cond_timedwait(&cache->room_wanted, &cache->lock, &until))
			break;
	cache->wanted = false;
	pthread_mutex_unlock(&cache->lock);
}

struct cache_keeper {
	struct cache *cache;
	cache_grace_fn *grace;
	void *user;
	pthread_t thread;
	bool stopping;
};

static bool is_keeper_stopping(const struct cache_keeper *keeper)
{
	return __atomic_load_n(&keeper->stopping, __ATOMIC_ACQUIRE);
}

static void *keeper_main(void *arg)
{
	struct cache_keeper *keeper = arg;
	uint64_t next_ns = 0;
	int pause_ms;

	sandbox_enter(SANDBOX_QUIET);
	while (!is_keeper_stopping(keeper)) {
		while (cache_keep(keeper->cache, clock_coarse_s(), keeper->grace, keeper->user) &&
		       !is_keeper_stopping(keeper))
			;
		pause_ms = cache_keep_filter(keeper->cache, clock_ns(), &next_ns);
		if (pause_ms && !is_keeper_stopping(keeper))
			cache_keeper_wait(keeper->cache, pause_ms);
	}
	return NULL;
}

int cache_keeper_start(struct cache_keeper **out, struct cache *cache, cache_grace_fn *grace,
		       void *user)
{
	struct cache_keeper *keeper = calloc(1, sizeof(*keeper));
	int err;

	if (!keeper)
		return -ENOMEM;
	*keeper = (struct cache_keeper){ .cache = cache, .grace = grace, .user = user };
	err = pthread_create(&keeper->thread, NULL, keeper_main, keeper);
	if (err) {
		free(keeper);
		return -err;
	}
	*out = keeper;
	return 0;
}

void cache_keeper_stop(struct cache_keeper *keeper)
{
	if (!keeper)
		return;
	__atomic_store_n(&keeper->stopping, true, __ATOMIC_RELEASE);
	pthread_mutex_lock(&keeper->cache->lock);
	keeper->cache->wanted = true;
	pthread_cond_signal(&keeper->cache->room_wanted);
	pthread_mutex_unlock(&keeper->cache->lock);
	pthread_join(keeper->thread, NULL);
	free(keeper);
}
