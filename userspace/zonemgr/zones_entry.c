/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One zone: its name and its loads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "config/member.h"
#include "dns/name.h"
#include "xfr/xfr_message.h"
#include "zonemgr/entry.h"
#include "zonemgr/loader.h"
#include "zonemgr/signing.h"
#include "zonemgr/zonefile.h"
#include "zonemgr/zonemgr.h"
#include "zonemgr/zones_state.h"

/* --- By name ---------------------------------------------------------------------------------- */

static int compare_key(const void *key, const void *member)
{
	const struct zones_entry *entry = *(struct zones_entry *const *)member;

	return name_canonical_cmp(key, entry->apex);
}

int zones_compare(const void *a, const void *b)
{
	const struct zones_entry *entry = *(struct zones_entry *const *)a;

	return compare_key(entry->apex, b);
}

/* Writes the apex in folded wire form. Returns its length or a negative code. */
static int fold_apex(uint8_t folded[NAME_FOLDED_BYTES], const char *name)
{
	uint8_t wire[DNS_NAME_MAX];
	int len = name_from_text(wire, sizeof(wire), name, strlen(name));

	if (len > 0)
		name_fold(folded, wire, (size_t)len);
	return len;
}

struct zones_entry *zones_get_apex(const struct zones *zones, const uint8_t *apex, unsigned int len)
{
	struct zones_entry **at;

	(void)len;
	if (!zones->n)
		return NULL;
	at = bsearch(apex, zones->by_apex, zones->n, sizeof(struct zones_entry *), compare_key);
	return at ? *at : NULL;
}

struct zones_entry *zones_get(const struct zones *zones, const char *name)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	int len = fold_apex(folded, name);

	return len > 0 ? zones_get_apex(zones, folded, (unsigned int)len) : NULL;
}

/* --- An entry --------------------------------------------------------------------------------- */

struct zones_entry *zones_entry_new(struct zones *zones, const char *name)
{
	static const struct config_zone none;
	const size_t name_len = strlen(name);
	struct zones_entry *entry;
	uint8_t folded[NAME_FOLDED_BYTES];
	int len = fold_apex(folded, name);

	if (len <= 0)
		return NULL;
	entry = calloc(1, sizeof(*entry) + (size_t)len + name_len + 1);
	if (!entry)
		return NULL;
	entry->config = &none;
	entry->owner = zones;
	entry->apex_len = (unsigned int)len;
	entry->apex = memcpy(entry + 1, folded, (size_t)len);
	entry->name = memcpy((char *)(entry + 1) + len, name, name_len);
	return entry;
}

static void compaction_free(struct zones_entry *entry)
{
	struct zones_compaction *c = entry->compaction;

	for (size_t i = 0; c && i < c->n; i++)
		changeset_fini(&c->since[i]);
	if (c)
		free(c->since);
	free(c);
	entry->compaction = NULL;
}

void zones_entry_hush(struct zones_entry *entry)
{
	sentence_clear(&entry->error);
	sentence_clear(&entry->warning);
	sentence_clear(&entry->stored.error);
	sentence_clear(&entry->stored.warning);
	free(entry->published.withdrawn);
	entry->published.withdrawn = NULL;
}

void zones_entry_free(struct zones_entry *entry)
{
	zone_unref(entry->zone);
	zone_unref(entry->edited);
	compaction_free(entry);
	signing_free(entry->signing);
	load_free(entry->loading.fresh);
	zones_entry_hush(entry);
	config_zone_unref(entry->config);
	free(entry->stored.known.member);
	free(entry->file);
	free(entry);
}

const char *zones_zonefile(const struct zones_entry *entry)
{
	return entry->signing ? signing_file(entry->signing) : entry->file;
}

void zones_know_file(struct zones_entry *entry, const struct zonefile_mark *mark)
{
	entry->on_disk.mark = *mark;
	if (entry->on_disk.is_other)
		sentence_clear(&entry->stored.error);
	entry->on_disk.is_other = false;
}

bool zones_is_secondary(const struct zones_entry *entry)
{
	return entry->config->primaries && *entry->config->primaries;
}

const char *zones_state_text(enum zones_state state)
{
	static const char *const texts[] = {
		[ZONES_NEW] = "loading", [ZONES_FAILED] = "failed",   [ZONES_SERVING] = "serving",
		[ZONES_STALE] = "stale", [ZONES_AWAITED] = "awaited", [ZONES_EXPIRED] = "expired",
	};

	return texts[state];
}

