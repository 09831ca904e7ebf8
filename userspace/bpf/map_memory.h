/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps an array map of the kernel into our memory, for reading and writing. Any thread. */
#ifndef VOLLEY_BPF_MAP_MEMORY_H
#define VOLLEY_BPF_MAP_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

#include "base/page.h"

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
