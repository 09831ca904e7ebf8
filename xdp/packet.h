/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accepts frames that are whole, plain UDP to one of our service addresses: Ethernet, at most two
 * VLAN tags, IPv4 without options or fragments, or IPv6 with UDP directly behind its header.
 *
 * It also compiles natively (native.h), to run under sanitizers and a fuzzer.
 */
#ifndef VOLLEY_XDP_PACKET_H
#define VOLLEY_XDP_PACKET_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "xdp/abi.h"
#include "xdp/key.h"
#include "xdp/source.h"
#include "xdp/verifier.h"

#define VLAN_TAGS_MAX    2
#define L2_BYTES_MAX     (14 + VLAN_TAGS_MAX * 4)
#define L3_OFFSET_MAX    (L2_BYTES_MAX + 40 + 8 + 4) /* in a tunnel: IPv6, UDP, GUE */
#define DNS_OFFSET_MAX   (L3_OFFSET_MAX + 40 + 8)
#define OFFSET_MASK      127  /* holds the offsets of both headers */
#define FRAME_MASK       2047 /* holds the end of every query and answer: see reply.h */
#define FIRST_BUFFER_MIN 1472
#define IPV4_MF_OFFSET   0x3fff /* More Fragments and the fragment offset */
#define IPV4_BARE        5      /* IHL without options */
#define DNS_HEADER       12

struct vlan_tag {
	__be16 tci;
	__be16 proto;
};

/* The parser's state. The pointers point into the frame. */
struct packet {
	void *data;
	void *end;
	__u64 frame_bytes;
	__u32 l3_offset;
	__be16 ethertype;
	__u32 payload; /* offset of the IP payload */
	__u32 room;    /* octets of the IP payload */
	__u64 to[2];   /* destination, as in struct volley_service */
};

static __always_inline void packet_frame(struct packet *p, const struct xdp_md *ctx)
{
	p->data = (void *)(long)ctx->data;
	p->end = (void *)(long)ctx->data_end;
	p->frame_bytes = (__u64)p->end - (__u64)p->data;
	one_copy(p->frame_bytes); /* else clang subtracts in 32 bits, and the verifier refuses */
}

/*
 * Whether the frame has more buffers than the one that the program sees. A card's driver gives such
 * frames only to a program that is loaded for them (bpf/tiny_programs.h). They cannot be edited
 * like others, or redirected to a socket. To call after packet_parse(). If a frame has several
 * buffers, its first is longer than FIRST_BUFFER_MIN with all drivers, so most frames need no call
 * of the helper.
 */
static __always_inline int packet_has_more(struct xdp_md *ctx, const struct volley_cpu *cpu)
{
	return unlikely(cpu->frame_bytes > FIRST_BUFFER_MIN) &&
	       bpf_xdp_get_buff_len(ctx) != cpu->frame_bytes;
}

static __always_inline int packet_mac(const struct volley_link *link, const struct ethhdr *eth)
{
	const __u16 *to = (const void *)eth->h_dest;
	const __u16 *our = (const void *)link->mac;

	if ((eth->h_dest[0] | eth->h_source[0]) & 1)
		return VOLLEY_PASS_GROUP;
	if (!(our[0] | our[1] | our[2]))
		return -1;
	if ((to[0] ^ our[0]) | (to[1] ^ our[1]) | (to[2] ^ our[2]))
		return VOLLEY_PASS_OTHER_HOST;
	return -1;
}

static __always_inline int is_vlan(__be16 proto)
{
	return proto == bpf_htons(ETH_P_8021Q) || proto == bpf_htons(ETH_P_8021AD);
}

/* Parses Ethernet and VLAN tags. A reason, or -1 to go on. */
static __always_inline int packet_l2(struct packet *p, const struct volley_link *link)
{
	struct ethhdr *eth = p->data;
	struct vlan_tag *tag;
	int reason, i;

	if ((void *)(eth + 1) > p->end)
		return VOLLEY_PASS_RUNT;
	reason = packet_mac(link, eth);
	if (reason >= 0)
		return reason;
	p->ethertype = eth->h_proto;
	p->l3_offset = sizeof(*eth);
	tag = (void *)(eth + 1);
#pragma unroll
	for (i = 0; i < VLAN_TAGS_MAX; i++) {
		if (!is_vlan(p->ethertype))
			return -1;
		if ((void *)(tag + 1) > p->end)
			return VOLLEY_PASS_RUNT;
		p->ethertype = tag->proto;
		p->l3_offset += sizeof(*tag);
		tag++;
	}
	return is_vlan(p->ethertype) ? VOLLEY_PASS_VLAN : -1;
}

static __always_inline int packet_ipv4(struct packet *p)
{
	struct iphdr *ip = p->data + p->l3_offset;
	__u32 total;

	if ((void *)(ip + 1) > p->end)
		return VOLLEY_PASS_RUNT;
	if (ip->version != 4)
		return VOLLEY_PASS_IP_LENGTH;
	if (ip->ihl != IPV4_BARE)
		return VOLLEY_PASS_IP_OPTIONS;
	if (ip->frag_off & bpf_htons(IPV4_MF_OFFSET))
		return VOLLEY_PASS_FRAGMENT;
	if (ip->protocol != IPPROTO_UDP)
		return VOLLEY_PASS_PROTOCOL;
	if (volley_is_odd_source4(ip->saddr, ip->daddr))
		return VOLLEY_PASS_SOURCE;
	total = bpf_ntohs(ip->tot_len);
	if (total < sizeof(*ip) || total > p->frame_bytes - p->l3_offset)
		return VOLLEY_PASS_IP_LENGTH;
	p->payload = p->l3_offset + (__u32)sizeof(*ip);
	p->room = total - (__u32)sizeof(*ip);
	p->to[0] = ip->daddr;
	p->to[1] = 0;
	return -1;
}

