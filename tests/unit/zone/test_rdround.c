/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random data of each type (VOLLEY_RDATA_ROUNDS of each, 300 without; VOLLEY_RDATA_SEED) to text
 * and back: the same octets, by the type's own form where it has one, and by the form in which it
 * is written. What other servers read of that: tests/diff/test_rdata_text.py.
 */
#include <stdlib.h>

#include "tests/lib/rdgen.h"
#include "tests/lib/rdtypes_each.h"
#include "zone/rdprint.h"
#include "zone/rdtext.h"
#include "zone_text.h"

static struct rdtext rd;
static char text[RDPRINT_TEXT_MAX + 1];

static void comes_back(const struct rdata_type *row, const char *from, const uint8_t *rdata,
		       unsigned n)
{
	if (rdtext_parse(&rd, row->number, from))
		fail_msg("%s: '%s': %s", row->mnemonic, from, rd.why);
	if (rd.len != n || memcmp(rd.rdata, rdata, n))
		fail_msg("%s: '%s' is another", row->mnemonic, from);
}

/* How many had a text of their own. */
static unsigned round_trips(const struct rdata_type *row, unsigned n_rounds)
{
	static uint8_t rdata[RDGEN_MAX];
	unsigned n_text = 0;

	for (unsigned i = 0; i < n_rounds; i++) {
		unsigned n = rdgen(row, rdata);
		size_t length = rdprint(text, row->number, rdata, n);

		text[length] = '\0';
		n_text += length > 0;
		if (length)
			comes_back(row, text, rdata, n);
		length = rdprint_record(text, row->number, rdata, n);
		text[length] = '\0';
		comes_back(row, strchr(text, '\t') + 1, rdata, n);
	}
	return n_text;
}

static unsigned number_of(const char *name, unsigned otherwise)
{
	const char *value = getenv(name);

	return value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
}

static void comes_back_as_it_was(void **state)
{
	unsigned n_rounds = number_of("VOLLEY_RDATA_ROUNDS", 300);
	const struct rdata_type *row;

	(void)state;
	seed = number_of("VOLLEY_RDATA_SEED", 1);
	for (size_t i = 0; (row = rdata_type_at(i)); i++) {
		unsigned n_text;

		if (row->print == RD_META)
			continue;
		n_text = round_trips(row, n_rounds);
		print_message("  %s: %u of %u as text\n", row->mnemonic, n_text, n_rounds);
		if (row->fields[0] != RD_REST && n_rounds >= 300)
			assert_true(n_text > n_rounds / 50);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_as_it_was),
	};

	rdtext_init(&rd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
