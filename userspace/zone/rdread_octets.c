/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads fields of any octets: hex, base64, base32 and strings. */
#include <string.h>

#include "base/hex.h"
#include "base/wire.h"
#include "dns/proto.h"
#include "zone/rdreading.h"
#include "zone/rdtext.h"

/* --- Hex --- */

bool rdread_hex_word(struct rdreading *f)
{
	const char *begin;

	rdread_skip_blanks(f);
	begin = f->at;
	if (rdread_is_end(*begin))
		return rdread_refuse(f, begin, "a field is missing");
	while (!rdread_is_end(*f->at)) {
		int high = hex_digit(f->at[0]);
		int low = high < 0 ? -1 : hex_digit(f->at[1]);

		if (high < 0 || (low < 0 && !rdread_is_end(f->at[1])))
			return rdread_refuse(f, f->at,
					     "there is something else among the hex digits");
		if (low < 0)
			return rdread_refuse(f, begin, "the number of hex digits is odd");
		if (!rdread_put8(f, (uint32_t)(high << 4 | low)))
			return false;
		f->at += 2;
	}
	return true;
}

/* Reads hex to the end, with blanks anywhere. */
bool rdread_hex(struct rdreading *f)
{
	const char *begin = f->at;
	int high = -1;

	if (rdread_at_end(f))
		return rdread_refuse(f, f->at, "a field is missing");
	for (; *f->at; f->at++) {
		int v = hex_digit(*f->at);

		if (*f->at == ' ' || *f->at == '\t')
			continue;
		if (v < 0)
			return rdread_refuse(f, f->at,
					     "there is something else among the hex digits");
		if (high >= 0 && !rdread_put8(f, (uint32_t)(high << 4 | v)))
			return false;
		high = high >= 0 ? -1 : v;
	}
	return high < 0 || rdread_refuse(f, begin, "the number of hex digits is odd");
}

/* --- Base64 and base32 --- */

