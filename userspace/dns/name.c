/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/name.h"

#include <endian.h>
#include <string.h>

#include "base/err.h"

int name_check(const uint8_t *p, size_t cap)
{
	size_t at = 0;

	while (at < cap) {
		uint8_t n = p[at];

		if (n > DNS_LABEL_MAX)
			return ERR_NAME;
		at += 1u + n;
		if (at > DNS_NAME_MAX)
			return ERR_NAME_LONG;
		if (!n)
			return (int)at;
	}
	return ERR_SHORT;
}

size_t name_bytes(const uint8_t *name)
{
	size_t at = 0;

	while (name[at])
		at += 1u + name[at];
	return at + 1;
}

unsigned int name_n_labels(const uint8_t *name)
{
	unsigned int n = 0;

	for (; *name; name += 1u + *name)
		n++;
	return n;
}

const uint8_t *name_parent(const uint8_t *name)
{
	return *name ? name + 1 + *name : NULL;
}

const uint8_t *name_skip_labels(const uint8_t *name, unsigned int n)
{
	while (n--)
		name += 1u + *name;
	return name;
}

/*
 * Lower-cases eight octets at once. Two sums of each octet's low seven bits carry into bit 7: one
 * from 'A' on, the other from after 'Z' on. If only the first carries, the octet is a capital
 * letter, and bit 5 makes it small. Octets from 0x80 on stay.
 */
static uint64_t fold_word(uint64_t w)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t low = w & 0x7f * ones;
	uint64_t from_a = low + (0x80 - 'A') * ones;
	uint64_t behind_z = low + (0x7f - 'Z') * ones;
	uint64_t capital = (from_a ^ behind_z) & ~w & 0x80 * ones;

	return w | capital >> 2;
}

static uint64_t load_name_word(const uint8_t *p, size_t n)
{
	uint64_t w = 0;

	memcpy(&w, p, n);
	return w;
}

/* The last n_bytes - at octets, fewer than 8, followed by zeros. If there are 8 octets, loads the
 * last 8 and shifts them: a copy whose length the compiler does not know would be a call. */
static uint64_t load_name_tail(const uint8_t *p, size_t at, size_t n_bytes)
{
	if (n_bytes < 8)
		return load_name_word(p, n_bytes);
	return htole64(le64toh(load_name_word(p + n_bytes - 8, 8)) >> 8 * (8 - (n_bytes - at)));
}

void name_fold(uint8_t *dst, const uint8_t *src, size_t n_bytes)
{
	size_t at = 0;
	uint64_t w;

	for (; n_bytes - at >= 8; at += 8) {
		w = fold_word(load_name_word(src + at, 8));
		memcpy(dst + at, &w, 8);
	}
	if (at == n_bytes)
		return;
	w = fold_word(load_name_tail(src, at, n_bytes));
	memcpy(dst + at, &w, 8);
}

static bool equal_folded(const uint8_t *a, const uint8_t *b, size_t n_bytes)
{
	size_t at = 0;

	for (; n_bytes - at >= 8; at += 8)
		if (fold_word(load_name_word(a + at, 8)) != fold_word(load_name_word(b + at, 8)))
			return false;
	return at == n_bytes || fold_word(load_name_tail(a, at, n_bytes)) ==
					fold_word(load_name_tail(b, at, n_bytes));
}

bool name_equal(const uint8_t *a, const uint8_t *b)
{
	size_t n_bytes = name_bytes(a);

	return n_bytes == name_bytes(b) && equal_folded(a, b, n_bytes);
}

bool name_is_under(const uint8_t *name, const uint8_t *apex)
{
	unsigned int n = name_n_labels(name), n_apex = name_n_labels(apex);

	return n >= n_apex && name_equal(name_skip_labels(name, n - n_apex), apex);
}

