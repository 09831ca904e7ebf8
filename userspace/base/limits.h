/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of something that is counted (questions upstream, connections), in all and for each client
 * prefix. Clients are counted in a table of fixed size: a prefix has one cell in each of two rows,
 * under a secret key; the smaller of the two is its number. So memory is bounded for any set of
 * addresses, and clients count together only if they share both cells (a count-min sketch).
 *
 * With has_shares a client has at most LIMITS_SHARE_TIMES times as many places as are free, or
 * LIMITS_SHARE_FEW. So others always find room: one client alone gets four fifths, two get four
 * ninths each, and so on.
 *
 * Any thread; atomic additions, no lock.
 */
#ifndef VOLLEY_BASE_LIMITS_H
#define VOLLEY_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/siphash.h"

#define LIMITS_ROWS  2
#define LIMITS_CELLS 16384 /* of a row; a power of two */

#define LIMITS_SHARE_TIMES 4
#define LIMITS_SHARE_FEW   8

enum limits_verdict { LIMITS_TAKEN, LIMITS_TOTAL, LIMITS_CLIENT, LIMITS_SHARE };

struct limits {
	uint32_t max_total;
	uint32_t max_client; /* 0: no limit for clients */
	bool has_shares;     /* not for family 0, which is no client's */
	uint8_t prefix4;     /* bits of an address that make a client: 0 to 32 */
	uint8_t prefix6;     /* 0 to 128 */
	uint8_t key[SIPHASH_KEY_BYTES];
	uint32_t total;
	uint32_t cells[LIMITS_ROWS][LIMITS_CELLS];
};

/* Where a client was counted, for limits_give(). Set only with max_client or has_shares. */
struct limits_place {
	uint64_t client; /* a keyed hash of the prefix */
	uint16_t cell[LIMITS_ROWS];
};

/*
 * Takes a place for the client (AF_INET: 4 octets, AF_INET6: 16, all other families together are
 * one client; an IPv4 address that is mapped into IPv6 counts as IPv4). LIMITS_TAKEN: give it back
 * once by limits_give(); else nothing was taken. After LIMITS_CLIENT and LIMITS_SHARE, *place still
 * tells where the client is counted.
 */
enum limits_verdict limits_take(struct limits *l, uint8_t family, const uint8_t *address,
				struct limits_place *place);
void limits_give(struct limits *l, const struct limits_place *place);

/* How many places the client has, which is counted at *place. Other clients may be among them if
 * they share both of its cells. Only with max_client or has_shares. */
uint32_t limits_count(const struct limits *l, const struct limits_place *place);

/* True if limits_take() would give this client a place now. Takes none. While half of all places
 * are free, the answer is true for each client. For limits with has_shares only. */
bool limits_has_room(const struct limits *l, uint8_t family, const uint8_t *address);

#endif
