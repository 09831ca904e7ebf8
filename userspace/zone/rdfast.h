/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rdata from plain text, without ldns: the types that make up large zones, written as every tool
 * writes them. What is not plain (escapes, mnemonics for numbers, odd lengths, any fault) is left to
 * ldns, so a success here is a success there with the same octets, and a refusal is ldns's. But for
 * names that begin with the label \@, which ldns mistakes for the origin.
 */
#ifndef VOLLEY_ZONE_RDFAST_H
#define VOLLEY_ZONE_RDFAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/rdtext.h"

/* Makes t->rdata, t->len from @text (NUL-terminated); false: ask ldns. */
bool rdfast_parse(struct rdtext *t, uint16_t type, const char *text);

/* The type for one of the common mnemonics in capitals, or 0. Pure. */
uint16_t rdfast_type(const char *text, size_t n);

/*
 * A plain name of @n characters (letters, digits, '-', '_', '*' as labels), below @origin unless it
 * ends in a dot, to @out; its length, or 0: not plain. Pure.
 */
unsigned rdfast_name(const char *text, size_t n, const uint8_t *origin, unsigned origin_bytes,
		     uint8_t out[static 256]);

#endif
