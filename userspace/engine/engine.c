/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "dns/tsig_record.h"
#include "limits/block_lookup.h"
#include "engine/render.h"
#include "limits/clients.h"
#include "engine/follow.h"
#include "engine/shared_answer.h"
#include "engine/handover_rules.h"
#include "engine/reply_writer.h"
#include "engine/engine_state.h"
#include "engine/recursive_query.h"
#include "engine/servers.h"
#include "shield/shield.h"

uint64_t engine_config_digest(const struct engine_config *config)
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "volley settings";
	const uint32_t words[] = {
		RENDER_RULES,
		config->max_udp_bytes,
		config->minimal_responses,
		config->any,
	};

	return siphash24(key, words, sizeof(words));
}

uint64_t engine_option_mask(const struct engine_identity *identity)
{
	/* With and without cookies: a malformed COOKIE is FORMERR (query_parse). */
	uint64_t mask = 1ull << DNS_OPTION_COOKIE | 1ull << DNS_OPTION_EXPIRE;

	if (identity && identity->nsid_bytes)
		mask |= 1ull << DNS_OPTION_NSID;
	return mask;
}

static void put_nsid(const struct engine_identity *identity, struct volley_options *out)
{
	uint64_t sum = 0;

	out->nsid_bytes = DNS_OPTION_FIXED_BYTES + identity->nsid_bytes;
	wire_store_be16(out->nsid, DNS_OPTION_NSID);
	wire_store_be16(out->nsid + 2, identity->nsid_bytes);
	memcpy(out->nsid + DNS_OPTION_FIXED_BYTES, identity->nsid, identity->nsid_bytes);
	for (uint32_t i = 0; i < out->nsid_bytes; i += 2)
		sum += out->nsid[i] | (uint64_t)out->nsid[i + 1] << 8;
	out->nsid_sum = sum;
}

void engine_options(const struct engine_identity *identity, const struct cookie_secrets *cookies,
		    struct volley_options *out)
{
	_Static_assert(sizeof(out->secrets) == sizeof(cookies->keys), "as they lie in memory");

	*out = (struct volley_options){ 0 };
	if (cookies) {
		out->n_secrets = cookies->n;
		memcpy(out->secrets, cookies->keys, sizeof(out->secrets));
	}
	if (identity && identity->nsid_bytes)
		put_nsid(identity, out);
}

int engine_cache_new(struct engine_cache **out, struct cache *cache)
{
	struct engine_cache *place = calloc(1, sizeof(*place));
	int err;

	if (!place)
		return -ENOMEM;
	place->cache = cache;
	err = cache_writer_new(&place->writer, cache);
	if (err)
		free(place);
	else
		*out = place;
	return err;
}

void engine_cache_free(struct engine_cache *place)
{
	if (!place)
		return;
	cache_writer_free(place->writer);
	free(place);
}

struct engine_cache *engine_exchange_cache(struct engine *e, struct engine_cache *place)
{
	return rcu_xchg_pointer(&e->place, place);
}

int engine_new(struct engine **out, const struct engine_config *config, struct cache *cache,
	       struct engine_data *data)
{
	struct engine *e;
	int err;

	*out = NULL;
	if (config->max_udp_bytes < DNS_UDP_MIN || config->max_udp_bytes > VOLLEY_UDP_MAX)
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->config = *config;
	e->data = data;
	sampler_init(&e->sampler);
	err = cache ? engine_cache_new(&e->place, cache) : 0;
	if (err) {
		free(e);
		return err;
	}
	*out = e;
	return 0;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	engine_cache_free(e->place);
	free(e);
}

void engine_counters_read(const struct engine *e, struct engine_counters *out)
{
#define COPY(name, words) out->name = __atomic_load_n(&e->counters.name, __ATOMIC_RELAXED);
	ENGINE_COUNTERS(COPY)
#undef COPY
}

static void add_engine_counters(uint64_t *sum, const uint64_t *counters, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += __atomic_load_n(&counters[i], __ATOMIC_RELAXED);
}

