/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints fields that only one type has. Data without such a text (a LOC of another version, an
 * address prefix with trailing zeros) gets the generic form.
 */
#include <stdio.h>

#include "base/wire.h"
#include "dns/proto.h"
#include "zone/rdprint.h"
#include "zone/rdprinting.h"

static unsigned rare_rdata_left(const struct rdprinting *p)
{
	return rdprint_left(p);
}

static void put_rare_rdata(struct rdprinting *p, char c)
{
	*p->out++ = c;
}

static void put_rare_rdata_number(struct rdprinting *p, uint32_t value)
{
	p->out += rdprint_u32(p->out, value);
}

/* --- Bits --- */

/* Types below 128. */
bool rdprint_nxt(struct rdprinting *p)
{
	const uint8_t *bits = p->in;
	unsigned n = rare_rdata_left(p);

	if (!n || *bits & 0x80)
		return false;
	for (unsigned bit = 0; bit < n * 8; bit++) {
		if (!(bits[bit / 8] & 0x80 >> bit % 8))
			continue;
		if (!rdprint_has_room(p, 32))
			return false;
		p->out += rdprint_type(p->out, (uint16_t)bit);
		put_rare_rdata(p, ' ');
	}
	p->out--;
	p->in = p->end;
	return true;
}

/* A bitmap with trailing zeros would be shorter when it is read back. */
bool rdprint_wks(struct rdprinting *p)
{
	unsigned n;

	if (!rdprint_number(p, 1))
		return false;
	n = rare_rdata_left(p);
	if (n && !p->end[-1])
		return false;
	for (unsigned bit = 0; bit < n * 8; bit++) {
		if (!(p->in[bit / 8] & 0x80 >> bit % 8))
			continue;
		if (!rdprint_has_room(p, 32))
			return false;
		put_rare_rdata(p, ' ');
		put_rare_rdata_number(p, bit);
	}
	p->in = p->end;
	return true;
}

/* --- Addresses of other networks --- */

bool rdprint_nsap(struct rdprinting *p)
{
	rdprint_put(p, "0x");
	return rdprint_hex(p, rare_rdata_left(p));
}

/* A number of E.164 has format 1, an address of an end system format 0. */
bool rdprint_atma(struct rdprinting *p)
{
	unsigned format = *p->in++;

	if (format == 0)
		return rdprint_hex(p, rare_rdata_left(p));
	if (format != 1 || !rare_rdata_left(p))
		return false;
	put_rare_rdata(p, '+');
	for (; rare_rdata_left(p); p->in++) {
		if (*p->in < '0' || *p->in > '9')
			return false;
		put_rare_rdata(p, (char)*p->in);
	}
	return true;
}

/* The bits of the prefix must be 0, since the text is an address without them. */
bool rdprint_a6(struct rdprinting *p)
{
	uint8_t address[16] = { 0 };
	struct rdprinting inner = { .in = address, .end = address + 16 };
	unsigned prefix = *p->in++, n = (128 - prefix + 7) / 8;

	if (rare_rdata_left(p) < n || (n && prefix % 8 && *p->in >> (8 - prefix % 8)))
		return false;
	put_rare_rdata_number(p, prefix);
	if (n) {
		memcpy(address + 16 - n, p->in, n);
		p->in += n;
		put_rare_rdata(p, ' ');
		inner.out = p->out;
		rdprint_ipv6(&inner);
		p->out = inner.out;
	}
	if (!prefix)
		return true;
	put_rare_rdata(p, ' ');
	return rdprint_wire_name(p);
}

/* --- LOC --- */

static void put_angle(struct rdprinting *p, uint32_t angle, const char *sides)
{
	const uint32_t equator = 1u << 31;
	uint32_t ms = angle >= equator ? angle - equator : equator - angle;

	p->out += sprintf(p->out, "%u %u %u.%03u %c ", ms / 3600000, ms / 60000 % 60,
			  ms / 1000 % 60, ms % 1000, sides[angle < equator]);
}

