/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which answers show that the driver would deny a name that exists, and what control is told of
 * them. The filter is that of the zones, or has lost bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shield/name_filter.h"
#include "shield/shield.h"
#include "tests/unit/engine/world.h"

#define ZONE                                                                                      \
	"$TTL 300\n@ SOA ns1.a host 1 2 3 4 60\n@ NS ns1.a\nns1.a A 192.0.2.2\nb.c A 192.0.2.3\n" \
	"*.w A 192.0.2.4\nalias CNAME nowhere\nout CNAME a.off.test.\ncut NS ns.other.test.\n"    \
	"d DNAME other.test.\ne.w A 192.0.2.44\n"

static struct world w;
static struct names names;
static struct shield shield;
static struct volley_names_line lines[VOLLEY_DEFAULT_NAMES_LINES];

static int no_grace(void *user)
{
	(void)user;
	return 0;
}

/* off.test has no denials, and lies in no zone that has; off.z.test lies in z.test; void.z.test is
 * not loaded. */
static int open_world(void **state)
{
	static const char *const origins[] = { "z.test", "s.z.test", "off.test", "off.z.test" };
	struct engine_config config = ENGINE_CONFIG_INIT;

	world_begin(&w, state);
	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
		world_add_zone(&w, origins[i], ZONE);
	world_load_zone(&w, "void.z.test", NULL);
	world_add_cache(&w);
	names_init(&names, lines, VOLLEY_DEFAULT_NAMES_LINES, &cache_state(w.cache)->names);
	MUST(!names_begin(&names, no_grace, NULL));
	for (unsigned i = 0; i < VOLLEY_NAME_BYTES; i++) /* the same in each run */
		names.states[0]->keys[i] = volley_hash_mix(i + 1);
	for (size_t i = 0; i < w.n_zones; i++)
		w.members[i].names_id = i < 2 ? names_id(&names) : 0;
	world_publish(&w);
	shield_init(&shield, lines, sizeof(lines) / sizeof(lines[0]));
	w.zones.shield = &shield;
	MUST(!engine_new(&w.engine, &config, w.cache, &w.zones));
	MUST(!engine_new(&w.uncached, &config, NULL, &w.zones));
	return 0;
}

/* As if all zones had just been added. */
static void fill(void)
{
	memset(lines, 0, sizeof(lines));
	names.states[0]->labels = DNS_LABELS_MAX;
	for (size_t i = 0; i < w.n_zones; i++) {
		names_add_apex(&names, w.members[i].apex, w.members[i].apex_len);
		if (w.members[i].zone)
			names_add_zone(&names, w.members[i].zone, NULL);
	}
}

/* Takes a name with this mark out of it, and what shares its bits. */
static void lose(const char *text, enum volley_name_mark mark)
{
	uint8_t wire[NAME_FOLDED_BYTES] = { 0 };
	int n = name_from_text(wire, DNS_NAME_MAX, text, strlen(text));
	uint64_t hash = names_hash_of(names.states[0]->keys, wire, (unsigned int)n);
	struct volley_names_line *line =
		&lines[volley_names_line(hash, VOLLEY_DEFAULT_NAMES_LINES)];
	uint64_t bits = volley_names_bits(hash, mark);

	MUST(n > 0);
	for (unsigned i = 0; i < VOLLEY_NAMES_N_BITS; i++)
		line->words[VOLLEY_NAMES_BIT(bits, i) >> 6] &=
			~(1ull << (VOLLEY_NAMES_BIT(bits, i) & 63));
}

static uint64_t n_wrong(const struct engine *e)
{
	struct engine_counters c;

	engine_counters_read(e, &c);
	return c.denials_wrong;
}

static void forget_answers(void)
{
	for (size_t i = 0; i < w.n_zones; i++) {
		struct zone_member *m = &w.members[i];

		world_member(&w, i)->cache_gen = m->cache_gen =
			cache_zone_flush(w.cache, m->cache_slot);
	}
}

