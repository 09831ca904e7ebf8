/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Catalogs are read, compared, refused and written, with the examples of RFC 9432. */
#include "xfr/catalog.h"

#include <stdlib.h>

#include "tests/unit/zone/zone_text.h"
#include "zone/builder.h"

#define HEAD                                             \
	"$TTL 0\n@ IN SOA invalid. invalid. 7 2 3 4 0\n" \
	"@ IN NS invalid.\n"
#define VERSION "version IN TXT \"2\"\n"

static char why[512];

static int read_text(struct catalog *c, const char *text)
{
	struct zone *z = zone_of("catz.example", text);
	int rc = catalog_read(c, z, why, sizeof(why));

	zone_free(z);
	assert_true(!rc == !*why);
	return rc;
}

static struct catalog catalog_of(const char *text)
{
	struct catalog c = { 0 };
	char all[4096];

	snprintf(all, sizeof(all), HEAD VERSION "%s", text);
	if (read_text(&c, all))
		fail_msg("%s", why);
	return c;
}

/* "name unique [group] >coo", one behind the other. */
static const char *text_of(const struct catalog *c)
{
	static char text[2048];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < c->n; i++) {
		const struct catalog_member *m = &c->members[i];
		char name[NAME_TEXT_MAX];

		name_to_text(name, sizeof(name), m->name);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %.*s", n ? "; " : "", name,
				      m->unique[0], m->unique + 1);
		if (m->group)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " [%.*s]", m->group_bytes,
					      m->group);
		if (!m->coo)
			continue;
		name_to_text(name, sizeof(name), m->coo);
		n += (size_t)snprintf(text + n, sizeof(text) - n, " >%s", name);
	}
	return text;
}

static void reads(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },
		{ "unique-1.zones PTR example.com.\nunique-2.zones PTR example.net.\n"
		  "unique-3.zones PTR example.org.\n",
		  "example.com. unique-1; example.net. unique-2; example.org. unique-3" },
		{ "<unique-2>.zones PTR b.\ngroup.<unique-2>.zones TXT \"sign-with-nsec3\"\n"
		  "<unique-1>.zones PTR A.\ngroup.<Unique-1>.zones TXT nodnssec\n",
		  "a. <unique-1> [nodnssec]; b. <unique-2> [sign-with-nsec3]" },
		{ "u.zones PTR example.\ncoo.u.zones PTR NewCatz.invalid.\n",
		  "example. u >newcatz.invalid." },
		{ "u.zones PTR example.\ngroup.u.zones TXT b\ngroup.u.zones TXT a c\n",
		  "example. u [ac]" },
		{ "u.zones PTR example.\ngroup.u.zones TXT a c\n", "example. u [ac]" },
		{ "u.zones PTR .\n", ". u" },
		/* Ignored: other properties and types, deeper names, properties without a
		 * member. */
		{ "u.zones PTR example.\nu.zones TXT x\nx.ext TXT x\ngroup TXT g\nx.u.zones TXT x\n"
		  "prop.ext.u.zones TXT x\nx.group.u.zones TXT x\ncoo.u.zones TXT x\n"
		  "v.zones TXT x\ngroup.v.zones TXT x\ncoo.w.zones PTR x.\nzones PTR y.\n"
		  "a.b.zoness PTR z.\nu.zones.x PTR z.\nversion A 192.0.2.1\n",
		  "example. u" },
		{ "version.u.zones TXT \"3\"\n", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct catalog c = catalog_of(rows[i].text);

		assert_string_equal(text_of(&c), rows[i].want);
		catalog_fini(&c);
	}
}

static void refuses_what_is_broken(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ HEAD, "it has no version" },
		{ HEAD "version A 192.0.2.1\n", "it has no version" },
		{ HEAD "x.version TXT \"2\"\n", "it has no version" },
		{ HEAD "version TXT \"1\"\n", "version.catz.example. is not \"2\", the only" },
		{ HEAD "version TXT \"2\" \"2\"\n", "version.catz.example. is not \"2\"" },
		{ HEAD "version TXT \"\"\n", "version.catz.example. is not \"2\"" },
		{ HEAD VERSION "version TXT \"1\"\n",
		  "version.catz.example. has more than one record" },
		{ HEAD VERSION "u.zones PTR a.\nu.zones PTR b.\n",
		  "u.zones.catz.example. has more than one PTR" },
		{ HEAD VERSION "u.zones PTR a.\ncoo.u.zones PTR b.\ncoo.u.zones PTR c.\n",
		  "coo.u.zones.catz.example. has more than one PTR" },
		{ HEAD VERSION "u.zones PTR a.\nv.zones PTR b.\nw.zones PTR A.\n",
		  "a. is listed twice" },
	};
	struct catalog c;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		c = catalog_of("u.zones PTR before.\n");
		assert_int_equal(read_text(&c, rows[i].text), ERR_FORMAT);
		assert_int_equal(strncmp(why, rows[i].want, strlen(rows[i].want)), 0);
		assert_int_equal(c.n, 0);
		catalog_fini(&c);
	}
}

