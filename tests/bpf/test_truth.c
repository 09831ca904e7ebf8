/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver and the engine send the same answers, byte for byte.
 *
 *   query ─┬─► engine with the cache, without limits ─► published
 *          ├─► frame ─► XDP program, the same cache ──────┐ its clock is read from it
 *          ├─► engine with the cache ─► reply ────────────┼─► all equal, or up and unchanged
 *          └─► engine without a cache ─► reply ───────────┘
 *
 * With rate limits, the driver and the engines have separate tables of loads. The test charges the
 * driver's table for queries that it hands up, as a worker would.
 *
 * The queries are generated with a fixed seed (tests/lib/querygen.h), for several settings. In the
 * environment QUERIES is the number of all queries, SEED the seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "cache/generations.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "engine/engine.h"
#include "engine/reply_writer.h"
#include "limits/limiter.h"
#include "tests/lib/answerkinds.h"
#include "tests/lib/querygen.h"
#include "tests/lib/xdpworld.h"
#include "xdp/cookie.h"
#include "zone/zone.h"

#define N_QUERIES        1200000u
#define N_SETTINGS       5u
#define HITS_SHARE       4    /* the driver answers at least one in so many */
#define KINDS_SHARE      2000 /* and one in so many with each kind of answer */
#define CACHE_BYTES      (96ull << 20)
#define NOW_WALL_S       1700000000ull
#define QUERIES_A_SECOND 2000 /* with limits */
/* one in so many of its answers has COOKIE or NSID, if these are answered */
#define WITH_OPTIONS_SHARE 100

static const struct {
	const char *origin, *path; /* NULL: generated */
} zone_files[] = {
	{ "example.com", "zones/example.com.zone" },
	{ "example.net", "zones/example.net.zone" },
	{ "example2.jp", "zones/example2.jp.zone" },
	{ "2.0.192.in-addr.arpa", "zones/2.0.192.in-addr.arpa.zone" },
	{ QUERYGEN_NSEC, "zones/signed-nsec.example.zone" },
	{ QUERYGEN_NSEC3, "zones/signed-nsec3.example.zone" },
	{ QUERYGEN_ORIGIN, NULL },
};
#define N_ZONES (sizeof(zone_files) / sizeof(zone_files[0]))

/* The rate limits of one answerer. */
struct side {
	struct limiter limiter;
	struct volley_near *near;
};

/* Both answerers over one cache. */
struct truth {
	struct bpfmaps maps;
	struct cache *cache;
	struct zone_member members[N_ZONES];
	uint8_t apexes[N_ZONES][DNS_NAME_MAX];
	struct engine_data zones, bare_zones;
	struct engine *engine, *bare;        /* bare: without a cache */
	const struct limiter_config *limits; /* NULL: none */
	struct side of_driver, of_engine, of_bare;
	struct querygen g;
	struct pkt from; /* the client */
	uint64_t now_ms; /* the driver's clocks in its last run */
	uint32_t wall_s;
	struct volley_cpu *cpus; /* copies of all CPUs' memory */
	int cpu;                 /* for all runs */
	uint64_t n_queries, n_sent, n_sent_options, n_dropped;
	uint64_t kinds[N_ANSWER_KINDS]; /* of the driver's answers */
};

static struct zone *zones[N_ZONES];

static struct zone *load_generated(const char *origin)
{
	char path[] = "/tmp/volley-truth-XXXXXX";
	struct zone_error error;
	struct zone *zone;
	FILE *f = fdopen(mkstemp(path), "w");

	assert_non_null(f);
	querygen_write_zone(f);
	fclose(f);
	if (zone_load(&zone, origin, path, NULL, &error))
		fail_msg("%s:%u: %s", error.file, error.line, error.sentence);
	unlink(path);
	return zone;
}

static struct zone *load(const char *origin, const char *path)
{
	struct zone_error error;
	struct zone *zone;

	if (!path)
		return load_generated(origin);
	if (zone_load(&zone, origin, path, NULL, &error))
		fail_msg("%s:%u: %s", error.file, error.line, error.sentence);
	return zone;
}

