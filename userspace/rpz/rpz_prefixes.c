/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rpz/rpz_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/wire.h"
#include "dns/name.h"
#include "zone/zone_walk.h"

#define ADDRESS_BITS 128u
#define MAPPED_BITS  96u /* of ::ffff:0:0/96 */
#define N_GROUPS     8
#define NOBODY       UINT32_MAX

/* An address as a number; IPv4 as a mapped address. */
typedef unsigned __int128 number;

struct prefix {
	number first;
	const struct zone_node *node;
	uint32_t up; /* the narrowest prefix around it, or NOBODY */
	uint8_t bits;
};

/* The same for IPv4, which most rules are for. */
struct prefix4 {
	uint32_t first;
	uint32_t up   : 26; /* or NOBODY4 */
	uint32_t bits : 6;
	const struct zone_node *node;
};

#define NOBODY4   (UINT32_MAX >> 6)
#define N_IPV4MAX NOBODY4

_Static_assert(sizeof(struct prefix) == 32 && sizeof(struct prefix4) == 16, "as the header says");

/* The prefixes of one family while they are collected. */
struct growing {
	size_t n, cap;
	struct prefix *prefixes;
};

struct rpz_prefixes {
	size_t n4, n6;
	struct prefix4 *ipv4;
	struct prefix *ipv6;
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* Reads a number of 1 to max_digits digits in this base. */
static bool read_rpz_prefix_number(const uint8_t *label, int base, unsigned int max_digits,
				   unsigned long *out)
{
	char text[8];

	if (!*label || *label > max_digits)
		return false;
	memcpy(text, label + 1, *label);
	text[*label] = '\0';
	*out = strtoul(text, NULL, base);
	return strspn(text, base == 16 ? "0123456789abcdef" : "0123456789") == *label;
}

static bool is_rpz_prefix_zeros(const uint8_t *label)
{
	return *label == 2 && !memcmp(label + 1, "zz", 2);
}

static bool read_ipv4(const uint8_t *const labels[], struct clients_prefix *out)
{
	unsigned long octet;

	out->family = AF_INET;
	for (unsigned int i = 0; i < 4; i++) {
		if (!read_rpz_prefix_number(labels[i], 10, 3, &octet) || octet > 255)
			return false;
		out->address[3 - i] = (uint8_t)octet;
	}
	return true;
}

/* Reads the groups from the last to the first; "zz" stands for the missing ones. */
static bool read_ipv6(const uint8_t *const labels[], unsigned int n, struct clients_prefix *out)
{
	unsigned int at = N_GROUPS;
	unsigned long group;
	bool has_zeros = false;

	out->family = AF_INET6;
	for (unsigned int i = 0; i < n; i++) {
		if (is_rpz_prefix_zeros(labels[i])) {
			if (has_zeros || n > N_GROUPS)
				return false;
			has_zeros = true;
			at -= N_GROUPS - (n - 1);
			continue;
		}
		if (!at || !read_rpz_prefix_number(labels[i], 16, 4, &group))
			return false;
		at--;
		out->address[2 * at] = (uint8_t)(group >> 8);
		out->address[2 * at + 1] = (uint8_t)group;
	}
	return !at;
}

static bool has_host_bits(const struct clients_prefix *p)
{
	unsigned int n_bits = p->family == AF_INET ? 32 : ADDRESS_BITS;

	for (unsigned int i = p->bits; i < n_bits; i++)
		if (p->address[i / 8] & (0x80u >> i % 8))
			return true;
	return false;
}

bool rpz_prefix_read(const uint8_t *name, const uint8_t *end, struct clients_prefix *out)
{
	const uint8_t *labels[N_GROUPS + 2];
	unsigned int n = 0;
	bool has_zeros = false;
	unsigned long bits;

	*out = (struct clients_prefix){ 0 };
	for (; name < end; name += 1 + *name) {
		if (n == N_GROUPS + 2)
			return false;
		has_zeros |= is_rpz_prefix_zeros(name);
		labels[n++] = name;
	}
	if (n < 2 || !read_rpz_prefix_number(labels[0], 10, 3, &bits))
		return false;
	if (n == 5 && !has_zeros ? !read_ipv4(labels + 1, out) : !read_ipv6(labels + 1, n - 1, out))
		return false;
	if (bits > (out->family == AF_INET ? 32 : ADDRESS_BITS))
		return false;
	out->bits = (uint8_t)bits;
	return !has_host_bits(out);
}

/* ---- The table ------------------------------------------------------------------------------- */

static number number_of_rpz_prefix(uint8_t family, const uint8_t *address)
{
	unsigned int n = family == AF_INET ? 4 : 16;
	number value = family == AF_INET ? 0xffff : 0;

	for (unsigned int i = 0; i < n; i++)
		value = value << 8 | address[i];
	return value;
}

static bool holds_rpz_prefix(const struct prefix *p, number at)
{
	return !p->bits || !((p->first ^ at) >> (ADDRESS_BITS - p->bits));
}

/* The lower first address comes first; with the same one, the wider prefix. */
static int compare_rpz_prefix(const void *a, const void *b)
{
	const struct prefix *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->bits < y->bits ? -1 : x->bits > y->bits;
}

static bool is_rpz_prefix_mapped(number at)
{
	return at >> 32 == 0xffff;
}

/* The prefixes, by the array that they go to. */
struct both {
	struct growing ipv4, ipv6;
};

static int add_rpz_prefix(struct both *both, const struct clients_prefix *p,
			  const struct zone_node *node)
{
	number first = number_of_rpz_prefix(p->family, p->address);
	unsigned int bits = p->bits + (p->family == AF_INET ? MAPPED_BITS : 0);
	struct growing *t = bits >= MAPPED_BITS && is_rpz_prefix_mapped(first) ? &both->ipv4 :
										 &both->ipv6;

	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap + t->cap / 2 : 16;
		struct prefix *grown = reallocarray(t->prefixes, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		t->prefixes = grown;
		t->cap = cap;
	}
	t->prefixes[t->n++] = (struct prefix){
		.first = first,
		.node = node,
		.up = NOBODY,
		.bits = (uint8_t)bits,
	};
	return 0;
}

/* Adds the rule of a node below `top`, if it has one. */
static int take_rpz_prefix(struct both *t, const struct zone *list, const struct zone_node *node,
			   const uint8_t *owner, unsigned int n_prefix)
{
	struct clients_prefix prefix;
	unsigned int n;

	zone_node_rrsets(list, node, &n);
	if (!n || rpz_action(list, node) == RPZ_ACTION_UNKNOWN ||
	    !rpz_prefix_read(owner, owner + n_prefix, &prefix))
		return 0;
	return add_rpz_prefix(t, &prefix, node);
}

/* Adds all rules below LABEL.ORIGIN; these nodes follow one another. */
static int collect_rpz_prefix(struct both *t, const struct zone *list, const uint8_t *top,
			      unsigned int top_bytes)
{
	uint8_t owner[ZONE_NAME_MAX], folded[NAME_FOLDED_BYTES];
	const struct zone_node *node = zone_node_of(list, top);
	struct zone_walk walk;
	int err = 0;

	if (!node)
		return 0;
	zone_walk_behind(&walk, list, node);
	while (!err && (node = zone_walk_next(&walk))) {
		unsigned int n = zone_node_owner(list, node, owner);

		name_fold(folded, owner, n);
		if (!name_is_under(folded, top))
			break;
		err = take_rpz_prefix(t, list, node, folded, n - top_bytes);
	}
	return err;
}

/* Sorts the prefixes, drops duplicates, and links each to the narrowest one around it. */
static void tie(struct growing *t)
{
	uint32_t around = NOBODY;
	size_t n = 0;

	if (!t->n)
		return;
	qsort(t->prefixes, t->n, sizeof(*t->prefixes), compare_rpz_prefix);
	for (size_t i = 0; i < t->n; i++)
		if (!n || compare_rpz_prefix(&t->prefixes[n - 1], &t->prefixes[i]))
			t->prefixes[n++] = t->prefixes[i];
	t->n = n;
	for (uint32_t i = 0; i < n; i++) {
		while (around != NOBODY &&
		       !holds_rpz_prefix(&t->prefixes[around], t->prefixes[i].first))
			around = t->prefixes[around].up;
		t->prefixes[i].up = around;
		around = i;
	}
}

/* Takes over the array, without its spare room. */
static void take_ipv6(struct rpz_prefixes *t, struct growing *from)
{
	struct prefix *less = from->n ? reallocarray(from->prefixes, from->n, sizeof(*less)) : NULL;

	t->ipv6 = less ? less : from->prefixes;
	t->n6 = from->n;
	from->prefixes = NULL;
}

static int take_ipv4(struct rpz_prefixes *t, const struct growing *from)
{
	if (from->n > N_IPV4MAX)
		return -ENOMEM;
	t->ipv4 = calloc(from->n ? from->n : 1, sizeof(*t->ipv4));
	if (!t->ipv4)
		return -ENOMEM;
	t->n4 = from->n;
	for (size_t i = 0; i < from->n; i++) {
		const struct prefix *p = &from->prefixes[i];

		t->ipv4[i].first = (uint32_t)p->first;
		t->ipv4[i].up = p->up & NOBODY4;
		t->ipv4[i].bits = (p->bits - MAPPED_BITS) & 63;
		t->ipv4[i].node = p->node;
	}
	return 0;
}

/* *out stays NULL if there are no prefixes. */
static int finish_rpz_prefix(struct rpz_prefixes **out, struct both *both)
{
	struct rpz_prefixes *t;
	int err;

	if (!both->ipv4.n && !both->ipv6.n)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	tie(&both->ipv4);
	tie(&both->ipv6);
	take_ipv6(t, &both->ipv6);
	err = take_ipv4(t, &both->ipv4);
	if (err)
		rpz_prefixes_free(t);
	else
		*out = t;
	return err;
}

int rpz_prefixes_new(struct rpz_prefixes **out, const struct zone *list, const char *label)
{
	struct both both = { 0 };
	unsigned int apex_bytes, n = (unsigned int)strlen(label);
	const uint8_t *apex = zone_apex(list, &apex_bytes);
	uint8_t top[NAME_FOLDED_BYTES] = { 0 };
	int err;

	*out = NULL;
	if (1 + n + apex_bytes <= DNS_NAME_MAX) {
		top[0] = (uint8_t)n;
		memcpy(top + 1, label, n);
		memcpy(top + 1 + n, apex, apex_bytes);
	}
	err = *top ? collect_rpz_prefix(&both, list, top, 1 + n + apex_bytes) : 0;
	if (!err)
		err = finish_rpz_prefix(out, &both);
	free(both.ipv4.prefixes);
	free(both.ipv6.prefixes);
	return err;
}

void rpz_prefixes_free(struct rpz_prefixes *t)
{
	if (t) {
		free(t->ipv4);
		free(t->ipv6);
	}
	free(t);
}

static bool holds4(const struct prefix4 *p, uint32_t at)
{
	return !p->bits || !((p->first ^ at) >> (32 - p->bits));
}

static const struct zone_node *find4(const struct rpz_prefixes *t, uint32_t at, unsigned int *bits)
{
	size_t low = 0, high = t->n4; /* prefixes before low begin at or before the address */
	uint32_t i = NOBODY4;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->ipv4[middle].first <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		i = (uint32_t)low - 1;
	while (i != NOBODY4 && !holds4(&t->ipv4[i], at))
		i = t->ipv4[i].up;
	if (i == NOBODY4)
		return NULL;
	*bits = t->ipv4[i].bits + MAPPED_BITS;
	return t->ipv4[i].node;
}

static const struct zone_node *find6(const struct rpz_prefixes *t, number at, unsigned int *bits)
{
	size_t low = 0, high = t->n6;
	uint32_t i = NOBODY;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->ipv6[middle].first <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		i = (uint32_t)low - 1;
	while (i != NOBODY && !holds_rpz_prefix(&t->ipv6[i], at))
		i = t->ipv6[i].up;
	if (i == NOBODY)
		return NULL;
	*bits = t->ipv6[i].bits;
	return t->ipv6[i].node;
}

const struct zone_node *rpz_prefixes_find(const struct rpz_prefixes *t, uint8_t family,
					  const uint8_t *address, unsigned int *bits)
{
	number at = number_of_rpz_prefix(family, address);

	if (!t)
		return NULL;
	return is_rpz_prefix_mapped(at) ? find4(t, (uint32_t)at, bits) : find6(t, at, bits);
}

bool rpz_prefixes_has(const struct rpz_prefixes *t, uint8_t family)
{
	return t && (family == AF_INET ? t->n4 : t->n6) != 0;
}

static void copy4(const struct prefix4 *p, struct clients_prefix *out)
{
	*out = (struct clients_prefix){ .family = AF_INET, .bits = p->bits };
	wire_store_be32(out->address, p->first);
}

static void copy6(const struct prefix *p, struct clients_prefix *out)
{
	number value = p->first;

	*out = (struct clients_prefix){ .family = AF_INET6, .bits = p->bits };
	for (unsigned int k = 16; k--; value >>= 8)
		out->address[k] = (uint8_t)value;
}

size_t rpz_prefixes_copy(const struct rpz_prefixes *t, struct clients_prefix *out, size_t cap)
{
	size_t n = t ? t->n4 + t->n6 : 0;

	for (size_t i = 0; i < n && i < cap; i++) {
		if (i < t->n4)
			copy4(&t->ipv4[i], &out[i]);
		else
			copy6(&t->ipv6[i - t->n4], &out[i]);
	}
	return n;
}
