/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * COOKIE and NSID in the driver: the vectors of RFC 9018 appendix A, and the queries that it leaves
 * to the engine. test_truth.c compares its answers with the engine's.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <time.h>

#include "base/wire.h"
#include "dns/cookie.h"
#include "tests/lib/xdpworld.h"

#define WWW "\3www\7example\3com"
#define NS  1000000000ull

#define SECRET     "e5e973e5a6b2a43f48e7dc849e37bfcf"
#define SECRET_OLD "dd3bdf9344b678b185a6f5cb60fca715"
#define SECRET_NEW "445536bcd2513298075a5d379663c962"
#define V6         "2001:db8:220:1:59de:d0f4:8769:82b8"
#define LEARNT     "2464c4abcf10c957010000005cf79f111f8130c3eee29480"
#define WRONG      "2464c4abcf10c957010000005cf79f111f8130c3eee29481"
#define OLDER      "2464c4abcf10c957010000005cf79740626bd0e1a13ff0c8" /* by 2001 seconds */

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;

struct row {
	const char *name, *secret, *previous, *from;
	uint32_t now_s;
	const char *asked, *wanted; /* values of the option; wanted NULL: the query goes up */
};

static const struct row rows[] = {
	{ "A.1 learning a new cookie", SECRET, NULL, "198.51.100.100", 1559731985,
	  "2464c4abcf10c957", LEARNT },
	{ "A.1 the same comes back", SECRET, NULL, "198.51.100.100", 1559731985 + 1800, LEARNT,
	  LEARNT },
	{ "A.2 the same client learns a renewed one", SECRET, NULL, "198.51.100.100", 1559734385,
	  LEARNT, "2464c4abcf10c957010000005cf7a871d4a564a1442aca77" },
	{ "A.3 another client learns a renewed one", SECRET, NULL, "203.0.113.203", 1559734700,
	  "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5",
	  "fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e" },
	{ "A.4 IPv6, made with the old secret", SECRET_NEW, SECRET_OLD, V6, 1559741961,
	  "22681ab97d52c298010000005cf7c57926556bd0934c72f8",
	  "22681ab97d52c298010000005cf7c609a6bb79d16625507a" },
	{ "a server part of 8 octets", SECRET, NULL, "198.51.100.100", 1559731985,
	  "2464c4abcf10c9570101010101010101", LEARNT },
	{ "a server part of 32 octets", SECRET, NULL, "198.51.100.100", 1559731985,
	  "2464c4abcf10c9570101010101010101010101010101010101010101010101010101010101010101",
	  LEARNT },
	{ "a client part of 7 octets", SECRET, NULL, "198.51.100.100", 1559731985, "2464c4abcf10c9",
	  NULL },
	{ "a server part of 7 octets", SECRET, NULL, "198.51.100.100", 1559731985,
	  "2464c4abcf10c95701010101010101", NULL },
	{ "a server part of 33 octets", SECRET, NULL, "198.51.100.100", 1559731985,
	  "2464c4abcf10c957010101010101010101010101010101010101010101010101010101010101010101",
	  NULL },
};

static size_t from_hex(void *to, const char *hex)
{
	uint8_t *octets = to;
	size_t n = 0;

	for (; *hex; hex += 2)
		assert_int_equal(sscanf(hex, "%2hhx", octets + n++), 1);
	return n;
}

/* The driver's wall clock. */
static uint32_t wall_s(struct xdp_world *w)
{
	return (uint32_t)((w->maps.memory.state->wall_ns + xdp_coarse_ns()) / NS);
}

/* Sets the driver's wall clock to now_s for most of a second. The driver reads `wall_ns` once a
 * jiffy. */
static void set_wall(struct xdp_world *w, uint32_t now_s)
{
	const struct timespec jiffies = { .tv_nsec = 25000000 };

	w->maps.memory.state->wall_ns = now_s * NS + NS / 16 - xdp_coarse_ns();
	nanosleep(&jiffies, NULL);
}

