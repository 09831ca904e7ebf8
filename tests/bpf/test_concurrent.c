/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache in the kernel's maps, with all its users at once:
 *
 *   writers ──► publish, look up, withdraw      keeper ──► evicts, waits, overwrites what it freed
 *   askers  ──► the XDP program by test run ──► each XDP_TX answer taken apart
 *
 * A body follows from the name and a version, so each answer shows whether it is whole and which
 * name it is for. Code that is independent of Volley checks lengths and checksums. The keeper's
 * grace period is the real one. Before a segment becomes free, its entries are overwritten: if a
 * program still used one of them, its answer would show it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <time.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/page.h"
#include "cache/keeper.h"
#include "tests/lib/bpfmaps.h"
#include "tests/lib/gracemaps.h"
#include "tests/lib/packet.h"
#include "tests/unit/cache/world.h"

#define N_WRITERS     2
#define N_ASKERS      2
#define N_THREADS     (N_WRITERS + N_ASKERS)
#define N_NAMES       40000u
#define SECONDS_MAX   200 /* where a processor is emulated */
#define SECONDS_MIN   5
#define ANSWERS_MIN   100000u
#define EVICTIONS_MIN 1000u
#define MAX_UDP       1232u
#define POISON        0xa5

struct asked {
	uint64_t queries;
	uint64_t whole, shorter, truncated;
	uint64_t misses;
};

static struct bpfmaps maps;
static struct world world;
static struct asked asked;
static bool stopping;

static bool is_over(void)
{
	return __atomic_load_n(&stopping, __ATOMIC_RELAXED);
}

/* Half of the draws from a sixteenth of the names. */
static uint64_t draw(uint64_t *seed)
{
	uint64_t r = next_random(seed);

	return (r >> 8) % (r & 1 ? N_NAMES : N_NAMES / 16);
}

/* ---- Writers and the keeper ------------------------------------------------------------------ */

static void write_one(struct cache_writer *writer, uint64_t *seed)
{
	uint64_t number = draw(seed);
	struct cache_key key = key_of(world.cache, number);
	int err = 0;

	if (!get(&world, number) || *seed % 32 == 1)
		err = put_by(&world, writer, number, *seed);
	MUST(!err || err == -ENOSPC || err == -EAGAIN || err == -ESTALE);
	if (*seed % 64 == 0)
		cache_withdraw(world.cache, &key);
}

static void *write_all(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg << 32;
	struct cache_writer *writer;

	urcu_qsbr_register_thread();
	MUST(!cache_writer_new(&writer, world.cache));
	while (!is_over()) {
		for (int i = 0; i < 32; i++)
			write_one(writer, &seed);
		urcu_qsbr_quiescent_state();
	}
	cache_writer_free(writer);
	urcu_qsbr_unregister_thread();
	return NULL;
}

/* The segment that was given up last is overwritten first: it is the most likely to be still in
 * use. */
static int wait_and_overwrite(void *grace)
{
	struct cache *cache = world.cache;
	int err = grace_wait(grace);
	uint32_t i;

	for (i = cache->emptied.n; !err && i > 0; i--) {
		uint32_t at = (cache->emptied.first + i - 1) % cache->emptied.cap;
		struct volley_segment *s = segment_at(cache, cache->emptied.items[at]);
		size_t n = s->used_bytes;

		while (n > sizeof(*s))
			((uint8_t *)s)[--n] = POISON;
	}
	return err;
}

/* ---- Askers ---------------------------------------------------------------------------------- */

/* The answer's body is the whole or the short body of some version of this number. */
static void check_body(const struct pkt_answer *a, uint64_t number, struct asked *sums)
{
	static __thread uint8_t want[BODY_MAX + 8];
	uint64_t version;

	if (a->flags & PKT_TC) {
		MUST(!a->body_bytes && !a->ancount);
		sums->truncated++;
		return;
	}
	MUST(a->ancount == (uint16_t)number);
	MUST(a->body_bytes == body_bytes(number) || a->body_bytes == body_bytes(number) / 2);
	memcpy(&version, a->body, sizeof(version));
	fill_body(want, number, version, (uint32_t)a->body_bytes);
	MUST(!memcmp(want, a->body, a->body_bytes));
	if (a->body_bytes == body_bytes(number))
		sums->whole++;
	else
		sums->shorter++;
}

