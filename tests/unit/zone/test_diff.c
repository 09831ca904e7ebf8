/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone_diff() on random pairs of zones against its purpose: an answer that differs between the two,
 * of whatever name and type, must be withdrawn by some change that was reported, and only names
 * that differ are reported. Then what single changes are reported as.
 */
#include <errno.h>
#include <stdlib.h>

#include "zone/diff.h"
#include "tests/lib/draw.h"
#include "tests/lib/zonenode.h"
#include "tests/unit/zone/random_owner.h"
#include "zone_text.h"

#define N_PAIRS   3000
#define N_QUERIES 80
#define CHANGES   64

/* --- What was reported --- */

struct change {
	enum zone_change_kind kind;
	uint8_t owner[256], below[256];
	bool negatives, subtree, soa, ns;
};

struct changes {
	struct change at[CHANGES];
	unsigned n;
};

static int collect(void *context, const struct zone_change *c)
{
	struct changes *all = context;
	struct change *to = &all->at[all->n++];

	assert_true(all->n <= CHANGES);
	assert_int_equal(c->owner_bytes, name_bytes(c->owner));
	assert_int_equal(!c->old_node, c->kind == ZONE_CHANGE_ADDED);
	assert_int_equal(!c->new_node, c->kind == ZONE_CHANGE_REMOVED);
	*to = (struct change){ .kind = c->kind,
			       .negatives = c->negatives,
			       .subtree = c->subtree,
			       .soa = c->soa,
			       .ns = c->ns };
	memcpy(to->owner, c->owner, c->owner_bytes);
	if (c->subtree)
		memcpy(to->below, c->below, c->below_bytes);
	/* In canonical order, each name once. */
	assert_true(all->n < 2 || name_canonical_cmp(to[-1].owner, to->owner) < 0);
	return 0;
}

static bool withdrawn(const struct changes *all, const uint8_t *qname)
{
	for (unsigned i = 0; i < all->n; i++)
		if (name_equal(all->at[i].owner, qname) ||
		    (all->at[i].subtree && name_is_under(qname, all->at[i].below)))
			return true;
	return false;
}

/* --- Random pairs --- */

static const char *const labels[RANDOM_OWNER_LABELS] = { "*", "a", "b", "aa", "C" };

static void random_line(char *dst)
{
	static const char *const data[] = { "A 192.0.2.1",   "A 192.0.2.2", "TXT a",
					    "NS ns.other.",  "NS ns",       "CNAME a",
					    "DNAME b.other." };
	char owner[64];

	random_owner(owner, labels, 3);
	sprintf(dst, "%s %s\n", owner, data[draw(7)]);
}

/* Two texts that share most lines; false when one is no zone. */
static bool random_pair(struct zone *z[2])
{
	char text[2][2048], line[128];
	struct zone_error err;

	strcpy(text[0], ZONE_HEAD);
	strcpy(text[1], ZONE_HEAD);
	for (unsigned n = draw(10); n--;) {
		unsigned which = draw(8);

		random_line(line);
		if (which != 0)
			strcat(text[0], line);
		if (which != 1)
			strcat(text[1], line);
	}
	if (load_text(&z[0], "z", text[0], &err))
		return false;
	if (!load_text(&z[1], "z", text[1], &err))
		return true;
	zone_free(z[0]);
	return false;
}

/* Pair i and what is reported of it; false: one of them is no zone. */
static bool diff_pair(unsigned i, struct zone *z[2], struct changes *all)
{
	seed = i;
	if (!random_pair(z))
		return false;
	all->n = 0;
	assert_int_equal(zone_diff(z[0], z[1], collect, all), 0);
	return true;
}

/* --- The same answer? --- */

static bool same_answer(struct zone *const z[2], const uint8_t *qname, uint16_t type)
{
	struct zone_result r[2];
	uint8_t owner[2][256] = { { 0 } };

	for (unsigned i = 0; i < 2; i++) {
		zone_find(z[i], qname, (unsigned)name_bytes(qname), type, &r[i]);
		if (r[i].node)
			zone_node_owner(z[i], r[i].node, owner[i]);
	}
	if (r[0].status != r[1].status || r[0].wildcard != r[1].wildcard)
		return false;
	/* Which wildcard answers does not show in the answer, but in its proof. */
	if (!name_equal(owner[0], owner[1]))
		return false;
	return zone_rrset_equal(z[0], r[0].rrset, z[1], r[1].rrset);
}

