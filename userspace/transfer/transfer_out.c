/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/transfer_out.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/wire.h"
#include "transfer/conn.h"
#include "transfer/peer_request.h"
#include "transfer/primary_state.h"
#include "transfer/remotes.h"
#include "transfer/request_audit.h"
#include "transfer/secondary.h"
#include "xfr/xfr_message.h"
#include "xfr/xfr_out.h"

#define CLIENT_PREFIX4 24 /* as in xdp/shed.h */
#define CLIENT_PREFIX6 48
/* Compression pointers reach 16 KiB: in larger messages most names are written out. A message with
 * its prefix and libevent's header fills a block of 16 KiB. */
#define MESSAGE_BYTES 16320

/* The content to send: opened when the transfer starts. */
struct source {
	struct zone *zone;
	struct store_chain *chain; /* NULL: the whole zone */
	uint32_t at, end;          /* serial numbers: of the chain so far, and of the zone */
	struct xfr_out out;
};

struct transfer_out {
	struct cds_list_head link; /* in the list of the transfers that run, or wait */
	struct conn *conn;
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
static bool open_chain(struct transfer *t, const struct transfer_zone *zone, struct source *s,
		       uint32_t serial)
{
	if (!t->env.store || !zone->config.ixfr ||
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

static bool is_current(const struct source *s, const struct xfr_out_request *request,
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
	if (is_current(s, request, serial))
		xfr_out_soa(&s->out, request, s->zone);
	else if (request->qtype == DNS_TYPE_IXFR && open_chain(t, zone, s, serial))
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

static struct xfr_out_request request_of(const struct peer_request *rq,
					 const struct transfer_zone *zone)
{
	struct xfr_out_request request = {
		.qname = rq->q.qname,
		.id = rq->q.id,
		.qtype = rq->q.qtype,
		.flags = rq->q.flags,
		.has_edns = rq->q.edns.present,
	};

	request.has_expire = rq->q.edns.expire_asked &&
			     secondary_expire_left(rq->t, zone, &request.expire_s);
	if (rq->client.is_tls && request.has_edns)
		request.pad_to = TRANSFER_OUT_PAD_TO;
	return request;
}

static void count(struct transfer *t, const struct source *s)
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
	size_t cap = peer_request_datagram_size(rq), room = tsig_room(&rq->tsig);

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
		.cap = peer_request_datagram_size(rq),
	};

	n = peer_request_limit(rq->t, &rq->client.addr, &reply, n);
	peer_request_reply(rq, rq->t->primary->out, n);
}

void transfer_out_datagram(struct peer_request *rq, struct transfer_zone *zone, uint32_t serial)
{
	const struct xfr_out_request request = request_of(rq, zone);
	struct source s = { 0 };
	int n;

	if (!source_open(&s, rq->t, zone, &request, serial)) {
		peer_request_refuse(rq, 0, DNS_RCODE_SERVFAIL);
		return;
	}
	n = write_datagram(rq, &s, &request);
	if (n > 0) {
		const struct request_audit audit = request_audit_of(rq, zone->apex);

		count(rq->t, &s);
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
	struct primary *p = h->conn->t->primary;

	if (!h->is_running || h->has_lent)
		return;
	p->n_transfers--;
	limits_give(&p->clients, &h->place);
}

static void audit_transfer(const struct transfer_out *h, enum audit_event event)
{
	const struct conn *c = h->conn;
	const struct request_audit audit = {
		.peer = &c->peer,
		.transport = c->is_tls ? "tls" : "tcp",
		.key = h->tsig.key ? h->tsig.key->name : NULL,
		.zone = h->question + DNS_HEADER_BYTES,
		.qtype = h->request.qtype,
	};

	audit_source(event, c->t, &audit, &h->source);
}

static void transfer_out_free(struct transfer_out *h)
{
	struct transfer *t = h->conn->t;

	h->conn->transfer = NULL;
	cds_list_del(&h->link);
	leave_place(h);
	t->primary->n_lent -= h->has_lent;
	source_close(&h->source);
	tsig_fini(&h->tsig);
	reply_report_fini(&h->report);
	remotes_put(h->remotes);
	if (h->on_step)
		event_free(h->on_step);
	if (h->on_stall)
		event_free(h->on_stall);
	free(h);
}

/* The transfer has ended; @is_well: completely. */
static void finish(struct transfer_out *h, bool is_well)
{
	struct conn *c = h->conn;
	struct transfer *t = c->t;

	if (is_well)
		count(t, &h->source);
	else
		transfer_count(t, out_failed);
	audit_transfer(h, is_well && h->source.zone ? AUDIT_TRANSFER_GIVEN : AUDIT_TRANSFER_FAILED);
	transfer_out_free(h);
	if (!is_well)
		conn_end(c);
	conn_release(c);
	transfer_out_next(t);
}

/* Writes the next message directly into the output. Returns its length; 0: there are no more; or an
 * error. */
static int add_message_of(struct transfer_out *h, struct evbuffer *output, size_t cap)
{
	struct evbuffer_iovec iov;
	uint8_t *bytes;
	int n;

	if (evbuffer_reserve_space(output, (ev_ssize_t)(CONN_PREFIX_BYTES + cap), &iov, 1) != 1)
		return -ENOMEM;
	bytes = iov.iov_base;
	n = xfr_out_next(&h->source.out, bytes + CONN_PREFIX_BYTES, cap, h->conn->t->now.wall_s);
	if (n <= 0)
		return n;
	reply_report_end(h->conn->t, &h->report, bytes + CONN_PREFIX_BYTES, (size_t)n);
	wire_store_be16(bytes, (uint16_t)n);
	iov.iov_len = CONN_PREFIX_BYTES + (size_t)n;
	return evbuffer_commit_space(output, &iov, 1) ? -ENOMEM : n;
}

static int add_message(struct transfer_out *h, struct evbuffer *output)
{
	int n = add_message_of(h, output, MESSAGE_BYTES);

	/* ERR_SPACE: a record is larger than MESSAGE_BYTES. */
	return n == ERR_SPACE ? add_message_of(h, output, DNS_MESSAGE_MAX) : n;
}

static void arm(struct transfer_out *h)
{
	const struct timeval step = { .tv_sec = TRANSFER_OUT_STEP_S };
	const struct timeval stall = { .tv_sec = TRANSFER_OUT_STALL_S };

	(void)event_add(h->on_step, &step);
	if (!h->has_lent)
		(void)event_add(h->on_stall, &stall);
}

void transfer_out_go_on(struct conn *c)
{
	struct transfer_out *h = c->transfer;
	struct evbuffer *output = bufferevent_get_output(c->bev);
	int n = 1;

	if (!h->is_running || c->is_ended)
		return;
	arm(h);
	while (n > 0 && evbuffer_get_length(output) < SERVER_OUT_HIGH)
		n = add_message(h, output);
	if (n <= 0)
		finish(h, !n);
}

static void on_step(evutil_socket_t fd, short events, void *user)
{
	struct transfer_out *h = user;

	(void)fd, (void)events;
	loop_wake(h->conn->t);
	finish(h, false);
}

/* The reader takes nothing: its place goes to the next in line. */
static void on_stall(evutil_socket_t fd, short events, void *user)
{
	const struct timeval stall = { .tv_sec = TRANSFER_OUT_STALL_S };
	struct transfer_out *h = user;
	struct transfer *t = h->conn->t;
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

static void refuse(struct transfer_out *h)
{
	struct transfer *t = h->conn->t;
	const struct empty_reply reply = {
		.request = h->question,
		.n = h->n_question,
		.edns = &h->edns,
		.tsig = &h->tsig,
		.rcode = DNS_RCODE_SERVFAIL,
		.cap = DNS_MESSAGE_MAX,
	};
	int n = (int)peer_request_write_empty(t, &reply);

	if (n > 0)
		n = tsig_sign(&h->tsig, t->primary->out, (size_t)n, DNS_MESSAGE_MAX, t->now.wall_s);
	if (n <= 0)
		return;
	reply_report_end(t, &h->report, t->primary->out, (size_t)n);
	conn_send(h->conn, t->primary->out, (size_t)n);
}

static void start(struct transfer_out *h)
{
	struct conn *c = h->conn;
	struct primary *p = c->t->primary;

	cds_list_del(&h->link);
	cds_list_add_tail(&h->link, &p->transfers);
	h->is_running = true;
	p->n_transfers++; /* find_next() has counted it for its client */
	h->request.tsig = &h->tsig;
	h->request.qname = h->question + DNS_HEADER_BYTES;
	if (h->zone && source_open(&h->source, c->t, h->zone, &h->request, h->serial)) {
		transfer_out_go_on(c);
		return;
	}
	refuse(h);
	finish(h, true);
}

/* The first in line whose client is below its limit; counts it for that client. NULL: none. */
static struct transfer_out *find_next(struct primary *p)
{
	struct transfer_out *h;

	cds_list_for_each_entry(h, &p->transfers_waiting, link)
		if (limits_take(&p->clients, h->conn->peer.family, h->conn->peer.bytes,
				&h->place) == LIMITS_TAKEN)
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
	while (p->n_transfers < n_max && (h = find_next(p)))
		start(h);
	p->is_starting = false;
}

struct conn *transfer_out_find_lent(const struct transfer *t)
{
	const struct transfer_out *h;

	cds_list_for_each_entry(h, &t->primary->transfers, link)
		if (h->has_lent)
			return h->conn;
	return NULL;
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

void transfer_out_begin(struct peer_request *rq, struct transfer_zone *zone, uint32_t serial)
{
	struct conn *c = rq->conn;
	struct transfer_out *h = calloc(1, sizeof(*h));

	if (h)
		h->on_step = evtimer_new(rq->t->base, on_step, h);
	if (h)
		h->on_stall = evtimer_new(rq->t->base, on_stall, h);
	if (!h || !h->on_step || !h->on_stall) {
		if (h && h->on_step)
			event_free(h->on_step);
		free(h);
		peer_request_refuse(rq, 0, DNS_RCODE_SERVFAIL);
		return;
	}
	h->conn = c;
	h->zone = zone;
	h->serial = serial;
	h->remotes = remotes_get(rq->t->remotes);
	h->request = request_of(rq, zone);
	h->edns = rq->q.edns;
	h->n_question = rq->q.question_end;
	memcpy(h->question, rq->msg, rq->q.question_end);
	h->tsig = rq->tsig;
	rq->tsig = (struct tsig){ 0 };
	h->report = rq->report;
	rq->report = (struct reply_report){ 0 };
	c->transfer = h;
	conn_hold(c);
	cds_list_add_tail(&h->link, &rq->t->primary->transfers_waiting);
	transfer_out_next(rq->t);
}

void transfer_out_abort(struct conn *c)
{
	struct transfer_out *h = c->transfer;
	struct transfer *t = c->t;
	bool was_running = h && h->is_running;

	if (!h)
		return;
	transfer_count(t, out_failed);
	audit_transfer(h, AUDIT_TRANSFER_FAILED);
	transfer_out_free(h);
	if (was_running)
		transfer_out_next(t);
}

void transfer_out_forget_zone(struct transfer *t, const struct transfer_zone *zone)
{
	struct transfer_out *h;

	cds_list_for_each_entry(h, &t->primary->transfers_waiting, link)
		if (h->zone == zone)
			h->zone = NULL;
}