static __always_inline int packet_ipv6(struct packet *p)
{
	struct ipv6hdr *ip = p->data + p->l3_offset;
	__u32 room;

	if ((void *)(ip + 1) > p->end)
		return VOLLEY_PASS_RUNT;
	if (ip->version != 6)
		return VOLLEY_PASS_IP_LENGTH;
	if (ip->nexthdr != IPPROTO_UDP)
		return VOLLEY_PASS_PROTOCOL;
	if (volley_is_odd_source6(ip->saddr.in6_u.u6_addr32, ip->daddr.in6_u.u6_addr32))
		return VOLLEY_PASS_SOURCE;
	room = bpf_ntohs(ip->payload_len);
	if (room > p->frame_bytes - p->l3_offset - sizeof(*ip))
		return VOLLEY_PASS_IP_LENGTH;
	p->payload = p->l3_offset + (__u32)sizeof(*ip);
	p->room = room;
	__builtin_memcpy(p->to, &ip->daddr, sizeof(p->to));
	return -1;
}

/*
 * Whether the table has this struct volley_service, whose other fields are 0. The comparison by
 * words has one branch for each slot: each branch is a further path for the verifier.
 */
static __always_inline int is_service(const struct volley_state *state, const __u64 to[2],
				      __be16 port, __u8 family)
{
	const struct volley_services *t = &state->services[state->services_at & 1];
	const __u64 wanted[3] = { to[0], to[1], port | (__u64)family << 16 };
	__u32 slot = volley_service_slot(t, wanted);
	__u32 i;

#pragma nounroll
	for (i = 0; i < VOLLEY_SERVICE_PROBES; i++) {
		const __u64 *words = (const void *)&t->slots[(slot + i) % VOLLEY_SERVICE_SLOTS];

		if (!((words[0] ^ wanted[0]) | (words[1] ^ wanted[1]) | (words[2] ^ wanted[2])))
			return 1;
	}
	return 0;
}

/* Parses UDP, after packet_ip(): cpu->dns_offset is the offset of the UDP header. */
static __always_inline int packet_udp(struct volley_cpu *cpu, const struct volley_state *state,
				      struct xdp_md *ctx)
{
	const void *end = (void *)(long)ctx->data_end;
	const void *data = (void *)(long)ctx->data;
	__u32 offset = cpu->dns_offset, room = cpu->dns_bytes;
	const struct udphdr *udp;

	udp = data + bounded(offset, OFFSET_MASK);
	if ((void *)(udp + 1) > end)
		return VOLLEY_PASS_RUNT;
	if (!is_service(state, cpu->folded, udp->dest, (__u8)(4 + 2 * cpu->ipv6)))
		return VOLLEY_PASS_SERVICE;
	if (bpf_ntohs(udp->len) != room)
		return VOLLEY_PASS_UDP_LENGTH;
	if (volley_is_reflector(udp->source))
		return VOLLEY_PASS_SOURCE;
	if (!udp->check && cpu->ipv6)
		return VOLLEY_PASS_CHECKSUM;
	if (room < sizeof(*udp) + DNS_HEADER)
		return VOLLEY_PASS_DNS_SHORT;
	cpu->dns_offset = offset + (__u32)sizeof(*udp);
	cpu->dns_bytes = room - (__u32)sizeof(*udp);
	forget_bounds();
	return -1;
}

/*
 * Parses the IP header at cpu->l3_offset. dns_offset becomes the offset of its payload, dns_bytes
 * the payload's octets; the destination goes into `folded`. A reason to pass, or -1.
 */
static __always_inline int packet_ip(struct volley_cpu *cpu, struct xdp_md *ctx, __be16 ethertype)
{
	struct packet p = {};
	int reason;

	packet_frame(&p, ctx);
	p.l3_offset = (__u32)bounded(cpu->l3_offset, OFFSET_MASK);
	if (ethertype == bpf_htons(ETH_P_IP)) {
		cpu->ipv6 = 0;
		reason = packet_ipv4(&p);
	} else if (ethertype == bpf_htons(ETH_P_IPV6)) {
		cpu->ipv6 = 1;
		reason = packet_ipv6(&p);
	} else {
		reason = VOLLEY_PASS_ETHERTYPE;
	}
	if (reason >= 0)
		return reason;
	cpu->dns_offset = p.payload;
	cpu->dns_bytes = p.room;
	cpu->folded[0] = p.to[0];
	cpu->folded[1] = p.to[1];
	forget_bounds();
	return -1;
}

/*
 * Fills the frame's part of `cpu` (l3_offset, dns_offset, dns_bytes, frame_bytes, tunnel_bytes,
 * ipv6) for a packet that is ours. A reason to pass, or -1.
 */
static __always_inline int packet_parse(struct volley_cpu *cpu, const struct volley_state *state,
					const struct volley_link *link, struct xdp_md *ctx)
{
	struct packet p = {};
	int reason;

	packet_frame(&p, ctx);
	reason = packet_l2(&p, link);
	if (reason >= 0)
		return reason;
	cpu->l3_offset = p.l3_offset;
	cpu->frame_bytes = (__u32)p.frame_bytes;
	cpu->tunnel_bytes = 0;
	forget_bounds();
	reason = packet_ip(cpu, ctx, p.ethertype);
	return reason < 0 ? packet_udp(cpu, state, ctx) : reason;
}

#ifdef __BYTE_ORDER__
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words of a service are little endian");
#endif
_Static_assert(DNS_OFFSET_MAX <= OFFSET_MASK, "no bit of an offset is lost");

#endif
