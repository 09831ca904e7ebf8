/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of an engine. */
#ifndef VOLLEY_ENGINE_ENGINE_COUNTERS_H
#define VOLLEY_ENGINE_ENGINE_COUNTERS_H

#include <stdint.h>

#include "xdp/abi.h"

/*
 * Each message counts in queries, and in ignored, no_room, dropped, blocked, limited, deferred,
 * handed_over or exactly one rcode. A deferred one counts in no_room, limited or an rcode when it
 * is finished. E(name, words).
 */
#define ENGINE_COUNTERS(E)                                                                       \
	E(queries, "messages looked at")                                                         \
	E(ignored, "not answered: no DNS header, or a response")                                 \
	E(no_room, "not answered: the port's buffer is too small for a header and the question") \
	E(noerror, "answered NOERROR")                                                           \
	E(formerr, "answered FORMERR")                                                           \
	E(servfail, "answered SERVFAIL")                                                         \
	E(nxdomain, "answered NXDOMAIN")                                                         \
	E(notimp, "answered NOTIMP")                                                             \
	E(refused, "answered REFUSED")                                                           \
	E(badvers, "answered BADVERS")                                                           \
	E(other_rcode, "answered with another rcode")                                            \
	E(shortened, "answered without the optional additional records")                         \
	E(truncated, "answered with TC=1")                                                       \
	E(slipped, "of these, since the client is over the rate limit")                          \
	E(badcookie, "answered BADCOOKIE: over the rate limit")                                  \
	E(rrl_exempt, "not limited: clients with a good cookie, or in rrl.exempt")               \
	E(rrl_dry, "answered, though over the rate limit: rrl.dry-run")                          \
	E(too_large, "the answer fits no DNS message: TC=1 over UDP, SERVFAIL over TCP")         \
	E(cache_hit, "answered from the cache")                                                  \
	E(cache_miss, "not in the cache")                                                        \
	E(cache_stale, "in the cache, but its zone has changed")                                 \
	E(cache_expired, "in the cache, but expired")                                            \
	E(published, "answers put into the cache")                                               \
	E(denials, "denials of zones put into the cache, for the driver")                        \
	E(wildcards, "answers of wildcards put into the cache, for the driver")                  \
	E(denials_wrong, "names that exist, and that the driver's filter does not know")         \
	E(shared_compared, "shared answers of the driver that were compared with the zone's")    \
	E(shared_undecided, "the same, with no result: a zone was changing")                     \
	E(shared_wrong, "of the compared, those that differ from the zone's answer")             \
	E(not_published, "answers that found no place in the cache")                             \
	E(not_asked,                                                                             \
	  "SERVFAIL: too many questions upstream, of all or the client, or no resolver")         \
	E(dropped, "not answered: a policy says so")                                             \
	E(limited, "not answered: over the rate limit")                                          \
	E(blocked, "not answered: blocked")                                                      \
	E(block_refused, "REFUSED: blocked")                                                     \
	E(block_truncated, "TC=1 over UDP: blocked")                                             \
	E(deferred, "asked upstream, to be answered later")                                      \
	E(finished, "of the deferred, those that were completed")                                \
	E(handed_over, "transfers, NOTIFY, UPDATE and signed messages, left to their thread")    \
	E(refreshed,                                                                             \
	  "asked upstream for the cache alone: before expiry, or behind a stale answer")         \
	E(prohibited, "REFUSED: clients that may not ask this")                                  \
	E(stale, "answered with what had expired, since upstream failed")                        \
	E(cut, "NXDOMAIN since a name above does not exist")                                     \
	E(unusable, "answers from upstream that are malformed")                                  \
	E(chaos, "questions about the server itself, in class CH")                               \
	E(cookies_new, "COOKIE options with a client part only")                                 \
	E(cookies_good, "COOKIE options with a server part of ours")                             \
	E(cookies_bad, "COOKIE options with a server part that is not ours, or too old")

struct engine_counters {
#define ENGINE_COUNTER_FIELD(name, words) uint64_t name;
	ENGINE_COUNTERS(ENGINE_COUNTER_FIELD)
#undef ENGINE_COUNTER_FIELD
};

#define ENGINE_WAYS    8
#define ENGINE_OPCODES 16

/* Replies by the kind of query: the sum of each array is the number of replies. by_zone:
 * cache_zone_counter(). */
struct engine_answers {
	struct volley_answers of;
	uint64_t by_way[ENGINE_WAYS]; /* `way` of struct engine_request */
	uint64_t by_opcode[ENGINE_OPCODES];
};

#endif
