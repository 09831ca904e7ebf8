/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record data from its text to wire form, by the rows of dns/rdtypes.h: each type's presentation
 * form, and RFC 3597's generic form for any type. What is read passes rdata_check().
 */
#ifndef VOLLEY_ZONE_RDTEXT_H
#define VOLLEY_ZONE_RDTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"

#define RDTEXT_WHY_BYTES 160

/* Buffers and the origin, kept from one record to the next. */
struct rdtext {
	uint8_t origin[256];
	unsigned origin_bytes;
	uint16_t type; /* of the record that is read */
	uint16_t len;  /* the result */
	uint8_t rdata[UINT16_MAX];
	uint8_t scratch[UINT16_MAX];
	char why[RDTEXT_WHY_BYTES]; /* after ERR_RDATA: a clause */
	const char *why_at;         /* where in the text that is */
};

/* The origin is the root. */
void rdtext_init(struct rdtext *t);
void rdtext_fini(struct rdtext *t);

/* The origin for relative names, a checked wire name, until changed. Returns 0. */
int rdtext_set_origin(struct rdtext *t, const uint8_t *origin) __attribute__((warn_unused_result));

/* The type for a mnemonic or TYPEnnn of @n octets, or ERR_TYPE. Pure. */
int rdtext_type(const char *text, size_t n) __attribute__((warn_unused_result));

/* The type for one of the common mnemonics in capitals, or 0. Pure. */
uint16_t rdtext_common_type(const char *text, size_t n);

/*
 * Makes t->rdata, t->len from @text, as text_read() gives it. Returns 0, or ERR_RDATA with t->why.
 */
int rdtext_parse(struct rdtext *t, uint16_t type, const char *text)
	__attribute__((warn_unused_result));

#endif
