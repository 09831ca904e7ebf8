/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/transfer_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "transfer/peer_request.h"
#include "transfer/primary_state.h"
#include "transfer/remotes.h"
#include "transfer/request_audit.h"
#include "transfer/secondary.h"
#include "xfr/xfr_message.h"
#include "xfr/xfr_out.h"

#define CLIENT_PREFIX4 24 /* as in xdp/shed.h */
#define CLIENT_PREFIX6 48
/* Compression pointers reach 16 KiB: in larger messages most names are written out. */
#define MESSAGE_BYTES 16320

/* The content to send: opened when the transfer starts. */
struct source {
	struct zone *zone;
	struct store_chain *chain; /* NULL: the whole zone */
	uint32_t at, end;          /* serial numbers: of the chain so far, and of the zone */
	struct xfr_out out;
};

struct transfer_out {
	struct peer_task task;     /* first */
	struct cds_list_head link; /* in the list of the transfers that run, or wait */
	struct transfer *t;
	struct handover_item *item;
	struct port_addr peer;
	struct event *on_turn; /* it has room for more than one turn makes */
	struct event *on_step, *on_stall;
	struct limits_place place;  /* counted for its client, while it runs and has not lent it */
	struct transfer_zone *zone; /* valid until transfer_out_forget_zone() */
	struct remotes *remotes;    /* a reference, for the key */
	struct tsig tsig;
	struct reply_report report; /* open until its first message */
	struct xfr_out_request request;
	struct query_edns edns;
	uint8_t question[DNS_HEADER_BYTES + DNS_NAME_MAX + DNS_QUESTION_FIXED_BYTES];
	size_t n_question; /* octets of header and question, as they came */
	uint32_t serial;
	bool is_running;
	bool has_lent; /* it has lent its place, and does not get it back */
	struct source source;
};

/* ---- The content ----------------------------------------------------------------------------- */

/* The journal may be ahead of the served version: the chain ends at the version's serial number. */
static int next_set(void *user, struct changeset *set)
{
	struct source *s = user;
	int code;

	if (s->at == s->end)
		return 0;
	code = store_chain_next(s->chain, set);
	if (code > 0)
		s->at = set->serial_to;
	return code;
}

/* The size of a zone in memory is close to its size on the wire. */
static bool is_shorter(const struct source *s)
{
	return store_chain_bytes(s->chain) < zone_memory_bytes(s->zone);
}

/* Opens the changes from @serial to the served version, if the journal has them and they are
 * shorter than the zone (RFC 1995 section 4). */
static bool open_transfer_out_chain(struct transfer *t, const struct transfer_zone *zone,
				    struct source *s, uint32_t serial)
{
	if (!t->env.store || !zone->config->ixfr ||
	    store_chain_open(t->env.store, zone->apex, serial, &s->chain))
		return false;
	s->at = serial;
	s->end = zone_serial(s->zone);
	if (!xfr_serial_newer(s->end, store_chain_end(s->chain)) && is_shorter(s))
		return true;
	store_chain_close(s->chain);
	s->chain = NULL;
	return false;
}

static bool is_transfer_out_current(const struct source *s, const struct xfr_out_request *request,
				    uint32_t serial)
{
	return request->qtype == DNS_TYPE_IXFR && !xfr_serial_newer(zone_serial(s->zone), serial);
}

/* False: the zone is not served. */
static bool source_open(struct source *s, struct transfer *t, const struct transfer_zone *zone,
			const struct xfr_out_request *request, uint32_t serial)
{
	s->zone = served_get(t, zone);
	if (!s->zone)
		return false;
	if (is_transfer_out_current(s, request, serial))
		xfr_out_soa(&s->out, request, s->zone);
	else if (request->qtype == DNS_TYPE_IXFR && open_transfer_out_chain(t, zone, s, serial))
		xfr_out_ixfr(&s->out, request, s->zone, next_set, s);
	else
		xfr_out_axfr(&s->out, request, s->zone);
	return true;
}

static void source_close(struct source *s)
{
	if (!s->zone)
		return;
	xfr_out_fini(&s->out);
	store_chain_close(s->chain);
	zone_unref(s->zone);
	s->zone = NULL;
}

static struct xfr_out_request request_of_transfer_out(const struct peer_request *rq,
						      const struct transfer_zone *zone)
{
	struct xfr_out_request request = {
		.qname = rq->q.qname,
		.id = rq->q.id,
		.qtype = rq->q.qtype,
		.flags = rq->q.flags,
		.has_edns = rq->q.edns.present,
	};

	request.has_expire = (rq->q.edns.asks & QUERY_ASKS_EXPIRE) &&
			     secondary_expire_left(rq->t, zone, &request.expire_s);
	if (rq->client.is_tls && request.has_edns)
		request.pad_to = TRANSFER_OUT_PAD_TO;
	return request;
}