/* A frame with a query for `number`: IPv4 or IPv6, letters of any case, with EDNS or without. */
static size_t build(uint8_t *frame, uint64_t number, uint64_t r)
{
	uint8_t name[64], dns[512];
	uint32_t n = name_of(number, name);
	struct pkt_ask ask = {
		.name = name,
		.id = (uint16_t)(r >> 16),
		.flags = r & 4 ? PKT_RD : 0,
		.qtype = 1,
		.edns = r & 1,
		.udp_size = r & 8 ? MAX_UDP : 4096,
	};

	for (uint32_t i = 0; i < n; i++)
		if (name[i] >= 'a' && name[i] <= 'z' && (r >> (20 + i) & 1))
			name[i] = (uint8_t)(name[i] - 'a' + 'A');
	return pkt_build(frame, r & 2 ? &pkt_ipv4 : &pkt_ipv6, dns, pkt_ask(dns, &ask));
}

static void ask_one(uint64_t number, uint64_t *seed, struct asked *sums)
{
	static __thread uint8_t out[PKT_FRAME_MAX];
	uint8_t frame[1024];
	size_t n = build(frame, number, next_random(seed));
	struct pkt_answer a;
	const char *wrong;
	LIBBPF_OPTS(bpf_test_run_opts, run);

	run.data_in = frame;
	run.data_size_in = (__u32)n;
	run.data_out = out;
	run.data_size_out = sizeof(out);
	run.repeat = 1;
	MUST(!bpf_prog_test_run_opts(maps.prog_fd, &run));
	sums->queries++;
	if (run.retval == XDP_PASS) {
		MUST(run.data_size_out == n && !memcmp(frame, out, n));
		sums->misses++;
		return;
	}
	MUST(run.retval == XDP_TX);
	wrong = pkt_check_answer(frame, n, out, run.data_size_out, MAX_UDP, &a);
	if (wrong)
		fprintf(stderr, "answer for %lu: %s\n", (unsigned long)number, wrong);
	MUST(!wrong);
	check_body(&a, number, sums);
}

static void add(uint64_t *sum, uint64_t n)
{
	__atomic_add_fetch(sum, n, __ATOMIC_RELAXED);
}

static void add_all(const struct asked *sums)
{
	add(&asked.queries, sums->queries);
	add(&asked.whole, sums->whole);
	add(&asked.shorter, sums->shorter);
	add(&asked.truncated, sums->truncated);
	add(&asked.misses, sums->misses);
}

/* The kernel's readers. They are not registered with liburcu: only the program reads the cache. */
static void *ask_all(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg << 32;

	while (!is_over()) {
		struct asked sums = { 0 };

		for (int i = 0; i < 256; i++)
			ask_one(draw(&seed), &seed, &sums);
		add_all(&sums);
	}
	return NULL;
}

/* ---- The test -------------------------------------------------------------------------------- */

static int open_world(void **state)
{
	struct cache_sizes sizes;
	struct volley_state *s;
	uint32_t address[4] = { 0 };
	int err;

	(void)state;
	MUST(!cache_sizes_plan(&sizes, 5 << 20, 0));
	err = bpfmaps_open(&maps, &sizes);
	if (err == -EPERM)
		return 0;
	MUST(!err);
	world.memory = maps.memory;
	world_start(&world);
	s = cache_state(world.cache);
	s->max_udp_bytes = MAX_UDP;
	s->serve_until_s = UINT32_MAX;
	memcpy(address, pkt_ipv4.to, 4);
	bpfmaps_serve(s, address, 4, pkt_ipv4.to_port);
	memcpy(address, pkt_ipv6.to, 16);
	bpfmaps_serve(s, address, 6, pkt_ipv6.to_port);
	return 0;
}

static int close_world(void **state)
{
	(void)state;
	if (world.cache)
		world_stop(&world);
	bpfmaps_close(&maps);
	return 0;
}

static uint64_t evictions(void)
{
	struct cache_stats stats;

	cache_stats_read(world.cache, &stats);
	return stats.counters.evicted;
}

