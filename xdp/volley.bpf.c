// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Volley's XDP program: answers from the answer cache, hands up what it cannot answer, passes what
 * is not ours. design in docs/architecture.md.
 *
 *   packet.h    is it ours?                               no: XDP_PASS, untouched
 *   tunnel.h    or ours in a tunnel?                      no: the same
 *   fib.h       does the answer leave by this interface?  no: the same
 *   question.h  is it understood?                         no: up, untouched
 *   blocked.h   may it be asked, by this client?          no: dropped, REFUSED or TC=1
 *   lookup.h    is the answer known, for this client?     no: up, untouched
 *   deny.h      or one that many names share?             no: up, untouched
 *   interval.h  that proves it for this name as well
 *   choose.h    which part of it has room
 *   age.h       its TTLs, where it is from upstream       too many: up, untouched
 *   options.h   COOKIE and NSID, for who asks             unusual: up, untouched
 *   limit.h     has the client had enough?                yes: TC=1, BADCOOKIE or XDP_DROP
 *   reply.h     the answer, in place                      XDP_TX
 *
 * Up is the AF_XDP socket of the receive queue; where there is none, the kernel's stack. When the
 * socket's worker is too far behind, shed.h drops instead.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stddef.h>

#include "xdp/abi.h"
#include "xdp/packet.h"
#include "xdp/tunnel.h"
#include "xdp/fib.h"
#include "xdp/question.h"
#include "xdp/lookup.h"
#include "xdp/count.h"

/* A filter: xdp/names.h. This map and the next one stand before the headers whose functions look at
 * them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_DEFAULT_NAMES_LINES);
	__type(key, __u32);
	__type(value, struct volley_names_line);
} volley_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_DEFAULT_SEGMENTS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, VOLLEY_SEGMENT_BYTES);
} volley_store SEC(".maps");

#include "xdp/deny.h"
#include "xdp/nsec3.h"
#include "xdp/interval.h"
#include "xdp/reply.h"
#include "xdp/shed.h"
#include "xdp/clock.h"
#include "xdp/blocked.h"
#include "xdp/tap.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_state);
} volley_abi_9 SEC(".maps");

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
	__uint(max_entries, VOLLEY_DEFAULT_ZONES);
	__type(key, __u32);
	__type(value, struct volley_zone);
} volley_zones SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, VOLLEY_CLIENTS_MAX);
	__type(key, struct volley_client);
	__type(value, __u32);
} volley_clients SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, VOLLEY_REFRESH_BYTES);
} volley_refresh SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_link);
} volley_link SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, VOLLEY_ROOMS);
	__type(key, __u32);
	__type(value, struct volley_cpu);
} volley_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, VOLLEY_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xsks_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_QUEUES);
	__type(key, __u32);
	__type(value, struct volley_queue);
} volley_queues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_shares);
} volley_shares SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_rrl);
} volley_rrl SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_RRL_LINES);
	__type(key, __u32);
	__type(value, struct volley_rrl_line);
} volley_loads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_near);
} volley_near SEC(".maps");

#include "xdp/limit.h" /* its functions are global, and so look at the maps by name */

int find_shared(struct volley_cpu *cpu, const struct volley_state *state, __u32 kind);
int find_interval(struct volley_cpu *cpu, const struct volley_state *state, __u32 expanded);
int find_for_name(struct volley_cpu *cpu, const struct volley_state *state);

/* The entry that a word of the index names, if it has this hash, dead or alive. */
static __always_inline struct volley_entry *entry_of(struct volley_cpu *cpu, __u64 word, __u64 hash)
{
	struct volley_entry *e;

	if (word >> 32 != volley_tag(hash) || !(__u32)word)
		return NULL;
	cpu->location = (__u32)word;
	e = entry_at(&volley_store, (__u32)word);
	return e && e->hash == hash ? e : NULL;
}

/* Looks through one bucket, first where most entries are. */
static __always_inline struct volley_entry *find_in(struct volley_cpu *cpu, __u64 hash,
						    __u32 number)
{
	const struct bucket *bucket = bpf_map_lookup_elem(&volley_index, &number);
	const volatile __u64 *words;
	struct volley_entry *e;
	int i;

	if (!bucket)
		return NULL;
	words = (const volatile __u64 *)bucket->words;
	e = entry_of(cpu, words[volley_slot(hash)], hash);
	for (i = 0; !e && i < VOLLEY_BUCKET_SLOTS; i++)
		e = entry_of(cpu, words[i], hash);
	return e;
}

