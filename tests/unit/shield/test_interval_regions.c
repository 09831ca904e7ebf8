/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions of intervals against a plain sorted array. The points are those of a chain of NSEC3 with
 * hashes at will: no zone asks whether a hash is that of a name, but for the apex.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What a reader loads of a line passes through here, so that a writer can come in between. */
static const unsigned long long *between(const unsigned long long *word);
#define VOLLEY_INTERVALS_LOAD(word) __atomic_load_n(between(word), __ATOMIC_ACQUIRE)

#include "shield/interval_regions.h"
#include "tests/lib/must.h"
#include "tests/unit/zone/zone_text.h"
#include "zone/nsec3_chain.h"

#include "points.h" /* draw.h's seed is behind parameters of that name */

#define FIRST   3u /* lines before those of intervals */
#define N_LINES 8192u
#define LABEL   32u

struct fixture {
	struct volley_names_line lines[FIRST + N_LINES];
	struct intervals in;
};

static int open_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	MUST(f);
	seed = 7;
	intervals_init(&f->in, f->lines, FIRST, N_LINES);
	intervals_begin(&f->in, 1000);
	*state = f;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < FIRST; i++)
		for (unsigned int k = 0; k < 8; k++)
			MUST(!f->lines[i].words[k]);
	intervals_fini(&f->in);
	free(f);
	return 0;
}

/* --- Points, and zones that have them --------------------------------------------------------- */

/* The hash of z.test with the salt AB. */
static const uint8_t *apex_hash(void)
{
	static const struct nsec3_params params = { .salt_bytes = 1, .salt = { 0xab } };
	static struct nsec3_label hash;
	uint8_t wire[256];

	wire_of(wire, "z.test");
	nsec3_hash(&params, wire, &hash);
	return hash.label + 1;
}

static uint64_t apex_point(void)
{
	const uint8_t *digits = apex_hash();
	uint64_t point = 0;

	for (unsigned int i = 0; i < 16; i++) { /* 80 bits, the first of which are lost */
		uint64_t digit = digits[i] >= 'a' ? digits[i] - 'a' + 10u : digits[i] - 48u;

		if (i == 12)
			return point << 4 | digit >> 1;
		point = point << 5 | digit;
	}
	return point;
}

/* The point and 96 bits of zeros behind it in base32hex; of the apex the hash itself. */
static const char *label_of(uint64_t point, char label[static LABEL + 1])
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";

	memset(label, '0', LABEL);
	label[LABEL] = '\0';
	for (unsigned int i = 0; i < 12; i++)
		label[i] = digits[point >> (59 - 5 * i) & 31];
	label[12] = digits[(point & 15) << 1];
	if (point == apex_point())
		memcpy(label, apex_hash(), LABEL);
	return label;
}

static void begin_points(struct points *p, size_t n)
{
	p->n = 0;
	insert(p, apex_point());
	while (p->n < n)
		insert(p, draw_point());
}

static struct zone *zone_with(const struct points *p)
{
	char label[LABEL + 1], next[LABEL + 1];
	struct zone *z;
	size_t bytes;
	char *text;
	FILE *file = open_memstream(&text, &bytes);

	fputs(ZONE_HEAD "@ NSEC3PARAM 1 0 0 ab\n", file);
	for (size_t i = 0; i < p->n; i++)
		fprintf(file, "%s NSEC3 1 0 0 ab %s A\n", label_of(p->at[i], label),
			label_of(p->at[(i + 1) % p->n], next));
	fclose(file);
	z = zone_of("z.test", text);
	assert_int_equal(zone_chain(z), ZONE_CHAIN_NSEC3);
	free(text);
	return z;
}

static struct volley_zone_intervals region_of(const struct fixture *f)
{
	struct volley_zone_intervals found;
	uint8_t wire[256];
	unsigned int n = wire_of(wire, "z.test");

	intervals_of(&f->in, wire, n, &found);
	return found;
}

