/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wire.h"
#include "resolver/resolver_counters.h"

#define PORT_TRIES 32
/*
 * Upstreams without TCP send replies of any length. The distance of the places for them is no
 * multiple of 4096, so that the headers do not all compete for one set of the processor's cache.
 */
#define RECEIVE_BYTES   DNS_MESSAGE_MAX
#define RECEIVE_STRIDE  (RECEIVE_BYTES + 1 + 320)
#define RECEIVE_BURSTS  4 /* from one socket per event */
#define SOCKET_RX_BYTES (256 << 10)

struct forward_received {
	struct mmsghdr headers[FORWARD_BURST];
	struct iovec iovs[FORWARD_BURST];
	uint8_t bytes[FORWARD_BURST][RECEIVE_STRIDE]; /* pages that no reply needs stay untouched */
};

static struct forward_socket *socket_of(struct forward_channel *channel)
{
	return caa_container_of(channel, struct forward_socket, channel);
}

int forward_udp_fd(const struct forward_channel *channel)
{
	return caa_container_of(channel, struct forward_socket, channel)->fd;
}

static void close_forward_udp_socket(struct forward_socket *s)
{
	struct forward_burst *burst = &s->udp->bursts[s->channel.upstream];

	if (burst->socket == s)
		burst->n = 0; /* no reply to these is awaited */
	s->udp->n_refused -= s->is_refused;
	s->is_refused = false;
	event_del(s->event);
	close(s->fd);
	s->fd = -1;
	cds_list_add(&s->node, &s->udp->free);
}

static void close_if_done(struct forward_socket *s)
{
	if (s->is_current || s->channel.n_queries)
		return;
	cds_list_del(&s->node);
	close_forward_udp_socket(s);
}

void forward_udp_put(struct forward_udp *udp, struct forward_channel *channel, uint16_t id)
{
	struct forward_socket *s = socket_of(channel);

	(void)udp;
	s->past[s->n_past++] = id; /* the array has room for all queries of a socket */
	close_if_done(s);
}

static void retire_forward_udp(struct forward_socket *s)
{
	struct forward_socket **current = s->udp->current[s->channel.upstream];

	for (unsigned int i = 0; i < FORWARD_UDP_CURRENT; i++)
		if (current[i] == s)
			current[i] = NULL;
	s->is_current = false;
	cds_list_add_tail(&s->node, &s->udp->retired);
	close_if_done(s);
}

static bool is_guessed(const struct forward_socket *s)
{
	return s->n_wrong >= FORWARD_UDP_WRONG;
}

/* True if a message has the ID of one of the first n past queries of the socket. */
static bool is_of_past(const struct forward_socket *s, uint32_t n, const uint8_t *msg,
		       size_t n_bytes)
{
	uint16_t id;

	if (n_bytes < DNS_HEADER_BYTES)
		return false;
	id = wire_load_be16(msg + DNS_ID_AT);
	for (uint32_t i = 0; i < n; i++)
		if (s->past[i] == id)
			return true;
	return false;
}

/* Handles the messages of a burst. After the last guess that is allowed the rest is ignored. */
static void take_forward_udp_burst(struct forward_socket *s, unsigned int n, uint64_t now_ns)
{
	struct forward_received *received = s->udp->received;
	const struct forward_events *events = &s->udp->events;

	for (unsigned int i = 0; i < n && !is_guessed(s); i++) {
		size_t n_bytes = received->headers[i].msg_len;
		uint32_t n_past = s->n_past;
		bool is_reply = events->message(events->ctx, &s->channel, received->bytes[i],
						n_bytes, now_ns);

		s->n_wrong += !is_reply && !is_of_past(s, n_past, received->bytes[i], n_bytes);
	}
}

static void receive_forward_udp(struct forward_socket *s, uint64_t now_ns)
{
	const struct forward_events *events = &s->udp->events;
	int n = FORWARD_BURST;

	for (unsigned int i = 0; i < RECEIVE_BURSTS && n == FORWARD_BURST && !is_guessed(s); i++) {
		n = recvmmsg(s->fd, s->udp->received->headers, FORWARD_BURST, 0, NULL);
		if (n > 0)
			take_forward_udp_burst(s, (unsigned int)n, now_ns);
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			events->broken(events->ctx, &s->channel, FORWARD_REFUSED, now_ns);
	}
}

