/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that upstream failed to answer lately, so that stale answers to them are given at once:
 * RFC 8767 section 5, the failure recheck timer. A table of fixed size: a question replaces another
 * one in its place, which costs that one more attempt upstream. One thread.
 */
#ifndef VOLLEY_ENGINE_FAILURE_RECHECK_H
#define VOLLEY_ENGINE_FAILURE_RECHECK_H

#include <stdbool.h>
#include <stdint.h>

#define FAILURES_SLOTS     1024u /* a power of two */
#define FAILURES_RECHECK_S 30u   /* RFC 8767 section 5: at least so long */

struct failures {
	struct failure {
		uint64_t hash; /* of the question's key */
		uint32_t until_s;
	} slots[FAILURES_SLOTS];
};

static inline struct failure *failures_slot(struct failures *f, uint64_t hash)
{
	return &f->slots[hash >> 32 & (FAILURES_SLOTS - 1)];
}

static inline void failures_note(struct failures *f, uint64_t hash, uint32_t now_s)
{
	*failures_slot(f, hash) = (struct failure){ hash, now_s + FAILURES_RECHECK_S };
}

/* Upstream has answered it. */
static inline void failures_forget(struct failures *f, uint64_t hash)
{
	struct failure *slot = failures_slot(f, hash);

	if (slot->hash == hash)
		slot->until_s = 0;
}

static inline bool failures_is_recent(struct failures *f, uint64_t hash, uint32_t now_s)
{
	const struct failure *slot = failures_slot(f, hash);

	return slot->hash == hash && now_s < slot->until_s;
}

#endif
