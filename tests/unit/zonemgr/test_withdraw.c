/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A zone changes while threads ask and the keeper moves what they ask for: when the withdrawal is
 * over, nobody gets what was there before. Then its steps one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "cache/keeper.h"
#include "zonemgr/withdraw.h"
#include "tests/unit/engine/world.h"
#include "tests/unit/zone/zone_text.h"

#define N_NAMES       2000u
#define N_THREADS     3u
#define N_RELOADS     60u /* or more, until the keeper has moved something */
#define N_RELOADS_MAX 6000u

static const uint64_t digests[2][2] = { { 1, 0 }, { 1, 1 } }; /* the world's, and another */

/*
 * n0 to n1999, of which the one that `version` chooses tells its number; and one comes or goes.
 * Below flood there is every name.
 */
static struct zone *make_zone(unsigned version, const unsigned *versions)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	struct zone *z;

	MUST(f);
	fprintf(f, "$TTL 300\n@ SOA ns root %u 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n", version);
	fputs("*.flood A 192.0.2.3\n", f);
	for (unsigned i = 0; i < N_NAMES; i++)
		fprintf(f, "n%u A 10.0.%u.%u\n", i, versions[i] >> 8, versions[i] & 255);
	if (version & 1)
		fputs("odd A 192.0.2.2\n", f);
	fclose(f);
	z = zone_of("z.test", text);
	free(text);
	return z;
}

static struct world world;
static unsigned current[N_NAMES]; /* what must be answered at least */
static unsigned is_odd;           /* version whose comings and goings are over */
static bool stopping;

static unsigned address_of(const struct reply *r)
{
	return r->bytes[r->len - 2] * 256u + r->bytes[r->len - 1];
}

static void ask_name(struct engine *e, unsigned i, struct reply *r)
{
	char name[32];
	struct ask a = { .name = name, .type = DNS_TYPE_A };

	snprintf(name, sizeof(name), "n%u.z.test", i);
	send_ask(e, &a, r);
}

/*
 * Names that nobody asks again: the keeper has to make room, and moves what is asked. They exist,
 * for denials have a queue of their own, which would give way alone.
 */
static void ask_flood(struct engine *e, unsigned i, struct reply *r)
{
	char name[32];
	struct ask a = { .name = name, .type = DNS_TYPE_A };

	snprintf(name, sizeof(name), "n%u.flood.z.test", i);
	send_ask(e, &a, r);
}

/* Whatever was over before the question is in the answer. */
static void *asker(void *unused)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	static __thread struct reply r;
	uint64_t seed = (uintptr_t)&r;
	struct engine *e;

	rcu_register_thread();
	config.minimal_responses = true; /* the address comes last */
	MUST(!engine_new(&e, &config, world.cache, &world.zones));
	while (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
		unsigned least, odd, i;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		i = (unsigned)(seed >> 33) % (seed >> 60 ? 64 : N_NAMES);
		ask_flood(e, (unsigned)(seed >> 20), &r);
		least = __atomic_load_n(&current[i], __ATOMIC_ACQUIRE);
		ask_name(e, i, &r);
		MUST(address_of(&r) >= least);
		odd = __atomic_load_n(&is_odd, __ATOMIC_ACQUIRE);
		send_ask(e, &(struct ask){ .name = "odd.z.test", .type = DNS_TYPE_A }, &r);
		if (odd == __atomic_load_n(&is_odd, __ATOMIC_ACQUIRE) && !(odd & 1u << 31))
			MUST(reply_rcode(&r) == (odd & 1 ? DNS_RCODE_NOERROR : DNS_RCODE_NXDOMAIN));
	}
	rcu_unregister_thread();
	engine_free(e);
	return unused;
}

static void swap_zone(struct zone *z, uint32_t gen)
{
	struct zone_set *set, *old;

	world.members[0].zone = z;
	world.members[0].cache_gen = gen;
	MUST(!zone_set_new(&set, world.members, 1));
	old = rcu_xchg_pointer(&world.zones.set, set);
	MUST(!grace_wait_userspace(NULL));
	zone_set_free(old);
}

