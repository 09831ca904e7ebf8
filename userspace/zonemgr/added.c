/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/added.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "config/member.h"
#include "dns/name.h"

#define LOGGED 8u /* zones without a template; one line counts the others */

/*
 * COMING ─ published ─► STORING ─ stored ─► done    GOING ─ gone from the set and the store ─► OVER
 *    └─ the file does not load ─► OVER                                          OVER ─► done
 */
enum added_stage { ADDED_COMING, ADDED_STORING, ADDED_GOING, ADDED_OVER };

/* A zone that comes or goes, and the call that waits for it. */
struct added_change {
	struct added_change *next;
	struct zones_entry *entry; /* NULL: it has gone */
	enum added_stage stage;
	int code;
	char *err; /* or NULL */
	added_done_fn *done;
	void *user;
};

struct added {
	struct store *store;
	struct maintenance *maintenance;
	const struct catalogs *catalogs;
	struct zones *zones;
	struct added_change *changes, **end; /* in the order of the calls */
	bool is_reconfigured;
	size_t n_lost; /* stored zones without a template */
	char problem[384];
};

/* --- From start to end ------------------------------------------------------------------------ */

struct added *added_new(struct store *store, struct maintenance *maintenance,
			const struct catalogs *catalogs)
{
	struct added *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	*a = (struct added){ .store = store, .maintenance = maintenance, .catalogs = catalogs };
	a->end = &a->changes;
	return a;
}

void added_free(struct added *a)
{
	free(a);
}

void added_set_zones(struct added *a, struct zones *zones)
{
	a->zones = zones;
}

const char *added_problem(const struct added *a)
{
	return a->problem;
}

/* --- The note in the store -------------------------------------------------------------------- */

/* The note is the name of the template, and behind a zero octet the file if one was given. */
static int write_note(struct zones_known *known, const char *template_name, const char *file)
{
	struct store_zone note = { 0 };
	size_t n = strlen(template_name);

	memcpy(note.group, template_name, n);
	if (file) {
		note.group[n++] = 0;
		memcpy(note.group + n, file, strlen(file));
		n += strlen(file);
	}
	note.group_bytes = (uint8_t)n;
	return zones_known_set_member(known, &note);
}

/* False: the zone is a catalog's, or the configuration's. */
static bool is_note(const struct store_zone *known)
{
	return !known->catalog_bytes && known->group_bytes;
}

struct note {
	char template_name[256];
	const char *file; /* in `text`; NULL: by the template's pattern */
	char text[256];
};

static void read_note(const struct store_zone *known, struct note *note)
{
	size_t n;

	memcpy(note->text, known->group, known->group_bytes);
	note->text[known->group_bytes] = 0;
	n = strlen(note->text);
	memcpy(note->template_name, note->text, n + 1);
	note->file = n < known->group_bytes ? note->text + n + 1 : NULL;
}

static void read_note_of(const struct zones_entry *entry, struct note *note)
{
	struct store_zone known;

	zones_known_get(&entry->stored.known, &known);
	read_note(&known, note);
}

bool added_template(const struct zones_entry *entry, char *name, size_t cap)
{
	struct note note;

	if (!zones_is_added(entry))
		return false;
	read_note_of(entry, &note);
	snprintf(name, cap, "%s", note.template_name);
	return true;
}

/* --- Settings --------------------------------------------------------------------------------- */

/* Makes the configuration of a zone. 0, ERR_NOT_FOUND (no such template) or -ENOMEM. */
static int make_added_config(const struct added *a, const char *name, const char *template_name,
			     const char *file, struct config_zone *out)
{
	int err = config_member_zone(catalogs_config(a->catalogs), template_name, name, out);
	char *copy;

	if (err || !file)
		return err;
	copy = strdup(file);
	if (!copy) {
		config_zone_fini(out);
		return -ENOMEM;
	}
	free(out->file);
	out->file = copy;
	return 0;
}

static void tell_lost(struct added *a, const char *name, const char *template_name)
{
	if (a->n_lost < LOGGED)
		log_error("zone %s: zone add has added it, and it is not served: templates has no "
			  "%s",
			  name, template_name);
	if (!a->n_lost++)
		snprintf(a->problem, sizeof(a->problem),
			 "templates: %.63s is missing, by which zone add has added zones, such as "
			 "%.100s: they are not served: add it, and reload",
			 template_name, name);
}

