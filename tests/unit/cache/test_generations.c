/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "world.h"

static const uint64_t digest_a[2] = { 1, 2 }, digest_b[2] = { 1, 3 };
static const uint8_t apex[] = "\3new\4zone";
#define APEX_BYTES 10

/* Is an answer of this slot and generation valid? */
static bool is_served(const struct world *w, uint32_t slot, uint32_t gen)
{
	static uint8_t body[32];
	struct cache_key key = key_of(w->cache, (uint64_t)slot << 32 | gen);
	struct cache_answer a = { .body = body,
				  .full_bytes = 32,
				  .zone_slot = slot,
				  .zone_gen = gen,
				  .expires_s = VOLLEY_NEVER };
	const struct volley_entry *e;

	cache_withdraw(w->cache, &key);
	MUST(!cache_publish(w->writer, &key, &a, WORLD_NOW_S));
	return cache_lookup(w->cache, &key, WORLD_NOW_S, false, &e) == CACHE_HIT;
}

static void prepare(const struct world *w, const uint64_t digest[2], uint32_t *slot, uint32_t *gen)
{
	cache_zone_prepare(w->cache, apex, APEX_BYTES, digest, slot, gen);
}

static void test_life_of_a_zone(void **state)
{
	uint32_t slot, gen, slot2, gen2, gen3;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	prepare(&w, digest_a, &slot, &gen);
	assert_true(slot && slot != w.slot && gen);
	assert_false(is_served(&w, slot, gen)); /* not before it is committed */
	cache_zone_commit(w.cache, slot, gen, digest_a);
	assert_true(is_served(&w, slot, gen));

	prepare(&w, digest_a, &slot2, &gen2); /* the same again */
	assert_true(slot2 == slot && gen2 == gen);
	prepare(&w, digest_b, &slot2, &gen2); /* another content */
	assert_true(slot2 == slot && gen2 != gen);
	assert_true(is_served(&w, slot, gen)); /* a broken file: the old goes on */
	cache_zone_commit(w.cache, slot, gen2, digest_b);
	assert_false(is_served(&w, slot, gen));
	assert_true(is_served(&w, slot, gen2));

	gen3 = cache_zone_flush(w.cache, slot);
	assert_true(gen3 != gen2 && gen3 != gen);
	assert_false(is_served(&w, slot, gen2));
	assert_true(is_served(&w, slot, gen3));
	prepare(&w, digest_b, &slot2, &gen2);
	assert_int_equal(gen2, gen3);

	cache_zone_drop(w.cache, slot);
	assert_false(is_served(&w, slot, gen3));
	prepare(&w, digest_b, &slot2, &gen2); /* back: nothing of its former life is valid */
	cache_zone_commit(w.cache, slot2, gen2, digest_b);
	assert_true(gen2 != gen && gen2 != gen3);
	assert_false(is_served(&w, slot, gen3));
	world_close(&w);
}

static void test_adopted(void **state)
{
	uint32_t slot, gen, slot2, gen2;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	prepare(&w, digest_a, &slot, &gen);
	cache_zone_commit(w.cache, slot, gen, digest_a);
	world_stop(&w);
	world_start(&w);
	prepare(&w, digest_a, &slot2, &gen2);
	assert_true(slot2 == slot && gen2 == gen);
	assert_true(is_served(&w, slot2, gen2));
	prepare(&w, digest_b, &slot2, &gen2);
	assert_true(slot2 == slot && gen2 != gen); /* the zone changed while nobody looked */
	world_close(&w);
}

static void test_prepared_but_never_committed(void **state)
{
	uint32_t slot, gen, gen2;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	prepare(&w, digest_a, &slot, &gen);
	assert_false(is_served(&w, slot, gen));
	world_stop(&w); /* died here */
	world_start(&w);
	prepare(&w, digest_b, &slot, &gen2);
	cache_zone_commit(w.cache, slot, gen2, digest_b);
	assert_true(gen2 != gen);
	assert_false(is_served(&w, slot, gen));
	world_close(&w);
}

/* The content changes, the generation stays: nobody may take its answers for those of either. */
static void test_change_within_a_generation(void **state)
{
	uint32_t slot, gen, slot2, gen2;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	assert_int_equal(cache_zone_begin_change(w.cache, 0, digest_a), 0);
	prepare(&w, digest_a, &slot, &gen);
	assert_int_equal(cache_zone_begin_change(w.cache, slot, digest_a), 0); /* none is valid */
	cache_zone_commit(w.cache, slot, gen, digest_a);
	assert_int_equal(cache_zone_begin_change(w.cache, slot, digest_b), 0);
	assert_int_equal(cache_zone_begin_change(w.cache, slot, digest_a), gen);
	assert_true(is_served(&w, slot, gen)); /* all the while */
	cache_zone_end_change(w.cache, slot, digest_b);
	assert_true(is_served(&w, slot, gen));
	prepare(&w, digest_b, &slot2, &gen2);
	assert_true(slot2 == slot && gen2 == gen);
	prepare(&w, digest_a, &slot2, &gen2);
	assert_true(slot2 == slot && gen2 != gen);
	world_close(&w);
}