void engine_answers_add(const struct engine *e, struct engine_answers *sum)
{
	_Static_assert(sizeof(*sum) % sizeof(uint64_t) == 0, "counters, end to end");

	add_engine_counters((uint64_t *)sum, (const uint64_t *)&e->answers,
			    sizeof(*sum) / sizeof(uint64_t));
}

struct sampler *engine_sampler(struct engine *e)
{
	return &e->sampler;
}

/* ---- Clients and cache ----------------------------------------------------------------------- */

static struct engine_client client_of_engine(const struct engine *e, const struct clients *clients,
					     const struct engine_request *rq)
{
	struct engine_client c = { .zones = true, .zone_view = VOLLEY_VIEW_PUBLIC };
	uint32_t views;

	c.leading_view = c.zone_view;
	if (!clients)
		return c;
	views = clients_views(clients, rq->family, rq->client);
	if (clients_restrict_zones(clients)) {
		c.zones = views & CLIENTS_VIEW(VOLLEY_VIEW_PRIVATE);
		c.zone_view = VOLLEY_VIEW_PRIVATE;
	}
	if (views & CLIENTS_VIEW(VOLLEY_VIEW_RECURSIVE))
		c.recursion = rcu_dereference(e->data->recursion);
	c.leading_view = c.zone_view;
	if (!c.recursion && rcu_dereference(e->data->recursion))
		c.leading_view = VOLLEY_VIEW_ITERATIVE;
	return c;
}

struct engine_client engine_client_of(const struct engine *e, const struct engine_request *rq)
{
	return client_of_engine(e, rcu_dereference(e->data->clients), rq);
}

/* Looks in the cache for an answer of our zones. */
static enum cache_verdict lookup_zones(struct engine *e, const struct engine_request *rq,
				       uint8_t view, struct cache_answer *a)
{
	const struct volley_entry *entry;
	enum cache_verdict verdict;

	engine_key_set_view(e, view);
	verdict = cache_lookup(e->cache, e->now.key, rq->now_s, true, &entry);
	if (verdict == CACHE_HIT && entry->partial && rq->stream)
		return CACHE_MISS;
	if (verdict == CACHE_HIT)
		cache_answer_of(a, entry, rq->now_s);
	return verdict;
}

/*
 * Looks in every view that the client may read. Sets *client unless this is a public hit: as in the
 * driver, such a hit does not need the list of clients.
 */
static enum cache_verdict lookup(struct engine *e, const struct engine_request *rq,
				 const struct query *q, const struct clients *clients,
				 struct engine_client *client, struct cache_answer *a)
{
	bool is_restricted = clients && clients_restrict_zones(clients);
	enum cache_verdict verdict = CACHE_MISS, upstream = CACHE_MISS;

	if (!is_restricted)
		verdict = lookup_zones(e, rq, VOLLEY_VIEW_PUBLIC, a);
	if (verdict == CACHE_HIT)
		return verdict;
	*client = client_of_engine(e, clients, rq);
	if (is_restricted && client->zones)
		verdict = lookup_zones(e, rq, VOLLEY_VIEW_PRIVATE, a);
	if (verdict != CACHE_HIT && client->zones && client->leading_view != client->zone_view &&
	    lookup_zones(e, rq, client->leading_view, a) == CACHE_HIT)
		return CACHE_HIT;
	if (verdict != CACHE_HIT && client->recursion)
		upstream = recursion_lookup(e, rq, q, client->recursion, a);
	return upstream == CACHE_MISS ? verdict : upstream;
}

static void count_verdict(struct engine *e, enum cache_verdict verdict)
{
	uint64_t *const counters[] = {
		[CACHE_HIT] = &e->counters.cache_hit,
		[CACHE_MISS] = &e->counters.cache_miss,
		[CACHE_STALE] = &e->counters.cache_stale,
		[CACHE_EXPIRED] = &e->counters.cache_expired,
	};

	engine_count(counters[verdict]);
}

/* ---- The answer ------------------------------------------------------------------------------ */

/*
 * Over UDP, TC=1 makes the client ask over TCP, where it learns that no message has room for the
 * answer (RFC 2181 section 9). AA, because a zone of ours says so.
 */
