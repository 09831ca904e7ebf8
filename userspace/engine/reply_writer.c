/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/reply_writer.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/wire.h"
#include "cache/generations.h"
#include "engine/engine_state.h"
#include "limits/limiter.h"
#include "xdp/count.h"

_Static_assert(RENDER_OPT_BYTES == DNS_OPT_FIXED_BYTES + DNS_OPTION_FIXED_BYTES + COOKIE_BYTES,
	       "room is kept for the usual OPT");
_Static_assert(RENDER_OPT_MAX == RENDER_OPT_BYTES + DNS_OPTION_FIXED_BYTES + ENGINE_NSID_MAX +
					 DNS_OPTION_FIXED_BYTES + sizeof(uint16_t),
	       "room is kept for the largest OPT");

static void count_rcode(struct engine *e, uint16_t rcode)
{
	struct engine_counters *c = &e->counters;
	uint64_t *const by_rcode[] = {
		[DNS_RCODE_NOERROR] = &c->noerror,   [DNS_RCODE_FORMERR] = &c->formerr,
		[DNS_RCODE_SERVFAIL] = &c->servfail, [DNS_RCODE_NXDOMAIN] = &c->nxdomain,
		[DNS_RCODE_NOTIMP] = &c->notimp,     [DNS_RCODE_REFUSED] = &c->refused,
	};

	if (rcode <= DNS_RCODE_REFUSED)
		engine_count(by_rcode[rcode]);
	else
		engine_count(rcode == DNS_RCODE_BADVERS ? &c->badvers : &c->other_rcode);
}

/* As engine_count(), for counters that the driver has, too. */
static void count_as_driver(__u64 *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* Counts a written reply with this rcode (all 12 bits), once in each group of counters. */
static void count_reply_answer(struct engine *e, const struct engine_request *rq,
			       const struct query *q, uint16_t rcode)
{
	struct engine_answers *n = &e->answers;
	uint32_t type = q->has_question ? volley_count_type(q->qtype) : VOLLEY_COUNT_OTHER_TYPE;
	size_t address_bytes;
	uint32_t zone = VOLLEY_COUNT_NO_ZONE;

	(void)reply_client(rq, &address_bytes);
	if (e->now.zone_slot && e->cache)
		zone = cache_zone_counter(e->cache, e->now.zone_slot);
	count_rcode(e, rcode);
	count_as_driver(&n->of.by_rcode[rcode % VOLLEY_COUNT_RCODES]);
	count_as_driver(&n->of.by_type[type][address_bytes != 4]);
	count_as_driver(&n->of.by_zone[zone % VOLLEY_COUNT_ZONES]);
	engine_count(&n->by_way[rq->way % ENGINE_WAYS]);
	engine_count(&n->by_opcode[q->opcode % ENGINE_OPCODES]);
}

const uint8_t *reply_client(const struct engine_request *rq, size_t *bytes)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	*bytes = rq->family == AF_INET ? 4 : 16;
	if (*bytes == 4 || memcmp(rq->client, mapped, sizeof(mapped)) != 0)
		return rq->client;
	*bytes = 4;
	return rq->client + sizeof(mapped);
}

/*
 * RFC 7873 section 5.2: the answer is whole and has a good cookie, whatever server part the query's
 * cookie had. RFC 9018 section 4.4 hashes 4 octets of an IPv4 client.
 */
static void add_cookie(struct engine *e, const struct engine_request *rq,
		       const struct query_edns *edns, const struct cookie_secrets *secrets,
		       struct edns_reply *opt)
{
	enum cookie_verdict verdict = COOKIE_BAD;
	const uint8_t *address;
	size_t address_bytes;

