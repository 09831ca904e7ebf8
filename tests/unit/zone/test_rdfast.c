/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast way against ldns: whatever it takes, ldns takes too and makes the same octets of it. The
 * text is right text, and right text with a few characters changed. What it refuses goes to ldns
 * anyway, so there is nothing to compare.
 */
#include <stdlib.h>
#include <time.h>

#include "zone/rdfast.h"
#include "tests/lib/draw.h"
#include "zone_text.h"

#define N_ROUNDS 4000
#define TEXT_MAX 512

struct sample {
	uint16_t type;
	bool fast; /* must be taken */
	const char *text;
};

#define SIG64 \
	"CzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYar0PUaP2SJrtP4HUJnjLHW+yBFao+02f4jSG2St9wBJg=="
#define HASH "1pt6ilmfhh0pl8gmvedcrsa8su112g9l"

static const struct sample samples[] = {
	{ DNS_TYPE_A, true, "192.0.2.1" },
	{ DNS_TYPE_A, true, "255.255.255.255 " },
	{ DNS_TYPE_A, false, "192.0.2.01" },
	{ DNS_TYPE_A, false, "192.0.2.256" },
	{ DNS_TYPE_A, false, "192.0.2.1 1" },
	{ DNS_TYPE_AAAA, true, "2001:db8::1" },
	{ DNS_TYPE_AAAA, true, "::ffff:192.0.2.1" },
	{ DNS_TYPE_AAAA, true, "2001:DB8:0:0:1:2:3:4" },
	{ DNS_TYPE_NS, true, "ns1.Example.net." },
	{ DNS_TYPE_NS, true, "ns1" },
	{ DNS_TYPE_NS, true, "@" },
	{ DNS_TYPE_NS, true, "." },
	{ DNS_TYPE_NS, false, "a\\.b" },
	{ DNS_TYPE_NS, false, "a..b" },
	{ DNS_TYPE_CNAME, true, "*.wild_card-1" },
	{ DNS_TYPE_PTR, true, "host-1.example." },
	{ DNS_TYPE_DNAME, true, "target.example." },
	{ DNS_TYPE_MX, true, "10 mail" },
	{ DNS_TYPE_MX, true, "65535\t mail.example.net." },
	{ DNS_TYPE_MX, false, "65536 mail" },
	{ DNS_TYPE_SRV, true, "0 5 5060 sip.example." },
	{ DNS_TYPE_TXT, true, "\"v=spf1 mx -all\"" },
	{ DNS_TYPE_TXT, true, "\"a; b\" \"\"  \"(c)\"" },
	{ DNS_TYPE_TXT, false, "\"a\"\"b\"" },
	{ DNS_TYPE_TXT, false, "plain words" },
	{ DNS_TYPE_DS, true,
	  "12345 13 2 3A5E0B1F0C1D2E3F405162738495a6b7c8d9eafb0c1d2e3f405162738495a6b7" },
	{ DNS_TYPE_DS, false, "12345 13 2 3A5" },
	{ DNS_TYPE_RRSIG, true,
	  "A 13 2 3600 20371231000000 20260101000000 26459 signed.example. " SIG64 },
	{ DNS_TYPE_RRSIG, true, "NSEC3PARAM 8 1 0 20360228235959 19700101000000 1 @ AAAA AAA=" },
	{ DNS_TYPE_RRSIG, false, "A 13 2 3600 20380101000000 20260101000000 26459 a. AAAA" },
	{ DNS_TYPE_RRSIG, false, "A 13 2 3600 2000000000 1000000000 26459 a. AAAA" },
	{ DNS_TYPE_NSEC, true, "next.example. A AAAA RRSIG NSEC" },
	{ DNS_TYPE_NSEC, true, "a NS SOA MX TXT RRSIG NSEC DNSKEY ZONEMD " },
	{ DNS_TYPE_NSEC, false, "a A CAA" },
	{ DNS_TYPE_NSEC, false, "a A TYPE65280" },
	{ DNS_TYPE_NSEC3, true, "1 1 0 - " HASH " A RRSIG" },
	{ DNS_TYPE_NSEC3, true, "1 0 5 aabbccdd 1PT6ILMFHH0PL8GMVEDCRSA8SU112G9L NS DS RRSIG" },
	{ DNS_TYPE_NSEC3, false, "1 0 5 aabbccdd " HASH },
	{ DNS_TYPE_DNSKEY, true, "257 3 13 " SIG64 },
	{ DNS_TYPE_DNSKEY, true, "256 3 8 AQPJ" },
	{ DNS_TYPE_DNSKEY, false, "256 3 8 AQPJ A" },
};

