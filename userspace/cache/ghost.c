/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recently evicted answers that had no hit. All threads share the table without a lock, since it is
 * only a hint: after a lost update an answer does not go to the main queue at once.
 */
#include "cache/cache_state.h"

static uint16_t *set_of_ghost(struct ghost *ghost, uint64_t hash)
{
	return ghost->tags + (size_t)volley_bucket(hash, ghost->n_sets) * GHOST_WAYS;
}

static uint16_t tag_of_ghost(uint64_t hash)
{
	uint16_t tag = (uint16_t)(hash >> 48);

	return tag ? tag : 1;
}

void ghost_remember(struct ghost *ghost, uint64_t hash)
{
	uint16_t *set = set_of_ghost(ghost, hash);
	unsigned int i;

	for (i = GHOST_WAYS - 1; i > 0; i--)
		__atomic_store_n(&set[i], __atomic_load_n(&set[i - 1], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	__atomic_store_n(&set[0], tag_of_ghost(hash), __ATOMIC_RELAXED);
}

bool ghost_recall(struct ghost *ghost, uint64_t hash)
{
	uint16_t *set = set_of_ghost(ghost, hash);
	uint16_t tag = tag_of_ghost(hash);
	unsigned int i;

	for (i = 0; i < GHOST_WAYS; i++) {
		if (__atomic_load_n(&set[i], __ATOMIC_RELAXED) != tag)
			continue;
		__atomic_store_n(&set[i], 0, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}
