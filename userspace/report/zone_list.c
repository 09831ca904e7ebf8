/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones as JSON: one, or a page of the list of all. */
#include "report/zone_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json_put.h"
#include "config/value.h"
#include "config/words.h"
#include "control/ctl_command.h"
#include "dns/name.h"
#include "report/progress.h"
#include "report/report_view.h"

/* --- One zone --------------------------------------------------------------------------------- */

/* A zone that is loaded anew is "loading" in lists, whatever is served meanwhile. */
static enum zones_state state_in_list(const struct zones_entry *entry)
{
	return zone_list_is_loading(entry) ? ZONES_NEW : entry->state;
}

/* The load that is running. All other keys of the zone describe the version that is served. */
static void put_report_load(json_t *o, const struct load *load)
{
	struct progress_load p = { .stage = LOAD_ENDED };

	if (load)
		progress_read(&p, load, clock_ns());
	json_put_text(o, "stage", load_stage_text(p.stage));
	if (!load || p.stage == LOAD_WAITING)
		return;
	if (p.has_percent)
		json_put_int(o, "percent", p.percent);
	json_put_int(o, "read_bytes", p.n_bytes);
	json_put_int(o, "read_records", p.n_records);
	json_put_int(o, "loading_s", p.s);
}

static void put_withdrawn(json_t *o, const struct withdrawn *w)
{
	if (!w)
		return;
	if (w->all) {
		json_put_text(o, "all_answers_withdrawn", w->all);
		return;
	}
	json_put_int(o, "names_changed", w->n_names);
	json_put_int(o, "answers_withdrawn", w->n_answers);
}

/* The zone's source, its changes since the load, and its state at other name servers. */
static void put_life(json_t *o, const struct zones_entry *entry, const struct transfer_status *t)
{
	json_put_text(o, "role", zones_is_secondary(entry) ? "secondary" : "primary");
	if (entry->zone && zone_overlay_names(entry->zone)) {
		json_put_int(o, "changed_names", zone_overlay_names(entry->zone));
		json_put_int(o, "changed_bytes", zone_overlay_bytes(entry->zone));
	}
	json_put_bool(o, "is_file_behind", entry->on_disk.changed_ns != 0);
	if (sentence_is_set(&entry->stored.error))
		json_put_text(o, "storage_error", sentence_text(&entry->stored.error));
	if (sentence_is_set(&entry->stored.warning))
		json_put_text(o, "storage_warning", sentence_text(&entry->stored.warning));
	if (!t->is_secondary)
		return;
	json_put_bool(o, "is_transferring", t->is_running);
	json_put_int(o, "checked_at", t->checked_wall_s);
	json_put_int(o, "refresh_at", t->refresh_wall_s);
	json_put_int(o, "expires_at", t->expires_wall_s);
	if (*t->remote)
		json_put_text(o, "from", t->remote);
	if (*t->error)
		json_put_text(o, "transfer_error", t->error);
}

static json_t *denials_text(const struct zones_entry *entry)
{
	if (entry->denials_fault)
		return json_sprintf("off: %s", entry->denials_fault);
	if (entry->config->driver_denials == CONFIG_DENIALS_OFF)
		return json_string("off");
	return json_string(entry->published.names_id ? "on" : "no filter");
}

static json_t *make_zone_row(const struct zones_entry *entry, const struct transfer_status *t)
{
	json_t *o = json_object();

	json_put_text(o, "name", entry->name);
	json_put_text(o, "state", zones_state_text(state_in_list(entry)));
	json_put_bool(o, "serves", entry->zone != NULL);
	if (zone_list_is_loading(entry))
		put_report_load(o, entry->loading.load);
	if (entry->zone) {
		json_put_int(o, "serial", zone_serial(entry->zone));
		json_put_int(o, "records", zone_n_records(entry->zone));
		json_put_int(o, "names", zone_n_names(entry->zone));
		json_put_int(o, "memory_bytes", zones_memory_bytes(entry));
		json_put_int(o, "load_ms", entry->load_ns / CLOCK_NS_PER_MS);
		json_put_int(o, "loaded_at", entry->loaded_wall_s);
	}
	json_put_bool(o, "cacheable", entry->published.slot != 0);
	json_object_set_new(o, "driver_denials", denials_text(entry));
	put_withdrawn(o, entry->published.withdrawn);
	json_put_text(o, "file", entry->file);
	json_put_text(o, "origin", zones_origin(entry));
	if (entry->config->template_name)
		json_put_text(o, "template", entry->config->template_name);
	put_life(o, entry, t);
	if (sentence_is_set(&entry->error))
		json_put_text(o, "error", sentence_text(&entry->error));
	if (sentence_is_set(&entry->warning))
		json_put_text(o, "warning", sentence_text(&entry->warning));
	return o;
}

