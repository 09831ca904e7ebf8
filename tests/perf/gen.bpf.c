// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's side of xdpgen.
 *
 *   gen    run by BPF_PROG_TEST_RUN on live frames: each run makes the frame the next query of the
 *          list and redirects it out of the interface, or drops it when the pace says "not yet"
 *   sink   attached to the same interface: counts the replies and drops them, so that they cost
 *          the client no stack
 *
 * The id is the time at which the query's burst was sent, in ticks, so the reply alone gives its
 * latency. The source port is a counter times an odd number, so it looks random. Its lowest bit is
 * 1 if the query is of the list, 0 if its name was made here. gen_letters.h makes random labels.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tests/perf/front.h"
#include "tests/perf/gen.h"
#include "tests/perf/gen_letters.h"
#include "tests/perf/pace.h"
#include "xdp/sum.h"

#define DNS_PORT   53
#define DNS_QR     0x80 /* of the third octet */
#define DNS_TC     0x02
#define DNS_HEADER 12
#define PORT_FIRST 1024
#define PORTS      32768

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, GEN_QUERIES_CAP);
	__type(key, __u32);
	__type(value, struct gen_query);
} queries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gen_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GEN_TICKS);
	__type(key, __u32);
	__type(value, __u64);
} latencies SEC(".maps");

const volatile struct gen_config config = { .n_queries = 1, .burst = 1 };

/* The generator runs on one CPU. */
__u64 seq;
/* Not static: of its members clang 14 would make variables, whose BTF the kernel refuses. */
struct pace pace;
static __u16 stamp; /* when this burst was sent */

static __always_inline struct gen_counters *my_counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

static __always_inline __u16 ticks(__u64 ns)
{
	return (__u16)(ns >> GEN_TICK_SHIFT);
}

/* Whether one more query may be sent now. */
static __always_inline int is_due(struct gen_counters *c)
{
	if (!pace_is_due(&pace, config.ns_per_burst, config.burst, &c->late))
		return 0;
	stamp = ticks(pace.let_go_ns);
	return 1;
}

static __always_inline int put_query(struct xdp_md *ctx, const struct gen_query *q)
{
	__u64 *to = (void *)(long)ctx->data;
	const __u64 *from = (const void *)q->frame;
	int i;

	if ((void *)(to + sizeof(q->frame) / 8) > (void *)(long)ctx->data_end)
		return -1;
#pragma unroll
	for (i = 0; i < (int)(sizeof(q->frame) / 8); i++)
		to[i] = from[i];
	return 0;
}

/* Loaded anew: a value that the compiler keeps across two functions is half a pointer to the
 * verifier. */
static __always_inline void *at_offset(const struct xdp_md *ctx, __u32 offset, __u32 bytes)
{
	void *at = (void *)(long)*(const volatile __u32 *)&ctx->data + offset;

	return at + bytes > (void *)(long)*(const volatile __u32 *)&ctx->data_end ? NULL : at;
}

/* The number of the next name, by arithmetic, so that no list grows with the names. */
static __always_inline __u32 name_number(__u32 number)
{
	if (config.fresh)
		return (config.fresh_first + number) % FRONT_NUMBERS;
	return (__u32)((__u64)bpf_get_prandom_u32() * config.draw >> 32);
}

/* Makes the first label, adds its octets to the sum. */
static __always_inline int put_label(struct xdp_md *ctx, __u32 number, __u64 *sum)
{
	__u64 label = front_label(name_number(number));
	__u32 offset = config.name_offset;
	__u64 *at;

	if (offset > 96)
		return -1;
	at = at_offset(ctx, offset, sizeof(label));
	if (!at)
		return -1;
	*at = label;
	*sum += (label >> 32) + (__u32)label;
	return 0;
}

/* Replaces the letters of the first label, and corrects the sum. */
static __always_inline int put_random(struct xdp_md *ctx, __u32 number, __u64 *sum)
{
	__u64 letters = gen_letters(config.random_first + number), old;
	__u32 offset = config.name_offset + 1;
	__u64 *at;

	if (offset > 96)
		return -1;
	at = at_offset(ctx, offset, sizeof(letters));
	if (!at)
		return -1;
	old = ~*at;
	*at = letters;
	*sum += sum_at((letters >> 32) + (__u32)letters + (old >> 32) + (__u32)old, offset);
	return 0;
}

