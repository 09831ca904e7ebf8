/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hits for dnstap and the query log: one in state->tap_every on average, with random gaps. The
 * final answer, from its IP header on, goes to this processor's ring. Userspace reads the rings
 * several times in a hundredth of a second, so the program wakes no reader. If the daemon is dead,
 * the program reports nothing.
 */
#ifndef VOLLEY_XDP_TAP_H
#define VOLLEY_XDP_TAP_H

#include "xdp/abi.h"
#include "xdp/verifier.h"

#define TAP_SMALL_BYTES 256u /* powers of two: what a record has room for */
#define TAP_LARGE_BYTES 2048u

/* A placeholder: volleyd makes the rings in use, in the size that it needs. */
struct volley_tap_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, VOLLEY_TAP_RINGS);
	__type(key, __u32);
	__array(values, struct volley_tap_ring);
} volley_taps SEC(".maps");

int tap_note(struct xdp_md *ctx, struct volley_cpu *cpu, __u32 every);

/* `cap` is a compile-time constant. */
static __always_inline void tap_record(struct xdp_md *ctx, struct volley_cpu *cpu, void *ring,
				       __u32 bytes, __u32 cap)
{
	struct volley_tap *tap = bpf_ringbuf_reserve(ring, sizeof(*tap) + cap, 0);

	if (!tap) {
		cpu->taps_lost++;
		return;
	}
	tap->ns = bpf_ktime_get_ns();
	tap->bytes = bytes;
	tap->reserved = 0;
	if (bpf_xdp_load_bytes(ctx, cpu->l3_offset, tap->octets, bytes))
		tap->bytes = 0;
	bpf_ringbuf_submit(tap, BPF_RB_NO_WAKEUP);
}

/* Records this hit and draws the next gap: 0 to 2 * (every - 1) hits. */
__noinline int tap_note(struct xdp_md *ctx, struct volley_cpu *cpu, __u32 every)
{
	__u32 slot = bpf_get_smp_processor_id() % VOLLEY_TAP_RINGS;
	void *ring = bpf_map_lookup_elem(&volley_taps, &slot);
	__u64 rest;

	if (!cpu || !ring)
		return 0;
	cpu->tap_left = every > 1 ? bpf_get_prandom_u32() % (2 * every - 1) : 0;
	rest = (__u64)(ctx->data_end - ctx->data) - cpu->l3_offset - 1;
	if (rest < TAP_SMALL_BYTES)
		tap_record(ctx, cpu, ring, (__u32)bounded(rest, TAP_SMALL_BYTES - 1) + 1,
			   TAP_SMALL_BYTES);
	else if (rest < TAP_LARGE_BYTES)
		tap_record(ctx, cpu, ring, (__u32)bounded(rest, TAP_LARGE_BYTES - 1) + 1,
			   TAP_LARGE_BYTES);
	return 0;
}

/* With taps off it costs one load and one branch. `tap_left` may stem from a coarser setting. */
static __always_inline void tap_hit(struct xdp_md *ctx, struct volley_cpu *cpu,
				    const struct volley_state *state)
{
	__u32 every = state->tap_every;

	if (!unlikely(every) || cpu->now_s >= state->tap_until_s)
		return;
	if (cpu->tap_left && cpu->tap_left < 2 * every) {
		cpu->tap_left--;
		return;
	}
	tap_note(ctx, cpu, every);
}

#endif
