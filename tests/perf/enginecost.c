/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * enginecost [MILLISECONDS]: the cost of an answer in the engine, in nanoseconds and relative to a
 * hit.
 *
 * Each kind is asked with and without the cache, over the same few names, so the result is the cost
 * of the work and not of the memory. The zone has 10,000 names and an NSEC chain; its signatures
 * are not valid, but as long as those of ECDSA P-256.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "tests/unit/engine/world.h"

#define N_NAMES   10000
#define N_QUERIES 64
#define PRELOADED 200 /* answers before the clock starts */

#define SIGNATURE                                                                          \
	" 13 3 300 20380101000000 20260101000000 1 z.test. "                               \
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" \
	"AAAAAA==\n"

static const struct {
	const char *what;
	const char *format; /* of the name; it takes a number */
	uint16_t type;
	bool dnssec_ok;
} kinds[] = {
	{ "A", "n%05u.z.test", DNS_TYPE_A, false },
	{ "A, signed", "n%05u.z.test", DNS_TYPE_A, true },
	{ "A, long name", "a.bb.ccc.dddd.eeeee.ffffff.w%05u.wild.z.test", DNS_TYPE_A, false },
	{ "NODATA", "n%05u.z.test", DNS_TYPE_TXT, false },
	{ "NODATA, signed", "n%05u.z.test", DNS_TYPE_TXT, true },
	{ "NXDOMAIN", "x%05u.z.test", DNS_TYPE_A, false },
	{ "NXDOMAIN, signed", "x%05u.z.test", DNS_TYPE_A, true },
	{ "referral", "www.d%05u.z.test", DNS_TYPE_A, false },
	{ "referral, signed", "www.d%05u.z.test", DNS_TYPE_A, true },
	{ "CNAME", "c%05u.z.test", DNS_TYPE_A, false },
	{ "not our zone", "n%05u.y.test", DNS_TYPE_A, false },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct world world;

static void put_name(FILE *f, unsigned int i)
{
	char here[16], next[16];

	snprintf(here, sizeof(here), "%c%05u", i % 10 < 7 ? 'n' : i % 10 < 9 ? 'd' : 'c', i);
	snprintf(next, sizeof(next), "%s", i + 1 < N_NAMES ? "zz" : "wild");
	switch (here[0]) {
	case 'n':
		fprintf(f, "%s A 192.0.2.1\n%s RRSIG A" SIGNATURE, here, here);
		break;
	case 'd':
		fprintf(f, "%s NS ns1.%s\n%s NS ns2.%s\nns1.%s A 192.0.2.1\nns2.%s A 192.0.2.2\n",
			here, here, here, here, here, here);
		break;
	default:
		fprintf(f, "%s CNAME n00000\n%s RRSIG CNAME" SIGNATURE, here, here);
	}
	fprintf(f, "%s 60 NSEC %s.z.test. RRSIG NSEC\n%s 60 RRSIG NSEC" SIGNATURE, here, next,
		here);
}

static void make_zone(void)
{
	char path[] = "/tmp/volley-zone-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");

	MUST(f);
	fprintf(f, "$TTL 300\n@ SOA ns root 1 2 3 4 60\n@ RRSIG SOA" SIGNATURE);
	fprintf(f, "@ NS ns\n@ NS ns2\n@ RRSIG NS" SIGNATURE "@ DNSKEY 257 3 13 AAAA\n");
	fprintf(f, "@ 60 NSEC c00009.z.test. NS SOA RRSIG NSEC\n@ 60 RRSIG NSEC" SIGNATURE);
	for (unsigned int i = 0; i < N_NAMES; i++)
		put_name(f, i);
	fprintf(f, "ns A 192.0.2.1\nns RRSIG A" SIGNATURE "ns2 A 192.0.2.1\nns2 RRSIG A" SIGNATURE);
	fprintf(f, "*.wild A 192.0.2.9\n");
	fclose(f);
	world_load_zone(&world, "z.test", path);
	unlink(path);
}

struct queries {
	uint8_t bytes[N_QUERIES][512];
	size_t len[N_QUERIES];
};

static void make_queries(struct queries *q, size_t kind)
{
	static const unsigned int last[128] = { ['d'] = 7, ['c'] = 9 };
	const char *format = kinds[kind].format;
	const char *at = strchr(format, '%') - 1;
	char name[128];

	for (unsigned int i = 0; i < N_QUERIES; i++) {
		struct ask ask = {
			.name = name,
			.type = kinds[kind].type,
			.udp_size = 1232,
			.dnssec_ok = kinds[kind].dnssec_ok,
		};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(name, sizeof(name), format, 100 * i + last[(unsigned char)*at]);
#pragma GCC diagnostic pop
		q->len[i] = ask_bytes(&ask, q->bytes[i]);
	}
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void answer_all(struct engine *e, const struct queries *q)
{
	static uint8_t out[DNS_MESSAGE_MAX];
	struct engine_request rq = {
		.family = AF_INET,
		.client = world_client,
		.now_s = WORLD_NOW_S,
		.wall_s = WORLD_WALL_S,
	};

	for (unsigned int i = 0; i < N_QUERIES; i++) {
		rq.msg = q->bytes[i];
		rq.len = q->len[i];
		MUST(engine_answer(e, &rq, out, sizeof(out)));
	}
	rcu_quiescent_state();
}

/* The fastest of many short runs: other work disturbed the slower ones. */
static double measure(struct engine *e, const struct queries *q, unsigned int ms)
{
	uint64_t best = UINT64_MAX, end;

	for (unsigned int i = 0; i < PRELOADED / N_QUERIES + 1; i++)
		answer_all(e, q);
	end = now_ns() + ms * 1000000ull;
	while (now_ns() < end) {
		uint64_t t = now_ns();

		for (unsigned int i = 0; i < 16; i++)
			answer_all(e, q);
		t = now_ns() - t;
		best = t < best ? t : best;
	}
	return (double)best / (16 * N_QUERIES);
}

int main(int argc, char **argv)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;
	unsigned int ms = argc > 1 ? (unsigned int)atoi(argv[1]) : 100;
	static struct queries q;
	double unit = 0;

	rcu_register_thread();
	make_zone();
	world_open(&world, &config);
	printf("%-18s %8s %8s %8s %8s\n", "answer", "hit ns", "rel.", "fresh ns", "rel.");
	for (size_t k = 0; k < N_KINDS; k++) {
		double hit, render;

		make_queries(&q, k);
		hit = measure(world.engine, &q, ms);
		render = measure(world.uncached, &q, ms);
		if (k == 0)
			unit = hit;
		printf("%-18s %8.1f %8.2f %8.1f %8.2f\n", kinds[k].what, hit, hit / unit, render,
		       render / unit);
	}
	world_free(&world);
	rcu_unregister_thread();
	return 0;
}
