// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blockcost [--blocks N] [--repeat N] [--rounds N] [--changes N]
 *
 * The cost of blocks for a hit of a client that is not blocked: ns per packet by BPF_PROG_TEST_RUN,
 * for random names and clients (front.bpf.c). Each round measures in turn:
 *
 *   reflect          the reflector, which looks up nothing
 *   none             nothing is blocked
 *   few              100 prefixes
 *   many             N prefixes of mixed lengths, IPv4 /8 to /32 and IPv6 /16 to /128
 *   many, changing   the same, while another processor adds and removes --changes prefixes a second
 *
 * All blocks have the action `allow`, so each query is a hit. The blocks of each length cover at
 * most a 64th of all addresses. It prints medians of the differences within a round, and the time
 * to add all blocks.
 */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bpf/tables.h"
#include "limits/block_table.h"
#include "tests/lib/draw.h"
#include "tests/perf/hitcost.h"

#define FEW 100u

enum target { REFLECT, NONE, FEW_BLOCKS, MANY, CHANGING, N_TARGETS };
static const char *const names[N_TARGETS] = { "reflect", "none", "few", "many", "many, changing" };

struct table {
	struct block_table table;
	void *memory;
	int fd;
};

struct bench {
	struct hitcost hit;
	struct volley_block_head secrets;
	struct table few, many;
	uint32_t n_blocks, changes;
	bool stops;
};

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void draw_octets(uint8_t octets[16], bool ipv6)
{
	for (int i = 0; i < 16; i++)
		octets[i] = (uint8_t)draw(256);
	octets[0] = ipv6 ? 0x20 | (octets[0] & 0x1f) : (uint8_t)(1 + octets[0] % 64);
}

/* Draws a length. Short prefixes are so few that they cover at most a 64th of all addresses. */
static unsigned int draw_bits(bool ipv6, uint32_t n)
{
	const unsigned int first = ipv6 ? 16 : 8, last = ipv6 ? 128 : 32;
	const uint64_t share = n / (last - first + 1) + 1;
	unsigned int bits;

	do
		bits = first + draw(last - first + 1);
	while (bits < 32 && draw(1000000) > 1000000 * ((1ull << bits) >> (ipv6 ? 9 : 8)) / share);
	return bits;
}

static bool add_one(struct table *t, bool ipv6, uint32_t n)
{
	uint8_t octets[16];
	struct volley_block_key key;
	uint64_t rule;

	draw_octets(octets, ipv6);
	key = block_key_prefix(ipv6, octets, draw_bits(ipv6, n));
	rule = volley_block_rule(VOLLEY_NEVER, key.kind_bits, VOLLEY_BLOCK_ALLOW, 1);
	return !block_table_set(&t->table, &key, rule);
}

static void open_table(struct bench *b, struct table *t, uint32_t n)
{
	uint32_t cap = n + n / 4 + BLOCK_TABLE_MIN, chunks = block_table_chunks(cap);
	uint64_t start = clock_ns();

	t->fd = block_map_open(block_map_make(chunks), chunks, &t->memory);
	must(t->fd >= 0, "a map of blocks");
	must(!block_table_init(&t->table, t->memory, cap, &b->secrets), "a table");
	while (t->table.n < n)
		add_one(t, t->table.n % 2, n / 2);
	printf("%u blocks added in %.3f s, in %u MiB\n", n,
	       (double)(clock_ns() - start) / CLOCK_NS_PER_S, chunks * 2);
}

static void choose(struct bench *b, const struct table *t)
{
	b->hit.maps.memory.state->block_kinds = 0;
	if (!t)
		return;
	must(!block_map_put(bpfmaps_map_fd(&b->hit.maps, "volley_blocks"), t->fd), "volley_blocks");
	b->hit.maps.memory.state->block_kinds = VOLLEY_BLOCKS_PREFIXES;
}

/* Half of the changes add, half remove; a place is used again a second later. */
static void *change(void *arg)
{
	struct bench *b = arg;
	struct volley_block_key keys[64];
	const struct timespec pause = { .tv_nsec = (long)(1000000000ull * 128 / b->changes) };
	uint8_t octets[16];

	while (!__atomic_load_n(&b->stops, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < 64; i++) {
			draw_octets(octets, i % 2);
			keys[i] = block_key_prefix(i % 2, octets, i % 2 ? 64 : 32);
			must(!block_table_set(&b->many.table, &keys[i],
					      volley_block_rule(VOLLEY_NEVER, keys[i].kind_bits,
								VOLLEY_BLOCK_ALLOW, 1)),
			     "a change");
		}
		for (int i = 0; i < 64; i++)
			block_table_remove(&b->many.table, &keys[i]);
		if (block_table_retire(&b->many.table))
			block_table_reclaim(&b->many.table);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static void measure(struct bench *b, enum target target, unsigned int round)
{
	pthread_t thread;

	choose(b, target == FEW_BLOCKS                 ? &b->few :
		  target == MANY || target == CHANGING ? &b->many :
							 NULL);
	b->stops = false;
	if (target == CHANGING)
		must(!pthread_create(&thread, NULL, change, b), "a thread");
	hitcost_run(&b->hit, target == REFLECT, b->hit.repeat / 8);
	b->hit.ns[target][round] = hitcost_run(&b->hit, target == REFLECT, b->hit.repeat);
	__atomic_store_n(&b->stops, true, __ATOMIC_RELEASE);
	if (target == CHANGING)
		pthread_join(thread, NULL);
}

static void bench_family(struct bench *b)
{
	hitcost_open_front(&b->hit);
	for (unsigned int round = 0; round < b->hit.rounds; round++)
		for (int target = 0; target < N_TARGETS; target++)
			measure(b, (enum target)target, round);
	printf("%s, ns above the reflector:", b->hit.ipv6 ? "IPv6" : "IPv4");
	for (int target = 1; target < N_TARGETS; target++)
		printf("  %s %d", names[target], hitcost_above(&b->hit, target, REFLECT, 2));
	printf("; many above none %d; changing above many %d\n",
	       hitcost_above(&b->hit, MANY, NONE, 2), hitcost_above(&b->hit, CHANGING, MANY, 2));
	front_bpf__destroy(b->hit.front);
}

static void read_options(struct bench *b, int argc, char **argv)
{
	static const struct option options[] = { { "blocks", required_argument, NULL, 'b' },
						 { "repeat", required_argument, NULL, 'r' },
						 { "rounds", required_argument, NULL, 'n' },
						 { "changes", required_argument, NULL, 'c' },
						 { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint32_t n = optarg ? (uint32_t)atoi(optarg) : 0;

		must(n > 0, "a number is wanted");
		if (c == 'b')
			b->n_blocks = n;
		else if (c == 'r')
			b->hit.repeat = n;
		else if (c == 'n')
			b->hit.rounds = n < HITCOST_ROUNDS_CAP ? n : HITCOST_ROUNDS_CAP;
		else if (c == 'c')
			b->changes = n;
	}
}

int main(int argc, char **argv)
{
	static struct bench b = { .hit = { .repeat = 200000, .rounds = 15 },
				  .n_blocks = 1000000,
				  .changes = 1000 };

	read_options(&b, argc, argv);
	hitcost_open(&b.hit);
	must(!block_table_secrets(&b.secrets), "random numbers");
	open_table(&b, &b.few, FEW);
	open_table(&b, &b.many, b.n_blocks);
	for (int family = 0; family < 2; family++) {
		b.hit.ipv6 = family;
		bench_family(&b);
	}
	return 0;
}
