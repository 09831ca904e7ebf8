/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of fields. Forms that a definition leaves open (LOC of another version) pass. */
#include "dns/rdcheck.h"

#include <stddef.h>

#include "base/wire.h"
#include "dns/name.h"

static unsigned dns_rdcheck_left(const struct rdcheck *c)
{
	return rdcheck_left(c);
}

/* A length octet, and that many octets. */
static bool string(struct rdcheck *c)
{
	return dns_rdcheck_left(c) && *c->at < dns_rdcheck_left(c) ?
		       rdcheck_skip(c, 1u + *c->at) :
		       rdcheck_refuse(c, "a string in it ends too early");
}

static bool string_opt(struct rdcheck *c)
{
	return !dns_rdcheck_left(c) || string(c);
}

static bool strings(struct rdcheck *c)
{
	do {
		if (!string(c))
			return false;
	} while (dns_rdcheck_left(c));
	return true;
}

static bool rdcheck_rest(struct rdcheck *c)
{
	c->at = c->end;
	return true;
}

static bool rest_not_empty(struct rdcheck *c)
{
	return dns_rdcheck_left(c) ? rdcheck_rest(c) : rdcheck_refuse(c, "it ends too early");
}

static bool name(struct rdcheck *c)
{
	int n = name_check(c->at, dns_rdcheck_left(c));

	return n > 0 ? rdcheck_skip(c, (unsigned)n) :
		       rdcheck_refuse(c, "a name in it is malformed");
}

