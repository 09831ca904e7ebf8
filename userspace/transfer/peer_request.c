/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/peer_request.h"

#include <string.h>
#include <sys/socket.h>
#include <urcu-qsbr.h>

#include "base/wire.h"
#include "dns/edns.h"
#include "engine/engine_request.h"
#include "engine/reply_writer.h"
#include "transfer/primary_state.h"
#include "xfr/xfr_message.h"

struct port_addr peer_request_addr(uint8_t family, const uint8_t bytes[16], __be16 net_port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (family == AF_INET6 && !memcmp(bytes, mapped, sizeof(mapped)))
		return port_addr_make(AF_INET, bytes + sizeof(mapped), net_port);
	return port_addr_make(family, bytes, net_port);
}

void peer_request_send(struct peer_request *rq, const uint8_t *out, size_t n)
{
	reply_report_end(rq->t, &rq->report, out, n);
	if (rq->item)
		handover_reply(rq->item, out, n);
	rq->item = NULL;
}

bool peer_request_is_padded(const struct peer_request *rq)
{
	return rq->is_padded || (rq->client.is_tls && (rq->q.edns.asks & QUERY_ASKS_PADDING));
}

void peer_request_reply(struct peer_request *rq, uint8_t *out, size_t n)
{
	int bytes;

	if (n && peer_request_is_padded(rq))
		n = padding_add(out, n, rq->cap, tsig_room(&rq->tsig));
	bytes = n ? tsig_sign(&rq->tsig, out, n, rq->cap, rq->t->now.wall_s) : 0;

	if (bytes < 0 && rq->is_stream) {
		handover_close(rq->item);
		rq->item = NULL;
	}
	peer_request_send(rq, out, bytes > 0 ? (size_t)bytes : 0);
}

/* The same extended error as the engine's (RFC 8914). A wrong signature has its own error in the
 * TSIG record. */
static int words_for(const struct empty_reply *r)
{
	if (r->is_slip || (r->tsig->verdict != TSIG_OK && r->tsig->verdict != TSIG_NONE))
		return EDNS_NO_EDE;
	switch (r->rcode) {
	case DNS_RCODE_REFUSED:
		return DNS_EDE_PROHIBITED;
	case DNS_RCODE_NOTAUTH:
		return DNS_EDE_NOT_AUTHORITATIVE;
	case DNS_RCODE_NOTIMP:
		return DNS_EDE_NOT_SUPPORTED;
	default:
		return EDNS_NO_EDE;
	}
}

/* There is no OPT if it has no room beside the signature, which is more important. */
static size_t add_opt(uint8_t *out, size_t n, const struct empty_reply *r, const struct transfer *t)
{
	struct edns_reply opt = EDNS_REPLY_INIT;
	size_t room = tsig_room(r->tsig);
	struct wire_writer w;

	opt.udp_size = t->env.engine_config->max_udp_bytes;
	opt.dnssec_ok = r->edns->dnssec_ok;
	opt.ede_code = words_for(r);
	if (n + edns_reply_bytes(&opt) + room > r->cap)
		return n;
	wire_writer_init(&w, out + n, r->cap - n);
	if (edns_reply_write(&w, &opt))
		return n;
	wire_store_be16(out + DNS_ARCOUNT_AT, 1);
	return n + w.at;
}

size_t peer_request_write_empty(struct transfer *t, const struct empty_reply *r)
{
	uint8_t *out = t->primary->out;
	int n = xfr_reply(out, r->cap, r->request, r->n, r->flags, r->rcode);

	if (n <= 0)
		return 0;
	return r->edns->present ? add_opt(out, (size_t)n, r, t) : (size_t)n;
}

static enum limiter_verdict judge_reply(struct transfer *t, const struct port_addr *client,
					const struct empty_reply *reply, size_t n)
{
	const struct engine_request request = {
		.msg = reply->request,
		.len = reply->n,
		.family = client->family,
		.client = client->bytes,
		.now_ns = t->now.ns,
		.now_s = t->now.coarse_s,
	};
	enum limiter_verdict verdict;

	rcu_thread_online();
	verdict = engine_limit(t->primary->engine, &request, n);
	rcu_thread_offline();
	return verdict;
}

size_t peer_request_limit(struct transfer *t, const struct port_addr *client,
			  const struct empty_reply *reply, size_t n)
{
	struct empty_reply slip = *reply;

	if (!n || (reply->tsig->key && reply->tsig->verdict == TSIG_OK))
		return n;
	switch (judge_reply(t, client, reply, n)) {
	case LIMITER_SLIPS:
		slip.is_slip = true;
		if (reply_has_use_for_tc(reply->request)) {
			slip.flags = DNS_FLAG_TC;
			slip.rcode = DNS_RCODE_NOERROR;
		}
		return peer_request_write_empty(t, &slip);
	case LIMITER_DROPPED:
		return 0;
	default:
		return n;
	}
}

void peer_request_refuse(struct peer_request *rq, uint16_t flags, enum dns_rcode rcode)
{
	const struct empty_reply reply = {
		.request = rq->msg,
		.n = rq->n,
		.edns = &rq->q.edns,
		.tsig = &rq->tsig,
		.flags = flags,
		.rcode = rcode,
		.cap = peer_request_size(rq),
	};

	size_t n = peer_request_write_empty(rq->t, &reply);

	if (!rq->is_stream)
		n = peer_request_limit(rq->t, &rq->client.addr, &reply, n);
	peer_request_reply(rq, rq->t->primary->out, n);
}

size_t peer_request_size(const struct peer_request *rq)
{
	size_t most = rq->t->env.engine_config->max_udp_bytes, size = query_udp_size(&rq->q);

	if (rq->is_stream)
		return rq->cap;
	if (size > most)
		size = most;
	return size < rq->cap ? size : rq->cap;
}
