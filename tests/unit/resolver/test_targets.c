/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/targets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct resolver_stub stubs[] = {
	{ .zone = "inside.", .address = "192.0.2.1" },
	{ .zone = "inside.", .address = "192.0.2.2" },
	{ .zone = "b.inside.", .address = "192.0.2.3", .is_forward = true },
};

static struct targets make(size_t n)
{
	const struct resolver_config config = { .stubs = stubs, .n_stubs = n };
	static struct target_counters rows[8];
	struct targets t;

	assert_true(targets_n_rows(&config) <= sizeof(rows) / sizeof(rows[0]));
	memset(rows, 0, sizeof(rows));
	assert_int_equal(targets_init(&t, &config, rows), 0);
	return t;
}

static void fold(uint8_t name[NAME_FOLDED_BYTES], const char *text)
{
	int n = name_from_text(name, DNS_NAME_MAX, text, strlen(text));

	assert_true(n > 0);
	name_fold(name, name, (size_t)n);
}

/* The zone whose row it is, as text; "": row 0. */
static const char *zone_of(const struct targets *t, const char *text, uint16_t qtype)
{
	static char zone[NAME_TEXT_MAX];
	uint8_t name[NAME_FOLDED_BYTES] = { 0 };
	size_t row;

	fold(name, text);
	row = targets_find(t, name, qtype);
	if (!row)
		return "";
	assert_true(name_to_text(zone, sizeof(zone), t->zones.members[row - 1].name) > 0);
	return zone;
}

static void the_deepest_zone_is_asked(void **state)
{
	static const struct {
		const char *name;
		uint16_t qtype;
		const char *zone;
	} rows[] = {
		{ "inside.", DNS_TYPE_A, "inside." },
		{ "a.inside.", DNS_TYPE_A, "inside." },
		{ "b.inside.", DNS_TYPE_A, "b.inside." },
		{ "x.b.inside.", DNS_TYPE_A, "b.inside." },
		{ "outside.", DNS_TYPE_A, "" },
		{ ".", DNS_TYPE_NS, "" },
		{ "b.inside.", DNS_TYPE_DS, "inside." },
		{ "inside.", DNS_TYPE_DS, "" },
		{ ".", DNS_TYPE_DS, "" },
		{ "x.b.inside.", DNS_TYPE_DS, "b.inside." },
	};
	struct targets t = make(3);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(zone_of(&t, rows[i].name, rows[i].qtype), rows[i].zone);
	targets_fini(&t);
}

static struct target_counters after(struct targets *t, struct resolver_group *group,
				    enum target_end end, bool is_known, uint64_t took_ns)
{
	struct target_counters sum = { 0 };

	targets_on_asked(t, group, 1000);
	targets_on_end(t, group, end, is_known, 1000 + took_ns);
	targets_add_row(&t->rows[group->target], &sum);
	return sum;
}

static void each_end_has_its_counter(void **state)
{
	struct resolver_group group = { .qtype = DNS_TYPE_A, .name = "\1a\6inside" };
	struct targets t = make(3);
	struct target_counters c, twice;

	(void)state;
	c = after(&t, &group, TARGET_ANSWERED, false, 50);
	assert_int_equal(group.target, targets_find(&t, group.name, DNS_TYPE_A));
	assert_int_equal(c.answered, 1);
	assert_int_equal(c.took_ns, 50);
	assert_int_equal(c.last_answered_ns, 1050);
	c = after(&t, &group, TARGET_ANSWERED, true, 1);
	assert_int_equal(c.known, 1);
	assert_int_equal(c.took_ns, 50);
	c = after(&t, &group, TARGET_BOGUS, false, 7);
	assert_int_equal(c.bogus, 1);
	assert_int_equal(c.last_failed_ns, 1007);
	c = after(&t, &group, TARGET_FAILED, false, 9);
	assert_int_equal(c.failed, 1);
	assert_int_equal(c.last_failed_ns, 1009);
	assert_int_equal(c.asked, 4);
	assert_int_equal(c.done, 4);
	targets_on_timeout(&t, &group);
	twice = c;
	targets_add_row(&t.rows[group.target], &twice);
	assert_int_equal(twice.asked, 8);
	assert_int_equal(twice.timed_out, 1);
	assert_int_equal(twice.last_answered_ns, 1050);
	assert_int_equal(twice.last_failed_ns, 1009);
	targets_fini(&t);
}

static void without_zones_there_is_one_row(void **state)
{
	struct resolver_group group = { .qtype = DNS_TYPE_A, .name = "\1a\6inside" };
	struct targets t = make(0);

	(void)state;
	assert_int_equal(after(&t, &group, TARGET_FAILED, false, 1).failed, 1);
	assert_int_equal(group.target, 0);
	targets_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_deepest_zone_is_asked),
		cmocka_unit_test(each_end_has_its_counter),
		cmocka_unit_test(without_zones_there_is_one_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
