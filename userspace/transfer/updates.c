/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/primary_state.h"

#include <stdlib.h>
#include <string.h>

#include "transfer/peer_request.h"
#include "transfer/remotes.h"
#include "transfer/request_audit.h"
#include "transfer/transfer_events.h"
#include "xfr/update.h"

struct update_in {
	struct cds_list_head link;
	struct handover_item *item;
	struct remotes *remotes; /* a reference, for the key */
	struct tsig tsig;
	struct reply_report report;
	struct query_edns edns;
	struct port_addr peer; /* for the audit: sender, transport and zone */
	const char *transport;
	uint8_t zone[DNS_NAME_MAX + 1];
	size_t cap;
	size_t n;
	uint8_t msg[]; /* the request, without its TSIG */
};

static const char *reason_of_update_in(unsigned int rcode)
{
	switch (rcode) {
	case DNS_RCODE_NOTAUTH:
		return "not a zone of ours";
	case DNS_RCODE_NOTIMP:
		return "the zone has primaries: send the UPDATE to one of them";
	case DNS_RCODE_REFUSED:
		return "not in allow-update, or the changed zone would not be valid";
	case DNS_RCODE_SERVFAIL:
		return "the zone is not served, or the change could not be stored";
	default:
		return "the message is malformed, or a prerequisite is not met";
	}
}

static void refuse_update_in(struct peer_request *rq, const uint8_t *zone, enum dns_rcode rcode)
{
	const struct request_audit audit = request_audit_of(rq, zone);

	transfer_count(rq->t, update_refused);
	request_audit_refused(AUDIT_UPDATE_REFUSED, &audit, rcode, reason_of_update_in(rcode));
	peer_request_refuse(rq, 0, rcode);
}

/* The rcode of a refusal; NOERROR: control makes the change. Only the primary may change the zone
 * of a secondary. */
static enum dns_rcode judge_update_in(struct peer_request *rq, const struct transfer_zone *zone)
{
	uint32_t serial;

	if (!zone)
		return DNS_RCODE_NOTAUTH;
	if (zone->secondary)
		return DNS_RCODE_NOTIMP;
	if (!rules_allow(rq->t, &zone->config->allow_update, &rq->client))
		return DNS_RCODE_REFUSED;
	return served_serial(rq->t, zone, &serial) ? DNS_RCODE_NOERROR : DNS_RCODE_SERVFAIL;
}

static struct update_in *keep_update_in(struct peer_request *rq, const struct transfer_zone *zone)
{
	struct update_in *u = calloc(1, sizeof(*u) + rq->n);

	if (!u)
		return NULL;
	u->item = rq->item;
	u->remotes = remotes_get(rq->t->remotes);
	u->edns = rq->q.edns;
	u->peer = rq->client.addr;
	u->transport = request_audit_of(rq, NULL).transport;
	memcpy(u->zone, zone->apex, zone->apex_len);
	u->cap = peer_request_size(rq);
	u->tsig = rq->tsig;
	u->n = rq->n;
	memcpy(u->msg, rq->msg, rq->n);
	rq->tsig = (struct tsig){ 0 };
	u->report = rq->report;
	rq->report = (struct reply_report){ 0 };
	handover_drop_message(rq->item);
	rq->item = NULL;
	cds_list_add_tail(&u->link, &rq->t->primary->updates);
	rq->t->primary->n_updates++;
	return u;
}

static void forget_update_in(struct transfer *t, struct update_in *u)
{
	cds_list_del(&u->link);
	t->primary->n_updates--;
	tsig_fini(&u->tsig);
	reply_report_fini(&u->report);
	remotes_put(u->remotes);
	free(u);
}

static void ask_control(struct peer_request *rq, const struct transfer_zone *zone)
{
	struct transfer *t = rq->t;
	struct update_in *u = t->primary->n_updates < UPDATES_MAX ? keep_update_in(rq, zone) : NULL;
	char remote[PORT_ADDR_TEXT_CAP];
	const struct transfer_event event = {
		.kind = TRANSFER_UPDATE,
		.apex = zone->apex,
		.apex_len = zone->apex_len,
		.remote = port_addr_text(&rq->client.addr, remote),
		.message = u ? u->msg : NULL,
		.message_bytes = u ? u->n : 0,
		.request = u,
	};

	if (!u)
		refuse_update_in(rq, zone->apex, DNS_RCODE_SERVFAIL);
	else if (transfer_emit(t, &event))
		updates_answer(t, u, DNS_RCODE_SERVFAIL);
}

void updates_take(struct peer_request *rq)
{
	struct transfer_zone *zone;
	struct update u;
	enum dns_rcode rcode = update_open(&u, rq->msg, rq->n);

	transfer_count(rq->t, update_in);
	/* The check of the zone comes before the checks of the records: RFC 2136 section 3.1.2. */
	if (rcode == DNS_RCODE_NOTZONE && !transfer_zones_find(&rq->t->zones, u.zone))
		rcode = DNS_RCODE_NOTAUTH;
	if (rcode) {
		refuse_update_in(rq, rq->q.has_question ? rq->q.folded : NULL, rcode);
		return;
	}
	zone = transfer_zones_find(&rq->t->zones, u.zone);
	rcode = judge_update_in(rq, zone);
	if (rcode)
		refuse_update_in(rq, u.zone, rcode);
	else
		ask_control(rq, zone);
}

static void audit_update(const struct transfer *t, const struct update_in *u, unsigned int rcode)
{
	const struct request_audit audit = {
		.now_ns = t->now.ns,
		.peer = &u->peer,
		.transport = u->transport,
		.key = u->tsig.key ? u->tsig.key->name : NULL,
		.zone = u->zone,
	};

	if (rcode)
		request_audit_refused(AUDIT_UPDATE_REFUSED, &audit, rcode,
				      reason_of_update_in(rcode));
	else
		request_audit_update(&audit);
}

void updates_answer(struct transfer *t, void *request, unsigned int rcode)
{
	struct update_in *u = request;
	const struct empty_reply reply = {
		.request = u->msg,
		.n = u->n,
		.edns = &u->edns,
		.tsig = &u->tsig,
		.rcode = (enum dns_rcode)rcode,
		.cap = u->cap,
	};
	uint8_t *out = t->primary->out;
	int n = (int)peer_request_write_empty(t, &reply);

	audit_update(t, u, rcode);
	if (n > 0 && u->item->transport == HANDOVER_UDP)
		n = (int)peer_request_limit(t, &u->peer, &reply, (size_t)n);
	if (n > 0)
		n = tsig_sign(&u->tsig, out, (size_t)n, u->cap, t->now.wall_s);
	if (n > 0)
		reply_report_end(t, &u->report, out, (size_t)n);
	handover_reply(u->item, out, n > 0 ? (size_t)n : 0);
	forget_update_in(t, u);
}

void updates_close(struct transfer *t)
{
	struct primary *p = t->primary;

	while (!cds_list_empty(&p->updates)) {
		struct update_in *u = cds_list_first_entry(&p->updates, struct update_in, link);

		handover_reply(u->item, NULL, 0);
		forget_update_in(t, u);
	}
}
