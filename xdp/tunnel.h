/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries that an L4 balancer forwards in a tunnel: one layer is removed, and the answer goes
 * directly to the client, as if the query had come without a tunnel.
 *
 *   query   │ Ethernet, VLAN │ IP │ IP │ UDP │ DNS              IPIP (RFC 2003, 2473, 4213)
 *           │ Ethernet, VLAN │ IP │ UDP │ IP │ UDP │ DNS        GUE, variant 1
 *           │ Ethernet, VLAN │ IP │ UDP │ GUE │ IP │ UDP │ DNS  GUE, variant 0 without flags
 *   answer  │ Ethernet, VLAN │ IP │ UDP │ DNS
 *
 * A tunnel is ours if it ends at an address of this host and the inner packet is for a service
 * address: a router forwards tunnels for other hosts, often with the same anycast address in them.
 * If the link has a list of sources, the tunnel must also come from one of these.
 *
 * Nothing is written before the answer has room: a packet that goes up or passes is unchanged, so
 * the kernel's tunnel devices go on working. userspace/port/frame.c removes the tunnel of a packet
 * that goes up.
 */
#ifndef VOLLEY_XDP_TUNNEL_H
#define VOLLEY_XDP_TUNNEL_H

#include "xdp/abi.h"
#include "xdp/packet.h"

#define GUE_VARIANTS  0xc0
#define GUE_VARIANT_1 0x40 /* the first two bits of IPv4 and IPv6 headers */
#define GUE_IP_BIT    0x20 /* the next bit tells IPv4 from IPv6 */

/* The content of the tunnel. */
struct inner {
	const void *data; /* in the frame */
	const void *end;
	__u32 room; /* octets from there on */
	__u8 proto;
};

/*
 * Steps over UDP and GUE. The program checks no checksums, so not the outer one either; it may be 0
 * over IPv6, too (RFC 6935 section 5). False: not understood.
 */
static __always_inline int skip_gue(struct inner *in)
{
	const struct udphdr *udp = in->data;
	const __be32 *gue = (const void *)(udp + 1);
	__u32 bytes = sizeof(*udp);

	if ((const void *)(gue + 1) > in->end || in->room < sizeof(*udp) + sizeof(*gue) ||
	    bpf_ntohs(udp->len) != in->room)
		return 0;
	if ((*(const __u8 *)gue & GUE_VARIANTS) == GUE_VARIANT_1) {
		in->proto = *(const __u8 *)gue & GUE_IP_BIT ? IPPROTO_IPV6 : IPPROTO_IPIP;
	} else {
		in->proto = ((const __u8 *)gue)[1];
		if (*gue & ~bpf_htonl(0xff << 16))
			return 0;
		bytes += sizeof(*gue);
	}
	in->data += bytes;
	in->room -= bytes;
	return 1;
}

static __always_inline int is_ip(__u8 proto)
{
	return proto == IPPROTO_IPIP || proto == IPPROTO_IPV6;
}

static __always_inline int is_tunnel(const struct inner *in, const struct volley_link *link)
{
	const struct udphdr *udp = in->data;

	if (in->proto != IPPROTO_UDP)
		return link->tunnels & VOLLEY_TUNNEL_IPIP && is_ip(in->proto);
	return link->tunnels & VOLLEY_TUNNEL_GUE && (const void *)(udp + 1) <= in->end &&
	       udp->dest == link->gue_port;
}

/* Whether the outer packet has room for the inner one, by the inner length. */
static __always_inline int is_whole(const struct inner *in)
{
	const __be16 *ip = in->data;

	if ((const void *)(ip + 3) > in->end)
		return 0;
	return in->room >= (in->proto == IPPROTO_IPV6 ? sizeof(struct ipv6hdr) + bpf_ntohs(ip[2]) :
							bpf_ntohs(ip[1]));
}

/*
 * Sets the same fields as packet_ip(), and the protocol, for a header whose payload is not UDP.
 * False: cut short.
 */
static __always_inline int tunnel_outer(struct xdp_md *ctx, struct volley_cpu *cpu)
{
	const void *end = (void *)(long)ctx->data_end;
	const void *l3 = (void *)(long)ctx->data + bounded(cpu->l3_offset, OFFSET_MASK);
	__u32 offset = cpu->l3_offset;

	if (cpu->ipv6) {
		const struct ipv6hdr *ip = l3;

		if ((const void *)(ip + 1) > end)
			return 0;
		cpu->dns_offset = offset + (__u32)sizeof(*ip);
		cpu->dns_bytes = bpf_ntohs(ip->payload_len);
		cpu->folded[2] = ip->nexthdr;
		__builtin_memcpy(&cpu->folded[0], &ip->daddr, sizeof(ip->daddr));
	} else {
		const struct iphdr *ip = l3;

		if ((const void *)(ip + 1) > end)
			return 0;
		cpu->dns_offset = offset + (__u32)sizeof(*ip);
		cpu->dns_bytes = bpf_ntohs(ip->tot_len) - (__u32)sizeof(*ip);
		cpu->folded[0] = ip->daddr;
		cpu->folded[1] = 0;
		cpu->folded[2] = ip->protocol;
	}
	return 1;
}

