/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by xdpcost and front.bpf.c: one frame, and the place in it of a number.
 *
 *   Ethernet │ IP │ UDP │ DNS header │ 7, letters (the number drawn) rest of the question │ OPT
 *   ◄────────── put back ───────────► ◄──── one word, put ─────► ◄──────── put back ───────────►
 */
#ifndef VOLLEY_TESTS_PERF_FRONT_H
#define VOLLEY_TESTS_PERF_FRONT_H

#include <linux/types.h>

#define FRONT_FRAME_MAX 384
#define FRONT_LETTERS   7 /* with the length octet, one word */
#define FRONT_NUMBERS   (1u << 28)
#define FRONT_TARGETS   3

/* Set before the program is loaded. */
struct front_config {
	__u32 frame_bytes; /* at most FRONT_FRAME_MAX */
	__u32 name_offset; /* in the frame */
	__u32 tail_offset; /* behind the question; frame_bytes, or at least 8 octets before it */
	__u32 first;       /* numbers first to first + n - 1 are drawn, of 28 bits */
	__u32 n;
	__u32 source_offset; /* of the client's address, if it is drawn, too; 0: it stays */
	__u32 ipv6;
};

/* The number as a label of 7 letters from a to p, the lowest 4 bits first. */
static inline __attribute__((always_inline)) __u64 front_label(__u32 number)
{
	__u64 word = number;

	word = (word | word << 16) & 0x0000ffff0000ffffull;
	word = (word | word << 8) & 0x00ff00ff00ff00ffull;
	word = (word | word << 4) & 0x0f0f0f0f0f0f0f0full;
	return (word + 0x6161616161616161ull) << 8 | FRONT_LETTERS;
}

#endif
