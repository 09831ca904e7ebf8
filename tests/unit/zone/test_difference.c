/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What leads from one zone to another: applied to the one it makes the other, whatever the two are,
 * and it holds nothing that both have.
 */
#include "zone/diff.h"

#include "same_zone.h"
#include "tests/lib/draw.h"
#include "zone/edit.h"
#include "zone_text.h"

#define N_PAIRS 2000

static void random_zone(char *dst, size_t cap, unsigned serial)
{
	static const char *const owners[] = { "a", "b", "x.a", "*.a", "d", "x.d", "C" };
	static const char *const data[] = { "A 192.0.2.1", "A 192.0.2.2", "TXT a",
					    "TXT b",       "MX 1 a",      "AAAA 2001:db8::1" };
	size_t n = (size_t)snprintf(
		dst, cap, "$TTL 300\n@ SOA ns root %u 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n", serial);

	for (unsigned i = draw(12); i; i--) {
		unsigned type = draw(6);

		n += (size_t)snprintf(dst + n, cap - n, "%s %u %s\n", owners[draw(7)],
				      serial % 2 && type == 4 ? 60 : 300, data[type]);
	}
}

static void apply(struct zone **z, const struct changeset *net)
{
	struct zone_error why;
	struct zone_edit *edit;
	struct zone *next;

	assert_int_equal(zone_edit_begin(&edit, *z), 0);
	if (zone_edit_apply(edit, net, &why))
		fail_msg("%s", why.sentence);
	assert_int_equal(zone_edit_finish(edit, &next, NULL, &why), 0);
	zone_unref(*z);
	*z = next;
}

/* The form that a journal takes: removals first, each half with the only SOA of it in front. */
static void assert_form(const struct changeset *net)
{
	struct changeset copy = { 0 };

	assert_int_equal(changeset_load(&copy, net->bytes, net->n_bytes), 0);
	assert_int_equal(copy.n_removed, net->n_removed);
	assert_int_equal(copy.n_added, net->n_added);
	changeset_fini(&copy);
}

static void random_pairs(void **state)
{
	char text[2][1024];

	(void)state;
	for (unsigned i = 0; i < N_PAIRS; i++) {
		struct changeset net = { 0 };
		struct zone *old_zone, *new_zone;
		struct same same = { 0 };

		random_zone(text[0], sizeof(text[0]), 1 + draw(2));
		random_zone(text[1], sizeof(text[1]), 3 + draw(2));
		old_zone = zone_of("z.test", text[0]);
		new_zone = zone_of("z.test", text[1]);
		assert_int_equal(zone_difference(old_zone, new_zone, 1 << 20, &net), 0);
		assert_form(&net);
		assert_int_equal(net.serial_from, zone_serial(old_zone));
		assert_int_equal(net.serial_to, zone_serial(new_zone));
		assert_int_equal(zone_n_records(old_zone) - net.n_removed + net.n_added,
				 zone_n_records(new_zone));
		apply(&old_zone, &net);
		same.a = old_zone;
		same.b = new_zone;
		if (!same_zones(&same))
			fail_msg("%s\n%s\n%s", same.why, text[0], text[1]);
		changeset_fini(&net);
		zone_unref(old_zone);
		zone_unref(new_zone);
	}
}

/* @code, and how many records go and come. */
static void assert_difference(const char *a, const char *b, size_t max_bytes, int code,
			      unsigned n_removed, unsigned n_added)
{
	struct zone *old_zone = zone_of("z.test", a), *new_zone = zone_of("z.test", b);
	struct changeset net = { 0 };

	assert_int_equal(zone_difference(old_zone, new_zone, max_bytes, &net), code);
	assert_int_equal(net.n_removed, n_removed);
	assert_int_equal(net.n_added, n_added);
	assert_int_equal(!net.n_bytes, code != 0);
	changeset_fini(&net);
	zone_unref(old_zone);
	zone_unref(new_zone);
}

#define SOA_8 "$TTL 300\n@ IN SOA ns host 8 2 3 4 60\n@ IN NS ns\nns IN A 192.0.2.1\n"

static void only_what_differs(void **state)
{
	(void)state;
	assert_difference(ZONE_HEAD, SOA_8, 1000, 0, 1, 1);
	assert_difference(ZONE_HEAD "a A 192.0.2.1\na A 192.0.2.2\n",
			  SOA_8 "a A 192.0.2.2\na A 192.0.2.3\n", 1000, 0, 2, 2);
	assert_difference(ZONE_HEAD "a 60 A 192.0.2.1\na 60 A 192.0.2.2\n",
			  SOA_8 "a 61 A 192.0.2.2\na 61 A 192.0.2.1\n", 1000, 0, 3, 3);
	assert_difference(ZONE_HEAD "a A 192.0.2.1\n", SOA_8 "a TXT x\n", 1000, 0, 2, 2);
}

static void the_same_soa(void **state)
{
	(void)state;
	assert_difference(ZONE_HEAD, ZONE_HEAD, 1000, ERR_LIMIT, 0, 0);
	assert_difference(ZONE_HEAD, ZONE_HEAD "a A 192.0.2.1\n", 1000, ERR_LIMIT, 0, 0);
}

static void the_limit(void **state)
{
	struct zone *a = zone_of("z.test", ZONE_HEAD), *b = zone_of("z.test", SOA_8 "a TXT x\n");
	struct changeset net = { 0 };
	size_t n;

	(void)state;
	assert_int_equal(zone_difference(a, b, 1000, &net), 0);
	n = net.n_bytes;
	assert_int_equal(zone_difference(a, b, n, &net), 0); /* what was there before goes */
	assert_int_equal(net.n_bytes, n);
	assert_int_equal(zone_difference(a, b, n - 1, &net), ERR_LIMIT);
	assert_int_equal(net.n_bytes, 0);
	changeset_fini(&net);
	zone_unref(a);
	zone_unref(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_pairs),
		cmocka_unit_test(only_what_differs),
		cmocka_unit_test(the_same_soa),
		cmocka_unit_test(the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
