/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random record data of any type, by its row in dns/rdtypes.h: well formed, with ordinary and odd
 * content, accepted by rdata_check(). Set the seed of tests/lib/draw.h first.
 */
#ifndef VOLLEY_TESTS_LIB_RDGEN_H
#define VOLLEY_TESTS_LIB_RDGEN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/wire.h"
#include "dns/rdata.h"
#include "tests/lib/draw.h"
#include "tests/lib/must.h"

#define RDGEN_MAX 8192 /* octets, more than any rdata here has */

struct rdgen {
	uint8_t *out;
};

static inline void rdgen_octets(struct rdgen *g, unsigned n)
{
	static const char odd[] = " \"\\;()@$.,=\t\n0aZ";
	unsigned kind = draw(3);

	while (n--)
		*g->out++ = (uint8_t)(kind == 0 ? draw(256) :
				      kind == 1 ? 'a' + draw(26) :
						  (uint8_t)odd[draw(sizeof(odd) - 1)]);
}

static inline void rdgen_name(struct rdgen *g)
{
	unsigned n_labels = draw(4);

	while (n_labels--) {
		unsigned n = 1 + draw(draw(8) ? 8 : 60);

		*g->out++ = (uint8_t)n;
		rdgen_octets(g, n);
	}
	*g->out++ = 0;
}

static inline void rdgen_string(struct rdgen *g, unsigned min)
{
	unsigned n = min + draw(draw(8) ? 12 : 256 - min);

	*g->out++ = (uint8_t)n;
	rdgen_octets(g, n);
}

static inline void rdgen_number(struct rdgen *g, unsigned n)
{
	bool whole = draw(2);

	while (n--)
		*g->out++ = (uint8_t)(whole ? draw(256) : n ? 0 : draw(256));
}

static inline void rdgen_bitmap(struct rdgen *g)
{
	for (unsigned window = 0; window < 256; window += 1 + draw(200)) {
		unsigned n = 1 + draw(draw(4) ? 8 : 32);

		*g->out++ = (uint8_t)window;
		*g->out++ = (uint8_t)n;
		for (unsigned i = 0; i < n; i++)
			*g->out++ = (uint8_t)(draw(3) ? 0 : draw(256));
		g->out[-1] |= 1;
	}
}

static inline void rdgen_loc(struct rdgen *g)
{
	uint8_t *at = g->out;

	if (!draw(8)) {
		*g->out++ = (uint8_t)(1 + draw(255));
		rdgen_octets(g, draw(20));
		return;
	}
	*g->out++ = 0;
	for (unsigned i = 0; i < 3; i++)
		*g->out++ = (uint8_t)(draw(10) << 4 | draw(10));
	wire_store_be32(at + 4, (1u << 31) + draw(2 * 90 * 3600000 + 1) - 90 * 3600000);
	wire_store_be32(at + 8, (1u << 31) + draw(2 * 180 * 3600000 + 1) - 180 * 3600000);
	g->out += 8;
	rdgen_number(g, 4);
}

static inline void rdgen_apl(struct rdgen *g)
{
	for (unsigned i = draw(5); i; i--) {
		unsigned family = draw(8) ? 1 + draw(2) : draw(65536);
		unsigned n = draw(family == 1 ? 5 : family == 2 ? 17 : 20);

		wire_store_be16(g->out, (uint16_t)family);
		g->out[2] = (uint8_t)draw(family == 1 ? 33 : family == 2 ? 129 : 256);
		g->out[3] = (uint8_t)(draw(2) << 7 | n);
		g->out += 4;
		rdgen_octets(g, n);
	}
}

static inline void rdgen_gateway(struct rdgen *g, unsigned type)
{
	if (type == 1 || type == 2)
		rdgen_octets(g, type == 1 ? 4 : 16);
	else if (type == 3)
		rdgen_name(g);
	else if (type > 3)
		rdgen_octets(g, draw(20));
}

static inline void rdgen_hip(struct rdgen *g)
{
	unsigned hit = 1 + draw(20), key = 1 + draw(200);

	g->out[0] = (uint8_t)hit;
	g->out[1] = (uint8_t)draw(256);
	wire_store_be16(g->out + 2, (uint16_t)key);
	g->out += 4;
	rdgen_octets(g, hit + key);
	for (unsigned i = draw(3); i; i--)
		rdgen_name(g);
}

