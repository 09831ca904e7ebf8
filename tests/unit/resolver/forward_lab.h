/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A forwarder and its upstream in one process, over the loopback: the test is the upstream, reads
 * each query by itself and sends what it likes, forged replies too (they come from the upstream's
 * address).
 *
 * One thread: turn() lets the forwarder work until it has nothing more to do at once.
 */
#ifndef VOLLEY_TESTS_FORWARD_LAB_H
#define VOLLEY_TESTS_FORWARD_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wire.h"
#include "dns/name.h"
#include "resolver/forward.h"

#define LAB_TRUE   "\xc0\0\2\x50"
#define LAB_FORGED "\xc0\0\2\x42"
#define LAB_WAIT   5000 /* ms, for what has to come */

struct lab_message {
	uint8_t at[2048];
	size_t n;
	struct sockaddr_in peer;
};

struct lab {
	struct event_base *base;
	struct groups groups;
	struct forward *forward;
	struct resolver_counters counters;
	struct forward_board board;
	struct resolver_question question;
	int udp, listener, tcp;
	bool is_over;
	int ede_code;
	uint8_t address[4]; /* of the answer; zeros: it failed */
};

static inline void lab_answered(void *ctx, struct resolver_group *group, const uint8_t *msg,
				size_t n, size_t head_bytes)
{
	struct lab *lab = ctx;
	/* Behind the question: a pointer, type, class, TTL, length. */
	size_t at = head_bytes + DNS_HEADER_BYTES +
		    name_bytes(msg + head_bytes + DNS_HEADER_BYTES) + 4 + 12;

	assert_true(n >= at + 4);
	lab->is_over = true;
	memcpy(lab->address, msg + at, 4);
	groups_leave(&lab->groups,
		     cds_list_first_entry(&group->waiters, struct resolver_question, waiting));
	groups_put(&lab->groups, group);
}

static inline void lab_failed(void *ctx, struct resolver_group *group, int ede_code)
{
	struct lab *lab = ctx;

	lab->is_over = true;
	lab->ede_code = ede_code;
	groups_leave(&lab->groups,
		     cds_list_first_entry(&group->waiters, struct resolver_question, waiting));
	groups_put(&lab->groups, group);
}

static inline uint16_t lab_listen(struct lab *lab)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t n = sizeof(addr);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	do {
		addr.sin_port = 0;
		lab->udp = socket(AF_INET, SOCK_DGRAM, 0);
		lab->listener = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(bind(lab->udp, (struct sockaddr *)&addr, n), 0);
		assert_int_equal(getsockname(lab->udp, (struct sockaddr *)&addr, &n), 0);
		if (!bind(lab->listener, (struct sockaddr *)&addr, n))
			break;
		close(lab->udp);
		close(lab->listener);
	} while (true);
	assert_int_equal(listen(lab->listener, 4), 0);
	return ntohs(addr.sin_port);
}

/* wait_ms: the longest wait for a reply; 0: as configured by default. */
static inline void lab_open_waiting(struct lab *lab, bool caps_for_id, uint32_t wait_ms)
{
	struct resolver_config config = RESOLVER_CONFIG_INIT;
	const struct forward_done done = { lab, lab_answered, lab_failed };
	char err[256], address[64];
	const char *forwards[] = { address, NULL };

	*lab = (struct lab){ .tcp = -1 };
	snprintf(address, sizeof(address), "127.0.0.1@%u", lab_listen(lab));
	config.forwards = forwards;
	config.query_localhost = true;
	config.caps_for_id = caps_for_id;
	config.upstream_max = 64;
	if (wait_ms)
		config.upstream_timeout_ms = wait_ms;
	lab->base = event_base_new();
	assert_non_null(lab->base);
	assert_int_equal(groups_init(&lab->groups, 64, 64, lab), 0);
	lab->groups.keeps_cd = true;
	assert_int_equal(forward_new(&lab->forward, &config, lab->base, &done, &lab->counters,
				     &lab->board, err, sizeof(err)),
			 0);
}

static inline void lab_open(struct lab *lab, bool caps_for_id)
{
	lab_open_waiting(lab, caps_for_id, 0);
}

static inline void lab_close(struct lab *lab)
{
	forward_free(lab->forward);
	groups_fini(&lab->groups);
	event_base_free(lab->base);
	close(lab->udp);
	if (lab->listener >= 0)
		close(lab->listener);
	if (lab->tcp >= 0)
		close(lab->tcp);
}

static inline void lab_turn(struct lab *lab)
{
	event_base_loop(lab->base, EVLOOP_NONBLOCK);
	while (forward_round(lab->forward, &lab->groups, clock_ns()))
		;
}

/* Asks; the name is wire form, lower case. */
static inline void lab_ask(struct lab *lab, const char *name)
{
	struct resolver_question *q = &lab->question;

	*q = (struct resolver_question){ .qtype = DNS_TYPE_A, .qclass = DNS_CLASS_IN };
	memcpy(q->name, name, name_bytes((const uint8_t *)name));
	lab->is_over = false;
	memset(lab->address, 0, sizeof(lab->address));
	(void)groups_join(&lab->groups, q);
	lab_turn(lab);
}

static inline bool lab_is_readable(int fd, int wait_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, wait_ms) == 1;
}