static int note(void *user, enum catalog_change change, const struct catalog_member *before,
		const struct catalog_member *now)
{
	static const char signs[] = "+-!~";
	char *text = user, name[NAME_TEXT_MAX];

	assert_true((before || change == CATALOG_COME) && (now || change == CATALOG_GO));
	assert_true(!before || change != CATALOG_COME);
	name_to_text(name, sizeof(name), now ? now->name : before->name);
	sprintf(text + strlen(text), "%c%s ", signs[change], name);
	return strchr(text, 'X') ? -1 : 0;
}

static void compares(void **state)
{
	static const struct {
		const char *before, *now, *want;
	} rows[] = {
		{ "", "", "" },
		{ "", "u.zones PTR a.\nv.zones PTR b.\n", "+a. +b. " },
		{ "u.zones PTR a.\nv.zones PTR b.\n", "", "-a. -b. " },
		{ "u.zones PTR a.\nv.zones PTR b.\n", "U.zones PTR A.\nv.zones PTR c.\n",
		  "-b. +c. " },
		{ "u.zones PTR a.\n", "v.zones PTR a.\n", "!a. " },
		{ "u.zones PTR a.\nv.zones PTR b.\n", "v.zones PTR a.\nu.zones PTR b.\n",
		  "!a. !b. " },
		{ "u.zones PTR a.\n", "u.zones PTR a.\ngroup.u.zones TXT x\n", "~a. " },
		{ "u.zones PTR a.\ngroup.u.zones TXT x\n", "u.zones PTR a.\ngroup.u.zones TXT X\n",
		  "~a. " },
		{ "u.zones PTR a.\ncoo.u.zones PTR x.\n", "u.zones PTR a.\ncoo.u.zones PTR X.\n",
		  "" },
		{ "u.zones PTR a.\ncoo.u.zones PTR x.\n", "u.zones PTR a.\ncoo.u.zones PTR y.\n",
		  "~a. " },
		{ "u.zones PTR .\n", "u.zones PTR x.a.\nv.zones PTR a.\n", "-. +a. +x.a. " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct catalog before = catalog_of(rows[i].before), now = catalog_of(rows[i].now);
		char text[256] = "";

		assert_int_equal(catalog_compare(&before, &now, note, text), 0);
		assert_string_equal(text, rows[i].want);
		catalog_fini(&before);
		catalog_fini(&now);
	}
}

static void moves(void **state)
{
	static const struct {
		const char *from, *to;
		enum catalog_move want;
	} rows[] = {
		{ "u.zones PTR a.\n", "u.zones PTR a.\n", CATALOG_STAYS },
		{ "u.zones PTR a.\ncoo.u.zones PTR third.\n", "u.zones PTR a.\n", CATALOG_STAYS },
		{ "u.zones PTR a.\ncoo.u.zones PTR Catz.Example.\n", "u.zones PTR a.\n",
		  CATALOG_MOVES },
		{ "u.zones PTR a.\ncoo.u.zones PTR catz.example.\n", "v.zones PTR a.\n",
		  CATALOG_MOVES_RESET },
	};
	uint8_t to[256], a[256];

	(void)state;
	wire_of(to, "catz.example.");
	wire_of(a, "a.");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct catalog from = catalog_of(rows[i].from), now = catalog_of(rows[i].to);

		assert_int_equal(catalog_may_move(catalog_find(&from, a), to,
						  catalog_find(&now, a)),
				 rows[i].want);
		catalog_fini(&from);
		catalog_fini(&now);
	}
}

/* --- Written and read back -------------------------------------------------------------------- */

struct writing {
	struct zone_builder *builder;
	struct zone_error err;
};

static int put(void *user, const uint8_t *owner, uint16_t type, uint32_t ttl, const uint8_t *rdata,
	       uint16_t rdata_bytes)
{
	struct writing *w = user;
	const struct zone_builder_record r = {
		.owner = owner,
		.owner_bytes = (unsigned)name_bytes(owner),
		.type = type,
		.ttl = ttl,
		.rdata = rdata,
		.rdata_bytes = rdata_bytes,
	};

	return zone_builder_add(w->builder, &r, &w->err);
}