static void know(struct xdp_world *w, const struct row *row)
{
	struct volley_options *o = &w->maps.memory.state->options[0];

	*o = (struct volley_options){ .n_secrets = row->previous ? 2 : 1 };
	from_hex(o->secrets[0], row->secret);
	if (row->previous)
		from_hex(o->secrets[1], row->previous);
	set_wall(w, row->now_s);
}

/* A query with these options in a frame of its own family. */
static size_t build(const char *from, const uint8_t *options, size_t n)
{
	const struct pkt_ask ask = { .name = (const uint8_t *)WWW,
				     .edns = true,
				     .udp_size = 1232,
				     .options = options,
				     .n_options = n };
	struct pkt p = strchr(from, ':') ? pkt_ipv6 : pkt_ipv4;

	assert_int_equal(inet_pton(p.ipv6 ? AF_INET6 : AF_INET, from, p.from), 1);
	return pkt_build(frame, &p, dns, pkt_ask(dns, &ask));
}

/* A test run uses the CPU of the caller. */
static void stay(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)sched_getcpu(), &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

static bool cookie_is_good(const struct xdp_world *w)
{
	struct volley_cpu *cpus = calloc((size_t)libbpf_num_possible_cpus(), sizeof(*cpus));
	const __u32 zero = 0;
	bool is_good;

	assert_non_null(cpus);
	assert_int_equal(bpf_map_lookup_elem(bpfmaps_map_fd(&w->maps, "volley_cpu"), &zero, cpus),
			 0);
	is_good = cpus[sched_getcpu()].cookie_good;
	free(cpus);
	return is_good;
}

static size_t put_cookie(uint8_t *to, const char *hex)
{
	size_t n = from_hex(to + 4, hex);

	wire_store_be16(to, 10);
	wire_store_be16(to + 2, (uint16_t)n);
	return 4 + n;
}

static void expect_cookie(struct xdp_world *w, const struct row *row)
{
	uint8_t options[64], wanted[28];
	size_t n = build(row->from, options, put_cookie(options, row->asked));

	if (!row->wanted) {
		know(w, row);
		xdp_expect_unchanged(w, row->name, frame, n, VOLLEY_UP_OPTION);
		return;
	}
	do { /* again if this process did not run until the second was over */
		know(w, row);
		xdp_expect_answer(w, row->name, frame, n, VOLLEY_HIT_FULL, &result, &answer);
	} while (wall_s(w) != row->now_s);
	put_cookie(wanted, row->wanted);
	if (answer.opt_options != sizeof(wanted) ||
	    memcmp(answer.opt + PKT_OPT_BYTES, wanted, sizeof(wanted)))
		fail_msg("%s: another cookie", row->name);
}

static void test_as_the_rfc(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_cookie(w, &rows[i]);
}

static const struct {
	const char *name, *asked; /* NULL: no COOKIE */
	struct volley_cpu counts; /* the increments */
} counted[] = {
	{ "a client part", "2464c4abcf10c957", { .cookies_new = 1 } },
	{ "a good one", LEARNT, { .cookies_good = 1 } },
	{ "none, behind a good one", NULL, { 0 } },
	{ "a good one that is renewed", OLDER, { .cookies_good = 1 } },
	{ "a wrong one, behind a good one", WRONG, { .cookies_bad = 1 } },
	{ "a server part of 8 octets", "2464c4abcf10c9570101010101010101", { .cookies_bad = 1 } },
};