static void serve_zones(struct truth *t)
{
	for (size_t i = 0; i < N_ZONES; i++) {
		const uint64_t digest[2] = { 1, i };
		struct zone_member *m = &t->members[i];
		const char *origin = zone_files[i].origin;
		int len = name_from_text(t->apexes[i], DNS_NAME_MAX, origin, strlen(origin));

		assert_true(len > 0);
		*m = (struct zone_member){ .apex = t->apexes[i], .zone = zones[i] };
		m->apex_len = (unsigned int)len;
		cache_zone_prepare(t->cache, m->apex, m->apex_len, digest, &m->cache_slot,
				   &m->cache_gen);
		assert_true(m->cache_slot);
		cache_zone_commit(t->cache, m->cache_slot, m->cache_gen, digest);
	}
	assert_int_equal(zone_set_new(&t->zones.set, t->members, N_ZONES), 0);
}

/* The same limits and secret keys for each. Loads do not decay, so the number of answers over a
 * limit does not depend on a clock. */
static void limits_open(struct side *l, const struct limiter *maps,
			const struct limiter_config *config)
{
	l->near = calloc(1, sizeof(*l->near));
	if (maps)
		l->limiter = *maps;
	else
		l->limiter = (struct limiter){ calloc(1, sizeof(struct volley_rrl)),
					       calloc(VOLLEY_RRL_LINES,
						      sizeof(struct volley_rrl_line)) };
	assert_true(l->near && l->limiter.rrl && l->limiter.loads);
	for (uint64_t i = 0; i < 4; i++)
		l->limiter.rrl->keys[i] = 0x0123456789abcdefull * (2 * i + 1);
	assert_int_equal(limiter_configure(l->limiter.rrl, config), 0);
	l->limiter.rrl->near_cost = 0;
	memset(l->limiter.rrl->decay, 0xff, sizeof(l->limiter.rrl->decay));
}

static void forget_loads(struct truth *t)
{
	const size_t bytes = VOLLEY_RRL_LINES * sizeof(struct volley_rrl_line);

	memset(t->of_driver.limiter.loads, 0, bytes);
	memset(t->of_engine.limiter.loads, 0, bytes);
	memset(t->of_bare.limiter.loads, 0, bytes);
}

static void limits_close(struct side *l, bool is_own)
{
	free(l->near);
	if (!is_own)
		return;
	free(l->limiter.rrl);
	free(l->limiter.loads);
}

static void truth_open(struct truth *t, const struct engine_config *config)
{
	struct cache_sizes sizes;
	struct volley_state *state;
	bool adopted;

	assert_int_equal(cache_sizes_plan(&sizes, CACHE_BYTES, N_ZONES), 0);
	assert_int_equal(bpfmaps_open(&t->maps, &sizes), 0);
	assert_int_equal(cache_new(&t->cache, &t->maps.memory, &adopted), 0);
	assert_false(adopted);
	state = cache_state(t->cache);
	state->serve_until_s = VOLLEY_NEVER;
	state->max_udp_bytes = config->max_udp_bytes;
	state->option_up_mask = engine_option_mask(t->zones.identity);
	state->wall_ns = NOW_WALL_S * CLOCK_NS_PER_S - xdp_coarse_ns();
	engine_options(t->zones.identity, t->zones.cookies, &state->options[0]);
	xdp_serve(state);
	serve_zones(t);
	assert_int_equal(engine_new(&t->engine, config, t->cache, &t->zones), 0);
	t->bare_zones = t->zones;
	assert_int_equal(engine_new(&t->bare, config, NULL, &t->bare_zones), 0);
	if (!t->limits)
		return;
	limits_open(&t->of_driver, &t->maps.limiter, t->limits);
	limits_open(&t->of_engine, NULL, t->limits);
	limits_open(&t->of_bare, NULL, t->limits);
	t->bare_zones.limiter = &t->of_bare.limiter;
}

