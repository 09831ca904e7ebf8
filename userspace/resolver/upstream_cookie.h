/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DNS cookies of one upstream (RFC 7873), seen from the client's side. A query has the client
 * cookie, which only this upstream gets, and the server cookie that the upstream gave last. A reply
 * repeats the client cookie: whoever forges a reply and has not seen a query does not know these 64
 * bits.
 *
 *	no server cookie known ── reply with one ──► expected: a reply over UDP without it is not taken
 *	        ▲                                        │
 *	        └── a reply over TCP has none either ◄───┘ so the question is asked over TCP
 *
 * The client cookie stays as long as the forwarder does. Time is an argument, CLOCK_MONOTONIC. One
 * thread.
 */
#ifndef VOLLEY_RESOLVER_UPSTREAM_COOKIE_H
#define VOLLEY_RESOLVER_UPSTREAM_COOKIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPSTREAM_COOKIE_CLIENT_BYTES 8 /* RFC 7873 section 4 */
#define UPSTREAM_COOKIE_MAX          40

#define UPSTREAM_COOKIE_LAX_NS \
	600000000000ULL /* after an upstream has left its cookie out over TCP */
#define UPSTREAM_COOKIE_OFF_NS 60000000000ULL /* after an upstream has refused the option */

struct upstream_cookie {
	uint8_t bytes[UPSTREAM_COOKIE_MAX]; /* the client cookie, and behind it the server cookie */
	uint8_t n_bytes;                    /* 8: no server cookie is known */
	uint64_t lax_until_ns;              /* a reply without cookie is taken */
	uint64_t off_until_ns;              /* no cookie is sent */
};

enum upstream_cookie_verdict {
	UPSTREAM_COOKIE_GOOD,    /* right; or there is none, and none was expected */
	UPSTREAM_COOKIE_MISSING, /* over UDP, from an upstream that has given cookies */
	/* not the client cookie, or an illegal length: RFC 7873 section 5.3 */
	UPSTREAM_COOKIE_WRONG,
};

/* client: 64 random bits, of this upstream only. */
void upstream_cookie_init(struct upstream_cookie *cookie, uint64_t client);

/* Whether a query is to have the option. */
bool upstream_cookie_is_on(const struct upstream_cookie *cookie, uint64_t now_ns);

/*
 * Judges the COOKIE option of a reply to a query that had one: n octets at option, or NULL where
 * the reply has none. A good one's server cookie is remembered. Over TCP a missing one is good: the
 * upstream has no cookies any more, and none is expected of it for UPSTREAM_COOKIE_LAX_NS.
 */
enum upstream_cookie_verdict upstream_cookie_judge(struct upstream_cookie *cookie,
						   const uint8_t *option, size_t n, bool is_tcp,
						   uint64_t now_ns);

/* The upstream answers only queries without the option: none is sent for UPSTREAM_COOKIE_OFF_NS. */
void upstream_cookie_refused(struct upstream_cookie *cookie, uint64_t now_ns);

#endif
