/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A name or a mark that the filter lacks is a name that the driver denies. So each test here asks
 * for what must be known; that most other names are not known is asked with fixed keys, and so
 * holds in each run or in none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dns/name.h"
#include "shield/name_filter.h"
#include "tests/lib/knownname.h"
#include "tests/lib/must.h"
#include "tests/unit/zone/zone_text.h"
#include "xdp/key.h"
#include "zone/edit.h"
#include "zone/zone_walk.h"

#define N_LINES 1024u

struct fixture {
	struct volley_names_line lines[N_LINES];
	struct volley_names_state state, other;
	struct names names;
};

static int no_readers(void *user)
{
	(void)user;
	return 0;
}

static int open_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	MUST(f);
	names_init(&f->names, f->lines, N_LINES, &f->state);
	MUST(!names_begin(&f->names, no_readers, NULL));
	for (unsigned i = 0; i < VOLLEY_NAME_BYTES; i++)
		f->state.keys[i] = volley_hash_mix(i + 1);
	*state = f;
	return 0;
}

static int close_fixture(void **state)
{
	free(*state);
	return 0;
}

static double fill_of(const struct names *names)
{
	struct names_use use;

	names_read_use(names, &use);
	return use.fill;
}

static bool has(const struct fixture *f, const char *text, enum volley_name_mark mark)
{
	uint8_t wire[256];

	wire_of(wire, text);
	return names_may_exist(&f->names, wire, mark);
}

static void add_apex(struct fixture *f, const char *text)
{
	uint8_t wire[256];
	unsigned n = wire_of(wire, text);

	names_add_apex(&f->names, wire, n);
}

/* --- What is said of a name ------------------------------------------------------------------- */

static const char *const mark_texts[] = { "exists", "marked", "apex", "stop", "wild" };

/* "exists marked stop": these and no others. "": unknown. */
static void check_marks(const struct fixture *f, const char *what, const char *name,
			const char *marks)
{
	for (unsigned i = 0; i <= VOLLEY_NAME_WILD; i++) {
		bool want = strstr(marks, mark_texts[i]);

		if (has(f, name, (enum volley_name_mark)i) != want)
			fail_msg("%s: %s is %s%s", what, name, want ? "not " : "", mark_texts[i]);
	}
}

struct told {
	const char *name, *marks;
};

static const struct row {
	const char *what, *origin, *lines;
	struct told told[6]; /* up to one without a name */
} rows[] = {
#define CUT  "exists marked stop"
#define WILD "exists marked wild"
	{ "an owner", "z.test", "b A 192.0.2.1\n", { { "b.z.test", "exists" } } },
	{ "the apex is no cut",
	  "z.test",
	  "",
	  { { "z.test", "exists" }, { "ns.z.test", "exists" } } },
	{ "empty non-terminals",
	  "z.test",
	  "a.b.c.d A 192.0.2.1\n",
	  { { "a.b.c.d.z.test", "exists" },
	    { "b.c.d.z.test", "exists" },
	    { "c.d.z.test", "exists" },
	    { "d.z.test", "exists" },
	    { "x.d.z.test", "" } } },
	{ "upper case",
	  "z.test",
	  "A.Bc.D A 192.0.2.1\n",
	  { { "a.bc.d.z.test", "exists" }, { "bc.d.z.test", "exists" } } },
	{ "any octet",
	  "z.test",
	  "a\\.\\000b.\\255 A 192.0.2.1\n",
	  { { "a\\.\\000b.\\255.z.test", "exists" }, { "\\255.z.test", "exists" } } },
	{ "a cut",
	  "z.test",
	  "k NS ns.k\nns.k A 192.0.2.1\na.k.l NS ns\n",
	  { { "k.z.test", CUT },
	    { "ns.k.z.test", "exists" },
	    { "a.k.l.z.test", CUT },
	    { "k.l.z.test", "exists" } } },
	{ "a DNAME", "z.test", "d DNAME a.test.\n", { { "d.z.test", CUT } } },
	{ "a wildcard at the apex",
	  "z.test",
	  "* A 192.0.2.1\n",
	  { { "z.test", WILD }, { "*.z.test", "exists" } } },
	{ "a deep wildcard",
	  "z.test",
	  "*.w.x A 192.0.2.1\n",
	  { { "w.x.z.test", WILD }, { "x.z.test", "exists" }, { "*.w.x.z.test", "exists" } } },
	{ "a wildcard that is empty",
	  "z.test",
	  "a.*.w A 192.0.2.1\n",
	  { { "w.z.test", WILD }, { "*.w.z.test", "exists" }, { "a.*.w.z.test", "exists" } } },
	{ "a wildcard below a wildcard",
	  "z.test",
	  "*.*.w A 192.0.2.1\n",
	  { { "w.z.test", WILD }, { "*.w.z.test", WILD }, { "*.*.w.z.test", "exists" } } },
	{ "an asterisk that is none",
	  "z.test",
	  "*a.w A 192.0.2.1\na.*b A 192.0.2.1\n",
	  { { "w.z.test", "exists" }, { "z.test", "exists" } } },
	{ "the root",
	  ".",
	  "b.c A 192.0.2.1\n*.d NS ns\n",
	  { { ".", "exists" }, { "c", "exists" }, { "d", WILD }, { "*.d", CUT } } },
};

