/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests and configurations, and their ends. zones_entry.c has the single zone. */
#include "zonemgr/zonemgr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/log.h"
#include "zone/set.h"
#include "zonemgr/entry.h"
#include "zonemgr/loader.h"
#include "zonemgr/zones_state.h"

/* --- Waiters ---------------------------------------------------------------------------------- */

static struct zones_waiter *waiter_new(zones_done_fn *done, void *user)
{
	struct zones_waiter *waiter = calloc(1, sizeof(*waiter));

	if (waiter) {
		waiter->done = done;
		waiter->user = user;
	}
	return waiter;
}

static void push_zonemgr(struct zones_waiter **list, struct zones_waiter *waiter)
{
	waiter->next = *list;
	*list = waiter;
}

/* Calls done() of the whole list. done() may add waiters to other lists, never to this one. */
static void tell_zonemgr(struct zones_waiter *list, int err)
{
	struct zones_waiter *next;

	for (; list; list = next) {
		next = list->next;
		list->done(list->user, err ? err : list->code);
		free(list);
	}
}

void zones_tell_configured(struct zones *zones, struct zones_entry *entry)
{
	entry->is_reconfigured = false;
	if (zones->env.configured)
		zones->env.configured(zones->env.user, entry);
}

void zones_enter(struct zones *zones, struct zones_entry *entry)
{
	bool is_first = entry->is_member && entry->life == ZONES_COMING;

	if (entry->life == ZONES_COMING)
		entry->life = ZONES_LISTED;
	entry->loading.is_due = true;
	zones_mark_changed(zones, entry);
	if (is_first) /* other zones are reported together */
		zones_tell_configured(zones, entry);
}

/* Moves waiters to `over` if their zone has gone or, unless @only_gone, if their load has ended.
 * True: there is something to publish. */
static bool end_singles(struct zones *zones, bool only_gone, struct zones_waiter **over)
{
	struct zones_waiter **at = &zones->singles, *waiter;
	bool is_due = false;

	while ((waiter = *at)) {
		struct zones_entry *entry = waiter->entry;
		bool is_gone = entry->life == ZONES_GONE;

		if (!is_gone && (only_gone || entry->loading.n_ended < waiter->number)) {
			at = &waiter->next;
			continue;
		}
		waiter->code = is_gone ? ERR_NOT_FOUND : entry->loading.code;
		if (entry->loading.fresh && !is_gone) {
			zones_enter(zones, entry);
			is_due = true;
		}
		*at = waiter->next;
		push_zonemgr(over, waiter);
	}
	return is_due;
}

/* --- Configuration ---------------------------------------------------------------------------- */

/* Frees the table of a configuration that cannot begin. */
static void table_free(struct zones *table)
{
	size_t i;

	for (i = 0; table->entries && i < table->n; i++)
		if (!table->entries[i]->file) /* a new entry: the others are in use */
			zones_entry_free(table->entries[i]);
	free(table->entries);
	free(table->by_apex);
}

#define LISTED_AHEAD 16u /* entries that may have gone in one place */

/* The entry of that name. Most zones follow each other as in the configuration before: *at is the
 * place of the one that is expected next. */
static struct zones_entry *find_listed(const struct zones *zones, const char *name, size_t *at)
{
	for (size_t i = *at; i < zones->n && i < *at + LISTED_AHEAD; i++) {
		if (strcmp(zones->entries[i]->name, name) != 0)
			continue;
		*at = i + 1;
		return zones->entries[i];
	}
	return zones_get(zones, name);
}

