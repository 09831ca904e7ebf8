/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A parcel is an item on its whole way. Worker and receiver use it at the same time, and whichever
 * is the last to release it frees it. The receiver sends pieces: messages of the reply, and its
 * end, which the worker takes in this order. The worker sends notes to the receiver.
 */
#include "worker/handover_queue.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <urcu/compiler.h>
#include <urcu/list.h>

#include "resolver/inbox.h"

#define RUN_MAX    4            /* messages to one connection in a row */
#define TURN_BYTES (256u << 10) /* for all, in one call: then the ports have a turn */
#define RUN_COST   512u         /* octets that count in addition, for each run */

struct handover {
	struct inbox queue;
	struct inbox_link *taken; /* the receiver's: taken from the queue, and not handled yet */
	bool is_amid;             /* `taken` was not empty */
	uint32_t n_pending;       /* all threads change these two */
	uint64_t n_bytes;
};

struct handover_way {
	struct inbox replies;
	uint32_t n_users; /* the worker, and the parcels that are out */
	handover_question_fn *question;
	void *ctx;
	/* Only the worker uses these. */
	struct cds_list_head out;
	struct cds_list_head ready; /* parcels with pieces that can be sent now */
};

enum piece_kind {
	PIECE_MORE,  /* a message that others follow */
	PIECE_LAST,  /* the last message; n 0: there is none */
	PIECE_CLOSE, /* the connection ends */
	PIECE_ASK,   /* a question for the worker, at item.bytes */
};

struct piece {
	struct inbox_link link; /* first */
	struct piece *next;     /* of the parcel, in order */
	struct parcel *parcel;
	enum piece_kind kind;
	uint32_t n;
	uint8_t *bytes; /* behind the struct */
};

/* Tells the receiver of an event of a parcel. */
struct note {
	struct inbox_link link; /* first */
	struct parcel *parcel;
	enum handover_event event;
	bool is_out; /* in the queue; atomic */
};

struct parcel {
	struct handover_item item;
	struct handover *from;
	struct handover_way *way;
	uint32_t n_refs;    /* atomic: worker, receiver, and notes that are out */
	uint32_t n_waiting; /* octets of messages that the port has not got yet; atomic */
	struct note came, room, gone;
	struct piece end; /* the last piece if it has no message, and questions: needs no memory */
	/* Only the receiver uses these. */
	bool is_ended;
	bool is_pending; /* counted in the handover, with n_counted octets */
	size_t n_counted;
	size_t ask_cap;
	struct piece *open; /* from handover_begin() to handover_send() */
	struct inbox_chain sent;
	/* Only the worker uses these. */
	struct cds_list_head out_link, ready_link;
	struct port_return to; /* port NULL: the port is gone */
	bool is_alone;         /* it has the watch, and waits for room */
	struct port_watch watch;
	struct piece *first, **last;
};

static struct parcel *parcel_of(struct handover_item *item)
{
	return caa_container_of(item, struct parcel, item);
}

static struct piece *piece_of(struct inbox_link *link)
{
	return (struct piece *)(void *)link;
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
	enum handover_event event;
	struct handover_item *item;

	if (!h)
		return;
	/* twice: first what the receiver had taken already */
	for (int i = 0; i < 2; i++)
		while ((item = handover_take(h, &event)))
			if (event != HANDOVER_ROOM && event != HANDOVER_GONE)
				handover_reply(item, NULL, 0);
	inbox_close(&h->queue);
	free(h);
}

static void queue_link(struct inbox *box, struct inbox_link *link)
{
	struct inbox_chain chain = { 0 };

	inbox_chain_add(&chain, link);
	inbox_put(box, &chain);
}

static void parcel_put(struct parcel *p)
{
	if (__atomic_sub_fetch(&p->n_refs, 1, __ATOMIC_ACQ_REL))
		return;
	free(p->item.bytes);
	free(p->open);
	free(p);
}

