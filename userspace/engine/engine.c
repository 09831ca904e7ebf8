/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/engine.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <urcu-qsbr.h>

#include "base/wire.h"
#include "dns/edns.h"
#include "dns/query.h"
#include "dns/tsig.h"
#include "engine/chaos.h"
#include "engine/emit.h"
#include "engine/render.h"
#include "engine/sample.h"

struct engine {
	struct engine_config config;
	struct cache *cache; /* may be NULL */
	struct cache_writer *writer;
	struct engine_data *data;
	struct engine_counters counters;
	struct query query;
	struct cache_key key;
	/* What the present reply carries beside the answer. */
	int ede_code;
	size_t tsig_bytes;
	uint8_t cookie[COOKIE_BYTES];
	uint8_t tsig[TSIG_ERROR_MAX];
	struct sampler sampler;
	struct render render;
};

_Static_assert(RENDER_OPT_BYTES == DNS_OPT_FIXED_BYTES + DNS_OPTION_FIXED_BYTES + COOKIE_BYTES,
	       "room is kept for the usual OPT");
_Static_assert(RENDER_OPT_MAX == RENDER_OPT_BYTES + DNS_OPTION_FIXED_BYTES + ENGINE_NSID_MAX,
	       "room is kept for the largest OPT");

/* One writer, so no locked instruction; readers see whole values. */
static void count(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

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

uint64_t engine_option_mask(const struct engine_config *config)
{
	/* With cookies or without: a malformed one is FORMERR (query_parse). */
	uint64_t mask = 1ull << DNS_OPTION_COOKIE;

	if (config->nsid)
		mask |= 1ull << DNS_OPTION_NSID;
	return mask;
}

int engine_new(struct engine **out, const struct engine_config *config, struct cache *cache,
	       struct engine_data *data)
{
	struct engine *e;
	int err;

	*out = NULL;
	if (config->max_udp_bytes < DNS_UDP_MIN || config->max_udp_bytes > VOLLEY_UDP_MAX ||
	    config->nsid_bytes > ENGINE_NSID_MAX)
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->config = *config;
	e->cache = cache;
	e->data = data;
	sampler_init(&e->sampler);
	err = cache ? cache_writer_new(&e->writer, cache) : 0;
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
	if (e->writer)
		cache_writer_free(e->writer);
	explicit_bzero(&e->config.cookie_secrets, sizeof(e->config.cookie_secrets));
	free(e);
}

void engine_counters_read(const struct engine *e, struct engine_counters *out)
{
#define COPY(name, words) out->name = __atomic_load_n(&e->counters.name, __ATOMIC_RELAXED);
	ENGINE_COUNTERS(COPY)
#undef COPY
}

struct sampler *engine_sampler(struct engine *e)
{
	return &e->sampler;
}

static void count_rcode(struct engine *e, uint16_t rcode)
{
	struct engine_counters *c = &e->counters;
	uint64_t *const by_rcode[] = {
		[DNS_RCODE_NOERROR] = &c->noerror,   [DNS_RCODE_FORMERR] = &c->formerr,
		[DNS_RCODE_SERVFAIL] = &c->servfail, [DNS_RCODE_NXDOMAIN] = &c->nxdomain,
		[DNS_RCODE_NOTIMP] = &c->notimp,     [DNS_RCODE_REFUSED] = &c->refused,
	};

	if (rcode <= DNS_RCODE_REFUSED)
		count(by_rcode[rcode]);
	else
		count(rcode == DNS_RCODE_BADVERS ? &c->badvers : &c->other_rcode);
}

/* ---- Cache ------------------------------------------------------------------------------------ */

static bool lookup(struct engine *e, const struct engine_request *rq, const struct query *q,
		   struct cache_answer *a)
{
	uint64_t *const counters[] = {
		[CACHE_HIT] = &e->counters.cache_hit,
		[CACHE_MISS] = &e->counters.cache_miss,
		[CACHE_STALE] = &e->counters.cache_stale,
		[CACHE_EXPIRED] = &e->counters.cache_expired,
	};
	const struct volley_entry *entry;
	enum cache_verdict verdict;
	uint8_t flags =
		(uint8_t)((q->edns.dnssec_ok ? VOLLEY_KEY_DO : 0) | (q->cd ? VOLLEY_KEY_CD : 0));

	cache_key_init(&e->key, e->cache, q->folded, q->qname_bytes, q->qtype, q->qclass, flags,
		       VOLLEY_VIEW_PUBLIC);
	verdict = cache_lookup(e->cache, &e->key, rq->now_s, true, &entry);
	count(counters[verdict]);
	if (verdict != CACHE_HIT || (entry->partial && rq->stream))
		return false;
	cache_answer_of(a, entry, rq->now_s);
	return true;
}

static void publish(struct engine *e, const struct engine_request *rq, const struct cache_answer *a)
{
	int err = cache_publish(e->writer, &e->key, a, rq->now_s);

	count(err ? &e->counters.not_published : &e->counters.published);
}

/* OPT, TSIG and what else asks for more than data: these go by the cache, as the driver does. */
static bool is_plain_type(uint16_t type)
{
	return type && type != DNS_TYPE_OPT && (type < 128 || type >= DNS_TYPE_ANY);
}

/* ---- The answer --------------------------------------------------------------------------------- */

static uint16_t empty(struct cache_answer *a, uint16_t rcode)
{
	render_empty(a, rcode & DNS_RCODE_MASK);
	return rcode;
}

/* An error, and why, for people: RFC 8914. Never in what is cached: the driver does not say it. */
static uint16_t failure(struct engine *e, struct cache_answer *a, uint16_t rcode, int ede_code)
{
	e->ede_code = ede_code;
	return empty(a, rcode);
}

static uint16_t answer_data(struct engine *e, const struct engine_request *rq,
			    const struct query *q, struct cache_answer *a)
{
	bool cached = e->cache && is_plain_type(q->qtype);

	if (cached && lookup(e, rq, q, a))
		return a->flags & DNS_RCODE_MASK;
	if (render_answer(&e->render, &e->config, rcu_dereference(e->data->set), q, rq->stream,
			  a)) {
		count(&e->counters.too_large);
		return failure(e, a, DNS_RCODE_SERVFAIL, DNS_EDE_OTHER);
	}
	if (cached && a->zone_slot)
		publish(e, rq, a);
	switch (a->flags & DNS_RCODE_MASK) {
	case DNS_RCODE_REFUSED:
		return failure(e, a, DNS_RCODE_REFUSED, DNS_EDE_NOT_AUTHORITATIVE);
	case DNS_RCODE_SERVFAIL:
		return failure(e, a, DNS_RCODE_SERVFAIL, DNS_EDE_NOT_READY);
	default:
		return a->flags & DNS_RCODE_MASK;
	}
}

/* We hold no keys: RFC 8945 section 5.2.1. The record is made before the reply overwrites msg. */
static uint16_t answer_tsig(struct engine *e, const struct engine_request *rq,
			    const struct query *q, struct cache_answer *a)
{
	int bytes = tsig_write_error(e->tsig, rq->msg, q, DNS_RCODE_BADKEY);

	if (bytes < 0)
		return empty(a, DNS_RCODE_FORMERR);
	e->tsig_bytes = (size_t)bytes;
	return empty(a, DNS_RCODE_NOTAUTH);
}

/*
 * We transfer to nobody: REFUSED for a zone of ours, NOTAUTH for any other name (RFC 5936 section
 * 2.2.1). AXFR does not go over UDP at all (section 4.2): NOTIMP, as knotd and nsd say.
 */
static uint16_t answer_transfer(struct engine *e, const struct engine_request *rq,
				const struct query *q, struct cache_answer *a)
{
	const struct zone_set *set = rcu_dereference(e->data->set);

	if (q->qtype == DNS_TYPE_AXFR && !rq->stream)
		return failure(e, a, DNS_RCODE_NOTIMP, DNS_EDE_NOT_SUPPORTED);
	if (!set || !zone_set_get(set, q->folded, q->qname_bytes))
		return failure(e, a, DNS_RCODE_NOTAUTH, DNS_EDE_NOT_AUTHORITATIVE);
	return failure(e, a, DNS_RCODE_REFUSED, DNS_EDE_NOT_SUPPORTED);
}

static uint16_t answer_question(struct engine *e, const struct engine_request *rq,
				const struct query *q, struct cache_answer *a)
{
	if (q->has_tsig)
		return answer_tsig(e, rq, q, a);
	if (q->qclass == DNS_CLASS_CH)
		return chaos_answer(&e->render, &e->config, q, a);
	if (q->qclass != DNS_CLASS_IN)
		return empty(a, DNS_RCODE_REFUSED);
	if (q->qtype == DNS_TYPE_AXFR || q->qtype == DNS_TYPE_IXFR)
		return answer_transfer(e, rq, q, a);
	return answer_data(e, rq, q, a);
}

/* The rcode, all 12 bits, and what goes with it. */
static uint16_t decide(struct engine *e, const struct engine_request *rq, const struct query *q,
		       enum query_verdict verdict, struct cache_answer *a)
{
	switch (verdict) {
	case QUERY_OK:
		return answer_question(e, rq, q, a);
	case QUERY_COOKIE_ONLY: /* RFC 7873 section 5.4 */
		return empty(a, e->config.cookies ? DNS_RCODE_NOERROR : DNS_RCODE_FORMERR);
	case QUERY_NOTIMP:
		return empty(a, DNS_RCODE_NOTIMP);
	case QUERY_BADVERS:
		return empty(a, DNS_RCODE_BADVERS);
	case QUERY_FORMERR:
	case QUERY_IGNORE: /* engine_answer() has returned */
		break;
	}
	return empty(a, DNS_RCODE_FORMERR);
}

/* ---- The reply ------------------------------------------------------------------------------------ */

/* An IPv4 client is the same one behind an IPv6 socket: RFC 9018 section 4.4 hashes 4 octets. */
static const uint8_t *client_address(const struct engine_request *rq, size_t *bytes)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	*bytes = rq->family == AF_INET ? 4 : 16;
	if (*bytes == 4 || memcmp(rq->client, mapped, sizeof(mapped)) != 0)
		return rq->client;
	*bytes = 4;
	return rq->client + sizeof(mapped);
}