static void truth_close(struct truth *t)
{
	limits_close(&t->of_driver, false);
	limits_close(&t->of_engine, true);
	limits_close(&t->of_bare, true);
	engine_free(t->engine);
	engine_free(t->bare);
	zone_set_free(t->zones.set);
	cache_free(t->cache);
	bpfmaps_close(&t->maps);
}

/* The driver's wall clock. */
static uint32_t wall_s(const struct truth *t)
{
	return xdp_ahead_s(cache_state(t->cache)->wall_ns);
}

/* A cookie of 24 octets, of any age: made with either secret or with a wrong one, or damaged. */
static void sign_cookie(struct querygen *g, uint8_t value[COOKIE_BYTES])
{
	static const uint8_t wrong[SIPHASH_KEY_BYTES] = "wrong";
	const struct truth *t = (const void *)((char *)g - offsetof(struct truth, g));
	const struct pkt *p = &t->from;
	const uint8_t *secrets[] = { t->zones.cookies->keys[0], t->zones.cookies->keys[0],
				     t->zones.cookies->keys[1], wrong };
	const uint32_t made_s = wall_s(t) + 400 - querygen_draw(g, 4200);

	cookie_make(value, value, p->from, p->ipv6 ? 16 : 4, made_s, secrets[querygen_draw(g, 4)]);
	if (!querygen_draw(g, 8))
		value[querygen_draw(g, COOKIE_BYTES)] ^= (uint8_t)(1u << querygen_draw(g, 8));
}

/* Asks the engine at the time that the driver has read. */
static size_t ask_engine(const struct truth *t, struct engine *e, const uint8_t *dns, size_t n,
			 const struct pkt *p, uint8_t *reply)
{
	const struct engine_request rq = {
		.msg = dns,
		.len = n,
		.family = p->ipv6 ? AF_INET6 : AF_INET,
		.client = p->from,
		.now_ns = t->now_ms * CLOCK_NS_PER_MS,
		.now_s = clock_coarse_s(),
		.wall_s = t->wall_s,
	};

	return engine_answer(e, &rq, reply, VOLLEY_UDP_MAX);
}

static void print_octets(const char *what, const uint8_t *octets, size_t n)
{
	print_message("%s, %zu octets:", what, n);
	for (size_t i = 0; i < n; i++)
		print_message("%s%02x", i % 32 ? "" : "\n  ", octets[i]);
	print_message("\n");
}

static void expect_same(const struct truth *t, const char *what, const uint8_t *query, size_t n,
			const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
	if (a_bytes == b_bytes && !memcmp(a, b, a_bytes))
		return;
	print_octets("query", query, n);
	print_octets("engine", a, a_bytes);
	print_octets(what, b, b_bytes);
	fail_msg("query %lu: %s and the engine differ", t->n_queries, what);
}

/* The frame of a query, of any form that the driver accepts; now and then one octet is wrong. */
static size_t draw_frame(struct truth *t, struct pkt *p, uint8_t *frame, const uint8_t *dns,
			 size_t n)
{
	struct querygen *g = &t->g;
	size_t bytes;

	p->n_tags = querygen_draw(g, 8) ? 0 : querygen_draw(g, 3);
	p->pad_to = querygen_draw(g, 4) ? 60 : querygen_draw(g, 600);
	p->from_port = (uint16_t)(1 + querygen_draw(g, 65535));
	bytes = pkt_build(frame, p, dns, n);
	/* Not with limits: a wrong address would charge another client. */
	if (!t->limits && !querygen_draw(g, 100))
		frame[querygen_draw(g, (uint32_t)pkt_dns_at(p))] ^= 1u << querygen_draw(g, 8);
	return bytes;
}

/* The place of the client's address in a frame. */
static const uint8_t *source_in(const uint8_t *frame, const struct pkt *p)
{
	return frame + pkt_dns_at(p) - 8 - (p->ipv6 ? 32 : 8);
}

/* A query on its way through the driver. */
struct passage {
	uint8_t frame[PKT_FRAME_MAX], out[PKT_FRAME_MAX];
	size_t bytes, out_bytes;
	struct pkt drawn;
	uint32_t action;
};

