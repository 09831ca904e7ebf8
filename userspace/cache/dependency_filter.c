/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Only the thread with the turn (cache_state.h) reads and changes the filter. The keeper moves
 * entries and frees segments only in its turn, so the thread with the turn sees each entry in one
 * place, and no segment is reused. Writers append meanwhile; what they publish is up to date.
 *
 *      segment   opened: pending ──► sealed, all added: complete ──► freed: neither
 *                  ▲ by a writer, under the cache's lock     all else: in a turn
 */
#include "cache/dependency_filter.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cache/cache_state.h"

#define GROUP_ROWS   32768u /* 15 bits of a hash choose one */
#define STRIPE_ROWS  512u   /* 9 bits */
#define STRIPES      64u
#define STRIPE_BYTES (VOLLEY_SEGMENT_BYTES / STRIPES)

/*
 * Bounds of a turn. After LOOKS_MAX tests of a group, of some 40 ns each (tests/perf/withdrawcost),
 * the other dependencies wait for the next turn. If more than VISIT_MAX stripes are found, of 2 or
 * 3 us each, a walk is better: no other thread waits for it.
 */
#define LOOKS_MAX 250000u
#define VISIT_MAX 16384u

/* After so many useless visits a filter is rebuilt without dead entries; the number doubles. */
#define PATIENCE_MIN 16u
#define PATIENCE_MAX 16384u

#define TURN_SEGMENTS 4u /* added in a turn, some 2 ms, before the keeper may go on */

/* The filter is ready if an invalidation must add at most so many sealed segments itself. */
#define READY_SEGMENTS 8u

struct part {
	uint32_t upto; /* octets of the segment that were added; 0: none, the rows are invalid */
	uint16_t n_idle, patience;
	bool is_thin;            /* entries that are not in the index are left out */
	uint16_t first[STRIPES]; /* where its first entry begins, in units; 0: none */
};

struct cache_filter {
	dependencies_fn *dependencies;
	uint32_t n_segments, n_groups;
	uint64_t *groups;   /* GROUP_ROWS for each */
	uint64_t *stripes;  /* STRIPE_ROWS for each segment */
	struct part *parts; /* for each segment */
	uint64_t *pending;  /* a bit for each segment, as in `complete` */
	uint64_t *complete;
	uint64_t *found; /* stripes of each segment; 0 outside of cache_invalidate() */
	size_t map_bytes;
	uint32_t next_group; /* the next to fill */
	/* since the last invalidation; a reader may still hold an entry left out */
	bool is_thinned;
	struct dependencies scratch;
};

/* --- Rows ------------------------------------------------------------------------------------- */

/* The four rows of a hash in each table, from independent bits. */
struct rows {
	uint32_t group[4], stripe[4];
};

static struct rows rows_of(uint64_t dependency)
{
	uint64_t other = dependency * 0x9e3779b97f4a7c15u;
	struct rows rows;

	for (unsigned i = 0; i < 4; i++) {
		rows.group[i] = (uint32_t)(dependency >> 15 * i) % GROUP_ROWS;
		rows.stripe[i] = (uint32_t)(other >> (28 + 9 * i)) % STRIPE_ROWS;
	}
	return rows;
}

static uint64_t *group_of(const struct cache_filter *filter, uint32_t segment)
{
	return filter->groups + (size_t)(segment / 64) * GROUP_ROWS;
}

static uint64_t *stripes_of(const struct cache_filter *filter, uint32_t segment)
{
	return filter->stripes + (size_t)segment * STRIPE_ROWS;
}

static uint64_t dependency_common(const uint64_t *table, const uint32_t row[4])
{
	return table[row[0]] & table[row[1]] & table[row[2]] & table[row[3]];
}

static uint64_t bit(uint32_t n)
{
	return UINT64_C(1) << n % 64;
}

/* --- Adding entries --------------------------------------------------------------------------- */

static void clear(const struct cache_filter *filter, uint32_t number)
{
	struct part *part = &filter->parts[number];
	uint64_t *group = group_of(filter, number), others = ~bit(number);

	for (uint32_t row = 0; row < GROUP_ROWS; row++)
		group[row] &= others;
	memset(stripes_of(filter, number), 0, STRIPE_ROWS * sizeof(uint64_t));
	memset(part->first, 0, sizeof(part->first));
	part->upto = sizeof(struct volley_segment);
}

static void add_dependency(const struct cache_filter *filter, uint32_t number, uint32_t stripe,
			   uint64_t dependency)
{
	uint64_t *group = group_of(filter, number), *stripes = stripes_of(filter, number);
	struct rows rows = rows_of(dependency);

	for (unsigned i = 0; i < 4; i++) {
		group[rows.group[i]] |= bit(number);
		stripes[rows.stripe[i]] |= bit(stripe);
	}
}

