/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A step of a rollover, what rollover.c (successors of the same kind) and rollover_kind.c share. */
#ifndef VOLLEY_SIGN_ROLLOVER_STEPS_H
#define VOLLEY_SIGN_ROLLOVER_STEPS_H

#include "sign/rollover_policy.h"

struct step {
	struct sign_keys *keys;
	const struct rollover_policy *policy;
	struct rollover_actions *actions;
	uint64_t now_s, next_s;
};

static inline bool is_since(uint64_t at, uint64_t now_s)
{
	return at && at <= now_s;
}

static inline void mark(struct rollover_actions *actions, const struct sign_keys *keys,
			const struct sign_key *key)
{
	actions->write |= 1u << (key - keys->keys);
	actions->renew = true;
}

/* What was decided at @at is in the zone that is served since then; 0: not yet. */
static inline uint64_t out_since(const struct step *s, uint64_t at)
{
	return is_since(at, s->now_s) && s->policy->renewed_s >= at ? s->policy->renewed_s : 0;
}

/* Is it retired or removed, or to be? */
static inline bool is_going(const struct sign_key *key)
{
	return key->retired_s || key->removed_s;
}

/* When the DS may go to the parent: all caches have the key, and no data that it did not sign. */
void rollover_allow_ds(struct step *s, struct sign_key *key);

/*
 * Keys of another kind: another algorithm, or one key in place of two, or two in place of one. Is a
 * change under way? Pure.
 */
bool rollover_is_changing(const struct sign_keys *keys);
/* Goes on with it. What sign_keys_make() returns. */
int rollover_change(struct step *s) __attribute__((warn_unused_result));
/* Begins one, where the policy asks for another kind and no successor is on its way. */
int rollover_begin_change(struct step *s) __attribute__((warn_unused_result));

#endif
