/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/limits.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/* Hashes the family and the prefix, followed by zeros. */
static uint64_t client_hash(const struct limits *l, uint8_t family, const uint8_t *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	uint8_t client[17] = { 0 };
	unsigned int bits;

	if (family == AF_INET6 && !memcmp(address, mapped, sizeof(mapped))) {
		family = AF_INET;
		address += sizeof(mapped);
	}
	bits = family == AF_INET6 ? l->prefix6 : family == AF_INET ? l->prefix4 : 0;
	client[0] = family;
	memcpy(client + 1, address, bits / 8);
	if (bits % 8)
		client[1 + bits / 8] = (uint8_t)(address[bits / 8] & (0xff00 >> bits % 8));
	return siphash24(l->key, client, sizeof(client));
}

static uint32_t add_limit(uint32_t *counter, uint32_t n)
{
	return __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

static void sub(uint32_t *counter)
{
	__atomic_fetch_sub(counter, 1, __ATOMIC_RELAXED);
}

static bool is_counted(const struct limits *l)
{
	return l->max_client || l->has_shares;
}

static void set_place(struct limits_place *place, uint64_t client)
{
	place->client = client;
	for (unsigned int i = 0; i < LIMITS_ROWS; i++)
		place->cell[i] = (uint16_t)(client >> 32 * i & (LIMITS_CELLS - 1));
}

/* Counts one more for the client. Returns its number. */
static uint32_t take_client(struct limits *l, const struct limits_place *place)
{
	uint32_t least = UINT32_MAX;

	for (unsigned int i = 0; i < LIMITS_ROWS; i++) {
		uint32_t n = add_limit(&l->cells[i][place->cell[i]], 1);

		least = n < least ? n : least;
	}
	return least;
}

static bool is_over_share(const struct limits *l, uint8_t family, uint32_t n, uint32_t total)
{
	uint64_t free = total < l->max_total ? l->max_total - total : 0;

	return l->has_shares && family && n > LIMITS_SHARE_FEW && n > LIMITS_SHARE_TIMES * free;
}

static void give_client(struct limits *l, const struct limits_place *place)
{
	for (unsigned int i = 0; i < LIMITS_ROWS; i++)
		sub(&l->cells[i][place->cell[i]]);
}

enum limits_verdict limits_take(struct limits *l, uint8_t family, const uint8_t *address,
				struct limits_place *place)
{
	uint32_t total = add_limit(&l->total, 1), n;
	enum limits_verdict verdict = LIMITS_TAKEN;

	if (total > l->max_total) {
		sub(&l->total);
		return LIMITS_TOTAL;
	}
	if (!is_counted(l))
		return LIMITS_TAKEN;
	set_place(place, client_hash(l, family, address));
	n = take_client(l, place);
	if (l->max_client && n > l->max_client)
		verdict = LIMITS_CLIENT;
	else if (is_over_share(l, family, n, total))
		verdict = LIMITS_SHARE;
	if (verdict != LIMITS_TAKEN)
		limits_give(l, place);
	return verdict;
}

void limits_give(struct limits *l, const struct limits_place *place)
{
	if (is_counted(l))
		give_client(l, place);
	sub(&l->total);
}

uint32_t limits_count(const struct limits *l, const struct limits_place *place)
{
	uint32_t least = UINT32_MAX;

	for (unsigned int i = 0; i < LIMITS_ROWS; i++) {
		uint32_t n = __atomic_load_n(&l->cells[i][place->cell[i]], __ATOMIC_RELAXED);

		least = n < least ? n : least;
	}
	return least;
}

bool limits_has_room(const struct limits *l, uint8_t family, const uint8_t *address)
{
	uint32_t total = __atomic_load_n(&l->total, __ATOMIC_RELAXED) + 1;
	struct limits_place place;

	if (total <= l->max_total / 2)
		return true;
	set_place(&place, client_hash(l, family, address));
	return total <= l->max_total &&
	       !is_over_share(l, family, limits_count(l, &place) + 1, total);
}