static void add_entry(const struct cache *cache, uint32_t number, uint32_t at)
{
	struct cache_filter *filter = cache->filter;
	struct part *part = &filter->parts[number];
	const struct volley_entry *e =
		(const void *)((const uint8_t *)segment_at(cache, number) + at);
	uint32_t stripe = at / STRIPE_BYTES;

	if (part->is_thin && !entry_word_slot(cache, e)) {
		filter->is_thinned = true;
		return;
	}
	if (!part->first[stripe]) {
		part->first[stripe] = (uint16_t)(at / VOLLEY_UNIT_BYTES);
		/* hashes added to another stripe are not in this one */
		dependencies_clear(&filter->scratch);
	}
	filter->scratch.n = 0;
	filter->dependencies(cache_filter_seed(cache), e, &filter->scratch);
	for (unsigned i = 0; i < filter->scratch.n; i++)
		add_dependency(filter, number, stripe, filter->scratch.items[i]);
}

/* Adds the new entries of a pending segment. True: there will be no more. */
static bool fill_dependency(const struct cache *cache, uint32_t number)
{
	const struct volley_segment *segment = segment_at(cache, number);
	struct part *part = &cache->filter->parts[number];
	uint32_t state = __atomic_load_n(&segment->state, __ATOMIC_ACQUIRE), used;

	if (state == VOLLEY_SEGMENT_FREE)
		return false; /* a writer has taken it and is about to open it */
	used = __atomic_load_n(&segment->used_bytes, __ATOMIC_ACQUIRE);
	if (!part->upto)
		clear(cache->filter, number);
	dependencies_clear(&cache->filter->scratch);
	while (part->upto < used) {
		const struct volley_entry *e =
			(const void *)((const uint8_t *)segment + part->upto);

		add_entry(cache, number, part->upto);
		part->upto += e->bytes;
	}
	return state != VOLLEY_SEGMENT_OPEN;
}

static void set_complete(const struct cache_filter *filter, uint32_t number, bool is_complete)
{
	uint64_t *pending = &filter->pending[number / 64];

	if (is_complete) {
		filter->complete[number / 64] |= bit(number);
		__atomic_and_fetch(pending, ~bit(number), __ATOMIC_RELAXED);
	} else {
		filter->complete[number / 64] &= ~bit(number);
		__atomic_or_fetch(pending, bit(number), __ATOMIC_RELAXED);
	}
}

/* Fills the pending segments of a group until *n_max have become complete. */
static void fill_group(const struct cache *cache, uint32_t group, uint32_t *n_max)
{
	uint64_t left = __atomic_load_n(&cache->filter->pending[group], __ATOMIC_ACQUIRE);

	for (uint64_t ahead = left; ahead; ahead &= ahead - 1)
		__builtin_prefetch(
			segment_at(cache, group * 64 + (uint32_t)__builtin_ctzll(ahead)));
	for (; left && *n_max; left &= left - 1) {
		uint32_t number = group * 64 + (uint32_t)__builtin_ctzll(left);

		if (!fill_dependency(cache, number))
			continue;
		set_complete(cache->filter, number, true);
		--*n_max;
	}
}

static bool fill_some(const struct cache *cache, uint32_t n_max)
{
	struct cache_filter *filter = cache->filter;

	for (uint32_t i = 0; i < filter->n_groups; i++) {
		fill_group(cache, filter->next_group, &n_max);
		if (!n_max)
			return true;
		filter->next_group = (filter->next_group + 1) % filter->n_groups;
	}
	return false;
}

bool cache_filter_tend(struct cache *cache, uint32_t n_max)
{
	bool has_more;

	cache_turn_take(cache);
	has_more = cache->filter && fill_some(cache, n_max);
	if (!has_more) {
		pthread_mutex_lock(&cache->lock);
		cache->filter_hurried = false;
		pthread_mutex_unlock(&cache->lock);
	}
	cache_turn_release(cache);
	return has_more;
}

/* --- Is it ready? ----------------------------------------------------------------------------- */

static uint32_t count_sealed(const struct cache *cache, uint32_t group)
{
	uint64_t left = __atomic_load_n(&cache->filter->pending[group], __ATOMIC_ACQUIRE);
	uint32_t n = 0;

	for (; left; left &= left - 1) {
		uint32_t number = group * 64 + (uint32_t)__builtin_ctzll(left);
		const uint32_t *state = &segment_at(cache, number)->state;

		n += __atomic_load_n(state, __ATOMIC_ACQUIRE) == VOLLEY_SEGMENT_SEALED;
	}
	return n;
}

/* Under the lock. */
static bool is_ready(const struct cache *cache)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < cache->filter->n_groups && n <= READY_SEGMENTS; i++)
		n += count_sealed(cache, i);
	return n <= READY_SEGMENTS;
}

