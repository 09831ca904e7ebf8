/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/primary_state.h"

#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/wire.h"
#include "engine/engine.h"
#include "transfer/peer_request.h"
#include "transfer/remotes.h"
#include "transfer/request_audit.h"
#include "transfer/secondary.h"
#include "transfer/transfer_out.h"
#include "xfr/notify.h"

/* ---- Kinds of messages ----------------------------------------------------------------------- */

static void refuse_notify(struct peer_request *rq, const uint8_t *zone, enum dns_rcode rcode)
{
	const struct request_audit audit = request_audit_of(rq, zone);

	transfer_count(rq->t, notify_refused);
	request_audit_refused(AUDIT_NOTIFY_REFUSED, &audit, rcode,
			      rcode == DNS_RCODE_NOTAUTH ? "not a zone of ours" :
							   "neither a primary nor in allow-notify");
	peer_request_refuse(rq, DNS_FLAG_AA, rcode);
}

/* Nobody may for a zone that has no primaries here. */
static bool may_notify(const struct peer_request *rq, const struct transfer_zone *zone)
{
	return zone->secondary && (rules_are_primary(rq->t, zone, &rq->client) ||
				   rules_allow(rq->t, &zone->config->allow_notify, &rq->client));
}

static void take_notify(struct peer_request *rq)
{
	struct transfer *t = rq->t;
	struct transfer_zone *zone;
	struct notify n;
	int err = notify_parse(&n, rq->msg, rq->n);

	if (err) {
		peer_request_refuse(rq, 0, err == ERR_TYPE ? DNS_RCODE_NOTIMP : DNS_RCODE_FORMERR);
		return;
	}
	zone = transfer_zones_find(&t->zones, n.zone);
	if (!zone || !may_notify(rq, zone)) {
		refuse_notify(rq, n.zone, zone ? DNS_RCODE_REFUSED : DNS_RCODE_NOTAUTH);
		return;
	}
	transfer_count(t, notify_in);
	peer_request_refuse(rq, DNS_FLAG_AA, DNS_RCODE_NOERROR);
	secondary_notified(t, zone, &rq->client.addr, n.has_serial ? &n.serial : NULL);
}

/* Reads the serial number that an IXFR begins with, from the SOA in its authority section (RFC
 * 1995). */
static bool read_peer_request_serial(const struct peer_request *rq, uint32_t *serial)
{
	struct xfr_question question;
	struct xfr_message m;
	struct xfr_record r;

	if (xfr_message_open(&m, rq->msg, rq->n) || xfr_message_question(&m, &question))
		return false;
	r.owner_bytes = 0;
	while (xfr_message_next(&m, &r)) {
		if (r.section != XFR_AUTHORITY || r.type != DNS_TYPE_SOA || r.rdata_bytes < 22)
			continue;
		*serial = xfr_soa_serial(r.rdata, r.rdata_bytes);
		return true;
	}
	return false;
}

static void refuse_transfer(struct peer_request *rq, enum dns_rcode rcode)
{
	const struct request_audit audit = request_audit_of(rq, rq->q.folded);

	transfer_count(rq->t, out_refused);
	request_audit_refused(AUDIT_TRANSFER_REFUSED, &audit, rcode,
			      rcode == DNS_RCODE_NOTAUTH ? "not a zone of ours" :
							   "not in allow-transfer");
	peer_request_refuse(rq, 0, rcode);
}

static void take_transfer(struct peer_request *rq)
{
	struct transfer *t = rq->t;
	struct transfer_zone *zone = transfer_zones_find(&t->zones, rq->q.folded);
	uint32_t serial = 0;

	if (rq->q.qtype == DNS_TYPE_AXFR && !rq->is_stream) {
		peer_request_refuse(rq, 0, DNS_RCODE_NOTIMP);
		return;
	}
	if (!zone || !rules_allow(t, &zone->config->allow_transfer, &rq->client)) {
		refuse_transfer(rq, zone ? DNS_RCODE_REFUSED : DNS_RCODE_NOTAUTH);
		return;
	}
	if (rq->q.qtype == DNS_TYPE_IXFR && !read_peer_request_serial(rq, &serial)) {
		peer_request_refuse(rq, 0, DNS_RCODE_FORMERR);
		return;
	}
	if (rq->is_stream)
		transfer_out_begin(rq, zone, serial);
	else
		transfer_out_datagram(rq, zone, serial);
}

/* Octets that the reply may have: within the client's limit, less the room for the signature. */
static size_t question_cap(const struct peer_request *rq)
{
	size_t cap = peer_request_size(rq), room = tsig_room(&rq->tsig);

	return cap > room ? cap - room : 0;
}