static void count_transfer_out(struct transfer *t, const struct source *s)
{
	if (s->chain)
		transfer_count(t, ixfr_out);
	else if (s->out.n_records > 1)
		transfer_count(t, axfr_out);
}

static void audit_source(enum audit_event event, const struct transfer *t,
			 const struct request_audit *audit, const struct source *s)
{
	struct request_audit now = *audit;

	if (event == AUDIT_TRANSFER_GIVEN && s->out.n_records <= 1)
		/* the SOA record alone: there is nothing newer, or the changes have no room */
		return;
	now.now_ns = t->now.ns;
	if (s->zone)
		request_audit_transfer(event, &now, &s->out, zone_serial(s->zone));
	else
		request_audit_refused(event, &now, DNS_RCODE_SERVFAIL, "the zone is not served");
}

/* ---- By UDP ---------------------------------------------------------------------------------- */

static size_t datagram_cap(const struct peer_request *rq)
{
	size_t cap = peer_request_size(rq), room = tsig_room(&rq->tsig);

	return cap > room ? cap - room : 0;
}

static int write_datagram(struct peer_request *rq, struct source *s,
			  const struct xfr_out_request *request)
{
	uint8_t *out = rq->t->primary->out;
	int n;

	if (s->chain) {
		n = xfr_out_next(&s->out, out, datagram_cap(rq), rq->t->now.wall_s);
		if (n > 0 && xfr_out_is_done(&s->out))
			return n;
		store_chain_close(s->chain);
		s->chain = NULL;
	}
	xfr_out_fini(&s->out);
	xfr_out_soa(&s->out, request, s->zone);
	return xfr_out_next(&s->out, out, datagram_cap(rq), rq->t->now.wall_s);
}

/* Signed at the end, as other replies: if a signed message did not fit, the next one could not be
 * signed. */
static void reply_in_limits(struct peer_request *rq, size_t n)
{
	const struct empty_reply reply = {
		.request = rq->msg,
		.n = rq->n,
		.edns = &rq->q.edns,
		.tsig = &rq->tsig,
		.cap = peer_request_size(rq),
	};

	n = peer_request_limit(rq->t, &rq->client.addr, &reply, n);
	peer_request_reply(rq, rq->t->primary->out, n);
}

void transfer_out_datagram(struct peer_request *rq, struct transfer_zone *zone, uint32_t serial)
{
	const struct xfr_out_request request = request_of_transfer_out(rq, zone);
	struct source s = { 0 };
	int n;

	if (!source_open(&s, rq->t, zone, &request, serial)) {
		peer_request_refuse(rq, 0, DNS_RCODE_SERVFAIL);
		return;
	}
	n = write_datagram(rq, &s, &request);
	if (n > 0) {
		const struct request_audit audit = request_audit_of(rq, zone->apex);

		count_transfer_out(rq->t, &s);
		audit_source(AUDIT_TRANSFER_GIVEN, rq->t, &audit, &s);
		reply_in_limits(rq, (size_t)n);
	} else {
		peer_request_refuse(rq, 0, DNS_RCODE_SERVFAIL);
	}
	source_close(&s);
}

/* ---- By TCP and TLS -------------------------------------------------------------------------- */

static void leave_place(struct transfer_out *h)
{
	struct primary *p = h->t->primary;

	if (!h->is_running || h->has_lent)
		return;
	p->n_transfers--;
	limits_give(&p->clients, &h->place);
}

static void audit_transfer(const struct transfer_out *h, enum audit_event event)
{
	const struct request_audit audit = {
		.peer = &h->peer,
		.transport = h->item->transport >= HANDOVER_TLS ? "tls" : "tcp",
		.key = h->tsig.key ? h->tsig.key->name : NULL,
		.zone = h->question + DNS_HEADER_BYTES,
		.qtype = h->request.qtype,
	};

	audit_source(event, h->t, &audit, &h->source);
}

static void free_timer(struct event *event)
{
	if (event)
		event_free(event);
}

static void free_events(struct transfer_out *h)
{
	free_timer(h->on_turn);
	free_timer(h->on_step);
	free_timer(h->on_stall);
}

/* Its item remains, for the caller to end. */
static void transfer_out_free(struct transfer_out *h)
{
	cds_list_del(&h->link);
	leave_place(h);
	h->t->primary->n_lent -= h->has_lent;
	source_close(&h->source);
	tsig_fini(&h->tsig);
	reply_report_fini(&h->report);
	remotes_put(h->remotes);
	free_events(h);
	free(h);
}

