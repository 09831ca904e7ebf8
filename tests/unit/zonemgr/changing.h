/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of changes: two zones that are served, with a cache, a loader and a journal that are
 * real. */
#ifndef VOLLEY_TESTS_CHANGING_H
#define VOLLEY_TESTS_CHANGING_H

#include <errno.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#include "cache/memory.h"
#include "zonemgr/zonemgr.h"
#include "zonemgr/zones_state.h"
#include "zonemgr/loader.h"
#include "zonemgr/zonefile.h"
#include "tests/lib/madezones.h"
#include "tests/unit/engine/world.h"
#include "tests/unit/store/storing.h"
#include "tests/unit/zone/zone_text.h"
#include "zone/builder.h"
#include "zone/set.h"

#define BEGUN_S 1700000000ull /* when it is, until a test says otherwise */
#define N_HUGE  6000u         /* records, more than the journal has room for */

static struct cache_memory memory;
static struct engine_data published;
static struct engine *engine;
static struct config_zone said, other_said;
static struct zones_entry entry, other, *entries[] = { &entry, &other };
static struct zones *zones;
static struct loader *loader;
static struct zone *file; /* what the zone's file holds */
static int told[8];       /* codes of done(), in their order */
static unsigned n_told;

static const char text[] = "$TTL 300\n@ SOA ns root 1 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n"
			   "b A 192.0.2.2\nc A 192.0.2.3\n";

static inline int no_readers(void *unused)
{
	(void)unused;
	return 0;
}

static inline void make_due_of(struct zones_entry *e, struct zone *z)
{
	e->loading.fresh = load_new(e->name, "none", NULL, NULL, NULL);
	MUST(e->loading.fresh);
	e->loading.fresh->zone = z;
	e->loading.is_due = true;
}

static inline void make_due(struct zone *z)
{
	make_due_of(&entry, z);
}

/* The file has what is in @z. */
static inline void know_file(const struct zone *z)
{
	struct store_batch *batch;

	entry.stored.known =
		(struct zones_known){ .serial = zone_serial(z), .file_serial = zone_serial(z) };
	zone_digest(z, entry.stored.known.file_digest);
	MUST(!store_begin(madezones_env(zones)->store, &batch));
	MUST(!zones_known_put(batch, entry.apex, &entry.stored.known));
	MUST(!store_commit(batch));
}

static inline void begin_entry(struct zones_entry *e, uint8_t apex[static DNS_NAME_MAX],
			       struct config_zone *config, char *name)
{
	*e = (struct zones_entry){ .config = config, .apex = apex, .life = ZONES_LISTED };
	e->name = e->file = config->name = config->file = name;
	config->journal_bytes = 1 << 20;
	e->apex_len = (unsigned)name_from_text(apex, DNS_NAME_MAX, name, strlen(name));
}

static inline void begin(void)
{
	static char name[] = "z.test", other_name[] = "y.test";
	static uint8_t apex[DNS_NAME_MAX], other_apex[DNS_NAME_MAX];
	struct engine_config config = ENGINE_CONFIG_INIT;
	struct zones_env env = { .published = &published, .grace = no_readers };
	struct cache_sizes sizes;
	bool adopted;

	begin_entry(&entry, apex, &said, name);
	begin_entry(&other, other_apex, &other_said, other_name);
	MUST(!cache_sizes_plan(&sizes, CACHE_BYTES_MIN, 2));
	MUST(!cache_memory_anonymous(&memory, &sizes) && !cache_new(&env.cache, &memory, &adopted));
	MUST(!engine_new(&engine, &config, env.cache, &published));
	MUST(!loader_new(&loader, 1));
	env.loader = loader;
	env.store = storing_open(STORE_MAX_BYTES_MIN);
	zones = madezones_new(&env, entries, 2);
	zones_set_time(zones, &(struct clock_now){ .ns = CLOCK_NS_PER_S, .wall_s = BEGUN_S });
	file = zone_of("z.test", text);
	know_file(file);
	make_due(zone_ref(file));
	make_due_of(&other, zone_of("y.test", text));
	MUST(!zones_publish(zones));
	n_told = 0;
}

