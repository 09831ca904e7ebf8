/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resolver asks upstream the questions that this server cannot answer by itself. It uses
 * libunbound, which iterates from the root or forwards, and validates the replies; or, for mere
 * forwarding, a forwarder of our own (resolver/forward.h), which is many times as fast.
 *
 *	worker ─► resolver_submit() ─► inbox of a resolver thread ─► equal question asked? join it
 *	                                                                 │ no
 *	  completions in bursts                                          ▼
 *	worker ◄─ its own inbox ◄───────── deadline, limit, or ◄──── libunbound ◄─► upstreams
 *	   └─► resolver_release()                                or the forwarder
 *
 * resolver_start() chooses the forwarder if there are forwards, but no trust anchor, stubs,
 * forward_first, private_addresses, outgoing_interfaces, dns64_prefix, upstream_qps or options,
 * which only libunbound supports. With the forwarder, nothing is validated, and no answer is
 * secure; CD goes upstream unchanged, so questions with and without CD are different; and every
 * question goes upstream, because nothing is cached here. Against forged replies it has cookies
 * (RFC 7873), letter case (caps_for_id), and TCP after a few wrong replies.
 *
 * Debian builds libunbound without TLS, so resolver/tls_relay.h carries its queries over TLS.
 *
 * libunbound and the forwarder ask upstream for all names, also "localhost." and other special
 * names: engine/special.h answers for these before. libunbound validates nothing below a special
 * name (dns/name.h) without a trust anchor for it, because the chain of trust from the
 * root ends above it.
 *
 * Each resolver thread has an event base (libevent), and a forwarder or two contexts of libunbound
 * with small caches of their own. The hash of a question chooses its thread, so equal questions
 * always meet.
 *
 * There are two contexts, because each is a memory: it answers from its cache until the TTL ends,
 * with the remaining TTL, and libunbound cannot be made to ask sooner. So an answer that is
 * refreshed before it expires is asked of the other memory, not of the one that it came from. The
 * other memory has asked earlier or never, so its copy has expired, and it asks upstream. But
 * perhaps it does not know the servers of the zone and must begin at the root. So an answer that
 * has expired is asked of the memory that it came from. Equal questions to different memories are
 * different questions, so a refresh without a reply delays no client.
 *
 * Denials (RFC 8198): libunbound makes denials of other names from NSEC records that it has
 * validated. resolver/denials.h does the same with NSEC3 records, before libunbound is asked. Its
 * store in each thread has the records of both memories, so a question with is_refresh does not use
 * it.
 *
 * Fairness: each prefix of clients has a share of the places (resolver/shares.h). A prefix with
 * more places waits. A prefix with few places always gets one; if none is free, a prefix with the
 * most places loses one. A question without a reply has its place until it ends, so it counts for
 * its whole time. Questions without a client (family 0) count as one prefix, and are never refused
 * because of its share.
 *
 * Memory is bounded: there are places for max_outstanding questions. At most upstream_max of them
 * are asked upstream at a time. The others wait and cost only a fixed struct; a question in
 * libunbound has buffers, sockets and timers.
 *
 * A question is the caller's memory. It belongs to the resolver from resolver_submit() until the
 * caller takes it from its inbox. The pointers of its completion are valid until
 * resolver_release(). Each submitted question is completed exactly once: with an answer or an
 * error, by its deadline, or by resolver_stop(). The functions that the caller uses for this do not
 * lock, allocate or wait.
 *
 * CD (RFC 4035 section 3.2.2): all questions are validated; a question with checking_disabled also
 * gets a bogus answer. A known denial answers it, too, because its proof is valid. DO is always set
 * upstream, so answers have signatures and proofs. The answer is a whole message: header with QR,
 * RD, RA (AD if secure), the question with the name in lower case, and perhaps an OPT record, which
 * is not for the client.
 *
 * RFC 5011: libunbound updates auto_trust_anchor_file when it fetches the DNSKEY set for a
 * question; it has no timer that fetches the set otherwise.
 *
 * Files:
 *
 *     inbox, groups, deadlines, shares     questions: joined, ended, shared fairly
 *     failures, failure_table, targets,
 *     inspect, forward_board               what is counted and kept for operators
 *     answer, thread                       shared answers; the loop that joins all
 *     context*, unbound_version, anchors   libunbound: its options, its version, trust anchors
 *     denials*                             denials from validated NSEC3 records
 *     forward*, upstreams, upstream_cookie, random
 *                                          the forwarder of our own
 *     tls_relay*                           libunbound's queries over TLS
 */
#ifndef VOLLEY_RESOLVER_RESOLVER_H
#define VOLLEY_RESOLVER_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/resolver_question.h"
#include "resolver/resolver_config.h"
#include "resolver/board.h"

struct resolver;
struct tap_producer;

/* The memory and the desks of a resolver, which another process watches: resolver/serving.c. */
struct resolver_place {
	struct resolver_boards boards; /* one for each thread */
	struct tap_producer **told;    /* one for each thread; items may be NULL: nothing is told */
	/* Called when all is made and no thread runs yet. 0, or an error of resolver_start(). */
	int (*furnish)(void *user, struct resolver *r);
	void *user;
};

/*
 * Starts the threads at this place, whose memory must live until resolver_free(). Returns 0;
 * -errno; or ERR_CONFIG with a sentence in err of cap octets: libunbound refuses an option, a file
 * cannot be read, a file of trust anchors has no usable one, or more sockets are needed than
 * RLIMIT_NOFILE allows. Nothing is asked upstream before the first question.
 */
int resolver_start(struct resolver **out, const struct resolver_config *config,
		   const struct resolver_place *place, char *err, size_t cap)
	__attribute__((warn_unused_result));

/*
 * Submits n questions. Questions over a limit come back at once through their inbox: SERVFAIL with
 * an extended error. Any thread; not during or after resolver_stop().
 */
void resolver_submit(struct resolver *r, struct resolver_question *const *questions,
		     unsigned int n);

/*
 * Ends the threads. When it returns, all outstanding questions are in their inboxes: SERVFAIL.
 * Answers stay until resolver_free(). Call it once, when no thread submits any more.
 */
void resolver_stop(struct resolver *r);

/* After resolver_stop(): true if all answers were released. One thread at a time. */
bool resolver_is_released(struct resolver *r);

/* After resolver_stop(), when all questions were released. NULL is allowed. */
void resolver_free(struct resolver *r);

#endif
