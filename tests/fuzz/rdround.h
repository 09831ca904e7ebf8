/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Octets to text and back, for the fuzz targets of record data. */
#ifndef VOLLEY_FUZZ_RDROUND_H
#define VOLLEY_FUZZ_RDROUND_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dns/rdata.h"
#include "tests/lib/must.h"
#include "zone/rdprint.h"
#include "zone/rdtext.h"

static struct rdtext rdround_text;

static inline void rdround_init(void)
{
	static const uint8_t origin[] = "\7example\3com";

	rdtext_init(&rdround_text);
	MUST(!rdtext_set_origin(&rdround_text, origin));
}

static inline void rdround_reads(uint16_t type, const char *text, const uint8_t *rdata, unsigned n)
{
	MUST(!rdtext_parse(&rdround_text, type, text));
	MUST(rdround_text.len == n && !memcmp(rdround_text.rdata, rdata, n));
}

/* @rdata is well formed: both printed forms must be read back as the same octets. */
static inline void rdround(uint16_t type, const uint8_t *rdata, unsigned n)
{
	static char text[RDPRINT_TEXT_MAX + 1];
	size_t length;
	char *tab;

	MUST(!rdata_check(type, rdata, n) && !rdata_check_frame(type, rdata, n));
	MUST(!rdata_cmp(type, rdata, n, rdata, n));
	length = rdprint(text, type, rdata, n);
	MUST(length < sizeof(text));
	text[length] = '\0';
	if (length)
		rdround_reads(type, text, rdata, n);
	length = rdprint_record(text, type, rdata, n);
	MUST(length && length < sizeof(text));
	text[length] = '\0';
	tab = strchr(text, '\t');
	MUST(tab && rdtext_type(text, (size_t)(tab - text)) == type);
	rdround_reads(type, tab + 1, rdata, n);
}

#endif
