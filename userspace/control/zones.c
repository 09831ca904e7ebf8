/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is asked for, by whom, and what was loaded; what is served is in zones_publish.c. */
#include "control/zones.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/log.h"
#include "cache/zones.h"
#include "control/zones_internal.h"
#include "dns/name.h"
#include "zone/set.h"

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

static int compare_entries(const void *a, const void *b)
{
	const struct zones_entry *entry = *(struct zones_entry *const *)a;
	struct apex apex = { entry->apex, entry->apex_len };

	return compare_key(&apex, b);
}

struct zones_entry *zones_search(const struct zones *zones, const uint8_t *apex, unsigned int len)
{
	struct apex key = { apex, len };
	struct zones_entry **at;

	if (!zones->n)
		return NULL;
	at = bsearch(&key, zones->by_apex, zones->n, sizeof(struct zones_entry *), compare_key);
	return at ? *at : NULL;
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

static struct zones_entry *find(const struct zones *zones, const char *name)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	int len = fold_apex(folded, name);

	return len > 0 ? zones_search(zones, folded, (unsigned int)len) : NULL;
}

/* --- An entry ------------------------------------------------------------------------------------ */

static struct zones_entry *entry_new(struct zones *zones, const char *name)
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

static void entry_free(struct zones_entry *entry)
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
	load_free(entry->fresh);
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

static void begin(struct zones_entry *entry)
{
	entry->again = false;
	entry->n_begun++;
	entry->is_changed = false;
	entry->load = load_new(entry->name, entry->file, &entry->verify, on_ended, entry);
	if (entry->load) {
		loader_start(entry->owner->env.loader, entry->load);
		return;
	}
	note_error(entry, err_text(-ENOMEM));
	note_end(entry, -ENOMEM);
}

/* Sees to a load of what is there from now on; the number of the load. */
static uint64_t ask(struct zones_entry *entry)
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

static void forget_load(struct zones_entry *entry)
{
	if (!entry->load)
		return;
	entry->load->user = NULL;
	loader_cancel(entry->owner->env.loader, entry->load);
	entry->load = NULL;
}

/* --- Who waits ----------------------------------------------------------------------------------- */

static struct zones_waiter *waiter_new(zones_done_fn *done, void *user)
{
	struct zones_waiter *waiter = calloc(1, sizeof(*waiter));

	if (waiter) {
		waiter->done = done;
		waiter->user = user;
	}
	return waiter;
}

static void push(struct zones_waiter **list, struct zones_waiter *waiter)
{
	waiter->next = *list;
	*list = waiter;
}

/* Tells all of the list. What they do with it may put others on a list, but not on this one. */
static void tell(struct zones_waiter *list, int err)
{
	struct zones_waiter *next;

	for (; list; list = next) {
		next = list->next;
		list->done(list->user, err ? err : list->code);
		free(list);
	}
}

/* Moves those to `over` whose load has ended, or whose zone leaves. True: there is something to publish. */
static bool end_singles(struct zones *zones, struct zones_waiter **over)
{
	struct zones_waiter **at = &zones->singles, *waiter;
	bool is_due = false;

	while ((waiter = *at)) {
		struct zones_entry *entry = waiter->entry;

		if (entry->n_ended < waiter->number && !entry->is_gone) {
			at = &waiter->next;
			continue;
		}
		waiter->code = entry->is_gone ? ERR_NOT_FOUND : entry->code;
		if (entry->fresh && !entry->is_gone) {
			zones->is_list_new |= !entry->in_set;
			entry->in_set = entry->is_due = is_due = true;
		}
		*at = waiter->next;
		push(over, waiter);
	}
	return is_due;
}

/* --- Configuration ------------------------------------------------------------------------------- */

/* Frees what was made for a configuration that cannot be begun. */
static void table_free(struct zones *table)
{
	size_t i;

	for (i = 0; table->entries && i < table->n; i++)
		if (!table->entries[i]->name) /* new: the others are those that serve */
			entry_free(table->entries[i]);
	free(table->entries);
	free(table->by_apex);
}

