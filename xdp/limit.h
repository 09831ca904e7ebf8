/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rate limiting in the driver: finds the clients that are near a limit, and replaces or drops an
 * answer that is over it. rrl.h has the arithmetic, which userspace shares.
 *
 *   limit_check()   every hit: only this CPU's own table       far below: goes on
 *   limit_judge()   a client near its limit: the shared table  room: goes on
 *   limit_slip()    over: TC=1, or BADCOOKIE if the query has a cookie; or DROP_LIMITED
 *
 * The functions that are not inlined are global: the verifier walks each once, with a stack of its
 * own.
 */
#ifndef VOLLEY_XDP_LIMIT_H
#define VOLLEY_XDP_LIMIT_H

#include "xdp/abi.h"
#include "xdp/lookup.h"
#include "xdp/options.h"
#include "xdp/packet.h"
#include "xdp/question.h"
#include "xdp/rrl.h"

#define RCODE_BADCOOKIE      23
#define RCODE_HEADER_MASK    0x000f
#define RCODE_BADCOOKIE_HIGH (RCODE_BADCOOKIE >> 4) /* in OPT */
#define DNS_HEADER_KEPT      (DNS_QR | DNS_RA)      /* of the answer's flags, in BADCOOKIE */
#define DNS_RA               0x0080

int limit_judge(struct xdp_md *ctx, struct volley_cpu *cpu, struct volley_rrl *r);
int limit_over(struct xdp_md *ctx, struct volley_cpu *cpu, struct volley_rrl *r);
int limit_is_over(struct volley_cpu *cpu, const struct volley_rrl *r);
int limit_give_back(struct volley_cpu *cpu, const struct volley_rrl *r);

/* The source's prefix in the first stage. -1 or a reason. */
static __always_inline int limit_prefix(struct xdp_md *ctx, const struct volley_cpu *cpu,
					__u64 *prefix)
{
	const void *end = (void *)(long)ctx->data_end;
	const void *l3 = (void *)(long)ctx->data + bounded(cpu->l3_offset, OFFSET_MASK);

	if (l3 + sizeof(struct ipv6hdr) > end)
		return VOLLEY_PASS_RUNT; /* never: with UDP and DNS, an IPv4 packet is as long */
	if (cpu->ipv6)
		*prefix =
			rrl_near_prefix_ipv6(*(const __u64 *)&((const struct ipv6hdr *)l3)->saddr);
	else
		*prefix = rrl_near_prefix_ipv4(((const struct iphdr *)l3)->saddr);
	return -1;
}

/* After the answer is chosen: as limit_judge(). */
static __always_inline int limit_check(struct xdp_md *ctx, struct volley_cpu *cpu,
				       struct volley_rrl *r, struct volley_near *near)
{
	__u32 octets = DNS_HEADER + cpu->name_bytes + 4 + cpu->body_bytes + cpu->opt_bytes;
	__u64 prefix;
	int reason;

	cpu->rrl_carry = 0;
	if (unlikely(cpu->cookie_good)) {
		cpu->rrl_exempt++;
		return -1;
	}
	reason = limit_prefix(ctx, cpu, &prefix);
	if (reason >= 0)
		return reason;
	cpu->rrl_cost = rrl_cost(r, octets);
	cpu->rrl_carry = rrl_near(near, r, prefix, cpu->now_ms + r->ahead_ms, cpu->rrl_cost);
	return cpu->rrl_carry ? limit_judge(ctx, cpu, r) : -1;
}

static __always_inline void limit_client(struct rrl_client *client, const struct volley_cpu *cpu)
{
	__builtin_memcpy(client->address, cpu->client.address, sizeof(client->address));
	client->is_ipv6 = cpu->ipv6;
}

/* rrl_charge(), compiled once for each family, so the verifier meets no branch on it. */
static __always_inline int limit_charge(struct volley_cpu *cpu, const struct volley_rrl *r,
					struct rrl_client *client, __u64 now_ms)
{
	if (client->is_ipv6) {
		client->is_ipv6 = 1;
		return rrl_charge(cpu->tries, NULL, r, client, now_ms, cpu->rrl_cost,
				  cpu->rrl_carry);
	}
	client->is_ipv6 = 0;
	return rrl_charge(cpu->tries, NULL, r, client, now_ms, cpu->rrl_cost, cpu->rrl_carry);
}

/* Prefix cpu->rrl_over is over its limit: counts the packet and decides on its answer, as
 * limit_judge(). */
