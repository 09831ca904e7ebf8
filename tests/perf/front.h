/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What xdpcost and front.bpf.c share: one frame, and where in it a number is written.
 *
 *   Ethernet │ IP │ UDP │ DNS header │ 8 letters (the number drawn) rest of the name │ ...
 */
#ifndef VOLLEY_TESTS_PERF_FRONT_H
#define VOLLEY_TESTS_PERF_FRONT_H

#include <linux/types.h>

#define FRONT_FRAME_MAX 384
#define FRONT_LETTERS   8
#define FRONT_TARGETS   3

/* Set before the program is loaded. */
struct front_config {
	__u32 frame_bytes;    /* at most FRONT_FRAME_MAX */
	__u32 letters_offset; /* of the frame */
	__u32 first;          /* numbers first to first + n - 1 are drawn */
	__u32 n;
};

/* The number as 8 letters from a to p, the lowest 4 bits first. */
static inline __attribute__((always_inline)) __u64 front_letters(__u32 number)
{
	__u64 word = number;

	word = (word | word << 16) & 0x0000ffff0000ffffull;
	word = (word | word << 8) & 0x00ff00ff00ff00ffull;
	word = (word | word << 4) & 0x0f0f0f0f0f0f0f0full;
	return word + 0x6161616161616161ull;
}

#endif
