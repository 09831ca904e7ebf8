/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of recursion: a world whose engine asks upstream, for clients of 192.0.2.0/24 only;
 * queries at a time of the test's choice; and completions as the resolver makes them, from text.
 */
#ifndef VOLLEY_TESTS_ENGINE_RECURSING_H
#define VOLLEY_TESTS_ENGINE_RECURSING_H

#include "base/clock.h"
#include "limits/clients.h"
#include "tests/unit/engine/upstream.h"
#include "tests/unit/engine/world.h"

static const uint8_t stranger[4] = { 198, 51, 100, 1 };

struct recursing {
	struct world world;
	struct engine_recursion rules;
	uint32_t now_s;
	struct engine_pending pending;
	struct engine_search search; /* of it */
	struct reply reply;
};

/* The slot of the answers from upstream; another generation each time. */
static inline void recursing_flush(struct recursing *r)
{
	static const uint8_t name[] = "\13(recursion)";
	static uint64_t digest[2] = { 7, 0 };

	digest[1]++;
	cache_zone_prepare(r->world.cache, name, sizeof(name), digest, &r->rules.zone_slot,
			   &r->rules.zone_gen);
	MUST(r->rules.zone_slot);
	cache_zone_commit(r->world.cache, r->rules.zone_slot, r->rules.zone_gen, digest);
}

static inline void recursing_set_clients(struct recursing *r, const struct clients_prefix *prefixes,
					 size_t n)
{
	clients_free(r->world.zones.clients);
	MUST(!clients_new(&r->world.zones.clients, prefixes, n));
}

/* After the zones. */
static inline void recursing_open(struct recursing *r, const struct engine_config *config)
{
	const struct clients_prefix ours = { AF_INET, 24, { 192, 0, 2 }, 3 };

	world_open(&r->world, config);
	r->now_s = WORLD_NOW_S;
	r->rules = (struct engine_recursion)ENGINE_RECURSION_INIT;
	recursing_flush(r);
	recursing_set_clients(r, &ours, 1);
	r->world.zones.recursion = &r->rules;
}

static inline void recursing_close(struct recursing *r)
{
	clients_free(r->world.zones.clients);
	r->world.zones.clients = NULL;
}

static inline struct engine_times times_of(const struct recursing *r)
{
	return (struct engine_times){
		.now_ns = r->now_s * CLOCK_NS_PER_S,
		.now_s = r->now_s,
		.wall_s = WORLD_WALL_S,
	};
}

/* Sends the query; true: it is deferred, to r->pending. Else r->reply, or a length of 0. */
static inline bool ask_from(struct recursing *r, const struct ask *ask, const uint8_t *client,
			    struct engine_pending *pending)
{
	uint8_t msg[512];
	struct engine_request rq = {
		.msg = msg,
		.len = ask_bytes(ask, msg),
		.stream = ask->stream,
		.family = AF_INET,
		.client = client,
		.now_ns = r->now_s * CLOCK_NS_PER_S,
		.now_s = r->now_s,
		.wall_s = WORLD_WALL_S,
		.pending = pending,
	};
	size_t n = engine_answer(r->world.engine, &rq, r->reply.bytes, sizeof(r->reply.bytes));

	rcu_quiescent_state();
	r->reply.len = n == ENGINE_DEFERRED ? 0 : n;
	if (n == ENGINE_DEFERRED)
		MUST(pending->submit && pending->asked.has_client);
	return n == ENGINE_DEFERRED;
}

static inline bool ask(struct recursing *r, const struct ask *a)
{
	r->pending.servers.search = &r->search;
	return ask_from(r, a, world_client, &r->pending);
}

/* The completion with this answer, or with `rcode` and `ede_code` where it is NULL; the reply's
 * length. */
static inline size_t complete_as(struct recursing *r, const struct upstream *u, int ede_code,
				 enum resolver_security security)
{
	struct resolver_question *q = &r->pending.question;
	struct engine_times times = times_of(r);
	uint8_t *wire = NULL;

	q->ede_code = ede_code;
	q->security = security;
	q->rcode = u ? u->rcode : DNS_RCODE_SERVFAIL;
	q->msg_bytes = 0;
	if (u)
		wire = upstream_wire(u, &q->msg_bytes);
	q->msg = wire;
	r->reply.len = engine_finish(r->world.engine, &r->pending, &times, r->reply.bytes,
				     sizeof(r->reply.bytes));
	rcu_quiescent_state();
	free(wire);
	return r->reply.len;
}

static inline size_t complete(struct recursing *r, const struct upstream *u)
{
	return complete_as(r, u, EDNS_NO_EDE, RESOLVER_INSECURE);
}

static inline size_t complete_failed(struct recursing *r, int ede_code)
{
	return complete_as(r, NULL, ede_code, RESOLVER_INSECURE);
}

/* The extended error of the reply, or EDNS_NO_EDE. */
static inline int ede_of(const struct reply *r)
{
	int code = EDNS_NO_EDE;
	ldns_pkt *pkt;
	ldns_rdf *data;

	MUST(ldns_wire2pkt(&pkt, r->bytes, r->len) == LDNS_STATUS_OK);
	data = ldns_pkt_edns_data(pkt);
	for (size_t at = 0; data && at + 4 <= ldns_rdf_size(data);) {
		const uint8_t *option = ldns_rdf_data(data) + at;

		if (wire_load_be16(option) == DNS_OPTION_EDE)
			code = wire_load_be16(option + 4);
		at += 4u + wire_load_be16(option + 2);
	}
	ldns_pkt_free(pkt);
	return code;
}

/* The answer section as text. The caller frees it. */
static inline char *answer_of(const struct reply *r, ldns_pkt_section section)
{
	ldns_pkt *pkt;
	char *text;

	MUST(ldns_wire2pkt(&pkt, r->bytes, r->len) == LDNS_STATUS_OK);
	text = section_text(pkt, section);
	ldns_pkt_free(pkt);
	return text;
}

#endif
