/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields that most types have. Each goes over its text once, for the plain case; escapes and other rare
 * forms are read by a second, slower way within the same field.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/rdreading.h"
#include "zone/textname.h"

/* --- Tokens --- */

bool rdread_token(struct rdreading *f, struct text_token *token)
{
	return text_next(&f->at, token) || rdread_refuse(f, f->at, "a field is missing");
}

bool rdread_word(struct rdreading *f, struct text_token *token)
{
	if (!rdread_token(f, token))
		return false;
	return !token->quoted || rdread_refuse(f, token->at, "a field is quoted that must not be");
}

static size_t word_length(const char *text)
{
	size_t n = 0;

	while (!rdread_is_end(text[n]))
		n++;
	return n;
}

static bool has_room(struct rdreading *f, size_t n)
{
	return (size_t)(f->end - f->out) >= n || rdread_full(f);
}

/* --- Numbers --- */

static bool refuse_number(struct rdreading *f, uint32_t max)
{
	struct text_token token;

	return rdread_word(f, &token) &&
	       rdread_refuse(f, token.at, "'%.*s' is not a number from 0 to %u",
			     token.n < 64 ? (int)token.n : 64, token.at, max);
}

bool rdread_decimal(struct rdreading *f, uint32_t max, uint32_t *value)
{
	unsigned n = 0;
	uint64_t v = 0;

	rdread_skip_blanks(f);
	for (; rdread_is_digit(f->at[n]); n++) {
		v = v * 10 + (unsigned)(f->at[n] - '0');
		if (v > max)
			return refuse_number(f, max);
	}
	if (!n || !rdread_is_end(f->at[n]))
		return refuse_number(f, max);
	f->at += n;
	*value = (uint32_t)v;
	return true;
}

static bool put8(struct rdreading *f, uint32_t v)
{
	if (!has_room(f, 1))
		return false;
	*f->out++ = (uint8_t)v;
	return true;
}

static bool put16(struct rdreading *f, uint32_t v)
{
	if (!has_room(f, 2))
		return false;
	wire_store_be16(f->out, (uint16_t)v);
	f->out += 2;
	return true;
}

static bool put32(struct rdreading *f, uint32_t v)
{
	if (!has_room(f, 4))
		return false;
	wire_store_be32(f->out, v);
	f->out += 4;
	return true;
}

bool rdread_u8(struct rdreading *f)
{
	uint32_t v;

	return rdread_decimal(f, UINT8_MAX, &v) && put8(f, v);
}

bool rdread_u16(struct rdreading *f)
{
	uint32_t v;

	return rdread_decimal(f, UINT16_MAX, &v) && put16(f, v);
}

static bool u32(struct rdreading *f)
{
	uint32_t v;

	return rdread_decimal(f, UINT32_MAX, &v) && put32(f, v);
}

static bool period(struct rdreading *f)
{
	struct text_token token;
	uint32_t v;

	if (!rdread_word(f, &token))
		return false;
	if (text_to_period(&token, UINT32_MAX, &v))
		return rdread_refuse_token(f, &token, "a period of time");
	return put32(f, v);
}

/* --- Mnemonics of numbers --- */

struct mnemonic {
	uint16_t number;
	const char *text;
};

static bool mnemonic(struct rdreading *f, const struct mnemonic *rows, size_t n_rows, uint32_t max,
		     uint32_t *value)
{
	struct text_token token;

	rdread_skip_blanks(f);
	if (rdread_is_digit(*f->at))
		return rdread_decimal(f, max, value);
	if (!rdread_word(f, &token))
		return false;
	for (size_t i = 0; i < n_rows; i++) {
		if (text_is(&token, rows[i].text)) {
			*value = rows[i].number;
			return true;
		}
	}
	return rdread_refuse_token(f, &token, "a number or a known name for one");
}

/* IANA's registry of DNSSEC algorithm numbers. */
static bool algorithm(struct rdreading *f)
{
	static const struct mnemonic rows[] = {
		{ 1, "RSAMD5" },
		{ 2, "DH" },
		{ 3, "DSA" },
		{ 4, "ECC" },
		{ 5, "RSASHA1" },
		{ 6, "DSA-NSEC3-SHA1" },
		{ 7, "RSASHA1-NSEC3-SHA1" },
		{ 7, "NSEC3RSASHA1" },
		{ 8, "RSASHA256" },
		{ 10, "RSASHA512" },
		{ 12, "ECC-GOST" },
		{ 13, "ECDSAP256SHA256" },
		{ 14, "ECDSAP384SHA384" },
		{ 15, "ED25519" },
		{ 16, "ED448" },
		{ 252, "INDIRECT" },
		{ 253, "PRIVATEDNS" },
		{ 254, "PRIVATEOID" },
	};
	uint32_t v;

	return mnemonic(f, rows, sizeof(rows) / sizeof(rows[0]), UINT8_MAX, &v) && put8(f, v);
}