bool cache_filter_is_ready(struct cache *cache)
{
	bool is = true;

	pthread_mutex_lock(&cache->lock);
	if (cache->filter)
		is = is_ready(cache);
	if (!is) {
		cache->filter_hurried = cache->wanted = true;
		pthread_cond_signal(&cache->room_wanted);
	}
	pthread_mutex_unlock(&cache->lock);
	return is;
}

/* --- Segments come and go --------------------------------------------------------------------- */

void filter_opened(struct cache_filter *filter, uint32_t segment)
{
	if (filter)
		__atomic_or_fetch(&filter->pending[segment / 64], bit(segment), __ATOMIC_RELEASE);
}

void filter_freed(struct cache_filter *filter, uint32_t segment)
{
	if (!filter)
		return;
	filter->complete[segment / 64] &= ~bit(segment);
	__atomic_and_fetch(&filter->pending[segment / 64], ~bit(segment), __ATOMIC_RELAXED);
	filter->parts[segment] = (struct part){ .patience = PATIENCE_MIN };
}

/* --- Invalidation ----------------------------------------------------------------------------- */

static void find_dependency(const struct cache_filter *filter, uint64_t dependency)
{
	struct rows rows = rows_of(dependency);

	for (uint32_t i = 0; i < filter->n_groups; i++) {
		uint64_t used = filter->complete[i] |
				__atomic_load_n(&filter->pending[i], __ATOMIC_RELAXED);
		uint64_t segments =
			dependency_common(filter->groups + (size_t)i * GROUP_ROWS, rows.group) &
			used;

		for (; segments; segments &= segments - 1) {
			uint32_t number = i * 64 + (uint32_t)__builtin_ctzll(segments);

			filter->found[number] |=
				dependency_common(stripes_of(filter, number), rows.stripe);
		}
	}
}

static uint32_t n_found(const struct cache_filter *filter)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < filter->n_segments; i++)
		n += (uint32_t)__builtin_popcountll(filter->found[i]);
	return n;
}

struct invalidating {
	struct cache *cache;
	const struct cache_invalidation *invalidation;
	uint64_t n_withdrawn;
	/* an affected entry was found, in the index or not, or may have been left out */
	bool is_seen;
};