/* RFC 7873 section 5.2: whatever the server part is, the answer is whole, with a good cookie. */
static void add_cookie(struct engine *e, const struct engine_request *rq,
		       const struct query_edns *edns, struct edns_reply *opt)
{
	enum cookie_verdict verdict = COOKIE_BAD;
	const uint8_t *address;
	size_t address_bytes;

	address = client_address(rq, &address_bytes);
	if (edns->cookie_server_bytes) {
		verdict = cookie_check(&e->config.cookie_secrets, edns->cookie_client,
				       edns->cookie_server, edns->cookie_server_bytes, address,
				       address_bytes, rq->wall_s);
		count(verdict == COOKIE_BAD ? &e->counters.cookies_bad : &e->counters.cookies_good);
	} else {
		count(&e->counters.cookies_new);
	}
	if (verdict == COOKIE_GOOD) {
		memcpy(e->cookie, edns->cookie_client, COOKIE_CLIENT_BYTES);
		memcpy(e->cookie + COOKIE_CLIENT_BYTES, edns->cookie_server, COOKIE_SERVER_BYTES);
	} else {
		cookie_make(e->cookie, edns->cookie_client, address, address_bytes, rq->wall_s,
			    e->config.cookie_secrets.active);
	}
	opt->cookie = e->cookie;
	opt->cookie_bytes = COOKIE_BYTES;
}