static void piece_free(struct piece *piece)
{
	if (piece != &piece->parcel->end)
		free(piece);
}

static void drop_pieces(struct parcel *p)
{
	for (struct piece *piece = p->first, *next; piece; piece = next) {
		next = piece->next;
		piece_free(piece);
	}
	p->first = NULL;
	p->last = &p->first;
}

static void append_piece(struct piece *piece)
{
	struct parcel *p = piece->parcel;

	if (piece->kind == PIECE_CLOSE)
		drop_pieces(p);
	piece->next = NULL;
	*p->last = piece;
	p->last = &piece->next;
}

/* The worker does not use the parcel any more. */
static void release_parcel(struct parcel *p)
{
	cds_list_del(&p->out_link);
	cds_list_del(&p->ready_link);
	drop_pieces(p);
	parcel_put(p);
}

/* The last user is gone: all parcels that are out have ended, and their worker has, too. */
static void way_put(struct handover_way *way)
{
	struct inbox_link *link, *after;
	struct parcel *p, *next;

	if (__atomic_sub_fetch(&way->n_users, 1, __ATOMIC_ACQ_REL))
		return;
	for (link = inbox_take(&way->replies); link; link = after) {
		after = link->next;
		append_piece(piece_of(link));
	}
	cds_list_for_each_entry_safe(p, next, &way->out, out_link)
		release_parcel(p);
	inbox_close(&way->replies);
	free(way);
}

/* ---- The receiver ---------------------------------------------------------------------------- */

int handover_fd(const struct handover *h)
{
	return h->queue.fd;
}

void handover_drop_message(struct handover_item *item)
{
	struct parcel *p = parcel_of(item);

	free(item->bytes);
	item->bytes = NULL;
	item->n_bytes = 0;
	if (!p->is_pending)
		return;
	p->is_pending = false;
	__atomic_sub_fetch(&p->from->n_pending, 1, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&p->from->n_bytes, p->n_counted, __ATOMIC_RELAXED);
}

struct handover_item *handover_take(struct handover *h, enum handover_event *event)
{
	if (!h->is_amid)
		h->taken = inbox_take(&h->queue);
	h->is_amid = h->taken;
	while (h->taken) {
		struct note *note = (struct note *)(void *)h->taken;
		struct parcel *p = note->parcel;
		bool is_ended = p->is_ended;

		h->taken = note->link.next;
		*event = note->event;
		__atomic_store_n(&note->is_out, false, __ATOMIC_RELEASE);
		parcel_put(p); /* the receiver's own reference remains until it ends the item */
		if (!is_ended)
			return &p->item;
	}
	h->is_amid = false;
	return NULL;
}

static struct piece *piece_new(struct parcel *p, size_t cap)
{
	struct piece *piece = malloc(sizeof(*piece) + cap);

	if (!piece)
		return NULL;
	*piece = (struct piece){ .parcel = p, .bytes = (uint8_t *)(piece + 1) };
	return piece;
}

static void add_piece(struct parcel *p, struct piece *piece, enum piece_kind kind, size_t n)
{
	piece->kind = kind;
	piece->n = (uint32_t)n;
	__atomic_add_fetch(&p->n_waiting, piece->n, __ATOMIC_RELAXED);
	inbox_chain_add(&p->sent, &piece->link);
}

void handover_flush(struct handover_item *item)
{
	struct parcel *p = parcel_of(item);

	inbox_put(&p->way->replies, &p->sent);
}

/* The last piece has been added: the receiver does not use the item any more. */
static void end_parcel(struct parcel *p)
{
	struct handover_way *way = p->way;

	handover_drop_message(&p->item);
	p->is_ended = true;
	handover_flush(&p->item);
	parcel_put(p);
	way_put(way);
}

static void end_item(struct parcel *p, struct piece *last, enum piece_kind kind, size_t n)
{
	add_piece(p, last, kind, n);
	end_parcel(p);
}