static struct zone *zone_from(const char *origin, const char *lines)
{
	char text[2048];

	snprintf(text, sizeof(text), "%s%s", ZONE_HEAD, lines);
	return zone_of(origin, text);
}

/* The same from a zone's file, and as what differs from one without these lines. */
static void check_row(const struct row *row, bool is_difference)
{
	struct zone *z = zone_from(row->origin, row->lines), *old = NULL;
	struct fixture *f;
	void *state;

	open_fixture(&state);
	f = state;
	if (is_difference) {
		old = zone_from(row->origin, "");
		names_add_zone(&f->names, old, NULL);
	}
	names_add_zone(&f->names, z, old);
	for (const struct told *told = row->told; told->name; told++)
		check_marks(f, row->what, told->name, told->marks);
	zone_free(z);
	zone_free(old);
	close_fixture(&state);
}

static void marks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		check_row(&rows[i], false);
		check_row(&rows[i], true);
	}
}

/* A zone that has nothing else. */
static void dname_at_the_apex(void **state)
{
	struct fixture *f = *state;
	struct zone *z = zone_of("z.test", "$TTL 300\n@ SOA a.test. host.a.test. 7 2 3 4 60\n"
					   "@ NS a.test.\n@ DNAME b.test.\n");

	names_add_zone(&f->names, z, NULL);
	check_marks(f, "a DNAME at the apex", "z.test", CUT);
	zone_free(z);
}

/* --- Apexes ----------------------------------------------------------------------------------- */

static void apexes(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->state.labels, DNS_LABELS_MAX);
	add_apex(f, "a.b.z.test");
	assert_int_equal(f->state.labels, 4);
	check_marks(f, "apex", "a.b.z.test", "exists marked apex");
	check_marks(f, "above", "b.z.test", "exists");
	check_marks(f, "above", "test", "exists");
	check_marks(f, "above", ".", "exists");
	check_marks(f, "below", "x.a.b.z.test", "");
	add_apex(f, "z.test");
	assert_int_equal(f->state.labels, 2);
	check_marks(f, "a second apex", "z.test", "exists marked apex");
	add_apex(f, "b.c.d");
	assert_int_equal(f->state.labels, 2);
	add_apex(f, ".");
	assert_int_equal(f->state.labels, 0);
	check_marks(f, "the root", ".", "exists marked apex");
	assert_int_equal(f->names.n_added, 8);
}

/* --- Large zones ------------------------------------------------------------------------------ */

#define N_NAMES   2000u
#define N_UNKNOWN 20000u