/*
 * The first entry with this hash, or NULL. There is one for each view at most, but for a moment in
 * which two threads publish it. Its key, whether it is valid and for whom are looked at behind
 * this, and not in each slot.
 */
static __always_inline struct volley_entry *find(struct volley_cpu *cpu,
						 const struct volley_state *state, __u64 hash)
{
	struct volley_entry *e = find_in(cpu, hash, volley_bucket(hash, state->n_buckets));

	return e ? e : find_in(cpu, hash, volley_bucket2(hash, state->n_buckets));
}

/* The shared answer of this kind is the entry at cpu->location: -1, or a reason to go up. Verified
 * by itself, once. */
__noinline int find_shared(struct volley_cpu *cpu, const struct volley_state *state, __u32 kind)
{
	const struct volley_entry *e;
	int reason;

	if (!cpu || !state)
		return VOLLEY_UP_MISS;
	reason = shared_make_key(cpu, state, kind);
	if (reason >= 0)
		return reason;
	e = find(cpu, state, cpu->shared_hash);
	return e && is_key_of(e, cpu->shared_key, cpu->shared_bytes) ? -1 : VOLLEY_UP_MISS;
}

/*
 * The entry that was found may be of a newer version than what the walk has read. Names and points
 * are added before a version is served, and its answers are published behind that: so where the
 * filter and the leaf say the same as before, they are those of this entry as well. -1, or a reason
 * to go up.
 */
static __always_inline int find_again(struct volley_cpu *cpu, const struct volley_state *state)
{
	/* It is 0 and stays so: a full barrier, in BPF as well. What follows is read behind the
	 * entry. */
	if (__sync_val_compare_and_swap(&cpu->fence, 0, 0))
		return VOLLEY_UP_MISS;
	return deny_again(cpu, state);
}

/* The place where the region of this zone is noted. */
static __always_inline struct volley_region_note *region_note(struct volley_cpu *cpu)
{
	return &cpu->regions[bounded(cpu->apex_hash, VOLLEY_REGIONS_NOTED - 1)];
}

/*
 * cpu->region_at and region_id are those of the zone, if they are noted and the region has not been
 * replaced since: 1, else 0. The zone's denial, which they come from, may be dead by now. The
 * interval's entry is of the same zone, and is looked at then.
 */
static __always_inline int is_region_noted(struct volley_cpu *cpu)
{
	const struct volley_region_note *note = region_note(cpu);
	const struct volley_intervals_head *head = interval_line(note->at);

	if (note->apex != cpu->apex_hash || !note->id || !head || load_once(&head->id) != note->id)
		return 0;
	cpu->region_at = note->at;
	cpu->region_id = note->id;
	return 1;
}

/* Takes the zone's region from its denial, which is the entry at cpu->location, and notes it: -1,
 * or a reason to go up. */
static __always_inline int find_region(struct volley_cpu *cpu)
{
	const struct volley_entry *e = entry_at(&volley_store, cpu->location);
	const struct volley_shared *s;
	int reason;

	if (!e)
		return VOLLEY_UP_MISS;
	reason = entry_check(cpu, e, &volley_zones);
	if (reason != VOLLEY_HIT_FULL)
		return reason;
	s = shared_of(e);
	if (!s)
		return VOLLEY_UP_MISS;
	cpu->region_at = s->intervals_at;
	cpu->region_id = s->intervals_id;
	if (cpu->region_id)
		*region_note(cpu) = (struct volley_region_note){ .apex = cpu->apex_hash,
								 .at = cpu->region_at,
								 .id = cpu->region_id };
	return -1;
}

/* The entry of the name's interval in the zone's region is at cpu->location: -1, or a reason to go
 * up. */