/* Sets source port and id, and corrects the checksum. */
static __always_inline int vary(struct xdp_md *ctx, __u64 sum, __u32 number, int is_listed)
{
	__u32 mixed = number * 0x9e3779b1u >> 16;
	__be16 port = bpf_htons((__u16)(PORT_FIRST + ((mixed % PORTS & ~1u) | (__u32)is_listed)));
	__be16 id = stamp;
	__u32 offset = config.udp_offset;
	struct udphdr *udp;
	__u16 check;

	if (offset > 64)
		return -1;
	udp = at_offset(ctx, offset, sizeof(*udp) + DNS_HEADER);
	if (!udp)
		return -1;
	udp->source = port;
	*(__be16 *)(udp + 1) = id;
	check = (__u16)~sum_fold(sum + port + id);
	udp->check = check ? check : 0xffff;
	return 0;
}

static __always_inline int is_of_list(__u32 number)
{
	if (config.random_of)
		return number % config.random_of >= config.random_n;
	return !config.fresh || (config.listed_every && number % config.listed_every == 0);
}

/* Queries with and without a random name each go through the whole list. */
static __always_inline __u32 random_index(__u32 number, int is_listed)
{
	__u32 cycle = number / config.random_of, place = number % config.random_of;

	if (is_listed)
		return (cycle * (config.random_of - config.random_n) + place - config.random_n) %
		       config.n_queries;
	return (cycle * config.random_n + place) % config.n_queries;
}

/* Index of the frame; with `fresh` the frame for made names comes before those of the list. */
static __always_inline __u32 frame_index(__u32 number, int is_listed)
{
	if (config.random_of)
		return random_index(number, is_listed);
	if (!config.fresh)
		return number % config.n_queries;
	return is_listed ? 1 + number / config.listed_every % config.n_queries : 0;
}

/* Puts the first label, if it is not the list's. */
static __always_inline int put_name(struct xdp_md *ctx, __u32 number, int is_listed, __u64 *sum)
{
	if (config.random_of)
		return is_listed ? 0 : put_random(ctx, number, sum);
	return config.draw || !is_listed ? put_label(ctx, number, sum) : 0;
}

SEC("xdp")
int gen(struct xdp_md *ctx)
{
	struct gen_counters *c = my_counters();
	const struct gen_query *q;
	__u32 number, index;
	int is_listed;
	__u64 sum;

	if (!c || (config.once && seq >= config.n_queries) || !is_due(c))
		return XDP_DROP;
	number = (__u32)seq++;
	is_listed = is_of_list(number);
	index = frame_index(number, is_listed);
	q = bpf_map_lookup_elem(&queries, &index);
	if (!q || put_query(ctx, q))
		return XDP_ABORTED;
	sum = q->sum;
	if (put_name(ctx, number, is_listed, &sum))
		return XDP_ABORTED;
	if (vary(ctx, sum, number, is_listed))
		return XDP_ABORTED;
	if (bpf_xdp_adjust_tail(ctx, (int)(q->bytes - sizeof(q->frame))))
		return XDP_ABORTED;
	c->sent++;
	c->listed_sent += (__u64)is_listed;
	return (int)bpf_redirect(config.ifindex, 0);
}

static __always_inline const struct udphdr *reply_udp(const struct ethhdr *eth, const void *end)
{
	const struct ipv6hdr *ip6 = (const void *)(eth + 1);
	const struct iphdr *ip = (const void *)(eth + 1);

	if ((const void *)(ip + 1) > end)
		return NULL;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		return ip->protocol == IPPROTO_UDP ? (const void *)(ip + 1) : NULL;
	if (eth->h_proto != bpf_htons(ETH_P_IPV6) || (const void *)(ip6 + 1) > end)
		return NULL;
	return ip6->nexthdr == IPPROTO_UDP ? (const void *)(ip6 + 1) : NULL;
}

static __always_inline void count_latency(__be16 id)
{
	__u32 taken = (__u16)(ticks(bpf_ktime_get_ns()) - id);
	__u64 *n = bpf_map_lookup_elem(&latencies, &taken);

	if (n)
		(*n)++;
}

SEC("xdp")
int sink(struct xdp_md *ctx)
{
	const void *data = (const void *)(long)ctx->data;
	const void *end = (const void *)(long)ctx->data_end;
	struct gen_counters *c = my_counters();
	const struct udphdr *udp;
	const __u8 *dns;

	if (!c || data + sizeof(struct ethhdr) > end)
		return XDP_PASS;
	udp = reply_udp(data, end);
	if (!udp)
		return XDP_PASS;
	dns = (const void *)(udp + 1);
	if ((const void *)(dns + DNS_HEADER) > end || udp->source != bpf_htons(DNS_PORT) ||
	    (!(dns[2] & DNS_QR) && !config.echo))
		return XDP_PASS;
	if (config.latency)
		count_latency(*(const __be16 *)dns);
	c->replies++;
	c->listed_replies += bpf_ntohs(udp->dest) & 1;
	c->reply_bytes += (__u64)(end - data);
	c->truncated += !!(dns[2] & DNS_TC);
	c->rcodes[dns[3] & 15]++;
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