static bool certificate(struct rdreading *f)
{
	static const struct mnemonic rows[] = {
		{ 1, "PKIX" }, { 2, "SPKI" },   { 3, "PGP" },     { 4, "IPKIX" }, { 5, "ISPKI" },
		{ 6, "IPGP" }, { 7, "ACPKIX" }, { 8, "IACPKIX" }, { 253, "URI" }, { 254, "OID" },
	};
	uint32_t v;

	return mnemonic(f, rows, sizeof(rows) / sizeof(rows[0]), UINT16_MAX, &v) && put16(f, v);
}

/* --- Times --- */

/* Days from 1970-01-01 of a Gregorian date: years are counted from March, so the leap day is last. */
static int64_t days_from_civil(int year, unsigned month, unsigned day)
{
	int y = year - (month <= 2);
	int era = y / 400, year_of_era = y - era * 400;
	unsigned day_of_year = (153 * (month + (month > 2 ? -3u : 9u)) + 2) / 5 + day - 1;
	int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (int)day_of_year;

	return (int64_t)era * 146097 + day_of_era - 719468;
}

static unsigned two_digits(const char *p)
{
	return (unsigned)(p[0] - '0') * 10 + (unsigned)(p[1] - '0');
}

static bool is_leap(unsigned year)
{
	return !(year % 4) && (year % 100 || !(year % 400));
}