static int find(const struct fixture *f, uint64_t point, uint64_t *start)
{
	struct volley_zone_intervals r = region_of(f);

	return intervals_find(f->lines, FIRST + N_LINES, r.at, r.id, point, start);
}

static int add(struct fixture *f, const struct points *p, const struct points *before)
{
	struct zone *z = zone_with(p), *old = before ? zone_with(before) : NULL;
	int err = intervals_add_zone(&f->in, z, old);

	zone_free(z);
	zone_free(old);
	return err;
}

/* --- What is found ---------------------------------------------------------------------------- */

/* A point of the set is uncertain; the others as in the array. 1: marks may make it uncertain. */
static int check_point(const struct fixture *f, const struct points *p, uint64_t point)
{
	uint64_t start = 1;
	int is_uncertain = find(f, point, &start);

	if (has(p, point) || !point || point == UINT64_MAX)
		assert_int_equal(is_uncertain, 1);
	else if (!is_uncertain)
		assert_int_equal(start, start_of(p, point));
	else
		return 1;
	return 0;
}

/* Each point, its neighbours and others: how many are uncertain without need. */
static unsigned int check_points(const struct fixture *f, const struct points *p)
{
	unsigned int n =
		(unsigned int)check_point(f, p, 0) + (unsigned int)check_point(f, p, UINT64_MAX);

	for (size_t i = 0; i < p->n; i++)
		for (unsigned int k = 0; k < 3; k++)
			n += (unsigned int)check_point(f, p, p->at[i] - 1 + k);
	for (unsigned int i = 0; i < 2000; i++)
		n += (unsigned int)check_point(f, p, draw_point());
	return n;
}

static struct points points, before;

static void build_and_find(void **state)
{
	/* points; levels; lines with the head */
	static const uint32_t rows[][3] = { { 1, 1, 2 },      { 2, 1, 2 },     { 5, 1, 2 },
					    { 6, 2, 4 },      { 45, 2, 11 },   { 46, 3, 14 },
					    { 405, 3, 92 },   { 406, 4, 96 },  { 407, 4, 96 },
					    { 3645, 4, 821 }, { 3646, 5, 826 } };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct volley_intervals_head *head;
		uint32_t used;

		intervals_begin(&f->in, 1000);
		used = f->in.used;
		begin_points(&points, rows[i][0]);
		assert_int_equal(add(f, &points, NULL), 0);
		head = (const void *)&f->lines[region_of(f).at];
		assert_int_equal(head->n_levels, rows[i][1]);
		assert_int_equal(head->kind, VOLLEY_INTERVALS_NSEC3);
		assert_int_equal(head->salt_bytes, 1);
		assert_int_equal(head->salt[0], 0xab);
		assert_int_equal(f->in.used - used, rows[i][2]);
		assert_int_equal(check_points(f, &points), 0);
	}
}

/* The greatest and the least that points can be, and words that only differ in their last bit. */
static void extremes(void **state)
{
	struct fixture *f = *state;

	begin_points(&points, 1);
	for (uint64_t i = 1; i < 40; i++) {
		insert(&points, i);
		insert(&points, UINT64_MAX - i);
		insert(&points, (1ull << 63) - 20 + i);
	}
	assert_int_equal(add(f, &points, NULL), 0);
	assert_int_equal(check_points(f, &points), 0);
}

/* Neither 0 nor ~0 becomes a point, and nothing is written behind the region; hashes may be so. */
static void no_points(void **state)
{
	struct fixture *f = *state;

	begin_points(&points, 60);
	insert(&points, 0);
	insert(&points, UINT64_MAX);
	assert_int_equal(add(f, &points, NULL), 0);
	take_out(&points, 0);
	take_out(&points, UINT64_MAX);
	assert_int_equal(check_points(f, &points), 0);
	before = points;
	insert(&points, 0);
	insert(&points, UINT64_MAX);
	assert_int_equal(add(f, &points, &before), 0);
	assert_int_equal(check_points(f, &before), 0);
	for (uint32_t i = f->in.used; i < N_LINES; i++)
		for (unsigned int k = 0; k < 8; k++)
			assert_int_equal(f->lines[FIRST + i].words[k], 0);
}

