/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the fields of most types: numbers, names, types, addresses; and whole rows. */
#include "zone/rdprint.h"

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/rdprinting.h"

/* --- Numbers --- */

static size_t put_decimal(char *dst, uint64_t value)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (size_t i = 0; i < n; i++)
		dst[i] = digits[n - 1 - i];
	return n;
}

size_t rdprint_u32(char *dst, uint32_t value)
{
	return put_decimal(dst, value);
}

bool rdprint_number(struct rdprinting *p, unsigned n_bytes)
{
	uint32_t value = 0;

	if (rdprint_left(p) < n_bytes)
		return false;
	for (unsigned i = 0; i < n_bytes; i++)
		value = value << 8 | *p->in++;
	p->out += rdprint_u32(p->out, value);
	return true;
}

/* Readers refuse a longer period (RFC 2181 section 8). */
static bool period(struct rdprinting *p)
{
	return rdprint_left(p) >= 4 && wire_load_be32(p->in) <= DNS_TTL_MAX && rdprint_number(p, 4);
}

static bool u8(struct rdprinting *p)
{
	return rdprint_number(p, 1);
}

static bool u16(struct rdprinting *p)
{
	return rdprint_number(p, 2);
}

/* ldns reads only the kinds of certificates that have a name. */
static bool certificate(struct rdprinting *p)
{
	unsigned kind = rdprint_left(p) < 2 ? 0 : wire_load_be16(p->in);

	return ((kind >= 1 && kind <= 8) || kind == 253 || kind == 254) && u16(p);
}

static bool u32(struct rdprinting *p)
{
	return rdprint_number(p, 4);
}

static bool u64(struct rdprinting *p)
{
	if (rdprint_left(p) < 8)
		return false;
	p->out += put_decimal(p->out,
			      (uint64_t)wire_load_be32(p->in) << 32 | wire_load_be32(p->in + 4));
	p->in += 8;
	return true;
}

/* YYYYMMDDHHMMSS (RFC 4034 section 3.2). Years are counted from March, so that the leap day is
 * last. */
static bool date(struct rdprinting *p)
{
	uint32_t t, days, era, of_era, year, of_year, month;

	if (rdprint_left(p) < 4)
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
	rdprint_two_digits(p, year / 100);
	rdprint_two_digits(p, year);
	rdprint_two_digits(p, month < 10 ? month + 3 : month - 9);
	rdprint_two_digits(p, of_year - (153 * month + 2) / 5 + 1);
	rdprint_two_digits(p, t % 86400 / 3600);
	rdprint_two_digits(p, t % 3600 / 60);
	rdprint_two_digits(p, t % 60);
	return true;
}

/* --- Names and types --- */