static bool is_alnum(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool tag(struct rdcheck *c)
{
	const uint8_t *at = c->at + 1;

	if (!string(c))
		return false;
	if (c->is_foreign)
		return true;
	if (at == c->at)
		return rdcheck_refuse(c, "its tag is empty");
	for (; at < c->at; at++)
		if (!is_alnum(*at))
			return rdcheck_refuse(c, "its tag is not of letters and digits");
	return true;
}

static bool hash(struct rdcheck *c)
{
	return dns_rdcheck_left(c) && *c->at ? string(c) : rdcheck_refuse(c, "its hash is empty");
}

/* Windows in ascending order, each without trailing zero octets. */
static bool check_bitmap(struct rdcheck *c)
{
	int before = -1;

	while (dns_rdcheck_left(c)) {
		unsigned n;

		if (dns_rdcheck_left(c) < 3 || (int)c->at[0] <= before)
			return rdcheck_refuse(c, "its type bitmap is malformed");
		n = c->at[1];
		if (!n || n > 32 || dns_rdcheck_left(c) < 2 + n || !c->at[1 + n])
			return rdcheck_refuse(c, "its type bitmap is malformed");
		before = c->at[0];
		c->at += 2 + n;
	}
	return true;
}

/* Bit 0 would mean another format, which no RFC defines. */
static bool nxt(struct rdcheck *c)
{
	if (!dns_rdcheck_left(c) || dns_rdcheck_left(c) > 16 || *c->at & 0x80 || !c->end[-1])
		return rdcheck_refuse(c, "its type bitmap is malformed");
	return rdcheck_rest(c);
}

static bool wks(struct rdcheck *c)
{
	if (dns_rdcheck_left(c) > 1 + 8192)
		return rdcheck_refuse(c, "its port bitmap is too long");
	return rdcheck_skip(c, 1) && rdcheck_rest(c);
}

static bool a6(struct rdcheck *c)
{
	unsigned prefix;

	if (!dns_rdcheck_left(c) || *c->at > 128)
		return rdcheck_refuse(c, "its prefix is longer than 128");
	prefix = *c->at;
	if (!rdcheck_skip(c, 1 + (128 - prefix + 7) / 8))
		return false;
	return !prefix || name(c);
}

/* Mantissa and exponent are decimal digits. */
static bool is_loc_size(uint8_t size)
{
	return size >> 4 <= 9 && (size & 15) <= 9;
}

static bool is_loc_angle(const uint8_t *p, uint32_t degrees)
{
	const uint32_t equator = 1u << 31;
	uint32_t angle = wire_load_be32(p), max = degrees * 3600000;

	return angle >= equator - max && angle <= equator + max;
}

/* Other versions may have any form: RFC 1876 section 2. */
static bool loc(struct rdcheck *c)
{
	const uint8_t *p = c->at;

	if (*p)
		return rdcheck_rest(c);
	if (!rdcheck_skip(c, 16))
		return false;
	if (c->is_foreign)
		return true;
	if (!is_loc_size(p[1]) || !is_loc_size(p[2]) || !is_loc_size(p[3]))
		return rdcheck_refuse(c, "a size or precision in it is out of range");
	if (!is_loc_angle(p + 4, 90) || !is_loc_angle(p + 8, 180))
		return rdcheck_refuse(c, "its latitude or longitude is out of range");
	return true;
}

static bool apl(struct rdcheck *c)
{
	while (dns_rdcheck_left(c)) {
		unsigned family, prefix, n;

		if (dns_rdcheck_left(c) < 4)
			return rdcheck_refuse(c, "it ends too early");
		family = wire_load_be16(c->at);
		prefix = c->at[2];
		n = c->at[3] & 0x7f;
		if (!c->is_foreign && ((family == 1 && (prefix > 32 || n > 4)) ||
				       (family == 2 && (prefix > 128 || n > 16))))
			return rdcheck_refuse(c, "a prefix in it is too long");
		if (!rdcheck_skip(c, 4 + n))
			return false;
	}
	return true;
}

/* A relay or gateway by its type: none, IPv4, IPv6, name; other types may have any form. */
static bool check_gateway(struct rdcheck *c, unsigned type)
{
	switch (type) {
	case 0:
		return true;
	case 1:
		return rdcheck_skip(c, 4);
	case 2:
		return rdcheck_skip(c, 16);
	case 3:
		return name(c);
	default:
		return rdcheck_rest(c);
	}
}

static bool ipseckey(struct rdcheck *c)
{
	return rdcheck_skip(c, 2) && check_gateway(c, c->at[-2]) && rdcheck_rest(c);
}

static bool amtrelay(struct rdcheck *c)
{
	return rdcheck_skip(c, 1) && check_gateway(c, c->at[-1] & 0x7f);
}

static bool hip(struct rdcheck *c)
{
	const uint8_t *p = c->at;
	unsigned n;

	if (!rdcheck_skip(c, 4))
		return false;
	n = wire_load_be16(p + 2);
	if (!p[0] || !n)
		return rdcheck_refuse(c, "its host identity is empty");
	if (!rdcheck_skip(c, p[0] + n))
		return false;
	while (dns_rdcheck_left(c))
		if (!name(c))
			return false;
	return true;
}

/* --- Service parameters: RFC 9460 section 2.2 and, for each key, sections 7 and 8 --- */

struct param {
	unsigned key, n;
	const uint8_t *value;
};

static bool next_param(struct rdcheck *c, struct param *p)
{
	const uint8_t *at = c->at;

	if (!rdcheck_skip(c, 4))
		return false;
	p->key = wire_load_be16(at);
	p->n = wire_load_be16(at + 2);
	p->value = at + 4;
	return rdcheck_skip(c, p->n);
}

/* True if the key is among the parameters from @at on. Both lists are in order, so the search
 * for the next, larger key continues from @at. */
static bool has_key(struct rdcheck *at, struct param *p, unsigned key)
{
	while (p->key < key)
		if (!rdcheck_left(at) || !next_param(at, p))
			return false;
	return p->key == key;
}

/* Keys in ascending order, without "mandatory" itself, and each of them present: section 8. */
static bool check_mandatory(struct rdcheck *c, const struct param *p)
{
	struct rdcheck others = *c;
	struct param other = *p;
	int before = 0;

	if (!p->n || p->n % 2)
		return rdcheck_refuse(c, "its list of mandatory keys is malformed");
	for (unsigned i = 0; i < p->n; i += 2) {
		unsigned key = wire_load_be16(p->value + i);

		if ((int)key <= before)
			return rdcheck_refuse(
				c, "a key is mandatory twice, or \"mandatory\" itself, or out of "
				   "order");
		if (!has_key(&others, &other, key))
			return rdcheck_refuse(c, "a mandatory key is missing");
		before = (int)key;
	}
	return true;
}

static bool check_alpn(struct rdcheck *c, const struct param *p)
{
	struct rdcheck ids = { .at = p->value, .end = p->value + p->n };

	if (!p->n)
		return rdcheck_refuse(c, "alpn is empty");
	while (dns_rdcheck_left(&ids))
		if (!*ids.at || !string(&ids))
			return rdcheck_refuse(c, "alpn has an empty or broken protocol");
	return true;
}

static bool check_param(struct rdcheck *c, const struct param *p)
{
	switch (p->key) {
	case 0:
		return check_mandatory(c, p);
	case 1:
		return check_alpn(c, p);
	case 2:
	case 8:
		return !p->n || rdcheck_refuse(c, "a key has a value that takes none");
	case 3:
		return p->n == 2 || rdcheck_refuse(c, "port is not two octets");
	case 4:
		return (p->n && !(p->n % 4)) || rdcheck_refuse(c, "ipv4hint has no addresses");
	case 5:
		return p->n || rdcheck_refuse(c, "ech is empty");
	case 6:
		return (p->n && !(p->n % 16)) || rdcheck_refuse(c, "ipv6hint has no addresses");
	case 7:
		return p->n || rdcheck_refuse(c, "dohpath is empty");
	case 65535:
		return rdcheck_refuse(c, "key65535 is reserved");
	default:
		return true;
	}
}

static bool svcparams(struct rdcheck *c)
{
	struct rdcheck all = { .at = c->at, .end = c->end };
	int before = -1;
	struct param p;

	while (dns_rdcheck_left(&all)) {
		if (!next_param(&all, &p))
			return rdcheck_refuse(c, all.why);
		if (c->is_foreign)
			continue;
		if ((int)p.key <= before)
			return rdcheck_refuse(c, "a key is repeated or out of order");
		before = (int)p.key;
		if (!check_param(&all, &p))
			return rdcheck_refuse(c, all.why);
	}
	return rdcheck_rest(c);
}

const rdcheck_field rdcheck_fields[RD_N_FIELDS] = {
	[RD_STRING] = string,
	[RD_STRING_OPT] = string_opt,
	[RD_STRINGS] = strings,
	[RD_REST] = rdcheck_rest,
	[RD_HEX] = rdcheck_rest,
	[RD_BASE64] = rest_not_empty,
	[RD_BASE64_OPT] = rdcheck_rest,
	[RD_QUOTED] = rdcheck_rest,
	[RD_TAG] = tag,
	[RD_SALT] = string,
	[RD_HASH] = hash,
	[RD_BITMAP] = check_bitmap,
	[RD_BITMAP_OPT] = check_bitmap,
	[RD_NXT] = nxt,
	[RD_WKS] = wks,
	[RD_NSAP] = rdcheck_rest,
	[RD_ATMA] = rdcheck_rest,
	[RD_A6] = a6,
	[RD_LOC] = loc,
	[RD_APL] = apl,
	[RD_IPSECKEY] = ipseckey,
	[RD_AMTRELAY] = amtrelay,
	[RD_HIP] = hip,
	[RD_SVCPARAMS] = svcparams,
};
