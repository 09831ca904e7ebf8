/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel's verifier must be told in its own words, on every kernel and by every clang.
 *
 * clang keeps copies of a number: it compares one and uses another, or compares the lower 32 bits
 * and uses all 64. What a verifier learns of one copy it does not always know of the other: before
 * Linux 6.9 not if that was on the stack in between, and on no kernel if it was moved as 32 bits.
 * So a comparison in C is there for the program's sense, and proves nothing. The rule:
 *
 *      A number that was loaded from a map or from a frame goes through bounded() where it becomes
 *      part of an address or a size.
 *
 * `make verify` asks the kernels that docs/testing.md names.
 */
#ifndef VOLLEY_XDP_VERIFIER_H
#define VOLLEY_XDP_VERIFIER_H

#include <linux/types.h>

/*
 * `value` as 64 bits, and the verifier sees that it is at most `mask`: a constant, a power of two
 * less one. One instruction. Whoever calls this knows already that no bit is lost, or has compared.
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

/* What changes behind the compiler's back, or what the verifier should take for that, is read
 * once. */
#define load_once(where) (*(const volatile __typeof__(*(where)) *)(where))

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* From here on clang knows nothing of `value`, and so has one copy of it, and compares it when told
 * to. */
#define one_copy(value) asm volatile("" : "+r"(value))

/*
 * The compiler takes nothing for known that it has stored before. For the verifier, a branch or a
 * loop with many exits leaves as many states, each with other bounds of some length. A length that
 * goes through memory is stored and, behind this, loaded anew: all these states become one.
 */
#define forget_bounds() asm volatile("" ::: "memory")

#endif
