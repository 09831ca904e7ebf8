/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The EDNS options that the driver answers: COOKIE (RFC 7873, RFC 9018) and NSID (RFC 5001). It
 * also adds extended errors (RFC 8914).
 *
 *   query    OPT │ options: where COOKIE lies, whether NSID is there
 *                question.h: options_note()
 *   answer   body │ OPT │ COOKIE, 28 octets │ NSID │ EDE, 6 octets
 *                options_make(), options_write()
 *
 * A query without these costs one branch for each step. options_make() is a global function: the
 * verifier walks it once, by itself, with its own stack. A query with an unusual option goes up.
 */
#ifndef VOLLEY_XDP_OPTIONS_H
#define VOLLEY_XDP_OPTIONS_H

#include "xdp/abi.h"
#include "xdp/cookie.h"
#include "xdp/packet.h"
#include "xdp/sum.h"

#define EDNS_OPT_BYTES     11
#define OPTION_NSID        3
#define OPTION_COOKIE      10
#define OPTION_EDE         15
#define EDE_BYTES          6
#define OPTION_HEAD_BYTES  4
#define OPTION_MASK        2047 /* VOLLEY_QUERY_MAX */
#define OPTION_EXPIRE      9
#define OPTION_TYPE_SOA    6
#define COOKIE_CLIENT_ONLY 8
#define COOKIE_WHOLE       24
#define COOKIE_LEAST       16
#define COOKIE_MOST        40
#define NSID_WORDS_MAX     8

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_cookies);
} volley_cookies SEC(".maps");

int options_make(struct xdp_md *ctx, struct volley_cpu *cpu, const struct volley_options *o);

/*
 * Notes the COOKIE of a query, with its value at `at` in the message. Only the first counts (RFC
 * 7873 section 5.2), and its length has to be right even if the server has no secret. -1, or a
 * reason to go up.
 */
static __always_inline int options_note_cookie(struct volley_cpu *cpu, __u32 n_secrets, __u32 at,
					       __u32 bytes)
{
	if (cpu->options & (VOLLEY_OPTION_COOKIE | VOLLEY_OPTION_PLAIN))
		return -1;
	if (bytes != COOKIE_CLIENT_ONLY && (bytes < COOKIE_LEAST || bytes > COOKIE_MOST))
		return VOLLEY_UP_OPTION;
	if (!n_secrets) {
		cpu->options |= VOLLEY_OPTION_PLAIN;
		return -1;
	}
	cpu->options |= VOLLEY_OPTION_COOKIE;
	cpu->cookie_at = (__u16)at;
	cpu->cookie_bytes = (__u8)bytes;
	cpu->opt_bytes += OPTION_HEAD_BYTES + COOKIE_WHOLE;
	return -1;
}

/*
 * Notes an option of option_up_mask, with its value at `at` in the message. -1, or a reason to go
 * up. EXPIRE counts in questions for the SOA (RFC 7314): a worker hands the question of a secondary
 * over, but no secondary asks for a name that does not exist.
 */
static __always_inline int options_note(struct volley_cpu *cpu, const struct volley_state *state,
					__u32 code, __u32 at, __u32 bytes)
{
	__u32 which = cpu->options_at & 1;
	const struct volley_options *o = &state->options[which];

	if (code == OPTION_COOKIE)
		return options_note_cookie(cpu, o->n_secrets, at, bytes);
	if (code == OPTION_EXPIRE) {
		const struct volley_key *key = (const void *)&cpu->folded[0];

		if (key->qtype == bpf_htons(OPTION_TYPE_SOA))
			cpu->options |= VOLLEY_OPTION_EXPIRE;
		return -1;
	}
	if (code == OPTION_NSID && o->nsid_bytes) {
		if (!(cpu->options & VOLLEY_OPTION_NSID))
			cpu->opt_bytes = (__u16)(cpu->opt_bytes + o->nsid_bytes);
		cpu->options |= VOLLEY_OPTION_NSID;
		return -1;
	}
	return VOLLEY_UP_OPTION;
}

