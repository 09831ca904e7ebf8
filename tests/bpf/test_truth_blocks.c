/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver and the engine apply blocks in the same way, octet by octet: queries are generated
 * (tests/lib/querygen.h), while blocks are added, changed and removed all the time. The driver
 * leaves to the engine only what it cannot answer.
 *
 * In the environment QUERIES is the number of queries, SEED the seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/socket.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "cache/generations.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "engine/engine.h"
#include "tests/lib/blocklab.h"
#include "tests/lib/querygen.h"
#include "tests/lib/xdpworld.h"
#include "zone/zone.h"

#define N_QUERIES   60000u
#define CACHE_BYTES (48ull << 20)
#define CAP         2048u
#define CHANGE_EACH 16  /* queries */
#define SHARE       200 /* the driver gives each verdict to at least one query in so many */
#define NOW_WALL_S  1700000000ull

struct truth {
	struct bpfmaps maps;
	struct cache *cache;
	struct zone_member member;
	uint8_t apex[DNS_NAME_MAX];
	struct engine_data data;
	struct engine *engine;
	struct blocklab lab;
	struct querygen g;
	uint64_t n;
	uint64_t reasons[VOLLEY_N_REASONS];
};

static struct truth t;

static void load_zone(void)
{
	char path[] = "/tmp/volley-truth-XXXXXX";
	struct zone_error error;
	FILE *f = fdopen(mkstemp(path), "w");

	assert_non_null(f);
	querygen_write_zone(f);
	fclose(f);
	if (zone_load(&t.member.zone, QUERYGEN_ORIGIN, path, NULL, &error))
		fail_msg("%s:%u: %s", error.file, error.line, error.sentence);
	unlink(path);
}

static void serve_zone(void)
{
	const uint64_t digest[2] = { 1, 1 };
	int n = name_from_text(t.apex, sizeof(t.apex), QUERYGEN_ORIGIN, strlen(QUERYGEN_ORIGIN));

	load_zone();
	t.member.apex = t.apex;
	t.member.apex_len = (unsigned int)n;
	cache_zone_prepare(t.cache, t.apex, (unsigned int)n, digest, &t.member.cache_slot,
			   &t.member.cache_gen);
	cache_zone_commit(t.cache, t.member.cache_slot, t.member.cache_gen, digest);
	assert_int_equal(zone_set_new(&t.data.set, &t.member, 1), 0);
}

static void truth_open(const struct engine_config *config, struct engine_identity *identity)
{
	static struct cookie_secrets secrets = { .n = 1 };
	struct cache_sizes sizes;
	struct volley_state *state;
	bool adopted;

	assert_int_equal(cache_sizes_plan(&sizes, CACHE_BYTES, 1), 0);
	assert_int_equal(bpfmaps_open(&t.maps, &sizes), 0);
	assert_int_equal(cache_new(&t.cache, &t.maps.memory, &adopted), 0);
	state = cache_state(t.cache);
	state->serve_until_s = VOLLEY_NEVER;
	state->max_udp_bytes = config->max_udp_bytes;
	state->option_up_mask = engine_option_mask(identity);
	state->wall_ns = NOW_WALL_S * CLOCK_NS_PER_S - xdp_coarse_ns();
	t.data.cookies = &secrets;
	t.data.identity = identity;
	engine_options(identity, t.data.cookies, &state->options[0]);
	xdp_serve(state);
	serve_zone();
	blocklab_open(&t.lab, &t.maps, CAP);
	t.data.blocks = &t.lab.view;
	assert_int_equal(engine_new(&t.engine, config, t.cache, &t.data), 0);
}

