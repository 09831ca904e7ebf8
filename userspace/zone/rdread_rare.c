/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads fields that only one or a few types have. */
#include <arpa/inet.h>
#include <string.h>

#include "base/hex.h"
#include "base/wire.h"
#include "dns/proto.h"
#include "zone/rdreading.h"
#include "zone/rdtext.h"

/* --- Identifiers --- */

/* Reads groups of up to @n_digits hex digits each, or of exactly so many if @whole. */
static bool read_grouped(struct rdreading *f, unsigned n_groups, unsigned n_digits, char between,
			 bool whole, const char *is_not)
{
	struct text_token token;
	size_t i = 0;

	if (!rdread_word(f, &token))
		return false;
	for (unsigned group = 0; group < n_groups; group++) {
		unsigned n = 0, v = 0;
		int digit;

		if (group && (i >= token.n || token.at[i++] != between))
			return rdread_refuse_token(f, &token, is_not);
		for (; i < token.n && n < n_digits; i++, n++) {
			digit = hex_digit(token.at[i]);
			if (digit < 0)
				break;
			v = v << 4 | (unsigned)digit;
		}
		if (!n || (whole && n != n_digits))
			return rdread_refuse_token(f, &token, is_not);
		if ((n_digits == 4 && !rdread_put8(f, v >> 8)) || !rdread_put8(f, v))
			return false;
	}
	return i == token.n || rdread_refuse_token(f, &token, is_not);
}

bool rdread_eui48(struct rdreading *f)
{
	return read_grouped(f, 6, 2, '-', true, "an EUI-48 address");
}

bool rdread_eui64(struct rdreading *f)
{
	return read_grouped(f, 8, 2, '-', true, "an EUI-64 address");
}

bool rdread_ilnp64(struct rdreading *f)
{
	return read_grouped(f, 4, 4, ':', false, "four groups of hex digits between colons");
}

/* --- Bits --- */

bool rdread_nxt(struct rdreading *f)
{
	uint8_t bits[16] = { 0 };
	unsigned n = 16;
	uint16_t type;

	while (!rdread_at_end(f)) {
		if (!rdread_type(f, &type))
			return false;
		if (type > 127)
			return rdread_refuse(f, f->at, "a type above 127 has no place in it");
		bits[type / 8] |= (uint8_t)(0x80 >> type % 8);
	}
	while (n && !bits[n - 1])
		n--;
	return rdread_put(f, bits, n);
}

static bool protocol(struct rdreading *f)
{
	struct text_token token;

	rdread_skip_blanks(f);
	if (rdread_is_digit(*f->at))
		return rdread_u8(f);
	if (!rdread_word(f, &token))
		return false;
	if (text_is(&token, "TCP"))
		return rdread_put8(f, 6);
	if (text_is(&token, "UDP"))
		return rdread_put8(f, 17);
	return rdread_refuse_token(f, &token, "a protocol: TCP, UDP or a number");
}

/* The services in RFC 1010, since /etc/services may differ from host to host. */
static bool service(struct rdreading *f, uint32_t *port)
{
	static const struct {
		const char *name;
		uint16_t port;
	} rows[] = {
		{ "echo", 7 },      { "discard", 9 },  { "systat", 11 }, { "daytime", 13 },
		{ "ftp-data", 20 }, { "ftp", 21 },     { "ssh", 22 },    { "telnet", 23 },
		{ "smtp", 25 },     { "time", 37 },    { "whois", 43 },  { "domain", 53 },
		{ "tftp", 69 },     { "gopher", 70 },  { "finger", 79 }, { "http", 80 },
		{ "pop3", 110 },    { "sunrpc", 111 }, { "nntp", 119 },  { "ntp", 123 },
		{ "imap2", 143 },   { "snmp", 161 },   { "bgp", 179 },   { "https", 443 },
	};
	struct text_token token;

	rdread_skip_blanks(f);
	if (rdread_is_digit(*f->at))
		return rdread_decimal(f, UINT16_MAX, port);
	if (!rdread_word(f, &token))
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (text_is(&token, rows[i].name)) {
			*port = rows[i].port;
			return true;
		}
	}
	return rdread_refuse_token(f, &token, "a port: a number, or a name such as smtp or domain");
}

