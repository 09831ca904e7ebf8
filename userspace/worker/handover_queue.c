/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiver owns an item until handover_reply(). A single message then belongs to the worker
 * again, and carries the reply back. A way back lives until its worker and its last item have
 * released it.
 */
#include "worker/handover_queue.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <urcu/compiler.h>
#include <urcu/list.h>

#include "resolver/inbox.h"

struct handover {
	struct inbox queue;
	uint32_t n_pending; /* all threads change these two */
	uint64_t n_bytes;
};

struct handover_way {
	struct inbox replies;
	uint32_t n_users; /* the worker, and the items that are out */
	/* Only the worker uses it. */
	struct cds_list_head out;
};

struct parcel {
	struct handover_item item;
	struct inbox_link link;
	struct handover *from;
	uint8_t *reply;
	size_t n_reply;
	/* Of a single message; only the worker uses them. */
	struct handover_way *way;
	struct cds_list_head out_link;
	struct port_return to; /* port NULL: the port is gone */
};

static struct parcel *parcel_of(struct inbox_link *link)
{
	return caa_container_of(link, struct parcel, link);
}

static void parcel_free(struct parcel *p)
{
	free(p->item.bytes);
	free(p->reply);
	free(p);
}

/* ---- Both sides ------------------------------------------------------------------------------ */

int handover_new(struct handover **out)
{
	struct handover *h = calloc(1, sizeof(*h));
	int err = h ? inbox_open(&h->queue) : -ENOMEM;

	if (err)
		free(h);
	else
		*out = h;
	return err;
}

void handover_free(struct handover *h)
{
	struct handover_item *item, *next;

	if (!h)
		return;
	for (item = handover_take(h); item; item = next) {
		next = item->next;
		SSL_free(item->ssl);
		if (item->fd >= 0)
			close(item->fd);
		handover_reply(item, NULL, 0);
	}
	inbox_close(&h->queue);
	free(h);
}

static void put(struct inbox *box, struct parcel *p)
{
	struct inbox_chain chain = { 0 };

	inbox_chain_add(&chain, &p->link);
	inbox_put(box, &chain);
}

static void way_put(struct handover_way *way)
{
	struct inbox_link *link, *next;

	if (__atomic_sub_fetch(&way->n_users, 1, __ATOMIC_ACQ_REL))
		return;
	for (link = inbox_take(&way->replies); link; link = next) {
		next = link->next;
		parcel_free(parcel_of(link));
	}
	inbox_close(&way->replies);
	free(way);
}

/* ---- The receiver ---------------------------------------------------------------------------- */

int handover_fd(const struct handover *h)
{
	return h->queue.fd;
}

struct handover_item *handover_take(struct handover *h)
{
	struct inbox_link *link = inbox_take(&h->queue);
	struct handover_item *first = NULL, **end = &first;

	for (; link; link = link->next) {
		*end = &parcel_of(link)->item;
		end = &(*end)->next;
	}
	*end = NULL;
	return first;
}

/* If there is no memory, or the reply is too long, it is lost, as on the network. */
static void set_reply(struct parcel *p, const uint8_t *reply, size_t n)
{
	p->reply = n && n <= p->to.cap ? malloc(n) : NULL;
	p->n_reply = p->reply ? n : 0;
	if (p->reply)
		memcpy(p->reply, reply, n);
}

void handover_reply(struct handover_item *item, const uint8_t *reply, size_t n)
{
	struct parcel *p = caa_container_of(item, struct parcel, item);
	struct handover *h = p->from;
	struct handover_way *way = p->way;

	__atomic_sub_fetch(&h->n_pending, 1, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&h->n_bytes, item->n_bytes, __ATOMIC_RELAXED);
	if (!way) {
		parcel_free(p);
		return;
	}
	set_reply(p, reply, n);
	put(&way->replies, p);
	way_put(way);
}

/* ---- The worker ------------------------------------------------------------------------------ */