/* Also checks cookie_good of this CPU's last query. */
static void test_cookies_are_counted(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);
	uint8_t options[64];

	stay();
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		const struct volley_cpu before = w->counted, *more = &counted[i].counts;
		size_t n = counted[i].asked ? put_cookie(options, counted[i].asked) : 0;

		know(w, &rows[0]);
		xdp_expect_answer(w, counted[i].name, frame, build(rows[0].from, options, n),
				  VOLLEY_HIT_FULL, &result, &answer);
		if (w->counted.cookies_new - before.cookies_new != more->cookies_new ||
		    w->counted.cookies_good - before.cookies_good != more->cookies_good ||
		    w->counted.cookies_bad - before.cookies_bad != more->cookies_bad)
			fail_msg("%s: counted otherwise", counted[i].name);
		if (cookie_is_good(w) != more->cookies_good)
			fail_msg("%s: good or not?", counted[i].name);
	}
}

/* The steps of abuse/cookies.h: the known secrets, and the result for a cookie of each. */
static const struct {
	const char *first, *second;
	const char *made; /* the secret of new ones */
	bool takes_a, takes_b;
} steps[] = {
	{ SECRET, NULL, SECRET, true, false },
	{ SECRET, SECRET_NEW, SECRET, true, true },
	{ SECRET_NEW, SECRET, SECRET_NEW, true, true },
	{ SECRET_NEW, NULL, SECRET_NEW, false, true },
	{ SECRET, SECRET_NEW, SECRET, true, true }, /* and back in one step */
};

/* A cookie of the client of rows[0]. */
static void make_cookie(char hex[2 * COOKIE_BYTES + 1], const char *secret, uint32_t made_s)
{
	uint8_t value[COOKIE_BYTES] = "client-8", key[16], from[4];

	from_hex(key, secret);
	assert_int_equal(inet_pton(AF_INET, rows[0].from, from), 1);
	cookie_make(value, value, from, sizeof(from), made_s, key);
	for (size_t i = 0; i < sizeof(value); i++)
		snprintf(hex + 2 * i, 3, "%02x", value[i]);
}

/* Whether the cookie was accepted; `hex` gets the cookie of the answer. */
static bool asks_with(struct xdp_world *w, char hex[2 * COOKIE_BYTES + 1])
{
	const uint64_t n_good = w->counted.cookies_good;
	uint8_t options[64];

	xdp_expect_answer(w, hex, frame, build(rows[0].from, options, put_cookie(options, hex)),
			  VOLLEY_HIT_FULL, &result, &answer);
	assert_int_equal(answer.opt_options, 4 + COOKIE_BYTES);
	for (size_t i = 0; i < COOKIE_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", answer.opt[PKT_OPT_BYTES + 4 + i]);
	return w->counted.cookies_good > n_good;
}

/* Fills the table that is not read, then switches to it, as reply_options_tell_driver() does. */
static void test_rotation(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);
	struct volley_state *maps = w->maps.memory.state;
	char a[2 * COOKIE_BYTES + 1], b[sizeof(a)], wanted[sizeof(a)];

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct volley_options *o = &maps->options[i & 1];
		const struct row row = rows[0];
		bool took_a, took_b;

		memset(&maps->options[!(i & 1)], 0xee, sizeof(*o)); /* not read now */
		*o = (struct volley_options){ .n_secrets = steps[i].second ? 2 : 1 };
		from_hex(o->secrets[0], steps[i].first);
		if (steps[i].second)
			from_hex(o->secrets[1], steps[i].second);
		maps->options_at = i & 1;
		do {
			set_wall(w, row.now_s);
			make_cookie(a, SECRET, row.now_s - 10);
			make_cookie(b, SECRET_NEW, row.now_s - 10);
			took_a = asks_with(w, a);
			took_b = asks_with(w, b);
		} while (wall_s(w) != row.now_s);
		assert_int_equal(took_a, steps[i].takes_a);
		assert_int_equal(took_b, steps[i].takes_b);
		make_cookie(wanted, steps[i].made, row.now_s);
		if (strcmp(steps[i].made, SECRET) != 0)
			assert_string_equal(a, wanted); /* a cookie of another secret is replaced */
		else
			assert_string_equal(b, wanted);
	}
}