static bool fills_most(struct fixture *f, struct intervals_region *r, uint64_t n, uint64_t lines)
{
	r->n_points = n;
	f->in.n_lines = (uint32_t)lines / 3 * 4;
	f->in.n_refused = 1;
	return !intervals_are_worn(&f->in);
}

/* A point takes some 14.4 octets: a line of 64 for each 5, and an inner line for each 9 lines. */
static void octets_for_a_point(void **state)
{
	const uint64_t most = 5ull * 9 * 9 * 9 * 9 * 9 * 9 * 9; /* in 8 levels; more have no room */
	struct fixture *f = *state;
	struct intervals_region *r;

	begin_points(&points, 10000);
	assert_int_equal(add(f, &points, NULL), 0);
	for (r = f->in.regions; !r->n_points;)
		r++;
	for (uint64_t n = 10000; n <= 10000000; n *= 10) {
		assert_true(fills_most(f, r, n, n * 14400 / 64000));
		assert_false(fills_most(f, r, n, n * 14420 / 64000 + 3));
	}
	assert_true(fills_most(f, r, most, 3));
	assert_false(fills_most(f, r, most + 1, 3));
}

/* --- What is added ---------------------------------------------------------------------------- */

static void first_to_last_free(void **state)
{
	struct fixture *f = *state;
	struct volley_zone_intervals r;

	begin_points(&points, 5);
	assert_int_equal(add(f, &points, NULL), 0);
	r = region_of(f);
	for (unsigned int i = 0; i < 3; i++) { /* to 8: the leaf is full */
		before = points;
		while (points.n == before.n)
			insert(&points, draw_point());
		assert_int_equal(add(f, &points, &before), 0);
		assert_int_equal(region_of(f).id, r.id);
		assert_int_equal(check_points(f, &points), 0);
	}
	before = points;
	insert(&points, draw_point());
	assert_int_equal(add(f, &points, &before), 0);
	assert_int_not_equal(region_of(f).id, r.id); /* one of one leaf is marked */
	assert_int_not_equal(region_of(f).at, r.at);
	assert_int_equal(((const struct volley_intervals_head *)&f->lines[r.at])->id, 0);
	assert_int_equal(check_points(f, &points), 0);
}

/* However many points find no room in it, it is one of a hundred leaves; all else is certain. */
static void one_full_leaf(void **state)
{
	struct fixture *f = *state;
	unsigned int n_uncertain;
	uint64_t start;
	uint32_t id;

	begin_points(&points, 500);
	assert_int_equal(add(f, &points, NULL), 0);
	id = region_of(f).id;
	for (uint64_t i = 1; i < 20; i++) {
		before = points;
		insert(&points, points.at[40] + i);
		assert_int_equal(add(f, &points, &before), 0);
	}
	assert_int_equal(region_of(f).id, id);
	assert_int_equal(find(f, points.at[40] + 1000, &start), 1);
	n_uncertain = check_points(f, &points);
	assert_in_range(n_uncertain, 10,
			100); /* some 10 of its points' neighbours, and a hundredth of the others */
}

