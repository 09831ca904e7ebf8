/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of memory, whose size belongs to the kernel: 4 KiB on x86-64, and 4, 16 or 64 KiB on arm64.
 *
 * Memory is freed within a mapping only by page_release(). madvise() itself refuses an address that
 * does not begin a page, and rounds a length up: so with larger pages it would keep memory, or take
 * that of the neighbour. Pure, but for page_release(). Any thread.
 */
#ifndef VOLLEY_BASE_PAGE_H
#define VOLLEY_BASE_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size of a page: a power of two. */
static inline size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* `n` octets, rounded up to whole pages. */
static inline uint64_t page_round(uint64_t n)
{
	return (n + page_bytes() - 1) / page_bytes() * page_bytes();
}

/*
 * The whole pages of `page` octets among the `n` octets at address `at`: sets *first to the first
 * one, and returns their octets together. 0: none is whole.
 */
static inline size_t page_inside(uintptr_t at, size_t n, size_t page, uintptr_t *first)
{
	uintptr_t end = (at + n) & ~(uintptr_t)(page - 1);

	*first = (at + page - 1) & ~(uintptr_t)(page - 1);
	return end > *first ? end - *first : 0;
}

/* Gives the whole pages of these `n` octets of private anonymous memory back: they read as zeros.
 * Octets in pages that reach further stay. */
static inline void page_release(void *at, size_t n)
{
	uintptr_t first;
	size_t inside = page_inside((uintptr_t)at, n, page_bytes(), &first);

	if (inside)
		(void)madvise((void *)first, inside, MADV_DONTNEED);
}

/* Maps an array map of the kernel into our memory, for reading and writing. Any thread. */

/* Maps the first `bytes` octets of the map's values. NULL: the kernel does not map them. */
static inline void *map_memory_open(int fd, size_t bytes)
{
	void *at = mmap(NULL, page_round(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* NULL is allowed. */
static inline void map_memory_close(void *at, size_t bytes)
{
	if (at)
		munmap(at, page_round(bytes));
}

#endif
