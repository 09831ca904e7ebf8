/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The servers that questions are forwarded to, the state of each, and the choice of the next one.
 *
 * Times are measured as in RFC 6298: a smoothed round trip and its variation give the wait for a
 * reply. The score of a server is its round trip. The score of a server that was silent or failed
 * repeatedly is its longer wait, doubled with each silence. The next question goes to one of the
 * servers with the lowest scores, at random. The others get a copy of a question, a probe, now and
 * then (upstream_wants_probe()), so that their state is known when they are needed.
 *
 * The window is the most queries in flight. It begins small, grows with the replies, and is at most
 * the number of replies of a second: in a longer line, queries would be sent again before the
 * server comes to them, and that would only give it more work. But this rule never cuts the window
 * below UPSTREAM_WINDOW_KEPT, so that names with slow servers do not shut out the others. A server
 * that answers nothing for a while is down: at most UPSTREAM_DOWN_MAX queries at a time go there
 * until a reply comes.
 *
 * Time is an argument, CLOCK_MONOTONIC. One thread.
 */
#ifndef VOLLEY_RESOLVER_UPSTREAMS_H
#define VOLLEY_RESOLVER_UPSTREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <openssl/types.h>

#include "resolver/random.h"
#include "resolver/upstream_cookie.h"

#define UPSTREAMS_MAX 16 /* a set of them is 16 bits */
#define UPSTREAM_NONE UINT8_MAX

#define UPSTREAM_NAME_CAP 254 /* the longest host name as text, and a NUL */

#define UPSTREAM_WAIT_MIN_NS   50000000ULL  /* for a reply: more than a busy machine adds */
#define UPSTREAM_WAIT_FIRST_NS 400000000ULL /* before anything was measured */
#define UPSTREAM_WINDOW_FIRST  256
#define UPSTREAM_WINDOW_KEPT   1024
#define UPSTREAM_WINDOW_NS     250000000ULL /* how often the window is adjusted */
#define UPSTREAM_LINE_NS       100000000ULL /* after so much silence queries are not in line */
#define UPSTREAM_DOWN_MAX      16
#define UPSTREAM_DOWN_NS       500000000ULL /* so much silence to UPSTREAM_DOWN_QUERIES or more */
#define UPSTREAM_DOWN_QUERIES  8
#define UPSTREAM_FAILING       16             /* SERVFAIL or REFUSED in a row */
#define UPSTREAM_PROBE_NS      10000000000ULL /* a healthy one is probed so long after a reply */
#define UPSTREAM_PROBE_ILL_NS  1000000000ULL
#define UPSTREAM_PLAIN_NS      60000000000ULL  /* how long it gets no EDNS after refusing it */
#define UPSTREAM_CASELESS_NS   600000000000ULL /* how long it is excused from keeping case */
#define UPSTREAM_EDNS_NS       600000000000ULL /* how long an answer to EDNS shows that it works */
#define UPSTREAM_COOKIE_NS     600000000000ULL /* the same, of a reply to the COOKIE option */
#define UPSTREAM_LONG_NS       600000000000ULL /* how long it is excused from keeping to the size */

struct upstream {
	struct sockaddr_storage address;
	socklen_t address_bytes;
	uint32_t n_in_flight; /* queries that wait for their reply */
	uint32_t window;
	uint32_t n_replies; /* since replies_since_ns */
	uint64_t replies_since_ns;
	uint32_t n_silent; /* queries not answered in time since its last reply */
	uint32_t n_failing;
	uint32_t n_backoffs; /* RFC 6298 section 5.5, until the next measurement */
	bool down;
	uint64_t srtt_ns; /* 0: not measured */
	uint64_t rttvar_ns;
	uint64_t heard_ns;
	uint64_t answered_sent_ns;  /* when the latest answered query was sent */
	uint64_t backed_off_ns;     /* only queries sent later may double the wait again */
	uint64_t silent_since_ns;   /* when the first of n_silent was sent */
	uint64_t probe_ns;          /* when the next probe is due */
	uint64_t plain_until_ns;    /* RFC 6891 section 6.2.2: it refuses EDNS */
	uint64_t caseless_until_ns; /* it does not keep the letter case */
	uint64_t edns_until_ns;   /* it has answered a query with EDNS: failures are not about it */
	uint64_t cookie_until_ns; /* it has answered one with a cookie: silence is not about it */
	uint64_t long_until_ns;   /* it has no TCP, so its replies over UDP may be of any length */
	bool keeps_case;          /* it has sent letters of both cases back as they were */
	struct upstream_cookie cookie;
	uint64_t n_sent; /* these four are only shown: resolver/forward_board.h */
	uint64_t n_answers;
	uint64_t n_failures;
	uint64_t n_timeouts;
	char name[UPSTREAM_NAME_CAP]; /* the name in its certificate; empty without TLS */
};

struct upstreams {
	unsigned int n;
	uint32_t window_max;
	uint64_t wait_max_ns;
	struct upstream all[UPSTREAMS_MAX];
};

struct upstreams_config {
	const char *const *addresses; /* "192.0.2.1", "2001:db8::1@5353"; NULL behind the last */
	bool has_names;               /* all have a name: "192.0.2.1@853#name.example" */
	bool allow_localhost;
	uint32_t wait_max_ms;
	uint32_t window_max;
};

/* 0, or ERR_CONFIG with a sentence in err of cap octets. */
int upstreams_init(struct upstreams *us, const struct upstreams_config *config, char *err,
		   size_t cap) __attribute__((warn_unused_result));

/*
 * Settings for connections to upstreams by the strict profile of RFC 8310 section 5: without a
 * certificate that those in the file `bundle` trust, nothing is sent or accepted. SSL_CTX_free()
 * frees *out. 0, -ENOMEM, or ERR_CONFIG with a sentence in err that begins with "tls-bundle: ".
 */
int upstreams_tls_new(SSL_CTX **out, const char *bundle, char *err, size_t cap)
	__attribute__((warn_unused_result));

/* One of the best upstreams of the set that have room for another query, or UPSTREAM_NONE. */
uint8_t upstreams_choose(const struct upstreams *us, uint16_t set, struct random *random);

/* How many more queries all upstreams of the set together have room for. */
uint32_t upstreams_room(const struct upstreams *us, uint16_t set);

/* The upstreams of the set that are down. */
uint16_t upstreams_down(const struct upstreams *us, uint16_t set);

/* How long to wait for a reply after n queries of the same question without a reply. */
uint64_t upstream_wait_ns(const struct upstreams *us, const struct upstream *u, uint32_t n);

/*
 * True if a query that was sent at sent_ns only waits in the server's line: replies to earlier
 * queries still come. Then the caller just waits, for at most wait_max_ns in all.
 */
bool upstream_has_line(const struct upstreams *us, const struct upstream *u, uint64_t sent_ns,
		       uint64_t now_ns);

/* A reply came after rtt_ns. 0: the query was sent twice, and the round trip is not known (RFC 6298
 * section 3). */
void upstream_on_reply(const struct upstreams *us, struct upstream *u, uint64_t rtt_ns,
		       uint64_t now_ns);

/* The reply was an answer or a failure. Call it after upstream_on_reply(). */
void upstream_on_outcome(struct upstream *u, bool is_answer, uint64_t now_ns);

/* No reply came in time to a query that was sent at sent_ns. */
void upstream_on_silence(struct upstream *u, uint64_t sent_ns, uint64_t now_ns);

/* True if a probe is due. Sets the time of the next one. */
bool upstream_wants_probe(struct upstream *u, uint64_t now_ns);

#endif