static void test_died_within_a_change(void **state)
{
	const uint64_t *const digests[] = { digest_a, digest_b };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) { /* the file is the old one again, or the new one */
		uint32_t slot, gen, slot2, gen2;
		struct world w;

		world_open(&w, CACHE_BYTES_MIN);
		prepare(&w, digest_a, &slot, &gen);
		cache_zone_commit(w.cache, slot, gen, digest_a);
		assert_int_equal(cache_zone_begin_change(w.cache, slot, digest_a), gen);
		world_stop(&w);
		assert_int_equal(w.memory.zones[slot].gen, gen); /* the driver goes on */
		world_start(&w);
		assert_true(w.adopted);
		prepare(&w, digests[i], &slot2, &gen2);
		assert_true(slot2 == slot && gen2 != gen);
		cache_zone_commit(w.cache, slot2, gen2, digests[i]);
		assert_false(is_served(&w, slot, gen));
		world_close(&w);
	}
}

static void test_table_full(void **state)
{
	uint32_t n_slots, slot, gen, n = 0;
	uint8_t name[] = "\4aaaa";
	static bool taken[VOLLEY_DEFAULT_ZONES];
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	n_slots = w.memory.sizes.n_zones;
	assert_int_equal(n_slots, VOLLEY_DEFAULT_ZONES);
	for (;;) {
		memcpy(name + 1, &n, 4);
		cache_zone_prepare(w.cache, name, 6, digest_a, &slot, &gen);
		if (!slot)
			break;
		assert_true(slot < n_slots && !taken[slot]);
		taken[slot] = true;
		cache_zone_commit(w.cache, slot, gen, digest_a);
		n++;
	}
	assert_int_equal(n, n_slots - 2); /* slot 0, and the world's own zone */
	assert_int_equal(gen, 0);
	cache_zone_commit(w.cache, 0, 0, digest_a); /* of a zone without a slot: no effect */
	cache_zone_drop(w.cache, 0);
	assert_int_equal(cache_zone_flush(w.cache, 0), 0);
	assert_int_equal(w.memory.zones[0].gen, 0);
	n = 7;
	memcpy(name + 1, &n, 4);
	cache_zone_prepare(w.cache, name, 6, digest_a, &slot, &gen);
	assert_true(slot);
	cache_zone_drop(w.cache, slot);
	prepare(&w, digest_a, &slot, &gen);
	assert_true(slot); /* in its place */
	world_close(&w);
}

/* Places for counters: each of the first zones has one of its own; one that a zone gave back is
 * given out when no other is left. */
static void test_counters(void **state)
{
	static bool is_taken[VOLLEY_COUNT_ZONES];
	uint32_t slots[VOLLEY_COUNT_ZONES + 8], gen, place, n = 0;
	uint8_t name[] = "\4aaaa";
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	is_taken[cache_zone_counter(w.cache, w.slot)] = true;
	for (; n < VOLLEY_COUNT_ZONES + 8; n++) {
		memcpy(name + 1, &n, 4);
		cache_zone_prepare(w.cache, name, 6, digest_a, &slots[n], &gen);
		place = cache_zone_counter(w.cache, slots[n]);
		assert_true(place >= VOLLEY_COUNT_OTHER_ZONE && place < VOLLEY_COUNT_ZONES);
		if (n < VOLLEY_COUNT_ZONES - VOLLEY_COUNT_FIRST_ZONE - 1) /* the world has one */
			assert_true(place >= VOLLEY_COUNT_FIRST_ZONE && !is_taken[place]);
		else
			assert_int_equal(place, VOLLEY_COUNT_OTHER_ZONE);
		is_taken[place] = true;
	}
	cache_zone_prepare(w.cache, name, 6, digest_b, &slots[n - 1], &gen); /* it is kept */
	assert_int_equal(cache_zone_counter(w.cache, slots[n - 1]), VOLLEY_COUNT_OTHER_ZONE);
	place = cache_zone_counter(w.cache, slots[5]);
	cache_zone_drop(w.cache, slots[n - 1]);
	cache_zone_drop(w.cache, slots[5]);
	assert_int_equal(cache_zone_counter(w.cache, slots[5]), VOLLEY_COUNT_NO_ZONE);
	prepare(&w, digest_a, &slots[5], &gen);
	assert_int_equal(cache_zone_counter(w.cache, slots[5]), place);
	assert_int_equal(cache_zone_counter(w.cache, 0), VOLLEY_COUNT_NO_ZONE);
	assert_int_equal(cache_zone_counter(w.cache, UINT32_MAX), VOLLEY_COUNT_NO_ZONE);
	world_close(&w);
}

