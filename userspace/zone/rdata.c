/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layouts of rdata with names or of a fixed size, as rows of one table. A layout is read from
 * left to right: octets before the names, the names, octets behind them.
 */
#include "zone/rdata.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/image.h"

struct layout {
	uint16_t type;
	uint8_t before;   /* octets before the names */
	uint8_t strings;  /* character strings (length octet and octets) behind those */
	uint8_t names;    /* domain names behind those */
	uint8_t after;    /* octets behind the names, at least */
	bool open;        /* more may follow */
	bool case_counts; /* names are kept as they are: not in the list of RFC 4034 section 6.2 */
};

static const struct layout layouts[] = {
	{ .type = DNS_TYPE_A, .before = 4 },
	{ .type = DNS_TYPE_NS, .names = 1 },
	{ .type = DNS_TYPE_MD, .names = 1 },
	{ .type = DNS_TYPE_MF, .names = 1 },
	{ .type = DNS_TYPE_CNAME, .names = 1 },
	{ .type = DNS_TYPE_SOA, .names = 2, .after = 20 },
	{ .type = DNS_TYPE_MB, .names = 1 },
	{ .type = DNS_TYPE_MG, .names = 1 },
	{ .type = DNS_TYPE_MR, .names = 1 },
	{ .type = DNS_TYPE_PTR, .names = 1 },
	{ .type = DNS_TYPE_HINFO, .strings = 2 },
	{ .type = DNS_TYPE_MINFO, .names = 2 },
	{ .type = DNS_TYPE_MX, .before = 2, .names = 1 },
	{ .type = DNS_TYPE_RP, .names = 2 },
	{ .type = DNS_TYPE_AFSDB, .before = 2, .names = 1 },
	{ .type = DNS_TYPE_RT, .before = 2, .names = 1 },
	{ .type = DNS_TYPE_PX, .before = 2, .names = 2 },
	{ .type = DNS_TYPE_AAAA, .before = 16 },
	{ .type = DNS_TYPE_SRV, .before = 6, .names = 1 },
	{ .type = DNS_TYPE_NAPTR, .before = 4, .strings = 3, .names = 1 },
	{ .type = DNS_TYPE_KX, .before = 2, .names = 1 },
	{ .type = DNS_TYPE_DNAME, .names = 1 },
	{ .type = DNS_TYPE_DS, .before = 4, .after = 1, .open = true },
	{ .type = DNS_TYPE_RRSIG, .before = 18, .names = 1, .after = 1, .open = true },
	{ .type = DNS_TYPE_NSEC, .names = 1, .open = true, .case_counts = true },
	{ .type = DNS_TYPE_DNSKEY, .before = 4, .after = 1, .open = true },
	{ .type = DNS_TYPE_SVCB, .before = 2, .names = 1, .open = true, .case_counts = true },
	{ .type = DNS_TYPE_HTTPS, .before = 2, .names = 1, .open = true, .case_counts = true },
	{ .type = DNS_TYPE_LP, .before = 2, .names = 1, .case_counts = true },
};

static const struct layout *layout_of(uint16_t type)
{
	size_t low = 0, high = sizeof(layouts) / sizeof(layouts[0]);

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (layouts[mid].type == type)
			return &layouts[mid];
		if (layouts[mid].type < type)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* The offset behind @n character strings from @at, or -1. */
static int skip_strings(const uint8_t *rdata, unsigned len, unsigned at, unsigned n)
{
	while (n--) {
		if (at >= len || rdata[at] >= len - at)
			return -1;
		at += 1u + rdata[at];
	}
	return (int)at;
}

static int check_strings(const uint8_t *rdata, unsigned len)
{
	int at = 0;

	do {
		at = skip_strings(rdata, len, (unsigned)at, 1);
		if (at < 0)
			return ERR_RDATA;
	} while ((unsigned)at < len);
	return 0;
}

int rdata_check(uint16_t type, const uint8_t *rdata, unsigned len)
{
	const struct layout *l = layout_of(type);
	int at;

	if (type == DNS_TYPE_TXT || type == DNS_TYPE_SPF)
		return check_strings(rdata, len);
	if (!l)
		return 0;
	if (len < l->before)
		return ERR_RDATA;
	at = skip_strings(rdata, len, l->before, l->strings);
	if (at < 0)
		return ERR_RDATA;
	for (unsigned i = 0; i < l->names; i++) {
		int n = name_check(rdata + at, len - (unsigned)at);

		if (n < 0)
			return ERR_RDATA;
		at += n;
	}
	at += l->after;
	return (l->open ? len >= (unsigned)at : len == (unsigned)at) ? 0 : ERR_RDATA;
}

struct rdata_span rdata_names(uint16_t type, const uint8_t *rdata, unsigned len)
{
	const struct layout *l = layout_of(type);
	struct rdata_span span = { 0, 0 };

	if (!l || !l->names || l->case_counts)
		return span;
	span.start = (unsigned)skip_strings(rdata, len, l->before, l->strings);
	span.end = span.start;
	for (unsigned i = 0; i < l->names; i++)
		span.end += (unsigned)name_bytes(rdata + span.end);
	return span;
}

int rdata_cmp(uint16_t type, const uint8_t *a, unsigned a_len, const uint8_t *b, unsigned b_len)
{
	unsigned n = a_len < b_len ? a_len : b_len;
	struct rdata_span names = rdata_names(type, a, a_len);
	int diff = 0;

	/* Up to the first difference the names of a and b stand at the same places. */
	for (unsigned i = 0; i < n && !diff; i++) {
		bool in_name = i >= names.start && i < names.end;

		diff = in_name ? fold(a[i]) - fold(b[i]) : a[i] - b[i];
	}
	return diff ? diff : (int)a_len - (int)b_len;
}
