/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints fields of any octets: in hex, base64 and base32, and as strings. */
#include "zone/rdprinting.h"

/* --- Digits --- */

bool rdprint_hex(struct rdprinting *p, unsigned n)
{
	static const char digits[] = "0123456789ABCDEF";

	if (rdprint_left(p) < n || !n)
		return false;
	for (; n; n--, p->in++) {
		*p->out++ = digits[*p->in >> 4];
		*p->out++ = digits[*p->in & 15];
	}
	return true;
}

bool rdprint_base64(struct rdprinting *p, unsigned n_bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	if (!n_bytes || rdprint_left(p) < n_bytes)
		return false;
	while (n_bytes) {
		unsigned n = n_bytes < 3 ? n_bytes : 3;
		uint32_t v = (uint32_t)p->in[0] << 16 | (n > 1 ? (uint32_t)p->in[1] << 8 : 0) |
			     (n > 2 ? p->in[2] : 0);

		*p->out++ = digits[v >> 18];
		*p->out++ = digits[v >> 12 & 63];
		*p->out++ = n > 1 ? digits[v >> 6 & 63] : '=';
		*p->out++ = n > 2 ? digits[v & 63] : '=';
		p->in += n;
		n_bytes -= n;
	}
	return true;
}

bool rdprint_hex_rest(struct rdprinting *p)
{
	return rdprint_hex(p, rdprint_left(p));
}

bool rdprint_base64_rest(struct rdprinting *p)
{
	return rdprint_base64(p, rdprint_left(p));
}

/* Prints groups of octets in hex, with dashes or colons between. */
static bool print_grouped(struct rdprinting *p, unsigned n_groups, unsigned group_bytes,
			  char between)
{
	static const char digits[] = "0123456789abcdef";

	if (rdprint_left(p) < n_groups * group_bytes)
		return false;
	for (unsigned i = 0; i < n_groups * group_bytes; i++, p->in++) {
		if (i && !(i % group_bytes))
			*p->out++ = between;
		*p->out++ = digits[*p->in >> 4];
		*p->out++ = digits[*p->in & 15];
	}
	return true;
}

bool rdprint_eui48(struct rdprinting *p)
{
	return print_grouped(p, 6, 1, '-');
}

bool rdprint_eui64(struct rdprinting *p)
{
	return print_grouped(p, 8, 1, '-');
}

bool rdprint_ilnp64(struct rdprinting *p)
{
	return print_grouped(p, 4, 2, ':');
}

/* Prints base32 with the extended hex alphabet, without padding (RFC 5155 section 3.3). */
bool rdprint_hash(struct rdprinting *p)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned n, n_bits = 0;
	uint32_t bits = 0;

	/* Some readers refuse another length than that of SHA-1. */
	if (!rdprint_left(p) || rdprint_left(p) < 1u + *p->in || *p->in != 20)
		return false;
	for (n = *p->in++; n; n--) {
		bits = bits << 8 | *p->in++;
		for (n_bits += 8; n_bits >= 5; n_bits -= 5)
			*p->out++ = digits[bits >> (n_bits - 5) & 31];
	}
	if (n_bits)
		*p->out++ = digits[bits << (5 - n_bits) & 31];
	return true;
}

bool rdprint_salt(struct rdprinting *p)
{
	if (!rdprint_left(p))
		return false;
	if (*p->in++)
		return rdprint_hex(p, p->in[-1]);
	*p->out++ = '-';
	return true;
}

/* --- Strings --- */

void rdprint_char(struct rdprinting *p, uint8_t c)
{
	if (c < ' ' || c > '~') {
		*p->out++ = '\\';
		*p->out++ = (char)('0' + c / 100);
		rdprint_two_digits(p, c % 100);
		return;
	}
	if (c == '"' || c == '\\')
		*p->out++ = '\\';
	*p->out++ = (char)c;
}

static bool quoted(struct rdprinting *p, unsigned n)
{
	if (rdprint_left(p) < n)
		return false;
	*p->out++ = '"';
	for (; n; n--)
		rdprint_char(p, *p->in++);
	*p->out++ = '"';
	return true;
}

bool rdprint_string(struct rdprinting *p)
{
	return rdprint_left(p) && quoted(p, *p->in++);
}

bool rdprint_string_opt(struct rdprinting *p)
{
	if (rdprint_left(p))
		return rdprint_string(p);
	p->out--; /* no field, no blank before it */
	return true;
}

bool rdprint_strings(struct rdprinting *p)
{
	while (rdprint_left(p)) {
		if (!rdprint_string(p))
			return false;
		rdprint_blank(p);
	}
	p->out--;
	return true;
}

/* Not for empty data: for ldns "" is not the same as nothing. */
bool rdprint_quoted_rest(struct rdprinting *p)
{
	return rdprint_left(p) && quoted(p, rdprint_left(p));
}

bool rdprint_tag(struct rdprinting *p)
{
	unsigned n = rdprint_left(p) ? *p->in : 0;

	/* nsd refuses capitals here. */
	if (!n || n >= rdprint_left(p))
		return false;
	for (p->in++; n; n--) {
		if (*p->in >= 'A' && *p->in <= 'Z')
			return false;
		*p->out++ = (char)*p->in++;
	}
	return true;
}
