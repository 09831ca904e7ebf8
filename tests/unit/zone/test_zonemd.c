/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The examples of RFC 8976 appendix A.1 and A.2, and what a record must not be like.
 */
#include "tests/lib/zonenode.h"
#include "zone_text.h"

#define A1_HEAD                                                       \
	"@ 86400 IN SOA ns1 admin 2018031900 1800 900 604800 86400\n" \
	"@ 86400 IN NS ns1\n@ 86400 IN NS ns2\n"                      \
	"ns1 3600 IN A 203.0.113.63\nns2 3600 IN AAAA 2001:db8::63\n"
#define A1_DIGEST                                                          \
	"c68090d90a7aed716bc459f9340e3d7c1370d4d24b7e2fc3a1ddc0b9a87153b9" \
	"a9713b3c9ae5cc27777f98b8e730044c"
#define A1_MD(serial, scheme, hash, digest) \
	"@ 86400 IN ZONEMD " serial " " scheme " " hash " " digest "\n"

/* A.2 without its out-of-zone record, which we refuse: occluded data, capitals, duplicates,
 * order. */
#define A2                                                                            \
	"@ 86400 IN SOA ns1 admin 2018031900 1800 900 604800 86400\n"                 \
	"@ 86400 IN NS ns1\n@ 86400 IN NS ns2\n"                                      \
	"@ 86400 IN ZONEMD 2018031900 1 1 "                                           \
	"a3b69bad980a3504e1cffcb0fd6397f93848071c93151f552ae2f6b1711d4bd2"            \
	"d8b39808226d7b9db71e34b72077f8fe\n"                                          \
	"ns1 3600 IN A 203.0.113.63\nNS2 3600 IN AAAA 2001:db8::63\n"                 \
	"occluded.sub 7200 IN TXT \"I'm occluded but must be digested\"\n"            \
	"sub 7200 IN NS ns1\nduplicate 300 IN TXT \"I must be digested just once\"\n" \
	"duplicate 300 IN TXT \"I must be digested just once\"\n"                     \
	"UPPERCASE 3600 IN TXT \"canonicalize uppercase owner names\"\n"              \
	"* 777 IN PTR dont-forget-about-wildcards\n"                                  \
	"mail 3600 IN MX 20 MAIL1\nmail 3600 IN MX 10 Mail2.Example.\n"               \
	"sortme 3600 IN AAAA 2001:db8::5:61\nsortme 3600 IN AAAA 2001:db8::3:62\n"    \
	"sortme 3600 IN AAAA 2001:db8::4:63\nsortme 3600 IN AAAA 2001:db8::1:65\n"    \
	"sortme 3600 IN AAAA 2001:db8::2:64\n"                                        \
	"non-apex 900 IN ZONEMD 2018031900 1 1 "                                      \
	"616c6c6f776564206275742069676e6f7265642e20616c6c6f77656420627574"            \
	"2069676e6f7265642e20616c6c6f7765\n"

struct row {
	const char *name, *text;
	int rc;
	const char *says; /* the error or the warning */
};

static const struct row rows[] = {
	{ "A.1", A1_HEAD A1_MD("2018031900", "1", "1", A1_DIGEST), 0, "" },
	{ "A.2", A2, 0, "" },
	{ "another record", A1_HEAD A1_MD("2018031900", "1", "1", A1_DIGEST) "a 5 A 192.0.2.1\n",
	  ERR_ZONE, "another digest" },
	{ "another serial", A1_HEAD A1_MD("2018031901", "1", "1", A1_DIGEST), ERR_ZONE, "serial" },
	{ "cut short", A1_HEAD A1_MD("2018031900", "1", "1", "c68090d90a7aed716bc459f9340e3d7c"),
	  ERR_ZONE, "length" },
	{ "another scheme", A1_HEAD A1_MD("2018031900", "2", "1", A1_DIGEST), 0, "not checked" },
	{ "another hash", A1_HEAD A1_MD("2018031900", "1", "3", A1_DIGEST), 0, "not checked" },
	{ "an unknown one beside a good one",
	  A1_HEAD A1_MD("2018031900", "1", "1", A1_DIGEST)
		  A1_MD("2018031900", "1", "240", "e2d523f654b9422a96c5a8f44607bbee"),
	  0, "" },
	{ "two of the same hash",
	  A1_HEAD A1_MD("2018031900", "1", "1", A1_DIGEST)
		  A1_MD("2018031900", "1", "1", "e2d523f654b9422a96c5a8f44607bbee"),
	  ERR_ZONE, "same scheme and hash" },
	{ "not at the apex", A1_HEAD "a 5 ZONEMD 1 1 1 " A1_DIGEST "\n", 0, "" },
};

static void checks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct zone_error err;
		struct zone *z;
		int rc = load_text(&z, "example", rows[i].text, &err);
		const char *said = rc ? err.sentence : err.warning;

		if (rc != rows[i].rc || !strstr(said, rows[i].says) || (!*rows[i].says && *said))
			fail_msg("%s: %d '%s'", rows[i].name, rc, said);
		zone_free(z);
	}
}

/* Signed, with a ZONEMD by ldns-signzone: RRSIGs count, but for those of ZONEMD. */
static void signed_sample(void **state)
{
	struct zone_error err;
	struct zone *z;

	(void)state;
	if (zone_load(&z, "signed-nsec.example", "zones/signed-nsec.example.zone", NULL, &err))
		fail_msg("%s", err.sentence);
	assert_non_null(zone_node_rrset(z, zone_node_at(z, 0), DNS_TYPE_ZONEMD));
	assert_int_equal(err.n_warnings, 0);
	zone_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks),
		cmocka_unit_test(signed_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
