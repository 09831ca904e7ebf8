/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The handover between a worker and the transfer thread. The test plays both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/handover_queue.h"

/* A port that notes late replies, and has room for some as the test says. */
static struct fake {
	struct port port;
	unsigned int n_sent;
	uint8_t sent[64];
	uint32_t n_bytes;
	unsigned int n_more;
	bool has_closed;
	int claim_code;
	struct port_watch *watch;
	unsigned int room; /* calls that it takes until it has no room */
} fake;

static unsigned int note(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			 unsigned int n)
{
	(void)p, (void)now_ns;
	for (unsigned int i = 0; i < n; i++) {
		fake.n_sent++;
		fake.n_more += replies[i].more;
		fake.has_closed |= replies[i].closes;
		fake.n_bytes = replies[i].len;
		if (replies[i].len)
			memcpy(fake.sent, replies[i].data,
			       replies[i].len < 64 ? replies[i].len : 64);
	}
	fake.room -= fake.room > 0;
	return n;
}

static int claim_as_told(struct port *p, const struct port_msg *msg, struct port_watch *watch)
{
	(void)p, (void)msg;
	fake.watch = watch;
	return fake.claim_code;
}

static bool has_room(const struct port *p, const struct port_return *to)
{
	(void)p, (void)to;
	return fake.room;
}

static const struct port_ops ops = { .reply = note, .claim = claim_as_told, .has_room = has_room };

static struct handover *h;
static struct handover_way *way;

static struct handover_item *asked;
static struct port_return asked_to;

static void on_question(void *ctx, struct handover_item *item, const struct port_return *to,
			uint64_t now_ns)
{
	(void)ctx, (void)now_ns;
	asked = item;
	asked_to = *to;
}

static int setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.port.ops = &ops;
	assert_int_equal(handover_new(&h), 0);
	return handover_way_new(&way, on_question, NULL);
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

	assert_true(handover_put(h, way, &fake.port, &m, true));
	assert_int_equal(m.outcome, PORT_DEFERS);
	assert_int_equal(m.len, 0);
	fake.port.stats.deferred++;
}

static void expect_no_event(void)
{
	enum handover_event event;

	assert_null(handover_take(h, &event));
	assert_null(handover_take(h, &event));
	assert_false(is_readable(handover_fd(h)));
}

static struct handover_item *take_event(enum handover_event expected)
{
	enum handover_event event;
	struct handover_item *item;

	assert_true(is_readable(handover_fd(h)));
	item = handover_take(h, &event);
	assert_non_null(item);
	assert_int_equal(event, expected);
	expect_no_event();
	return item;
}

static struct handover_item *take_one(void)
{
	return take_event(HANDOVER_MESSAGE);
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
	assert_int_equal(item->transport, HANDOVER_UDP);
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
	enum handover_event event;
	uint8_t n = 0;

	(void)state;
	for (; n < 10; n++) {
		query[0] = n;
		put_one();
	}
	query[0] = 'q';
	for (n = 0; (item = handover_take(h, &event)); n++) {
		assert_int_equal(item->bytes[0], n);
		handover_reply(item, &n, 1);
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
	struct handover_item *items[2];
	enum handover_event event;

	(void)state;
	put_one();
	put_one();
	for (int i = 0; i < 2; i++)
		items[i] = handover_take(h, &event);
	handover_way_free(way);
	handover_reply(items[1], (const uint8_t *)"reply!", 6);
	handover_reply(items[0], (const uint8_t *)"reply!", 6);
	assert_int_equal(handover_way_new(&way, on_question, NULL), 0);
	put_one(); /* the receiver does not take this one */
	assert_int_equal(fake.n_sent, 0);
}

static struct handover_item *put_stream(bool alone)
{
	struct port_msg m = message(true);

