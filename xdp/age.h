/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers from upstream age: each TTL in the reply is the TTL in the entry less the seconds since
 * the entry was published.
 *
 *   before the frame is touched   age_sum()    checks all TTLs, adds them to the checksum
 *   after the body is copied      age_write()  writes each aged TTL
 *
 * The sums in the entry take its TTLs as 0, so age_sum() adds the aged TTLs.
 */
#ifndef VOLLEY_XDP_AGE_H
#define VOLLEY_XDP_AGE_H

#include "xdp/abi.h"
#include "xdp/choose.h"
#include "xdp/key.h"
#include "xdp/sum.h"

#define TTL_BYTES     4
#define TTLS_MASK     0x1ffff /* two numbers of 16 bits */
#define TTLS_READ_MAX (VOLLEY_READ_MAX - VOLLEY_TTLS_MAX * sizeof(__u16))

/* a - b, or 0 if that is less. */
static __always_inline __u32 age_less(__u32 a, __u32 b)
{
	__s64 left = (__s64)a - b;
	__s64 keep = ~(left >> 63);

	one_copy(keep); /* else clang branches: twice the verifier's work for each TTL */
	return (__u32)(left & keep);
}

static __always_inline __u32 age_of(const struct volley_entry *e, const struct volley_cpu *cpu)
{
	return age_less(cpu->now_s, e->born_s);
}

/* Network byte order in and out. The result is never below 0. */
static __always_inline __be32 age_ttl(const void *at, __u32 age_s)
{
	return bpf_htonl(age_less(bpf_ntohl(*(const __be32 *)at), age_s));
}

/* The list of offsets, of which VOLLEY_TTLS_MAX may be read. NULL: the entry is damaged. */
static __always_inline const __u16 *age_list(const struct volley_entry *e)
{
	__u64 at = bounded(volley_ttls_offset(e), TTLS_MASK);

	return at > TTLS_READ_MAX ? NULL : (const void *)e + at;
}

/* Adds the TTLs in the part of the body that is sent to its sum. -1, or a reason to go up. */
static __always_inline int age_sum(struct volley_cpu *cpu, const struct volley_entry *e)
{
	__u32 body_offset = e->body_offset;
	__u32 body_bytes = cpu->body_bytes;
	const void *body = (const void *)e + bounded(body_offset, BODY_MASK);
	const __u16 *offsets = age_list(e);
	__u32 age_s = age_of(e, cpu);
	__u64 n = bounded(e->n_ttls, 0xffff);
	__u64 sum = 0;
	__u32 i;

	if (!body_bytes)
		/* TC=1: the answer may be long, and its list beyond VOLLEY_READ_MAX */
		return -1;
	if (n > VOLLEY_TTLS_MAX)
		return VOLLEY_UP_MANY_TTLS;
	if (!offsets || body_offset > BODY_OFFSET_MAX)
		return VOLLEY_UP_NO_ROOM;
	for (i = 0; i < VOLLEY_TTLS_MAX && i < n; i++) {
		__u64 offset = bounded(offsets[i], 0xffff);

		if (offset >= body_bytes)
			break;
		if (offset + TTL_BYTES > body_bytes || offset > VOLLEY_UDP_MAX)
			return VOLLEY_UP_NO_ROOM;
		sum += sum_at(age_ttl(body + offset, age_s), cpu->name_bytes + (__u32)offset);
	}
	cpu->body_sum += sum;
	return -1;
}

/* Writes the TTLs that age_sum() has checked into the body at `at` in the frame. -1 or a reason. */
static __always_inline int age_write(struct xdp_md *ctx, const struct volley_cpu *cpu,
				     const struct volley_entry *e, __u32 at)
{
	const void *end = (void *)(long)ctx->data_end;
	void *body = (void *)(long)ctx->data + bounded(at, HEAD_MASK);
	const __u16 *offsets = age_list(e);
	__u32 body_bytes = cpu->body_bytes;
	__u32 age_s = age_of(e, cpu);
	__u64 n = bounded(e->n_ttls, 0xffff);
	__u32 i;

	if (!body_bytes)
		return -1;
	if (!offsets)
		return VOLLEY_DROP_EDIT;
	for (i = 0; i < VOLLEY_TTLS_MAX && i < n; i++) {
		__u64 offset = bounded(offsets[i], 0xffff);
		__be32 *ttl;

		if (offset >= body_bytes)
			break;
		ttl = body + offset;
		if (offset > VOLLEY_UDP_MAX || (void *)(ttl + 1) > end)
			return VOLLEY_DROP_EDIT;
		*ttl = age_ttl(ttl, age_s);
	}
	return -1;
}

#endif
