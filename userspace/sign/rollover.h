/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a zone's keys: the first ones, their successors, their end (RFC 6781, RFC 7583). A
 * state machine whose state is the times of the keys; time is an argument.
 *
 *      ZSK, pre-publication    new one published ─► in all caches: it signs, the old one does not
 *                              ─► all signatures of the old one out of all caches: it goes
 *      KSK, CSK, double        new one published, signs beside the old one ─► in all caches: its DS may go to
 *                              the parent (CDS, CDNSKEY) ─► the operator has seen it there ─► the old DS out of
 *                              all caches: the old one goes
 *      another algorithm, or   one that signs data signs it beside the old one ─► no other data in caches: it is
 *      CSK for KSK and ZSK,    published, and a KSK with it ─► in all caches: as above, until the old DS is out of
 *      or back                 all caches: the old keys are published no more ─► out of all caches: they sign no more
 *
 * A wait begins when the zone that is served has all that the keys say (renewed_s), not when that
 * was decided: a daemon that was down in between waits longer.
 */
#ifndef VOLLEY_SIGN_ROLLOVER_H
#define VOLLEY_SIGN_ROLLOVER_H

#include "sign/rollover_policy.h"

/*
 * Brings the keys to where they shall be at @now_s. *@next_s: when to call again at the latest,
 * besides after each change of renewed_s; UINT64_MAX: no such time. Returns 0, or what
 * sign_keys_make() does.
 */
int rollover_step(struct sign_keys *keys, const struct rollover_policy *policy, uint64_t now_s,
		  struct rollover_actions *actions, uint64_t *next_s)
	__attribute__((warn_unused_result));

/*
 * Begins a rollover now, whatever the lifetime says. 0; ERR_NOT_FOUND: no key of this role;
 * -EALREADY: one is on; as above.
 */
int rollover_start(struct sign_keys *keys, enum sign_role role, uint64_t now_s,
		   struct rollover_actions *actions) __attribute__((warn_unused_result));

/*
 * The operator says that the DS of the key with this tag (-1: of any that waits for it) is at the
 * parent, on all its servers. 0; ERR_NOT_FOUND; -EAGAIN: it is too early, some caches do not know
 * the key yet.
 */
int rollover_ds_seen(struct sign_keys *keys, int tag, uint64_t now_s,
		     struct rollover_actions *actions) __attribute__((warn_unused_result));

/* Carries out what is to be written and erased, and takes what is erased out of the set. 0 or
 * -errno. */
int rollover_store(struct sign_keys *keys, const struct rollover_actions *actions,
		   const char *folder) __attribute__((warn_unused_result));

#endif