/* Makes a table of the entries of `list`: existing ones, unchanged, and new ones. */
static int table_new(struct zones *table, struct zones *zones, const struct zones_list *list)
{
	size_t cap = zones->n + list->n + 1, expected = 0, i;

	*table = (struct zones){
		.cap = cap,
		.entries = calloc(cap, sizeof(struct zones_entry *)),
		.by_apex = calloc(cap, sizeof(struct zones_entry *)),
	};
	if (!table->entries || !table->by_apex) {
		table_free(table);
		return -ENOMEM;
	}
	for (i = 0; i < list->n; i++) {
		struct zones_entry *entry = find_listed(zones, list->zones[i].name, &expected);

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

/* Gives the references back that no entry has taken. */
static void list_free(struct zones_list *list)
{
	for (uint32_t i = 0; list->settings && i < list->n; i++)
		config_zone_unref(list->settings[i]);
	free(list->settings);
	config_zones_free(list->zones, list->n);
	*list = (struct zones_list){ 0 };
}

/* Finds the settings of all zones, so that nothing can fail after that. */
static int share_list(struct zones *zones, struct zones_list *list)
{
	list->settings = calloc(list->n + (size_t)1, sizeof(*list->settings));
	if (!list->settings)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->n; i++) {
		list->settings[i] = zone_pool_share(zones->pool, &list->zones[i]);
		if (!list->settings[i])
			return -ENOMEM;
	}
	return 0;
}

/* Puts the new entries of `table` in order between the old ones, of which none has gone yet. */
static void sort_table(const struct zones *zones, struct zones *table)
{
	struct zones_entry **sorted = table->by_apex;
	size_t n_new = 0, n_old = zones->n, at;

	for (size_t i = 0; i < table->n; i++)
		if (!table->entries[i]->file)
			sorted[n_new++] = table->entries[i];
	if (n_new)
		qsort(sorted, n_new, sizeof(struct zones_entry *), zones_compare);
	/* from the end, so that the new ones at the start are moved before they are overwritten */
	for (at = n_new + n_old; n_old; at--)
		if (n_new && zones_compare(&sorted[n_new - 1], &zones->by_apex[n_old - 1]) > 0)
			sorted[at - 1] = sorted[--n_new];
		else
			sorted[at - 1] = zones->by_apex[--n_old];
}

/* Replaces the table of `zones`, and appends the entries that will leave. */
static void table_adopt(struct zones *zones, struct zones *table, struct zones_list *list)
{
	size_t i;

	sort_table(zones, table); /* while new entries have no file */
	zones->n_configurations++;
	for (i = 0; i < list->n; i++) {
		zones_set_config(table->entries[i], &list->zones[i], list->settings[i]);
		list->settings[i] = NULL;
		table->entries[i]->configuration = zones->n_configurations;
	}
	for (i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		if (entry->configuration == zones->n_configurations)
			continue;
		table->entries[table->n++] = entry;
		if (entry->is_member || entry->life != ZONES_LISTED)
			continue; /* its catalog or a command decides about a member */
		entry->is_member = zones_is_added(entry);
		if (!entry->is_member)
			entry->life = ZONES_LEAVING;
	}
	for (i = 0; i < table->n; i++)
		table->entries[i]->at = (uint32_t)i;
	free(zones->entries);
	free(zones->by_apex);
	zones->entries = table->entries;
	zones->by_apex = table->by_apex;
	zones->n = table->n;
	zones->cap = table->cap;
}

static void await_member(struct zones *zones, struct zones_entry *entry)
{
	struct zones_loading *l = &entry->loading;

	if (l->n_ended >= l->n_wanted)
		return; /* it could not begin */
	l->awaited_number = l->n_wanted;
	zones->n_awaited++;
}

/* Keys of zones that are signed here are looked at again: they may have become usable. */
static void sign_again(struct zones *zones)
{
	for (size_t i = 0; i < zones->n_listed && zones->env.sign; i++)
		if (zones->entries[i]->config->signing || zones->entries[i]->signing)
			zones->env.sign(zones->env.user, zones->entries[i]);
}

/* Replaces the entries of the configuration before. */
static int begin_list(struct zones *zones, struct zones_list *list)
{
	struct zones table;
	int err = share_list(zones, list);

	if (!err)
		err = table_new(&table, zones, list);
	zones->has_failed = err;
	if (err)
		return err;
	table_adopt(zones, &table, list);
	zones->n_listed = list->n;
	zone_pool_trim(zones->pool);
	return 0;
}

static int begin_configuration(struct zones *zones, struct zones_list *list)
{
	int err = list->is_same ? 0 : begin_list(zones, list);

	if (err)
		return err;
	if (list->is_same)
		sign_again(zones);
	zones->is_configuring = true;
	if (zones->n_configurations == 1 && !list->is_same)
		zones_recall_all(zones);
	zones_checks_begin(zones, zones->n_listed);
	/* The members that a start has read from the store. Later ones do not delay a reload. */
	for (size_t i = list->n; zones->n_configurations == 1 && !list->is_same && i < zones->n;
	     i++)
		await_member(zones, zones->entries[i]);
	return 0;
}

/* The next publish serves the zone as the configuration wants it. */
static void end_entry_configuration(struct zones *zones, struct zones_entry *entry)
{
	const enum zones_life before = entry->life;

	if (!entry->is_member) /* members do not depend on the configuration */
		entry->life = zones_is_leaving(entry) ? ZONES_GONE : ZONES_LISTED;
	zones->is_all_due |= entry->life != before;
	entry->loading.is_due = entry->loading.fresh && zones_is_answered(entry);
	if (entry->loading.is_due || zones_next_state(entry) != entry->state)
		zones_mark_changed(zones, entry);
}

/* All loads of the configuration have ended: the next publish serves it. */
static void end_configuration(struct zones *zones, struct zones_waiter **over)
{
	struct zones_waiter *waiter;
	int first = 0;
	size_t i;

	for (i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		end_entry_configuration(zones, entry);
		if (!first && entry->life == ZONES_LISTED && !entry->is_member)
			first = entry->loading.code;
	}
	while ((waiter = zones->running)) {
		zones->running = waiter->next;
		waiter->code = first;
		push_zonemgr(over, waiter);
	}
	zones->is_configuring = false;
	zones->is_configured_due = true;
}

static void forget_order_of_gone(struct zones *zones)
{
	size_t n = 0;

	for (size_t i = 0; i < zones->n; i++)
		if (zones->by_apex[i]->life != ZONES_GONE)
			zones->by_apex[n++] = zones->by_apex[i];
}

static void end_entry(struct zones *zones, struct zones_entry *entry)
{
	log_info("zone %s: no longer configured", entry->name);
	if (zones->env.gone)
		zones->env.gone(zones->env.user, entry);
	zones_forget_load(entry);
	zones_forget_made(zones, entry);
	zones_forget_due(zones, entry);
	zones_forget_tended(zones, entry);
	zones_entry_free(entry);
}

/* The last entry takes its place: that is a member, too. */
static void table_remove(struct zones *zones, const struct zones_entry *entry)
{
	struct zones_entry **at = bsearch(&entry, zones->by_apex, zones->n,
					  sizeof(struct zones_entry *), zones_compare);
	struct zones_entry *last = zones->entries[--zones->n];

	zones->entries[entry->at] = last;
	last->at = entry->at;
	memmove(at, at + 1,
		(size_t)(zones->by_apex + zones->n - at) * sizeof(struct zones_entry *));
}

void zones_remove_gone(struct zones *zones, struct zones_entry *const *gone, size_t n)
{
	struct zones_waiter *over = NULL;

	if (!n)
		return;
	(void)end_singles(zones, true, &over); /* before the entries are freed */
	zones_checks_forget_gone(zones);
	for (size_t i = 0; i < n; i++) {
		table_remove(zones, gone[i]);
		end_entry(zones, gone[i]);
	}
	if (zones->env.gone_together)
		zones->env.gone_together(zones->env.user);
	tell_zonemgr(over, ERR_NOT_FOUND);
}

static void remove_zonemgr_gone(struct zones *zones)
{
	struct zones_waiter *over = NULL;
	size_t i, n = 0;

	(void)end_singles(zones, true, &over); /* before the entries are freed */
	zones_checks_forget_gone(zones);
	forget_order_of_gone(zones);
	for (i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		entry->at = (uint32_t)n;
		if (entry->life != ZONES_GONE)
			zones->entries[n++] = entry;
		else
			end_entry(zones, entry);
	}
	if (n < zones->n) {
		if (zones->env.gone_together)
			zones->env.gone_together(zones->env.user);
		zones->n = n;
	}
	tell_zonemgr(over, ERR_NOT_FOUND);
}

static void begin_next(struct zones *zones)
{
	struct zones_list list = zones->next;
	int err;

	zones->next = (struct zones_list){ 0 };
	zones->running = zones->later;
	zones->later = NULL;
	err = begin_configuration(zones, &list);
	list_free(&list);
	if (err) {
		struct zones_waiter *over = zones->running;

		zones->running = NULL;
		tell_zonemgr(over, err);
	}
}

/* True if env.configured acts on the reload of a zone with the same settings, too: the members of a
 * catalog depend on other settings, and primaries are asked again for a zone that has not come. */
static bool has_news_of_others(const struct zones_entry *entry)
{
	return entry->config->catalog != CONFIG_CATALOG_NONE || !entry->zone;
}

/* Calls env.configured for the zones, after the first version, if any, is served. catalogs.c does
 * so for members. */
static void call_configured(struct zones *zones)
{
	zones->is_configured_due = false;
	for (size_t i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		if (zones_is_answered(entry) && !entry->is_member &&
		    (entry->is_reconfigured || has_news_of_others(entry)))
			zones_tell_configured(zones, entry);
	}
}

int zones_publish_all(struct zones *zones)
{
	int err;

	zones->is_all_due = false;
	err = zones_publish(zones);
	if (!err)
		err = zones_drop_others(zones);
	if (err)
		return err;
	remove_zonemgr_gone(zones);
	if (zones->is_configured_due)
		call_configured(zones);
	return 0;
}

/* Serves the configuration that was loaded. If no zone has come or gone, that costs only the zones
 * that have changed. */
static int publish_configuration(struct zones *zones)
{
	int err;

	if (zones->is_all_due || !zones->env.published->set)
		return zones_publish_all(zones);
	err = zones_publish_changed(zones);
	if (!err && zones->is_configured_due)
		call_configured(zones);
	return err;
}

void zones_poll(struct zones *zones)
{
	bool is_configured = zones->is_configuring && !zones->n_awaited;
	struct zones_waiter *over = NULL;
	bool is_due;
	int err = 0;

	zones_flush_journal(zones);
	zones->is_poll_due = !is_configured && zones->now.ns < zones_pause_end(zones);
	if (zones->is_poll_due) {
		if (zones_pause_end(zones) < zones->flush_at_ns)
			zones->flush_at_ns = zones_pause_end(zones);
		return;
	}
	if (is_configured)
		end_configuration(zones, &over);
	is_due = !zones_is_starting(zones) && end_singles(zones, false, &over);
	if (is_configured && zones->n_configurations == 1)
		zones_enter_members(zones);
	if (is_configured)
		err = publish_configuration(zones);
	else if (is_due)
		err = zones_publish_changed(zones);
	if (err) {
		log_error("zones: %s", err_text(err));
		zones_flush_again(zones);
	}
	tell_zonemgr(over, err);
	if (!zones->is_configuring && zones->next.is_there)
		begin_next(zones);
}

bool zones_have_configuration(const struct zones *zones)
{
	return zones->n_configurations && !zones->has_failed;
}

int zones_configure(struct zones *zones, struct config *config, zones_done_fn *done, void *user)
{
	struct zones_list list = { .zones = config->zones,
				   .n = config->n_zones,
				   .is_there = true,
				   .is_same = config->has_same_zones };
	struct zones_waiter *waiter = waiter_new(done, user);
	int err;

	if (!waiter)
		return -ENOMEM;
	config->zones = NULL;
	config->n_zones = 0;
	if (list.n)
		withdrawal_expect(zones->env.cache);
	if (zones->is_configuring) {
		if (!list.is_same || !zones->next.is_there) { /* else the waiting one has them */
			list_free(&zones->next);
			zones->next = list;
		}
		push_zonemgr(&zones->later, waiter);
		return 0;
	}
	err = begin_configuration(zones, &list);
	list_free(&list);
	if (err)
		free(waiter);
	else
		push_zonemgr(&zones->running, waiter);
	return err;
}

/* Inserts it into n sorted entries. */
static void insert_zonemgr(struct zones_entry **sorted, size_t n, struct zones_entry *entry)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (zones_compare(&sorted[mid], &entry) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	memmove(&sorted[lo + 1], &sorted[lo], (n - lo) * sizeof(*sorted));
	sorted[lo] = entry;
}

int zones_table_add(struct zones *zones, struct zones_entry *entry)
{
	size_t cap = zones->cap > zones->n ? zones->cap : 2 * zones->n + 16;
	struct zones_entry **grown;

	if (cap != zones->cap) {
		grown = realloc(zones->entries, cap * sizeof(struct zones_entry *));
		if (!grown)
			return -ENOMEM;
		zones->entries = grown;
		grown = realloc(zones->by_apex, cap * sizeof(struct zones_entry *));
		if (!grown)
			return -ENOMEM;
		zones->by_apex = grown;
		zones->cap = cap;
	}
	entry->at = (uint32_t)zones->n;
	zones->entries[zones->n] = entry;
	insert_zonemgr(zones->by_apex, zones->n++, entry);
	return 0;
}

/* Adds a waiter: done() is called when the load with that number has ended and is published. */
static int wait_for_zonemgr(struct zones *zones, struct zones_entry *entry, uint64_t number,
			    zones_done_fn *done, void *user)
{
	struct zones_waiter *waiter = waiter_new(done, user);

	if (!waiter)
		return -ENOMEM;
	waiter->entry = entry;
	waiter->number = number;
	push_zonemgr(&zones->singles, waiter);
	loader_wake(zones->env.loader); /* the load may have failed to begin */
	return 0;
}

/* Removes the last waiter of wait_for_zonemgr(), without done(). */
static void forget_last(struct zones *zones)
{
	struct zones_waiter *waiter = zones->singles;

	zones->singles = waiter->next;
	free(waiter);
}

static void nobody_waits(void *user, int code)
{
	(void)user, (void)code; /* the entry has the error */
}

void zones_await(struct zones *zones, struct zones_entry *entry)
{
	if (wait_for_zonemgr(zones, entry, entry->loading.n_begun, nobody_waits, NULL))
		log_error("zone %s: %s", entry->name, err_text(-ENOMEM));
}

void zones_keep_member(struct zones *zones, struct zones_entry *entry)
{
	if (zones_is_answered(entry))
		zones_tell_configured(zones, entry);
}

void zones_configure_member(struct zones *zones, struct zones_entry *entry,
			    struct config_zone *config)
{
	const struct config_zone *settings = zone_pool_share(zones->pool, config);

	if (!settings) {
		log_error("zone %s: %s", entry->name, err_text(-ENOMEM));
		return;
	}
	zones_set_config(entry, config, settings);
	entry->is_member = true;
	if (entry->loading.is_changed && zones_reload(zones, entry->name, nobody_waits, NULL))
		log_error("zone %s: %s", entry->name, err_text(-ENOMEM));
	if (entry->is_reconfigured || has_news_of_others(entry))
		zones_keep_member(zones, entry);
}

int zones_install(struct zones *zones, struct zones_entry *entry, struct zone_builder *builder,
		  zones_done_fn *done, void *user)
{
	int err;

	if (zones_is_loading(entry) || zones_is_leaving(entry))
		return -EBUSY;
	/* The waiter first: after the load has begun, the builder cannot be given back. */
	err = wait_for_zonemgr(zones, entry, entry->loading.n_begun + 1, done, user);
	if (!err && !zones_begin_install(entry, builder)) {
		forget_last(zones);
		err = -ENOMEM;
	}
	return err;
}

int zones_reload(struct zones *zones, const char *name, zones_done_fn *done, void *user)
{
	struct zones_entry *entry = zones_get(zones, name);

	if (!entry || zones_is_leaving(entry))
		return ERR_NOT_FOUND;
	entry->loading.is_changed = true; /* whoever names the zone wants its file to be read */
	return wait_for_zonemgr(zones, entry, zones_ask(entry), done, user);
}

/* --- From start to end ------------------------------------------------------------------------ */

int zones_new(struct zones **out, const struct zones_env *env)
{
	struct zones *zones = calloc(1, sizeof(*zones));

	if (!zones)
		return -ENOMEM;
	zones->pool = zone_pool_new();
	if (!zones->pool) {
		free(zones);
		return -ENOMEM;
	}
	zones->env = *env;
	zones->made_end = &zones->made;
	zones->store_due_end = &zones->store_due;
	zones->tended_end = &zones->tended;
	zones->flush_at_ns = UINT64_MAX;
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
		tell_zonemgr(list, -ECANCELED);
	}
	zones_cancel_made(zones);
	zones_checks_cancel(zones);
	zones_clear_queue(zones);
	for (i = 0; i < zones->n; i++) {
		struct zones_entry *entry = zones->entries[i];

		entry->loading.n_wanted = entry->loading.n_begun;
		zones_forget_compaction(entry);
	}
	list_free(&zones->next);
}

