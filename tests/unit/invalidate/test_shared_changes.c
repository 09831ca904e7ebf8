/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of a zone that withdraw an answer that many names share, and changes that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "invalidate/affected.h"
#include "tests/unit/engine/denials.h"

/* Another version of z.test. */
static struct zone *version(unsigned int serial, const char *more, const char *soa)
{
	char path[] = "/tmp/volley-denials-XXXXXX";
	struct zone_error error;
	struct zone *z = NULL;
	FILE *f = fdopen(mkstemp(path), "w");

	MUST(f);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(f, soa, serial);
#pragma GCC diagnostic pop
	fprintf(f, "%s%s", ZONE, more);
	fclose(f);
	MUST(!zone_load(&z, "z.test", path, NULL, &error));
	unlink(path);
	return z;
}

static const struct {
	const char *what, *more, *soa;
	bool is_withdrawn;
} changes_rows[] = {
	{ "a serial number", "", SOA, false },
	{ "a name", "new A 192.0.2.9\n", SOA, false },
	{ "a wildcard", "*.new A 192.0.2.9\n", SOA, false },
	{ "a cut", "new NS ns.other.test.\n", SOA, false },
	{ "the time of denials", "", "$TTL 300\n@ 60 SOA ns1.A Host.b %u 2 3 4 59\n", true },
	{ "the server in SOA", "", "$TTL 300\n@ 60 SOA ns2.a Host.b %u 2 3 4 60\n", true },
};

static void test_what_withdraws_it(void **state)
{
	static const struct ask ask = { .name = "never.asked.z.test", .type = 1 };
	struct reply r;

	(void)state;
	forget(0);
	send_ask(w.engine, &ask, &r);
	assert_non_null(denial_of(0, 0));
	for (size_t i = 0; i < sizeof(changes_rows) / sizeof(changes_rows[0]); i++) {
		struct zone *z = version(2, changes_rows[i].more, changes_rows[i].soa);
		enum changes_refusal why;
		struct changes *c = changes_new(w.members[0].zone, z, &why);

		assert_non_null(c);
		if (affected_by(c, denial_of(0, 0)) != changes_rows[i].is_withdrawn)
			fail_msg("%s: withdrawn or not", changes_rows[i].what);
		changes_free(c);
		zone_free(z);
	}
}

static const struct {
	const char *what, *more;
	bool is_withdrawn;
} wild_changes[] = {
	{ "a serial number", "", false },
	{ "another name", "new A 192.0.2.9\n", false },
	{ "its records", "*.w A 192.0.2.9\n", true },
	{ "another type of it", "*.w TXT x\n", true },
	{ "a cut above it", "w NS ns.other.test.\n", true },
	{ "a name below its parent", "n.w A 192.0.2.9\n", false },
};

static void test_what_withdraws_a_wildcard(void **state)
{
	static const struct ask ask = { .name = "x.w.z.test", .type = 1 };
	struct reply r;

	(void)state;
	send_ask(w.engine, &ask, &r);
	assert_non_null(wildcard_of("*.w.z.test", 1, 0));
	for (size_t i = 0; i < sizeof(wild_changes) / sizeof(wild_changes[0]); i++) {
		struct zone *z = version(2, wild_changes[i].more, SOA);
		enum changes_refusal why;
		struct changes *c = changes_new(w.members[0].zone, z, &why);

		assert_non_null(c);
		if (affected_by(c, wildcard_of("*.w.z.test", 1, 0)) != wild_changes[i].is_withdrawn)
			fail_msg("%s: withdrawn or not", wild_changes[i].what);
		changes_free(c);
		zone_free(z);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_withdraws_it),
		cmocka_unit_test(test_what_withdraws_a_wildcard),
	};

	return cmocka_run_group_tests(tests, open_world, world_end);
}
