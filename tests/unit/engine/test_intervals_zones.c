/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What intervals are for: over signed zones at random, and versions of them, each two names that do
 * not exist and have the same closest encloser and the same start have the same proofs. The region
 * was never built for a version but the first, or when it was
 * full: each later version only added what differs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shield/interval_regions.h"
#include "tests/lib/must.h"
#include "tests/unit/zone/zone_text.h"
#include "zone/changeset.h"
#include "zone/denial.h"
#include "zone/diff.h"
#include "zone/edit.h"
#include "zone/nsec3_chain.h"

#define SIGNING_ITERATIONS 0
#include "tests/unit/engine/signing.h"

#include "tests/lib/draw.h" /* its seed is behind parameters of that name */

#define N_ZONES    30u
#define N_VERSIONS 6u
#define N_QUERIES  400u
#define N_LINES    4096u
#define LINES_MAX  60u

/* Of few labels, so that parents, wildcards, cuts, empty non-terminals and labels of the same 8
 * octets meet. */
static const char *const labels[] = {
	"a",
	"b",
	"B",
	"m",
	"*",
	"\\000",
	"\\000\\000",
	"\\255",
	"a\\000",
	"abcdefgh",
	"abcdefghi",
	"abcdefghz",
	"abcdefg",
	"ABCDEFGH0",
	"abcdefg\\000",
	"zz",
	"-",
	"\\@x",
	"\\[",
	"host1",
	"host2",
	"\\255\\255\\255\\255\\255\\255\\255\\255",
	"\\255\\255\\255\\255\\255\\255\\255\\255a",
};

struct text {
	enum zone_chain chain;
	bool opt_out;
	unsigned int serial, n;
	char lines[LINES_MAX][256];
};

/* Up to 3 labels, and the apex. */
static void random_owner(char *to)
{
	to[0] = '\0';
	for (unsigned int n = 1 + draw(3); n--;)
		strcat(strcat(to, labels[draw(sizeof(labels) / sizeof(labels[0]))]), ".");
	strcat(to, "z.");
}

static void random_line(char *line)
{
	static const char *const rdata[] = { "A 192.0.2.1", "A 192.0.2.1",  "TXT x",
					     "NS a",        "DS 1 13 2 00", "DNAME x." };
	char owner[200];

	random_owner(owner);
	snprintf(line, 256, "%s %s\n", owner, rdata[draw(6)]);
}

/* NULL: these lines are no zone. */
static struct zone *load_signed(const struct text *t)
{
	struct signing s = { .chain = t->chain, .opt_out = t->opt_out };
	struct zone *plain, *z = NULL;
	struct zone_error err;
	size_t bytes;
	char *text;

	s.f = open_memstream(&text, &bytes);
	fprintf(s.f, "$TTL 300\nz. SOA a host %u 2 3 4 60\nz. NS a\n", t->serial);
	for (unsigned int i = 0; i < t->n; i++)
		fputs(t->lines[i], s.f);
	fflush(s.f);
	if (!load_text(&plain, "z", text, &err)) {
		s.z = plain;
		signing_write(&s);
		fflush(s.f);
		z = zone_of("z", text);
		assert_int_equal(zone_chain(z), t->chain);
		zone_free(plain);
	}
	fclose(s.f);
	free(text);
	return z;
}

static void remove_line(struct text *t, unsigned int i)
{
	t->n--;
	memmove(t->lines[i], t->lines[i + 1], (t->n - i) * sizeof(t->lines[0]));
}

/* Some lines come and go, until that is a zone. */
static struct zone *mutate(struct text *t, unsigned int n_changes)
{
	struct zone *z = NULL;

	while (!z) {
		struct text next = *t;

		for (unsigned int n = 1 + draw(n_changes); n--;) {
			if (next.n == LINES_MAX || (next.n && !draw(3)))
				remove_line(&next, draw(next.n));
			else
				random_line(next.lines[next.n++]);
		}
		next.serial++;
		z = load_signed(&next);
		if (z)
			*t = next;
	}
	return z;
}

/* The lines one after the other, so that few of them clash. */
static struct zone *first_zone(struct text *t)
{
	struct zone *z = load_signed(t);

	while (t->n < 20) {
		zone_free(z);
		z = mutate(t, 1);
	}
	return z;
}

/* `old` edited to be as `next`, which is freed. */
static struct zone *edit_to(struct zone *old, struct zone *next)
{
	struct zone_edit *edit;
	struct changeset net;
	struct zone_error err;
	struct zone *z;

	changeset_init(&net);
	MUST(!zone_difference(old, next, ZONE_DIFFERENCE_MAX, &net));
	MUST(!zone_edit_begin(&edit, old));
	if (zone_edit_apply(edit, &net, &err))
		fail_msg("%s", err.sentence);
	if (zone_edit_finish(edit, &z, NULL, &err))
		fail_msg("%s", err.sentence);
	changeset_fini(&net);
	zone_free(next);
	return z;
}

/* --- Denials by interval ---------------------------------------------------------------------- */

struct seen {
	const struct zone_node *encloser;
	uint64_t start;
	struct zone_denial denial;
	char name[NAME_TEXT_MAX];
};