/* Clients of allow-transfer may ask for the SOA, whatever server.allow says, because secondaries do
 * so. */
static const struct transfer_zone *zone_of_secondary(const struct peer_request *rq)
{
	const struct transfer_zone *zone;

	if (rq->q.qtype != DNS_TYPE_SOA || rq->q.qclass != DNS_CLASS_IN)
		return NULL;
	zone = transfer_zones_find(&rq->t->zones, rq->q.folded);
	return zone && rules_allow(rq->t, &zone->config->allow_transfer, &rq->client) ? zone : NULL;
}

static void take_question(struct peer_request *rq)
{
	const struct transfer_zone *zone = zone_of_secondary(rq);
	struct primary *p = rq->t->primary;
	struct engine_request question = {
		.msg = rq->msg,
		.len = rq->n,
		.stream = rq->is_stream,
		.idle_100ms = rq->item->idle_100ms,
		.family = rq->client.addr.family,
		.client = rq->client.addr.bytes,
		.sees_zones = zone,
		.now_ns = rq->t->now.ns,
		.now_s = rq->t->now.coarse_s,
		.wall_s = (uint32_t)rq->t->now.wall_s,
	};
	size_t n;

	/* A worker would not know that rules allow this client, because it judges by the address
	 * alone. */
	if (!zone && rq->is_stream && questions_ask(rq, question_cap(rq)))
		return;
	question.has_expire = zone && secondary_expire_left(rq->t, zone, &question.expire_s);
	rcu_thread_online();
	n = engine_answer(p->engine, &question, p->out, question_cap(rq));
	rcu_thread_offline();
	if (n == ENGINE_CLOSE) {
		handover_close(rq->item);
		rq->item = NULL;
		return;
	}
	peer_request_reply(rq, p->out, n);
}

static bool is_transfer(const struct query *q)
{
	return q->qclass == DNS_CLASS_IN &&
	       (q->qtype == DNS_TYPE_AXFR || q->qtype == DNS_TYPE_IXFR);
}

static void dispatch(struct peer_request *rq)
{
	if (rq->q.opcode == DNS_OPCODE_NOTIFY)
		take_notify(rq);
	else if (rq->q.opcode == DNS_OPCODE_UPDATE)
		updates_take(rq);
	else if (is_transfer(&rq->q))
		take_transfer(rq);
	else
		take_question(rq);
}

/* ---- Signature ------------------------------------------------------------------------------- */

/* The record is not needed any more, and an engine would reply that it has no keys. */
static void cut_tsig(struct peer_request *rq, size_t body_bytes)
{
	uint16_t n = wire_load_be16(rq->msg + DNS_ARCOUNT_AT);

	wire_store_be16(rq->msg + DNS_ARCOUNT_AT, (uint16_t)(n - 1));
	rq->n = body_bytes;
	rq->client.key = rq->tsig.key;
}

static void check_tsig(struct peer_request *rq)
{
	size_t body_bytes;
	enum tsig_verdict verdict = tsig_verify_request(&rq->tsig, rq->t->remotes->keys, rq->msg,
							rq->n, rq->t->now.wall_s, &body_bytes);

	if (verdict != TSIG_NONE && verdict != TSIG_OK) {
		transfer_count(rq->t, tsig_bad);
		request_audit_tsig(rq, verdict);
		peer_request_refuse(rq, 0, tsig_rcode(verdict));
		return;
	}
	if (verdict == TSIG_OK)
		cut_tsig(rq, body_bytes);
	dispatch(rq);
}

/* To be called before the TSIG is cut off: the report has the message as it came. */
static void open_answer(struct peer_request *rq)
{
	const struct handover_item *item = rq->item;
	const struct port_addr local =
		peer_request_addr(item->family, item->local, item->local_port);
	const struct reply_report_ends ends = {
		.peer = &rq->client.addr,
		.local = &local,
		.transport = item->transport == HANDOVER_UDP ? TAP_UDP :
			     item->transport == HANDOVER_TCP ? TAP_TCP :
							       TAP_TLS,
	};

	reply_report_begin(rq->t, &rq->report, &ends, &rq->q, rq->msg, rq->n);
}

void peer_dispatch(struct peer_request *rq)
{
	enum query_verdict verdict = query_parse(&rq->q, rq->msg, rq->n);

	if (verdict == QUERY_IGNORE) {
		peer_request_send(rq, NULL, 0);
		return;
	}
	open_answer(rq);
	/* The engine writes the reply to a malformed message. */
	if (verdict == QUERY_OK || verdict == QUERY_NOTIMP)
		check_tsig(rq);
	else
		take_question(rq);
	tsig_fini(&rq->tsig);
	reply_report_fini(&rq->report);
}