static void truth_close(void)
{
	engine_free(t.engine);
	blocklab_close(&t.lab);
	zone_set_free(t.data.set);
	zone_free(t.member.zone);
	cache_free(t.cache);
	bpfmaps_close(&t.maps);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static uint32_t draw_action(void)
{
	return 1 + querygen_draw(&t.g, VOLLEY_BLOCK_N_ACTIONS - 1);
}

/* The end of a block; half of them have expired. Driver and engine run in the same second. */
static uint32_t draw_expiry(void)
{
	return querygen_draw(&t.g, 2) ? VOLLEY_NEVER :
	       querygen_draw(&t.g, 2) ? 1 :
					VOLLEY_NEVER - 1;
}

static void set(const struct volley_block_key *key)
{
	uint64_t rule = volley_block_rule(draw_expiry(), key->kind_bits, draw_action(),
					  querygen_draw(&t.g, 3));

	assert_int_equal(block_table_set(&t.lab.table, key, rule), 0);
}

/* A prefix of any length that has a client of the lab. Few of these: they hide other blocks. */
static struct volley_block_key draw_prefix(void)
{
	bool is_ipv6 = querygen_draw(&t.g, 2);
	const struct pkt *p = is_ipv6 ? &pkt_ipv6 : &pkt_ipv4;

	return block_key_prefix(is_ipv6, p->from, querygen_draw(&t.g, is_ipv6 ? 129 : 33));
}

/* A suffix of a name that a query may ask for. */
static struct volley_block_key draw_name(const uint8_t *folded, unsigned int bytes)
{
	unsigned int at = 0, skip = querygen_draw(&t.g, 4);

	while (skip-- && folded[at])
		at += 1u + folded[at];
	return block_key_name(&t.lab.secrets, folded + at, bytes - at);
}

static void change_blocks(const struct query *q)
{
	struct volley_block_key key = draw_prefix();

	if (!querygen_draw(&t.g, 8))
		set(&key);
	else
		(void)block_table_remove(&t.lab.table, &key);
	key = draw_name(q->folded, q->qname_bytes);
	if (querygen_draw(&t.g, 3))
		set(&key);
	else
		(void)block_table_remove(&t.lab.table, &key);
	key = block_key_type(q->qtype);
	if (!querygen_draw(&t.g, 8))
		set(&key);
	else
		(void)block_table_remove(&t.lab.table, &key);
	if (block_table_retire(&t.lab.table))
		block_table_reclaim(&t.lab.table);
	t.lab.view.kinds = block_table_kinds(&t.lab.table);
	t.maps.memory.state->block_kinds = t.lab.view.kinds;
}

/* From time to time all blocks of names are removed: else in the end all names are blocked. */
static int take_key(void *user, const struct volley_block_key *key,
		    const struct volley_block *block)
{
	struct volley_block_key *keys = user;

	(void)block;
	keys[keys[0].low++ + 1] = *key;
	return 0;
}

static void forget_blocks(void)
{
	static struct volley_block_key keys[CAP + 1];

	keys[0].low = 0;
	block_table_each(&t.lab.table, take_key, keys);
	for (uint64_t i = 1; i <= keys[0].low; i++)
		assert_true(block_table_remove(&t.lab.table, &keys[i]));
}

/* ---- Both ------------------------------------------------------------------------------------ */

static uint32_t wall_s(void)
{
	return xdp_ahead_s(cache_state(t.cache)->wall_ns);
}

static size_t ask_engine(const uint8_t *dns, size_t n, const struct pkt *p, uint32_t wall,
			 uint8_t *reply)
{
	const struct engine_request rq = {
		.msg = dns,
		.len = n,
		.family = p->ipv6 ? AF_INET6 : AF_INET,
		.client = p->from,
		.now_s = clock_coarse_s(),
		.wall_s = wall,
	};

	return engine_answer(t.engine, &rq, reply, VOLLEY_UDP_MAX);
}

static int run_driver(const uint8_t *frame, size_t n, uint8_t *out, size_t *out_bytes)
{
	static struct volley_cpu before, after;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = (__u32)n,
		    .data_out = out, .data_size_out = PKT_FRAME_MAX, .repeat = 1);
	int reason = -1;

	assert_int_equal(bpfmaps_counters(&t.maps, &before), 0);
	assert_int_equal(bpf_prog_test_run_opts(t.maps.prog_fd, &opts), 0);
	assert_int_equal(bpfmaps_counters(&t.maps, &after), 0);
	for (int i = 0; i < VOLLEY_N_REASONS; i++)
		if (after.reasons[i] != before.reasons[i])
			reason = i;
	assert_true(reason >= 0);
	*out_bytes = opts.data_size_out;
	return reason;
}

/* The engine's action, by its counters. */
static enum volley_block_action engine_verdict(const struct engine_counters *a,
					       const struct engine_counters *b)
{
	if (b->blocked != a->blocked)
		return VOLLEY_BLOCK_DROP;
	if (b->block_refused != a->block_refused)
		return VOLLEY_BLOCK_REFUSE;
	return b->block_truncated != a->block_truncated ? VOLLEY_BLOCK_TRUNCATE : VOLLEY_BLOCK_NONE;
}

