/* SPDX-License-Identifier: GPL-2.0-only */
/* Who asks for what, and when it is complete; each zone is in zones_entry.c. */
#include "control/zones.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/log.h"
#include "control/zones_internal.h"
#include "zone/set.h"

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
		if (entry->fresh && !entry->is_gone)
			entry->in_set = entry->is_due = is_due = true;
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
			zones_entry_free(table->entries[i]);
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
		struct zones_entry *entry = zones_get(zones, list->zones[i].name);

		if (!entry)
			entry = zones_entry_new(zones, list->zones[i].name);
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
	qsort(table->by_apex, table->n, sizeof(struct zones_entry *), zones_compare);
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
		entry->awaited_number = zones_ask(entry);
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
		zones_forget_load(entry);
		zones_entry_free(entry);
	}
	zones->n = n;
	memcpy(zones->by_apex, zones->entries, n * sizeof(struct zones_entry *));
	qsort(zones->by_apex, n, sizeof(struct zones_entry *), zones_compare);
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
	struct zones_entry *entry = zones_get(zones, name);
	struct zones_waiter *waiter;

	if (!entry || entry->is_leaving)
		return ERR_NOT_FOUND;
	waiter = waiter_new(done, user);
	if (!waiter)
		return -ENOMEM;
	waiter->entry = entry;
	waiter->number = zones_ask(entry);
	push(&zones->singles, waiter);
	loader_wake(zones->env.loader); /* it may have failed to begin */
	return 0;
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
	for (i = 0; i < zones->n; i++)
		zones->entries[i]->again = false;
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
		zones_entry_free(zones->entries[i]);
	free(zones->entries);
	free(zones->by_apex);
	free(zones);
}

int zones_set_settings(struct zones *zones, uint64_t settings_digest)
{
	if (settings_digest == zones->env.settings_digest)
		return 0;
	zones->env.settings_digest = settings_digest;
	return zones->env.published->set ? zones_publish(zones) : 0;
}

void zones_set_cache(struct zones *zones, struct cache *cache)
{
	zones->env.cache = cache;
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
	return zones_get(zones, name);
}
