/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that perhaps end the resolver's process, or a server's reply to them. One that has
 * ended it in a trial (querier/trials.h) is refused for SUSPECT_NS. So is one that no trial has
 * cleared by its deadline, if that happens at two ends within SUSPECT_NS.
 *
 * A table of fixed size in which a question has one place by a keyed hash of name and type. Two
 * questions that share a place overwrite each other, so a refusal may be missed, but none is wrong
 * unless the whole hash is equal. Any thread, by atomics: a lost note costs one more restart. The
 * hash is stored last, with release: whoever finds it does not see the refusal of the one before.
 */
#ifndef VOLLEY_QUERIER_SUSPECTS_H
#define VOLLEY_QUERIER_SUSPECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/siphash.h"
#include "resolver/resolver_question.h"

#define SUSPECT_NS      60000000000ULL
#define SUSPECTS_PLACES 16384 /* a power of two */

/* What desks share for trials (querier/trials.h). All atomic. */
struct trials {
	uint64_t last;    /* number of the last one; the first is 1 */
	uint64_t n_tried; /* under way */
	uint64_t n_waiting;
	uint64_t next_ns; /* the next one may begin then, or when none is under way */
};

struct suspects {
	struct trials trials;
	uint8_t key[SIPHASH_KEY_BYTES];
	uint64_t refused_until_ns; /* the latest of all; before it, suspects_refuse() looks */
	struct suspect {
		uint64_t hash;
		uint64_t ended_ns; /* when it was under way at an end */
		uint64_t refused_until_ns;
	} places[SUSPECTS_PLACES];
};

/* 0 or -ENOMEM or -EIO. free() ends it. */
int suspects_new(struct suspects **out) __attribute__((warn_unused_result));

/* The number by which a question is noted; the question itself may be gone by then. Never 0. */
uint64_t suspects_hash(const struct suspects *s, const struct resolver_question *q);

/* No trial has cleared the question, which was under way when the process ended at ended_ns: the
 * same number for all notes of one end. True: it is refused from now on. */
bool suspects_note(struct suspects *s, uint64_t hash, uint64_t ended_ns);

/* The question has ended the process at ended_ns: it is refused from now on. */
void suspects_convict(struct suspects *s, uint64_t hash, uint64_t ended_ns);

/* True if the question is to be refused now. One load if none is. */
bool suspects_refuse(const struct suspects *s, const struct resolver_question *q, uint64_t now_ns);

/* True if any question is refused now. */
static inline bool suspects_any(const struct suspects *s, uint64_t now_ns)
{
	return __atomic_load_n(&s->refused_until_ns, __ATOMIC_RELAXED) > now_ns;
}

#endif