const char *zones_origin(const struct zones_entry *entry)
{
	if (!entry->is_member)
		return "configuration";
	return zones_is_added(entry) ? "command" : "catalog";
}

#define ERROR_CAP 640

static void note_entry_error(struct zones_entry *entry, const char *error)
{
	sentence_set(&entry->error, "%s", error);
	if (entry->zone)
		entry->state = ZONES_STALE;
	log_error("zone %s: %s%s", entry->name, sentence_text(&entry->error),
		  entry->zone ? "; the earlier version keeps serving" : "");
}

/* Ends the error of the last load. A LOAD_RESIGN does not read the file, so it does not end an
 * error of the file. A load may also succeed with an error of its file. */
static void note_good(struct zones_entry *entry, const struct load *load)
{
	char error[ERROR_CAP];

	if (load->source == LOAD_RESIGN && entry->on_disk.is_wrong)
		return;
	sentence_clear(&entry->error);
	if (!load->file_code)
		return;
	load_put_error(load, error, sizeof(error));
	sentence_set(&entry->error, "%s", error);
	log_error("zone %s: %s; the version that was signed before is served", entry->name, error);
}

/* Keeps the new version until it is published. */
static void take_zones_entry(struct zones_entry *entry, struct load *load)
{
	note_good(entry, load);
	if (!load->zone) { /* there is no file yet, or nothing new in it */
		if (entry->zone)
			entry->state = ZONES_SERVING;
		load_free(load);
		return;
	}
	if (entry->loading.fresh)
		loader_discard(entry->owner->env.loader, entry->loading.fresh);
	entry->loading.fresh = load;
	if (load->n_replayed)
		log_info("zone %s: serial %u from %s, %llu changes of the journal behind it",
			 entry->name, load->file_serial, load->file,
			 (unsigned long long)load->n_replayed);
	entry->behind_serial = load->behind_serial;
	sentence_set(&entry->warning, "%s", load->err->warning);
	if (load->err->n_warnings)
		log_warn("zone %s: %s", entry->name, load->err->warning);
	load_forget_texts(load);
}

/* --- Configured ------------------------------------------------------------------------------- */

static bool is_same_signing(const struct config_zone *a, const struct config_zone *b)
{
	return !strcmp(a->signing ? a->signing : "", b->signing ? b->signing : "");
}

/* True if a load with other settings may give another zone. */
static bool is_other_load(const struct config_zone *a, const struct config_zone *b)
{
	return a != b && (!verify_equal(&a->verify, &b->verify) || a->zonemd != b->zonemd ||
			  a->serial != b->serial || !is_same_signing(a, b));
}

void zones_set_config(struct zones_entry *entry, struct config_zone *config,
		      const struct config_zone *settings)
{
	const bool is_other_file = !entry->file || strcmp(entry->file, config->file) != 0;

	entry->is_reconfigured |= is_other_file || entry->config != settings;
	entry->loading.is_changed |= entry->file &&
				     (is_other_file || is_other_load(entry->config, settings));
	entry->owner->is_all_due |= entry->config->driver_denials != settings->driver_denials ||
				    entry->config->is_root_copy != settings->is_root_copy;
	config_zone_unref(entry->config);
	entry->config = settings;
	free(entry->file);
	entry->file = config->file;
	config->file = NULL;
	entry->is_member = false;
	if (zones_is_leaving(entry))
		entry->life = entry->life == ZONES_GONE ? ZONES_COMING : ZONES_LISTED;
	if (entry->owner->env.sign)
		entry->owner->env.sign(entry->owner->env.user, entry);
	if (entry->signing)
		zones_tend(entry);
}

/* --- Loading ---------------------------------------------------------------------------------- */

static void begin_zones_entry(struct zones_entry *entry);

/* False: no memory. */
static bool put_in_queue(struct zones *zones, struct zones_entry *entry)
{
	struct zones_queue *q = &zones->queue;
	size_t cap = q->cap ? 2 * q->cap : 1024;
	struct zones_entry **grown = q->entries;

	if (q->n == q->cap) {
		grown = realloc(q->entries, cap * sizeof(struct zones_entry *));
		if (!grown)
			return false;
		q->cap = cap;
	}
	q->entries = grown;
	q->entries[q->n++] = entry;
	entry->loading.is_queued = true;
	return true;
}

