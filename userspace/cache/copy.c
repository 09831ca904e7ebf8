/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rounds over the old index, in parts. The first round counts octets by rank: this gives the rank
 * from which on everything has room. The next round copies these ranks, in the order of the index,
 * so that much and little used entries lie mixed in the new segments, as in the old ones. The last
 * round copies a share of the rank that has room only in part. The hash chooses the share: the
 * first entries of the index would all need the same buckets.
 */
#include "cache/copy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <urcu-qsbr.h>

#include "cache/cache_state.h"
#include "cache/entry_walk.h"
#include "dns/proto.h"

#define ALL        65536u
#define PART_WORDS 2048u /* of the index in one read section: some 1 ms if all are copied */

struct copier {
	struct cache *from, *to;
	struct cache_writer writer; /* in no list: a copy does not count as published */
	uint32_t now_s;
	uint32_t since_s;   /* entries that were published before are skipped */
	uint32_t from_rank; /* entries of a lower rank are skipped */
	uint32_t share;     /* of from_rank, in units of 1 / ALL */
	uint64_t bytes[COPY_RANKS];
	uint64_t entries[COPY_RANKS];
	const bool *cancel;
	struct cache_copied *told;
	bool is_full;
};

static void add_copied(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* COPY_RANKS: it is not copied. */
static uint32_t rank_of_copied(const struct copier *c, const struct volley_entry *e)
{
	switch (entry_verdict(c->from, e, c->now_s)) {
	case CACHE_HIT:
		return 1u + entry_freq(e) + cache_entry_is_main(c->from, e);
	case CACHE_EXPIRED:
		return 0;
	default:
		return COPY_RANKS;
	}
}

/* --- An entry --------------------------------------------------------------------------------- */

static enum queue queue_of_copied(const struct copier *c, const struct volley_entry *e)
{
	if (cache_entry_is_main(c->from, e))
		return QUEUE_MAIN;
	return entry_queue(&e->key, ntohs(e->flags));
}

static void take_copied_key(struct cache_key *key, const struct volley_entry *e)
{
	key->hash = e->hash; /* both caches have the same secrets */
	key->n_words = 1 + volley_name_padded(e->key.name_bytes) / 8;
	memcpy(key->words, &e->key, key->n_words * 8);
}

/*
 * True if the new cache has a valid entry of the key that is not older. An older one is withdrawn.
 * Two entries of the same age are of the same state of the zone, or both hold until they expire.
 */
static bool is_copied_there(const struct copier *c, const struct cache_key *key,
			    const struct volley_entry *e)
{
	const struct volley_entry *present;
	uint64_t *slot, word;

	if (cache_lookup(c->to, key, c->now_s, false, &present) != CACHE_HIT)
		return false;
	if (present->born_s >= e->born_s)
		return true;
	word = entry_word(c->to, present);
	slot = entry_word_slot(c->to, present);
	if (slot)
		__atomic_compare_exchange_n(slot, &word, 0, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED);
	return false;
}

/* 0, or -ENOSPC. Other errors: another writer was faster, or is changing the same key. */
static int append_copied(struct copier *c, const struct cache_key *key,
			 const struct volley_entry *e)
{
	struct appender *appender = appender_take(&c->writer);
	enum queue queue = queue_of_copied(c, e);
	struct volley_entry *copy;
	int err = -ENOSPC;

	if (!appender)
		return -EAGAIN;
	copy = segment_reserve(c->to, appender, queue, e->bytes);
	if (copy) {
		entry_copy(copy, e);
		copy->freq = entry_freq(e);
		segment_commit(appender, queue, copy);
		err = publish_word(&c->writer, key, copy, true, c->now_s);
	}
	appender_release(appender);
	return err;
}

static bool is_copied_wanted(const struct copier *c, const struct volley_entry *e)
{
	uint32_t rank = rank_of_copied(c, e);

	if (rank == COPY_RANKS || rank < c->from_rank || e->born_s < c->since_s)
		return false;
	return rank > c->from_rank || e->hash >> 48 < c->share;
}

static enum walk_step copy_copied_entry(void *user, const struct volley_entry *e)
{
	struct copier *c = user;
	struct cache_key key;
	int err;

	if (!is_copied_wanted(c, e))
		return WALK_ON;
	take_copied_key(&key, e);
	if (is_copied_there(c, &key, e))
		return WALK_ON;
	err = append_copied(c, &key, e);
	c->is_full |= err == -ENOSPC;
	add_copied(&c->told->n_copied, !err);
	return c->is_full ? WALK_STOP : WALK_ON;
}

static enum walk_step count_entry(void *user, const struct volley_entry *e)
{
	struct copier *c = user;
	uint32_t rank = rank_of_copied(c, e);

	if (rank == COPY_RANKS)
		return WALK_ON;
	c->bytes[rank] += e->bytes;
	c->entries[rank]++;
	return WALK_ON;
}

/* --- Rounds ----------------------------------------------------------------------------------- */

/* The number of segments that may be filled. The keeper's reserve stays free for publishers. */
static uint32_t n_room(struct cache *cache)
{
	uint32_t reserve = segments_reserve(cache), n;

	pthread_mutex_lock(&cache->lock);
	n = cache->free.n > reserve ? cache->free.n - reserve : 0;
	pthread_mutex_unlock(&cache->lock);
	return n;
}

static int go_round(struct copier *c, walk_visit *visit)
{
	size_t at = 0, end = cache_walk_end(c->from), before;

	while (at < end && !c->is_full) {
		if (__atomic_load_n(c->cancel, __ATOMIC_RELAXED))
			return -ECANCELED;
		before = at;
		rcu_thread_online();
		cache_walk_part(c->from, &at, PART_WORDS, visit, c);
		rcu_thread_offline();
		add_copied(&c->told->words_done, at - before);
		c->is_full |= visit == copy_copied_entry && !n_room(c->to);
		sched_yield();
	}
	return 0;
}

/* Chooses the lowest rank that has room, and the share of it. */
static void choose_copied(struct copier *c)
{
	uint64_t room = (uint64_t)n_room(c->to) * VOLLEY_START_MAX;
	uint32_t rank = COPY_RANKS - 1;

	while (rank && c->bytes[rank] <= room)
		room -= c->bytes[rank--];
	c->from_rank = rank;
	c->share = ALL;
	if (c->bytes[rank] > room)
		c->share = (uint32_t)(room * ALL / c->bytes[rank]);
}

/* The ranks with room for all go first, since more entries may come than were counted. */
static int copy_ranks(struct copier *c)
{
	uint32_t share = c->share;
	int err;

	if (share < ALL) {
		add_copied(&c->told->n_words, cache_walk_end(c->from));
		c->share = 0;
		err = go_round(c, copy_copied_entry);
		if (err)
			return err;
		c->share = share;
	}
	return go_round(c, copy_copied_entry);
}

/*
 * If all had room, the entries not copied were withdrawn meanwhile. In a full bucket a copy
 * displaces another one.
 */
static void count_left_out(const struct copier *c)
{
	uint64_t n_displaced = c->writer.counters.displaced;
	struct cache_copied *told = c->told;

	told->n_copied -= n_displaced;
	if (c->share < ALL || c->is_full || n_displaced || told->n_left_out)
		told->n_left_out =
			told->n_entries > told->n_copied ? told->n_entries - told->n_copied : 0;
}

static void begin_copied(struct copier *c, struct cache *to, uint32_t now_s, const bool *cancel,
			 struct cache_copied *told)
{
	*c = (struct copier){ .from = to->from,
			      .to = to,
			      .writer = { .cache = to },
			      .now_s = now_s,
			      .cancel = cancel,
			      .told = told };
}

/*
 * `into` is set before the copy first reads the index. So a sweep that finds it NULL has withdrawn
 * its entries before, and the lock makes the copy see that.
 */
static void set_copied(struct cache *cache, struct cache **field, struct cache *value)
{
	pthread_mutex_lock(&cache->lock);
	*field = value;
	pthread_mutex_unlock(&cache->lock);
}

int cache_copy(struct cache *to, uint32_t now_s, const bool *cancel, struct cache_copied *told)
{
	struct copier c;
	int err;

	begin_copied(&c, to, now_s, cancel, told);
	*told = (struct cache_copied){ .n_words = 2 * cache_walk_end(c.from) };
	set_copied(c.from, &c.from->into, to);
	err = go_round(&c, count_entry);
	for (uint32_t i = 0; i < COPY_RANKS; i++)
		add_copied(&told->n_entries, c.entries[i]);
	choose_copied(&c);
	if (!err)
		err = copy_ranks(&c);
	count_left_out(&c);
	return err;
}

int cache_copy_late(struct cache *to, uint32_t since_s, uint32_t now_s, const bool *cancel,
		    struct cache_copied *told)
{
	struct copier c;
	int err;

	begin_copied(&c, to, now_s, cancel, told);
	c.since_s = since_s;
	c.share = ALL;
	add_copied(&told->n_words, cache_walk_end(c.from));
	err = go_round(&c, copy_copied_entry);
	count_left_out(&c);
	return err;
}

/* --- The end ---------------------------------------------------------------------------------- */

void cache_copy_counters(struct cache *to)
{
	struct cache_stats stats;

	cache_stats_read(to->from, &stats);
	pthread_mutex_lock(&to->lock);
	to->past = stats.counters;
	pthread_mutex_unlock(&to->lock);
}

void cache_copy_give_up(struct cache *to)
{
	set_copied(to->from, &to->from->into, NULL);
}

void cache_copy_end(struct cache *to)
{
	/* from->into stays: a sweep in `from` must still continue in `to`. */
	set_copied(to, &to->from, NULL);
}