/* How often volley_cookies of this CPU has the cookie of 24 octets in `hex`. */
static int times_noted(const struct xdp_world *w, const char *hex)
{
	const int n_cpus = libbpf_num_possible_cpus();
	struct volley_cookies *all = calloc((size_t)n_cpus, sizeof(*all));
	const struct volley_good_cookie *slots;
	const __u32 zero = 0;
	__u64 value[3];
	int n = 0;

	assert_non_null(all);
	from_hex(value, hex);
	assert_int_equal(
		bpf_map_lookup_elem(bpfmaps_map_fd(&w->maps, "volley_cookies"), &zero, all), 0);
	slots = all[sched_getcpu()].slots;
	for (size_t i = 0; i < VOLLEY_GOOD_COOKIES; i++)
		n += slots[i].head[0] == value[0] && slots[i].head[1] == value[1] &&
		     slots[i].hash == value[2];
	free(all);
	return n;
}

static void forget_noted(const struct xdp_world *w)
{
	struct volley_cookies *none = calloc((size_t)libbpf_num_possible_cpus(), sizeof(*none));
	const __u32 zero = 0;

	assert_non_null(none);
	assert_int_equal(bpf_map_update_elem(bpfmaps_map_fd(&w->maps, "volley_cookies"), &zero,
					     none, BPF_ANY),
			 0);
	free(none);
}

/* Asked after LEARNT, which was good and is noted. Each differs from it in one thing. */
static const struct {
	const char *name, *secret, *from, *asked;
	uint32_t age_s;
	bool is_good, is_renewed;
} nearly[] = {
	{ "the same", SECRET, "198.51.100.100", LEARNT, 1, true, false },
	{ "the last octet of its hash", SECRET, "198.51.100.100", WRONG, 1, false, true },
	{ "another second", SECRET, "198.51.100.100",
	  "2464c4abcf10c957010000005cf79f121f8130c3eee29480", 1, false, true },
	{ "another client part", SECRET, "198.51.100.100",
	  "2464c4abcf10c958010000005cf79f111f8130c3eee29480", 1, false, true },
	{ "another address", SECRET, "198.51.100.101", LEARNT, 1, false, true },
	{ "the address as the first octets of an IPv6 one", SECRET, "c633:6464::", LEARNT, 1, false,
	  true },
	{ "another secret", SECRET_NEW, "198.51.100.100", LEARNT, 1, false, true },
	{ "half an hour old", SECRET, "198.51.100.100", LEARNT, 1800, true, false },
	{ "a second more", SECRET, "198.51.100.100", LEARNT, 1801, true, true },
	{ "an hour and a second old", SECRET, "198.51.100.100", LEARNT, 3601, false, true },
	{ "of a time to come", SECRET, "198.51.100.100", LEARNT, -301u, false, true },
};

static void test_good_cookies_are_noted(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);
	uint8_t options[64];
	struct row row = rows[0];

	stay();
	know(w, &row);
	forget_noted(w);
	xdp_expect_answer(w, "good", frame, build(row.from, options, put_cookie(options, LEARNT)),
			  VOLLEY_HIT_FULL, &result, &answer);
	assert_int_equal(times_noted(w, LEARNT), 1);
	for (size_t i = 0; i < sizeof(nearly) / sizeof(nearly[0]); i++) {
		const size_t n =
			build(nearly[i].from, options, put_cookie(options, nearly[i].asked));
		bool is_renewed;

		row.secret = nearly[i].secret;
		row.now_s = rows[0].now_s + nearly[i].age_s;
		do {
			know(w, &row);
			xdp_expect_answer(w, nearly[i].name, frame, n, VOLLEY_HIT_FULL, &result,
					  &answer);
		} while (wall_s(w) != row.now_s);
		if (cookie_is_good(w) != nearly[i].is_good)
			fail_msg("%s: good or not?", nearly[i].name);
		is_renewed = memcmp(answer.opt + PKT_OPT_BYTES, options, 4 + COOKIE_BYTES) != 0;
		if (is_renewed != nearly[i].is_renewed)
			fail_msg("%s: renewed or not?", nearly[i].name);
		assert_int_equal(times_noted(w, LEARNT), 1);
	}
}

