/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The questions of a forwarder and their queries, from start to end. For the forwarder's files
 * only; others use resolver/forward.h.
 *
 *	taken ─► waiting ─► in flight, timer armed ─► answered or failed: free
 *	            ▲             │ no reply in time, or one to be asked otherwise
 *	            └─────────────┘
 *
 * One thread.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_QUESTION_H
#define VOLLEY_RESOLVER_FORWARD_QUESTION_H

#include "dns/nameset.h"
#include "resolver/forward_board.h"
#include "resolver/forward_chain.h"
#include "resolver/forward_done.h"
#include "resolver/forward_queries.h"
#include "resolver/forward_tcp.h"
#include "resolver/forward_udp.h"
#include "resolver/groups.h"
#include "resolver/resolver_counters.h"

#define FORWARD_QUERIES_EACH 3 /* upstreams that a question may be asked of at a time */

/*
 * If other upstreams have failed, an upstream counts as failed, too, after so many queries without
 * a reply and so much time. An upstream that answers quickly from its cache may need longer for
 * names that it must look up.
 */
#define FORWARD_SILENT_MAX 3
#define FORWARD_SILENT_NS  1500000000ULL

/* So often a query with a cookie is sent in vain; then it goes without: docs/decisions/0057 */
#define FORWARD_COOKIE_SILENT 3

struct forward_question {
	struct deadline timer;        /* while armed: for the latest query */
	struct cds_list_head waiting; /* in its share's list, or in the free list */
	bool is_armed;
	bool is_waiting;
	bool tcp; /* a reply was truncated, or somebody guesses */
	bool checking_disabled;
	uint8_t prefer; /* the upstream to be asked next, or UPSTREAM_NONE */
	uint8_t n_refusals;
	uint16_t tried;   /* these ten are sets of upstreams: asked in this turn */
	uint16_t failed;  /* replied that they cannot answer */
	uint16_t refused; /* could not be reached */
	uint16_t plain;   /* refused EDNS */
	uint16_t bare;    /* refused the COOKIE option */
	uint16_t mute;    /* silent to it: see forward_question_is_mute() */
	uint16_t bad;     /* said BADCOOKIE */
	uint16_t doubted; /* sent a reply over UDP that may be forged: asked over TCP */
	uint16_t yields;  /* of these: may be asked over UDP again if they have no TCP */
	uint16_t lenient; /* of these: have no TCP; see forward_question_yield() */
	uint16_t qtype;
	uint16_t qclass;
	int ede_code;
	struct resolver_group *group; /* NULL: a probe */
	const uint8_t *name;          /* the group's, or the chain's target */
	struct forward_chain *chain;  /* aliases before that target, or NULL */
	struct forward_query queries[FORWARD_QUERIES_EACH];
};

/* A copy of a question, asked of an upstream whose state is to be measured. */
struct forward_probe {
	struct forward_question question;
	bool is_used;
	uint8_t name[NAME_FOLDED_BYTES];
};

struct forward {
	struct forward_done done;
	struct resolver_counters *counters;
	bool caps_for_id;
	bool tcp_only;
	/* queries to one upstream, after the first, that may get no reply; 0: any number */
	uint32_t msg_retry;
	struct nameset caps_exempt;
	SSL_CTX *tls; /* or NULL */
	uint64_t tcp_wait_ns;
	struct upstreams upstreams;
	struct random random;
	struct forward_queries queries;
	struct deadlines timers;
	struct ranks waiting; /* share.by_in_flight of shares whose questions wait */
	struct ranks sent;    /* share.by_sent of shares with queries in flight */
	struct cds_list_head free;
	struct forward_question *all;
	uint32_t n_fresh; /* index in `all` of the first that was never used */
	uint32_t n_all;
	uint32_t n_used;
	struct forward_probe probes[UPSTREAMS_MAX];
	struct forward_udp udp;
	struct forward_tcp tcp;
	struct forward_tap tap;
	struct forward_board *board; /* written by resolver/forward_board.c alone */
};

static inline uint16_t upstream_bit(uint8_t upstream)
{
	return (uint16_t)(1U << upstream);
}

/*
 * True if the upstream was silent to the COOKIE option, and no question has shown since that it
 * replies to cookies. Silence is no refusal: the upstream may only have been slow.
 */
static inline bool forward_question_is_mute(const struct forward_question *q,
					    const struct upstreams *all, uint8_t upstream,
					    uint64_t now_ns)
{
	const struct upstream *u = &all->all[upstream];

	return q->mute & upstream_bit(upstream) && !upstream_cookie_is_proven(&u->cookie) &&
	       now_ns >= u->cookie_until_ns;
}

/* Takes a free question. There is always one: they are as many as the groups that may be asked. */
struct forward_question *forward_question_take(struct forward *f);

/* Clears the question. The caller sets group, name, qtype, qclass and checking_disabled. */
void forward_question_init(struct forward_question *q);

/* Ends the question with an answer: the message of n octets, behind the chain, if there is one. */
void forward_question_answer(struct forward *f, struct forward_question *q, const uint8_t *msg,
			     size_t n);

/* Asks for the target of the chain, of any upstream. */
void forward_question_follow(struct forward *f, struct forward_question *q);

/* Ends the question without an answer. */
void forward_question_fail(struct forward *f, struct forward_question *q);

/* True if a client waits for the answer. No client waits for a probe. */
bool forward_question_is_wanted(const struct forward_question *q);

/* The question is asked again in the next round. A probe ends instead: it has done its work. */
void forward_question_ask_again(struct forward *f, struct forward_question *q);

/* The question waits, before all others of its share. */
void forward_question_wait_first(struct forward *f, struct forward_question *q);

/* Takes the first waiting question of the share out of its list. The share has at least one. */
struct forward_question *forward_question_next(struct forward *f, struct share *share);

bool forward_question_has_in_flight(const struct forward_question *q);

/* True if the question goes to this upstream over TCP. */
bool forward_question_uses_tcp(const struct forward *f, const struct forward_question *q,
			       uint8_t upstream);

/*
 * The upstream cannot be reached over TCP. True if the question may therefore be asked there over
 * UDP once more, after a reply in which a protection was missing that this upstream has never
 * shown: its cookie, the letter case, or the limit of octets. Then it is asked without that
 * protection, with another port and ID, and the next doubt is a failure.
 */
bool forward_question_yield(struct forward_question *q, uint8_t upstream);

/* Sets the question's timer, which may be set already. */
void forward_question_arm(struct forward *f, struct forward_question *q, uint64_t at_ns);

/*
 * Sends the question's query to the upstream, for the first time or again, and sets the timer. If
 * it cannot be sent, the upstream counts as not reachable, and the question is asked again.
 */
void forward_query_send(struct forward *f, struct forward_question *q, uint8_t upstream,
			uint64_t now_ns);

/* Stops waiting for the reply. A reply that comes all the same is accepted. */
void forward_query_land(struct forward *f, struct forward_query *query);

/* Forgets the query. A reply is not accepted any more. */
void forward_query_drop(struct forward *f, struct forward_query *query);

/* The query as it was sent, without its cookie. */
struct forward_text forward_query_text(const struct forward_query *query);

/* What comes back to a forwarder: replies, and broken channels. For the forwarder's files only. */

/* The callbacks of the forwarder's channels; ctx is the forwarder. */
struct forward_events forward_reply_events(struct forward *f);

#endif
