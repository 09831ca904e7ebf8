/* SPDX-License-Identifier: GPL-2.0-only */
/* A cursor over the rdata and one over the text; each field moves both or says no. */
#include "zone/rdprint.h"

#include <stdbool.h>
#include <string.h>

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"

struct print {
	const uint8_t *in, *end;
	char *out;
};

static unsigned left(const struct print *p)
{
	return (unsigned)(p->end - p->in);
}

/* Between two fields. */
static bool blank(struct print *p)
{
	*p->out++ = ' ';
	return true;
}

/* --- Numbers --- */

size_t rdprint_u32(char *dst, uint32_t value)
{
	char digits[10];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (size_t i = 0; i < n; i++)
		dst[i] = digits[n - 1 - i];
	return n;
}

static bool number(struct print *p, unsigned n_bytes)
{
	uint32_t value = 0;

	if (left(p) < n_bytes)
		return false;
	for (unsigned i = 0; i < n_bytes; i++)
		value = value << 8 | *p->in++;
	p->out += rdprint_u32(p->out, value);
	return true;
}

/* What is longer is no period of time for those who read it (RFC 2181 section 8). */
static bool ttl(struct print *p)
{
	return left(p) >= 4 && wire_load_be32(p->in) <= DNS_TTL_MAX && number(p, 4);
}

static void two_digits(struct print *p, unsigned value)
{
	*p->out++ = (char)('0' + value / 10 % 10);
	*p->out++ = (char)('0' + value % 10);
}

/* YYYYMMDDHHMMSS (RFC 4034 section 3.2). Years are counted from March, so that the leap day is last. */
static bool date(struct print *p)
{
	uint32_t t, days, era, of_era, year, of_year, month;

	if (left(p) < 4)
		return false;
	t = wire_load_be32(p->in);
	p->in += 4;
	days = t / 86400 + 719468; /* from 0000-03-01 */
	era = days / 146097;
	of_era = days % 146097;
	year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	of_year = of_era - (365 * year + year / 4 - year / 100);
	month = (5 * of_year + 2) / 153;
	year += era * 400 + (month >= 10);
	two_digits(p, year / 100);
	two_digits(p, year);
	two_digits(p, month < 10 ? month + 3 : month - 9);
	two_digits(p, of_year - (153 * month + 2) / 5 + 1);
	two_digits(p, t % 86400 / 3600);
	two_digits(p, t % 3600 / 60);
	two_digits(p, t % 60);
	return true;
}

/* --- Names and types --- */

static const uint8_t plain[256] = {
	['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['-'] = 1, ['_'] = 1, ['*'] = 1,
};

size_t rdprint_name(char *dst, const uint8_t *name)
{
	char *out = dst;

	if (!*name) {
		*dst = '.';
		return 1;
	}
	for (const uint8_t *label = name; *label; label += *label + 1) {
		for (unsigned i = 1; i <= *label; i++) {
			if (!plain[label[i]])
				return (size_t)name_to_text(dst, NAME_TEXT_MAX, name);
			*out++ = (char)label[i];
		}
		*out++ = '.';
	}
	return (size_t)(out - dst);
}

static bool name(struct print *p)
{
	int n = name_check(p->in, left(p));

	if (n <= 0)
		return false;
	p->out += rdprint_name(p->out, p->in);
	p->in += n;
	return true;
}

size_t rdprint_type(char *dst, uint16_t type)
{
	static const char *const names[] = {
#define TYPE_ROW(number, name, text) [number] = text,
		DNS_TYPE_LIST(TYPE_ROW)
#undef TYPE_ROW
	};

	if (type < sizeof(names) / sizeof(names[0]) && names[type]) {
		size_t n = strlen(names[type]);

		memcpy(dst, names[type], n);
		return n;
	}
	memcpy(dst, "TYPE", 4);
	return 4 + rdprint_u32(dst + 4, type);
}

static bool type_of(struct print *p)
{
	if (left(p) < 2)
		return false;
	p->out += rdprint_type(p->out, wire_load_be16(p->in));
	p->in += 2;
	return true;
}

/*
 * To the end: windows in order, each with the octets that it needs (RFC 4034 section 4.1.2). An octet may
 * become eighty: what nobody has, many types in high windows, is left to ldns.
 */
static bool bitmap(struct print *p)
{
	int before = -1;

	for (unsigned n_windows = 0; p->in < p->end; n_windows++) {
		unsigned n, window = *p->in;

		if (left(p) < 3 || (int)window <= before || n_windows > 2)
			return false;
		n = p->in[1];
		if (!n || n > (window ? 8 : 32) || left(p) < 2 + n || !p->in[1 + n])
			return false;
		p->in += 2;
		for (unsigned bit = 0; bit < n * 8; bit++) {
			if (!(p->in[bit / 8] & 0x80 >> bit % 8))
				continue;
			blank(p);
			p->out += rdprint_type(p->out, (uint16_t)(window << 8 | bit));
		}
		p->in += n;
		before = (int)window;
	}
	return before >= 0;
}

/* --- Octets --- */

static bool hex(struct print *p, unsigned n)
{
	static const char digits[] = "0123456789ABCDEF";

	if (left(p) < n || !n)
		return false;
	for (; n; n--, p->in++) {
		*p->out++ = digits[*p->in >> 4];
		*p->out++ = digits[*p->in & 15];
	}
	return true;
}

static bool base64(struct print *p)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	if (!left(p))
		return false;
	while (p->in < p->end) {
		unsigned n = left(p) < 3 ? left(p) : 3;
		uint32_t v = (uint32_t)p->in[0] << 16 | (n > 1 ? (uint32_t)p->in[1] << 8 : 0) |
			     (n > 2 ? p->in[2] : 0);

		*p->out++ = digits[v >> 18];
		*p->out++ = digits[v >> 12 & 63];
		*p->out++ = n > 1 ? digits[v >> 6 & 63] : '=';
		*p->out++ = n > 2 ? digits[v & 63] : '=';
		p->in += n;
	}
	return true;
}