static const struct row {
	const char *what, *lost;
	enum volley_name_mark mark;
	struct ask ask;
	const char *apex; /* of the zone that would deny it; NULL: none would */
} rows[] = {
#define A(n)                         \
	{                            \
		.name = n, .type = 1 \
	}
#define E VOLLEY_NAME_EXISTS
	{ "an answer", "b.c.z.test", E, A("b.c.z.test"), "z.test" },
	{ "a name above the one that is asked", "c.z.test", E, A("b.c.z.test"), "z.test" },
	{ "an empty non-terminal", "c.z.test", E, A("c.z.test"), "z.test" },
	{ "no data", "b.c.z.test", E, { .name = "b.c.z.test", .type = 28 }, "z.test" },
	{ "upper case", "b.c.z.test", E, A("B.C.Z.test"), "z.test" },
	{ "an alias without a target", "alias.z.test", E, A("alias.z.test"), "z.test" },
	{ "an alias that leads to another zone", "out.z.test", E, A("out.z.test"), "z.test" },
	{ "a wildcard's parent", "w.z.test", VOLLEY_NAME_WILD, A("x.w.z.test"), "z.test" },
	{ "a name beside a wildcard", "e.w.z.test", E, A("e.w.z.test"), "z.test" },
	{ "a cut", "cut.z.test", VOLLEY_NAME_STOP, A("x.cut.z.test"), "z.test" },
	{ "a DNAME", "d.z.test", VOLLEY_NAME_STOP, A("x.d.z.test"), "z.test" },
	{ "a zone in the zone", "b.c.s.z.test", E, A("b.c.s.z.test"), "s.z.test" },
	{ "its apex", "s.z.test", E, A("b.c.s.z.test"), "z.test" },
	{ "a zone without denials in it", "off.z.test", E, A("b.c.off.z.test"), "z.test" },
	{ "a zone that is not loaded in it", "void.z.test", E, A("x.void.z.test"), "z.test" },
	{ "a name of a zone without denials", "b.c.off.test", E, A("b.c.off.test"), NULL },
	{ "a name that is not there", "b.c.z.test", E, A("no.z.test"), NULL },
	{ "another name", "b.c.z.test", E, A("ns1.a.z.test"), NULL },
	{ "no zone", "z.test", E, A("a.example"), NULL },
	{ "the apex alone is unknown", "z.test", E, A("b.c.z.test"), NULL },
#undef E
#undef A
};

static void check_row(const struct row *row)
{
	uint64_t before = n_wrong(w.engine);
	uint8_t wire[NAME_FOLDED_BYTES];
	struct shield_found found;
	struct reply r;

	fill();
	forget_answers();
	send_ask(w.engine, &row->ask, &r);
	if (n_wrong(w.engine) != before || shield_take(&shield, &found))
		fail_msg("%s: found in a whole filter", row->what);
	lose(row->lost, row->mark);
	forget_answers();
	send_ask(w.engine, &row->ask, &r);
	if (n_wrong(w.engine) - before != !!row->apex ||
	    shield_take(&shield, &found) != !!row->apex)
		fail_msg("%s: found or not", row->what);
	if (!row->apex)
		return;
	MUST(name_from_text(wire, DNS_NAME_MAX, row->apex, strlen(row->apex)) > 0);
	if (!name_equal(found.name + found.apex, wire))
		fail_msg("%s: another zone", row->what);
	MUST(name_from_text(wire, DNS_NAME_MAX, row->ask.name, strlen(row->ask.name)) > 0);
	name_fold(wire, wire, name_bytes(wire));
	assert_int_equal(found.bytes, name_bytes(wire));
	assert_memory_equal(found.name, wire, found.bytes);
	assert_false(shield_take(&shield, &found));
}

static void what_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

/* A hit is not looked at, nor is what an engine without a cache answers. */
static void hits_are_not_looked_at(void **state)
{
	static const struct ask ask = { .name = "b.c.z.test", .type = 1 };
	uint64_t before = n_wrong(w.engine);
	struct reply r;

	(void)state;
	fill();
	forget_answers();
	send_ask(w.engine, &ask, &r);
	lose("b.c.z.test", VOLLEY_NAME_EXISTS);
	send_ask(w.engine, &ask, &r);
	send_ask(w.uncached, &ask, &r);
	assert_int_equal(n_wrong(w.engine), before);
	assert_int_equal(n_wrong(w.uncached), 0);
}

/* Of another filter, of none, and where nobody checks. */
static void other_filters(void **state)
{
	static const struct ask ask = { .name = "b.c.z.test", .type = 1 };
	uint32_t id = names.states[0]->id, ids[] = { id ^ 1, 0 };
	uint64_t before = n_wrong(w.engine);
	struct reply r;

	(void)state;
	fill();
	lose("b.c.z.test", VOLLEY_NAME_EXISTS);
	for (size_t i = 0; i < 2; i++) {
		names.states[0]->id = ids[i];
		forget_answers();
		send_ask(w.engine, &ask, &r);
		assert_int_equal(n_wrong(w.engine), before);
	}
	names.states[0]->id = id;
	w.zones.shield = NULL;
	forget_answers();
	send_ask(w.engine, &ask, &r);
	assert_int_equal(n_wrong(w.engine), before);
	w.zones.shield = &shield;
}

/* Zones wait side by side; of one zone the first name does. */
static void several_zones(void **state)
{
	static const char *const lost[] = { "b.c.z.test", "ns1.a.z.test", "b.c.s.z.test" };
	struct shield_found found;
	unsigned n = 0;
	struct reply r;

	(void)state;
	fill();
	forget_answers();
	for (size_t i = 0; i < 3; i++) {
		const struct ask ask = { .name = lost[i], .type = 1 };

		lose(lost[i], VOLLEY_NAME_EXISTS);
		send_ask(w.engine, &ask, &r);
	}
	for (; shield_take(&shield, &found); n++)
		assert_memory_equal(found.name, "\1b\1c", 4);
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found),
		cmocka_unit_test(hits_are_not_looked_at),
		cmocka_unit_test(other_filters),
		cmocka_unit_test(several_zones),
	};

	return cmocka_run_group_tests(tests, open_world, world_end);
}