/* Prints centimetres as metres. Zero has one text, so only one of its forms is printed. */
static bool put_size(struct rdprinting *p, uint8_t size)
{
	uint64_t cm = size >> 4;

	if (size >> 4 > 9 || (size & 15) > 9 || (!cm && size))
		return false;
	for (unsigned i = size & 15; i; i--)
		cm *= 10;
	p->out += sprintf(p->out, " %u.%02um", (unsigned)(cm / 100), (unsigned)(cm % 100));
	return true;
}

bool rdprint_loc(struct rdprinting *p)
{
	const uint8_t *in = p->in;
	int64_t cm;

	if (*in || rare_rdata_left(p) != 16)
		return false;
	put_angle(p, wire_load_be32(in + 4), "NS");
	put_angle(p, wire_load_be32(in + 8), "EW");
	cm = (int64_t)wire_load_be32(in + 12) - 10000000;
	p->out += sprintf(p->out, "%s%u.%02um", cm < 0 ? "-" : "",
			  (unsigned)((cm < 0 ? -cm : cm) / 100),
			  (unsigned)((cm < 0 ? -cm : cm) % 100));
	p->in = p->end;
	return put_size(p, in[1]) && put_size(p, in[2]) && put_size(p, in[3]);
}

/* --- APL --- */

static bool put_rare_rdata_address(struct rdprinting *p, bool is_v6, const uint8_t *from,
				   unsigned n)
{
	uint8_t address[16] = { 0 };
	struct rdprinting inner = { .in = address, .end = address + (is_v6 ? 16 : 4) };
	bool ok;

	memcpy(address, from, n);
	inner.out = p->out;
	ok = is_v6 ? rdprint_ipv6(&inner) : rdprint_ipv4(&inner);
	p->out = inner.out;
	return ok;
}

static bool put_rare_rdata_prefix(struct rdprinting *p)
{
	unsigned family = wire_load_be16(p->in), prefix = p->in[2], n = p->in[3] & 0x7f;

	if (family < 1 || family > 2 || (n && !p->in[3 + n]))
		return false;
	if (p->in[3] & 0x80)
		put_rare_rdata(p, '!');
	put_rare_rdata_number(p, family);
	put_rare_rdata(p, ':');
	if (!put_rare_rdata_address(p, family == 2, p->in + 4, n))
		return false;
	put_rare_rdata(p, '/');
	put_rare_rdata_number(p, prefix);
	put_rare_rdata(p, ' ');
	p->in += 4 + n;
	return true;
}

/* Some readers refuse an empty list. */
bool rdprint_apl(struct rdprinting *p)
{
	if (!rare_rdata_left(p))
		return false;
	while (rare_rdata_left(p)) {
		if (!rdprint_has_room(p, 64) || !put_rare_rdata_prefix(p))
			return false;
	}
	p->out--;
	return true;
}

/* --- Gateways --- */

/* nsd splits a name with escapes at the wrong dots. */
static bool put_plain_name(struct rdprinting *p)
{
	const char *begin = p->out;

	return rdprint_wire_name(p) && !memchr(begin, '\\', (size_t)(p->out - begin));
}

static bool put_gateway(struct rdprinting *p, unsigned type)
{
	switch (type) {
	case 0:
		put_rare_rdata(p, '.');
		return true;
	case 1:
		return rdprint_ipv4(p);
	case 2:
		return rdprint_ipv6(p);
	case 3:
		return put_plain_name(p);
	default:
		return false;
	}
}

/* Some readers refuse it without a key, and knotd refuses a key with algorithm 0 (no key). */
bool rdprint_ipseckey(struct rdprinting *p)
{
	unsigned type = p->in[0], algorithm = p->in[1];

	if (!algorithm || !rdprint_number(p, 1))
		return false;
	put_rare_rdata(p, ' ');
	if (!rdprint_number(p, 1))
		return false;
	put_rare_rdata(p, ' ');
	if (!put_gateway(p, type))
		return false;
	put_rare_rdata(p, ' ');
	return rdprint_base64(p, rare_rdata_left(p));
}

bool rdprint_amtrelay(struct rdprinting *p)
{
	unsigned first = *p->in++;

	put_rare_rdata(p, first & 0x80 ? '1' : '0');
	put_rare_rdata(p, ' ');
	put_rare_rdata_number(p, first & 0x7f);
	put_rare_rdata(p, ' ');
	return put_gateway(p, first & 0x7f);
}