static void all_are_known(const struct fixture *f, const struct zone *z)
{
	uint8_t owner[NAME_FOLDED_BYTES];
	const struct zone_node *node;
	struct zone_walk walk;

	zone_walk_init(&walk, z);
	while ((node = zone_walk_next(&walk))) {
		name_fold(owner, owner, zone_node_owner(z, node, owner));
		assert_true(names_may_exist(&f->names, owner, VOLLEY_NAME_EXISTS));
	}
}

static void others_are_unknown(void **state)
{
	struct fixture *f = *state;
	unsigned n_known = 0;
	struct zone *z;
	size_t bytes;
	char *text;
	FILE *file = open_memstream(&text, &bytes);

	fputs(ZONE_HEAD, file);
	for (unsigned i = 0; i < N_NAMES; i++)
		fprintf(file, "host%u.sub%u A 192.0.2.1\n", i, i % 97);
	fclose(file);
	z = zone_of("z.test", text);
	names_add_zone(&f->names, z, NULL);
	all_are_known(f, z);
	assert_in_range(f->names.n_added, N_NAMES, N_NAMES + 97 + 2);
	/* 7 of 512 * 1024 bits for each name. */
	assert_true(fill_of(&f->names) > 0.02 && fill_of(&f->names) < 0.03);
	for (unsigned i = 0; i < N_UNKNOWN; i++) {
		char name[64];

		snprintf(name, sizeof(name), "host%u.sub%u.z.test", N_NAMES + i, i % 97);
		n_known += has(f, name, VOLLEY_NAME_EXISTS);
	}
	assert_in_range(n_known, 0, N_UNKNOWN / 1000);
	zone_free(z);
	free(text);
}

/* The longest name: each octet has a number of its own, and so has each depth. */
static void longest_name(void **state)
{
	struct fixture *f = *state;
	uint8_t name[256] = { 0 }, other[256];
	unsigned n = 0;

	while (n < 254) {
		name[n++] = 1;
		name[n++] = 'a';
	}
	names_add_apex(&f->names, name, n + 1);
	assert_int_equal(f->state.labels, DNS_LABELS_MAX);
	for (unsigned i = 0; i <= n; i += 2)
		assert_true(names_may_exist(&f->names, name + i, VOLLEY_NAME_EXISTS));
	for (unsigned i = 1; i < n; i += 2) {
		memcpy(other, name, sizeof(other));
		other[i] = 'b';
		assert_false(names_may_exist(&f->names, other, VOLLEY_NAME_EXISTS));
	}
}

/* --- Edits ------------------------------------------------------------------------------------ */

#define A_RDATA  "\300\0\2\1", 4
#define NS_RDATA "\2ns\1z\4test", 11 /* with the root's octet */
#define DN_RDATA "\1a\4test", 8

static const struct edit_row {
	const char *what, *owner;
	uint16_t type;
	const char *rdata;
	uint16_t n;
	struct told before, told[5];
} edit_rows[] = {
#define T(t) DNS_TYPE_##t
	{ "a name", "x.z.test", T(A), A_RDATA, { "x.z.test", "" }, { { "x.z.test", "exists" } } },
	{ "a name in upper case",
	  "X.Z.test",
	  T(A),
	  A_RDATA,
	  { "x.z.test", "" },
	  { { "x.z.test", "exists" } } },
	{ "empty non-terminals",
	  "x.y.b.z.test",
	  T(A),
	  A_RDATA,
	  { "y.b.z.test", "" },
	  { { "x.y.b.z.test", "exists" }, { "y.b.z.test", "exists" } } },
	{ "a wildcard",
	  "*.b.z.test",
	  T(A),
	  A_RDATA,
	  { "b.z.test", "exists" },
	  { { "b.z.test", WILD }, { "*.b.z.test", "exists" } } },
	{ "an empty wildcard",
	  "x.*.y.z.test",
	  T(A),
	  A_RDATA,
	  { "y.z.test", "" },
	  { { "y.z.test", WILD }, { "*.y.z.test", "exists" }, { "x.*.y.z.test", "exists" } } },
	{ "a wildcard at the apex",
	  "*.z.test",
	  T(A),
	  A_RDATA,
	  { "z.test", "exists" },
	  { { "z.test", WILD } } },
	{ "a cut at a name",
	  "b.z.test",
	  T(NS),
	  NS_RDATA,
	  { "b.z.test", "exists" },
	  { { "b.z.test", CUT } } },
	{ "a cut at an empty non-terminal",
	  "e.z.test",
	  T(NS),
	  NS_RDATA,
	  { "e.z.test", "exists" },
	  { { "e.z.test", CUT } } },
	{ "a cut that is new",
	  "n.m.z.test",
	  T(NS),
	  NS_RDATA,
	  { "n.m.z.test", "" },
	  { { "n.m.z.test", CUT }, { "m.z.test", "exists" } } },
	{ "a DNAME at a name",
	  "b.z.test",
	  T(DNAME),
	  DN_RDATA,
	  { "b.z.test", "exists" },
	  { { "b.z.test", CUT } } },
	{ "a name server at the apex",
	  "z.test",
	  T(NS),
	  NS_RDATA,
	  { "z.test", "exists" },
	  { { "z.test", "exists" } } },
	{ "records at a wildcard",
	  "*.w.z.test",
	  T(A),
	  A_RDATA,
	  { "w.z.test", WILD },
	  { { "w.z.test", WILD } } },
#undef T
};