bool rdread_wks(struct rdreading *f)
{
	uint8_t bits[8192] = { 0 };
	unsigned n = sizeof(bits);
	uint32_t port;

	if (!protocol(f))
		return false;
	while (!rdread_at_end(f)) {
		if (!service(f, &port))
			return false;
		bits[port / 8] |= (uint8_t)(0x80 >> port % 8);
	}
	while (n && !bits[n - 1])
		n--;
	return rdread_put(f, bits, n);
}

/* --- Addresses of other networks --- */

/* Reads the hex digits of a word, with dots anywhere. */
static bool dotted_hex(struct rdreading *f, const struct text_token *token, size_t from)
{
	int high = -1;

	for (size_t i = from; i < token->n; i++) {
		int v = hex_digit(token->at[i]);

		if (token->at[i] == '.')
			continue;
		if (v < 0)
			return rdread_refuse_token(f, token, "an address in hex digits");
		if (high >= 0 && !rdread_put8(f, (unsigned)(high << 4 | v)))
			return false;
		high = high >= 0 ? -1 : v;
	}
	return high < 0 || rdread_refuse(f, token->at, "the number of hex digits is odd");
}

bool rdread_nsap(struct rdreading *f)
{
	struct text_token token;

	if (!rdread_word(f, &token))
		return false;
	if (token.n < 3 || token.at[0] != '0' || (token.at[1] | 0x20) != 'x')
		return rdread_refuse_token(f, &token, "an NSAP address: 0x and hex digits");
	return dotted_hex(f, &token, 2);
}

bool rdread_atma(struct rdreading *f)
{
	struct text_token token;

	if (!rdread_word(f, &token))
		return false;
	if (token.at[0] != '+')
		return rdread_put8(f, 0) && dotted_hex(f, &token, 0);
	if (!rdread_put8(f, 1))
		return false;
	for (size_t i = 1; i < token.n; i++) {
		if (token.at[i] == '.')
			continue;
		if (!rdread_is_digit(token.at[i]))
			return rdread_refuse_token(f, &token, "a number of E.164");
		if (!rdread_put8(f, (uint8_t)token.at[i]))
			return false;
	}
	return true;
}

bool rdread_a6(struct rdreading *f)
{
	uint8_t *to = f->out, *address;
	unsigned n;

	if (!rdread_u8(f))
		return false;
	if (*to > 128)
		return rdread_refuse(f, f->at, "the prefix is longer than 128");
	n = (128u - *to + 7) / 8;
	address = f->out;
	if (n) {
		if (!rdread_ipv6(f))
			return false;
		memmove(address, address + 16 - n, n);
		if (*to % 8)
			address[0] &= (uint8_t)(0xff >> *to % 8);
		f->out = address + n;
	}
	return !*to || rdread_name(f);
}

/* --- LOC: RFC 1876 section 3 --- */

/* Reads a decimal with up to @places places, times 10^@places; with @metres, "m" may follow. */
static bool fixed_point(const struct text_token *token, unsigned places, bool metres,
			uint64_t *value)
{
	size_t i = 0, n = token->n;
	unsigned seen = 0;
	uint64_t v = 0;

	if (metres && n && (token->at[n - 1] | 0x20) == 'm')
		n--;
	if (token->quoted || !n || n > 16 || !rdread_is_digit(token->at[0]))
		return false;
	for (; i < n && rdread_is_digit(token->at[i]); i++)
		v = v * 10 + (unsigned)(token->at[i] - '0');
	if (i < n && token->at[i++] != '.')
		return false;
	for (; i < n && rdread_is_digit(token->at[i]) && seen < places; i++, seen++)
		v = v * 10 + (unsigned)(token->at[i] - '0');
	for (; seen < places; seen++)
		v *= 10;
	*value = v;
	return i == n;
}

