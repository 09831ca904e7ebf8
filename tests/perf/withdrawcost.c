/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * withdrawcost [MILLIONS]: the cost of a change of a zone, in processor time, with MILLIONS million
 * cached answers (4) about a zone of a quarter as many names.
 *
 * First the cost of a reload that changes ten names: the comparison of the two zones, a walk that
 * judges nothing, the walk for a zone that is added to ten thousand others, and a walk that judges
 * all. Then the same by the filter, which the keeper fills while control calls it each 8 ms, as
 * after a start: for changes of 1 to 1000 names, median and longest of many. A walk in the same
 * state must find as many affected answers.
 */
#include <stdio.h>
#include <time.h>

#include "cache/keeper.h"
#include "cache/dependency_filter.h"
#include "cache/entry_walk.h"
#include "invalidate/affected.h"
#include "tests/lib/wholewalk.h"
#include "tests/perf/manyanswers.h"

/* Names whose address the new version changes; each version changes others. */
struct edit {
	unsigned n, first;
};

static double read_clock(clockid_t which)
{
	struct timespec ts;

	clock_gettime(which, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double now(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static bool is_edited(const struct edit *edit, unsigned n_names, unsigned i)
{
	unsigned step = edit->n ? n_names / edit->n : 1;

	return edit->n && i >= edit->first && (i - edit->first) % step == 0 &&
	       (i - edit->first) / step < edit->n;
}

static struct zone *make_zone(unsigned n_names, unsigned serial, const struct edit *edit)
{
	char path[] = "/tmp/volley-withdraw-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct zone_error err;
	struct zone *z;

	MUST(f);
	fprintf(f, "$TTL 300\n@ SOA ns1 root %u 2 3 4 60\n@ NS ns1\n@ NS ns2\n", serial);
	fputs("ns1 A 192.0.2.1\nns2 A 192.0.2.2\n", f);
	for (unsigned i = 0; i < n_names; i++)
		fprintf(f, "n%u A %s\n", i,
			is_edited(edit, n_names, i) ? "192.0.2.4" : "192.0.2.3");
	fclose(f);
	MUST(!zone_load(&z, "z.test", path, NULL, &err));
	unlink(path);
	return z;
}

static void fill(struct engine *e, unsigned n_names)
{
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_A, DNS_TYPE_AAAA, DNS_TYPE_A };
	static struct reply r;
	char name[64];

	for (unsigned i = 0; i < 4 * n_names; i++) {
		struct ask a = { .name = name, .type = types[i % 4], .udp_size = 1232 };

		a.dnssec_ok = i % 4 == 1;
		snprintf(name, sizeof(name), "%s%u.z.test", i % 4 == 3 ? "no" : "n", i / 4);
		send_ask(e, &a, &r);
	}
}

static enum walk_step pass_by(void *user, const struct volley_entry *e)
{
	*(uint64_t *)user += e->zone_slot;
	return WALK_ON;
}

#define N_ZONES 10000u

/* The world's zone and other ones; the caller frees the set. */
static struct zone_set *many_zones(const struct zone_member *first)
{
	static struct zone_member members[N_ZONES];
	static uint8_t apexes[N_ZONES][16];
	struct zone_set *set;

	members[0] = *first;
	for (unsigned i = 1; i < N_ZONES; i++) {
		snprintf((char *)apexes[i], sizeof(apexes[i]), "\7z%06u\4test", i);
		members[i] = (struct zone_member){ .apex = apexes[i], .apex_len = 14 };
	}
	MUST(!zone_set_new(&set, members, N_ZONES));
	return set;
}

static enum walk_step visit_routes(void *user, const struct volley_entry *e)
{
	return routes_hold(user, e) ? WALK_ON : WALK_WITHDRAW;
}

static struct world w;
static struct cache_memory memory;

static void set_up(unsigned n_names)
{
	struct cache_stats stats;

	manyanswers_set_up(&w, &memory, make_zone(n_names, 1, &(struct edit){ 0 }), n_names);
	fill(w.engine, n_names);
	cache_stats_read(w.cache, &stats);
	printf("%llu answers, %u names, index of %zu words\n", (unsigned long long)stats.n_entries,
	       n_names, cache_walk_end(w.cache));
}

static void report(const char *what, double since, uint64_t n, const char *of)
{
	printf("%-12s %7.1f ms", what, (now() - since) * 1e3);
	if (of)
		printf(", %llu %s", (unsigned long long)n, of);
	putchar('\n');
}

/* --- By the dependency filter ----------------------------------------------------------------- */

static long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0, ignored;

	MUST(f && fscanf(f, "%ld %ld", &ignored, &pages) == 2);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

struct invalidation {
	const struct changes *changes;
	uint64_t n_judged, n_affected, n_withdrawn;
};

static bool is_affected(void *user, const struct volley_entry *e)
{
	struct invalidation *s = user;
	bool is = affected_by(s->changes, e);

	s->n_judged++;
	s->n_affected += is;
	return is;
}

static void withdrawn(void *user, const struct volley_entry *e)
{
	struct invalidation *s = user;

	(void)e;
	s->n_withdrawn++;
}

/* The steps of control, from the list of names on. */
static double invalidate_once(const struct changes *changes, struct invalidation *s)
{
	struct dependency_list list = { .n = 0 };
	struct cache_invalidation invalidation = { .is_affected = is_affected,
						   .withdrawn = withdrawn,
						   .user = s };
	double begun = now();
	bool must_wait;

	*s = (struct invalidation){ .changes = changes };
	MUST(!affected_list(cache_filter_seed(w.cache), changes, &list));
	invalidation.dependencies = list.items;
	invalidation.n_dependencies = list.n;
	MUST(!cache_invalidate(w.cache, &invalidation, &must_wait));
	free(list.items);
	return (now() - begun) * 1e3;
}

static enum walk_step count_affected(void *user, const struct volley_entry *e)
{
	struct invalidation *s = user;

	s->n_affected += affected_by(s->changes, e);
	return WALK_ON;
}

static int compare_ms(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

#define N_ROUNDS 5u

/*
 * Every round changes other names, whose answers are in the cache. A walk counts the answers that
 * the invalidation will withdraw.
 */
static void invalidate_names(unsigned n_names, unsigned n_changed)
{
	unsigned n_rounds = n_changed > 100 ? 3 : N_ROUNDS;
	double ms[N_ROUNDS], walk_ms = 0, begun;
	struct invalidation by_walk = { 0 }, s = { 0 };
	uint64_t n_withdrawn = 0, n_judged = 0;

	for (unsigned i = 0; i < n_rounds; i++) {
		struct edit edit = { n_changed, 1 + i * 4 + n_changed % 97 * 64 };
		struct zone *new = make_zone(n_names, 2, &edit);
		enum changes_refusal why;
		struct changes *changes = changes_new(w.members[0].zone, new, &why);

		MUST(changes);
		if (!i) {
			by_walk.changes = changes;
			begun = now();
			whole_walk(w.cache, count_affected, &by_walk);
			walk_ms = (now() - begun) * 1e3;
		}
		ms[i] = invalidate_once(changes, &s);
		MUST(i || s.n_withdrawn == by_walk.n_affected);
		n_withdrawn += s.n_withdrawn;
		n_judged += s.n_judged;
		changes_free(changes);
		zone_free(new);
	}
	qsort(ms, n_rounds, sizeof(*ms), compare_ms);
	printf("%4u names  %7.3f ms, at most %7.3f; %llu answers judged, %llu withdrawn each; walk "
	       "%.1f ms\n",
	       n_changed, ms[n_rounds / 2], ms[n_rounds - 1],
	       (unsigned long long)(n_judged / n_rounds),
	       (unsigned long long)(n_withdrawn / n_rounds), walk_ms);
}

static int no_readers(void *unused)
{
	(void)unused;
	return 0;
}

/* Times in wall time how long the keeper takes to fill the filter. */
static void bring_in(void)
{
	double begun = read_clock(CLOCK_MONOTONIC), asked, us, most_us = 0;
	long before = resident_kib();
	struct cache_keeper *keeper;
	unsigned n = 0;
	bool is_ready;

	MUST(!cache_filter_new(w.cache, affected_dependencies));
	MUST(!cache_keeper_start(&keeper, w.cache, no_readers, NULL));
	do {
		asked = read_clock(CLOCK_MONOTONIC);
		is_ready = cache_filter_is_ready(w.cache);
		us = (read_clock(CLOCK_MONOTONIC) - asked) * 1e6;
		most_us = us > most_us ? us : most_us;
		n++;
		if (!is_ready)
			usleep(8000);
	} while (!is_ready);
	printf("%-12s %7.1f ms by the keeper, %ld MiB; control has asked %u times, %.0f us at "
	       "most\n",
	       "filter", (read_clock(CLOCK_MONOTONIC) - begun) * 1e3,
	       (resident_kib() - before) / 1024, n, most_us);
	cache_keeper_stop(keeper);
}

static void invalidate_all(unsigned n_names, const struct changes *changes)
{
	struct invalidation s;
	double ms;

	bring_in();
	ms = invalidate_once(changes, &s);
	printf("%-12s %7.3f ms, %llu answers withdrawn\n", "ten names", ms,
	       (unsigned long long)s.n_withdrawn);
	for (unsigned n_changed = 1; n_changed <= 1000; n_changed *= 10)
		invalidate_names(n_names, n_changed);
}

int main(int argc, char **argv)
{
	unsigned n_names = (unsigned)(argc > 1 ? atoi(argv[1]) : 4) * 250000;
	enum changes_refusal why;
	struct changes *changes;
	uint64_t sum = 0, n;
	struct zone_set *set;
	struct invalidation s;
	struct zone *new;
	double begun;

	rcu_register_thread();
	set_up(n_names);
	new = make_zone(n_names, 2, &(struct edit){ 10, 0 });
	begun = now();
	changes = changes_new(w.members[0].zone, new, &why);
	MUST(changes);
	report("comparison", begun, changes_n_names(changes), "names");
	begun = now();
	whole_walk(w.cache, pass_by, &sum);
	report("bare walk", begun, 0, NULL);
	set = many_zones(&w.members[0]);
	begun = now();
	n = whole_walk(w.cache, visit_routes, set);
	report("routes", begun, n, "answers withdrawn");
	zone_set_free(set);
	s = (struct invalidation){ .changes = changes };
	begun = now();
	whole_walk(w.cache, count_affected, &s);
	report("walk", begun, s.n_affected, "answers affected");
	invalidate_all(n_names, changes);
	changes_free(changes);
	zone_free(new);
	world_free(&w);
	cache_memory_release(&memory);
	rcu_unregister_thread();
	return 0;
}
