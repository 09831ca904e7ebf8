/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/relay.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <urcu/compiler.h>

#define MESSAGE_MAX 65535u

struct relay_port {
	struct port port; /* first */
	struct relay *relay;
	struct inbox inbox;
	struct inbox_link *waiting; /* taken from the inbox, and not received yet */
	uint32_t n_free;
	uint16_t free[RELAY_PENDING_MAX];
	struct relay_item *slots[RELAY_PENDING_MAX]; /* items that the worker has received */
	uint8_t buffers[RELAY_BURST][MESSAGE_MAX];
};

_Static_assert(RELAY_PENDING_MAX <= UINT16_MAX, "a slot's number has 16 bits");

/* The ports of one kind. */
struct relay_ports {
	struct relay_port **at;
	unsigned int n, cap;
};

enum { OVER_TCP, OVER_TLS, N_RELAY_KINDS };

struct relay {
	pthread_mutex_t lock; /* guards ports */
	struct relay_ports ports[N_RELAY_KINDS];
	struct inbox replies;
	/* Only the owner uses these. */
	uint32_t n_pending;
	uint64_t n_bytes;
};

/* ---- The owner ------------------------------------------------------------------------------- */

int relay_new(struct relay **out)
{
	struct relay *relay = calloc(1, sizeof(*relay));
	int err = relay ? inbox_open(&relay->replies) : -ENOMEM;

	if (err) {
		free(relay);
		return err;
	}
	pthread_mutex_init(&relay->lock, NULL);
	*out = relay;
	return 0;
}

void relay_free(struct relay *relay)
{
	struct relay_item *item, *next;

	if (!relay)
		return;
	for (item = relay_take(relay); item; item = next) {
		next = relay_next(item);
		free(item->bytes);
		free(item);
	}
	inbox_close(&relay->replies);
	pthread_mutex_destroy(&relay->lock);
	for (int i = 0; i < N_RELAY_KINDS; i++)
		free(relay->ports[i].at);
	free(relay);
}

int relay_fd(const struct relay *relay)
{
	return relay->replies.fd;
}

static bool put_into(struct relay_port *p, struct relay_item *item)
{
	struct inbox_chain chain = { 0 };

	inbox_chain_add(&chain, &item->link);
	inbox_put(&p->inbox, &chain);
	return true;
}

bool relay_put(struct relay *relay, struct relay_item *item, unsigned int number)
{
	const struct relay_ports *ports = &relay->ports[item->encrypted ? OVER_TLS : OVER_TCP];
	bool is_put = false;

	assert(item->reply_cap <= MESSAGE_MAX && item->n_bytes <= item->reply_cap);
	if (relay->n_pending >= RELAY_PENDING_MAX ||
	    relay->n_bytes + item->n_bytes > RELAY_PENDING_BYTES)
		return false;
	item->n_bytes_in = item->n_bytes;
	pthread_mutex_lock(&relay->lock);
	if (ports->n)
		is_put = put_into(ports->at[number % ports->n], item);
	pthread_mutex_unlock(&relay->lock);
	relay->n_pending += is_put;
	/* another thread may have changed item->n_bytes already */
	relay->n_bytes += is_put ? item->n_bytes_in : 0;
	return is_put;
}

struct relay_item *relay_take(struct relay *relay)
{
	struct relay_item *first = (struct relay_item *)(void *)inbox_take(&relay->replies);

	for (struct relay_item *item = first; item; item = relay_next(item)) {
		relay->n_pending--;
		relay->n_bytes -= item->n_bytes_in;
	}
	return first;
}

/* ---- A worker's port ------------------------------------------------------------------------- */

static struct relay_port *port_of(const struct port *port)
{
	return caa_container_of(port, struct relay_port, port);
}

static void receive_one(struct relay_port *p, struct relay_item *item, uint8_t *buffer,
			struct port_msg *msg)
{
	uint16_t slot = p->free[--p->n_free];

	p->slots[slot] = item;
	*msg = (struct port_msg){
		.data = buffer,
		.len = item->n_bytes,
		.cap = item->reply_cap,
		.family = item->family,
		.stream = true,
		.encrypted = item->encrypted,
		.idle_100ms = item->idle_100ms,
		.peer_port = item->peer_port,
		.local_port = item->local_port,
		.slot = slot,
	};
	memcpy(msg->peer, item->peer, sizeof(msg->peer));
	memcpy(msg->local, item->local, sizeof(msg->local));
	memcpy(buffer, item->bytes, item->n_bytes);
	port_count(&p->port.stats.rx, 1);
	port_count(&p->port.stats.rx_bytes, item->n_bytes);
	free(item->bytes);
	item->bytes = NULL;
	item->n_bytes = 0;
}

/* A free slot always exists: there are as many slots as items may be out. */
static unsigned int receive(struct port *port, uint64_t now_ns, struct port_msg *msgs,
			    unsigned int n_cap)
{
	struct relay_port *p = port_of(port);
	unsigned int n = 0;

	(void)now_ns;
	if (!p->waiting)
		p->waiting = inbox_take(&p->inbox);
	while (p->waiting && n < n_cap && n < RELAY_BURST) {
		struct relay_item *item = (struct relay_item *)(void *)p->waiting;

		p->waiting = p->waiting->next;
		receive_one(p, item, p->buffers[n], &msgs[n]);
		n++;
	}
	return n;
}

