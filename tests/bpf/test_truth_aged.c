/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For answers from upstream of any age, the driver and the engine send the same, byte for byte, to
 * clients that may recurse. To other clients the driver sends nothing.
 *
 *   drawn answers ─► cache_publish() ─► made older ─┬─► engine ─────► reply ─┐ the same,
 *   drawn queries ──────────────────────────────────┴─► XDP program ─► frame ┴ or up and unchanged
 *
 * In the environment QUERIES is the number of queries, SEED the seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/wire.h"
#include "cache/generations.h"
#include "limits/clients.h"
#include "engine/engine.h"
#include "tests/lib/querygen.h"
#include "tests/lib/xdpworld.h"

#define N_QUERIES   200000u
#define N_NAMES     1000u
#define CACHE_BYTES (16ull << 20)
#define BODY_MAX    3000u
#define RECORDS_MAX 40u
/* An answer is made older by at most this: the clock shows as much since boot. */
#define AGE_MAX_S 50u
#define TTL_MIN_S 300u /* none expires during the test */
#define RA        0x0080

static const struct clients_prefix prefixes[] = {
	{ AF_INET, 25, { 192, 0, 2 }, CLIENTS_VIEW(VOLLEY_VIEW_RECURSIVE) },
	{ AF_INET6, 64, { 0x20, 0x01, 0x0d, 0xb8 }, CLIENTS_VIEW(VOLLEY_VIEW_RECURSIVE) },
};
#define N_PREFIXES (sizeof(prefixes) / sizeof(prefixes[0]))

struct truth {
	struct bpfmaps maps;
	struct cache *cache;
	struct cache_writer *writer;
	struct engine *engine;
	struct engine_data data;
	struct engine_recursion rules;
	struct querygen g;
	uint64_t n_queries, n_sent, n_refused;
};

/* The same prefixes for driver and engine. */
static void allow(struct truth *t)
{
	int fd = bpfmaps_map_fd(&t->maps, "volley_clients");

	assert_int_equal(clients_new(&t->data.clients, prefixes, N_PREFIXES), 0);
	for (size_t i = 0; i < N_PREFIXES; i++) {
		bool is_v4 = prefixes[i].family == AF_INET;
		struct volley_client client = { .prefix_bits = prefixes[i].bits };

		if (is_v4) {
			client.prefix_bits += 96;
			memset(client.address + 10, 0xff, 2);
		}
		memcpy(client.address + (is_v4 ? 12 : 0), prefixes[i].address, is_v4 ? 4 : 16);
		assert_int_equal(bpf_map_update_elem(fd, &client, &prefixes[i].views, BPF_ANY), 0);
	}
}

static void truth_open(struct truth *t)
{
	const uint64_t digest[2] = { 1, 2 };
	const uint8_t root = 0;
	struct engine_config config = ENGINE_CONFIG_INIT;
	struct cache_sizes sizes;
	struct volley_state *state;
	bool adopted;

	assert_int_equal(cache_sizes_plan(&sizes, CACHE_BYTES, 1), 0);
	assert_int_equal(bpfmaps_open(&t->maps, &sizes), 0);
	assert_int_equal(cache_new(&t->cache, &t->maps.memory, &adopted), 0);
	assert_int_equal(cache_writer_new(&t->writer, t->cache), 0);
	state = cache_state(t->cache);
	state->serve_until_s = VOLLEY_NEVER;
	state->max_udp_bytes = config.max_udp_bytes;
	state->option_up_mask = engine_option_mask(NULL);
	xdp_serve(state);
	allow(t);
	t->rules = (struct engine_recursion)ENGINE_RECURSION_INIT;
	cache_zone_prepare(t->cache, &root, 1, digest, &t->rules.zone_slot, &t->rules.zone_gen);
	cache_zone_commit(t->cache, t->rules.zone_slot, t->rules.zone_gen, digest);
	t->data.recursion = &t->rules;
	assert_int_equal(engine_new(&t->engine, &config, t->cache, &t->data), 0);
}

static void truth_close(struct truth *t)
{
	engine_free(t->engine);
	cache_writer_free(t->writer);
	clients_free(t->data.clients);
	cache_free(t->cache);
	bpfmaps_close(&t->maps);
}

/* "n17.aged.example", or a name one letter longer. */
static void name_of(uint8_t *name, uint32_t nth)
{
	char text[64];

	snprintf(text, sizeof(text), "n%u%s.aged.example", nth, nth % 3 ? "" : "x");
	pkt_name(name, text);
}