static struct zone *edited(struct zone *base, const char *owner, uint16_t type, const char *rdata,
			   uint16_t n)
{
	struct zone_error err;
	struct zone_edit *e;
	uint8_t wire[256];
	struct zone *z;

	assert_true(name_from_text(wire, DNS_NAME_MAX, owner, strlen(owner)) > 0);
	assert_int_equal(zone_edit_begin(&e, base), 0);
	assert_true(zone_edit_add(e, wire, type, 300, (const uint8_t *)rdata, n) >= 0);
	if (zone_edit_finish(e, &z, NULL, &err))
		fail_msg("%s: %s", owner, err.sentence);
	return z;
}

static void edits(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(edit_rows) / sizeof(edit_rows[0]); i++) {
		const struct edit_row *row = &edit_rows[i];
		struct zone *old = zone_from("z.test", "b TXT b\nf.e A 192.0.2.1\n*.w TXT w\n");
		struct zone *z = edited(old, row->owner, row->type, row->rdata, row->n);
		struct fixture *f;
		void *fixture;

		open_fixture(&fixture);
		f = fixture;
		names_add_zone(&f->names, old, NULL);
		check_marks(f, row->what, row->before.name, row->before.marks);
		names_add_zone(&f->names, z, old);
		for (const struct told *told = row->told; told->name; told++)
			check_marks(f, row->what, told->name, told->marks);
		all_are_known(f, z);
		zone_free(z);
		zone_free(old);
		close_fixture(&fixture);
	}
}

/* What two edits have added, when the version between them was never served. */
static void edits_in_a_row(void **state)
{
	struct fixture *f = *state;
	struct zone *first = zone_from("z.test", "");
	struct zone *second = edited(first, "x.y.z.test", DNS_TYPE_A, A_RDATA);
	struct zone *third = edited(second, "*.y.z.test", DNS_TYPE_A, A_RDATA);

	names_add_zone(&f->names, first, NULL);
	names_add_zone(&f->names, third, first);
	check_marks(f, "edits", "y.z.test", WILD);
	check_marks(f, "edits", "x.y.z.test", "exists");
	zone_free(third);
	zone_free(second);
	zone_free(first);
}

/* A name that goes stays known until the next filter. */
static void names_that_go(void **state)
{
	struct fixture *f = *state;
	struct zone *old = zone_from("z.test", "b A 192.0.2.1\n"), *z = zone_from("z.test", "");

	names_add_zone(&f->names, old, NULL);
	names_add_zone(&f->names, z, old);
	check_marks(f, "a name that went", "b.z.test", "exists");
	assert_int_equal(f->names.n_gone, 1);
	names_add_zone(&f->names, old, z); /* and is back */
	assert_int_equal(f->names.n_gone, 0);
	names_note_gone(&f->names, 5);
	assert_int_equal(f->names.n_gone, 5);
	zone_free(z);
	zone_free(old);
}