static void differences_are_withdrawn(void **state)
{
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_TXT, DNS_TYPE_DS, DNS_TYPE_CNAME };
	unsigned n_different = 0, n_zones = 0;

	(void)state;
	for (unsigned i = 0; i < N_PAIRS; i++) {
		struct changes all;
		struct zone *z[2];

		if (!diff_pair(i, z, &all))
			continue;
		n_zones++;
		for (unsigned q = 0; q < N_QUERIES; q++) {
			uint8_t qname[256];
			char text[128];
			uint16_t type = types[draw(4)];

			random_owner(text, labels, 4);
			strcat(text, ".z.");
			wire_of(qname, text);
			if (same_answer(z, qname, type))
				continue;
			n_different++;
			if (!withdrawn(&all, qname))
				fail_msg("pair %u: %s type %u is not withdrawn", i, text, type);
		}
		zone_free(z[0]);
		zone_free(z[1]);
	}
	assert_true(n_zones > N_PAIRS / 8);
	assert_true(n_different > 1000);
}

/* Every reported name differs, every name that is not reported does not; looked up one by one. */
static bool name_differs(struct zone *const z[2], const uint8_t *owner)
{
	const struct zone_node *node[2] = { NULL, NULL };
	const struct zone_rrset *sets[2] = { NULL, NULL };
	unsigned n[2] = { 0, 0 };

	for (unsigned i = 0; i < 2; i++)
		for (size_t k = 0; k < zone_n_names(z[i]); k++) {
			uint8_t name[256];

			zone_node_owner(z[i], zone_node_at(z[i], k), name);
			if (name_equal(name, owner)) {
				node[i] = zone_node_at(z[i], k);
				sets[i] = zone_node_rrsets(z[i], node[i], &n[i]);
			}
		}
	if (!node[0] || !node[1] || n[0] != n[1])
		return true;
	for (unsigned s = 0; s < n[0]; s++)
		if (!zone_rrset_equal(z[0], &sets[0][s], z[1], &sets[1][s]))
			return true;
	return false;
}

static void reports_what_differs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_PAIRS; i++) {
		struct changes all;
		struct zone *z[2];

		if (!diff_pair(i, z, &all))
			continue;
		for (unsigned side = 0; side < 2; side++)
			for (size_t k = 0; k < zone_n_names(z[side]); k++) {
				uint8_t owner[256];
				bool found = false;

				zone_node_owner(z[side], zone_node_at(z[side], k), owner);
				for (unsigned c = 0; c < all.n; c++)
					found |= name_equal(all.at[c].owner, owner);
				assert_int_equal(found, name_differs(z, owner));
			}
		zone_free(z[0]);
		zone_free(z[1]);
	}
}

/* --- Single changes --- */

#define NEG 1
#define SUB 2
#define SOA 4
#define NSS 8

#define HASH   "0123456789abcdefghijklmnopqrstuv"
#define HASHED HASH " NSEC3 1 0 0 - " HASH " A\n"

struct row {
	const char *name, *old, *new;
	const char *want; /* "kind owner flags below|" of each */
};