static void on_forward_udp_readable(evutil_socket_t fd, short what, void *user)
{
	struct forward_socket *s = user;
	const struct forward_events *events = &s->udp->events;
	uint64_t now_ns = clock_ns();

	(void)fd, (void)what;
	/* Keeps the socket open while it is being read, even if its last query is answered. */
	s->channel.n_queries++;
	receive_forward_udp(s, now_ns);
	if (is_guessed(s))
		events->broken(events->ctx, &s->channel, FORWARD_FORGED, now_ns);
	s->channel.n_queries--;
	if (s->is_current && is_guessed(s))
		retire_forward_udp(s);
	else
		close_if_done(s);
}

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET)
		((struct sockaddr_in *)address)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
}

static int bind_random(const struct forward_udp *udp, int fd, const struct upstream *u)
{
	struct sockaddr_storage any = { .ss_family = u->address.ss_family };

	for (unsigned int i = 0; i < PORT_TRIES; i++) {
		uint32_t n = udp->port_last - udp->port_first + 1U;

		set_port(&any, (uint16_t)(udp->port_first + random_below(udp->random, n)));
		if (!bind(fd, (struct sockaddr *)&any, u->address_bytes))
			return 0;
		if (errno != EADDRINUSE && errno != EACCES)
			break;
	}
	return -errno;
}

/* A descriptor or -errno. */
static int open_forward_udp_fd(const struct forward_udp *udp, const struct upstream *u)
{
	int fd = socket(u->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rx_bytes = SOCKET_RX_BYTES, code;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rx_bytes, sizeof(rx_bytes));
	code = bind_random(udp, fd, u);
	if (!code && connect(fd, (const struct sockaddr *)&u->address, u->address_bytes))
		code = -errno;
	if (!code)
		return fd;
	close(fd);
	return code;
}

static struct forward_socket *take_forward_udp_free(struct forward_udp *udp, uint64_t now_ns)
{
	struct forward_socket *s;

	if (cds_list_empty(&udp->free)) {
		/* There are more sockets than current ones of all upstreams, so one is retired. */
		s = cds_list_entry(udp->retired.next, struct forward_socket, node);
		s->channel.n_queries++;
		udp->events.broken(udp->events.ctx, &s->channel, FORWARD_LOST, now_ns);
		s->channel.n_queries--;
		close_if_done(s);
	}
	s = cds_list_entry(udp->free.next, struct forward_socket, node);
	cds_list_del(&s->node);
	return s;
}

static struct forward_socket *open_forward_udp_socket(struct forward_udp *udp, uint8_t upstream,
						      uint64_t now_ns)
{
	struct forward_socket *s = take_forward_udp_free(udp, now_ns);

	s->fd = open_forward_udp_fd(udp, &udp->upstreams->all[upstream]);
	if (s->fd >= 0) {
		event_assign(s->event, udp->base, s->fd, EV_READ | EV_PERSIST,
			     on_forward_udp_readable, s);
		if (!event_add(s->event, NULL)) {
			forward_channel_init(&s->channel, upstream, false);
			s->n_left = FORWARD_UDP_QUERIES;
			s->n_wrong = 0;
			s->n_past = 0;
			s->opened_ns = now_ns;
			s->is_current = true;
			resolver_count(udp->n_opened);
			return s;
		}
		close(s->fd);
		s->fd = -1;
	}
	cds_list_add(&s->node, &udp->free);
	return NULL;
}

static bool is_worn(const struct forward_socket *s, uint64_t now_ns)
{
	return !s->n_left || now_ns - s->opened_ns >= FORWARD_UDP_AGE_NS;
}

struct forward_channel *forward_udp_channel(struct forward_udp *udp, uint8_t upstream,
					    uint64_t now_ns)
{
	struct forward_burst *burst = &udp->bursts[upstream];
	struct forward_socket *s = burst->socket;

	if (!burst->n || burst->n == FORWARD_BURST || !s->is_current || is_worn(s, now_ns)) {
		uint32_t i = random_below(udp->random, FORWARD_UDP_CURRENT);

		s = udp->current[upstream][i];
		if (s && is_worn(s, now_ns))
			retire_forward_udp(s);
		s = udp->current[upstream][i];
		if (!s)
			s = udp->current[upstream][i] =
				open_forward_udp_socket(udp, upstream, now_ns);
		if (!s)
			return NULL;
	}
	s->n_left--;
	return &s->channel;
}

static void refuse_forward_udp(struct forward_socket *s)
{
	s->udp->n_refused += !s->is_refused;
	s->is_refused = true;
}

