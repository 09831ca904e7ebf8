/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared code of all ports: counters, names, and destinations of late replies. */
#include "port/port.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

void port_defer(struct port *p, const struct port_msg *msg, struct port_return *out)
{
	assert(port_can_defer(p));
	*out = (struct port_return){
		.port = p,
		.cap = msg->cap,
		.slot = msg->slot,
		.gen = msg->gen,
		.ifindex = msg->ifindex,
		.family = msg->family,
		.stream = msg->stream,
		.peer_port = msg->peer_port,
		.local_port = msg->local_port,
	};
	memcpy(out->peer, msg->peer, sizeof(out->peer));
	memcpy(out->local, msg->local, sizeof(out->local));
	if (p->ops->defer)
		p->ops->defer(p, msg, out);
}

unsigned int port_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			unsigned int n)
{
	unsigned int n_more = 0;

	assert(n <= PORT_BURST);
	for (unsigned int i = 0; i < n; i++) {
		assert(replies[i].to->port == p && replies[i].len <= replies[i].to->cap);
		n_more += replies[i].more;
	}
	assert(n - n_more <= port_deferred(p));
	port_count(&p->stats.late, n - n_more);
	port_count(&p->stats.more, n_more);
	return p->ops->reply(p, now_ns, replies, n);
}

int port_claim(struct port *p, const struct port_msg *msg, struct port_watch *watch)
{
	return p->ops->claim && msg->stream ? p->ops->claim(p, msg, watch) : -EOPNOTSUPP;
}

void port_stats_read(const struct port *p, struct port_stats *out)
{
#define PORT_COUNTER(name, text) out->name = port_counter(&p->stats.name);
	PORT_COUNTER_LIST(PORT_COUNTER)
#undef PORT_COUNTER
}

const char *port_kind_text(enum port_kind kind)
{
	static const char *const texts[] = {
#define PORT_KIND(name, text) text,
		PORT_KIND_LIST(PORT_KIND)
#undef PORT_KIND
	};

	return (unsigned int)kind < PORT_N_KINDS ? texts[kind] : "unknown";
}
