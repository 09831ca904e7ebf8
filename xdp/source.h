/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources that get no answer over UDP: addresses that no host can have, and ports at which a reply
 * is an attack. Program and userspace use the same list, so all ways in answer the same sources
 * (docs/decisions/0008). TCP needs no list: its handshake has verified the source.
 */
#ifndef VOLLEY_XDP_SOURCE_H
#define VOLLEY_XDP_SOURCE_H

#include <linux/types.h>

/*
 * Whether a service at this port (network order) would answer a reply: echo (7), daytime (13),
 * quote of the day (17), chargen (19), time (37); and 0, which no socket has. named ignores queries
 * from the same ports, except 17.
 */
static inline __attribute__((always_inline)) int volley_is_reflector(__be16 port)
{
	const __u64 ports = 1ull << 0 | 1ull << 7 | 1ull << 13 | 1ull << 17 | 1ull << 19 |
			    1ull << 37;
	const __u32 number = (__u32)port >> 8; /* host order, if it is below 256 */

	return !(port & 0xff) && number < 64 && (ports >> number & 1);
}

/*
 * 0.0.0.0/8, 127.0.0.0/8, and multicast, reserved and broadcast (224.0.0.0/3); and the destination
 * address, which is our own.
 */
static inline __attribute__((always_inline)) int volley_is_odd_source4(__be32 source, __be32 asked)
{
	const __u8 first = (__u8)source;

	return first == 0 || first == 127 || first >= 224 || source == asked;
}

/* ::, ::1, addresses with an IPv4 address in them (::/96 and ::ffff:0:0/96) and multicast; and the
 * destination address. */
static inline __attribute__((always_inline)) int volley_is_odd_source6(const __be32 source[4],
								       const __be32 asked[4])
{
	const __be32 mapped = 0xffff0000; /* 0:ffff, in network order */

	if ((source[0] & 0xff) == 0xff)
		return 1;
	if (!(source[0] | source[1]) && (!source[2] || source[2] == mapped))
		return 1;
	return !((source[0] ^ asked[0]) | (source[1] ^ asked[1]) | (source[2] ^ asked[2]) |
		 (source[3] ^ asked[3]));
}

#ifdef __BYTE_ORDER__
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers from the wire are as they lie");
#endif

#endif