static int recall_added_zone(void *user, const uint8_t *apex, const struct store_zone *known)
{
	struct added *a = user;
	struct config_zone config;
	char name[NAME_TEXT_MAX];
	struct zones_entry *entry;
	struct note note;
	int err;

	if (!is_note(known) || zones_get_apex(a->zones, apex, (unsigned int)name_bytes(apex)) ||
	    name_to_text(name, sizeof(name), apex) < 0)
		return 0;
	read_note(known, &note);
	err = make_added_config(a, name, note.template_name, note.file, &config);
	if (err == ERR_NOT_FOUND) {
		tell_lost(a, name, note.template_name);
		return 0;
	}
	if (err)
		return err;
	err = zones_add_member(a->zones, &config);
	config_zone_fini(&config);
	entry = zones_get_apex(a->zones, apex, (unsigned int)name_bytes(apex));
	if (!err && entry && entry->stored.state == ZONES_STORE_UNREAD) {
		err = zones_known_set(&entry->stored.known, known);
		entry->stored.state = ZONES_STORE_CURRENT;
	}
	return err;
}

int added_recall(struct added *a)
{
	int err;

	a->n_lost = 0;
	a->problem[0] = '\0';
	err = a->store ? store_each_zone(a->store, recall_added_zone, a) : 0;
	if (a->n_lost > LOGGED)
		log_error("zones: %zu more zones that zone add has added are not served, because "
			  "their templates are missing",
			  a->n_lost - LOGGED);
	return err;
}

void added_reconfigure(struct added *a)
{
	a->is_reconfigured = true;
}

/* A zone whose template has gone keeps its settings until the next start. Counts these zones. */
static void reconfigure_zone(struct added *a, struct zones_entry *entry, size_t *n_kept)
{
	struct config_zone config;
	struct note note;
	int err;

	read_note_of(entry, &note);
	err = make_added_config(a, entry->name, note.template_name, note.file, &config);
	if (err) {
		if (err == ERR_NOT_FOUND && (*n_kept)++ < LOGGED)
			log_warn("zone %s: templates has no %s any more: the zone keeps its "
				 "settings until volleyd is restarted",
				 entry->name, note.template_name);
		zones_keep_member(a->zones, entry);
		return;
	}
	zones_configure_member(a->zones, entry, &config);
	config_zone_fini(&config);
}

static void reconfigure_all(struct added *a)
{
	size_t n = zones_n(a->zones), n_kept = 0;
	bool had_lost = a->n_lost;

	a->is_reconfigured = false;
	for (size_t i = 0; i < n; i++) {
		struct zones_entry *entry = zones_entry_at(a->zones, i);

		if (entry->is_member && zones_is_added(entry) && !zones_is_leaving(entry))
			reconfigure_zone(a, entry, &n_kept);
	}
	if (n_kept > LOGGED)
		log_warn("zones: %zu more zones keep their settings until volleyd is restarted, "
			 "because their templates are missing",
			 n_kept - LOGGED);
	if (had_lost && added_recall(a))
		log_error("zones that zone add has added: %s", err_text(-ENOMEM));
}

/* --- Changes ---------------------------------------------------------------------------------- */

/* False: no memory. */
static bool change_begin(struct added *a, struct zones_entry *entry, enum added_stage stage,
			 added_done_fn *done, void *user)
{
	struct added_change *change = calloc(1, sizeof(*change));

	if (!change)
		return false;
	*change =
		(struct added_change){ .entry = entry, .stage = stage, .done = done, .user = user };
	*a->end = change;
	a->end = &change->next;
	return true;
}

static void end_change(struct added_change *change, int code, const char *err)
{
	change->stage = ADDED_OVER;
	change->code = code;
	change->err = err ? strdup(err) : NULL;
}

/* Calls done() for all changes that are over. */
static void tell_changes(struct added *a)
{
	struct added_change **at = &a->changes, *change;

	while ((change = *at)) {
		if (change->stage != ADDED_OVER) {
			at = &change->next;
			continue;
		}
		*at = change->next;
		if (!*at)
			a->end = at;
		change->done(change->user, change->code,
			     change->err ? change->err : err_text(change->code));
		free(change->err);
		free(change);
	}
}

void added_cancel(struct added *a)
{
	if (!a)
		return;
	for (struct added_change *change = a->changes; change; change = change->next)
		if (change->stage != ADDED_OVER)
			end_change(change, -ECANCELED, "volleyd stops");
	tell_changes(a);
}