static struct withdrawal_zone change_to(struct zone *new, unsigned version, struct withdrawn *told)
{
	struct withdrawal_zone zone = { .slot = world.members[0].cache_slot,
					.old_zone = world.members[0].zone,
					.new_zone = new,
					.told = told };

	memcpy(zone.from, digests[!(version & 1)], sizeof(zone.from));
	memcpy(zone.to, digests[version & 1], sizeof(zone.to));
	return zone;
}

static void reload(unsigned version, unsigned *versions)
{
	struct withdrawal *w = withdrawal_new(world.cache);
	struct withdrawn told = { .is_known = false };
	unsigned changed = version * 7 % 64;
	struct zone *old = world.members[0].zone, *new;
	struct withdrawal_zone zone;
	uint32_t gen;

	versions[changed] = version;
	new = make_zone(version, versions);
	zone = change_to(new, version, &told);
	__atomic_store_n(&is_odd, version | 1u << 31, __ATOMIC_RELEASE);
	gen = withdrawal_plan(w, &zone);
	MUST(gen == world.members[0].cache_gen);
	swap_zone(new, gen);
	MUST(!withdrawal_run(w, grace_wait_userspace, NULL));
	__atomic_store_n(&is_odd, version, __ATOMIC_RELEASE);
	__atomic_store_n(&current[changed], version, __ATOMIC_RELEASE);
	MUST(!told.all && told.n_names == 3); /* the apex, the name, the one that comes and goes */
	withdrawal_free(w);
	zone_free(old);
}

static void open_world(void)
{
	static const unsigned none[N_NAMES];

	world = (struct world){ 0 };
	world_load_zone(&world, "z.test", NULL);
	world.members[0].zone = make_zone(0, none);
	world_add_cache(&world);
	world_publish(&world);
}

/* ThreadSanitizer does not see what rcu_xchg_pointer() and grace periods of liburcu order. */
static void skip_under_tsan(void)
{
#ifdef __SANITIZE_THREAD__
	skip();
#endif
}

static uint64_t n_moved(void)
{
	struct cache_stats stats;

	cache_stats_read(world.cache, &stats);
	return stats.counters.kept;
}

static void change_beside_threads(bool by_name)
{
	unsigned *versions = calloc(N_NAMES, sizeof(*versions));
	struct cache_keeper *keeper;
	pthread_t threads[N_THREADS];

	skip_under_tsan();
	open_world();
	memset(current, 0, sizeof(current));
	is_odd = 0;
	stopping = false;
	if (by_name)
		withdrawal_expect(world.cache);
	rcu_thread_offline();
	assert_int_equal(cache_keeper_start(&keeper, world.cache, grace_wait_userspace, NULL), 0);
	for (unsigned i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, asker, NULL), 0);
	for (unsigned version = 1; version <= N_RELOADS || (!n_moved() && version <= N_RELOADS_MAX);
	     version++)
		reload(version, versions);
	__atomic_store_n(&stopping, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	cache_keeper_stop(keeper);
	assert_true(n_moved() > 0);
	rcu_thread_online();
	world_free(&world);
	free(versions);
}

static void nobody_gets_an_old_answer(void **state)
{
	(void)state;
	change_beside_threads(false);
}

static void nor_where_it_is_withdrawn_by_name(void **state)
{
	(void)state;
	change_beside_threads(true);
}

/* --- Steps ------------------------------------------------------------------------------------ */

static struct engine *some_answers(void)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	static struct reply r;
	struct engine *e;

	assert_int_equal(engine_new(&e, &config, world.cache, &world.zones), 0);
	for (unsigned i = 0; i < 100; i++)
		ask_name(e, i, &r);
	return e;
}

static bool is_cached(struct engine *e, unsigned i)
{
	struct engine_counters before, after;
	static struct reply r;

	engine_counters_read(e, &before);
	ask_name(e, i, &r);
	engine_counters_read(e, &after);
	return after.cache_hit > before.cache_hit;
}

static int refusing(void *unused)
{
	(void)unused;
	return -EINVAL;
}

