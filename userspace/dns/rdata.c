/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/rdata.h"

#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "dns/rdcheck.h"

/* --- Rows --- */

#define N_FIELDS_OF(...) (sizeof((uint8_t[]){ __VA_ARGS__ }))

static const struct rdata_type rows[] = {
#define TYPE_ROW(num, name, text, names_, print_, min_, max_, source_, ...) \
	{ .number = (num),                                                  \
	  .min = (min_),                                                    \
	  .max = (max_),                                                    \
	  .names = (names_),                                                \
	  .print = (print_),                                                \
	  .fields = { __VA_ARGS__ },                                        \
	  .mnemonic = (text),                                               \
	  .source = (source_) },
	DNS_TYPE_LIST(TYPE_ROW)
#undef TYPE_ROW
};

#define TYPE_ROW(num, name, text, names_, print_, min_, max_, source_, ...) \
	_Static_assert(N_FIELDS_OF(__VA_ARGS__) < RDATA_FIELDS_MAX, text " has too many fields");
DNS_TYPE_LIST(TYPE_ROW)
#undef TYPE_ROW

enum row_index {
#define TYPE_ROW(num, name, ...) ROW_##name,
	DNS_TYPE_LIST(TYPE_ROW)
#undef TYPE_ROW
		N_ROWS,
};

/* The registry assigns numbers from 0 and from 32768 on. */
#define LOW_NUMBERS  512
#define HIGH_NUMBERS 64
#define SLOT_OF(num) ((num) < LOW_NUMBERS ? (num) : LOW_NUMBERS + (num)-32768)

/* 1 + the row. */
static const uint8_t slots[LOW_NUMBERS + HIGH_NUMBERS] = {
#define TYPE_ROW(num, name, ...) [SLOT_OF(num)] = 1 + ROW_##name,
	DNS_TYPE_LIST(TYPE_ROW)
#undef TYPE_ROW
};

_Static_assert(N_ROWS < UINT8_MAX, "a row's number fits an octet");

const struct rdata_type *rdata_type(uint16_t type)
{
	unsigned slot;

	if (type >= LOW_NUMBERS && (type < 32768 || type >= 32768 + HIGH_NUMBERS))
		return NULL;
	slot = slots[SLOT_OF(type)];
	return slot ? &rows[slot - 1] : NULL;
}

unsigned rdata_fixed_bytes(enum rdata_field field)
{
	static const uint8_t bytes[RD_N_FIELDS] = {
		[RD_U8] = 1,     [RD_U16] = 2,   [RD_U32] = 4,       [RD_PERIOD] = 4,
		[RD_TIME] = 4,   [RD_TYPE] = 2,  [RD_ALGORITHM] = 1, [RD_CERTIFICATE] = 2,
		[RD_IPV4] = 4,   [RD_IPV6] = 16, [RD_EUI48] = 6,     [RD_EUI64] = 8,
		[RD_ILNP64] = 8, [RD_U64] = 8,   [RD_SCHEME] = 1,
	};

	return bytes[field];
}

bool rdata_is_meta(uint16_t type)
{
	return !type || type == DNS_TYPE_OPT || (type >= 128 && type <= 255) || type == UINT16_MAX;
}

/* --- The check --- */

/* Checks one field of the remaining data. */
static bool check_field(struct rdcheck *c, enum rdata_field field)
{
	unsigned n = rdata_fixed_bytes(field);
	int rc;

	if (n)
		return rdcheck_skip(c, n);
	if (field != RD_NAME)
		return rdcheck_fields[field](c);
	rc = name_check(c->at, (size_t)(c->end - c->at));
	if (rc < 0)
		return rdcheck_refuse(c, "a name in it is malformed");
	c->at += rc;
	return true;
}

static bool check_fields(struct rdcheck *c, const struct rdata_type *row)
{
	for (const uint8_t *field = row->fields; *field; field++)
		if (!check_field(c, *field))
			return false;
	return c->at == c->end || rdcheck_refuse(c, "there are octets after its last field");
}

static const char *find_fault(uint16_t type, const uint8_t *rdata, unsigned len, bool is_foreign)
{
	const struct rdata_type *row = rdata_type(type);
	struct rdcheck c = { .at = rdata, .end = rdata + len, .is_foreign = is_foreign };

	if (!row)
		return NULL;
	if (len < row->min)
		return "it is too short";
	if (len > row->max)
		return "it is too long";
	return check_fields(&c, row) ? NULL : c.why;
}