/* The transfer has ended; @is_well: completely. */
static void finish_transfer_out(struct transfer_out *h, bool is_well)
{
	struct handover_item *item = h->item;
	struct transfer *t = h->t;

	if (is_well)
		count_transfer_out(t, &h->source);
	else
		transfer_count(t, out_failed);
	audit_transfer(h, is_well && h->source.zone ? AUDIT_TRANSFER_GIVEN : AUDIT_TRANSFER_FAILED);
	transfer_out_free(h);
	if (is_well)
		handover_end(item);
	else
		handover_close(item);
	transfer_out_next(t);
}

/* Makes the next message. Returns its length; 0: it was the last, or there are no more; or an
 * error. */
static int add_message_of(struct transfer_out *h, size_t cap)
{
	uint8_t *bytes = handover_begin(h->item, cap);
	int n;

	if (!bytes)
		return -ENOMEM;
	n = xfr_out_next(&h->source.out, bytes, cap, h->t->now.wall_s);
	handover_send(h->item, n > 0 ? (size_t)n : 0);
	if (n <= 0)
		return n;
	reply_report_end(h->t, &h->report, bytes, (size_t)n);
	return xfr_out_is_done(&h->source.out) ? 0 : n;
}

static int add_message(struct transfer_out *h)
{
	int n = add_message_of(h, MESSAGE_BYTES);

	/* ERR_SPACE: a record is larger than MESSAGE_BYTES. */
	return n == ERR_SPACE ? add_message_of(h, DNS_MESSAGE_MAX) : n;
}

static void arm_transfer_out(struct transfer_out *h)
{
	const struct timeval step = { .tv_sec = TRANSFER_OUT_STEP_S };
	const struct timeval stall = { .tv_sec = TRANSFER_OUT_STALL_S };

	(void)event_add(h->on_step, &step);
	if (!h->has_lent)
		(void)event_add(h->on_stall, &stall);
}

/* Makes messages while there is room, as many as wait at most: the worker may send them as fast as
 * they are made. */
static void make_messages(struct transfer_out *h)
{
	size_t n_bytes = 0;
	int n = 1;

	arm_transfer_out(h);
	while (n > 0 && n_bytes < HANDOVER_HIGH && handover_has_room(h->item)) {
		n = add_message(h);
		n_bytes += n > 0 ? (size_t)n : 0;
	}
	if (n <= 0) {
		finish_transfer_out(h, !n);
		return;
	}
	handover_flush(h->item);
	if (handover_has_room(h->item))
		event_active(h->on_turn, EV_TIMEOUT, 0);
}

/* The client is gone. */
static void abandon(struct transfer_out *h)
{
	struct handover_item *item = h->item;
	struct transfer *t = h->t;

	transfer_count(t, out_failed);
	audit_transfer(h, AUDIT_TRANSFER_FAILED);
	transfer_out_free(h);
	handover_end(item);
	transfer_out_next(t);
}

static void on_transfer_event(struct transfer *t, struct peer_task *task, enum handover_event event)
{
	struct transfer_out *h = (struct transfer_out *)task;

	(void)t;
	if (event == HANDOVER_GONE)
		abandon(h);
	else if (event == HANDOVER_ROOM && h->is_running)
		make_messages(h);
}

static void on_turn(evutil_socket_t fd, short events, void *user)
{
	struct transfer_out *h = user;

	(void)fd, (void)events;
	loop_wake(h->t);
	make_messages(h);
}

static void on_transfer_out_step(evutil_socket_t fd, short events, void *user)
{
	struct transfer_out *h = user;

	(void)fd, (void)events;
	loop_wake(h->t);
	finish_transfer_out(h, false);
}

/* The reader takes nothing: its place goes to the next in line. */
static void on_stall(evutil_socket_t fd, short events, void *user)
{
	const struct timeval stall = { .tv_sec = TRANSFER_OUT_STALL_S };
	struct transfer_out *h = user;
	struct transfer *t = h->t;
	struct primary *p = t->primary;

	(void)fd, (void)events;
	loop_wake(t);
	if (p->n_lent >= TRANSFER_OUT_LENT_MAX * t->remotes->n_transfers_out) {
		(void)event_add(h->on_stall, &stall); /* it may be possible to lend then */
		return;
	}
	leave_place(h);
	h->has_lent = true;
	p->n_lent++;
	transfer_out_next(t);
}