static uint16_t answer_too_large(struct engine *e, const struct engine_request *rq,
				 struct cache_answer *a)
{
	engine_count(&e->counters.too_large);
	if (rq->stream)
		return engine_failure(e, a, DNS_RCODE_SERVFAIL, DNS_EDE_OTHER);
	render_too_large(a, DNS_FLAG_QR | DNS_FLAG_AA);
	return DNS_RCODE_NOERROR;
}

/* True if the driver would deny a name that exists. An alias exists, though the rcode is that of
 * its target: RFC 6604 section 3. */
static bool is_denied(struct engine *e, const struct query *q, const struct cache_answer *a)
{
	bool exists = a->ancount || (a->flags & DNS_RCODE_MASK) != DNS_RCODE_NXDOMAIN;

	if (!exists || !e->data->shield || !e->now.has_key ||
	    !shield_check(e->data->shield, &cache_state(e->cache)->names, e->render.set, q,
			  e->render.origin.is_wildcard))
		return false;
	engine_count(&e->counters.denials_wrong);
	return true;
}

/* True for the first SHIELD_CHECKS comparisons of a second. */
static bool take_check(struct engine *e, uint32_t now_s)
{
	if (e->checks_s != now_s) {
		e->checks_s = now_s;
		e->n_checks = 0;
	}
	return e->n_checks++ < SHIELD_CHECKS;
}

/* Checks whether the driver would give other octets. Not over TCP, where an answer may have more
 * records than over UDP. */
static void check_octets(struct engine *e, const struct engine_request *rq, const struct query *q,
			 const struct cache_answer *a)
{
	if (!e->data->shield || rq->stream || !shared_is_possible(&e->render.origin) ||
	    !take_check(e, rq->now_s))
		return;
	switch (given_check(e, q, a, rq->now_s)) {
	case GIVEN_NONE:
		return;
	case GIVEN_UNSURE:
		engine_count(&e->counters.shared_undecided);
		return;
	case GIVEN_OTHER:
		engine_count(&e->counters.shared_wrong);
		break;
	case GIVEN_SAME:
		break;
	}
	engine_count(&e->counters.shared_compared);
}

/*
 * Caches a rendered answer. An answer that leads out of our zones is in a view of its own, which
 * clients that may recurse do not read: otherwise the driver would give it to them, too.
 */
static void publish_from_zones(struct engine *e, const struct engine_request *rq,
			       const struct query *q, const struct engine_client *client,
			       const struct cache_answer *a, bool is_wrong)
{
	bool leads_out = e->render.leads_out;

	if (!e->now.has_key || !a->zone_slot || (leads_out && client->recursion) ||
	    engine_is_of_parent(e, q->folded, q->qname_bytes, q->qtype))
		return;
	engine_key_set_view(e, leads_out ? client->leading_view : client->zone_view);
	if (!is_wrong)
		check_octets(e, rq, q, a); /* before this answer is in the cache */
	engine_publish(e, a, rq->now_s);
	shared_publish(e, q, a, rq->now_s);
}

static uint16_t answer_from_zones(struct engine *e, const struct engine_request *rq,
				  const struct query *q, const struct engine_client *client,
				  struct cache_answer *a)
{
	int err = render_answer(&e->render, &e->config, rcu_dereference(e->data->set), q,
				rq->stream, a);
	bool is_wrong;

	e->now.zone_slot = e->render.first ? e->render.first->cache_slot : 0;
	if (err == -EMSGSIZE)
		return answer_too_large(e, rq, a);
	if (err) {
		engine_count(&e->counters.too_large);
		return engine_failure(e, a, DNS_RCODE_SERVFAIL, DNS_EDE_OTHER);
	}
	is_wrong = is_denied(e, q, a);
	if (follow_is_wanted(e, rq, q, client))
		return follow_answer(e, rq, q, client, a);
	publish_from_zones(e, rq, q, client, a, is_wrong);
	if ((a->flags & DNS_RCODE_MASK) == DNS_RCODE_SERVFAIL)
		(void)engine_failure(e, a, DNS_RCODE_SERVFAIL, DNS_EDE_NOT_READY);
	if (client->recursion && (e->render.leads_out || !a->zone_slot))
		a->flags |= DNS_FLAG_RA; /* others are cached for all clients */
	return a->flags & DNS_RCODE_MASK;
}

