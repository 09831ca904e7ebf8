/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Set-up of the tcp port: listeners, slots, memory. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "port/privileged.h"
#include "port/tcp.h"
#include "port/tcp_port.h"

static int set_tcp_listener(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

/* Accepted sockets inherit TCP_NODELAY and TCP_NOTSENT_LOWAT. */
static int set_tcp_listener_options(int fd, const struct port_addr *addr,
				    const struct tcp_config *config)
{
	int err = set_tcp_listener(fd, SOL_SOCKET, SO_REUSEPORT, 1);

	err = err ? err : set_tcp_listener(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	err = err ? err : set_tcp_listener(fd, IPPROTO_IP, IP_FREEBIND, 1);
	err = err ? err : set_tcp_listener(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	/* Limits the octets of a slow reader in the kernel, except those on their way. */
	err = err ? err :
		    set_tcp_listener(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)TCP_UNSENT_BYTES);
	if (addr->family == AF_INET6)
		err = err ? err : set_tcp_listener(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	/* A failure is no error: without it a handshake takes one round trip more. */
	if (config->fastopen)
		(void)set_tcp_listener(fd, IPPROTO_TCP, TCP_FASTOPEN, (int)config->fastopen);
	return err;
}

int tcp_listener_open(const struct port *p, const struct port_addr *addr)
{
	const struct tcp_config *config = &((const struct tcp_port *)p)->config;
	int backlog = config->backlog ? (int)config->backlog : SOMAXCONN, err;
	int fd = socket(addr->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	err = set_tcp_listener_options(fd, addr, config);
	if (!err)
		err = port_bind(fd, addr);
	if (!err && listen(fd, backlog))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int watch_tcp_listener(struct tcp_port *t, int op, int fd, uint64_t tag, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u64 = tag };

	return epoll_ctl(t->port.fd, op, fd, &event) ? -errno : 0;
}

/* NULL: there is none. */
static const struct tcp_listener *first_listener(const struct tcp_port *t)
{
	for (uint32_t i = 0; i < t->n_listeners; i++)
		if (t->listeners[i].fd >= 0)
			return &t->listeners[i];
	return NULL;
}

/* "tcp 192.0.2.1@53", and the number of further addresses. */
void tcp_set_name(struct port *p)
{
	struct tcp_port *t = (struct tcp_port *)p;
	const struct tcp_listener *first = first_listener(t);
	char text[PORT_ADDR_TEXT_CAP] = "", more[16] = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_listeners; i++)
		n += t->listeners[i].fd >= 0;
	if (n > 1)
		snprintf(more, sizeof(more), " +%u", n - 1);
	if (first)
		port_addr_text(&first->at, text);
	snprintf(t->port.name, sizeof(t->port.name), "tcp %s%s", text, more);
}

/* Returns a place whose fd is -1, or NULL and *err. */
static struct tcp_listener *take_tcp_listener_place(struct tcp_port *t, int *err)
{
	struct tcp_listener *places;

	for (uint32_t i = 0; i < t->n_listeners; i++)
		if (t->listeners[i].fd < 0)
			return &t->listeners[i];
	*err = t->n_listeners == TCP_LISTENERS_MAX ? -ENOSPC : -ENOMEM;
	if (t->n_listeners == TCP_LISTENERS_MAX)
		return NULL;
	places = realloc(t->listeners, (t->n_listeners + 1) * sizeof(*places));
	if (!places)
		return NULL;
	t->listeners = places;
	places[t->n_listeners].fd = -1;
	return &places[t->n_listeners++];
}

static uint64_t tag_of_tcp_listener(const struct tcp_port *t, const struct tcp_listener *l)
{
	return TCP_LISTENER_TAG - (uint64_t)(l - t->listeners);
}

static int bound_tcp_addr(int fd, struct port_addr *bound)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len))
		return -errno;
	return port_addr_from_sockaddr(bound, (struct sockaddr *)&ss);
}

static int watch_new_listener(struct tcp_port *t, int fd)
{
	int err = -ENOSPC;
	struct tcp_listener *l = take_tcp_listener_place(t, &err);

	if (!l)
		return err;
	err = bound_tcp_addr(fd, &l->at);
	if (!err)
		err = watch_tcp_listener(t, EPOLL_CTL_ADD, fd, tag_of_tcp_listener(t, l),
					 t->resume_at_ns == PORT_NEVER ? EPOLLIN : 0);
	if (!err)
		l->fd = fd;
	return err;
}