__noinline int find_interval(struct volley_cpu *cpu, const struct volley_state *state,
			     __u32 expanded)
{
	int reason;

	if (!cpu || !state || !state->names.intervals_id)
		return VOLLEY_UP_MISS;
	reason = interval_look(cpu, cpu->region_at, cpu->region_id);
	if (reason < 0)
		reason = find_shared(cpu, state, VOLLEY_KEY_INTERVAL | expanded);
	if (reason < 0)
		reason = find_again(cpu, state);
	return reason < 0 ? interval_again(cpu, cpu->region_at, cpu->region_id) : reason;
}

/* What find_for_name() does for queries with DO, of a zone that has a denial. Expanded: a wildcard
 * may stand for the name. */
static __always_inline int find_with_proofs(struct volley_cpu *cpu,
					    const struct volley_state *state, __u32 expanded)
{
	int reason = find_region(cpu);

	if (reason >= 0)
		return reason;
	if (!cpu->region_id)
		return expanded ? VOLLEY_UP_MISS : -1;
	return find_interval(cpu, state, expanded);
}

/* The shared answer to a query is the entry at cpu->location: -1, or a reason to go up. */
__noinline int find_for_name(struct volley_cpu *cpu, const struct volley_state *state)
{
	const struct volley_key *key;
	__u32 has_do, expanded;
	int reason;

	if (!cpu || !state || !state->names.id)
		return VOLLEY_UP_MISS;
	reason = deny_look(cpu, state);
	if (reason >= 0)
		return reason;
	expanded = reason == DENY_WILDCARD ? DENY_EXPANDED : 0;
	key = (const void *)&cpu->folded[0];
	has_do = key->flags & VOLLEY_KEY_DO;
	if (has_do && is_region_noted(cpu))
		return find_interval(cpu, state, expanded);
	if (expanded) {
		reason = find_shared(cpu, state, VOLLEY_KEY_WILDCARD);
		if (reason < 0)
			return find_again(cpu, state);
		if (!has_do)
			return reason;
	}
	reason = find_shared(cpu, state, VOLLEY_KEY_DENIAL);
	return reason < 0 && has_do ? find_with_proofs(cpu, state, expanded) : reason;
}

/*
 * The shared answer to a query, or NULL and in cpu->reason a reason to go up. A few go up all the
 * same: the worker's answer shows whether the driver's would be right (userspace/engine/shield.h).
 */
static __always_inline struct volley_entry *look_for_shared(struct volley_cpu *cpu,
							    const struct volley_state *state)
{
	int reason = find_for_name(cpu, state);
	struct volley_entry *e;

	cpu->reason = (__u32)reason;
	if (reason >= 0)
		return NULL;
	cpu->reason = VOLLEY_UP_CHECKED;
	if (!(++cpu->n_deniable % VOLLEY_CHECK_EVERY))
		return NULL;
	cpu->reason = VOLLEY_UP_MISS;
	e = entry_at(&volley_store, cpu->location);
	if (e && cpu->shared_lead < VOLLEY_LEAD_MAX)
		cpu->shared_lead++;
	return e;
}

/* The entry of the query's own name, or NULL. */
static __always_inline struct volley_entry *find_own(struct volley_cpu *cpu,
						     const struct volley_state *state)
{
	struct volley_entry *e = find(cpu, state, cpu->hash);

	if (!e || !is_key_of(e, cpu->folded, cpu->name_bytes))
		return NULL;
	cpu->shared = 0;
	if (unlikely(cpu->shared_lead))
		cpu->shared_lead--;
	return e;
}

/*
 * Most of the last answers were shared ones. Read anew each time, since the stack has no room to
 * keep it; a look that finds nothing does not change it.
 */
static __always_inline int is_flood(const struct volley_cpu *cpu)
{
	return load_once(&cpu->shared_lead) >= VOLLEY_LEAD_FIRST;
}

#define REASON_MASK 127
_Static_assert(VOLLEY_N_REASONS <= REASON_MASK, "a reason that is kept in memory");

/*
 * The answer to a query, or NULL and in cpu->reason a reason to go up. An entry of the name's own
 * is looked for first, unless most answers are shared ones, as under an attack with random names:
 * then nobody waits for the two buckets, which have no entry for such a name. Either order gives
 * the same answer: a name that our zones do not have has no other one.
 */
