/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One's complement sums (RFC 1071) over octets as they lie in memory, without the last inversion.
 * The sum of the parts is the sum of the whole, if a part that begins at an odd offset has its
 * octets swapped.
 */
#ifndef VOLLEY_XDP_SUM_H
#define VOLLEY_XDP_SUM_H

#include <linux/types.h>

/* Folds a sum to 16 bits. */
static inline __attribute__((always_inline)) __u32 sum_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u32)((sum & 0xffff) + (sum >> 16));
}

/* A sum below 2^40 of octets that begin at `offset` in the whole: 256 times swaps, modulo 65535. */
static inline __attribute__((always_inline)) __u64 sum_at(__u64 sum, __u32 offset)
{
	return sum << (offset & 1) * 8;
}

#endif
