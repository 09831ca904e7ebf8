/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of record data from text, one by one: private to zone/rdtext.c. Each function moves
 * both cursors past its field and returns true, or false with the fault in t->why.
 */
#ifndef VOLLEY_ZONE_RDREADING_H
#define VOLLEY_ZONE_RDREADING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/wire.h"
#include "dns/rdtypes.h"
#include "zone/text.h"

struct rdtext;

struct rdreading {
	const char *at;
	uint8_t *out, *end;
	struct rdtext *t;
};

typedef bool (*rdread_field)(struct rdreading *f);

/* Notes a fault at @at in the text. Returns false. */
bool rdread_refuse(struct rdreading *f, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool rdread_refuse_token(struct rdreading *f, const struct text_token *token, const char *is_not);

static inline bool rdread_is_end(char c)
{
	return !c || c == ' ' || c == '\t';
}

static inline bool rdread_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline void rdread_skip_blanks(struct rdreading *f)
{
	while (*f->at == ' ' || *f->at == '\t')
		f->at++;
}

/* True if only blanks are left. */
static inline bool rdread_at_end(struct rdreading *f)
{
	rdread_skip_blanks(f);
	return !*f->at;
}

static inline bool rdread_full(struct rdreading *f)
{
	return rdread_refuse(f, f->at, "it is longer than 65535 octets");
}

static inline bool rdread_has_room(struct rdreading *f, size_t n)
{
	return (size_t)(f->end - f->out) >= n || rdread_full(f);
}

static inline bool rdread_put(struct rdreading *f, const void *from, size_t n)
{
	if (!rdread_has_room(f, n))
		return false;
	if (n)
		memcpy(f->out, from, n);
	f->out += n;
	return true;
}

static inline bool rdread_put8(struct rdreading *f, uint32_t v)
{
	if (!rdread_has_room(f, 1))
		return false;
	*f->out++ = (uint8_t)v;
	return true;
}

static inline bool rdread_put16(struct rdreading *f, uint32_t v)
{
	if (!rdread_has_room(f, 2))
		return false;
	wire_store_be16(f->out, (uint16_t)v);
	f->out += 2;
	return true;
}

static inline bool rdread_put32(struct rdreading *f, uint32_t v)
{
	if (!rdread_has_room(f, 4))
		return false;
	wire_store_be32(f->out, v);
	f->out += 4;
	return true;
}

/* The number of characters up to a blank or the end. */
static inline size_t rdread_word_length(const char *text)
{
	size_t n = 0;

	while (!rdread_is_end(text[n]))
		n++;
	return n;
}

/* Reads the next token; refuses the field if there is none. */
bool rdread_token(struct rdreading *f, struct text_token *token);
/* The same for a token that is not quoted. */
bool rdread_word(struct rdreading *f, struct text_token *token);

/* Reads one token as a decimal up to @max. */
bool rdread_decimal(struct rdreading *f, uint32_t max, uint32_t *value);

/* Writes the octets of a token, with escapes resolved, at @dst. Returns their number, or -1. */
long rdread_octets(struct rdreading *f, const struct text_token *token, uint8_t *dst, size_t cap);

/* By enum rdata_field; RD_END has none. */
extern const rdread_field rdread_fields[RD_N_FIELDS];

/* In zone/rdread.c. */
bool rdread_ipv4(struct rdreading *f);
bool rdread_ipv6(struct rdreading *f);
bool rdread_name(struct rdreading *f);
bool rdread_type(struct rdreading *f, uint16_t *type);

/* In zone/rdread_number.c. */
bool rdread_u8(struct rdreading *f);
bool rdread_u16(struct rdreading *f);
bool rdread_u32(struct rdreading *f);
bool rdread_u64(struct rdreading *f);
bool rdread_period(struct rdreading *f);
bool rdread_date(struct rdreading *f);
bool rdread_algorithm(struct rdreading *f);
bool rdread_scheme(struct rdreading *f);
bool rdread_certificate(struct rdreading *f);

/* In zone/rdread_octets.c. */
bool rdread_hex_word(struct rdreading *f); /* one word of hex */
bool rdread_hex(struct rdreading *f);
bool rdread_base64(struct rdreading *f);
bool rdread_base64_text(struct rdreading *f, const char *text, size_t n);
bool rdread_hash(struct rdreading *f);
bool rdread_salt(struct rdreading *f);
bool rdread_string(struct rdreading *f);
bool rdread_string_opt(struct rdreading *f);
bool rdread_strings(struct rdreading *f);
bool rdread_quoted(struct rdreading *f);

/* In zone/rdread_rare.c and zone/rdread_svcb.c. */
bool rdread_eui48(struct rdreading *f);
bool rdread_eui64(struct rdreading *f);
bool rdread_ilnp64(struct rdreading *f);
bool rdread_nxt(struct rdreading *f);
bool rdread_wks(struct rdreading *f);
bool rdread_nsap(struct rdreading *f);
bool rdread_atma(struct rdreading *f);
bool rdread_a6(struct rdreading *f);
bool rdread_loc(struct rdreading *f);
bool rdread_apl(struct rdreading *f);
bool rdread_ipseckey(struct rdreading *f);
bool rdread_amtrelay(struct rdreading *f);
bool rdread_hip(struct rdreading *f);
bool rdread_svcparams(struct rdreading *f);

#endif