/* Waits until enough has happened; meanwhile it withdraws a zone's answers and makes them valid
 * again. */
static void watch(void)
{
	const struct timespec tick = { .tv_nsec = 100000000 };

	for (int i = 0; i < SECONDS_MAX * 10; i++) {
		if (i >= SECONDS_MIN * 10 && evictions() > EVICTIONS_MIN &&
		    __atomic_load_n(&asked.whole, __ATOMIC_RELAXED) > ANSWERS_MIN)
			return;
		nanosleep(&tick, NULL);
		if (i % 10 == 0)
			cache_zone_flush(world.cache, world.slot);
		if (i % 10 == 1)
			cache_zone_commit(world.cache, world.slot, world.gen,
					  (const uint64_t[2]){ 1, 2 });
	}
}

static void print_counts(void)
{
	struct cache_stats stats;

	cache_stats_read(world.cache, &stats);
#define PRINT(name, words) print_message("%12lu %s\n", (unsigned long)stats.counters.name, words);
	CACHE_COUNTERS(PRINT)
#undef PRINT
	print_message("%12lu queries: %lu whole, %lu short, %lu truncated, %lu up\n",
		      (unsigned long)asked.queries, (unsigned long)asked.whole,
		      (unsigned long)asked.shorter, (unsigned long)asked.truncated,
		      (unsigned long)asked.misses);
}

/* received = hit + up + passed + dropped, and only hits and the three reasons of a miss occur. */
static void check_counters(void)
{
	struct volley_cpu sum;
	uint64_t hits, ups;

	assert_int_equal(bpfmaps_counters(&maps, &sum), 0);
	hits = sum.reasons[VOLLEY_HIT_FULL] + sum.reasons[VOLLEY_HIT_SHORT] +
	       sum.reasons[VOLLEY_HIT_TRUNCATED];
	ups = sum.reasons[VOLLEY_UP_MISS] + sum.reasons[VOLLEY_UP_STALE];
	assert_int_equal(sum.received, asked.queries);
	assert_int_equal(hits, asked.whole + asked.shorter + asked.truncated);
	assert_int_equal(ups, asked.misses);
	assert_int_equal(sum.received, hits + ups);
}

static void test_every_answer_is_whole(void **state)
{
	pthread_t threads[N_THREADS];
	struct cache_keeper *keeper;
	struct grace *grace;

	(void)state;
	if (!world.cache)
		skip();
	assert_int_equal(open_grace(&grace), 0);
	assert_int_equal(cache_keeper_start(&keeper, world.cache, wait_and_overwrite, grace), 0);
	for (uintptr_t i = 0; i < N_THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, i < N_WRITERS ? write_all : ask_all,
				     (void *)(i + 1)));
	watch();
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	cache_keeper_stop(keeper);
	grace_close(grace);
	print_counts();
	assert_true(asked.whole > ANSWERS_MIN);
	assert_true(evictions() > EVICTIONS_MIN);
	assert_true(asked.shorter > 0 && asked.truncated > 0);
	check_counters();
}

/* ---- Programs alone -------------------------------------------------------------------------- */

#define N_HOT    4
#define ALIVE_NS 15000u

#define LONG_ALIVE_NS 1000000u /* so that some are answered on a busy machine, too */
#define HOT_FIRST     (1ull << 32)
#define REAP_NS       2000000000ull
#define REAP_MAX_NS   (30 * REAP_NS) /* on a busy machine */
#define REAPED_MIN    10

static void *ask_hot(void *arg)
{
	uint64_t seed = 99;

	(void)arg;
	while (!is_over()) {
		struct asked sums = { 0 };

		for (int i = 0; i < 256; i++)
			ask_one(HOT_FIRST + next_random(&seed) % N_HOT, &seed, &sums);
		add_all(&sums);
	}
	return NULL;
}

static void publish_hot(struct grace *grace, uint64_t number, uint64_t version)
{
	int err;

	while ((err = put_by(&world, world.writer, number, version)) == -ENOSPC)
		MUST(cache_keep(world.cache, WORLD_NOW_S, grace_wait, grace));
	MUST(!err);
}

