/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noroom: the share of new answers for which a small cache has no segment, since emptied segments
 * wait for a grace period. It is a simulation: during each grace period it publishes a number of
 * new answers of 144 octets, and none is asked for again. Without a clock, the figures are the same
 * on every machine.
 */
#include <stdio.h>

#include "tests/unit/cache/world.h"

#define COUNTED 100000u /* answers, once the cache is full */

struct load {
	struct world w;
	uint32_t per_grace;
	uint64_t next, n_skipped;
};

static void publish(struct load *l)
{
	static const uint8_t body[56]; /* 144 octets with header and name */
	struct cache_key key = key_of(l->w.cache, (1ull << 32) + l->next++);
	struct cache_answer a = { .body = body,
				  .full_bytes = sizeof(body),
				  .zone_slot = l->w.slot,
				  .zone_gen = l->w.gen,
				  .expires_s = VOLLEY_NEVER };
	int err = cache_publish(l->w.writer, &key, &a, WORLD_NOW_S);

	MUST(!err || err == -ENOSPC);
	l->n_skipped += err == -ENOSPC;
}

/* Publishes, as workers do, while the keeper waits. */
static int publish_meanwhile(void *user)
{
	struct load *l = user;

	for (uint32_t i = 0; i < l->per_grace; i++)
		publish(l);
	return 0;
}

static double skipped_percent(uint64_t bytes, uint32_t per_grace)
{
	struct load l = { .per_grace = per_grace };
	uint64_t full;

	world_open(&l.w, bytes);
	while (!l.w.cache->wanted)
		publish(&l);
	full = l.next;
	while (l.next < full + COUNTED) {
		publish(&l);
		if (!l.w.cache->wanted)
			continue;
		l.w.cache->wanted = false;
		cache_keep(l.w.cache, WORLD_NOW_S, publish_meanwhile, &l);
	}
	world_close(&l.w);
	return 100.0 * (double)l.n_skipped / (double)(l.next - full);
}

int main(void)
{
	static const uint64_t mib[] = { 5, 8, 16, 32, 64 };
	static const uint32_t per_grace[] = { 500, 1000, 2000, 4000, 8000 };

	printf("| MiB |");
	for (size_t i = 0; i < sizeof(per_grace) / sizeof(per_grace[0]); i++)
		printf(" %u |", per_grace[i]);
	puts("\n| --: | --: | --: | --: | --: | --: |");
	for (size_t m = 0; m < sizeof(mib) / sizeof(mib[0]); m++) {
		printf("| %llu |", (unsigned long long)mib[m]);
		for (size_t i = 0; i < sizeof(per_grace) / sizeof(per_grace[0]); i++)
			printf(" %.1f %% |", skipped_percent(mib[m] << 20, per_grace[i]));
		putchar('\n');
	}
	return 0;
}
