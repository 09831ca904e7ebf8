/* SPDX-License-Identifier: GPL-2.0-only */
/* The tcp port's making: listener, slots, memory. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "port/tcp_port.h"

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

/* Accepted sockets inherit TCP_NODELAY. */
static int set_options(int fd, const struct tcp_config *config)
{
	int err = set(fd, SOL_SOCKET, SO_REUSEPORT, 1);

	err = err ? err : set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	err = err ? err : set(fd, IPPROTO_IP, IP_FREEBIND, 1);
	err = err ? err : set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (config->listen.family == AF_INET6)
		err = err ? err : set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	/* A wish: without it a handshake is one round trip longer. */
	if (config->fastopen)
		(void)set(fd, IPPROTO_TCP, TCP_FASTOPEN, (int)config->fastopen);
	return err;
}

static int open_listener(struct tcp_port *t, const struct tcp_config *config)
{
	int backlog = config->backlog ? (int)config->backlog : SOMAXCONN;
	char text[PORT_ADDR_TEXT_CAP];
	struct sockaddr_storage ss;
	socklen_t len = port_addr_to_sockaddr(&config->listen, &ss);
	int err;

	t->listen_fd = socket(config->listen.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (t->listen_fd < 0)
		return -errno;
	err = set_options(t->listen_fd, config);
	if (err)
		return err;
	if (bind(t->listen_fd, (struct sockaddr *)&ss, len) || listen(t->listen_fd, backlog) ||
	    getsockname(t->listen_fd, (struct sockaddr *)&ss, &len))
		return -errno;
	err = port_addr_from_sockaddr(&t->local, (struct sockaddr *)&ss);
	snprintf(t->port.name, sizeof(t->port.name), "tcp %s", port_addr_text(&t->local, text));
	return err;
}

static int open_epoll(struct tcp_port *t)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = TCP_LISTENER_TAG };

	t->port.fd = epoll_create1(EPOLL_CLOEXEC);
	if (t->port.fd < 0 || epoll_ctl(t->port.fd, EPOLL_CTL_ADD, t->listen_fd, &event))
		return -errno;
	return 0;
}

void tcp_port_watch_listener(struct tcp_port *t, bool on)
{
	struct epoll_event event = { .events = on ? EPOLLIN : 0, .data.u64 = TCP_LISTENER_TAG };

	if (t->listen_fd >= 0)
		(void)epoll_ctl(t->port.fd, EPOLL_CTL_MOD, t->listen_fd, &event);
}

/* Memory that costs nothing until it is written to. */
static uint8_t *reserve(size_t n_bytes)
{
	void *area = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return area == MAP_FAILED ? NULL : area;
}

static int make_slots(struct tcp_port *t)
{
	t->conns = calloc(t->n_conns_max, sizeof(*t->conns));
	t->in = reserve((size_t)t->n_conns_max * TCP_IN_BYTES);
	t->buffers = reserve((size_t)TCP_BURST * TCP_BUFFER_BYTES);
	if (!t->conns || !t->in || !t->buffers)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_conns_max; i++) {
		struct tcp_conn *c = &t->conns[i];

		c->fd = -1;
		c->in = t->in + (size_t)i * TCP_IN_BYTES;
		CDS_INIT_LIST_HEAD(&c->ready_link);
		cds_list_add_tail(&c->timer_link, &t->free);
	}
	return 0;
}

static uint64_t ns_of(uint32_t ms, uint32_t preset_ms)
{
	return (ms ? ms : preset_ms) * (uint64_t)CLOCK_NS_PER_MS;
}

static int init(struct tcp_port *t, const struct tcp_config *config)
{
	uint32_t pool_bytes = config->pool_bytes ? config->pool_bytes : TCP_POOL_BYTES_DEFAULT;
	int err;

	t->port = (struct port){ .ops = &tcp_ops, .kind = PORT_TCP, .fd = -1 };
	t->listen_fd = -1;
	t->resume_at_ns = PORT_NEVER;
	t->queries_max = config->queries_max;
	t->n_conns_max = config->n_conns_max ? config->n_conns_max : TCP_CONNS_DEFAULT;
	t->timeout_ns[TCP_IDLE] = ns_of(config->idle_ms, TCP_IDLE_MS_DEFAULT);
	t->timeout_ns[TCP_PARTIAL] = ns_of(config->message_ms, TCP_MESSAGE_MS_DEFAULT);
	t->timeout_ns[TCP_WRITING] = ns_of(config->write_ms, TCP_WRITE_MS_DEFAULT);
	CDS_INIT_LIST_HEAD(&t->free);
	CDS_INIT_LIST_HEAD(&t->ready);
	for (int i = 0; i < TCP_N_TIMERS; i++)
		CDS_INIT_LIST_HEAD(&t->timers[i]);
	if (pool_bytes < TCP_POOL_BYTES_MIN)
		return -EINVAL;
	err = tcp_pool_init(&t->pool, pool_bytes);
	err = err ? err : make_slots(t);
	err = err ? err : open_listener(t, config);
	return err ? err : open_epoll(t);
}

void tcp_port_fini(struct tcp_port *t)
{
	if (t->listen_fd >= 0)
		close(t->listen_fd);
	if (t->port.fd >= 0)
		close(t->port.fd);
	if (t->in)
		munmap(t->in, (size_t)t->n_conns_max * TCP_IN_BYTES);
	if (t->buffers)
		munmap(t->buffers, (size_t)TCP_BURST * TCP_BUFFER_BYTES);
	tcp_pool_fini(&t->pool);
	free(t->conns);
}

int tcp_open(struct port **out, const struct tcp_config *config)
{
	struct tcp_port *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	err = init(t, config);
	if (err) {
		port_close(&t->port);
		return err;
	}
	*out = &t->port;
	return 0;
}

void tcp_port_addr(const struct port *p, struct port_addr *out)
{
	*out = ((const struct tcp_port *)p)->local;
}

uint32_t tcp_n_conns(const struct port *p)
{
	return (uint32_t)(port_counter(&p->stats.conns_opened) -
			  port_counter(&p->stats.conns_closed));
}