/* Removed points stay until the region is built anew. Points of all versions are there. */
static void versions(void **state)
{
	static struct points all;
	struct fixture *f = *state;
	unsigned int n_uncertain = 0, n_built = 0;

	begin_points(&points, 400);
	assert_int_equal(add(f, &points, NULL), 0);
	all = points;
	for (unsigned int k = 0; k < 60; k++) {
		uint32_t id = region_of(f).id;

		before = points;
		for (unsigned int i = 0; i < 12; i++)
			insert(&points, draw_point());
		for (unsigned int i = 0; i < 4; i++) {
			uint64_t point = points.at[draw((unsigned int)points.n)];

			if (point != apex_point())
				take_out(&points, point);
		}
		assert_int_equal(add(f, &points, &before), 0);
		for (size_t i = 0; i < points.n; i++)
			insert(&all, points.at[i]);
		if (region_of(f).id != id)
			all = points;
		n_built += region_of(f).id != id;
		n_uncertain += check_points(f, &all);
	}
	assert_in_range(n_built, 2, 6);
	/* Of 60 times some 5,000; up to a 32nd may be marked. */
	assert_in_range(n_uncertain, 1, 60 * 5000 / 32);
}

static void the_same_again(void **state)
{
	struct fixture *f = *state;
	static struct fixture copy;

	begin_points(&points, 100);
	assert_int_equal(add(f, &points, NULL), 0);
	copy = *f;
	assert_int_equal(add(f, &points, NULL), 0);
	assert_int_equal(add(f, &points, &points), 0);
	assert_memory_equal(f->lines, copy.lines, sizeof(f->lines));
}

/* A version with a new region was never served: the points of the served version count. */
static void a_version_that_was_not_served(void **state)
{
	struct fixture *f = *state;
	uint64_t last = UINT64_MAX - 1000;
	static struct points served;

	begin_points(&served, 1);
	insert(&served, 1);
	insert(&served, last - 1);
	insert(&served, last);
	assert_int_equal(add(f, &served, NULL), 0);
	points = served;
	take_out(&points, last);
	for (uint64_t i = 0; i < 6; i++)
		insert(&points, 100 + i);
	assert_int_equal(add(f, &points, &served), 0);
	assert_int_equal(check_points(f, &points), 0); /* `last` is not there */
	insert(&points, last);
	assert_int_equal(add(f, &points, &served), 0);
	assert_int_equal(check_points(f, &points), 0);
}

static void no_room(void **state)
{
	struct fixture *f = *state;
	struct volley_zone_intervals r;
	uint64_t start;

	f->in.n_lines = 3; /* for one region of one leaf, and half of another */
	begin_points(&points, 5);
	assert_int_equal(add(f, &points, NULL), 0);
	r = region_of(f);
	before = points;
	begin_points(&points, 9);
	assert_int_equal(add(f, &points, &before), -ENOSPC);
	assert_int_equal(region_of(f).id, r.id);
	assert_int_equal(find(f, draw_point(), &start), 1); /* marked */
	intervals_begin(&f->in, 2000);
	assert_int_equal(add(f, &points, NULL), -ENOSPC);
	assert_int_equal(region_of(f).id, 0);
	f->in.n_lines = 0;
	intervals_begin(&f->in, 3000);
	assert_int_equal(add(f, &points, NULL), 0);
	assert_int_equal(region_of(f).id, 0);
}

/* Replaced regions take room until all begins anew. A zone that is too large never has room. */
static void worn(void **state)
{
	struct fixture *f = *state;
	unsigned int n = 0;

	f->in.n_lines = 16;
	begin_points(&points, 5);
	assert_int_equal(add(f, &points, NULL), 0);
	while (!f->in.n_refused && n++ < 200) {
		assert_false(intervals_are_worn(&f->in));
		begin_points(&points, 5);
		(void)!add(f, &points, NULL);
	}
	assert_int_equal(f->in.n_refused, 1);
	assert_true(intervals_are_worn(&f->in));
	intervals_begin(&f->in, 2000);
	assert_false(intervals_are_worn(&f->in));
	begin_points(&points, 90);
	assert_int_equal(add(f, &points, NULL), -ENOSPC);
	assert_false(intervals_are_worn(&f->in));
}

