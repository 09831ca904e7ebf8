/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of another size takes a cache's place, while readers and writers go on.
 *
 *      cache_new_beside   the same zones, secrets and services; empty
 *      cache_copy         the answers, those in use first; others publish to the old one meanwhile
 *      (writers move)     from now on to the new one
 *      cache_copy_late    what had been published since the copy began
 *      (readers move)
 *      cache_copy_end     the old one is read and written by nobody: it may be freed
 *
 * Before writers move cache_copy_give_up() ends it all.
 *
 * Both have one table of zones (volley_zones): a new generation makes a zone's answers dead in both
 * at once. Answers are withdrawn one by one from both by cache_sweep() (sweep.h). An entry is
 * copied within a read section in which it is seen in the old index, so after a grace period behind
 * its withdrawal there no copy of it can come any more. docs/decisions/0015-resizing-the-cache.md
 */
#ifndef VOLLEY_CACHE_COPY_H
#define VOLLEY_CACHE_COPY_H

#include "cache/cache.h"

/*
 * What is copied first when there is not room for all: by hits since it was written, one more for
 * the main queue. 0: expired, which somebody may want who cannot have a fresh answer.
 */
#define COPY_RANKS (VOLLEY_FREQ_MAX + 3u)

/* How far a copy is; other threads may read it. */
struct cache_copied {
	uint64_t n_words, words_done; /* of the index, over all rounds */
	uint64_t n_entries;           /* that may be copied, as counted before the copy */
	uint64_t n_copied;
	uint64_t n_left_out; /* of n_entries: no room */
};

/*
 * A cache over `memory`, whose `zones` are those of `from` (perhaps at another address) and whose
 * sizes are those of cache_sizes_plan_beside(). Otherwise the memory need not be zeroed. Services
 * and settings in its state are those of now; who changes them changes both. 0 or -ENOMEM.
 */
int cache_new_beside(struct cache **out, const struct cache_memory *memory, struct cache *from)
	__attribute__((warn_unused_result));

/*
 * Copies all that is valid, or expired, from the cache that `to` was made beside; nobody else
 * writes to it. Answers keep queue, hits, age and expiry. What is published meanwhile may be
 * missed. Any QSBR thread that is offline; no read section is long. 0, or -ECANCELED soon after
 * *cancel became true.
 */
int cache_copy(struct cache *to, uint32_t now_s, const bool *cancel, struct cache_copied *told)
	__attribute__((warn_unused_result));

/*
 * Copies what was published at since_s or later, when all writers are at `to` and a grace period
 * has passed. Of two answers for one key the younger stays. Thread and errors as above.
 */
int cache_copy_late(struct cache *to, uint32_t since_s, uint32_t now_s, const bool *cancel,
		    struct cache_copied *told) __attribute__((warn_unused_result));

/* The counters of `to` go on from those of the cache before. When nobody writes to that any
 * more. */
void cache_copy_counters(struct cache *to);

/*
 * `to` will not take any place: it may be freed when every sweep that has begun is over. Nobody
 * reads it or writes to it.
 */
void cache_copy_give_up(struct cache *to);

/* From now on `to` stands alone. Nobody reads the one before; a sweep that began there may still
 * run. */
void cache_copy_end(struct cache *to);

#endif
