/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that were under way when the resolver's process ended. One that was under way at two
 * such ends within SUSPECT_NS is refused for SUSPECT_NS: perhaps it, or a server's reply to it,
 * ends the process.
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

struct suspects {
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

/* The question was under way when the process ended at ended_ns, which is the same number for all
 * notes of one end. True: it is refused from now on. */
bool suspects_note(struct suspects *s, uint64_t hash, uint64_t ended_ns);

/* True if the question is to be refused now. One load if none is. */
bool suspects_refuse(const struct suspects *s, const struct resolver_question *q, uint64_t now_ns);

/* True if any question is refused now. */
static inline bool suspects_any(const struct suspects *s, uint64_t now_ns)
{
	return __atomic_load_n(&s->refused_until_ns, __ATOMIC_RELAXED) > now_ns;
}

#endif
