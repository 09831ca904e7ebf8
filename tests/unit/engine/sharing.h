/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A world with shared answers (engine/shared_answer.h) for tests: the plain zone z.test and the
 * signed zone z, whose names are in a filter and in a region of intervals; a shield; and the
 * entries that the engine has published.
 */
#ifndef VOLLEY_TESTS_ENGINE_SHARING_H
#define VOLLEY_TESTS_ENGINE_SHARING_H

#include "shield/name_filter.h"
#include "shield/shield.h"
#define SIGNING_ITERATIONS 0
#include "tests/unit/engine/signing.h"
#include "tests/unit/engine/world.h"

#define SHARING_TEXT                                                                  \
	"@ 60 SOA ns1 host %u 2 3 4 60\n@ NS ns1\nns1 A 192.0.2.2\nb.c A 192.0.2.3\n" \
	"m MX 1 ns1\n*.w A 192.0.2.4\n*.w MX 1 ns1\n"

struct sharing {
	struct world w;
	struct names names;
	struct shield shield;
	struct volley_names_line lines[2 * VOLLEY_DEFAULT_NAMES_LINES];
};

static inline int sharing_no_grace(void *user)
{
	(void)user;
	return 0;
}

/* A version of one of the zones, as the text of a master file; the caller frees it. `more`: further
 * lines. */
static inline char *sharing_text(const char *origin, unsigned int serial, const char *more,
				 enum zone_chain chain)
{
	struct signing s = { .chain = chain, .key = 1 };
	struct zone_error error;
	struct zone *plain = NULL;
	size_t bytes;
	char *text, path[] = "/tmp/volley-sharing-XXXXXX";
	int fd = mkstemp(path);

	s.f = open_memstream(&text, &bytes);
	MUST(fd >= 0 && s.f);
	fprintf(s.f, "$TTL 300\n" SHARING_TEXT "%s", serial, more);
	fflush(s.f);
	if (chain != ZONE_CHAIN_NONE) {
		MUST(write(fd, text, bytes) == (ssize_t)bytes);
		MUST(!zone_load(&plain, origin, path, NULL, &error));
		s.z = plain;
		signing_write(&s);
		zone_free(plain);
	}
	close(fd);
	unlink(path);
	fclose(s.f);
	return text;
}

static inline void sharing_add_zone(struct sharing *s, const char *origin, enum zone_chain chain)
{
	char *text = sharing_text(origin, 7, "", chain);

	world_add_zone(&s->w, origin, text);
	free(text);
}

static inline void sharing_open(struct sharing *s, enum zone_chain chain)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	struct volley_zone_intervals found;

	sharing_add_zone(s, "z.test", ZONE_CHAIN_NONE);
	sharing_add_zone(s, "z", chain);
	world_add_cache(&s->w);
	names_init(&s->names, s->lines, VOLLEY_DEFAULT_NAMES_LINES,
		   &cache_state(s->w.cache)->names);
	names_init_intervals(&s->names, VOLLEY_DEFAULT_NAMES_LINES);
	MUST(!names_begin(&s->names, sharing_no_grace, NULL));
	for (size_t i = 0; i < s->w.n_zones; i++) {
		struct zone_member *m = &s->w.members[i];

		names_add_apex(&s->names, m->apex, m->apex_len);
		names_add_zone(&s->names, m->zone, NULL);
		intervals_of(&s->names.intervals, m->apex, m->apex_len, &found);
		m->intervals.at = found.at;
		m->intervals.id = found.id;
		m->names_id = names_id(&s->names);
	}
	world_publish(&s->w);
	shield_init(&s->shield, s->lines, sizeof(s->lines) / sizeof(s->lines[0]));
	s->w.zones.shield = &s->shield;
	MUST(!engine_new(&s->w.engine, &config, s->w.cache, &s->w.zones));
}

static inline void sharing_close(struct sharing *s)
{
	world_free(&s->w);
	names_fini(&s->names);
}

/* All that is cached dies. */
static inline void sharing_forget_all(struct sharing *s)
{
	for (size_t i = 0; i < s->w.n_zones; i++) {
		struct zone_member *m = &s->w.members[i];

		world_member(&s->w, i)->cache_gen = m->cache_gen =
			cache_zone_flush(s->w.cache, m->cache_slot);
	}
}

/* The answer of the question itself is not in the cache any more. */
static inline void sharing_forget(struct sharing *s, const struct ask *ask)
{
	uint8_t name[NAME_FOLDED_BYTES] = { 0 };
	int n = name_from_text(name, DNS_NAME_MAX, ask->name, strlen(ask->name));
	struct cache_key key;

	MUST(n > 0);
	name_fold(name, name, (size_t)n);
	cache_key_init(&key, s->w.cache, name, (uint32_t)n, ask->type, DNS_CLASS_IN,
		       ask->dnssec_ok ? VOLLEY_KEY_DO : 0, VOLLEY_VIEW_PUBLIC);
	(void)!cache_withdraw(s->w.cache, &key);
}

/* The tail of a shared answer, which may have any alignment. */
static inline struct volley_shared sharing_tail(const struct volley_entry *e)
{
	struct volley_shared tail;

	memcpy(&tail, cache_entry_body(e) + e->short_bytes, sizeof(tail));
	return tail;
}

static inline struct volley_entry *sharing_entry_at(const struct sharing *s, uint64_t word)
{
	uint32_t at = (uint32_t)word;

	return (void *)(s->w.memory.store +
			(uint64_t)(at / VOLLEY_SEGMENT_UNITS) * VOLLEY_SEGMENT_BYTES +
			at % VOLLEY_SEGMENT_UNITS * VOLLEY_UNIT_BYTES);
}

/* The valid entry number `nth` of this kind that is an answer; NULL: there are fewer. */
static inline struct volley_entry *sharing_entry(const struct sharing *s, uint32_t kind,
						 unsigned int nth)
{
	uint64_t n = (uint64_t)s->w.memory.sizes.n_buckets * VOLLEY_BUCKET_SLOTS;

	for (uint64_t i = 0; i < n; i++) {
		struct volley_entry *e = sharing_entry_at(s, s->w.memory.index[i]);

		if (!(uint32_t)s->w.memory.index[i] || (e->key.kind & 3) != kind ||
		    e->zone_gen != s->w.memory.zones[e->zone_slot].gen ||
		    sharing_tail(e).intervals_id)
			continue;
		if (!nth--)
			return e;
	}
	return NULL;
}

static inline void sharing_key(const struct sharing *s, struct cache_key *key,
			       const struct volley_entry *e)
{
	cache_key_from(key, s->w.cache, &e->key, e->name);
}

/* Setup and teardown of a group: its thread may call engines. */
static inline int sharing_begin(void **state)
{
	(void)state;
	rcu_register_thread();
	return 0;
}

static inline int sharing_end(void **state)
{
	(void)state;
	rcu_unregister_thread();
	return 0;
}

#endif