	address = reply_client(rq, &address_bytes);
	if (edns->cookie_server_bytes) {
		verdict = cookie_check(secrets, edns->cookie_client, edns->cookie_server,
				       edns->cookie_server_bytes, address, address_bytes,
				       rq->wall_s);
		engine_count(verdict == COOKIE_BAD ? &e->counters.cookies_bad :
						     &e->counters.cookies_good);
	} else {
		engine_count(&e->counters.cookies_new);
	}
	if (verdict == COOKIE_GOOD) {
		memcpy(e->cookie, edns->cookie_client, COOKIE_CLIENT_BYTES);
		memcpy(e->cookie + COOKIE_CLIENT_BYTES, edns->cookie_server, COOKIE_SERVER_BYTES);
	} else {
		cookie_make(e->cookie, edns->cookie_client, address, address_bytes, rq->wall_s,
			    secrets->keys[0]);
	}
	e->now.cookie_good = verdict != COOKIE_BAD;
	opt->cookie = e->cookie;
	opt->cookie_bytes = COOKIE_BYTES;
}

/* How many octets the reply may have: RFC 6891 sections 6.2.3 to 6.2.5. */
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

/* Adds the TSIG record after a reply of `bytes` octets. If it has no room, sets TC=1 instead. */
static size_t add_tsig(const struct engine *e, uint8_t *out, size_t bytes, size_t limit)
{
	if (!e->now.tsig_bytes)
		return bytes;
	if (e->now.tsig_bytes > limit - bytes) {
		out[DNS_FLAGS_AT] |= DNS_FLAG_TC >> 8;
		return bytes;
	}
	memcpy(out + bytes, e->tsig, e->now.tsig_bytes);
	wire_store_be16(out + DNS_ARCOUNT_AT, (uint16_t)(wire_load_be16(out + DNS_ARCOUNT_AT) + 1));
	return bytes + e->now.tsig_bytes;
}

bool reply_has_use_for_tc(const uint8_t *msg)
{
	return (wire_load_be16(msg + DNS_FLAGS_AT) & DNS_OPCODE_MASK) ==
	       DNS_OPCODE_QUERY << DNS_OPCODE_SHIFT;
}

/* The limiter's verdict on a reply of `bytes` octets. */
static enum limiter_verdict judge_reply_writer(struct engine *e, const struct engine_request *rq,
					       size_t bytes)
{
	const struct limiter *limiter = e->data->limiter;
	const struct limiter_answer answer = {
		.family = rq->family,
		.client = rq->client,
		.octets = (uint32_t)bytes,
		.net_id = htons(wire_load_be16(rq->msg)),
		.is_exempt = e->now.cookie_good,
		.clients = rcu_dereference(e->data->clients),
		.now_ms = clock_kernel_ns(rq->now_ns) / CLOCK_NS_PER_MS,
		.now_s = rq->now_s,
	};

	if (!limiter || rq->stream || e->now.is_blocked)
		return LIMITER_GIVEN;
	return limiter_judge(limiter, &e->near, &answer);
}

static void count_limits(struct engine *e, enum limiter_verdict verdict)
{
	if (verdict == LIMITER_EXEMPT)
		engine_count(&e->counters.rrl_exempt);
	if (verdict == LIMITER_DRY)
		engine_count(&e->counters.rrl_dry);
	if (verdict == LIMITER_DROPPED)
		engine_count(&e->counters.limited);
}

static void count_slip(struct engine *e, const uint8_t *msg)
{
	if (!reply_has_use_for_tc(msg))
		return;
	engine_count(&e->counters.truncated);
	engine_count(&e->counters.slipped);
}

enum limiter_verdict engine_limit(struct engine *e, const struct engine_request *rq, size_t bytes)
{
	enum limiter_verdict verdict;

	e->now.cookie_good = false;
	e->now.is_blocked = false;
	verdict = judge_reply_writer(e, rq, bytes);
	count_limits(e, verdict);
	if (verdict == LIMITER_SLIPS)
		count_slip(e, rq->msg);
	return verdict;
}

/*
 * Takes out of an OPT without limit all options but COOKIE and an extended error, so that the reply
 * is hardly longer than the query whoever has sent it.
 */
static void keep_small(struct edns_reply *opt)
{
	opt->nsid = NULL;
	opt->expire = NULL;
}