/* A zone that went has no region, and is not in the way. */
static void a_zone_that_goes(void **state)
{
	struct fixture *f = *state;
	struct volley_zone_intervals r;
	uint64_t start;

	begin_points(&points, 20);
	assert_int_equal(add(f, &points, NULL), 0);
	r = region_of(f);
	intervals_end_zone(&f->in, (const uint8_t *)"\1z\4test", 8);
	assert_int_equal(region_of(f).id, 0);
	assert_int_equal(intervals_find(f->lines, f->in.first + f->in.n_lines, r.at, r.id,
					draw_point(), &start),
			 1);
	f->in.n_refused = 1;
	assert_true(intervals_are_worn(&f->in));
	intervals_end_zone(&f->in, (const uint8_t *)"\1y\4test", 8); /* none */
}

/* --- Which zones have a region ---------------------------------------------------------------- */

#define CHAIN "@ NSEC a A\na A 192.0.2.1\na NSEC ns A\nns NSEC @ A\n"

static uint32_t id_after(struct fixture *f, const char *lines)
{
	char text[2048];
	struct zone *z;

	snprintf(text, sizeof(text), "%s%s", ZONE_HEAD, lines);
	z = zone_of("z.test", text);
	assert_int_equal(intervals_add_zone(&f->in, z, NULL), 0);
	zone_free(z);
	return region_of(f).id;
}

/* The apex alone, with this salt and so many iterations. */
static uint32_t id_of_nsec3(struct fixture *f, const char *salt, unsigned int salt_bytes,
			    unsigned int iterations)
{
	struct nsec3_params params = { .iterations = (uint16_t)iterations,
				       .salt_bytes = (uint8_t)salt_bytes };
	struct nsec3_label hash;
	uint8_t wire[256];
	char lines[512];

	memset(params.salt, 0xab, salt_bytes);
	wire_of(wire, "z.test");
	nsec3_hash(&params, wire, &hash);
	snprintf(lines, sizeof(lines), "@ NSEC3PARAM 1 0 %u %s\n%.32s NSEC3 1 0 %u %s %.32s A\n",
		 iterations, salt, hash.label + 1, iterations, salt, hash.label + 1);
	return id_after(f, lines);
}

static void kinds(void **state)
{
	struct fixture *f = *state;
	uint32_t id;

	assert_int_equal(id_after(f, ""), 0);
	id = id_after(f, CHAIN);
	assert_int_equal(id, 1000);
	assert_int_equal(id_after(f, CHAIN), id);
	assert_int_equal(id_after(f, "@ NSEC a A\na A 192.0.2.1\na NSEC b A\nns NSEC @ A\n"), 0);
	assert_int_equal(id_after(f, CHAIN), id + 1);
	assert_int_equal(id_of_nsec3(f, "-", 0, 0), id + 2);
	assert_int_equal(id_of_nsec3(f, "-", 0, 0), id + 2);
	assert_int_equal(id_of_nsec3(f, "ab", 1, 0), id + 3);
	assert_int_equal(id_of_nsec3(f, "abab", 2, 0), id + 4);
	assert_int_equal(id_of_nsec3(f, "abababababababab", 8, 0), id + 5);
	assert_int_equal(id_of_nsec3(f, "ababababababababab", 9, 0), 0);
	assert_int_equal(id_of_nsec3(f, "-", 0, 1), 0);
	assert_int_equal(id_after(f, CHAIN), id + 6);
	assert_int_equal(id_after(f, ""), 0);
	f->in.next_id = INT32_MAX;
	assert_int_equal(id_after(f, CHAIN), INT32_MAX);
	assert_int_equal(id_after(f, ""), 0);
	assert_int_equal(id_after(f, CHAIN), 1);
}