/* The clocks that the driver has read, if it came so far. The test stays on this CPU. */
static void read_driver_clock(struct truth *t)
{
	const uint32_t room = 0;

	assert_int_equal(
		bpf_map_lookup_elem(bpfmaps_map_fd(&t->maps, "volley_cpu"), &room, t->cpus), 0);
	t->now_ms = t->cpus[t->cpu].now_ms;
	t->wall_s = t->cpus[t->cpu].wall_s;
}

static void run_driver(struct truth *t, struct passage *r, const uint8_t *dns, size_t n)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = r->frame, .data_out = r->out,
		    .data_size_out = sizeof(r->out), .repeat = 1);

	r->drawn = t->from;
	r->bytes = draw_frame(t, &r->drawn, r->frame, dns, n);
	opts.data_size_in = (__u32)r->bytes;
	assert_int_equal(bpf_prog_test_run_opts(t->maps.prog_fd, &opts), 0);
	r->action = opts.retval;
	r->out_bytes = opts.data_size_out;
	read_driver_clock(t);
}

/* Charges a query that went up, as the worker that answers it does. */
static void charge_for_worker(struct truth *t, const uint8_t *dns, size_t bytes,
			      const struct engine_counters *before)
{
	const struct pkt *p = &t->from;
	struct limiter_answer a = { .family = p->ipv6 ? AF_INET6 : AF_INET,
				    .client = p->from,
				    .octets = (uint32_t)bytes,
				    .now_ms = t->now_ms };
	enum limiter_verdict verdict;
	struct engine_counters c;

	engine_counters_read(t->engine, &c);
	if (!bytes || c.slipped != before->slipped || c.badcookie != before->badcookie ||
	    c.rrl_exempt != before->rrl_exempt)
		return;
	memcpy(&a.net_id, dns, sizeof(a.net_id));
	verdict = limiter_judge(&t->of_driver.limiter, t->of_driver.near, &a);
	/* A slip of another opcode than QUERY has no TC=1, and is not counted as one. */
	if (reply_has_use_for_tc(dns) || verdict != LIMITER_SLIPS)
		assert_int_equal(verdict, LIMITER_GIVEN);
}

/* Checks the driver's result: the engine's reply in a right frame, or the frame unchanged; nothing
 * is sent if the engine sends nothing. */
static void check_driver(struct truth *t, const struct passage *r, const uint8_t *dns, size_t n,
			 const uint8_t *reply, size_t reply_bytes)
{
	const uint8_t *source = source_in(r->frame, &r->drawn);
	static uint8_t again[VOLLEY_UDP_MAX];
	const struct pkt *p = &t->from;
	struct pkt other = r->drawn;
	struct pkt_answer answer;
	const char *wrong;

	if (r->action == XDP_PASS) {
		if (r->out_bytes != r->bytes || memcmp(r->frame, r->out, r->bytes))
			fail_msg("query %lu: passed, but changed", t->n_queries);
		return;
	}
	if (r->action == XDP_DROP && t->limits) {
		if (reply_bytes)
			fail_msg("query %lu: dropped, but the engine sends %zu octets",
				 t->n_queries, reply_bytes);
		t->n_dropped++;
		return;
	}
	assert_int_equal(r->action, XDP_TX);
	t->n_sent++;
	wrong = pkt_check_answer(r->frame, r->bytes, r->out, r->out_bytes,
				 cache_state(t->cache)->max_udp_bytes, &answer);
	if (wrong)
		fail_msg("query %lu: %s", t->n_queries, wrong);
	answer_kinds_count(t->kinds, &answer);
	t->n_sent_options += answer.opt_options > 0;
	if (memcmp(source, p->from, p->ipv6 ? 16 : 4)) {
		memcpy(other.from, source, p->ipv6 ? 16 : 4);
		reply_bytes = ask_engine(t, t->engine, dns, n, &other, again);
		reply = again; /* the address was damaged, and the cookie is for the damaged one */
	}
	expect_same(t, "the driver", dns, n, reply, reply_bytes, answer.dns, answer.dns_bytes);
}

