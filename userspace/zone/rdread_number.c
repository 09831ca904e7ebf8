/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads fields that are numbers: digits, mnemonics, periods and times. */
#include "base/wire.h"
#include "dns/proto.h"
#include "zone/rdreading.h"

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

bool rdread_u8(struct rdreading *f)
{
	uint32_t v;

	return rdread_decimal(f, UINT8_MAX, &v) && rdread_put8(f, v);
}

bool rdread_u16(struct rdreading *f)
{
	uint32_t v;

	return rdread_decimal(f, UINT16_MAX, &v) && rdread_put16(f, v);
}

bool rdread_u32(struct rdreading *f)
{
	uint32_t v;

	return rdread_decimal(f, UINT32_MAX, &v) && rdread_put32(f, v);
}

/* Reads the digits at *@p and moves *@p past them; false: none, or more than @max. */
static bool digits(const char **p, uint64_t max, uint64_t *value)
{
	const char *begin = *p;

	for (*value = 0; rdread_is_digit(**p); ++*p) {
		unsigned digit = (unsigned)(**p - '0');

		if (*value > (max - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return *p > begin;
}

bool rdread_u64(struct rdreading *f)
{
	struct text_token token;
	uint64_t high, low, all;
	const char *p;

	if (!rdread_word(f, &token))
		return false;
	p = token.at;
	if (digits(&p, UINT64_MAX, &all) && p == token.at + token.n)
		return rdread_put32(f, (uint32_t)(all >> 32)) && rdread_put32(f, (uint32_t)all);
	p = token.at;
	if (digits(&p, UINT32_MAX, &high) && *p++ == '.' && digits(&p, UINT32_MAX, &low) &&
	    p == token.at + token.n)
		return rdread_put32(f, (uint32_t)high) && rdread_put32(f, (uint32_t)low);
	return rdread_refuse_token(f, &token, "a number of 64 bits");
}

bool rdread_period(struct rdreading *f)
{
	struct text_token token;
	uint32_t v;

	if (!rdread_word(f, &token))
		return false;
	if (text_to_period(&token, UINT32_MAX, &v))
		return rdread_refuse_token(f, &token, "a period of time");
	return rdread_put32(f, v);
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
bool rdread_algorithm(struct rdreading *f)
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

	return mnemonic(f, rows, sizeof(rows) / sizeof(rows[0]), UINT8_MAX, &v) &&
	       rdread_put8(f, v);
}

bool rdread_certificate(struct rdreading *f)
{
	static const struct mnemonic rows[] = {
		{ 1, "PKIX" }, { 2, "SPKI" },   { 3, "PGP" },     { 4, "IPKIX" }, { 5, "ISPKI" },
		{ 6, "IPGP" }, { 7, "ACPKIX" }, { 8, "IACPKIX" }, { 253, "URI" }, { 254, "OID" },
	};
	uint32_t v;

	return mnemonic(f, rows, sizeof(rows) / sizeof(rows[0]), UINT16_MAX, &v) &&
	       rdread_put16(f, v);
}

bool rdread_scheme(struct rdreading *f)
{
	static const struct mnemonic rows[] = { { 1, "NOTIFY" } };
	uint32_t v;

	return mnemonic(f, rows, sizeof(rows) / sizeof(rows[0]), UINT8_MAX, &v) &&
	       rdread_put8(f, v);
}

/* --- Times --- */

/* Days from 1970-01-01 to a Gregorian date: years begin in March, so the leap day is last. */
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

/* Reads fourteen digits; false: no valid time, or it does not fit in 32 bits. */
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

bool rdread_date(struct rdreading *f)
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
		return rdread_u32(f);
	if (civil_time(begin, &t)) {
		f->at += n;
		return rdread_put32(f, t);
	}
	rdread_token(f, &token);
	return rdread_refuse_token(f, &token, "a time from 1970 to 2106");
}