static inline void rdgen_param(struct rdgen *g, unsigned key)
{
	uint8_t *head = g->out;

	g->out += 4;
	switch (key) {
	case 0: /* where it stands, "alpn" follows */
		wire_store_be16(g->out, 1);
		g->out += 2;
		break;
	case 1:
		for (unsigned i = 1 + draw(3); i; i--)
			rdgen_string(g, 1);
		break;
	case 2:
	case 8:
		break;
	case 3:
		rdgen_number(g, 2);
		break;
	case 4:
		rdgen_octets(g, 4 * (1 + draw(3)));
		break;
	case 6:
		rdgen_octets(g, 16 * (1 + draw(3)));
		break;
	default:
		rdgen_octets(g, (key == 5) + draw(20));
	}
	wire_store_be16(head, (uint16_t)key);
	wire_store_be16(head + 2, (uint16_t)(g->out - head - 4));
}

static inline void rdgen_svcparams(struct rdgen *g)
{
	unsigned key = draw(3);

	if (!key) {
		rdgen_param(g, 0);
		rdgen_param(g, 1);
		key = 2;
	}
	for (unsigned i = draw(5); i && key < UINT16_MAX; i--) {
		rdgen_param(g, key);
		key += 1 + draw(draw(3) ? 3 : 20000);
	}
}

static inline void rdgen_a6(struct rdgen *g)
{
	unsigned prefix = draw(129), n = (128 - prefix + 7) / 8;

	*g->out++ = (uint8_t)prefix;
	rdgen_octets(g, n);
	if (prefix)
		rdgen_name(g);
}

/* long: a case for each kind of field */
static inline void rdgen_field(struct rdgen *g, enum rdata_field field)
{
	unsigned n = rdata_fixed_bytes(field);
	uint8_t *at = g->out;

	if (n) {
		rdgen_number(g, n);
		if (field == RD_CERTIFICATE && draw(2))
			wire_store_be16(at, (uint16_t)(1 + draw(8)));
		return;
	}
	switch (field) {
	case RD_NAME:
		rdgen_name(g);
		break;
	case RD_STRING_OPT:
		if (draw(2))
			break;
		/* fallthrough */
	case RD_STRING:
	case RD_SALT:
		rdgen_string(g, 0);
		break;
	case RD_STRINGS:
		for (unsigned i = 1 + draw(4); i; i--)
			rdgen_string(g, 0);
		break;
	case RD_TAG:
		*g->out++ = (uint8_t)(1 + draw(10));
		n = draw(4) ? 5 : 8;
		for (unsigned i = *at; i; i--)
			*g->out++ = (uint8_t) "ab019XYZ"[draw(n)];
		break;
	case RD_HASH:
		rdgen_string(g, 1);
		if (draw(2)) {
			*at = 20;
			g->out = at + 1;
			rdgen_octets(g, 20);
		}
		break;
	case RD_BITMAP:
	case RD_BITMAP_OPT:
		if (draw(8))
			rdgen_bitmap(g);
		break;
	case RD_NXT:
		*g->out++ = (uint8_t)draw(128);
		for (unsigned i = draw(15); i; i--)
			*g->out++ = (uint8_t)draw(256);
		g->out[-1] |= 1;
		break;
	case RD_WKS:
		rdgen_octets(g, 1 + draw(draw(4) ? 20 : 2000));
		break;
	case RD_ATMA:
		*g->out++ = (uint8_t)draw(2);
		for (unsigned i = 1 + draw(20); i; i--)
			*g->out++ = (uint8_t)(*at ? '0' + draw(10) : draw(256));
		break;
	case RD_A6:
		rdgen_a6(g);
		break;
	case RD_LOC:
		rdgen_loc(g);
		break;
	case RD_APL:
		rdgen_apl(g);
		break;
	case RD_IPSECKEY:
		*g->out++ = (uint8_t)draw(5);
		*g->out++ = (uint8_t)draw(256);
		rdgen_gateway(g, *at);
		rdgen_octets(g, draw(100));
		break;
	case RD_AMTRELAY:
		*g->out++ = (uint8_t)(draw(2) << 7 | draw(5));
		rdgen_gateway(g, *at & 0x7f);
		break;
	case RD_HIP:
		rdgen_hip(g);
		break;
	case RD_SVCPARAMS:
		rdgen_svcparams(g);
		break;
	default: /* any octets to the end */
		rdgen_octets(g, draw(draw(8) ? 40 : 600));
	}
}

/* Writes rdata of @row to @out, which has room for RDGEN_MAX octets; returns its length. */
static inline unsigned rdgen(const struct rdata_type *row, uint8_t *out)
{
	for (;;) {
		struct rdgen g = { .out = out };
		unsigned n;

		for (const uint8_t *field = row->fields; *field; field++)
			rdgen_field(&g, *field);
		n = (unsigned)(g.out - out);
		MUST(n <= RDGEN_MAX);
		/* The fields alone do not obey the sizes of the row. */
		if (n > row->max)
			n = row->max;
		while (n < row->min)
			out[n++] = (uint8_t)draw(256);
		if (!rdata_check(row->number, out, n))
			return n;
	}
}

#endif
