/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * changestream [MILLIONS [PUBLISHES [NAMES [SECONDS]]]]: the cost of a stream of changes of one
 * zone for the threads that answer. The cache has MILLIONS million answers (1) about a zone of a
 * quarter as many names. Two threads ask for random names as fast as they can, beside a keeper:
 * first without changes, then while PUBLISHES times a second (50) NAMES names (20) get another
 * address. Each change is an edit, a comparison, a swap, a withdrawal and its grace periods, also
 * that for XDP programs.
 *
 * Prints questions per second without and with the stream, processor time of each step, and wall
 * time from the swap to the withdrawal and to the last grace period's end. No packets: the engine
 * alone. Root.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "cache/keeper.h"
#include "cache/dependency_filter.h"
#include "zonemgr/withdraw.h"
#include "tests/lib/gracemaps.h"
#include "tests/perf/manyanswers.h"
#include "zone/edit.h"

#define N_ASKERS   2u
#define ROUNDS_MAX 20000u

static struct world w;
static struct cache_memory memory;
static unsigned n_names;
static bool stopping;

static double clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* --- Before ----------------------------------------------------------------------------------- */

static struct zone *make_zone(void)
{
	char path[] = "/tmp/volley-stream-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct zone_error err;
	struct zone *z;

	MUST(f);
	fputs("$TTL 300\n@ SOA ns1 root 1 2 3 4 60\n@ NS ns1\nns1 A 192.0.2.1\n", f);
	for (unsigned i = 0; i < n_names; i++)
		fprintf(f, "n%u A 192.0.2.3\n", i);
	fclose(f);
	MUST(!zone_load(&z, "z.test", path, NULL, &err));
	unlink(path);
	return z;
}

static void ask_nth(struct engine *e, unsigned i, struct reply *r)
{
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_A, DNS_TYPE_AAAA, DNS_TYPE_A };
	char name[64];
	struct ask a = { .name = name, .type = types[i % 4], .udp_size = 1232 };

	a.dnssec_ok = i % 4 == 1;
	snprintf(name, sizeof(name), "%s%u.z.test", i % 4 == 3 ? "no" : "n", i / 4);
	send_ask(e, &a, r);
}

static void set_up(void)
{
	struct cache_stats stats;
	static struct reply r;

	manyanswers_set_up(&w, &memory, make_zone(), n_names);
	for (unsigned i = 0; i < 4 * n_names; i++)
		ask_nth(w.engine, i, &r);
	withdrawal_expect(w.cache);
	while (cache_filter_tend(w.cache, 32))
		; /* with pauses, as the keeper does */
	cache_stats_read(w.cache, &stats);
	printf("%llu answers, %u names\n", (unsigned long long)stats.n_entries, n_names);
}

/* --- Who asks --------------------------------------------------------------------------------- */

struct asker {
	pthread_t thread;
	uint64_t n, seed;
} __attribute__((aligned(64)));

static struct asker askers[N_ASKERS];

static void *ask_all(void *arg)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	static __thread struct reply r;
	struct asker *asker = arg;
	struct engine *e;

	rcu_register_thread();
	MUST(!engine_new(&e, &config, w.cache, &w.zones));
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		for (unsigned i = 0; i < 32; i++)
			ask_nth(e, (unsigned)(draw(&asker->seed) % (4 * n_names)), &r);
		rcu_quiescent_state();
		__atomic_store_n(&asker->n, asker->n + 32, __ATOMIC_RELAXED);
	}
	engine_free(e);
	rcu_unregister_thread();
	return NULL;
}

static uint64_t n_asked(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < N_ASKERS; i++)
		n += __atomic_load_n(&askers[i].n, __ATOMIC_RELAXED);
	return n;
}

/* --- Who changes ------------------------------------------------------------------------------ */

static struct {
	double edit, plan, run; /* processor time, ms */
	double withdrawn, done; /* wall time, ms, of the current round */
	uint64_t n_answers;
} spent;

static double wall[2][ROUNDS_MAX]; /* to the withdrawal, to the end */
static double begun_ms;

/* The withdrawal is over when it waits for readers. */
static int wait_for_all(void *grace)
{
	spent.withdrawn = clock_ms(CLOCK_MONOTONIC) - begun_ms;
	return grace_wait(grace);
}

static struct zone *edit_zone(struct zone *base, uint32_t serial, unsigned n, uint64_t *seed)
{
	uint8_t soa[] = "\3ns1\1z\4test\0\4root\1z\4test\0....\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\x3c";
	uint8_t address[4] = { 198, 51, (uint8_t)(serial >> 8), (uint8_t)serial }, owner[64];
	struct zone_error err;
	struct zone_edit *e;
	struct zone *new;
	char name[64];

	memcpy(soa + 25, &(uint32_t){ __builtin_bswap32(serial) }, 4);
	MUST(!zone_edit_begin(&e, base));
	MUST(!zone_edit_remove_rrset(e, w.members[0].apex, DNS_TYPE_SOA));
	MUST(!zone_edit_add(e, w.members[0].apex, DNS_TYPE_SOA, 300, soa, sizeof(soa) - 1));
	while (n--) {
		snprintf(name, sizeof(name), "n%u.z.test", (unsigned)(draw(seed) % n_names));
		MUST(name_from_text(owner, sizeof(owner), name, strlen(name)) > 0);
		MUST(!zone_edit_remove_rrset(e, owner, DNS_TYPE_A));
		MUST(zone_edit_add(e, owner, DNS_TYPE_A, 300, address, 4) >= 0);
	}
	MUST(!zone_edit_finish(e, &new, NULL, &err));
	return new;
}