/* The entries of `list`, those that are there already, unchanged, and new ones. */
static int table_new(struct zones *table, struct zones *zones, const struct zones_list *list)
{
	size_t cap = zones->n + list->n + 1, i;

	*table = (struct zones){
		.entries = calloc(cap, sizeof(struct zones_entry *)),
		.by_apex = calloc(cap, sizeof(struct zones_entry *)),
	};
	if (!table->entries || !table->by_apex) {
		table_free(table);
		return -ENOMEM;
	}
	for (i = 0; i < list->n; i++) {
		struct zones_entry *entry = find(zones, list->zones[i].name);

		if (!entry)
			entry = entry_new(zones, list->zones[i].name);
		if (!entry) {
			table_free(table);
			return -ENOMEM;
		}
		table->entries[table->n++] = entry;
	}
	return 0;
}

/* Takes over what the configuration says of the zone. */
static void entry_configure(struct zones_entry *entry, struct config_zone *config)
{
	entry->is_changed |= entry->file && (strcmp(entry->file, config->file) != 0 ||
					     !verify_equal(&entry->verify, &config->verify));
	free(entry->name);
	free(entry->file);
	verify_fini(&entry->verify);
	entry->name = config->name;
	entry->file = config->file;
	entry->verify = config->verify;
	config->name = config->file = NULL;
	config->verify.argv = NULL;
	entry->is_leaving = entry->is_gone = false;
}

/* Puts the table in place of that of `zones`, behind it those that will leave. */
static void table_adopt(struct zones *zones, struct zones *table, struct zones_list *list)
{
	size_t i;

	for (i = 0; i < zones->n; i++)
		zones->entries[i]->is_leaving = true;
	for (i = 0; i < list->n; i++)
		entry_configure(table->entries[i], &list->zones[i]);
	for (i = 0; i < zones->n; i++)
		if (zones->entries[i]->is_leaving)
			table->entries[table->n++] = zones->entries[i];
	memcpy(table->by_apex, table->entries, table->n * sizeof(struct zones_entry *));
	qsort(table->by_apex, table->n, sizeof(struct zones_entry *), compare_entries);
	free(zones->entries);
	free(zones->by_apex);
	zones->entries = table->entries;
	zones->by_apex = table->by_apex;
	zones->n = table->n;
}

static int begin_configuration(struct zones *zones, struct zones_list *list)
{
	struct zones table;
	int err = table_new(&table, zones, list);
	size_t i;

	if (err)
		return err;
	table_adopt(zones, &table, list);
	zones->is_configuring = true;
	for (i = 0; i < list->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		entry->is_awaited = true;
		zones->n_awaited++;
		entry->awaited_number = UINT64_MAX; /* not known yet */
		entry->awaited_number = ask(entry);
		if (entry->n_ended < entry->awaited_number)
			continue;
		entry->is_awaited = false; /* it could not even begin */
		zones->n_awaited--;
	}
	loader_wake(zones->env.loader); /* there may be nothing to wait for */
	return 0;
}

/* All is loaded that can be: from the next publish on, this is what is served. */
static void end_configuration(struct zones *zones, struct zones_waiter **over)
{
	struct zones_waiter *waiter;
	int first = 0;
	size_t i;

	for (i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		zones->is_list_new |= entry->in_set == entry->is_leaving;
		entry->is_gone = entry->is_leaving;
		entry->in_set = !entry->is_leaving;
		entry->is_due = entry->in_set;
		if (!first && entry->in_set)
			first = entry->code;
	}
	while ((waiter = zones->running)) {
		zones->running = waiter->next;
		waiter->code = first;
		push(over, waiter);
	}
	zones->is_configuring = false;
}

/* Frees the entries that nobody serves from any more. */
static void remove_leaving(struct zones *zones)
{
	size_t i, n = 0;

	for (i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		if (!entry->is_gone) {
			zones->entries[n++] = entry;
			continue;
		}
		log_info("zone %s: no longer configured", entry->name);
		forget_load(entry);
		entry_free(entry);
	}
	zones->n = n;
	memcpy(zones->by_apex, zones->entries, n * sizeof(struct zones_entry *));
	qsort(zones->by_apex, n, sizeof(struct zones_entry *), compare_entries);
}

