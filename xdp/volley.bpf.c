// SPDX-License-Identifier: GPL-2.0-only
/*
 * Volley's XDP program: answers from the answer cache, hands up what it cannot answer, passes what
 * is not ours. design in docs/architecture.md.
 *
 *   packet.h    is it ours?              no: XDP_PASS, untouched
 *   question.h  is it understood?        no: up, untouched
 *   lookup.h    is the answer known?     no: up, untouched
 *   reply.h     the answer, in place     XDP_TX
 *
 * Up is the AF_XDP socket of the receive queue; where there is none, the kernel's stack.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stddef.h>

#include "xdp/abi.h"
#include "xdp/packet.h"
#include "xdp/question.h"
#include "xdp/lookup.h"
#include "xdp/reply.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_state);
} volley_abi_1 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_DEFAULT_BUCKETS);
	__type(key, __u32);
	__type(value, struct bucket);
} volley_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_DEFAULT_SEGMENTS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, VOLLEY_SEGMENT_BYTES);
} volley_store SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_DEFAULT_ZONES);
	__type(key, __u32);
	__type(value, struct volley_zone);
} volley_zones SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_link);
} volley_link SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_cpu);
} volley_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, VOLLEY_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xsks_map SEC(".maps");

/* Looks through one bucket. A location, or 0; cpu->reason then tells if there was a dead entry. */
static __always_inline __u32 find_in(struct volley_cpu *cpu, __u32 number)
{
	const struct bucket *bucket = bpf_map_lookup_elem(&volley_index, &number);
	__u32 tag = volley_tag(cpu->hash);
	int i;

	if (!bucket)
		return 0;
	for (i = 0; i < VOLLEY_BUCKET_SLOTS; i++) {
		__u64 word = *(const volatile __u64 *)&bucket->words[i];
		struct volley_entry *e;
		int verdict;

		if (word >> 32 != tag || !(__u32)word)
			continue;
		e = entry_at(&volley_store, (__u32)word);
		if (!e || e->hash != cpu->hash)
			continue;
		verdict = entry_check(e, &volley_zones, cpu->now_s);
		if (verdict == VOLLEY_HIT_FULL)
			return (__u32)word;
		cpu->reason = (__u32)verdict;
	}
	return 0;
}

/*
 * cpu->location: of the valid entry with cpu's hash; 0 with cpu->reason when there is none. Whether it
 * is for cpu's key as well is looked at behind this, for one entry and not in each slot of the loops.
 */
static __always_inline void find(struct volley_cpu *cpu, const struct volley_state *state)
{
	__u32 location;

	cpu->reason = VOLLEY_UP_MISS;
	location = find_in(cpu, volley_bucket(cpu->hash, state->n_buckets));
	if (!location)
		location = find_in(cpu, volley_bucket2(cpu->hash, state->n_buckets));
	cpu->location = location;
	forget_bounds();
}

/*
 * The coarse clock moves when jiffies do, and these are one load where the clock is a call: so it
 * is asked once a tick.
 */
static __always_inline void read_clock(struct volley_cpu *cpu)
{
	__u64 jiffies = bpf_jiffies64();

	if (cpu->jiffies == jiffies)
		return;
	cpu->now_s = (__u32)(bpf_ktime_get_coarse_ns() / 1000000000);
	cpu->jiffies = jiffies;
}

static __always_inline int answer(struct xdp_md *ctx, struct volley_cpu *cpu,
				  const struct volley_state *state, const struct volley_link *link)
{
	struct volley_entry *e;
	int reason;

	reason = packet_parse(cpu, state, link, ctx);
	if (reason < 0)
		reason = question_parse(ctx, cpu, state);
	if (reason >= 0)
		return reason;
	if (!link->driver_answers)
		return VOLLEY_UP_SWITCHED_OFF;
	read_clock(cpu);
	if (cpu->now_s >= state->serve_until_s)
		return VOLLEY_UP_ORPHANED;
	find(cpu, state);
	if (!cpu->location)
		return (int)cpu->reason;
	e = entry_at(&volley_store, cpu->location);
	if (!e || !is_key_of(e, cpu))
		return VOLLEY_UP_MISS;
	if (e->freq < VOLLEY_FREQ_MAX)
		e->freq++;
	return reply_send(ctx, cpu, state, e);
}

static __always_inline int hand_up(struct xdp_md *ctx, struct volley_cpu *cpu)
{
	long action = bpf_redirect_map(&xsks_map, ctx->rx_queue_index, XDP_PASS);

	if (action == XDP_REDIRECT)
		cpu->to_worker++;
	return (int)action;
}

static __always_inline int act(struct xdp_md *ctx, struct volley_cpu *cpu, int reason)
{
	switch (reason) {
#define REASON_CASE(name, class, words) \
	case VOLLEY_##name:             \
		goto class;
		VOLLEY_REASONS(REASON_CASE)
	}
HIT:
	return XDP_TX;
UP:
	return hand_up(ctx, cpu);
PASSED:
	return XDP_PASS;
DROPPED:
	return XDP_DROP;
}

SEC("xdp")
int volley(struct xdp_md *ctx)
{
	const __u32 zero = 0;
	struct volley_state *state = bpf_map_lookup_elem(&volley_abi_1, &zero);
	struct volley_link *link = bpf_map_lookup_elem(&volley_link, &zero);
	struct volley_cpu *cpu = bpf_map_lookup_elem(&volley_cpu, &zero);
	int reason = VOLLEY_PASS_UNCONFIGURED;

	if (!state || !link || !cpu)
		return XDP_PASS;
	cpu->received++;
	if (state->magic == VOLLEY_MAGIC)
		reason = answer(ctx, cpu, state, link);
	if (reason < 0 || reason >= VOLLEY_N_REASONS)
		return XDP_PASS; /* cannot be: answer() gives a reason */
	cpu->reasons[reason]++;
	return act(ctx, cpu, reason);
}

char _license[] SEC("license") = "GPL";
