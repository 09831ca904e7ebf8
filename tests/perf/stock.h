/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills a cache for the benchmarks, only through cache/: names that differ in their first label,
 * which is a number (front.h), so that a generator can draw them without a list.
 */
#ifndef VOLLEY_TESTS_PERF_STOCK_H
#define VOLLEY_TESTS_PERF_STOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "cache/cache.h"
#include "cache/generations.h"
#include "tests/lib/bpfmaps.h"
#include "tests/perf/front.h"
#include "tests/perf/query.h"

#define STOCK_BODY_CAP 2048

/* The content of the cache: names that differ in 7 letters, all with one answer. */
struct stock_kind {
	const char *name;
	bool long_name;
	uint16_t message_bytes; /* of the answer without OPT; 0: one A record */
};

static const struct stock_kind stock_kinds[] = {
	{ "short name, small answer", false, 0 },
	{ "255-octet name, small answer", true, 0 },
	{ "short name, 1,200-octet answer", false, 1200 },
};

/* <7 letters>.bench.test, or with further labels that make it 255 octets. Returns its length. */
static inline uint32_t stock_name(uint8_t *name, const struct stock_kind *kind, uint32_t number)
{
	static const uint8_t end[] = "\5bench\4test"; /* with the root */
	uint64_t label = front_label(number);
	uint32_t at = sizeof(label);

	memcpy(name, &label, sizeof(label));
	while (kind->long_name && at + sizeof(end) < 255) {
		uint32_t room = 255 - at - (uint32_t)sizeof(end);
		uint32_t letters = room > 64 ? 63 : room - 1;

		name[at] = (uint8_t)letters;
		memset(name + at + 1, 'x', letters);
		at += 1 + letters;
	}
	memcpy(name + at, end, sizeof(end));
	return at + (uint32_t)sizeof(end);
}

/* One A record, or one TXT record of a length that gives a message of message_bytes. */
static inline uint16_t stock_body(uint8_t *body, const struct stock_kind *kind,
				  uint32_t name_bytes_)
{
	uint32_t rdata = 4;

	if (kind->message_bytes)
		rdata = kind->message_bytes - 12u - name_bytes_ - 4u - 12u;
	memcpy(body, "\xc0\x0c\0\1\0\1\0\0\x0e\x10", 10);
	query_put16(body + 10, rdata);
	memset(body + 12, 'a', rdata);
	return (uint16_t)(12 + rdata);
}

/* Of the zone. */
static const uint64_t stock_digest[2] = { 1, 1 };

/* Publishes entries 0 to n_entries - 1, type A, in one zone. 0 or the cache's error. QSBR
 * thread. */
static inline int stock_fill(struct cache *cache, const struct stock_kind *kind, uint32_t n_entries)
{
	static const uint8_t apex[] = "\5bench\4test";
	uint8_t name[256] = { 0 }, body[STOCK_BODY_CAP];
	struct cache_answer answer = { .body = body, .ancount = 1, .flags = 0x8400 };
	struct cache_writer *writer;
	struct cache_key key;
	uint32_t gen, slot, now_s = clock_coarse_s();
	int err;

	cache_zone_prepare(cache, apex, sizeof(apex), stock_digest, &slot, &gen);
	cache_zone_commit(cache, slot, gen, stock_digest);
	answer.zone_slot = slot;
	answer.zone_gen = gen;
	answer.expires_s = VOLLEY_NEVER;
	err = cache_writer_new(&writer, cache);
	for (uint32_t i = 0; !err && i < n_entries; i++) {
		uint32_t bytes = stock_name(name, kind, i);

		answer.full_bytes = stock_body(body, kind, bytes);
		answer.short_bytes = answer.full_bytes;
		cache_key_init(&key, cache, name, bytes, 1, 1, 0, 0);
		err = cache_publish(writer, &key, &answer, now_s);
	}
	if (!err)
		cache_writer_free(writer);
	return err;
}

/* The budget, with a quarter to spare in bytes and in slots of the index. */
static inline uint64_t stock_budget(const struct stock_kind *kind, uint32_t n_entries)
{
	uint64_t entry = 64 + (kind->long_name ? 256u : 24u) + 16;

	if (kind->message_bytes)
		entry += kind->message_bytes;
	return CACHE_BYTES_MIN + (4u << 20) + entry * n_entries * 5 / 4;
}

/* Makes the program answer on the lab's server addresses, for ever. */
static inline void stock_configure(struct volley_state *state)
{
	static const uint8_t ipv4[4] = { 192, 0, 2, 53 };
	static const uint8_t ipv6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 0x53 };
	uint32_t address[4] = { 0 };

	state->max_udp_bytes = QUERY_UDP_SIZE;
	state->serve_until_s = VOLLEY_NEVER;
	memcpy(address, ipv4, 4);
	bpfmaps_serve(state, address, 4, 53);
	memcpy(address, ipv6, 16);
	bpfmaps_serve(state, address, 6, 53);
}

#endif