/* Turns until the file descriptor is readable. */
static inline void lab_wait(struct lab *lab, int fd)
{
	for (unsigned int i = 0; i < LAB_WAIT && !lab_is_readable(fd, 1); i++)
		lab_turn(lab);
	assert_true(lab_is_readable(fd, 0));
}

/* The next query over UDP. */
static inline struct lab_message lab_query(struct lab *lab)
{
	struct lab_message m = { 0 };
	socklen_t n = sizeof(m.peer);
	ssize_t got;

	lab_wait(lab, lab->udp);
	got = recvfrom(lab->udp, m.at, sizeof(m.at), 0, (struct sockaddr *)&m.peer, &n);
	assert_true(got > DNS_HEADER_BYTES);
	m.n = (size_t)got;
	return m;
}

static inline bool lab_has_query(struct lab *lab)
{
	lab_turn(lab);
	return lab_is_readable(lab->udp, 0);
}

/* The next query over TCP. */
static inline struct lab_message lab_tcp_query(struct lab *lab)
{
	struct lab_message m = { 0 };
	uint8_t length[2];

	if (lab->tcp < 0) {
		lab_wait(lab, lab->listener);
		lab->tcp = accept(lab->listener, NULL, NULL);
	}
	lab_wait(lab, lab->tcp);
	assert_int_equal(recv(lab->tcp, length, 2, MSG_WAITALL), 2);
	m.n = wire_load_be16(length);
	assert_int_equal(recv(lab->tcp, m.at, m.n, MSG_WAITALL), m.n);
	return m;
}

static inline size_t lab_question_end(const struct lab_message *m)
{
	return DNS_HEADER_BYTES + name_bytes(m->at + DNS_HEADER_BYTES) + 4;
}

/* The query's reply: an address, and no OPT yet. */
static inline struct lab_message lab_reply(const struct lab_message *query, const char *address)
{
	struct lab_message m = *query;

	m.n = lab_question_end(query);
	wire_store_be16(m.at + DNS_FLAGS_AT, DNS_FLAG_QR | DNS_FLAG_RD | DNS_FLAG_RA);
	wire_store_be16(m.at + DNS_ANCOUNT_AT, 1);
	wire_store_be16(m.at + DNS_ARCOUNT_AT, 0);
	memcpy(m.at + m.n, "\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4", 12);
	memcpy(m.at + m.n + 12, address, 4);
	m.n += 16;
	return m;
}

static inline struct lab_message lab_error(const struct lab_message *query, uint16_t rcode)
{
	struct lab_message m = lab_reply(query, LAB_TRUE);

	m.n -= 16;
	wire_store_be16(m.at + DNS_ANCOUNT_AT, 0);
	wire_store_be16(m.at + DNS_FLAGS_AT,
			DNS_FLAG_QR | DNS_FLAG_RD | DNS_FLAG_RA | (rcode & DNS_RCODE_MASK));
	return m;
}

/* An OPT with the upper bits of the rcode and a COOKIE option of n octets; n 0: without. */
static inline void lab_add_opt(struct lab_message *m, uint16_t rcode, const void *cookie, size_t n)
{
	uint8_t *at = m->at + m->n;

	memcpy(at, "\0\0\x29\4\xd0\0\0\x80\0\0\0", 11);
	at[5] = (uint8_t)(rcode >> 4);
	at[10] = (uint8_t)(n ? 4 + n : 0);
	m->n += 11;
	wire_store_be16(m->at + DNS_ARCOUNT_AT, 1);
	if (!n)
		return;
	wire_store_be16(at + 11, DNS_OPTION_COOKIE);
	wire_store_be16(at + 13, (uint16_t)n);
	memcpy(at + 15, cookie, n);
	m->n += 4 + n;
}

/* The COOKIE option of a query: its octets and their number; NULL: it has none. */
static inline const uint8_t *lab_cookie(const struct lab_message *query, size_t *n)
{
	size_t at = lab_question_end(query) + DNS_OPT_FIXED_BYTES;

	*n = 0;
	if (query->n < at + 4 || wire_load_be16(query->at + at) != DNS_OPTION_COOKIE)
		return NULL;
	*n = wire_load_be16(query->at + at + 2);
	return query->at + at + 4;
}

static inline void lab_send(struct lab *lab, const struct lab_message *m)
{
	(void)sendto(lab->udp, m->at, m->n, 0, (const struct sockaddr *)&m->peer, sizeof(m->peer));
	lab_turn(lab);
}

static inline void lab_write_tcp(struct lab *lab, const struct lab_message *m)
{
	uint8_t length[2];

	wire_store_be16(length, (uint16_t)m->n);
	assert_int_equal(send(lab->tcp, length, 2, MSG_MORE), 2);
	assert_int_equal(send(lab->tcp, m->at, m->n, 0), m->n);
}

static inline void lab_send_tcp(struct lab *lab, const struct lab_message *m)
{
	lab_write_tcp(lab, m);
	for (unsigned int i = 0; i < LAB_WAIT && !lab->is_over; i++) {
		lab_turn(lab);
		(void)poll(NULL, 0, 1);
	}
}

#define lab_assert_answer(lab, a)                            \
	do {                                                 \
		assert_true((lab)->is_over);                 \
		assert_memory_equal((lab)->address, (a), 4); \
	} while (0)

#endif
