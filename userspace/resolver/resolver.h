/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resolver: questions that this server cannot answer by itself, asked upstream by libunbound
 * (iterating from the root, or forwarding), which validates what comes back; or, where they are only
 * to be forwarded, by a forwarder of our own (resolver/forward.h), which is many times as fast.
 *
 *	worker ─► resolver_submit() ─► inbox of a resolver thread ─► the same question under way? join it
 *	                                                                 │ no
 *	  completions in bursts                                          ▼
 *	worker ◄─ its own inbox ◄───────── deadline, limit, or ◄──── libunbound ◄─► upstreams
 *	   └─► resolver_release()                                or the forwarder
 *
 * resolver_start() decides. The forwarder is taken where there are forwards, without a trust anchor
 * and without stubs, forward_first, private_addresses, outgoing_interfaces, dns64_prefix, upstream_qps and
 * options, which only libunbound knows. What differs then: nothing is validated, and no answer is secure; CD goes upstream
 * as it came, so questions with it and without are two; and every question goes upstream, for nothing
 * is cached here. Against forged replies it has cookies (RFC 7873), letter case (caps_for_id), and TCP
 * after a few wrong replies.
 *
 * libunbound is built without TLS in Debian: its queries to forwards over TLS are carried by resolver/tls_relay.h.
 *
 * Either asks upstream for all names, "localhost." and other special ones included: engine/special.h answers for these before.
 * With libunbound nothing below a special name (dns/special_names.h) is validated, unless there is a trust anchor for it: the
 * chain from the root ends above it.
 *
 * Each resolver thread has an event base (libevent), and a forwarder or two contexts of libunbound with
 * small caches of their own; a question goes to the thread that its hash names, so the same one always
 * meets itself.
 *
 * Two contexts, since each is a memory: what was asked there is answered from there for as long as its
 * TTL lasts, with what is left of it, and nothing in libunbound makes it ask sooner. An answer that is fetched
 * anew before it expires is asked of the memory that it did not come from. That one has
 * asked before the other did, or never, so what it knows has expired, and it asks upstream. But it perhaps does not know the
 * servers of the zone, and then begins at the root. So an answer that has expired is asked of the memory that it came from.
 * The same question to the one memory and to the other is two: a refresh that gets no reply holds up nobody.
 *
 * Denials (RFC 8198): libunbound makes denials of other names from NSEC records that it has validated.
 * resolver/denials.h does the same with NSEC3 records, before libunbound is asked. It has one store in each
 * thread, whichever memory the records came from; so a question with is_refresh set does not use it.
 *
 * What is fair: each prefix of clients has a share of the places (resolver/shares.h). One that has more waits, and a prefix
 * with few always gets one, that of one of those with most where none is free. Questions that nobody answers have their place until they end, so they
 * count for their whole time. Questions of nobody (family 0) are one prefix, whose questions are refused for its share in no case.
 *
 * What bounds memory: places for max_outstanding questions; upstream_max of them at a time with
 * upstreams, the others wait in line (they cost a fixed struct, where one in libunbound has
 * buffers, sockets and timers).
 *
 * A question is the caller's memory. It belongs to the resolver from resolver_submit() until it
 * comes out of its inbox, and what the completion points to is valid until resolver_release(). Each
 * question that was submitted is completed exactly once: with an answer, or by its deadline, or by
 * resolver_stop(). On the caller's side nothing locks, allocates or waits.
 *
 * CD (RFC 4035 section 3.2.2): all questions are validated; one with checking_disabled gets what
 * was found also when that is bogus. A denial that is known answers it as well, since its proof holds.
 * DO is always set upstream: the answer has signatures and proofs. The answer is a whole message: header
 * with QR, RD, RA (AD where secure), the question with the name in lower case, and perhaps an OPT record,
 * which is between libunbound and us.
 *
 * RFC 5011: the file of auto_trust_anchor_file is followed when the DNSKEY set is fetched; libunbound
 * has no timer that fetches it otherwise.
 */
