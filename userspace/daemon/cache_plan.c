/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/answer_cache.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "config/words.h"
#include "report/report_view.h"

#define MIB_SHIFT 20

/* The smallest size that may be configured, in steps of a MiB, for n zones. */
static uint64_t find_least(uint32_t n_zones)
{
	const struct words_key *key = words_find_key("cache.size");
	uint64_t low = key->min >> MIB_SHIFT, high = key->max >> MIB_SHIFT;
	struct cache_sizes sizes;

	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (cache_sizes_plan(&sizes, middle << MIB_SHIFT, n_zones))
			low = middle + 1;
		else
			high = middle;
	}
	return low << MIB_SHIFT;
}

static void refuse_size(const struct config *config, uint32_t n_zones, char *err, size_t err_cap)
{
	char size[24], least[24];

	words_put_size(config->cache_size_bytes, size, sizeof(size));
	words_put_size(find_least(n_zones), least, sizeof(least));
	snprintf(err, err_cap, "cache.size: %s is too small for %u zones: give at least %s", size,
		 n_zones - N_OTHER_SLOTS, least);
}

/* The host's memory; UINT64_MAX: not known. */
static uint64_t memory_bytes(void)
{
	long n_pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

	return n_pages > 0 && page_bytes > 0 ? (uint64_t)n_pages * (uint64_t)page_bytes :
					       UINT64_MAX;
}

static void refuse_memory(const struct config *config, char *err, size_t err_cap)
{
	char size[24], memory[24];

	words_put_size(config->cache_size_bytes, size, sizeof(size));
	words_put_size(memory_bytes() >> MIB_SHIFT << MIB_SHIFT, memory, sizeof(memory));
	snprintf(err, err_cap, "cache.size: %s is more than the memory of this host, %s: give less",
		 size, memory);
}

int cache_plan(struct cache_sizes *sizes, const struct config *config, char *err, size_t err_cap)
{
	const uint32_t n = config->n_zones > config->cache_zones ? config->n_zones :
								   config->cache_zones;
	const uint32_t n_zones = n + N_OTHER_SLOTS;
	int code = cache_sizes_plan(sizes, config->cache_size_bytes, n_zones);

	if (code) {
		refuse_size(config, n_zones, err, err_cap);
		return code;
	}
	if (sizes->total_bytes > memory_bytes()) {
		refuse_memory(config, err, err_cap);
		return -ENOMEM;
	}
	sizes->n_names_lines = config->cache_names_lines + config->cache_intervals_lines;
	return 0;
}