static void visit_dependency(struct invalidating *s, const struct volley_entry *e)
{
	uint64_t word = entry_word(s->cache, e), *slot;

	if (!s->invalidation->is_affected(s->invalidation->user, e))
		return;
	s->is_seen = true;
	slot = entry_word_slot(s->cache, e);
	if (!slot ||
	    !__atomic_compare_exchange_n(slot, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return; /* it was dead, or a writer has just replaced it */
	s->n_withdrawn++;
	s->invalidation->withdrawn(s->invalidation->user, e);
}

static void visit_stripe(struct invalidating *s, uint32_t number, uint32_t stripe)
{
	const struct part *part = &s->cache->filter->parts[number];
	const uint8_t *segment = (const uint8_t *)segment_at(s->cache, number);
	uint32_t at = (uint32_t)part->first[stripe] * VOLLEY_UNIT_BYTES;
	uint32_t end = (stripe + 1) * STRIPE_BYTES;

	while (at && at < end && at < part->upto) {
		const struct volley_entry *e = (const void *)(segment + at);

		visit_dependency(s, e);
		at += e->bytes;
	}
}

/* Names that change often leave dead entries, which would be visited again and again. */
static void note_idle(const struct cache_filter *filter, uint32_t number)
{
	struct part *part = &filter->parts[number];

	if (++part->n_idle < part->patience || !(filter->complete[number / 64] & bit(number)))
		return;
	part->n_idle = 0;
	if (part->patience < PATIENCE_MAX)
		part->patience = (uint16_t)(part->patience * 2);
	part->is_thin = true;
	part->upto = 0;
	set_complete(filter, number, false);
}

static void visit_segment(struct invalidating *s, uint32_t number)
{
	uint64_t stripes = s->cache->filter->found[number], n_before = s->n_withdrawn;

	for (; stripes; stripes &= stripes - 1)
		visit_stripe(s, number, (uint32_t)__builtin_ctzll(stripes));
	if (s->n_withdrawn == n_before)
		note_idle(s->cache->filter, number);
}

static int visit_found(struct invalidating *s)
{
	struct cache_filter *filter = s->cache->filter;
	bool is_few = n_found(filter) <= VISIT_MAX;

	for (uint32_t i = 0; i < filter->n_segments; i++) {
		if (filter->found[i] && is_few)
			visit_segment(s, i);
		filter->found[i] = 0;
	}
	return is_few ? 0 : -EOPNOTSUPP;
}

/* One turn, for the dependencies from *at on. Moves *at past the dependencies that are done. */
static int invalidate_in_turn(struct invalidating *s, size_t *at)
{
	struct cache_filter *filter = s->cache->filter;
	size_t n_max = LOOKS_MAX / filter->n_groups + 1, n = s->invalidation->n_dependencies - *at;

	if (n > n_max)
		n = n_max;
	fill_some(s->cache, UINT32_MAX);
	for (; n; n--)
		find_dependency(filter, s->invalidation->dependencies[(*at)++]);
	s->is_seen |= filter->is_thinned;
	filter->is_thinned = false;
	return visit_found(s);
}

static bool is_alone(struct cache *cache)
{
	bool is_alone;

	pthread_mutex_lock(&cache->lock);
	is_alone = !cache->from && !cache->into;
	pthread_mutex_unlock(&cache->lock);
	return is_alone;
}

/*
 * Every entry with a dependency of a turn is withdrawn in that turn, wherever it lies, and is not
 * published again. So the keeper may move entries between the turns.
 */
int cache_invalidate(struct cache *cache, const struct cache_invalidation *invalidation,
		     bool *must_wait)
{
	struct invalidating s = { .cache = cache, .invalidation = invalidation };
	int err = is_alone(cache) ? 0 : -EOPNOTSUPP;
	size_t at = 0;

	while (!err && cache_filter_tend(cache, TURN_SEGMENTS))
		sched_yield();
	while (!err && at < invalidation->n_dependencies) {
		cache_turn_take(cache);
		err = cache->filter ? invalidate_in_turn(&s, &at) : -EOPNOTSUPP;
		cache_turn_release(cache);
	}
	*must_wait = s.is_seen;
	/* a copy may have begun meanwhile: see set_copied() in copy.c */
	return err || is_alone(cache) ? err : -EOPNOTSUPP;
}

/* --- From beginning to end -------------------------------------------------------------------- */

static int make_rows(struct cache_filter *filter)
{
	size_t group_bytes = (size_t)filter->n_groups * GROUP_ROWS * 8;
	uint8_t *map;

	filter->map_bytes = group_bytes + (size_t)filter->n_segments * STRIPE_ROWS * 8;
	map = mmap(NULL, filter->map_bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return -ENOMEM;
	filter->groups = (uint64_t *)map;
	filter->stripes = (uint64_t *)(map + group_bytes);
	return 0;
}

static struct cache_filter *make_dependency(uint32_t n_segments, dependencies_fn *dependencies)
{
	struct cache_filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return NULL;
	filter->dependencies = dependencies;
	filter->n_segments = n_segments;
	filter->n_groups = (n_segments + 63) / 64;
	filter->parts = calloc(n_segments, sizeof(*filter->parts));
	filter->found = calloc(n_segments, sizeof(*filter->found));
	filter->pending = calloc(filter->n_groups, sizeof(*filter->pending));
	filter->complete = calloc(filter->n_groups, sizeof(*filter->complete));
	if (filter->parts && filter->found && filter->pending && filter->complete &&
	    !make_rows(filter))
		return filter;
	filter_free(filter);
	return NULL;
}

void filter_free(struct cache_filter *filter)
{
	if (!filter)
		return;
	if (filter->groups)
		munmap(filter->groups, filter->map_bytes);
	free(filter->parts);
	free(filter->found);
	free(filter->pending);
	free(filter->complete);
	free(filter);
}

/* Every segment that is not free has entries or may soon have some. Under the lock. */
static void find_used(const struct cache *cache, struct cache_filter *filter)
{
	const struct fifo *free_ones = &cache->free;

	for (uint32_t i = 0; i < filter->n_segments; i++)
		filter_opened(filter, i);
	for (uint32_t i = 0; i < filter->n_segments; i++)
		filter->parts[i].patience = PATIENCE_MIN;
	for (uint32_t i = 0; i < free_ones->n; i++)
		filter_freed(filter, free_ones->items[(free_ones->first + i) % free_ones->cap]);
}

int cache_filter_new(struct cache *cache, dependencies_fn *dependencies)
{
	struct cache_filter *filter = NULL;
	int err = 0;

	cache_turn_take(cache);
	pthread_mutex_lock(&cache->lock);
	if (!cache->filter) {
		filter = make_dependency(cache->memory.sizes.n_segments, dependencies);
		err = filter ? 0 : -ENOMEM;
	}
	if (filter) {
		find_used(cache, filter);
		cache->filter = filter;
		cache->filter_hurried = true;
	}
	pthread_mutex_unlock(&cache->lock);
	cache_turn_release(cache);
	return err;
}

uint64_t cache_filter_seed(const struct cache *cache)
{
	return cache->memory.state->hash_keys[0];
}