bool rdprint_hip(struct rdprinting *p)
{
	unsigned hit = p->in[0], algorithm = p->in[1], key = wire_load_be16(p->in + 2);

	p->in += 4;
	put_rare_rdata_number(p, algorithm);
	put_rare_rdata(p, ' ');
	if (!rdprint_hex(p, hit))
		return false;
	put_rare_rdata(p, ' ');
	if (!rdprint_base64(p, key))
		return false;
	while (rare_rdata_left(p)) {
		put_rare_rdata(p, ' ');
		if (!rdprint_has_room(p, RDPRINT_NAME_MAX) || !rdprint_wire_name(p))
			return false;
	}
	return true;
}

/* --- Service parameters --- */

/* Characters that all readers read as they are, quoted or not. */
static bool is_rare_rdata_plain(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '_' || c == '.' || c == '/' || c == ':' || c == '+';
}

static void put_rare_rdata_key(struct rdprinting *p, unsigned key)
{
	static const char *const keys[] = { "mandatory", "alpn", "no-default-alpn", "port",
					    "ipv4hint",  "ech",  "ipv6hint" };

	if (key < sizeof(keys) / sizeof(keys[0])) {
		rdprint_put(p, keys[key]);
		return;
	}
	rdprint_put(p, "key");
	put_rare_rdata_number(p, key);
}

static bool put_rare_rdata_keys(struct rdprinting *p, const uint8_t *end)
{
	for (; p->in < end; p->in += 2) {
		put_rare_rdata_key(p, wire_load_be16(p->in));
		put_rare_rdata(p, ',');
	}
	p->out--;
	return true;
}

/*
 * Readers differ about protocols with a comma or an escape. knotd 3.2 reads a protocol of one octet
 * before another one as empty.
 */
static bool put_protocols(struct rdprinting *p, const uint8_t *end)
{
	while (p->in < end) {
		unsigned n = *p->in++;

		if (n == 1 && p->in + n < end)
			return false;
		for (; n; n--) {
			if (!is_rare_rdata_plain(*p->in))
				return false;
			put_rare_rdata(p, (char)*p->in++);
		}
		put_rare_rdata(p, ',');
	}
	p->out--;
	return true;
}

static bool put_hints(struct rdprinting *p, const uint8_t *end, bool is_v6)
{
	while (p->in < end) {
		if (!(is_v6 ? rdprint_ipv6(p) : rdprint_ipv4(p)))
			return false;
		put_rare_rdata(p, ',');
	}
	p->out--;
	return true;
}

static bool put_rare_rdata_octets(struct rdprinting *p, const uint8_t *end)
{
	put_rare_rdata(p, '"');
	for (; p->in < end; p->in++) {
		if (is_rare_rdata_plain(*p->in))
			put_rare_rdata(p, (char)*p->in);
		else
			p->out += sprintf(p->out, "\\%03u", *p->in);
	}
	put_rare_rdata(p, '"');
	return true;
}

static bool put_rare_rdata_value(struct rdprinting *p, unsigned key, const uint8_t *end)
{
	switch (key) {
	case 0:
		return put_rare_rdata_keys(p, end);
	case 1:
		return put_protocols(p, end);
	case 3:
		return rdprint_number(p, 2);
	case 4:
		return put_hints(p, end, false);
	case 5:
		return rdprint_base64(p, (unsigned)(end - p->in));
	case 6:
		return put_hints(p, end, true);
	default:
		return put_rare_rdata_octets(p, end);
	}
}

bool rdprint_svcparams(struct rdprinting *p)
{
	p->out--; /* each parameter begins with a blank of its own */
	while (rare_rdata_left(p) >= 4) {
		unsigned key = wire_load_be16(p->in), n = wire_load_be16(p->in + 2);

		p->in += 4;
		if (rare_rdata_left(p) < n || !rdprint_has_room(p, 64 + 16 * (size_t)n))
			return false;
		put_rare_rdata(p, ' ');
		put_rare_rdata_key(p, key);
		if (!n)
			continue;
		put_rare_rdata(p, '=');
		if (!put_rare_rdata_value(p, key, p->in + n))
			return false;
	}
	return !rare_rdata_left(p);
}