static struct catalog read_back(const struct catalog *list, const uint8_t *apex)
{
	struct catalog c = { 0 };
	struct writing w;
	struct zone *z;

	assert_int_equal(zone_builder_new(&w.builder, apex), 0);
	assert_int_equal(zone_builder_file(w.builder, "made"), 0);
	assert_int_equal(catalog_put_head(apex, 1, put, &w), 0);
	for (size_t i = 0; i < list->n; i++)
		assert_int_equal(catalog_put_member(apex, &list->members[i], put, &w), 0);
	assert_int_equal(zone_builder_finish(w.builder, &z, &w.err), 0);
	zone_builder_free(w.builder);
	if (catalog_read(&c, z, why, sizeof(why)))
		fail_msg("%s", why);
	zone_free(z);
	return c;
}

static int count(void *user, enum catalog_change change, const struct catalog_member *before,
		 const struct catalog_member *now)
{
	(void)before, (void)now;
	((unsigned *)user)[change]++;
	return 0;
}

static void add_drawn(struct catalog *c, unsigned i, uint32_t turn)
{
	uint8_t name[256], coo[256], unique[1 + CATALOG_UNIQUE_BYTES];
	struct catalog_member m = { .name = name, .unique = unique };
	char text[64];

	snprintf(text, sizeof(text), "z%u.example", i);
	wire_of(name, text);
	wire_of(coo, "other.catalog");
	catalog_unique(name, turn, unique);
	if (i % 3 == 1) {
		m.group = (const uint8_t *)"a \"group\"";
		m.group_bytes = 9;
	}
	if (i % 5 == 1)
		m.coo = coo;
	assert_int_equal(catalog_add(c, &m), 0);
}

static void writes_what_it_reads(void **state)
{
	struct catalog list = { 0 }, again, other = { 0 };
	unsigned n[4] = { 0 };
	uint8_t apex[256];

	(void)state;
	wire_of(apex, "catz.example.");
	for (unsigned i = 0; i < 3000; i++) {
		add_drawn(&list, i, 0);
		if (i % 4)
			add_drawn(&other, i, i % 7 == 1);
	}
	for (unsigned i = 3000; i < 3010; i++)
		add_drawn(&other, i, 0);
	assert_int_equal(catalog_sort(&list), 0);
	assert_int_equal(catalog_sort(&other), 0);
	again = read_back(&list, apex);
	assert_int_equal(again.n, 3000);
	assert_int_equal(catalog_compare(&list, &again, count, n), 0);
	assert_true(!n[0] && !n[1] && !n[2] && !n[3]);
	assert_int_equal(catalog_compare(&list, &other, count, n), 0);
	assert_int_equal(n[CATALOG_COME], 10);
	assert_int_equal(n[CATALOG_GO], 750);
	assert_int_equal(n[CATALOG_RESET], 322);
	assert_int_equal(n[CATALOG_GROUP], 0);
	catalog_fini(&list);
	catalog_fini(&again);
	catalog_fini(&other);
}

static int count_nothing(void *user, const uint8_t *owner, uint16_t type, uint32_t ttl,
			 const uint8_t *rdata, uint16_t rdata_bytes)
{
	(void)user, (void)type, (void)ttl, (void)rdata, (void)rdata_bytes;
	assert_true(name_check(owner, DNS_NAME_MAX) > 0);
	return 0;
}

static void names_that_are_too_long(void **state)
{
	uint8_t apex[256], name[256], unique[1 + CATALOG_UNIQUE_BYTES],
		other[1 + CATALOG_UNIQUE_BYTES];
	struct catalog_member m = { .name = name, .unique = unique };
	char text[300];

	(void)state;
	memset(text, 'a', sizeof(text));
	for (unsigned i = 63; i < 240; i += 64)
		text[i] = '.';
	text[215] = '\0';
	wire_of(apex, text);
	wire_of(name, "example.");
	catalog_unique(name, 0, unique);
	assert_int_equal(catalog_put_member(apex, &m, count_nothing, NULL), ERR_NAME_LONG);
	text[214] = '\0';
	wire_of(apex, text);
	assert_int_equal(catalog_put_member(apex, &m, count_nothing, NULL), 0);
	m.group = (const uint8_t *)"g";
	m.group_bytes = 1;
	assert_int_equal(catalog_put_member(apex, &m, count_nothing, NULL), ERR_NAME_LONG);
	catalog_unique(name, 1, other);
	assert_memory_not_equal(unique, other, sizeof(unique));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(refuses_what_is_broken),
		cmocka_unit_test(compares),
		cmocka_unit_test(moves),
		cmocka_unit_test(writes_what_it_reads),
		cmocka_unit_test(names_that_are_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