/*
 * Writes the reply to a client over its limit, octet for octet as the driver does (xdp/limit.h). A
 * client that has shown a cookie gets BADCOOKIE and a new cookie, with which it is not limited (RFC
 * 7873 section 5.2.3). Any other client gets TC=1, or, for another opcode than QUERY, its reply
 * without the extended error: that is as short.
 */
static size_t write_slip(struct engine *e, const struct engine_request *rq, const struct query *q,
			 const struct cache_answer *a, struct edns_reply *opt, uint8_t *out,
			 size_t limit)
{
	const bool is_badcookie = opt->cookie != NULL;
	struct cache_answer cut = { 0 };
	enum emit_form form;

	cut.flags = is_badcookie ? (a->flags & (DNS_FLAG_QR | DNS_FLAG_RA)) |
					   (DNS_RCODE_BADCOOKIE & DNS_RCODE_MASK) :
				   a->flags | (reply_has_use_for_tc(rq->msg) ? DNS_FLAG_TC : 0);
	if (is_badcookie)
		opt->rcode = DNS_RCODE_BADCOOKIE;
	opt->ede_code = EDNS_NO_EDE;
	keep_small(opt);
	count_reply_answer(e, rq, q, is_badcookie ? DNS_RCODE_BADCOOKIE : opt->rcode);
	if (is_badcookie)
		engine_count(&e->counters.badcookie);
	else
		count_slip(e, rq->msg);
	return emit_reply(out, limit, rq->msg, q, &cut, q->edns.present ? opt : NULL, &form);
}

size_t reply_write(struct engine *e, const struct engine_request *rq, const struct query *q,
		   const struct cache_answer *a, uint16_t rcode, uint8_t *out, size_t cap)
{
	const struct cookie_secrets *secrets = rcu_dereference(e->data->cookies);
	struct edns_reply opt = EDNS_REPLY_INIT;
	uint8_t expire[4], keepalive[2];
	size_t limit = reply_limit(e, rq, q, cap);
	enum limiter_verdict verdict;
	enum emit_form form;
	size_t bytes;

	opt.udp_size = e->config.max_udp_bytes;
	opt.rcode = rcode;
	opt.dnssec_ok = q->edns.dnssec_ok;
	opt.ede_code = e->now.ede_code;
	e->now.cookie_good = false;
	if (q->edns.has_cookie && secrets)
		add_cookie(e, rq, &q->edns, secrets, &opt);
	if ((q->edns.asks & QUERY_ASKS_NSID) && e->now.identity && e->now.identity->nsid_bytes) {
		opt.nsid = e->now.identity->nsid;
		opt.nsid_bytes = e->now.identity->nsid_bytes;
	}
	if ((q->edns.asks & QUERY_ASKS_EXPIRE) && rq->has_expire) {
		wire_store_be32(expire, rq->expire_s);
		opt.expire = expire;
	}
	if ((q->edns.asks & QUERY_ASKS_KEEPALIVE) && rq->stream) {
		wire_store_be16(keepalive, rq->idle_100ms);
		opt.keepalive = keepalive;
	}
	if (e->now.is_blocked && !rq->stream && !e->now.cookie_good) {
		keep_small(&opt);
		opt.cookie = NULL;
	}
	bytes = emit_reply(out, limit, rq->msg, q, a, q->edns.present ? &opt : NULL, &form);
	if (!bytes) {
		engine_count(&e->counters.no_room);
		return 0;
	}
	verdict = judge_reply_writer(e, rq, bytes + e->now.tsig_bytes);
	count_limits(e, verdict);
	if (verdict == LIMITER_SLIPS)
		return write_slip(e, rq, q, a, &opt, out, limit);
	if (verdict == LIMITER_DROPPED)
		return 0;
	count_reply_answer(e, rq, q, rcode);
	if (form != EMIT_FULL)
		engine_count(form == EMIT_SHORT ? &e->counters.shortened : &e->counters.truncated);
	return add_tsig(e, out, bytes, limit);
}