/* Blocked queries that the driver may leave to the engine: those that it does not understand, but
 * no misses. */
static bool may_go_up(int reason)
{
	return reason >= VOLLEY_UP_NO_ROOM && reason <= VOLLEY_UP_OPTIONS;
}

static void check(int reason, enum volley_block_action verdict)
{
	static const int done[] = { [VOLLEY_BLOCK_DROP] = VOLLEY_DROP_BLOCKED,
				    [VOLLEY_BLOCK_REFUSE] = VOLLEY_HIT_REFUSED,
				    [VOLLEY_BLOCK_TRUNCATE] = VOLLEY_HIT_BLOCK_TRUNCATED };
	bool is_done = reason == VOLLEY_DROP_BLOCKED || reason == VOLLEY_HIT_REFUSED ||
		       reason == VOLLEY_HIT_BLOCK_TRUNCATED;

	if (verdict ? reason != done[verdict] && !may_go_up(reason) : is_done)
		fail_msg("query %lu: engine %u, driver %s", t.n, verdict, xdp_reason_name(reason));
}

static void ask_both(void)
{
	static uint8_t dns[QUERYGEN_BYTES_MAX], reply[VOLLEY_UDP_MAX];
	static uint8_t frame[PKT_FRAME_MAX], out[PKT_FRAME_MAX];
	const struct pkt *p = querygen_draw(&t.g, 2) ? &pkt_ipv6 : &pkt_ipv4;
	struct engine_counters before, after;
	struct pkt_answer answer;
	size_t n = querygen_next(&t.g, dns), bytes, out_bytes, frame_bytes;
	uint32_t wall = wall_s();
	const char *wrong;
	struct query q;
	int reason;

	if (t.n % CHANGE_EACH == 0 && query_parse(&q, dns, n) == QUERY_OK)
		change_blocks(&q);
	engine_counters_read(t.engine, &before);
	bytes = ask_engine(dns, n, p, wall, reply);
	engine_counters_read(t.engine, &after);
	frame_bytes = pkt_build(frame, p, dns, n);
	reason = run_driver(frame, frame_bytes, out, &out_bytes);
	t.reasons[reason]++;
	if (n >= DNS_HEADER_BYTES && !(dns[2] & 0x80)) /* engines ignore responses first of all */
		check(reason, engine_verdict(&before, &after));
	if (reason > VOLLEY_HIT_BLOCK_TRUNCATED || wall != wall_s())
		return;
	wrong = pkt_check_answer(frame, frame_bytes, out, out_bytes,
				 cache_state(t.cache)->max_udp_bytes, &answer);
	if (wrong)
		fail_msg("query %lu: %s", t.n, wrong);
	if (answer.dns_bytes != bytes || memcmp(answer.dns, reply, bytes))
		fail_msg("query %lu: driver and engine differ, %s", t.n, xdp_reason_name(reason));
}

static unsigned long from_environment(const char *variable, unsigned long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

static void test_truth(void **state)
{
	/* Its length is odd, so the next option begins at an odd offset. */
	static struct engine_identity identity = { .nsid = "ns1", .nsid_bytes = 3 };
	static const int wanted[] = {
		VOLLEY_HIT_FULL,   VOLLEY_HIT_REFUSED,  VOLLEY_HIT_BLOCK_TRUNCATED,
		VOLLEY_UP_BLOCKED, VOLLEY_DROP_BLOCKED, VOLLEY_UP_MISS
	};
	unsigned long n = from_environment("QUERIES", N_QUERIES);
	struct engine_config config = ENGINE_CONFIG_INIT;

	if (!*state)
		skip();
	memset(&t, 0, sizeof(t));
	t.g.state = 17 + from_environment("SEED", 0);
	truth_open(&config, &identity);
	for (t.n = 0; t.n < n; t.n++) {
		ask_both();
		if (t.n % 4096 == 0)
			forget_blocks();
		rcu_quiescent_state();
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		print_message("             %8lu  %s\n", t.reasons[wanted[i]],
			      xdp_reason_name(wanted[i]));
		if (t.reasons[wanted[i]] < n / SHARE)
			fail_msg("too few: %s", xdp_reason_name(wanted[i]));
	}
	truth_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_truth) };

	return cmocka_run_group_tests(tests, xdp_engines_open, xdp_engines_close);
}