/* A place goes from one zone to another, which the table remembers. */
static void test_counter_exchanged(void **state)
{
	uint32_t slots[VOLLEY_COUNT_ZONES + 8], gen, place, last = VOLLEY_COUNT_ZONES + 7;
	uint8_t name[] = "\4aaaa";
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint32_t n = 0; n <= last; n++) {
		memcpy(name + 1, &n, 4);
		cache_zone_prepare(w.cache, name, 6, digest_a, &slots[n], &gen);
	}
	place = cache_zone_counter(w.cache, slots[5]);
	assert_true(place >= VOLLEY_COUNT_FIRST_ZONE);
	assert_false(cache_zone_counter_give(w.cache, slots[last])); /* none is free */
	assert_false(cache_zone_counter_give(w.cache, slots[5]));    /* it has one */
	cache_zone_counter_release(w.cache, slots[last]);
	assert_false(cache_zone_counter_give(w.cache, slots[last]));
	cache_zone_counter_release(w.cache, slots[5]);
	cache_zone_counter_release(w.cache, slots[5]);
	assert_int_equal(cache_zone_counter(w.cache, slots[5]), VOLLEY_COUNT_OTHER_ZONE);
	assert_true(cache_zone_counter_give(w.cache, slots[last]));
	assert_int_equal(cache_zone_counter(w.cache, slots[last]), place);
	assert_false(cache_zone_counter_give(w.cache, slots[5]));
	cache_zone_drop(w.cache, slots[last]);
	assert_true(cache_zone_counter_give(w.cache, slots[5]));
	assert_int_equal(cache_zone_counter(w.cache, slots[5]), place);
	assert_false(cache_zone_counter_give(w.cache, 0));
	cache_zone_counter_release(w.cache, 0);
	cache_zone_counter_release(w.cache, UINT32_MAX);
	assert_false(cache_zone_counter_give(w.cache, UINT32_MAX));
	world_close(&w);
}

/* Places that zones have given back, before and after others were taken; none is had twice. */
static void test_counters_given_back(void **state)
{
	uint32_t slots[VOLLEY_COUNT_ZONES], gen, n = 0;
	bool is_taken[VOLLEY_COUNT_ZONES] = { false };
	uint8_t name[] = "\4aaaa";
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (; n < VOLLEY_COUNT_ZONES; n++) {
		memcpy(name + 1, &n, 4);
		cache_zone_prepare(w.cache, name, 6, digest_a, &slots[n], &gen);
	}
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = round; i < 300; i += 3)
			cache_zone_drop(w.cache, slots[i]);
		for (uint32_t i = round; i < 300; i += 3) {
			memcpy(name + 1, &n, 4);
			n++;
			cache_zone_prepare(w.cache, name, 6, digest_a, &slots[i], &gen);
			assert_true(cache_zone_counter(w.cache, slots[i]) >=
				    VOLLEY_COUNT_FIRST_ZONE);
		}
	}
	for (uint32_t i = 0; i < VOLLEY_COUNT_ZONES; i++) {
		uint32_t place = cache_zone_counter(w.cache, slots[i]);

		assert_false(place >= VOLLEY_COUNT_FIRST_ZONE && is_taken[place]);
		is_taken[place] = true;
	}
	world_close(&w);
}

/* A list of the owners of places may be kept until this number changes. */
static void test_counter_changes(void **state)
{
	uint32_t before, slot, gen;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	before = cache_zone_counter_changes();
	(void)cache_zone_counter(w.cache, w.slot);
	assert_false(cache_zone_counter_give(w.cache, w.slot)); /* it has one */
	assert_int_equal(cache_zone_counter_changes(), before);
	prepare(&w, digest_a, &slot, &gen); /* as after a start, when the slot was there before */
	assert_int_not_equal(cache_zone_counter_changes(), before);
	before = cache_zone_counter_changes();
	cache_zone_counter_release(w.cache, w.slot);
	assert_int_not_equal(cache_zone_counter_changes(), before);
	before = cache_zone_counter_changes();
	assert_true(cache_zone_counter_give(w.cache, w.slot));
	assert_int_not_equal(cache_zone_counter_changes(), before);
	before = cache_zone_counter_changes();
	cache_zone_drop(w.cache, w.slot);
	assert_int_not_equal(cache_zone_counter_changes(), before);
	world_close(&w);
}

static void test_drop_others(void **state)
{
	uint32_t slots[100], gens[100], keep[60];
	uint8_t name[] = "\4aaaa";
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint32_t i = 0; i < 100; i++) {
		memcpy(name + 1, &i, 4);
		cache_zone_prepare(w.cache, name, 6, digest_a, &slots[i], &gens[i]);
		cache_zone_commit(w.cache, slots[i], gens[i], digest_a);
	}
	for (uint32_t i = 0; i < 50; i++)
		keep[i] = slots[i * 2];
	for (uint32_t i = 50; i < 60; i++)
		keep[i] = i & 1 ? UINT32_MAX : 0; /* no slots at all */
	assert_int_equal(cache_zone_drop_others(w.cache, keep, 60), 0);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(is_served(&w, slots[i], gens[i]), i % 2 == 0);
	assert_false(get(&w, 1));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_of_a_zone),
		cmocka_unit_test(test_adopted),
		cmocka_unit_test(test_prepared_but_never_committed),
		cmocka_unit_test(test_change_within_a_generation),
		cmocka_unit_test(test_died_within_a_change),
		cmocka_unit_test(test_table_full),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_counter_exchanged),
		cmocka_unit_test(test_counters_given_back),
		cmocka_unit_test(test_counter_changes),
		cmocka_unit_test(test_drop_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