/* The slot of this cookie for IPv4 address 10.0.0.0 + n. */
static uint32_t slot_of(const uint8_t cookie[COOKIE_BYTES], uint32_t n)
{
	struct volley_cookie_client client = { .address = { 10 | (uint64_t)htonl(n) } };
	__u64 value[3];

	memcpy(value, cookie, sizeof(value));
	return volley_cookie_slot(value, &client);
}

/* A cookie that shares a slot with LEARNT, with another address or client part, is not taken for
 * it. */
static void test_slots_are_shared(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);
	uint8_t options[64], cookie[COOKIE_BYTES];
	struct row row = rows[0];
	char from[32], hex[2 * COOKIE_BYTES + 1];
	uint32_t n = 1;

	stay();
	know(w, &row);
	forget_noted(w);
	row.from = "10.0.0.0";
	memcpy(cookie, "client-8", 8);
	from_hex(options, SECRET);
	cookie_make(cookie, cookie, (const uint8_t[]){ 10, 0, 0, 0 }, 4, row.now_s, options);
	for (size_t i = 0; i < COOKIE_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", cookie[i]);
	for (; slot_of(cookie, n) != slot_of(cookie, 0); n++)
		;
	snprintf(from, sizeof(from), "10.%u.%u.%u", n >> 16, n >> 8 & 255, n & 255);
	xdp_expect_answer(w, "good", frame, build(row.from, options, put_cookie(options, hex)),
			  VOLLEY_HIT_FULL, &result, &answer);
	assert_int_equal(times_noted(w, hex), 1);
	xdp_expect_answer(w, from, frame, build(from, options, put_cookie(options, hex)),
			  VOLLEY_HIT_FULL, &result, &answer);
	assert_false(cookie_is_good(w));
	n = slot_of(cookie, 0);
	do
		wire_store_be16(cookie + 6, (uint16_t)(wire_load_be16(cookie + 6) + 1));
	while (slot_of(cookie, 0) != n);
	build(row.from, options, put_cookie(options, hex));
	memcpy(options + 4, cookie, sizeof(cookie));
	xdp_expect_answer(w, "another client part", frame, build(row.from, options, 28),
			  VOLLEY_HIT_FULL, &result, &answer);
	assert_false(cookie_is_good(w));
	assert_int_equal(times_noted(w, hex), 1);
}

/* Runs that may preempt each other (VOLLEY_ROOMS) note no cookies. */
static void test_none_is_noted_in_other_rooms(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);
	uint8_t options[64];

	stay();
	know(w, &rows[0]);
	forget_noted(w);
	w->maps.memory.state->realtime = 1;
	xdp_expect_answer(w, "good", frame,
			  build(rows[0].from, options, put_cookie(options, LEARNT)),
			  VOLLEY_HIT_FULL, &result, &answer);
	assert_int_equal(times_noted(w, LEARNT), 0);
}

/* Only the first counts (RFC 7873 section 5.2), well formed or not. */
static void test_a_second_cookie_is_nothing(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);
	uint8_t options[64];
	size_t n = put_cookie(options, LEARNT);

	know(w, &rows[0]);
	n += put_cookie(options + n, LEARNT);
	options[n - 1] ^= 1;
	xdp_expect_answer(w, "twice", frame, build(rows[0].from, options, n), VOLLEY_HIT_FULL,
			  &result, &answer);
	assert_int_equal(answer.opt_options, 28);
	assert_memory_equal(answer.opt + PKT_OPT_BYTES, options, 28);
}

/* A server without secrets answers as to a query without a cookie. */
static void test_without_secrets(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);
	uint8_t options[64];
	size_t n = put_cookie(options, LEARNT);

	xdp_expect_answer(w, "no secret", frame, build(rows[0].from, options, n), VOLLEY_HIT_FULL,
			  &result, &answer);
	assert_int_equal(answer.opt_options, 0);
}