static const struct {
	const char *what;
	uint64_t n_gone, n_live;
	double fill, false_positives;
	bool is_worn;
} worn_rows[] = {
	{ "nothing has gone", 0, 100000, 0.3, 0.001, false },
	{ "few have gone, of few", 1000, 0, 0.01, 0, false },
	{ "many have gone, of few", 1001, 0, 0.01, 0, true },
	{ "a quarter has gone", 2001, 6000, 0.2, 0, true },
	{ "less than a quarter has", 2001, 6100, 0.2, 0, false },
	/* 7 of 512 * 1024 bits for each name: half of them are set by 51,900. */
	{ "it is too small for what is served", 0, 50000, 0.5, 0.02, false },
	{ "another one would be better", 0, 30000, 0.5, 0.02, true },
	{ "it is good enough", 0, 30000, 0.5, 0.009, false },
	{ "all bits are set", 0, 30000, 1, 1, true },
};

static void worn(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(worn_rows) / sizeof(worn_rows[0]); i++) {
		const struct names_use use = { worn_rows[i].fill, worn_rows[i].false_positives };

		f->names.n_gone = worn_rows[i].n_gone;
		if (names_is_worn(&f->names, &use, worn_rows[i].n_live) != worn_rows[i].is_worn)
			fail_msg("%s", worn_rows[i].what);
	}
}

/* What names_read_use() expects, and what is so. */
static void false_positives(void **state)
{
	struct fixture *f = *state;
	uint8_t name[] = "\6......\4test";
	unsigned n_known = 0, i;
	struct names_use use;

	for (i = 0; i < 40000; i++) {
		memcpy(name + 1, &i, sizeof(i));
		names_add_apex(&f->names, name, sizeof(name));
	}
	names_read_use(&f->names, &use);
	for (; i < 140000; i++) {
		memcpy(name + 1, &i, sizeof(i));
		n_known += names_may_exist(&f->names, name, VOLLEY_NAME_EXISTS);
	}
	assert_true(use.false_positives > 0.01);
	assert_in_range(n_known, (unsigned)(use.false_positives * 90000),
			(unsigned)(use.false_positives * 110000));
}

/* --- The driver's walk ------------------------------------------------------------------------ */

static const struct walk_row {
	const char *what, *name;
	enum names_verdict verdict;
	const char *apex, *unknown; /* NULL: not looked at */
} walk_rows[] = {
	{ "no zone", "a.other", NAMES_NONE, NULL, NULL },
	{ "shorter than any apex", "test", NAMES_NONE, NULL, NULL },
	{ "the root", ".", NAMES_NONE, NULL, NULL },
	{ "an apex", "z.test", NAMES_MAYBE, "z.test", NULL },
	{ "an owner", "b.z.test", NAMES_MAYBE, "z.test", NULL },
	{ "an empty non-terminal", "e.z.test", NAMES_MAYBE, "z.test", NULL },
	{ "below the apex", "no.z.test", NAMES_DENIED, "z.test", "no.z.test" },
	{ "far below the apex", "x.y.no.z.test", NAMES_DENIED, "z.test", "no.z.test" },
	{ "below an owner", "x.y.b.z.test", NAMES_DENIED, "z.test", "y.b.z.test" },
	{ "beside a name below an empty one", "x.e.z.test", NAMES_DENIED, "z.test", "x.e.z.test" },
	{ "below a wildcard's parent", "x.y.w.z.test", NAMES_EXPANDED, "z.test", "y.w.z.test" },
	{ "below a cut", "x.k.z.test", NAMES_MAYBE, "z.test", "x.k.z.test" },
	{ "below a DNAME", "x.d.z.test", NAMES_MAYBE, "z.test", "x.d.z.test" },
	{ "a zone in the zone", "no.s.z.test", NAMES_DENIED, "s.z.test", "no.s.z.test" },
	{ "a zone below a cut", "no.s.k.z.test", NAMES_DENIED, "s.k.z.test", "no.s.k.z.test" },
};

