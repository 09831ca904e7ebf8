/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RFC 8198 with NSEC3: from validated denials of a zone, others of the same zone are made, and no
 * server of it is asked. (With NSEC libunbound does so by itself.)
 *
 *	libunbound ─► a negative answer, SECURE ─► denials_learn() ─┐
 *	                                                            ▼
 *	                         zones: SOA, parameters ─► intervals [hash, next hash), each with its signatures
 *	                                                            │
 *	question ─────────────────────────────────► denials_answer() ┴─► NXDOMAIN, NODATA; or it is asked
 *
 * Each resolver thread has a store of its own, as questions for one name always come to the same
 * thread. So there is no lock, and each thread learns what it needs.
 *
 * What is proved and what is not: denials_zone_prove(). Nothing is learnt of
 *
 *	- the root and arpa. with all below it: names such as localhost. and 10.in-addr.arpa. are
 *	  libunbound's to answer, and the root has NSEC
 *	- zones that have more iterations, or a longer salt, than denials_read.h says
 *
 * nothing is proved for AAAA with DNS64, as an address may be made where there is none,
 * and nothing is proved for a name in a stub or forward zone by a zone above that, since the stub's
 * servers may have the name.
 *
 * Memory is bounded in octets. The interval that was used for no answer for the longest time goes
 * first; a zone goes with its last interval.
 */
#ifndef VOLLEY_RESOLVER_DENIALS_H
#define VOLLEY_RESOLVER_DENIALS_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/resolver_config.h"

/* A store's bound: a quarter of rrset_cache_bytes, which is libunbound's, and beside it; within
 * these. */
#define DENIALS_BYTES_SHARE 4
#define DENIALS_BYTES_MIN   (64u << 10)
#define DENIALS_BYTES_MAX   (32u << 20)

struct denials;

/*
 * Whether the configuration wants a store: aggressive_nsec, a trust anchor, and no option of
 * libunbound's own that changes what is validated or what libunbound answers by itself.
 */
bool denials_suit(const struct resolver_config *config);

/*
 * A new store for one thread; config is read by this call only: rrset_cache_bytes,
 * max_negative_ttl_s, dns64_prefix, stubs.
 * -ENOMEM, -EIO (no random numbers), ERR_... of name_from_text() for a stub.
 */
int denials_new(struct denials **out, const struct resolver_config *config)
	__attribute__((warn_unused_result));
void denials_free(struct denials *d); /* NULL is allowed */

/*
 * Learns from a message of n octets, which is whole, and which libunbound has found secure. A
 * message that is no denial or has no NSEC3 changes nothing. now_ns: CLOCK_MONOTONIC; wall_s:
 * seconds since 1970, for signatures. A zone's intervals go when it comes with another salt or
 * other iterations.
 */
void denials_learn(struct denials *d, const uint8_t *msg, size_t n, uint64_t now_ns,
		   uint64_t wall_s);

/*
 * Answers a question for name (folded wire form) from what is known at now_ns. Returns the octets
 * of the message *msg, which is valid until the next call with this store; 0: it has to be asked.
 *
 * The message is as resolver.h says, with AD, and its authority section has the SOA, the NSEC3
 * records of the proof, each once, and their signatures. All TTLs are the same: what is left to the
 * record that ends first, in seconds, at least 1.
 */
size_t denials_answer(struct denials *d, const uint8_t *name, uint16_t qtype, uint16_t qclass,
		      uint64_t now_ns, const uint8_t **msg);

/* Octets that are allocated for zones and intervals, malloc()'s own included. */
size_t denials_bytes(const struct denials *d);

#endif