/* Takes all options but these out of the answer: COOKIE, EDE or both. */
static __always_inline void options_keep(struct volley_cpu *cpu, __u8 which)
{
	__u16 bytes = EDNS_OPT_BYTES;

	cpu->options &= which;
	if (cpu->options & VOLLEY_OPTION_COOKIE)
		bytes += OPTION_HEAD_BYTES + COOKIE_WHOLE;
	if (cpu->options & VOLLEY_OPTION_EDE)
		bytes += EDE_BYTES;
	cpu->opt_bytes = cpu->edns ? bytes : 0;
}

/* Adds an extended error to the answer. To call before the body is chosen; the query has EDNS. */
static __always_inline void options_add_ede(struct volley_cpu *cpu, __u8 code)
{
	cpu->options |= VOLLEY_OPTION_EDE;
	cpu->ede = code;
	cpu->opt_bytes += EDE_BYTES;
}

/* The source address in the form for the hash. -1 or a reason. */
static __always_inline int cookie_client(struct volley_cookie_client *client, struct xdp_md *ctx,
					 const struct volley_cpu *cpu)
{
	const void *end = (void *)(long)ctx->data_end;
	const void *l3 = (void *)(long)ctx->data + bounded(cpu->l3_offset, OFFSET_MASK);
	const __u32 *from;

	if (l3 + sizeof(struct ipv6hdr) > end)
		return VOLLEY_UP_OPTIONS; /* never: with UDP and DNS, an IPv4 packet is as long */
	client->is_ipv6 = cpu->ipv6;
	if (!cpu->ipv6) {
		client->address[0] = ((const struct iphdr *)l3)->saddr;
		client->address[1] = 0;
		return -1;
	}
	from = ((const struct ipv6hdr *)l3)->saddr.in6_u.u6_addr32;
	client->address[0] = from[0] | (__u64)from[1] << 32;
	client->address[1] = from[2] | (__u64)from[3] << 32;
	return -1;
}

/*
 * The slot for this client's cookie. NULL if runs of a CPU may preempt each other (VOLLEY_ROOMS):
 * one could read a slot that another has half written.
 */
static __always_inline struct volley_good_cookie *
cookie_slot(const struct volley_cpu *cpu, const struct volley_cookie_client *client)
{
	const __u32 zero = 0;
	struct volley_cookies *cookies;

	if (cpu->in_use)
		return NULL;
	cookies = bpf_map_lookup_elem(&volley_cookies, &zero);
	if (!cookies)
		return NULL;
	return &cookies->slots[bounded(volley_cookie_slot(cpu->cookie, client),
				       VOLLEY_GOOD_COOKIES - 1)];
}

static __always_inline __u64 cookie_secret_digest(const __u64 secret[2],
						  const struct volley_cookie_client *client)
{
	return (secret[0] ^ secret[1] * VOLLEY_COOKIE_MIX) + client->is_ipv6;
}

/* Whether the slot has this cookie. Its age is not checked. */
static __always_inline int cookie_is(const struct volley_good_cookie *slot, const __u64 cookie[3],
				     const struct volley_cookie_client *client, __u64 digest)
{
	__u64 differs = (slot->head[0] ^ cookie[0]) | (slot->head[1] ^ cookie[1]) |
			(slot->hash ^ cookie[2]) | (slot->address[0] ^ client->address[0]) |
			(slot->address[1] ^ client->address[1]) | (slot->secret ^ digest);

	return slot->hash && !differs;
}

/*
 * As volley_cookie_judge(), but hashes each cookie of a client once: resolvers send the same one
 * for half an hour. Only a cookie of the first secret that is not due for renewal is kept.
 */
