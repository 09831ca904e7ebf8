/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slot holds all that the kernel needs for one datagram: header, address, pktinfo, buffer. A
 * reply leaves through the slot of its query, so peer and source address are in place. Late replies
 * have slots of their own, whose addresses are written for each reply.
 */
#include "base/page.h"
#include "port/awake.h"
#include "port/privileged.h"
#include "port/socket.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "xdp/source.h"

#define SEND_TRIES   3 /* retries, each after a wait, if the kernel has no room */
#define SEND_WAIT_MS 1
#define LINE_BYTES   64u
#define KEPT_BYTES   4096u /* part of each buffer that keeps its memory */

struct slot {
	struct sockaddr_storage peer;
	struct iovec iov;
	union {
		struct cmsghdr head; /* for the alignment */
		uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	} control;
};

struct socket_port {
	struct port port;
	struct port_addr local;
	bool is_wildcard; /* the queried address differs from message to message */
	uint32_t msg_bytes;
	struct awake awake;
	uint32_t stride;     /* from one buffer to the next */
	uint8_t *data;       /* PORT_BURST buffers */
	unsigned int n_used; /* slots, from the first on, that the kernel has written to */
	struct slot slots[PORT_BURST];
	struct slot late[PORT_BURST];
	struct mmsghdr in[PORT_BURST];
	struct mmsghdr out[PORT_BURST];
};

static struct socket_port *socket_self(struct port *p)
{
	return (struct socket_port *)p;
}

/* Resets a slot before its next use: the kernel has written lengths, flags and pktinfo into it. */
static void arm_socket(const struct socket_port *s, struct slot *slot, struct msghdr *hdr,
		       uint8_t *data, uint32_t n_bytes)
{
	slot->iov = (struct iovec){ data, n_bytes };
	*hdr = (struct msghdr){
		.msg_name = &slot->peer,
		.msg_namelen = sizeof(slot->peer),
		.msg_iov = &slot->iov,
		.msg_iovlen = 1,
	};
	if (s->is_wildcard) {
		hdr->msg_control = slot->control.bytes;
		hdr->msg_controllen = sizeof(slot->control.bytes);
	}
}

/*
 * Reads the queried address, and changes the control message so that the reply leaves from it.
 * Clears the interface: with it the reply would bypass the routing table.
 */
static void take_pktinfo(struct msghdr *hdr, struct port_msg *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(hdr);
	struct in6_pktinfo *info6;
	struct in_pktinfo *info;

	if (c && c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
		info = (struct in_pktinfo *)CMSG_DATA(c);
		m->ifindex = (uint32_t)info->ipi_ifindex;
		info->ipi_ifindex = 0;
		memcpy(m->local, &info->ipi_spec_dst, 4);
	} else if (c && c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
		info6 = (struct in6_pktinfo *)CMSG_DATA(c);
		m->ifindex = info6->ipi6_ifindex;
		if (!IN6_IS_ADDR_LINKLOCAL(&info6->ipi6_addr))
			info6->ipi6_ifindex = 0;
		memcpy(m->local, &info6->ipi6_addr, 16);
	}
}

/* False: the datagram is no message for the handler. */
static bool take_port_socket(struct socket_port *s, unsigned int i, struct port_msg *m)
{
	struct port_stats *stats = &s->port.stats;
	struct msghdr *hdr = &s->in[i].msg_hdr;
	struct port_addr peer;

	if (hdr->msg_flags & MSG_TRUNC) {
		port_count(&stats->truncated_in, 1);
		return false;
	}
	if (port_addr_from_sockaddr(&peer, hdr->msg_name) || volley_is_reflector(peer.port)) {
		port_count(&stats->malformed, 1);
		return false;
	}
	*m = (struct port_msg){
		.data = s->slots[i].iov.iov_base,
		.len = s->in[i].msg_len,
		.cap = s->msg_bytes,
		.family = peer.family,
		.peer_port = peer.port,
		.local_port = s->local.port,
		.slot = i,
	};
	memcpy(m->peer, peer.bytes, sizeof(m->peer));
	memcpy(m->local, s->local.bytes, sizeof(m->local));
	if (s->is_wildcard)
		take_pktinfo(hdr, m);
	else
		m->ifindex = peer.scope_id;
	return true;
}

/* Reads the first n_in slots, which the kernel has filled. The others are still armed. */
static unsigned int take_socket_burst(struct socket_port *s, struct port_msg *msgs,
				      unsigned int n_in)
{
	struct port_stats *stats = &s->port.stats;
	uint64_t n_bytes = 0;
	unsigned int n = 0;

	for (unsigned int i = 0; i < n_in; i++) {
		n_bytes += s->in[i].msg_len;
		if (take_port_socket(s, i, &msgs[n]))
			n++;
	}
	s->n_used = n_in;
	port_count(&stats->rx, n_in);
	port_count(&stats->rx_bytes, n_bytes);
	return n;
}

/* Returns the number of datagrams received. */
static unsigned int read_burst(struct socket_port *s, unsigned int n_cap)
{
	int n = recvmmsg(s->port.fd, s->in, n_cap, MSG_DONTWAIT, NULL);

	if (n >= 0)
		return (unsigned int)n;
	if (errno != EAGAIN && errno != EINTR)
		port_count(&s->port.stats.rx_errors, 1);
	return 0;
}

