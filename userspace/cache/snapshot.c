/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/siphash.h"
#include "cache/snapshot_format.h"
#include "cache/generations.h"

int snapshot_begin(struct snapshot **out, struct cache *cache)
{
	uint32_t n = cache->memory.sizes.n_zones;
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int err;

	if (!snapshot)
		return -ENOMEM;
	*snapshot = (struct snapshot){ .cache = cache, .n_zones = n };
	snapshot->zones = calloc(n, sizeof(struct volley_zone));
	err = snapshot->zones ? cache_zone_watch(cache) : -ENOMEM;
	if (err) {
		free(snapshot->zones);
		free(snapshot);
		return err;
	}
	memcpy(snapshot->zones, cache->memory.zones, n * sizeof(struct volley_zone));
	*out = snapshot;
	return 0;
}

void snapshot_end(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	cache_zone_watch_end(snapshot->cache);
	free(snapshot->zones);
	free(snapshot);
}

uint64_t snapshot_header_sum(const struct snapshot_header *header)
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "volley snapshot";

	return siphash24(key, header, offsetof(struct snapshot_header, sum));
}

uint64_t snapshot_sum(uint64_t before, const struct snapshot_block *block, const void *bytes)
{
	const uint64_t parts[2] = { before, (uint64_t)block->n_bytes << 32 | block->kind };
	uint8_t key[SIPHASH_KEY_BYTES];

	_Static_assert(sizeof(parts) == sizeof(key), "the key is what goes before");
	memcpy(key, parts, sizeof(key));
	return siphash24(key, bytes, block->n_bytes);
}

bool snapshot_is_one(int fd)
{
	uint64_t magic;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	return !st.st_size || (pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
			       magic == SNAPSHOT_MAGIC);
}
