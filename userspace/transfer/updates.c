/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/updates.h"

#include <stdlib.h>
#include <string.h>

#include "transfer/book.h"
#include "transfer/conn.h"
#include "transfer/inquiry.h"
#include "transfer/primary_state.h"
#include "transfer/told.h"
#include "transfer/transfer_events.h"
#include "xfr/update.h"

struct update_in {
	struct cds_list_head link;
	struct conn *conn;          /* or NULL: it is gone, or there was none */
	struct handover_item *item; /* or NULL */
	struct book *book;          /* for the key */
	struct tsig tsig;
	struct answered answered;
	struct query_edns edns;
	struct port_addr peer; /* for the audit: who sent it, how, and for which zone */
	const char *transport;
	uint8_t zone[DNS_NAME_MAX + 1];
	size_t cap;
	size_t n;
	uint8_t msg[]; /* the request, without its TSIG */
};

static const char *reason_of(unsigned int rcode)
{
	switch (rcode) {
	case DNS_RCODE_NOTAUTH:
		return "not a zone of ours";
	case DNS_RCODE_NOTIMP:
		return "the zone has primaries: it is theirs to change";
	case DNS_RCODE_REFUSED:
		return "not in allow-update, or the zone would not be valid";
	case DNS_RCODE_SERVFAIL:
		return "the zone is not served, or the change could not be kept";
	default:
		return "the message, or what it requires of the zone, does not hold";
	}
}

static void refuse(struct inquiry *i, const uint8_t *zone, enum dns_rcode rcode)
{
	const struct told who = told_of(i, zone);

	transfer_count(i->t, update_refused);
	told_refused(AUDIT_UPDATE_REFUSED, &who, rcode, reason_of(rcode));
	inquiry_refuse(i, 0, rcode);
}

/* A refusal beforehand, or NOERROR: control is to do it. A secondary's zone is its primary's to change. */
static enum dns_rcode judge(struct inquiry *i, const struct transfer_zone *zone)
{
	uint32_t serial;

	if (!zone)
		return DNS_RCODE_NOTAUTH;
	if (zone->secondary)
		return DNS_RCODE_NOTIMP;
	if (!rules_allow(i->t, &zone->config.allow_update, &i->who))
		return DNS_RCODE_REFUSED;
	return served_serial(i->t, zone, &serial) ? DNS_RCODE_NOERROR : DNS_RCODE_SERVFAIL;
}

static struct update_in *keep(struct inquiry *i, const struct transfer_zone *zone)
{
	struct update_in *u = calloc(1, sizeof(*u) + i->n);

	if (!u)
		return NULL;
	u->conn = i->conn;
	u->item = i->item;
	u->book = book_get(i->t->book);
	u->edns = i->q.edns;
	u->peer = i->who.addr;
	u->transport = told_of(i, NULL).transport;
	memcpy(u->zone, zone->apex, zone->apex_len);
	u->cap = i->conn ? i->cap : inquiry_datagram_size(i);
	u->tsig = i->tsig;
	u->n = i->n;
	memcpy(u->msg, i->msg, i->n);
	i->tsig = (struct tsig){ 0 };
	u->answered = i->answered;
	i->answered = (struct answered){ 0 };
	i->item = NULL;
	if (u->conn) {
		u->conn->update = u;
		conn_hold(u->conn);
	}
	cds_list_add_tail(&u->link, &i->t->primary->updates);
	i->t->primary->n_updates++;
	return u;
}

static void forget(struct transfer *t, struct update_in *u)
{
	cds_list_del(&u->link);
	t->primary->n_updates--;
	tsig_fini(&u->tsig);
	answered_fini(&u->answered);
	book_put(u->book);
	free(u);
}

static void ask_control(struct inquiry *i, const struct transfer_zone *zone)
{
	struct transfer *t = i->t;
	struct update_in *u = t->primary->n_updates < UPDATES_MAX ? keep(i, zone) : NULL;
	char remote[PORT_ADDR_TEXT_CAP];
	const struct transfer_event event = {
		.kind = TRANSFER_UPDATE,
		.apex = zone->apex,
		.apex_len = zone->apex_len,
		.remote = port_addr_text(&i->who.addr, remote),
		.message = u ? u->msg : NULL,
		.message_bytes = u ? u->n : 0,
		.request = u,
	};

	if (!u)
		refuse(i, zone->apex, DNS_RCODE_SERVFAIL);
	else if (transfer_emit(t, &event))
		updates_answer(t, u, DNS_RCODE_SERVFAIL);
}

void updates_take(struct inquiry *i)
{
	struct transfer_zone *zone;
	struct update u;
	enum dns_rcode rcode = update_open(&u, i->msg, i->n);

	transfer_count(i->t, update_in);
	/* The zone comes first, then what the records say of it: RFC 2136 section 3.1.2. */
	if (rcode == DNS_RCODE_NOTZONE && !transfer_zones_find(&i->t->zones, u.zone))
		rcode = DNS_RCODE_NOTAUTH;
	if (rcode) {
		refuse(i, i->q.has_question ? i->q.folded : NULL, rcode);
		return;
	}
	zone = transfer_zones_find(&i->t->zones, u.zone);
	rcode = judge(i, zone);
	if (rcode)
		refuse(i, u.zone, rcode);
	else
		ask_control(i, zone);
}

static void tell(const struct transfer *t, const struct update_in *u, unsigned int rcode)
{
	const struct told who = {
		.now_ns = t->now.ns,
		.peer = &u->peer,
		.transport = u->transport,
		.key = u->tsig.key ? u->tsig.key->name : NULL,
		.zone = u->zone,
	};

	if (rcode)
		told_refused(AUDIT_UPDATE_REFUSED, &who, rcode, reason_of(rcode));
	else
		told_update(&who);
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
	int n = (int)inquiry_write_empty(t, &reply);

	tell(t, u, rcode);
	if (n > 0)
		n = tsig_sign(&u->tsig, out, (size_t)n, u->cap, t->now.wall_s);
	if (n > 0 && (u->item || u->conn))
		answered_reply(t, &u->answered, out, (size_t)n);
	if (u->item)
		handover_reply(u->item, out, n > 0 ? (size_t)n : 0);
	if (u->conn) {
		u->conn->update = NULL;
		if (n > 0)
			conn_send(u->conn, out, (size_t)n);
		conn_release(u->conn);
	}
	forget(t, u);
}

void updates_forget(struct conn *c)
{
	if (c->update)
		c->update->conn = NULL;
	c->update = NULL;
}

void updates_close(struct transfer *t)
{
	struct primary *p = t->primary;

	while (!cds_list_empty(&p->updates)) {
		struct update_in *u = cds_list_first_entry(&p->updates, struct update_in, link);

		if (u->item)
			handover_reply(u->item, NULL, 0);
		forget(t, u);
	}
}