/* The value + 1; 0 for all other characters. */
static const uint8_t base64_value[256] = {
	['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,
	['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
	['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
	['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
	['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
	['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
	['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
	['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
	['/'] = 64,
};

struct base64 {
	uint32_t bits;
	unsigned n, n_pads; /* characters of the last group, with "=" */
};

static bool base64_char(struct rdreading *f, struct base64 *b, const char *at)
{
	unsigned value = base64_value[(uint8_t)*at];
	bool pad = *at == '=' && b->n >= 2;

	if ((!value && !pad) || (value && b->n_pads) || (!b->n && b->n_pads))
		return rdread_refuse(f, at, "it is not base64");
	b->bits = b->bits << 6 | (value ? value - 1 : 0);
	b->n_pads += pad;
	if (++b->n < 4)
		return true;
	/* Bits after the last octet must be 0: RFC 4648 section 3.5. */
	if (b->n_pads && b->bits & ((1u << 8 * b->n_pads) - 1))
		return rdread_refuse(f, at, "it is not base64: bits are left over");
	if (!rdread_has_room(f, 3 - b->n_pads))
		return false;
	for (unsigned i = 0; i < 3 - b->n_pads; i++)
		*f->out++ = (uint8_t)(b->bits >> (16 - 8 * i));
	b->n = 0;
	b->bits = 0;
	return true;
}

/* Reads whole groups of four without other characters. Returns the place where it stopped. */
static const char *base64_groups(struct rdreading *f, const char *p, const char *end)
{
	while (end - p >= 4 && f->end - f->out >= 3) {
		const uint8_t *u = (const uint8_t *)p;
		uint8_t a = base64_value[u[0]], b = base64_value[u[1]], c = base64_value[u[2]],
			d = base64_value[u[3]];
		uint32_t v;

		if (!a || !b || !c || !d)
			break;
		v = (uint32_t)(a - 1) << 18 | (uint32_t)(b - 1) << 12 | (uint32_t)(c - 1) << 6 |
		    (d - 1u);
		f->out[0] = (uint8_t)(v >> 16);
		f->out[1] = (uint8_t)(v >> 8);
		f->out[2] = (uint8_t)v;
		f->out += 3;
		p += 4;
	}
	return p;
}

/* Reads base64 with blanks anywhere. */
bool rdread_base64_text(struct rdreading *f, const char *text, size_t n)
{
	const char *end = text + n, *p = text;
	struct base64 b = { 0 };

	while (p < end) {
		if (!b.n && !b.n_pads)
			p = base64_groups(f, p, end);
		if (p == end)
			break;
		if (*p != ' ' && *p != '\t' && !base64_char(f, &b, p))
			return false;
		p++;
	}
	return !b.n ||
	       rdread_refuse(f, text, "it is not base64: characters are missing at its end");
}

bool rdread_base64(struct rdreading *f)
{
	const char *begin;
	size_t n;

	if (rdread_at_end(f))
		return rdread_refuse(f, f->at, "a field is missing");
	begin = f->at;
	n = strlen(begin);
	f->at += n;
	/* The data of DOA may be empty. */
	if (f->t->type == DNS_TYPE_DOA && *begin == '-' && rdread_is_end(begin[1]))
		return true;
	return rdread_base64_text(f, begin, n);
}

/* Reads base32 with the extended hex alphabet, without padding; writes its length first. */
bool rdread_hash(struct rdreading *f)
{
	struct text_token token;
	uint8_t *length = f->out;
	unsigned n_bits = 0;
	uint32_t bits = 0;

	if (!rdread_word(f, &token) || !rdread_put8(f, 0))
		return false;
	for (size_t i = 0; i < token.n; i++) {
		char c = token.at[i];
		unsigned value;

		if (rdread_is_digit(c))
			value = (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'v')
			value = (unsigned)((c | 0x20) - 'a' + 10);
		else
			return rdread_refuse_token(f, &token, "a hash in base32hex");
		bits = bits << 5 | value;
		n_bits += 5;
		if (n_bits < 8)
			continue;
		n_bits -= 8;
		if (!rdread_put8(f, bits >> n_bits & 0xff))
			return false;
	}
	if (n_bits >= 5 || bits & ((1u << n_bits) - 1) || f->out - length > 256)
		return rdread_refuse_token(f, &token, "a hash in base32hex");
	*length = (uint8_t)(f->out - length - 1);
	return true;
}

/* Reads "-" or hex; writes its length first. */
bool rdread_salt(struct rdreading *f)
{
	uint8_t *length = f->out;

	if (!rdread_put8(f, 0))
		return false;
	rdread_skip_blanks(f);
	if (f->at[0] == '-' && rdread_is_end(f->at[1])) {
		f->at++;
		return true;
	}
	if (!rdread_hex_word(f))
		return false;
	if (f->out - length > 256)
		return rdread_refuse(f, f->at, "the salt is longer than 255 octets");
	*length = (uint8_t)(f->out - length - 1);
	return true;
}

/* --- Strings --- */

/* Reads the octet at *@p, which may be escaped; -1: a bad escape. */
static int one_octet(const char **p, const char *end)
{
	const char *at = *p;

	if (*at != '\\') {
		*p = at + 1;
		return (uint8_t)*at;
	}
	if (end - at >= 4 && rdread_is_digit(at[1])) {
		int v = (at[1] - '0') * 100;

		if (!rdread_is_digit(at[2]) || !rdread_is_digit(at[3]))
			return -1;
		v += (at[2] - '0') * 10 + at[3] - '0';
		*p = at + 4;
		return v <= 255 ? v : -1;
	}
	if (end - at < 2 || rdread_is_digit(at[1]))
		return -1;
	*p = at + 2;
	return (uint8_t)at[1];
}

long rdread_octets(struct rdreading *f, const struct text_token *token, uint8_t *dst, size_t cap)
{
	const char *p = token->at, *end = p + token->n;
	size_t n = 0;

	while (p < end) {
		const char *at = p;
		int c = one_octet(&p, end);

		if (c < 0) {
			rdread_refuse(f, at,
				      "an escape is not \\ and three digits up to 255, or \\ and "
				      "another character");
			return -1;
		}
		if (n == cap) {
			rdread_refuse(f, token->at, "it is longer than %zu octets", cap);
			return -1;
		}
		dst[n++] = (uint8_t)c;
	}
	return (long)n;
}

/* Reads a quoted string without escapes, as most are; false, and nothing is read, for others. */
static bool plain_string(struct rdreading *f)
{
	const char *p = f->at + 1;
	size_t n = 0;

	if (*f->at != '"')
		return false;
	while (p[n] >= ' ' && p[n] < 0x7f && p[n] != '"' && p[n] != '\\')
		n++;
	if (p[n] != '"' || n > 255 || (size_t)(f->end - f->out) < 1 + n)
		return false;
	*f->out++ = (uint8_t)n;
	memcpy(f->out, p, n);
	f->out += n;
	f->at = p + n + 1;
	return true;
}

bool rdread_string(struct rdreading *f)
{
	struct text_token token;
	size_t room;
	long n;

	rdread_skip_blanks(f);
	if (plain_string(f))
		return true;
	if (!rdread_token(f, &token) || !rdread_has_room(f, 1))
		return false;
	room = (size_t)(f->end - f->out) - 1;
	n = rdread_octets(f, &token, f->out + 1, room < 255 ? room : 255);
	if (n < 0)
		return false;
	*f->out = (uint8_t)n;
	f->out += 1 + n;
	return true;
}

bool rdread_string_opt(struct rdreading *f)
{
	return rdread_at_end(f) || rdread_string(f);
}

bool rdread_strings(struct rdreading *f)
{
	do {
		if (!rdread_string(f))
			return false;
	} while (!rdread_at_end(f));
	return true;
}

bool rdread_quoted(struct rdreading *f)
{
	struct text_token token;
	long n;

	if (!rdread_token(f, &token))
		return false;
	n = rdread_octets(f, &token, f->out, (size_t)(f->end - f->out));
	if (n < 0)
		return false;
	f->out += n;
	return true;
}