static __always_inline enum volley_cookie cookie_judge(struct volley_cpu *cpu,
						       const struct volley_options *o,
						       const struct volley_cookie_client *client)
{
	__u64 digest = cookie_secret_digest(o->secrets[0], client);
	struct volley_good_cookie *slot = cookie_slot(cpu, client);
	enum volley_cookie verdict;

	if (slot && cookie_is(slot, cpu->cookie, client, digest) &&
	    volley_cookie_is_fresh(cpu->cookie, cpu->wall_s))
		return VOLLEY_COOKIE_GOOD;
	verdict = volley_cookie_judge(cpu->cookie, o->secrets, o->n_secrets, client, cpu->wall_s);
	if (!slot || verdict != VOLLEY_COOKIE_GOOD)
		return verdict;
	slot->head[0] = cpu->cookie[0];
	slot->head[1] = cpu->cookie[1];
	slot->address[0] = client->address[0];
	slot->address[1] = client->address[1];
	slot->secret = digest;
	slot->hash = cpu->cookie[2];
	return verdict;
}

/* Makes the answer's COOKIE in cpu->cookie_head and cpu->cookie. -1 or a reason. */
static __always_inline int cookie_answer(struct xdp_md *ctx, struct volley_cpu *cpu,
					 const struct volley_options *o)
{
	enum volley_cookie verdict = VOLLEY_COOKIE_BAD;
	struct volley_cookie_client client = {};
	int reason = cookie_client(&client, ctx, cpu);
	const void *end = (void *)(long)ctx->data_end;
	const __u64 *asked = (void *)(long)ctx->data + bounded(cpu->dns_offset, OFFSET_MASK) +
			     bounded(cpu->cookie_at, OPTION_MASK);

	if (reason >= 0)
		return reason;
	if ((const void *)(asked + 1) > end)
		return VOLLEY_UP_OPTIONS;
	cpu->cookie_head = bpf_htonl(OPTION_COOKIE << 16 | COOKIE_WHOLE);
	cpu->cookie[0] = asked[0];
	if (cpu->cookie_bytes == COOKIE_WHOLE) {
		if ((const void *)(asked + 3) > end)
			return VOLLEY_UP_OPTIONS;
		cpu->cookie[1] = asked[1];
		cpu->cookie[2] = asked[2];
		verdict = cookie_judge(cpu, o, &client);
	}
	cpu->cookie_good = verdict != VOLLEY_COOKIE_BAD;
	if (verdict != VOLLEY_COOKIE_GOOD)
		volley_cookie_make(cpu->cookie, o->secrets[0], &client, cpu->wall_s);
	return -1;
}

/*
 * After reply_choose(), while the query is whole: makes the options and adds them and OPT's length
 * field to the body's sum. Both begin at an odd offset in OPT. -1 or a reason to go up.
 */
__noinline int options_make(struct xdp_md *ctx, struct volley_cpu *cpu,
			    const struct volley_options *o)
{
	__u64 sum;
	__u32 i;

	if (!cpu || !o || (cpu->options & VOLLEY_OPTION_EXPIRE && !cpu->shared))
		return VOLLEY_UP_OPTION;
	sum = bpf_htons((__u16)(cpu->opt_bytes - EDNS_OPT_BYTES));
	if (cpu->options & VOLLEY_OPTION_COOKIE) {
		int reason = cookie_answer(ctx, cpu, o);

		if (reason >= 0)
			return reason;
		sum += cpu->cookie_head;
#pragma unroll
		for (i = 0; i < 3; i++)
			sum += (cpu->cookie[i] & 0xffffffff) + (cpu->cookie[i] >> 32);
	}
	if (cpu->options & VOLLEY_OPTION_NSID)
		sum += o->nsid_sum;
	cpu->body_sum += sum_at(sum, cpu->name_bytes + cpu->body_bytes + 1u);
	if (cpu->options & VOLLEY_OPTION_EDE) /* the last option */
		cpu->body_sum +=
			sum_at((__u64)bpf_htons(OPTION_EDE) + bpf_htons(2) + bpf_htons(cpu->ede),
			       cpu->name_bytes + cpu->body_bytes + (__u32)cpu->opt_bytes);
	return -1;
}

/* Counts the cookie of a query that is answered here; the engine counts those of queries that go
 * up. */
static __always_inline void cookie_count(struct volley_cpu *cpu)
{
	if (cpu->cookie_good)
		cpu->cookies_good++;
	else if (cpu->cookie_bytes == COOKIE_CLIENT_ONLY)
		cpu->cookies_new++;
	else
		cpu->cookies_bad++;
}

