/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/failure_table.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dns/edns.h"

#define PLACES (FAILURE_SETS * FAILURE_WAYS)

static struct failure_table table;
static struct failure found[PLACES + 1];

static struct resolver_question question(const char *text, uint16_t qtype, uint64_t hash)
{
	struct resolver_question q = { .qtype = qtype, .qclass = DNS_CLASS_IN, .hash = hash };

	assert_true(name_from_text(q.name, sizeof(q.name), text, strlen(text)) > 0);
	return q;
}

static size_t find(const char *text)
{
	struct resolver_question q = question(text, DNS_TYPE_A, 0);

	return failure_table_find(&table, q.name, found, PLACES + 1);
}

static void note(const char *text, uint16_t qtype, uint64_t hash, const char *why, uint64_t now_ns)
{
	struct resolver_question q = question(text, qtype, hash);

	failure_table_note(&table, &q, DNS_EDE_DNSSEC_BOGUS, why, now_ns);
}

static void a_failure_is_found_by_its_name(void **state)
{
	(void)state;
	table = (struct failure_table){ 0 };
	assert_int_equal(find("www.lab."), 0);
	note("www.lab.", DNS_TYPE_AAAA, 7, "signature expired", 1000);
	assert_int_equal(find("ww.lab."), 0);
	assert_int_equal(find("www.lab."), 1);
	assert_string_equal(found[0].why, "signature expired");
	assert_int_equal(found[0].ede_code, DNS_EDE_DNSSEC_BOGUS);
	assert_int_equal(found[0].qtype, DNS_TYPE_AAAA);
	assert_int_equal(found[0].first_ns, 1000);
	assert_int_equal(found[0].last_ns, 1000);
	assert_int_equal(found[0].n, 1);
	assert_int_equal(failure_table_find(&table, NULL, found, PLACES), 1);
	assert_int_equal(failure_table_find(&table, NULL, found, 0), 0);
}

static void a_question_that_fails_again_keeps_its_place(void **state)
{
	(void)state;
	table = (struct failure_table){ 0 };
	note("www.lab.", DNS_TYPE_A, 7, "the first reason, a long one", 1000);
	note("www.lab.", DNS_TYPE_AAAA, 7, "of another type", 1500);
	note("www.lab.", DNS_TYPE_A, 7, NULL, 2000);
	assert_int_equal(find("www.lab."), 2);
	assert_int_equal(found[0].qtype, DNS_TYPE_A);
	assert_int_equal(found[0].n, 2);
	assert_int_equal(found[0].first_ns, 1000);
	assert_int_equal(found[0].last_ns, 2000);
	assert_string_equal(found[0].why, "");
	assert_string_equal(found[1].why, "of another type");
}

static void the_oldest_of_a_set_goes(void **state)
{
	char name[16];

	(void)state;
	table = (struct failure_table){ 0 };
	for (unsigned int i = 0; i < FAILURE_WAYS; i++) {
		snprintf(name, sizeof(name), "n%u.lab.", i);
		note(name, DNS_TYPE_A, FAILURE_SETS * i + 3, "x", 1000 + i);
	}
	note("n0.lab.", DNS_TYPE_A, 3, "x", 2000);
	note("new.lab.", DNS_TYPE_A, 3, "x", 3000);
	assert_int_equal(find("n0.lab."), 1);
	assert_int_equal(find("n1.lab."), 0);
	assert_int_equal(find("n2.lab."), 1);
	assert_int_equal(find("new.lab."), 1);
	assert_int_equal(failure_table_find(&table, NULL, found, PLACES), FAILURE_WAYS);
}

static void many_failures_fill_it_and_no_more(void **state)
{
	char name[24];

	(void)state;
	table = (struct failure_table){ 0 };
	for (unsigned int i = 0; i < 3 * PLACES; i++) {
		snprintf(name, sizeof(name), "n%u.lab.", i);
		note(name, DNS_TYPE_A, i, "x", 1000 + i);
	}
	assert_int_equal(failure_table_find(&table, NULL, found, PLACES + 1), PLACES);
	for (unsigned int i = 0; i < PLACES; i++)
		assert_true(found[i].last_ns >= 1000 + 2 * PLACES);
}

/* The words are libunbound's, with names that anybody chooses. */
static void a_reason_is_cut_and_plain(void **state)
{
	static char text[2 * FAILURE_WHY_CAP];

	(void)state;
	table = (struct failure_table){ 0 };
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "a\033[2J\xc3\xa4", 7);
	note("www.lab.", DNS_TYPE_A, 7, text, 1000);
	assert_int_equal(find("www.lab."), 1);
	assert_int_equal(strlen(found[0].why), FAILURE_WHY_CAP - 1);
	assert_memory_equal(found[0].why, "a?[2J??x", 8);
}

/* What a reader meets while the writer is in the middle of a place. */
static void a_place_that_is_being_written_is_left_out(void **state)
{
	(void)state;
	table = (struct failure_table){ 0 };
	note("www.lab.", DNS_TYPE_A, 0, "x", 1000);
	assert_int_equal(find("www.lab."), 1);
	table.places[0].version++;
	assert_int_equal(find("www.lab."), 0);
	table.places[0].version++;
	assert_int_equal(find("www.lab."), 1);
}

/* Each failure of the writer says its number three times. */
static void *write_always(void *arg)
{
	bool *stops = arg;
	struct resolver_question q = { .qclass = DNS_CLASS_IN };
	char why[FAILURE_WHY_CAP];

	for (uint64_t i = 1; !__atomic_load_n(stops, __ATOMIC_RELAXED); i++) {
		q.name[0] = 1;
		q.name[1] = (uint8_t)('a' + i % 16);
		q.qtype = (uint16_t)(i % 16);
		q.hash = i % 2;
		memset(why, (char)('a' + i % 16), sizeof(why) - 1);
		why[sizeof(why) - 1] = 0;
		failure_table_note(&table, &q, (int)(i % 16), why, i);
	}
	return NULL;
}

static void a_reader_beside_the_writer_sees_whole_failures(void **state)
{
	uint64_t n_seen = 0;
	bool stops = false;
	pthread_t writer;

	(void)state;
	table = (struct failure_table){ 0 };
	assert_int_equal(pthread_create(&writer, NULL, write_always, &stops), 0);
	while (n_seen < 400000) {
		size_t n = failure_table_find(&table, NULL, found, PLACES);

		for (size_t i = 0; i < n; i++) {
			const struct failure *f = &found[i];

			assert_int_equal(f->name[1], 'a' + f->qtype);
			assert_int_equal(f->ede_code, f->qtype);
			assert_int_equal(strlen(f->why), FAILURE_WHY_CAP - 1);
			assert_int_equal(f->why[0], 'a' + f->qtype);
			assert_int_equal(f->why[FAILURE_WHY_CAP - 2], 'a' + f->qtype);
		}
		n_seen += n;
	}
	__atomic_store_n(&stops, true, __ATOMIC_RELAXED);
	pthread_join(writer, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_found_by_its_name),
		cmocka_unit_test(a_question_that_fails_again_keeps_its_place),
		cmocka_unit_test(the_oldest_of_a_set_goes),
		cmocka_unit_test(many_failures_fill_it_and_no_more),
		cmocka_unit_test(a_reason_is_cut_and_plain),
		cmocka_unit_test(a_place_that_is_being_written_is_left_out),
		cmocka_unit_test(a_reader_beside_the_writer_sees_whole_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
