/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/cache_plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "config/words.h"
#include "control/daemon.h"

#define MIB_SHIFT 20

/* Of the sizes that may be configured the last one, in steps of a MiB, that suits n zones, or the first. */
static uint64_t find_bound(uint32_t n_zones, bool is_last)
{
	const struct words_key *key = words_find_key("cache.size");
	uint64_t low = key->min >> MIB_SHIFT, high = key->max >> MIB_SHIFT;
	struct cache_sizes sizes;

	while (low < high) {
		uint64_t middle = (low + high + is_last) / 2;
		int err = cache_sizes_plan(&sizes, middle << MIB_SHIFT, n_zones);

		if (is_last && err == -E2BIG)
			high = middle - 1;
		else if (is_last)
			low = middle;
		else if (err && err != -E2BIG)
			low = middle + 1;
		else
			high = middle;
	}
	return low << MIB_SHIFT;
}

static void refuse_size(const struct config *config, uint32_t n_zones, int code, char *err,
			size_t err_cap)
{
	char size[24], bound[24];

	words_put_size(config->cache_size_bytes, size, sizeof(size));
	words_put_size(find_bound(n_zones, code == -E2BIG), bound, sizeof(bound));
	if (code == -E2BIG)
		snprintf(err, err_cap, "cache.size: %s is too large: give at most %s", size, bound);
	else
		snprintf(err, err_cap, "cache.size: %s is too small for %u zones: give at least %s",
			 size, config->n_zones, bound);
}

int cache_plan(struct cache_sizes *sizes, const struct config *config, char *err, size_t err_cap)
{
	const uint32_t n_zones = config->n_zones + DAEMON_N_SLOTS;
	int code = cache_sizes_plan(sizes, config->cache_size_bytes, n_zones);

	if (code)
		refuse_size(config, n_zones, code, err, err_cap);
	else
		sizes->n_names_lines = config->cache_names_lines + config->cache_intervals_lines;
	return code;
}
