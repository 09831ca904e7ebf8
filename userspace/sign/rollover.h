/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a zone's keys: first keys, successors, ends (RFC 6781, RFC 7583). A state machine;
 * the keys' times are its state, and time is an argument.
 *
 *      ZSK, pre-publication    new key published ─► in all caches: it signs, the old one does not
 *                              ─► no cache has the old key's signatures: the old key goes
 *      KSK, CSK, double        new key published, signs beside the old one ─► in all caches: its
 *                              DS may go to the parent (CDS, CDNSKEY) ─► the operator has seen it
 *                              there ─► no cache has the old DS: the old key goes
 *      another algorithm, or   a new key signs data beside the old one ─► no cache has data
 *      CSK for KSK and ZSK,    without its signature: it is published, with a KSK ─► in all caches:
 *      or back                 as above, until no cache has the old DS: the old keys are no longer
 *                              published ─► out of all caches: they sign no more
 *
 * A wait begins when the served zone has all that the keys say (renewed_s), not when that was
 * decided. So it is longer if the daemon was down in between.
 */
#ifndef VOLLEY_SIGN_ROLLOVER_H
#define VOLLEY_SIGN_ROLLOVER_H

#include "sign/keys.h"

/* The policy of a rollover; seconds. */
struct rollover_policy {
	bool single_key; /* a CSK */
	enum sign_algorithm algorithm;
	uint32_t zsk_lifetime_s; /* 0: never by itself */
	uint32_t ksk_lifetime_s; /* of a CSK, too */
	uint32_t dnskey_ttl_s;
	uint32_t zone_ttl_s; /* the longest TTL in the zone: sign_ttl_max() */
	uint32_t propagation_s;
	uint32_t parent_ttl_s;
	uint32_t parent_propagation_s;
	/* When sign_renew() last found all of the zone as its keys say; 0: not yet. */
	uint64_t renewed_s;
};

/* What a step changed. Bit i is key i of the set. */
struct rollover_actions {
	uint32_t write; /* write its files before it signs the zone */
	uint32_t erase; /* erase its files and remove it from the set */
	bool renew;     /* the zone may differ from what the keys say: sign_renew() */
};

/*
 * Brings the keys to the state for @now_s. Call it again after each change of renewed_s, and at
 * *@next_s at the latest; UINT64_MAX: no such time. Returns 0; -ENOKEY: the set has keys, but no
 * KSK or CSK to go on with, and a new one would not fit the parent's DS; or the error of
 * sign_keys_make().
 */
int rollover_step(struct sign_keys *keys, const struct rollover_policy *policy, uint64_t now_s,
		  struct rollover_actions *actions, uint64_t *next_s)
	__attribute__((warn_unused_result));

/* Begins a rollover now, independent of the lifetime. 0; ERR_NOT_FOUND: no key of this role;
 * -EALREADY: a rollover is going on; errors of sign_keys_make(). */
int rollover_start(struct sign_keys *keys, enum sign_role role, uint64_t now_s,
		   struct rollover_actions *actions) __attribute__((warn_unused_result));

/*
 * The operator has seen the DS of the key with this tag (-1: of each key that waits for it) on all
 * servers of the parent. 0; ERR_NOT_FOUND; -EAGAIN: too early, some caches do not know the key yet.
 */
int rollover_ds_seen(struct sign_keys *keys, int tag, uint64_t now_s,
		     struct rollover_actions *actions) __attribute__((warn_unused_result));

/* Writes and erases the keys' files, and removes erased keys from the set. 0 or -errno. */
int rollover_store(struct sign_keys *keys, const struct rollover_actions *actions,
		   const char *folder) __attribute__((warn_unused_result));

/* A step of a rollover: what rollover.c (successors of the same kind) and rollover_kind.c share. */

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