/* Publishes, withdraws, waits, and overwrites name and body. */
static void reap(struct grace *grace, uint64_t number, uint64_t version)
{
	struct cache_key key = key_of(world.cache, number);
	const struct volley_entry *found;
	uint8_t *octets;
	uint64_t until;

	publish_hot(grace, number, version);
	MUST(cache_lookup(world.cache, &key, WORLD_NOW_S, false, &found) == CACHE_HIT);
	octets = (uint8_t *)found;
	until = clock_ns() + (version % 32 ? ALIVE_NS : LONG_ALIVE_NS);
	while (clock_ns() < until)
		; /* meanwhile programs find it */
	MUST(!cache_withdraw(world.cache, &key));
	MUST(!grace_wait(grace));
	memset(octets + sizeof(*found), POISON, found->bytes - sizeof(*found));
}

/* Enough entries were withdrawn, and programs had found enough of them before. */
static bool is_enough(uint64_t n_reaped)
{
	uint64_t queries = __atomic_load_n(&asked.queries, __ATOMIC_RELAXED);

	return n_reaped > REAPED_MIN && queries > __atomic_load_n(&asked.misses, __ATOMIC_RELAXED);
}

/*
 * Without a reader in userspace, only the kernel's part of the grace period protects an entry that
 * a program uses. Without that part four of five runs fail (2 cores).
 */
static void test_programs_are_waited_for(void **state)
{
	uint64_t version = 0, start = clock_ns(), spent = 0;
	struct grace *grace;
	pthread_t thread;

	(void)state;
	if (!world.cache)
		skip();
	asked = (struct asked){ 0 };
	__atomic_store_n(&stopping, false, __ATOMIC_RELAXED);
	assert_int_equal(open_grace(&grace), 0);
	MUST(!pthread_create(&thread, NULL, ask_hot, NULL));
	for (; spent < REAP_NS || (spent < REAP_MAX_NS && !is_enough(version)); version++) {
		reap(grace, HOT_FIRST + version % N_HOT, version);
		spent = clock_ns() - start;
	}
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	grace_close(grace);
	print_message("%lu entries withdrawn, %lu queries, %lu answers\n", (unsigned long)version,
		      (unsigned long)asked.queries, (unsigned long)(asked.queries - asked.misses));
	assert_true(is_enough(version));
}

/* What the kernel says of a map's memory. */
static uint64_t memlock_of(int fd)
{
	char path[64], line[128];
	unsigned long bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	MUST(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "memlock: %lu", &bytes);
	fclose(f);
	return bytes;
}

/* The same without an array's keys, which take no memory: Linux 6.1 adds one to each element. */
static uint64_t count_map_bytes(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	uint64_t bytes = memlock_of(fd), with_keys, keys;

	MUST(!bpf_obj_get_info_by_fd(fd, &info, &len));
	with_keys = (info.key_size + info.value_size + 7) / 8 * 8;
	keys = info.max_entries * (with_keys - (info.value_size + 7) / 8 * 8);
	return bytes == page_round(info.max_entries * with_keys) ? bytes - keys : bytes;
}

/* Compares the kernel's sizes of the four maps with the planned ones. */
static void test_maps_keep_the_budget(void **state)
{
	static const char *const names[] = { "volley_abi_10", "volley_index", "volley_store",
					     "volley_zones" };
	const struct cache_sizes *s = &maps.memory.sizes;
	uint64_t ghosts, sum = 0;

	(void)state;
	if (!world.cache)
		skip();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = bpfmaps_map_fd(&maps, names[i]);

		assert_true(fd >= 0);
		assert_true(count_map_bytes(fd) > 0);
		sum += count_map_bytes(fd);
	}
	ghosts = (uint64_t)s->n_buckets * GHOST_WAYS * sizeof(*world.cache->ghost.tags);
	print_message("%lu octets in maps, %lu in ghosts; budget %lu\n", (unsigned long)sum,
		      (unsigned long)ghosts, (unsigned long)s->bytes);
	assert_true(sum + ghosts + sizeof(struct cache) <= s->bytes);
	assert_true(sum >= s->bytes / 100 * 95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_answer_is_whole),
		cmocka_unit_test(test_programs_are_waited_for),
		cmocka_unit_test(test_maps_keep_the_budget),
	};

	return cmocka_run_group_tests(tests, open_world, close_world);
}
