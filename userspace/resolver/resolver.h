/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resolver: questions that this server cannot answer by itself, asked upstream by libunbound
 * (iterating from the root, or forwarding), which validates what comes back; or, where they are
 * only to be forwarded, by a forwarder of our own (resolver/forward.h), which is many times as
 * fast.
 *
 *	worker ─► resolver_submit() ─► inbox of a resolver thread ─► the same question under way? join it
 *	                                                                 │ no
 *	  completions in bursts                                          ▼
 *	worker ◄─ its own inbox ◄───────── deadline, limit, or ◄──── libunbound ◄─► upstreams
 *	   └─► resolver_release()                                or the forwarder
 *
 * resolver_start() decides. The forwarder is taken where there are forwards, without a trust anchor
 * and without stubs, forward_first, private_addresses, outgoing_interfaces, dns64_prefix,
 * upstream_qps and options, which only libunbound knows. What differs then: nothing is validated,
 * and no answer is secure; CD goes upstream as it came, so questions with it and without are two;
 * and every question goes upstream, for nothing is cached here. Against forged replies it has
 * cookies (RFC 7873), letter case (caps_for_id), and TCP after a few wrong replies.
 *
 * libunbound is built without TLS in Debian: its queries to forwards over TLS are carried by
 * resolver/tls_relay.h.
 *
 * Either asks upstream for all names, "localhost." and other special ones included:
 * engine/special.h answers for these before. With libunbound nothing below a special name
 * (dns/special_names.h) is validated, unless there is a trust anchor for it: the chain from the
 * root ends above it.
 *
 * Each resolver thread has an event base (libevent), and a forwarder or two contexts of libunbound
 * with small caches of their own; a question goes to the thread that its hash names, so the same
 * one always meets itself.
 *
 * Two contexts, since each is a memory: what was asked there is answered from there for as long as
 * its TTL lasts, with what is left of it, and nothing in libunbound makes it ask sooner. An answer
 * that is fetched anew before it expires is asked of the memory that it did not come from. That one
 * has asked before the other did, or never, so what it knows has expired, and it asks upstream. But
 * it perhaps does not know the servers of the zone, and then begins at the root. So an answer that
 * has expired is asked of the memory that it came from. The same question to the one memory and to
 * the other is two: a refresh that gets no reply holds up nobody.
 *
 * Denials (RFC 8198): libunbound makes denials of other names from NSEC records that it has
 * validated. resolver/denials.h does the same with NSEC3 records, before libunbound is asked. It
 * has one store in each thread, whichever memory the records came from; so a question with
 * is_refresh set does not use it.
 *
 * What is fair: each prefix of clients has a share of the places (resolver/shares.h). One that has
 * more waits, and a prefix with few always gets one, that of one of those with most where none is
 * free. Questions that nobody answers have their place until they end, so they count for their
 * whole time. Questions of nobody (family 0) are one prefix, whose questions are refused for its
 * share in no case.
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
 * was found also when that is bogus. A denial that is known answers it as well, since its proof
 * holds. DO is always set upstream: the answer has signatures and proofs. The answer is a whole
 * message: header with QR, RD, RA (AD where secure), the question with the name in lower case, and
 * perhaps an OPT record, which is between libunbound and us.
 *
 * RFC 5011: the file of auto_trust_anchor_file is followed when the DNSKEY set is fetched;
 * libunbound has no timer that fetches it otherwise.
 */
#ifndef VOLLEY_RESOLVER_RESOLVER_H
#define VOLLEY_RESOLVER_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/resolver_question.h"
#include "resolver/resolver_config.h"
#include "resolver/resolver_counters.h"

struct resolver;

/*
 * Starts the threads. 0; ERR_CONFIG with a sentence in err of cap octets: libunbound refuses an
 * option, a file cannot be read, a file of trust anchors has no usable one, more sockets than
 * RLIMIT_NOFILE allows; or -errno. Nothing is asked upstream before the first question.
 */
int resolver_start(struct resolver **out, const struct resolver_config *config, char *err,
		   size_t cap) __attribute__((warn_unused_result));

/*
 * Hands over n questions. Those over a limit come back at once, through their inbox too: SERVFAIL
 * with an extended error. Any thread; not beside or after resolver_stop().
 */
void resolver_submit(struct resolver *r, struct resolver_question *const *questions,
		     unsigned int n);

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

/* Each value is whole; the set is not of one instant. Any thread. */
void resolver_counters_read(const struct resolver *r, struct resolver_counters *out);

#endif