/* The rest is what ldns reads, so the answer is the same by the way it is made. */
static bool compare(struct rdtext *fast, struct rdtext *slow, uint16_t type, const char *text)
{
	int rc;

	/* The one thing in which ldns is wrong: test_master has rows for it. */
	if (!rdfast_parse(fast, type, text) || strstr(text, "\\@"))
		return false;
	rc = rdtext_parse_ldns(slow, type, text);
	if (rc)
		fail_msg("type %u '%s': ldns refuses it: %s", type, text, slow->why);
	if (fast->len != slow->len || memcmp(fast->rdata, slow->rdata, slow->len))
		fail_msg("type %u '%s': other octets", type, text);
	return true;
}

static void mutate(char *text)
{
	static const char pool[] = "0123456789abcdefABCDEFxyzGHI.-_* \t\"\\@+/=():;TYPE";

	for (unsigned n = 1 + draw(2); n--;) {
		size_t len = strlen(text), at = draw((unsigned)len + 1);
		char c = pool[draw(sizeof(pool) - 1)];

		switch (draw(3)) {
		case 0:
			if (at < len)
				text[at] = c;
			break;
		case 1:
			if (at < len)
				memmove(text + at, text + at + 1, len - at);
			break;
		default:
			if (len + 1 < TEXT_MAX) {
				memmove(text + at + 1, text + at, len - at + 1);
				text[at] = c;
			}
		}
	}
}

static struct rdtext *reader(const char *origin)
{
	struct rdtext *t = test_malloc(sizeof(*t));
	uint8_t wire[256];

	wire_of(wire, origin);
	rdtext_init(t);
	assert_int_equal(rdtext_set_origin(t, wire), 0);
	return t;
}

static void same_as_ldns(void **state)
{
	static const char *const origins[] = { "example.com.", ".",
					       "a.very-long.origin.of.many.labels.example." };
	unsigned n_taken = 0;

	(void)state;
	for (size_t o = 0; o < sizeof(origins) / sizeof(origins[0]); o++) {
		struct rdtext *fast = reader(origins[o]), *slow = reader(origins[o]);

		for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
			const struct sample *s = &samples[i];

			if (compare(fast, slow, s->type, s->text) != s->fast)
				fail_msg("type %u '%s': taken or not", s->type, s->text);
			for (unsigned r = 0; r < N_ROUNDS; r++) {
				char text[TEXT_MAX];

				snprintf(text, sizeof(text), "%s", s->text);
				mutate(text);
				n_taken += compare(fast, slow, s->type, text);
			}
		}
		rdtext_fini(fast);
		rdtext_fini(slow);
		test_free(fast);
		test_free(slow);
	}
	assert_true(n_taken > N_ROUNDS);
}

/* Every day, and the seconds around its end. */
static void dates(void **state)
{
	struct rdtext *fast = reader("."), *slow = reader(".");

	(void)state;
	for (time_t t = 86399; t < 2145916800; t += 86400) {
		char text[128], when[32];
		struct tm tm;

		gmtime_r(&t, &tm);
		strftime(when, sizeof(when), "%Y%m%d%H%M%S", &tm);
		snprintf(text, sizeof(text), "A 8 0 0 %s %s 1 . AAAA", when, when);
		if (rdfast_parse(fast, DNS_TYPE_RRSIG, text))
			assert_int_equal(wire_load_be32(fast->rdata + 8), t);
		else
			assert_true(tm.tm_mon == 1 && tm.tm_mday == 29);
		if (t % 97 == 0)
			compare(fast, slow, DNS_TYPE_RRSIG, text);
	}
	rdtext_fini(fast);
	rdtext_fini(slow);
	test_free(fast);
	test_free(slow);
}

static void types(void **state)
{
	(void)state;
	for (unsigned type = 1; type < 300; type++) {
		char text[PROTO_TEXT_MAX];
		int n = proto_type_to_text(text, (uint16_t)type);
		uint16_t got = rdfast_type(text, (size_t)n);

		assert_true(!got || got == type);
	}
	assert_int_equal(rdfast_type("DNSKEY", 6), DNS_TYPE_DNSKEY);
	assert_int_equal(rdfast_type("A", 1), DNS_TYPE_A);
	assert_int_equal(rdfast_type("", 0), 0);
	assert_int_equal(rdfast_type("a", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_ldns),
		cmocka_unit_test(dates),
		cmocka_unit_test(types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