void zones_clear_queue(struct zones *zones)
{
	struct zones_queue *q = &zones->queue;

	for (size_t i = q->first; i < q->n; i++)
		if (q->entries[i])
			q->entries[i]->loading.is_queued = false;
	free(q->entries);
	*q = (struct zones_queue){ 0 };
}

static void leave_queue(struct zones_entry *entry)
{
	struct zones_queue *q = &entry->owner->queue;

	for (size_t i = q->first; entry->loading.is_queued && i < q->n; i++) {
		if (q->entries[i] != entry)
			continue;
		q->entries[i] = NULL;
		entry->loading.is_queued = false;
	}
}

/* Begins loads that wait, as many as others have ended. */
static void begin_queued(struct zones *zones)
{
	struct zones_queue *q = &zones->queue;

	while (zones->n_loads < ZONES_LOADS_MAX && q->first < q->n) {
		struct zones_entry *entry = q->entries[q->first++];

		if (!entry)
			continue;
		entry->loading.is_queued = false;
		begin_zones_entry(entry);
	}
	if (q->first == q->n)
		zones_clear_queue(zones);
}

static void note_entry_end(struct zones_entry *entry, int code)
{
	struct zones_loading *l = &entry->loading;

	l->code = code;
	l->n_ended = l->n_begun;
	if (l->awaited_number && l->n_ended >= l->awaited_number) {
		l->awaited_number = 0;
		entry->owner->n_awaited--;
	}
	if (entry->is_member && !zones_is_answered(entry))
		zones_member_loaded(entry);
	if (l->n_wanted > l->n_begun && code != -ECANCELED)
		begin_zones_entry(entry);
}

/* True if the zone has changes that its file does not have, or may not have had when it was read:
 * they are being written to it, or are not published yet. */
static bool is_ahead_of_file(const struct zones_entry *entry)
{
	return entry->on_disk.changed_ns || zones_is_file_written(entry) || entry->edited;
}

/* True if the file is unchanged, or as we have just written it: the later changes stay. */
static bool is_read_before(struct zones_entry *entry, const struct load *load)
{
	if (load->code || !load->zone || !entry->zone ||
	    !(load->is_base_ahead || is_ahead_of_file(entry)) ||
	    (memcmp(load->file_digest, entry->stored.known.file_digest, ZONE_DIGEST_LEN) != 0 &&
	     memcmp(load->file_digest, entry->on_disk.next_digest, ZONE_DIGEST_LEN) != 0))
		return false;
	zones_know_file(entry, &load->file_mark);
	return true;
}

/* True if the served version stays, with all later changes. */
static bool has_nothing_new(struct zones_entry *entry, const struct load *load)
{
	switch (load->source) {
	case LOAD_FILE:
		return is_read_before(entry, load);
	case LOAD_SIGNED_FILE:
		return !load->code && load->content == LOAD_SIGNED_BEFORE && entry->zone;
	case LOAD_UNSIGNED_FILE: /* the zone is to be signed again */
		return entry->config->signing;
	default:
		return false;
	}
}

static bool is_same_content(const struct zone *a, const struct zone *b)
{
	uint8_t of_a[ZONE_DIGEST_LEN], of_b[ZONE_DIGEST_LEN];

	zone_digest(a, of_a);
	zone_digest(b, of_b);
	return !memcmp(of_a, of_b, sizeof(of_a));
}

/* The file may replace changes that it does not have only if its serial number is newer. The same
 * content is no error: it was just written. */
static void check_serial(const struct zones_entry *entry, struct load *load)
{
	uint32_t served, read;

	if (load->code || (load->source != LOAD_FILE && load->source != LOAD_SIGNED_FILE) ||
	    !load->zone || !entry->zone || !(load->is_base_ahead || is_ahead_of_file(entry)))
		return;
	served = zone_serial(zones_newest(entry));
	read = zone_serial(load->zone);
	if ((load->serial_state != LOAD_SERIAL_RAISED && xfr_serial_newer(read, served)) ||
	    is_same_content(load->zone, zones_newest(entry)))
		return;
	load->code = ERR_ZONE;
	snprintf(load->err->sentence, sizeof(load->err->sentence),
		 "serial %u is not newer than %u, which is served with changes that the file "
		 "does not have: zone flush writes them to it",
		 read, served);
}