	m.cap = 65535;
	assert_true(handover_put(h, way, &fake.port, &m, alone));
	assert_int_equal(m.outcome, PORT_DEFERS);
	assert_false(m.len);
	assert_int_equal(fake.watch != NULL, alone);
	fake.port.stats.deferred++;
	return take_one();
}

static void test_what_the_port_says_to_a_claim(void **state)
{
	struct port_msg m = message(true);
	struct handover_item *item;

	(void)state;
	fake.claim_code = 1;
	item = put_stream(true);
	assert_true(item->transport == HANDOVER_TCP && item->is_first);
	handover_reply(item, NULL, 0);
	fake.claim_code = 0;
	item = put_stream(false);
	assert_false(item->is_first);
	handover_reply(item, NULL, 0);
	deliver();

	fake.claim_code = -EAGAIN;
	assert_true(handover_put(h, way, &fake.port, &m, true));
	assert_int_equal(m.outcome, PORT_PUTS_BACK);
	assert_false(m.len);
	fake.claim_code = -ENOSPC;
	m = message(true);
	assert_false(handover_put(h, way, &fake.port, &m, true));
	assert_int_equal(m.outcome, PORT_CLOSES);
	assert_false(m.len);
	expect_no_event();
}

/* Messages of 16 KiB until there is no room. Returns how many. */
static unsigned int fill(struct handover_item *item)
{
	unsigned int n = 0;

	for (; handover_has_room(item); n++) {
		uint8_t *out = handover_begin(item, 16384);

		assert_non_null(out);
		memset(out, (int)n, 16384);
		handover_send(item, 16384);
	}
	handover_flush(item);
	return n;
}

static void tell(enum port_event event)
{
	fake.watch->tell(fake.watch, event);
}

/* A reader that takes a little: the port has no more than it takes, and the receiver makes more
 * when few wait. */
static void test_a_slow_reader(void **state)
{
	struct handover_item *item;
	unsigned int n_before;

	(void)state;
	item = put_stream(true);
	assert_int_equal(fill(item), HANDOVER_HIGH / 16384);
	fake.room = 1;
	deliver();
	n_before = fake.n_sent;
	assert_true(n_before > 0 && n_before < HANDOVER_HIGH / 16384);
	assert_false(is_readable(handover_source(way).fd));
	expect_no_event();
	while (!is_readable(handover_fd(h))) {
		fake.room = 1;
		tell(PORT_ROOM);
		deliver();
	}
	assert_ptr_equal(take_event(HANDOVER_ROOM), item);
	assert_true(fake.n_sent < HANDOVER_HIGH / 16384);
	assert_true(handover_has_room(item));
	fake.room = 100;
	tell(PORT_ROOM);
	deliver();
	assert_int_equal(fake.n_sent, HANDOVER_HIGH / 16384);
	assert_int_equal(fake.n_more, fake.n_sent);
	/* The last message is marked, and its item is gone. */
	memcpy(handover_begin(item, 5), "last!", 5);
	handover_send(item, 5);
	handover_end(item);
	deliver();
	assert_int_equal(fake.n_more, fake.n_sent - 1);
	assert_int_equal(fake.n_bytes, 5);
	expect_no_event();
}

static void test_a_client_that_goes(void **state)
{
	struct handover_item *item;
	enum handover_event event;
	unsigned int n_sent;

	(void)state;
	item = put_stream(true);
	(void)fill(item);
	fake.room = 1;
	deliver();
	n_sent = fake.n_sent;
	fake.room = 100; /* of a connection that is gone */
	tell(PORT_GONE);
	deliver();
	assert_true(fake.n_sent > n_sent);
	assert_ptr_equal(handover_take(h, &event), item);
	assert_int_equal(event, HANDOVER_GONE);
	handover_end(item); /* it hears of no more events */
	deliver();
	expect_no_event();
	/* It goes at the same time as the item ends. */
	item = put_stream(true);
	tell(PORT_GONE);
	handover_reply(item, NULL, 0);
	deliver();
	expect_no_event();
}

/* What waits for a reader that stands still does not keep the connection from being closed. */
static void test_closing_does_not_wait(void **state)
{
	struct handover_item *item;

	(void)state;
	item = put_stream(true);
	(void)fill(item);
	fake.room = 1;
	deliver();
	fake.room = 0;
	handover_close(item);
	deliver();
	assert_true(fake.has_closed);
}

static void test_a_question_of_the_receiver(void **state)
{
	struct handover_item *item;

	(void)state;
	item = put_stream(false);
	item->n_bytes = 3;
	handover_ask(item, 40);
	deliver();
	assert_ptr_equal(asked, item);
	assert_int_equal(asked_to.cap, 40);
	assert_int_equal(item->n_bytes, 3);
	handover_answer(item, (const uint8_t *)"answer", 6, false);
	assert_ptr_equal(take_event(HANDOVER_ANSWERED), item);
	assert_int_equal(item->n_bytes, 6);
	assert_memory_equal(item->bytes, "answer", 6);
	handover_reply(item, (const uint8_t *)"signed", 6);
	deliver();
	assert_memory_equal(fake.sent, "signed", 6);
	/* The worker has no answer, and the connection has to end. */
	item = put_stream(false);
	handover_ask(item, 40);
	deliver();
	handover_answer(item, NULL, 0, true);
	assert_ptr_equal(take_event(HANDOVER_CLOSES), item);
	handover_close(item);
	deliver();
	assert_true(fake.has_closed);
	/* Its port goes before the worker takes it. */
	item = put_stream(false);
	handover_ask(item, 40);
	handover_port_gone(way, &fake.port);
	assert_ptr_equal(take_event(HANDOVER_GONE), item);
	deliver();
	assert_ptr_equal(take_event(HANDOVER_ANSWERED), item);
	assert_int_equal(item->n_bytes, 0);
	handover_close(item);
	deliver();
}

/* The receiver has ended: what the worker answers then is freed. */
static void test_an_answer_that_nobody_takes(void **state)
{
	struct handover_item *items[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		items[i] = put_stream(false);
		handover_ask(items[i], 40);
	}
	deliver();
	handover_answer(items[0], (const uint8_t *)"answer", 6, false);
	handover_answer(items[1], NULL, 0, true);
	handover_free(h);
	handover_way_free(way);
	assert_int_equal(handover_new(&h), 0);
	assert_int_equal(handover_way_new(&way, on_question, NULL), 0);
}

static void drop_all(void)
{
	struct handover_item *item;
	enum handover_event event;

	while ((item = handover_take(h, &event)))
		handover_reply(item, NULL, 0);
	while (is_readable(handover_source(way).fd))
		handover_source(way).ready(handover_source(way).ctx, 1);
}

static void test_limits(void **state)
{
	static uint8_t large[32768];
	struct port_msg m = message(false);

	(void)state;
	for (unsigned int i = 0; i < HANDOVER_PENDING_MAX; i++)
		put_one();
	assert_false(handover_put(h, way, &fake.port, &m, true));
	assert_int_equal(m.len, 0);
	assert_int_equal(m.outcome, PORT_REPLIES);
	m = message(true);
	assert_false(handover_put(h, way, &fake.port, &m, false));
	assert_int_equal(m.len, 0);
	assert_int_equal(m.outcome, PORT_CLOSES);
	drop_all();
	put_one();
	drop_all();

	for (unsigned int i = 0; i < HANDOVER_PENDING_BYTES / sizeof(large); i++) {
		m = message(false);
		m.data = large;
		m.len = sizeof(large);
		assert_true(handover_put(h, way, &fake.port, &m, true));
		fake.port.stats.deferred++;
	}
	m = message(false);
	assert_false(handover_put(h, way, &fake.port, &m, true));
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
		cmocka_unit_test_setup_teardown(test_what_the_port_says_to_a_claim, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_slow_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_client_that_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_closing_does_not_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_question_of_the_receiver, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_answer_that_nobody_takes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