#ifndef VOLLEY_RESOLVER_RESOLVER_H
#define VOLLEY_RESOLVER_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "dns/name.h"
#include "resolver/deadlines.h"
#include "resolver/inbox.h"
#include "base/limits.h"

#define RESOLVER_THREADS_MAX 16
#define RESOLVER_MEMORIES    2

struct tap;

enum resolver_transport {
	RESOLVER_UDP, /* and TCP where an answer is truncated */
	RESOLVER_TCP,
	RESOLVER_TLS, /* RFC 7858 */
};

/*
 * A zone that is asked at servers of its own. Those of one zone and kind say the same but for the address, and no zone is
 * of both kinds.
 */
struct resolver_stub {
	const char *zone;    /* text, without quotation marks and backslashes */
	const char *address; /* "192.0.2.1" or "192.0.2.1@5353"; with RESOLVER_TLS as forwards */
	bool is_forward;     /* a recursive server; else an authoritative one */
	bool prime; /* not is_forward: ask there for the NS records, and go on with those */
	bool first; /* where no server gives an answer, ask as if the zone were not here */
	/*
	 * RESOLVER_UDP: as that of all upstreams; where that is RESOLVER_TLS, UDP. RESOLVER_TLS: with is_forward
	 * only.
	 */
	enum resolver_transport transport;
};

/* An option of unbound.conf(5) that has no member here: {"serve-expired:", "no"}. */
struct resolver_option {
	const char *name; /* with the colon */
	const char *value;
};

/*
 * Read by resolver_start() only, so all that it points to may go afterwards. Lists of strings end
 * in NULL, and NULL is the empty list.
 */
struct resolver_config {
	unsigned int n_threads; /* 1 to RESOLVER_THREADS_MAX */
	const char *root_hints; /* a file; NULL: those that libunbound brings */
	/*
	 * Where all is forwarded to: "192.0.2.1", "192.0.2.1@5353"; with RESOLVER_TLS
	 * "192.0.2.1@853#name.example", and the certificate must be for that name. There are
	 * 16 at most that the forwarder asks, and 16 in all that are asked over TLS. Empty: iterate.
	 */
	const char *const *forwards;
	bool forward_first;                /* where none of them gives an answer, iterate */
	enum resolver_transport transport; /* to all upstreams */
	const char *tls_bundle; /* a file of trusted certificates; RESOLVER_TLS needs it */
	const struct resolver_stub *stubs;
	size_t n_stubs;
	const char *trust_anchor_file;      /* DS or DNSKEY records; NULL and the next NULL: */
	const char *auto_trust_anchor_file; /* nothing is validated. This one is written to */
	const char *const *insecure;        /* names below which nothing is validated: RFC 7646 */
	bool qname_minimisation;            /* RFC 9156 */
	bool aggressive_nsec; /* RFC 8198: with NSEC by libunbound, with NSEC3 by denials.h */
	bool caps_for_id;     /* 0x20: draft-vixie-dnsext-dns0x20 */
	const char *const *caps_exempt; /* not for these names and those below */
	bool query_localhost;           /* for labs: upstreams may be on 127.0.0.0/8 and ::1 */
	uint64_t msg_cache_bytes;       /* of each thread: both its memories */
	uint64_t rrset_cache_bytes;
	/*
	 * How long libunbound keeps an answer; the forwarder keeps none. An NSEC3 record denies other names for
	 * max_negative_ttl_s at most.
	 */
	uint32_t max_ttl_s;
	uint32_t min_ttl_s;
	uint32_t max_negative_ttl_s;
	/*
	 * Where an authority of the root zone is, on a loopback address of this host, as a stub's address: it is asked in
	 * the place of the root servers (RFC 8806). NULL: these are asked. Only where nothing is forwarded.
	 */
	const char *root_copy;
	/* The relay's own: "127.3.5.7" or "::1", which libunbound asks in the place of upstreams over TLS. NULL: there is none. */
	const char *tls_relay;
	const char *const *private_addresses; /* prefixes that no answer may have */
	const char *const *private_domains;   /* but for names at or below these */
	/*
	 * RFC 6147, by libunbound's module dns64: "64:ff9b::/96"; NULL: none. It is for all questions, those with
	 * CD as well: libunbound's API has no CD.
	 */
	const char *dns64_prefix;
	bool dns64_synthall;                    /* also where there are AAAA records */
	const char *const *outgoing_interfaces; /* addresses that are asked from */
	uint16_t port_first;                    /* ports that are asked from; 0: all above 1023 */
	uint16_t port_last;
	uint32_t max_outstanding; /* questions, in all */
	uint32_t max_per_client;  /* questions of one prefix; 0: no limit */
	uint8_t client_prefix4;   /* bits */
	uint8_t client_prefix6;
	/*
	 * Questions of each thread that are with upstreams at a time; 0: 16384 where they are only
	 * forwarded, else 1024, since each has a socket then: of the second memory, half as many.
	 */
	uint32_t upstream_max;
	uint32_t upstream_qps;        /* of each memory, for the servers of a zone; 0: no limit */
	uint32_t upstream_timeout_ms; /* longest wait for one reply of a server */
	uint32_t upstream_forget_s;   /* so long libunbound remembers a server's failure */
	/*
	 * A server that does not reply to a question is asked again so often for it; 0: 5 times by libunbound, by the
	 * forwarder as long as somebody waits.
	 */
	uint32_t msg_retry;
	const struct resolver_option
		*tuning; /* what the forwarder does without; set before the next */
	size_t n_tuning;
	const struct resolver_option *options; /* set last */
	size_t n_options;
	struct tap *
		tap; /* is told of queries to upstreams, until resolver_stop() has returned; NULL: nobody is */
};

