/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver and the engine give the same answers for names that do not exist (xdp/deny.h).
 *
 *   zones at random ─► filter of names ─► served
 *   query ─┬─► frame ─► XDP program ─┬─ an answer: the octets of an engine without a cache
 *          │                         └─ up, and unchanged
 *          └─► engine with the cache ─► publishes answers and denials
 *
 * The zones are nested, and have deep empty non-terminals, wildcards, cuts, DNAMEs, aliases, odd
 * labels, and SOA names that compression may take from the question. After half of the queries of a
 * set of zones each zone is edited: names are added to the filter before they are served, and the
 * driver's denials are compared with the new version.
 *
 * The engine's own comparison (engine/shared_answer.h) also sees some of the queries that the
 * driver has answered. It finds no fault, and decides nothing while older answers may be in the
 * cache.
 *
 * In the environment QUERIES is the number of all queries, ZONES that of zones, SEED the seed.
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
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/wire.h"
#include "cache/generations.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "engine/engine.h"
#include "shield/name_filter.h"
#include "shield/shield.h"
#include "tests/lib/draw.h"
#include "tests/lib/xdpworld.h"
#define SIGNING_ITERATIONS 0
#include "tests/unit/engine/signing.h"
#include "zone/edit.h"
#include "zone/set.h"
#include "zone/zone.h"

#define N_QUERIES   200000u
#define N_ZONES     80u
#define SET_ZONES   11u /* at a time: ORIGINS, two signed ones, and SIGNED */
#define ORIGINS     8u
#define NAMES_MAX   24u
#define CACHE_BYTES (64ull << 20)
#define TEXT_MAX    65536
#define NAMES_LINES 2048u           /* half of them for the filter, the others for intervals */
#define SIGNED      (SET_ZONES - 1) /* the zone z, at random, with NSEC or NSEC3 */
#define SIGNED_MAX  (4u << 20)
#define TRIES       400
#define CACHE_SETS  8

#define LONGEST "this-label-is-as-long-as-a-label-may-be-which-is-63-octets-long"

/* Apexes: some are nested, with and without names of the outer zone in between. */
static const char *const origins[ORIGINS] = {
	"example.com", "b.example.com", "a.b.example.com", "c.d.example.com",
	"example.org", "x.example.org", "com.example.org", "a.b.c.d.e.f.g.h.test",
};
static const char *const signed_zones[][2] = {
	{ "signed-nsec.example", "zones/signed-nsec.example.zone" },
	{ "signed-nsec3.example", "zones/signed-nsec3.example.zone" },
};

static const char *const labels[] = {
	"a",    "b",    "c",       "d",      "A",     "ns1",        "www",  "com", "example", "org",
	"host", "_tcp", "xn--abc", "\\032x", "a\\.b", "\\000\\255", "\\@*", "*",   LONGEST,
};
#define N_LABELS (sizeof(labels) / sizeof(labels[0]))

static const uint16_t qtypes[] = { 1,  28, 2,   6,   5, 16,  43,    255, 257, 39,
				   64, 41, 252, 251, 0, 128, 65280, 46,  47,  12 };

struct truth {
	struct bpfmaps maps;
	struct cache *cache;
	struct names names;
	struct shield shield;
	size_t lines_bytes;
	struct zone *zones[SET_ZONES];
	struct zone_member members[SET_ZONES];
	uint8_t apexes[SET_ZONES][DNS_NAME_MAX];
	struct engine_data data, bare_data;
	struct engine *engine, *bare;
	char signed_text[TEXT_MAX]; /* of z, before it is signed */
	struct signing signing;
	uint64_t n_versions;
	bool is_edited; /* older answers may still be in the cache: only denials are compared */
	uint64_t n, n_sent, n_denied, n_nxdomain;
	uint64_t n_proved[3];             /* shared answers with proofs, by enum zone_chain of z */
	uint64_t n_compared, n_undecided; /* by the engine */
};