/* The name in the form of a zone's name. 0, or the error of a name. */
static int read_zone_name(const char *text, char *name, size_t cap)
{
	uint8_t wire[DNS_NAME_MAX], folded[NAME_FOLDED_BYTES];
	int len = name_from_text(wire, sizeof(wire), text, strlen(text));

	if (len < 0)
		return len;
	name_fold(folded, wire, (size_t)len);
	return name_to_text(name, cap, folded) < 0 ? -EINVAL : 0;
}

static int refuse_zone(int code, const char *name, const char *sentence, char *err, size_t err_cap)
{
	snprintf(err, err_cap, "%s: %s", name, sentence);
	return code;
}

static int refuse_present(const struct zones_entry *entry, char *err, size_t err_cap)
{
	if (entry->life == ZONES_GONE)
		return refuse_zone(-EBUSY, entry->name, "it is being removed: try again", err,
				   err_cap);
	snprintf(err, err_cap, "%s: volleyd has this zone already, by %s %s", entry->name,
		 entry->is_member ? "a" : "the", zones_origin(entry));
	return -EEXIST;
}

static int begin_added(struct added *a, const char *name, const struct added_zone *zone,
		       struct config_zone *config, added_done_fn *done, void *user)
{
	int err = zones_add_member(a->zones, config);
	struct zones_entry *entry = err ? NULL : zones_get(a->zones, name);

	if (!entry)
		return err ? err : -ENOMEM;
	entry->stored.state = ZONES_STORE_CURRENT; /* there is nothing to be read */
	if (!write_note(&entry->stored.known, zone->template_name, zone->file) &&
	    change_begin(a, entry, ADDED_COMING, done, user))
		return 0;
	zones_remove_member(a->zones, entry);
	return -ENOMEM;
}

int added_add(struct added *a, const struct added_zone *zone, added_done_fn *done, void *user,
	      char *err, size_t err_cap)
{
	const struct zones_entry *there;
	struct config_zone config;
	char name[NAME_TEXT_MAX];
	int code = read_zone_name(zone->name, name, sizeof(name));

	if (code)
		return refuse_zone(code, zone->name, err_text(code), err, err_cap);
	if (!a->store)
		return refuse_zone(-EPERM, name,
				   "without server.storage it would be lost at the next start", err,
				   err_cap);
	if (zone->file && (*zone->file != '/' || strlen(zone->file) > ADDED_FILE_MAX))
		return refuse_zone(-EINVAL, name,
				   "--file takes an absolute path of at most 190 "
				   "characters",
				   err, err_cap);
	there = zones_get(a->zones, name);
	if (there)
		return refuse_present(there, err, err_cap);
	code = make_added_config(a, name, zone->template_name, zone->file, &config);
	if (code == ERR_NOT_FOUND)
		snprintf(err, err_cap, "%s: the configuration has no template %.63s", name,
			 zone->template_name);
	if (code)
		return code;
	code = begin_added(a, name, zone, &config, done, user);
	config_zone_fini(&config);
	return code;
}

/* The zone is not there; or it is stored, and its template is missing. */
static int refuse_absent(const struct added *a, const char *name, char *err, size_t err_cap)
{
	uint8_t wire[DNS_NAME_MAX], apex[NAME_FOLDED_BYTES];
	int len = name_from_text(wire, sizeof(wire), name, strlen(name));
	struct store_zone known;
	struct note note;

	if (len > 0)
		name_fold(apex, wire, (size_t)len);
	if (len <= 0 || !a->store || store_get_zone(a->store, apex, &known) || !is_note(&known))
		return refuse_zone(ERR_NOT_FOUND, name, "no such zone", err, err_cap);
	read_note(&known, &note);
	snprintf(err, err_cap,
		 "%s: it is not served, because its template %.63s is missing: add the template, "
		 "and reload, before you remove the zone",
		 name, note.template_name);
	return ERR_NOT_FOUND;
}

