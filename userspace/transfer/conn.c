/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/conn.h"

#include <event2/buffer.h>

#include "base/wire.h"
#include "transfer/primary_state.h"

/* True while a reply is still to come. */
static bool is_awaited(const struct conn *c)
{
	return c->is_busy || c->n_asked;
}

void conn_set_timeouts(struct conn *c)
{
	const struct primary_settings *settings = c->t->primary->settings;
	const struct timeval in = { .tv_sec = settings ? settings->idle_s : SERVER_IDLE_S };
	const struct timeval out = { .tv_sec = SERVER_WRITE_S };

	(void)bufferevent_set_timeouts(c->bev, is_awaited(c) ? NULL : &in, &out);
}

void conn_move(struct conn *c)
{
	struct server *s = c->t->primary->server;

	cds_list_del(&c->link);
	cds_list_add_tail(&c->link, is_awaited(c) ? &s->busy : &s->idle);
}

void conn_turn_soon(struct conn *c)
{
	event_active(c->on_turn, EV_TIMEOUT, 0);
}

void conn_hold(struct conn *c)
{
	c->is_busy = true;
	conn_move(c);
	conn_set_timeouts(c);
}

void conn_release(struct conn *c)
{
	c->is_busy = false;
	conn_move(c);
	conn_set_timeouts(c);
	conn_turn_soon(c);
}

void conn_asked(struct conn *c)
{
	if (!c->n_asked++)
		conn_set_timeouts(c);
	conn_move(c);
}

void conn_answered(struct conn *c)
{
	if (!--c->n_asked)
		conn_set_timeouts(c);
	conn_move(c);
	conn_turn_soon(c);
}

void conn_end(struct conn *c)
{
	c->is_ended = true;
	conn_turn_soon(c);
}

void conn_send(struct conn *c, const uint8_t *msg, size_t n)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	uint8_t prefix[CONN_PREFIX_BYTES];

	wire_store_be16(prefix, (uint16_t)n);
	if (evbuffer_expand(out, CONN_PREFIX_BYTES + n) ||
	    evbuffer_add(out, prefix, CONN_PREFIX_BYTES) || evbuffer_add(out, msg, n))
		conn_end(c);
}