/* An NSID option of this many octets. */
static void set_nsid(struct volley_options *o, uint32_t bytes)
{
	o->nsid_sum = 0;
	o->nsid_bytes = bytes;
	wire_store_be16(o->nsid, 3);
	wire_store_be16(o->nsid + 2, (uint16_t)(bytes - 4));
	memset(o->nsid + bytes, 0xee, sizeof(o->nsid) - bytes);
	for (uint32_t i = 4; i < bytes; i++)
		o->nsid[i] = (uint8_t)(0x80 + i);
	for (uint32_t i = 0; i < bytes; i++)
		o->nsid_sum += (uint64_t)o->nsid[i] << (i & 1 ? 8 : 0);
}

/* Copied by words and by the helper; alone and after a cookie; with and without an extended error
 * after it. */
static void test_every_length_of_nsid(void **state)
{
	static const uint8_t ede[6] = { 0, 15, 0, 2, 0, 22 };
	struct xdp_world *w = xdp_world_take(state);
	struct volley_options *o = &w->maps.memory.state->options[0];
	struct entry put = { .name = (const uint8_t *)WWW, .full_bytes = 33, .short_bytes = 33 };
	struct volley_entry *e = xdp_world_put(w, &put);
	uint8_t options[64], *nsid;

	e->refresh_s = 1; /* not of our zones, whose answers never have an error */
	w->maps.memory.state->option_up_mask |= 1u << 3;
	know(w, &rows[0]);
	for (uint32_t n = 1; n <= 4 * 128; n++) {
		const uint32_t bytes = 4 + (n + 3) / 4, behind = n & 2 ? sizeof(ede) : 0;
		size_t cookie = n & 1 ? put_cookie(options, LEARNT) : 0;

		e->ede = n & 2 ? 22 + 1 : 0;
		set_nsid(o, bytes);
		memcpy(options + cookie, (uint8_t[]){ 0, 3, 0, 0 }, 4);
		xdp_expect_answer(w, "NSID", frame, build(rows[0].from, options, cookie + 4),
				  VOLLEY_HIT_FULL, &result, &answer);
		assert_int_equal(answer.opt_options, (cookie ? 28 : 0) + bytes + behind);
		nsid = (uint8_t *)answer.opt + PKT_OPT_BYTES + (cookie ? 28 : 0);
		assert_memory_equal(nsid, o->nsid, bytes);
		assert_memory_equal(nsid + bytes, ede, behind);
	}
}

/* If the whole answer just fits the limit, a cookie leaves room only for the short one. */
static void test_the_cookie_counts_for_the_limit(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	const size_t fixed = 12 + sizeof(WWW) + 4 + PKT_OPT_BYTES;
	uint8_t options[64];
	size_t n = put_cookie(options, LEARNT);

	for (size_t less = 0; less <= 1; less++) {
		struct entry e = { .name = (const uint8_t *)WWW, .short_bytes = 20 };

		w = xdp_world_take(state);
		e.full_bytes = (uint16_t)(1232 - fixed - 28 + 1 - less);
		xdp_world_put(w, &e);
		know(w, &rows[0]);
		xdp_expect_answer(w, "limit", frame, build(rows[0].from, options, n),
				  less ? VOLLEY_HIT_FULL : VOLLEY_HIT_SHORT, &result, &answer);
		assert_int_equal(answer.opt_options, 28);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_rfc),
		cmocka_unit_test(test_cookies_are_counted),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_good_cookies_are_noted),
		cmocka_unit_test(test_slots_are_shared),
		cmocka_unit_test(test_none_is_noted_in_other_rooms),
		cmocka_unit_test(test_every_length_of_nsid),
		cmocka_unit_test(test_a_second_cookie_is_nothing),
		cmocka_unit_test(test_without_secrets),
		cmocka_unit_test(test_the_cookie_counts_for_the_limit),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
