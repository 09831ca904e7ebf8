// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The minimum work of an answerer in the driver, and so the peer of every benchmark: it returns UDP
 * to port 53 with addresses and ports swapped and QR set, at its own length, and looks up nothing.
 * The swap changes no checksum; QR changes that of UDP by a constant.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define DNS_PORT   53
#define DNS_HEADER 12
#define DNS_QR     0x8000

static __always_inline void swap_mac(struct ethhdr *eth)
{
	__u8 mac[ETH_ALEN];

	__builtin_memcpy(mac, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, mac, ETH_ALEN);
}

/* One's complement: the sum loses 0x8000, so its complement gains it, with an end-around carry. */
static __always_inline void set_qr(struct udphdr *udp, __be16 *flags)
{
	__u32 sum = (__u16)~udp->check;

	*flags |= bpf_htons(DNS_QR);
	if (!udp->check)
		return;
	sum += bpf_htons(DNS_QR);
	sum = (sum & 0xffff) + (sum >> 16);
	udp->check = sum == 0xffff ? 0xffff : (__u16)~sum;
}

static __always_inline int reflect_udp(struct ethhdr *eth, struct udphdr *udp, void *end)
{
	__be16 *dns = (void *)(udp + 1);
	__be16 port = udp->dest;

	if ((void *)dns + DNS_HEADER > end || port != bpf_htons(DNS_PORT))
		return XDP_PASS;
	if (dns[1] & bpf_htons(DNS_QR))
		return XDP_DROP;
	swap_mac(eth);
	udp->dest = udp->source;
	udp->source = port;
	set_qr(udp, &dns[1]);
	return XDP_TX;
}

static __always_inline int reflect_ipv4(struct ethhdr *eth, void *end)
{
	struct iphdr *ip = (void *)(eth + 1);
	struct udphdr *udp = (void *)(ip + 1);
	__be32 address;
	int action;

	if ((void *)(udp + 1) > end || ip->ihl != 5 || ip->protocol != IPPROTO_UDP)
		return XDP_PASS;
	action = reflect_udp(eth, udp, end);
	if (action == XDP_TX) {
		address = ip->saddr;
		ip->saddr = ip->daddr;
		ip->daddr = address;
	}
	return action;
}

static __always_inline int reflect_ipv6(struct ethhdr *eth, void *end)
{
	struct ipv6hdr *ip = (void *)(eth + 1);
	struct udphdr *udp = (void *)(ip + 1);
	struct in6_addr address;
	int action;

	if ((void *)(udp + 1) > end || ip->nexthdr != IPPROTO_UDP)
		return XDP_PASS;
	action = reflect_udp(eth, udp, end);
	if (action == XDP_TX) {
		address = ip->saddr;
		ip->saddr = ip->daddr;
		ip->daddr = address;
	}
	return action;
}

SEC("xdp")
int reflect(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;

	if ((void *)(eth + 1) > end)
		return XDP_PASS;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		return reflect_ipv4(eth, end);
	if (eth->h_proto == bpf_htons(ETH_P_IPV6))
		return reflect_ipv6(eth, end);
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
