/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DNS cookies of one upstream (RFC 7873), on the client's side. A query has the client cookie,
 * which only this upstream gets, and the latest server cookie of the upstream. A reply repeats the
 * client cookie. An attacker that has seen no query does not know these 64 bits.
 *
 *	no server cookie known ── reply with one ──► expected: no reply over UDP without it
 *	        ▲                                        │
 *	        └── a reply over TCP has none either ◄───┘ so the question is asked over TCP
 *
 * The client cookie stays the same as long as the forwarder lives. Time is an argument,
 * CLOCK_MONOTONIC. One thread.
 */
#ifndef VOLLEY_RESOLVER_UPSTREAM_COOKIE_H
#define VOLLEY_RESOLVER_UPSTREAM_COOKIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPSTREAM_COOKIE_CLIENT_BYTES 8 /* RFC 7873 section 4 */
#define UPSTREAM_COOKIE_MAX          40

#define UPSTREAM_COOKIE_LAX_NS 600000000000ULL /* after an upstream sent no cookie over TCP */
#define UPSTREAM_COOKIE_OFF_NS 60000000000ULL  /* after an upstream refused the option */

struct upstream_cookie {
	uint8_t bytes[UPSTREAM_COOKIE_MAX]; /* the client cookie, then the server cookie */
	uint8_t n_bytes;                    /* 8: no server cookie is known */
	uint64_t lax_until_ns;              /* a reply without cookie is accepted */
	uint64_t off_until_ns;              /* no cookie is sent */
};

enum upstream_cookie_verdict {
	UPSTREAM_COOKIE_GOOD,    /* right, or missing and not expected */
	UPSTREAM_COOKIE_MISSING, /* over UDP, from an upstream that has sent cookies */
	/* another client cookie, or an illegal length: RFC 7873 section 5.3 */
	UPSTREAM_COOKIE_WRONG,
	/* the same, over UDP, from an upstream that has never sent the right one with its own */
	UPSTREAM_COOKIE_FOREIGN,
};

/* client: 64 random bits, for this upstream only. */
void upstream_cookie_init(struct upstream_cookie *cookie, uint64_t client);

/* True if the upstream has sent a server cookie with our client cookie: replies without them may
 * be forged. */
bool upstream_cookie_is_proven(const struct upstream_cookie *cookie);

/* True if a query should have the option. */
bool upstream_cookie_is_on(const struct upstream_cookie *cookie, uint64_t now_ns);

/*
 * Checks the COOKIE option of a reply to a query that had one: n octets at option, or NULL if the
 * reply has none. Remembers the server cookie of a good option. A missing option over TCP is good:
 * the upstream does not support cookies any more, and none is expected for UPSTREAM_COOKIE_LAX_NS.
 * A wrong option over TCP is good as well: the address is proven, so the upstream itself mixes up
 * the cookies of its clients, and gets no cookie for UPSTREAM_COOKIE_LAX_NS.
 */
enum upstream_cookie_verdict upstream_cookie_judge(struct upstream_cookie *cookie,
						   const uint8_t *option, size_t n, bool is_tcp,
						   uint64_t now_ns);

/* The upstream answers only queries without the option. No option is sent for
 * UPSTREAM_COOKIE_OFF_NS. */
void upstream_cookie_refused(struct upstream_cookie *cookie, uint64_t now_ns);

#endif
