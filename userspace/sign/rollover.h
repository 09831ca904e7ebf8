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

#include "sign/rollover_policy.h"

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

#endif
