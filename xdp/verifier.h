/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Helpers that let the verifier of every kernel accept the code of every clang.
 *
 * clang keeps copies of a number: it compares one and uses another, or compares the lower 32 bits
 * and uses all 64. The verifier does not always apply the bounds of one copy to the other: before
 * Linux 6.9 not if a copy was on the stack in between, and on no kernel if it was moved as 32 bits.
 * So a comparison in C serves the program's logic, and proves nothing to the verifier. The rule:
 *
 *      A number that was loaded from a map or from a frame goes through bounded() where it becomes
 *      part of an address or a size.
 *
 * `make verify` asks the kernels that docs/testing.md names.
 */
#ifndef VOLLEY_XDP_VERIFIER_H
#define VOLLEY_XDP_VERIFIER_H

#include <linux/types.h>

#include "xdp/memory_order.h"

/*
 * `value` as 64 bits, with a proof that it is at most `mask`, a constant one less than a power of
 * two. It costs one instruction. The caller knows or has checked that no bit is lost.
 */
#ifdef __bpf__
#define bounded(value, mask)                                           \
	({                                                             \
		__u64 bounded_ = (value);                              \
		_Static_assert(!((mask) & ((mask) + 1ull)), "a mask"); \
		asm volatile("%0 &= %1" : "+r"(bounded_) : "i"(mask)); \
		bounded_;                                              \
	})
#else
#define bounded(value, mask) ((__u64)(value) & (mask))
#endif

/*
 * Zero, which the verifier does not know: `count` was loaded from a map and is below 2^31.
 *
 * Before Linux 6.7 the verifier walks the function that bpf_loop() calls only once, with what the
 * caller has stored before, and removes each branch that is not taken then. So a variable that the
 * function changes and that a branch depends on, in the function or after the loop, must not begin
 * with a number that the verifier knows.
 */
#define unknown_zero(count) ((__u32)(count) >> 31)

#ifndef unlikely /* bpf_helpers.h of libbpf 1.7 has the same */
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

/* Hides the origin of `value` from clang, which then has one copy of it and keeps each
 * comparison. */
#define one_copy(value) asm volatile("" : "+r"(value))

/*
 * Makes the compiler forget the values that it has stored. For the verifier, a branch or a loop
 * with many exits leaves as many states, each with other bounds of a length. If the length is
 * stored before this and loaded again after it, all these states become one.
 */
#define forget_bounds() asm volatile("" ::: "memory")

#endif
