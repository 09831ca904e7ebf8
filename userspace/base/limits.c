/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/limits.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/* The family and the prefix, all behind it zero. */
static uint64_t client_hash(const struct limits *l, uint8_t family, const uint8_t *address)
{
	unsigned int bits = family == AF_INET6 ? l->prefix6 : family == AF_INET ? l->prefix4 : 0;
	uint8_t client[17] = { family };

	memcpy(client + 1, address, bits / 8);
	if (bits % 8)
		client[1 + bits / 8] = (uint8_t)(address[bits / 8] & (0xff00 >> bits % 8));
	return siphash24(l->key, client, sizeof(client));
}

static uint32_t add(uint32_t *counter, uint32_t n)
{
	return __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

static void sub(uint32_t *counter)
{
	__atomic_fetch_sub(counter, 1, __ATOMIC_RELAXED);
}

static bool take_client(struct limits *l, uint8_t family, const uint8_t *address,
			struct limits_place *place)
{
	uint64_t hash = client_hash(l, family, address);
	bool over = true;

	for (unsigned int i = 0; i < LIMITS_ROWS; i++) {
		place->cell[i] = (uint16_t)(hash >> 32 * i & (LIMITS_CELLS - 1));
		over &= add(&l->cells[i][place->cell[i]], 1) > l->max_client;
	}
	return !over;
}

static void give_client(struct limits *l, const struct limits_place *place)
{
	for (unsigned int i = 0; i < LIMITS_ROWS; i++)
		sub(&l->cells[i][place->cell[i]]);
}

enum limits_verdict limits_take(struct limits *l, uint8_t family, const uint8_t *address,
				struct limits_place *place)
{
	if (add(&l->total, 1) > l->max_total) {
		sub(&l->total);
		return LIMITS_TOTAL;
	}
	if (l->max_client && !take_client(l, family, address, place)) {
		give_client(l, place);
		sub(&l->total);
		return LIMITS_CLIENT;
	}
	return LIMITS_TAKEN;
}

void limits_give(struct limits *l, const struct limits_place *place)
{
	if (l->max_client)
		give_client(l, place);
	sub(&l->total);
}
