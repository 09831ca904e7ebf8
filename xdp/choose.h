/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the part of the entry's body and the header for this query. Nothing is written yet: each
 * fault of an entry is found here or in age.h, while the query is still whole.
 */
#ifndef VOLLEY_XDP_CHOOSE_H
#define VOLLEY_XDP_CHOOSE_H

#include "xdp/abi.h"
#include "xdp/question.h"

#define BODY_OFFSET_MAX (sizeof(struct volley_entry) + VOLLEY_NAME_BYTES)
#define BODY_MASK       511 /* holds it, and a body behind that is still within VOLLEY_READ_MAX */

/* No body, and TC=1, with the flags that are chosen. */
static __always_inline void choose_truncated(struct volley_cpu *cpu)
{
	cpu->reason = VOLLEY_HIT_TRUNCATED;
	cpu->body_bytes = 0;
	cpu->body_sum = 0;
	cpu->flags |= bpf_htons(DNS_TC);
	cpu->ancount = 0;
	cpu->nscount = 0;
	cpu->arcount = bpf_htons(cpu->edns);
	forget_bounds();
}

/*
 * The first that has room in the client's reply: the whole body, the short body, or no body and
 * TC=1. The choice goes through memory: else the verifier would follow three states, and a branch
 * on EDNS would double them (so arcount adds cpu->edns).
 */
static __always_inline void reply_choose(struct volley_cpu *cpu, const struct volley_entry *e)
{
	__u32 fixed = DNS_HEADER + cpu->name_bytes + 4 + cpu->opt_bytes;
	__u32 arcount;

	cpu->flags = e->flags;
	cpu->ancount = e->ancount;
	cpu->nscount = e->nscount;
	if (fixed + e->full_bytes <= cpu->reply_limit) {
		cpu->reason = VOLLEY_HIT_FULL;
		cpu->body_bytes = e->full_bytes;
		cpu->body_sum = e->full_sum;
		arcount = bpf_ntohs(e->arcount_full);
	} else if (fixed + e->short_bytes <= cpu->reply_limit) {
		cpu->reason = VOLLEY_HIT_SHORT;
		cpu->body_bytes = e->short_bytes;
		cpu->body_sum = e->short_sum;
		arcount = bpf_ntohs(e->arcount_short);
	} else {
		cpu->reason = VOLLEY_HIT_TRUNCATED;
		cpu->body_bytes = 0;
		cpu->body_sum = 0;
		cpu->flags |= bpf_htons(DNS_TC);
		cpu->ancount = 0;
		cpu->nscount = 0;
		arcount = 0;
	}
	cpu->arcount = bpf_htons((__u16)(arcount + cpu->edns));
	forget_bounds();
}

/* AD only if the query has AD or DO set (RFC 6840 section 5.8). */
static __always_inline __be16 reply_flags(const struct volley_cpu *cpu, __be16 asked)
{
	const struct volley_key *key = (const void *)&cpu->folded[0];
	__be16 ad = key->flags & VOLLEY_KEY_DO ? bpf_htons(DNS_AD) : 0;

	return (cpu->flags & (ad | asked | (__be16)~bpf_htons(DNS_AD))) |
	       (asked & bpf_htons(DNS_RD | DNS_CD));
}

_Static_assert(BODY_OFFSET_MAX <= BODY_MASK, "no bit of an offset is lost");
_Static_assert(BODY_MASK + VOLLEY_UDP_MAX <= VOLLEY_READ_MAX, "what may be read of an entry");

#endif
