/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a zone's keys: the first ones, their successors, their end (RFC 6781, RFC 7583). A state machine
 * whose state is the times of the keys; time is an argument.
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
 * A wait begins when the zone that is served has all that the keys say (renewed_s), not when that was decided: a
 * daemon that was down in between waits longer.
 */
#ifndef VOLLEY_SIGN_ROLLOVER_H
#define VOLLEY_SIGN_ROLLOVER_H

#include "sign/keys.h"

/* Seconds. */
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
	/* When last all of the zone was found to be as its keys say (sign_renew()); 0: not yet. */
	uint64_t renewed_s;
};

/* What a step changed: one bit for each key by its number in the set. */
struct rollover_actions {
	uint32_t write; /* its files are to be written, before the zone is signed with it */
	uint32_t erase; /* it is of no use any more: its files, and it from the set */
	bool renew;     /* the zone is not known to be as the keys say now: sign_renew() */
};

/*
 * Brings the keys to where they shall be at @now_s. *@next_s: when to call again at the latest, besides after
 * each change of renewed_s; UINT64_MAX: no such time. Returns 0, or what sign_keys_make() does.
 */
int rollover_step(struct sign_keys *keys, const struct rollover_policy *policy, uint64_t now_s,
		  struct rollover_actions *actions, uint64_t *next_s)
	__attribute__((warn_unused_result));

/*
 * Begins a rollover now, whatever the lifetime says. 0; ERR_NOT_FOUND: no key of this role; -EALREADY: one
 * is on; as above.
 */
int rollover_start(struct sign_keys *keys, enum sign_role role, uint64_t now_s,
		   struct rollover_actions *actions) __attribute__((warn_unused_result));

/*
 * The operator says that the DS of the key with this tag (-1: of any that waits for it) is at the parent, on
 * all its servers. 0; ERR_NOT_FOUND; -EAGAIN: it is too early, some caches do not know the key yet.
 */
int rollover_ds_seen(struct sign_keys *keys, int tag, uint64_t now_s,
		     struct rollover_actions *actions) __attribute__((warn_unused_result));

/* Carries out what is to be written and erased, and takes what is erased out of the set. 0 or -errno. */
int rollover_store(struct sign_keys *keys, const struct rollover_actions *actions,
		   const char *folder) __attribute__((warn_unused_result));

#endif