/* With its length before it, as base32 with the extended hex alphabet, not padded (RFC 5155 section 3.3). */
static bool hash(struct print *p)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned n, n_bits = 0;
	uint32_t bits = 0;

	if (!left(p) || left(p) < 1u + *p->in || !*p->in)
		return false;
	for (n = *p->in++; n; n--) {
		bits = bits << 8 | *p->in++;
		for (n_bits += 8; n_bits >= 5; n_bits -= 5)
			*p->out++ = digits[bits >> (n_bits - 5) & 31];
	}
	if (n_bits)
		*p->out++ = digits[bits << (5 - n_bits) & 31];
	return true;
}

static bool salt(struct print *p)
{
	if (!left(p))
		return false;
	if (*p->in++)
		return hex(p, p->in[-1]);
	*p->out++ = '-';
	return true;
}

static void one_char(struct print *p, uint8_t c)
{
	if (c < ' ' || c > '~') {
		*p->out++ = '\\';
		*p->out++ = (char)('0' + c / 100);
		two_digits(p, c % 100);
		return;
	}
	if (c == '"' || c == '\\')
		*p->out++ = '\\';
	*p->out++ = (char)c;
}

static bool strings(struct print *p)
{
	if (!left(p))
		return false;
	while (p->in < p->end) {
		unsigned n = *p->in++;

		if (left(p) < n)
			return false;
		*p->out++ = '"';
		for (; n; n--)
			one_char(p, *p->in++);
		*p->out++ = '"';
		blank(p);
	}
	p->out--;
	return true;
}

/* --- Addresses --- */

static bool ipv4(struct print *p)
{
	for (unsigned i = 0; i < 4; i++) {
		if (!number(p, 1))
			return false;
		*p->out++ = '.';
	}
	p->out--;
	return true;
}

static void hex_group(struct print *p, unsigned group)
{
	static const char digits[] = "0123456789abcdef";

	if (group > 0xfff)
		*p->out++ = digits[group >> 12];
	if (group > 0xff)
		*p->out++ = digits[group >> 8 & 15];
	if (group > 0xf)
		*p->out++ = digits[group >> 4 & 15];
	*p->out++ = digits[group & 15];
}

/* The longest run of zeros, the first of those, from two on: where it begins, or 8. */
static unsigned zeros(const unsigned groups[8], unsigned *length)
{
	unsigned best = 8;

	*length = 1;
	for (unsigned i = 0, n = 0; i < 8; i++) {
		n = groups[i] ? 0 : n + 1;
		if (n > *length) {
			*length = n;
			best = i + 1 - n;
		}
	}
	return best;
}

