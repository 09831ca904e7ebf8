/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A step of a rollover: what rollover.c (successors of the same kind) and rollover_kind.c share. */
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

/* Since when the served zone has what was decided for the time @at; 0: not yet. */
static inline uint64_t out_since(const struct step *s, uint64_t at)
{
	return is_since(at, s->now_s) && s->policy->renewed_s >= at ? s->policy->renewed_s : 0;
}

/* True if it is retired or removed, or has a time for it. */
static inline bool is_going(const struct sign_key *key)
{
	return key->retired_s || key->removed_s;
}

/* Sets when the DS may go to the parent: all caches have the key, and no data it has not signed. */
void rollover_allow_ds(struct step *s, struct sign_key *key);

/* True if the keys change to another kind: another algorithm, one key instead of two, or two
 * instead of one. Pure. */
bool rollover_is_changing(const struct sign_keys *keys);
/* Continues the change. Returns the errors of sign_keys_make(). */
int rollover_change(struct step *s) __attribute__((warn_unused_result));
/* Begins a change if the policy asks for another kind and no successor is on its way. */
int rollover_begin_change(struct step *s) __attribute__((warn_unused_result));

#endif
