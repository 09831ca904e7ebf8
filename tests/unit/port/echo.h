/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of ports and worker share: an answerer that knows no DNS, and client sockets. */
#ifndef VOLLEY_TESTS_UNIT_PORT_ECHO_H
#define VOLLEY_TESTS_UNIT_PORT_ECHO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "port/addr.h"
#include "port/port.h"

/*
 * Answers a query with the same bytes, their first one with its top bit set. A query of four bytes
 * that begins with 'B' asks for a reply of as many bytes as its last two say (big-endian), each of
 * them the query's second byte. One that begins with 'N' gets none.
 */
static inline void echo_handle(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
			       uint64_t now_ns)
{
	(void)ctx;
	(void)port;
	(void)now_ns;
	for (unsigned int i = 0; i < n; i++) {
		struct port_msg *m = &msgs[i];

		if (m->len == 4 && m->data[0] == 'B') {
			uint32_t want = (uint32_t)(m->data[2] << 8 | m->data[3]);

			m->len = want < m->cap ? want : m->cap;
			memset(m->data, m->data[1], m->len);
		} else if (m->len && m->data[0] == 'N') {
			m->len = 0;
		} else if (m->len) {
			m->data[0] |= 0x80;
		}
	}
}

#define LATER_CAP      512
#define LATER_DATA_CAP 64

/* What echo_defer() put off: the replies, as port_reply() wants them. */
struct later {
	unsigned int n;
	struct port_return to[LATER_CAP];
	struct port_reply replies[LATER_CAP];
	uint8_t data[LATER_CAP][LATER_DATA_CAP];
};

/*
 * Puts off each message (at most LATER_DATA_CAP bytes), but those that begin with 'Q', which
 * echo_handle() answers at once. The late reply to one that begins with 'N' has no bytes. ctx: a
 * struct later.
 */
static inline void echo_defer(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
			      uint64_t now_ns)
{
	struct later *later = (struct later *)ctx;

	for (unsigned int i = 0; i < n; i++) {
		struct port_msg *m = &msgs[i];
		unsigned int at = later->n;

		if (!m->len || m->data[0] == 'Q') {
			echo_handle(NULL, m, 1, port, now_ns);
			continue;
		}
		assert_true(at < LATER_CAP && m->len <= LATER_DATA_CAP);
		memcpy(later->data[at], m->data, m->len);
		later->data[at][0] |= 0x80;
		port_defer(port, m, &later->to[at]);
		later->replies[at] = (struct port_reply){
			.to = &later->to[at],
			.data = later->data[at],
			.len = m->data[0] == 'N' ? 0 : m->len,
		};
		later->n++;
		m->len = 0;
		m->outcome = PORT_DEFERS;
	}
}

static inline int client_open(int type, const struct port_addr *to)
{
	struct timeval limit = { .tv_sec = 10 };
	struct sockaddr_storage ss;
	socklen_t len = port_addr_to_sockaddr(to, &ss);
	int fd = socket(to->family, type, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	assert_int_equal(connect(fd, (struct sockaddr *)&ss, len), 0);
	return fd;
}

static inline struct port_addr addr_of(const char *text, uint16_t port)
{
	struct port_addr a;

	assert_int_equal(port_addr_from_text(&a, text, port), 0);
	return a;
}

#endif
