/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define UPSTREAM_MAX 2
#define N_QUESTIONS  16

static struct groups groups;
static struct resolver_question questions[N_QUESTIONS];

/* One hash for all: the names have to be compared. */
static struct resolver_question *question(unsigned int i, char name, uint16_t qtype)
{
	struct resolver_question *q = &questions[i];

	memset(q, 0, sizeof(*q));
	memcpy(q->name, (uint8_t[]){ 1, (uint8_t)name, 0 }, 3);
	q->qtype = qtype;
	q->qclass = DNS_CLASS_IN;
	q->hash = 7;
	return q;
}

static int begin(void **state)
{
	(void)state;
	return groups_init(&groups, N_QUESTIONS, UPSTREAM_MAX, NULL);
}

static int end(void **state)
{
	(void)state;
	groups_fini(&groups);
	return 0;
}

static void only_the_same_question_joins(void **state)
{
	(void)state;
	assert_false(groups_join(&groups, question(0, 'a', DNS_TYPE_A)));
	assert_true(groups_join(&groups, question(1, 'a', DNS_TYPE_A)));
	assert_false(groups_join(&groups, question(2, 'b', DNS_TYPE_A)));
	assert_false(groups_join(&groups, question(3, 'a', DNS_TYPE_AAAA)));
	question(4, 'a', DNS_TYPE_A)->qclass = DNS_CLASS_CH;
	assert_false(groups_join(&groups, &questions[4]));
	assert_ptr_equal(questions[0].group, questions[1].group);
}

static void checking_disabled_is_another_question_where_it_is_kept(void **state)
{
	(void)state;
	assert_false(groups_join(&groups, question(0, 'a', DNS_TYPE_A)));
	question(1, 'a', DNS_TYPE_A)->checking_disabled = true;
	assert_true(groups_join(&groups, &questions[1]));
	groups.keeps_cd = true;
	question(2, 'a', DNS_TYPE_A)->checking_disabled = true;
	assert_false(groups_join(&groups, &questions[2]));
	assert_true(questions[2].group->checking_disabled);
	assert_true(groups_join(&groups, question(3, 'a', DNS_TYPE_A)));
	assert_ptr_equal(questions[3].group, questions[0].group);
}

/* What the one memory is asked, perhaps in vain, holds up nobody who asks the other one. */
static void another_memory_is_another_question(void **state)
{
	(void)state;
	question(0, 'a', DNS_TYPE_A)->memory = 1;
	assert_false(groups_join(&groups, &questions[0]));
	assert_false(groups_join(&groups, question(1, 'a', DNS_TYPE_A)));
	question(2, 'a', DNS_TYPE_A)->memory = 1;
	assert_true(groups_join(&groups, &questions[2]));
	assert_int_equal(groups_next(&groups)->memory, 1);
	assert_int_equal(groups_next(&groups)->memory, 0);
}

static void who_forwards_has_no_memories(void **state)
{
	(void)state;
	groups.keeps_cd = true;
	question(0, 'a', DNS_TYPE_A)->memory = 1;
	assert_false(groups_join(&groups, &questions[0]));
	assert_true(groups_join(&groups, question(1, 'a', DNS_TYPE_A)));
}

static void groups_are_asked_in_their_order_up_to_the_limit(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		groups_join(&groups, question(i, (char)('a' + i), DNS_TYPE_A));
	assert_ptr_equal(groups_next(&groups), questions[0].group);
	assert_ptr_equal(groups_next(&groups), questions[1].group);
	assert_null(groups_next(&groups));
}

static void a_queued_group_without_waiters_is_never_asked(void **state)
{
	(void)state;
	groups_join(&groups, question(0, 'a', DNS_TYPE_A));
	groups_join(&groups, question(1, 'a', DNS_TYPE_A));
	groups_leave(&groups, &questions[0]);
	groups_leave(&groups, &questions[1]);
	assert_null(groups_next(&groups));
	assert_false(groups_join(&groups, question(2, 'a', DNS_TYPE_A)));
}