static bool ipv6(struct print *p)
{
	unsigned groups[8], begin, length;

	if (left(p) != 16)
		return false;
	for (unsigned i = 0; i < 8; i++, p->in += 2)
		groups[i] = wire_load_be16(p->in);
	begin = zeros(groups, &length);
	for (unsigned i = 0; i < 8; i++) {
		if (i == begin) {
			*p->out++ = ':';
			i += length - 1;
			if (i == 7)
				*p->out++ = ':';
			continue;
		}
		if (i)
			*p->out++ = ':';
		hex_group(p, groups[i]);
	}
	return true;
}

/* --- Types --- */

static bool soa(struct print *p)
{
	if (!name(p) || !blank(p) || !name(p) || !blank(p) || !number(p, 4))
		return false;
	for (unsigned i = 0; i < 4; i++)
		if (!blank(p) || !ttl(p))
			return false;
	return true;
}

static bool rrsig(struct print *p)
{
	return type_of(p) && blank(p) && number(p, 1) && blank(p) && number(p, 1) && blank(p) &&
	       ttl(p) && blank(p) && date(p) && blank(p) && date(p) && blank(p) && number(p, 2) &&
	       blank(p) && name(p) && blank(p) && base64(p);
}

/* Numbers of 2, 1 and 1 octets. */
static bool three_numbers(struct print *p)
{
	return number(p, 2) && blank(p) && number(p, 1) && blank(p) && number(p, 1) && blank(p);
}

static bool nsec3_begin(struct print *p)
{
	return number(p, 1) && blank(p) && number(p, 1) && blank(p) && number(p, 2) && blank(p) &&
	       salt(p);
}

static bool fields(struct print *p, uint16_t type)
{
	switch (type) {
	case DNS_TYPE_A:
		return ipv4(p);
	case DNS_TYPE_AAAA:
		return ipv6(p);
	case DNS_TYPE_NS:
	case DNS_TYPE_CNAME:
	case DNS_TYPE_PTR:
	case DNS_TYPE_DNAME:
		return name(p);
	case DNS_TYPE_SOA:
		return soa(p);
	case DNS_TYPE_MX:
		return number(p, 2) && blank(p) && name(p);
	case DNS_TYPE_SRV:
		return number(p, 2) && blank(p) && number(p, 2) && blank(p) && number(p, 2) &&
		       blank(p) && name(p);
	case DNS_TYPE_TXT:
		return strings(p);
	case DNS_TYPE_DS:
	case DNS_TYPE_CDS:
		return three_numbers(p) && hex(p, left(p));
	case DNS_TYPE_DNSKEY:
	case DNS_TYPE_CDNSKEY:
		return three_numbers(p) && base64(p);
	case DNS_TYPE_RRSIG:
		return rrsig(p);
	case DNS_TYPE_NSEC:
		return name(p) && bitmap(p);
	case DNS_TYPE_NSEC3:
		return nsec3_begin(p) && blank(p) && hash(p) && bitmap(p);
	case DNS_TYPE_NSEC3PARAM:
		return nsec3_begin(p);
	default:
		return false;
	}
}

bool rdprint_knows(uint16_t type)
{
	static const uint16_t types[] = {
		DNS_TYPE_A,      DNS_TYPE_AAAA,       DNS_TYPE_NS,    DNS_TYPE_CNAME,
		DNS_TYPE_PTR,    DNS_TYPE_DNAME,      DNS_TYPE_SOA,   DNS_TYPE_MX,
		DNS_TYPE_SRV,    DNS_TYPE_TXT,        DNS_TYPE_DS,    DNS_TYPE_CDS,
		DNS_TYPE_DNSKEY, DNS_TYPE_CDNSKEY,    DNS_TYPE_RRSIG, DNS_TYPE_NSEC,
		DNS_TYPE_NSEC3,  DNS_TYPE_NSEC3PARAM,
	};

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i] == type)
			return true;
	return false;
}

size_t rdprint(char *dst, uint16_t type, const uint8_t *rdata, unsigned n)
{
	struct print p = { .in = rdata, .end = rdata + n, .out = dst };

	if (n > RDPRINT_RDATA_MAX || !fields(&p, type) || p.in != p.end)
		return 0;
	return (size_t)(p.out - dst);
}