/* Gives the item in a slot back, with a copy of the reply. True if it has a reply. */
static bool give_back(struct relay_port *p, uint32_t slot, const uint8_t *reply, uint32_t n_bytes,
		      struct inbox_chain *chain)
{
	struct port_stats *stats = &p->port.stats;
	struct relay_item *item = p->slots[slot];

	item->bytes = n_bytes ? malloc(n_bytes) : NULL;
	if (item->bytes) {
		memcpy(item->bytes, reply, n_bytes);
		item->n_bytes = n_bytes;
		port_count(&stats->tx, 1);
		port_count(&stats->tx_bytes, n_bytes);
	} else if (n_bytes) {
		port_count(&stats->tx_dropped, 1);
	}
	p->slots[slot] = NULL;
	p->free[p->n_free++] = (uint16_t)slot;
	inbox_chain_add(chain, &item->link);
	return item->bytes;
}

static void send_back(struct port *port, uint64_t now_ns, struct port_msg *msgs, unsigned int n)
{
	struct relay_port *p = port_of(port);
	struct inbox_chain chain = { 0 };

	(void)now_ns;
	for (unsigned int i = 0; i < n; i++) {
		if (!msgs[i].len)
			port_count_unsent(port, &msgs[i]);
		if (msgs[i].deferred)
			continue;
		p->slots[msgs[i].slot]->closes = msgs[i].closes;
		(void)give_back(p, msgs[i].slot, msgs[i].data, msgs[i].len, &chain);
	}
	inbox_put(&p->relay->replies, &chain);
}

static unsigned int reply_late(struct port *port, uint64_t now_ns, const struct port_reply *replies,
			       unsigned int n)
{
	struct relay_port *p = port_of(port);
	struct inbox_chain chain = { 0 };
	unsigned int n_sent = 0;

	(void)now_ns;
	for (unsigned int i = 0; i < n; i++) {
		if (!replies[i].len)
			port_count(&port->stats.no_reply, 1);
		n_sent +=
			give_back(p, replies[i].to->slot, replies[i].data, replies[i].len, &chain);
	}
	inbox_put(&p->relay->replies, &chain);
	return n_sent;
}

static uint64_t wake_at(struct port *port)
{
	return port_of(port)->waiting ? 0 : PORT_NEVER;
}

static struct relay_ports *ports_of(const struct relay_port *p)
{
	return &p->relay->ports[p->port.kind == PORT_TLS ? OVER_TLS : OVER_TCP];
}

static int add_port(struct relay_ports *ports, struct relay_port *p)
{
	struct relay_port **at = ports->at;

	if (ports->n == ports->cap) {
		at = realloc(at, (ports->cap + 16) * sizeof(*at));
		if (!at)
			return -ENOMEM;
		ports->at = at;
		ports->cap += 16;
	}
	ports->at[ports->n++] = p;
	return 0;
}

/* Adds the port to the ports that relay_put() uses. */
static int start(struct port *port)
{
	struct relay_port *p = port_of(port);
	int err;

	pthread_mutex_lock(&p->relay->lock);
	err = add_port(ports_of(p), p);
	pthread_mutex_unlock(&p->relay->lock);
	return err;
}

static void stop(struct port *port)
{
	struct relay_port *p = port_of(port);
	struct relay_ports *ports = ports_of(p);

	pthread_mutex_lock(&p->relay->lock);
	for (unsigned int i = 0; i < ports->n; i++) {
		if (ports->at[i] == p) {
			ports->at[i] = ports->at[--ports->n];
			break;
		}
	}
	pthread_mutex_unlock(&p->relay->lock);
}

static void bounce(struct inbox_chain *chain, struct relay_item *item)
{
	free(item->bytes);
	item->bytes = NULL;
	item->n_bytes = 0;
	inbox_chain_add(chain, &item->link);
}

static void bounce_all(struct inbox_chain *chain, struct inbox_link *link)
{
	struct inbox_link *next;

	for (; link; link = next) {
		next = link->next;
		bounce(chain, (struct relay_item *)(void *)link);
	}
}

static void close_port(struct port *port)
{
	struct relay_port *p = port_of(port);
	struct inbox_chain chain = { 0 };

	bounce_all(&chain, p->waiting);
	bounce_all(&chain, inbox_take(&p->inbox));
	for (unsigned int i = 0; i < RELAY_PENDING_MAX; i++)
		if (p->slots[i])
			bounce(&chain, p->slots[i]);
	inbox_put(&p->relay->replies, &chain);
	inbox_close(&p->inbox);
	free(p);
}

static const struct port_ops relay_ops = {
	.receive = receive,
	.send = send_back,
	.reply = reply_late,
	.start = start,
	.stop = stop,
	.wake_at = wake_at,
	.close = close_port,
};

int relay_open_port(struct port **out, struct relay *relay, enum port_kind kind)
{
	struct relay_port *p = calloc(1, sizeof(*p));
	int err = p ? inbox_open(&p->inbox) : -ENOMEM;

	if (err) {
		free(p);
		return err;
	}
	p->port = (struct port){
		.ops = &relay_ops, .kind = kind, .fd = p->inbox.fd, .is_relay = true
	};
	snprintf(p->port.name, sizeof(p->port.name), "relay");
	p->relay = relay;
	for (uint16_t i = 0; i < RELAY_PENDING_MAX; i++)
		p->free[p->n_free++] = i;
	*out = &p->port;
	return 0;
}