static void who_comes_late_joins_an_abandoned_group(void **state)
{
	struct resolver_group *group;

	(void)state;
	groups_join(&groups, question(0, 'a', DNS_TYPE_A));
	group = groups_next(&groups);
	groups_leave(&groups, &questions[0]);
	assert_int_equal(groups.n_orphaned, 1);
	assert_true(groups_join(&groups, question(1, 'a', DNS_TYPE_A)));
	assert_int_equal(groups.n_orphaned, 0);
	groups_leave(&groups, &questions[1]);
	groups_put(&groups, group);
	assert_int_equal(groups.n_asked, 0);
	assert_int_equal(groups.n_orphaned, 0);
}

/* Abandoned groups leave their places to others, but not for ever more of them. */
static void abandoned_groups_are_bounded(void **state)
{
	unsigned int n = 0;

	(void)state;
	for (;; n++) {
		groups_join(&groups, question(0, (char)('a' + n), DNS_TYPE_A));
		if (!groups_next(&groups))
			break;
		groups_leave(&groups, &questions[0]);
	}
	assert_int_equal(n, GROUPS_ORPHANED_TIMES * UPSTREAM_MAX);
}

/* Full with abandoned ones, there is still a group for each question. */
static void there_is_room_for_every_question(void **state)
{
	abandoned_groups_are_bounded(state);
	groups_leave(&groups, &questions[0]);
	for (unsigned int i = 0; i < N_QUESTIONS; i++)
		assert_false(groups_join(&groups, question(i, (char)('A' + i), DNS_TYPE_TXT)));
}

/* --- Shares ----------------------------------------------------------------------------------- */

#define MANY_UPSTREAM  40
#define MANY_QUESTIONS 200

static struct resolver_question many[MANY_QUESTIONS];
static unsigned int n_displaced;

/* A question of its own for each i. */
static struct resolver_question *question_of(unsigned int i, uint64_t client)
{
	struct resolver_question *q = &many[i];

	memset(q, 0, sizeof(*q));
	memcpy(q->name, (uint8_t[]){ 1, (uint8_t)i, 0 }, 3);
	q->qtype = DNS_TYPE_A;
	q->qclass = DNS_CLASS_IN;
	q->place.client = client;
	return q;
}

static void note_displaced(void *owner, struct resolver_group *group)
{
	(void)owner;
	while (!cds_list_empty(&group->waiters))
		groups_leave(&groups, cds_list_entry(group->waiters.next, struct resolver_question,
						     waiting));
	n_displaced++;
}

static int begin_many(void **state)
{
	(void)state;
	n_displaced = 0;
	if (groups_init(&groups, MANY_QUESTIONS, MANY_UPSTREAM, NULL))
		return -1;
	groups.displace = note_displaced;
	return 0;
}

static unsigned int ask_all(void)
{
	unsigned int n = 0;

	while (groups_next(&groups))
		n++;
	return n;
}

static void one_client_leaves_places_to_others(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		groups_join(&groups, question_of(i, 1));
	assert_int_equal(ask_all(), 33); /* the last one while 32 are 4 times the 8 that are free */
	for (unsigned int i = 100; i < 105; i++)
		groups_join(&groups, question_of(i, 2));
	for (unsigned int i = 100; i < 105; i++)
		assert_ptr_equal(groups_next(&groups), many[i].group);
	assert_null(groups_next(&groups));
	assert_int_equal(n_displaced, 0);
}

/* Those without waiters, too: what nobody answers counts until it ends. */
static void abandoned_groups_count_for_their_client(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		groups_join(&groups, question_of(i, 1));
		if (groups_next(&groups))
			groups_leave(&groups, &many[i]);
	}
	assert_int_equal(groups.n_orphaned, 33);
	groups_join(&groups, question_of(100, 2));
	assert_ptr_equal(groups_next(&groups), many[100].group);
}

static void who_has_the_fewest_places_is_next(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 30; i++)
		groups_join(&groups, question_of(i, 1));
	for (unsigned int i = 0; i < 10; i++)
		(void)groups_next(&groups);
	groups_join(&groups, question_of(30, 2));
	groups_join(&groups, question_of(31, 3));
	assert_ptr_equal(groups_next(&groups), many[30].group);
	assert_ptr_equal(groups_next(&groups), many[31].group);
	assert_ptr_equal(groups_next(&groups), many[10].group);
}