static __always_inline struct volley_entry *find_answer(struct volley_cpu *cpu,
							const struct volley_state *state)
{
	struct volley_entry *e = NULL;

	if (unlikely(is_flood(cpu)))
		e = look_for_shared(cpu, state);
	if (!e)
		e = find_own(cpu, state);
	if (!e && !is_flood(cpu))
		e = look_for_shared(cpu, state);
	return e;
}

/* Says once that the answer expires soon and is still asked for. When nobody listens nothing is
 * lost. */
static __always_inline void ask_anew(struct volley_cpu *cpu, struct volley_entry *e)
{
	if (e->refreshing || e->expires_s - cpu->now_s > e->refresh_s)
		return;
	e->refreshing = 1;
	cpu->refresh = (struct volley_refresh){ .hash = e->hash,
						.location = cpu->location,
						.born_s = e->born_s };
	bpf_ringbuf_output(&volley_refresh, &cpu->refresh, sizeof(cpu->refresh), 0);
}

/* For everyone, and the same until it expires: an answer of our own zones. */
static __always_inline int is_plain(const struct volley_entry *e)
{
	return !(e->key.view | e->n_ttls | e->refresh_s);
}

/* What it takes to answer from any other: -1, or a reason to go up. */
static __always_inline int admit(struct xdp_md *ctx, struct volley_cpu *cpu, struct volley_entry *e)
{
	int reason = -1;

	if (e->key.view)
		reason = client_check(ctx, cpu, e->key.view, &volley_clients);
	if (reason < 0 && e->n_ttls)
		reason = age_sum(cpu, e);
	if (reason < 0 && e->refresh_s)
		ask_anew(cpu, e);
	return reason;
}

/* The answer that was chosen, or what is said to who has had enough: -1. Else a reason. */
static __always_inline int limit(struct xdp_md *ctx, struct volley_cpu *cpu,
				 const struct volley_state *state)
{
	const __u32 zero = 0;
	struct volley_rrl *r = bpf_map_lookup_elem(&volley_rrl, &zero);
	struct volley_near *near;
	int reason;

	if (!r || !r->answer_cost) {
		cpu->rrl_carry = 0;
		return -1;
	}
	near = bpf_map_lookup_elem(&volley_near, &zero);
	if (!near)
		return -1;
	reason = limit_check(ctx, cpu, r, near);
	if (reason != VOLLEY_HIT_SLIPPED && reason != VOLLEY_HIT_BADCOOKIE)
		return reason;
	limit_slip(cpu, reason);
	return cpu->options ? options_make(ctx, cpu, &state->options[cpu->options_at & 1]) : -1;
}

/* What is sent of an entry to this client, while nothing is written yet: -1. Else a reason. */
static __always_inline int choose(struct xdp_md *ctx, struct volley_cpu *cpu,
				  const struct volley_state *state, struct volley_entry *e)
{
	int reason = entry_check(cpu, e, &volley_zones);

	if (reason != VOLLEY_HIT_FULL)
		return reason;
	reason = -1;
	if (!is_plain(e) && e->ede && cpu->edns)
		options_add_ede(cpu, e->ede - 1);
	if (unlikely(cpu->shared))
		reason = shared_choose(cpu, e);
	else
		reply_choose(cpu, e);
	if (reason < 0 && !is_plain(e))
		reason = admit(ctx, cpu, e);
	if (reason < 0 && unlikely(cpu->options))
		reason = options_make(ctx, cpu, &state->options[cpu->options_at & 1]);
	return reason < 0 ? limit(ctx, cpu, state) : reason;
}

/* Whether the answer may go back to this client. -1 or a reason. */
static __always_inline int allow(struct xdp_md *ctx, struct volley_cpu *cpu,
				 const struct volley_state *state, struct volley_link *link)
{
	int reason = -1;

	if (link->return_fib)
		reason = fib_check(ctx, cpu, link);
	if (reason < 0 && block_load(&cpu->block_kinds))
		reason = block_judge(ctx, cpu, state);
	return reason;
}