static void on_ended(struct load *load)
{
	struct zones_entry *entry = load->user;
	struct zones *zones;
	char error[ERROR_CAP];
	int code;

	if (!entry) { /* the zone has gone */
		load_free(load);
		return;
	}
	zones = entry->owner;
	zones->n_loads--;
	entry->loading.load = NULL;
	if (has_nothing_new(entry, load))
		load_drop_zone(load);
	check_serial(entry, load);
	code = load->code ? load->code : load->file_code;
	if (load->source != LOAD_RESIGN && code != -ECANCELED)
		entry->on_disk.is_wrong = code;
	if (!load->code) {
		take_zones_entry(entry, load);
	} else {
		load_put_error(load, error, sizeof(error));
		if (code != -ECANCELED)
			note_entry_error(entry, error);
		load_free(load);
	}
	note_entry_end(entry, code);
	begin_queued(zones);
}

static void start_entry(struct zones_entry *entry, struct load *load)
{
	entry->owner->n_loads++;
	struct zone *base = entry->loading.fresh ? entry->loading.fresh->zone : zones_newest(entry);

	load->base = base ? zone_ref(base) : NULL;
	load->wants_net = base && entry->owner->env.store;
	load->is_base_ahead = is_ahead_of_file(entry);
	load->journal = entry->owner->env.store;
	entry->loading.load = load;
	loader_start(entry->owner->env.loader, load);
}

/* Sets the source of the load: the content is signed by entry->signing, or served unsigned if the
 * configuration names no policy any more. */
static int sign_by(struct load *load, const struct zones_entry *entry)
{
	memcpy(load->content_digest, entry->content_digest, ZONE_DIGEST_LEN);
	memcpy(load->content_before, entry->content_digest, ZONE_DIGEST_LEN);
	memcpy(load->file_digest, entry->stored.known.file_digest, ZONE_DIGEST_LEN);
	load->source = entry->config->signing ? LOAD_SIGNED_FILE : LOAD_UNSIGNED_FILE;
	load->signing = calloc(1, sizeof(*load->signing));
	if (load->signing &&
	    !signing_work_init(load->signing, entry->signing, entry->owner->now.wall_s))
		return 0;
	free(load->signing);
	load->signing = NULL;
	return -ENOMEM;
}

/* Until the zone is served, the digest of the signed content comes from the last daemon. */
static int sign_load(struct zones_entry *entry, struct load *load)
{
	struct store *store = entry->owner->env.store;
	void *digest;
	size_t n;

	if (!entry->zone && store &&
	    !store_get(store, entry->apex, ZONES_CONTENT_WORD, &digest, &n)) {
		if (n == sizeof(entry->content_digest))
			memcpy(entry->content_digest, digest, n);
		free(digest);
	}
	return sign_by(load, entry);
}

static bool needs_zonemd(const struct zones_entry *entry)
{
	return entry->config->zonemd == CONFIG_ZONEMD_REQUIRE;
}

static void set_serial_rule(const struct zones_entry *entry, struct load *load)
{
	static const uint8_t none[ZONE_DIGEST_LEN];
	const struct zones_known *known = &entry->stored.known;
	struct load_serial_rule *rule = &load->serial_rule;

	rule->is_on = load->source == LOAD_FILE && load->absent == LOAD_ABSENT_FAILS;
	rule->is_known = memcmp(known->file_digest, none, sizeof(none)) != 0;
	rule->policy = entry->config->serial;
	rule->is_behind = entry->behind_serial &&
			  !xfr_serial_newer(known->serial, entry->behind_serial);
	rule->served = rule->is_behind ? entry->behind_serial : known->serial;
	rule->file_serial = known->file_serial;
	rule->now_s = entry->owner->now.wall_s;
	memcpy(rule->file_digest, known->file_digest, ZONE_DIGEST_LEN);
	memcpy(rule->next_digest, entry->on_disk.next_digest, ZONE_DIGEST_LEN);
}

/* A zone that is not in the configuration, or was read before, is passed over. */
static int recall_visited(void *user, const uint8_t *apex, const struct store_zone *stored)
{
	struct zones_entry *entry = zones_get_apex(user, apex, (unsigned int)name_bytes(apex));

	if (!entry || entry->stored.state != ZONES_STORE_UNREAD)
		return 0;
	if (zones_known_set(&entry->stored.known, stored))
		return -ENOMEM;
	entry->stored.state = ZONES_STORE_CURRENT;
	return 0;
}

