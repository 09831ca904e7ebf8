/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A world for tests of the engine: zones from text, a cache, engines, and queries as bytes.
 *
 * Everything that fails here ends the test: it is no test of what stands below.
 */
#ifndef VOLLEY_TESTS_ENGINE_WORLD_H
#define VOLLEY_TESTS_ENGINE_WORLD_H

#include <stdbool.h>

#include <assert.h>
#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/wire.h"
#include "cache/cache.h"
#include "cache/generations.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "engine/engine.h"
#include "rpz/rpz.h"
#include "tests/lib/must.h"
#include "zone/set.h"
#include "zone/zone.h"

#define WORLD_ZONES_MAX 8
#define WORLD_NOW_S     1000
#define WORLD_WALL_S    1700000000u

struct world {
	struct zone_member members[WORLD_ZONES_MAX];
	uint8_t apex[WORLD_ZONES_MAX][DNS_NAME_MAX];
	size_t n_zones;
	struct engine_data zones;
	struct cache_memory memory;
	struct cache *cache;
	struct engine *engine;   /* with the cache */
	struct engine *uncached; /* the same settings without it */
};

/* The zone `origin` from the master file `path`; NULL: configured, but not loaded. */
static inline void world_load_zone(struct world *w, const char *origin, const char *path)
{
	struct zone_member *m = &w->members[w->n_zones];
	struct zone_error error;
	int len = name_from_text(w->apex[w->n_zones], DNS_NAME_MAX, origin, strlen(origin));

	MUST(len > 0 && w->n_zones < WORLD_ZONES_MAX);
	*m = (struct zone_member){ .apex = w->apex[w->n_zones++], .apex_len = (unsigned int)len };
	if (!path)
		return;
	if (zone_load(&m->zone, origin, path, NULL, &error))
		fprintf(stderr, "%s:%u: %s\n", error.file, error.line, error.sentence);
	MUST(m->zone);
}

/* The same from the text of a master file. */
static inline void world_add_zone(struct world *w, const char *origin, const char *text)
{
	char path[] = "/tmp/volley-zone-XXXXXX";
	int fd = mkstemp(path);

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	world_load_zone(w, origin, path);
	unlink(path);
}

/* A group's setup begins with this, and world_end() is its teardown: the thread may call
 * engines. */
static inline void world_begin(struct world *w, void **state)
{
	rcu_register_thread();
	*state = w;
}

/* The same with local data and two lists, which *rpz has in this order. */
static inline int world_begin_rpz(struct world *w, void **state, const char *const texts[3],
				  struct rpz **rpz, uint32_t slot, uint32_t gen)
{
	struct rpz_list lists[2] = { 0 };

	world_begin(w, state);
	world_add_zone(w, ".", texts[0]);
	world_add_zone(w, "list.rpz", texts[1]);
	world_add_zone(w, "second.rpz", texts[2]);
	lists[0].zone = w->members[1].zone;
	lists[1].zone = w->members[2].zone;
	return rpz_new(rpz, w->members[0].zone, lists, 2, slot, gen);
}

static inline void *world_pages(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	MUST(p != MAP_FAILED);
	return p;
}

/* A cache over memory that the process keeps. Zones get slots and a first generation. */
static inline void world_add_cache(struct world *w)
{
	struct cache_memory *m = &w->memory;
	bool adopted;

	MUST(!cache_sizes_plan(&m->sizes, CACHE_BYTES_MIN, VOLLEY_DEFAULT_ZONES));
	m->state = world_pages(sizeof(*m->state));
	m->index = world_pages((uint64_t)m->sizes.n_buckets * VOLLEY_BUCKET_SLOTS * 8);
	m->store = world_pages((uint64_t)m->sizes.n_segments * VOLLEY_SEGMENT_BYTES);
	m->zones = world_pages(m->sizes.n_zones * sizeof(*m->zones));
	MUST(!cache_new(&w->cache, m, &adopted));
	for (size_t i = 0; i < w->n_zones; i++) {
		struct zone_member *zone = &w->members[i];
		const uint64_t digest[2] = { 1, i };

		cache_zone_prepare(w->cache, zone->apex, zone->apex_len, digest, &zone->cache_slot,
				   &zone->cache_gen);
		MUST(zone->cache_slot);
		cache_zone_commit(w->cache, zone->cache_slot, zone->cache_gen, digest);
	}
}

/* After the zones and the cache. */
static inline void world_publish(struct world *w)
{
	MUST(!zone_set_new(&w->zones.set, w->members, w->n_zones));
}

/* The i-th zone as the set has it, for a test that changes it. */
static inline struct zone_member *world_member(const struct world *w, size_t i)
{
	return (struct zone_member *)zone_set_get(w->zones.set, w->members[i].apex,
						  w->members[i].apex_len);
}