static struct piece *last_piece(struct parcel *p)
{
	p->end.parcel = p;
	return &p->end;
}

/* If there is no memory, or the reply is too long, it is lost, as on the network. */
void handover_reply(struct handover_item *item, const uint8_t *reply, size_t n)
{
	struct parcel *p = parcel_of(item);
	struct piece *piece = n && n <= p->item.reply_cap ? piece_new(p, n) : NULL;

	if (piece)
		memcpy(piece->bytes, reply, n);
	end_item(p, piece ? piece : last_piece(p), PIECE_LAST, piece ? n : 0);
}

void handover_close(struct handover_item *item)
{
	struct parcel *p = parcel_of(item);

	end_item(p, last_piece(p), PIECE_CLOSE, 0);
}

void handover_end(struct handover_item *item)
{
	struct parcel *p = parcel_of(item);

	if (p->sent.first) {
		piece_of(p->sent.first)->kind = PIECE_LAST; /* the newest */
		end_parcel(p);
	} else {
		handover_reply(item, NULL, 0);
	}
}

uint8_t *handover_begin(struct handover_item *item, size_t cap)
{
	struct parcel *p = parcel_of(item);

	free(p->open);
	p->open = piece_new(p, cap);
	return p->open ? p->open->bytes : NULL;
}

void handover_send(struct handover_item *item, size_t n)
{
	struct parcel *p = parcel_of(item);
	struct piece *piece = p->open;

	p->open = NULL;
	if (n)
		add_piece(p, piece, PIECE_MORE, n);
	else
		free(piece);
}

bool handover_has_room(const struct handover_item *item)
{
	const struct parcel *p = caa_container_of(item, const struct parcel, item);

	return __atomic_load_n(&p->n_waiting, __ATOMIC_RELAXED) < HANDOVER_HIGH;
}

void handover_ask(struct handover_item *item, size_t cap)
{
	struct parcel *p = parcel_of(item);

	p->ask_cap = cap;
	add_piece(p, last_piece(p), PIECE_ASK, 0);
	handover_flush(item);
}

/* ---- The worker: notes ----------------------------------------------------------------------- */

/* A note that is out already says the same. */
static void send_note(struct parcel *p, struct note *note, enum handover_event event)
{
	if (__atomic_exchange_n(&note->is_out, true, __ATOMIC_ACQ_REL))
		return;
	note->parcel = p;
	note->event = event;
	__atomic_add_fetch(&p->n_refs, 1, __ATOMIC_RELAXED);
	queue_link(&p->from->queue, &note->link);
}

/* Called when messages have left: the receiver makes more when few are left. */
static void count_gone(struct parcel *p, uint32_t n)
{
	uint32_t left = __atomic_sub_fetch(&p->n_waiting, n, __ATOMIC_RELAXED);

	if (left <= HANDOVER_LOW && left + n > HANDOVER_LOW)
		send_note(p, &p->room, HANDOVER_ROOM);
}

static void make_ready(struct parcel *p)
{
	if (p->first && cds_list_empty(&p->ready_link))
		cds_list_add_tail(&p->ready_link, &p->way->ready);
}

static void on_port(struct port_watch *watch, enum port_event event)
{
	struct parcel *p = caa_container_of(watch, struct parcel, watch);

	if (event == PORT_GONE)
		send_note(p, &p->gone, HANDOVER_GONE);
	make_ready(p);
	if (p->first)
		inbox_wake(&p->way->replies);
}

/* ---- The worker: replies --------------------------------------------------------------------- */

int handover_way_new(struct handover_way **out, handover_question_fn *question, void *ctx)
{
	struct handover_way *way = calloc(1, sizeof(*way));
	int err = way ? inbox_open(&way->replies) : -ENOMEM;

	if (err) {
		free(way);
		return err;
	}
	way->n_users = 1;
	way->question = question;
	way->ctx = ctx;
	CDS_INIT_LIST_HEAD(&way->out);
	CDS_INIT_LIST_HEAD(&way->ready);
	*out = way;
	return 0;
}