/* With limits there are 1,000 clients; some ask much more than others. */
static void draw_client(struct truth *t)
{
	uint32_t number;

	t->from = querygen_draw(&t->g, 2) ? pkt_ipv6 : pkt_ipv4;
	if (!t->limits)
		return;
	number = querygen_draw(&t->g, 1 + querygen_draw(&t->g, 1000));
	t->from.from[t->from.ipv6 ? 5 : 1] = (uint8_t)(number >> 8);
	t->from.from[t->from.ipv6 ? 6 : 2] = (uint8_t)number;
}

static void ask_all(struct truth *t)
{
	static uint8_t dns[QUERYGEN_BYTES_MAX], replies[2][VOLLEY_UDP_MAX];
	static struct passage passage;
	struct engine_counters before;
	size_t n, bytes, bare_bytes;

	if (t->limits && t->n_queries % QUERIES_A_SECOND == 0)
		forget_loads(t);
	draw_client(t);
	t->wall_s = wall_s(t);
	n = querygen_next(&t->g, dns);
	t->zones.limiter = NULL;
	(void)ask_engine(t, t->engine, dns, n, &t->from, replies[0]);
	run_driver(t, &passage, dns, n);
	t->zones.limiter = t->limits ? &t->of_engine.limiter : NULL;
	engine_counters_read(t->engine, &before);
	bytes = ask_engine(t, t->engine, dns, n, &t->from, replies[0]);
	bare_bytes = ask_engine(t, t->bare, dns, n, &t->from, replies[1]);
	expect_same(t, "the engine without cache", dns, n, replies[0], bytes, replies[1],
		    bare_bytes);
	check_driver(t, &passage, dns, n, replies[0], bytes);
	if (t->limits && passage.action == XDP_PASS)
		charge_for_worker(t, dns, bytes, &before);
	rcu_quiescent_state();
	t->n_queries++;
}

/* Prints the counts of each answerer, and checks that the counters balance. */
static void report(const struct truth *t)
{
#define WORDS_OF(name, class, words) { #name, words },
	static const struct {
		const char *name, *words;
	} reasons[] = { VOLLEY_REASONS(WORDS_OF) };
	struct volley_cpu counted;
	uint64_t sum = 0;

	assert_int_equal(bpfmaps_counters(&t->maps, &counted), 0);
	print_message("           %lu queries, %lu answered by the driver\n", t->n_queries,
		      t->n_sent);
	for (size_t i = 0; i < VOLLEY_N_REASONS; i++) {
		sum += counted.reasons[i];
		if (counted.reasons[i])
			print_message("             %8llu  %-18s %s\n", counted.reasons[i],
				      reasons[i].name, reasons[i].words);
	}
	assert_int_equal(counted.received, t->n_queries);
	assert_int_equal(counted.received, sum);
	assert_int_equal(counted.reasons[VOLLEY_DROP_EDIT], 0);
}

/* The driver has sent enough answers of each kind for the comparison to be significant. */
static void expect_all_kinds(const struct truth *t)
{
	for (enum answer_kind kind = 0; kind < N_ANSWER_KINDS; kind++) {
		print_message("             %8lu  %s\n", t->kinds[kind], answer_kind_words(kind));
		if (t->kinds[kind] < t->n_queries / KINDS_SHARE)
			fail_msg("too few from the driver: %s", answer_kind_words(kind));
	}
}

/* Enough answers are over a limit, with each outcome; and both tables have the same loads. */
static void expect_limited(const struct truth *t)
{
	static const int reasons[] = { VOLLEY_HIT_SLIPPED, VOLLEY_HIT_BADCOOKIE,
				       VOLLEY_DROP_LIMITED };
	struct volley_cpu counted;

	assert_int_equal(bpfmaps_counters(&t->maps, &counted), 0);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		assert_true(counted.reasons[reasons[i]] > t->n_queries / KINDS_SHARE);
	assert_int_equal(t->n_dropped, counted.reasons[VOLLEY_DROP_LIMITED]);
}