const char *rdata_fault(uint16_t type, const uint8_t *rdata, unsigned len)
{
	return find_fault(type, rdata, len, false);
}

const char *rdata_fault_foreign(uint16_t type, const uint8_t *rdata, unsigned len)
{
	return find_fault(type, rdata, len, true);
}

int rdata_check_foreign(uint16_t type, const uint8_t *rdata, unsigned len)
{
	return find_fault(type, rdata, len, true) ? ERR_RDATA : 0;
}

int rdata_check(uint16_t type, const uint8_t *rdata, unsigned len)
{
	return rdata_fault(type, rdata, len) ? ERR_RDATA : 0;
}

int rdata_check_frame(uint16_t type, const uint8_t *rdata, unsigned len)
{
	const struct rdata_type *row = rdata_type(type);
	struct rdcheck c = { .at = rdata, .end = rdata + len };

	if (!row)
		return 0;
	for (const uint8_t *field = row->fields; *field; field++) {
		if (*field > RD_STRINGS)
			return 0;
		if (!check_field(&c, *field))
			return ERR_RDATA;
	}
	return c.at == c.end ? 0 : ERR_RDATA;
}

/* --- Names --- */

/* Lower case of one octet, without a branch or the locale. */
static uint8_t fold_rdata(uint8_t c)
{
	return (uint8_t)(c | (uint8_t)((uint8_t)(c - 'A') < 26) << 5);
}

/* Octets before the first name, in checked rdata. */
static unsigned before_names(const struct rdata_type *row, const uint8_t *rdata)
{
	const uint8_t *field = row->fields;
	unsigned at = 0;

	for (; *field != RD_NAME; field++)
		at += *field == RD_STRING ? 1u + rdata[at] : rdata_fixed_bytes(*field);
	return at;
}

static unsigned n_names(const struct rdata_type *row)
{
	unsigned n = 0;

	for (const uint8_t *field = row->fields; *field; field++)
		n += *field == RD_NAME;
	return n;
}

struct rdata_span rdata_names(uint16_t type, const uint8_t *rdata, unsigned len)
{
	const struct rdata_type *row = rdata_type(type);
	struct rdata_span span = { 0, 0 };

	if (!row || row->names < RD_FOLD || !len)
		return span;
	span.start = before_names(row, rdata);
	span.end = span.start;
	for (unsigned n = n_names(row); n; n--)
		span.end += (unsigned)name_bytes(rdata + span.end);
	return span;
}

/* Up to the first difference, the names of a and b are at the same offsets. */
static int cmp_with_names(const uint8_t *a, const uint8_t *b, unsigned n, struct rdata_span names)
{
	int diff = 0;

	for (unsigned i = 0; i < n && !diff; i++) {
		bool in_name = i >= names.start && i < names.end;

		diff = in_name ? fold_rdata(a[i]) - fold_rdata(b[i]) : a[i] - b[i];
	}
	return diff;
}

int rdata_cmp(uint16_t type, const uint8_t *a, unsigned a_len, const uint8_t *b, unsigned b_len)
{
	unsigned n = a_len < b_len ? a_len : b_len;
	struct rdata_span names = rdata_names(type, a, a_len);
	int diff = 0;

	if (names.start < names.end)
		diff = cmp_with_names(a, b, n, names);
	else if (n)
		diff = memcmp(a, b, n);
	return diff ? diff : (int)a_len - (int)b_len;
}

struct rdata_layout rdata_layout(uint16_t type, enum rdata_names use)
{
	const struct rdata_type *row = rdata_type(type);
	struct rdata_layout l = { 0 };

	if (!row || row->names < use)
		return l;
	for (const uint8_t *field = row->fields; *field; field++) {
		unsigned n = rdata_fixed_bytes(*field);

		if (*field == RD_NAME)
			l.n_names++;
		if (*field == RD_STRING)
			l.n_strings++;
		if (l.n_names)
			l.tail_bytes = (uint8_t)(l.tail_bytes + n);
		else
			l.front_bytes = (uint8_t)(l.front_bytes + n);
	}
	return l;
}