void handover_way_free(struct handover_way *way)
{
	if (way)
		way_put(way);
}

static struct piece *take_piece(struct parcel *p)
{
	struct piece *piece = p->first;

	p->first = piece->next;
	if (!p->first)
		p->last = &p->first;
	return piece;
}

static void ask_worker(struct handover_way *way, struct parcel *p, uint64_t now_ns)
{
	struct port_return to = p->to;

	(void)take_piece(p);
	to.cap = (uint32_t)p->ask_cap;
	if (to.port)
		way->question(way->ctx, &p->item, &to, now_ns);
	else
		handover_answer(&p->item, NULL, 0, false);
}

/* Sends the first messages of a parcel, in one call. */
static void send_run(struct parcel *p, struct piece **run, unsigned int n, uint64_t now_ns)
{
	struct port_reply replies[RUN_MAX];

	for (unsigned int i = 0; i < n; i++)
		replies[i] = (struct port_reply){
			.to = &p->to,
			.data = run[i]->bytes,
			.len = run[i]->n,
			.more = run[i]->kind == PIECE_MORE,
			.closes = run[i]->kind == PIECE_CLOSE,
		};
	if (p->to.port)
		(void)port_reply(p->to.port, now_ns, replies, n);
}

static bool can_send(const struct parcel *p)
{
	return !p->is_alone || !p->to.port || !p->first || p->first->kind == PIECE_CLOSE ||
	       port_has_room(p->to.port, &p->to);
}

/* A turn of a parcel. Returns the octets sent. */
static uint32_t send_turn(struct handover_way *way, struct parcel *p, uint64_t now_ns)
{
	struct piece *run[RUN_MAX];
	unsigned int n = 0;
	uint32_t n_bytes = 0;
	bool is_over = false;

	if (p->first->kind == PIECE_ASK) {
		ask_worker(way, p, now_ns);
		return 0;
	}
	while (p->first && n < RUN_MAX && !is_over) {
		run[n] = take_piece(p);
		is_over = run[n]->kind != PIECE_MORE;
		n_bytes += run[n++]->n;
	}
	send_run(p, run, n, now_ns);
	for (unsigned int i = 0; i < n; i++)
		piece_free(run[i]);
	if (is_over) {
		release_parcel(p);
		return n_bytes;
	}
	count_gone(p, n_bytes);
	if (can_send(p))
		make_ready(p);
	return n_bytes;
}

static void deliver_replies(void *ctx, uint64_t now_ns)
{
	struct handover_way *way = ctx;
	struct inbox_link *link = inbox_take(&way->replies), *next;
	uint32_t n_bytes = 0;

	for (; link; link = next) {
		next = link->next;
		append_piece(piece_of(link));
		if (can_send(piece_of(link)->parcel))
			make_ready(piece_of(link)->parcel);
	}
	while (!cds_list_empty(&way->ready) && n_bytes < TURN_BYTES) {
		struct parcel *p = cds_list_first_entry(&way->ready, struct parcel, ready_link);

		cds_list_del_init(&p->ready_link);
		n_bytes += RUN_COST + send_turn(way, p, now_ns);
	}
	if (!cds_list_empty(&way->ready))
		inbox_wake(&way->replies);
}

struct worker_source handover_source(struct handover_way *way)
{
	return (struct worker_source){ .fd = way->replies.fd,
				       .ready = deliver_replies,
				       .ctx = way };
}

void handover_port_gone(struct handover_way *way, const struct port *port)
{
	struct parcel *p;

	cds_list_for_each_entry(p, &way->out, out_link) {
		if (p->to.port != port)
			continue;
		p->to.port = NULL;
		send_note(p, &p->gone, HANDOVER_GONE);
		make_ready(p);
	}
	inbox_wake(&way->replies);
}