static const struct row rows[] = {
	{ "the same", "a A 192.0.2.1\nb A 192.0.2.2\n", "B A 192.0.2.2\na A 192.0.2.1\n", "" },
	{ "letter case of a target", "a NS x.\n", "a NS X.\n", "" },
	{ "an address", "a A 192.0.2.1\n", "a A 192.0.2.2\n", "= a.z. 0|" },
	{ "a TTL", "a 5 A 192.0.2.1\n", "a 6 A 192.0.2.1\n", "= a.z. 0|" },
	{ "a name comes", "", "a A 192.0.2.1\n", "+ a.z. 3 a.z.|" },
	{ "a name goes", "a A 192.0.2.1\n", "", "- a.z. 3 a.z.|" },
	{ "with an empty non-terminal", "", "a.b A 192.0.2.1\n",
	  "+ b.z. 3 b.z.|+ a.b.z. 3 a.b.z.|" },
	{ "an empty one gets data", "a.b A 192.0.2.1\n", "a.b A 192.0.2.1\nb TXT x\n",
	  "= b.z. 0|" },
	{ "a wildcard comes", "", "* A 192.0.2.1\n", "+ *.z. 3 z.|" },
	{ "a wildcard changes", "* A 192.0.2.1\n", "* A 192.0.2.2\n", "= *.z. 2 z.|" },
	{ "a cut comes", "a TXT x\n", "a NS x.\n", "= a.z. 2 a.z.|" },
	{ "its servers change", "a NS x.\n", "a NS y.\n", "= a.z. 2 a.z.|" },
	{ "it is signed", "a NS x.\n", "a NS x.\na DS 1 13 2 00\n", "= a.z. 2 a.z.|" },
	{ "glue", "a NS b.a\nb.a A 192.0.2.1\n", "a NS b.a\nb.a A 192.0.2.2\n", "= b.a.z. 0|" },
	{ "a DNAME", "a TXT x\n", "a DNAME b.\n", "= a.z. 2 a.z.|" },
	{ "servers of the zone", "", "@ NS ns2\n", "= z. 8|" },
	{ "NSEC", "a NSEC b A\n", "a NSEC c A\n", "= a.z. 1|" },
	{ "the owner of an NSEC3 gets data", HASHED, HASHED "\n" HASH " A 192.0.2.1\n",
	  "= " HASH ".z. 3 " HASH ".z.|" },
	{ "the owner of an NSEC3 gets a name below", HASHED, HASHED "\na." HASH " A 192.0.2.1\n",
	  "= " HASH ".z. 3 " HASH ".z.|+ a." HASH ".z. 3 a." HASH ".z.|" },
};

static void print_changes(const struct changes *all, char *out, size_t cap)
{
	size_t at = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < all->n; i++) {
		const struct change *c = &all->at[i];
		char owner[NAME_TEXT_MAX], below[NAME_TEXT_MAX] = "";
		unsigned flags = (c->negatives ? NEG : 0u) | (c->subtree ? SUB : 0u) |
				 (c->soa ? SOA : 0u) | (c->ns ? NSS : 0u);

		name_to_text(owner, sizeof(owner), c->owner);
		if (c->subtree)
			name_to_text(below, sizeof(below), c->below);
		at += (size_t)snprintf(out + at, cap - at, "%c %s %u%s%s|", "+-="[c->kind], owner,
				       flags, c -> subtree ? " " : "", below);
	}
}

static void single_changes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct changes all = { .n = 0 };
		char text[2][1024], got[1024];
		struct zone *z[2];

		snprintf(text[0], sizeof(text[0]), ZONE_HEAD "%s", rows[i].old);
		snprintf(text[1], sizeof(text[1]), ZONE_HEAD "%s", rows[i].new);
		z[0] = zone_of("z", text[0]);
		z[1] = zone_of("z", text[1]);
		assert_int_equal(zone_diff(z[0], z[1], collect, &all), 0);
		print_changes(&all, got, sizeof(got));
		if (strcmp(got, rows[i].want))
			fail_msg("%s: '%s', not '%s'", rows[i].name, got, rows[i].want);
		zone_free(z[0]);
		zone_free(z[1]);
	}
}

static int stop(void *context, const struct zone_change *c)
{
	(void)c;
	++*(unsigned *)context;
	return -ECANCELED;
}

static void apexes_and_ends(void **state)
{
	struct zone *a = zone_of("z", ZONE_HEAD "a A 192.0.2.1\nb A 192.0.2.1\n");
	struct zone *b = zone_of("y", ZONE_HEAD), *c = zone_of("z", ZONE_HEAD);
	struct zone *d =
		zone_of("z", "@ 300 SOA ns host 8 2 3 4 60\n@ 300 NS ns\nns 300 A 192.0.2.1\n");
	struct changes all = { .n = 0 };
	unsigned n = 0;

	(void)state;
	assert_int_equal(zone_diff(a, b, collect, &all), -EINVAL);
	assert_int_equal(zone_diff(a, c, stop, &n), -ECANCELED);
	assert_int_equal(n, 1);
	assert_int_equal(zone_diff(c, d, collect, &all), 0);
	assert_int_equal(all.n, 1);
	assert_true(all.at[0].soa && !all.at[0].ns && !all.at[0].subtree);
	zone_free(a);
	zone_free(b);
	zone_free(c);
	zone_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_are_withdrawn),
		cmocka_unit_test(reports_what_differs),
		cmocka_unit_test(single_changes),
		cmocka_unit_test(apexes_and_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
