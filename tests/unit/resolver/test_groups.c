/* SPDX-License-Identifier: GPL-2.0-only */
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