/* Returns 1 for the first of the two letters, -1 for the second, else 0. */
static int side_of(const struct text_token *token, const char *sides)
{
	if (token->quoted || token->n != 1)
		return 0;
	if ((token->at[0] & ~0x20) == sides[0])
		return 1;
	return (token->at[0] & ~0x20) == sides[1] ? -1 : 0;
}

/* Degrees, optional minutes and seconds, and the side: thousandths of seconds from 2^31. */
static bool angle(struct rdreading *f, unsigned degrees_max, const char *sides, const char *is_not)
{
	static const uint64_t unit[] = { 3600000, 60000, 1 };
	struct text_token token;
	uint64_t sum = 0, v;
	uint8_t wire[4];
	int side = 0;

	for (unsigned i = 0; i < 4; i++) {
		if (!rdread_token(f, &token))
			return false;
		side = i ? side_of(&token, sides) : 0;
		if (side || i == 3)
			break;
		if (!fixed_point(&token, i == 2 ? 3 : 0, false, &v) || v > (i == 0 ? degrees_max :
									    i == 1 ? 59 :
										     59999))
			return rdread_refuse_token(f, &token, is_not);
		sum += v * unit[i];
	}
	if (!side || sum > (uint64_t)degrees_max * 3600000)
		return rdread_refuse_token(f, &token, is_not);
	wire_store_be32(wire, (uint32_t)((1u << 31) + (side > 0 ? sum : 0 - sum)));
	return rdread_put(f, wire, 4);
}

static bool altitude(struct rdreading *f)
{
	struct text_token token, rest;
	bool negative;
	uint8_t wire[4];
	uint64_t cm;

	if (!rdread_word(f, &token))
		return false;
	rest = token;
	negative = token.n && token.at[0] == '-';
	if (negative) {
		rest.at++;
		rest.n--;
	}
	if (!fixed_point(&rest, 2, true, &cm) || cm > (negative ? 10000000 : 4284967295))
		return rdread_refuse_token(f, &token,
					   "an altitude from -100000 m to 42849672.95 m");
	wire_store_be32(wire, (uint32_t)(negative ? 10000000 - cm : 10000000 + cm));
	return rdread_put(f, wire, 4);
}

/* Optional size or precision in metres, as a digit and a power of ten of centimetres. */
static bool size(struct rdreading *f, uint8_t *to)
{
	struct text_token token;
	unsigned exponent = 0;
	uint64_t cm;

	if (rdread_at_end(f))
		return true;
	rdread_token(f, &token);
	if (!fixed_point(&token, 2, true, &cm) || cm > 9000000000)
		return rdread_refuse_token(f, &token, "a size from 0 m to 90000000 m");
	for (; cm >= 10; cm /= 10)
		exponent++;
	*to = (uint8_t)(cm << 4 | exponent);
	return true;
}

bool rdread_loc(struct rdreading *f)
{
	uint8_t *sizes = f->out + 1;

	/* Version 0, 1 m, 10000 m and 10 m. */
	return rdread_put(f, "\x00\x12\x16\x13", 4) &&
	       angle(f, 90, "NS", "a latitude up to 90 degrees") &&
	       angle(f, 180, "EW", "a longitude up to 180 degrees") && altitude(f) &&
	       size(f, sizes) && size(f, sizes + 1) && size(f, sizes + 2);
}

/* --- APL: RFC 3123 section 5 --- */

