/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/ticket_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"

#define LIFE_NS  (TICKET_LIFE_S * CLOCK_NS_PER_S)
#define START_NS (5 * CLOCK_NS_PER_S)

static struct ticket_key key_at(struct ticket_keys *keys, uint64_t now_ns)
{
	struct ticket_key key;

	assert_int_equal(ticket_keys_find(keys, NULL, now_ns, &key), 0);
	return key;
}

static int place_of(struct ticket_keys *keys, const struct ticket_key *key, uint64_t now_ns)
{
	struct ticket_key found;
	int at = ticket_keys_find(keys, key->name, now_ns, &found);

	if (at >= 0)
		assert_memory_equal(&found, key, sizeof(found));
	return at;
}

/* A ticket that was made in the last moment of its key can be read for as long as a session can be
 * resumed. */
static void a_random_key_makes_tickets_for_one_life_and_reads_them_for_another(void **state)
{
	struct ticket_keys *keys;
	struct ticket_key first, second;

	(void)state;
	assert_int_equal(ticket_keys_make(&keys, START_NS), 0);
	first = key_at(keys, START_NS);
	assert_int_equal(place_of(keys, &first, START_NS + LIFE_NS - 1), 0);
	second = key_at(keys, START_NS + LIFE_NS);
	assert_memory_not_equal(first.name, second.name, sizeof(first.name));
	assert_memory_not_equal(first.cipher, second.cipher, sizeof(first.cipher));
	assert_int_equal(place_of(keys, &first, START_NS + 2 * LIFE_NS - 1), 1);
	assert_int_equal(place_of(keys, &first, START_NS + 2 * LIFE_NS), -1);
	assert_int_equal(place_of(keys, &second, START_NS + 2 * LIFE_NS), 1);
	ticket_keys_put(keys);
}

/* Nobody came meanwhile: its tickets are too old. */
static void a_random_key_of_long_ago_is_gone(void **state)
{
	struct ticket_keys *keys;
	struct ticket_key first;

	(void)state;
	assert_int_equal(ticket_keys_make(&keys, START_NS), 0);
	first = key_at(keys, START_NS);
	assert_int_equal(place_of(keys, &first, START_NS + 2 * LIFE_NS), -1);
	ticket_keys_put(keys);
}

/* Threads read the clock before they have their turn: one may come with a time before the last
 * change. */
static void a_thread_that_read_the_clock_before_changes_nothing(void **state)
{
	struct ticket_keys *keys;
	struct ticket_key first, second;

	(void)state;
	assert_int_equal(ticket_keys_make(&keys, START_NS), 0);
	first = key_at(keys, START_NS);
	second = key_at(keys, START_NS + LIFE_NS + 10);
	assert_int_equal(place_of(keys, &second, START_NS + LIFE_NS + 9), 0);
	assert_int_equal(place_of(keys, &first, START_NS + LIFE_NS + 10), 1);
	ticket_keys_put(keys);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, 0600), 0);
}

static void keys_of_a_file_stay_in_their_order(void **state)
{
	char path[] = "/tmp/volley-ticket-keys-XXXXXX", text[2000], err[256];
	struct ticket_keys *keys;
	struct ticket_key first, other = { .name = { 0 } };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(text, sizeof(text), "# a comment of any length: %01200d\n%0160d\r\n\n%0159d2", 5,
		 1, 0);
	write_file(path, text);
	assert_int_equal(ticket_keys_read(&keys, path, err, sizeof(err)), 0);
	first = key_at(keys, START_NS);
	assert_int_equal(first.mac[31], 1);
	assert_int_equal(first.name[0], 0);
	first = key_at(keys, START_NS + 100 * LIFE_NS);
	assert_int_equal(first.mac[31], 1);
	memset(other.name, 7, sizeof(other.name));
	assert_int_equal(place_of(keys, &other, START_NS), -1);
	ticket_keys_put(keys);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_random_key_makes_tickets_for_one_life_and_reads_them_for_another),
		cmocka_unit_test(a_random_key_of_long_ago_is_gone),
		cmocka_unit_test(a_thread_that_read_the_clock_before_changes_nothing),
		cmocka_unit_test(keys_of_a_file_stay_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