/* clang-format off */
#define RESOLVER_CONFIG_INIT {                                                              \
	.n_threads = 1, .qname_minimisation = true, .aggressive_nsec = true,                \
	.msg_cache_bytes = 4 << 20, .rrset_cache_bytes = 8 << 20,                           \
	.max_ttl_s = 86400, .max_negative_ttl_s = 3600,                                     \
	.max_outstanding = 131072, .client_prefix4 = 32, .client_prefix6 = 64,              \
	.upstream_timeout_ms = 2000, .upstream_forget_s = 5 }
/* clang-format on */

enum resolver_security {
	RESOLVER_INSECURE, /* or nobody asked for validation */
	RESOLVER_BOGUS,
	RESOLVER_SECURE,
};

struct resolver_answer;
struct resolver_group;

struct resolver_question {
	struct inbox_link link; /* first: what inbox_take() returns is the question */

	/* Set by the caller; none of it is changed but name's case and memory. */
	struct inbox *inbox; /* where it comes back; open until resolver_stop() has returned */
	void *user;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; at most 50 ms late, where the thread keeps up */
	uint8_t name[NAME_FOLDED_BYTES]; /* wire form, checked */
	uint16_t qtype;
	uint16_t qclass;
	bool checking_disabled; /* CD of the query */
	bool is_refresh;        /* the answer is known, and one is wanted that is fetched anew */
	uint8_t family;         /* the client, for its limit: AF_INET, AF_INET6, 0: nobody */
	uint8_t client[16];
	/*
	 * Which memory is to be asked, 0 or 1; 0 where there is no reason for either. The forwarder has none.
	 */
	uint8_t memory;

	/* The completion: valid from inbox_take() to resolver_release(). */
	uint16_t rcode;
	int ede_code;     /* RFC 8914, or EDNS_NO_EDE */
	const char *text; /* why not, for a person; NULL: nothing to be said */
	enum resolver_security security;
	bool is_known;      /* the memory had it, and nobody was asked */
	const uint8_t *msg; /* the answer, msg_bytes long; NULL: there is none, rcode is all */
	size_t msg_bytes;

