/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ethernet frames that carry UDP: find the payload of one that arrived, and turn it, in place, into
 * the frame that carries the reply.
 *
 *      arrived   │ Ethernet, 0-2 VLAN tags │ IPv4 or IPv6 │ UDP │ query │ padding
 *      reply     │ MACs swapped, tags kept │ written anew │ ... │ reply │
 *                                          ▲ net_off            ▲ data_off
 *
 * What leaves here is byte for byte what the XDP program sends for the same answer (xdp/reply.h):
 * IPv4 TOS 0, ID 0, DF, TTL 64; IPv6 traffic class and flow label 0, hop limit 64; all checksums
 * computed afresh, since behind veth and virtio those that arrive may be unfinished.
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

/* The tunnels whose outer headers are taken off frames. */
struct frame_tunnels {
	uint8_t kinds; /* VOLLEY_TUNNEL_*, as the driver has them; 0: none */
	__be16 gue_port;
};

/* Where things are in a frame: offsets and lengths in bytes. */
struct frame {
	uint16_t net_off;  /* IP header */
	uint16_t data_off; /* UDP payload */
	uint16_t data_len; /* without what pads the frame */
	uint8_t family;    /* AF_INET or AF_INET6 */
	__be16 peer_port;
	__be16 local_port;
	const uint8_t *peer; /* into the frame: 4 or 16 bytes */
	const uint8_t *local;
};

/*
 * If the frame of *len bytes carries an IP packet in such a tunnel, makes it, in place, the frame
 * that carries that packet plainly: as xdp/tunnel.h tells the two apart, but for the outer address,
 * of which the driver has made sure. Returns how many bytes further on that frame begins, and in
 * *len how long it is; 0, and nothing has changed, for any other.
 *
 *      arrived   │ Ethernet, VLAN │ outer IP, UDP, GUE │ IP │ UDP │ query │ padding
 *      now                        │ Ethernet, VLAN     │ IP │ UDP │ query │
 */
uint32_t frame_decap(const struct frame_tunnels *tunnels, uint8_t *bytes, uint32_t *len);

/*
 * Takes apart len bytes at bytes. Accepts UDP over IPv4 without options and fragments, or directly
 * behind the IPv6 header, whose lengths agree, from a source that may be answered (xdp/source.h; no
 * group's MAC address). 0, or ERR_FORMAT for anything else, however broken.
 */
__attribute__((warn_unused_result)) int frame_parse(struct frame *f, const uint8_t *bytes,
						    uint32_t len);

/*
 * The payload of the frame that frame_parse() accepted has been replaced, at the same place, by
 * data_len bytes: write all headers anew for the way back. The IP packet must not be longer than
 * 65535 bytes (assertion). Only net_off and family of f are used. Returns the length of the frame.
 */
uint32_t frame_reply(const struct frame *f, uint8_t *bytes, uint32_t data_len);

/*
 * The same frame, made where the query is not any more: at bytes, which has room for net_off of f,
 * the IP and UDP headers, and data_len. l2 is what the query had before its IP header, net_off
 * bytes (at most FRAME_L2_MAX); f says family, addresses and ports as frame_parse() did. data may
 * not overlap. Returns the length of the frame.
 */
uint32_t frame_write(const struct frame *f, const uint8_t *l2, uint8_t *bytes, const uint8_t *data,
		     uint32_t data_len);

#endif
