/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which questions an engine notes: all where it is told so, else one of 256; and never a torn
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "engine/sample.h"
#include "tests/unit/engine/world.h"

static struct sampler sampler;
static struct sample out[SAMPLER_CAP];

/* A name of i % 200 + 4 octets: i, and what tells it. */
static void make(struct query *q, uint32_t i)
{
	q->qtype = (uint16_t)(i % 200);
	q->qname_bytes = (uint16_t)(i % 200 + 4);
	wire_store_be32(q->folded, i);
	memset(q->folded + 4, (int)(i % 200), i % 200);
}

static uint32_t number_of(const struct sample *s)
{
	return wire_load_be32(s->folded);
}

static bool is_whole(const struct sample *s)
{
	for (uint32_t i = 4; i < s->name_bytes; i++)
		if (s->folded[i] != s->qtype)
			return false;
	return s->name_bytes == s->qtype + 4 && number_of(s) % 200 == s->qtype;
}

static void begin(unsigned int finer)
{
	sampler = (struct sampler){ 0 };
	sampler_init(&sampler);
	sampler_set_finer(&sampler, finer);
}

static void test_every_question(void **state)
{
	static struct query q;
	uint64_t n_seen;

	(void)state;
	begin(SAMPLER_FINEST);
	for (uint32_t i = 0; i < SAMPLER_CAP + 10; i++) {
		make(&q, i);
		sampler_see(&sampler, &q);
	}
	assert_int_equal(sampler_take(&sampler, out, SAMPLER_CAP, &n_seen), SAMPLER_CAP);
	assert_int_equal(n_seen, SAMPLER_CAP + 10); /* what had no room is counted all the same */
	for (uint32_t i = 0; i < SAMPLER_CAP; i++)
		assert_true(number_of(&out[i]) == i && is_whole(&out[i]));
	assert_int_equal(sampler_take(&sampler, out, SAMPLER_CAP, &n_seen), 0);
	sampler_see(&sampler, &q);
	sampler_see(&sampler, &q);
	assert_int_equal(sampler_take(&sampler, out, 1, &n_seen), 1);
	assert_int_equal(sampler_take(&sampler, out, 1, &n_seen), 1);
}

static void test_gaps(void **state)
{
	static struct query q;
	uint64_t n_seen = 0;
	size_t n = 0, n_odd = 0;

	(void)state;
	begin(0);
	for (uint32_t i = 0; i < 1000000; i++) {
		make(&q, i % 2);
		sampler_see(&sampler, &q);
		if (i % 1000)
			continue;
		for (size_t k = sampler_take(&sampler, out, SAMPLER_CAP, &n_seen); k; k--, n++)
			n_odd += out[k - 1].qtype;
	}
	assert_in_range(n_seen, 999000, 1000000 + 511);
	assert_in_range(n, 3500, 4300);
	assert_in_range(n_odd, n * 45 / 100, n * 55 / 100); /* no step with the traffic */
}

static bool stopping;

static void *taker(void *user)
{
	uint64_t n_seen, last = 0;
	uint32_t next = 0;
	size_t *n = user;

	while (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
		static struct sample mine[SAMPLER_CAP];
		size_t k = sampler_take(&sampler, mine, SAMPLER_CAP, &n_seen);

		MUST(n_seen >= last);
		last = n_seen;
		for (size_t i = 0; i < k; i++) {
			MUST(is_whole(&mine[i]) && number_of(&mine[i]) >= next);
			next = number_of(&mine[i]) + 1;
		}
		__atomic_store_n(n, *n + k, __ATOMIC_RELAXED);
		/* A ring that is full, and one that is nearly empty. */
		sampler_set_finer(&sampler, *n / 1024 % 2 ? SAMPLER_FINEST - 4 : SAMPLER_FINEST);
	}
	return NULL;
}

static void test_two_threads(void **state)
{
	static struct query q;
	pthread_t thread;
	size_t n = 0;

	(void)state;
	begin(SAMPLER_FINEST);
	stopping = false;
	assert_int_equal(pthread_create(&thread, NULL, taker, &n), 0);
	/* However late the other thread begins. */
	for (uint32_t i = 0; i < 2000000 || __atomic_load_n(&n, __ATOMIC_RELAXED) < 50000; i++) {
		make(&q, i);
		sampler_see(&sampler, &q);
	}
	__atomic_store_n(&stopping, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/* What the engine answered, and not what it could not read. */
static void test_engine(void **state)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;
	static struct world world;
	static struct reply r;
	uint64_t n_seen;

	(void)state;
	rcu_register_thread();
	world_add_zone(&world, "z.test", "@ 60 SOA ns root 1 2 3 4 60\n@ 60 NS ns.y.test.\n");
	world_open(&world, &config);
	sampler_set_finer(engine_sampler(world.engine), SAMPLER_FINEST);
	send_bytes(world.engine, (const uint8_t[12]){ 0 }, 12, false, &r);
	for (int i = 0; i < 2; i++)
		send_ask(world.engine, &(struct ask){ .name = "Z.test", .type = DNS_TYPE_SOA }, &r);
	send_ask(world.engine, &(struct ask){ .name = "y.test", .type = DNS_TYPE_A }, &r);
	assert_int_equal(sampler_take(engine_sampler(world.engine), out, SAMPLER_CAP, &n_seen), 3);
	assert_int_equal(out[0].qtype, DNS_TYPE_SOA);
	assert_memory_equal(out[1].folded, "\1z\4test", 8);
	assert_memory_equal(out[2].folded, "\1y\4test", 8);
	world_free(&world);
	rcu_unregister_thread();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_question),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_two_threads),
		cmocka_unit_test(test_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
