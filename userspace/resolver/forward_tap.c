/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_queries.h"

#include <netinet/in.h>
#include <string.h>

#include "resolver/forward_tcp.h"
#include "resolver/forward_udp.h"

static void read_address(const struct sockaddr_storage *from, uint8_t address[16], __be16 *port)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *in = (const struct sockaddr_in *)from;

	if (from->ss_family == AF_INET) {
		memcpy(address, &in->sin_addr, 4);
		*port = in->sin_port;
	} else if (from->ss_family == AF_INET6) {
		memcpy(address, &in6->sin6_addr, 16);
		*port = in6->sin6_port;
	}
}

/* We are the peer, which asks. The system chose our address when the socket was connected. */
static void set_ends(const struct forward_tap *tap, const struct forward_query *query,
		     struct tap_event *e)
{
	const struct sockaddr_storage *there = &tap->upstreams->all[query->upstream].address;
	const struct forward_channel *channel = query->channel;
	int fd = channel->is_tcp ? forward_tcp_fd(channel) : forward_udp_fd(channel);
	struct sockaddr_storage here = { 0 };
	socklen_t len = sizeof(here);

	if (!getsockname(fd, (struct sockaddr *)&here, &len))
		read_address(&here, e->peer, &e->peer_port);
	read_address(there, e->local, &e->local_port);
	e->way = TAP_FORWARDER;
	e->family = (uint8_t)there->ss_family;
	e->transport = !channel->is_tcp ? TAP_UDP : tap->is_tls ? TAP_TLS : TAP_TCP;
	e->lot = query->lot;
}

void forward_tap_query(const struct forward_tap *tap, struct forward_query *query,
		       const uint8_t *msg, size_t n, uint64_t now_ns)
{
	struct tap_event *e;

	query->lot = tap_draw_forwarder(tap->producer);
	if (!query->lot || !tap_wants_queries(tap->producer))
		return;
	e = tap_begin(tap->producer, msg, n, 0);
	if (!e)
		return;
	set_ends(tap, query, e);
	tap_date(e, now_ns);
	e->answered_ns = 0;
	tap_commit(tap->producer, e, NULL, 0);
}

void forward_tap_reply(const struct forward_tap *tap, const struct forward_query *query,
		       const uint8_t *msg, size_t n)
{
	struct tap_event *e;

	if (!query->lot || !tap->producer)
		return;
	e = tap_begin(tap->producer, NULL, 0, n);
	if (!e)
		return;
	set_ends(tap, query, e);
	tap_date(e, query->sent_ns);
	tap_commit(tap->producer, e, msg, n);
}
