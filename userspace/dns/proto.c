/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/proto.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"

struct mnemonic {
	uint16_t number;
	const char *text;
};

static const struct mnemonic types[] = {
#define TYPE_ROW(number, name, text, ...) { number, text },
	DNS_TYPE_LIST(TYPE_ROW)
#undef TYPE_ROW
};

static const struct mnemonic rcodes[] = {
#define RCODE_ROW(number, name) { number, #name },
	DNS_RCODE_LIST(RCODE_ROW)
#undef RCODE_ROW
};

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))

static int to_text(char *dst, const struct mnemonic *rows, size_t n_rows, const char *generic,
		   uint16_t number)
{
	for (size_t i = 0; i < n_rows; i++)
		if (rows[i].number == number)
			return snprintf(dst, PROTO_TEXT_MAX, "%s", rows[i].text);
	return snprintf(dst, PROTO_TEXT_MAX, "%s%u", generic, number);
}

int proto_type_to_text(char dst[PROTO_TEXT_MAX], uint16_t type)
{
	return to_text(dst, types, N_ROWS(types), "TYPE", type);
}

int proto_rcode_to_text(char dst[PROTO_TEXT_MAX], uint16_t rcode)
{
	return to_text(dst, rcodes, N_ROWS(rcodes), "RCODE", rcode);
}

bool proto_ede_is_bogus(int ede_code)
{
	return ede_code == DNS_EDE_UNSUPPORTED_KEY || ede_code == DNS_EDE_UNSUPPORTED_DIGEST ||
	       (ede_code >= DNS_EDE_DNSSEC_BOGUS && ede_code <= DNS_EDE_NSEC_MISSING);
}

const char *proto_ede_text(uint16_t code)
{
	static const char *const texts[] = {
		"Other Error",
		"Unsupported DNSKEY Algorithm",
		"Unsupported DS Digest Type",
		"Stale Answer",
		"Forged Answer",
		"DNSSEC Indeterminate",
		"DNSSEC Bogus",
		"Signature Expired",
		"Signature Not Yet Valid",
		"DNSKEY Missing",
		"RRSIGs Missing",
		"No Zone Key Bit Set",
		"NSEC Missing",
		"Cached Error",
		"Not Ready",
		"Blocked",
		"Censored",
		"Filtered",
		"Prohibited",
		"Stale NXDOMAIN Answer",
		"Not Authoritative",
		"Not Supported",
		"No Reachable Authority",
		"Network Error",
		"Invalid Data",
		"Signature Expired before Valid",
		"Too Early",
		"Unsupported NSEC3 Iterations Value",
		"Unable to conform to policy",
		"Synthesized",
		"Invalid Query Type",
	};

	return code < N_ROWS(texts) ? texts[code] : NULL;
}

/* The decimal number after "TYPE": digits only, 0..65535. */
static int number_from_text(const char *text, size_t n_bytes)
{
	int number = 0;

	if (!n_bytes)
		return ERR_TYPE;
	for (size_t i = 0; i < n_bytes; i++) {
		if (text[i] < '0' || text[i] > '9')
			return ERR_TYPE;
		number = number * 10 + (text[i] - '0');
		if (number > UINT16_MAX)
			return ERR_TYPE;
	}
	return number;
}

int proto_type_from_text(const char *text, size_t n_bytes)
{
	for (size_t i = 0; i < N_ROWS(types); i++)
		if (strlen(types[i].text) == n_bytes && !strncasecmp(types[i].text, text, n_bytes))
			return types[i].number;
	if (n_bytes > 4 && !strncasecmp(text, "TYPE", 4))
		return number_from_text(text + 4, n_bytes - 4);
	return ERR_TYPE;
}