static void check_walk(const struct fixture *f, const struct walk_row *row)
{
	uint8_t name[256], want[256];
	struct names_walk walk;
	unsigned n = wire_of(name, row->name);
	enum names_verdict verdict = names_walk(&walk, f->lines, &f->state, name, n);

	if (verdict != row->verdict)
		fail_msg("%s: verdict %d", row->what, verdict);
	if (row->apex) {
		wire_of(want, row->apex);
		if (!name_equal(name + walk.apex, want))
			fail_msg("%s: another apex", row->what);
	}
	if (row->unknown) {
		wire_of(want, row->unknown);
		if (!name_equal(name + walk.unknown, want))
			fail_msg("%s: another suffix", row->what);
	}
	if (row->apex)
		assert_int_equal(walk.is_stopped, verdict == NAMES_MAYBE && row->unknown);
}

static void walks(void **state)
{
	struct fixture *f = *state;
	struct zone *z = zone_from("z.test", "b A 192.0.2.1\nf.e A 192.0.2.1\n*.w A 192.0.2.1\n"
					     "k NS ns.other.\nd DNAME other.\n");
	struct names_walk walk;

	names_add_zone(&f->names, z, NULL);
	add_apex(f, "z.test");
	add_apex(f, "s.z.test");
	add_apex(f, "s.k.z.test");
	for (size_t i = 0; i < sizeof(walk_rows) / sizeof(walk_rows[0]); i++)
		check_walk(f, &walk_rows[i]);
	names_end(&f->names);
	assert_int_equal(names_walk(&walk, f->lines, &f->state, (const uint8_t *)"\2no\1z\4test",
				    11),
			 NAMES_NONE);
	zone_free(z);
}

/* The longest name, with the root as an apex. */
static void longest_walk(void **state)
{
	struct fixture *f = *state;
	uint8_t name[256] = { 0 };
	struct names_walk walk;
	unsigned n = 0;

	while (n < 254) {
		name[n++] = 1;
		name[n++] = 'a';
	}
	add_apex(f, ".");
	assert_int_equal(names_walk(&walk, f->lines, &f->state, name, n + 1), NAMES_DENIED);
	assert_int_equal(walk.apex, n);
	assert_int_equal(walk.unknown, n - 2);
	names_add_apex(&f->names, name, n + 1);
	assert_int_equal(names_walk(&walk, f->lines, &f->state, name, n + 1), NAMES_MAYBE);
	assert_int_equal(walk.apex, 0);
}

/* --- Beginning, states ------------------------------------------------------------------------ */

struct waiting {
	struct fixture *f;
	unsigned n;
	int code;
};

/* While programs are waited for, the filter is as it was, and denies nothing. */
static int look(void *user)
{
	struct waiting *w = user;

	w->n++;
	assert_int_equal(w->f->state.id, 0);
	assert_true(fill_of(&w->f->names) > 0);
	return w->code;
}

static void begin(void **state)
{
	struct fixture *f = *state;
	struct volley_names_state before = f->state;
	struct waiting w = { .f = f };

	assert_in_range(before.id, 1, INT32_MAX);
	assert_int_equal(before.n_lines, N_LINES);
	add_apex(f, "z.test");
	names_note_gone(&f->names, 1);
	assert_int_equal(names_begin(&f->names, look, &w), 0);
	assert_int_equal(w.n, 1);
	assert_in_range(f->state.id, 1, INT32_MAX);
	assert_int_not_equal(f->state.id, before.id); /* but once in 2^31 runs */
	assert_memory_not_equal(f->state.keys, before.keys, sizeof(before.keys));
	assert_int_equal(f->state.labels, DNS_LABELS_MAX);
	assert_true(fill_of(&f->names) == 0);
	assert_int_equal(f->names.n_added + f->names.n_gone, 0);
	check_marks(f, "begun", "z.test", "");
}

static void no_grace(void **state)
{
	struct fixture *f = *state;
	struct waiting w = { .f = f, .code = -EIO };

	add_apex(f, "z.test");
	assert_int_equal(names_begin(&f->names, look, &w), -EIO);
	assert_int_equal(names_id(&f->names), 0);
	assert_true(has(f, "no.test", VOLLEY_NAME_EXISTS)); /* no filter: all may exist */
}