__noinline int limit_over(struct xdp_md *ctx, struct volley_cpu *cpu, struct volley_rrl *r)
{
	const void *end = (void *)(long)ctx->data_end;
	const void *data = (void *)(long)ctx->data;
	struct rrl_client client;
	enum rrl_verdict verdict;
	const __u16 *id;

	if (!cpu || !r)
		return -1;
	id = data + bounded(cpu->dns_offset, OFFSET_MASK);
	if ((const void *)(id + 1) > end)
		return VOLLEY_PASS_RUNT;
	limit_client(&client, cpu);
	verdict = rrl_slip(r, &client, *id, cpu->now_ms + r->ahead_ms);
	rrl_list(r, &client, cpu->rrl_over, verdict, cpu->now_s);
	if (r->dry_run) {
		cpu->rrl_dry++;
		return -1;
	}
	if (verdict == RRL_DROPPED)
		return VOLLEY_DROP_LIMITED;
	return cpu->options & VOLLEY_OPTION_COOKIE ? VOLLEY_HIT_BADCOOKIE : VOLLEY_HIT_SLIPPED;
}

/* -1: send the answer. Else VOLLEY_HIT_SLIPPED, VOLLEY_HIT_BADCOOKIE or VOLLEY_DROP_LIMITED. */
__noinline int limit_judge(struct xdp_md *ctx, struct volley_cpu *cpu, struct volley_rrl *r)
{
	struct rrl_client client;
	const __u32 *views;

	if (!cpu || !r || client_of(ctx, cpu) >= 0)
		return -1;
	if (r->has_exempt) {
		/* Linux 6.1 does not accept a key in the memory of a global function's argument. */
		const struct volley_client key = cpu->client;

		views = bpf_map_lookup_elem(&volley_clients, &key);
		if (views && *views & VOLLEY_CLIENT_EXEMPT) {
			cpu->rrl_carry = 0;
			cpu->rrl_exempt++;
			return -1;
		}
	}
	cpu->rrl_judged++;
	limit_client(&client, cpu);
	cpu->rrl_over = limit_charge(cpu, r, &client, cpu->now_ms + r->ahead_ms);
	if (cpu->rrl_over < 0)
		return -1;
	cpu->rrl_carry = 0;
	return limit_over(ctx, cpu, r);
}

/*
 * Takes back the charge of limit_judge() for an answer that had no room in the frame: a worker
 * answers, and charges the client itself. The load in the first stage stays: it is small.
 */
__noinline int limit_give_back(struct volley_cpu *cpu, const struct volley_rrl *r)
{
	__u64 now_ms;
	int i;

	if (!cpu || !r || !cpu->rrl_carry)
		return 0;
	now_ms = cpu->now_ms + r->ahead_ms;
	RRL_UNROLL
	for (i = 0; i < RRL_PREFIXES_V4; i++)
		rrl_give_back(&cpu->tries[i], r, rrl_weigh(cpu->rrl_carry, cpu->ipv6, i), now_ms);
	if (cpu->ipv6)
		rrl_give_back(&cpu->tries[4], r, rrl_weigh(cpu->rrl_carry, 1, 4), now_ms);
	return 0;
}

/*
 * Whether a prefix of cpu->client is at its limit, for a packet that goes up while the worker is
 * behind. Nothing is charged: the worker charges the client if it answers.
 */
__noinline int limit_is_over(struct volley_cpu *cpu, const struct volley_rrl *r)
{
	struct rrl_client client;
	__u64 now_ms;

	if (!cpu || !r || !r->answer_cost || r->dry_run)
		return 0;
	limit_client(&client, cpu);
	now_ms = cpu->now_ms + r->ahead_ms;
	if (client.is_ipv6) {
		client.is_ipv6 = 1;
		return rrl_is_full(cpu->tries, r, &client, now_ms);
	}
	client.is_ipv6 = 0;
	return rrl_is_full(cpu->tries, r, &client, now_ms);
}

/*
 * Replaces the chosen answer by one without a body: TC=1 or BADCOOKIE, by `reason`. No limit bounds
 * these, so they have no option but the cookie of BADCOOKIE. The caller makes the options' part of
 * its sum anew.
 */
static __always_inline void limit_slip(struct volley_cpu *cpu, int reason)
{
	cpu->reason = (__u32)reason;
	options_keep(cpu, VOLLEY_OPTION_COOKIE);
	cpu->body_bytes = 0;
	cpu->body_sum = 0;
	cpu->ancount = 0;
	cpu->nscount = 0;
	cpu->arcount = bpf_htons(cpu->edns);
	cpu->opt_rcode = reason == VOLLEY_HIT_BADCOOKIE ? RCODE_BADCOOKIE_HIGH : 0;
	if (reason == VOLLEY_HIT_BADCOOKIE)
		cpu->flags = (cpu->flags & bpf_htons(DNS_HEADER_KEPT)) |
			     bpf_htons(RCODE_BADCOOKIE & RCODE_HEADER_MASK);
	else
		cpu->flags |= bpf_htons(DNS_TC);
	forget_bounds();
}

#endif
