/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers that many names share: the body has the same octets for each name, except its pointers
 * into the question.
 *
 *      entry's key      │ *  │ example.com │            body: pointer to example.com
 *      question         │ long-label │ example.com │    body: pointer + the difference in length
 *
 * A pointer to the beginning of the question stays. userspace/engine/shared_answer.h makes these
 * entries.
 */
#ifndef VOLLEY_XDP_SHARED_H
#define VOLLEY_XDP_SHARED_H

#include "xdp/abi.h"
#include "xdp/choose.h"
#include "xdp/packet.h"
#include "xdp/question.h"
#include "xdp/sum.h"

#define SHARED_BODY_MAX 2047 /* a mask: offset of the end of the body in an entry */
#define POINTER_BYTES   2

/*
 * The struct behind the body of a shared answer. NULL: the entry is none. Loops over its pointers
 * load n_pointers anew: else clang 19 concludes from an earlier comparison that it need not compare
 * with VOLLEY_SHARED_POINTERS, and the verifier cannot conclude that.
 */
static __always_inline const struct volley_shared *shared_of(const struct volley_entry *e)
{
	__u32 at = e->body_offset + (__u32)e->short_bytes;

	if (at > SHARED_BODY_MAX || e->body_offset > BODY_OFFSET_MAX ||
	    e->full_bytes != e->short_bytes + sizeof(struct volley_shared))
		return NULL;
	return (const void *)e + bounded(at, SHARED_BODY_MAX);
}

/* How much longer the question is than the key's name; below 0: shorter. */
static __always_inline __u32 shared_longer(const struct volley_cpu *cpu)
{
	return cpu->name_bytes - cpu->shared_bytes;
}

/* The same, to add to a one's complement sum, in which 65535 is 0. */
static __always_inline __u32 shared_longer_sum(const struct volley_cpu *cpu)
{
	__u32 longer = shared_longer(cpu);

	return (longer & 0xffff) - (longer >> 31);
}

/* Whether the entry answers this question, in a reply of any length: -1, or a reason to go up. */
static __always_inline int shared_fits(const struct volley_cpu *cpu, const struct volley_shared *s)
{
	__u32 i;

	if (s->intervals_id || s->n_pointers > VOLLEY_SHARED_POINTERS ||
	    cpu->name_bytes < s->name_min || cpu->name_bytes > s->name_max)
		return VOLLEY_UP_MISS;
	for (i = 0; i < VOLLEY_SHARED_SUFFIXES; i++)
		if (cpu->below == s->suffixes[i])
			return VOLLEY_UP_MAYBE;
	return -1;
}

/* Whether the client's reply has room for the answer. */
static __always_inline int shared_has_room(const struct volley_cpu *cpu,
					   const struct volley_entry *e)
{
	__u32 fixed = DNS_HEADER + cpu->name_bytes + 4 + cpu->opt_bytes;

	return fixed + e->short_bytes <= cpu->reply_limit;
}

/* As reply_choose(), for a shared answer: -1, or a reason to go up. */
static __always_inline int shared_choose(struct volley_cpu *cpu, const struct volley_entry *e)
{
	const struct volley_shared *s = shared_of(e);
	__u32 longer, i;
	int reason;
	__u64 sum;

	reason = s ? shared_fits(cpu, s) : VOLLEY_UP_MISS;
	if (reason >= 0)
		return reason;
	cpu->flags = e->flags;
	if (!shared_has_room(cpu, e)) {
		choose_truncated(cpu);
		return -1;
	}
	cpu->reason = cpu->shared == VOLLEY_KEY_WILDCARD ? VOLLEY_HIT_WILDCARD : VOLLEY_HIT_DENIED;
	cpu->ancount = e->ancount;
	cpu->nscount = e->nscount;
	cpu->arcount = bpf_htons((__u16)(bpf_ntohs(e->arcount_short) + cpu->edns));
	cpu->body_bytes = e->short_bytes;
	longer = shared_longer_sum(cpu);
	sum = sum_at(e->short_sum, shared_longer(cpu));
	for (i = 0; i < VOLLEY_SHARED_POINTERS && i < load_once(&s->n_pointers); i++) {
		if (s->pointers[i] + POINTER_BYTES > e->short_bytes)
			return VOLLEY_UP_MISS;
		sum += sum_at(bpf_htons((__u16)longer), cpu->name_bytes + s->pointers[i]);
	}
	cpu->body_sum = sum;
	forget_bounds();
	return -1;
}

/* Adjusts the pointers of the body at `at` in the frame. -1 or a reason. */
static __always_inline int shared_write(struct xdp_md *ctx, const struct volley_cpu *cpu,
					const struct volley_entry *e, __u32 at)
{
	const void *end = (void *)(long)ctx->data_end;
	void *body = (void *)(long)ctx->data + bounded(at, HEAD_MASK);
	const struct volley_shared *s = shared_of(e);
	__u32 i;

	if (!cpu->body_bytes)
		return -1; /* TC=1 or BADCOOKIE: no body */
	if (!s)
		return VOLLEY_DROP_EDIT;
	for (i = 0; i < VOLLEY_SHARED_POINTERS && i < load_once(&s->n_pointers); i++) {
		__be16 *pointer = body + bounded(s->pointers[i], SHARED_BODY_MAX);

		if ((void *)(pointer + 1) > end)
			return VOLLEY_DROP_EDIT;
		*pointer = bpf_htons((__u16)(bpf_ntohs(*pointer) + shared_longer(cpu)));
	}
	return -1;
}

_Static_assert(SHARED_BODY_MAX + sizeof(struct volley_shared) <= VOLLEY_READ_MAX,
	       "what may be read of an entry");

#endif