/* Records of the question's name, end to end. */
struct drawn {
	uint8_t body[BODY_MAX];
	uint16_t ttls[RECORDS_MAX];
	uint16_t bytes, n_ttls;
};

/* A record of any length, so TTLs have odd and even offsets. */
static void draw_record(struct querygen *g, struct drawn *d, uint32_t most)
{
	uint16_t rdata_bytes = (uint16_t)querygen_draw(g, most);

	memcpy(d->body + d->bytes, "\xc0\x0c\0\x10\0\x01", 6);
	d->ttls[d->n_ttls++] = (uint16_t)(d->bytes + 6);
	wire_store_be32(d->body + d->bytes + 6, TTL_MIN_S + querygen_draw(g, 100000));
	wire_store_be16(d->body + d->bytes + 10, rdata_bytes);
	d->bytes = (uint16_t)(d->bytes + 12);
	for (; rdata_bytes; rdata_bytes--)
		d->body[d->bytes++] = (uint8_t)querygen_draw(g, 256);
}

/* Makes the entry that was just published older. */
static void make_older(struct truth *t, const struct cache_key *key, uint32_t seconds)
{
	const struct volley_entry *entry;

	assert_int_equal(cache_lookup(t->cache, key, clock_coarse_s(), false, &entry), CACHE_HIT);
	((struct volley_entry *)(uintptr_t)entry)->born_s -= seconds;
}

/* An answer to one question; now and then it has more records than the driver ages. */
static void publish(struct truth *t, uint32_t nth, uint8_t key_flags)
{
	static struct drawn d;
	struct querygen *g = &t->g;
	uint32_t now_s = clock_coarse_s();
	uint8_t name[PKT_NAME_MAX];
	bool is_many = !querygen_draw(g, 8);
	struct cache_key key;
	struct cache_answer a = {
		.body = d.body,
		.ttls = d.ttls,
		.ancount =
			(uint16_t)(is_many ? 10 + querygen_draw(g, 23) : 1 + querygen_draw(g, 9)),
		.arcount_full = (uint16_t)querygen_draw(g, 8),
		.flags = (uint16_t)(PKT_QR | RA | (querygen_draw(g, 2) ? PKT_AD : 0)),
		.zone_slot = t->rules.zone_slot,
		.zone_gen = t->rules.zone_gen,
		.expires_s = now_s + TTL_MIN_S,
		.refresh_s = querygen_draw(g, 2) ? TTL_MIN_S : 0,
	};

	d.bytes = d.n_ttls = 0;
	for (uint16_t i = 0; i < a.ancount; i++)
		draw_record(g, &d, is_many ? 16 : 60);
	a.short_bytes = d.bytes;
	for (uint16_t i = 0; i < a.arcount_full; i++)
		draw_record(g, &d, is_many ? 16 : 60);
	a.full_bytes = d.bytes;
	a.n_ttls = d.n_ttls;
	name_of(name, nth);
	cache_key_init(&key, t->cache, name, (uint32_t)pkt_name_bytes(name), 16, 1, key_flags,
		       VOLLEY_VIEW_RECURSIVE);
	assert_int_equal(cache_publish(t->writer, &key, &a, now_s), 0);
	make_older(t, &key, querygen_draw(g, AGE_MAX_S));
}

/* The client: one of four may not recurse. */
static struct pkt draw_client(struct querygen *g, bool *may)
{
	struct pkt p = querygen_draw(g, 2) ? pkt_ipv6 : pkt_ipv4;

	*may = querygen_draw(g, 4);
	if (!*may)
		p.from[p.ipv6 ? 7 : 3] |= 0x80; /* a prefix beside those that may */
	p.n_tags = querygen_draw(g, 8) ? 0 : querygen_draw(g, 3);
	return p;
}

static size_t draw_query(struct querygen *g, uint8_t *dns)
{
	static const uint16_t sizes[] = { 512, 700, 1232, 4096 };
	uint8_t name[PKT_NAME_MAX];
	struct pkt_ask ask = {
		.name = name,
		.id = (uint16_t)(1 + querygen_draw(g, 65535)),
		.qtype = 16,
		.flags = (uint16_t)(PKT_RD | (querygen_draw(g, 4) ? 0 : PKT_AD) |
				    (querygen_draw(g, 8) ? 0 : PKT_CD)),
		.edns = querygen_draw(g, 4),
		.udp_size = sizes[querygen_draw(g, 4)],
		.edns_flags = querygen_draw(g, 3) ? 0 : PKT_DO,
	};

	name_of(name, querygen_draw(g, N_NAMES));
	for (size_t i = 0; i < pkt_name_bytes(name); i++) {
		if (name[i] >= 'a' && name[i] <= 'z' && querygen_draw(g, 2))
			name[i] = (uint8_t)(name[i] - 32);
	}
	return pkt_ask(dns, &ask);
}

