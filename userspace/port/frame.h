/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ethernet frames that carry UDP: finds the payload of a frame that arrived, and turns the frame,
 * in place, into the frame of the reply.
 *
 *      arrived   │ Ethernet, 0-2 VLAN tags │ IPv4 or IPv6 │ UDP │ query │ padding
 *      reply     │ MACs swapped, tags kept │ written anew │ ... │ reply │
 *                                          ▲ net_off            ▲ data_off
 *
 * The frame of the reply is byte for byte the frame that the XDP program sends for the same answer
 * (xdp/reply.h): IPv4 TOS 0, ID 0, DF, TTL 64; IPv6 traffic class and flow label 0, hop limit 64.
 * All checksums are computed anew, because behind veth and virtio the checksums of a frame that
 * arrives may be unfinished.
 *
 * Pure: no state, no I/O; any thread.
 */
#ifndef VOLLEY_PORT_FRAME_H
#define VOLLEY_PORT_FRAME_H

#include <linux/types.h>
#include <stdint.h>

#define FRAME_L2_MAX      (14 + 2 * 4)
#define FRAME_HEADERS_MAX (FRAME_L2_MAX + 40 + 8)
#define FRAME_IPV4_BYTES  20
#define FRAME_IPV6_BYTES  40
#define FRAME_UDP_BYTES   8

/* The tunnels whose outer headers are removed from frames. */
struct frame_tunnels {
	uint8_t kinds; /* VOLLEY_TUNNEL_*, as the XDP program has them; 0: none */
	__be16 gue_port;
};

/* Where things are in a frame: offsets and lengths in bytes. */
struct frame {
	uint16_t net_off;  /* IP header */
	uint16_t data_off; /* UDP payload */
	uint16_t data_len; /* without the frame's padding */
	uint8_t family;    /* AF_INET or AF_INET6 */
	__be16 peer_port;
	__be16 local_port;
	const uint8_t *peer; /* points into the frame: 4 or 16 bytes */
	const uint8_t *local;
};

/*
 * If the frame of *len bytes carries an IP packet in such a tunnel, turns it, in place, into a
 * frame that carries the packet without the tunnel. Tunnels are recognised as in xdp/tunnel.h,
 * except that the outer address is not checked: the XDP program has checked it. Returns the offset
 * of the new frame, and its length in *len; 0 for any other frame, which is not changed.
 *
 *      arrived   │ Ethernet, VLAN │ outer IP, UDP, GUE │ IP │ UDP │ query │ padding
 *      now                        │ Ethernet, VLAN     │ IP │ UDP │ query │
 */
uint32_t frame_decap(const struct frame_tunnels *tunnels, uint8_t *bytes, uint32_t *len);

/*
 * Parses the frame of len bytes at bytes. Accepts UDP over IPv4 without options and fragments, or
 * directly after the IPv6 header, if the lengths agree and the source may be answered
 * (xdp/source.h; its MAC address is not a group's). 0, or ERR_FORMAT for any other octets.
 */
__attribute__((warn_unused_result)) int frame_parse(struct frame *f, const uint8_t *bytes,
						    uint32_t len);

/*
 * Writes all headers of the reply. frame_parse() has accepted the frame, and the caller has
 * replaced its payload, at the same place, by data_len bytes. The IP packet must not be longer than
 * 65535 bytes (assertion). Uses only net_off and family of f. Returns the length of the frame.
 */
uint32_t frame_reply(const struct frame *f, uint8_t *bytes, uint32_t data_len);

/*
 * Writes the same frame where the query is no longer present: at bytes, which has room for net_off
 * of f, the IP and UDP headers, and data_len. l2 has the net_off octets before the query's IP
 * header (at most FRAME_L2_MAX). f has the family, addresses and ports that frame_parse() found.
 * data must not overlap bytes. Returns the length of the frame.
 */
uint32_t frame_write(const struct frame *f, const uint8_t *l2, uint8_t *bytes, const uint8_t *data,
		     uint32_t data_len);

#endif
