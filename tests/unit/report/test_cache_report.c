/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `cache lookup` says of an answer from upstream: its view in a word, its TTLs as they are
 * now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "report/report.h"
#include "tests/unit/cache/world.h"

#define AGE_S 10u

/* www.example. 300 IN A 192.0.2.1, and the same with a TTL of 3 */
static const uint8_t body[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1,
				0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 3,  0, 4, 192, 0, 2, 2 };
static const uint16_t ttls[] = { 6, 22 };

/* A copy, as the walk makes one; of no zone, since there are no zones. */
static struct volley_entry *make_entry(const struct world *w, uint8_t view, uint16_t refresh_s)
{
	const uint32_t now_s = clock_coarse_s();
	const struct cache_answer a = {
		.body = body,
		.full_bytes = sizeof(body),
		.ancount = 2,
		.flags = 0x8180,
		.zone_slot = w->slot,
		.zone_gen = w->gen,
		.expires_s = now_s + 290,
		.ttls = ttls,
		.n_ttls = 2,
		.refresh_s = refresh_s,
	};
	const struct volley_entry *e;
	struct volley_entry *copy;
	struct cache_key key;

	cache_key_init(&key, w->cache, (const uint8_t *)"\3www\7example", 13, 1, 1, 0, view);
	assert_int_equal(cache_publish(w->writer, &key, &a, now_s - AGE_S), 0);
	assert_int_equal(cache_lookup(w->cache, &key, now_s, false, &e), CACHE_HIT);
	copy = malloc(e->bytes);
	assert_non_null(copy);
	memcpy(copy, e, e->bytes);
	copy->zone_slot = 0;
	return copy;
}

static const char *word(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	assert_non_null(text);
	return text;
}

static void test_views(void **state)
{
	static const char *const words[] = { "public", "recursive", "private", "iterative" };
	struct report_view v = { 0 };
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++) {
		const struct cache_found found = { make_entry(&w, view, 0), CACHE_HIT, "main" };
		json_t *o = cache_report_entry(&v, &found);

		assert_string_equal(word(o, "view"), words[view]);
		assert_null(json_object_get(o, "refresh_s"));
		json_decref(o);
		free(found.entry);
	}
	world_close(&w);
}

/* The clock may go on by some seconds in between. */
static void test_ttls(void **state)
{
	unsigned int ttl = 0, ttl2 = 1;
	struct cache_found found;
	const json_t *records;
	struct report_view v = { 0 };
	struct world w;
	json_t *o;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	found = (struct cache_found){ make_entry(&w, VOLLEY_VIEW_RECURSIVE, 30), CACHE_HIT,
				      "main" };
	o = cache_report_entry(&v, &found);
	records = json_object_get(o, "answer_records");
	assert_int_equal(json_array_size(records), 2);
	assert_int_equal(sscanf(json_string_value(json_array_get(records, 0)),
				"www.example. %u IN A 192.0.2.1", &ttl),
			 1);
	assert_int_equal(sscanf(json_string_value(json_array_get(records, 1)),
				"www.example. %u IN A 192.0.2.2", &ttl2),
			 1);
	assert_in_range(ttl, 300 - AGE_S - 5, 300 - AGE_S);
	assert_int_equal(ttl2, 0);
	assert_int_equal(json_integer_value(json_object_get(o, "refresh_s")), 30);
	assert_memory_equal(cache_entry_body(found.entry), body, sizeof(body));
	json_decref(o);
	free(found.entry);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_ttls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
