/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rdata from its text to wire form: through ldns, which knows the types; around it the checks that
 * ldns leaves out (it takes MX 70000 as 4464 and an odd hex digit as half an octet), and RFC 3597's
 * generic form. Plain text of the common types goes a faster way: zone/rdfast.h.
 */
#ifndef VOLLEY_ZONE_RDTEXT_H
#define VOLLEY_ZONE_RDTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"

#define RDTEXT_WHY_BYTES 160

/* Buffers and the origin, kept from one record to the next. */
struct rdtext {
	void *origin; /* ldns_rdf */
	uint8_t origin_wire[256];
	unsigned origin_bytes;
	char *line;
	size_t line_cap;
	uint16_t len; /* the result */
	uint8_t rdata[UINT16_MAX];
	char why[RDTEXT_WHY_BYTES]; /* after ERR_RDATA: a clause */
};

void rdtext_init(struct rdtext *t);
void rdtext_fini(struct rdtext *t);

/* The origin for relative names, a checked wire name, until changed. Returns 0 or -ENOMEM. */
int rdtext_set_origin(struct rdtext *t, const uint8_t *origin) __attribute__((warn_unused_result));

/* The type for a mnemonic or TYPEnnn of @n octets, or ERR_TYPE. Pure. */
int rdtext_type(const char *text, size_t n) __attribute__((warn_unused_result));

/*
 * As rdtext_parse(), but always through ldns: what rdtext_parse() is compared with.
 */
int rdtext_parse_ldns(struct rdtext *t, uint16_t type, const char *text)
	__attribute__((warn_unused_result));

/*
 * Makes t->rdata, t->len from @text, as text_read() gives it. Returns 0, -ENOMEM, or ERR_RDATA with
 * t->why.
 */
int rdtext_parse(struct rdtext *t, uint16_t type, const char *text)
	__attribute__((warn_unused_result));

#endif
