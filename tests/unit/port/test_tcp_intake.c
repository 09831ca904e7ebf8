/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrivals on their way: two threads put them by threes, two ports take them and free them at
 * once. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "port/tcp_intake.h"

#define N_PUTTERS 2
#define N_PORTS   2
#define N_LISTS   2000 /* of each putter */
#define LIST      3

struct taker {
	struct tcp_arrivals port;
	pthread_t thread;
	int last[N_PUTTERS]; /* numbers come in their order */
	bool is_in_order;
};

static struct tcp_intake *intake;

/* The descriptor is the number of the arrival, the peer's port that of who has put it. */
static void *put(void *who)
{
	int number = 0;

	for (int i = 0; i < N_LISTS; i++) {
		struct tcp_arrival *first = NULL, **end = &first;

		for (int k = 0; k < LIST; k++) {
			*end = calloc(1, sizeof(**end));
			(*end)->fd = ++number;
			(*end)->peer.port = *(uint16_t *)who;
			end = &(*end)->next;
		}
		if (!tcp_intake_put(intake, first))
			abort();
	}
	return NULL;
}

static void *take(void *user)
{
	struct taker *t = user;
	struct pollfd wait = { .fd = t->port.fd, .events = POLLIN };
	struct tcp_arrival *a, *next;

	for (int n = 0; n < N_PUTTERS * N_LISTS * LIST / N_PORTS;) {
		(void)poll(&wait, 1, -1);
		for (a = tcp_intake_take(&t->port); a; a = next, n++) {
			next = a->next;
			t->is_in_order &= a->fd > t->last[a->peer.port];
			t->last[a->peer.port] = a->fd;
			free(a);
		}
	}
	return NULL;
}

static void test_all_arrive_in_their_order(void **state)
{
	struct taker takers[N_PORTS] = { 0 };
	pthread_t putters[N_PUTTERS];
	uint16_t names[N_PUTTERS];

	(void)state;
	assert_int_equal(tcp_intake_new(&intake), 0);
	for (int i = 0; i < N_PORTS; i++) {
		takers[i].port.fd = eventfd(0, EFD_NONBLOCK);
		takers[i].is_in_order = true;
		assert_int_equal(tcp_intake_join(intake, &takers[i].port), 0);
		assert_int_equal(pthread_create(&takers[i].thread, NULL, take, &takers[i]), 0);
	}
	for (uint16_t i = 0; i < N_PUTTERS; i++) {
		names[i] = i;
		assert_int_equal(pthread_create(&putters[i], NULL, put, &names[i]), 0);
	}
	for (int i = 0; i < N_PUTTERS; i++)
		pthread_join(putters[i], NULL);
	for (int i = 0; i < N_PORTS; i++) {
		pthread_join(takers[i].thread, NULL);
		assert_true(takers[i].is_in_order);
		tcp_intake_leave(intake, &takers[i].port);
		assert_null(tcp_intake_take(&takers[i].port));
		close(takers[i].port.fd);
	}
	tcp_intake_free(intake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrive_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
