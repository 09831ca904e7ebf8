// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Volley's XDP program. It answers queries from the answer cache, hands up queries that it cannot
 * answer, and passes packets that are not ours. docs/architecture.md describes the design.
 *
 *   packet.h    is the packet ours?                       no: XDP_PASS, untouched
 *   tunnel.h    or is it ours in a tunnel?                no: the same
 *   fib.h       does the answer leave by this interface?  no: the same
 *   blocked.h   is the client blocked?                    yes: dropped, or REFUSED or TC=1 below
 *   question.h  is the query understood?                  no: up, untouched
 *   blocked.h   is the name or the type blocked?          yes: the same, in place
 *   lookup.h    has the cache an answer for this client?  no: up, untouched
 *   deny.h      or has it a shared answer?                no: up, untouched
 *   interval.h  whose proofs cover this name, too
 *   choose.h    the part of the answer that has room
 *   age.h       its TTLs, where it is from upstream       too many: up, untouched
 *   options.h   COOKIE and NSID, if asked for             unusual: up, untouched
 *   limit.h     is the client over its rate limit?        yes: TC=1, BADCOOKIE or XDP_DROP
 *   reply.h     the answer, in place                      XDP_TX
 *
 * A packet that goes up reaches the AF_XDP socket of the receive queue or, without a socket, the
 * kernel's stack. If the socket's worker is too far behind, shed.h drops the packet instead.
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
#include "xdp/map_list.h" /* before the headers whose functions use maps by name */
#include "xdp/deny.h"
#include "xdp/nsec3.h"
#include "xdp/interval.h"
#include "xdp/reply.h"
#include "xdp/shed.h"
#include "xdp/clock.h"
#include "xdp/blocked.h"
#include "xdp/tap.h"
#include "xdp/limit.h"

int find_shared(struct volley_cpu *cpu, const struct volley_state *state, __u32 kind);
int find_interval(struct volley_cpu *cpu, const struct volley_state *state, __u32 expanded);
int find_for_name(struct volley_cpu *cpu, const struct volley_state *state);

/* The entry at a word of the index, if it has this hash, valid or not. */
static __always_inline struct volley_entry *entry_of(struct volley_cpu *cpu, __u64 word, __u64 hash)
{
	struct volley_entry *e;

	if (word >> 32 != volley_tag(hash) || !(__u32)word)
		return NULL;
	cpu->location = (__u32)word;
	e = entry_at(&volley_store, (__u32)word);
	return e && e->hash == hash ? e : NULL;
}

/* Searches one bucket, first the slot that most entries have. */
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
 * The first entry with this hash, or NULL. There is at most one for each view, except for a moment
 * when two threads publish it. The caller checks its key, validity and view, once and not in each
 * slot.
 */
static __always_inline struct volley_entry *find(struct volley_cpu *cpu,
						 const struct volley_state *state, __u64 hash)
{
	struct volley_entry *e = find_in(cpu, hash, volley_bucket(hash, state->n_buckets));

	return e ? e : find_in(cpu, hash, volley_bucket2(hash, state->n_buckets));
}

/* Finds the shared answer of this kind, at cpu->location: -1, or a reason to go up. Global, so the
 * verifier walks it once. */
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
 * The entry that was found may be of a newer version of the zone than the names that the walk has
 * read. Names and points are added before a version is served, and its answers are published later.
 * So if the filter and the leaf still give the same result, it holds for this entry, too. -1, or a
 * reason to go up.
 */
static __always_inline int find_again(struct volley_cpu *cpu, const struct volley_state *state)
{
	if (!order_fence(&cpu->fence))
		return VOLLEY_UP_MISS;
	return deny_again(cpu, state);
}

/* The note for the region of this zone. */
static __always_inline struct volley_region_note *region_note(struct volley_cpu *cpu)
{
	return &cpu->regions[bounded(cpu->apex_hash, VOLLEY_REGIONS_NOTED - 1)];
}

/*
 * 1, and cpu->region_at and region_id are the zone's, if they are noted and the region has not been
 * replaced since. Else 0. The zone's denial, from which they were noted, may have expired. The
 * entry of the interval belongs to the same zone, and its validity is checked.
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

/* Reads the zone's region from its denial, the entry at cpu->location, and notes it: -1, or a
 * reason to go up. */
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

/* Finds the entry of the name's interval in the zone's region, at cpu->location: -1, or a reason to
 * go up. */
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

/* The part of find_for_name() for queries with DO, after the zone's denial is found. `expanded`: a
 * wildcard may stand for the name. */
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