static bool prefix_item(struct rdreading *f, const struct text_token *token)
{
	bool negated = token->n && token->at[0] == '!', is_v6;
	const char *at = token->at + negated, *end = token->at + token->n;
	const char *slash = memchr(token->at, '/', token->n);
	uint8_t head[4] = { 0 }, address[16] = { 0 };
	char text[INET6_ADDRSTRLEN];
	unsigned n, prefix = 0;

	if (!slash || end - at < 4 || (*at != '1' && *at != '2') || at[1] != ':')
		return false;
	is_v6 = *at == '2';
	at += 2;
	if (slash < at || (size_t)(slash - at) >= sizeof(text))
		return false;
	memcpy(text, at, (size_t)(slash - at));
	text[slash - at] = '\0';
	if (inet_pton(is_v6 ? AF_INET6 : AF_INET, text, address) != 1)
		return false;
	if (end - slash < 2 || end - slash > 4)
		return false;
	for (at = slash + 1; at < end; at++) {
		if (!rdread_is_digit(*at))
			return false;
		prefix = prefix * 10 + (unsigned)(*at - '0');
	}
	if (prefix > (is_v6 ? 128 : 32))
		return false;
	for (n = is_v6 ? 16 : 4; n && !address[n - 1];)
		n--;
	head[1] = is_v6 ? 2 : 1;
	head[2] = (uint8_t)prefix;
	head[3] = (uint8_t)((negated ? 0x80 : 0) | n);
	f->t->scratch[0] = 1; /* it is a prefix; the next lines fail only for want of room */
	return rdread_put(f, head, 4) && rdread_put(f, address, n);
}

bool rdread_apl(struct rdreading *f)
{
	struct text_token token;

	while (!rdread_at_end(f)) {
		if (!rdread_word(f, &token))
			return false;
		f->t->scratch[0] = 0;
		if (!prefix_item(f, &token))
			return f->t->scratch[0] ? false :
						  rdread_refuse_token(f, &token,
								      "[!]1:IPv4/LENGTH or "
								      "[!]2:IPv6/LENGTH");
	}
	return true;
}

/* --- Gateways --- */

static bool no_gateway(struct rdreading *f)
{
	struct text_token token;

	if (!rdread_word(f, &token))
		return false;
	return (token.n == 1 && *token.at == '.') ||
	       rdread_refuse_token(f, &token, "\".\", for this type of gateway");
}

static bool read_gateway(struct rdreading *f, unsigned type, const char *at)
{
	switch (type) {
	case 0:
		return no_gateway(f);
	case 1:
		return rdread_ipv4(f);
	case 2:
		return rdread_ipv6(f);
	case 3:
		return rdread_name(f);
	default:
		return rdread_refuse(f, at, "this type of gateway is none of 0 to 3");
	}
}

bool rdread_ipseckey(struct rdreading *f)
{
	const uint8_t *types = f->out;
	const char *at = f->at;

	if (!rdread_u8(f) || !rdread_u8(f) || !read_gateway(f, types[0], at))
		return false;
	/* Algorithm 0 means no key. */
	return (!types[1] && rdread_at_end(f)) || rdread_base64(f);
}

bool rdread_amtrelay(struct rdreading *f)
{
	const char *at = f->at;
	uint32_t discovery, type;

	if (!rdread_decimal(f, 1, &discovery))
		return false;
	at = f->at;
	return rdread_decimal(f, 127, &type) && rdread_put8(f, discovery << 7 | type) &&
	       read_gateway(f, type, at);
}

/* The lengths of identity and key are before both. */
bool rdread_hip(struct rdreading *f)
{
	uint8_t *head = f->out;
	struct text_token token;
	uint32_t algorithm;
	size_t n_hit, n_key;

	if (!rdread_decimal(f, UINT8_MAX, &algorithm) || !rdread_put(f, (uint8_t[4]){ 0 }, 4) ||
	    !rdread_hex_word(f))
		return false;
	n_hit = (size_t)(f->out - head) - 4;
	if (n_hit > UINT8_MAX)
		return rdread_refuse(f, f->at, "the identity is longer than 255 octets");
	if (!rdread_word(f, &token) || !rdread_base64_text(f, token.at, token.n))
		return false;
	n_key = (size_t)(f->out - head) - 4 - n_hit;
	head[0] = (uint8_t)n_hit;
	head[1] = (uint8_t)algorithm;
	wire_store_be16(head + 2, (uint16_t)n_key);
	while (!rdread_at_end(f))
		if (!rdread_name(f))
			return false;
	return true;
}
