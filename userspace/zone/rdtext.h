/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the text of record data into wire form, by the rows of dns/rdtypes.h: the presentation form
 * of each type, and the generic form of RFC 3597 for any type. The result passes rdata_check().
 */
#ifndef VOLLEY_ZONE_RDTEXT_H
#define VOLLEY_ZONE_RDTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"

#define RDTEXT_WHY_BYTES 160

/* The origin and buffers, kept from one record to the next. */
struct rdtext {
	uint8_t origin[256];
	unsigned origin_bytes;
	uint16_t type; /* of the record that is read */
	uint16_t len;  /* the result */
	uint8_t rdata[UINT16_MAX];
	uint8_t scratch[UINT16_MAX];
	char why[RDTEXT_WHY_BYTES]; /* after ERR_RDATA: the reason, a clause */
	const char *why_at;         /* the place of the fault in the text */
};

/* Sets the root as the origin. */
void rdtext_init(struct rdtext *t);
void rdtext_fini(struct rdtext *t);

/* Sets the origin for relative names, a checked wire name. Returns 0. */
int rdtext_set_origin(struct rdtext *t, const uint8_t *origin) __attribute__((warn_unused_result));

/* The type of a mnemonic or TYPEnnn of @n octets, or ERR_TYPE. Pure. */
int rdtext_type(const char *text, size_t n) __attribute__((warn_unused_result));

/* The type of a common mnemonic in capitals, or 0. Pure. */
uint16_t rdtext_common_type(const char *text, size_t n);

/*
 * Makes t->rdata and t->len from @text, as text_read() gives it. Returns 0, or ERR_RDATA with
 * t->why.
 */
int rdtext_parse(struct rdtext *t, uint16_t type, const char *text)
	__attribute__((warn_unused_result));

#endif