static void adopt(void **state)
{
	struct fixture *f = *state;
	struct names next;

	add_apex(f, "z.test");
	names_init(&next, f->lines, N_LINES, &f->state);
	assert_true(names_adopt(&next));
	assert_int_equal(names_id(&next), f->state.id);
	names_init(&next, f->lines, N_LINES / 2, &f->state);
	assert_false(names_adopt(&next)); /* other lines */
	names_end(&f->names);
	names_init(&next, f->lines, N_LINES, &f->state);
	assert_false(names_adopt(&next));
	assert_int_equal(names_id(NULL), 0);
}

/* A resize: the new state has all of the old one, later changes come to both, then the old one is
 * free. */
static void two_states(void **state)
{
	struct fixture *f = *state;

	add_apex(f, "a.b.c.d");
	f->other.id = 7; /* as copied with the cache, and out of date */
	names_set_states(&f->names, &f->state, &f->other);
	assert_memory_equal(&f->other, &f->state, sizeof(f->state));
	add_apex(f, "c.d");
	assert_int_equal(f->state.labels, 2);
	assert_int_equal(f->other.labels, 2);
	assert_int_equal(names_begin(&f->names, no_readers, NULL), 0);
	assert_memory_equal(&f->other, &f->state, sizeof(f->state));
	names_set_states(&f->names, &f->other, NULL);
	memset(&f->state, 0xff, sizeof(f->state));
	add_apex(f, "d");
	assert_int_equal(f->other.labels, 1);
	assert_int_equal(f->state.labels, UINT32_MAX);
	check_marks(f, "resized", "d", "exists marked apex");
}

/* Regions begin with the filter, or alone; both states have their id; a grace period is waited for
 * while that is 0. */
static void intervals(void **state)
{
	struct fixture *f = *state;
	struct zone *z = zone_from("z.test", "@ NSEC ns A\nns NSEC @ A\n");
	struct waiting w = { .f = f };
	struct volley_zone_intervals found;
	uint32_t id;

	names_init(&f->names, f->lines, N_LINES - 64, &f->state);
	assert_int_equal(names_begin_intervals(&f->names, look, &w), 0);
	assert_int_equal(w.n, 0); /* there are none */
	names_init_intervals(&f->names, 64);
	MUST(!names_begin(&f->names, no_readers, NULL));
	id = f->state.intervals_id;
	assert_in_range(id, 1, INT32_MAX);
	names_set_states(&f->names, &f->state, &f->other);
	assert_int_equal(f->other.intervals_id, id);
	names_add_zone(&f->names, z, NULL);
	intervals_of(&f->names.intervals, (const uint8_t *)"\1z\4test", 8, &found);
	assert_int_equal(found.id, id);
	assert_int_equal(found.at, N_LINES - 64);
	assert_int_equal(names_begin_intervals(&f->names, no_readers, NULL), 0);
	intervals_of(&f->names.intervals, (const uint8_t *)"\1z\4test", 8, &found);
	assert_int_equal(found.id, 0);
	assert_int_not_equal(f->state.intervals_id, id); /* but once in 2^31 runs */
	assert_int_equal(f->other.intervals_id, f->state.intervals_id);
	assert_int_equal(f->names.intervals.n_refused, 0);
	names_end(&f->names);
	assert_int_equal(f->other.intervals_id, 0);
	names_fini(&f->names);
	zone_free(z);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(intervals),          cmocka_unit_test(marks),
		TEST(dname_at_the_apex),  TEST(apexes),
		TEST(others_are_unknown), TEST(longest_name),
		cmocka_unit_test(edits),  TEST(edits_in_a_row),
		TEST(names_that_go),      TEST(worn),
		TEST(false_positives),    TEST(walks),
		TEST(longest_walk),       TEST(begin),
		TEST(no_grace),           TEST(adopt),
		TEST(two_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