static void swap(struct zone *new)
{
	struct zone_set *set, *old;

	w.members[0].zone = new;
	MUST(!zone_set_new(&set, w.members, 1));
	old = rcu_xchg_pointer(&w.zones.set, set);
	MUST(!grace_wait_userspace(NULL));
	zone_set_free(old);
}

static void change(uint32_t serial, unsigned n, struct grace *grace, uint64_t *seed)
{
	struct withdrawal *withdrawal = withdrawal_new(w.cache);
	struct withdrawn told = { .is_known = false };
	struct zone *old = w.members[0].zone, *new;
	double t0 = clock_ms(CLOCK_THREAD_CPUTIME_ID), t1, t2;
	struct withdrawal_zone zone;

	new = edit_zone(old, serial, n, seed);
	t1 = clock_ms(CLOCK_THREAD_CPUTIME_ID);
	zone = (struct withdrawal_zone){
		.slot = 1,
		.old_zone = old,
		.new_zone = new,
		.told = &told,
		.from = { serial - 1, 1 },
		.to = { serial, 1 },
	};
	MUST(withdrawal_plan(withdrawal, &zone));
	t2 = clock_ms(CLOCK_THREAD_CPUTIME_ID);
	begun_ms = clock_ms(CLOCK_MONOTONIC);
	swap(new);
	spent.withdrawn = 0;
	MUST(!withdrawal_run(withdrawal, wait_for_all, grace));
	spent.done = clock_ms(CLOCK_MONOTONIC) - begun_ms;
	spent.edit += t1 - t0;
	spent.plan += t2 - t1;
	spent.run += clock_ms(CLOCK_THREAD_CPUTIME_ID) - t2;
	spent.n_answers += told.n_answers;
	withdrawal_free(withdrawal);
	zone_free(old);
}

/* --- Both ------------------------------------------------------------------------------------- */

static double rate_of(uint64_t n_before, double begun)
{
	return (double)(n_asked() - n_before) / (clock_ms(CLOCK_MONOTONIC) - begun) * 1e3;
}

static void sleep_until(double ms)
{
	double left = ms - clock_ms(CLOCK_MONOTONIC);

	if (left > 0)
		usleep((useconds_t)(left * 1e3));
}

static double alone(unsigned seconds)
{
	double begun = clock_ms(CLOCK_MONOTONIC);
	uint64_t before = n_asked();

	sleep_until(begun + seconds * 1e3);
	return rate_of(before, begun);
}

static double with_stream(unsigned n_publishes, unsigned n, unsigned seconds, struct grace *grace,
			  unsigned *n_rounds)
{
	double begun = clock_ms(CLOCK_MONOTONIC);
	static uint32_t serial = 1;
	uint64_t before = n_asked(), seed = 7;

	for (*n_rounds = 0; *n_rounds < seconds * n_publishes; ++*n_rounds) {
		change(++serial, n, grace, &seed);
		wall[0][*n_rounds] = spent.withdrawn;
		wall[1][*n_rounds] = spent.done;
		sleep_until(begun + (*n_rounds + 1) * 1e3 / n_publishes);
	}
	return rate_of(before, begun);
}

static int compare_ms(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_wall(const char *what, double *ms, unsigned n)
{
	qsort(ms, n, sizeof(*ms), compare_ms);
	printf("%-22s median %.2f ms, 99 %% %.2f, at most %.2f\n", what, ms[n / 2],
	       ms[n * 99 / 100], ms[n - 1]);
}

static void measure(unsigned n_publishes, unsigned n, unsigned seconds, struct grace *grace)
{
	double before = alone(seconds), during, after;
	unsigned n_rounds;

	during = with_stream(n_publishes, n, seconds, grace, &n_rounds);
	after = alone(seconds);
	printf("questions a second: %.0f before, %.0f with the stream, %.0f behind it: %.1f %%\n",
	       before, during, after, 200 * during / (before + after));
	printf("a publish: %u names, %.1f answers; edit %.3f ms, comparison %.3f ms, withdrawal "
	       "%.3f ms\n",
	       n, (double)spent.n_answers / n_rounds, spent.edit / n_rounds, spent.plan / n_rounds,
	       spent.run / n_rounds);
	print_wall("swap to withdrawn", wall[0], n_rounds);
	print_wall("swap to done", wall[1], n_rounds);
}

static unsigned number(int argc, char **argv, int i, unsigned otherwise)
{
	return argc > i ? (unsigned)atoi(argv[i]) : otherwise;
}

int main(int argc, char **argv)
{
	unsigned n_publishes = number(argc, argv, 2, 50), seconds = number(argc, argv, 4, 10);
	struct cache_keeper *keeper;
	struct grace *grace;

	n_names = number(argc, argv, 1, 1) * 250000;
	MUST(n_publishes * seconds <= ROUNDS_MAX);
	rcu_register_thread();
	set_up();
	rcu_thread_offline();
	MUST(!open_grace(&grace));
	MUST(!cache_keeper_start(&keeper, w.cache, grace_wait, grace));
	for (unsigned i = 0; i < N_ASKERS; i++) {
		askers[i].seed = i;
		MUST(!pthread_create(&askers[i].thread, NULL, ask_all, &askers[i]));
	}
	measure(n_publishes, number(argc, argv, 3, 20), seconds, grace);
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < N_ASKERS; i++)
		pthread_join(askers[i].thread, NULL);
	cache_keeper_stop(keeper);
	grace_close(grace);
	rcu_thread_online();
	world_free(&w);
	cache_memory_release(&memory);
	rcu_unregister_thread();
	return 0;
}
