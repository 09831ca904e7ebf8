/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An AF_XDP port tells the driver how far it is behind. The test plays the driver. */
#include "tests/unit/worker/xsk_lab.h"

#include "port/credit.h"

#define RING 64u

static struct volley_queue queue;

static struct port *open_with_credit(void)
{
	struct xsk_config config = small(256, RING);

	config.credit = &queue;
	return open_port(&config);
}

/* Sends n queries, and returns when they are in the ring. */
static void send_and_wait(const struct port *p, int fd, unsigned int n)
{
	struct xsk_frames before, now;

	xsk_frames_read(p, &before);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(send(fd, "query", 5, 0), 5);
	for (int i = 0; i < 5000; i++) {
		xsk_frames_read(p, &now);
		if (before.fill - now.fill >= n)
			return;
		nap_ms(1);
	}
	fail_msg("%u queries: %u frames left the fill ring", n, before.fill - now.fill);
}

/* Receives at most n_cap frames, and answers the queries. Returns the number of frames; some may be
 * the link's own. */
static uint64_t serve(struct port *p, unsigned int n_cap)
{
	uint64_t n_before = p->stats.rx;
	struct port_msg msgs[PORT_BURST];

	port_send(p, 0, msgs, port_receive(p, 0, msgs, n_cap));
	return p->stats.rx - n_before;
}

static void test_life(void **state)
{
	struct port *p;

	(void)state;
	need_lab();
	/* the state that a killed daemon has left */
	queue = (struct volley_queue){ .taken = 7, .limit = 8, .turn_bits = 1, .handed = 1000 };
	p = open_with_credit();
	assert_int_equal(port_start(p), 0);
	assert_int_equal(queue.limit, RING);
	assert_int_equal(1u << queue.turn_bits, VOLLEY_TURN * RING);
	assert_int_equal(queue.taken, 1000);
	port_stop(p);
	assert_int_equal(queue.limit, 0);
	port_close(p);
}

static void test_taken_is_told(void **state)
{
	struct port *p;
	int fd;

	(void)state;
	need_lab();
	queue = (struct volley_queue){ 0 };
	p = open_with_credit();
	assert_int_equal(port_start(p), 0);
	fd = client_to("192.0.2.1");
	send_and_wait(p, fd, 5);
	queue.handed = 5 + 40; /* 40 of them were lost */
	assert_int_equal(serve(p, 2), 2);
	assert_int_equal(queue.taken, 2); /* more may still come */
	assert_true(serve(p, PORT_BURST) >= 3);
	assert_int_equal(queue.taken, 45); /* nothing more comes */
	assert_int_equal(p->stats.rx - p->stats.malformed, 5);
	close(fd);
	port_stop(p);
	port_close(p);
}

/* All frames are lost, and no fd becomes readable: the port polls by itself. */
static void test_looks_when_idle(void **state)
{
	struct port *p;

	(void)state;
	need_lab();
	queue = (struct volley_queue){ 0 };
	p = open_with_credit();
	assert_int_equal(port_start(p), 0);
	assert_true(port_wake_at(p) <= 100000000);
	queue.handed = RING;
	serve(p, PORT_BURST);
	assert_int_equal(queue.taken, RING);
	assert_int_equal(p->stats.rx, p->stats.malformed);
	port_stop(p);
	port_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_taken_is_told),
		cmocka_unit_test(test_looks_when_idle),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
