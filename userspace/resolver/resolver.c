/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/resolver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/siphash.h"
#include "dns/edns.h"
#include "resolver/context.h"
#include "resolver/forward.h"
#include "resolver/thread.h"

#define UPSTREAM_MAX_FORWARDED 16384
#define UPSTREAM_MAX_RESOLVED  1024

#define OTHER_FDS 32 /* of a thread: event base, inboxes, libunbound's own */

struct resolver {
	unsigned int n_threads;
	uint8_t key[SIPHASH_KEY_BYTES];
	struct resolver_boards boards;
	struct limits limits;
	struct resolver_thread threads[RESOLVER_THREADS_MAX];
};

static const struct outcome outcome_total = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "too many questions are outstanding",
};

static const struct outcome outcome_client = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "too many questions of this client are outstanding",
};

static const struct outcome outcome_share = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "this client has more than its share of the questions outstanding",
};

static int check_ranges(const struct resolver_config *c, char *err, size_t cap)
{
	const char *wrong = NULL;

	if (!c->n_threads || c->n_threads > RESOLVER_THREADS_MAX)
		wrong = "the number of threads";
	else if (!c->max_outstanding || c->max_outstanding > 1 << 24)
		wrong = "the number of outstanding questions";
	else if (c->upstream_max > 16384)
		wrong = "the number of questions with upstreams";
	else if (c->client_prefix4 > 32 || c->client_prefix6 > 128)
		wrong = "the length of a client's prefix";
	else if (c->port_first && c->port_last < c->port_first)
		wrong = "the range of ports";
	if (!wrong)
		return 0;
	snprintf(err, cap, "%s is out of range", wrong);
	return ERR_CONFIG;
}

/* Otherwise libunbound would log an error for each socket that it cannot open. */
static int check_fds(const struct resolver_config *c, char *err, size_t cap)
{
	uint64_t n_each = forward_suits(c) ? FORWARD_FDS : context_fds(c) + tls_relay_fds(c);
	uint64_t n = c->n_threads * (n_each + OTHER_FDS);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= n)
		return 0;
	snprintf(
		err, cap,
		"%u threads with %u questions upstream need %llu files, and RLIMIT_NOFILE is %llu: "
		"raise LimitNOFILE= or lower recursion.max-outstanding",
		c->n_threads, c->upstream_max, (unsigned long long)n,
		(unsigned long long)limit.rlim_cur);
	return ERR_CONFIG;
}

static int fill_keys(struct resolver *r)
{
	if (getrandom(r->key, sizeof(r->key), 0) != sizeof(r->key) ||
	    getrandom(r->limits.key, sizeof(r->limits.key), 0) != sizeof(r->limits.key))
		return -EIO;
	return 0;
}

static int open_resolver_threads(struct resolver *r, const struct resolver_config *config,
				 const struct resolver_place *place, char *err, size_t cap)
{
	int code = 0;

	/* Makes all contexts before the first thread runs, because making one sets globals of
	 * libunbound. */
	for (unsigned int i = 0; i < config->n_threads && !code; i++) {
		r->threads[i].id = i;
		r->threads[i].limits = &r->limits;
		r->threads[i].board = board_at(&r->boards, i);
		r->threads[i].told = place->told[i];
		r->n_threads++;
		code = thread_open(&r->threads[i], config, err, cap);
	}
	return code;
}

static int start_resolver_here(struct resolver *r, const struct resolver_config *config,
			       const struct resolver_place *place, char *err, size_t cap)
{
	int code;

	r->limits.max_total = config->max_outstanding;
	r->limits.max_client = config->max_per_client;
	r->limits.has_shares = true;
	r->limits.prefix4 = config->client_prefix4;
	r->limits.prefix6 = config->client_prefix6;
	r->boards = place->boards;
	code = fill_keys(r);
	if (!code)
		code = open_resolver_threads(r, config, place, err, cap);
	if (!code)
		code = place->furnish(place->user, r);
	for (unsigned int i = 0; i < config->n_threads && !code; i++)
		code = thread_start(&r->threads[i]);
	return code;
}

int resolver_start(struct resolver **out, const struct resolver_config *config,
		   const struct resolver_place *place, char *err, size_t cap)
{
	struct resolver_config whole = *config;
	struct resolver *r;
	int code;

	if (!whole.upstream_max)
		whole.upstream_max = forward_suits(config) ? UPSTREAM_MAX_FORWARDED :
							     UPSTREAM_MAX_RESOLVED;
	code = check_ranges(&whole, err, cap);
	if (!code)
		code = check_fds(&whole, err, cap);
	if (code)
		return code;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	code = start_resolver_here(r, &whole, place, err, cap);
	if (code) {
		resolver_stop(r);
		resolver_free(r);
		return code;
	}
	*out = r;
	return 0;
}

static uint64_t resolver_question_hash(const struct resolver *r, struct resolver_question *q)
{
	size_t n = name_bytes(q->name);

	name_fold(q->name, q->name, n);
	return siphash24(r->key, q->name, n) ^ ((uint64_t)q->qtype << 16 | q->qclass);
}

/* True if the question got a place. If not, it is completed into `back`. */
static bool is_resolver_taken(struct resolver *r, struct resolver_question *q,
			      struct completions *back)
{
	q->is_known = false;
	switch (limits_take(&r->limits, q->family, q->client, &q->place)) {
	case LIMITS_TAKEN:
		return true;
	case LIMITS_TOTAL:
		__atomic_fetch_add(&r->boards.totals->limited_outstanding, 1, __ATOMIC_RELAXED);
		question_set_outcome(q, &outcome_total);
		break;
	case LIMITS_CLIENT:
		__atomic_fetch_add(&r->boards.totals->limited_client, 1, __ATOMIC_RELAXED);
		question_set_outcome(q, &outcome_client);
		break;
	case LIMITS_SHARE:
		__atomic_fetch_add(&r->boards.totals->limited_share, 1, __ATOMIC_RELAXED);
		question_set_outcome(q, &outcome_share);
		break;
	}
	completions_add(back, q);
	return false;
}

void resolver_submit(struct resolver *r, struct resolver_question *const *questions, unsigned int n)
{
	struct inbox_chain chains[RESOLVER_THREADS_MAX] = { 0 };
	struct completions back = { 0 };

	for (unsigned int i = 0; i < n; i++) {
		struct resolver_question *q = questions[i];

		q->hash = resolver_question_hash(r, q);
		/* The upper half, because the lower bits choose the place in the thread's table. */
		if (is_resolver_taken(r, q, &back))
			inbox_chain_add(&chains[(q->hash >> 32) % r->n_threads], &q->link);
	}
	for (unsigned int i = 0; i < r->n_threads; i++)
		inbox_put(&r->threads[i].questions, &chains[i]);
	completions_flush(&back);
}

void resolver_stop(struct resolver *r)
{
	for (unsigned int i = 0; i < r->n_threads; i++)
		thread_stop(&r->threads[i]);
}

bool resolver_is_released(struct resolver *r)
{
	for (unsigned int i = 0; i < r->n_threads; i++)
		if (!thread_is_released(&r->threads[i]))
			return false;
	return true;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	for (unsigned int i = 0; i < r->n_threads; i++)
		thread_close(&r->threads[i]);
	free(r);
}

struct resolver_thread *resolver_thread_at(struct resolver *r, unsigned int i)
{
	return i < r->n_threads ? &r->threads[i] : NULL;
}