void zones_recall_all(struct zones *zones)
{
	if (!zones->env.store || store_each_zone(zones->env.store, recall_visited, zones))
		return;
	for (size_t i = 0; i < zones->n; i++) /* of the others nothing is stored */
		if (zones->entries[i]->stored.state == ZONES_STORE_UNREAD)
			zones->entries[i]->stored.state = ZONES_STORE_CURRENT;
}

/* Reads what an earlier daemon has stored. False: no memory. */
static bool recall_entry(struct zones_entry *entry, struct store *store)
{
	struct store_zone stored;

	if (entry->stored.state != ZONES_STORE_UNREAD)
		return true;
	if (!store_get_zone(store, entry->apex, &stored) &&
	    zones_known_set(&entry->stored.known, &stored))
		return false;
	entry->stored.state = ZONES_STORE_CURRENT;
	return true;
}

static struct load *load_of_file(struct zones_entry *entry)
{
	struct load *load =
		load_new(entry->name, entry->file, &entry->config->verify, on_ended, entry);

	if (!load)
		return NULL;
	if (zones_is_secondary(entry))
		load->absent = LOAD_ABSENT_WAITS;
	else if (entry->config->catalog == CONFIG_CATALOG_PRODUCE)
		load->absent = LOAD_ABSENT_MADE;
	load->needs_zonemd = needs_zonemd(entry);
	if (entry->signing && sign_load(entry, load)) {
		load_free(load);
		return NULL;
	}
	if (entry->zone || !entry->owner->env.store) { /* later only the file counts */
		set_serial_rule(entry, load);
		return load;
	}
	load->store = entry->owner->env.store;
	if (!recall_entry(entry, load->store)) {
		load_free(load);
		return NULL;
	}
	entry->is_expired = zones_is_secondary(entry) && entry->stored.known.expires_wall_s &&
			    entry->stored.known.expires_wall_s <= entry->owner->now.wall_s;
	set_serial_rule(entry, load);
	return load;
}

/* A command may judge differently now, keys may have changed, the journal may have room again, and
 * the mark is not that of a version that waits to be published. */
bool zones_may_stay(const struct zones_entry *entry)
{
	const struct config_zone *config = entry->config;

	return !entry->signing && !config->signing && !config->verify.argv &&
	       !zones_is_secondary(entry) && config->catalog != CONFIG_CATALOG_PRODUCE &&
	       entry->state == ZONES_SERVING && !entry->on_disk.is_wrong && !entry->loading.fresh &&
	       !sentence_is_set(&entry->stored.error);
}

static void begin_zones_entry(struct zones_entry *entry)
{
	bool is_changed = entry->loading.is_changed;
	struct load *load;

	entry->loading.n_wanted = ++entry->loading.n_begun;
	entry->loading.is_changed = false;
	if (zones_newest(entry) &&
	    (zones_is_secondary(entry) || entry->config->catalog == CONFIG_CATALOG_PRODUCE)) {
		/* the content comes from primaries or from us, not from the file */
		note_entry_end(entry, 0);
		return;
	}
	if (entry->config->signing && !entry->signing) { /* it is never served unsigned instead */
		note_entry_error(entry, sentence_text(&entry->stored.error));
		note_entry_end(entry, ERR_ZONE);
		return;
	}
	load = load_of_file(entry);
	if (load && !is_changed && zones_may_stay(entry))
		load->known = entry->on_disk.mark;
	if (load) {
		start_entry(entry, load);
		return;
	}
	note_entry_error(entry, err_text(-ENOMEM));
	note_entry_end(entry, -ENOMEM);
}

uint64_t zones_begin_install(struct zones_entry *entry, struct zone_builder *builder)
{
	struct load *load =
		load_new(entry->name, "transfer", &entry->config->verify, on_ended, entry);

	if (!load)
		return 0;
	load->source = LOAD_TRANSFER;
	load->builder = builder;
	load->needs_zonemd = needs_zonemd(entry);
	entry->loading.n_wanted = ++entry->loading.n_begun;
	start_entry(entry, load);
	return entry->loading.n_begun;
}

/* --- Compaction ------------------------------------------------------------------------------- */

