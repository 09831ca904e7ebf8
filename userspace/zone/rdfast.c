/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cursor over the text and one over the rdata; each field moves both or says no. One table of
 * character classes serves all fields.
 */
#include "zone/rdfast.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"

/* Room kept for one field of fixed size: no check per octet. */
#define SLACK 64

struct field {
	const char *text;
	uint8_t *out, *end; /* end: SLACK octets before that of the buffer */
	const struct rdtext *t;
};

/* --- Characters --- */

/* What may stand in a plain label. */
static const uint8_t plain[256] = {
	['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['-'] = 1, ['_'] = 1, ['*'] = 1,
};

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

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_end(char c)
{
	return !c || is_blank(c);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_blanks(struct field *f)
{
	while (is_blank(*f->text))
		f->text++;
}

/* Behind the last field there may be blanks and no more. */
static bool at_end(struct field *f)
{
	skip_blanks(f);
	return !*f->text;
}

static size_t token_length(const char *text)
{
	size_t n = 0;

	while (!is_end(text[n]))
		n++;
	return n;
}

/* --- Numbers --- */

static bool decimal(struct field *f, unsigned digits_max, uint64_t max, uint64_t *value)
{
	unsigned n = 0;
	uint64_t v = 0;

	skip_blanks(f);
	for (; is_digit(f->text[n]); n++) {
		if (n == digits_max)
			return false;
		v = v * 10 + (unsigned)(f->text[n] - '0');
	}
	if (!n || !is_end(f->text[n]) || v > max)
		return false;
	f->text += n;
	*value = v;
	return true;
}

static bool number8(struct field *f)
{
	uint64_t v;

	if (!decimal(f, 3, UINT8_MAX, &v))
		return false;
	*f->out++ = (uint8_t)v;
	return true;
}

static bool number16(struct field *f)
{
	uint64_t v;

	if (!decimal(f, 5, UINT16_MAX, &v))
		return false;
	wire_store_be16(f->out, (uint16_t)v);
	f->out += 2;
	return true;
}

static bool ttl(struct field *f)
{
	uint64_t v;

	if (!decimal(f, 9, DNS_TTL_MAX, &v))
		return false;
	wire_store_be32(f->out, (uint32_t)v);
	f->out += 4;
	return true;
}

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

/* YYYYMMDDHHmmSS, RFC 4034 section 3.2. Leap days are left to ldns. */
static bool date(struct field *f)
{
	static const uint8_t days[] = { 0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned year, month, day, hour, minute, second;
	const char *p;

	skip_blanks(f);
	p = f->text;
	for (unsigned i = 0; i < 14; i++)
		if (!is_digit(p[i]))
			return false;
	if (!is_end(p[14]))
		return false;
	year = two_digits(p) * 100 + two_digits(p + 2);
	month = two_digits(p + 4);
	day = two_digits(p + 6);
	hour = two_digits(p + 8);
	minute = two_digits(p + 10);
	second = two_digits(p + 12);
	if (year < 1970 || year > 2037 || month < 1 || month > 12 || day < 1 || day > days[month] ||
	    hour > 23 || minute > 59 || second > 59)
		return false;
	wire_store_be32(f->out, (uint32_t)(days_from_civil((int)year, month, day) * 86400 +
					   hour * 3600 + minute * 60 + second));
	f->out += 4;
	f->text += 14;
	return true;
}

/* --- Addresses --- */

static bool ipv4(struct field *f)
{
	skip_blanks(f);
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = 0, v = 0;

		for (; n < 3 && is_digit(f->text[n]); n++)
			v = v * 10 + (unsigned)(f->text[n] - '0');
		if (!n || v > 255 || (n > 1 && f->text[0] == '0'))
			return false;
		*f->out++ = (uint8_t)v;
		f->text += n;
		if (i < 3 && *f->text++ != '.')
			return false;
	}
	return is_end(*f->text);
}

static bool ipv6(struct field *f)
{
	char text[INET6_ADDRSTRLEN];
	size_t n;

	skip_blanks(f);
	n = token_length(f->text);
	if (n >= sizeof(text))
		return false;
	memcpy(text, f->text, n);
	text[n] = '\0';
	if (inet_pton(AF_INET6, text, f->out) != 1)
		return false;
	f->text += n;
	f->out += 16;
	return true;
}

/* --- Names --- */

unsigned rdfast_name(const char *text, size_t n, const uint8_t *origin, unsigned origin_bytes,
		     uint8_t out[static 256])
{
	unsigned label = 0, at = 1; /* where the length of the label goes, and the next character */

	if (n == 1 && *text == '@') {
		memcpy(out, origin, origin_bytes);
		return origin_bytes;
	}
	if (n == 1 && *text == '.') {
		out[0] = 0;
		return 1;
	}
	if (!n || n > 200)
		return 0;
	for (size_t i = 0; i < n; i++) {
		uint8_t c = (uint8_t)text[i];

		if (plain[c]) {
			out[at++] = c;
			continue;
		}
		if (c != '.' || at == label + 1 || at - label - 1 > DNS_LABEL_MAX)
			return 0;
		out[label] = (uint8_t)(at - label - 1);
		label = at++;
	}
	if (at == label + 1) { /* it ended in a dot */
		out[label] = 0;
		return at;
	}
	if (at - label - 1 > DNS_LABEL_MAX || at + origin_bytes > DNS_NAME_MAX)
		return 0;
	out[label] = (uint8_t)(at - label - 1);
	memcpy(out + at, origin, origin_bytes);
	return at + origin_bytes;
}

/*
 * A name whose first label is an escaped "@", which ldns takes for the origin. 0: none, or not
 * plainly absolute or relative.
 */
static unsigned at_sign_name(const struct field *f, size_t n_text, uint8_t wire[static 256])
{
	const char *text = f->text, *last = text + n_text - 1;
	unsigned origin_bytes = f->t->origin_bytes;
	int n;

	if (n_text < 2 || strncmp(text, "\\@", 2) || (*last == '.' && last[-1] == '\\'))
		return 0;
	n = name_from_text(wire, DNS_NAME_MAX, text, n_text);
	if (n < 0 || *last == '.')
		return n < 0 ? 0 : (unsigned)n;
	if ((unsigned)n - 1 + origin_bytes > DNS_NAME_MAX)
		return 0;
	memcpy(wire + n - 1, f->t->origin_wire, origin_bytes);
	return (unsigned)n - 1 + origin_bytes;
}

static bool name(struct field *f)
{
	uint8_t wire[256];
	size_t n_text;
	unsigned n;

	skip_blanks(f);
	n_text = token_length(f->text);
	n = rdfast_name(f->text, n_text, f->t->origin_wire, f->t->origin_bytes, wire);
	if (!n)
		n = at_sign_name(f, n_text, wire);
	if (!n || f->out + n > f->end)
		return false;
	memcpy(f->out, wire, n);
	f->out += n;
	f->text += n_text;
	return true;
}

/* --- Octets --- */

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One token of hex. */
static bool hex(struct field *f)
{
	skip_blanks(f);
	if (is_end(*f->text))
		return false;
	while (!is_end(*f->text)) {
		int high = hex_value(f->text[0]), low = high < 0 ? -1 : hex_value(f->text[1]);

		if (low < 0 || f->out >= f->end)
			return false;
		*f->out++ = (uint8_t)(high << 4 | low);
		f->text += 2;
	}
	return true;
}

/* Base64 to the end, blanks anywhere between groups of four. */
static bool base64(struct field *f)
{
	bool padded = false;

	skip_blanks(f);
	if (!*f->text)
		return false;
	for (; *f->text; skip_blanks(f)) {
		const uint8_t *p = (const uint8_t *)f->text;
		uint8_t a = base64_value[p[0]], b, c, d;
		unsigned octets = 3;
		uint32_t v;

		if (!a || padded || f->out >= f->end)
			return false;
		b = base64_value[p[1]];
		if (!b)
			return false;
		c = base64_value[p[2]];
		d = c ? base64_value[p[3]] : 0;
		if (!d) {
			/* "x===" is none; bits behind the last octet must be 0. */
			octets = c ? 2 : 1;
			if ((c ? p[3] != '=' : p[2] != '=' || p[3] != '=') ||
			    (c ? (c - 1) & 3 : (b - 1) & 15))
				return false;
			padded = true;
		}
		v = (uint32_t)(a - 1) << 18 | (uint32_t)(b - 1) << 12 |
		    (c ? (uint32_t)(c - 1) << 6 : 0) | (d ? d - 1u : 0);
		f->out[0] = (uint8_t)(v >> 16);
		f->out[1] = (uint8_t)(v >> 8);
		f->out[2] = (uint8_t)v;
		f->out += octets;
		f->text += 4;
	}
	return true;
}

/* An NSEC3 hash: 32 digits of base32hex are 20 octets, length first. */
static bool hash(struct field *f)
{
	skip_blanks(f);
	*f->out++ = 20;
	for (unsigned group = 0; group < 4; group++) {
		uint64_t v = 0;

		for (unsigned i = 0; i < 8; i++) {
			char c = *f->text++;

			if (is_digit(c)) {
				v = v << 5 | (unsigned)(c - '0');
				continue;
			}
			c = (char)(c | 0x20);
			if (c < 'a' || c > 'v')
				return false;
			v = v << 5 | (unsigned)(c - 'a' + 10);
		}
		*f->out++ = (uint8_t)(v >> 32);
		wire_store_be32(f->out, (uint32_t)v);
		f->out += 4;
	}
	return is_end(*f->text);
}

/* "-" or hex, length first. */
static bool salt(struct field *f)
{
	uint8_t *length = f->out++;

	skip_blanks(f);
	if (f->text[0] == '-' && is_end(f->text[1])) {
		*length = 0;
		f->text++;
		return true;
	}
	if (!hex(f) || f->out - length > 256)
		return false;
	*length = (uint8_t)(f->out - length - 1);
	return true;
}

/* --- Types --- */

uint16_t rdfast_type(const char *text, size_t n)
{
	static const struct {
		char text[8];
		uint16_t type;
	} rows[] = {
		{ "A", DNS_TYPE_A },         { "AAAA", DNS_TYPE_AAAA },
		{ "NS", DNS_TYPE_NS },       { "RRSIG", DNS_TYPE_RRSIG },
		{ "NSEC", DNS_TYPE_NSEC },   { "NSEC3", DNS_TYPE_NSEC3 },
		{ "DS", DNS_TYPE_DS },       { "MX", DNS_TYPE_MX },
		{ "TXT", DNS_TYPE_TXT },     { "CNAME", DNS_TYPE_CNAME },
		{ "PTR", DNS_TYPE_PTR },     { "SRV", DNS_TYPE_SRV },
		{ "SOA", DNS_TYPE_SOA },     { "CAA", DNS_TYPE_CAA },
		{ "DNAME", DNS_TYPE_DNAME }, { "TLSA", DNS_TYPE_TLSA },
		{ "HTTPS", DNS_TYPE_HTTPS }, { "DNSKEY", DNS_TYPE_DNSKEY },
	};
	char word[8] = { 0 };

	if (n > 6)
		return 0;
	for (size_t i = 0; i < n; i++)
		word[i] = text[i];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!memcmp(rows[i].text, word, sizeof(word)))
			return rows[i].type;
	return 0;
}

static bool covered(struct field *f)
{
	size_t n;
	uint16_t type;

	skip_blanks(f);
	n = token_length(f->text);
	type = rdfast_type(f->text, n);
	if (!type) {
		int rc = proto_type_from_text(f->text, n);

		if (rc <= 0 || f->text[0] == 'T') /* TYPEnnn is left alone */
			return false;
		type = (uint16_t)rc;
	}
	f->text += n;
	wire_store_be16(f->out, type);
	f->out += 2;
	return true;
}

/* A type bitmap of window 0 (RFC 4034 section 4.1.2); others are left to ldns. */
static bool bitmap(struct field *f)
{
	uint8_t bits[32] = { 0 };
	unsigned last = 0;

	skip_blanks(f);
	if (!*f->text)
		return false;
	for (; *f->text; skip_blanks(f)) {
		struct field word = *f;
		uint8_t number[2];
		unsigned type;

		word.out = number;
		if (!covered(&word))
			return false;
		type = wire_load_be16(number);
		if (type > 255)
			return false;
		bits[type / 8] |= (uint8_t)(0x80 >> type % 8);
		last = type / 8 > last ? type / 8 : last;
		f->text = word.text;
	}
	if (f->out >= f->end)
		return false;
	*f->out++ = 0;
	*f->out++ = (uint8_t)(last + 1);
	memcpy(f->out, bits, last + 1);
	f->out += last + 1;
	return true;
}

/* --- Text --- */

/* Quoted strings without escapes, at least one. */
static bool strings(struct field *f)
{
	skip_blanks(f);
	if (!*f->text)
		return false;
	for (; *f->text; skip_blanks(f)) {
		const char *p = f->text + 1;
		size_t n = 0;

		if (*f->text != '"')
			return false;
		while (p[n] >= ' ' && p[n] < 0x7f && p[n] != '"' && p[n] != '\\')
			n++;
		if (p[n] != '"' || !is_end(p[n + 1]) || n > 255 || f->out + n >= f->end)
			return false;
		*f->out++ = (uint8_t)n;
		memcpy(f->out, p, n);
		f->out += n;
		f->text = p + n + 1;
	}
	return true;
}

static bool fields(struct field *f, uint16_t type)
{
	switch (type) {
	case DNS_TYPE_A:
		return ipv4(f);
	case DNS_TYPE_AAAA:
		return ipv6(f);
	case DNS_TYPE_NS:
	case DNS_TYPE_CNAME:
	case DNS_TYPE_PTR:
	case DNS_TYPE_DNAME:
		return name(f);
	case DNS_TYPE_MX:
		return number16(f) && name(f);
	case DNS_TYPE_SRV:
		return number16(f) && number16(f) && number16(f) && name(f);
	case DNS_TYPE_TXT:
		return strings(f);
	case DNS_TYPE_DS:
		return number16(f) && number8(f) && number8(f) && hex(f);
	case DNS_TYPE_RRSIG:
		return covered(f) && number8(f) && number8(f) && ttl(f) && date(f) && date(f) &&
		       number16(f) && name(f) && base64(f);
	case DNS_TYPE_NSEC:
		return name(f) && bitmap(f);
	case DNS_TYPE_NSEC3:
		return number8(f) && number8(f) && number16(f) && salt(f) && hash(f) && bitmap(f);
	case DNS_TYPE_DNSKEY:
		return number16(f) && number8(f) && number8(f) && base64(f);
	default:
		return false;
	}
}

bool rdfast_parse(struct rdtext *t, uint16_t type, const char *text)
{
	struct field f = {
		.text = text,
		.out = t->rdata,
		.end = t->rdata + sizeof(t->rdata) - SLACK,
		.t = t,
	};

	if (!fields(&f, type) || !at_end(&f))
		return false;
	t->len = (uint16_t)(f.out - t->rdata);
	return true;
}
