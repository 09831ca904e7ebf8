/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of record data as text, one by one: private to zone/rdprint.c. Each function moves
 * both cursors past its field and returns true, or false if the text would not be read back as
 * these octets.
 */
#ifndef VOLLEY_ZONE_RDPRINTING_H
#define VOLLEY_ZONE_RDPRINTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dns/rdata.h"

/* The room that a field may use without a check, beside four characters for each octet left. */
#define RDPRINT_FIELD_ROOM 1280

struct rdprinting {
	const uint8_t *start, *in, *end;
	char *out, *out_end;
};

static inline unsigned rdprint_left(const struct rdprinting *p)
{
	return (unsigned)(p->end - p->in);
}

static inline bool rdprint_has_room(const struct rdprinting *p, size_t n)
{
	return (size_t)(p->out_end - p->out) >= n;
}

static inline bool rdprint_put(struct rdprinting *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p->out, text, n);
	p->out += n;
	return true;
}

/* Between two fields. */
static inline void rdprint_blank(struct rdprinting *p)
{
	*p->out++ = ' ';
}

static inline void rdprint_two_digits(struct rdprinting *p, unsigned value)
{
	*p->out++ = (char)('0' + value / 10 % 10);
	*p->out++ = (char)('0' + value % 10);
}

typedef bool (*rdprint_field)(struct rdprinting *p);

/* In zone/rdprint.c, for the fields below. */
bool rdprint_number(struct rdprinting *p, unsigned n_bytes);
bool rdprint_ipv4(struct rdprinting *p);
bool rdprint_ipv6(struct rdprinting *p);
bool rdprint_wire_name(struct rdprinting *p);

/* In zone/rdprint_octets.c. */
bool rdprint_hex(struct rdprinting *p, unsigned n_bytes); /* @n_bytes > 0 */
bool rdprint_base64(struct rdprinting *p, unsigned n_bytes);
void rdprint_char(struct rdprinting *p, uint8_t c); /* inside quotes */
bool rdprint_hex_rest(struct rdprinting *p);
bool rdprint_base64_rest(struct rdprinting *p);
bool rdprint_eui48(struct rdprinting *p);
bool rdprint_eui64(struct rdprinting *p);
bool rdprint_ilnp64(struct rdprinting *p);
bool rdprint_hash(struct rdprinting *p);
bool rdprint_salt(struct rdprinting *p);
bool rdprint_string(struct rdprinting *p);
bool rdprint_string_opt(struct rdprinting *p);
bool rdprint_strings(struct rdprinting *p);
bool rdprint_quoted_rest(struct rdprinting *p);
bool rdprint_tag(struct rdprinting *p);

/* In zone/rdprint_rare.c. */
bool rdprint_nxt(struct rdprinting *p);
bool rdprint_wks(struct rdprinting *p);
bool rdprint_nsap(struct rdprinting *p);
bool rdprint_atma(struct rdprinting *p);
bool rdprint_a6(struct rdprinting *p);
bool rdprint_loc(struct rdprinting *p);
bool rdprint_apl(struct rdprinting *p);
bool rdprint_ipseckey(struct rdprinting *p);
bool rdprint_amtrelay(struct rdprinting *p);
bool rdprint_hip(struct rdprinting *p);
bool rdprint_svcparams(struct rdprinting *p);

#endif
