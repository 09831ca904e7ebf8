/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written is read back as the same zone. */
#include "zone/rdprint.h"

#include <errno.h>
#include <stdlib.h>

#include "rdata_rows.h"
#include "zone_text.h"

/* The zone as text, to be freed. */
static char *text_of(const struct zone *z)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	assert_int_equal(zone_dump(z, out, NULL), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_same(const struct zone *z, const char *origin)
{
	uint8_t digest[ZONE_DIGEST_LEN], again[ZONE_DIGEST_LEN];
	char *text = text_of(z);
	struct zone *copy = zone_of(origin, text);

	assert_int_equal(zone_n_records(copy), zone_n_records(z));
	zone_digest(z, digest);
	zone_digest(copy, again);
	assert_memory_equal(digest, again, sizeof(digest));
	zone_free(copy);
	free(text);
}

static void writes_the_samples(void **state)
{
	static const char *const origins[] = {
		"example.com",         "example.net",          "2.0.192.in-addr.arpa",
		"example2.jp",         "dname.example",        "8.b.d.0.1.0.0.2.ip6.arpa",
		"signed-nsec.example", "signed-nsec3.example", "xn--bcher-kva.example",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
		struct zone_error err;
		struct zone *z;
		char path[128];

		print_message("  %s\n", origins[i]);
		snprintf(path, sizeof(path), "zones/%s.zone", origins[i]);
		assert_int_equal(zone_load(&z, origins[i], path, NULL, &err), 0);
		assert_same(z, origins[i]);
		zone_free(z);
	}
}

/* Escapes, types without a form of their own, rdata that has none. */
static void writes_what_is_odd(void **state)
{
	static const char text[] = ZONE_HEAD
		"a\\.b\\032c\\000\\255 IN TXT \"\\\"\\;\\\\\\200\" \"\" x\n"
		"* 7 IN TYPE65280 \\# 3 010203\n"
		"none IN TYPE65281 \\# 0\n"
		"mixed.CASE IN MX 10 Mail.EXAMPLE.com.\n"
		"key IN IPSECKEY 10 0 2 . AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==\n"
		"key IN IPSECKEY 10 2 2 2001:db8::1 AQNRU3mG7TVTO2BkR47usntb\n"
		"alpn IN SVCB 1 svc alpn=h2,h3 port=853 ipv4hint=192.0.2.1\n"
		"loc IN LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m\n"
		"caa IN CAA 0 issue \"ca.example; policy=ev\"\n"
		"long IN NSEC . TYPE1234 TYPE65000\n"
		"long IN RRSIG \\# 20 0001 0d02 ffffffff 00000001 00000002 0003 00 01\n"
		"empty IN CAA 0 issue \"\"\n"
		"empty IN TLSA \\# 3 030101\n"
		"other IN LOC \\# 1 01\n"
		"other IN APL \\# 5 0009010161\n"
		"other IN HTTPS 1 . key667=\"(x);\\\"\"\n";
	struct zone *z = zone_of("example.com", text);

	(void)state;
	assert_same(z, "example.com");
	zone_free(z);
}

/* Every type and every odd form, a restart after a flush: no record is lost or changed. */
static void writes_every_type(void **state)
{
	static char text[1 << 20];
	size_t n = 0;
	struct zone *z;

	(void)state;
	n += (size_t)sprintf(text, ZONE_HEAD "$ORIGIN test.example.com.\n");
	for (size_t i = 0; i < sizeof(rdata_rows) / sizeof(rdata_rows[0]); i++)
		if (rdata_rows[i].hex && strcmp(rdata_rows[i].type, "SOA"))
			n += (size_t)sprintf(text + n, "r%zu\t%s %s ; %s\n", i, rdata_rows[i].type,
					     rdata_rows[i].text, rdata_rows[i].name);
	z = zone_of("example.com", text);
	assert_true(zone_n_records(z) > 150);
	assert_same(z, "example.com");
	zone_free(z);
}

static void begins_with_the_soa(void **state)
{
	struct zone *z = zone_of("example.com", ZONE_HEAD "@ IN A 192.0.2.1\n");
	char *text = text_of(z);

	(void)state;
	assert_int_equal(strncmp(text, "example.com.\t300\tIN\tSOA\t", 23), 0);
	assert_null(strstr(text + 1, "SOA\tSOA"));
	free(text);
	zone_free(z);
}

static void ends_when_told(void **state)
{
	struct zone *z = zone_of("example.com", ZONE_HEAD);
	bool cancel = true;
	char text[512];
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(zone_dump(z, out, &cancel), -ECANCELED);
	fclose(out);
	out = fopen("/dev/full", "w");
	assert_non_null(out);
	assert_int_equal(zone_dump(z, out, NULL), -ENOSPC);
	fclose(out);
	zone_free(z);
}

struct faulty {
	unsigned n_writes, fails_at;
};

static ssize_t write_or_fail(void *cookie, const char *octets, size_t n)
{
	struct faulty *f = cookie;

	(void)octets;
	if (f->n_writes++ != f->fails_at)
		return (ssize_t)n;
	errno = EIO;
	return 0; /* so does fopencookie() want it */
}

/* One write fails, whichever, and those behind it do not. */
static void tells_of_each_write_that_fails(void **state)
{
	static char text[1 << 20];
	struct faulty f = { .fails_at = 0 };
	struct zone *z;
	int rc;

	(void)state;
	strcpy(text, ZONE_HEAD);
	for (unsigned i = 0; i < 6; i++) /* each line is longer than what is gathered */
		sprintf(text + strlen(text), "r%u TYPE65280 \\# 50000 %0100000d\n", i, 0);
	z = zone_of("example.com", text);
	do {
		FILE *out = fopencookie(&f, "w", (cookie_io_functions_t){ .write = write_or_fail });

		assert_non_null(out);
		setbuf(out, NULL);
		f.n_writes = 0;
		rc = zone_dump(z, out, NULL);
		assert_int_equal(rc, f.n_writes > f.fails_at ? -EIO : 0);
		fclose(out);
	} while (f.n_writes > f.fails_at++);
	assert_true(f.fails_at > 5);
	zone_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_the_samples),
		cmocka_unit_test(writes_what_is_odd),
		cmocka_unit_test(writes_every_type),
		cmocka_unit_test(begins_with_the_soa),
		cmocka_unit_test(ends_when_told),
		cmocka_unit_test(tells_of_each_write_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