int added_remove(struct added *a, const char *name, added_done_fn *done, void *user, char *err,
		 size_t err_cap)
{
	struct zones_entry *entry = zones_get(a->zones, name);

	if (!entry)
		return refuse_absent(a, name, err, err_cap);
	if (entry->life == ZONES_GONE)
		return refuse_zone(ERR_NOT_FOUND, name, "no such zone", err, err_cap);
	if (!entry->is_member)
		return refuse_zone(-EPERM, entry->name,
				   "the configuration names this zone: remove it there, and reload",
				   err, err_cap);
	if (!zones_is_added(entry))
		return refuse_zone(-EPERM, entry->name,
				   "this zone is a member of a catalog, which removes it", err,
				   err_cap);
	if (store_refusal(a->store))
		return refuse_zone(store_refusal(a->store), entry->name,
				   "the store cannot be written to", err, err_cap);
	if (!change_begin(a, entry, ADDED_GOING, done, user))
		return -ENOMEM;
	log_info("zone %s: removed by command", entry->name);
	zones_remove_member(a->zones, entry);
	return 0;
}

/* --- Events ----------------------------------------------------------------------------------- */

void added_gone(struct added *a, const struct zones_entry *entry)
{
	for (struct added_change *change = a->changes; change; change = change->next) {
		if (change->entry != entry)
			continue;
		change->entry = NULL;
		if (change->stage == ADDED_COMING || change->stage == ADDED_STORING)
			end_change(change, ERR_NOT_FOUND, "it was removed meanwhile");
	}
}

void added_gone_together(struct added *a, int code)
{
	for (struct added_change *change = a->changes; change; change = change->next)
		if (change->stage == ADDED_GOING && !change->entry)
			end_change(change, code,
				   code ? "it is not served any more, but the store could not "
					  "forget it: it comes back at the next start" :
					  NULL);
}

/* A secondary needs no file: it waits for its primaries. */
static bool has_failed(const struct zones_entry *entry)
{
	return !entry->zone && !zones_is_loading(entry) && entry->loading.code &&
	       !zones_is_secondary(entry);
}

/* Takes back a zone that was being added. The configuration may name it meanwhile: then only the
 * note goes. */
static void give_up_added(struct added *a, struct zones_entry *entry)
{
	if (entry->is_member) {
		zones_remove_member(a->zones, entry);
		return;
	}
	free(entry->stored.known.member);
	entry->stored.known.member = NULL;
}

void added_check(struct added *a)
{
	char err[700];

	for (struct added_change *change = a->changes; change; change = change->next) {
		if (change->stage != ADDED_COMING || !has_failed(change->entry))
			continue;
		snprintf(err, sizeof(err), "%s: %s", change->entry->name,
			 sentence_is_set(&change->entry->error) ?
				 sentence_text(&change->entry->error) :
				 err_text(change->entry->loading.code));
		end_change(change, change->entry->loading.code, err);
		give_up_added(a, change->entry);
	}
}

/* The store could not take the zone: it would be lost at the next start, so it goes at once. */
static void take_back_zone(struct added *a, struct added_change *change, int code)
{
	char err[300];

	snprintf(err, sizeof(err), "%s: it cannot be stored: %s", change->entry->name,
		 err_text(code));
	end_change(change, code, err);
	give_up_added(a, change->entry);
}

/* One transaction for all zones that have come. */
static void store_zones(struct added *a)
{
	bool is_any = false;
	int code;

	for (struct added_change *change = a->changes; change; change = change->next) {
		if (change->stage != ADDED_COMING || !zones_is_in_place(change->entry))
			continue;
		zones_store_soon(change->entry);
		change->stage = ADDED_STORING;
		is_any = true;
	}
	if (!is_any)
		return;
	code = maintenance_store(a->maintenance);
	for (struct added_change *change = a->changes; change; change = change->next) {
		if (change->stage != ADDED_STORING)
			continue;
		if (code) {
			take_back_zone(a, change, code);
			continue;
		}
		log_info("zone %s: added by command", change->entry->name);
		end_change(change, 0, NULL);
	}
}

/* A new configuration may name a zone that was to go. */
static void end_kept(struct added *a)
{
	for (struct added_change *change = a->changes; change; change = change->next)
		if (change->stage == ADDED_GOING && change->entry &&
		    change->entry->life != ZONES_GONE)
			end_change(change, -EPERM,
				   "it stays, because the new configuration names it");
}

void added_poll(struct added *a)
{
	if (!a->zones)
		return;
	if (a->is_reconfigured)
		reconfigure_all(a);
	if (!a->changes)
		return;
	end_kept(a);
	store_zones(a);
	tell_changes(a);
}