static inline void end(void)
{
	zones_cancel(zones);
	loader_stop(loader);
	loader_poll(loader);
	loader_free(loader);
	engine_free(engine);
	zone_set_free(published.set);
	published.set = NULL;
	zone_unref(entry.zone);
	zone_unref(entry.edited);
	zone_unref(other.zone);
	zone_unref(other.edited);
	zones_entry_hush(&entry);
	zones_entry_hush(&other);
	zone_unref(file);
	cache_free(madezones_env(zones)->cache);
	cache_memory_release(&memory);
	store_close(madezones_env(zones)->store);
	madezones_free(zones);
	storing_clear();
}

static inline void ask_for(const char *name)
{
	struct ask a = { .name = name, .type = DNS_TYPE_A, .udp_size = 1232 };
	static struct reply r;

	send_ask(engine, &a, &r);
}

static inline bool is_cached(const char *name)
{
	uint8_t wire[NAME_FOLDED_BYTES] = { 0 };
	int len = name_from_text(wire, DNS_NAME_MAX, name, strlen(name));
	const struct volley_entry *e;
	struct cache_key key;

	cache_key_init(&key, madezones_env(zones)->cache, wire, (uint32_t)len, DNS_TYPE_A,
		       DNS_CLASS_IN, 0, 0);
	return cache_lookup(madezones_env(zones)->cache, &key, WORLD_NOW_S, false, &e) == CACHE_HIT;
}

/* --- Changes ---------------------------------------------------------------------------------- */

static inline void done(void *user, int code)
{
	(void)user;
	assert_in_range(n_told, 0, 7);
	told[n_told++] = code;
}

static inline int one_line(void *user, struct zone_edit *edit, struct zone_error *why)
{
	const char *const lines[] = { user };

	return edit_lines(edit, lines, 1, false, why);
}

struct many {
	const char *zone, *label;
	uint32_t n; /* records of 256 octets */
};

static inline int add_many(void *user, struct zone_edit *edit, struct zone_error *why)
{
	const struct many *many = user;
	uint8_t rdata[256] = { 255 };
	int err = edit_raise_serial(edit);
	char owner[64];

	(void)why;
	for (uint32_t i = 0; i < many->n && !err; i++) {
		snprintf(owner, sizeof(owner), "%u.%s.%s", i / 100, many->label, many->zone);
		memcpy(rdata + 1, &i, sizeof(i));
		err = zone_edit_add(edit, storing_name(owner), DNS_TYPE_TXT, 300, rdata,
				    sizeof(rdata));
	}
	return err;
}

static inline int change_of(struct zones_entry *e, const char *line)
{
	struct zone_error why;
	int code = zones_change(zones, e, one_line, (void *)line, done, NULL, &why);

	assert_int_equal(code < 0, *why.sentence != 0);
	return code;
}

static inline int change(const char *line)
{
	return change_of(&entry, line);
}

static inline int change_much(struct zones_entry *e, const char *label, uint32_t n)
{
	struct many many = { e->name, label, n };
	struct zone_error why;

	return zones_change(zones, e, add_many, &many, done, NULL, &why);
}

/* More than the journal can hold. */
static inline int change_hugely(void)
{
	return change_much(&entry, "huge", N_HUGE);
}

static inline bool has(const char *name)
{
	const struct zone_member *m = zone_set_get(published.set, entry.apex, entry.apex_len);

	assert_ptr_equal(m->zone, entry.zone);
	return m->zone && zone_node_of(m->zone, storing_name(name));
}

static inline bool is_same(const struct zone *a, const struct zone *b)
{
	uint8_t of_a[ZONE_DIGEST_LEN], of_b[ZONE_DIGEST_LEN];

	zone_digest(a, of_a);
	zone_digest(b, of_b);
	return !memcmp(of_a, of_b, sizeof(of_a));
}

/* The file and the journal lead to what is served. */
static inline void assert_replays(uint64_t n_changes)
{
	struct zone *z = zone_of("z.test", text);
	uint8_t digest[ZONE_DIGEST_LEN];
	struct zone_error why;
	uint64_t n;

	zone_digest(z, digest);
	assert_int_equal(replay(madezones_env(zones)->store, &z, digest, &n, "", &why), 0);
	assert_int_equal(n, n_changes);
	assert_true(is_same(z, entry.zone));
	zone_unref(z);
}

#endif
