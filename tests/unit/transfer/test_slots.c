/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_PLACES 64

static struct event_base *base;
static struct slots slots;
static struct slot places[N_PLACES];
static char order[N_PLACES + 1]; /* a letter for each that was let in */
static size_t n_let_in;

static void go(void *user)
{
	order[n_let_in++] = *(const char *)user;
	order[n_let_in] = '\0';
}

/* The next place waits for the name server of this letter. */
static struct slot *wait_as(const char *name, enum slot_rank rank)
{
	static const char *const letters = "abcdefghijklmnopqrstuvwxyz";
	struct slot *place = places;

	while (place->slots)
		place++;
	*place = (struct slot){ .go = go, .user = (char *)(uintptr_t)strchr(letters, *name) };
	assert_int_equal(slots_enter(&slots, place, name, rank), 0);
	return place;
}

static struct slot *wait_for(const char *name)
{
	return wait_as(name, SLOT_OTHER);
}

static void run(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
}

static int open_lane(void **state)
{
	(void)state;
	base = event_base_new();
	memset(places, 0, sizeof(places));
	n_let_in = 0;
	order[0] = '\0';
	return slots_open(&slots, base, 2);
}

static int close_lane(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PLACES; i++)
		slots_leave(&places[i]);
	assert_int_equal(slots.n_inside, 0);
	assert_true(cds_list_empty(&slots.queues));
	slots_close(&slots);
	event_base_free(base);
	return 0;
}

static void never_more_than_may(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++)
		wait_for("a");
	assert_int_equal(n_let_in, 0); /* never from within */
	run();
	assert_string_equal(order, "aa");
	slots_leave(&places[0]);
	run();
	assert_string_equal(order, "aaa");
	slots_set_limit(&slots, 4);
	run();
	assert_string_equal(order, "aaaaa");
}

/* Twenty of one do not keep out the one of another. */
static void by_turns_of_the_name_servers(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		wait_for("a");
	wait_for("b");
	wait_for("b");
	wait_for("c");
	slots_set_limit(&slots, N_PLACES);
	run();
	assert_int_equal(n_let_in, 23);
	order[7] = '\0';
	assert_string_equal(order, "abcabaa");
}

/* A name server whose users keep their slots for ever leaves a quarter to the others. */
static void one_name_server_has_three_quarters(void **state)
{
	(void)state;
	slots_set_limit(&slots, SLOTS_SHARED);
	for (unsigned int i = 0; i < 20; i++)
		wait_for("a");
	run();
	assert_string_equal(order, "aaaaaa");
	wait_for("b");
	wait_for("c");
	wait_for("c");
	run();
	assert_string_equal(order, "aaaaaabc");
	slots_leave(&places[0]);
	run();
	assert_string_equal(order, "aaaaaabca");
	slots_leave(&places[20]);
	run();
	assert_string_equal(order, "aaaaaabcac");
}

/* Two of them have all slots and never give one back: each other one gets one nevertheless. */
static void a_name_server_without_any_gets_one(void **state)
{
	char name[2] = "c";

	(void)state;
	slots_set_limit(&slots, SLOTS_SHARED);
	for (unsigned int i = 0; i < 10; i++)
		wait_for(i % 2 ? "a" : "b");
	run();
	assert_int_equal(n_let_in, SLOTS_SHARED);
	for (; *name <= 'l'; (*name)++) {
		wait_for(name);
		wait_for(name);
	}
	run();
	assert_int_equal(n_let_in, slots_most(SLOTS_SHARED));
	assert_string_equal(order + SLOTS_SHARED, "cdefghij");
	slots_leave(&places[10]); /* of c, whose second one waits: k has none */
	run();
	assert_string_equal(order + SLOTS_SHARED, "cdefghijk");
}

/* In a queue the highest rank comes first, but the lowest is not left out. */
static void by_rank(void **state)
{
	static const enum slot_rank ranks[] = { SLOT_ASKED, SLOT_PROMPTED, SLOT_OTHER };
	static char letters[] = "apo";

	(void)state;
	slots_set_limit(&slots, 1);
	for (unsigned int i = 0; i < 20; i++) {
		struct slot *place = wait_as("a", ranks[i % 3]);

		place->user = &letters[i % 3];
	}
	for (unsigned int i = 0; i < 20; i++) {
		run();
		for (size_t k = 0; k < N_PLACES; k++)
			if (places[k].is_inside)
				slots_leave(&places[k]);
	}
	assert_string_equal(order, "aaaaaaaopppppppooooo");
}

static void who_leaves_the_queue_is_not_let_in(void **state)
{
	struct slot *second;

	(void)state;
	slots_set_limit(&slots, 1);
	wait_for("a");
	run();
	second = wait_for("b");
	wait_for("c");
	slots_leave(second);
	slots_leave(second);
	slots_leave(&places[0]);
	run();
	assert_string_equal(order, "ac");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(never_more_than_may, open_lane, close_lane),
		cmocka_unit_test_setup_teardown(by_turns_of_the_name_servers, open_lane,
						close_lane),
		cmocka_unit_test_setup_teardown(one_name_server_has_three_quarters, open_lane,
						close_lane),
		cmocka_unit_test_setup_teardown(a_name_server_without_any_gets_one, open_lane,
						close_lane),
		cmocka_unit_test_setup_teardown(by_rank, open_lane, close_lane),
		cmocka_unit_test_setup_teardown(who_leaves_the_queue_is_not_let_in, open_lane,
						close_lane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