int tcp_listener_add(struct port *p, int fd)
{
	int err = watch_new_listener((struct tcp_port *)p, fd);

	if (err)
		close(fd);
	return err;
}

int tcp_listen(struct port *p, const struct port_addr *addr)
{
	int fd = tcp_listener_open(p, addr);

	return fd < 0 ? fd : tcp_listener_add(p, fd);
}

void tcp_port_close_listener(struct tcp_port *t, struct tcp_listener *l)
{
	if (l->fd < 0)
		return;
	tcp_port_accept(t, (uint32_t)(l - t->listeners), t->now_ns);
	(void)epoll_ctl(t->port.fd, EPOLL_CTL_DEL, l->fd, NULL);
	close(l->fd);
	l->fd = -1;
}

int tcp_unlisten(struct port *p, const struct port_addr *addr)
{
	struct tcp_port *t = (struct tcp_port *)p;

	for (uint32_t i = 0; i < t->n_listeners; i++) {
		struct tcp_listener *l = &t->listeners[i];

		if (l->fd < 0 || !port_addr_is_same(&l->at, addr))
			continue;
		tcp_port_close_listener(t, l);
		return 0;
	}
	return -ENOENT;
}

void tcp_port_watch_listeners(struct tcp_port *t, bool on)
{
	for (uint32_t i = 0; i < t->n_listeners; i++)
		if (t->listeners[i].fd >= 0)
			(void)watch_tcp_listener(t, EPOLL_CTL_MOD, t->listeners[i].fd,
						 tag_of_tcp_listener(t, &t->listeners[i]),
						 on ? EPOLLIN : 0);
}

/* Opens the epoll, and the eventfd in it by which other ports wake this one. */
static int open_tcp_listener_fds(struct tcp_port *t)
{
	t->port.fd = epoll_create1(EPOLL_CLOEXEC);
	t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->port.fd < 0 || t->wake_fd < 0)
		return -errno;
	return watch_tcp_listener(t, EPOLL_CTL_ADD, t->wake_fd, TCP_WAKE_TAG, EPOLLIN);
}

static int open_intake(struct tcp_port *t)
{
	if (!t->config.intake)
		return 0;
	t->port.kind = PORT_TLS;
	snprintf(t->port.name, sizeof(t->port.name), "tls");
	t->arrivals.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->arrivals.fd < 0)
		return -errno;
	return watch_tcp_listener(t, EPOLL_CTL_ADD, t->arrivals.fd, TCP_INTAKE_TAG, EPOLLIN);
}

/* Memory that is not allocated before it is written to. */
static uint8_t *reserve_tcp_listener(size_t n_bytes)
{
	void *area = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return area == MAP_FAILED ? NULL : area;
}

static int make_slots(struct tcp_port *t)
{
	t->conns = (struct tcp_conn *)(void *)reserve_tcp_listener(t->n_slots * sizeof(*t->conns));
	t->in = reserve_tcp_listener((size_t)t->n_slots * TCP_IN_BYTES);
	t->buffers = reserve_tcp_listener((size_t)TCP_BURST * TCP_BUFFER_BYTES);
	return t->conns && t->in && t->buffers ? 0 : -ENOMEM;
}

static int join_tcp_listener(struct tcp_port *t, const struct tcp_config *config)
{
	uint32_t n_max = config->n_conns_max ? config->n_conns_max : TCP_CONNS_DEFAULT;
	int err = config->share ? 0 : tcp_share_new(&t->own_share, n_max, 0, 1);

	if (err)
		return err;
	t->share = config->share ? config->share : t->own_share;
	t->n_slots = tcp_share_cap(t->share) + (config->peers ? tcp_peers_cap(config->peers) : 0);
	err = tcp_share_join(t->share, t->wake_fd);
	if (err || !config->peers)
		return err;
	t->as_peers = (struct tcp_peers_port){ .wake_fd = t->wake_fd, .rank = TCP_PEERS_NONE };
	return tcp_peers_join(config->peers, &t->as_peers);
}

static uint64_t ns_of(uint32_t ms, uint32_t preset_ms)
{
	return (ms ? ms : preset_ms) * (uint64_t)CLOCK_NS_PER_MS;
}

