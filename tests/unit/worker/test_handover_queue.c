/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The handover between a worker and the transfer thread. The test plays both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/handover_queue.h"

/* A port that notes late replies, and gives connections away as the test says. */
static struct fake {
	struct port port;
	unsigned int n_sent;
	uint8_t sent[64];
	uint32_t n_bytes;
	int give_code;
	int give_fd;
} fake;

static unsigned int note(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			 unsigned int n)
{
	(void)p, (void)now_ns;
	assert_int_equal(n, 1);
	fake.n_sent++;
	fake.n_bytes = replies->len;
	if (replies->len)
		memcpy(fake.sent, replies->data, replies->len);
	return n;
}

static int give(struct port *p, const struct port_msg *msg, struct port_gift *out)
{
	(void)p, (void)msg;
	*out = (struct port_gift){ .fd = fake.give_fd,
				   .bytes = (const uint8_t *)"\0\3abcde",
				   .n_bytes = 7 };
	return fake.give_code;
}

static const struct port_ops ops = { .reply = note, .give = give };

static struct handover *h;
static struct handover_way *way;

static int setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.port.ops = &ops;
	assert_int_equal(handover_new(&h), 0);
	return handover_way_new(&way);
}

static int teardown(void **state)
{
	(void)state;
	handover_way_free(way);
	handover_free(h);
	return 0;
}

static uint8_t query[512] = "query";

static struct port_msg message(bool stream)
{
	return (struct port_msg){
		.data = query,
		.len = 5,
		.cap = 64,
		.family = AF_INET,
		.stream = stream,
		.peer_port = 7,
		.peer = { 192, 0, 2, 1 },
		.local = { 192, 0, 2, 53 },
	};
}

static bool is_readable(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1;
}

static void put_one(void)
{
	struct port_msg m = message(false);

	assert_true(handover_put(h, way, &fake.port, &m));
	assert_true(m.deferred);
	assert_int_equal(m.len, 0);
	fake.port.stats.deferred++;
}

static struct handover_item *take_one(void)
{
	struct handover_item *item;

	assert_true(is_readable(handover_fd(h)));
	item = handover_take(h);
	assert_non_null(item);
	assert_null(item->next);
	assert_false(is_readable(handover_fd(h)));
	return item;
}

static void deliver(void)
{
	struct worker_source source = handover_source(way);

	assert_true(is_readable(source.fd));
	source.ready(source.ctx, 1);
	assert_false(is_readable(source.fd));
}

static void test_a_message_and_its_reply(void **state)
{
	struct handover_item *item;

	(void)state;
	put_one();
	memset(query, 'x', 5); /* the port reuses the buffer */
	item = take_one();
	memcpy(query, "query", 5);
	assert_int_equal(item->fd, -1);
	assert_int_equal(item->n_bytes, 5);
	assert_memory_equal(item->bytes, "query", 5);
	assert_int_equal(item->peer_port, 7);
	assert_int_equal(item->peer[3], 1);
	assert_int_equal(item->local[3], 53);
	assert_int_equal(item->reply_cap, 64);
	handover_reply(item, (const uint8_t *)"reply!", 6);
	deliver();
	assert_int_equal(fake.n_sent, 1);
	assert_int_equal(fake.n_bytes, 6);
	assert_memory_equal(fake.sent, "reply!", 6);
}

/* The port counts the replies that it waits for, so it must also hear that there is no reply. */
static void test_no_reply(void **state)
{
	static const uint8_t large[65] = { 0 };

	(void)state;
	put_one();
	handover_reply(take_one(), NULL, 0);
	deliver();
	assert_int_equal(fake.n_sent, 1);
	assert_int_equal(fake.n_bytes, 0);
	put_one();
	handover_reply(take_one(), large, sizeof(large));
	deliver();
	assert_int_equal(fake.n_sent, 2);
	assert_int_equal(fake.n_bytes, 0);
}

static void test_order(void **state)
{
	struct handover_item *item;
	uint8_t n = 0;

	(void)state;
	for (; n < 10; n++) {
		query[0] = n;
		put_one();
	}
	query[0] = 'q';
	for (item = handover_take(h), n = 0; item; n++) {
		struct handover_item *next = item->next;

		assert_int_equal(item->bytes[0], n);
		handover_reply(item, &n, 1);
		item = next;
	}
	assert_int_equal(n, 10);
	deliver();
	assert_int_equal(fake.n_sent, 10);
	assert_int_equal(fake.sent[0], 9);
}

static void test_a_port_that_goes(void **state)
{
	struct handover_item *item;

	(void)state;
	put_one();
	item = take_one();
	handover_port_gone(way, &fake.port);
	handover_reply(item, (const uint8_t *)"reply!", 6);
	deliver();
	assert_int_equal(fake.n_sent, 0);
}

/* Worker and receiver end in either order, and the last one frees all. Sanitizers check it. */
static void test_a_worker_that_goes(void **state)
{
	struct handover_item *item;

	(void)state;
	put_one();
	put_one();
	item = handover_take(h);
	handover_way_free(way);
	handover_reply(item->next, (const uint8_t *)"reply!", 6);
	handover_reply(item, (const uint8_t *)"reply!", 6);
	assert_int_equal(handover_way_new(&way), 0);
	put_one(); /* the receiver does not take this one */
	assert_int_equal(fake.n_sent, 0);
}

static void test_connections(void **state)
{
	struct port_msg m = message(true);
	struct handover_item *item;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	fake.give_fd = fds[0];
	assert_true(handover_put(h, way, &fake.port, &m));
	assert_true(m.given);
	assert_false(m.put_back || m.deferred || m.len);
	item = take_one();
	assert_int_equal(item->fd, fds[0]);
	assert_int_equal(item->n_bytes, 7);
	assert_memory_equal(item->bytes, "\0\3abcde", 7);
	handover_reply(item, NULL, 0);
	assert_false(is_readable(handover_source(way).fd));
	assert_int_equal(fcntl(fds[0], F_GETFD), 0);

	fake.give_code = -EAGAIN;
	m = message(true);
	assert_true(handover_put(h, way, &fake.port, &m));
	assert_true(m.put_back);
	assert_false(m.given || m.len);
	assert_null(handover_take(h));

	fake.give_code = 0;
	m = message(true);
	assert_true(handover_put(h, way, &fake.port, &m));
	handover_free(h); /* closes connections that were not taken */
	assert_int_equal(fcntl(fds[0], F_GETFD), -1);
	close(fds[1]);
	assert_int_equal(handover_new(&h), 0);
}

static void drop_all(void)
{
	for (struct handover_item *item = handover_take(h), *next; item; item = next) {
		next = item->next;
		handover_reply(item, NULL, 0);
	}
	deliver();
}

static void test_limits(void **state)
{
	static uint8_t large[32768];
	struct port_msg m = message(false);

	(void)state;
	for (unsigned int i = 0; i < HANDOVER_PENDING_MAX; i++)
		put_one();
	assert_false(handover_put(h, way, &fake.port, &m));
	assert_int_equal(m.len, 0);
	assert_false(m.deferred);
	drop_all();
	put_one();
	drop_all();

	for (unsigned int i = 0; i < HANDOVER_PENDING_BYTES / sizeof(large); i++) {
		m = message(false);
		m.data = large;
		m.len = sizeof(large);
		assert_true(handover_put(h, way, &fake.port, &m));
		fake.port.stats.deferred++;
	}
	m = message(false);
	assert_false(handover_put(h, way, &fake.port, &m));
	drop_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_message_and_its_reply, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_reply, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_port_that_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_worker_that_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_connections, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