/* Fourteen digits; false: no such time, or none that 32 bits hold. */
static bool civil_time(const char *p, uint32_t *seconds)
{
	static const uint8_t days[] = { 0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned year = two_digits(p) * 100 + two_digits(p + 2), month = two_digits(p + 4);
	unsigned day = two_digits(p + 6), hour = two_digits(p + 8), minute = two_digits(p + 10);
	unsigned second = two_digits(p + 12);
	int64_t t;

	if (year < 1970 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 ||
	    second > 59 || day > days[month] + (unsigned)(month == 2 && is_leap(year)))
		return false;
	t = days_from_civil((int)year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
	*seconds = (uint32_t)t;
	return t <= UINT32_MAX;
}

static bool date(struct rdreading *f)
{
	struct text_token token;
	const char *begin;
	uint32_t t;
	size_t n = 0;

	rdread_skip_blanks(f);
	begin = f->at;
	while (rdread_is_digit(begin[n]))
		n++;
	if (n != 14 || !rdread_is_end(begin[n]))
		return u32(f);
	if (civil_time(begin, &t)) {
		f->at += n;
		return put32(f, t);
	}
	rdread_token(f, &token);
	return rdread_refuse_token(f, &token, "a time from 1970 to 2106");
}

/* --- Addresses --- */

bool rdread_ipv4(struct rdreading *f)
{
	const char *p;
	struct text_token token;

	rdread_skip_blanks(f);
	if (!has_room(f, 4))
		return false;
	p = f->at;
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = 0, v = 0;

		for (; n < 3 && rdread_is_digit(p[n]); n++)
			v = v * 10 + (unsigned)(p[n] - '0');
		if (!n || v > 255 || (n > 1 && *p == '0') ||
		    (i < 3 ? p[n] != '.' : !rdread_is_end(p[n])))
			return rdread_word(f, &token) &&
			       rdread_refuse_token(f, &token, "an IPv4 address");
		f->out[i] = (uint8_t)v;
		p += n + (i < 3);
	}
	f->out += 4;
	f->at = p;
	return true;
}

bool rdread_ipv6(struct rdreading *f)
{
	char text[INET6_ADDRSTRLEN];
	struct text_token token;
	size_t n;

	rdread_skip_blanks(f);
	if (!has_room(f, 16))
		return false;
	n = word_length(f->at);
	if (n < sizeof(text)) {
		memcpy(text, f->at, n);
		text[n] = '\0';
	}
	if (n >= sizeof(text) || inet_pton(AF_INET6, text, f->out) != 1)
		return rdread_word(f, &token) && rdread_refuse_token(f, &token, "an IPv6 address");
	f->at += n;
	f->out += 16;
	return true;
}

/* --- Names --- */

bool rdread_name(struct rdreading *f)
{
	struct text_token token;
	uint8_t wire[256];
	int n;

	rdread_skip_blanks(f);
	n = (int)textname_read_plain(&f->at, f->t->origin, f->t->origin_bytes, wire);
	if (n > 0 && f->end - f->out >= n) {
		memcpy(f->out, wire, (size_t)n);
		f->out += n;
		return true;
	}
	if (n > 0 && !has_room(f, (size_t)n))
		return false;
	if (!rdread_token(f, &token))
		return false;
	if (token.quoted)
		return rdread_refuse(f, token.at, "a name is quoted");
	n = textname_read(&token, f->t->origin, f->t->origin_bytes, wire);
	if (n < 0)
		return rdread_refuse(f, token.at, "'%.*s': %s", token.n < 64 ? (int)token.n : 64,
				     token.at, err_text(n));
	if (!has_room(f, (size_t)n))
		return false;
	memcpy(f->out, wire, (size_t)n);
	f->out += n;
	return true;
}

/* --- Octets --- */

int rdread_hex_value(char c)
{
	if (rdread_is_digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One word of hex. */
bool rdread_hex_word(struct rdreading *f)
{
	const char *begin;

	rdread_skip_blanks(f);
	begin = f->at;
	if (rdread_is_end(*begin))
		return rdread_refuse(f, begin, "a field is missing");
	while (!rdread_is_end(*f->at)) {
		int high = rdread_hex_value(f->at[0]);
		int low = high < 0 ? -1 : rdread_hex_value(f->at[1]);

		if (high < 0 || (low < 0 && !rdread_is_end(f->at[1])))
			return rdread_refuse(f, f->at,
					     "there is something else among the hex digits");
		if (low < 0)
			return rdread_refuse(f, begin, "the number of hex digits is odd");
		if (!put8(f, (uint32_t)(high << 4 | low)))
			return false;
		f->at += 2;
	}
	return true;
}

/* Hex to the end, blanks anywhere. */
bool rdread_hex(struct rdreading *f)
{
	const char *begin = f->at;
	int high = -1;

	if (rdread_at_end(f))
		return rdread_refuse(f, f->at, "a field is missing");
	for (; *f->at; f->at++) {
		int v = rdread_hex_value(*f->at);

		if (*f->at == ' ' || *f->at == '\t')
			continue;
		if (v < 0)
			return rdread_refuse(f, f->at,
					     "there is something else among the hex digits");
		if (high >= 0 && !put8(f, (uint32_t)(high << 4 | v)))
			return false;
		high = high >= 0 ? -1 : v;
	}
	return high < 0 || rdread_refuse(f, begin, "the number of hex digits is odd");
}

/* Value + 1, so that all the rest is 0. */
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
	unsigned n, n_pads; /* characters of the last group, "=" among them */
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
	/* Bits behind the last octet are 0: RFC 4648 section 3.5. */
	if (b->n_pads && b->bits & ((1u << 8 * b->n_pads) - 1))
		return rdread_refuse(f, at, "it is not base64: bits are left over");
	if (!has_room(f, 3 - b->n_pads))
		return false;
	for (unsigned i = 0; i < 3 - b->n_pads; i++)
		*f->out++ = (uint8_t)(b->bits >> (16 - 8 * i));
	b->n = 0;
	b->bits = 0;
	return true;
}

/* Whole groups of four, as long as nothing else comes: where that ends. */
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

/* Blanks anywhere. */
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

/* Base32 with the extended hex alphabet, not padded, its octets counted before it. */
static bool hash(struct rdreading *f)
{
	struct text_token token;
	uint8_t *length = f->out;
	unsigned n_bits = 0;
	uint32_t bits = 0;

	if (!rdread_word(f, &token) || !put8(f, 0))
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
		if (!put8(f, bits >> n_bits & 0xff))
			return false;
	}
	if (n_bits >= 5 || bits & ((1u << n_bits) - 1) || f->out - length > 256)
		return rdread_refuse_token(f, &token, "a hash in base32hex");
	*length = (uint8_t)(f->out - length - 1);
	return true;
}

/* "-" or hex, length first. */
static bool salt(struct rdreading *f)
{
	uint8_t *length = f->out;

	if (!put8(f, 0))
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

/* --- Types --- */

bool rdread_type(struct rdreading *f, uint16_t *type)
{
	struct text_token token;
	int rc;

	rdread_skip_blanks(f);
	token.n = word_length(f->at);
	rc = rdtext_common_type(f->at, token.n);
	if (rc) {
		*type = (uint16_t)rc;
		f->at += token.n;
		return true;
	}
	if (!rdread_word(f, &token))
		return false;
	rc = rdtext_type(token.at, token.n);
	if (rc <= 0)
		return rdread_refuse_token(f, &token, "a record type");
	*type = (uint16_t)rc;
	return true;
}

static bool type(struct rdreading *f)
{
	uint16_t number;

	return rdread_type(f, &number) && put16(f, number);
}

/* One window: RFC 4034 section 4.1.2. */
static bool put_window(struct rdreading *f, unsigned window, const uint8_t bits[32])
{
	unsigned n = 32;

	while (n && !bits[n - 1])
		n--;
	if (!n)
		return true;
	if (!has_room(f, 2 + n))
		return false;
	*f->out++ = (uint8_t)window;
	*f->out++ = (uint8_t)n;
	memcpy(f->out, bits, n);
	f->out += n;
	return true;
}

static bool all_windows(struct rdreading *f)
{
	uint8_t bits[256][32] = { 0 };
	uint16_t number;

	while (!rdread_at_end(f)) {
		if (!rdread_type(f, &number))
			return false;
		bits[number / 256][number % 256 / 8] |= (uint8_t)(0x80 >> number % 8);
	}
	for (unsigned i = 0; i < 256; i++)
		if (!put_window(f, i, bits[i]))
			return false;
	return true;
}

static bool bitmap(struct rdreading *f)
{
	const char *begin = f->at;
	uint8_t bits[32] = { 0 };
	uint16_t number;

	while (!rdread_at_end(f)) {
		if (!rdread_type(f, &number))
			return false;
		if (number > 255) {
			f->at = begin;
			return all_windows(f);
		}
		bits[number / 8] |= (uint8_t)(0x80 >> number % 8);
	}
	return put_window(f, 0, bits);
}

/* --- Text --- */

/* The octet at *@p, which may be escaped; -1: a bad escape. */
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

/* Quoted and without escapes, as most are; nothing is read where it is not. */
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

static bool string(struct rdreading *f)
{
	struct text_token token;
	size_t room;
	long n;

	rdread_skip_blanks(f);
	if (plain_string(f))
		return true;
	if (!rdread_token(f, &token) || !has_room(f, 1))
		return false;
	room = (size_t)(f->end - f->out) - 1;
	n = rdread_octets(f, &token, f->out + 1, room < 255 ? room : 255);
	if (n < 0)
		return false;
	*f->out = (uint8_t)n;
	f->out += 1 + n;
	return true;
}

static bool string_opt(struct rdreading *f)
{
	return rdread_at_end(f) || string(f);
}

static bool strings(struct rdreading *f)
{
	do {
		if (!string(f))
			return false;
	} while (!rdread_at_end(f));
	return true;
}

static bool quoted(struct rdreading *f)
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

/* RFC 3597 section 5 has the only text of these. */
static bool rest(struct rdreading *f)
{
	return rdread_refuse(f, f->at, "this type has only the generic form, \\# LENGTH HEX");
}

const rdread_field rdread_fields[RD_N_FIELDS] = {
	[RD_U8] = rdread_u8,
	[RD_U16] = rdread_u16,
	[RD_U32] = u32,
	[RD_PERIOD] = period,
	[RD_TIME] = date,
	[RD_TYPE] = type,
	[RD_ALGORITHM] = algorithm,
	[RD_CERTIFICATE] = certificate,
	[RD_IPV4] = rdread_ipv4,
	[RD_IPV6] = rdread_ipv6,
	[RD_EUI48] = rdread_eui48,
	[RD_EUI64] = rdread_eui64,
	[RD_ILNP64] = rdread_ilnp64,
	[RD_NAME] = rdread_name,
	[RD_STRING] = string,
	[RD_STRING_OPT] = string_opt,
	[RD_STRINGS] = strings,
	[RD_REST] = rest,
	[RD_HEX] = rdread_hex,
	[RD_BASE64] = rdread_base64,
	[RD_BASE64_OPT] = rdread_base64,
	[RD_QUOTED] = quoted,
	[RD_TAG] = string,
	[RD_SALT] = salt,
	[RD_HASH] = hash,
	[RD_BITMAP] = bitmap,
	[RD_BITMAP_OPT] = bitmap,
	[RD_NXT] = rdread_nxt,
	[RD_WKS] = rdread_wks,
	[RD_NSAP] = rdread_nsap,
	[RD_ATMA] = rdread_atma,
	[RD_A6] = rdread_a6,
	[RD_LOC] = rdread_loc,
	[RD_APL] = rdread_apl,
	[RD_IPSECKEY] = rdread_ipseckey,
	[RD_AMTRELAY] = rdread_amtrelay,
	[RD_HIP] = rdread_hip,
	[RD_SVCPARAMS] = rdread_svcparams,
};