static void init_lists(struct tcp_port *t)
{
	CDS_INIT_LIST_HEAD(&t->free);
	CDS_INIT_LIST_HEAD(&t->ready);
	for (int i = 0; i < TCP_N_TIMERS; i++)
		for (enum tcp_class class = 0; class < TCP_N_CLASSES; class ++)
			CDS_INIT_LIST_HEAD(&t->timers[class][i]);
	for (unsigned int i = 0; i < TCP_CLIENT_LISTS; i++)
		CDS_INIT_LIST_HEAD(&t->clients[i]);
}

static void init_timeouts(struct tcp_port *t, const struct tcp_config *config)
{
	for (enum tcp_class class = 0; class < TCP_N_CLASSES; class ++) {
		uint64_t *timeouts = t->timeout_ns[class];

		timeouts[TCP_IDLE] = ns_of(config->idle_ms, TCP_IDLE_MS_DEFAULT);
		timeouts[TCP_NEW] = timeouts[TCP_IDLE];
		timeouts[TCP_PARTIAL] = ns_of(config->message_ms, TCP_MESSAGE_MS_DEFAULT);
		timeouts[TCP_WRITING] = ns_of(config->write_ms, TCP_WRITE_MS_DEFAULT);
	}
	if (config->peers) {
		t->timeout_ns[TCP_PEERS][TCP_PARTIAL] = TCP_PEER_MESSAGE_MS * CLOCK_NS_PER_MS;
		t->timeout_ns[TCP_PEERS][TCP_WRITING] = TCP_PEER_WRITE_MS * CLOCK_NS_PER_MS;
	}
}

static int init_tcp_listener(struct tcp_port *t, const struct tcp_config *config)
{
	uint32_t pool_bytes = config->pool_bytes ? config->pool_bytes : TCP_POOL_BYTES_DEFAULT;
	int err;

	t->port = (struct port){ .ops = &tcp_ops, .kind = PORT_TCP, .fd = -1 };
	t->wake_fd = t->arrivals.fd = -1;
	t->config = *config;
	t->scale[TCP_CLIENTS] = t->scale[TCP_PEERS] = TCP_SHARE_SCALE_FULL;
	t->resume_at_ns = PORT_NEVER;
	t->queries_max = config->queries_max;
	init_timeouts(t, config);
	init_lists(t);
	if (pool_bytes < TCP_POOL_BYTES_MIN)
		return -EINVAL;
	err = tcp_pool_init(&t->pool, pool_bytes);
	err = err ? err : open_tcp_listener_fds(t);
	err = err ? err : open_intake(t);
	err = err ? err : join_tcp_listener(t, config);
	return err ? err : make_slots(t);
}

static void unmap(void *area, size_t n_bytes)
{
	if (area)
		munmap(area, n_bytes);
}

static void drop_arrivals(struct tcp_port *t)
{
	struct tcp_arrival *a, *next;

	if (t->arrivals.fd < 0)
		return;
	for (a = tcp_intake_take(&t->arrivals); a; a = next) {
		next = a->next;
		tcp_arrival_drop(a);
	}
	close(t->arrivals.fd);
}

void tcp_port_fini(struct tcp_port *t)
{
	for (uint32_t i = 0; i < t->n_listeners; i++)
		if (t->listeners[i].fd >= 0)
			close(t->listeners[i].fd);
	free(t->listeners);
	drop_arrivals(t);
	if (t->share)
		tcp_share_leave(t->share, t->wake_fd);
	if (t->config.peers)
		tcp_peers_leave(t->config.peers, &t->as_peers);
	tcp_share_free(t->own_share);
	if (t->port.fd >= 0)
		close(t->port.fd);
	if (t->wake_fd >= 0)
		close(t->wake_fd);
	unmap(t->conns, t->n_slots * sizeof(*t->conns));
	unmap(t->in, (size_t)t->n_slots * TCP_IN_BYTES);
	unmap(t->buffers, (size_t)TCP_BURST * TCP_BUFFER_BYTES);
	tcp_pool_fini(&t->pool);
}

int tcp_open(struct port **out, const struct tcp_config *config)
{
	struct tcp_port *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	err = init_tcp_listener(t, config);
	if (err) {
		port_close(&t->port);
		return err;
	}
	*out = &t->port;
	return 0;
}
