/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prepares the hashes of all suffixes of the folded name, in one pass. cpu->suffix_before has the
 * sum of the octets before each suffix, each times a secret number for its distance from the end;
 * then each hash takes one subtraction.
 */
#ifndef VOLLEY_XDP_SUFFIXES_H
#define VOLLEY_XDP_SUFFIXES_H

#include "xdp/abi.h"
#include "xdp/names.h"
#include "xdp/packet.h"
#include "xdp/question.h"

struct suffix_walk {
	struct volley_cpu *cpu;
	const __u64 *keys;
	__u64 sum;  /* of the octets before the next label */
	__u32 next; /* the number of these octets */
};

/* Notes where a suffix begins, and steps over its first label. 1: the root is reached. */
static long suffix_note(__u32 number, struct suffix_walk *walk)
{
	struct volley_cpu *cpu = walk->cpu;
	const __u8 *name = (const __u8 *)&cpu->folded[1];
	__u64 at = bounded(number, VOLLEY_SUFFIXES - 1);
	__u32 from = (__u32)bounded(walk->next, DNS_NAME_MAX);
	__u32 to_end = cpu->name_bytes - 1 - from;
	__u64 sum = walk->sum;
	__u32 i;

	cpu->suffix_before[at] = sum;
	cpu->suffix_from[at] = (__u8)from;
	cpu->n_suffixes = (__u32)at + 1;
	/* Each read loads it anew, so all ends of the loop are one state for the verifier. */
	cpu->label_bytes = name[from];
	for (i = 0; i <= LABEL_BYTES_MAX && i <= load_once(&cpu->label_bytes); i++)
		sum += volley_names_part(walk->keys, name[bounded(from + i, DNS_NAME_MAX)],
					 to_end - i);
	walk->sum = sum;
	walk->next = from + load_once(&cpu->label_bytes) + 1;
	return !load_once(&cpu->label_bytes);
}

/* Fills cpu->suffix_*, and returns the sum of the whole name. The verifier walks the loop once. */
static __always_inline __u64 suffixes_note(struct volley_cpu *cpu, const __u64 *keys)
{
	struct suffix_walk walk = { .cpu = cpu, .keys = keys };

	bpf_loop(VOLLEY_SUFFIXES, suffix_note, &walk, 0);
	return walk.sum;
}

/* The hash of suffix number `at` of a name with this sum. */
static __always_inline __u64 suffix_hash(const struct volley_cpu *cpu, __u64 sum, __u64 at)
{
	return volley_names_hash(sum - cpu->suffix_before[at]);
}

#endif