static void begin_next(struct zones *zones)
{
	struct zones_list list = zones->next;
	int err;

	zones->next = (struct zones_list){ NULL, 0, false };
	zones->running = zones->later;
	zones->later = NULL;
	err = begin_configuration(zones, &list);
	config_zones_free(list.zones, list.n);
	if (err) {
		struct zones_waiter *over = zones->running;

		zones->running = NULL;
		tell(over, err);
	}
}

void zones_poll(struct zones *zones)
{
	bool is_configured = zones->is_configuring && !zones->n_awaited;
	struct zones_waiter *over = NULL;
	bool is_due = is_configured;
	int err = 0;

	if (is_configured)
		end_configuration(zones, &over);
	is_due |= end_singles(zones, &over);
	if (is_due)
		err = zones_publish(zones);
	if (is_configured && !err)
		err = zones_drop_others(zones);
	if (is_configured && !err)
		remove_leaving(zones);
	if (err)
		log_error("zones: %s", err_text(err));
	tell(over, err);
	if (!zones->is_configuring && zones->next.is_there)
		begin_next(zones);
}

int zones_configure(struct zones *zones, struct config *config, zones_done_fn *done, void *user)
{
	struct zones_list list = { config->zones, config->n_zones, true };
	struct zones_waiter *waiter = waiter_new(done, user);
	int err;

	if (!waiter)
		return -ENOMEM;
	config->zones = NULL;
	config->n_zones = 0;
	if (zones->is_configuring) {
		config_zones_free(zones->next.zones, zones->next.n);
		zones->next = list;
		push(&zones->later, waiter);
		return 0;
	}
	err = begin_configuration(zones, &list);
	config_zones_free(list.zones, list.n);
	if (err)
		free(waiter);
	else
		push(&zones->running, waiter);
	return err;
}

int zones_reload(struct zones *zones, const char *name, zones_done_fn *done, void *user)
{
	struct zones_entry *entry = find(zones, name);
	struct zones_waiter *waiter;

	if (!entry || entry->is_leaving)
		return ERR_NOT_FOUND;
	waiter = waiter_new(done, user);
	if (!waiter)
		return -ENOMEM;
	waiter->entry = entry;
	waiter->number = ask(entry);
	push(&zones->singles, waiter);
	loader_wake(zones->env.loader); /* it may have failed to begin */
	return 0;
}

int zones_flush(struct zones *zones, const char *name)
{
	struct zones_entry *only = name ? find(zones, name) : NULL;
	size_t i;

	if (name && !only)
		return ERR_NOT_FOUND;
	for (i = 0; i < zones->n; i++)
		if (!only || only == zones->entries[i])
			cache_zone_flush(zones->env.cache, zones->entries[i]->cache_slot);
	return zones_publish(zones);
}

/* --- From start to end --------------------------------------------------------------------------- */

int zones_new(struct zones **out, const struct zones_env *env)
{
	struct zones *zones = calloc(1, sizeof(*zones));

	if (!zones)
		return -ENOMEM;
	zones->env = *env;
	*out = zones;
	return 0;
}

void zones_cancel(struct zones *zones)
{
	struct zones_waiter **lists[] = { &zones->singles, &zones->running, &zones->later }, *list;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		list = *lists[i];
		*lists[i] = NULL;
		tell(list, -ECANCELED);
	}
	config_zones_free(zones->next.zones, zones->next.n);
	zones->next = (struct zones_list){ NULL, 0, false };
}

void zones_free(struct zones *zones)
{
	size_t i;

	if (!zones)
		return;
	zone_set_free(rcu_xchg_pointer(&zones->env.published->set, NULL));
	for (i = 0; i < zones->n; i++)
		entry_free(zones->entries[i]);
	free(zones->entries);
	free(zones->by_apex);
	free(zones);
}

size_t zones_n(const struct zones *zones)
{
	return zones->n;
}

const struct zones_entry *zones_at(const struct zones *zones, size_t i)
{
	return zones->entries[i];
}

const struct zones_entry *zones_find(const struct zones *zones, const char *name)
{
	return find(zones, name);
}