void handover_answer(struct handover_item *item, const uint8_t *answer, size_t n, bool closes)
{
	struct parcel *p = parcel_of(item);

	free(item->bytes);
	item->bytes = n ? malloc(n) : NULL;
	item->n_bytes = item->bytes ? n : 0;
	if (item->bytes)
		memcpy(item->bytes, answer, n);
	send_note(p, &p->came, closes ? HANDOVER_CLOSES : HANDOVER_ANSWERED);
}

/* ---- The worker: messages -------------------------------------------------------------------- */

static bool is_full(const struct handover *h, size_t n_bytes)
{
	return __atomic_load_n(&h->n_pending, __ATOMIC_RELAXED) >= HANDOVER_PENDING_MAX ||
	       __atomic_load_n(&h->n_bytes, __ATOMIC_RELAXED) + n_bytes > HANDOVER_PENDING_BYTES;
}

static struct parcel *parcel_new(struct handover *h, struct handover_way *way,
				 const struct port_msg *msg)
{
	struct parcel *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->item = (struct handover_item){
		.family = msg->family,
		.transport = msg->encrypted ? HANDOVER_TLS :
			     msg->stream    ? HANDOVER_TCP :
					      HANDOVER_UDP,
		.peer_port = msg->peer_port,
		.local_port = msg->local_port,
		.idle_100ms = msg->idle_100ms,
		.bytes = malloc(msg->len ? msg->len : 1),
		.n_bytes = msg->len,
	};
	if (!p->item.bytes) {
		free(p);
		return NULL;
	}
	memcpy(p->item.peer, msg->peer, sizeof(msg->peer));
	memcpy(p->item.local, msg->local, sizeof(msg->local));
	memcpy(p->item.bytes, msg->data, msg->len);
	p->from = h;
	p->way = way;
	p->n_refs = 2;
	p->is_pending = true;
	p->n_counted = msg->len;
	p->watch.tell = on_port;
	p->last = &p->first;
	CDS_INIT_LIST_HEAD(&p->ready_link);
	return p;
}

static void send_parcel(struct parcel *p, struct port *port, struct port_msg *msg)
{
	port_defer(port, msg, &p->to);
	msg->outcome = PORT_DEFERS;
	p->item.reply_cap = p->to.cap;
	if (p->to.is_tls13)
		p->item.transport = HANDOVER_TLS13;
	__atomic_add_fetch(&p->way->n_users, 1, __ATOMIC_RELAXED);
	cds_list_add_tail(&p->out_link, &p->way->out);
	__atomic_add_fetch(&p->from->n_pending, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&p->from->n_bytes, p->n_counted, __ATOMIC_RELAXED);
	send_note(p, &p->came, HANDOVER_MESSAGE);
}

/* Claims the connection of a message. 0, or the error of port_claim(). */
static int claim_stream(struct parcel *p, struct port *port, struct port_msg *msg, bool alone)
{
	int code = msg->stream ? port_claim(port, msg, alone ? &p->watch : NULL) : 0;

	p->is_alone = msg->stream && alone;
	p->item.is_first = code > 0;
	if (code >= 0)
		return 0;
	msg->outcome = code == -EAGAIN ? PORT_PUTS_BACK : PORT_CLOSES;
	return code;
}

bool handover_put(struct handover *h, struct handover_way *way, struct port *port,
		  struct port_msg *msg, bool alone)
{
	struct parcel *p = NULL;

	if (!is_full(h, msg->len) && port_can_defer(port))
		p = parcel_new(h, way, msg);
	if (!p) {
		msg->outcome = msg->stream ? PORT_CLOSES : PORT_REPLIES;
	} else if (!claim_stream(p, port, msg, alone)) {
		send_parcel(p, port, msg);
	} else {
		free(p->item.bytes);
		free(p);
		p = NULL;
	}
	msg->len = 0;
	return p || msg->outcome == PORT_PUTS_BACK;
}
