/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order in which the driver sees what userspace stores, and the reverse.
 *
 * x86 keeps the order of loads and that of stores. arm64 keeps neither: it orders two accesses only
 * by a dependency, a barrier or a release/acquire pair. BPF has load-acquire from Linux 6.15 on,
 * and Volley needs 5.18 only. So the program uses nothing but these, as the JIT of arm64 compiles
 * them (arch/arm64/net/bpf_jit_comp.c) and the kernel's model allows (tools/memory-model):
 *
 *      load, volatile or not               ldr: ordered by dependencies alone
 *      an address computed from a load     the second load comes after the first, also through a
 *                                          key on the stack or a value that this CPU has stored
 *      a branch on a load                  orders later stores, not later loads
 *      compare-and-swap that succeeds      a full barrier: casal, or ldxr/stlxr and dmb ish
 *      compare-and-swap that fails         nothing: the dmb is skipped
 *      fetch-and-add whose result is used  a full barrier
 *      add without result                  nothing
 *
 * Userspace stores with release, or by an atomic instruction that includes it. What the two sides
 * share follows one of these rules:
 *
 *      published places      index words, words of block tables: the thing is filled, then its word
 *                            is stored with release. The reader loads the word once, and reaches
 *                            the thing by an address computed from it.
 *      chosen tables         services_at, options_at: the table that is not chosen is filled, then
 *                            its number is stored. The number is part of the address.
 *      a second look         a denial with proofs: after the entry is found, order_fence(), and
 *                            then filter and leaf are read again. All names and points of the
 *                            entry's version were stored before the entry's word. If both looks
 *                            agree, the result holds for that version; the order of the loads
 *                            within a look does not matter. The inner lines of a region, and its
 *                            head, are reached by addresses from the entry.
 *      taken places          volley_limited: `bits` is cleared by compare-and-swap, then the key
 *                            taken, the address written, and `bits` set, each by compare-and-swap.
 *                            A place whose bits are 0 is being written: nobody else takes it. The
 *                            reader looks at key and bits before and after its copy.
 *      services              a slot's family is stored last; all three words are compared. A mix of
 *                            an old address and the new family matches only what was served before
 *                            this change.
 *      single words          settings, switches, times, counters, the filter's id and bits: each is
 *                            read once and means something alone. A run may see one of them old and
 *                            another one new, as on x86 if a change comes in its midst.
 *
 * "Done" never rests on any of this: a command that changes or withdraws waits for a grace period
 * (userspace/cache/keeper.h). Each run that began before has then ended, and each later run sees
 * all stores from before. So memory that is used again, and a switch that must be off, are safe by
 * grace periods alone.
 */
#ifndef VOLLEY_XDP_MEMORY_ORDER_H
#define VOLLEY_XDP_MEMORY_ORDER_H

#include <linux/types.h>

/*
 * Reads once a value that another thread may change, or that the verifier should treat so, and
 * writes one that another thread may read. Userspace does it by relaxed atomics: the same
 * instructions, and ThreadSanitizer knows them.
 */
#ifdef __bpf__
#define load_once(where)         (*(const volatile __typeof__(*(where)) *)(where))
#define store_once(where, value) ((void)(*(volatile __typeof__(*(where)) *)(where) = (value)))
#else
#define load_once(where)         __atomic_load_n(where, __ATOMIC_RELAXED)
#define store_once(where, value) __atomic_store_n(where, value, __ATOMIC_RELAXED)
#endif

/*
 * A full barrier: loads behind it come after loads before it. `place` is a word of this CPU's
 * memory that is always 0. False if it is not, and then this was no barrier.
 */
#define order_fence(place) (!__sync_val_compare_and_swap((place), 0, 0))

#endif