json_t *zone_list_one(struct transfer_bridge *bridge, const struct zones_entry *entry)
{
	struct transfer_status status = { 0 };
	json_t *o = json_object(), *list = json_array();

	if (entry) {
		transfer_statuses(transfer_bridge_thread(bridge), &entry->apex, &status, 1);
		json_array_append_new(list, make_zone_row(entry, &status));
	}
	json_object_set_new(o, "zones", list);
	return o;
}

/* --- What is asked for ------------------------------------------------------------------------ */

static int read_list_state(struct zone_list_want *want, const char *text, char *err, size_t err_cap)
{
	size_t used;

	for (int k = 0; k < ZONES_N_STATES; k++)
		if (!strcmp(text, zones_state_text((enum zones_state)k))) {
			want->state = (enum zones_state)k;
			return 0;
		}
	used = (size_t)snprintf(err, err_cap, "%s: a zone has no such state; give", text);
	for (int k = 0; k < ZONES_N_STATES && used < err_cap; k++)
		used += (size_t)snprintf(err + used, err_cap - used, "%s %s", k ? "," : "",
					 zones_state_text((enum zones_state)k));
	return -EINVAL;
}

static int read_list_after(struct zone_list_want *want, const char *text, char *err, size_t err_cap)
{
	uint8_t wire[DNS_NAME_MAX];
	int len = name_from_text(wire, sizeof(wire), text, strlen(text));

	if (len < 0) {
		snprintf(err, err_cap, "--after %s: %s", text, err_text(len));
		return len;
	}
	name_fold(want->after, wire, (size_t)len);
	want->has_after = true;
	return 0;
}

static int read_list_limit(struct zone_list_want *want, const char *text, char *err, size_t err_cap)
{
	static const struct words_key key = { .type = WORDS_COUNT, .min = 1, .max = UINT32_MAX };
	uint64_t limit;

	if (value_read_number(&key, text, &limit)) {
		snprintf(err, err_cap, "--limit %s: give a number from 1 to %u", text, UINT32_MAX);
		return -EINVAL;
	}
	want->limit = (size_t)limit;
	return 0;
}

static int read_list_pattern(struct zone_list_want *want, const char *text, char *err,
			     size_t err_cap)
{
	if (*text == '-' || want->pattern) {
		snprintf(err, err_cap,
			 "%s: give at most one pattern, and --state, --after, --limit or --names",
			 text);
		return -EINVAL;
	}
	want->pattern = text;
	return 0;
}

int zone_list_read(struct zone_list_want *want, const json_t *args, char *err, size_t err_cap)
{
	static const struct {
		const char *word;
		int (*read)(struct zone_list_want *want, const char *text, char *err,
			    size_t err_cap);
	} options[] = {
		{ "--state", read_list_state },
		{ "--after", read_list_after },
		{ "--limit", read_list_limit },
	};
	const char *word, *text;
	int code = 0;

	*want = (struct zone_list_want){ .state = ZONES_N_STATES, .limit = SIZE_MAX };
	for (size_t i = 0; !code && (word = ctl_arg(args, i)); i++) {
		size_t k = 0;

		if (!strcmp(word, "--names")) {
			want->is_names = true;
			continue;
		}
		while (k < sizeof(options) / sizeof(options[0]) && strcmp(word, options[k].word))
			k++;
		if (k == sizeof(options) / sizeof(options[0])) {
			code = read_list_pattern(want, word, err, err_cap);
			continue;
		}
		text = ctl_arg(args, ++i);
		if (!text) {
			snprintf(err, err_cap, "%s: it needs a value", word);
			return -EINVAL;
		}
		code = options[k].read(want, text, err, err_cap);
	}
	return code;
}

/* --- A page ----------------------------------------------------------------------------------- */

/* The zones of a page, while they are looked for. */
struct page {
	const struct zone_list_want *want;
	const uint8_t *domain; /* all names that match are in it; NULL: there is no pattern */
	size_t cap;            /* rows, at most ZONE_LIST_ROWS or ZONE_LIST_NAMES */
	uint64_t until_ns;
	size_t n_seen;
	const struct zones_entry *seen; /* the last one that was looked at */
	bool is_cut;                    /* more may follow */
	size_t n;
	const struct zones_entry *entries[ZONE_LIST_NAMES];
};

static bool is_wanted(const struct zone_list_want *want, const struct zones_entry *entry)
{
	return (want->state == ZONES_N_STATES || want->state == state_in_list(entry)) &&
	       (!want->pattern || name_is_like(entry->name, want->pattern));
}