/* Finds the shared answer to a query, at cpu->location: -1, or a reason to go up. */
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
 * The shared answer to a query, or NULL and a reason to go up in cpu->reason. One query in
 * VOLLEY_CHECK_EVERY goes up all the same: the worker's answer shows whether the driver's would be
 * right (userspace/shield/shield.h).
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
 * Whether most of the last answers were shared ones. It is read anew each time, since the stack has
 * no room for it; a search that finds nothing does not change it.
 */
static __always_inline int is_flood(const struct volley_cpu *cpu)
{
	return load_once(&cpu->shared_lead) >= VOLLEY_LEAD_FIRST;
}

#define REASON_MASK 127
_Static_assert(VOLLEY_N_REASONS <= REASON_MASK, "a reason that is kept in memory");

/*
 * The answer to a query, or NULL and a reason to go up in cpu->reason. The name's own entry is
 * looked up first, unless most answers are shared ones, as under an attack with random names: then
 * the program need not wait for the two buckets, which have no entry for such a name. Either order
 * gives the same answer, since a name that our zones do not have has no other answer.
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

/* Reports once that the answer expires soon and is still asked for. Without a reader nothing is
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

/* An answer of our own zones, for all clients, with TTLs that do not age. */
static __always_inline int is_plain(const struct volley_entry *e)
{
	return !(e->key.view | e->n_ttls | e->refresh_s);
}

/* The checks before any other entry is sent: -1, or a reason to go up. */
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

/* Applies the rate limit. -1: send the chosen answer, or the one that has replaced it. Else a
 * reason. */
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

/* Makes all choices for the answer to this client; nothing is written yet. -1, or a reason. */
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

/* Whether this client may get an answer by this interface. -1 or a reason. */
static __always_inline int allow(struct xdp_md *ctx, struct volley_cpu *cpu,
				 const struct volley_state *state, struct volley_link *link)
{
	int reason = -1;

	if (link->return_fib)
		reason = fib_check(ctx, cpu, link);
	if (reason < 0 && load_once(&cpu->block_kinds))
		reason = block_judge(ctx, cpu, state);
	return reason;
}

static __always_inline int answer(struct xdp_md *ctx, struct volley_cpu *cpu,
				  const struct volley_state *state, struct volley_link *link)
{
	const __u32 zero = 0;
	struct volley_entry *e;
	int reason;

	/* through memory: else the verifier walks the rest once for each value */
	cpu->block_kinds = state->block_kinds;
	reason = packet_parse(cpu, state, link, ctx);
	if (reason >= 0 && unlikely(link->tunnels))
		reason = tunnel_parse(ctx, cpu, state, link, reason);
	if (reason < 0 && unlikely(link->return_fib | load_once(&cpu->block_kinds)))
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
	reason = unlikely(load_once(&cpu->block_kinds)) ? block_turn(ctx, cpu, state) : -1;
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
 * -1 to hand the packet up, or a reason to drop it. Without a socket the queue has no worker, even
 * if a daemon that was killed has left counts in `queue`. A packet that goes up early has not read
 * the clock yet.
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
	read_clock(cpu, state);
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

/* Notes a hit in the ring of the latest samples, which userspace reads at any time. */
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

/* It costs three instructions for a hit that is not noted. */
static __always_inline void draw_sample(struct volley_cpu *cpu)
{
	if (cpu->received >= cpu->sample_at)
		note_sample(cpu);
}

/* Counts a hit by type, response code and zone. All this memory belongs to this CPU alone. */
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

/* Counts the packet under its reason, or under the reason for which it is dropped. */
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
 * A room that no other run of this CPU uses, or NULL. Atomic, since a run may be preempted here,
 * too. The verifier must see no difference between the rooms, else it walks the rest of the program
 * twice. So *key is 0 before and after, and has a stack slot of its own, which keeps its value
 * known; and the loop is unrolled.
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

/* It also clears room 0, which no run takes: a check would cost more. */
static __always_inline void leave_room(struct volley_cpu *cpu)
{
	*(volatile __u32 *)&cpu->in_use = 0;
}

/* Userspace writes magic after realtime, and the program reads it first: so a run that answers
 * knows which kernel this is. */
SEC("xdp")
int volley(struct xdp_md *ctx)
{
	__u32 key __attribute__((aligned(8))) = 0;
	volatile struct volley_state *state = bpf_map_lookup_elem(&volley_abi_10, &key);
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
	if (reason < 0 || reason >= VOLLEY_N_REASONS) { /* never: answer() returns a reason */
		leave_room(cpu);
		return XDP_PASS;
	}
	action = act(ctx, cpu, (struct volley_state *)state, (__u32)reason);
	leave_room(cpu);
	return action;
}

char _license[] SEC("license") = "Dual BSD/GPL";