static void refuse_transfer_out(struct transfer_out *h)
{
	struct transfer *t = h->t;
	const struct empty_reply reply = {
		.request = h->question,
		.n = h->n_question,
		.edns = &h->edns,
		.tsig = &h->tsig,
		.rcode = DNS_RCODE_SERVFAIL,
		.cap = DNS_MESSAGE_MAX,
	};
	int n = (int)peer_request_write_empty(t, &reply);
	uint8_t *out;

	if (n > 0)
		n = tsig_sign(&h->tsig, t->primary->out, (size_t)n, DNS_MESSAGE_MAX, t->now.wall_s);
	out = n > 0 ? handover_begin(h->item, (size_t)n) : NULL;
	if (!out)
		return;
	memcpy(out, t->primary->out, (size_t)n);
	reply_report_end(t, &h->report, out, (size_t)n);
	handover_send(h->item, (size_t)n);
}

static void start_transfer_out(struct transfer_out *h)
{
	struct primary *p = h->t->primary;

	cds_list_del(&h->link);
	cds_list_add_tail(&h->link, &p->transfers);
	h->is_running = true;
	p->n_transfers++; /* find_transfer_out_next() has counted it for its client */
	h->request.tsig = &h->tsig;
	h->request.qname = h->question + DNS_HEADER_BYTES;
	if (h->zone && source_open(&h->source, h->t, h->zone, &h->request, h->serial)) {
		make_messages(h);
		return;
	}
	refuse_transfer_out(h);
	finish_transfer_out(h, true);
}

/* The first in line whose client is below its limit; counts it for that client. NULL: none. */
static struct transfer_out *find_transfer_out_next(struct primary *p)
{
	struct transfer_out *h;

	cds_list_for_each_entry(h, &p->transfers_waiting, link)
		if (limits_take(&p->clients, (uint8_t)h->peer.family, h->peer.bytes, &h->place) ==
		    LIMITS_TAKEN)
			return h;
	return NULL;
}

void transfer_out_next(struct transfer *t)
{
	struct primary *p = t->primary;
	const uint32_t n_max = t->remotes->n_transfers_out;
	struct transfer_out *h;

	/* A transfer that ends at once calls this function again. */
	if (p->is_starting)
		return;
	p->is_starting = true;
	p->clients.max_client = n_max - (n_max + 3) / 4;
	if (!p->clients.max_client)
		p->clients.max_client = 1;
	while (p->n_transfers < n_max && (h = find_transfer_out_next(p)))
		start_transfer_out(h);
	p->is_starting = false;
}

int transfer_out_open(struct transfer *t)
{
	struct limits *l = &t->primary->clients;

	l->max_total = UINT32_MAX;
	l->max_client = 1;
	l->prefix4 = CLIENT_PREFIX4;
	l->prefix6 = CLIENT_PREFIX6;
	return getrandom(l->key, sizeof(l->key), 0) < 0 ? -errno : 0;
}

static struct transfer_out *transfer_out_new(struct transfer *t)
{
	struct transfer_out *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->task.tell = on_transfer_event;
	h->t = t;
	h->on_turn = evtimer_new(t->base, on_turn, h);
	h->on_step = evtimer_new(t->base, on_transfer_out_step, h);
	h->on_stall = evtimer_new(t->base, on_stall, h);
	if (h->on_turn && h->on_step && h->on_stall)
		return h;
	free_events(h);
	free(h);
	return NULL;
}

void transfer_out_begin(struct peer_request *rq, struct transfer_zone *zone, uint32_t serial)
{
	struct transfer_out *h = transfer_out_new(rq->t);

	if (!h) {
		peer_request_refuse(rq, 0, DNS_RCODE_SERVFAIL);
		return;
	}
	h->item = rq->item;
	h->peer = rq->client.addr;
	h->zone = zone;
	h->serial = serial;
	h->remotes = remotes_get(rq->t->remotes);
	h->request = request_of_transfer_out(rq, zone);
	h->edns = rq->q.edns;
	h->n_question = rq->q.question_end;
	memcpy(h->question, rq->msg, rq->q.question_end);
	h->tsig = rq->tsig;
	rq->tsig = (struct tsig){ 0 };
	h->report = rq->report;
	rq->report = (struct reply_report){ 0 };
	h->item->user = &h->task;
	handover_drop_message(h->item);
	rq->item = NULL;
	cds_list_add_tail(&h->link, &rq->t->primary->transfers_waiting);
	transfer_out_next(rq->t);
}

static void close_list(struct cds_list_head *list)
{
	struct transfer_out *h, *next;

	cds_list_for_each_entry_safe(h, next, list, link) {
		struct handover_item *item = h->item;

		transfer_out_free(h);
		handover_close(item);
	}
}

void transfer_out_close(struct transfer *t)
{
	close_list(&t->primary->transfers);
	close_list(&t->primary->transfers_waiting);
}

void transfer_out_forget_zone(struct transfer *t, const struct transfer_zone *zone)
{
	struct transfer_out *h;

	cds_list_for_each_entry(h, &t->primary->transfers_waiting, link)
		if (h->zone == zone)
			h->zone = NULL;
}
