/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a type, by its position in a list, and the text of its data. Data that is read
 * passes the check, and both printed forms are read back as the same octets.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dns/proto.h"
#include "dns/rdata.h"
#include "rdround.h"
#include "tests/lib/rdtypes_each.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rows of dns/rdtypes.h follow these. */
static const uint16_t types[] = {
	DNS_TYPE_A,  DNS_TYPE_AAAA,  DNS_TYPE_NS,   DNS_TYPE_MX,    DNS_TYPE_SRV,    DNS_TYPE_TXT,
	DNS_TYPE_DS, DNS_TYPE_RRSIG, DNS_TYPE_NSEC, DNS_TYPE_NSEC3, DNS_TYPE_DNSKEY,
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t rdata[UINT16_MAX];
	const struct rdata_type *row = NULL;
	uint16_t type;
	unsigned len;
	char *text;

	if (!size || size > 4096 || memchr(data + 1, '\0', size - 1) ||
	    memchr(data + 1, '\n', size - 1))
		return 0;
	if (data[0] >= N_TYPES)
		row = rdata_type_at(data[0] - N_TYPES);
	type = data[0] < N_TYPES ? types[data[0]] : row ? row->number : 65280;
	text = malloc(size);
	MUST(text);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	rdround_init();
	if (!rdtext_parse(&rdround_text, type, text)) {
		len = rdround_text.len;
		memcpy(rdata, rdround_text.rdata, len);
		rdround(type, rdata, len);
	} else {
		MUST(rdround_text.why[0] && rdround_text.why_at >= text &&
		     rdround_text.why_at <= text + size);
	}
	free(text);
	return 0;
}
