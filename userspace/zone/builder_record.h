/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record as the input of a builder, and its place in its file. */
#ifndef VOLLEY_ZONE_BUILDER_RECORD_H
#define VOLLEY_ZONE_BUILDER_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* Where a record stands; the file name is a string that the builder keeps (zone_builder_file). */
struct zone_origin {
	uint32_t line;
	uint16_t file;
};

struct zone_builder_record {
	const uint8_t *owner; /* wire, any case */
	unsigned owner_bytes;
	uint16_t type;
	uint16_t rdata_bytes;
	uint32_t ttl;
	const uint8_t *rdata; /* uncompressed wire */
	bool is_checked;      /* it has passed rdata_check_foreign() */
	struct zone_origin at;
};

#endif