/* All are taken, and one has most: its oldest goes, and the others keep theirs. */
static void a_place_is_taken_from_those_with_most(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		groups_join(&groups, question_of(i, 1));
	(void)ask_all();
	for (unsigned int i = 100; groups.n_asked < MANY_UPSTREAM; i++) {
		groups_join(&groups, question_of(i, i));
		assert_ptr_equal(groups_next(&groups), many[i].group);
	}
	assert_int_equal(n_displaced, 0);
	groups_join(&groups, question_of(197, 197));
	assert_ptr_equal(groups_next(&groups), many[197].group);
	assert_int_equal(n_displaced, 1);
	assert_int_equal(groups.n_asked - groups.n_orphaned, MANY_UPSTREAM);
	assert_null(many[0].group);
	assert_non_null(many[1].group);
}

static void what_others_wait_for_keeps_its_place(void **state)
{
	(void)state;
	a_place_is_taken_from_those_with_most(state);
	many[199] = many[1];
	many[199].place.client = 8;
	assert_true(groups_join(&groups, &many[199]));
	groups_join(&groups, question_of(198, 9));
	assert_ptr_equal(groups_next(&groups), many[198].group);
	assert_non_null(many[1].group);
	assert_null(many[2].group);
}

/* It waited in the line of one who has many: now it is in that of one who has none. */
static void a_client_with_few_moves_the_group(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		groups_join(&groups, question_of(i, 1));
	(void)ask_all();
	many[199] = many[99];
	many[199].place.client = 2;
	assert_true(groups_join(&groups, &many[199]));
	assert_ptr_equal(groups_next(&groups), many[99].group);
}

/* However they end, every share is given back. */
static void no_share_stays(void **state)
{
	struct resolver_group *asked[MANY_QUESTIONS];
	unsigned int n = 0;

	(void)state;
	for (unsigned int i = 0; i < 150; i++) {
		groups_join(&groups, question_of(i, i % 7));
		if (i % 2 && (asked[n] = groups_next(&groups)))
			n++;
	}
	for (unsigned int i = 0; i < 150; i++)
		if (many[i].group)
			groups_leave(&groups, &many[i]);
	while (n)
		groups_put(&groups, asked[--n]);
	assert_int_equal(groups.n_asked, 0);
	assert_int_equal(groups.waiting.used, 0);
	assert_int_equal(groups.live.used, 0);
	for (uint64_t i = 0; i <= groups.shares.table_mask; i++)
		assert_true(cds_list_empty(&groups.shares.table[i]));
}

#define MANY(test) cmocka_unit_test_setup_teardown(test, begin_many, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_the_same_question_joins, begin, end),
		cmocka_unit_test_setup_teardown(
			checking_disabled_is_another_question_where_it_is_kept, begin, end),
		cmocka_unit_test_setup_teardown(another_memory_is_another_question, begin, end),
		cmocka_unit_test_setup_teardown(who_forwards_has_no_memories, begin, end),
		cmocka_unit_test_setup_teardown(groups_are_asked_in_their_order_up_to_the_limit,
						begin, end),
		cmocka_unit_test_setup_teardown(a_queued_group_without_waiters_is_never_asked,
						begin, end),
		cmocka_unit_test_setup_teardown(who_comes_late_joins_an_abandoned_group, begin,
						end),
		cmocka_unit_test_setup_teardown(abandoned_groups_are_bounded, begin, end),
		cmocka_unit_test_setup_teardown(there_is_room_for_every_question, begin, end),
		MANY(one_client_leaves_places_to_others),
		MANY(abandoned_groups_count_for_their_client),
		MANY(who_has_the_fewest_places_is_next),
		MANY(a_place_is_taken_from_those_with_most),
		MANY(what_others_wait_for_keeps_its_place),
		MANY(a_client_with_few_moves_the_group),
		MANY(no_share_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