/* The rules for a handover. NULL: there are none, or the caller cannot hand over. */
static const struct handover_rules *rules_of(const struct engine *e,
					     const struct engine_request *rq)
{
	return rq->hands_over ? rcu_dereference(e->data->handover) : NULL;
}

static uint16_t hand_over_engine(struct engine *e, struct cache_answer *a)
{
	return engine_empty(a, engine_no_reply(e, ENGINE_HANDS_OVER));
}

/* A secondary asks for the SOA before it asks for the zone. The rules of the zone say whether it
 * may. */
static bool may_be_secondary(const struct engine *e, const struct engine_request *rq,
			     const struct query *q)
{
	const struct handover_rules *rules = rules_of(e, rq);

	return q->qtype == DNS_TYPE_SOA && rules &&
	       handover_allows(rules, rq->family, rq->client, rq->is_tls, HANDOVER_TRANSFER);
}

/*
 * Our zones come before upstream. If an answer leads out of them, a client that may recurse gets
 * the rest from upstream (engine/follow.h); other clients get the referral or the alias. A zone is
 * not authoritative for its own DS.
 */
static uint16_t answer_data(struct engine *e, const struct engine_request *rq,
			    const struct query *q, struct cache_answer *a)
{
	const struct clients *clients = rcu_dereference(e->data->clients);
	struct engine_client client;
	enum cache_verdict verdict;

	if (e->now.has_key) {
		verdict = lookup(e, rq, q, clients, &client, a);
		count_verdict(e, verdict);
		if (verdict == CACHE_HIT) {
			e->now.zone_slot = a->zone_slot;
			return a->flags & DNS_RCODE_MASK;
		}
	} else {
		client = client_of_engine(e, clients, rq);
	}
	if (!engine_is_ours(e, q->folded, q->qname_bytes, q->qtype) ||
	    (client.recursion && q->rd &&
	     engine_is_of_parent(e, q->folded, q->qname_bytes, q->qtype)))
		return client.recursion ? follow_answer(e, rq, q, &client, a) :
					  recursion_refuse(e, q, a);
	if (!client.zones && !rq->sees_zones) {
		if (may_be_secondary(e, rq, q))
			return hand_over_engine(e, a);
		engine_count(&e->counters.prohibited);
		(void)engine_failure(e, a, DNS_RCODE_REFUSED, DNS_EDE_PROHIBITED);
		a->flags |= client.recursion ? DNS_FLAG_RA : 0;
		return DNS_RCODE_REFUSED;
	}
	return answer_from_zones(e, rq, q, &client, a);
}

static uint16_t answer_refused(struct engine *e, const struct engine_request *rq,
			       const struct query *q, struct cache_answer *a)
{
	engine_count(&e->counters.prohibited);
	refused_audit(rq, q, DNS_RCODE_REFUSED);
	return engine_failure(e, a, DNS_RCODE_REFUSED, DNS_EDE_PROHIBITED);
}

/*
 * A message with a TSIG by an unknown key gets BADKEY: RFC 8945 section 5.2.1. The record is made
 * before the reply overwrites msg.
 */
static uint16_t answer_tsig(struct engine *e, const struct engine_request *rq,
			    const struct query *q, struct cache_answer *a)
{
	const struct handover_rules *rules = rules_of(e, rq);
	int bytes;

	if (rules && handover_knows_key(rules, rq->msg, q))
		return hand_over_engine(e, a);
	refused_audit(rq, q, DNS_RCODE_NOTAUTH);
	bytes = tsig_write_error(e->tsig, rq->msg, q, DNS_RCODE_BADKEY);
	if (bytes < 0)
		return engine_empty(a, DNS_RCODE_FORMERR);
	e->now.tsig_bytes = (size_t)bytes;
	return engine_empty(a, DNS_RCODE_NOTAUTH);
}

static bool is_zone_of_ours(const struct engine *e, const struct query *q)
{
	const struct zone_set *set = rcu_dereference(e->data->set);

	return set && zone_set_get(set, q->folded, q->qname_bytes);
}

