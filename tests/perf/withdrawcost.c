/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * withdrawcost [MILLIONS]: what a reload with few changes costs, in processor time, with so many million
 * cached answers (4) about a zone of a quarter as many names: the comparison of the two zones, a walk
 * that only passes by, the walk for a zone that has come to ten thousand others, and the walk that
 * withdraws.
 */
#include <stdio.h>
#include <time.h>

#include "cache/memory.h"
#include "cache/walk.h"
#include "engine/affected.h"
#include "engine/routes.h"
#include "tests/unit/engine/world.h"

#define BYTES_PER_ANSWER 640ull /* of budget: with room to spare */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static struct zone *make_zone(unsigned n_names, unsigned serial, const char *changed)
{
	char path[] = "/tmp/volley-withdraw-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct zone_error err;
	struct zone *z;

	MUST(f);
	fprintf(f, "$TTL 300\n@ SOA ns1 root %u 2 3 4 60\n@ NS ns1\n@ NS ns2\n", serial);
	fputs("ns1 A 192.0.2.1\nns2 A 192.0.2.2\n", f);
	for (unsigned i = 0; i < n_names; i++)
		fprintf(f, "n%u A %s\n", i, i % (n_names / 10) ? "192.0.2.3" : changed);
	fclose(f);
	MUST(!zone_load_file(&z, "z.test", path, &err));
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

static enum walk_step visit(void *user, const struct volley_entry *e)
{
	return affected_by(user, e) ? WALK_WITHDRAW : WALK_ON;
}

static enum walk_step pass_by(void *user, const struct volley_entry *e)
{
	*(uint64_t *)user += e->zone_slot;
	return WALK_ON;
}

#define N_ZONES 10000u

/* The world's zone, and others beside it; to be freed by the caller. */
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
	struct engine_config config = ENGINE_CONFIG_INIT;
	struct cache_sizes sizes;
	struct cache_stats stats;
	bool adopted;

	world_load_zone(&w, "z.test", NULL);
	w.members[0].zone = make_zone(n_names, 1, "192.0.2.3");
	MUST(!cache_sizes_plan(&sizes, n_names * 4 * BYTES_PER_ANSWER, 1));
	MUST(!cache_memory_anonymous(&memory, &sizes));
	MUST(!cache_new(&w.cache, &memory, &adopted));
	w.members[0].cache_slot = 1;
	w.members[0].cache_gen = 1;
	cache_zone_commit(w.cache, 1, 1, (const uint64_t[2]){ 1, 1 });
	world_publish(&w);
	MUST(!engine_new(&w.engine, &config, w.cache, &w.zones));
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

int main(int argc, char **argv)
{
	unsigned n_names = (unsigned)(argc > 1 ? atoi(argv[1]) : 4) * 250000;
	enum changes_refusal why;
	struct changes *changes;
	uint64_t sum = 0, n;
	struct zone_set *set;
	struct zone *new;
	double begun;

	rcu_register_thread();
	set_up(n_names);
	new = make_zone(n_names, 2, "192.0.2.4");
	begun = now();
	changes = changes_new(w.members[0].zone, new, &why);
	MUST(changes);
	report("comparison", begun, changes_n_names(changes), "names");
	begun = now();
	cache_walk(w.cache, pass_by, &sum);
	report("bare walk", begun, 0, NULL);
	set = many_zones(&w.members[0]);
	begun = now();
	n = cache_walk(w.cache, visit_routes, set);
	report("routes", begun, n, "answers withdrawn");
	zone_set_free(set);
	begun = now();
	n = cache_walk(w.cache, visit, changes);
	report("walk", begun, n, "answers withdrawn");
	changes_free(changes);
	zone_free(new);
	world_free(&w);
	cache_memory_release(&memory);
	rcu_unregister_thread();
	return 0;
}
