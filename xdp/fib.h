/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For links with return-path: fib. Looks up in the kernel's routing table whether the answer leaves
 * by the interface that the query came in by, and its next hop.
 *
 * The lookup is for a packet of the host's own, from the loopback interface, as the kernel's answer
 * would be. So policy routing rules match as for such a packet. The helper wants forwarding to be
 * on, but only for the loopback interface (net.ipv4.conf.lo.forwarding), where it forwards nothing.
 * If the result is not a next hop on this interface, the packet passes and the kernel's socket
 * answers and routes.
 */
#ifndef VOLLEY_XDP_FIB_H
#define VOLLEY_XDP_FIB_H

#include "xdp/abi.h"
#include "xdp/packet.h"

#define FIB_IFINDEX_LO 1 /* in each network namespace */
#define FIB_AF_INET    2
#define FIB_AF_INET6   10

/* Addresses of the answer: the service's, and the client's. -1 or a reason. */
static __always_inline int fib_addresses(struct bpf_fib_lookup *fib, struct xdp_md *ctx,
					 const struct volley_cpu *cpu)
{
	const void *end = (void *)(long)ctx->data_end;
	const void *l3 = (void *)(long)ctx->data + bounded(cpu->l3_offset, OFFSET_MASK);

	if (l3 + sizeof(struct ipv6hdr) > end)
		return VOLLEY_PASS_RUNT; /* never: with UDP and DNS, an IPv4 packet is as long */
	if (cpu->ipv6) {
		const struct ipv6hdr *ip = l3;

		fib->family = FIB_AF_INET6;
		__builtin_memcpy(fib->ipv6_src, &ip->daddr, sizeof(fib->ipv6_src));
		__builtin_memcpy(fib->ipv6_dst, &ip->saddr, sizeof(fib->ipv6_dst));
	} else {
		const struct iphdr *ip = l3;

		fib->family = FIB_AF_INET;
		fib->ipv4_src = ip->daddr;
		fib->ipv4_dst = ip->saddr;
	}
	return -1;
}

/* Kernels before 6.3 also return neighbours whose address is not known yet: it is zero. */
static __always_inline int is_known(const __u8 mac[ETH_ALEN])
{
	return mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5];
}

/*
 * Notes the next hop for userspace (iface/neighbours.c), since the helper takes a neighbour for
 * valid until the kernel finds otherwise, and the kernel probes only neighbours to which it sends
 * packets itself. It stores only a change: all processors share the line.
 */
static __always_inline void fib_note(struct volley_link *link, const __u8 mac[ETH_ALEN])
{
	__u8 *hop = &link->hops[bounded(volley_hop(mac), VOLLEY_HOPS - 1)];

	if (!*hop)
		*hop = 1;
}

/*
 * -1: the query's source MAC is now that of the next hop, so swapping the two, here or in the
 * worker, sends the answer there. VOLLEY_PASS_RETURN: the frame is unchanged. Frames with VLAN tags
 * always pass: up to Linux 6.18 the helper does not tell the tag of an interface in the table.
 */
static __always_inline int fib_check(struct xdp_md *ctx, const struct volley_cpu *cpu,
				     struct volley_link *link)
{
	struct bpf_fib_lookup fib = { .l4_protocol = IPPROTO_UDP, .ifindex = FIB_IFINDEX_LO };
	struct ethhdr *eth;
	int reason;

	if (cpu->l3_offset - cpu->tunnel_bytes != sizeof(*eth))
		return VOLLEY_PASS_RETURN;
	reason = fib_addresses(&fib, ctx, cpu);
	if (reason >= 0)
		return reason;
	if (bpf_fib_lookup(ctx, &fib, sizeof(fib), 0) || fib.ifindex != ctx->ingress_ifindex ||
	    !is_known(fib.dmac))
		return VOLLEY_PASS_RETURN;
	fib_note(link, fib.dmac);
	eth = (void *)(long)ctx->data;
	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return VOLLEY_PASS_RUNT; /* never: the verifier has lost this bound */
	__builtin_memcpy(eth->h_source, fib.dmac, ETH_ALEN);
	forget_bounds();
	return -1;
}

#endif