static const uint8_t plain[256] = {
	['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['-'] = 1, ['_'] = 1, ['*'] = 1,
};

/*
 * Prints characters as \DDD, except three: knotd reads few characters as they are. nsd reads the
 * dot after "\\\\" as part of the label.
 */
static size_t put_rdprint_special(char *out, uint8_t c)
{
	*out = '\\';
	if (c == '.' || c == '@' || c == '$') {
		out[1] = (char)c;
		return 2;
	}
	out[1] = (char)('0' + c / 100);
	out[2] = (char)('0' + c / 10 % 10);
	out[3] = (char)('0' + c % 10);
	return 4;
}

size_t rdprint_name(char *dst, const uint8_t *name)
{
	char *out = dst;

	if (!*name) {
		*dst = '.';
		return 1;
	}
	for (const uint8_t *label = name; *label; label += *label + 1) {
		for (unsigned i = 1; i <= *label; i++) {
			if (plain[label[i]])
				*out++ = (char)label[i];
			else
				out += put_rdprint_special(out, label[i]);
		}
		*out++ = '.';
	}
	return (size_t)(out - dst);
}

bool rdprint_wire_name(struct rdprinting *p)
{
	int n = name_check(p->in, rdprint_left(p));

	/* ldns reads a first label "@" as the origin, even if it is escaped. */
	if (n <= 0 || (n > 1 && p->in[0] == 1 && p->in[1] == '@'))
		return false;
	p->out += rdprint_name(p->out, p->in);
	p->in += n;
	return true;
}

size_t rdprint_type(char *dst, uint16_t type)
{
	const struct rdata_type *row = rdata_type(type);

	if (row && row->print == RD_TEXT_FORM) {
		size_t n = strlen(row->mnemonic);

		memcpy(dst, row->mnemonic, n);
		return n;
	}
	memcpy(dst, "TYPE", 4);
	return 4 + rdprint_u32(dst + 4, type);
}

static bool type_of_rdprint(struct rdprinting *p)
{
	if (rdprint_left(p) < 2 || !wire_load_be16(p->in)) /* other readers refuse type 0 */
		return false;
	p->out += rdprint_type(p->out, wire_load_be16(p->in));
	p->in += 2;
	return true;
}

/* Prints the types of one window. Other readers refuse type 0. */
static bool window_types(struct rdprinting *p, unsigned window, unsigned n)
{
	if (!window && *p->in & 0x80)
		return false;
	for (unsigned bit = 0; bit < n * 8; bit++) {
		if (!(p->in[bit / 8] & 0x80 >> bit % 8))
			continue;
		if (!rdprint_has_room(p, 32))
			return false;
		p->out += rdprint_type(p->out, (uint16_t)(window << 8 | bit));
		rdprint_blank(p);
	}
	p->in += n;
	return true;
}

/* Prints the rest: windows in order, each as short as possible (RFC 4034 section 4.1.2). */
static bool bitmap_opt(struct rdprinting *p)
{
	while (rdprint_left(p)) {
		unsigned window = p->in[0], n;

		if (rdprint_left(p) < 3)
			return false;
		n = p->in[1];
		p->in += 2;
		if (n > rdprint_left(p) || !window_types(p, window, n))
			return false;
	}
	p->out--;
	return true;
}

static bool print_bitmap(struct rdprinting *p)
{
	return rdprint_left(p) && bitmap_opt(p);
}

/* --- Addresses --- */

bool rdprint_ipv4(struct rdprinting *p)
{
	for (unsigned i = 0; i < 4; i++) {
		if (!rdprint_number(p, 1))
			return false;
		*p->out++ = '.';
	}
	p->out--;
	return true;
}

static void hex_group(struct rdprinting *p, unsigned group)
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

/* The start of the first longest run of at least two zeros, or 8. */
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

bool rdprint_ipv6(struct rdprinting *p)
{
	unsigned groups[8], begin, length;

	if (rdprint_left(p) < 16)
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

/* --- Rows --- */

static const rdprint_field fields[RD_N_FIELDS] = {
	[RD_U8] = u8,
	[RD_U16] = u16,
	[RD_U32] = u32,
	[RD_PERIOD] = period,
	[RD_TIME] = date,
	[RD_TYPE] = type_of_rdprint,
	[RD_ALGORITHM] = u8,
	[RD_CERTIFICATE] = certificate,
	[RD_SCHEME] = u8,
	[RD_IPV4] = rdprint_ipv4,
	[RD_IPV6] = rdprint_ipv6,
	[RD_EUI48] = rdprint_eui48,
	[RD_EUI64] = rdprint_eui64,
	[RD_ILNP64] = rdprint_ilnp64,
	[RD_U64] = u64,
	[RD_NAME] = rdprint_wire_name,
	[RD_STRING] = rdprint_string,
	[RD_STRING_OPT] = rdprint_string_opt,
	[RD_STRINGS] = rdprint_strings,
	[RD_HEX] = rdprint_hex_rest,
	[RD_BASE64] = rdprint_base64_rest,
	[RD_BASE64_OPT] = rdprint_base64_rest,
	[RD_QUOTED] = rdprint_quoted_rest,
	[RD_TAG] = rdprint_tag,
	[RD_SALT] = rdprint_salt,
	[RD_HASH] = rdprint_hash,
	[RD_BITMAP] = print_bitmap,
	[RD_BITMAP_OPT] = bitmap_opt,
	[RD_NXT] = rdprint_nxt,
	[RD_WKS] = rdprint_wks,
	[RD_NSAP] = rdprint_nsap,
	[RD_ATMA] = rdprint_atma,
	[RD_A6] = rdprint_a6,
	[RD_LOC] = rdprint_loc,
	[RD_APL] = rdprint_apl,
	[RD_IPSECKEY] = rdprint_ipseckey,
	[RD_AMTRELAY] = rdprint_amtrelay,
	[RD_HIP] = rdprint_hip,
	[RD_SVCPARAMS] = rdprint_svcparams,
};

/* The text form of tags, and of fields from RD_NXT on, which only one type has, needs data that the
 * reader of text accepts. */
static bool row_of_fields(struct rdprinting *p, const struct rdata_type *row)
{
	for (const uint8_t *field = row->fields; *field; field++) {
		if ((*field >= RD_NXT || *field == RD_TAG) &&
		    rdata_check(row->number, p->start, (unsigned)(p->end - p->start)))
			return false;
		if (!fields[*field] ||
		    !rdprint_has_room(p, RDPRINT_FIELD_ROOM + 4 * (size_t)rdprint_left(p)))
			return false;
		if (field != row->fields)
			rdprint_blank(p);
		if (!fields[*field](p))
			return false;
	}
	return p->in == p->end;
}

size_t rdprint(char *dst, uint16_t type, const uint8_t *rdata, unsigned n)
{
	const struct rdata_type *row = rdata_type(type);
	struct rdprinting p = {
		.start = rdata,
		.in = rdata,
		.end = rdata + n,
		.out = dst,
		.out_end = dst + RDPRINT_TEXT_MAX - 16,
	};

	if (!row || n < row->min || !row_of_fields(&p, row))
		return 0;
	return (size_t)(p.out - dst);
}

static size_t generic(char *dst, uint16_t type, const uint8_t *rdata, unsigned n)
{
	struct rdprinting p = { .in = rdata, .end = rdata + n, .out = dst };

	rdprint_put(&p, "TYPE");
	p.out += rdprint_u32(p.out, type);
	rdprint_put(&p, "\t\\# ");
	p.out += rdprint_u32(p.out, n);
	rdprint_blank(&p);
	if (!n || !rdprint_hex(&p, n))
		p.out--;
	return (size_t)(p.out - dst);
}

size_t rdprint_record(char *dst, uint16_t type, const uint8_t *rdata, unsigned n)
{
	const struct rdata_type *row = rdata_type(type);
	size_t n_type, n_text;

	if (!row || row->print != RD_TEXT_FORM)
		return generic(dst, type, rdata, n);
	n_type = rdprint_type(dst, type);
	dst[n_type++] = '\t';
	n_text = rdprint(dst + n_type, type, rdata, n);
	return n_text ? n_type + n_text : generic(dst, type, rdata, n);
}