static void many_zones(void **state)
{
	struct fixture *f = *state;
	uint32_t ids[200];

	for (unsigned int i = 0; i < 200; i++) {
		struct volley_zone_intervals found;
		uint8_t wire[256];
		char name[32];
		struct zone *z;

		snprintf(name, sizeof(name), "z%u.Test", i);
		z = zone_of(name, ZONE_HEAD CHAIN);
		assert_int_equal(intervals_add_zone(&f->in, z, NULL), 0);
		zone_free(z);
		intervals_of(&f->in, wire, wire_of(wire, name), &found);
		ids[i] = found.id;
		assert_int_equal(found.id, 1000 + i);
		assert_int_equal(found.kind, VOLLEY_INTERVALS_NSEC);
	}
	for (unsigned int i = 0; i < 200; i++) {
		struct volley_zone_intervals found;
		uint8_t wire[256];
		char name[32];

		snprintf(name, sizeof(name), "z%u.test", i);
		intervals_of(&f->in, wire, wire_of(wire, name), &found);
		assert_int_equal(found.id, ids[i]);
	}
	intervals_begin(&f->in, 5000);
	assert_int_equal(region_of(f).id, 0);
	assert_int_equal(f->in.used, 0);
}

/* What an id says is not taken for true where it leads out of the map. */
static void damage(void **state)
{
	struct fixture *f = *state;
	struct volley_zone_intervals r;
	struct volley_intervals_head *head;
	uint64_t start;

	begin_points(&points, 100);
	assert_int_equal(add(f, &points, NULL), 0);
	r = region_of(f);
	head = (void *)&f->lines[r.at];
#define FIND(at, id) intervals_find(f->lines, FIRST + N_LINES, at, id, 77, &start)
	assert_int_equal(FIND(r.at, r.id), 0);
	assert_int_equal(FIND(r.at, r.id + 1), 1);
	assert_int_equal(FIND(r.at, 0), 1);
	assert_int_equal(FIND(r.at + 1, r.id), 1);
	assert_int_equal(FIND(FIRST + N_LINES, r.id), 1);
	head->level_at[1] = FIRST + N_LINES;
	assert_int_equal(FIND(r.at, r.id), 1);
	head->level_at[1] = UINT32_MAX;
	assert_int_equal(FIND(r.at, r.id), 1);
#undef FIND
}

/* --- Readers beside the writer ---------------------------------------------------------------- */

/* Of a writer that adds up to 3 points while a leaf is read: before which load each comes. */
static struct {
	__u64 *words; /* NULL: nobody writes */
	unsigned int n_loads, n_added;
	unsigned int when[3]; /* ascending */
	uint64_t added[3];
} writer;

static const unsigned long long *between(const unsigned long long *word)
{
	if (!writer.words)
		return word;
	for (; writer.n_added < 3 && writer.when[writer.n_added] == writer.n_loads;
	     writer.n_added++)
		writer.words[5 + writer.n_added] = writer.added[writer.n_added];
	writer.n_loads++;
	return word;
}

/* A leaf of 5 points is read while 3 come in any order: the start is right at some moment. */
static void check_order(const unsigned int when[3], const uint64_t added[3])
{
	static struct points set;
	struct volley_names_line leaf = { { 10, 20, 30, 40, 50 } };
	bool is_true = false;
	__u64 start;

	memset(&writer, 0, sizeof(writer));
	memcpy(writer.when, when, sizeof(writer.when));
	memcpy(writer.added, added, sizeof(writer.added));
	writer.words = leaf.words;
	assert_int_equal(volley_intervals_before(&leaf, 49, &start), 0);
	writer.words = NULL;
	assert_int_equal(writer.n_loads, 8); /* each word once */
	set.n = 0;
	for (unsigned int i = 0; i < 5; i++)
		insert(&set, leaf.words[i]);
	for (unsigned int i = 0; i <= 3; i++) {
		is_true |= start == start_of(&set, 49);
		if (i < 3)
			insert(&set, added[i]);
	}
	assert_true(is_true);
}