int handover_way_new(struct handover_way **out)
{
	struct handover_way *way = calloc(1, sizeof(*way));
	int err = way ? inbox_open(&way->replies) : -ENOMEM;

	if (err) {
		free(way);
		return err;
	}
	way->n_users = 1;
	CDS_INIT_LIST_HEAD(&way->out);
	*out = way;
	return 0;
}

void handover_way_free(struct handover_way *way)
{
	if (way)
		way_put(way);
}

static void deliver(void *ctx, uint64_t now_ns)
{
	struct handover_way *way = ctx;
	struct inbox_link *link = inbox_take(&way->replies), *next;

	for (; link; link = next) {
		struct parcel *p = parcel_of(link);
		struct port_reply reply = { .to = &p->to,
					    .data = p->reply,
					    .len = (uint32_t)p->n_reply };

		next = link->next;
		cds_list_del(&p->out_link);
		if (p->to.port)
			(void)port_reply(p->to.port, now_ns, &reply, 1);
		parcel_free(p);
	}
}

struct worker_source handover_source(struct handover_way *way)
{
	return (struct worker_source){ .fd = way->replies.fd, .ready = deliver, .ctx = way };
}

void handover_port_gone(struct handover_way *way, const struct port *port)
{
	struct parcel *p;

	cds_list_for_each_entry(p, &way->out, out_link)
		if (p->to.port == port)
			p->to.port = NULL;
}

static bool is_full(const struct handover *h, size_t n_bytes)
{
	return __atomic_load_n(&h->n_pending, __ATOMIC_RELAXED) >= HANDOVER_PENDING_MAX ||
	       __atomic_load_n(&h->n_bytes, __ATOMIC_RELAXED) + n_bytes > HANDOVER_PENDING_BYTES;
}

static struct parcel *parcel_new(const struct port_msg *msg, const uint8_t *bytes, size_t n)
{
	struct parcel *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->item = (struct handover_item){
		.fd = -1,
		.family = msg->family,
		.peer_port = msg->peer_port,
		.local_port = msg->local_port,
		.bytes = malloc(n ? n : 1),
		.n_bytes = n,
	};
	if (!p->item.bytes) {
		free(p);
		return NULL;
	}
	memcpy(p->item.peer, msg->peer, sizeof(msg->peer));
	memcpy(p->item.local, msg->local, sizeof(msg->local));
	memcpy(p->item.bytes, bytes, n);
	return p;
}

static void send_parcel(struct handover *h, struct parcel *p)
{
	p->from = h;
	__atomic_add_fetch(&h->n_pending, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&h->n_bytes, p->item.n_bytes, __ATOMIC_RELAXED);
	put(&h->queue, p);
}

static bool put_message(struct handover *h, struct handover_way *way, struct port *port,
			struct port_msg *msg)
{
	struct parcel *p = port_can_defer(port) ? parcel_new(msg, msg->data, msg->len) : NULL;

	msg->len = 0;
	if (!p)
		return false;
	port_defer(port, msg, &p->to);
	msg->deferred = true;
	p->item.reply_cap = p->to.cap;
	p->way = way;
	__atomic_add_fetch(&way->n_users, 1, __ATOMIC_RELAXED);
	cds_list_add_tail(&p->out_link, &way->out);
	send_parcel(h, p);
	return true;
}

static bool put_connection(struct handover *h, struct port *port, struct port_msg *msg)
{
	struct port_gift gift;
	int err = port_give(port, msg, &gift);
	struct parcel *p;

	msg->len = 0;
	msg->put_back = err == -EAGAIN;
	msg->given = !err;
	if (err)
		return msg->put_back;
	p = parcel_new(msg, gift.bytes, gift.n_bytes);
	if (!p) {
		SSL_free(gift.ssl);
		close(gift.fd);
		return false;
	}
	p->item.fd = gift.fd;
	p->item.ssl = gift.ssl;
	send_parcel(h, p);
	return true;
}

bool handover_put(struct handover *h, struct handover_way *way, struct port *port,
		  struct port_msg *msg)
{
	if (is_full(h, msg->len)) {
		msg->len = 0;
		return false;
	}
	return msg->stream ? put_connection(h, port, msg) : put_message(h, way, port, msg);
}