static unsigned long from_environment(const char *variable, unsigned long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

/* Number `nth` of the settings: each has its own queries. */
static void stay_on_a_cpu(struct truth *t)
{
	cpu_set_t cpus;

	t->cpu = sched_getcpu();
	t->cpus = calloc((size_t)libbpf_num_possible_cpus(), sizeof(*t->cpus));
	assert_non_null(t->cpus);
	CPU_ZERO(&cpus);
	CPU_SET((size_t)t->cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

static void run(void **state, const struct engine_config *config, const char *nsid,
		struct cookie_secrets *cookies, const struct limiter_config *limits, uint64_t nth)
{
	unsigned long n = from_environment("QUERIES", N_QUERIES) / N_SETTINGS;
	struct engine_identity identity = { .nsid_bytes = (uint16_t)strlen(nsid) };
	struct truth t = { .g = { .state = nth * 0x9e3779b97f4a7c15u + from_environment("SEED", 0),
				  .sign_cookie = cookies ? sign_cookie : NULL },
			   .zones = { .cookies = cookies, .identity = &identity },
			   .limits = limits };

	if (!*state)
		skip();
	memcpy(identity.nsid, nsid, identity.nsid_bytes);
	stay_on_a_cpu(&t);
	truth_open(&t, config);
	while (t.n_queries < n)
		ask_all(&t);
	report(&t);
	assert_true(t.n_sent > n / HITS_SHARE);
	print_message("             %8lu  with COOKIE or NSID\n", t.n_sent_options);
	if (cookies || *nsid)
		assert_true(t.n_sent_options > t.n_sent / WITH_OPTIONS_SHARE);
	else
		assert_int_equal(t.n_sent_options, 0);
	expect_all_kinds(&t);
	if (limits)
		expect_limited(&t);
	truth_close(&t);
	free(t.cpus);
}

static void test_defaults(void **state)
{
	static struct cookie_secrets cookies = {
		.n = 2,
		.keys = { "0123456789abcde", "edcba9876543210" },
	};
	struct engine_config config = ENGINE_CONFIG_INIT;

	run(state, &config, "", &cookies, NULL, 1);
}

static void test_largest(void **state)
{
	struct engine_config config = ENGINE_CONFIG_INIT;

	config.max_udp_bytes = VOLLEY_UDP_MAX;
	config.any = ENGINE_ANY_FULL;
	/* This one is copied by words; the longest one by the helper. */
	run(state, &config, "ns1.example", NULL, NULL, 2);
}

static void test_smallest(void **state)
{
	static struct cookie_secrets cookies = { .n = 1, .keys = { "0123456789abcde" } };
	struct engine_config config = ENGINE_CONFIG_INIT;
	char nsid[ENGINE_NSID_MAX + 1] = "";

	memset(nsid, 'n', ENGINE_NSID_MAX);
	config.max_udp_bytes = 512;
	config.any = ENGINE_ANY_FULL;
	run(state, &config, nsid, &cookies, NULL, 3);
}

static void test_minimal(void **state)
{
	struct engine_config config = ENGINE_CONFIG_INIT;

	config.minimal_responses = true;
	run(state, &config, "ns1", NULL, NULL, 4);
}

/* Some clients are over the limit of answers, others over the limit of octets. */
static void test_limited(void **state)
{
	const struct limiter_config limits = {
		.answers = 8, .octets = 1000, .slip = 2, .n_readers = 1
	};
	static struct cookie_secrets cookies = { .n = 1, .keys = { "0123456789abcde" } };
	struct engine_config config = ENGINE_CONFIG_INIT;

	run(state, &config, "ns1", &cookies, &limits, 5);
}

static int group_open(void **state)
{
	int err = xdp_engines_open(state);

	for (size_t i = 0; *state && i < N_ZONES; i++)
		zones[i] = load(zone_files[i].origin, zone_files[i].path);
	return err;
}

static int group_close(void **state)
{
	for (size_t i = 0; *state && i < N_ZONES; i++)
		zone_free(zones[i]);
	return xdp_engines_close(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_largest),
		cmocka_unit_test(test_smallest), cmocka_unit_test(test_minimal),
		cmocka_unit_test(test_limited),
	};

	return cmocka_run_group_tests(tests, group_open, group_close);
}