static struct fixture {
	struct volley_names_line lines[N_LINES];
	struct intervals in;
	struct seen seen[N_QUERIES];
	unsigned int n_seen, n_denied, n_shared, n_uncertain;
} f;

/* Of the name one label longer than the encloser. */
static uint64_t point_of(const struct zone *z, const uint8_t *name)
{
	uint64_t point = 0;
	struct nsec3_label hash;

	if (zone_chain(z) == ZONE_CHAIN_NSEC)
		return volley_intervals_label_point(name + 1, name[0] < 8 ? name[0] : 8);
	nsec3_hash(z->nsec3_params, name, &hash);
	for (unsigned int i = 1; i <= 13; i++) {
		uint8_t c = hash.label[i];
		unsigned int digit = c >= 'a' ? c - 'a' + 10u : c - 48u;

		point = i < 13 ? point << 5 | digit : point << 4 | digit >> 1;
	}
	return point;
}

static bool is_same(const struct zone_denial *a, const struct zone_denial *b)
{
	bool same = a->n == b->n;

	for (unsigned int i = 0; same && i < a->n; i++)
		same = a->proof[i].node == b->proof[i].node &&
		       a->proof[i].rrset == b->proof[i].rrset;
	return same;
}

static void check_denial(const struct seen *now)
{
	for (unsigned int i = 0; i < f.n_seen; i++) {
		const struct seen *s = &f.seen[i];

		if (s->encloser != now->encloser || s->start != now->start)
			continue;
		f.n_shared++;
		if (!is_same(&s->denial, &now->denial))
			fail_msg("%s and %s have other proofs", s->name, now->name);
		return;
	}
	f.seen[f.n_seen++] = *now;
}

/* As an owner, or one label that is likely to be new, below the apex or below an owner. */
static void random_name(char *to)
{
	static const char octets[] = "0abhmz-";
	unsigned int n = 1 + draw(9), i = 0;

	if (!draw(4)) {
		random_owner(to);
		return;
	}
	while (i < n)
		to[i++] = octets[draw(sizeof(octets) - 1)];
	to[i++] = '.';
	if (draw(2))
		random_owner(to + i);
	else
		strcpy(to + i, "z.");
}

static void ask(const struct zone *z, const struct volley_zone_intervals *r)
{
	struct zone_result found;
	struct seen now;
	const uint8_t *next;
	uint8_t wire[256];
	unsigned int n, n_labels;

	random_name(now.name);
	n = wire_of(wire, now.name);
	zone_find(z, wire, n, DNS_TYPE_A, &found);
	if (found.status != ZONE_NXDOMAIN)
		return;
	f.n_denied++;
	zone_denial(z, wire, n, &found, &now.denial);
	now.encloser = found.encloser;
	n_labels = name_n_labels(wire) - 1; /* below the apex */
	next = name_skip_labels(wire, n_labels - found.encloser->depth - 1);
	if (intervals_find(f.lines, N_LINES, r->at, r->id, point_of(z, next), &now.start))
		f.n_uncertain++;
	else
		check_denial(&now);
}

static void check_version(const struct zone *z)
{
	struct volley_zone_intervals r;

	intervals_of(&f.in, (const uint8_t *)"\1z", 3, &r);
	assert_int_not_equal(r.id, 0);
	f.n_seen = 0;
	for (unsigned int i = 0; i < N_QUERIES; i++)
		ask(z, &r);
}

/* Zones that are edited, or read anew; sometimes a version in between was never added. */
static void check_zones(enum zone_chain chain, bool opt_out)
{
	f.n_denied = f.n_shared = f.n_uncertain = 0;
	seed = 11;
	for (unsigned int i = 0; i < N_ZONES; i++) {
		struct text t = { .chain = chain, .opt_out = opt_out, .serial = 1 };
		struct zone *z = first_zone(&t), *old;

		intervals_init(&f.in, f.lines, 0, N_LINES);
		intervals_begin(&f.in, 1 + draw(1000));
		assert_int_equal(intervals_add_zone(&f.in, z, NULL), 0);
		check_version(z);
		for (unsigned int k = 0; k < N_VERSIONS; k++) {
			bool is_edit = draw(4);

			old = z;
			z = mutate(&t, 4);
			if (is_edit)
				z = edit_to(old, z);
			assert_int_equal(intervals_add_zone(&f.in, z, draw(8) ? old : NULL), 0);
			check_version(z);
			zone_free(old);
		}
		zone_free(z);
		intervals_fini(&f.in);
	}
	print_message("%u denied, %u as another, %u uncertain\n", f.n_denied, f.n_shared,
		      f.n_uncertain);
	assert_true(f.n_denied > N_ZONES * N_VERSIONS * 50);
	assert_true(f.n_shared > f.n_denied / 5);
}

static void nsec(void **state)
{
	(void)state;
	check_zones(ZONE_CHAIN_NSEC, false);
}

static void nsec3(void **state)
{
	(void)state;
	check_zones(ZONE_CHAIN_NSEC3, false);
}

static void opt_out(void **state)
{
	(void)state;
	check_zones(ZONE_CHAIN_NSEC3, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nsec),
		cmocka_unit_test(nsec3),
		cmocka_unit_test(opt_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