/* Asks both, within one second of the clock. */
static size_t ask_both(struct truth *t, const struct pkt *p, const uint8_t *dns, size_t n,
		       uint8_t *reply, struct bpf_test_run_opts *opts)
{
	uint32_t now_s;
	size_t bytes;

	do {
		struct engine_request rq = { .msg = dns,
					     .len = n,
					     .family = p->ipv6 ? AF_INET6 : AF_INET,
					     .client = p->from };

		opts->data_size_out = PKT_FRAME_MAX;
		rq.now_s = now_s = xdp_coarse_s();
		bytes = engine_answer(t->engine, &rq, reply, VOLLEY_UDP_MAX);
		assert_int_equal(bpf_prog_test_run_opts(t->maps.prog_fd, opts), 0);
	} while (clock_coarse_s() != now_s);
	return bytes;
}

static void ask(struct truth *t)
{
	static uint8_t dns[QUERYGEN_BYTES_MAX], reply[VOLLEY_UDP_MAX];
	static uint8_t frame[PKT_FRAME_MAX], out[PKT_FRAME_MAX];
	size_t n = draw_query(&t->g, dns), bytes;
	struct pkt_answer answer;
	const char *wrong;
	bool may;
	struct pkt p = draw_client(&t->g, &may);
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_out = out, .repeat = 1);

	t->n_queries++;
	opts.data_size_in = (__u32)pkt_build(frame, &p, dns, n);
	bytes = ask_both(t, &p, dns, n, reply, &opts);
	t->n_refused += !may;
	if (opts.retval == XDP_PASS) {
		if (opts.data_size_out != opts.data_size_in ||
		    memcmp(frame, out, opts.data_size_in))
			fail_msg("query %lu: passed, but changed", t->n_queries);
		return;
	}
	assert_int_equal(opts.retval, XDP_TX);
	if (!may)
		fail_msg("query %lu: answered whom it is not for", t->n_queries);
	t->n_sent++;
	wrong = pkt_check_answer(frame, opts.data_size_in, out, opts.data_size_out,
				 cache_state(t->cache)->max_udp_bytes, &answer);
	if (wrong)
		fail_msg("query %lu: %s", t->n_queries, wrong);
	if (answer.dns_bytes != bytes || memcmp(answer.dns, reply, bytes))
		fail_msg("query %lu: driver and engine differ", t->n_queries);
}

static unsigned long from_environment(const char *variable, unsigned long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

/* Each outcome has occurred often enough; an answer with too many TTLs for the driver goes up. */
static void report(const struct truth *t)
{
	struct volley_cpu counted;

	assert_int_equal(bpfmaps_counters(&t->maps, &counted), 0);
	print_message("           %lu queries, %lu answered by the driver\n", t->n_queries,
		      t->n_sent);
	assert_true(counted.reasons[VOLLEY_HIT_FULL] > t->n_queries / 4);
	assert_true(counted.reasons[VOLLEY_HIT_SHORT] > t->n_queries / 100);
	assert_true(counted.reasons[VOLLEY_HIT_TRUNCATED] > t->n_queries / 100);
	assert_true(counted.reasons[VOLLEY_UP_MANY_TTLS] > t->n_queries / 1000);
	assert_true(counted.reasons[VOLLEY_UP_VIEW] >= t->n_refused);
	assert_int_equal(counted.reasons[VOLLEY_UP_MISS], 0);
	assert_int_equal(counted.reasons[VOLLEY_UP_NO_ROOM], 0);
	assert_int_equal(counted.reasons[VOLLEY_DROP_EDIT], 0);
}

static void test_aged(void **state)
{
	unsigned long n = from_environment("QUERIES", N_QUERIES);
	static struct truth t;

	if (!*state)
		skip();
	t.g.state = 0x9e3779b97f4a7c15u + from_environment("SEED", 0);
	truth_open(&t);
	for (uint32_t i = 0; i < N_NAMES; i++) {
		for (uint8_t key_flags = 0; key_flags < 4; key_flags++)
			publish(&t, i, key_flags);
	}
	while (t.n_queries < n) {
		ask(&t);
		rcu_quiescent_state();
	}
	report(&t);
	truth_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aged),
	};

	return cmocka_run_group_tests(tests, xdp_engines_open, xdp_engines_close);
}