/* Frees the memory of a long datagram beyond the first pages, so that a flood does not keep it. */
static void trim_socket(const struct socket_port *s, unsigned int i)
{
	if (s->in[i].msg_len > KEPT_BYTES)
		page_release(s->data + (size_t)i * s->stride + KEPT_BYTES,
			     s->msg_bytes - KEPT_BYTES);
}

static unsigned int socket_receive(struct port *p, uint64_t now_ns, struct port_msg *msgs,
				   unsigned int n_cap)
{
	struct socket_port *s = socket_self(p);
	unsigned int n_in;

	(void)now_ns;
	assert(n_cap <= PORT_BURST);
	for (unsigned int i = 0; i < s->n_used; i++) {
		trim_socket(s, i);
		arm_socket(s, &s->slots[i], &s->in[i].msg_hdr, s->data + (size_t)i * s->stride,
			   s->msg_bytes);
	}
	n_in = read_burst(s, n_cap);
	awake_note(&s->awake, n_in);
	return take_socket_burst(s, msgs, n_in);
}

/* Call after a failed send. Returns how many messages, from the first on, to drop; 0: try again. */
static unsigned int give_up_socket(struct port *p, unsigned int n_left, unsigned int *tries)
{
	struct pollfd pollfd = { .fd = p->fd, .events = POLLOUT };

	switch (errno) {
	case EINTR:
		return 0;
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
		if (*tries == 0)
			port_count(&p->stats.tx_retried, n_left);
		if (++*tries > SEND_TRIES)
			return n_left;
		poll(&pollfd, 1, SEND_WAIT_MS);
		return 0;
	default:
		return 1; /* only this message fails: no route, refused by a filter, too long */
	}
}

/* Sends the first n of `out`. Returns how many were sent; counts the others as dropped. */
static unsigned int flush_socket(struct socket_port *s, unsigned int n)
{
	struct port_stats *stats = &s->port.stats;
	unsigned int at = 0, tries = 0, n_done = 0, n_lost;
	int n_sent;

	while (at < n) {
		n_sent = sendmmsg(s->port.fd, s->out + at, n - at, 0);
		if (n_sent > 0) {
			for (int i = 0; i < n_sent; i++)
				port_count(&stats->tx_bytes,
					   s->out[at + (unsigned int)i].msg_hdr.msg_iov->iov_len);
			port_count(&stats->tx, (uint64_t)n_sent);
			at += (unsigned int)n_sent;
			n_done += (unsigned int)n_sent;
			continue;
		}
		n_lost = give_up_socket(&s->port, n - at, &tries);
		port_count(&stats->tx_dropped, n_lost);
		at += n_lost;
	}
	return n_done;
}

static void socket_send(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n)
{
	struct socket_port *s = socket_self(p);
	unsigned int n_out = 0;

	(void)now_ns;
	for (unsigned int i = 0; i < n; i++) {
		uint32_t slot = msgs[i].slot;

		if (!msgs[i].len) {
			port_count_unsent(p, &msgs[i]);
			continue;
		}
		assert(msgs[i].len <= s->msg_bytes);
		s->slots[slot].iov.iov_len = msgs[i].len;
		s->out[n_out++].msg_hdr = s->in[slot].msg_hdr;
	}
	flush_socket(s, n_out);
}

static bool is_linklocal(const uint8_t *address)
{
	return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

/* Writes the same control message as take_pktinfo(). Returns its length. */
static size_t put_pktinfo(struct cmsghdr *c, const struct port_return *to)
{
	struct in6_pktinfo info6 = { 0 };
	struct in_pktinfo info = { 0 };

	if (to->family == AF_INET) {
		memcpy(&info.ipi_spec_dst, to->local, 4);
		*c = (struct cmsghdr){ CMSG_LEN(sizeof(info)), IPPROTO_IP, IP_PKTINFO };
		memcpy(CMSG_DATA(c), &info, sizeof(info));
		return CMSG_SPACE(sizeof(info));
	}
	memcpy(&info6.ipi6_addr, to->local, 16);
	info6.ipi6_ifindex = is_linklocal(to->local) ? to->ifindex : 0;
	*c = (struct cmsghdr){ CMSG_LEN(sizeof(info6)), IPPROTO_IPV6, IPV6_PKTINFO };
	memcpy(CMSG_DATA(c), &info6, sizeof(info6));
	return CMSG_SPACE(sizeof(info6));
}

static void arm_late(struct socket_port *s, unsigned int i, const struct port_reply *reply)
{
	const struct port_return *to = reply->to;
	struct msghdr *hdr = &s->out[i].msg_hdr;
	struct slot *slot = &s->late[i];
	struct port_addr peer = { .family = to->family, .port = to->peer_port };

	memcpy(peer.bytes, to->peer, sizeof(peer.bytes));
	if (to->family == AF_INET6 && is_linklocal(to->peer))
		peer.scope_id = to->ifindex;
	/* The kernel only reads what is sent. */
	arm_socket(s, slot, hdr, (uint8_t *)(uintptr_t)reply->data, reply->len);
	hdr->msg_namelen = port_addr_to_sockaddr(&peer, &slot->peer);
	if (s->is_wildcard)
		hdr->msg_controllen = put_pktinfo(&slot->control.head, to);
}

static unsigned int socket_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
				 unsigned int n)
{
	struct socket_port *s = socket_self(p);
	unsigned int n_out = 0;

	(void)now_ns;
	for (unsigned int i = 0; i < n; i++) {
		if (!replies[i].len) {
			port_count(&p->stats.no_reply, 1);
			continue;
		}
		arm_late(s, n_out, &replies[i]);
		n_out++;
	}
	return flush_socket(s, n_out);
}

