/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One's complement sums (RFC 1071) over octets as they lie in memory, without the last inversion.
 * The sum of the parts is the sum of the whole, if a part that begins at an odd offset has its
 * octets swapped.
 */
#ifndef VOLLEY_XDP_SUM_H
#define VOLLEY_XDP_SUM_H

#include <linux/types.h>

/* To 16 bits. */
static inline __attribute__((always_inline)) __u32 sum_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u32)((sum & 0xffff) + (sum >> 16));
}

/* A folded sum of octets that begin at `offset` in the whole. */
static inline __attribute__((always_inline)) __u32 sum_at(__u32 folded, __u32 offset)
{
	return offset & 1 ? (folded << 8 & 0xff00) | folded >> 8 : folded;
}

#endif