static __always_inline int answer(struct xdp_md *ctx, struct volley_cpu *cpu,
				  const struct volley_state *state, struct volley_link *link)
{
	const __u32 zero = 0;
	struct volley_entry *e;
	int reason;

	cpu->block_kinds =
		state->block_kinds; /* through memory: else all below were walked for each value */
	reason = packet_parse(cpu, state, link, ctx);
	if (reason >= 0 && unlikely(link->tunnels))
		reason = tunnel_parse(ctx, cpu, state, link, reason);
	if (reason < 0 && unlikely(link->return_fib | block_load(&cpu->block_kinds)))
		reason = allow(ctx, cpu, state, link);
	if (reason >= 0)
		return reason;
	reason = question_parse(ctx, cpu, state, link);
	if (reason >= 0)
		return reason;
	if (!link->driver_answers)
		return VOLLEY_UP_SWITCHED_OFF;
	read_clock(cpu, state);
	if (cpu->now_s >= state->serve_until_s)
		return VOLLEY_UP_ORPHANED;
	reason = unlikely(block_load(&cpu->block_kinds)) ? block_turn(ctx, cpu, state) : -1;
	if (reason >= 0)
		return reason;
	e = find_answer(cpu, state);
	if (!e)
		return (int)bounded(cpu->reason, REASON_MASK);
	reason = choose(ctx, cpu, state, e);
	if (reason >= 0)
		return reason;
	if (e->freq < VOLLEY_FREQ_MAX)
		e->freq++;
	reason = reply_send(ctx, cpu, state, e);
	if (unlikely(reason == VOLLEY_UP_NO_ROOM))
		limit_give_back(cpu, bpf_map_lookup_elem(&volley_rrl, &zero));
	return reason;
}

/*
 * -1 to hand it up, or a reason to drop it. Without a socket nobody works there, whatever a daemon
 * that was killed has left in `queue`.
 */
static __always_inline int shed(struct xdp_md *ctx, struct volley_cpu *cpu,
				const struct volley_state *state, struct volley_queue *queue)
{
	const __u32 zero = 0;
	__u32 number = ctx->rx_queue_index;
	int reason;

	if (!shed_is_behind(queue) || !bpf_map_lookup_elem(&xsks_map, &number) ||
	    client_of(ctx, cpu) >= 0)
		return -1;
	if (limit_is_over(cpu, bpf_map_lookup_elem(&volley_rrl, &zero)))
		reason = VOLLEY_DROP_SHARE;
	else
		reason = shed_judge(cpu, state, queue, number,
				    bpf_map_lookup_elem(&volley_shares, &zero));
	if (reason >= 0)
		queue->shed++;
	return reason;
}

static __always_inline int redirect(struct xdp_md *ctx, struct volley_cpu *cpu,
				    struct volley_queue *queue)
{
	long action;

	if (packet_has_more(ctx, cpu))
		return XDP_PASS;
	action = bpf_redirect_map(&xsks_map, ctx->rx_queue_index, XDP_PASS);
	if (action == XDP_REDIRECT) {
		cpu->to_worker++;
		if (queue)
			queue->handed++;
	}
	return (int)action;
}

static __always_inline int hand_up(struct xdp_md *ctx, struct volley_cpu *cpu,
				   const struct volley_state *state, __u32 reason)
{
	__u32 number = ctx->rx_queue_index;
	struct volley_queue *queue;
	int drop;

	cpu->reason = reason;
	forget_bounds();
	queue = bpf_map_lookup_elem(&volley_queues, &number);
	drop = queue ? shed(ctx, cpu, state, queue) : -1;
	reason = drop < 0 ? cpu->reason : (__u32)drop;
	if (reason < VOLLEY_N_REASONS)
		cpu->reasons[reason]++;
	return drop < 0 ? redirect(ctx, cpu, queue) : XDP_DROP;
}

/* The ring keeps the last hits that were drawn, and userspace reads it when it likes. */
static __always_inline void note_sample(struct volley_cpu *cpu)
{
	const __u32 zero = 0;
	const struct volley_link *link = bpf_map_lookup_elem(&volley_link, &zero);

	if (!link)
		return;
	cpu->samples[cpu->n_samples++ % VOLLEY_SAMPLES] = cpu->hash;
	cpu->sample_at = cpu->received + 1 +
			 (bpf_get_prandom_u32() & (VOLLEY_SAMPLE_GAP >> (link->finer & 15)));
}