/* Octets that the reply may have: RFC 6891 section 6.2.3 to 6.2.5. */
static size_t reply_limit(const struct engine *e, const struct engine_request *rq,
			  const struct query *q, size_t cap)
{
	size_t limit = query_udp_size(q);

	if (rq->stream)
		limit = DNS_MESSAGE_MAX;
	else if (limit > e->config.max_udp_bytes)
		limit = e->config.max_udp_bytes;
	return limit < cap ? limit : cap;
}

/* Puts the TSIG record behind a reply of `bytes` octets; where it has no room the client must ask TCP. */
static size_t add_tsig(const struct engine *e, uint8_t *out, size_t bytes, size_t limit)
{
	if (!e->tsig_bytes)
		return bytes;
	if (e->tsig_bytes > limit - bytes) {
		out[DNS_FLAGS_AT] |= DNS_FLAG_TC >> 8;
		return bytes;
	}
	memcpy(out + bytes, e->tsig, e->tsig_bytes);
	wire_store_be16(out + DNS_ARCOUNT_AT, (uint16_t)(wire_load_be16(out + DNS_ARCOUNT_AT) + 1));
	return bytes + e->tsig_bytes;
}

static size_t reply(struct engine *e, const struct engine_request *rq, const struct query *q,
		    const struct cache_answer *a, uint16_t rcode, uint8_t *out, size_t cap)
{
	struct edns_reply opt = EDNS_REPLY_INIT;
	size_t limit = reply_limit(e, rq, q, cap);
	enum emit_form form;
	size_t bytes;

	opt.udp_size = e->config.max_udp_bytes;
	opt.rcode = rcode;
	opt.dnssec_ok = q->edns.dnssec_ok;
	opt.ede_code = e->ede_code;
	if (q->edns.has_cookie && e->config.cookies)
		add_cookie(e, rq, &q->edns, &opt);
	if (q->edns.nsid_asked && e->config.nsid) {
		opt.nsid = e->config.nsid;
		opt.nsid_bytes = e->config.nsid_bytes;
	}
	bytes = emit_reply(out, limit, rq->msg, q, a, q->edns.present ? &opt : NULL, &form);
	if (!bytes) {
		count(&e->counters.no_room);
		return 0;
	}
	count_rcode(e, rcode);
	if (form != EMIT_FULL)
		count(form == EMIT_SHORT ? &e->counters.shortened : &e->counters.truncated);
	return add_tsig(e, out, bytes, limit);
}

size_t engine_answer(struct engine *e, const struct engine_request *rq, uint8_t *out, size_t cap)
{
	struct query *q = &e->query;
	enum query_verdict verdict = query_parse(q, rq->msg, rq->len);
	struct cache_answer a;
	uint16_t rcode;

	count(&e->counters.queries);
	if (verdict == QUERY_IGNORE) {
		count(&e->counters.ignored);
		return 0;
	}
	e->ede_code = EDNS_NO_EDE;
	e->tsig_bytes = 0;
	rcode = decide(e, rq, q, verdict, &a);
	if (verdict == QUERY_OK)
		sampler_see(&e->sampler, q);
	return reply(e, rq, q, &a, rcode, out, cap);
}