static int apply_since(struct zones_entry *entry, struct zone **zone)
{
	int err = 0;

	for (size_t i = 0; i < entry->compaction->n && !err; i++)
		err = replay_set(zone, &entry->compaction->since[i]);
	return err;
}

static void on_compacted(struct load *load)
{
	struct zones_entry *entry = load->user;
	int err = load->code;

	if (!entry) {
		load_free(load);
		return;
	}
	if (!err)
		err = apply_since(entry, &load->zone);
	if (!err && zones_newest(entry) && is_same_content(load->zone, zones_newest(entry))) {
		zone_unref(entry->edited);
		entry->edited = load->zone;
		load->zone = NULL;
		zones_mark_changed(entry->owner, entry);
		zones_flush_soon(entry->owner);
	} else if (err != -ECANCELED) {
		log_info("zone %s: the image made of its changes is not used: %s", entry->name,
			 err ? err_text(err) : "the zone has changed meanwhile");
	}
	compaction_free(entry);
	loader_discard(entry->owner->env.loader, load);
}

void zones_compact(struct zones *zones, struct zones_entry *entry)
{
	struct load *load;

	if (entry->compaction || !zones_newest(entry))
		return;
	entry->compaction = calloc(1, sizeof(*entry->compaction));
	load = load_new(entry->name, "memory", NULL, on_compacted, entry);
	if (!load || !entry->compaction) {
		load_free(load);
		compaction_free(entry);
		return;
	}
	load->source = LOAD_VERSION;
	load->version = zone_ref(zones_newest(entry));
	entry->compaction->load = load;
	loader_start(zones->env.loader, load);
}

int zones_note_since(struct zones_entry *entry, const struct changeset *net)
{
	struct zones_compaction *c = entry->compaction;
	struct changeset *since;
	int err;

	if (!c)
		return 0;
	if (c->n == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 16;

		since = realloc(c->since, cap * sizeof(*since));
		if (!since)
			return -ENOMEM;
		c->since = since;
		c->cap = cap;
	}
	err = changeset_load(&c->since[c->n], net->bytes, net->n_bytes);
	c->n += !err;
	return err;
}

/* --- Requests --------------------------------------------------------------------------------- */

/* Its end is handled as that of a reload. */
void zones_resign(struct zones *zones, struct zones_entry *entry)
{
	struct load *load;

	if (zones_is_loading(entry) || entry->loading.fresh || !entry->zone)
		return;
	load = load_new(entry->name, "memory", &entry->config->verify, on_ended, entry);
	if (!load || sign_by(load, entry)) {
		load_free(load);
		return;
	}
	load->source = LOAD_RESIGN;
	load->version = zone_ref(zones_newest(entry));
	entry->loading.n_wanted = ++entry->loading.n_begun;
	start_entry(entry, load);
	zones_await(zones, entry);
}

uint32_t zones_ask(struct zones_entry *entry)
{
	struct zones_loading *l = &entry->loading;

	if (l->is_queued)
		return l->n_wanted;
	if (!l->load && entry->owner->n_loads >= ZONES_LOADS_MAX &&
	    put_in_queue(entry->owner, entry))
		l->n_wanted = l->n_begun + 1;
	else if (!l->load)
		begin_zones_entry(entry);
	else if (l->is_changed || l->load->source == LOAD_RESIGN ||
		 loader_has_begun(entry->owner->env.loader, l->load))
		l->n_wanted = l->n_begun + 1;
	return l->n_wanted;
}

void zones_forget_compaction(struct zones_entry *entry)
{
	if (entry->compaction)
		entry->compaction->load->user = NULL;
	compaction_free(entry);
}

static void cancel_entry_load(struct zones_entry *entry, struct load *load)
{
	load->user = NULL;
	loader_cancel(entry->owner->env.loader, load);
}

void zones_forget_load(struct zones_entry *entry)
{
	struct load *load = entry->loading.load;

	leave_queue(entry);
	if (entry->loading.awaited_number) {
		entry->loading.awaited_number = 0;
		entry->owner->n_awaited--;
		loader_wake(entry->owner->env.loader); /* it may have been the last */
	}
	if (load) {
		entry->loading.load = NULL;
		entry->owner->n_loads--;
		cancel_entry_load(entry, load);
	}
	if (entry->compaction)
		cancel_entry_load(entry, entry->compaction->load);
	compaction_free(entry);
}