/* Three instructions for the hits that are not drawn. */
static __always_inline void draw_sample(struct volley_cpu *cpu)
{
	if (cpu->received >= cpu->sample_at)
		note_sample(cpu);
}

/* A hit, by what it answered. Everything here is this CPU's alone. */
static __always_inline void count_answer(struct volley_cpu *cpu)
{
	const struct volley_key *key = (const void *)&cpu->folded[0];
	__u32 type = volley_count_type(bpf_ntohs(key->qtype));
	__u32 rcode = (bpf_ntohs(cpu->flags) & RCODE_HEADER_MASK) | cpu->opt_rcode << 4;
	__u64 *by_type = &cpu->answers.by_type[0][0];

	by_type[bounded(type * 2 + cpu->ipv6, 2 * VOLLEY_COUNT_TYPES - 1)]++;
	cpu->answers.by_rcode[bounded(rcode, VOLLEY_COUNT_RCODES - 1)]++;
	cpu->answers.by_zone[bounded(cpu->zone_counter, VOLLEY_COUNT_ZONES - 1)]++;
}

/* Counts the packet under its reason, or under that for which it is dropped. */
static __always_inline int act(struct xdp_md *ctx, struct volley_cpu *cpu,
			       const struct volley_state *state, __u32 reason)
{
	int action = XDP_TX;

	switch (reason) {
#define REASON_CASE(name, class, words) \
	case VOLLEY_##name:             \
		goto class;
		VOLLEY_REASONS(REASON_CASE)
	}
HIT:
	cpu->reasons[reason]++;
	count_answer(cpu);
	draw_sample(cpu);
	tap_hit(ctx, cpu, state);
	one_copy(action); /* else clang saves it before each draw */
	return action;
UP:
	return hand_up(ctx, cpu, state, reason);
PASSED:
	cpu->reasons[reason]++;
	return XDP_PASS;
DROPPED:
	cpu->reasons[reason]++;
	return XDP_DROP;
}

/*
 * A room that no other run of this CPU is in, or NULL. Atomic, since a run may be preempted here,
 * too. *key is 0 before and after, has a slot of the stack to itself, so that its value is known,
 * and there is no loop: so each room is for the verifier what room 0 is, and it walks what follows
 * once, not twice.
 */
static __always_inline struct volley_cpu *take_room(__u32 *key)
{
	struct volley_cpu *cpu = NULL;

#pragma unroll
	for (__u32 number = 1; number < VOLLEY_ROOMS; number++) {
		*key = number;
		cpu = bpf_map_lookup_elem(&volley_cpu, key);
		if (cpu && !__sync_val_compare_and_swap(&cpu->in_use, 0, 1))
			break;
		cpu = NULL;
	}
	*key = 0;
	return cpu;
}

/* Also room 0, which nobody takes: that is cheaper than to ask. */
static __always_inline void leave_room(struct volley_cpu *cpu)
{
	*(volatile __u32 *)&cpu->in_use = 0;
}

/* magic is read before realtime, and written behind it: a run that answers knows which kernel this
 * is. */
SEC("xdp")
int volley(struct xdp_md *ctx)
{
	__u32 key __attribute__((aligned(8))) = 0;
	volatile struct volley_state *state = bpf_map_lookup_elem(&volley_abi_9, &key);
	struct volley_link *link = bpf_map_lookup_elem(&volley_link, &key);
	struct volley_cpu *cpu = bpf_map_lookup_elem(&volley_cpu, &key);
	int reason = VOLLEY_PASS_UNCONFIGURED;
	int is_set_up, action;

	if (!state || !link || !cpu)
		return XDP_PASS;
	is_set_up = state->magic == VOLLEY_MAGIC;
	if (unlikely(state->realtime))
		cpu = take_room(&key);
	if (!cpu)
		return XDP_PASS;
	cpu->received++;
	if (is_set_up)
		reason = answer(ctx, cpu, (struct volley_state *)state, link);
	if (reason < 0 || reason >= VOLLEY_N_REASONS) { /* never: answer() gives a reason */
		leave_room(cpu);
		return XDP_PASS;
	}
	action = act(ctx, cpu, (struct volley_state *)state, (__u32)reason);
	leave_room(cpu);
	return action;
}

char _license[] SEC("license") = "Dual BSD/GPL";
