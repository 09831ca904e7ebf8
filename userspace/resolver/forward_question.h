/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The questions of a forwarder and their queries, from the first to their end. Inside of the
 * forwarder only; what it is for others is in resolver/forward.h.
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
#include "resolver/forward_done.h"
#include "resolver/forward_tap.h"
#include "resolver/forward_tcp.h"
#include "resolver/forward_udp.h"
#include "resolver/groups.h"
#include "resolver/resolver_counters.h"

#define FORWARD_QUERIES_EACH 3 /* upstreams that a question may be with at a time */

/*
 * After so many queries without a reply, and so long, an upstream counts as failed where others
 * have. One that is quick with what it knows may have to look for the rest.
 */
#define FORWARD_SILENT_MAX 3
#define FORWARD_SILENT_NS  1500000000ULL

struct forward_question {
	struct deadline timer;        /* while armed: of the last query */
	struct cds_list_head waiting; /* to be asked, in its share; or of the free ones */
	bool is_armed;
	bool is_waiting;
	bool tcp; /* a reply was truncated */
	bool checking_disabled;
	uint8_t prefer; /* the upstream to be asked next, or UPSTREAM_NONE */
	uint8_t n_refusals;
	uint16_t tried;   /* sets of upstreams: asked in this turn */
	uint16_t failed;  /* replied that they cannot answer */
	uint16_t refused; /* could not be reached */
	uint16_t plain;   /* refused EDNS */
	uint16_t bare;    /* refused the COOKIE option */
	uint16_t bad;     /* said BADCOOKIE */
	uint16_t qtype;
	uint16_t qclass;
	int ede_code;
	struct resolver_group *group; /* NULL: a probe */
	const uint8_t *name;
	struct forward_query queries[FORWARD_QUERIES_EACH];
};

/* A question asked once more, of an upstream that is to be known. */
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
	/* queries to one upstream after the first that may stay without reply; 0: any number */
	uint32_t msg_retry;
	struct nameset caps_exempt;
	SSL_CTX *tls; /* or NULL */
	uint64_t tcp_wait_ns;
	struct upstreams upstreams;
	struct random random;
	struct forward_queries queries;
	struct deadlines timers;
	struct ranks waiting; /* share.by_in_flight: who has questions that wait */
	struct ranks sent;    /* share.by_sent: whose queries are in flight */
	struct cds_list_head free;
	struct forward_question *all;
	uint32_t n_fresh; /* of all, those never used */
	uint32_t n_all;
	uint32_t n_used;
	struct forward_probe probes[UPSTREAMS_MAX];
	struct forward_udp udp;
	struct forward_tcp tcp;
	struct forward_tap tap;
	struct forward_board board; /* written by resolver/forward_board.c alone */
};

static inline uint16_t upstream_bit(uint8_t upstream)
{
	return (uint16_t)(1U << upstream);
}

/* One that is free: there are as many as groups that may be asked. */
struct forward_question *forward_question_take(struct forward *f);

/* Clears it. group, name, qtype, qclass and checking_disabled are the caller's to set. */
void forward_question_init(struct forward_question *q);

/* Its end with an answer: the message of n octets. */
void forward_question_answer(struct forward *f, struct forward_question *q, const uint8_t *msg,
			     size_t n);

/* Its end without one. */
void forward_question_fail(struct forward *f, struct forward_question *q);

/* Whether somebody waits for it; nobody does for a probe. */
bool forward_question_is_wanted(const struct forward_question *q);

/* It is to be asked again, in the next round; a probe has done what it is for and ends. */
void forward_question_ask_again(struct forward *f, struct forward_question *q);

/* It waits, before all others of its share. */
void forward_question_wait_first(struct forward *f, struct forward_question *q);

/* The question that waits first, of a share with the fewest queries in flight, which waits no more
 * then. */
struct forward_question *forward_question_next(struct forward *f, struct share *share);

bool forward_question_has_in_flight(const struct forward_question *q);

/* Sets its timer, whether or not it was set. */
void forward_question_arm(struct forward *f, struct forward_question *q, uint64_t at_ns);

/*
 * Sends the question's query to the upstream, anew or once more, and sets the timer. Where that
 * cannot be done the upstream is one that could not be reached, and the question is asked again.
 */
void forward_query_send(struct forward *f, struct forward_question *q, uint8_t upstream,
			uint64_t now_ns);

/* Its reply is not waited for any more, but taken. */
void forward_query_land(struct forward *f, struct forward_query *query);

/* Its reply is not taken any more. */
void forward_query_drop(struct forward *f, struct forward_query *query);

/* The query as it was sent, but for its cookie. */
struct forward_text forward_query_text(const struct forward_query *query);

#endif