/*
 * Connects the socket to its own address. A connected socket gets only its peer's datagrams, so all
 * others go to a socket with a wildcard address, if there is one. If connect() fails, the host does
 * not have the address, and no datagrams come. A socket with a wildcard address stays as it is.
 * Reads only what never changes.
 */
static void socket_retire(struct port *p)
{
	struct socket_port *s = socket_self(p);
	struct sockaddr_storage ss;
	socklen_t len = port_addr_to_sockaddr(&s->local, &ss);

	if (!s->is_wildcard)
		(void)connect(p->fd, (struct sockaddr *)&ss, len);
}

static void socket_close(struct port *p)
{
	struct socket_port *s = socket_self(p);

	if (p->fd >= 0)
		close(p->fd);
	if (s->data)
		munmap(s->data, (size_t)s->stride * PORT_BURST);
	free(s);
}

static uint64_t socket_wake_at(struct port *p)
{
	return awake_is_on(&socket_self(p)->awake) ? 0 : PORT_NEVER;
}

static const struct port_ops socket_ops = {
	.receive = socket_receive,
	.send = socket_send,
	.reply = socket_reply,
	.retire = socket_retire,
	.wake_at = socket_wake_at,
	.close = socket_close,
};

static int set_socket(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

static int set_socket_options(int fd, const struct socket_config *config)
{
	int asks = port_addr_is_wildcard(&config->listen), err;

	if (config->listen.family == AF_INET) {
		err = set_socket(fd, IPPROTO_IP, IP_PKTINFO, asks);
		/* Old kernels know only the weaker options; replies are sent with either. */
		(void)set_socket(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT);
	} else {
		err = set_socket(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		err = err ? err : set_socket(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, asks);
		(void)set_socket(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT);
	}
	err = err ? err : set_socket(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	err = err ? err : set_socket(fd, IPPROTO_IP, IP_FREEBIND, 1);
	port_set_buffer(fd, SOCKET_RCVBUF_BYTES);
	return err;
}

static int bind_port_socket(struct socket_port *s, const struct socket_config *config)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	char text[PORT_ADDR_TEXT_CAP];
	int err;

	s->port.fd = socket(config->listen.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->port.fd < 0)
		return -errno;
	err = set_socket_options(s->port.fd, config);
	if (err)
		return err;
	err = port_bind(s->port.fd, &config->listen);
	if (err)
		return err;
	if (getsockname(s->port.fd, (struct sockaddr *)&ss, &len))
		return -errno;
	err = port_addr_from_sockaddr(&s->local, (struct sockaddr *)&ss);
	snprintf(s->port.name, sizeof(s->port.name), "udp %s", port_addr_text(&s->local, text));
	return err;
}

/*
 * The buffers are an odd number of cache lines apart, so that the first lines of a burst's messages
 * are in different cache sets. The unused part of a buffer takes memory only with huge pages.
 */
static int map_buffers(struct socket_port *s)
{
	void *data;

	s->stride = ((s->msg_bytes - 1) / LINE_BYTES + 1) | 1;
	s->stride *= LINE_BYTES;
	data = mmap(NULL, (size_t)s->stride * PORT_BURST, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (data == MAP_FAILED)
		return -errno;
	/* This fails only in a kernel that has no huge pages. */
	(void)madvise(data, (size_t)s->stride * PORT_BURST, MADV_NOHUGEPAGE);
	s->data = data;
	return 0;
}

int socket_open(struct port **out, const struct socket_config *config)
{
	uint32_t msg_bytes = config->msg_bytes ? config->msg_bytes : SOCKET_MSG_BYTES_MAX;
	struct socket_port *s;
	int err;

	if (msg_bytes < 512 || msg_bytes > SOCKET_MSG_BYTES_MAX)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->port = (struct port){ .ops = &socket_ops, .kind = PORT_SOCKET, .fd = -1 };
	s->msg_bytes = msg_bytes;
	s->is_wildcard = port_addr_is_wildcard(&config->listen);
	s->n_used = PORT_BURST;
	err = map_buffers(s);
	if (!err)
		err = bind_port_socket(s, config);
	if (err) {
		port_close(&s->port);
		return err;
	}
	*out = &s->port;
	return 0;
}

void socket_port_addr(const struct port *p, struct port_addr *out)
{
	*out = ((const struct socket_port *)p)->local;
}
