// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's side of floodgen.
 *
 *   flood     run by BPF_PROG_TEST_RUN on live frames: makes the frame the flood's query with
 *             another source, or, once in honest_every, the next honest client's, and redirects it
 *             out of the interface
 *   receive   attached to the same interface: counts the replies by the class of the client, and
 *             drops them
 *
 * Ids and source ports are random. The class is the source port modulo 4.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tests/perf/flood.h"
#include "tests/perf/pace.h"
#include "xdp/sum.h"

#define DNS_PORT      53
#define DNS_QR        0x80 /* of the third octet */
#define DNS_TC        0x02
#define RCODE_MASK    0x0f
#define BADCOOKIE_LOW 7 /* low bits of 23; no server here answers YXRRSET */
#define PORT_FIRST    1024
#define PORT_MASK     0x7ffc
/* A product with it is a bijection of the numbers below any power of two. */
#define ODD 0x9e3779b1u

struct headers {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	__be16 id;
	__u8 flags[2];
	__be16 counts[4];
} __attribute__((packed));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FLOOD_FRAMES_CAP);
	__type(key, __u32);
	__type(value, struct flood_frame);
} frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flood_counters);
} counters SEC(".maps");

const volatile struct flood_config config = { .n_frames = 2, .burst = 1, .honest_every = 1 };

/* The generator runs on one CPU. */
/* Not static: of its members clang 14 would make variables, whose BTF the kernel refuses. */
struct pace pace;
static __u32 n_honest, n_forged, until_honest;

static __always_inline struct flood_counters *my_counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

static __always_inline __u32 next_index(void)
{
	if (until_honest) {
		until_honest--;
		return 0;
	}
	until_honest = config.honest_every - 1;
	return 1 + n_honest++ % (config.n_frames - 1);
}

static __always_inline __be32 forged_source(void)
{
	__u32 number = config.in_turn ? n_forged++ * ODD : bpf_get_prandom_u32();

	return bpf_htonl(config.net | (number & ~config.mask));
}

static __always_inline int put_frame(struct xdp_md *ctx, const struct flood_frame *f)
{
	__u64 *to = (void *)(long)ctx->data;
	const __u64 *from = (const void *)f->frame;
	int i;

	if ((void *)(to + sizeof(f->frame) / 8) > (void *)(long)ctx->data_end)
		return -1;
#pragma unroll
	for (i = 0; i < (int)(sizeof(f->frame) / 8); i++)
		to[i] = from[i];
	return 0;
}

/* Sets source, port and id, and corrects the checksums. */
static __always_inline int vary(struct xdp_md *ctx, __u32 class)
{
	struct headers *h = (void *)(long)*(const volatile __u32 *)&ctx->data;
	__be32 source = class == FLOOD_FORGED ? forged_source() : 0;
	__u32 random = bpf_get_prandom_u32();
	__be16 port = bpf_htons((__u16)(PORT_FIRST + (random & PORT_MASK) + class));
	__be16 id = (__be16)(random >> 16);
	__u16 check;

	if ((void *)(h + 1) > (void *)(long)*(const volatile __u32 *)&ctx->data_end)
		return -1;
	h->ip.saddr |= source;
	h->ip.check = (__u16)~sum_fold((__u64)(__u16)~h->ip.check + source);
	check = (__u16)~sum_fold((__u64)(__u16)~h->udp.check + source + port + id);
	h->udp.check = check ? check : 0xffff;
	h->udp.source = port;
	h->id = id;
	return 0;
}

SEC("xdp")
int flood(struct xdp_md *ctx)
{
	struct flood_counters *c = my_counters();
	const struct flood_frame *f;
	struct flood_sums *sums;
	__u32 index, class;

	if (!c || !pace_is_due(&pace, config.ns_per_burst, config.burst, &c->late))
		return XDP_DROP;
	index = next_index();
	f = bpf_map_lookup_elem(&frames, &index);
	if (!f || f->class >= FLOOD_CLASSES || put_frame(ctx, f))
		return XDP_ABORTED;
	class = f->class;
	if (vary(ctx, class) || bpf_xdp_adjust_tail(ctx, (int)(f->bytes - sizeof(f->frame))))
		return XDP_ABORTED;
	sums = &c->classes[class];
	sums->sent++;
	sums->sent_ip_octets += f->bytes - sizeof(struct ethhdr);
	sums->sent_dns_octets += f->bytes - 42;
	return (int)bpf_redirect(config.ifindex, 0);
}

/* Counts a reply by its kind. */
static __always_inline void count_kind(struct flood_sums *sums, const struct headers *h)
{
	__u32 rcode = h->flags[1] & RCODE_MASK;

	if (h->flags[0] & DNS_TC)
		sums->truncated++;
	else if (rcode == BADCOOKIE_LOW)
		sums->badcookie++;
	else if (!rcode && h->counts[1])
		sums->whole++;
}

SEC("xdp")
int receive(struct xdp_md *ctx)
{
	const struct headers *h = (const void *)(long)ctx->data;
	struct flood_counters *c = my_counters();
	struct flood_sums *sums;
	__u32 class;

	if (!c || (const void *)(h + 1) > (const void *)(long)ctx->data_end ||
	    h->eth.h_proto != bpf_htons(ETH_P_IP) || h->ip.protocol != IPPROTO_UDP ||
	    h->udp.source != bpf_htons(DNS_PORT) || !(h->flags[0] & DNS_QR))
		return XDP_PASS;
	class = bpf_ntohs(h->udp.dest) % 4;
	if (class >= FLOOD_CLASSES)
		return XDP_PASS;
	sums = &c->classes[class];
	sums->replies++;
	sums->ip_octets += bpf_ntohs(h->ip.tot_len);
	sums->dns_octets += bpf_ntohs(h->udp.len) - sizeof(struct udphdr);
	count_kind(sums, h);
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
