// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs before the program that is measured. A test run with repeat gives a program its own output,
 * so an answerer would see its answer from the second run on. This program makes the frame a query
 * again, with a random name, restores its length, and calls the target by tail call. It does the
 * same before every target, also before the empty program and the reflector, so the differences are
 * those of the targets alone.
 *
 *   test run ──► front_empty   ──► targets[0]   XDP_PASS
 *            ──► front_reflect ──► targets[1]   reflect.bpf.c
 *            ──► front_volley  ──► targets[2]   xdp/volley.bpf.c as it is installed
 *
 * Three entries with a constant index each: the kernel makes such a tail call a direct jump. The
 * name comes from the number by arithmetic, so that drawing it touches no memory that grows
 * with the number of names.
 *
 * It restores the whole frame, since an answer that grows at the head overwrites the query. Then it
 * draws the name, which takes a while, and stores the label as one word, as the target reads it: a
 * load that spans two recent stores waits for both, which does not happen with a packet from a NIC.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "tests/perf/front.h"

#define PUT_WORDS_MAX 34 /* a name of 255 octets, and more than all headers need */

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, FRONT_TARGETS);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

const volatile struct front_config config = { .frame_bytes = 60, .n = 1 };
__u8 frame[FRONT_FRAME_MAX] __attribute__((aligned(8))) = { 1 }; /* in .data */

/* Where the frame began at the start of the test run (0: this is the start), and where it begins
 * now. */
volatile __u64 home, where;

/* Restores frame[from..to), of 0 or at least 8 octets: by whole words, the last of which ends with
 * it. */
static __always_inline void put_back(struct xdp_md *ctx, __u32 from, __u32 to)
{
	__u8 *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	__u32 i;

	if (from + 8 > to || to > FRONT_FRAME_MAX)
		return;
#pragma unroll
	for (i = 0; i < PUT_WORDS_MAX; i++) {
		__u32 at = from + 8 * i;

		if (at + 8 > to || at > FRONT_FRAME_MAX - 8)
			break;
		if ((void *)(data + at + 8) > end)
			return;
		*(__u64 *)(data + at) = *(const __u64 *)&frame[at];
	}
	if ((void *)(data + to) > end)
		return;
	*(__u64 *)(data + to - 8) = *(const __u64 *)&frame[to - 8];
}

/* Restores type and class. */
static __always_inline void put_back4(struct xdp_md *ctx, __u32 at)
{
	__u8 *data = (void *)(long)ctx->data;

	if (at > FRONT_FRAME_MAX - 4 || (void *)(data + at + 4) > (void *)(long)ctx->data_end)
		return;
	*(__u32 *)(data + at) = *(const __u32 *)&frame[at];
}

/* 1.0.0.0 to 64.255.255.255, or within 2000::/3. */
static __always_inline void draw_source(struct xdp_md *ctx)
{
	__u64 drawn = bpf_get_prandom_u32() | (__u64)bpf_get_prandom_u32() << 32;
	__u8 *to = (void *)(long)ctx->data + (config.source_offset & 127);

	if ((void *)(to + 8) > (void *)(long)ctx->data_end)
		return;
	if (config.ipv6)
		*(__u64 *)to = (drawn & ~0xffull) | 0x20 | (drawn & 0x1f);
	else
		*(__u32 *)to = ((__u32)drawn & ~0xffu) | (1 + ((__u32)drawn & 0x3f));
}

static __always_inline void make_query(struct xdp_md *ctx)
{
	__u32 name = config.name_offset;
	__u32 bytes, number;
	__u8 *to;

	where = (__u64)(long)ctx->data; /* through memory: then it is a number, not a pointer */
	if (!home)
		home = where;
	/* Also without a change, so it costs the same for each target. */
	bpf_xdp_adjust_head(ctx, (int)(home - where));
	bytes = (__u32)((long)ctx->data_end - (long)ctx->data);
	bpf_xdp_adjust_tail(ctx, (int)(config.frame_bytes - bytes));
	put_back(ctx, 0, name);
	put_back(ctx, name + 8, config.tail_offset - 4);
	put_back4(ctx, config.tail_offset - 4);
	put_back(ctx, config.tail_offset, config.frame_bytes);
	number = (__u32)((__u64)bpf_get_prandom_u32() * config.n >> 32);
	to = (void *)(long)ctx->data;
	if (name > FRONT_FRAME_MAX || (void *)(to + name + 8) > (void *)(long)ctx->data_end)
		return;
	*(__u64 *)(to + name) = front_label(config.first + number);
	if (config.source_offset)
		draw_source(ctx);
}

SEC("xdp")
int front_empty(struct xdp_md *ctx)
{
	make_query(ctx);
	bpf_tail_call(ctx, &targets, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int front_reflect(struct xdp_md *ctx)
{
	make_query(ctx);
	bpf_tail_call(ctx, &targets, 1);
	return XDP_ABORTED;
}

SEC("xdp")
int front_volley(struct xdp_md *ctx)
{
	make_query(ctx);
	bpf_tail_call(ctx, &targets, 2);
	return XDP_ABORTED;
}

SEC("xdp")
int empty(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
