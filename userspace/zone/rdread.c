/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the fields of most types: addresses, names, types; and has the table of all fields. Each
 * function reads plain text in one pass; for escapes and other rare forms it has a second, slower
 * way.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/rdreading.h"
#include "zone/rdtext.h"
#include "zone/text.h"

/* --- Tokens --- */

bool rdread_token(struct rdreading *f, struct text_token *token)
{
	return text_next(&f->at, token) || rdread_refuse(f, f->at, "a field is missing");
}

bool rdread_word(struct rdreading *f, struct text_token *token)
{
	if (!rdread_token(f, token))
		return false;
	return !token->quoted || rdread_refuse(f, token->at, "a field is quoted that must not be");
}

/* --- Addresses --- */

bool rdread_ipv4(struct rdreading *f)
{
	const char *p;
	struct text_token token;

	rdread_skip_blanks(f);
	if (!rdread_has_room(f, 4))
		return false;
	p = f->at;
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = 0, v = 0;

		for (; n < 3 && rdread_is_digit(p[n]); n++)
			v = v * 10 + (unsigned)(p[n] - '0');
		if (!n || v > 255 || (n > 1 && *p == '0') ||
		    (i < 3 ? p[n] != '.' : !rdread_is_end(p[n])))
			return rdread_word(f, &token) &&
			       rdread_refuse_token(f, &token, "an IPv4 address");
		f->out[i] = (uint8_t)v;
		p += n + (i < 3);
	}
	f->out += 4;
	f->at = p;
	return true;
}

bool rdread_ipv6(struct rdreading *f)
{
	char text[INET6_ADDRSTRLEN];
	struct text_token token;
	size_t n;

	rdread_skip_blanks(f);
	if (!rdread_has_room(f, 16))
		return false;
	n = rdread_word_length(f->at);
	if (n < sizeof(text)) {
		memcpy(text, f->at, n);
		text[n] = '\0';
	}
	if (n >= sizeof(text) || inet_pton(AF_INET6, text, f->out) != 1)
		return rdread_word(f, &token) && rdread_refuse_token(f, &token, "an IPv6 address");
	f->at += n;
	f->out += 16;
	return true;
}

/* --- Names --- */

bool rdread_name(struct rdreading *f)
{
	struct text_token token;
	uint8_t wire[256];
	int n;

	rdread_skip_blanks(f);
	n = (int)textname_read_plain(&f->at, f->t->origin, f->t->origin_bytes, wire);
	if (n > 0 && f->end - f->out >= n) {
		memcpy(f->out, wire, (size_t)n);
		f->out += n;
		return true;
	}
	if (n > 0 && !rdread_has_room(f, (size_t)n))
		return false;
	if (!rdread_token(f, &token))
		return false;
	if (token.quoted)
		return rdread_refuse(f, token.at, "a name is quoted");
	n = textname_read(&token, f->t->origin, f->t->origin_bytes, wire);
	if (n < 0)
		return rdread_refuse(f, token.at, "'%.*s': %s", token.n < 64 ? (int)token.n : 64,
				     token.at, err_text(n));
	return rdread_put(f, wire, (size_t)n);
}

/* --- Types --- */

bool rdread_type(struct rdreading *f, uint16_t *type)
{
	struct text_token token;
	int rc;

	rdread_skip_blanks(f);
	token.n = rdread_word_length(f->at);
	rc = rdtext_common_type(f->at, token.n);
	if (rc) {
		*type = (uint16_t)rc;
		f->at += token.n;
		return true;
	}
	if (!rdread_word(f, &token))
		return false;
	rc = rdtext_type(token.at, token.n);
	if (rc <= 0)
		return rdread_refuse_token(f, &token, "a record type");
	*type = (uint16_t)rc;
	return true;
}

static bool type(struct rdreading *f)
{
	uint16_t number;

	return rdread_type(f, &number) && rdread_put16(f, number);
}

/* Writes one window: RFC 4034 section 4.1.2. */
static bool put_window(struct rdreading *f, unsigned window, const uint8_t bits[32])
{
	unsigned n = 32;

	while (n && !bits[n - 1])
		n--;
	if (!n)
		return true;
	return rdread_put8(f, window) && rdread_put8(f, n) && rdread_put(f, bits, n);
}

static bool all_windows(struct rdreading *f)
{
	uint8_t bits[256][32] = { 0 };
	uint16_t number;

	while (!rdread_at_end(f)) {
		if (!rdread_type(f, &number))
			return false;
		bits[number / 256][number % 256 / 8] |= (uint8_t)(0x80 >> number % 8);
	}
	for (unsigned i = 0; i < 256; i++)
		if (!put_window(f, i, bits[i]))
			return false;
	return true;
}

static bool read_bitmap(struct rdreading *f)
{
	const char *begin = f->at;
	uint8_t bits[32] = { 0 };
	uint16_t number;

	while (!rdread_at_end(f)) {
		if (!rdread_type(f, &number))
			return false;
		if (number > 255) {
			f->at = begin;
			return all_windows(f);
		}
		bits[number / 8] |= (uint8_t)(0x80 >> number % 8);
	}
	return put_window(f, 0, bits);
}

/* --- All --- */

/* These have only the generic form of RFC 3597 section 5. */
static bool rdread_rest(struct rdreading *f)
{
	return rdread_refuse(f, f->at, "this type has only the generic form, \\# LENGTH HEX");
}

const rdread_field rdread_fields[RD_N_FIELDS] = {
	[RD_U8] = rdread_u8,
	[RD_U16] = rdread_u16,
	[RD_U32] = rdread_u32,
	[RD_PERIOD] = rdread_period,
	[RD_TIME] = rdread_date,
	[RD_TYPE] = type,
	[RD_ALGORITHM] = rdread_algorithm,
	[RD_CERTIFICATE] = rdread_certificate,
	[RD_SCHEME] = rdread_scheme,
	[RD_IPV4] = rdread_ipv4,
	[RD_IPV6] = rdread_ipv6,
	[RD_EUI48] = rdread_eui48,
	[RD_EUI64] = rdread_eui64,
	[RD_ILNP64] = rdread_ilnp64,
	[RD_U64] = rdread_u64,
	[RD_NAME] = rdread_name,
	[RD_STRING] = rdread_string,
	[RD_STRING_OPT] = rdread_string_opt,
	[RD_STRINGS] = rdread_strings,
	[RD_REST] = rdread_rest,
	[RD_HEX] = rdread_hex,
	[RD_BASE64] = rdread_base64,
	[RD_BASE64_OPT] = rdread_base64,
	[RD_QUOTED] = rdread_quoted,
	[RD_TAG] = rdread_string,
	[RD_SALT] = rdread_salt,
	[RD_HASH] = rdread_hash,
	[RD_BITMAP] = read_bitmap,
	[RD_BITMAP_OPT] = read_bitmap,
	[RD_NXT] = rdread_nxt,
	[RD_WKS] = rdread_wks,
	[RD_NSAP] = rdread_nsap,
	[RD_ATMA] = rdread_atma,
	[RD_A6] = rdread_a6,
	[RD_LOC] = rdread_loc,
	[RD_APL] = rdread_apl,
	[RD_IPSECKEY] = rdread_ipseckey,
	[RD_AMTRELAY] = rdread_amtrelay,
	[RD_HIP] = rdread_hip,
	[RD_SVCPARAMS] = rdread_svcparams,
};