void zones_free(struct zones *zones)
{
	size_t i;

	if (!zones)
		return;
	zone_set_free(rcu_xchg_pointer(&zones->env.published->set, NULL));
	if (zones->env.published->root_copy)
		zone_set_free(rcu_xchg_pointer(&zones->env.published->root_copy->set, NULL));
	zones_clear_queue(zones);
	for (i = 0; i < zones->n; i++)
		zones_entry_free(zones->entries[i]);
	free(zones->entries);
	free(zones->by_apex);
	zone_pool_free(zones->pool);
	free(zones);
}

int zones_set_settings(struct zones *zones, uint64_t settings_digest)
{
	if (settings_digest == zones->env.settings_digest)
		return 0;
	zones_flush_journal(zones); /* before pending changes are served with the rest */
	zones->env.settings_digest = settings_digest;
	return zones->env.published->set ? zones_publish(zones) : 0;
}

void zones_set_cache(struct zones *zones, struct cache *cache)
{
	zones->env.cache = cache;
	if (zones->n)
		withdrawal_expect(cache);
}

size_t zones_n(const struct zones *zones)
{
	return zones->n;
}

bool zones_has_loads(const struct zones *zones)
{
	return zones->n_loads || zones->queue.first < zones->queue.n;
}

struct zones_entry *zones_entry_at(struct zones *zones, size_t i)
{
	return zones->entries[i];
}

const struct zones_entry *zones_find(const struct zones *zones, const char *name)
{
	return zones_get(zones, name);
}
