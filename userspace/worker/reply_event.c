/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/reply_event.h"

#include <string.h>

static enum tap_transport transport_of_reply_event(const struct port_msg *m)
{
	return !m->stream ? TAP_UDP : m->encrypted ? TAP_TLS : TAP_TCP;
}

struct tap_event *reply_event_begin(struct tap_producer *p, const struct port_msg *m)
{
	struct tap_event *e = tap_begin(p, m->data, m->len, m->cap);

	if (!e)
		return NULL;
	e->way = TAP_WORKER;
	e->transport = (uint8_t)transport_of_reply_event(m);
	e->family = m->family;
	e->peer_port = m->peer_port;
	e->local_port = m->local_port;
	memcpy(e->peer, m->peer, sizeof(e->peer));
	memcpy(e->local, m->local, sizeof(e->local));
	return e;
}

void reply_event_end(struct tap_producer *p, struct tap_event *e, const uint8_t *reply, size_t n,
		     uint64_t asked_ns)
{
	tap_date(e, asked_ns);
	tap_commit(p, e, reply, n);
}

void reply_event_keep(struct reply_event *kept, const struct tap_event *e, uint64_t asked_ns)
{
	kept->event = *e;
	kept->event.way = TAP_UPSTREAM;
	kept->asked_ns = asked_ns;
	if (e->n_query <= REPLY_EVENT_QUERY_MAX)
		memcpy(kept->event.octets, tap_event_query(e), e->n_query);
}

void reply_event_late(struct tap_producer *p, const struct reply_event *kept, const uint8_t *reply,
		      size_t n)
{
	uint8_t rebuilt[REPLY_EVENT_QUERY_MAX];
	const uint8_t *query = tap_event_query(&kept->event);
	size_t n_query = kept->event.n_query;
	struct tap_event *e;

	if (n_query > REPLY_EVENT_QUERY_MAX) {
		query = rebuilt;
		n_query = tap_event_rebuild(rebuilt, sizeof(rebuilt), reply, n);
	}
	e = tap_begin(p, query, n_query, n);
	if (!e)
		return;
	n_query = e->n_query;
	*e = kept->event;
	e->n_query = (uint32_t)n_query;
	tap_date(e, kept->asked_ns);
	tap_commit(p, e, reply, n);
}