enum ending { RUN, CANCEL, GIVE_UP, REFUSED_GRACE };

/* One address changes, of 100 that are cached. */
static void one_change(enum ending ending, bool by_name, unsigned *n_kept, struct withdrawn *told)
{
	static unsigned versions[N_NAMES];
	struct zone *old, *new;
	struct withdrawal_zone zone;
	struct withdrawal *w;
	struct engine *e;
	uint32_t gen;

	open_world();
	e = some_answers();
	if (by_name)
		withdrawal_expect(world.cache);
	w = withdrawal_new(world.cache);
	versions[7] = 1;
	old = world.members[0].zone;
	new = make_zone(2, versions);
	zone = change_to(new, 1, told);
	gen = withdrawal_plan(w, &zone);
	assert_int_equal(gen, world.members[0].cache_gen);
	rcu_thread_offline();
	if (ending != CANCEL)
		swap_zone(new, gen);
	if (ending == CANCEL)
		withdrawal_cancel(w);
	else if (ending == GIVE_UP)
		withdrawal_give_up(w);
	else
		assert_int_equal(withdrawal_run(w, ending == RUN ? grace_wait_userspace : refusing,
						NULL),
				 ending == RUN ? 0 : -EINVAL);
	rcu_thread_online();
	*n_kept = 0;
	for (unsigned i = 0; i < 100; i++)
		*n_kept += is_cached(e, i);
	cache_zone_prepare(world.cache, zone.new_zone ? world.members[0].apex : NULL,
			   world.members[0].apex_len, digests[ending != CANCEL], &zone.slot, &gen);
	assert_int_equal(gen == world.members[0].cache_gen, ending == RUN || ending == CANCEL);
	withdrawal_free(w);
	engine_free(e);
	zone_free(ending == CANCEL ? new : old);
	world_free(&world);
}

static void steps_of(bool by_name)
{
	struct withdrawn told;
	unsigned n_kept;

	one_change(RUN, by_name, &n_kept, &told);
	assert_int_equal(n_kept, 99);
	assert_true(told.is_known && !told.all && told.n_names == 2 && told.n_answers == 1);
	one_change(CANCEL, by_name, &n_kept, &told);
	assert_int_equal(n_kept, 100);
	one_change(GIVE_UP, by_name, &n_kept, &told);
	assert_int_equal(n_kept, 0);
	assert_non_null(told.all);
	one_change(REFUSED_GRACE, by_name, &n_kept, &told);
	assert_int_equal(n_kept, 0);
	assert_non_null(told.all);
}

static void steps(void **state)
{
	(void)state;
	steps_of(false);
	steps_of(true);
}

static void refusals(void **state)
{
	static unsigned versions[N_NAMES];
	struct withdrawn told = { .is_known = false };
	struct withdrawal_zone zone;
	struct withdrawal *w;
	struct zone *new;

	(void)state;
	open_world();
	w = withdrawal_new(world.cache);
	for (unsigned i = 0; i < N_NAMES; i++)
		versions[i] = i;
	new = make_zone(1, versions);
	zone = change_to(new, 1, &told);
	assert_int_equal(withdrawal_plan(w, &zone), 0);
	assert_string_equal(told.all, "too many names changed");
	zone.new_zone = zone.old_zone;
	zone.from[0]++; /* the cache holds another content */
	assert_int_equal(withdrawal_plan(w, &zone), 0);
	assert_non_null(told.all);
	zone.slot = 0;
	assert_int_equal(withdrawal_plan(w, &zone), 0);
	assert_int_equal(withdrawal_run(w, refusing, NULL), 0); /* nothing was planned */
	withdrawal_free(w);
	withdrawal_free(NULL);
	zone_free(new);
	world_free(&world);
}

static int group_begin(void **state)
{
	(void)state;
	rcu_register_thread();
	return 0;
}

static int group_end(void **state)
{
	(void)state;
	rcu_unregister_thread();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_gets_an_old_answer),
		cmocka_unit_test(nor_where_it_is_withdrawn_by_name),
		cmocka_unit_test(steps),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, group_begin, group_end);
}
