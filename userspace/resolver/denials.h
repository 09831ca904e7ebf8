/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RFC 8198 with NSEC3: the validated denials of a zone prove other denials of the same zone, so
 * that its servers are not asked. (With NSEC libunbound does this itself.)
 *
 *	libunbound ─► a secure negative answer ─► denials_learn() ─┐
 *	                                                           ▼
 *	              zones: SOA, parameters ─► intervals [hash, next hash), signatures
 *	                                                           │
 *	question ───────────────────────────────► denials_answer() ┴─► NXDOMAIN, NODATA; or ask
 *
 * Each resolver thread has a store of its own, because questions for one name always come to the
 * same thread. So there is no lock.
 *
 * denials_zone_prove() says what is proved. Nothing is learnt of
 *
 *	- the root, arpa. and all names below arpa.: libunbound itself answers names such as
 *	  localhost. and 10.in-addr.arpa., and the root has NSEC
 *	- zones with more iterations or a longer salt than denials_read.h allows
 *
 * With DNS64 nothing is proved for AAAA, because libunbound may synthesize an address. For a name
 * in a stub or forward zone, a zone above it proves nothing, because the stub's servers may have
 * the name.
 *
 * Memory is bounded in octets. The least recently used interval is removed first; a zone is removed
 * with its last interval.
 */
#ifndef VOLLEY_RESOLVER_DENIALS_H
#define VOLLEY_RESOLVER_DENIALS_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/resolver_config.h"

/* The bound of a store: a quarter of rrset_cache_bytes, within these limits. It comes on top of
 * libunbound's cache. */
#define DENIALS_BYTES_SHARE 4
#define DENIALS_BYTES_MIN   (64u << 10)
#define DENIALS_BYTES_MAX   (32u << 20)

struct denials;

/*
 * True if the configuration needs a store: it has aggressive_nsec and a trust anchor, and no
 * libunbound option that changes what is validated or what libunbound answers by itself.
 */
bool denials_suit(const struct resolver_config *config);

/*
 * A new store for one thread. Only this call reads config: rrset_cache_bytes, max_negative_ttl_s,
 * dns64_prefix, stubs. 0, -ENOMEM, -EIO (no random numbers), or ERR_... of name_from_text() for a
 * stub.
 */
int denials_new(struct denials **out, const struct resolver_config *config)
	__attribute__((warn_unused_result));
void denials_free(struct denials *d); /* NULL is allowed */

/*
 * Learns from a whole message of n octets that libunbound has found secure. A message that is no
 * denial or has no NSEC3 changes nothing. now_ns: CLOCK_MONOTONIC; wall_s: seconds since 1970, for
 * signatures. If the zone's salt or iterations have changed, its intervals are removed.
 */
void denials_learn(struct denials *d, const uint8_t *msg, size_t n, uint64_t now_ns,
		   uint64_t wall_s);

/*
 * Answers a question for name (folded wire form) from what is known at now_ns. Returns the length
 * of the message *msg, which is valid until the next call with this store. 0: nothing known denies
 * it, and the question must be asked upstream.
 *
 * The message is as resolver.h says, with AD, and its authority section has the SOA, the NSEC3
 * records of the proof, each once, and their signatures. All TTLs are the same: the seconds until
 * the first of these records expires, at least 1.
 */
size_t denials_answer(struct denials *d, const uint8_t *name, uint16_t qtype, uint16_t qclass,
		      uint64_t now_ns, const uint8_t **msg);

#endif