static uint8_t lower_name(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

int name_label_cmp(const uint8_t *a, const uint8_t *b)
{
	uint8_t n = *a < *b ? *a : *b;

	for (uint8_t i = 1; i <= n; i++)
		if (lower_name(a[i]) != lower_name(b[i]))
			return lower_name(a[i]) - lower_name(b[i]);
	return *a - *b;
}

/* Notes where each label begins, from the left. Returns their number. */
static unsigned int split_name(const uint8_t *label[DNS_LABELS_MAX], const uint8_t *name)
{
	unsigned int n = 0;

	for (; *name; name += 1u + *name)
		label[n++] = name;
	return n;
}

int name_canonical_cmp(const uint8_t *a, const uint8_t *b)
{
	const uint8_t *label_a[DNS_LABELS_MAX], *label_b[DNS_LABELS_MAX];
	unsigned int n_a = split_name(label_a, a), n_b = split_name(label_b, b);

	while (n_a && n_b) {
		int order = name_label_cmp(label_a[--n_a], label_b[--n_b]);

		if (order)
			return order;
	}
	return (int)n_a - (int)n_b;
}

/* --- Text ------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Reads one character of a label at text[*at], resolves an escape, and moves *at after it. White
 * space and control characters must be escaped: without an escape, they are the caller's mistake,
 * such as a line end.
 */
static int read_char(const char *text, size_t n_bytes, size_t *at)
{
	const char *p = text + *at;
	size_t left = n_bytes - *at;
	int value;

	if (*p != '\\') {
		*at += 1;
		return (uint8_t)*p <= ' ' || *p == 0x7f ? ERR_ESCAPE : (uint8_t)*p;
	}
	if (left < 2)
		return ERR_ESCAPE;
	if (!is_digit(p[1])) {
		*at += 2;
		return (uint8_t)p[1];
	}
	if (left < 4 || !is_digit(p[2]) || !is_digit(p[3]))
		return ERR_ESCAPE;
	value = (p[1] - '0') * 100 + (p[2] - '0') * 10 + (p[3] - '0');
	*at += 4;
	return value > UINT8_MAX ? ERR_ESCAPE : value;
}

/*
 * Reads the label at text[*at] with its length octet, and moves *at after its dot. Returns octets.
 */
static int read_label(uint8_t dst[1 + DNS_LABEL_MAX], const char *text, size_t n_bytes, size_t *at)
{
	int n = 0;

	while (*at < n_bytes && text[*at] != '.') {
		int c = read_char(text, n_bytes, at);

		if (c < 0)
			return c;
		if (n == DNS_LABEL_MAX)
			return ERR_LABEL_LONG;
		dst[++n] = (uint8_t)c;
	}
	if (!n)
		return ERR_LABEL_EMPTY;
	dst[0] = (uint8_t)n;
	*at += *at < n_bytes;
	return n + 1;
}

int name_from_text(uint8_t *dst, size_t cap, const char *text, size_t n_bytes)
{
	uint8_t label[1 + DNS_LABEL_MAX];
	size_t at = 0, out = 0;

	if (!n_bytes)
		return ERR_LABEL_EMPTY;
	if (n_bytes == 1 && text[0] == '.')
		at = 1;
	while (at < n_bytes) {
		int n = read_label(label, text, n_bytes, &at);

		if (n < 0)
			return n;
		if (out + (size_t)n >= DNS_NAME_MAX)
			return ERR_NAME_LONG;
		if (out + (size_t)n >= cap)
			return ERR_SPACE;
		memcpy(dst + out, label, (size_t)n);
		out += (size_t)n;
	}
	if (out >= cap)
		return ERR_SPACE;
	dst[out++] = 0;
	return (int)out;
}

/* Writes one octet of a label as text. Returns its length: 1, 2 or 4. */
static size_t write_char(char dst[4], uint8_t c)
{
	if (c <= ' ' || c > '~') {
		dst[0] = '\\';
		dst[1] = (char)('0' + c / 100);
		dst[2] = (char)('0' + c / 10 % 10);
		dst[3] = (char)('0' + c % 10);
		return 4;
	}
	if (!strchr(".\\\"();@$", c)) {
		dst[0] = (char)c;
		return 1;
	}
	dst[0] = '\\';
	dst[1] = (char)c;
	return 2;
}

/* Appends n characters and leaves room for the NUL. */
static bool append_name(char *dst, size_t cap, size_t *at, const char *src, size_t n)
{
	if (n >= cap - *at)
		return false;
	memcpy(dst + *at, src, n);
	*at += n;
	return true;
}

int name_to_text(char *dst, size_t cap, const uint8_t *name)
{
	size_t at = 0;
	char piece[4];

	if (!cap || (!*name && !append_name(dst, cap, &at, ".", 1)))
		return ERR_SPACE;
	for (; *name; name += 1u + *name) {
		for (uint8_t i = 1; i <= *name; i++)
			if (!append_name(dst, cap, &at, piece, write_char(piece, name[i])))
				return ERR_SPACE;
		if (!append_name(dst, cap, &at, ".", 1))
			return ERR_SPACE;
	}
	dst[at] = '\0';
	return (int)at;
}
