/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The servers that are forwarded to, what is known of each, and which of them is asked next.
 *
 * Times are measured as in RFC 6298: a smoothed round trip, its variation, and from both how long a
 * reply is waited for. A server scores its round trip; one that was silent, or gave failures only,
 * scores its longer waiting time, doubled with each silence. The next question goes to one of the
 * best at random. The others are asked besides now and then (upstream_wants_probe()), so that they
 * are known when they are needed.
 *
 * How many queries may wait for their replies (the window) begins small, grows with the replies,
 * and is no more than what the server answers in a second: else those behind would be sent again
 * before it comes to them, and it had only more to do. It never has to be less than
 * UPSTREAM_WINDOW_KEPT, or names whose owners are slow would shut out the others. A server that
 * answers nothing for a while is down: UPSTREAM_DOWN_MAX queries at a time go there, until one
 * reply comes.
 *
 * Time is an argument, CLOCK_MONOTONIC. One thread.
 */
#ifndef VOLLEY_RESOLVER_UPSTREAMS_H
#define VOLLEY_RESOLVER_UPSTREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "resolver/random.h"
#include "resolver/upstream_cookie.h"

#define UPSTREAMS_MAX 16 /* sets of them are bits of 16 */
#define UPSTREAM_NONE UINT8_MAX

#define UPSTREAM_NAME_CAP 254 /* the longest name of a host as text, and a NUL */

#define UPSTREAM_WAIT_MIN_NS   50000000ULL  /* for a reply: above what a busy machine adds */
#define UPSTREAM_WAIT_FIRST_NS 400000000ULL /* before anything was measured */
#define UPSTREAM_WINDOW_FIRST  256
#define UPSTREAM_WINDOW_KEPT   1024
#define UPSTREAM_WINDOW_NS     250000000ULL /* so often replies are counted */
#define UPSTREAM_LINE_NS       100000000ULL /* of silence: then there is no line any more */
#define UPSTREAM_DOWN_MAX      16
#define UPSTREAM_DOWN_NS       500000000ULL /* of silence, with 8 queries or more */
#define UPSTREAM_DOWN_QUERIES  8
#define UPSTREAM_FAILING       16             /* SERVFAIL or REFUSED in a row */
#define UPSTREAM_PROBE_NS      10000000000ULL /* one in good health that others are better than */
#define UPSTREAM_PROBE_ILL_NS  1000000000ULL
#define UPSTREAM_PLAIN_NS      60000000000ULL  /* so long one without EDNS is remembered */
#define UPSTREAM_CASELESS_NS   600000000000ULL /* and one that does not keep the letter case */

struct upstream {
	struct sockaddr_storage address;
	socklen_t address_bytes;
	uint32_t n_in_flight; /* queries whose reply is waited for */
	uint32_t window;
	uint32_t n_replies; /* since */
	uint64_t replies_since_ns;
	uint32_t n_silent; /* of those since its last reply, none was answered in time */
	uint32_t n_failing;
	uint32_t n_backoffs; /* RFC 6298 section 5.5, until the next measurement */
	bool down;
	uint64_t srtt_ns; /* 0: not measured */
	uint64_t rttvar_ns;
	uint64_t heard_ns;
	uint64_t answered_sent_ns; /* of the queries that were answered, the last one was sent */
	uint64_t backed_off_ns; /* queries that were sent later may double the waiting time again */
	uint64_t silent_since_ns;   /* the first of n_silent was sent */
	uint64_t probe_ns;          /* from then on it is to be asked besides */
	uint64_t plain_until_ns;    /* RFC 6891 section 6.2.2: it refuses EDNS */
	uint64_t caseless_until_ns; /* over TCP it has answered in other letter case than asked */
	struct upstream_cookie cookie;
	uint64_t n_sent; /* these four are for people: resolver/forward_board.h */
	uint64_t n_answers;
	uint64_t n_failures;
	uint64_t n_timeouts;
	char name[UPSTREAM_NAME_CAP]; /* that its certificate is for; empty without TLS */
};

struct upstreams {
	unsigned int n;
	uint32_t window_max;
	uint64_t wait_max_ns;
	struct upstream all[UPSTREAMS_MAX];
};

struct upstreams_config {
	const char *const *addresses; /* "192.0.2.1", "2001:db8::1@5353"; NULL behind the last */
	bool has_names;               /* "192.0.2.1@853#name.example", all of them */
	bool allow_localhost;
	uint32_t wait_max_ms;
	uint32_t window_max;
};

/* 0, or ERR_CONFIG with a sentence in err of cap octets. */
int upstreams_init(struct upstreams *us, const struct upstreams_config *config, char *err,
		   size_t cap) __attribute__((warn_unused_result));

/*
 * One of the best in the set that has room for another query, or UPSTREAM_NONE.
 */
uint8_t upstreams_choose(const struct upstreams *us, uint16_t set, struct random *random);

/* How many queries more those in the set have room for, together. */
uint32_t upstreams_room(const struct upstreams *us, uint16_t set);

/* Those in the set that are down. */
uint16_t upstreams_down(const struct upstreams *us, uint16_t set);

/* How long a reply is waited for, when n replies to the same question did not come. */
uint64_t upstream_wait_ns(const struct upstreams *us, const struct upstream *u, uint32_t n);

/*
 * Whether a query that was sent then is only in line there: replies come, to those sent before it.
 * So nothing is to be done, for wait_max at most.
 */
bool upstream_has_line(const struct upstreams *us, const struct upstream *u, uint64_t sent_ns,
		       uint64_t now_ns);

/* A reply came, after rtt_ns; 0: it cannot be said to which of two sendings (RFC 6298 section
 * 3). */
void upstream_on_reply(const struct upstreams *us, struct upstream *u, uint64_t rtt_ns,
		       uint64_t now_ns);

/* What the reply was: an answer, or a failure. After upstream_on_reply(). */
void upstream_on_outcome(struct upstream *u, bool is_answer, uint64_t now_ns);

/* No reply came in time to what was sent then. */
void upstream_on_silence(struct upstream *u, uint64_t sent_ns, uint64_t now_ns);

/* Whether it is time that it is asked, though another was chosen; the next time is set. */
bool upstream_wants_probe(struct upstream *u, uint64_t now_ns);

#endif