	/* The resolver's own. */
	uint64_t hash;
	struct limits_place place;
	struct deadline deadline;
	struct cds_list_head waiting;
	struct resolver_group *group;
	struct resolver_answer *answer;
};

struct resolver;

/*
 * Starts the threads. 0; ERR_CONFIG with a sentence in err of cap octets: libunbound refuses an
 * option, a file cannot be read, a file of trust anchors has no usable one, more sockets than RLIMIT_NOFILE allows; or -errno. Nothing is
 * asked upstream before the first question.
 */
int resolver_start(struct resolver **out, const struct resolver_config *config, char *err,
		   size_t cap) __attribute__((warn_unused_result));

/*
 * Hands over n questions. Those over a limit come back at once, through their inbox too: SERVFAIL with
 * an extended error. Any thread; not beside or after resolver_stop().
 */
void resolver_submit(struct resolver *r, struct resolver_question *const *questions,
		     unsigned int n);

/* The oldest question that was completed, with the others behind it; NULL: none. Owner of the inbox. */
static inline struct resolver_question *resolver_take(struct inbox *inbox)
{
	return (struct resolver_question *)inbox_take(inbox);
}

/* The next one of those that were taken; before the question is submitted again. */
static inline struct resolver_question *resolver_next(const struct resolver_question *q)
{
	return (struct resolver_question *)q->link.next;
}

/* Gives the answer back; the question is free to be used again. Any thread. */
void resolver_release(struct resolver_question *q);

/*
 * Ends the threads. All that was outstanding is in its inbox when this returns: SERVFAIL. Answers
 * stay until resolver_free(). Once, by one thread, when nobody submits any more.
 */
void resolver_stop(struct resolver *r);

/* After resolver_stop(): whether all that it completed was released. One thread at a time. */
bool resolver_is_released(struct resolver *r);

/* After resolver_stop(), when all questions were released. NULL is allowed. */
void resolver_free(struct resolver *r);

/*
 * asked = answered + bogus + failed + timed_out + displaced + limited_outstanding + limited_client + limited_share
 *         + limited_upstream + stopped + outstanding, once all is at rest. E(name, words).
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
	E(late, "answers for which nobody waited any more")                               \
	E(queries, "forwarder: queries sent over UDP")                                    \
	E(queries_tcp, "forwarder and relay: queries sent over TCP or TLS")               \
	E(tls_failed, "forwarder and relay: TLS handshakes that failed")                  \
	E(resent, "of these, once more, since no reply came in time")                     \
	E(probes, "of these, besides, to know an upstream")                               \
	E(overtaken, "forwarder: queries whose place another client's took")              \
	E(truncated, "replies that were truncated: asked again over TCP")                 \
	E(plain, "replies that refused EDNS: asked again without")                        \
	E(malformed, "replies refused: they cannot be read to their end")                 \
	E(miscased, "replies in other letter case: asked again over TCP")                 \
	E(no_cookie, "replies without the cookie expected: asked again over TCP")         \
	E(badcookie, "replies BADCOOKIE: asked again")                                    \
	E(unmatched, "messages refused: replies to no query under way")                   \
	E(forged, "queries moved to TCP: wrong replies came to their socket")             \
	E(sockets, "UDP sockets opened, each with a random port")

struct resolver_counters {
#define RESOLVER_COUNTER_FIELD(name, words) uint64_t name;
	RESOLVER_COUNTERS(RESOLVER_COUNTER_FIELD)
#undef RESOLVER_COUNTER_FIELD
	struct histogram
		took; /* answers of upstreams: of a question by libunbound, of a query by the forwarder */
	uint64_t outstanding; /* now: submitted, and not completed */
};

/* Each value is whole; the set is not of one instant. Any thread. */
void resolver_counters_read(const struct resolver *r, struct resolver_counters *out);

#endif
