/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of a resolver thread. Each has one writer, so no locked instruction is needed. Other
 * threads read whole values. */
#ifndef VOLLEY_RESOLVER_RESOLVER_COUNTERS_H
#define VOLLEY_RESOLVER_RESOLVER_COUNTERS_H

#include <stdint.h>

#include "base/histogram.h"

/*
 * E(name, words). At rest, asked = answered + bogus + failed + timed_out + displaced +
 * limited_outstanding + limited_client + limited_share + limited_upstream + stopped + lost +
 * suspected + outstanding.
 */
#define RESOLVER_COUNTERS(E)                                                              \
	E(asked, "questions submitted")                                                   \
	E(coalesced, "of these, joined to the same question under way")                   \
	E(upstream, "questions asked upstream")                                           \
	E(answered, "completed with an answer")                                           \
	E(secure, "of these, secure")                                                     \
	E(denied, "of these, by NSEC3 records that were known, without upstream")         \
	E(bogus, "completed with SERVFAIL: bogus")                                        \
	E(failed, "completed with an error of the upstreams")                             \
	E(timed_out, "completed by their deadline")                                       \
	E(unasked, "of these, never asked upstream: no place came free for their client") \
	E(displaced, "completed with SERVFAIL: a client with fewer took their place")     \
	E(limited_outstanding, "refused: too many questions outstanding")                 \
	E(limited_client, "refused: too many questions of the client's prefix")           \
	E(limited_share, "refused: more than the share of the client's prefix")           \
	E(limited_upstream, "refused: too many queries for the servers of the zone")      \
	E(stopped, "completed by the stop")                                               \
	E(lost, "completed with SERVFAIL: the resolver's process had ended")              \
	E(suspected, "refused: the process had ended twice while it asked the question")  \
	E(late, "answers that came after their clients had stopped waiting")              \
	E(queries, "forwarder: queries sent over UDP")                                    \
	E(queries_tcp, "forwarder and relay: queries sent over TCP or TLS")               \
	E(tls_failed, "forwarder and relay: TLS handshakes that failed")                  \
	E(resent, "of these, sent again, since no reply came in time")                    \
	E(probes, "of these, besides, to know an upstream")                               \
	E(overtaken, "forwarder: queries whose place another client's took")              \
	E(truncated, "replies that were truncated: asked again over TCP")                 \
	E(followed, "answers without the target of their alias: asked for it")            \
	E(plain, "replies that refused EDNS: asked again without")                        \
	E(malformed, "replies refused: they cannot be read to their end")                 \
	E(miscased, "replies in other letter case: asked again over TCP")                 \
	E(no_cookie, "replies without the cookie expected: asked again over TCP")         \
	E(too_long, "replies over UDP longer than asked for: asked again over TCP")       \
	E(badcookie, "replies BADCOOKIE: asked again")                                    \
	E(unmatched, "messages refused: replies to no query under way")                   \
	E(forged, "queries moved to TCP: wrong replies came to their socket")             \
	E(sockets, "UDP sockets opened, each with a random port")

struct resolver_counters {
#define RESOLVER_COUNTER_FIELD(name, words) uint64_t name;
	RESOLVER_COUNTERS(RESOLVER_COUNTER_FIELD)
#undef RESOLVER_COUNTER_FIELD
	struct histogram
		/* of libunbound's questions, or of the forwarder's queries */
		took;
	uint64_t outstanding; /* submitted and not completed */
};

static inline void resolver_count_n(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void resolver_count(uint64_t *counter)
{
	resolver_count_n(counter, 1);
}

#endif