/* After the zones: a cache, and both engines over it. */
static inline void world_open(struct world *w, const struct engine_config *config)
{
	world_add_cache(w);
	world_publish(w);
	MUST(!engine_new(&w->engine, config, w->cache, &w->zones));
	MUST(!engine_new(&w->uncached, config, NULL, &w->zones));
}

static inline void world_free(struct world *w)
{
	engine_free(w->engine);
	engine_free(w->uncached);
	zone_set_free(w->zones.set);
	for (size_t i = 0; i < w->n_zones; i++)
		zone_free(w->members[i].zone);
	if (w->cache)
		cache_free(w->cache);
}

static inline int world_end(void **state)
{
	world_free(*state);
	rcu_unregister_thread();
	return 0;
}

/* ---- Queries and replies --------------------------------------------------------------------- */

#define NO_EDNS 0

struct ask {
	const char *name;
	uint16_t type;
	uint16_t class;    /* 0: IN */
	uint16_t flags;    /* of the header */
	uint16_t udp_size; /* NO_EDNS: no OPT */
	bool dnssec_ok;
	bool stream;
	const uint8_t *cookie; /* value of a COOKIE option */
	uint16_t cookie_bytes;
};

static inline void put_opt(struct wire_writer *w, const struct ask *a)
{
	wire_write_u8(w, 0);
	wire_write_be16(w, DNS_TYPE_OPT);
	wire_write_be16(w, a->udp_size);
	wire_write_be32(w, a->dnssec_ok ? DNS_EDNS_DO : 0);
	wire_write_be16(w, (uint16_t)(a->cookie ? DNS_OPTION_FIXED_BYTES + a->cookie_bytes : 0));
	if (!a->cookie)
		return;
	wire_write_be16(w, DNS_OPTION_COOKIE);
	wire_write_be16(w, a->cookie_bytes);
	wire_write_bytes(w, a->cookie, a->cookie_bytes);
}

/* The query as bytes, id 0x1234; a name of NULL is no question. */
static inline size_t ask_bytes(const struct ask *a, uint8_t out[512])
{
	struct wire_writer w;
	uint8_t name[DNS_NAME_MAX];

	wire_writer_init(&w, out, 512);
	wire_write_be16(&w, 0x1234);
	wire_write_be16(&w, a->flags);
	wire_write_be16(&w, a->name != NULL);
	wire_write_be32(&w, 0);
	wire_write_be16(&w, a->udp_size != NO_EDNS);
	if (a->name) {
		int len = name_from_text(name, sizeof(name), a->name, strlen(a->name));

		MUST(len > 0);
		wire_write_bytes(&w, name, (size_t)len);
		wire_write_be16(&w, a->type);
		wire_write_be16(&w, a->class ? a->class : DNS_CLASS_IN);
	}
	if (a->udp_size != NO_EDNS)
		put_opt(&w, a);
	MUST(!w.error);
	return w.at;
}

struct reply {
	size_t len;
	uint8_t bytes[DNS_MESSAGE_MAX];
};

static const uint8_t world_client[4] = { 192, 0, 2, 200 };

static inline void send_bytes(struct engine *e, const uint8_t *msg, size_t len, bool stream,
			      struct reply *r)
{
	struct engine_request rq = {
		.msg = msg,
		.len = len,
		.stream = stream,
		.family = AF_INET,
		.client = world_client,
		.now_s = WORLD_NOW_S,
		.wall_s = WORLD_WALL_S,
	};

	r->len = engine_answer(e, &rq, r->bytes, sizeof(r->bytes));
	rcu_quiescent_state();
}

static inline void send_ask(struct engine *e, const struct ask *a, struct reply *r)
{
	uint8_t msg[512];
	size_t len = ask_bytes(a, msg);

	send_bytes(e, msg, len, a->stream, r);
}

static inline uint16_t reply_flags(const struct reply *r)
{
	return wire_load_be16(r->bytes + DNS_FLAGS_AT);
}

static inline uint16_t reply_rcode(const struct reply *r)
{
	return reply_flags(r) & DNS_RCODE_MASK;
}

static inline uint16_t reply_count(const struct reply *r, unsigned int at)
{
	return wire_load_be16(r->bytes + at);
}

static inline bool same_reply(const struct reply *a, const struct reply *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* A section as text, a line for each record, single spaces. The caller frees it. */
static inline char *section_text(const ldns_pkt *pkt, ldns_pkt_section section)
{
	ldns_rr_list *list = ldns_pkt_get_section_clone(pkt, section);
	char *text = ldns_rr_list2str(list);

	ldns_rr_list_deep_free(list);
	MUST(text);
	for (char *c = text; *c; c++) {
		if (*c == '\t')
			*c = ' ';
	}
	return text;
}

#endif
