/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record data from text: the rows of rdata_rows.h, what is said of those that are refused, and that
 * all that is printed is read back as the same octets.
 */
#include "zone/rdtext.h"

#include <time.h>

#include "base/wire.h"
#include "dns/rdata.h"
#include "rdata_rows.h"
#include "tests/lib/rdtypes_each.h"
#include "zone/rdprint.h"
#include "zone_text.h"

#define N_ROWS (sizeof(rdata_rows) / sizeof(rdata_rows[0]))

static struct rdtext rd;
static char text[RDPRINT_TEXT_MAX + 1];

static uint16_t type_of(const struct rdata_row *row)
{
	int type = rdtext_type(row->type, strlen(row->type));

	assert_true(type > 0);
	return (uint16_t)type;
}

static void set_test_origin(void)
{
	rdtext_init(&rd);
	/* The last origin holds. */
	assert_int_equal(rdtext_set_origin(&rd, (const uint8_t *)"\5other"), 0);
	assert_int_equal(rdtext_set_origin(&rd, (const uint8_t *)"\4test"), 0);
}

static void to_hex(char *dst, const uint8_t *from, unsigned n)
{
	*dst = '\0';
	for (unsigned i = 0; i < n; i++)
		snprintf(dst + 2 * i, 3, "%02x", from[i]);
}

static void reads(void **state)
{
	unsigned n_wrong = 0;

	(void)state;
	set_test_origin();
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct rdata_row *row = &rdata_rows[i];
		char hex[1024];
		int rc;

		rd.why[0] = '\0';
		rc = rdtext_parse(&rd, type_of(row), row->text);
		if (!row->hex) {
			if (rc == ERR_RDATA && rd.why[0] && rd.why_at >= row->text &&
			    rd.why_at <= row->text + strlen(row->text))
				continue;
			print_error("%s: '%s' is not refused\n", row->name, row->text);
			n_wrong++;
			continue;
		}
		to_hex(hex, rd.rdata, rc ? 0 : rd.len);
		if (!rc && !strcmp(hex, row->hex))
			continue;
		print_error("%s: '%s': %s is not %s (%s)\n", row->name, row->text, hex, row->hex,
			    rc ? rd.why : "");
		n_wrong++;
	}
	assert_int_equal(n_wrong, 0);
}

static bool has_row(const struct rdata_type *type)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (rdata_rows[i].hex && !strcmp(rdata_rows[i].type, type->mnemonic))
			return true;
	return false;
}

static void has_a_row_for_each_type(void **state)
{
	const struct rdata_type *type;

	(void)state;
	for (size_t i = 0; (type = rdata_type_at(i)); i++) {
		assert_ptr_equal(rdata_type(type->number), type);
		assert_int_equal(rdtext_type(type->mnemonic, strlen(type->mnemonic)), type->number);
		assert_true(type->min <= type->max && type->source[0]);
		assert_true((type->print == RD_META) == rdata_is_meta(type->number));
		if (type->print != RD_META && !has_row(type))
			fail_msg("no row for %s", type->mnemonic);
	}
}

/* Both forms of each row, where it has both, come back as its octets. */
static void prints_what_it_reads(void **state)
{
	static uint8_t rdata[UINT16_MAX];
	unsigned n_text = 0;

	(void)state;
	set_test_origin();
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct rdata_row *row = &rdata_rows[i];
		uint16_t type = type_of(row);
		const char *tab;
		size_t n;
		unsigned len;

		if (!row->hex)
			continue;
		assert_int_equal(rdtext_parse(&rd, type, row->text), 0);
		len = rd.len;
		memcpy(rdata, rd.rdata, len);
		n = rdprint(text, type, rdata, len);
		text[n] = '\0';
		n_text += n > 0;
		if (n && rdtext_parse(&rd, type, text))
			fail_msg("%s: '%s': %s", row->name, text, rd.why);
		if (n && (rd.len != len || memcmp(rd.rdata, rdata, len)))
			fail_msg("%s: '%s' is another", row->name, text);
		n = rdprint_record(text, type, rdata, len);
		text[n] = '\0';
		tab = strchr(text, '\t');
		assert_int_equal(rdtext_type(text, (size_t)(tab - text)), type);
		if (rdtext_parse(&rd, type, tab + 1))
			fail_msg("%s: '%s': %s", row->name, text, rd.why);
		if (rd.len != len || memcmp(rd.rdata, rdata, len))
			fail_msg("%s: '%s' is another", row->name, text);
	}
	assert_true(n_text > 120);
}

static void knows_types(void **state)
{
	static const struct {
		const char *text;
		int type;
	} types[] = {
		{ "A", 1 },
		{ "aaaa", 28 },
		{ "TYPE65280", 65280 },
		{ "type1", 1 },
		{ "GPOS", 27 },
		{ "nsap-ptr", 23 },
		{ "TYPE", ERR_TYPE },
		{ "TYPE65536", ERR_TYPE },
		{ "", ERR_TYPE },
		{ "AA", ERR_TYPE },
		{ "A-very-long-mnemonic", ERR_TYPE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		print_message("  '%s'\n", types[i].text);
		assert_int_equal(rdtext_type(types[i].text, strlen(types[i].text)), types[i].type);
	}
	for (unsigned type = 1; type < 300; type++) {
		char word[PROTO_TEXT_MAX];
		int n = proto_type_to_text(word, (uint16_t)type);
		uint16_t got = rdtext_common_type(word, (size_t)n);

		assert_true(!got || got == type);
	}
	assert_int_equal(rdtext_common_type("DNSKEY", 6), DNS_TYPE_DNSKEY);
	assert_int_equal(rdtext_common_type("a", 1), 0);
}

/* Every day, and the second before its end. */
static void knows_dates(void **state)
{
	(void)state;
	set_test_origin();
	for (int64_t t = 86399; t <= UINT32_MAX; t += 86400) {
		char line[128], when[32];
		time_t seconds = (time_t)t;
		struct tm tm;

		gmtime_r(&seconds, &tm);
		strftime(when, sizeof(when), "%Y%m%d%H%M%S", &tm);
		snprintf(line, sizeof(line), "A 8 0 0 %s %s 1 . AAAA", when, when);
		assert_int_equal(rdtext_parse(&rd, DNS_TYPE_RRSIG, line), 0);
		assert_int_equal(wire_load_be32(rd.rdata + 8), t);
	}
}

/* Days that no calendar has, and times that 32 bits do not hold. */
static void refuses_dates(void **state)
{
	static const char *const dates[] = {
		"19691231235959", "21060207062816", "20230229000000", "21000229000000",
		"20230431000000", "20231301000000", "20230001000000", "20230100000000",
		"20230101240000", "20230101006000", "20230101000060",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
		char line[64];

		snprintf(line, sizeof(line), "A 8 0 0 %s 1 1 . AAAA", dates[i]);
		print_message("  %s\n", dates[i]);
		assert_int_equal(rdtext_parse(&rd, DNS_TYPE_RRSIG, line), ERR_RDATA);
		assert_non_null(strstr(rd.why, "a time from 1970 to 2106"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(has_a_row_for_each_type),
		cmocka_unit_test(prints_what_it_reads),
		cmocka_unit_test(knows_types),
		cmocka_unit_test(knows_dates),
		cmocka_unit_test(refuses_dates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