/*
 * Writes NSID at `at` in the frame. A short one is copied by words, the last of which ends with it:
 * a call of bpf_xdp_store_bytes() costs more.
 */
static __always_inline int nsid_write(struct xdp_md *ctx, __u32 at, const struct volley_options *o)
{
	void *end = (void *)(long)ctx->data_end;
	void *to = (void *)(long)ctx->data + bounded(at, FRAME_MASK);
	__u64 rest = bounded(o->nsid_bytes - 1, VOLLEY_NSID_BYTES - 1), last;
	__u32 i;

	if (rest < 7 || rest >= NSID_WORDS_MAX * 8)
		return bpf_xdp_store_bytes(ctx, at, (void *)o->nsid, (__u32)rest + 1) ?
			       VOLLEY_DROP_EDIT :
			       -1;
	for (i = 0; i < NSID_WORDS_MAX && i < (rest + 1) / 8; i++) {
		if (to + i * 8 + 8 > end)
			return VOLLEY_DROP_EDIT;
		*(__u64 *)(to + i * 8) = *(const __u64 *)(o->nsid + i * 8);
	}
	last = bounded(rest - 7, NSID_WORDS_MAX * 8 - 1);
	to += last;
	if (to + 8 > end)
		return VOLLEY_DROP_EDIT;
	*(__u64 *)to = *(const __u64 *)(o->nsid + last);
	return -1;
}

/* Writes the extended error before `at` in the frame, where OPT ends. */
static __always_inline int ede_write(struct xdp_md *ctx, const struct volley_cpu *cpu, __u32 at)
{
	const void *end = (void *)(long)ctx->data_end;
	__be16 *option = (void *)(long)ctx->data + bounded(at - EDE_BYTES, FRAME_MASK);

	if ((void *)(option + 3) > end)
		return VOLLEY_DROP_EDIT;
	option[0] = bpf_htons(OPTION_EDE);
	option[1] = bpf_htons(2);
	option[2] = bpf_htons(cpu->ede);
	return -1;
}

/* Writes the options behind the answer's OPT header, and their length into it. -1 or a reason to
 * drop. */
static __always_inline int options_write(struct xdp_md *ctx, struct volley_cpu *cpu,
					 const struct volley_options *o)
{
	const void *end = (void *)(long)ctx->data_end;
	int reason = -1;
	__u32 opt_at;
	__u64 at;
	void *opt;

	if (!cpu || !o)
		return VOLLEY_DROP_EDIT;
	opt_at = cpu->dns_offset + DNS_HEADER + cpu->name_bytes + 4u + cpu->body_bytes;
	at = bounded(opt_at, FRAME_MASK);
	opt = (void *)(long)ctx->data + at;
	if (opt + EDNS_OPT_BYTES > end)
		return VOLLEY_DROP_EDIT;
	*(__be16 *)(opt + 9) = bpf_htons((__u16)(cpu->opt_bytes - EDNS_OPT_BYTES));
	at += EDNS_OPT_BYTES;
	if (cpu->options & VOLLEY_OPTION_COOKIE) {
		opt += EDNS_OPT_BYTES;
		if (opt + OPTION_HEAD_BYTES + COOKIE_WHOLE > end)
			return VOLLEY_DROP_EDIT;
		*(__be32 *)opt = cpu->cookie_head;
		*(__u64 *)(opt + 4) = cpu->cookie[0];
		*(__u64 *)(opt + 12) = cpu->cookie[1];
		*(__u64 *)(opt + 20) = cpu->cookie[2];
		cookie_count(cpu);
		at += OPTION_HEAD_BYTES + COOKIE_WHOLE;
	}
	if (cpu->options & VOLLEY_OPTION_NSID)
		reason = nsid_write(ctx, (__u32)at, o);
	if (reason < 0 && cpu->options & VOLLEY_OPTION_EDE)
		reason = ede_write(ctx, cpu, opt_at + cpu->opt_bytes);
	return reason;
}

#endif
