/* SPDX-License-Identifier: GPL-2.0-only */
/* One zone: found by its name, and loaded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "control/zones_internal.h"
#include "dns/name.h"

/* --- By name ------------------------------------------------------------------------------------- */

struct apex {
	const uint8_t *bytes;
	unsigned int len;
};

static int compare_apex(const struct apex *a, const struct apex *b)
{
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->len);
}

static int compare_key(const void *key, const void *member)
{
	const struct zones_entry *entry = *(struct zones_entry *const *)member;
	struct apex apex = { entry->apex, entry->apex_len };

	return compare_apex(key, &apex);
}

int zones_compare(const void *a, const void *b)
{
	const struct zones_entry *entry = *(struct zones_entry *const *)a;
	struct apex apex = { entry->apex, entry->apex_len };

	return compare_key(&apex, b);
}

/* The length of the apex, written in folded wire form, or a negative code. */
static int fold_apex(uint8_t folded[NAME_FOLDED_BYTES], const char *name)
{
	uint8_t wire[DNS_NAME_MAX];
	int len = name_from_text(wire, sizeof(wire), name, strlen(name));

	if (len > 0)
		name_fold(folded, wire, (size_t)len);
	return len;
}

struct zones_entry *zones_get(const struct zones *zones, const char *name)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	int len = fold_apex(folded, name);
	struct apex key = { folded, (unsigned int)len };
	struct zones_entry **at;

	if (len <= 0 || !zones->n)
		return NULL;
	at = bsearch(&key, zones->by_apex, zones->n, sizeof(struct zones_entry *), compare_key);
	return at ? *at : NULL;
}

/* --- An entry ------------------------------------------------------------------------------------ */

struct zones_entry *zones_entry_new(struct zones *zones, const char *name)
{
	struct zones_entry *entry = calloc(1, sizeof(*entry));
	uint8_t folded[NAME_FOLDED_BYTES];
	int len = fold_apex(folded, name);

	if (!entry || len <= 0) {
		free(entry);
		return NULL;
	}
	entry->owner = zones;
	entry->apex_len = (unsigned int)len;
	memcpy(entry->apex, folded, (size_t)len);
	return entry;
}

void zones_entry_free(struct zones_entry *entry)
{
	zone_free(entry->zone);
	load_free(entry->fresh);
	free(entry->name);
	free(entry->file);
	verify_fini(&entry->verify);
	free(entry);
}

static void note_error(struct zones_entry *entry, const char *error)
{
	snprintf(entry->error, sizeof(entry->error), "%s", error);
	if (entry->zone)
		entry->state = ZONES_STALE;
	log_error("zone %s: %s%s", entry->name, entry->error,
		  entry->zone ? "; the earlier version keeps serving" : "");
}

/* Keeps what was loaded until it is published. */
static void take(struct zones_entry *entry, struct load *load)
{
	if (entry->fresh)
		loader_discard(entry->owner->env.loader, entry->fresh);
	entry->fresh = load;
	entry->error[0] = 0;
	snprintf(entry->warning, sizeof(entry->warning), "%s", load->err.warning);
	if (load->err.n_warnings)
		log_warn("zone %s: %s", entry->name, load->err.warning);
}

/* --- Loading ------------------------------------------------------------------------------------- */

static void begin(struct zones_entry *entry);

static void note_end(struct zones_entry *entry, int code)
{
	entry->code = code;
	entry->n_ended = entry->n_begun;
	if (entry->is_awaited && entry->n_ended >= entry->awaited_number) {
		entry->is_awaited = false;
		entry->owner->n_awaited--;
	}
	if (entry->again && code != -ECANCELED)
		begin(entry);
}

static void on_ended(struct load *load)
{
	struct zones_entry *entry = load->user;
	char error[sizeof(entry->error)];
	int code = load->code;

	if (!entry) { /* its zone has left the configuration */
		load_free(load);
		return;
	}
	entry->load = NULL;
	if (!code) {
		take(entry, load);
	} else {
		load_put_error(load, error, sizeof(error));
		if (code != -ECANCELED)
			note_error(entry, error);
		load_free(load);
	}
	note_end(entry, code);
}

/*
 * That the load will replace, unless something comes in between. No other load of the zone can end
 * meanwhile, so it lives as long: only zones_forget_load() has to see to that.
 */
static struct zone *expected_zone(const struct zones_entry *entry)
{
	return entry->fresh ? entry->fresh->zone : entry->zone;
}

static void begin(struct zones_entry *entry)
{
	entry->again = false;
	entry->n_begun++;
	entry->is_changed = false;
	entry->load = load_new(entry->name, entry->file, &entry->verify, on_ended, entry);
	if (entry->load) {
		entry->load->base = expected_zone(entry);
		loader_start(entry->owner->env.loader, entry->load);
		return;
	}
	note_error(entry, err_text(-ENOMEM));
	note_end(entry, -ENOMEM);
}

uint64_t zones_ask(struct zones_entry *entry)
{
	uint64_t number = entry->n_begun + 1;

	if (!entry->load)
		begin(entry);
	else if (entry->is_changed || loader_has_begun(entry->owner->env.loader, entry->load))
		entry->again = true;
	else
		number = entry->n_begun;
	return number;
}

void zones_forget_load(struct zones_entry *entry)
{
	struct load *load = entry->load;

	if (!load)
		return;
	if (load->base && load->base == entry->zone) {
		load->old = entry->zone;
		entry->zone = NULL;
	} else if (load->base) {
		load->old = entry->fresh->zone;
		entry->fresh->zone = NULL;
	}
	load->user = NULL;
	loader_cancel(entry->owner->env.loader, entry->load);
	entry->load = NULL;
}
