/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/memory.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/page.h"

#define HUGE_PAGE_BYTES (2u << 20)

static size_t memory_store_bytes(const struct cache_sizes *s)
{
	return (size_t)s->n_segments * VOLLEY_SEGMENT_BYTES;
}

static size_t memory_index_bytes(const struct cache_sizes *s)
{
	return page_round((size_t)s->n_buckets * VOLLEY_BUCKET_SLOTS * sizeof(uint64_t));
}

static size_t memory_zones_bytes(const struct cache_sizes *s)
{
	return page_round((size_t)s->n_zones * sizeof(struct volley_zone));
}

/* All but the zones, which two caches may share. */
static size_t memory_own_bytes(const struct cache_sizes *s)
{
	return memory_store_bytes(s) + memory_index_bytes(s) +
	       page_round(sizeof(struct volley_state));
}

/* Maps ordinary pages at an address where a huge page can begin. */
static uint8_t *map_aligned(size_t bytes)
{
	uint8_t *base = mmap(NULL, bytes + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (base == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)base % HUGE_PAGE_BYTES;
	if (before)
		munmap(base, before);
	munmap(base + before + bytes, HUGE_PAGE_BYTES - before);
	return base + before;
}

/* Replaces the first `bytes` of ordinary pages by huge pages, all or none. */
static void try_huge(uint8_t *base, size_t bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 21 << MAP_HUGE_SHIFT;
	void *huge = MAP_FAILED;

	if (bytes)
		huge = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (huge != MAP_FAILED &&
	    mremap(huge, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, base) != MAP_FAILED)
		return;
	if (huge != MAP_FAILED)
		munmap(huge, bytes);
	madvise(base, bytes, MADV_HUGEPAGE); /* a failure is ignored: not every kernel has it */
}

static int map_own(struct cache_memory *memory, const struct cache_sizes *sizes)
{
	uint8_t *base = map_aligned(memory_own_bytes(sizes));

	if (!base)
		return -ENOMEM;
	try_huge(base, memory_store_bytes(sizes) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES);
	*memory = (struct cache_memory){ .sizes = *sizes, .store = base };
	base += memory_store_bytes(sizes);
	memory->index = (uint64_t *)base;
	base += memory_index_bytes(sizes);
	memory->state = (struct volley_state *)base;
	return 0;
}

int cache_memory_anonymous(struct cache_memory *memory, const struct cache_sizes *sizes)
{
	void *zones = mmap(NULL, memory_zones_bytes(sizes), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (zones == MAP_FAILED)
		return -ENOMEM;
	if (map_own(memory, sizes)) {
		munmap(zones, memory_zones_bytes(sizes));
		return -ENOMEM;
	}
	memory->zones = zones;
	return 0;
}

int cache_memory_anonymous_beside(struct cache_memory *memory, const struct cache_sizes *sizes,
				  const struct cache_memory *shared)
{
	int err = map_own(memory, sizes);

	if (!err)
		memory->zones = shared->zones;
	return err;
}

void cache_memory_release_beside(struct cache_memory *memory)
{
	size_t huge = memory_store_bytes(&memory->sizes) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;

	if (!memory->store)
		return;
	munmap(memory->store, huge); /* apart: these may be huge pages */
	munmap(memory->store + huge, memory_own_bytes(&memory->sizes) - huge);
	*memory = (struct cache_memory){ 0 };
}

void cache_memory_release(struct cache_memory *memory)
{
	if (memory->zones)
		munmap(memory->zones, memory_zones_bytes(&memory->sizes));
	cache_memory_release_beside(memory);
}