/* Queries that do not fit into the send queue are lost, as if on the network. */
static void flush_forward_udp(struct forward_udp *udp, struct forward_burst *burst)
{
	struct mmsghdr headers[FORWARD_BURST] = { 0 };
	struct iovec iovs[FORWARD_BURST];
	unsigned int n_sent = 0;

	for (unsigned int i = 0; i < burst->n; i++) {
		iovs[i] = (struct iovec){ burst->bytes[i], burst->n_bytes[i] };
		headers[i].msg_hdr.msg_iov = &iovs[i];
		headers[i].msg_hdr.msg_iovlen = 1;
	}
	while (n_sent < burst->n) {
		int n = sendmmsg(burst->socket->fd, headers + n_sent, burst->n - n_sent, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM)
				refuse_forward_udp(burst->socket);
			break;
		}
		n_sent += (unsigned int)n;
	}
	resolver_count_n(udp->n_sent, n_sent);
	burst->n = 0;
}

uint8_t *forward_udp_room(struct forward_udp *udp, struct forward_channel *channel)
{
	struct forward_burst *burst = &udp->bursts[channel->upstream];

	if (burst->n && (burst->n == FORWARD_BURST || burst->socket != socket_of(channel)))
		flush_forward_udp(udp, burst);
	burst->socket = socket_of(channel);
	return burst->bytes[burst->n];
}

void forward_udp_add(struct forward_udp *udp, struct forward_channel *channel, size_t n_bytes)
{
	struct forward_burst *burst = &udp->bursts[channel->upstream];

	burst->n_bytes[burst->n++] = (uint16_t)n_bytes;
}

bool forward_udp_end_round(struct forward_udp *udp, uint64_t now_ns)
{
	bool is_broken;

	for (unsigned int i = 0; i < udp->upstreams->n; i++)
		if (udp->bursts[i].n)
			flush_forward_udp(udp, &udp->bursts[i]);
	is_broken = udp->n_refused;
	for (unsigned int i = 0; i < FORWARD_UDP_SOCKETS && udp->n_refused; i++) {
		struct forward_socket *s = &udp->sockets[i];

		if (!s->is_refused)
			continue;
		s->is_refused = false;
		udp->n_refused--;
		s->channel.n_queries++;
		udp->events.broken(udp->events.ctx, &s->channel, FORWARD_REFUSED, now_ns);
		s->channel.n_queries--;
		close_if_done(s);
	}
	return is_broken;
}

static void init_received(struct forward_received *received)
{
	for (unsigned int i = 0; i < FORWARD_BURST; i++) {
		received->iovs[i] = (struct iovec){ received->bytes[i], RECEIVE_BYTES };
		received->headers[i].msg_hdr.msg_iov = &received->iovs[i];
		received->headers[i].msg_hdr.msg_iovlen = 1;
	}
}

int forward_udp_init(struct forward_udp *udp, const struct forward_udp_config *config)
{
	*udp = (struct forward_udp){
		.upstreams = config->upstreams,
		.random = config->random,
		.base = config->base,
		.events = config->events,
		.port_first = config->port_first ? config->port_first : 1024,
		.port_last = config->port_first ? config->port_last : UINT16_MAX,
		.n_sent = config->n_sent,
		.n_opened = config->n_opened,
		.received = calloc(1, sizeof(*udp->received)),
	};
	CDS_INIT_LIST_HEAD(&udp->free);
	CDS_INIT_LIST_HEAD(&udp->retired);
	if (!udp->received)
		return -ENOMEM;
	init_received(udp->received);
	for (unsigned int i = 0; i < FORWARD_UDP_SOCKETS; i++) {
		struct forward_socket *s = &udp->sockets[i];

		s->udp = udp;
		s->fd = -1;
		s->event =
			event_new(udp->base, -1, EV_READ | EV_PERSIST, on_forward_udp_readable, s);
		if (!s->event)
			return -ENOMEM;
		cds_list_add_tail(&s->node, &udp->free);
	}
	return 0;
}

void forward_udp_fini(struct forward_udp *udp)
{
	for (unsigned int i = 0; i < FORWARD_UDP_SOCKETS; i++) {
		struct forward_socket *s = &udp->sockets[i];

		if (s->event)
			event_free(s->event);
		if (s->event && s->fd >= 0)
			close(s->fd);
	}
	free(udp->received);
}
