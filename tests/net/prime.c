/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prime IF N: puts N answers into the cache of the Volley program on the interface IF, as the dead
 * daemon would have done: n0, n1, ... below z.test, type A, for the one zone that is valid there.
 * The address is 10.x.y.z of the number. No daemon runs meanwhile.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/err.h"
#include "cache/cache.h"
#include "bpf/found.h"
#include "broker/program.h"

struct primer {
	struct program *program;
	struct object_maps maps;
	struct cache *cache;
	struct cache_writer *writer;
	uint32_t zone_slot;
};

static int open_maps(struct primer *p, const char *ifname)
{
	struct program_want want = { .ifname = ifname, .driver_answers = true };
	char err[512] = "";
	struct found found;
	int code = found_look(&found, (int)if_nametoindex(ifname));

	if (!code)
		code = found.kind == FOUND_VOLLEY ? found_sizes(&found.maps, &want.sizes) : -1;
	found_close(&found);
	if (!code)
		code = program_open(&p->program, &p->maps, &want, err, sizeof(err));
	if (code)
		fprintf(stderr, "prime: %s: %s\n", err, err_text(code));
	return code;
}

static int open_cache(struct primer *p)
{
	bool adopted;
	int err = cache_new(&p->cache, &p->maps.memory, &adopted);

	if (err || !adopted)
		return err ? err : -1;
	while (!p->maps.memory.zones[p->zone_slot].gen)
		if (++p->zone_slot == p->maps.memory.sizes.n_zones)
			return -1;
	return cache_writer_new(&p->writer, p->cache);
}

static int put(struct primer *p, uint32_t i)
{
	uint8_t body[16] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4 };
	struct cache_answer answer = {
		.body = body,
		.full_bytes = sizeof(body),
		.short_bytes = sizeof(body),
		.ancount = 1,
		.flags = 0x8400,
		.zone_slot = p->zone_slot,
		.zone_gen = p->maps.memory.zones[p->zone_slot].gen,
		.expires_s = VOLLEY_NEVER,
	};
	uint32_t net_address = htonl(10u << 24 | i);
	struct cache_key key;
	uint8_t name[32];
	int n = snprintf((char *)name + 1, sizeof(name) - 1, "n%u", i);

	name[0] = (uint8_t)n;
	memcpy(name + 1 + n, "\1z\4test", 8);
	memcpy(body + 12, &net_address, 4);
	cache_key_init(&key, p->cache, name, (uint32_t)n + 9, 1, 1, 0, 0);
	return cache_publish(p->writer, &key, &answer, clock_coarse_s());
}

int main(int argc, char **argv)
{
	struct primer p = { .zone_slot = 1 };
	uint32_t i, n = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	int err = n ? open_maps(&p, argv[1]) : -1;

	rcu_register_thread();
	if (!err)
		err = open_cache(&p);
	for (i = 0; !err && i < n; i++) {
		err = put(&p, i);
		rcu_quiescent_state();
	}
	if (err)
		fprintf(stderr, "prime: entry %u: %s\n", i, err_text(err));
	cache_writer_free(p.writer);
	cache_free(p.cache);
	program_close(p.program, true);
	object_maps_close(&p.maps);
	rcu_unregister_thread();
	return err ? 1 : 0;
}
