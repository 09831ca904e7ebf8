/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "resolver/anchors.h"
#include "tests/lib/must.h"
#include "tests/lib/tmpfolder.h"

#define H16      "00112233445566778899AABBCCDDEEFF"
#define SHA1     H16 "00112233"
#define SHA256   H16 H16
#define SHA384   H16 H16 H16
#define KEY      "AwEAAaz/tAm8yTn4Mfeh5eyI96WSVexTBAvkMgJzkKTOiW1vkIbzxeF3"
#define UNUSABLE "has 1 DS or DNSKEY records, none of them usable"

static const struct row {
	const char *name;
	const char *text;
	const char *why; /* NULL: it is well */
} rows[] = {
	{ "empty", "", "has no record" },
	{ "blank", "\n \n\t\n", "has no record" },
	{ "comment", "; . IN DS 1 8 2 " SHA256 "\n", "has no record" },
	{ "directives", "$TTL 3600\n$ORIGIN .\n", "has no record" },
	{ "hints", ". 1 NS a.\na. 1 A 192.0.2.1\n", "has 2 records, none of them DS or DNSKEY" },
	{ "DS, SHA-1", ". IN DS 1 8 1 " SHA1 "\n", NULL },
	{ "DS, SHA-256", ". 3600 IN DS 1 13 2 " SHA256 "\n", NULL },
	{ "DS, class before TTL", ". IN 3600 DS 1 13 2 " SHA256 "\n", NULL },
	{ "DS, SHA-384", ". DS 1 15 4 " SHA384 "\n", NULL },
	{ "DS, no class, small letters", "example. ds 1 16 2 " SHA256 "\n", NULL },
	{ "DS, GOST", ". IN DS 1 8 3 " SHA256 "\n", UNUSABLE },
	{ "DS, unknown digest", ". IN DS 1 8 9 " SHA256 "\n", UNUSABLE },
	{ "DS, unknown algorithm", ". IN DS 1 200 2 " SHA256 "\n", UNUSABLE },
	{ "DS, DSA", ". IN DS 1 3 2 " SHA256 "\n", UNUSABLE },
	{ "DS, short digest", ". IN DS 1 8 2 " SHA1 "\n", UNUSABLE },
	{ "DS, no digest", ". IN DS 1 8 2\n", UNUSABLE },
	{ "DNSKEY", ". IN DNSKEY 257 3 8 " KEY "\n", NULL },
	{ "DNSKEY as volleyd writes it",
	  "; autotrust trust anchor file\n;;id: . 1\n;;last_queried: 1 ;;now\n"
	  ".\t86400\tIN\tDNSKEY\t257 3 8 " KEY
	  " ;{id = 20326 (ksk)} ;;state=2 [  VALID  ] ;;count=0\n",
	  NULL },
	{ "DNSKEY over several lines", ". IN DNSKEY 257 3 (\n 13\n" KEY " )\n", NULL },
	{ "DNSKEY, revoked", ". IN DNSKEY 385 3 8 " KEY "\n", UNUSABLE },
	{ "DNSKEY, of no zone", ". IN DNSKEY 1 3 8 " KEY "\n", UNUSABLE },
	{ "DNSKEY, protocol", ". IN DNSKEY 257 2 8 " KEY "\n", UNUSABLE },
	{ "DNSKEY, algorithm", ". IN DNSKEY 257 3 1 " KEY "\n", UNUSABLE },
	{ "DNSKEY, no key", ". IN DNSKEY 257 3 8\n", UNUSABLE },
	{ "one of two", ". IN DS 1 8 9 " SHA256 "\n DS 1 8 2 " SHA256 "\n", NULL },
	{ "beside others", ". NS a.\n. DNSKEY 256 3 13 " KEY "\n", NULL },
	{ "no end", ". IN DS (\n", "line 1: " },
};

static int check(const char *text, char *why, size_t cap)
{
	FILE *out = fopen(tmpfolder_file, "w");

	MUST(out && fputs(text, out) >= 0 && !fclose(out));
	return anchors_check(tmpfolder_file, why, cap);
}

static void test_each_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char why[256] = "";
		int err = check(rows[i].text, why, sizeof(why));

		if (err != (rows[i].why ? ERR_CONFIG : 0) ||
		    (rows[i].why && strncmp(why, rows[i].why, strlen(rows[i].why)) != 0))
			fail_msg("%s: %d, %s", rows[i].name, err, why);
	}
	unlink(tmpfolder_file);
}

static void test_no_file(void **state)
{
	char why[256] = "";

	(void)state;
	assert_int_equal(anchors_check("/nowhere", why, sizeof(why)), -ENOENT);
	assert_int_equal(anchors_check(tmpfolder, why, sizeof(why)), -EISDIR);
	assert_string_equal(why, "");
}

/* "OWNER: TEXT, TEXT" of the anchors that hold for a name; "": none. */
static const char *anchors_of(const char *text)
{
	static char buf[512];
	uint8_t name[NAME_FOLDED_BYTES] = { 0 };
	struct anchors_at at;
	size_t n;

	name_fold(name, name, (size_t)name_from_text(name, DNS_NAME_MAX, text, strlen(text)));
	assert_int_equal(anchors_find(tmpfolder_file, name, &at), 0);
	if (!at.n)
		return "";
	assert_true(name_to_text(buf, sizeof(buf), at.owner) > 0);
	n = strlen(buf);
	for (unsigned int i = 0; i < at.n && i < ANCHORS_SHOWN; i++)
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s %s", i ? "," : ":",
				      at.texts[i]);
	return buf;
}

static void test_those_that_hold_for_a_name(void **state)
{
	static const char file[] = ". IN DS 1 8 2 " SHA256 "\n"
				   "a.Example. IN DS 2 13 4 " SHA384 "\n"
				   " IN DS 3 13 2 " SHA256 "\n"
				   "a.example. IN DS 9 200 2 " SHA256 "\n"
				   ". 3600 IN DNSKEY 257 3 8 " KEY "\n"
				   "b.a.example. IN DS 4 8 9 " SHA256 "\n";
	char why[64];

	(void)state;
	assert_int_equal(check(file, why, sizeof(why)), 0);
	assert_string_equal(anchors_of("www.test."), ".: DS 1 8 2, DNSKEY 45726 8");
	assert_string_equal(anchors_of("."), ".: DS 1 8 2, DNSKEY 45726 8");
	assert_string_equal(anchors_of("a.example."), "a.example.: DS 2 13 4, DS 3 13 2");
	assert_string_equal(anchors_of("x.b.a.example."), "a.example.: DS 2 13 4, DS 3 13 2");
	assert_string_equal(anchors_of("example."), ".: DS 1 8 2, DNSKEY 45726 8");
	assert_int_equal(check("example. IN DS 1 8 2 " SHA256 "\n", why, sizeof(why)), 0);
	assert_string_equal(anchors_of("www.test."), "");
	assert_string_equal(anchors_of("example."), "example.: DS 1 8 2");
	unlink(tmpfolder_file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_file),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_those_that_hold_for_a_name),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