/* The outer source as in a struct volley_prefix. All 0 if the header is cut short. */
static __always_inline void tunnel_source(struct xdp_md *ctx, const struct volley_cpu *cpu,
					  __u64 source[2])
{
	const void *end = (void *)(long)ctx->data_end;
	const void *l3 = (void *)(long)ctx->data + bounded(cpu->l3_offset, OFFSET_MASK);

	source[0] = source[1] = 0;
	if (cpu->ipv6) {
		const struct ipv6hdr *ip = l3;

		if ((const void *)(ip + 1) <= end)
			__builtin_memcpy(source, &ip->saddr, sizeof(ip->saddr));
	} else {
		const struct iphdr *ip = l3;

		if ((const void *)(ip + 1) <= end)
			source[1] = 0xffff0000 | (__u64)ip->saddr << 32;
	}
}

/* Whether tunnels from this source are accepted. */
static __always_inline int tunnel_is_believed(struct xdp_md *ctx, const struct volley_cpu *cpu,
					      const struct volley_link *link)
{
	__u64 source[2];
	__u32 i;

	if (!link->n_tunnel_sources)
		return 1;
	tunnel_source(ctx, cpu, source);
#pragma nounroll
	for (i = 0; i < VOLLEY_TUNNEL_SOURCES; i++) {
		const struct volley_prefix *p = &link->tunnel_sources[i];

		if (i >= link->n_tunnel_sources)
			return 0;
		if (!(((source[0] ^ p->address[0]) & p->mask[0]) |
		      ((source[1] ^ p->address[1]) & p->mask[1])))
			return 1;
	}
	return 0;
}

/*
 * If a tunnel of ours begins there: moves l3_offset to the inner header and returns the inner
 * EtherType. Else a negative reason to pass, or 0: not a tunnel of ours.
 */
static __always_inline int tunnel_enter(struct xdp_md *ctx, struct volley_cpu *cpu,
					const struct volley_state *state,
					const struct volley_link *link)
{
	const void *data = (void *)(long)ctx->data;
	__u32 offset = cpu->dns_offset, room = cpu->dns_bytes;
	struct inner in = { .end = (void *)(long)ctx->data_end, .room = room };

	in.proto = (__u8)cpu->folded[2];
	if (room > cpu->frame_bytes - offset)
		return 0;
	in.data = data + bounded(offset, OFFSET_MASK);
	if (!is_tunnel(&in, link) ||
	    !is_service(state, cpu->folded, 0, (__u8)(VOLLEY_TUNNEL_END | (4 + 2 * cpu->ipv6))))
		return 0;
	if (!tunnel_is_believed(ctx, cpu, link))
		return -VOLLEY_PASS_TUNNEL_SOURCE;
	if (in.proto == IPPROTO_UDP && !skip_gue(&in))
		return -VOLLEY_PASS_TUNNEL;
	if (!is_ip(in.proto) || !is_whole(&in))
		return -VOLLEY_PASS_TUNNEL;
	offset = (__u32)(in.data - data);
	cpu->tunnel_bytes = offset - cpu->l3_offset;
	cpu->l3_offset = offset;
	return in.proto == IPPROTO_IPV6 ? ETH_P_IPV6 : ETH_P_IP;
}

/*
 * For a packet that packet_parse() passes for `reason`. -1: it is ours in a tunnel, and `cpu` is
 * filled as by packet_parse(), with tunnel_bytes. Else a reason to pass.
 */
static __always_inline int tunnel_parse(struct xdp_md *ctx, struct volley_cpu *cpu,
					const struct volley_state *state,
					const struct volley_link *link, int reason)
{
	int type;

	if (reason != VOLLEY_PASS_PROTOCOL && reason != VOLLEY_PASS_SERVICE)
		return reason;
	if (reason == VOLLEY_PASS_SERVICE)
		cpu->folded[2] = IPPROTO_UDP;
	else if (!tunnel_outer(ctx, cpu))
		return reason;
	forget_bounds();
	type = tunnel_enter(ctx, cpu, state, link);
	if (type <= 0)
		return type ? -type : reason;
	forget_bounds();
	reason = packet_ip(cpu, ctx, bpf_htons((__u16)type));
	return reason < 0 ? packet_udp(cpu, state, ctx) : reason;
}

/*
 * How much the frame must grow: `grow` less the tunnel's octets. It is not made shorter here: see
 * tunnel_cut().
 */
static __always_inline int tunnel_growth(const struct volley_cpu *cpu, int grow)
{
	grow -= (int)cpu->tunnel_bytes;
	return grow > 0 ? grow : 0;
}

/*
 * Moves the offsets to those without the tunnel, and writes the EtherType of the inner header. The
 * query is lost from here on. A reason, or -1.
 */
static __always_inline int tunnel_leave(struct xdp_md *ctx, struct volley_cpu *cpu)
{
	__u32 offset = cpu->l3_offset - cpu->tunnel_bytes;
	__u32 at = offset - (__u32)sizeof(__be16) + cpu->grown;
	const void *end = (void *)(long)ctx->data_end;
	__be16 *type = (void *)(long)ctx->data + bounded(at, FRAME_MASK);

	cpu->l3_offset = offset;
	cpu->dns_offset -= cpu->tunnel_bytes;
	if ((void *)(type + 1) > end)
		return VOLLEY_DROP_EDIT;
	*type = cpu->ipv6 ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP);
	forget_bounds();
	return -1;
}

/*
 * Cuts the frame behind the answer. It is the last step: the query's parts lie there until they are
 * moved.
 */
static __always_inline int tunnel_cut(struct xdp_md *ctx, __u32 frame_bytes)
{
	int more = (int)(frame_bytes - (__u32)(ctx->data_end - ctx->data));

	return more && bpf_xdp_adjust_tail(ctx, more) ? VOLLEY_DROP_EDIT : -1;
}

#endif
