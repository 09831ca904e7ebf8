/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is two names in wire form, one after the other; the whole input is also a name's text.
 * An accepted name must be the same after a round trip through text, and the comparisons must agree
 * with each other.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dns/name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

/* A round trip through text gives the same octets. */
static void round_trip(const uint8_t *name, size_t n_bytes)
{
	char text[NAME_TEXT_MAX];
	uint8_t back[DNS_NAME_MAX];
	int n = name_to_text(text, sizeof(text), name);

	must(n > 0 && text[n] == '\0' && strlen(text) == (size_t)n);
	must(name_from_text(back, sizeof(back), text, (size_t)n) == (int)n_bytes);
	must(!memcmp(back, name, n_bytes));
}

static void walk_up(const uint8_t *name)
{
	unsigned int n_labels = name_n_labels(name);
	const uint8_t *up = name;

	for (unsigned int i = 0; i < n_labels; i++, up = name_parent(up)) {
		must(name_is_under(name, up));
		must(i == 0 || name_canonical_cmp(name, up) > 0);
	}
	must(*up == 0 && !name_parent(up));
}

static void one(const uint8_t *name, size_t n_bytes)
{
	uint8_t folded[NAME_FOLDED_BYTES];

	must(n_bytes >= 1 && n_bytes <= DNS_NAME_MAX && name_bytes(name) == n_bytes);
	name_fold(folded, name, n_bytes);
	must(name_check(folded, n_bytes) == (int)n_bytes);
	must(name_equal(name, folded) && !name_canonical_cmp(name, folded));
	for (size_t i = 0; i < n_bytes; i++)
		must(folded[i] < 'A' || folded[i] > 'Z');
	round_trip(name, n_bytes);
	walk_up(name);
}

static void two(const uint8_t *a, const uint8_t *b)
{
	int order = name_canonical_cmp(a, b);

	must((order == 0) == name_equal(a, b));
	must((order > 0) == (name_canonical_cmp(b, a) < 0));
	must(!(name_is_under(a, b) && name_is_under(b, a)) || order == 0);
}

static void text(const uint8_t *data, size_t size)
{
	uint8_t name[DNS_NAME_MAX];
	int n = name_from_text(name, sizeof(name), (const char *)data, size);

	if (n < 0)
		return;
	must(name_check(name, sizeof(name)) == n);
	one(name, (size_t)n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int n_a = name_check(data, size), n_b;

	text(data, size);
	if (n_a < 0)
		return 0;
	one(data, (size_t)n_a);
	n_b = name_check(data + n_a, size - (size_t)n_a);
	if (n_b < 0)
		return 0;
	one(data + n_a, (size_t)n_b);
	two(data, data + n_a);
	return 0;
}