static bool look_at_listed(void *user, const struct zones_entry *entry)
{
	struct page *page = user;

	if (page->domain && !name_is_under(entry->apex, page->domain))
		return false;
	page->is_cut = page->n == page->cap ||
		       (++page->n_seen % ZONE_LIST_LOOK == 0 && clock_ns() >= page->until_ns);
	if (page->is_cut)
		return false;
	page->seen = entry;
	if (is_wanted(page->want, entry))
		page->entries[page->n++] = entry;
	return true;
}

static void find_page(struct page *page, const struct zone_list_source *source)
{
	const struct zone_list_want *want = page->want;
	const uint8_t *from = want->has_after ? want->after : NULL;
	bool is_with = false;
	uint8_t domain[NAME_FOLDED_BYTES];

	if (want->pattern) {
		(void)name_of_pattern(domain, want->pattern);
		page->domain = domain;
		if (!from || name_canonical_cmp(from, domain) < 0) {
			from = domain;
			is_with = true;
		}
	}
	source->walk(source->user, from, is_with, look_at_listed, page);
	page->domain = NULL;
}

/* Asks the transfer thread about those that have primaries. */
static void ask_about_page(const struct page *page, struct transfer_bridge *bridge,
			   struct transfer_status *statuses)
{
	struct transfer_status found[ZONE_LIST_ROWS];
	const uint8_t *apexes[ZONE_LIST_ROWS];
	size_t n = 0, i;

	for (i = 0; i < page->n; i++)
		if (zones_is_secondary(page->entries[i]))
			apexes[n++] = page->entries[i]->apex;
	if (!n)
		return;
	transfer_statuses(transfer_bridge_thread(bridge), apexes, found, n);
	for (i = n = 0; i < page->n; i++)
		if (zones_is_secondary(page->entries[i]))
			statuses[i] = found[n++];
}

static void put_names_page(json_t *list, const struct page *page)
{
	for (size_t i = 0; i < page->n; i++) {
		json_t *row = json_object();

		json_put_text(row, "name", page->entries[i]->name);
		json_array_append_new(list, row);
	}
}

/* Ends early if the time is over: the page is then shorter. */
static void put_rows_page(json_t *list, struct page *page, struct transfer_bridge *bridge)
{
	struct transfer_status statuses[ZONE_LIST_ROWS] = { 0 };

	ask_about_page(page, bridge, statuses);
	for (size_t i = 0; i < page->n; i++) {
		json_array_append_new(list, make_zone_row(page->entries[i], &statuses[i]));
		if (i + 1 < page->n && clock_ns() >= page->until_ns) {
			page->seen = page->entries[i];
			page->is_cut = true;
			return;
		}
	}
}

json_t *zone_list_page(const struct zone_list_source *source, const struct zone_list_want *want)
{
	size_t cap = want->is_names ? ZONE_LIST_NAMES : ZONE_LIST_ROWS;
	struct page page = { .want = want,
			     .cap = want->limit < cap ? want->limit : cap,
			     .until_ns = clock_ns() + ZONE_LIST_NS };
	json_t *o = json_object(), *list = json_array();

	find_page(&page, source);
	if (want->is_names)
		put_names_page(list, &page);
	else
		put_rows_page(list, &page, source->bridge);
	json_object_set_new(o, "zones", list);
	if (page.is_cut)
		json_put_text(o, "next", page.seen->name);
	return o;
}

/* --- Commands --------------------------------------------------------------------------------- */

static void walk_all(const void *user, const uint8_t *from, bool is_with, zones_walk_fn *each,
		     void *each_user)
{
	zones_walk(user, from, is_with, each, each_user);
}

int zone_list_run(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct report_view *v = user;
	const struct zone_list_source source = {
		.walk = walk_all,
		.user = v->zones,
		.bridge = v->transfer_bridge,
	};
	struct zone_list_want want;
	int code = zone_list_read(&want, args, err, err_cap);

	if (code)
		return code;
	*result = zone_list_page(&source, &want);
	return *result ? 0 : -ENOMEM;
}

int zone_list_run_status(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct report_view *v = user;
	const char *name = ctl_arg(args, 0);
	const struct zones_entry *entry = name ? zones_find(v->zones, name) : NULL;

	if (!name)
		return zone_list_run(user, args, result, err, err_cap);
	if (!entry) {
		snprintf(err, err_cap, "%s: no such zone is configured", name);
		return ERR_NOT_FOUND;
	}
	*result = zone_list_one(v->transfer_bridge, entry);
	return *result ? 0 : -ENOMEM;
}