static uint16_t answer_not_ours(struct engine *e, const struct engine_request *rq,
				const struct query *q, struct cache_answer *a)
{
	refused_audit(rq, q, DNS_RCODE_NOTAUTH);
	return engine_failure(e, a, DNS_RCODE_NOTAUTH, DNS_EDE_NOT_AUTHORITATIVE);
}

/*
 * REFUSED for a zone of ours, NOTAUTH for any other name (RFC 5936 section 2.2.1). AXFR does not go
 * over UDP at all (section 4.2): NOTIMP, as knotd and nsd say.
 */
static uint16_t answer_transfer(struct engine *e, const struct engine_request *rq,
				const struct query *q, struct cache_answer *a)
{
	const struct handover_rules *rules = rules_of(e, rq);

	if (q->qtype == DNS_TYPE_AXFR && !rq->stream)
		return engine_failure(e, a, DNS_RCODE_NOTIMP, DNS_EDE_NOT_SUPPORTED);
	if (!is_zone_of_ours(e, q))
		return answer_not_ours(e, rq, q, a);
	if (rules && handover_allows(rules, rq->family, rq->client, rq->is_tls, HANDOVER_TRANSFER))
		return hand_over_engine(e, a);
	return answer_refused(e, rq, q, a);
}

/*
 * A client of some rule is answered by the transfer thread, which knows the rules of each zone. Any
 * other gets the same refusal here: REFUSED for a zone of ours, NOTAUTH for any other name, as
 * named says (knotd: always NOTAUTH; nsd: always REFUSED). All other opcodes are NOTIMP.
 */
static uint16_t answer_opcode(struct engine *e, const struct engine_request *rq,
			      const struct query *q, struct cache_answer *a)
{
	const struct handover_rules *rules = rules_of(e, rq);
	uint32_t what = q->opcode == DNS_OPCODE_NOTIFY ? HANDOVER_NOTIFY :
			q->opcode == DNS_OPCODE_UPDATE ? HANDOVER_UPDATE :
							 0;

	if (!rules || !what)
		return engine_empty(a, DNS_RCODE_NOTIMP);
	/* Both have a zone in the question: RFC 1996 section 3.7, RFC 2136 section 3.1.1. */
	if (!q->has_question)
		return engine_empty(a, DNS_RCODE_FORMERR);
	if (q->has_tsig)
		return answer_tsig(e, rq, q, a);
	if (handover_allows(rules, rq->family, rq->client, rq->is_tls, what))
		return hand_over_engine(e, a);
	return is_zone_of_ours(e, q) ? answer_refused(e, rq, q, a) : answer_not_ours(e, rq, q, a);
}

static uint16_t answer_question(struct engine *e, const struct engine_request *rq,
				const struct query *q, struct cache_answer *a)
{
	if (q->has_tsig)
		return answer_tsig(e, rq, q, a);
	if (q->qclass == DNS_CLASS_CH) {
		engine_count(&e->counters.chaos);
		return chaos_answer(&e->render, e->now.identity, q, a);
	}
	if (q->qclass != DNS_CLASS_IN)
		return engine_empty(a, DNS_RCODE_REFUSED);
	if (q->qtype == DNS_TYPE_AXFR || q->qtype == DNS_TYPE_IXFR)
		return answer_transfer(e, rq, q, a);
	/* The engine does not know when a zone expires. */
	if ((q->edns.asks & QUERY_ASKS_EXPIRE) && may_be_secondary(e, rq, q))
		return hand_over_engine(e, a);
	return answer_data(e, rq, q, a);
}