static void order_in_a_leaf(void **state)
{
	static const uint64_t orders[][3] = { { 41, 42, 43 }, { 41, 43, 42 }, { 42, 41, 43 },
					      { 42, 43, 41 }, { 43, 41, 42 }, { 43, 42, 41 },
					      { 15, 45, 25 }, { 99, 45, 41 } };
	unsigned int when[3];

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		for (when[0] = 0; when[0] < 9; when[0]++)
			for (when[1] = when[0]; when[1] < 9; when[1]++)
				for (when[2] = when[1]; when[2] < 9; when[2]++)
					check_order(when, orders[i]);
}

#define N_VERSIONS 50u

static struct {
	struct fixture *f;
	struct points sets[N_VERSIONS];
	struct zone *zones[N_VERSIONS];
	uint32_t at, id;        /* as of the version that is served */
	uint32_t begun, served; /* versions */
} beside;

static void *add_versions(void *arg)
{
	(void)arg;
	for (uint32_t k = 1; k < N_VERSIONS; k++) {
		struct volley_zone_intervals r;

		__atomic_store_n(&beside.begun, k, __ATOMIC_SEQ_CST);
		MUST(!intervals_add_zone(&beside.f->in, beside.zones[k], beside.zones[k - 1]));
		r = region_of(beside.f);
		__atomic_store_n(&beside.id, 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&beside.at, r.at, __ATOMIC_SEQ_CST);
		__atomic_store_n(&beside.id, r.id, __ATOMIC_SEQ_CST);
		__atomic_store_n(&beside.served, k, __ATOMIC_SEQ_CST);
		for (volatile unsigned int i = 0; i < 20000; i++)
			;
	}
	return NULL;
}

/* A start is of the served version or of the next one, and not below that of the first. */
static void look_beside(unsigned long *n_certain)
{
	uint32_t served = __atomic_load_n(&beside.served, __ATOMIC_SEQ_CST), begun;
	uint32_t id = __atomic_load_n(&beside.id, __ATOMIC_SEQ_CST);
	uint32_t at = __atomic_load_n(&beside.at, __ATOMIC_SEQ_CST);
	uint64_t point = draw_point(), start;

	if (intervals_find(beside.f->lines, FIRST + N_LINES, at, id, point, &start))
		return;
	begun = __atomic_load_n(&beside.begun, __ATOMIC_SEQ_CST);
	MUST(start >= start_of(&beside.sets[served], point));
	MUST(start <= start_of(&beside.sets[begun], point));
	MUST(!start || has(&beside.sets[begun], start));
	++*n_certain;
}

static void reader_beside_writer(void **state)
{
	unsigned long n_certain = 0;
	pthread_t thread;

	beside.f = *state;
	begin_points(&points, 300);
	for (uint32_t k = 0; k < N_VERSIONS; k++) {
		beside.sets[k] = points;
		beside.zones[k] = zone_with(&points);
		for (unsigned int i = 0; i < 15; i++)
			insert(&points, draw_point());
	}
	assert_int_equal(intervals_add_zone(&beside.f->in, beside.zones[0], NULL), 0);
	beside.at = region_of(beside.f).at;
	beside.id = region_of(beside.f).id;
	beside.begun = beside.served = 0;
	MUST(!pthread_create(&thread, NULL, add_versions, NULL));
	while (__atomic_load_n(&beside.served, __ATOMIC_SEQ_CST) < N_VERSIONS - 1)
		look_beside(&n_certain);
	pthread_join(thread, NULL);
	assert_true(n_certain > 100);
	for (uint32_t k = 0; k < N_VERSIONS; k++)
		zone_free(beside.zones[k]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(build_and_find),
		TEST(extremes),
		TEST(no_points),
		TEST(octets_for_a_point),
		TEST(first_to_last_free),
		TEST(one_full_leaf),
		TEST(versions),
		TEST(the_same_again),
		TEST(a_version_that_was_not_served),
		TEST(no_room),
		TEST(worn),
		TEST(a_zone_that_goes),
		TEST(kinds),
		TEST(many_zones),
		TEST(damage),
		cmocka_unit_test(order_in_a_leaf),
		TEST(reader_beside_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
