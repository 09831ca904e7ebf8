/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts frames into the tunnels of L4 balancers. Like packet.h it is written from the RFCs and
 * draft-ietf-intarea-gue without a line of xdp/ or userspace/.
 *
 * Pure; any thread.
 */
#ifndef VOLLEY_TESTS_LIB_TUNNEL_H
#define VOLLEY_TESTS_LIB_TUNNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TUNNEL_GUE_PORT  6080
#define TUNNEL_BYTES_MAX (40 + 8 + 4)

enum tunnel_kind { TUNNEL_IPIP, TUNNEL_GUE_0, TUNNEL_GUE_1 };

struct tunnel {
	const char *name;
	enum tunnel_kind kind;
	bool ipv6; /* outside */
};

/* Each kind with each outer family. */
#define TUNNELS 6
extern const struct tunnel tunnels[TUNNELS];

/* The addresses at which the tunnels end. */
extern const uint8_t tunnel_end4[4], tunnel_end6[16];

/*
 * Puts the packet of a frame, with any VLAN tags, into the tunnel; `out` has room for
 * TUNNEL_BYTES_MAX more octets. Padding stays. Returns the length.
 */
size_t tunnel_wrap(uint8_t *out, const struct tunnel *t, const uint8_t *frame, size_t n);

/* The octets that this adds before the packet's own IP header. */
size_t tunnel_bytes(const struct tunnel *t);

#endif