static unsigned long from_environment(const char *variable, unsigned long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

/* ---- Zones ----------------------------------------------------------------------------------- */

/* A name below the origin, relative; at most five labels. */
static void draw_relative(char *text)
{
	unsigned int n = 1 + draw(1 + draw(5));

	*text = 0;
	for (unsigned int i = 0; i < n; i++) {
		strcat(text, i ? "." : "");
		strcat(text, labels[draw(N_LABELS)]);
	}
}

/* A line with one record. */
static void draw_line(char *to)
{
	static const char *const rows[] = {
		"A 192.0.2.1",
		"A 192.0.2.2",
		"AAAA 2001:db8::1",
		"TXT \"x\"",
		"CNAME b",
		"NS ns.other.",
		"NS ns1",
		"DNAME other.test.",
		"MX 1 ns1",
		"A 192.0.2.3",
		"A 192.0.2.4",
		"DS 1 8 2 0102030405060708091011121314151617181920212223242526272829303132",
	};
	char owner[512];

	draw_relative(owner);
	if (!draw(8)) {
		char below[512];

		memcpy(below, owner, sizeof(below));
		snprintf(owner, sizeof(owner), "*.%.400s", below);
	}
	sprintf(to, "%s %u %s\n", draw(40) ? owner : "*", 300 + draw(3),
		rows[draw(sizeof(rows) / sizeof(rows[0]))]);
}

static struct zone *load_text(const char *origin, const char *text, struct zone_error *error)
{
	char path[] = "/tmp/volley-denials-XXXXXX";
	struct zone *zone = NULL;
	FILE *f = fdopen(mkstemp(path), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	(void)!zone_load(&zone, origin, path, NULL, error);
	unlink(path);
	return zone;
}

/* Leaves out line number `line`, from 1. */
static void drop_line(char *text, unsigned int line)
{
	char *at = text, *end;

	while (--line && at)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
	end = at ? strchr(at, '\n') : NULL;
	if (end)
		memmove(at, end + 1, strlen(end + 1) + 1);
}

/* Removes lines that contradict others until the zone loads. */
static struct zone *load_consistent(const char *origin, char *text)
{
	struct zone_error error;
	struct zone *zone = NULL;

	for (unsigned int i = 0; !zone && i < TRIES; i++) {
		zone = load_text(origin, text, &error);
		if (!zone && error.line < 4)
			fail_msg("%s: line %u: %s\n%s", origin, error.line, error.sentence, text);
		if (!zone)
			drop_line(text, error.line);
	}
	assert_non_null(zone);
	return zone;
}

/* Draws a zone; its text is in `text`. */
static struct zone *draw_zone(const char *origin, char *text)
{
	static const char *const servers[] = {
		"ns1",       "@",   "a.ns1",    "NS1",
		"ns.other.", "b.a", "www.com.", LONGEST "." LONGEST ".other.",
	};
	static const char *const people[] = {
		"host", "@", "x.host", "a.b", "who.other.", "ns1", LONGEST ".who." LONGEST ".",
	};
	unsigned int n = draw(NAMES_MAX), is_long = !draw(6);
	size_t at;

	at = (size_t)sprintf(text, "$TTL 3600\n@ %u SOA %s %s 1 2 3 4 %u\n@ NS ns.other.\n",
			     draw(1000), servers[is_long ? 7 : draw(8)],
			     people[is_long ? 6 : draw(7)], draw(1000));
	for (unsigned int i = 0; i < n; i++) {
		draw_line(text + at);
		at += strlen(text + at);
	}
	return load_consistent(origin, text);
}

/* The zone z of t->signed_text, signed. */
static struct zone *sign(struct truth *t)
{
	struct zone *plain = load_consistent("z", t->signed_text), *zone;
	struct zone_error error;
	size_t bytes;
	char *text;

	t->signing.z = plain;
	t->signing.f = open_memstream(&text, &bytes);
	assert_non_null(t->signing.f);
	fputs(t->signed_text, t->signing.f);
	signing_write(&t->signing);
	fclose(t->signing.f);
	zone = load_text("z", text, &error);
	if (!zone)
		fail_msg("line %u: %s\n%s", error.line, error.sentence, text);
	zone_free(plain);
	free(text);
	return zone;
}

static struct zone *draw_signed(struct truth *t)
{
	t->signing = (struct signing){ .chain = draw(2) ? ZONE_CHAIN_NSEC : ZONE_CHAIN_NSEC3,
				       .opt_out = draw(2),
				       .key = 1 };
	zone_free(draw_zone("z", t->signed_text));
	return sign(t);
}

/* ---- Serving --------------------------------------------------------------------------------- */

static int no_grace(void *user)
{
	(void)user;
	return 0;
}

static void open_names(struct truth *t)
{
	void *at;

	t->lines_bytes = NAMES_LINES * sizeof(struct volley_names_line);
	at = mmap(NULL, t->lines_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		  bpfmaps_map_fd(&t->maps, "volley_names"), 0);
	assert_true(at != MAP_FAILED);
	names_init(&t->names, at, NAMES_LINES / 2, &cache_state(t->cache)->names);
	names_init_intervals(&t->names, NAMES_LINES / 2);
}

static void truth_open(struct truth *t)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;
	struct cache_sizes sizes;
	struct volley_state *state;
	bool adopted;

	assert_int_equal(cache_sizes_plan(&sizes, CACHE_BYTES, SET_ZONES), 0);
	sizes.n_names_lines = NAMES_LINES;
	assert_int_equal(bpfmaps_open(&t->maps, &sizes), 0);
	assert_int_equal(cache_new(&t->cache, &t->maps.memory, &adopted), 0);
	state = cache_state(t->cache);
	state->serve_until_s = VOLLEY_NEVER;
	state->max_udp_bytes = config.max_udp_bytes;
	state->option_up_mask = engine_option_mask(NULL);
	xdp_serve(state);
	__atomic_store_n(&state->magic, VOLLEY_MAGIC, __ATOMIC_RELEASE);
	open_names(t);
	shield_init(&t->shield, t->names.lines, NAMES_LINES);
	t->data.shield = &t->shield;
	assert_int_equal(engine_new(&t->engine, &config, t->cache, &t->data), 0);
	assert_int_equal(engine_new(&t->bare, &config, NULL, &t->bare_data), 0);
}

static void truth_close(struct truth *t)
{
	struct engine_counters counters;
	struct shield_found found;

	engine_counters_read(t->engine, &counters);
	assert_int_equal(counters.denials_wrong, 0);
	assert_int_equal(counters.shared_wrong, 0);
	assert_false(shield_take(&t->shield, &found));
	t->n_compared += counters.shared_compared;
	t->n_undecided += counters.shared_undecided;
	engine_free(t->engine);
	engine_free(t->bare);
	names_fini(&t->names);
	munmap(t->names.lines, t->lines_bytes);
	cache_free(t->cache);
	bpfmaps_close(&t->maps);
}

static const char *origin_of(size_t i)
{
	return i == SIGNED ? "z" : i < ORIGINS ? origins[i] : signed_zones[i - ORIGINS][0];
}

static struct zone *make_zone(struct truth *t, size_t i)
{
	static char text[TEXT_MAX];
	struct zone_error error;
	struct zone *zone;

	if (i == SIGNED)
		return draw_signed(t);
	if (i < ORIGINS)
		return draw(6) ? draw_zone(origins[i], text) : NULL;
	assert_int_equal(zone_load(&zone, signed_zones[i - ORIGINS][0],
				   signed_zones[i - ORIGINS][1], NULL, &error),
			 0);
	return zone;
}

/* Gives the zone's answers a new generation and adds its names to the filter, before it is
 * served. */
static void prepare(struct truth *t, struct zone_member *m, const struct zone *old, uint64_t nth,
		    uint64_t version)
{
	const uint64_t digest[2] = { nth, version };
	struct volley_zone_intervals intervals;

	cache_zone_prepare(t->cache, m->apex, m->apex_len, digest, &m->cache_slot, &m->cache_gen);
	cache_zone_commit(t->cache, m->cache_slot, m->cache_gen, digest);
	names_add_apex(&t->names, m->apex, m->apex_len);
	if (m->zone)
		names_add_zone(&t->names, m->zone, old);
	intervals_of(&t->names.intervals, m->apex, m->apex_len, &intervals);
	m->intervals.at = intervals.at;
	m->intervals.id = intervals.id;
}

/* Each zone exists or not, or exists but cannot be served. All names are added first. */
static void serve_set(struct truth *t, uint64_t nth)
{
	struct zone_set *set;
	uint32_t slots[SET_ZONES];
	size_t n = 0;

	assert_int_equal(names_begin(&t->names, no_grace, NULL), 0);
	for (size_t i = 0; i < SET_ZONES; i++) {
		struct zone_member *m = &t->members[n];
		const char *origin = origin_of(i);
		int len;

		if (i < ORIGINS && !draw(4))
			continue;
		t->zones[n] = make_zone(t, i);
		len = name_from_text(t->apexes[n], DNS_NAME_MAX, origin, strlen(origin));
		*m = (struct zone_member){ .apex = t->apexes[n], .zone = t->zones[n] };
		m->apex_len = (unsigned int)len;
		prepare(t, m, NULL, nth, i);
		m->names_id = draw(10) ? names_id(&t->names) : 0;
		slots[n++] = m->cache_slot;
	}
	assert_int_equal(cache_zone_drop_others(t->cache, slots, (uint32_t)n), 0);
	assert_int_equal(zone_set_new(&set, t->members, n), 0);
	t->data.set = t->bare_data.set = set;
	t->is_edited = false;
	shield_end_edition(&t->shield);
}

static void end_set(struct truth *t)
{
	size_t n = zone_set_n(t->data.set);

	zone_set_free(t->data.set);
	t->data.set = t->bare_data.set = NULL;
	for (size_t i = 0; i < n; i++)
		zone_free(t->zones[i]);
}

/* A new version of a zone, with more records. Records that contradict others are left out. */
static void edit_zone(struct truth *t, size_t i)
{
	struct zone *old = t->zones[i], *new;
	struct zone_error error;
	struct zone_edit *e;

	for (unsigned int tries = 0; tries < 8; tries++) {
		unsigned int n = 1 + draw(3);

		assert_int_equal(zone_edit_begin(&e, old), 0);
		while (n--) {
			static const uint8_t a[] = { 192, 0, 2, 9 }, ns[] = "\002ns\005other";
			uint16_t type = draw(4) ? 1 : draw(2) ? 2 : 39;
			uint8_t owner[DNS_NAME_MAX];
			char text[1024];
			int len;

			draw_relative(text);
			if (!draw(4)) {
				memmove(text + 2, text, strlen(text) + 1);
				memcpy(text, "*.", 2);
			}
			strcat(text, ".");
			len = name_from_text(owner, DNS_NAME_MAX, text, strlen(text));
			if (len < 0 || (size_t)len + t->members[i].apex_len > DNS_NAME_MAX)
				continue;
			memcpy(owner + len - 1, t->members[i].apex, t->members[i].apex_len);
			(void)!zone_edit_add(e, owner, type, 300, type == 1 ? a : ns,
					     type == 1 ? sizeof(a) : sizeof(ns));
		}
		if (!zone_edit_finish(e, &new, NULL, &error))
			break;
		new = NULL;
	}
	if (!new)
		return;
	names_add_zone(&t->names, new, old);
	zone_set_swap(t->data.set, t->members[i].apex, t->members[i].apex_len, new);
	t->zones[i] = new;
	zone_free(old);
}

/* A new version of the signed zone, with more lines. All its cached answers are invalid. */
static void edit_signed(struct truth *t, uint64_t nth)
{
	size_t i = zone_set_n(t->data.set) - 1, at = strlen(t->signed_text);
	struct zone_member *m = &t->members[i];
	struct zone *old = t->zones[i];
	struct zone_set *set;

	if (at > TEXT_MAX / 2)
		return;
	for (unsigned int n = 1 + draw(3); n--; at += strlen(t->signed_text + at))
		draw_line(t->signed_text + at);
	m->zone = t->zones[i] = sign(t);
	prepare(t, m, old, nth, SET_ZONES + ++t->n_versions);
	assert_int_equal(zone_set_new(&set, t->members, i + 1), 0);
	zone_set_free(t->data.set);
	t->data.set = t->bare_data.set = set;
	zone_free(old);
}

/* How many denials the driver has given. */
static uint64_t denials(const struct truth *t)
{
	struct volley_cpu counted;

	assert_int_equal(bpfmaps_counters(&t->maps, &counted), 0);
	return counted.reasons[VOLLEY_HIT_DENIED];
}

static void edit_all(struct truth *t, uint64_t nth)
{
	t->is_edited = true;
	shield_begin_edition(&t->shield); /* nothing is withdrawn */
	t->n_denied = denials(t);
	for (size_t i = 0; i < zone_set_n(t->data.set); i++)
		if (t->zones[i] && !zone_is_signed(t->zones[i]))
			edit_zone(t, i);
	for (size_t i = 0; i < zone_set_n(t->data.set); i++)
		t->members[i].zone = t->zones[i];
	if (!draw(4))
		edit_signed(t, nth);
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* A name in or near a zone, some letters upper case. */
static void draw_name(const struct truth *t, uint8_t *name)
{
	const struct zone_member *m =
		&t->members[draw(3) ? draw((unsigned)zone_set_n(t->data.set)) :
				      zone_set_n(t->data.set) - 1];
	char text[1024];
	int len = -1;

	while (len < 0 || (size_t)len + m->apex_len > DNS_NAME_MAX) {
		draw_relative(text);
		if (draw(3) == 0)
			sprintf(text + strlen(text), ".r%u", draw(100000));
		if (draw(3) == 0) {
			char below[1000];

			memcpy(below, text, sizeof(below));
			snprintf(text, sizeof(text), "q%u.%.999s", draw(1000), below);
		}
		strcat(text, draw(20) ? "." : "." LONGEST "." LONGEST "." LONGEST ".");
		len = name_from_text(name, DNS_NAME_MAX, text, strlen(text));
	}
	if (!draw(30))
		len = 1; /* the apex */
	memcpy(name + len - 1, m->apex, m->apex_len);
	for (size_t i = 0; i < name_bytes(name); i++)
		if (name[i] >= 'a' && name[i] <= 'z' && !draw(3))
			name[i] = (uint8_t)(name[i] - 32);
}

static bool is_in_z(const uint8_t *name)
{
	size_t n = name_bytes(name);

	return n > 3 && !memcmp(name + n - 3, "\1z", 3);
}

/* Options of every kind that the driver looks at, a few or very many. */
static size_t draw_options(uint8_t to[600])
{
	static const struct {
		uint8_t code, bytes;
	} known[] = { { 9, 0 }, { 10, 8 }, { 10, 24 }, { 10, 9 }, { 11, 0 }, { 12, 40 }, { 65, 1 } };
	unsigned int n = draw(4) ? 1 + draw(3) : draw(100);
	size_t at = 0;

	for (; n && at < 500; n--) {
		size_t i = draw(draw(4) ? 2 : sizeof(known) / sizeof(known[0]));

		memset(to + at, 0, 4u + known[i].bytes);
		to[at + 1] = known[i].code;
		to[at + 3] = known[i].bytes;
		at += 4u + known[i].bytes;
	}
	return at;
}

static size_t draw_query(const struct truth *t, uint8_t *dns)
{
	static uint8_t options[600];
	static const uint16_t sizes[] = { 512, 700, 1232, 4096 };
	uint8_t name[PKT_NAME_MAX];
	size_t n, more;
	struct pkt_ask ask = {
		.name = name,
		.id = (uint16_t)(1 + draw(65535)),
		.qtype = qtypes[draw(2) ? draw(4) : draw(sizeof(qtypes) / sizeof(qtypes[0]))],
		.flags = (uint16_t)((draw(2) ? PKT_RD : 0) | (draw(4) ? 0 : PKT_AD) |
				    (draw(8) ? 0 : PKT_CD) | (draw(16) ? 0 : draw(65536) & 0x07ff)),
		.edns = draw(4),
		.udp_size = sizes[draw(4)],
		.edns_flags = draw(3) ? 0 : PKT_DO,
	};

	draw_name(t, name);
	if (is_in_z(name) && draw(4)) {
		ask.edns = 1;
		ask.edns_flags = PKT_DO;
	}
	ask.options = options;
	if (ask.edns && !draw(16))
		ask.n_options = draw_options(options);
	n = pkt_ask(dns, &ask);
	if (ask.edns && !draw(50)) /* upper bits of a response code */
		dns[n - ask.n_options - 6] = (uint8_t)draw(256);
	if (draw(50))
		return n;
	more = draw(600);
	memset(dns + n, (int)draw(256), more);
	return n + more;
}

/* Each query moves the clock, so that the comparisons allowed in a second are never used up. */
static size_t ask_engine(const struct truth *t, struct engine *e, const uint8_t *dns, size_t n,
			 const struct pkt *p, uint8_t *reply)
{
	const struct engine_request rq = {
		.msg = dns,
		.len = n,
		.family = p->ipv6 ? AF_INET6 : AF_INET,
		.client = p->from,
		.now_s = clock_coarse_s() + (uint32_t)(t->n / SHIELD_CHECKS),
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

/* The driver has denied the name: the walk in userspace must, too. */
static void check_walk(const struct truth *t, const uint8_t *dns)
{
	const uint8_t *name = dns + DNS_HEADER_BYTES;
	unsigned int n = (unsigned int)name_bytes(name);
	uint8_t folded[NAME_FOLDED_BYTES];
	struct names_walk walk;

	name_fold(folded, name, n);
	if (names_walk(&walk, t->names.lines, t->names.states[0], folded, n) != NAMES_DENIED)
		fail_msg("query %lu: the driver's walk has ended elsewhere", t->n);
}

static void check_sent(struct truth *t, const uint8_t *frame, size_t n, const uint8_t *out,
		       size_t out_bytes, const uint8_t *reply, size_t bytes)
{
	struct pkt_answer answer;
	const char *wrong = pkt_check_answer(frame, n, out, out_bytes,
					     cache_state(t->cache)->max_udp_bytes, &answer);
	const uint64_t before = t->n_denied;

	if (wrong)
		fail_msg("query %lu: %s", t->n, wrong);
	t->n_sent++;
	if (t->is_edited) {
		t->n_denied = denials(t);
		if (t->n_denied == before)
			return;
		check_walk(t, answer.dns);
	}
	if (answer.dns_bytes == bytes && !memcmp(answer.dns, reply, bytes))
		return;
	print_octets("engine", reply, bytes);
	print_octets("driver", answer.dns, answer.dns_bytes);
	fail_msg("query %lu: driver and engine differ", t->n);
}

/* The driver's count of shared answers. */
static uint64_t n_shared(const struct truth *t)
{
	struct volley_cpu counted;

	assert_int_equal(bpfmaps_counters(&t->maps, &counted), 0);
	return counted.reasons[VOLLEY_HIT_DENIED] + counted.reasons[VOLLEY_HIT_WILDCARD];
}

/* Whether the query has DO and its name is in the signed zone z. */
static bool wants_proof(const uint8_t *dns)
{
	const uint8_t *name = dns + DNS_HEADER_BYTES;
	size_t flags_at = DNS_HEADER_BYTES + name_bytes(name) + 4 + 7;

	return dns[DNS_ARCOUNT_AT + 1] && dns[flags_at] & 0x80 && is_in_z(name);
}

static void ask(struct truth *t)
{
	static uint8_t dns[PKT_FRAME_MAX], reply[VOLLEY_UDP_MAX], other[VOLLEY_UDP_MAX];
	static uint8_t frame[PKT_FRAME_MAX], out[PKT_FRAME_MAX];
	struct pkt p = draw(2) ? pkt_ipv6 : pkt_ipv4;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_out = out,
		    .data_size_out = sizeof(out), .repeat = 1);
	size_t n = draw_query(t, dns), bytes;
	bool counts = wants_proof(dns);
	/* Drawn each time, so the driver's answers do not change later draws. */
	bool is_asked_twice = !draw(16);
	uint64_t before = counts ? n_shared(t) : 0;

	t->n++;
	opts.data_size_in = (__u32)pkt_build(frame, &p, dns, n);
	bytes = ask_engine(t, t->bare, dns, n, &p, reply);
	assert_int_equal(bpf_prog_test_run_opts(t->maps.prog_fd, &opts), 0);
	t->n_nxdomain += bytes > 4 && (reply[3] & DNS_RCODE_MASK) == DNS_RCODE_NXDOMAIN;
	if (opts.retval == XDP_TX) {
		check_sent(t, frame, opts.data_size_in, out, opts.data_size_out, reply, bytes);
		if (counts && n_shared(t) > before)
			t->n_proved[t->signing.chain]++;
	} else {
		assert_int_equal(opts.retval, XDP_PASS);
		if (opts.data_size_out != opts.data_size_in ||
		    memcmp(frame, out, opts.data_size_in))
			fail_msg("query %lu: passed, but changed", t->n);
	}
	if (opts.retval != XDP_TX || is_asked_twice)
		(void)ask_engine(t, t->engine, dns, n, &p, other);
	rcu_quiescent_state();
}

/* The driver's counts, over all caches. */
static void add_counts(const struct truth *t, uint64_t counts[VOLLEY_N_REASONS])
{
	struct volley_cpu counted;

	assert_int_equal(bpfmaps_counters(&t->maps, &counted), 0);
	for (int r = 0; r < VOLLEY_N_REASONS; r++)
		counts[r] += counted.reasons[r];
}

static void ask_set(struct truth *t, unsigned long nth, unsigned long n)
{
	serve_set(t, nth);
	for (unsigned long k = 0; k < n; k++) {
		if (k >= n / 2 && k % (n / 64 + 1) == 0)
			edit_all(t, nth);
		ask(t);
	}
	end_set(t);
}

/* Each cache serves few sets of zones: no keeper makes room in it. */
static void test_denials(void **state)
{
	static struct truth t;
	unsigned long n_sets = from_environment("ZONES", N_ZONES) / SET_ZONES;
	unsigned long n = from_environment("QUERIES", N_QUERIES) / n_sets;
	uint64_t counts[VOLLEY_N_REASONS] = { 0 }, n_given;

	if (!*state)
		skip();
	seed = 0x9e3779b97f4a7c15u + from_environment("SEED", 0);
	for (unsigned long i = 0; i < n_sets; i++) {
		if (i % CACHE_SETS == 0)
			truth_open(&t);
		ask_set(&t, i, n);
		if (i % CACHE_SETS != CACHE_SETS - 1 && i + 1 != n_sets)
			continue;
		add_counts(&t, counts);
		truth_close(&t);
	}
	print_message("           %lu queries, %lu NXDOMAIN; the driver gave %lu answers\n", t.n,
		      t.n_nxdomain, t.n_sent);
	print_message("           shared with proofs: %lu with NSEC, %lu with NSEC3\n",
		      t.n_proved[ZONE_CHAIN_NSEC], t.n_proved[ZONE_CHAIN_NSEC3]);
	print_message(
		"           the engine compared %lu shared answers, and could not decide about "
		"%lu\n",
		t.n_compared, t.n_undecided);
	for (int r = 0; r < VOLLEY_N_REASONS; r++)
		if (counts[r])
			print_message("           %-18s %lu\n", xdp_reason_name(r), counts[r]);
	assert_true(counts[VOLLEY_HIT_DENIED] > t.n_nxdomain / 4);
	assert_true(counts[VOLLEY_HIT_TRUNCATED] > t.n / 1000);
	assert_true(counts[VOLLEY_UP_MAYBE] > t.n / 1000);
	assert_true(t.n_proved[ZONE_CHAIN_NSEC] > t.n / 1000);
	assert_true(t.n_proved[ZONE_CHAIN_NSEC3] > t.n / 1000);
	assert_true(t.n_compared > t.n / 1000);
	assert_true(t.n_undecided > t.n / 1000);
	/* Each CPU counts by itself, and denials that are no longer valid count, too. */
	n_given = counts[VOLLEY_HIT_DENIED] + counts[VOLLEY_HIT_WILDCARD];
	assert_in_range(counts[VOLLEY_UP_CHECKED] * VOLLEY_CHECK_EVERY, n_given / 2, n_given * 2);
	assert_int_equal(counts[VOLLEY_DROP_EDIT], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_denials),
	};

	return cmocka_run_group_tests(tests, xdp_engines_open, xdp_engines_close);
}
