/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/questions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transfer/conn.h"
#include "transfer/primary_state.h"
#include "transfer/remotes.h"
#include "worker/relay.h"

struct question {
	struct relay_item item;       /* first */
	struct cds_list_head link;    /* in primary.questions */
	struct cds_list_head on_conn; /* in conn.questions while the connection is open */
	struct conn *conn;            /* NULL: the connection has ended */
	struct remotes *remotes;      /* a reference, for the key */
	struct tsig tsig;
	bool is_padded;
};

static void release(struct question *q)
{
	cds_list_del(&q->link);
	tsig_fini(&q->tsig);
	remotes_put(q->remotes);
	q->remotes = NULL;
}

static struct question *keep(struct peer_request *rq, uint16_t idle_100ms, size_t cap)
{
	struct question *q = calloc(1, sizeof(*q));
	const struct port_addr *peer = &rq->client.addr, *local = &rq->conn->local;

	if (!q)
		return NULL;
	q->item = (struct relay_item){
		.family = peer->family,
		.encrypted = rq->conn->is_tls,
		.peer_port = peer->port,
		.local_port = local->port,
		.idle_100ms = idle_100ms,
		.reply_cap = (uint32_t)cap,
		.bytes = malloc(rq->n),
		.n_bytes = (uint32_t)rq->n,
	};
	if (!q->item.bytes) {
		free(q);
		return NULL;
	}
	memcpy(q->item.peer, peer->bytes, sizeof(q->item.peer));
	memcpy(q->item.local, local->bytes, sizeof(q->item.local));
	memcpy(q->item.bytes, rq->msg, rq->n);
	q->conn = rq->conn;
	q->is_padded = peer_request_is_padded(rq);
	return q;
}

bool questions_ask(struct peer_request *rq, uint16_t idle_100ms, size_t cap)
{
	struct relay *relay = rq->t->env.relay;
	struct question *q = relay && cap >= rq->n ? keep(rq, idle_100ms, cap) : NULL;

	if (!q)
		return false;
	if (!relay_put(relay, &q->item, rq->conn->number)) {
		free(q->item.bytes);
		free(q);
		return false;
	}
	q->remotes = remotes_get(rq->t->remotes);
	q->tsig = rq->tsig;
	rq->tsig = (struct tsig){ 0 };
	cds_list_add_tail(&q->link, &rq->t->primary->questions);
	cds_list_add_tail(&q->on_conn, &rq->conn->questions);
	conn_asked(rq->conn);
	return true;
}

void questions_forget(struct conn *c)
{
	struct question *q, *next;

	cds_list_for_each_entry_safe(q, next, &c->questions, on_conn) {
		cds_list_del(&q->on_conn);
		q->conn = NULL;
	}
}

static void reply(struct transfer *t, struct question *q)
{
	struct peer_request rq = {
		.t = t,
		.conn = q->conn,
		.cap = DNS_MESSAGE_MAX,
		.tsig = q->tsig,
		.is_padded = q->is_padded,
	};
	uint8_t *out = t->primary->out;

	if (q->item.n_bytes)
		memcpy(out, q->item.bytes, q->item.n_bytes);
	peer_request_reply(&rq, out, q->item.n_bytes);
	q->tsig = rq.tsig;
}

static void finish(struct transfer *t, struct question *q)
{
	struct conn *c = q->conn;

	if (c) {
		cds_list_del(&q->on_conn);
		if (q->item.closes)
			conn_end(c);
		else
			reply(t, q);
		conn_answered(c);
	}
	release(q);
	free(q->item.bytes);
	free(q);
}

static void on_replies(evutil_socket_t fd, short events, void *user)
{
	struct transfer *t = user;
	struct relay_item *item = relay_take(t->env.relay), *next;

	(void)fd, (void)events;
	loop_wake(t);
	for (; item; item = next) {
		next = relay_next(item);
		finish(t, caa_container_of(item, struct question, item));
	}
}

int questions_open(struct transfer *t)
{
	struct primary *p = t->primary;

	if (!t->env.relay)
		return 0;
	p->on_replies =
		event_new(t->base, relay_fd(t->env.relay), EV_READ | EV_PERSIST, on_replies, t);
	return p->on_replies && !event_add(p->on_replies, NULL) ? 0 : -ENOMEM;
}

/* The workers give the questions back to the relay, which frees them. */
void questions_close(struct transfer *t)
{
	struct primary *p = t->primary;
	struct question *q, *next;

	if (p->on_replies)
		event_free(p->on_replies);
	cds_list_for_each_entry_safe(q, next, &p->questions, link)
		release(q);
}