/* Sets *a. Returns the rcode, all 12 bits. */
static uint16_t decide(struct engine *e, const struct engine_request *rq, const struct query *q,
		       enum query_verdict verdict, struct cache_answer *a)
{
	switch (verdict) {
	case QUERY_OK:
		return answer_question(e, rq, q, a);
	case QUERY_COOKIE_ONLY: /* RFC 7873 section 5.4 */
		return engine_empty(a, rcu_dereference(e->data->cookies) ? DNS_RCODE_NOERROR :
									   DNS_RCODE_FORMERR);
	case QUERY_NOTIMP:
		return answer_opcode(e, rq, q, a);
	case QUERY_BADVERS:
		return engine_empty(a, DNS_RCODE_BADVERS);
	case QUERY_FORMERR:
	case QUERY_IGNORE: /* engine_answer() has returned */
		break;
	}
	return engine_empty(a, DNS_RCODE_FORMERR);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* True if a block decides. Then *rcode and *a are the reply, or there is none. */
static bool is_blocked(struct engine *e, const struct engine_request *rq,
		       const struct engine_prepared *prepared, struct cache_answer *a,
		       uint16_t *rcode)
{
	const struct blocks *b = rcu_dereference(e->data->blocks);
	struct blocks_verdict v;

	if (!b || !b->kinds)
		return false;
	v = blocks_judge(b, rq->family, rq->client,
			 prepared->verdict == QUERY_OK ? &prepared->query : NULL, rq->now_s);
	if (blocks_lets_through(&v) || (v.action == VOLLEY_BLOCK_TRUNCATE && rq->stream))
		return false;
	blocks_count(b, v.block);
	if (v.action == VOLLEY_BLOCK_UP)
		return false;
	e->now.is_blocked = true;
	if (v.action == VOLLEY_BLOCK_DROP) {
		*rcode = engine_no_reply(e, ENGINE_BLOCKS);
		return true;
	}
	if (v.action == VOLLEY_BLOCK_TRUNCATE) {
		engine_count(&e->counters.block_truncated);
		*rcode = engine_empty(a, DNS_RCODE_NOERROR);
		a->flags |= DNS_FLAG_TC;
		return true;
	}
	engine_count(&e->counters.block_refused);
	*rcode = engine_failure(e, a, DNS_RCODE_REFUSED,
				v.is_client ? DNS_EDE_PROHIBITED : DNS_EDE_BLOCKED);
	return true;
}

/* ---- What is called -------------------------------------------------------------------------- */

static void begin_engine(struct engine *e, struct engine_prepared *prepared)
{
	e->now = (struct answering){
		.key = &prepared->key,
		.identity = rcu_dereference(e->data->identity),
		.has_key = prepared->has_key && e->cache,
		.ede_code = EDNS_NO_EDE,
	};
}

/* The result of engine_answer() if there is no reply. */
static size_t without_reply(struct engine *e, bool is_stream)
{
	if (e->now.outcome == ENGINE_DEFERS) {
		engine_count(&e->counters.deferred);
		return ENGINE_DEFERRED;
	}
	if (e->now.outcome == ENGINE_HANDS_OVER) {
		engine_count(&e->counters.handed_over);
		return ENGINE_HANDOVER;
	}
	if (e->now.outcome == ENGINE_BLOCKS) {
		engine_count(&e->counters.blocked);
		return is_stream ? ENGINE_CLOSE : 0;
	}
	engine_count(&e->counters.dropped);
	return 0;
}

static unsigned int look_number(const struct engine_request *rq)
{
	return rq->ahead ? rq->ahead - 1 : 0;
}

size_t engine_answer(struct engine *e, const struct engine_request *rq, uint8_t *out, size_t cap)
{
	struct engine_prepared *prepared = &e->prepared[look_number(rq)];
	const struct query *q = &prepared->query;
	struct cache_answer a;
	uint16_t rcode = DNS_RCODE_NOERROR;

	engine_take_cache(e);
	if (!rq->ahead)
		prepare_read(e, prepared, rq->msg, rq->len);
	if (rq->pending)
		rq->pending->submit = false;
	engine_count(&e->counters.queries);
	if (prepared->verdict == QUERY_IGNORE) {
		engine_count(&e->counters.ignored);
		return 0;
	}
	begin_engine(e, prepared);
	if (!is_blocked(e, rq, prepared, &a, &rcode)) {
		rcode = decide(e, rq, q, prepared->verdict, &a);
		if (prepared->verdict == QUERY_OK)
			sampler_see(&e->sampler, q);
	}
	if (e->now.outcome == ENGINE_REPLIES)
		return reply_write(e, rq, q, &a, rcode, out, cap);
	return without_reply(e, rq->stream);
}

bool engine_pads(const struct engine *e, const struct engine_request *rq)
{
	const struct engine_prepared *prepared = &e->prepared[look_number(rq)];

	return rq->is_tls && prepared->verdict != QUERY_IGNORE &&
	       (prepared->query.edns.asks & QUERY_ASKS_PADDING);
}

/* The query of the waiting client, in its letter case. */
static void restore(struct query *q, const struct engine_pending *p)
{
	const struct engine_asked *asked = &p->asked;
	const uint8_t *fixed = asked->query + asked->question_end - DNS_QUESTION_FIXED_BYTES;

	*q = (struct query){
		.qname = asked->query + DNS_HEADER_BYTES,
		.id = wire_load_be16(asked->query + DNS_ID_AT),
		.flags = wire_load_be16(asked->query + DNS_FLAGS_AT),
		.has_question = true,
		.qname_bytes = (uint16_t)name_bytes(asked->query + DNS_HEADER_BYTES),
		.qtype = wire_load_be16(fixed), /* p->question may be for name servers */
		.qclass = wire_load_be16(fixed + 2),
		.question_end = asked->question_end,
		.edns = asked->edns,
	};
	q->rd = q->flags & DNS_FLAG_RD;
	q->ad = q->flags & DNS_FLAG_AD;
	q->cd = q->flags & DNS_FLAG_CD;
	name_fold(q->folded, q->qname, q->qname_bytes);
}

/* The request of the waiting client. */
static struct engine_request request_of_engine(const struct engine_pending *p,
					       const struct engine_times *times)
{
	return (struct engine_request){
		.msg = p->asked.query,
		.len = p->asked.question_end,
		.stream = p->asked.stream,
		.way = p->asked.way,
		.idle_100ms = p->asked.idle_100ms,
		.family = p->question.family,
		.client = p->question.client,
		.now_ns = times->now_ns,
		.now_s = times->now_s,
		.wall_s = times->wall_s,
	};
}

size_t engine_finish(struct engine *e, struct engine_pending *p, const struct engine_times *times,
		     uint8_t *out, size_t cap)
{
	const struct engine_request rq = request_of_engine(p, times);
	struct engine_prepared *prepared = &e->prepared[0];
	struct cache_answer a;
	size_t bytes = 0;
	uint16_t rcode;

	engine_take_cache(e);
	begin_engine(e, prepared);
	if (p->asked.has_client)
		restore(&prepared->query, p);
	rcode = follow_completion(e, &rq, &prepared->query, p, &a);
	if (e->now.outcome == ENGINE_DEFERS)
		return ENGINE_DEFERRED;
	if (p->asked.has_client) {
		engine_count(&e->counters.finished);
		if (e->now.outcome == ENGINE_REPLIES)
			bytes = reply_write(e, &rq, &prepared->query, &a, rcode, out, cap);
		else
			engine_count(&e->counters.dropped);
	}
	if (p->submit)
		recursion_ask_again(e, p, times);
	return bytes;
}

size_t engine_fail(struct engine *e, struct engine_pending *p, const struct engine_times *times,
		   uint8_t *out, size_t cap)
{
	const struct engine_request rq = request_of_engine(p, times);
	struct engine_prepared *prepared = &e->prepared[0];
	struct cache_answer a;
	uint16_t rcode;

	p->submit = false;
	if (!p->asked.has_client)
		return 0;
	engine_take_cache(e);
	begin_engine(e, prepared);
	restore(&prepared->query, p);
	rcode = recursion_not_asked(e, &a);
	engine_count(&e->counters.finished);
	return reply_write(e, &rq, &prepared->query, &a, rcode, out, cap);
}

void engine_abandon(struct engine_pending *p)
{
	servers_abandon(p);
}

bool engine_refresh(struct engine *e, const struct volley_refresh *refresh,
		    const struct engine_times *times, struct engine_pending *p)
{
	engine_take_cache(e);
	return recursion_refresh(e, refresh, times, p);
}

void engine_read_ahead(struct engine *e, const struct engine_message *msgs, unsigned int n)
{
	engine_take_cache(e);
	prepare_ahead(e, msgs, n);
}
