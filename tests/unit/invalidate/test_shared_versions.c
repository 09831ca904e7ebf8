/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A new version of a signed zone withdraws the entries of intervals whose proofs changed
 * (invalidate/affected.h). No entry that stays differs from an answer that is rendered from the new
 * version (engine/shared_answer.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "invalidate/affected.h"
#include "invalidate/changes.h"
#include "tests/lib/draw.h"
#include "tests/unit/engine/sharing.h"

#define ZONE     1u /* number of the zone z */
#define VERSIONS 30u
#define ASKED    24u

static struct sharing s;

static struct zone *load(unsigned int serial, const char *more, enum zone_chain chain)
{
	char *text = sharing_text("z", serial, more, chain), path[] = "/tmp/volley-versions-XXXXXX";
	struct zone_error error;
	struct zone *zone = NULL;
	int fd = mkstemp(path);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	assert_int_equal(zone_load(&zone, "z", path, NULL, &error), 0);
	unlink(path);
	free(text);
	return zone;
}

static void ask_at(const char *name, uint16_t type, uint32_t now_s)
{
	const struct ask ask = { .name = name, .type = type, .udp_size = 1232, .dnssec_ok = true };
	static uint8_t out[DNS_MESSAGE_MAX];
	uint8_t msg[512];
	const struct engine_request rq = { .msg = msg,
					   .len = ask_bytes(&ask, msg),
					   .family = AF_INET,
					   .client = world_client,
					   .now_s = now_s,
					   .wall_s = WORLD_WALL_S };

	sharing_forget(&s, &ask);
	assert_true(engine_answer(s.w.engine, &rq, out, sizeof(out)));
	rcu_quiescent_state();
}

/* --- One change ------------------------------------------------------------------------------- */

/* Of the interval of NSEC from m to ns1 in which n lies. The signature over each SOA has to hold
 * longer than one of a proof. */
static const struct {
	const char *what, *more;
	bool is_withdrawn;
} rows[] = {
	{ "a name in it", "n5 A 192.0.2.9\n", true },
	{ "a type at its owner", "m TXT x\n", true },
	{ "a wildcard at the closest encloser", "* A 192.0.2.9\n", true },
	{ "a name below a name in it", "x.y.n5 A 192.0.2.9\n", true },
	{ "a cut in it", "n5 NS ns.other.\n", true },
	{ "a name in another interval", "d A 192.0.2.9\n", false },
	{ "an address at its end", "ns1 A 192.0.2.77\n", false },
	{ "nothing but the SOA", "", false },
};

/* Some serial numbers give a SOA whose signature ends before all others, and then all negative
 * answers are withdrawn. */
static bool is_withdrawn(const char *more, const struct volley_entry *entry)
{
	bool is_always = true;

	for (unsigned int serial = 8; serial < 40; serial++) {
		struct zone *z = load(serial, more, ZONE_CHAIN_NSEC);
		enum changes_refusal why;
		struct changes *c = changes_new(s.w.members[ZONE].zone, z, &why);

		assert_non_null(c);
		is_always &= affected_by(c, entry);
		changes_free(c);
		zone_free(z);
	}
	return is_always;
}

static void test_what_withdraws_an_interval(void **state)
{
	const struct volley_entry *entry;

	(void)state;
	memset(&s, 0, sizeof(s));
	sharing_open(&s, ZONE_CHAIN_NSEC);
	ask_at("n.z", 1, WORLD_NOW_S);
	entry = sharing_entry(&s, VOLLEY_KEY_INTERVAL, 0);
	assert_non_null(entry);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_withdrawn(rows[i].more, entry) != rows[i].is_withdrawn)
			fail_msg("%s: withdrawn or not", rows[i].what);
	sharing_close(&s);
}

/* --- Many ------------------------------------------------------------------------------------- */

static const char *const lines[] = {
	"d A 192.0.2.9\n",     "n5 A 192.0.2.9\n",  "m TXT x\n",          "*.c A 192.0.2.9\n",
	"e.w A 192.0.2.9\n",   "*.w TXT x\n",       "cut NS ns.other.\n", "x.y.zz A 192.0.2.9\n",
	"n15.c A 192.0.2.9\n", "*.w A 192.0.2.5\n",
};
#define N_LINES (sizeof(lines) / sizeof(lines[0]))

struct tally {
	uint64_t stayed, withdrawn;
};

static void withdraw_affected(const struct changes *c, struct tally *t)
{
	struct volley_entry *e;
	struct cache_key key;
	unsigned int nth = 0;

	while ((e = sharing_entry(&s, VOLLEY_KEY_INTERVAL, nth))) {
		if (!affected_by(c, e)) {
			nth++;
			t->stayed++;
			continue;
		}
		t->withdrawn++;
		sharing_key(&s, &key, e);
		assert_int_equal(cache_withdraw(s.w.cache, &key), 0);
	}
}

/* As a publish does it, but for the plain denial and what is not shared. */
static void serve(struct zone *z, struct tally *t)
{
	struct zone_member *m = &s.w.members[ZONE], *served = world_member(&s.w, ZONE);
	struct volley_zone_intervals found;
	enum changes_refusal why;
	struct changes *c = changes_new(m->zone, z, &why);

	assert_non_null(c);
	names_add_zone(&s.names, z, m->zone);
	intervals_of(&s.names.intervals, m->apex, m->apex_len, &found);
	served->intervals.at = found.at;
	served->intervals.id = found.id;
	shield_begin_edition(&s.shield);
	zone_set_swap(s.w.zones.set, m->apex, m->apex_len, z);
	withdraw_affected(c, t);
	shield_end_edition(&s.shield);
	changes_free(c);
	zone_free(m->zone);
	m->zone = z;
}

static void ask_all(uint32_t now_s)
{
	static const char *const below[] = { "z", "c.z", "w.z" };
	char name[64];

	for (unsigned int i = 0; i < ASKED; i++) {
		snprintf(name, sizeof(name), "%c%u.%s", "abdknmz"[draw(7)], draw(20),
			 below[draw(3)]);
		ask_at(name, draw(3) ? 1 : 16, now_s);
	}
}

static void run(enum zone_chain chain)
{
	struct engine_counters counters;
	struct tally t = { 0 };
	unsigned int chosen = 0;

	memset(&s, 0, sizeof(s));
	sharing_open(&s, chain);
	for (unsigned int v = 0; v < VERSIONS; v++) {
		char more[512] = "";

		ask_all(WORLD_NOW_S + v);
		chosen ^= draw(4) ? 1u << draw(N_LINES) : 0;
		for (unsigned int i = 0; i < N_LINES; i++)
			if (chosen >> i & 1)
				strcat(more, lines[i]);
		serve(load(8 + v, more, chain), &t);
	}
	engine_counters_read(s.w.engine, &counters);
	print_message("           %lu entries stayed, %lu were withdrawn, %lu compared\n", t.stayed,
		      t.withdrawn, counters.shared_compared);
	assert_int_equal(counters.shared_wrong, 0);
	assert_int_equal(counters.shared_undecided, 0);
	assert_true(t.stayed > VERSIONS && t.withdrawn > VERSIONS);
	assert_true(counters.shared_compared > VERSIONS);
	sharing_close(&s);
}

static void test_what_stays_is_right(void **state)
{
	(void)state;
	seed = 0x9e3779b97f4a7c15u;
	run(ZONE_CHAIN_NSEC);
	run(ZONE_CHAIN_NSEC3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_withdraws_an_interval),
		cmocka_unit_test(test_what_stays_is_right),
	};

	return cmocka_run_group_tests(tests, sharing_begin, sharing_end);
}
