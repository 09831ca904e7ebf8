/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of TCP share: a port with a clock of ours, and clients' ends of connections. */
#ifndef VOLLEY_TESTS_UNIT_PORT_TCP_CLIENT_H
#define VOLLEY_TESTS_UNIT_PORT_TCP_CLIENT_H

#include "tests/unit/port/echo.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/wire.h"
#include "port/tcp.h"
#include "tests/unit/port/tcp_state.h"

#define MS 1000000ull

static uint64_t now_ns = 1000 * MS;

/*
 * In the C library's place: with a limit set, every other call takes so many bytes at most, and
 * those between find no room.
 */
static size_t write_limit;
static unsigned int write_calls; /* the first one has room */

ssize_t sendmsg(int fd, const struct msghdr *hdr, int flags)
{
	struct msghdr part = *hdr;
	size_t room = write_limit;
	struct iovec iov[256];

	if (!write_limit)
		return syscall(SYS_sendmsg, fd, hdr, flags);
	if (write_calls++ % 2) {
		errno = EAGAIN;
		return -1;
	}
	part.msg_iov = iov;
	for (part.msg_iovlen = 0; room && part.msg_iovlen < hdr->msg_iovlen; part.msg_iovlen++) {
		struct iovec *last = &iov[part.msg_iovlen];

		*last = hdr->msg_iov[part.msg_iovlen];
		if (last->iov_len > room)
			last->iov_len = room;
		room -= last->iov_len;
	}
	return syscall(SYS_sendmsg, fd, &part, flags);
}

static inline struct port *open_at(const struct tcp_config *config, const char *address,
				   struct port_addr *bound)
{
	struct port_addr listen = addr_of(address, 0);
	struct port *p = NULL;

	assert_int_equal(tcp_open(&p, config), 0);
	assert_int_equal(tcp_listen(p, &listen), 0);
	tcp_port_addr(p, bound);
	return p;
}

static inline struct port *open_with(const struct tcp_config *config, struct port_addr *bound)
{
	return open_at(config, "127.0.0.1", bound);
}

/* Rounds until nothing is left to do and nothing comes for 5 ms. later: what to put off, or
 * NULL. */
static inline void serve_or_defer(struct port *p, struct later *later)
{
	struct pollfd pollfd = { .fd = p->fd, .events = POLLIN };
	struct port_msg msgs[PORT_BURST];

	while (port_wake_at(p) == 0 || poll(&pollfd, 1, 5) == 1) {
		unsigned int n = port_receive(p, now_ns, msgs, PORT_BURST);

		if (later)
			echo_defer(later, msgs, n, p, now_ns);
		else
			echo_handle(NULL, msgs, n, p, now_ns);
		port_send(p, now_ns, msgs, n);
	}
}

static inline void serve(struct port *p)
{
	serve_or_defer(p, NULL);
}

/* One round at a later time: only what the clock does. */
static inline void pass_ms(struct port *p, uint64_t ms)
{
	struct port_msg msgs[PORT_BURST];

	now_ns += ms * MS;
	assert_int_equal(port_receive(p, now_ns, msgs, PORT_BURST), 0);
	port_send(p, now_ns, msgs, 0);
}

static inline void put(int fd, const void *bytes, size_t n)
{
	assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), n);
}

static inline void ask(int fd, const char *text)
{
	uint8_t message[256];
	size_t n = strlen(text);

	wire_store_be16(message, (uint16_t)n);
	memcpy(message + 2, text, n);
	put(fd, message, n + 2);
}

static inline void ask_big(int fd, uint8_t fill, uint16_t n)
{
	uint8_t message[] = { 0, 4, 'B', fill, (uint8_t)(n >> 8), (uint8_t)n };

	put(fd, message, sizeof(message));
}

static inline void get(int fd, void *bytes, size_t n)
{
	assert_int_equal(recv(fd, bytes, n, MSG_WAITALL), n);
}

/* For replies that are longer than a window: port and client take turns. */
static inline void get_big(struct port *p, int fd, uint8_t *bytes, size_t n)
{
	size_t at = 0;
	ssize_t got;

	for (int rounds = 0; at < n && rounds < 1000; rounds++) {
		got = recv(fd, bytes + at, n - at, MSG_DONTWAIT);
		if (got < 0)
			serve(p);
		else
			at += (size_t)got;
	}
	assert_int_equal(at, n);
}

static inline void expect(int fd, const char *text)
{
	uint8_t reply[256];
	size_t n = strlen(text);

	get(fd, reply, n + 2);
	assert_int_equal(wire_load_be16(reply), n);
	assert_int_equal(reply[2], (uint8_t)text[0] | 0x80);
	assert_memory_equal(reply + 3, text + 1, n - 1);
}

/* Closed, and nothing is left to read. */
static inline bool is_closed(int fd)
{
	uint8_t byte;
	ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

	return n == 0 || (n < 0 && errno != EAGAIN);
}

static inline void done(struct port *p)
{
	struct port_stats s;

	port_stats_read(p, &s);
	assert_int_equal(s.rx + s.more, s.malformed + s.truncated_in + s.no_reply + s.tx +
						s.tx_dropped + tcp_pending(p) + port_deferred(p) +
						s.put_back);
	assert_true(s.late_orphaned <= s.late && s.late <= s.deferred);
	port_close(p);
}

#endif
