/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a type and record data in wire form. Data that passes the check is printed and read
 * back as the same octets. Data that fails it is printed in the generic form or not at all, without
 * a read past its end.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "rdround.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[RDPRINT_TEXT_MAX];
	uint8_t *rdata;
	uint16_t type;
	unsigned n;

	if (size < 2 || size > 2 + UINT16_MAX)
		return 0;
	type = wire_load_be16(data);
	n = (unsigned)size - 2;
	rdata = malloc(n + 1); /* a copy, so that the sanitizer knows its end */
	MUST(rdata);
	memcpy(rdata + 1, data + 2, n);
	rdround_init();
	if (!rdata_check(type, rdata + 1, n))
		rdround(type, rdata + 1, n);
	else
		MUST(rdata_fault(type, rdata + 1, n) && rdprint_record(text, type, rdata + 1, n));
	free(rdata);
	return 0;
}
